package served

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/mcpserve"
	"sayso/oracle/tools"
)

// suiteTool is the one tool of the conformance suite that a publisher can have: any text is a right answer to it. branches.nearest answers the suite's call,
// which has no arguments, by asking for a position.
const suiteTool = "test_simple_text"

// serveRegistry runs a registry with one publisher behind the business surface.
func serveRegistry(t *testing.T) (origin string) {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	world := apptest.NewWorld(t)
	options := world.Options()
	options.Site = business.Site{Origin: server.URL, ServerVersion: "0.0.0", ToolsServed: true, InputSchema: answer.InputSchema}
	world.Registry = app.New(options)
	if err := world.Registry.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	world.Publisher(t, "shop")
	profile := `{"display_name":"Shop","content_languages":["en"],"tools":[{"name":"ask","handler":"knowledge.search"},{"name":"` + suiteTool + `","handler":"branches.nearest"}],` +
		`"locations":[{"id":"main","primary":true,"name":"Main","latitude":53.8,"longitude":-1.55}]}`
	owner, _ := world.Owner(t, "shop", app.ScopeImport)
	if _, problems, err := world.Registry.SetProfile(t.Context(), owner, "shop", []byte(profile), ""); err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	handler = bizhttp.Handler(bizhttp.HandlerOptions{
		Source: world.Registry, Call: mcpserve.NewRegistry(mcpserve.RegistryOptions{Registry: world.Registry, Version: "0.0.0"}).ServeCall,
	})
	return server.URL
}

// The front door and a publisher's endpoint pass what the facts endpoint passes, the publisher's the call of a tool, too.
func TestRegistryConformanceSuite(t *testing.T) {
	suite := tools.NPMCommand(t, "conformance")
	origin := serveRegistry(t)
	for path, baseline := range map[string]string{"/mcp": "conformance-", "/t/shop/mcp": "conformance-publisher-"} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(path+" "+revision, func(t *testing.T) {
				expected, err := filepath.Abs(filepath.Join("..", "..", "internal", "mcpserve", "testdata", baseline+revision+".yml"))
				if err != nil {
					t.Fatal(err)
				}
				out, err := tools.Command(t, suite, "server", "--url", origin+path, "--requirements", revision, "--expected-failures", expected, "-o", t.TempDir()).CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				if !strings.Contains(string(out), "passed") {
					t.Errorf("the suite says nothing about passes:\n%s", out)
				}
			})
		}
	}
}

func TestRegistryInspector(t *testing.T) {
	inspector := tools.NPMCommand(t, "mcp-inspector")
	origin := serveRegistry(t)
	for _, c := range []struct {
		path, want string
		args       []string
	}{
		{"/t/shop/mcp", `"name": "ask"`, []string{"--method", "tools/list"}},
		{"/t/shop/mcp", `not_covered`, []string{"--method", "tools/call", "--tool-name", "ask", "--tool-arg", "query=a swimming pool"}},
		{"/mcp", `"name": "ask_business"`, []string{"--method", "tools/list"}},
		{"/mcp", `not_covered`, []string{"--method", "tools/call", "--tool-name", "ask_business", "--tool-arg", "publisher=shop", "query=a swimming pool"}},
	} {
		out, err := tools.Command(t, inspector, append([]string{"--cli", origin + c.path, "--transport", "http"}, c.args...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s %q: %v\n%s", c.path, c.args, err, out)
		}
	}
}
