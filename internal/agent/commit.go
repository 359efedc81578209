package agent

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// One step of a session is one transaction: the object that was received, the ledger, the state, what is sent, the inbox, the trail, and when the session is due
// again (sec. 5). What a process did not commit has not happened; what it committed, another one goes on with.

// keepClosed is how long a closed session, with its lead and the values its Principal may still look at, is kept.
const keepClosed = 30 * 24 * time.Hour

// dedupeGrace is how long a session is kept, with its keys of deduplication, after its last object has expired.
const dedupeGrace = 120 * time.Second

// sessionBody is what is kept, sealed, of one side of a session.
type sessionBody struct {
	standing
	State    session.State     `json:"state,omitzero"`
	Parts    []string          `json:"parts,omitempty"`   // SHA-256 of what is not in the row
	Shown    []string          `json:"shown,omitempty"`   // identity keys that were disclosed, and whose names the mandate may show
	Evidence string            `json:"evidence,omitzero"` // what became of an own request for evidence
	Repeated bool              `json:"repeated,omitzero"` // evidence of this side was asked for, and shown once more
	Sent     int               `json:"sent"`              // objects that this side has sent
	Acked    int               `json:"acked,omitzero"`    // by the peer; of the initiator
	Active   int64             `json:"active,omitzero"`   // when something last happened, milliseconds since 1970
	Own      []ownRequest      `json:"own,omitempty"`
	Asked    *peerRequest      `json:"asked,omitempty"` // the peer's disclosure or consent in the slot
	Held     []heldAsk         `json:"held,omitempty"`  // the peer's questions that wait for the Principal
	Lead     *leadForm         `json:"lead,omitempty"`
	Handoff  *HandoffView      `json:"handoff,omitempty"`
	Values   []ValueView       `json:"values,omitempty"`
	Stated   []statedRetention `json:"stated,omitempty"` // retention of own disclosure requests
	Signed   []SignatureView   `json:"signed,omitempty"`
	Order    *order            `json:"order,omitempty"`
	Objects  int               `json:"objects,omitzero"` // received
	Bytes    int               `json:"bytes,omitzero"`
	Network  string            `json:"network,omitzero"` // keyed digest of where an open session was opened from; of the responder

	// Of the initiator.
	Seen     int      `json:"seen,omitzero"`    // artifacts that were applied
	Hint     int      `json:"hint,omitzero"`    // seconds between looks that the responder asks for
	Strange  int      `json:"strange,omitzero"` // artifacts that no rule allows
	Told     bool     `json:"told,omitzero"`    // the Principal was told that an open waits
	Plan     plan     `json:"plan,omitzero"`
	Delivery delivery `json:"delivery,omitzero"`

	Place *place `json:"place,omitempty"` // in a coalition
	Began string `json:"began,omitzero"`  // id of the version that it was opened under, once it goes on under another
}

// ownRequest is where an own request stands among what was sent.
type ownRequest struct {
	ID     string `json:"id"`
	Number int    `json:"number"`
}

// heldAsk is a CompatibilityRequest that waits, as it came.
type heldAsk struct {
	ID     string  `json:"id"`
	Object jcs.Raw `json:"object"`
}

// statedRetention is what this side said about keeping a value it asked for.
type statedRetention struct {
	ID        string         `json:"id"`
	Retention wire.Retention `json:"retention"`
}

// peerRequest is a disclosure or consent that the peer asks for.
type peerRequest struct {
	ID         string         `json:"id"`
	Attribute  string         `json:"attribute,omitzero"`
	Action     wire.Action    `json:"action,omitzero"` // "": a disclosure
	Scope      []string       `json:"scope,omitempty"`
	Surface    string         `json:"surface,omitzero"`
	Purpose    string         `json:"purpose,omitzero"`
	Use        wire.Use       `json:"use,omitzero"`
	Retention  wire.Retention `json:"retention,omitzero"`
	Reciprocal bool           `json:"reciprocal,omitzero"`
	Qualified  bool           `json:"qualified,omitzero"` // the session was, when it came
}

func (r *peerRequest) keys() []string {
	if r.Action == "" {
		return []string{r.Attribute}
	}
	return r.Scope
}

// leadForm is an Opportunity that was sent or accepted.
type leadForm struct {
	At         int64    `json:"at"`
	Structure  string   `json:"structure"`
	Evaluated  int      `json:"evaluated"`
	Compatible int      `json:"compatible"`
	Open       []string `json:"open"`
	Contingent []string `json:"contingent"`
}

// sentBody is one sealed object that was sent, with what travels beside it.
type sentBody struct {
	Object    jcs.Raw `json:"object,omitzero"`
	Signature string  `json:"signature,omitzero"`
	Evidence  jcs.Raw `json:"evidence,omitzero"`
	Hint      jcs.Raw `json:"hint,omitzero"`
	Key       jcs.Raw `json:"key,omitzero"`
	Open      bool    `json:"open,omitzero"` // the session begins with it
	Expires   int64   `json:"expires"`
}

func sessionPlace(id string) string { return "session/" + id }
func sentPlace(id string, number int) string {
	return "sent/" + id + "/" + strconv.Itoa(number)
}

// turn is one session in one transaction.
type turn struct {
	a        *Agent
	w        durable.Writer
	row      durable.SessionRow
	body     sessionBody
	holding  *vault.Holding
	interest durable.InterestRow
	now      time.Time
	received time.Time // when the message came whose answer is released on the tick; zero: nothing waits
	fresh    bool      // the row is to be inserted
	dirty    bool
	driven   bool     // by its work, which schedules what comes next
	decided  bool     // the Principal has decided what is emitted now, or its condition was met
	narrow   []string // and narrowed it to this
	target   string   // of a Handoff: the reference that is no protocol
	// What an Opportunity or a Handoff of the peer says; it counts once the step has taken it.
	opportunity *wire.Opportunity
	offered     *HandoffView
	finding     string             // what the signature beside the received object showed
	proved      []propertyForm     // of the peer, in this transaction
	believed    map[[2]string]bool // whether an issuer is, by property and issuer
	entries     []string           // that began to wait
	key         *jwk.PrivateKey

	resumed   bool               // from where the step before left it
	artifacts []gidpa2a.Artifact // all that was sent; of one that was resumed
	scheduled time.Time          // when its work is due already; zero: not known
	digest    string             // of the state as it was resumed, until it changes
	saved     string             // of the state that was saved
	kept      parts              // as the row names them
}

// turn loads a session into a transaction.
func (a *Agent) turn(ctx context.Context, w durable.Writer, id string) (*turn, error) {
	row, interest, err := w.SessionAndInterest(ctx, id)
	if err != nil {
		return nil, err
	}
	return a.turnOf(ctx, w, row, interest)
}

func (a *Agent) turnOf(ctx context.Context, w durable.Writer, row durable.SessionRow, interest durable.InterestRow) (*turn, error) {
	t, err := a.lookAt(ctx, w, row, interest)
	if err != nil {
		return nil, err
	}
	t.w = w
	return t, nil
}

// look opens a session to be read; it has no transaction to write in.
func (a *Agent) look(ctx context.Context, r durable.Reader, row durable.SessionRow) (*turn, error) {
	_, interest, err := a.holding(ctx, r, row.Interest)
	if err != nil {
		return nil, err
	}
	return a.lookAt(ctx, r, row, interest)
}

// lookAt is look with the interest at hand.
func (a *Agent) lookAt(ctx context.Context, r durable.Reader, row durable.SessionRow, interest durable.InterestRow) (t *turn, err error) {
	t = &turn{a: a, row: row, interest: interest, now: a.Now()}
	if t.body, err = a.sessionBody(ctx, r, row); err != nil {
		return nil, err
	}
	t.kept.keeps(&t.body)
	t.lapse()
	t.holding, err = a.open(interest)
	return t, err
}

// resume is turnOf for a responder that gets a message: it goes on from what the step before left open, if the row is the one that it wrote.
func (a *Agent) resume(ctx context.Context, w durable.Writer, row durable.SessionRow, interest durable.InterestRow) (*turn, error) {
	open, known := a.opened.take(row)
	if !known {
		t, err := a.turnOf(ctx, w, row, interest)
		if err == nil {
			t.scheduled = deadline(&t.body.State)
		}
		return t, err
	}
	t := &turn{a: a, w: w, row: row, interest: interest, now: a.Now(), body: *open.body, kept: open.kept, resumed: true, artifacts: open.task.Artifacts,
		scheduled: deadline(&open.body.State), digest: open.digest, saved: open.digest}
	t.lapse()
	var err error
	t.holding, err = a.open(interest)
	return t, err
}

// absent replaces the store's word for a row that is not there.
func absent(err, instead error) error {
	if errors.Is(err, durable.ErrNotFound) {
		return instead
	}
	return err
}

// inSession runs f over a session in one transaction, and tells those who wait for it. f may run more than once.
func (a *Agent) inSession(ctx context.Context, id string, f func(*turn) error) (*turn, error) {
	var t *turn
	err := a.Store.Update(ctx, func(w durable.Writer) (err error) {
		if t, err = a.turn(ctx, w, id); err != nil {
			return err
		}
		if err = f(t); err != nil {
			return err
		}
		return t.save(ctx)
	})
	if err != nil {
		return nil, err
	}
	a.announce(t)
	return t, nil
}

// announce tells whoever waits for a session or for decisions that something was committed.
func (a *Agent) announce(t *turn) {
	if !t.dirty {
		return
	}
	if t.row.Closed {
		a.networks.left(t.row.ID)
	}
	a.watchers.notify(t.row.ID)
	a.kick()
	if a.Notify != nil {
		for _, entry := range t.entries {
			a.Notify(entry)
		}
	}
}

// active reports whether the interest is in force. A projection that ended since does not end the sessions that it began.
func (t *turn) active() bool {
	return t.interest.State == string(interest.Active) && !t.now.Before(t.holding.NotBefore()) && t.now.Before(t.holding.Expires())
}

func (t *turn) towards() interest.Towards {
	return interest.Towards{Active: t.active(), Peer: t.counterparty(), Depth: t.body.State.Depth, Revealed: t.body.State.Revealed()}
}

func (t *turn) env() session.Env {
	return session.Env{Now: t.now, Config: *t.a.Session, View: t.a.opened.view(t.holding, t.towards())}
}

// step applies an own event.
func (t *turn) step(ctx context.Context, e session.Event) error {
	env, before := t.env(), t.body.State
	st, messages, effects, err := session.Step(env, before, e)
	if err != nil {
		return err
	}
	return t.absorb(ctx, env, before, session.Outcome{State: st, Messages: messages, Effects: effects}, nil, nil)
}

// charged is the ledger of the interest. One without a budget has no use for it: what is answered from cells is charged to nobody (L-11).
func (t *turn) charged(ctx context.Context) (gidp.Ledger, error) {
	if len(t.holding.Budgeted()) == 0 {
		return gidp.Ledger{}, nil
	}
	return t.a.ledger(ctx, t.w, t.holding)
}

// deliver applies an object of the peer.
func (t *turn) deliver(ctx context.Context, d session.Delivery) error {
	env, before := t.env(), t.body.State
	ledger, err := t.charged(ctx)
	if err != nil {
		return err
	}
	out, err := session.Deliver(env, ledger, before, d)
	if err != nil {
		return err
	}
	o := d.Object
	if o == nil {
		o, _ = wire.Decode(d.Data) // it was decoded once already; the open of another version is read as far as it goes
	}
	t.target = d.TargetRef
	t.note(o)
	t.target = ""
	var ask *wire.CompatibilityRequest
	if ask, _ = o.(*wire.CompatibilityRequest); ask != nil && heldNow(out.Effects, ask.RequestID) {
		t.body.Held = append(t.body.Held, heldAsk{ID: ask.RequestID, Object: d.Data})
	}
	if !answered(o, out.Messages) {
		if err := t.receipt(ctx, o); err != nil {
			return err
		}
	}
	return t.absorb(ctx, env, before, out, ledger, ask)
}

// decideAsk applies the Principal's decision on a held question.
func (t *turn) decideAsk(ctx context.Context, ask *wire.CompatibilityRequest, granted bool) error {
	env, before := t.env(), t.body.State
	ledger, err := t.charged(ctx)
	if err != nil {
		return err
	}
	out, err := session.DecideAsk(env, ledger, before, ask, granted)
	if err != nil {
		return err
	}
	return t.absorb(ctx, env, before, out, ledger, ask)
}

func heldNow(effects []session.Effect, ref string) bool {
	return slices.ContainsFunc(effects, func(e session.Effect) bool { return e.Kind == session.EffectHold && e.Ref == ref })
}

// note keeps of an object what the state does not: why something is asked for, and what an Opportunity says.
func (t *turn) note(o wire.Object) {
	qualified := t.body.State.Phase == session.Qualified || t.body.State.Phase == session.Consented
	switch o := o.(type) {
	case *wire.DisclosureRequest:
		t.body.Asked = &peerRequest{ID: o.RequestID, Attribute: o.Attribute, Surface: o.RequestedSurface, Purpose: o.Purpose, Use: o.IntendedUse, Retention: o.Retention,
			Reciprocal: o.Reciprocal, Qualified: qualified}
	case *wire.ConsentRequest:
		t.body.Asked = &peerRequest{ID: o.RequestID, Action: o.Action, Scope: o.Scope, Reciprocal: o.Reciprocal, Qualified: qualified}
	case *wire.DisclosureResponse:
		if t.body.Order != nil && o.Status == wire.Pending {
			t.body.Order.Person = true
		}
	case *wire.Opportunity:
		t.opportunity = o
	case *wire.Handoff:
		t.offered = t.handoff(o, "theirs", t.target)
	}
}

func (t *turn) lead(o *wire.Opportunity) {
	t.body.Lead = &leadForm{At: t.now.Unix(), Structure: o.Structure, Evaluated: o.EvaluatedDimensions, Compatible: o.CompatibleDimensions,
		Open: o.OpenConditions, Contingent: o.ContingentOn}
}

// absorb writes what came of a step.
func (t *turn) absorb(ctx context.Context, env session.Env, before session.State, out session.Outcome, ledger gidp.Ledger, ask *wire.CompatibilityRequest) error {
	t.dirty = true
	t.body.State = out.State
	var charged map[string]float64
	if ledger != nil {
		charged = spent(ledger, out.Ledger)
		if err := t.a.saveLedger(ctx, t.w, ledger, out.Ledger); err != nil {
			return err
		}
	}
	digest := t.digest
	if t.digest = ""; digest == "" && len(out.Messages) > 0 {
		var err error
		if digest, err = t.stateDigest(before); err != nil {
			return err
		}
	}
	for _, m := range out.Messages {
		e := emission{Session: t.row.ID, Row: m.Row, Version: t.holding.Version(), State: digest}
		if !withoutInputs(m.Row) {
			e.Authority = snapshot(env.View.Authority)
		}
		t.describe(&e, env, before, m, ask)
		if m.Object.Type() == wire.TypeCompatibilityResponse {
			e.Spent = charged
		}
		e.Violation = slices.ContainsFunc(out.Effects, func(f session.Effect) bool { return f.Kind == session.EffectViolation && f.Ref == e.Ref })
		if err := t.emit(ctx, m, e); err != nil {
			return err
		}
	}
	return t.effects(ctx, out.Effects)
}

// save writes the row, its deadlines, and what a closed session still keeps.
func (t *turn) save(ctx context.Context) error {
	if !t.dirty && !t.fresh {
		return nil
	}
	st := &t.body.State
	if t.row.Phase, t.row.Closed = string(st.Phase), st.Phase == session.Closed; t.row.Closed {
		t.body.Network = ""
	}
	if st.EndsAt > 0 {
		t.row.EndsAt = time.Unix(st.EndsAt, 0).UTC()
	}
	if t.row.Closed && t.row.ForgetAt.IsZero() {
		t.row.ForgetAt = later(t.row.EndsAt.Add(dedupeGrace), t.now.Add(keepClosed))
	}
	t.retain()
	t.body.Active = t.now.UnixMilli()
	text, digest, err := t.keepParts(ctx)
	if err != nil {
		return inside("seal session", err)
	}
	if t.row.Body, err = t.a.Vault.Seal(sessionPlace(t.row.ID), text); err != nil {
		return err
	}
	t.saved = digest
	if t.fresh {
		if err := t.w.AddSession(ctx, t.row); err != nil {
			return err
		}
		t.fresh = false
	} else if err := t.w.PutSession(ctx, t.row); err != nil {
		return err
	}
	t.row.Version++ // as the store does
	if err := t.noted(ctx); err != nil {
		return err
	}
	if t.driven {
		return nil
	}
	due, err := t.due()
	if err != nil || !due.IsZero() && due.Equal(t.scheduled) {
		return err
	}
	return t.w.Schedule(ctx, durable.WorkSession, t.row.ID, due)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// retain forgets the values that this side said it would not keep (§10.7).
func (t *turn) retain() {
	st := &t.body.State
	for i, v := range t.body.Values {
		handoff := v.Retention == string(wire.RetainUntilHandoff)
		over := st.Phase == session.Closed && (handoff || v.Retention == string(wire.RetainSession)) || st.Phase == session.HandedOff && handoff
		if over && !v.Forgotten {
			t.body.Values[i].Value, t.body.Values[i].Forgotten = nil, true
		}
	}
	if st.Recv.Kind == session.SlotEmpty {
		t.body.Asked = nil
	}
	t.body.Held = slices.DeleteFunc(t.body.Held, func(h heldAsk) bool {
		return !slices.ContainsFunc(st.AsksIn, func(a session.Ask) bool { return a.ID == h.ID })
	})
	t.body.Own = slices.DeleteFunc(t.body.Own, func(o ownRequest) bool { return !outstanding(st, o.ID) })
}

// outstanding reports whether an own request has no final answer.
func outstanding(st *session.State, id string) bool {
	return st.Sent.ID == id || slices.ContainsFunc(st.AsksOut, func(a session.Ask) bool { return a.ID == id })
}

// deadline is the next instant at which time alone changes a session (sec. 5.5); the zero time when none does.
func deadline(st *session.State) time.Time {
	if st.Phase == session.None || st.Phase == session.Closed {
		return time.Time{}
	}
	at := st.EndsAt
	for _, a := range slices.Concat(st.AsksOut, st.AsksIn) {
		at = min(at, a.Deadline)
	}
	if s := st.Sent; s.Kind != session.SlotEmpty {
		at = min(at, s.Deadline)
	}
	if s := st.Recv; s.Kind != session.SlotEmpty {
		at = min(at, s.Deadline-min(max(s.Life/10, 5), 60)) // the margin of S-26
	}
	return time.Unix(at+1, 0).UTC()
}

// tick is how far apart answers are released; 0 for at once.
func (a *Agent) tick() time.Duration { return max(a.Tick, 0) }
