package safefetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

const handshakeTimeout = 10 * time.Second

// dialer opens connections that the policy allows. The functions are fields so that tests can script DNS and keep every connection on the machine.
type dialer struct {
	guard    *ssrf.Guardian
	timeout  time.Duration
	loopback map[string]bool
	roots    *x509.CertPool // nil: the system's
	lookup   func(ctx context.Context, host string) ([]netip.Addr, error)
	connect  func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	pause    func(ctx context.Context)
}

func newGuard() *ssrf.Guardian {
	return ssrf.New(
		ssrf.WithPorts(443),
		// The Azure platform service sits on a public address outside the IANA registries.
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
	)
}

// Public reports whether an address that somebody else chose may be reached: the judgement of every Client, for a caller that speaks another protocol
// than HTTP. An address that may not is nobody's on the public internet.
func Public(a netip.Addr) bool { return publicGuard.SafeAddrPort(netip.AddrPortFrom(a, 443)) == nil }

var publicGuard = newGuard()

func newDialer(p Policy, loopback map[string]bool) *dialer {
	guard := newGuard()
	socket := &net.Dialer{Control: guard.Safe}
	d := &dialer{
		guard:    guard,
		timeout:  p.Timeout,
		loopback: loopback,
		roots:    p.Roots,
		lookup:   p.Lookup,
		connect: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			if standIn, ok := p.StandIns[to]; ok {
				return (&net.Dialer{Control: onlyLoopback}).DialContext(ctx, network(standIn), standIn.String())
			}
			return socket.DialContext(ctx, network(to), to.String())
		},
		pause: pauseLikeConnect,
	}
	if d.lookup == nil {
		d.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return d
}

// dialError carries the kind of a failed dial through net/http to Do.
type dialError struct {
	kind    string
	refused bool
}

func (e *dialError) Error() string { return "safefetch: dial: " + e.kind }

// dialTLS serves https: resolve once, judge every address, connect to judged addresses in turn, shake hands.
func (d *dialer) dialTLS(ctx context.Context, _, address string) (net.Conn, error) {
	// net/http detaches the dial from the request's deadline, so it gets its own.
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &dialError{kind: KindConnect}
	}
	targets, err := d.judge(ctx, host)
	if err != nil {
		return nil, err
	}
	raw, err := d.first(ctx, targets)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: d.roots, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	ctx, stop := context.WithTimeout(ctx, handshakeTimeout)
	defer stop()
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		if ctx.Err() != nil {
			return nil, &dialError{kind: KindTimeout}
		}
		return nil, &dialError{kind: KindTLS}
	}
	return conn, nil
}

// judge resolves a host and returns its addresses only when policy allows every one of them.
func (d *dialer) judge(ctx context.Context, host string) ([]netip.AddrPort, error) {
	var addrs []netip.Addr
	if literal, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{literal}
	} else if addrs, err = d.lookup(ctx, host); err != nil || len(addrs) == 0 {
		return nil, &dialError{kind: KindDNS}
	} else {
		// Resolvers hand out A records as IPv4-mapped IPv6 addresses.
		for i := range addrs {
			addrs[i] = addrs[i].Unmap()
		}
	}
	targets := make([]netip.AddrPort, len(addrs))
	for i, a := range addrs {
		targets[i] = netip.AddrPortFrom(a, 443)
		if d.guard.SafeAddrPort(targets[i]) != nil {
			d.pause(ctx)
			return nil, &dialError{kind: KindConnect, refused: true}
		}
	}
	return targets, nil
}

// first connects to the first target that answers; each gets an equal share of the time that is left.
func (d *dialer) first(ctx context.Context, targets []netip.AddrPort) (net.Conn, error) {
	for i, t := range targets {
		share := d.timeout
		if deadline, ok := ctx.Deadline(); ok {
			share = time.Until(deadline) / time.Duration(len(targets)-i)
		}
		one, cancel := context.WithTimeout(ctx, share)
		conn, err := d.connect(one, t)
		cancel()
		if err == nil {
			return conn, nil
		}
		if errors.Is(err, ssrf.ErrProhibitedIP) {
			return nil, &dialError{kind: KindConnect, refused: true}
		}
	}
	return nil, &dialError{kind: KindConnect}
}

// dialLoopback serves http, which only the pairs of Policy.Loopback reach.
func (d *dialer) dialLoopback(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil || !d.loopback[net.JoinHostPort(strings.ToLower(host), port)] {
		return nil, &dialError{kind: KindConnect, refused: true}
	}
	socket := &net.Dialer{Control: onlyLoopback}
	for _, a := range loopbackAddrs(host) {
		if conn, err := socket.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, &dialError{kind: KindConnect}
}

func onlyLoopback(_, address string, _ syscall.RawConn) error {
	if ap, err := netip.ParseAddrPort(address); err != nil || !ap.Addr().IsLoopback() {
		return ssrf.ErrProhibitedIP
	}
	return nil
}

func network(to netip.AddrPort) string {
	if to.Addr().Is4() {
		return "tcp4"
	}
	return "tcp6"
}

// pauseLikeConnect lets a refused address take about as long as a connection that a distant host rejects.
func pauseLikeConnect(ctx context.Context) {
	_ = Pause(ctx, 20*time.Millisecond+rand.N(130*time.Millisecond)) // the refusal follows either way
}
