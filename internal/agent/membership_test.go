package agent

import (
	"context"
	"slices"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/attestation"
	"sayso/gidp/interest"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
	"sayso/jwk"
	"sayso/report"
)

// guildProvider notes the membership that each call shows, and under which key.
type guildProvider struct {
	*fakeProvider
	shown []string
	keys  []*jwk.PrivateKey
}

func (g *guildProvider) note(ctx context.Context, key *jwk.PrivateKey) {
	g.shown, g.keys = append(g.shown, providerhttp.Membership(ctx)), append(g.keys, key)
}

func (g *guildProvider) Publish(ctx context.Context, at string, key *jwk.PrivateKey, p providerhttp.Publication) (string, time.Duration, error) {
	g.note(ctx, key)
	return g.fakeProvider.Publish(ctx, at, key, p)
}

func (g *guildProvider) Withdraw(ctx context.Context, at string, key *jwk.PrivateKey, ref string) (time.Time, error) {
	g.note(ctx, key)
	return g.fakeProvider.Withdraw(ctx, at, key, ref)
}

func (g *guildProvider) Candidates(ctx context.Context, at string, key *jwk.PrivateKey, q providerhttp.Query) (providerhttp.Page, error) {
	g.note(ctx, key)
	return g.fakeProvider.Candidates(ctx, at, key, q)
}

const (
	insideAt  = "https://provider.guild.example"
	outsideAt = "https://provider.example"
)

// guildOffice is an office whose interest keeps its place for the guild, and that takes one provider to be inside it.
func guildOffice(t *testing.T) (o *office, p *guildProvider, id string, by *jwk.PrivateKey) {
	t.Helper()
	o = newOffice(t)
	p = &guildProvider{fakeProvider: o.provider}
	o.restart(func(options *Options) { options.Providers = p })
	doc := officeInterest()
	doc.Policy.Networks = []string{"guild.example"}
	doc.Policy.Entries["geography"] = officeClass(gidp.Network, 0)
	id = o.add(doc)
	by = issuer(t, "guild")
	if _, err := o.TrustProvider(t.Context(), guild, insideAt+"/gidp/v1/"); err != nil {
		t.Fatal(err)
	}
	return o, p, id, by
}

// What the policy keeps for a network appears at a provider inside it, and nowhere else, whatever a provider says of itself (P-14).
func TestANetworkAttributeIsPublishedInsideItsDomain(t *testing.T) {
	o, p, id, _ := guildOffice(t)
	for _, at := range []string{insideAt, outsideAt} {
		if _, err := o.Activate(t.Context(), id, at); err != nil {
			t.Fatal(err)
		}
		if err := o.work(durable.WorkProjection); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Explore(t.Context(), id, at); err != nil {
			t.Fatal(err)
		}
		if err := o.work(durable.WorkExploration); err != nil {
			t.Fatal(err)
		}
	}
	for i, inside := range []bool{true, false} {
		published, asked := p.kept[p.order[i]].pub.Projection, p.queries[i].Projection
		if got := slices.Equal(published.Geographies, []string{"germany"}) && slices.Equal(asked.Geographies, []string{"germany"}); got != inside || (len(published.Geographies)+len(asked.Geographies) > 0) != inside {
			t.Errorf("%d: published %v, asked %v", i, published.Geographies, asked.Geographies)
		}
		if len(published.Domains) != 1 {
			t.Errorf("%v", published.Domains)
		}
	}
	// Taken out of the domain, the next one is published as anywhere.
	if _, err := o.Distrust(t.Context(), guild, insideAt); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Suspend(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if len(p.order) < 4 {
		t.Fatalf("%d publications", len(p.order))
	}
	for _, thumb := range p.order[2:] {
		if got := p.kept[thumb].pub.Projection.Geographies; len(got) != 0 {
			t.Errorf("%v", got)
		}
	}
}

// A membership is shown to a provider inside the domain, a fresh one for each projection and each search, and to no other provider (P-2).
func TestAMembershipIsShownInsideItsDomain(t *testing.T) {
	o, p, id, by := guildOffice(t)
	one := &party{t: t, agent: o.Agent, interest: id}
	one.attest(by, guild, 3)
	for _, at := range []string{insideAt, outsideAt} {
		if _, err := o.Activate(t.Context(), id, at); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Explore(t.Context(), id, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.work(durable.WorkProjection, durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Suspend(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{} // by key
	for i, text := range p.shown {
		key := jwk.Thumbprint(p.keys[i].Public().Public)
		if text == "" {
			continue
		}
		if before := texts[key]; before != "" && before != text {
			t.Error("one key shows two memberships")
		}
		texts[key] = text
		if _, err := attestation.Verify(text, by.Public().Public, attestation.Binding{Provider: insideAt, Key: key}, o.clock.now()); err != nil {
			t.Error(err)
		}
	}
	if len(texts) != 2 || len(p.shown) != 6 || one.left() != 1 {
		t.Errorf("%d memberships in %d calls, %d left", len(texts), len(p.shown), one.left())
	}
}

// A publication whose answer was lost may stand at a provider that no longer takes the membership: it is not given up before it is withdrawn.
func TestALostPublicationOutlivesItsMembership(t *testing.T) {
	o, p, id, _ := guildOffice(t)
	members := &providerhttp.Refusal{Status: 403, Code: providerhttp.CodeMembers}
	p.lost, p.fail = true, []error{context.DeadlineExceeded}
	if _, err := o.Activate(t.Context(), id, insideAt); err != nil {
		t.Fatal(err)
	}
	_ = o.work(durable.WorkProjection)
	if _, err := o.Suspend(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	p.lost, p.fail = false, []error{members}
	stands := func() bool { return len(p.order) == 1 && !p.kept[p.order[0]].withdrawn }
	for _, left := range []bool{true, false} {
		_ = o.work(durable.WorkProjection)
		v, err := o.Interest(t.Context(), id)
		if err != nil || len(v.Projections) != 1 || stands() != left || (v.Projections[0].State != string(durable.Withdrawn)) != left {
			t.Errorf("%t: %+v %v", left, v.Projections, err)
		}
		o.clock.move(time.Hour)
	}
}

// The check warns of a property that nobody is believed about, and of no other.
func TestOutlookKnowsWhoIsBelieved(t *testing.T) {
	o := newOffice(t)
	doc := officeInterest()
	doc.Policy.Networks = []string{"guild.example"}
	doc.Policy.Entries["arr_eur"] = gidp.Entry{"": gidp.EvaluationOnly, "verified_agent": gidp.Class{Surface: gidp.InSession}}
	doc.Policy.Entries["market_access"] = officeClass(gidp.Network, 0)
	warned := func(doc *interest.Interest) (out []string) {
		t.Helper()
		got, err := o.Check(t.Context(), doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range got.Report.Findings {
			if f.Rule == "GI-EVIDENCE" && f.Outcome == report.Warning {
				out = append(out, f.Place)
			}
		}
		return out
	}
	if got := warned(doc); !slices.Equal(got, []string{"policy.arr_eur", "policy.market_access"}) {
		t.Errorf("%v", got)
	}
	by := issuer(t, "guild").Public().Public
	for i, property := range []string{guild, "verified_agent"} {
		if _, err := o.Trust(t.Context(), property, by); err != nil {
			t.Fatal(err)
		}
		if got := warned(doc); len(got) != 1-i {
			t.Errorf("%s: %v", property, got)
		}
	}
	doc.Policy.Conditions = map[string]interest.Condition{"management_continuity": {Verify: []string{guild, "attested:broker", "a word"}}}
	if got := warned(doc); !slices.Equal(got, []string{"policy.conditions.management_continuity"}) {
		t.Errorf("a condition: %v", got)
	}
	doc.Policy.Conditions = nil
	doc.Policy.Networks = nil
	if got := warned(doc); !slices.Equal(got, []string{"policy.market_access"}) {
		t.Errorf("without a network: %v", got)
	}
}

// knowing is a provider that says which retrieval attributes it has.
type knowing struct {
	*fakeProvider
	dimensions []string
	down       error
}

func (k *knowing) Info(context.Context, string) (providerhttp.Info, error) {
	return providerhttp.Info{Dimensions: k.dimensions}, k.down
}

// Retrieval attributes go beside a projection and a query, those that the provider has, and a provider that cannot be asked is asked later.
func TestRetrievalAttributesGoBeside(t *testing.T) {
	o := newOffice(t)
	p := &knowing{fakeProvider: o.provider, dimensions: []string{"domain", "market_access"}, down: context.DeadlineExceeded}
	o.restart(func(options *Options) { options.Providers = p })
	doc := officeInterest()
	for _, name := range []string{"market_access", "sector"} {
		doc.Policy.Derivatives[name] = interest.Derivative{From: name, Cut: []string{"europe", "software"}, Class: gidp.Class{Surface: gidp.Discovery}}
	}
	outlook, err := o.Check(t.Context(), doc)
	if err != nil || len(outlook.Public.Beside) != 2 {
		t.Fatalf("%+v %v", outlook.Public, err)
	}
	id := o.add(doc)
	if _, err := o.Activate(t.Context(), id, outsideAt); err != nil {
		t.Fatal(err)
	}
	_ = o.work(durable.WorkProjection)
	if len(p.order) != 0 {
		t.Error("published without knowing what the provider has")
	}
	p.down = nil
	o.clock.move(time.Hour)
	if err := o.work(durable.WorkProjection); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Explore(t.Context(), id, outsideAt); err != nil {
		t.Fatal(err)
	}
	if err := o.work(durable.WorkExploration); err != nil {
		t.Fatal(err)
	}
	if len(p.order) != 1 || len(p.queries) != 1 {
		t.Fatalf("%d published, %d asked", len(p.order), len(p.queries))
	}
	for _, got := range []map[string][]string{p.kept[p.order[0]].pub.Attributes, p.queries[0].Attributes} {
		if len(got) != 1 || !slices.Equal(got["market_access"], []string{"europe"}) {
			t.Errorf("%v", got)
		}
	}
}
