package language

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sayso/business/hours"
)

func english(t testing.TB) *Language {
	t.Helper()
	all, err := Packs()
	if err != nil {
		t.Fatal(err)
	}
	return all["en"]
}

func TestTokens(t *testing.T) {
	l := english(t)
	for text, want := range map[string]string{
		"How much is it?":                "how much is it",
		"wi-fi, check-up":                "wi -fi ,check -up",
		"don't you":                      "do not you",
		"the children's room":            "the children room",
		"the girls' room":                "the girls room",
		"7.50 € or 1,000.50 EUR":         "7.50 € or 1,000.50 eur",
		"at 17:30. Then 18V":             "at 17:30 .then 18v",
		"St. Louis":                      "st louis",
		"over -1000, −5 or 4-5":          "over -1000 ,−5 or 4 -5",
		"Straße ＡＢＣ ﬁsh":                 "strasse abc fish",
		"C, C++ and C#":                  "c ,c + + and c #",
		"½ hour":                         "\x00½ hour",
		"a (b) c; d":                     "a ,b c ;d",
		"Hammer & Nail":                  "hammer & nail",
		"\u202eevil\u202c text\u0000end": "evil text end",
	} {
		var got []string
		for _, tok := range l.Tokens(text) {
			s := tok.Word
			if tok.Hyphen {
				s = "-" + s
			}
			if tok.Breaks != 0 {
				s = string(tok.Breaks) + s
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
	}
}

// checkTokens holds any text's tokens to what accounting relies on: in order, in bounds, and slicing by code points gives back the text.
func checkTokens(t *testing.T, text string, tokens []Token) {
	runes := []rune(text)
	end, from := 0, 0
	for i, tok := range tokens {
		shared := i > 0 && tok.Start == tokens[i-1].Start && tok.End == tokens[i-1].End // the words of one contraction
		if tok.Start < end && !shared || tok.End <= tok.Start || tok.End > len(runes) || tok.From < from && !shared {
			t.Fatalf("%q: token %d has the place %d to %d behind %d", text, i, tok.Start, tok.End, end)
		}
		if got := string(runes[tok.Start:tok.End]); got != text[tok.From:tok.To] || got != tok.Text {
			t.Fatalf("%q: token %d is %q by code points and %q by bytes", text, i, got, tok.Text)
		}
		end, from = tok.End, tok.To
	}
}

// I9: offsets slice back, whatever the text.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"How much is it?", "don't l’hôtel children's", "½ ﬁ ㎞ ①", "e\u0301a\u0308 ＡＢ", "-€50 −5 4x40 1,000.50", "\u202e\u0000\ufffd", "İIıß"} {
		f.Add(s)
	}
	all, err := Packs()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 2000 {
			return
		}
		for _, name := range keysOf(all) {
			checkTokens(t, s, all[name].Tokens(s))
		}
	})
}

func TestInflection(t *testing.T) {
	l := english(t)
	for _, pair := range []string{"exam exams", "lens lenses", "box boxes", "battery batteries", "child children", "tyre tyres", "glass glasss"} {
		a, b, _ := strings.Cut(pair, " ")
		if want := pair != "glass glasss"; l.SameWord(a, b) != want || l.SameWord(b, a) != want {
			t.Errorf("%s and %s: want %v", a, b, want)
		}
	}
	for _, pair := range []string{"box boxing", "fit fitted", "custom customer", "house housing", "coat coating", "universal university", "glass glasses", "new news", "good goods", "ga gas", "bu bus", "dres dress", "thi this", "cane can"} {
		a, b, _ := strings.Cut(pair, " ")
		if l.SameWord(a, b) {
			t.Errorf("%s and %s are taken for one word", a, b)
		}
	}
	all, _ := Packs()
	if !all["de"].SameWord("parkplatz", "parkplätze") || all["de"].SameWord("bäcker", "backen") {
		t.Error("de: a plural with an umlaut is one word, a derivation is not")
	}
}

func TestLiterals(t *testing.T) {
	all, _ := Packs()
	for _, c := range []struct{ lang, text, value, unit string }{
		{"en", "50 eur", "50", "EUR"}, {"en", "€50", "50", "EUR"}, {"en", "1,000.50 pounds", "2001/2", "GBP"}, {"en", "30min", "30", "min"},
		{"en", "two hours", "2", "h"}, {"en", "-5 km", "-5", "km"}, {"en", "0.125 l", "1/8", "l"}, {"en", "50", "50", ""},
		{"en", "1.500 eur", "", ""}, {"en", "two", "", ""}, {"en", "18v", "", ""}, {"en", "1,00,0", "", ""}, {"en", "½ hour", "", ""},
		{"de", "7,50 euro", "15/2", "EUR"}, {"de", "1.500 euro", "1500", "EUR"}, {"de", "7.50 euro", "15/2", "EUR"}, {"de", "1,500 euro", "", ""},
	} {
		l := all[c.lang]
		got, ok := l.LiteralAt(l.Tokens(c.text), 0)
		switch {
		case c.value == "" && ok:
			t.Errorf("%s %q is read as %s", c.lang, c.text, got.Value.RatString())
		case c.value != "" && (!ok || got.Value.RatString() != c.value || got.Unit != c.unit):
			t.Errorf("%s %q: %v %+v, want %s %s", c.lang, c.text, ok, got, c.value, c.unit)
		}
	}
}

func TestTimesAndDates(t *testing.T) {
	all, _ := Packs()
	for _, c := range []struct {
		lang, text string
		minute     int
	}{
		{"en", "17:30", 1050}, {"en", "9am", 540}, {"en", "12 am", 0}, {"en", "12 pm", 720}, {"en", "9.30 pm", 1290}, {"de", "10 uhr", 600}, {"fr", "17h30", 1050},
		{"en", "9", -1}, {"en", "25:00", -1}, {"en", "9:75", -1}, {"en", "13 pm", -1}, {"en", "9.30", -1}, {"en", "9 o'clock", -1},
	} {
		l := all[c.lang]
		minute, next := l.TimeAt(l.Tokens(c.text), 0)
		if next == 0 {
			minute = -1
		}
		if minute != c.minute {
			t.Errorf("%s %q: %d, want %d", c.lang, c.text, minute, c.minute)
		}
	}
	for _, c := range []struct {
		lang, text string
		want       hours.Date
	}{
		{"en", "24 December", hours.Date{Month: time.December, Day: 24}}, {"en", "24th of December 2026", hours.Date{Year: 2026, Month: time.December, Day: 24}},
		{"en", "December 24th", hours.Date{Month: time.December, Day: 24}}, {"en", "2026-12-24", hours.Date{Year: 2026, Month: time.December, Day: 24}},
		{"de", "24. Dezember", hours.Date{Month: time.December, Day: 24}}, {"de", "24.12.2026", hours.Date{Year: 2026, Month: time.December, Day: 24}},
		{"en", "31 February", hours.Date{}}, {"en", "2026-02-30", hours.Date{}}, {"en", "24.12.2026", hours.Date{}}, {"en", "may", hours.Date{}},
	} {
		l := all[c.lang]
		if got, _ := l.DateAt(l.Tokens(c.text), 0); got != c.want {
			t.Errorf("%s %q: %+v, want %+v", c.lang, c.text, got, c.want)
		}
	}
}
