package providerhttp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
)

func TestLifeOfAProjection(t *testing.T) {
	c := &clock{at: start}
	w := serve(t, newRows(), c.now, nil)
	ctx := t.Context()
	key, asker := newKey(t), newKey(t)
	p := projection(t, start, "munich")
	p.Endpoint = strings.Replace(p.Endpoint, "https://agents.example.org", "http://127.0.0.1:9", 1)
	ref, latency, err := w.client.Publish(ctx, w.origin, key, providerhttp.Publication{Projection: p, Hierarchies: map[string]string{"geography": "geography/1"}})
	if err != nil || latency != time.Minute {
		t.Fatal(latency, err)
	}
	if again, _, err := w.client.Publish(ctx, w.origin+"/", key, providerhttp.Publication{Projection: p}); err != nil || again != ref {
		t.Fatalf("publishing again gives %q: %v", again, err)
	}
	ask := providerhttp.Query{Projection: &wire.DiscoveryProjection{Geographies: []string{"germany"}}}
	page, err := w.client.Candidates(ctx, w.origin+"/gidp/v1/", asker, ask)
	if err != nil || len(page.Candidates) != 1 || page.Candidates[0].ProjectionRef != ref || page.Cursor != "" {
		t.Fatalf("%+v %v", page, err)
	}
	endpoint, again, err := w.client.Resolve(ctx, w.origin, asker, page.Candidates[0].Ref)
	if err != nil || endpoint != p.Endpoint || again != ref {
		t.Fatal(endpoint, again, err)
	}
	_, _, err = w.client.Resolve(ctx, w.origin, newKey(t), page.Candidates[0].Ref)
	refusal(t, err, provider.CodeStale)

	p.Geographies, p.ProjectionID = []string{"france"}, token(t)
	if _, _, err := w.client.Update(ctx, w.origin, newKey(t), ref, providerhttp.Publication{Projection: p}); err == nil {
		t.Fatal("another key updated it")
	}
	if same, _, err := w.client.Update(ctx, w.origin, key, ref, providerhttp.Publication{Projection: p}); err != nil || same != ref {
		t.Fatal(same, err)
	}
	if got := found(t, open(t, options(newRows(), c.now)), start, "germany"); got != nil {
		t.Fatal(got)
	}
	page, err = w.client.Candidates(ctx, w.origin, asker, ask)
	if err != nil || len(page.Candidates) != 0 {
		t.Fatalf("found where it no longer is: %+v %v", page, err)
	}
	_, err = w.client.Withdraw(ctx, w.origin, newKey(t), ref)
	refusal(t, err, provider.CodeUnknown)
	for range 2 {
		by, err := w.client.Withdraw(ctx, w.origin, key, ref)
		if err != nil || !by.Equal(start.Add(time.Minute)) {
			t.Fatal(by, err)
		}
	}
	ask.Projection.Geographies = []string{"france"}
	if page, err := w.client.Candidates(ctx, w.origin, asker, ask); err != nil || len(page.Candidates) != 0 {
		t.Fatalf("found after its withdrawal: %+v %v", page, err)
	}
	_, _, err = w.client.Publish(ctx, w.origin, key, providerhttp.Publication{Projection: p})
	refusal(t, err, provider.CodeRefused)

	info, err := w.client.Info(ctx, w.origin)
	if err != nil || info.WithdrawLatency != 60 || info.Hierarchies["geography"] != "geography/1" || info.Quotas.PerKey[""].Search != 1200 || info.LogRetention.Days != 7 || info.Federated {
		t.Fatalf("%+v %v", info, err)
	}
}

// What a replica publishes and withdraws holds at the other within the published latency, measured with the clock on the wall.
func TestWithdrawalLatency(t *testing.T) {
	const published = 5 * time.Second
	r := newRows()
	change := func(o *providerhttp.Options) { o.Poll, o.Latency = 50*time.Millisecond, published }
	a, b := serve(t, r, time.Now, change), serve(t, r, time.Now, change)
	run(t, a.Service)
	run(t, b.Service)
	const many = 24
	refs := map[string]bool{}
	withdraw := map[string]func() time.Time{}
	for range many {
		key := newKey(t)
		p := projection(t, time.Now(), "munich")
		ref, _, err := a.client.Publish(t.Context(), a.origin, key, providerhttp.Publication{Projection: p})
		if err != nil {
			t.Fatal(err)
		}
		refs[ref] = true
		withdraw[ref] = func() time.Time {
			by, err := a.client.Withdraw(t.Context(), a.origin, key, ref)
			if err != nil {
				t.Fatal(err)
			}
			return by
		}
	}
	asker := newKey(t)
	seen := func() []string {
		page, err := b.client.Candidates(t.Context(), b.origin, asker, providerhttp.Query{Projection: &wire.DiscoveryProjection{Geographies: []string{"germany"}}})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range page.Candidates {
			out = append(out, c.ProjectionRef)
		}
		return out
	}
	for end := time.Now().Add(time.Minute); len(seen()) < many; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other replica never found them all")
		}
	}
	acknowledged, promised := map[string]time.Time{}, map[string]time.Time{}
	for ref, do := range withdraw {
		promised[ref] = do()
		acknowledged[ref] = time.Now()
	}
	worst := time.Duration(0)
	for {
		left := seen()
		at := time.Now()
		for ref := range refs {
			if slices.Contains(left, ref) {
				worst = max(worst, at.Sub(acknowledged[ref]))
				if at.After(promised[ref]) {
					t.Fatalf("returned %s after the promised instant", at.Sub(promised[ref]))
				}
			}
		}
		if len(left) == 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Logf("%d withdrawals at one replica were returned by the other for at most %s; published are %s", many, worst.Round(time.Millisecond), published)
	if worst > published {
		t.Errorf("%s", worst)
	}
}

// A replica that cannot read its feed may not know the latest withdrawals: it answers nothing.
func TestReplicaBehindItsFeed(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	o := options(r, c.now)
	o.Poll = time.Millisecond
	a, b := open(t, o), open(t, o)
	key := newKey(t)
	ref := publish(t, a, key, start, projection(t, start, "munich"))
	run(t, b)
	await(t, func() bool { return len(found(t, b, c.now(), "munich")) == 1 })
	r.fail(errors.New("the database is gone"))
	c.step(59 * time.Second)
	if h := b.Health(); h.Behind || len(found(t, b, c.now(), "munich")) != 1 {
		t.Errorf("behind before the latency is over: %+v", h)
	}
	c.step(2 * time.Second)
	refused(t, querying(t, newKey(t), c.now(), "munich").send(t, b.Handler()), 503, provider.CodeBehind)
	refused(t, withdrawing(key, c.now(), ref).send(t, b.Handler()), 503, providerhttp.CodeUnavailable)
	if !b.Health().Behind {
		t.Error("Health does not say it")
	}
	r.fail(nil)
	await(t, func() bool { return !b.Health().Behind })
	if len(found(t, b, c.now(), "munich")) != 1 {
		t.Error("it did not come back")
	}
}

func await(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came")
		}
	}
}

func TestExpiryAtRead(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	s := open(t, options(r, c.now))
	p := projection(t, start, "munich")
	p.ExpiresAt = start.Add(30 * time.Second)
	publish(t, s, newKey(t), start, p)
	asker := newKey(t)
	page := said[providerhttp.Page](t, querying(t, asker, start, "munich").send(t, s.Handler()), 200)
	if len(page.Candidates) != 1 {
		t.Fatal("not found before")
	}
	c.step(30 * time.Second)
	if len(found(t, s, c.now(), "munich")) != 0 {
		t.Error("found at its expiry")
	}
	resolve := call{method: "POST", path: "/gidp/v1/candidates/" + page.Candidates[0].Ref + "/resolve", key: asker, at: c.now(), body: `{"key":` + keyText(asker) + `}`}
	refused(t, resolve.send(t, s.Handler()), 404, provider.CodeUnknown)
	if len(found(t, open(t, options(r, c.now)), c.now(), "munich")) != 0 {
		t.Error("found after a restart")
	}
}

// Changes at a replica that has not heard of the projection yet, and of one that has changed elsewhere since.
func TestReplicasShareOneTruth(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	a, b := open(t, options(r, c.now)), open(t, options(r, c.now)) // neither polls
	key := newKey(t)
	p := projection(t, start, "munich")
	ref := publish(t, a, key, start, p)
	if again := publish(t, b, key, start, p); again != ref {
		t.Fatalf("published again elsewhere as %q, not %q", again, ref)
	}
	said[receipt](t, updating(t, key, start, ref, p).send(t, a.Handler()), 200)
	said[receipt](t, updating(t, key, start, ref, p).send(t, b.Handler()), 200)
	other := projection(t, start, "berlin")
	second := publish(t, a, newKey(t), start, other)
	refused(t, withdrawing(newKey(t), start, second).send(t, b.Handler()), 404, provider.CodeUnknown)
	taken := projection(t, start, "paris")
	taken.Endpoint = other.Endpoint
	refused(t, publishing(t, newKey(t), start, taken).send(t, open(t, options(r, c.now)).Handler()), 422, provider.CodeRefused)
	refused(t, publishing(t, newKey(t), start, taken).send(t, b.Handler()), 422, provider.CodeRefused)
	third := newKey(t)
	hidden := publish(t, a, third, start, projection(t, start, "hamburg"))
	if got := withdrawing(third, start, hidden).send(t, b.Handler()); got.status != 202 {
		t.Fatal(got)
	}
	if row, _, _ := r.Projection(t.Context(), must(provider.ParseRef(hidden))); !row.Withdrawn || row.Revision != 2 {
		t.Errorf("acknowledged and not withdrawn: %+v", row)
	}
	// A key is done with its projection, also for a provider that was started since.
	refused(t, publishing(t, third, start, projection(t, start, "hamburg")).send(t, open(t, options(r, c.now)).Handler()), 422, provider.CodeRefused)
}

func must[T any](v T, ok bool) T {
	if !ok {
		panic("not ok")
	}
	return v
}

// Two changes that were judged at the same time do not both become durable; the later one is judged anew.
func TestCommitsInBetween(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	a, b := open(t, options(r, c.now)), open(t, options(r, c.now))
	key := newKey(t)
	ref := publish(t, a, key, start, projection(t, start, "munich"))
	once := true
	r.before = func(row provider.Row) {
		if once && row.Revision > 1 {
			once = false
			if got := withdrawing(key, start, ref).send(t, b.Handler()); got.status != 202 {
				t.Errorf("%+v", got)
			}
		}
	}
	refused(t, updating(t, key, start, ref, projection(t, start, "munich")).send(t, a.Handler()), 404, provider.CodeUnknown)
	if len(found(t, a, start, "munich")) != 0 {
		t.Error("an update brought back what was withdrawn")
	}
	r.before = func(row provider.Row) { r.fail(errors.New("no")) }
	refused(t, publishing(t, newKey(t), start, projection(t, start, "munich")).send(t, a.Handler()), 503, providerhttp.CodeUnavailable)
	r.before = nil
	r.fail(nil)
}

// A withdrawal holds for a row that the index has no room for, and what has no room is not left behind as published.
func TestFull(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	big := open(t, options(r, c.now))
	o := options(r, c.now)
	o.Capacity = 1
	small := open(t, o)
	first := newKey(t)
	publish(t, small, first, start, projection(t, start, "munich"))
	refused(t, publishing(t, newKey(t), start, projection(t, start, "munich")).send(t, small.Handler()), 503, providerhttp.CodeUnavailable)
	live := 0
	for _, row := range r.byRef {
		if !row.Withdrawn {
			live++
		}
	}
	if live != 1 {
		t.Errorf("%d rows look published", live)
	}
	key := newKey(t)
	ref := publish(t, big, key, start, projection(t, start, "munich"))
	if got := withdrawing(key, start, ref).send(t, small.Handler()); got.status != 202 {
		t.Fatal(got)
	}
	if row, _, _ := r.Projection(t.Context(), must(provider.ParseRef(ref))); !row.Withdrawn {
		t.Error("acknowledged and not withdrawn")
	}
	publish(t, big, newKey(t), start, projection(t, start, "munich"))
	if h := open(t, o).Health(); h.LeftOut != 1 {
		t.Errorf("%+v after a start with two rows and room for one", h)
	}
}

func TestEndpointsLeadToThePublic(t *testing.T) {
	public, private := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.8")
	for name, want := range map[string]struct {
		found  []netip.Addr
		err    error
		status int
	}{
		"public":  {[]netip.Addr{public}, nil, 201},
		"private": {[]netip.Addr{private}, nil, 422},
		"mixed":   {[]netip.Addr{public, private}, nil, 422},
		"nothing": {nil, nil, 422},
		"no name": {nil, &net.DNSError{IsNotFound: true}, 422},
		"timeout": {nil, &net.DNSError{IsTimeout: true}, 503},
	} {
		o := options(newRows(), (&clock{at: start}).now)
		o.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			if host != "agents.example.org" {
				t.Errorf("looked up %q", host)
			}
			return want.found, want.err
		}
		got := publishing(t, newKey(t), start, projection(t, start, "munich")).send(t, open(t, o).Handler())
		if got.status != want.status {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if _, err := providerhttp.New(t.Context(), providerhttp.Options{Rows: newRows(), Origin: origin, Now: time.Now, Random: reader("")}); err == nil {
		t.Error("a public provider without the DNS")
	}
	w := serve(t, newRows(), time.Now, nil)
	for endpoint, ok := range map[string]bool{"http://127.0.0.1:8470/a2a/0": true, "http://localhost/a2a/0": true, "https://agents.example/a2a/0": true, "http://10.0.0.1/a2a/0": false, "http://agents.example/a2a/0": false, "ftp://127.0.0.1/": false} {
		p := projection(t, time.Now(), "munich")
		p.Endpoint = endpoint
		if _, _, err := w.client.Publish(t.Context(), w.origin, newKey(t), providerhttp.Publication{Projection: p}); (err == nil) != ok {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestBansAndReports(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	o := options(r, c.now)
	o.Poll = time.Millisecond
	s := open(t, o)
	run(t, s)
	key := newKey(t)
	ref := publish(t, s, key, start, projection(t, start, "munich"))
	reporter := newKey(t)
	report := func(ref, reason string) reply {
		return call{method: "POST", path: "/gidp/v1/reports", key: reporter, at: start, body: `{"key":` + keyText(reporter) + `,"projection_ref":"` + ref + `","reason":"` + reason + `"}`}.send(t, s.Handler())
	}
	known, guessed := report(ref, providerhttp.ReasonFraud), report(token(t), providerhttp.ReasonFraud)
	if known.status != 202 || known.body != guessed.body || known.status != guessed.status {
		t.Errorf("a report tells a reference from a guess: %v %v", known, guessed)
	}
	refused(t, report(ref, "i dislike it"), 400, provider.CodeMalformed)
	if len(r.reports) != 1 || r.reports[0].Owner != thumb(t, key) || r.reports[0].Reporter != thumb(t, reporter) {
		t.Errorf("%+v", r.reports)
	}
	ban := providerhttp.Ban{Key: thumb(t, key), Until: start.Add(time.Hour), Reason: "fraud", At: start}
	r.PutBan(t.Context(), ban)
	r.PutBan(t.Context(), providerhttp.Ban{Network: "192.0.2.0/25", Until: start.Add(time.Hour), At: start})
	await(t, func() bool { return len(found(t, s, start, "munich")) == 0 })
	refused(t, withdrawing(key, start, ref).send(t, s.Handler()), 403, provider.CodeBanned)
	from := func(remote string) int {
		q := querying(t, newKey(t), start, "munich")
		q.remote = remote
		return q.send(t, s.Handler()).status
	}
	if a, b, own := from("192.0.2.7:1"), from("192.0.2.200:1"), from("127.0.0.1:1"); a != 403 || b != 200 || own != 200 {
		t.Error(a, b, own)
	}
	again := open(t, o)
	if len(found(t, again, start, "munich")) != 0 {
		t.Error("a restart ends a ban")
	}
	ban.Until = start
	r.PutBan(t.Context(), ban)
	await(t, func() bool { return len(found(t, s, start, "munich")) == 1 })
	c.step(2 * time.Hour)
	if from("192.0.2.7:1") == 403 {
		t.Error("a ban of a network did not end")
	}
}

// The log has rounded counts and nothing else of what was asked.
func TestLogHoldsCountsAlone(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	var log lockedBuffer
	o := options(r, c.now)
	o.Poll, o.Log = time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
	s := open(t, o)
	run(t, s)
	key := newKey(t)
	ref := publish(t, s, key, start, projection(t, start, "munich"))
	for range 13 {
		found(t, s, start, "munich")
	}
	c.step(time.Hour)
	await(t, func() bool { return strings.Contains(log.String(), "candidates=10") })
	text := log.String()
	for _, private := range []string{ref, "munich", "company_sale", "agents.example.org", keyText(key)[20:60], "127.0.0.1"} {
		if strings.Contains(text, private) {
			t.Errorf("the log has %q: %s", private, text)
		}
	}
}

// What one querent can see of the index in an hour, and what a network can.
func TestEnumeration(t *testing.T) {
	c, r := &clock{at: start}, newRows()
	const held = 30_000
	for n := range held {
		var row provider.Row
		copy(row.Ref[:], fmt.Sprintf("%016d", n))
		copy(row.Owner[:], fmt.Sprintf("%08d", n))
		row.Revision, row.Expires, row.Endpoint = 1, start.Add(24*time.Hour), fmt.Sprintf("https://agents.example.org/a2a/%d", n)
		row.Labels = map[string][]string{"geography": {"munich"}}
		r.byRef[row.Ref] = row
	}
	s := open(t, options(r, c.now))
	harvest := func(remote string, keys int) int {
		seen := map[string]bool{}
		for range keys {
			key, cursor := newKey(t), ""
			for {
				q := querying(t, key, c.now(), "germany")
				if q.remote = remote; cursor != "" {
					q.body = strings.TrimSuffix(q.body, "}") + `,"cursor":"` + cursor + `"}`
				}
				got := q.send(t, s.Handler())
				if got.status == http.StatusTooManyRequests {
					break
				}
				page := said[providerhttp.Page](t, got, 200)
				for _, found := range page.Candidates {
					seen[found.ProjectionRef] = true
				}
				cursor = page.Cursor
			}
		}
		return len(seen)
	}
	one, network := harvest("192.0.2.1:1", 1), harvest("198.51.100.1:1", 22)
	t.Logf("of %d projections one querent sees %d in an hour (%.1f %%), one network of 22 querents %d", held, one, 100*float64(one)/held, network)
	if one > 1200 || network > 24_000 {
		t.Errorf("%d and %d", one, network)
	}
}

// Two projections of one interest, as a provider and everybody between see them: no identifier of the one is in the other.
func TestProjectionsShareNothing(t *testing.T) {
	c := &clock{at: start}
	var seen [2][]string
	for i := range seen {
		key := newKey(t)
		p := projection(t, start, "munich")
		r := publishing(t, key, start, p).request(t)
		words := strings.FieldsFunc(r.Header.Get("Signature")+" "+r.Header.Get("Signature-Input")+" "+r.Header.Get("Content-Digest")+" "+publishing(t, key, start, p).body, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '+')
		})
		answer := answer(open(t, options(newRows(), c.now)).Handler(), r)
		words = append(words, said[receipt](t, answer, 201).Ref)
		for _, w := range words {
			if len(w) >= 20 && w != "complementary_counterparty" && w != "DiscoveryProjection" {
				seen[i] = append(seen[i], w)
			}
		}
	}
	if len(seen[0]) < 7 {
		t.Fatalf("the test lost its subject: %q", seen[0])
	}
	for _, a := range seen[0] {
		for _, b := range seen[1] {
			for i := 0; i+8 <= len(a); i++ {
				if strings.Contains(b, a[i:i+8]) {
					t.Errorf("%q and %q share %q", a, b, a[i:i+8])
				}
			}
		}
	}
}
