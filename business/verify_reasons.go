package business

import "strings"

// found makes a finding with the sentence of its reason, or of its value when nothing needs a reason.
func found(value, reason string) Finding {
	return Finding{Value: value, Reason: reason, Message: sentence(value, reason)}
}

// verdictOf makes the last finding from everything that speaks against using the document.
func verdictOf(against []string) Finding {
	if len(against) == 0 {
		return found("yes", "")
	}
	words := make([]string, len(against))
	for i, code := range against {
		words[i] = usability[code]
	}
	return Finding{Value: "no", Reason: strings.Join(against, ","), Message: "do not act on this document: " + strings.Join(words, "; ")}
}

func sentence(value, reason string) string {
	if reason != "" {
		return sentences[reason]
	}
	return sentences[value]
}

// sentences explains every reason, and every value that needs none. They hold no text from outside.
var sentences = map[string]string{
	"valid":          "the signature holds over these bytes under the key it names; that says who signed, not that the content is true",
	"confirmed":      "the key leads to the pinned root and may speak for this publisher",
	"current":        "the document has not expired and states when the publisher's authority was proven",
	"clean":          "no list withdraws this document, as of the time the older list was issued",
	"match":          "the document answers the call that was sent",
	"not_applicable": "there is nothing to compare here",
	"ok":             "the signed copies of the attestation's members agree with it",
	"yes":            "nothing speaks against relying on this document for what it says",
	"verified":       "the list is signed by a registry key and fresh",

	// Signature.
	"no_attestation":        "the document carries no attestation: nothing in it is signed",
	"unsigned_kind":         "nobody signs documents of this kind, so it cannot be called verified",
	"malformed_attestation": "the attestation lacks a member or has one of another type",
	"unsupported_alg":       "the attestation names an algorithm this reader does not know",
	"bad_encoding":          "digest or signature is not base64url without padding, or has the wrong length",
	"digest_mismatch":       "the stated digest is not the digest of this document",
	"signature_wrong":       "the signature does not hold over the digest under the key it names",
	"key_unavailable":       "the key set the signature needs could not be read, so the signature was not tested",
	"unknown_key":           "the key id is not in the key set",
	"bad_key":               "the key is no usable Ed25519 signing key",

	// Identity.
	"unsigned":                "without a signature there is no key to bind to anybody",
	"no_publisher":            "the document names no publisher",
	"other_publisher":         "the document speaks for another publisher than the one that was asked for",
	"attested_for_other":      "the key was attested for another publisher than the one the document speaks for",
	"no_pinned_root":          "no root is pinned, so the keys vouch only for each other",
	"keys_missing":            "a key set of the chain was not read",
	"keys_unavailable":        "a key set of the chain could not be had",
	"keys_malformed":          "a key set of the chain cannot be read, or names a key twice",
	"net_refused":             "the reader's network policy refused the address of a document it needed; no connection was made",
	"no_key_attestation":      "no registry attested this publisher key",
	"key_attestation_wrong":   "the registry's attestation does not hold over this publisher key",
	"unknown_registry_key":    "the registry key that attested the publisher key is not published",
	"not_a_registry_key":      "the document is not signed by a registry key",
	"not_a_signing_key":       "the registry key has no role in which it could sign this",
	"root_signs_entries_only": "the pinned root signs registry keys and nothing else",
	"no_root_signature":       "no root signed the registry key",
	"root_signature_wrong":    "the pinned root did not sign this registry key as it stands here",
	"root_unusable":           "the pinned root is no usable Ed25519 key; pin the root's public key again",
	"signed_at_unreadable":    "the document does not say when it was signed",
	"registry_key_expired":    "the registry key was past its not_after when it was used",

	// Mirrored members.
	"kid_differs":        "signing_kid in the document and kid in the attestation differ, or one is missing",
	"signed_at_differs":  "signed_at in the document and in the attestation differ, or one is missing",
	"keys_url_differs":   "the keys URL in the document and in the attestation differ, or one is missing",
	"expires_at_differs": "expires_at in the document and in the attestation differ, or the document has none",

	// Authority.
	"document_expired":  "the document has expired; what it says is not attested any more",
	"proof_lapsed":      "the proof of the publisher's authority has lapsed",
	"expiry_not_stated": "the document does not state how long it may be relied on",
	"proof_in_future":   "the proof of authority is dated in the future",
	"no_proof":          "the document states that the publisher's authority is not proven",
	"proof_not_stated":  "the document does not say when the publisher's authority was proven",

	// Revocation.
	"registry_key_revoked": "the registry withdrew a registry key this document depends on",
	"publisher_revoked":    "the registry withdrew this publisher",
	"key_revoked":          "the publisher key that signed this was withdrawn",
	"tenant_revoked":       "everything this publisher signed was withdrawn",
	"entity_revoked":       "a record in this document was withdrawn",
	"digest_revoked":       "exactly this document was withdrawn",
	"unmatched_entries":    "there are entries this reader cannot match, and one of them may withdraw this document",
	"list_missing":         "a revocation list was not read",
	"list_unavailable":     "a revocation list could not be had",
	"list_malformed":       "a revocation list cannot be read",
	"list_of_other":        "a revocation list does not name the publisher it was read for",
	"list_unsigned":        "a revocation list is not signed",
	"list_mirror_mismatch": "the signed members of a revocation list differ from its attestation",
	"list_signature_wrong": "a revocation list is not signed by a registry key this reader has",
	"list_chain_broken":    "the registry key of a revocation list does not lead to the pinned root",
	"list_entry_forged":    "an entry of a revocation list carries a signature that is not the root's",
	"list_signer_revoked":  "the registry key of a revocation list is itself withdrawn",
	"list_stale":           "a revocation list is older than it may be",
	"list_in_future":       "a revocation list is dated in the future",

	// Call.
	"answers_no_call": "a document of this kind answers no call",
	"other_tool":      "the answer names another tool than the one that was called",
	"other_arguments": "the answer names other arguments than those that were sent",
	"call_unreadable": "the arguments of the call are no JSON that could be compared",
}

// usability words the reasons of Verdict.Usable.
var usability = map[string]string{
	"signature_invalid":      "its signature does not hold",
	"signature_unsupported":  "its signature could not be tested",
	"signature_absent":       "it is not signed",
	"mirror_mismatch":        "its attestation contradicts it",
	"call_mismatch":          "it does not answer this call",
	"identity_unconfirmed":   "who signed it is not confirmed",
	"identity_mismatch":      "it is another publisher's",
	"identity_broken_chain":  "its key does not lead to the registry",
	"authority_expired":      "it or the proof behind it has expired",
	"revoked":                "it was withdrawn",
	"revocation_not_checked": "whether it was withdrawn is not known",
	"revocation_incomplete":  "whether it was withdrawn is not known in full",
	"signed_in_future":       "it claims to be signed in the future",
}
