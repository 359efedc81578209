package gidpcheck

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// The classes of the bench, each for everybody.
var (
	told     = gidp.Entry{"": {Surface: gidp.Discovery}}
	inside   = gidp.Entry{"": {Surface: gidp.InSession}}
	toGuild  = gidp.Entry{"": {Surface: gidp.Network}}
	agreed   = gidp.Entry{"": {Surface: gidp.InSession, Gate: gidp.NeedsConsent}}
	decided  = gidp.Entry{"": {Surface: gidp.InSession, Gate: gidp.NeedsPrincipalOK}}
	forever  = gidp.Entry{"": gidp.Never}
	withheld = gidp.Entry{"": gidp.EvaluationOnly}
)

// holder is an interest of the core profile with an attribute for each class: every private value is the key, a hyphen and the name of the holder.
func holder(name string) *interest.Interest {
	authority := map[gidp.Level]gidp.Permission{gidp.Commit: gidp.No}
	preset, _ := gidp.Delegation("moderate")
	for level := gidp.Observe; level < gidp.Commit; level++ {
		authority[level] = preset[level]
	}
	authority[gidp.Introduce] = gidp.Yes
	i := &interest.Interest{
		ID: name, Version: 1, Lineage: "line-" + name, Profile: "core", Authority: authority, Origin: interest.Stated, ExpiresAt: Epoch.AddDate(1, 0, 0),
		Attributes: map[string]jcs.Raw{"field": jcs.Raw(`"optics"`), "width": jcs.Raw(`{"min":3,"max":9}`), gidp.PrincipalIdentity: jcs.Raw(`"person-` + name + `"`)},
		Policy: interest.Policy{
			Entries: map[string]gidp.Entry{"field": told, "deep": inside, "circle": toGuild, "asked": agreed, "guarded": decided, "swap": inside, "proof": inside, "barred": forever,
				"width": inside, gidp.PrincipalIdentity: inside},
			Networks:   []string{"guild"},
			Conditions: map[string]interest.Condition{"swap": {Reciprocal: true}, "proof": {Verify: []string{"urn:card"}}},
		},
	}
	for _, key := range []string{"deep", "circle", "asked", "guarded", "swap", "proof", "hidden", "barred"} {
		i.Attributes[key] = jcs.Raw(`"` + key + "-" + name + `"`)
	}
	return i
}

// market is a profile with a partition, a hierarchy, a key that identifies and one that is sensitive.
func market() *gidp.Profile {
	tree, _ := gidp.NewTree(map[string]string{"harbour": "north", "mill": "north", "vale": "south", "ridge": "south", "north": "land", "south": "land"}) // without a cycle
	return &gidp.Profile{ID: "core", Keys: map[string]gidp.Key{
		"price": {Partition: &gidp.Partition{ID: "price", Min: 0, Max: 999, Edges: []int64{100, 300, 600}}},
		"span":  {Partition: &gidp.Partition{ID: "span", Min: 0, Max: 999, Edges: []int64{100, 300, 600}}},
		"place": {Tree: tree, Cut: []string{"north", "south"}}, "scar": {Sensitive: true}, "name": {Identifying: true},
	}, Channels: []string{"phone"}}
}

func claim(id, key string, op wire.Operator, value string, supersedes ...string) wire.Claim {
	return wire.Claim{ID: id, Key: key, Operator: op, Value: jcs.Raw(value), Supersedes: supersedes}
}

func head(w *World) wire.Head {
	return wire.Head{SessionID: "session-1", ExpiresAt: w.Now.Add(10 * time.Minute)}
}

func question(w *World, id string, claims ...wire.Claim) *wire.CompatibilityRequest {
	return &wire.CompatibilityRequest{Head: head(w), RequestID: id, Claims: claims, AllowedResults: wire.AllResults()}
}

func wants(w *World, id, attribute string) *wire.DisclosureRequest {
	return &wire.DisclosureRequest{Head: head(w), RequestID: id, Attribute: attribute, RequestedSurface: "session", IntendedUse: wire.UseEvaluation}
}

func consent(w *World, id string, action wire.Action, scope ...string) *wire.ConsentRequest {
	return &wire.ConsentRequest{Head: head(w), RequestID: id, Action: action, Scope: scope}
}

// trial is a world in which an obligation is tried. It keeps the first thing that is not as it should be, and does nothing after it.
type trial struct {
	*World
	n   int // foreign requests so far
	err error
}

// on opens a session between two interests under a profile.
func on(p *gidp.Profile, a, b *interest.Interest, depth wire.Depth) *trial {
	t := &trial{World: NewWorld(p, a, b)}
	t.err = t.Open("trade", depth)
	return t
}

// met is two holders of the core profile in an open session.
func met() *trial { return on(Core(), holder("a"), holder("b"), wire.DepthSession) }

// led is the same after the Opportunity.
func led() *trial {
	t := met()
	t.do(t.A, session.AskClaims{Claims: []wire.Claim{claim("c1", "field", wire.OpEquals, `"optics"`)}})
	t.both(session.Qualified)
	return t
}

// want keeps that something is not as it should be.
func (t *trial) want(ok bool, format string, args ...any) {
	if t.err == nil && !ok {
		t.err = fmt.Errorf(format, args...)
	}
}

// then does what follows unless something is wrong already.
func (t *trial) then(err func() error) {
	if t.err == nil {
		t.err = err()
	}
}

// do lets an event of a side happen and delivers everything.
func (t *trial) do(s *Side, ev session.Event) {
	t.then(func() error { return t.Do(s, ev) })
	t.then(t.Drain)
}

// denies holds that a side refuses an event of its own.
func (t *trial) denies(s *Side, ev session.Event, what string) {
	t.then(func() error {
		if err := t.Do(s, ev); err == nil {
			return errors.New(what)
		}
		return nil
	})
}

// both holds that both sides are in a phase.
func (t *trial) both(phase session.Phase) {
	for _, s := range []*Side{t.A, t.B} {
		t.want(s.State.Phase == phase, "side %s is %s, want %s", s.Name, s.State.Phase, phase)
	}
}

// name makes the id of the next foreign request.
func (t *trial) name() string { t.n++; return fmt.Sprintf("x-%d", t.n) }

// tell delivers what a foreign implementation would send and returns what is answered. A refusal is the transport's, and comes back apart.
func (t *trial) tell(to *Side, o wire.Object) (out []wire.Object, refusal error) {
	t.then(func() error {
		data, err := wire.Encode(o)
		if err != nil {
			return err
		}
		out, refusal, err = t.hand(to, data)
		return err
	})
	return out, refusal
}

// hand is tell for bytes.
func (t *trial) hand(to *Side, data []byte) (out []wire.Object, refusal, err error) {
	before := len(to.Sent)
	if refusal = t.Deliver(to, data); refusal != nil {
		if len(to.Sent) > before {
			err = errors.New("what was refused was answered too")
		}
		return nil, refusal, err
	}
	for _, data := range to.Sent[before:] {
		o, err := wire.Decode(data)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, o)
	}
	*t.queue(t.Other(to)) = nil
	return out, nil, nil
}

// first is the first object of a type among those that were answered; its zero value when there is none, which is an error of the trial.
func first[T wire.Object](t *trial, out []wire.Object, refusal error) (o T, ok bool) {
	for _, one := range out {
		if o, ok := one.(T); ok {
			return o, true
		}
	}
	t.want(false, "%d objects and %v were answered, want a %T", len(out), refusal, o)
	return o, false
}

// result asks a side one claim.
func (t *trial) result(to *Side, key string, op wire.Operator, value string) wire.Result {
	id := t.name()
	out, refusal := t.tell(to, question(t.World, id, claim(id+".0", key, op, value)))
	if o, ok := first[*wire.CompatibilityResponse](t, out, refusal); ok {
		return o.Results[0].Result
	}
	return ""
}

// disclosure asks a side for a value.
func (t *trial) disclosure(to *Side, key string) (wire.Grant, jcs.Raw) {
	out, refusal := t.tell(to, wants(t.World, t.name(), key))
	if o, ok := first[*wire.DisclosureResponse](t, out, refusal); ok {
		return o.Status, o.Value
	}
	return "", nil
}

// consented asks a side for consent.
func (t *trial) consented(to *Side, action wire.Action, scope ...string) (wire.Grant, []string) {
	out, refusal := t.tell(to, consent(t.World, t.name(), action, scope...))
	if o, ok := first[*wire.ConsentResponse](t, out, refusal); ok {
		return o.Status, o.GrantedScope
	}
	return "", nil
}

// discloses holds what a side answers to a request for a value.
func (t *trial) discloses(to *Side, key string, want wire.Grant) {
	got, _ := t.disclosure(to, key)
	t.want(got == want, "the disclosure of %s is answered %s, want %s", key, got, want)
}

// answers holds what a side answers to a claim.
func (t *trial) answers(to *Side, key string, op wire.Operator, value string, want wire.Result) {
	got := t.result(to, key, op, value)
	t.want(got == want, "%s %s is answered %s, want %s", key, op, got, want)
}

// consents holds what a side answers to a request for consent.
func (t *trial) consents(to *Side, action wire.Action, want wire.Grant, scope ...string) {
	got, _ := t.consented(to, action, scope...)
	t.want(got == want, "a consent to %s is answered %s, want %s", action, got, want)
}

// closes holds that an object closes the session for a reason.
func (t *trial) closes(to *Side, o wire.Object, want wire.Reason) {
	out, refusal := t.tell(to, o)
	if end, ok := first[*wire.SessionClose](t, out, refusal); ok {
		t.want(end.Reason == want, "the session is closed as %s, want %s", end.Reason, want)
	}
}

// refuses holds that an object has no effect.
func (t *trial) refuses(to *Side, o wire.Object, what string) {
	before := kept(t, to)
	_, refusal := t.tell(to, o)
	t.want(refusal != nil && kept(t, to) == before, "%s had an effect", what)
}

// kept is the state of a side as it is kept.
func kept(t *trial, s *Side) string {
	data, err := s.State.Append(nil)
	t.want(err == nil, "the state of side %s cannot be kept: %v", s.Name, err)
	return string(data)
}

// silent holds that none of the words is in anything a side sent.
func (t *trial) silent(s *Side, words ...string) {
	for _, data := range s.Sent {
		for _, word := range words {
			t.want(!strings.Contains(string(data), word), "%q left in %s", word, data)
		}
	}
}

// said is all that a side sent, and which row justifies each object.
func (s *Side) said() string {
	var b strings.Builder
	for n, data := range s.Sent {
		fmt.Fprintf(&b, "%s %s\n", s.Rows[n], data)
	}
	return b.String()
}
