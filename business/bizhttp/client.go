package bizhttp

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sayso/business"
	"sayso/safefetch"
)

// The bounds of one verification (X§10.2, XP-NET-004).
const (
	MaxRequests = 12 // redirects counted
	MaxTime     = 10 * time.Second
	MaxBytes    = 4 << 20 // of one document, after decompression
	MaxHops     = 5       // redirects of one request
)

// Bounds is the policy of a reader. A caller that reads a server on its own machine adds Loopback; nothing else needs to change.
func Bounds() safefetch.Policy {
	return safefetch.Policy{MaxBytes: MaxBytes, MaxRedirects: MaxHops, Timeout: MaxTime, MaxRequests: MaxRequests}
}

// Options say what a reader knows beforehand and what it may do.
type Options struct {
	// Fetch sends every request of one verification; its request bound holds for its whole life. Nil is a new client of Bounds.
	Fetch *safefetch.Client
	// Clock is the instant documents are judged at. Nil is time.Now.
	Clock func() time.Time
	// Offline sends nothing. What is not given below is then not looked for.
	Offline bool

	// Root is the pinned root, nil when none is pinned: identity is then unconfirmed.
	Root *business.Root
	// Publisher is the slug the document is expected to speak for; "" takes the one in the URL, if any, else what the document says.
	Publisher string
	// Call is the call that was sent, nil when the document answers none.
	Call *business.Call

	// Documents that the caller holds already. They replace the fetch.
	RegistryKeys, PublisherKeys, Revocations, PublisherList []byte

	// Policy: what is unconfirmed, or unlisted, may still be usable.
	AcceptUnknown, AcceptUnlisted bool
}

// TransportError is an outcome of the way to a document: it says nothing about a business (XP-COVERAGE-009). A destination that policy refused matches
// business.ErrNetRefused; nothing was sent to it.
type TransportError struct {
	URL        string        // without query and fragment
	Status     int           // of the answer, 0 when there was none
	Code       string        // the machine code of the answer ("publisher_unavailable"), "" when it has none
	RetryAfter time.Duration // 0 when the server named none
	Problem    string        // one clause
	cause      error
}

func (e *TransportError) Error() string { return e.URL + ": " + e.Problem }

// Unwrap returns what the fetch reported, nil when there was an answer: context errors and those of safefetch.
func (e *TransportError) Unwrap() error { return e.cause }

// Is reports a refusal by policy as business.ErrNetRefused.
func (e *TransportError) Is(target error) bool {
	return target == business.ErrNetRefused && errors.Is(e.cause, safefetch.ErrRefused)
}

// Found is a document with the place it came from.
type Found struct {
	Asked string // the address that was asked for, without query
	URL   string // the address that answered, without query
	Body  []byte
	At    time.Time
}

// Moved reports whether redirects left the origin that was asked: the document is then a different source's (XP-DISCOVERY-006).
func (f *Found) Moved() bool { return originOf(f.Asked) != originOf(f.URL) }

// Manifest decodes the document. Unknown members are ignored (XP-VERSION-002).
func (f *Found) Manifest() (*business.Manifest, error) {
	m := new(business.Manifest)
	if err := business.Decode(f.Body, m); err != nil {
		return nil, fmt.Errorf("%s: no manifest: %w", f.URL, err)
	}
	return m, nil
}

// session is one verification: everything it sends shares one budget.
type session struct {
	Options
	ctx  context.Context
	kept map[string]*business.Fetched // evidence by address, where several verifications follow each other; else nil
}

// begin applies the defaults and the total time. The caller calls end.
func begin(ctx context.Context, o Options) (s *session, end func()) { return beginFor(ctx, o, MaxTime) }

func beginFor(ctx context.Context, o Options, total time.Duration) (s *session, end func()) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	own := o.Fetch == nil
	if own {
		o.Fetch = safefetch.New(Bounds())
	}
	ctx, cancel := context.WithTimeout(ctx, total)
	return &session{Options: o, ctx: ctx}, func() {
		cancel()
		if own {
			o.Fetch.Close()
		}
	}
}

var acceptJSON = http.Header{"Accept": {"application/json"}}

// get fetches a JSON document. Only 200 with JSON is one; errors are *TransportError.
func (s *session) get(at string) (*Found, error) {
	clean := safefetch.WithoutQuery(at)
	resp, err := s.Fetch.Do(s.ctx, safefetch.Request{URL: at, Header: acceptJSON})
	if err != nil {
		return nil, unreached(clean, err)
	}
	switch media := mediaOf(resp); {
	case resp.Status != http.StatusOK:
		return nil, refused(clean, resp)
	case !isJSON(media):
		return nil, &TransportError{URL: clean, Status: resp.Status, Problem: fmt.Sprintf("the content type is %.100q, not JSON", media)}
	}
	return &Found{Asked: clean, URL: safefetch.WithoutQuery(resp.FinalURL), Body: resp.Body, At: s.Clock()}, nil
}

// unreached is a request without an answer. clean is the address without query, which the error of the fetch says too.
func unreached(clean string, err error) *TransportError {
	problem := strings.TrimPrefix(safefetch.Reason(err), "fetch "+clean+": ")
	return &TransportError{URL: clean, Problem: problem, cause: err}
}

// refused is an answer with another status than the one that was hoped for.
func refused(clean string, resp *safefetch.Response) *TransportError {
	e := &TransportError{URL: clean, Status: resp.Status, RetryAfter: resp.RetryAfter(), Problem: "the server answered " + strconv.Itoa(resp.Status)}
	if isJSON(mediaOf(resp)) {
		e.Code = errorCode(resp.Body)
		e.Problem = strings.TrimSpace(e.Problem + " " + e.Code)
	}
	return e
}

// mediaOf is the media type of an answer in lower case, "" when it names none.
func mediaOf(resp *safefetch.Response) string {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return media
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// errorCode reads the machine code of a refusal: lower-case letters, digits and underscores, at most 40 of them; anything else is no code.
func errorCode(body []byte) string {
	var refusal struct {
		Error string `json:"error"`
	}
	if business.Decode(body, &refusal) != nil || len(refusal.Error) > 40 || strings.Trim(refusal.Error, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	return refusal.Error
}
