package providerhttp

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sayso/gidp/httpsig"
	"sayso/gidp/provider"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/safefetch"
)

// Publication is what a publisher gives to a provider. Beside the projection, both members may be nil.
type Publication struct {
	Projection  *wire.DiscoveryProjection
	Attributes  map[string][]string // retrieval attributes of a profile, by dimension (W-3)
	Hierarchies map[string]string   // by dimension: id of the hierarchy the labels were generalised by
}

// Query asks for candidates. Of Projection only the four lists are sent: the client puts an identifier and an endpoint that lead nowhere in the place of the
// others, so that a query cannot be tied to a projection of the same interest.
type Query struct {
	Projection *wire.DiscoveryProjection
	Attributes map[string][]string
	Limit      int    // 1 to provider.MaxLimit; 0: MaxLimit
	Cursor     string // of the page before, for the same key and query; "" for the first
}

// Candidate is one projection that a query found. Ref resolves for the same key within ten minutes; ProjectionRef goes into SessionOpen.projection_ref.
type Candidate struct {
	Ref           string `json:"candidate_ref"`
	ProjectionRef string `json:"projection_ref"`
}

// Page is a part of what a query finds, in an order that is random for each query. Cursor is "" at the end.
type Page struct {
	Candidates []Candidate `json:"candidates"`
	Cursor     string      `json:"cursor,omitempty"`
}

// Refusal is what a provider answered in place of a result. Code is one of package provider or of this one, CodeInternal for any other word; what the provider
// wrote in sentences is not kept.
type Refusal struct {
	Status     int // of HTTP
	Code       provider.Code
	RetryAfter time.Duration // 0: none was named
}

// Error reads "the provider refused: quota (429), try again in 20s".
func (e *Refusal) Error() string {
	text := fmt.Sprintf("the provider refused: %s (%d)", e.Code, e.Status)
	if e.RetryAfter > 0 {
		text += ", try again in " + e.RetryAfter.String()
	}
	return text
}

// Temporary reports whether the same request can succeed later.
func (e *Refusal) Temporary() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
}

// ErrAnswer says that an answer is not one of this protocol. Trying again rarely helps.
var ErrAnswer = errors.New("the provider's answer is not one of the provider protocol")

// ClientOptions are what a client is made of. All are required.
type ClientOptions struct {
	Fetch  *safefetch.Client // sends every request; what it may reach is its policy's to say
	Now    func() time.Time
	Random io.Reader // cryptographic, safe for concurrent use
}

// Client calls providers. Each call names the provider: its origin, scheme://host[:port], or the URL of its information document. Errors are *Refusal,
// ErrAnswer, those of safefetch, or the context's. It is safe for concurrent use.
type Client struct{ o ClientOptions }

// NewClient returns a client. It fetches nothing yet.
func NewClient(o ClientOptions) *Client { return &Client{o} }

// Publish publishes a projection under its own fresh key (P-2). Publishing again under the same key answers again, so a lost answer costs nothing. latency is
// how long a withdrawal takes here.
func (c *Client) Publish(ctx context.Context, at string, key *jwk.PrivateKey, p Publication) (projectionRef string, latency time.Duration, err error) {
	return c.put(ctx, http.MethodPost, at, "projections", key, p)
}

// Update replaces the content of a projection that was published under this key.
func (c *Client) Update(ctx context.Context, at string, key *jwk.PrivateKey, projectionRef string, p Publication) (ref string, latency time.Duration, err error) {
	return c.put(ctx, http.MethodPut, at, "projections/"+url.PathEscape(projectionRef), key, p)
}

func (c *Client) put(ctx context.Context, method, at, path string, key *jwk.PrivateKey, p Publication) (string, time.Duration, error) {
	object, err := wire.Encode(p.Projection)
	if err != nil {
		return "", 0, fmt.Errorf("the projection cannot be published: %w", err)
	}
	var out receipt
	body := publicationBody{Key: keyOf(key), Projection: object, Attributes: p.Attributes, Hierarchies: p.Hierarchies}
	if err := c.call(ctx, method, at, path, key, body, &out); err != nil {
		return "", 0, err
	}
	if !bounded(out.ProjectionRef) || out.WithdrawLatency < 0 || out.WithdrawLatency > maxLatencySeconds {
		return "", 0, ErrAnswer
	}
	return out.ProjectionRef, time.Duration(out.WithdrawLatency) * time.Second, nil
}

// Withdraw withdraws a projection. effectiveBy is the instant from which on the provider returns it no more. It is idempotent.
func (c *Client) Withdraw(ctx context.Context, at string, key *jwk.PrivateKey, projectionRef string) (effectiveBy time.Time, err error) {
	var out acknowledgement
	if err := c.call(ctx, http.MethodDelete, at, "projections/"+url.PathEscape(projectionRef), key, keyBody{keyOf(key)}, &out); err != nil {
		return time.Time{}, err
	}
	if effectiveBy, err = wire.ParseTime(out.EffectiveBy); err != nil {
		return time.Time{}, ErrAnswer
	}
	return effectiveBy, nil
}

// Candidates asks for one page of candidates.
func (c *Client) Candidates(ctx context.Context, at string, key *jwk.PrivateKey, q Query) (Page, error) {
	blank, err := c.blank(q.Projection)
	if err != nil {
		return Page{}, err
	}
	if q.Limit == 0 {
		q.Limit = provider.MaxLimit
	}
	var page Page
	if err := c.call(ctx, http.MethodPost, at, "candidates", key, queryBody{keyOf(key), blank, q.Attributes, q.Limit, q.Cursor}, &page); err != nil {
		return Page{}, err
	}
	if len(page.Candidates) > min(q.Limit, provider.MaxLimit) || page.Cursor != "" && !bounded(page.Cursor) {
		return Page{}, ErrAnswer
	}
	for _, found := range page.Candidates {
		if !bounded(found.Ref) || !bounded(found.ProjectionRef) {
			return Page{}, ErrAnswer
		}
	}
	return page, nil
}

// blank is the projection of a query: the lists of p, and identifiers that nothing else has.
func (c *Client) blank(p *wire.DiscoveryProjection) (jcs.Raw, error) {
	name, err := c.nonce()
	if err != nil {
		return nil, err
	}
	return wire.Encode(&wire.DiscoveryProjection{
		ExpiresAt: c.o.Now().UTC().Truncate(time.Hour).Add(2 * time.Hour), ProjectionID: name, Endpoint: "https://querent.invalid/a2a/" + name,
		Categories: p.Categories, Domains: p.Domains, Geographies: p.Geographies, Relation: p.Relation,
	})
}

// Resolve returns the endpoint of a candidate that a query under the same key found.
func (c *Client) Resolve(ctx context.Context, at string, key *jwk.PrivateKey, candidateRef string) (endpoint, projectionRef string, err error) {
	var out resolution
	if err := c.call(ctx, http.MethodPost, at, "candidates/"+url.PathEscape(candidateRef)+"/resolve", key, keyBody{keyOf(key)}, &out); err != nil {
		return "", "", err
	}
	u, parseErr := url.Parse(out.Endpoint)
	if !bounded(out.ProjectionRef) || parseErr != nil || len(out.Endpoint) > maxEndpoint || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		strings.Contains(out.Endpoint, "#") {
		return "", "", ErrAnswer
	}
	return out.Endpoint, out.ProjectionRef, nil
}

// Report tells the operator of a provider that a projection is abuse; reason is one of Reasons.
func (c *Client) Report(ctx context.Context, at string, key *jwk.PrivateKey, projectionRef, reason string) error {
	return c.call(ctx, http.MethodPost, at, "reports", key, reportBody{keyOf(key), projectionRef, reason}, &struct{}{})
}

// Info reads the information document. It is not signed.
func (c *Client) Info(ctx context.Context, at string) (Info, error) {
	var out Info
	if err := c.call(ctx, http.MethodGet, at, "", nil, nil, &out); err != nil {
		return Info{}, err
	}
	if out.Protocol != wire.Version || out.WithdrawLatency < 0 || out.WithdrawLatency > maxLatencySeconds {
		return Info{}, ErrAnswer
	}
	return out, nil
}

// call sends one request and reads the answer into out. A key signs it.
func (c *Client) call(ctx context.Context, method, at, path string, key *jwk.PrivateKey, in, out any) error {
	u, err := address(at, path)
	if err != nil {
		return err
	}
	r := safefetch.Request{Method: method, URL: u.String(), Header: http.Header{"Accept": {"application/json"}}}
	if key != nil {
		body, err := jcs.Encode(in)
		if err != nil {
			return fmt.Errorf("the request cannot be written: %w", err)
		}
		nonce, err := c.nonce()
		if err != nil {
			return err
		}
		m := httpsig.Message{Method: method, Authority: httpsig.Authority(u.Scheme, u.Host), Path: u.EscapedPath(), Body: body}
		fields, err := httpsig.Sign(httpsig.Provider, m, key, httpsig.Params{Created: c.o.Now(), Nonce: nonce})
		if err != nil {
			return fmt.Errorf("the request cannot be signed: %w", err)
		}
		for name, value := range fields {
			r.Header.Set(name, value)
		}
		r.Header.Set("Content-Type", "application/json")
		if text := Membership(ctx); text != "" {
			r.Header.Set(membershipHeader, text)
		}
		r.Body = bytes.NewReader(body)
	}
	resp, err := c.o.Fetch.Do(ctx, r)
	if err != nil {
		return err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.Status < 200 || resp.Status > 299:
		return refusalOf(resp, kind)
	case kind != "application/json" || len(resp.Body) > maxAnswer || jcs.Decode(resp.Body, out) != nil:
		return ErrAnswer
	}
	return nil
}

// refusalOf reads no more of a refusal than its code.
func refusalOf(resp *safefetch.Response, kind string) error {
	var said problem
	if kind != "application/json" || len(resp.Body) > maxAnswer || jcs.Decode(resp.Body, &said) != nil {
		said.Code = ""
	}
	if _, ok := statuses[said.Code]; !ok {
		said.Code = provider.CodeInternal
		if resp.Status == http.StatusTooManyRequests {
			said.Code = provider.CodeQuota
		}
	}
	return &Refusal{Status: resp.Status, Code: said.Code, RetryAfter: resp.RetryAfter()}
}

// address is the URL of an operation at a provider.
func address(at, path string) (*url.URL, error) {
	origin := strings.TrimSuffix(strings.TrimSuffix(at, "/"), strings.TrimSuffix(Base, "/"))
	origin = strings.TrimSuffix(origin, "/")
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Scheme+"://"+u.Host != origin {
		return nil, errors.New("a provider is named by its origin, such as https://provider.example")
	}
	return url.Parse(origin + Base + path)
}

// bounded holds an identifier of a provider to what the protocol lets through (W-10).
func bounded(ref string) bool {
	return ref != "" && len(ref) <= maxRef && !strings.ContainsFunc(ref, func(r rune) bool { return r <= ' ' || r > '~' })
}

// nonce makes two equal requests differ, so that the provider can tell a repeated one from a replayed one.
func (c *Client) nonce() (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(c.o.Random, raw[:]); err != nil {
		return "", fmt.Errorf("no randomness for a request: %w", err)
	}
	return hex.EncodeToString(raw[:]), nil
}

func keyOf(key *jwk.PrivateKey) jcs.Raw { return jwk.EncodePublic(key.Public().Public) }
