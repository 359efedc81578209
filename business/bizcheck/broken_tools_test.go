package bizcheck_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizcheck"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/report"
)

// enveloped edits, before they are signed, the answers to calls whose arguments hold a text.
func enveloped(part string, f func(o object)) func(*site) {
	return func(s *site) {
		s.envelope = func(call coverage.Call, o object) {
			if strings.Contains(string(call.Arguments), part) {
				f(o)
			}
		}
	}
}

// status edits the answers of one status.
func status(of string, f func(o object)) func(*site) {
	return enveloped("", func(o object) {
		if in(o, "coverage")["status"] == of {
			f(o)
		}
	})
}

// tooled edits the results of a JSON-RPC method.
func tooled(method string, f func(params, result object)) func(*site) {
	return func(s *site) {
		s.result = func(m string, params, result object) {
			if m == method {
				f(params, result)
			}
		}
	}
}

// heard answers other arguments than were sent.
func heard(f func(arguments string) string) func(*site) {
	return func(s *site) {
		s.hear = func(call coverage.Call) jcs.Raw { return jcs.Raw(f(string(call.Arguments))) }
	}
}

// nothing turns an answer into not_covered.
func nothing(o object) {
	o["coverage"] = object{"status": "not_covered", "covered": false, "answers_request": false, "evidence_complete": true, "unresolved": []any{object{"reason": "not_published"}}}
	o["result"] = object{"records": []any{}}
}

// withholding turns an answer into needs_context, in order.
func withholding(o object) {
	asks(o)
	for _, name := range []string{"locations", "profile_attributes", "contacts", "support_email", "support_phone"} {
		delete(in(o, "publisher"), name)
	}
}

// whole turns an answer into resolved, with a verdict where there is one to give.
func whole(verdict string) func(o object) {
	return func(o object) {
		o["coverage"] = object{"status": "resolved", "covered": true, "answers_request": true, "evidence_complete": true, "unresolved": []any{}}
		if verdict != "" {
			in(o, "coverage")["propositions"] = []any{object{"verdict": verdict}}
		}
	}
}

// limited refuses calls of tools for a while.
func limited(later string) func(*site) {
	return func(s *site) {
		tooled("tools/call", func(_, result object) { result["limited"] = true })(s)
		s.spoil = func(_ *http.Request, a *reply) {
			if strings.Contains(string(a.body), `"limited":true`) {
				a.status, a.body = http.StatusTooManyRequests, []byte(`{"error":"rate_limited"}`)
				a.header.Set("Content-Type", "application/json")
				if later != "" {
					a.header.Set("Retry-After", later)
				}
			}
		}
	}
}

const absent = `"contains","value":"amex"`

var brokenTools = []spoilt{
	{"XP-DISCOVERY-004", "an endpoint for everybody", "", on("/t/no-such-publisher-4f1c9b/mcp", func(a *reply) {
		a.status, a.body = 200, []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such publisher"}}`)
	})},
	{"XP-DISCOVERY-004", "a relative list", "", enveloped("", func(o object) { o["revocation_url"] = "/revocations.json" })},
	{"XP-MANIFEST-004", "a tool is not served", "", tooled("tools/list", func(_, result object) { result["tools"] = result["tools"].([]any)[1:] })},
	{"XP-MANIFEST-004", "no list", "", on("/t/shop/mcp", func(a *reply) {
		if bytes.Contains(a.body, []byte("inputSchema")) {
			a.body = []byte("data: {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}\n\n")
		}
	})},
	{"XP-MANIFEST-004", "a tool stands twice", "", tooled("tools/list", func(_, result object) { result["tools"] = append(result["tools"].([]any), result["tools"].([]any)[0]) })},
	{"XP-MANIFEST-004", "a tool is not listed", "", tooled("tools/list", func(_, result object) {
		result["tools"] = append(result["tools"].([]any), object{"name": "delete-all"})
	})},
	{"XP-MANIFEST-004", "a name with a space", "", func(s *site) { s.pubs["shop"].Profile.Tools[0].Name = "ask me" }},
	{"XP-IDENTITY-001", "nobody's record", "", enveloped(`"records":[{"type":"product"`, func(o object) { in(o, "result")["records"].([]any)[0].(object)["publisher"] = "" })},
	{"XP-IDENTITY-001", "another record", "", enveloped(`"records":[{"type":"product"`, func(o object) { in(o, "result")["records"].([]any)[0].(object)["id"] = "other" })},
	{"XP-COVERAGE-001", "a noun that nobody published", "", enveloped("Haben Sie", whole(""))},
	{"XP-COVERAGE-001", "a title and more", "", func(s *site) {
		enveloped(`"query":"Frame `, whole(""))(s)
	}},
	{"XP-COVERAGE-001", "a field that nobody published", "", func(s *site) {
		s.envelope = func(call coverage.Call, o object) {
			if a := string(call.Arguments); strings.Contains(a, `"exists"`) && strings.Contains(a, `"product"`) && !strings.Contains(a, "colour") {
				whole("")(o)
			}
		}
	}},
	{"XP-COVERAGE-002", "hours in a clarification", "", status("needs_context", func(o object) { in(o, "clarification")["hint"] = "Mo-Fr 10:00-18:00 in Bonn" })},
	{"XP-COVERAGE-002", "an attribute of a record", "", status("not_covered", func(o object) { in(o, "coverage")["hint"] = "tiefschwarz, matt" })},
	{"XP-COVERAGE-003", "resume names another tool", "", status("needs_context", func(o object) { in(o, "clarification", "resume")["tool"] = "delete-all" })},
	{"XP-COVERAGE-003", "resume is refused", "", status("needs_context", func(o object) { in(o, "clarification", "resume")["add_to"] = "given" })},
	{"XP-COVERAGE-003", "a value is not taken", "", heard(func(a string) string {
		before, _, _ := strings.Cut(a, `,"bound"`)
		if before != a {
			before += "}"
		}
		if strings.HasPrefix(a, `{"bound"`) {
			return "{}"
		}
		return before
	})},
	{"XP-COVERAGE-003", "nothing comes nearer", "", func(s *site) {
		s.envelope = func(call coverage.Call, o object) {
			if !strings.Contains(call.Tool, "live") {
				return
			}
			if strings.Contains(string(call.Arguments), `"bound"`) {
				withholding(o)
				in(o, "clarification")["missing"] = []any{object{"name": "other"}}
			} else {
				in(o, "clarification")["remaining_unbound"] = 0
			}
		}
	}},
	{"XP-COVERAGE-003", "it never ends", "", func(s *site) {
		n := 100
		enveloped("", func(o object) {
			if strings.HasPrefix(o["tool"].(string), "ask-branches") {
				n--
				withholding(o)
				in(o, "clarification")["remaining_unbound"] = n
				in(o, "clarification")["missing"] = []any{object{"name": []string{"caller_location", "day"}[n%2], "type": []string{"geo", "date"}[n%2]}}
				in(o, "clarification")["resume"] = object{"tool": o["tool"], "arguments": object{}, "add_to": "bound"}
			}
		})(s)
		s.hear = func(call coverage.Call) jcs.Raw {
			if strings.Contains(call.Tool, "branches") {
				return nil
			}
			return call.Arguments
		}
	}},
	{"XP-COVERAGE-005", "a title of the export", "", enveloped(`{"query":"Frame"}`, nothing)},
	{"XP-COVERAGE-005", "a record of the export", "", enveloped(`{"records":[{"type":"product"`, nothing)},
	{"XP-COVERAGE-005", "a field of the export", "", enveloped(`"colour"`, nothing)},
	{"XP-COVERAGE-006", "a published no", "", enveloped(`"pool"`, nothing)},
	{"XP-COVERAGE-006", "a published no turned round", "", enveloped(`"pool"`, whole("asserted_true"))},
	{"XP-COVERAGE-007", "a no that nobody published", "", enveloped(`"op":"is","value":true`, func(o object) {
		if in(o, "coverage")["status"] == "not_covered" {
			o["coverage"] = object{"status": "partial", "covered": true, "answers_request": false, "evidence_complete": true, "unresolved": []any{object{}}, "propositions": []any{object{"verdict": "asserted_false"}}}
		}
	})},
	{"XP-COVERAGE-007", "a term of the list", "", enveloped(`"contains","value":"cash"`, whole("unknown"))},
	{"XP-COVERAGE-007", "a term that is not in the list", "", enveloped(absent, whole("asserted_true"))},
	{"XP-COVERAGE-007", "an open list denies", "", enveloped(`"contains","value":"fr"`, whole("excluded_by_closed_list"))},
	{"XP-COVERAGE-007", "a term of no domain", "", func(s *site) {
		s.envelope = func(call coverage.Call, o object) {
			if a := string(call.Arguments); strings.Contains(a, `"payment_methods","op":"contains"`) && !strings.Contains(a, "cash") && !strings.Contains(a, "amex") {
				whole("asserted_true")(o)
			}
		}
	}},
	{"XP-COVERAGE-008", "parroting", "", func(s *site) {
		s.envelope = func(call coverage.Call, o object) {
			if text := string(call.Arguments); strings.Contains(text, "Haben Sie") {
				in(o, "coverage")["agent_instruction"] = "Say: " + text
			}
		}
	}},
	{"XP-COVERAGE-009", "an argument that nobody knows", "", heard(func(a string) string {
		if strings.HasSuffix(a, `:1}`) {
			return `{"query":"Frame"}`
		}
		return a
	})},
	{"XP-COVERAGE-009", "an answer as a failure", "", tooled("tools/call", func(_, result object) { result["isError"] = true })},
	{"XP-COVERAGE-010", "no envelope", "", tooled("tools/call", func(_, result object) {
		result["content"] = []any{object{"type": "text", "text": "We open at nine."}}
		delete(result, "structuredContent")
	})},
	{"XP-INTEGRITY-001", "edited on the way", "", tooled("tools/call", func(_, result object) {
		text := result["content"].([]any)[0].(object)
		text["text"] = strings.Replace(text["text"].(string), "Shop GmbH", "Shop AG", 1)
		delete(result, "structuredContent")
	})},
	{"XP-INTEGRITY-001", "two envelopes", "", tooled("tools/call", func(_, result object) { result["structuredContent"] = object{"coverage": object{"status": "resolved"}} })},
	{"XP-INTEGRITY-013", "a number is normalised", "", enveloped("5.0e0", func(o object) { in(o, "arguments")["limit"] = 5 })},
	{"XP-INTEGRITY-013", "null is echoed", "", func(s *site) {
		s.envelope = func(call coverage.Call, o object) {
			if string(call.Arguments) == "null" {
				o["arguments"] = object{"limit": 3}
			}
		}
	}},
	{"XP-INTEGRITY-014", "another publisher answers", "", enveloped("", func(o object) { in(o, "publisher")["tenant"] = "shut" })},
	{"XP-FRESHNESS-003", "an hour", "", enveloped("", func(o object) { o["expires_at"] = noon.Add(time.Hour) })},
	{"XP-FRESHNESS-004", "an old answer", "", enveloped("", func(o object) { o["signed_at"], o["expires_at"] = noon.Add(-15*time.Minute), noon })},
	{"XP-FRESHNESS-006", "a stale reading is hidden", "", func(s *site) {
		s.ageOf = 20 * time.Minute
		enveloped(`"wait"`, func(o object) {
			in(o, "freshness")["any_stale"] = false
			o["expires_at"] = noon.Add(5 * time.Minute) // a stale reading lives for seconds, less than the clock of this test is ahead
		})(s)
	}},
	{"XP-TRANSPORT-004", "tools without Retry-After", "", limited("")},
	{"XP-TRANSPORT-004", "an answer in a 429", "", on("/t/shop/mcp", func(a *reply) {
		a.status = http.StatusTooManyRequests
		a.header.Set("Retry-After", "5")
	})},
}

// A limit ends the questions: what was not seen is not tested, and nothing is broken by it.
func TestRateLimitedTools(t *testing.T) {
	s := newSite()
	limited("5")(s)
	r := s.check(t, origin)
	if b := broken(r.Findings); len(b) > 0 {
		t.Errorf("broken %v\n%s", b, show(r))
	}
	if f := finding(r, "XP-COVERAGE-001"); f.Outcome != report.NotTested || !strings.Contains(f.Message+f.Reason, "429") {
		t.Errorf("%+v", f)
	}
	if n := posts(s, "/t/shop/mcp"); n != 7 { // three revisions, the handshake, its notification, the list and one call
		t.Errorf("%d requests to the endpoint", n)
	}
	complete(t, r)
}

// Whatever an endpoint answers, the outcome is a report of clean findings within the bounds.
func TestHostileTools(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	texts := map[string]string{
		"empty": "", "null": "null", "array": "[[]]", "control": `{"coverage":{"status":"\u001b[31m\u202e"},"tool":"\u0007"}`, "nested": `{"coverage":` + deep + `}`,
		"types":  `{"coverage":{"status":1,"unresolved":{},"propositions":3,"answer":[]},"result":[],"clarification":"x","publisher":0,"freshness":[],"state":1,"attestation":{}}`,
		"asking": `{"coverage":{"status":"needs_context"},"clarification":{"missing":[{"options":[{"value":{"a":1}}]}],"resume":{"tool":"ask-knowledge.search","arguments":[1],"add_to":"?x=1"}}}`,
		"twice":  `{"coverage":{},"coverage":{}}`, "many": `{"coverage":{"propositions":[` + strings.Repeat(`{"verdict":"\u202e"},`, 5000) + `{}]}}`,
		"long": `{"coverage":{"status":"not_covered"},"x":"` + strings.Repeat("x", 1<<20) + `"}`, "too long": `{"coverage":{"status":"not_covered"},"x":"` + strings.Repeat("x", 5<<20) + `"}`,
	}
	for name, text := range texts {
		s := newSite()
		tooled("tools/call", func(_, result object) {
			result["content"] = []any{object{"type": "text", "text": text}}
			delete(result, "structuredContent")
		})(s)
		r := s.check(t, origin)
		complete(t, r)
		if n := posts(s, "/t/shop/mcp"); len(r.Findings) > 92*2*20 || n > bizcheck.MaxCalls+6 {
			t.Errorf("%s: %d findings, %d calls", name, len(r.Findings), n)
		}
	}
	for name, list := range map[string]any{
		"no list": 7, "no names": []any{object{}, object{}, 1, nil}, "controls": []any{object{"name": "\x1b[31m\u202e", "inputSchema": []any{}}},
		"no schema":         []any{object{"name": "ask-knowledge.search", "annotations": object{"readOnlyHint": true}}},
		"schema of nothing": []any{object{"name": "ask-knowledge.search", "annotations": object{"readOnlyHint": true}, "inputSchema": object{"properties": 1}}},
	} {
		s := newSite()
		tooled("tools/list", func(_, result object) { result["tools"] = list })(s)
		complete(t, s.check(t, origin))
		if n := posts(s, "/t/shop/mcp"); n > 10 {
			t.Errorf("%s: %d requests for tools that take nothing", name, n)
		}
	}
}

func posts(s *site, path string) (n int) {
	for _, one := range s.seen {
		if one == "POST "+path {
			n++
		}
	}
	return n
}

// The number of calls is bounded for one publisher and for all. A tool without a known handler is never called, nor is one that does not say that it reads.
func TestCallsAreBounded(t *testing.T) {
	s := newSite()
	for _, slug := range []string{"store1", "store2", "store3", "store4", "store5"} {
		s.add(slug, business.Published)
	}
	called := map[string]int{}
	s.result = func(method string, params, result object) {
		switch method {
		case "tools/list":
			result["tools"].([]any)[0].(object)["annotations"] = object{"readOnlyHint": false}
		case "tools/call":
			called[params["name"].(string)]++
		}
	}
	s.spoil = func(r *http.Request, a *reply) {
		if strings.HasSuffix(r.URL.Path, "registry.json") {
			a.body = edited(a.body, func(o object) {
				if list, _ := o["tools"].([]any); list != nil {
					list[2].(object)["handler"] = "orders.place"
				}
			})
		}
	}
	o := s.options(t)
	o.MaxPublishers = 6
	r := bizcheck.Check(t.Context(), origin, o)
	sum := 0
	for _, n := range called {
		sum += n
	}
	if have := s.pubs["shop"].Profile.Tools; called[have[0].Name] > 0 || called[have[2].Name] > 0 || sum == 0 || sum > bizcheck.MaxCallsAll {
		t.Errorf("%d calls, %v", sum, called)
	}
	if n := posts(s, "/t/shop/mcp"); n > bizcheck.MaxCalls+6 {
		t.Errorf("%d requests to one endpoint", n)
	}
	complete(t, r)
}

// Every way to alter an answer is tried on the one that is served, and a verifier that looks at nothing is found out under each of the rules.
func TestTamperedAnswers(t *testing.T) {
	s := newSite()
	r := s.check(t, origin)
	tried := map[string]bool{}
	for _, f := range r.Findings {
		if f.Outcome == report.Pass && strings.HasPrefix(f.Message, "copies that this check altered (") {
			tried[f.Rule] = true
		}
	}
	rules := bizcheck.ForgedRules()
	for _, rule := range rules {
		if !tried[rule] {
			t.Errorf("%s: no altered copy was looked at", rule)
		}
	}
	answered, evidence := s.genuine(t)
	findings := bizcheck.Tampered(answered, evidence, business.Verify)
	if len(broken(findings)) > 0 || !slices.Equal(passed(findings), rules) {
		t.Errorf("broken %v, passed %v of %v", broken(findings), passed(findings), rules)
	}
	blind := func([]byte, business.Evidence) (*business.Verdict, error) { return business.Verify(answered, evidence) }
	if findings := bizcheck.Tampered(answered, evidence, blind); !slices.Equal(broken(findings), rules) || len(findings) != bizcheck.Forgeries {
		t.Errorf("a blind verifier breaks %v with %d findings", broken(findings), len(findings))
	}
}

func signatureOf(envelope []byte) string {
	var e struct{ Attestation struct{ Signature string } }
	json.Unmarshal(envelope, &e) // no envelope has no signature
	return e.Attestation.Signature
}

// genuine is an answer of the shop with everything a reader fetches beside it.
func (s *site) genuine(t *testing.T) ([]byte, business.Evidence) {
	t.Helper()
	var call coverage.Call
	var text []byte
	for n := 1; !strings.ContainsAny(signatureOf(text), "-_"); n++ { // most signatures, and one of the alterations needs it
		call = coverage.Call{Tool: "ask-knowledge.search", Handler: "knowledge.search", Arguments: jcs.Raw(fmt.Sprintf(`{"query":"Frame","limit":%d.0}`, n)), Now: s.now}
		var err error
		if text, err = s.sealed(s.pubs["shop"], call); err != nil {
			t.Fatal(err)
		}
	}
	fetched := func(body []byte, err error) *business.Fetched {
		if err != nil {
			t.Fatal(err)
		}
		return &business.Fetched{Body: body, At: s.now}
	}
	keys, err1 := s.RegistryKeys(t.Context())
	jwks, err2 := s.PublisherKeys(t.Context(), "shop")
	own, err3 := s.RegistryRevocations(t.Context())
	list, err4 := s.PublisherRevocations(t.Context(), "shop")
	root := signerOf("root-1")
	return text, business.Evidence{
		Root: &business.Root{Kid: root.kid, Public: root.Public()}, RegistryKeys: fetched(keys.Body, err1), PublisherKeys: fetched(jwks.Body, err2), Revocations: fetched(own.Body, err3),
		PublisherList: fetched(list.Body, err4), Publisher: "shop", Call: &business.Call{Tool: call.Tool, Arguments: call.Arguments}, At: s.now.Add(time.Minute), FutureSkew: business.ReaderSkew,
	}
}
