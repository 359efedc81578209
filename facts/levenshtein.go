package facts

import "strings"

// NearestName is the known name that a mistyped one most likely means: within two edits, case and underscores aside, the first of the nearest. It is ""
// when none is near, or the name is longer than 64 characters.
func NearestName(name string, known []string) string {
	nearest, best := "", 3
	if given := foldName(name); len(given) > 0 && len(given) <= 64 {
		for _, candidate := range known {
			if d := levenshtein(given, foldName(candidate), 2); d < best {
				nearest, best = candidate, d
			}
		}
	}
	return nearest
}

func foldName(name string) []rune {
	return []rune(strings.ToLower(strings.ReplaceAll(name, "_", "")))
}

// levenshtein is the number of insertions, deletions and substitutions of code points that turn a into b, or max+1 when that is more than max. Only the
// diagonal band of width 2·max+1 is computed.
func levenshtein(a, b []rune, max int) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > max {
		return max + 1
	}
	var fixed [64]int
	row := fixed[:]
	if len(a)+1 > len(row) {
		row = make([]int, len(a)+1)
	}
	row = row[:len(a)+1]
	for i := range row {
		row[i] = i
	}
	for j := 1; j <= len(b); j++ {
		from, to := j-max, j+max
		if from < 1 {
			from = 1
		}
		if to > len(a) {
			to = len(a)
		}
		diagonal := row[from-1] // the cell up and left of the next one
		row[from-1] = max + 1
		if from == 1 {
			row[0] = j
		}
		best := row[from-1]
		for i := from; i <= to; i++ {
			up := row[i]
			if i == j+max {
				up = max + 1 // outside the band of the row before
			}
			cell := diagonal
			if a[i-1] != b[j-1] {
				cell = 1 + min(diagonal, up, row[i-1])
			}
			diagonal, row[i] = row[i], cell
			if cell < best {
				best = cell
			}
		}
		if best > max {
			return max + 1
		}
	}
	if row[len(a)] > max {
		return max + 1
	}
	return row[len(a)]
}
