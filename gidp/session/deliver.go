package session

import (
	"errors"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// Delivery is what a transport hands over: the bytes of one object, and what is known beside them.
type Delivery struct {
	Data       []byte
	Object     wire.Object // what Data holds, from whoever has decoded it without an error; nil: it is decoded here
	Self       string      // a fresh opaque id, used if this opens a session
	Unroutable bool
	Unwelcome  bool
	TargetRef  string
}

// Outcome is everything that one transaction has to hold.
type Outcome struct {
	State    State
	Ledger   gidp.Ledger
	Messages []Message
	Effects  []Effect
}

// Deliver decodes an object, evaluates its claims if it asks any, and steps. Claims are evaluated only when the request is answered now, so that what has no
// effect is charged to nobody. Errors are *wire.Error and *Refusal: then nothing has changed.
func Deliver(env Env, ledger gidp.Ledger, st State, d Delivery) (Outcome, error) {
	e := Receive{Self: d.Self, Unroutable: d.Unroutable, Unwelcome: d.Unwelcome, TargetRef: d.TargetRef}
	o, err := d.Object, error(nil)
	if o == nil {
		o, err = wire.Decode(d.Data)
	}
	if err != nil {
		var refused *wire.Error
		if o == nil || !errors.As(err, &refused) || refused.Code != wire.CodeVersion {
			return Outcome{State: st, Ledger: ledger}, err
		}
		e.Version = true
	}
	e.Object = o
	after := ledger
	if ask, ok := o.(*wire.CompatibilityRequest); ok && answerable(env, st, ask) {
		e.Answers, after = gidp.Evaluate(env.View, ledger, query(env, st, ask))
	}
	return finish(env, ledger, after, st, e)
}

// DecideAsk is the Principal's decision on a held ask: it is evaluated now, under what is in force now. The request is the one that was held.
func DecideAsk(env Env, ledger gidp.Ledger, st State, ask *wire.CompatibilityRequest, granted bool) (Outcome, error) {
	e := Decide{Ref: ask.RequestID, Granted: granted}
	after := ledger
	if granted {
		e.Answers, after = gidp.Evaluate(env.View, ledger, query(env, st, ask))
	}
	return finish(env, ledger, after, st, e)
}

func finish(env Env, before, after gidp.Ledger, st State, e Event) (Outcome, error) {
	next, messages, effects, err := Step(env, st, e)
	if err != nil {
		return Outcome{State: st, Ledger: before}, err
	}
	return Outcome{State: next, Ledger: after, Messages: messages, Effects: effects}, nil
}

// answerable reports whether a request would be answered in this step.
func answerable(env Env, st State, ask *wire.CompatibilityRequest) bool {
	r := &run{env: env, now: env.Now.Unix(), st: st}
	if r.lapses() {
		r.st = st.clone()
		r.elapse()
	}
	return ask.SessionID == r.st.ID && r.st.Phase.active() && r.now <= ask.ExpiresAt.Unix()+seconds(env.Config.Skew) &&
		env.View.Authority.At(gidp.Probe) == gidp.Yes && r.admit(ask) == nil
}

// query is a request with what the session knows. An identity that the agent revealed alone stays closed once a person has to approve (§16.3).
func query(env Env, st State, ask *wire.CompatibilityRequest) gidp.Query {
	q := gidp.Query{Claims: ask.Claims, Allowed: ask.AllowedResults, Features: st.Features, Disclosed: st.Disclosed, Remember: st.Remember}
	for _, g := range st.Grants {
		if g.By == Ours && g.Action == wire.ActIdentity && (g.Principal || env.View.Authority.At(gidp.Introduce) == gidp.Yes) {
			q.Revealed = append(q.Revealed, g.Scope...)
		}
	}
	return q
}
