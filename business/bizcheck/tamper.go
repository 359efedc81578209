package bizcheck

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/jcs"
	"sayso/jwk"
)

// forged is one altered copy: the answer, and what a reader would hold beside it.
type forged struct {
	document []byte
	evidence business.Evidence
}

// forgery is one way to alter a served answer, or what surrounds it, without a key.
type forgery struct {
	rule, what string
	// alter changes a copy; false says that the answer has nothing of the kind.
	alter func(f *forged) bool
	// noticed reports whether a verification of the copy shows what was done.
	noticed func(v *business.Verdict, err error) bool
}

// The findings by which a reader notices.
func signatureFails(v *business.Verdict, err error) bool {
	return err != nil || v.Signature.Value == "invalid" || v.Signature.Value == "unsupported" || v.Signature.Value == "absent"
}
func mirrorFails(v *business.Verdict, err error) bool {
	return err != nil || v.Mirror.Value == "mismatch"
}
func identityFails(v *business.Verdict, err error) bool {
	return err != nil || v.Identity.Value == "mismatch" || v.Identity.Value == "broken_chain"
}
func listFails(v *business.Verdict, err error) bool {
	return err != nil || v.Revocation.Value != "clean"
}
func callFails(v *business.Verdict, err error) bool { return err != nil || v.Call.Value == "mismatch" }
func isRefused(_ *business.Verdict, err error) bool { return err != nil }

// forgeries are the kinds of tampering of the list T01 to T55 that need no key of the registry's or the publisher's.
var forgeries = []forgery{
	{"XP-INTEGRITY-001", "another result", setTo(`{"records":[],"forged":true}`, "result"), signatureFails},
	{"XP-INTEGRITY-001", "another digest", setTo(quoted(jwk.EncodeBase64URL(make([]byte, 32))), "attestation", "digest"), signatureFails},
	{"XP-INTEGRITY-001", "a longer expires_at", move(time.Hour, "expires_at"), signatureFails},
	{"XP-INTEGRITY-001", "no attestation", func(f *forged) bool {
		f.document = withoutMember(f.document, "attestation")
		return true
	}, signatureFails},
	{"XP-INTEGRITY-001", "the algorithm none", setTo(`"none"`, "attestation", "alg"), signatureFails},
	{"XP-INTEGRITY-001", "a further member", setTo(`true`, "forged"), signatureFails},
	{"XP-INTEGRITY-001", "another echo", setTo(`{"query":"another question"}`, "arguments"), signatureFails},
	{"XP-INTEGRITY-001", "another tenant", setTo(`"forged"`, "publisher", "tenant"), signatureFails},
	{"XP-INTEGRITY-002", "a padded signature", recode(func(s string) string { return s + "==" }), signatureFails},
	{"XP-INTEGRITY-002", "a signature in the other base64 alphabet", recode(strings.NewReplacer("-", "+", "_", "/").Replace), signatureFails},
	{"XP-INTEGRITY-007", "a moved attestation.signed_at", move(time.Second, "attestation", "signed_at"), mirrorFails},
	{"XP-INTEGRITY-007", "another attestation.kid", setTo(`"forged"`, "attestation", "kid"), mirrorFails},
	{"XP-INTEGRITY-007", "another attestation.jwks_url", setTo(`"https://forged.invalid/jwks.json"`, "attestation", "jwks_url"), mirrorFails},
	{"XP-INTEGRITY-007", "a longer attestation.expires_at", move(time.Hour, "attestation", "expires_at"), mirrorFails},
	{"XP-INTEGRITY-014", "the answer in the name of another publisher", func(f *forged) bool {
		f.evidence.Publisher = "forged"
		return true
	}, identityFails},
	{"XP-INTEGRITY-006", "keys without the registry's attestation", ofKeys(func(k []byte) []byte { return withoutMember(k, "x_protocol_attestation") }), identityFails},
	{"XP-INTEGRITY-006", "keys with an earlier key_created_at", ofKeys(setIn(`"2001-01-01T00:00:00Z"`, "x_protocol_attestation", "key_created_at")), identityFails},
	{"XP-INTEGRITY-006", "keys attested by an unknown registry key", ofKeys(setIn(`"forged"`, "x_protocol_attestation", "registry_kid")), identityFails},
	{"XP-INTEGRITY-006", "registry keys without the root's signature", ofRegistryKeys(func(k []byte) []byte { return withoutMember(k, "root_signature") }), identityFails},
	{"XP-INTEGRITY-006", "registry keys in another role", ofRegistryKeys(setIn(`"root"`, "role")), identityFails},
	{"XP-INTEGRITY-010", "no list", ofList(func(*business.Fetched) *business.Fetched { return &business.Fetched{Err: errors.New("unavailable")} }), listFails},
	{"XP-INTEGRITY-010", "a list of another moment", ofList(fetchedWith(func(l []byte) []byte { return replaced(l, quoted("2001-01-01T00:00:00Z"), "issued_at") })), listFails},
	{"XP-INTEGRITY-010", "an unsigned list", ofList(fetchedWith(func(l []byte) []byte { return withoutMember(l, "attestation") })), listFails},
	{"XP-INTEGRITY-010", "the registry's list in the place of the publisher's", func(f *forged) bool {
		f.evidence.PublisherList = f.evidence.Revocations
		return f.evidence.Revocations != nil
	}, listFails},
	{"XP-INTEGRITY-013", "the answer to another question", asIf(business.Call{Arguments: []byte(`{"query":"another question"}`)}), callFails},
	{"XP-INTEGRITY-013", "the answer of another tool", asIf(business.Call{Tool: "forged"}), callFails},
	{"XP-FRESHNESS-004", "the answer after its expires_at", func(f *forged) bool {
		o, _ := objectOf(f.document)
		until, ok := o.time("expires_at")
		f.evidence.At = until.Add(time.Second)
		return ok
	}, func(v *business.Verdict, err error) bool { return err != nil || v.Authority.Value == "expired" }},
	{"XP-COVERAGE-010", "a fifth status", setTo(`"maybe"`, "coverage", "status"), isRefused},
	{"XP-COVERAGE-010", "another version", setTo(`"2.0"`, "protocol_x_version"), isRefused},
	{"XP-COVERAGE-010", "a member that stands twice", func(f *forged) bool {
		f.document = append(slices.Clone(f.document[:len(f.document)-1]), `,"result":{}}`...)
		return true
	}, isRefused},
	{"XP-COVERAGE-001", "a gap beside resolved", setTo(`[{"text":"forged"}]`, "coverage", "unresolved"), signatureFails},
}

// checkTampered alters an answer that verifies in every way of the table and looks whether verify notices. That it does shows that the answer has the form in
// which tampering is noticed: everything is under one digest, the copies are there, the chain and the lists carry weight. It shows nothing about other readers.
func (c *recorder) checkTampered(place string, document []byte, e business.Evidence, verify func([]byte, business.Evidence) (*business.Verdict, error)) {
	base, err := verify(document, e)
	if err != nil || base.Signature.Value != "valid" {
		return
	}
	tried := map[string][]string{}
	for _, one := range forgeries {
		f := forged{slices.Clone(document), e}
		// What is noticed already shows nothing about the copy.
		if one.noticed(base, nil) || !one.alter(&f) {
			continue
		}
		if v, err := verify(f.document, f.evidence); one.noticed(v, err) {
			tried[one.rule] = append(tried[one.rule], one.what)
		} else {
			c.fail(one.rule, place, "an altered copy of this answer passes unnoticed: "+one.what, "sign the whole answer, repeat signed_at, signing_kid, expires_at and the keys URL in it, and serve keys and lists signed")
		}
	}
	for _, rule := range rules {
		if what := tried[rule.id]; what != nil {
			c.note(rule.id, place, fmt.Sprintf("copies that this check altered (%s) do not pass its own verification: the answer has a form in which tampering shows, to readers that verify it", strings.Join(what, ", ")))
		}
	}
}

// replaced sets the member at a path, in its place. It returns nil where a member on the way is no object or the text would stay as it is.
func replaced(document []byte, value string, path ...string) []byte {
	if len(path) == 0 {
		if bytes.Equal(document, []byte(value)) {
			return nil
		}
		return []byte(value)
	}
	members, err := business.Members(document)
	if err != nil {
		return nil
	}
	var old jcs.Raw
	for _, m := range members {
		if m.Name == path[0] {
			old = m.Value
		}
	}
	inner := replaced(old, value, path[1:]...)
	if inner == nil {
		return nil
	}
	return withMember(document, path[0], inner)
}

// setTo alters one member of the answer.
func setTo(value string, path ...string) func(*forged) bool {
	return func(f *forged) bool {
		f.document = replaced(f.document, value, path...)
		return f.document != nil
	}
}

func setIn(value string, path ...string) func([]byte) []byte {
	return func(document []byte) []byte { return replaced(document, value, path...) }
}

// textAt is the text of a member of the answer.
func textAt(document []byte, path ...string) string {
	o, _ := objectOf(document)
	for _, name := range path[:len(path)-1] {
		o = o.object(name)
	}
	return o.text(path[len(path)-1])
}

// move alters a time.
func move(by time.Duration, path ...string) func(*forged) bool {
	return func(f *forged) bool {
		t, err := time.Parse(time.RFC3339Nano, textAt(f.document, path...))
		return err == nil && setTo(quoted(t.Add(by).Format(time.RFC3339Nano)), path...)(f)
	}
}

// recode writes the signature in another encoding of the same bytes.
func recode(encode func(string) string) func(*forged) bool {
	return func(f *forged) bool {
		return setTo(quoted(encode(textAt(f.document, "attestation", "signature"))), "attestation", "signature")(f)
	}
}

// asIf takes the answer for one to another call; what the other leaves out stays.
func asIf(other business.Call) func(*forged) bool {
	return func(f *forged) bool {
		if f.evidence.Call == nil {
			return false
		}
		call := *f.evidence.Call
		if other.Tool != "" {
			call.Tool = other.Tool
		}
		if other.Arguments != nil {
			call.Arguments = other.Arguments
		}
		f.evidence.Call = &call
		return true
	}
}

// fetchedWith alters a document that was fetched; nil where it cannot be.
func fetchedWith(change func([]byte) []byte) func(*business.Fetched) *business.Fetched {
	return func(was *business.Fetched) *business.Fetched {
		body := change(was.Body)
		if body == nil {
			return nil
		}
		return &business.Fetched{Body: body, At: was.At}
	}
}

// ofList alters the publisher's revocation list.
func ofList(change func(*business.Fetched) *business.Fetched) func(*forged) bool {
	return func(f *forged) bool { return exchange(&f.evidence.PublisherList, change) }
}

// ofKeys alters each key of the publisher's.
func ofKeys(change func(key []byte) []byte) func(*forged) bool {
	return func(f *forged) bool { return exchange(&f.evidence.PublisherKeys, fetchedWith(each(change))) }
}

// ofRegistryKeys alters each registry key, which shows only to who pins the root.
func ofRegistryKeys(change func(key []byte) []byte) func(*forged) bool {
	return func(f *forged) bool {
		return f.evidence.Root != nil && exchange(&f.evidence.RegistryKeys, fetchedWith(each(change)))
	}
}

func exchange(document **business.Fetched, change func(*business.Fetched) *business.Fetched) bool {
	if *document == nil || (*document).Err != nil {
		return false
	}
	*document = change(*document)
	return *document != nil
}

// each alters every element of the member keys, as far as it can be.
func each(change func(key []byte) []byte) func([]byte) []byte {
	return func(document []byte) []byte {
		o, _ := objectOf(document)
		list, ok := o.list("keys")
		if !ok {
			return nil
		}
		out := []byte{'['}
		for i, key := range list {
			if i > 0 {
				out = append(out, ',')
			}
			if other := change(key); other != nil {
				key = other
			}
			out = append(out, key...)
		}
		return replaced(document, string(append(out, ']')), "keys")
	}
}
