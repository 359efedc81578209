package agent

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jcs"
)

// script is a responder that says what a test tells it to.
type script struct {
	t     testing.TB
	mu    sync.Mutex
	task  gidpa2a.Task // guarded by mu
	got   []wire.Object
	reply func(wire.Object) []wire.Object
	err   error // of the next message
}

func (s *script) Receive(_ context.Context, m gidpa2a.Message) (gidpa2a.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		err := s.err
		s.err = nil
		return gidpa2a.Task{}, err
	}
	o, err := wire.Decode(m.Object)
	if err != nil {
		s.t.Fatal(err)
	}
	s.got = append(s.got, o)
	s.task.ID, s.task.Session = "task-1", m.Context
	for _, out := range s.reply(o) {
		s.say(out)
	}
	return s.task, nil
}

func (s *script) say(o wire.Object) {
	data, err := wire.Encode(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.task.Artifacts = append(s.task.Artifacts, gidpa2a.Artifact{Number: len(s.task.Artifacts) + 1, Object: data})
}

func (s *script) Task(context.Context, string, string, string) (gidpa2a.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.task, s.err
}

func (s *script) Wait(context.Context, string, uint64) error { return nil }
func (s *script) Key(context.Context, string) (ed25519.PublicKey, bool, error) {
	return nil, false, nil
}

func accept(o *wire.SessionOpen) *wire.SessionAccept {
	return &wire.SessionAccept{Head: o.Head, RequestRef: o.RequestID, Responder: "peer", MaxDepth: wire.DepthSession, Profile: o.Profile, Features: o.Features}
}

func answer(o *wire.CompatibilityRequest, status wire.Status, results ...wire.Result) *wire.CompatibilityResponse {
	out := &wire.CompatibilityResponse{Head: o.Head, RequestRef: o.RequestID, SessionStatus: status, Permitted: []wire.NextAction{}, Requires: []string{}, ContingentOn: []string{}}
	for i, c := range o.Claims {
		out.Results = append(out.Results, wire.Outcome{ClaimID: c.ID, Key: c.Key, Result: results[min(i, len(results)-1)]})
	}
	return out
}

func scripted(t testing.TB, reply func(wire.Object) []wire.Object, change ...buyerSeller) (*world, *script) {
	w := newWorld(t, change...)
	s := &script{t: t, reply: reply}
	w.wires.host = s
	return w, s
}

func asks(s *script) (out []*wire.CompatibilityRequest) {
	for _, o := range s.got {
		if ask, ok := o.(*wire.CompatibilityRequest); ok {
			out = append(out, ask)
		}
	}
	return out
}

// One request with all questions, one more for what stayed unknown, one cell wider, and no third.
func TestThePlan(t *testing.T) {
	w, s := scripted(t, func(o wire.Object) []wire.Object {
		switch o := o.(type) {
		case *wire.SessionOpen:
			return []wire.Object{accept(o)}
		case *wire.CompatibilityRequest:
			return []wire.Object{answer(o, wire.StatusOpen, wire.Unknown)}
		}
		return nil
	})
	w.open()
	w.pump(8)
	got := asks(s)
	if len(got) != 2 || len(got[0].Claims) != 3 {
		t.Fatalf("%+v", got)
	}
	if keys := []string{got[0].Claims[0].Key, got[0].Claims[1].Key, got[0].Claims[2].Key}; !slices.Equal(keys, []string{"sector", "geography", "enterprise_value_eur"}) {
		t.Errorf("%v", keys)
	}
	wider := map[string]string{}
	for _, c := range got[1].Claims {
		wider[c.Key] = string(c.Value)
		if i := slices.IndexFunc(got[0].Claims, func(first wire.Claim) bool { return first.Key == c.Key }); i < 0 || !slices.Equal(c.Supersedes, []string{got[0].Claims[i].ID}) {
			t.Errorf("%s supersedes %v", c.Key, c.Supersedes)
		}
	}
	want := map[string]string{"enterprise_value_eur": `{"max":79999999}`, "geography": `["europe"]`, "sector": `["software"]`}
	if first := got[0].Claims[2]; string(first.Value) != `{"max":49999999}` || !maps.Equal(wider, want) {
		t.Errorf("%s, then %v", got[0].Claims, wider)
	}
	w.checkTrail()
}

func TestWiden(t *testing.T) {
	p := &gidp.Partition{Min: 0, Max: 99, Edges: []int64{10, 20, 50}}
	for from, want := range map[string]string{`{"max":9}`: `{"max":19}`, `{"max":49}`: `{"max":99}`, `{"max":99}`: "", `{"min":50}`: `{"min":20}`, `{"min":0}`: "", `{"min":20,"max":49}`: `{"min":10,"max":99}`,
		`{"min":0,"max":19}`: `{"min":0,"max":49}`, `{}`: "", `7`: "", `{"min":"x"}`: ""} {
		got, ok := widen(p, jcs.Raw(from))
		if ok != (want != "") || string(got) != want && ok {
			t.Errorf("%s: %s %v", from, got, ok)
		}
		if ok && !p.Aligned(got) {
			t.Errorf("%s is not aligned", got)
		}
	}
}

// A label is widened to what contains it, once.
func TestWidenLabels(t *testing.T) {
	tree, err := gidp.NewTree(map[string]string{"munich": "germany", "berlin": "germany", "germany": "europe", "europe": ""})
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{`["munich"]`: `["germany"]`, `"munich"`: `["germany"]`, `["berlin","munich"]`: `["germany"]`, `["europe","germany"]`: `["europe"]`, `["europe"]`: "",
		`["elsewhere"]`: "", `[1]`: "", `{}`: ""} {
		got, ok := widenLabels(tree, jcs.Raw(from))
		if ok != (want != "") || string(got) != want && ok {
			t.Errorf("%s: %s %v", from, got, ok)
		}
	}
}

// A report that is out of date is asked for anew, by repeating an answered question, spaced and bounded (C-06).
func TestARefresh(t *testing.T) {
	n := 0
	w, s := scripted(t, func(o wire.Object) []wire.Object {
		switch o := o.(type) {
		case *wire.SessionOpen:
			return []wire.Object{accept(o)}
		case *wire.CompatibilityRequest:
			status := wire.StatusOpen
			if n++; n == 3 {
				status = wire.StatusPotential
			}
			return []wire.Object{answer(o, status, wire.Compatible)}
		}
		return nil
	})
	w.open()
	for range 5 {
		w.pump(4)
		w.clock.advance(40 * time.Second)
	}
	got := asks(s)
	if len(got) != 3 || len(got[1].Claims) != 1 || got[1].Claims[0].Key != got[0].Claims[0].Key || !bytes.Equal(got[1].Claims[0].Value, got[0].Claims[0].Value) {
		t.Fatalf("%d questions", len(got))
	}
	if v := w.buyer.one(); v.State != string(session.Qualified) {
		t.Errorf("%+v", v)
	}
	if _, ok := s.got[len(s.got)-1].(*wire.Opportunity); !ok {
		t.Errorf("%T", s.got[len(s.got)-1])
	}
}

// A failure is answered by the same bytes, later each time and as late as the peer asks; nothing is said twice in another way.
func TestTheSameBytesAreSentAgain(t *testing.T) {
	w := newWorld(t)
	var sent [][]byte
	var at []time.Time
	failures := 4
	w.wires.fail = func(out gidpa2a.Outgoing) error {
		sent, at = append(sent, bytes.Clone(out.Object)), append(at, w.clock.read())
		if failures--; failures == 1 {
			return &gidpa2a.Refusal{Code: gidpa2a.Limited, RetryAfter: 90 * time.Second}
		} else if failures >= 0 {
			return errors.New("no route")
		}
		return nil
	}
	w.open()
	for range 400 {
		w.pump(1)
	}
	for i, object := range sent[:5] {
		if !bytes.Equal(object, sent[0]) {
			t.Errorf("attempt %d has other bytes", i)
		}
	}
	for i, least := range []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 72 * time.Second, 6400 * time.Millisecond} {
		if gap := at[i+1].Sub(at[i]); gap < least {
			t.Errorf("attempt %d after %v", i+1, gap)
		}
	}
	if v := w.buyer.one(); v.State != string(session.Qualified) || v.Delivery != "" {
		t.Errorf("%+v", v)
	}
	if len(w.seller.sessions()) != 1 {
		t.Error("a repeated open made another session")
	}
}

// A question that expired while the peer could not be reached is not sent any more; it does not end the session.
func TestALapsedQuestionIsNotSent(t *testing.T) {
	w := newWorld(t)
	down := true
	w.wires.fail = func(out gidpa2a.Outgoing) error {
		if down && !out.Open {
			return errors.New("no route")
		}
		return nil
	}
	w.open()
	w.pump(4)
	w.clock.advance(20 * time.Minute)
	down = false
	w.pump(4)
	v := w.buyer.one()
	if v.State != string(session.Probing) || len(v.Questions) != 3 || !v.Questions[0].Expired || len(w.seller.one().Questions) != 0 {
		t.Errorf("%+v", v)
	}
}

// A hint of the responder slows the initiator down, within reason.
func TestTheHintOfAResponder(t *testing.T) {
	for hint, want := range map[string]int{`{"poll_after_s":5}`: 5, `{"poll_after_s":-5}`: 0, `{"poll_after_s":99999}`: longestHint, `{"poll_after_s":"x"}`: 0, ``: 0} {
		one := &turn{}
		one.hinted(jcs.Raw(hint))
		if one.body.Hint != want {
			t.Errorf("%s: %d", hint, one.body.Hint)
		}
	}
}

// An answer that is lost on the way is fetched by sending again: one effect.
func TestALostAnswer(t *testing.T) {
	w := newWorld(t)
	lose := map[string]bool{}
	w.wires.after = func(out gidpa2a.Outgoing) error {
		if key := string(out.Object); !lose[key] {
			lose[key] = true
			return errors.New("connection reset")
		}
		return nil
	}
	w.open()
	w.pump(40)
	if b, s := w.buyer.one(), w.seller.one(); b.State != string(session.Qualified) || s.State != string(session.Qualified) || len(s.Questions) != 3 {
		t.Errorf("%+v\n%+v", b, s)
	}
	w.checkTrail()
}

// What a refusal of the peer's transport means (C-36; gidp-a2a.md sec. 5).
func TestRefusalsOfThePeer(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		on     wire.Type
		reason string
		says   string
	}{
		"extension not in force": {&gidpa2a.NotActive{}, wire.TypeSessionOpen, "unsupported", failureActive},
		"session not known":      {&gidpa2a.Refusal{Code: gidpa2a.NotFound}, wire.TypeCompatibilityRequest, "unspecified", failureGone},
		"open refused":           {&gidpa2a.Refusal{Code: gidpa2a.Invalid}, wire.TypeSessionOpen, "unsupported", failureRefused},
		"question refused":       {&gidpa2a.Refusal{Code: gidpa2a.Invalid}, wire.TypeCompatibilityRequest, "unspecified", ""},
	} {
		w := newWorld(t)
		w.wires.fail = func(out gidpa2a.Outgoing) error {
			if strings.Contains(string(out.Object), `"`+string(c.on)+`"`) {
				return c.err
			}
			return nil
		}
		w.open()
		w.pump(8)
		v := w.buyer.one()
		if v.State != "CLOSED" || v.Reason != c.reason || v.Delivery != c.says {
			t.Errorf("%s: %+v", name, v)
		}
		if c.on == wire.TypeSessionOpen && len(w.wires.log) != 0 {
			t.Errorf("%s: something was sent", name)
		}
		if name == "question refused" && w.seller.one().State != "CLOSED" {
			t.Errorf("%s: the peer was not told", name)
		}
	}
}

// A close is told once to a peer that no longer knows the session or cannot be spoken to, and then it is over.
func TestAPeerThatIsGone(t *testing.T) {
	for name, c := range map[string]error{"gone": &gidpa2a.Refusal{Code: gidpa2a.NotFound}, "broken": &gidpa2a.BadAnswer{Detail: "x"}, "closed": &gidpa2a.Refusal{Code: gidpa2a.Closed}} {
		w, id := qualified(t)
		sends := 0
		w.wires.fail = func(gidpa2a.Outgoing) error { sends++; return c }
		if _, err := w.buyer.agent.CloseSession(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		w.pump(4)
		if sends != 1 {
			t.Errorf("%s: told %d times", name, sends)
		}
	}
	w, id := qualified(t)
	sends := 0
	w.wires.fail = func(gidpa2a.Outgoing) error { sends++; return &gidpa2a.BadAnswer{Detail: "x"} }
	if _, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestContact}); err != nil {
		t.Fatal(err)
	}
	w.pump(4)
	if v := w.buyer.one(); sends != 2 || v.State != "CLOSED" || v.Delivery != failureAnswer { // the request, and the close
		t.Errorf("%d: %+v", sends, v)
	}
}

// A task that its responder calls completed is closed, with its reason or without.
func TestATaskThatEnds(t *testing.T) {
	w, s := scripted(t, func(o wire.Object) []wire.Object {
		if open, ok := o.(*wire.SessionOpen); ok {
			return []wire.Object{accept(open)}
		}
		return nil
	})
	w.open()
	w.pump(3)
	s.task.Closed = true
	w.pump(6)
	if v := w.buyer.one(); v.State != "CLOSED" || v.Reason != "unspecified" {
		t.Errorf("%+v", v)
	}

	w, s = scripted(t, func(o wire.Object) []wire.Object {
		switch o := o.(type) {
		case *wire.SessionOpen:
			return []wire.Object{accept(o)}
		case *wire.CompatibilityRequest:
			return []wire.Object{&wire.SessionClose{Head: o.Head, Reason: wire.ReasonDeclined, RequestRef: o.RequestID}}
		}
		return nil
	})
	w.open()
	w.pump(6)
	if v := w.buyer.one(); v.Reason != "declined" || len(s.got) != 2 {
		t.Errorf("%+v", v)
	}
}

// Artifacts against the rules have no effect and are noted; those behind them count.
func TestStrangeArtifacts(t *testing.T) {
	w, s := scripted(t, func(o wire.Object) []wire.Object {
		switch o := o.(type) {
		case *wire.SessionOpen:
			head := o.Head
			return []wire.Object{
				&wire.Opportunity{Head: head, Structure: "x", OpenConditions: []string{}, ContingentOn: []string{}, IdentityStatus: map[string]wire.IdentityStatus{}},
				&wire.DisclosureResponse{Head: head, RequestRef: "r-9", Attribute: "plans", Status: wire.Granted, Value: jcs.Raw(`"unasked"`)},
				accept(o), accept(o),
				&wire.SessionAccept{Head: head, RequestRef: o.RequestID, Responder: "other", MaxDepth: wire.DepthNetwork, Profile: o.Profile, Features: o.Features},
			}
		case *wire.CompatibilityRequest:
			s := answer(o, wire.StatusPotential, wire.Compatible)
			s.RequestRef = "r-77"
			return []wire.Object{s, answer(o, wire.StatusPotential, wire.Compatible)}
		}
		return nil
	})
	s.task.Artifacts = []gidpa2a.Artifact{{Number: 1, Object: []byte(`{"type":"nonsense"}`)}}
	w.open()
	w.pump(6)
	v := w.buyer.one()
	if v.State != string(session.Qualified) || v.Depth != "session" || len(v.Values) != 0 {
		t.Errorf("%+v", v)
	}
	list, err := w.buyer.agent.Audit(t.Context(), w.buyer.interest)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range list {
		if e.Kind == auditViolation {
			n++
		}
	}
	if n != 5 {
		t.Errorf("%d violations are noted", n)
	}
	w.checkTrail()
}

// crashing is a store that fails now and then: before a commit, or after one, when what was done is done and nobody was told.
type crashing struct {
	durable.Store
	mu   sync.Mutex
	draw *rand.Rand // guarded by mu
}

var errCrash = errors.New("the process ended here")

func (s *crashing) Update(ctx context.Context, f func(durable.Writer) error) error {
	s.mu.Lock()
	n := s.draw.IntN(8)
	before, after := n == 0, n == 1
	s.mu.Unlock()
	err := s.Store.Update(ctx, func(w durable.Writer) error {
		if err := f(w); err != nil {
			return err
		}
		if before {
			return errCrash
		}
		return nil
	})
	if err == nil && after {
		return errCrash
	}
	return err
}

// Wherever a process ends, another one goes on: nothing is said twice or lost, and the ledger is charged once (6.6).
func TestCrashes(t *testing.T) {
	calm := newWorld(t)
	calm.sessionToTheEnd(t)
	want := calm.spentOn(calm.seller)
	for seed := range uint64(12) {
		w := newWorld(t)
		for i, p := range []*party{w.buyer, w.seller} {
			p.options.Store = &crashing{Store: p.options.Store, draw: rand.New(rand.NewPCG(seed, uint64(i)))}
			p.crashes = true
			p.restart()
		}
		w.sessionToTheEnd(t)
		if got := w.spentOn(w.seller); got != want {
			t.Errorf("seed %d: %v bits, want %v", seed, got, want)
		}
		w.checkTrail()
	}
}

// sessionToTheEnd takes a session from the open to the hand-over.
func (w *world) sessionToTheEnd(t *testing.T) {
	t.Helper()
	var id string
	try := func(f func() error) {
		t.Helper()
		for range 20 {
			err := f()
			if err == nil || strings.Contains(err.Error(), "request waits") || strings.Contains(err.Error(), "decided before") {
				return
			}
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			w.buyer.restart()
			w.seller.restart()
		}
		t.Fatal("never")
	}
	try(func() error {
		if list := w.buyer.sessions(); len(list) > 0 {
			id = list[0].ID
			return nil
		}
		return w.buyer.agent.Store.Update(t.Context(), func(tx durable.Writer) error {
			h, _, err := w.buyer.agent.holding(t.Context(), tx, w.buyer.interest)
			if err != nil {
				return err
			}
			id, err = w.buyer.agent.openSession(t.Context(), tx, h, w.endpoint, "")
			return err
		})
	})
	until := func(what string, holds func() bool) {
		t.Helper()
		for range 200 {
			if holds() {
				return
			}
			w.pump(1)
		}
		t.Fatalf("%s: %+v\n%+v", what, w.buyer.sessions(), w.seller.sessions())
	}
	until("qualified", func() bool {
		return len(w.seller.sessions()) == 1 && w.seller.one().State == "QUALIFIED" && w.buyer.one().State == "QUALIFIED"
	})
	try(func() error {
		_, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestIdentity})
		return err
	})
	grant := func() {
		t.Helper()
		until("an entry", func() bool { return len(w.seller.inbox()) == 1 })
		entry := w.seller.inbox()[0].ID
		try(func() error {
			_, err := w.seller.agent.Decide(t.Context(), entry, Decision{Grant: true})
			return err
		})
	}
	grant()
	grant()
	until("the value", func() bool { return len(w.buyer.one().Values) == 1 })
	try(func() error {
		_, err := w.buyer.agent.Request(t.Context(), id, LeadRequest{Action: RequestHandoff, Target: "human:x"})
		return err
	})
	grant()
	until("the end", func() bool { return w.seller.one().Reason == "completed" && w.buyer.one().Reason == "completed" })
	if v := w.buyer.one(); len(v.Values) != 1 || len(v.Grants) != 2 || len(v.Questions) != 3 {
		t.Errorf("%+v", v)
	}
	row := w.seller.one()
	err := w.seller.options.Store.View(t.Context(), func(r durable.Reader) error {
		rows, err := r.Sent(t.Context(), row.ID, 0)
		for i, one := range rows {
			if one.Number != i+1 {
				t.Errorf("artifact %d has number %d", i+1, one.Number)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two agents on one store answer at once: the budget is one, and no answer goes beyond it (L-3, I13).
func TestOneBudgetForAll(t *testing.T) {
	w := newWorld(t)
	second, err := New(w.seller.options)
	if err != nil {
		t.Fatal(err)
	}
	agents := []*Agent{w.seller.agent, second}
	const askers = 16
	var strangers []*stranger
	for range askers {
		s := w.stranger("s-1")
		s.open()
		strangers = append(strangers, s)
	}
	var wait sync.WaitGroup
	results := make([]wire.Result, askers)
	for i, s := range strangers {
		wait.Go(func() {
			edge := []string{`{"min":16}`, `{"min":8}`, `{"min":17}`, `{"max":23}`, `{"max":17}`, `{"max":19}`}[i%6]
			ask := &wire.CompatibilityRequest{Head: wire.Head{SessionID: s.session, ExpiresAt: worldStart.Add(time.Hour)}, RequestID: "q-1", AllowedResults: wire.AllResults(),
				Claims: []wire.Claim{{ID: "c-1", Key: "sites", Operator: wire.OpOverlaps, Value: jcs.Raw(edge)}}}
			data, err := wire.Encode(ask)
			if err != nil {
				t.Error(err)
				return
			}
			task, err := agents[i%2].Receive(t.Context(), s.message(data))
			if err != nil {
				t.Error(err)
				return
			}
			o, err := wire.Decode(task.Artifacts[1].Object)
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = o.(*wire.CompatibilityResponse).Results[0].Result
		})
	}
	wait.Wait()
	if bits := w.spentOn(w.seller); bits > 3 || bits <= 0 {
		t.Errorf("%v bits of 3", bits)
	}
	if !slices.Contains(results, wire.Declined) || !slices.Contains(results, wire.Compatible) || slices.Contains(results, wire.Incompatible) {
		t.Errorf("%v", results)
	}
	w.checkTrail()
}
