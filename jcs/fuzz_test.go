package jcs_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sayso/jcs"
)

func seeds(f *testing.F) {
	for _, s := range []string{
		record, `{"b":[1.50,-0,1e21],"a":{"\u0072ole":"\ud83d\ude00"}}`, "{\"\ufb33\":1,\"\U0001F600\":2}", `[1e400,5e-400]`,
		`"\ud800"`, nested(64), nested(65), `{"a":1,"\u0061":2}`, "\ufeff1", ` 1 2`, "\"\xed\xa0\x80\"", `1e20`, `0.040999999999999995001`,
	} {
		f.Add([]byte(s))
	}
}

// FuzzCheck: every entry point agrees with Check, and an error always has a place inside the text.
func FuzzCheck(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		err := jcs.Check(data)
		canonical, canonicalErr := jcs.Canonical(data)
		members, membersErr := jcs.Members(data)
		elements, elementsErr := jcs.Elements(data)
		var v any
		decodeErr := jcs.Decode(data, &v)
		if !bytes.Equal(before, data) {
			t.Fatal("the input was changed")
		}
		if err == nil {
			if canonicalErr != nil || decodeErr != nil {
				t.Fatalf("Check accepts, Canonical %v, Decode %v", canonicalErr, decodeErr)
			}
			if object, ok := v.(map[string]any); ok != (membersErr == nil) || len(object) != len(members) {
				t.Fatalf("%d members, want %d (%v)", len(members), len(object), membersErr)
			}
			if membersErr == nil {
				if again, err := jcs.Canonical(jcs.AppendMembers(nil, members)); err != nil || !bytes.Equal(again, canonical) {
					t.Fatalf("%s was written again as %s (%v)", canonical, again, err)
				}
			}
			if array, ok := v.([]any); ok != (elementsErr == nil) || len(array) != len(elements) {
				t.Fatalf("%d elements, want %d (%v)", len(elements), len(array), elementsErr)
			}
			return
		}
		var e *jcs.Error
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(data) || e.Detail == "" {
			t.Fatalf("error %#v", err)
		}
		for _, other := range []error{canonicalErr, membersErr, elementsErr, decodeErr} {
			if other == nil || other.Error() != err.Error() {
				t.Fatalf("Check says %v, another entry point %v", err, other)
			}
		}
	})
}

// FuzzCanonical: canonical text is a fixed point, and the scanner agrees with the tokeniser of jsontext except that it
// also refuses by depth and number.
func FuzzCanonical(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := jcs.Canonical(data)
		want := jsontext.Value(bytes.Clone(data))
		theirErr := want.Canonicalize()
		if err != nil {
			if k := kindOf(t, err); theirErr == nil && k != jcs.KindNumber && k != jcs.KindDepth {
				t.Fatalf("only we refuse: %v", err)
			}
			return
		}
		if theirErr != nil {
			t.Fatalf("only we accept: %v", theirErr)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
		again, err := jcs.Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not a fixed point: %s -> %s %v", got, again, err)
		}
	})
}
