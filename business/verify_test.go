package business_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/jwk"
)

// XP-INTEGRITY-001: no changed byte of the payload leaves the signature valid, wherever it stands and whatever it becomes.
func TestEveryByteOfThePayloadCounts(t *testing.T) {
	for _, document := range []string{goodEnvelope, goodManifest} {
		end := strings.Index(document, `,"attestation":`)
		e := goodEvidence()
		e.Revocations, e.PublisherList = nil, nil
		for i := range end {
			for _, x := range []byte{0x01, 0x20, document[i] ^ ' '} {
				changed := []byte(document)
				if changed[i] ^= x; changed[i] == document[i] {
					continue
				}
				v, err := business.Verify(changed, e)
				if err != nil {
					asFormatError(t, err)
					continue
				}
				if v.Signature.Value == "valid" || v.Usable.Value != "no" {
					t.Fatalf("byte %d, %q became %q: signature %s", i, document[i], changed[i], v.Signature.Value)
				}
			}
		}
	}
}

// And what is only spelled differently is the same document.
func TestSpellingDoesNotCount(t *testing.T) {
	var spaced bytes.Buffer
	for _, c := range goodEnvelope {
		spaced.WriteRune(c)
		if c == ',' && !strings.HasSuffix(spaced.String(), `\,`) {
			spaced.WriteString("\n  ")
		}
	}
	escaped := strings.ReplaceAll(goodEnvelope, `"tool"`, `"\u0074ool"`)
	for _, document := range []string{spaced.String(), escaped, " " + goodEnvelope + "\r\n"} {
		if v := judge(t, document, goodEvidence()); v.Signature.Value != "valid" || v.Usable.Value != "yes" {
			t.Errorf("%+v: %s", v, document)
		}
	}
}

func TestPolicy(t *testing.T) {
	e := goodEvidence()
	e.Root = nil
	e.PublisherList = nil
	for _, c := range []struct {
		unknown, unlisted bool
		reason            string
	}{
		{false, false, "identity_unconfirmed,revocation_not_checked"}, {true, false, "revocation_not_checked"}, {false, true, "identity_unconfirmed"}, {true, true, ""},
	} {
		e.AcceptUnknown, e.AcceptUnlisted = c.unknown, c.unlisted
		v := judge(t, goodEnvelope, e)
		if v.Usable.Reason != c.reason || (v.Usable.Value == "yes") != (c.reason == "") || v.Identity.Value != "unconfirmed" || v.Revocation.Value != "not_checked" {
			t.Errorf("%+v: %+v", c, v)
		}
	}
	// No policy excuses what is known to be wrong.
	e = goodEvidence()
	e.AcceptUnknown, e.AcceptUnlisted, e.Publisher = true, true, slugB
	if v := judge(t, goodEnvelope, e); v.Usable.Reason != "identity_mismatch" {
		t.Errorf("%+v", v.Usable)
	}
}

// XP-INTEGRITY-009: the finding says as of when, and that is when the older list was issued.
func TestRevocationSaysAsOfWhen(t *testing.T) {
	e := goodEvidence()
	e.PublisherList = fetched(signedList(slugA, registry2, issuedAt.Add(-time.Minute)))
	if v := judge(t, goodEnvelope, e); !v.Revocation.AsOf.Equal(issuedAt.Add(-time.Minute)) || v.Revocation.Value != "clean" {
		t.Errorf("%+v", v.Revocation)
	}
	e.Revocations, e.PublisherList = nil, nil
	if v := judge(t, goodEnvelope, e); !v.Revocation.AsOf.IsZero() {
		t.Errorf("no list, and yet %+v", v.Revocation)
	}
}

// XP-INTEGRITY-006: a reader that looked for nothing learns that the bytes are unproven, not that the chain is broken.
func TestNothingLookedFor(t *testing.T) {
	v := judge(t, goodEnvelope, business.Evidence{At: readAt})
	if v.Signature.Value != "unsupported" || v.Signature.Reason != "key_unavailable" || v.Identity.Value != "unconfirmed" || v.Identity.Reason != "keys_missing" || v.Revocation.Value != "not_checked" || v.Usable.Value != "no" {
		t.Errorf("%+v", v)
	}
	v = judge(t, goodEnvelope, business.Evidence{At: readAt, PublisherKeys: fetched(goodKeysA())})
	if v.Signature.Value != "valid" || v.Identity.Value != "unconfirmed" || v.Usable.Value != "no" {
		t.Errorf("only the publisher's keys: %+v", v)
	}
	e := goodEvidence()
	e.Root = &business.Root{Kid: "test-root", Public: make([]byte, 32)}
	if v := judge(t, goodEnvelope, e); v.Identity.Value != "broken_chain" || v.Identity.Reason != "root_unusable" {
		t.Errorf("a root of small order: %+v", v.Identity)
	}
	e.Root = &business.Root{Kid: rootKey.Kid(), Public: publicOf(forgerRoot)}
	if v := judge(t, goodEnvelope, e); v.Identity.Reason != "root_signature_wrong" {
		t.Errorf("XP-INTEGRITY-015: the kid of a root counts: %+v", v.Identity)
	}
}

func TestVerifyRefusesOtherTexts(t *testing.T) {
	for text, code := range map[string]string{
		"": business.CodeMalformed, "[]": business.CodeMalformed, "null": business.CodeMalformed, "{}": business.CodeUnsupported, `{"keys":[]}`: business.CodeUnsupported,
		`{"coverage":{"status":"partial","unresolved":null}}`: business.CodeMalformed, strings.Repeat("[", 65): business.CodeMalformed, "\xff": business.CodeMalformed,
		`{"coverage":null}`: business.CodeUnsupported, `{"tool":"search"}`: business.CodeUnsupported,
		editOnce(manifestA, `"protocol_x_version":"1.0",`, ""): business.CodeUnsupported, editOnce(manifestA, `"protocol_x_version":"1.0"`, `"protocol_x_version":1.0`): business.CodeUnsupported,
	} {
		_, err := business.Verify([]byte(text), goodEvidence())
		if e := asFormatError(t, err); e.Code != code || e.Message == "" {
			t.Errorf("%q: %+v", text, e)
		}
	}
	// A document of the protocol that nobody signs is named as such.
	v := judge(t, `{"protocol_x_version":"1.0","publisher":{"tenant":"harbour-optics"}}`, goodEvidence())
	if v.Kind != business.KindUnknown || v.Publisher != slugA || v.Signature.Value != "absent" || v.Usable.Value != "no" {
		t.Errorf("%+v", v)
	}
}

func TestVerifyList(t *testing.T) {
	e := goodEvidence()
	entries := []business.RevocationEntry{withdrawal(business.ScopeKey, keyA.Kid()), withdrawal(business.ScopeTenant, "")}
	l, f := business.VerifyList([]byte(signedList(slugA, registry2, issuedAt, entries...)), slugA, e)
	if f.Value != "verified" || !f.AsOf.Equal(issuedAt) || l.Publisher != slugA || l.Kid != registry2.Kid() || l.MaxAge != 900*time.Second || asJSON(l.Entries) != asJSON(entries) {
		t.Errorf("%+v %+v", l, f)
	}
	key := rootSigned(withdrawal(business.ScopeRegistryKey, registry1.Kid()))
	l, f = business.VerifyList([]byte(signedList("", registry2, issuedAt, key)), "", e)
	if f.Value != "verified" || asJSON(l.Entries) != asJSON([]business.RevocationEntry{key}) {
		t.Errorf("%+v %+v", l, f)
	}
	l, f = business.VerifyList([]byte(signedList(slugA, registry2, issuedAt.Add(-time.Hour), entries...)), slugA, e)
	if f.Value != "stale" || f.Reason != "list_stale" || len(l.Entries) != 2 {
		t.Errorf("%+v %+v", l, f)
	}
	e.Revocations = fetched(signedList("", registry2, issuedAt, key))
	for name, document := range map[string]string{
		"list_of_other": signedList(slugB, registry2, issuedAt), "list_signature_wrong": signedList(slugA, keyA, issuedAt), "list_unsigned": unattested(signedList(slugA, registry2, issuedAt)),
		"list_signer_revoked": signedList(slugA, registry1, issuedAt), "list_malformed": "<html>",
	} {
		if l, f := business.VerifyList([]byte(document), slugA, e); l != nil || f.Value != "unverifiable" || f.Reason != name {
			t.Errorf("%s: %+v %+v", name, l, f)
		}
	}
	for _, wrong := range []string{`"max_age_seconds":900.0`, `"max_age_seconds":-1`, `"max_age_seconds":"900"`, `"other":1`} {
		unsigned := editOnce(`{"registry":"x-protocol/v1","publisher":"harbour-optics","issued_at":"2026-11-30T12:04:00Z","max_age_seconds":900,"entries":[]}`, `"max_age_seconds":900`, wrong)
		if _, f := business.VerifyList([]byte(signWith(unsigned, registry2, "registry_keys_url", keysURL, issuedAt, time.Time{})), slugA, e); f.Reason != "list_malformed" {
			t.Errorf("%s: %+v", wrong, f)
		}
	}
}

// The registry's list is evidence of what it withdraws, its own signer included.
func TestVerifyOfTheRegistryList(t *testing.T) {
	e := goodEvidence()
	e.Revocations = nil
	v := judge(t, signedList("", registry2, issuedAt), e)
	if v.Kind != business.KindRevocations || v.Revocation.Value != "clean" || v.Identity.Value != "confirmed" || v.Authority.Value != "current" || v.Usable.Value != "yes" {
		t.Errorf("%+v", v)
	}
	if v = judge(t, ownSignerWithdrawn(), e); v.Usable.Value != "no" || v.Revocation.Reason != "list_signer_revoked" {
		t.Errorf("%+v", v)
	}
	e.At = issuedAt.Add(901 * time.Second)
	if v = judge(t, signedList("", registry2, issuedAt), e); v.Authority.Value != "expired" || v.Revocation.Value != "not_checked" {
		t.Errorf("%+v", v)
	}
}

// Keys a reader must not use, whatever signed with them.
func TestUnusableKeys(t *testing.T) {
	good := goodKeysA()
	for name, keys := range map[string]string{
		"encryption key": strings.ReplaceAll(good, `"use":"sig"`, `"use":"enc"`), "other alg": strings.ReplaceAll(good, `"alg":"EdDSA","use"`, `"alg":"ES256","use"`),
		"other type": strings.ReplaceAll(good, `"OKP"`, `"EC"`), "small order": strings.Replace(good, jwk.EncodeBase64URL(publicOf(keyA)), strings.Repeat("A", 43), 1),
		"padded": strings.Replace(good, jwk.EncodeBase64URL(publicOf(keyA)), jwk.EncodeBase64URL(publicOf(keyA))+"=", 1),
	} {
		e := goodEvidence()
		e.PublisherKeys = fetched(keys)
		if v := judge(t, goodEnvelope, e); v.Signature.Reason != "bad_key" || v.Identity.Value != "broken_chain" {
			t.Errorf("%s: %+v %+v", name, v.Signature, v.Identity)
		}
	}
}

// A fetcher's refusal is found however deep it is wrapped, and stays apart from other failures.
func TestRefusedByThePolicy(t *testing.T) {
	e := goodEvidence()
	e.RegistryKeys = &business.Fetched{Err: fmt.Errorf("hop 2: %w", business.ErrNetRefused)}
	if v := judge(t, goodManifest, e); v.Identity.Reason != "net_refused" || v.Signature.Value != "unsupported" {
		t.Errorf("%+v", v)
	}
	e.RegistryKeys = &business.Fetched{Err: errors.New("timeout")}
	if v := judge(t, goodManifest, e); v.Identity.Reason != "keys_unavailable" {
		t.Errorf("%+v", v.Identity)
	}
}

// The time of a verification grows with the entries it reads, not faster: a list of ten thousand is judged, and finds the one that counts.
func TestManyEntries(t *testing.T) {
	entries := make([]business.RevocationEntry, 10_000)
	for i := range entries {
		entries[i] = withdrawal(business.ScopeEntity, fmt.Sprintf("service/%d", i))
	}
	entries = append(entries, withdrawal(business.ScopeKey, keyA.Kid()))
	e := goodEvidence()
	e.PublisherList = fetched(signedList(slugA, registry2, issuedAt, entries...))
	if v := judge(t, goodEnvelope, e); v.Revocation.Reason != "key_revoked" {
		t.Errorf("%+v", v.Revocation)
	}
}

// XP-INTEGRITY-013: a call without arguments is answered by {}, and by nothing that states one.
func TestXP_INTEGRITY_013_NoArguments(t *testing.T) {
	const stated = `"arguments":{"query":"laser surgery","radius_km":50.0},`
	for echo, sent := range map[string]map[string]string{
		`"arguments":{},`:            {"": "match", "null": "match", " { } ": "match", `{"a":1}`: "mismatch"},
		`"arguments":null,`:          {"": "match", "{}": "match", `{"a":null}`: "mismatch"},
		``:                           {"": "match", "null": "match", `{"a":1}`: "mismatch"},
		`"arguments":[],`:            {"": "mismatch"},
		`"arguments":{"a":null},`:    {"": "mismatch", `{"a":null}`: "match"},
		`"arguments":{"a":1.0},`:     {`{"a":1}`: "mismatch", `{"a":1.0}`: "match"},
		`"arguments":{"a":1,"b":2},`: {`{"b":2,"a":1}`: "match", `{"a":1,"a":1,"b":2}`: "mismatch"},
	} {
		document := signEnvelope(editOnce(answerA, stated, echo), keyA)
		for arguments, want := range sent {
			e := goodEvidence()
			e.Call = &business.Call{Tool: "search", Arguments: []byte(arguments)}
			if v := judge(t, document, e); v.Call.Value != want || v.Signature.Value != "valid" {
				t.Errorf("%s for %s: %+v", echo, arguments, v.Call)
			}
		}
	}
}

// What is stated about authority is read member by member, and an end that has come is past.
func TestAuthorityReadings(t *testing.T) {
	const proven, until = `"authority_verified_at":"2026-11-01T09:00:00Z",`, `"valid_until":"2027-01-30T09:00:00Z"`
	ending := func(at time.Time) string { return `"valid_until":"` + at.UTC().Format(time.RFC3339Nano) + `"` }
	provenAt := func(at time.Time) string {
		return `"authority_verified_at":"` + at.UTC().Format(time.RFC3339Nano) + `",`
	}
	for _, c := range []struct{ old, new, want string }{
		{until, ending(readAt.Add(time.Nanosecond)), "current"},
		{until, ending(readAt), "expired proof_lapsed"},
		{until, `"valid_until":""`, "current"},
		{proven, provenAt(readAt.Add(business.ReaderSkew)), "current"},
		{proven, provenAt(readAt.Add(business.ReaderSkew + time.Nanosecond)), "not_proven proof_in_future"},
		{proven, "", "current"}, // host, method and end are stated
		{proven + ` | "verified_host":"optics.example",`, "", "not_stated proof_not_stated"},
		{proven + ` | ,"method":"dns_txt"`, "", "not_stated proof_not_stated"},
		{proven + ` | ,` + until, "", "not_stated proof_not_stated"},
		{proven + ` | "domain_verified":true,`, "", "not_stated proof_not_stated"},
		{proven + ` | "website_verified":true,`, "", "current"},
	} {
		document := manifestA
		for _, old := range strings.Split(c.old, " | ") {
			document = editOnce(document, old, c.new)
		}
		for _, signed := range []bool{true, false} {
			text := document
			if signed {
				text = signManifest(document, registry1)
			}
			if f := judge(t, text, goodEvidence()).Authority; strings.TrimSpace(f.Value+" "+f.Reason) != c.want {
				t.Errorf("%s -> %s, signed %t: %+v", c.old, c.new, signed, f)
			}
		}
	}
	for _, denied := range []string{"website_verified", "domain_verified"} {
		document := editOnce(editOnce(manifestA, proven, ""), `"`+denied+`":true`, `"`+denied+`":false`)
		document = editOnce(document, `,"verified_host":"optics.example"`, "")
		if f := judge(t, document, goodEvidence()).Authority; f.Value != "not_proven" || f.Reason != "no_proof" {
			t.Errorf("%s false: %+v", denied, f)
		}
	}
	expired := unattested(signManifest(manifestA, registry1))
	e := goodEvidence()
	e.At = expiresAt
	if f := judge(t, expired, e).Authority; f.Reason != "document_expired" {
		t.Errorf("an unsigned document that states its end: %+v", f)
	}
	e.At = expiresAt.Add(-time.Nanosecond)
	if f := judge(t, expired, e).Authority; f.Value != "current" {
		t.Errorf("before its end: %+v", f)
	}
	for age, want := range map[time.Duration]string{business.MaxRevocationAge * time.Second: "current", business.MaxRevocationAge*time.Second + 1: "expired"} {
		e.At = issuedAt.Add(age)
		if v := judge(t, signedList(slugA, registry2, issuedAt), e); v.Authority.Value != want {
			t.Errorf("a list of %v: %+v", age, v.Authority)
		}
	}
}

// A withdrawn registry key can date its attestations back, because their time is not signed: the document's own time counts as well.
func TestWithdrawnKeyCannotDateItsAttestationBack(t *testing.T) {
	attested := memberOf(goodKeysA(), "signed_at")
	for _, c := range []struct{ from, until, want string }{
		{"2026-11-30T11:00:00Z", "", "broken_chain"}, // after the attestation, before the document
		{"", attested, "broken_chain"},               // the attestation only
		{"2026-11-30T12:00:01Z", "", "confirmed"},    // after both
		{"2026-10-01T00:00:00Z", "2026-10-02T00:00:00Z", "confirmed"},
	} {
		e := goodEvidence()
		e.Revocations = fetched(signedList("", registry2, issuedAt, rootSigned(withinWindow(withdrawal(business.ScopeRegistryKey, registry1.Kid()), c.from, c.until))))
		if f := judge(t, goodEnvelope, e).Identity; f.Value != c.want || f.Value == "broken_chain" && f.Reason != "registry_key_revoked" {
			t.Errorf("from %q until %q: %+v", c.from, c.until, f)
		}
	}
	e := goodEvidence()
	for at, want := range map[string]string{"": "registry_key_revoked", "soon": "registry_key_revoked", "2028-01-01T00:00:00Z": "registry_key_expired", attested: ""} {
		e.Revocations = fetched(signedList("", registry2, issuedAt, rootSigned(withinWindow(withdrawal(business.ScopeRegistryKey, registry1.Kid()), "2026-10-01T00:00:00Z", "2026-10-02T00:00:00Z"))))
		e.PublisherKeys = fetched(changeMember(goodKeysA(), "signed_at", setTo(at)))
		if f := judge(t, goodEnvelope, e).Identity; f.Reason != want {
			t.Errorf("attested at %q: %+v", at, f)
		}
	}
}

// A list that names nobody is the registry's: it is no list of a document that names nobody either.
func TestListOfNobody(t *testing.T) {
	e := goodEvidence()
	e.PublisherList = fetched(signedList("", registry2, issuedAt))
	v := judge(t, signEnvelope(editOnce(answerA, `"tenant":"harbour-optics",`, ""), keyA), e)
	if v.Revocation.Value != "not_checked" || v.Revocation.Reason != "list_of_other" || v.Identity.Reason != "no_publisher" {
		t.Errorf("%+v %+v", v.Revocation, v.Identity)
	}
}

func TestFirstFaultyListIsNamed(t *testing.T) {
	e := goodEvidence()
	e.Revocations, e.PublisherList = nil, &business.Fetched{Err: errors.New("gone")}
	if f := judge(t, goodEnvelope, e).Revocation; f.Value != "not_checked" || f.Reason != "list_missing" {
		t.Errorf("%+v", f)
	}
}

// A manifest that a publisher signed is right as bytes; a list that one signed proves nothing at all.
func TestListSignedByAPublisher(t *testing.T) {
	list := signWith(`{"registry":"x-protocol/v1","publisher":"harbour-optics","issued_at":"2026-11-30T12:04:00Z","max_age_seconds":900,"entries":[]}`, keyA, "registry_keys_url", keysURL, issuedAt, time.Time{})
	if v := judge(t, list, goodEvidence()); v.Signature.Value != "invalid" || v.Signature.Reason != "unknown_key" || v.Identity.Reason != "not_a_registry_key" || v.Usable.Value != "no" {
		t.Errorf("%+v", v)
	}
}

// XP-INTEGRITY-007: what a document lacks cannot agree; only a list has no end of its own.
func TestXP_INTEGRITY_007_NoEnd(t *testing.T) {
	endless := signWith(answerA, keyA, "jwks_url", urlA, signedAt, time.Time{})
	if v := judge(t, endless, goodEvidence()); v.Mirror.Reason != "expires_at_differs" || v.Authority.Reason != "expiry_not_stated" || v.Signature.Value != "valid" || v.Usable.Value != "no" {
		t.Errorf("%+v", v)
	}
	if v := judge(t, signedList(slugA, registry2, issuedAt), goodEvidence()); v.Mirror.Value != "ok" {
		t.Errorf("%+v", v.Mirror)
	}
}
