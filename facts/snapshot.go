package facts

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Options of a snapshot.
type Options struct {
	// Origin is scheme://host[:port] without a trailing slash; every absolute URL starts with it.
	Origin string
	// Static builds L1 documents: templates end in .json, filtering is client, records omit day-dependent members, and Get without a selection gives the
	// record that the index lists, also when it has ended or not yet begun.
	Static bool
	// Conformance is L1, L2 or L3. L3 needs a signed dataset.
	Conformance string
	// Workers bounds the goroutines that NewSnapshot encodes and verifies with; 0 is one per processor. All of them end before it returns.
	Workers int
	// SignaturesVerified says that the caller has made or verified every signature of this very dataset a moment ago. NewSnapshot then checks that they are
	// there and that their keys stand, and leaves out the arithmetic. Never set it for a dataset that was only read.
	SignaturesVerified bool
}

// Snapshot is the immutable, pre-encoded form of a Dataset. All methods are safe for concurrent use; the day is always a parameter.
//
// Every dated value is kept as the text of its record, complete but for the members that depend on the question or on the day. What selection and freshness
// need stands beside it in flat rows, so a get is one map look-up, one subtraction and a few copies.
type Snapshot struct {
	info Info
	res  *Ranker // entry i is fact i
	chg  *changelog

	facts  []factRow  // in key order; the same indices as Dataset.Facts
	values []valueRow // of all facts, fact by fact, newest first
	byKey  map[string]int32
	// aliases holds what has to be looked up: explicit aliases, and changelog names that do not follow the class rule.
	aliases map[string]int32
	// areaNamespaces lists, per area, the namespaces of its facts: the changelog alias class is computed from it, never stored per fact.
	areaNamespaces map[string][]string
	boundaries     []Date // distinct days on which a value begins or has just ended, ascending

	keyPrefix string // of the canonical URL of a key; keySuffix ends it
	keySuffix string
	indexURL  string
	publisher string // the publisher member, ready to append after another member
	graceOf   []int  // graceDays by topic
}

// factRow locates the values of one fact: from first up to the next row's first.
type factRow struct {
	first int32
	topic int32
}

// valueRow is one dated value. text is the record without the inserts; the offsets below point into it and fit 16 bits because a record is at most 8 KiB.
type valueRow struct {
	text string
	// start is the first day the value answers for: effectiveFrom, or the day of withdrawal when a withdrawn fact has none (F§5.4).
	start, to, verified, refresh, withdrawn Date

	keyEnd                     uint16 // where requestedKey and resolved go
	label, value, unit, period uint16 // where the JSON text of the member starts
	dates                      uint16 // where `,"effectiveFrom"` starts: the end of the period
	source, sourceEnd          uint16
	day                        uint16 // where status, ageDays and maxAgeDays go
	notice                     uint16 // where notice goes; `,"hash":` follows
	flags                      uint8
}

// What the record text does not say about a value.
const (
	flagToExplicit uint8 = 1 << iota
	flagNextCheck
	flagConverted
)

// The fixed parts of a record that offsets are computed from.
const (
	recordHead = `{"protocol":"` + Protocol + `","key":`
	hashMember = `,"hash":`
	hashLen    = len("sha256:") + 64
)

// NewSnapshot compiles a dataset. It refuses what would make an answer wrong (duplicate keys, aliases that collide, overlapping values, a missing or wrong
// signature when ds.Signed) and names the place. The error joins up to maxDatasetErrors *DatasetError in dataset order. The dataset is not changed and may be
// dropped afterwards.
func NewSnapshot(ds *Dataset, o Options) (*Snapshot, error) {
	c, err := newCompiler(ds, o)
	if err != nil {
		return nil, err
	}
	s := c.snapshot
	for _, step := range []func(){c.checkCatalogue, c.layOut, c.compileValues, c.indexKeys} {
		step()
		if err := c.err(); err != nil {
			return nil, err
		}
	}
	c.buildInfo()
	if s.chg, err = newChangelog(ds); err != nil {
		return nil, fmt.Errorf("changelog: %w", err)
	}
	ranked := RankerInputOf(ds)
	s.res = buildRanker(&ranked)
	return s, nil
}

// Info is what the documents of package describe need besides the facts. It must not be changed.
func (s *Snapshot) Info() *Info { return &s.info }

// Len is the number of keys.
func (s *Snapshot) Len() int { return len(s.facts) }

// URL is the canonical URL of a key: what cite.url and the canonical link say. On a static site it names the JSON file.
func (s *Snapshot) URL(key string) string { return s.keyPrefix + key + s.keySuffix }

// Lookup finds a key or an explicit or class alias (exact text, already normalised). canonical is "" when there is none.
func (s *Snapshot) Lookup(key string) (canonical string, alias bool) {
	i, alias, ok := s.find(key)
	if !ok {
		return "", false
	}
	return s.key(i), alias
}

// find is Lookup by index.
func (s *Snapshot) find(key string) (fact int32, alias, ok bool) {
	if i, ok := s.byKey[key]; ok {
		return i, false, true
	}
	if i, ok := s.aliases[key]; ok {
		return i, true, true
	}
	i, ok := s.classAlias(key)
	return i, ok, ok
}

// classAlias applies the alias classes of F§2.2.
func (s *Snapshot) classAlias(name string) (fact int32, ok bool) {
	if area, rest, ok := strings.Cut(name, ":"); ok {
		for _, namespace := range s.areaNamespaces[area] {
			if i, ok := s.byKey[namespace+"/"+rest]; ok && s.area(i) == area {
				return i, true
			}
		}
		return 0, false
	}
	if strings.HasPrefix(name, "gb/") || strings.HasPrefix(name, "gb-") {
		i, ok := s.byKey["uk"+name[2:]]
		return i, ok
	}
	return 0, false
}

// has reports whether a normalised string is a key or an alias.
func (s *Snapshot) has(key string) bool {
	_, _, ok := s.find(key)
	return ok
}

// Keys yields every canonical key in order.
func (s *Snapshot) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.facts {
			if !yield(s.key(int32(i))) {
				return
			}
		}
	}
}

// History returns every held value of a canonical key, newest first, decoded for pages and exports. DatedValue.Place is not kept.
func (s *Snapshot) History(key string) (*Fact, *Topic, bool) {
	i, ok := s.byKey[key]
	if !ok {
		return nil, nil, false
	}
	lo, hi := s.valueRange(i)
	f, oldest := s.decode(i, hi-1)
	f.Values = make([]DatedValue, 0, hi-lo)
	for v := lo; v < hi-1; v++ {
		_, d := s.decode(i, v)
		f.Values = append(f.Values, d)
	}
	f.Values = append(f.Values, oldest)
	if f.Topic < 0 {
		return &f, nil, true
	}
	topic := s.info.Topics[f.Topic]
	return &f, &topic, true
}

// NextBoundary is the first day after today on which the value in force of any key changes; zero when none is known.
func (s *Snapshot) NextBoundary(today Date) Date {
	i, found := slices.BinarySearch(s.boundaries, today)
	if found {
		i++
	}
	if i == len(s.boundaries) {
		return 0
	}
	return s.boundaries[i]
}

// valueRange is the half-open range of a fact's values.
func (s *Snapshot) valueRange(fact int32) (lo, hi int32) {
	if int(fact)+1 < len(s.facts) {
		return s.facts[fact].first, s.facts[fact+1].first
	}
	return s.facts[fact].first, int32(len(s.values))
}

// key aliases the record text of the fact's newest value: a key needs no JSON escape.
func (s *Snapshot) key(fact int32) string {
	v := &s.values[s.facts[fact].first]
	return v.text[len(recordHead)+1 : v.keyEnd-1]
}

// area is the changelog area of a fact, "" without a topic.
func (s *Snapshot) area(fact int32) string {
	topic := s.facts[fact].topic
	if topic < 0 {
		return ""
	}
	return s.info.Topics[topic].Area
}

// grace is the graceDays of the fact's area.
func (s *Snapshot) grace(fact int32) int {
	topic := s.facts[fact].topic
	if topic < 0 {
		return DefaultGraceDays
	}
	return s.graceOf[topic]
}
