package hours

import (
	"fmt"
	"strings"
)

// State is whether a place is open.
type State string

// The three states. Unknown is an answer of its own and never means closed.
const (
	Open    State = "open"
	Closed  State = "closed"
	Unknown State = "unknown"
)

// The reasons of a [Result].
const (
	ReasonRule           = "rule"               // a rule says so
	ReasonNoRule         = "no_rule"            // closed, because no rule covers the minute
	ReasonComment        = "comment"            // unknown: the rule has a comment, such as "by appointment", and no modifier
	ReasonStatedUnknown  = "stated_unknown"     // unknown: the rule says unknown
	ReasonHolidayUnknown = "holiday_unknown"    // unknown: it depends on a holiday, and the calendar does not know the day
	ReasonNoZone         = "zone_not_published" // unknown: an instant cannot be placed without a time zone
	ReasonAmbiguous      = "ambiguous"          // unknown: the instants that were asked for differ
	ReasonDateNeeded     = "date_needed"        // unknown: the answer for this weekday is not the same all year
)

// MaxLength is the longest value that is read, in bytes.
const MaxLength = 4096

// Hours is a parsed value. It is immutable.
type Hours struct {
	rules          []rule
	public, school bool // some rule names PH, SH
}

// rule is a Rule with its canonical text, which every Result repeats.
type rule struct {
	Rule
	text string
}

// Result is the state at one instant with its reason and the rule that decided.
type Result struct {
	State  State  `json:"state"`
	Reason string `json:"reason"`         // one of the Reason constants
	Rule   string `json:"rule,omitempty"` // canonical text of one rule; the rule about holidays when those are unknown
}

// Error is a refused value; Token is the part that was not understood.
type Error struct {
	Offset  int // byte offset in the value as given
	Token   string
	Message string
}

func (e *Error) Error() string { return e.Message }

// Warning is a repair or a lint finding.
type Warning struct {
	Code    string // repair_case, repair_time, …, lint_holiday_overlap, …
	Message string
}

// Parse normalises the spelling losslessly and then reads strictly. warnings name each repair and each lint finding. The error is an *Error.
func Parse(s string) (h *Hours, warnings []Warning, err error) {
	tokens, failure := scan(s)
	if failure != nil {
		return nil, nil, failure
	}
	p := parser{tokens: tokens}
	rules, failure := p.hours()
	if failure != nil {
		return nil, nil, failure
	}
	h = compile(rules)
	return h, append(repairs(s, tokens, h.String()), lint(rules)...), nil
}

// New makes a value of rules. It refuses what the notation cannot say and what it would read differently; warnings are lint findings. The error is an
// *Error whose Offset and Token are those of the text the rules print as. The first rule's Sep is [Replace].
func New(rules []Rule) (*Hours, []Warning, error) {
	text := compile(rules).String()
	h, warnings, err := Parse(text)
	if err != nil {
		return nil, nil, err
	}
	if !equal(h.Rules(), rules) {
		return nil, nil, &Error{Token: clip(text), Message: fmt.Sprintf("these rules would be read back differently from %q: state each rule in full, in the form Parse returns", clip(text))}
	}
	return h, warnings, nil
}

func compile(rules []Rule) *Hours {
	h := &Hours{rules: make([]rule, len(rules))}
	for i, r := range rules {
		h.rules[i] = rule{Rule: r, text: r.String()}
		h.public = h.public || r.names(PublicHoliday)
		h.school = h.school || r.names(SchoolHoliday)
	}
	return h
}

// String prints the canonical text; Parse(h.String()) gives an equal value.
func (h *Hours) String() string {
	var b strings.Builder
	for i, r := range h.rules {
		if i > 0 {
			b.WriteString(string(r.Sep))
		}
		b.WriteString(r.text)
	}
	return b.String()
}

// Rules returns a copy of the rules in order, for exporters. They are exactly the value: New(h.Rules()) gives an equal one.
func (h *Hours) Rules() []Rule {
	out := make([]Rule, len(h.rules))
	for i, r := range h.rules {
		out[i] = r.clone()
	}
	return out
}

// Deferred reports that the value states no hours but what to do instead: all its rules are comments without times, such as "by appointment".
func (h *Hours) Deferred() bool {
	for _, r := range h.rules {
		if r.Comment == "" || r.Modifier != "" || len(r.Spans) > 0 {
			return false
		}
	}
	return true
}

// clip shortens text from outside for a message, at the start of a character.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
