package business

import (
	"crypto/ed25519"

	"sayso/jwk"
)

// seal is what a signature block states: of a document, a key attestation or a root signature, which share these members.
type seal struct {
	alg, digest, signature string
	named, whole           bool // alg is a string; the other two are
}

func sealOf(block object) (s seal) {
	s.alg, s.named = block.get("alg").str()
	var ok bool
	s.digest, ok = block.get("digest").str()
	s.signature, s.whole = block.get("signature").str()
	s.whole = s.whole && ok
	return s
}

// open checks a block up to the arithmetic: a known alg, strict base64url without padding (XP-INTEGRITY-002), and the digest that was recomputed here. A wrong
// digest beside a right signature is still a failure. fault is "" when only the arithmetic is left.
func (s seal) open(digest [32]byte) (signature []byte, fault string) {
	switch {
	case !s.named:
		return nil, "malformed_attestation"
	case s.alg != Algorithm:
		return nil, "unsupported_alg"
	case !s.whole:
		return nil, "malformed_attestation"
	}
	claimed, err := jwk.DecodeBase64URL(s.digest)
	signature, errSignature := jwk.DecodeBase64URL(s.signature)
	switch {
	case err != nil || errSignature != nil || len(claimed) != len(digest) || len(signature) != ed25519.SignatureSize:
		return nil, "bad_encoding"
	case [32]byte(claimed) != digest:
		return nil, "digest_mismatch"
	}
	return signature, ""
}

// holds verifies a block over a digest with one key. The message is the 32 bytes of the digest (XP-INTEGRITY-001).
func (s seal) holds(digest [32]byte, public ed25519.PublicKey) bool {
	signature, fault := s.open(digest)
	return fault == "" && jwk.CheckEncoding(public) == nil && ed25519.Verify(public, digest[:], signature)
}

// signature judges the bytes alone: X§8.1 against the key that attestation.kid names.
func (v *verifier) signature(d *document) Finding {
	switch {
	case !d.signed:
		if d.kind == KindUnknown {
			return found("absent", "unsigned_kind")
		}
		return found("absent", "no_attestation")
	case d.kind == KindUnknown:
		return found("unsupported", "unsigned_kind")
	case d.block == nil:
		return found("invalid", "malformed_attestation")
	}
	signature, fault := sealOf(d.block).open(d.digest)
	switch fault {
	case "":
	case "unsupported_alg":
		return found("unsupported", fault)
	default:
		return found("invalid", fault)
	}
	key, fault := v.documentKey(d)
	switch {
	case fault == "unknown_key" || fault == "bad_key":
		return found("invalid", fault)
	case fault != "":
		return found("unsupported", "key_unavailable")
	case !ed25519.Verify(key, d.digest[:], signature):
		return found("invalid", "signature_wrong")
	}
	return found("valid", "")
}

// documentKey is the key attestation.kid names: a publisher key for envelopes, a registry key for everything else. A manifest that a publisher key signed is
// right as bytes and wrong as a manifest (XP-INTEGRITY-004), so its signature is looked at with the publisher's set, too.
func (v *verifier) documentKey(d *document) (ed25519.PublicKey, string) {
	kid := d.block.str("kid")
	if d.kind == KindEnvelope {
		return v.publisher.key(kid)
	}
	key, fault := v.registry.key(kid)
	if fault != "" && d.kind == KindManifest {
		if other, none := v.publisher.key(kid); none == "" {
			return other, ""
		}
	}
	return key, fault
}

// mirror compares the members that stand in the payload and in the attestation, as they are written (XP-INTEGRITY-007). Only expires_at may be missing: from
// the attestation of any document, and from both places of a list.
func (d *document) mirror() Finding {
	if !d.signed {
		return found("not_applicable", "")
	}
	for _, pair := range [...]struct{ payload, block, fault string }{
		{"signing_kid", "kid", "kid_differs"}, {"signed_at", "signed_at", "signed_at_differs"},
		{d.keysName, "jwks_url", "keys_url_differs"}, {"expires_at", "expires_at", "expires_at_differs"},
	} {
		inside, outside := d.top.get(pair.payload), d.block.get(pair.block)
		if pair.block == "expires_at" && outside == nil && (inside != nil || d.kind == KindRevocations) {
			continue
		}
		if inside == nil || outside == nil || string(inside) != string(outside) {
			return found("mismatch", pair.fault)
		}
	}
	return found("ok", "")
}
