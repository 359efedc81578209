package importer

import (
	"regexp"
	"strings"
	"unicode"

	"sayso/facts"
)

// kind is the form of a literal.
type kind uint8

const (
	number kind = iota
	infinite
	text
	boolean
	null
	list
	object // a bracket of a scale
)

func (k kind) String() string {
	return [...]string{"a number", "a number without limit", "a text", "true or false", "null", "a list", "a scale"}[k]
}

// literal is a value as the upstream file writes it.
type literal struct {
	kind   kind
	number decimal
	text   string // as written
	names  []string
	items  []literal
}

// reference is a citation of a value.
type reference struct{ title, url string }

// dated is one value of a parameter from a first day on.
type dated struct {
	line    int
	from    facts.Date
	to      facts.Date // last day, zero while open
	ended   bool       // to was written upstream, or follows from the next value
	period  string     // CSV: the label as written
	unit    string     // the unit as written at the value
	quote   string     // CSV
	floor   bool       // dated at the floor of a model
	value   literal
	refs    []reference
	problem *problem
}

// series is one upstream parameter as a reader found it, before any rule but the reader's own was asked.
type series struct {
	path, file    string
	line          int
	unit, period  string
	thresholdUnit string
	uprated       bool
	checked       string // upstream check date as written
	ranges        bool   // values carry their own ends
	values        []dated
	problem       *problem
}

var datePattern = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// slug writes upstream words as a key segment.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.':
			b.WriteRune(r)
		case r == '+':
			b.WriteString("-plus")
		default:
			b.WriteByte('-')
		}
	}
	out := b.String()
	for _, twice := range []string{"--", ".."} {
		for strings.Contains(out, twice) {
			out = strings.ReplaceAll(out, twice, twice[:1])
		}
	}
	return strings.Trim(out, "-.")
}

// plainText reports text that prints as it reads: no control characters, line ends or directional marks.
func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == unicode.ReplacementChar
	})
}

// below reports whether an upstream path is a folder or lies in it.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '/')
}
