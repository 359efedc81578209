package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"sayso/jwk"
)

// Candidate is one projection that a query found. Ref goes into SessionOpen.projection_ref; CandidateRef resolves for the same key within ten minutes.
type Candidate struct {
	CandidateRef string
	Ref          Ref
}

// Page is a part of what a query finds. Cursor is "" at the end; it holds for the same key and the same query within ten minutes.
type Page struct {
	Candidates []Candidate
	Cursor     string
}

// want is one dimension of a query.
type want struct {
	dim     uint8
	labels  []string
	narrows bool // all of its labels lie below the root of their hierarchy
}

// cursor is where the next page begins.
type cursor struct {
	expires uint32 // Unix seconds
	nonce   [8]byte
	width   uint8
	level   uint8  // how often the query was made coarser to fill the set
	place   uint32 // first place of the page
}

const (
	cursorBytes    = 4 + 8 + 1 + 1 + 4
	candidateBytes = 4 + 16
	macBytes       = 16
)

// Candidates answers a query (P-7, P-8, P-9). No page is larger than the query's limit and than what the caller's quota leaves.
func (p *Provider) Candidates(now time.Time, c Caller, q *Query) (Page, error) {
	if _, err := p.gate.admit(now, c, Search, 1); err != nil {
		return Page{}, err
	}
	if !now.Before(q.Projection.ExpiresAt) {
		return Page{}, refuse(CodeRefused, "projection/expires_at", "an expired projection asks for nothing")
	}
	wants, err := p.wants(q)
	if err != nil {
		return Page{}, err
	}
	digest := digestOf(wants)
	at, err := p.begin(now, c, q.Cursor, digest)
	if err != nil {
		return Page{}, err
	}
	limit, err := p.gate.admit(now, c, Candidates, min(max(q.Limit, 1), MaxLimit))
	if err != nil {
		return Page{}, err
	}
	barred := p.gate.bars(now)

	p.mu.RLock()
	found, level, err := p.find(now, wants, &at, limit, q.Cursor == "", barred)
	p.mu.RUnlock()
	if err != nil {
		p.gate.refund(now, c, Candidates, limit)
		return Page{}, err
	}

	page := Page{Candidates: make([]Candidate, 0, min(limit, len(found)))}
	seal, until := p.sealer("candidate", c, nil), uint32(now.Add(candidateLife).Unix())
	for _, f := range found[:min(limit, len(found))] {
		body := append(binary.BigEndian.AppendUint32(make([]byte, 0, candidateBytes+macBytes), until), f.ref[:]...)
		page.Candidates = append(page.Candidates, Candidate{CandidateRef: seal.seal(body), Ref: f.ref})
	}
	if len(found) > limit {
		at.level, at.place = level, found[limit].place
		page.Cursor = p.sealer("cursor", c, digest).seal(at.bytes())
	}
	p.gate.refund(now, c, Candidates, limit-len(page.Candidates))
	return page, nil
}

// Endpoint is where the agent behind a candidate is reached.
type Endpoint struct {
	URL string
	Ref Ref
}

// Resolve returns the endpoint of a candidate that this caller's query found. What was withdrawn or has expired since is CodeUnknown.
func (p *Provider) Resolve(now time.Time, c Caller, candidateRef string) (Endpoint, error) {
	if _, err := p.gate.admit(now, c, Resolving, 1); err != nil {
		return Endpoint{}, err
	}
	body, ok := p.sealer("candidate", c, nil).open(candidateRef, candidateBytes)
	if !ok || now.Unix() >= int64(binary.BigEndian.Uint32(body)) {
		return Endpoint{}, refuse(CodeStale, "candidate_ref", "not a candidate of this key, or no longer: query again")
	}
	barred := p.gate.bars(now)
	p.mu.RLock()
	defer p.mu.RUnlock()
	if err := p.caughtUp(now); err != nil {
		return Endpoint{}, err
	}
	s, ok := p.index.held(Ref(body[4:]))
	if !ok || s.withdrawn || !s.live(now) || barred(s.owner) {
		return Endpoint{}, refuse(CodeUnknown, "candidate_ref", "the projection is no longer there")
	}
	return Endpoint{URL: s.endpoint, Ref: s.ref}, nil
}

func (p *Provider) caughtUp(now time.Time) error {
	if p.cfg.Replica && now.Sub(p.synced) > p.cfg.Latency {
		return &Error{Code: CodeBehind, Detail: "this replica waits for its feed", RetryAfter: p.cfg.Latency}
	}
	return nil
}

// wants reads a query against the dimensions, in the order of their names.
func (p *Provider) wants(q *Query) ([]want, error) {
	labels, err := p.labels(q.Projection, q.Attributes)
	if err != nil {
		return nil, err
	}
	var out []want
	narrow := false
	for dim, list := range labels {
		i := p.index.byName[dim]
		w := want{dim: i, labels: slices.Compact(slices.Sorted(slices.Values(list))), narrows: dim != Relation}
		tree := p.cfg.Dimensions[i].Tree
		for _, label := range w.labels {
			w.narrows = w.narrows && (!tree.Has(label) || tree.Container(label) != "")
		}
		narrow = narrow || w.narrows
		out = append(out, w)
	}
	if !narrow {
		return nil, refuse(CodeBroad, "projection", "name at least one attribute below the root of its hierarchy, and nothing at the root beside it")
	}
	slices.SortFunc(out, func(a, b want) int { return int(a.dim) - int(b.dim) })
	return out, nil
}

// coarser replaces every label by its container, but for those just below a root. It reports false when nothing changed.
func (p *Provider) coarser(wants []want) ([]want, bool) {
	out, changed := slices.Clone(wants), false
	for i := range out {
		tree := p.cfg.Dimensions[out[i].dim].Tree
		out[i].labels = slices.Clone(out[i].labels)
		for j, label := range out[i].labels {
			if in := tree.Container(label); in != "" && tree.Container(in) != "" {
				out[i].labels[j], changed = in, true
			}
		}
	}
	return out, changed
}

// hit is a projection at its place in the order of a query.
type hit struct {
	place uint32
	slot  uint32
	ref   Ref
}

// find returns up to limit+1 projections from a place on. The first page decides how coarse the query has to become for the minimum set; later ones keep to it.
func (p *Provider) find(now time.Time, wants []want, at *cursor, limit int, first bool, barred func(Thumbprint) bool) ([]hit, uint8, error) {
	if err := p.caughtUp(now); err != nil {
		return nil, 0, err
	}
	if first {
		at.width = widthFor(p.index.used)
	}
	for range at.level {
		wants, _ = p.coarser(wants)
	}
	scratch := p.scratch.Get().(*[]block)
	defer p.scratch.Put(scratch)
	o := newOrder(p.cfg.Secret[:], at.nonce, at.width)
	see := max(limit, p.cfg.MinimumSet) + 1
	if !first {
		see = limit + 1
	}
	level := at.level
	for {
		n := p.index.match(wants, scratch)
		found := p.index.pick(*scratch, n, o, at.place, see, func(s *slot) bool { return !s.withdrawn && s.live(now) && !barred(s.owner) })
		if !first || len(found) >= p.cfg.MinimumSet {
			return found[:min(len(found), limit+1)], level, nil
		}
		next, changed := p.coarser(wants)
		if !changed {
			return found[:min(len(found), limit+1)], level, nil
		}
		wants, level = next, level+1
	}
}

// match intersects the dimensions of a query into scratch, one block for each chunk of slots, and returns how many slots it holds.
func (x *index) match(wants []want, scratch *[]block) int {
	chunks := int((uint64(x.used) + 1<<chunkBits - 1) >> chunkBits)
	*scratch = slices.Grow((*scratch)[:0], chunks)[:chunks]
	// What narrows comes first: a chunk without it is done.
	wants = slices.Clone(wants)
	slices.SortStableFunc(wants, func(a, b want) int { return rank(a) - rank(b) })
	agrees, present := make([][]*set, len(wants)), make([][]*set, len(wants))
	for i, w := range wants {
		agrees[i], present[i] = x.sets(w), []*set{&x.dims[w.dim].present}
	}
	total := 0
	var bufferA, bufferP, narrowed block
	for high := range chunks {
		out := &(*scratch)[high]
		narrowed = block{}
		for k := range out {
			out[k] = ^uint64(0)
		}
		for i, w := range wants {
			if !w.narrows && i > 0 && wants[i-1].narrows {
				if some := and(out, &narrowed); !some {
					break
				}
			}
			agree, says := union(agrees[i], uint16(high), &bufferA), union(present[i], uint16(high), &bufferP)
			for k := range out {
				out[k] &= agree[k] | ^says[k]
			}
			if w.narrows {
				for k := range narrowed {
					narrowed[k] |= agree[k]
				}
			}
		}
		and(out, &narrowed)
		total += out.size()
	}
	return total
}

func rank(w want) int {
	if w.narrows {
		return 0
	}
	return 1
}

// and keeps in b what other holds too, and reports whether anything is left.
func and(b, other *block) bool {
	left := uint64(0)
	for k := range b {
		b[k] &= other[k]
		left |= b[k]
	}
	return left != 0
}

// sets returns the sets whose union agrees with a dimension of a query: what says the label, what lies in it, and what says something that contains it.
func (x *index) sets(w want) []*set {
	d := &x.dims[w.dim]
	var out []*set
	for _, label := range w.labels {
		if id, ok := d.terms[label]; ok {
			out = append(out, &x.terms[id].at, &x.terms[id].below)
		}
		for in := d.tree.Container(label); in != ""; in = d.tree.Container(in) {
			if id, ok := d.terms[in]; ok {
				out = append(out, &x.terms[id].at)
			}
		}
	}
	return out
}

// pick returns the first most of the n matches whose place is at least from, in the order of their places.
func (x *index) pick(matches []block, n int, o *order, from uint32, most int, visible func(*slot) bool) []hit {
	if n == 0 {
		return nil
	}
	var found []hit
	// A dense result is met soon by walking the places; a sparse one is read whole. Both give the same hits.
	if uint64(n)*uint64(n) > uint64(most)<<o.width {
		for place := from; place <= o.mask && len(found) < most; place++ {
			at := o.slot(place)
			if at>>chunkBits >= uint32(len(matches)) || matches[at>>chunkBits][uint16(at)/64]>>(at%64)&1 == 0 {
				continue
			}
			if s := x.slot(at); visible(s) {
				found = append(found, hit{place: place, slot: at, ref: s.ref})
			}
		}
		return found
	}
	for high := range matches {
		matches[high].each(func(low uint16) {
			at := uint32(high)<<chunkBits | uint32(low)
			if at > o.mask {
				return // published after the order was drawn
			}
			place := o.place(at)
			if place < from || len(found) == most && place > found[most-1].place {
				return
			}
			s := x.slot(at)
			if !visible(s) {
				return
			}
			i, _ := slices.BinarySearchFunc(found, place, func(h hit, p uint32) int { return int(int64(h.place) - int64(p)) })
			if len(found) == most {
				found = found[:most-1]
			}
			found = slices.Insert(found, i, hit{place: place, slot: at, ref: s.ref})
		})
	}
	return found
}

// begin opens the cursor of a query, or draws a new order for a query without one.
func (p *Provider) begin(now time.Time, c Caller, text string, digest []byte) (cursor, error) {
	if text == "" {
		at := cursor{expires: uint32(now.Add(cursorLife).Unix())}
		if _, err := io.ReadFull(p.cfg.Random, at.nonce[:]); err != nil {
			return cursor{}, &Error{Code: CodeInternal, Detail: "no randomness for an order", cause: err}
		}
		return at, nil
	}
	b, ok := p.sealer("cursor", c, digest).open(text, cursorBytes)
	if !ok || now.Unix() >= int64(binary.BigEndian.Uint32(b)) {
		return cursor{}, refuse(CodeStale, "cursor", "not a cursor of this key and query, or no longer: query again")
	}
	return cursor{expires: binary.BigEndian.Uint32(b), nonce: [8]byte(b[4:12]), width: b[12], level: b[13], place: binary.BigEndian.Uint32(b[14:])}, nil
}

func (at cursor) bytes() []byte {
	b := binary.BigEndian.AppendUint32(nil, at.expires)
	b = append(append(b, at.nonce[:]...), at.width, at.level)
	return binary.BigEndian.AppendUint32(b, at.place)
}

// sealer makes tokens that only this provider makes, for one use and one caller. The provider remembers none of them.
type sealer struct {
	mac hash.Hash
	pre []byte
}

func (p *Provider) sealer(use string, c Caller, about []byte) sealer {
	pre := fmt.Appendf(nil, "%s\x00%d\x00", use, len(about))
	return sealer{mac: hmac.New(sha256.New, p.cfg.Secret[:]), pre: append(append(pre, c.Key[:]...), about...)}
}

func (s sealer) tag(body []byte) []byte {
	s.mac.Reset()
	s.mac.Write(s.pre)
	s.mac.Write(body)
	return s.mac.Sum(nil)[:macBytes]
}

func (s sealer) seal(body []byte) string { return jwk.EncodeBase64URL(append(body, s.tag(body)...)) }

func (s sealer) open(text string, size int) ([]byte, bool) {
	b, err := jwk.DecodeBase64URL(text)
	if err != nil || len(b) != size+macBytes {
		return nil, false
	}
	return b[:size], hmac.Equal(b[size:], s.tag(b[:size]))
}

func writePart(h hash.Hash, part []byte) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(part)))
	h.Write(n[:])
	h.Write(part)
}

// digestOf names a query, so that a cursor of one does not page through another.
func digestOf(wants []want) []byte {
	h := sha256.New()
	for _, w := range wants {
		writePart(h, []byte{w.dim})
		for _, label := range w.labels {
			writePart(h, []byte(label))
		}
		writePart(h, nil)
	}
	return h.Sum(nil)
}
