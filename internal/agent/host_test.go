package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// stranger is an initiator that is driven by hand.
type stranger struct {
	w       *world
	key     *jwk.PrivateKey
	session string
	ref     string
	task    string
	asked   int
}

func (w *world) stranger(session string) *stranger {
	w.t.Helper()
	key, err := vault.NewKey(rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	return &stranger{w: w, key: key, session: session, ref: w.ref}
}

func (s *stranger) head(life time.Duration) wire.Head {
	return wire.Head{SessionID: s.session, ExpiresAt: s.w.clock.read().Add(life).Truncate(time.Second)}
}

func (s *stranger) openObject() *wire.SessionOpen {
	return &wire.SessionOpen{Head: wire.Head{SessionID: s.session, ExpiresAt: worldStart.AddDate(0, 0, 7)}, RequestID: "r-1", Initiator: "peer", Purpose: "strategic_transaction", MaxDepth: wire.DepthSession,
		Profile: "sayso/corporate-transaction/1", Features: []wire.Feature{}}
}

func (s *stranger) bytes(o wire.Object) []byte {
	s.w.t.Helper()
	data, err := wire.Encode(o)
	if err != nil {
		s.w.t.Fatal(err)
	}
	return data
}

func (s *stranger) message(object []byte) gidpa2a.Message {
	m := gidpa2a.Message{Ref: s.ref, Caller: s.key.Kid(), Task: s.task, Context: s.session, Object: object, ReceivedAt: s.w.clock.read()}
	if s.task == "" {
		m.Key = jwk.EncodePublic(s.key.Public().Public)
	}
	return m
}

func (s *stranger) send(o wire.Object) (gidpa2a.Task, error) {
	return s.w.seller.agent.Receive(s.w.t.Context(), s.message(s.bytes(o)))
}

func (s *stranger) open() gidpa2a.Task {
	s.w.t.Helper()
	task, err := s.send(s.openObject())
	if err != nil {
		s.w.t.Fatal(err)
	}
	s.task = task.ID
	return task
}

func (s *stranger) ask(claims ...wire.Claim) (gidpa2a.Task, error) {
	s.asked++
	for i := range claims {
		claims[i].ID = fmt.Sprintf("c-%d.%d", s.asked, i)
	}
	return s.send(&wire.CompatibilityRequest{Head: s.head(time.Minute), RequestID: fmt.Sprintf("q-%d", s.asked), Claims: claims, AllowedResults: wire.AllResults()})
}

// last decodes the newest artifact.
func last(t testing.TB, task gidpa2a.Task) wire.Object {
	t.Helper()
	if len(task.Artifacts) == 0 {
		t.Fatal("no artifact")
	}
	o, err := wire.Decode(task.Artifacts[len(task.Artifacts)-1].Object)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func code(err error) gidpa2a.RefusalCode {
	var r *gidpa2a.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

func (w *world) sites(value string) wire.Claim {
	return wire.Claim{Key: "sites", Operator: wire.OpOverlaps, Value: jcs.Raw(value)}
}

// spentOn is what the ledger has charged.
func (w *world) spentOn(p *party) float64 {
	w.t.Helper()
	var bits float64
	err := p.agent.Store.View(w.t.Context(), func(r durable.Reader) error {
		h, _, err := p.agent.holding(w.t.Context(), r, p.interest)
		if err != nil {
			return err
		}
		led, err := p.agent.ledger(w.t.Context(), r, h)
		for _, row := range led {
			bits += row.Spent()
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return bits
}

// The same object is applied once, whatever its message is called; another object under its key teaches nothing (sec. 5).
func TestDeliveryIsOnce(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-1")
	first := s.open()
	again, err := s.w.seller.agent.Receive(t.Context(), gidpa2a.Message{Ref: s.ref, Caller: s.key.Kid(), Key: jwk.EncodePublic(s.key.Public().Public), Context: s.session,
		Object: s.bytes(s.openObject()), ReceivedAt: w.clock.read()})
	if err != nil || again.ID != first.ID || len(again.Artifacts) != 1 || !bytes.Equal(again.Artifacts[0].Object, first.Artifacts[0].Object) || again.Version != first.Version {
		t.Fatalf("version %d, then %d with %d artifacts: %v", first.Version, again.Version, len(again.Artifacts), err)
	}
	other := s.openObject()
	other.Initiator = "another"
	m := s.message(s.bytes(other))
	m.Task, m.Key = "", jwk.EncodePublic(s.key.Public().Public)
	if _, err := w.seller.agent.Receive(t.Context(), m); code(err) != gidpa2a.Invalid {
		t.Errorf("another open under the key: %v", err)
	}

	ask := &wire.CompatibilityRequest{Head: s.head(time.Minute), RequestID: "q-1", Claims: []wire.Claim{{ID: "c-1", Key: "sites", Operator: wire.OpOverlaps, Value: jcs.Raw(`{"min":16}`)}}, AllowedResults: wire.AllResults()}
	one, err := s.send(ask)
	if err != nil {
		t.Fatal(err)
	}
	spent := w.spentOn(w.seller)
	for range 3 {
		w.clock.advance(time.Hour) // a duplicate may come late
		w.seller.restart()
		two, err := s.send(ask)
		if err != nil || two.Version != one.Version || len(two.Artifacts) != 2 || !bytes.Equal(two.Artifacts[1].Object, one.Artifacts[1].Object) {
			t.Fatalf("version %d, then %d with %d artifacts: %v", one.Version, two.Version, len(two.Artifacts), err)
		}
	}
	ask.Claims[0].Value = jcs.Raw(`{"min":15}`)
	if _, err := s.send(ask); code(err) != gidpa2a.Invalid {
		t.Errorf("another question under the key: %v", err)
	}
	if got := w.spentOn(w.seller); got != spent || spent <= 0 {
		t.Errorf("charged %v, then %v", spent, got)
	}
	task, err := w.seller.agent.Task(t.Context(), s.ref, s.task, s.key.Kid())
	if err != nil || task.Version != one.Version || len(task.Artifacts) != 2 {
		t.Errorf("%+v %v", task, err)
	}
	w.checkTrail()
}

// A task is nobody else's, and no word of the refusal tells why.
func TestATaskBelongsToItsKey(t *testing.T) {
	w := newWorld(t)
	s, other := w.stranger("s-1"), w.stranger("s-1")
	s.open()
	a := w.seller.agent
	if got := other.open(); got.ID == s.task {
		t.Fatal("one task for two keys")
	}
	other.task = s.task
	_, sent := other.ask(wire.Claim{Key: "sector", Operator: wire.OpEquals, Value: jcs.Raw(`"x"`)})
	_, looked := a.Task(t.Context(), s.ref, s.task, other.key.Kid())
	_, elsewhere := a.Task(t.Context(), strings.Repeat("0", 32), s.task, s.key.Kid())
	_, unknown := a.Task(t.Context(), s.ref, "none", s.key.Kid())
	wrong := s.message(nil)
	wrong.Context, wrong.Evidence = "s-2", jcs.Raw(`{"request":["PROBE"]}`)
	_, context := a.Receive(t.Context(), wrong)
	for i, err := range []error{sent, looked, elsewhere, unknown, context} {
		if code(err) != gidpa2a.NotFound || err.Error() != unknown.Error() {
			t.Errorf("%d: %v", i, err)
		}
	}
	pub, ok, err := a.Key(t.Context(), s.key.Kid())
	if err != nil || !ok || !pub.Equal(s.key.Public().Public) {
		t.Errorf("%v %v", ok, err)
	}
	if _, ok, err := a.Key(t.Context(), "none"); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

// An open at a reference that is unknown, withdrawn or expired gets the same bytes, and leaves nothing behind. The same bytes again get the same again.
func TestRefusedOpensAreAlike(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-1")
	a := w.seller.agent
	count := func() (n int) {
		t.Helper()
		if err := a.Store.View(t.Context(), func(r durable.Reader) error {
			return sessions(t.Context(), r, "", false, func(durable.SessionRow) error { n++; return nil })
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	receive := func(ref string, o *wire.SessionOpen) gidpa2a.Task {
		t.Helper()
		s.ref, s.task = ref, ""
		task, err := s.send(o)
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	unknown := receive(strings.Repeat("0", 32), s.openObject())
	if c, ok := last(t, unknown).(*wire.SessionClose); !ok || c.Reason != wire.ReasonUnsupported || c.RequestRef != "r-1" || !unknown.Closed {
		t.Fatalf("%+v", unknown)
	}
	alike := func(name string, task gidpa2a.Task) {
		t.Helper()
		if len(task.Artifacts) != 1 || !bytes.Equal(task.Artifacts[0].Object, unknown.Artifacts[0].Object) || !task.Artifacts[0].Release.Equal(unknown.Artifacts[0].Release) ||
			task.Closed != unknown.Closed || task.Version != unknown.Version || task.Session != unknown.Session || task.Awaiting != 0 || task.Artifacts[0].Key != nil || task.Artifacts[0].Evidence != nil {
			t.Errorf("%s: %+v", name, task)
		}
		if n := count(); n != 0 {
			t.Errorf("%s: %d sessions are kept", name, n)
		}
	}
	if again := receive(strings.Repeat("0", 32), s.openObject()); again.ID != unknown.ID {
		t.Error("a repeated open has another task")
	}
	o := s.openObject()
	o.Profile = "core"
	alike("profile", receive(w.ref, o))
	o = s.openObject()
	o.ProjectionRef = "somebody-elses"
	if task := receive(w.ref, o); last(t, task).(*wire.SessionClose).Reason != wire.ReasonUnsupported {
		t.Error("routing")
	}
	state := func(state durable.ProjectionState, expires time.Time) {
		t.Helper()
		err := a.Store.Update(t.Context(), func(tx durable.Writer) error {
			row, err := tx.Projection(t.Context(), w.ref)
			if err != nil {
				return err
			}
			row.State, row.ExpiresAt = state, expires
			return tx.PutProjection(t.Context(), row)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	state(durable.Withdrawing, worldStart.AddDate(0, 1, 0))
	alike("withdrawing", receive(w.ref, s.openObject()))
	state(durable.Published, worldStart)
	alike("expired", receive(w.ref, s.openObject()))
	state(durable.Published, worldStart.AddDate(0, 1, 0))
	if _, err := a.Suspend(t.Context(), w.seller.interest); err != nil {
		t.Fatal(err)
	}
	alike("suspended", receive(w.ref, s.openObject()))
	for ref := range map[string]bool{w.ref: true, strings.Repeat("0", 32): true} { // what is wrong of itself is wrong everywhere
		s.ref, s.task = ref, ""
		o := s.openObject()
		o.ExpiresAt = worldStart.Add(-time.Hour)
		if _, err := s.send(o); code(err) != gidpa2a.Invalid {
			t.Errorf("expired open: %v", err)
		}
		m := s.message(s.bytes(s.openObject()))
		m.Key = jwk.EncodePublic(w.stranger("x").key.Public().Public)
		if _, err := a.Receive(t.Context(), m); code(err) != gidpa2a.Denied {
			t.Errorf("another key: %v", err)
		}
		m = s.message([]byte(`{"type":"SessionOpen"}`))
		if _, err := a.Receive(t.Context(), m); code(err) != gidpa2a.Invalid {
			t.Errorf("malformed: %v", err)
		}
		if _, err := s.send(&wire.SessionClose{Head: s.head(time.Hour), Reason: wire.ReasonUnspecified}); code(err) != gidpa2a.Invalid {
			t.Errorf("no open: %v", err)
		}
	}
}

// PROBE false closes without a reason (S-04).
func TestAnOpenWithoutPermission(t *testing.T) {
	w := newWorld(t, buyerSeller{seller: func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.No }})
	s := w.stranger("s-1")
	if c, ok := last(t, s.open()).(*wire.SessionClose); !ok || c.Reason != wire.ReasonUnspecified {
		t.Errorf("%+v", c)
	}
}

// Limits are numbers, looked at before the interest; a repeated open is no new one.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-0")
	for i := range maxOpenOfPeer {
		s.session, s.task = fmt.Sprintf("s-%d", i), ""
		s.open()
	}
	s.session, s.task = "s-more", ""
	_, err := s.send(s.openObject())
	var limited *gidpa2a.Refusal
	if !errors.As(err, &limited) || limited.Code != gidpa2a.Limited || limited.RetryAfter <= 0 {
		t.Fatalf("%v", err)
	}
	s.session = "s-0"
	if _, err := s.send(s.openObject()); err != nil {
		t.Errorf("an open that was taken: %v", err)
	}
	for range maxOpenAtRef - maxOpenOfPeer {
		w.stranger("s").open()
	}
	late := w.stranger("s")
	if _, err := late.send(late.openObject()); code(err) != gidpa2a.Limited {
		t.Errorf("at one reference: %v", err)
	}

	chatty := newWorld(t)
	s = chatty.stranger("s-1")
	s.open()
	var task gidpa2a.Task
	for i := range maxObjects + 1 {
		m := s.message(nil)
		m.Evidence = jcs.Raw(fmt.Sprintf(`{"n":%d}`, i))
		if task, err = chatty.seller.agent.Receive(t.Context(), m); err != nil {
			t.Fatal(i, err)
		}
		if task.Closed {
			break
		}
	}
	if c, ok := last(t, task).(*wire.SessionClose); !ok || c.Reason != wire.ReasonUnspecified {
		t.Errorf("%+v", task)
	}
	if _, err := s.ask(wire.Claim{Key: "sector", Operator: wire.OpEquals, Value: jcs.Raw(`"x"`)}); code(err) != gidpa2a.Closed {
		t.Errorf("after the close: %v", err)
	}
}

// Answers are shown on multiples of the tick after receipt, one tick later at the least.
func TestAnswersWaitForTheTick(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-1")
	s.open()
	w.clock.advance(90 * time.Millisecond)
	at := w.clock.read()
	task, err := s.ask(wire.Claim{Key: "sector", Operator: wire.OpEquals, Value: jcs.Raw(`"x"`)})
	if err != nil || !task.Artifacts[1].Release.Equal(at.Add(250*time.Millisecond)) {
		t.Fatalf("%+v %v", task.Artifacts, err)
	}
	if shown, state, next := task.At(w.clock.read()); len(shown.Artifacts) != 0 || state != gidpa2a.Working || next.IsZero() {
		t.Errorf("%+v %s", shown, state)
	}
}

// Waiting ends with a commit of this process at once, with one of another process soon, and with the context.
func TestWait(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-1")
	task := s.open()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := w.seller.agent.Wait(ctx, s.task, task.Version-1); err != nil {
		t.Fatal(err)
	}
	here := w.seller.agent
	waited := make(chan error, 1)
	go func() { waited <- here.Wait(ctx, s.task, task.Version) }()
	w.seller.restart() // another process
	if _, err := s.ask(wire.Claim{Key: "sector", Operator: wire.OpEquals, Value: jcs.Raw(`"x"`)}); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	short, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	now, err := w.seller.agent.Task(t.Context(), s.ref, s.task, s.key.Kid())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.seller.agent.Wait(short, s.task, now.Version); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := w.seller.agent.Wait(ctx, "none", 0); code(err) != gidpa2a.NotFound {
		t.Errorf("%v", err)
	}
	if len(here.watchers.list) != 0 {
		t.Error("a watcher stays behind")
	}
}

// A request of the responder awaits input, and no more once it is answered (B-04).
func TestAwaitingInput(t *testing.T) {
	w, _ := qualified(t)
	id := w.seller.one().ID
	if _, err := w.seller.agent.Request(t.Context(), id, LeadRequest{Action: RequestContact}); err != nil {
		t.Fatal(err)
	}
	task := func() gidpa2a.Task {
		t.Helper()
		var task gidpa2a.Task
		err := w.seller.agent.Store.View(t.Context(), func(r durable.Reader) error {
			row, err := r.Session(t.Context(), id)
			if err != nil {
				return err
			}
			task, err = w.seller.agent.Task(t.Context(), row.Ref, id, row.Peer)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	before := task()
	if before.Awaiting != len(before.Artifacts) {
		t.Fatalf("%d of %d", before.Awaiting, len(before.Artifacts))
	}
	w.pump(4)
	w.buyer.decide(Decision{})
	w.pump(4)
	if after := task(); after.Awaiting != 0 || len(after.Artifacts) != len(before.Artifacts) {
		t.Errorf("%+v", after)
	}
}

// Evidence is answered with what was shown already and never more; what is no evidence proves nothing (§16.2).
func TestEvidenceAlone(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-1")
	s.open()
	m := s.message(nil)
	m.Evidence = jcs.Raw(`{"request":["PROBE","INTRODUCE","COMMIT","NONSENSE"]}`)
	task, err := w.seller.agent.Receive(t.Context(), m)
	if err != nil || len(task.Artifacts) != 2 || task.Artifacts[1].Object != nil {
		t.Fatalf("%+v %v", task, err)
	}
	f := evidence(task.Artifacts[1].Evidence)
	if len(f.Levels) != 3 || f.Levels["PROBE"] != "evidenced" || f.Levels["INTRODUCE"] != "unevidenced" || f.Levels["COMMIT"] != "unevidenced" || len(f.Credentials) != 1 ||
		f.Credentials[0] != evidence(task.Artifacts[0].Evidence).Credentials[0] {
		t.Errorf("%s", task.Artifacts[1].Evidence)
	}
	if again, err := w.seller.agent.Receive(t.Context(), m); err != nil || len(again.Artifacts) != 2 {
		t.Errorf("%+v %v", again, err)
	}
	m.Evidence = jcs.Raw(`{"request":["PROBE"]}`) // another request is answered, and shows nothing a third time
	if again, err := w.seller.agent.Receive(t.Context(), m); err != nil || len(again.Artifacts) != 3 || string(again.Artifacts[2].Evidence) != `{"levels":{"PROBE":"evidenced"}}` {
		t.Errorf("%+v %v", again, err)
	}
	m.Evidence = jcs.Raw(`{"credentials":["nonsense"]}`)
	if _, err := w.seller.agent.Receive(t.Context(), m); err != nil {
		t.Error(err)
	}
	if p := w.seller.one().Peer; p.Finding != "unevidenced" || p.Mandate != "" {
		t.Errorf("%+v", p)
	}
	m.Evidence = jcs.Raw(`{`)
	if _, err := w.seller.agent.Receive(t.Context(), m); code(err) != gidpa2a.Invalid {
		t.Errorf("%v", err)
	}
}

// FuzzEvidence reads what travels beside objects: it never fails, and what it returns is bounded.
func FuzzEvidence(f *testing.F) {
	for _, seed := range []string{``, `{}`, `null`, `{"credentials":["a~"]}`, `{"target_ref":"human:x"}`, `{"request":["PROBE"],"levels":{"PROBE":"evidenced"}}`, `{"credentials":"x"}`, `[1]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := evidence(data)
		if len(e.Credentials) > wire.MaxList || len(e.Request) > wire.MaxList {
			t.Errorf("%q: %+v", data, e)
		}
		for _, kind := range []wire.TargetKind{wire.TargetHuman, wire.TargetWorkflow, wire.TargetProtocol} {
			ref := targetRef(&wire.Handoff{Target: wire.Target{Kind: kind}}, data)
			if len(ref) > wire.MaxText || ref != "" && (ref != e.TargetRef || targetKind(ref) != kind) {
				t.Errorf("%s: %q", kind, ref)
			}
		}
		if _, _, ok := parseTarget(e.TargetRef); ok && e.TargetRef == "" {
			t.Error("an empty target")
		}
	})
}

// refusedWith is the kind of a refusal.
func refusedWith(err error) app.Kind {
	if err == nil {
		return ""
	}
	return app.AsError(err).Kind
}
