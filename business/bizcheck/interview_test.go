package bizcheck_test

import (
	"net/http"
	"strings"
	"testing"

	"sayso/business/bizcheck"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/report"
)

// The call that goes on is the one that was described, token by token, with one value more (XP-COVERAGE-003).
func TestResumedArguments(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{`{}`, `{"bound":{"location":"a"}}`},
		{`{"query":"\u0041", "limit":5.0e0}`, `{"query":"\u0041","limit":5.0e0,"bound":{"location":"a"}}`},
		{`{"bound":{"date":"2026-12-24","location":"b"},"limit":-0}`, `{"limit":-0,"bound":{"date":"2026-12-24","location":"a"}}`},
		{`{"bound":7}`, `{"bound":{"location":"a"}}`},
		{`[1]`, `{"bound":{"location":"a"}}`},
		{``, `{"bound":{"location":"a"}}`},
	} {
		if got := bizcheck.WithBound(c.arguments, "bound", "location", `"a"`); got != c.want {
			t.Errorf("%s: %s, want %s", c.arguments, got, c.want)
		}
	}
}

// What a value has in common with the protocol's own words, with a title or with the business's name is no leak of it.
func TestValuesThatAreNames(t *testing.T) {
	s := newSite()
	for i, attributes := range []string{`{"kind":"location"}`, `{"goes with":"Eye exam","sold by":"Shop GmbH"}`, `{"state":"missing_value"}`} {
		s.records["shop"][i].Attributes = jcs.Raw(attributes)
	}
	s.records["shop"][1].Summary = "publisher"
	status("needs_context", func(o object) {
		in(o, "clarification")["missing"] = append(in(o, "clarification")["missing"].([]any), object{"name": "record", "options": []any{object{"value": "service/exam", "label": "Eye exam"}}})
	})(s)
	if r := s.check(t, origin); len(broken(r.Findings)) > 0 {
		t.Errorf("broken %v\n%s", broken(r.Findings), show(r))
	}
}

// An answer that follows from a later state than the manifest is not held to what the manifest and the export said.
func TestChangedWhileChecked(t *testing.T) {
	for generation, want := range map[int]report.Outcome{3: report.Fail, 4: report.NotTested} {
		s := newSite()
		enveloped("", func(o object) {
			in(o, "state")["generation"], in(o, "state")["records_generation"] = generation, generation
			if q, _ := in(o, "arguments")["query"].(string); q == "Frame" {
				nothing(o)
			}
		})(s)
		r := s.check(t, origin)
		outcomes := map[report.Outcome]bool{}
		for _, f := range r.Findings {
			if f.Rule == "XP-COVERAGE-005" {
				outcomes[f.Outcome] = true
			}
		}
		if !outcomes[want] || outcomes[report.Fail] != (want == report.Fail) {
			t.Errorf("generation %d: %v\n%s", generation, outcomes, show(r))
		}
	}
}

// One call that a server does not take leaves the others; a server that breaks down is asked nothing more. Neither breaks a rule of answers.
func TestRefusedCalls(t *testing.T) {
	for code, more := range map[int]bool{http.StatusBadRequest: true, http.StatusBadGateway: false} {
		s := newSite()
		calls := 0
		tooled("tools/call", func(params, result object) {
			calls++
			if arguments, has := params["arguments"]; has && arguments == nil {
				result["refused"] = true
			}
		})(s)
		s.spoil = func(_ *http.Request, a *reply) {
			if strings.Contains(string(a.body), `"refused":true`) {
				a.status, a.body = code, []byte("no")
				a.header.Set("Content-Type", "text/plain")
			}
		}
		r := s.check(t, origin)
		scope := finding(r, "XP-SCOPE-001").Message
		if b := broken(r.Findings); len(b) > 0 || calls > 20 != more || strings.Contains(scope, "further questions") == more {
			t.Errorf("%d: %d calls, broken %v, %s", code, calls, b, scope)
		}
	}
}

// Tools with other arguments than this program's are not asked what they cannot take, and nothing is said about them.
func TestForeignTools(t *testing.T) {
	s := newSite()
	tooled("tools/list", func(_, result object) {
		for _, one := range result["tools"].([]any) {
			one.(object)["inputSchema"] = object{"type": "object", "properties": object{"q": object{"type": "string"}}}
		}
	})(s)
	var asked []string
	s.hear = func(call coverage.Call) jcs.Raw {
		asked = append(asked, call.Tool+" "+string(call.Arguments))
		return call.Arguments
	}
	r := s.check(t, origin)
	if b := broken(r.Findings); len(b) > 0 {
		t.Errorf("broken %v\n%s", b, show(r))
	}
	for _, one := range asked {
		if !strings.HasPrefix(one, "ask-branches.nearest ") { // the one call that is made without arguments
			t.Errorf("asked %s", one)
		}
	}
	if f := finding(r, "XP-COVERAGE-006"); f.Outcome != report.NotTested {
		t.Errorf("%+v", f)
	}
}
