package bundle

import (
	"bytes"

	"sayso/business"
	"sayso/jcs"
)

// attributes checks the attributes of a record or a profile and copies them, without the ones that say nothing.
func (s *source) attributes(r *row, field string, raw jcs.Raw) jcs.Raw {
	list, ok := members(raw)
	if !ok {
		r.fail(ruleForm, field, "write an object, or leave the member out", "%s is %s where an object is expected", field, kindOf(raw))
		return nil
	}
	empty := 0
	for _, m := range list {
		if isEmpty(m.Value) {
			empty++
			continue
		}
		s.attribute(r, field+"."+clip(m.Name), m.Name, m.Value)
	}
	s.currency(r, list)
	switch empty {
	case 0:
		if len(list) == 0 {
			return nil
		}
		return bytes.Clone(raw)
	case len(list):
		return nil
	}
	out := jcs.Raw{'{'}
	for _, m := range list {
		if !isEmpty(m.Value) {
			out = appendMember(out, m.Name, m.Value)
		}
	}
	return append(out, '}')
}

// appendMember appends a member to an object that is being written.
func appendMember(dst jcs.Raw, name string, value jcs.Raw) jcs.Raw {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(jcs.AppendString(dst, name), ':')
	return append(dst, value...)
}

// attribute checks one attribute: its key, and its value against the schema.
func (s *source) attribute(r *row, field, key string, v jcs.Raw) {
	if key == "" || !plain(key) {
		r.fail(ruleName, field, "name the attribute with plain characters", "the attribute key %q is empty or holds a control character", clip(key))
		return
	}
	if isNull(v) {
		r.fail(ruleForm, field, "leave the attribute out: that says not stated", "%s is null", clip(key))
		return
	}
	if s.o.Schema == nil {
		return
	}
	declared, ok := s.o.Schema.Attributes[key]
	switch {
	case !ok:
		// currency qualifies the prices beside it and needs no declaration.
		if key != "currency" {
			s.once(r, ruleKind, field, "declare it in schema.json, or no question can be answered from it", "the schema does not declare the attribute %q", clip(key))
		}
	case declared.ScopedBy == "location":
		s.scoped(r, field, declared, v)
	default:
		checkKind(r, field, declared, v)
	}
}

// scoped checks a value per location.
func (s *source) scoped(r *row, field string, declared business.SchemaAttribute, v jcs.Raw) {
	list, ok := members(v)
	if !ok {
		r.fail(ruleScope, field, `write an object of location ids, such as {"northgate":4}`, "%s holds per location, and is %s", field, kindOf(v))
		return
	}
	for _, m := range list {
		if s.locations != nil && !s.locations[m.Name] {
			r.fail(ruleScope, field, "use an id that publisher.json gives a location", "%q is no location of this publisher", clip(m.Name))
		}
		checkKind(r, field+"."+clip(m.Name), declared, m.Value)
	}
}

// checkKind checks one value against its declared kind.
func checkKind(r *row, field string, declared business.SchemaAttribute, v jcs.Raw) {
	wrong := func(rule, next string) {
		r.fail(rule, field, next, "%s is of kind %s, and %s stands there", field, declared.Kind, clip(string(v)))
	}
	switch declared.Kind {
	case "money", "money_from", "money_to":
		if !isNumber(v) || v[0] == '-' || !tame(string(v)) {
			wrong(ruleNumber, "write a number of at least 0 without quotes, such as 49.90")
		}
	case "quantity":
		if !isNumber(v) || !tame(string(v)) {
			wrong(ruleNumber, "write a number without quotes, in the unit of the schema")
		}
	case "count":
		if !isNumber(v) || len(v) > 18 || bytes.ContainsAny(v, "-.eE") {
			wrong(ruleNumber, "write a whole number of at least 0")
		}
	case "bool":
		if !isBool(v) {
			wrong(ruleBool, "write true or false")
		}
	case "list":
		terms, ok := elements(v)
		for _, e := range terms {
			ok = ok && e[0] == '"'
		}
		if !ok {
			wrong(ruleKind, "write an array of strings")
		}
	default: // text, mode
		if v[0] != '"' {
			wrong(ruleKind, "write a string")
		}
	}
}

// currency refuses a record whose own currency is another one than the schema gives to one of its prices.
func (s *source) currency(r *row, list []jcs.Member) {
	if s.o.Schema == nil {
		return
	}
	own := ""
	for _, m := range list {
		if m.Name == "currency" {
			own, _ = text(m.Value)
		}
	}
	if own == "" {
		return
	}
	for _, m := range list {
		if c := s.o.Schema.Attributes[m.Name].Currency; c != "" && c != own && !isEmpty(m.Value) {
			r.fail(ruleCurrency, "attributes.currency", "state the price in the currency of the schema, or declare the attribute without one", "%s is in %s by the schema, and the record says %q", m.Name, c, clip(own))
			return
		}
	}
}
