package bizcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// checkVersion is XP-VERSION-001.
func (c *recorder) checkVersion(place string, o object) bool {
	v := o.text("protocol_x_version")
	return c.expect(v == business.Version, "XP-VERSION-001", place, fmt.Sprintf("protocol_x_version is %.50q", v), "state "+business.Version+"; a reader reports anything else as an unsupported format")
}

// judgedElsewhere are members whose null or zero time breaks a rule of its own.
var judgedElsewhere = []string{"/data_last_updated", "/state/changed_at", "/_meta/authority", "/publication"}

// checkAbsence is XP-VERSION-004: a null or a zero time says something where nothing was to be said.
func (c *recorder) checkAbsence(place string, body []byte) {
	clean := true
	skip := func(pointer string) bool {
		return slices.Contains(judgedElsewhere, pointer) || pointer == "/arguments"
	}
	scalars(body, skip, func(pointer string, raw jcs.Raw) {
		s, isText := textOf(raw)
		if string(raw) == "null" || isText && len(s) < 40 && isZeroTime(s) {
			clean = false
			c.warn("XP-VERSION-004", place, fmt.Sprintf("%.200s is %.60s", pointer, raw), "leave the member out: absent means not stated")
		}
	})
	if clean {
		c.pass("XP-VERSION-004", place)
	}
}

// checkMembers is XP-VERSION-003: members that version 1.0 does not know are allowed, as long as no reader needs them, which a document does not show.
func (c *recorder) checkMembers(place string, o object, known []string) {
	var more []string
	for name := range o {
		if !slices.Contains(known, name) {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	c.prefer(len(more) == 0, "XP-VERSION-003", place, fmt.Sprintf("members beyond those of version 1.0: %.200q", more), "keep them optional; a required one needs a new protocol_x_version")
}

var (
	sentences  = regexp.MustCompile(`[^.;!?\n]+`)
	negated    = regexp.MustCompile(`(?i)\b(not|no|nobody|none|never|neither|nor|cannot|without|un[a-z]+ed)\b|n't\b`)
	registered = regexp.MustCompile(`(?i)\b(registered|reserved|standardi[sz]ed|IANA|RFC ?8615)\b`)
	paths      = regexp.MustCompile(`(?i)well-known|x-protocol|/t/|\bsuffix\b`)
	assured    = regexp.MustCompile(`(?i)\b(signed|verified|attested|authenticated|tamper[- ]?proof)\b`)
	unsigned   = regexp.MustCompile(`(?i)dump|export|jsonl|ndjson|json-ld|\bpages?\b|html|llms|sitemap|catalogue|catalog`)
)

// maxText is how much of one text is searched for claims.
const maxText = 4 << 10

// claim reports whether a sentence of text speaks of all subjects without a negation.
func claim(text string, subjects ...*regexp.Regexp) bool {
	for _, s := range sentences.FindAllString(text, -1) {
		if !negated.MatchString(s) && !slices.ContainsFunc(subjects, func(r *regexp.Regexp) bool { return !r.MatchString(s) }) {
			return true
		}
	}
	return false
}

// checkClaims is the text scan of XP-DISCOVERY-007 and XP-INTEGRITY-003 over what the registry writes. A text can say it in other words, so it only warns.
func (c *recorder) checkClaims(place string, body []byte) {
	var named, vouched bool
	skip := func(pointer string) bool { // the business's or the caller's words
		return pointer == "/publisher" || pointer == "/results" || pointer == "/request"
	}
	scalars(body, skip, func(_ string, raw jcs.Raw) {
		s, ok := textOf(raw)
		if !ok || strings.Contains(s, "://") && !strings.Contains(s, " ") {
			return
		}
		s = clip(s, maxText)
		named = named || claim(s, registered, paths)
		vouched = vouched || claim(s, assured, unsigned)
	})
	c.prefer(!named, "XP-DISCOVERY-007", place, "a text calls a path of this protocol registered, reserved or standardised", "no application for the suffix was filed; call it a convention of this origin")
	c.prefer(!vouched, "XP-INTEGRITY-003", place, "a text calls an export or a page signed or verified", "say that manifests, lists and answers are signed, and exports and pages are not")
}
