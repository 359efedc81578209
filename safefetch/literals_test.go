package safefetch_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"sayso/safefetch"
)

// literals is the test list of forbidden and permitted targets: host as it stands in a URL, and the address behind it where Go reads it as one.
var literals = []struct {
	host   string
	addr   string // "" when Go leaves the text to the resolver
	permit bool
}{
	{"127.0.0.1", "127.0.0.1", false}, {"127.255.255.254", "127.255.255.254", false}, {"[::1]", "::1", false},
	{"0.0.0.0", "0.0.0.0", false}, {"[::]", "::", false}, {"0.1.2.3", "0.1.2.3", false},
	{"10.0.0.1", "10.0.0.1", false}, {"172.16.0.1", "172.16.0.1", false}, {"192.168.1.1", "192.168.1.1", false},
	{"169.254.1.1", "169.254.1.1", false}, {"169.254.169.254", "169.254.169.254", false},
	{"[fd00:ec2::254]", "fd00:ec2::254", false}, {"[fc00::1]", "fc00::1", false}, {"[fd12:3456::1]", "fd12:3456::1", false},
	{"100.100.100.200", "100.100.100.200", false}, {"100.64.0.1", "100.64.0.1", false}, {"192.0.0.192", "192.0.0.192", false},
	{"168.63.129.16", "168.63.129.16", false}, {"198.18.0.1", "198.18.0.1", false}, {"192.0.2.1", "192.0.2.1", false},
	{"192.88.99.1", "192.88.99.1", false}, {"192.31.196.1", "192.31.196.1", false},
	{"224.0.0.1", "224.0.0.1", false}, {"[ff02::1]", "ff02::1", false}, {"240.0.0.1", "240.0.0.1", false}, {"255.255.255.255", "255.255.255.255", false},
	{"[fe80::1]", "fe80::1", false}, {"[fe80::1%25lo]", "fe80::1%lo", false}, {"[fec0::1]", "fec0::1", false},
	{"[::ffff:127.0.0.1]", "::ffff:127.0.0.1", false}, {"[::ffff:169.254.169.254]", "::ffff:169.254.169.254", false},
	{"[::ffff:0:7f00:1]", "::ffff:0:7f00:1", false}, {"[::7f00:1]", "::7f00:1", false},
	{"[64:ff9b::7f00:1]", "64:ff9b::7f00:1", false}, {"[64:ff9b::a9fe:a9fe]", "64:ff9b::a9fe:a9fe", false}, {"[64:ff9b:1::a00:1]", "64:ff9b:1::a00:1", false},
	{"[2002:7f00:1::]", "2002:7f00:1::", false}, {"[2001:0:1::1]", "2001:0:1::1", false},
	{"[2001:db8::1]", "2001:db8::1", false}, {"[3fff::1]", "3fff::1", false}, {"[5f00::1]", "5f00::1", false}, {"[100::1]", "100::1", false},
	{"localhost", "", false}, {"localhost.", "", false},
	{"127.1", "", false}, {"2130706433", "", false}, {"0x7f000001", "", false}, {"0177.0.0.1", "", false},
	{"93.184.216.34", "93.184.216.34", true}, {"[2606:4700::1111]", "2606:4700::1111", true},
}

var errBlocked = errors.New("every connection of this test is blocked")

func TestLiteralsAtTheSocket(t *testing.T) {
	for _, l := range literals {
		if l.addr == "" {
			continue
		}
		if got := safefetch.Allowed(net.JoinHostPort(l.addr, "443")); got != l.permit {
			t.Errorf("%s: allowed %v, want %v", l.addr, got, l.permit)
		}
		if safefetch.Allowed(net.JoinHostPort(l.addr, "22")) || safefetch.Allowed(net.JoinHostPort(l.addr, "80")) {
			t.Errorf("%s: a port other than 443 is allowed", l.addr)
		}
	}
}

// The client must decide before it connects: the connect function of this test counts and blocks.
func TestLiteralsThroughTheClient(t *testing.T) {
	loopback := []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	lookup := newDNS(t, map[string][][]netip.Addr{"localhost.": {loopback}})
	for _, l := range literals {
		var dialled []netip.AddrPort
		c := safefetch.NewScripted(safefetch.Policy{}, safefetch.Script{Lookup: lookup, Connect: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
			dialled = append(dialled, to)
			return nil, errBlocked
		}})
		_, err := c.Get(t.Context(), "https://"+l.host+"/")
		if err == nil {
			t.Fatalf("%s: fetched", l.host)
		}
		switch refused := errors.Is(err, safefetch.ErrRefused); {
		case l.permit && (refused || len(dialled) != 1):
			t.Errorf("%s: %v, dialled %v, want one connection", l.host, err, dialled)
		case !l.permit && len(dialled) != 0:
			t.Errorf("%s: dialled %v", l.host, dialled)
		case l.addr != "" && !l.permit && !refused:
			t.Errorf("%s: %v, want a refusal", l.host, err)
		}
	}
}

// denied is a second, independent statement of the ranges, to find a range that the guard forgets after an update.
var denied = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

func TestGuardAgreesWithOurOwnTable(t *testing.T) {
	global := netip.MustParsePrefix("2000::/3")
	rapid.Check(t, func(t *rapid.T) {
		a := drawAddr(t)
		want := a.Is4() || global.Contains(a)
		for _, p := range denied {
			if p.Contains(a) {
				want = false
			}
		}
		if got := safefetch.Allowed(netip.AddrPortFrom(a, 443).String()); got != want {
			t.Fatalf("%s: allowed %v, want %v", a, got, want)
		}
	})
}

// drawAddr takes half of the addresses from around the edges of the table, where mistakes live.
func drawAddr(t *rapid.T) netip.Addr {
	if rapid.Bool().Draw(t, "edge") {
		p := rapid.SampledFrom(denied).Draw(t, "prefix")
		first := p.Addr()
		if rapid.Bool().Draw(t, "before") && first.Prev().IsValid() {
			return first.Prev()
		}
		return first
	}
	if rapid.Bool().Draw(t, "v4") {
		b := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4 bytes")
		a, _ := netip.AddrFromSlice(b)
		return a
	}
	b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6 bytes")
	a, _ := netip.AddrFromSlice(b)
	return a
}
