package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
	"sayso/jcs"
)

// What a Principal can request of the other side of a lead.
const (
	RequestIdentity   = "reveal_identity" // consent to an identity key, and then its value
	RequestDisclosure = "disclose"        // the value of an attribute; consent first where the peer needs it
	RequestContact    = "contact"         // consent to channels
	RequestHandoff    = "handoff"         // consent to one target, and then the hand-over
	// and RequestEvidence
)

// LeadRequest is one request. A Target is human:REF, workflow:REF or protocol:REF; a reference alone is a human's. Retention is stated to the peer and kept to.
type LeadRequest struct {
	Action    string
	Key       string // of reveal_identity and disclose; "" of the former: the profile's identity key
	Target    string // of handoff; of contact a channel, "": any of the profile's
	Retention string // session_only, until_handoff, unrestricted; "": nothing is stated
}

const sessionPage = 500

func unknownSession() error {
	return refuse(app.KindNotFound, "unknown_session", "no session has this id", "list the sessions: sayso interest sessions")
}

func sessionOver() error {
	return refuse(app.KindRefused, "session_over", "the session is closed, or the interest is not active", "look at it: sayso interest sessions")
}

// openSession makes the initiator's side of a session and schedules what follows. Where PROBE asks for it, the open waits in the inbox.
func (a *Agent) openSession(ctx context.Context, w durable.Writer, h *vault.Holding, endpoint, providerRef string) (string, error) {
	id, err := a.draw(16)
	if err != nil {
		return "", err
	}
	t := &turn{a: a, w: w, fresh: true, dirty: true, holding: h, now: a.Now(), row: durable.SessionRow{ID: id, Initiator: true, Interest: h.ID()}}
	if t.interest, err = w.Interest(ctx, h.ID()); err != nil {
		return "", err
	}
	t.row.OpenedAt, t.row.EndsAt = t.now.UTC(), t.now.Add(a.Session.SessionLife).UTC()
	t.body.Endpoint, t.body.Projection = endpoint, providerRef
	switch h.Authority().At(gidp.Probe) {
	case gidp.No:
		return "", refuse(app.KindRefused, "not_permitted", "PROBE is false: this interest opens no session", "supersede it by a version with another authority")
	case gidp.Approval:
		if err := t.save(ctx); err != nil {
			return "", err
		}
		err = t.enter(ctx, entryBody{Kind: entryOpen}, t.row.EndsAt.Unix())
	default:
		err = t.open(ctx, false)
	}
	if err != nil {
		return "", err
	}
	return id, t.save(ctx)
}

// open sends the SessionOpen of a session that has its row, or gets it now.
func (t *turn) open(ctx context.Context, approved bool) error {
	self, err := t.a.draw(16)
	if err != nil {
		return err
	}
	ends := t.now.Add(min(t.a.Session.SessionLife, session.MaxLife))
	if err := t.newKey(t.row.ID, ends.Truncate(time.Second)); err != nil {
		return err
	}
	if t.fresh {
		if err := t.save(ctx); err != nil { // what hangs on the session refers to it
			return err
		}
		t.dirty = true
	}
	record := sessionRecord{Session: t.row.ID, Role: string(session.Initiator), Profile: t.holding.ProfileID()}
	if err := t.a.audit(ctx, t.w, t.holding.Lineage(), auditOpened, record); err != nil {
		return err
	}
	e := session.Open{SessionID: t.row.ID, Self: self, Purpose: t.purpose(), ProjectionRef: t.body.Projection, Approved: approved}
	t.showAll()
	if list := append(t.mandate(), t.shownTexts()...); list != nil {
		if e.TrustContext, err = jcs.Encode(besideForm{Credentials: list}); err != nil {
			return err
		}
	}
	return t.step(ctx, e)
}

// purpose is the profile's code for what the interest is about, or a constant: nothing that a Principal wrote (W-12).
func (t *turn) purpose() string {
	if code := t.holding.Purpose(); slices.Contains(t.holding.Profile().Purposes, code) {
		return code
	}
	return "unspecified"
}

// decideOpen is the Principal's decision on an own open.
func (t *turn) decideOpen(ctx context.Context, granted bool) error {
	if !granted {
		return t.abandon(ctx, wire.ReasonDeclined)
	}
	if t.body.State.Phase != session.None {
		return decidedBefore()
	}
	err := t.open(ctx, true)
	var refused *session.Refusal
	if errors.As(err, &refused) {
		return sessionOver()
	}
	return err
}

// leaveSessions closes what is open of an interest that leaves ACTIVE (S-63): a request that waits gets its terminal answer, then the close is sent, and the inbox
// is settled. The interest's row is the changed one already, or is treated as such.
func (a *Agent) leaveSessions(ctx context.Context, w durable.Writer, interestID string) error {
	return a.eachOpen(ctx, w, interestID, func(t *turn) error { return t.leave(ctx) }, func(row durable.SessionRow) error { return a.shut(ctx, w, row) })
}

// shut closes a session that does not open: a damaged one does not keep an interest from ending. Its peer is told nothing, since nothing is known of what to tell.
func (a *Agent) shut(ctx context.Context, w durable.Writer, row durable.SessionRow) error {
	a.Log.Error("gidp: a session whose interest ends does not open, and is closed without a word to its peer", "session", row.ID)
	row.Phase, row.Closed, row.ForgetAt = string(session.Closed), true, later(row.EndsAt.Add(dedupeGrace), a.Now().UTC().Add(keepClosed))
	if err := w.PutSession(ctx, row); err != nil {
		return inside("close a session", err)
	}
	waiting, err := w.Entries(ctx, row.ID, true)
	if err != nil {
		return inside("read the inbox", err)
	}
	for _, entry := range waiting {
		if err := w.Decide(ctx, entry.ID, durable.Settled, a.Now()); err != nil {
			return inside("settle the inbox", err)
		}
	}
	return w.Schedule(ctx, durable.WorkSession, row.ID, time.Time{})
}

// eachOpen takes a step in every session of an interest that is open. What does not open goes to damaged, or is an error where that is nil.
func (a *Agent) eachOpen(ctx context.Context, w durable.Writer, interestID string, step func(*turn) error, damaged func(durable.SessionRow) error) error {
	return sessions(ctx, w, interestID, true, func(row durable.SessionRow) error {
		t, err := a.turn(ctx, w, row.ID)
		if damaged != nil && errors.Is(err, vault.ErrSeal) {
			return damaged(row)
		}
		if err != nil {
			return err
		}
		if err := step(t); err != nil {
			return err
		}
		a.watchers.notify(row.ID) // those who wait read the version, which says whether this was committed
		return t.save(ctx)
	})
}

func (t *turn) leave(ctx context.Context) error {
	t.interest.State = string(interest.Superseded) // not active, whatever of the other states it is
	if t.body.State.Phase == session.None {
		return t.abandon(ctx, wire.ReasonUnspecified)
	}
	return t.lenient(t.step(ctx, session.Leave{}))
}

// sessions reads all rows of an interest, "" for all.
func sessions(ctx context.Context, r durable.Reader, interestID string, open bool, visit func(durable.SessionRow) error) error {
	for after := ""; ; {
		rows, err := r.Sessions(ctx, interestID, open, after, sessionPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.ID
			if err := visit(row); err != nil {
				return err
			}
		}
		if len(rows) < sessionPage {
			return nil
		}
	}
}

// Sessions lists the sessions of an interest, or all that are kept when it is "", newest first.
func (a *Agent) Sessions(ctx context.Context, interestID string, principals ...string) ([]SessionView, error) {
	out := []SessionView{}
	err := a.Store.View(ctx, func(r durable.Reader) error {
		out = out[:0]
		if interestID != "" {
			if _, err := r.Interest(ctx, interestID); err != nil {
				return absent(err, unknownInterest())
			}
		}
		chosen, err := a.interestsOf(ctx, r, principals)
		if err != nil {
			return err
		}
		return sessions(ctx, r, interestID, false, func(row durable.SessionRow) error {
			if !chosen.has(row.Interest) {
				return nil
			}
			v, err := a.sessionView(ctx, r, row)
			if errors.Is(err, vault.ErrSeal) {
				v, err = unreadable(row), nil
			}
			out = append(out, v)
			return err
		})
	})
	slices.SortStableFunc(out, func(x, y SessionView) int { return y.OpenedAt.Compare(x.OpenedAt) })
	return out, outward(err)
}

// Leads lists what the sessions have come to that are worth a look (sec. 10.3), newest first. Closed ones are listed while they are kept.
func (a *Agent) Leads(ctx context.Context, principals ...string) ([]Lead, error) {
	out := []Lead{}
	err := a.Store.View(ctx, func(r durable.Reader) error {
		out = out[:0]
		chosen, err := a.interestsOf(ctx, r, principals)
		if err != nil {
			return err
		}
		return sessions(ctx, r, "", false, func(row durable.SessionRow) error {
			if !chosen.has(row.Interest) {
				return nil
			}
			t, err := a.look(ctx, r, row)
			if errors.Is(err, vault.ErrSeal) {
				return nil // the list of sessions shows it
			}
			if err != nil {
				return err
			}
			if l := t.leadView(); l != nil {
				out = append(out, *l)
			}
			return nil
		})
	})
	slices.SortStableFunc(out, func(x, y Lead) int { return y.At.Compare(x.At) })
	return out, outward(err)
}

func (t *turn) leadView() *Lead {
	l := t.body.Lead
	if l == nil || !t.body.State.Emitted {
		return nil
	}
	v := &Lead{ID: t.row.ID, Principal: t.holding.Principal(), Interest: t.row.Interest, Profile: t.body.State.Profile, State: t.body.State.WireState(), At: time.Unix(l.At, 0).UTC(), Structure: l.Structure,
		EvaluatedDimensions: l.Evaluated, CompatibleDimensions: l.Compatible, OpenConditions: append([]string{}, l.Open...), ContingentOn: append([]string{}, l.Contingent...),
		Statement: t.holding.Profile().LeadStatement}
	if len(l.Contingent) > 0 {
		v.Note = "contingent, incomplete"
	}
	return v
}

// sessionView is a session as its Principal sees it.
// unreadable is the view of a session whose row or parts do not open.
func unreadable(row durable.SessionRow) SessionView {
	v := SessionView{ID: row.ID, Interest: row.Interest, Role: string(session.Responder), State: stateUnreadable, Status: string(wire.StatusOpen), OpenedAt: row.OpenedAt, EndsAt: row.EndsAt,
		Entries: []string{}, Questions: []QuestionView{}, Grants: []GrantView{}, Values: []ValueView{}, Signatures: []SignatureView{}}
	if row.Initiator {
		v.Role = string(session.Initiator)
	}
	return v
}

func (a *Agent) sessionView(ctx context.Context, r durable.Reader, row durable.SessionRow) (SessionView, error) {
	t, err := a.look(ctx, r, row)
	if err != nil {
		return SessionView{}, err
	}
	entries, err := r.Entries(ctx, row.ID, true)
	if err != nil {
		return SessionView{}, err
	}
	st := &t.body.State
	v := SessionView{ID: row.ID, Principal: t.holding.Principal(), Interest: row.Interest, BeganUnder: t.body.Began, Role: string(session.Responder), State: st.WireState(), Status: string(session.Status(t.env(), *st)),
		Profile: t.holding.ProfileID(), Depth: string(st.Depth), OpenedAt: row.OpenedAt, EndsAt: row.EndsAt, Reason: string(st.Reason), Peer: t.peerView(), Entries: []string{},
		Questions: []QuestionView{}, Grants: []GrantView{}, Values: append([]ValueView{}, t.body.Values...), Lead: t.leadView(), Handoff: t.body.Handoff, Signatures: append([]SignatureView{}, t.body.Signed...),
		Delivery: t.body.Delivery.Failure}
	if row.Initiator {
		v.Role = string(session.Initiator)
	}
	if st.Phase == session.None {
		v.State, v.Status = "WAITING", string(wire.StatusOpen)
	}
	if o := t.body.Order; o != nil {
		v.Order = o.Action
	}
	for _, e := range entries {
		v.Entries = append(v.Entries, e.ID)
	}
	for _, p := range st.Props {
		v.Questions = append(v.Questions, QuestionView{From: string(p.Side), Key: p.Key, Result: string(p.Result), Expired: p.Expired, Superseded: p.Withdrawn})
	}
	for _, g := range st.Grants {
		v.Grants = append(v.Grants, GrantView{By: string(g.By), Action: string(g.Action), Scope: append([]string{}, g.Scope...)})
	}
	return v, nil
}

// Request asks the other side of a lead for something, on the Principal's order. What follows from the answer, up to the value or the hand-over, is done without a
// further order. One request is under way at a time.
func (a *Agent) Request(ctx context.Context, lead string, r LeadRequest) (SessionView, error) {
	t, err := a.inSession(ctx, lead, func(t *turn) error {
		if t.body.Lead == nil || !t.body.State.Emitted {
			return refuse(app.KindNotFound, "unknown_lead", "no lead has this id", "list the leads: sayso interest opportunities")
		}
		return t.request(ctx, r)
	})
	if err != nil {
		return SessionView{}, outward(absent(err, refuse(app.KindNotFound, "unknown_lead", "no lead has this id", "list the leads: sayso interest opportunities")))
	}
	return a.viewOf(ctx, t.row.ID)
}

func (a *Agent) viewOf(ctx context.Context, id string) (SessionView, error) {
	var v SessionView
	err := a.Store.View(ctx, func(r durable.Reader) error {
		row, err := r.Session(ctx, id)
		if err != nil {
			return absent(err, unknownSession())
		}
		v, err = a.sessionView(ctx, r, row)
		return err
	})
	return v, outward(err)
}

func (t *turn) request(ctx context.Context, r LeadRequest) error {
	st := &t.body.State
	switch {
	case !t.active(), st.Phase != session.Qualified && st.Phase != session.Consented:
		return sessionOver()
	case r.Action == RequestEvidence:
		return t.askEvidence(ctx)
	case st.Sent.Kind != session.SlotEmpty || t.body.Order != nil:
		return refuse(app.KindConflict, "request_waits", "an earlier request waits for the other side", "wait for its answer, or close the session")
	}
	o := &order{Action: r.Action, Key: r.Key, Target: r.Target, Retention: wire.Retention(r.Retention)}
	if kind, _, _ := strings.Cut(r.Target, ":"); r.Action == RequestHandoff && r.Target != "" && kind != string(wire.TargetProtocol) && targetKind(r.Target) == wire.TargetProtocol {
		o.Target = string(wire.TargetHuman) + ":" + r.Target // a reference alone is a human's, and a consent says so
	}
	switch o.Retention {
	case "", wire.RetainSession, wire.RetainUntilHandoff, wire.RetainUnrestricted:
	default:
		return refuse(app.KindInvalid, "bad_retention", "the retention is none of the protocol", "session_only, until_handoff or unrestricted")
	}
	e, err := t.requestEvent(o)
	if err != nil {
		return err
	}
	t.dirty = true
	t.body.Order = o
	record := sessionRecord{Session: t.row.ID, Kind: o.Action, Key: o.Key, Keep: string(o.Retention)}
	if err := t.a.audit(ctx, t.w, t.holding.Lineage(), auditRequest, record); err != nil {
		return err
	}
	switch {
	case e != nil:
		err = t.step(ctx, e)
	case o.Action == RequestDisclosure:
		err = t.askValue(ctx, o, wire.UseEvaluation)
	default: // consent was granted before
		err = t.follow(ctx)
	}
	var refused *session.Refusal
	if errors.As(err, &refused) {
		return refuse(app.KindRefused, "not_allowed_now", "the session does not allow this now: "+refused.Detail, "look at the session: sayso interest sessions")
	}
	return err
}

// requestEvent is the event that begins a request; nil when consent is not asked for first, or was granted before.
func (t *turn) requestEvent(o *order) (session.Event, error) {
	rules := t.holding.Profile().Rules()
	granted := func(action wire.Action, entry string) bool {
		return slices.ContainsFunc(t.body.State.Grants, func(g session.Grant) bool {
			return g.By == session.Theirs && g.Action == action && slices.Contains(g.Scope, entry)
		})
	}
	switch o.Action {
	case RequestIdentity:
		if o.Key == "" {
			o.Key = gidp.PrincipalIdentity
		}
		if !rules.Identifying(o.Key) {
			return nil, refuse(app.KindInvalid, "no_identity", "this key is not an identity key of the profile", "use disclose for it")
		}
		if granted(wire.ActIdentity, o.Key) {
			return nil, nil
		}
		return session.AskConsent{Action: wire.ActIdentity, Scope: []string{o.Key}}, nil
	case RequestDisclosure:
		switch {
		case o.Key == "" || len(o.Key) > wire.MaxText:
			return nil, refuse(app.KindInvalid, "key_needed", "a disclosure names one attribute", "name it: --key KEY")
		case rules.Identifying(o.Key):
			return nil, refuse(app.KindInvalid, "identity", "this key identifies the other side", "use reveal_identity for it")
		}
		return nil, nil
	case RequestContact:
		scope := rules.Channels
		if o.Target != "" {
			if !slices.Contains(scope, o.Target) {
				return nil, refuse(app.KindInvalid, "unknown_channel", "this is not a channel of the profile", "one of "+strings.Join(scope, ", "))
			}
			scope = []string{o.Target}
		}
		return session.AskConsent{Action: wire.ActContact, Scope: slices.Clone(scope)}, nil
	case RequestHandoff:
		if _, _, ok := parseTarget(o.Target); !ok {
			return nil, refuse(app.KindInvalid, "target_needed", "a hand-over names a target of 1 to 128 visible ASCII characters",
				"name it: --target human:REF, workflow:REF or protocol:REF")
		}
		if granted(wire.ActHandoff, o.Target) {
			return nil, nil
		}
		return session.AskConsent{Action: wire.ActHandoff, Scope: []string{o.Target}}, nil
	}
	return nil, refuse(app.KindInvalid, "unknown_request", "this is nothing that can be requested", "reveal_identity, disclose, contact, handoff or evidence")
}

// parseTarget reads the target of a hand-over.
func parseTarget(s string) (wire.Target, string, bool) {
	if s == "" || len(s) > wire.MaxID || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return wire.Target{}, "", false
	}
	switch kind, _, _ := strings.Cut(s, ":"); wire.TargetKind(kind) {
	case wire.TargetProtocol:
		return wire.Target{Kind: wire.TargetProtocol, ProtocolRef: s}, "", true
	case wire.TargetWorkflow:
		return wire.Target{Kind: wire.TargetWorkflow}, s, true
	}
	return wire.Target{Kind: wire.TargetHuman}, s, true
}

// handOver sends the Handoff that the peer has consented to, with the levels that are true, and never COMMIT.
func (t *turn) handOver(ctx context.Context, target string) error {
	to, ref, _ := parseTarget(target)
	authority := t.holding.Authority()
	var levels []gidp.Level
	for l := gidp.Observe; l < gidp.Commit; l++ {
		if authority.At(l) == gidp.Yes {
			levels = append(levels, l)
		}
	}
	t.target = ref
	err := t.step(ctx, session.HandOff{Target: to, TargetRef: ref, Levels: levels, Approved: true})
	t.target = ""
	return err
}

// handoff is a hand-over as it is shown, each level marked.
func (t *turn) handoff(o *wire.Handoff, by, target string) *HandoffView {
	v := &HandoffView{By: by, Kind: string(o.Target.Kind), Target: o.Target.ProtocolRef, Presence: o.RequiresPresence,
		ContingentOn: append([]string{}, o.ContingentOn...), At: t.now.UTC().Truncate(time.Second)}
	if v.Target == "" {
		v.Target = target
	}
	var names []string
	for _, s := range o.AuthorizedScope {
		names = append(names, string(s))
	}
	evidence := &t.body.Peer
	if by == "ours" {
		evidence = &peerForm{}
		if t.body.Mandate != "" {
			evidence.Levels = names
		}
	}
	v.Levels = evidence.levels(names)
	return v
}

// CloseSession ends a session without a reason (§14.8). A session that is closed already stays as it is.
func (a *Agent) CloseSession(ctx context.Context, id string) (SessionView, error) {
	_, err := a.inSession(ctx, id, func(t *turn) error {
		switch t.body.State.Phase {
		case session.Closed:
			return nil
		case session.None:
			return t.abandon(ctx, wire.ReasonUnspecified)
		}
		return t.lenient(t.step(ctx, session.Hang{Reason: wire.ReasonUnspecified}))
	})
	if err != nil {
		return SessionView{}, outward(absent(err, unknownSession()))
	}
	return a.viewOf(ctx, id)
}

// Gauges counts, for monitoring.
func (a *Agent) Gauges(ctx context.Context) (Gauges, error) {
	var g Gauges
	err := a.Store.View(ctx, func(r durable.Reader) error {
		g = Gauges{}
		rows, err := r.Interests(ctx)
		if err != nil {
			return err
		}
		g.Interests = len(rows)
		for _, row := range rows {
			if row.State == string(interest.Active) {
				g.Active++
			}
		}
		if err := sessions(ctx, r, "", true, func(durable.SessionRow) error { g.OpenSessions++; return nil }); err != nil {
			return err
		}
		waiting, err := r.Entries(ctx, "", true)
		g.WaitingDecisions = len(waiting)
		return err
	})
	return g, outward(err)
}
