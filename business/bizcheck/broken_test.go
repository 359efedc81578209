package bizcheck_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizcheck"
	"sayso/jwk"
)

// closed is the address of a publisher that is not published.
const closed = origin + "/t/shut/.well-known/x-protocol/manifest.json"

// spoilt is a registry that breaks exactly one rule.
type spoilt struct {
	rule, note string // the rule, and behind it those that break with it
	target     string // "" = the registry
	spoil      func(s *site)
}

// on spoils the answers of paths that end so.
func on(suffix string, f func(a *reply)) func(*site) {
	return func(s *site) {
		s.spoil = func(r *http.Request, a *reply) {
			if strings.HasSuffix(r.URL.Path, suffix) {
				f(a)
			}
		}
	}
}

// body edits the JSON of such answers.
func body(suffix string, f func(o object)) func(*site) {
	return on(suffix, func(a *reply) {
		if a.status == 200 {
			a.body = edited(a.body, f)
		}
	})
}

// swap replaces a text in such answers.
func swap(suffix, old, new string) func(*site) {
	return on(suffix, func(a *reply) { a.body = bytes.ReplaceAll(a.body, []byte(old), []byte(new)) })
}

// refuse gives such answers another status, code and Retry-After.
func refuse(suffix string, status int, body, later string) func(*site) {
	return on(suffix, func(a *reply) {
		a.status, a.body = status, []byte(body)
		a.header.Set("Content-Type", "application/json")
		if a.header.Del("Retry-After"); later != "" {
			a.header.Set("Retry-After", later)
		}
	})
}

// drafted edits a manifest before it is signed.
func drafted(f func(m object)) func(*site) { return func(s *site) { s.draft = f } }

// after edits a manifest that is signed already.
func after(f func(m object)) func(*site) { return func(s *site) { s.manifest = f } }

func in(m object, path ...string) object {
	for _, name := range path {
		m = m[name].(object)
	}
	return m
}

func unsign(m object) {
	for _, name := range []string{"attestation", "signed_at", "expires_at", "registry_keys_url", "signing_kid"} {
		delete(m, name)
	}
}

// firstLine edits the header line of the export.
func firstLine(f func(meta object)) func(*site) {
	return on("/dump.jsonl", func(a *reply) {
		first, rest, _ := bytes.Cut(a.body, []byte("\n"))
		first = edited(first, func(o object) { f(in(o, "_meta")) })
		a.body = append(append(first, '\n'), rest...)
	})
}

// followsHost is a registry that builds its URLs from the request.
func followsHost(host func(r *http.Request) string) func(*site) {
	return func(s *site) {
		s.spoil = func(r *http.Request, a *reply) {
			if h := host(r); h != "" {
				a.body = bytes.ReplaceAll(a.body, []byte(origin), []byte("https://"+h))
			}
		}
	}
}

// resign signs a manifest again over the digest of its text.
func resign(m object, digest func(text []byte) [32]byte) {
	block := in(m, "attestation")
	delete(m, "attestation")
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	sum := digest(text)
	signature, _ := signerOf("registry-1").Sign(sum)
	block["digest"], block["signature"] = jwk.EncodeBase64URL(sum[:]), jwk.EncodeBase64URL(signature)
	m["attestation"] = block
}

// htmlEscaped signs the text that a JSON writer with HTML escaping makes, as that of Go does.
func htmlEscaped(m object) {
	resign(m, func(text []byte) [32]byte { return sha256.Sum256(text) })
}

// unsignedToo is a signed manifest that says it is not.
func unsignedToo(m object) {
	m["unsigned_reason"] = "signing_disabled"
	resign(m, func(text []byte) [32]byte {
		sum, err := business.Digest(text)
		if err != nil {
			panic(err)
		}
		return sum
	})
}

// speaks is an MCP endpoint that answers initialize with a revision of its choice.
func speaks(revision func(asked string) string) func(*site) {
	return func(s *site) {
		s.result = func(method string, params, result object) {
			if method == "initialize" {
				result["protocolVersion"] = revision(params["protocolVersion"].(string))
			}
		}
	}
}

var brokenRegistries = []spoilt{
	{"XP-VERSION-001", "discovery.json without version", "", body("discovery.json", func(o object) { delete(o, "protocol_x_version") })},
	{"XP-VERSION-001", "a manifest of another version", "", drafted(func(m object) { m["protocol_x_version"] = "2.0" })},
	{"XP-VERSION-003", "a new member", "", drafted(func(m object) { m["kitchen"] = "open" })},
	{"XP-VERSION-004", "null", "", drafted(func(m object) { in(m, "publisher")["region"] = nil })},
	{"XP-VERSION-004", "zero time in a record", "", swap("/dump.jsonl", `"updated_at":"2026-11-29T10:00:00Z"`, `"updated_at":"0001-01-01T00:00:00Z"`)},
	{"XP-DISCOVERY-001", "no short form", "", refuse("/b/shop", 404, `{"error":"unknown_publisher"}`, "")},
	{"XP-DISCOVERY-001", "the profile is gone", "", refuse("/business/shop", 410, `{"error":"gone"}`, "")},
	{"XP-DISCOVERY-003", "forwarded host", "", followsHost(func(r *http.Request) string { return r.Header.Get("X-Forwarded-Host") })},
	{"XP-DISCOVERY-003", "Host", "", followsHost(func(r *http.Request) string {
		if strings.HasSuffix(r.Host, ".") {
			return r.Host
		}
		return ""
	})},
	{"XP-DISCOVERY-004", "no code for an unknown publisher", "", refuse("/no-such-publisher-4f1c9b/.well-known/x-protocol/manifest.json", 404, `{"error":"nope"}`, "")},
	{"XP-DISCOVERY-004", "a refusal without CORS", "", on("/no-such-publisher-4f1c9b/.well-known/x-protocol/manifest.json", func(a *reply) { a.header.Del("Access-Control-Allow-Origin") })},
	{"XP-DISCOVERY-004", "relative locator", "", drafted(func(m object) { in(m, "endpoints")["sitemap"] = "/sitemap.xml" })},
	{"XP-DISCOVERY-004", "locator without TLS", "", drafted(func(m object) { in(m, "endpoints")["llms_txt"] = "http://registry.example.com/llms.txt" })},
	{"XP-DISCOVERY-004", "503 without code", "", refuse("/business/shop", 503, `{}`, "5")},
	{"XP-DISCOVERY-004", "503 without Retry-After", "", refuse("jwks.json", 503, `{"error":"key_set_unavailable"}`, "")},
	{"XP-DISCOVERY-005", "two states", "", func(s *site) {
		s.spoil = func(r *http.Request, a *reply) {
			if r.Host == shopHost {
				a.body = bytes.ReplaceAll(a.body, []byte("Shop GmbH"), []byte("Shop AG"))
			}
		}
	}},
	{"XP-DISCOVERY-007", "registered", "", drafted(func(m object) {
		in(m, "authenticity")["how_to_verify"] = "Read the keys at /.well-known/x-protocol/, a path registered with IANA."
	})},
	{"XP-MANIFEST-001", "a missing member", "", drafted(func(m object) { delete(m, "server_version") })},
	{"XP-MANIFEST-001", "no manifest", "", on("/t/shop/.well-known/x-protocol/manifest.json", func(a *reply) { a.status, a.body = 404, []byte(`{"error":"unknown_publisher"}`) })},
	{"XP-MANIFEST-001", "no CORS", "", on("/t/shop/.well-known/x-protocol/manifest.json", func(a *reply) { a.header.Del("Access-Control-Allow-Origin") })},
	{"XP-MANIFEST-002", "epoch", "", drafted(func(m object) { m["data_last_updated"] = "1970-01-01T00:00:00Z" })},
	{"XP-MANIFEST-004", "a capability without a tool", "", drafted(func(m object) { m["capabilities"] = []any{"knowledge.search"} })},
	{"XP-MANIFEST-004", "a tool name", "", drafted(func(m object) { m["capabilities"] = []any{"book_a_table"} })},
	{"XP-MANIFEST-007", "silence", "", after(unsign)},
	{"XP-MANIFEST-007", "both", "", after(unsignedToo)},
	{"XP-MANIFEST-008", "half signed", "", after(func(m object) { delete(m, "attestation"); m["unsigned_reason"] = "signing_disabled" })},
	{"XP-MANIFEST-008", "no reason", "", after(func(m object) { unsign(m); m["unsigned_reason"] = "" })},
	{"XP-MANIFEST-009", "a statement of the business", closed, drafted(func(m object) { in(m, "publisher")["legal_name"] = "Shop GmbH" })},
	{"XP-MANIFEST-009", "an endpoint", closed, drafted(func(m object) { in(m, "endpoints")["bulk_export"] = origin + "/b/shut/dump.jsonl" })},
	{"XP-IDENTITY-001", "twice", "", on("/dump.jsonl", func(a *reply) {
		lines := bytes.SplitAfter(a.body, []byte("\n"))
		a.body = append(a.body, lines[len(lines)-2]...)
	})},
	{"XP-IDENTITY-002", "another record", "", swap("/product/frame", `"id":"frame"`, `"id":"exam"`)},
	{"XP-IDENTITY-002", "one url for two", "", swap("/dump.jsonl", `/service/exam"`, `/product/frame"`)},
	{"XP-IDENTITY-003", "equal by default", "", func(s *site) {
		for i := range s.records["shop"] {
			s.records["shop"][i].VerifiedAt = s.records["shop"][i].UpdatedAt
		}
	}},
	{"XP-IDENTITY-006", "another phone", "", drafted(func(m object) { in(m, "publisher")["contacts"].([]any)[0].(object)["value"] = "+1 555 0100" })},
	{"XP-IDENTITY-006", "another audience", "", drafted(func(m object) { in(m, "publisher")["contacts"].([]any)[0].(object)["audience"] = "owner" })},
	{"XP-IDENTITY-007", "one hotline", "", func(s *site) { s.pubs["shop"].Profile.Locations[1].Phone = s.pubs["shop"].Profile.Locations[0].Phone }},
	{"XP-IDENTITY-008", "services", "", drafted(func(m object) { in(m, "publisher")["locations"].([]any)[1].(object)["services"] = []any{"exam"} })},
	{"XP-EXPORT-001", "an empty line", "", on("/dump.jsonl", func(a *reply) { a.body = append(a.body, '\n') })},
	{"XP-EXPORT-001", "no header", "", on("/dump.jsonl", func(a *reply) { _, a.body, _ = bytes.Cut(a.body, []byte("\n")) })},
	{"XP-EXPORT-001", "HEAD", "", func(s *site) {
		s.spoil = func(r *http.Request, a *reply) {
			if r.Method == http.MethodHead && strings.HasSuffix(r.URL.Path, ".jsonl") {
				a.status = 405
			}
		}
	}},
	{"XP-EXPORT-002", "no name", "", firstLine(func(m object) { delete(m, "display_name") })},
	{"XP-EXPORT-002", "another source", "", firstLine(func(m object) { m["source"] = origin + "/b/other" })},
	{"XP-EXPORT-004", "empty", "", firstLine(func(m object) { m["authority"] = []any{} })},
	{"XP-RIGHTS-001", "another licence", "", firstLine(func(m object) { m["license"] = "CC-BY-4.0" })},
	{"XP-AUTHORITY-001", "no method", "", drafted(func(m object) { delete(in(m, "verification"), "method") })},
	{"XP-AUTHORITY-001", "lapsed", "", drafted(func(m object) { in(m, "verification")["valid_until"] = noon.Add(-time.Second) })},
	{"XP-AUTHORITY-005", "contracted", "", drafted(func(m object) { in(m, "publisher")["trust_tier"] = "contracted" })},
	{"XP-INTEGRITY-001", "edited", "", after(func(m object) { m["server_version"] = "6.6.6" })},
	{"XP-INTEGRITY-001 XP-INTEGRITY-006", "attestation of a key", "", func(s *site) {
		s.jwks = func(d object) {
			d["keys"].([]any)[0].(object)["x_protocol_attestation"].(object)["key_created_at"] = "2020-01-01T00:00:00Z"
		}
	}},
	{"XP-INTEGRITY-002", "padded", "", after(func(m object) { in(m, "attestation")["signature"] = in(m, "attestation")["signature"].(string) + "==" })},
	{"XP-INTEGRITY-003", "a signed export", "", drafted(func(m object) {
		m["data_formats"].([]any)[1].(object)["description"] = "The whole export, cryptographically signed."
	})},
	{"XP-INTEGRITY-003", "a signature in the export", "", firstLine(func(m object) { m["attestation"] = object{"alg": "Ed25519"} })},
	{"XP-INTEGRITY-004", "signed by the publisher", "", func(s *site) { s.signing = publisherKey("shop") }},
	{"XP-INTEGRITY-005", "HTML escaping", "", after(htmlEscaped)},
	{"XP-INTEGRITY-006", "another root", "", func(s *site) { s.root = signerOf("forger") }},
	{"XP-INTEGRITY-006", "no keys", "", refuse("registry-keys.json", 404, `{"error":"not_found"}`, "")},
	{"XP-INTEGRITY-006", "an unattested key", "", func(s *site) {
		s.jwks = func(d object) { delete(d["keys"].([]any)[0].(object), "x_protocol_attestation") }
	}},
	{"XP-INTEGRITY-007", "moved", "", after(func(m object) { in(m, "attestation")["signed_at"] = "2026-11-29T12:00:30Z" })},
	{"XP-INTEGRITY-009", "withdrawn", "", func(s *site) {
		s.revoked[""] = []business.RevocationEntry{{Scope: business.ScopePublisher, Subject: "shop", Reason: "error", CreatedAt: "2026-11-29T11:00:00Z"}}
	}},
	{"XP-INTEGRITY-010", "stale", "", func(s *site) { s.listed = noon.Add(-time.Hour) }},
	{"XP-INTEGRITY-010", "of another publisher", "", func(s *site) {
		s.list = func(slug string, l object) {
			if slug == "shop" {
				l["publisher"] = "shut"
			}
		}
	}},
	{"XP-INTEGRITY-010", "no list", "", refuse("/t/shop/.well-known/x-protocol/revocations.json", 404, `{"error":"not_found"}`, "")},
	{"XP-INTEGRITY-011", "unsigned", "", body("revocations.json", func(o object) { delete(o, "attestation") })},
	{"XP-INTEGRITY-006 XP-INTEGRITY-014", "attested for another", "", func(s *site) {
		s.jwks = func(d object) { d["keys"].([]any)[0].(object)["x_protocol_attestation"].(object)["publisher"] = "shut" }
	}},
	{"XP-INTEGRITY-015", "a forged root", "", func(s *site) {
		s.keys = func(d object) {
			x := jwk.EncodeBase64URL(signerOf("forger").Public())
			d["keys"] = append(d["keys"].([]any), object{"kid": "root-9", "role": "root", "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": x})
		}
	}},
	{"XP-INTEGRITY-016", "bounds", "", func(s *site) {
		s.list = func(slug string, l object) {
			if slug == "shop" {
				l["entries"] = []any{object{"scope": "key", "kid": "k", "reason": "error", "created_at": noon, "revoked_from": noon, "revoked_until": noon.Add(-time.Hour)}}
			}
		}
	}},
	{"XP-FRESHNESS-001", "facts of tomorrow", "", drafted(func(m object) { in(m, "state")["changed_at"] = noon.Add(24 * time.Hour) })},
	{"XP-FRESHNESS-002", "generation zero", "", drafted(func(m object) { in(m, "state")["generation"] = 0 })},
	{"XP-FRESHNESS-003", "a day", "", func(s *site) { s.life = 24 * time.Hour }},
	{"XP-FRESHNESS-004", "expired", "", func(s *site) { s.now = noon.Add(-15 * time.Minute) }},
	{"XP-FRESHNESS-007", "pages stay open", closed, on("/b/shut", func(a *reply) { a.status, a.body = 200, []byte("hello") })},
	{"XP-FRESHNESS-007", "discovery stays open", "", func(s *site) {
		s.spoil = func(r *http.Request, a *reply) {
			if r.URL.Path == "/discovery/query" {
				a.body = bytes.ReplaceAll(a.body, []byte("/t/shop/"), []byte("/t/shut/"))
			}
		}
	}},
	{"XP-TRANSPORT-002", "echoes everything", "", speaks(func(asked string) string { return asked })},
	{"XP-TRANSPORT-002", "knows one", "", speaks(func(string) string { return "2024-11-05" })},
	{"XP-FRESHNESS-007", "tools stay open", closed, on("/t/shut/mcp", func(a *reply) { a.status = 200 })},
	{"XP-TRANSPORT-004", "429 without Retry-After", "", refuse("/business/shop", 429, `{"error":"rate_limited"}`, "")},
	{"XP-SCHEMA-001", "another name", "", swap("/business/shop", `"legalName":"Shop GmbH"`, `"legalName":"Shop AG"`)},
}

// Each broken registry breaks the rule it is made for and no other.
func TestBrokenRegistries(t *testing.T) {
	for i, c := range slices.Concat(brokenRegistries, brokenTools) {
		t.Run(c.rule+" "+c.note, func(t *testing.T) {
			t.Parallel()
			s := newSite()
			if p := s.pubs["shop"]; i < len(brokenRegistries) { // what is broken is no tool's doing: three of them are enough
				p.Profile.Tools = p.Profile.Tools[:3]
			}
			c.spoil(s)
			target := c.target
			if target == "" {
				target = origin
			}
			r := s.check(t, target)
			if got := broken(r.Findings); !slices.Equal(got, strings.Fields(c.rule)) {
				t.Errorf("broken: %v\n%s", got, show(r))
			}
		})
	}
}

// A check that cannot fail is a defect: every rule that is looked at has a registry or an answer that breaks it.
func TestEveryRuleCanBreak(t *testing.T) {
	have := map[string]bool{}
	for _, c := range slices.Concat(brokenRegistries, brokenTools) {
		have[strings.Fields(c.rule)[0]] = true
	}
	for _, c := range brokenAnswers {
		have[c.rule] = true
	}
	for _, r := range bizcheck.Rules() {
		if bizcheck.Looked(r.ID) != have[r.ID] {
			t.Errorf("%s: looked at %t, broken by a test %t", r.ID, bizcheck.Looked(r.ID), have[r.ID])
		}
	}
}
