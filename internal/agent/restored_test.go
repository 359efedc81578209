package agent

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/profile"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/store/sqlite"
	"sayso/internal/store/storetest"
	"sayso/internal/vault"
	"sayso/jcs"
)

// swapped is a database whose files somebody exchanges, under running agents too, and one that processes end at.
type swapped struct {
	mu     sync.Mutex
	now    *storetest.Agents // guarded by mu
	before int               // guarded by mu; the update that is not committed
	after  int               // guarded by mu; the update that is committed, and nobody is told
}

func (s *swapped) current() *storetest.Agents {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *swapped) put(other *storetest.Agents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = other.Copy()
}

func (s *swapped) View(ctx context.Context, f func(durable.Reader) error) error {
	return s.current().View(ctx, f)
}

func (s *swapped) Update(ctx context.Context, f func(durable.Writer) error) error {
	s.mu.Lock()
	s.before--
	s.after--
	before, after := s.before == 0, s.after == 0
	s.mu.Unlock()
	err := s.current().Update(ctx, func(w durable.Writer) error {
		if err := f(w); err != nil || !before {
			return err
		}
		return errCrash
	})
	if err == nil && after {
		return errCrash
	}
	return err
}

// ephemeral is a vault whose mark nothing on a disk slows down.
func ephemeral(t testing.TB) *vault.Vault {
	t.Helper()
	v, err := vault.Ephemeral(crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// newRestorable is an office over a database that can be exchanged.
func newRestorable(t testing.TB, v *vault.Vault) (*office, *swapped) {
	s := &swapped{now: storetest.NewAgents()}
	o := newOfficeOf(t, v)
	o.store = s
	o.restart(nil)
	return o, s
}

func newFolder(t testing.TB) (data string, v *vault.Vault) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	v, err := vault.Create(data, nil, crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return data, v
}

// restores counts the entries of the trail about restores.
func (o *office) restores(id string) int {
	o.t.Helper()
	return len(slices.DeleteFunc(o.trail(id), func(kind string) bool { return kind != "ledger_restore" }))
}

// P5, L-7: the file of the database is put back, and nothing more is told until its Principal approves it.
func TestAnOlderDatabaseFreezesTheLedger(t *testing.T) {
	ctx := t.Context()
	data, v := newFolder(t)
	file := filepath.Join(data, "sayso.db")
	o := newOfficeOf(t, v)
	reopen := func() func() {
		s, err := sqlite.Open(ctx, file)
		if err != nil {
			t.Fatal(err)
		}
		o.store = s.Agents()
		o.restart(nil)
		return func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	end := reopen()
	id := o.active("")
	other := o.active("")
	if !o.spend(id) {
		t.Fatal("the first question")
	}
	end()
	backup, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	end = reopen()
	if !o.spend(id) || o.budget(id).Frozen {
		t.Fatal("the second question, which the backup does not know of")
	}
	end()
	if err := os.WriteFile(file, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	end = reopen()
	for _, one := range []string{id, other} {
		if v := o.budget(one); !v.Frozen || v.Left != 0 || v.Spent != 2 {
			t.Errorf("%+v", v)
		}
		if o.spend(one) || o.ask(one, func(int64) bool { return true }) {
			t.Error("a question is answered, or one with one possible answer is")
		}
		_, err := o.Budget(ctx, one, "depth", 5, false)
		wantKind(t, err, app.KindRefused, "frozen")
		if n := o.restores(one); n != 1 {
			t.Errorf("%d restores in the trail", n)
		}
	}
	end()
	end = reopen()
	if v, err := o.Budget(ctx, id, "depth", -1, true); err != nil || v.Frozen || v.Left != 2 {
		t.Errorf("%+v %v", v, err)
	}
	if !o.spend(id) || o.spend(other) {
		t.Error("what is approved is answered, and nothing else")
	}
	end()
	end = reopen()
	defer end()
	if o.budget(id).Frozen || o.restores(id) != 1 {
		t.Error("frozen again")
	}
}

// ask puts one question to the ledger.
func (o *office) ask(id string, test func(int64) bool) (admitted bool) {
	o.t.Helper()
	h, _ := o.holdingOf(id)
	at, _, _ := h.Row("depth")
	if err := o.Store.Update(context.Background(), func(w durable.Writer) error {
		led, err := o.ledger(context.Background(), w, h)
		if err != nil {
			return err
		}
		after := maps.Clone(led)
		after[at], _, admitted = led[at].Reserve(test, func(func(int64) bool) bool { return true })
		return o.saveLedger(context.Background(), w, led, after)
	}); err != nil {
		o.t.Fatal(err)
	}
	return admitted
}

// In a session every claim on an attribute with a budget is declined after a restore, free ones too; cells are answered as ever (L-11).
func TestClaimsAfterARestore(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t)
	v := ephemeral(t)
	s := &swapped{now: storetest.NewAgents()}
	w.seller.options.Store, w.seller.options.Vault = s, v
	w.seller.restart()
	added, err := w.seller.agent.Add(ctx, sellerDocument(t))
	if err != nil {
		t.Fatal(err)
	}
	w.seller.interest = added.ID
	active, err := w.seller.agent.Activate(ctx, added.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	w.ref = active.Projections[0].Ref
	backup := s.current().Copy()
	w.clock.advance(markEvery)
	asks := 0
	answers := func() string {
		t.Helper()
		asks++
		p := w.stranger(fmt.Sprint("s-", asks))
		p.open()
		claim := func(key, value string) wire.Claim {
			return wire.Claim{Key: key, Operator: wire.OpOverlaps, Value: jcs.Raw(value)}
		}
		task, err := p.ask(claim("sites", `{"min":0}`), claim("sites", `{"min":16}`), claim("enterprise_value_eur", `{"max":50000000}`))
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, r := range last(t, task).(*wire.CompatibilityResponse).Results {
			out += string(r.Result) + " "
		}
		return out
	}
	const open, closed = "compatible compatible compatible ", "declined declined compatible "
	if got := answers(); got != open {
		t.Fatal(got)
	}
	// The database is exchanged below a running agent: nothing is answered before that is noticed.
	s.put(backup)
	if got := answers(); got != closed {
		t.Error(got)
	}
	w.seller.restart()
	if got := answers(); got != closed {
		t.Error(got)
	}
	if v, err := w.seller.agent.Budget(ctx, added.ID, "sites", -1, true); err != nil || v.Frozen {
		t.Fatalf("%+v %v", v, err)
	}
	if got := answers(); got != open {
		t.Error(got)
	}
	list, err := w.seller.agent.Audit(ctx, added.ID)
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(e AuditView) bool { return e.Kind != "ledger_restore" })
	if len(list) != 1 || !strings.Contains(string(list[0].Body), `"noticed":true`) {
		t.Errorf("%+v", list)
	}
	if check, err := w.seller.agent.VerifyAudit(ctx); err != nil || !check.OK {
		t.Errorf("%+v %v", check, err)
	}
}

// A running agent that nobody asks anything looks once a minute.
func TestARunningAgentNotices(t *testing.T) {
	v := ephemeral(t)
	o, s := newRestorable(t, v)
	id := o.active("")
	backup := s.current().Copy()
	o.clock.move(markEvery)
	o.spend(id)
	run(t, o.Agent)
	s.put(backup)
	o.clock.move(markEvery)
	eventually(t, func() bool { return o.budget(id).Frozen })
}

// A copy that comes between a transaction and the move that it asked for is noticed by the move, which would else catch up with what the folder has seen.
func TestAMoveNotices(t *testing.T) {
	v := ephemeral(t)
	o, s := newRestorable(t, v)
	id := o.active("")
	backup := s.current().Copy()
	o.clock.move(markEvery)
	o.spend(id)
	s.put(backup)
	o.clock.move(markEvery)
	if err := o.marked.move(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !o.row(s, id).Frozen {
		t.Error("the mark moved on from an older copy")
	}
}

// Wherever a process ends, a database that was not put back does not look like one that was, and one that was put back does.
func TestNoCrashLooksLikeARestore(t *testing.T) {
	for _, c := range []struct{ before, after int }{{1, 0}, {2, 0}, {3, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 4}} {
		v := ephemeral(t)
		o, s := newRestorable(t, v)
		id := o.active("")
		backup := s.current().Copy()
		o.clock.move(markEvery)
		o.restart(nil)
		s.before, s.after = c.before, c.after
		for range 4 {
			if err := o.tell(id); err != nil && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			o.restart(nil)
			if o.budget(id).Frozen {
				t.Fatalf("%+v: frozen after a crash", c)
			}
		}
		if o.budget(id).Spent != 2 {
			t.Errorf("%+v: %+v", c, o.budget(id))
		}
		s.put(backup)
		o.restart(nil)
		for i := range 3 { // the freeze itself is interrupted
			s.before, s.after = []int{1, 0, 0}[i], []int{0, 1, 0}[i]
			if v, err := o.Budget(t.Context(), id, "depth", -1, false); err == nil && !v.Frozen || err != nil && !errors.Is(err, errCrash) {
				t.Errorf("%+v: %+v %v", c, v, err)
			}
			o.restart(nil)
		}
		if !o.budget(id).Frozen || o.restores(id) != 1 {
			t.Errorf("%+v: an older copy is not noticed", c)
		}
	}
}

// tell halves what is left, through the store of the agent, and returns what the store says.
func (o *office) tell(id string) error {
	h, _ := o.holdingOf(id)
	at, _, _ := h.Row("depth")
	return o.Store.Update(context.Background(), func(w durable.Writer) error {
		led, err := o.ledger(context.Background(), w, h)
		if err != nil {
			return err
		}
		row, n := led[at], int64(0)
		for i := range int64(row.Domain.Size()) {
			n += int64(row.Remaining[i/64] >> (i % 64) & 1)
		}
		after := maps.Clone(led)
		after[at], _, _ = row.Reserve(func(v int64) bool { return v < n/2 }, func(func(int64) bool) bool { return true })
		return o.saveLedger(context.Background(), w, led, after)
	})
}

// row is what the database says, asked behind the back of every agent.
func (o *office) row(s *swapped, id string) (row gidp.Row) {
	o.t.Helper()
	h, _ := o.holdingOf(id)
	at, _, _ := h.Row("depth")
	if err := s.View(context.Background(), func(r durable.Reader) error {
		led, err := o.ledger(context.Background(), r, h)
		row = led[at]
		return err
	}); err != nil {
		o.t.Fatal(err)
	}
	return row
}

// Copies are taken and put back, under running processes too; processes end anywhere; the clock moves. What was told a minute after a copy or later is never forgotten with
// it, and what was never put back is never frozen. Two processes share one folder.
func TestRestoresOfEveryKind(t *testing.T) {
	v := ephemeral(t)
	noticed := 0
	for seed := range uint64(30) {
		draw := rand.New(rand.NewPCG(seed, 7))
		o, s := newRestorable(t, v)
		id := o.active("")
		type backup struct {
			store *storetest.Agents
			at    time.Time
		}
		processes := []*Agent{o.Agent, nil}
		start := func(i int) {
			o.restart(nil)
			processes[i] = o.Agent
		}
		start(1)
		var told []time.Time
		var copies []backup
		put, must := false, false // a copy was put back, and has to be noticed
		for step := range 50 {
			o.Agent = processes[draw.IntN(2)]
			switch act := draw.IntN(11); act {
			case 0, 1, 2, 3:
				before, err := o.row(s, id), o.tell(id)
				if err != nil && !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
				after := o.row(s, id)
				charged := !after.Frozen && after.Spent() > before.Spent()
				switch {
				case must && (charged || err == nil && !after.Frozen):
					t.Fatalf("seed %d, step %d: an older copy was read, or told of", seed, step)
				case !put && after.Frozen:
					t.Fatalf("seed %d, step %d: frozen without a restore", seed, step)
				case charged:
					told = append(told, o.clock.now())
				case must && after.Frozen:
					must = false
					noticed++
				}
			case 4:
				copies = append(copies, backup{s.current().Copy(), o.clock.now()})
			case 5:
				if len(copies) == 0 {
					continue
				}
				c := copies[draw.IntN(len(copies))]
				s.put(c.store)
				put = true
				must = slices.ContainsFunc(told, func(at time.Time) bool { return !at.Before(c.at.Add(markEvery)) })
				if draw.IntN(2) == 0 {
					start(0)
					start(1)
				}
			case 6, 7:
				o.clock.move(time.Duration(10+draw.IntN(90)) * time.Second)
			case 8:
				start(0)
			case 9:
				s.before, s.after = draw.IntN(3), draw.IntN(3)
			default:
				if _, err := o.Budget(context.Background(), id, "depth", o.row(s, id).Spent()+4, true); err == nil {
					put, must = false, false
				} else if !errors.Is(err, errCrash) {
					t.Fatal(err)
				}
			}
		}
	}
	if noticed < 10 {
		t.Errorf("only %d restores had to be noticed", noticed)
	}
}

// Replicas with folders of their own freeze nothing for each other's sake, however far one is behind; each of them notices a restore, and approval is asked for once.
func TestReplicasFreezeOnlyAfterARestore(t *testing.T) {
	data, v := newFolder(t)
	o, s := newRestorable(t, v)
	id := o.active("")
	vaults := []*vault.Vault{v}
	for i := range 2 {
		other := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(other, os.DirFS(data)); err != nil {
			t.Fatal(err)
		}
		for _, folder := range []string{"keys", "keys/gidp"} {
			if err := os.Chmod(filepath.Join(other, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := filepath.WalkDir(filepath.Join(other, "keys"), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			return os.Chmod(path, 0o600)
		}); err != nil {
			t.Fatal(err)
		}
		opened, err := vault.Open(other, nil)
		if err != nil {
			t.Fatal(i, err)
		}
		vaults = append(vaults, opened)
	}
	backup := s.current().Copy()
	as := func(i int) *office {
		o.restart(func(options *Options) { options.Vault = vaults[i] })
		return o
	}
	for _, i := range []int{0, 0, 1, 0, 1, 2, 1, 0} {
		as(i)
		o.clock.move(markEvery)
		if err := o.tell(id); err != nil || o.budget(id).Frozen {
			t.Fatalf("replica %d: %v %+v", i, err, o.budget(id))
		}
	}
	for _, behind := range [][]int{{2, 0, 1}, {0, 1, 2}, {1, 2, 0}} {
		for n := range 6 { // of which the others learn nothing
			o.clock.move(markEvery)
			if err := as(behind[0]).tell(id); err != nil {
				t.Fatal(err)
			}
			if _, err := o.Budget(t.Context(), id, "depth", o.row(s, id).Spent()+4, true); err != nil {
				t.Fatal(err)
			}
			if n == 0 && as(behind[1]).budget(id).Frozen {
				t.Fatalf("%v: frozen without a restore", behind)
			}
		}
		s.put(backup)
		if !as(behind[1]).budget(id).Frozen {
			t.Fatalf("%v: not noticed", behind)
		}
		if _, err := o.Budget(t.Context(), id, "depth", o.row(s, id).Spent()+4, true); err != nil {
			t.Fatal(err)
		}
		for _, i := range behind {
			if as(i).budget(id).Frozen {
				t.Errorf("%v: replica %d froze what was approved", behind, i)
			}
		}
		backup = s.current().Copy()
		o.clock.move(markEvery)
		if err := as(behind[1]).tell(id); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a folder that keeps the mark nothing is charged, and the refusal says what to do.
func TestNothingIsChargedWithoutAMark(t *testing.T) {
	data, v := newFolder(t)
	o, _ := newRestorable(t, v)
	id := o.active("")
	o.clock.move(markEvery)
	if err := os.RemoveAll(filepath.Join(data, "keys")); err != nil {
		t.Fatal(err)
	}
	wantKind(t, o.tell(id), app.KindUnavailable, "mark_not_kept")
	if v := o.budget(id); v.Spent != 0 {
		t.Errorf("%+v", v)
	}
	o.restart(nil)
	_, err := o.Interests(t.Context())
	wantKind(t, err, app.KindUnavailable, "mark_not_kept")
}

// The mark moves once a minute, however often something is charged.
func TestTheMarkMovesOnceAMinute(t *testing.T) {
	_, v := newFolder(t)
	o, s := newRestorable(t, v)
	id := o.active("")
	at := func() (n int64) {
		if err := s.View(t.Context(), func(r durable.Reader) (err error) { n, err = r.Mark(t.Context()); return err }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, move := range []time.Duration{0, markEvery - 1, 1, 0, markEvery, -time.Hour} {
		o.clock.move(move)
		if _, err := o.Budget(t.Context(), id, "depth", float64(o.clock.now().Unix()%7), false); err != nil {
			t.Fatal(err)
		}
	}
	o.spend(id)
	if got := at(); got != 4 {
		t.Errorf("the mark is %d after three minutes and a step back of the clock", got)
	}
	if kept, err := v.Mark(); err != nil || kept != at() {
		t.Errorf("%d %v", kept, err)
	}
}

// A restore freezes what cannot be answered at present too.
func TestALedgerFreezesWithoutItsProfile(t *testing.T) {
	ctx := t.Context()
	set, err := profile.Shipped().With(nil, [][]byte{[]byte(`{"id":"test/wells/1","version":1,"extends":"core","keys":{"depth":{"type":"integer","unit":"m","meaning":"fact_held",
		"default_class":"evaluation_only"}},"minimum_claims":[],"structures":[],"purposes":[],"relation":["complementary_counterparty"],"lead_statement":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	v := ephemeral(t)
	o, _ := newRestorable(t, v)
	with := func(options *Options) { options.Profiles = set }
	o.restart(with)
	doc := officeInterest()
	doc.Profile = "test/wells/1"
	doc.Attributes = map[string]jcs.Raw{"depth": jcs.Raw(`9`)}
	doc.Policy.Derivatives = nil
	doc.Policy.Entries = map[string]gidp.Entry{gidp.PrincipalIdentity: doc.Policy.Entries[gidp.PrincipalIdentity]}
	id := o.add(doc)
	o.restart(nil)
	if err := o.FreezeLedger(ctx); err != nil {
		t.Fatal(err)
	}
	o.restart(with)
	if v, err := o.Budget(ctx, id, "depth", -1, false); err != nil || !v.Frozen {
		t.Errorf("%+v %v", v, err)
	}
}
