package facts_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sayso/facts"
)

func TestCheckKeyAccepts(t *testing.T) {
	for _, key := range []string{
		"uk/bank-rate", "uk/income-tax/personal-allowance", "eol/ubuntu/18.04", "uk/vehicle-tax/co2-1-to-50g-km", "us-ca/minimum-wage/hourly", "uk-sct/income-tax/starter-rate",
		"eu/rates/deposit", "uk/f.json/x", "uk/resolve", "uk/index", "chess/2024/1", "a1b2c3/x", "zz-100/a/b/c/d/e", "xk/x", "three-d/x",
		"uk/" + strings.Repeat("a", 197),
	} {
		if err := facts.CheckKey(key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestCheckKeyNamesTheRule(t *testing.T) {
	for key, want := range map[string]string{
		"":                               "empty",
		"uk":                             "one segment",
		"uk/a/b/c/d/e/f":                 "7 segments",
		"uk//rate":                       "a segment is empty",
		"/uk/rate":                       "a segment is empty",
		"uk/rate/":                       "a segment is empty",
		"UK/rate":                        "starts with a letter a to z",
		"1uk/rate":                       "starts with a letter a to z",
		"uk/Rate":                        "a to z or a digit",
		"uk/-rate":                       "a to z or a digit",
		"uk/.rate":                       "a to z or a digit",
		"uk/bank_rate":                   `"_" is not allowed`,
		"uk/bank rate":                   `" " is not allowed`,
		"uk/übergang":                    `"ü"`,
		"uk/r\x00":                       `"\x00" is not allowed`,
		"uk/r\xff":                       `"\xff" is not allowed`,
		"uk.a/rate":                      `"." is not allowed`,
		"uk/rate-":                       "ends in '-'",
		"uk/rate./x":                     "ends in '.'",
		"uk/bank--rate":                  `contains "--"`,
		"uk/a..b":                        `contains ".."`,
		"uk/rate.json":                   "ends in .json",
		"uk/rate.html":                   "ends in .html",
		"uk/rate.txt":                    "ends in .txt",
		"uk/rate.md":                     "ends in .md",
		"resolve/rate":                   "name of a route",
		"index/rate":                     "name of a route",
		"gb/rate":                        "write uk",
		"gb-sct/rate":                    "write uk",
		"ab/rate":                        "country code",
		"ab-123/rate":                    "country code",
		"a/rate":                         "three letters",
		"a1/rate":                        "country code",
		"x-y/rate":                       "three letters",
		"uk/" + strings.Repeat("a", 198): "at most 200",
	} {
		err := facts.CheckKey(key)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckKey(%.40q) = %v, want an error with %q", key, err, want)
		}
		if err != nil && (!utf8.ValidString(err.Error()) || len(err.Error()) > 400) {
			t.Errorf("CheckKey(%.40q): the message is no sentence: %q", key, err)
		}
	}
}

// The grammar of section 2.1 as the specification writes it.
var keyGrammar = regexp.MustCompile(`^[a-z][a-z0-9-]*(/[a-z0-9][a-z0-9.-]*){1,5}$`)

func TestKeyGrammarIsTheRegularExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringOfN(rapid.RuneFrom([]rune("abz09-./_A ")), 0, 24, -1).Draw(t, "key")
		err := facts.CheckKeyGrammar(key)
		if matched := keyGrammar.MatchString(key); matched != (err == nil) {
			t.Fatalf("%q: %v, the expression says %v", key, err, matched)
		}
		if facts.CheckKey(key) == nil && err != nil {
			t.Fatalf("%q passes CheckKey and not the grammar", key)
		}
	})
}

func TestCheckAlias(t *testing.T) {
	for _, alias := range []string{"gb/bank-rate", "uk-rates:income-tax/personal-allowance", "uk-rates:boe", "pa/x"} {
		if err := facts.CheckAlias(alias); err != nil {
			t.Errorf("%s: %v", alias, err)
		}
	}
	for _, alias := range []string{"", "uk", ":x", "uk-rates:", "UK:x", "a:b:c", "a:b//c", "a/b:c", "a:" + strings.Repeat("b", 200)} {
		if err := facts.CheckAlias(alias); err == nil {
			t.Errorf("%q is accepted", alias)
		}
	}
}

func known(keys ...string) func(string) bool {
	set := map[string]bool{}
	for _, k := range keys {
		set[k] = true
	}
	return func(s string) bool { return set[s] }
}

// F§2.3 and T11 of F§14.
func TestNormalizeKey(t *testing.T) {
	has := known("uk/bank-rate", "eol/ubuntu/18.04", "uk/odd.json")
	for _, c := range []struct {
		requested, key string
		changed        bool
	}{
		{"uk/bank-rate", "uk/bank-rate", false},
		{"uk-rates:income-tax/pa", "uk-rates:income-tax/pa", false},
		// URL spelling leaves no trace.
		{"uk/bank-rate/", "uk/bank-rate", false},
		{"uk/bank-rate.json", "uk/bank-rate", false},
		{"uk/odd.json", "uk/odd.json", false},
		{"uk/odd.json.json", "uk/odd.json", false},
		{"https://figures.example/f/uk/bank-rate", "uk/bank-rate", false},
		{"HTTP://figures.example/facts/uk/bank-rate.json", "uk/bank-rate", false},
		{"https://figures.example/uk/bank-rate", "uk/bank-rate", false},
		{"https://figures.example/f/f/uk", "f/uk", false},
		{"https://figures.example/fx/uk", "fx/uk", false},
		{"https://figures.example/f", "", false},
		{"https://figures.example", "", false},
		{"  uk/bank-rate\n", "uk/bank-rate", false},
		// Everything else does.
		{"uk//bank-rate", "uk/bank-rate", true},
		{"/uk/bank-rate", "uk/bank-rate", true},
		{"uk/bank-rate//", "uk/bank-rate", true},
		{"https://figures.example/f//uk/bank-rate", "uk/bank-rate", true},
		{"uk/Bank-Rate", "uk/bank-rate", true},
		{"uk/bank_rate", "uk/bank-rate", true},
		{"uk/bank rate", "uk/bank-rate", true},
		{"uk/bank\u2011rate", "uk/bank-rate", true},
		{"uk/bank\u2212rate", "uk/bank-rate", true},
		{"uk/bank\uff0drate", "uk/bank-rate", true},
		{"uk/bank-rate?max_age=30d", "uk/bank-rate", true},
		{"uk/bank-rate #now", "uk/bank-rate", true},
		{"https://figures.example/f/uk/bank-rate?utm_source=x#y", "uk/bank-rate", true},
		{"https://figures.example?x=/f/uk", "", true},
		{"EOL/Ubuntu/18.04.json", "eol/ubuntu/18.04", true},
		{"uk/.json", "uk/.json", false},
		{"", "", false},
		{"bank\xffrate", "bank\ufffdrate", true},
	} {
		key, changed := facts.NormalizeKey(c.requested, has)
		if key != c.key || changed != c.changed {
			t.Errorf("NormalizeKey(%q) = %q, %v; want %q, %v", c.requested, key, changed, c.key, c.changed)
		}
	}
	if got := facts.RequestedForm(" UK/cafe\u0301 \t"); got != "UK/caf\u00e9" {
		t.Errorf("RequestedForm gives %q", got)
	}
}

func TestNormalizeKeyOfAKeyCostsNothing(t *testing.T) {
	has := known()
	if n := testing.AllocsPerRun(100, func() { facts.NormalizeKey("uk/income-tax/personal-allowance", has) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzNormalizeKey(f *testing.F) {
	for _, seed := range []string{"uk/bank-rate", "https://figures.example/f/UK/bank_rate.json?x#y", "//uk//x//", "uk/.json.json", "http://", "J\u030c/x", "\u0130/k\u212a", "a\xff/ \u2011", "uk/x?\x00", "\u3000uk/\u00a0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, requested string) {
		none := func(string) bool { return false }
		key, _ := facts.NormalizeKey(requested, none)
		if !utf8.ValidString(key) || strings.HasPrefix(key, "/") || strings.HasSuffix(key, "/") || strings.Contains(key, "//") || strings.ContainsAny(key, "?#_ \t\n") {
			t.Fatalf("%q becomes %q", requested, key)
		}
		// One .json is removed, so a doubled one is the only text that a second pass shortens.
		again, changed := facts.NormalizeKey(key, func(s string) bool { return s == key })
		if again != key || changed {
			t.Fatalf("%q becomes %q and then %q", requested, key, again)
		}
		if facts.CheckKey(key) == nil {
			if same, changed := facts.NormalizeKey(key, none); same != key || changed {
				t.Fatalf("the key %q becomes %q", key, same)
			}
		}
	})
}
