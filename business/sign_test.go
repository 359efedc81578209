package business_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"sayso/business"
)

// reckoned is a digest and signature check that uses nothing of the package: encoding/json sorts the members of a map of plain strings.
func reckoned(t *testing.T, members map[string]string, digest, signature string, key ed25519.PublicKey) {
	t.Helper()
	canonical, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(canonical)
	if digest != base64.RawURLEncoding.EncodeToString(sum[:]) {
		t.Errorf("digest %s is not that of %s", digest, canonical)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || !ed25519.Verify(key, sum[:], raw) {
		t.Errorf("signature over %s does not hold (%v)", canonical, err)
	}
}

func TestSignEntryCoversSevenMembers(t *testing.T) {
	e := signingEntry(registry1, rootKey, keysUntil)
	s := e.RootSignature
	reckoned(t, map[string]string{
		"kid": e.Kid, "public_key": e.X, "alg": "Ed25519", "role": "signing", "registry": "x-protocol/v1", "created_at": "2026-06-01T00:00:00Z", "not_after": "2027-06-01T00:00:00Z",
	}, s.Digest, s.Signature, publicOf(rootKey))
	if s.RootKid != "test-root" || s.Alg != "Ed25519" || s.SignedAt != "2026-06-01T00:00:00Z" || len(s.Covers) != 7 || e.Alg != "EdDSA" || e.Kty != "OKP" || e.Use != "sig" {
		t.Errorf("%+v", e)
	}
}

func TestSignEntryRefuses(t *testing.T) {
	good := mustHave(business.NewRegistryKey("k", business.RoleSigning, publicOf(registry1), keysMade, keysUntil))
	for name, change := range map[string]func(*business.RegistryKey){
		"role root":       func(k *business.RegistryKey) { k.Role = business.RoleRoot },
		"no role":         func(k *business.RegistryKey) { k.Role = "" },
		"crv":             func(k *business.RegistryKey) { k.Crv = "EdDSA" },
		"kid":             func(k *business.RegistryKey) { k.Kid = "a b" },
		"padded x":        func(k *business.RegistryKey) { k.X += "=" },
		"small order":     func(k *business.RegistryKey) { k.X = strings.Repeat("A", 43) },
		"not a time":      func(k *business.RegistryKey) { k.NotAfter = "2027-06-01" },
		"ends before":     func(k *business.RegistryKey) { k.NotAfter = "2026-05-01T00:00:00Z" },
		"created is zero": func(k *business.RegistryKey) { k.CreatedAt = "" },
	} {
		k := good
		change(&k)
		if _, err := business.SignEntry(k, business.Family, signerOf(rootKey), keysMade); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
	for _, registry := range []string{"", "x\xff"} {
		if _, err := business.SignEntry(good, registry, signerOf(rootKey), keysMade); err == nil {
			t.Errorf("registry %q: signed", registry)
		}
	}
	if _, err := business.SignEntry(good, business.Family, nil, keysMade); err == nil {
		t.Error("signed without a signer")
	}
	if _, err := business.NewRegistryKey("k", business.RoleSigning, make([]byte, 32), keysMade, keysUntil); err == nil {
		t.Error("a key of small order became an entry")
	}
}

func TestAttestCoversFiveMembers(t *testing.T) {
	k := attestedKey(keyA, slugA, registry1)
	a := k.Attestation
	reckoned(t, map[string]string{"kid": k.Kid, "public_key": k.X, "alg": "Ed25519", "publisher": slugA, "created_at": "2026-06-01T00:00:00Z"}, a.Digest, a.Signature, publicOf(registry1))
	if a.RegistryKid != registry1.Kid() || a.RegistryKeysURL != keysURL || a.Publisher != slugA || len(a.Covers) != 5 || k.Crv != "Ed25519" || k.Alg != "EdDSA" {
		t.Errorf("%+v %+v", k, a)
	}
	at := keysMade.Format(time.RFC3339)
	for name, f := range map[string]func() error{
		"slug": func() error {
			_, err := business.Attest(publicOf(keyA), "k", "A B", at, signerOf(registry1), keysURL, keysMade)
			return err
		},
		"kid": func() error {
			_, err := business.Attest(publicOf(keyA), "", slugA, at, signerOf(registry1), keysURL, keysMade)
			return err
		},
		"created": func() error {
			_, err := business.Attest(publicOf(keyA), "k", slugA, "yesterday", signerOf(registry1), keysURL, keysMade)
			return err
		},
		"url": func() error {
			_, err := business.Attest(publicOf(keyA), "k", slugA, at, signerOf(registry1), "", keysMade)
			return err
		},
		"key": func() error {
			_, err := business.Attest(make([]byte, 32), "k", slugA, at, signerOf(registry1), keysURL, keysMade)
			return err
		},
		"signer": func() error {
			_, err := business.Attest(publicOf(keyA), "k", slugA, at, nil, keysURL, keysMade)
			return err
		},
	} {
		if f() == nil {
			t.Errorf("%s: attested", name)
		}
	}
}

func TestPublisherKid(t *testing.T) {
	key := publicOf(keyA)
	sum := sha256.Sum256([]byte(base64.RawURLEncoding.EncodeToString(key)))
	if got, want := business.PublisherKid(slugA, key), slugA+"-"+hex.EncodeToString(sum[:])[:8]; got != want || business.PublisherKid(slugA, publicOf(keyB)) == got {
		t.Errorf("%s, want %s", got, want)
	}
}

// faulty signs badly in one way.
type faulty struct {
	business.Signer
	kid  string
	key  ed25519.PublicKey
	sign func([32]byte) ([]byte, error)
}

func (f faulty) Kid() string                          { return f.kid }
func (f faulty) Public() ed25519.PublicKey            { return f.key }
func (f faulty) Sign(digest [32]byte) ([]byte, error) { return f.sign(digest) }

// XP-INTEGRITY-001: what an external signer returns is verified before anything leaves.
func TestSignDocumentTrustsNoSigner(t *testing.T) {
	good := signerOf(keyA)
	base := faulty{kid: good.Kid(), key: good.Public(), sign: good.Sign}
	refusal := errors.New("the module is locked")
	for name, change := range map[string]func(*faulty){
		"an error": func(f *faulty) { f.sign = func([32]byte) ([]byte, error) { return nil, refusal } },
		"nothing":  func(f *faulty) { f.sign = func([32]byte) ([]byte, error) { return nil, nil } },
		"63 bytes": func(f *faulty) {
			f.sign = func(d [32]byte) ([]byte, error) { s, err := good.Sign(d); return s[:63], err }
		},
		"another digest":           func(f *faulty) { f.sign = func(d [32]byte) ([]byte, error) { d[0]++; return good.Sign(d) } },
		"another key":              func(f *faulty) { f.sign = signerOf(keyB).Sign },
		"a public key of 31 bytes": func(f *faulty) { f.key = f.key[:31] },
		"a key of small order":     func(f *faulty) { f.key = make([]byte, 32) },
		"no kid":                   func(f *faulty) { f.kid = "" },
	} {
		f := base
		change(&f)
		out, err := business.SignDocument([]byte(answerA), business.Signing{Signer: f, SignedAt: signedAt, ExpiresAt: expiresAt, KeysURL: urlA, KeysName: "jwks_url"})
		if err == nil || out != nil {
			t.Errorf("%s: signed", name)
		}
		if name == "an error" && !errors.Is(err, refusal) {
			t.Errorf("the signer's error is lost: %v", err)
		}
		if asked := f.kid != "" && len(f.key) == 32 && f.key[0] != 0; errors.Is(err, business.ErrSigner) != asked {
			t.Errorf("%s: a failure of the signer's, or not, is %v", name, err)
		}
	}
}

func TestSignDocumentKeepsWhatItGot(t *testing.T) {
	for in, want := range map[string]string{
		"{}":                           `{"signed_at":`,
		" { } \n":                      ` {"signed_at":`,
		` {"b":1.0, "a":"x" } ` + "\n": ` {"b":1.0, "a":"x","signed_at":`,
	} {
		input := []byte(in)
		out, err := business.SignDocument(input, business.Signing{Signer: signerOf(registry1), SignedAt: signedAt.Add(1999 * time.Nanosecond), ExpiresAt: expiresAt, KeysURL: keysURL, KeysName: "registry_keys_url"})
		if err != nil || !strings.HasPrefix(string(out), want) || !json.Valid(out) || string(input) != in {
			t.Errorf("%q: %s %v", in, out, err)
		}
		var doc map[string]any
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatal(err)
		}
		block := doc["attestation"].(map[string]any)
		if doc["signed_at"] != "2026-11-30T12:00:00.000001Z" || block["signed_at"] != doc["signed_at"] || block["expires_at"] != doc["expires_at"] ||
			block["kid"] != doc["signing_kid"] || block["jwks_url"] != doc["registry_keys_url"] || doc["signing_kid"] != registry1.Kid() {
			t.Errorf("mirrored members: %s", out)
		}
	}
}

func TestSignDocumentRefuses(t *testing.T) {
	good := business.Signing{Signer: signerOf(keyA), SignedAt: signedAt, ExpiresAt: expiresAt, KeysURL: urlA, KeysName: "jwks_url"}
	for _, document := range []string{"", "[]", "null", `{"a":1,"a":1}`, `{"signed_at":1}`, `{"expires_at":1}`, `{"signing_kid":1}`, `{"jwks_url":1}`, `{"attestation":{}}`, `{"attestatio\u006e":{}}`, `{"unsigned_reason":"x"}`} {
		if out, err := business.SignDocument([]byte(document), good); err == nil {
			t.Errorf("%s: signed as %s", document, out)
		}
	}
	for name, change := range map[string]func(*business.Signing){
		"no signer": func(s *business.Signing) { s.Signer = nil }, "no url": func(s *business.Signing) { s.KeysURL = "" }, "odd name": func(s *business.Signing) { s.KeysName = "keys" },
		"no time": func(s *business.Signing) { s.SignedAt = time.Time{} }, "expires at once": func(s *business.Signing) { s.ExpiresAt = signedAt },
		"a year nobody reads": func(s *business.Signing) { s.SignedAt, s.ExpiresAt = signedAt.AddDate(8000, 0, 0), time.Time{} }, "an end nobody reads": func(s *business.Signing) { s.ExpiresAt = signedAt.AddDate(8000, 0, 0) },
	} {
		s := good
		change(&s)
		if _, err := business.SignDocument([]byte(answerA), s); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
}

// What is signed is read by whoever reads the longest document, attestation included, and not a byte more is made.
func TestSignDocumentBound(t *testing.T) {
	sign := func(pad int) ([]byte, error) {
		return business.SignDocument([]byte(`{"a":"`+strings.Repeat("x", pad)+`"}`), business.Signing{Signer: signerOf(keyA), SignedAt: signedAt, ExpiresAt: expiresAt, KeysURL: urlA, KeysName: "jwks_url"})
	}
	frame := len(mustHave(sign(0)))
	longest, err := sign(business.MaxDocument - frame)
	if err != nil || len(longest) != business.MaxDocument {
		t.Fatalf("%d bytes, %v", len(longest), err)
	}
	if _, err := business.Canon(longest); err != nil {
		t.Error(err)
	}
	if out, err := sign(business.MaxDocument - frame + 1); err == nil {
		t.Errorf("%d bytes were signed", len(out))
	}
}

// XP-INTEGRITY-011: what cannot be a list that readers verify is not made.
func TestRevocationListRefuses(t *testing.T) {
	key := withdrawal(business.ScopeKey, keyA.Kid())
	for name, f := range map[string]func() ([]byte, error){
		"an entry of the other list": func() ([]byte, error) {
			return business.RevocationList("", []business.RevocationEntry{key}, signerOf(registry2), keysURL, issuedAt)
		},
		"a registry scope on a publisher's list": func() ([]byte, error) {
			return business.RevocationList(slugA, []business.RevocationEntry{withdrawal(business.ScopePublisher, slugA)}, signerOf(registry2), keysURL, issuedAt)
		},
		"a registry key without the root": func() ([]byte, error) {
			return business.RevocationList("", []business.RevocationEntry{withdrawal(business.ScopeRegistryKey, "k")}, signerOf(registry2), keysURL, issuedAt)
		},
		"its own signer": func() ([]byte, error) {
			return business.RevocationList("", []business.RevocationEntry{rootSigned(withdrawal(business.ScopeRegistryKey, registry2.Kid()))}, signerOf(registry2), keysURL, issuedAt)
		},
		"no signer": func() ([]byte, error) { return business.RevocationList(slugA, nil, nil, keysURL, issuedAt) },
		"a slug": func() ([]byte, error) {
			return business.RevocationList("A", nil, signerOf(registry2), keysURL, issuedAt)
		},
	} {
		if out, err := f(); err == nil {
			t.Errorf("%s: %s", name, out)
		}
	}
	for name, change := range map[string]func(*business.RevocationEntry){
		"no target":         func(e *business.RevocationEntry) { e.Kid = "" },
		"two targets":       func(e *business.RevocationEntry) { e.Digest = "x" },
		"unknown reason":    func(e *business.RevocationEntry) { e.Reason = "because" },
		"unknown scope":     func(e *business.RevocationEntry) { e.Scope = "region" },
		"bound is no time":  func(e *business.RevocationEntry) { e.RevokedFrom = "noon" },
		"bound has a comma": func(e *business.RevocationEntry) { e.RevokedFrom = "2026-11-30T12:00:00,5Z" },
		"bounds turned": func(e *business.RevocationEntry) {
			e.RevokedFrom, e.RevokedUntil = "2026-11-30T12:00:01Z", "2026-11-30T12:00:00Z"
		},
		"no created_at":     func(e *business.RevocationEntry) { e.CreatedAt = "" },
		"tenant and target": func(e *business.RevocationEntry) { e.Scope = business.ScopeTenant },
		"digest too short":  func(e *business.RevocationEntry) { e.Scope, e.Kid, e.Digest = business.ScopeDigest, "", "AAAA" },
	} {
		e := key
		change(&e)
		if _, err := business.RevocationList(slugA, []business.RevocationEntry{e}, signerOf(registry2), keysURL, issuedAt); err == nil {
			t.Errorf("%s: listed", name)
		}
	}
}

// A key that was withdrawn for a time that is over signs again.
func TestRevocationListBySignerOfAnotherTime(t *testing.T) {
	then := rootSigned(withinWindow(withdrawal(business.ScopeRegistryKey, registry2.Kid()), "", "2026-11-30T12:03:59Z"))
	e := goodEvidence()
	e.Revocations = fetched(signedList("", registry2, issuedAt, then))
	if _, f := business.VerifyList(e.Revocations.Body, "", e); f.Value != "verified" {
		t.Errorf("%+v", f)
	}
}

func TestSignRevocationCoversTheEntry(t *testing.T) {
	e := rootSigned(withdrawal(business.ScopeRegistryKey, "k"))
	s := e.RootSignature
	reckoned(t, map[string]string{"scope": "registry_key", "subject": "k", "reason": "key_compromise", "created_at": "2026-11-30T12:04:00Z"}, s.Digest, s.Signature, publicOf(rootKey))
	again := mustHave(business.SignRevocation(e, signerOf(rootKey), issuedAt))
	if asJSON(again) != asJSON(e) || !bytes.Equal([]byte(strings.Join(s.Covers, " ")), []byte("scope subject reason created_at")) {
		t.Errorf("%s", asJSON(again))
	}
}

// What the root signs is verified by one function for those who make an entry, who install it and who read it.
func TestVerifyEntry(t *testing.T) {
	root := publicOf(rootKey)
	good := signingEntry(registry1, rootKey, issuedAt.Add(time.Hour))
	if err := business.VerifyEntry(good, business.Family, root); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change   func(*business.RegistryKey)
		registry string
		root     ed25519.PublicKey
		unsigned bool // well formed, and not what the root signed
	}{
		"another root":     {root: publicOf(registry2), unsigned: true},
		"no root":          {root: ed25519.PublicKey{}, unsigned: true},
		"another family":   {registry: "x-protocol/v2", unsigned: true},
		"unsigned":         {change: func(e *business.RegistryKey) { e.RootSignature = nil }, unsigned: true},
		"kid":              {change: func(e *business.RegistryKey) { e.Kid = "registry-9" }, unsigned: true},
		"x":                {change: func(e *business.RegistryKey) { e.X = signingEntry(registry2, rootKey, issuedAt.Add(time.Hour)).X }, unsigned: true},
		"not_after":        {change: func(e *business.RegistryKey) { e.NotAfter = "2999-01-01T00:00:00Z" }, unsigned: true},
		"created_at":       {change: func(e *business.RegistryKey) { e.CreatedAt = "2020-01-01T00:00:00Z" }, unsigned: true},
		"alg of the block": {change: func(e *business.RegistryKey) { e.RootSignature.Alg = "none" }, unsigned: true},
		"digest":           {change: func(e *business.RegistryKey) { e.RootSignature.Digest = strings.Repeat("A", 43) }, unsigned: true},
		"role":             {change: func(e *business.RegistryKey) { e.Role = business.RoleRoot }},
		"kty":              {change: func(e *business.RegistryKey) { e.Kty = "EC" }}, // outside the seven members, and no reader takes it
		"alg":              {change: func(e *business.RegistryKey) { e.Alg = "ES256" }},
		"no family":        {registry: "\xff"},
	} {
		e := good
		block := *good.RootSignature
		e.RootSignature = &block
		if c.change != nil {
			c.change(&e)
		}
		if c.registry == "" {
			c.registry = business.Family
		}
		if c.root == nil {
			c.root = root
		}
		if err := business.VerifyEntry(e, c.registry, c.root); err == nil || errors.Is(err, business.ErrNotRootSigned) != c.unsigned {
			t.Errorf("%s: %v", name, err)
		}
	}
	covers := good
	block := *good.RootSignature
	block.Covers, block.RootKid, block.SignedAt = nil, "x", ""
	covers.RootSignature = &block
	if err := business.VerifyEntry(covers, business.Family, root); err != nil {
		t.Errorf("what stands outside the signature decides: %v", err)
	}
}

func TestVerifyRevocationEntry(t *testing.T) {
	root := publicOf(rootKey)
	good := rootSigned(withdrawal(business.ScopeRegistryKey, "k"))
	if err := business.VerifyRevocationEntry(good, root); err != nil {
		t.Error(err)
	}
	if err := business.VerifyRevocationEntry(good, publicOf(registry1)); !errors.Is(err, business.ErrNotRootSigned) {
		t.Errorf("another root: %v", err)
	}
	for name, c := range map[string]struct {
		change   func(*business.RevocationEntry)
		unsigned bool
	}{
		"unsigned": {func(e *business.RevocationEntry) { e.RootSignature = nil }, true},
		"subject":  {func(e *business.RevocationEntry) { e.Subject = "other" }, true},
		"reason":   {func(e *business.RevocationEntry) { e.Reason = "error" }, true},
		"window":   {func(e *business.RevocationEntry) { e.RevokedUntil = "2020-01-01T00:00:00Z" }, true},
		"scope":    {func(e *business.RevocationEntry) { e.Scope = business.ScopeKey }, false},
		"no time":  {func(e *business.RevocationEntry) { e.CreatedAt = "today" }, false},
		"no text":  {func(e *business.RevocationEntry) { e.Subject = "\xff" }, false},
	} {
		e := good
		c.change(&e)
		if err := business.VerifyRevocationEntry(e, root); err == nil || errors.Is(err, business.ErrNotRootSigned) != c.unsigned {
			t.Errorf("%s: %v", name, err)
		}
	}
}
