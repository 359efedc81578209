package xpreader

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/jwk"
	"sayso/vectors"
)

// ours is what the package finds in a vector.
func ours(t *testing.T, v *vectors.Tamper, all map[string]vectors.TamperEvidence) vectors.TamperWant {
	t.Helper()
	at, err := time.Parse(time.RFC3339, v.At)
	if err != nil {
		t.Fatal(err)
	}
	get := func(name string) *business.Fetched {
		e := all[name]
		switch {
		case name == "":
			return nil
		case e.Error == "net_refused":
			return &business.Fetched{Err: business.ErrNetRefused}
		case e.Error != "":
			return &business.Fetched{Err: errors.New(e.Error)}
		}
		return &business.Fetched{Body: []byte(e.Document)}
	}
	e := business.Evidence{
		RegistryKeys: get(v.RegistryKeys), PublisherKeys: get(v.PublisherKeys), Revocations: get(v.Revocations), PublisherList: get(v.PublisherList),
		Publisher: v.Publisher, At: at, FutureSkew: business.ReaderSkew,
	}
	if v.Root != nil {
		key, err := jwk.DecodeBase64URL(*v.Root)
		if err != nil {
			t.Fatal(err)
		}
		e.Root = &business.Root{Public: key}
	}
	if v.Call != nil {
		e.Call = &business.Call{Tool: v.Call.Tool, Arguments: []byte(v.Call.Arguments)}
	}
	got, err := business.Verify([]byte(v.Document), e)
	var format *business.FormatError
	if errors.As(err, &format) {
		return vectors.TamperWant{Error: &vectors.TamperError{Code: format.Code, Rule: format.Rule}}
	}
	if err != nil {
		t.Fatal(err)
	}
	part := func(f business.Finding) *vectors.TamperFinding {
		return &vectors.TamperFinding{Value: f.Value, Reason: f.Reason, Count: f.Count}
	}
	return vectors.TamperWant{
		Kind: got.Kind, Signature: part(got.Signature), Identity: part(got.Identity), Authority: part(got.Authority), Revocation: part(got.Revocation),
		Call: part(got.Call), Mirror: part(got.Mirror), Usable: part(got.Usable),
	}
}

// values are what a member is replaced by: other types, odd times, odd texts. An empty text removes the member.
var values = []string{
	"", "null", "true", "false", "0", "-0", "1e400", "900", `""`, `"x"`, `"1.0"`, `"Ed25519"`, `"signing"`, "[]", "{}", `[{}]`, `{"type":"service","id":"x"}`,
	`"2026-11-30T12:00:00Z"`, `"2026-11-30T13:00:00.000000001+01:00"`, `"2026-11-30T12:00:00.1234567899Z"`, `"2026-11-30T12:00:00,5Z"`, `"2026-11-30t12:00:00z"`,
	`"2026-02-29T12:00:00Z"`, `"2026-11-30T24:00:00Z"`, `"2026-11-30T12:00:60Z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"2027-11-30T12:00:00Z"`,
	`"entity"`, `"registry_key"`, `"constructor"`, `"__proto__"`, `"harbour-optics"`, `"\u2028\u00e4\ud83d\ude00"`, `"service/laser%20surgery"`, `"a/%ff"`, `"a/%"`,
}

// mutate replaces one random member or element somewhere in a document.
func mutate(random *rand.Rand, document string) string {
	var tree any
	d := json.NewDecoder(strings.NewReader(document))
	d.UseNumber()
	if d.Decode(&tree) != nil {
		return document
	}
	places := 0
	visit(&tree, func(*any) { places++ })
	chosen, n := random.IntN(places), 0
	value := values[random.IntN(len(values))]
	visit(&tree, func(at *any) {
		if n == chosen {
			*at = json.RawMessage(value)
		}
		n++
	})
	return write(tree)
}

func write(tree any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(prune(tree)); err != nil {
		panic(err)
	}
	return out.String()
}

// visit calls f for every member and element, in a fixed order.
func visit(tree *any, f func(*any)) {
	switch node := (*tree).(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			inner := node[name]
			f(&inner)
			visit(&inner, f)
			node[name] = inner
		}
	case []any:
		for i := range node {
			f(&node[i])
			visit(&node[i], f)
		}
	}
}

// prune takes out what was replaced by nothing.
func prune(tree any) any {
	gone := func(v any) bool { raw, ok := v.(json.RawMessage); return ok && len(raw) == 0 }
	switch node := tree.(type) {
	case map[string]any:
		for name, inner := range node {
			if node[name] = prune(inner); gone(inner) {
				delete(node, name)
			}
		}
	case []any:
		node = slices.DeleteFunc(node, gone)
		for i := range node {
			node[i] = prune(node[i])
		}
		return node
	}
	return tree
}

// signAgain makes the attestation of a changed document fit it, with the test key its kid names, so that what lies behind the signature is reached.
func signAgain(document string) string {
	var top map[string]json.RawMessage
	var block map[string]any
	if json.Unmarshal([]byte(document), &top) != nil || json.Unmarshal(top["attestation"], &block) != nil || block == nil {
		return document
	}
	kid, _ := block["kid"].(string)
	key, ok := testKeys[kid]
	if !ok {
		return document
	}
	delete(top, "attestation")
	digest, err := business.Digest([]byte(write(any(top))))
	if err != nil {
		return document
	}
	block["digest"], block["signature"] = jwk.EncodeBase64URL(digest[:]), jwk.EncodeBase64URL(ed25519.Sign(key, digest[:]))
	top["attestation"] = json.RawMessage(write(any(block)))
	return write(any(top))
}

// testKeys are the keys of the vectors, made from one repeated byte, by kid.
var testKeys = func() map[string]ed25519.PrivateKey {
	keys := map[string]ed25519.PrivateKey{}
	for b, kid := range map[byte]string{2: "test-registry-1", 3: "test-registry-2", 4: "harbour-optics", 5: "harbour-optics", 6: "quay-books"} {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
		if b > 3 {
			kid = business.PublisherKid(kid, key.Public().(ed25519.PublicKey))
		}
		keys[kid] = key
	}
	return keys
}()

// TestNodeFindsTheSameInMutants compares the two readers on documents and evidence with one member replaced, signed again in half of the cases.
func TestNodeFindsTheSameInMutants(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 2026))
	all := vectors.TampersXP()
	evidence := vectors.TamperEvidenceXP()
	var mutants []vectors.Tamper
	for i := range 1500 {
		v := all[random.IntN(len(all))]
		which := []*string{&v.Document, &v.RegistryKeys, &v.PublisherKeys, &v.Revocations, &v.PublisherList}[min(random.IntN(8), 4)]
		text := v.Document
		if which != &v.Document {
			text = evidence[*which].Document
		}
		if text = mutate(random, text); random.IntN(2) == 0 {
			text = signAgain(text)
		}
		if which != &v.Document {
			e := vectors.TamperEvidence{Name: fmt.Sprint("mutant ", i), Document: text, Error: evidence[*which].Error}
			evidence[e.Name] = e
			text = e.Name
		}
		*which = text
		mutants = append(mutants, v)
	}
	valid := 0
	for i, got := range read(t, mutants, evidence) {
		want := ours(t, &mutants[i], evidence)
		if a, b := text(t, got), text(t, want); a != b {
			t.Errorf("%s, mutant %d:\nnode %s\nours %s\n%s", mutants[i].Name, i, a, b, text(t, []any{mutants[i].Document, evidence[mutants[i].RegistryKeys], evidence[mutants[i].PublisherKeys], evidence[mutants[i].Revocations], evidence[mutants[i].PublisherList]}))
		}
		if want.Signature != nil && want.Signature.Value == "valid" {
			valid++
		}
	}
	if valid < len(mutants)/4 {
		t.Errorf("only %d of %d mutants have a valid signature: most never reach what lies behind it", valid, len(mutants))
	}
}
