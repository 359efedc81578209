package provider_test

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/provider"
)

// naive is a provider that reads every row for every query, with the definition of package provider and nothing else.
type naive struct {
	trees map[string]*gidp.Tree
	rows  map[provider.Ref]provider.Row
}

func (m naive) match(r provider.Row, want map[string][]string) bool {
	narrowed := false
	for dim, asked := range want {
		tree := m.trees[dim]
		narrows := dim != provider.Relation
		agrees := false
		for _, a := range asked {
			narrows = narrows && !slices.Contains(roots, a)
			for _, held := range r.Labels[dim] {
				agrees = agrees || tree.Within(a, held) || tree.Within(held, a)
			}
		}
		if len(r.Labels[dim]) > 0 && !agrees {
			return false
		}
		narrowed = narrowed || narrows && agrees
	}
	return narrowed
}

var roots = []string{"europe", "asia", "technology", "life_science", "mining"}

func (m naive) find(now time.Time, want map[string][]string) map[provider.Ref]bool {
	out := map[provider.Ref]bool{}
	for ref, r := range m.rows {
		if !r.Withdrawn && now.Before(r.Expires) && m.match(r, want) {
			out[ref] = true
		}
	}
	return out
}

// Whatever is published, updated, withdrawn, swept and rebuilt, every query finds what reading all rows finds, page by page, each once.
func TestAgainstReadingAllRows(t *testing.T) {
	geo, dom := geography(t), domains(t)
	rapid.Check(t, func(rt *rapid.T) {
		cfg := free(config(t))
		p := open(t, cfg)
		model := naive{trees: map[string]*gidp.Tree{provider.Geography: geo, provider.Domain: dom}, rows: map[provider.Ref]provider.Row{}}
		now := start
		places := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"europe", "asia", "germany", "france", "munich", "berlin", "paris", "japan", "tokyo", "atlantis"}), 0, 3, rapid.ID)
		fields := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"technology", "enterprise_software", "biotechnology", "coal_mining"}), 0, 2, rapid.ID)
		flat := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"company_sale", "partnership", "hiring"}), 0, 2, rapid.ID)
		stage := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"seed", "growth"}), 0, 1, rapid.ID)
		content := func(n int) *provider.Publication {
			o := projection(n, places.Draw(rt, "places")...)
			o.Categories, o.Domains = flat.Draw(rt, "categories"), fields.Draw(rt, "domains")
			o.ExpiresAt = now.Add(time.Duration(rapid.IntRange(1, 48).Draw(rt, "hours")) * time.Hour)
			if rapid.Bool().Draw(rt, "silent relation") {
				o.Relation = nil
			}
			return &provider.Publication{Projection: o, Attributes: map[string][]string{"stage": stage.Draw(rt, "stage")}}
		}
		var history []provider.Row
		apply := func(r provider.Row) {
			if err := p.Apply(r); err != nil {
				rt.Fatal(err)
			}
			model.rows[r.Ref] = r
			history = append(history, r)
		}
		owner, fresh := map[provider.Ref]int{}, 0
		pick := func() (provider.Ref, bool) {
			refs := slices.SortedFunc(maps.Keys(owner), func(a, b provider.Ref) int { return owner[a] - owner[b] })
			if len(refs) == 0 {
				return provider.Ref{}, false
			}
			return rapid.SampledFrom(refs).Draw(rt, "ref"), true
		}
		rt.Repeat(map[string]func(*rapid.T){
			"publish": func(*rapid.T) {
				fresh++
				row, err := p.Publish(now, caller(fresh), content(fresh))
				if err != nil {
					if code(t, err) != provider.CodeRefused {
						rt.Fatal(err)
					}
					return
				}
				owner[row.Ref] = fresh
				apply(row)
			},
			"update": func(*rapid.T) {
				ref, ok := pick()
				if !ok {
					return
				}
				fresh++
				row, err := p.Update(now, caller(owner[ref]), ref, content(fresh))
				if err == nil {
					apply(row)
				}
			},
			"withdraw": func(*rapid.T) {
				if ref, ok := pick(); ok {
					row, change, _, err := p.Withdraw(now, caller(owner[ref]), ref)
					if err != nil {
						rt.Fatal(err)
					}
					if change {
						apply(row)
					}
				}
			},
			"an old row again": func(*rapid.T) {
				if len(history) == 0 {
					return
				}
				old := rapid.SampledFrom(history).Draw(rt, "old")
				if now.Before(model.rows[old.Ref].Expires) { // until then it is remembered
					if err := p.Apply(old); err != nil && !errors.Is(err, provider.ErrConflict) {
						rt.Fatal(err)
					}
				}
			},
			"later": func(*rapid.T) { now = now.Add(time.Duration(rapid.IntRange(0, 12).Draw(rt, "hours")) * time.Hour) },
			"sweep": func(*rapid.T) {
				p.Sweep(now, rapid.IntRange(0, 3).Draw(rt, "limit"))
				for ref, r := range model.rows { // what has expired may be forgotten, and its key is
					if !now.Before(r.Expires) {
						delete(owner, ref)
					}
				}
			},
			"rebuild": func(*rapid.T) {
				var err error
				if p, err = provider.New(cfg, func(yield func(provider.Row, error) bool) {
					for _, r := range model.rows {
						if !yield(r, nil) {
							return
						}
					}
				}); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(*rapid.T) {
				o := projection(-1, places.Draw(rt, "asked places")...)
				o.ExpiresAt = now.Add(time.Hour)
				o.Categories, o.Domains = flat.Draw(rt, "asked categories"), fields.Draw(rt, "asked domains")
				if rapid.Bool().Draw(rt, "no relation asked") {
					o.Relation = nil
				}
				q := provider.Query{Projection: o, Limit: rapid.IntRange(1, 3).Draw(rt, "limit")}
				if _, err := p.Candidates(now, caller(-9), &q); err != nil {
					if c := code(t, err); c != provider.CodeBroad && c != provider.CodeRefused {
						rt.Fatal(err)
					}
					return
				}
				want := map[string][]string{}
				for dim, list := range map[string][]string{provider.Geography: o.Geographies, provider.Domain: o.Domains, provider.Category: o.Categories, provider.Relation: o.Relation} {
					if len(list) > 0 {
						want[dim] = list
					}
				}
				if got, want := all(t, p, now, caller(-9), q), model.find(now, want); !maps.Equal(got, want) {
					rt.Fatalf("found %d, want %d", len(got), len(want))
				}
			},
		})
	})
}

// The two ways of picking a page give the same pages: here the result is dense enough to be walked.
func TestDenseResultsArePagedOnceEach(t *testing.T) {
	p := open(t, free(config(t)))
	const held = 3000
	for i := range held {
		publish(t, p, i, projection(i, []string{"munich", "berlin"}[i%2]))
	}
	for _, limit := range []int{1, 7, 50} {
		q := *query("germany")
		q.Limit = limit
		if got := all(t, p, start, caller(-1), q); len(got) != held {
			t.Errorf("pages of %d hold %d candidates, want %d", limit, len(got), held)
		}
	}
}

// One lock stands between queries and changes: no page names what had been withdrawn before it was asked for, and the race detector sees nothing.
func TestQueriesBesideChanges(t *testing.T) {
	p := open(t, free(config(t)))
	var gone sync.Map
	var work sync.WaitGroup
	const writers, rounds = 3, 150
	done := make(chan struct{})
	for w := range writers {
		work.Go(func() {
			for i := range rounds {
				n := w*rounds + i
				row, err := p.Publish(start, caller(n), publication(projection(n, "munich")))
				if err != nil {
					t.Error(err)
					return
				}
				if err := p.Apply(row); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					out, _, _, err := p.Withdraw(start, caller(n), row.Ref)
					if err != nil {
						t.Error(err)
						return
					}
					if err := p.Apply(out); err != nil {
						t.Error(err)
					}
					gone.Store(row.Ref, true)
				}
				p.Synced(start)
				p.Sweep(start, 1)
			}
		})
	}
	var readers sync.WaitGroup
	for r := range 3 {
		readers.Go(func() {
			for {
				before := map[provider.Ref]bool{}
				gone.Range(func(k, _ any) bool { before[k.(provider.Ref)] = true; return true })
				page, err := p.Candidates(start, caller(-2-r), query("munich"))
				if err != nil {
					t.Error(err)
					return
				}
				for _, c := range page.Candidates {
					if before[c.Ref] {
						t.Error("a withdrawn projection was returned")
						return
					}
				}
				if len(page.Candidates) > 0 {
					if _, err := p.Resolve(start, caller(-2-r), page.Candidates[0].CandidateRef); err != nil && code(t, err) != provider.CodeUnknown {
						t.Error(err)
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	work.Wait()
	close(done)
	readers.Wait()
	if got := all(t, p, start, caller(-8), *query("munich")); len(got) != writers*rounds/2 {
		t.Errorf("%d left, want %d", len(got), writers*rounds/2)
	}
}
