package provider_test

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/wire"
)

// population is the one of the storage measurements: geography of 22,207 labels in five levels, 421 categories in three, 12 domains; Zipf. A projection names a place of any
// level but the first, a category and a domain.
type population struct {
	geo, cat, dom []string // by rank
	trees         provider.Config
}

func newPopulation(t testing.TB) *population {
	p := &population{}
	place := map[string]string{}
	level := []string{}
	for i := range 7 {
		level = append(level, word(i))
		place[level[i]] = ""
	}
	for _, fan := range []int{20, 8, 8} {
		var next []string
		for _, in := range level {
			for i := range fan {
				label := in + "-" + word(i)
				place[label] = in
				next = append(next, label)
			}
		}
		p.geo = append(p.geo, next...)
		level = next
	}
	for i := 0; len(place) < 22_207; i++ {
		in := level[i%len(level)]
		label := in + "-" + word(i/len(level))
		place[label] = in
		p.geo = append(p.geo, label)
	}
	category := map[string]string{}
	for i := range 20 {
		category["cat-"+word(i)] = ""
		for j := range 20 {
			label := "cat-" + word(i) + "-" + word(j)
			category[label] = "cat-" + word(i)
			p.cat = append(p.cat, label)
		}
	}
	for i := range 12 {
		p.dom = append(p.dom, "dom-"+word(i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, list := range [][]string{p.geo, p.cat} {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	p.trees = free(provider.Config{
		Dimensions: []provider.Dimension{{Name: provider.Geography, Tree: tree(t, place)}, {Name: provider.Category, Tree: tree(t, category)}},
		Secret:     [32]byte{1}, Random: newStream(1), Capacity: 1 << 20,
	})
	return p
}

func (p *population) rows(n int) iter.Seq2[provider.Row, error] {
	return func(yield func(provider.Row, error) bool) {
		r := rand.New(rand.NewPCG(3, 4))
		geo, cat, dom := rand.NewZipf(r, 1.1, 8, uint64(len(p.geo)-1)), rand.NewZipf(r, 1.1, 4, uint64(len(p.cat)-1)), rand.NewZipf(r, 1.1, 2, uint64(len(p.dom)-1))
		for i := range n {
			var id [32]byte
			binary.LittleEndian.PutUint64(id[:], r.Uint64())
			binary.LittleEndian.PutUint64(id[8:], uint64(i))
			if !yield(provider.Row{
				Ref: provider.Ref(id[:16]), Owner: id, Revision: 1, Expires: start.Add(30 * 24 * time.Hour),
				Endpoint: fmt.Sprintf("https://agents.example.org/a2a/%032x", id[:16]),
				Labels: map[string][]string{provider.Geography: {p.geo[geo.Uint64()]}, provider.Category: {p.cat[cat.Uint64()]}, provider.Domain: {p.dom[dom.Uint64()]},
					provider.Relation: {wire.Complementary}},
			}, nil) {
				return
			}
		}
	}
}

// word writes a number in letters: labels hold few digits.
func word(n int) string {
	out := ""
	for ; n >= 0; n = n/26 - 1 {
		out = string(rune('a'+n%26)) + out
	}
	return out
}

// query of one rank of each list: rank 0 is the most used label.
func (p *population) query(geo, cat, dom int) *provider.Query {
	return &provider.Query{Limit: provider.MaxLimit, Projection: &wire.DiscoveryProjection{ExpiresAt: start.Add(time.Hour), Geographies: []string{p.geo[geo%len(p.geo)]}, Categories: []string{p.cat[cat%len(p.cat)]},
		Domains: []string{p.dom[dom%len(p.dom)]}, Relation: []string{wire.Complementary}}}
}

func (p *population) open(t testing.TB, n int) (*provider.Provider, float64) {
	t.Helper()
	cfg := p.trees
	cfg.Capacity = n + 10_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	out, err := provider.New(cfg, p.rows(n))
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	return out, (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(n)
}

var sizes = []int{10_000, 100_000, 1_000_000}

// A candidate query by size of the index: narrow asks a rare place, broad the most used one of each list.
func BenchmarkCandidates(b *testing.B) {
	pop := newPopulation(b)
	for _, n := range sizes {
		p, bytes := pop.open(b, n)
		for name, query := range map[string]func(i int) *provider.Query{
			"narrow": func(i int) *provider.Query { return pop.query(200+i%1000, i%50, i%12) },
			"broad":  func(i int) *provider.Query { return pop.query(i%3, i%3, 0) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				took := make([]time.Duration, 0, 1<<16)
				for i := 0; b.Loop(); i++ {
					q := query(i)
					begin := time.Now()
					if _, err := p.Candidates(start, caller(-1), q); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(begin))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
				b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
				b.ReportMetric(bytes, "heap-B/projection")
			})
		}
		runtime.KeepAlive(p)
	}
}

func BenchmarkApply(b *testing.B) {
	pop := newPopulation(b)
	for _, n := range sizes[:2] {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := provider.New(pop.trees, pop.rows(n)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/projection")
		})
	}
}

// The index keeps within 400 bytes for one projection, endpoint and key included.
func TestMemoryOfOneProjection(t *testing.T) {
	p, bytes := newPopulation(t).open(t, 100_000)
	if bytes > 400 {
		t.Errorf("%.0f bytes for one projection, want at most 400", bytes)
	}
	t.Logf("%.0f bytes for one projection of 100,000", bytes)
	runtime.KeepAlive(p)
}
