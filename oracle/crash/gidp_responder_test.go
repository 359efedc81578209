package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/internal/agent"
	"sayso/internal/app"
	"sayso/internal/store/pgtest"
)

const (
	gidpLife    = 14                    // rounds that one data folder lives through: the session of held questions takes no more
	gidpAskers  = 4                     // that talk at once
	gidpMost    = 48                    // answers until a random moment, at most
	gidpWindow  = 20 * time.Millisecond // in which it lies then
	gidpPatient = 5 * time.Second       // for a child that is to end itself
	maxHeldAsks = 3                     // of one round
	maxAsks     = 40                    // of one session: it takes 128 claims
)

func TestResponderKilledOverSQLite(t *testing.T) {
	killResponder(t, "SQLite", rounds(t, 20), func() string { return "" })
}

func TestResponderKilledOverPostgreSQL(t *testing.T) {
	killResponder(t, "PostgreSQL", rounds(t, 8), func() string { return pgtest.Database(t) })
}

// gidpTally counts what the children died of.
type gidpTally struct {
	at                   map[point]int // "" is a random moment
	acknowledged, undone int
	decided, resent      int
}

func (c *gidpTally) String() string {
	var each []string
	for _, p := range points {
		each = append(each, fmt.Sprintf("%d %s", c.at[p], p))
	}
	return fmt.Sprintf("%d at a random moment, %s; %d questions acknowledged, none lost, each charged once; of %d others %d had been committed; %d decisions acknowledged, none lost",
		c.at[""], strings.Join(each, ", "), c.acknowledged, c.resent, c.resent-c.undone, c.decided)
}

// killResponder is the test: an agent that answers, initiators that ask at once, a signal, the judgement.
func killResponder(t *testing.T, engine string, rounds int, database func() string) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	count := gidpTally{at: map[point]int{}}
	var r *responder
	for round := range rounds {
		if round%gidpLife == 0 {
			r = newResponder(t, database())
		}
		at := point("")
		if round%2 == 1 {
			at = points[round/2%len(points)]
		}
		r.round(t, random, &count, at)
	}
	fmt.Printf("note: GIDP over %s: of %d responders died %s\n", engine, rounds, &count)
	if rounds >= 20 && count.acknowledged < rounds {
		t.Errorf("%d questions acknowledged in %d rounds: the test has lost its point", count.acknowledged, rounds)
	}
}

// responder is a data folder with an agent, and what its peers know of it.
type responder struct {
	folder
	interest, ref string   // of this round: budgets are fresh
	heldInterest  string   // whose Principal decides about each question
	held          *asker   // its one peer
	peers         []*asker // of this round
	all           []*asker // of every round, the one of held questions included
	spent         map[string]float64
	decided       map[string]bool // entries whose decision was acknowledged
}

func newResponder(t *testing.T, database string) *responder {
	t.Helper()
	r := &responder{folder: newFolder(t, database), decided: map[string]bool{}}
	n := r.open(t, nil)
	var ref string
	r.heldInterest, ref = n.activate(t, document(t, gidp.Approval, `{"min":21234567}`))
	r.held = newAsker(t, ref)
	r.all = []*asker{r.held}
	r.renew(t, n)
	must(t, n.db.Close())
	return r
}

// renew begins the next round with a fresh interest and fresh peers.
func (r *responder) renew(t *testing.T, n *node) {
	t.Helper()
	r.interest, r.ref = n.activate(t, document(t, gidp.Yes, `{"min":21234567}`))
	r.peers, r.spent = nil, map[string]float64{}
	for range gidpAskers {
		r.peers = append(r.peers, newAsker(t, r.ref))
	}
	r.all = append(r.all, r.peers...)
}

func (r *responder) round(t *testing.T, random *rand.Rand, count *gidpTally, at point) {
	t.Helper()
	r.live(t, random, at, count)
	(&world{database: r.Database}).settle(t)
	n := r.open(t, nil)
	defer n.db.Close()
	for _, p := range r.all {
		r.judgePeer(t, n, p, count)
	}
	spent := n.checkLedger(t, r.interest, r.peers)
	for key, bits := range r.spent {
		if spent[key] < bits {
			t.Fatalf("%s: %v bits were spent, now %v", key, bits, spent[key])
		}
	}
	r.judgeHeld(t, n, count)
	n.checkTrail(t, r.interest)
	r.again(t, n)
	r.renew(t, n)
}

// live is the life of one child: it answers until it dies.
func (r *responder) live(t *testing.T, random *rand.Rand, at point, count *gidpTally) {
	t.Helper()
	c, lines := startGIDP(t, gidpSettings{folder: r.folder, Point: at, Pass: 1 + random.Int64N(10)})
	ready, err := lines.ReadString('\n')
	var origin string
	if _, scanned := fmt.Sscanf(ready, "ready %s", &origin); scanned != nil {
		c.Process.Kill()
		t.Fatalf("the child says %q, %v", ready, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var talking sync.WaitGroup
	client, done := initiator()
	defer done()
	kill := func() { c.Process.Kill() }
	patient := time.AfterFunc(gidpPatient, kill)
	defer patient.Stop()
	var left atomic.Int64
	left.Store(1 + random.Int64N(gidpMost))
	after := time.Duration(random.Int64N(int64(gidpWindow)))
	answered := func() {
		if left.Add(-1) == 0 && at == "" {
			time.AfterFunc(after, kill)
		}
	}
	if random.IntN(8) == 0 { // it may die before anybody has said a word
		left.Store(1)
		answered()
	}
	for _, p := range append(slices.Clone(r.peers), r.held) {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		talking.Go(func() {
			if err := p.talk(ctx, client, origin, answered, own.IntN, map[bool]int{true: maxHeldAsks, false: maxAsks}[p == r.held]); err != nil {
				t.Errorf("%s: %v", p.session, err)
			}
		})
	}
	for {
		line, err := lines.ReadString('\n')
		if id, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "decided "); ok && strings.HasSuffix(line, "\n") {
			r.decided[id] = true
			count.decided++
		}
		if strings.HasPrefix(line, "failed:") {
			t.Errorf("the child gave up: %s", line)
		}
		if err != nil {
			break
		}
	}
	if !patient.Stop() { // fewer messages than that passed there
		at = ""
	}
	count.at[at]++
	if err := c.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
	cancel()
	talking.Wait()
}

// talk opens the session and asks, one question after the other, until nobody answers. What a refusal says is a fault: a peer that dies refuses nothing.
func (p *asker) talk(ctx context.Context, client *gidpa2a.Client, origin string, answered func(), random func(n int) int, most int) error {
	over := func(err error) error {
		var refused *gidpa2a.Refusal
		var bad *gidpa2a.BadAnswer
		var inactive *gidpa2a.NotActive
		if errors.As(err, &refused) || errors.As(err, &bad) || errors.As(err, &inactive) {
			return err
		}
		return nil
	}
	look := func() error {
		got, err := client.Get(ctx, p.peer(origin))
		if err != nil {
			return over(err)
		}
		return p.see(got.Artifacts)
	}
	if p.task == "" {
		got, err := client.Send(ctx, p.peer(origin), gidpa2a.Outgoing{Object: p.opening, Open: true})
		if err != nil {
			return over(err)
		}
		p.task = got.Task
		if err := p.see(got.Artifacts); err != nil {
			return err
		}
	}
	for range most {
		p.final = most == maxAsks && random(16) == 0
		a, err := p.draw(random, p.final)
		if err != nil {
			return err
		}
		got, err := client.Send(ctx, p.peer(origin), gidpa2a.Outgoing{Object: a.object})
		if err != nil {
			return over(err)
		}
		a.acknowledged = true
		answered()
		if err := p.see(got.Artifacts); err != nil {
			return err
		}
		if p.final {
			break
		}
		if random(3) == 0 {
			if err := look(); err != nil {
				return err
			}
		}
	}
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) { // it has asked enough
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

// judgePeer wants all that was shown, and an answer to all that was acknowledged.
func (r *responder) judgePeer(t *testing.T, n *node, p *asker, count *gidpTally) {
	t.Helper()
	if p.task == "" {
		return // its open was not acknowledged
	}
	task, err := n.Task(t.Context(), p.ref, p.task, p.key.Kid())
	if err != nil {
		t.Fatalf("%s was acknowledged and is not there: %v", p.session, err)
	}
	must(t, p.see(task.Artifacts))
	if p == r.held || !slices.Contains(r.peers, p) {
		return
	}
	answers := p.answers(t)
	for _, a := range p.asks {
		switch {
		case a.acknowledged:
			count.acknowledged++
			if answers[a.id] == nil {
				t.Fatalf("%s of %s was acknowledged and has no answer", a.id, p.session)
			}
		case answers[a.id] == nil:
			count.undone++
			fallthrough
		default:
			count.resent++
		}
	}
}

// judgeHeld wants every question that waits in the inbox, and every decision that was acknowledged in the answers. It decides one more.
func (r *responder) judgeHeld(t *testing.T, n *node, count *gidpTally) {
	t.Helper()
	waiting, err := n.Inbox(t.Context(), false)
	must(t, err)
	all, err := n.Inbox(t.Context(), true)
	must(t, err)
	answers := r.held.answers(t)
	acknowledged := 0
	for _, a := range r.held.asks {
		if a.acknowledged {
			acknowledged++
		}
	}
	if len(all) < acknowledged || len(answers)+len(waiting) != len(all) || len(answers) < len(r.decided) {
		t.Fatalf("%d questions were acknowledged and %d decided; %d entries, %d wait, %d answers", acknowledged, len(r.decided), len(all), len(waiting), len(answers))
	}
	n.checkLedger(t, r.heldInterest, []*asker{r.held})
	for id := range r.decided {
		if slices.ContainsFunc(waiting, func(e agent.EntryView) bool { return e.ID == id }) {
			t.Fatalf("the decision on %s was acknowledged and waits", id)
		}
	}
	if len(waiting) == 0 {
		return
	}
	for i, want := range []app.Kind{"", app.KindConflict} {
		_, err := n.Decide(t.Context(), waiting[0].ID, agent.Decision{Grant: true})
		if (err == nil) != (want == "") || err != nil && app.AsError(err).Kind != want {
			t.Fatalf("decision %d on %s: %v", i+1, waiting[0].ID, err)
		}
	}
	r.judgePeer(t, n, r.held, count)
	if got := len(r.held.answers(t)); got != len(answers)+1 {
		t.Fatalf("%d answers, and after one decision %d", len(answers), got)
	}
	n.checkLedger(t, r.heldInterest, []*asker{r.held})
}

// again sends everything of this round once more, twice: what was committed changes nothing, what was not is done once.
func (r *responder) again(t *testing.T, n *node) {
	t.Helper()
	for _, p := range append(slices.Clone(r.peers), r.held) {
		resent := *p
		resent.task = ""
		for range 2 {
			task, err := n.Receive(t.Context(), resent.message(p.opening))
			if err != nil || p.task != "" && task.ID != p.task {
				t.Fatalf("%s was opened as %q and again as %q: %v", p.session, p.task, task.ID, err)
			}
			p.task = task.ID
			must(t, p.see(task.Artifacts))
		}
		for _, a := range p.asks {
			before, err := n.Task(t.Context(), p.ref, p.task, p.key.Kid())
			must(t, err)
			known := p.answers(t)[a.id] != nil
			for i := range 2 {
				after, err := n.Receive(t.Context(), p.message(a.object))
				must(t, err)
				must(t, p.see(after.Artifacts))
				if (a.acknowledged || known || i > 0) && after.Version != before.Version {
					t.Fatalf("%s of %s was there and changed something", a.id, p.session)
				}
				before = after
			}
			a.acknowledged = true
		}
		answers := p.answers(t)
		for _, a := range p.asks {
			if answers[a.id] == nil && p != r.held {
				t.Fatalf("%s of %s has no answer", a.id, p.session)
			}
		}
	}
	r.spent = n.checkLedger(t, r.interest, r.peers)
}

// startGIDP runs this test program as an agent of GIDP.
func startGIDP(t *testing.T, s gidpSettings) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	settings, err := json.Marshal(s)
	must(t, err)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), gidpVariable+"="+string(settings))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	return c, bufio.NewReader(out)
}
