package proof

import (
	"context"
	"crypto/x509"
	"net/netip"
	"time"
)

// Checker asks the DNS and web servers. It holds no state between checks and is safe for concurrent use.
type Checker struct {
	// Resolvers are the vantage points. One that is trusted (on loopback, or over TLS) suffices for zones that DNSSEC signs; every other zone needs three.
	// Without any, dns_txt is refused and well_known asks the system's resolver.
	Resolvers   []Resolver
	UserAgent   string         // of the first fetch; "sayso" when empty
	Roots       *x509.CertPool // for web servers and resolvers over TLS; nil: the system's
	RefusedTLDs []string       // nil: SpecialTLDs
	Now         func() time.Time
	// Timeout bounds a check in the DNS, and in the web each page with its redirects; 0 = 10 s. QueryTimeout bounds one try of one query; 0 = 2 s.
	Timeout, QueryTimeout time.Duration
	// Loopback is the allowance of tests and the demonstration (XP-NET-006); nil in a server.
	Loopback *Loopback
}

// Loopback lets one machine play the internet.
type Loopback struct {
	// OneResolver makes a single resolver enough whatever its AD flag says.
	OneResolver bool
	// StandIns maps public addresses of resolvers, name servers and web servers to the loopback addresses that are dialled in their place.
	StandIns map[netip.AddrPort]netip.AddrPort
	// Origins maps hosts to the http loopback origin that is asked in the place of https://host.
	Origins map[string]string
}

// Evidence is what a check saw. It never holds a token or a published value, only hashes.
type Evidence struct {
	Host       string    `json:"host"`
	Method     string    `json:"method"`
	Place      string    `json:"place"`   // record name or URL that was asked for
	At         time.Time `json:"at"`      // UTC, microseconds
	Outcome    string    `json:"outcome"` // proven, or the code of the failure
	Points     []Point   `json:"vantage_points"`
	Resolvers  []string  `json:"resolvers,omitempty"`    // well_known: who was asked for the address of the host
	AnswerHash string    `json:"answer_hash,omitempty"`  // of the point that decided
	Target     string    `json:"cname_target,omitempty"` // name at the end of the aliases, without its final dot
	AD         bool      `json:"ad"`                     // DNSSEC: a trusted resolver said that it validated the answer
	Dissent    []string  `json:"dissent,omitempty"`      // names of the points that saw something else
	// Authorities are the zone's own name servers, asked when the resolvers know no record.
	Authorities []Point `json:"authorities,omitempty"`
	SOAMinimum  *uint32 `json:"soa_minimum,omitempty"` // seconds for which resolvers may remember that there is no record
	SuffixList  string  `json:"suffix_list"`           // version
}

// Point is one vantage point: a resolver, a name server or a user agent.
type Point struct {
	Name       string `json:"name"`
	Outcome    string `json:"outcome"` // proven, or the code of the failure
	AD         bool   `json:"ad,omitzero"`
	AnswerHash string `json:"answer_hash,omitempty"`
}

func outcome(f *Failure) string {
	if f == nil {
		return Proven
	}
	return f.Code
}

const nextToken = "start a new proof and publish its new token"

// Check looks whether the token of a challenge is published at its host. The evidence is filled in either case. Errors of the network, of the DNS and of the
// caller's context are failures that do not count.
func (c *Checker) Check(ctx context.Context, ch Challenge) (Evidence, *Failure) {
	ev := Evidence{Host: ch.Host, Method: ch.Method, At: c.now().UTC().Truncate(time.Microsecond), Points: []Point{}, SuffixList: SuffixListVersion()}
	f := c.admit(ch)
	switch {
	case f != nil:
	case ch.Method == DNSTXT:
		ev.Place = recordName(ch.Host)
		f = c.checkTXT(ctx, ch, &ev)
	default:
		ev.Place = "https://" + ch.Host + Path
		f = c.checkPage(ctx, ch, &ev)
	}
	ev.Outcome = outcome(f)
	return ev, f
}

// admit refuses what needs no question to the network.
func (c *Checker) admit(ch Challenge) *Failure {
	if ch.Method != DNSTXT && ch.Method != WellKnown {
		return fail(CodeUnknownMethod, "use dns_txt or well_known", "there is no proof method of this name")
	}
	refused := c.RefusedTLDs
	if refused == nil {
		refused = specialTLDs
	}
	host, f := NormalizeHost(ch.Host, refused)
	switch {
	case f != nil:
		return f
	case host != ch.Host:
		return fail(CodeHostNotAllowed, nextHost, "the host is not in its normal form, which is %s", host)
	case ch.Method == DNSTXT && len(recordName(host)) > maxHost:
		return fail(CodeHostNotAllowed, "use well_known for this host", "the name of the TXT record would be longer than 253 characters")
	case !c.now().Before(ch.Until):
		return fail(CodeTokenExpired, nextToken, "the time of this token is over")
	}
	return nil
}

func (c *Checker) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

func (c *Checker) timeout() time.Duration {
	if c.Timeout <= 0 {
		return 10 * time.Second
	}
	return c.Timeout
}

func (c *Checker) queryTimeout() time.Duration {
	if c.QueryTimeout <= 0 {
		return 2 * time.Second
	}
	return c.QueryTimeout
}
