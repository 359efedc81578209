package importer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sayso/facts"
	"sayso/facts/dataset"
)

// job is one parameter on its way through the rules.
type job struct {
	*taker
	e       *entry
	s       *series
	ns      *facts.Namespace
	year    year
	measure measure
	fact    dataset.Fact
}

// parameter takes one mapped parameter, or reports why not.
func (t *taker) parameter(e *entry, s *series) {
	if f := t.m.refused(s.path); f != nil {
		t.refuse(e, s, nil, &problem{ruleFolder, fmt.Sprintf("%s is refused as a whole: %s", f.path, f.reason), "take the path out of the mapping"})
		return
	}
	ns, p := t.key(e)
	if p == nil {
		p = s.problem
	}
	if p != nil {
		t.refuse(e, s, nil, p)
		return
	}
	j := &job{taker: t, e: e, s: s, ns: ns, year: yearOf(ns.Calendar, e.key, e.yearStarts)}
	if j.measure, p = measureOf(e, s, t.m.Kind != EndOfLife); p != nil {
		t.refuse(e, s, nil, p)
		return
	}
	j.fact = dataset.Fact{Key: e.key, Label: e.label, Scope: e.scope, Aliases: e.aliases, Unit: j.measure.unit}
	switch {
	case s.ranges:
		j.takeRanges()
	case t.m.Kind == EndOfLife:
		j.take(&s.values[0])
	default:
		j.takeSeries()
	}
	j.finish()
}

// finish turns what was taken into a candidate: newest value first, one type, nothing that the folder holds already.
func (j *job) finish() {
	values := j.fact.Values
	if len(values) == 0 {
		return
	}
	slices.SortStableFunc(values, func(a, b dataset.Value) int { return int(b.From) - int(a.From) })
	for i := range values {
		if a, b := values[i].Value.Kind(), values[0].Value.Kind(); a != b {
			j.refuse(j.e, j.s, nil, &problem{ruleType, fmt.Sprintf("the value is a %s from %s and a %s from %s", a, values[i].From, b, values[0].From), "give each type a key of its own"})
			return
		}
	}
	total := len(values)
	values = slices.DeleteFunc(values, j.held)
	if len(values) == 0 {
		j.report.Held++
		return
	}
	if len(values) < total {
		j.fact.Previous = nil
	}
	if j.m.Kind == CSV {
		j.fact.Unit = values[0].Unit // the first row's cell may be one that was refused
	}
	j.fact.Values = values
	j.report.Taken++
	j.report.Values += len(values)
	j.taker.taken = append(j.taker.taken, taken{j.fact, j.e.synonyms})
}

// held reports a value whose first day the folder holds already. Another figure for that day is a correction, which an import may not make.
func (j *job) held(v dataset.Value) bool {
	fact := j.heldFacts[j.fact.Key]
	if fact == nil {
		return false
	}
	i := slices.IndexFunc(fact.Values, func(h dataset.Value) bool { return h.From == v.From })
	if i < 0 {
		return false
	}
	if h := fact.Values[i]; h.Value != v.Value || h.Unit != v.Unit {
		j.note(j.e, j.s, &dated{from: v.From}, &problem{ruleHeld, fmt.Sprintf("the folder holds %s %s, upstream says %s %s", h.Value.Text(), h.Unit, v.Value.Text(), v.Unit),
			"read the source; if upstream is right, use facts set --correction"})
	}
	return true
}

// takeSeries takes a history without ends: a value ends the day before the next one begins, be it null. The value in force decides about the parameter.
func (j *job) takeSeries() {
	values := slices.Clone(j.s.values)
	current := -1
	for i := range values {
		if i+1 < len(values) && values[i+1].from > values[i].from {
			values[i].to, values[i].ended = values[i+1].from.AddDays(-1), true
		}
		if values[i].from <= j.o.Today {
			current = i
		}
	}
	if p := j.inForce(values, current); p != nil {
		j.refuse(j.e, j.s, at(values, current), p)
		return
	}
	checked, p := j.checked(&values[current])
	if p != nil {
		j.refuse(j.e, j.s, &values[current], p)
		return
	}
	v, p := j.value(&values[current])
	if p != nil {
		j.refuse(j.e, j.s, &values[current], p)
		return
	}
	v.Checked = checked
	j.fact.Values = append(j.fact.Values, v)
	for i := range values {
		if i == current || values[i].problem == nil && values[i].value.kind == null {
			continue
		}
		if i > current || j.e.history {
			j.take(&values[i])
		}
	}
	if !j.e.history {
		j.previous(values[:current])
	}
	j.gaps()
}

func at(values []dated, i int) *dated {
	if i < 0 {
		return nil
	}
	return &values[i]
}

func (j *job) inForce(values []dated, current int) *problem {
	switch {
	case len(values) == 0:
		return &problem{ruleNotInForce, "the parameter has no value", "leave it out of the mapping"}
	case current < 0:
		return &problem{ruleNotInForce, fmt.Sprintf("no value is in force before %s", values[0].from), "import again from that day on"}
	case values[current].problem == nil && values[current].value.kind == null:
		return &problem{ruleNotInForce, fmt.Sprintf("upstream says that it was abolished on %s", values[current].from), "leave it out of the mapping, or withdraw the key that it had"}
	}
	return nil
}

// checked is the upstream check date of the value in force (VF-I-02).
func (j *job) checked(d *dated) (facts.Date, *problem) {
	s := j.s.checked
	if s == "" {
		if !j.e.checked {
			return 0, nil
		}
		return 0, &problem{ruleChecked, "no upstream check date", "the mapping asks for one: read the figure yourself, or say checked: optional"}
	}
	day, err := facts.ParseDate(s)
	next := "the date cannot be one of reading this value: mend it upstream"
	switch {
	case err != nil:
		return 0, &problem{ruleChecked, fmt.Sprintf("the upstream check date %q is no date", clip(s)), next}
	case day < d.from:
		return 0, &problem{ruleChecked, fmt.Sprintf("the upstream check date %s lies before the value began", day), next}
	case day > j.o.Today:
		return 0, &problem{ruleChecked, fmt.Sprintf("the upstream check date %s lies after today", day), next}
	}
	return day, nil
}

// previous keeps the value before the one in force where it cites a page of its own (F§3.4).
func (j *job) previous(earlier []dated) {
	if len(earlier) == 0 || earlier[len(earlier)-1].value.kind == null {
		return
	}
	v, p := j.value(&earlier[len(earlier)-1])
	if p == nil && v.Value.Kind() == j.fact.Values[0].Value.Kind() {
		j.fact.Previous = &facts.Previous{Value: v.Value, Period: v.Period, From: v.From, Source: v.Source}
	}
}

// take takes one value or reports why not.
func (j *job) take(d *dated) {
	v, p := j.value(d)
	if p != nil {
		j.refuse(j.e, j.s, d, p)
		return
	}
	j.fact.Values = append(j.fact.Values, v)
}

// takeRanges takes values with their own ends: of rate tables and of CSV files.
func (j *job) takeRanges() {
	values := slices.Clone(j.s.values)
	sortValues(values)
	for i := range values {
		d := &values[i]
		switch {
		case d.problem != nil:
		case d.ended && farEnd(d.to):
			j.note(j.e, j.s, d, &problem{ruleOpenEnd, fmt.Sprintf("the end %s is read as an open end", d.to), "nothing, unless the source really names that day"})
			d.to, d.ended = 0, false
		case d.ended && d.to < d.from:
			d.problem = shapeProblem("the value ends on %s, before it begins", d.to)
		}
	}
	overlapping := overlaps(values)
	for i := range values {
		if other, ok := overlapping[i]; ok {
			o := &values[other]
			j.refuse(j.e, j.s, &values[i], &problem{ruleOverlap, fmt.Sprintf("the range %s overlaps %s on line %d", span(&values[i]), span(o), o.line), "nobody can say which of the two was in force: mend it upstream, or use facts set"})
			continue
		}
		if i+1 < len(values) {
			j.derivedEnd(&values[i], &values[i+1])
		}
		j.take(&values[i])
	}
	j.gaps()
}

// derivedEnd ends an open value before the next one, and a labelled one with its own year at the latest, so that no missing period is bridged (VF-I-08).
func (j *job) derivedEnd(d, next *dated) {
	if d.ended || next.from.IsZero() {
		return
	}
	d.to, d.ended = next.from.AddDays(-1), true
	if n, ok := j.year.parse(d.period); ok {
		if last := j.year.first(n + 1).AddDays(-1); last < d.to && last >= d.from {
			d.to = last
		}
	}
}

// farEnd reports the days that files write for "no end": 2099-12-31 and everything from 2100 on (2100-04-05, 2999-01-01, 3000-01-01).
func farEnd(d facts.Date) bool {
	y, m, day := d.Civil()
	return y >= 2100 || y == 2099 && m == 12 && day == 31
}

func span(d *dated) string {
	if !d.ended {
		return d.from.String() + ".."
	}
	return d.from.String() + ".." + d.to.String()
}

// overlaps finds the values whose ranges overlap, each with one it overlaps. An open value is ended by the next one, so it overlaps only what begins on
// the same day.
func overlaps(values []dated) map[int]int {
	out := map[int]int{}
	longest := -1 // of those before i, the one with the latest stated end
	for i := range values {
		if values[i].problem != nil {
			continue
		}
		for k := i - 1; k >= 0 && values[k].from == values[i].from; k-- {
			if values[k].problem == nil {
				out[i], out[k] = k, i
			}
		}
		if longest >= 0 && values[longest].to >= values[i].from {
			out[i], out[longest] = longest, i
		}
		if values[i].ended && (longest < 0 || values[i].to > values[longest].to) {
			longest = i
		}
	}
	return out
}

// gaps reports days between two taken values that no value covers (VF-I-08).
func (j *job) gaps() {
	values := slices.Clone(j.fact.Values)
	slices.SortStableFunc(values, func(a, b dataset.Value) int { return int(a.From) - int(b.From) })
	for i := range values {
		if i == 0 || values[i-1].To.IsZero() || values[i].From <= values[i-1].To.AddDays(1) {
			continue
		}
		older, newer := &values[i-1], &values[i]
		names := ""
		if older.Period != "" && newer.Period != "" {
			names = fmt.Sprintf(" between %s and %s", older.Period, newer.Period)
		}
		j.note(j.e, j.s, &dated{from: newer.From}, &problem{ruleGap, fmt.Sprintf("no value from %s to %s%s", older.To.AddDays(1), newer.From.AddDays(-1), names),
			"add the missing value with facts set when a source states it; the gap is not bridged"})
	}
}

// value applies the rules to one dated value.
func (j *job) value(d *dated) (dataset.Value, *problem) {
	var out dataset.Value
	if d.problem != nil && d.problem.rule != ruleShape {
		return out, d.problem
	}
	if d.floor {
		return out, &problem{ruleFloor, "the first value is dated at the floor of the model", "held since is not in force since: find the day in the source and use facts set"}
	}
	source, p := j.source(d)
	if p == nil {
		p = d.problem
	}
	if p == nil {
		p = j.measure.allows(d)
	}
	if p != nil {
		return out, p
	}
	c := converter{j: j, d: d, unit: j.measure.unit}
	if j.m.Kind == CSV {
		c.unit = d.unit
	}
	if out.Value, p = c.convert(d.value); p != nil {
		return out, p
	}
	out.Unit, out.From, out.To, out.ToExplicit = c.unit, d.from, d.to, !d.to.IsZero()
	out.Source, out.SourceType, out.Method, out.Quote = source, j.e.sourceType, j.e.method, d.quote
	if out.SourceType == dataset.SourceAuthority {
		out.SourceType = ""
	}
	if j.m.Kind == CSV {
		out.Period = d.period
	} else {
		out.Upstream = j.s.path
		if !j.e.standing {
			out.Period = j.year.label(d.from, d.to, j.o.Today)
		}
	}
	return out, nil
}

// source chooses the page that a value cites for itself, in normal form (VF-I-01, 03, 04, 05).
func (j *job) source(d *dated) (string, *problem) {
	var own []reference
	for _, r := range d.refs {
		if r.url != "" {
			own = append(own, r)
		}
	}
	if len(own) == 0 {
		switch {
		case d.from > j.o.Today:
			return "", &problem{ruleForecast, fmt.Sprintf("the value begins on %s, after today, and no source announces it", d.from), "import again when it is in force, or cite the announcement upstream"}
		case j.e.source == "":
			return "", &problem{ruleURL, "the value has no URL of its own", "cite the page at the value upstream, or use facts set with the source you read"}
		}
		own = []reference{{"", j.e.source}}
	} else if j.e.source != "" && d.from <= j.o.Today {
		own = []reference{{"", j.e.source}}
	}
	return j.choose(own)
}

func (j *job) choose(own []reference) (string, *problem) {
	first, insecure := "", ""
	var chosen reference
	for _, r := range own {
		normal, _ := facts.NormalizeSource(escapeLetters(r.url))
		switch {
		case strings.HasPrefix(strings.ToLower(r.url), "http://"):
			insecure = r.url
		case normal == "":
		case slices.Contains(j.ns.Authorities, facts.SourceHost(normal)):
			return normal, forecast(r)
		case first == "":
			first, chosen = normal, r
		}
	}
	switch {
	case first == "" && insecure != "":
		return "", &problem{ruleHTTPS, fmt.Sprintf("the source %q is not https", clip(insecure)), "cite the https address upstream"}
	case first == "":
		return "", &problem{ruleURL, fmt.Sprintf("%q is no absolute https URL", clip(own[0].url)), "cite the page by its address upstream"}
	case !j.e.derived():
		return "", &problem{ruleAuthority, fmt.Sprintf("%s is not an authority of namespace %s", facts.SourceHost(first), j.ns.Name),
			"cite the authority's page upstream, add the host to authorities, or map the parameter as sourceType: derived with a method"}
	}
	return first, forecast(chosen)
}

// escapeLetters writes letters beyond ASCII behind the host as browsers send them, in percent escapes (RFC 3987, section 3.1).
func escapeLetters(url string) string {
	if facts.SourceHost(url) == "" || !plainText(url) {
		return url
	}
	var b strings.Builder
	for i := range len(url) {
		if url[i] < utf8.RuneSelf {
			b.WriteByte(url[i])
			continue
		}
		fmt.Fprintf(&b, "%%%02X", url[i])
	}
	return b.String()
}

// Words by which a citation says that its figures are expected and not decided.
var forecastWords = []string{"forecast", "projection", "projected", "market-implied", "market implied", "implied-path", "nowcast", "fiscal-outlook", "fiscal outlook", "prévision"}

func forecast(r reference) *problem {
	said := strings.ToLower(r.title + " " + r.url)
	for _, w := range forecastWords {
		if strings.Contains(said, w) {
			return &problem{ruleForecast, fmt.Sprintf("the citation speaks of a %s", strings.ReplaceAll(w, "-", " ")), "an expected figure is no value in force: cite the decision upstream"}
		}
	}
	return nil
}
