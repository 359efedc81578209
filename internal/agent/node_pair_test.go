package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/httpsig"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/store/storetest"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// A whole node for pairs of runs (gidp-lab.md sec. 6.3): agent, vault and store behind the real binding, with a clock and randomness that both nodes of a pair share.
// What a peer can see of a node is every byte of its answers and the instants at which they come; what its operator's log shows is compared, too.

const nodeOrigin = "https://node.example"

// stream is randomness that starts again with a seed.
type stream struct{ *rand.ChaCha8 }

func seeded(seed string) stream {
	var s [32]byte
	copy(s[:], seed)
	return stream{rand.NewChaCha8(s)}
}

// node is one responder.
type node struct {
	t       testing.TB
	clock   *worldClock
	agent   *Agent
	handler http.Handler
	random  *switchable
	logged  bytes.Buffer
	doc     string // id of the interest
	refs    []string
	edit    func(body []byte) []byte // of what is compared; nil: nothing is left out
}

// switchable is what an agent draws from; a test puts another stream in its place between two steps.
type switchable struct{ io.Reader }

func newNode(t testing.TB, doc *interest.Interest, change ...func(*Options)) *node {
	t.Helper()
	v, err := vault.Ephemeral(seeded("vault")) // the same keys for both of a pair
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, clock: &worldClock{now: worldStart}, random: &switchable{seeded("node")}}
	config := session.Defaults(profile.Shipped().IDs()...)
	o := Options{Store: storetest.NewAgents(), Vault: v, Origin: nodeOrigin, Session: &config, Now: n.clock.read, Random: n.random,
		Log: slog.New(slog.NewTextHandler(&n.logged, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: timeless}))}
	for _, c := range change {
		c(&o)
	}
	if n.agent, err = New(o); err != nil {
		t.Fatal(err)
	}
	added, err := n.agent.Add(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	n.doc = added.ID
	n.publish()
	n.handler, err = gidpa2a.NewHandler(gidpa2a.Options{Host: n.agent, Origin: nodeOrigin, Profiles: profile.Shipped().IDs(), Now: n.clock.read, Wait: n.wait,
		Client: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") },
		Report: func(category string, cause error) { n.agent.Log.Error("report", "category", category, "cause", cause) }})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// timeless keeps the time of a log line out of the comparison: it is that of the machine.
func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// wait takes the clock to the instant that is waited for.
func (n *node) wait(ctx context.Context, until time.Time) error {
	if d := until.Sub(n.clock.read()); d > 0 {
		n.clock.advance(d)
	}
	return ctx.Err()
}

// publish activates the interest and notes its references.
func (n *node) publish() {
	n.t.Helper()
	if _, err := n.agent.Activate(n.t.Context(), n.doc, ""); err != nil {
		n.t.Fatal(err)
	}
	n.refs = n.refs[:0]
	n.view(func(r durable.Reader) error {
		rows, err := r.Projections(n.t.Context(), n.doc)
		for _, row := range rows {
			n.refs = append(n.refs, row.Ref)
		}
		return err
	})
}

func (n *node) view(f func(durable.Reader) error) {
	n.t.Helper()
	if err := n.agent.Store.View(n.t.Context(), f); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) update(f func(durable.Writer) error) {
	n.t.Helper()
	if err := n.agent.Store.Update(n.t.Context(), f); err != nil {
		n.t.Fatal(err)
	}
}

// work lets the node do what is due.
func (n *node) work() {
	n.t.Helper()
	var due []durable.Work
	now := n.agent.Now()
	n.update(func(tx durable.Writer) (err error) {
		due, err = tx.Claim(n.t.Context(), now, now.Add(time.Millisecond), 100)
		return err
	})
	for _, one := range due {
		if err := n.agent.work(n.t.Context(), one); err != nil {
			n.t.Fatal(err)
		}
	}
}

// caller is a peer that signs its requests by hand.
type caller struct {
	key     *jwk.PrivateKey
	ref     string
	session string
	task    string
	asked   int
	nonces  int
}

func newCaller(t testing.TB, name, ref string) *caller {
	t.Helper()
	key, err := vault.NewKey(seeded(name))
	if err != nil {
		t.Fatal(err)
	}
	return &caller{key: key, ref: ref, session: "s-" + name}
}

// request is one signed request as bytes, so that two nodes get the same.
type request struct {
	path   string
	header http.Header
	body   []byte
	remote string
}

func (c *caller) sign(t testing.TB, path string, body []byte, now time.Time) request {
	t.Helper()
	c.nonces++
	r := request{path: path, body: body, remote: "192.0.2.7:40000",
		header: http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}, "A2a-Extensions": {gidpa2a.ExtensionURI}}}
	fields, err := httpsig.Sign(httpsig.Session, httpsig.Message{Method: http.MethodPost, Authority: "node.example", Path: path, Header: r.header, Body: body}, c.key,
		httpsig.Params{Created: now, Nonce: fmt.Sprintf("n-%s-%d", c.session, c.nonces)})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range fields {
		r.header[name] = []string{value}
	}
	return r
}

// send is SendMessage with one object; evidence may be nil.
func (c *caller) send(t testing.TB, now time.Time, object, evidence []byte) request {
	t.Helper()
	meta := map[string]json.RawMessage{}
	if object != nil {
		meta[gidpa2a.ExtensionURI+"/object"] = object
	}
	if evidence != nil {
		meta[gidpa2a.ExtensionURI+"/evidence"] = evidence
	}
	if c.task == "" {
		meta[gidpa2a.ExtensionURI+"/key"] = json.RawMessage(jwk.EncodePublic(c.key.Public().Public))
	}
	message := map[string]any{"messageId": "m", "role": "ROLE_USER", "parts": []any{map[string]string{"text": "gidp"}}, "metadata": meta}
	if c.task != "" {
		message["taskId"] = c.task
	}
	return c.call(t, now, "SendMessage", map[string]any{"message": message})
}

func (c *caller) get(t testing.TB, now time.Time) request {
	t.Helper()
	return c.call(t, now, "GetTask", map[string]any{"id": c.task})
}

func (c *caller) call(t testing.TB, now time.Time, method string, params any) request {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		// a hostile object that is no JSON: it is sent as it is, around what would have been said
		body = []byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"message":{"messageId":"m","metadata":{`)
	}
	return c.sign(t, "/a2a/"+c.ref+"/rpc", body, now)
}

// do makes the request of a node, and returns everything that its sender can see of the answer.
func (n *node) do(r request) (status int, header http.Header, body []byte) {
	in := httptest.NewRequest(http.MethodPost, nodeOrigin+r.path, bytes.NewReader(r.body))
	in.Header, in.RemoteAddr = r.header.Clone(), r.remote
	out := httptest.NewRecorder()
	n.handler.ServeHTTP(out, in.WithContext(n.t.Context()))
	return out.Code, out.Result().Header, out.Body.Bytes()
}

// seen is an answer with its instant as one text.
func (n *node) seen(r request) string {
	status, header, body := n.do(r)
	if n.edit != nil {
		body = n.edit(body)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d\n", n.clock.read().Format(time.RFC3339Nano), status)
	_ = header.Write(&b)
	b.Write(body)
	return b.String()
}

// taskIn is the id of the task in an answer.
func taskIn(body []byte) string {
	var in struct {
		Result struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	return in.Result.Task.ID
}

// objectsOf are the objects in the artifacts of an answer.
func objectsOf(body []byte) (out []wire.Object) {
	type task struct {
		Artifacts []struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		} `json:"artifacts"`
	}
	var in struct {
		Result struct {
			task
			Task task `json:"task"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	for _, a := range append(in.Result.Artifacts, in.Result.Task.Artifacts...) {
		if o, err := wire.Decode(a.Metadata[gidpa2a.ExtensionURI+"/object"]); err == nil {
			out = append(out, o)
		}
	}
	return out
}

// open opens a session at a node and returns the request, for the other one.
func (c *caller) open(n *node) (request, []byte) {
	n.t.Helper()
	data, err := wire.Encode(c.openObject())
	if err != nil {
		n.t.Fatal(err)
	}
	r := c.send(n.t, n.clock.read(), data, nil)
	_, _, body := n.do(r)
	c.task = taskIn(body)
	return r, body
}

func (c *caller) openObject() *wire.SessionOpen {
	return &wire.SessionOpen{Head: wire.Head{SessionID: c.session, ExpiresAt: worldStart.AddDate(0, 0, 7)}, RequestID: "r-1", Initiator: "peer", Purpose: "strategic_transaction",
		MaxDepth: wire.DepthSession, Profile: "sayso/corporate-transaction/1", Features: []wire.Feature{wire.FeatureDependencies}}
}

// ask is one question, answered at once or not; it returns the results that stand for it at the next tick.
func (c *caller) ask(n *node, claim wire.Claim) (wire.Result, bool) {
	n.t.Helper()
	c.asked++
	id := "ask-" + strconv.Itoa(c.asked)
	claim.ID = id + ".c"
	data, err := wire.Encode(&wire.CompatibilityRequest{Head: wire.Head{SessionID: c.session, ExpiresAt: n.clock.read().Add(time.Minute).Truncate(time.Second)}, RequestID: id,
		Claims: []wire.Claim{claim}, AllowedResults: wire.AllResults()})
	if err != nil {
		n.t.Fatal(err)
	}
	n.do(c.send(n.t, n.clock.read(), data, nil))
	n.clock.advance(250 * time.Millisecond)
	_, _, body := n.do(c.get(n.t, n.clock.read()))
	for _, o := range objectsOf(body) {
		if answer, ok := o.(*wire.CompatibilityResponse); ok && answer.RequestRef == id {
			return answer.Results[0].Result, true
		}
	}
	return "", false
}

// withoutDigests takes out of the mandates in an answer what depends on the names they hide: two salted digests and the signature over them. What is left is everything
// that can be read, and the sizes of the rest.
func withoutDigests(body []byte) []byte {
	out := string(body)
	for _, token := range strings.FieldsFunc(out, func(r rune) bool {
		return !(r == '.' || r == '-' || r == '_' || r == '~' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		parts := strings.Split(strings.TrimSuffix(token, "~"), ".")
		if len(parts) != 3 || !strings.HasSuffix(token, "~") {
			continue
		}
		header, err := jwk.DecodeBase64URL(parts[0])
		if err != nil || !bytes.Contains(header, []byte("gidp-mandate")) {
			continue
		}
		payload, err := jwk.DecodeBase64URL(parts[1])
		if err != nil {
			continue
		}
		members, err := jcs.Members(payload)
		if err != nil {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s %d", header, len(parts[2]))
		for _, m := range members {
			value := string(m.Value)
			if m.Name == "_sd" {
				value = strconv.Itoa(len(value))
			}
			fmt.Fprintf(&b, " %s=%s", m.Name, value)
		}
		out = strings.ReplaceAll(out, token, b.String())
	}
	return []byte(out)
}

// rounds is how often each kind of pairs is drawn, a hundred each time: once, or as often as the environment says.
func rounds(t testing.TB) int {
	t.Helper()
	text, ok := os.LookupEnv("SAYSO_GIDP_PAIRS")
	if !ok {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// entries are the ids that wait at a node.
func (n *node) entries() (out []string) {
	n.t.Helper()
	list, err := n.agent.Inbox(n.t.Context(), false)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.ID)
	}
	slices.Sort(out)
	return out
}
