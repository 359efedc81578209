package describe_test

import (
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factstest"
)

// TestCallRefusals_F9_1: every refused argument is an error that names it; where HTTP has the same fault, the sentence
// is the same.
func TestCallRefusals_F9_1(t *testing.T) {
	s := variants()[0].snapshot
	tests := []struct{ tool, args, names, like string }{
		{describe.ToolGet, `{"key":"uk/bank-rate","asOf":"2026-01-01"}`, `"asOf"`, `did you mean "as_of"`},
		{describe.ToolGet, `{"key":"uk/bank-rate","date":"2026-01-01"}`, `"date"`, "allowed: key, max_age, as_of, period"},
		{describe.ToolGet, `{"key":"uk/bank-rate","vintage":"2026"}`, `"vintage"`, "allowed"},
		{describe.ToolGet, `{"key":"uk/bank-rate","format":"html"}`, `"format"`, "allowed"},
		{describe.ToolGet, `{"key":"uk/bank-rate","utm_source":"x"}`, `"utm_source"`, "unknown"},
		{describe.ToolGet, `{"key":"uk/bank-rate","KEY":"uk/x"}`, `"KEY"`, "unknown"},
		{describe.ToolGet, `{"key":"uk/bank-rate","max_age":30}`, "max_age", "a string, not a number"},
		{describe.ToolGet, `{"key":"uk/bank-rate","max_age":null}`, "max_age", "a string, not null"},
		{describe.ToolGet, `{"key":["uk/bank-rate"]}`, "key", "a string, not an array"},
		{describe.ToolGet, `{"key":{}}`, "key", "a string, not an object"},
		{describe.ToolGet, `{"key":true}`, "key", "a string, not a boolean"},
		{describe.ToolGet, `{"key":"uk/bank-rate","max_age":"30"}`, "max_age", ""},
		{describe.ToolGet, `{"key":"uk/bank-rate","max_age":""}`, "max_age", "empty"},
		{describe.ToolGet, `{"key":"uk/bank-rate","as_of":"2026-02-30"}`, "as_of", ""},
		{describe.ToolGet, `{"key":"uk/bank-rate","as_of":"2026-01-01","period":"2026"}`, "as_of", "period"},
		{describe.ToolGet, `{"key":""}`, "key", "empty"},
		{describe.ToolGet, `{"key":"  "}`, "key", "empty"},
		{describe.ToolGet, `{"key":"uk/a,,uk/b"}`, "key", ""},
		{describe.ToolGet, `{"key":"` + strings.Repeat("uk/a,", 50) + `uk/a"}`, "key", "50"},
		{describe.ToolGet, `{"key":"` + strings.Repeat("a", 401) + `"}`, "key", "400"},
		{describe.ToolGet, `{"key":"a/b","key":"c/d"}`, "key", "duplicate"},
		{describe.ToolGet, `{"max_age":"30d"}`, "key", "missing"},
		{describe.ToolGet, ``, "key", "missing"},
		{describe.ToolGet, ` null `, "key", "missing"},
		{describe.ToolGet, `[]`, "object", ""},
		{describe.ToolGet, `"uk/bank-rate"`, "object", ""},
		{describe.ToolGet, `{"key":"a/b"`, "JSON", ""},
		{describe.ToolGet, `{"key":"a/b"} x`, "JSON", "trailing"},
		{describe.ToolGet, "{\"key\":\"\xff\"}", "key", "UTF-8"},
		{describe.ToolResolve, `{"q":""}`, "q", "empty"},
		{describe.ToolResolve, `{}`, "q", ""},
		{describe.ToolResolve, `{"q":"rate","limit":0}`, "limit", "20"},
		{describe.ToolResolve, `{"q":"rate","limit":21}`, "limit", "20"},
		{describe.ToolResolve, `{"q":"rate","limit":2.5}`, "limit", ""},
		{describe.ToolResolve, `{"q":"rate","limit":-0}`, "limit", ""},
		{describe.ToolResolve, `{"q":"rate","limit":"5"}`, "limit", "an integer, not a string"},
		{describe.ToolResolve, `{"q":"rate","limit":9007199254740993}`, "limit", ""},
		{describe.ToolResolve, `{"q":"` + strings.Repeat("a", 401) + `"}`, "q", "400"},
		{describe.ToolChanges, `{}`, "since", ""},
		{describe.ToolChanges, `{"since":"yesterday"}`, "since", ""},
		{describe.ToolChanges, `{"since":"2199-01-01"}`, "since", ""},
		{describe.ToolChanges, `{"since":"2026-01-01","area":"nowhere"}`, "area", "uk-rates"},
		{describe.ToolChanges, `{"since":"2026-01-01","limit":201}`, "limit", "200"},
		{describe.ToolChanges, `{"since":"2026-01-01","cursor":"zzz"}`, "cursor", ""},
	}
	for _, test := range tests {
		r, ok := describe.Call(s, test.tool, []byte(test.args), factstest.Today)
		if !ok || !r.IsError || r.JSON != nil {
			t.Errorf("%s %.80s: ok %v, isError %v, %s", test.tool, test.args, ok, r.IsError, r.JSON)
			continue
		}
		if !strings.Contains(r.Text, test.names) || !strings.Contains(r.Text, test.like) {
			t.Errorf("%s %.80s: %q names neither %q nor %q", test.tool, test.args, r.Text, test.names, test.like)
		}
	}
}

// TestCallAnswers compares with what the HTTP surface makes of the same question.
func TestCallAnswers_F9_1(t *testing.T) {
	s, today := variants()[0].snapshot, factstest.Today
	record := func(key string, selection facts.Selection) string {
		answer, err := s.Get(key, selection, today)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer.AppendJSON(nil))
	}
	batch, err := s.Batch([]string{"uk/bank-rate", "no/such", "uk/bank-rate"}, facts.Selection{MaxAge: 30}, today)
	if err != nil {
		t.Fatal(err)
	}
	resolution, err := s.Resolve("bank rate", "uk", 3, today)
	if err != nil {
		t.Fatal(err)
	}
	five, err := s.Resolve("rate", "", 5, today)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := s.AppendChanges(nil, facts.ChangesQuery{Since: factstest.Day("2026-01-01"), Limit: 50, Given: true, Cited: true}, today)
	if err != nil {
		t.Fatal(err)
	}
	none := facts.Selection{MaxAge: facts.NoMaxAge}
	tests := []struct{ tool, args, want string }{
		{describe.ToolGet, `{"key":"uk/bank-rate"}`, record("uk/bank-rate", none)},
		{describe.ToolGet, `{"key":"uk/bank-rate","max_age":"P30D"}`, record("uk/bank-rate", facts.Selection{MaxAge: 30})},
		{describe.ToolGet, `{"key":"uk/bank-rate","as_of":"2025-08-06"}`, record("uk/bank-rate", facts.Selection{MaxAge: facts.NoMaxAge, AsOf: factstest.Day("2025-08-06")})},
		{describe.ToolGet, `{"key":"uk/income-tax/personal-allowance","period":"2025-26"}`, record("uk/income-tax/personal-allowance", facts.Selection{MaxAge: facts.NoMaxAge, Period: "2025-26"})},
		{describe.ToolGet, `{"key":"no/such"}`, record("no/such", none)},
		{describe.ToolGet, `{"key":"zz-smp/withdrawn/dated"}`, record("zz-smp/withdrawn/dated", none)},
		{describe.ToolGet, `{"key":"uk/bank-rate,no/such,uk/bank-rate","max_age":"30d"}`, string(batch.AppendJSON(nil))},
		{describe.ToolResolve, `{"q":"bank rate","namespace":"uk","limit":3}`, string(resolution.AppendJSON(nil))},
		{describe.ToolResolve, `{"q":"bank rate","namespace":"uk","limit":3.0}`, string(resolution.AppendJSON(nil))},
		{describe.ToolResolve, `{"q":"rate"}`, string(five.AppendJSON(nil))},
		{describe.ToolChanges, `{"since":"2026-01-01"}`, string(changed)},
	}
	for _, test := range tests {
		r, ok := describe.Call(s, test.tool, []byte(test.args), today)
		if !ok || r.IsError || string(r.JSON) != test.want {
			t.Errorf("%s %s: %v %v %s%s\nwant %s", test.tool, test.args, ok, r.IsError, r.Text, r.JSON, test.want)
		}
	}
	if miss := record("no/such", none); !strings.Contains(miss, `"covered":false`) {
		t.Errorf("a miss is an answer: %s", miss)
	}
	if _, ok := describe.Call(s, "guess_fact", []byte(`{}`), today); ok {
		t.Error("an unknown tool was called")
	}
	if _, ok := describe.Call(s, "get_fact\x00", []byte(`{}`), today); ok {
		t.Error("a tool name with a NUL was called")
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"key":"a/b"}`, `{"q":"x","limit":5}`, `null`, `[]`, `{"key":1e400}`, `{"since":"2026-01-01","limit":-0}`, `{"key":"a","key":"b"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		for _, tool := range []string{describe.ToolGet, describe.ToolResolve, describe.ToolChanges} {
			params, known, err := describe.Arguments(tool, []byte(args))
			if !known || (err == nil) == (params == nil) {
				t.Fatalf("%s %q: %v %v %v", tool, args, known, params, err)
			}
			if err != nil && !describe.Refusal(err).IsError {
				t.Fatalf("%q: %v is no refusal", args, err)
			}
		}
	})
}
