package business_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/jcs"
)

func TestStanding(t *testing.T) {
	valid, verified := proof(), &business.OperatorVerification{Decision: "d", ConfirmedAt: now}
	lapsed := *valid
	lapsed.ValidUntil = now.Add(-time.Nanosecond)
	atEnd := *valid
	atEnd.ValidUntil = now
	noMethod, noHost, noEnd := *valid, *valid, *valid
	noMethod.Method, noHost.Host, noEnd.ValidUntil = "", "", time.Time{}
	for _, c := range []struct {
		name       string
		standing   business.Standing
		authorised bool
		tier       string
	}{
		{"nothing", business.Standing{}, false, "unverified"},
		{"proof", business.Standing{Proof: valid}, true, "domain_verified"},
		{"proof at its valid_until", business.Standing{Proof: &atEnd}, false, "unverified"},
		{"lapsed proof", business.Standing{Proof: &lapsed}, false, "unverified"},
		{"proof without method", business.Standing{Proof: &noMethod}, false, "unverified"},
		{"proof without host", business.Standing{Proof: &noHost}, false, "unverified"},
		{"proof without end", business.Standing{Proof: &noEnd}, false, "unverified"},
		{"operator verification", business.Standing{Verification: verified}, true, "identity_verified"},
		{"lapsed proof and verification", business.Standing{Proof: &lapsed, Verification: verified}, true, "identity_verified"},
		{"both", business.Standing{Proof: valid, Verification: verified}, true, "domain_verified"},
	} {
		for _, lifecycle := range []business.Lifecycle{business.Draft, business.Published, business.Paused, business.Withdrawn, ""} {
			for _, suspended := range []bool{false, true} {
				s := c.standing
				s.Lifecycle, s.Suspended = lifecycle, suspended
				want := c.authorised && lifecycle == business.Published && !suspended
				if s.Authorised(now) != c.authorised || s.IsPublished(now) != want {
					t.Errorf("%s, %s, suspended %v: authorised %v, published %v", c.name, lifecycle, suspended, s.Authorised(now), s.IsPublished(now))
				}
				p := full()
				p.Standing = s
				// Authority and publication are separate: whatever the lifecycle, the documents say what is proven.
				m := p.Manifest(site, now)
				if m.Verification.TrustTier != c.tier || m.Publisher.TrustTier != c.tier || m.Publication.Published != want {
					t.Errorf("%s, %s: manifest %s, %s, %v", c.name, lifecycle, m.Verification.TrustTier, m.Publisher.TrustTier, m.Publication.Published)
				}
				// XP-AUTHORITY-001
				domain := c.tier == "domain_verified"
				if m.Verification.DomainVerified != domain || (m.Verification.VerifiedHost != "") != domain || (m.Verification.Method != "") != domain ||
					m.Verification.ValidUntil.IsZero() == domain || m.Publisher.WebsiteVerified != domain || (m.Publisher.ProvenDomain != "") != domain {
					t.Errorf("%s: %+v", c.name, m.Verification)
				}
				if (m.Verification.BadgeText != "") != want || m.Publisher.AuthorityVerifiedAt.IsZero() == c.authorised {
					t.Errorf("%s, %s: badge %q, authority %v", c.name, lifecycle, m.Verification.BadgeText, m.Publisher.AuthorityVerifiedAt)
				}
			}
		}
	}
}

func TestXP_DISCOVERY_001_Base(t *testing.T) {
	for _, c := range []struct {
		country, locality, want string
		primary                 bool
	}{
		{"GB", "Leeds", "/gb/leeds/business/north-clinic", true},
		{"DE", "Bad Tölz", "/de/bad-toelz/business/north-clinic", true},
		{"GB", "Leeds", "/b/north-clinic", false},
		{"", "Leeds", "/b/north-clinic", true},
		{"GB", "", "/b/north-clinic", true},
		{"JP", "京都", "/b/north-clinic", true},
		{"GBR", "Leeds", "/b/north-clinic", true},
		{"..", "Leeds", "/b/north-clinic", true},
		{"t/", "Leeds", "/b/north-clinic", true},
	} {
		p := full()
		p.Profile.Locations = []business.Location{{ID: "other", CountryCode: "FR", Locality: "Lyon"}, {ID: "x", Primary: c.primary, CountryCode: c.country, Locality: c.locality}}
		if got := p.Base(); got != c.want {
			t.Errorf("%s %s %v: %s, want %s", c.country, c.locality, c.primary, got, c.want)
		}
	}
}

func TestLocators(t *testing.T) {
	p := full()
	e := site.Locators(p)
	want := business.Endpoints{
		Manifest:      "https://registry.example/t/north-clinic/.well-known/x-protocol/manifest.json",
		JWKS:          "https://registry.example/t/north-clinic/.well-known/x-protocol/jwks.json",
		Revocations:   "https://registry.example/t/north-clinic/.well-known/x-protocol/revocations.json",
		PublicProfile: "https://registry.example/gb/koenigs-canary/business/north-clinic",
		BulkExport:    "https://registry.example/gb/koenigs-canary/business/north-clinic/dump.jsonl",
		Sitemap:       "https://registry.example/gb/koenigs-canary/business/north-clinic/sitemap.xml",
		LLMsTxt:       "https://registry.example/gb/koenigs-canary/business/north-clinic/llms.txt",
	}
	if e != want {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
	if got := serving().Locators(p).MCP; got != "https://registry.example/t/north-clinic/mcp" {
		t.Errorf("mcp %q", got)
	}
	if got := serving().Locators(bare()).MCP; got != "" {
		t.Errorf("mcp without a tool: %q", got)
	}
	if got := site.RecordURL(p, "service", "a/b?"); got != want.PublicProfile+"/service/a%2Fb%3F" {
		t.Error(got)
	}
	if site.RegistryKeysURL() != "https://registry.example/.well-known/x-protocol/registry-keys.json" ||
		site.RegistryRevocationsURL() != "https://registry.example/.well-known/x-protocol/revocations.json" || site.QueryURL() != "https://registry.example/discovery/query" {
		t.Error(site.RegistryKeysURL(), site.RegistryRevocationsURL(), site.QueryURL())
	}
	own := site
	own.HostOrigins = map[string]string{"clinic.example": "https://clinic.example:8443", "other.example": "https://other.example"}
	if got := own.Locators(p).JWKS; got != "https://clinic.example:8443/t/north-clinic/.well-known/x-protocol/jwks.json" {
		t.Errorf("own origin: %s", got)
	}
	if own.RegistryKeysURL() != site.RegistryKeysURL() {
		t.Error("the registry's documents moved to a publisher's host")
	}
}

// XP-DISCOVERY-004: without an origin there is no locator, least of all a relative one.
func TestLocatorsWithoutOrigin(t *testing.T) {
	var none business.Site
	if none.Locators(full()) != (business.Endpoints{}) || none.RegistryKeysURL()+none.RegistryRevocationsURL()+none.QueryURL()+none.RecordURL(full(), "a", "b") != "" {
		t.Errorf("%+v", none.Locators(full()))
	}
}

func TestXP_IDENTITY_006_Contacts(t *testing.T) {
	p := full()
	info := p.Info(now)
	want := []business.Contact{
		{Channel: "phone", Value: "CANARY phone", Audience: "public_business", Source: "location:CANARY-main"},
		{Channel: "email", Value: "CANARY@example", Audience: "public_business", Source: "location:CANARY-main"},
	}
	if !slices.Equal(info.Contacts, want) || info.SupportPhone != "CANARY phone" || info.SupportEmail != "CANARY@example" {
		t.Errorf("%+v %q %q", info.Contacts, info.SupportPhone, info.SupportEmail)
	}
	// XP-IDENTITY-007: a branch that states none is not filled, and its own is nobody's contact.
	if info.Locations[0].Phone != "" || info.Locations[0].OpeningHours != "" {
		t.Errorf("branch %+v", info.Locations[0])
	}
	p.Profile.Locations[0].Phone, p.Profile.Locations[1].Phone = "branch phone", ""
	if info = p.Info(now); len(info.Contacts) != 1 || info.SupportPhone != "" {
		t.Errorf("%+v %q", info.Contacts, info.SupportPhone)
	}
	p.Profile.Locations[1].Primary = false
	if info = p.Info(now); info.Contacts != nil || info.SupportEmail != "" {
		t.Errorf("without a primary location: %+v", info.Contacts)
	}
}

// unpublished are full publishers that are not served, each for another reason.
func unpublished() map[string]*business.Publication {
	out := map[string]*business.Publication{}
	for name, change := range map[string]func(*business.Standing){
		"draft":     func(s *business.Standing) { s.Lifecycle = business.Draft },
		"paused":    func(s *business.Standing) { s.Lifecycle = business.Paused },
		"withdrawn": func(s *business.Standing) { s.Lifecycle = business.Withdrawn },
		"suspended": func(s *business.Standing) { s.Suspended = true },
		"lapsed":    func(s *business.Standing) { s.Verification, s.Proof.ValidUntil = nil, now.Add(-time.Second) },
		"unproven":  func(s *business.Standing) { s.Verification, s.Proof = nil, nil },
	} {
		p := full()
		change(&p.Standing)
		out[name] = p
	}
	return out
}

// XP-MANIFEST-009: nothing the business states is in a document about a publisher that is not served, and the reason is not either.
func TestXP_MANIFEST_009_Canary(t *testing.T) {
	allowed := map[string]bool{"tenant": true, "display_name": true, "region": true, "website_verified": true, "proven_domain": true, "verification_method": true,
		"authority_verified_at": true, "trust_tier": true}
	for name, p := range unpublished() {
		m := p.Manifest(serving(), now)
		text := encoded(t, m)
		registry := string(p.RegistryDocument(serving(), now))
		for _, doc := range []string{text, registry} {
			lower := strings.ToLower(doc)
			for _, word := range []string{"canary", name, "suspend", "paused", "withdrawn"} {
				if strings.Contains(lower, word) {
					t.Errorf("%s: %q in %s", name, word, doc)
				}
			}
			for _, m := range innerMembers(t, doc, "publisher") {
				if !allowed[m.Name] {
					t.Errorf("%s: publisher states %s", name, m.Name)
				}
			}
		}
		if m.Endpoints.PublicProfile+m.Endpoints.BulkExport+m.Endpoints.Sitemap+m.Endpoints.LLMsTxt+m.Endpoints.MCP != "" || m.Endpoints.Manifest == "" ||
			len(m.Capabilities) != 0 || !m.DataLastUpdated.IsZero() || m.Verification.BadgeText != "" || m.State != nil {
			t.Errorf("%s: %s", name, text)
		}
		for _, want := range []string{`"tools":[]`, `"record_types":[]`, `"live_streams":[]`, `"mcp_versions":[]`, `"publication":{"published":false}`} {
			if !strings.Contains(registry, want) {
				t.Errorf("%s: no %s in %s", name, want, registry)
			}
		}
		if strings.Contains(registry, "mcp_endpoint") {
			t.Errorf("%s: %s", name, registry)
		}
	}
	// The canary sings where it may, so the test above looks for something.
	if n := strings.Count(encoded(t, full().Manifest(serving(), now)), "CANARY"); n < 20 {
		t.Errorf("only %d canaries in the manifest of a published publisher", n)
	}
}

// No document shows what the registry keeps for itself.
func TestInternalsAreNotShown(t *testing.T) {
	p := full()
	p.Standing.Proof = nil
	for _, doc := range []string{encoded(t, p.Manifest(serving(), now)), string(p.RegistryDocument(serving(), now)), string(p.DumpMeta(site, now))} {
		if strings.Contains(doc, "decision") || strings.Contains(doc, "evision") {
			t.Error(doc)
		}
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	out, err := jcs.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func innerMembers(t *testing.T, doc, name string) []jcs.Member {
	t.Helper()
	members, err := business.Members([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Name == name {
			inner, err := business.Members(m.Value)
			if err != nil {
				t.Fatal(err)
			}
			return inner
		}
	}
	t.Fatalf("no member %s in %s", name, doc)
	return nil
}
