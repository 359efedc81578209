package business

import (
	"strings"
	"time"

	"sayso/jcs"
)

// Lifecycle is where a publisher stands on its way: draft -> published <-> paused, and withdrawn, which is final.
type Lifecycle string

// The four states. Suspension is a flag beside them.
const (
	Draft     Lifecycle = "draft"
	Published Lifecycle = "published"
	Paused    Lifecycle = "paused"
	Withdrawn Lifecycle = "withdrawn"
)

// DomainProof is an observed proof of control over one host.
type DomainProof struct {
	Host       string // A-label, lower case
	Method     string // dns_txt | well_known
	VerifiedAt time.Time
	ValidUntil time.Time
}

// The methods of a domain proof.
const (
	MethodDNS       = "dns_txt"    // control of the DNS of a host
	MethodWellKnown = "well_known" // control of the web root of a host
)

// OperatorVerification is a recorded verification of a business without a domain: confirmed by two operators under a decision id.
type OperatorVerification struct {
	Decision    string
	ConfirmedAt time.Time
}

// Standing is the registry's own judgement about a publisher.
type Standing struct {
	Region       string
	Lifecycle    Lifecycle
	Suspended    bool
	Proof        *DomainProof          // the proof that counts, nil without one
	Verification *OperatorVerification // nil without one
}

// proof is the domain proof that is current at now, nil without one. At its valid_until a proof has lapsed, as a reader judges it ([Verify]): whatever the store still
// says, no document shows it. Neither is one whose host or method is not recorded (XP-AUTHORITY-001).
func (s Standing) proof(now time.Time) *DomainProof {
	if p := s.Proof; p != nil && p.Host != "" && (p.Method == MethodDNS || p.Method == MethodWellKnown) && now.Before(p.ValidUntil) {
		return p
	}
	return nil
}

// AuthorityEnds is when the domain proof lapses that documents show at now, zero where they show none: what states a proof must not outlive it. An operator
// verification has no end.
func (s Standing) AuthorityEnds(now time.Time) time.Time {
	if p := s.proof(now); p != nil {
		return p.ValidUntil
	}
	return time.Time{}
}

// Authorised reports whether authority is current at now: a domain proof before its valid_until, or an operator verification.
func (s Standing) Authorised(now time.Time) bool {
	return s.proof(now) != nil || s.Verification != nil
}

// IsPublished reports whether content surfaces serve the publisher to strangers at now: it is published, not suspended, and its authority is current.
func (s Standing) IsPublished(now time.Time) bool {
	return s.Lifecycle == Published && !s.Suspended && s.Authorised(now)
}

// TypeCount is one record type with how many records are published under it.
type TypeCount struct {
	Type  string
	Count int
}

// Publication is everything the registry serves about one publisher besides its records, at one moment. It is immutable: holders share it.
type Publication struct {
	Slug            string
	Revision        uint64 // counts every change of this publisher, keys and proofs included
	Profile         Profile
	Schema          jcs.Raw // canonical text, nil when none was set
	Calendar        jcs.Raw // calendar.json, nil when none was set
	Standing        Standing
	State           State
	Types           []TypeCount // sorted by type
	DataLastUpdated time.Time   // newest updated_at of its records, zero without
	Incomplete      bool        // rows were skipped in the last import: evidence is not complete
	Hosts           []string    // hosts that route to this publisher

	vocabulary *Schema // what Prepare read, nil before
}

// Prepare reads the schema once, for everybody who asks for [Publication.Vocabulary]. Whoever shares a publication between requests calls it before: pages
// need the schema, and a discovery query that of every publisher. Schema must not change afterwards.
func (p *Publication) Prepare() { p.vocabulary = p.Vocabulary() }

// primary is the location that states primary, nil without one.
func (p *Profile) primary() *Location {
	for i := range p.Locations {
		if p.Locations[i].Primary {
			return &p.Locations[i]
		}
	}
	return nil
}

// Base is the canonical path of the public pages: /{country}/{city}/business/{slug} when the primary location states a country code and a locality of which
// [City] leaves something, else /b/{slug} (XP-DISCOVERY-001).
func (p *Publication) Base() string {
	if l := p.Profile.primary(); l != nil {
		country, city := strings.ToLower(l.CountryCode), City(l.Locality)
		if len(country) == 2 && only(country, func(c byte) bool { return 'a' <= c && c <= 'z' }) && city != "" {
			return "/" + country + "/" + city + "/business/" + p.Slug
		}
	}
	return "/b/" + p.Slug
}

// statement is the part of the publisher block that the business states (X§6.3), in the order and with the members of [Info].
type statement struct {
	Tenant            string    `json:"tenant"`
	DisplayName       string    `json:"display_name"`
	LegalName         string    `json:"legal_name,omitempty"`
	Region            string    `json:"region,omitempty"`
	ContentLanguage   string    `json:"content_language,omitempty"`
	ContentLanguages  []string  `json:"content_languages,omitempty"`
	Website           string    `json:"website,omitempty"`
	Contacts          []Contact `json:"contacts,omitempty"`
	SupportEmail      string    `json:"support_email,omitempty"`
	SupportPhone      string    `json:"support_phone,omitempty"`
	BusinessCategory  string    `json:"business_category,omitempty"`
	ProfileAttributes jcs.Raw   `json:"profile_attributes,omitempty"`
}

func statementOf(slug, region string, p *Profile) statement {
	s := statement{
		Tenant: slug, DisplayName: p.DisplayName, LegalName: p.LegalName, Region: region, ContentLanguages: p.ContentLanguages, Website: p.Website,
		Contacts: contacts(p.primary()), BusinessCategory: p.BusinessCategory, ProfileAttributes: p.ProfileAttributes,
	}
	if len(p.ContentLanguages) > 0 {
		s.ContentLanguage = p.ContentLanguages[0]
	}
	for _, c := range s.Contacts {
		if c.Channel == "email" {
			s.SupportEmail = c.Value
		} else {
			s.SupportPhone = c.Value
		}
	}
	return s
}

// contacts are the public contacts of the business. They are read from its primary location and from nothing else: no account, billing or operator address
// reaches this package (XP-IDENTITY-006).
func contacts(primary *Location) []Contact {
	if primary == nil {
		return nil
	}
	var out []Contact
	for _, c := range []Contact{{Channel: "phone", Value: primary.Phone}, {Channel: "email", Value: primary.Email}} {
		if c.Value != "" {
			c.Audience, c.Source = "public_business", "location:"+primary.ID
			out = append(out, c)
		}
	}
	return out
}

// Info is the publisher block at now (X§6.3): the whole block while published, else the allow-list of XP-MANIFEST-009. A domain proof that has lapsed is
// shown nowhere in it.
func (p *Publication) Info(now time.Time) Info {
	out := Info{Tenant: p.Slug, DisplayName: p.Profile.DisplayName, Region: p.Standing.Region, TrustTier: TierUnverified}
	switch proof, verified := p.Standing.proof(now), p.Standing.Verification; {
	case proof != nil:
		out.WebsiteVerified, out.ProvenDomain, out.VerificationMethod = true, proof.Host, proof.Method
		out.AuthorityVerifiedAt, out.TrustTier = utc(proof.VerifiedAt), TierDomainVerified
	case verified != nil:
		out.AuthorityVerifiedAt, out.TrustTier = utc(verified.ConfirmedAt), TierIdentityVerified
	}
	if !p.Standing.IsPublished(now) {
		return out
	}
	s := statementOf(p.Slug, p.Standing.Region, &p.Profile)
	out.LegalName, out.Website = s.LegalName, s.Website
	out.ContentLanguage, out.ContentLanguages = s.ContentLanguage, s.ContentLanguages
	out.Contacts, out.SupportEmail, out.SupportPhone = s.Contacts, s.SupportEmail, s.SupportPhone
	out.BusinessCategory, out.ProfileAttributes = s.BusinessCategory, s.ProfileAttributes
	out.Locations = p.Profile.Locations
	return out
}

// utc is t as documents carry it: UTC, microseconds. The zero time stays zero and is left out.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// encode writes a document whose texts were checked when they were committed: each of them went into a leaf (see [RecordLeaf]) or was made by this program.
// A text that cannot be written is a fault of the program, so it panics.
func encode(v any) []byte {
	out, err := jcs.Encode(v)
	if err != nil {
		panic("business: an unchecked text reached a document: " + err.Error())
	}
	return out
}
