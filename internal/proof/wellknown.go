package proof

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"sayso/safefetch"
)

const (
	maxBody   = 4 << 10
	maxHeader = 16 << 10
	maxHops   = 3
	// otherAgent says nothing about this program, so that a page made for our agent alone shows itself.
	otherAgent = "Mozilla/5.0 (compatible)"
)

const nextPage = "serve exactly the token as text/plain at this URL"

// checkPage proves by the page at Path: as our agent sees it, against a path that cannot exist, and as another agent sees it.
func (c *Checker) checkPage(ctx context.Context, ch Challenge, ev *Evidence) *Failure {
	agent := c.UserAgent
	if agent == "" {
		agent = "sayso"
	}
	for _, r := range c.Resolvers {
		ev.Resolvers = append(ev.Resolvers, r.String())
	}
	ours, other := c.client(agent, 0), c.client(otherAgent, 1)
	defer ours.Close()
	defer other.Close()

	page, f := c.page(ctx, ours, ch.Host, Path)
	if f == nil {
		f = holds(page, ch.Token)
		ev.AnswerHash = hashBody(page)
	}
	ev.Points = append(ev.Points, Point{Name: agent, Outcome: outcome(f), AnswerHash: ev.AnswerHash})
	if f != nil {
		return f
	}
	control, f := c.page(ctx, ours, ch.Host, Path+"-"+strings.ToLower(rand.Text()))
	switch {
	case f == nil && bytes.Contains(control.Body, []byte(ch.Token)):
		return fail(CodeSoft404, "answer with 404 for pages that do not exist", "the host serves the token at a path that nobody published too")
	case f != nil && !refusesControl(f.Code):
		return f
	}
	second, f := c.page(ctx, other, ch.Host, Path)
	point := Point{Name: otherAgent}
	if f == nil {
		f = holds(second, ch.Token)
		point.AnswerHash = hashBody(second)
		if f != nil {
			f = fail(CodeCloaking, "serve the same page to every user agent", "another user agent does not see the token")
		}
	}
	point.Outcome = outcome(f)
	ev.Points = append(ev.Points, point)
	return f
}

// refusesControl reports how a host may deal with a path that does not exist without giving the token away. Everything else is an outage.
func refusesControl(code string) bool {
	return slices.Contains([]string{CodeRedirectRefused, CodeRedirectLimit, CodeTooLarge, CodeBadResponse}, code)
}

// client makes the fetcher of one vantage point. The name is resolved by our resolvers, beginning with the one of this number.
func (c *Checker) client(agent string, vantage int) *safefetch.Client {
	p := safefetch.Policy{UserAgent: agent, MaxBytes: maxBody, MaxHeader: maxHeader, Undecoded: true, Timeout: c.timeout(), Roots: c.Roots}
	if len(c.Resolvers) > 0 {
		p.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) { return c.lookup(ctx, host, vantage) }
	}
	if c.Loopback != nil {
		p.StandIns = c.Loopback.StandIns
		for _, origin := range c.Loopback.Origins {
			p.Loopback = append(p.Loopback, safefetch.LoopbackOf(origin))
		}
	}
	return safefetch.New(p)
}

var errNoAddress = errors.New("no resolver knows an address")

// lookup returns one address of each family, so that a broken one costs one further try. A forbidden address is handed on with the others, because it
// refuses the whole name.
func (c *Checker) lookup(ctx context.Context, host string, vantage int) ([]netip.Addr, error) {
	for i := range c.Resolvers {
		all := c.addresses(ctx, c.Resolvers[(vantage+i)%len(c.Resolvers)], host)
		if slices.ContainsFunc(all, func(a netip.Addr) bool { return !safefetch.Public(a) }) {
			return all, nil
		}
		var out []netip.Addr
		for _, is := range []func(netip.Addr) bool{netip.Addr.Is6, netip.Addr.Is4} {
			if at := slices.IndexFunc(all, is); at >= 0 {
				out = append(out, all[at])
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, errNoAddress
}

// page fetches one path of the host. A redirect may only lead to the same path of the same host over https: whoever answers elsewhere is not this host.
func (c *Checker) page(ctx context.Context, client *safefetch.Client, host, path string) (*safefetch.Response, *Failure) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	at := "https://" + host + path
	if c.Loopback != nil && c.Loopback.Origins[host] != "" {
		at = c.Loopback.Origins[host] + path
	}
	for hops := 0; ; hops++ {
		resp, err := client.Do(ctx, safefetch.Request{URL: at, Header: http.Header{"Accept": {"text/plain"}}})
		if err != nil {
			return nil, transport(err, host)
		}
		location := resp.Header.Get("Location")
		switch resp.Status {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return resp, nil
		}
		if at = hop(at, location, host, path); at == "" {
			return nil, fail(CodeRedirectRefused, "serve the page at this URL without a redirect", "the host redirects to another host, path, port or scheme")
		}
		if hops == maxHops {
			return nil, fail(CodeRedirectLimit, "serve the page at this URL without a redirect", "the host redirects more than %d times", maxHops)
		}
	}
}

// hop returns where an allowed redirect leads, "" for any other.
func hop(from, location, host, path string) string {
	base, err := url.Parse(from)
	if err != nil {
		return ""
	}
	ref, err := url.Parse(location)
	if err != nil || location == "" || strings.Contains(location, "#") {
		return ""
	}
	to := base.ResolveReference(ref)
	port := to.Port()
	if to.Scheme != "https" || to.User != nil || !strings.EqualFold(to.Hostname(), host) || port != "" && port != "443" || to.EscapedPath() != path {
		return ""
	}
	return to.String()
}

// transport names a failed fetch. None of these shows that a proof is gone.
func transport(err error, host string) *Failure {
	const next = "see that the host answers over https, then check again"
	var fetch *safefetch.FetchError
	switch {
	case errors.Is(err, safefetch.ErrRefused):
		return fail(CodeNetRefused, "let the host resolve to public addresses only", "%s does not resolve to public addresses alone", host)
	case !errors.As(err, &fetch), fetch.Kind == safefetch.KindTimeout:
		return fail(CodeTimeout, next, "%s gave no complete answer in time", host)
	case fetch.Kind == safefetch.KindTLS:
		return fail(CodeTLS, "install a valid certificate for the host", "the secure connection to %s failed", host)
	case fetch.Kind == safefetch.KindTooLarge:
		return fail(CodeTooLarge, nextPage, "the page is larger than %d bytes", maxBody)
	case fetch.Kind == safefetch.KindProtocol:
		return fail(CodeBadResponse, next, "the answer is cut short, compressed, or has a header over %d bytes", maxHeader)
	}
	return fail(CodeUnreachable, next, "%s cannot be reached", host)
}

// holds judges a page that was fetched. Editors put a byte order mark before a text and a line end behind it; nothing else may stand there.
func holds(page *safefetch.Response, token string) *Failure {
	if page.Status != http.StatusOK {
		f := fail(CodeHTTPStatus, nextPage, "the host answers with status %d", page.Status)
		f.Counts = page.Status == http.StatusNotFound || page.Status == http.StatusGone
		return f
	}
	if kind, _, err := mime.ParseMediaType(page.Header.Get("Content-Type")); err != nil || kind != "text/plain" {
		return gone(CodeWrongBody, nextPage, "the page is not served as text/plain")
	}
	body := bytes.TrimRight(bytes.TrimPrefix(page.Body, []byte("\ufeff")), "\r\n")
	if subtle.ConstantTimeCompare(body, []byte(token)) != 1 {
		return gone(CodeWrongBody, nextPage, "the page is not the token of this proof and nothing else")
	}
	return nil
}

func hashBody(page *safefetch.Response) string {
	sum := sha256.Sum256(page.Body)
	return "sha256:" + hex.EncodeToString(sum[:])
}
