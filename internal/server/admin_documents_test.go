package server_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/server"
)

// What one replica has committed is read from another one at once, whenever that one polls.
func TestAdminDocuments(t *testing.T) {
	r := newRegistry(t)
	options := r.Options()
	options.Poll = time.Hour
	idle := &registry{running: start(t, server.Options{Registry: app.New(options)}), World: r.World, t: t}
	eventually(t, "the idle replica has read once", func() bool { return get(t, idle.public, "/b", "registry.example").status == 200 })
	r.must(request{method: "POST", path: "/publishers", token: r.operator, body: `{"slug":"shop","display_name":"Shop"}`})
	token := r.owner("shop", "import", "keys")
	for _, name := range []string{"schema", "calendar"} {
		if a := idle.admin(request{method: "GET", path: "/publishers/shop/" + name, token: token}); a.status != 404 || a.code() != "no_"+name {
			t.Errorf("no %s: %d %s", name, a.status, a.text)
		}
	}
	for name, text := range map[string]string{
		"profile":   `{"display_name":"Corner","locations":[{"id":"main","primary":true,"locality":"Leeds"}],"tools":[{"name":"search","handler":"knowledge.search"}]}`,
		"locations": `[{"id":"north","primary":true,"locality":"York","latitude":53.950,"longitude":-1.0800}]`,
		"schema":    `{"types":{"service":{"words":{"en":["service"]}}}}`,
		"calendar":  `{"public_holidays":["2026-12-25"]}`,
	} {
		path := "/publishers/shop/" + name
		put := r.admin(request{method: "PUT", path: path, token: token, body: text})
		a := idle.admin(request{method: "GET", path: path, token: token})
		if put.status != 200 || a.status != 200 || strings.TrimSpace(a.text) != text {
			t.Errorf("%s: %d %s, read back %d %s", name, put.status, put.text, a.status, a.text)
		}
		if again := r.admin(request{method: "PUT", path: path, token: token, body: a.text}); again.value["unchanged"] != true {
			t.Errorf("%s: what was read changes something: %s", name, again.text)
		}
	}
	for _, name := range []string{"schema", "calendar"} {
		r.must(request{method: "DELETE", path: "/publishers/shop/" + name, token: token})
		if a := idle.admin(request{method: "GET", path: "/publishers/shop/" + name, token: token}); a.status != 404 {
			t.Errorf("removed %s: %d %s", name, a.status, a.text)
		}
	}
	for body, want := range map[string]int{
		`{"digest":"` + strings.Repeat("A", 43) + `","reason":"error"}`: 200,
		`{"reason":"error"}`: 400,
		`{"entity":{"type":"service","id":"a"},"digest":"x","reason":"error"}`:                        400,
		`{"entity":{"type":"service","id":"a","x":1},"reason":"error"}`:                               400,
		`{"entity":{"type":"service","id":"a"},"reason":"error","until":"yesterday"}`:                 400,
		`{"entity":{"type":"service","id":"a"},"reason":"error","until":"2026-01-02T03:04:05+01:00"}`: 200,
		`{"entity":{"type":"service","id":"a"},"reason":"because"}`:                                   400,
	} {
		if a := r.admin(request{method: "POST", path: "/publishers/shop/revocations", token: token, body: body}); a.status != want {
			t.Errorf("%s: %d %s", body, a.status, a.text)
		}
	}
}

// A registry key is prepared and installed over the API; the root signs in between, elsewhere.
func TestAdminRegistryKeys(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	root, err := app.LoadRoot(r.Init.RootFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(v any) string { return `{"entry":` + jsonText(t, v) + `}` }
	prepared := r.must(request{method: "POST", path: "/registry/keys/prepare", token: r.operator})
	if a := r.admin(request{method: "POST", path: "/registry/keys", token: r.operator, body: `{"entry":` + prepared.text + `}`}); a.status < 400 {
		t.Errorf("without the root's signature: %d %s", a.status, a.text)
	}
	var key business.RegistryKey
	if err := json.Unmarshal([]byte(prepared.text), &key); err != nil {
		t.Fatal(err)
	}
	if key, err = app.SignRegistryKey(root, key, r.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	r.must(request{method: "POST", path: "/registry/keys", token: r.operator, body: entry(key)})
	revoked, err := app.SignRegistryRevocation(root, r.Init.RegistryKid, "key_compromise", time.Time{}, time.Time{}, r.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.must(request{method: "POST", path: "/registry/revocations", token: r.operator, body: entry(revoked)})
	a := r.must(request{method: "GET", path: "/registry", token: r.operator})
	states := map[string]any{}
	for _, k := range a.value["keys"].([]any) {
		states[k.(map[string]any)["kid"].(string)] = k.(map[string]any)["state"]
	}
	if states[key.Kid] != "signing" || states[r.Init.RegistryKid] != "revoked" || states[r.Init.RootKid] != "root" {
		t.Errorf("keys: %v", states)
	}
}

// description compiles the schemas of the answers that openapi.json describes.
type description struct {
	compiler *jsonschema.Compiler
	doc      map[string]any
}

func (r *registry) description() *description {
	r.t.Helper()
	a := r.must(request{method: "GET", path: "/openapi.json"})
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(a.text))
	if err != nil {
		r.t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openapi.json", doc); err != nil {
		r.t.Fatal(err)
	}
	return &description{c, doc.(map[string]any)}
}

// check validates an answer against what the description says of it.
func (d *description) check(t *testing.T, route server.AdminRoute, a reply) {
	t.Helper()
	status := "default"
	if a.status < 300 {
		status = map[int]string{200: "200", 201: "201"}[a.status]
	}
	pointer := strings.NewReplacer("~", "~0", "/", "~1").Replace(route.Pattern)
	pointer = url.PathEscape(pointer)
	schema, err := d.compiler.Compile("openapi.json#/paths/" + pointer + "/" + strings.ToLower(route.Method) + "/responses/" + status + "/content/application~1json/schema")
	if err != nil {
		t.Fatalf("%s %s %s: %v", route.Method, route.Pattern, status, err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.text))
	if err != nil {
		t.Errorf("%s %s: %v: %s", route.Method, route.Pattern, err, a.text)
		return
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s %s: %v\n%s", route.Method, route.Pattern, err, a.text)
	}
}

func TestAdminDescriptionIsTheTable(t *testing.T) {
	r := newRegistry(t)
	d := r.description()
	paths := d.doc["paths"].(map[string]any)
	n := 0
	for _, route := range server.AdminRoutes() {
		item, _ := paths[route.Pattern].(map[string]any)
		op, _ := item[strings.ToLower(route.Method)].(map[string]any)
		if op == nil || (op["security"] != nil) != (route.Operations != nil) {
			t.Errorf("%s %s: %v", route.Method, route.Pattern, op)
		}
	}
	for _, item := range paths {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				n++
			}
		}
	}
	if n != len(server.AdminRoutes()) {
		t.Errorf("%d operations described, %d routes", n, len(server.AdminRoutes()))
	}
	if a := r.admin(request{method: "GET", path: "/openapi.json?x=1"}); a.code() != "unknown_parameter" {
		t.Errorf("%d %s", a.status, a.text)
	}
}
