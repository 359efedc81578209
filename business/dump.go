package business

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
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
	line, err := appendRecord(dst, r, p.Slug, s.RecordURL(p, r.Type, r.ID))
	if err != nil {
		panic("business: an unchecked text reached a document: " + err.Error())
	}
	return endLine(line, len(dst))
}

func appendLine(dst []byte, v any) []byte {
	start := len(dst)
	return endLine(append(dst, encode(v)...), start)
}

// endLine ends the line that begins at start. U+0085, U+2028 and U+2029, which some readers take for the end of a line and JSON allows raw in strings, become
// escapes: a record stands on one line.
func endLine(dst []byte, start int) []byte {
	first := lineEnd(dst[start:])
	if first < 0 {
		return append(dst, '\n')
	}
	rest := slices.Clone(dst[start+first:])
	dst = dst[:start+first]
	for at := 0; at >= 0; at = lineEnd(rest) {
		dst = append(dst, rest[:at]...)
		r, size := utf8.DecodeRune(rest[at:])
		dst, rest = fmt.Appendf(dst, `\u%04x`, r), rest[at+size:]
	}
	return append(append(dst, rest...), '\n')
}

// lineEnd is where the first of them stands in valid UTF-8, -1 when there is none.
func lineEnd(text []byte) int {
	for i, c := range text {
		if c == 0xC2 && text[i+1] == 0x85 || c == 0xE2 && text[i+1] == 0x80 && text[i+2]|1 == 0xA9 {
			return i
		}
	}
	return -1
}
