package agent

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
)

// nowhere is a reference that was never made.
var nowhere = strings.Repeat("f0", 16)

// dead are the ways in which a reference has no life (gidp-a2a.md sec. 2).
var dead = map[string]func(n *node){
	"unknown": func(n *node) { n.refs[0] = nowhere },
	"withdrawn": func(n *node) {
		n.amend(func(row *durable.ProjectionRow) { row.State = durable.Withdrawn })
	},
	"expired": func(n *node) {
		n.amend(func(row *durable.ProjectionRow) { row.ExpiresAt = n.clock.read() })
	},
	"suspended": func(n *node) {
		if _, err := n.agent.Suspend(n.t.Context(), n.doc); err != nil {
			n.t.Fatal(err)
		}
	},
	"revoked": func(n *node) {
		if _, err := n.agent.Revoke(n.t.Context(), n.doc); err != nil {
			n.t.Fatal(err)
		}
	},
}

// amend changes the row of the node's first projection.
func (n *node) amend(change func(*durable.ProjectionRow)) {
	n.t.Helper()
	n.update(func(tx durable.Writer) error {
		row, err := tx.Projection(n.t.Context(), n.refs[0])
		if err != nil {
			return err
		}
		change(&row)
		return tx.PutProjection(n.t.Context(), row)
	})
}

// Whatever the reason for which a reference is dead: an open, its repetition, a question to the task that it named, a look at that and a card get the same bytes at
// the same instants. References, and what is computed from them, are as long.
func TestDeadReferencesAreAlike(t *testing.T) {
	var first, of string
	for _, kind := range []string{"unknown", "withdrawn", "expired", "suspended", "revoked"} {
		n := newNode(t, sellerDocument(t))
		dead[kind](n)
		c := newCaller(t, "peer", n.refs[0])
		names := []string{c.ref, "REF"}
		var b strings.Builder
		opening, body := c.open(n)
		names = append(names, c.task, "TASK")
		if !strings.Contains(string(body), `"unsupported"`) || c.task == "" {
			t.Fatalf("%s: %s", kind, body)
		}
		b.Write(body)
		b.WriteString(n.seen(opening)) // its nonce was used
		c.task = ""
		b.WriteString(n.seen(c.send(t, n.clock.read(), (&stranger{w: &world{t: t, clock: n.clock}, session: c.session}).bytes(c.openObject()), nil)))
		c.task = names[2]
		b.WriteString(n.seen(c.get(t, n.clock.read())))
		data, err := wire.Encode(&wire.SessionClose{Head: wire.Head{SessionID: c.session, ExpiresAt: n.clock.read().Add(time.Hour)}, Reason: wire.ReasonUnspecified})
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(n.seen(c.send(t, n.clock.read(), data, nil)))
		text := strings.NewReplacer(names...).Replace(b.String())
		if first == "" {
			first, of = text, kind
		}
		if text != first {
			t.Errorf("%s and %s are answered differently\n%s\n---\n%s", of, kind, first, text)
		}
	}
}

// How long an open takes tells a dead reference from another dead one no better than chance; it is measured with the clock of the machine, so only on request:
// SAYSO_GIDP_TIMING is the number of opens of each kind.
func TestDeadReferencesTakeAsLong(t *testing.T) {
	samples := 0
	if _, err := fmt.Sscan(os.Getenv("SAYSO_GIDP_TIMING"), &samples); err != nil {
		samples = 20 // so that the test itself is run
	}
	took := map[string][]time.Duration{}
	nodes := map[string]*node{}
	for kind, kill := range dead {
		nodes[kind] = newNode(t, sellerDocument(t))
		kill(nodes[kind])
	}
	for i := range samples {
		for kind, n := range nodes {
			c := newCaller(t, fmt.Sprintf("%s-%d", kind, i), n.refs[0])
			data := (&stranger{w: &world{t: t, clock: n.clock}, session: c.session}).bytes(c.openObject())
			r := c.send(t, n.clock.read(), data, nil)
			begin := time.Now()
			n.do(r)
			took[kind] = append(took[kind], time.Since(begin))
		}
	}
	for kind, list := range took {
		slices.Sort(list)
		t.Logf("%-10s median %v, 90%% %v", kind, list[len(list)/2], list[len(list)*9/10])
	}
	if median := func(kind string) time.Duration { return took[kind][samples/2] }; samples >= 1000 {
		for kind := range took {
			if d := median(kind) - median("unknown"); d > 200*time.Microsecond || d < -200*time.Microsecond {
				t.Errorf("%s takes %v longer than unknown", kind, d)
			}
		}
	}
}
