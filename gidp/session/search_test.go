package session

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// The search walks every interleaving of two production sessions with a first-in-first-out link in each direction, or of one production session and a peer that
// sends whatever it likes. What the evaluator and the Principals say is left open: each possible answer is a branch. So is the time: each side notices on its
// own when a deadline passes, which includes all orders in which two sides with one clock may notice.
//
// # The reduction
//
// A side owns its state, its budget and its clock; it takes from its own link and puts onto the other. So steps of different sides commute: whatever one side
// puts behind the head of a link changes neither that head nor what else the receiver may do. While something waits for a side, whatever that side may do, it
// may do whether or not the other one moves first; and to come to rest it has to move. Therefore a path from a node to a node at rest can be reordered, without
// changing what any side sees, so that its first step is of a side for which something waits, and the search follows only that side. At rest it follows both.
//
// By induction over its length every path to rest is walked in one order. Every path can be extended to rest, since answers end: no answer is answered by a
// request. So no node at rest is lost, and no step of a side either, and every rule looks at one step of one side or at a node at rest.
// [TestReductionLosesNothing] compares both searches.

// node is one state of the whole: both views, what is under way, and what may still be done.
type node struct {
	side  [2]*State
	link  [2][]parcel // link[i] leads to side i
	left  [2]budget
	clock [2]int8 // index into the model's times
	trail *trail
}

type hash = [16]byte

// parcel is an object under way and the digest of its bytes, which is part of the key of a node.
type parcel struct {
	o   wire.Object
	sum hash
}

// budget is what a side may still do.
type budget struct{ Opens, Asks, Disclosures, Consents, Handoffs, Leaves, Copies, Letters, Versions int8 }

// trail is how a node was reached, for the message of a failure.
type trail struct {
	side int
	what []string
	from *trail
}

func (s *trail) String() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s\n  %d %s", s.from, s.side, strings.Join(s.what, " "))
}

// model is one configuration of the search.
type model struct {
	name       string
	cfg        Config
	budget     [2]budget
	results    []wire.Result     // what an evaluator may say
	probe      []gidp.Permission // to a question; nil: yes
	permit     []gidp.Permission // to a disclosure or consent; nil: all three
	held       [2]map[string]gidp.Attribute
	attributes []string // whose values are asked for
	consents   []AskConsent
	ends       []Event // how a side may leave
	refresh    bool
	inactive   bool    // an interest may have left ACTIVE when an object arrives
	times      []int64 // seconds since the start at which a clock may stand, the first 0
	opening    bool    // from before the SessionOpen
	phase      Phase   // where both sides start, after the SessionAccept where it is not said
	hostile    *int    // the side that is no production session
	whole      bool    // without the reduction
	exact      bool    // nodes are told apart by everything in them
	keep       bool    // findings.seen
	step       stepper
}

// stepper is Step, or Step with a mistake.
type stepper func(Env, State, Event) (State, []Message, []Effect, error)

// edge is one step of one side.
type edge struct {
	m        *model
	from, to *node
	side     int
	view     gidp.View
	ev       Event
	event    string // the type of what was received, or the name of what this side did
	out      []Message
	effects  []Effect
	refusal  error
	encoding error // of what was sent
}

func (e *edge) states() (a, b *State) { return e.from.side[e.side], e.to.side[e.side] }

// findings are what a search has seen.
type findings struct {
	nodes, steps int
	counts       map[string]int // mismatch and late (see mistaken); at rest: split, stuck, and spent, which is stuck after all refreshes that a session has (C-06)
	broken       map[string]int // by rule
	trails       map[string]string
	rows         map[string]int  // of the table, that were taken
	seen         map[hash]bool   // steps of a side and nodes at rest; nil: not kept
	shapes       map[string]bool // the same without names
}

func newFindings() *findings {
	return &findings{counts: map[string]int{}, broken: map[string]int{}, trails: map[string]string{}, rows: map[string]int{}}
}

func (f *findings) count(kind string, n *node) {
	f.counts[kind]++
	if f.trails[kind] == "" {
		f.trails[kind] = n.trail.String()
	}
}

func (f *findings) breaks(rule, text string, n *node) {
	f.broken[rule]++
	if f.trails[rule] == "" {
		f.trails[rule] = text + n.trail.String()
	}
}

// add joins the findings of two walkers.
func (f *findings) add(g *findings) {
	f.steps += g.steps
	for _, pair := range [][2]map[string]int{{f.counts, g.counts}, {f.broken, g.broken}, {f.rows, g.rows}} {
		for k, n := range pair[1] {
			pair[0][k] += n
		}
	}
	if g.seen != nil {
		f.seen, f.shapes = g.seen, g.shapes // of one walker
	}
	for k, text := range g.trails {
		if f.trails[k] == "" {
			f.trails[k] = text
		}
	}
}

// String is the line of a run.
func (f *findings) String() string {
	n := f.counts
	return fmt.Sprintf("%d nodes, %d steps, mismatch=%d split=%d stuck=%d late=%d spent=%d", f.nodes, f.steps, n["mismatch"], n["split"], n["stuck"],
		n["late"], n["spent"])
}

var epoch = time.Unix(1_900_000_000, 0)

func (m *model) now(n *node, i int) time.Time {
	if len(m.times) == 0 {
		return epoch
	}
	return epoch.Add(time.Duration(m.times[n.clock[i]]) * time.Second)
}

// proper reports two production sessions over links that bring each object once and in time.
func (m *model) proper() bool {
	return m.hostile == nil && len(m.times) == 0 && m.budget[0].Copies+m.budget[1].Copies == 0
}

// start is two sides before the SessionOpen, or in the phase of the model.
func (m *model) start(t *testing.T) *node {
	n := &node{side: [2]*State{{}, {}}, left: m.budget}
	if m.opening {
		return n
	}
	var play func(i int, ev Event)
	play = func(i int, ev Event) {
		st, out, _, err := Step(Env{Now: epoch, Config: m.cfg, View: m.view(i, allowed())}, *n.side[i], ev)
		if err != nil {
			t.Fatal(err)
		}
		n.side[i] = &st
		for _, msg := range out {
			play(1-i, Receive{Object: msg.Object, Self: "j", Answers: answers(1, wire.Compatible)})
		}
	}
	play(0, Open{SessionID: "s", Self: "i", Purpose: "p"})
	if m.phase != None {
		play(0, AskClaims{Claims: []wire.Claim{{Key: "before", Operator: wire.OpEquals, Value: jcs.Raw(`"v"`)}}})
	}
	if m.phase == Consented {
		play(0, consentHandoff)
		play(1, consentHandoff)
	}
	return n
}

func sum(data []byte) hash {
	s := sha256.Sum256(data)
	return hash(s[:16])
}

// key identifies a node by everything in it.
func (n *node) key() hash {
	buf := make([]byte, 0, 2048)
	for i := range n.side {
		buf = appendState(buf, n.side[i])
		l := n.left[i]
		buf = append(buf, byte(l.Opens), byte(l.Asks), byte(l.Disclosures), byte(l.Consents), byte(l.Handoffs), byte(l.Leaves), byte(l.Copies),
			byte(l.Letters), byte(l.Versions),
			byte(n.clock[i]), byte(len(n.link[i])))
		for _, p := range n.link[i] {
			buf = append(buf, p.sum[:]...)
		}
	}
	return sum(buf)
}

// key is what tells nodes apart in this model.
func (m *model) key(n *node) hash {
	if m.exact {
		return n.key()
	}
	return canonical(n)
}

// take plays an event of a side in the node at, which is the node from without what the event used up, and judges the step. A refused local event is no step,
// and take is false.
func (w *walker) take(from *node, at *node, i int, v gidp.View, ev Event, spend func(*budget), what ...string) bool {
	m := w.m
	env := Env{Now: m.now(at, i), Config: m.cfg, View: v}
	next := *at
	r, received := ev.(Receive)
	st, out, effects, err := m.step(env, *at.side[i], ev)
	e := &edge{m: m, from: from, to: &next, side: i, view: v, ev: ev, out: out, effects: effects, refusal: err}
	if refusal, ok := err.(*Refusal); ok {
		w.f.rows[refusal.Row]++
	}
	switch {
	case err != nil && !received:
		return false
	case err != nil: // an operational outcome: the object is gone and nothing has changed
		what = append(what, "refused:", err.Error())
	}
	if received {
		e.event = string(r.Object.Type())
	} else {
		e.event = strings.TrimPrefix(fmt.Sprintf("%T", ev), "session.")
	}
	next.side[i] = &st
	if spend != nil {
		spend(&next.left[i])
	}
	next.trail = &trail{i, what, from.trail}
	to := 1 - i
	next.link[to] = slices.Clip(next.link[to])
	for _, msg := range out {
		if d, ok := msg.Object.(*wire.DisclosureResponse); ok && msg.Release != "" {
			d.Value = jcs.Raw("1")
		}
		if m.hostile == nil { // a hostile peer may know everything, and what it was sent changes nothing
			next.link[to] = append(next.link[to], parcel{o: msg.Object})
		}
	}
	w.f.steps++
	if m.exact || m.hostile != nil {
		e.encode(next.link[to][len(at.link[to]):])
	}
	if w.s.fresh(m.key(&next)) {
		w.next = append(w.next, &next)
		if !m.exact && m.hostile == nil { // what leads to a node that is known has sent nothing new
			e.encode(nil)
		}
	}
	w.judge(e)
	return true
}

// encode writes what a step sent, and notes the digests of the bytes where they are needed.
func (e *edge) encode(under []parcel) {
	for i, msg := range e.out {
		data, err := wire.Encode(msg.Object)
		if err != nil {
			e.encoding = err
		}
		if i < len(under) {
			under[i].sum = sum(data)
		}
	}
}

// follow plays whatever may happen next.
func (w *walker) follow(n *node) {
	m := w.m
	rest := len(n.link[0])+len(n.link[1]) == 0
	if rest {
		w.atRest(n)
	}
	for i := range 2 {
		if m.hostile != nil && *m.hostile == i {
			continue
		}
		waits := len(n.link[i]) > 0
		if !waits && !rest && !m.whole {
			continue
		}
		if waits {
			w.deliver(n, i)
		}
		w.act(n, i)
		if m.hostile != nil && n.left[1-i].Letters > 0 {
			w.letters(n, i)
		}
		if waits && !m.whole {
			return
		}
	}
}

// deliver plays the oldest object of a link, and, where the link may bring an object twice, leaves it there.
func (w *walker) deliver(n *node, i int) {
	rest := *n
	rest.link[i] = n.link[i][1:]
	w.receive(n, &rest, i, n.link[i][0].o, "")
	if n.left[i].Copies > 0 {
		again := *n
		again.left[i].Copies--
		w.receive(n, &again, i, n.link[i][0].o, "and will again")
	}
}

// receive plays an object once for each thing the receiver may say to it.
func (w *walker) receive(n, rest *node, i int, o wire.Object, how string) {
	m := w.m
	play := func(v gidp.View, ev Receive, what string) {
		ev.Object = o
		w.take(n, rest, i, v, ev, nil, "receives", string(o.Type()), how, what)
	}
	switch o := o.(type) {
	case *wire.SessionOpen:
		play(m.view(i, allowed()), Receive{Self: "j"}, "")
		play(m.view(i, allowed()), Receive{Self: "j", Unroutable: true}, "unroutable")
		play(m.view(i, allowed()), Receive{Self: "j", Unwelcome: true}, "unwelcome")
		play(m.view(i, allowed()), Receive{Self: "j", Version: true}, "of another version")
		play(m.view(i, with(gidp.Probe, gidp.No)), Receive{Self: "j"}, "no")
		return
	case *wire.CompatibilityRequest:
		results := m.results
		if r, ok := n.side[i].Remember(o.Claims[0]); ok {
			results = []wire.Result{r}
		}
		for _, p := range m.asked() {
			if p != gidp.Yes {
				play(m.view(i, with(gidp.Probe, p)), Receive{}, permission(p))
				continue
			}
			for _, r := range results {
				play(m.view(i, allowed()), Receive{Answers: answers(len(o.Claims), r)}, string(r))
			}
		}
	case *wire.DisclosureRequest:
		for _, p := range m.permitted() {
			play(m.view(i, with(gidp.Disclose, p)), Receive{}, permission(p))
		}
	case *wire.ConsentRequest:
		level := gidp.Introduce
		if o.Action == wire.ActDisclose {
			level = gidp.Disclose
		}
		for _, p := range m.permitted() {
			play(m.view(i, with(level, p)), Receive{}, permission(p))
		}
	case *wire.Handoff:
		play(m.view(i, allowed()), Receive{}, "")
		play(m.view(i, with(gidp.Introduce, gidp.No)), Receive{}, "no")
	default:
		play(m.view(i, allowed()), Receive{}, "")
	}
	if m.inactive {
		v := m.view(i, allowed())
		v.Active = false
		play(v, Receive{}, "inactive")
	}
}

func permission(p gidp.Permission) string {
	return map[gidp.Permission]string{gidp.Yes: "yes", gidp.No: "no", gidp.Approval: "approval"}[p]
}

func (m *model) asked() []gidp.Permission {
	if m.probe == nil {
		return []gidp.Permission{gidp.Yes}
	}
	return m.probe
}

func (m *model) permitted() []gidp.Permission {
	if m.permit == nil {
		return []gidp.Permission{gidp.Yes, gidp.No, gidp.Approval}
	}
	return m.permit
}

func answers(n int, r wire.Result) []gidp.Answer {
	return slices.Repeat([]gidp.Answer{{Result: r, Row: "V7"}}, n)
}

// act plays what a side may do on its own.
func (w *walker) act(n *node, i int) {
	m, st, left := w.m, n.side[i], &n.left[i]
	try := func(ev Event, spend func(*budget), what ...string) bool {
		return w.take(n, n, i, m.view(i, allowed()), ev, spend, what...)
	}
	if left.Opens > 0 {
		try(Open{SessionID: "s", Self: "i", Purpose: "p"}, func(b *budget) { b.Opens-- }, "opens")
	}
	if st.Phase == None || st.Phase == Closed {
		return
	}
	if left.Asks > 0 {
		spend := func(b *budget) { b.Asks-- }
		claim := wire.Claim{Key: "k" + string('0'+rune(i)) + string('0'+rune(left.Asks)), Operator: wire.OpEquals, Value: jcs.Raw(`"v"`)}
		try(AskClaims{Claims: []wire.Claim{claim}}, spend, "asks", claim.Key)
		for _, p := range st.Props {
			if p.Side == Ours && !p.Withdrawn {
				again := claim
				again.Supersedes = []string{p.ID}
				try(AskClaims{Claims: []wire.Claim{again}}, spend, "supersedes", p.ID)
			}
		}
	}
	if left.Disclosures > 0 {
		for _, key := range m.attributes {
			try(AskDisclosure{Attribute: key}, func(b *budget) { b.Disclosures-- }, "asks for the value of", key)
		}
	}
	if left.Consents > 0 {
		for _, c := range m.consents {
			if c.Action != wire.ActDisclose || st.Phase == Probing {
				try(c, func(b *budget) { b.Consents-- }, "asks for consent to", string(c.Action))
			}
		}
	}
	if left.Handoffs > 0 {
		try(HandOff{Target: wire.Target{Kind: wire.TargetProtocol, ProtocolRef: "urn:t"}}, func(b *budget) { b.Handoffs-- }, "hands over")
	}
	if left.Leaves > 0 {
		for _, ev := range m.ends {
			try(ev, func(b *budget) { b.Leaves-- }, "leaves")
		}
	}
	if left.Versions > 0 {
		ev := CarryOn{Changed: []string{openKey, gatedKey}}
		for _, p := range st.Props {
			if p.Side == Theirs {
				ev.Changed = append(ev.Changed, p.Key)
			}
		}
		try(ev, func(b *budget) { b.Versions-- }, "goes on under another version")
	}
	switch st.Recv.Provisional {
	case wire.Pending:
		try(Decide{Ref: st.Recv.ID, Granted: true}, nil, "approves")
		try(Decide{Ref: st.Recv.ID}, nil, "declines")
		for _, level := range []gidp.Level{gidp.Disclose, gidp.Introduce} { // what was permitted when it was asked may not be when it is decided
			w.take(n, n, i, m.view(i, with(level, gidp.No)), Decide{Ref: st.Recv.ID, Granted: true}, nil, "approves too late")
		}
	case wire.GrantedIfVerified:
		try(Show{References: []string{"credential"}}, nil, "is shown a credential")
	}
	for _, held := range st.AsksIn {
		try(Decide{Ref: held.ID}, nil, "declines to answer")
		w.take(n, n, i, m.view(i, with(gidp.Probe, gidp.No)), Decide{Ref: held.ID, Granted: true}, nil, "answers too late")
		for _, r := range m.results {
			try(Decide{Ref: held.ID, Granted: true, Answers: answers(len(held.Claims), r)}, nil, "approves the answer", string(r))
		}
	}
	for _, ev := range m.refreshes(st) {
		try(ev, nil, "refreshes", ev.Claim.Key)
	}
	if int(n.clock[i])+1 < len(m.times) {
		later := *n
		later.clock[i]++
		w.take(n, &later, i, m.view(i, allowed()), Tick{}, nil, "ticks")
	}
}

// refreshes are the repetitions of the answered claims of a side.
func (m *model) refreshes(st *State) (list []Refresh) {
	if m.refresh && st.Role == Initiator && st.Phase == Probing {
		for _, p := range st.Props {
			same := func(r Refresh) bool { return r.Claim.Key == p.Key }
			if p.Side == Ours && !p.Withdrawn && p.Result != "" && !slices.ContainsFunc(list, same) {
				list = append(list, Refresh{Claim: wire.Claim{Key: p.Key, Operator: wire.OpEquals, Value: jcs.Raw(`"v"`)}})
			}
		}
	}
	return list
}
