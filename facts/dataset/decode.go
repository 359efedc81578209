package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sayso/facts"
	"sayso/facts/dataset/yamlx"
	"sayso/jcs"
)

// decoder turns the tree of one file into typed values and reports everything that does not fit.
type decoder struct {
	*findings
	file      string
	candidate bool
}

func at(n *yamlx.Node) Position { return Position{int32(n.Line), int32(n.Col)} }

func (d *decoder) refuse(n *yamlx.Node, message, next string) {
	d.fail(ruleShape, place(d.file, at(n)), message, "the format fixes the members of each block and their types", next)
}

// mapping checks that n is a mapping of known members; required ones must be there.
func (d *decoder) mapping(n *yamlx.Node, what string, required, optional []string) bool {
	if n.Kind != yamlx.Map {
		d.refuse(n, fmt.Sprintf("%s is %s", what, n.Kind), "write its members as a mapping")
		return false
	}
	known := slices.Concat(required, optional)
	for _, m := range n.Members {
		if slices.Contains(known, m.Name) {
			continue
		}
		next := "the known members are " + strings.Join(known, ", ")
		if near := facts.NearestName(m.Name, known); near != "" {
			next = fmt.Sprintf("did you mean %q?", near)
		}
		d.fail(ruleShape, place(d.file, Position{int32(m.Line), int32(m.Col)}), fmt.Sprintf("unknown member %q of %s", clip(m.Name), what),
			"a misspelt member would be lost without a word", next)
	}
	for _, name := range required {
		if n.Get(name) == nil {
			d.refuse(n, fmt.Sprintf("%s has no %s", what, name), "add the member "+name)
		}
	}
	return true
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// text reads a member as text of 1 to limit characters; "" and the zero Position when it is absent, or null where that is allowed.
func (d *decoder) text(n *yamlx.Node, name string, limit int, nullable bool) (string, Position) {
	v := n.Get(name)
	switch {
	case v == nil:
		return "", Position{}
	case v.Kind == yamlx.Null && nullable:
		return "", at(v)
	case v.Kind != yamlx.String:
		next := "write text"
		if v.Kind == yamlx.Number || v.Kind == yamlx.Bool {
			next = fmt.Sprintf("quote it: %q", v.Text)
		}
		d.refuse(v, fmt.Sprintf("%s is %s, not text", name, v.Kind), next)
		return "", at(v)
	}
	d.checkText(v, name, limit, name == "quote")
	return v.Text, at(v)
}

// checkText refuses what would print differently from what it says.
func (d *decoder) checkText(v *yamlx.Node, name string, limit int, lines bool) {
	switch n := utf8.RuneCountInString(v.Text); {
	case strings.TrimSpace(v.Text) == "":
		d.refuse(v, name+" is empty", "write it or leave the member out")
	case n > limit:
		d.refuse(v, fmt.Sprintf("%s has %d characters, more than %d", name, n, limit), "shorten it")
	}
	for _, r := range v.Text {
		if lines && (r == '\n' || r == '\t') {
			continue
		}
		if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			d.refuse(v, fmt.Sprintf("%s holds the control character U+%04X", name, r), "remove it")
			return
		}
	}
}

func (d *decoder) date(n *yamlx.Node, name string) (facts.Date, Position) {
	v := n.Get(name)
	if v == nil || v.Kind == yamlx.Null {
		return 0, Position{}
	}
	day, err := facts.ParseDate(v.Text)
	if v.Kind != yamlx.String || err != nil {
		d.refuse(v, fmt.Sprintf("%s: %q is no date", name, clip(v.Text)), "write a calendar day as YYYY-MM-DD")
	}
	return day, at(v)
}

func (d *decoder) days(n *yamlx.Node, name string, absent int) int {
	v := n.Get(name)
	if v == nil {
		return absent
	}
	days, err := strconv.Atoi(v.Text)
	if v.Kind != yamlx.Number || err != nil || days < 0 || days > 36500 {
		d.refuse(v, fmt.Sprintf("%s: %q is no number of days", name, clip(v.Text)), "write a whole number from 0 to 36500")
		return absent
	}
	return days
}

var httpsURL = regexp.MustCompile(`^https://[^\s/?#@\\"<>]+([/?#][^\s\\"<>]*)?$`)

// url reads an https URL; the publisher's own may be http on loopback only, which build decides.
func (d *decoder) url(n *yamlx.Node, name string) string {
	s, pos := d.text(n, name, 2048, false)
	if s != "" && !httpsURL.MatchString(s) {
		d.fail(ruleShape, place(d.file, pos), fmt.Sprintf("%s: %q is no https URL", name, clip(s)), "readers follow it", "write an absolute https URL")
	}
	return s
}

// list reads a member as a list of texts.
func (d *decoder) list(n *yamlx.Node, name string, limit int) []string {
	v := n.Get(name)
	if v == nil {
		return nil
	}
	if v.Kind != yamlx.Seq {
		d.refuse(v, fmt.Sprintf("%s is %s, not a list", name, v.Kind), "write a list: [ … ]")
		return nil
	}
	out := make([]string, 0, len(v.Items))
	for _, item := range v.Items {
		if item.Kind != yamlx.String {
			d.refuse(item, fmt.Sprintf("an item of %s is %s, not text", name, item.Kind), "quote it")
			continue
		}
		d.checkText(item, "an item of "+name, limit, false)
		if slices.Contains(out, item.Text) {
			d.refuse(item, fmt.Sprintf("%q stands twice in %s", clip(item.Text), name), "remove one")
			continue
		}
		out = append(out, item.Text)
	}
	return out
}

// blocks reads a member as a list of mappings.
func (d *decoder) blocks(n *yamlx.Node, name string) []*yamlx.Node {
	v := n.Get(name)
	if v == nil {
		return nil
	}
	if v.Kind != yamlx.Seq {
		d.refuse(v, fmt.Sprintf("%s is %s, not a list", name, v.Kind), "write one item with a dash for each")
		return nil
	}
	return v.Items
}

// choice reads a member that has one of a few values.
func (d *decoder) choice(n *yamlx.Node, name string, values ...string) string {
	s, pos := d.text(n, name, 40, false)
	if s != "" && !slices.Contains(values, s) {
		d.fail(ruleShape, place(d.file, pos), fmt.Sprintf("%s: %q is none of %s", name, clip(s), strings.Join(values, ", ")), "other words have no meaning here",
			"choose one of them")
		return ""
	}
	return s
}

func (d *decoder) publisher(root *yamlx.Node) Publisher {
	var p Publisher
	if !d.mapping(root, "publisher.yaml", []string{"format", "publisher", "namespaces"}, []string{"kidPrefix", "licence", "contact", "keyPolicy",
		"history", "selfCheck", "examples", "areas", "resolve"}) {
		return p
	}
	d.choice(root, "format", Format)
	if n := root.Get("publisher"); n != nil && d.mapping(n, "publisher", []string{"name", "url"}, nil) {
		p.Name, _ = d.text(n, "name", 120, false)
		p.URL, _ = d.text(n, "url", 2048, false)
		if !httpsURL.MatchString(p.URL) && !loopbackURL.MatchString(p.URL) && p.URL != "" {
			d.refuse(n.Get("url"), fmt.Sprintf("url: %q is no https URL", clip(p.URL)), "write the absolute https URL of the publisher: every signature covers it")
		}
	}
	if p.KidPrefix, _ = d.text(root, "kidPrefix", 16, false); p.KidPrefix != "" && !kidPrefix.MatchString(p.KidPrefix) {
		d.refuse(root.Get("kidPrefix"), "kidPrefix holds other characters than a-z and 0-9", "write 1 to 16 of them")
	}
	p.Licence, _ = d.text(root, "licence", 500, false)
	p.Contact, p.KeyPolicy, p.History = d.url(root, "contact"), d.url(root, "keyPolicy"), d.url(root, "history")
	if n := root.Get("selfCheck"); n != nil && d.mapping(n, "selfCheck", []string{"schedule"}, []string{"last", "report"}) {
		c := &facts.SelfCheck{}
		c.Schedule, _ = d.text(n, "schedule", 200, false)
		c.Last, _ = d.text(n, "last", 40, false)
		c.Report = d.url(n, "report")
		p.SelfCheck = c
	}
	if n := root.Get("examples"); n != nil {
		p.examplesAt = at(n)
	}
	p.Examples = d.list(root, "examples", 200)
	p.Namespaces, p.Areas = d.namespaces(root), d.areas(root)
	if n := root.Get("resolve"); n != nil && d.mapping(n, "resolve", nil, []string{"stopWords", "jurisdictionWords"}) {
		p.StopWords = d.list(n, "stopWords", 80)
		p.JurisdictionWords = d.words(n, "jurisdictionWords")
	}
	return p
}

var (
	kidPrefix   = regexp.MustCompile(`^[a-z0-9]{1,16}$`)
	loopbackURL = regexp.MustCompile(`^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?(/[^\s]*)?$`)
	hostName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
)

func (d *decoder) namespaces(root *yamlx.Node) []Namespace {
	var out []Namespace
	for _, n := range d.blocks(root, "namespaces") {
		if !d.mapping(n, "a namespace", []string{"name", "description"}, []string{"periods", "authorities"}) {
			continue
		}
		ns := Namespace{At: at(n)}
		ns.Name, _ = d.text(n, "name", 200, false)
		ns.Description, _ = d.text(n, "description", 500, false)
		ns.Calendar = facts.Calendar(d.choice(n, "periods", string(facts.CalendarUKTaxYear), string(facts.CalendarYear), string(facts.CalendarNone)))
		if ns.Calendar == "" {
			ns.Calendar = facts.CalendarNone
		}
		ns.Authorities = d.list(n, "authorities", 253)
		for i, host := range ns.Authorities {
			if !hostName.MatchString(host) {
				d.refuse(n.Get("authorities").Items[min(i, len(n.Get("authorities").Items)-1)], fmt.Sprintf("authority %q is no host name", clip(host)),
					"write the lower-case host alone, without https:// and path")
			}
		}
		out = append(out, ns)
	}
	return out
}

func (d *decoder) areas(root *yamlx.Node) []Area {
	var out []Area
	for _, n := range d.blocks(root, "areas") {
		if !d.mapping(n, "an area", []string{"name", "namespace"}, []string{"description", "cadence", "cadenceType", "everyDays", "graceDays"}) {
			continue
		}
		a := Area{At: at(n)}
		a.Name, _ = d.text(n, "name", 80, false)
		a.Namespace, _ = d.text(n, "namespace", 200, false)
		a.Description, _ = d.text(n, "description", 500, false)
		a.Cadence, _ = d.text(n, "cadence", 200, false)
		a.CadenceType = d.choice(n, "cadenceType", "scheduled", "on-change", "best-effort")
		a.EveryDays, a.GraceDays = d.days(n, "everyDays", 0), d.days(n, "graceDays", facts.DefaultGraceDays)
		out = append(out, a)
	}
	return out
}

// words reads a mapping from phrases to words.
func (d *decoder) words(n *yamlx.Node, name string) map[string]string {
	v := n.Get(name)
	if v == nil {
		return nil
	}
	if v.Kind != yamlx.Map {
		d.refuse(v, fmt.Sprintf("%s is %s", name, v.Kind), "write phrase: word for each")
		return nil
	}
	out := make(map[string]string, len(v.Members))
	for _, m := range v.Members {
		out[m.Name], _ = d.text(v, m.Name, 200, false)
	}
	return out
}

func (d *decoder) topic(root *yamlx.Node) Topic {
	t := Topic{File: d.file}
	required, optional := []string{"topic", "facts"}, []string{"synonyms"}
	if d.candidate {
		required, optional = []string{"facts"}, []string{"topic", "synonyms"}
	}
	if !d.mapping(root, "the file", required, optional) {
		return t
	}
	if n := root.Get("topic"); n != nil && d.mapping(n, "topic", []string{"prefix", "title", "area"}, nil) {
		t.At = at(n)
		t.Prefix, _ = d.text(n, "prefix", 200, false)
		t.Title, _ = d.text(n, "title", 120, false)
		t.Area, _ = d.text(n, "area", 80, false)
	}
	if n := root.Get("synonyms"); n != nil {
		words := d.words(root, "synonyms")
		for _, m := range n.Members {
			t.Synonyms = append(t.Synonyms, Synonym{m.Name, words[m.Name], Position{int32(m.Line), int32(m.Col)}})
		}
	}
	for i, n := range d.blocks(root, "facts") {
		if f, ok := d.fact(n, t.Prefix); ok {
			f.index = i
			t.Facts = append(t.Facts, f)
		}
	}
	return t
}

func (d *decoder) fact(n *yamlx.Node, prefix string) (Fact, bool) {
	var f Fact
	if !d.mapping(n, "a fact", []string{"key", "label", "values"}, []string{"unit", "scope", "aliases", "previous"}) {
		return f, false
	}
	f.Key, f.At = d.text(n, "key", 200, false)
	switch {
	case f.Key == ".":
		f.Key = prefix
	case prefix != "":
		f.Key = prefix + "/" + f.Key
	}
	f.Label, _ = d.text(n, "label", 120, false)
	f.Scope, _ = d.text(n, "scope", 200, false)
	f.Aliases = d.list(n, "aliases", 200)
	slices.Sort(f.Aliases)
	unit, unitAt := d.text(n, "unit", 40, true)
	f.Unit = unit
	if p := n.Get("previous"); p != nil && d.mapping(p, "previous", []string{"value", "source"}, []string{"period", "effectiveFrom"}) {
		f.PreviousAt = at(p)
		f.Previous = &facts.Previous{}
		f.Previous.Value, _ = d.value(p)
		f.Previous.Period, _ = d.text(p, "period", 40, true)
		f.Previous.From, _ = d.date(p, "effectiveFrom")
		f.Previous.Source = d.url(p, "source")
	}
	for i, v := range d.blocks(n, "values") {
		if dated, ok := d.datedValue(v, unit, unitAt); ok {
			dated.index = i
			f.Values = append(f.Values, dated)
		}
	}
	return f, true
}

func (d *decoder) datedValue(n *yamlx.Node, unit string, unitAt Position) (Value, bool) {
	v, refused := Value{At: Places{Item: at(n)}}, len(d.findings.list)
	optional := []string{"period", "unit", "effectiveFrom", "effectiveTo", "sourceFile", "sourceType", "method", "quote", "verifiedDate", "nextCheck",
		"withdrawn", "withdrawnReason", "supersededBy", "checked", "upstream"}
	if !d.mapping(n, "a value", []string{"value", "source"}, optional) {
		return v, false
	}
	v.Value, v.Literal = d.value(n)
	if x := n.Get("value"); x != nil {
		v.At.Value = at(x)
	}
	v.Unit, v.At.Unit = d.text(n, "unit", 40, true)
	if n.Get("unit") == nil {
		v.Unit, v.At.Unit = unit, unitAt
	}
	v.Period, v.At.Period = d.text(n, "period", 40, true)
	v.From, v.At.From = d.date(n, "effectiveFrom")
	v.To, v.At.To = d.date(n, "effectiveTo")
	v.ToExplicit = !v.To.IsZero()
	v.Source, v.At.Source = d.text(n, "source", 2048, false)
	v.SourceFile = d.url(n, "sourceFile")
	v.SourceType = d.choice(n, "sourceType", SourceAuthority, SourceMethodology, SourceDerived)
	v.Method, _ = d.text(n, "method", 500, false)
	v.Quote, v.At.Quote = d.text(n, "quote", 500, false)
	v.Verified, v.At.Verified = d.date(n, "verifiedDate")
	v.NextCheck, _ = d.date(n, "nextCheck")
	v.Withdrawn, v.At.Withdrawn = d.date(n, "withdrawn")
	v.WithdrawnReason, _ = d.text(n, "withdrawnReason", 500, false)
	v.SupersededBy, _ = d.text(n, "supersededBy", 200, false)
	v.Checked, _ = d.date(n, "checked")
	v.Upstream, _ = d.text(n, "upstream", 500, false)
	v.Place = place(d.file, v.At.Value)
	if d.candidate && !v.Verified.IsZero() {
		d.refuse(n.Get("verifiedDate"), "a candidate carries a verifiedDate", "remove it: only facts confirm writes one")
	}
	d.checkWithdrawal(n, &v)
	v.broken = len(d.findings.list) > refused
	return v, true
}

func (d *decoder) checkWithdrawal(n *yamlx.Node, v *Value) {
	switch {
	case v.Value == facts.Null && v.Withdrawn.IsZero() && n.Get("value") != nil:
		d.refuse(n.Get("value"), "value is null and withdrawn is absent", "write the figure, or withdraw the fact with facts withdraw")
	case v.Value != facts.Null && v.Value != "" && !v.Withdrawn.IsZero():
		d.refuse(n.Get("value"), "the value is withdrawn and yet has a figure", "write value: null, or remove withdrawn")
	case v.Withdrawn.IsZero() && (v.WithdrawnReason != "" || v.SupersededBy != ""):
		d.refuse(n, "withdrawnReason and supersededBy belong to a withdrawn value", "withdraw the fact with facts withdraw")
	}
}

// value reads the member value as canonical JSON; literal is the source text of a number. The Value is "" when it was refused.
func (d *decoder) value(n *yamlx.Node) (v facts.Value, literal string) {
	x := n.Get("value")
	if x == nil {
		return "", ""
	}
	if bad := d.badNumber(x); bad {
		return "", ""
	}
	v, err := facts.ParseValue(x.AppendJSON(nil))
	if err != nil {
		d.refuse(x, "value: "+err.Error(), "values hold at most 4 KiB and nest at most four deep")
		return "", ""
	}
	if x.Kind == yamlx.Number {
		literal = x.Text
	}
	return v, literal
}

// sentinel is where numbers begin that stand for "no limit" (F§3.2).
const sentinel = 9e99

// badNumber reports every number of a value that does not survive, and sentinels (F§3.2).
func (d *decoder) badNumber(n *yamlx.Node) (bad bool) {
	if n.Kind == yamlx.Number {
		text, err := jcs.Number(n.Text)
		if number, _ := strconv.ParseFloat(text, 64); err == nil && math.Abs(number) >= sentinel {
			d.fail(ruleNumber, place(d.file, at(n)), fmt.Sprintf("the number %s stands for a number without limit", clip(n.Text)),
				"programs would calculate with it", "leave the value out: what has no limit has no figure")
			return true
		}
		if err != nil {
			d.fail(ruleNumber, place(d.file, at(n)), fmt.Sprintf("the number %s does not survive: %v", clip(n.Text), err),
				"readers hold numbers as binary64, so the figure they see would be another one", "publish it as text in quotes, or write the digits the source prints")
			return true
		}
	}
	for _, m := range n.Members {
		bad = d.badNumber(m.Value) || bad
	}
	for _, item := range n.Items {
		bad = d.badNumber(item) || bad
	}
	return bad
}
