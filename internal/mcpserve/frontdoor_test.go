package mcpserve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	engine "sayso/business/answer"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factstest"
	"sayso/internal/app"
	"sayso/internal/mcpserve"
	"sayso/jcs"
)

// door calls a tool of the front door.
func door(t *testing.T, h http.Handler, tool, args string) answer {
	t.Helper()
	return send(t, h, call("1", tool, args), to("/mcp"))
}

// TestFrontDoorTools: the registry's own two, and those of the facts while there are any.
func TestFrontDoorTools(t *testing.T) {
	f := newFakeRegistry()
	names := func(h http.Handler) (out []string) {
		for _, tool := range listed(t, h, "/mcp", "2025-11-25") {
			out = append(out, tool.Name)
		}
		return out
	}
	facts := []string{describe.ToolGet, describe.ToolResolve, describe.ToolChanges}
	if got, want := names(f.surface()), append([]string{"find_publishers", "ask_business"}, facts...); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, key := range []string{`{"key":"uk/bank-rate"}`, `{"key":"no/such"}`, `{"asOf":1}`} {
		want, _ := describe.Call(sample(), describe.ToolGet, []byte(key), factstest.Today)
		got := result(t, door(t, f.surface(), describe.ToolGet, key))
		if got.IsError != want.IsError || got.Content[0].Text != string(want.JSON)+want.Text {
			t.Errorf("%s: %+v", key, got)
		}
	}
	alone := bizhttp.Handler(bizhttp.HandlerOptions{Source: f, Call: mcpserve.NewRegistry(mcpserve.RegistryOptions{Registry: f}).ServeCall})
	if got := names(alone); !slices.Equal(got, []string{"find_publishers", "ask_business"}) {
		t.Errorf("without facts: %q", got)
	}
	if r := door(t, alone, describe.ToolGet, `{"key":"uk/bank-rate"}`).rpc(t); r.Error == nil || r.Error.Code != -32602 || !strings.Contains(string(r.Error.Data), "unknown_tool") {
		t.Errorf("without facts: %+v", r)
	}
	loading := bizhttp.Handler(bizhttp.HandlerOptions{Source: f, Call: mcpserve.NewRegistry(mcpserve.RegistryOptions{Registry: f, Facts: noFacts}).ServeCall})
	if got := names(loading); len(got) != 2 {
		t.Errorf("while no facts are loaded: %q", got)
	}
}

func noFacts() *facts.Snapshot { return nil }

// TestFindPublishers: the answer is that of /discovery/query with the same parameters, refusals included.
func TestFindPublishers(t *testing.T) {
	f := newFakeRegistry()
	h := f.surface()
	for _, c := range []struct{ args, query string }{
		{`{}`, ""}, {`null`, ""}, {`{"name":"north"}`, "name=north"}, {`{"limit":1}`, "limit=1"}, {`{"handler":"knowledge.search","language":"en"}`, "handler=knowledge.search&language=en"},
		{`{"latitude":1.50,"longitude":-2e0,"radius_km":7.25}`, "latitude=1.50&longitude=-2e0&radius_km=7.25"}, {`{"city":"K\u00f6nigs & Co"}`, "city=K%C3%B6nigs+%26+Co"},
	} {
		r := httptest.NewRequest(http.MethodGet, registryOrigin+"/discovery/query?"+c.query, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := result(t, door(t, h, "find_publishers", c.args))
		if w.Code != 200 || got.IsError || got.Content[0].Text != w.Body.String() || string(got.StructuredContent) != w.Body.String() {
			t.Errorf("%s: %s, over HTTP %d %s", c.args, got.Content[0].Text, w.Code, w.Body)
		}
	}
	for args, want := range map[string]string{
		`{"term":"x"}`: "category, city, country", `{"limit":"1"}`: "integer", `{"limit":1.0}`: "limit", `{"limit":99}`: "1 to 50", `{"name":7}`: "string", `{"name":["a"]}`: "string",
		`{"latitude":1}`: "longitude", `{"latitude":true,"longitude":1}`: "number", `{"latitude":1e400,"longitude":1}`: "latitude", `{"name":null}`: "string", `{"handler":"x"}`: "knowledge.get", `{"name":""}`: "name",
	} {
		if r := door(t, h, "find_publishers", args).rpc(t); r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, want) || !strings.Contains(string(r.Error.Data), `"invalid_arguments"`) {
			t.Errorf("%s: %+v", args, r.Error)
		}
	}
	var schema struct {
		Properties map[string]struct{ Type, Description string }
		Closed     *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal(business.QuerySchema(), &schema); err != nil || schema.Closed == nil || *schema.Closed {
		t.Errorf("schema: %v %s", err, business.QuerySchema())
	}
	for name, p := range schema.Properties {
		if p.Type == "" || p.Description == "" || p.Type != business.QueryParameterType(name) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	// The registry can be read when the request is let in, and not when the tool looks.
	tools := direct(f.tools().ServeCall, nil)
	f.unread = bizhttp.ErrUnavailable
	if a := send(t, tools, call("1", "find_publishers", `{}`), nil); a.status != 599 || strings.Contains(string(a.body), "jsonrpc") {
		t.Errorf("unread: %d %s", a.status, a.body)
	}
}

// TestAskBusiness: publisher, the call that was made and its envelope, in both channels, literals untouched (answers §14.8).
func TestAskBusiness(t *testing.T) {
	f := newFakeRegistry()
	h := f.surface()
	for _, c := range []struct{ args, inner string }{
		{`{"publisher":"north","query":"x"}`, `{"query":"x"}`},
		{`{"limit":5.0,"publisher":"north","query":"\u0041"}`, `{"limit":5.0,"query":"\u0041"}`},
		{` { "query" : "x" , "bound" : { "record" : "a/b" } , "publisher" : "north" } `, `{"query":"x","bound":{"record":"a/b"}}`},
		{`{"publisher":"north","criteria":[{"field":"price","op":"lt","value":1E2}],"query":"a"}`, `{"criteria":[{"field":"price","op":"lt","value":1E2}],"query":"a"}`},
		{`{"publisher":"\u006eorth"}`, `{}`},
	} {
		envelope, err := f.answer("north", "north.search", jcs.Raw(c.inner))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"publisher":"north","call":{"tool":"north.search","arguments":` + c.inner + `},"envelope":` + string(envelope) + `}`
		got := result(t, door(t, h, "ask_business", c.args))
		if got.IsError || got.Content[0].Text != want || string(got.StructuredContent) != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.args, got.Content[0].Text, want)
		}
		if calls := f.calls(); calls[len(calls)-1] != "north north.search "+c.inner {
			t.Errorf("%s: Ask got %s", c.args, calls[len(calls)-1])
		}
	}
	before := len(f.calls())
	for _, c := range []struct {
		args string
		code string
	}{
		{`{"publisher":"nobody","query":"x"}`, "unknown_publisher"}, {`{"publisher":"shut","query":"x"}`, "unknown_publisher"}, {`{"publisher":"NOT A SLUG","query":"x"}`, "unknown_publisher"},
		{`{"publisher":"south","query":"x"}`, "no_search_tool"}, {`{"query":"x"}`, "invalid_arguments"}, {`{}`, "invalid_arguments"}, {`null`, "invalid_arguments"}, {`{"publisher":7,"query":"x"}`, "invalid_arguments"},
		{`{"publisher":"north","query":"x","tool":"y"}`, "invalid_arguments"}, {`{"publisher":null}`, "invalid_arguments"},
	} {
		r := door(t, h, "ask_business", c.args).rpc(t)
		if r.Error == nil || r.Error.Code != -32602 || !strings.Contains(string(r.Error.Data), `"`+c.code+`"`) || strings.Contains(string(r.Error.Data), "status") {
			t.Errorf("%s: %+v, want %s", c.args, r.Error, c.code)
		}
	}
	if r := door(t, h, "ask_business", `{"publisher":"north","asOf":1}`).rpc(t); r.Error == nil || !strings.Contains(r.Error.Message, strings.Join([]string{"publisher", "query", "language", "criteria", "bound", "include", "limit"}, ", ")) {
		t.Errorf("the names that there are: %+v", r.Error)
	}
	if len(f.calls()) != before {
		t.Errorf("asked: %q", f.calls()[before:])
	}
	for _, c := range []struct {
		err    error
		status int
		rpc    int
		code   string
	}{
		{bizhttp.ErrUnavailable, 200, -32603, "publisher_unavailable"}, {app.ErrNoTool, 200, -32603, "publisher_unavailable"}, {bizhttp.ErrUnknown, 200, -32602, "unknown_publisher"}, {bizhttp.ErrKeysUnavailable, 503, 0, "key_set_unavailable"},
		{&coverage.CallError{Code: "query_too_complex", Message: "m"}, 200, -32602, "query_too_complex"}, {errBoom, 200, -32603, "internal_error"},
	} {
		f.ask = func(context.Context, string, string, jcs.Raw) ([]byte, error) { return nil, c.err }
		a := door(t, h, "ask_business", `{"publisher":"north","query":"x"}`)
		if a.status != c.status || !strings.Contains(string(a.body), `"`+c.code+`"`) || strings.Contains(string(a.body), "not_covered") || strings.Contains(string(a.body), "secret") {
			t.Errorf("%v: %d %s", c.err, a.status, a.body)
		}
		if c.rpc != 0 && a.rpc(t).Error.Code != c.rpc {
			t.Errorf("%v: %s", c.err, a.body)
		}
	}
}

// TestAskSchema: the schema is that of knowledge.search and the publisher.
func TestAskSchema(t *testing.T) {
	f := newFakeRegistry()
	type schema struct {
		Type       string
		Properties map[string]any
		Required   []string
		AnyOf      []any
	}
	var got, search schema
	for _, tool := range listed(t, f.surface(), "/mcp", "2025-11-25") {
		if tool.Name == "ask_business" {
			if err := json.Unmarshal(tool.InputSchema, &got); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := json.Unmarshal(engine.InputSchema("knowledge.search", nil), &search); err != nil {
		t.Fatal(err)
	}
	if got.Type != "object" || len(got.Properties) != len(search.Properties)+1 || got.Properties["publisher"] == nil || !slices.Contains(got.Required, "publisher") || len(got.AnyOf) != len(search.AnyOf) {
		t.Errorf("%+v", got)
	}
	for name := range search.Properties {
		if got.Properties[name] == nil {
			t.Errorf("%s is not there", name)
		}
	}
}
