package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/internal/app"
	"sayso/jcs"
)

// act is one step of a random transaction. It returns what the step answered, so that two stores can be compared.
type act struct {
	name string
	run  func(context.Context, app.Writer) (any, error)
}

// kind is what of an error is part of the contract.
func kind(err error) string {
	switch {
	case err == nil:
		return "nil"
	case errors.Is(err, app.ErrNotFound):
		return "not found"
	case errors.Is(err, app.ErrExists):
		return "exists"
	case errors.Is(err, errEarly):
		return "the caller's"
	}
	return "failed"
}

// random runs the same acts on the store and on a memory; both see one growing state, so that later checks begin where earlier ones ended.
func random(t *testing.T, s app.Store) {
	memory := NewMemory()
	With(t, s, "a")
	With(t, memory, "a")
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		acts := rapid.SliceOfN(rapid.Custom(drawAct), 1, 12).Draw(rt, "acts")
		fail := rapid.IntRange(0, 9).Draw(rt, "fail") == 0
		operation := rapid.SampledFrom([]string{"", "", "", "op-1", "op-2", "op-3"}).Draw(rt, "operation")
		run := func(s app.Store) (answers []string) {
			err := s.Update(ctx, operation, func(w app.Writer) error {
				answers = nil
				for _, a := range acts {
					v, err := a.run(ctx, w)
					answers = append(answers, fmt.Sprintf("%s: %+v %s", a.name, v, kind(err)))
					// After a refusal by reference only the end of the transaction is defined.
					if err != nil && !errors.Is(err, app.ErrExists) {
						return err
					}
				}
				if fail {
					return errEarly
				}
				return nil
			})
			return append(answers, "update: "+kind(err))
		}
		if got, want := run(s), run(memory); !slices.Equal(got, want) {
			rt.Fatalf("got  %q\nwant %q", got, want)
		}
	})
	same(t, dump(t, s), dump(t, memory))
}

// drawn are the values of a step, from few of a kind, so that steps meet.
type drawn struct {
	slug, owner, id, typ, host string
	n                          int
	at                         time.Time
}

func drawAct(t *rapid.T) act {
	d := drawn{
		slug:  rapid.SampledFrom([]string{"a", "b", "c", "a-b"}).Draw(t, "slug"),
		owner: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "owner"),
		id:    rapid.SampledFrom([]string{"1", "10", "B", "b", "é", "\uFB33", "😀", "bad\x00id"}).Draw(t, "id"),
		typ:   rapid.SampledFrom([]string{"p", "s", "s-x"}).Draw(t, "type"),
		host:  rapid.SampledFrom([]string{"x.example", "y.example"}).Draw(t, "host"),
		n:     rapid.IntRange(0, 3).Draw(t, "n"),
	}
	if d.n > 0 {
		d.at = day.Add(time.Duration(d.n) * time.Second)
	}
	return rapid.SampledFrom(slices.Concat(d.content(), d.trust())).Draw(t, "act")
}

// content are the steps on publishers and their records.
func (d drawn) content() []act {
	return []act{
		{"advance", func(ctx context.Context, w app.Writer) (any, error) { return unwrap(w.Advance(ctx, d.slug)) }},
		{"insert publisher", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.InsertPublisher(ctx, publisher(d.slug))
		}},
		{"update publisher", func(ctx context.Context, w app.Writer) (any, error) {
			row := publisher(d.slug)
			row.ChangedAt, row.Suspended = d.at, d.n == 1
			return nil, w.UpdatePublisher(ctx, row)
		}},
		{"put records", func(ctx context.Context, w app.Writer) (any, error) {
			row := record(d.typ, d.id, fmt.Sprintf(`{"n":%d}`, d.n))
			return unwrap(w.PutRecords(ctx, d.slug, each(record(d.typ, "1", `{}`), row, record("p", "10", `{}`))))
		}},
		{"delete records", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.DeleteRecords(ctx, d.slug, slices.Values([]app.RecordKey{{Type: d.typ, ID: d.id}, {Type: "p", ID: "1"}}))
		}},
		{"records", func(ctx context.Context, w app.Writer) (any, error) {
			var out []string
			for row, err := range w.Records(ctx, d.slug, []string{"", d.typ}[d.n%2], d.typ, d.id) {
				if err != nil {
					return nil, err
				}
				if out = append(out, row.Type+"/"+row.ID+string(row.Body)); len(out) == d.n+2 {
					break
				}
			}
			return out, nil
		}},
		{"counts", func(ctx context.Context, w app.Writer) (any, error) { return unwrap(w.RecordCounts(ctx, d.slug)) }},
		{"record", func(ctx context.Context, w app.Writer) (any, error) {
			row, err := w.Record(ctx, d.slug, d.typ, d.id)
			if errors.Is(err, app.ErrNotFound) {
				return "none", nil
			}
			return fmt.Sprintf("%+v", row), err
		}},
		{"publisher", func(ctx context.Context, w app.Writer) (any, error) {
			rows, err := w.Publishers(ctx, d.slug, d.n)
			return fmt.Sprintf("%+v", rows), err
		}},
	}
}

// trust are the steps on everything else.
func (d drawn) trust() []act {
	return []act{
		{"put key", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.PutKey(ctx, &app.KeyRow{Publisher: d.slug, Entry: business.PublisherKey{Kid: "k" + d.id, X: d.host}, CreatedAt: d.at})
		}},
		{"put registry key", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.PutRegistryKey(ctx, &app.RegistryKeyRow{Entry: business.RegistryKey{Kid: d.host, Role: d.typ}, InstalledAt: d.at})
		}},
		{"revoke", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.AppendRevocation(ctx, d.owner, &business.RevocationEntry{Scope: "entity", EntityKey: d.id})
		}},
		{"put proof", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.PutProof(ctx, &app.ProofRow{ID: d.host + d.typ, Publisher: d.slug, Host: d.host, Nonce: make([]byte, 16), State: []string{"pending", "proven", "lapsed", "replaced"}[d.n],
				CreatedAt: d.at, NextCheck: d.at, Evidence: jcs.Raw(`{}`)})
		}},
		{"proofs", func(ctx context.Context, w app.Writer) (any, error) {
			due, err := w.ProofsDue(ctx, d.at, d.n)
			if err != nil {
				return nil, err
			}
			rows, err := w.ProofsByHost(ctx, d.host)
			return fmt.Sprintf("%+v %+v", due, rows), err
		}},
		{"put verification", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.PutVerification(ctx, &app.VerificationRow{Publisher: d.slug, Decision: d.typ, RecordedAt: d.at})
		}},
		{"hold", func(ctx context.Context, w app.Writer) (any, error) { return unwrap(w.Hold(ctx, d.slug)) }},
		{"put reading", func(ctx context.Context, w app.Writer) (any, error) {
			row := reading(d.host, d.typ+"/"+d.id, []string{"", "one", "two"}[d.n%3], fmt.Sprint(d.n), time.Duration(d.n)*time.Second)
			return unwrap(w.PutReading(ctx, d.slug, row))
		}},
		{"readings", func(ctx context.Context, w app.Writer) (any, error) {
			rows, err := w.Readings(ctx, d.slug, []string{"", d.host}[d.n%2], []string{"", d.typ}[d.n/2], d.id, "")
			return show(rows), err
		}},
		{"prune readings", func(ctx context.Context, w app.Writer) (any, error) { return nil, w.PruneReadings(ctx, d.slug) }},
		{"delete readings", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.DeleteReadings(ctx, d.slug, d.host, []string{"", "one"}[d.n%2])
		}},
		{"put host", func(ctx context.Context, w app.Writer) (any, error) { return nil, w.PutHost(ctx, d.host, d.slug) }},
		{"delete host", func(ctx context.Context, w app.Writer) (any, error) { return nil, w.DeleteHost(ctx, d.host) }},
		{"put token", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.PutToken(ctx, &app.TokenRow{Hash: [32]byte{byte(d.n)}, ID: d.typ, Publisher: d.owner, CreatedAt: d.at, Scopes: []string{d.typ}})
		}},
		{"audit", func(ctx context.Context, w app.Writer) (any, error) {
			return nil, w.AppendAudit(ctx, &app.AuditRow{At: d.at, Action: d.typ, Publisher: d.owner, Target: d.id})
		}},
	}
}

// unwrap makes any of a value, nothing where there is an error.
func unwrap[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}
