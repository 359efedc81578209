package yamlx_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sayso/facts/dataset/yamlx"
)

func TestParseTypesByJSONGrammar(t *testing.T) {
	src := strings.Join([]string{
		`n: 12570`, `neg: -1.5e3`, `b: true`, `z: null`, `d: 2026-04-06`, `p: "2026"`, `y: yes`, `t: 12:30`, `u: https://a.example/b#c`,
		`s: 'it''s'`, `l: [1, {a: "x"}]`, `m: |`, `  two`, `  # lines`, `v: 1.2.3`, `e: ""`,
	}, "\n")
	root, err := yamlx.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"n":12570,"neg":-1.5e3,"b":true,"z":null,"d":"2026-04-06","p":"2026","y":"yes","t":"12:30","u":"https://a.example/b#c",` +
		`"s":"it's","l":[1,{"a":"x"}],"m":"two\n# lines\n","v":"1.2.3","e":""}`
	if got := string(root.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := root.Get("l").Items[1].Get("a"); n.Line != 11 || n.Col != 12 {
		t.Errorf("position of x is %d:%d, want 11:12", n.Line, n.Col)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, src, at, want string }{
		{"empty file", "", "1:1", "empty"},
		{"comment only", "# nothing\n", "1:1", "empty"},
		{"duplicate key", "a: 1\nb: 2\na: 3\n", "3:1", `"a" stands twice`},
		{"duplicate key by escape", "a: 1\n\"\\x61\": 3\n", "2:1", `"a" stands twice`},
		{"anchor", "a: &x 1\n", "1:4", "anchor"},
		{"alias", "a: &x 1\nb: *x\n", "1:4", "anchor"},
		{"merge", "a: 1\n<<: {b: 2}\n", "2:1", "merge"},
		{"tag", "a: !!str 1\n", "1:4", "tag"},
		{"own tag", "a: !x 1\n", "1:4", "tag"},
		{"two documents", "a: 1\n---\nb: 2\n", "2:1", "second document"},
		{"directive", "%YAML 1.1\n---\na: 1\n", "1:1", "directive"},
		{"underscore", "a: 1_000\n", "1:4", "ambiguous"},
		{"hex", "a: 0x1F\n", "1:4", "ambiguous"},
		{"octal", "a: 017\n", "1:4", "ambiguous"},
		{"octal 1.2", "a: 0o17\n", "1:4", "ambiguous"},
		{"NaN", "a: .nan\n", "1:4", "ambiguous"},
		{"NaN word", "a: NaN\n", "1:4", "ambiguous"},
		{"infinity", "a: -.inf\n", "1:4", "ambiguous"},
		{"plus", "a: +1\n", "1:4", "ambiguous"},
		{"open point", "a: 1.\n", "1:4", "ambiguous"},
		{"leading point", "a: .5\n", "1:4", "ambiguous"},
		{"True", "a: True\n", "1:4", "ambiguous"},
		{"tilde", "a: ~\n", "1:4", "ambiguous"},
		{"no value", "a:\nb: 1\n", "1:3", "ambiguous"},
		{"byte order mark", "\ufeffa: 1\n", "1:1", "byte order mark"},
		{"not UTF-8", "a: \"\xff\"\n", "1:5", "UTF-8"},
		{"lone CR", "a: 1\rb: 2\n", "1:5", "carriage return"},
		{"NEL", "a: \"x\u0085y\"\n", "1:6", "U+0085"},
		{"list as name", "? [a]\n: 1\n", "1:3", "not text"},
		{"bad syntax", "a: [1\n", "1:1", "not well-formed"},
		{"open mapping", "# c\na: {b: {c: 1}\nd: 2\n", "2:1", "',' or '}'"},
		{"open quote", "a: 1\nb: \"x\n", "2:1", "end of stream"},
		{"indentation", "a: 1\nb:\n  - c: 1\n   d: 2\n", "3:1", "not well-formed"},
		{"tab", "a:\n  b: 1\n \tc: 2\n", "3:2", "tab character"},
		{"deep", "a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "", "nested deeper"},
		{"large", "a: \"" + strings.Repeat("x", yamlx.MaxSize) + "\"", "1:1", "bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := yamlx.Parse([]byte(tt.src))
			var e *yamlx.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if tt.at != "" && fmt.Sprintf("%d:%d", e.Line, e.Col) != tt.at || !strings.Contains(e.Message, tt.want) || e.Next == "" {
				t.Errorf("got %v (next %q), want %s %q", e, e.Next, tt.at, tt.want)
			}
		})
	}
}

const sample = `# head
topic: {prefix: uk/x, title: "X, the topic"}   # inline

facts:
  # about a
  - key: a
    label: A # label of a
    values:   # newest first
      # the current one
      - period: "2026-27"
        value: 12570        # checked twice
        source: https://a.example/x#y
        quote: |
          first
          # second

      # the one before
      - period: "2025-26"
        value: [1, "]"]
  - key: b
    values: []
# foot
`

func TestEdits(t *testing.T) {
	values := yamlx.Path{"facts", 0, "values"}
	tests := []struct {
		name string
		do   func([]byte) ([]byte, error)
		old  string
		want string
	}{
		{"replace a scalar", func(b []byte) ([]byte, error) {
			return yamlx.SetMember(b, yamlx.Path{"facts", 0, "values", 0}, "value", "12571.5")
		}, "value: 12570 ", "value: 12571.5 "},
		{"replace a quoted scalar", func(b []byte) ([]byte, error) {
			return yamlx.SetMember(b, yamlx.Path{"topic"}, "title", yamlx.Quote("Why, not"))
		}, `"X, the topic"`, `"Why, not"`},
		{"replace a list", func(b []byte) ([]byte, error) {
			return yamlx.SetMember(b, yamlx.Path{"facts", 0, "values", 1}, "value", `"none"`)
		}, `value: [1, "]"]`, `value: "none"`},
		{"add a member behind a literal", func(b []byte) ([]byte, error) {
			return yamlx.SetMember(b, yamlx.Path{"facts", 0, "values", 0}, "verifiedDate", "2026-10-04")
		}, "          # second\n", "          # second\n        verifiedDate: 2026-10-04\n"},
		{"add a member in braces", func(b []byte) ([]byte, error) { return yamlx.SetMember(b, yamlx.Path{"topic"}, "area", "rates") },
			`topic"}`, `topic", area: rates}`},
		{"remove a member", func(b []byte) ([]byte, error) {
			return yamlx.RemoveMember(b, yamlx.Path{"facts", 0, "values", 0}, "source")
		}, "        source: https://a.example/x#y\n", ""},
		{"insert in front", func(b []byte) ([]byte, error) {
			return yamlx.InsertItem(b, values, 0, "period: \"2027-28\"\nvalue: 1\n")
		},
			"newest first\n", "newest first\n      - period: \"2027-28\"\n        value: 1\n"},
		{"insert between", func(b []byte) ([]byte, error) {
			return yamlx.InsertItem(b, values, 1, "period: \"2027-28\"\nvalue: 1\n")
		},
			"# second\n", "# second\n      - period: \"2027-28\"\n        value: 1\n"},
		{"insert behind", func(b []byte) ([]byte, error) { return yamlx.InsertItem(b, values, 2, "value: 1\n") },
			"\"]\"]\n", "\"]\"]\n      - value: 1\n"},
		{"fill an empty list", func(b []byte) ([]byte, error) {
			return yamlx.InsertItem(b, yamlx.Path{"facts", 1, "values"}, 0, "value: 1\nunit: \"%\"\n")
		}, "values: []\n", "values:\n      - value: 1\n        unit: \"%\"\n"},
		{"remove an item", func(b []byte) ([]byte, error) { return yamlx.RemoveItem(b, values, 1) },
			"      - period: \"2025-26\"\n        value: [1, \"]\"]\n", ""},
	}
	for _, eol := range []string{"\n", "\r\n"} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s %q", tt.name, eol), func(t *testing.T) {
				src := strings.ReplaceAll(sample, "\n", eol)
				if strings.Count(sample, tt.old) != 1 {
					t.Fatalf("test text %q is not unique", tt.old)
				}
				got, err := tt.do([]byte(src))
				if err != nil {
					t.Fatal(err)
				}
				want := strings.ReplaceAll(strings.Replace(sample, tt.old, tt.want, 1), "\n", eol)
				if string(got) != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

func TestEditsRefuseUnsafeForms(t *testing.T) {
	tests := []struct {
		name, src string
		do        func([]byte) ([]byte, error)
	}{
		{"member over several lines", "a: one\n  two\n", func(b []byte) ([]byte, error) { return yamlx.SetMember(b, nil, "a", "x") }},
		{"member of a list item in braces", "a: {b: 1,\n  c: 2}\n", func(b []byte) ([]byte, error) { return yamlx.RemoveMember(b, yamlx.Path{"a"}, "b") }},
		{"list in brackets", "a: [1, 2]\n", func(b []byte) ([]byte, error) { return yamlx.InsertItem(b, yamlx.Path{"a"}, 0, "3") }},
		{"nothing there", "a: 1\n", func(b []byte) ([]byte, error) { return yamlx.SetMember(b, yamlx.Path{"b", 1}, "x", "1") }},
		{"document end mark", "a: 1\n...\n", func(b []byte) ([]byte, error) { return yamlx.SetMember(b, nil, "b", "1") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if out, err := tt.do([]byte(tt.src)); !errors.Is(err, yamlx.ErrForm) {
				t.Errorf("got %q, %v, want ErrForm", out, err)
			}
		})
	}
}

// Whatever a string holds, Quote writes a scalar that reads back as the same string.
func TestQuoteRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"yes", "12", "1_000", "a: b", "a #b", "- a", "", " a", "a ", "---", "2026-27", "%x", "\u0085", "A?", "A? b", "https://a.example/?", "https://a.example/?q=1?x"})).Draw(t, "s")
		for _, src := range []string{"k: " + yamlx.Quote(s) + "\n", "k: {a: " + yamlx.Quote(s) + "}\n"} {
			root, err := yamlx.Parse([]byte(src))
			if err != nil {
				t.Fatalf("%q: %v", src, err)
			}
			n := root.Get("k")
			if n.Kind == yamlx.Map {
				n = n.Get("a")
			}
			if n.Kind != yamlx.String || n.Text != s {
				t.Fatalf("%q reads back as %q", src, n.Text)
			}
		}
	})
}

func FuzzEdit(f *testing.F) {
	f.Add(sample, "verifiedDate", "2026-10-04")
	f.Add("a:\n  - b: 'x'\n", "a", "1")
	f.Fuzz(func(t *testing.T, src, name, text string) {
		if !utf8.ValidString(text) {
			return
		}
		before, err := yamlx.Parse([]byte(src))
		if err != nil {
			return
		}
		out, err := yamlx.SetMember([]byte(src), nil, name, yamlx.Quote(text))
		if err != nil || before.Kind != yamlx.Map {
			return
		}
		after, err := yamlx.Parse(out)
		if err != nil || after.Get(name) == nil || after.Get(name).Text != text {
			t.Fatalf("SetMember(%q, %q, %q) = %q", src, name, text, out)
		}
	})
}
