package facts

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a misspelling (F§6.4): both words have at least four characters and no digit, and they are at most two edits apart, one for four characters.
const (
	typoMinLength = 4
	typoMaxEdits  = 2
)

// typo is a vocabulary word near a token that is not in the vocabulary.
type typo struct {
	word  int32
	edits uint8
}

// trie holds the vocabulary words that stand in some key or label and may be misspelled. A walk with one row of the edit-distance table per level visits
// only the prefixes that can still end within the bound, so its cost follows the vocabulary near the token and not the catalogue.
type trie struct{ nodes []trieNode }

// trieNode is one character behind its parent. The children are nodes[first:end], ascending; a node without children is a leaf and stands for the whole
// rest of its word.
type trieNode struct {
	char       rune
	first, end int32
	word       int32 // the word that ends here or, in a leaf, behind here; -1 when there is none
}

func newTrie(x *index) trie {
	var words []int32
	for i := range int32(len(x.offsets) - 1) {
		if w := x.word(i); len(x.own(i)) > 0 && mayBeTypo(w) {
			words = append(words, i)
		}
	}
	type job struct{ node, lo, hi, depth int }
	nodes := []trieNode{{word: -1}}
	// Breadth first, so that the children of a node lie side by side.
	for jobs := []job{{0, 0, len(words), 0}}; len(jobs) > 0; jobs = jobs[1:] {
		j := jobs[0]
		if j.lo < j.hi && len(x.word(words[j.lo])) == j.depth {
			nodes[j.node].word = words[j.lo]
			j.lo++
		}
		nodes[j.node].first = int32(len(nodes))
		for lo := j.lo; lo < j.hi; {
			prefix := x.word(words[lo])
			char, size := utf8.DecodeRuneInString(prefix[j.depth:])
			prefix = prefix[:j.depth+size]
			hi := lo + 1
			for hi < j.hi && strings.HasPrefix(x.word(words[hi]), prefix) {
				hi++
			}
			node := trieNode{char: char, word: -1}
			if hi == lo+1 {
				node.word = words[lo]
			} else {
				jobs = append(jobs, job{len(nodes), lo, hi, len(prefix)})
			}
			nodes = append(nodes, node)
			lo = hi
		}
		nodes[j.node].end = int32(len(nodes))
	}
	return trie{slices.Clip(nodes)}
}

// mayBeTypo reports whether a word is one that typos are looked for, on either side.
func mayBeTypo(w string) bool {
	return len(w) >= typoMinLength && utf8.RuneCountInString(w) >= typoMinLength && !hasDigit(w)
}

// near appends the words within the bound of a token that mayBeTypo, nearest first, then by bytes.
func (x *index) near(dst []typo, token string) []typo {
	walk := typoWalk{index: x, token: []rune(token), most: typoMaxEdits, found: dst}
	if len(walk.token) == typoMinLength {
		walk.most = 1
	}
	var row typoRow // of the empty prefix: j insertions
	for i := range row {
		row[i] = uint8(max(i-typoMaxEdits, 0))
		if i < typoMaxEdits {
			row[i] = typoMaxEdits + 1
		}
	}
	walk.visit(0, 0, 0, row)
	slices.SortFunc(walk.found[len(dst):], func(a, b typo) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(a.word, b.word))
	})
	return walk.found
}

// typoRow is the band of one row of the edit-distance table: cell c of the row for a prefix of i characters is the distance to the first i+c-2 characters
// of the token. Cells outside the token, and distances beyond the bound, hold typoMaxEdits+1.
type typoRow [2*typoMaxEdits + 1]uint8

type typoWalk struct {
	*index
	token []rune
	most  uint8
	found []typo
}

// visit goes through a node whose prefix has depth characters and size bytes.
func (w *typoWalk) visit(node int32, depth, size int, row typoRow) {
	n := w.typos.nodes[node]
	if n.first == n.end && n.word >= 0 { // a leaf: only one word goes on from here
		for _, char := range w.word(n.word)[size:] {
			var least uint8
			if row, least = w.step(row, depth, char); least > w.most {
				return
			}
			depth++
		}
	}
	if n.word >= 0 {
		if c := len(w.token) - depth + typoMaxEdits; c >= 0 && c < len(row) && row[c] <= w.most {
			w.found = append(w.found, typo{n.word, row[c]})
		}
	}
	for child := n.first; child < n.end; child++ {
		char := w.typos.nodes[child].char
		if next, least := w.step(row, depth, char); least <= w.most {
			w.visit(child, depth+1, size+utf8.RuneLen(char), next)
		}
	}
}

// step is the row behind one more character, and its least cell: no word behind a row beyond the bound can be near.
func (w *typoWalk) step(row typoRow, depth int, char rune) (next typoRow, least uint8) {
	least = typoMaxEdits + 1
	left := least
	for c := range next {
		j := depth + 1 + c - typoMaxEdits // characters of the token
		best := uint8(typoMaxEdits + 1)
		if j >= 0 && j <= len(w.token) {
			if c+1 < len(row) {
				best = min(best, row[c+1]+1)
			}
			if j > 0 {
				cost := row[c]
				if w.token[j-1] != char {
					cost++
				}
				best = min(best, cost, left+1)
			}
		}
		next[c], left = best, best
		least = min(least, best)
	}
	return next, least
}
