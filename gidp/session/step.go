package session

import (
	"fmt"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// Step is the transition of one side of a session (§17.2). It changes none of its arguments. An error is a *Refusal: then the state is the one that was given
// and nothing is sent.
func Step(env Env, st State, ev Event) (State, []Message, []Effect, error) {
	r := &run{env: env, now: env.Now.Unix(), st: st.clone()}
	r.elapse()
	var err *Refusal
	if !env.View.Active && !passive(ev) {
		return st, nil, nil, local("S-63", "the interest is not active")
	}
	switch ev := ev.(type) {
	case Open:
		err = r.open(ev)
	case AskClaims:
		err = r.ask(ev)
	case Refresh:
		err = r.refresh(ev)
	case AskDisclosure:
		err = r.askDisclosure(ev)
	case AskConsent:
		err = r.askConsent(ev)
	case HandOff:
		err = r.handOff(ev)
	case Hang:
		err = r.hang(ev)
	case Decide:
		err = r.decide(ev)
	case Show:
		err = r.show(ev)
	case Leave:
		err = r.leave()
	case CarryOn:
		err = r.carryOn(ev)
	case Tick:
	case Receive:
		err = r.receive(ev)
	default:
		err = &Refusal{CodeLocal, "sec. 5.3", "no such event"}
	}
	if err != nil {
		return st, nil, nil, err
	}
	r.recompute()
	r.settleReports()
	return r.st, r.out, r.effects, nil
}

// passive events happen whether the interest is active or not.
func passive(ev Event) bool {
	switch ev.(type) {
	case Hang, Leave, Tick, Receive:
		return true
	}
	return false
}

// run is one step under way.
type run struct {
	env     Env
	now     int64
	st      State
	out     []Message
	effects []Effect
	report  *wire.CompatibilityResponse // its status is filled in when the step is complete
}

func local(row, format string, args ...any) *Refusal {
	return &Refusal{CodeLocal, row, fmt.Sprintf(format, args...)}
}

func (r *run) send(o wire.Object, row string) { r.out = append(r.out, Message{Object: o, Row: row}) }

func (r *run) note(e Effect) { r.effects = append(r.effects, e) }

func (r *run) head(expires int64) wire.Head {
	return wire.Head{SessionID: r.st.ID, ExpiresAt: at(expires)}
}

// issue returns the next request id of this side (W-11).
func (r *run) issue() string {
	r.st.Issued++
	return fmt.Sprintf("r-%d", r.st.Issued)
}

// elapse applies what time alone does: the end of the session, and deadlines.
func (r *run) elapse() {
	if r.st.Phase == None || r.st.Phase == Closed {
		return
	}
	if r.now > r.st.EndsAt {
		r.shut(wire.ReasonExpired)
		return
	}
	expired := func(side Side) func(Ask) bool {
		return func(a Ask) bool {
			if r.now <= a.Deadline {
				return false
			}
			r.expire(side, a)
			return true
		}
	}
	r.st.AsksOut = slices.DeleteFunc(r.st.AsksOut, expired(Ours))
	r.st.AsksIn = slices.DeleteFunc(r.st.AsksIn, expired(Theirs))
	if s := r.st.Recv; s.Kind != SlotEmpty && r.now > s.Deadline-margin(s.Life) {
		r.answerSlot(s, verdict{status: wire.Refused, row: "S-26"})
	}
	if s := r.st.Sent; s.Kind != SlotEmpty && r.now > s.Deadline {
		r.st.Sent = Slot{}
		r.note(Effect{Kind: EffectSettled, Ref: s.ID, Key: s.Attribute, Action: s.Action, Row: "S-27"})
	}
}

// lapses reports whether elapse has anything to do.
func (r *run) lapses() bool {
	late := func(a Ask) bool { return r.now > a.Deadline }
	return r.now > r.st.EndsAt || slices.ContainsFunc(r.st.AsksOut, late) || slices.ContainsFunc(r.st.AsksIn, late) ||
		r.st.Recv.Kind != SlotEmpty && r.now > r.st.Recv.Deadline-margin(r.st.Recv.Life) || r.st.Sent.Kind != SlotEmpty && r.now > r.st.Sent.Deadline
}

// margin is how long before the deadline of a request its answer is due: a tenth of its life, between 5 seconds and a minute.
func margin(life int64) int64 { return min(max(life/10, 5), 60) }

// expire leaves the claims of a request unanswered for good.
func (r *run) expire(side Side, a Ask) {
	for _, id := range a.Claims {
		if p := r.st.proposition(side, id); p != nil {
			p.Expired = true
		}
	}
	if a.Held {
		r.note(Effect{Kind: EffectSettled, Ref: a.ID, Row: "S-12"})
	}
}

// shut closes without a word.
func (r *run) shut(reason wire.Reason) {
	for _, s := range []Slot{r.st.Sent, r.st.Recv} {
		if s.Kind != SlotEmpty {
			r.note(Effect{Kind: EffectSettled, Ref: s.ID, Key: s.Attribute, Action: s.Action, Row: "S-60"})
		}
	}
	for _, a := range r.st.AsksIn {
		r.note(Effect{Kind: EffectSettled, Ref: a.ID, Row: "S-60"})
	}
	r.st.Phase, r.st.Reason = Closed, reason
	r.st.Sent, r.st.Recv, r.st.AsksOut, r.st.AsksIn = Slot{}, Slot{}, nil, nil
	r.note(Effect{Kind: EffectClosed, Row: string(reason)})
}

// closeWith sends a SessionClose and closes.
func (r *run) closeWith(reason wire.Reason, ref, row string) {
	r.send(&wire.SessionClose{Head: r.head(r.closeLife()), Reason: reason, RequestRef: ref}, row)
	r.shut(reason)
}

// closeLife is the expires_at of a close: the end of the session, or a while from now for one that never began.
func (r *run) closeLife() int64 {
	return max(r.st.EndsAt, r.now+int64(r.env.Config.AskLife/time.Second))
}

// standing visits the propositions that count: each until it is superseded.
func (r *run) standing(visit func(*Proposition)) {
	for i := range r.st.Props {
		if !r.st.Props[i].Withdrawn {
			visit(&r.st.Props[i])
		}
	}
}

// contradicted reports whether a standing proposition is incompatible.
func (s *State) contradicted() bool {
	return slices.ContainsFunc(s.Props, func(p Proposition) bool { return !p.Withdrawn && p.Result == wire.Incompatible })
}

// entry is E1 to E6 over this view (sec. 5.2).
func (r *run) entry() bool {
	if r.st.Vetoed || r.st.Renews || len(r.st.Requires) > 0 || r.st.Sent.Kind != SlotEmpty || r.st.Recv.Kind != SlotEmpty {
		return false
	}
	good, definite := true, false
	var keys, own []string
	r.standing(func(p *Proposition) {
		switch p.Result {
		case wire.Compatible:
			definite = true
		case wire.Conditionally:
		case "":
			if r.env.Config.literal&ignoreUnanswered != 0 {
				return
			}
			good = false
		default:
			good = false
		}
		if keys = append(keys, p.Key); p.Side == Ours {
			own = append(own, p.Key)
		}
	})
	if !good || !definite {
		return false
	}
	for _, key := range r.env.View.Minimum() {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	if r.st.Role == Initiator && !covers(own, r.env.View.Excluding) { // a responder asks nothing
		return false
	}
	return r.env.Config.literal&ignoreUnanswered != 0 || len(r.st.AsksOut)+len(r.st.AsksIn) == 0
}

// status is what this side reports (sec. 5.1). closed is local: it is never sent.
func (r *run) status() wire.Status {
	switch {
	case r.st.contradicted():
		return wire.StatusIncompatible
	case r.st.Phase == Closed:
		return wire.StatusClosed
	case r.st.Phase.qualified(), r.entry():
		return wire.StatusPotential
	}
	return wire.StatusOpen
}

// Status returns what this side would report now.
func Status(env Env, st State) wire.Status {
	r := &run{env: env, now: env.Now.Unix(), st: st.clone()}
	return r.status()
}

// WantsRefresh reports whether the initiator hangs on a report that may be out of date, and may repeat an answered claim now (C-06).
func WantsRefresh(env Env, st State) bool {
	r := &run{env: env, now: env.Now.Unix(), st: st.clone()}
	return r.refreshable() == nil
}

// recompute moves the initiator to QUALIFIED, and emits the Opportunity in the same step (S-40).
func (r *run) recompute() {
	if r.st.Phase.active() && r.st.contradicted() {
		return // the handlers close
	}
	if r.st.Phase != Probing || r.st.Role != Initiator || r.st.Vote != wire.StatusPotential || r.st.Emitted || !r.entry() {
		return
	}
	o := r.opportunity()
	r.st.Phase, r.st.Emitted, r.st.Contingent = Qualified, true, o.ContingentOn
	if r.report != nil {
		r.settleReports()
	}
	r.send(o, "S-40")
	r.note(Effect{Kind: EffectQualified, Row: "S-40"})
}

// settleReports fills in the status of a response once the step has come to rest. A responder remembers what it reported: it is its vote.
func (r *run) settleReports() {
	if r.report == nil {
		return
	}
	r.report.SessionStatus = r.status()
	if r.report.SessionStatus == wire.StatusClosed {
		r.report.SessionStatus = wire.StatusOpen
	}
	if r.st.Role == Responder {
		r.st.Vote = r.report.SessionStatus
		r.st.Stated = r.report.ContingentOn
	}
	r.report = nil
}

// opportunity counts what stands (sec. 10.1).
func (r *run) opportunity() *wire.Opportunity {
	o := &wire.Opportunity{Head: r.head(r.st.EndsAt), Structure: "unspecified", OpenConditions: []string{},
		IdentityStatus: map[string]wire.IdentityStatus{"initiator": wire.IdentityNotRequested, "responder": wire.IdentityNotRequested}}
	if p := r.env.View.Profile; p != nil && p.Structure != "" {
		o.Structure = p.Structure
	}
	all := map[string]bool{} // key: every standing proposition on it is compatible
	r.standing(func(p *Proposition) {
		if p.Result == "" {
			return
		}
		if so, seen := all[p.Key]; !seen || so {
			all[p.Key] = p.Result == wire.Compatible
		}
		if p.Result == wire.Conditionally {
			o.OpenConditions = append(o.OpenConditions, p.Key)
		}
	})
	o.EvaluatedDimensions = len(all)
	for _, so := range all {
		if so {
			o.CompatibleDimensions++
		}
	}
	o.OpenConditions = set(o.OpenConditions)
	o.ContingentOn = set(slices.Concat(r.contingencies(), r.st.Stated))
	return o
}

// contingencies are the own dependencies as they may be told now (§14.6).
func (r *run) contingencies() []string {
	c := r.env.View.Contingency
	if !c.Exists || c.Class.Never {
		return []string{}
	}
	named := c.Class.Disclosable() && r.withinDepth(c.Class) && (c.Class.Surface != gidp.Network || c.Member)
	switch c.Class.Gate {
	case gidp.NeedsConsent:
		_, ok := r.st.granted(Ours, wire.ActDisclose, gidp.ConditionalOn)
		named = named && ok
	case gidp.NeedsPrincipalOK:
		g, ok := r.st.granted(Ours, wire.ActDisclose, gidp.ConditionalOn)
		named = named && ok && g.Principal
	}
	if !named || len(c.Names) == 0 {
		return []string{wire.Undisclosed}
	}
	return set(c.Names[:min(len(c.Names), wire.MaxList)])
}

// withinDepth reports whether the session is deep enough for a class.
func (r *run) withinDepth(c gidp.Class) bool {
	return c.Surface != gidp.InSession || r.st.Depth == wire.DepthSession
}

// set sorts and removes duplicates; it is never nil, and never longer than a list may be.
func set(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), wire.MaxList)]
}
