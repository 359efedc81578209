package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/server"
)

// cliOnly are operations without a route, each with its reason.
var cliOnly = map[app.Operation]string{}

// bodies are what a route that needs one is sent: input that gets past the checks of form.
func bodies(t *testing.T) map[string]request {
	t.Helper()
	entry := func(v any) string {
		text, err := json.Marshal(map[string]any{"entry": v})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	p := "/api/v1/publishers/{slug}"
	text := map[string]string{
		"POST /api/v1/publishers": `{"slug":"new","display_name":"New"}`,
		"POST /api/v1/tokens":     `{"name":"x"}`,
		"PUT " + p + "/profile":   `{"display_name":"x"}`, "PUT " + p + "/schema": `{}`, "PUT " + p + "/locations": `[]`, "PUT " + p + "/calendar": `{}`,
		"POST " + p + "/proofs": `{"host":"shop.example.com","method":"dns_txt"}`, "POST " + p + "/proofs/check": `{"host":"shop.example.com","method":"dns_txt"}`,
		"POST " + p + "/verification": `{"decision":"d"}`, "POST " + p + "/suspend": `{"reason":"why"}`, "POST " + p + "/keys/{kid}/revoke": `{"reason":"error"}`,
		"POST " + p + "/withdraw": `{"reason":"why"}`, "POST " + p + "/revocations": `{"entity":{"type":"service","id":"a"},"reason":"error"}`,
		"POST " + p + "/tokens": `{"scopes":["live"]}`, "PUT " + p + "/delegation": `{"delegated":true}`,
		"POST " + p + "/coverage":    `{"questions":[{"query":"Do you offer this?"}]}`,
		"POST " + p + "/live":        `{"stream":"none","value":1,"observed_at":"2026-01-02T03:04:05Z"}`,
		"POST /api/v1/registry/keys": entry(business.RegistryKey{}), "POST /api/v1/registry/revocations": entry(business.RevocationEntry{}),
	}
	out := map[string]request{"POST " + p + "/import": {kind: "application/x-ndjson", body: oneRecord}}
	for route, body := range text {
		out[route] = request{kind: "application/json", body: body}
	}
	return out
}

// call is a request of a route for a publisher.
func requestOf(t *testing.T, table map[string]request, route server.AdminRoute, slug, token string) request {
	t.Helper()
	q, ok := table[route.Method+" "+route.Pattern]
	if route.Body && !ok {
		t.Fatalf("%s %s needs a body in this test", route.Method, route.Pattern)
	}
	q.method, q.token = route.Method, token
	q.path = strings.NewReplacer("{slug}", slug, "{id}", "t-none", "{decision}", "d", "{kid}", "none", "{host}", "a.localhost").Replace(strings.TrimPrefix(route.Pattern, "/api/v1"))
	return q
}

var denials = []string{"unauthorized", "owner_only", "operator_only", "scope_missing", "not_delegated"}

func TestEveryOperationHasARoute(t *testing.T) {
	routed := map[app.Operation]bool{}
	for _, route := range server.AdminRoutes() {
		if route.Operations == nil && route.Pattern != "/api/v1/openapi.json" {
			t.Errorf("%s %s has no operation", route.Method, route.Pattern)
		}
		for _, op := range route.Operations {
			routed[op] = true
			if !slices.ContainsFunc(app.Rules, func(r app.Rule) bool { return r.Operation == op }) {
				t.Errorf("%s %s: there is no rule for %s", route.Method, route.Pattern, op)
			}
		}
	}
	for _, rule := range app.Rules {
		if routed[rule.Operation] == (cliOnly[rule.Operation] != "") {
			t.Errorf("%s: routed %t, on the command line only: %q", rule.Operation, routed[rule.Operation], cliOnly[rule.Operation])
		}
	}
}

// caller is a kind of caller.
type caller struct {
	name     string
	token    func(*registry) string
	stranger bool // answered 401 and nothing else
	may      func(app.Rule) bool
}

func callers() []caller {
	nobody := func(app.Rule) bool { return false }
	list := []caller{
		{"no token", func(*registry) string { return "" }, true, nobody},
		{"unknown token", func(*registry) string { return "sayso-operator-" + strings.Repeat("A", 43) }, true, nobody},
		{"revoked token", func(r *registry) string {
			token := r.owner("a", app.Scopes...)
			actor, err := r.Registry.Authenticate(r.t.Context(), token)
			if err == nil {
				_, err = r.Registry.RevokeToken(r.t.Context(), apptest.Operator(r.t, "ops"), "a", strings.TrimPrefix(actor.String(), "owner "), "")
			}
			if err != nil {
				r.t.Fatal(err)
			}
			return token
		}, true, nobody},
		{"operator", func(r *registry) string { return r.operator }, false, func(rule app.Rule) bool { return rule.Operator != app.Never && rule.Operator != app.Local }},
	}
	for _, scope := range app.Scopes {
		list = append(list,
			caller{"owner " + scope, func(r *registry) string { return r.owner("a", scope) }, false, func(rule app.Rule) bool {
				return !rule.Registry && (rule.Owner == scope || rule.Owner == app.ScopeAny)
			}},
			caller{"owner of another publisher " + scope, func(r *registry) string { return r.owner("b", scope) }, true, nobody})
	}
	return list
}

// TestAdminAuthorisationMatrix sends every route as every kind of caller and compares who was let in with app.Rules.
func TestAdminAuthorisationMatrix(t *testing.T) {
	table, routes := bodies(t), server.AdminRoutes()
	// What ends a publisher comes last, so that every other act meets one that is there.
	slices.SortStableFunc(routes, func(a, b server.AdminRoute) int {
		return strings.Count(a.Pattern, "/withdraw") - strings.Count(b.Pattern, "/withdraw")
	})
	for _, who := range callers() {
		t.Run(who.name, func(t *testing.T) {
			r := newRegistry(t)
			r.Publisher(t, "a")
			r.Publisher(t, "b")
			token, description := who.token(r), r.description()
			untouched, before := r.state("b"), r.state("a")
			for _, route := range routes {
				if route.Operations == nil {
					continue
				}
				t.Run(route.Method+route.Pattern, func(t *testing.T) {
					a := r.admin(requestOf(t, table, route, "a", token))
					description.check(t, route, a)
					may := slices.ContainsFunc(app.Rules, func(rule app.Rule) bool { return slices.Contains(route.Operations, rule.Operation) && who.may(rule) })
					// An owner may make tokens, but none with a scope that its own does not have.
					beyond := slices.Contains(route.Operations, app.OpCreateToken) && a.code() == "scope_missing"
					if denied := slices.Contains(denials, a.code()); denied == may && !beyond {
						t.Errorf("%d %s, rules say %t", a.status, a.text, may)
					}
					if who.stranger && (a.status != http.StatusUnauthorized || a.value["message"] != "the credential is not good here") {
						t.Errorf("a stranger learns %d %s", a.status, a.text)
					}
					if a.status >= 500 {
						t.Errorf("%d %s", a.status, a.text)
					}
				})
			}
			if now := r.state("b"); now != untouched {
				t.Errorf("the other publisher was\n%s\nand is\n%s", untouched, now)
			}
			if now := r.state("a"); (now == before) != who.stranger {
				t.Errorf("the publisher was\n%s\nand is\n%s", before, now)
			}
		})
	}
}

// state is all that the store keeps about a publisher, tokens included.
func (r *registry) state(slug string) string {
	r.t.Helper()
	var all []any
	err := r.Store.View(r.t.Context(), func(rd app.Reader) error {
		ctx := r.t.Context()
		row, err := rd.Publisher(ctx, slug)
		if err != nil {
			return err
		}
		counts, _ := rd.RecordCounts(ctx, slug)
		keys, _ := rd.Keys(ctx, slug)
		revocations, _ := rd.Revocations(ctx, slug)
		proofs, _ := rd.Proofs(ctx, slug)
		verifications, _ := rd.Verifications(ctx, slug)
		tokens, _ := rd.Tokens(ctx, slug)
		readings, _ := rd.Readings(ctx, slug, "", "", "", "")
		audit, _ := rd.Audit(ctx, slug, 0, 1000)
		hosts, _ := rd.Hosts(ctx)
		maps.DeleteFunc(hosts, func(_, other string) bool { return other != slug })
		all = append(all, row, counts, keys, revocations, proofs, verifications, tokens, readings, audit, hosts)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return jsonText(r.t, all)
}

// A token of one publisher never touches another one, however the name of the other is written.
func TestAdminTenantsAreApart(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "a")
	r.Publisher(t, "b")
	token, table := r.owner("a", app.Scopes...), bodies(t)
	before := r.state("b")
	for _, slug := range []string{
		"b", "%62", "B", "b%2f", "%2fb", "a%2fb", "a%2f..%2fb", "..%2fb", "a/../b", "./b", "b%00", "b%20", "%20b", "b;a", "a;b", "b%3fa", "b%23", "b.", "b%0a", "a%00b", "%c0%ae", "b%ff", "",
	} {
		for _, route := range server.AdminRoutes() {
			if !strings.Contains(route.Pattern, "{slug}") {
				continue
			}
			if a := r.admin(requestOf(t, table, route, slug, token)); a.status != 401 && a.status != 404 && a.status != 405 {
				t.Errorf("%s %s as %q: %d %s", route.Method, route.Pattern, slug, a.status, a.text)
			}
			if slug == "b" || slug == "%62" {
				continue // an operator means it
			}
			if a := r.admin(requestOf(t, table, route, slug, r.operator)); a.status < 400 || a.status >= 500 {
				t.Errorf("operator: %s %s as %q: %d %s", route.Method, route.Pattern, slug, a.status, a.text)
			}
		}
	}
	if after := r.state("b"); after != before {
		t.Errorf("the other publisher was\n%s\nand is\n%s", before, after)
	}
}
