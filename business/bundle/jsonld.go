package bundle

import (
	"io"
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// strict is how a JSON-LD file is checked: literals survive, and it may be larger than a document of the protocol.
var strict = jcs.Form{LiteralNumbers: true, MaxBytes: MaxJSONLD}

// schemaOrg is the vocabulary; its prefixes are the ways to write it.
const schemaOrg = "https://schema.org"

var vocabularies = []string{schemaOrg, schemaOrg + "/", "http://schema.org", "http://schema.org/"}

// node is one JSON-LD object.
type node []jcs.Member

// node reads an object, with its members under their names in the vocabulary. ok is false for another value.
func (r *row) node(raw jcs.Raw) (n node, ok bool) {
	object, ok := members(raw)
	prefixed := false
	for i, m := range object {
		object[i].Name = local(m.Name)
		prefixed = prefixed || object[i].Name != m.Name
	}
	if prefixed {
		seen := map[string]bool{}
		for _, m := range object {
			if seen[m.Name] {
				r.fail(ruleNode, m.Name, "keep one of them", "%s stands twice, with and without prefix", clip(m.Name))
			}
			seen[m.Name] = true
		}
	}
	return object, ok
}

func (n node) get(name string) jcs.Raw {
	for _, m := range n {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// all returns the values of a member: one value is the same as a list of one.
func (n node) all(name string) []jcs.Raw {
	raw := n.get(name)
	if raw == nil {
		return nil
	}
	if list, ok := elements(raw); ok {
		return list
	}
	return []jcs.Raw{raw}
}

// is reports whether the node has one of the types, written short, with a prefix or as IRI.
func (n node) is(types ...string) bool {
	for _, raw := range n.all("@type") {
		if t, ok := text(raw); ok && slices.Contains(types, local(t)) {
			return true
		}
	}
	return false
}

// local strips the vocabulary from a name.
func local(name string) string {
	for _, prefix := range []string{schemaOrg + "/", "http://schema.org/", "schema:"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// graph reads the nodes at the top of a JSON-LD text: one object, an array of them, or the members of @graph. No context is fetched: only the one of
// schema.org is understood, by its name.
func (r *row) graph(data []byte) (nodes []node, ok bool) {
	if err := strict.Check(data); err != nil {
		r.fail(ruleFile, pointer(err), "write one JSON text in UTF-8, without byte order mark", "the file is not read: %v", err)
		return nil, false
	}
	if commas(data) >= MaxValues {
		r.fail(ruleLimit, "", "write JSONL", "the file has more than %d values", MaxValues)
		return nil, false
	}
	raw := jcs.Raw(data[space(data, 0):])
	list, isArray := elements(raw)
	if !isArray {
		list = []jcs.Raw{raw}
	}
	for _, e := range list {
		n, isObject := r.node(e)
		if !isObject {
			r.fail(ruleNode, "", "write an object with @context and @type", "the file holds %s where a node is expected", kindOf(e))
			return nil, false
		}
		if !contextKnown(n.get("@context")) {
			r.fail(ruleContext, "@context", `write "@context": "https://schema.org"; no context is fetched`, "the context %s is not the one of schema.org", clip(string(n.get("@context"))))
			return nil, false
		}
		if n.get("@graph") == nil {
			nodes = append(nodes, n)
			continue
		}
		for _, g := range n.all("@graph") {
			if n, isObject := r.node(g); isObject {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes, !r.failed
}

func contextKnown(raw jcs.Raw) bool {
	if list, ok := elements(raw); ok && len(list) == 1 {
		raw = list[0]
	}
	if object, ok := members(raw); ok && len(object) == 1 && object[0].Name == "@vocab" {
		raw = object[0].Value
	}
	s, ok := text(raw)
	return ok && slices.Contains(vocabularies, s)
}

// jsonld reads the offers of a business as records.
func (s *source) jsonld(in io.Reader) {
	data, err := io.ReadAll(io.LimitReader(in, MaxJSONLD+1))
	r := &row{file: s.name}
	if err != nil {
		s.refuse(0, ruleFile, "try again with a file that can be read", "the file cannot be read to its end")
		return
	}
	if len(data) > MaxJSONLD {
		s.refuse(0, ruleLimit, "write JSONL", "the file has more than %d bytes", MaxJSONLD)
		return
	}
	nodes, ok := r.graph(data)
	if !ok {
		s.emit(r, nil)
		return
	}
	w := &walk{source: s}
	for _, n := range nodes {
		for _, c := range n.all("hasOfferCatalog") {
			if !w.catalog(c) {
				return
			}
		}
	}
	if w.index == 0 {
		s.refuse(0, ruleNode, "put the offers into hasOfferCatalog of the business", "the file has no offer in hasOfferCatalog")
	}
}

// walk numbers the nodes of catalogues.
type walk struct {
	*source
	index int
}

// catalog reads an OfferCatalog, also within another, and reports whether more is wanted.
func (w *walk) catalog(raw jcs.Raw) bool {
	r := &row{file: w.name}
	n, _ := r.node(raw)
	if n.is("ListItem") {
		n, _ = r.node(n.get("item"))
	}
	switch {
	case n.is("OfferCatalog"):
		for _, e := range n.all("itemListElement") {
			if !w.catalog(e) {
				return false
			}
		}
		return true
	case n.is("Offer"):
		w.index++
		if w.full(w.index) {
			return false
		}
		r.n = w.index
		return w.emit(r, w.offer(r, n))
	}
	w.index++
	r.n = w.index
	r.fail(ruleNode, "itemListElement", "write Offer or OfferCatalog nodes in place: references are not followed", "a catalogue holds %s that is neither an Offer nor an OfferCatalog", clip(string(raw)))
	return w.emit(r, nil)
}

// offer reads one offer with the thing it offers.
func (s *source) offer(r *row, n node) *business.Record {
	rec := &business.Record{Publisher: s.o.Publisher}
	var attributes []jcs.Member
	var price prices
	for _, m := range n {
		switch m.Name {
		case "@type", "@id", "@context", "itemOffered":
		case "price":
			price.set(r, &price.exact, "price", m.Value)
		case "priceCurrency":
			price.in(r, m.Value)
		case "priceSpecification":
			price.specification(r, n)
		default:
			s.unmapped(r, "Offer", m.Name)
		}
	}
	item, ok := r.node(n.get("itemOffered"))
	switch {
	case ok && item.is("Service"):
		rec.Type = "service"
	case ok && item.is("Product"):
		rec.Type = "product"
	default:
		r.fail(ruleNode, "itemOffered", "write one Service or Product in place: references are not followed", "the offer has no Service or Product as itemOffered")
		return rec
	}
	url := ""
	for _, m := range item {
		switch m.Name {
		case "@type", "@id", "@context", "identifier", "sku":
		case "name":
			rec.Title = r.name("name", m.Value)
		case "description":
			rec.Summary = r.word("description", m.Value)
		case "alternateName":
			for _, v := range item.all(m.Name) {
				if alias := r.name("alternateName", v); alias != "" {
					rec.Aliases = append(rec.Aliases, alias)
				}
			}
		case "url":
			url = r.word("url", m.Value)
		case "additionalProperty":
			attributes = s.properties(r, attributes, s.schemaAttributes(), item.all(m.Name))
		default:
			s.unmapped(r, "itemOffered", m.Name)
		}
	}
	rec.ID = r.identifier(item)
	attributes = price.attributes(r, attributes, s.schemaAttributes())
	rec.Attributes = s.attributes(r, "attributes", objectOf(attributes))
	s.finish(r, rec)
	if url != "" && url != s.ownURL(rec) {
		s.unmapped(r, "itemOffered", "url")
	}
	return rec
}

func (s *source) schemaAttributes() map[string]business.SchemaAttribute {
	if s.o.Schema == nil {
		return nil
	}
	return s.o.Schema.Attributes
}

// objectOf writes members as an object.
func objectOf(list []jcs.Member) jcs.Raw {
	out := jcs.Raw{'{'}
	for _, m := range list {
		out = appendMember(out, m.Name, m.Value)
	}
	return append(out, '}')
}

// unmapped notes what was left out because it has no mapping.
func (s *source) unmapped(r *row, of, name string) {
	s.once(r, ruleUnmapped, name, "state it as additionalProperty if it is a fact of the business", "%s.%s has no mapping and was dropped", of, clip(name))
}

// identifier is the id of an item: identifier, else sku, else the fragment of @id.
func (r *row) identifier(n node) string {
	for _, name := range []string{"identifier", "sku"} {
		raw := n.get(name)
		if raw == nil {
			continue
		}
		if isNumber(raw) {
			return string(raw)
		}
		return r.word(name, raw)
	}
	if id, ok := text(n.get("@id")); ok {
		if _, fragment, cut := strings.Cut(id, "#"); cut && fragment != "" {
			return fragment
		}
	}
	r.fail(ruleNode, "identifier", "state identifier, sku or an @id with a fragment", "the item has no id of its own")
	return ""
}

// maxProperties bounds the properties of one item.
const maxProperties = 1000

// properties reads PropertyValue nodes as attributes. A unit is compared with the declared one and not kept.
func (s *source) properties(r *row, list []jcs.Member, declared map[string]business.SchemaAttribute, values []jcs.Raw) []jcs.Member {
	if len(values)+len(list) > maxProperties {
		r.fail(ruleLimit, "additionalProperty", "leave some out", "there are more than %d properties", maxProperties)
		return list
	}
	for _, raw := range values {
		n, _ := r.node(raw)
		name, _ := text(n.get("name"))
		v := n.get("value")
		switch {
		case !n.is("PropertyValue", "LocationFeatureSpecification") || name == "":
			r.fail(ruleNode, "additionalProperty", "write a PropertyValue with name and value", "%s is no named PropertyValue", clip(string(raw)))
			continue
		case v == nil:
			continue
		case v[0] == '{':
			s.unmapped(r, "PropertyValue", name)
			continue
		case has(list, name):
			r.fail(ruleNode, "additionalProperty", "state it once", "the property %q is stated twice", clip(name))
			continue
		}
		for _, member := range []string{"unitText", "unitCode"} {
			unit, _ := text(n.get(member))
			switch want := declared[name].Unit; {
			case unit == "" || unit == want:
			case want == "":
				s.unmapped(r, "PropertyValue", member)
			default:
				r.fail(ruleKind, "additionalProperty", "state the value in the unit of the schema", "%s is in %s by the schema, and the property says %q", clip(name), want, clip(unit))
			}
		}
		list = append(list, jcs.Member{Name: name, Value: v})
	}
	return list
}

func has(list []jcs.Member, name string) bool {
	return slices.ContainsFunc(list, func(m jcs.Member) bool { return m.Name == name })
}

// prices are what an offer says about its price. Nothing said is not stated, and never on request.
type prices struct {
	exact, from, to jcs.Raw
	currency        string
}

// set reads a price: a number, or a string that is one. Anything else is refused.
func (p *prices) set(r *row, target *jcs.Raw, field string, raw jcs.Raw) {
	literal := string(raw)
	if s, ok := text(raw); ok {
		literal = s
	}
	if !isLiteral(literal) || literal[0] == '-' || !tame(literal) || *target != nil {
		r.fail(ruleNumber, field, "write one number of at least 0 with a decimal point, or leave the price out", "%s %s is no price, or stands twice", field, clip(string(raw)))
		return
	}
	*target = jcs.Raw(literal)
}

func (p *prices) in(r *row, raw jcs.Raw) {
	c := r.name("priceCurrency", raw)
	if p.currency != "" && c != p.currency {
		r.fail(ruleCurrency, "priceCurrency", "state one currency", "the offer is in %s and in %s", clip(p.currency), clip(c))
	}
	p.currency = c
}

// specification reads the one PriceSpecification of an offer. What it does not know may change what the price is for, so it refuses it.
func (p *prices) specification(r *row, offer node) {
	list := offer.all("priceSpecification")
	if len(list) != 1 {
		r.fail(ruleNode, "priceSpecification", "state one of them", "the offer has %d price specifications", len(list))
		return
	}
	n, _ := r.node(list[0])
	for _, m := range n {
		switch m.Name {
		case "@type", "@id":
		case "price":
			p.set(r, &p.exact, "priceSpecification.price", m.Value)
		case "minPrice":
			p.set(r, &p.from, "priceSpecification.minPrice", m.Value)
		case "maxPrice":
			p.set(r, &p.to, "priceSpecification.maxPrice", m.Value)
		case "priceCurrency":
			p.in(r, m.Value)
		default:
			r.fail(ruleNode, "priceSpecification", "use price, minPrice, maxPrice and priceCurrency", "%s may change what the price is for, and has no mapping", clip(m.Name))
		}
	}
}

// attributes adds the prices. A currency that the schema declares is not repeated.
func (p *prices) attributes(r *row, list []jcs.Member, declared map[string]business.SchemaAttribute) []jcs.Member {
	repeated := p.currency == ""
	for _, a := range []struct {
		name  string
		value jcs.Raw
	}{{"price", p.exact}, {"price_from", p.from}, {"price_to", p.to}} {
		repeated = repeated || declared[a.name].Currency == p.currency
		if a.value == nil {
			continue
		}
		if has(list, a.name) {
			r.fail(ruleNode, "additionalProperty", "state the price once", "%s is stated by the offer and by a property", a.name)
			continue
		}
		list = append(list, jcs.Member{Name: a.name, Value: a.value})
	}
	if !repeated && !has(list, "currency") {
		list = append(list, jcs.Member{Name: "currency", Value: jcs.AppendString(nil, p.currency)})
	}
	return list
}
