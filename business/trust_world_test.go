package business_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/jwk"
)

// The publishers, addresses and times of the test world. Nothing in it is real.
const (
	slugA   = "harbour-optics"
	slugB   = "quay-books"
	keysURL = "https://registry.example/.well-known/x-protocol/registry-keys.json"
	urlA    = "https://registry.example/t/harbour-optics/.well-known/x-protocol/jwks.json"
	urlB    = "https://registry.example/t/quay-books/.well-known/x-protocol/jwks.json"
)

var (
	keysMade  = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	keysUntil = time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)
	signedAt  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	expiresAt = signedAt.Add(15 * time.Minute)
	issuedAt  = signedAt.Add(4 * time.Minute)
	readAt    = signedAt.Add(5 * time.Minute)
)

// testKey is a key made from one repeated byte: everybody knows it, nobody may ever trust it.
func testKey(kid string, b byte) *jwk.PrivateKey {
	key, err := jwk.Generate(kid, bytes.NewReader(bytes.Repeat([]byte{b}, 32)))
	if err != nil {
		panic(err)
	}
	return key
}

func publisherKey(slug string, b byte) *jwk.PrivateKey {
	return testKey(business.PublisherKid(slug, testKey("any", b).Public().Public), b)
}

// The keys. Publisher keys are attested by registry1, lists are signed by registry2, so that a fault in one does not hide in the other.
var (
	rootKey    = testKey("test-root", 0x01)
	registry1  = testKey("test-registry-1", 0x02)
	registry2  = testKey("test-registry-2", 0x03)
	keyA       = publisherKey(slugA, 0x04)
	secondA    = publisherKey(slugA, 0x05)
	keyB       = publisherKey(slugB, 0x06)
	forgerRoot = testKey("test-forger-root", 0x07)
	forger     = testKey("test-registry-1", 0x08) // under the name of a registry key
)

func signerOf(k *jwk.PrivateKey) business.Signer { return business.KeySigner(k) }

func publicOf(k *jwk.PrivateKey) ed25519.PublicKey { return k.Public().Public }

func mustHave[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func asJSON(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(out.String())
}

// rootEntry and signingEntry are entries of registry-keys.json.
func rootEntry(k *jwk.PrivateKey) business.RegistryKey {
	return mustHave(business.NewRegistryKey(k.Kid(), business.RoleRoot, publicOf(k), keysMade, keysUntil))
}

func signingEntry(k, root *jwk.PrivateKey, until time.Time) business.RegistryKey {
	entry := mustHave(business.NewRegistryKey(k.Kid(), business.RoleSigning, publicOf(k), keysMade, until))
	return mustHave(business.SignEntry(entry, business.Family, signerOf(root), keysMade))
}

func registryKeys(entries ...business.RegistryKey) string {
	return asJSON(business.RegistryKeys{Registry: business.Family, IssuedAt: issuedAt, MaxAgeSeconds: 86400, Keys: entries})
}

func goodRegistryKeys() string {
	return registryKeys(rootEntry(rootKey), signingEntry(registry1, rootKey, keysUntil), signingEntry(registry2, rootKey, keysUntil))
}

func attestedKey(k *jwk.PrivateKey, slug string, by *jwk.PrivateKey) business.PublisherKey {
	return mustHave(business.Attest(publicOf(k), k.Kid(), slug, keysMade.Format(time.RFC3339), signerOf(by), keysURL, keysMade))
}

func keySetOf(keys ...business.PublisherKey) string {
	return asJSON(business.PublisherKeys{Keys: keys})
}

func goodKeysA() string {
	return keySetOf(attestedKey(keyA, slugA, registry1), attestedKey(secondA, slugA, registry1))
}

func signedList(slug string, by *jwk.PrivateKey, at time.Time, entries ...business.RevocationEntry) string {
	return string(mustHave(business.RevocationList(slug, entries, signerOf(by), keysURL, at)))
}

// withdrawal is a revocation entry with the members every one has.
func withdrawal(scope, target string) business.RevocationEntry {
	e := business.RevocationEntry{Scope: scope, Reason: "key_compromise", CreatedAt: issuedAt.Format(time.RFC3339)}
	switch scope {
	case business.ScopeRegistryKey, business.ScopePublisher:
		e.Subject = target
	case business.ScopeKey:
		e.Kid = target
	case business.ScopeEntity:
		e.EntityKey = target
	case business.ScopeDigest:
		e.Digest = target
	}
	return e
}

func withinWindow(e business.RevocationEntry, from, until string) business.RevocationEntry {
	e.RevokedFrom, e.RevokedUntil = from, until
	return e
}

func rootSigned(e business.RevocationEntry) business.RevocationEntry {
	return mustHave(business.SignRevocation(e, signerOf(rootKey), issuedAt))
}

// answerA is an unsigned answer of publisher A.
const answerA = `{"registry":"x-protocol/v1","publisher":{"tenant":"harbour-optics","display_name":"Harbour Optics","website_verified":true,"proven_domain":"optics.example",` +
	`"verification_method":"dns_txt","authority_verified_at":"2026-11-01T09:00:00Z","trust_tier":"domain_verified"},"tool":"search",` +
	`"arguments":{"query":"laser surgery","radius_km":50.0},"result":{"records":[{"id":"laser surgery","type":"service","title":"Laser surgery","publisher":"harbour-optics",` +
	`"summary":"Both eyes in one visit"}],"locations":[]},"coverage":{"status":"resolved","covered":true,"answers_request":true,"evidence_complete":true,"unresolved":[]},` +
	`"freshness":{"sla_seconds":86400,"any_stale":false},"served_at":"2026-11-30T12:00:00Z","latency_ms":3,` +
	`"revocation_url":"https://registry.example/t/harbour-optics/.well-known/x-protocol/revocations.json"}`

// answerB is the same answer as publisher B gives it.
var answerB = strings.NewReplacer("harbour-optics", slugB, "Harbour Optics", "Quay Books").Replace(answerA)

// manifestA is an unsigned manifest of publisher A.
const manifestA = `{"protocol_x_version":"1.0","api_version":"2025-11-25","server_version":"1","registry":"x-protocol/v1","generated_at":"2026-11-30T12:00:00Z",` +
	`"publisher":{"tenant":"harbour-optics","display_name":"Harbour Optics","website_verified":true,"proven_domain":"optics.example","verification_method":"dns_txt",` +
	`"authority_verified_at":"2026-11-01T09:00:00Z","trust_tier":"domain_verified"},"publication":{"published":true},"capabilities":[],"data_formats":[],` +
	`"endpoints":{"manifest":"https://registry.example/t/harbour-optics/.well-known/x-protocol/manifest.json"},"authenticity":{"method":"detached-digest-signature",` +
	`"algorithm":"Ed25519"},"verification":{"trust_tier":"domain_verified","domain_verified":true,"verified_host":"optics.example","method":"dns_txt",` +
	`"valid_until":"2027-01-30T09:00:00Z"},"freshness_contract":{"sla_seconds":86400,"policy":"flag"}}`

func signWith(document string, k *jwk.PrivateKey, name, url string, at, until time.Time) string {
	return string(mustHave(business.SignDocument([]byte(document), business.Signing{Signer: signerOf(k), SignedAt: at, ExpiresAt: until, KeysURL: url, KeysName: name})))
}

func signEnvelope(document string, k *jwk.PrivateKey) string {
	return signWith(document, k, "jwks_url", urlA, signedAt, expiresAt)
}

func signManifest(document string, k *jwk.PrivateKey) string {
	return signWith(document, k, "registry_keys_url", keysURL, signedAt, expiresAt)
}

// editOnce replaces text that must be there exactly once.
func editOnce(document, old, new string) string {
	if strings.Count(document, old) != 1 {
		panic("edit: " + old + " does not stand once in " + document)
	}
	return strings.Replace(document, old, new, 1)
}

var attestationAt = regexp.MustCompile(`,"attestation":\{[^{}]*\}`)

// inAttestation changes a string member of the attestation and nothing else.
func inAttestation(document, member string, change func(string) string) string {
	return attestationAt.ReplaceAllStringFunc(document, func(block string) string {
		return changeMember(block, member, change)
	})
}

// changeMember changes the first string member of that name.
func changeMember(document, member string, change func(string) string) string {
	at := regexp.MustCompile(`"` + member + `":"([^"]*)"`).FindStringSubmatchIndex(document)
	if at == nil {
		panic("no member " + member + " in " + document)
	}
	return document[:at[2]] + change(document[at[2]:at[3]]) + document[at[3]:]
}

func setTo(value string) func(string) string { return func(string) string { return value } }

func memberOf(document, member string) (value string) {
	changeMember(document, member, func(s string) string { value = s; return s })
	return value
}

func unattested(document string) string { return attestationAt.ReplaceAllString(document, "") }

func fetched(document string) *business.Fetched {
	return &business.Fetched{Body: []byte(document), At: readAt}
}

func pinnedRoot() *business.Root {
	return &business.Root{Kid: rootKey.Kid(), Public: publicOf(rootKey)}
}

// goodEvidence is everything a reader needs to find nothing against a document of publisher A.
func goodEvidence() business.Evidence {
	return business.Evidence{
		Root: pinnedRoot(), RegistryKeys: fetched(goodRegistryKeys()), PublisherKeys: fetched(goodKeysA()),
		Revocations: fetched(signedList("", registry2, issuedAt)), PublisherList: fetched(signedList(slugA, registry2, issuedAt)),
		At: readAt, FutureSkew: business.ReaderSkew,
	}
}

func judge(t testing.TB, document string, e business.Evidence) *business.Verdict {
	t.Helper()
	v, err := business.Verify([]byte(document), e)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func asFormatError(t testing.TB, err error) *business.FormatError {
	t.Helper()
	var e *business.FormatError
	if !errors.As(err, &e) {
		t.Fatalf("error %v is no *FormatError", err)
	}
	return e
}
