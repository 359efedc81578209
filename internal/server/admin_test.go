package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/proof"
	"sayso/internal/server"
	"sayso/internal/store/pgtest"
	"sayso/internal/web"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// request is one to the admin API.
type request struct {
	method, path, token, kind, body string
	headers                         []string
}

// reply is its answer.
type reply struct {
	status int
	header http.Header
	text   string
	value  map[string]any
}

func (r reply) code() string {
	code, _ := r.value["error"].(string)
	return code
}

func send(t *testing.T, base string, q request) reply {
	t.Helper()
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
		if q.kind == "" {
			q.kind = "application/json"
		}
	}
	r, err := http.NewRequest(q.method, base+q.path, body)
	if err != nil {
		t.Fatal(err)
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	if q.kind != "" {
		r.Header.Set("Content-Type", q.kind)
	}
	for i := 0; i+1 < len(q.headers); i += 2 {
		r.Header.Add(q.headers[i], q.headers[i+1])
	}
	return exchange(t, http.DefaultClient, r)
}

// exchange sends a request and reads the whole answer; what is no JSON has no value.
func exchange(t testing.TB, client *http.Client, r *http.Request) reply {
	t.Helper()
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := reply{status: answer.StatusCode, header: answer.Header, text: string(text)}
	json.Unmarshal(text, &out.value)
	return out
}

// registry is a running server over a registry in memory.
type registry struct {
	*running
	*apptest.World
	t        *testing.T
	operator string // a token
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	w := apptest.NewWorld(t)
	return &registry{running: start(t, server.Options{Registry: w.Registry, Pages: web.BusinessPages()}), World: w, t: t, operator: w.Init.OperatorToken}
}

func (r *registry) admin(q request) reply {
	r.t.Helper()
	q.path = "/api/v1" + q.path
	return send(r.t, r.private, q)
}

// must sends a request that has to succeed.
func (r *registry) must(q request) reply {
	r.t.Helper()
	a := r.admin(q)
	if a.status >= 300 {
		r.t.Fatalf("%s %s: %d %s", q.method, q.path, a.status, a.text)
	}
	return a
}

func (r *registry) owner(slug string, scopes ...string) string {
	r.t.Helper()
	_, token := r.World.Owner(r.t, slug, scopes...)
	return token
}

const oneRecord = `{"id":"a","type":"service","title":"A","updated_at":"2026-01-02T03:04:05Z"}` + "\n"

func TestAdminWithoutARegistryIsNotThere(t *testing.T) {
	s := start(t, server.Options{})
	for _, path := range []string{"/api/v1", "/api/v1/", "/api/v1/openapi.json", "/api/v1/publishers"} {
		if r, body := fetch(t, s.private+path); r.StatusCode != 404 || !strings.Contains(body, `"error":"not found"`) {
			t.Errorf("%s: %d %s", path, r.StatusCode, body)
		}
	}
}

func TestAdminIsNotPublic(t *testing.T) {
	r := newRegistry(t)
	for _, route := range server.AdminRoutes() {
		if a := send(t, r.public, request{method: route.Method, path: strings.NewReplacer("{", "", "}", "").Replace(route.Pattern), token: r.operator}); a.status != 404 {
			t.Errorf("%s %s on the public listener: %d", route.Method, route.Pattern, a.status)
		}
	}
}

func TestAdminRefusals(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	own := r.owner("shop", app.Scopes...)
	for name, c := range map[string]struct {
		request
		status int
		code   string
	}{
		"no such path":           {request{method: "GET", path: "/nothing"}, 404, "not_found"},
		"base":                   {request{method: "GET", path: "/"}, 404, "not_found"},
		"double slash":           {request{method: "GET", path: "//publishers", token: r.operator}, 404, "not_found"},
		"dots":                   {request{method: "GET", path: "/publishers/shop/../shop", token: r.operator}, 404, "not_found"},
		"empty name":             {request{method: "GET", path: "/publishers//keys", token: r.operator}, 404, "not_found"},
		"method":                 {request{method: "PATCH", path: "/publishers", token: r.operator}, 405, "method_not_allowed"},
		"options":                {request{method: "OPTIONS", path: "/publishers", token: r.operator}, 405, "method_not_allowed"},
		"no token":               {request{method: "GET", path: "/publishers"}, 401, "unauthorized"},
		"another scheme":         {request{method: "GET", path: "/publishers", headers: []string{"Authorization", "Basic " + r.operator}}, 401, "unauthorized"},
		"two tokens":             {request{method: "GET", path: "/publishers", token: r.operator, headers: []string{"Authorization", "Bearer " + r.operator}}, 401, "unauthorized"},
		"token in the query":     {request{method: "GET", path: "/publishers?access_token=" + r.operator}, 401, "unauthorized"},
		"unknown parameter":      {request{method: "GET", path: "/publishers?limit=1&page=2", token: r.operator}, 400, "unknown_parameter"},
		"parameter twice":        {request{method: "GET", path: "/publishers?limit=1&limit=2", token: r.operator}, 400, "invalid_parameter"},
		"malformed query":        {request{method: "GET", path: "/publishers?limit=%zz", token: r.operator}, 400, "invalid_parameter"},
		"limit":                  {request{method: "GET", path: "/publishers?limit=0", token: r.operator}, 400, "invalid_parameter"},
		"limit with sign":        {request{method: "GET", path: "/audit?limit=1e2", token: r.operator}, 400, "invalid_parameter"},
		"flag":                   {request{method: "POST", path: "/publishers/shop/import?dry_run=yes", token: own, kind: "text/csv", body: "id"}, 400, "invalid_parameter"},
		"mode":                   {request{method: "POST", path: "/publishers/shop/import?mode=append", token: own, kind: "text/csv", body: "id"}, 400, "invalid_mode"},
		"another site":           {request{method: "GET", path: "/publishers", token: r.operator, headers: []string{"Sec-Fetch-Site", "cross-site"}}, 403, "cross_site"},
		"same site":              {request{method: "GET", path: "/publishers", token: r.operator, headers: []string{"Sec-Fetch-Site", "same-site"}}, 403, "cross_site"},
		"another origin":         {request{method: "GET", path: "/publishers", token: r.operator, headers: []string{"Origin", "https://evil.example"}}, 403, "cross_site"},
		"null origin":            {request{method: "GET", path: "/publishers", token: r.operator, headers: []string{"Origin", "null"}}, 403, "cross_site"},
		"no such publisher":      {request{method: "GET", path: "/publishers/none", token: r.operator}, 404, "unknown_publisher"},
		"no schema":              {request{method: "GET", path: "/publishers/shop/schema", token: own}, 404, "no_schema"},
		"body of a reading":      {request{method: "GET", path: "/publishers/shop", token: own, body: "{}"}, 400, "invalid_body"},
		"idempotency key empty":  {request{method: "POST", path: "/publishers/shop/pause", token: own, headers: []string{"Idempotency-Key", ""}}, 400, "invalid_idempotency_key"},
		"idempotency key long":   {request{method: "POST", path: "/publishers/shop/pause", token: own, headers: []string{"Idempotency-Key", strings.Repeat("k", 129)}}, 400, "invalid_idempotency_key"},
		"idempotency key spaces": {request{method: "POST", path: "/publishers/shop/pause", token: own, headers: []string{"Idempotency-Key", "a b"}}, 400, "invalid_idempotency_key"},
		"two idempotency keys":   {request{method: "POST", path: "/publishers/shop/pause", token: own, headers: []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}}, 400, "invalid_idempotency_key"},
	} {
		a := r.admin(c.request)
		if a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, a.status, a.text, c.status, c.code)
		}
		if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Access-Control-Allow-Origin") != "" || a.header.Get("X-Request-Id") == "" ||
			a.value["request_id"] != a.header.Get("X-Request-Id") || a.value["message"] == "" {
			t.Errorf("%s: %v %s", name, a.header, a.text)
		}
		if strings.Contains(a.text, r.operator) {
			t.Errorf("%s: the answer holds the token", name)
		}
		switch a.status {
		case 401:
			if a.header.Get("Www-Authenticate") != "Bearer" {
				t.Errorf("%s: no challenge", name)
			}
		case 405:
			if a.header.Get("Allow") != "GET, POST" {
				t.Errorf("%s: Allow is %q", name, a.header.Get("Allow"))
			}
		}
	}
	if a := r.admin(request{method: "GET", path: "/publishers", token: r.operator, headers: []string{"Origin", r.private, "Sec-Fetch-Site", "same-origin"}}); a.status != 200 {
		t.Errorf("the API's own origin: %d %s", a.status, a.text)
	}
	rebound := request{method: "GET", path: "/publishers", token: r.operator}
	req, _ := http.NewRequest("GET", r.private+"/api/v1"+rebound.path, nil)
	req.Host = "rebind.example"
	req.Header.Set("Authorization", "Bearer "+r.operator)
	if answer, err := http.DefaultClient.Do(req); err != nil || answer.StatusCode != 403 {
		t.Errorf("another host: %v %v", answer, err)
	}
}

// Hostile bodies change nothing and are refused by name.
func TestAdminHostileBodies(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	before, err := r.Store.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for name, c := range map[string]struct {
		kind, body string
		status     int
		code       string
	}{
		"empty":             {"application/json", " ", 400, "invalid_body"},
		"no object":         {"application/json", `["slug"]`, 400, "invalid_body"},
		"scalar":            {"application/json", `1`, 400, "invalid_body"},
		"cut":               {"application/json", `{"slug":"x"`, 400, "invalid_body"},
		"trailing":          {"application/json", `{"slug":"x","display_name":"X"}{}`, 400, "invalid_body"},
		"duplicate":         {"application/json", `{"slug":"x","display_name":"X","slug":"y"}`, 400, "invalid_body"},
		"duplicate escaped": {"application/json", `{"slug":"x","display_name":"X","\u0073lug":"y"}`, 400, "invalid_body"},
		"unknown member":    {"application/json", `{"slug":"x","display_name":"X","admin":true}`, 400, "invalid_body"},
		"another case":      {"application/json", `{"Slug":"x","display_name":"X"}`, 400, "invalid_body"},
		"missing":           {"application/json", `{"slug":"x"}`, 400, "invalid_body"},
		"null":              {"application/json", `{"slug":"x","display_name":"X","region":null}`, 400, "invalid_body"},
		"wrong type":        {"application/json", `{"slug":1,"display_name":"X"}`, 400, "invalid_body"},
		"wrong bool":        {"application/json", `{"slug":"x","display_name":"X","delegated":"yes"}`, 400, "invalid_body"},
		"deep":              {"application/json", `{"slug":"x","display_name":"X","account":` + deep + `}`, 400, "invalid_body"},
		"no UTF-8":          {"application/json", "{\"slug\":\"x\",\"display_name\":\"\xff\"}", 400, "invalid_body"},
		"lone surrogate":    {"application/json", `{"slug":"x","display_name":"\ud800"}`, 400, "invalid_body"},
		"byte order mark":   {"application/json", "\ufeff" + `{"slug":"x","display_name":"X"}`, 400, "invalid_body"},
		"large number":      {"application/json", `{"slug":"x","display_name":"X","account":{"n":1e999}}`, 400, "invalid_body"},
		"slug":              {"application/json", `{"slug":"../x","display_name":"X"}`, 400, "invalid_slug"},
		"control character": {"application/json", `{"slug":"x","display_name":"X\u0000"}`, 400, "invalid_name"},
		"account":           {"application/json", `{"slug":"x","display_name":"X","account":[]}`, 400, "invalid_account"},
		"oversize":          {"application/json", `{"slug":"x","display_name":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "too_large"},
		"form":              {"application/x-www-form-urlencoded", "slug=x&display_name=X", 415, "unsupported_media_type"},
		"text":              {"text/plain", `{"slug":"x","display_name":"X"}`, 415, "unsupported_media_type"},
		"another charset":   {"application/json; charset=utf-16", `{"slug":"x","display_name":"X"}`, 415, "unsupported_media_type"},
		"malformed type":    {"application/json; charset", `{"slug":"x","display_name":"X"}`, 415, "unsupported_media_type"},
	} {
		if a := r.admin(request{method: "POST", path: "/publishers", token: r.operator, kind: c.kind, body: c.body}); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s, want %d %s", name, a.status, a.text, c.status, c.code)
		}
	}
	if after, err := r.Store.Heads(t.Context()); err != nil || len(after) != len(before) || after[""] != before[""] {
		t.Errorf("heads %v became %v: %v", before, after, err)
	}
	a := r.admin(request{method: "PUT", path: "/publishers/shop/profile", token: r.owner("shop", "import"), body: `{"display_name":"X","locations":[{"id":"a"},{"id":"a"}],"nonsense":1}`})
	if problems, _ := a.value["problems"].([]any); a.status != 400 || a.code() != "invalid_profile" || len(problems) == 0 {
		t.Errorf("a profile with errors: %d %s", a.status, a.text)
	}
}

// A body that trickles is cut off although each byte comes in time.
func TestAdminSlowBody(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	_, token := w.Owner(t, "shop", app.Scopes...)
	s := startWith(t, server.Options{Registry: w.Registry}, func(s *server.Server) { s.SetPatience(200 * time.Millisecond) })
	for _, c := range []struct{ method, path, kind string }{
		{"PUT", "/publishers/shop/delegation", "application/json"}, {"POST", "/publishers/shop/import", "application/x-ndjson"}, {"POST", "/publishers/shop/import", "application/x-tar"},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.private, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, c.method+" /api/v1"+c.path+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\nContent-Type: "+c.kind+"\r\nContent-Length: 100000\r\n\r\n")
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					io.WriteString(conn, " ")
				}
			}
		}()
		conn.SetReadDeadline(time.Now().Add(15 * time.Second))
		text, err := io.ReadAll(conn)
		close(stop)
		if len(text) == 0 || !bytes.HasPrefix(text, []byte("HTTP/1.1 408")) || !bytes.Contains(text, []byte("slow_body")) {
			t.Errorf("%s %s: %q %v", c.path, c.kind, text, err)
		}
	}
	if p, err := w.Registry.Publication(t.Context(), "shop"); err != nil || len(p.Types) != 0 {
		t.Errorf("half a body was imported: %+v %v", p, err)
	}
}

func TestAdminIdempotency(t *testing.T) {
	r := newRegistry(t)
	create := request{method: "POST", path: "/publishers", token: r.operator, body: `{"slug":"shop","display_name":"Shop"}`, headers: []string{"Idempotency-Key", "one"}}
	if a := r.must(create); a.status != 201 || a.value["repeated"] == true {
		t.Errorf("first: %d %s", a.status, a.text)
	}
	if a := r.must(create); a.value["repeated"] != true || a.value["revision"] != float64(1) {
		t.Errorf("second: %s", a.text)
	}
	// The same key under another path, or of another token, is another operation.
	token := func(key string) reply {
		return r.admin(request{method: "POST", path: "/publishers/shop/tokens", token: r.operator, body: `{"scopes":["publish"]}`, headers: []string{"Idempotency-Key", key}})
	}
	made := token("one")
	if made.status != 201 {
		t.Fatalf("token: %d %s", made.status, made.text)
	}
	if a := token("one"); a.status != 409 || a.code() != "operation_done" || strings.Contains(a.text, "sayso-owner-") {
		t.Errorf("a token is shown once: %d %s", a.status, a.text)
	}
	for _, host := range []string{"a.localhost", "b.localhost"} {
		r.must(request{method: "PUT", path: "/publishers/shop/hosts/" + host, token: r.operator, headers: []string{"Idempotency-Key", "hosts"}})
	}
	a := r.must(request{method: "GET", path: "/publishers/shop", token: r.operator})
	if hosts, _ := a.value["hosts"].([]any); len(hosts) != 2 {
		t.Errorf("hosts %v", a.value["hosts"])
	}
	own, _ := made.value["token"].(string)
	for _, who := range []string{own, r.operator} { // one caller does not use up the keys of another
		r.must(request{method: "POST", path: "/publishers/shop/tokens", token: who, body: `{"scopes":["publish"]}`, headers: []string{"Idempotency-Key", "shared"}})
	}
}

// broken is a prover with a fault.
type broken struct{}

func (broken) Check(context.Context, proof.Challenge) (proof.Evidence, *proof.Failure) {
	panic("secret detail")
}

// A fault of the program is told apart from a refusal, and neither says anything about the inside.
func TestAdminFault(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	options := w.Options()
	options.Prover = broken{}
	s := start(t, server.Options{Registry: app.New(options)})
	r := &registry{running: s, World: w, t: t, operator: w.Init.OperatorToken}
	token, host := r.owner("shop", "publish"), `{"host":"shop.example.com","method":"dns_txt"}`
	r.must(request{method: "POST", path: "/publishers/shop/proofs", token: token, body: host})
	a := r.admin(request{method: "POST", path: "/publishers/shop/proofs/check", token: token, body: host})
	if a.status != 500 || a.code() != "internal_error" || a.value["request_id"] != a.header.Get("X-Request-Id") || strings.Contains(a.text, "secret") {
		t.Errorf("%d %s", a.status, a.text)
	}
	away := func() error { return errors.New("secret address") }
	r.Store.Fail.Store(&away)
	a = r.admin(request{method: "GET", path: "/publishers", token: r.operator})
	r.Store.Fail.Store(nil)
	if a.status != 503 || a.code() != "store_unavailable" || a.header.Get("Retry-After") != "5" || strings.Contains(a.text, "secret") {
		t.Errorf("%d %s", a.status, a.text)
	}
}

func TestAdminPages(t *testing.T) {
	r := newRegistry(t)
	for _, slug := range []string{"a", "b", "c"} {
		r.must(request{method: "POST", path: "/publishers", token: r.operator, body: `{"slug":"` + slug + `","display_name":"x"}`})
	}
	var slugs []string
	for after, more := "", true; more; {
		a := r.must(request{method: "GET", path: "/publishers?limit=2&after=" + url.QueryEscape(after), token: r.operator})
		for _, p := range a.value["publishers"].([]any) {
			slugs = append(slugs, p.(map[string]any)["slug"].(string))
		}
		after, more = a.value["next"].(string)
	}
	if strings.Join(slugs, " ") != "a b c" {
		t.Errorf("publishers %v", slugs)
	}
	first := r.must(request{method: "GET", path: "/audit?limit=2", token: r.operator})
	next, _ := first.value["next"].(float64)
	rest := r.must(request{method: "GET", path: "/audit?after=" + json.Number(jsonText(t, next)).String(), token: r.operator})
	if n := len(first.value["entries"].([]any)); n != 2 || len(rest.value["entries"].([]any)) == 0 || rest.value["next"] != nil {
		t.Errorf("audit: %s\n%s", first.text, rest.text)
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
