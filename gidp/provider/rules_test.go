package provider_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp/provider"
)

func TestP1ReferencesAreRandomAndDerivedFromNothing(t *testing.T) {
	refs := map[provider.Ref]bool{}
	for seed := range uint64(50) {
		cfg := config(t)
		cfg.Random = newStream(seed)
		refs[publish(t, open(t, cfg), 1, projection(1, "munich"))] = true
	}
	if len(refs) != 50 {
		t.Errorf("one projection under 50 draws got %d references, want 50", len(refs))
	}
	cfg := config(t)
	cfg.Random = bytes.NewReader(make([]byte, 15)) // one byte short of 128 bits
	if _, err := open(t, cfg).Publish(start, caller(1), publication(projection(1, "munich"))); code(t, err) != provider.CodeInternal || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reference of fewer bits: %v", err)
	}
}

func TestP2OnlyTheKeyChangesItsProjection(t *testing.T) {
	p := open(t, config(t))
	ref := publish(t, p, 1, projection(1, "munich"))
	if _, err := p.Update(start, caller(2), ref, publication(projection(2, "berlin"))); code(t, err) != provider.CodeUnknown {
		t.Errorf("update by another key: %v", err)
	}
	if _, change, ack, err := p.Withdraw(start, caller(2), ref); code(t, err) != provider.CodeUnknown || change || !ack.EffectiveBy.IsZero() {
		t.Errorf("withdrawal by another key: change %v, %v, %v", change, ack, err)
	}
	_, errOther := p.Update(start, caller(2), ref, publication(projection(2, "berlin")))
	_, errNone := p.Update(start, caller(2), provider.Ref{9}, publication(projection(2, "berlin")))
	if errOther.Error() != errNone.Error() {
		t.Errorf("a foreign reference reads %q, an unknown one %q: the difference tells what exists", errOther, errNone)
	}

	again, err := p.Publish(start, caller(1), publication(projection(3, "berlin")))
	if err != nil || again.Ref != ref || again.Revision != 2 {
		t.Errorf("a repeated publication: %v revision %d, %v; want the same reference", again.Ref, again.Revision, err)
	}
	withdraw(t, p, 1, ref)
	if _, err := p.Publish(start, caller(1), publication(projection(4, "berlin"))); code(t, err) != provider.CodeRefused {
		t.Errorf("a key whose projection was withdrawn: %v", err)
	}
}

// Everything that a provider holds or hands out of two projections of one interest, but the labels, is searched for common bytes.
func TestP3TwoProjectionsOfOneInterestShareNothing(t *testing.T) {
	p := open(t, config(t))
	var lives []provider.Life
	var rows []provider.Row
	for i := range 2 {
		now := start.Add(time.Duration(i) * time.Hour)
		life, ok := provider.NewLife(now, 60*24*time.Hour, 7, lives)
		if !ok {
			t.Fatal("no life")
		}
		lives = append(lives, life)
		o := projection(i, []string{"munich", "germany"}[i])
		o.InterestRef = "the-same-interest" // a publisher's mistake; it is not kept
		o.ExpiresAt = life.Expires
		row, err := p.Publish(now, caller(i), publication(o))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if a, b := lives[0], lives[1]; a.Expires.Equal(b.Expires) || a.Expires.Sub(a.Published)/24/time.Hour == b.Expires.Sub(b.Published)/24/time.Hour || a.Expires.Truncate(24*time.Hour) != a.Expires {
		t.Errorf("lives %v and %v", a, b)
	}
	if strings.Contains(fmt.Sprintf("%+v", rows), "the-same-interest") {
		t.Error("interest_ref is kept")
	}
	suffix := func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }
	for name, pair := range map[string][2]string{
		"reference": {string(rows[0].Ref[:]), string(rows[1].Ref[:])}, "owner": {string(rows[0].Owner[:]), string(rows[1].Owner[:])},
		"endpoint": {suffix(rows[0].Endpoint), suffix(rows[1].Endpoint)},
	} {
		if n := longestCommon(pair[0], pair[1]); n >= 6 {
			t.Errorf("%s: %d bytes in common", name, n)
		}
	}
	var page provider.Page
	if page, _ = p.Candidates(start, caller(9), query("germany")); len(page.Candidates) != 2 {
		t.Fatalf("%d candidates, want 2", len(page.Candidates))
	}
	// A candidate reference begins with its own expiry, which is the querent's and not the publisher's.
	if n := longestCommon(page.Candidates[0].CandidateRef[6:], page.Candidates[1].CandidateRef[6:]); n >= 6 {
		t.Errorf("candidate references: %d characters in common", n)
	}

	if _, err := p.Publish(start, caller(5), publication(projection(1, "paris"))); code(t, err) != provider.CodeRefused {
		t.Errorf("an endpoint that another projection has: %v", err)
	}
}

func longestCommon(a, b string) int {
	best := 0
	for i := range a {
		for j := range b {
			n := 0
			for i+n < len(a) && j+n < len(b) && a[i+n] == b[j+n] {
				n++
			}
			best = max(best, n)
		}
	}
	return best
}

func TestP3LivesDifferUntilNoneIsLeft(t *testing.T) {
	var lives []provider.Life
	for draw := uint64(3); ; draw += 11 {
		life, ok := provider.NewLife(start, 20*24*time.Hour, draw, lives)
		if !ok {
			break
		}
		if span := life.Expires.Sub(start); span < 9*24*time.Hour || span > 20*24*time.Hour {
			t.Errorf("span %v outside the second half", span)
		}
		lives = append(lives, life)
	}
	if len(lives) < 10 {
		t.Errorf("%d lives of 20 days, want the days of the second half", len(lives))
	}
	if _, ok := provider.NewLife(start, time.Hour, 0, nil); ok {
		t.Error("a life of less than a day")
	}
	if life, _ := provider.NewLife(start, 1000*24*time.Hour, 45, nil); life.Expires.Sub(start) > 90*24*time.Hour {
		t.Errorf("a life of %v", life.Expires.Sub(start))
	}
}

func TestP4Refusals(t *testing.T) {
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("l%d", i))
		}
		return out
	}
	for name, c := range map[string]struct {
		change func(*provider.Publication)
		place  string
	}{
		"relation alone":          {func(p *provider.Publication) { p.Projection.Categories, p.Projection.Geographies = nil, nil }, "projection"},
		"relation with direction": {func(p *provider.Publication) { p.Projection.Relation = []string{"seller_to_buyer"} }, "projection/relation"},
		"91 days":                 {func(p *provider.Publication) { p.Projection.ExpiresAt = start.Add(91 * 24 * time.Hour) }, "projection/expires_at"},
		"expired":                 {func(p *provider.Publication) { p.Projection.ExpiresAt = start }, "projection/expires_at"},
		"identity beside":         {func(p *provider.Publication) { p.Attributes = map[string][]string{"organisation_name": {"acme"}} }, "attributes"},
		"member repeated":         {func(p *provider.Publication) { p.Attributes = map[string][]string{"geography": {"paris"}} }, "attributes"},
		"an address":              {func(p *provider.Publication) { p.Projection.Categories = []string{"a@b"} }, "projection/categories"},
		"a host":                  {func(p *provider.Publication) { p.Projection.Categories = []string{"example.org"} }, "projection/categories"},
		"a name":                  {func(p *provider.Publication) { p.Projection.Categories = []string{"Acme GmbH"} }, "projection/categories"},
		"a register number":       {func(p *provider.Publication) { p.Projection.Categories = []string{"hrb-123456"} }, "projection/categories"},
		"wildcard":                {func(p *provider.Publication) { p.Projection.Geographies = []string{"*"} }, "projection/geographies"},
		"empty label":             {func(p *provider.Publication) { p.Projection.Domains = []string{""} }, "projection/domains"},
		"long label":              {func(p *provider.Publication) { p.Projection.Domains = []string{strings.Repeat("a", 65)} }, "projection/domains"},
		"17 labels":               {func(p *provider.Publication) { p.Projection.Domains = many(17) }, "projection/domains"},
		"33 labels":               {func(p *provider.Publication) { p.Projection.Domains, p.Projection.Categories = many(16), many(16) }, "projection/geographies"},
		"another hierarchy":       {func(p *provider.Publication) { p.Hierarchies = map[string]string{"geography": "geo-2"} }, "hierarchies"},
		"hierarchy of none":       {func(p *provider.Publication) { p.Hierarchies = map[string]string{"stage": ""} }, "hierarchies"},
	} {
		pub := publication(projection(1, "munich"))
		c.change(pub)
		_, err := open(t, config(t)).Publish(start, caller(1), pub)
		var e *provider.Error
		if !errors.As(err, &e) || e.Code != provider.CodeRefused || e.Place != c.place {
			t.Errorf("%s: %v, want a refusal at %s", name, err, c.place)
		}
	}
	good := publication(projection(1, "munich"))
	good.Attributes, good.Hierarchies = map[string][]string{"stage": {"seed"}}, map[string]string{"geography": "geo-1"}
	if _, err := open(t, config(t)).Publish(start, caller(1), good); err != nil {
		t.Errorf("what every rule lets pass: %v", err)
	}
}

func TestP4Endpoints(t *testing.T) {
	bad := []string{
		"http://agents.example.org/a2a/x", "https://", "agents.example.org", "https://10.0.0.1/a", "https://8.8.8.8/a", "https://[::1]/a", "https://127.1/a", "https://0x7f000001/a",
		"https://2130706433/a", "https://localhost/a", "https://a.localhost/", "https://router.local/a", "https://x.internal./a", "https://u:p@a.example.org/", "https://a.example.org/?q=1",
		"https://a.example.org/#f", "https://a.example.org/#", "https://a.example.org/?", "mailto:a@example.org", "https://intranet/a", "https://a.example.org/" + strings.Repeat("x", 600), "https://a b/",
	}
	private := config(t)
	private.Private = true
	for _, e := range append(bad, "https://agents.example.org:8443/a2a/x") {
		o := projection(1, "munich")
		o.Endpoint = e
		_, err := open(t, config(t)).Publish(start, caller(1), publication(o))
		if want := slices.Contains(bad, e); (err != nil) != want {
			t.Errorf("%q: %v, want refused %v", e, err, want)
		}
	}
	o := projection(1, "munich")
	o.Endpoint = "http://127.0.0.1:4000/a2a/x"
	if _, err := open(t, private).Publish(start, caller(1), publication(o)); err != nil {
		t.Errorf("a closed network: %v", err)
	}
}

// Two replicas share the rows; the one that does not hear from its feed stops before the published latency is over.
func TestP5WithdrawalHoldsWithinTheLatencyAtEveryReplica(t *testing.T) {
	cfg := config(t)
	cfg.Replica, cfg.Latency = true, 30*time.Second
	first, second := open(t, cfg), open(t, cfg)
	for _, p := range []*provider.Provider{first, second} {
		p.Synced(start)
	}
	row, err := first.Publish(start, caller(1), publication(projection(1, "munich")))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Apply(row), second.Apply(row)); err != nil {
		t.Fatal(err)
	}
	found, err := second.Candidates(start, caller(9), query("munich"))
	if err != nil || len(found.Candidates) != 1 {
		t.Fatal(found, err)
	}
	gone, change, ack, err := first.Withdraw(start, caller(1), row.Ref)
	if err != nil || !change || !ack.EffectiveBy.Equal(start.Add(cfg.Latency)) {
		t.Fatal(change, ack, err)
	}
	if err := first.Apply(gone); err != nil {
		t.Fatal(err)
	}
	if page, err := first.Candidates(start, caller(9), query("munich")); err != nil || len(page.Candidates) != 0 {
		t.Errorf("after the acknowledgement: %v, %v", page, err)
	}
	// The feed of the second has stopped: it may return the projection until the instant that was acknowledged, and not after.
	for _, after := range []time.Duration{0, 30 * time.Second, 31 * time.Second, time.Hour} {
		page, err := second.Candidates(start.Add(after), caller(9), query("munich"))
		if late := start.Add(after).After(ack.EffectiveBy); late && code(t, err) != provider.CodeBehind || !late && len(page.Candidates) != 1 {
			t.Errorf("%v after: %d candidates, %v", after, len(page.Candidates), err)
		}
	}
	if _, err := second.Resolve(start.Add(31*time.Second), caller(9), found.Candidates[0].CandidateRef); code(t, err) != provider.CodeBehind {
		t.Errorf("resolve behind: %v", err)
	}
	if err := second.Apply(gone); err != nil {
		t.Fatal(err)
	}
	second.Synced(start.Add(31 * time.Second))
	if page, err := second.Candidates(start.Add(31*time.Second), caller(9), query("munich")); err != nil || len(page.Candidates) != 0 {
		t.Errorf("caught up: %v, %v", page, err)
	}
	if _, err := second.Resolve(start.Add(31*time.Second), caller(9), found.Candidates[0].CandidateRef); code(t, err) != provider.CodeUnknown {
		t.Errorf("resolve of a withdrawn projection: %v", err)
	}

	for range 2 { // idempotent, and of a reference that was never there
		if _, change, ack, err := first.Withdraw(start, caller(1), row.Ref); err != nil || change || ack.EffectiveBy.IsZero() {
			t.Errorf("again: change %v, %v, %v", change, ack, err)
		}
	}
	if _, change, ack, err := first.Withdraw(start, caller(1), provider.Ref{1}); err != nil || change || ack.EffectiveBy.IsZero() {
		t.Errorf("never there: change %v, %v, %v", change, ack, err)
	}
}

func TestWithdrawalIsFinalWhateverTheOrderOfRows(t *testing.T) {
	p := open(t, config(t))
	ref := publish(t, p, 1, projection(1, "munich"))
	update, err := p.Update(start, caller(1), ref, publication(projection(2, "munich")))
	if err != nil {
		t.Fatal(err)
	}
	withdraw(t, p, 1, ref)
	for _, revision := range []uint32{update.Revision, update.Revision + 1, 99} {
		update.Revision = revision
		if err := p.Apply(update); err != nil {
			t.Fatal(err)
		}
		if page, _ := p.Candidates(start, caller(9), query("munich")); len(page.Candidates) != 0 {
			t.Errorf("a row of revision %d brought a withdrawn projection back", revision)
		}
	}
}

func TestP6ExpiryHoldsAtReadWithoutASweep(t *testing.T) {
	p := open(t, config(t))
	o := projection(1, "munich")
	o.ExpiresAt = start.Add(90 * time.Second).Add(999 * time.Millisecond)
	publish(t, p, 1, o)
	before, err := p.Candidates(start.Add(89*time.Second), caller(9), query("munich"))
	if err != nil || len(before.Candidates) != 1 {
		t.Fatal(before, err)
	}
	if e, err := p.Resolve(start.Add(89*time.Second), caller(9), before.Candidates[0].CandidateRef); err != nil || e.URL != o.Endpoint {
		t.Fatal(e, err)
	}
	after := start.Add(90 * time.Second)
	if page, err := p.Candidates(after, caller(9), query("munich")); err != nil || len(page.Candidates) != 0 {
		t.Errorf("at its expiry: %v, %v", page, err)
	}
	if _, err := p.Resolve(after, caller(9), before.Candidates[0].CandidateRef); code(t, err) != provider.CodeUnknown {
		t.Errorf("resolve at its expiry: %v", err)
	}
	if n := p.Sweep(after, 10); n != 1 {
		t.Errorf("swept %d, want 1", n)
	}
	publish(t, p, 2, projection(2, "munich"))
	if page, err := p.Candidates(after, caller(9), query("munich")); err != nil || len(page.Candidates) != 1 {
		t.Errorf("a slot used again: %v, %v", page, err)
	}
}

func TestInfoIsTheSameWhateverIsHeld(t *testing.T) {
	p := open(t, config(t))
	empty := p.Info()
	publish(t, p, 1, projection(1, "munich"))
	if got := p.Info(); !reflect.DeepEqual(got, empty) {
		t.Errorf("%+v, want %+v", got, empty)
	}
	if empty.Latency != time.Minute || empty.Hierarchies["geography"] != "geo-1" || len(empty.Dimensions) != 5 || empty.Federated {
		t.Errorf("%+v", empty)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	row := func(n byte) provider.Row {
		return provider.Row{Ref: provider.Ref{n}, Owner: provider.Thumbprint{n}, Revision: 1, Expires: start.Add(time.Hour), Endpoint: fmt.Sprint("https://a.example.org/", n)}
	}
	broken := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		change func(*provider.Config)
		rows   iter.Seq2[provider.Row, error]
		want   error
	}{
		"no secret":     {change: func(c *provider.Config) { c.Secret = [32]byte{} }},
		"no randomness": {change: func(c *provider.Config) { c.Random = nil }},
		"one name twice": {change: func(c *provider.Config) {
			c.Dimensions = []provider.Dimension{{Name: "a"}, {Name: "a"}}
		}},
		"minimum set above a page": {change: func(c *provider.Config) { c.MinimumSet = 51 }},
		"more rows than capacity": {change: func(c *provider.Config) { c.Capacity = 1 }, want: provider.ErrFull, rows: func(yield func(provider.Row, error) bool) {
			_ = yield(row(1), nil) && yield(row(2), nil)
		}},
		"a row of another owner": {want: provider.ErrConflict, rows: func(yield func(provider.Row, error) bool) {
			other := row(2)
			other.Ref = row(1).Ref
			_ = yield(row(1), nil) && yield(other, nil)
		}},
		"rows that end early": {want: broken, rows: func(yield func(provider.Row, error) bool) { yield(provider.Row{}, broken) }},
	} {
		cfg := config(t)
		if c.change != nil {
			c.change(&cfg)
		}
		if _, err := provider.New(cfg, c.rows); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReferenceAsText(t *testing.T) {
	for _, r := range []provider.Ref{{}, {1, 2, 255}, {15: 9}} {
		if back, ok := provider.ParseRef(r.String()); !ok || back != r {
			t.Errorf("%v comes back as %v, %v", r, back, ok)
		}
		if _, ok := provider.ParseRef(r.String() + "A"); ok {
			t.Errorf("%v is read with a character more", r)
		}
	}
}
