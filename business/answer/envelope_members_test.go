package answer_test

import (
	"flag"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

var updateEnvelope = flag.Bool("update-envelope", false, "write the golden member list of the envelope")

// signing are the members that business.SignDocument adds to an envelope.
var signing = []string{
	"signed_at", "expires_at", "signing_kid", "jwks_url", "attestation", "attestation.alg", "attestation.kid", "attestation.digest", "attestation.signature",
	"attestation.signed_at", "attestation.expires_at", "attestation.jwks_url",
}

// declared lists the members of a type by path, with true for those that stand in every object of it.
func declared(of reflect.Type, at string, members map[string]bool) {
	switch {
	case of == reflect.TypeFor[jcs.Raw]() || of == reflect.TypeFor[time.Time]():
	case of.Kind() == reflect.Pointer:
		declared(of.Elem(), at, members)
	case of.Kind() == reflect.Slice:
		declared(of.Elem(), at+"[]", members)
	case of.Kind() == reflect.Struct:
		for i := range of.NumField() {
			field := of.Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" { // embedded: its members are those of the outer object
				declared(field.Type, at, members)
				continue
			}
			members[at+"."+name] = options == ""
			declared(field.Type, at+"."+name, members)
		}
	}
}

// XP-VERSION-003: the members of an envelope under protocol_x_version 1.0. No required member may be added under this version. XP-VERSION-004: no envelope
// holds a null or a zero time. What the envelopes hold is held to the list.
func TestXP_VERSION_003_EnvelopeMembers(t *testing.T) {
	const file = "testdata/envelope-members-1.0.txt"
	members := map[string]bool{}
	declared(reflect.TypeFor[coverage.Envelope](), "envelope", members)
	for _, name := range signing {
		members["envelope."+name] = true
	}
	var list strings.Builder
	for _, path := range slices.Sorted(maps.Keys(members)) {
		word := " optional\n"
		if members[path] {
			word = " required\n"
		}
		list.WriteString(path + word)
	}
	if *updateEnvelope {
		if err := os.WriteFile(file, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || list.String() != string(want) {
		t.Errorf("the members of version %s changed (%v); if that is meant, run go test ./business/answer -update-envelope and look at the difference:\n%s", business.Version, err, list.String())
	}
	for _, tt := range envelopeCalls {
		_, _, text := sealed(t, quay(), tt.handler, tt.arguments, tt.age)
		holdTo(t, members, text)
	}
	plain := quay() // a business that states as little as possible
	plain.Publication.Profile = business.Profile{DisplayName: "Quay Tools"}
	plain.Publication.State, plain.Publication.Schema = business.State{}, nil
	plain.Publication.Standing = business.Standing{Lifecycle: business.Published, Verification: &business.OperatorVerification{Decision: "d", ConfirmedAt: now}}
	_, _, text := sealed(t, plain, "knowledge.get", `{"records":[{"type":"tool","id":"drill"}]}`, 0)
	holdTo(t, members, text)
}

// holdTo reports members of an envelope that are not listed, and listed ones that are required and missing.
func holdTo(t *testing.T, members map[string]bool, text []byte) {
	t.Helper()
	var v any
	if err := business.Decode(text, &v); err != nil {
		t.Fatal(err)
	}
	var check func(at string, v any)
	check = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			prefix, listed := at+".", false
			for path, required := range members {
				name, below := strings.CutPrefix(path, prefix)
				if !below || strings.ContainsAny(name, ".[") {
					continue
				}
				if listed = true; required && v[name] == nil {
					t.Errorf("%s lacks %s", at, name)
				}
			}
			for name, inner := range v {
				if _, known := members[prefix+name]; listed && !known {
					t.Errorf("%s%s is not in the list of members", prefix, name)
				}
				check(prefix+name, inner)
			}
		case []any:
			for _, inner := range v {
				check(at+"[]", inner)
			}
		case nil:
			t.Errorf("%s is null (XP-VERSION-004)", at)
		case string:
			if strings.HasPrefix(v, "0001-01-01") {
				t.Errorf("%s is a zero time (XP-VERSION-004)", at)
			}
		}
	}
	check("envelope", v)
}
