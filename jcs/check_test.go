package jcs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sayso/jcs"
)

// kindOf is the kind of err, "" for nil.
func kindOf(t *testing.T, err error) jcs.Kind {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *jcs.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a *jcs.Error", err)
	}
	return e.Kind
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestCheckProfile has one row for each behaviour that common JSON readers get wrong, and the borders of every gate.
func TestCheckProfile(t *testing.T) {
	tests := []struct {
		name, text string
		want       jcs.Kind
	}{
		{"duplicate member", `{"role":"user","role":"admin"}`, jcs.KindDuplicate},
		{"duplicate member by escape", `{"role":"user","\u0072ole":"admin"}`, jcs.KindDuplicate},
		{"duplicate far apart", `{"b":1,"a":2,"c":3,"d":4,"b":5}`, jcs.KindDuplicate},
		{"duplicate with long common prefix", `{"abcdefghij":1,"abcdefghi":2,"abcdefghij":3}`, jcs.KindDuplicate},
		{"duplicate empty name", `{"":1,"":2}`, jcs.KindDuplicate},
		{"same name in two objects", `[{"a":1},{"a":{"a":2}}]`, ""},
		{"names that fold to one", "{\"role\":1,\"ROLE\":2,\"ro\u017fe\":3,\"rose\":4,\"\u212aind\":5,\"Kind\":6}", ""},
		{"name and name with NUL", `{"key":1,"key\u0000":2}`, ""},
		{"invalid byte", "\"a\xffb\"", jcs.KindUTF8},
		{"overlong", "\"\xc0\xaf\"", jcs.KindUTF8},
		{"encoded surrogate", "\"\xed\xa0\x80\"", jcs.KindUTF8},
		{"CESU-8 pair", "\"\xed\xa0\xbd\xed\xb8\x80\"", jcs.KindUTF8},
		{"beyond U+10FFFF", "\"\xf4\x90\x80\x80\"", jcs.KindUTF8},
		{"cut in a character", "\"\xe2\x82\"", jcs.KindUTF8},
		{"invalid byte in a name", "{\"a\xff\":1}", jcs.KindUTF8},
		{"lone high surrogate", `"\ud800"`, jcs.KindUTF8},
		{"lone low surrogate", `"\udc00"`, jcs.KindUTF8},
		{"two high surrogates", `"\ud800\ud800"`, jcs.KindUTF8},
		{"pair the wrong way round", `"\udc00\ud800"`, jcs.KindUTF8},
		{"high surrogate and text", `"\ud800abcdef"`, jcs.KindUTF8},
		{"high surrogate and letter escape", `"\ud800\n12345"`, jcs.KindUTF8},
		{"pair", `"\ud83d\ude00"`, ""},
		{"noncharacters", "\"\uffff\\uFFFE\"", ""},
		{"escaped NUL", `"\u0000"`, ""},
		{"raw control character", "\"a\nb\"", jcs.KindSyntax},
		{"raw control character after eight", "\"01234567\x1f\"", jcs.KindSyntax},
		{"DEL", "\"\x7f\"", ""},
		{"unknown escape", `"\x41"`, jcs.KindSyntax},
		{"upper-case U escape", `"\U0041"`, jcs.KindSyntax},
		{"short escape", `"\u00g0"`, jcs.KindSyntax},
		{"string not closed", `"abc`, jcs.KindSyntax},
		{"string ends in reverse solidus", `"abc\`, jcs.KindSyntax},
		{"1e400", `1e400`, jcs.KindNumber},
		{"-1e400", `-1e400`, jcs.KindNumber},
		{"5e-400", `5e-400`, jcs.KindNumber},
		{"zero with a huge exponent", `0e999999999999999999999`, ""},
		{"one with a huge exponent", `1e99999999999999999999999`, jcs.KindNumber},
		{"huge negative exponent", `1e-99999999999999999999999`, jcs.KindNumber},
		{"digits undo the exponent", `0.` + strings.Repeat("0", 400) + `1e401`, ""},
		{"2^53-1", `9007199254740991`, ""},
		{"2^53", `9007199254740992`, jcs.KindNumber},
		{"2^53+1", `9007199254740993`, jcs.KindNumber},
		{"-(2^53-1)", `-9007199254740991`, ""},
		{"-(2^53)", `-9007199254740992`, jcs.KindNumber},
		{"2^53 as decimal", `9007199254740992.0`, jcs.KindNumber},
		{"1e20 is written as an integer", `1e20`, jcs.KindNumber},
		{"1e21 is written with an exponent", `1e21`, ""},
		{"999999999999999900000", `999999999999999900000`, jcs.KindNumber},
		{"-0", `-0`, ""},
		{"-0.0e5", `-0.0e5`, ""},
		{"1.0", `1.0`, ""},
		{"more digits than binary64 holds", `333333333.33333329`, jcs.KindNumber},
		{"shortest of the same value", `333333333.3333333`, ""},
		{"float noise survives", `0.040999999999999995`, ""},
		{"longer than its shortest", `0.040999999999999995001`, jcs.KindNumber},
		{"4,096 digits", strings.Repeat("1", 4096), jcs.KindNumber},
		{"4,096 zeros after the point", `1.` + strings.Repeat("0", 4096), ""},
		{"smallest denormal", `5e-324`, ""},
		{"largest", `1.7976931348623157e308`, ""},
		{"leading zero", `01`, jcs.KindSyntax},
		{"leading plus", `+1`, jcs.KindSyntax},
		{"no digit after point", `1.`, jcs.KindSyntax},
		{"no digit before point", `.5`, jcs.KindSyntax},
		{"no digit in exponent", `1e+`, jcs.KindSyntax},
		{"minus alone", `-`, jcs.KindSyntax},
		{"underscore", `1_000`, jcs.KindTrailing},
		{"hexadecimal", `0x10`, jcs.KindTrailing},
		{"NaN", `NaN`, jcs.KindSyntax},
		{"Infinity", `-Infinity`, jcs.KindSyntax},
		{"two values", `{"a":1} {"a":1}`, jcs.KindTrailing},
		{"bracket after the value", `{"a":1}]`, jcs.KindTrailing},
		{"NUL after the value", "1\x00", jcs.KindTrailing},
		{"byte order mark", "\ufeff{}", jcs.KindSyntax},
		{"byte order mark after the value", "{}\ufeff", jcs.KindTrailing},
		{"UTF-16", "\xff\xfe{\x00}\x00", jcs.KindSyntax},
		{"empty", ``, jcs.KindSyntax},
		{"white space only", " \t\r\n", jcs.KindSyntax},
		{"white space of other kinds", "\u00a01", jcs.KindSyntax},
		{"form feed", "\f1", jcs.KindSyntax},
		{"vertical tab between", "[1,\v2]", jcs.KindSyntax},
		{"surrounding white space", " \t\r\n1 \t\r\n", ""},
		{"depth 64", nested(64), ""},
		{"depth 65", nested(65), jcs.KindDepth},
		{"depth 9,999", nested(9999), jcs.KindDepth},
		{"depth 10,001 of objects", strings.Repeat(`{"a":`, 10001), jcs.KindDepth},
		{"many siblings are not depth", `[` + strings.Repeat(`[],`, 200) + `{}]`, ""},
		{"null", `null`, ""},
		{"nul", `nul`, jcs.KindSyntax},
		{"TRUE", `TRUE`, jcs.KindSyntax},
		{"comma at the end", `[1,]`, jcs.KindSyntax},
		{"comma at the end of an object", `{"a":1,}`, jcs.KindSyntax},
		{"comment", `{"a":1/*x*/}`, jcs.KindSyntax},
		{"name without quotation marks", `{a:1}`, jcs.KindSyntax},
		{"missing colon", `{"a" 1}`, jcs.KindSyntax},
		{"object ends after colon", `{"a":`, jcs.KindSyntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := jcs.Check([]byte(tt.text))
			if got := kindOf(t, err); got != tt.want {
				t.Fatalf("Check = %v, want kind %q", err, tt.want)
			}
			if _, err := jcs.Canonical([]byte(tt.text)); kindOf(t, err) != tt.want {
				t.Fatalf("Canonical = %v, want kind %q", err, tt.want)
			}
		})
	}
}

// TestErrorPlace pins offsets, pointers and the words of errors people see.
func TestErrorPlace(t *testing.T) {
	tests := []struct {
		text    string
		offset  int
		pointer string
		message string
	}{
		{`{"a":{"b~/c":[0,1e400]}}`, 16, "/a/b~0~1c/1", `number at /a/b~0~1c/1 (byte 16): "1e400" is beyond the largest binary64 number; write it as a string`},
		{`{"x":1,"a":2,"x":3}`, 13, "/x", `duplicate name at /x (byte 13): the name "x" stands twice in one object`},
		{`{"n":9007199254740993}`, 5, "/n", `number at /n (byte 5): "9007199254740993" would become 9007199254740992; write it as a string or with fewer digits`},
		{`[9007199254740992]`, 1, "/0", `number at /0 (byte 1): "9007199254740992" is an integer beyond ±9007199254740991; write it as a string`},
		{`{"a":1} x`, 8, "", `trailing data (byte 8): something follows the end of the value; send one value only`},
		{`{"a":[1 2]}`, 8, "/a", `syntax at /a (byte 8): "2" stands where a comma or the end of the array is expected`},
		{"{\"a\x01\":1}", 3, "", `syntax (byte 3): a control character stands unescaped in a string`},
		{"{\"a\\u001b[31m\":x}", 15, "/a\x1b[31m", `syntax at "/a\x1b[31m" (byte 15): "x" stands where a value is expected`},
	}
	for _, tt := range tests {
		err := jcs.Check([]byte(tt.text))
		var e *jcs.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: no *jcs.Error but %v", tt.text, err)
		}
		if e.Offset != tt.offset || e.Pointer != tt.pointer || e.Error() != tt.message {
			t.Errorf("%s:\n got %d %q %s\nwant %d %q %s", tt.text, e.Offset, e.Pointer, e, tt.offset, tt.pointer, tt.message)
		}
	}
}

// TestErrorsAreBounded shows that a message does not echo a hostile text of any size.
func TestErrorsAreBounded(t *testing.T) {
	name := strings.Repeat("\u202e\x7f", 100_000)
	for _, text := range []string{
		`{"` + name + `":` + strings.Repeat("9", 100_000) + `}`,
		`{"` + name + `":1,"` + name + `":2}`,
	} {
		if msg := jcs.Check([]byte(text)).Error(); len(msg) > 1000 || strings.ContainsRune(msg, '\u202e') {
			t.Errorf("message of %d bytes: %.200s", len(msg), msg)
		}
	}
}

// TestJSONTestSuite runs nst/JSONTestSuite. Of the texts that must parse the profile refuses exactly two, those with a
// duplicate name; of the free ones it takes exactly the listed.
func TestJSONTestSuite(t *testing.T) {
	refusedAlthoughValid := map[string]jcs.Kind{
		"y_object_duplicated_key.json":           jcs.KindDuplicate,
		"y_object_duplicated_key_and_value.json": jcs.KindDuplicate,
	}
	var free []string
	counts := map[byte]int{}
	for _, file := range suite(t, "test_parsing") {
		name := filepath.Base(file)
		err := jcs.Check(read(t, file))
		kind := kindOf(t, err)
		counts[name[0]]++
		switch {
		case name[0] == 'y' && kind != refusedAlthoughValid[name]:
			t.Errorf("%s: %v", name, err)
		case name[0] == 'n' && err == nil:
			t.Errorf("%s is accepted", name)
		case name[0] == 'i' && err == nil:
			free = append(free, name)
		}
	}
	if counts['y'] != 95 || counts['n'] != 188 || counts['i'] != 35 {
		t.Errorf("files: %v", counts)
	}
	if len(free) != 0 {
		t.Errorf("free texts accepted: %v", free)
	}
}

func TestJSONTestSuiteTransform(t *testing.T) {
	want := map[string]struct {
		kind jcs.Kind
		text string
	}{
		"number_-9223372036854775808.json":         {jcs.KindNumber, ""},
		"number_-9223372036854775809.json":         {jcs.KindNumber, ""},
		"number_1.0.json":                          {"", "[1]"},
		"number_1.000000000000000005.json":         {jcs.KindNumber, ""},
		"number_1000000000000000.json":             {"", "[1000000000000000]"},
		"number_10000000000000000999.json":         {jcs.KindNumber, ""},
		"number_1e-999.json":                       {jcs.KindNumber, ""},
		"number_1e6.json":                          {"", "[1000000]"},
		"number_9223372036854775807.json":          {jcs.KindNumber, ""},
		"number_9223372036854775808.json":          {jcs.KindNumber, ""},
		"object_key_nfc_nfd.json":                  {"", "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}"},
		"object_key_nfd_nfc.json":                  {"", "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}"},
		"object_same_key_different_values.json":    {jcs.KindDuplicate, ""},
		"object_same_key_same_value.json":          {jcs.KindDuplicate, ""},
		"object_same_key_unclear_values.json":      {jcs.KindDuplicate, ""},
		"string_1_escaped_invalid_codepoint.json":  {jcs.KindUTF8, ""},
		"string_1_invalid_codepoint.json":          {jcs.KindUTF8, ""},
		"string_2_escaped_invalid_codepoints.json": {jcs.KindUTF8, ""},
		"string_2_invalid_codepoints.json":         {jcs.KindUTF8, ""},
		"string_3_escaped_invalid_codepoints.json": {jcs.KindUTF8, ""},
		"string_3_invalid_codepoints.json":         {jcs.KindUTF8, ""},
		"string_with_escaped_NULL.json":            {"", `["A\u0000B"]`},
	}
	files := suite(t, "test_transform")
	if len(files) != len(want) {
		t.Fatalf("%d files, want %d", len(files), len(want))
	}
	for _, file := range files {
		w := want[filepath.Base(file)]
		got, err := jcs.Canonical(read(t, file))
		if kindOf(t, err) != w.kind || string(got) != w.text {
			t.Errorf("%s: %s %v, want %q %s", filepath.Base(file), got, err, w.kind, w.text)
		}
	}
}

func suite(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "jsontestsuite", dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	return files
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
