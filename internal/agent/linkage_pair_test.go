package agent

import (
	"slices"
	"strings"
	"testing"

	"sayso/internal/agent/durable"
)

// Two references of one interest have nothing in common that a peer could hold against each other, though it opens both sessions under one session_id, purpose and key
// (threat model, section 7).
func TestTwoReferencesOfOneInterestHaveNothingInCommon(t *testing.T) {
	n := newNode(t, sellerDocument(t))
	n.update(func(tx durable.Writer) error {
		h, _, err := n.agent.holding(t.Context(), tx, n.doc)
		if err != nil {
			return err
		}
		row, err := n.agent.prepare(t.Context(), tx, h, "", true, n.clock.read())
		n.refs = append(n.refs, row.Ref)
		return err
	})
	n.update(func(tx durable.Writer) error {
		row, err := tx.Projection(t.Context(), n.refs[1])
		if err != nil {
			return err
		}
		row.State = durable.Published
		return tx.PutProjection(t.Context(), row)
	})
	same := map[string]bool{"s-peer": true, "session:s-peer": true}
	tokens := func(ref string) map[string]bool {
		c := newCaller(t, "peer", ref)
		c.nonces = len(ref) + slices.Index(n.refs, ref)*100
		_, body := c.open(n)
		out := map[string]bool{}
		for _, token := range strings.FieldsFunc(string(withoutDigests(body)), func(r rune) bool { return strings.ContainsRune(`"{}[],:= `, r) }) {
			if len(token) >= 20 && strings.Trim(token, "0") != "" && (strings.Trim(token, "0123456789abcdef") == "" || len(token) == 43) {
				out[token] = true
			}
		}
		if len(out) < 5 {
			t.Fatalf("%d tokens in %s", len(out), body)
		}
		return out
	}
	a, b := tokens(n.refs[0]), tokens(n.refs[1])
	for token := range a {
		if b[token] && !same[token] {
			t.Errorf("both sessions show %s", token)
		}
	}
}
