package jcs

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// member is one member of an open object.
type member struct {
	name       []byte
	prefix     uint64 // scanner.prefix(name)
	at         int    // offset of the name in data
	start, end int    // its canonical form in the output
}

// before reports whether m's name stands before n's in the form's order.
func (s *scanner) before(m, n *member) bool {
	if m.prefix != n.prefix {
		return m.prefix < n.prefix
	}
	return s.compare(m.name, n.name) < 0
}

// compare orders two names as the form does.
func (s *scanner) compare(a, b []byte) int {
	if s.form.CodePointOrder {
		return bytes.Compare(a, b)
	}
	return compareUTF16(a, b)
}

// key is what is sorted instead of a member, which is too large to be moved about.
type key struct {
	prefix uint64
	index  int // into the members of the object
}

// order rewrites the members of one object, which stand from body to the end of out, in the form's order and
// refuses a name that stands twice.
func (s *scanner) order(out []byte, body int, members []member) *Error {
	keys := s.keys[:0]
	for i := range members {
		keys = append(keys, key{members[i].prefix, i})
	}
	s.keys = keys
	slices.SortFunc(keys, func(a, b key) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return s.compare(members[a.index].name, members[b.index].name)
	})
	moved := s.moved[:0]
	for i, k := range keys {
		m := &members[k.index]
		if i > 0 {
			before := &members[keys[i-1].index]
			if string(before.name) == string(m.name) {
				name := string(m.name)
				at := max(before.at, m.at)
				return fail(KindDuplicate, at, "the name "+quoted(name)+" stands twice in one object").under(name)
			}
			moved = append(moved, ',')
		}
		moved = append(moved, out[m.start:m.end]...)
	}
	copy(out[body:], moved)
	s.moved = moved
	return nil
}

// prefix packs the first eight bytes of a name, zeros after a shorter one, so that names with different prefixes stand
// in the order of their prefixes. Equal prefixes say nothing.
func (s *scanner) prefix(name []byte) uint64 {
	var b [8]byte
	copy(b[:], name)
	w := binary.BigEndian.Uint64(b[:])
	const tops = 0x8080808080808080
	if s.form.CodePointOrder || w&(w<<1)&(w<<2)&tops == 0 {
		return w // bytes are in order; or none is E0 or above, and UTF-16 orders only lead bytes from EE on differently
	}
	for i, c := range b {
		switch {
		case c >= 0xF0:
			b[i] = c - 2 // F0 to F4, the lead bytes beyond U+FFFF, become EE to F2
		case c >= 0xEE:
			b[i] = c + 5 // EE and EF, the lead bytes of U+E000 to U+FFFF, become F3 and F4
		}
	}
	return binary.BigEndian.Uint64(b[:])
}

// compareUTF16 orders two valid UTF-8 names by their UTF-16 code units. That is the order of their bytes, except that
// a character beyond U+FFFF (lead byte F0 to F4), whose first unit is a surrogate, comes before U+E000 to U+FFFF
// (lead bytes EE and EF).
func compareUTF16(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}
