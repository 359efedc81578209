package agent

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jcs"
	"sayso/jwk"
)

// What a hostile peer can try with requests of its own making, at a whole node.

// denied, invalid and missing are how the three refusals begin in JSON-RPC.
const (
	denied  = `"code":-31401`
	invalid = `"code":-32602`
	missing = `"code":-32001`
)

func answers(n *node, r request) string {
	_, _, body := n.do(r)
	return string(body)
}

// No signature counts for anything but the very request it was made for.
func TestSignaturesAreNotMoved(t *testing.T) {
	n := newNode(t, sellerDocument(t))
	a, b := newCaller(t, "a", n.refs[0]), newCaller(t, "b", n.refs[0])
	opening, body := a.open(n)
	b.open(n)
	if a.task == "" || b.task == "" || a.task == b.task {
		t.Fatalf("%s", body)
	}
	fresh := newCaller(t, "c", n.refs[0])
	openOf := func(c *caller) request {
		data, err := wire.Encode(fresh.openObject())
		if err != nil {
			t.Fatal(err)
		}
		return c.send(t, n.clock.read(), data, nil)
	}
	header := func(r request, name, value string) request {
		r.header = r.header.Clone()
		r.header[name] = []string{value}
		return r
	}
	look := a.get(t, n.clock.read())
	for name, c := range map[string]struct {
		r    request
		want string
	}{
		"the same open again": {opening, denied},
		"another reference": {func() request {
			r := openOf(fresh)
			r.path = "/a2a/" + nowhere + "/rpc"
			return r
		}(), denied},
		"another task": {func() request {
			r := look
			r.body = bytes.ReplaceAll(r.body, []byte(a.task), []byte(b.task))
			return r
		}(), denied},
		"the key of another session": {func() request {
			c := *b
			c.task = a.task
			return c.get(t, n.clock.read())
		}(), missing},
		"a key that signs for another one": {func() request {
			r := openOf(fresh)
			r.body = bytes.Replace(r.body, jwk.EncodePublic(fresh.key.Public().Public), jwk.EncodePublic(a.key.Public().Public), 1)
			return r
		}(), denied},
		"the id of another key": {func() request {
			r := look
			return header(r, "Signature-Input", strings.Replace(r.header["Signature-Input"][0], a.key.Kid(), b.key.Kid(), 1))
		}(), denied},
		"another label":           {header(look, "Signature", strings.Replace(look.header["Signature"][0], "sig=", "other=", 1)), denied},
		"a second signature":      {header(look, "Signature", look.header["Signature"][0]+", "+look.header["Signature"][0]), denied},
		"an extension less":       {header(look, "A2a-Extensions", "https://example.com/other"), missing},
		"an extension more":       {header(look, "A2a-Extensions", gidpa2a.ExtensionURI+", https://example.com/other"), denied},
		"another digest":          {header(look, "Content-Digest", strings.Replace(look.header["Content-Digest"][0], "sha-256", "sha-512", 1)), denied},
		"an encoded path":         {func() request { r := look; r.path = strings.Replace(r.path, "/rpc", "/%72pc", 1); return r }(), "not_found"},
		"a path with a dot":       {func() request { r := look; r.path = strings.Replace(r.path, "/rpc", "/./rpc", 1); return r }(), "not_found"},
		"a signature of the past": {a.get(t, n.clock.read().Add(-301*time.Second)), denied},
		"of the future":           {a.get(t, n.clock.read().Add(301*time.Second)), denied},
	} {
		if got := answers(n, c.r); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := answers(n, look); !strings.Contains(got, `"000001"`) {
		t.Errorf("the request that was made: %s", got)
	}
}

// What the strict profile reads as the same object is one, however it is written; what only looks alike is another.
func TestWritingsOfOneObject(t *testing.T) {
	n := newNode(t, sellerDocument(t))
	c := newCaller(t, "peer", n.refs[0])
	c.open(n)
	expires := wire.FormatTime(n.clock.read().Add(time.Minute))
	ask := func(id, claim, value string) []byte {
		return fmt.Appendf(nil, `{"allowed_results":["compatible","conditionally_compatible","incompatible","unknown","requires_disclosure","declined"],`+
			`"claims":[{"claim_id":%s,"key":"sites","operator":"overlaps","value":{"min":%s}}],"expires_at":"%s","request_id":%s,"session_id":"s-peer","type":"CompatibilityRequest","version":"gidp/0.1"}`,
			claim, value, expires, id)
	}
	send := func(object []byte) string { return answers(n, c.send(t, n.clock.read(), object, nil)) }
	look := func() int {
		n.clock.advance(250 * time.Millisecond)
		_, _, body := n.do(c.get(t, n.clock.read()))
		return len(objectsOf(body))
	}
	if got := send(ask(`"q-1"`, `"c-1"`, "10")); strings.Contains(got, "error") {
		t.Fatal(got)
	}
	if n := look(); n != 2 {
		t.Fatalf("%d artifacts", n)
	}
	for _, same := range [][]byte{ask(`"q-1"`, `"c-1"`, "1e1"), ask(`"\u0071-1"`, `"c\u002d1"`, "10.0"), ask(` "q-1"`, `"c-1" `, " 1.0E1 ")} {
		if got := send(same); strings.Contains(got, "error") || look() != 2 {
			t.Errorf("%s: %s", same, got)
		}
	}
	for _, other := range [][]byte{
		ask(`"q-1"`, `"c-1"`, "11"), // another object under the key of the first
		ask(`"q-2"`, `"c-1"`, "11"), // a claim_id that was used
		bytes.Replace(ask(`"q-3"`, `"c-3"`, "1"), []byte(`"value"`), []byte(`"value":1,"value"`), 1), // a name twice
		ask(`"q-4"`, `"c-4"`, "1e400"),
		ask(`"q-\u00e9"`, `"c-5"`, "1"), // no identifier
		bytes.Replace(ask(`"q-6"`, `"c-6"`, "1"), []byte("CompatibilityRequest"), []byte("compatibilityrequest"), 1),
		fmt.Appendf(nil, `{"attribute":"sites","expires_at":"%s","intended_use":"compatibility_evaluation","purpose":"x","request_id":"q-1","requested_surface":"session","session_id":"s-peer","type":"DisclosureRequest","version":"gidp/0.1"}`, expires),
	} {
		if got := send(other); !strings.Contains(got, "error") || look() != 2 {
			t.Errorf("%s: %s", other, got)
		}
	}
	var spent float64
	n.view(func(r durable.Reader) error {
		h, _, err := n.agent.holding(t.Context(), r, n.doc)
		if err != nil {
			return err
		}
		ledger, err := n.agent.ledger(t.Context(), r, h)
		for _, row := range ledger {
			spent += row.Spent()
		}
		return err
	})
	if spent <= 0 || spent > 1 {
		t.Errorf("%v bits for one question", spent)
	}
}

// A close, a decision, a suspension and questions come at once: exactly one order of them happened, nothing is said after the close, and the trail holds.
func TestEverythingAtOnce(t *testing.T) {
	for round := range 12 {
		w, _ := qualified(t)
		s := w.asBuyer()
		if _, err := s.send(&wire.ConsentRequest{Head: s.head(time.Hour), RequestID: "k-1", Action: wire.ActHandoff, Scope: []string{"human:x"}}); err != nil {
			t.Fatal(err)
		}
		entry := w.seller.inbox()[0].ID
		data := func(o wire.Object) []byte { return s.bytes(o) }
		closing := data(&wire.SessionClose{Head: s.head(time.Hour), Reason: wire.ReasonUnspecified})
		handoff := data(&wire.Handoff{Head: s.head(time.Hour), Target: wire.Target{Kind: wire.TargetHuman}, AuthorizedScope: []wire.Scope{wire.ScopeIntroduce}, ContingentOn: []string{}})
		seller := w.seller.agent
		acts := []func(){
			func() { seller.Receive(t.Context(), s.message(closing)) },
			func() {
				m := s.message(handoff)
				m.Evidence = jcs.Raw(`{"target_ref":"human:x"}`)
				seller.Receive(t.Context(), m)
			},
			func() { seller.Decide(t.Context(), entry, Decision{Grant: true}) },
			func() { seller.Decide(t.Context(), entry, Decision{}) },
			func() {
				if round%2 == 0 {
					seller.Suspend(t.Context(), w.seller.interest)
				}
			},
			func() { seller.CloseSession(t.Context(), s.task) },
		}
		var group sync.WaitGroup
		for i := range acts {
			group.Go(acts[(i+round)%len(acts)])
		}
		group.Wait()
		v := w.seller.one()
		if v.State != string(session.Closed) {
			t.Fatalf("%+v", v)
		}
		granted := false
		for _, e := range fine(seller.Inbox(t.Context(), true)) {
			if e.State == string(durable.Waiting) {
				t.Errorf("an entry of a closed session waits: %+v", e)
			}
			granted = granted || e.State == string(durable.Granted)
		}
		if v.Handoff != nil && !granted {
			t.Errorf("handed over without a grant: %+v", v.Handoff)
		}
		task, err := seller.Task(t.Context(), s.ref, s.task, s.key.Kid())
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range task.Artifacts {
			if a.Number != i+1 {
				t.Errorf("artifact %d stands at %d", a.Number, i+1)
			}
			if o := decoded(a.Object); o != nil && o.Type() == wire.TypeSessionClose && i != len(task.Artifacts)-1 {
				t.Error("something was said after the close")
			}
		}
		if check, err := seller.VerifyAudit(t.Context()); err != nil || !check.OK {
			t.Errorf("%+v %v", check, err)
		}
	}
}

func fine[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A text of a peer that is to mislead a reader or a terminal reaches the inbox as data and the log not at all.
func TestTextsOfAPeer(t *testing.T) {
	w, _ := qualified(t)
	s := w.asBuyer()
	nasty := "</bdi><script>alert(1)</script>\u001b]0;owned\u0007\u202e\u0085\n2031-03-04 level=ERROR msg=forged"
	if _, err := s.send(&wire.DisclosureRequest{Head: s.head(time.Hour), RequestID: "d-1", Attribute: "plans", Purpose: nasty, RequestedSurface: "session", IntendedUse: wire.UseEvaluation}); err != nil {
		t.Fatal(err)
	}
	if e := w.seller.inbox()[0]; e.Purpose != nasty {
		t.Errorf("%q", e.Purpose)
	}
	if _, err := s.send(&wire.ConsentRequest{Head: s.head(time.Hour), RequestID: "k-1", Action: wire.ActContact, Scope: []string{nasty}}); code(err) != gidpa2a.Invalid {
		t.Errorf("a second request in the slot: %v", err)
	}
	if bytes.Contains(w.seller.logged.Bytes(), []byte("forged")) || bytes.Contains(w.seller.logged.Bytes(), []byte("script")) {
		t.Errorf("%s", w.seller.logged)
	}
}

// What is too large, too deep or of another kind is refused by constants before an interest is looked at.
func TestBodiesThatAreNone(t *testing.T) {
	n := newNode(t, sellerDocument(t))
	c := newCaller(t, "peer", n.refs[0])
	c.open(n)
	for name, body := range map[string][]byte{
		"long":      bytes.Repeat([]byte(" "), 256<<10+1),
		"deep":      []byte(strings.Repeat("[", 70) + strings.Repeat("]", 70)),
		"two":       []byte(`{}{}`),
		"no utf-8":  {'{', '"', 0xff, '"', ':', '1', '}'},
		"surrogate": []byte(`{"a":"\ud800"}`),
		"empty":     nil,
		"a batch":   []byte(`[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]`),
	} {
		status, _, text := n.do(c.sign(t, "/a2a/"+c.ref+"/rpc", body, n.clock.read()))
		if !bytes.Contains(text, []byte(`"error"`)) || status == http.StatusInternalServerError || len(text) > 1024 {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if n.logged.Len() > 0 && strings.Contains(n.logged.String(), "ERROR") {
		t.Errorf("%s", n.logged.String())
	}
}
