package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/profile"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/internal/agent/interestfile"
	"sayso/jcs"
)

const (
	corporate = "sayso/corporate-transaction/1"
	budgetKey = "transaction_value"
	identity  = 4 // keys under which the adversary asks at once
	honestMax = 24_999_999
	strangers = 15 * time.Second // for one answer
)

// stranger is somebody who opens a session by hand, under a key of its own: it has an address of the seller from the provider, and nothing else.
type stranger struct {
	client *gidpa2a.Client
	peer   gidpa2a.Peer
	now    func() time.Time
	asked  int
	seen   int // artifacts
}

// target is what a stranger learns from the provider.
type target struct{ endpoint, ref, profile, purpose string }

// discover asks the provider under a fresh key, as everybody may. It expects one candidate.
func (w *gidpWalk) discover(s *Step, labels wire.DiscoveryProjection) (found []target) {
	if s.Request == "" {
		s.Request = "POST " + w.Provider + providerhttp.Base + "candidates"
	}
	key, err := gidpa2a.NewKey(rand.Reader)
	if s.expect(err == nil, "%v", err); err != nil {
		return nil
	}
	client := providerhttp.NewClient(providerhttp.ClientOptions{Fetch: w.GIDPWalk.Fetch, Now: w.Now, Random: rand.Reader})
	page, err := client.Candidates(w.ctx, w.Provider, key, providerhttp.Query{Projection: &labels})
	if s.expect(err == nil, "%v", err); err != nil {
		return nil
	}
	for _, c := range page.Candidates {
		endpoint, ref, err := client.Resolve(w.ctx, w.Provider, key, c.Ref)
		if s.expect(err == nil, "%v", err); err == nil {
			found = append(found, target{endpoint: endpoint, ref: ref})
		}
	}
	return found
}

// open lets n strangers open sessions at once.
func (w *gidpWalk) open(s *Step, at target, n int) []*stranger {
	out, failed := make([]*stranger, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { out[i], failed[i] = w.stranger(at) })
	}
	group.Wait()
	err := errors.Join(failed...)
	if s.expect(err == nil, "%v", err); err != nil {
		return nil
	}
	return out
}

// errRefused is the answer to an open that no session came of.
var errRefused = errors.New("the session was refused")

func (w *gidpWalk) stranger(at target) (*stranger, error) {
	key, err := gidpa2a.NewKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	x := &stranger{client: gidpa2a.NewSafeClient(w.GIDPWalk.Fetch, gidpa2a.ClientOptions{Now: w.Now}), peer: gidpa2a.Peer{Endpoint: at.endpoint, Session: rand.Text(), Key: key}, now: w.Now}
	o, err := x.say(w.ctx, &wire.SessionOpen{
		Head: x.head(), RequestID: "r-0", Initiator: rand.Text(), Purpose: at.purpose, MaxDepth: wire.DepthSession, Profile: at.profile, Features: []wire.Feature{}, ProjectionRef: at.ref,
	}, true)
	if err != nil {
		return nil, err
	}
	if _, ok := o.(*wire.SessionAccept); !ok {
		return nil, errRefused
	}
	return x, nil
}

func (x *stranger) head() wire.Head {
	return wire.Head{SessionID: x.peer.Session, ExpiresAt: x.now().Add(5 * time.Minute).UTC().Truncate(time.Second)}
}

// say sends one object and returns what the responder says to it.
func (x *stranger) say(ctx context.Context, o wire.Object, open bool) (wire.Object, error) {
	data, err := wire.Encode(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, strangers)
	defer cancel()
	got, err := x.client.Send(ctx, x.peer, gidpa2a.Outgoing{Object: data, Open: open})
	for {
		if err != nil {
			return nil, err
		}
		x.peer.Task = got.Task
		if len(got.Artifacts) > x.seen {
			x.seen++
			return wire.Decode(got.Artifacts[x.seen-1].Object)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		got, err = x.client.Get(ctx, x.peer)
	}
}

// ask asks the same key with several bounds from above, in one request.
func (x *stranger) ask(ctx context.Context, key string, bounds ...int64) ([]wire.Result, error) {
	x.asked++
	q := &wire.CompatibilityRequest{Head: x.head(), RequestID: fmt.Sprintf("r-%d", x.asked), AllowedResults: wire.AllResults()}
	for i, n := range bounds {
		q.Claims = append(q.Claims, wire.Claim{ID: fmt.Sprintf("r-%d.%d", x.asked, i+1), Key: key, Operator: wire.OpOverlaps, Value: atMost(n)})
	}
	o, err := x.say(ctx, q, false)
	if err != nil {
		return nil, err
	}
	a, ok := o.(*wire.CompatibilityResponse)
	if !ok || len(a.Results) != len(bounds) {
		return nil, fmt.Errorf("%d questions were not answered", len(bounds))
	}
	var out []wire.Result
	for _, r := range a.Results {
		out = append(out, r.Result)
	}
	return out, nil
}

// askAll lets each stranger ask its part of the bounds, all at once.
func (w *gidpWalk) askAll(s *Step, who []*stranger, key string, bounds []int64) map[int64]wire.Result {
	out := map[int64]wire.Result{}
	var mu sync.Mutex // guards out and s
	var group sync.WaitGroup
	for i, x := range who {
		var own []int64
		for j := i; j < len(bounds); j += len(who) {
			own = append(own, bounds[j])
		}
		group.Go(func() {
			got, err := x.ask(w.ctx, key, own...)
			mu.Lock()
			defer mu.Unlock()
			s.expect(err == nil, "%v", err)
			for j, r := range got {
				out[own[j]] = r
			}
		})
	}
	group.Wait()
	return out
}

// one lets a stranger ask one question.
func (w *gidpWalk) one(s *Step, x *stranger, key string, bound int64) wire.Result {
	got, err := x.ask(w.ctx, key, bound)
	if s.expect(err == nil, "%v", err); err != nil {
		return ""
	}
	return got[0]
}

// sample shows the first question that crossed since the step before, and its answer; the rest is counted by the step itself.
func (w *gidpWalk) sample(s *Step, to string) {
	lines := w.transcript.next()
	for _, begin := range []string{"-> " + to + ": CompatibilityRequest", "<- " + to + ": CompatibilityResponse"} {
		if i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, begin) }); i >= 0 {
			s.Answer = append(s.Answer, lines[i])
		}
	}
}

// atMost is a question from above: is it enough to pay no more than this?
func atMost(n int64) jcs.Raw { return jcs.Raw(fmt.Sprintf(`{"max":%d}`, n)) }

// tally counts answers, in the order of the protocol's vocabulary.
func tally(all map[int64]wire.Result) string {
	var words []string
	for _, r := range wire.AllResults() {
		n := 0
		for _, got := range all {
			if got == r {
				n++
			}
		}
		if n > 0 {
			words = append(words, fmt.Sprintf("%s %d", r, n))
		}
	}
	return strings.Join(words, " · ")
}

// learnt is the interval in which answers leave a least price.
func learnt(all map[int64]wire.Result, lo, hi int64) (int64, int64) {
	for n, r := range all {
		switch r {
		case wire.Incompatible:
			lo = max(lo, n+1)
		case wire.Compatible, wire.Conditionally:
			hi = min(hi, n)
		}
	}
	return lo, hi
}

func (w *gidpWalk) measured(s *Step) {
	s.Title, s.Why = "What plain answers would tell", "Measured on the code that gives answers, and shown from there: no agent of ours answers like that. Each question halves what is left, until nothing is left."
	out := w.sayso(s, "lab", "run", "policies")
	var doc struct {
		Experiments []struct {
			Rows []jcs.Raw `json:"rows"`
		} `json:"experiments"`
	}
	s.expect(jcs.Decode(out, &doc) == nil && len(doc.Experiments) == 1, "the measurement cannot be read")
	for _, e := range doc.Experiments {
		for _, r := range e.Rows {
			if claim := text(r, "claim"); claim == "A1a" || claim == "A1d" {
				s.Answer = append(s.Answer, clip(pick(r, "claim", "what", "value")))
			}
		}
	}
	w.shows(s, `"plain: bits","value":5`, `"plain: claims","value":5`, `"closed: bits","value":0`)
}

func (w *gidpWalk) cells(s *Step) {
	s.Title, s.Why = "The seller's least price, answered from its cell", "Answers are a function of the cell, so this is the end of it: no further question, key, session or year tells more. And whoever is honest is answered as before."
	found := w.discover(s, wire.DiscoveryProjection{Categories: []string{"strategic_transaction"}, Domains: []string{"software"}, Geographies: []string{"germany"}})
	s.expect(len(found) == 1, "the provider returned %d candidates", len(found))
	p, ok := profile.Shipped().Profile(corporate)
	if s.expect(ok, "the profile is not there"); len(found) != 1 || !ok {
		return
	}
	at := found[0]
	at.profile, at.purpose = corporate, "strategic_transaction"
	s.Request = "POST " + at.endpoint + "/rpc"
	who := w.open(s, at, identity+1)
	if who == nil {
		return
	}
	var bounds []int64
	for n := int64(1); n <= identity*wire.MaxClaims; n++ {
		bounds = append(bounds, n*500_000-1)
	}
	got := w.askAll(s, who[:identity], leastKey, bounds)
	partition := p.Rules().Keys[leastKey].Partition
	lo, hi := learnt(got, partition.Min, partition.Max)
	cell, _ := partition.Cell(lo)
	from, to := partition.Bounds(cell)
	bits := -math.Log2(p.Partitions[partition.ID].Masses[cell])
	honest := w.one(s, who[identity], leastKey, to)
	w.sample(s, w.seller.Name)
	s.Answer = append(s.Answer, fmt.Sprintf("%d keys, %d questions: %s", identity, len(got), tally(got)),
		fmt.Sprintf("what remains: %d to %d, which is cell %d of the %d that the profile publishes; the price in it, %s, is not told", lo, hi, cell+1, partition.Cells(), w.seller.limit),
		fmt.Sprintf("learnt: %.2f bits under the prior of the profile, all that this cell can tell; the least likely one tells %.2f, on average it is at most log2 %d = %.0f", bits, p.Partitions[partition.ID].WorstBits, partition.Cells(), partition.Bits()),
		fmt.Sprintf("an honest buyer asks afterwards, %s: %s", atMost(to), honest))
	s.expect(lo == from && hi == to && len(got) == len(bounds), "the adversary was left with %d to %d, not with a cell", lo, hi)
	s.expect(honest == wire.Conditionally, "the honest buyer was answered %s", honest)
}

// withoutBudget is the file of the product line less its budget.
func withoutBudget(full []byte) []byte {
	var out []byte
	for line := range bytes.Lines(full) {
		if !bytes.HasPrefix(line, []byte("budgets:")) {
			out = append(out, line...)
		}
	}
	return out
}

// productLine writes the file of the product line and finds its one projection once it is published.
func (w *gidpWalk) productLine(s *Step, edit func([]byte) []byte, act ...string) (at target, ok bool) {
	full, err := fs.ReadFile(w.Interests, budgetFile)
	file := filepath.Join(w.seller.Data, budgetFile)
	if err == nil {
		err = os.WriteFile(file, edit(full), 0o600)
	}
	if s.expect(err == nil, "%v", err); err != nil {
		return at, false
	}
	w.line = text(w.sayso(s, append(append([]string{"interest"}, act...), file, "--data", w.seller.Data)...), "id")
	if act[0] == "add" {
		w.sayso(s, "interest", "activate", w.line, "--data", w.seller.Data)
	}
	w.stands(s, &w.seller, w.line, "published")
	found := w.discover(s, wire.DiscoveryProjection{Categories: []string{"asset_transaction"}, Domains: []string{"software"}, Geographies: []string{"berlin"}})
	if s.expect(len(found) == 1, "the provider returned %d candidates", len(found)); len(found) != 1 {
		return at, false
	}
	at = found[0]
	at.profile, at.purpose = "core", "unspecified"
	return at, true
}

func (w *gidpWalk) declined(s *Step) {
	s.Title, s.Why = "The same price without cells, declined", "An attribute that the profile gives no cells and its owner no budget is closed. That tells nothing, and no counterparty can ever qualify on it."
	at, ok := w.productLine(s, withoutBudget, "add")
	if !ok {
		return
	}
	who := w.open(s, at, identity)
	if who == nil {
		return
	}
	var bounds []int64
	for n := int64(1); n <= identity*8; n++ {
		bounds = append(bounds, n*2_000_000-1)
	}
	got := w.askAll(s, who, budgetKey, bounds)
	w.sample(s, w.seller.Name)
	s.Answer = append(s.Answer, fmt.Sprintf("%d keys, %d questions: %s", identity, len(got), tally(got)), "learnt: 0 bits")
	s.expect(tally(got) == fmt.Sprintf("%s %d", wire.Declined, len(bounds)), "something was answered")
}

func (w *gidpWalk) budget(s *Step) {
	s.Title, s.Why = "And with a budget of 2 bits for everybody", "It holds to the bit, over all keys and sessions. But whoever asks first spends it: an adversary gets all of it, and an honest buyer is turned away by questions that it never asked."
	whole := func(b []byte) []byte { return b }
	at, ok := w.productLine(s, whole, "supersede", w.line)
	if !ok {
		return
	}
	domain, err := w.budgeted()
	if s.expect(err == nil, "%v", err); err != nil {
		return
	}
	who := w.open(s, at, identity+1)
	if who == nil {
		return
	}
	// Bisection over the public domain, one question at a time. What contradicts the price ends the session, and the next key goes on.
	count := (domain.Max-domain.Min)/domain.Step + 1
	lo, hi, key := int64(0), count-1, 0
	edge := func(i int64) int64 { return domain.Min + i*domain.Step + domain.Step - 1 } // below the next value, and no value itself
	var told []string
	for lo < hi && key < identity && s.Problem == "" {
		mid := (lo + hi) / 2
		r := w.one(s, who[key], budgetKey, edge(mid))
		told = append(told, fmt.Sprintf("%s %s", atMost(edge(mid)), r))
		if r == wire.Compatible {
			hi = mid
		} else if r == wire.Incompatible {
			lo, key = mid+1, key+1
		} else {
			break
		}
	}
	var bounds []int64
	for i := lo; i < hi && len(bounds) < 2*wire.MaxClaims; i++ {
		bounds = append(bounds, edge(i))
	}
	got := w.askAll(s, who[identity-2:identity], budgetKey, bounds)
	honest := w.one(s, who[identity], budgetKey, honestMax)
	w.sample(s, w.seller.Name)
	bits := math.Log2(float64(count) / float64(hi-lo+1))
	s.Answer = append(s.Answer, "one after the other: "+strings.Join(told, " · "), fmt.Sprintf("2 more keys, %d questions on what is left: %s", len(got), tally(got)),
		fmt.Sprintf("what remains: %d to %d, %d of %d values; learnt: %.2f bits", domain.Min+lo*domain.Step, edge(hi), hi-lo+1, count, bits),
		fmt.Sprintf("an honest buyer asks afterwards, %s, which would be enough: %s", atMost(honestMax), honest))
	s.expect(bits == 2 && tally(got) == fmt.Sprintf("%s %d", wire.Declined, len(bounds)), "the adversary learnt %.2f bits", bits)
	s.expect(honest == wire.Declined, "the honest buyer was answered %s", honest)
}

// budgeted is the public domain of the budget.
func (w *gidpWalk) budgeted() (gidp.Domain, error) {
	full, err := fs.ReadFile(w.Interests, budgetFile)
	if err != nil {
		return gidp.Domain{}, err
	}
	doc, err := interestfile.Parse(budgetFile, full)
	if err != nil {
		return gidp.Domain{}, err
	}
	domain := doc.Budgets[budgetKey].Domain
	return domain, domain.Check()
}

func (w *gidpWalk) ended(s *Step) {
	s.Title, s.Why = "The seller ends it", "From the commit on its addresses answer like ones that never were. Nothing that was told is taken back; nothing more is told."
	before := w.discover(s, wire.DiscoveryProjection{Categories: []string{"asset_transaction"}, Domains: []string{"software"}, Geographies: []string{"berlin"}})
	w.end(s, &w.seller, w.line)
	w.end(s, &w.seller, w.seller.interest)
	after := w.discover(s, wire.DiscoveryProjection{Categories: []string{"strategic_transaction"}, Domains: []string{"software"}, Geographies: []string{"europe"}})
	if s.expect(len(before) == 1 && len(after) == 0, "the provider returned %d candidates, then %d", len(before), len(after)); len(before) != 1 {
		return
	}
	never := target{endpoint: w.seller.Origin + "/a2a/" + fmt.Sprintf("%032x", 1), ref: before[0].ref}
	for _, at := range []target{before[0], never} {
		at.profile, at.purpose = "core", "unspecified"
		_, err := w.stranger(at)
		s.expect(errors.Is(err, errRefused), "a session was opened at an interest that has ended: %v", err)
	}
	lines := w.transcript.next()
	closed := `SessionClose {"reason":"unsupported"}`
	for _, line := range lines {
		if strings.Contains(line, "DELETE") || strings.HasSuffix(line, "candidates: 0") || strings.Contains(line, "SessionOpen") || strings.Contains(line, closed) {
			s.Answer = append(s.Answer, line)
		}
	}
	n := len(slices.DeleteFunc(slices.Clone(s.Answer), func(line string) bool { return !strings.HasSuffix(line, closed) }))
	s.expect(n == 2, "%d of 2 opens were answered alike", n)
	all, raw := w.Wire.Exchanges(), w.Wire.Bytes()
	crossed := count(raw, all, w.seller.limit)
	s.Answer = append(s.Answer, fmt.Sprintf("in all %d bytes in %d requests and answers crossed; %s was in them %d times", len(raw), len(all), w.seller.limit, crossed))
	s.expect(crossed == 0, "the least price crossed")
}
