package session

import (
	"slices"
	"strings"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// The objects of the peer.

func (r *run) receive(e Receive) *Refusal {
	id, ok := wire.Session(e.Object)
	switch {
	case !ok:
		return &Refusal{CodeMalformed, "D1", "this object belongs to no session"}
	case r.st.Phase != None && id != r.st.ID:
		return &Refusal{CodeNoMatch, "D1", "another session"}
	case r.now > e.Object.Expires().Unix()+seconds(r.env.Config.Skew):
		return &Refusal{CodeExpired, "D1", "the object has expired"}
	}
	switch o := e.Object.(type) {
	case *wire.SessionOpen:
		return r.receiveOpen(o, e)
	case *wire.SessionClose:
		return r.receiveClose(o)
	}
	switch r.st.Phase {
	case None:
		return &Refusal{CodeNoMatch, "D1", "no such session"}
	case Closed:
		return &Refusal{CodeClosed, "S-64", "the session is closed"}
	}
	if !r.env.View.Active { // no answer is given any more (K11)
		return r.leave()
	}
	switch o := e.Object.(type) {
	case *wire.SessionAccept:
		return r.receiveAccept(o)
	case *wire.Opportunity:
		return r.receiveOpportunity(o)
	case *wire.Handoff:
		return r.receiveHandoff(o, e.TargetRef)
	}
	if !r.st.Phase.active() {
		return &Refusal{CodeNoMatch, "sec. 5.3", "not in this phase"}
	}
	switch o := e.Object.(type) {
	case *wire.CompatibilityRequest:
		return r.receiveAsk(o, e.Answers)
	case *wire.CompatibilityResponse:
		return r.receiveAnswer(o)
	case *wire.DisclosureRequest:
		return r.receiveRequest(Slot{Kind: SlotDisclosure, ID: o.RequestID, Attribute: o.Attribute, Surface: o.RequestedSurface, Deadline: o.ExpiresAt.Unix()})
	case *wire.ConsentRequest:
		return r.receiveRequest(Slot{Kind: SlotConsent, ID: o.RequestID, Action: o.Action, Scope: o.Scope, Deadline: o.ExpiresAt.Unix()})
	case *wire.DisclosureResponse:
		return r.receiveDisclosure(o)
	case *wire.ConsentResponse:
		return r.receiveConsent(o)
	}
	return &Refusal{CodeNoMatch, "sec. 5.3", "not in this phase"}
}

func (r *run) receiveOpen(o *wire.SessionOpen, e Receive) *Refusal {
	if r.st.Phase != None {
		return &Refusal{CodeNoMatch, "C-35", "the session exists"}
	}
	cfg := &r.env.Config
	v := &r.env.View
	r.st = State{ID: o.SessionID, Role: Responder, Phase: Requested, Self: e.Self, Peer: o.Initiator, OpenID: o.RequestID, Profile: o.Profile,
		PeerIDs: []string{o.RequestID}, EndsAt: min(o.ExpiresAt.Unix(), r.now+seconds(MaxLife))}
	switch {
	case e.Version || e.Unroutable || !v.Active || v.Profile == nil || o.Profile != v.Profile.ID || !slices.Contains(cfg.Profiles, o.Profile):
		r.closeWith(wire.ReasonUnsupported, o.RequestID, "S-03")
		return nil
	case e.Unwelcome || v.Authority.At(gidp.Probe) == gidp.No:
		r.closeWith(wire.ReasonUnspecified, o.RequestID, "S-04")
		return nil
	}
	r.st.Phase, r.st.Vote = Probing, wire.StatusOpen
	r.st.Depth = shallower(o.MaxDepth, cfg.MaxDepth)
	r.st.Features = slices.DeleteFunc(sorted(o.Features), func(f wire.Feature) bool { return !slices.Contains(cfg.Features, f) })
	r.send(&wire.SessionAccept{Head: r.head(r.st.EndsAt), RequestRef: o.RequestID, Responder: e.Self, MaxDepth: r.st.Depth, Profile: o.Profile,
		Features: r.st.Features}, "S-02")
	return nil
}

func shallower(a, b wire.Depth) wire.Depth {
	if a == wire.DepthNetwork || b == wire.DepthNetwork {
		return wire.DepthNetwork
	}
	return wire.DepthSession
}

func (r *run) receiveAccept(o *wire.SessionAccept) *Refusal {
	if r.st.Phase != Requested || r.st.Role != Initiator || o.RequestRef != r.st.OpenID {
		return &Refusal{CodeNoMatch, "S-05", "no open of ours waits for it"}
	}
	extra := slices.ContainsFunc(o.Features, func(f wire.Feature) bool { return !slices.Contains(r.st.Features, f) })
	if o.Profile != r.st.Profile || extra || o.MaxDepth != wire.DepthNetwork && o.MaxDepth != wire.DepthSession {
		r.closeWith(wire.ReasonUnsupported, "", "S-06")
		return nil
	}
	r.st.Phase, r.st.Vote, r.st.Peer = Probing, wire.StatusOpen, o.Responder
	r.st.Depth = shallower(r.st.Depth, o.MaxDepth)
	r.st.Features = sorted(o.Features)
	r.st.EndsAt = min(r.st.EndsAt, o.ExpiresAt.Unix())
	return nil
}

func (r *run) receiveClose(o *wire.SessionClose) *Refusal {
	switch r.st.Phase {
	case None:
		return &Refusal{CodeNoMatch, "D1", "no such session"}
	case Closed:
		return nil // the two crossed (S-65)
	}
	r.shut(o.Reason)
	return nil
}

// admit is D1 for a CompatibilityRequest: what it names is its sender's, fresh, and may be superseded.
func (r *run) admit(o *wire.CompatibilityRequest) *Refusal {
	switch {
	case slices.Contains(r.st.PeerIDs, o.RequestID):
		return &Refusal{CodeMalformed, "C-09", "a request_id is used once"}
	case len(r.st.AsksIn) >= MaxAsks || r.claims(Theirs)+len(o.Claims) > MaxClaims || len(r.st.PeerIDs) >= MaxPeer:
		return &Refusal{CodeNoMatch, "W-10", "too many questions"}
	}
	echoed := 0
	for _, c := range o.Claims {
		echoed += len(jcs.AppendString(nil, c.Key)) + len(c.ID)
	}
	if echoed > maxEchoed {
		return &Refusal{CodeMalformed, "W-1", "the answer would not fit into an object"}
	}
	if problem := r.legal(Theirs, o.Claims); problem != "" {
		return &Refusal{CodeMalformed, "C-02", problem}
	}
	return nil
}

func (r *run) receiveAsk(o *wire.CompatibilityRequest, answers []gidp.Answer) *Refusal {
	if err := r.admit(o); err != nil {
		return err
	}
	r.st.PeerIDs = append(r.st.PeerIDs, o.RequestID)
	probe := r.env.View.Authority.At(gidp.Probe)
	if probe == gidp.No {
		r.closeWith(wire.ReasonDeclined, o.RequestID, "S-14")
		return nil
	}
	a := Ask{ID: o.RequestID, Deadline: min(o.ExpiresAt.Unix(), r.st.EndsAt)}
	for _, c := range o.Claims {
		for _, id := range c.Supersedes {
			r.withdraw(id)
		}
	}
	for _, c := range o.Claims {
		a.Claims = append(a.Claims, c.ID)
		r.st.Props = append(r.st.Props, Proposition{Side: Theirs, ID: c.ID, Key: c.Key, Digest: digest(c)})
	}
	if probe == gidp.Approval {
		a.Held = true
		r.st.AsksIn = append(r.st.AsksIn, a)
		r.note(Effect{Kind: EffectHold, Ref: a.ID, Deadline: a.Deadline, Row: "S-12"})
		return nil
	}
	if len(answers) != len(o.Claims) {
		return local("S-11", "one answer for each claim")
	}
	r.answerAsk(a, answers, "S-11")
	return nil
}

// withdraw applies a supersedes of the peer. A request all of whose claims lapsed waits for nobody any more.
func (r *run) withdraw(id string) {
	p := r.st.proposition(Theirs, id)
	p.Withdrawn = true
	if p.Result != "" {
		return
	}
	r.st.AsksIn = slices.DeleteFunc(r.st.AsksIn, func(a Ask) bool {
		if !slices.Contains(a.Claims, id) {
			return false
		}
		r.expire(Theirs, a)
		return true
	})
}

// answerAsk records the answers and sends the response. A contradiction closes behind it (S-17).
func (r *run) answerAsk(a Ask, answers []gidp.Answer, row string) {
	o := &wire.CompatibilityResponse{Head: r.head(r.st.EndsAt), RequestRef: a.ID, Permitted: r.permitted(), ContingentOn: r.contingencies()}
	var needs []string
	for i, id := range a.Claims {
		p, ans := r.st.proposition(Theirs, id), answers[i]
		p.Result = ans.Result
		p.Evaluated = (ans.Row == "V6" || ans.Row == "V7") && ans.Result != wire.Declined && ans.Result != wire.NeedsMore
		r.st.Vetoed = r.st.Vetoed || ans.Veto
		needs = append(needs, ans.Needs...)
		o.Results = append(o.Results, wire.Outcome{ClaimID: id, Key: p.Key, Result: ans.Result})
	}
	o.Requires = set(needs)
	r.send(o, row)
	r.report = o
	if r.st.contradicted() {
		r.settleReports()
		r.closeWith(wire.ReasonIncompatible, "", "S-17")
	}
}

// permitted is constant for each phase: it tells nothing (C-24).
func (r *run) permitted() []wire.NextAction {
	out := []wire.NextAction{wire.NextCompatibility, wire.NextDisclosure, wire.NextConsent, wire.NextClose}
	if r.st.Phase.qualified() {
		out = append(out, wire.NextHandoff)
	}
	return out
}

func (r *run) receiveAnswer(o *wire.CompatibilityResponse) *Refusal {
	i := slices.IndexFunc(r.st.AsksOut, func(a Ask) bool { return a.ID == o.RequestRef })
	if i < 0 {
		return &Refusal{CodeNoMatch, "S-16", "no question of ours waits for it"}
	}
	a := r.st.AsksOut[i]
	if len(o.Results) != len(a.Claims) {
		return &Refusal{CodeMalformed, "S-16", "one result for each claim"}
	}
	for j, result := range o.Results {
		if p := r.st.proposition(Ours, a.Claims[j]); result.ClaimID != p.ID || result.Key != p.Key {
			return &Refusal{CodeMalformed, "S-16", "a result for another claim"}
		}
	}
	r.st.AsksOut = slices.Delete(r.st.AsksOut, i, i+1)
	for j, result := range o.Results {
		p := r.st.proposition(Ours, a.Claims[j])
		p.Result = result.Result
		for _, id := range p.Supersedes {
			r.st.proposition(Ours, id).Withdrawn = true
		}
	}
	r.st.Requires = set(o.Requires)
	if r.st.Role == Initiator {
		r.st.Vote = o.SessionStatus
		r.st.Stated = set(slices.Concat(r.st.Stated, o.ContingentOn))
	}
	switch {
	case r.st.contradicted():
		r.closeWith(wire.ReasonIncompatible, "", "S-17")
	case len(strings.Join(r.st.Stated, "")) > maxStated: // no Opportunity could carry it, and none may leave it out
		r.closeWith(wire.ReasonUnspecified, "", "C-28")
	}
	return nil
}

// receiveRequest takes a disclosure or consent request into the slot of its direction, and answers it.
func (r *run) receiveRequest(s Slot) *Refusal {
	switch {
	case slices.Contains(r.st.PeerIDs, s.ID):
		return &Refusal{CodeMalformed, "C-09", "a request_id is used once"}
	case r.st.Recv.Kind != SlotEmpty || len(r.st.PeerIDs) >= MaxPeer:
		return &Refusal{CodeNoMatch, "S-22", "a request of that side is outstanding, or too many were sent"}
	}
	r.st.PeerIDs = append(r.st.PeerIDs, s.ID)
	s.Deadline, s.Phase = min(s.Deadline, r.st.EndsAt), r.st.Phase
	s.Life = max(s.Deadline-r.now, 0)
	v := r.judge(s, false, nil)
	if s.Kind == SlotConsent && v.status == wire.Granted {
		r.grantConsent(Ours, s, v.scope, false)
	}
	r.answerSlot(s, v)
	return nil
}

// awaited checks that a response answers our outstanding request, and is not a second provisional one (C-16).
func (r *run) awaited(kind SlotKind, ref string, status wire.Grant) *Refusal {
	switch {
	case r.st.Sent.Kind != kind || r.st.Sent.ID != ref:
		return &Refusal{CodeNoMatch, "S-27", "no request of ours waits for it"}
	case !status.Terminal() && r.st.Sent.Provisional != "":
		return &Refusal{CodeNoMatch, "C-16", "a second provisional answer"}
	}
	return nil
}

func (r *run) receiveDisclosure(o *wire.DisclosureResponse) *Refusal {
	if err := r.awaited(SlotDisclosure, o.RequestRef, o.Status); err != nil {
		return err
	}
	if o.Attribute != r.st.Sent.Attribute {
		return &Refusal{CodeMalformed, "S-23", "the answer names another attribute"}
	}
	if o.Status.Terminal() {
		r.freeSent()
	} else {
		r.st.Sent.Provisional = o.Status
	}
	if o.Status == wire.Granted {
		r.st.Disclosed = set(append(r.st.Disclosed, o.Attribute))
		r.note(Effect{Kind: EffectValue, Ref: o.RequestRef, Key: o.Attribute, Value: o.Value, Row: "S-23"})
	}
	if s := r.st.Recv; s.Kind == SlotDisclosure && s.Attribute == o.Attribute && s.Provisional == wire.GrantedIfReciprocal && r.reciprocated(s.Attribute) {
		r.met(s)
	}
	return nil
}

// freeSent ends our own wait.
func (r *run) freeSent() {
	phase := r.st.Sent.Phase
	r.st.Sent = Slot{}
	if r.env.Config.literal&literalPending != 0 && r.st.Phase.active() {
		r.st.Phase = phase
	}
}

func (r *run) receiveConsent(o *wire.ConsentResponse) *Refusal {
	if err := r.awaited(SlotConsent, o.RequestRef, o.Status); err != nil {
		return err
	}
	s := r.st.Sent
	if slices.ContainsFunc(o.GrantedScope, func(entry string) bool { return !slices.Contains(s.Scope, entry) }) {
		return &Refusal{CodeMalformed, "S-34", "more is granted than was asked for"}
	}
	if !o.Status.Terminal() {
		r.st.Sent.Provisional = o.Status
		return nil
	}
	r.freeSent()
	if o.Status == wire.Granted && (len(o.GrantedScope) > 0 || len(s.Scope) == 0) {
		r.grantConsent(Theirs, s, o.GrantedScope, false)
	}
	return nil
}

func (r *run) receiveOpportunity(o *wire.Opportunity) *Refusal {
	switch {
	case r.st.Phase == Requested || r.st.Phase == HandedOff:
		return &Refusal{CodeNoMatch, "sec. 5.3", "not in this phase"}
	case r.st.Role == Initiator || r.st.Phase != Probing:
		r.closeWith(wire.ReasonUnspecified, "", "S-43")
		return nil
	case r.env.Config.literal&literalPending != 0 && (r.st.Sent.Kind != SlotEmpty || r.st.Recv.Kind != SlotEmpty):
		return &Refusal{CodeNoMatch, "C-05", "a request is outstanding"}
	case r.st.Vote != wire.StatusPotential || !r.matches(o):
		r.closeWith(wire.ReasonUnspecified, "", "S-42")
		return nil
	}
	r.st.Phase, r.st.Emitted, r.st.Contingent = Qualified, true, set(o.ContingentOn)
	r.note(Effect{Kind: EffectQualified, Row: "S-41"})
	return nil
}

// matches compares an Opportunity with the own view (sec. 10.2).
func (r *run) matches(o *wire.Opportunity) bool {
	own := r.opportunity()
	if own.CompatibleDimensions+len(own.OpenConditions) != own.EvaluatedDimensions { // an own question was answered otherwise, and the peer counts it (I4)
		return false
	}
	if o.EvaluatedDimensions != own.EvaluatedDimensions || o.CompatibleDimensions != own.CompatibleDimensions ||
		!slices.Equal(set(o.OpenConditions), own.OpenConditions) || !covers(o.ContingentOn, r.st.Stated) {
		return false
	}
	for _, side := range []string{"initiator", "responder"} {
		if status, ok := o.IdentityStatus[side]; ok && status != wire.IdentityNotRequested {
			return false
		}
	}
	return true
}

func covers(list, part []string) bool {
	return !slices.ContainsFunc(part, func(entry string) bool { return !slices.Contains(list, entry) })
}

func (r *run) receiveHandoff(o *wire.Handoff, ref string) *Refusal {
	name := targetName(o.Target, ref)
	_, covered := r.st.granted(Ours, wire.ActHandoff, name)
	covered = covered && name != "" && covers(o.ContingentOn, r.st.Contingent)
	act := r.st.Phase == Qualified || r.st.Phase == Consented
	switch {
	case r.st.Phase == HandedOff && covered:
		if r.st.Role == Responder { // the two crossed: the initiator's is acted on (C-31)
			r.note(Effect{Kind: EffectHandoff, Scope: o.ContingentOn, Row: "S-53"})
		}
		r.closeWith(wire.ReasonCompleted, "", "S-53")
	case act && covered && r.st.Sent.Kind == SlotEmpty && r.env.View.Authority.At(gidp.Introduce) != gidp.No && !r.st.contradicted():
		r.note(Effect{Kind: EffectHandoff, Scope: o.ContingentOn, Row: "S-51"})
		r.closeWith(wire.ReasonCompleted, "", "S-51")
	default:
		r.closeWith(wire.ReasonUnsupported, "", "S-52")
	}
	return nil
}
