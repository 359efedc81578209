package business

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The closed vocabularies of schema.json.
var (
	schemaFields   = []string{"price", "duration", "stock", "available", "hours", "phone", "email", "address"}
	attributeKinds = []string{"money", "money_from", "money_to", "mode", "quantity", "count", "bool", "text", "list"}
	streamKinds    = []string{"bool", "count", "quantity", "money", "text"}
)

// schemaCheck looks for the first fault of a decoded schema, in the order of members and then of keys, so that one text always gives one answer. A name is
// checked before what stands below it, and nothing is looked into after a fault: so pointers are short while many are made.
type schemaCheck struct {
	schema *Schema
	err    error
}

func (c *schemaCheck) fail(at, detail string) {
	if c.err == nil {
		c.err = &SchemaError{Pointer: at, Detail: detail}
	}
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// below is one token further down.
func below(at, token string) string { return at + "/" + pointerEscaper.Replace(token) }

// spot is a place in a document whose pointer is written only when it is needed: names may be long, and many values stand below one.
type spot struct {
	up    *spot
	token string
}

func (s *spot) pointer() string {
	var tokens []string
	for ; s != nil; s = s.up {
		tokens = append(tokens, pointerEscaper.Replace(s.token), "/")
	}
	slices.Reverse(tokens)
	return strings.Join(tokens, "")
}

// nulls refuses null wherever it could be taken for absence.
func (c *schemaCheck) nulls(at *spot, v any) {
	if c.err != nil {
		return
	}
	switch v := v.(type) {
	case nil:
		pointer := at.pointer()
		if parts := strings.Split(pointer, "/"); len(parts) != 4 || parts[1] != "streams" || parts[3] != "subject" {
			c.fail(pointer, "null states nothing; leave the member out")
		}
	case []any:
		for i := range v {
			c.nulls(&spot{at, strconv.Itoa(i)}, v[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			c.nulls(&spot{at, name}, v[name])
		}
	}
}

func (c *schemaCheck) all() {
	s := c.schema
	for _, key := range slices.Sorted(maps.Keys(s.Types)) {
		if c.err != nil {
			return
		}
		at := below("/types", key)
		if !ValidType(key) {
			c.fail(at, "a record type is a-z, then at most 63 of a-z 0-9 _ -")
		}
		c.words(at+"/words", s.Types[key].Words)
	}
	streams := c.streams()
	for _, group := range []struct {
		at         string
		attributes map[string]SchemaAttribute
	}{{"/attributes", s.Attributes}, {"/profile", s.Profile}} {
		for _, key := range slices.Sorted(maps.Keys(group.attributes)) {
			if c.err == nil {
				c.attribute(below(group.at, key), key, group.attributes[key], streams)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Lists)) {
		if c.err == nil {
			c.list(below("/lists", key), key, s.Lists[key])
		}
	}
	if s.Category != nil {
		c.words("/category/words", s.Category.Words)
	}
	seen := make(map[string]bool, len(s.LinksClosed))
	for i, rel := range s.LinksClosed {
		at := "/links_closed/" + strconv.Itoa(i)
		switch {
		case !ValidRel(rel):
			c.fail(at, shown(rel)+" is no relation; use one of "+strings.Join(relations, ", ")+" or x- and an own name")
		case seen[rel]:
			c.fail(at, shown(rel)+" stands twice")
		}
		seen[rel] = true
	}
}

func (c *schemaCheck) attribute(at, key string, a SchemaAttribute, streams map[string]bool) {
	money := strings.HasPrefix(a.Kind, "money")
	if !plainText(key, 128) {
		c.fail(at, "an attribute's name is 1 to 128 code points without control characters")
	}
	c.oneOf(at+"/kind", a.Kind, attributeKinds)
	if a.Field != "" {
		c.oneOf(at+"/field", a.Field, schemaFields)
	}
	switch {
	case a.Field == "stock" && a.Kind != "count":
		c.fail(at+"/kind", "stock is a count")
	case a.Field == "available" && a.Kind != "bool":
		c.fail(at+"/kind", "available is a bool")
	}
	if a.Currency != "" {
		if !money {
			c.fail(at+"/currency", "only money, money_from and money_to have a currency")
		}
		if len(a.Currency) != 3 || !only(a.Currency, func(b byte) bool { return 'A' <= b && b <= 'Z' }) {
			c.fail(at+"/currency", "a currency is the three capital letters of ISO 4217")
		}
	}
	if a.Unit != "" {
		if a.Kind != "quantity" && a.Kind != "count" {
			c.fail(at+"/unit", "only a quantity or a count has a unit; money has a currency")
		}
		c.text(at+"/unit", a.Unit, 32)
	}
	if len(a.Deferred) > 0 && a.Kind != "mode" {
		c.fail(at+"/deferred", "only a mode has deferred values")
	}
	c.texts(at+"/deferred", a.Deferred)
	c.scope(at+"/scoped_by", a.ScopedBy)
	if a.Source != "" {
		if name, ok := strings.CutPrefix(a.Source, "stream:"); !ok || !streams[name] {
			c.fail(at+"/source", shown(a.Source)+" is not stream: and the key of a stream declared in streams")
		}
	}
	c.words(at+"/words", a.Words)
}

func (c *schemaCheck) list(at, key string, l SchemaList) {
	if !ValidType(key) {
		c.fail(at, "a list's key is a-z, then at most 63 of a-z 0-9 _ -")
	}
	c.words(at+"/nouns", l.Nouns)
	c.words(at+"/verbs", l.Verbs)
	if l.Values == nil {
		c.fail(at, "values is required; [] says that there are none")
	}
	c.terms(at+"/values", l.Values)
	d := l.Domain
	if d == nil {
		if l.Closed {
			c.fail(at+"/closed", "a closed list needs a domain: complete over which terms?")
		}
		return
	}
	if (d.Terms != nil) == (d.Taxonomy != "") {
		c.fail(at+"/domain", "a domain has either terms or a taxonomy")
	}
	if d.Taxonomy != "" {
		c.oneOf(at+"/domain/taxonomy", d.Taxonomy, Taxonomies)
		return
	}
	known := c.terms(at+"/domain/terms", d.Terms)
	for i, term := range l.Values {
		if c.err == nil && l.Closed && !known[term.ID] {
			c.fail(at+"/values/"+strconv.Itoa(i), shown(term.ID)+" is not a term of the domain the list is complete over")
		}
	}
}

// terms checks terms and returns their ids.
func (c *schemaCheck) terms(at string, terms []SchemaTerm) map[string]bool {
	ids := make(map[string]bool, len(terms))
	for i, term := range terms {
		if c.err != nil {
			return ids
		}
		place := at + "/" + strconv.Itoa(i)
		c.text(place, term.ID, 256)
		if ids[term.ID] {
			c.fail(place, shown(term.ID)+" stands twice")
		}
		ids[term.ID] = true
		c.words(place+"/words", term.Words)
	}
	return ids
}

// streams checks the declarations and returns their keys.
func (c *schemaCheck) streams() map[string]bool {
	keys := make(map[string]bool, len(c.schema.Streams))
	for i, s := range c.schema.Streams {
		at := "/streams/" + strconv.Itoa(i)
		switch {
		case !ValidType(s.Key):
			c.fail(at+"/key", "a stream's key is a-z, then at most 63 of a-z 0-9 _ -")
		case keys[s.Key]:
			c.fail(at+"/key", shown(s.Key)+" stands twice")
		}
		keys[s.Key] = true
		if s.Subject != "" && !ValidType(s.Subject) {
			c.fail(at+"/subject", "a subject is a record type")
		}
		c.scope(at+"/scoped_by", s.ScopedBy)
		c.oneOf(at+"/kind", s.Kind, streamKinds)
		if s.Unit != "" {
			c.text(at+"/unit", s.Unit, 32)
		}
		if s.SLASeconds < 1 {
			c.fail(at+"/sla_seconds", "at least 1 second is required")
		}
		if s.MaxAgeSeconds < s.SLASeconds {
			c.fail(at+"/max_age_seconds", "a reading cannot be hidden before it is stale; at least sla_seconds is required")
		}
	}
	return keys
}

func (c *schemaCheck) scope(at, s string) {
	if s != "" && s != "location" {
		c.fail(at, "only location scopes a value; leave the member out where it holds everywhere")
	}
}

func (c *schemaCheck) oneOf(at, s string, allowed []string) {
	if !slices.Contains(allowed, s) {
		c.fail(at, shown(s)+" is not one of "+strings.Join(allowed, ", "))
	}
}

func (c *schemaCheck) text(at, s string, limit int) {
	if !plainText(s, limit) {
		c.fail(at, "1 to "+strconv.Itoa(limit)+" code points without control characters are expected")
	}
}

func (c *schemaCheck) texts(at string, texts []string) {
	for i, s := range texts {
		if c.err != nil {
			return
		}
		c.text(at+"/"+strconv.Itoa(i), s, 256)
	}
}

// words checks surface forms by language.
func (c *schemaCheck) words(at string, words map[string][]string) {
	for _, language := range slices.Sorted(maps.Keys(words)) {
		if c.err != nil {
			return
		}
		place := below(at, language)
		if !ValidLanguage(language) {
			c.fail(place, shown(language)+" is not a language tag such as en or de-AT")
		}
		if len(words[language]) == 0 {
			c.fail(place, "a language without words states nothing; leave it out")
		}
		c.texts(place, words[language])
	}
}
