package facts_test

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/facts/resolvetest"
)

// oracle is F§6 written a second time, as slowly and as literally as possible: every entry is scored for every question.
type oracle struct {
	in    facts.RankerInput
	stop  map[string]bool
	vocab map[string]bool
	facts []oracleFact
	kinds []oraclePhrase
}

type oracleFact struct {
	key, namespace      string
	inKey, own, inTitle map[string]bool
	segments            [][]string
}

type oraclePhrase struct {
	rank              int // synonym, jurisdiction, stop
	tokens            []string
	text, namespace   string
	prefix, expansion []string // of a synonym, one pair per topic
}

type oracleWord struct{ spelled, lower, stem string }

var (
	oracleHyphens = strings.NewReplacer("\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-", "\ufe58", "-", "\ufe63", "-", "\uff0d", "-")
	oracleQuotes  = strings.NewReplacer("'", "", "\u2018", "", "\u2019", "", "\u02bc", "", "\uff07", "")
	oracleToken   = regexp.MustCompile(`[\pL\pN\pM.]+`)
	oracleCountry = regexp.MustCompile(`^[a-z]{2}(-[a-z0-9]{1,3})?$`)
)

func oracleFold(s string) string {
	return oracleHyphens.Replace(oracleQuotes.Replace(norm.NFC.String(s)))
}

func oracleWords(s string) (words []oracleWord) {
	for _, token := range oracleToken.FindAllString(oracleFold(s), -1) {
		if token = strings.Trim(token, "."); token != "" {
			words = append(words, oracleWord{token, strings.ToLower(token), oracleStem(strings.ToLower(token))})
		}
	}
	return words
}

func oracleStem(w string) string {
	n := len([]rune(w))
	end := func(endings ...string) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(w, e) })
	}
	switch {
	case n <= 3 || strings.ContainsFunc(w, unicode.IsDigit):
		return w
	case end("ies") && n > 4:
		return w[:len(w)-3] + "y"
	case end("sses", "xes", "zes", "ches", "shes"):
		return w[:len(w)-2]
	case end("s") && !end("ss", "us", "is"):
		return w[:len(w)-1]
	}
	return w
}

func oracleStems(s string) (out []string) {
	for _, w := range oracleWords(s) {
		out = append(out, w.stem)
	}
	return out
}

func newOracle(in facts.RankerInput) *oracle {
	o := &oracle{in: in, stop: map[string]bool{}, vocab: map[string]bool{}}
	for _, s := range in.StopWords {
		if w := oracleWords(s); len(w) == 1 {
			o.stop[w[0].lower] = true
		} else {
			o.addPhrase(oraclePhrase{rank: 2, tokens: oracleStems(s)})
		}
	}
	var words []string
	for s := range in.JurisdictionWords {
		words = append(words, s)
	}
	sort.Strings(words)
	for _, s := range words {
		o.addPhrase(oraclePhrase{rank: 1, tokens: oracleStems(s), namespace: in.JurisdictionWords[s]})
	}
	for _, s := range in.Namespaces {
		if len(s) > 2 {
			o.addPhrase(oraclePhrase{rank: 1, tokens: oracleStems(s), namespace: s})
		}
	}
	for _, t := range in.Topics {
		for s, x := range t.Synonyms {
			o.addPhrase(oraclePhrase{rank: 0, tokens: oracleStems(s), text: s, prefix: []string{t.Prefix}, expansion: []string{x}})
		}
		o.content(t.Title, map[string]bool{})
	}
	for _, p := range o.kinds {
		for _, token := range p.tokens {
			o.vocab[token] = true
		}
	}
	for _, e := range in.Entries {
		f := oracleFact{key: e.Key, inKey: map[string]bool{}, own: map[string]bool{}, inTitle: map[string]bool{}}
		f.namespace, _, _ = strings.Cut(e.Key, "/")
		o.content(e.Key, f.inKey, f.own)
		o.content(e.Label, f.own)
		for _, s := range strings.Split(e.Key, "/") {
			f.segments = append(f.segments, oracleStems(s))
		}
		longest := ""
		for _, t := range in.Topics {
			if oracleUnder(e.Key, t.Prefix) && len(t.Prefix) > len(longest) {
				longest = t.Prefix
				clear(f.inTitle)
				o.content(t.Title, f.inTitle)
			}
		}
		o.facts = append(o.facts, f)
	}
	return o
}

func (o *oracle) addPhrase(p oraclePhrase) {
	if len(p.tokens) == 0 {
		return
	}
	for i := range o.kinds {
		if k := &o.kinds[i]; k.rank == p.rank && slices.Equal(k.tokens, p.tokens) {
			if p.rank == 0 {
				k.text = min(k.text, p.text)
				k.prefix = append(k.prefix, p.prefix...)
				k.expansion = append(k.expansion, p.expansion...)
			}
			return
		}
	}
	o.kinds = append(o.kinds, p)
}

func (o *oracle) content(text string, into ...map[string]bool) {
	for _, w := range oracleWords(text) {
		if !o.stop[w.lower] {
			o.vocab[w.stem] = true
			for _, m := range into {
				m[w.stem] = true
			}
		}
	}
}

func oracleUnder(key, prefix string) bool { return key == prefix || strings.HasPrefix(key, prefix+"/") }

func oraclePartOf(namespace, country string) bool {
	return len(country) == 2 && strings.HasPrefix(namespace, country+"-") && oracleCountry.MatchString(namespace)
}

// units reads a question.
func (o *oracle) units(q string) (units []any, jurisdictions []string) {
	q = oracleFold(strings.TrimSpace(q))
	if first, rest, ok := strings.Cut(strings.TrimLeft(q, "/"), "/"); ok && !strings.ContainsFunc(q, unicode.IsSpace) {
		s := strings.ToLower(first)
		if s == "gb" || strings.HasPrefix(s, "gb-") {
			s = "uk" + s[2:]
		}
		if slices.Contains(o.in.Namespaces, s) || oracleCountry.MatchString(s) {
			jurisdictions, q = append(jurisdictions, s), rest
		}
	}
	words := oracleWords(q)
	for i := 0; i < len(words); {
		var best *oraclePhrase
		for k := range o.kinds {
			p := &o.kinds[k]
			if len(p.tokens) > len(words)-i || !slices.EqualFunc(p.tokens, words[i:i+len(p.tokens)], func(t string, w oracleWord) bool { return t == w.stem }) {
				continue
			}
			if best == nil || len(p.tokens) > len(best.tokens) || len(p.tokens) == len(best.tokens) && p.rank < best.rank {
				best = p
			}
		}
		w := words[i]
		pronoun := w.lower == "us" && w.spelled != "US" && i > 0 && slices.Contains([]string{"tell", "show", "give", "let", "remind", "help"}, words[i-1].lower)
		switch {
		case best != nil && best.rank == 0:
			units = append(units, best)
			i += len(best.tokens)
		case pronoun && (best == nil || len(best.tokens) == 1):
			i++
		case best != nil:
			if best.rank == 1 {
				jurisdictions = append(jurisdictions, best.namespace)
			}
			i += len(best.tokens)
		default:
			if !o.stop[w.lower] {
				units = append(units, w.stem)
			}
			i++
		}
	}
	var kept []string
	for _, j := range jurisdictions {
		if !slices.ContainsFunc(jurisdictions, func(s string) bool { return oraclePartOf(s, j) }) {
			kept = append(kept, j)
		}
	}
	return units, kept
}

func oracleEdits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0]++
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// hit is what one unit earns from one fact.
func (o *oracle) hit(f *oracleFact, u any) (full, part int, matched string) {
	token, ok := u.(string)
	if !ok {
		p := u.(*oraclePhrase)
		for i, prefix := range p.prefix {
			words := oracleStems(p.expansion[i])
			for _, s := range f.segments {
				for at := 0; len(words) > 0 && at+len(words) <= len(s) && oracleUnder(f.key, prefix); at++ {
					if slices.Equal(s[at:at+len(words)], words) {
						return 900, 700, "synonym:" + p.text
					}
				}
			}
		}
		for _, t := range p.tokens {
			if !f.own[t] {
				return 0, 0, ""
			}
		}
		return 900, 700, "synonym:" + p.text
	}
	switch {
	case f.inKey[token]:
		return 900, 700, "key:" + token
	case f.own[token]:
		return 900, 700, "label:" + token
	case f.inTitle[token]:
		return 450, 350, "topic:" + token
	}
	asked := []rune(token)
	if o.vocab[token] || strings.ContainsFunc(token, unicode.IsDigit) || len(asked) < 4 {
		return 0, 0, ""
	}
	bound := 2
	if len(asked) == 4 {
		bound = 1
	}
	best, nearest := "", bound+1
	for own := range f.own {
		if held := []rune(own); len(held) >= 4 && !strings.ContainsFunc(own, unicode.IsDigit) {
			if d := oracleEdits(asked, held); d < nearest || d == nearest && d <= bound && own < best {
				best, nearest = own, d
			}
		}
	}
	if nearest > bound {
		return 0, 0, ""
	}
	return 0, 400, "typo:" + token + "~" + best
}

// rank answers as Ranker.Rank, with keys in place of positions.
func (o *oracle) rank(q, namespace string, limit int) (lines []string, best bool) {
	type scored struct {
		score   int
		key     string
		matched []string
	}
	var all []scored
	units, jurisdictions := o.units(q)
	key, _ := facts.NormalizeKey(q, func(string) bool { return false })
	for i := range o.facts {
		f := &o.facts[i]
		if namespace != "" && f.namespace != namespace && !oraclePartOf(f.namespace, namespace) {
			continue
		}
		if f.key == key {
			all = append(all, scored{1000, f.key, []string{"key"}})
			continue
		}
		s, isFull, full, part := scored{key: f.key}, len(units) > 0, 0, 0
		for _, u := range units {
			fu, pa, matched := o.hit(f, u)
			full, part, isFull = full+fu, part+pa, isFull && fu > 0
			if matched != "" {
				s.matched = append(s.matched, matched)
			}
		}
		if isFull {
			s.score = full / len(units)
		} else if len(units) > 0 {
			s.score = part / len(units)
		}
		switch {
		case len(jurisdictions) == 0 || slices.Contains(jurisdictions, f.namespace):
		case slices.ContainsFunc(jurisdictions, func(j string) bool { return oraclePartOf(f.namespace, j) }):
			s.score = min(s.score, 790)
		default:
			s.score /= 2
		}
		if s.score > 0 {
			all = append(all, s)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].score > all[j].score })
	best = len(all) > 0 && (all[0].score == 1000 || all[0].score >= 800 && (len(all) == 1 || all[1].score < 800 && all[0].score-all[1].score >= 200))
	for _, s := range all[:min(limit, len(all))] {
		lines = append(lines, fmt.Sprint(s.score, " ", s.key, " ", s.matched))
	}
	return lines, best
}

func rankLines(in facts.RankerInput, r facts.Ranking) (lines []string) {
	for _, h := range r.Hits {
		lines = append(lines, fmt.Sprint(h.Score, " ", in.Entries[h.Entry].Key, " ", h.Matched))
	}
	return lines
}

// compare asks both and reports the first difference.
func compare(t rapid.TB, o *oracle, r *facts.Ranker, q, namespace string, limit int) {
	t.Helper()
	want, wantBest := o.rank(q, namespace, limit)
	got := r.Rank(q, namespace, limit)
	if lines := rankLines(o.in, got); !slices.Equal(lines, want) || got.Best != wantBest {
		t.Fatalf("%q in %q, limit %d: best %v\n%s\nwant best %v\n%s", q, namespace, limit, got.Best, strings.Join(lines, "\n"), wantBest, strings.Join(want, "\n"))
	}
}

// F§6.12: the index answers exactly as scoring every fact does, on small catalogues full of collisions: scores, order, matches and what resolves.
func TestResolveEqualsScoringEverything(t *testing.T) {
	words := strings.Fields("rate rates base bank wage wages wags tax taxes threshold treshold employer employee level level's a the 1 2 1st co2 penalty us ca get gets über uber façade")
	pick := func(t *rapid.T, name string, most int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, most).Draw(t, name), " ")
	}
	asciiOnly := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r > 127 || r == '\'' {
				return 'e'
			}
			return r
		}, strings.ReplaceAll(s, " ", "-"))
	}
	namespaces := []string{"uk", "uk-sct", "us", "us-ca", "us-ny", "eol", "de"}
	rapid.Check(t, func(t *rapid.T) {
		in := facts.RankerInput{
			Namespaces:        rapid.SliceOfNDistinct(rapid.SampledFrom(namespaces), 0, 7, rapid.ID).Draw(t, "namespaces"),
			StopWords:         []string{"a", "the", "get", "this year", "the bank"},
			JurisdictionWords: map[string]string{"us": "us", "british": "uk", "uk": "uk", "bank tax": "uk-sct", "california": "us-ca"},
		}
		seen := map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "size") {
			key := rapid.SampledFrom(namespaces).Draw(t, "namespace")
			for range rapid.IntRange(1, 3).Draw(t, "depth") {
				key += "/" + asciiOnly(pick(t, "segment", 3))
			}
			if !seen[key] {
				seen[key] = true
				in.Entries = append(in.Entries, facts.RankerEntry{Key: key, Label: pick(t, "label", 5)})
			}
		}
		slices.SortFunc(in.Entries, func(a, b facts.RankerEntry) int { return strings.Compare(a.Key, b.Key) })
		for range rapid.IntRange(0, 5).Draw(t, "topics") {
			key := in.Entries[rapid.IntRange(0, len(in.Entries)-1).Draw(t, "topic")].Key
			segments := strings.Split(key, "/")
			prefix := strings.Join(segments[:rapid.IntRange(1, len(segments)).Draw(t, "cut")], "/")
			if slices.ContainsFunc(in.Topics, func(t facts.RankerTopic) bool { return t.Prefix == prefix }) {
				continue
			}
			in.Topics = append(in.Topics, facts.RankerTopic{Prefix: prefix, Title: pick(t, "title", 3), Synonyms: map[string]string{
				pick(t, "synonym", 2): asciiOnly(pick(t, "expansion", 2)),
				"ni":                  asciiOnly(pick(t, "expansion", 2)),
			}})
		}
		o, r := newOracle(in), newRanker(t, in)
		for range 12 {
			q := pick(t, "question", 6)
			if rapid.Bool().Draw(t, "named") {
				q = rapid.SampledFrom([]string{"us ", "tell us ", "US ", "uk ", "british ", "california ", "us/", "uk-sct/", "gb/", "eol ", "us-ny ", "ni ", "wagee ", "emploer "}).Draw(t, "name") + q
			}
			if rapid.IntRange(0, 9).Draw(t, "exact") == 0 {
				q = in.Entries[rapid.IntRange(0, len(in.Entries)-1).Draw(t, "key")].Key
			}
			namespace := rapid.SampledFrom([]string{"", "", "", "uk", "us", "us-ca"}).Draw(t, "filter")
			compare(t, o, r, q, namespace, rapid.IntRange(1, 20).Draw(t, "limit"))
		}
	})
}

// The same on a catalogue with long postings, where the walk stops early.
func TestResolveEqualsScoringEverythingAtScale(t *testing.T) {
	in := resolvetest.Catalogue(3, 4_000)
	o, r := newOracle(in), newRanker(t, in)
	for i, q := range resolvetest.Queries(4, resolvetest.Labels(in), 150) {
		if i%7 == 0 {
			q = "zz-aa " + q
		}
		compare(t, o, r, q, []string{"", "", "zz"}[i%3], 1+i%20)
	}
}

// Whatever is asked, the index answers as scoring every fact does.
func FuzzRank(f *testing.F) {
	in := catalogue(f)
	in.AliasClasses = nil
	for i := range in.Entries {
		in.Entries[i].Aliases = nil
	}
	o, r := newOracle(in), newRanker(f, in)
	for _, q := range []string{"what is the NI primary threshold", "us-ca/minimum-wage", "tell us the base rate", "primary threshhold", "e\u0301 \u2011 'x' ..", "gb/a/b"} {
		f.Add(q, "", byte(5))
	}
	f.Add("minimum wage", "us", byte(1))
	f.Fuzz(func(t *testing.T, q, namespace string, limit byte) {
		most := 1 + int(limit)%20
		if !utf8.ValidString(q) || utf8.RuneCountInString(q) > facts.MaxQuery || strings.Contains(q, "://") {
			r.Rank(q, namespace, most)
			return
		}
		compare(t, o, r, q, namespace, most)
	})
}

// One ranker answers many at once: what a question borrows it does not share.
func TestRankerIsSafeForConcurrentUse(t *testing.T) {
	in := resolvetest.Catalogue(5, 1_000)
	r := newRanker(t, in)
	queries := resolvetest.Queries(6, resolvetest.Labels(in), 60)
	want := make([][]string, len(queries))
	for i, q := range queries {
		want[i] = rankLines(in, r.Rank(q, "", 20))
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range queries {
				at := (i + worker*17) % len(queries)
				if got := rankLines(in, r.Rank(queries[at], "", 20)); !slices.Equal(got, want[at]) {
					t.Errorf("%q answers differently beside others", queries[at])
				}
			}
		})
	}
	group.Wait()
}
