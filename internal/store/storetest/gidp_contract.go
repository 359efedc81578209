package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
)

// GIDP is what one store keeps of the protocol.
type GIDP struct {
	Agents   durable.Store
	Provider providerhttp.Rows
	Check    func(context.Context) error
}

// RunGIDP holds the stores that open makes to the contracts of durable.Store and providerhttp.Rows. Each call of open gives an empty store of its own.
func RunGIDP(t *testing.T, open func(testing.TB) GIDP) {
	for _, c := range []struct {
		name string
		test func(*testing.T, GIDP)
	}{
		{"interests", interests}, {"projections", projections}, {"sessions", sessions}, {"open sessions are counted", countOpen}, {"messages", messages}, {"inbox", inbox},
		{"ledger and explorations", ledgerRows}, {"trail", trail}, {"work", work}, {"mark", mark}, {"forgetting", forgetting}, {"refused rows", refusedRows}, {"what is undone", undoneAgents},
		{"a reader keeps its state", snapshot}, {"random acts of agents", randomAgents},
		{"published", publishedRows}, {"feed", feed}, {"expiry", expiry}, {"reports and bans", reportsAndBans},
		{"secret", secret}, {"refused projections", refusedPublished}, {"random acts of a provider", randomProvider},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t)
			c.test(t, g)
			ok(t, g.Check(context.Background()))
		})
	}
}

func write(t testing.TB, s durable.Store, f func(context.Context, durable.Writer)) {
	t.Helper()
	ctx := context.Background()
	ok(t, s.Update(ctx, func(w durable.Writer) error { f(ctx, w); return nil }))
}

func read(t testing.TB, s durable.Store, f func(context.Context, durable.Reader)) {
	t.Helper()
	ctx := context.Background()
	ok(t, s.View(ctx, func(r durable.Reader) error { f(ctx, r); return nil }))
}

func after(n int) time.Time { return day.Add(time.Duration(n) * time.Second) }

func interests(t *testing.T, g GIDP) {
	row := durable.InterestRow{ID: "i1", Lineage: "l", Version: 2, Principal: "p", Profile: "demo", State: "DRAFT", ChangedAt: after(1).Add(time.Nanosecond), Body: []byte{0, 1}}
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		_, err := w.Interest(ctx, "i1")
		is(t, err, durable.ErrNotFound)
		ok(t, w.PutInterest(ctx, row))
		// State, change and body are replaced, the rest stays.
		ok(t, w.PutInterest(ctx, durable.InterestRow{ID: "i1", Lineage: "other", Version: 9, Principal: "q", Profile: "x", State: "ACTIVE", ChangedAt: after(2), Body: []byte("b")}))
		ok(t, w.PutInterest(ctx, durable.InterestRow{ID: "i0", Lineage: "l", Version: 10, State: "DRAFT", Body: []byte("c")}))
		ok(t, w.PutInterest(ctx, durable.InterestRow{ID: "i9", Lineage: "k", Version: 10, State: "DRAFT", Body: []byte("d")}))
	})
	row.State, row.ChangedAt, row.Body = "ACTIVE", after(2), []byte("b")
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		same(t, must(r.Interest(ctx, "i1"))(t), row)
		var ids []string
		for _, row := range must(r.Interests(ctx))(t) {
			ids = append(ids, row.ID)
		}
		same(t, ids, []string{"i9", "i1", "i0"})
		got := must(r.Interest(ctx, "i9"))(t)
		same(t, got.ChangedAt.IsZero(), true)
		_, err := r.Interest(ctx, "i1\x00")
		is(t, err, durable.ErrNotFound)
	})
}

func projections(t *testing.T, g GIDP) {
	row := durable.ProjectionRow{Ref: "b", Interest: "i1", State: durable.Prepared, ExpiresAt: after(9), Body: []byte("x")}
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		ok(t, w.PutProjection(ctx, row))
		ok(t, w.PutProjection(ctx, durable.ProjectionRow{Ref: "a", Interest: "i2", State: durable.Published, Body: []byte("y")}))
		row.State, row.ExpiresAt, row.ForgetAt, row.Body = durable.Withdrawn, after(10), after(20), []byte("z")
		ok(t, w.PutProjection(ctx, row))
	})
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		same(t, must(r.Projection(ctx, "b"))(t), row)
		same(t, must(r.Projections(ctx, "i1"))(t), []durable.ProjectionRow{row})
		all := must(r.Projections(ctx, ""))(t)
		if len(all) != 2 || all[0].Ref != "a" || !all[0].ExpiresAt.IsZero() {
			t.Errorf("%+v", all)
		}
		same(t, len(must(r.Projections(ctx, "none"))(t)), 0)
		_, err := r.Projection(ctx, "c")
		is(t, err, durable.ErrNotFound)
	})
}

func sessionRow(id string, n int) durable.SessionRow {
	return durable.SessionRow{
		ID: id, Interest: "i1", Ref: fmt.Sprint("r", n%2), Peer: fmt.Sprint("p", n), PeerKey: []byte(`{}`), Phase: "OPEN", OpenedAt: after(n), EndsAt: after(n + 100), Body: []byte(id),
	}
}

func sessions(t *testing.T, g GIDP) {
	row := sessionRow("s1", 1)
	row.Version = 77 // the store's own
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		is(t, w.PutSession(ctx, row), durable.ErrNotFound)
		ok(t, w.AddSession(ctx, row))
		is(t, w.AddSession(ctx, row), durable.ErrExists)
		same(t, must(w.Session(ctx, "s1"))(t).Version, uint64(1))
		// A step that leaves a session open, one that changes who it is with, one that closes it, one that opens it again: all replace the whole row.
		for i, change := range []func(){
			func() { row.Phase, row.Body, row.EndsAt = "PROBE", []byte("two"), after(300) },
			func() { row.Peer, row.PeerKey, row.Ref, row.Interest = "q", []byte(`{"x":1}`), "r9", "i9" },
			func() { row.Closed, row.ForgetAt = true, after(400) },
			func() { row.Phase = "CLOSED" },
			func() { row.Closed, row.ForgetAt = false, time.Time{} },
			func() { row.Initiator, row.Peer, row.PeerKey, row.Ref = true, "", nil, "" },
		} {
			change()
			ok(t, w.PutSession(ctx, row))
			want := row
			want.Version = uint64(i) + 2
			same(t, must(w.Session(ctx, "s1"))(t), want)
		}
	})
	closed := sessionRow("s0", 0)
	closed.Closed, closed.ForgetAt = true, after(1)
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		ok(t, w.AddSession(ctx, closed))
		for i := 2; i < 6; i++ {
			ok(t, w.AddSession(ctx, sessionRow(fmt.Sprint("s", i), i)))
		}
	})
	list := func(interest string, open bool, from string, limit int) string {
		var ids []string
		read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
			for _, row := range must(r.Sessions(ctx, interest, open, from, limit))(t) {
				ids = append(ids, row.ID)
			}
		})
		return strings.Join(ids, " ")
	}
	for _, c := range []struct {
		interest string
		open     bool
		from     string
		limit    int
		want     string
	}{
		{"", false, "", 99, "s0 s1 s2 s3 s4 s5"}, {"", true, "", 99, "s1 s2 s3 s4 s5"}, {"i1", true, "", 99, "s2 s3 s4 s5"}, {"i1", false, "", 99, "s0 s2 s3 s4 s5"},
		{"i9", true, "", 9, "s1"},
		{"i1", true, "s3", 1, "s4"}, {"", false, "s1", 2, "s2 s3"},
		{"", true, "s5", 9, ""}, {"", false, "", 0, ""}, {"", false, "", -1, ""}, {"none", true, "", 9, ""}, {"", false, "\x00", 9, ""},
	} {
		same(t, list(c.interest, c.open, c.from, c.limit), c.want)
	}
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		same(t, string(must(r.PeerKey(ctx, "p3"))(t)), `{}`)
		same(t, string(must(r.PeerKey(ctx, "p0"))(t)), `{}`) // a closed one's too
		for _, none := range []string{"", "q", "p9", "p3\x00"} {
			_, err := r.PeerKey(ctx, none)
			is(t, err, durable.ErrNotFound)
		}
		_, err := r.Session(ctx, "s1\xff")
		is(t, err, durable.ErrNotFound)
	})
}

func countOpen(t *testing.T, g GIDP) {
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		for i := range 6 {
			row := sessionRow(fmt.Sprint("s", i), i)
			row.Peer = fmt.Sprint("p", i%3)
			row.Closed = i == 5
			row.Initiator = i == 4
			ok(t, w.AddSession(ctx, row))
		}
		for _, c := range []struct {
			ref, peer string
			want      int
		}{{"", "", 4}, {"r0", "", 2}, {"r1", "", 2}, {"", "p0", 2}, {"", "p1", 1}, {"", "p2", 1}, {"r0", "p0", 1}, {"r1", "p2", 0}, {"x", "", 0}, {"", "\x00", 0}} {
			same(t, must(w.CountOpen(ctx, c.ref, c.peer))(t), c.want)
		}
	})
}

func messages(t *testing.T, g GIDP) {
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		_, err := w.Received(ctx, "s", "k")
		is(t, err, durable.ErrNotFound)
		ok(t, w.AddReceived(ctx, "s", "k", [32]byte{1}))
		is(t, w.AddReceived(ctx, "s", "k", [32]byte{2}), durable.ErrExists)
		ok(t, w.AddReceived(ctx, "s2", "k", [32]byte{3}))
		same(t, must(w.Received(ctx, "s", "k"))(t), [32]byte{1})
		same(t, must(w.Received(ctx, "s2", "k"))(t), [32]byte{3})
		_, err = w.Received(ctx, "s", "k\x00")
		is(t, err, durable.ErrNotFound)

		for _, part := range []int{2, 0, 1, 2} {
			ok(t, w.PutPart(ctx, durable.PartRow{Session: "s", Part: part, Body: []byte{byte(part)}}))
		}
		ok(t, w.PutPart(ctx, durable.PartRow{Session: "s", Part: 0, Body: []byte("again")}))
		ok(t, w.PutPart(ctx, durable.PartRow{Session: "s2", Part: 1, Body: []byte("other")}))
		same(t, must(w.Parts(ctx, "s"))(t), []durable.PartRow{
			{Session: "s", Part: 0, Body: []byte("again")}, {Session: "s", Part: 1, Body: []byte{1}}, {Session: "s", Part: 2, Body: []byte{2}}})
		same(t, len(must(w.Parts(ctx, "s\x00"))(t)), 0)

		is(t, w.AddSent(ctx, durable.SentRow{Session: "s", Number: 2, Body: []byte("b")}), durable.ErrExists) // a gap
		is(t, w.AddSent(ctx, durable.SentRow{Session: "s", Number: 0, Body: []byte("b")}), durable.ErrExists)
		for n := 1; n <= 12; n++ {
			ok(t, w.AddSent(ctx, durable.SentRow{Session: "s", Number: n, At: after(n), Acknowledged: n == 12, Body: []byte{byte(n)}}))
		}
		is(t, w.AddSent(ctx, durable.SentRow{Session: "s", Number: 12, Body: []byte("b")}), durable.ErrExists)
		ok(t, w.AddSent(ctx, durable.SentRow{Session: "s2", Number: 1, Body: []byte("b")}))
		ok(t, w.Acknowledge(ctx, "s", 10))
		ok(t, w.Acknowledge(ctx, "s", 3))
		ok(t, w.Acknowledge(ctx, "none", 3))
	})
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		got := must(r.Sent(ctx, "s", 9))(t)
		same(t, got, []durable.SentRow{{Session: "s", Number: 10, At: after(10), Acknowledged: true, Body: []byte{10}}, {Session: "s", Number: 11, At: after(11), Body: []byte{11}},
			{Session: "s", Number: 12, At: after(12), Acknowledged: true, Body: []byte{12}}})
		same(t, len(must(r.Sent(ctx, "s", 0))(t)), 12)
		same(t, must(r.Sent(ctx, "s2", 0))(t)[0].Acknowledged, false)
		same(t, len(must(r.Sent(ctx, "none", 0))(t)), 0)
	})
}

func inbox(t *testing.T, g GIDP) {
	row := durable.EntryRow{ID: "e2", Interest: "i", Session: "s", State: durable.Waiting, At: after(1), Deadline: after(9), Body: []byte("x")}
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		ok(t, w.AddEntry(ctx, row))
		is(t, w.AddEntry(ctx, row), durable.ErrExists)
		ok(t, w.AddEntry(ctx, durable.EntryRow{ID: "e1", Interest: "i", State: durable.Waiting, Body: []byte("y")}))
		ok(t, w.AddEntry(ctx, durable.EntryRow{ID: "e3", Interest: "i", Session: "s", State: durable.Settled, DecidedAt: after(3), Body: []byte("z")}))
		is(t, w.Decide(ctx, "none", durable.Granted, after(2)), durable.ErrNotFound)
		is(t, w.Decide(ctx, "e2\x00", durable.Granted, after(2)), durable.ErrNotFound)
		is(t, w.Decide(ctx, "e3", durable.Granted, after(2)), durable.ErrExists)
		ok(t, w.Decide(ctx, "e2", durable.Granted, after(2)))
		is(t, w.Decide(ctx, "e2", durable.Declined, after(3)), durable.ErrExists)
		if err := w.Decide(ctx, "e1", durable.Waiting, after(3)); err == nil {
			t.Error("a decision to wait")
		}
	})
	row.State, row.DecidedAt = durable.Granted, after(2)
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		same(t, must(r.Entry(ctx, "e2"))(t), row)
		_, err := r.Entry(ctx, "none")
		is(t, err, durable.ErrNotFound)
		ids := func(session string, waiting bool) (out string) {
			for _, row := range must(r.Entries(ctx, session, waiting))(t) {
				out += row.ID
			}
			return out
		}
		same(t, []string{ids("", false), ids("", true), ids("s", false), ids("s", true), ids("none", false)}, []string{"e1e2e3", "e1", "e2e3", "", ""})
	})
}

func ledgerRows(t *testing.T, g GIDP) {
	key := func(lineage, quantity string) gidp.LedgerKey {
		return gidp.LedgerKey{Lineage: lineage, Quantity: quantity}
	}
	long := strings.Repeat("q", 1024)
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		for _, k := range []gidp.LedgerKey{key("l", "b"), key("l", "a"), key("m", "a"), key("l", "b"), key("l", "é"), key("l", long)} {
			ok(t, w.PutLedger(ctx, durable.LedgerRow{Key: k, Body: []byte(k.Lineage + k.Quantity)}))
		}
		ok(t, w.PutLedger(ctx, durable.LedgerRow{Key: key("l", "a"), Body: []byte("new")}))
		ok(t, w.PutLedger(ctx, durable.LedgerRow{Key: key("l", "gone"), Body: []byte("x")}))
		for _, gone := range []gidp.LedgerKey{key("l", "gone"), key("l", "gone"), key("none", "a"), key("l", "b\x00")} {
			ok(t, w.DeleteLedger(ctx, gone))
		}
		ok(t, w.PutExploration(ctx, durable.ExplorationRow{ID: "a", Interest: "i", State: "probing", At: after(2), Body: []byte("x")}))
		ok(t, w.PutExploration(ctx, durable.ExplorationRow{ID: "b", Interest: "i", State: "probing", Body: []byte("y")}))
		ok(t, w.PutExploration(ctx, durable.ExplorationRow{ID: "c", Interest: "j", State: "probing", At: after(1), Body: []byte("y")}))
		ok(t, w.PutExploration(ctx, durable.ExplorationRow{ID: "a", Interest: "i", State: "done", At: after(3), Body: []byte("z")}))
		ok(t, w.PutCoalition(ctx, durable.CoalitionRow{ID: "a", Interest: "i", At: after(2), Body: []byte("x")}))
		ok(t, w.PutCoalition(ctx, durable.CoalitionRow{ID: "b", Interest: "i", Body: []byte("y")}))
		ok(t, w.PutCoalition(ctx, durable.CoalitionRow{ID: "c", Interest: "j", At: after(1), Body: []byte("y")}))
		ok(t, w.PutCoalition(ctx, durable.CoalitionRow{ID: "a", Interest: "i", At: after(3), ForgetAt: after(4), Body: []byte("z")}))
	})
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		same(t, must(r.Ledger(ctx, "l"))(t), []durable.LedgerRow{{Key: key("l", "a"), Body: []byte("new")}, {Key: key("l", "b"), Body: []byte("lb")},
			{Key: key("l", long), Body: []byte("l" + long)}, {Key: key("l", "é"), Body: []byte("lé")}})
		same(t, len(must(r.Ledger(ctx, "none"))(t)), 0)
		same(t, must(r.Exploration(ctx, "a"))(t), durable.ExplorationRow{ID: "a", Interest: "i", State: "done", At: after(3), Body: []byte("z")})
		_, err := r.Exploration(ctx, "d")
		is(t, err, durable.ErrNotFound)
		ids := func(interest string) (out string) {
			for _, row := range must(r.Explorations(ctx, interest))(t) {
				out += row.ID
			}
			return out
		}
		same(t, []string{ids(""), ids("i"), ids("none")}, []string{"bca", "ba", ""})
		same(t, must(r.Coalition(ctx, "a"))(t), durable.CoalitionRow{ID: "a", Interest: "i", At: after(3), ForgetAt: after(4), Body: []byte("z")})
		_, err = r.Coalition(ctx, "d")
		is(t, err, durable.ErrNotFound)
		grown := func(interest string) (out string) {
			for _, row := range must(r.Coalitions(ctx, interest))(t) {
				out += row.ID
			}
			return out
		}
		same(t, []string{grown(""), grown("i"), grown("none")}, []string{"bca", "ba", ""})
	})
}

func trail(t *testing.T, g GIDP) {
	entry := func(lineage string, n int64) durable.AuditRow {
		return durable.AuditRow{Lineage: lineage, Sequence: n, At: after(int(n)), Kind: "k", Body: []byte{byte(n)}, Hash: [32]byte{byte(n)}}
	}
	head := func(r durable.Reader, lineage string, want int64) {
		t.Helper()
		n, hash, err := r.TrailHead(context.Background(), lineage)
		ok(t, err)
		same(t, n, want)
		same(t, hash, [32]byte{byte(want)})
	}
	for _, batch := range [][]int64{{1}, {2, 3}, {4, 5, 6}} {
		write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
			is(t, w.AddAudit(ctx, entry("l", batch[0]-1)), durable.ErrExists)
			is(t, w.AddAudit(ctx, entry("l", batch[0]+1)), durable.ErrExists)
			for _, n := range batch {
				ok(t, w.AddAudit(ctx, entry("l", n)))
				is(t, w.AddAudit(ctx, entry("l", n)), durable.ErrExists)
				head(w, "l", n)
			}
		})
	}
	is(t, g.Agents.Update(context.Background(), func(w durable.Writer) error {
		ok(t, w.AddAudit(context.Background(), entry("l", 7)))
		return errEarly
	}), errEarly)
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		head(r, "l", 6)
		head(r, "none", 0)
		same(t, must(r.Trail(ctx, "l", 4, 9))(t), []durable.AuditRow{entry("l", 5), entry("l", 6)})
		same(t, must(r.Trail(ctx, "l", 0, 1))(t), []durable.AuditRow{entry("l", 1)})
		same(t, len(must(r.Trail(ctx, "l", 0, 0))(t))+len(must(r.Trail(ctx, "none", 0, 9))(t)), 0)
	})
}

func work(t *testing.T, g GIDP) {
	claim := func(now, until, limit int) (out string) {
		write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
			out = ""
			for _, c := range must(w.Claim(ctx, after(now), after(until), limit))(t) {
				out += fmt.Sprintf("%s/%s@%d ", c.Kind, c.ID, int(c.Due.Sub(day).Seconds()))
			}
		})
		return out
	}
	next := func(want time.Time) {
		t.Helper()
		read(t, g.Agents, func(ctx context.Context, r durable.Reader) { same(t, must(r.NextDue(ctx))(t), want) })
	}
	next(time.Time{})
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		ok(t, w.Schedule(ctx, durable.WorkSession, "b", after(5)))
		ok(t, w.Schedule(ctx, durable.WorkSession, "a", after(5)))
		ok(t, w.Schedule(ctx, durable.WorkInterest, "z", after(5)))
		ok(t, w.Schedule(ctx, durable.WorkSession, "late", after(99)))
		ok(t, w.Schedule(ctx, durable.WorkSession, "first", after(3)))
		ok(t, w.Schedule(ctx, durable.WorkSession, "never", after(1)))
		ok(t, w.Schedule(ctx, durable.WorkSession, "never", time.Time{}))
		ok(t, w.Schedule(ctx, durable.WorkSession, "none", time.Time{}))
	})
	next(after(3))
	same(t, claim(2, 50, 9), "")
	same(t, claim(5, 50, 2), "session/first@3 interest/z@5 ")
	next(after(5))
	same(t, claim(5, 50, 0), "")
	same(t, claim(5, 60, 9), "session/a@5 session/b@5 ")
	next(after(50))
	same(t, claim(49, 70, 9), "")
	// What is scheduled is free again; what was not is, when its claim ends.
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		ok(t, w.Schedule(ctx, durable.WorkSession, "b", after(40)))
		ok(t, w.Schedule(ctx, durable.WorkSession, "a", time.Time{}))
	})
	same(t, claim(50, 80, 9), "session/b@40 interest/z@5 session/first@3 ")
	next(after(80))
	if err := g.Agents.Update(context.Background(), func(w durable.Writer) error {
		_, err := w.Claim(context.Background(), after(2), after(2), 1)
		return err
	}); err == nil {
		t.Error("a claim that ends at once")
	}
}

func mark(t *testing.T, g GIDP) {
	is := func(want int64) {
		t.Helper()
		read(t, g.Agents, func(ctx context.Context, r durable.Reader) { same(t, must(r.Mark(ctx))(t), want) })
	}
	is(0)
	for _, c := range []struct{ raise, want int64 }{{-1, 0}, {0, 0}, {3, 3}, {3, 3}, {2, 3}, {0, 3}, {1 << 62, 1 << 62}, {4, 1 << 62}} {
		write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
			ok(t, w.RaiseMark(ctx, c.raise))
			same(t, must(w.Mark(ctx))(t), c.want)
		})
		is(c.want)
	}
	if err := g.Agents.Update(context.Background(), func(w durable.Writer) error {
		ok(t, w.RaiseMark(context.Background(), 1<<62+1))
		return errEarly
	}); err == nil {
		t.Error("no error")
	}
	is(1 << 62)
}

func forgetting(t *testing.T, g GIDP) {
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		for i := range 4 {
			id := fmt.Sprint("s", i)
			row := sessionRow(id, i)
			row.Closed, row.ForgetAt = i < 3, after(i+1)
			if i == 3 {
				row.ForgetAt = time.Time{}
			}
			ok(t, w.AddSession(ctx, row))
			ok(t, w.AddSent(ctx, durable.SentRow{Session: id, Number: 1, Body: []byte("x")}))
			ok(t, w.AddReceived(ctx, id, "k", [32]byte{}))
			ok(t, w.PutPart(ctx, durable.PartRow{Session: id, Part: 1, Body: []byte("x")}))
			ok(t, w.AddEntry(ctx, durable.EntryRow{ID: "e" + id, Interest: "i", Session: id, State: durable.Settled, DecidedAt: after(1), Body: []byte("x")}))
			ok(t, w.AddEntry(ctx, durable.EntryRow{ID: "own" + id, Interest: "i", State: durable.Declined, DecidedAt: after(i + 1), Body: []byte("x")}))
			ok(t, w.AddAudit(ctx, durable.AuditRow{Lineage: "l", Sequence: int64(i) + 1, Kind: "k", Body: []byte("x")}))
		}
		ok(t, w.AddEntry(ctx, durable.EntryRow{ID: "waits", Interest: "i", State: durable.Waiting, Deadline: after(1), Body: []byte("x")}))
		for i := range 3 {
			ok(t, w.PutProjection(ctx, durable.ProjectionRow{Ref: fmt.Sprint("p", i), Interest: "i", State: durable.Withdrawn, ExpiresAt: after(1), ForgetAt: after(i + 1), Body: []byte("x")}))
			ok(t, w.PutExploration(ctx, durable.ExplorationRow{ID: fmt.Sprint("x", i), Interest: "i", State: "probing", At: after(1), ForgetAt: after(3 - i), Body: []byte("x")}))
			ok(t, w.PutCoalition(ctx, durable.CoalitionRow{ID: fmt.Sprint("c", i), Interest: "i", At: after(1), ForgetAt: after(i + 1), Body: []byte("x")}))
		}
		ok(t, w.PutProjection(ctx, durable.ProjectionRow{Ref: "p-stands", Interest: "i", State: durable.Published, ExpiresAt: after(1), Body: []byte("x")}))
		ok(t, w.PutExploration(ctx, durable.ExplorationRow{ID: "x-searches", Interest: "i", State: "searching", At: after(1), Body: []byte("x")}))
		ok(t, w.PutCoalition(ctx, durable.CoalitionRow{ID: "c-grows", Interest: "i", At: after(1), Body: []byte("x")}))
	})
	left := func() (out string) {
		read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
			out = ""
			for _, row := range must(r.Sessions(ctx, "", false, "", 99))(t) {
				out += row.ID + " "
			}
			for i := range 4 {
				id := fmt.Sprint("s", i)
				if _, err := r.Received(ctx, id, "k"); err == nil {
					out += "k" + id + " "
				}
				same(t, len(must(r.Parts(ctx, id))(t)), len(must(r.Sent(ctx, id, 0))(t)))
				out += fmt.Sprint(len(must(r.Sent(ctx, id, 0))(t)))
			}
			for _, row := range must(r.Entries(ctx, "", false))(t) {
				out += " " + row.ID
			}
			for _, row := range must(r.Projections(ctx, ""))(t) {
				out += " " + row.Ref
			}
			for _, row := range must(r.Explorations(ctx, "i"))(t) {
				out += " " + row.ID
			}
			for _, row := range must(r.Coalitions(ctx, "i"))(t) {
				out += " " + row.ID
			}
			same(t, len(must(r.Trail(ctx, "l", 0, 99))(t)), 4)
		})
		return out
	}
	forget := func(before, limit int) {
		write(t, g.Agents, func(ctx context.Context, w durable.Writer) { ok(t, w.Forget(ctx, after(before), limit)) })
	}
	all := left()
	forget(0, 9)
	forget(9, 0)
	same(t, left(), all)
	forget(2, 1)
	same(t, left(), "s1 s2 s3 0ks1 1ks2 1ks3 1 es1 es2 es3 owns1 owns2 owns3 waits p-stands p1 p2 x-searches x0 x1 c-grows c1 c2")
	forget(2, 9)
	same(t, left(), "s2 s3 00ks2 1ks3 1 es2 es3 owns2 owns3 waits p-stands p2 x-searches x0 c-grows c2")
	forget(99, 9)
	same(t, left(), "s3 000ks3 1 es3 waits p-stands x-searches c-grows")
}

func refusedRows(t *testing.T, g GIDP) {
	ctx := context.Background()
	whole := sessionRow("s", 1)
	long, big := strings.Repeat("x", 256), make([]byte, 1)
	bad := func(change func(*durable.SessionRow)) func(durable.Writer) error {
		row := whole
		change(&row)
		return func(w durable.Writer) error { return w.AddSession(ctx, row) }
	}
	for name, f := range map[string]func(durable.Writer) error{
		"no id":             bad(func(r *durable.SessionRow) { r.ID = "" }),
		"a long id":         bad(func(r *durable.SessionRow) { r.ID = long }),
		"U+0000 in an id":   bad(func(r *durable.SessionRow) { r.ID = "a\x00" }),
		"no UTF-8 in a ref": bad(func(r *durable.SessionRow) { r.Ref = "\xff" }),
		"no interest":       bad(func(r *durable.SessionRow) { r.Interest = "" }),
		"a long peer":       bad(func(r *durable.SessionRow) { r.Peer = long }),
		"no body":           bad(func(r *durable.SessionRow) { r.Body = nil }),
		"version 0": func(w durable.Writer) error {
			return w.PutInterest(ctx, durable.InterestRow{ID: "i", Lineage: "l", Body: big})
		},
		"no lineage": func(w durable.Writer) error {
			return w.PutInterest(ctx, durable.InterestRow{ID: "i", Version: 1, Body: big})
		},
		"no ref": func(w durable.Writer) error {
			return w.PutProjection(ctx, durable.ProjectionRow{Interest: "i", Body: big})
		},
		"no message key": func(w durable.Writer) error { return w.AddReceived(ctx, "s", "", [32]byte{}) },
		"part -1": func(w durable.Writer) error {
			return w.PutPart(ctx, durable.PartRow{Session: "s", Part: -1, Body: big})
		},
		"a part of nothing": func(w durable.Writer) error { return w.PutPart(ctx, durable.PartRow{Part: 1, Body: big}) },
		"a part of no body": func(w durable.Writer) error { return w.PutPart(ctx, durable.PartRow{Session: "s", Part: 1}) },
		"nothing sent":      func(w durable.Writer) error { return w.AddSent(ctx, durable.SentRow{Session: "s", Number: 1}) },
		"no quantity": func(w durable.Writer) error {
			return w.PutLedger(ctx, durable.LedgerRow{Key: gidp.LedgerKey{Lineage: "l"}, Body: big})
		},
		"no state": func(w durable.Writer) error {
			return w.AddEntry(ctx, durable.EntryRow{ID: "e", Interest: "i", Body: big})
		},
		"no kind": func(w durable.Writer) error {
			return w.AddAudit(ctx, durable.AuditRow{Lineage: "l", Sequence: 1, Body: big})
		},
		"no work": func(w durable.Writer) error { return w.Schedule(ctx, durable.WorkSession, "", after(1)) },
		"no exploration": func(w durable.Writer) error {
			return w.PutExploration(ctx, durable.ExplorationRow{Interest: "i", Body: big})
		},
		"no coalition": func(w durable.Writer) error {
			return w.PutCoalition(ctx, durable.CoalitionRow{Interest: "i", Body: big})
		},
	} {
		if err := g.Agents.Update(ctx, f); err == nil || errors.Is(err, durable.ErrExists) || errors.Is(err, durable.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The longest keys that are accepted, incompressible, fit every index.
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		ok(t, w.AddReceived(ctx, noise(255), noise(255), [32]byte{1}))
		row := whole
		row.ID, row.Interest, row.Ref, row.Peer = noise(255), noise(255), noise(255), noise(255)
		ok(t, w.AddSession(ctx, row))
		ok(t, w.PutLedger(ctx, durable.LedgerRow{Key: gidp.LedgerKey{Lineage: noise(255), Quantity: noise(1024)}, Body: big}))
		ok(t, w.Schedule(ctx, durable.WorkSession, noise(255), after(1)))
	})
}

func undoneAgents(t *testing.T, g GIDP) {
	ctx := context.Background()
	is(t, g.Agents.Update(ctx, func(w durable.Writer) error {
		ok(t, w.AddSession(ctx, sessionRow("s", 1)))
		ok(t, w.Schedule(ctx, durable.WorkSession, "s", after(1)))
		return errEarly
	}), errEarly)
	func() {
		defer func() { same(t, recover(), "early") }()
		g.Agents.Update(ctx, func(w durable.Writer) error {
			ok(t, w.AddSession(ctx, sessionRow("s", 1)))
			panic("early")
		})
	}()
	ended, stop := context.WithCancel(ctx)
	err := g.Agents.Update(ended, func(w durable.Writer) error {
		ok(t, w.AddSession(ended, sessionRow("s", 1)))
		stop()
		return nil
	})
	is(t, err, context.Canceled)
	is(t, g.Agents.Update(ended, func(durable.Writer) error { t.Error("f ran after its end"); return nil }), context.Canceled)
	// After an answer, and after a refusal, a transaction goes on.
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
		_, err := w.Session(ctx, "s")
		is(t, err, durable.ErrNotFound)
		if w.AddSession(ctx, durable.SessionRow{}) == nil {
			t.Error("an empty row")
		}
		same(t, must(w.NextDue(ctx))(t), time.Time{})
		ok(t, w.AddSession(ctx, sessionRow("s", 1)))
	})
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) { same(t, must(r.Session(ctx, "s"))(t).Version, uint64(1)) })
}

func snapshot(t *testing.T, g GIDP) {
	write(t, g.Agents, func(ctx context.Context, w durable.Writer) { ok(t, w.AddSession(ctx, sessionRow("s", 1))) })
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		before := must(r.Session(ctx, "s"))(t)
		write(t, g.Agents, func(ctx context.Context, w durable.Writer) {
			row := before
			row.Phase = "CLOSED"
			ok(t, w.PutSession(ctx, row))
			ok(t, w.AddSent(ctx, durable.SentRow{Session: "s", Number: 1, Body: []byte("x")}))
		})
		same(t, must(r.Session(ctx, "s"))(t), before)
		same(t, len(must(r.Sent(ctx, "s", 0))(t)), 0)
	})
	// What a caller does with a row it got changes nothing.
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) { must(r.Session(ctx, "s"))(t).Body[0] = 'X' })
	read(t, g.Agents, func(ctx context.Context, r durable.Reader) {
		same(t, string(must(r.Session(ctx, "s"))(t).Body), "s")
	})
}
