package agent

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// pair is what two nodes differ in.
type pair struct {
	name string
	// draw makes the two changes to the document; both get the same of everything else.
	draw func(t *rapid.T) (a, b func(*interest.Interest))
	// identity keeps the Principal from granting what is compared, and takes the digests of the names out.
	identity bool
}

func floor(v int) string { return fmt.Sprintf(`{"min":%d}`, v) }

// shaped draws two values of one form, each with its edges in the same cells.
func shaped(t *rapid.T, lo, hi int) (a, b string) {
	x, y := rapid.IntRange(lo, hi).Draw(t, "x"), rapid.IntRange(lo, hi).Draw(t, "y")
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		return floor(x), floor(y)
	case 1:
		return fmt.Sprint(x), fmt.Sprint(y)
	case 2:
		return fmt.Sprintf(`{"max":%d}`, x), fmt.Sprintf(`{"max":%d}`, y)
	}
	return fmt.Sprintf(`{"max":%d,"min":%d}`, max(x, lo+1), lo+1), fmt.Sprintf(`{"max":%d,"min":%d}`, hi-1, min(y, hi-1))
}

// The cells of enterprise_value_eur between its edges, both ends included.
var cellsOfValue = [][2]int{{0, 4_999_999}, {5_000_000, 7_999_999}, {8_000_000, 14_999_999}, {15_000_000, 19_999_999}, {20_000_000, 29_999_999}, {30_000_000, 49_999_999},
	{50_000_000, 79_999_999}, {80_000_000, 1_000_000_000_000}}

func sets(key, value string) func(*interest.Interest) {
	return func(i *interest.Interest) { i.Attributes[key] = jcs.Raw(value) }
}

var pairs = []pair{
	{name: "value in a cell", draw: func(t *rapid.T) (a, b func(*interest.Interest)) {
		cell := pick(t, cellsOfValue...)
		x, y := shaped(t, cell[0], cell[1])
		return sets("enterprise_value_eur", x), sets("enterprise_value_eur", y)
	}},
	{name: "label below the cut", draw: func(t *rapid.T) (a, b func(*interest.Interest)) {
		of := func(label string) func(*interest.Interest) {
			return func(i *interest.Interest) {
				i.Attributes["geography"] = jcs.Raw(`"` + label + `"`)
				delete(i.Policy.Entries, "geography") // evaluation_only
			}
		}
		return of(pick(t, "munich", "germany", "france")), of(pick(t, "munich", "germany", "france"))
	}},
	{name: "a key of class never", draw: func(t *rapid.T) (a, b func(*interest.Interest)) {
		key := pick(t, "secret", "arr_eur", "organisation_name", "market_access")
		value := map[string][2]string{"secret": {`"x"`, `7`}, "arr_eur": {`3000001`, `99`}, "organisation_name": {`"Somebody GmbH"`, `"Else"`}, "market_access": {`["france"]`, `["germany"]`}}[key]
		held := func(v string) func(*interest.Interest) {
			return func(i *interest.Interest) {
				i.Attributes[key], i.Policy.Entries[key] = jcs.Raw(v), gidp.Entry{"": gidp.Never}
			}
		}
		absent := func(i *interest.Interest) {
			delete(i.Attributes, key)
			delete(i.Policy.Entries, key)
			i.Policy.Decoys = append(i.Policy.Decoys, key)
		}
		if rapid.Bool().Draw(t, "absent") {
			return held(value[0]), absent
		}
		return held(value[0]), held(value[1])
	}},
	{name: "a dependency of class never", draw: func(t *rapid.T) (a, b func(*interest.Interest)) {
		never := func(i *interest.Interest) { i.Policy.Entries[gidp.ConditionalOn] = gidp.Entry{"": gidp.Never} }
		with := func(names ...string) func(*interest.Interest) {
			return func(i *interest.Interest) { never(i); i.ConditionalOn = names }
		}
		if rapid.Bool().Draw(t, "absent") {
			return with("operator"), func(i *interest.Interest) { i.Policy.Decoys = append(i.Policy.Decoys, gidp.ConditionalOn) }
		}
		return with("operator"), with("bank", "landlord")
	}},
	{name: "identity before its grant", identity: true, draw: func(t *rapid.T) (a, b func(*interest.Interest)) {
		name := rapid.StringMatching(`[A-Z][a-z]{1,40}`)
		key := pick(t, gidp.PrincipalIdentity, "organisation_name", "registration_id")
		of := func(v string) func(*interest.Interest) {
			return func(i *interest.Interest) {
				i.Attributes[key] = jcs.Raw(`"` + v + `"`)
				i.Policy.Entries[key] = i.Policy.Entries[gidp.PrincipalIdentity]
			}
		}
		return of(name.Draw(t, "a")), of(name.Draw(t, "b"))
	}},
}

// trace is what a peer and a Principal do to both nodes, in lockstep and byte for byte the same.
type trace struct {
	t        *rapid.T
	a, b     *node
	c        *caller
	h        *hostile
	identity bool
	between  func()                           // before each step: what else happens
	asks     bool                             // questions and looks are all there is, and no floor contradicts them
	curious  bool                             // whatever is sent is a question
	differs  func(format string, args ...any) // nil: a difference fails
}

func (tr *trace) different(format string, args ...any) {
	if tr.differs != nil {
		tr.differs(format, args...)
		return
	}
	tr.t.Fatalf(format, args...)
}

func (tr *trace) both(what string, r request) string {
	x, y := tr.a.seen(r), tr.b.seen(r)
	if x != y {
		tr.different("%s is answered differently\n%s\n---\n%s", what, x, y)
	}
	return x
}

// run opens a session and goes on for some steps; it reports a difference as a failure of t.
func (tr *trace) run(t testing.TB, steps int) {
	s := &stranger{w: &world{t: t, clock: tr.a.clock}, session: tr.c.session}
	tr.h = &hostile{t: tr.t, s: s}
	opening := tr.c.send(t, tr.a.clock.read(), s.bytes(tr.c.openObject()), nil)
	_, _, body := tr.a.do(opening)
	tr.c.task = taskIn(body)
	_, _, other := tr.b.do(opening)
	if edit := tr.a.edit; edit != nil {
		body, other = edit(body), edit(other)
	}
	if !bytes.Equal(body, other) || tr.c.task == "" {
		tr.different("the open is answered differently\n%s\n---\n%s", body, other)
	}
	for range steps {
		if tr.between != nil {
			tr.between()
		}
		tr.step(t)
		if x, y := tr.a.clock.read(), tr.b.clock.read(); !x.Equal(y) {
			tr.different("one is at %v, the other at %v", x, y)
		}
	}
	tr.advance(300 * time.Millisecond)
	tr.both("the last look", tr.c.get(t, tr.a.clock.read()))
	if x, y := tr.a.logged.String(), tr.b.logged.String(); x != y {
		tr.different("the logs differ\n%s\n---\n%s", x, y)
	}
}

func (tr *trace) advance(d time.Duration) {
	for _, n := range []*node{tr.a, tr.b} {
		n.clock.advance(d)
	}
}

var traceDurations = []time.Duration{0, time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 300 * time.Millisecond, 20 * time.Second, 2 * time.Minute}

func (tr *trace) step(t testing.TB) {
	now := tr.a.clock.read()
	switch act := rapid.IntRange(0, 13).Draw(tr.t, "act"); {
	case act < 3:
		tr.advance(pick(tr.t, traceDurations...))
	case act < 4:
		tr.both("a look", tr.c.get(t, now))
	case act < 5: // what is due by the clock
		tr.a.work()
		tr.b.work()
	case act < 9, tr.curious && !tr.asks:
		tr.both("a question", tr.c.send(t, now, tr.question(t), nil))
	case tr.asks:
		tr.both("a look", tr.c.get(t, now))
	case act < 10:
		tr.decide()
	case act < 11:
		tr.both("evidence", tr.c.send(t, now, nil, []byte(pick(tr.t, `{"request":["PROBE","DISCLOSE","COMMIT","x"]}`, `{"credentials":["a~"]}`, `{}`, `{"request":["INTRODUCE"]}`))))
	default:
		o := tr.h.object()
		data, err := wire.Encode(o)
		if err != nil {
			return
		}
		if rapid.IntRange(0, 29).Draw(tr.t, "spoil") == 0 {
			data = data[:len(data)-1]
		}
		r := tr.c.send(t, now, data, nil)
		tr.both(string(data), r)
		if rapid.IntRange(0, 4).Draw(tr.t, "again") == 0 {
			tr.both("a repetition", r)
		}
	}
}

// question asks about the edges of cells, about labels, and about what is not held.
func (tr *trace) question(t testing.TB) []byte {
	tr.c.asked++
	id := fmt.Sprintf("e-%d", tr.c.asked)
	cell := pick(tr.t, cellsOfValue...)
	edge := pick(tr.t, cell[0], cell[1], cell[0]+1, cell[1]-1, rapid.IntRange(cell[0], cell[1]).Draw(tr.t, "at"))
	claim := wire.Claim{ID: id, Key: pick(tr.t, "enterprise_value_eur", "enterprise_value_eur", "enterprise_value_eur", "geography", "sites", "arr_eur", "secret", gidp.ConditionalOn, "organisation_name"), Operator: wire.OpOverlaps}
	switch {
	case tr.asks: // none that a floor contradicts: the session of whoever answers early would end
		claim.Key, claim.Value = pick(tr.t, "enterprise_value_eur", "arr_eur", "secret", "organisation_name"), jcs.Raw(fmt.Sprintf(`{"min":%d}`, edge))
	case claim.Key == "geography":
		claim.Operator, claim.Value = pick(tr.t, wire.OpEquals, wire.OpIntersects), jcs.Raw(pick(tr.t, `"europe"`, `"munich"`, `"germany"`, `"asia"`))
		if claim.Operator == wire.OpIntersects {
			claim.Value = jcs.Raw("[" + string(claim.Value) + "]")
		}
	case claim.Key == "sites":
		claim.Value = jcs.Raw(fmt.Sprintf(`{"min":%d}`, rapid.IntRange(0, 31).Draw(tr.t, "sites")))
	default:
		claim.Value = jcs.Raw(pick(tr.t, fmt.Sprintf(`{"max":%d}`, edge), fmt.Sprintf(`{"min":%d}`, edge), fmt.Sprintf(`{"max":%d,"min":%d}`, edge, edge), fmt.Sprint(edge)))
		if claim.Value[0] != '{' {
			claim.Operator = wire.OpEquals
		}
	}
	data, err := wire.Encode(&wire.CompatibilityRequest{Head: wire.Head{SessionID: tr.c.session, ExpiresAt: tr.a.clock.read().Add(10 * time.Minute).Truncate(time.Second)}, RequestID: id,
		Claims: []wire.Claim{claim}, AllowedResults: wire.AllResults()})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// decide is the same decision at both nodes. It grants no identity where that is what they differ in.
func (tr *trace) decide() {
	a, b := tr.a.entries(), tr.b.entries()
	if strings.Join(a, " ") != strings.Join(b, " ") {
		tr.different("other decisions wait: %v, %v", a, b)
	}
	if len(a) == 0 {
		return
	}
	ctx := context.Background()
	id, grant := pick(tr.t, a...), rapid.Bool().Draw(tr.t, "grant")
	for _, n := range []*node{tr.a, tr.b} {
		v, err := n.agent.Entry(ctx, id)
		if err != nil {
			tr.t.Fatal(err)
		}
		if _, err := n.agent.Decide(ctx, id, Decision{Grant: grant && !(tr.identity && v.Action == string(wire.ActIdentity))}); err != nil && refusedWith(err) == "" {
			tr.t.Fatal(err)
		}
	}
}

// amended is the seller's document after two changes.
func amended(t testing.TB, changes ...func(*interest.Interest)) *interest.Interest {
	doc := sellerDocument(t)
	for _, c := range changes {
		if c != nil {
			c(doc)
		}
	}
	return doc
}

// authorities draws what both nodes may do.
func authorities(t *rapid.T) func(*interest.Interest) {
	levels := map[gidp.Level]gidp.Permission{}
	for l := gidp.Probe; l <= gidp.Introduce; l++ {
		levels[l] = pick(t, gidp.Yes, gidp.Yes, gidp.Approval, gidp.Yes, gidp.No)
	}
	if levels[gidp.Probe] == gidp.No {
		levels[gidp.Probe] = gidp.Yes
	}
	return func(i *interest.Interest) {
		for l, p := range levels {
			i.Authority[l] = p
		}
	}
}

// For each kind: whatever a peer does, both nodes answer with the same bytes at the same instants, and log the same lines.
func TestPairs(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			traces(t, 50, func(rt *rapid.T) {
				x, y := p.draw(rt)
				authority := authorities(rt)
				tr := &trace{t: rt, a: newNode(t, amended(t, authority, x)), b: newNode(t, amended(t, authority, y)), identity: p.identity, curious: rapid.Bool().Draw(rt, "curious")}
				if p.identity {
					tr.a.edit, tr.b.edit = withoutDigests, withoutDigests
				}
				tr.c = newCaller(t, "peer", tr.a.refs[0])
				tr.run(t, rapid.IntRange(1, 14).Draw(rt, "steps"))
			})
		})
	}
}

// found runs a drawn trace and reports whether the nodes differ in it.
func (tr *trace) found(t testing.TB, steps int) (yes bool) {
	type difference struct{}
	tr.differs = func(string, ...any) { panic(difference{}) }
	defer func() {
		if r := recover(); r != nil {
			if _, yes = r.(difference); !yes {
				panic(r)
			}
		}
	}()
	tr.run(t, steps)
	return false
}

// traces runs f on n drawn traces; SAYSO_GIDP_PAIRS times as many where it is set.
func traces(t *testing.T, n int, f func(*rapid.T)) {
	t.Helper()
	if raced {
		n = max(n/8, 4)
	}
	for range rounds(t) {
		ran := 0
		rapid.Check(t, func(rt *rapid.T) {
			if ran++; ran <= n || rounds(t) > 1 {
				f(rt)
			}
		})
	}
}

// The same traces tell a value in another cell, a label of another branch, one more key and a dependency: what finds no difference above is not blind.
func TestPairsSeeWhatMayBeSeen(t *testing.T) {
	type control struct {
		name   string
		change func(*interest.Interest)
	}
	kinds := []control{
		{"another cell", sets("enterprise_value_eur", floor(90_000_000))},
		{"another label", sets("geography", `"japan"`)},
		{"one more key", sets("arr_eur", "3000000")},
		{"a dependency", func(i *interest.Interest) { i.ConditionalOn = []string{"operator"} }},
	}
	found, n := map[string]int{}, 0
	traces(t, 100, func(rt *rapid.T) {
		kind := slices.MinFunc(kinds, func(a, b control) int { return found[a.name] - found[b.name] }) // whatever was seen least
		n++
		closed := func(i *interest.Interest) { delete(i.Policy.Entries, "geography") }
		tr := &trace{t: rt, a: newNode(t, amended(t, closed)), b: newNode(t, amended(t, closed, kind.change)), curious: true}
		tr.c = newCaller(t, "peer", tr.a.refs[0])
		if tr.found(t, rapid.IntRange(10, 20).Draw(rt, "steps")) {
			found[kind.name]++
		}
	})
	for _, kind := range kinds {
		if found[kind.name] == 0 && !raced { // too few traces then
			t.Errorf("%s: no difference in %d traces", kind.name, n)
		}
	}
}

// A question that waits for a person is what a slow answer is, until its deadline (gidp-lab.md sec. 6.3 e, B-10): the bytes, the events and the instants are the same. Where PROBE is
// approval_required the mandate does not list it, which is said at the open and is the one difference.
func TestHeldIsSlow(t *testing.T) {
	probe := func(p gidp.Permission) func(*interest.Interest) {
		return func(i *interest.Interest) { i.Authority[gidp.Probe] = p }
	}
	traces(t, 40, func(rt *rapid.T) {
		tr := &trace{t: rt, a: newNode(t, amended(t, probe(gidp.Approval))), b: newNode(t, amended(t, probe(gidp.Yes))), asks: true}
		tr.a.edit, tr.b.edit = withoutAuthority, withoutAuthority
		tr.c = newCaller(t, "peer", tr.a.refs[0])
		tr.between = func() { tr.b.agent.Tick = time.Hour } // after the open: longer than the questions wait
		tr.run(t, rapid.IntRange(1, 14).Draw(rt, "steps"))
	})
}

// withoutAuthority takes the levels of the mandate out, and the size of the padding that makes up for them.
func withoutAuthority(body []byte) []byte {
	out := string(withoutDigests(body))
	out = strings.ReplaceAll(out, `,"PROBE"`, "")
	for {
		begin := strings.Index(out, `/pad":"0`)
		if begin < 0 {
			return []byte(out)
		}
		end := begin + len(`/pad":"`)
		for end < len(out) && out[end] == '0' {
			end++
		}
		out = out[:begin] + `/padded"` + out[end+1:]
	}
}

// What other counterparties do changes nothing for one that asks about cells (I19).
func TestOthersSessions(t *testing.T) {
	run := func(rt *rapid.T, change func(*interest.Interest)) *trace {
		tr := &trace{t: rt, a: newNode(t, amended(t, change)), b: newNode(t, amended(t, change))}
		tr.c = newCaller(t, "peer", tr.a.refs[0])
		own := seeded("the session that is compared")
		others := 0
		tr.between = func() {
			tr.a.random.Reader = seeded(fmt.Sprintf("others %d", others)) // what others are told comes from the same randomness
			if rapid.IntRange(0, 2).Draw(rt, "others") == 0 {
				others++
				c := newCaller(t, fmt.Sprintf("other-%d", others), tr.a.refs[0])
				now := tr.a.clock.read()
				c.open(tr.a)
				c.ask(tr.a, wire.Claim{Key: "sites", Operator: wire.OpOverlaps, Value: jcs.Raw(fmt.Sprintf(`{"min":%d}`, rapid.IntRange(0, 31).Draw(rt, "n")))})
				c.ask(tr.a, wire.Claim{Key: "enterprise_value_eur", Operator: wire.OpOverlaps, Value: jcs.Raw(`{"max":20000000}`)})
				tr.a.clock.advance(now.Sub(tr.a.clock.read())) // both nodes go on at the same instant
			}
			tr.a.random.Reader = own
		}
		tr.a.random.Reader, tr.b.random.Reader = own, seeded("the session that is compared")
		return tr
	}
	none := func(i *interest.Interest) { delete(i.Attributes, "sites"); i.Budgets = nil }
	traces(t, 30, func(rt *rapid.T) { run(rt, none).run(t, rapid.IntRange(1, 12).Draw(rt, "steps")) })
}

// A budget is one for everybody, so what others have asked shows in it, by design; it shows in nothing else that the same peer asks about.
func TestOthersShowInASharedBudget(t *testing.T) {
	answers := map[string][]wire.Result{}
	for _, others := range []bool{false, true} {
		n := newNode(t, sellerDocument(t))
		if others {
			c := newCaller(t, "other", n.refs[0])
			c.open(n)
			for _, at := range []int{16, 24, 20, 18} { // 17 is held: each answer leaves half of what was possible
				c.ask(n, wire.Claim{Key: "sites", Operator: wire.OpOverlaps, Value: jcs.Raw(fmt.Sprintf(`{"max":%d}`, at))})
			}
		}
		c := newCaller(t, "peer", n.refs[0])
		c.open(n)
		for _, key := range []string{"enterprise_value_eur", "secret", "nothing", "sites"} {
			result, ok := c.ask(n, wire.Claim{Key: key, Operator: wire.OpOverlaps, Value: jcs.Raw(`{"min":18}`)})
			if !ok {
				t.Fatalf("%s has no answer", key)
			}
			answers[key] = append(answers[key], result)
		}
	}
	for key, list := range answers {
		if differ := list[0] != list[1]; differ != (key == "sites") {
			t.Errorf("%s: %v", key, list)
		}
	}
}
