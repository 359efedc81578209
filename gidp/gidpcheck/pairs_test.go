package gidpcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// Two agents that differ only in what must not show are given the same clock, identifiers and peer. Everything they emit has to be the same bytes.

// trader is the interest that the pairs are made of.
func trader(t testing.TB) *interest.Interest {
	i := holder("b")
	i.Attributes["price"], i.Attributes["span"], i.Attributes["place"], i.Attributes["name"] = jcs.Raw(`150`), jcs.Raw(`{"min":120,"max":400}`), jcs.Raw(`"harbour"`), jcs.Raw(`"Person One"`)
	if problems := i.Check(market()); problems.Failed() {
		t.Fatalf("%+v", problems.Findings)
	}
	return i
}

// differences are the ways in which two agents of a pair differ.
var differences = map[string]func(one, two *interest.Interest){
	"a value in the same cell": func(_, two *interest.Interest) { two.Attributes["price"] = jcs.Raw(`299`) },
	"a range in the same cells": func(_, two *interest.Interest) {
		two.Attributes["span"] = jcs.Raw(`{"min":100,"max":599}`)
	},
	"a label under the same node": func(_, two *interest.Interest) { two.Attributes["place"] = jcs.Raw(`"mill"`) },
	"an own placement": func(one, two *interest.Interest) {
		two.Attributes["place"] = jcs.Raw(`"quay"`)
		two.Placements = map[string]map[string]string{"place": {"quay": "harbour"}}
	},
	"a never attribute and a decoy": func(one, two *interest.Interest) {
		one.Attributes["scar"] = jcs.Raw(`"deep"`)
		one.Policy.Entries["scar"] = gidp.Entry{"": gidp.Never}
		two.Policy.Decoys = []string{"scar"}
	},
	"the value of a never attribute": func(_, two *interest.Interest) { two.Attributes["barred"] = jcs.Raw(`[1,2]`) },
	"a never dependency": func(one, two *interest.Interest) {
		two.ConditionalOn = []string{"anchor"}
		for _, i := range []*interest.Interest{one, two} {
			i.Policy.Entries[gidp.ConditionalOn] = gidp.Entry{"": gidp.Never}
		}
	},
	"identity before the grant": func(one, two *interest.Interest) {
		two.Attributes["name"], two.Attributes[gidp.PrincipalIdentity] = jcs.Raw(`"Person Two"`), jcs.Raw(`"person-two"`)
		for _, i := range []*interest.Interest{one, two} {
			i.Authority[gidp.Introduce] = gidp.No
		}
	},
	"a closed attribute": func(_, two *interest.Interest) { two.Attributes["hidden"] = jcs.Raw(`12`) },
}

var (
	// What the pairs differ in is drawn more often.
	drawnKeys   = []string{"price", "span", "place", "price", "span", "place", "field", "price", "span", "place", "scar", "name", "barred", "hidden", "absent", "asked", "guarded", "swap", gidp.ConditionalOn, gidp.Requires, gidp.PrincipalIdentity}
	drawnValues = []string{`"optics"`, `"north"`, `"harbour"`, `"mill"`, `["land","vale"]`, `"quay"`, `150`, `299`, `{"min":100,"max":299}`, `{"min":120}`, `{"max":99}`, `{"max":200}`, `{"min":150,"max":150}`, `{}`, `true`, `"Person One"`, `"anchor"`, `"deep"`, `[1,2]`, `{"x":[1]}`}
)

// stroke is one event of a trace: it does the same to both worlds.
type stroke struct {
	say string
	do  func(w *World) error
}

// stroke draws what happens next. The peer may do anything; the own side does what an owner does.
func drawStroke(t *rapid.T, n int, w *World) stroke {
	id := fmt.Sprintf("q-%d", n)
	if rapid.IntRange(0, 9).Draw(t, "reuse") == 0 {
		id = "q-0"
	}
	key := rapid.SampledFrom(drawnKeys).Draw(t, "key")
	inject := func(o wire.Object) stroke {
		data, err := wire.Encode(o)
		if err != nil {
			return stroke{"nothing", func(*World) error { return nil }}
		}
		return stroke{"peer: " + string(data), func(w *World) error { return w.Deliver(w.B, data) }}
	}
	own := func(ev session.Event) stroke {
		return stroke{fmt.Sprintf("own: %T %+v", ev, ev), func(w *World) error { return w.Do(w.B, ev) }}
	}
	h := wire.Head{SessionID: "session-1", ExpiresAt: w.Now.Add(time.Duration(rapid.IntRange(-3, 20).Draw(t, "minutes")) * time.Minute)}
	switch rapid.IntRange(0, 15).Draw(t, "what") {
	case 0, 1, 2, 3, 4:
		q := &wire.CompatibilityRequest{Head: h, RequestID: id, AllowedResults: wire.AllResults()}
		if rapid.IntRange(0, 5).Draw(t, "narrow") == 0 {
			q.AllowedResults = []wire.Result{wire.Declined, wire.Unknown}
		}
		for c := range rapid.IntRange(1, 3).Draw(t, "claims") {
			claim := wire.Claim{ID: fmt.Sprintf("%s.%d", id, c), Key: rapid.SampledFrom(drawnKeys).Draw(t, "asked key"), Value: jcs.Raw(rapid.SampledFrom(drawnValues).Draw(t, "value")),
				Operator: rapid.SampledFrom([]wire.Operator{wire.OpEquals, wire.OpIntersects, wire.OpOverlaps, wire.OpCompatibleWith}).Draw(t, "operator")}
			if rapid.Bool().Draw(t, "supersedes") {
				claim.Supersedes = []string{fmt.Sprintf("q-%d.0", rapid.IntRange(0, n+1).Draw(t, "which"))}
			}
			q.Claims = append(q.Claims, claim)
		}
		return inject(q)
	case 5, 6:
		return inject(&wire.DisclosureRequest{Head: h, RequestID: id, Attribute: key, IntendedUse: wire.UseEvaluation, RequestedSurface: rapid.SampledFrom([]string{"session", "network", "local"}).Draw(t, "surface")})
	case 7, 8:
		action := rapid.SampledFrom([]wire.Action{wire.ActDisclose, wire.ActIdentity, wire.ActContact, wire.ActHandoff}).Draw(t, "action")
		return inject(&wire.ConsentRequest{Head: h, RequestID: id, Action: action, Scope: []string{key}})
	case 9: // an Opportunity that matches what the agent has answered
		return stroke{"peer: Opportunity", func(w *World) error {
			data, err := wire.Encode(matching(w, h))
			if err != nil {
				return err
			}
			return w.Deliver(w.B, data)
		}}
	case 10:
		return inject(&wire.Handoff{Head: h, Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: key}, RequiresPresence: true})
	case 11:
		level := gidp.Level(rapid.SampledFrom([]gidp.Level{gidp.Probe, gidp.Disclose}).Draw(t, "level"))
		p := rapid.SampledFrom([]gidp.Permission{gidp.Yes, gidp.Yes, gidp.Approval, gidp.No}).Draw(t, "permission")
		return stroke{fmt.Sprintf("own: %v %v", level, p), func(w *World) error { w.B.Interest.Authority[level] = p; return nil }}
	case 12:
		granted := rapid.Bool().Draw(t, "granted")
		return stroke{fmt.Sprintf("own: decide %v", granted), func(w *World) error {
			if asks := w.B.State.AsksIn; len(asks) > 0 {
				return w.Approve(w.B, asks[0].ID, granted)
			}
			return w.Do(w.B, session.Decide{Ref: w.B.State.Recv.ID, Granted: granted})
		}}
	case 13:
		d := time.Duration(rapid.IntRange(1, 40).Draw(t, "passes")) * time.Minute
		return stroke{fmt.Sprintf("time passes: %v", d), func(w *World) error { w.Now = w.Now.Add(d); return w.Do(w.B, session.Tick{}) }}
	case 14:
		return stroke{"own: asks by cells", func(w *World) error {
			claims := w.B.Interest.Asks(w.B.Profile, w.B.Towards())
			for i := range claims {
				claims[i].ID = fmt.Sprintf("own-%d-%d", n, i)
			}
			return w.Do(w.B, session.AskClaims{Claims: claims, Approved: true})
		}}
	}
	return own(session.AskDisclosure{Attribute: key})
}

// matching is the Opportunity that a peer would send now.
func matching(w *World, h wire.Head) *wire.Opportunity {
	o := &wire.Opportunity{Head: h, Structure: "x"}
	keys := map[string]bool{}
	for _, p := range w.B.State.Props {
		if p.Withdrawn || p.Result == "" {
			continue
		}
		if p.Result == wire.Conditionally && !slices.Contains(o.OpenConditions, p.Key) {
			o.OpenConditions = append(o.OpenConditions, p.Key)
		}
		keys[p.Key] = true
	}
	o.EvaluatedDimensions, o.CompatibleDimensions = len(keys), len(keys)-len(o.OpenConditions)
	o.ContingentOn = w.B.State.Stated
	return o
}

// play runs one trace against both agents of a pair and returns where they differ.
func (d pairOf) play(t *rapid.T) string {
	worlds := [2]*World{}
	for n := range worlds {
		i := [2]*interest.Interest{d.one(), d.two()}[n]
		worlds[n] = NewWorld(d.profile, holder("a"), i)
	}
	depth := rapid.SampledFrom([]wire.Depth{wire.DepthSession, wire.DepthNetwork}).Draw(t, "depth")
	for _, w := range worlds {
		if err := w.Open("trade", depth); err != nil {
			t.Fatal(err)
		}
	}
	var trace []string
	for n := range rapid.IntRange(1, 14).Draw(t, "length") {
		s := drawStroke(t, n, worlds[0])
		trace = append(trace, s.say)
		first, second := s.do(worlds[0]), s.do(worlds[1])
		if fmt.Sprint(first) != fmt.Sprint(second) {
			return fmt.Sprintf("%v and %v after\n%s", first, second, strings.Join(trace, "\n"))
		}
		for _, w := range worlds {
			w.ToA, w.ToB = nil, nil
		}
		if a, b := shown(worlds[0]), shown(worlds[1]); a != b {
			return fmt.Sprintf("%s\nand\n%s\nafter\n%s", a, b, strings.Join(trace, "\n"))
		}
	}
	return ""
}

// shown is all that leaves a side: objects, what is logged of them, and the state that lies in the clear.
func shown(w *World) string {
	var b strings.Builder
	for _, data := range w.B.Sent {
		b.Write(data)
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%+v\n", w.B.Effects)
	data, err := w.B.State.Append(nil)
	if err != nil {
		return err.Error()
	}
	return b.String() + string(data)
}

type pairOf struct {
	profile  *gidp.Profile
	one, two func() *interest.Interest
}

func makePair(t *testing.T, differ func(one, two *interest.Interest)) pairOf {
	make := func(second bool) func() *interest.Interest {
		return func() *interest.Interest {
			one, two := trader(t), trader(t)
			differ(one, two)
			if second {
				return two
			}
			return one
		}
	}
	return pairOf{market(), make(false), make(true)}
}

func TestWhatMustNotShowDoesNotShow(t *testing.T) {
	for name, differ := range differences {
		t.Run(name, func(t *testing.T) {
			d := makePair(t, differ)
			for range rounds { // of a hundred pairs each
				rapid.Check(t, func(t *rapid.T) {
					if where := d.play(t); where != "" {
						t.Fatal(where)
					}
				})
			}
		})
	}
}

// The same traces have to see a difference that may show, or they see nothing.
func TestWhatMayShowIsSeen(t *testing.T) {
	for name, differ := range map[string]func(one, two *interest.Interest){
		"a value in another cell":    func(_, two *interest.Interest) { two.Attributes["price"] = jcs.Raw(`300`) },
		"a range in another cell":    func(_, two *interest.Interest) { two.Attributes["span"] = jcs.Raw(`{"min":120,"max":600}`) },
		"a label under another node": func(_, two *interest.Interest) { two.Attributes["place"] = jcs.Raw(`"vale"`) },
		"never without a decoy": func(one, _ *interest.Interest) {
			one.Attributes["scar"] = jcs.Raw(`"deep"`)
			one.Policy.Entries["scar"] = gidp.Entry{"": gidp.Never}
		},
		"a dependency that is evaluated": func(_, two *interest.Interest) { two.ConditionalOn = []string{"anchor"} },
		"an open value":                  func(_, two *interest.Interest) { two.Attributes["field"] = jcs.Raw(`"acoustics"`) },
	} {
		t.Run(name, func(t *testing.T) {
			d, seen := makePair(t, differ), false
			for round := 0; round < 10 && !seen; round++ {
				rapid.Check(t, func(t *rapid.T) {
					if !seen {
						seen = d.play(t) != ""
					}
				})
			}
			if !seen {
				t.Error("no trace tells the two apart")
			}
		})
	}
}

// Two honest sides and a foreign voice on either line: what holds in every trace.
func TestHostilePeers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWorld(&gidp.Profile{ID: "core", Channels: []string{"phone"}}, holder("a"), holder("b"))
		if err := w.Open("trade", wire.DepthSession); err != nil {
			t.Fatal(err)
		}
		approved := map[string]bool{} // attributes whose release the Principal has decided
		for n := range rapid.IntRange(1, 25).Draw(t, "length") {
			s := drawStroke(t, n, w)
			if strings.HasPrefix(s.say, "own: decide true") && w.B.State.Recv.Provisional == wire.Pending {
				approved[w.B.State.Recv.Attribute] = true
			}
			before := len(w.B.Sent)
			phase, grants := w.B.State.Phase, slices.Clone(w.B.State.Grants)
			_ = s.do(w) // what is refused changes nothing
			for _, data := range w.B.Sent[before:] {
				hold(t, w, data, phase, grants, approved)
			}
			text, err := w.B.State.Append(nil)
			if err != nil {
				t.Fatal(err)
			}
			back, err := session.Parse(text)
			if err != nil {
				t.Fatalf("the state does not read back: %v", err)
			}
			if again, _ := back.Append(nil); string(again) != string(text) {
				t.Fatalf("%s became %s", text, again)
			}
			if rapid.Bool().Draw(t, "delivers") {
				if err := w.Drain(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := len(w.B.Objects(wire.TypeOpportunity)); n > 0 {
			t.Fatal("a responder emitted an Opportunity")
		}
		if n := len(w.A.Objects(wire.TypeOpportunity)); n > 1 {
			t.Fatalf("%d Opportunities", n)
		}
		terminals(t, w.B)
	})
}

// hold checks one object that left against the state it left from.
func hold(t *rapid.T, w *World, data []byte, phase session.Phase, grants []session.Grant, approved map[string]bool) {
	if phase == session.Closed {
		t.Fatalf("after the close: %s", data)
	}
	for _, secret := range []string{"hidden-b", "barred-b"} {
		if strings.Contains(string(data), secret) {
			t.Fatalf("%q left: %s", secret, data)
		}
	}
	o, err := wire.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	granted := func(action wire.Action, key string) bool {
		return slices.ContainsFunc(grants, func(g session.Grant) bool {
			return g.By == session.Ours && g.Action == action && slices.Contains(g.Scope, key)
		})
	}
	a := w.B.Interest.Authority
	switch o := o.(type) {
	case *wire.DisclosureResponse:
		if o.Status != wire.Granted {
			return
		}
		switch o.Attribute {
		case gidp.PrincipalIdentity:
			if !granted(wire.ActIdentity, o.Attribute) || a[gidp.Introduce] == gidp.No || phase == session.Probing {
				t.Fatalf("identity left: %s", data)
			}
		case "asked":
			if !granted(wire.ActDisclose, "asked") {
				t.Fatalf("without consent: %s", data)
			}
		case "guarded":
			if !approved["guarded"] {
				t.Fatalf("without a decision: %s", data)
			}
		case "circle", "hidden", "barred", "absent":
			t.Fatalf("must not leave: %s", data)
		}
		if a[gidp.Disclose] == gidp.No {
			t.Fatalf("without authority: %s", data)
		}
	case *wire.ConsentResponse:
		if o.Status == wire.Granted && phase == session.Probing {
			for _, key := range o.GrantedScope {
				if key == gidp.PrincipalIdentity {
					t.Fatalf("identity before qualification: %s", data)
				}
			}
		}
	case *wire.CompatibilityResponse:
		for _, r := range o.Results {
			if (r.Key == "barred" || r.Key == gidp.PrincipalIdentity && !granted(wire.ActIdentity, r.Key)) && r.Result != wire.Declined {
				t.Fatalf("%s was answered: %s", r.Key, data)
			}
		}
		if o.SessionStatus == wire.StatusClosed {
			t.Fatalf("closed is never sent: %s", data)
		}
	}
}

// terminals: at most one provisional and one terminal answer to each request.
func terminals(t *rapid.T, s *Side) {
	seen := map[string]int{}
	for _, data := range s.Sent {
		o, err := wire.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		var ref string
		var status wire.Grant
		switch o := o.(type) {
		case *wire.DisclosureResponse:
			ref, status = o.RequestRef, o.Status
		case *wire.ConsentResponse:
			ref, status = o.RequestRef, o.Status
		case *wire.CompatibilityResponse:
			ref, status = o.RequestRef, wire.Granted
		default:
			continue
		}
		name := fmt.Sprint(o.Type(), ref, status.Terminal())
		if seen[name]++; seen[name] > 1 {
			t.Fatalf("%s was answered twice", ref)
		}
		if status.Terminal() {
			continue
		}
		waits := func(e session.Effect) bool {
			return e.Ref == ref && e.Deadline > 0 && (e.Kind == session.EffectApprove || e.Kind == session.EffectWatch)
		}
		if !slices.ContainsFunc(s.Effects, waits) {
			t.Fatalf("%s: a provisional answer that nothing can end", ref)
		}
		if seen[fmt.Sprint(o.Type(), ref, true)] > 0 {
			t.Fatalf("%s: a provisional answer after the terminal one", ref)
		}
	}
}
