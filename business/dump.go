package business

import (
	"bytes"
	"strings"
	"time"
)

type dumpHeader struct {
	Meta dumpMeta `json:"_meta"`
}

type dumpMeta struct {
	Publisher       string      `json:"publisher"`
	DisplayName     string      `json:"display_name"`
	LegalName       string      `json:"legal_name"`
	Website         string      `json:"website"`
	WebsiteVerified bool        `json:"website_verified"`
	TrustTier       string      `json:"trust_tier"`
	GeneratedAt     time.Time   `json:"generated_at"`
	Source          string      `json:"source"`
	Format          string      `json:"format"`
	License         string      `json:"license"`
	Authority       []Evidenced `json:"authority,omitempty"`
}

// Evidenced is one piece of evidence for the publisher's authority, a member of _meta.authority (XP-EXPORT-004). Method is dns_txt, well_known or
// operator_verification, which has neither host nor end.
type Evidenced struct {
	Method     string    `json:"method"`
	Host       string    `json:"host,omitempty"`
	VerifiedAt time.Time `json:"verified_at,omitzero"`
	ValidUntil time.Time `json:"valid_until,omitzero"`
}

// Authority lists the evidence that is current at now; nil when there is none, which is not a denial.
func (s Standing) Authority(now time.Time) []Evidenced {
	var out []Evidenced
	if p := s.proof(now); p != nil {
		out = append(out, Evidenced{Method: p.Method, Host: p.Host, VerifiedAt: utc(p.VerifiedAt), ValidUntil: utc(p.ValidUntil)})
	}
	if v := s.Verification; v != nil {
		out = append(out, Evidenced{Method: "operator_verification", VerifiedAt: utc(v.ConfirmedAt)})
	}
	return out
}

// DumpMeta is the first line of dump.jsonl with its line end (XP-EXPORT-001). legal_name and website are "" when the business states none; authority is
// absent without evidence.
func (p *Publication) DumpMeta(s Site, now time.Time) []byte {
	info := p.Info(now)
	return appendLine(nil, dumpHeader{dumpMeta{
		Publisher: p.Slug, DisplayName: p.Profile.DisplayName, LegalName: p.Profile.LegalName, Website: p.Profile.Website,
		WebsiteVerified: info.WebsiteVerified, TrustTier: info.TrustTier, GeneratedAt: utc(now),
		Source: s.Locators(p).PublicProfile, Format: DumpFormat, License: License, Authority: p.Standing.Authority(now),
	}})
}

// AppendRecordLine appends one line of dump.jsonl: the record with publisher and url filled in, and its line end. r must have a leaf ([RecordLeaf]): a text
// that is not UTF-8, or attributes that are no JSON, make it panic.
func AppendRecordLine(dst []byte, s Site, p *Publication, r *Record) []byte {
	record := published(r)
	record.Publisher, record.URL = p.Slug, s.RecordURL(p, r.Type, r.ID)
	return appendLine(dst, record)
}

// published is a copy of r with its times as documents carry them.
func published(r *Record) *Record {
	c := *r
	c.UpdatedAt, c.VerifiedAt = utc(r.UpdatedAt), utc(r.VerifiedAt)
	return &c
}

// What some readers take for the end of a line besides LF. JSON allows them raw in strings; a record that shall stand on one line has none.
var (
	nextLine           = []byte("\u0085")
	lineSeparator      = []byte("\u2028")
	paragraphSeparator = []byte("\u2029")
	lineEnds           = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)
)

func appendLine(dst []byte, v any) []byte {
	line := encode(v)
	if bytes.Contains(line, nextLine) || bytes.Contains(line, lineSeparator) || bytes.Contains(line, paragraphSeparator) {
		line = []byte(lineEnds.Replace(string(line)))
	}
	return append(append(dst, line...), '\n')
}
