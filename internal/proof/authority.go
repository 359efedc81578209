package proof

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"

	"sayso/safefetch"
)

// A zone may name any number of servers; no more than this many are asked.
const maxAuthorities = 4

// explainAbsence finds out why the resolvers know no record. They may remember that there was none (RFC 2308): then the zone's own servers have it already,
// which proves nothing, since nobody but us has seen it, and does not count, since it is not gone. Or it was put at the host itself.
func (c *Checker) explainAbsence(ctx context.Context, ch Challenge, r Resolver, soa *dns.SOA, f *Failure, ev *Evidence) *Failure {
	servers := c.authorities(ctx, r, ch.Host, soa)
	seen := make([]observation, len(servers))
	minimums := make([]*dns.SOA, len(servers))
	var wait sync.WaitGroup
	for i, s := range servers {
		wait.Go(func() { seen[i], minimums[i] = c.observeAuthority(ctx, s, ch, ev.At) })
	}
	wait.Wait()
	stale := false
	for i, o := range seen {
		ev.Authorities = append(ev.Authorities, o.point)
		stale = stale || o.failure == nil
		if soa == nil {
			soa = minimums[i]
		}
	}
	if soa != nil {
		ev.SOAMinimum = &soa.Minttl
	}
	if stale {
		remembered := "a while"
		if soa != nil {
			remembered = (time.Duration(soa.Minttl) * time.Second).String()
		}
		return fail(f.Code, "wait, then check again; the record is right", "the name servers of the zone hold the token, but resolvers may remember for %s that %s did not exist",
			remembered, recordName(ch.Host))
	}
	apex, failed := c.resolve(ctx, r, ch.Host, dns.TypeTXT)
	if failed == nil && judge(texts(apex.records), ch.Token, ev.At) == nil {
		return gone(CodeNoRecord, "move the TXT record to the name "+recordName(ch.Host), "the token stands at %s itself, not at %s", ch.Host, recordName(ch.Host))
	}
	return f
}

// observeAuthority asks one name server of the zone. It follows aliases within the answer only; where they lead out of the zone, the server cannot know.
func (c *Checker) observeAuthority(ctx context.Context, server Resolver, ch Challenge, now time.Time) (observation, *dns.SOA) {
	o := observation{point: Point{Name: server.String()}}
	var soa *dns.SOA
	msg, f := c.ask(ctx, server, recordName(ch.Host), dns.TypeTXT, false)
	if f == nil {
		walk := newChain(recordName(ch.Host))
		f = walk.follow(msg.Answer)
		soa = soaOf(msg)
		values := texts(recordsOf(msg.Answer, walk.end, dns.TypeTXT))
		switch {
		case f != nil:
		case len(values) > 0:
			f = judge(values, ch.Token, now)
			o.point.AnswerHash = hashTexts(values)
		case msg.Rcode == dns.RcodeNameError:
			f = absent(CodeNXDomain, ch.Host)
		default:
			f = absent(CodeNoData, ch.Host)
		}
	}
	o.failure = f
	o.point.Outcome = outcome(f)
	return o, soa
}

// authorities returns the name servers of the zone around a host. Their addresses are chosen by whoever runs that zone, so only public ones are asked.
func (c *Checker) authorities(ctx context.Context, r Resolver, host string, soa *dns.SOA) []Resolver {
	var servers []Resolver
	for _, name := range c.nameServers(ctx, r, host, soa) {
		for _, a := range c.addresses(ctx, r, name) {
			if len(servers) < maxAuthorities && safefetch.Public(a) {
				servers = append(servers, Resolver{Address: netip.AddrPortFrom(a, 53)})
			}
		}
	}
	return servers
}

// nameServers finds the zone by the SOA record of the negative answer. Some forwarders leave it out; then the host and its parents are tried.
func (c *Checker) nameServers(ctx context.Context, r Resolver, host string, soa *dns.SOA) []string {
	var zones []string
	if soa != nil && dns.IsSubDomain(soa.Hdr.Name, dns.Fqdn(host)) {
		zones = append(zones, soa.Hdr.Name)
	} else if top, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		for zone := host; len(zones) < maxChain && len(zone) >= len(top); _, zone, _ = strings.Cut(zone, ".") {
			zones = append(zones, zone)
		}
	}
	for _, zone := range zones {
		found, f := c.resolve(ctx, r, zone, dns.TypeNS)
		if f != nil || len(found.records) == 0 {
			continue
		}
		var names []string
		for _, rr := range found.records {
			if ns, ok := rr.(*dns.NS); ok && len(names) < maxAuthorities {
				names = append(names, ns.Ns)
			}
		}
		return names
	}
	return nil
}

// addresses returns the IPv6 and then the IPv4 addresses of a name; one family may fail.
func (c *Checker) addresses(ctx context.Context, r Resolver, name string) []netip.Addr {
	var out []netip.Addr
	for _, qtype := range []uint16{dns.TypeAAAA, dns.TypeA} {
		found, f := c.resolve(ctx, r, name, qtype)
		if f != nil {
			continue
		}
		for _, rr := range found.records {
			var raw []byte
			switch rr := rr.(type) {
			case *dns.AAAA:
				raw = rr.AAAA
			case *dns.A:
				raw = rr.A.To4()
			}
			if a, ok := netip.AddrFromSlice(raw); ok {
				out = append(out, a)
			}
		}
	}
	return out
}
