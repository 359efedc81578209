package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Token is one word, number or sign of a text, with its place in the text as received.
type Token struct {
	Text       string // as received
	Word       string // NFKC, without case; "&" stands for itself
	Plain      string // word without the marks that the language of the question lets out
	Start, End int    // code points, half-open
	From, To   int    // bytes, half-open
	Opaque     bool   // of one character that stands for several words: it is no word and no number
	Hyphen     bool   // a hyphen joins it to the token before
	Breaks     rune   // the strongest punctuation before it: 0, ',' (also : and an opening bracket), '.' or ';' (also ? ! and a new line)
	apostrophe bool   // an apostrophe joins it to the token before
}

// mapped is a text in NFKC whose runes know where they came from.
type mapped []source

// source is one rune of a text in NFKC with its place in the text as received.
type source struct {
	r          rune
	start, end int  // code points
	from, to   int  // bytes
	wide       bool // it stands with runes of another kind for one character, such as the three runes of ½
}

// compatible appends a text in NFKC with its map of offsets. The text is UTF-8.
func compatible(m mapped, s string) mapped {
	if m = slices.Grow(m, len(s)); ascii(s) {
		for i := range len(s) {
			m = append(m, source{r: rune(s[i]), start: i, end: i + 1, from: i, to: i + 1})
		}
		return m
	}
	var it norm.Iter
	it.InitString(norm.NFKC, s)
	points := 0
	for !it.Done() {
		from := it.Pos()
		segment := string(it.Next())
		for it.Pos() == from && !it.Done() {
			segment += string(it.Next()) // one character may come in several pieces
		}
		to := it.Pos()
		if s[from:to] == "´" {
			segment = "'" // typed for an apostrophe
		}
		n := utf8.RuneCountInString(s[from:to])
		wide := mixedKinds(segment)
		for _, r := range segment {
			m = append(m, source{r, points, points + n, from, to, wide})
		}
		points += n
	}
	return m
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mixedKinds reports whether a segment holds parts of words and something else, such as the three runes of ½.
func mixedKinds(segment string) bool {
	inside, outside := false, false
	for _, r := range segment {
		if wordRune(r) {
			inside = true
		} else {
			outside = true
		}
	}
	return inside && outside
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
}

// sign reports whether a rune is a token of its own: a currency or mathematical sign, or one that makes another name of a word (C, C++, C#).
func sign(r rune) bool {
	return unicode.In(r, unicode.Sc, unicode.Sm) && r != '\u2044' || r == '%' || r == '&' || r == '#' || r == '@'
}

// minus reports whether a rune is written before a negative number.
func minus(r rune) bool {
	return r == '-' || r == '\u2212' || r == '\u2010' || r == '\u2011' || r == '\u2013'
}

// caseless removes case: ß becomes ss.
func caseless(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

// Scan cuts a text into tokens. Contractions and possessives are the affair of a language: see Language.Tokens.
func Scan(s string) []Token {
	var room [64]source // of a question or a title: it stays on the stack
	m := compatible(room[:0], s)
	out := make([]Token, 0, 1+strings.Count(s, " "))
	var breaks rune
	hyphen, apostrophe := false, false
	for i := 0; i < len(m); {
		r := m[i].r
		switch {
		case m[i].wide:
			j := i + 1
			for j < len(m) && m[j].start == m[i].start {
				j++
			}
			out = append(out, m.token(s, i, j, true))
			i = j
		case m.negative(i):
			j := m.wordEnd(i + 1)
			out = append(out, m.token(s, i, j, false))
			i = j
		case wordRune(r):
			j := m.wordEnd(i)
			out = append(out, m.token(s, i, j, false))
			i = j
		case sign(r):
			out = append(out, m.token(s, i, i+1, false))
			i++
		default:
			if r == '.' && len(out) > 0 && short(out[len(out)-1], m[i].from) {
				i++
				continue
			}
			breaks, hyphen, apostrophe = m.between(i, breaks, hyphen, apostrophe, len(out) > 0)
			i++
			continue
		}
		t := &out[len(out)-1]
		t.Breaks, t.Hyphen, t.apostrophe = breaks, hyphen, apostrophe
		breaks, hyphen, apostrophe = 0, false, false
	}
	return out
}

// short reports whether a point at a byte offset ends an abbreviation such as St. or Dr. rather than a sentence. Reading on is the careful side: what then stands
// together must fit together.
func short(t Token, at int) bool {
	return t.To == at && utf8.RuneCountInString(t.Word) <= 3 && !strings.ContainsAny(t.Word, "0123456789")
}

// between notes what a rune between two tokens says about the next one.
func (m mapped) between(i int, breaks rune, hyphen, apostrophe, after bool) (rune, bool, bool) {
	tight := after && i > 0 && wordRune(m[i-1].r) && i+1 < len(m) && wordRune(m[i+1].r)
	switch m[i].r {
	case ',', '(', ':', '、', '，':
		if breaks == 0 {
			breaks = ','
		}
	case ';', '?', '!', '¿', '¡', '\n', '…', '。', '？', '！':
		breaks = ';'
	case '.':
		if !tight && breaks != ';' {
			breaks = '.'
		}
	case '-', '‐', '‑':
		hyphen = tight
	case '\'', '’', 'ʼ':
		apostrophe = tight
	}
	return breaks, hyphen, apostrophe
}

// negative reports whether a negative amount starts at i: a minus before a digit or a currency sign, and nothing of a word before it.
func (m mapped) negative(i int) bool {
	if !minus(m[i].r) || i+1 >= len(m) || m[i+1].wide || i > 0 && wordRune(m[i-1].r) {
		return false
	}
	return unicode.IsDigit(m[i+1].r) || unicode.Is(unicode.Sc, m[i+1].r)
}

// wordEnd is the end of the run of letters and digits that starts at i. A point, comma or colon between digits belongs to the number.
func (m mapped) wordEnd(i int) int {
	j := i + 1
	for j < len(m) && !m[j].wide {
		switch r := m[j].r; {
		case wordRune(r):
		case (r == '.' || r == ',' || r == ':') && unicode.IsDigit(m[j-1].r) && j+1 < len(m) && !m[j+1].wide && unicode.IsDigit(m[j+1].r):
		default:
			return j
		}
		j++
	}
	return j
}

func (m mapped) token(s string, i, j int, opaque bool) Token {
	from, to := m[i].from, m[j-1].to
	t := Token{Text: s[from:to], Start: m[i].start, End: m[j-1].end, From: from, To: to, Opaque: opaque}
	if opaque {
		t.Word = "\x00" + t.Text // equal to no published word but its own kind, which is looked up under no word
		return t
	}
	if ascii(t.Text) { // it is its own NFKC
		t.Word = strings.ToLower(t.Text)
		return t
	}
	var word strings.Builder
	for _, c := range m[i:j] {
		word.WriteRune(c.r)
	}
	t.Word = caseless(word.String())
	return t
}
