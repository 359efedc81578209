package safefetch

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const maxURL = 8 << 10

// target checks the shape of a URL and returns it parsed. What the host resolves to is judged when it is dialled.
func (c *Client) target(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, refuse("the URL is longer than 8 KiB")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, refuse("the URL cannot be parsed")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, refuse("the URL names no host")
	case u.User != nil:
		return nil, refuse("the URL holds user information")
	case strings.Contains(raw, "#"):
		return nil, refuse("the URL has a fragment")
	case strings.Contains(u.Host, "%"):
		return nil, refuse("the URL has an IPv6 zone")
	}
	switch u.Scheme {
	case "https":
		if p := u.Port(); p != "" && p != "443" {
			return nil, refuse("the port is not 443")
		}
	case "http":
		if !c.loopback[hostPort(u)] {
			return nil, refuse("the scheme is not https")
		}
	default:
		return nil, refuse("the scheme is not https")
	}
	return u, nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// loopbackSet keeps those entries of Policy.Loopback that name the own machine; anything else grants nothing.
func loopbackSet(entries []string) map[string]bool {
	set := map[string]bool{}
	for _, e := range entries {
		host, port, err := net.SplitHostPort(e)
		if err == nil && loopbackAddrs(host) != nil {
			set[net.JoinHostPort(strings.ToLower(host), port)] = true
		}
	}
	return set
}

// loopbackAddrs are the addresses a loopback host stands for, nil for any other host. No name is ever looked up here.
func loopbackAddrs(host string) []netip.Addr {
	if strings.EqualFold(host, "localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	a, err := netip.ParseAddr(host)
	if err != nil || a.Zone() != "" || a.Is4In6() || !a.IsLoopback() {
		return nil
	}
	return []netip.Addr{a}
}

// LoopbackOf returns the host:port to put into Policy.Loopback for an origin that the user typed, "" when the origin is not http on the own machine.
func LoopbackOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" || u.User != nil || loopbackAddrs(u.Hostname()) == nil {
		return ""
	}
	return hostPort(u)
}

// WithLoopback returns the policy with those of the origins, which the user typed, that are http on the own machine; the others need nothing and add nothing.
func (p Policy) WithLoopback(origins ...string) Policy {
	p.Loopback = slices.Clone(p.Loopback)
	for _, origin := range origins {
		if at := LoopbackOf(origin); at != "" {
			p.Loopback = append(p.Loopback, at)
		}
	}
	return p
}

// forbiddenHeaders carry credentials, tell where the reader comes from, or change how the message is framed.
var forbiddenHeaders = []string{
	"Authorization", "Proxy-Authorization", "Cookie", "Referer", "Host", "Accept-Encoding", "Content-Length", "Transfer-Encoding", "Connection",
	"Proxy-Connection", "Keep-Alive", "Upgrade", "Te", "Trailer", "Expect", "User-Agent",
}

func checkHeader(h http.Header) error {
	for name := range h {
		for _, f := range forbiddenHeaders {
			if strings.EqualFold(name, f) {
				return refuse("the header " + f + " may not be set")
			}
		}
	}
	return nil
}

// shown is the part of a URL that errors may repeat.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
