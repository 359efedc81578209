package agent

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jcs"
)

// weighed counts the bytes that its agent has added to audit trails, columns included.
type weighed struct {
	durable.Store
	written atomic.Int64
}

type weighedWriter struct {
	durable.Writer
	n int64
}

func (s *weighed) Update(ctx context.Context, f func(durable.Writer) error) error {
	var w *weighedWriter
	err := s.Store.Update(ctx, func(inner durable.Writer) error { // only what the last run wrote counts
		w = &weighedWriter{Writer: inner}
		return f(w)
	})
	if err == nil {
		s.written.Add(w.n)
	}
	return err
}

func (w *weighedWriter) AddAudit(ctx context.Context, row durable.AuditRow) error {
	w.n += int64(len(row.Lineage) + 8 + 8 + len(row.Kind) + len(row.Body) + len(row.Hash))
	return w.Writer.AddAudit(ctx, row)
}

func (p *party) weigh() *weighed {
	s := &weighed{Store: p.options.Store}
	p.options.Store = s
	p.restart()
	return s
}

// maxGrowth is how many bytes of trail one byte of an object may cost.
const maxGrowth = 4

func names(n, size int, letter string) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%02d%s", i, strings.Repeat(letter, size)))
	}
	return out
}

// Whatever a peer sends, taken or refused, as small or as large as it can be, costs the trail no more than four times its size, and each emission follows from what
// is left in it. The entry that closes a session, which is one, may cost what the session has not.
func TestATrailGrowsWithWhatComesAndNoFaster(t *testing.T) {
	consent := func(action wire.Action, scope ...string) func(*stranger, string) wire.Object {
		return func(s *stranger, id string) wire.Object {
			return &wire.ConsentRequest{Head: s.head(time.Hour), RequestID: id, Action: action, Scope: append([]string{}, scope...)}
		}
	}
	disclosure := func(key, purpose, surface string) func(*stranger, string) wire.Object {
		return func(s *stranger, id string) wire.Object {
			return &wire.DisclosureRequest{Head: s.head(2 * time.Minute), RequestID: id, Attribute: key, Purpose: purpose, RequestedSurface: surface, IntendedUse: wire.UsePreparation}
		}
	}
	ask := func(n int, key string) func(*stranger, string) wire.Object {
		return func(s *stranger, id string) wire.Object {
			o := &wire.CompatibilityRequest{Head: s.head(time.Hour), RequestID: id, AllowedResults: []wire.Result{wire.Declined}}
			for i := range n {
				o.Claims = append(o.Claims, wire.Claim{ID: fmt.Sprintf("%s.%d", id, i), Key: key, Operator: wire.OpEquals, Value: jcs.Raw("1")})
			}
			return o
		}
	}
	level := func(l gidp.Level, p gidp.Permission) func(*interest.Interest) {
		return func(i *interest.Interest) { i.Authority[l] = p }
	}
	// One letter, so that nothing of the request pays for the entries. The classes of many held keys differ.
	held := func(i *interest.Interest) {
		i.Attributes["p"], i.Policy.Entries["p"] = jcs.Raw(`1`), worldClass(t, "session/principal_approval")
		for n, class := range []string{"public", "discovery", "session", "session/consent", "session/principal_approval", "evaluation_only", "never", "local"} {
			key := string(rune('a' + n))
			i.Attributes[key], i.Policy.Entries[key] = jcs.Raw(`1`), worldClass(t, class)
		}
	}
	for name, c := range map[string]struct {
		change func(*interest.Interest)
		times  int
		object func(s *stranger, id string) wire.Object
	}{
		"consent to nothing":                {nil, 60, consent(wire.ActContact)},
		"consent to one key":                {nil, 60, consent(wire.ActDisclose, "x")},
		"consent to many keys":              {nil, 60, consent(wire.ActDisclose, names(64, 0, "")...)},
		"consent to many long keys":         {nil, 10, consent(wire.ActDisclose, names(64, 900, "k")...)},
		"consent to keys that are escaped":  {nil, 10, consent(wire.ActDisclose, names(64, 100, "\x01")...)},
		"consent to held keys":              {held, 60, consent(wire.ActDisclose, "a", "b", "c", "d", "f", "g", "h", "x")},
		"consent before its time":           {nil, 60, consent(wire.ActHandoff, "x")},
		"consent without authority":         {level(gidp.Introduce, gidp.No), 60, consent(wire.ActIdentity, "x")},
		"disclosure of nothing":             {nil, 60, disclosure("x", "p", "local")},
		"disclosure of a long key":          {nil, 10, disclosure(strings.Repeat("x", 4000), strings.Repeat("p", 4000), "local")},
		"disclosure that waits and expires": {held, 30, disclosure("p", "p", "session")},
		"consent that waits and expires":    {held, 30, consent(wire.ActDisclose, "p")},
		"question":                          {nil, 60, ask(1, "k")},
		"questions":                         {nil, 4, ask(32, "k")},
		"questions about a long key":        {nil, 4, ask(8, strings.Repeat("k", 900))},
		"question that waits":               {level(gidp.Probe, gidp.Approval), 60, ask(1, "k")},
		"question that ends the session": {nil, 2, func(s *stranger, id string) wire.Object {
			return &wire.CompatibilityRequest{Head: s.head(time.Hour), RequestID: id, AllowedResults: []wire.Result{wire.Declined, wire.Incompatible},
				Claims: []wire.Claim{{ID: "c" + id, Key: "sector", Operator: wire.OpEquals, Value: jcs.Raw(`"x"`)}}}
		}},
		"close": {nil, 2, func(s *stranger, id string) wire.Object {
			return &wire.SessionClose{Head: s.head(time.Hour), Reason: wire.ReasonExpired}
		}},
		"opportunity": {nil, 2, func(s *stranger, id string) wire.Object {
			return &wire.Opportunity{Head: s.head(time.Hour), OpenConditions: []string{}, ContingentOn: []string{}, IdentityStatus: map[string]wire.IdentityStatus{}}
		}},
		"handoff": {nil, 2, func(s *stranger, id string) wire.Object {
			return &wire.Handoff{Head: s.head(time.Hour), Target: wire.Target{Kind: wire.TargetHuman}, AuthorizedScope: []wire.Scope{}, ContingentOn: []string{}}
		}},
		"answer to nothing": {nil, 60, func(s *stranger, id string) wire.Object {
			return &wire.ConsentResponse{Head: s.head(time.Hour), RequestRef: id, Status: wire.Granted, GrantedScope: names(64, 0, "")}
		}},
		"open": {nil, 2, func(s *stranger, id string) wire.Object { return s.openObject() }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, buyerSeller{seller: c.change})
			trail := w.seller.weigh()
			s := w.stranger("s")
			s.open()
			received := int64(len(s.bytes(s.openObject())))
			if got := trail.written.Load(); got > maxGrowth*received {
				t.Errorf("an open of %d bytes costs %d", received, got)
			}
			for i := range c.times {
				before := trail.written.Load()
				o := c.object(s, fmt.Sprint(i))
				size := int64(len(s.bytes(o)))
				task, err := s.send(o)
				if err != nil && code(err) != gidpa2a.Invalid && code(err) != gidpa2a.Closed || err == nil && task.ID != s.task {
					t.Fatalf("%d: %v", i, err)
				} else if err != nil && trail.written.Load() != before {
					t.Fatalf("what is refused is noted")
				}
				if strings.HasSuffix(name, "expires") {
					w.clock.advance(o.Expires().Sub(w.clock.read()))
					w.seller.work()
				}
				received += size
				if got := trail.written.Load() - before; got > maxGrowth*size && !task.Closed || trail.written.Load() > maxGrowth*received {
					t.Fatalf("%d: %d bytes cost %d, %d all together %d", i, size, got, received, trail.written.Load())
				}
			}
			for _, beside := range []string{`{"request":["PROBE"]}`, `{"n":1}`, `{"credentials":["~"]}`} { // evidence alone
				before := trail.written.Load()
				m := s.message(nil)
				m.Evidence = jcs.Raw(beside)
				if _, err := w.seller.agent.Receive(t.Context(), m); err != nil && code(err) != gidpa2a.Closed || trail.written.Load() != before {
					t.Errorf("%s: %v, %d bytes", beside, err, trail.written.Load()-before)
				}
			}
			t.Logf("%.2f bytes of trail for one", float64(trail.written.Load())/float64(received))
			w.checkTrail()
			list, err := w.seller.agent.Audit(t.Context(), w.seller.interest)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if e.Kind == auditEmission && strings.Contains(string(e.Body), "Response") && e.Derived != "holds" {
					t.Errorf("entry %d does not follow: %s %s", e.Sequence, e.Derived, e.Body)
				}
			}
		})
	}
}

// A responder that answers with nonsense has a few entries; the rest is a number in the entry that closes the session.
func TestViolationsBeyondAFewAreCounted(t *testing.T) {
	for _, sent := range []int{maxStrange - 1, maxStrange, 100} {
		w := newWorld(t)
		id := w.open()
		w.pump(1)
		trail := w.buyer.weigh()
		for n := range sent {
			_, err := w.buyer.agent.inSession(t.Context(), id, func(t *turn) error {
				t.body.Seen = n
				return t.artifact(context.Background(), gidpa2a.Artifact{Number: n + 1, Object: []byte(`{}`)})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := trail.written.Load(); got > maxStrange*256 {
			t.Errorf("%d objects that say nothing cost %d bytes", sent, got)
		}
		if _, err := w.buyer.agent.CloseSession(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		list, err := w.buyer.agent.Audit(t.Context(), w.buyer.interest)
		if err != nil {
			t.Fatal(err)
		}
		entries, further := 0, ""
		for _, e := range list {
			switch e.Kind {
			case auditViolation:
				entries++
			case auditClosed:
				further = string(e.Body)
			}
		}
		more := max(sent-maxStrange, 0)
		if entries != min(sent, maxStrange) || strings.Contains(further, fmt.Sprintf(`"further_violations":%d`, more)) != (more > 0) {
			t.Errorf("%d violations: %d entries, %s", sent, entries, further)
		}
	}
}
