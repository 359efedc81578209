// What the findings of xpverify.js say to a person.

export const words = {
  signature: {
    valid: "The signature holds over these bytes under the key it names. It says who signed, not that the content is true.",
    no_attestation: "The manifest carries no attestation: nothing in it is signed.",
    malformed_attestation: "The attestation lacks a member or has one of another type.",
    unsupported_alg: "The attestation names an algorithm this page does not know.",
    bad_encoding: "Digest or signature is not base64url without padding, or has the wrong length.",
    digest_mismatch: "The stated digest is not the digest of this manifest: the bytes were changed.",
    signature_wrong: "The signature does not hold over the digest under the key it names.",
    key_unavailable: "The registry's keys could not be read, so the signature was not tested.",
    unknown_key: "The key it names is not in the registry's key set.",
    bad_key: "The key it names is no usable Ed25519 signing key.",
  },
  identity: {
    confirmed: "The signing key leads to the root you pinned.",
    no_pinned_root: "You pinned no root, so the keys vouch only for each other. Whoever forged this site could have made all of them.",
    unsigned: "Without a signature there is no key to bind to anybody.",
    no_publisher: "The manifest names no publisher.",
    other_publisher: "The manifest speaks for another publisher than the one of this page.",
    not_a_registry_key: "The manifest is not signed by a key of the registry.",
    not_a_signing_key: "The key has no role in which it could sign a manifest.",
    root_signs_entries_only: "The root signs registry keys and nothing else; it signed this manifest.",
    no_root_signature: "No root signed the registry key.",
    root_signature_wrong: "The root you pinned did not sign the registry key as it stands here.",
    root_unusable: "What you pinned is no usable Ed25519 key.",
    signed_at_unreadable: "The manifest does not say when it was signed.",
    registry_key_expired: "The registry key was past its not_after when it signed.",
    bad_key: "The registry key is no usable Ed25519 signing key.",
    keys_missing: "The registry's keys were not read.",
    keys_unavailable: "The registry's keys could not be had.",
    keys_malformed: "The registry's keys cannot be read, or a key is named twice.",
    net_refused: "The address of the registry's keys was refused.",
  },
  authority: {
    current: "The manifest has not expired and states when the authority of the business was proven.",
    document_expired: "The manifest has expired: what it says is not attested any more. Load it again.",
    proof_lapsed: "The proof of authority has lapsed.",
    expiry_not_stated: "The manifest does not state how long it may be relied on.",
    proof_in_future: "The proof of authority is dated in the future; look at your clock.",
    no_proof: "The manifest states that the authority of the business is not proven.",
    proof_not_stated: "The manifest does not say when authority was proven.",
  },
  revocation: {
    clean: "Neither list withdraws this manifest.",
    registry_key_revoked: "The registry withdrew the key that signed this manifest.",
    publisher_revoked: "The registry withdrew this publisher.",
    key_revoked: "The key that signed this was withdrawn.",
    tenant_revoked: "Everything this publisher signed was withdrawn.",
    digest_revoked: "Exactly this manifest was withdrawn.",
    unmatched_entries: "There are entries this page cannot match, and one of them may withdraw this manifest.",
    list_missing: "A revocation list was not read.",
    list_unavailable: "A revocation list could not be had. That does not mean that nothing was withdrawn.",
    net_refused: "The address of a revocation list was refused.",
    list_malformed: "A revocation list cannot be read.",
    list_of_other: "A revocation list does not speak for this publisher.",
    list_unsigned: "A revocation list is not signed, so it is no evidence.",
    list_mirror_mismatch: "The signed members of a revocation list differ from its attestation.",
    list_signature_wrong: "A revocation list is not signed by a key of this registry.",
    list_chain_broken: "The key of a revocation list does not lead to the root you pinned.",
    list_entry_forged: "An entry of a revocation list carries a signature that is not the root's.",
    list_signer_revoked: "The key of a revocation list is itself withdrawn.",
    list_stale: "A revocation list is older than it may be.",
    list_in_future: "A revocation list is dated in the future; look at your clock.",
  },
  mirror: {
    ok: "The members that stand inside and outside the signature agree.",
    not_applicable: "Nothing is signed, so there is nothing to compare.",
    kid_differs: "The key id inside the signature differs from the one outside, or one is missing.",
    signed_at_differs: "The time of signing inside the signature differs from the one outside, or one is missing.",
    keys_url_differs: "The address of the keys inside the signature differs from the one outside, or one is missing.",
    expires_at_differs: "The expiry inside the signature differs from the one outside, or it has none.",
  },
};

// sentence explains one finding.
export const sentence = (part, { value, reason }) => words[part][reason ?? value];

// weight says how a finding is drawn: holds, open (neither for nor against) or against.
export function weight({ value }) {
  if (["valid", "confirmed", "current", "clean", "ok"].includes(value)) return "holds";
  return ["invalid", "mismatch", "broken_chain", "expired", "revoked"].includes(value) ? "against" : "open";
}

// refusals explain why nothing could be judged at all.
export const refusals = {
  malformed: "What the server sent as the manifest is no JSON document of this protocol.",
  unsupported_format: "The manifest states a version of the protocol this page does not know.",
  not_a_manifest: "What the server sent as the manifest is another document.",
  no_root_key: "What you pasted is neither the public JWK of an Ed25519 key nor 43 characters of base64url.",
  private_key: "What you pasted holds a private key. Do not paste it anywhere: pin the public JWK.",
};
