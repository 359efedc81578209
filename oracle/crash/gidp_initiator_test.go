package crash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
	"sayso/jcs"
)

const walkPatient = 20 * time.Second // for a child that nothing kills

// TestInitiatorKilled kills the agent that asks, wherever it is, until its sessions have come to their hand-over: what it sends again has no second effect.
func TestInitiatorKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 3))
	many := rounds(t, 20)
	at, walks, repeated := map[point]int{}, 0, 0
	sending := points[2:] // it has no ledger to reserve in
	for died := 0; died < many; {
		w := newWalk(t)
		for over := false; !over; {
			p := point("")
			if died%2 == 1 {
				p = sending[died/2%len(sending)]
			}
			if p, over = w.live(t, random, p, died < many); !over {
				at[p]++
				died++
			}
		}
		walks++
		repeated += w.judge(t)
	}
	var each []string
	for _, p := range sending {
		each = append(each, fmt.Sprintf("%d %s", at[p], p))
	}
	fmt.Printf("note: GIDP: of %d initiators died %d at a random moment, %s; %d pairs of sessions came to their hand-over, %d messages were sent again without an effect\n",
		many, at[""], strings.Join(each, ", "), walks, repeated)
}

// walk is one search of one initiator and the two responders that it finds.
type walk struct {
	folder
	interest  string
	endpoints []string
	sellers   [2]string // interests
	desk      *node     // of the responders
	log       *messageLog
	sent      map[string][][]byte // rows of what the initiator has sent, by session
}

// messageLog is a host that remembers what it received.
type messageLog struct {
	gidpa2a.Host
	mu       sync.Mutex
	seen     map[[32]byte]bool // guarded by mu
	repeated int               // guarded by mu
}

func (l *messageLog) Receive(ctx context.Context, m gidpa2a.Message) (gidpa2a.Task, error) {
	task, err := l.Host.Receive(ctx, m)
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256(append([]byte(m.Caller), m.Object...))
	if l.seen[sum] {
		l.repeated++
	}
	l.seen[sum] = true
	return task, err
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	w := &walk{folder: newFolder(t, ""), sent: map[string][][]byte{}}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { handler.ServeHTTP(rw, r) }))
	t.Cleanup(server.Close)
	found := &directory{}
	w.desk = newFolder(t, "").open(t, func(o *agent.Options) { o.Origin, o.Providers = server.URL, found })
	w.log = &messageLog{Host: w.desk.Agent, seen: map[[32]byte]bool{}}
	var err error
	handler, err = gidpa2a.NewHandler(gidpa2a.Options{Host: w.log, Origin: server.URL})
	must(t, err)
	stop := running(w.desk.Agent)
	ctx, cancel := context.WithCancel(context.Background())
	deciding := make(chan error, 1)
	go func() { deciding <- decideAll(ctx, w.desk.Agent) }()
	t.Cleanup(func() {
		cancel()
		if err := <-deciding; err != nil {
			t.Error(err)
		}
		stop()
		must(t, w.desk.db.Close())
	})
	for i := range w.sellers {
		added, err := w.desk.Add(t.Context(), document(t, gidp.Yes, `{"min":21234567}`))
		must(t, err)
		w.sellers[i] = added.ID
		active, err := w.desk.Activate(t.Context(), added.ID, "https://provider.example")
		must(t, err)
		if v := active.Projections[0]; v.State != string(durable.Published) {
			t.Fatalf("%+v", v)
		}
		w.endpoints = append(w.endpoints, active.Projections[0].Endpoint)
	}
	n := w.open(t, nil)
	defer n.db.Close()
	buyer := document(t, gidp.Yes, `{"max":45123457}`)
	buyer.Attributes["geography"] = jcs.Raw(`"germany"`)
	for _, key := range audited {
		delete(buyer.Attributes, key)
	}
	buyer.Budgets = map[string]interest.Budget{}
	w.interest, _ = n.activate(t, buyer)
	_, err = n.Explore(t.Context(), w.interest, "https://provider.example")
	must(t, err)
	return w
}

// decideAll grants whatever waits.
func decideAll(ctx context.Context, a *agent.Agent) error {
	for ctx.Err() == nil {
		list, err := a.Inbox(ctx, false)
		for _, e := range list {
			if _, err = a.Decide(ctx, e.ID, agent.Decision{Grant: true}); err != nil {
				break
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// live is the life of one child. It returns where it died, and whether all was over before; one that is not mortal lives until then.
func (w *walk) live(t *testing.T, random *rand.Rand, at point, mortal bool) (point, bool) {
	t.Helper()
	w.free(t)
	s := gidpSettings{folder: w.folder, Interest: w.interest, Endpoints: w.endpoints, Point: at, Pass: 1 + random.Int64N(6)}
	moment := time.Duration(random.Int64N(int64(700 * time.Millisecond)))
	if !mortal {
		s.Point, at = "", ""
	}
	if !mortal || at != "" {
		moment = walkPatient
	}
	c, lines := startGIDP(t, s)
	timer := time.AfterFunc(moment, func() { c.Process.Kill() })
	defer timer.Stop()
	over := false
	for {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "failed:") {
			t.Fatalf("the child gave up: %s", line)
		}
		if line == "done\n" {
			over = true
			c.Process.Kill()
		}
		if err != nil {
			break
		}
	}
	if c.Wait() == nil {
		t.Error("the child ended by itself")
	}
	if moment == walkPatient && !timer.Stop() && !over {
		t.Fatalf("the sessions did not come to their end in %v", walkPatient)
	}
	n := w.open(t, nil)
	defer n.db.Close()
	n.checkTrail(t, w.interest)
	w.judgeSent(t, n)
	return at, over
}

// free frees what the dead child had claimed, as the end of its lease does after two minutes.
func (w *walk) free(t *testing.T) {
	t.Helper()
	db, err := w.store(t.Context())
	must(t, err)
	defer db.Close()
	must(t, db.Agents().Update(t.Context(), func(tx durable.Writer) error {
		sessions, err := tx.Sessions(t.Context(), w.interest, false, "", 100)
		if err != nil {
			return err
		}
		for _, row := range sessions {
			if err := tx.Schedule(t.Context(), durable.WorkSession, row.ID, time.Now()); err != nil {
				return err
			}
		}
		searches, err := tx.Explorations(t.Context(), w.interest)
		if err != nil {
			return err
		}
		for _, row := range searches {
			if err := tx.Schedule(t.Context(), durable.WorkExploration, row.ID, time.Now()); err != nil {
				return err
			}
		}
		return nil
	}))
}

// judgeSent wants what was sent before: the same rows, without a gap.
func (w *walk) judgeSent(t *testing.T, n *node) {
	t.Helper()
	must(t, n.db.Agents().View(t.Context(), func(r durable.Reader) error {
		sessions, err := r.Sessions(t.Context(), w.interest, false, "", 100)
		if err != nil {
			return err
		}
		for _, s := range sessions {
			rows, err := r.Sent(t.Context(), s.ID, 0)
			if err != nil {
				return err
			}
			var bodies [][]byte
			for i, row := range rows {
				if row.Number != i+1 {
					t.Fatalf("message %d of %s stands in place %d", row.Number, s.ID, i+1)
				}
				bodies = append(bodies, row.Body)
			}
			before := w.sent[s.ID]
			if len(bodies) < len(before) || !slices.EqualFunc(bodies[:len(before)], before, bytes.Equal) {
				t.Fatalf("%s had sent %d messages, now there are %d or others", s.ID, len(before), len(bodies))
			}
			w.sent[s.ID] = bodies
		}
		return nil
	}))
}

// judge wants of each counterparty one session with the effects of one: three questions, two consents, one value, one hand-over. It returns how often a message
// came again.
func (w *walk) judge(t *testing.T) (repeated int) {
	t.Helper()
	n := w.open(t, nil)
	defer n.db.Close()
	list, err := n.Sessions(t.Context(), w.interest)
	must(t, err)
	if len(list) != len(w.sellers) {
		t.Fatalf("%d sessions with %d counterparties", len(list), len(w.sellers))
	}
	whole := func(v agent.SessionView, values int) {
		t.Helper()
		if v.State != "CLOSED" || v.Reason != string(wire.ReasonCompleted) || len(v.Questions) != 3 || len(v.Grants) != 2 || len(v.Values) != values || v.Handoff == nil || v.Lead == nil {
			t.Errorf("%+v", v)
		}
	}
	for _, v := range list {
		whole(v, 1)
	}
	for _, id := range w.sellers {
		theirs, err := w.desk.Sessions(t.Context(), id)
		must(t, err)
		if len(theirs) != 1 {
			t.Fatalf("%d sessions at one counterparty", len(theirs))
		}
		whole(theirs[0], 0)
		entries, err := w.desk.Inbox(t.Context(), true)
		must(t, err)
		entries = slices.DeleteFunc(entries, func(e agent.EntryView) bool { return e.Interest != id })
		if len(entries) != 3 {
			t.Errorf("the Principal was asked %d times", len(entries))
		}
		w.desk.checkTrail(t, id)
	}
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return w.log.repeated
}
