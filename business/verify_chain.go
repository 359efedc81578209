package business

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"time"

	"sayso/jwk"
)

// keySet is registry-keys.json or a jwks.json, by kid.
type keySet struct {
	registry string // member registry of registry-keys.json
	entries  map[string]object
	fault    string // why there is no set, "" when there is one
	absent   bool   // it was not looked for
}

// readKeySet reads a set. One that names a kid twice is none: which key is meant would depend on the reader.
func readKeySet(f *Fetched) keySet {
	switch {
	case f == nil:
		return keySet{fault: "keys_missing", absent: true}
	case errors.Is(f.Err, ErrNetRefused):
		return keySet{fault: "net_refused"}
	case f.Err != nil:
		return keySet{fault: "keys_unavailable"}
	}
	canon, err := Canon(f.Body)
	if err != nil {
		return keySet{fault: "keys_malformed"}
	}
	top, _ := text(canon).object()
	keys, ok := top.get("keys").array()
	if !ok {
		return keySet{fault: "keys_malformed"}
	}
	set := keySet{registry: top.str("registry"), entries: make(map[string]object, len(keys))}
	for _, k := range keys {
		entry, ok := k.object()
		kid := entry.str("kid")
		if _, twice := set.entries[kid]; !ok || twice {
			return keySet{fault: "keys_malformed"}
		}
		if kid != "" { // a key nobody can name is nobody's
			set.entries[kid] = entry
		}
	}
	return set
}

// key returns the public key of a kid, or why there is none that may be used.
func (s *keySet) key(kid string) (ed25519.PublicKey, string) {
	if s.fault != "" {
		return nil, s.fault
	}
	entry, ok := s.entries[kid]
	if !ok {
		return nil, "unknown_key"
	}
	raw, err := jwk.DecodeBase64URL(entry.str("x"))
	if err != nil || jwk.CheckEncoding(raw) != nil || entry.str("kty") != "OKP" || entry.str("crv") != Algorithm ||
		!entry.statesAtMost("use", "sig") || !entry.statesAtMost("alg", "EdDSA") {
		return nil, "bad_key"
	}
	return raw, ""
}

// statesAtMost reports whether a member is absent or has exactly this value.
func (o object) statesAtMost(name, value string) bool {
	return o.get(name) == nil || o.str(name) == value
}

// identity judges whether the key belongs to the publisher the document speaks for, which is only known relative to a pinned root (XP-INTEGRITY-006).
// What is visibly broken is reported without a root, too.
func (v *verifier) identity(d *document, registryList *listState) Finding {
	switch {
	case !d.signed:
		return found("unconfirmed", "unsigned")
	case d.kind == KindUnknown:
		return found("unconfirmed", "unsigned_kind")
	case d.publisher == "" && d.kind != KindRevocations:
		return found("broken_chain", "no_publisher")
	case v.e.Publisher != "" && d.publisher != v.e.Publisher:
		return found("mismatch", "other_publisher")
	}
	fault := ""
	if d.kind == KindEnvelope {
		fault = v.publisherChain(d, registryList)
	} else {
		fault = v.registryChain(d.block.str("kid"), d)
		if fault == "unknown_key" {
			fault = "not_a_registry_key"
		}
	}
	switch {
	case fault == "attested_for_other":
		return found("mismatch", fault)
	case fault == "keys_missing": // not looked for: nothing is known to be broken
		return found("unconfirmed", fault)
	case fault != "":
		return found("broken_chain", fault)
	case v.e.Root == nil:
		return found("unconfirmed", "no_pinned_root")
	}
	return found("confirmed", "")
}

// registryChain follows a registry key to the pinned root, for a document signed at d.signedAt. Without a pinned root the last link is not looked at.
func (v *verifier) registryChain(kid string, d *document) string {
	if v.e.Root == nil && v.registry.absent {
		return "" // nothing was looked for, nothing is claimed
	}
	key, fault := v.registry.key(kid)
	if fault != "" {
		return fault
	}
	entry := v.registry.entries[kid]
	if entry.str("role") != RoleSigning {
		// An entry that calls itself a root is one only by the pinned bytes, and even then it signs entries and nothing else (XP-INTEGRITY-015).
		if v.e.Root != nil && bytes.Equal(key, v.e.Root.Public) {
			return "root_signs_entries_only"
		}
		return "not_a_signing_key"
	}
	if fault := v.rootedBy(kid, entry); fault != "" {
		return fault
	}
	until, ok := parseTime(entry.str("not_after"))
	switch {
	case !d.signedOK:
		return "signed_at_unreadable"
	case !ok || d.signedAt.After(until):
		return "registry_key_expired"
	}
	return ""
}

// rootedBy verifies the root's signature over the seven members of an entry, whatever covers says, with the pinned bytes. Each key costs one verification.
func (v *verifier) rootedBy(kid string, entry object) string {
	root := v.e.Root
	if root == nil {
		return ""
	}
	if fault, done := v.rooted[kid]; done {
		return fault
	}
	fault, text := "", entry.str
	block := entry.object("root_signature")
	digest := rootDigest(kid, text("x"), text("crv"), text("role"), v.registry.registry, text("created_at"), text("not_after"))
	switch {
	case jwk.CheckEncoding(root.Public) != nil:
		fault = "root_unusable"
	case block == nil:
		fault = "no_root_signature"
	case !sealOf(block).holds(digest, root.Public):
		fault = "root_signature_wrong"
	}
	v.rooted[kid] = fault
	return fault
}

// publisherChain follows an envelope's key over its attestation and the registry key to the root (X§8.4).
func (v *verifier) publisherChain(d *document, registryList *listState) string {
	kid := d.block.str("kid")
	if _, fault := v.publisher.key(kid); fault != "" {
		return fault
	}
	entry := v.publisher.entries[kid]
	block := entry.object("x_protocol_attestation")
	if block == nil {
		return "no_key_attestation"
	}
	registryKid := block.str("registry_kid")
	if fault := v.registryChain(registryKid, d); fault != "" {
		if fault == "unknown_key" {
			fault = "unknown_registry_key"
		}
		return fault
	}
	if !v.registry.absent {
		digest := keyDigest(kid, entry.str("x"), entry.str("crv"), block.str("publisher"), block.str("key_created_at"))
		if key, _ := v.registry.key(registryKid); !sealOf(block).holds(digest, key) {
			return "key_attestation_wrong"
		}
	}
	if block.str("publisher") != d.publisher {
		return "attested_for_other"
	}
	attested, ok := parseTime(block.str("signed_at"))
	if until, okUntil := parseTime(v.registry.entries[registryKid].str("not_after")); ok && okUntil && attested.After(until) {
		return "registry_key_expired"
	}
	// When the attestation was made stands outside its signature, so a withdrawn key could have dated it back: the document's own time counts as well.
	if registryList.withdrawsKey(registryKid, d.signedAt, d.signedOK) || registryList.withdrawsKey(registryKid, attested, ok) {
		return "registry_key_revoked"
	}
	return ""
}

// withdrawsKey reports whether a verified list withdraws a registry key at an instant; an instant that is not known lies in every window.
func (l *listState) withdrawsKey(kid string, at time.Time, known bool) bool {
	if !l.verified {
		return false
	}
	for i := range l.entries {
		e := &l.entries[i]
		if e.scope == ScopeRegistryKey && e.target == kid && (!known || e.window.covers(at)) {
			return true
		}
	}
	return false
}
