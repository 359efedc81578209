package agent

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
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

// The two sides of a session on stores in memory, with the bytes of one handed to the other. Each private value is a token that occurs nowhere else.
const (
	sellerName   = "canary-seller-7c1f"
	sellerRef    = "canary-clients-93ab"
	sellerPlans  = "canary-plans-20de"
	sellerSecret = "canary-secret-f08e"
	sellerFloor  = "21234567"
	buyerName    = "canary-buyer-b5d2"
	buyerCeiling = "45123457"
	sellerSites  = "17" // of 0 to 31, with a budget
)

var sellerPrivate = []string{sellerName, sellerRef, sellerPlans, sellerSecret, sellerFloor}

var worldStart = time.Date(2031, 3, 4, 9, 0, 0, 0, time.UTC)

type worldClock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *worldClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *worldClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// wires carries the bytes of an initiator to a responder, and keeps them.
type wires struct {
	clock *worldClock
	mu    sync.Mutex
	host  gidpa2a.Host // guarded by mu
	log   [][]byte     // guarded by mu; everything that crossed
	fail  func(out gidpa2a.Outgoing) error
	after func(out gidpa2a.Outgoing) error // the answer is lost
}

func (p *wires) to() gidpa2a.Host {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.host
}

func (p *wires) crossed(parts ...[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range parts {
		p.log = append(p.log, bytes.Clone(part))
	}
}

// plain is evidence with its mandates opened: what they disclose travels encoded.
func plain(raw jcs.Raw) []byte {
	out := bytes.Clone(raw)
	for _, text := range evidence(raw).Credentials {
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '~' || r == '.' }) {
			if data, err := jwk.DecodeBase64URL(part); err == nil {
				out = append(out, data...)
			}
		}
	}
	return out
}

func decoded(data []byte) wire.Object {
	o, _ := wire.Decode(data)
	return o
}

func (p *wires) Hello(context.Context, string) error { return nil }

func (p *wires) Send(ctx context.Context, to gidpa2a.Peer, out gidpa2a.Outgoing) (gidpa2a.Received, error) {
	if p.fail != nil {
		if err := p.fail(out); err != nil {
			return gidpa2a.Received{}, err
		}
	}
	p.crossed(out.Object, plain(out.Evidence), []byte(out.Signature))
	if o, ok := decoded(out.Object).(*wire.SessionOpen); ok {
		p.crossed(plain(o.TrustContext))
	}
	m := gidpa2a.Message{Ref: path.Base(to.Endpoint), Caller: to.Key.Kid(), Task: to.Task, Context: to.Session, Object: bytes.Clone(out.Object), Signature: out.Signature,
		Evidence: bytes.Clone(out.Evidence), ReceivedAt: p.clock.read()}
	if out.Open {
		m.Key = jwk.EncodePublic(to.Key.Public().Public)
	}
	task, err := p.to().Receive(ctx, m)
	if err == nil && p.after != nil {
		err = p.after(out)
	}
	if out.Open && err == nil && len(task.Artifacts) > 0 {
		task.Artifacts[0].Release = time.Time{} // the binding holds this reply until it may be shown
	}
	return p.shown(task), err
}

func (p *wires) Get(ctx context.Context, to gidpa2a.Peer) (gidpa2a.Received, error) {
	task, err := p.to().Task(ctx, path.Base(to.Endpoint), to.Task, to.Key.Kid())
	return p.shown(task), err
}

func (p *wires) shown(task gidpa2a.Task) gidpa2a.Received {
	shown, state, _ := task.At(p.clock.read())
	for _, a := range shown.Artifacts {
		p.crossed(a.Object, plain(a.Evidence), []byte(a.Signature), a.Hint, a.Key)
	}
	return gidpa2a.Received{Task: shown.ID, State: state, Artifacts: shown.Artifacts}
}

// party is one principal with its agent, which can be started anew on the same store.
type party struct {
	t        testing.TB
	agent    *Agent
	options  Options
	interest string
	logged   *bytes.Buffer
	notified []string
	crashes  bool // the store fails now and then, and the party starts anew
}

func (p *party) restart() {
	a, err := New(p.options)
	if err != nil {
		p.t.Fatal(err)
	}
	p.agent = a
}

type world struct {
	t             testing.TB
	clock         *worldClock
	wires         *wires
	buyer, seller *party
	endpoint      string
	ref           string
}

func worldClass(t testing.TB, s string) gidp.Entry {
	t.Helper()
	c, err := gidp.ParseClass(s)
	if err != nil {
		t.Fatal(err)
	}
	return gidp.Entry{"": c}
}

func worldDocument(t testing.TB, attributes map[string]string, classes map[string]string) *interest.Interest {
	t.Helper()
	authority, _ := gidp.Delegation("moderate")
	doc := &interest.Interest{PrincipalRef: "somebody", Profile: "sayso/corporate-transaction/1", Origin: interest.Stated, NotBefore: worldStart.AddDate(0, 0, -1),
		ExpiresAt: worldStart.AddDate(0, 3, 0), Wants: interest.Wants{Action: "strategic_transaction", Object: "company"}, Attributes: map[string]jcs.Raw{},
		Policy: interest.Policy{Entries: map[string]gidp.Entry{}}, Authority: map[gidp.Level]gidp.Permission{}}
	for key, value := range attributes {
		doc.Attributes[key] = jcs.Raw(value)
	}
	for key, class := range classes {
		doc.Policy.Entries[key] = worldClass(t, class)
	}
	for l := gidp.Observe; l <= gidp.Commit; l++ {
		doc.Authority[l] = authority.At(l)
	}
	return doc
}

func sellerDocument(t testing.TB) *interest.Interest {
	doc := worldDocument(t, map[string]string{"sector": `"enterprise_software"`, "geography": `"munich"`, "enterprise_value_eur": `{"min":` + sellerFloor + `}`,
		gidp.PrincipalIdentity: `"` + sellerName + `"`, "reference_clients": `"` + sellerRef + `"`, "plans": `"` + sellerPlans + `"`, "secret": `"` + sellerSecret + `"`, "sites": sellerSites},
		map[string]string{"sector": "discovery", "geography": "discovery", "enterprise_value_eur": "evaluation_only", gidp.PrincipalIdentity: "session/principal_approval",
			"reference_clients": "session/consent", "plans": "session/principal_approval", "secret": "never"})
	doc.Budgets = map[string]interest.Budget{"sites": {Bits: 3, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}}
	return doc
}

func buyerDocument(t testing.TB) *interest.Interest {
	return worldDocument(t, map[string]string{"sector": `"enterprise_software"`, "geography": `"germany"`, "enterprise_value_eur": `{"max":` + buyerCeiling + `}`,
		gidp.PrincipalIdentity: `"` + buyerName + `"`},
		map[string]string{"sector": "discovery", "geography": "discovery", "enterprise_value_eur": "evaluation_only", gidp.PrincipalIdentity: "session/principal_approval"})
}

type buyerSeller struct{ buyer, seller func(*interest.Interest) }

func newWorld(t testing.TB, change ...buyerSeller) *world {
	t.Helper()
	clock := &worldClock{now: worldStart}
	w := &world{t: t, clock: clock, wires: &wires{clock: clock}}
	buyer, seller := buyerDocument(t), sellerDocument(t)
	for _, c := range change {
		if c.buyer != nil {
			c.buyer(buyer)
		}
		if c.seller != nil {
			c.seller(seller)
		}
	}
	w.buyer, w.seller = w.party(buyer, "buyer"), w.party(seller, "seller")
	w.wires.host = hostOf{w.seller}
	err := w.seller.agent.Store.View(t.Context(), func(r durable.Reader) error {
		rows, err := r.Projections(t.Context(), w.seller.interest)
		w.ref = rows[0].Ref
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.endpoint = "https://seller.example/a2a/" + w.ref
	return w
}

// hostOf is the agent that a party has now.
type hostOf struct{ p *party }

func (h hostOf) Receive(ctx context.Context, m gidpa2a.Message) (gidpa2a.Task, error) {
	return h.p.agent.Receive(ctx, m)
}

func (h hostOf) Task(ctx context.Context, ref, id, caller string) (gidpa2a.Task, error) {
	return h.p.agent.Task(ctx, ref, id, caller)
}

func (h hostOf) Wait(ctx context.Context, id string, seen uint64) error {
	return h.p.agent.Wait(ctx, id, seen)
}

func (h hostOf) Key(ctx context.Context, thumbprint string) (ed25519.PublicKey, bool, error) {
	return h.p.agent.Key(ctx, thumbprint)
}

func (w *world) party(doc *interest.Interest, name string) *party {
	w.t.Helper()
	v, err := vault.Ephemeral(rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	p := &party{t: w.t, logged: &bytes.Buffer{}}
	config := session.Defaults(profile.Shipped().IDs()...)
	p.options = Options{Store: storetest.NewAgents(), Vault: v, Origin: "https://" + name + ".example", Peers: w.wires, Session: &config, Now: w.clock.read, Random: rand.Reader,
		Log: slog.New(slog.NewTextHandler(p.logged, &slog.HandlerOptions{Level: slog.LevelDebug})), Notify: func(entry string) { p.notified = append(p.notified, entry) }}
	p.restart()
	added, err := p.agent.Add(w.t.Context(), doc)
	if err != nil {
		w.t.Fatal(err)
	}
	p.interest = added.ID
	if _, err := p.agent.Activate(w.t.Context(), p.interest, ""); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// open begins a session of the buyer with the seller.
func (w *world) open() string {
	w.t.Helper()
	var id string
	err := w.buyer.agent.Store.Update(w.t.Context(), func(tx durable.Writer) error {
		h, _, err := w.buyer.agent.holding(w.t.Context(), tx, w.buyer.interest)
		if err != nil {
			return err
		}
		id, err = w.buyer.agent.openSession(w.t.Context(), tx, h, w.endpoint, "")
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// pump lets both sides do what is due for a while.
func (w *world) pump(rounds int) {
	w.t.Helper()
	for range rounds {
		w.clock.advance(400 * time.Millisecond)
		for _, p := range []*party{w.buyer, w.seller} {
			p.work()
		}
	}
}

// work does what is due now.
func (p *party) work() {
	p.t.Helper()
	var due []durable.Work
	now := p.agent.Now()
	err := p.agent.Store.Update(p.t.Context(), func(tx durable.Writer) (err error) {
		due, err = tx.Claim(p.t.Context(), now, now.Add(time.Millisecond), 100)
		return err
	})
	if p.crashes && errors.Is(err, errCrash) {
		p.restart()
		return
	}
	if err != nil {
		p.t.Fatal(err)
	}
	for _, one := range due {
		if one.Kind == durable.WorkSession {
			switch err := p.agent.driveSession(p.t.Context(), one.ID); {
			case p.crashes && errors.Is(err, errCrash):
				p.restart()
				p.again(one)
			case err != nil:
				p.t.Fatal(err)
			}
		}
	}
}

// again frees work that was claimed by a process that ended, as the end of its lease does.
func (p *party) again(work durable.Work) {
	p.t.Helper()
	for {
		err := p.agent.Store.Update(p.t.Context(), func(tx durable.Writer) error { return tx.Schedule(p.t.Context(), work.Kind, work.ID, p.agent.Now()) })
		if err == nil {
			return
		}
		if !errors.Is(err, errCrash) {
			p.t.Fatal(err)
		}
	}
}

func (p *party) sessions() []SessionView {
	p.t.Helper()
	list, err := p.agent.Sessions(p.t.Context(), p.interest)
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// one is the only session of a party.
func (p *party) one() SessionView {
	p.t.Helper()
	list := p.sessions()
	if len(list) != 1 {
		p.t.Fatalf("%d sessions", len(list))
	}
	return list[0]
}

func (p *party) inbox() []EntryView {
	p.t.Helper()
	list, err := p.agent.Inbox(p.t.Context(), false)
	if err != nil {
		p.t.Fatal(err)
	}
	return list
}

// decide decides the only entry that waits.
func (p *party) decide(d Decision) EntryView {
	p.t.Helper()
	list := p.inbox()
	if len(list) != 1 {
		p.t.Fatalf("%d entries wait: %+v", len(list), list)
	}
	v, err := p.agent.Decide(p.t.Context(), list[0].ID, d)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// qualified is a world whose session is qualified on both sides.
func qualified(t testing.TB, change ...buyerSeller) (*world, string) {
	t.Helper()
	w := newWorld(t, change...)
	id := w.open()
	w.pump(6)
	for _, p := range []*party{w.buyer, w.seller} {
		if v := p.one(); v.State != string(session.Qualified) {
			t.Fatalf("%s: %+v", p.options.Origin, v)
		}
	}
	return w, id
}

// checkTrail verifies both trails, and that every emission follows from its inputs.
func (w *world) checkTrail() {
	w.t.Helper()
	for _, p := range []*party{w.buyer, w.seller} {
		check, err := p.agent.VerifyAudit(w.t.Context())
		if err != nil || !check.OK {
			w.t.Errorf("%s: %+v %v", p.options.Origin, check, err)
		}
		list, err := p.agent.Audit(w.t.Context(), "")
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range list {
			if e.Derived == "differs" {
				w.t.Errorf("%s: entry %d: %s", p.options.Origin, e.Sequence, e.Body)
			}
		}
	}
}

// leaked lists the tokens that occur in what crossed, the logs and the trails.
func (w *world) leaked(tokens ...string) []string {
	w.t.Helper()
	var all [][]byte
	w.wires.mu.Lock()
	all = append(all, w.wires.log...)
	w.wires.mu.Unlock()
	for _, p := range []*party{w.buyer, w.seller} {
		all = append(all, p.logged.Bytes())
		list, err := p.agent.Audit(w.t.Context(), "")
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range list {
			all = append(all, e.Body)
		}
	}
	var out []string
	for _, token := range tokens {
		if slices.ContainsFunc(all, func(b []byte) bool { return strings.Contains(string(b), token) }) {
			out = append(out, token)
		}
	}
	return out
}
