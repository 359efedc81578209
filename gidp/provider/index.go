package provider

import (
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"sayso/gidp"
)

// Errors of Apply. The row is durable and not in the index when it is returned.
var (
	ErrFull     = errors.New("the index holds as many projections as its configuration allows")
	ErrConflict = errors.New("the key or the endpoint belongs to another projection")
)

// slot is one projection in memory. A withdrawn one keeps its place until its expiry, so that a late row cannot bring it back.
type slot struct {
	ref       Ref
	owner     Thumbprint
	endpoint  string
	terms     []uint32 // exact terms, by which it is taken out of the sets again
	expires   int64    // Unix seconds; 0 marks a free slot
	revision  uint32
	withdrawn bool
}

// Slots are kept in pages so that growth copies nothing and wastes at most one page.
const pageSlots = 1024

// term is one label of one dimension. at and below are disjoint: what names the label itself, and what names a label inside it.
type term struct {
	dim    uint8
	placed bool // by the tree of the dimension
	label  string
	parent int32 // -1: none
	at     set
	below  set
}

// dimension is one retrieval attribute: a flat vocabulary, or a hierarchy.
type dimension struct {
	name    string
	tree    *gidp.Tree
	terms   map[string]uint32
	present set // projections that say anything in this dimension
}

// index is the inverted index. It knows no lock, no clock and no secret.
type index struct {
	dims      []dimension
	byName    map[string]uint8
	terms     []term
	freeTerms []uint32

	pages     []*[pageSlots]slot
	used      uint32 // slots ever taken
	free      []uint32
	refs      map[Ref]uint32
	owners    map[uint64]uint32 // first bytes of the thumbprint
	endpoints map[uint64]uint32
	seed      maphash.Seed
	capacity  int
}

func newIndex(dims []Dimension, capacity int) *index {
	x := &index{byName: map[string]uint8{}, refs: map[Ref]uint32{}, owners: map[uint64]uint32{}, endpoints: map[uint64]uint32{}, seed: maphash.MakeSeed(), capacity: capacity}
	for i, d := range dims {
		x.dims = append(x.dims, dimension{name: d.Name, tree: d.Tree, terms: map[string]uint32{}})
		x.byName[d.Name] = uint8(i)
	}
	return x
}

func (x *index) slot(n uint32) *slot { return &x.pages[n/pageSlots][n%pageSlots] }

// held returns the slot of a reference, withdrawn or not.
func (x *index) held(ref Ref) (*slot, bool) {
	n, ok := x.refs[ref]
	if !ok {
		return nil, false
	}
	return x.slot(n), true
}

// of returns the projection a key has published.
func (x *index) of(owner Thumbprint) (*slot, bool) {
	n, ok := x.owners[owner.tag()]
	if !ok {
		return nil, false
	}
	return x.slot(n), true
}

// conflict reports whether a row would share its key or its endpoint with another projection.
func (x *index) conflict(r Row) bool {
	if n, ok := x.owners[r.Owner.tag()]; ok && x.slot(n).ref != r.Ref {
		return true
	}
	n, ok := x.endpoints[maphash.String(x.seed, r.Endpoint)]
	return ok && !r.Withdrawn && x.slot(n).ref != r.Ref
}

// apply brings one durable row into the index. It is idempotent; the highest revision wins, and a withdrawal is final.
func (x *index) apply(r Row) error {
	n, known := x.refs[r.Ref]
	if known {
		s := x.slot(n)
		if s.owner != r.Owner {
			return ErrConflict
		}
		if s.withdrawn || s.revision >= r.Revision && !r.Withdrawn {
			return nil
		}
	}
	if x.conflict(r) {
		return ErrConflict
	}
	if !known {
		if len(x.refs) >= x.capacity {
			return ErrFull
		}
		n = x.take()
		x.refs[r.Ref], x.owners[r.Owner.tag()] = n, n
	}
	s := x.slot(n)
	x.clear(n, s)
	// A fraction of a second is cut off, never added: nothing is returned after its expiry.
	*s = slot{ref: r.Ref, owner: r.Owner, expires: max(r.Expires.Unix(), 1), revision: r.Revision, withdrawn: r.Withdrawn}
	if r.Withdrawn {
		return nil
	}
	s.endpoint = r.Endpoint
	x.endpoints[maphash.String(x.seed, r.Endpoint)] = n
	x.post(n, s, r.Labels)
	return nil
}

// take returns an unused slot.
func (x *index) take() uint32 {
	if last := len(x.free) - 1; last >= 0 {
		n := x.free[last]
		x.free = x.free[:last]
		return n
	}
	n := x.used
	if n%pageSlots == 0 {
		x.pages = append(x.pages, new([pageSlots]slot))
	}
	x.used++
	return n
}

// post enters the labels of a slot into the sets. Labels of a dimension that is no longer configured stay in the row alone.
func (x *index) post(n uint32, s *slot, labels map[string][]string) {
	count := 0
	for _, list := range labels {
		count += len(list)
	}
	s.terms = make([]uint32, 0, count)
	for name, list := range labels {
		dim, ok := x.byName[name]
		if !ok || len(list) == 0 {
			continue
		}
		x.dims[dim].present.add(n)
		for _, label := range list {
			id := x.term(dim, label)
			if slices.Contains(s.terms, id) {
				continue
			}
			s.terms = append(s.terms, id)
			x.terms[id].at.add(n)
			for up := x.terms[id].parent; up >= 0; up = x.terms[up].parent {
				x.terms[up].below.add(n)
			}
		}
	}
}

// clear takes a slot out of every set and out of the endpoints.
func (x *index) clear(n uint32, s *slot) {
	for _, id := range s.terms {
		t := &x.terms[id]
		t.at.remove(n)
		x.dims[t.dim].present.remove(n)
		for up := t.parent; up >= 0; up = x.terms[up].parent {
			x.terms[up].below.remove(n)
		}
		// Labels that no tree places come from publishers and go with them; those of a tree are as many as the tree has.
		if !t.placed && t.at.empty() {
			delete(x.dims[t.dim].terms, t.label)
			*t = term{}
			x.freeTerms = append(x.freeTerms, id)
		}
	}
	s.terms = nil
	if s.endpoint != "" {
		delete(x.endpoints, maphash.String(x.seed, s.endpoint))
		s.endpoint = ""
	}
}

// term returns the id of a label, with those of its containers made.
func (x *index) term(dim uint8, label string) uint32 {
	d := &x.dims[dim]
	if id, ok := d.terms[label]; ok {
		return id
	}
	parent := int32(-1)
	if in := d.tree.Container(label); in != "" {
		parent = int32(x.term(dim, in))
	}
	t := term{dim: dim, placed: d.tree.Has(label), label: label, parent: parent}
	id := uint32(len(x.terms))
	if last := len(x.freeTerms) - 1; last >= 0 {
		id = x.freeTerms[last]
		x.freeTerms = x.freeTerms[:last]
		x.terms[id] = t
	} else {
		x.terms = append(x.terms, t)
	}
	d.terms[label] = id
	return id
}

// sweep frees up to limit slots whose expiry has passed; it returns how many. It only reclaims: expiry holds at read without it.
func (x *index) sweep(now time.Time, limit int) int {
	freed := 0
	for n := uint32(0); n < x.used && freed < limit; n++ {
		s := x.slot(n)
		if s.expires == 0 || s.live(now) {
			continue
		}
		x.clear(n, s)
		delete(x.refs, s.ref)
		delete(x.owners, s.owner.tag())
		*s = slot{}
		x.free = append(x.free, n)
		freed++
	}
	return freed
}

// live reports whether the expiry lies ahead.
func (s *slot) live(now time.Time) bool { return now.Unix() < s.expires }
