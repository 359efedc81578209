package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sayso/facts"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"one two three", "one two\nthree"},
		{"one two\n\nthree", "one two\n\nthree"},
		{"a https://figures.example b", "a\nhttps://figures.example\nb"},
		{"éé éé éé", "éé éé éé"},
	} {
		if got := wrap(c.in, 8); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFirstOf(t *testing.T) {
	for n, want := range map[int]string{1: "a", 3: "a b c", 5: "a b c and 2 more"} {
		if got := firstOf(strings.Split("abcde", "")[:n], 3); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A scale does not push the columns of the list off the screen.
func TestChangesAreClipped(t *testing.T) {
	long := facts.StringValue(strings.Repeat("x", 500))
	for _, c := range []facts.Entry{{From: long, To: long}, {From: facts.Null, To: long}, {From: long, To: facts.Null}} {
		what := changeCells(&c)[2]
		if n := utf8.RuneCountInString(what); n > changeWidth+len(" withdrawn") || !strings.Contains(what, "…") {
			t.Errorf("%d characters: %s", n, what)
		}
	}
}
