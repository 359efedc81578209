package loopdns

import (
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// maxAliases ends an answer whose aliases lead in a circle.
const maxAliases = 16

// serve answers one message.
func (s *Server) serve(w dns.ResponseWriter, q *dns.Msg) {
	reply := new(dns.Msg).SetReply(q)
	if len(q.Question) != 1 {
		reply.Rcode = dns.RcodeFormatError
		w.WriteMsg(reply)
		return
	}
	asked := Question{
		Name: dns.CanonicalName(q.Question[0].Name), Type: dns.TypeToString[q.Question[0].Qtype], Network: w.LocalAddr().Network(), Recursive: q.RecursionDesired,
	}
	s.mu.Lock()
	if s.questions = append(s.questions, asked); len(s.questions) > keptQuestions {
		s.questions = slices.Delete(s.questions, 0, 1)
	}
	fault, notify := s.faults[asked.Name], s.notify
	s.compose(reply, q, asked.Network, fault)
	s.mu.Unlock()
	if notify != nil {
		notify(asked)
	}
	if fault != Silent {
		w.WriteMsg(reply)
	}
}

// compose fills in a reply, within the size that the client takes.
func (s *Server) compose(reply, q *dns.Msg, network string, fault Fault) {
	size := dns.MinMsgSize
	opt := q.IsEdns0()
	if opt != nil {
		size = max(size, int(opt.UDPSize()))
		reply.SetEdns0(opt.UDPSize(), opt.Do())
	}
	reply.Authoritative, reply.RecursionAvailable = true, true
	switch fault {
	case ServFail:
		reply.Rcode = dns.RcodeServerFailure
		return
	case Refused:
		reply.Rcode = dns.RcodeRefused
		return
	case Bogus:
		reply.Rcode = dns.RcodeServerFailure
		if opt != nil {
			reply.IsEdns0().Option = append(reply.IsEdns0().Option, &dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeDNSBogus})
		}
		return
	case Truncated:
		if network == "udp" {
			reply.Truncated = true
			return
		}
	}
	reply.AuthenticatedData = s.validated && (q.AuthenticatedData || opt != nil && opt.Do())
	s.resolve(reply, dns.CanonicalName(q.Question[0].Name), q.Question[0].Qtype, fault == Partial)
	if network == "udp" {
		reply.Truncate(size)
	}
}

// resolve adds the records for a name, aliases first.
func (s *Server) resolve(reply *dns.Msg, name string, qtype uint16, partial bool) {
	for range maxAliases {
		found, exists := s.find(name)
		if set := ofType(found, qtype, name); len(set) > 0 {
			reply.Answer = append(reply.Answer, set...)
			return
		}
		alias := ofType(found, dns.TypeCNAME, name)
		if len(alias) == 0 {
			alias = s.moved(name)
		}
		if len(alias) == 0 {
			if !exists {
				reply.Rcode = dns.RcodeNameError
			}
			reply.Ns = s.zone(name)
			return
		}
		reply.Answer = append(reply.Answer, alias...)
		name = dns.CanonicalName(alias[len(alias)-1].(*dns.CNAME).Target)
		if partial {
			return
		}
	}
}

// find returns the records at a name, those of a wildcard included, and whether the name exists.
func (s *Server) find(name string) (records []dns.RR, exists bool) {
	if s.exists(name) {
		return s.records[name], true
	}
	for encloser := parent(name); encloser != ""; encloser = parent(encloser) {
		if star, ok := s.records["*."+encloser]; ok {
			return star, true
		}
		if s.exists(encloser) {
			break
		}
	}
	return nil, false
}

// exists also holds for a name that has names below it and no records.
func (s *Server) exists(name string) bool {
	for owner := range s.records {
		if owner == name || strings.HasSuffix(owner, "."+name) {
			return true
		}
	}
	return false
}

// moved returns the closest DNAME above a name and the CNAME that follows from it (RFC 6672).
func (s *Server) moved(name string) []dns.RR {
	for above := parent(name); above != ""; above = parent(above) {
		for _, rr := range s.records[above] {
			if d, ok := rr.(*dns.DNAME); ok {
				target := strings.TrimSuffix(name, above) + dns.CanonicalName(d.Target)
				return []dns.RR{d, &dns.CNAME{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: d.Hdr.Ttl}, Target: target}}
			}
		}
	}
	return nil
}

// zone returns the SOA record of the closest zone around a name.
func (s *Server) zone(name string) []dns.RR {
	for at := name; at != ""; at = parent(at) {
		if soa := ofType(s.records[at], dns.TypeSOA, at); len(soa) > 0 {
			return soa
		}
	}
	return nil
}

// ofType selects records and gives them the name that was asked for, which a wildcard does not have.
func ofType(records []dns.RR, qtype uint16, name string) []dns.RR {
	var out []dns.RR
	for _, rr := range records {
		if rr.Header().Rrtype == qtype {
			rr = dns.Copy(rr)
			rr.Header().Name = name
			out = append(out, rr)
		}
	}
	return out
}

// parent is the name without its first label, "" above the last one.
func parent(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	return rest
}
