package session

import (
	"fmt"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// The events of this side.

func (r *run) open(e Open) *Refusal {
	depth := e.MaxDepth
	if depth == "" {
		depth = r.env.Config.MaxDepth
	}
	probe := r.env.View.Authority.At(gidp.Probe)
	switch {
	case r.st.Phase != None:
		return local("S-01", "the session exists")
	case probe == gidp.No, probe == gidp.Approval && !e.Approved:
		return local("S-01", "PROBE does not permit it")
	case r.env.View.Profile == nil || depth != wire.DepthNetwork && depth != wire.DepthSession:
		return local("S-01", "a session has a profile and a depth")
	}
	r.st = State{ID: e.SessionID, Role: Initiator, Phase: Requested, Self: e.Self, Profile: r.env.View.Profile.ID, Depth: depth,
		Features: sorted(r.env.Config.Features), EndsAt: r.now + seconds(min(r.env.Config.SessionLife, MaxLife))}
	r.st.OpenID = r.issue()
	r.send(&wire.SessionOpen{Head: r.head(r.st.EndsAt), RequestID: r.st.OpenID, Initiator: e.Self, Purpose: e.Purpose, MaxDepth: depth, Profile: r.st.Profile,
		Features: r.st.Features, TrustContext: e.TrustContext, ProjectionRef: e.ProjectionRef}, "S-01")
	return nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

func sorted(f []wire.Feature) []wire.Feature {
	out := append([]wire.Feature{}, f...)
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *run) ask(e AskClaims) *Refusal {
	probe := r.env.View.Authority.At(gidp.Probe)
	switch {
	case !r.st.Phase.active():
		return local("S-10", "no question is asked in this phase")
	case probe == gidp.No, probe == gidp.Approval && !e.Approved:
		return local("S-10", "PROBE does not permit it")
	case len(e.Claims) == 0 || len(e.Claims) > wire.MaxClaims:
		return local("S-10", "a request asks 1 to %d claims", wire.MaxClaims)
	case len(r.st.AsksOut) >= MaxAsks || r.claims(Ours)+len(e.Claims) > MaxClaims:
		return local("S-10", "too many questions are outstanding or were asked")
	}
	id := r.issue()
	claims := slices.Clone(e.Claims)
	for i := range claims {
		if claims[i].ID == "" {
			claims[i].ID = fmt.Sprintf("%s.%d", id, i)
		}
	}
	if problem := r.legal(Ours, claims); problem != "" {
		return local("C-02", "%s", problem)
	}
	ask := Ask{ID: id, Deadline: min(r.now+seconds(r.env.Config.AskLife), r.st.EndsAt)}
	for _, c := range claims {
		ask.Claims = append(ask.Claims, c.ID)
		r.st.Props = append(r.st.Props, Proposition{Side: Ours, ID: c.ID, Key: c.Key, Digest: digest(c), Supersedes: slices.Clone(c.Supersedes)})
	}
	r.st.AsksOut, r.st.Renews = append(r.st.AsksOut, ask), r.st.Renews && e.Renews
	r.send(&wire.CompatibilityRequest{Head: r.head(ask.Deadline), RequestID: id, Claims: claims, AllowedResults: wire.AllResults()}, "S-10")
	return nil
}

func (r *run) claims(side Side) int {
	n := 0
	for _, p := range r.st.Props {
		if p.Side == side {
			n++
		}
	}
	return n
}

// legal checks the ids and supersedes of a side's claims (C-02, C-03). It returns what is wrong, or "".
func (r *run) legal(side Side, claims []wire.Claim) string {
	var gone []string
	for i, c := range claims {
		if r.st.proposition(side, c.ID) != nil || slices.ContainsFunc(claims[:i], func(d wire.Claim) bool { return d.ID == c.ID }) {
			return "a claim_id is used once"
		}
		for _, id := range c.Supersedes {
			p := r.st.proposition(side, id)
			switch {
			case p == nil:
				return "only an own earlier claim is superseded"
			case p.Withdrawn || slices.Contains(gone, id) || slices.ContainsFunc(r.st.Props, func(q Proposition) bool {
				return q.Side == side && !q.Withdrawn && q.Result == "" && !q.Expired && slices.Contains(q.Supersedes, id)
			}):
				return "a claim is superseded once"
			case p.Result == wire.Incompatible:
				return "a contradiction is not superseded"
			case p.Result == "" && (!r.lapsed(side, p) || r.env.Config.KeepExpired):
				return "an open question is not superseded"
			}
			gone = append(gone, id)
		}
	}
	return ""
}

// lapsed reports whether an unanswered claim has expired. A claim of the peer may have expired by its clock and not yet by ours.
func (r *run) lapsed(side Side, p *Proposition) bool {
	if p.Expired || side == Ours {
		return p.Expired
	}
	return slices.ContainsFunc(r.st.AsksIn, func(a Ask) bool {
		return slices.Contains(a.Claims, p.ID) && r.now+seconds(r.env.Config.Skew) > a.Deadline
	})
}

// refreshable says why an answered claim may not be repeated now; nil when it may.
func (r *run) refreshable() *Refusal {
	switch {
	case r.st.Phase != Probing || r.st.Role != Initiator:
		return local("C-06", "the initiator refreshes while it probes")
	case r.st.Vote != wire.StatusOpen || !r.entry():
		return local("C-06", "nothing hangs on a new report")
	case r.st.Refreshes >= r.env.Config.Refreshes, r.st.Refreshes > 0 && r.now < r.st.Refreshed+seconds(r.env.Config.RefreshWait):
		return local("C-06", "too often or too soon")
	}
	return nil
}

func (r *run) refresh(e Refresh) *Refusal {
	if err := r.refreshable(); err != nil {
		return err
	}
	d := digest(e.Claim)
	if !slices.ContainsFunc(r.st.Props, func(p Proposition) bool {
		return p.Side == Ours && !p.Withdrawn && p.Result != "" && p.Key == e.Claim.Key && p.Digest == d
	}) {
		return local("C-06", "only an own answered claim is repeated")
	}
	c := wire.Claim{Key: e.Claim.Key, Operator: e.Claim.Operator, Value: e.Claim.Value}
	r.st.Refreshes, r.st.Refreshed = r.st.Refreshes+1, r.now
	return r.ask(AskClaims{Claims: []wire.Claim{c}, Approved: e.Approved, Renews: true})
}

// requestEnd is the deadline of an own disclosure or consent request: a person may decide it.
func (r *run) requestEnd() int64 { return max(r.st.EndsAt-seconds(r.env.Config.Reserve), r.now) }

func (r *run) askDisclosure(e AskDisclosure) *Refusal {
	switch {
	case !r.st.Phase.active():
		return local("S-20", "no value is asked for in this phase")
	case r.st.Sent.Kind != SlotEmpty:
		return local("C-08", "a request of this side is outstanding")
	case e.Attribute == "":
		return local("S-20", "a request names an attribute")
	}
	if e.Use == "" {
		e.Use = wire.UseEvaluation
	}
	s := Slot{Kind: SlotDisclosure, ID: r.issue(), Attribute: e.Attribute, Surface: string(r.st.Depth), Deadline: r.requestEnd(), Phase: r.st.Phase}
	r.st.Sent = s
	r.send(&wire.DisclosureRequest{Head: r.head(s.Deadline), RequestID: s.ID, Attribute: e.Attribute, Purpose: e.Purpose, RequestedSurface: s.Surface,
		IntendedUse: e.Use, Retention: e.Retention, Reciprocal: e.Reciprocal}, "S-20")
	return nil
}

func (r *run) askConsent(e AskConsent) *Refusal {
	switch {
	case !r.st.Phase.active():
		return local("S-30", "no consent is asked for in this phase")
	case r.st.Phase == Probing && e.Action != wire.ActDisclose:
		return local("S-32", "this consent is asked for after qualification")
	case r.st.Sent.Kind != SlotEmpty:
		return local("C-08", "a request of this side is outstanding")
	case (e.Action == wire.ActDisclose || e.Action == wire.ActContact) && slices.ContainsFunc(e.Scope, r.env.View.Identifying):
		return local("S-30", "an identity is asked for by reveal_identity")
	case len(e.Scope) == 0 && e.Action != wire.ActContact, e.Action == wire.ActHandoff && len(e.Scope) != 1, len(e.Scope) > wire.MaxList:
		return local("S-31", "this action needs a scope")
	}
	s := Slot{Kind: SlotConsent, ID: r.issue(), Action: e.Action, Scope: append([]string{}, e.Scope...), Deadline: r.requestEnd(), Phase: r.st.Phase}
	r.st.Sent = s
	r.send(&wire.ConsentRequest{Head: r.head(s.Deadline), RequestID: s.ID, Action: e.Action, Scope: s.Scope, Reciprocal: e.Reciprocal}, "S-30")
	return nil
}

// targetName is what the scope of a handoff consent names.
func targetName(t wire.Target, ref string) string {
	if t.Kind == wire.TargetProtocol {
		return t.ProtocolRef
	}
	return ref
}

func (r *run) handOff(e HandOff) *Refusal {
	introduce := r.env.View.Authority.At(gidp.Introduce)
	name := targetName(e.Target, e.TargetRef)
	_, covered := r.st.granted(Theirs, wire.ActHandoff, name)
	switch {
	case r.st.Phase != Qualified && r.st.Phase != Consented:
		return local("S-50", "a hand-over follows qualification")
	case name == "" || !covered:
		return local("C-29", "the peer has not consented to this target")
	case r.st.Sent.Kind != SlotEmpty || r.st.Recv.Kind != SlotEmpty:
		return local("S-50", "a request is outstanding")
	case introduce == gidp.No, introduce == gidp.Approval && !e.Approved:
		return local("S-50", "INTRODUCE does not permit it")
	case r.st.contradicted():
		return local("S-50", "the session is contradicted")
	}
	scope := []wire.Scope{}
	for _, l := range e.Levels {
		if r.env.View.Authority.At(l) != gidp.Yes {
			return local("sec. 10.4", "a level is handed over that the interest does not give")
		}
		scope = append(scope, wire.Scope(l.String()))
	}
	r.send(&wire.Handoff{Head: r.head(r.st.EndsAt), Target: e.Target, AuthorizedScope: scope, RequiresPresence: !e.Absent,
		ContingentOn: set(slices.Concat(r.st.Contingent, r.contingencies()))}, "S-50")
	r.st.Phase = HandedOff
	return nil
}

func (r *run) hang(e Hang) *Refusal {
	if r.st.Phase == None || r.st.Phase == Closed {
		return local("S-60", "there is no open session")
	}
	if e.RequestRef != "" && e.RequestRef != r.st.Recv.ID && !slices.ContainsFunc(r.st.AsksIn, func(a Ask) bool { return a.ID == e.RequestRef }) {
		return local("C-10", "no request of the peer waits for this answer")
	}
	reason := e.Reason
	if reason == "" {
		reason = wire.ReasonUnspecified
	}
	r.closeWith(reason, e.RequestRef, "S-60")
	return nil
}

// leave closes because the interest left ACTIVE; an open request gets its terminal answer first (sec. 11).
func (r *run) leave() *Refusal {
	if r.st.Phase == None || r.st.Phase == Closed {
		return local("S-63", "there is no open session")
	}
	if r.st.Recv.Kind != SlotEmpty {
		r.answerSlot(r.st.Recv, verdict{status: wire.Refused, row: "S-63"})
	}
	r.closeWith(wire.ReasonUnspecified, "", "S-63")
	return nil
}

// carryOn goes on under another version of the interest. An answer that was computed from another value is not repeated from memory: it might no longer be true (§15.5). A
// consent to a key was given for the value that stood behind it.
func (r *run) carryOn(e CarryOn) *Refusal {
	v := &r.env.View
	switch {
	case r.st.Phase == None || r.st.Phase == Closed:
		return local("S-63", "there is no open session")
	case v.Profile == nil || v.Profile.ID != r.st.Profile:
		return local("S-63", "a session goes on under its own profile")
	}
	changed := func(key string) bool { return slices.Contains(e.Changed, key) }
	for i := range r.st.Props {
		p := &r.st.Props[i]
		if p.Side == Theirs && (changed(p.Key) || slices.ContainsFunc(v.Profile.Predicates[p.Key].Args, changed)) {
			p.Evaluated = false
		}
	}
	grants := []Grant{}
	for _, g := range r.st.Grants {
		if g.By == Ours && (g.Action == wire.ActDisclose || g.Action == wire.ActIdentity) {
			if g.Scope = slices.DeleteFunc(slices.Clone(g.Scope), changed); len(g.Scope) == 0 {
				continue
			}
		}
		grants = append(grants, g)
	}
	r.st.Grants = grants
	r.st.Renews = r.st.Role == Initiator && r.st.Phase == Probing && !e.Done
	return nil
}
