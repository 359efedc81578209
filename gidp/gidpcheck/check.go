package gidpcheck

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/httpsig"
	"sayso/gidp/providerhttp"
	"sayso/jwk"
	"sayso/report"
	"sayso/safefetch"
)

// The bounds of one check.
const (
	MaxRequests = 60
	MaxTime     = 5 * time.Minute
	maxWait     = 90 * time.Second // for a withdrawal to take effect
)

// Options are what a check knows beforehand. The zero value checks what is public, with the clock and the randomness of the machine.
type Options struct {
	Fetch    *safefetch.Client                                // sends every request; nil is a new client of Bounds
	Now      func() time.Time                                 // nil: time.Now
	Random   io.Reader                                        // nil: crypto/rand
	Pause    func(ctx context.Context, d time.Duration) error // waits, or returns the error of ctx; nil: by timers
	Progress func(done, total int, what string)               // is told of each request; total is MaxRequests
	// CardKey and CardKeyID verify the signature of a card. Nil: only the form of the signature is looked at.
	CardKey   ed25519.PublicKey
	CardKeyID string
	// Endpoint is what the projections name that are published at a provider. "": a URL that leads nowhere, which a provider on the public internet refuses.
	Endpoint string
}

// Bounds is the policy of the client that Check makes when it is given none. A caller that checks a server on its own machine adds Loopback.
func Bounds() safefetch.Policy {
	return safefetch.Policy{MaxBytes: gidpa2a.MaxAnswer, Timeout: 20 * time.Second, MaxRequests: MaxRequests}
}

// ErrTarget says that a target is neither an agent nor a provider.
var ErrTarget = errors.New("name the URL of an agent (…/a2a/REF or its card) or of a provider (its origin, or …/gidp/v1/)")

// Check looks at an agent or a provider from outside: target is the URL of a card, an address …/a2a/REF, or the origin or the URL …/gidp/v1/ of a provider. It
// sends at most MaxRequests requests with keys and values that belong to nobody, and withdraws what it published. What could not be done is in the report as not
// tested. The error is ErrTarget, or that of a source of randomness.
func Check(ctx context.Context, target string, o Options) (*report.Report, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, ErrTarget
	}
	c := &checker{Options: o, recorder: recorder{held: map[string]int{}, why: map[string]string{}}}
	c.defaults(u)
	if o.Fetch == nil {
		defer c.Fetch.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	c.ctx = ctx
	if c.canary, err = c.token(); err != nil {
		return nil, err
	}
	kind := "GA"
	switch path := strings.TrimSuffix(u.Path, "/"); {
	case strings.HasSuffix(path, cardPath):
		err = c.agent(strings.TrimSuffix(u.Scheme+"://"+u.Host+path, cardPath))
	case strings.HasPrefix(path, "/a2a/"):
		err = c.agent(u.Scheme + "://" + u.Host + path)
	case path == "" || path+"/" == providerhttp.Base:
		kind = "GP"
		err = c.provider(u.Scheme + "://" + u.Host)
	default:
		return nil, ErrTarget
	}
	var silent *silence
	if err != nil && !errors.Is(err, errSpent) && !errors.As(err, &silent) && ctx.Err() == nil {
		return nil, err
	}
	otherwise := "nothing that was answered is of the kind this rule is about"
	switch {
	case silent != nil:
		otherwise = silent.Error()
	case ctx.Err() != nil:
		otherwise = "the check was ended before this was come to"
	case c.sent >= MaxRequests:
		otherwise = fmt.Sprintf("the %d requests of this check were used up before", MaxRequests)
	}
	return c.report(kind, safefetch.WithoutQuery(target), otherwise, c.sent), nil
}

const cardPath = "/.well-known/agent-card.json"

// checker is one run. It asks one thing at a time.
type checker struct {
	Options
	recorder
	ctx    context.Context
	sent   int
	canary string // stands in everything that is sent and must not come back in a refusal
}

func (c *checker) defaults(target *url.URL) {
	if c.Fetch == nil {
		c.Fetch = safefetch.New(Bounds().WithLoopback(target.Scheme + "://" + target.Host))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Pause == nil {
		c.Pause = safefetch.Pause
	}
	if c.Progress == nil {
		c.Progress = func(int, int, string) {}
	}
}

// token is 128 random bits as 32 hex digits.
func (c *checker) token() (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(c.Random, raw[:]); err != nil {
		return "", fmt.Errorf("no randomness for a check: %w", err)
	}
	return hex.EncodeToString(raw[:]), nil
}

func (c *checker) key() (*jwk.PrivateKey, error) {
	key, err := gidpa2a.NewKey(c.Random)
	if err != nil {
		return nil, fmt.Errorf("no randomness for a check: %w", err)
	}
	return key, nil
}

// outgoing is one request.
type outgoing struct {
	method, url string
	header      http.Header
	body        []byte
	profile     *httpsig.Profile // nil: unsigned
	key         *jwk.PrivateKey
	created     time.Time // zero: now
	swap        []byte    // sent in the place of the body that was signed
	kept        bool      // the signature of the header is used again
}

// reply is what came of it. err says that nothing was answered.
type reply struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error
}

// errSpent says that no more requests may be sent.
var errSpent = errors.New("the requests of this check are used up")

// send signs and sends a request. Its errors are errSpent, those of the context and of the randomness; that nothing was answered is in the reply.
func (c *checker) send(o *outgoing) (*reply, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if c.sent >= MaxRequests {
		return nil, errSpent
	}
	c.sent++
	c.Progress(c.sent, MaxRequests, "requests")
	if o.header == nil {
		o.header = http.Header{}
	}
	if o.body != nil && o.header.Get("Content-Type") == "" {
		o.header.Set("Content-Type", "application/json")
	}
	if o.key != nil && !o.kept {
		if err := c.sign(o); err != nil {
			return nil, err
		}
	}
	body := o.body
	if o.swap != nil {
		body = o.swap
	}
	r := safefetch.Request{Method: o.method, URL: o.url, Header: o.header}
	if body != nil {
		r.Body = bytes.NewReader(body)
	}
	began := c.Now()
	got, err := c.Fetch.Do(c.ctx, r)
	if err != nil {
		return &reply{err: err}, c.ctx.Err()
	}
	return &reply{status: got.Status, header: got.Header, body: got.Body, took: c.Now().Sub(began)}, nil
}

func (c *checker) sign(o *outgoing) error {
	u, err := url.Parse(o.url)
	if err != nil {
		return err
	}
	nonce, err := c.token()
	if err != nil {
		return err
	}
	created := o.created
	if created.IsZero() {
		created = c.Now()
	}
	m := httpsig.Message{Method: o.method, Authority: httpsig.Authority(u.Scheme, u.Host), Path: u.EscapedPath(), Header: o.header, Body: o.body}
	fields, err := httpsig.Sign(*o.profile, m, o.key, httpsig.Params{Created: created, Nonce: nonce})
	if err != nil {
		return err
	}
	for name, value := range fields {
		o.header.Set(name, value)
	}
	return nil
}

// repeats reports whether a refusal holds what was sent.
func (c *checker) repeats(r *reply) bool {
	if bytes.Contains(r.body, []byte(c.canary)) {
		return true
	}
	for _, lines := range r.header {
		if strings.Contains(strings.Join(lines, " "), c.canary) {
			return true
		}
	}
	return false
}

// hold passes or fails a rule by an answer; without one it was not looked at.
func (c *checker) hold(r *reply, ok bool, id, place, seen string, args ...any) {
	if r.err != nil {
		c.skip(unanswered(r), id)
		return
	}
	c.expect(ok, id, place, seen, args...)
}

// silence says that the first request had no answer, so that no other is sent.
type silence struct{ *reply }

func (s *silence) Error() string { return unanswered(s.reply) }

// unanswered is the reason of what could not be looked at because nothing came back.
func unanswered(r *reply) string {
	return "no answer: " + safefetch.Reason(r.err)
}
