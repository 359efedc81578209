package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/mandate"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/jws"
)

// What a step emits: the object with what travels beside it, and the record of what it rests on.

// describe records what an emission rests on.
func (t *turn) describe(e *emission, env session.Env, before session.State, m session.Message, ask *wire.CompatibilityRequest) {
	decided := t.decided || before.Recv.Provisional == wire.GrantedIfReciprocal || before.Recv.Provisional == wire.GrantedIfVerified
	switch o := m.Object.(type) {
	case *wire.CompatibilityResponse:
		e.Ref = o.RequestRef
		for i, result := range o.Results {
			c := auditClaim{Key: result.Key, Result: result.Result, Row: "V7"}
			if ask != nil && i < len(ask.Claims) {
				c.Operator, c.Asked = ask.Claims[i].Operator, t.asked(ask.Claims[i])
				c.Row = t.claimRow(env, before, ask.Claims[i], m.Row)
			}
			e.Claims = append(e.Claims, c)
		}
	case *wire.CompatibilityRequest:
		e.Ref = o.RequestID
		for _, c := range o.Claims {
			e.Claims = append(e.Claims, auditClaim{Key: c.Key, Operator: c.Operator, Asked: t.asked(c)})
		}
	case *wire.DisclosureResponse:
		e.Ref, e.Status = o.RequestRef, string(o.Status)
		if before.Recv.ID != o.RequestRef || !withoutInputs(m.Row) { // else the provisional answer names it
			e.Key = o.Attribute
		}
		if req := t.answers(e, before, o.RequestRef); req != nil && !withoutInputs(m.Row) {
			e.Inputs = inputs(&env.View, &t.body.State, req, decided, nil)
		}
	case *wire.ConsentResponse:
		e.Ref, e.Scope, e.Status = o.RequestRef, o.GrantedScope, string(o.Status)
		if req := t.answers(e, before, o.RequestRef); req != nil && !withoutInputs(m.Row) {
			e.Inputs = inputs(&env.View, &before, req, decided, t.narrow)
		}
	case *wire.DisclosureRequest:
		e.Ref, e.Key = o.RequestID, o.Attribute
	case *wire.ConsentRequest:
		e.Ref, e.Scope = o.RequestID, o.Scope
	case *wire.SessionClose:
		e.Ref, e.Status = o.RequestRef, string(o.Reason)
	}
}

// answers returns the request of the peer that an emission answers, nil when it is not kept. The answer in the step that received it has no other entry about it.
func (t *turn) answers(e *emission, before session.State, ref string) *peerRequest {
	req := t.body.Asked
	if req == nil || req.ID != ref {
		return nil
	}
	if before.Recv.ID != ref {
		e.Purpose, e.Keep = req.Purpose, req.Retention
	}
	return req
}

// answered reports whether a disclosure or consent request was answered in the step that received it.
func answered(o wire.Object, out []session.Message) bool {
	var ref string
	switch o := o.(type) {
	case *wire.DisclosureRequest:
		ref = o.RequestID
	case *wire.ConsentRequest:
		ref = o.RequestID
	default:
		return false
	}
	return slices.ContainsFunc(out, func(m session.Message) bool {
		switch o := m.Object.(type) {
		case *wire.DisclosureResponse:
			return o.RequestRef == ref
		case *wire.ConsentResponse:
			return o.RequestRef == ref
		}
		return false
	})
}

// asked is the keyed hash of what a claim asks.
func (t *turn) asked(c wire.Claim) string {
	value, err := jcs.Canonical(c.Value)
	if err != nil {
		value = c.Value
	}
	return t.a.salted(t.row.ID, string(c.Operator), string(value))
}

// claimRow is the row of the evaluation that answers a claim (sec. 7.1). It is found from the view and not from the answer, so that one can be held against the other.
func (t *turn) claimRow(env session.Env, before session.State, c wire.Claim, row string) string {
	a, known := env.View.Attributes[c.Key]
	reserved, feature := gidp.Reserved(c.Key)
	_, remembered := before.Remember(c)
	switch {
	case row == "S-13" && !t.decided:
		return "S-13"
	case env.View.Identifying(c.Key) && !opened(env, before, c.Key):
		return "V1"
	case known && (a.Class.Never || a.Holding == gidp.Holding(gidp.Barred{})):
		return "V2"
	case reserved && feature && !slices.Contains(before.Features, wire.FeatureDependencies):
		return "V3"
	case !known && !joint(env, c):
		return "V4"
	case known && (a.Holding == nil || a.Holding == gidp.Holding(gidp.Closed{}) || a.Holding == gidp.Holding(gidp.Identity{})):
		return "V5"
	case remembered:
		return "V6"
	}
	return "V7"
}

// opened reports whether a grant of ours opens an identity key for a claim now.
func opened(env session.Env, st session.State, key string) bool {
	introduce := env.View.Authority.At(gidp.Introduce)
	return introduce != gidp.No && slices.ContainsFunc(st.Grants, func(g session.Grant) bool {
		return g.By == session.Ours && g.Action == wire.ActIdentity && (g.Principal || introduce == gidp.Yes) && slices.Contains(g.Scope, key)
	})
}

func joint(env session.Env, c wire.Claim) bool {
	if env.View.Profile == nil || c.Operator != wire.OpCompatibleWith {
		return false
	}
	_, ok := env.View.Profile.Predicates[c.Key]
	return ok
}

// emit appends one object to what this side sends: with the value that it releases, the signature of an object that outlives the session, and what travels beside.
func (t *turn) emit(ctx context.Context, m session.Message, e emission) error {
	body := sentBody{Expires: m.Object.Expires().Unix()}
	if m.Release != "" {
		value, ok := t.holding.Value(m.Release)
		response, is := m.Object.(*wire.DisclosureResponse)
		if !ok || !is {
			return errors.New("a value that is to be released is not held")
		}
		response.Value = value
	}
	data, err := wire.Encode(m.Object)
	if err != nil {
		return fmt.Errorf("write an object: %w", err)
	}
	body.Object = data
	if err := t.beside(&body, m.Object); err != nil {
		return err
	}
	switch o := m.Object.(type) {
	case *wire.CompatibilityRequest:
		t.body.Own = append(t.body.Own, ownRequest{ID: o.RequestID, Number: t.body.Sent + 1})
	case *wire.DisclosureRequest:
		t.body.Own = append(t.body.Own, ownRequest{ID: o.RequestID, Number: t.body.Sent + 1})
	case *wire.ConsentRequest:
		t.body.Own = append(t.body.Own, ownRequest{ID: o.RequestID, Number: t.body.Sent + 1})
	case *wire.Opportunity:
		t.lead(o)
	case *wire.Handoff:
		t.body.Handoff = t.handoff(o, "ours", t.target)
	}
	e.Number, e.Type, e.Object = t.body.Sent+1, m.Object.Type(), t.a.salted(t.row.ID, string(data))
	if err := t.a.audit(ctx, t.w, t.holding.Lineage(), auditEmission, e); err != nil {
		return err
	}
	return t.append(ctx, body)
}

// append adds to what was sent. The responder's is shown on the tick, so that the instant tells nothing of what was looked up.
func (t *turn) append(ctx context.Context, body sentBody) error {
	t.body.Sent++
	t.dirty = true
	at := t.now
	if !t.row.Initiator && !t.received.IsZero() {
		at = gidpa2a.Release(t.received, t.a.Now(), t.a.tick())
	}
	text, err := body.text()
	if err != nil {
		return err
	}
	sealed, err := t.a.Vault.Seal(sentPlace(t.row.ID, t.body.Sent), text)
	if err != nil {
		return err
	}
	if t.resumed {
		at = time.UnixMicro(at.UnixMicro()).UTC() // as a store keeps it
		t.artifacts = append(t.artifacts, artifactOf(t.body.Sent, at, body))
	}
	return t.w.AddSent(ctx, durable.SentRow{Session: t.row.ID, Number: t.body.Sent, At: at, Body: sealed})
}

// beside adds what travels beside an object.
func (t *turn) beside(body *sentBody, o wire.Object) error {
	outlives := false
	switch o := o.(type) {
	case *wire.SessionOpen:
		body.Open = true
	case *wire.SessionAccept:
		key, err := t.ownKey()
		if err != nil {
			return err
		}
		body.Key = publicJWK(key)
		body.Hint = jcs.Raw(`{"poll_after_s":1}`)
		t.showBack()
		body.Evidence = t.credentials()
	case *wire.Opportunity:
		outlives = true
	case *wire.Handoff:
		outlives = true
		if t.target != "" {
			text, err := jcs.Encode(besideForm{TargetRef: t.target})
			if err != nil {
				return err
			}
			body.Evidence = text
		}
	case *wire.ConsentResponse:
		outlives = o.Status.Terminal()
	case *wire.DisclosureResponse:
		if o.Status == wire.Granted && t.holding.Profile().Rules().Identifying(o.Attribute) {
			t.body.Shown = append(t.body.Shown, o.Attribute)
			body.Evidence = t.credentials() // the same decision lets the mandate name it
		}
	}
	if !outlives {
		return nil
	}
	key, err := t.ownKey()
	if err != nil {
		return err
	}
	body.Signature = jws.SignDetached(key, body.Object)
	return nil
}

// ownKey is the private key of this side of the session.
func (t *turn) ownKey() (*jwk.PrivateKey, error) {
	if t.key != nil {
		return t.key, nil
	}
	key, err := jwk.ParsePrivate(t.body.Key)
	t.key = key
	return key, err
}

// newKey makes the key of this side and its mandate, until the end of the session.
func (t *turn) newKey(sessionID string, until time.Time) error {
	key, err := vault.NewKey(t.a.Random)
	if err != nil {
		return err
	}
	t.key, t.body.Key = key, bytes.TrimSpace(key.Export())
	m, err := t.holding.Mandate(sessionID, key.Public().Public, until, t.now, t.a.Random)
	if err != nil {
		t.a.Log.Warn("gidp: a session goes without a mandate", "cause", err)
		return nil
	}
	t.body.Mandate = m.Present(mandate.PrincipalName, mandate.OrganisationID)
	return nil
}
