package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
)

// Supersede replaces an interest by a new version of the same lineage under a new id. When the old one was ACTIVE the new one is, with new projections where the old one
// had some; else the new one is a DRAFT. Sessions of the old one are closed. What was told of a value stays told (L-6).
func (a *Agent) Supersede(ctx context.Context, id string, doc *interest.Interest) (InterestView, error) {
	v, err := a.supersede(ctx, id, doc, interest.Supersede)
	return v.Interest, err
}

// Continuation is what came of [Agent.Continue].
type Continuation struct {
	Interest InterestView
	Sessions int      // that go on
	Changed  []string // keys whose value is another one now: who asks again in a session that goes on may see that
}

// Continue is [Agent.Supersede] of an ACTIVE interest whose open sessions go on under the new version (sec. 11). What was asked in them keeps its answers and its claim ids;
// from the commit on the new version's policy, authority and values decide everything, what waits in the inbox included, and a session ends when either the time that
// was agreed or the validity of the new version is over. A consent to a key with another value now is taken back, own questions that changed are asked anew, and a mandate that
// states a level which is no longer given is not shown again. A version for another profile, action, object or principal is refused: sessions were opened for those.
func (a *Agent) Continue(ctx context.Context, id string, doc *interest.Interest) (Continuation, error) {
	return a.supersede(ctx, id, doc, interest.Continue)
}

func (a *Agent) supersede(ctx context.Context, id string, doc *interest.Interest, how interest.Change) (Continuation, error) {
	fresh, err := a.newID("i-")
	if err != nil {
		return Continuation{}, outward(err)
	}
	var v Continuation
	err = a.Store.Update(ctx, func(w durable.Writer) error {
		v = Continuation{}
		old, row, err := a.holding(ctx, w, id)
		if err != nil {
			return err
		}
		now, was := a.Now(), row.State
		own := *doc
		own.ID, own.Lineage, own.Version, own.Confirmed = fresh, row.Lineage, row.Version+1, false
		if err := a.usable(&own); err != nil {
			return err
		}
		if err := successor(old, was, &own, how); err != nil {
			return err
		}
		if _, err := a.move(ctx, w, old, row, how, now); err != nil {
			return err
		}
		h, made, err := a.insert(ctx, w, &own, interest.Draft)
		if err != nil {
			return err
		}
		if err := a.openRows(ctx, w, h, old); err != nil {
			return err
		}
		if was == string(interest.Active) {
			if made, err = a.move(ctx, w, h, made, interest.Activate, now); err != nil {
				return err
			}
			if err := a.renew(ctx, w, id, h, now); err != nil {
				return err
			}
		}
		if how == interest.Continue {
			if err := a.carryOver(ctx, w, old, h, made, &v); err != nil {
				return err
			}
		}
		v.Interest = interestView(made, h)
		return nil
	})
	a.kick()
	return v, outward(err)
}

// successor refuses a version that does not take the place of another one. The trail and the ledger of a lineage are one principal's; one that had no name yet may get one.
func successor(old *vault.Holding, was string, own *interest.Interest, how interest.Change) error {
	switch {
	case old.Principal() != "" && old.Principal() != own.PrincipalRef:
		return refuse(app.KindRefused, "another_principal", "a new version belongs to the principal of the old one", "write the principal_ref of the old version, or add the interest as one of its own: sayso interest add")
	case how != interest.Continue:
		return nil
	case was != string(interest.Active):
		return refuse(app.KindRefused, "not_active", "only an active interest has sessions that could go on", "look at its state: sayso interest list")
	case own.Continues(old.Document()) != nil:
		return refuse(app.KindRefused, "another_interest", interest.ErrOther.Error(), "supersede it without --continue: its sessions are closed then")
	}
	return nil
}

// auditContinued notes a session that goes on under another version.
const auditContinued = "session_continued"

// continuedAudit is what the trail holds of it.
type continuedAudit struct {
	Session string `json:"session"`
	From    string `json:"from"` // ids of the versions
	To      string `json:"to"`
}

// carryOver lets everything that is open of one version go on under another: sessions, and the records by which a candidate is not approached twice. A search that still asks
// a provider asks what the old version let appear, and ends.
func (a *Agent) carryOver(ctx context.Context, w durable.Writer, old, h *vault.Holding, made durable.InterestRow, v *Continuation) error {
	v.Changed = h.Changed(old)
	err := a.eachOpen(ctx, w, old.ID(), func(t *turn) error {
		v.Sessions++
		return t.carryOn(ctx, h, made, v.Changed)
	}, nil)
	if err != nil {
		return err
	}
	searches, err := w.Explorations(ctx, old.ID())
	if err != nil {
		return inside("read explorations", err)
	}
	for _, row := range searches {
		b, err := a.explorationBody(row)
		if err != nil {
			return err
		}
		row.Interest = made.ID
		if row.State == searching {
			err = a.endSearch(ctx, w, row, b, failed, "superseded")
		} else {
			err = a.putExploration(ctx, w, row, b)
		}
		if err != nil {
			return err
		}
	}
	coalitions, err := w.Coalitions(ctx, old.ID())
	if err != nil {
		return inside("read coalitions", err)
	}
	for _, row := range coalitions {
		row.Interest = made.ID
		if err := w.PutCoalition(ctx, row); err != nil {
			return inside("keep coalition", err)
		}
	}
	return nil
}

// carryOn lets one session go on under another version.
func (t *turn) carryOn(ctx context.Context, h *vault.Holding, made durable.InterestRow, changed []string) error {
	old := t.holding
	t.row.Interest, t.holding, t.interest, t.dirty = made.ID, h, made, true
	if t.body.Began == "" {
		t.body.Began = old.ID()
	}
	for l := gidp.Observe; l < gidp.Commit; l++ {
		if old.Authority().At(l) == gidp.Yes && h.Authority().At(l) != gidp.Yes {
			t.body.Mandate = "" // it states a level that is not given any more
		}
	}
	if err := t.a.audit(ctx, t.w, h.Lineage(), auditContinued, continuedAudit{Session: t.row.ID, From: old.ID(), To: h.ID()}); err != nil {
		return err
	}
	if t.body.State.Phase == session.None { // an open that waits for its Principal is made under the new version
		return nil
	}
	if err := t.step(ctx, session.CarryOn{Changed: changed}); err != nil || !t.row.Initiator {
		return t.lenient(err)
	}
	if err := t.settleOwn(ctx); err != nil {
		return err
	}
	changed = slices.Compact(slices.Sorted(slices.Values(slices.Concat(changed, t.body.Plan.Changed)))) // what the version before did not come to ask
	t.body.Plan = plan{Named: t.body.Plan.Named, Version: h.Version(), Changed: changed}
	return t.proceed(ctx)
}

// settleOwn ends the own questions that wait for the Principal: they were made from another version.
func (t *turn) settleOwn(ctx context.Context) error {
	rows, err := t.w.Entries(ctx, t.row.ID, true)
	if err != nil {
		return err
	}
	for _, row := range rows {
		var body entryBody
		if err := t.a.unseal(entryPlace(row.ID), row.Body, &body); err != nil {
			return err
		}
		if body.Kind != entryOwn {
			continue
		}
		if err := t.w.Decide(ctx, row.ID, durable.Settled, t.now); err != nil && !errors.Is(err, durable.ErrExists) {
			return err
		}
	}
	return nil
}

// planned are the claims of the plan. In a session that went on under another version those are left out whose answer stands and is about the same, and each other one takes
// the place of what was asked about its key before.
func (t *turn) planned(ctx context.Context) ([]wire.Claim, error) {
	claims := t.holding.Asks(t.towards())
	if t.body.Plan.Version == 0 {
		return claims, nil
	}
	before, err := t.ownClaims(ctx)
	if err != nil {
		return nil, err
	}
	changed := t.body.Plan.Changed
	if slices.Contains(changed, gidp.Excludes) {
		changed = slices.Concat(changed, t.env().View.Excluding)
	}
	needs := func(c wire.Claim) bool { // another version of a list is asked about as another key
		return slices.Contains(changed, c.Key) || c.Key == gidp.Provides && slices.Contains(changed, gidp.Requires) || c.Key == gidp.Requires && slices.Contains(changed, gidp.Provides)
	}
	same := func(c wire.Claim) func(wire.Claim) bool {
		return func(d wire.Claim) bool {
			return c.Key == d.Key && c.Operator == d.Operator && bytes.Equal(c.Value, d.Value)
		}
	}
	var standing []wire.Claim
	for _, p := range t.body.State.Props {
		if c, ok := before[p.ID]; ok && p.Side == session.Ours && !p.Withdrawn {
			standing = append(standing, c)
		}
	}
	var out []wire.Claim
	for _, c := range claims {
		asked := slices.ContainsFunc(standing, func(s wire.Claim) bool { return s.Key == c.Key })
		if asked && (!needs(c) || slices.ContainsFunc(standing, same(c))) {
			continue
		}
		out = append(out, c)
	}
	for _, s := range standing {
		if slices.ContainsFunc(claims, same(s)) {
			continue
		}
		if i := slices.IndexFunc(out, func(c wire.Claim) bool { return c.Key == s.Key }); i >= 0 {
			out[i].Supersedes = append(out[i].Supersedes, s.ID)
		} else if needs(s) {
			t.body.Plan.Stale = true
		}
	}
	return out, nil
}

// ownRef tells the own questions of one session apart in the inbox: first ones, repetitions, wider ones, each of one version.
func (p *plan) ownRef() string {
	ref := "1"
	switch {
	case p.Widened:
		ref = "2"
	case !p.Asked:
		ref = "0"
	}
	if p.Version > 0 {
		ref = fmt.Sprintf("%s of %d", ref, p.Version)
	}
	return ref
}
