package crash

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
	"sayso/internal/store/postgres"
	"sayso/internal/store/sqlite"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// The audited attributes of the interests here: integers of one domain, each with its own budget.
const (
	auditedMax   = 63
	auditedBits  = 3
	auditedTruth = 41
)

var audited = []string{"sites", "plants", "fleets", "halls"}

// gidpTick is short, so that answers are shown within a round.
const gidpTick = 2 * time.Millisecond

// folder is what a process of an agent needs to know of its data.
type folder struct {
	Data     string
	Database string // "": the file of the data folder
}

type closer interface {
	Agents() durable.Store
	Close() error
}

func (f folder) store(ctx context.Context) (closer, error) {
	if f.Database != "" {
		return postgres.Open(ctx, f.Database)
	}
	return sqlite.Open(ctx, filepath.Join(f.Data, "sayso.db"))
}

// newFolder makes a data folder with its keys.
func newFolder(t testing.TB, database string) folder {
	t.Helper()
	f := folder{filepath.Join(t.TempDir(), "data"), database}
	must(t, os.Mkdir(f.Data, 0o700))
	_, err := vault.Create(f.Data, nil, rand.Reader)
	must(t, err)
	return f
}

// node is an agent over a folder. change may put faults in.
type node struct {
	*agent.Agent
	db closer
}

func (f folder) node(ctx context.Context, change func(*agent.Options)) (*node, error) {
	v, err := vault.Open(f.Data, func() ([]byte, error) { return nil, errors.New("there is no passphrase") })
	if err != nil {
		return nil, err
	}
	db, err := f.store(ctx)
	if err != nil {
		return nil, err
	}
	o := agent.Options{Store: db.Agents(), Vault: v, Origin: "https://agent.example", Tick: gidpTick, Random: rand.Reader}
	if change != nil {
		change(&o)
	}
	a, err := agent.New(o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &node{a, db}, nil
}

func (f folder) open(t testing.TB, change func(*agent.Options)) *node {
	t.Helper()
	n, err := f.node(t.Context(), change)
	must(t, err)
	return n
}

// running works until the returned function is called.
func running(a *agent.Agent) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); a.Run(ctx) }()
	return func() { cancel(); <-done }
}

// document is an interest with what discovery shows, a value in cells, an identity and audited attributes.
func document(t testing.TB, probe gidp.Permission, value string) *interest.Interest {
	t.Helper()
	authority, _ := gidp.Delegation("moderate")
	doc := &interest.Interest{
		PrincipalRef: "somebody", Profile: "sayso/corporate-transaction/1", Origin: interest.Stated, ExpiresAt: time.Now().AddDate(0, 2, 0).UTC().Truncate(time.Second),
		Wants:      interest.Wants{Action: "strategic_transaction", Object: "company"},
		Attributes: map[string]jcs.Raw{"sector": jcs.Raw(`"enterprise_software"`), "geography": jcs.Raw(`"munich"`), "enterprise_value_eur": jcs.Raw(value), gidp.PrincipalIdentity: jcs.Raw(`"Firm"`)},
		Policy:     interest.Policy{Entries: map[string]gidp.Entry{}},
		Authority:  map[gidp.Level]gidp.Permission{},
		Budgets:    map[string]interest.Budget{},
	}
	for key, class := range map[string]string{"sector": "discovery", "geography": "discovery", "enterprise_value_eur": "evaluation_only", gidp.PrincipalIdentity: "session/principal_approval"} {
		c, err := gidp.ParseClass(class)
		must(t, err)
		doc.Policy.Entries[key] = gidp.Entry{"": c}
	}
	for _, key := range audited {
		doc.Attributes[key] = jcs.Raw(fmt.Sprint(auditedTruth))
		doc.Budgets[key] = interest.Budget{Bits: auditedBits, Domain: gidp.Domain{Max: auditedMax, Step: 1}}
	}
	for l := gidp.Observe; l <= gidp.Commit; l++ {
		doc.Authority[l] = authority.At(l)
	}
	doc.Authority[gidp.Probe] = probe
	return doc
}

// activate adds an interest and returns its id and the reference under which it takes sessions.
func (n *node) activate(t testing.TB, doc *interest.Interest) (id, ref string) {
	t.Helper()
	added, err := n.Add(t.Context(), doc)
	must(t, err)
	active, err := n.Activate(t.Context(), added.ID, "")
	must(t, err)
	return added.ID, active.Projections[0].Ref
}

// asker is one initiator in one session, driven by hand.
type asker struct {
	ref, session, task string
	key                *jwk.PrivateKey
	opening            []byte
	asks               []*ask
	final              bool     // one of them may have ended the session
	shown              [][]byte // artifacts as they were seen, by their numbers
}

// ask is one question and what is known of its delivery.
type ask struct {
	id           string
	claims       []wire.Claim
	object       []byte
	acknowledged bool
}

func newAsker(t testing.TB, ref string) *asker {
	t.Helper()
	key, err := gidpa2a.NewKey(rand.Reader)
	must(t, err)
	p := &asker{ref: ref, key: key, session: "s-" + rand.Text()}
	p.opening, err = wire.Encode(&wire.SessionOpen{Head: wire.Head{SessionID: p.session, ExpiresAt: soon(24 * time.Hour)}, RequestID: "r-open", Initiator: "peer", Purpose: "strategic_transaction",
		MaxDepth: wire.DepthSession, Profile: "sayso/corporate-transaction/1", Features: []wire.Feature{}})
	must(t, err)
	return p
}

func soon(d time.Duration) time.Time { return time.Now().Add(d).UTC().Truncate(time.Second) }

// draw makes the next question: on two audited attributes, and one on the value in cells. random says where the edges lie. Most hold, for an answer that they do not
// ends the session; final asks such a one.
func (p *asker) draw(random func(n int) int, final bool) (*ask, error) {
	a := &ask{id: fmt.Sprintf("q-%d", len(p.asks)+1)}
	first := random(len(audited))
	for i, key := range []string{audited[first], audited[(first+1)%len(audited)], "enterprise_value_eur"} {
		edge := fmt.Sprintf(`{"min":%d}`, random(auditedTruth+1))
		if random(2) == 0 {
			edge = fmt.Sprintf(`{"max":%d}`, auditedTruth+random(auditedMax-auditedTruth+1))
		}
		if i == 0 && final {
			edge = fmt.Sprintf(`{"min":%d}`, auditedTruth+1+random(3))
		}
		if i == 2 {
			edge = fmt.Sprintf(`{"max":%d}`, 1_000_000*(30+random(60)))
		}
		a.claims = append(a.claims, wire.Claim{ID: fmt.Sprintf("c-%d.%d", len(p.asks)+1, i), Key: key, Operator: wire.OpOverlaps, Value: jcs.Raw(edge)})
	}
	p.asks = append(p.asks, a)
	var err error
	a.object, err = wire.Encode(&wire.CompatibilityRequest{Head: wire.Head{SessionID: p.session, ExpiresAt: soon(time.Hour)}, RequestID: a.id, Claims: a.claims, AllowedResults: wire.AllResults()})
	return a, err
}

// holds is what a claim on an audited attribute says of a value.
func holds(t testing.TB, c wire.Claim, v int) bool {
	t.Helper()
	edge := struct {
		Min int `json:"min"`
		Max int `json:"max"`
	}{math.MinInt32, math.MaxInt32}
	must(t, jcs.Decode(c.Value, &edge))
	return v >= edge.Min && v <= edge.Max
}

// peer is the other side of the session as a client addresses it.
func (p *asker) peer(origin string) gidpa2a.Peer {
	return gidpa2a.Peer{Endpoint: origin + "/a2a/" + p.ref, Task: p.task, Session: p.session, Key: p.key}
}

// message is what a server hands to its host for an object of this session.
func (p *asker) message(object []byte) gidpa2a.Message {
	m := gidpa2a.Message{Ref: p.ref, Caller: p.key.Kid(), Task: p.task, Context: p.session, Object: object, ReceivedAt: time.Now()}
	if p.task == "" {
		m.Key = jwk.EncodePublic(p.key.Public().Public)
	}
	return m
}

// see holds what is shown against what was shown before: nothing changed, nothing went away.
func (p *asker) see(artifacts []gidpa2a.Artifact) error {
	for i, a := range artifacts {
		switch {
		case a.Number != i+1:
			return fmt.Errorf("artifact %d of %s stands in place %d", a.Number, p.session, i+1)
		case i == len(p.shown):
			p.shown = append(p.shown, a.Object)
		case string(a.Object) != string(p.shown[i]):
			return fmt.Errorf("artifact %d of %s changed:\n%s\n%s", a.Number, p.session, p.shown[i], a.Object)
		}
	}
	if len(artifacts) < len(p.shown) {
		return fmt.Errorf("%s had %d artifacts and has %d", p.session, len(p.shown), len(artifacts))
	}
	return nil
}

// answers finds the answer to each question; a second one is a fault.
func (p *asker) answers(t testing.TB) map[string]*wire.CompatibilityResponse {
	t.Helper()
	out := map[string]*wire.CompatibilityResponse{}
	for i, text := range p.shown {
		o, err := wire.Decode(text)
		must(t, err)
		switch o := o.(type) {
		case *wire.SessionAccept:
			if i != 0 {
				t.Fatalf("%s was accepted by artifact %d", p.session, i+1)
			}
		case *wire.CompatibilityResponse:
			if out[o.RequestRef] != nil {
				t.Fatalf("%s of %s was answered twice", o.RequestRef, p.session)
			}
			out[o.RequestRef] = o
		case *wire.SessionClose:
			if i != len(p.shown)-1 || !p.final {
				t.Fatalf("%s was closed by artifact %d of %d: %s", p.session, i+1, len(p.shown), o.Reason)
			}
		default:
			t.Fatalf("%s: a %s", p.session, o.Type())
		}
	}
	return out
}

// initiator is a client of A2A whose connections end with it.
func initiator() (*gidpa2a.Client, func()) {
	transport := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}
	h := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return gidpa2a.NewClient(gidpa2a.ClientOptions{Do: h.Do}), transport.CloseIdleConnections
}

// told computes from all answers what the ledger must say: the values that are left, and with them the bits. It holds each answer against the truth.
func told(t testing.TB, peers []*asker) map[string]float64 {
	t.Helper()
	left := map[string][]int{}
	for _, key := range audited {
		for v := range auditedMax + 1 {
			left[key] = append(left[key], v)
		}
	}
	for _, p := range peers {
		answers := p.answers(t)
		for _, a := range p.asks {
			response := answers[a.id]
			if response == nil {
				continue
			}
			for i, c := range a.claims {
				if left[c.Key] == nil || response.Results[i].Result == wire.Declined {
					continue
				}
				yes := response.Results[i].Result == wire.Compatible
				if yes != holds(t, c, auditedTruth) {
					t.Fatalf("%s %s: %s", c.Key, c.Value, response.Results[i].Result)
				}
				var rest []int
				for _, v := range left[c.Key] {
					if holds(t, c, v) == yes {
						rest = append(rest, v)
					}
				}
				left[c.Key] = rest
			}
		}
	}
	out := map[string]float64{}
	for key, rest := range left {
		out[key] = math.Log2(float64(auditedMax+1) / float64(len(rest)))
	}
	return out
}

// spent reads the budgets of an interest.
func (n *node) spent(t testing.TB, id string) map[string]float64 {
	t.Helper()
	detail, err := n.Interest(t.Context(), id)
	must(t, err)
	out := map[string]float64{}
	for _, b := range detail.Budgets {
		if b.Limit != auditedBits || b.Frozen {
			t.Fatalf("%+v", b)
		}
		out[b.Key] = b.Spent
	}
	return out
}

// checkLedger wants exactly the bits that the answers tell, within the limit.
func (n *node) checkLedger(t testing.TB, id string, peers []*asker) map[string]float64 {
	t.Helper()
	spent, want := n.spent(t, id), told(t, peers)
	for _, key := range audited {
		if math.Abs(spent[key]-want[key]) > 1e-9 || spent[key] > auditedBits+1e-9 {
			t.Fatalf("%s: %v bits are in the ledger, the answers tell %v, the limit is %v", key, spent[key], want[key], auditedBits)
		}
	}
	return spent
}

// checkTrail wants a whole chain, whose emissions follow from their inputs. interest "" derives all.
func (n *node) checkTrail(t testing.TB, id string) []agent.AuditView {
	t.Helper()
	check, err := n.VerifyAudit(t.Context())
	must(t, err)
	if !check.OK {
		t.Fatalf("the trail: %+v", check.Problems)
	}
	list, err := n.Audit(t.Context(), id)
	must(t, err)
	for _, e := range list {
		if e.Derived == "differs" {
			t.Fatalf("entry %d does not follow from its inputs: %s", e.Sequence, e.Body)
		}
	}
	return list
}
