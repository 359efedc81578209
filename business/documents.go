package business

import (
	"time"

	"sayso/jcs"
)

// The fixed values of protocol_x_version 1.0.
const (
	Version    = "1.0"           // protocol_x_version: the data contract
	APIVersion = "2025-11-25"    // api_version: the MCP revision
	Family     = "x-protocol/v1" // registry: the registry family
	Algorithm  = "Ed25519"       // attestation.alg
	License    = "Published by the business for machine consumption. Attribute to the publisher named above."
	DumpFormat = "json-lines; one record per line after this header"
)

// Handlers are the handler names a tool may be configured with (X§3.3), sorted.
var Handlers = []string{"branches.nearest", "hybrid.resolve", "knowledge.get", "knowledge.neighbors", "knowledge.search", "live.nearest", "live.query"}

// Info is the publisher block of manifests and envelopes (X§6.3). Absent members are not stated.
type Info struct {
	Tenant              string     `json:"tenant"`
	DisplayName         string     `json:"display_name"`
	LegalName           string     `json:"legal_name,omitempty"`
	Region              string     `json:"region,omitempty"`
	ContentLanguage     string     `json:"content_language,omitempty"`
	ContentLanguages    []string   `json:"content_languages,omitempty"` // primary first
	Website             string     `json:"website,omitempty"`           // the publisher's claim
	WebsiteVerified     bool       `json:"website_verified"`            // always emitted
	ProvenDomain        string     `json:"proven_domain,omitempty"`     // the evidence
	VerificationMethod  string     `json:"verification_method,omitempty"`
	AuthorityVerifiedAt time.Time  `json:"authority_verified_at,omitzero"`
	TrustTier           string     `json:"trust_tier"`
	Contacts            []Contact  `json:"contacts,omitempty"`
	SupportEmail        string     `json:"support_email,omitempty"`
	SupportPhone        string     `json:"support_phone,omitempty"`
	BusinessCategory    string     `json:"business_category,omitempty"`
	ProfileAttributes   jcs.Raw    `json:"profile_attributes,omitempty"` // an object
	Locations           []Location `json:"locations,omitempty"`
}

// The values of trust_tier that are ever emitted (X§7.4).
const (
	TierUnverified       = "unverified"
	TierDomainVerified   = "domain_verified"
	TierIdentityVerified = "identity_verified"
)

// Contact is one public contact of the business (XP-IDENTITY-006). Audience is always "public_business", Source "location:<id>".
type Contact struct {
	Channel  string `json:"channel"` // phone | email | url
	Value    string `json:"value"`
	Audience string `json:"audience"`
	Source   string `json:"source"`
}

// Location is one place of the business (X§6.5) with our additional members id, latitude, longitude and time_zone. Phone, email and hours are
// this place's own: empty means that it states none (XP-IDENTITY-007).
type Location struct {
	ID            string  `json:"id"`
	Primary       bool    `json:"primary"`
	Name          string  `json:"name,omitempty"`
	Address       string  `json:"address,omitempty"`
	StreetAddress string  `json:"street_address,omitempty"`
	Locality      string  `json:"locality,omitempty"`
	PostalCode    string  `json:"postal_code,omitempty"`
	CountryCode   string  `json:"country_code,omitempty"` // ISO 3166-1 alpha-2, upper case
	Country       string  `json:"country,omitempty"`
	Phone         string  `json:"phone,omitempty"`
	Email         string  `json:"email,omitempty"`
	OpeningHours  string  `json:"opening_hours,omitempty"` // canonical text of package hours
	Latitude      jcs.Raw `json:"latitude,omitempty"`      // number literal in [-90, 90], kept as stated
	Longitude     jcs.Raw `json:"longitude,omitempty"`     // number literal in [-180, 180]
	TimeZone      string  `json:"time_zone,omitempty"`     // IANA name
}

// Record is one record (X§4.1) as it is published. URL is generated, never stated.
type Record struct {
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	Title      string    `json:"title"`
	URL        string    `json:"url,omitempty"`
	Publisher  string    `json:"publisher"`
	Summary    string    `json:"summary,omitempty"`
	Attributes jcs.Raw   `json:"attributes,omitempty"` // an object, literals as stated
	Aliases    []string  `json:"aliases,omitempty"`    // in the order stated
	UpdatedAt  time.Time `json:"updated_at,omitzero"`
	VerifiedAt time.Time `json:"verified_at,omitzero"`
	Content    string    `json:"content,omitempty"`
	Links      []Link    `json:"links,omitempty"`
}

// Link is a relation the publisher declares between two of its records (ours).
type Link struct {
	Rel  string `json:"rel"`
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Tool is one tool a publisher configures: its own name over one of Handlers.
type Tool struct {
	Name        string `json:"name"`
	Handler     string `json:"handler"`
	Description string `json:"description,omitempty"`
}

// FreshnessContract is the publisher's declared staleness budget.
type FreshnessContract struct {
	SLASeconds int64  `json:"sla_seconds"`
	Policy     string `json:"policy"`
}

// Profile is what the business states about itself: the content of publisher.json. It holds no judgement of the registry.
type Profile struct {
	DisplayName       string             `json:"display_name"`
	LegalName         string             `json:"legal_name,omitempty"`
	ContentLanguages  []string           `json:"content_languages,omitempty"` // primary first
	Website           string             `json:"website,omitempty"`
	BusinessCategory  string             `json:"business_category,omitempty"`
	ProfileAttributes jcs.Raw            `json:"profile_attributes,omitempty"`
	Locations         []Location         `json:"locations,omitempty"`
	Tools             []Tool             `json:"tools,omitempty"`
	Freshness         *FreshnessContract `json:"freshness_contract,omitempty"`
}

// State says which publication a document follows from (X§6.4).
type State struct {
	Generation  uint64    `json:"generation,omitzero"`
	ContentHash string    `json:"content_hash,omitempty"` // "sha256:" and 64 hex digits
	ChangedAt   time.Time `json:"changed_at,omitzero"`
}

// Verification is what was proven about the publisher's authority (X§3.6).
type Verification struct {
	TrustTier      string    `json:"trust_tier"`
	DomainVerified bool      `json:"domain_verified"`
	VerifiedHost   string    `json:"verified_host,omitempty"`
	Method         string    `json:"method,omitempty"` // dns_txt | well_known
	ValidUntil     time.Time `json:"valid_until,omitzero"`
	BadgeText      string    `json:"badge_text,omitempty"`
}

// PublicationBlock is the manifest member publication (X§3.8).
type PublicationBlock struct {
	Published bool `json:"published"`
}

// DataFormat names one form the data is served in.
type DataFormat struct {
	Format      string `json:"format"`
	Description string `json:"description"`
}

// Endpoints are the absolute locators of a publisher (X§3.4). The first three are always there; the others only while it is published.
type Endpoints struct {
	Manifest      string `json:"manifest"`
	JWKS          string `json:"jwks"`
	Revocations   string `json:"revocations"`
	MCP           string `json:"mcp,omitempty"`
	PublicProfile string `json:"public_profile,omitempty"`
	BulkExport    string `json:"bulk_export,omitempty"`
	Sitemap       string `json:"sitemap,omitempty"`
	LLMsTxt       string `json:"llms_txt,omitempty"`
}

// Authenticity says how to check (X§3.5), never that something is true.
type Authenticity struct {
	Method        string `json:"method"`
	Algorithm     string `json:"algorithm"`
	JWKSURL       string `json:"jwks_url"`
	RevocationURL string `json:"revocation_url"`
	HowToVerify   string `json:"how_to_verify"`
}

// Manifest is the document of X§3. It is signed by Sign, which adds signed_at, expires_at, registry_keys_url, signing_kid and attestation, or it
// carries UnsignedReason: exactly one of the two (XP-MANIFEST-007).
type Manifest struct {
	ProtocolXVersion  string            `json:"protocol_x_version"`
	APIVersion        string            `json:"api_version"`
	ServerVersion     string            `json:"server_version"`
	Registry          string            `json:"registry"`
	GeneratedAt       time.Time         `json:"generated_at"`
	Publisher         Info              `json:"publisher"`
	Publication       PublicationBlock  `json:"publication"`
	DataLastUpdated   time.Time         `json:"data_last_updated,omitzero"`
	Capabilities      []string          `json:"capabilities"`
	DataFormats       []DataFormat      `json:"data_formats"`
	Endpoints         Endpoints         `json:"endpoints"`
	Authenticity      Authenticity      `json:"authenticity"`
	Verification      Verification      `json:"verification"`
	FreshnessContract FreshnessContract `json:"freshness_contract"`
	State             *State            `json:"state,omitempty"` // only while published
	UnsignedReason    string            `json:"unsigned_reason,omitempty"`
}

// The values of unsigned_reason.
const (
	UnsignedKeyUnavailable = "registry_key_unavailable"
	UnsignedDisabled       = "signing_disabled"
)
