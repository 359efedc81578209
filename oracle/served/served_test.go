package served

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factshttp"
	"sayso/facts/factstest"
	"sayso/internal/app"
	"sayso/internal/mcpserve"
	"sayso/internal/server"
	"sayso/internal/store/sqlite"
	"sayso/internal/web"
	"sayso/oracle/tools"
)

// serve runs the whole facts surface over the sample dataset.
func serve(t *testing.T) (origin string, s *facts.Snapshot) {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	ds := factstest.Sample()
	ds.Publisher.URL = server.URL + "/"
	factstest.Sign(ds)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: server.URL, Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := func() *facts.Snapshot { return s }
	handler = factshttp.Handler(factshttp.HandlerOptions{
		Snapshot: snapshot, Clock: time.Now, Pages: web.Pages(),
		MCP: mcpserve.NewFacts(mcpserve.FactsOptions{
			Snapshot: snapshot, Today: func() facts.Date { return facts.DateOf(time.Now()) }, Version: "0.0.0", PublicOrigin: server.URL,
		}),
	})
	return server.URL, s
}

func TestConformanceSuite(t *testing.T) {
	suite := tools.NPMCommand(t, "conformance")
	origin, _ := serve(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			baseline, err := filepath.Abs(filepath.Join("..", "..", "internal", "mcpserve", "testdata", "conformance-"+revision+".yml"))
			if err != nil {
				t.Fatal(err)
			}
			out, err := tools.Command(t, suite, "server", "--url", origin+"/api/mcp/facts", "--requirements", revision,
				"--expected-failures", baseline, "-o", t.TempDir()).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "passed") {
				t.Errorf("the suite says nothing about passes:\n%s", out)
			}
		})
	}
}

func TestInspector(t *testing.T) {
	inspector := tools.NPMCommand(t, "mcp-inspector")
	origin, _ := serve(t)
	out, err := tools.Command(t, inspector, "--cli", origin+"/api/mcp/facts", "--transport", "http", "--method", "tools/list").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tool := range []string{"get_fact", "resolve_fact", "what_changed_since"} {
		if !strings.Contains(string(out), `"name": "`+tool+`"`) {
			t.Errorf("the inspector does not see %s", tool)
		}
	}
	out, err = tools.Command(t, inspector, "--cli", origin+"/api/mcp/facts", "--transport", "http", "--method", "tools/call",
		"--tool-name", "get_fact", "--tool-arg", "key=uk/bank-rate").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), `"value": 3.75`) {
		t.Errorf("the inspector sees\n%s", out)
	}
}

// bundle brings the published schemas, which the description refers to by their URL, into the document: the validator
// follows internal references only.
func bundle(t *testing.T, s *facts.Snapshot) map[string]any {
	t.Helper()
	prefix := s.Info().Origin + "/schema/"
	text := string(describe.OpenAPI(s))
	schemas := make(map[string]any)
	for _, name := range describe.SchemaNames() {
		doc, ok := describe.Schema(name, s.Info().Origin)
		if !ok {
			t.Fatalf("schema %s is listed but not there", name)
		}
		id := strings.ReplaceAll(name, ".", "-")
		text = strings.ReplaceAll(text, `"`+prefix+name, `"#/components/schemas/`+id)
		var schema map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(doc), `"#/$defs/`, `"#/components/schemas/`+id+`/$defs/`)), &schema); err != nil {
			t.Fatal(err)
		}
		delete(schema, "$id")
		delete(schema, "$schema")
		schemas[id] = schema
	}
	for id, schema := range schemas { // schemas refer to each other, too
		linked, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		again := string(linked)
		for _, name := range describe.SchemaNames() {
			target := `"#/components/schemas/` + strings.ReplaceAll(name, ".", "-")
			again = strings.ReplaceAll(strings.ReplaceAll(again, `"`+prefix+name, target), `"$ref":"`+name, `"$ref":`+target)
		}
		var v any
		if err := json.Unmarshal([]byte(again), &v); err != nil {
			t.Fatal(err)
		}
		schemas[id] = v
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	components, _ := doc["components"].(map[string]any)
	if components == nil {
		components = make(map[string]any)
		doc["components"] = components
	}
	own, _ := components["schemas"].(map[string]any)
	if own == nil {
		own = make(map[string]any)
		components["schemas"] = own
	}
	for id, schema := range schemas {
		own[id] = schema
	}
	return doc
}

// valid asks the validator about a description.
func valid(t *testing.T, doc map[string]any) (string, bool) {
	t.Helper()
	validator := tools.NPMCommand(t, "validate-api")
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := tools.Command(t, validator, name).CombinedOutput()
	return string(out), err == nil && strings.Contains(string(out), `"valid": true`)
}

func TestOpenAPIIsValid(t *testing.T) {
	_, s := serve(t)
	for name, doc := range map[string]map[string]any{"facts": bundle(t, s), "admin": adminDescription(t)} {
		t.Run(name, func(t *testing.T) {
			if out, ok := valid(t, doc); !ok {
				t.Error(out)
			}
			delete(doc, "info")
			if out, ok := valid(t, doc); ok {
				t.Errorf("the validator accepts a document without info:\n%s", out)
			}
		})
	}
}

// adminDescription is what a registry's private listener says about its API.
func adminDescription(t *testing.T) map[string]any {
	t.Helper()
	var listeners [2]net.Listener
	for i := range listeners {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[i] = l
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "sayso.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	s := server.New(server.Options{PublicListener: listeners[0], PrivateListener: listeners[1], Registry: app.New(app.Options{Store: store})})
	go func() { done <- s.Run(ctx) }()
	defer func() { stop(); <-done }()
	answer, err := http.Get("http://" + listeners[1].Addr().String() + "/api/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var doc map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
