package safefetch

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

const (
	defaultMaxBytes  = 1 << 20
	defaultMaxHeader = 64 << 10
	defaultTimeout   = 10 * time.Second
	defaultPerHost   = 4
)

// Policy says what a client may fetch. The zero value: https, port 443, public addresses, no redirects, 1 MiB, 10 s.
type Policy struct {
	UserAgent    string        // "sayso" when empty
	MaxBytes     int64         // after decompression; 0 = 1 MiB
	MaxHeader    int64         // bytes of the header; 0 = 64 KiB
	Undecoded    bool          // an answer with a content coding is refused as KindProtocol instead of decoded
	MaxRedirects int           // same scheme, every hop through all checks; 0 = a redirect is an answer like any other
	Timeout      time.Duration // total; 0 = 10 s
	// Loopback are host:port pairs (a loopback literal or localhost) that the user typed and that may be dialled over http.
	Loopback    []string
	MaxRequests int // per client, redirects counted; 0 = no limit
	PerHost     int // concurrent requests per host; 0 = 4

	// Lookup resolves a host in the place of the system's resolver. Every address it returns is judged like any other.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Roots  *x509.CertPool // certificates to trust; nil: the system's
	// StandIns maps address and port to the loopback address and port that is dialled in its place, so that a test or a demonstration plays the internet on
	// one machine. What is replaced must have passed the guard, and a stand-in outside loopback is refused. A server never sets it.
	StandIns map[netip.AddrPort]netip.AddrPort
}

// Client fetches foreign URLs. Make one per task; it is safe for concurrent use.
type Client struct {
	policy    Policy
	loopback  map[string]bool
	transport *http.Transport
	sent      atomic.Int64
}

// New returns a client for the policy.
func New(p Policy) *Client {
	c := prepare(p)
	c.use(newDialer(c.policy, c.loopback))
	return c
}

func prepare(p Policy) *Client {
	if p.UserAgent == "" {
		p.UserAgent = "sayso"
	}
	if p.MaxBytes <= 0 {
		p.MaxBytes = defaultMaxBytes
	}
	if p.MaxHeader <= 0 {
		p.MaxHeader = defaultMaxHeader
	}
	if p.Timeout <= 0 {
		p.Timeout = defaultTimeout
	}
	if p.PerHost <= 0 {
		p.PerHost = defaultPerHost
	}
	return &Client{policy: p, loopback: loopbackSet(p.Loopback)}
}

// use builds the transport from nothing: a clone of http.DefaultTransport would bring the environment's proxy.
func (c *Client) use(d *dialer) {
	c.transport = &http.Transport{
		Proxy:                  nil,
		DialContext:            d.dialLoopback,
		DialTLSContext:         d.dialTLS,
		DisableCompression:     true,
		MaxConnsPerHost:        c.policy.PerHost,
		MaxIdleConnsPerHost:    c.policy.PerHost,
		IdleConnTimeout:        30 * time.Second,
		ResponseHeaderTimeout:  c.policy.Timeout,
		MaxResponseHeaderBytes: c.policy.MaxHeader,
	}
}

// Close drops idle connections. The client stays usable.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Request is one fetch.
type Request struct {
	Method string // GET when empty; HEAD, POST, PUT, DELETE, OPTIONS
	URL    string
	Header http.Header // Accept, Content-Type and the like; never credentials
	Body   io.Reader
}

// Response is a whole bounded answer.
type Response struct {
	Status   int
	Header   http.Header
	Body     []byte
	FinalURL string // after redirects
}

// Get is Do with GET.
func (c *Client) Get(ctx context.Context, url string) (*Response, error) {
	return c.Do(ctx, Request{URL: url})
}

// Do fetches. Errors are ErrRefused (policy), context errors, or *FetchError. Every status is an answer, not an error.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions}, r.Method) {
		return nil, refuse("the method is not GET, HEAD, POST, PUT, DELETE or OPTIONS")
	}
	if err := checkHeader(r.Header); err != nil {
		return nil, err
	}
	first, err := c.target(r.URL)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, c.policy.Timeout)
	defer cancel()
	at := first
	for hops := 0; ; hops++ {
		resp, err := c.once(limited, r, at)
		if err != nil {
			return nil, explain(ctx, limited, err, first)
		}
		next := c.redirect(r.Method, resp, at)
		if next == "" {
			return resp, nil
		}
		if hops == c.policy.MaxRedirects {
			return nil, refuse("too many redirects")
		}
		to, err := c.target(next)
		if err != nil || to.Scheme != at.Scheme {
			return nil, refuse("a redirect leads to a URL that may not be fetched")
		}
		at = to
	}
}

// once sends one request and reads the bounded answer.
func (c *Client) once(ctx context.Context, r Request, at *url.URL) (*Response, error) {
	if n := c.sent.Add(1); c.policy.MaxRequests > 0 && n > int64(c.policy.MaxRequests) {
		return nil, refuse("the number of requests is used up")
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, at.String(), r.Body)
	if err != nil {
		return nil, refuse("the URL cannot be requested")
	}
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	req.Header.Set("User-Agent", c.policy.UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := c.read(r.Method, resp)
	if err == nil {
		// A peer that sees the connection being given up may still end its message in due form; what came is not the whole answer.
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body, FinalURL: at.String()}, nil
}

// read takes at most MaxBytes, counted on both sides of decompression.
func (c *Client) read(method string, resp *http.Response) ([]byte, error) {
	if method == http.MethodHead {
		return nil, nil
	}
	limit := c.policy.MaxBytes
	if resp.ContentLength > limit {
		return nil, &FetchError{Kind: KindTooLarge}
	}
	var src io.Reader = io.LimitReader(resp.Body, limit+1)
	switch coding := strings.ToLower(resp.Header.Get("Content-Encoding")); {
	case coding == "" || coding == "identity":
	case !c.policy.Undecoded && (coding == "gzip" || coding == "x-gzip"):
		z, err := gzip.NewReader(src)
		if errors.Is(err, io.EOF) {
			return nil, nil // a 304 or 204 repeats the header of the body that it does not have
		}
		if err != nil {
			return nil, err
		}
		src = io.LimitReader(z, limit+1)
	default:
		return nil, &FetchError{Kind: KindProtocol}
	}
	body, err := io.ReadAll(src)
	if int64(len(body)) > limit {
		return nil, &FetchError{Kind: KindTooLarge}
	}
	return body, err
}

// redirect returns where an answer sends the client, "" when it is to be returned as it is.
func (c *Client) redirect(method string, resp *Response, at *url.URL) string {
	if c.policy.MaxRedirects <= 0 || (method != http.MethodGet && method != http.MethodHead) {
		return ""
	}
	switch resp.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return ""
	}
	location := resp.Header.Get("Location")
	if location == "" {
		return ""
	}
	// An unreadable or relative-to-nothing target stays as it is and is refused by the URL check.
	ref, err := url.Parse(location)
	if err != nil {
		return location
	}
	return at.ResolveReference(ref).String()
}

// explain turns whatever net/http said into the errors of this package; texts of the peer and of the network stay out.
func explain(caller, limited context.Context, err error, u *url.URL) error {
	if caller.Err() != nil {
		return caller.Err()
	}
	if errors.Is(err, ErrRefused) {
		return err
	}
	out := &FetchError{Kind: KindProtocol, URL: shown(u)}
	var fetch *FetchError
	var dial *dialError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &fetch):
		out.Kind = fetch.Kind
	case errors.As(err, &dial):
		out.Kind, out.refused = dial.kind, dial.refused
	case limited.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		out.Kind = KindTimeout
	}
	return out
}
