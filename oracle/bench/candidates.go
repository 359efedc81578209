package main

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/gidp/wire"
)

// The population of projections: places in five levels, categories in two, twelve domains, all by Zipf. A projection names one of each.
type market struct {
	place, category, domain []string          // by rank: the first are the most used
	container               map[string]string // of places and categories
}

var marketDay = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func newMarket() *market {
	m := &market{container: map[string]string{}}
	level := []string{}
	for i := range 7 {
		level = append(level, "p"+letters(i))
		m.container[level[i]] = ""
	}
	for _, fan := range []int{20, 8, 8, 2} {
		var next []string
		for _, in := range level {
			for i := range fan {
				label := in + "x" + letters(i)
				m.container[label] = in
				next = append(next, label)
			}
		}
		m.place = append(m.place, next...)
		level = next
	}
	for i := range 20 {
		root := "c" + letters(i)
		m.container[root] = ""
		for j := range 20 {
			label := root + "x" + letters(j)
			m.container[label] = root
			m.category = append(m.category, label)
		}
	}
	for i := range 12 {
		m.domain = append(m.domain, "d"+letters(i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, list := range [][]string{m.place, m.category} {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return m
}

// letters writes a number in letters.
func letters(n int) string {
	out := ""
	for ; n >= 0; n = n/26 - 1 {
		out = string(rune('a'+n%26)) + out
	}
	return out
}

// draw yields the labels of n projections: place, category, domain.
func (m *market) draw(n int) iter.Seq2[int, [3]string] {
	return func(yield func(int, [3]string) bool) {
		r := rand.New(rand.NewPCG(3, 4))
		place, category, domain := rand.NewZipf(r, 1.1, 8, uint64(len(m.place)-1)), rand.NewZipf(r, 1.1, 4, uint64(len(m.category)-1)), rand.NewZipf(r, 1.1, 2, uint64(len(m.domain)-1))
		for i := range n {
			if !yield(i, [3]string{m.place[place.Uint64()], m.category[category.Uint64()], m.domain[domain.Uint64()]}) {
				return
			}
		}
	}
}

// rows are the projections as a provider keeps them.
func (m *market) rows(n int) iter.Seq2[provider.Row, error] {
	return func(yield func(provider.Row, error) bool) {
		r := rand.New(rand.NewPCG(5, 6))
		for i, labels := range m.draw(n) {
			var id [32]byte
			binary.LittleEndian.PutUint64(id[:], r.Uint64())
			binary.LittleEndian.PutUint64(id[8:], uint64(i))
			row := provider.Row{Ref: provider.Ref(id[:16]), Owner: id, Revision: 1, Expires: marketDay.Add(30 * 24 * time.Hour), Endpoint: fmt.Sprintf("https://agents.example.org/a2a/%032x", id[:16]),
				Labels: map[string][]string{provider.Geography: {labels[0]}, provider.Category: {labels[1]}, provider.Domain: {labels[2]}, provider.Relation: {wire.Complementary}}}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// index is the provider over n projections, with quotas that a benchmark does not meet.
func (m *market) index(n int) (*provider.Provider, error) {
	place, category := map[string]string{}, map[string]string{}
	for label, in := range m.container {
		if label[0] == 'p' {
			place[label] = in
		} else {
			category[label] = in
		}
	}
	places, err := gidp.NewTree(place)
	if err != nil {
		return nil, err
	}
	categories, err := gidp.NewTree(category)
	if err != nil {
		return nil, err
	}
	const much = 1 << 30
	return provider.New(provider.Config{
		Dimensions: []provider.Dimension{{Name: provider.Geography, Tree: places}, {Name: provider.Category, Tree: categories}},
		Tiers:      map[string]provider.Limits{"": {much, much, much, much}}, Secret: [32]byte{1}, Random: rand.NewChaCha8([32]byte{2}), Capacity: n + 1,
	}, m.rows(n))
}

// question is a query as labels: one narrow, one broad, in turn.
func (m *market) question(i int) [3]string {
	if i%2 == 0 {
		return [3]string{m.place[(200+37*i)%len(m.place)], m.category[i%50], m.domain[i%12]}
	}
	return [3]string{m.place[i%3], m.category[i%3], m.domain[0]}
}

func candidates(p *provider.Provider, labels [3]string) (int, error) {
	page, err := p.Candidates(marketDay, provider.Caller{Key: provider.Thumbprint{9}, Addr: netip.AddrFrom4([4]byte{127, 0, 0, 1})}, &provider.Query{Limit: provider.MaxLimit,
		Projection: &wire.DiscoveryProjection{ExpiresAt: marketDay.Add(time.Hour), Geographies: labels[:1], Categories: labels[1:2], Domains: labels[2:], Relation: []string{wire.Complementary}}})
	return len(page.Candidates), err
}

// postings is the baseline: the same inverted index in one FTS5 table without content and positions. For each label a projection has a word for itself and one for it
// and each of its containers; a query asks for what lies in its label, or is one of its containers.
type postings struct {
	db    *sql.DB
	query *sql.Stmt
}

func (m *market) postings(n int) (*postings, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	t := &postings{db: db}
	if err := t.fill(m, n); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return t, nil
}

func (t *postings) fill(m *market, n int) error {
	if _, err := t.db.Exec(`CREATE VIRTUAL TABLE projections USING fts5(words, content='', detail=none)`); err != nil {
		return err
	}
	tx, err := t.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.Prepare(`INSERT INTO projections(rowid, words) VALUES (?, ?)`)
	if err != nil {
		return err
	}
	for i, labels := range m.draw(n) {
		var words []string
		for _, label := range labels {
			words = append(words, "e"+label)
			for at := label; at != ""; at = m.container[at] {
				words = append(words, "s"+at)
			}
		}
		if _, err := insert.Exec(i, strings.Join(words, " ")); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if _, err := t.db.Exec(`INSERT INTO projections(projections) VALUES ('optimize')`); err != nil {
		return err
	}
	t.query, err = t.db.Prepare(fmt.Sprintf(`SELECT rowid FROM projections WHERE projections MATCH ? LIMIT %d`, provider.MaxLimit))
	return err
}

func (m *market) match(labels [3]string) string {
	var all []string
	for _, label := range labels {
		any := []string{"s" + label}
		for at := m.container[label]; at != ""; at = m.container[at] {
			any = append(any, "e"+at)
		}
		all = append(all, "("+strings.Join(any, " OR ")+")")
	}
	return strings.Join(all, " AND ")
}

func (t *postings) find(match string) (count int, err error) {
	rows, err := t.query.Query(match)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return count, err
		}
		count++
	}
	return count, rows.Err()
}

// measureCandidates compares a candidate query with the posting query, and weighs the index.
func measureCandidates(r *report, p *plan) error {
	r.title("GIDP candidates, at most %d of all that match, narrow and broad in turn; baseline: SQLite FTS5 in memory, detail=none, the same words, row ids alone", provider.MaxLimit)
	m := newMarket()
	var rows []string
	var lines []line
	var p99 []time.Duration
	for _, n := range p.projections {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		index, err := m.index(n)
		if err != nil {
			return err
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		bytes := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(n)
		theirs, err := m.postings(n)
		if err != nil {
			return err
		}
		took, err := m.compare(index, theirs, p)
		err = errors.Join(err, theirs.query.Close(), theirs.db.Close())
		runtime.KeepAlive(index)
		if err != nil {
			return err
		}
		p99 = append(p99, median(took.ours))
		rows = append(rows, fmt.Sprintf("%d|%.0f|%s|%s|%.3f", n, bytes, ms(median(took.ours)), ms(median(took.theirs)), took.ratio()))
		lines = append(lines, line{name: fmt.Sprintf("gidp-candidates-p99/%d", n), ratio: took.ratio(), bound: 1})
		if n == slices.Max(p.projections) { // smaller ones are mostly the hierarchies
			lines = append(lines, line{name: fmt.Sprintf("gidp-projection-bytes/%d", n), ratio: bytes, bound: 400, bytes: true})
		}
	}
	r.table("projections|bytes each|p99 ms|FTS5 p99 ms|ratio", rows...)
	r.growth("p99", p.projections, p99)
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

// compare asks both sides the same questions in alternating rounds; a round gives one p99 of each.
func (m *market) compare(index *provider.Provider, theirs *postings, p *plan) (pair, error) {
	labels := make([][3]string, p.questions)
	matches := make([]string, p.questions)
	for i := range labels {
		labels[i] = m.question(i)
		matches[i] = m.match(labels[i])
		ours, err := candidates(index, labels[i])
		if err != nil {
			return pair{}, err
		}
		found, err := theirs.find(matches[i])
		if err != nil || ours != found {
			return pair{}, errors.Join(err, fmt.Errorf("%v: %d candidates and %d rows", labels[i], ours, found))
		}
	}
	quantileOf := func(ask func(i int) (int, error)) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			took := make([]time.Duration, len(labels))
			for i := range labels {
				begin := time.Now()
				if _, err := ask(i); err != nil {
					return 0, err
				}
				took[i] = time.Since(begin)
			}
			slices.Sort(took)
			return quantile(took, 99), nil
		}
	}
	return alternate(p.rounds, quantileOf(func(i int) (int, error) { return candidates(index, labels[i]) }), quantileOf(func(i int) (int, error) { return theirs.find(matches[i]) }))
}
