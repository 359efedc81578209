package bizcheck

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/jcs"
)

// The handlers that questions are made for by their own arguments.
const (
	asksWords = "knowledge.search"
	asksKeys  = "knowledge.get"
	asksNear  = "branches.nearest"
	asksLive  = "live.query"
)

// phrases are questions in the languages of the publishers. A publisher in another language is asked in the first of them.
var phrases = []struct{ language, have, hours string }{
	{"en", "Do you have %s?", "What are your opening hours?"},
	{"de", "Haben Sie %s?", "Was sind Ihre Öffnungszeiten?"},
	{"es", "¿Tienen %s?", "¿Cuál es su horario de apertura?"},
	{"fr", "Avez-vous %s ?", "Quels sont vos horaires d'ouverture ?"},
}

func (i *interview) phrase() (have, hours string) {
	for _, language := range i.p.manifest.object("publisher").texts("content_languages") {
		for _, p := range phrases {
			if p.language == language {
				return p.have, p.hours
			}
		}
	}
	return phrases[0].have, phrases[0].hours
}

// ask goes through the questions, those first that show most. Nobody told what the business is: they are made of its own documents.
func (i *interview) ask() {
	plain := i.plain()
	i.askNoun(plain)
	i.askRecords(plain)
	i.askHours()
	i.askNearest()
	i.askEcho(plain)
	i.askFields(plain)
	i.askNegatives()
	i.askLists()
	i.askStreams()
	i.askFaults()
}

func quoted(s string) string { return string(jcs.AppendString(nil, s)) }

func queryOf(text string) string { return `{"query":` + quoted(text) + `}` }

// keyed is the beginning of an object with the key of a record.
func keyed(record object) string {
	return `{"type":` + quoted(record.text("type")) + `,"id":` + quoted(record.text("id"))
}

// plain are up to two records, far apart, whose titles are a few words and belong to one record each.
func (i *interview) plain() []object {
	block := i.p.manifest.object("publisher")
	own := strings.ToLower(block.text("display_name") + "\n" + block.text("legal_name"))
	titles := map[string]int{}
	for _, r := range i.p.records {
		titles[strings.ToLower(r.title)]++
	}
	var out []object
	for _, r := range i.p.samples {
		title := r.text("title")
		odd := strings.ContainsFunc(title, func(c rune) bool { return strings.ContainsRune(`,;:.!?&/+()[]"`, c) })
		low := strings.ToLower(title) // a title that is the business's own name asks for nothing
		if !odd && len(strings.Fields(title)) <= 6 && len(title) <= 100 && titles[low] == 1 && !strings.Contains(own, low) {
			out = append(out, r)
		}
	}
	if len(out) > 2 {
		out = []object{out[0], out[len(out)-1]}
	}
	return out
}

// denies reports whether an answer says no to anything.
func denies(r *reply) bool {
	cov := r.o.object("coverage")
	no := func(one object) bool {
		v := one.text("verdict")
		return v == "asserted_false" || v == "excluded_by_closed_list"
	}
	polarity := cov.object("answer").text("polarity")
	return polarity == "negative" || polarity == "mixed" || slices.ContainsFunc(cov.objects("propositions"), no) || slices.ContainsFunc(cov.objects("constraints"), no)
}

// asserts reports whether an answer holds a proposition with a verdict.
func asserts(r *reply, verdict string) bool {
	return slices.ContainsFunc(r.o.object("coverage").objects("propositions"), func(p object) bool { return p.text("verdict") == verdict })
}

// answers reports whether a call came to an envelope; what else came of it is told under a rule.
func (i *interview) answers(r *reply, rule, what string) bool {
	switch {
	case r == nil:
		return false
	case r.document != nil:
		return true
	case r.err != nil:
		i.untested(rule, r.place, what, "the call was refused: "+r.err.Error())
	case r.toolFail:
		i.untested(rule, r.place, what, "the tool failed")
	default:
		i.fail("XP-COVERAGE-010", r.place, "the result of the call holds no envelope", "answer every call of a tool with the signed envelope")
	}
	return false
}

// unheard is XP-COVERAGE-001 and 007 for something that nobody published: it is never resolved and never denied.
func (i *interview) unheard(r *reply, what string) {
	if !i.answers(r, "XP-COVERAGE-001", what+" was not asked about") {
		return
	}
	i.expect(r.status != "resolved", "XP-COVERAGE-001", r.place, what+" is resolved, and the publisher published nothing of the kind", "count a word as answered only when something published was found for it")
	i.expect(!denies(r), "XP-COVERAGE-007", r.place, what+" is denied, and the publisher published no such no", "say unknown: only a published no and a closed list over its domain deny")
}

// askNoun asks about a noun that nobody published, alone and behind a title.
func (i *interview) askNoun(plain []object) {
	have, _ := i.phrase()
	if i.takes(asksWords, "query") {
		i.unheard(i.call(asksWords, queryOf(fmt.Sprintf(have, i.word))), "a noun that nobody published")
		if len(plain) > 0 {
			i.unheard(i.call(asksWords, queryOf(plain[0].text("title")+" "+i.word)), "a title with a noun that nobody published")
		}
	}
	if i.takes(asksKeys, "records") {
		i.unheard(i.call(asksKeys, `{"records":[`+keyed(object{"type": jcs.Raw(quoted(i.word)), "id": jcs.Raw(quoted(i.word))})+`}]}`), "a record that nobody published")
	}
}

// same reports whether an answer follows from the state that the manifest spoke of, as far as both say.
func (i *interview) same(r *reply) bool {
	was, is := i.p.manifest.object("state"), r.o.object("state")
	return !was.has("generation") || !is.has("records_generation") || string(was["generation"]) == string(is["records_generation"])
}

// found is XP-COVERAGE-005: what the export shows is not covered by nothing on complete evidence.
func (i *interview) found(r *reply, what string) {
	if !i.same(r) {
		i.untested("XP-COVERAGE-005", r.place, what+" was not compared with the export", "the publisher has changed since the manifest was read")
		return
	}
	i.expect(r.status != "not_covered" || !r.o.object("coverage").is("evidence_complete", "true"), "XP-COVERAGE-005", r.place,
		what+" stands in the export, and the answer is not_covered on complete evidence", "state evidence_complete false unless everything published was looked at")
}

// askRecords asks for records of the export by title and by key. Many titles are no question, so that a careful partial breaks nothing.
func (i *interview) askRecords(plain []object) {
	resolved, asked := false, false
	for _, record := range plain {
		if !i.takes(asksWords, "query") {
			break
		}
		if r := i.call(asksWords, queryOf(record.text("title"))); i.answers(r, "XP-COVERAGE-005", "a title was not asked about") {
			asked, resolved = true, resolved || r.status == "resolved"
			i.found(r, "the title")
		}
	}
	if asked && !resolved {
		i.untested("XP-COVERAGE-001", i.at, "no resolved answer about a title was seen", "the titles that were asked about were answered in part")
	}
	for _, record := range i.p.samples[:min(1, len(i.p.samples))] {
		if !i.takes(asksKeys, "records") {
			break
		}
		r := i.call(asksKeys, `{"records":[`+keyed(record)+`}]}`)
		if !i.answers(r, "XP-COVERAGE-005", "a record was not asked for") {
			continue
		}
		i.found(r, "the record")
		if list := r.o.object("result").objects("records"); r.status == "resolved" {
			i.expect(len(list) == 1 && list[0].text("type") == record.text("type") && list[0].text("id") == record.text("id"), "XP-IDENTITY-001", r.place,
				fmt.Sprintf("one record was asked for by its key, and %d records or another one came", len(list)), "look a record up by publisher, type and id together")
		}
	}
	if len(i.p.samples) > 0 && i.takes("knowledge.neighbors", "type") {
		i.call("knowledge.neighbors", keyed(i.p.samples[0])+`}`)
	}
	if len(plain) > 0 && i.takes("hybrid.resolve", "query") {
		i.call("hybrid.resolve", queryOf(plain[0].text("title")))
	}
}

// askFields asks for a field that a record states, and for one that no record has.
func (i *interview) askFields(plain []object) {
	if !i.takes(asksWords, "criteria") {
		return
	}
	for _, record := range plain[:min(1, len(plain))] {
		ask := func(field string) *reply {
			return i.call(asksWords, `{"criteria":[`+keyed(record)+`,"field":`+quoted(field)+`,"op":"exists"}]}`)
		}
		i.unheard(ask(i.word), "a field that nobody published")
		for _, name := range sortedNames(record.object("attributes")) {
			if raw := record.object("attributes")[name]; raw[0] == '{' || raw[0] == '[' {
				continue
			}
			if r := ask(name); i.answers(r, "XP-COVERAGE-005", "a field was not asked about") {
				i.prefer(!i.same(r) || r.status != "not_covered", "XP-COVERAGE-005", r.place, "the export states the field, and the answer is not_covered", "answer from the record, or say why the field is kept back")
			}
			break
		}
	}
}

func sortedNames(o object) []string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// askNegatives is XP-COVERAGE-006 for yes/no attributes that the manifest states as false, and XP-COVERAGE-007 for one that nobody states.
func (i *interview) askNegatives() {
	if !i.takes(asksWords, "criteria") {
		return
	}
	ask := func(name string) *reply {
		return i.call(asksWords, `{"criteria":[{"field":`+quoted(name)+`,"op":"is","value":true}]}`)
	}
	i.unheard(ask(i.word), "an attribute that nobody published")
	stated := i.p.manifest.object("publisher").object("profile_attributes")
	for _, name := range sortedNames(stated) {
		if !stated.is(name, "false") {
			continue
		}
		if r := ask(name); i.answers(r, "XP-COVERAGE-006", "a published no was not asked about") {
			cov := r.o.object("coverage")
			negative := cov.object("answer").text("polarity") == "negative" && asserts(r, "asserted_false") || cov.is("evidence_complete", "false")
			ok := (r.status == "resolved" || r.status == "partial") && negative
			i.expect(ok || !i.same(r), "XP-COVERAGE-006", r.place, fmt.Sprintf("the manifest says %.80q is false, and the answer is %.20s without a negative polarity and verdict", name, r.status),
				"answer a published no as resolved or partial with negative polarity and the verdict asserted_false")
		}
		return
	}
}

// commonTerms are terms of the taxonomies that come with the protocol's vocabulary, some of which a publisher will not list.
var commonTerms = map[string][]string{"languages": {"en", "de", "fr", "ja"}, "payment_methods": {"cash", "visa", "amex", "bitcoin"}}

// askLists is XP-COVERAGE-007: a term that a list holds, one that belongs to its domain and one that belongs to none.
func (i *interview) askLists() {
	if !i.takes(asksWords, "criteria") {
		return
	}
	for _, name := range business.Taxonomies {
		r := i.call(asksWords, `{"criteria":[{"field":`+quoted(name)+`,"op":"exists"}]}`)
		if !i.answers(r, "XP-COVERAGE-007", "a list was not asked for") {
			continue
		}
		lists := r.o.object("result").objects("lists")
		if len(lists) != 1 || len(lists[0].texts("values")) == 0 {
			continue // the publisher has no list of this name
		}
		values, closed := lists[0].texts("values"), lists[0].is("closed", "true")
		ask := func(term string) *reply {
			r := i.call(asksWords, `{"criteria":[{"field":`+quoted(name)+`,"op":"contains","value":`+quoted(term)+`}]}`)
			if !i.answers(r, "XP-COVERAGE-007", "a term of a list was not asked about") {
				return nil
			}
			return r
		}
		if r := ask(values[0]); r != nil {
			i.expect(asserts(r, "asserted_true") || !i.same(r), "XP-COVERAGE-007", r.place, "the list holds the term, and no proposition says asserted_true", "compare the term with the values of the list")
		}
		if r := ask(i.word); r != nil {
			i.expect(!denies(r) && !asserts(r, "asserted_true"), "XP-COVERAGE-007", r.place, "a term outside every domain is affirmed or denied", "say unknown: a closed list denies only what is of its domain")
		}
		held := strings.ToLower(strings.Join(values, "\n")) // a value may spell a term out: english for en
		absent := slices.IndexFunc(commonTerms[name], func(term string) bool { return !strings.Contains(held, term) })
		if absent < 0 {
			continue
		}
		if r := ask(commonTerms[name][absent]); r != nil {
			i.expect(!asserts(r, "asserted_true") && (closed || !denies(r)) || !i.same(r), "XP-COVERAGE-007", r.place, fmt.Sprintf("a term that the list does not hold is affirmed, or denied by a list that is closed: %t", closed),
				"deny by excluded_by_closed_list where the list is closed over a domain with the term, and say unknown elsewhere")
		}
	}
}

// askHours asks several branches with different hours for theirs, which only the caller can settle.
func (i *interview) askHours() {
	hours := map[string]bool{}
	for _, l := range i.p.manifest.object("publisher").objects("locations") {
		if s := l.text("opening_hours"); s != "" {
			hours[s] = true
		}
	}
	if len(hours) < 2 || !i.takes(asksWords, "query") {
		return
	}
	_, question := i.phrase()
	if r := i.call(asksWords, queryOf(question)); i.answers(r, "XP-COVERAGE-003", "the hours were not asked for") {
		i.resume(r)
	}
}

// askNearest asks for the nearest branch without saying where the caller is, with null and without arguments (XP-INTEGRITY-013), and then goes on.
func (i *interview) askNearest() {
	i.answers(i.call(asksNear, "null"), "XP-INTEGRITY-013", "the echo of null was not seen")
	if r := i.call(asksNear, ""); i.answers(r, "XP-INTEGRITY-013", "the echo of absent arguments was not seen") {
		i.resume(r)
	}
}

// resume follows a clarification to its end (XP-COVERAGE-003): each step leaves fewer values open.
func (i *interview) resume(r *reply) {
	for range maxSteps {
		if r.status != "needs_context" {
			return
		}
		before := r.o.object("clarification")
		missing := before.objects("missing")
		step := before.object("resume")
		if len(missing) == 0 || step == nil {
			return // failed already
		}
		value := i.choose(missing[0])
		if value == "" {
			i.untested("XP-COVERAGE-003", r.place, "a clarification was not followed", "it offers no option, and its type is none that can be made up")
			return
		}
		known := false
		for _, t := range i.tools {
			known = known || t.name == step.text("tool")
		}
		if !i.expect(known, "XP-COVERAGE-003", r.place, fmt.Sprintf("resume names the tool %.80q, which is not listed or has no known handler", step.text("tool")), "name the tool that was called") {
			return
		}
		name := missing[0].text("name")
		next := i.send(step.text("tool"), withBound(step["arguments"], step.text("add_to"), name, value))
		switch {
		case next == nil:
			return
		case next.err != nil && i.ended == "" || next.err == nil && next.document == nil:
			i.fail("XP-COVERAGE-003", next.place, fmt.Sprintf("the call that resume describes, with a value for %.80q, is refused", name), "accept every option that is offered, where add_to says")
			return
		case next.err != nil:
			return
		}
		i.look(next)
		after := next.o.object("clarification")
		again := slices.ContainsFunc(after.objects("missing"), func(m object) bool { return m.text("name") == name })
		if next.status == "needs_context" {
			if !i.expect(!again, "XP-COVERAGE-003", next.place, fmt.Sprintf("%.80q was given and is asked for again", name), "take a value that was given out of missing") {
				return
			}
			i.prefer(fewer(after["remaining_unbound"], before["remaining_unbound"]), "XP-COVERAGE-003", next.place, fmt.Sprintf("%.80q was given, and remaining_unbound is not lower", name),
				"count what is still open, so that a reader sees that it comes nearer")
		}
		r = next
	}
	i.expect(r.status != "needs_context", "XP-COVERAGE-003", r.place, fmt.Sprintf("after %d values something is still missing", maxSteps), "let a clarification end")
}

// fewer compares two counts of at most nine digits as they stand.
func fewer(a, b jcs.Raw) bool {
	return len(a) < len(b) || len(a) == len(b) && string(a) < string(b)
}

// choose is a value for what is missing, "" when none can be made up.
func (i *interview) choose(missing object) string {
	if options := missing.objects("options"); len(options) > 0 {
		return string(options[0]["value"])
	}
	switch missing.text("type") {
	case "date":
		return quoted(i.Clock().UTC().AddDate(0, 0, 1).Format("2006-01-02"))
	case "geo":
		for _, l := range i.p.manifest.object("publisher").objects("locations") {
			if l.has("latitude") && l.has("longitude") {
				return `{"latitude":` + string(l["latitude"]) + `,"longitude":` + string(l["longitude"]) + `}`
			}
		}
		return `{"latitude":0,"longitude":0}`
	}
	return ""
}

// withBound is the arguments of resume with [addTo][name] set; every other token stays.
func withBound(arguments jcs.Raw, addTo, name, value string) jcs.Raw {
	inner := []byte("{}")
	members, _ := business.Members(arguments)
	for _, m := range members {
		if m.Name == addTo {
			inner = m.Value
		}
	}
	return withMember(arguments, addTo, withMember(inner, name, []byte(value)))
}

// withMember is an object's text with one member set, at the end; what is no object counts as an empty one.
func withMember(document []byte, name string, value []byte) []byte {
	rest := withoutMember(document, name)
	if len(rest) < 2 {
		rest = []byte("{}")
	}
	out := slices.Clone(rest[:len(rest)-1])
	if len(out) > 1 {
		out = append(out, ',')
	}
	return append(append(append(jcs.AppendString(out, name), ':'), value...), '}')
}

// askEcho is XP-INTEGRITY-013 with numbers and letters that many programs write differently.
func (i *interview) askEcho(plain []object) {
	odd := "the echo of odd literals was not seen"
	if i.takes(asksWords, "query") && i.takes(asksWords, "limit") {
		i.answers(i.call(asksWords, `{ "limit":5.0e0, "query":"\u0041`+i.word+`" }`), "XP-INTEGRITY-013", odd)
	}
	if i.takes(asksWords, "criteria") && len(plain) > 0 {
		field := `,"field":` + quoted(i.word) + `,"op":"ge","value":`
		r := i.call(asksWords, `{"criteria":[`+keyed(plain[0])+field+`50.0},`+keyed(plain[0])+field+`1e2},`+keyed(plain[0])+field+`-0}]}`)
		i.answers(r, "XP-INTEGRITY-013", odd)
	}
	if i.takes(asksNear, "caller_location") {
		i.answers(i.call(asksNear, `{"caller_location":{"longitude":-0,"latitude":50.0},"limit":1e0}`), "XP-INTEGRITY-013", odd)
	}
}

// askStreams asks for live readings, whose age shows in the answer.
func (i *interview) askStreams() {
	if !i.takes(asksLive, "stream") {
		return
	}
	for _, key := range i.p.streams[:min(2, len(i.p.streams))] {
		if r := i.call(asksLive, `{"stream":`+quoted(key)+`}`); i.answers(r, "XP-FRESHNESS-006", "a reading was not asked for") {
			i.resume(r)
		}
	}
}

// askFaults is XP-COVERAGE-009: what the caller did wrong is an error, and never one of the four statuses.
func (i *interview) askFaults() {
	if t, ok := i.tools[asksWords]; ok && t.exact {
		i.checkFault(i.send(t.name, jcs.Raw(`{"query":"`+i.word+`","`+i.word+`":1}`)), "an argument that the tool's input schema excludes", -32602)
	}
	i.checkFault(i.send(i.word, jcs.Raw(`{}`)), "a tool that does not exist", 0)
}

// checkFault holds a reply to an error with a code; 0 stands for any.
func (i *interview) checkFault(r *reply, what string, code int) {
	var rpc *bizhttp.RPCError
	switch {
	case r == nil:
	case r.document != nil:
		i.fail("XP-COVERAGE-009", r.place, fmt.Sprintf("%s is answered with the status %.20q", what, r.status), "refuse the call with JSON-RPC -32602; a filter that is passed over makes a wrong answer look right")
	case errors.As(r.err, &rpc):
		i.prefer(code == 0 || rpc.Code == code, "XP-COVERAGE-009", r.place, fmt.Sprintf("%s is refused with the code %d", what, rpc.Code), "use -32602 for arguments that are not those of the tool")
	case r.err != nil:
		i.untested("XP-COVERAGE-009", r.place, what+" was not asked about", r.err.Error())
	default:
		i.warn("XP-COVERAGE-009", r.place, what+" is answered with a result that is no envelope", "refuse the call with JSON-RPC -32602")
	}
}
