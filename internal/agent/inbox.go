package agent

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/jcs"
)

// The kinds of entries.
const (
	entryQuestion   = "question"     // the peer asks, and PROBE is approval_required
	entryDisclosure = "disclosure"   // the peer wants a value
	entryConsent    = "consent"      // the peer wants consent
	entryOpen       = "open"         // this side's agent wants to open a session
	entryOwn        = "own_question" // this side's agent wants to ask
)

// entryBody is what is kept, sealed, of one entry, beyond what its session holds while it waits.
type entryBody struct {
	Kind    string       `json:"kind"`
	Ref     string       `json:"ref"` // request_id of the peer's request; "" of an own act
	Request *peerRequest `json:"request,omitempty"`
	Asks    []askedForm  `json:"asks,omitempty"` // own questions, in full
	Keys    []string     `json:"keys,omitempty"`
}

// askedForm is one claim that waits to be asked.
type askedForm struct {
	ID         string        `json:"id,omitzero"`
	Key        string        `json:"key"`
	Operator   wire.Operator `json:"operator"`
	Value      jcs.Raw       `json:"value"`
	Supersedes []string      `json:"supersedes,omitempty"`
}

func entryPlace(id string) string { return "entry/" + id }

// entryID follows from what it is about, so that the same request has one entry however often its transaction runs.
func (a *Agent) entryID(session, kind, ref string) string {
	sum := a.Vault.MAC("entry", session, kind, ref)
	return hex.EncodeToString(sum[:8])
}

// effects does what a step obliges to.
func (t *turn) effects(ctx context.Context, effects []session.Effect) error {
	for _, e := range effects {
		var err error
		switch e.Kind {
		case session.EffectHold:
			err = t.enter(ctx, entryBody{Kind: entryQuestion, Ref: e.Ref, Keys: t.askedKeys(e.Ref)}, e.Deadline)
		case session.EffectApprove:
			kind := entryDisclosure
			if e.Action != "" {
				kind = entryConsent
			}
			err = t.enter(ctx, entryBody{Kind: kind, Ref: e.Ref, Request: t.body.Asked}, e.Deadline)
		case session.EffectSettled:
			err = t.settle(ctx, e.Ref)
		case session.EffectValue:
			t.keepValue(e)
		case session.EffectQualified:
			if t.opportunity != nil { // the initiator's own is kept where it is sent
				t.lead(t.opportunity)
			}
		case session.EffectHandoff:
			t.body.Handoff = t.offered
		case session.EffectViolation: // stands in the entry of the answer
		case session.EffectClosed:
			err = t.closed(ctx, e.Row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sessionRecord is an entry of the trail about a session that is no emission.
type sessionRecord struct {
	Session string      `json:"session"`
	Role    string      `json:"role,omitzero"`
	Profile string      `json:"profile,omitzero"`
	Type    wire.Type   `json:"type,omitzero"`
	Ref     string      `json:"request,omitzero"`
	Entry   string      `json:"entry,omitzero"`
	Kind    string      `json:"kind,omitzero"`
	Action  wire.Action `json:"action,omitzero"`
	Key     string      `json:"key,omitzero"`
	Scope   []string    `json:"scope,omitempty"`
	Purpose string      `json:"purpose,omitzero"`
	Keep    string      `json:"retention,omitzero"`
	Status  string      `json:"status,omitzero"`
	Finding string      `json:"signature,omitzero"`
	Row     string      `json:"row,omitzero"`
	Strange int         `json:"further_violations,omitzero"` // of a closed session: those without an entry
}

// askedKeys are the keys of a held question.
func (t *turn) askedKeys(ref string) []string {
	var out []string
	if ask := t.heldAsk(ref); ask != nil {
		for _, c := range ask.Claims {
			out = append(out, c.Key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// heldAsk is a question that waits for the Principal; nil when there is none.
func (t *turn) heldAsk(ref string) *wire.CompatibilityRequest {
	for _, h := range t.body.Held {
		if h.ID == ref {
			o, _ := wire.Decode(h.Object)
			ask, _ := o.(*wire.CompatibilityRequest)
			return ask
		}
	}
	return nil
}

// enter adds an entry to the inbox.
func (t *turn) enter(ctx context.Context, body entryBody, deadline int64) error {
	id := t.a.entryID(t.row.ID, body.Kind, body.Ref)
	sealed, err := t.a.seal(entryPlace(id), body)
	if err != nil {
		return err
	}
	row := durable.EntryRow{ID: id, Interest: t.row.Interest, Session: t.row.ID, State: durable.Waiting, At: t.now.UTC(), Deadline: time.Unix(deadline, 0).UTC(), Body: sealed}
	if err := t.w.AddEntry(ctx, row); err != nil {
		return err
	}
	t.entries = append(t.entries, id)
	return nil
}

// settle ends the entries about a request that is done with: decided ones stay as they are.
func (t *turn) settle(ctx context.Context, ref string) error {
	for _, kind := range []string{entryQuestion, entryDisclosure, entryConsent} {
		err := t.w.Decide(ctx, t.a.entryID(t.row.ID, kind, ref), durable.Settled, t.now)
		if err != nil && !errors.Is(err, durable.ErrNotFound) && !errors.Is(err, durable.ErrExists) {
			return err
		}
	}
	return nil
}

// closed ends whatever still waits in a session, and notes why it ended.
func (t *turn) closed(ctx context.Context, reason string) error {
	rows, err := t.w.Entries(ctx, t.row.ID, true)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := t.w.Decide(ctx, row.ID, durable.Settled, t.now); err != nil && !errors.Is(err, durable.ErrExists) {
			return err
		}
	}
	t.body.Order = nil
	return t.a.audit(ctx, t.w, t.holding.Lineage(), auditClosed, sessionRecord{Session: t.row.ID, Status: reason, Strange: max(t.body.Strange-maxStrange, 0)})
}

// Decision is what a Principal decides about one entry.
type Decision struct {
	Grant bool
	Scope []string // of a consent: the part that is granted; nil: all of it
}

func unknownEntry() error {
	return refuse(app.KindNotFound, "unknown_entry", "the inbox has no entry of this id", "list the inbox: sayso interest inbox")
}

func decidedBefore() error {
	return refuse(app.KindConflict, "decided_before", "this entry was decided before, or is no longer needed", "list the inbox: sayso interest inbox --all")
}

// Decide is a Principal's decision on one entry of the inbox (sec. 9.4). Every row of the decision order runs again at the emission, so that what was withdrawn
// meanwhile is declined. A second decision is refused with KindConflict.
func (a *Agent) Decide(ctx context.Context, id string, d Decision) (EntryView, error) {
	var view EntryView
	var t *turn
	err := a.Store.Update(ctx, func(w durable.Writer) error {
		row, err := w.Entry(ctx, id)
		if err != nil {
			return absent(err, unknownEntry())
		}
		if row.State != durable.Waiting {
			return decidedBefore()
		}
		var body entryBody
		if err := a.unseal(entryPlace(id), row.Body, &body); err != nil {
			return err
		}
		if err := narrowable(body, d); err != nil {
			return err
		}
		if t, err = a.turn(ctx, w, row.Session); err != nil {
			return err
		}
		row.State, row.DecidedAt = durable.Declined, t.now.UTC()
		if d.Grant {
			row.State = durable.Granted
		}
		if view, err = t.entryView(ctx, row, body); err != nil { // before the step: afterwards the request is no longer there to be shown
			return err
		}
		if err := w.Decide(ctx, id, row.State, row.DecidedAt); err != nil {
			if errors.Is(err, durable.ErrExists) {
				return decidedBefore()
			}
			return err
		}
		record := sessionRecord{Session: row.Session, Entry: id, Kind: body.Kind, Ref: body.Ref, Status: string(row.State), Scope: d.Scope}
		if err := a.audit(ctx, w, t.holding.Lineage(), auditDecided, record); err != nil {
			return err
		}
		if err := t.decide(ctx, body, d); err != nil {
			return err
		}
		return t.save(ctx)
	})
	if err != nil {
		return EntryView{}, outward(err)
	}
	a.announce(t)
	return view, nil
}

// narrowable refuses a scope that is no part of what is asked for.
func narrowable(body entryBody, d Decision) error {
	if d.Scope == nil {
		return nil
	}
	if body.Kind != entryConsent || body.Request == nil {
		return refuse(app.KindInvalid, "not_narrowable", "only a consent has a scope that can be narrowed", "approve or decline the entry as a whole")
	}
	for _, entry := range d.Scope {
		if !slices.Contains(body.Request.Scope, entry) {
			return refuse(app.KindInvalid, "not_asked_for", "the scope names something that is not asked for", "name keys of the entry: sayso interest inbox")
		}
	}
	return nil
}

// decide applies a decision to the session.
func (t *turn) decide(ctx context.Context, body entryBody, d Decision) error {
	t.dirty = true
	var err error
	switch body.Kind {
	case entryQuestion:
		ask := t.heldAsk(body.Ref)
		if ask == nil {
			return decidedBefore()
		}
		t.decided = d.Grant
		err = t.decideAsk(ctx, ask, d.Grant)
	case entryDisclosure, entryConsent:
		t.decided, t.narrow = d.Grant, d.Scope
		err = t.step(ctx, session.Decide{Ref: body.Ref, Granted: d.Grant, Scope: d.Scope})
	case entryOpen:
		return t.decideOpen(ctx, d.Grant)
	case entryOwn:
		return t.decideOwn(ctx, body, d.Grant)
	}
	var refused *session.Refusal
	if errors.As(err, &refused) { // the clock, or the end of the interest, came first
		return refuse(app.KindRefused, "too_late", "the request can no longer be answered: it expired, or the session or the interest has ended", "list the inbox: sayso interest inbox --all")
	}
	return err
}

// Inbox lists the entries that wait, or all that are kept, oldest first.
func (a *Agent) Inbox(ctx context.Context, all bool, principals ...string) ([]EntryView, error) {
	out := []EntryView{}
	err := a.Store.View(ctx, func(r durable.Reader) error {
		out = out[:0]
		chosen, err := a.interestsOf(ctx, r, principals)
		if err != nil {
			return err
		}
		rows, err := r.Entries(ctx, "", !all)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !chosen.has(row.Interest) {
				continue
			}
			v, err := a.entryView(ctx, r, row)
			if err != nil {
				return err
			}
			out = append(out, v)
		}
		return nil
	})
	slices.SortFunc(out, func(x, y EntryView) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(x.ID, y.ID))
	})
	return out, outward(err)
}

// Entry returns one entry of the inbox.
func (a *Agent) Entry(ctx context.Context, id string) (EntryView, error) {
	var out EntryView
	err := a.Store.View(ctx, func(r durable.Reader) error {
		row, err := r.Entry(ctx, id)
		if err != nil {
			return absent(err, unknownEntry())
		}
		out, err = a.entryView(ctx, r, row)
		return err
	})
	return out, outward(err)
}

func (a *Agent) entryView(ctx context.Context, r durable.Reader, row durable.EntryRow) (EntryView, error) {
	var body entryBody
	if err := a.unseal(entryPlace(row.ID), row.Body, &body); err != nil {
		return EntryView{}, err
	}
	srow, err := r.Session(ctx, row.Session)
	if errors.Is(err, durable.ErrNotFound) { // closed long ago, and forgotten
		h, _, err := a.holding(ctx, r, row.Interest)
		if err != nil {
			return EntryView{}, err
		}
		return EntryView{ID: row.ID, Principal: h.Principal(), Interest: row.Interest, Session: row.Session, Kind: body.Kind, State: string(row.State), At: row.At,
			Deadline: row.Deadline, DecidedAt: row.DecidedAt, Keys: append([]string{}, body.Keys...), Peer: (&peerForm{}).view(""), Stays: staysSecret, Notice: cannotRecall}, nil
	}
	if err != nil {
		return EntryView{}, err
	}
	t, err := a.look(ctx, r, srow)
	if err != nil {
		return EntryView{}, err
	}
	return t.entryView(ctx, row, body)
}

// The sentences of an entry.
const (
	cannotRecall = "What is sent cannot be recalled: the other side has it, whatever it has said about keeping it."
	earlierBegan = "The session was opened under an earlier version of the interest. What is decided now is decided by the version in force."
	staysSecret  = "Everything else of the interest stays here, whatever you decide. A decision tells the other side no reason."
)

// entryView is an entry as its Principal sees it.
func (t *turn) entryView(_ context.Context, row durable.EntryRow, body entryBody) (EntryView, error) {
	v := EntryView{ID: row.ID, Principal: t.holding.Principal(), Interest: t.row.Interest, Session: row.Session, Kind: body.Kind, State: string(row.State), At: row.At,
		Deadline: row.Deadline, DecidedAt: row.DecidedAt, Keys: append([]string{}, body.Keys...), Peer: t.peerView(), Stays: staysSecret, Notice: cannotRecall}
	if t.body.Began != "" {
		v.Note = earlierBegan
	}
	switch body.Kind {
	case entryQuestion:
		v.Effect = "The questions are answered by classes, as your policy says; no value is sent. What the answers would be is not shown."
		if ask := t.heldAsk(body.Ref); ask != nil {
			for _, c := range ask.Claims {
				v.Questions = append(v.Questions, QuestionView{From: "theirs", Key: c.Key, Operator: string(c.Operator), Value: c.Value})
			}
		}
	case entryOpen:
		v.Effect = "A session is opened with a counterparty that a provider named. It learns your profile and the code of its purpose, and nothing else of your interest."
	case entryOwn:
		v.Effect = "These questions are sent. They name classes, and no value that you protect."
		for _, c := range body.Asks {
			v.Keys = append(v.Keys, c.Key)
			v.Questions = append(v.Questions, QuestionView{From: "ours", Key: c.Key, Operator: string(c.Operator), Value: c.Value})
		}
	case entryDisclosure, entryConsent:
		t.requestView(&v, body.Request)
	}
	return v, nil
}

func (t *turn) requestView(v *EntryView, req *peerRequest) {
	if req == nil {
		return
	}
	v.Keys = append([]string{}, req.keys()...)
	v.Purpose, v.IntendedUse, v.Retention, v.Reciprocal = req.Purpose, string(req.Use), string(req.Retention), req.Reciprocal
	if req.Action == "" {
		v.Effect = "The value below is sent to the other side of this session."
		t.reveal(v, req.keys())
		return
	}
	v.Action = string(req.Action)
	switch req.Action {
	case wire.ActDisclose:
		v.Effect = "These attributes may be disclosed in this session when the other side asks for them. This answer itself carries no value."
		t.reveal(v, req.Scope)
	case wire.ActIdentity:
		v.Effect = "These parts of your identity may be disclosed in this session, and questions about them are answered."
		t.reveal(v, req.Scope)
	case wire.ActContact:
		v.Effect = "The other side may contact you by these channels. This answer itself carries no address."
	case wire.ActHandoff:
		v.Effect = "The other side may hand this session over to the target it names. The session ends there; it binds nobody."
	}
}

// reveal lists the values that a grant sends or opens, as they would be sent.
func (t *turn) reveal(v *EntryView, keys []string) {
	view := t.holding.View(t.towards())
	for _, key := range keys {
		if a := view.Attributes[key]; !a.Held || !a.Class.Disclosable() {
			continue
		}
		if value, ok := t.holding.Value(key); ok {
			v.Reveals = append(v.Reveals, Reveal{Key: key, Value: value})
		}
	}
}
