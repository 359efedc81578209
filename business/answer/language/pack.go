package language

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// Pack is the data of one language. The engine contains no word of any language; every word that is not the publisher's stands in a pack. All words and
// phrases are in lower case and are read by the tokeniser that reads a question: an apostrophe and a hyphen part two words ("o'clock" is o and clock), so either
// spelling may be written. In Fields a "*" between two words stands for any words of the same clause.
type Pack struct {
	Language string `json:"language"` // primary subtag: en
	Version  string `json:"version"`  // goes into test reports
	Head     string `json:"head"`     // last | first: where the noun of a title stands that the others narrow

	// FunctionWords are closed-class words only: articles, pronouns, prepositions, auxiliaries, politeness. They need no use and are never evidence.
	FunctionWords []string `json:"function_words"`
	// Prepositions are the function words that attach what follows to what stands beside it: a part of a question that starts with one is no clause of its own.
	Prepositions []string `json:"prepositions"`
	// Comitatives are the prepositions that only add what follows ("with parking"). Behind any other a noun is where, when or what for, and not what is asked.
	Comitatives []string `json:"comitatives"`
	// MannerPrepositions are those before a term of a list that say in what one pays or speaks.
	MannerPrepositions []string `json:"manner_prepositions"`
	// PlacePrepositions are those that say where something is.
	PlacePrepositions []string `json:"place_prepositions"`
	// CoreFunctionWords stay function words even where a record title contains them (articles, and, of, in); a subset of FunctionWords and conjunctions.
	CoreFunctionWords []string `json:"core_function_words"`
	// ForbiddenFunctionWords are generic nouns and content verbs that must never become function words; the lint fails when one does.
	ForbiddenFunctionWords []string `json:"forbidden_function_words"`
	// Courtesies are phrases that say nothing about what is asked: "would like", "can you tell me". A word of them alone is content.
	Courtesies []string `json:"courtesies"`
	// Links are the function words that may stand between the words of a title asked in another order ("repair of the glasses"): articles and "of".
	Links []string `json:"links"`
	// Subjects are the pronouns after which a type word is a verb ("do you service Audi").
	Subjects []string `json:"subjects"`
	// Callers are the function words that make the caller the subject ("can I"). A verb of existence then says what the business offers only when it is one of
	// ObtainVerbs: "can I get", not "can I sell you". One that is no verb of existence besides asks nothing of others ("do you get wifi").
	Callers     []string `json:"callers"`
	ObtainVerbs []string `json:"obtain_verbs"`
	// Modals are the function words that make a wish or a plan of having and opening: "could you have a pool", "can you open on Sunday".
	Modals []string `json:"modals"`
	// Copulas are the function words that say what something is: "is the room double" is no question about whether there is a double room.
	Copulas []string `json:"copulas"`
	// Definites are the function words before which a category word means this business: "the hotel", "your hotel".
	Definites []string `json:"definites"`
	// Selectors ask for all records of a type, or introduce a field or a list: which, what. Elsewhere they are a question this engine cannot answer.
	Selectors []string `json:"selectors"`

	LocationNouns []string `json:"location_nouns"` // branch, store: only of shapes S5, S8 and S9; content elsewhere
	ExistVerbs    []string `json:"exist_verbs"`    // have, offer, there is: in all their forms
	// TradeVerbs are the verbs of existence that speak of goods: they say nothing of what a business has itself ("do you sell parking").
	TradeVerbs []string `json:"trade_verbs"`
	// FinishedVerbs are forms of them that say behind a copula that it is over: "is the drill sold".
	FinishedVerbs []string `json:"finished_verbs"`
	ListVerbs     []string `json:"list_verbs"` // accept, take, pay by: only beside a noun of the list; content elsewhere
	// CustomerVerbs are the list verbs whose subject is the caller, who pays; of the others it is the business, which accepts.
	CustomerVerbs []string `json:"customer_verbs"`
	// Fields are the phrases per canonical field: price, duration, stock, available, hours, phone, email, address.
	Fields map[string][]string `json:"fields"`
	// FieldVerbs name a field only beside its phrase or a comparison on it ("how long does it take", "costs less than 50 EUR"): price, duration.
	FieldVerbs map[string][]string `json:"field_verbs"`
	// States are the words that ask whether a place is open or closed.
	States States `json:"states"`
	// Nearest are the words for the nearest branch.
	Nearest []string `json:"nearest"`
	// Comparators are phrases by operator (lt, le, gt, ge, between), then by the field they imply; "" implies none ("under" against "cheaper than").
	Comparators map[string]map[string][]string `json:"comparators"`
	FreeWords   []string                       `json:"free_words"` // costs nothing
	// VacantWords are those of FreeWords that may ask whether something is vacant.
	VacantWords []string `json:"vacant_words"`
	Negations   []string `json:"negations"` // not, no, without
	// NounNegations are those that ask for the opposite of a noun. Any other negates the verb, and "don't you have" asks what "do you have" asks.
	NounNegations []string `json:"noun_negations"`
	// Conjunctions coordinate clauses; "and" also closes "between A and B".
	Conjunctions Conjunctions `json:"conjunctions"`
	Anaphora     []string     `json:"anaphora"` // it, that one: refer to something said before

	Weekdays      map[string][]string `json:"weekdays"`       // by mo, tu, we, th, fr, sa, su, with plural and short forms
	Months        [][]string          `json:"months"`         // twelve lists, January first
	RelativeDates map[string][]string `json:"relative_dates"` // by now, today, tomorrow
	Holidays      []string            `json:"holidays"`       // words for public holidays and the names of some
	Clock         Clock               `json:"clock_formats"`
	Ordinals      []string            `json:"ordinals"` // endings of a day number: st, nd, rd, th; "" for none
	Decimal       string              `json:"decimal"`  // . or ,
	Group         string              `json:"group"`    // the other one
	Numbers       map[string][]string `json:"numbers"`  // numbers in words, by their decimal literal: {"2":["two"]}

	Units      map[string][]string `json:"units"`      // by unit code: min, h, s, day, m, km, g, kg, ml, l, %
	Currencies map[string][]string `json:"currencies"` // by ISO 4217 code, signs included
	// ContentAlways are words that are never function words and always an obligation, by the reason they get: quantifier, subjective, unknown_word.
	ContentAlways map[string][]string `json:"content_always"`
	WhUnsupported []string            `json:"wh_unsupported"` // why, who, how far, how many; also how, when and where outside a phrase of Fields

	Inflection    Inflection          `json:"inflection"`
	Contractions  map[string]string   `json:"contractions"` // as typed, with a plain apostrophe: {"don't":"do not","what's":"what is"}
	Possessives   []string            `json:"possessives"`  // endings that are dropped: 's
	LegalSuffixes []string            `json:"legal_suffixes"`
	NameCues      []string            `json:"name_cues"`      // function words after which a part of the publisher's name may stand for it: at, from
	Taxonomies    map[string][]string `json:"taxonomy_words"` // words for the terms of the shipped taxonomies, by "taxonomy/term": {"languages/german":["german"]}
}

// States are the words for open and closed. Verbs are those of them that also say the moment at which a place opens ("abren a las 10"), Auxiliaries the
// function words that make a verb of any of them ("do you open at 10").
type States struct {
	Open        []string `json:"open"`
	Closed      []string `json:"closed"`
	Verbs       []string `json:"verbs"`
	Auxiliaries []string `json:"auxiliaries"`
}

// Conjunctions are the coordinating words.
type Conjunctions struct {
	And []string `json:"and"`
	Or  []string `json:"or"`
}

// Clock says how a time of day is written: 17:30 is always read; Separators adds others (17.30, 17h30), Morning and Afternoon are the endings of a twelve-hour
// clock (9 am), Hour the words behind a bare hour of the twenty-four-hour clock (9 Uhr, 9 h). At are the prepositions behind which a time or day says when:
// "open to 9:00" says until when.
type Clock struct {
	At         []string `json:"at"`
	Separators []string `json:"separators"`
	Morning    []string `json:"morning"`
	Afternoon  []string `json:"afternoon"`
	Hour       []string `json:"hour"`
}

// Inflection says which forms are one word. A form belongs to a word when one of Rules makes the word of it, once; nothing is derived. Exceptions come first:
// a form that stands there belongs to the words named and to no other ("news": [], "feet": ["foot"]). Keep are endings no rule touches. Fold are letters that
// may be typed without their mark.
type Inflection struct {
	Rules      []Suffix            `json:"rules"`
	Exceptions map[string][]string `json:"exceptions"`
	Keep       []string            `json:"keep"`
	Fold       map[string]string   `json:"fold"`
}

// Suffix replaces an ending in words of at least Min letters.
type Suffix struct {
	Suffix  string `json:"suffix"`
	Replace string `json:"replace"`
	Min     int    `json:"min"`
}

//go:embed packs/*.json
var packFiles embed.FS

// Packs are the languages of the embedded packs, by their primary subtag; the map is not to be changed. The packs are part of the program and read once: one
// that does not load makes every call fail.
func Packs() (map[string]*Language, error) { return readPacks() }

var readPacks = sync.OnceValues(func() (map[string]*Language, error) {
	entries, err := packFiles.ReadDir("packs")
	if err != nil {
		return nil, errors.New("the embedded language packs cannot be listed")
	}
	out := map[string]*Language{}
	for _, e := range entries {
		data, err := packFiles.ReadFile("packs/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("the language pack %s cannot be read", e.Name())
		}
		p, err := ParsePack(data)
		if err != nil {
			return nil, err
		}
		if e.Name() != p.Language+".json" {
			return nil, fmt.Errorf("the language pack %s says that it is %q", e.Name(), p.Language)
		}
		out[p.Language] = New(p)
	}
	return out, nil
})

// ParsePack reads a language pack strictly and lints it: no unknown member, no word twice with two meanings that exclude each other, no function word that is
// a generic noun or a content verb.
func ParsePack(data []byte) (*Pack, error) {
	var p Pack
	if err := jcs.DecodeKnown(data, &p); err != nil {
		return nil, fmt.Errorf("language pack: %w", err)
	}
	if err := p.lint(); err != nil {
		return nil, fmt.Errorf("language pack %s: %w", p.Language, err)
	}
	return &p, nil
}

// Weekdays are the keys of the days of the week, in the order of time.Weekday.
var Weekdays = []string{"su", "mo", "tu", "we", "th", "fr", "sa"}

// The closed sets of keys in a pack.
var (
	packFields    = []string{"price", "duration", "stock", "available", "hours", "phone", "email", "address"}
	packOps       = []string{"lt", "le", "gt", "ge", "between"}
	packRelative  = []string{"now", "today", "tomorrow"}
	packReasons   = []string{coverage.ReasonQuantifier, coverage.ReasonSubjective, coverage.ReasonUnknownWord}
	packUnitCodes = []string{"s", "min", "h", "day", "mm", "cm", "m", "km", "mg", "g", "kg", "ml", "cl", "l", "%"}
)

// lint holds a pack to its rules.
func (p *Pack) lint() error {
	if !business.ValidLanguage(p.Language) || p.Version == "" || p.Head != "last" && p.Head != "first" {
		return errors.New("language, version and head (last or first) are required")
	}
	if len(p.Months) != 12 {
		return errors.New("months has twelve lists, January first")
	}
	if p.Decimal != "." && p.Decimal != "," || p.Group != "." && p.Group != "," || p.Group == p.Decimal {
		return errors.New("decimal is . or , and group the other one")
	}
	for name, keys := range map[string]struct{ have, known []string }{
		"fields": {keysOf(p.Fields), packFields}, "field_verbs": {keysOf(p.FieldVerbs), packFields}, "comparators": {keysOf(p.Comparators), packOps},
		"weekdays": {keysOf(p.Weekdays), Weekdays}, "relative_dates": {keysOf(p.RelativeDates), packRelative},
		"content_always": {keysOf(p.ContentAlways), packReasons}, "units": {keysOf(p.Units), packUnitCodes},
	} {
		for _, k := range keys.have {
			if !slices.Contains(keys.known, k) {
				return fmt.Errorf("%s has an unknown key %q: use one of %s", name, k, strings.Join(keys.known, ", "))
			}
		}
	}
	for word := range p.phrases() {
		if word == "" || strings.ToLower(word) != word || strings.TrimSpace(word) != word || strings.Contains(word, "  ") {
			return fmt.Errorf("%q is not written in lower case with single spaces", word)
		}
	}
	return p.lintFunctionWords()
}

// lintFunctionWords keeps content out of the words that need no use: each such word would let a question be answered that was not understood.
func (p *Pack) lintFunctionWords() error {
	function := map[string]bool{}
	for _, w := range p.FunctionWords {
		if strings.Contains(w, " ") {
			return fmt.Errorf("the function word %q is a phrase: list its words", w)
		}
		function[w] = true
	}
	content := [][]string{p.ForbiddenFunctionWords, p.LocationNouns, p.FreeWords, p.Negations, p.Anaphora, p.Nearest, p.Holidays, p.WhUnsupported, p.States.Open, p.States.Closed}
	for _, m := range []map[string][]string{p.ContentAlways, p.Weekdays, p.RelativeDates, p.FieldVerbs} {
		for _, k := range keysOf(m) {
			content = append(content, m[k])
		}
	}
	for _, list := range content {
		for _, w := range list {
			if function[w] {
				return fmt.Errorf("%q is a function word and a word with content: it must be one of them", w)
			}
		}
	}
	for _, w := range p.Prepositions {
		if !function[w] {
			return fmt.Errorf("the preposition %q is no function word", w)
		}
	}
	for _, w := range p.CoreFunctionWords {
		if !function[w] && !slices.Contains(p.Conjunctions.And, w) && !slices.Contains(p.Conjunctions.Or, w) {
			return fmt.Errorf("the core function word %q is no function word", w)
		}
	}
	return nil
}
