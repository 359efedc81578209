package proof

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

const (
	maxChain = 8    // aliases followed for one question
	udpSize  = 1232 // fits every path without fragments
	tries    = 2    // of a query over UDP that stays without answer
)

// Resolver is one vantage point of the DNS.
type Resolver struct {
	Address    netip.AddrPort
	ServerName string // DNS over TLS with a certificate for this name; "" is plain DNS
}

// ParseResolver reads ADDRESS, ADDRESS:PORT or tls://NAME@ADDRESS[:PORT], with an IP address (IPv6 in brackets before a port).
func ParseResolver(text string) (Resolver, error) {
	var r Resolver
	port := uint16(53)
	rest, secure := strings.CutPrefix(text, "tls://")
	if secure {
		var ok bool
		port = 853
		if r.ServerName, rest, ok = strings.Cut(rest, "@"); !ok || r.ServerName == "" {
			return Resolver{}, fmt.Errorf("resolver %q names no certificate: write tls://NAME@ADDRESS", text)
		}
	}
	if a, err := netip.ParseAddr(strings.Trim(rest, "[]")); err == nil {
		r.Address = netip.AddrPortFrom(a, port)
	} else if r.Address, err = netip.ParseAddrPort(rest); err != nil {
		return Resolver{}, fmt.Errorf("resolver %q is not an IP address with or without a port: write 9.9.9.9, [2620:fe::fe]:53 or tls://NAME@ADDRESS", text)
	}
	if r.Address.Port() == 0 || r.Address.Addr().Zone() != "" {
		return Resolver{}, fmt.Errorf("resolver %q has port 0 or a zone: name an address and a port that can be reached", text)
	}
	return r, nil
}

// String is the form that ParseResolver reads.
func (r Resolver) String() string {
	if r.ServerName != "" {
		return "tls://" + r.ServerName + "@" + r.Address.String()
	}
	return r.Address.String()
}

// trusted reports whether the AD flag of this resolver reaches us unchanged: nobody between us and it can set it.
func (r Resolver) trusted() bool { return r.ServerName != "" || r.Address.Addr().Unmap().IsLoopback() }

// answer is what one resolver says about one name and type.
type answer struct {
	records  []dns.RR // of the type asked for, where the aliases end
	negative string   // CodeNXDomain or CodeNoData when there are none
	target   string   // name where the aliases end, canonical; "" without one
	ad       bool     // validated, as said by a trusted resolver
	soa      *dns.SOA
}

const nextDNS = "try again; if it stays like this, ask whoever runs your DNS"

// resolve asks one resolver and follows aliases, also those that the resolver left open.
func (c *Checker) resolve(ctx context.Context, r Resolver, name string, qtype uint16) (answer, *Failure) {
	chain := newChain(name)
	a := answer{ad: r.trusted()}
	for {
		asked := chain.end
		msg, f := c.ask(ctx, r, asked, qtype, true)
		if f != nil {
			return a, f
		}
		a.ad = a.ad && msg.AuthenticatedData
		f = chain.follow(msg.Answer)
		a.target = chain.target()
		if f != nil {
			return a, f
		}
		a.soa = soaOf(msg)
		switch a.records = recordsOf(msg.Answer, chain.end, qtype); {
		case len(a.records) > 0:
			return a, nil
		case msg.Rcode == dns.RcodeNameError:
			a.negative = CodeNXDomain
			return a, nil
		case chain.end == asked || a.soa != nil:
			a.negative = CodeNoData
			return a, nil
		}
	}
}

// chain is the walk along CNAME and DNAME records from one name.
type chain struct {
	start, end string
	seen       []string
}

func newChain(name string) *chain {
	name = dns.CanonicalName(name)
	return &chain{start: name, end: name, seen: []string{name}}
}

func (w *chain) target() string {
	if w.end == w.start {
		return ""
	}
	return w.end
}

// follow goes as far as the records of one answer lead.
func (w *chain) follow(records []dns.RR) *Failure {
	for {
		next := alias(records, w.end)
		switch {
		case next == "":
			return nil
		case slices.Contains(w.seen, next):
			return fail(CodeCNAMELoop, "let the aliases end at a name with the TXT record", "the aliases of %s lead back to themselves", shownName(w.start))
		case len(w.seen) > maxChain:
			return fail(CodeCNAMEChain, "shorten the chain of aliases", "%s is an alias over more than %d steps", shownName(w.start), maxChain)
		}
		w.end = next
		w.seen = append(w.seen, next)
	}
}

// alias returns where a name points, "" when it is none. A DNAME moves everything below its owner (RFC 6672); servers repeat the result as a CNAME.
func alias(records []dns.RR, name string) string {
	moved := ""
	for _, rr := range records {
		owner := dns.CanonicalName(rr.Header().Name)
		switch rr := rr.(type) {
		case *dns.CNAME:
			if owner == name {
				return dns.CanonicalName(rr.Target)
			}
		case *dns.DNAME:
			if front, ok := strings.CutSuffix(name, "."+owner); ok {
				moved = front + "." + dns.CanonicalName(rr.Target)
			}
		}
	}
	if _, ok := dns.IsDomainName(moved); !ok {
		return ""
	}
	return moved
}

func recordsOf(records []dns.RR, name string, qtype uint16) []dns.RR {
	var out []dns.RR
	for _, rr := range records {
		if rr.Header().Rrtype == qtype && dns.CanonicalName(rr.Header().Name) == name {
			out = append(out, rr)
		}
	}
	return out
}

func soaOf(msg *dns.Msg) *dns.SOA {
	for _, rr := range msg.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			return soa
		}
	}
	return nil
}

// ask sends one question to one server. A message that comes back is NOERROR or NXDOMAIN and answers this question.
func (c *Checker) ask(ctx context.Context, r Resolver, name string, qtype uint16, recursive bool) (*dns.Msg, *Failure) {
	q := new(dns.Msg)
	q.SetQuestion(dns.Fqdn(name), qtype)
	q.RecursionDesired, q.AuthenticatedData = recursive, true
	q.SetEdns0(udpSize, true)
	msg, err := c.exchange(ctx, r, q)
	var network net.Error
	switch {
	case errors.As(err, &network) && network.Timeout(), err != nil && ctx.Err() != nil:
		return nil, fail(CodeTimeout, nextDNS, "%s did not answer in time for %s", r, shownName(name))
	case err != nil:
		return nil, fail(CodeServFail, nextDNS, "%s gave no readable answer for %s", r, shownName(name))
	case len(msg.Question) != 1 || dns.CanonicalName(msg.Question[0].Name) != dns.CanonicalName(name) || msg.Question[0].Qtype != qtype || !msg.Response:
		return nil, fail(CodeServFail, nextDNS, "%s answered another question than %s", r, shownName(name))
	case bogus(msg):
		f := fail(CodeServFail, "repair the DNSSEC signatures of the zone", "the DNSSEC signatures over %s do not validate, says %s", shownName(name), r)
		f.bogus = true
		return nil, f
	case msg.Rcode != dns.RcodeSuccess && msg.Rcode != dns.RcodeNameError:
		return nil, fail(CodeServFail, nextDNS, "%s answered %s for %s", r, dns.RcodeToString[msg.Rcode], shownName(name))
	}
	return msg, nil
}

// exchange tries UDP and takes TCP when the answer does not fit; a resolver with a name is asked over TLS.
func (c *Checker) exchange(ctx context.Context, r Resolver, q *dns.Msg) (msg *dns.Msg, err error) {
	address := c.standIn(r.Address).String()
	client := dns.Client{Timeout: c.queryTimeout(), UDPSize: udpSize}
	if r.ServerName != "" {
		client.Net = "tcp-tls"
		client.TLSConfig = &tls.Config{ServerName: r.ServerName, RootCAs: c.Roots, MinVersion: tls.VersionTLS12}
		msg, _, err = client.ExchangeContext(ctx, q, address)
		return msg, err
	}
	for range tries {
		msg, _, err = client.ExchangeContext(ctx, q, address)
		var network net.Error
		if ctx.Err() != nil || !errors.As(err, &network) || !network.Timeout() {
			break
		}
	}
	if err != nil || !msg.Truncated {
		return msg, err
	}
	client.Net = "tcp"
	msg, _, err = client.ExchangeContext(ctx, q, address)
	return msg, err
}

func (c *Checker) standIn(a netip.AddrPort) netip.AddrPort {
	if c.Loopback != nil {
		if s, ok := c.Loopback.StandIns[a]; ok && s.Addr().IsLoopback() {
			return s
		}
	}
	return a
}

// bogus reports a SERVFAIL that a validating resolver explains by DNSSEC (RFC 8914, codes 5 to 12).
func bogus(msg *dns.Msg) bool {
	opt := msg.IsEdns0()
	if opt == nil || msg.Rcode != dns.RcodeServerFailure {
		return false
	}
	return slices.ContainsFunc(opt.Option, func(o dns.EDNS0) bool {
		e, ok := o.(*dns.EDNS0_EDE)
		return ok && e.InfoCode >= dns.ExtendedErrorCodeDNSSECIndeterminate && e.InfoCode <= dns.ExtendedErrorCodeNSECMissing
	})
}

func shownName(name string) string { return strings.TrimSuffix(name, ".") }
