package bundle

import (
	"strconv"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// The lists that schema.org names itself.
const (
	listPayment   = "payment_methods"  // paymentAccepted
	listLanguages = "languages_spoken" // knowsLanguage
)

// The properties that carry members without a name in schema.org.
const (
	propertyCategory = "business_category"
	propertyZone     = "time_zone"
)

// ReadProfileJSONLD reads the business of a JSON-LD text: its profile, and a schema with the lists that schema.org names (paymentAccepted and
// knowsLanguage, never closed; nil without them). The one node is taken that is a LocalBusiness or has an address, hours, departments or offers. A profile
// with an error is nil.
func ReadProfileJSONLD(data []byte, name string) (*business.Profile, *business.Schema, []Problem) {
	s := newSource(name, Options{}, nil)
	r := &row{file: name, most: maxDocumentSays}
	nodes, ok := r.graph(data)
	if !ok {
		return nil, nil, r.problems
	}
	var found []node
	for i, n := range nodes {
		if isBusiness(n) {
			r.n = i + 1
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		r.n = 0
		r.fail(ruleNode, "", "leave one LocalBusiness in the file, with its branches as department", "the file describes %d businesses", len(found))
		return nil, nil, r.problems
	}
	p := &business.Profile{}
	schema := s.business(r, p, found[0])
	finishProfile(r, p)
	if r.failed {
		return nil, nil, r.problems
	}
	return p, schema, r.problems
}

func isBusiness(n node) bool {
	if n.is("LocalBusiness") {
		return true
	}
	for _, name := range []string{"address", "geo", "telephone", "email", "openingHours", "openingHoursSpecification", "department", "hasOfferCatalog"} {
		if n.get(name) != nil {
			return true
		}
	}
	return false
}

// business reads the members of a LocalBusiness.
func (s *source) business(r *row, p *business.Profile, n node) (schema *business.Schema) {
	var attributes []jcs.Member
	var own node // what makes the business itself a place
	lists := map[string]business.SchemaList{}
	for _, m := range n {
		switch name := m.Name; name {
		case "@context", "@type", "@id", "hasOfferCatalog", "department", "location":
		case "name":
			p.DisplayName = r.name(name, m.Value)
		case "legalName":
			p.LegalName = r.name(name, m.Value)
		case "url":
			p.Website = r.name(name, m.Value)
		case "address", "geo", "telephone", "email", "openingHours", "openingHoursSpecification", "specialOpeningHoursSpecification":
			own = append(own, m)
		case "amenityFeature":
			attributes = s.amenities(r, attributes, n.all(m.Name))
		case "additionalProperty":
			attributes = s.properties(r, attributes, nil, n.all(m.Name))
		case "paymentAccepted":
			r.list(lists, listPayment, n.all(m.Name))
		case "knowsLanguage":
			r.list(lists, listLanguages, n.all(m.Name))
		default:
			s.unmapped(r, "LocalBusiness", name)
		}
	}
	kept := attributes[:0]
	for _, m := range attributes {
		if m.Name == propertyCategory {
			p.BusinessCategory = r.name(m.Name, m.Value)
			continue
		}
		kept = append(kept, m)
	}
	p.ProfileAttributes = s.attributes(r, "profile_attributes", objectOf(kept))
	s.places(r, p, n, own)
	if len(lists) > 0 {
		schema = &business.Schema{Lists: lists}
	}
	return schema
}

// places reads the locations: the business itself where it has an address or a number of its own, then its departments. What the business states of itself is
// never copied down to a department (XP-IDENTITY-007). The first one is primary.
func (s *source) places(r *row, p *business.Profile, n, own node) {
	if len(own) > 0 {
		if p.DisplayName != "" {
			own = append(own, jcs.Member{Name: "name", Value: jcs.AppendString(nil, p.DisplayName)})
		}
		p.Locations = append(p.Locations, s.place(r, "", own))
	}
	for _, member := range []string{"location", "department"} {
		list := n.all(member)
		if len(list) > MaxLocations {
			r.fail(ruleLimit, member, "split the business into several publishers", "there are more than %d locations", MaxLocations)
			return
		}
		for i, raw := range list {
			place, ok := r.node(raw)
			field := member + "." + strconv.Itoa(i)
			if !ok {
				r.fail(ruleNode, field, "write the place as a node", "%s is %s where a node is expected", field, kindOf(raw))
				continue
			}
			p.Locations = append(p.Locations, s.place(r, field+".", place))
		}
	}
	if len(p.Locations) > 0 {
		p.Locations[0].Primary = true
	}
}

// amenities reads features that are there or are not. A feature without a value is not stated.
func (s *source) amenities(r *row, list []jcs.Member, values []jcs.Raw) []jcs.Member {
	if len(values) > maxProperties {
		return s.properties(r, list, nil, values)
	}
	for _, raw := range values {
		n, _ := r.node(raw)
		if v := n.get("value"); v != nil && !isBool(v) {
			r.fail(ruleBool, "amenityFeature", "write true or false without quotes, or leave the value out", "the value %s of a feature is neither true nor false", clip(string(v)))
			continue
		}
		list = s.properties(r, list, nil, []jcs.Raw{raw})
	}
	return list
}

// list reads terms: strings, which may hold several separated by commas, or nodes with a name.
func (r *row) list(lists map[string]business.SchemaList, name string, values []jcs.Raw) {
	var l business.SchemaList
	for _, raw := range values {
		if n, ok := r.node(raw); ok {
			if raw = n.get("name"); raw == nil {
				continue
			}
		}
		for term := range strings.SplitSeq(r.name(name, raw), ",") {
			if term = strings.TrimSpace(term); term != "" {
				l.Values = append(l.Values, business.SchemaTerm{ID: term})
			}
		}
	}
	if len(l.Values) > 0 {
		lists[name] = l
	}
}

// place reads one location; at is the place of its members.
func (s *source) place(r *row, at string, n node) (l business.Location) {
	var properties []jcs.Member
	for _, m := range n {
		field := at + m.Name
		switch m.Name {
		case "@type", "@id", "@context", "openingHours", "openingHoursSpecification", "specialOpeningHoursSpecification":
		case "identifier":
			l.ID = r.identifier(n)
		case "name":
			l.Name = r.name(field, m.Value)
		case "telephone":
			l.Phone = r.name(field, m.Value)
		case "email":
			l.Email = r.name(field, m.Value)
		case "address":
			for _, v := range n.all(m.Name) {
				s.address(r, field, &l, v)
			}
		case "geo":
			geo, _ := r.node(m.Value)
			l.Latitude, l.Longitude = coordinate(geo, "latitude"), coordinate(geo, "longitude")
			if l.Latitude == nil || l.Longitude == nil {
				r.fail(rulePosition, field, "write GeoCoordinates with latitude and longitude", "geo has no latitude or no longitude")
				l.Latitude, l.Longitude = nil, nil
			}
		case "additionalProperty":
			properties = s.properties(r, properties, nil, n.all(m.Name))
		default:
			s.unmapped(r, "department", m.Name)
		}
	}
	for _, m := range properties {
		if m.Name == propertyZone {
			l.TimeZone = r.name(at+propertyZone, m.Value)
			continue
		}
		s.unmapped(r, "department", m.Name)
	}
	l.OpeningHours = r.openingHours(at+"openingHours", r.hoursOf(at, n))
	if l.ID == "" {
		l.ID = business.City(l.Name)
	}
	r.checkLocation(strings.TrimSuffix(at, "."), &l)
	return l
}

// coordinate is a number, or a string that is one.
func coordinate(n node, name string) jcs.Raw {
	raw := n.get(name)
	if s, ok := text(raw); ok && isLiteral(s) {
		return jcs.Raw(s)
	}
	return append(jcs.Raw(nil), raw...)
}

// address reads a text or a PostalAddress.
func (s *source) address(r *row, field string, l *business.Location, raw jcs.Raw) {
	n, ok := r.node(raw)
	if !ok {
		l.Address = r.name(field, raw)
		return
	}
	for _, m := range n {
		switch name := m.Name; name {
		case "@type", "@id":
		case "streetAddress":
			l.StreetAddress = r.name(field+"."+name, m.Value)
		case "addressLocality":
			l.Locality = r.name(field+"."+name, m.Value)
		case "postalCode":
			l.PostalCode = r.name(field+"."+name, m.Value)
		case "addressCountry":
			r.country(field+"."+name, l, m.Value)
		default:
			s.unmapped(r, "PostalAddress", name)
		}
	}
}

// country reads a code, a name, or a Country with both.
func (r *row) country(field string, l *business.Location, raw jcs.Raw) {
	if n, ok := r.node(raw); ok {
		if v := n.get("identifier"); v != nil {
			l.CountryCode = r.name(field, v)
		}
		if v := n.get("name"); v != nil {
			l.Country = r.name(field, v)
		}
		return
	}
	switch c := r.name(field, raw); {
	case len(c) == 2 && strings.ToUpper(c) == c:
		l.CountryCode = c
	default:
		l.Country = c
	}
}
