package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/jwk"
)

// ErrNoTool says that the publisher configures no tool of the name that was called.
var ErrNoTool = errors.New("the publisher configures no tool of that name")

// askAttempts bounds how often a call starts again because the content changed under it. One restart is the rule: from the first question on, new content is
// compiled before it is served.
const askAttempts = 5

// Ask answers one tool call of a published publisher with its signed envelope, compact JSON. Publication, standing, keys and compiled snapshot are of one
// state, the one that is served when the answer is made. A handler without live readings reads nothing from the store once the snapshot is compiled.
//
// Errors are *coverage.CallError for a fault of the caller's (-32602), ErrNoTool, bizhttp.ErrUnknown when there is no such publisher or it is not published at
// this moment, bizhttp.ErrUnavailable when its content cannot be read (503), bizhttp.ErrKeysUnavailable when no key of its key set can sign (503; nothing is
// answered unsigned), and what ctx says. Any other error is a fault of this side (-32603), never a status (XP-COVERAGE-009).
//
// The engine takes no deadline: the caps on words, windows, pieces and steps bound a call (answers §18). What a live handler reads is bounded by ctx.
func (r *Registry) Ask(ctx context.Context, slug, tool string, arguments jcs.Raw) ([]byte, error) {
	began := r.Now()
	var waited *flight
	for range askAttempts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, e, err := r.anchored(slug)
		if err != nil {
			return nil, err
		}
		call := coverage.Call{Tool: tool, Arguments: arguments, Now: r.Now()}
		if !e.standing.IsPublished(call.Now) {
			return nil, bizhttp.ErrUnknown
		}
		if call.Handler = handlerOf(e.publication, tool); call.Handler == "" {
			return nil, ErrNoTool
		}
		compiled := r.resident.use(e.content)
		if compiled == nil && waited != nil && waited.content == e.content {
			compiled = waited.compiled // it had to make room for others already
		}
		if compiled != nil {
			text, err := r.seal(ctx, s, e, compiled, call, began)
			if !errors.Is(err, errMoved) {
				return text, err
			}
			if err := r.catchUp(ctx, e); err != nil {
				r.log.Error("new content is not served yet", "publisher", slug, "cause", err.Error())
				return nil, cmp.Or(ctx.Err(), bizhttp.ErrUnavailable)
			}
			continue
		}
		if waited, err = r.await(ctx, e); err != nil {
			return nil, err
		}
	}
	return nil, bizhttp.ErrUnavailable
}

// handlerOf is the handler of a publisher's tool, "" when it configures none of that name.
func handlerOf(p *business.Publication, tool string) string {
	for _, t := range p.Profile.Tools {
		if t.Name == tool {
			return t.Handler
		}
	}
	return ""
}

// liveHandlers are the handlers that get readings (answers §14).
var liveHandlers = []string{"live.query", "live.nearest", "hybrid.resolve"}

// seal answers a call and signs what is answered.
func (r *Registry) seal(ctx context.Context, s *state, e *entry, compiled *answer.Compiled, call coverage.Call, began time.Time) ([]byte, error) {
	var readings answer.Readings
	if slices.Contains(liveHandlers, call.Handler) {
		readings = &storedReadings{ctx: ctx, store: r.store, slug: e.slug, generation: e.content.stored.generation}
	}
	out, err := compiled.Answer(call, readings)
	if err != nil {
		return nil, err
	}
	// A reader finds the key in the key set of this moment, so what cannot be served whole is not signed for.
	if _, err := r.keySet(s, e, call.Now); err != nil {
		return nil, err
	}
	signer, err := e.signer.get(call.Now, func() (business.Signer, error) { return r.publisherSigner(e) })
	if err != nil {
		return nil, err
	}
	text, err := coverage.Frame{Site: r.site, Publication: e.publication, Signer: signer, Latency: r.Now().Sub(began)}.Seal(call, out)
	switch {
	case errors.Is(err, coverage.ErrNotPublished):
		return nil, bizhttp.ErrUnknown
	case errors.Is(err, business.ErrSigner):
		r.log.Error("answer not signed", "publisher", e.slug, "cause", err.Error())
		return nil, bizhttp.ErrKeysUnavailable
	}
	return text, err
}

// publisherSigner opens the newest key of a publisher that signs. A retired or revoked one never does, also when it is the only one that is held here.
func (r *Registry) publisherSigner(e *entry) (business.Signer, error) {
	cause := fmt.Errorf("no key of the publisher's signs: %w", fs.ErrNotExist)
	for _, k := range slices.Backward(e.keys) {
		if !k.signs() {
			continue
		}
		signer, err := r.keys.PublisherSigner(e.slug, k.Entry.Kid)
		switch {
		case err == nil && signer.Kid() == k.Entry.Kid && jwk.EncodeBase64URL(signer.Public()) == k.Entry.X:
			return signer, nil
		case err == nil:
			err = errors.New("the private half belongs to another key")
		}
		cause = fmt.Errorf("key %s: %w", k.Entry.Kid, err)
		break
	}
	r.log.Error("no key can sign answers", "publisher", e.slug, "cause", cause.Error())
	return nil, bizhttp.ErrKeysUnavailable
}

// openedKey keeps the signer of an entry, so that an answer costs no look at the key ring, and for retryAge that there is none.
type openedKey struct {
	mu     sync.Mutex // held by the one who opens it
	opened atomic.Pointer[opened]
}

// opened is a signer, or why there is none until a moment. It is immutable.
type opened struct {
	signer    business.Signer
	err       error
	at, until time.Time // of an error
}

func (o *opened) usable(now time.Time) bool {
	return o != nil && (o.err == nil || !now.Before(o.at) && now.Before(o.until))
}

func (k *openedKey) get(now time.Time, open func() (business.Signer, error)) (business.Signer, error) {
	o := k.opened.Load()
	if !o.usable(now) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if o = k.opened.Load(); !o.usable(now) {
			o = &opened{at: now, until: now.Add(retryAge)}
			o.signer, o.err = open()
			k.opened.Store(o)
		}
	}
	return o.signer, o.err
}
