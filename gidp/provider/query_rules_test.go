package provider_test

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/wire"
)

func TestP7HierarchiesAreResolved(t *testing.T) {
	p := open(t, config(t))
	refs := map[string]provider.Ref{}
	for i, place := range []string{"munich", "berlin", "germany", "europe", "paris", "tokyo", "atlantis"} {
		refs[place] = publish(t, p, i, projection(i, place))
	}
	silent := projection(50)
	refs["silent"] = publish(t, p, 50, silent)
	for ask, want := range map[string][]string{
		"munich": {"munich", "germany", "europe"}, "germany": {"munich", "berlin", "germany", "europe"}, "paris": {"paris", "europe"}, "japan": {"tokyo"}, "atlantis": {"atlantis"}, "lemuria": nil,
	} {
		got := all(t, p, start, caller(9), *query(ask))
		if len(got) != len(want) {
			t.Errorf("%s: %d candidates, want %v", ask, len(got), want)
		}
		for _, place := range want {
			if !got[refs[place]] {
				t.Errorf("%s does not find %s", ask, place)
			}
		}
	}
	// What says nothing of a dimension is found through another that the query narrows, and never through none.
	q := query("munich")
	q.Projection.Categories = []string{"company_sale"}
	if got := all(t, p, start, caller(9), *q); len(got) != 4 || !got[refs["silent"]] {
		t.Errorf("with a category: %d candidates, want those of munich and the silent one", len(got))
	}
}

func TestP8NoBulkExport(t *testing.T) {
	p := open(t, config(t))
	for i := range 120 {
		publish(t, p, i, projection(i, "munich"))
	}
	for name, change := range map[string]func(*wire.DiscoveryProjection){
		"a root":                func(o *wire.DiscoveryProjection) { o.Geographies = []string{"europe"} },
		"a root beside a label": func(o *wire.DiscoveryProjection) { o.Geographies = []string{"munich", "asia"} },
		"two roots of two trees": func(o *wire.DiscoveryProjection) {
			o.Geographies, o.Domains = []string{"europe"}, []string{"technology"}
		},
		"a root and the relation": func(o *wire.DiscoveryProjection) {
			o.Geographies, o.Relation = []string{"europe"}, []string{wire.Complementary}
		},
	} {
		q := query("munich")
		change(q.Projection)
		if _, err := p.Candidates(start, caller(9), q); code(t, err) != provider.CodeBroad {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*wire.DiscoveryProjection){
		"relation alone": func(o *wire.DiscoveryProjection) { o.Geographies = nil },
		"wildcard":       func(o *wire.DiscoveryProjection) { o.Geographies = []string{"*"} },
		"empty label":    func(o *wire.DiscoveryProjection) { o.Geographies = []string{""} },
	} {
		q := query("munich")
		change(q.Projection)
		if _, err := p.Candidates(start, caller(9), q); code(t, err) != provider.CodeRefused {
			t.Errorf("%s: %v", name, err)
		}
	}
	late := query("munich")
	late.Projection.ExpiresAt = start
	if _, err := p.Candidates(start, caller(9), late); code(t, err) != provider.CodeRefused {
		t.Errorf("an expired query: %v", err)
	}
	// An attribute that nobody names does not open a root beside it.
	q := query("europe")
	q.Attributes = map[string][]string{"stage": {"nobody-has-this"}}
	if got := all(t, p, start, caller(9), *q); len(got) != 0 {
		t.Errorf("%d candidates through an attribute that nobody names", len(got))
	}

	first, _ := p.Candidates(start, caller(9), query("munich"))
	second, _ := p.Candidates(start, caller(9), query("munich"))
	same := 0
	for i := range first.Candidates {
		if first.Candidates[i].Ref == second.Candidates[i].Ref {
			same++
		}
	}
	if len(first.Candidates) != 50 || same > 10 {
		t.Errorf("two answers to one query agree at %d of %d places", same, len(first.Candidates))
	}
	big := query("munich")
	big.Limit = 100_000
	if page, err := p.Candidates(start, caller(9), big); err != nil || len(page.Candidates) != provider.MaxLimit {
		t.Errorf("a large limit: %d candidates, %v", len(page.Candidates), err)
	}
	if got := all(t, p, start, caller(9), *query("munich")); len(got) != 120 {
		t.Errorf("the pages hold %d candidates, want 120", len(got))
	}
}

func TestTokensAreBoundToCallerQueryAndTime(t *testing.T) {
	p := open(t, config(t))
	for i := range 60 {
		publish(t, p, i, projection(i, "munich"))
	}
	page, err := p.Candidates(start, caller(9), query("munich"))
	if err != nil || page.Cursor == "" {
		t.Fatal(err)
	}
	next := func(c provider.Caller, place, cursor string, after time.Duration) error {
		q := query(place)
		q.Cursor = cursor
		_, err := p.Candidates(start.Add(after), c, q)
		return err
	}
	if err := next(caller(9), "munich", page.Cursor, 9*time.Minute); err != nil {
		t.Errorf("a cursor as it was given: %v", err)
	}
	ref := page.Candidates[0].CandidateRef
	if _, err := p.Resolve(start.Add(9*time.Minute), caller(9), ref); err != nil {
		t.Errorf("a candidate reference as it was given: %v", err)
	}
	for name, err := range map[string]error{
		"cursor of another key": next(caller(8), "munich", page.Cursor, 0), "cursor of another query": next(caller(9), "germany", page.Cursor, 0),
		"cursor too late": next(caller(9), "munich", page.Cursor, 10*time.Minute), "cursor cut": next(caller(9), "munich", page.Cursor[1:], 0), "a candidate as cursor": next(caller(9), "munich", ref, 0),
	} {
		if code(t, err) != provider.CodeStale {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range len(ref) - 1 {
		changed := []byte(ref)
		changed[i] = 'A' + (changed[i]-'A'+1)%26
		if _, err := p.Resolve(start, caller(9), string(changed)); code(t, err) != provider.CodeStale {
			t.Fatalf("a reference changed at %d: %v", i, err)
		}
	}
	if _, err := p.Resolve(start, caller(8), ref); code(t, err) != provider.CodeStale {
		t.Errorf("a candidate of another key: %v", err)
	}
	if _, err := p.Resolve(start.Add(10*time.Minute), caller(9), ref); code(t, err) != provider.CodeStale {
		t.Errorf("a candidate too late: %v", err)
	}
}

func TestP9SmallSetsArePadded(t *testing.T) {
	cfg := config(t)
	cfg.MinimumSet = 5
	p := open(t, cfg)
	only := publish(t, p, 0, projection(0, "munich"))
	for i := 1; i < 6; i++ {
		publish(t, p, i, projection(i, "berlin"))
	}
	publish(t, p, 50, projection(50, "paris"))
	got := all(t, p, start, caller(9), *query("munich"))
	if len(got) != 6 || !got[only] {
		t.Errorf("%d candidates, want those of the country", len(got))
	}
	q := *query("munich")
	q.Limit = 2
	if got := all(t, p, start, caller(9), q); len(got) != 6 || !got[only] {
		t.Errorf("in pages of two: %d candidates, want 6", len(got))
	}
	if got := all(t, p, start, caller(9), *query("paris")); len(got) != 1 {
		t.Errorf("%d candidates of the country, and no root is opened for a seventh: want 1", len(got))
	}
}

func TestP10Quotas(t *testing.T) {
	cfg := config(t)
	cfg.Tiers = map[string]provider.Limits{"": {provider.Write: 2, provider.Search: 2, provider.Resolving: 1, provider.Candidates: 100}, "member": {4, 4, 4, 4}}
	cfg.Callers = 60
	p := open(t, cfg)
	ref := publish(t, p, 1, projection(1, "munich"))
	withdraw(t, p, 1, ref)
	_, _, _, err := p.Withdraw(start, caller(1), ref)
	var e *provider.Error
	if !errors.As(err, &e) || e.Code != provider.CodeQuota || e.RetryAfter <= 0 || e.RetryAfter > time.Hour {
		t.Fatalf("the third write: %v", err)
	}
	if _, _, _, err := p.Withdraw(start.Add(e.RetryAfter-time.Second), caller(1), ref); code(t, err) != provider.CodeQuota {
		t.Errorf("before RetryAfter: %v", err)
	}
	if _, _, _, err := p.Withdraw(start.Add(e.RetryAfter), caller(1), ref); err != nil {
		t.Errorf("after RetryAfter: %v", err)
	}
	if _, _, _, err := p.Withdraw(start, caller(1), ref); err != nil {
		t.Errorf("an earlier clock: %v", err)
	}
	if _, _, _, err := p.Withdraw(start, caller(1), ref); code(t, err) != provider.CodeQuota {
		t.Errorf("an earlier clock opens a new hour: %v", err)
	}

	// Fresh keys do not help: the network is counted too, and the loopback is not.
	from := func(n int, addr, tier string) error {
		c := caller(100 + n)
		c.Addr, c.Tier = netip.MustParseAddr(addr), tier
		_, _, _, err := p.Withdraw(start, c, ref)
		if code(t, err) == provider.CodeUnknown { // admitted; the reference is not theirs
			return nil
		}
		return err
	}
	n := 0
	for ; n < 60 && from(n, fmt.Sprintf("203.0.113.%d", n), "") == nil; n++ {
	}
	if n != 40 {
		t.Errorf("one network made %d writes with fresh keys, want 20 keys' worth of 2", n)
	}
	if err := from(200, "203.0.113.77", "member"); err != nil {
		t.Errorf("a member of the same network: %v", err)
	}
	if err := from(201, "203.0.114.1", ""); err != nil {
		t.Errorf("another network: %v", err)
	}
	if err := from(202, "::ffff:203.0.113.9", ""); code(t, err) != provider.CodeQuota {
		t.Errorf("the network in another spelling: %v", err)
	}
	if err := from(203, "203.0.115.1", "no such tier"); code(t, err) != provider.CodeQuota {
		t.Errorf("a tier that is not configured: %v", err)
	}
	// Candidates are counted for the network as well.
	small := config(t)
	small.Tiers = map[string]provider.Limits{"": {9, 9, 9, 2}}
	q := open(t, small)
	for i := range 3 {
		publish(t, q, i, projection(i, "munich"))
	}
	given := 0
	for n := range 30 {
		c := caller(700 + n)
		c.Addr = netip.MustParseAddr("198.51.100.4")
		for {
			page, err := q.Candidates(start, c, query("munich"))
			if err != nil {
				break
			}
			given += len(page.Candidates)
		}
	}
	if given != 40 {
		t.Errorf("one network was given %d candidates, want 20 keys' worth of 2", given)
	}
	// What a query does not return is not charged.
	quiet := caller(800)
	for range 5 {
		if page, err := q.Candidates(start, quiet, query("tokyo")); err != nil || len(page.Candidates) != 0 {
			t.Fatal(page, err)
		}
	}
	admitted := 0
	for n := range 100 {
		if from(300+n, "::1", "") == nil {
			admitted++
		}
	}
	if admitted == 0 || admitted > 60 {
		t.Errorf("%d fresh keys counted, want no more than the bound of 60", admitted)
	}
}

// What one querent sees of the index in a day is bounded by its quota and not by its diligence.
func TestP8EnumerationIsBoundedByTheQuota(t *testing.T) {
	cfg := free(config(t))
	limits := provider.DefaultLimits
	cfg.Tiers["querent"] = limits
	p := open(t, cfg)
	const held = 5000
	for i := range held {
		publish(t, p, i, projection(i, []string{"munich", "berlin", "paris", "tokyo"}[i%4]))
	}
	c := caller(-5)
	c.Tier = "querent"
	seen, queries, hour := map[provider.Ref]bool{}, 0, 0
	for refused := false; !refused; {
		for _, place := range []string{"germany", "france", "japan"} {
			q := query(place)
			for {
				page, err := p.Candidates(start, c, q)
				if code(t, err) == provider.CodeQuota {
					refused = true
					break
				}
				queries++
				for _, c := range page.Candidates {
					hour++
					seen[c.Ref] = true
				}
				if q.Cursor = page.Cursor; page.Cursor == "" {
					break
				}
			}
		}
	}
	if hour != limits[provider.Candidates] || len(seen) > hour {
		t.Errorf("%d candidates in an hour, want the quota of %d", hour, limits[provider.Candidates])
	}
	t.Logf("with a quota of %d candidates an hour one key saw %d of %d projections in %d queries; at most %d a day, %d resolved, and 20 times that for one network",
		limits[provider.Candidates], len(seen), held, queries, 24*limits[provider.Candidates], 24*limits[provider.Resolving])
}

func TestBans(t *testing.T) {
	p := open(t, config(t))
	publish(t, p, 1, projection(1, "munich"))
	page, err := p.Candidates(start, caller(9), query("munich"))
	if err != nil || len(page.Candidates) != 1 {
		t.Fatal(err)
	}
	until := start.Add(time.Minute)
	if err := p.Ban(start, caller(1).Key, until); err != nil {
		t.Fatal(err)
	}
	if page, err := p.Candidates(start, caller(9), query("munich")); err != nil || len(page.Candidates) != 0 {
		t.Errorf("the projection of a banned key: %v, %v", page, err)
	}
	if _, err := p.Resolve(start, caller(9), page.Candidates[0].CandidateRef); code(t, err) != provider.CodeUnknown {
		t.Errorf("resolve of it: %v", err)
	}
	if _, err := p.Candidates(start, caller(1), query("munich")); code(t, err) != provider.CodeBanned {
		t.Errorf("a query of a banned key: %v", err)
	}
	if page, err := p.Candidates(until, caller(9), query("munich")); err != nil || len(page.Candidates) != 1 {
		t.Errorf("when the ban ends: %v, %v", page, err)
	}
	far := caller(2)
	far.Addr = netip.MustParseAddr("2001:db8:1:ffff::1")
	if err := p.BanNetwork(start, far, until); err != nil {
		t.Fatal(err)
	}
	near := caller(3)
	near.Addr = netip.MustParseAddr("2001:db8:1::7")
	if _, err := p.Candidates(start, near, query("munich")); code(t, err) != provider.CodeBanned {
		t.Errorf("the same /48: %v", err)
	}
	near.Addr = netip.MustParseAddr("2001:db8:2::7")
	if _, err := p.Candidates(start, near, query("munich")); err != nil {
		t.Errorf("another /48: %v", err)
	}
	if err := p.BanNetwork(start, caller(1), until); err == nil {
		t.Error("the loopback was banned")
	}
}

// P-12 and P-11: the types have no place for a score, a total or a date.
func TestP12AnAnswerHasNoScoreAndNoTotal(t *testing.T) {
	for _, c := range []struct {
		v    any
		want []string
	}{{provider.Page{}, []string{"Candidates", "Cursor"}}, {provider.Candidate{}, []string{"CandidateRef", "Ref"}}, {provider.Endpoint{}, []string{"URL", "Ref"}}} {
		var got []string
		for i := range reflect.TypeOf(c.v).NumField() {
			got = append(got, reflect.TypeOf(c.v).Field(i).Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%T has %v, want %v", c.v, got, c.want)
		}
	}
}
