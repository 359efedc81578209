package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/internal/app"
)

// Run holds the stores that open makes to the contract. Each call of open gives an empty store of its own, closed by its test.
func Run(t *testing.T, open func(testing.TB) app.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, app.Store)
	}{
		{"empty", empty}, {"rows of every kind", everyKind}, {"publishers", publishers}, {"records", records}, {"records in bulk", bulk}, {"streams", streams},
		{"rows that end early", rowsEndEarly}, {"texts that cannot be stored", unstorable}, {"references", references}, {"hosts", hosts}, {"proofs", proofs},
		{"heads", heads}, {"audit", audit}, {"errors undo everything", undo}, {"operations", operations}, {"cancelled", cancelled}, {"panic", panics},
		{"readers see old or new", isolation}, {"32 writers leave no gap", gapless}, {"no write skew", writeSkew}, {"one operation at once", oneOperation},
		{"acts on several heads", severalHeads}, {"readings", readings}, {"readings go with what they belong to", readingsGo}, {"readings that are refused", readingsRefused},
		{"a head is held", hold}, {"the newest reading wins", newestWins}, {"random acts", random},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			c.test(t, s)
			ok(t, s.Check(context.Background()))
		})
	}
}

func same(t testing.TB, got, want any) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Kind() == reflect.Struct && g.Type() == reflect.TypeFor[contents]() {
		for i := range g.NumField() {
			if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
				t.Errorf("%s:\n got %+v\nwant %+v", g.Type().Field(i).Name, g.Field(i), w.Field(i))
			}
		}
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func is(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func update(t testing.TB, s app.Store, f func(context.Context, app.Writer)) {
	t.Helper()
	ctx := context.Background()
	ok(t, s.Update(ctx, "", func(w app.Writer) error { f(ctx, w); return nil }))
}

func view(t testing.TB, s app.Store, f func(context.Context, app.Reader)) {
	t.Helper()
	ctx := context.Background()
	ok(t, s.View(ctx, func(r app.Reader) error { f(ctx, r); return nil }))
}

// With makes publishers.
func With(t testing.TB, s app.Store, slugs ...string) {
	t.Helper()
	update(t, s, func(ctx context.Context, w app.Writer) {
		for _, slug := range slugs {
			ok(t, w.InsertPublisher(ctx, publisher(slug)))
		}
	})
}

func empty(t *testing.T, s app.Store) {
	same(t, dump(t, s), dump(t, NewMemory()))
	engine, schema, err := s.Describe(context.Background())
	if err != nil || engine == "" || schema < 1 {
		t.Errorf("%q, schema %d, %v", engine, schema, err)
	}
	view(t, s, func(ctx context.Context, r app.Reader) {
		_, err := r.Publisher(ctx, "a")
		is(t, err, app.ErrNotFound)
		_, err = r.Record(ctx, "a", "b", "c")
		is(t, err, app.ErrNotFound)
		_, err = r.Token(ctx, [32]byte{})
		is(t, err, app.ErrNotFound)
	})
	update(t, s, func(ctx context.Context, w app.Writer) {
		is(t, w.UpdatePublisher(ctx, publisher("a")), app.ErrNotFound)
		ok(t, w.DeleteHost(ctx, "none.example"))
		ok(t, w.DeleteRecords(ctx, "a", slices.Values([]app.RecordKey{{Type: "b", ID: "c"}})))
	})
}

func everyKind(t *testing.T, s app.Store) {
	Fill(t, s)
	Filled(t, s)
	// Everything that can be replaced is replaced by the same key.
	update(t, s, func(ctx context.Context, w app.Writer) {
		ok(t, w.PutKey(ctx, &app.KeyRow{Publisher: "full", Entry: business.PublisherKey{Kid: "full-01234567"}, CreatedAt: day}))
		ok(t, w.PutRegistryKey(ctx, &app.RegistryKeyRow{Entry: business.RegistryKey{Kid: "registry-1"}}))
		ok(t, w.PutVerification(ctx, &app.VerificationRow{Publisher: "full", Decision: "d1"}))
		ok(t, w.PutProof(ctx, &app.ProofRow{ID: "p1", Publisher: "bare", Host: "other.example", Nonce: make([]byte, 16), State: "pending"}))
		ok(t, w.PutToken(ctx, &app.TokenRow{Hash: [32]byte{1}, ID: "t9", Publisher: "bare"}))
	})
	view(t, s, func(ctx context.Context, r app.Reader) {
		keys := must(r.Keys(ctx, "full"))(t)
		if len(keys) != 2 || keys[0].Entry.Kid != "full-00000000" || keys[1].Entry.X != "" || !keys[1].RevokedAt.IsZero() {
			t.Errorf("keys %+v", keys)
		}
		if got := must(r.Verifications(ctx, "full"))(t); len(got) != 2 || got[1].RecordedBy != "" {
			t.Errorf("verifications %+v", got)
		}
		if got := must(r.Proofs(ctx, "bare"))(t); len(got) != 1 || got[0].Evidence != nil || got[0].State != "pending" {
			t.Errorf("proofs %+v", got)
		}
		if got := must(r.Token(ctx, [32]byte{1}))(t); got.ID != "t9" || got.Publisher != "bare" || len(got.Scopes) != 0 {
			t.Errorf("token %+v", got)
		}
	})
}

func publishers(t *testing.T, s app.Store) {
	slugs := []string{"a", "b", "a-b", "Z", "ä", "a0", "aa"}
	With(t, s, slugs...)
	update(t, s, func(ctx context.Context, w app.Writer) {
		is(t, w.InsertPublisher(ctx, publisher("a")), app.ErrExists)
		// A refusal leaves the transaction usable.
		row := must(w.Publisher(ctx, "a"))(t)
		row.Reason, row.Revision = "changed", 99
		ok(t, w.UpdatePublisher(ctx, row))
		if got := must(w.Publisher(ctx, "a"))(t); got.Reason != "changed" || got.Revision != 0 {
			t.Errorf("within the transaction: %+v", got)
		}
	})
	slices.Sort(slugs)
	view(t, s, func(ctx context.Context, r app.Reader) {
		var got []string
		for after := ""; ; {
			page := must(r.Publishers(ctx, after, 2))(t)
			if len(page) == 0 {
				break
			}
			for _, row := range page {
				got = append(got, row.Slug)
			}
			after = got[len(got)-1]
		}
		same(t, got, slugs)
		same(t, len(must(r.Publishers(ctx, "", 0))(t)), 0)
		same(t, len(must(r.Publishers(ctx, "aa", 10))(t)), 2)
		same(t, len(must(r.Publishers(ctx, "not there", 10))(t)), 1)
	})
}

func unstorable(t *testing.T, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	for _, bad := range []string{"a\x00b", "\x00", "a\xff"} {
		for name, write := range map[string]func(app.Writer) error{
			"publisher": func(w app.Writer) error { return w.InsertPublisher(ctx, publisher(bad)) },
			"reason":    func(w app.Writer) error { return w.UpdatePublisher(ctx, &app.PublisherRow{Slug: "shop", Reason: bad}) },
			"record": func(w app.Writer) error {
				_, err := w.PutRecords(ctx, "shop", each(record("service", bad, `{}`)))
				return err
			},
			"kid": func(w app.Writer) error {
				return w.PutKey(ctx, &app.KeyRow{Publisher: "shop", Entry: business.PublisherKey{Kid: bad}})
			},
			"host":  func(w app.Writer) error { return w.PutHost(ctx, bad, "shop") },
			"token": func(w app.Writer) error { return w.PutToken(ctx, &app.TokenRow{ID: "t", Name: bad}) },
			"scope": func(w app.Writer) error { return w.PutToken(ctx, &app.TokenRow{ID: "t", Scopes: []string{bad}}) },
			"reading": func(w app.Writer) error {
				_, err := w.PutReading(ctx, "shop", reading(bad, "", "", "1", 0))
				return err
			},
			"hold":  func(w app.Writer) error { _, err := w.Hold(ctx, bad); return err },
			"audit": func(w app.Writer) error { return w.AppendAudit(ctx, &app.AuditRow{Reason: bad}) },
			"head":  func(w app.Writer) error { _, err := w.Advance(ctx, bad); return err },
		} {
			if err := s.Update(ctx, "", write); err == nil {
				t.Errorf("%s %q was stored", name, bad)
			}
		}
		// What cannot be stored is not there.
		view(t, s, func(ctx context.Context, r app.Reader) {
			_, err := r.Publisher(ctx, bad)
			is(t, err, app.ErrNotFound)
			_, err = r.Generation(ctx, bad)
			is(t, err, app.ErrNotFound)
			_, err = r.Record(ctx, "shop", "service", bad)
			is(t, err, app.ErrNotFound)
			same(t, len(must(r.Keys(ctx, bad))(t))+len(must(r.Proofs(ctx, bad))(t))+len(must(r.ProofsByHost(ctx, bad))(t))+len(must(r.Verifications(ctx, bad))(t))+
				len(must(r.Revocations(ctx, bad))(t))+len(must(r.Tokens(ctx, bad))(t))+len(must(r.Readings(ctx, bad, "", "", "", ""))(t))+must(r.CountReadings(ctx, bad))(t)+len(must(r.Audit(ctx, bad, 0, 9))(t))+len(must(r.RecordCounts(ctx, bad))(t))+
				len(collect(t, r.Records(ctx, "shop", bad, "", "")))+len(collect(t, r.Leaves(ctx, bad)))+len(must(r.Publishers(ctx, bad, 9))(t)), 0)
		})
		if err := s.Update(ctx, bad, func(app.Writer) error { return nil }); err == nil {
			t.Errorf("operation %q was stored", bad)
		}
	}
	long := strings.Repeat("x", 1025)
	for name, write := range map[string]func(app.Writer) error{
		"slug": func(w app.Writer) error { return w.InsertPublisher(ctx, publisher(long)) },
		"id": func(w app.Writer) error {
			_, err := w.PutRecords(ctx, "shop", each(record("service", long, `{}`)))
			return err
		},
		"host": func(w app.Writer) error { return w.PutHost(ctx, long, "shop") },
		"generation": func(w app.Writer) error {
			return w.UpdatePublisher(ctx, &app.PublisherRow{Slug: "shop", Generation: 1 << 63})
		},
		"nonce": func(w app.Writer) error {
			return w.PutProof(ctx, &app.ProofRow{ID: "p", Publisher: "shop", Host: "h", State: "pending", Nonce: []byte("x")})
		},
	} {
		if err := s.Update(ctx, "", write); err == nil {
			t.Errorf("a %s out of bounds was stored", name)
		}
	}
}

// references to a publisher that does not exist are refused, and nothing is kept even where the refusal is swallowed.
func references(t *testing.T, s app.Store) {
	ctx := context.Background()
	nonce := make([]byte, 16)
	for name, write := range map[string]func(app.Writer) error{
		"records": func(w app.Writer) error {
			_, err := w.PutRecords(ctx, "nobody", each(record("service", "1", `{}`)))
			return err
		},
		"key": func(w app.Writer) error {
			return w.PutKey(ctx, &app.KeyRow{Publisher: "nobody", Entry: business.PublisherKey{Kid: "k"}})
		},
		"revocation": func(w app.Writer) error {
			return w.AppendRevocation(ctx, "nobody", &business.RevocationEntry{Scope: "key"})
		},
		"proof": func(w app.Writer) error {
			return w.PutProof(ctx, &app.ProofRow{ID: "p", Publisher: "nobody", Host: "h", State: "pending", Nonce: nonce})
		},
		"verification": func(w app.Writer) error {
			return w.PutVerification(ctx, &app.VerificationRow{Publisher: "nobody", Decision: "d"})
		},
		"reading": func(w app.Writer) error {
			_, err := w.PutReading(ctx, "nobody", reading("stock", "", "", "1", 0))
			return err
		},
		"host":  func(w app.Writer) error { return w.PutHost(ctx, "h", "nobody") },
		"token": func(w app.Writer) error { return w.PutToken(ctx, &app.TokenRow{ID: "t", Publisher: "nobody"}) },
	} {
		is(t, s.Update(ctx, "", write), app.ErrNotFound)
		if err := s.Update(ctx, "", func(w app.Writer) error { write(w); return nil }); !errors.Is(err, app.ErrNotFound) {
			t.Errorf("%s of nobody, error swallowed: %v", name, err)
		}
	}
	is(t, s.Update(ctx, "", func(w app.Writer) error { _, err := w.Advance(ctx, "nobody"); return err }), app.ErrNotFound)
	same(t, dump(t, s), dump(t, NewMemory()))
}

func hosts(t *testing.T, s app.Store) {
	With(t, s, "a", "b")
	update(t, s, func(ctx context.Context, w app.Writer) {
		ok(t, w.PutHost(ctx, "one.example", "a"))
		ok(t, w.PutHost(ctx, "one.example", "a"))
		is(t, w.PutHost(ctx, "one.example", "b"), app.ErrExists)
		ok(t, w.PutHost(ctx, "two.example", "b"))
	})
	view(t, s, func(ctx context.Context, r app.Reader) {
		same(t, must(r.Hosts(ctx))(t), map[string]string{"one.example": "a", "two.example": "b"})
	})
	update(t, s, func(ctx context.Context, w app.Writer) {
		ok(t, w.DeleteHost(ctx, "one.example"))
		ok(t, w.PutHost(ctx, "one.example", "b"))
	})
	view(t, s, func(ctx context.Context, r app.Reader) {
		same(t, must(r.Hosts(ctx))(t), map[string]string{"one.example": "b", "two.example": "b"})
	})
}

func proofs(t *testing.T, s app.Store) {
	With(t, s, "a", "b")
	put := func(w app.Writer, id, slug, state string, created, next time.Duration) {
		row := &app.ProofRow{ID: id, Publisher: slug, Host: "h.example", Nonce: make([]byte, 16), State: state, CreatedAt: day.Add(created)}
		if next >= 0 {
			row.NextCheck = day.Add(next)
		}
		ok(t, w.PutProof(context.Background(), row))
	}
	update(t, s, func(ctx context.Context, w app.Writer) {
		put(w, "p4", "a", "proven", 4, 30*time.Second)
		put(w, "p3", "b", "pending", 3*time.Second, 20*time.Second)
		put(w, "p2", "a", "lapsed", 2*time.Second, -1)
		put(w, "p1", "b", "replaced", time.Second, 10*time.Second)
		put(w, "p0", "a", "pending", 9*time.Second, 20*time.Second)
	})
	names := func(rows []app.ProofRow) string {
		var out []string
		for _, row := range rows {
			out = append(out, row.ID)
		}
		return strings.Join(out, " ")
	}
	view(t, s, func(ctx context.Context, r app.Reader) {
		same(t, names(must(r.Proofs(ctx, "a"))(t)), "p4 p2 p0")
		same(t, names(must(r.ProofsByHost(ctx, "h.example"))(t)), "p4 p3 p0")
		same(t, names(must(r.ProofsDue(ctx, day.Add(20*time.Second), 10))(t)), "p1 p0 p3")
		same(t, names(must(r.ProofsDue(ctx, day.Add(20*time.Second), 2))(t)), "p1 p0")
		same(t, names(must(r.ProofsDue(ctx, day.Add(20*time.Second-time.Microsecond), 10))(t)), "p1")
		same(t, names(must(r.ProofsDue(ctx, day, 0))(t)), "")
	})
}

func heads(t *testing.T, s app.Store) {
	ctx := context.Background()
	update(t, s, func(ctx context.Context, w app.Writer) {
		// A head may be taken before its publisher is inserted.
		same(t, must(w.Advance(ctx, "a"))(t), uint64(1))
		ok(t, w.InsertPublisher(ctx, publisher("a")))
		same(t, must(w.Advance(ctx, "a"))(t), uint64(2))
		ok(t, w.InsertPublisher(ctx, publisher("b")))
		same(t, must(w.Advance(ctx, ""))(t), uint64(1))
	})
	want := map[string]uint64{"": 1, "a": 2, "b": 0}
	same(t, must(s.Heads(ctx))(t), want)
	is(t, s.Update(ctx, "", func(w app.Writer) error { must(w.Advance(ctx, "a"))(t); return errEarly }), errEarly)
	same(t, must(s.Heads(ctx))(t), want)
	view(t, s, func(ctx context.Context, r app.Reader) { same(t, must(r.Publisher(ctx, "a"))(t).Revision, uint64(2)) })
}

func audit(t *testing.T, s app.Store) {
	ctx := context.Background()
	With(t, s, "a", "b")
	for i := range 6 {
		update(t, s, func(ctx context.Context, w app.Writer) {
			ok(t, w.AppendAudit(ctx, &app.AuditRow{At: day, Action: fmt.Sprint(i), Publisher: []string{"a", "b", ""}[i%3]}))
		})
		is(t, s.Update(ctx, "", func(w app.Writer) error { ok(t, w.AppendAudit(ctx, &app.AuditRow{Action: "undone"})); return errEarly }), errEarly)
	}
	walk := func(slug string, limit int) string {
		var out []string
		for after := int64(0); ; {
			var page []app.AuditRow
			view(t, s, func(ctx context.Context, r app.Reader) { page = must(r.Audit(ctx, slug, after, limit))(t) })
			if len(page) == 0 {
				return strings.Join(out, " ")
			}
			for _, row := range page {
				if row.Sequence <= after {
					t.Fatalf("sequence %d after %d", row.Sequence, after)
				}
				after = row.Sequence
				out = append(out, row.Action)
			}
		}
	}
	same(t, walk("", 2), "0 1 2 3 4 5")
	same(t, walk("a", 1), "0 3")
	same(t, walk("b", 100), "1 4")
	same(t, walk("nobody", 100), "")
}

func undo(t *testing.T, s app.Store) {
	ctx := context.Background()
	before := dump(t, s)
	is(t, s.Update(ctx, "op", func(w app.Writer) error { ok(t, fill(ctx, w)); return errEarly }), errEarly)
	same(t, dump(t, s), before)
	ok(t, s.Update(ctx, "op", func(w app.Writer) error { return fill(ctx, w) })) // a failed operation was not recorded
	Filled1(t, s)
}

func operations(t *testing.T, s app.Store) {
	ctx := context.Background()
	runs := 0
	act := func(w app.Writer) error { runs++; _, err := w.Advance(ctx, ""); return err }
	for range 3 {
		ok(t, s.Update(ctx, "op-1", act))
	}
	ok(t, s.Update(ctx, "op-2", act))
	ok(t, s.Update(ctx, "", act))
	ok(t, s.Update(ctx, "", act))
	same(t, runs, 4)
	same(t, must(s.Heads(ctx))(t)[""], uint64(4))
	if err := s.Update(ctx, strings.Repeat("x", 256), act); err == nil {
		t.Error("an operation of 256 bytes was taken")
	}
}

func cancelled(t *testing.T, s app.Store) {
	With(t, s, "a")
	ctx, cancel := context.WithCancel(context.Background())
	err := s.Update(ctx, "op", func(w app.Writer) error {
		must(w.Advance(ctx, "a"))(t)
		cancel()
		_, err := w.Advance(ctx, "a")
		return err
	})
	is(t, err, context.Canceled)
	is(t, s.Update(ctx, "", func(app.Writer) error { t.Error("ran"); return nil }), context.Canceled)
	is(t, s.View(ctx, func(r app.Reader) error { _, err := r.Publisher(ctx, "a"); return err }), context.Canceled)
	same(t, must(s.Heads(context.Background()))(t), map[string]uint64{"": 0, "a": 0})
}

func panics(t *testing.T, s app.Store) {
	ctx := context.Background()
	func() {
		defer func() { recover() }()
		s.Update(ctx, "", func(w app.Writer) error { must(w.Advance(ctx, ""))(t); panic("in an act") })
	}()
	same(t, must(s.Heads(ctx))(t)[""], uint64(0))
	update(t, s, func(ctx context.Context, w app.Writer) { same(t, must(w.Advance(ctx, ""))(t), uint64(1)) })
}
