package importer

import (
	"regexp"
	"strconv"
	"strings"
)

// decimal is a number as its digits: digits × 10^exponent. It is shifted and printed without ever being a binary number (F§3.2). digits has no zeros at
// either end; zero has none at all.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// What YAML 1.1 writes as a decimal number: digits may be grouped by underscores, either side of the point may be empty.
var decimalText = regexp.MustCompile(`^([-+]?)([0-9][0-9_]*)?(?:\.([0-9_]*))?(?:[eE]([-+]?[0-9]{1,9}))?$`)

// parseDecimal reads a number of an upstream file. A leading zero before further digits is refused: YAML 1.1 reads 017 as octal.
func parseDecimal(text string) (d decimal, ok bool) {
	m := decimalText.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	whole, fraction := strings.ReplaceAll(m[2], "_", ""), strings.ReplaceAll(m[3], "_", "")
	if whole+fraction == "" || len(whole) > 1 && whole[0] == '0' {
		return d, false
	}
	exponent := 0
	if m[4] != "" {
		exponent, _ = strconv.Atoi(m[4])
	}
	return newDecimal(m[1] == "-", whole, fraction, exponent), true
}

func newDecimal(negative bool, whole, fraction string, exponent int) decimal {
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	if trimmed == "" {
		return decimal{}
	}
	return decimal{negative, trimmed, exponent}
}

// shift multiplies by a power of ten.
func (d decimal) shift(places int) decimal {
	if d.digits != "" {
		d.exponent += places
	}
	return d
}

// magnitude is the number of digits before the point; zero or less for what is smaller than 1.
func (d decimal) magnitude() int { return len(d.digits) + d.exponent }

// decimals is the number of digits behind the point.
func (d decimal) decimals() int { return max(0, -d.exponent) }

// sentinel reports numbers that stand for "no limit": of 10^15 or more, or nines alone up to the units, nine of them or more.
func (d decimal) sentinel() bool {
	return d.magnitude() > 15 || d.exponent == 0 && len(d.digits) >= 9 && strings.Trim(d.digits, "9") == ""
}

// String writes the number without exponent.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	s := d.digits
	switch m := d.magnitude(); {
	case d.exponent >= 0:
		s += strings.Repeat("0", d.exponent)
	case m > 0:
		s = s[:m] + "." + s[m:]
	default:
		s = "0." + strings.Repeat("0", -m) + s
	}
	if d.negative {
		return "-" + s
	}
	return s
}

// grouping is a way of writing numbers as text that a mapping can name: the separators of groups of three and of decimals.
type grouping struct{ group, point string }

// groupings are the formats by the example that names them.
var groupings = map[string]grouping{
	"1,234.56": {",", "."},
	"1.234,56": {".", ","},
	"1 234,56": {" ", ","},
	"1'234.56": {"'", "."},
	"1234.56":  {"", "."},
	"1234,56":  {"", ","},
}

var (
	digitsOnly = regexp.MustCompile(`^[0-9]+$`)
	// Text that a person would read as a number: digits with any of the usual separators, a currency sign or a percent sign.
	numericText = regexp.MustCompile(`^[-+]?[£$€]?[ \x{a0}]?([0-9]+([.,][0-9]*)?|[.,][0-9]+|[0-9]{1,3}([.,' \x{a0}\x{202f}][0-9]{2,3})+([.,][0-9]+)?)([eE][-+]?[0-9]+)?[ \x{a0}]?[£$€%]?$`)
)

// looksNumeric reports text that somebody would read as a number.
func looksNumeric(s string) bool {
	_, ok := parseDecimal(s)
	return ok || numericText.MatchString(s)
}

// parse reads a text by the format, exactly: groups of three from the point on, or no grouping at all.
func (g grouping) parse(text string) (d decimal, ok bool) {
	text = strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(text)
	text, negative := strings.CutPrefix(text, "-")
	whole, fraction, hasPoint := strings.Cut(text, g.point)
	if hasPoint && !digitsOnly.MatchString(fraction) {
		return d, false
	}
	if g.group != "" && strings.Contains(whole, g.group) {
		groups := strings.Split(whole, g.group)
		for i, part := range groups {
			if !digitsOnly.MatchString(part) || i > 0 && len(part) != 3 || i == 0 && len(part) > 3 {
				return d, false
			}
		}
		whole = strings.Join(groups, "")
	}
	if !digitsOnly.MatchString(whole) || len(whole) > 1 && whole[0] == '0' {
		return d, false
	}
	return newDecimal(negative, whole, fraction, 0), true
}
