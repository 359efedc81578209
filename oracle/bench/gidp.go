package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/internal/agent"
	"sayso/internal/store/sqlite"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// Sessions of GIDP are measured at the Host of the production agent, over the SQLite file that a person has.

// The limits of a server for one reference and of a session that bound what one can be asked.
const (
	openAtRef   = 64
	asksEach    = 40 // of three claims: a session takes 128
	gidpTick    = 250 * time.Millisecond
	gidpSlack   = 50 * time.Millisecond
	openArrival = 200 // questions a second
)

// office is an agent on a file of its own.
type office struct {
	agent *agent.Agent
	db    *sqlite.Store
	file  string
	refs  []string // of one active interest each
	used  []int    // open sessions at each

	budget bool
}

// withOffice makes an agent that takes n open sessions. With a budget, one of the three claims of a question is charged to it.
func withOffice(ctx context.Context, n int, budget bool, f func(*office) error) error {
	dir, err := os.MkdirTemp("", "gidp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	v, err := vault.Create(dir, nil, rand.Reader)
	if err != nil {
		return err
	}
	o := &office{file: filepath.Join(dir, "sayso.db"), budget: budget}
	if o.db, err = sqlite.Open(ctx, o.file); err != nil {
		return err
	}
	err = o.fill(ctx, v, n)
	if err == nil {
		err = f(o)
	}
	return errors.Join(err, o.db.Close())
}

func (o *office) fill(ctx context.Context, v *vault.Vault, n int) (err error) {
	if o.agent, err = agent.New(agent.Options{Store: o.db.Agents(), Vault: v, Origin: "https://agent.example", Tick: gidpTick, Random: rand.Reader}); err != nil {
		return err
	}
	for range (n + openAtRef - 1) / openAtRef {
		doc, err := benchInterest(o.budget)
		if err != nil {
			return err
		}
		added, err := o.agent.Add(ctx, doc)
		if err != nil {
			return err
		}
		active, err := o.agent.Activate(ctx, added.ID, "")
		if err != nil {
			return err
		}
		o.refs, o.used = append(o.refs, active.Projections[0].Ref), append(o.used, 0)
	}
	return nil
}

// benchInterest holds a label, a place, a value in cells and a number that has neither cells nor, without a budget, an answer.
func benchInterest(budget bool) (*interest.Interest, error) {
	authority, _ := gidp.Delegation("moderate")
	doc := &interest.Interest{
		PrincipalRef: "somebody", Profile: "sayso/corporate-transaction/1", Origin: interest.Stated, ExpiresAt: time.Now().AddDate(0, 2, 0).UTC().Truncate(time.Second),
		Wants:      interest.Wants{Action: "strategic_transaction", Object: "company"},
		Attributes: map[string]jcs.Raw{"sector": jcs.Raw(`"enterprise_software"`), "geography": jcs.Raw(`"munich"`), "enterprise_value_eur": jcs.Raw(`{"min":21234567}`), "sites": jcs.Raw(`41`), gidp.PrincipalIdentity: jcs.Raw(`"Firm"`)},
		Policy:     interest.Policy{Entries: map[string]gidp.Entry{}},
		Authority:  map[gidp.Level]gidp.Permission{},
	}
	if budget {
		doc.Budgets = map[string]interest.Budget{"sites": {Bits: 3, Domain: gidp.Domain{Max: 63, Step: 1}}}
	}
	for key, class := range map[string]string{"sector": "discovery", "geography": "discovery", "enterprise_value_eur": "evaluation_only", gidp.PrincipalIdentity: "session/principal_approval"} {
		c, err := gidp.ParseClass(class)
		if err != nil {
			return nil, err
		}
		doc.Policy.Entries[key] = gidp.Entry{"": c}
	}
	for l := gidp.Observe; l <= gidp.Commit; l++ {
		doc.Authority[l] = authority.At(l)
	}
	return doc, nil
}

// guest is an initiator in one session.
type guest struct {
	at           int // index of the reference
	session      string
	key          *jwk.PrivateKey
	task         string
	asked, drawn int
}

// admit opens a session at the reference that has the fewest.
func (o *office) admit(ctx context.Context) (*guest, error) {
	key, err := gidpa2a.NewKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	g := &guest{at: slices.Index(o.used, slices.Min(o.used)), key: key, session: "s-" + rand.Text()}
	task, err := o.receive(ctx, g, &wire.SessionOpen{Head: g.head(), RequestID: "r", Initiator: "peer", Purpose: "strategic_transaction", MaxDepth: wire.DepthSession,
		Profile: "sayso/corporate-transaction/1", Features: []wire.Feature{}})
	if err != nil || task.Closed {
		return nil, errors.Join(err, errors.New("a session was not accepted"))
	}
	g.task = task.ID
	o.used[g.at]++
	return g, nil
}

// leave closes a session.
func (o *office) leave(ctx context.Context, g *guest) error {
	o.used[g.at]--
	_, err := o.receive(ctx, g, &wire.SessionClose{Head: g.head(), Reason: wire.ReasonUnspecified})
	return err
}

func (g *guest) head() wire.Head {
	return wire.Head{SessionID: g.session, ExpiresAt: time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)}
}

// receive hands an object to the agent as a server does.
func (o *office) receive(ctx context.Context, g *guest, object wire.Object) (gidpa2a.Task, error) {
	m, err := o.message(g, object)
	if err != nil {
		return gidpa2a.Task{}, err
	}
	return o.agent.Receive(ctx, m)
}

// message is what a server makes of a request.
func (o *office) message(g *guest, object wire.Object) (gidpa2a.Message, error) {
	data, err := wire.Encode(object)
	if err != nil {
		return gidpa2a.Message{}, err
	}
	m := gidpa2a.Message{Ref: o.refs[g.at], Caller: g.key.Kid(), Task: g.task, Context: g.session, Object: data, ReceivedAt: time.Now()}
	if g.task == "" {
		m.Key = jwk.EncodePublic(g.key.Public().Public)
	}
	return m, nil
}

// question is the next one of a guest: three claims, on a label, on a value in cells and on a number that only a budget answers.
func (g *guest) question() *wire.CompatibilityRequest {
	g.asked++
	q := &wire.CompatibilityRequest{Head: g.head(), RequestID: fmt.Sprint("q-", g.asked), AllowedResults: wire.AllResults()}
	for i, c := range []wire.Claim{
		{Key: "sector", Operator: wire.OpIntersects, Value: jcs.Raw(`"enterprise_software"`)},
		{Key: "enterprise_value_eur", Operator: wire.OpOverlaps, Value: jcs.Raw(fmt.Sprintf(`{"max":%d}`, 40_000_000+g.asked))},
		{Key: "sites", Operator: wire.OpOverlaps, Value: jcs.Raw(fmt.Sprintf(`{"min":%d}`, g.asked))},
	} {
		c.ID = fmt.Sprintf("c-%d.%d", g.asked, i)
		q.Claims = append(q.Claims, c)
	}
	return q
}

// ask asks a question and returns its answer, which is durable.
func (o *office) ask(ctx context.Context, g *guest, q *wire.CompatibilityRequest) (gidpa2a.Artifact, error) {
	task, err := o.receive(ctx, g, q)
	if err != nil {
		return gidpa2a.Artifact{}, err
	}
	return answered(task, q)
}

// answered finds the answer to a question in a task.
func answered(task gidpa2a.Task, q *wire.CompatibilityRequest) (gidpa2a.Artifact, error) {
	for _, artifact := range slices.Backward(task.Artifacts) {
		answer, err := wire.Decode(artifact.Object)
		if err != nil {
			return artifact, err
		}
		if response, ok := answer.(*wire.CompatibilityResponse); ok && response.RequestRef == q.RequestID && len(response.Results) == 3 && response.Results[1].Result == wire.Compatible {
			return artifact, nil
		}
	}
	return gidpa2a.Artifact{}, fmt.Errorf("question %s has no answer among %d artifacts", q.RequestID, len(task.Artifacts))
}

// room is a number of sessions that stay open: one that can be asked no more is replaced.
type room struct {
	*office
	guests []*guest
	next   int
}

func (o *office) room(ctx context.Context, n int) (*room, error) {
	r := &room{office: o}
	for range n {
		g, err := o.admit(ctx)
		if err != nil {
			return nil, err
		}
		r.guests = append(r.guests, g)
	}
	return r, nil
}

// freshen replaces those of whom fewer than left questions are left.
func (r *room) freshen(ctx context.Context, left int) error {
	for i, g := range r.guests {
		if g.drawn+left <= asksEach {
			continue
		}
		if err := r.leave(ctx, g); err != nil {
			return err
		}
		var err error
		if r.guests[i], err = r.admit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// draw is the guest whose turn it is.
func (r *room) draw() *guest {
	g := r.guests[r.next%len(r.guests)]
	r.next++
	g.drawn++
	return g
}

// bareCommit is the baseline: one row into a table of the same file, with the settings that an acknowledged commit needs.
func bareCommit(ctx context.Context, file string) (commit func() error, done func() error, err error) {
	location := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)&_txlock=immediate"}
	db, err := sql.Open("sqlite", location.String())
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE bare (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO bare (body) VALUES (?)")
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	body := make([]byte, 1024)
	rand.Read(body)
	commit = func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.StmtContext(ctx, insert).ExecContext(ctx, body); err != nil {
			return err
		}
		return tx.Commit()
	}
	return commit, func() error { return errors.Join(insert.Close(), db.Close()) }, nil
}

// measureStep holds one step of a session against a bare commit of one row: of the default responder, which answers from cells, with a claim that is charged, and of
// steps that arrive together.
func measureStep(r *report, p *plan) error {
	r.title("A step of a session: a question of 3 claims received, judged, answered and durable; baseline: a commit of one row of a kibibyte into the same SQLite file")
	ctx := context.Background()
	var rows []string
	var lines []line
	var ours []time.Duration
	for _, kind := range []struct {
		name   string
		sizes  []int
		budget bool
		take   func(*room, context.Context, *plan) (pair, error)
	}{
		{"gidp-step", p.sessions, false, (*room).steps},
		{"gidp-step-charged", p.sessions[1:2], true, (*room).steps},
		{"gidp-step-together", []int{p.together}, false, (*room).together},
	} {
		for _, n := range kind.sizes {
			var took pair
			err := withOffice(ctx, n, kind.budget, func(o *office) error {
				all, err := o.room(ctx, n)
				if err != nil {
					return err
				}
				took, err = kind.take(all, ctx, p)
				return err
			})
			if err != nil {
				return err
			}
			if kind.name == "gidp-step" {
				ours = append(ours, median(took.ours))
			}
			rows = append(rows, fmt.Sprintf("%s|%d|%s|%s|%.3f", kind.name, n, ms(median(took.ours)), ms(median(took.theirs)), took.ratio()))
			lines = append(lines, line{name: fmt.Sprintf("%s/%d", kind.name, n), ratio: took.ratio(), bound: 2})
		}
	}
	r.table("step|open sessions|ms|bare commit ms|ratio", rows...)
	r.growth("a step", p.sessions, ours)
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

// undisturbed is how long one of a block of acts takes while other programs leave the processor alone.
func undisturbed(acts int, act func() (time.Duration, error)) (time.Duration, error) {
	times := make([]time.Duration, acts)
	for i := range times {
		var err error
		if times[i], err = act(); err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return quantile(times, 10), nil
}

// against runs blocks of steps and of bare commits in turn: a commit by another connection makes the next one read its pages anew, which is none of either's work.
func (r *room) against(ctx context.Context, p *plan, steps func() (time.Duration, error)) (took pair, err error) {
	commit, done, err := bareCommit(ctx, r.file)
	if err != nil {
		return took, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return alternate(p.short, steps, func() (time.Duration, error) {
		return undisturbed(20, func() (time.Duration, error) {
			begin := time.Now()
			err := commit()
			return time.Since(begin), err
		})
	})
}

// steps takes one step after the other.
func (r *room) steps(ctx context.Context, p *plan) (pair, error) {
	const block = 20
	return r.against(ctx, p, func() (time.Duration, error) {
		if err := r.freshen(ctx, block/len(r.guests)+1); err != nil {
			return 0, err
		}
		return undisturbed(block, func() (time.Duration, error) { return r.timed(ctx) })
	})
}

// together takes a step in each session at once, and counts the share of one: steps that wait for each other are durable by one commit.
func (r *room) together(ctx context.Context, p *plan) (pair, error) {
	const block = 10
	return r.against(ctx, p, func() (time.Duration, error) {
		if err := r.freshen(ctx, block); err != nil {
			return 0, err
		}
		took, err := undisturbed(block, func() (time.Duration, error) { return r.round(ctx) })
		return took / time.Duration(len(r.guests)), err
	})
}

// round asks a question in each session at once.
func (r *room) round(ctx context.Context) (time.Duration, error) {
	messages, failures := make([]gidpa2a.Message, len(r.guests)), make([]error, len(r.guests))
	for i := range messages {
		g := r.draw()
		var err error
		if messages[i], err = r.message(g, g.question()); err != nil {
			return 0, err
		}
	}
	var answering sync.WaitGroup
	begin := time.Now()
	for i, m := range messages {
		answering.Go(func() { _, failures[i] = r.agent.Receive(ctx, m) })
	}
	answering.Wait()
	return time.Since(begin), errors.Join(failures...)
}

// timed is how long the agent takes from a message to its durable answer. Writing the message and reading the answer is the peer's work.
func (r *room) timed(ctx context.Context) (time.Duration, error) {
	g := r.draw()
	q := g.question()
	m, err := r.message(g, q)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	task, err := r.agent.Receive(ctx, m)
	took := time.Since(begin)
	if err == nil {
		_, err = answered(task, q)
	}
	return took, err
}

// measureOpenLoop holds how long a question waits for its answer when questions come at their own pace, whether or not others are answered. The p99 is the median of
// the rounds', as elsewhere: another program that takes the processor for a moment spoils one round.
func measureOpenLoop(r *report, p *plan) error {
	ctx := context.Background()
	n := slices.Max(p.sessions)
	var rows []string
	var p99 []time.Duration
	err := withOffice(ctx, n, true, func(o *office) error {
		all, err := o.room(ctx, n)
		if err != nil {
			return err
		}
		running, stop := context.WithCancel(ctx)
		var worker sync.WaitGroup
		worker.Go(func() { o.agent.Run(running) })
		defer worker.Wait()
		defer stop()
		for range p.rounds {
			if err := all.freshen(ctx, p.arrivals/n+1); err != nil {
				return err
			}
			seen, durable, err := all.openLoop(ctx, p.arrivals)
			if err != nil {
				return err
			}
			slices.Sort(seen)
			slices.Sort(durable)
			p99 = append(p99, quantile(seen, 99))
			rows = append(rows, fmt.Sprintf("%s|%s|%s|%s|%s", ms(quantile(durable, 50)), ms(quantile(durable, 99)), ms(quantile(seen, 50)), ms(quantile(seen, 99)), ms(seen[len(seen)-1])))
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.title("%d questions of 3 claims arrive at %d open sessions, %d a second whatever is answered; from arrival until the answer may be seen; baseline: one tick of %v and %v",
		p.arrivals, n, openArrival, gidpTick, gidpSlack)
	r.table("durable p50 ms|durable p99 ms|seen p50 ms|seen p99 ms|most ms", rows...)
	r.bound(line{name: fmt.Sprintf("gidp-open-loop/%d", n), ratio: float64(median(p99)) / float64(gidpTick+gidpSlack), bound: 1})
	return nil
}

// openLoop lets questions arrive at a fixed pace, one goroutine each. seen counts from the moment a question was due until its artifact is durable and released, durable
// until it is durable.
func (r *room) openLoop(ctx context.Context, n int) (seen, durable []time.Duration, err error) {
	seen, durable = make([]time.Duration, n), make([]time.Duration, n)
	failures := make([]error, n)
	var answering sync.WaitGroup
	begin := time.Now()
	for i := range n {
		due := begin.Add(time.Duration(i) * time.Second / openArrival)
		time.Sleep(time.Until(due))
		g := r.draw()
		q := g.question()
		answering.Go(func() {
			artifact, err := r.ask(ctx, g, q)
			now := time.Now()
			if failures[i] = err; now.Before(artifact.Release) {
				now = artifact.Release
			}
			durable[i], seen[i] = time.Since(due), now.Sub(due)
		})
	}
	answering.Wait()
	return seen, durable, errors.Join(failures...)
}
