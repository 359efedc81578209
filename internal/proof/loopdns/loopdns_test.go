package loopdns_test

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"sayso/internal/proof/loopdns"
)

func start(t *testing.T, lines ...string) *loopdns.Server {
	t.Helper()
	s, err := loopdns.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Put(lines...); err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(t *testing.T, s *loopdns.Server, network, name string, qtype uint16) *dns.Msg {
	t.Helper()
	q := new(dns.Msg).SetQuestion(name, qtype)
	c := dns.Client{Net: network, Timeout: 5 * time.Second}
	m, _, err := c.Exchange(q, s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// shown is rcode, answer and authority in short.
func shown(m *dns.Msg) string {
	parts := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range append(m.Answer, m.Ns...) {
		parts = append(parts, strings.Join(strings.Fields(rr.String())[3:], " ")+"@"+rr.Header().Name)
	}
	return strings.Join(parts, ", ")
}

func TestAnswers(t *testing.T) {
	s := start(t, "z.example. 60 IN SOA ns.z.example. h.z.example. 1 2 3 4 5", "z.example. 60 IN A 192.0.2.1", `t.z.example. 60 IN TXT "a" "b"`, `t.z.example. 60 IN TXT "c"`,
		"a.z.example. 60 IN CNAME T.z.example.", "deep.below.z.example. 60 IN A 192.0.2.2", `*.w.z.example. 60 IN TXT "star"`, "there.w.z.example. 60 IN A 192.0.2.3",
		"old.example. 60 IN DNAME z.example.", "loop.z.example. 60 IN CNAME loop.z.example.")
	const soa = ", SOA ns.z.example. h.z.example. 1 2 3 4 5@z.example."
	for _, c := range []struct {
		name, want string
		qtype      uint16
	}{
		{"Z.Example.", "NOERROR, A 192.0.2.1@z.example.", dns.TypeA},
		{"t.z.example.", `NOERROR, TXT "a" "b"@t.z.example., TXT "c"@t.z.example.`, dns.TypeTXT},
		{"a.z.example.", `NOERROR, CNAME T.z.example.@a.z.example., TXT "a" "b"@t.z.example., TXT "c"@t.z.example.`, dns.TypeTXT},
		{"a.z.example.", `NOERROR, CNAME T.z.example.@a.z.example.`, dns.TypeCNAME},
		{"a.z.example.", `NOERROR, CNAME T.z.example.@a.z.example.` + soa, dns.TypeA},
		{"z.example.", "NOERROR" + soa, dns.TypeTXT},
		{"below.z.example.", "NOERROR" + soa, dns.TypeA}, // exists, because a name below it does
		{"none.z.example.", "NXDOMAIN" + soa, dns.TypeA},
		{"x.w.z.example.", `NOERROR, TXT "star"@x.w.z.example.`, dns.TypeTXT},
		{"x.y.w.z.example.", `NOERROR, TXT "star"@x.y.w.z.example.`, dns.TypeTXT},
		{"there.w.z.example.", "NOERROR" + soa, dns.TypeTXT},
		{"x.there.w.z.example.", "NXDOMAIN" + soa, dns.TypeTXT}, // there is closer than the wildcard
		{"t.old.example.", `NOERROR, DNAME z.example.@old.example., CNAME t.z.example.@t.old.example., TXT "a" "b"@t.z.example., TXT "c"@t.z.example.`, dns.TypeTXT},
		{"elsewhere.org.", "NXDOMAIN", dns.TypeA},
	} {
		for _, network := range []string{"udp", "tcp"} {
			if got := shown(ask(t, s, network, c.name, c.qtype)); got != c.want {
				t.Errorf("%s %s:\n got %s\nwant %s", c.name, network, got, c.want)
			}
		}
	}
	if m := ask(t, s, "tcp", "loop.z.example.", dns.TypeA); len(m.Answer) == 0 || len(m.Answer) > 20 {
		t.Errorf("a loop gives %d records", len(m.Answer))
	}
}

func TestFaultsAndChanges(t *testing.T) {
	s := start(t, "a.example. 60 IN A 192.0.2.1", `a.example. 60 IN TXT "x"`)
	for fault, want := range map[loopdns.Fault]int{loopdns.ServFail: dns.RcodeServerFailure, loopdns.Refused: dns.RcodeRefused, loopdns.Bogus: dns.RcodeServerFailure, loopdns.None: dns.RcodeSuccess} {
		s.SetFault("A.example.", fault)
		if m := ask(t, s, "udp", "a.example.", dns.TypeA); m.Rcode != want {
			t.Errorf("fault %d: %s", fault, dns.RcodeToString[m.Rcode])
		}
	}
	s.SetFault("a.example.", loopdns.Truncated)
	if u, c := ask(t, s, "udp", "a.example.", dns.TypeA), ask(t, s, "tcp", "a.example.", dns.TypeA); !u.Truncated || len(u.Answer) != 0 || c.Truncated || len(c.Answer) != 1 {
		t.Errorf("udp %v, tcp %v", u, c)
	}
	s.SetFault("a.example.", loopdns.Silent)
	q := new(dns.Msg).SetQuestion("a.example.", dns.TypeA)
	if _, _, err := (&dns.Client{Timeout: 50 * time.Millisecond}).Exchange(q, s.Addr().String()); err == nil {
		t.Error("a silent name answered")
	}
	s.SetFault("a.example.", loopdns.None)
	s.Remove("a.example", "a")
	if got := shown(ask(t, s, "udp", "a.example.", dns.TypeA)); got != "NOERROR" {
		t.Error(got)
	}
	s.Remove("a.example", "")
	if got := shown(ask(t, s, "udp", "a.example.", dns.TypeTXT)); got != "NXDOMAIN" {
		t.Error(got)
	}
	if err := s.Put("b.example. 60 IN A 192.0.2.1", "not a record"); err == nil {
		t.Error("a bad line is taken")
	}
	if got := shown(ask(t, s, "udp", "b.example.", dns.TypeA)); got != "NXDOMAIN" {
		t.Errorf("half of a refused Put stays: %s", got)
	}
	seen := s.Questions()
	if first := seen[0]; first.Name != "a.example." || first.Type != "A" || first.Network != "udp" || !first.Recursive {
		t.Errorf("%+v", first)
	}
}

// Every goroutine of the server ends on Close: those of open connections, of running questions, and when Close is called more than once.
func TestCloseEndsEveryGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		s, err := loopdns.Start()
		if err != nil {
			t.Fatal(err)
		}
		idle, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		s.SetFault("silent.example.", loopdns.Silent)
		var asking sync.WaitGroup
		for i := range 20 {
			asking.Go(func() {
				q := new(dns.Msg).SetQuestion(fmt.Sprintf("n%d.example.", i), dns.TypeA)
				if i%2 == 0 {
					q.SetQuestion("silent.example.", dns.TypeA)
				}
				(&dns.Client{Timeout: 100 * time.Millisecond}).Exchange(q, s.Addr().String())
				s.Put(fmt.Sprintf("n%d.example. 60 IN A 192.0.2.1", i))
				s.Questions()
			})
		}
		for range 3 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		asking.Wait()
		idle.Close()
		if l, err := net.Listen("tcp", s.Addr().String()); err != nil {
			t.Errorf("the port is still taken: %v", err)
		} else {
			l.Close()
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}
