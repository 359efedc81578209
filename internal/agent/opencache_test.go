package agent

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jcs"
)

// colder is another process on the same store, which has nothing open.
func (p *party) colder() *Agent {
	p.t.Helper()
	a, err := New(p.options)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

// keptDigest is the digest of the state as it is committed.
func (s *stranger) keptDigest() string {
	s.w.t.Helper()
	got, err := s.w.seller.colder().read(s.w.t.Context(), s.task)
	if err != nil {
		s.w.t.Fatal(err)
	}
	digest, err := got.stateDigest(got.body.State)
	if err != nil {
		s.w.t.Fatal(err)
	}
	return digest
}

// same fails unless the warm agent shows what lies in the store.
func (s *stranger) same(got gidpa2a.Task) {
	s.w.t.Helper()
	ctx := s.w.t.Context()
	cold, err := s.w.seller.colder().Task(ctx, s.ref, s.task, s.key.Kid())
	if err != nil {
		s.w.t.Fatal(err)
	}
	warm, err := s.w.seller.agent.Task(ctx, s.ref, s.task, s.key.Kid())
	if err != nil || !reflect.DeepEqual(warm, cold) || !reflect.DeepEqual(got, cold) {
		s.w.t.Fatalf("%v\ngot  %+v\nwarm %+v\ncold %+v", err, got, warm, cold)
	}
}

func (a *Agent) keeps(id string) bool {
	a.opened.mu.Lock()
	defer a.opened.mu.Unlock()
	return a.opened.sessions[id] != nil
}

// What is kept open is never seen: steps, refusals, other processes and the clock give what an agent gives that opens every row.
func TestOpenedIsWhatIsCommitted(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-cache")
	s.same(s.open())
	warm := w.seller.agent
	for i := range 12 {
		before := s.keptDigest()
		switch i % 4 {
		case 1: // another process takes the step
			w.seller.agent = w.seller.colder()
		case 2: // a step that is undone: another object under a key that is taken
			o := &wire.CompatibilityRequest{Head: s.head(1e9), RequestID: "q-1", Claims: []wire.Claim{w.sites(`{"min":63}`)}, AllowedResults: wire.AllResults()}
			o.Claims[0].ID = "c-other"
			if _, err := s.send(o); code(err) != gidpa2a.Invalid {
				t.Fatal(err)
			}
		case 3: // the Principal's side writes the session
			if _, err := warm.inSession(t.Context(), s.task, func(t *turn) error { t.dirty = true; return nil }); err != nil {
				t.Fatal(err)
			}
		}
		task, err := s.ask(w.sites(fmt.Sprintf(`{"min":%d}`, i+1)))
		w.seller.agent = warm
		if err != nil {
			t.Fatal(err)
		}
		s.same(task)
		trail, err := warm.Audit(t.Context(), w.seller.interest)
		if err != nil {
			t.Fatal(err)
		}
		if last := trail[len(trail)-1]; !strings.Contains(string(last.Body), `"state":"`+before+`"`) {
			t.Errorf("step %d: %s does not rest on %s", i, last.Body, before)
		}
		again, err := s.send(&wire.CompatibilityRequest{Head: s.head(60e9), RequestID: fmt.Sprintf("q-%d", s.asked), AllowedResults: wire.AllResults(),
			Claims: []wire.Claim{{ID: fmt.Sprintf("c-%d.0", s.asked), Key: "sites", Operator: wire.OpOverlaps, Value: jcs.Raw(fmt.Sprintf(`{"min":%d}`, i+1))}}})
		if err != nil {
			t.Fatal(err)
		}
		s.same(again)
	}
	if !warm.keeps(s.task) {
		t.Error("nothing was kept open")
	}
	task, err := s.send(&wire.SessionClose{Head: s.head(60e9), Reason: wire.ReasonUnspecified})
	if err != nil {
		t.Fatal(err)
	}
	s.same(task)
	if warm.keeps(s.task) {
		t.Error("a closed session is kept open")
	}
	w.checkTrail()
}

// A row counts by its bytes: one of the same version that was put in its place is opened.
func TestOpenedCountsForItsBytesAlone(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-bytes")
	s.open()
	var row durable.SessionRow
	err := w.seller.agent.Store.View(t.Context(), func(r durable.Reader) (err error) { row, err = r.Session(t.Context(), s.task); return err })
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := w.seller.agent.opened.task(row); !ok {
		t.Fatal("nothing was kept open")
	}
	other := row
	other.Body = bytes.Clone(row.Body)
	other.Body[len(other.Body)/2] ^= 1
	later := row
	later.Version++
	for _, row := range []durable.SessionRow{other, later} {
		if _, ok := w.seller.agent.opened.task(row); ok {
			t.Error("another row was taken for it")
		}
		if _, ok := w.seller.agent.opened.take(row); ok {
			t.Error("another row was taken for it")
		}
	}
	if _, ok := w.seller.agent.opened.take(row); !ok {
		t.Error("the row itself was not")
	}
	if _, ok := w.seller.agent.opened.take(row); ok {
		t.Error("two turns have one session")
	}
}

func TestOpenedIsBounded(t *testing.T) {
	var o openCache
	for i := range 100 {
		turn := &turn{row: durable.SessionRow{ID: fmt.Sprint(i), Body: make([]byte, 1<<19)}}
		o.keep(turn, gidpa2a.Task{Artifacts: []gidpa2a.Artifact{{Object: make([]byte, 1<<19)}}})
	}
	if o.size > maxOpened || len(o.sessions) != o.recent.Len() || len(o.sessions) != maxOpened/(4<<19) || o.sessions["99"] == nil {
		t.Errorf("%d bytes, %d and %d sessions", o.size, len(o.sessions), o.recent.Len())
	}
}

// Readers see one commit or another while the session goes on.
func TestOpenedIsReadWhileItGrows(t *testing.T) {
	w := newWorld(t)
	s := w.stranger("s-read")
	s.open()
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for seen := 0; ; {
				task, err := w.seller.agent.Task(t.Context(), s.ref, s.task, s.key.Kid())
				if err != nil || len(task.Artifacts) < seen {
					t.Errorf("%d artifacts after %d, %v", len(task.Artifacts), seen, err)
					return
				}
				seen = len(task.Artifacts)
				_ = append(task.Artifacts, gidpa2a.Artifact{Number: -1}) // a list of one's own
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 20 {
		task, err := s.ask(w.sites(fmt.Sprintf(`{"min":%d}`, i+1)))
		if err != nil || task.Artifacts[len(task.Artifacts)-1].Number != len(task.Artifacts) {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}
