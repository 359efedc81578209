package jcs_test

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"sayso/jcs"
)

// TestRFC8785Documents runs the documents published with RFC 8785. One literal of values.json has more digits than
// binary64 holds; the profile refuses it, and with the shortest text of the same value the published bytes come out.
func TestRFC8785Documents(t *testing.T) {
	files, err := filepath.Glob("testdata/rfc8785/input/*.json")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d documents, want 6 (%v)", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		in := read(t, file)
		if name == "values.json" {
			if _, err := jcs.Canonical(in); kindOf(t, err) != jcs.KindNumber {
				t.Errorf("%s: %v, want a number refused", name, err)
			}
			in = bytes.Replace(in, []byte("333333333.33333329"), []byte("333333333.3333333"), 1)
		}
		got, err := jcs.Canonical(in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := read(t, "testdata/rfc8785/outhex/"+strings.TrimSuffix(name, ".json")+".txt")
		want, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestCanonicalText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"UTF-16 order: U+1F600 before U+FB33", "{\"\ufb33\":1,\"\U0001F600\":2}", "{\"\U0001F600\":2,\"\ufb33\":1}"},
		{"UTF-16 order by escapes", "{\"\\ufb33\":1,\"\\ud83d\\ude00\":2}", "{\"\U0001F600\":2,\"\ufb33\":1}"},
		{"UTF-16 order beyond eight bytes", "{\"abcdefgh\ufb33\":1,\"abcdefgh\U0001F600\":2,\"abcdefgh\":3}", "{\"abcdefgh\":3,\"abcdefgh\U0001F600\":2,\"abcdefgh\ufb33\":1}"},
		{"U+D7FF, surrogates, U+E000", "{\"\ue000\":1,\"\U0010ffff\":2,\"\ud7ff\":3}", "{\"\ud7ff\":3,\"\U0010ffff\":2,\"\ue000\":1}"},
		{"NUL in a name", `{"a\u0000":1,"a":2}`, `{"a":2,"a\u0000":1}`},
		{"order is of the name, not of its escape", `{"]":1,"\\":2,"\n":3,"[":4}`, `{"\n":3,"[":4,"\\":2,"]":1}`},
		{"escapes", `"\u0000\u0001\b\t\n\u000b\f\r\u001F\"\\\/\u007f\u0080\u2028<>&"`, "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\x7f\u0080\u2028<>&\""},
		{"white space", " [ 1 , { \"a\" : [ ] , \"A\" : { } } ]\n", `[1,{"A":{},"a":[]}]`},
		{"nested order", `{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":0}`, `{"a":0,"b":{"c":[{"e":2,"f":1}],"d":1}}`},
		{"-0", `[-0,-0.0,0e5,-0e-7,0.000]`, `[0,0,0,0,0]`},
		{"numbers", `[1.0,4.50,2e-3,0.000001,0.0000001,1E30,100,1e2,123456789012345.0,-1.50e+1,0.00000100]`,
			`[1,4.5,0.002,0.000001,1e-7,1e+30,100,100,123456789012345,-15,0.000001]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jcs.Canonical([]byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %s %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestAppendCanonicalKeepsPrefix(t *testing.T) {
	dst := append(make([]byte, 0, 64), "prefix "...)
	got, err := jcs.AppendCanonical(dst, []byte(`{"b":1,"a":2}`))
	if err != nil || string(got) != `prefix {"a":2,"b":1}` {
		t.Fatalf("got %s %v", got, err)
	}
	got, err = jcs.AppendCanonical(dst, []byte(`{"b":1,"a":2`))
	if err == nil || string(got) != "prefix " {
		t.Fatalf("after an error: %q %v", got, err)
	}
	if got, err := jcs.Canonical([]byte(`[`)); err == nil || got != nil {
		t.Fatalf("after an error: %q %v", got, err)
	}
}

// TestBigDocument makes sure that a pooled buffer which was too large to keep does not leak into the next result.
func TestBigDocument(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	for i := range 20_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strings.Repeat("9", i%7) + string(rune('a'+i%26)) + hex.EncodeToString([]byte{byte(i), byte(i >> 8)}) + `":[{"z":1,"a":2}]`)
	}
	b.WriteByte('}')
	first, err := jcs.Canonical([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if small, err := jcs.Canonical([]byte(`{"b":1,"a":2}`)); err != nil || string(small) != `{"a":2,"b":1}` {
		t.Fatalf("%s %v", small, err)
	}
	again, err := jcs.Canonical(first)
	if err != nil || !bytes.Equal(first, again) {
		t.Fatalf("canonical text is not a fixed point: %v", err)
	}
}

// tree draws a JSON text and, beside it, its canonical form made the slow, obvious way.
func tree(t *rapid.T, depth int) (text, canonical string) {
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t"})
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		w := rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
		return w, w
	case 1:
		f := rapid.Float64().Draw(t, "number")
		s := string(jcs.AppendNumber(nil, f))
		if !strings.ContainsAny(s, ".e") && len(strings.TrimPrefix(s, "-")) > 15 {
			return "0", "0"
		}
		return s, s
	case 2, 3, 4:
		s := rapid.String().Draw(t, "string")
		return escapeSome(t, s), string(jcs.AppendString(nil, s))
	case 5:
		n := rapid.IntRange(0, 4).Draw(t, "elements")
		var a, b []string
		for range n {
			x, y := tree(t, depth-1)
			a, b = append(a, space.Draw(t, "space")+x), append(b, y)
		}
		return "[" + strings.Join(a, ",") + "]", "[" + strings.Join(b, ",") + "]"
	}
	names := rapid.SliceOfNDistinct(rapid.String(), 0, 14, rapid.ID).Draw(t, "names")
	type pair struct{ name, text string }
	var received []string
	var sorted []pair
	for _, name := range names {
		x, y := tree(t, depth-1)
		received = append(received, escapeSome(t, name)+space.Draw(t, "space")+":"+x)
		sorted = append(sorted, pair{name, string(jcs.AppendString(nil, name)) + ":" + y})
	}
	slices.SortFunc(sorted, func(a, b pair) int {
		return slices.Compare(utf16.Encode([]rune(a.name)), utf16.Encode([]rune(b.name)))
	})
	var b []string
	for _, p := range sorted {
		b = append(b, p.text)
	}
	return "{" + strings.Join(received, ",") + "}", "{" + strings.Join(b, ",") + "}"
}

// escapeSome writes s as a JSON string with some characters escaped that need no escape.
func escapeSome(t *rapid.T, s string) string {
	every := rapid.IntRange(1, 9).Draw(t, "every")
	out := []byte{'"'}
	for i, r := range []rune(s) {
		if i%every == 0 {
			for _, u := range utf16.Encode([]rune{r}) {
				out = append(out, `\u`...)
				out = append(out, hex.EncodeToString([]byte{byte(u >> 8), byte(u)})...)
			}
			continue
		}
		quoted := jcs.AppendString(nil, string(r))
		out = append(out, quoted[1:len(quoted)-1]...)
	}
	return string(append(out, '"'))
}

// TestCanonicalProperty: any text gives the canonical form that the definition gives, and that form is a fixed point.
func TestCanonicalProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want := tree(t, 4)
		got, err := jcs.Canonical([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if string(got) != want {
			t.Fatalf("%s:\n got %s\nwant %s", text, got, want)
		}
		again, err := jcs.Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("not a fixed point: %s -> %s %v", got, again, err)
		}
	})
}
