package safefetch_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// dnsServer answers A and AAAA questions on loopback. Every name has a list of answers, one per question of a type; the last one repeats.
type dnsServer struct {
	mu      sync.Mutex
	answers map[string][][]netip.Addr
	asked   map[string]int
}

func newDNS(t *testing.T, answers map[string][][]netip.Addr) func(context.Context, string) ([]netip.Addr, error) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &dnsServer{answers: answers, asked: map[string]int{}}
	go s.serve(conn)
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	return func(ctx context.Context, host string) ([]netip.Addr, error) { return r.LookupNetIP(ctx, "ip", host) }
}

func (s *dnsServer) serve(conn net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if n > 12 {
			conn.WriteTo(s.answer(buf[:n]), from)
		}
	}
}

func (s *dnsServer) answer(q []byte) []byte {
	name, at := "", 12
	for at < len(q) && q[at] != 0 {
		name += string(q[at+1:at+1+int(q[at])]) + "."
		at += 1 + int(q[at])
	}
	question := q[12 : at+5]
	kind := binary.BigEndian.Uint16(q[at+1:])
	addrs := s.next(name, kind)
	out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0}, question...)
	if addrs == nil {
		out[3] = 0x83 // no such name
	}
	for _, a := range addrs {
		raw := a.AsSlice()
		out = append(out, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
		out = append(out, raw...)
	}
	return out
}

func (s *dnsServer) next(name string, kind uint16) []netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, ok := s.answers[name]
	if !ok {
		return nil
	}
	key := name + string(rune(kind))
	i := min(s.asked[key], len(list)-1)
	s.asked[key]++
	out := []netip.Addr{}
	for _, a := range list[i] {
		if (kind == 1 && a.Is4()) || (kind == 28 && a.Is6()) {
			out = append(out, a)
		}
	}
	return out
}
