package loopdns

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Fault is how a name misbehaves.
type Fault int

// The faults. ServFail, Refused and Bogus answer with nothing but an error; Bogus explains it as DNSSEC that does not validate. Silent never answers.
// Truncated sends nothing but the TC flag over UDP. Partial answers one alias at a time.
const (
	None Fault = iota
	ServFail
	Refused
	Bogus
	Silent
	Truncated
	Partial
)

// Question is one query that arrived.
type Question struct {
	Name      string // lower case with its final dot
	Type      string // such as TXT
	Network   string // udp or tcp; DNS over TLS is tcp
	Recursive bool
}

const (
	keptQuestions = 1000
	listenTries   = 20
	closeTime     = 5 * time.Second
)

// Server is a running server. Its methods may be called at any time and by several goroutines.
type Server struct {
	address netip.AddrPort
	servers []*dns.Server
	running sync.WaitGroup
	closing sync.Once
	closed  error

	mu        sync.Mutex
	records   map[string][]dns.RR // by owner, lower case
	faults    map[string]Fault
	validated bool
	questions []Question
	notify    func(Question)
}

// Start serves plain DNS on a free port of 127.0.0.1, over UDP and TCP.
func Start() (*Server, error) {
	for range listenTries {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("loopdns: %w", err)
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err != nil {
			tcp.Close() // somebody else has the same port for UDP
			continue
		}
		return run(tcp.Addr(), &dns.Server{Listener: tcp}, &dns.Server{PacketConn: udp})
	}
	return nil, errors.New("loopdns: no port is free for both UDP and TCP")
}

// StartTLS serves DNS over TLS on a free port of 127.0.0.1.
func StartTLS(config *tls.Config) (*Server, error) {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		return nil, fmt.Errorf("loopdns: %w", err)
	}
	return run(listener.Addr(), &dns.Server{Listener: listener})
}

func run(address net.Addr, servers ...*dns.Server) (*Server, error) {
	s := &Server{address: netip.MustParseAddrPort(address.String()), servers: servers, records: map[string][]dns.RR{}, faults: map[string]Fault{}}
	for _, server := range servers {
		started := make(chan struct{})
		server.Handler = dns.HandlerFunc(s.serve)
		server.NotifyStartedFunc = func() { close(started) }
		s.running.Go(func() { server.ActivateAndServe() })
		<-started // a server that has not started cannot be shut down
	}
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() netip.AddrPort { return s.address }

// Close stops listening and returns when no goroutine of the server is left.
func (s *Server) Close() error {
	s.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		for _, server := range s.servers {
			s.closed = errors.Join(s.closed, server.ShutdownContext(ctx))
		}
		s.running.Wait()
	})
	return s.closed
}

// Put adds records, each a line of a zone file with an absolute name. Either all of them are added or none.
func (s *Server) Put(lines ...string) error {
	added := make([]dns.RR, len(lines))
	for i, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil || rr == nil {
			return fmt.Errorf("loopdns: %q is not a record", line)
		}
		added[i] = rr
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rr := range added {
		owner := dns.CanonicalName(rr.Header().Name)
		s.records[owner] = append(s.records[owner], rr)
	}
	return nil
}

// Remove takes away the records of a name, of one type such as "TXT" or with "" of all.
func (s *Server) Remove(name, typ string) {
	owner := dns.CanonicalName(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(s.records[owner]), func(rr dns.RR) bool {
		return typ == "" || rr.Header().Rrtype == dns.StringToType[strings.ToUpper(typ)]
	})
	if s.records[owner] = left; len(left) == 0 {
		delete(s.records, owner)
	}
}

// SetFault makes a name misbehave, or with None behave again.
func (s *Server) SetFault(name string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[dns.CanonicalName(name)] = f
}

// SetValidated switches the AD flag on answers to clients that ask for it.
func (s *Server) SetValidated(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.validated = on
}

// SetNotify has f called after each answer was composed and before it is sent: what f changes is seen by the next question.
func (s *Server) SetNotify(f func(Question)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notify = f
}

// Questions returns the newest thousand questions in the order of arrival.
func (s *Server) Questions() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.questions)
}
