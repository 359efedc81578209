package bizhttp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"sayso/business"
)

const (
	// chunk is what a streamed answer gathers before it is written and flushed; with the longest record it bounds the memory of the answer.
	chunk = 32 << 10
	// chunkTime is how long one chunk may take to leave. It replaces the server's write deadline, which an export of any size would exceed.
	chunkTime = 30 * time.Second
	// batch is how many records a page reads at once. A record may be as large as a line of an import.
	batch = 25
)

// errClientGone says that a streamed answer stopped because nobody reads it any more.
var errClientGone = errors.New("the client went away")

// outflow gathers a streamed answer and lets it out in chunks.
type outflow struct {
	bytes.Buffer
	x       *exchange
	control *http.ResponseController
}

func (x *exchange) outflow() *outflow {
	o := &outflow{x: x, control: http.NewResponseController(x.w)}
	o.Grow(chunk + chunk/2)
	return o
}

// ease lets a full chunk out. One long record does not stay in memory for the rest.
func (o *outflow) ease() error {
	if o.Len() < chunk {
		return nil
	}
	if err := o.flush(); err != nil {
		return err
	}
	if o.Cap() > 4*chunk {
		o.Buffer = bytes.Buffer{}
		o.Grow(chunk + chunk/2)
	}
	return nil
}

func (o *outflow) flush() error {
	if err := o.control.SetWriteDeadline(time.Now().Add(chunkTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errClientGone
	}
	o.x.started = true
	if _, err := o.x.w.Write(o.Bytes()); err != nil {
		return errClientGone
	}
	o.Reset()
	if err := o.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return errClientGone
	}
	return nil
}

// beginStream sets the headers of a streamed answer. done says that there is nothing to send: 304, or HEAD. tag "" stands for none.
func (x *exchange) beginStream(tag string, contentType, cache []string) (done bool) {
	header := x.w.Header()
	header["Cache-Control"] = x.cache(cache)
	if !x.preview && tag != "" {
		header["Etag"] = []string{tag}
		if tagListed(x.r.Header["If-None-Match"], tag) {
			x.w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	header["Content-Type"] = contentType
	return x.r.Method == http.MethodHead
}

// stateTag is a tag over what a streamed answer follows from instead of its bytes: the content and the addresses, and what the caller adds. It is "" while
// the content is not known by its hash.
func (x *exchange) stateTag(p *business.Publication, more ...any) string {
	if p.State.ContentHash == "" {
		return ""
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q %q", x.site.ServerVersion, p.State.ContentHash, x.site.Locators(p).Manifest, p.Base())
	for _, m := range more {
		fmt.Fprintf(hash, " %q", fmt.Sprint(m))
	}
	return `"` + hex.EncodeToString(hash.Sum(nil)[:16]) + `"`
}

// snapshot runs f over an export's snapshot. Standing is judged again on it: a pause that came in between counts.
func (h *handler) snapshot(x *exchange, slug string, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
	return h.Source.Dump(x.r.Context(), slug, func(p *business.Publication, records iter.Seq2[*business.Record, error]) error {
		if err := x.standing(p); err != nil {
			return err
		}
		return f(p, records)
	})
}

// records reads the records of a publisher behind one of them in batches, in the order of (type, id).
func (h *handler) records(ctx context.Context, slug string, after RecordKey) iter.Seq2[*business.Record, error] {
	return func(yield func(*business.Record, error) bool) {
		for {
			page, err := h.Source.RecordPage(ctx, slug, "", after.Type, after.ID, batch)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page {
				if !yield(&page[i], nil) {
					return
				}
			}
			if len(page) < batch {
				return
			}
			after = RecordKey{page[batch-1].Type, page[batch-1].ID}
		}
	}
}
