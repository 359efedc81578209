package session

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// The search walks every interleaving of two production sessions with a first-in-first-out link in each direction. What the evaluator and the Principals say is
// left open: each possible answer is a branch.

// node is one state of the whole: both views, what is under way, and what may still be done.
type node struct {
	side  [2]State
	link  [2][]parcel // link[i] leads to side i
	left  [2]budget
	clock int64
	trail *step
	actor int    // who moved last
	event string // what it did: a received type, or "local"
}

// parcel is an object under way with its bytes, which are part of the key of a node.
type parcel struct {
	o    wire.Object
	data string
}

// budget is what a side may still do.
type budget struct{ Asks, Disclosures, Consents, Handoffs, Leaves int8 }

// step is how a node was reached, for the message of a failure.
type step struct {
	what string
	from *step
}

func (s *step) String() string {
	if s == nil {
		return ""
	}
	return s.from.String() + "\n  " + s.what
}

// model is one configuration of the search.
type model struct {
	name    string
	cfg     Config
	budget  budget
	results []wire.Result
	refresh bool
	expiry  bool // one jump of the clock beyond the life of a question
	max     int  // nodes; 0: all
}

// findings are counts of nodes of a kind, and the trail of the first.
type findings struct {
	nodes, steps int
	complete     bool
	mismatch     int // an Opportunity of an honest initiator was refused by an honest responder
	split        int // at rest, one side has qualified and the other probes
	stuck        int // at rest, both views satisfy the entry conditions, and nothing leads on
	broken       []string
	trails       map[string]*step
	rows         map[string]int // rows of the table that were taken
}

var epoch = time.Unix(1_900_000_000, 0)

func searchView(authority gidp.Authority) gidp.View {
	return gidp.View{Active: true, Authority: authority, Profile: &gidp.Profile{ID: "core"}, Attributes: map[string]gidp.Attribute{
		"a": {Held: true, Class: gidp.Class{Surface: gidp.InSession}},
	}}
}

// allowed is the authority where nothing is refused.
func allowed() gidp.Authority {
	return gidp.Authority{gidp.Observe: gidp.Yes, gidp.Search: gidp.Yes, gidp.PublishProjection: gidp.Yes, gidp.Probe: gidp.Yes, gidp.Disclose: gidp.Yes, gidp.Introduce: gidp.Yes}
}

func with(level gidp.Level, p gidp.Permission) gidp.Authority {
	a := allowed()
	a[level] = p
	return a
}

// start is two sides after SessionAccept.
func (m *model) start(t *testing.T) node {
	env := Env{Now: epoch, Config: m.cfg, View: searchView(allowed())}
	a, out, _, err := Step(env, State{}, Open{SessionID: "s", Self: "i", Purpose: "p"})
	if err != nil {
		t.Fatal(err)
	}
	b, out, _, err := Step(env, State{}, Receive{Object: out[0].Object, Self: "j"})
	if err != nil {
		t.Fatal(err)
	}
	a, _, _, err = Step(env, a, Receive{Object: out[0].Object})
	if err != nil {
		t.Fatal(err)
	}
	return node{side: [2]State{a, b}, left: [2]budget{m.budget, m.budget}}
}

// key identifies a node.
func (n *node) key(t *testing.T) [16]byte {
	buf := make([]byte, 0, 4096)
	var err error
	for i := range n.side {
		if buf, err = n.side[i].Append(buf); err != nil {
			t.Fatal(err)
		}
		for _, p := range n.link[i] {
			buf = append(append(buf, '|'), p.data...)
		}
		buf = fmt.Appendf(buf, "%v", n.left[i])
	}
	sum := sha256.Sum256(fmt.Appendf(buf, "@%d", n.clock))
	return [16]byte(sum[:16])
}

// take plays an event of a side and returns the node it leads to; ok is false when the side refuses.
func (m *model) take(t *testing.T, n *node, i int, view gidp.View, ev Event, what string) (node, bool) {
	env := Env{Now: epoch.Add(time.Duration(n.clock) * time.Second), Config: m.cfg, View: view}
	st, out, _, err := Step(env, n.side[i], ev)
	if err != nil {
		return node{}, false
	}
	next := *n
	next.side[i] = st
	next.actor, next.event = i, "local"
	if r, ok := ev.(Receive); ok {
		next.event = string(r.Object.Type())
	}
	to := 1 - i
	next.link[to] = slices.Clone(n.link[to])
	for _, msg := range out {
		if d, ok := msg.Object.(*wire.DisclosureResponse); ok && msg.Release != "" {
			d.Value = jcs.Raw("1")
		}
		data, err := wire.Encode(msg.Object)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		next.link[to] = append(next.link[to], parcel{msg.Object, string(data)})
	}
	next.trail = &step{what, n.trail}
	return next, true
}

// deliver plays the oldest object of a link, once for each thing the receiver may say to it.
func (m *model) deliver(t *testing.T, n *node, i int, visit func(node, *node)) {
	o := n.link[i][0].o
	rest := *n
	rest.link[i] = n.link[i][1:]
	play := func(view gidp.View, ev Receive, what string) {
		what = fmt.Sprintf("%d receives %s %s", i, o.Type(), what)
		next, ok := m.take(t, &rest, i, view, ev, what)
		if !ok { // an operational outcome: the object is gone and nothing has changed
			next = rest
			next.trail = &step{what + ": refused", n.trail}
			next.actor, next.event = i, "refused"
		}
		visit(next, n)
	}
	switch ask := o.(type) {
	case *wire.CompatibilityRequest:
		results := m.results
		if r, ok := n.side[i].Remember(ask.Claims[0]); ok {
			results = []wire.Result{r}
		}
		for _, r := range results {
			play(searchView(allowed()), Receive{Object: o, Answers: []gidp.Answer{{Result: r, Row: "V7"}}}, string(r))
		}
	case *wire.DisclosureRequest:
		for _, p := range []gidp.Permission{gidp.Yes, gidp.No, gidp.Approval} {
			play(searchView(with(gidp.Disclose, p)), Receive{Object: o}, fmt.Sprint(p))
		}
	case *wire.ConsentRequest:
		for _, p := range []gidp.Permission{gidp.Yes, gidp.No, gidp.Approval} {
			play(searchView(with(gidp.Introduce, p)), Receive{Object: o}, fmt.Sprint(p))
		}
	default:
		play(searchView(allowed()), Receive{Object: o}, "")
	}
}

// act plays what a side may do on its own.
func (m *model) act(t *testing.T, n *node, i int, visit func(node, *node)) {
	st := &n.side[i]
	try := func(spend func(*budget) *int8, ev Event, what string) bool {
		if spend != nil && *spend(&n.left[i]) == 0 {
			return false
		}
		next, ok := m.take(t, n, i, searchView(allowed()), ev, fmt.Sprintf("%d %s", i, what))
		if ok {
			if spend != nil {
				*spend(&next.left[i])--
			}
			visit(next, n)
		}
		return ok
	}
	asks := func(b *budget) *int8 { return &b.Asks }
	claim := wire.Claim{Key: fmt.Sprintf("k%d%d", i, n.left[i].Asks), Operator: wire.OpEquals, Value: jcs.Raw(`"v"`)}
	try(asks, AskClaims{Claims: []wire.Claim{claim}}, "asks "+claim.Key)
	for _, p := range st.Props {
		if p.Side == Ours && !p.Withdrawn {
			again := claim
			again.Supersedes = []string{p.ID}
			try(asks, AskClaims{Claims: []wire.Claim{again}}, "supersedes "+p.ID)
		}
	}
	try(func(b *budget) *int8 { return &b.Disclosures }, AskDisclosure{Attribute: "a"}, "asks for a value")
	if st.Phase == Probing {
		try(func(b *budget) *int8 { return &b.Consents }, AskConsent{Action: wire.ActDisclose, Scope: []string{"a"}}, "asks for consent to a value")
	}
	try(func(b *budget) *int8 { return &b.Consents }, AskConsent{Action: wire.ActHandoff, Scope: []string{"urn:t"}}, "asks for a hand-over")
	try(func(b *budget) *int8 { return &b.Handoffs }, HandOff{Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:t"}}, "hands over")
	try(func(b *budget) *int8 { return &b.Leaves }, Leave{}, "leaves")
	if st.Recv.Provisional == wire.Pending {
		try(nil, Decide{Ref: st.Recv.ID, Granted: true}, "approves")
		try(nil, Decide{Ref: st.Recv.ID}, "declines")
	}
	if m.refresh {
		m.tryRefresh(t, n, i, visit)
	}
}

// tryRefresh repeats the first answered claim of a side.
func (m *model) tryRefresh(t *testing.T, n *node, i int, visit func(node, *node)) bool {
	for _, p := range n.side[i].Props {
		if p.Side != Ours || p.Withdrawn || p.Result == "" {
			continue
		}
		c := wire.Claim{Key: p.Key, Operator: wire.OpEquals, Value: jcs.Raw(`"v"`)}
		if next, ok := m.take(t, n, i, searchView(allowed()), Refresh{Claim: c}, fmt.Sprintf("%d refreshes", i)); ok {
			visit(next, n)
			return true
		}
		return false
	}
	return false
}

// run walks the model.
func (m *model) run(t *testing.T) findings {
	f := findings{trails: map[string]*step{}, rows: map[string]int{}, complete: true}
	seen := map[[16]byte]bool{}
	first := m.start(t)
	stack := []node{first}
	seen[first.key(t)] = true
	visit := func(next node, from *node) {
		f.steps++
		m.judge(&f, from, &next)
		k := next.key(t)
		if seen[k] {
			return
		}
		if m.max > 0 && len(seen) >= m.max {
			f.complete = false
			return
		}
		seen[k] = true
		stack = append(stack, next)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		m.atRest(t, &f, &n)
		for i := range 2 {
			if len(n.link[i]) > 0 {
				m.deliver(t, &n, i, visit)
			}
			m.act(t, &n, i, visit)
		}
		if m.expiry && n.clock == 0 {
			m.jump(t, &n, visit)
		}
	}
	f.nodes = len(seen)
	return f
}

// jump moves the clock beyond the life of a question; both sides notice, in either order.
func (m *model) jump(t *testing.T, n *node, visit func(node, *node)) {
	later := *n
	later.clock = int64(20 * time.Minute / time.Second)
	for i := range 2 {
		next, ok := m.take(t, &later, i, searchView(allowed()), Tick{}, fmt.Sprintf("%d ticks", i))
		if !ok {
			t.Fatal("a tick was refused")
		}
		visit(next, n)
	}
}

// judge holds what must be true of every step.
func (m *model) judge(f *findings, from, to *node) {
	wrong := func(format string, args ...any) {
		f.broken = append(f.broken, fmt.Sprintf(format, args...)+to.trail.String())
	}
	if to.event != "local" && to.event != "refused" && m.cfg.literal == 0 {
		a, b := &from.side[to.actor], &to.side[to.actor]
		sent := to.link[1-to.actor]
		row := string(b.Phase) + ":"
		for _, p := range sent[len(from.link[1-to.actor]):] {
			row += " " + string(p.o.Type())
		}
		if at := string(a.Phase) + " " + to.event; !slices.Contains(table[at], row) {
			wrong("side %d: %s leads to %q, which is not in the table", to.actor, at, row)
		} else if f.rows != nil {
			f.rows[at+" -> "+row]++
		}
	}
	for i := range 2 {
		a, b := &from.side[i], &to.side[i]
		if a.Phase == Closed && b.Phase != Closed {
			wrong("side %d came back from CLOSED", i)
		}
		if a.Phase != b.Phase && !slices.Contains(transitions[a.Phase], b.Phase) && m.cfg.literal == 0 {
			wrong("side %d went from %s to %s", i, a.Phase, b.Phase)
		}
		if b.contradicted() && b.Phase != Closed {
			wrong("side %d goes on over a contradiction", i)
		}
		for j, p := range a.Props {
			if q := b.Props[j]; p.Result != "" && q.Result != p.Result {
				wrong("side %d changed the result of %s", i, p.ID)
			}
		}
		if b.Phase == HandedOff && a.Phase != HandedOff {
			if _, ok := b.granted(Theirs, wire.ActHandoff, "urn:t"); !ok {
				wrong("side %d handed over without consent", i)
			}
		}
		sent := to.link[1-i]
		for _, p := range sent[min(len(sent), len(from.link[1-i])):] {
			switch o := p.o.(type) {
			case *wire.Opportunity:
				if m.cfg.literal == 0 && !satisfied(b) {
					wrong("side %d qualified though an entry condition does not hold", i)
				}
				if a.Phase != Probing || !b.Emitted || a.Emitted || a.Role != Initiator {
					wrong("side %d sent an Opportunity", i)
				}
			case *wire.CompatibilityResponse:
				if o.SessionStatus == wire.StatusPotential && a.Phase == Probing && m.cfg.literal == 0 && !satisfied(b) {
					wrong("side %d reports an entry condition that does not hold", i)
				}
			case *wire.SessionClose:
				if o.Reason == wire.ReasonUnspecified && a.Role == Responder && a.Phase == Probing && to.left == from.left {
					f.mismatch++
					f.trails["mismatch"] = to.trail
				}
			}
			if a.Phase == Closed {
				wrong("side %d spoke after it closed", i)
			}
		}
	}
}

// satisfied is E1 to E6 of sec. 5.2, written apart from the step function (I4).
func satisfied(s *State) bool {
	definite := false
	for _, p := range s.Props {
		if p.Withdrawn {
			continue
		}
		if p.Result != wire.Compatible && p.Result != wire.Conditionally {
			return false
		}
		definite = definite || p.Result == wire.Compatible
	}
	return definite && len(s.Requires) == 0 && s.Sent.Kind == SlotEmpty && s.Recv.Kind == SlotEmpty && len(s.AsksOut)+len(s.AsksIn) == 0
}

// table is §17.2 with its readings, written apart from the step function: what a received object may lead to in each phase, as the next phase and the objects
// sent. What is not in it has no effect.
var table = map[string][]string{
	"PROBING CompatibilityRequest":    {"PROBING: CompatibilityResponse", "CLOSED: CompatibilityResponse SessionClose", "QUALIFIED: CompatibilityResponse Opportunity"},
	"QUALIFIED CompatibilityRequest":  {"QUALIFIED: CompatibilityResponse", "CLOSED: CompatibilityResponse SessionClose"},
	"CONSENTED CompatibilityRequest":  {"CONSENTED: CompatibilityResponse", "CLOSED: CompatibilityResponse SessionClose"},
	"PROBING CompatibilityResponse":   {"PROBING:", "CLOSED: SessionClose", "QUALIFIED: Opportunity"},
	"QUALIFIED CompatibilityResponse": {"QUALIFIED:", "CLOSED: SessionClose"},
	"CONSENTED CompatibilityResponse": {"CONSENTED:", "CLOSED: SessionClose"},
	"PROBING DisclosureRequest":       {"PROBING: DisclosureResponse"},
	"QUALIFIED DisclosureRequest":     {"QUALIFIED: DisclosureResponse"},
	"CONSENTED DisclosureRequest":     {"CONSENTED: DisclosureResponse"},
	"PROBING DisclosureResponse":      {"PROBING:", "QUALIFIED: Opportunity"},
	"QUALIFIED DisclosureResponse":    {"QUALIFIED:"},
	"CONSENTED DisclosureResponse":    {"CONSENTED:"},
	"PROBING ConsentRequest":          {"PROBING: ConsentResponse"},
	"QUALIFIED ConsentRequest":        {"QUALIFIED: ConsentResponse", "CONSENTED: ConsentResponse"},
	"CONSENTED ConsentRequest":        {"CONSENTED: ConsentResponse"},
	"PROBING ConsentResponse":         {"PROBING:", "QUALIFIED: Opportunity"},
	"QUALIFIED ConsentResponse":       {"QUALIFIED:", "CONSENTED:"},
	"CONSENTED ConsentResponse":       {"CONSENTED:"},
	"PROBING Opportunity":             {"QUALIFIED:", "CLOSED: SessionClose"},
	"QUALIFIED Handoff":               {"CLOSED: SessionClose"},
	"CONSENTED Handoff":               {"CLOSED: SessionClose"},
	"HANDED_OFF Handoff":              {"CLOSED: SessionClose"},
	"PROBING SessionClose":            {"CLOSED:"},
	"QUALIFIED SessionClose":          {"CLOSED:"},
	"CONSENTED SessionClose":          {"CLOSED:"},
	"HANDED_OFF SessionClose":         {"CLOSED:"},
	"CLOSED SessionClose":             {"CLOSED:"},
}

// transitions are the phases that may follow each phase in one step (§17.2).
var transitions = map[Phase][]Phase{
	Probing:   {Qualified, Closed},
	Qualified: {Consented, HandedOff, Closed},
	Consented: {HandedOff, Closed},
	HandedOff: {Closed},
}

// atRest looks at a node where nothing is under way.
func (m *model) atRest(t *testing.T, f *findings, n *node) {
	if len(n.link[0])+len(n.link[1]) > 0 {
		return
	}
	a, b := &n.side[0], &n.side[1]
	if (a.Phase == Closed) != (b.Phase == Closed) {
		f.broken = append(f.broken, "one side is closed, and the other waits"+n.trail.String())
	}
	if a.Phase.active() && b.Phase.active() && a.Phase.qualified() != b.Phase.qualified() {
		f.split++
		f.trails["split"] = n.trail
	}
	env := Env{Now: epoch.Add(time.Duration(n.clock) * time.Second), Config: m.cfg, View: searchView(allowed())}
	ra, rb := &run{env: env, now: env.Now.Unix(), st: *a}, &run{env: env, now: env.Now.Unix(), st: *b}
	asked := slices.ContainsFunc(a.Props, func(p Proposition) bool { return p.Side == Ours && p.Result != "" && !p.Withdrawn })
	if a.Phase == Probing && b.Phase == Probing && asked && ra.entry() && rb.entry() {
		if !m.refresh || !m.tryRefresh(t, n, 0, func(node, *node) {}) {
			f.stuck++
			f.trails["stuck"] = n.trail
		}
	}
}

// small is the model of one claim and one disclosure on each side.
func small(name string, literal mutant, refresh bool) *model {
	cfg := Defaults("core")
	cfg.literal = literal
	cfg.RefreshWait = 0
	return &model{name: name, cfg: cfg, budget: budget{Asks: 1, Disclosures: 1}, results: []wire.Result{wire.Compatible, wire.Unknown}, refresh: refresh}
}

// What the readings C-01, C-05 and C-06 are for: without each of them two honest sides fail in one way, with all of them in none.
func TestEveryInterleaving(t *testing.T) {
	limit := 0
	if raceEnabled {
		limit = 3_000
	}
	questions := small("unanswered claims ignored", ignoreUnanswered, true)
	questions.budget = budget{Asks: 2}
	blocked := small("unanswered claims block", 0, true)
	blocked.budget = budget{Asks: 2}
	expired := small("expired claims block", 0, true)
	expired.budget, expired.expiry = budget{Asks: 1}, true
	for _, c := range []struct {
		model      *model
		seen, none []string
	}{
		{questions, []string{"mismatch"}, nil},
		{blocked, nil, []string{"mismatch", "split", "stuck"}},
		{expired, nil, []string{"mismatch", "split", "stuck"}},
		{small("literal rows under a pending slot", literalPending, false), []string{"split", "stuck"}, []string{"mismatch"}},
		{small("phase under a pending slot", 0, false), []string{"stuck"}, []string{"mismatch", "split"}},
		{small("as built", 0, true), nil, []string{"mismatch", "split", "stuck"}},
	} {
		c.model.max = limit
		f := c.model.run(t)
		t.Log(c.model.name, f)
		if len(f.broken) > 0 {
			t.Fatalf("%s: %d steps break a rule, the first: %s", c.model.name, len(f.broken), f.broken[0])
		}
		counts := map[string]int{"mismatch": f.mismatch, "split": f.split, "stuck": f.stuck}
		for _, kind := range c.none {
			if counts[kind] > 0 {
				t.Errorf("%s: %s: %s", c.model.name, kind, f.trails[kind])
			}
		}
		for _, kind := range c.seen {
			if counts[kind] == 0 && f.complete {
				t.Errorf("%s: no %s is found, so the search sees nothing", c.model.name, kind)
			}
		}
	}
}

// String is the line of a run.
func (f findings) String() string {
	return fmt.Sprintf("%d nodes %d steps complete=%v mismatch=%d split=%d stuck=%d", f.nodes, f.steps, f.complete, f.mismatch, f.split, f.stuck)
}

// searchNodes bounds the models that are too large to walk to the end with every change. SAYSO_GIDP_SEARCH is the bound of a longer run, 0 for none.
func searchNodes() int {
	if n, err := strconv.Atoi(os.Getenv("SAYSO_GIDP_SEARCH")); err == nil {
		return n
	}
	if raceEnabled {
		return 2_000
	}
	return 10_000
}

// The same with consents, hand-overs, deadlines and interests that leave ACTIVE, as far as the bound reaches.
func TestInterleavingsToTheEnd(t *testing.T) {
	cfg := Defaults("core")
	cfg.RefreshWait = 0
	taken := map[string]bool{}
	for _, m := range []*model{
		{name: "contradictions after qualification", cfg: cfg, budget: budget{Asks: 2}, results: []wire.Result{wire.Compatible, wire.Incompatible}, refresh: true},
		{name: "values after qualification", cfg: cfg, budget: budget{Asks: 1, Disclosures: 1}, results: []wire.Result{wire.Compatible}, refresh: true},
		{name: "questions after consent", cfg: cfg, budget: budget{Asks: 1, Consents: 1}, results: []wire.Result{wire.Compatible, wire.Incompatible}, refresh: true},
		{name: "two claims and a disclosure", cfg: cfg, budget: budget{Asks: 2, Disclosures: 1}, results: []wire.Result{wire.Compatible, wire.Unknown, wire.Incompatible}, refresh: true},
		{name: "to the hand-over", cfg: cfg, budget: budget{Asks: 1, Consents: 1, Handoffs: 1}, results: []wire.Result{wire.Compatible, wire.Conditionally}, refresh: true},
		{name: "deadlines", cfg: cfg, budget: budget{Asks: 2, Leaves: 1}, results: []wire.Result{wire.Compatible, wire.Unknown}, refresh: true, expiry: true},
		{name: "everything, one of each", cfg: cfg, budget: budget{Asks: 1, Disclosures: 1, Consents: 1, Handoffs: 1, Leaves: 1}, results: []wire.Result{wire.Compatible, wire.Incompatible}, refresh: true},
	} {
		m.max = searchNodes()
		f := m.run(t)
		for row := range f.rows {
			taken[row] = true
		}
		t.Log(m.name, f)
		if len(f.broken) > 0 {
			t.Fatalf("%s: %d steps break a rule, the first: %s", m.name, len(f.broken), f.broken[0])
		}
		for kind, n := range map[string]int{"mismatch": f.mismatch, "split": f.split, "stuck": f.stuck} {
			if n > 0 {
				t.Errorf("%s: %s: %s", m.name, kind, f.trails[kind])
			}
		}
	}
	rows := 0
	for at, list := range table {
		for _, row := range list {
			if rows++; !taken[at+" -> "+row] {
				t.Logf("not taken: %s -> %s", at, row)
			}
		}
	}
	t.Logf("%d of %d rows of the table are taken", len(taken), rows)
	if len(taken) < rows*2/3 && !raceEnabled {
		t.Error("the search walks too little of the table")
	}
}
