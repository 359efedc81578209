package factscheck_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"sayso/jcs"
)

// now is the instant of publisher and checker; today is 2026-06-15.
var now = time.Date(2026, 6, 15, 10, 0, 0, 0, time.UTC)

const today = "2026-06-15"

type object = map[string]any

// reply is an answer before it is sent, for a test to spoil.
type reply struct {
	status int
	header http.Header
	body   any // encoded as JSON unless a string
}

// site is a conforming publisher made by hand. It shares no code with the checker but the canonical form, so that one mistake does not hide another.
type site struct {
	origin, level string
	home          string // origin of publisher.url when it is another one
	typed         string // another spelling of the origin
	static        bool
	key           ed25519.PrivateKey
	facts         []object // each with values, newest first
	log           []object // oldest first
	keys          []object
	spoil         func(r *http.Request, a *reply)
}

func newSite(t *testing.T, level string, static bool) *site {
	t.Helper()
	s := &site{level: level, static: static, key: ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", 32)))}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.origin = server.URL
	s.keys = []object{{"kty": "OKP", "crv": "Ed25519", "x": b64(s.key.Public().(ed25519.PublicKey)), "kid": "test-2026-01", "use": "sig", "alg": "EdDSA", "validFrom": "2026-01-01", "retired": nil}}
	value := func(v any, unit string, period, from, to any, verified string) object {
		return object{"value": v, "unit": unit, "period": period, "effectiveFrom": from, "effectiveTo": to, "verifiedDate": verified}
	}
	s.facts = []object{
		{"key": "fr/smic/hourly", "label": "SMIC hourly gross", "values": []object{value(12.02, "EUR/hour", nil, "2026-01-01", nil, "2026-06-15")}},
		{"key": "uk/bank-rate", "label": "Bank Rate", "values": []object{value(4, "%", nil, "2026-05-08", nil, "2026-06-10"), value(4.25, "%", nil, "2025-08-07", "2026-05-07", "2026-01-10")}},
		{"key": "uk/capital-gains/higher-rate", "label": "Higher rate", "values": []object{value(24, "%", "2026-27", "2026-04-06", "2027-04-05", "2026-04-10")}},
		{"key": "uk/income-tax/higher-rate", "label": "Higher rate", "values": []object{value(40, "%", "2026-27", "2026-04-06", "2027-04-05", "2026-04-10")}},
		{"key": "uk/income-tax/personal-allowance", "label": "Personal Allowance", "aliases": []string{"uk/personal-allowance"}, "values": []object{
			value(12570, "GBP/year", "2026-27", "2026-04-06", "2027-04-05", "2026-04-10"), value(12570, "GBP/year", "2025-26", "2025-04-06", "2026-04-05", "2026-03-02")}},
		{"key": "uk/vat/zero-hamper", "label": "Christmas hamper zero rating", "values": []object{value(nil, "%", nil, nil, nil, "2026-02-01")}, "withdrawn": "2026-02-01"},
	}
	s.log = []object{s.entry("uk/income-tax/personal-allowance", nil, 12570, "2026-03-02"), s.entry("uk/bank-rate", 4.25, 4, "2026-05-08"), s.entry("uk/vat/zero-hamper", 0, nil, "2026-05-08")}
	return s
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

func sum(v any) string {
	canonical, err := jcs.Canonical(encode(v))
	if err != nil {
		panic(err)
	}
	digest := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(digest[:])
}

func pick(from object, names ...string) object {
	out := object{}
	for _, n := range names {
		out[n] = from[n]
	}
	return out
}

func (s *site) publisher() object { return object{"name": "Test", "url": s.url()} }

func (s *site) url() string {
	if s.home != "" {
		return s.home
	}
	return s.origin
}

func (s *site) entry(key string, from, to any, verified string) object {
	e := object{"area": key[:2] + "-figures", "key": key[3:], "factKey": key, "from": from, "to": to, "unit": "%", "period": nil, "effectiveFrom": nil, "source": "https://www.gov.uk/" + key, "verifiedDate": verified}
	e["hash"] = sum(object{"key": key, "value": to, "unit": "%", "period": nil, "effectiveFrom": nil, "source": e["source"]})
	return e
}

func (s *site) chained() (entries []any, head any) {
	for _, e := range s.log {
		linked := object{"prevHash": head}
		for k, v := range e {
			linked[k] = v
		}
		head = sum(linked)
		entries = append([]any{linked}, entries...)
	}
	return entries, head
}

// inForce is the value of a fact on a day, nil when there is none.
func inForce(f object, day string) object {
	for _, v := range f["values"].([]object) {
		from, _ := v["effectiveFrom"].(string)
		to, open := v["effectiveTo"].(string)
		if from <= day && (!open || day <= to) {
			return v
		}
	}
	return nil
}

// record is a signed record; maxAge is -1 when not asked.
func (s *site) record(f, v object, maxAge int) object {
	host := "https://www.gov.uk/"
	if strings.HasPrefix(f["key"].(string), "fr/") {
		host = "https://www.service-public.fr/"
	}
	r := object{"protocol": "verified-facts/0.2", "key": f["key"], "label": f["label"], "source": host + f["key"].(string), "nextScheduledRefresh": nil, "publisher": s.publisher()}
	for k, x := range v {
		r[k] = x
	}
	for _, optional := range []string{"aliases", "withdrawn"} {
		if x, ok := f[optional]; ok {
			r[optional] = x
		}
	}
	r["hash"] = sum(pick(r, "key", "value", "unit", "period", "effectiveFrom", "source"))
	if s.level == "L3" {
		s.sign(r)
	}
	if !s.static {
		verified, _ := time.Parse(time.DateOnly, v["verifiedDate"].(string))
		age := int(now.Truncate(24*time.Hour).Sub(verified) / (24 * time.Hour))
		r["ageDays"], r["status"], r["maxAgeDays"] = age, "fresh", nil
		if maxAge >= 0 {
			r["maxAgeDays"] = maxAge
			if age > maxAge {
				r["status"] = "stale"
			}
		}
	}
	return r
}

// sign adds the signature over the eleven attested members.
func (s *site) sign(r object) {
	attested := pick(r, "protocol", "key", "hash", "value", "unit", "period", "effectiveFrom", "effectiveTo", "source", "verifiedDate")
	attested["publisher"] = r["publisher"].(object)["url"]
	canonical, _ := jcs.Canonical(encode(attested))
	header := b64([]byte(`{"alg":"EdDSA","kid":"test-2026-01"}`))
	r["signature"] = object{"alg": "EdDSA", "kid": "test-2026-01", "jws": header + ".." + b64(ed25519.Sign(s.key, []byte(header+"."+b64(canonical)))), "keys": s.origin + "/.well-known/jwks.json"}
}

var asked = regexp.MustCompile(`^\d{1,5}d$`)

// one answers a key under a query; the status is 200, 400 or 404.
func (s *site) one(key string, q url.Values) (object, int) {
	for name := range q {
		if !slices.Contains([]string{"max_age", "as_of", "period", "keys", "format"}, name) {
			return refuse(name)
		}
	}
	day, maxAge := today, -1
	if q.Has("max_age") {
		if !asked.MatchString(q.Get("max_age")) {
			return refuse("max_age")
		}
		maxAge, _ = strconv.Atoi(strings.TrimSuffix(q.Get("max_age"), "d"))
	}
	if q.Has("as_of") {
		if _, err := time.Parse(time.DateOnly, q.Get("as_of")); err != nil || q.Has("period") {
			return refuse("as_of")
		}
		day = q.Get("as_of")
	}
	for _, f := range s.facts {
		aliases, _ := f["aliases"].([]string)
		if f["key"] != key && !slices.Contains(aliases, key) {
			continue
		}
		v := inForce(f, day)
		if v == nil && s.static {
			v = f["values"].([]object)[0]
		}
		if q.Has("period") {
			v = nil
			for _, x := range f["values"].([]object) {
				if x["period"] == q.Get("period") {
					v = x
				}
			}
		}
		if v == nil {
			held := []any{}
			for _, x := range f["values"].([]object) {
				held = append(held, pick(x, "period", "effectiveFrom", "effectiveTo"))
			}
			return object{"protocol": "verified-facts/0.2", "key": f["key"], "label": f["label"], "covered": false, "reason": "period not held", "requested": object{"as_of": day}, "periodsHeld": held, "publisher": s.publisher()}, 200
		}
		r := s.record(f, v, maxAge)
		if f["key"] != key {
			r["requestedKey"] = key
		}
		return r, 200
	}
	return object{"protocol": "verified-facts/0.2", "covered": false, "error": "unknown key", "requestedKey": key, "candidates": []any{}, "index": s.origin + "/f"}, 404
}

func refuse(name string) (object, int) {
	return object{"protocol": "verified-facts/0.2", "error": "invalid parameter", "parameter": name, "message": "bad " + name}, 400
}

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
}

// resolve ranks by the share of words found; enough for the checker, which knows no better ranking.
func (s *site) resolve(q string) object {
	type hit struct {
		f     object
		score int
	}
	var hits []hit
	for _, f := range s.facts {
		key := f["key"].(string)
		has, n := append(words(key), words(f["label"].(string))...), 0
		asked := words(q)
		for _, w := range asked {
			if slices.Contains(has, w) {
				n++
			}
		}
		score := 0
		if len(asked) > 0 {
			score = 700 * n / len(asked)
		}
		aliases, _ := f["aliases"].([]string)
		switch {
		case key == q:
			score = 1000
		case slices.Contains(aliases, q):
			score = 950
		case n == len(asked) && n > 0:
			score = 900
		}
		if score > 0 {
			hits = append(hits, hit{f, score})
		}
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].score > hits[j].score })
	out := object{"protocol": "verified-facts/0.2", "query": q}
	list := []any{}
	for _, h := range hits {
		c := pick(s.record(h.f, h.f["values"].([]object)[0], -1), "key", "label", "unit", "period", "verifiedDate")
		c["score"], c["matched"] = float64(h.score)/1000, []any{}
		list = append(list, c)
	}
	out["candidates"] = list
	if len(hits) > 0 && hits[0].score >= 800 && (hits[0].score >= 950 || len(hits) == 1 || (hits[1].score < 800 && hits[0].score-hits[1].score >= 200)) {
		if v := inForce(hits[0].f, today); v != nil {
			out["best"] = s.record(hits[0].f, v, -1)
		}
	}
	return out
}

func (s *site) discovery() object {
	f := object{"count": len(s.facts), "get": s.origin + "/f/{key}", "index": s.origin + "/f", "batch": s.origin + "/f?keys={keys}", "resolve": s.origin + "/f/resolve?q={q}", "filtering": "server", "examples": []any{"uk/bank-rate"}}
	d := object{
		"protocol": "verified-facts/0.2", "publisher": s.publisher(), "conformance": s.level, "updated": today, "facts": f,
		"namespaces": []any{
			object{"name": "fr", "description": "France", "count": 1, "cadence": "", "authorities": []any{"www.service-public.fr"}},
			object{"name": "uk", "description": "United Kingdom", "count": len(s.facts) - 1, "cadence": "", "authorities": []any{"www.gov.uk"}},
		},
		"hash": "sha256/jcs", "changes": s.origin + "/.well-known/changes.json", "keyPolicy": s.origin + "/policy", "history": s.origin + "/history",
		"selfCheck": object{"schedule": "weekly", "last": "2026-06-12"}, "signature": "EdDSA/jws-detached", "keys": s.origin + "/.well-known/jwks.json",
	}
	if s.static {
		d["facts"] = object{"count": len(s.facts), "get": s.origin + "/f/{key}.json", "index": s.origin + "/f/index.json", "filtering": "client"}
		return d
	}
	d["openapi"] = s.origin + "/openapi.json"
	d["mcp"] = object{"url": s.origin + "/mcp", "tools": []any{"get_fact", "resolve_fact", "what_changed_since"}, "serverCard": s.origin + "/mcp/server-card"}
	return d
}

func (s *site) index() object {
	list := []any{}
	for _, f := range s.facts {
		v := inForce(f, today)
		if v == nil {
			v = f["values"].([]object)[0]
		}
		e := pick(s.record(f, v, -1), "key", "label", "unit", "period", "verifiedDate", "hash")
		for _, optional := range []string{"aliases", "withdrawn"} {
			if x, ok := f[optional]; ok {
				e[optional] = x
			}
		}
		list = append(list, e)
	}
	return object{"protocol": "verified-facts/0.2", "publisher": s.publisher(), "count": len(list), "generated": today, "facts": list}
}

func (s *site) changes() object {
	entries, head := s.chained()
	return object{"protocol": "verified-changes/0.1", "publisher": s.publisher(), "generated": "2026-05-08", "coverageStart": "2026-03-02", "count": len(entries), "chainHead": head, "entries": entries}
}

func (s *site) openapi() object {
	op := func(id string, parameters ...object) object {
		return object{"get": object{"operationId": id, "parameters": parameters, "responses": object{"200": object{"description": "ok"}}}}
	}
	in := func(where, name string, required bool) object {
		return object{"name": name, "in": where, "required": required, "schema": object{"type": "string"}}
	}
	batch := op("getFacts", in("query", "keys", false))
	batch["post"] = object{"responses": object{"200": object{"description": "ok"}}}
	return object{"openapi": "3.1.0", "info": object{"title": "t", "version": "0"}, "servers": []any{object{"url": s.origin}}, "paths": object{
		"/f/{key}": op("getFact", in("path", "key", true)), "/f": batch, "/f/resolve": op("resolveFact", in("query", "q", true)), "/changes.json": op("whatChangedSince", in("query", "since", false)),
	}}
}

func (s *site) mcp(body []byte) any {
	var call struct {
		ID     any    `json:"id"`
		Method string `json:"method"`
		Params struct {
			Arguments struct {
				Key string `json:"key"`
			} `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		return object{"jsonrpc": "2.0", "id": nil, "error": object{"code": -32700, "message": "parse error"}}
	}
	answer := func(result any) any { return object{"jsonrpc": "2.0", "id": call.ID, "result": result} }
	switch call.Method {
	case "initialize":
		return answer(object{"protocolVersion": "2025-06-18", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "t", "version": "0"}})
	case "tools/list":
		tools := []any{}
		for _, name := range []string{"get_fact", "resolve_fact", "what_changed_since"} {
			tools = append(tools, object{"name": name, "description": "d", "inputSchema": object{"type": "object"}, "annotations": object{"readOnlyHint": true, "destructiveHint": false}})
		}
		return answer(object{"tools": tools})
	case "tools/call":
		r, _ := s.one(call.Params.Arguments.Key, nil)
		return answer(object{"isError": false, "content": []any{object{"type": "text", "text": string(encode(r))}}})
	}
	return ""
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &reply{status: 200, header: http.Header{"Content-Type": {"application/json"}, "Access-Control-Allow-Origin": {"*"}}}
	s.route(r, a)
	if s.spoil != nil {
		s.spoil(r, a)
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	if text, ok := a.body.(string); ok {
		io.WriteString(w, text)
		return
	}
	w.Write(encode(a.body))
}

func (s *site) route(r *http.Request, a *reply) {
	q := r.URL.Query()
	switch path := r.URL.Path; {
	case path == "/.well-known/facts.json":
		a.body = s.discovery()
	case path == "/.well-known/changes.json":
		a.body = object{"protocol": "verified-changes/0.1", "publisher": s.publisher(), "updated": "2026-05-08", "areas": []any{object{"name": "uk-figures"}, object{"name": "fr-figures"}},
			"endpoints": object{"json": s.origin + "/changes.json"}, "facts": s.origin + "/.well-known/facts.json"}
	case path == "/.well-known/jwks.json":
		a.body = object{"keys": s.keys}
	case path == "/changes.json":
		a.body = s.changes()
	case s.static && path == "/f/index.json", !s.static && path == "/f" && r.Method == "GET" && !q.Has("keys"):
		a.body = s.index()
	case s.static && strings.HasPrefix(path, "/f/"):
		a.body, a.status = s.one(strings.TrimSuffix(path[3:], ".json"), nil)
	case s.static:
		a.body, a.status = object{"error": "not found"}, 404
	case path == "/openapi.json":
		a.body = s.openapi()
	case path == "/mcp/server-card":
		a.header.Set("Content-Type", "application/mcp-server-card+json")
		a.body = object{"$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json", "name": "test/facts", "version": "0", "description": "d"}
	case path == "/mcp":
		body, _ := io.ReadAll(r.Body)
		if a.body = s.mcp(body); a.body == "" {
			a.status = 202
		}
	case path == "/f/resolve":
		a.body = s.resolve(q.Get("q"))
	case path == "/f":
		s.batch(r, a)
	case strings.HasPrefix(path, "/f/"):
		s.get(r, a)
	default:
		a.body, a.status = object{"error": "not found"}, 404
	}
}

func (s *site) get(r *http.Request, a *reply) {
	body, status := s.one(r.URL.Path[3:], r.URL.Query())
	a.body, a.status = body, status
	hash, isRecord := body["hash"].(string)
	if !isRecord {
		a.header.Set("Cache-Control", "no-store")
		return
	}
	verified, _ := time.Parse(time.DateOnly, body["verifiedDate"].(string))
	a.header.Set("ETag", `"`+hash+`"`)
	a.header.Set("Last-Modified", verified.Format(http.TimeFormat))
	a.header.Set("Cache-Control", "public, max-age=0, s-maxage=3600, stale-while-revalidate=46800")
	switch r.Header.Get("Accept") {
	case "text/plain":
		a.header.Set("Content-Type", "text/plain; charset=utf-8")
		a.body = string(encode(body["value"])) + " verified"
	case "text/html":
		a.header.Set("Content-Type", "text/html; charset=utf-8")
		a.body = "<!doctype html><title>t</title>"
	}
}

func (s *site) batch(r *http.Request, a *reply) {
	keys := strings.Split(r.URL.Query().Get("keys"), ",")
	if r.Method == "POST" {
		var body struct {
			Keys []string `json:"keys"`
		}
		json.NewDecoder(r.Body).Decode(&body)
		keys = body.Keys
	}
	if len(keys) > 50 {
		a.body, a.status = refuse("keys")
		return
	}
	results, status := []any{}, "fresh"
	for _, k := range keys {
		one, _ := s.one(k, r.URL.Query())
		if one["status"] == "stale" {
			status = "stale"
		}
		results = append(results, one)
	}
	a.body = object{"protocol": "verified-facts/0.2", "publisher": s.publisher(), "count": len(results), "results": results, "status": status}
}
