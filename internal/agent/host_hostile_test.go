package agent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// hostile draws objects of every type, in any order, with identifiers that were used and that were not.
type hostile struct {
	t *rapid.T
	s *stranger
	n int
}

func pick[T any](t *rapid.T, list ...T) T { return list[rapid.IntRange(0, len(list)-1).Draw(t, "i")] }

func (h *hostile) id(prefix string) string {
	if rapid.IntRange(0, 9).Draw(h.t, "fresh") > 2 {
		h.n++
		return fmt.Sprintf("%s-%d", prefix, h.n)
	}
	return fmt.Sprintf("%s-%d", prefix, rapid.IntRange(1, 9).Draw(h.t, "n"))
}

var hostileKeys = []string{"sector", "geography", "enterprise_value_eur", gidp.PrincipalIdentity, "reference_clients", "plans", "secret", "sites", "nothing", "organisation_name", gidp.ConditionalOn}

func (h *hostile) key() string { return pick(h.t, hostileKeys...) }

func (h *hostile) scope() []string {
	if rapid.Bool().Draw(h.t, "target") {
		return []string{pick(h.t, "human:x", "protocol:p", "email")}
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(hostileKeys), 0, 4, rapid.ID).Draw(h.t, "scope")
}

func (h *hostile) object() wire.Object {
	t, head := h.t, h.s.head(pick(h.t, time.Hour, time.Minute, 10*time.Second, 24*time.Hour))
	switch rapid.IntRange(0, 13).Draw(t, "type") {
	case 0, 1, 2:
		o := &wire.CompatibilityRequest{Head: head, RequestID: h.id("q"), AllowedResults: pick(t, wire.AllResults(), []wire.Result{wire.Declined}, []wire.Result{wire.Compatible, wire.Declined})}
		for range rapid.IntRange(1, 3).Draw(t, "claims") {
			c := wire.Claim{ID: h.id("c"), Key: h.key(), Operator: pick(t, wire.OpEquals, wire.OpIntersects, wire.OpOverlaps, wire.OpCompatibleWith),
				Value: jcs.Raw(pick(t, `"enterprise_software"`, `{"min":16}`, `{"max":20}`, `{"min":21000000,"max":22000000}`, `17`, `"munich"`, `["germany"]`, `{}`, `true`, `"x"`))}
			if rapid.IntRange(0, 3).Draw(t, "over") == 0 {
				c.Supersedes = []string{h.id("c")}
			}
			o.Claims = append(o.Claims, c)
		}
		return o
	case 3, 4, 5:
		return &wire.DisclosureRequest{Head: head, RequestID: h.id("q"), Attribute: h.key(), Purpose: "x", RequestedSurface: pick(t, "session", "session", "network", "local", "public"), IntendedUse: wire.UseEvaluation,
			Retention: pick(t, "", wire.RetainSession), Reciprocal: rapid.Bool().Draw(t, "reciprocal")}
	case 6, 7:
		return &wire.ConsentRequest{Head: head, RequestID: h.id("q"), Action: pick(t, wire.ActDisclose, wire.ActIdentity, wire.ActContact, wire.ActHandoff), Scope: h.scope()}
	case 8:
		return &wire.Opportunity{Head: head, Structure: "unspecified", EvaluatedDimensions: rapid.IntRange(0, 4).Draw(t, "e"), CompatibleDimensions: rapid.IntRange(0, 4).Draw(t, "c"), OpenConditions: []string{},
			ContingentOn: []string{}, IdentityStatus: map[string]wire.IdentityStatus{}}
	case 9:
		return &wire.Handoff{Head: head, Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "protocol:p"}, AuthorizedScope: []wire.Scope{wire.ScopeIntroduce}, ContingentOn: []string{}}
	case 10:
		return &wire.DisclosureResponse{Head: head, RequestRef: h.id("r"), Attribute: h.key(), Status: wire.Granted, Value: jcs.Raw(`1`)}
	case 11:
		return &wire.ConsentResponse{Head: head, RequestRef: h.id("r"), Status: wire.Granted, GrantedScope: h.scope()}
	case 12:
		return &wire.CompatibilityResponse{Head: head, RequestRef: h.id("r"), Results: []wire.Outcome{{ClaimID: "c", Key: "k", Result: wire.Compatible}}, SessionStatus: wire.StatusPotential, Permitted: []wire.NextAction{}, Requires: []string{}}
	}
	if rapid.IntRange(0, 9).Draw(t, "close") > 0 {
		return h.s.openObject()
	}
	return &wire.SessionClose{Head: head, Reason: wire.ReasonUnspecified}
}

// Whatever a peer sends in whatever order: no local value and no identity leaves, a gated value only by the decision that names it, what authority forbids is never
// promised, and the trail holds and grows with what comes (I1, I8, I9, I12, I13).
func TestHostilePeers(t *testing.T) {
	tokens := map[string]string{gidp.PrincipalIdentity: sellerName, "plans": sellerPlans, "secret": sellerSecret, "enterprise_value_eur": sellerFloor, "reference_clients": sellerRef}
	rapid.Check(t, func(rt *rapid.T) {
		discloses := rapid.IntRange(0, 4).Draw(rt, "disclose") > 0
		change := buyerSeller{seller: func(i *interest.Interest) {
			if !discloses {
				i.Authority[gidp.Disclose] = gidp.No
			}
		}}
		var w *world
		var s *stranger
		if rapid.Bool().Draw(rt, "qualified") {
			w, _ = qualified(t, change)
			s = w.asBuyer()
		} else {
			w = newWorld(t, change)
			s = w.stranger("s-1")
			s.open()
		}
		trail, received, written := w.seller.weigh(), 0, int64(0)
		h := &hostile{t: rt, s: s}
		allowed := map[string]bool{}
		spent := 0.0
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			w.clock.advance(pick(rt, 0, time.Second, 20*time.Second))
			if data, err := wire.Encode(h.object()); err == nil {
				if rapid.IntRange(0, 19).Draw(rt, "spoil") == 0 {
					data = data[:len(data)-1]
				}
				before := trail.written.Load()
				_, err := w.seller.agent.Receive(t.Context(), s.message(data))
				received, written = received+len(data), written+trail.written.Load()-before
				var refused *gidpa2a.Refusal
				if err != nil && (!errors.As(err, &refused) || refused.Code == gidpa2a.Unavailable) {
					rt.Fatalf("%v", err)
				}
			}
			if rapid.IntRange(0, 3).Draw(rt, "decides") == 0 {
				for _, e := range w.seller.inbox() {
					grant := rapid.Bool().Draw(rt, "grant")
					v, err := w.seller.agent.Decide(t.Context(), e.ID, Decision{Grant: grant})
					if err == nil && grant && v.Kind == entryDisclosure {
						allowed[v.Keys[0]] = true
					}
				}
			}
			before := trail.written.Load()
			w.seller.work()
			if written += trail.written.Load() - before; written > int64(maxGrowth*received+512) { // the close of the session among it
				rt.Fatalf("%d bytes of trail for %d", written, received)
			}
			task, err := w.seller.agent.Task(t.Context(), s.ref, s.task, s.key.Kid())
			if err != nil {
				rt.Fatal(err)
			}
			consented := false
			for _, a := range task.Artifacts {
				for key, token := range tokens {
					if bytes.Contains(a.Object, []byte(token)) || bytes.Contains(plain(a.Evidence), []byte(token)) {
						if !allowed[key] && (key != "reference_clients" || !consented) {
							rt.Fatalf("%s left without a decision: %s", key, a.Object)
						}
					}
				}
				if a.Object == nil {
					continue
				}
				o, err := wire.Decode(a.Object)
				if err != nil {
					rt.Fatal(err)
				}
				switch o := o.(type) {
				case *wire.ConsentResponse:
					consented = consented || slices.Contains(o.GrantedScope, "reference_clients")
				case *wire.DisclosureResponse:
					if !discloses && o.Status != wire.Refused {
						rt.Fatalf("without permission: %s", a.Object)
					}
				}
			}
			now := w.spentOn(w.seller)
			if now < spent || now > 3 {
				rt.Fatalf("%v bits after %v", now, spent)
			}
			spent = now
		}
		w.checkTrail()
		if t.Failed() {
			rt.Fatal("the trail does not hold")
		}
		for _, token := range tokens {
			if bytes.Contains(w.seller.logged.Bytes(), []byte(token)) {
				rt.Fatal("a value is in the log")
			}
		}
	})
}
