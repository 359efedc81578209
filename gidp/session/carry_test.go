package session

import (
	"errors"
	"slices"
	"testing"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// stood is a side that probes, with claims that stand as compatible and a peer that reports so.
func stood(role Role, props ...Proposition) (Env, State) {
	for i := range props {
		props[i].ID, props[i].Result, props[i].Evaluated = string(rune('a'+i)), wire.Compatible, true
	}
	return Env{Now: epoch, Config: Defaults("core"), View: searchView(allowed())},
		State{ID: "s", Role: role, Phase: Probing, Profile: "core", Depth: wire.DepthSession, EndsAt: epoch.Unix() + 1000, Props: props, Vote: wire.StatusPotential}
}

// An initiator that excludes does not qualify before a claim of its own stands on each key by which it does; a claim of the peer on the key is none (§19.1).
func TestExclusionsBlockTheInitiatorAlone(t *testing.T) {
	for name, c := range map[string]struct {
		role  Role
		props []Proposition
		want  wire.Status
	}{
		"asked":             {Initiator, []Proposition{{Side: Ours, Key: "trade"}}, wire.StatusPotential},
		"not asked":         {Initiator, []Proposition{{Side: Ours, Key: "other"}}, wire.StatusOpen},
		"asked by the peer": {Initiator, []Proposition{{Side: Ours, Key: "other"}, {Side: Theirs, Key: "trade"}}, wire.StatusOpen},
		"taken back":        {Initiator, []Proposition{{Side: Ours, Key: "other"}, {Side: Ours, Key: "trade", Withdrawn: true}}, wire.StatusOpen},
		"a responder":       {Responder, []Proposition{{Side: Theirs, Key: "other"}}, wire.StatusPotential},
	} {
		env, st := stood(c.role, c.props...)
		env.View.Excluding = []string{"trade"}
		if got := Status(env, st); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		next, sent, _, err := Step(env, st, Tick{})
		if err != nil || c.role == Initiator && (next.Phase == Qualified) != (c.want == wire.StatusPotential) || (len(sent) == 1) != (next.Phase == Qualified) {
			t.Errorf("%s: %s, %d sent, %v", name, next.Phase, len(sent), err)
		}
	}
}

func TestCarryOn(t *testing.T) {
	env, st := stood(Responder, Proposition{Side: Theirs, Key: "kept"}, Proposition{Side: Theirs, Key: "moved"}, Proposition{Side: Theirs, Key: "joint"}, Proposition{Side: Ours, Key: "moved"})
	env.View.Profile = &gidp.Profile{ID: "core", Predicates: map[string]gidp.Predicate{"joint": {Args: []string{"kept", "moved"}}}}
	st.Grants = []Grant{{By: Ours, Action: wire.ActDisclose, Scope: []string{"moved", "kept"}}, {By: Ours, Action: wire.ActIdentity, Scope: []string{"moved"}}, {By: Theirs, Action: wire.ActDisclose, Scope: []string{"moved"}},
		{By: Ours, Action: wire.ActHandoff, Scope: []string{"moved"}}}
	before, err := st.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	next, sent, effects, err := Step(env, st, CarryOn{Changed: []string{"moved"}})
	if err != nil || len(sent)+len(effects) != 0 {
		t.Fatalf("%d sent, %v, %v", len(sent), effects, err)
	}
	if after, _ := st.Append(nil); string(after) != string(before) {
		t.Error("the state that was given is another one now")
	}
	for i, p := range next.Props {
		if p.Result != wire.Compatible || p.Withdrawn || p.Evaluated == slices.Contains([]int{1, 2}, i) {
			t.Errorf("%+v", p)
		}
	}
	if g := next.Grants; len(g) != 3 || !slices.Equal(g[0].Scope, []string{"kept"}) || g[1].By != Theirs || g[2].Action != wire.ActHandoff {
		t.Errorf("%+v", g)
	}
	for name, edit := range map[string]func(*Env, *State){
		"none":            func(_ *Env, s *State) { *s = State{} },
		"closed":          func(_ *Env, s *State) { s.Phase = Closed },
		"another profile": func(e *Env, _ *State) { e.View.Profile = &gidp.Profile{ID: "other"} },
		"not active":      func(e *Env, _ *State) { e.View.Active = false },
	} {
		e, s := env, st
		edit(&e, &s)
		var refused *Refusal
		if _, _, _, err := Step(e, s, CarryOn{}); !errors.As(err, &refused) || refused.Code != CodeLocal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A question of the earlier version that is under way, once answered, qualifies nothing; what the new version asks does.
func TestCarryOnWaitsForItsOwnQuestion(t *testing.T) {
	env, st := stood(Initiator, Proposition{Side: Ours, Key: "trade"})
	env.View.Active, st.Vote = true, wire.StatusOpen
	claim := wire.Claim{Key: "price", Operator: wire.OpOverlaps, Value: jcs.Raw(`{"max":5}`)}
	answer := func(st State, of wire.Object) State {
		ask := of.(*wire.CompatibilityRequest)
		o := &wire.CompatibilityResponse{Head: wire.Head{SessionID: "s", ExpiresAt: at(st.EndsAt)}, RequestRef: ask.RequestID, SessionStatus: wire.StatusPotential,
			Results: []wire.Outcome{{Key: ask.Claims[0].Key, ClaimID: ask.Claims[0].ID, Result: wire.Compatible}}}
		next, _, _, err := Step(env, st, Receive{Object: o})
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	st, sent, _, err := Step(env, st, AskClaims{Claims: []wire.Claim{claim}})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(st, sent[0].Object); got.Phase != Qualified {
		t.Fatalf("without another version it is %s", got.Phase)
	}
	st, _, _, err = Step(env, st, CarryOn{Changed: []string{"price"}})
	if err != nil || !st.Renews {
		t.Fatalf("%+v %v", st, err)
	}
	text, err := st.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if st, err = Parse(text); err != nil || !st.Renews {
		t.Fatalf("%s %v", text, err)
	}
	if st = answer(st, sent[0].Object); st.Phase != Probing {
		t.Fatalf("it is %s on what the earlier version asked", st.Phase)
	}
	if next, _, _, err := Step(env, st, CarryOn{Done: true}); err != nil || next.Phase != Qualified { // there was nothing to ask
		t.Errorf("%s %v", next.Phase, err)
	}
	claim.Value, claim.Supersedes = jcs.Raw(`{"max":4}`), []string{sent[0].Object.(*wire.CompatibilityRequest).Claims[0].ID}
	st, sent, _, err = Step(env, st, AskClaims{Claims: []wire.Claim{claim}})
	if err != nil {
		t.Fatal(err)
	}
	if st = answer(st, sent[0].Object); st.Phase != Qualified {
		t.Errorf("it is %s", st.Phase)
	}
}

// A value that was promised on a condition, by a version that wanted no person to decide, is declined once it is met under one that does.
func TestAConditionIsMetUnderThePolicyInForce(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*gidp.View)
		want wire.Grant
	}{
		"as before":         {func(*gidp.View) {}, wire.Granted},
		"a level that asks": {func(v *gidp.View) { v.Authority[gidp.Disclose] = gidp.Approval }, wire.Refused},
		"a class that asks": {func(v *gidp.View) {
			a := v.Attributes["k"]
			a.Class.Gate = gidp.NeedsPrincipalOK
			v.Attributes["k"] = a
		}, wire.Refused},
		"a level that is not": {func(v *gidp.View) { v.Authority[gidp.Disclose] = gidp.No }, wire.Refused},
	} {
		for _, provisional := range []wire.Grant{wire.GrantedIfVerified, wire.GrantedIfReciprocal} {
			env, st := stood(Responder, Proposition{Side: Theirs, Key: "other"})
			key := gidp.Attribute{Held: true, Class: gidp.Class{Surface: gidp.InSession}, Reciprocal: provisional == wire.GrantedIfReciprocal}
			if !key.Reciprocal {
				key.Verify = []string{"mandate"}
			}
			env.View.Attributes = map[string]gidp.Attribute{"k": key}
			c.edit(&env.View)
			slot := Slot{Kind: SlotDisclosure, ID: "r-9", Attribute: "k", Surface: "session", Deadline: st.EndsAt, Life: 1000, Phase: Probing}
			st.Recv, st.Sent = slot, slot
			st.Recv.Provisional, st.Sent.ID, st.Sent.Provisional = provisional, "r-1", ""
			var event Event = Show{References: []string{"mandate"}}
			if key.Reciprocal {
				event = Receive{Object: &wire.DisclosureResponse{Head: wire.Head{SessionID: "s", ExpiresAt: at(st.EndsAt)}, RequestRef: "r-1", Attribute: "k", Status: wire.Granted, Value: jcs.Raw("1")}}
			}
			next, sent, _, err := Step(env, st, event)
			if err != nil || len(sent) != 1 || next.Recv.Kind != SlotEmpty {
				t.Fatalf("%s, %s: %d sent, %+v, %v", name, provisional, len(sent), next.Recv, err)
			}
			o, is := sent[0].Object.(*wire.DisclosureResponse)
			if !is || o.Status != c.want || (sent[0].Release != "") != (c.want == wire.Granted) {
				t.Errorf("%s, %s: %+v, releases %q", name, provisional, o, sent[0].Release)
			}
		}
	}
}
