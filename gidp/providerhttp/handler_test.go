package providerhttp_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

func TestSignatures(t *testing.T) {
	c := &clock{at: start}
	s := open(t, options(newRows(), c.now))
	key, thief := newKey(t), newKey(t)
	p := projection(t, start, "munich")
	ref := publish(t, s, key, start, p)
	good := updating(t, key, start, ref, p)
	for name, change := range map[string]func(*call){
		"unsigned":         func(c *call) { c.key = nil },
		"another signer":   func(c *call) { c.key = thief },
		"another provider": func(c *call) { c.authority = "other.example" },
		"too old":          func(c *call) { c.at = start.Add(-6 * time.Minute) },
		"from the future":  func(c *call) { c.at = start.Add(6 * time.Minute) },
		"no digest":        func(c *call) { c.change = func(r *http.Request) { r.Header.Del("Content-Digest") } },
		"other digest": func(c *call) {
			c.change = func(r *http.Request) { r.Header.Set("Content-Digest", "sha-256=:"+strings.Repeat("A", 43)+"=:") }
		},
		"another method":     func(c *call) { c.change = func(r *http.Request) { r.Method = "DELETE" } },
		"another projection": func(c *call) { c.change = func(r *http.Request) { r.URL.Path = "/gidp/v1/projections/" + token(t) } },
		"two signatures":     func(c *call) { c.change = func(r *http.Request) { r.Header.Add("Signature", "x=:AA==:") } },
		"private key":        func(c *call) { c.body = strings.Replace(c.body, `"kty"`, `"d":"AAAA","kty"`, 1) },
		"key of small order": func(c *call) {
			c.body = strings.Replace(c.body, keyText(key), `{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`, 1)
		},
		"key of another kind": func(c *call) { c.body = strings.Replace(c.body, "Ed25519", "X25519", 1) },
	} {
		bad := good
		change(&bad)
		got := bad.send(t, s.Handler())
		if got.status == http.StatusBadRequest && name == "another method" {
			continue // the body of the one method is malformed for the other
		}
		if text := refused(t, got, 401, providerhttp.CodeUnsigned); strings.Contains(text, ref) {
			t.Errorf("%s: %s", name, text)
		}
	}
	// The Host header is not believed, in either direction.
	host := good
	host.change = func(r *http.Request) { r.Host = "evil.example" }
	said[receipt](t, host.send(t, s.Handler()), 200)
}

// A copy of an update would bring back what its publisher has changed since; a copy of a withdrawal changes nothing.
func TestReplay(t *testing.T) {
	c := &clock{at: start}
	o := options(newRows(), c.now)
	o.Latency = time.Hour // nothing polls here
	s := open(t, o)
	key := newKey(t)
	first := projection(t, start, "munich")
	ref := publish(t, s, key, start, first)
	old := updating(t, key, start, ref, first)
	old.nonce = "one"
	said[receipt](t, old.send(t, s.Handler()), 200)
	second := projection(t, start, "paris")
	said[receipt](t, updating(t, key, start, ref, second).send(t, s.Handler()), 200)
	for _, step := range []time.Duration{0, 4 * time.Minute} {
		c.step(step)
		refused(t, old.send(t, s.Handler()), 401, providerhttp.CodeUnsigned)
		relabelled := old
		relabelled.change = func(r *http.Request) {
			r.Header.Set("Signature", "x"+r.Header.Get("Signature"))
			r.Header.Set("Signature-Input", "x"+r.Header.Get("Signature-Input"))
		}
		refused(t, relabelled.send(t, s.Handler()), 401, providerhttp.CodeUnsigned)
	}
	if len(found(t, s, c.now(), "paris")) != 1 || len(found(t, s, c.now(), "munich")) != 0 {
		t.Error("an old copy was taken")
	}
	away := withdrawing(key, c.now(), ref)
	away.nonce = "two"
	for range 2 {
		if got := away.send(t, s.Handler()); got.status != 202 {
			t.Fatal(got)
		}
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	c := &clock{at: start}
	s := open(t, options(newRows(), c.now))
	key := newKey(t)
	good := publishing(t, key, start, projection(t, start, "munich"))
	with := func(change func(*call)) call {
		bad := good
		change(&bad)
		return bad
	}
	ask := querying(t, key, start, "munich")
	limit := func(n string) call {
		q := ask
		q.body = strings.TrimSuffix(q.body, "}") + `,"limit":` + n + `}`
		return q
	}
	for name, want := range map[string]struct {
		call   call
		status int
		code   provider.Code
	}{
		"no such path":          {call{method: "GET", path: "/gidp/v1/projection"}, 404, providerhttp.CodeNotFound},
		"nothing after a slash": {call{method: "PUT", path: "/gidp/v1/projections/"}, 404, providerhttp.CodeNotFound},
		"bulk export":           {call{method: "GET", path: "/gidp/v1/projections"}, 405, providerhttp.CodeMethod},
		"reading one":           {call{method: "GET", path: "/gidp/v1/projections/x"}, 405, providerhttp.CodeMethod},
		"a preflight":           {call{method: "OPTIONS", path: "/gidp/v1/candidates"}, 405, providerhttp.CodeMethod},
		"a query":               {with(func(c *call) { c.path += "?limit=1000" }), 400, provider.CodeMalformed},
		"an empty query":        {with(func(c *call) { c.path += "?" }), 400, provider.CodeMalformed},
		"a form":                {with(func(c *call) { c.change = func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") } }), 415, providerhttp.CodeMediaType},
		"a coding":              {with(func(c *call) { c.change = func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") } }), 415, providerhttp.CodeMediaType},
		"too large":             {with(func(c *call) { c.body += strings.Repeat(" ", provider.MaxBody) }), 413, providerhttp.CodeTooLarge},
		"no body":               {with(func(c *call) { c.body = "" }), 400, provider.CodeMalformed},
		"not JSON":              {with(func(c *call) { c.body = "secret{" }), 400, provider.CodeMalformed},
		"a member twice":        {with(func(c *call) { c.body = strings.Replace(c.body, `{"key"`, `{"key":{},"key"`, 1) }), 400, provider.CodeMalformed},
		"a stranger's member":   {with(func(c *call) { c.body = strings.Replace(c.body, `{"key"`, `{"secret":1,"key"`, 1) }), 400, provider.CodeMalformed},
		"identity":              {with(func(c *call) { c.body = strings.Replace(c.body, `"projection":{`, `"projection":{"name":"secret",`, 1) }), 400, provider.CodeMalformed},
		"no key":                {call{method: "DELETE", path: "/gidp/v1/projections/x", key: key, at: start, body: `{}`}, 400, provider.CodeMalformed},
		"an empty page":         {limit("0"), 400, provider.CodeMalformed},
		"everything":            {querying(t, key, start, "europe"), 422, provider.CodeBroad},
		"no such hierarchy":     {with(func(c *call) { c.body = strings.TrimSuffix(c.body, "}") + `,"hierarchies":{"geography":"secret/1"}}` }), 422, provider.CodeRefused},
		"no such reference":     {updating(t, key, start, token(t), projection(t, start, "munich")), 404, provider.CodeUnknown},
		"no reference at all":   {updating(t, key, start, "x", projection(t, start, "munich")), 404, provider.CodeUnknown},
		"a made-up candidate":   {call{method: "POST", path: "/gidp/v1/candidates/secret/resolve", key: key, at: start, body: `{"key":` + keyText(key) + `}`}, 410, provider.CodeStale},
	} {
		t.Run(name, func(t *testing.T) {
			got := want.call.send(t, s.Handler())
			if text := refused(t, got, want.status, want.code); strings.Contains(text, "secret") {
				t.Errorf("the refusal repeats the request: %s", text)
			}
			if got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Cache-Control") != "no-store" {
				t.Error(got.header)
			}
			if (want.status == 405) != (got.header.Get("Allow") != "") {
				t.Errorf("Allow: %q", got.header.Get("Allow"))
			}
		})
	}
	if got := limit("1000").send(t, s.Handler()); got.status != 200 {
		t.Errorf("a larger limit is cut: %d %s", got.status, got.body)
	}
}

func TestQuotas(t *testing.T) {
	c := &clock{at: start}
	o := options(newRows(), c.now)
	o.Tiers = map[string]provider.Limits{"": {provider.Write: 2, provider.Search: 2, provider.Resolving: 1, provider.Candidates: 10}, "member": {provider.Search: 3, provider.Candidates: 10}}
	o.Tier = func(r *http.Request) (string, bool) { return r.Header.Get("Tier"), r.Header.Get("Tier") != "stranger" }
	o.Address = func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From-Address")) }
	s := open(t, o)
	keys := map[int]*jwk.PrivateKey{}
	ask := func(from, tier string, key int) int {
		if keys[key] == nil {
			keys[key] = newKey(t)
		}
		q := querying(t, keys[key], start, "munich")
		q.change = func(r *http.Request) { r.Header.Set("From-Address", from); r.Header.Set("Tier", tier) }
		return q.send(t, s.Handler()).status
	}
	for i, want := range []int{200, 200, 429} {
		if got := ask("127.0.0.1", "", 0); got != want {
			t.Errorf("request %d: %d", i+1, got)
		}
	}
	for i, want := range []int{200, 200, 200, 429} {
		if got := ask("127.0.0.1", "member", 1); got != want {
			t.Errorf("request %d of a member: %d", i+1, got)
		}
	}
	q := querying(t, newKey(t), start, "munich")
	q.change = func(r *http.Request) { r.Header.Set("From-Address", "127.0.0.1"); r.Header.Set("Tier", "stranger") }
	refused(t, q.send(t, s.Handler()), 403, providerhttp.CodeMembers)
	for i, want := range []int{202, 202, 429} {
		report := call{method: "POST", path: "/gidp/v1/reports", key: keys[0], at: start, body: `{"key":` + keyText(keys[0]) + `,"projection_ref":"x","reason":"probing"}`}
		report.change = func(r *http.Request) { r.Header.Set("From-Address", "127.0.0.1") }
		if got := report.send(t, s.Handler()).status; got != want {
			t.Errorf("report %d: %d", i+1, got)
		}
	}
	// One network has twenty keys' worth, however many keys it makes; IPv4 in either spelling is one network.
	served := 0
	for n := range 60 {
		if ask([]string{"203.0.113.7", "::ffff:203.0.113.99"}[n%2], "", 2+n/2) == 200 {
			served++
		}
	}
	if served != 40 {
		t.Errorf("one network was served %d times", served)
	}
	if ask("203.0.112.1", "", 100) != 200 {
		t.Error("its neighbour pays for it")
	}
}

// Every document fits its published schema, and what is refused as malformed does not.
func TestSchemas(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	add := func(text []byte) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(doc.(map[string]any)["$id"].(string), doc); err != nil {
			t.Fatal(err)
		}
	}
	add(wire.Schema(wire.TypeDiscoveryProjection))
	for _, text := range providerhttp.Schemas() {
		add(text)
	}
	fits := func(name, text string) bool {
		schema, err := compiler.Compile("urn:sayso:gidp:provider:1:" + name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		return err == nil && schema.Validate(doc) == nil
	}
	c := &clock{at: start}
	s := open(t, options(newRows(), c.now))
	key, asker := newKey(t), newKey(t)
	one := publishing(t, key, start, projection(t, start, "munich"))
	published := one.send(t, s.Handler())
	ask := querying(t, asker, start, "munich")
	page := ask.send(t, s.Handler())
	resolve := call{method: "POST", path: "/gidp/v1/candidates/" + said[providerhttp.Page](t, page, 200).Candidates[0].Ref + "/resolve", key: asker, at: start, body: `{"key":` + keyText(asker) + `}`}
	away := withdrawing(key, start, said[receipt](t, published, 201).Ref)
	report := `{"key":` + keyText(asker) + `,"projection_ref":"x","reason":"probing"}`
	info := call{method: "GET", path: "/gidp/v1/"}.send(t, s.Handler())
	for text, name := range map[string]string{
		one.body: "provider-publication", ask.body: "provider-query", resolve.body: "provider-key", report: "provider-report",
		published.body: "provider-receipt", page.body: "provider-candidates", resolve.send(t, s.Handler()).body: "provider-resolution",
		away.send(t, s.Handler()).body: "provider-acknowledgement", info.body: "provider-info", call{method: "GET", path: "/gidp/v1/x"}.send(t, s.Handler()).body: "provider-refusal",
		call{method: "POST", path: "/gidp/v1/reports", key: asker, at: start, body: report}.send(t, s.Handler()).body: "provider-received",
	} {
		if !fits(name, text) {
			t.Errorf("%s does not take %s", name, text)
		}
		if fits(name, "{}") {
			t.Errorf("%s takes anything", name)
		}
	}
	if fits("provider-publication", strings.Replace(one.body, `{"key"`, `{"x":1,"key"`, 1)) || fits("provider-report", strings.Replace(report, "probing", "other", 1)) {
		t.Error("a request that is refused fits")
	}
}

func FuzzRequests(f *testing.F) {
	key := newKey(f)
	p := `"projection":` + object(f, projection(f, start, "munich"))
	for _, body := range []string{`{"key":%s}`, `{"key":%s,` + p + `}`, `{"key":%s,` + p + `,"limit":3,"cursor":"x"}`, `{"key":%s,` + p + `,"attributes":{"stage":["seed"]},"hierarchies":{"geography":"geography/1"}}`,
		`{"key":%s,"projection_ref":"x","reason":"probing"}`, `[]`, `{"key":{"kty":"OKP"}}`} {
		for _, path := range []string{"projections", "projections/x", "candidates", "candidates/x/resolve", "reports", "candidates/%2F/resolve"} {
			f.Add("POST", path, strings.ReplaceAll(body, "%s", keyText(key)))
		}
	}
	s := open(f, options(newRows(), func() time.Time { return start }))
	f.Fuzz(func(t *testing.T, method, path, body string) {
		r, err := http.NewRequest(method, "/gidp/v1/"+path, strings.NewReader(body))
		if err != nil || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || method == "" || len(method) > 16 || len(r.URL.EscapedPath()) > 2000 {
			return
		}
		c := call{method: method, path: r.URL.RequestURI(), body: body, key: key, at: start}
		if r.URL.Host != "" || strings.ContainsFunc(c.path, func(r rune) bool { return r <= ' ' || r > '~' }) || !strings.HasPrefix(c.path, "/") {
			return
		}
		got := c.send(t, s.Handler())
		if got.status >= 500 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if _, err := jcs.Canonical([]byte(got.body)); err != nil {
			t.Fatalf("%q: %v", got.body, err)
		}
		if providerhttp.Match(r.URL.EscapedPath()) == "unknown" && got.status != 404 {
			t.Fatalf("%s: %d", c.path, got.status)
		}
	})
}

func ExampleMatch() {
	fmt.Println(providerhttp.Match("/gidp/v1/candidates/PRi2/resolve"))
	fmt.Println(providerhttp.Match("/gidp/v1/everything"))
	// Output:
	// /gidp/v1/candidates/{ref}/resolve
	// unknown
}
