package agent

import (
	"context"
	"errors"
	"slices"

	"sayso/gidp"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// plan is how far the initiator has come in what it does by itself (sec. 12): one request with all claims that may be asked, one more for what stayed unknown,
// and repetitions where the peer's report is out of date. The rest is the Principal's.
type plan struct {
	Named    bool `json:"named,omitzero"` // the name that the session was opened for was asked about
	Asked    bool `json:"asked,omitzero"`
	Widened  bool `json:"widened,omitzero"`
	Approved bool `json:"approved,omitzero"` // the Principal approved the questions, which a repetition needs no more
	// Of a session that went on under another version: its number, and the keys that have another value in it.
	Version int      `json:"version,omitzero"`
	Changed []string `json:"changed,omitempty"`
	Stale   bool     `json:"stale,omitzero"` // a question of an earlier version stands that this one cannot ask: nothing qualifies on it
}

// proceed takes the next step of the plan, when it is due.
func (t *turn) proceed(ctx context.Context) error {
	st := &t.body.State
	if !t.row.Initiator || st.Phase != session.Probing || len(st.AsksOut) > 0 || !t.active() {
		return nil
	}
	if wait, err := t.pursue(ctx); wait || err != nil {
		return err
	}
	switch p := &t.body.Plan; {
	case !p.Asked:
		p.Asked = true
		claims, err := t.planned(ctx)
		if err == nil {
			err = t.ask(ctx, claims)
		}
		if err == nil && len(claims) == 0 && st.Renews && !p.Stale { // there is nothing to ask anew
			err = t.step(ctx, session.CarryOn{Done: true})
		}
		return err
	case !p.Widened && slices.ContainsFunc(st.Props, ofOurs(wire.Unknown)):
		p.Widened = true
		claims, err := t.wider(ctx)
		if err != nil {
			return err
		}
		return t.ask(ctx, claims)
	}
	return t.refresh(ctx)
}

func ofOurs(r wire.Result) func(session.Proposition) bool {
	return func(p session.Proposition) bool { return p.Side == session.Ours && !p.Withdrawn && p.Result == r }
}

// ask sends one request, or asks the Principal first where PROBE says so. Claims that would tell a value are not sent (C-44).
func (t *turn) ask(ctx context.Context, claims []wire.Claim) error {
	t.dirty = true
	claims = slices.DeleteFunc(slices.Clone(claims), func(c wire.Claim) bool { return t.holding.Vet(t.towards(), []wire.Claim{c}) != nil })
	if len(claims) == 0 {
		return nil
	}
	switch t.holding.Authority().At(gidp.Probe) {
	case gidp.No:
		return nil
	case gidp.Approval:
		body := entryBody{Kind: entryOwn, Ref: t.body.Plan.ownRef()}
		for _, c := range claims {
			body.Asks = append(body.Asks, askedForm{Key: c.Key, Operator: c.Operator, Value: c.Value, Supersedes: c.Supersedes})
		}
		return t.enter(ctx, body, t.body.State.EndsAt)
	}
	return t.lenient(t.step(ctx, session.AskClaims{Claims: claims, Renews: t.body.Plan.Stale}))
}

// lenient takes a refusal of an own event that nobody waits for as nothing to do.
func (t *turn) lenient(err error) error {
	var refused *session.Refusal
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// decideOwn is the Principal's decision on own questions.
func (t *turn) decideOwn(ctx context.Context, body entryBody, granted bool) error {
	if !granted {
		return nil
	}
	var claims []wire.Claim
	for _, c := range body.Asks {
		claims = append(claims, wire.Claim{Key: c.Key, Operator: c.Operator, Value: c.Value, Supersedes: c.Supersedes})
	}
	if t.holding.Vet(t.towards(), claims) != nil {
		return decidedBefore()
	}
	t.body.Plan.Approved = true
	return t.lenient(t.step(ctx, session.AskClaims{Claims: claims, Approved: true, Renews: t.body.Plan.Stale}))
}

// refresh repeats one answered question when the whole session hangs on a report of the peer that may be out of date (C-06).
func (t *turn) refresh(ctx context.Context) error {
	if !t.wantsRefresh() {
		return nil
	}
	claims, err := t.ownClaims(ctx)
	if err != nil {
		return err
	}
	for _, p := range t.body.State.Props {
		if p.Side != session.Ours || p.Withdrawn || p.Result == "" {
			continue
		}
		if c, ok := claims[p.ID]; ok {
			c.ID, c.Supersedes = "", nil
			return t.lenient(t.step(ctx, session.Refresh{Claim: c, Approved: t.body.Plan.Approved}))
		}
	}
	return nil
}

func (t *turn) wantsRefresh() bool {
	return t.row.Initiator && t.body.State.Phase == session.Probing && t.active() && session.WantsRefresh(t.env(), t.body.State)
}

// ownClaims are the claims that this side has asked, by id.
func (t *turn) ownClaims(ctx context.Context) (map[string]wire.Claim, error) {
	rows, err := t.w.Sent(ctx, t.row.ID, 0)
	if err != nil {
		return nil, err
	}
	out := map[string]wire.Claim{}
	for _, row := range rows {
		var body sentBody
		if err := t.a.unseal(sentPlace(t.row.ID, row.Number), row.Body, &body); err != nil {
			return nil, err
		}
		o, _ := wire.Decode(body.Object)
		if ask, ok := o.(*wire.CompatibilityRequest); ok {
			for _, c := range ask.Claims {
				out[c.ID] = c
			}
		}
	}
	return out, nil
}

// wider repeats the questions that stayed unknown, each with its edges one cell further out.
func (t *turn) wider(ctx context.Context) ([]wire.Claim, error) {
	asked, err := t.ownClaims(ctx)
	if err != nil {
		return nil, err
	}
	keys := t.holding.Profile().Rules().Keys
	var out []wire.Claim
	for _, p := range t.body.State.Props {
		c, ok := asked[p.ID]
		if !ok || !ofOurs(wire.Unknown)(p) {
			continue
		}
		value := c.Value
		switch k := keys[p.Key]; {
		case k.Partition != nil && c.Operator == wire.OpOverlaps:
			value, ok = widen(k.Partition, value)
		case k.Tree != nil && c.Operator == wire.OpIntersects:
			value, ok = widenLabels(k.Tree, value)
		default:
			ok = false
		}
		if ok {
			out = append(out, wire.Claim{Key: c.Key, Operator: c.Operator, Value: value, Supersedes: []string{p.ID}})
		}
	}
	return out, nil
}

// widenLabels replaces each label by what contains it: who holds a whole country cannot say whether a town of it is meant. False when no label lies in another.
func widenLabels(tree *gidp.Tree, value jcs.Raw) (jcs.Raw, bool) {
	held, err := gidp.ParseValue(value)
	if err != nil || !held.OnlyLabels() {
		return nil, false
	}
	moved := false
	var labels []string
	for _, label := range held.Labels() {
		if in := tree.Container(label); in != "" {
			label, moved = in, true
		}
		labels = append(labels, label)
	}
	if !moved {
		return nil, false
	}
	slices.Sort(labels)
	out, err := jcs.Encode(slices.Compact(labels))
	return out, err == nil
}

// span is an interval of whole numbers.
type span struct {
	Min *int64 `json:"min,omitempty"`
	Max *int64 `json:"max,omitempty"`
}

// widen moves each edge of an aligned interval to the next boundary outwards; false when there is none.
func widen(p *gidp.Partition, value jcs.Raw) (jcs.Raw, bool) {
	var s span
	if jcs.DecodeKnown(value, &s) != nil {
		return nil, false
	}
	moved := false
	if s.Min != nil {
		if cell, ok := p.Cell(*s.Min); ok && cell > 0 {
			*s.Min, _ = p.Bounds(cell - 1)
			moved = true
		}
	}
	if s.Max != nil {
		if cell, ok := p.Cell(*s.Max); ok && cell < p.Cells()-1 {
			_, *s.Max = p.Bounds(cell + 1)
			moved = true
		}
	}
	if !moved {
		return nil, false
	}
	out, err := jcs.Encode(s)
	return out, err == nil
}

// order is what the Principal has requested of the peer and what has become of it. One is under way at a time: each direction has one slot.
type order struct {
	Action    string         `json:"action"`
	Key       string         `json:"key,omitzero"`
	Target    string         `json:"target,omitzero"`
	Retention wire.Retention `json:"retention,omitzero"`
	Asked     bool           `json:"asked,omitzero"`     // consent was asked for
	Disclosed bool           `json:"disclosed,omitzero"` // the value was asked for
	Person    bool           `json:"person,omitzero"`    // a person of the peer decides about the value
}

// follow takes the next step of what the Principal has requested, once the peer has answered the one before.
func (t *turn) follow(ctx context.Context) error {
	o, st := t.body.Order, &t.body.State
	if o == nil || st.Sent.Kind != session.SlotEmpty || !t.active() {
		return nil
	}
	t.dirty = true
	done := func() error { t.body.Order = nil; return nil }
	if st.Phase != session.Probing && st.Phase != session.Qualified && st.Phase != session.Consented {
		return done()
	}
	granted := func(action wire.Action, entry string) bool {
		return slices.ContainsFunc(st.Grants, func(g session.Grant) bool {
			return g.By == session.Theirs && g.Action == action && slices.Contains(g.Scope, entry)
		})
	}
	var err error
	switch {
	case o.Action == RequestHandoff && granted(wire.ActHandoff, o.Target):
		if st.Recv.Kind != session.SlotEmpty {
			return nil // a request of the peer is answered first
		}
		t.body.Order = nil
		err = t.handOver(ctx, o.Target)
	case o.Action == RequestIdentity && granted(wire.ActIdentity, o.Key) && !o.Disclosed:
		err = t.askValue(ctx, o, wire.UseIdentity)
	case o.Action == RequestDisclosure && slices.Contains(st.Disclosed, o.Key):
		return done()
	case o.Action == RequestDisclosure && o.Asked && granted(wire.ActDisclose, o.Key) && !o.Disclosed:
		err = t.askValue(ctx, o, wire.UseEvaluation)
	case o.Action == RequestDisclosure && !o.Asked && !o.Person: // declined without a consent: some attributes need one
		o.Asked, o.Disclosed = true, false
		err = t.step(ctx, session.AskConsent{Action: wire.ActDisclose, Scope: []string{o.Key}})
	default:
		return done()
	}
	var refused *session.Refusal
	if errors.As(err, &refused) {
		return done()
	}
	return err
}

// askValue asks for a value.
func (t *turn) askValue(ctx context.Context, o *order, use wire.Use) error {
	o.Disclosed = true
	err := t.step(ctx, session.AskDisclosure{Attribute: o.Key, Purpose: t.purpose(), Use: use, Retention: o.Retention})
	if err == nil && o.Retention != "" {
		t.body.Stated = append(t.body.Stated, statedRetention{ID: t.body.State.Sent.ID, Retention: o.Retention})
	}
	return err
}
