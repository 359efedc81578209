package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sayso/facts"
)

// valueLinter checks one fact and its values.
type valueLinter struct {
	*linter
	*findings
	topic     *Topic
	fact      *Fact
	namespace *Namespace // nil when it is not declared
}

func (v *valueLinter) fail(rule, place, message, reason, next string) {
	v.findings.fail(rule, place, message, reason, next)
}

func (v *valueLinter) warn(rule, place, message, reason, next string) {
	v.findings.warn(rule, place, message, reason, next)
}

func (v *valueLinter) at(p Position) string { return place(v.topic.File, p) }

// check applies the rules of the values of a topic file. Drafts are checked too, so that confirming them does not break the folder.
func (v *valueLinter) check() {
	if len(v.fact.Values) == 0 {
		v.fail(ruleShape, v.at(v.fact.At), fmt.Sprintf("%s has no value", v.fact.Key), "a key without a value cannot be answered",
			"add one with facts set, or remove the fact")
	}
	v.types()
	v.spans()
	for i := range v.fact.Values {
		x := &v.fact.Values[i]
		v.source(x)
		v.verified(x)
		v.calendar(x)
		v.plausible(x)
		v.quote(x)
		if x.Draft() && !x.broken {
			v.warn(ruleVerified, v.at(x.At.Item), fmt.Sprintf("a value of %s is a draft", v.fact.Key), "it has no verifiedDate and is in no build",
				"confirm it with facts confirm, or remove it")
		}
	}
	if p := v.fact.Previous; p != nil && p.Value.Kind() == facts.Null.Kind() {
		v.fail(ruleType, v.at(v.fact.PreviousAt), "previous has no figure", "an earlier value is a figure with its own source", "remove the block")
	}
	v.openEnd()
}

// candidate applies what can be known before a value is confirmed.
func (v *valueLinter) candidate() {
	v.checkKey(v.fact.Key, v.at(v.fact.At))
	for i := range v.fact.Values {
		x := &v.fact.Values[i]
		v.source(x)
		if _, held := v.folder.Find(v.fact.Key); held != nil && slices.ContainsFunc(held.Values, func(h Value) bool { return h.start() == x.start() && !h.Draft() }) {
			v.fail(ruleShape, v.at(x.At.Item), fmt.Sprintf("candidate %s is already held for %s", v.fact.Key, spanText(x)),
				"a confirmed candidate leaves candidates/", "remove it from the file, or run facts confirm again")
		}
	}
}

// types checks VF-D-005.
func (v *valueLinter) types() {
	var first *Value
	for i := range v.fact.Values {
		x := &v.fact.Values[i]
		if x.Value == facts.Null || x.Value == "" {
			continue
		}
		if first == nil {
			first = x
			continue
		}
		if a, b := x.Value.Kind(), first.Value.Kind(); a != b {
			v.fail(ruleType, v.at(x.At.Value), fmt.Sprintf("%s is a %s here and a %s at %s", v.fact.Key, a, b, v.at(first.At.Value)),
				"programs read one JSON type per key", "give the other definition a key of its own")
		}
		if x.Unit != first.Unit {
			v.warn(ruleType, v.at(x.At.Unit), fmt.Sprintf("%s has unit %q here and %q at %s", v.fact.Key, x.Unit, first.Unit, v.at(first.At.Value)),
				"a changed unit often means a changed definition", "give the other definition a key of its own, or leave it if the unit alone changed")
		}
	}
}

// spans checks VF-D-006 over the values as they would be held.
func (v *valueLinter) spans() {
	if v.fact.broken() {
		return
	}
	values := make([]*Value, 0, len(v.fact.Values))
	for i := range v.fact.Values {
		x := &v.fact.Values[i]
		values = append(values, x)
		if !x.To.IsZero() && x.To < x.From {
			v.fail(ruleSpan, v.at(x.At.To), fmt.Sprintf("effectiveTo %s lies before effectiveFrom %s", x.To, x.From),
				"effectiveTo is the last day, inclusive", "correct one of them")
		}
		if i > 0 && x.start() > v.fact.Values[i-1].start() {
			v.fail(ruleSpan, v.at(x.At.Item), fmt.Sprintf("a value of %s begins after the one above it", v.fact.Key), "values stand newest first", "reorder them")
		}
		if !x.Withdrawn.IsZero() && i > 0 {
			v.fail(ruleSpan, v.at(x.At.Withdrawn), fmt.Sprintf("%s is withdrawn and yet has a later value", v.fact.Key),
				"a withdrawn key does not come back", "give the new figure a new key, named in supersededBy")
		}
	}
	slices.SortStableFunc(values, func(a, b *Value) int { return int(b.start()) - int(a.start()) })
	for i := 1; i < len(values); i++ {
		newer, older := values[i-1], values[i]
		switch {
		case newer.start() == older.start():
			v.fail(ruleSpan, v.at(older.At.Item), fmt.Sprintf("two values of %s begin on the same day", v.fact.Key),
				"values of one key may not overlap", "keep one, or correct its effectiveFrom")
		case !older.To.IsZero() && older.To >= newer.start():
			v.fail(ruleSpan, v.at(older.At.To), fmt.Sprintf("effectiveTo %s overlaps the value that begins on %s", older.To, newer.start()),
				"values of one key may not overlap", "end it on "+(newer.start()-1).String()+" or before")
		case older.To.IsZero():
			v.gap(older, newer)
		}
	}
}

// gap checks that the derived end of the older value does not reach over a labelled period that nobody stated.
func (v *valueLinter) gap(older, newer *Value) {
	if v.namespace == nil {
		return
	}
	calendar := v.namespace.Calendar
	a, okA := periodYear(calendar, older.Period)
	b, okB := periodYear(calendar, newer.Period)
	if !okA || !okB || b-a < 2 {
		return
	}
	missing := periodStart(calendar, a+1)
	message := fmt.Sprintf("no value of %s is held between the periods %s and %s", v.fact.Key, older.Period, newer.Period)
	next := fmt.Sprintf("add the missing value, or write effectiveTo: %s", missing-1)
	if newer.start()-1 >= missing {
		v.fail(ruleSpan, v.at(older.At.Item), message, "without effectiveTo the older value would answer for the missing period", next)
		return
	}
	v.warn(ruleSpan, v.at(older.At.Item), message, "the older value has no effectiveTo", next)
}

// source checks VF-D-007.
func (v *valueLinter) source(x *Value) {
	if x.Source == "" {
		return // VF-D-001 names it
	}
	at := v.at(x.At.Source)
	normal, ok := facts.NormalizeSource(x.Source)
	switch {
	case normal == "":
		v.fail(ruleSource, at, fmt.Sprintf("source %q is no https URL", clip(x.Source)), "readers open it to check the figure",
			"write the https address of the page that states the figure")
		return
	case !ok:
		v.warn(ruleSource, at, "source is not in normal form", "one page in two spellings gives one figure two hashes", "write "+normal)
	}
	host := facts.SourceHost(x.Source)
	if x.SourceType == SourceDerived || x.SourceType == SourceMethodology {
		if x.Method == "" {
			v.fail(ruleSource, at, fmt.Sprintf("sourceType %s has no method", x.SourceType),
				"a figure that its source does not state needs a word on how it came about", "add method: one line or a URL")
		}
		return
	}
	if v.namespace != nil && !slices.Contains(v.namespace.Authorities, host) {
		v.fail(ruleSource, at, fmt.Sprintf("%s is not an authority of namespace %s", host, v.namespace.Name), "figures come from declared authorities",
			"cite the authority's page; or add the host to authorities; or say sourceType: derived with a method")
	}
}

// verified checks the dates of VF-D-008; its confirmation is checked with the line file.
func (v *valueLinter) verified(x *Value) {
	if x.Verified > v.today {
		v.fail(ruleVerified, v.at(x.At.Verified), fmt.Sprintf("verifiedDate %s lies after today (%s)", x.Verified, v.today),
			"nobody can have read the source yet", "run facts confirm on the day of reading")
	}
}

// calendar checks VF-D-009.
func (v *valueLinter) calendar(x *Value) {
	if v.namespace == nil || v.namespace.Calendar == facts.CalendarNone || x.Period == "" || !x.Withdrawn.IsZero() {
		return
	}
	calendar := v.namespace.Calendar
	year, ok := periodYear(calendar, x.Period)
	if !ok {
		form := "YYYY"
		if calendar == facts.CalendarUKTaxYear {
			form = "YYYY-YY"
		}
		v.warn(ruleCalendar, v.at(x.At.Period), fmt.Sprintf("period %q is no label of the %s calendar", x.Period, calendar),
			"readers ask with the usual label", "write "+form)
		return
	}
	if x.From.IsZero() {
		return
	}
	first, last := periodStart(calendar, year), periodStart(calendar, year+1)-1
	april := first - 5 // 1 April, on which wages and National Insurance classes begin
	if x.From == first || x.From == april && calendar == facts.CalendarUKTaxYear && StartsInApril(v.fact.Key) {
		return
	}
	if x.From < first || x.From > last || x.From < first+14 {
		v.warn(ruleCalendar, v.at(x.At.From), fmt.Sprintf("effectiveFrom %s is not the first day of %s (%s)", x.From, x.Period, first),
			"one figure with two first days gets two hashes", "check the day on the source's page")
	}
}

// StartsInApril reports the keys whose yearly figures the uk starts on 1 April.
func StartsInApril(key string) bool {
	return strings.Contains(key, "wage") || strings.Contains(key, "national-insurance")
}

// plausible checks VF-D-010.
func (v *valueLinter) plausible(x *Value) {
	if x.Unit != "" && !facts.CheckUnit(x.Unit) {
		v.warn(ruleUnit, v.at(x.At.Unit), fmt.Sprintf("unit %q is not a listed one", clip(x.Unit)),
			"readers and other publishers know the listed spellings", "write %, an ISO 4217 code, CODE/hour|day|week|month|year, hour, day, week, month, year, date or rule")
	}
	if x.Literal == "" {
		return
	}
	at := v.at(x.At.Value)
	text := x.Value.Text()
	digits, decimals := numberDigits(text)
	if digits > 15 {
		v.warn(ruleUnit, at, fmt.Sprintf("the number %s has %d significant digits", text, digits),
			"figures this long are usually noise of floating-point arithmetic", "write the digits the source prints")
	}
	if isMoney(x.Unit) && decimals > 3 {
		v.warn(ruleUnit, at, fmt.Sprintf("the amount %s has %d decimals", text, decimals), "published amounts have at most three",
			"write the amount the source prints")
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && x.Unit == "%" && n > 100 {
		v.warn(ruleUnit, at, fmt.Sprintf("the rate %s %% is above 100", text), "it may have been multiplied twice", "check it on the source's page")
	}
}

func isMoney(unit string) bool {
	code, _, _ := strings.Cut(unit, "/")
	return len(code) == 3 && code == strings.ToUpper(code) && facts.CheckUnit(unit)
}

// numberDigits counts the significant digits and the decimals of a JSON number without exponent; with one, decimals is 0.
func numberDigits(text string) (digits, decimals int) {
	mantissa, _, exponent := strings.Cut(strings.TrimPrefix(text, "-"), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	if fraction == "" {
		all = strings.TrimRight(all, "0")
	}
	if exponent {
		return len(all), 0
	}
	return len(all), len(fraction)
}

// quote checks VF-D-015. A derived figure has no sentence of its source to quote.
func (v *valueLinter) quote(x *Value) {
	if x.SourceType == SourceDerived || x.SourceType == SourceMethodology || !x.Withdrawn.IsZero() || x.Value == "" {
		return
	}
	if x.Quote == "" {
		v.warn(ruleQuote, v.at(x.At.Item), fmt.Sprintf("a value of %s has no quote", v.fact.Key), "recheck compares the page with the quote",
			"add the source's own words around the figure")
		return
	}
	if kind := x.Value.Kind(); kind != "number" && kind != "string" {
		return
	}
	if !containsValue(normalText(x.Quote), x.Value) {
		v.warn(ruleQuote, v.at(x.At.Quote), fmt.Sprintf("the quote does not contain %s", clip(x.Value.Text())),
			"the quote is what a reader compares with the figure", "quote the words that state it")
	}
}

// openEnd checks VF-D-017 (S16).
func (v *valueLinter) openEnd() {
	held := confirmedValues(v.fact)
	if len(held) == 0 {
		return
	}
	x := held[0]
	if x.Period != "" && x.To.IsZero() && x.Withdrawn.IsZero() {
		next := "write effectiveTo: the last day of the period"
		if v.namespace != nil {
			if year, ok := periodYear(v.namespace.Calendar, x.Period); ok {
				next = fmt.Sprintf("write effectiveTo: %s", periodStart(v.namespace.Calendar, year+1)-1)
			}
		}
		v.warn(ruleOpenEnd, v.at(x.At.Item), fmt.Sprintf("%s for %s has no effectiveTo", v.fact.Key, x.Period),
			"after the period it would go on answering for days of which nothing is known", next)
	}
}

// spanText names a value by its period or its first day.
func spanText(v *Value) string {
	switch {
	case v.Period != "":
		return v.Period
	case !v.start().IsZero():
		return v.start().String()
	}
	return "no date"
}
