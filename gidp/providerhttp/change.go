package providerhttp

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/safefetch"
)

const (
	attempts      = 4 // of a change that another one came before
	maxLookups    = 32
	lookupTimeout = 3 * time.Second
)

func (s *Service) publish(x *exchange) (int, any, error) {
	pub, err := s.publication(x)
	if err != nil {
		return 0, nil, err
	}
	row, err := s.settle(x, change{
		judge: func() (provider.Row, bool, error) {
			row, err := s.index.Publish(x.now, x.caller, pub)
			return row, true, err
		},
		kept: func() (provider.Row, bool, error) { return s.o.Rows.OfKey(x, x.caller.Key) },
		once: true,
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, receipt{row.Ref.String(), s.info.WithdrawLatency}, nil
}

func (s *Service) update(x *exchange) (int, any, error) {
	pub, err := s.publication(x)
	if err != nil {
		return 0, nil, err
	}
	ref, ok := provider.ParseRef(x.ref)
	if !ok {
		return 0, nil, refuse(provider.CodeUnknown, "no projection of this key")
	}
	row, err := s.settle(x, change{
		judge: func() (provider.Row, bool, error) {
			row, err := s.index.Update(x.now, x.caller, ref, pub)
			return row, true, err
		},
		kept: func() (provider.Row, bool, error) { return s.o.Rows.Projection(x, ref) },
		once: true,
	})
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, receipt{row.Ref.String(), s.info.WithdrawLatency}, nil
}

// publication reads the body of publish or update and checks who sent it.
func (s *Service) publication(x *exchange) (*provider.Publication, error) {
	pub, err := provider.ReadPublication(x.body)
	if err != nil {
		return nil, err
	}
	if err := s.authenticate(x, pub.Key); err != nil {
		return nil, err
	}
	return pub, nil
}

// withdraw commits, applies and acknowledges, in this order (§12.2).
func (s *Service) withdraw(x *exchange) (int, any, error) {
	key, err := readKey(x.body)
	if err != nil {
		return 0, nil, err
	}
	if err := s.authenticate(x, key); err != nil {
		return 0, nil, err
	}
	ref, ok := provider.ParseRef(x.ref)
	if !ok {
		return 0, nil, refuse(provider.CodeUnknown, "no projection of this key")
	}
	var held provider.Row // what the database has, if this replica did not know it
	_, err = s.settle(x, change{
		judge: func() (provider.Row, bool, error) {
			row, changed, _, err := s.index.Withdraw(x.now, x.caller, ref)
			if err == nil && !changed && held.Owner == x.caller.Key && !held.Withdrawn {
				// The index could not take it; elsewhere it may be found all the same.
				return provider.Row{Ref: ref, Owner: held.Owner, Revision: held.Revision + 1, Withdrawn: true, Expires: held.Expires}, true, nil
			}
			return row, changed, err
		},
		kept: func() (row provider.Row, ok bool, err error) {
			row, ok, err = s.o.Rows.Projection(x, ref)
			held = row
			return row, ok, err
		},
	})
	if err != nil {
		return 0, nil, err
	}
	// A replica answers for the latency after its last complete poll, which may lie just before the commit: the promise counts from here.
	by := s.o.Now().Add(s.o.Latency + time.Second - 1).Truncate(time.Second)
	return http.StatusAccepted, acknowledgement{true, wire.FormatTime(by)}, nil
}

// change is a request that ends in a row.
type change struct {
	judge func() (row provider.Row, changed bool, err error) // by the index
	kept  func() (row provider.Row, ok bool, err error)      // what the database has under the same reference or key
	once  bool                                               // a copy of the request has no effect: it could bring back what its publisher has changed since
}

// settle judges a change, commits its row and applies it. The index of a replica may lack what another one has just committed: what is unknown here is looked
// up in the database, and a row that came second is judged anew.
func (s *Service) settle(x *exchange, c change) (provider.Row, error) {
	looked, reached := false, ""
	for range attempts {
		row, changed, err := c.judge()
		if !looked && (err == nil && (!changed || row.Revision == 1) || unknown(err)) {
			looked = true
			kept, ok, failed := c.kept()
			if failed != nil {
				return provider.Row{}, failed
			}
			if ok {
				s.apply(kept)
				continue
			}
		}
		if err != nil || !changed {
			return row, err
		}
		// After the quota, so that nobody can fill the memory of signatures.
		if c.once {
			if err := s.replays.first(x.r.Header.Get("Signature"), x.now); err != nil {
				return provider.Row{}, err
			}
			c.once = false
		}
		if row.Endpoint != "" && reached != row.Endpoint {
			if err := s.reachable(x, row.Endpoint); err != nil {
				return provider.Row{}, err
			}
			reached = row.Endpoint
		}
		err = s.o.Rows.Commit(x, row)
		if errors.Is(err, ErrStale) {
			if err := s.pull(x); err != nil {
				return provider.Row{}, err
			}
			looked = false
			continue
		}
		if err != nil {
			return provider.Row{}, err
		}
		if err := s.index.Apply(row); err != nil && !row.Withdrawn {
			return provider.Row{}, s.takeBack(x, row)
		}
		return row, nil
	}
	return provider.Row{}, &provider.Error{Code: CodeUnavailable, Detail: "other changes came first; send it again", RetryAfter: retryAfter}
}

func unknown(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Code == provider.CodeUnknown
}

// takeBack ends a row that was committed and does not fit into the index: what nobody can find is not to look published.
func (s *Service) takeBack(x *exchange, row provider.Row) error {
	gone := provider.Row{Ref: row.Ref, Owner: row.Owner, Revision: row.Revision + 1, Withdrawn: true, Expires: row.Expires}
	if err := s.o.Rows.Commit(x, gone); err != nil {
		return err
	}
	return &provider.Error{Code: CodeUnavailable, Detail: "this provider holds as many projections as it can", RetryAfter: time.Hour}
}

// reachable refuses an endpoint that others could not safely reach: what its name resolves to must be public (P-4). A provider on the own machine takes
// endpoints there too. A name that is private and one that does not exist are refused alike, so that nobody reads a network off the answers.
func (s *Service) reachable(ctx context.Context, endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	place := "projection/endpoint"
	if s.loopback {
		if u.Scheme != "https" && safefetch.LoopbackOf(u.Scheme+"://"+u.Host) == "" {
			return &provider.Error{Code: provider.CodeRefused, Place: place, Detail: "not an https URL, nor one on the own machine"}
		}
		return nil
	}
	busy := &provider.Error{Code: CodeUnavailable, Place: place, Detail: "the name of the endpoint could not be looked up now; send it again", RetryAfter: retryAfter}
	select {
	case s.lookups <- struct{}{}:
		defer func() { <-s.lookups }()
	default:
		return busy
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := s.o.Lookup(ctx, u.Hostname())
	var dns *net.DNSError
	if err != nil && !(errors.As(err, &dns) && dns.IsNotFound) {
		return busy
	}
	if len(found) == 0 || slices.ContainsFunc(found, func(a netip.Addr) bool { return !safefetch.Public(a) }) {
		return &provider.Error{Code: provider.CodeRefused, Place: place, Detail: "its name does not lead to public addresses alone"}
	}
	return nil
}

func (s *Service) report(x *exchange) (int, any, error) {
	var in reportBody
	if err := jcs.DecodeKnown(x.body, &in); err != nil || len(in.Key) == 0 || in.Key[0] != '{' {
		return 0, nil, refuse(provider.CodeMalformed, "the body is one JSON object with the members key, projection_ref and reason")
	}
	if err := s.authenticate(x, in.Key); err != nil {
		return 0, nil, err
	}
	if !slices.Contains(Reasons(), in.Reason) {
		return 0, nil, &provider.Error{Code: provider.CodeMalformed, Place: "reason", Detail: "not a reason of the list in the information document"}
	}
	if err := s.index.Charge(x.now, x.caller, provider.Write); err != nil {
		return 0, nil, err
	}
	ref, ok := provider.ParseRef(in.ProjectionRef)
	var row provider.Row
	var err error
	if ok {
		row, ok, err = s.o.Rows.Projection(x, ref)
	}
	if err != nil {
		return 0, nil, err
	}
	// Whether there is such a projection is not said: a reference would else be told from a guess.
	if ok {
		err = s.o.Rows.AddReport(x, Report{Ref: ref, Owner: row.Owner, Reporter: x.caller.Key, Reason: in.Reason, At: x.now})
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusAccepted, received{true}, nil
}

// replays remembers signatures for as long as they are accepted, in two generations.
type replays struct {
	mu       sync.Mutex // guards the rest
	turned   time.Time
	now, old map[[sha256.Size]byte]bool
}

// maxReplays bounds one generation. As many changes take longer than a generation lives.
const maxReplays = 1 << 18

// first records a verified Signature field; it refuses one that is there already. The label in front is not signed and does not count.
func (p *replays) first(field string, now time.Time) error {
	_, signature, _ := strings.Cut(field, "=")
	sum := sha256.Sum256([]byte(signature))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil || now.Sub(p.turned) >= 2*window {
		p.turned, p.old, p.now = now, p.now, map[[sha256.Size]byte]bool{}
	}
	switch {
	case p.now[sum] || p.old[sum]:
		return refuse(CodeUnsigned, "this very request was sent before; sign it anew, with a nonce")
	case len(p.now) >= maxReplays:
		return &provider.Error{Code: CodeUnavailable, Detail: "too many changes at a time", RetryAfter: time.Minute}
	}
	p.now[sum] = true
	return nil
}
