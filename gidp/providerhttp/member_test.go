package providerhttp_test

import (
	"crypto/ed25519"
	"net/http"
	"slices"
	"testing"
	"time"

	"sayso/gidp/attestation"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/jwk"
)

// shown is a membership under a key, as a client carries it.
func shown(t testing.TB, issuer *jwk.PrivateKey, property, origin string, key *jwk.PrivateKey, now time.Time) string {
	t.Helper()
	holder := newKey(t)
	credential, err := attestation.Issue(attestation.Claims{Property: property, Confirm: holder.Public().Public, Expires: attestation.Expiry(now, 1)}, issuer, now)
	if err != nil {
		t.Fatal(err)
	}
	text, err := attestation.Present(credential, holder, attestation.Binding{Provider: origin, Key: jwk.Thumbprint(key.Public().Public)}, now)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A provider inside a trust domain serves those whose membership holds for it and for the key of the request, and nobody else.
func TestMembership(t *testing.T) {
	clock := &clock{at: start}
	issuer, other, key := newKey(t), newKey(t), newKey(t)
	serve := func(tiers map[string]provider.Limits) (h http.Handler, origin string) {
		o := options(newRows(), clock.now)
		o.TrustDomain, o.MemberIssuers, o.Tiers = "guild.example", []ed25519.PublicKey{issuer.Public().Public}, tiers
		return open(t, o).Handler(), o.Origin
	}
	members, origin := serve(nil)
	ask := func(h http.Handler, memberships ...string) int {
		r := publishing(t, key, clock.now(), projection(t, clock.now(), "germany")).request(t)
		for _, m := range memberships {
			r.Header.Add("Gidp-Membership", m)
		}
		return answer(h, r).status
	}
	good := func() string { return shown(t, issuer, "member:guild.example", origin, key, clock.now()) }
	for name, c := range map[string]struct {
		memberships []string
		status      int
	}{
		"a member":        {[]string{good()}, http.StatusCreated},
		"nothing":         {nil, http.StatusForbidden},
		"two":             {[]string{good(), good()}, http.StatusForbidden},
		"another issuer":  {[]string{shown(t, other, "member:guild.example", origin, key, clock.now())}, http.StatusForbidden},
		"another domain":  {[]string{shown(t, issuer, "member:guild.example.evil", origin, key, clock.now())}, http.StatusForbidden},
		"of no domain":    {[]string{shown(t, issuer, "verified_agent", origin, key, clock.now())}, http.StatusForbidden},
		"another address": {[]string{shown(t, issuer, "member:guild.example", "https://elsewhere.example", key, clock.now())}, http.StatusForbidden},
		"another key":     {[]string{shown(t, issuer, "member:guild.example", origin, other, clock.now())}, http.StatusForbidden},
		"unreadable":      {[]string{"x~y"}, http.StatusForbidden},
	} {
		if status := ask(members, c.memberships...); status != c.status {
			t.Errorf("%s: %d, want %d", name, status, c.status)
		}
	}
	text := good()
	clock.step(15 * 24 * time.Hour)
	if status := ask(members, text); status != http.StatusForbidden {
		t.Errorf("one that is over: %d", status)
	}
	// Where others are served too, a membership is a class of its own.
	one := provider.Limits{1, 1, 1, 1}
	mixed, _ := serve(map[string]provider.Limits{"": one, providerhttp.MemberTier: provider.DefaultLimits})
	text = good()
	for i, c := range []struct {
		memberships []string
		status      int
	}{{nil, http.StatusCreated}, {nil, http.StatusTooManyRequests}, {[]string{text}, http.StatusCreated}} {
		if status := ask(mixed, c.memberships...); status != c.status {
			t.Errorf("request %d: %d, want %d", i, status, c.status)
		}
		clock.step(time.Second)
	}
}

func TestMembersNeedADomain(t *testing.T) {
	o := options(newRows(), func() time.Time { return start })
	o.MemberIssuers = []ed25519.PublicKey{newKey(t).Public().Public}
	if _, err := providerhttp.New(t.Context(), o); err == nil {
		t.Error("members of no domain")
	}
}

// The client shows what its context says, with every call.
func TestClientShowsAMembership(t *testing.T) {
	clock := &clock{at: start}
	issuer, key := newKey(t), newKey(t)
	p := serve(t, newRows(), clock.now, func(o *providerhttp.Options) {
		o.TrustDomain, o.MemberIssuers = "guild.example", []ed25519.PublicKey{issuer.Public().Public}
	})
	made := providerhttp.Publication{Projection: projection(t, clock.now(), "germany")}
	if _, _, err := p.client.Publish(t.Context(), p.origin, key, made); err == nil {
		t.Error("a stranger publishes")
	}
	ctx := providerhttp.WithMembership(t.Context(), shown(t, issuer, "member:guild.example", p.origin, key, clock.now()))
	ref, _, err := p.client.Publish(ctx, p.origin, key, made)
	if err != nil {
		t.Fatal(err)
	}
	// What it published it may take back when its membership has ended, and do nothing else.
	clock.step(15 * 24 * time.Hour)
	if _, _, err := p.client.Update(ctx, p.origin, key, ref, made); err == nil {
		t.Error("a member no more updates")
	}
	if _, err := p.client.Withdraw(t.Context(), p.origin, key, ref); err == nil {
		t.Error("withdrawn without a membership")
	}
	if _, err := p.client.Withdraw(ctx, p.origin, key, ref); err != nil {
		t.Error(err)
	}
}

// What profiles suggest for discovery is found by, beside the members of a projection.
func TestProfileAttributesAreFoundBy(t *testing.T) {
	clock := &clock{at: start}
	p := serve(t, newRows(), clock.now, nil)
	info := p.Info()
	for _, name := range []string{"role", "sector", "stage"} {
		if !slices.Contains(info.Dimensions, name) {
			t.Errorf("%s is not among %v", name, info.Dimensions)
		}
	}
	if info.Hierarchies["sector"] == "" || info.Hierarchies["stage"] != "" {
		t.Errorf("%v", info.Hierarchies)
	}
	for _, stage := range []string{"seed", "growth"} {
		if _, _, err := p.client.Publish(t.Context(), p.origin, newKey(t), providerhttp.Publication{Projection: projection(t, clock.now(), "germany"), Attributes: map[string][]string{"stage": {stage}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		attributes map[string][]string
		found      int
	}{{nil, 2}, {map[string][]string{"stage": {"seed"}}, 1}, {map[string][]string{"stage": {"seed", "growth"}}, 2}, {map[string][]string{"stage": {"late"}}, 0}, {map[string][]string{"role": {"cfo"}}, 2}} {
		page, err := p.client.Candidates(t.Context(), p.origin, newKey(t), providerhttp.Query{Projection: projection(t, clock.now(), "germany"), Attributes: c.attributes})
		if err != nil || len(page.Candidates) != c.found {
			t.Errorf("%v: %d found, want %d: %v", c.attributes, len(page.Candidates), c.found, err)
		}
	}
	_, _, err := p.client.Publish(t.Context(), p.origin, newKey(t), providerhttp.Publication{Projection: projection(t, clock.now(), "germany"), Attributes: map[string][]string{"ticket_eur": {"x"}}})
	refusal(t, err, provider.CodeRefused)
}
