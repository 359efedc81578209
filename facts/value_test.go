package facts_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/jcs"
)

func TestParseValue(t *testing.T) {
	for text, want := range map[string]string{
		`12570`: `12570`, `12570.0`: `12570`, ` 1e3 `: `1000`, `0`: `0`, `0e-0`: `0`, `[1e-0]`: `[1]`, `1e-7`: `1e-7`, `-3.50`: `-3.5`,
		`0.040999999999999995`: `0.040999999999999995`, `28.000000000000004`: `28.000000000000004`,
		`true`: `true`, `null`: `null`, `"a\u0041\/"`: `"aA/"`, `"-0"`: `"-0"`, `"\"-0"`: `"\"-0"`, `"\\"`: `"\\"`,
		`{"b":1,"a":[-1,2]}`: `{"a":[-1,2],"b":1}`, `[[[[1]]]]`: `[[[[1]]]]`, `{"[[[[[":"]"}`: `{"[[[[[":"]"}`, `[[],[],[],[],[]]`: `[[],[],[],[],[]]`,
	} {
		if got, err := facts.ParseValue([]byte(text)); err != nil || string(got) != want {
			t.Errorf("ParseValue(%s) = %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestParseValueRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`-0`: "negative zero", `-0.0`: "negative zero", `-0e5`: "negative zero", `{"a":[-0]}`: "negative zero", `[1,-0.00E-3]`: "negative zero",
		`[[[[[1]]]]]`: "nested 5 deep", `{"a":{"a":{"a":{"a":{}}}}}`: "nested 5 deep",
		`"` + strings.Repeat("x", 4095) + `"`: "4097 bytes",
	} {
		if got, err := facts.ParseValue([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseValue(%.40s) = %s, %v; want an error with %q", text, got, err, want)
		}
	}
	if _, err := facts.ParseValue([]byte(`"` + strings.Repeat("x", 4094) + `"`)); err != nil {
		t.Errorf("4096 bytes are refused: %v", err)
	}
	for text, want := range map[string]jcs.Kind{
		`1e400`: jcs.KindNumber, `-1e400`: jcs.KindNumber, `9007199254740993`: jcs.KindNumber, `0.040999999999999995001`: jcs.KindNumber, `-1e-400`: jcs.KindNumber,
		``: jcs.KindSyntax, `NaN`: jcs.KindSyntax, `Infinity`: jcs.KindSyntax, `.inf`: jcs.KindSyntax, `1_000`: jcs.KindSyntax, `0x10`: jcs.KindSyntax, `010`: jcs.KindSyntax,
		`1 2`: jcs.KindTrailing, `{"a":1,"\u0061":2}`: jcs.KindDuplicate, `"\ud800"`: jcs.KindUTF8, "\"\xff\"": jcs.KindUTF8,
	} {
		_, err := facts.ParseValue([]byte(text))
		var refused *jcs.Error
		if !errors.As(err, &refused) {
			t.Errorf("ParseValue(%s): %v, want a *jcs.Error", text, err)
		} else if refused.Kind != want && !(want == jcs.KindSyntax && refused.Kind == jcs.KindTrailing) {
			t.Errorf("ParseValue(%s): %v, want kind %s", text, refused, want)
		}
	}
}

func TestValueText(t *testing.T) {
	for _, c := range []struct{ value, kind, text string }{
		{`12.71`, "number", "12.71"}, {`-1e-7`, "number", "-1e-7"}, {`true`, "boolean", "true"}, {`false`, "boolean", "false"},
		{`null`, "null", "null"}, {``, "null", "null"}, {`"plain ü"`, "string", "plain ü"}, {`""`, "string", ""},
		{`"a\nb"`, "string", "a b"}, {`"a\r\n\tb"`, "string", "a b"}, {`"\u001b[31mred"`, "string", " [31mred"}, {"\"a\u2028b\u0085c\u007fd\"", "string", "a b c d"},
		{`"\"quoted\" \\"`, "string", `"quoted" \`}, {`{"a":[1,2]}`, "object", `{"a":[1,2]}`}, {`["x"]`, "array", `["x"]`},
	} {
		v := facts.Value(c.value)
		if v.Kind() != c.kind || v.Text() != c.text {
			t.Errorf("%s is a %s with text %q, want a %s with text %q", c.value, v.Kind(), v.Text(), c.kind, c.text)
		}
		if out, err := v.MarshalJSON(); err != nil || c.value != "" && string(out) != c.value {
			t.Errorf("%s is marshalled as %s, %v", c.value, out, err)
		}
	}
}

func TestStringValueRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		v := facts.StringValue(s)
		if again, err := facts.ParseValue([]byte(v)); err != nil && len(v) <= facts.MaxValueBytes || err == nil && again != v {
			t.Fatalf("%q: %s is read as %s, %v", s, v, again, err)
		}
		if text := v.Text(); strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x2028 }) {
			t.Fatalf("%q is shown as %q", s, text)
		}
	})
}
