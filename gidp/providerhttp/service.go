package providerhttp

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sayso/gidp"
	"sayso/gidp/httpsig"
	"sayso/gidp/profile"
	"sayso/gidp/provider"
	"sayso/safefetch"
)

// Options are what a service is made of. Rows, Origin, Now and Random are required, and Lookup unless the origin is http on the own machine.
type Options struct {
	Rows     Rows
	Origin   string       // scheme://host[:port] under which callers reach it: requests are signed for its authority, whatever Host they carry
	Profiles *profile.Set // their relations and hierarchies; nil: those that are shipped
	Now      func() time.Time
	Random   io.Reader // cryptographic, safe for concurrent use
	// Lookup asks the DNS for the addresses of an endpoint's host, all of which must be public (P-4).
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Address is the client's address, for quotas and bans; nil: the peer of the connection.
	Address func(r *http.Request) netip.Addr
	// Tier is the quota class of a caller, from a membership that the surroundings have checked; false refuses it. nil: everybody has "".
	Tier  func(r *http.Request) (string, bool)
	Tiers map[string]provider.Limits // by quota class; nil: provider.DefaultLimits for "", or for [MemberTier] where there are MemberIssuers
	// MemberIssuers attest who is a member of TrustDomain. Where there are any and Tier is nil, a caller with a membership has the quota class [MemberTier]; one without has "", or is
	// refused when Tiers has no such class.
	MemberIssuers []ed25519.PublicKey
	Latency       time.Duration // published withdrawal latency; 0: 60 s; at least four times Poll
	Poll          time.Duration // of the feed; 0: 250 ms
	MinimumSet    int           // P-9; see provider.Config
	Capacity      int           // projections; 0: 2^20
	TrustDomain   string        // "": open to all
	LogRetention  time.Duration // how long the operator keeps the log, as published; 0: 7 days
	Log           *slog.Logger  // counts and faults; nil drops them
}

const (
	defaultLatency   = time.Minute
	defaultPoll      = 250 * time.Millisecond
	defaultRetention = 7 * 24 * time.Hour
	minPolls         = 4                // that fit into the latency
	feedPage         = 1000             // rows of one read
	bansEvery        = 8                // polls
	sweepEvery       = time.Minute      // of index and database
	sweepPage        = 10_000           // of one sweep
	keepGone         = 24 * time.Hour   // how long the database keeps what expired
	callTimeout      = 10 * time.Second // of one call of the database in the background
)

// Service is a discovery provider over HTTP. It is safe for concurrent use.
type Service struct {
	o         Options
	authority string
	loopback  bool // the origin is http on the own machine
	index     *provider.Provider
	info      Info
	replays   replays
	lookups   chan struct{} // a place for each look-up in flight
	counts    [routes]atomic.Int64
	leftOut   atomic.Int64             // rows that the index did not take
	synced    atomic.Int64             // Unix nanoseconds of the last complete poll
	networks  atomic.Pointer[[]banned] // networks that are shut out

	feed     sync.Mutex // held while the feed is read; guards position
	position int64

	bans sync.Mutex // held while bans are read; guards keys
	keys map[provider.Thumbprint]bool
}

// banned is one network that is shut out.
type banned struct {
	network netip.Prefix
	until   time.Time
}

// New reads the rows and the bans and returns a service that answers. Run keeps it up to date; without it, it answers no query after the latency.
func New(ctx context.Context, o Options) (*Service, error) {
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	o = s.o
	var fresh [32]byte
	if _, err := io.ReadFull(o.Random, fresh[:]); err != nil {
		return nil, fmt.Errorf("no randomness for the secret of a provider: %w", err)
	}
	secret, err := o.Rows.Secret(ctx, fresh)
	if err != nil {
		return nil, fmt.Errorf("the secret of the provider cannot be read: %w", err)
	}
	dimensions, relations := retrieval(o.Profiles)
	s.index, err = provider.New(provider.Config{
		Dimensions: dimensions, Relations: relations, Secret: secret, Random: o.Random, Tiers: memberTiers(o), Latency: o.Latency, Replica: true, Capacity: o.Capacity,
		MinimumSet: o.MinimumSet, TrustDomain: o.TrustDomain, Private: s.loopback,
	}, nil)
	if err != nil {
		return nil, err
	}
	s.info = infoOf(s.index.Info(), o.Origin, o.LogRetention)
	if err := s.load(ctx); err != nil {
		return nil, fmt.Errorf("the projections cannot be read: %w", err)
	}
	if err := s.pull(ctx); err != nil {
		return nil, fmt.Errorf("the feed of projections cannot be read: %w", err)
	}
	if err := s.readBans(ctx); err != nil {
		return nil, fmt.Errorf("the bans cannot be read: %w", err)
	}
	return s, nil
}

// prepare fills in the defaults and holds the options to their rules.
func prepare(o Options) (*Service, error) {
	if o.Rows == nil || o.Now == nil || o.Random == nil {
		return nil, errors.New("a provider needs rows, a clock and randomness")
	}
	u, err := url.Parse(o.Origin)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Scheme+"://"+u.Host != o.Origin {
		return nil, errors.New("the origin of a provider is scheme://host[:port]")
	}
	if len(o.MemberIssuers) > 0 && o.TrustDomain == "" {
		return nil, errors.New("a provider whose members are attested is inside a trust domain")
	}
	s := &Service{
		authority: httpsig.Authority(u.Scheme, u.Host), loopback: safefetch.LoopbackOf(o.Origin) != "",
		lookups: make(chan struct{}, maxLookups), keys: map[provider.Thumbprint]bool{},
	}
	if o.Lookup == nil && !s.loopback {
		return nil, errors.New("a provider whose origin is not on the own machine needs the DNS, to refuse endpoints at private addresses")
	}
	if o.Profiles == nil {
		o.Profiles = profile.Shipped()
	}
	if o.Poll == 0 {
		o.Poll = defaultPoll
	}
	if o.Latency == 0 {
		o.Latency = defaultLatency
	}
	if o.Poll < 0 || o.Latency < minPolls*o.Poll || o.Latency > maxLatencySeconds*time.Second {
		return nil, fmt.Errorf("the withdrawal latency of a provider is at least %d polls of the feed and at most seven days", minPolls)
	}
	if o.LogRetention == 0 {
		o.LogRetention = defaultRetention
	}
	if o.Address == nil {
		o.Address = peer
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s.o = o
	s.networks.Store(&[]banned{})
	return s, nil
}

// peer is the other end of the connection.
func peer(r *http.Request) netip.Addr {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr()
}

// maxDimensions is what [provider.Config] takes.
const maxDimensions = 64

// retrieval is what projections are found by: the dimensions of the protocol, each with the newest hierarchy of its name, the keys of labels that profiles suggest for discovery, and the relations of
// all profiles.
func retrieval(set *profile.Set) (dimensions []provider.Dimension, relations []string) {
	for _, name := range []string{provider.Category, provider.Domain, provider.Geography, provider.Relation} {
		d := provider.Dimension{Name: name}
		for _, id := range set.Hierarchies() {
			if of, _, _ := strings.Cut(id, "/"); of == name {
				h, _ := set.Hierarchy(id)
				d.Tree, d.Hierarchy = h.Tree, id
			}
		}
		dimensions = append(dimensions, d)
	}
	seen := map[string]bool{}
	for _, id := range set.IDs() {
		p, _ := set.Profile(id)
		for _, r := range p.Relations {
			seen[r] = true
		}
		for _, name := range slices.Sorted(maps.Keys(p.Keys)) {
			k := p.Keys[name]
			labels := (k.Type == profile.Label || k.Type == profile.Labels) && k.Default.Surface >= gidp.Discovery && !k.Identifying && !k.Sensitive
			if labels && !slices.ContainsFunc(dimensions, func(d provider.Dimension) bool { return d.Name == name }) && len(dimensions) < maxDimensions {
				d := provider.Dimension{Name: name, Tree: p.Rules().Keys[name].Tree}
				if d.Tree != nil {
					d.Hierarchy = k.Hierarchy
				}
				dimensions = append(dimensions, d)
			}
		}
	}
	if len(seen) > 0 {
		relations = slices.Sorted(maps.Keys(seen))
	}
	return dimensions, relations
}

// load reads every row that may still be returned.
func (s *Service) load(ctx context.Context) error {
	rows, position, err := s.o.Rows.All(ctx)
	if err != nil {
		return err
	}
	now := s.o.Now()
	for row, err := range rows {
		if err != nil {
			return err
		}
		if now.Before(row.Expires) {
			s.apply(row)
		}
	}
	s.position = position
	return nil
}

// apply brings a committed row into the index. A row that does not fit is left out and counted: it is one projection that is not found, where an end would be
// all of them.
func (s *Service) apply(row provider.Row) error {
	err := s.index.Apply(row)
	if err != nil && !row.Withdrawn {
		s.leftOut.Add(1)
	}
	return err
}

// pull reads the feed to its end.
func (s *Service) pull(ctx context.Context) error {
	s.feed.Lock()
	defer s.feed.Unlock()
	for {
		at := s.o.Now() // what was committed before the read began is in it
		rows, next, err := s.o.Rows.Changes(ctx, s.position, feedPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			s.apply(row)
		}
		s.position = next
		if len(rows) < feedPage {
			s.index.Synced(at)
			s.synced.Store(at.UnixNano())
			return nil
		}
	}
}

// readBans takes over the bans of the database: those that other processes made, and those that they ended.
func (s *Service) readBans(ctx context.Context) error {
	s.bans.Lock()
	defer s.bans.Unlock()
	list, err := s.o.Rows.Bans(ctx)
	if err != nil {
		return err
	}
	now, keys, networks := s.o.Now(), map[provider.Thumbprint]bool{}, []banned{}
	for _, b := range list {
		if !now.Before(b.Until) {
			continue
		}
		if b.Network == "" {
			keys[b.Key] = true
			err = errors.Join(err, s.index.Ban(now, b.Key, b.Until))
			continue
		}
		network, unread := netip.ParsePrefix(b.Network)
		err = errors.Join(err, unread)
		networks = append(networks, banned{network, b.Until})
	}
	for key := range s.keys {
		if !keys[key] {
			err = errors.Join(err, s.index.Ban(now, key, time.Time{}))
		}
	}
	s.keys = keys
	s.networks.Store(&networks)
	return err
}

// shut reports whether the network of an address is shut out. The own machine never is.
func (s *Service) shut(a netip.Addr, now time.Time) bool {
	a = a.Unmap().WithZone("")
	return !a.IsLoopback() && slices.ContainsFunc(*s.networks.Load(), func(b banned) bool { return now.Before(b.until) && b.network.Contains(a) })
}

// Run keeps the service up to date until ctx ends, and then returns nil: it reads the feed and the bans, forgets what has expired, and logs the counts of each
// hour. What goes wrong is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(s.o.Poll)
	defer tick.Stop()
	swept, hour := s.o.Now(), s.o.Now().Unix()/3600
	down := false
	for polls := 1; ; polls++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := s.o.Now()
		err := s.within(ctx, s.pull)
		if err == nil && polls%bansEvery == 0 {
			err = s.within(ctx, s.readBans)
		}
		if err == nil && now.Sub(swept) >= sweepEvery {
			swept = now
			s.index.Sweep(now, sweepPage)
			err = s.within(ctx, func(ctx context.Context) error { return s.o.Rows.Expire(ctx, now.Add(-keepGone), sweepPage) })
		}
		if ctx.Err() != nil {
			return nil
		}
		if failed := err != nil; failed != down {
			down = failed
			if failed {
				s.o.Log.Error("the provider's database could not be used; without it no query is answered after the withdrawal latency", "cause", err.Error())
			} else {
				s.o.Log.Info("the provider's database answers again")
			}
		}
		if now.Unix()/3600 != hour {
			hour = now.Unix() / 3600
			s.logCounts()
		}
	}
}

// within bounds one call of the database.
func (s *Service) within(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(ctx)
}

// logCounts writes how many requests of each kind there were since the last time, rounded to tens (P-11).
func (s *Service) logCounts() {
	var list []any
	for r := range s.counts {
		if n := (s.counts[r].Swap(0) + 5) / 10 * 10; n > 0 {
			list = append(list, route(r).String(), n)
		}
	}
	if len(list) > 0 {
		s.o.Log.Info("requests of the last hour, rounded", list...)
	}
}

// Health says whether a service can be relied on.
type Health struct {
	Age     time.Duration // since the feed was last read to its end
	Behind  bool          // no query is answered until it is read again (P-5)
	LeftOut int           // projections that the index could not take, because it is full
}

// Health looks at memory alone.
func (s *Service) Health() Health {
	age := s.o.Now().Sub(time.Unix(0, s.synced.Load()))
	return Health{Age: age, Behind: age > s.o.Latency, LeftOut: int(s.leftOut.Load())}
}

// Info is the information document.
func (s *Service) Info() Info { return s.info }
