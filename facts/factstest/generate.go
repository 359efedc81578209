package factstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sayso/facts"
)

// Options of a generated dataset.
type Options struct {
	Facts    int
	Seed     uint64
	Values   int  // most values of one key; 0 and 1 give one value each
	Unsigned bool // leaves the signatures out: signing and verifying a million values takes minutes
	Changes  bool // adds the changelog of the values
}

// Generate makes a dataset of invented figures under namespaces zz-aaa, zz-aab, ...: keys `zz-aab/<topic>/<figure>`, labels of two to four words whose
// frequencies follow Zipf's law (few common words, many rare ones), histories with derived and explicit ends, gaps, withdrawals and aliases.
func Generate(o Options) *facts.Dataset {
	g := &generator{rnd: rand.New(rand.NewPCG(o.Seed, 0x5a79)), options: o, taken: map[string]bool{}}
	g.makeWords()
	ds := &facts.Dataset{
		Publisher: facts.Publisher{Name: "Example Figures", URL: Origin + "/"},
		KidPrefix: "zz",
		Licence:   "Invented figures",
		Facts:     make([]facts.Fact, 0, o.Facts),
	}
	g.makeTopics(ds)
	for range o.Facts {
		ds.Facts = append(ds.Facts, g.fact(ds))
	}
	slices.SortFunc(ds.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	if !o.Unsigned {
		Sign(ds)
	}
	if o.Changes {
		ds.Changes = Changelog(ds)
	}
	return ds
}

type generator struct {
	rnd     *rand.Rand
	options Options
	words   []string
	zipf    *rand.Zipf
	taken   map[string]bool // keys and aliases
}

const commonWords = `rate allowance limit threshold fee standard minimum maximum weekly monthly annual basic higher income tax benefit pension credit
	charge duty relief band child adult employer employee wage hourly daily premium reduced additional personal married single first second
	housing council vehicle licence passport visa court student loan interest savings dividend property stamp`

// makeWords fills the vocabulary: the common words first, where Zipf's law puts most of the weight, then rare ones built from syllables.
func (g *generator) makeWords() {
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu zan ber cor dal fen gor hul jin kes lan mor nev")
	g.words = strings.Fields(commonWords)
	seen := map[string]bool{}
	for _, w := range g.words {
		seen[w] = true
	}
	for want := len(g.words) + min(200+g.options.Facts/4, 60_000); len(g.words) < want; {
		var b strings.Builder
		for range 2 + g.rnd.IntN(3) {
			b.WriteString(syllables[g.rnd.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			g.words = append(g.words, w)
		}
	}
	g.zipf = rand.NewZipf(g.rnd, 1.07, 4, uint64(len(g.words)-1))
}

func (g *generator) word() string { return g.words[g.zipf.Uint64()] }

// makeTopics declares namespaces, one area each, and the topics.
func (g *generator) makeTopics(ds *facts.Dataset) {
	namespaces := min(1+g.options.Facts/2_000, 40)
	for i := range namespaces {
		name := fmt.Sprintf("zz-a%c%c", 'a'+i/26, 'a'+i%26)
		ds.Namespaces = append(ds.Namespaces, facts.Namespace{Name: name, Description: "Invented jurisdiction " + name,
			Calendar: facts.CalendarUKTaxYear, Authorities: []string{"www." + name + ".example"}})
		ds.Areas = append(ds.Areas, facts.Area{Name: name + "-rates", Namespace: name, Description: "Invented figures", Cadence: "Every 6 April",
			CadenceType: "scheduled", EveryDays: 30 + g.rnd.IntN(300), GraceDays: 7})
	}
	seen := map[string]bool{}
	for range max(namespaces, min(g.options.Facts/50, 2_000)) {
		area := ds.Areas[len(ds.Topics)%namespaces]
		title := g.word() + " " + g.word()
		prefix := area.Namespace + "/" + strings.ReplaceAll(title, " ", "-")
		for n := 2; seen[prefix]; n++ {
			prefix = area.Namespace + "/" + strings.ReplaceAll(title, " ", "-") + "-" + strconv.Itoa(n)
		}
		seen[prefix] = true
		ds.Topics = append(ds.Topics, facts.Topic{Prefix: prefix, Title: strings.ToUpper(title[:1]) + title[1:], Area: area.Name})
	}
}

// fact makes one fact under some topic.
func (g *generator) fact(ds *facts.Dataset) facts.Fact {
	topic := g.rnd.IntN(len(ds.Topics))
	t := &ds.Topics[topic]
	words := make([]string, 2+g.rnd.IntN(3))
	for i := range words {
		words[i] = g.word()
	}
	label := strings.Join(words, " ")
	slug := strings.Join(words[:2], "-")
	f := facts.Fact{Key: g.free(t.Prefix + "/" + slug), Label: strings.ToUpper(label[:1]) + label[1:], Topic: topic}
	namespace := facts.KeyNamespace(f.Key)
	if g.rnd.IntN(30) == 0 {
		f.Aliases = []string{g.free(namespace + "/old/" + slug)}
	}
	f.Values = g.values("https://www." + namespace + ".example/" + strings.TrimPrefix(t.Prefix, namespace+"/"))
	return f
}

// free is the first of name, name-2, name-3, ... that is not taken.
func (g *generator) free(name string) string {
	free := name
	for n := 2; g.taken[free]; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	g.taken[free] = true
	return free
}

// values makes a history of tax years, newest first.
func (g *generator) values(source string) []facts.DatedValue {
	count := 1
	if g.options.Values > 1 {
		count += g.rnd.IntN(g.options.Values)
	}
	unit, figure := g.figure()
	year := 2026 - g.rnd.IntN(2)
	list := make([]facts.DatedValue, 0, count)
	gap := false // whether the year after this one is missing
	for i := range count {
		from := Day(fmt.Sprintf("%04d-04-06", year))
		v := facts.DatedValue{Value: figure(), Unit: unit, Period: fmt.Sprintf("%04d-%02d", year, (year+1)%100), From: from, Source: source,
			Verified: min(from.AddDays(g.rnd.IntN(400)), Today)}
		switch {
		case i == 0 && g.rnd.IntN(3) == 0:
			v.To, v.ToExplicit = Day(fmt.Sprintf("%04d-04-05", year+1)), true
		case i == 0 && count > 1 && g.rnd.IntN(40) == 0:
			v.Value, v.Withdrawn = facts.Null, max(from, v.Verified)
			if g.rnd.IntN(2) == 0 {
				v.From = 0
			}
		case gap:
			v.To, v.ToExplicit = Day(fmt.Sprintf("%04d-04-05", year+1)), true
		case i > 0 && g.rnd.IntN(5) == 0:
			v.To, v.ToExplicit = Day(fmt.Sprintf("%04d-03-31", year+1)), true
		}
		if g.rnd.IntN(4) == 0 {
			v.Quote = "The figure for " + v.Period + " is stated in the table on this page."
		}
		list = append(list, v)
		gap = g.rnd.IntN(5) == 0
		year--
		if gap {
			year--
		}
	}
	return list
}

// figure chooses a unit and a maker of values of one JSON type.
func (g *generator) figure() (unit string, next func() facts.Value) {
	switch g.rnd.IntN(12) {
	case 0, 1, 2:
		return "%", func() facts.Value { return facts.Value(strconv.FormatFloat(float64(g.rnd.IntN(400))/8, 'f', -1, 64)) }
	case 3:
		return "rule", func() facts.Value {
			return facts.StringValue("Applies from the " + strconv.Itoa(1+g.rnd.IntN(28)) + "th day")
		}
	case 4:
		return "", func() facts.Value { return facts.Value(strconv.FormatBool(g.rnd.IntN(2) == 0)) }
	case 5, 6, 7:
		return "GBP/week", func() facts.Value {
			return facts.Value(strconv.FormatFloat(float64(100+g.rnd.IntN(90_000))/100, 'f', -1, 64))
		}
	}
	return "GBP/year", func() facts.Value { return facts.Value(strconv.Itoa(10 * g.rnd.IntN(20_000))) }
}
