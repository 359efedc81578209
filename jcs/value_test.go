package jcs_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"sayso/jcs"
)

type day string

func (d *day) UnmarshalText(b []byte) error {
	if len(b) != 10 {
		return fmt.Errorf("%q is not a day", b)
	}
	*d = day(b)
	return nil
}

type target struct {
	Role  string          `json:"role"`
	Count int8            `json:"count,omitzero"`
	List  []string        `json:"list,omitempty"`
	Inner struct{ A int } `json:"inner,omitzero"`
	Raw   jcs.Raw         `json:"raw,omitzero"`
	Day   day             `json:"day,omitzero"`
	Ptr   *string         `json:"ptr,omitzero"`
}

func TestDecode(t *testing.T) {
	var v target
	text := ` {"role":"user","count":3,"unknown":[1],"raw": {"b" : 1.0, "a":2} ,"ptr":null,"ROLE":"admin"}`
	if err := jcs.Decode([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if v.Role != "user" || v.Count != 3 || string(v.Raw) != `{"b" : 1.0, "a":2}` || v.Ptr != nil {
		t.Errorf("decoded %+v, raw %s", v, v.Raw)
	}
	for _, other := range []string{`{"role":null}`, `{"ROLE":"admin"}`, "{\"ro\\u017fe\":\"admin\"}"} {
		var w target
		if err := jcs.Decode([]byte(other), &w); err != nil || w.Role != "" {
			t.Errorf("%s: %+v %v", other, w, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		text, pointer, detail string
		kind                  jcs.Kind
		known                 bool
	}{
		{`{"role":"a","role":"b"}`, "/role", "stands twice", jcs.KindDuplicate, false},
		{`{"count":9007199254740993}`, "/count", "would become", jcs.KindNumber, false},
		{`{"count":"3"}`, "/count", "a number is expected, a string stands here", jcs.KindType, false},
		{`{"count":300}`, "/count", "a number out of the range allowed here", jcs.KindType, false},
		{`{"list":["a",{}]}`, "/list/1", "a string is expected, an object stands here", jcs.KindType, false},
		{`{"inner":[]}`, "/inner", "an object is expected, an array stands here", jcs.KindType, false},
		{`{"day":"x"}`, "/day", `"x" is not a day`, jcs.KindType, false},
		{`[]`, "", "an object is expected, an array stands here", jcs.KindType, false},
		{`{"role":"a","rule":1}`, "/rule", `the member "rule" is not known here`, jcs.KindUnknown, true},
		{`{"ROLE":"a"}`, "/ROLE", `the member "ROLE" is not known here`, jcs.KindUnknown, true},
		{`{"inner":{"B/~":1}}`, "/inner/B~1~0", `the member "B/~" is not known here`, jcs.KindUnknown, true},
	}
	for _, tt := range tests {
		var v target
		decode := jcs.Decode
		if tt.known {
			decode = jcs.DecodeKnown
		}
		err := decode([]byte(tt.text), &v)
		var e *jcs.Error
		if !errors.As(err, &e) || e.Kind != tt.kind || e.Pointer != tt.pointer || !strings.Contains(e.Detail, tt.detail) {
			t.Errorf("%s: %v", tt.text, err)
		}
		if err != nil && (strings.Contains(err.Error(), "json:") || strings.Contains(err.Error(), "jcs_test")) {
			t.Errorf("internals in %q", err)
		}
	}
}

func TestEncode(t *testing.T) {
	v := target{Role: "<a>&\u2028\"", Raw: jcs.Raw(`{"z":1.50,"a":"\u0041"}`), List: nil}
	got, err := jcs.Encode(v)
	if want := "{\"role\":\"<a>&\u2028\\\"\",\"raw\":{\"z\":1.50,\"a\":\"\\u0041\"}}"; err != nil || string(got) != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
	got, err = jcs.Encode(map[string]any{"b": jcs.Raw(nil), "a": []int(nil)})
	if want := `{"a":[],"b":null}`; err != nil || string(got) != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
	for _, bad := range []any{"a\xffb", []any{jcs.Raw(`{"a":}`)}, func() {}, math.Inf(1), map[string]any{"c": make(chan int)}} {
		_, err := jcs.Encode(bad)
		if kindOf(t, err) != jcs.KindType || strings.Contains(err.Error(), "json") {
			t.Errorf("Encode(%T) = %v", bad, err)
		}
	}
}

func TestMembers(t *testing.T) {
	text := []byte(` {"b": 1.0 ,"\u0061" :{"x" : [ ] } , "c":"\u0041","d":null}`)
	got, err := jcs.Members(text)
	if err != nil {
		t.Fatal(err)
	}
	var flat []string
	for _, m := range got {
		flat = append(flat, m.Name, string(m.Value))
	}
	want := []string{"b", "1.0", "a", `{"x" : [ ] }`, "c", `"\u0041"`, "d", "null"}
	if !slices.Equal(flat, want) {
		t.Errorf("got %q, want %q", flat, want)
	}
	if again := jcs.AppendMembers([]byte("x"), got); string(again) != `x{"b":1.0,"a":{"x" : [ ] },"c":"\u0041","d":null}` {
		t.Errorf("written as %s", again)
	}
	if none := jcs.AppendMembers(nil, nil); string(none) != "{}" {
		t.Errorf("no members: %s", none)
	}
	_ = append(got[0].Value, "overwritten"...)
	if !strings.Contains(string(text), `"\u0061"`) {
		t.Error("appending to a value changes the text behind it")
	}
	if got, err := jcs.Members([]byte("{}")); err != nil || len(got) != 0 {
		t.Errorf("empty object: %v %v", got, err)
	}
	for text, kind := range map[string]jcs.Kind{`[{"a":1}]`: jcs.KindType, `1`: jcs.KindType, `{"a":1,"a":1}`: jcs.KindDuplicate, `{`: jcs.KindSyntax} {
		if got, err := jcs.Members([]byte(text)); kindOf(t, err) != kind || got != nil {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}

func TestElements(t *testing.T) {
	text := []byte(` [1.0 ,"\u0041" , [ [ ] ,2], {"b": [3]} ]`)
	got, err := jcs.Elements(text)
	if err != nil {
		t.Fatal(err)
	}
	var flat []string
	for _, e := range got {
		flat = append(flat, string(e))
	}
	if want := []string{"1.0", `"\u0041"`, "[ [ ] ,2]", `{"b": [3]}`}; !slices.Equal(flat, want) {
		t.Errorf("got %q, want %q", flat, want)
	}
	_ = append(got[0], "overwritten"...)
	if !strings.Contains(string(text), `"\u0041"`) {
		t.Error("appending to an element changes the text behind it")
	}
	if got, err := jcs.Elements([]byte("[]")); err != nil || len(got) != 0 {
		t.Errorf("empty array: %v %v", got, err)
	}
	for text, kind := range map[string]jcs.Kind{`{"a":[1]}`: jcs.KindType, `"a"`: jcs.KindType, ``: jcs.KindSyntax, `[1,]`: jcs.KindSyntax, `[{"a":1,"a":1}]`: jcs.KindDuplicate} {
		if got, err := jcs.Elements([]byte(text)); kindOf(t, err) != kind || got != nil {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}

func TestText(t *testing.T) {
	for raw, want := range map[string]string{`"a"`: "a", `"\u0041\n"`: "A\n", `""`: ""} {
		if got, ok := jcs.Text(jcs.Raw(raw)); !ok || got != want {
			t.Errorf("Text(%s) = %q %v", raw, got, ok)
		}
	}
	for _, raw := range []string{``, `1`, `null`, `"a`, `"a" `, `"a""b"`, `"\ud800"`, "\"\xff\""} {
		if got, ok := jcs.Text(jcs.Raw(raw)); ok || got != "" {
			t.Errorf("Text(%s) = %q %v", raw, got, ok)
		}
	}
}
