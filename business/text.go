package business

import (
	"crypto/sha256"
	"slices"

	"sayso/jcs"
)

// text is one JSON value in canonical form. Everything a verification reads, it reads from the canonical text it hashed, so that what was judged is what
// was signed.
type text []byte

// field is one member of an object in canonical form.
type field struct {
	name       string // unescaped
	value      text
	start, end int // of name and value together, in the object's text
}

// object is the members of an object, in canonical order.
type object []field

// end returns the index behind the value that begins at i. The text is known to be JSON without white space.
func (t text) end(i int) int {
	depth := 0
	for ; i < len(t); i++ {
		switch t[i] {
		case '"':
			for i++; t[i] != '"'; i++ {
				if t[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// object splits an object into its members; false for any other value.
func (t text) object() (object, bool) {
	if len(t) == 0 || t[0] != '{' {
		return nil, false
	}
	members := make(object, 0, 16)
	for i := 1; t[i] != '}'; {
		start := i
		nameEnd := t.end(i)
		name, _ := t[i:nameEnd].str()
		i = t.end(nameEnd + 1)
		members = append(members, field{name: name, value: t[nameEnd+1 : i], start: start, end: i})
		if t[i] == ',' {
			i++
		}
	}
	return members, true
}

// array splits an array into its elements; false for any other value.
func (t text) array() ([]text, bool) {
	if len(t) == 0 || t[0] != '[' {
		return nil, false
	}
	elements := []text{}
	for i := 1; t[i] != ']'; {
		end := t.end(i)
		elements = append(elements, t[i:end])
		if i = end; t[i] == ',' {
			i++
		}
	}
	return elements, true
}

// str returns the characters of a string; false for any other value.
func (t text) str() (string, bool) {
	if len(t) < 2 || t[0] != '"' {
		return "", false
	}
	inner := t[1 : len(t)-1]
	if !slices.Contains(inner, '\\') {
		return string(inner), true
	}
	return jcs.Text(jcs.Raw(t))
}

// is reports whether the value is exactly one of the literals true, false and null.
func (t text) is(literal string) bool { return string(t) == literal }

// get returns the value of a member, nil when there is none.
func (o object) get(name string) text {
	for i := range o {
		if o[i].name == name {
			return o[i].value
		}
	}
	return nil
}

// str returns the characters of a string member, "" when it is absent or another value.
func (o object) str(name string) string {
	s, _ := o.get(name).str()
	return s
}

// object returns a member that is an object, nil otherwise.
func (o object) object(name string) object {
	members, _ := o.get(name).object()
	return members
}

// hashWithout is the SHA-256 of an object's canonical form with one member left out, which is the canonical form of the object without that member.
func hashWithout(whole text, members object, name string) (digest [32]byte) {
	i := slices.IndexFunc(members, func(m field) bool { return m.name == name })
	if i < 0 {
		return sha256.Sum256(whole)
	}
	start, end := members[i].start, members[i].end
	if i > 0 {
		start-- // the comma before it
	} else if len(members) > 1 {
		end++ // the comma behind it
	}
	h := sha256.New()
	h.Write(whole[:start])
	h.Write(whole[end:])
	h.Sum(digest[:0])
	return digest
}
