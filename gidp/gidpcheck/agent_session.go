package gidpcheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// sessionRules need an agent that accepts a session.
var sessionRules = []string{"GA-ACCEPT-001", "GA-STATE-001", "GA-TASK-001", "GA-DUPLICATE-001", "GA-DUPLICATE-002", "GA-OBJECT-001", "GA-EXPIRY-001", "GA-CLAIM-001",
	"GA-ANSWER-001", "GA-ALLOWED-001",
	"GA-IDENTITY-001", "GA-DISCLOSE-001", "GA-CONSENT-001", "GA-HANDOFF-001", "GA-CLOSED-001"}

// talk is one session with an agent.
type talk struct {
	*agentCheck
	o     *opening
	shown *task // as it was shown last
	n     int   // messages so far
}

// session opens a session, under core or else under the first profile of the card that the agent accepts, and holds the agent to what can be seen of it. Its claims
// are on a key that nobody has and on identities.
func (a *agentCheck) session() error {
	if !a.active {
		a.skip("the extension is not in force at this agent", sessionRules...)
		return nil
	}
	for n, profile := range a.offers {
		t := &talk{agentCheck: a}
		accepted, err := t.begin(profile)
		if err != nil {
			return err
		}
		if !accepted {
			continue
		}
		a.offers = a.offers[n : n+1]
		for _, step := range []func() error{t.again, t.foreign, t.malformed, t.questions, t.end} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// begin opens under a profile.
func (t *talk) begin(profile string) (accepted bool, err error) {
	if t.o, err = t.opening(profile); err != nil {
		return false, err
	}
	s, _, err := t.rpc(call{at: t.base, params: t.o.params(), key: t.o.key})
	if err != nil {
		return false, err
	}
	if s.err != nil {
		t.skip(unanswered(s.reply), sessionRules...)
		return false, nil
	}
	t.shown = readTask(s)
	if t.shown == nil || len(t.shown.objects) == 0 {
		t.skip(fmt.Sprintf("the agent answered an open with %d %s", s.code, s.kind()), sessionRules...)
		return false, nil
	}
	t.held(t.shown)
	switch o := t.shown.objects[0].(type) {
	case *wire.SessionAccept:
		return t.expect(o.Profile == profile && len(o.Features) == 0 && o.RequestRef == "r-1" &&
			o.SessionID == t.o.session && o.Responder != t.o.object.Initiator && t.shown.State != "TASK_STATE_COMPLETED",
			"GA-ACCEPT-001", t.base, "an open without features is accepted under another profile, with the features %q, or not for that open", o.Features), nil
	case *wire.SessionClose:
		t.skip("the agent accepts no session now, under core or a profile of its card: it closed as "+string(o.Reason), sessionRules...)
	default:
		t.expect(false, "GA-ACCEPT-001", t.base, "the first artifact is neither SessionAccept nor SessionClose")
	}
	return false, nil
}

// held is GA-STATE and the form of GA-ANSWER for every task that is shown.
func (t *talk) held(shown *task) {
	ok := slices.Contains([]string{"TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"}, shown.State) && len(shown.Status.Message) == 0 &&
		(len(shown.History) == 0 || string(shown.History) == "[]")
	for n, artifact := range shown.Artifacts {
		ok = ok && artifact.ID == fmt.Sprintf("%06d", n+1)
	}
	t.expect(ok, "GA-STATE-001", t.base, "a task has the state %q, a status message, a history, or artifacts that are not numbered without a gap", shown.State)
	for n, o := range shown.objects {
		if o == nil {
			t.expect(false, "GA-ANSWER-001", t.base, "artifact %d holds no object of the protocol", n+1)
		}
	}
}

// put sends bytes as an object of the session.
func (t *talk) put(data []byte) (*said, error) {
	t.n++
	s, _, err := t.rpc(call{at: t.base, key: t.o.key, params: message(fmt.Sprintf("%s:%d", t.o.session, t.n), t.o.session, t.shown.ID, map[string]jcs.Raw{"object": data})})
	return s, err
}

// say sends an object. A task that comes back is kept.
func (t *talk) say(o wire.Object) (*said, error) {
	data, err := wire.Encode(o)
	if err != nil {
		return nil, err
	}
	s, err := t.put(data)
	if err == nil && s.err == nil {
		t.keep(s)
	}
	return s, err
}

// keep holds a task against the one that was shown before: artifacts are appended and never change.
func (t *talk) keep(s *said) {
	shown := readTask(s)
	if shown == nil {
		return
	}
	t.held(shown)
	common := min(len(shown.raw), len(t.shown.raw))
	t.expect(shown.ID == t.shown.ID && slices.Equal(shown.raw[:common], t.shown.raw[:common]) && common == len(t.shown.raw), "GA-STATE-001", t.base,
		"an artifact is not the one that was shown before")
	t.shown = shown
}

// get asks for the task.
func (t *talk) get() error {
	s, _, err := t.rpc(call{at: t.base, method: "GetTask", params: named(t.shown.ID), key: t.o.key})
	if err == nil && s.err == nil {
		t.keep(s)
	}
	return err
}

// wait asks for the task until it shows as many artifacts, or the agent had time enough.
func (t *talk) wait(artifacts int) (bool, error) {
	for d := 300 * time.Millisecond; len(t.shown.raw) < artifacts && d < 3*time.Second; d *= 3 {
		if err := t.Pause(t.ctx, d); err != nil {
			return false, err
		}
		if err := t.get(); err != nil {
			return false, err
		}
	}
	return len(t.shown.raw) >= artifacts, nil
}

// again is GA-DUPLICATE.
func (t *talk) again() error {
	before := t.shown
	s, _, err := t.rpc(call{at: t.base, params: t.o.params(), key: t.o.key})
	if err != nil {
		return err
	}
	now := readTask(s)
	t.hold(s.reply, now != nil && now.ID == before.ID && slices.Equal(now.raw, before.raw), "GA-DUPLICATE-001", t.base,
		"the same open again is answered by another task, or by %d %s", s.code, s.kind())
	other := *t.o
	object := *t.o.object
	object.Purpose = "other"
	if other.data, err = wire.Encode(&object); err != nil {
		return err
	}
	s, _, err = t.rpc(call{at: t.base, params: other.params(), key: t.o.key})
	if err != nil {
		return err
	}
	t.hold(s.reply, s.refused(-32602), "GA-DUPLICATE-002", t.base, "another open under the same id is answered with %d %s", s.code, s.kind())
	return nil
}

// foreign is GA-TASK: the task is asked for by the key of another session of the same agent.
func (t *talk) foreign() error {
	s, _, err := t.rpc(call{at: t.base, method: "CancelTask", params: named(t.shown.ID), key: t.o.key})
	if err != nil {
		return err
	}
	t.hold(s.reply, s.refused(-32002), "GA-TASK-001", t.base, "CancelTask is answered with %d %s", s.code, s.kind())
	stranger := &talk{agentCheck: t.agentCheck}
	accepted, err := stranger.begin(t.o.object.Profile)
	if err != nil || !accepted {
		return err
	}
	if s, _, err = t.rpc(call{at: t.base, method: "GetTask", params: named(t.shown.ID), key: stranger.o.key}); err != nil {
		return err
	}
	t.hold(s.reply, s.refused(-32001), "GA-TASK-001", t.base, "GetTask by the key of another session is answered with %d %s", s.code, s.kind())
	head := wire.Head{SessionID: stranger.o.session, ExpiresAt: t.Now().Add(5 * time.Minute)}
	if _, err = stranger.say(&wire.SessionClose{Head: head, Reason: wire.ReasonUnspecified}); err != nil {
		return err
	}
	s, err = stranger.say(stranger.question("r-2", wire.AllResults(), stranger.claim("r-2.0", "check")))
	if err != nil {
		return err
	}
	t.hold(s.reply, s.refused(-32004), "GA-CLOSED-001", t.base, "a question after the close is answered with %d %s", s.code, s.kind())
	return nil
}

func (t *talk) head() wire.Head {
	return wire.Head{SessionID: t.o.session, ExpiresAt: t.Now().Add(5 * time.Minute)}
}

// claim asks whether a key equals a value that nobody has.
func (t *talk) claim(id, key string) wire.Claim {
	return wire.Claim{ID: id, Key: key, Operator: wire.OpEquals, Value: jcs.AppendString(nil, t.canary)}
}

func (t *talk) question(id string, allowed []wire.Result, claims ...wire.Claim) *wire.CompatibilityRequest {
	return &wire.CompatibilityRequest{Head: t.head(), RequestID: id, Claims: claims, AllowedResults: allowed}
}

// nobodys is a key that no interest has.
func (t *talk) nobodys() string { return "check_" + t.canary }

// malformed is GA-OBJECT and GA-EXPIRY: none of these has an effect.
func (t *talk) malformed() error {
	good, err := wire.Encode(t.question("r-2", wire.AllResults(), t.claim("r-2.0", t.nobodys())))
	if err != nil {
		return err
	}
	before := len(t.shown.raw)
	text := string(good)
	begin, end := strings.Index(text, `"claims":[`)+len(`"claims":[`), strings.Index(text, `],"expires_at"`)
	for _, c := range []struct{ what, text string }{
		{"a member that the protocol does not know", strings.Replace(text, `{`, `{"extra":1,`, 1)},
		{"a claim without a value", strings.Replace(text, `"value":"`+t.canary+`"`, `"value":null`, 1)},
		{"a list of results without declined", strings.NewReplacer(`,"declined"`, ``, `"declined",`, ``).Replace(text)},
		{"a word that is no operator", strings.Replace(text, `"equals"`, `"resembles"`, 1)},
		{"a time without an offset", strings.Replace(text, `Z","request_id"`, `","request_id"`, 1)},
		{"another version", strings.Replace(text, wire.Version, "gidp/9.9", 1)},
		{"a member of another type", strings.Replace(text, `"request_id":"r-2"`, `"request_id":2`, 1)},
		{"a request without a claim", text[:begin] + text[end:]},
		{"a claim_id that stands twice", text[:end] + "," + text[begin:end] + text[end:]},
	} {
		s, err := t.put([]byte(c.text))
		if err != nil {
			return err
		}
		t.hold(s.reply, s.refused(-32602, -32700, -32600), "GA-OBJECT-001", t.base, "%s is answered by %s", c.what, s.kind())
	}
	old := t.question("r-2", wire.AllResults(), t.claim("r-2.0", t.nobodys()))
	old.ExpiresAt = t.Now().Add(-time.Hour)
	s, err := t.say(old)
	if err != nil {
		return err
	}
	t.hold(s.reply, s.refused(), "GA-EXPIRY-001", t.base, "a question that expired an hour ago is answered by %s", s.kind())
	if err := t.Pause(t.ctx, 300*time.Millisecond); err != nil {
		return err
	}
	if err := t.get(); err != nil {
		return err
	}
	t.expect(len(t.shown.raw) == before, "GA-OBJECT-001", t.base, "malformed and expired objects were answered by %d objects", len(t.shown.raw)-before)
	return nil
}

// questions are what a probing session may ask, sent one after the other and then looked at together.
func (t *talk) questions() error {
	before := len(t.shown.raw)
	q := []wire.Object{
		t.question("r-3", wire.AllResults(), t.claim("r-3.0", gidp.PrincipalIdentity), t.claim("r-3.1", t.nobodys())),
		t.question("r-4", []wire.Result{wire.Declined}, t.claim("r-4.0", t.nobodys())),
		&wire.DisclosureRequest{Head: t.head(), RequestID: "r-5", Attribute: gidp.PrincipalIdentity, Purpose: "check", RequestedSurface: "session", IntendedUse: wire.UseIdentity},
		&wire.DisclosureRequest{Head: t.head(), RequestID: "r-6", Attribute: t.nobodys(), Purpose: "check", RequestedSurface: "public", IntendedUse: wire.UseEvaluation},
		&wire.ConsentRequest{Head: t.head(), RequestID: "r-7", Action: wire.ActIdentity, Scope: []string{gidp.PrincipalIdentity}},
		&wire.ConsentRequest{Head: t.head(), RequestID: "r-8", Action: wire.ActHandoff, Scope: []string{"urn:sayso:check"}},
	}
	for _, o := range q {
		s, err := t.say(o)
		if err != nil {
			return err
		}
		if s.err == nil && s.result == nil {
			t.skip(fmt.Sprintf("the agent refused a %s with %d", o.Type(), s.code), "GA-ANSWER-001", "GA-IDENTITY-001", "GA-ALLOWED-001", "GA-DISCLOSE-001", "GA-CONSENT-001")
		}
	}
	all, err := t.wait(before + len(q))
	if err != nil {
		return err
	}
	if !all {
		t.skip("the agent did not answer in time; a Principal may have to decide", "GA-IDENTITY-001", "GA-ALLOWED-001", "GA-DISCLOSE-001", "GA-CONSENT-001")
	}
	for _, o := range t.shown.objects[min(before, len(t.shown.objects)):] {
		t.judge(o)
	}
	if t.shown.State == "TASK_STATE_COMPLETED" {
		return nil
	}
	s, err := t.say(t.question("r-9", wire.AllResults(), t.claim("r-3.1", t.nobodys())))
	if err != nil {
		return err
	}
	t.hold(s.reply, s.refused(), "GA-CLAIM-001", t.base, "a claim_id that was used is answered by %s", s.kind())
	return nil
}

// judge holds one answer to what it answers.
func (t *talk) judge(o wire.Object) {
	switch o := o.(type) {
	case *wire.CompatibilityResponse:
		var ids, keys []string
		for _, r := range o.Results {
			ids, keys = append(ids, r.ClaimID), append(keys, r.Key)
		}
		switch o.RequestRef {
		case "r-3":
			ok := slices.Equal(ids, []string{"r-3.0", "r-3.1"}) && slices.Equal(keys, []string{gidp.PrincipalIdentity, t.nobodys()})
			if !t.expect(ok && o.SessionStatus != wire.StatusClosed, "GA-ANSWER-001", t.base, "two claims are answered by the outcomes %q with the status %s", ids, o.SessionStatus) {
				return
			}
			t.expect(o.Results[0].Result == wire.Declined, "GA-IDENTITY-001", t.base, "a claim on %s is answered %s", gidp.PrincipalIdentity, o.Results[0].Result)
			t.expect(o.Results[1].Result == wire.Unknown || o.Results[1].Result == wire.Declined, "GA-ANSWER-001", t.base,
				"a claim on what nobody holds is answered %s", o.Results[1].Result)
		case "r-4":
			for _, r := range o.Results {
				t.expect(r.Result == wire.Declined, "GA-ALLOWED-001", t.base, "%s is answered where declined alone is allowed", r.Result)
			}
		default:
			t.expect(false, "GA-ANSWER-001", t.base, "a CompatibilityResponse answers what nobody asked")
		}
	case *wire.DisclosureResponse:
		t.expect(o.Status == wire.Refused, "GA-DISCLOSE-001", t.base, "the disclosure of %s is answered %s", o.Attribute, o.Status)
	case *wire.ConsentResponse:
		t.expect(o.Status == wire.Refused, "GA-CONSENT-001", t.base, "a consent before qualification is answered %s", o.Status)
	}
}

// end is GA-HANDOFF and GA-CLOSED.
func (t *talk) end() error {
	if t.shown.State == "TASK_STATE_COMPLETED" {
		t.skip("the agent closed the session before", "GA-HANDOFF-001")
		return nil
	}
	before := len(t.shown.raw)
	s, err := t.say(&wire.Handoff{Head: t.head(), Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:sayso:check"}, AuthorizedScope: []wire.Scope{},
		RequiresPresence: true})
	if err != nil {
		return err
	}
	if s.err != nil || s.result == nil {
		t.hold(s.reply, false, "GA-HANDOFF-001", t.base, "a Handoff that nobody consented to is refused with %d, not closed", s.code)
		return nil
	}
	if _, err := t.wait(before + 1); err != nil {
		return err
	}
	var end *wire.SessionClose
	if len(t.shown.objects) > before {
		end, _ = t.shown.objects[len(t.shown.objects)-1].(*wire.SessionClose)
	}
	if !t.expect(end != nil && end.Reason == wire.ReasonUnsupported && t.shown.State == "TASK_STATE_COMPLETED", "GA-HANDOFF-001", t.base,
		"a Handoff that nobody consented to is not closed as unsupported") {
		return nil
	}
	after := len(t.shown.raw)
	if s, err = t.say(t.question("r-10", wire.AllResults(), t.claim("r-10.0", t.nobodys()))); err != nil {
		return err
	}
	t.hold(s.reply, s.refused(-32004), "GA-CLOSED-001", t.base, "a question after the close is answered with %d %s", s.code, s.kind())
	if err := t.get(); err != nil {
		return err
	}
	t.expect(len(t.shown.raw) == after, "GA-CLOSED-001", t.base, "a closed session shows %d new objects", len(t.shown.raw)-after)
	return nil
}
