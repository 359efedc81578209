package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
)

// answer is what of a result is part of the contract.
func answer(name string, v any, err error) string {
	for _, known := range []error{durable.ErrNotFound, durable.ErrExists, providerhttp.ErrStale, errEarly} {
		if errors.Is(err, known) {
			return name + ": " + known.Error()
		}
	}
	if err != nil {
		return name + ": failed"
	}
	return fmt.Sprintf("%s: %+v", name, v)
}

// agentAct is one step of a random transaction of an agent.
type agentAct struct {
	name string
	run  func(context.Context, durable.Writer) (any, error)
}

func drawAgentAct(t *rapid.T) agentAct {
	id := rapid.SampledFrom([]string{"a", "b", "B", "é", "", "bad\x00"}).Draw(t, "id")
	other := rapid.SampledFrom([]string{"a", "b", "B", ""}).Draw(t, "other")
	n := rapid.IntRange(0, 4).Draw(t, "n")
	flag := rapid.Bool().Draw(t, "flag")
	at := time.Time{}
	if n > 0 {
		at = after(n)
	}
	body := []byte(fmt.Sprint("body ", n))
	session := durable.SessionRow{
		ID: id, Initiator: n == 1, Interest: other, Ref: other, Peer: id, PeerKey: []byte(id), Phase: "P", Closed: flag, OpenedAt: at, EndsAt: at, ForgetAt: at, Body: body,
	}
	acts := []agentAct{
		{"put interest", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.PutInterest(ctx, durable.InterestRow{ID: id, Lineage: "l" + other, Version: n + 1, Principal: other, State: other, ChangedAt: at, Body: body})
		}},
		{"interests", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Interests(ctx)) }},
		{"put projection", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.PutProjection(ctx, durable.ProjectionRow{Ref: id, Interest: other, State: durable.Published, ExpiresAt: at, ForgetAt: at, Body: body})
		}},
		{"projections", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Projections(ctx, other)) }},
		{"add session", func(ctx context.Context, w durable.Writer) (any, error) { return nil, w.AddSession(ctx, session) }},
		{"put session", func(ctx context.Context, w durable.Writer) (any, error) { return nil, w.PutSession(ctx, session) }},
		{"session", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Session(ctx, id)) }},
		{"sessions", func(ctx context.Context, w durable.Writer) (any, error) {
			return unwrap(w.Sessions(ctx, other, flag, id, n))
		}},
		{"count open", func(ctx context.Context, w durable.Writer) (any, error) {
			return unwrap(w.CountOpen(ctx, other, []string{"", id}[n%2]))
		}},
		{"peer key", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.PeerKey(ctx, id)) }},
		{"session and interest", func(ctx context.Context, w durable.Writer) (any, error) {
			session, interest, err := w.SessionAndInterest(ctx, id)
			if err != nil { // what is found of two of which one is missing is nobody's business
				return nil, err
			}
			return []any{session, interest}, nil
		}},
		{"put part", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.PutPart(ctx, durable.PartRow{Session: id, Part: n, Body: body})
		}},
		{"parts", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Parts(ctx, id)) }},
		{"add received", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.AddReceived(ctx, id, "k"+other, [32]byte{byte(n)})
		}},
		{"received", func(ctx context.Context, w durable.Writer) (any, error) {
			return unwrap(w.Received(ctx, id, "k"+other))
		}},
		{"add sent", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.AddSent(ctx, durable.SentRow{Session: id, Number: n, At: at, Acknowledged: flag, Body: body})
		}},
		{"acknowledge", func(ctx context.Context, w durable.Writer) (any, error) { return nil, w.Acknowledge(ctx, id, n) }},
		{"sent", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Sent(ctx, id, n-1)) }},
		{"put exploration", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.PutExploration(ctx, durable.ExplorationRow{ID: id, Interest: other, At: at, ForgetAt: at, Body: body})
		}},
		{"explorations", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Explorations(ctx, other)) }},
		{"put coalition", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.PutCoalition(ctx, durable.CoalitionRow{ID: id, Interest: other, At: at, ForgetAt: at, Body: body})
		}},
		{"coalitions", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Coalitions(ctx, other)) }},
		{"put ledger", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.PutLedger(ctx, durable.LedgerRow{Key: gidp.LedgerKey{Lineage: id, Quantity: other}, Body: body})
		}},
		{"delete ledger", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.DeleteLedger(ctx, gidp.LedgerKey{Lineage: id, Quantity: other})
		}},
		{"ledger", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Ledger(ctx, id)) }},
		{"add entry", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.AddEntry(ctx, durable.EntryRow{ID: id, Interest: "i", Session: other, State: durable.Waiting, At: at, Deadline: at, Body: body})
		}},
		{"decide", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.Decide(ctx, id, durable.Granted, at)
		}},
		{"entries", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Entries(ctx, other, flag)) }},
		{"add audit", func(ctx context.Context, w durable.Writer) (any, error) {
			sequence, hash, err := w.TrailHead(ctx, id)
			if err != nil {
				return nil, err
			}
			hash[n]++
			return nil, w.AddAudit(ctx, durable.AuditRow{Lineage: id, Sequence: sequence + int64(1+n%2), At: at, Kind: "k", Body: body, Hash: hash})
		}},
		{"trail", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Trail(ctx, id, int64(n), 3)) }},
		{"schedule", func(ctx context.Context, w durable.Writer) (any, error) {
			return nil, w.Schedule(ctx, durable.WorkSession, id, at)
		}},
		{"claim", func(ctx context.Context, w durable.Writer) (any, error) {
			return unwrap(w.Claim(ctx, after(n), after(n+2), n))
		}},
		{"raise mark", func(ctx context.Context, w durable.Writer) (any, error) { return nil, w.RaiseMark(ctx, int64(n)) }},
		{"mark", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.Mark(ctx)) }},
		{"next due", func(ctx context.Context, w durable.Writer) (any, error) { return unwrap(w.NextDue(ctx)) }},
		{"forget", func(ctx context.Context, w durable.Writer) (any, error) { return nil, w.Forget(ctx, after(n), n-1) }},
	}
	return rapid.SampledFrom(acts).Draw(t, "act")
}

// randomAgents runs the same transactions on the store and on a memory; both see one growing state.
func randomAgents(t *testing.T, g GIDP) {
	ctx := context.Background()
	memory := NewAgents()
	rapid.Check(t, func(rt *rapid.T) {
		acts := rapid.SliceOfN(rapid.Custom(drawAgentAct), 1, 14).Draw(rt, "acts")
		fail := rapid.IntRange(0, 9).Draw(rt, "fail") == 0
		run := func(s durable.Store) (answers []string) {
			err := s.Update(ctx, func(w durable.Writer) error {
				answers = nil
				for _, a := range acts {
					v, err := a.run(ctx, w)
					answers = append(answers, answer(a.name, v, err))
				}
				if fail {
					return errEarly
				}
				return nil
			})
			return append(answers, answer("update", nil, err))
		}
		if got, want := run(g.Agents), run(memory); !slices.Equal(got, want) {
			rt.Fatalf("got  %q\nwant %q", got, want)
		}
	})
	same(t, dumpAgents(t, g.Agents), dumpAgents(t, memory))
}

// dumpAgents is everything that can be listed.
func dumpAgents(t *testing.T, s durable.Store) (out []string) {
	read(t, s, func(ctx context.Context, r durable.Reader) {
		add := func(v any, err error) {
			ok(t, err)
			out = append(out, fmt.Sprintf("%+v", v))
		}
		add(unwrap(r.Interests(ctx)))
		add(unwrap(r.Projections(ctx, "")))
		add(unwrap(r.Sessions(ctx, "", false, "", 99)))
		add(unwrap(r.Explorations(ctx, "")))
		add(unwrap(r.Coalitions(ctx, "")))
		add(unwrap(r.Entries(ctx, "", false)))
		add(unwrap(r.NextDue(ctx)))
		add(unwrap(r.Mark(ctx)))
		for _, id := range []string{"a", "b", "B", "é"} {
			add(unwrap(r.Sent(ctx, id, 0)))
			add(unwrap(r.Ledger(ctx, id)))
			add(unwrap(r.Trail(ctx, id, 0, 999)))
		}
	})
	return out
}

// randomProvider runs the same calls on the rows and on a memory.
func randomProvider(t *testing.T, g GIDP) {
	ctx := context.Background()
	memory := NewProvider()
	rapid.Check(t, func(rt *rapid.T) {
		ref, owner := byte(rapid.IntRange(1, 4).Draw(rt, "ref")), byte(rapid.IntRange(1, 3).Draw(rt, "owner"))
		n := rapid.IntRange(0, 5).Draw(rt, "n")
		act := rapid.SampledFrom([]string{"commit", "commit", "commit", "next", "next", "withdraw", "of key", "changes", "all", "expire", "report", "reports", "ban", "bans"}).Draw(rt, "act")
		run := func(p providerhttp.Rows) string {
			row := placedRow(ref, owner, uint32(n), fmt.Sprint("https://e.example/", n%4))
			switch act {
			case "commit":
				return answer(act, nil, p.Commit(ctx, row))
			case "next", "withdraw":
				kept, found, err := p.Projection(ctx, provider.Ref{ref})
				if err != nil || !found {
					return answer(act, found, err)
				}
				row.Owner, row.Revision, row.Withdrawn = kept.Owner, kept.Revision+1, act == "withdraw"
				return answer(act, kept, p.Commit(ctx, row))
			case "of key":
				row, found, err := p.OfKey(ctx, provider.Thumbprint{owner})
				return answer(act, fmt.Sprint(row, found), err)
			case "changes":
				rows, next, err := p.Changes(ctx, int64(n*n), 3)
				return answer(act, fmt.Sprint(rows, next), err)
			case "all":
				rows, position, err := p.All(ctx)
				text := fmt.Sprint(position)
				for row := range rows {
					text += fmt.Sprint(row)
				}
				return answer(act, text, err)
			case "expire":
				return answer(act, nil, p.Expire(ctx, after(n), n%2))
			case "report":
				return answer(act, nil, p.AddReport(ctx, providerhttp.Report{
					Ref: row.Ref, Owner: row.Owner, Reporter: provider.Thumbprint{byte(n)}, Reason: "r", At: after(n),
				}))
			case "reports":
				rows, err := p.Reports(ctx, n)
				return answer(act, rows, err)
			case "ban":
				b := providerhttp.Ban{Key: row.Owner, Until: after(n), At: after(2)}
				if n%2 == 0 {
					b.Key, b.Network = provider.Thumbprint{}, fmt.Sprint("net", ref)
				}
				return answer(act, nil, p.PutBan(ctx, b))
			}
			rows, err := p.Bans(ctx)
			return answer(act, rows, err)
		}
		if got, want := run(g.Provider), run(memory); got != want {
			rt.Fatalf("%s: got  %s\nwant %s", act, got, want)
		}
	})
}
