package jcs_test

import (
	"bytes"
	"strings"
	"testing"

	"sayso/jcs"
)

// verbatim departs from RFC 8785 in every point a Form can.
var verbatim = jcs.Form{LiteralNumbers: true, CodePointOrder: true, EscapeSeparators: true}

// Each switch changes its own point and nothing else.
func TestFormSwitches(t *testing.T) {
	const text = "{\"\U0001F600\":1.50,\"\ufb33\":\"\u2028/\u2029\\u2028\"}"
	for name, c := range map[string]struct {
		form jcs.Form
		want string
	}{
		"zero":       {jcs.Form{}, "{\"\U0001F600\":1.5,\"\ufb33\":\"\u2028/\u2029\u2028\"}"},
		"numbers":    {jcs.Form{LiteralNumbers: true}, "{\"\U0001F600\":1.50,\"\ufb33\":\"\u2028/\u2029\u2028\"}"},
		"order":      {jcs.Form{CodePointOrder: true}, "{\"\ufb33\":\"\u2028/\u2029\u2028\",\"\U0001F600\":1.5}"},
		"separators": {jcs.Form{EscapeSeparators: true}, "{\"\U0001F600\":1.5,\"\ufb33\":\"\\u2028/\\u2029\\u2028\"}"},
		"all":        {verbatim, "{\"\ufb33\":\"\\u2028/\\u2029\\u2028\",\"\U0001F600\":1.50}"},
	} {
		got, err := c.form.Append([]byte("before "), []byte(text))
		if err != nil || string(got) != "before "+c.want {
			t.Errorf("%s: %s %v, want %s", name, got, err, c.want)
		}
	}
}

func TestFormLiteralNumbersReachRaw(t *testing.T) {
	const text = `{"a":-0,"b":1E400,"c":12345678901234567890.50}`
	var got struct {
		A jcs.Raw `json:"a"`
		B jcs.Raw `json:"b"`
		C jcs.Raw `json:"c"`
	}
	if err := verbatim.DecodeKnown([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if string(got.A) != "-0" || string(got.B) != "1E400" || string(got.C) != "12345678901234567890.50" {
		t.Errorf("%s %s %s", got.A, got.B, got.C)
	}
	again, err := jcs.Encode(got)
	if err != nil || string(again) != text {
		t.Errorf("encoded %s %v", again, err)
	}
	var float struct {
		B float64 `json:"b"`
	}
	if kind := kindOf(t, verbatim.Decode([]byte(text), &float)); kind != jcs.KindType {
		t.Errorf("1E400 into a float64: %q", kind)
	}
	if kind := kindOf(t, verbatim.DecodeKnown([]byte(text), &float)); kind != jcs.KindUnknown {
		t.Errorf("unknown member: %q", kind)
	}
	if kind := kindOf(t, jcs.Check([]byte(text))); kind != jcs.KindNumber {
		t.Errorf("the zero form: %q", kind)
	}
}

func TestFormMaxBytes(t *testing.T) {
	form := jcs.Form{MaxBytes: 8}
	for text, want := range map[string]jcs.Kind{`"123456"`: "", `"1234567"`: jcs.KindSize, `       1`: "", `        1`: jcs.KindSize, strings.Repeat("\xff", 9): jcs.KindSize} {
		if got := kindOf(t, form.Check([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if _, err := form.Append(nil, []byte(text)); kindOf(t, err) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	// A scanner that served a bounded form must not carry the bound to the next text.
	if err := jcs.Check([]byte(`"123456789"`)); err != nil {
		t.Error(err)
	}
}

// FuzzForm: whatever a form accepts is its own fixed point, every form accepts the same texts but for numbers, and all forms say the same value.
func FuzzForm(f *testing.F) {
	seeds(f)
	f.Add([]byte("{\"\u2029\":1E400,\"\u2028\":-0,\"\\\\u2028\":0.10}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := verbatim.Append(nil, data)
		plain, plainErr := jcs.Canonical(data)
		if err != nil {
			if plainErr == nil {
				t.Fatalf("only the literal form refuses: %v", err)
			}
			return
		}
		if plainErr != nil {
			if kindOf(t, plainErr) != jcs.KindNumber {
				t.Fatalf("only the zero form refuses: %v", plainErr)
			}
		} else if back, err := jcs.Canonical(got); err != nil || !bytes.Equal(back, plain) {
			t.Fatalf("the value changed: %s, want %s (%v)", back, plain, err)
		}
		if again, err := verbatim.Append(nil, got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not a fixed point: %s -> %s %v", got, again, err)
		}
	})
}
