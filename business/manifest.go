package business

import (
	"slices"
	"time"
)

// defaultFreshness stands where a publisher states no budget, and where its statements are not shown. It is a statement of the registry about its caches.
var defaultFreshness = FreshnessContract{
	SLASeconds: 900,
	Policy:     "The registry shows a committed change within this time: it is the longest that a cache may keep one of its documents.",
}

// howToVerify says how to check a signed document, and what a good signature does not say (X§3.5).
const howToVerify = "Remove the member attestation. Write the rest in the canonical form of this protocol: members in the order of code points, no white space, " +
	"number literals as received, U+2028 and U+2029 escaped; this is not RFC 8785. Take its SHA-256, compare it with attestation.digest, and verify " +
	"attestation.signature (base64url without padding) with Ed25519 over the 32 bytes of that digest. Compare the members repeated in attestation with those of " +
	"the document. Manifests and revocation lists are signed by a registry key, which a root signs; answers are signed by a publisher key of jwks_url, which a " +
	"registry key attests. Take the root from a source other than this origin. Then read the publisher's list at revocation_url and the registry's own. A valid " +
	"signature shows who signed which bytes, not that what they say is true."

// dataFormats are the forms the content of a published publisher is served in.
var dataFormats = []DataFormat{
	{Format: "application/json", Description: "The profile and each record at its own address, under Accept: application/json. Not signed."},
	{Format: "application/x-ndjson", Description: "All records at endpoints.bulk_export, one on each line after a header line. Not signed."},
	{Format: "text/html", Description: "Pages for people at endpoints.public_profile, with schema.org JSON-LD. Not signed."},
	{Format: "text/plain", Description: "A summary in prose at endpoints.llms_txt. Not signed."},
}

// Manifest builds the unsigned manifest at now (X§3.1 to X§3.8). While the publisher is not published it describes nothing as served: three locators, no
// capability, no data format, and the publisher block of the allow-list (XP-MANIFEST-009).
func (p *Publication) Manifest(s Site, now time.Time) *Manifest {
	published := p.Standing.IsPublished(now)
	locators := s.Locators(p)
	m := &Manifest{
		ProtocolXVersion: Version, APIVersion: APIVersion, ServerVersion: s.ServerVersion, Registry: Family, GeneratedAt: utc(now),
		Publisher:    p.Info(now),
		Publication:  PublicationBlock{Published: published},
		Capabilities: []string{},
		DataFormats:  []DataFormat{},
		Endpoints:    Endpoints{Manifest: locators.Manifest, JWKS: locators.JWKS, Revocations: locators.Revocations},
		Authenticity: Authenticity{
			Method: "detached-digest-signature", Algorithm: Algorithm, JWKSURL: locators.JWKS, RevocationURL: locators.Revocations, HowToVerify: howToVerify,
		},
		Verification:      p.Standing.verification(now),
		FreshnessContract: defaultFreshness,
	}
	if !published {
		m.Verification.BadgeText = ""
		return m
	}
	m.DataLastUpdated = utc(p.DataLastUpdated)
	m.Capabilities = s.capabilities(p)
	m.DataFormats = slices.Clone(dataFormats)
	m.Endpoints = locators
	if f := p.Profile.Freshness; f != nil {
		m.FreshnessContract = *f
	}
	if p.State != (State{}) {
		state := p.State
		state.ChangedAt = utc(state.ChangedAt)
		m.State = &state
	}
	return m
}

// capabilities are the handlers behind at least one tool that is served, sorted (XP-MANIFEST-004).
func (s Site) capabilities(p *Publication) []string {
	out := []string{}
	for _, t := range s.tools(p) {
		out = append(out, t.Handler)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tools are those of a publisher that the site serves.
func (s Site) tools(p *Publication) []Tool {
	if !s.ToolsServed {
		return nil
	}
	return p.Profile.Tools
}

// verification says what was proven (X§3.6). domain_verified rests on the proof alone, never on the tier (XP-AUTHORITY-001).
func (s Standing) verification(now time.Time) Verification {
	const day = "2 January 2006"
	if p := s.proof(now); p != nil {
		what := "the DNS"
		if p.Method == MethodWellKnown {
			what = "the web root"
		}
		return Verification{
			TrustTier: TierDomainVerified, DomainVerified: true, VerifiedHost: p.Host, Method: p.Method, ValidUntil: utc(p.ValidUntil),
			BadgeText: "Control of " + what + " of " + p.Host + " was observed on " + p.VerifiedAt.UTC().Format(day) +
				" and counts until " + p.ValidUntil.UTC().Format(day) + ". Nothing else about the business is proven by this.",
		}
	}
	if v := s.Verification; v != nil {
		return Verification{
			TrustTier: TierIdentityVerified,
			BadgeText: "Two operators of this registry recorded a verification of this business on " + v.ConfirmedAt.UTC().Format(day) + ". No domain was proven.",
		}
	}
	return Verification{TrustTier: TierUnverified}
}
