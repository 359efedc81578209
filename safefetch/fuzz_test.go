package safefetch_test

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"sayso/safefetch"
)

// Every name of this world means the own machine, so no URL whatever may lead to a connection, unless it holds a public address.
func FuzzURL(f *testing.F) {
	for _, l := range literals {
		f.Add("https://" + l.host + "/")
		f.Add("http://" + l.host + "/")
	}
	for _, u := range []string{"https://u:p@example.com/", "https://example.com:22/", "https://①②⑦.⓪.⓪.①/", "https://[::ffff:7f00:1]:443/x?y#z", "//x", "https:\\\\127.0.0.1\\"} {
		f.Add(u)
	}
	loopback := []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")}
	f.Fuzz(func(t *testing.T, raw string) {
		c := safefetch.NewScripted(safefetch.Policy{Loopback: []string{"127.0.0.1:1", raw}}, safefetch.Script{
			Lookup: func(context.Context, string) ([]netip.Addr, error) { return loopback, nil },
			Connect: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
				if to.Port() != 443 || !safefetch.Allowed(to.String()) {
					t.Errorf("%q led to %v", raw, to)
				}
				return nil, errBlocked
			},
		})
		if _, err := c.Get(t.Context(), raw); err == nil {
			t.Errorf("%q was fetched", raw)
		}
	})
}
