package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
)

func placedRow(ref, owner byte, revision uint32, endpoint string) provider.Row {
	return provider.Row{Ref: provider.Ref{ref}, Owner: provider.Thumbprint{owner}, Revision: revision, Expires: after(int(ref)), Endpoint: endpoint,
		Labels: map[string][]string{"category": {"a/b", "c"}, "relation": {"x"}}}
}

func withdrawn(r provider.Row) provider.Row {
	r.Revision++
	r.Withdrawn = true
	return r
}

func publishedRows(t *testing.T, g GIDP) {
	ctx, p := context.Background(), g.Provider
	a := placedRow(1, 1, 1, "https://a.example/a2a/1")
	ok(t, p.Commit(ctx, a))
	for name, row := range map[string]provider.Row{
		"the same again":       a,
		"a later first":        placedRow(2, 2, 2, "https://b.example"),
		"a gap":                placedRow(1, 1, 3, "https://a.example"),
		"another owner":        placedRow(1, 2, 2, "https://a.example"),
		"a second of one key":  placedRow(2, 1, 1, "https://b.example"),
		"an endpoint of other": placedRow(2, 2, 1, a.Endpoint),
	} {
		if err := p.Commit(ctx, row); !errors.Is(err, providerhttp.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := placedRow(2, 2, 1, "https://b.example/a2a/2")
	ok(t, p.Commit(ctx, b))
	taken := placedRow(2, 2, 2, a.Endpoint)
	is(t, p.Commit(ctx, taken), providerhttp.ErrStale)
	a = placedRow(1, 1, 2, "https://a.example/a2a/other")
	a.Expires = after(50).Add(time.Nanosecond)
	ok(t, p.Commit(ctx, a))
	ok(t, p.Commit(ctx, taken)) // which is free now
	a.Expires = after(50)
	get := func(ref byte) (provider.Row, bool) {
		row, found, err := p.Projection(ctx, provider.Ref{ref})
		ok(t, err)
		return row, found
	}
	of := func(owner byte) (provider.Row, bool) {
		row, found, err := p.OfKey(ctx, provider.Thumbprint{owner})
		ok(t, err)
		return row, found
	}
	for _, f := range []func(byte) (provider.Row, bool){get, of} {
		row, found := f(1)
		same(t, row, a)
		same(t, found, true)
		row, found = f(9)
		same(t, row, provider.Row{})
		same(t, found, false)
	}
	gone := withdrawn(a)
	ok(t, p.Commit(ctx, gone))
	gone.Endpoint, gone.Labels = "", nil
	row, _ := get(1)
	same(t, row, gone)
	row, _ = of(1)
	same(t, row, gone)
	// A withdrawal is final, its endpoint and, where the provider allows it, its key are free.
	is(t, p.Commit(ctx, withdrawn(gone)), providerhttp.ErrStale)
	is(t, p.Commit(ctx, placedRow(1, 1, 4, "https://a.example")), providerhttp.ErrStale)
	ok(t, p.Commit(ctx, placedRow(3, 1, 1, a.Endpoint)))
	row, _ = of(1)
	same(t, row.Ref, provider.Ref{3})
	rows, position, err := p.All(ctx)
	ok(t, err)
	same(t, position, int64(6))
	var refs []byte
	for row, err := range rows {
		ok(t, err)
		refs = append(refs, row.Ref[0])
	}
	same(t, refs, []byte{2, 3})
	for range rows { // it may be read again, and left early
		break
	}
}

func feed(t *testing.T, g GIDP) {
	ctx, p := context.Background(), g.Provider
	for i := byte(1); i <= 5; i++ {
		ok(t, p.Commit(ctx, placedRow(i, i, 1, fmt.Sprint("https://e.example/", i))))
		is(t, p.Commit(ctx, placedRow(i, i, 1, "https://e.example/")), providerhttp.ErrStale) // takes no number
	}
	ok(t, p.Commit(ctx, withdrawn(placedRow(2, 2, 1, ""))))
	ok(t, p.Commit(ctx, placedRow(4, 4, 2, "https://e.example/4")))
	var refs []byte
	position := int64(0)
	for {
		rows, next, err := p.Changes(ctx, position, 2)
		ok(t, err)
		if len(rows) == 0 {
			same(t, next, position)
			break
		}
		for _, row := range rows {
			refs = append(refs, row.Ref[0])
		}
		position = next
	}
	same(t, refs, []byte{1, 3, 5, 2, 4})
	same(t, position, int64(7))
	for _, at := range []struct {
		position int64
		limit    int
	}{{0, 0}, {0, -1}, {7, 9}, {99, 9}} {
		rows, next, err := p.Changes(ctx, at.position, at.limit)
		ok(t, err)
		same(t, len(rows), 0)
		same(t, next, at.position)
	}
}

func expiry(t *testing.T, g GIDP) {
	ctx, p := context.Background(), g.Provider
	for i := byte(1); i <= 5; i++ {
		ok(t, p.Commit(ctx, placedRow(i, i, 1, fmt.Sprint("https://e.example/", i))))
	}
	ok(t, p.Commit(ctx, withdrawn(placedRow(2, 2, 1, ""))))
	left := func() (out []byte) {
		for i := byte(1); i <= 5; i++ {
			if _, found, err := p.Projection(ctx, provider.Ref{i}); found {
				ok(t, err)
				out = append(out, i)
			}
		}
		return out
	}
	ok(t, p.Expire(ctx, after(1), 9))
	ok(t, p.Expire(ctx, after(9), 0))
	same(t, left(), []byte{1, 2, 3, 4, 5})
	ok(t, p.Expire(ctx, after(4), 2))
	same(t, left(), []byte{3, 4, 5})
	ok(t, p.Expire(ctx, after(5), 9))
	same(t, left(), []byte{5})
	ok(t, p.Commit(ctx, placedRow(1, 1, 1, "https://e.example/1")))
}

func reportsAndBans(t *testing.T, g GIDP) {
	ctx, p := context.Background(), g.Provider
	report := func(ref, reporter byte, at int) providerhttp.Report {
		return providerhttp.Report{Ref: provider.Ref{ref}, Owner: provider.Thumbprint{9}, Reporter: provider.Thumbprint{reporter}, Reason: "spam", At: after(at)}
	}
	for _, r := range []providerhttp.Report{report(1, 1, 1), report(1, 2, 2), report(2, 1, 3), report(1, 1, 4)} {
		ok(t, p.AddReport(ctx, r))
	}
	same(t, must(p.Reports(ctx, 9))(t), []providerhttp.Report{report(1, 1, 4), report(2, 1, 3), report(1, 2, 2)})
	same(t, must(p.Reports(ctx, 1))(t), []providerhttp.Report{report(1, 1, 4)})
	same(t, len(must(p.Reports(ctx, 0))(t)), 0)

	key := providerhttp.Ban{Key: provider.Thumbprint{1}, Until: after(10), Reason: "r", At: after(1)}
	network := providerhttp.Ban{Network: "192.0.2.0/24", Until: after(20), At: after(2)}
	ok(t, p.PutBan(ctx, network))
	ok(t, p.PutBan(ctx, key))
	same(t, must(p.Bans(ctx))(t), []providerhttp.Ban{key, network})
	key.Until, key.At = after(30), after(3)
	ok(t, p.PutBan(ctx, key))
	same(t, must(p.Bans(ctx))(t), []providerhttp.Ban{key, network})
	key.Until, key.At = time.Time{}, after(4)
	ok(t, p.PutBan(ctx, key))
	same(t, must(p.Bans(ctx))(t), []providerhttp.Ban{network})
	key.Until, key.At = after(90), after(20) // by then the network's is over
	ok(t, p.PutBan(ctx, key))
	same(t, must(p.Bans(ctx))(t), []providerhttp.Ban{key})
	for name, b := range map[string]providerhttp.Ban{
		"of nothing": {Until: after(1), At: after(0)}, "of both": {Key: key.Key, Network: "n", Until: after(1), At: after(0)}, "never": {Network: "n", Until: after(1)},
		"a long reason": {Network: "n", Until: after(1), At: after(0), Reason: strings.Repeat("x", 256)},
	} {
		if p.PutBan(ctx, b) == nil {
			t.Errorf("a ban %s", name)
		}
	}
	if p.AddReport(ctx, providerhttp.Report{}) == nil {
		t.Error("a report without a reason")
	}
}

func secret(t *testing.T, g GIDP) {
	ctx := context.Background()
	same(t, must(g.Provider.Secret(ctx, [32]byte{1}))(t), [32]byte{1})
	same(t, must(g.Provider.Secret(ctx, [32]byte{2}))(t), [32]byte{1})
}

func refusedPublished(t *testing.T, g GIDP) {
	ctx := context.Background()
	for name, change := range map[string]func(*provider.Row){
		"no revision":               func(r *provider.Row) { r.Revision = 0 },
		"withdrawn from the start":  func(r *provider.Row) { r.Withdrawn = true },
		"no expiry":                 func(r *provider.Row) { r.Expires = time.Time{} },
		"no endpoint":               func(r *provider.Row) { r.Endpoint = "" },
		"a long endpoint":           func(r *provider.Row) { r.Endpoint = strings.Repeat("x", 2049) },
		"an endpoint with a NUL":    func(r *provider.Row) { r.Endpoint = "https://a\x00" },
		"a label that is not UTF-8": func(r *provider.Row) { r.Labels = map[string][]string{"a": {"\xff"}} },
		"a dimension with a NUL":    func(r *provider.Row) { r.Labels = map[string][]string{"a\x00": {"b"}} },
	} {
		row := placedRow(1, 1, 1, "https://a.example")
		change(&row)
		if err := g.Provider.Commit(ctx, row); err == nil || errors.Is(err, providerhttp.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	row := placedRow(1, 1, 1, noise(2048))
	ok(t, g.Provider.Commit(ctx, row))
	ended, stop := context.WithCancel(ctx)
	stop()
	is(t, g.Provider.Commit(ended, placedRow(2, 2, 1, "https://b.example")), context.Canceled)
}
