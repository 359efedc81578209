package factshttp_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jcs"
	"sayso/safefetch"
)

// noon is the instant of every client in these tests; today is 2026-06-15.
var noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

type object = map[string]any

// publisher is a facts publisher made by hand: it knows nothing of the code under test, so that the two do not share mistakes.
type publisher struct {
	t      *testing.T
	origin string
	static bool
	url    string // publisher.url
	key    ed25519.PrivateKey
	kid    string
	set    []object // the key set
	facts  []object
	log    []object // oldest first

	mu       sync.Mutex
	asked    []string // request URIs
	override map[string]func(http.ResponseWriter, *http.Request)
}

func newPublisher(t *testing.T, static bool) *publisher {
	t.Helper()
	p := &publisher{t: t, static: static, kid: "test-2026-01", override: map[string]func(http.ResponseWriter, *http.Request){}}
	p.key = keyOf(1)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.origin, p.url = s.URL, s.URL
	p.set = []object{jwkOf(p.key, p.kid)}
	p.facts = []object{
		{"key": "uk/bank-rate", "label": "Bank Rate", "value": 4.25, "unit": "%", "period": nil, "effectiveFrom": "2026-05-08", "effectiveTo": nil, "verifiedDate": "2026-06-10"},
		{"key": "uk/income-tax/personal-allowance", "label": "Personal Allowance", "value": 12570, "unit": "GBP/year", "period": "2026-27", "effectiveFrom": "2026-04-06",
			"effectiveTo": "2027-04-05", "verifiedDate": "2026-04-10", "aliases": []any{"uk/personal-allowance"}},
		{"key": "uk/vat/old-rate", "label": "Old Rate", "value": nil, "unit": "%", "period": nil, "effectiveFrom": nil, "effectiveTo": nil, "verifiedDate": "2026-02-01",
			"withdrawn": "2026-02-01"},
	}
	return p
}

func keyOf(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), 32)))
}

func jwkOf(key ed25519.PrivateKey, kid string) object {
	return object{"kty": "OKP", "crv": "Ed25519", "x": b64(key.Public().(ed25519.PublicKey)), "kid": kid, "use": "sig", "alg": "EdDSA", "validFrom": "2026-01-01", "retired": nil}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// client is a reader of the publisher.
func (p *publisher) client(pin factshttp.Pin) *factshttp.Client {
	return factshttp.NewClient(p.origin, factshttp.ClientOptions{Fetch: p.fetcher(), Clock: func() time.Time { return noon }, Pin: pin})
}

func (p *publisher) fetcher() *safefetch.Client {
	return safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(p.origin)}, MaxBytes: 1 << 20})
}

func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

func canonical(v any) []byte {
	out, err := jcs.Canonical(encode(v))
	if err != nil {
		panic(err)
	}
	return out
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func pick(from object, names ...string) object {
	out := object{}
	for _, n := range names {
		out[n] = from[n]
	}
	return out
}

// record completes a fact: hash, signature, and for a served record the members of the day.
func (p *publisher) record(f object) object {
	r := object{"protocol": "verified-facts/0.2", "source": "https://www.gov.uk/" + f["key"].(string), "nextScheduledRefresh": nil, "publisher": object{"name": "Test", "url": p.url}}
	for k, v := range f {
		r[k] = v
	}
	r["hash"] = digest(canonical(pick(r, "key", "value", "unit", "period", "effectiveFrom", "source")))
	attested := pick(r, "protocol", "key", "hash", "value", "unit", "period", "effectiveFrom", "effectiveTo", "source", "verifiedDate")
	attested["publisher"] = p.url
	header := b64([]byte(`{"alg":"EdDSA","kid":"` + p.kid + `"}`))
	sig := ed25519.Sign(p.key, []byte(header+"."+b64(canonical(attested))))
	r["signature"] = object{"alg": "EdDSA", "kid": p.kid, "jws": header + ".." + b64(sig), "keys": p.origin + "/.well-known/jwks.json"}
	if !p.static {
		r["status"], r["ageDays"], r["maxAgeDays"] = "fresh", 0, nil
	}
	return r
}

func (p *publisher) find(key string) object {
	for _, f := range p.facts {
		if f["key"] == key {
			return f
		}
	}
	return nil
}

func (p *publisher) discovery() object {
	d := object{
		"protocol": "verified-facts/0.2", "publisher": object{"name": "Test", "url": p.url}, "conformance": "L3", "updated": "2026-06-10",
		"facts":      object{"count": len(p.facts), "get": p.origin + "/f/{key}", "index": p.origin + "/f", "batch": p.origin + "/f?keys={keys}", "resolve": p.origin + "/f/resolve?q={q}", "filtering": "server"},
		"namespaces": []any{object{"name": "uk", "description": "United Kingdom", "count": len(p.facts), "cadence": "", "authorities": []any{"www.gov.uk"}}},
		"hash":       "sha256/jcs", "signature": "EdDSA/jws-detached", "keys": p.origin + "/.well-known/jwks.json", "changes": p.origin + "/.well-known/changes.json",
	}
	if p.static {
		d["facts"] = object{"count": len(p.facts), "get": p.origin + "/f/{+key}.json", "index": p.origin + "/f/index.json", "filtering": "client",
			"topics": []any{object{"prefix": "uk/income-tax", "title": "Income tax", "synonyms": object{"tax free amount": "personal-allowance"}}}}
	}
	return d
}

func (p *publisher) index() object {
	list := []any{}
	for _, f := range p.facts {
		e := pick(p.record(f), "key", "label", "unit", "period", "verifiedDate", "hash")
		if a, ok := f["aliases"]; ok {
			e["aliases"] = a
		}
		list = append(list, e)
	}
	return object{"protocol": "verified-facts/0.2", "publisher": object{"name": "Test", "url": p.url}, "count": len(list), "generated": "2026-06-10", "facts": list}
}

// chained links the changelog and returns it newest first with its head.
func (p *publisher) chained() (entries []any, head any) {
	for _, e := range p.log {
		linked := object{"prevHash": head}
		for k, v := range e {
			linked[k] = v
		}
		head = digest(canonical(linked))
		entries = append([]any{linked}, entries...)
	}
	return entries, head
}

func entry(key string, from, to any, verified string) object {
	area, rest, _ := strings.Cut(key, "/")
	e := object{"area": area, "key": rest, "factKey": key, "from": from, "to": to, "unit": "%", "period": nil, "effectiveFrom": nil, "source": "https://www.gov.uk/" + key, "verifiedDate": verified}
	e["hash"] = digest(canonical(object{"key": key, "value": to, "unit": "%", "period": nil, "effectiveFrom": nil, "source": e["source"]}))
	return e
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.URL.RequestURI())
	override := p.override[r.URL.Path]
	p.mu.Unlock()
	for _, h := range []string{"If-None-Match", "If-Modified-Since", "Authorization", "Cookie", "Referer"} {
		if r.Header.Get(h) != "" {
			p.t.Errorf("%s: the header %s was sent", r.URL, h)
		}
	}
	if override != nil {
		override(w, r)
		return
	}
	body, status := p.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(encode(body))
}

func (p *publisher) answer(r *http.Request) (body any, status int) {
	switch path := r.URL.Path; {
	case path == "/.well-known/facts.json":
		return p.discovery(), 200
	case path == "/.well-known/jwks.json":
		return object{"keys": p.set}, 200
	case path == "/.well-known/changes.json":
		filtering := "server"
		if p.static {
			filtering = "client"
		}
		return object{"protocol": "verified-changes/0.1", "filtering": filtering, "endpoints": object{"json": p.origin + "/changes.json"}}, 200
	case path == "/changes.json":
		entries, head := p.chained()
		start := any(nil)
		if len(p.log) > 0 {
			start = p.log[0]["verifiedDate"]
		}
		return object{"protocol": "verified-changes/0.1", "generated": "2026-06-10", "coverageStart": start, "count": len(entries), "chainHead": head, "entries": entries}, 200
	case path == "/f" && r.URL.Query().Has("keys"):
		results := []any{}
		for k := range strings.SplitSeq(r.URL.Query().Get("keys"), ",") {
			one, _ := p.one(k)
			results = append(results, one)
		}
		return object{"protocol": "verified-facts/0.2", "count": len(results), "results": results, "status": "fresh"}, 200
	case path == "/f" || path == "/f/index.json":
		return p.index(), 200
	case path == "/f/resolve":
		q := r.URL.Query().Get("q")
		if q == "" {
			return object{"error": "invalid parameter", "parameter": "q", "message": "q is missing"}, 400
		}
		best := p.record(p.facts[0])
		best["requestedKey"] = q
		c := pick(best, "key", "label", "unit", "period", "verifiedDate")
		c["score"], c["matched"] = 0.9, []any{"key:bank"}
		return object{"protocol": "verified-facts/0.2", "query": q, "candidates": []any{c}, "best": best}, 200
	case strings.HasPrefix(path, "/f/"):
		return p.one(strings.TrimSuffix(strings.TrimPrefix(path, "/f/"), ".json"))
	}
	return object{"error": "not found"}, 404
}

func (p *publisher) one(key string) (object, int) {
	if f := p.find(key); f != nil {
		return p.record(f), 200
	}
	return object{"protocol": "verified-facts/0.2", "covered": false, "error": "unknown key", "requestedKey": key, "index": p.origin + "/f", "candidates": []any{
		object{"key": "uk/bank-rate", "label": "Bank Rate", "unit": "%", "period": nil, "verifiedDate": "2026-06-10", "score": 0.466, "matched": []any{"key:rate"}},
	}}, 404
}

// times counts the requests whose URI starts with prefix.
func (p *publisher) times(prefix string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, a := range p.asked {
		if strings.HasPrefix(a, prefix) {
			n++
		}
	}
	return n
}

func (p *publisher) replace(path string, status int, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.override[path] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func onDay(s string) facts.Date {
	d, err := facts.ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

var plain = facts.Selection{MaxAge: facts.NoMaxAge}
