package session

import (
	"slices"
	"testing"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// mistake is what a programmer may do; the search has to find that the rule is broken.
type mistake struct {
	rule, name string
	model      *model
	step       stepper // nil: the model holds the mistake
}

// around is Step in a changed state; what the change added is taken back.
func around(change func(*State, Event)) stepper {
	return func(env Env, st State, ev Event) (State, []Message, []Effect, error) {
		st = st.clone()
		grants := len(st.Grants)
		change(&st, ev)
		added := len(st.Grants) - grants
		next, out, effects, err := Step(env, st, ev)
		next.Grants = slices.Concat(next.Grants[:grants], next.Grants[min(grants+added, len(next.Grants)):])
		return next, out, effects, err
	}
}

// seeing is Step with another view.
func seeing(change func(*gidp.View)) stepper {
	return func(env Env, st State, ev Event) (State, []Message, []Effect, error) {
		change(&env.View)
		return Step(env, st, ev)
	}
}

// seeingAs is Step with another class of an attribute.
func seeingAs(key string, class gidp.Class) stepper {
	return seeing(func(v *gidp.View) {
		held := map[string]gidp.Attribute{}
		for k, a := range v.Attributes {
			if k == key {
				a.Class = class
			}
			held[k] = a
		}
		v.Attributes = held
	})
}

// saying is Step with a change of what it did.
func saying(change func(before, after *State, out []Message) []Message) stepper {
	return func(env Env, st State, ev Event) (State, []Message, []Effect, error) {
		next, out, effects, err := Step(env, st, ev)
		if err == nil {
			out = change(&st, &next, out)
		}
		return next, out, effects, err
	}
}

// twice says everything of a type twice.
func twice[T wire.Object](_, _ *State, out []Message) []Message {
	for _, m := range slices.Clone(out) {
		if _, ok := m.Object.(T); ok {
			out = append(out, m)
		}
	}
	return out
}

func mistakes() []mistake {
	values := func() *model {
		return searched("values", budget{}, yes, asking(openKey, gatedKey, principal, localKey, neverKey, networkKey, mutualKey, verifiedKey, identityKey),
			only(0, budget{Disclosures: 1}))
	}
	value := func(change ...func(*model)) *model {
		return searched("a question and a value", budget{Asks: 1, Disclosures: 1}, vague, change...)
	}
	grant := func(by Side, action wire.Action, key string) stepper {
		return around(func(st *State, ev Event) {
			if _, ok := ev.(Open); !ok && st.Phase != None {
				st.Grants = append(st.Grants, Grant{By: by, Action: action, Scope: []string{key}, Phase: Probing})
			}
		})
	}
	handing := func(phase Phase) *model { return searched("a hand-over", budget{Handoffs: 1}, yes, from(phase)) }
	return []mistake{
		{"table", "a request is not sent", value(), saying(func(_, _ *State, out []Message) []Message { return out[:min(len(out), 0)] })},
		{"refusal", "a refused object is noted", searched("copies", budget{Asks: 1, Copies: 1}, yes), func(env Env, st State, ev Event) (State,
			[]Message, []Effect, error) {
			next, out, effects, err := Step(env, st, ev)
			if err != nil {
				next.Issued++
			}
			return next, out, effects, err
		}},
		{"codec", "an answer without a status", value(), saying(func(_, _ *State, out []Message) []Message {
			for _, m := range out {
				if d, ok := m.Object.(*wire.DisclosureResponse); ok {
					d.Status = ""
				}
			}
			return out
		})},
		{"I1", "a local attribute is taken for one of the session", values(), seeingAs(localKey, inSession)},
		{"I2", "an attribute that never shows is taken for one of the session", values(), seeingAs(neverKey, inSession)},
		{"I2", "an attribute that never shows waits for the Principal", values(), seeingAs(neverKey, gidp.Class{Surface: gidp.InSession, Gate: gidp.NeedsPrincipalOK})},
		{"I3", "an answer is prettier than the evaluation", value(), saying(func(_, _ *State, out []Message) []Message {
			for _, m := range out {
				if o, ok := m.Object.(*wire.CompatibilityResponse); ok {
					o.Results[0].Result = wire.Compatible
				}
			}
			return out
		})},
		{"I4", "unanswered claims are ignored (C-01)", searched("two questions each", budget{Asks: 2}, vague, without(ignoreUnanswered)), nil},
		{"I4", "the responder reports what does not hold", value(), saying(func(_, _ *State, out []Message) []Message {
			for _, m := range out {
				if o, ok := m.Object.(*wire.CompatibilityResponse); ok {
					o.SessionStatus = wire.StatusPotential
				}
			}
			return out
		})},
		{"I5", "the Opportunity is sent twice", value(), saying(twice[*wire.Opportunity])},
		{"I5", "the responder sends an Opportunity", value(), func(env Env, st State, ev Event) (State, []Message, []Effect, error) {
			role := st.Role
			if st.Phase == Probing {
				st.Role = Initiator
			}
			next, out, effects, err := Step(env, st, ev)
			if role != "" {
				next.Role = role
			}
			return next, out, effects, err
		}},
		{"I6", "a request is answered twice", value(), saying(twice[*wire.DisclosureResponse])},
		{"I6", "a closed session goes on", searched("leaving", budget{Asks: 1, Leaves: 1}, yes), around(func(st *State, _ Event) {
			if st.Phase == Closed {
				st.Phase = Probing
			}
		})},
		{"I6", "a request is dropped", value(), saying(func(before, after *State, out []Message) []Message {
			if before.Recv.Provisional == "" && after.Recv.Provisional != "" {
				after.Recv = Slot{}
			}
			return out
		})},
		{"I7", "a contradiction does not close", searched("contradictions", budget{Asks: 1}, yesNo), saying(func(before, after *State, out []Message) []Message {
			if after.contradicted() && before.Phase != Closed {
				after.Phase, after.Reason = before.Phase, ""
				out = slices.DeleteFunc(out, func(m Message) bool { return m.Object.Type() == wire.TypeSessionClose })
			}
			return out
		})},
		{"I7", "an answer is changed", searched("answers", budget{Asks: 1}, vague, only(0, budget{Asks: 2})), around(func(st *State, _ Event) {
			for i := range st.Props {
				if st.Props[i].Result == wire.Unknown {
					st.Props[i].Result = wire.Compatible
				}
			}
		})},
		{"I8", "an identity is revealed without a grant", values(), grant(Ours, wire.ActIdentity, identityKey)},
		{"I9", "a gate is open without a consent", values(), grant(Ours, wire.ActDisclose, gatedKey)},
		{"I9", "the Principal's gate is no gate", values(), seeingAs(principal, inSession)},
		{"I9", "an audience is ignored", values(), seeingAs(networkKey, inSession)},
		{"I9", "the depth is ignored", searched("shallow", budget{Disclosures: 1}, yes, shallow), around(func(st *State, _ Event) { st.Depth = wire.DepthSession })},
		{"I10", "authority to commit is handed over", handing(Consented), saying(func(_, _ *State, out []Message) []Message {
			for _, m := range out {
				if h, ok := m.Object.(*wire.Handoff); ok {
					h.AuthorizedScope = append(h.AuthorizedScope, "COMMIT")
				}
			}
			return out
		})},
		{"I11", "a hand-over needs no consent", handing(Qualified), grant(Theirs, wire.ActHandoff, "urn:t")},
		{"I11", "a hand-over that was not consented to is acted on", against("hostile", 0, budget{}, 1, from(Qualified)), grant(Ours, wire.ActHandoff, "urn:t")},
		{"I12", "what is forbidden waits for the Principal", value(), seeing(func(v *gidp.View) {
			for _, level := range []gidp.Level{gidp.Disclose, gidp.Introduce} {
				if v.Authority.At(level) == gidp.No {
					v.Authority[level] = gidp.Approval
				}
			}
		})},
		{"I15", "an interest that left ACTIVE goes on", value(suspended), seeing(func(v *gidp.View) { v.Active = true })},
		{"I16", "no refresh (C-06)", searched("values", budget{Asks: 1, Disclosures: 1}, yes, refreshing(false)), nil},
		{"I17", "a hand-over before qualification", handing(None), around(func(st *State, ev Event) {
			if _, ok := ev.(HandOff); ok && st.Phase == Probing {
				st.Phase = Consented
				st.Grants = append(st.Grants, Grant{By: Theirs, Action: wire.ActHandoff, Scope: []string{"urn:t"}, Phase: Qualified})
			}
		})},
		{"I18", "literal rows under a pending slot (C-05)", searched("values", budget{Asks: 1, Disclosures: 1}, yes, without(literalPending)), nil},
	}
}

// Every rule is broken by a mistake, and by the one that it is for, so no rule is blind.
func TestEveryRuleFindsItsMistake(t *testing.T) {
	found := map[string]bool{}
	for _, c := range mistakes() {
		if raceEnabled && c.model.budget[0].Asks > 0 {
			continue
		}
		c.model.step = c.step
		f := c.model.run(t, 1)
		if found[c.rule] = true; f.broken[c.rule] == 0 {
			t.Errorf("%s: %s: nothing is found in %s; broken: %v", c.rule, c.name, f, f.broken)
		}
	}
	for id := range rules {
		if !found[id] && !raceEnabled {
			t.Errorf("no mistake is planted for %s", id)
		}
	}
	for _, id := range []string{"I16", "I18"} { // of nodes at rest
		if !found[id] && !raceEnabled {
			t.Errorf("no mistake is planted for %s", id)
		}
	}
}
