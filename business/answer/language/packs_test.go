package language

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sayso/jcs"
)

// shippedPacks reads every embedded pack.
func shippedPacks(t *testing.T) map[string]*Language {
	t.Helper()
	all, err := Packs()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The packs that come with the program are those of the specification, and each is complete.
func TestPacksAreComplete(t *testing.T) {
	all := shippedPacks(t)
	if got := keysOf(all); !slices.Equal(got, []string{"de", "en", "es", "fr"}) {
		t.Errorf("packs %v", got)
	}
	for name, l := range all {
		p := l.Pack
		for _, field := range packFields {
			if len(p.Fields[field]) == 0 {
				t.Errorf("%s: no phrase for the field %s", name, field)
			}
		}
		for _, op := range packOps {
			if len(p.Comparators[op][""]) == 0 {
				t.Errorf("%s: no comparator %s that implies no field", name, op)
			}
		}
		for _, day := range Weekdays {
			if len(p.Weekdays[day]) == 0 {
				t.Errorf("%s: no word for the weekday %s", name, day)
			}
		}
		for i, month := range p.Months {
			if len(month) == 0 {
				t.Errorf("%s: no word for the month %d", name, i+1)
			}
		}
		for _, day := range packRelative {
			if len(p.RelativeDates[day]) == 0 {
				t.Errorf("%s: no word for %s", name, day)
			}
		}
		for _, unit := range packUnitCodes {
			if len(p.Units[unit]) == 0 {
				t.Errorf("%s: no word for the unit %s", name, unit)
			}
		}
		for _, reason := range packReasons {
			if len(p.ContentAlways[reason]) < 10 {
				t.Errorf("%s: %d words of the reason %s", name, len(p.ContentAlways[reason]), reason)
			}
		}
		for part, list := range map[string][]string{
			"function_words": p.FunctionWords, "core_function_words": p.CoreFunctionWords, "forbidden_function_words": p.ForbiddenFunctionWords, "courtesies": p.Courtesies,
			"links": p.Links, "subjects": p.Subjects, "selectors": p.Selectors, "location_nouns": p.LocationNouns, "exist_verbs": p.ExistVerbs, "list_verbs": p.ListVerbs,
			"open": p.States.Open, "closed": p.States.Closed, "nearest": p.Nearest, "free_words": p.FreeWords, "negations": p.Negations, "and": p.Conjunctions.And,
			"callers": p.Callers, "obtain_verbs": p.ObtainVerbs, "copulas": p.Copulas, "definites": p.Definites,
			"or": p.Conjunctions.Or, "anaphora": p.Anaphora, "holidays": p.Holidays, "wh_unsupported": p.WhUnsupported, "legal_suffixes": p.LegalSuffixes, "hour": p.Clock.Hour,
		} {
			if len(list) == 0 {
				t.Errorf("%s: %s is empty", name, part)
			}
			if sorted := slices.Compact(slices.Sorted(slices.Values(list))); len(sorted) != len(list) {
				t.Errorf("%s: %s has a word twice", name, part)
			}
		}
	}
}

// What a question can ask in one language it can ask in all.
func TestPacksHaveTheSameKeys(t *testing.T) {
	all := shippedPacks(t)
	want := all["en"].Pack
	for name, l := range all {
		if !slices.Equal(keysOf(l.Pack.Taxonomies), keysOf(want.Taxonomies)) {
			t.Errorf("%s names other terms of the taxonomies than en", name)
		}
		for code := range want.Currencies {
			if len(l.Pack.Currencies[code]) == 0 {
				t.Errorf("%s has no word for the currency %s", name, code)
			}
		}
	}
}

// No function word has a content, also when its marks are left out: each such word would let a question be answered that was not understood (A title or a
// schema may still use it: then it is content for that publisher.)
func TestFunctionWordsHaveNoContent(t *testing.T) {
	for name, l := range shippedPacks(t) {
		p := l.Pack
		function := l.set(p.FunctionWords)
		lists := map[string][]string{
			"forbidden_function_words": p.ForbiddenFunctionWords, "location_nouns": p.LocationNouns, "exist_verbs": p.ExistVerbs, "list_verbs": p.ListVerbs,
			"open": p.States.Open, "closed": p.States.Closed, "nearest": p.Nearest, "free_words": p.FreeWords, "negations": p.Negations, "anaphora": p.Anaphora,
			"and": p.Conjunctions.And, "or": p.Conjunctions.Or, "holidays": p.Holidays, "wh_unsupported": p.WhUnsupported, "selectors": p.Selectors,
			"months": slices.Concat(p.Months...),
		}
		groups := []map[string][]string{p.Fields, p.FieldVerbs, p.Weekdays, p.RelativeDates, p.Units, p.Currencies, p.ContentAlways, p.Numbers, p.Taxonomies}
		for _, op := range p.Comparators {
			groups = append(groups, op)
		}
		for i, g := range groups {
			lists["group "+keysOf(g)[0]+string(rune('a'+i))] = slices.Concat(slices.Collect(maps.Values(g))...)
		}
		for list, words := range lists {
			for _, w := range words {
				if function[l.Fold(w)] {
					t.Errorf("%s: the function word %q is also in %s", name, w, list)
				}
			}
		}
		for _, w := range slices.Concat(p.Links, p.Subjects, p.NameCues, p.Callers, p.Copulas, p.Definites, p.States.Auxiliaries) {
			if !function[l.Fold(w)] && !strings.Contains(w, " ") && !slices.Contains(p.Anaphora, w) {
				t.Errorf("%s: %q of links, subjects, name_cues, callers, copulas, definites or auxiliaries is no function word", name, w)
			}
		}
	}
}

// What narrows a list of the pack stands in that list: a form that stood only here would never be read.
func TestNarrowingWordsAreKnown(t *testing.T) {
	for name, l := range shippedPacks(t) {
		p := l.Pack
		for _, n := range []struct {
			list       string
			words, all []string
		}{
			{"trade_verbs", p.TradeVerbs, p.ExistVerbs}, {"finished_verbs", p.FinishedVerbs, p.ExistVerbs}, {"customer_verbs", p.CustomerVerbs, p.ListVerbs},
			{"noun_negations", p.NounNegations, p.Negations}, {"vacant_words", p.VacantWords, p.FreeWords}, {"modals", p.Modals, p.FunctionWords},
			{"comitatives", p.Comitatives, p.Prepositions}, {"manner_prepositions", p.MannerPrepositions, p.Prepositions}, {"place_prepositions", p.PlacePrepositions, p.Prepositions}, {"at", p.Clock.At, p.Prepositions},
		} {
			for _, w := range n.words {
				if !slices.Contains(n.all, w) {
					t.Errorf("%s: %q of %s narrows nothing", name, w, n.list)
				}
			}
		}
		for _, w := range l.Pack.States.Verbs {
			if !slices.Contains(slices.Concat(l.Pack.States.Open, l.Pack.States.Closed), w) {
				t.Errorf("%s: %q of the verbs of states is no state", name, w)
			}
		}
	}
}

// A word that bounds a time is never a function word: "open until Monday" is not "open on Monday".
func TestWordsThatBoundATimeAreContent(t *testing.T) {
	bounding := map[string]string{
		"en": "until till before after since between during around by without only still may", "de": "ab bis wurde konnte vor nach seit während gegen zwischen ohne nur noch",
		"es": "hasta desde antes después durante hacia entre sin solo todavía", "fr": "jusqu jusque depuis avant après pendant vers dès entre sans seulement encore",
	}
	for name, l := range shippedPacks(t) {
		for _, w := range strings.Fields(bounding[name]) {
			if !slices.ContainsFunc(l.Tokens(w), func(t Token) bool { return !l.Function[t.Plain] }) {
				t.Errorf("%s: %q is nothing but function words", name, w)
			}
		}
	}
}

// Two meanings of one spelling that ask for different things would make one of them wrong without a word.
func TestPhrasesDoNotContradict(t *testing.T) {
	for name, l := range shippedPacks(t) {
		p := l.Pack
		for what, group := range map[string]map[string][]string{
			"weekdays": p.Weekdays, "relative_dates": p.RelativeDates, "units": p.Units, "currencies": p.Currencies, "numbers": p.Numbers, "fields": p.Fields,
			"content_always": p.ContentAlways, "states": {"open": p.States.Open, "closed": p.States.Closed},
		} {
			owner := map[string]string{}
			for _, key := range keysOf(group) {
				for _, w := range group[key] {
					w = strings.Join(l.words(w), " ")
					if other, ok := owner[w]; ok && other != key {
						t.Errorf("%s: %s: %q is %s and %s", name, what, w, other, key)
					}
					owner[w] = key
				}
			}
		}
		month := map[string]int{}
		for i, words := range p.Months {
			for _, w := range words {
				if other, ok := month[l.Fold(w)]; ok && other != i {
					t.Errorf("%s: %q is two months", name, w)
				}
				month[l.Fold(w)] = i
			}
		}
		for _, day := range p.Weekdays {
			for _, w := range day {
				if _, ok := month[l.Fold(w)]; ok {
					t.Errorf("%s: %q is a weekday and a month", name, w)
				}
			}
		}
	}
}

// Plurals are forms of their words, and the words that a blunt stemmer would merge are not.
func TestPackInflection(t *testing.T) {
	all := shippedPacks(t)
	for name, pairs := range map[string][]string{
		"de": {"massagen massage", "doppelzimmern doppelzimmer", "haustiere haustier", "parkplätze parkplatz", "familiensuiten familiensuite", "balkone balkon", "autos auto", "zähne zahn", "reisen reise"},
		"es": {"limpiezas limpieza", "habitaciones habitación", "veces vez", "exámenes examen", "lentes lente", "empastes empaste", "revisiones revisión", "coches coche"},
		"fr": {"révisions révision", "vélos vélo", "portes porte", "gâteaux gâteau", "chevaux cheval", "pneus pneu", "travaux travail", "bijoux bijou", "électriques électrique"},
	} {
		for _, pair := range pairs {
			if a, b, _ := strings.Cut(pair, " "); !all[name].SameWord(a, b) || !all[name].SameWord(b, a) {
				t.Errorf("%s: %s is no form of %s", name, a, b)
			}
		}
	}
	for name, pairs := range map[string][]string{
		"de": {"reisen reis", "decken deck", "montage montag", "messer messe", "garten gart", "zimmer zimmerei"},
		"es": {"gafas gafa", "lunes luna", "gas gasa", "caña cana", "año ano", "puerto puerta", "libro libra", "casa caso"},
		"fr": {"portes port", "prix pri", "bus bu", "bras bra", "avis avi", "lunettes lune", "pois poi", "ou où"},
	} {
		for _, pair := range pairs {
			if a, b, _ := strings.Cut(pair, " "); all[name].SameWord(a, b) {
				t.Errorf("%s: %s and %s are one word", name, a, b)
			}
		}
	}
}

// The lint refuses what would make the engine answer too much.
func TestParsePackRefuses(t *testing.T) {
	for name, l := range shippedPacks(t) {
		text, err := jcs.Encode(l.Pack)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParsePack(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for what, spoil := range map[string]func(*Pack){
			"a forbidden function word":   func(p *Pack) { p.FunctionWords = append(p.FunctionWords, p.ForbiddenFunctionWords[0]) },
			"a function phrase":           func(p *Pack) { p.FunctionWords = append(p.FunctionWords, "two words") },
			"a function word of content":  func(p *Pack) { p.FunctionWords = append(p.FunctionWords, p.ContentAlways["quantifier"][0]) },
			"a function word and no":      func(p *Pack) { p.FunctionWords = append(p.FunctionWords, p.Negations[0]) },
			"a core word of no function":  func(p *Pack) { p.CoreFunctionWords = append(p.CoreFunctionWords, "zzz") },
			"eleven months":               func(p *Pack) { p.Months = p.Months[:11] },
			"a capital":                   func(p *Pack) { p.ExistVerbs = append(p.ExistVerbs, "Have") },
			"no version":                  func(p *Pack) { p.Version = "" },
			"a head in the middle":        func(p *Pack) { p.Head = "middle" },
			"one sign for both":           func(p *Pack) { p.Group = p.Decimal },
			"a field nobody knows":        func(p *Pack) { p.Fields["colour"] = []string{"colour"} },
			"an operator nobody knows":    func(p *Pack) { p.Comparators["eq"] = map[string][]string{"": {"equal to"}} },
			"a reason nobody knows":       func(p *Pack) { p.ContentAlways["odd"] = []string{"odd"} },
			"a weekday nobody knows":      func(p *Pack) { p.Weekdays["xx"] = []string{"xday"} },
			"a unit nobody knows":         func(p *Pack) { p.Units["ell"] = []string{"ell"} },
			"an empty word":               func(p *Pack) { p.Anaphora = append(p.Anaphora, "") },
			"a word with a space at ends": func(p *Pack) { p.ListVerbs = append(p.ListVerbs, "pay ") },
		} {
			var p Pack
			if err := jcs.DecodeKnown(text, &p); err != nil {
				t.Fatal(err)
			}
			spoil(&p)
			spoiled, err := jcs.Encode(p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ParsePack(spoiled); err == nil {
				t.Errorf("%s: %s is accepted", name, what)
			}
		}
		if _, err := ParsePack([]byte(strings.Replace(string(text), "{", `{"stop_words":[],`, 1))); err == nil {
			t.Errorf("%s: an unknown member is accepted", name)
		}
	}
}
