package answer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"sayso/business"
	"sayso/business/answer/language"
	"sayso/business/coverage"
	"sayso/jcs"
)

// request is the arguments of knowledge.search and hybrid.resolve.
type request struct {
	query    string
	asked    bool // a query was stated
	language string
	criteria []criterionAsked
	bound    map[string]string // record, variant (with clause index), location, date
	from     *business.Position
	taken    map[string]bool // keys of bound that a clause used
	refused  string          // the first key of bound whose value is no option
	content  bool
	limit    int
	live     bool // fields bound to a stream are answered by readings; the default of hybrid.resolve
}

// criterionAsked is one structured criterion.
type criterionAsked struct {
	coverage.Criterion
	at string // JSON pointer
}

func (r *request) refuse(name string) {
	if r.refused == "" {
		r.refused = name
	}
}

// readSearch reads the arguments strictly.
func readSearch(call coverage.Call, live bool) (request, error) {
	known := []string{"query", "language", "criteria", "bound", "include", "limit"}
	if live {
		known = append(known, "live")
	}
	a := readArguments(call, known...)
	r := request{bound: map[string]string{}, taken: map[string]bool{}}
	if raw := a.get("query"); raw != nil {
		r.query, r.asked = readQuery(a, raw), true
	}
	if raw := a.get("language"); raw != nil {
		r.language = a.text("/language", raw, 35)
		if r.language != "" && !business.ValidLanguage(r.language) {
			a.fail("language", "a BCP 47 language tag is expected")
		}
	}
	for i, raw := range a.list("criteria", a.get("criteria"), 16) {
		r.criteria = append(r.criteria, readCriterion(a, pointer("/criteria", fmt.Sprint(i)), raw))
	}
	if !r.asked && r.criteria == nil {
		a.failAt("", "query or criteria is required")
	}
	r.readBound(a)
	for i, s := range a.texts("include", 1, maxName) {
		if r.content = s == "content"; !r.content {
			a.failAt(pointer("/include", fmt.Sprint(i)), "content is expected")
		}
	}
	r.limit = a.whole("limit", 10, 1, 50)
	r.live = live
	if raw := a.get("live"); raw != nil {
		if r.live = string(raw) == "true"; !r.live && string(raw) != "false" {
			a.fail("live", "true or false is expected")
		}
	}
	return r, a.err()
}

// readQuery reads the question: at most maxQuery code points. Control characters part words; they are no fault.
func readQuery(a object, raw jcs.Raw) string {
	s, ok := jcs.Text(raw)
	if !ok || strings.TrimSpace(s) == "" || utf8.RuneCountInString(s) > maxQuery {
		a.fail("query", fmt.Sprintf("a string of 1 to %d code points is expected", maxQuery))
		return ""
	}
	return s
}

// readBound reads what earlier clarifications asked for.
func (r *request) readBound(a object) {
	raw := a.get("bound")
	if raw == nil {
		return
	}
	members, err := business.Members(raw)
	if err != nil {
		a.fail("bound", "an object is expected")
		return
	}
	for _, m := range members {
		at := pointer("/bound", m.Name)
		switch dimension, clause, numbered := strings.Cut(m.Name, "."); {
		case m.Name == "caller_location":
			r.from = a.position(at, m.Value)
		case m.Name == "date":
			r.bound["date"] = a.text(at, m.Value, maxName)
			if _, ok := parseDate(r.bound["date"]); !ok && r.bound["date"] != "" {
				a.failAt(at, "a day such as 2026-12-24 is expected")
			}
		case m.Name == "location", (dimension == "record" || dimension == "variant") && (!numbered || clauseNumber(clause)):
			r.bound[m.Name] = a.text(at, m.Value, maxID+maxName)
		default:
			a.failAt(at, fmt.Sprintf("the member %s is not known; use record, variant, location, date, caller_location", quoted(m.Name)))
		}
	}
}

// clauseNumber reports whether s is a clause index above 0.
func clauseNumber(s string) bool { return language.Digits(s, 2) > 0 && s[0] != '0' }

// readCriterion reads {type?, id?, field, op, value, unit?}.
func readCriterion(a object, at string, raw jcs.Raw) criterionAsked {
	o := a.open(at, raw, "type", "id", "field", "op", "value", "unit")
	optional := func(name string, limit int) string {
		if v := o.get(name); v != nil {
			return o.text(pointer(at, name), v, limit)
		}
		return ""
	}
	c := criterionAsked{at: at, Criterion: coverage.Criterion{
		Type: optional("type", maxName), ID: optional("id", maxID), Field: o.text(pointer(at, "field"), o.need("field"), maxName),
		Op: o.oneOf("op", "", "exists", "lt", "le", "gt", "ge", "between", "is", "contains"), Value: o.get("value"), Unit: optional("unit", maxName),
	}}
	o.need("op")
	if c.ID != "" && c.Type == "" {
		o.fail("type", "the member is required beside id")
	}
	if c.Op == "exists" != (c.Value == nil) {
		o.fail("value", "the member is required, except with exists, which has none")
	}
	return c
}
