package session_test

import (
	"fmt"
	"time"

	"sayso/gidp"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// A session is a value. Each event gives the next value and what is to be sent; the caller keeps both in one transaction.
func ExampleStep() {
	profile := &gidp.Profile{ID: "core"}
	env := session.Env{Now: time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC), Config: session.Defaults("core"),
		View: gidp.View{Active: true, Profile: profile, Authority: gidp.Authority{gidp.Probe: gidp.Yes}}}

	var ours, theirs session.State
	ours, sent, _, err := session.Step(env, ours, session.Open{SessionID: "s-1", Self: "a", Purpose: "workshop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	open, _ := wire.Encode(sent[0].Object)
	answer, err := session.Deliver(env, nil, theirs, session.Delivery{Data: open, Self: "b"})
	if err != nil {
		fmt.Println(err)
		return
	}
	accept, _ := wire.Encode(answer.Messages[0].Object)
	accepted, err := session.Deliver(env, nil, ours, session.Delivery{Data: accept})
	fmt.Println(accepted.State.Phase, answer.State.Phase, err)

	ask := session.AskClaims{Claims: []wire.Claim{{Key: "trade", Operator: wire.OpEquals, Value: jcs.Raw(`"violins"`)}}}
	_, sent, _, _ = session.Step(env, accepted.State, ask)
	fmt.Println(sent[0].Object.Type(), sent[0].Row)
	// Output:
	// PROBING PROBING <nil>
	// CompatibilityRequest S-10
}
