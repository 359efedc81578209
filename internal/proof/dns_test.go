package proof_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"sayso/internal/proof"
	"sayso/internal/proof/loopdns"
)

func TestCase01ExactTXT(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	ev, _ := want(t, newChecker(d), ch, proof.Proven)
	if ev.Host != host || ev.Method != "dns_txt" || ev.Place != "_sayso-challenge.shop.example" || !ev.At.Equal(start) || ev.AD || ev.Target != "" {
		t.Errorf("evidence %+v", ev)
	}
	if len(ev.Points) != 1 || ev.Points[0].Name != d.Addr().String() || !strings.HasPrefix(ev.AnswerHash, "sha256:") || ev.Points[0].AnswerHash != ev.AnswerHash {
		t.Errorf("evidence %+v", ev)
	}
	for expiry, code := range map[string]string{
		" expiry=2031-05-04T12:00:01Z": proof.Proven, " expiry=2031-05-04T14:00:01+02:00": proof.Proven, " expiry=2031-05-04T12:00:00Z": proof.CodeTokenExpired,
		" expiry=soon": proof.CodeWrongValue, "  expiry=2031-06-01T00:00:00Z": proof.CodeWrongValue, " note": proof.CodeWrongValue, " expiry=2031-06-01T00:00:00Z ": proof.CodeWrongValue,
	} {
		d.Remove(challenge, "TXT")
		put(t, d, txt(challenge, "token="+ch.Token+expiry))
		want(t, newChecker(d), ch, code)
	}
}

func TestCase02OneOfFiveRecords(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	for at := range 5 {
		d := newDNS(t, zone)
		for i := range 5 {
			value := fmt.Sprintf("v=other%d", i)
			if i == at {
				value = "token=" + ch.Token
			}
			put(t, d, txt(challenge, value))
		}
		want(t, newChecker(d), ch, proof.Proven)
	}
}

func TestCase03SplitStrings(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	// A fraction of any length is a valid time, and makes the value longer than one string can be.
	long := "token=" + ch.Token + " expiry=2031-06-01T00:00:00." + strings.Repeat("0", 400) + "Z"
	for _, value := range []string{split("token="+ch.Token, 10), split(long, 255), split(long, 1)} {
		d := newDNS(t, zone, challenge+" 60 IN TXT "+value)
		want(t, newChecker(d), ch, proof.Proven)
	}
}

func TestCase04AddedCharacters(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	for value, hint := range map[string]string{
		`\"token=` + ch.Token + `\"`: "quotes", "token= " + ch.Token: "spaces", "token=" + ch.Token + ".": "dot", " token=" + ch.Token: "spaces",
		"token=" + ch.Token[:9] + " " + ch.Token[9:]: "spaces inside", ch.Token: "token=", "token=" + ch.Token + `\000`: "none of", "token=" + ch.Token[:31]: "none of", "token=": "none of", "": "none of",
	} {
		d := newDNS(t, zone, txt(challenge, value))
		if _, f := want(t, newChecker(d), ch, proof.CodeWrongValue); f != nil && (!f.Counts || !strings.Contains(f.Message, hint)) {
			t.Errorf("%q: %+v, want a word about %q", value, f, hint)
		}
	}
}

func TestCase05CaseOfTheToken(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	for _, value := range []string{"token=" + strings.ToUpper(ch.Token), "TOKEN=" + ch.Token} {
		d := newDNS(t, zone, txt(challenge, value))
		if _, f := want(t, newChecker(d), ch, proof.CodeWrongValue); f != nil && !strings.Contains(f.Message, "case") {
			t.Errorf("%q: %+v", value, f)
		}
	}
}

func TestCase06RecordAtTheApex(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone, txt("shop.example.", "token="+ch.Token), txt("shop.example.", "v=spf1 -all"))
	_, f := want(t, newChecker(d), ch, proof.CodeNoRecord)
	if f != nil && (!strings.Contains(f.Message, "_sayso-challenge.shop.example") || !strings.Contains(f.Next, "_sayso-challenge.shop.example") || !f.Counts) {
		t.Errorf("the right name is missing: %+v", f)
	}
}

func TestCase07Aliases(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	for _, fault := range []loopdns.Fault{loopdns.None, loopdns.Partial} {
		for hops, code := range map[int]string{1: proof.Proven, 8: proof.Proven, 9: proof.CodeCNAMEChain} {
			d := newDNS(t, zone)
			name := challenge
			for i := range hops {
				next := fmt.Sprintf("a%d.proofs.example.", i)
				put(t, d, name+" 60 IN CNAME "+next)
				d.SetFault(name, fault)
				name = next
			}
			put(t, d, txt(name, "token="+ch.Token))
			ev, f := want(t, newChecker(d), ch, code)
			if f == nil && ev.Target != strings.TrimSuffix(name, ".") {
				t.Errorf("target %q, want %q", ev.Target, name)
			}
		}
		d := newDNS(t, zone, challenge+" 60 IN CNAME b.example.", "b.example. 60 IN CNAME c.example.", "c.example. 60 IN CNAME b.example.")
		for _, name := range []string{challenge, "b.example.", "c.example."} {
			d.SetFault(name, fault)
		}
		if _, f := want(t, newChecker(d), ch, proof.CodeCNAMELoop); f != nil && f.Counts {
			t.Error("a loop counts")
		}
	}
	own := newDNS(t, zone, challenge+" 60 IN CNAME "+challenge)
	want(t, newChecker(own), ch, proof.CodeCNAMELoop)
}

func TestCase08HostIsAnAlias(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, "shop.example. 60 IN CNAME shops.platform.example.", "shops.platform.example. 60 IN A 93.184.216.34", txt(challenge, "token="+ch.Token))
	if ev, _ := want(t, newChecker(d), ch, proof.Proven); ev.Target != "" {
		t.Errorf("target %q", ev.Target)
	}
}

func TestCase09WildcardOfASibling(t *testing.T) {
	ours := challengeOf(proof.DNSTXT)
	d := newDNS(t, "example. 60 IN SOA ns.example. h.example. 1 2 3 4 5", txt("*.example.", "token="+ours.Token))
	sibling := proof.Challenge{Host: "sibling.example", Method: proof.DNSTXT, Token: proof.Token(secret, publisher, "sibling.example", proof.DNSTXT, nonce), Until: ours.Until}
	want(t, newChecker(d), ours, proof.Proven)
	want(t, newChecker(d), sibling, proof.CodeWrongValue)
}

func TestCase10DNAME(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, "shop.example. 60 IN DNAME moved.example.", txt("_sayso-challenge.moved.example.", "token="+ch.Token))
	if ev, _ := want(t, newChecker(d), ch, proof.Proven); ev.Target != "_sayso-challenge.moved.example" {
		t.Errorf("target %q", ev.Target)
	}
}

func TestCase11FourKindsOfNothing(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	for _, c := range []struct {
		code   string
		record string
		fault  loopdns.Fault
		counts bool
	}{
		{proof.CodeNXDomain, zone, loopdns.None, true}, {proof.CodeNoData, challenge + " 60 IN A 93.184.216.34", loopdns.None, true},
		{proof.CodeServFail, zone, loopdns.ServFail, false}, {proof.CodeServFail, zone, loopdns.Refused, false}, {proof.CodeTimeout, zone, loopdns.Silent, false},
	} {
		d := newDNS(t, zone, c.record)
		d.SetFault(challenge, c.fault)
		checker := newChecker(d)
		if c.fault == loopdns.Silent {
			checker.QueryTimeout = 50 * time.Millisecond
		}
		if _, f := want(t, checker, ch, c.code); f != nil && f.Counts != c.counts {
			t.Errorf("%s counts %v", c.code, f.Counts)
		}
		proven := proof.NewState(start).After(nil, start)
		at := start
		for range 40 {
			at = at.Add(24 * time.Hour)
			_, f := checker.Check(t.Context(), ch)
			proven = proven.After(f, at)
			if c.fault == loopdns.Silent {
				break // each of them takes its time
			}
		}
		if (proven.Status == proof.Lapsed) != c.counts {
			t.Errorf("%s: state %+v", c.code, proven)
		}
	}
	gone := newDNS(t)
	address := gone.Addr()
	gone.Close()
	c := newChecker()
	c.Resolvers = []proof.Resolver{{Address: address}}
	if _, f := want(t, c, ch, proof.CodeServFail); f != nil && f.Counts {
		t.Error("a resolver that is not there counts")
	}
}

func TestCase12Truncation(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	forced := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	forced.SetFault(challenge, loopdns.Truncated)
	large := newDNS(t, zone)
	for i := range 40 {
		put(t, large, txt(challenge, fmt.Sprintf("%d=%s", i, strings.Repeat("x", 100))))
	}
	put(t, large, txt(challenge, "token="+ch.Token))
	for _, d := range []*loopdns.Server{forced, large} {
		want(t, newChecker(d), ch, proof.Proven)
		var networks []string
		for _, q := range d.Questions() {
			networks = append(networks, q.Network)
		}
		if got := strings.Join(networks, " "); got != "udp tcp" {
			t.Errorf("asked over %s, want udp and then tcp", got)
		}
	}
}

// stale is a resolver that remembers the absence of the record, and the zone's own server that has it.
func stale(t *testing.T, lines ...string) (resolver, authority *loopdns.Server) {
	resolver = newDNS(t, zone, "shop.example. 60 IN NS ns.shop.example.", "ns.shop.example. 60 IN A "+nsAddr.Addr().String())
	return resolver, newDNS(t, append(lines, zone)...)
}

func TestCase13StaleNegativeCache(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	resolver, authority := stale(t, txt(challenge, "token="+ch.Token))
	c := newChecker(resolver)
	c.Loopback.StandIns[nsAddr] = authority.Addr()
	ev, f := want(t, c, ch, proof.CodeNXDomain)
	if f != nil && (f.Counts || !strings.Contains(f.Message, "5m0s")) {
		t.Errorf("%+v, want the SOA minimum of 300 s and a failure that does not count", f)
	}
	if ev.SOAMinimum == nil || *ev.SOAMinimum != 300 || len(ev.Authorities) != 1 || ev.Authorities[0].Outcome != proof.Proven || ev.Authorities[0].Name != nsAddr.String() {
		t.Errorf("evidence %+v", ev)
	}
	if q := authority.Questions(); len(q) != 1 || q[0].Recursive || q[0].Type != "TXT" {
		t.Errorf("the authority was asked %v, want one question without recursion", q)
	}
	// Once the memory is gone the same record proves.
	put(t, resolver, txt(challenge, "token="+ch.Token))
	want(t, c, ch, proof.Proven)

	// When the authority has no record either, it is gone and counts.
	resolver, authority = stale(t)
	c = newChecker(resolver)
	c.Loopback.StandIns[nsAddr] = authority.Addr()
	if ev, f := want(t, c, ch, proof.CodeNXDomain); f != nil && (!f.Counts || ev.Authorities[0].Outcome != proof.CodeNXDomain) {
		t.Errorf("%+v %+v", f, ev)
	}
	// A forwarder that leaves out the SOA record: the parents of the name are tried.
	resolver, authority = stale(t, txt(challenge, "token="+ch.Token))
	resolver.Remove("shop.example.", "SOA")
	c = newChecker(resolver)
	c.Loopback.StandIns[nsAddr] = authority.Addr()
	if ev, f := want(t, c, ch, proof.CodeNXDomain); f != nil && (f.Counts || len(ev.Authorities) != 1) {
		t.Errorf("%+v %+v", f, ev)
	}
}

// The addresses of name servers are chosen by the owner of a zone. One inside the registry's own network is never asked (XP-NET-002).
func TestNameServersInsideAreNotAsked(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	inside := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	for _, a := range []string{"A 127.0.0.1", "A 10.0.0.1", "A 169.254.169.254", "A 0.0.0.0", "AAAA ::1", "AAAA ::ffff:127.0.0.1", "AAAA fd00::1"} {
		resolver := newDNS(t, zone, "shop.example. 60 IN NS ns.shop.example.", "ns.shop.example. 60 IN "+a)
		c := newChecker(resolver)
		address := netip.MustParseAddr(a[strings.IndexByte(a, ' ')+1:])
		c.Loopback.StandIns[netip.AddrPortFrom(address, 53)] = inside.Addr()
		c.Loopback.StandIns[netip.AddrPortFrom(address.Unmap(), 53)] = inside.Addr()
		if ev, _ := want(t, c, ch, proof.CodeNXDomain); len(ev.Authorities) != 0 {
			t.Errorf("%s: asked %+v", a, ev.Authorities)
		}
	}
	if q := inside.Questions(); len(q) != 0 {
		t.Errorf("the inner server was asked %v", q)
	}
}

// A zone with very many servers costs no more than a few questions.
func TestManyNameServers(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	resolver := newDNS(t, zone)
	authority := newDNS(t, zone)
	c := newChecker(resolver)
	for i := range 60 {
		a := netip.AddrFrom4([4]byte{93, 184, 217, byte(i)})
		put(t, resolver, fmt.Sprintf("shop.example. 60 IN NS ns%d.shop.example.", i), fmt.Sprintf("ns%d.shop.example. 60 IN A %s", i, a))
		c.Loopback.StandIns[netip.AddrPortFrom(a, 53)] = authority.Addr()
	}
	ev, _ := want(t, c, ch, proof.CodeNXDomain)
	if len(ev.Authorities) != 4 || len(authority.Questions()) != 4 || len(resolver.Questions()) > 15 {
		t.Errorf("%d authorities, %d and %d questions", len(ev.Authorities), len(authority.Questions()), len(resolver.Questions()))
	}
}

func TestCase14VantagePoints(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	good := func() *loopdns.Server { return newDNS(t, zone, txt(challenge, "token="+ch.Token)) }
	bad := func() *loopdns.Server { return newDNS(t, zone, txt(challenge, "token=another")) }
	empty := func() *loopdns.Server { return newDNS(t, zone) }
	faulty := func(f loopdns.Fault) *loopdns.Server {
		d := empty()
		d.SetFault(challenge, f)
		return d
	}
	for _, c := range []struct {
		name    string
		servers []*loopdns.Server
		code    string
		dissent int
		counts  bool
	}{
		{"all agree", []*loopdns.Server{good(), good(), good()}, proof.Proven, 0, false},
		{"one differs", []*loopdns.Server{good(), bad(), good()}, proof.Proven, 1, false},
		{"one knows nothing", []*loopdns.Server{empty(), good(), good()}, proof.Proven, 1, false},
		{"one fails", []*loopdns.Server{good(), good(), faulty(loopdns.ServFail)}, proof.Proven, 1, false},
		{"two differ", []*loopdns.Server{bad(), good(), bad()}, proof.CodeDisagreement, 1, false},
		{"two know nothing", []*loopdns.Server{empty(), good(), empty()}, proof.CodeDisagreement, 1, false},
		{"three ways", []*loopdns.Server{good(), bad(), faulty(loopdns.Refused)}, proof.CodeDisagreement, 1, false},
		{"two fail", []*loopdns.Server{good(), faulty(loopdns.ServFail), faulty(loopdns.Refused)}, proof.CodeServFail, 1, false},
		{"all know nothing", []*loopdns.Server{empty(), empty(), empty()}, proof.CodeNXDomain, 0, true},
		{"two know nothing, one fails", []*loopdns.Server{faulty(loopdns.ServFail), empty(), empty()}, proof.CodeNXDomain, 0, true},
		{"all wrong", []*loopdns.Server{bad(), bad(), empty()}, proof.CodeWrongValue, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ev, f := want(t, remote(c.servers...), ch, c.code)
			if len(ev.Dissent) != c.dissent || len(ev.Points) != 3 || (f != nil && f.Counts != c.counts) {
				t.Errorf("%+v %+v", f, ev)
			}
		})
	}
}

func TestCase15AuthenticatedData(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	for _, ad := range []bool{false, true} {
		d := newDNS(t, zone, txt(challenge, "token="+ch.Token))
		d.SetValidated(ad)
		// A remote plain resolver can be overwritten on the way, AD flag and all.
		want(t, remote(d), ch, proof.CodeSetting)
		if n := len(d.Questions()); n != 0 {
			t.Errorf("ad %v: %d questions to a resolver that cannot be enough", ad, n)
		}
		if ev, _ := want(t, remote(d, d, d), ch, proof.Proven); ev.AD {
			t.Error("the AD flag of a remote plain resolver is believed")
		}
		// Two that are too few are said to be too few, not to disagree.
		if ev, _ := want(t, remote(d, d), ch, proof.CodeSetting); len(ev.Dissent) != 0 {
			t.Errorf("dissent %v", ev.Dissent)
		}
		// On loopback it is believed, without any allowance.
		local := newChecker(d)
		local.Loopback = nil
		code := proof.CodeSetting
		if ad {
			code = proof.Proven
		}
		if ev, _ := want(t, local, ch, code); ev.AD != ad {
			t.Errorf("evidence %+v", ev)
		}
	}
	none := newChecker()
	want(t, none, ch, proof.CodeSetting)
}

// One trusted resolver that validated outweighs any number of others.
func TestValidatedAnswerDecides(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	signed := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	signed.SetValidated(true)
	forged := newDNS(t, zone, txt(challenge, "token=forged"))
	c := remote(forged, forged)
	c.Resolvers = append(c.Resolvers, proof.Resolver{Address: signed.Addr()})
	if ev, _ := want(t, c, ch, proof.Proven); !ev.AD || len(ev.Dissent) != 2 {
		t.Errorf("evidence %+v", ev)
	}
	signed.Remove(challenge, "TXT")
	if ev, f := want(t, c, ch, proof.CodeNXDomain); f != nil && (!ev.AD || !f.Counts) {
		t.Errorf("%+v %+v", f, ev)
	}
}

func TestResolverOverTLS(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	certificate, roots := certify(t, "dns.example", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	d, err := loopdns.StartTLS(&tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	put(t, d, zone, txt(challenge, "token="+ch.Token))
	d.SetValidated(true)
	c := newChecker()
	c.Roots = roots
	c.Loopback.OneResolver = false
	c.Loopback.StandIns[netip.MustParseAddrPort("9.9.9.9:853")] = d.Addr()
	for name, code := range map[string]string{"dns.example": proof.Proven, "other.example": proof.CodeServFail} {
		r, err := proof.ParseResolver("tls://" + name + "@9.9.9.9")
		if err != nil {
			t.Fatal(err)
		}
		c.Resolvers = []proof.Resolver{r}
		if ev, f := want(t, c, ch, code); f == nil && (!ev.AD || ev.Points[0].Name != "tls://dns.example@9.9.9.9:853") {
			t.Errorf("evidence %+v", ev)
		}
	}
}

func TestCase16BogusDNSSEC(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	d.SetFault(challenge, loopdns.Bogus)
	c := newChecker(d)
	_, f := want(t, c, ch, proof.CodeServFail)
	if f != nil && (f.Counts || !strings.Contains(f.Message, "DNSSEC")) {
		t.Errorf("%+v", f)
	}
	// Resolvers that do not validate see the forged record; it does not outvote the broken signature.
	forged := newDNS(t, zone, txt(challenge, "token="+ch.Token))
	c = remote(forged, forged, forged)
	c.Resolvers = append(c.Resolvers, proof.Resolver{Address: d.Addr()})
	if _, f := want(t, c, ch, proof.CodeServFail); f != nil && f.Counts {
		t.Errorf("%+v", f)
	}
}

// keybase/keybase-issues#1614 and bluesky-social/pds#24: only the first TXT record was read, and an absence was remembered.
func TestComplaint14OnlyTheFirstTXTIsRead(t *testing.T) {
	t.Run("case 2", TestCase02OneOfFiveRecords)
	t.Run("case 13", TestCase13StaleNegativeCache)
	ch := challengeOf(proof.DNSTXT)
	d := newDNS(t, zone)
	for i := range 30 {
		put(t, d, txt(challenge, fmt.Sprintf("token=%s", proof.Token(secret, fmt.Sprint("other-", i), host, proof.DNSTXT, nonce))))
	}
	put(t, d, txt(challenge, "token="+ch.Token))
	want(t, newChecker(d), ch, proof.Proven)
}

// A stand-in outside loopback is none: the address itself is asked, which here is a port where nobody listens.
func TestStandInsAreOnLoopback(t *testing.T) {
	c := newChecker()
	address := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), deadPort(t).Port())
	c.Resolvers = []proof.Resolver{{Address: address}}
	c.Loopback.StandIns[address] = netip.MustParseAddrPort("192.0.2.1:53")
	want(t, c, challengeOf(proof.DNSTXT), proof.CodeServFail)
}

// An answer to another question, or a question sent back, is no answer.
func TestForeignAnswers(t *testing.T) {
	ch := challengeOf(proof.DNSTXT)
	for name, change := range map[string]func(*dns.Msg){
		"another name":  func(m *dns.Msg) { m.Question[0].Name = "_sayso-challenge.other.example." },
		"another type":  func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeA },
		"no question":   func(m *dns.Msg) { m.Question = nil },
		"the question":  func(m *dns.Msg) { m.Response = false },
		"unchanged":     func(*dns.Msg) {},
		"other records": func(m *dns.Msg) { m.Answer[0].Header().Name = "other.example." },
		"upper case":    func(m *dns.Msg) { m.Question[0].Name = strings.ToUpper(m.Question[0].Name) },
	} {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
			reply := new(dns.Msg).SetReply(q)
			if q.Question[0].Qtype == dns.TypeTXT && strings.HasPrefix(q.Question[0].Name, "_") {
				rr, _ := dns.NewRR(txt(challenge, "token="+ch.Token))
				reply.Answer = append(reply.Answer, rr)
				change(reply)
			}
			w.WriteMsg(reply)
		})}
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go server.ActivateAndServe()
		<-started
		c := newChecker()
		c.Resolvers = []proof.Resolver{{Address: netip.MustParseAddrPort(conn.LocalAddr().String())}}
		code := proof.CodeServFail
		switch name {
		case "unchanged", "upper case":
			code = proof.Proven
		case "other records":
			code = proof.CodeNoData
		}
		if _, f := c.Check(t.Context(), ch); codeOf(f) != code {
			t.Errorf("%s: %+v, want %s", name, f, code)
		}
		server.Shutdown()
	}
}

// Whoever asks may give up; that is no sign of anything.
func TestCancelledCheck(t *testing.T) {
	d := newDNS(t, zone)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, method := range []string{proof.DNSTXT, proof.WellKnown} {
		if _, f := newChecker(d).Check(ctx, challengeOf(method)); codeOf(f) != proof.CodeTimeout || f.Counts {
			t.Errorf("%s: %+v", method, f)
		}
	}
}

func TestParseResolver(t *testing.T) {
	for text, want := range map[string]string{
		"9.9.9.9": "9.9.9.9:53", "127.0.0.1:5353": "127.0.0.1:5353", "2620:fe::fe": "[2620:fe::fe]:53", "[2620:fe::fe]": "[2620:fe::fe]:53", "[2620:fe::fe]:54": "[2620:fe::fe]:54",
		"tls://dns.example@9.9.9.9": "tls://dns.example@9.9.9.9:853", "tls://dns.example@[2620:fe::fe]:854": "tls://dns.example@[2620:fe::fe]:854",
		"": "", "dns.example": "", "9.9.9.9:0": "", "9.9.9.9:x": "", "tls://9.9.9.9": "", "tls://@9.9.9.9": "", "fe80::1%eth0": "", "https://9.9.9.9": "",
	} {
		r, err := proof.ParseResolver(text)
		if (err == nil) != (want != "") || err == nil && r.String() != want {
			t.Errorf("%q: %v %v, want %q", text, r, err, want)
		}
		if again, err2 := proof.ParseResolver(r.String()); err == nil && (err2 != nil || again != r) {
			t.Errorf("%q does not read back: %v", r, err2)
		}
	}
}
