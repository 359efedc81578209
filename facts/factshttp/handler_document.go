package factshttp

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sayso/facts"
)

// packAbove is the size from which a document is held compressed only. The index of a large catalogue compresses to about a third; a reader that does not take
// gzip gets it unpacked on the way out.
const packAbove = 64 << 10

// document is a finished answer with a strong tag over its bytes (F§4.6 rule 5).
type document struct {
	tag    string // `"` and the first 32 hex digits of SHA-256; the closing quote follows the coding
	plain  []byte // nil when packed
	packed []byte // gzip
	size   int    // of the plain bytes
}

// makeDocument runs write and keeps what it wrote.
func makeDocument(write func(io.Writer) error) (*document, error) {
	p := packer{hash: sha256.New()}
	if err := write(&p); err != nil {
		return nil, err
	}
	d := &document{tag: `"` + hex.EncodeToString(p.hash.Sum(nil)[:16]), size: p.size}
	if p.gzip == nil {
		d.plain = p.buffer.Bytes()
		return d, nil
	}
	if err := p.gzip.Close(); err != nil {
		return nil, err
	}
	d.packed = bytes.Clone(p.buffer.Bytes())
	return d, nil
}

// packer hashes what is written and holds it plain until it grows past packAbove, compressed from there on.
type packer struct {
	hash   hash.Hash
	size   int
	buffer bytes.Buffer
	gzip   *gzip.Writer
}

func (p *packer) Write(b []byte) (int, error) {
	p.hash.Write(b)
	p.size += len(b)
	if p.gzip != nil {
		return p.gzip.Write(b)
	}
	p.buffer.Write(b)
	if p.buffer.Len() > packAbove {
		plain := bytes.Clone(p.buffer.Bytes())
		p.buffer.Reset()
		p.gzip = gzip.NewWriter(&p.buffer)
		if _, err := p.gzip.Write(plain); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// documentKey names a document of a view. name is a namespace, a schema or a file; it is only ever one that exists, so that requests cannot grow the cache.
type documentKey struct {
	id   routeID
	form form
	name string
}

var errUnfinished = errors.New("factshttp: the document could not be finished")

type lazyDocument struct {
	once sync.Once
	doc  *document
	err  error
}

func (l *lazyDocument) get(write func(io.Writer) error) (*document, error) {
	l.once.Do(func() {
		l.err = errUnfinished // what stays when write panics
		l.doc, l.err = makeDocument(write)
	})
	return l.doc, l.err
}

// fixedDocument returns a document that is the same on every day, made on first use.
func (v *view) fixedDocument(key documentKey, write func(io.Writer) error) (*document, error) {
	entry, _ := v.fixed.LoadOrStore(key, new(lazyDocument))
	return entry.(*lazyDocument).get(write)
}

// dailyDocument returns a document that depends on the day.
func (v *view) dailyDocument(today facts.Date, key documentKey, write func(io.Writer) error) (*document, error) {
	d := v.daily.Load()
	if d == nil || d.day != today {
		d = &daily{day: today}
		v.daily.Store(d)
	}
	entry, _ := d.documents.LoadOrStore(key, new(lazyDocument))
	return entry.(*lazyDocument).get(write)
}

// delivery says how a document leaves: headers that depend on the route.
type delivery struct {
	contentType []string
	cache       []string // nil: right until midnight
	link        string
	compress    bool // the index alone is content-encoded (F§15)
}

// send writes a document or 304.
func (x *exchange) send(d *document, how delivery) error {
	header := x.w.Header()
	if how.cache == nil {
		how.cache = x.cache
	}
	header["Cache-Control"] = how.cache
	if how.link != "" {
		header["Link"] = []string{how.link}
	}
	tag := d.tag + `"`
	coded := false
	if how.compress {
		header["Vary"] = varyCoding
		if coded = d.packed != nil && acceptsGzip(x.r); coded {
			tag = d.tag + `;gzip"`
		}
	}
	header["Etag"] = []string{tag}
	if tagListed(x.r.Header["If-None-Match"], tag) {
		x.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	header["Content-Type"] = how.contentType
	size := d.size
	if coded {
		header["Content-Encoding"] = gzipCoding
		size = len(d.packed)
	}
	header["Content-Length"] = []string{strconv.Itoa(size)}
	if x.r.Method != http.MethodHead {
		d.writeTo(x.w, coded)
	}
	return nil
}

// writeTo writes the body. A failed write means that the client went away: there is nobody left to tell.
func (d *document) writeTo(w io.Writer, coded bool) {
	switch {
	case d.packed == nil:
		w.Write(d.plain)
	case coded:
		w.Write(d.packed)
	default:
		if r, err := gzip.NewReader(bytes.NewReader(d.packed)); err == nil {
			io.Copy(w, r)
		}
	}
}

// tagListed reports whether If-None-Match holds the tag, compared weakly as RFC 9110 section 13.1.2 asks, or "*".
func tagListed(lines []string, tag string) bool {
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			element = strings.TrimSpace(element)
			if element == "*" || strings.TrimPrefix(element, "W/") == tag {
				return true
			}
		}
	}
	return false
}
