package provider

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jwk"
)

// Ref is a projection_ref: 128 random bits, derived from nothing (P-1).
type Ref [16]byte

// String is the reference as the protocol carries it.
func (r Ref) String() string { return jwk.EncodeBase64URL(r[:]) }

// ParseRef reads what String writes; false for anything else.
func ParseRef(s string) (Ref, bool) {
	b, err := jwk.DecodeBase64URL(s)
	if err != nil || len(b) != len(Ref{}) {
		return Ref{}, false
	}
	return Ref(b), true
}

// Thumbprint is the SHA-256 thumbprint of a caller's key (RFC 7638).
type Thumbprint [32]byte

func (t Thumbprint) tag() uint64 {
	var n uint64
	for _, b := range t[:8] {
		n = n<<8 | uint64(b)
	}
	return n
}

// Row is one projection as it is kept. A change is committed only over the revision before its own, and never over a withdrawal: two changes judged at the same
// time do not both become durable.
type Row struct {
	Ref       Ref
	Owner     Thumbprint
	Revision  uint32
	Withdrawn bool
	Expires   time.Time
	Endpoint  string              // "" once withdrawn
	Labels    map[string][]string // by dimension; nil once withdrawn
}

// Dimension is a retrieval attribute. Without a Tree its labels are equal or not.
type Dimension struct {
	Name      string
	Tree      *gidp.Tree
	Hierarchy string // id and version of the tree, as published in Info; "" without one
}

// Config is what a provider is made of. Secret and Random are required.
type Config struct {
	Dimensions  []Dimension       // category, domain, geography and relation are added when absent; at most 64
	Relations   []string          // of the profiles; nil: complementary_counterparty
	Secret      [32]byte          // random; one for all replicas, so that a cursor holds at each
	Random      io.Reader         // cryptographic, safe for concurrent use
	Tiers       map[string]Limits // by membership; nil: DefaultLimits for "" alone; a tier that is not here has none
	Latency     time.Duration     // published withdrawal latency; 0: 60 s
	Replica     bool              // rows come by a feed: see Synced
	Capacity    int               // projections; 0: 2^20
	Callers     int               // keys counted in one hour; 0: 2^18
	MinimumSet  int               // size to which a small candidate set is padded, at most MaxLimit (P-9)
	TrustDomain string            // "": open to all
	Private     bool              // endpoints anywhere, for a closed network and for tests
}

const (
	maxDimensions = 64
	maxLife       = 90 * 24 * time.Hour // P-4
	defaultDelay  = time.Minute
	candidateLife = 10 * time.Minute
	cursorLife    = 10 * time.Minute
)

// Provider is a discovery provider. It is safe for concurrent use: one lock, held for reading by queries and for writing by Apply, Synced and Sweep.
type Provider struct {
	cfg       Config
	relations map[string]bool
	gate      gate
	scratch   sync.Pool // *[]block

	mu     sync.RWMutex
	index  *index
	synced time.Time
}

// New builds a provider from the durable rows. A row that does not fit ends it with ErrFull or ErrConflict, an error of the iterator with that error.
func New(cfg Config, rows iter.Seq2[Row, error]) (*Provider, error) {
	if cfg.Random == nil || cfg.Secret == [32]byte{} {
		return nil, errors.New("a provider needs a secret and a source of randomness")
	}
	cfg.Dimensions = slices.Clone(cfg.Dimensions)
	seen := map[string]bool{}
	for _, d := range cfg.Dimensions {
		if d.Name == "" || seen[d.Name] {
			return nil, errors.New("the dimensions of a provider have different names")
		}
		seen[d.Name] = true
	}
	for _, name := range []string{Category, Domain, Geography, Relation} {
		if !seen[name] {
			cfg.Dimensions = append(cfg.Dimensions, Dimension{Name: name})
		}
	}
	if len(cfg.Dimensions) > maxDimensions {
		return nil, fmt.Errorf("a provider has at most %d dimensions", maxDimensions)
	}
	if cfg.Relations == nil {
		cfg.Relations = []string{wire.Complementary}
	}
	if cfg.Tiers == nil {
		cfg.Tiers = map[string]Limits{"": DefaultLimits}
	}
	if cfg.Latency == 0 {
		cfg.Latency = defaultDelay
	}
	if cfg.Capacity == 0 {
		cfg.Capacity = 1 << 20
	}
	if cfg.Callers == 0 {
		cfg.Callers = 1 << 18
	}
	if cfg.Capacity < 0 || cfg.Capacity > 1<<30 || cfg.MinimumSet < 0 || cfg.MinimumSet > MaxLimit {
		return nil, errors.New("the capacity or the minimum set of a provider is out of range")
	}
	p := &Provider{cfg: cfg, relations: map[string]bool{}, index: newIndex(cfg.Dimensions, cfg.Capacity)}
	p.gate = gate{tiers: cfg.Tiers, callers: cfg.Callers, banned: bans[Thumbprint]{}, shut: bans[netip.Prefix]{}}
	p.scratch.New = func() any { return new([]block) }
	for _, r := range cfg.Relations {
		p.relations[r] = true
	}
	if rows == nil {
		return p, nil
	}
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		if err := p.index.apply(r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Publish judges a publication and returns the row to commit and apply. Under a key that has published, it is an update of that projection.
func (p *Provider) Publish(now time.Time, c Caller, pub *Publication) (Row, error) {
	if _, err := p.gate.admit(now, c, Write, 1); err != nil {
		return Row{}, err
	}
	row, err := p.judge(now, c.Key, pub)
	if err != nil {
		return Row{}, err
	}
	if _, err := io.ReadFull(p.cfg.Random, row.Ref[:]); err != nil {
		return Row{}, &Error{Code: CodeInternal, Detail: "no randomness for a reference", cause: err}
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	row.Revision = 1
	if s, ok := p.index.of(c.Key); ok {
		if s.owner != c.Key || s.withdrawn {
			return Row{}, refuse(CodeRefused, "key", "used before; each projection has a fresh key")
		}
		row.Ref, row.Revision = s.ref, s.revision+1
	}
	if p.index.conflict(row) {
		return Row{}, refuse(CodeRefused, "projection/endpoint", "another projection has it; each has a fresh endpoint")
	}
	return row, nil
}

// Update judges a new content for a reference of the caller's and returns the row to commit and apply.
func (p *Provider) Update(now time.Time, c Caller, ref Ref, pub *Publication) (Row, error) {
	if _, err := p.gate.admit(now, c, Write, 1); err != nil {
		return Row{}, err
	}
	row, err := p.judge(now, c.Key, pub)
	if err != nil {
		return Row{}, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	s, ok := p.index.held(ref)
	if !ok || s.owner != c.Key || s.withdrawn {
		return Row{}, refuse(CodeUnknown, "projection_ref", "no projection of this key")
	}
	row.Ref, row.Revision = ref, s.revision+1
	if p.index.conflict(row) {
		return Row{}, refuse(CodeRefused, "projection/endpoint", "another projection has it; each has a fresh endpoint")
	}
	return row, nil
}

// Acknowledgement says from when a withdrawn projection is returned by no replica (§12.2).
type Acknowledgement struct{ EffectiveBy time.Time }

// Withdraw judges a withdrawal. change tells that row is to be committed and applied before the acknowledgement is sent; without it there is nothing left to
// withdraw, which is acknowledged as well. A reference under another key is CodeUnknown.
func (p *Provider) Withdraw(now time.Time, c Caller, ref Ref) (row Row, change bool, ack Acknowledgement, err error) {
	if _, err := p.gate.admit(now, c, Write, 1); err != nil {
		return Row{}, false, Acknowledgement{}, err
	}
	ack.EffectiveBy = now.Add(p.cfg.Latency)
	p.mu.RLock()
	defer p.mu.RUnlock()
	s, ok := p.index.held(ref)
	switch {
	case !ok:
		return Row{}, false, ack, nil
	case s.owner != c.Key:
		return Row{}, false, Acknowledgement{}, refuse(CodeUnknown, "projection_ref", "no projection of this key")
	case s.withdrawn:
		return Row{}, false, ack, nil
	}
	return Row{Ref: ref, Owner: c.Key, Revision: s.revision + 1, Withdrawn: true, Expires: time.Unix(s.expires, 0).UTC()}, true, ack, nil
}

// judge holds a publication to P-4.
func (p *Provider) judge(now time.Time, owner Thumbprint, pub *Publication) (Row, error) {
	o := pub.Projection
	if !now.Before(o.ExpiresAt) || o.ExpiresAt.Sub(now) > maxLife {
		return Row{}, refuse(CodeRefused, "projection/expires_at", "a projection lives at most 90 days, and not in the past")
	}
	if problem := endpointProblem(o.Endpoint, p.cfg.Private); problem != "" {
		return Row{}, refuse(CodeRefused, "projection/endpoint", problem)
	}
	labels, err := p.labels(o, pub.Attributes)
	if err != nil {
		return Row{}, err
	}
	for dim, id := range pub.Hierarchies {
		if i, ok := p.index.byName[dim]; !ok || id == "" || p.cfg.Dimensions[i].Hierarchy != id {
			return Row{}, refuse(CodeRefused, "hierarchies", "not a hierarchy that this provider resolves; its information lists them")
		}
	}
	for dim, list := range labels {
		labels[dim] = slices.Compact(slices.Sorted(slices.Values(list)))
	}
	return Row{Owner: owner, Expires: o.ExpiresAt, Endpoint: o.Endpoint, Labels: labels}, nil
}

// Apply brings a committed row into the index: what it publishes is found, and what it withdraws is not, from here on.
func (p *Provider) Apply(r Row) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	// What outlives the row must not hold on to the request it was read from.
	r.Endpoint = strings.Clone(r.Endpoint)
	return p.index.apply(r)
}

// Synced says that every row committed before at has been applied. A replica whose last such instant is older than the latency answers no query (P-5).
func (p *Provider) Synced(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.After(p.synced) {
		p.synced = at
	}
}

// Sweep reclaims up to limit projections whose expiry has passed and returns how many. Nothing depends on it but memory.
func (p *Provider) Sweep(now time.Time, limit int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.index.sweep(now, limit)
}

// Charge counts an operation that needs nothing of the index, such as a report of abuse, as one of op. Its refusals are CodeQuota and CodeBanned.
func (p *Provider) Charge(now time.Time, c Caller, op Op) error {
	_, err := p.gate.admit(now, c, op, 1)
	return err
}

// Ban shuts a key out until an instant: it is refused, and its projection is not returned. ErrBans when too many are banned.
func (p *Provider) Ban(now time.Time, key Thumbprint, until time.Time) error {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.gate.banned.add(key, now, until)
}

// BanNetwork shuts the network of an address out until an instant. The loopback cannot be banned.
func (p *Provider) BanNetwork(now time.Time, c Caller, until time.Time) error {
	network, ok := Network(c.Addr)
	if !ok {
		return errors.New("the loopback has no network to ban")
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.gate.shut.add(network, now, until)
}

// Info is what a provider says of itself.
type Info struct {
	Latency      time.Duration
	Dimensions   []string
	Hierarchies  map[string]string // by dimension
	Limits       map[string]Limits // per key and hour, by tier
	NetworkTimes int               // how many keys' worth one network has
	MaxLife      time.Duration
	MaxLimit     int
	TrustDomain  string
	Federated    bool // always false in 0.1 (P-15)
}

// Info returns what is published. It tells nothing of what is held, not even how much.
func (p *Provider) Info() Info {
	out := Info{Latency: p.cfg.Latency, Hierarchies: map[string]string{}, Limits: maps.Clone(p.cfg.Tiers), NetworkTimes: prefixFactor, MaxLife: maxLife, MaxLimit: MaxLimit,
		TrustDomain: p.cfg.TrustDomain}
	for _, d := range p.cfg.Dimensions {
		out.Dimensions = append(out.Dimensions, d.Name)
		if d.Hierarchy != "" {
			out.Hierarchies[d.Name] = d.Hierarchy
		}
	}
	return out
}
