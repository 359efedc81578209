package safefetch

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
)

// Script replaces what would leave the machine. Policy, guard and URL checks stay those of New.
type Script struct {
	Lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	Connect func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	Roots   *x509.CertPool
}

// NewScripted is New with a script; a nil function keeps the real one.
func NewScripted(p Policy, s Script) *Client {
	c := prepare(p)
	d := newDialer(c.policy, c.loopback)
	d.pause = func(context.Context) {}
	d.roots = s.Roots
	if s.Lookup != nil {
		d.lookup = s.Lookup
	}
	if s.Connect != nil {
		d.connect = s.Connect
	}
	c.use(d)
	return c
}

// Allowed is the guard of a real client for one address and port, as it sits in the socket.
func Allowed(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return false
	}
	return newDialer(Policy{}, nil).guard.Safe(network(ap), address, nil) == nil
}
