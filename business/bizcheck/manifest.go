package bizcheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sayso/business"
)

// manifestMembers are those of version 1.0 (X§3.1), with state (X§6.4).
var manifestMembers = []string{
	"protocol_x_version", "api_version", "server_version", "registry", "generated_at", "publisher", "publication", "data_last_updated", "capabilities",
	"data_formats", "endpoints", "authenticity", "verification", "freshness_contract", "state", "signed_at", "expires_at", "registry_keys_url", "signing_kid",
	"unsigned_reason", "attestation",
}

// signedMembers stand in a manifest that is signed and in no other.
var signedMembers = []string{"signed_at", "expires_at", "registry_keys_url", "signing_kid"}

// checkManifest looks at one manifest as a document. It reports whether the manifest can be followed further.
func (c *recorder) checkManifest(place string, body []byte, now time.Time) (object, bool) {
	m, err := objectOf(body)
	if err != nil {
		c.fail("XP-MANIFEST-001", place, "not strict JSON: "+err.Error(), "repair the document; readers refuse it as a whole")
		return nil, false
	}
	known := c.checkVersion(place, m)
	c.checkMembers(place, m, manifestMembers)
	c.checkAbsence(place, body)
	c.checkClaims(place, body)
	c.checkRequired(place, m)
	c.checkSigned(place, m)
	c.checkLast(place, m)
	c.checkState(place, m, now)
	c.checkAuthority(place, m, now)
	if p := m.object("publication"); p.is("published", "false") {
		c.checkHidden(place, m)
	} else if m.has("publication") && !p.is("published", "true") {
		c.fail("XP-MANIFEST-009", place, "publication.published is neither true nor false", "state one of them, or leave publication out")
	}
	c.checkPublisherBlock(place, m.object("publisher"))
	return m, known
}

// checkRequired is XP-MANIFEST-001.
func (c *recorder) checkRequired(place string, m object) {
	var lacks []string
	want := func(ok bool, name string) {
		if !ok {
			lacks = append(lacks, name)
		}
	}
	for _, name := range []string{"api_version", "server_version", "registry"} {
		want(m.text(name) != "", name)
	}
	_, ok := m.time("generated_at")
	want(ok, "generated_at")
	for _, name := range []string{"publisher", "endpoints", "authenticity", "verification", "freshness_contract"} {
		want(m.object(name) != nil, name)
	}
	for _, name := range []string{"capabilities", "data_formats"} {
		_, ok := m.list(name)
		want(ok, name)
	}
	want(business.ValidSlug(m.object("publisher").text("tenant")), "publisher.tenant")
	if a := m.object("authenticity"); a != nil {
		for _, name := range []string{"method", "algorithm", "jwks_url", "revocation_url", "how_to_verify"} {
			want(a.text(name) != "", "authenticity."+name)
		}
	}
	if f := m.object("freshness_contract"); f != nil {
		want(f.has("sla_seconds") && strings.Trim(string(f["sla_seconds"]), "0123456789") == "", "freshness_contract.sla_seconds")
		want(f.text("policy") != "", "freshness_contract.policy")
	}
	c.expect(len(lacks) == 0, "XP-MANIFEST-001", place, "missing, empty or of another type: "+strings.Join(lacks, ", "), "state every required member of the manifest")
}

// checkSigned is XP-MANIFEST-007 and 008.
func (c *recorder) checkSigned(place string, m object) {
	signed, stated := m.has("attestation"), m.has("unsigned_reason")
	c.expect(signed != stated, "XP-MANIFEST-007", place, map[bool]string{true: "it carries both attestation and unsigned_reason", false: "it carries neither attestation nor unsigned_reason"}[signed],
		"sign the manifest, or say in unsigned_reason why it is not signed")
	switch {
	case !stated:
		return
	case m.text("unsigned_reason") == "":
		c.fail("XP-MANIFEST-008", place, "unsigned_reason is empty", "say why the manifest is not signed")
		return
	}
	var left []string
	for _, name := range signedMembers {
		if m.has(name) {
			left = append(left, name)
		}
	}
	c.expect(signed || len(left) == 0, "XP-MANIFEST-008", place, "it is not signed and states "+strings.Join(left, ", "), "these members belong to a signed manifest")
}

// checkLast is XP-MANIFEST-002.
func (c *recorder) checkLast(place string, m object) {
	const name = "data_last_updated"
	if !m.has(name) {
		c.pass("XP-MANIFEST-002", place)
		return
	}
	t, ok := m.time(name)
	c.expect(ok && !isZeroTime(m.text(name)) && !t.IsZero(), "XP-MANIFEST-002", place, fmt.Sprintf("%s is %.60s", name, m[name]), "leave it out while there are no records")
}

// checkState is XP-FRESHNESS-001 and 002 for a manifest or an answer.
func (c *recorder) checkState(place string, o object, now time.Time) {
	if !o.has("state") {
		return
	}
	s := o.object("state")
	if s.has("changed_at") {
		at, ok := s.time("changed_at")
		said := now
		for _, name := range []string{"signed_at", "generated_at", "served_at"} {
			if t, ok := o.time(name); ok && t.Before(said) {
				said = t
			}
		}
		c.expect(ok && !isZeroTime(s.text("changed_at")) && !at.After(said), "XP-FRESHNESS-001", place, fmt.Sprintf("state.changed_at is %.60s, and the document speaks at %s", s["changed_at"], said.UTC().Format(time.RFC3339)),
			"state when this public state came into being; that is before any document about it")
	}
	for _, name := range []string{"generation", "records_generation"} {
		if s.has(name) {
			raw := string(s[name])
			c.expect(strings.Trim(raw, "0123456789") == "" && strings.Trim(raw, "0") != "", "XP-FRESHNESS-002", place, fmt.Sprintf("state.%s is %.60s", name, raw), "count from 1, and leave out what is not known")
		}
	}
}

// checkAuthority is XP-AUTHORITY-001 and 005.
func (c *recorder) checkAuthority(place string, m object, now time.Time) {
	v, p := m.object("verification"), m.object("publisher")
	proven := v.is("domain_verified", "true")
	problem := ""
	switch method := v.text("method"); {
	case !v.isBool("domain_verified"):
		problem = "verification.domain_verified is not stated"
	case !p.isBool("website_verified"):
		problem = "publisher.website_verified is not stated"
	case proven && (v.text("verified_host") == "" || method != business.MethodDNS && method != business.MethodWellKnown):
		problem = fmt.Sprintf("domain_verified is true with host %.100q and method %.50q", v.text("verified_host"), method)
	case !proven && p.is("website_verified", "true"), proven && p.is("website_verified", "false"):
		problem = "domain_verified and website_verified contradict each other"
	}
	if until, ok := v.time("valid_until"); problem == "" && proven && ok && !until.After(now) {
		problem = "domain_verified is true and the proof lapsed at " + until.UTC().Format(time.RFC3339)
	}
	c.expect(problem == "", "XP-AUTHORITY-001", place, problem, "say that a domain is verified only while a host and the method that observed it are recorded")
	tiers := []string{v.text("trust_tier"), p.text("trust_tier")}
	c.prefer(!slices.Contains(tiers, "contracted"), "XP-AUTHORITY-005", place, "trust_tier is contracted, which nothing can set", "state what was proven")
}

// What a manifest of a publisher that is not published may hold (X§3.8).
var (
	hiddenPublisher = []string{"tenant", "display_name", "region", "website_verified", "proven_domain", "verification_method", "authority_verified_at", "trust_tier"}
	hiddenEndpoints = []string{"manifest", "jwks", "revocations"}
)

// checkHidden is XP-MANIFEST-009.
func (c *recorder) checkHidden(place string, m object) {
	var shows []string
	beyond := func(o object, allowed []string, prefix string) {
		for name := range o {
			if !slices.Contains(allowed, name) {
				shows = append(shows, prefix+name)
			}
		}
	}
	beyond(m.object("publisher"), hiddenPublisher, "publisher.")
	beyond(m.object("endpoints"), hiddenEndpoints, "endpoints.")
	if list, _ := m.list("capabilities"); len(list) > 0 {
		shows = append(shows, "capabilities")
	}
	if m.has("data_last_updated") {
		shows = append(shows, "data_last_updated")
	}
	if m.object("verification").has("badge_text") {
		shows = append(shows, "verification.badge_text")
	}
	slices.Sort(shows)
	c.expect(len(shows) == 0, "XP-MANIFEST-009", place, fmt.Sprintf("the publisher is not published and the manifest shows %.300q", shows), "build the manifest from the list of members that are allowed then")
}

// serviceMembers are names under which a location would relate a service to a place (XP-IDENTITY-008).
var serviceMembers = []string{"service", "services", "offers", "offerings", "products", "records", "treatments", "hasOfferCatalog", "makesOffer"}

// checkPublisherBlock is XP-IDENTITY-006 to 008.
func (c *recorder) checkPublisherBlock(place string, p object) {
	var primary object
	places := p.objects("locations")
	phones := map[string]int{}
	for _, l := range places {
		if l.is("primary", "true") {
			primary = l
		}
		if s := l.text("phone"); s != "" {
			phones[s]++
		}
		var services []string
		for name := range l {
			if slices.Contains(serviceMembers, name) {
				services = append(services, name)
			}
		}
		c.expect(len(services) == 0, "XP-IDENTITY-008", place, fmt.Sprintf("a location has the members %q", services), "this protocol relates no service to a place; say it in a record")
	}
	if len(places) > 1 {
		shared := false
		for _, n := range phones {
			shared = shared || n == len(places)
		}
		c.prefer(!shared, "XP-IDENTITY-007", place, fmt.Sprintf("all %d locations state one phone", len(places)), "state what belongs to each place; what a place does not state is not filled from the primary one")
	}
	for _, contact := range p.objects("contacts") {
		c.checkContact(place, contact, primary)
	}
}

var audiences = []string{"public_business", "platform_support", "booking"}

func (c *recorder) checkContact(place string, contact, primary object) {
	problem := ""
	switch channel, value := contact.text("channel"), contact.text("value"); {
	case !slices.Contains(audiences, contact.text("audience")):
		problem = fmt.Sprintf("a contact has the audience %.50q", contact.text("audience"))
	case value == "":
		problem = "a contact has no value"
	case (channel == "phone" || channel == "email") && contact.text("audience") == audiences[0] && primary.text(channel) != value:
		problem = "a contact of the channel " + channel + " is not the primary location's own"
	}
	c.expect(problem == "", "XP-IDENTITY-006", place, problem, "take contacts from the primary published location, never from an account")
}
