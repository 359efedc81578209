package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
)

// maxBehind is how old the newest reading of the heads may be. Beyond it nothing is served: a pause or a revocation may have been committed elsewhere.
const maxBehind = 10 * time.Second

// storeTimeout bounds one question to the store while the served state waits for it.
const storeTimeout = 5 * time.Second

// served is what this process serves. Readers take one atomic load; whoever renews it holds the mutex.
type served struct {
	state atomic.Pointer[state]
	read  atomic.Int64 // unix nanoseconds of Now before the newest complete reading of the heads, 0 = never

	mu sync.Mutex // guards changes of state
}

// state is immutable once it is stored.
type state struct {
	bySlug   map[string]*entry
	order    []*entry // by slug
	hosts    map[string]string
	revision uint64 // of the registry; the rows are at least that new
	registry *registryState
}

// entry is one publisher as it is served, with the documents that follow from it.
type entry struct {
	slug     string
	revision uint64
	hosts    []string
	// publication is nil when the stored rows cannot be read as this program writes them: the publisher is unavailable, not unknown.
	publication *business.Publication
	standing    *standing // nil with it
	keys        []KeyRow
	revocations []business.RevocationEntry
	content     *content // what questions are answered from; carried on while it stays, nil before rows could be read

	manifest, jwks, list document
	signer               openedKey // of answers
}

// registryState is what is served about the registry itself.
type registryState struct {
	keys        []RegistryKeyRow
	revocations []business.RevocationEntry

	keysDocument, list document
}

// batch is how many publishers are read in one transaction: what was read is kept when the next batch fails or takes too long.
const batch = 500

// Refresh reads the heads and then whatever changed since the last reading. Run calls it all the time; a process that serves nothing needs it not at all.
func (r *Registry) Refresh(ctx context.Context) error {
	r.served.mu.Lock()
	defer r.served.mu.Unlock()
	began := r.Now()
	heads, err := r.heads(ctx)
	if err != nil {
		return err
	}
	old := r.served.state.Load()
	var changed []string
	for slug, revision := range heads {
		if slug != "" && (old == nil || old.bySlug[slug] == nil || old.bySlug[slug].revision != revision) {
			changed = append(changed, slug)
		}
	}
	if len(changed) == 0 && (old == nil || old.revision != heads[""]) {
		if err := r.reload(ctx, heads[""], nil); err != nil {
			return err
		}
	}
	for slugs := range slices.Chunk(changed, batch) {
		if err := r.reload(ctx, heads[""], slugs); err != nil {
			return err
		}
	}
	r.served.read.Store(began.UnixNano())
	return nil
}

func (r *Registry) heads(ctx context.Context) (map[string]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	heads, err := r.store.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the heads: %w", err)
	}
	return heads, nil
}

// renew puts what was just committed here in front of the readers at once. When it cannot, the poll does it, and until then nothing is served of what the
// commit concerns: it may have closed that.
func (r *Registry) renew(ctx context.Context, slug string) {
	r.served.mu.Lock()
	defer r.served.mu.Unlock()
	old := r.served.state.Load()
	if old == nil {
		return // nothing is served by this process yet
	}
	var changed []string
	if slug != "" {
		changed = []string{slug}
	}
	if err := r.reload(context.WithoutCancel(ctx), old.revision, changed); err != nil {
		r.log.Error("a commit is not served yet", "publisher", slug, "cause", err.Error())
		r.withhold(old, slug)
	}
}

// withhold makes one publisher unavailable, or everything after an act on the registry, until the next complete reading. Revision 0 is never a head's, so the
// poll reads the publisher again.
func (r *Registry) withhold(old *state, slug string) {
	if slug == "" {
		r.served.read.Store(0)
		return
	}
	next := &state{bySlug: maps.Clone(old.bySlug), revision: old.revision, registry: old.registry}
	e := &entry{slug: slug}
	if known := old.bySlug[slug]; known != nil {
		e.hosts, e.content = known.hosts, known.content
	}
	next.bySlug[slug] = e
	next.index()
	r.served.state.Store(next)
}

// reload makes the next state from the last one: the registry's rows and those of the changed publishers, all of one snapshot.
func (r *Registry) reload(ctx context.Context, revision uint64, changed []string) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	old := r.served.state.Load()
	next := &state{bySlug: map[string]*entry{}, revision: revision}
	if old != nil {
		next.bySlug = maps.Clone(old.bySlug)
	}
	err := r.store.View(ctx, func(rd Reader) error {
		if err := next.readRegistry(ctx, rd, old); err != nil {
			return err
		}
		hosts, err := rd.Hosts(ctx)
		if err != nil {
			return err
		}
		byPublisher := map[string][]string{}
		for host, slug := range hosts {
			byPublisher[slug] = append(byPublisher[slug], host)
		}
		for _, slug := range changed {
			e, err := r.readEntry(ctx, rd, slug, byPublisher[slug], next.bySlug[slug])
			switch {
			case errors.Is(err, ErrNotFound):
				// A head without a publisher: the act that took it did not create one.
			case err != nil:
				return err
			default:
				next.bySlug[slug] = e
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what changed: %w", err)
	}
	next.index()
	r.warm(ctx, old, next, changed)
	r.served.state.Store(next)
	r.leave(old, next, changed)
	return nil
}

// index derives the order of slugs and the routing of hosts.
func (s *state) index() {
	s.order = slices.SortedFunc(maps.Values(s.bySlug), func(a, b *entry) int { return strings.Compare(a.slug, b.slug) })
	s.hosts = map[string]string{}
	for _, e := range s.order {
		for _, host := range e.hosts {
			s.hosts[host] = e.slug
		}
	}
}

// readRegistry keeps the old value when its rows did not change, so that the documents that follow from it stay.
func (s *state) readRegistry(ctx context.Context, rd Reader, old *state) (err error) {
	next := &registryState{}
	if next.keys, err = rd.RegistryKeys(ctx); err != nil {
		return err
	}
	if next.revocations, err = rd.Revocations(ctx, ""); err != nil {
		return err
	}
	if s.registry = next; old != nil && reflect.DeepEqual(old.registry.keys, next.keys) && reflect.DeepEqual(old.registry.revocations, next.revocations) {
		s.registry = old.registry
	}
	return nil
}

// readEntry reads one publisher. Rows that cannot be understood make it unavailable and leave the others alone; an error is the store's.
func (r *Registry) readEntry(ctx context.Context, rd Reader, slug string, hosts []string, known *entry) (*entry, error) {
	row, err := rd.Publisher(ctx, slug)
	if err != nil {
		return nil, err
	}
	slices.Sort(hosts)
	e := &entry{slug: slug, revision: row.Revision, hosts: hosts, content: contentOf(row, hosts, known)}
	if e.keys, err = rd.Keys(ctx, slug); err != nil {
		return nil, err
	}
	if e.revocations, err = rd.Revocations(ctx, slug); err != nil {
		return nil, err
	}
	var types []business.TypeCount
	if known != nil && known.publication != nil && known.publication.State.ContentHash == row.ContentHash {
		types = known.publication.Types // the same content has the same records; counting them takes the time of reading their names
	}
	e.publication, e.standing, err = readPublication(ctx, rd, row, hosts, types)
	var damaged *damagedError
	switch {
	case errors.As(err, &damaged):
		r.log.Error("publisher cannot be served", "publisher", slug, "cause", err.Error())
	case err != nil:
		return nil, err
	}
	return e, nil
}

// damagedError says that a stored document is not what this program writes.
type damagedError struct{ cause error }

func (e *damagedError) Error() string { return "stored profile: " + e.cause.Error() }

// readPublication turns rows into what renderers get. It is the only way from a row to a renderer: account, reasons, tokens and operators have no field in
// business.Publication. types are counted when they are nil.
func readPublication(ctx context.Context, rd Reader, row *PublisherRow, hosts []string, types []business.TypeCount) (*business.Publication, *standing, error) {
	profile, err := decodeProfile(row.Profile)
	if err != nil {
		return nil, nil, &damagedError{err}
	}
	standing, err := standingOf(ctx, rd, row)
	if err != nil {
		return nil, nil, err
	}
	if types == nil {
		if types, err = rd.RecordCounts(ctx, row.Slug); err != nil {
			return nil, nil, err
		}
		slices.SortFunc(types, func(a, b business.TypeCount) int { return strings.Compare(a.Type, b.Type) })
	}
	p := &business.Publication{
		Slug: row.Slug, Revision: row.Revision, Profile: *profile, Schema: row.Schema, Calendar: row.Calendar, Standing: standing.Standing,
		State: business.State{Generation: row.Generation, ContentHash: row.ContentHash, ChangedAt: row.ChangedAt},
		Types: types, DataLastUpdated: row.DataUpdated, Incomplete: row.Incomplete, Hosts: hosts,
	}
	p.Prepare()
	return p, standing, nil
}

// current is the served state while it is fresh enough, else bizhttp.ErrUnavailable: never stale without bound, never a 404 for what could not be read.
func (r *Registry) current() (*state, error) {
	s := r.served.state.Load()
	// A clock that was put back makes the age negative: nothing is known about it before the next reading.
	if behind := r.Behind(); s == nil || behind > maxBehind || behind < -maxBehind {
		return nil, bizhttp.ErrUnavailable
	}
	return s, nil
}

// Behind is the age of the newest complete reading of the heads.
func (r *Registry) Behind() time.Duration {
	return r.Now().Sub(time.Unix(0, r.served.read.Load()))
}

func (r *Registry) entry(slug string) (*state, *entry, error) {
	s, err := r.current()
	if err != nil {
		return nil, nil, err
	}
	e := s.bySlug[slug]
	if e == nil {
		return nil, nil, bizhttp.ErrUnknown
	}
	if e.publication == nil {
		return nil, nil, bizhttp.ErrUnavailable
	}
	return s, e, nil
}
