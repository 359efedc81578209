package bundle

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"sayso/business"
	"sayso/business/hours"
)

// Lint warns of what is allowed and will be answered badly. It runs through records once and keeps a hash of each title, of up to 500,000 aliases, and the
// names of up to 1000 attributes. schema may be nil. The problems are all warnings; File is publisher.json for what the profile says, schema.json for the schema, and records for the
// records, whose Field is type/id.
func Lint(p *business.Profile, schema *business.Schema, records iter.Seq[*business.Record]) []Problem {
	profile := &row{file: "publisher.json", most: maxDocumentSays}
	lintLocations(profile, p.Locations)
	declared := &row{file: "schema.json"}
	lintLanguages(profile, declared, p, schema)
	named := &row{file: "records", most: maxDocumentSays}
	stated := attributeCounts{}
	lintNames(named, func(yield func(*business.Record) bool) {
		for rec := range records {
			stated.add(rec)
			if !yield(rec) {
				return
			}
		}
	})
	stated.lint(declared, schema)
	return slices.Concat(profile.problems, declared.problems, named.problems)
}

func lintLocations(r *row, list []business.Location) {
	phones, addresses := map[string]int{}, map[string]string{}
	var noZone, noPosition []string
	for i, l := range list {
		if l.Phone != "" {
			phones[strings.Map(digit, l.Phone)]++
		}
		if key := addressKey(l); key != "" {
			if other, same := addresses[key]; same {
				r.warn(lintAddress, "locations."+strconv.Itoa(i), "if it is one place, state it once", "the locations %q and %q have one address", clip(other), clip(l.ID))
			}
			addresses[key] = l.ID
		}
		if l.TimeZone == "" {
			noZone = append(noZone, l.ID)
		}
		if l.Latitude == nil {
			noPosition = append(noPosition, l.ID)
		}
		lintHoursOf(r, i, l.OpeningHours)
	}
	for phone, n := range phones {
		if len(phones) == 1 && n > 1 {
			r.warn(lintPhone, "locations", "state a branch's own number, or leave it out: not stated is an answer", "%d of %d locations state the one phone %s", n, len(list), clip(phone))
		}
	}
	if len(noZone) > 0 {
		r.warn(lintZone, "locations", "state time_zone, such as Europe/Berlin", "%s no time_zone: whether they are open now cannot be answered", some(noZone, len(list)))
	}
	if len(noPosition) > 0 {
		r.warn(lintPosition, "locations", "state latitude and longitude", "%s no coordinates: which is nearest cannot be answered", some(noPosition, len(list)))
	}
}

// some counts ids of a list and names the first ones.
func some(ids []string, of int) string {
	shown := make([]string, 0, 3)
	for _, id := range ids[:min(3, len(ids))] {
		shown = append(shown, clip(id))
	}
	more := ""
	if len(ids) > 3 {
		more = ", …"
	}
	return fmt.Sprintf("%d of %d locations (%s%s) state", len(ids), of, strings.Join(shown, ", "), more)
}

func digit(c rune) rune {
	if c >= '0' && c <= '9' || c == '+' {
		return c
	}
	return -1
}

// addressKey is what an address says, however it is spaced; "" without one.
func addressKey(l business.Location) string {
	if l.Address == "" && l.StreetAddress == "" {
		return ""
	}
	parts := []string{l.Address, l.StreetAddress, l.PostalCode, l.Locality, l.CountryCode}
	return fold(strings.Join(parts, "\n"))
}

// fold compares names as people read them: case, composition and spacing do not matter.
func fold(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFC.String(s))), " ")
}

func lintHoursOf(r *row, i int, value string) {
	if value == "" {
		return
	}
	_, warnings, err := hours.Parse(value)
	if err != nil {
		return // refused when it was read
	}
	for _, w := range warnings {
		if strings.HasPrefix(w.Code, "lint") {
			r.warn(lintHours, fmt.Sprintf("locations.%d.opening_hours", i), "write the rule so that it says what is meant", "%s: %s", w.Code, w.Message)
		}
	}
}

// lintLanguages asks for the languages of the publisher, and for those of every word in the schema.
func lintLanguages(profile, declared *row, p *business.Profile, schema *business.Schema) {
	if len(p.ContentLanguages) == 0 {
		profile.warn(lintLanguage, "content_languages", `state them, such as ["en"]`, "no language is declared: a reader cannot tell in which language to ask")
		return
	}
	if schema == nil {
		return
	}
	used := map[string]bool{}
	add := func(words map[string][]string) {
		for tag := range words {
			used[tag] = true
		}
	}
	for _, t := range schema.Types {
		add(t.Words)
	}
	for _, attributes := range []map[string]business.SchemaAttribute{schema.Attributes, schema.Profile} {
		for _, a := range attributes {
			add(a.Words)
		}
	}
	for _, l := range schema.Lists {
		add(l.Nouns)
		add(l.Verbs)
	}
	if schema.Category != nil {
		add(schema.Category.Words)
	}
	for _, tag := range p.ContentLanguages {
		delete(used, tag)
	}
	for _, tag := range sortedKeys(used) {
		declared.warn(lintLanguage, tag, "add it to content_languages, or take the words out", "the schema has words in %q, which content_languages does not name", clip(tag))
	}
}

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// pricePattern is a currency beside a number.
var pricePattern = regexp.MustCompile(`[€£$¥]\s?\d|\d\s?(€|£|\$|¥|(?:EUR|GBP|USD|CHF|JPY|euros?|pounds?|dollars?)\b)|\b(?:EUR|GBP|USD|CHF|JPY)\s?\d`)

// maxAliases is how many aliases are compared: a record may have as many as fit into a line.
const maxAliases = 500_000

func lintNames(r *row, records iter.Seq[*business.Record]) {
	type alias struct {
		record, shown string
		name          [16]byte
	}
	titles := map[[16]byte][]string{}
	var aliases []alias
	for rec := range records {
		key := rec.Type + "/" + rec.ID
		title := nameHash(rec.Title)
		// Two owners are enough to name one that is not the alias's own record.
		if len(titles[title]) < 2 {
			titles[title] = append(titles[title], key)
		}
		for _, a := range rec.Aliases[:min(len(rec.Aliases), maxAliases-len(aliases))] {
			aliases = append(aliases, alias{key, strings.Clone(clip(a)), nameHash(a)})
		}
		if pricePattern.MatchString(rec.Title) {
			r.warn(lintPrice, key, "state the price as attribute, where it can be compared and dated", "the title %q contains a price", clip(rec.Title))
		}
	}
	for _, a := range aliases {
		for _, owner := range titles[a.name] {
			if owner != a.record {
				r.warn(lintAlias, a.record, "keep the name for one of them, or the other one cannot be asked for", "the alias %q is the title of %s", a.shown, clip(owner))
			}
		}
	}
}

// maxAttributes is how many names of attributes are counted.
const maxAttributes = 1000

// attributeCounts says how many records state each attribute.
type attributeCounts map[string]int

func (c attributeCounts) add(rec *business.Record) {
	if len(rec.Attributes) == 0 {
		return
	}
	members, err := business.Members(rec.Attributes)
	if err != nil {
		return // refused when it was read
	}
	for _, m := range members {
		if _, known := c[m.Name]; known || len(c) < maxAttributes {
			c[strings.Clone(m.Name)]++
		}
	}
}

// lint warns of what records state and no question finds. The currency beside a price belongs to the price.
func (c attributeCounts) lint(r *row, schema *business.Schema) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		declared := name == "currency"
		if schema != nil && !declared {
			_, declared = schema.Attributes[name]
		}
		if !declared {
			r.warn(lintDeclared, name, "declare it in schema.json, with its kind and the words for it", "%d records state %q, which no attribute of the schema declares: no question about it is answered",
				c[name], clip(name))
		}
	}
}

// nameHash stands for a name as people read it, in 16 bytes, so that memory does not depend on the length of names.
func nameHash(name string) [16]byte {
	sum := sha256.Sum256([]byte(fold(name)))
	return [16]byte(sum[:16])
}
