package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sayso/facts"
)

// measure is the published unit of a parameter and how its upstream numbers become numbers in it.
type measure struct {
	unit           string
	shift          int // places by which the decimal point moves
	thresholdShift int
	euroOnly       bool // upstream says "currency" alone, which before 2002 were francs
	decimals       int  // more were computed, not published
}

var (
	spans         = []string{"hour", "day", "week", "month", "year"}
	relativeUnits = regexp.MustCompile(`(?i)\b(bmaf|smic|pss|pmss|pass|fpl|fpg|minimum[ _-]wage|median|poverty)\b|^x[ _-]|[ _-]multiple`)
)

// euroDay is the first day on which amounts of French law are euro amounts without conversion.
var euroDay, _ = facts.ParseDate("2002-01-01")

// measureOf is F§11.2: currency-GBP with a period becomes GBP/year, /1 becomes %, bool becomes a rule; relative units are refused (VF-I-11).
// needed says that somebody must name a unit, the upstream or the mapping.
func measureOf(e *entry, s *series, needed bool) (measure, *problem) {
	upstream := s.unit
	switch {
	case e.upstreamUnit == "":
	case upstream == "" || upstream == e.upstreamUnit:
		upstream = e.upstreamUnit
	default:
		return measure{}, unitProblem("the upstream unit is %q, the mapping expects %q", clip(upstream), e.upstreamUnit)
	}
	m := measure{unit: e.unit}
	if s.thresholdUnit == "/1" {
		m.thresholdShift = 2
	}
	own, p := published(upstream, e, s, &m)
	if p != nil {
		return m, p
	}
	if own != "" && e.hasUnit && own != e.unit && !strings.HasPrefix(e.unit, own+"/") {
		return m, unitProblem("upstream unit %q gives %s, the mapping says %q", clip(upstream), own, e.unit)
	}
	switch {
	case e.hasUnit:
	case own == "" && needed:
		return m, unitProblem("neither the upstream nor the mapping names a unit; a number without one has unit: null")
	default:
		m.unit = own
	}
	m.decimals = e.decimals
	if m.decimals < 0 {
		m.decimals = convention(m.unit, s.uprated)
	}
	return m, nil
}

func unitProblem(format string, args ...any) *problem {
	return &problem{ruleShape, fmt.Sprintf(format, args...), "correct unit or upstreamUnit in the mapping"}
}

// published is the unit of F§7.2 that an upstream unit means, "" when the upstream names none or one that the mapping answers for.
func published(upstream string, e *entry, s *series, m *measure) (string, *problem) {
	code, isCurrency := strings.CutPrefix(upstream, "currency-")
	switch {
	case upstream == "":
		return "", nil
	case upstream == "/1" && e.hasUnit && e.unit == "":
		return "", nil // the mapping's author says: a factor or a count, not a rate
	case upstream == "/1":
		m.shift = 2
		return "%", nil
	case upstream == "bool":
		return "rule", nil
	case isCurrency || upstream == "currency":
		if upstream == "currency" {
			switch code, _, _ = strings.Cut(e.unit, "/"); {
			case code == "" && facts.KeyNamespace(e.key) == "fr":
				code = "EUR"
			case code == "":
				return "", &problem{ruleFranc, "the upstream unit names no currency", "write the unit in the mapping, such as EUR"}
			}
			m.euroOnly = code == "EUR"
		}
		if slices.Contains(spans, s.period) {
			return code + "/" + s.period, nil
		}
		return code, nil
	case relativeUnits.MatchString(upstream):
		return "", &problem{ruleRelative, fmt.Sprintf("the unit %q is relative: the figure means nothing without another one", clip(upstream)), "leave it out of the mapping"}
	case slices.Contains(spans, strings.TrimSuffix(upstream, "s")):
		return strings.TrimSuffix(upstream, "s"), nil
	case facts.CheckUnit(upstream):
		return upstream, nil
	case e.upstreamUnit == upstream && e.hasUnit:
		return "", nil
	}
	return "", &problem{ruleRelative, fmt.Sprintf("the unit %q is not known to be absolute", clip(upstream)), "when it is, name it as upstreamUnit in the mapping and give the published unit"}
}

// convention is the most decimals that are published in a unit. Uprated amounts are rounded to the cent before they are law.
func convention(unit string, uprated bool) int {
	code, _, _ := strings.Cut(unit, "/")
	switch isMoney := len(code) == 3 && code == strings.ToUpper(code) && facts.CheckUnit(unit); {
	case isMoney && uprated:
		return 2
	case isMoney:
		return 3
	case unit == "%" || slices.Contains(spans, unit):
		return 4
	}
	return 10
}

// allows checks what the unit says about one value (VF-I-12).
func (m *measure) allows(d *dated) *problem {
	if m.euroOnly && d.from < euroDay {
		return &problem{ruleFranc, fmt.Sprintf("the value is from %s, when the currency was the franc, and its unit names no currency", day(d.from)), "find the amount and its currency in the source"}
	}
	return nil
}

func day(d facts.Date) string {
	if d.IsZero() {
		return "an unknown day"
	}
	return d.String()
}

// converter turns one literal into a published value.
type converter struct {
	j    *job
	d    *dated
	unit string
}

func (c *converter) convert(l literal) (facts.Value, *problem) {
	json, p := c.appendJSON(nil, l, "", 0)
	if p != nil {
		return "", p
	}
	v, err := facts.ParseValue(json)
	if err != nil {
		return "", shapeProblem("%v", err)
	}
	if v.Kind() != "boolean" && c.unit == "rule" || v.Kind() == "boolean" && c.unit != "rule" && c.unit != "" {
		return "", &problem{ruleType, fmt.Sprintf("the value is a %s and its unit is %q", v.Kind(), c.unit), "true and false have unit rule, and nothing else has"}
	}
	if _, err := facts.ParseDate(v.Text()); c.unit == "date" && (err != nil || v.Kind() != "string") {
		return "", &problem{ruleType, fmt.Sprintf("the value %s is no date and its unit is date", clip(v.Text())), "give it the unit it has, or leave it out of the mapping"}
	}
	return v, nil
}

func (c *converter) appendJSON(dst []byte, l literal, name string, depth int) ([]byte, *problem) {
	switch l.kind {
	case number:
		return c.number(dst, l, name)
	case infinite:
		return nil, sentinelProblem(l.text)
	case boolean:
		return append(dst, l.text...), nil
	case text:
		return c.text(dst, l, name, depth)
	case null:
		return nil, shapeProblem("null stands where a value is expected")
	}
	open, closing := byte('['), byte(']')
	if l.kind == object {
		open, closing = '{', '}'
	}
	dst = append(dst, open)
	for i, item := range l.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		member := name
		if l.kind == object {
			member = l.names[i]
			dst = append(strconv.AppendQuote(dst, member), ':')
		}
		var p *problem
		if dst, p = c.appendJSON(dst, item, member, depth+1); p != nil {
			return nil, p
		}
	}
	return append(dst, closing), nil
}

func sentinelProblem(s string) *problem {
	return &problem{ruleSentinel, fmt.Sprintf("%q stands for a number without limit", clip(s)), "leave it out of the mapping: what has no limit has no figure"}
}

// number writes a number, its decimal point moved in the text. name is the member of a scale it stands in.
func (c *converter) number(dst []byte, l literal, name string) ([]byte, *problem) {
	d, m := l.number, &c.j.measure
	switch {
	case d.digits == "" && strings.HasPrefix(l.text, "-"):
		return nil, shapeProblem("the number is minus zero")
	case d.sentinel():
		return nil, sentinelProblem(l.text)
	}
	most := m.decimals
	if c.j.m.Kind == CSV && c.j.e.decimals < 0 {
		most = convention(c.unit, false)
	}
	switch name {
	case "threshold":
		d, most = d.shift(m.thresholdShift), 4
	default:
		d = d.shift(m.shift)
	}
	if len(d.digits) > 15 || d.decimals() > most {
		return nil, &problem{ruleUprated, fmt.Sprintf("%s has more decimals than are published in %s: it was computed", clip(l.text), orNone(c.unit)),
			"take the figure from the source with facts set, or name decimals in the mapping when the source prints as many"}
	}
	if m.shift > 0 && d.magnitude() > 3 {
		c.j.note(c.j.e, c.j.s, c.d, &problem{ruleShape, fmt.Sprintf("%s became %s %%", clip(l.text), d), "when it is a factor or a count and no rate, write unit: null in the mapping"})
	}
	return append(dst, d.String()...), nil
}

func orNone(unit string) string {
	if unit == "" {
		return "a number without unit"
	}
	return unit
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+$`)
	listName     = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// text writes a text, unless it is a name out of program code (VF-I-14) or a number in disguise (VF-I-16).
func (c *converter) text(dst []byte, l literal, name string, depth int) ([]byte, *problem) {
	s := l.text
	switch {
	case variableName.MatchString(s) || depth > 0 && listName.MatchString(s):
		return nil, &problem{ruleCode, fmt.Sprintf("%q is the name of a variable", clip(s)), "leave it out of the mapping: the figure is what the program computes with it"}
	case looksNumeric(s) && c.j.m.Kind != EndOfLife:
		g, ok := groupings[c.j.e.format]
		if !ok {
			return nil, &problem{ruleGrouped, fmt.Sprintf("the number is written as the text %q", clip(s)), "name its format in the mapping, such as format: \"1,234.56\""}
		}
		d, ok := g.parse(s)
		if !ok {
			return nil, &problem{ruleGrouped, fmt.Sprintf("the text %q is no number of the format %s", clip(s), c.j.e.format), "correct the format in the mapping"}
		}
		out, p := c.number(dst, literal{kind: number, number: d, text: s}, name)
		if p == nil {
			c.j.note(c.j.e, c.j.s, c.d, &problem{ruleGrouped, fmt.Sprintf("the text %q was read as %s", clip(s), out[len(dst):]), "nothing, if that is the figure"})
		}
		return out, p
	case infiniteText.MatchString(s):
		return nil, sentinelProblem(s)
	case c.unit != "" && c.unit != "date" && c.unit != "rule" && facts.CheckUnit(c.unit):
		return nil, shapeProblem("the text %q has the unit %s", clip(s), c.unit)
	case s == "" || !utf8.ValidString(s) || !plainText(s):
		return nil, shapeProblem("the text is empty or holds control characters")
	}
	return append(dst, facts.StringValue(s)...), nil
}
