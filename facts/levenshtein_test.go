package facts_test

import (
	"testing"

	"pgregory.net/rapid"

	"sayso/facts"
)

func TestLevenshtein(t *testing.T) {
	for _, c := range []struct {
		a, b      string
		max, want int
	}{
		{"employer", "employee", 2, 1}, {"tax", "vat", 2, 2}, {"threshhold", "threshold", 2, 1}, {"", "", 0, 0}, {"", "ab", 2, 2}, {"", "abc", 2, 3}, {"ab", "ba", 2, 2},
		{"größe", "grösse", 2, 2}, {"abcdef", "abcdef", 0, 0}, {"abcdef", "abcdeg", 0, 1}, {"kitten", "sitting", 2, 3}, {"kitten", "sitting", 3, 3},
	} {
		if got := facts.Levenshtein([]rune(c.a), []rune(c.b), c.max); got != c.want {
			t.Errorf("%s %s within %d: %d, want %d", c.a, c.b, c.max, got, c.want)
		}
	}
}

// The whole matrix, as the definition has it.
func wholeDistance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
		}
	}
	return rows[len(a)][len(b)]
}

func TestLevenshteinBandIsTheMatrix(t *testing.T) {
	word := rapid.SliceOfN(rapid.RuneFrom([]rune("abc")), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b, most := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(0, 4).Draw(t, "max")
		want := min(wholeDistance(a, b), most+1)
		if got := facts.Levenshtein(a, b, most); got != want {
			t.Fatalf("%s %s within %d: %d, want %d", string(a), string(b), most, got, want)
		}
	})
}
