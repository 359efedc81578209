package session

import (
	"fmt"
	"strings"
	"time"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// A peer that follows no rule: at any moment it sends any of these, whatever came before. What it would have to guess it knows.

// letters plays each object that the peer of side i may send now.
func (w *walker) letters(n *node, i int) {
	st := n.side[i]
	head := wire.Head{SessionID: "s", ExpiresAt: w.m.now(n, i).Add(time.Hour)}
	fresh := fmt.Sprintf("h-%d", n.left[1-i].Letters)
	send := func(o wire.Object, what string) {
		rest := *n
		rest.left[1-i].Letters--
		w.receive(n, &rest, i, o, what)
	}
	claim := wire.Claim{ID: fresh + ".0", Key: "x", Operator: wire.OpEquals, Value: jcs.Raw(`"v"`)}
	ask := func(id string, c wire.Claim, what string) {
		send(&wire.CompatibilityRequest{Head: head, RequestID: id, Claims: []wire.Claim{c}, AllowedResults: wire.AllResults()}, what)
	}
	value := func(id, key, what string) {
		send(&wire.DisclosureRequest{Head: head, RequestID: id, Attribute: key, RequestedSurface: "session", IntendedUse: wire.UseEvaluation}, what)
	}
	scope := map[wire.Action][]string{wire.ActDisclose: {openKey}, wire.ActIdentity: {identityKey}, wire.ActHandoff: {"urn:t"}}
	ask(fresh, claim, "a new question")
	if len(st.PeerIDs) > 0 {
		ask(st.PeerIDs[0], claim, "with an old id")
		value(st.PeerIDs[0], openKey, "with an old id")
	}
	for _, p := range st.Props {
		c := claim
		if p.Side == Theirs {
			c.Supersedes = []string{p.ID}
			ask(fresh, c, "superseding "+p.ID)
			c.ID, c.Supersedes = p.ID, nil
			ask(fresh, c, "with the old claim "+p.ID)
		} else {
			c.Supersedes = []string{p.ID}
			ask(fresh, c, "superseding a claim of ours")
		}
	}
	for _, key := range []string{openKey, identityKey} {
		value(fresh, key, "of "+key)
	}
	for action, list := range scope {
		send(&wire.ConsentRequest{Head: head, RequestID: fresh, Action: action, Scope: list}, "to "+string(action))
	}
	send(&wire.ConsentRequest{Head: head, RequestID: fresh, Action: wire.ActHandoff, Scope: []string{"urn:t", "urn:u"}}, "to two targets")
	send(&wire.ConsentRequest{Head: head, RequestID: fresh, Action: wire.ActDisclose, Scope: []string{openKey, identityKey}}, "to an identity in disguise")

	for _, result := range []wire.Result{wire.Compatible, wire.Unknown, wire.Incompatible} {
		for _, status := range []wire.Status{wire.StatusOpen, wire.StatusPotential, wire.StatusClosed} {
			for _, q := range st.AsksOut {
				o := &wire.CompatibilityResponse{Head: head, RequestRef: q.ID, SessionStatus: status}
				for _, id := range q.Claims {
					o.Results = append(o.Results, wire.Outcome{ClaimID: id, Key: st.proposition(Ours, id).Key, Result: result})
				}
				send(o, string(result)+" "+string(status))
			}
		}
	}
	for _, p := range st.Props {
		if p.Side != Ours {
			continue
		}
		request, _, _ := strings.Cut(p.ID, ".")
		answer := func(results []wire.Outcome, requires []string, what string) {
			send(&wire.CompatibilityResponse{Head: head, RequestRef: request, Results: results, SessionStatus: wire.StatusPotential, Requires: requires}, what)
		}
		results := []wire.Outcome{{ClaimID: p.ID, Key: p.Key, Result: wire.Compatible}}
		if p.Result != "" { // once more
			answer(results, nil, "again")
			continue
		}
		answer(results, []string{"more"}, "and wants more")
		results[0].ClaimID = "other"
		answer(results, nil, "about another claim")
	}
	ref := "r-9"
	if st.Sent.Kind != SlotEmpty {
		ref = st.Sent.ID
	}
	for _, status := range []wire.Grant{wire.Granted, wire.Refused, wire.Pending} {
		d := &wire.DisclosureResponse{Head: head, RequestRef: ref, Attribute: openKey, Status: status}
		c := &wire.ConsentResponse{Head: head, RequestRef: ref, Status: status}
		if status == wire.Granted {
			d.Value, c.GrantedScope = jcs.Raw("1"), st.Sent.Scope
		}
		send(d, string(status))
		send(c, string(status))
	}
	send(&wire.ConsentResponse{Head: head, RequestRef: ref, Status: wire.Granted, GrantedScope: []string{"urn:u"}}, "beyond what was asked")
	for e := range 3 {
		for c := range e + 1 {
			o := &wire.Opportunity{Head: head, Structure: "unspecified", EvaluatedDimensions: e, CompatibleDimensions: c}
			send(o, fmt.Sprint(e, c))
		}
	}
	for _, urn := range []string{"urn:t", "urn:u"} {
		send(&wire.Handoff{Head: head, Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: urn}, AuthorizedScope: []wire.Scope{}, RequiresPresence: true}, urn)
	}
	send(&wire.SessionClose{Head: head, Reason: wire.ReasonCompleted}, "")
	send(&wire.SessionOpen{Head: head, RequestID: fresh, Initiator: "h", Purpose: "p", MaxDepth: wire.DepthSession, Profile: "core"}, "")
	for _, profile := range []string{"core", "other"} {
		send(&wire.SessionAccept{Head: head, RequestRef: st.OpenID, Responder: "h", MaxDepth: wire.DepthSession, Profile: profile}, profile)
	}
	head.SessionID = "another"
	send(&wire.SessionClose{Head: head, Reason: wire.ReasonCompleted}, "of another session")
	head.SessionID, head.ExpiresAt = "s", w.m.now(n, i).Add(-time.Hour)
	send(&wire.SessionClose{Head: head, Reason: wire.ReasonCompleted}, "too late")
}
