package bizcheck

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/jcs"
	"sayso/safefetch"
)

// interview is what one publisher's tools are asked.
type interview struct {
	*checker
	p       *publisher
	at      string // the endpoint, without query
	conn    *bizhttp.Connection
	tools   map[string]tool // by handler: those that are called
	blurred bool            // not all names are known, so that a text among options may be one
	asked   int             // calls
	ended   string          // why nothing more is asked, "" while something is
	word    string          // a noun that nobody published
	secrets []string        // values that an answer without content must not show
	genuine *reply          // an answer that verifies
}

// tool may be called.
type tool struct {
	name  string
	takes object // the properties of its input schema
	exact bool   // the schema allows no others
}

// reply is what came of one call.
type reply struct {
	sent     business.Call
	place    string
	document []byte // the envelope, nil when there is none
	o        object // its members
	status   string // coverage.status
	toolFail bool   // isError
	err      error  // why there is no result
}

// interview goes through tools/list and the questions. It ends early when the endpoint does not answer or asks to come back later.
func (c *checker) interview(p *publisher, at string) {
	c.once = map[string]bool{}
	defer func() { c.once = nil }()
	if !p.listed {
		c.unasked = "registry.json, which gives tools their handlers, was not read"
		return
	}
	i := &interview{checker: c, p: p, at: safefetch.WithoutQuery(at), tools: map[string]tool{}}
	var err error
	if i.conn, err = bizhttp.Connect(c.ctx, at, bizhttp.Options{Fetch: c.Fetch}); err == nil {
		err = i.list()
	}
	switch {
	case errors.As(err, new(*bizhttp.RPCError)) && len(p.served) > 0:
		c.fail("XP-MANIFEST-004", i.at, "registry.json lists tools, and the endpoint refuses to: "+err.Error(), "answer initialize and tools/list to everybody who may call a tool")
		c.unasked = "the tools of " + i.at + " were not listed"
		return
	case err != nil:
		i.failed(err)
		c.untested("XP-MANIFEST-004", i.at, "the tools were not listed", err.Error())
		c.unasked = "the tools of " + i.at + " were not listed"
		return
	case len(i.tools) == 0:
		c.unasked = i.at + " lists no tool that states readOnlyHint and has a handler of this protocol in registry.json"
		return
	}
	i.word, i.secrets = i.noun(), i.values()
	i.ask()
	if i.genuine != nil {
		c.checkTampered(i.genuine.place, i.genuine.document, i.evidence(i.genuine), business.Verify)
	}
	if i.ended != "" {
		c.left, c.unasked = append(c.left, "further questions to "+i.at+": "+i.ended), i.ended
	}
	c.looked = append(c.looked, fmt.Sprintf("%s (tools/list, %d calls)", i.at, i.asked))
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// list is XP-MANIFEST-004 for tools/list: it has the tools of registry.json, each once.
func (i *interview) list() error {
	listed, err := i.conn.Tools(i.ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, t := range listed {
		i.expect(!seen[t.Name], "XP-MANIFEST-004", i.at, fmt.Sprintf("tools/list has %.80q twice", t.Name), "give each tool a name of its own")
		i.prefer(toolName.MatchString(t.Name), "XP-MANIFEST-004", i.at, fmt.Sprintf("tools/list has the name %.80q", t.Name), "use 1 to 64 of A-Z, a-z, 0-9, _, . and -; some clients drop other names")
		n := slices.IndexFunc(i.p.served, func(s served) bool { return s.name == t.Name })
		if n < 0 {
			i.warn("XP-MANIFEST-004", i.at, fmt.Sprintf("tools/list has %.80q, which registry.json does not list", t.Name), "derive both from one state; without a handler a reader cannot tell what the tool does")
		} else if !seen[t.Name] {
			i.admit(t, i.p.served[n].handler)
		}
		seen[t.Name] = true
	}
	for _, s := range i.p.served {
		i.expect(seen[s.name], "XP-MANIFEST-004", i.at, fmt.Sprintf("registry.json lists the tool %.80q and tools/list does not", s.name), "list only what the endpoint serves")
	}
	return nil
}

// admit lets a tool be called when all that is said about it says that it reads: it has a handler of this protocol, and readOnlyHint.
func (i *interview) admit(t bizhttp.ToolInfo, handler string) {
	switch {
	case !slices.Contains(business.Handlers, handler) || i.tools[handler].name != "":
	case !t.ReadOnly:
		i.left = append(i.left, fmt.Sprintf("the tool %.80q of %s, which does not state readOnlyHint", t.Name, i.at))
	default:
		schema, _ := objectOf(t.InputSchema)
		i.tools[handler] = tool{name: t.Name, takes: schema.object("properties"), exact: schema.is("additionalProperties", "false")}
	}
}

// takes reports whether there is a tool of a handler whose input schema names an argument.
func (i *interview) takes(handler, argument string) bool { return i.tools[handler].takes.has(argument) }

// call asks the tool of a handler and looks at the answer. It returns nil when there is no such tool, or nothing more is asked.
func (i *interview) call(handler, arguments string) *reply {
	t, ok := i.tools[handler]
	if !ok {
		return nil
	}
	r := i.send(t.name, jcs.Raw(arguments))
	if r != nil && r.document != nil {
		i.look(r)
	}
	return r
}

// asPlace leaves out what a query string or a fragment would begin with.
var asPlace = strings.NewReplacer("?", "", "#", "")

// send makes one call within the bounds. Empty arguments are absent ones.
func (i *interview) send(name string, arguments jcs.Raw) *reply {
	switch {
	case i.ended != "":
		return nil
	case i.ctx.Err() != nil:
		i.ended = "the check was ended before they were come to"
	case i.asked >= maxCalls:
		i.ended = fmt.Sprintf("%d calls were made, which is the most for one publisher", maxCalls)
	case i.calls >= maxCallsAll:
		i.ended = fmt.Sprintf("%d calls were made, which is the most for one check", maxCallsAll)
	}
	if i.ended != "" {
		return nil
	}
	i.asked++
	i.calls++
	if len(arguments) == 0 {
		arguments = nil
	}
	shown := "without arguments"
	if arguments != nil {
		shown = clip(asPlace.Replace(string(arguments)), 300)
	}
	r := &reply{sent: business.Call{Tool: name, Arguments: arguments}, place: i.at + " " + name + " " + shown}
	called, err := i.conn.Call(i.ctx, name, arguments)
	if err != nil {
		r.err = err
		i.failed(err)
		return r
	}
	if r.toolFail = called.IsError; len(called.Text) > bizhttp.MaxBytes || len(called.Structured) > bizhttp.MaxBytes {
		r.err = fmt.Errorf("the answer has more than %d MiB", bizhttp.MaxBytes>>20)
		return r
	}
	r.document = i.envelope(r.place, called)
	r.o, _ = objectOf(r.document)
	r.status = r.o.object("coverage").text("status")
	return r
}

// failed looks at why there was no answer. A refusal of the call is one thing; a server that cannot answer now is asked nothing more.
func (i *interview) failed(err error) {
	var way *bizhttp.TransportError
	if !errors.As(err, &way) {
		return
	}
	later := ""
	if way.RetryAfter > 0 {
		later = way.RetryAfter.String()
	}
	i.checkPause(i.at, way.Status, way.Code, later, later != "")
	if way.Status == http.StatusTooManyRequests || way.Status < 400 || way.Status >= 500 {
		i.ended = "a call was not answered: " + way.Problem
	}
}

// envelope is the answer in a result: the text, which is what readers verify, or else the structured content. nil when neither is one.
func (i *interview) envelope(place string, called *bizhttp.Called) []byte {
	isOne := func(document []byte) bool {
		o, err := objectOf(document)
		return err == nil && (o.has("coverage") || o.has("attestation"))
	}
	structured := isOne(called.Structured)
	switch {
	case isOne(called.Text) && structured:
		a, _ := business.Canon(called.Text)
		b, _ := business.Canon(called.Structured)
		i.prefer(bytes.Equal(a, b), "XP-INTEGRITY-001", place, "structuredContent is not the envelope that the text holds", "give the same envelope in both: some readers see only one of them, and only one is signed")
		return called.Text
	case isOne(called.Text):
		return called.Text
	case structured:
		return called.Structured
	}
	return nil
}

func (i *interview) evidence(r *reply) business.Evidence {
	e := i.p.evidence
	e.Call, e.At = &r.sent, i.Clock()
	return e
}

// look judges an envelope by all that holds whatever was asked.
func (i *interview) look(r *reply) {
	e := i.evidence(r)
	i.checkEnvelope(r.place, r.document, e)
	i.expect(!r.toolFail, "XP-COVERAGE-009", r.place, "an answer comes as a failure of the tool (isError)", "an answer of any of the four statuses is a success; isError is for what went wrong")
	for _, name := range []string{"jwks_url", "revocation_url"} {
		i.checkLocator(r.place, name, r.o.text(name))
	}
	i.checkRecords(r)
	i.checkWord(r)
	if r.status == "needs_context" || r.status == "not_covered" {
		i.checkSecrets(r)
	}
	if i.genuine == nil || i.genuine.status != "resolved" && r.status == "resolved" {
		if v, err := business.Verify(r.document, e); err == nil && v.Signature.Value == "valid" {
			i.genuine = r
		}
	}
}

// checkRecords is XP-IDENTITY-001 for the records of an answer: each names its publisher, without whom its id is nobody's (X§4.1).
func (i *interview) checkRecords(r *reply) {
	for _, record := range r.o.object("result").objects("records") {
		by := record.text("publisher")
		if !i.expect(by == i.p.slug, "XP-IDENTITY-001", r.place, fmt.Sprintf("a record of the answer names the publisher %.80q", by), "name the publisher in every record") {
			return
		}
	}
}

// publisherSpeaks are the members that hold the publisher's words.
var publisherSpeaks = regexp.MustCompile(`^/(publisher|result/records|coverage/(publisher_facts|agent_instruction|propositions/-/(publisher_value|unit)))(/|$)`)

// checkWord is XP-COVERAGE-008: a word that only the caller ever said does not stand among the publisher's.
func (i *interview) checkWord(r *reply) {
	if !bytes.Contains(r.sent.Arguments, []byte(i.word)) || r.o == nil {
		return
	}
	where := ""
	scalars(r.document, func(string) bool { return false }, func(pointer string, raw jcs.Raw) {
		if publisherSpeaks.MatchString(pointer) && bytes.Contains(raw, []byte(i.word)) {
			where = pointer
		}
	})
	i.expect(where == "", "XP-COVERAGE-008", r.place, fmt.Sprintf("a word of the caller's stands in %.200s, where the publisher speaks", where), "keep the caller's words in request and unresolved_references")
}

// callerSpeaks are the members that repeat the call, and those that are judged elsewhere or are no content.
var callerSpeaks = regexp.MustCompile(`^/(arguments|attestation|publisher|clarification/bound|clarification/resume/arguments|coverage/request)$`)

// The bounds of the search for values.
const (
	maxSearched = 1 << 20 // bytes of one answer, and of the names that are no secret
	maxSecrets  = 300
	minSecret   = 6 // bytes; shorter texts occur by chance
)

// checkSecrets is XP-COVERAGE-002: a value that the publisher states elsewhere does not stand in an answer that withholds.
func (i *interview) checkSecrets(r *reply) {
	if r.o == nil {
		return
	}
	where, said, left := "", string(r.sent.Arguments), maxSearched
	skip := func(pointer string) bool {
		return callerSpeaks.MatchString(pointer) || i.blurred && pointer == "/clarification/missing"
	}
	scalars(r.document, skip, func(pointer string, raw jcs.Raw) {
		text, ok := textOf(raw)
		if left -= len(text); ok && left >= 0 && slices.ContainsFunc(i.secrets, func(s string) bool { return strings.Contains(text, s) && !strings.Contains(said, s) }) {
			where = pointer
		}
	})
	i.expect(where == "", "XP-COVERAGE-002", r.place, fmt.Sprintf("%s shows in %.200s a value that the publisher states elsewhere", r.status, where), "withhold every candidate and everything that repeats one")
}

// codeWord may be a word of the protocol as well as a value.
var codeWord = regexp.MustCompile(`^[a-z_.-]+$`)

// values are texts that only content holds: what places, contacts, attributes and records state, and nothing by which an option or a business is named.
func (i *interview) values() []string {
	var found []string
	var names strings.Builder
	stated := func(o object, members ...string) {
		for _, name := range members {
			found = append(found, o.text(name))
		}
	}
	named := func(o object, members ...string) {
		for _, name := range members {
			names.WriteString(o.text(name) + "\n")
		}
	}
	block := i.p.manifest.object("publisher")
	named(block, "tenant", "display_name", "legal_name", "region", "website", "proven_domain", "business_category", "verification_method", "trust_tier")
	for _, l := range block.objects("locations") {
		stated(l, "phone", "email", "opening_hours", "street_address", "address")
		named(l, "id", "name", "locality", "country", "postal_code")
	}
	for _, contact := range block.objects("contacts") {
		stated(contact, "value")
	}
	attributes := func(o object) {
		for name := range o {
			stated(o, name)
			names.WriteString(name + "\n")
		}
	}
	attributes(block.object("profile_attributes"))
	for _, record := range i.p.samples {
		if len(found) > 4*maxSecrets || names.Len() > maxSearched {
			break
		}
		stated(record, "summary", "content")
		names.WriteString(strings.Join(record.texts("aliases"), "\n") + "\n")
		attributes(record.object("attributes"))
	}
	for _, one := range i.p.records {
		if i.blurred = names.Len() > maxSearched; i.blurred {
			break
		}
		names.WriteString(one.typ + "\n" + one.id + "\n" + one.title + "\n")
	}
	i.blurred = i.blurred || i.p.cut
	known := names.String()
	found = slices.DeleteFunc(found, func(s string) bool {
		return len(s) < minSecret || codeWord.MatchString(s) || strings.Contains(known, s)
	})
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(len(found), maxSecrets)]
}

// noun is a word of twelve letters that stands in nothing the publisher serves. It differs from run to run, so that no server can expect it.
func (i *interview) noun() string {
	said := slices.Concat([]byte(i.at), i.document(i.p.at).body)
	for _, r := range i.p.samples {
		for name, raw := range r {
			said = append(append(said, name...), raw...)
		}
	}
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Append(nil, i.at, i.Clock().Format(time.RFC3339Nano), n))
		word := make([]byte, 0, 12)
		for j := range 6 {
			word = append(word, "bdfgklmnprtvxz"[sum[2*j]%14], "aeiou"[sum[2*j+1]%5])
		}
		if !bytes.Contains(said, word) {
			return string(word)
		}
	}
}
