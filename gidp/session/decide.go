package session

import (
	"slices"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// The decision order of §16.3 for disclosures and consents. It runs for every request received, and again at the emission of every late answer.

// verdict is the answer to the request in a slot.
type verdict struct {
	status wire.Grant
	row    string
	verify []string // granted_if_verified
	scope  []string // granted, of a consent
	broken bool     // the peer asked what it must not
}

func refuse(row string) verdict { return verdict{status: wire.Refused, row: row} }

// judge decides the request in a slot; decided tells that the Principal has approved it.
func (r *run) judge(s Slot, decided bool, narrow []string) verdict {
	if s.Kind == SlotDisclosure {
		return r.judgeDisclosure(s, decided)
	}
	return r.judgeConsent(s, decided, narrow)
}

func (r *run) judgeDisclosure(s Slot, decided bool) verdict {
	v := &r.env.View
	identity := v.Identifying(s.Attribute)
	grant, revealed := r.st.granted(Ours, wire.ActIdentity, s.Attribute)
	a := v.Attributes[s.Attribute]
	introduce := v.Authority.At(gidp.Introduce)
	requested, _ := gidp.ParseSurface(s.Surface)
	switch {
	case v.Authority.At(gidp.Disclose) == gidp.No || identity && introduce == gidp.No:
		return refuse("D2")
	case identity && !revealed:
		return refuse("D2a")
	case a.Class.Surface == gidp.Network && !a.Member:
		return refuse("D3")
	case !r.withinDepth(a.Class):
		return refuse("D4")
	case !a.Held || !a.Class.Disclosable():
		return refuse("D4a")
	case requested != gidp.Network && requested != gidp.InSession || requested > a.Class.Surface:
		return refuse("D4b")
	case !decided && (v.Authority.At(gidp.Disclose) == gidp.Approval || a.Class.Gate == gidp.NeedsPrincipalOK ||
		identity && introduce == gidp.Approval && !grant.Principal):
		return verdict{status: wire.Pending, row: "D5"}
	case a.Class.Gate == gidp.NeedsConsent && !r.consented(s.Attribute, identity):
		return refuse("D5a")
	}
	reciprocal := a.Reciprocal && !r.reciprocated(s.Attribute)
	var verify []string
	for _, reference := range a.Verify {
		if !slices.Contains(r.st.Shown, reference) {
			verify = append(verify, reference)
		}
	}
	switch {
	case reciprocal && len(verify) > 0: // one provisional answer cannot say both (C-16)
		return refuse("C-16")
	case reciprocal:
		return verdict{status: wire.GrantedIfReciprocal, row: "D5b"}
	case len(verify) > 0:
		return verdict{status: wire.GrantedIfVerified, row: "D5b", verify: verify}
	}
	return verdict{status: wire.Granted, row: "D6"}
}

// consented reports whether a consent of ours covers a key. An identity is covered by the grant that reveals it.
func (r *run) consented(key string, identity bool) bool {
	action := wire.ActDisclose
	if identity {
		action = wire.ActIdentity
	}
	_, ok := r.st.granted(Ours, action, key)
	return ok
}

// reciprocated reports whether the peer has disclosed an attribute, or waits for us to go first: the initiator does (C-14).
func (r *run) reciprocated(key string) bool {
	s := r.st.Sent
	return slices.Contains(r.st.Disclosed, key) ||
		r.st.Role == Initiator && s.Kind == SlotDisclosure && s.Attribute == key && s.Provisional == wire.GrantedIfReciprocal
}

func (r *run) judgeConsent(s Slot, decided bool, narrow []string) verdict {
	v := &r.env.View
	level := gidp.Introduce
	if s.Action == wire.ActDisclose {
		level = gidp.Disclose
	}
	permission := v.Authority.At(level)
	switch {
	case permission == gidp.No:
		out := refuse("D2")
		out.broken = s.Action != wire.ActDisclose && !s.Phase.qualified()
		return out
	case s.Action != wire.ActDisclose && !s.Phase.qualified():
		return verdict{status: wire.Refused, row: "D2a", broken: true}
	case s.Action != wire.ActIdentity && slices.ContainsFunc(s.Scope, v.Identifying):
		return verdict{status: wire.Refused, row: "D2a", broken: true}
	case s.Action == wire.ActHandoff && len(s.Scope) != 1:
		return refuse("sec. 9.2")
	}
	scope, row, person := r.grantable(s, permission)
	if len(scope) == 0 && (s.Action != wire.ActContact || len(s.Scope) > 0) {
		return refuse(row)
	}
	if person && !decided {
		return verdict{status: wire.Pending, row: "D5"}
	}
	if narrow != nil {
		scope = slices.DeleteFunc(scope, func(entry string) bool { return !slices.Contains(narrow, entry) })
		if len(scope) == 0 {
			return refuse("C-17")
		}
	}
	return verdict{status: wire.Granted, row: "D6", scope: scope}
}

// grantable is what of a scope may be granted, the row that emptied it if it is empty, and whether a person decides.
func (r *run) grantable(s Slot, permission gidp.Permission) (scope []string, row string, person bool) {
	v := &r.env.View
	row, person = "sec. 9.2", permission == gidp.Approval
	for _, entry := range s.Scope {
		switch s.Action {
		case wire.ActHandoff:
			scope = append(scope, entry)
			continue
		case wire.ActContact:
			if v.Profile != nil && slices.Contains(v.Profile.Channels, entry) {
				scope = append(scope, entry)
			}
			continue
		}
		a := v.Attributes[entry]
		switch {
		case s.Action == wire.ActIdentity && !v.Identifying(entry):
		case a.Class.Surface == gidp.Network && !a.Member:
			row = "D3"
		case !r.withinDepth(a.Class):
			row = "D4"
		case !a.Held || !a.Class.Disclosable():
			row = "D4a"
		default:
			scope = append(scope, entry)
			person = person || a.Class.Gate == gidp.NeedsPrincipalOK
		}
	}
	return scope, row, person
}

// answerSlot sends the answer to the peer's request, and frees or keeps its slot.
func (r *run) answerSlot(s Slot, v verdict) {
	head := r.head(r.st.EndsAt)
	if s.Kind == SlotDisclosure {
		o := &wire.DisclosureResponse{Head: head, RequestRef: s.ID, Attribute: s.Attribute, Status: v.status, VerificationRequired: v.verify}
		release := ""
		if v.status == wire.Granted {
			release = s.Attribute
		}
		r.out = append(r.out, Message{Object: o, Release: release, Row: v.row})
	} else {
		r.send(&wire.ConsentResponse{Head: head, RequestRef: s.ID, Status: v.status, GrantedScope: append([]string{}, v.scope...)}, v.row)
	}
	if v.broken {
		r.note(Effect{Kind: EffectViolation, Ref: s.ID, Action: s.Action, Scope: s.Scope, Row: v.row})
	}
	if v.status.Terminal() {
		if s.Provisional != "" {
			r.note(Effect{Kind: EffectSettled, Ref: s.ID, Key: s.Attribute, Action: s.Action, Row: v.row})
		}
		r.st.Recv = Slot{}
		return
	}
	s.Provisional = v.status
	r.st.Recv = s
	kind := EffectWatch
	if v.status == wire.Pending {
		kind = EffectApprove
	}
	r.note(Effect{Kind: kind, Ref: s.ID, Key: s.Attribute, Action: s.Action, Scope: s.Scope, Deadline: s.Deadline - margin(s.Life), Row: v.row})
}

// grantConsent records a consent of either side, and advances the phase if it was asked for after qualification (S-34, S-35).
func (r *run) grantConsent(by Side, s Slot, scope []string, principal bool) {
	r.st.Grants = append(r.st.Grants, Grant{By: by, Action: s.Action, Scope: append([]string{}, scope...), Phase: s.Phase, Principal: principal})
	if r.st.Phase == Qualified && s.Phase.qualified() {
		r.st.Phase = Consented
	}
}

// settle answers the peer's request now that something has changed. A second provisional answer does not exist: what is still not granted is declined.
func (r *run) settle(granted, decided bool, narrow []string) {
	s := r.st.Recv
	v := refuse("C-42")
	if granted {
		v = r.judge(s, decided, narrow)
	}
	if !v.status.Terminal() {
		v = refuse(v.row)
	}
	if s.Kind == SlotConsent && v.status == wire.Granted {
		r.grantConsent(Ours, s, v.scope, decided)
	}
	r.answerSlot(s, v)
}

func (r *run) decide(e Decide) *Refusal {
	if !r.st.Phase.active() {
		return local("S-55", "no answer is given in this phase")
	}
	if i := slices.IndexFunc(r.st.AsksIn, func(a Ask) bool { return a.ID == e.Ref }); i >= 0 {
		return r.decideAsk(i, e)
	}
	if r.st.Recv.Kind == SlotEmpty || r.st.Recv.ID != e.Ref || r.st.Recv.Provisional != wire.Pending {
		return local("sec. 9.4", "nothing waits for this decision")
	}
	r.settle(e.Granted, true, e.Scope)
	return nil
}

// decideAsk answers a held ask. PROBE may have been withdrawn since (C-42).
func (r *run) decideAsk(i int, e Decide) *Refusal {
	a := r.st.AsksIn[i]
	if r.env.View.Authority.At(gidp.Probe) == gidp.No {
		r.closeWith(wire.ReasonDeclined, a.ID, "S-14")
		return nil
	}
	answers := e.Answers
	if !e.Granted {
		answers = make([]gidp.Answer, len(a.Claims))
		for j := range answers {
			answers[j] = gidp.Answer{Result: wire.Declined, Row: "S-13"}
		}
	}
	if len(answers) != len(a.Claims) {
		return local("S-13", "one answer for each claim")
	}
	r.st.AsksIn = slices.Delete(r.st.AsksIn, i, i+1)
	r.note(Effect{Kind: EffectSettled, Ref: a.ID, Row: "S-13"})
	r.answerAsk(a, answers, "S-13")
	return nil
}

func (r *run) show(e Show) *Refusal {
	if !r.st.Phase.active() || len(e.References) == 0 || len(e.References) > wire.MaxList {
		return local("C-15", "credentials are shown in an open session")
	}
	r.st.Shown = set(slices.Concat(r.st.Shown, e.References))
	if s := r.st.Recv; s.Kind == SlotDisclosure && s.Provisional == wire.GrantedIfVerified && r.judgeDisclosure(s, true).status.Terminal() {
		r.met(s)
	}
	return nil
}

// met answers a disclosure whose condition is met. No person has decided on it: where the version of the interest that is in force by now wants one to, it is declined, since a
// second provisional answer does not exist.
func (r *run) met(s Slot) {
	pending := r.judgeDisclosure(s, false).status == wire.Pending
	r.settle(!pending, !pending, nil)
}
