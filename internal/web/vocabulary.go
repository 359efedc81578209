package web

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// vocabulary is a publisher's own words for its keys. No word of it means anything for another publisher (XP-IDENTITY-004).
type vocabulary struct {
	schema    *business.Schema
	languages []string          // of the business, primary first
	places    map[string]string // names by location id
	order     []string          // location ids as stated
}

func newVocabulary(p *business.Publication, info *business.Info) *vocabulary {
	v := &vocabulary{schema: p.Vocabulary(), languages: info.ContentLanguages, places: map[string]string{}}
	for i := range info.Locations {
		l := &info.Locations[i]
		v.places[l.ID] = nameOf(l)
		v.order = append(v.order, l.ID)
	}
	return v
}

// label names a key: with the publisher's word and its language, else with the key itself.
type label struct {
	Text, Lang string
	Key        bool // Text is the bare key
}

func (v *vocabulary) label(words map[string][]string, key string) label {
	order := slices.Clone(v.languages)
	for _, l := range v.languages {
		base, _, _ := strings.Cut(l, "-")
		order = append(order, base)
	}
	order = append(order, "en")
	rest := make([]string, 0, len(words))
	for l := range words {
		rest = append(rest, l)
	}
	slices.Sort(rest)
	for _, l := range append(order, rest...) {
		if forms := words[l]; len(forms) > 0 {
			if !business.ValidLanguage(l) {
				l = ""
			}
			return label{Text: forms[0], Lang: l}
		}
	}
	return label{Text: key, Key: true}
}

func (v *vocabulary) typeName(key string) label { return v.label(v.schema.Types[key].Words, key) }

// categoryOf is the category in the publisher's words, else as stated.
func categoryOf(p *business.Publication, info *business.Info) string {
	v := newVocabulary(p, &business.Info{ContentLanguages: info.ContentLanguages})
	if c := v.schema.Category; c != nil && info.BusinessCategory != "" {
		return v.label(c.Words, info.BusinessCategory).Text
	}
	return info.BusinessCategory
}

// statement is one attribute or list for people.
type statement struct {
	Label  label
	Value  string // "" when Items or JSON says it
	Answer string // yes | no | absent, of a value that is one of the three; "" otherwise
	Items  []item
	Denied []string // what a complete list leaves out of its domain
	JSON   string   // anything that has no better form, indented
	Note   string
}

// item is one of several values, named by a place when it holds there.
type item struct{ Name, Value, Answer string }

// notStated is how absence reads: it is no denial (XP-VERSION-004).
const notStated = "not stated"

// profile lists what the business states about itself, and what its schema has a word for but it does not state.
func (v *vocabulary) profile(attributes jcs.Raw) []statement {
	var out []statement
	stated := map[string]bool{}
	for _, m := range membersOf(attributes) {
		stated[m.Name] = true
		declared := v.schema.Profile[m.Name]
		out = append(out, v.statement(v.label(declared.Words, m.Name), declared, jcs.Raw(m.Value)))
	}
	for _, key := range sortedKeys(v.schema.Profile) {
		if !stated[key] && v.schema.Profile[key].Source == "" {
			out = append(out, statement{Label: v.label(v.schema.Profile[key].Words, key), Value: notStated, Answer: "absent"})
		}
	}
	return out
}

// lists shows each list with its values. What a closed list leaves out of its domain is a published no (XP-COVERAGE-007).
func (v *vocabulary) lists() []statement {
	var out []statement
	for _, key := range sortedKeys(v.schema.Lists) {
		l := v.schema.Lists[key]
		s := statement{Label: v.label(l.Nouns, key)}
		listed := map[string]bool{}
		for _, term := range l.Values {
			listed[term.ID] = true
			s.Items = append(s.Items, item{Value: v.label(term.Words, term.ID).Text})
		}
		switch {
		case l.Closed && l.Domain != nil:
			s.Note = "The list is complete: what it leaves out is a no."
			for _, term := range l.Domain.Terms {
				if !listed[term.ID] {
					s.Denied = append(s.Denied, v.label(term.Words, term.ID).Text)
				}
			}
		case len(l.Values) == 0:
			s.Value, s.Answer = notStated, "absent"
		default:
			s.Note = "The list is not called complete: of anything else nothing is stated."
		}
		out = append(out, s)
	}
	return out
}

// statement words one value by its kind. Literals stay as the publisher wrote them.
func (v *vocabulary) statement(name label, declared business.SchemaAttribute, value jcs.Raw) statement {
	s := statement{Label: name}
	switch {
	case declared.ScopedBy == "location" && value[0] == '{':
		s.Items, s.Note = v.byPlace(declared, value)
	case value[0] == '[':
		for _, e := range elementsOf(value) {
			text, answer := scalar(declared, e)
			s.Items = append(s.Items, item{Value: text, Answer: answer})
		}
		if len(s.Items) == 0 {
			s.Value, s.Answer = notStated, "absent"
		}
	case value[0] == '{':
		s.JSON = laidOut(value)
	default:
		s.Value, s.Answer = scalar(declared, value)
	}
	return s
}

// laidOut is an object for people to read, with its literals as they are.
func laidOut(object jcs.Raw) string {
	text, err := business.Canon(object)
	if err != nil {
		return ""
	}
	var b bytes.Buffer
	indent(&b, string(text))
	return b.String()
}

// byPlace lists a value that holds per location, at the first maxPlaces of them. A location that is no key of it is not stated.
func (v *vocabulary) byPlace(declared business.SchemaAttribute, value jcs.Raw) (out []item, note string) {
	members := membersOf(value)
	stated := make(map[string]bool, len(members))
	for i, m := range members {
		stated[m.Name] = true
		if i >= maxPlaces {
			continue
		}
		name := v.places[m.Name]
		if name == "" {
			name = m.Name
		}
		text, answer := scalar(declared, jcs.Raw(m.Value))
		out = append(out, item{name, text, answer})
	}
	if len(members) > maxPlaces {
		return out, fmt.Sprintf("Stated for %d of %d places; the others are in the JSON form of the record.", len(members), len(v.order))
	}
	for _, id := range v.order {
		if !stated[id] {
			if len(out) >= maxPlaces {
				return out, "Of the other places nothing is stated."
			}
			out = append(out, item{v.places[id], notStated, "absent"})
		}
	}
	return out, ""
}

// scalar words a value that is no list of places.
func scalar(declared business.SchemaAttribute, value jcs.Raw) (text, answer string) {
	switch value[0] {
	case 't':
		return "yes", "yes"
	case 'f':
		return "no", "no"
	case 'n':
		return notStated, "absent"
	case '"':
		text, _ = jcs.Text(value)
		return text, ""
	}
	return joined(" ", string(value), declared.Unit, declared.Currency), ""
}

// price is what a record states about its price, in words. It is never 0 unless 0 is stated.
type price struct {
	Words  string
	Stated bool
}

// knowsPrices reports whether the schema has an attribute for the price, so that its absence is worth saying.
func (v *vocabulary) knowsPrices() bool {
	for _, a := range v.schema.Attributes {
		if a.Field == "price" {
			return true
		}
	}
	return false
}

// priceKind is the part an attribute plays in the price, "" for none. Without a schema the names of the import speak for themselves.
func (v *vocabulary) priceKind(key string) (kind string, declared business.SchemaAttribute) {
	declared, ok := v.schema.Attributes[key]
	switch {
	case ok && declared.Field == "price" && declared.ScopedBy == "":
		return declared.Kind, declared
	case ok:
		return "", declared
	}
	return map[string]string{"price": "money", "price_from": "money_from", "price_to": "money_to", "price_mode": "mode", "price_text": "text"}[key], declared
}

// recordFacts takes the price out of a record's attributes and words the others.
func (v *vocabulary) recordFacts(attributes jcs.Raw) (price, []statement) {
	var facts []statement
	parts, currency := map[string]string{}, ""
	members := membersOf(attributes)
	for _, m := range members {
		kind, declared := v.priceKind(m.Name)
		value := jcs.Raw(m.Value)
		scalarValue := value[0] != '{' && value[0] != '[' && value[0] != 'n'
		switch {
		case m.Name == "currency" && value[0] == '"':
			currency, _ = jcs.Text(value)
		case kind == "mode" && scalarValue:
			mode, _ := scalar(business.SchemaAttribute{}, value)
			if mode == "on_request" || slices.Contains(declared.Deferred, mode) {
				parts["deferred"] = strings.ReplaceAll(mode, "_", " ")
			} else {
				parts["text"] = mode
			}
		case kind != "" && scalarValue:
			parts[kind], _ = scalar(business.SchemaAttribute{}, value)
			parts["currency of "+kind] = declared.Currency
		default:
			facts = append(facts, v.statement(v.label(declared.Words, m.Name), declared, value))
		}
	}
	return wordPrice(parts, currency), facts
}

// wordPrice says a price in words. What puts the answer off comes before any figure.
func wordPrice(parts map[string]string, currency string) price {
	unit := func(kind string) string {
		if currency != "" {
			return currency
		}
		return parts["currency of "+kind]
	}
	money := func(kind string) string { return joined(" ", parts[kind], unit(kind)) }
	stated := func(kind string) bool { return parts[kind] != "" }
	words := ""
	switch {
	case stated("deferred"):
		words = parts["deferred"]
	case stated("money"):
		words = money("money")
	case stated("money_from") && stated("money_to") && unit("money_from") == unit("money_to"):
		words = parts["money_from"] + " to " + money("money_to")
	case stated("money_from") && stated("money_to"):
		words = money("money_from") + " to " + money("money_to")
	case stated("money_from"):
		words = "from " + money("money_from")
	case stated("money_to"):
		words = "up to " + money("money_to")
	}
	if words = joined(", ", words, parts["text"]); words != "" {
		return price{words, true}
	}
	return price{Words: notStated}
}

// membersOf are the members of an object, none for anything else: content was checked when it was committed.
func membersOf(object jcs.Raw) []jcs.Member {
	if len(object) == 0 {
		return nil
	}
	members, err := business.Members(object)
	if err != nil {
		return nil
	}
	return members
}

func elementsOf(array jcs.Raw) []jcs.Raw {
	var out []jcs.Raw
	if business.Decode(array, &out) != nil {
		return nil
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
