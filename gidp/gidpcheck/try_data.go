package gidpcheck

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/provider"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// What the criteria rest on outside of a session: policy, objects, projections, providers, budgets, the carrier, the threat model.

// classes is K3b.
func classes() error {
	var t trial
	for _, surface := range []gidp.Surface{gidp.Local, gidp.InSession, gidp.Network, gidp.Discovery, gidp.Public} {
		for _, gate := range []gidp.Gate{gidp.Ungated, gidp.NeedsConsent, gidp.NeedsPrincipalOK} {
			c, err := gidp.ParseClass(surface.String() + "/" + gate.String())
			legal := gate == gidp.Ungated || surface != gidp.Local && surface != gidp.Public
			t.want((err == nil) == legal && (err != nil || c == gidp.Class{Surface: surface, Gate: gate}), "%s/%s reads as %v, %v", surface, gate, c, err)
		}
	}
	for _, text := range []string{"secret", "session/maybe", "never/consent", "", "Session"} {
		_, err := gidp.ParseClass(text)
		t.want(err != nil, "%q is a class", text)
	}
	e := gidp.Entry{"unknown_agent": gidp.Never, "verified_agent": {Surface: gidp.InSession}, "member:guild": {Surface: gidp.Discovery}}
	t.want(e.For(gidp.Counterparty{}) == gidp.Never, "an unknown agent gets more than its entry")
	t.want(e.For(gidp.Counterparty{Verified: true, Member: []string{"guild"}}) == gidp.Class{Surface: gidp.InSession}, "the most protective entry does not win")
	t.want(gidp.Entry(nil).For(gidp.Counterparty{Verified: true}) == gidp.EvaluationOnly, "an attribute without an entry is not evaluation_only")
	s := met()
	s.discloses(s.B, "hidden", wire.Refused) // held, and not listed
	return errors.Join(t.err, s.err)
}

// projection is K4.
func projection() error {
	i := holder("b")
	i.Attributes["category"], i.Attributes["domain"], i.Attributes["geography"], i.Attributes["place"] = jcs.Raw(`"trade"`), jcs.Raw(`"optics"`), jcs.Raw(`"vale"`), jcs.Raw(`"harbour"`)
	i.Policy.Entries["category"], i.Policy.Entries["domain"] = told, agreed
	i.Policy.Derivatives = map[string]interest.Derivative{"geographies": {From: "place", Cut: []string{"north", "south"}, Class: told[""]}}
	to := interest.Projection{ProjectionID: "p-1", Endpoint: "https://agents.example/a2a/1", ExpiresAt: Epoch.AddDate(0, 0, 30)}
	made := func() (string, error) {
		o, err := i.Project(market(), to, false)
		if err != nil {
			return "", err
		}
		data, err := wire.Encode(o)
		return string(data), err
	}
	var t trial
	got, err := made()
	t.want(err == nil && strings.Contains(got, `"categories":["trade"]`) && strings.Contains(got, `"geographies":["north"]`), "%s, %v", got, err)
	for _, word := range []string{"optics", "vale", "harbour", "person-b", "session_id", "direction", "interest_ref"} {
		t.want(!strings.Contains(got, word), "%q is in a projection: %s", word, got)
	}
	for _, word := range []string{`"session_id":"s"`, `"principal_identity":"x"`, `"attributes":{}`} {
		_, err := wire.Decode([]byte(strings.Replace(got, "{", "{"+word+",", 1)))
		t.want(err != nil, "a projection with %s is read", word)
	}
	i.Policy.Derivatives["geographies"] = interest.Derivative{From: "place", Cut: []string{"north", "south"}, Class: inside[""]}
	got, err = made()
	t.want(err == nil && !strings.Contains(got, "north"), "what is for sessions is in a projection: %s, %v", got, err)
	i.Policy.Entries["category"] = inside
	_, err = made()
	t.want(errors.Is(err, interest.ErrNothing), "a projection without a retrieval attribute: %v", err)
	i.Policy.Entries["category"], i.Authority[gidp.PublishProjection] = told, gidp.Approval
	_, err = made()
	t.want(errors.Is(err, interest.ErrNotAllowed), "a projection without its authority: %v", err)
	return t.err
}

// fixed is a source of bytes for identifiers that nobody has to keep secret.
type fixed struct{ n byte }

func (f *fixed) Read(p []byte) (int, error) {
	for i := range p {
		f.n++
		p[i] = f.n
	}
	return len(p), nil
}

// desk is a provider and what is asked of it.
type desk struct {
	trial
	*provider.Provider
	now time.Time
}

const deskLatency = time.Minute

func newDesk() *desk {
	d := &desk{now: Epoch}
	d.Provider, d.err = provider.New(provider.Config{Secret: [32]byte{1}, Random: &fixed{}, Latency: deskLatency}, nil)
	return d
}

func called(n byte) provider.Caller { return provider.Caller{Key: provider.Thumbprint{n}} }

func offer(n int, domain string, expires time.Time) *provider.Publication {
	return &provider.Publication{Projection: &wire.DiscoveryProjection{ExpiresAt: expires, ProjectionID: fmt.Sprintf("p-%d", n),
		Endpoint: fmt.Sprintf("https://agents.example/a2a/%d", n), Domains: []string{domain}}}
}

// keep applies a row that the provider judged.
func (d *desk) keep(row provider.Row, err error) provider.Row {
	d.want(err == nil, "%v", err)
	d.then(func() error { return d.Apply(row) })
	return row
}

// found are the references that a query gives.
func (d *desk) found(domain string) (refs []string) {
	if d.err != nil {
		return nil
	}
	page, err := d.Candidates(d.now, called(9), &provider.Query{Projection: offer(0, domain, d.now.Add(time.Hour)).Projection, Limit: 10})
	d.want(err == nil, "%v", err)
	for _, c := range page.Candidates {
		refs = append(refs, c.Ref.String())
		at, err := d.Resolve(d.now, called(9), c.CandidateRef)
		d.want(err == nil && at.Ref == c.Ref && at.URL != "", "a candidate does not resolve: %v", err)
		_, err = d.Resolve(d.now, called(8), c.CandidateRef)
		d.want(err != nil, "a candidate resolves for another querent")
	}
	return refs
}

// providerLife is K5.
func providerLife() error {
	d := newDesk()
	if d.err != nil {
		return d.err
	}
	later := d.now.AddDate(0, 0, 30)
	one := d.keep(d.Publish(d.now, called(1), offer(1, "optics", later)))
	two := d.keep(d.Publish(d.now, called(2), offer(2, "optics", later)))
	d.want(len(d.found("optics")) == 2, "what was published is not found")
	changed := d.keep(d.Update(d.now, called(1), one.Ref, offer(1, "acoustics", later)))
	d.want(changed.Ref == one.Ref && slices.Equal(d.found("optics"), []string{two.Ref.String()}) && len(d.found("acoustics")) == 1, "an update is not what is found")
	row, change, ack, err := d.Withdraw(d.now, called(2), two.Ref)
	d.want(err == nil && change && ack.EffectiveBy.Sub(d.now) <= deskLatency && d.Info().Latency == deskLatency,
		"a withdrawal is not acknowledged within the published latency: %v", err)
	d.keep(row, nil)
	d.want(len(d.found("optics")) == 0, "what was withdrawn is found")
	return d.err
}

// providerReferenceAndExpiry is K5a.
func providerReferenceAndExpiry() error {
	d := newDesk()
	if d.err != nil {
		return d.err
	}
	row := d.keep(d.Publish(d.now, called(1), offer(1, "optics", d.now.AddDate(0, 0, 1))))
	_, change, _, err := d.Withdraw(d.now, called(2), row.Ref)
	d.want(err != nil && !change, "a projection is withdrawn by a key that is not its own")
	_, _, _, err = d.Withdraw(d.now, called(1), provider.Ref{9})
	d.want(err == nil && len(d.found("optics")) == 1, "another reference withdraws it: %v", err)
	d.now = d.now.AddDate(0, 0, 1)
	d.want(len(d.found("optics")) == 0, "what has expired is found")
	_, err = d.Publish(d.now, called(3), offer(3, "optics", d.now))
	d.want(err != nil, "what has expired is published")
	return d.err
}

// samples are one object of each of the twelve types.
func samples() []wire.Object {
	h := wire.Head{SessionID: "s-1", ExpiresAt: Epoch}
	return []wire.Object{
		&wire.DiscoveryProjection{ExpiresAt: Epoch, ProjectionID: "p-1", Endpoint: "https://agents.example/a2a/1", Domains: []string{"optics"}, Relation: []string{wire.Complementary}},
		&wire.SessionOpen{Head: h, RequestID: "r-1", Initiator: "i", Purpose: "trade", MaxDepth: wire.DepthSession, Profile: "core", Features: []wire.Feature{wire.FeatureDependencies}},
		&wire.SessionAccept{Head: h, RequestRef: "r-1", Responder: "r", MaxDepth: wire.DepthNetwork, Profile: "core"},
		&wire.SessionClose{Head: h, Reason: wire.ReasonUnspecified, RequestRef: "r-1"},
		&wire.CompatibilityRequest{Head: h, RequestID: "r-2", Claims: []wire.Claim{claim("c", "k", wire.OpEquals, `1`)}, AllowedResults: wire.AllResults()},
		&wire.CompatibilityResponse{Head: h, RequestRef: "r-2", Results: []wire.Outcome{{ClaimID: "c", Key: "k", Result: wire.Unknown}},
			SessionStatus: wire.StatusOpen, Permitted: []wire.NextAction{wire.NextClose}},
		&wire.DisclosureRequest{Head: h, RequestID: "r-3", Attribute: "k", RequestedSurface: "session", IntendedUse: wire.UseEvaluation, Retention: wire.RetainSession},
		&wire.DisclosureResponse{Head: h, RequestRef: "r-3", Attribute: "k", Status: wire.Granted, Value: jcs.Raw(`1`)},
		&wire.ConsentRequest{Head: h, RequestID: "r-4", Action: wire.ActHandoff, Scope: []string{"urn:desk"}},
		&wire.ConsentResponse{Head: h, RequestRef: "r-4", Status: wire.Granted, GrantedScope: []string{"urn:desk"}},
		&wire.Opportunity{Head: h, Structure: "any", IdentityStatus: map[string]wire.IdentityStatus{"initiator": wire.IdentityNotRequested}},
		&wire.Handoff{Head: h, Target: wire.Target{Kind: wire.TargetHuman}, AuthorizedScope: []wire.Scope{"INTRODUCE"}, RequiresPresence: true},
	}
}

// twelveObjects is K6: each object is written and read to the same bytes, no member is missing, and none is added.
func twelveObjects() error {
	var t trial
	list := samples()
	t.want(len(list) == len(wire.Types()), "%d types", len(wire.Types()))
	for _, o := range list {
		data, err := wire.Encode(o)
		t.want(err == nil, "%s: %v", o.Type(), err)
		back, err := wire.Decode(data)
		t.want(err == nil, "%s: %v", o.Type(), err)
		if t.err != nil {
			return t.err
		}
		again, err := wire.Encode(back)
		t.want(err == nil && bytes.Equal(data, again), "%s: %s became %s", o.Type(), data, again)
		_, err = wire.Decode(append([]byte(`{"extra":1,`), data[1:]...))
		t.want(err != nil, "%s is read with a member that the protocol does not know", o.Type())
		members, err := jcs.Members(data)
		t.want(err == nil && len(members) > 3, "%s: %v", o.Type(), err)
		_, err = wire.Decode(without(members, "expires_at"))
		t.want(err != nil, "%s is read without expires_at", o.Type())
	}
	return t.err
}

// without writes an object without one of its members.
func without(members []jcs.Member, name string) []byte {
	return jcs.AppendMembers(nil, slices.DeleteFunc(slices.Clone(members), func(m jcs.Member) bool { return m.Name == name }))
}

// closedVocabularies is K13: no word that the protocol does not know is read where it has a vocabulary.
func closedVocabularies() error {
	var t trial
	for _, o := range samples() {
		data, err := wire.Encode(o)
		t.want(err == nil, "%v", err)
		for _, word := range []string{`"gidp/0.1"`, `"session"`, `"network"`, `"dependency_primitives"`, `"unspecified"`, `"equals"`, `"compatible"`, `"unknown"`,
			`"open"`, `"close"`, `"compatibility_evaluation"`,
			`"session_only"`, `"granted"`, `"handoff"`, `"not_requested"`, `"human"`, `"INTRODUCE"`} {
			text := string(data)
			if !strings.Contains(text, word) {
				continue
			}
			_, err := wire.Decode([]byte(strings.Replace(text, word, `"sometimes"`, 1)))
			t.want(err != nil, "%s is read with another word than %s", o.Type(), word)
		}
	}
	return t.err
}

// noFalseAnswer is K7: for every value of a domain and every edge that can be asked, a definite answer is true of the value.
func noFalseAnswer() error {
	var t trial
	for v := 0; v < 1000; v += 37 {
		i := party("b", map[string]string{"price": fmt.Sprint(v)})
		view := i.View(market(), interest.Towards{Active: true, Depth: wire.DepthSession})
		var claims []wire.Claim
		var truth []bool
		for _, at := range []int{0, 37, 99, 100, 101, 299, 300, 370, 599, 600, 999, v} {
			claims = append(claims, claim(fmt.Sprint("c", len(claims)), "price", wire.OpOverlaps, fmt.Sprintf(`{"min":%d}`, at)),
				claim(fmt.Sprint("d", len(claims)), "price", wire.OpOverlaps, fmt.Sprintf(`{"max":%d}`, at)), claim(fmt.Sprint("e", len(claims)), "price",
					wire.OpEquals, fmt.Sprint(at)))
			truth = append(truth, v >= at, v <= at, v == at)
		}
		answers, _ := gidp.Evaluate(view, gidp.Ledger{}, gidp.Query{Claims: claims, Allowed: wire.AllResults()})
		for n, a := range answers {
			yes := a.Result == wire.Compatible || a.Result == wire.Conditionally
			t.want(!(yes && !truth[n]) && !(a.Result == wire.Incompatible && truth[n]), "%s %s of %d is answered %s", claims[n].Operator, claims[n].Value, v, a.Result)
		}
	}
	return t.err
}

// budget is K14: two bits for everybody together, in as many sessions as they like.
func budget() error {
	domain := gidp.Domain{Min: 0, Max: 31, Step: 1}
	row, err := gidp.NewRow(domain, 2)
	if err != nil {
		return err
	}
	ledger := gidp.Ledger{{Lineage: "line-b", Quantity: "stock"}: row}
	want := []wire.Result{wire.Declined, wire.Compatible, wire.Incompatible, wire.Declined, wire.Compatible} // the first could have told three bits, and would have told none
	for n, value := range []string{`{"min":28}`, `{"min":16}`, `{"min":24}`, `{"min":20}`, `{"min":16}`} {
		b := holder("b")
		b.Attributes["stock"], b.Budgets = jcs.Raw(`17`), map[string]interest.Budget{"stock": {Bits: 2, Domain: domain}}
		t := &trial{World: NewWorld(Core(), holder("a"), b)}
		t.B.Ledger = ledger
		t.then(func() error { return t.Open("trade", wire.DepthSession) })
		t.answers(t.B, "stock", wire.OpOverlaps, value, want[n])
		if t.err != nil {
			return t.err
		}
		ledger = t.B.Ledger
	}
	for _, row := range ledger {
		if row.Spent() > 2 || row.Spent() < 2 {
			return fmt.Errorf("%v bits were told, want 2", row.Spent())
		}
		if row.Restored().Spent() < row.Limit {
			return errors.New("a restore from a backup gives a budget back")
		}
	}
	t := met() // a replica without the store
	t.B.Interest.Attributes["stock"], t.B.Interest.Budgets = jcs.Raw(`17`), map[string]interest.Budget{"stock": {Bits: 2, Domain: domain}}
	t.B.Ledger = gidp.Ledger{}
	t.answers(t.B, "stock", wire.OpOverlaps, `{"min":16}`, wire.Declined)
	return t.err
}

// absent is a host that nobody may reach.
type absent struct{ reached int }

var errAbsent = &gidpa2a.Refusal{Code: gidpa2a.Unavailable}

func (a *absent) Receive(context.Context, gidpa2a.Message) (gidpa2a.Task, error) {
	a.reached++
	return gidpa2a.Task{}, errAbsent
}

func (a *absent) Task(context.Context, string, string, string) (gidpa2a.Task, error) {
	a.reached++
	return gidpa2a.Task{}, errAbsent
}

func (a *absent) Wait(context.Context, string, uint64) error { return errAbsent }

func (a *absent) Key(context.Context, string) (ed25519.PublicKey, bool, error) {
	return nil, false, errAbsent
}

// written is an answer in memory.
type written struct {
	header http.Header
	status int
	bytes.Buffer
}

func (w *written) Header() http.Header { return w.header }

func (w *written) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// carrier is K13b.
func carrier() error {
	host := &absent{}
	const origin, one, two = "https://agents.example", "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	h, err := gidpa2a.NewHandler(gidpa2a.Options{Host: host, Origin: origin, Profiles: []string{"core"}, Now: func() time.Time { return Epoch }})
	if err != nil {
		return err
	}
	ask := func(method, path, body string) (*written, error) {
		r, err := http.NewRequestWithContext(context.Background(), method, origin+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("A2A-Version", "1.0")
		r.Header.Set("Content-Type", "application/json")
		w := &written{header: http.Header{}}
		h.ServeHTTP(w, r)
		return w, nil
	}
	const card = "/.well-known/agent-card.json"
	a, err := ask(http.MethodGet, "/a2a/"+one+card, "")
	if err != nil {
		return err
	}
	b, err := ask(http.MethodGet, "/a2a/"+two+card, "")
	if err != nil {
		return err
	}
	if a.Len() == 0 || strings.ReplaceAll(a.String(), one, two) != b.String() {
		return errors.New("the cards of two references differ in more than their addresses")
	}
	open, err := wire.Encode(&wire.SessionOpen{Head: wire.Head{SessionID: "s-1", ExpiresAt: Epoch.Add(time.Hour)}, RequestID: "r-1", Initiator: "x",
		MaxDepth: wire.DepthSession, Profile: "core"})
	if err != nil {
		return err
	}
	said, err := ask(http.MethodPost, "/a2a/"+one+"/rpc",
		`{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"gidp"}],"metadata":{"`+
			gidpa2a.ExtensionURI+`/object":`+string(open)+`}}}}`)
	switch {
	case err != nil:
		return err
	case host.reached > 0:
		return errors.New("an object has an effect though the extension was not activated")
	case said.header.Get("A2A-Extensions") != "" || strings.Contains(said.String(), gidpa2a.ExtensionURI):
		return errors.New("the extension answers though it was not activated")
	}
	t := &trial{World: NewWorld(Core(), holder("a"), holder("b"))} // activated, and the features are still what both name
	t.A.Config.Features, t.B.Config.Features = nil, []wire.Feature{wire.FeatureDependencies, wire.FeatureMultiParty}
	t.then(func() error { return t.Open("trade", wire.DepthSession) })
	t.both(session.Probing)
	t.want(len(t.A.State.Features) == 0 && len(t.B.State.Features) == 0, "a feature is in force that only one side named")
	return t.err
}

// topics are the headings that a threat model needs (sec. 16), by a word that stands in each.
var topics = []string{"asset", "adversar", "cover", "not cover", "budget", "existence", "projection", "provider", "fraud", "replay", "timing", "injection",
	"custody", "market", "denial", "residual"}

// ThreatModel reads a published threat model (Markdown) and says which of the sixteen topics of sec. 16 has no heading, and whether the one on custody says
// anything. It judges the form and never whether what stands there is true.
func ThreatModel(document []byte) error {
	sections := map[string]int{} // bytes below each heading
	heading := ""
	for line := range strings.Lines(string(document)) {
		if strings.HasPrefix(line, "#") {
			heading = strings.ToLower(line)
			sections[heading] = 0
			continue
		}
		sections[heading] += len(strings.TrimSpace(line))
	}
	var missing []string
	for _, topic := range topics {
		held := false
		for heading, size := range sections {
			held = held || strings.Contains(heading, topic) && (topic != "custody" || size > 0)
		}
		if !held {
			missing = append(missing, topic)
		}
	}
	if missing != nil {
		return fmt.Errorf("the threat model says nothing under a heading on: %s", strings.Join(missing, ", "))
	}
	return nil
}

// threatModelForm is what of K15 can be executed without a deployment: a document that lacks one topic is told from a complete one.
func threatModelForm() error {
	whole := ""
	for _, topic := range topics {
		whole += "## " + topic + "\n\nWho holds what.\n\n"
	}
	if err := ThreatModel([]byte(whole)); err != nil {
		return err
	}
	for _, cut := range []string{"## custody\n", "## denial\n", "## residual\n"} {
		if ThreatModel([]byte(strings.Replace(whole, cut, "", 1))) == nil {
			return errors.New("a threat model without " + strings.TrimSpace(cut) + " passes")
		}
	}
	if ThreatModel([]byte(strings.Replace(whole, "## custody\n\nWho holds what.\n", "## custody\n", 1))) == nil {
		return errors.New("an empty statement on custody passes")
	}
	return nil
}
