package bizcheck

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/jcs"
	"sayso/jwk"
)

// checkVerdict turns the findings of a verification into those of the rules. keyRule is what a signature by another key than a registry's breaks.
func (c *recorder) checkVerdict(place string, document []byte, v *business.Verdict, keyRule string) {
	c.checkSignature(place, document, v.Signature)
	switch v.Mirror.Value {
	case "ok":
		c.pass("XP-INTEGRITY-007", place)
	case "mismatch":
		c.fail("XP-INTEGRITY-007", place, v.Mirror.Message, "repeat signed_at, signing_kid, expires_at and the keys URL inside the document before it is signed")
	}
	if v.Signature.Value == "absent" {
		return
	}
	id := v.Identity
	switch id.Reason {
	case "not_a_registry_key", "not_a_signing_key", "root_signs_entries_only":
		c.fail(keyRule, place, id.Message, "sign it with a key that registry-keys.json lists in the role signing")
		return
	case "no_pinned_root", "":
		c.pass(keyRule, place)
	}
	switch id.Value {
	case "confirmed":
		c.pass("XP-INTEGRITY-006", place)
	case "mismatch":
		c.fail("XP-INTEGRITY-014", place, id.Message, "serve each publisher's documents at its own address, signed for it")
	case "unconfirmed":
		c.untested("XP-INTEGRITY-006", place, "the identity behind the signature is unconfirmed", id.Message)
	default:
		if slices.Contains([]string{"keys_unavailable", "net_refused"}, id.Reason) {
			c.untested("XP-INTEGRITY-006", place, "the chain of keys could not be followed", id.Message)
			return
		}
		c.fail("XP-INTEGRITY-006", place, id.Message, "let the root sign the registry key that is in use")
	}
}

// checkSignature is XP-INTEGRITY-001, 002 and 005.
func (c *recorder) checkSignature(place string, document []byte, f business.Finding) {
	switch f.Value {
	case "valid":
		c.pass("XP-INTEGRITY-001", place)
		c.pass("XP-INTEGRITY-002", place)
		if canon, err := business.Canon(document); err == nil && bytes.ContainsAny(canon, "<>&") {
			c.pass("XP-INTEGRITY-005", place)
		}
	case "unsupported":
		c.untested("XP-INTEGRITY-001", place, "the signature was not tested", f.Message)
	case "invalid":
		switch {
		case f.Reason == "bad_encoding":
			c.fail("XP-INTEGRITY-002", place, f.Message, "write digest and signature in base64url without padding")
		case f.Reason == "digest_mismatch" && escaped(document):
			c.fail("XP-INTEGRITY-005", place, "the stated digest is that of the text with <, > and & escaped", "switch HTML escaping off before hashing")
		case f.Reason == "unknown_key":
			c.untested("XP-INTEGRITY-001", place, "the signature was not tested", f.Message)
		default:
			c.fail("XP-INTEGRITY-001", place, f.Message, "hash the canonical form without attestation, and sign the 32 bytes of the digest")
		}
	}
}

var htmlEscape = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)

// escaped reports whether the digest in a document is that of its canonical text with HTML escaping, the mistake of several JSON writers.
func escaped(document []byte) bool {
	canon, err := business.Canon(withoutMember(document, "attestation"))
	if err != nil {
		return false
	}
	o, _ := objectOf(document)
	sum := sha256.Sum256([]byte(htmlEscape.Replace(string(canon))))
	return o.object("attestation").text("digest") == jwk.EncodeBase64URL(sum[:])
}

// withoutMember is an object's text without one member; nil when it is no object.
func withoutMember(document []byte, name string) []byte {
	members, err := business.Members(document)
	if err != nil {
		return nil
	}
	return jcs.AppendMembers(nil, slices.DeleteFunc(members, func(m jcs.Member) bool { return m.Name == name }))
}

// checkLife is XP-FRESHNESS-003 and 004 for a signed manifest or answer.
func (c *recorder) checkLife(place string, o object, now time.Time) {
	if !o.has("attestation") {
		return
	}
	from, ok1 := o.time("signed_at")
	until, ok2 := o.time("expires_at")
	life := until.Sub(from)
	c.expect(ok1 && ok2 && life > 0 && life <= business.ManifestLife, "XP-FRESHNESS-003", place, fmt.Sprintf("signed_at is %.60q and expires_at %.60q", o.text("signed_at"), o.text("expires_at")),
		"put expires_at inside the signed text, at most 15 minutes after signed_at")
	if ok2 {
		c.expect(until.After(now), "XP-FRESHNESS-004", place, "it expired at "+until.UTC().Format(time.RFC3339)+" and is still served", "sign again before it expires; a reader reports it as expired")
	}
}

// checkRegistryKeys looks at registry-keys.json: each entry a key once, signed by the root that is pinned.
func (c *checker) checkRegistryKeys(place string, body []byte) {
	doc, err := objectOf(body)
	list, ok := doc.list("keys")
	if err != nil || !ok {
		c.fail("XP-INTEGRITY-006", place, "it is no key document", `serve {"registry", "issued_at", "max_age_seconds", "keys": [...]}`)
		return
	}
	c.checkAbsence(place, body)
	seen := map[string]bool{}
	for _, k := range doc.objects("keys") {
		kid := k.text("kid")
		at := place + " key " + clip(kid, 80)
		key, err := keyOf(k)
		if !c.expect(err == nil && kid != "" && !seen[kid], "XP-INTEGRITY-006", at, "the entry is no Ed25519 key of its own kid", "list each key once, with kty OKP, crv Ed25519 and x of 32 bytes") {
			continue
		}
		seen[kid] = true
		if k.text("role") == business.RoleRoot {
			if c.Root != nil {
				c.prefer(bytes.Equal(key, c.Root.Public), "XP-INTEGRITY-015", at, "an entry calls itself root and is not the pinned root", "list no root, or the one that readers pin; the entry vouches for nothing")
			}
			continue
		}
		c.checkRootSignature(at, k, doc.text("registry"))
	}
	if len(list) != len(doc.objects("keys")) || len(seen) == 0 {
		c.fail("XP-INTEGRITY-006", place, "the key document lists no key, or something that is no key", "list the keys that sign")
	}
}

// checkRootSignature verifies the root's signature over the seven members of an entry, whatever covers says.
func (c *checker) checkRootSignature(place string, k object, registry string) {
	if c.Root == nil {
		c.untested("XP-INTEGRITY-006", place, "the root's signature over the entry was not tested", "no root is pinned: obtain it from another source than this origin")
		return
	}
	payload := members("kid", k.text("kid"), "public_key", k.text("x"), "alg", k.text("crv"), "role", k.text("role"), "registry", registry,
		"created_at", k.text("created_at"), "not_after", k.text("not_after"))
	c.checkSeal(place, k.object("root_signature"), payload, c.Root.Public, "XP-INTEGRITY-006", "the pinned root did not sign this entry as it stands")
}

// checkSeal verifies one signature block: encoding, digest, arithmetic.
func (c *recorder) checkSeal(place string, block object, payload []byte, key ed25519.PublicKey, rule, seen string) {
	digest, err := business.Digest(payload)
	stated, err1 := jwk.DecodeBase64URL(block.text("digest"))
	signature, err2 := jwk.DecodeBase64URL(block.text("signature"))
	if block != nil && (err1 != nil || err2 != nil) {
		c.fail("XP-INTEGRITY-002", place, "digest or signature is not base64url without padding", "write both in base64url without padding")
		return
	}
	ok := err == nil && block.text("alg") == business.Algorithm && bytes.Equal(stated, digest[:]) && len(signature) == ed25519.SignatureSize && ed25519.Verify(key, digest[:], signature)
	c.expect(ok, rule, place, seen, "sign exactly the members that the protocol names, as they stand in the entry")
}

// members writes an object of strings, name and value in turn.
func members(list ...string) []byte {
	out := []byte{'{'}
	for i := 0; i+1 < len(list); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jcs.AppendString(out, list[i]), ':')
		out = jcs.AppendString(out, list[i+1])
	}
	return append(out, '}')
}

// keyOf is the public key of an entry of either key document.
func keyOf(k object) (ed25519.PublicKey, error) {
	if k.text("kty") != "OKP" || k.text("crv") != business.Algorithm {
		return nil, fmt.Errorf("not an Ed25519 key")
	}
	raw, err := jwk.DecodeBase64URL(k.text("x"))
	if err != nil {
		return nil, err
	}
	return jwk.Accept(raw)
}

// checkPublisherKeys looks at a publisher's jwks.json: each key is attested by the registry, for this publisher.
func (c *checker) checkPublisherKeys(place string, body []byte, slug string, registry *answer) {
	doc, err := objectOf(body)
	if _, ok := doc.list("keys"); err != nil || !ok {
		c.fail("XP-INTEGRITY-006", place, "it is no key set", `serve {"keys": [...]}`)
		return
	}
	c.checkAbsence(place, body)
	attesting := map[string]object{}
	if registry != nil && registry.ok() {
		keys, _ := objectOf(registry.body)
		for _, k := range keys.objects("keys") {
			attesting[k.text("kid")] = k
		}
	}
	for _, k := range doc.objects("keys") {
		at := place + " key " + clip(k.text("kid"), 80)
		if _, err := keyOf(k); !c.expect(err == nil, "XP-INTEGRITY-006", at, "the entry is no Ed25519 key", "list Ed25519 keys with kty OKP, crv Ed25519 and x of 32 bytes") {
			continue
		}
		a := k.object("x_protocol_attestation")
		if a == nil {
			c.warn("XP-INTEGRITY-006", at, "no registry attested this key: what it signs does not chain", "attest the key, or take it off the set")
			continue
		}
		if !c.expect(slug == "" || a.text("publisher") == slug, "XP-INTEGRITY-014", at, fmt.Sprintf("the key was attested for %.100q and is served for %.100q", a.text("publisher"), slug), "serve each publisher's own keys") {
			continue
		}
		signer, err := keyOf(attesting[a.text("registry_kid")])
		if len(attesting) == 0 {
			c.untested("XP-INTEGRITY-001", at, "the registry's attestation was not tested", "the registry's keys could not be read")
			continue
		}
		if !c.expect(err == nil, "XP-INTEGRITY-006", at, "the registry key that attested this key is not published", "attest the key again with a key of registry-keys.json") {
			continue
		}
		payload := members("kid", k.text("kid"), "public_key", k.text("x"), "alg", k.text("crv"), "publisher", a.text("publisher"), "created_at", a.text("key_created_at"))
		c.checkSeal(at, a, payload, signer, "XP-INTEGRITY-001", "the registry's attestation does not hold over kid, x, crv, publisher and key_created_at")
	}
}
