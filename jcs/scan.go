package jcs

import (
	"strconv"
	"strings"
	"sync"
)

// scanner validates a text and writes its canonical form in one pass. A value's canonical form is appended as the
// value is read; the members of an object are put in order when its closing brace is reached.
type scanner struct {
	data    []byte
	form    Form
	pos     int
	depth   int
	first   byte     // first byte of the root value
	collect bool     // keep the members of a root object, or the elements of a root array, in top
	top     []span   // of the root's members or elements, in received order
	names   []byte   // the names of the same members, one after the other
	name    []byte   // the last string read, unescaped; it may share memory with data
	members []member // members of all open objects, innermost last
	spare   []byte   // output of Check and Members, which nobody reads
	moved   []byte   // members of one object on their way into order
	keys    []key    // of the same members
}

// span says where a member of the root stands: its name ends at nameEnd in the collected names, its value lies in data.
type span struct {
	nameEnd, start, end int
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

func newScanner(data []byte, form Form) *scanner {
	s := scanners.Get().(*scanner)
	s.data, s.form = data, form
	return s
}

// release returns s to the pool without keeping the caller's memory alive, unless its buffers grew unusually large.
func (s *scanner) release() {
	const keep = 1 << 18
	clear(s.members) // what an error left open; objects that were closed have cleared theirs
	s.data, s.name = nil, nil
	s.pos, s.depth, s.first, s.collect = 0, 0, 0, false
	if cap(s.members) > keep/64 || cap(s.spare) > keep || cap(s.moved) > keep || cap(s.names) > keep || cap(s.top) > keep/64 {
		return
	}
	s.members, s.spare, s.moved = s.members[:0], s.spare[:0], s.moved[:0]
	s.top, s.names = s.top[:0], s.names[:0]
	scanners.Put(s)
}

// fail makes an error at an offset; the pointer is completed while the error travels up.
func fail(kind Kind, at int, detail string) *Error {
	return &Error{Kind: kind, Offset: at, Detail: detail}
}

// under puts one more token in front of the pointer.
func (e *Error) under(token string) *Error {
	e.Pointer = "/" + pointerEscaper.Replace(token) + e.Pointer
	return e
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// document reads the whole text.
func (s *scanner) document(dst []byte) ([]byte, error) {
	if limit := s.form.MaxBytes; limit > 0 && len(s.data) > limit {
		return dst, fail(KindSize, limit, "the text is longer than "+strconv.Itoa(limit)+" bytes; send it in parts or leave something out")
	}
	if len(s.data) >= 3 && s.data[0] == 0xEF && s.data[1] == 0xBB && s.data[2] == 0xBF {
		return dst, fail(KindSyntax, 0, "the text begins with a byte order mark; save it as UTF-8 without one")
	}
	c := s.next()
	if s.pos == len(s.data) {
		return dst, fail(KindSyntax, s.pos, "there is no value, only white space or nothing")
	}
	s.first = c
	dst, err := s.value(dst, c)
	if err != nil {
		return dst, err
	}
	if s.next(); s.pos < len(s.data) {
		return dst, fail(KindTrailing, s.pos, "something follows the end of the value; send one value only")
	}
	return dst, nil
}

// next skips white space and returns the byte at pos, 0 at the end of the text.
func (s *scanner) next() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
		s.pos++
	}
	return 0
}

// unexpected is the error for a byte that cannot stand at pos.
func (s *scanner) unexpected(wanted string) *Error {
	switch {
	case s.pos >= len(s.data):
		return fail(KindSyntax, s.pos, "the text ends where "+wanted+" is expected")
	case s.data[s.pos] >= 0x80:
		return fail(KindSyntax, s.pos, "a character outside a string stands where "+wanted+" is expected")
	}
	return fail(KindSyntax, s.pos, quoted(string(s.data[s.pos:s.pos+1]))+" stands where "+wanted+" is expected")
}

// value reads the value that begins with c at pos.
func (s *scanner) value(dst []byte, c byte) ([]byte, *Error) {
	switch c {
	case '"':
		return s.str(dst)
	case '{':
		return s.object(dst)
	case '[':
		return s.array(dst)
	case 't':
		return s.literal(dst, "true")
	case 'f':
		return s.literal(dst, "false")
	case 'n':
		return s.literal(dst, "null")
	}
	if c != '-' && (c < '0' || c > '9') {
		return dst, s.unexpected("a value")
	}
	n := scanNumber(s.data, s.pos)
	if n.bad != "" {
		return dst, fail(KindSyntax, n.end, n.bad)
	}
	start := s.pos
	s.pos = n.end
	if s.form.LiteralNumbers {
		return append(dst, s.data[start:n.end]...), nil
	}
	dst, err := appendLiteral(dst, s.data[start:n.end], n)
	if err != nil {
		err.Offset = start
	}
	return dst, err
}

func (s *scanner) literal(dst []byte, word string) ([]byte, *Error) {
	end := s.pos + len(word)
	if end > len(s.data) || string(s.data[s.pos:end]) != word {
		return dst, fail(KindSyntax, s.pos, "only true, false and null may stand without quotation marks")
	}
	s.pos = end
	return append(dst, word...), nil
}

// enter counts one level of nesting and steps over the opening bracket.
func (s *scanner) enter() *Error {
	if s.depth++; s.depth > MaxDepth {
		return fail(KindDepth, s.pos, "nested deeper than "+strconv.Itoa(MaxDepth)+" levels")
	}
	s.pos++
	return nil
}

// leave steps over the closing bracket and writes it.
func (s *scanner) leave(dst []byte) []byte {
	dst = append(dst, s.data[s.pos])
	s.pos++
	s.depth--
	return dst
}

func (s *scanner) array(dst []byte) ([]byte, *Error) {
	if err := s.enter(); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	c := s.next()
	if c == ']' {
		return s.leave(dst), nil
	}
	for i := 0; ; i++ {
		var err *Error
		from := s.pos
		if dst, err = s.value(dst, c); err != nil {
			return dst, err.under(strconv.Itoa(i))
		}
		if s.collect && s.depth == 1 {
			s.top = append(s.top, span{start: from, end: s.pos})
		}
		switch s.next() {
		case ']':
			return s.leave(dst), nil
		case ',':
			s.pos++
			dst = append(dst, ',')
			c = s.next()
		default:
			return dst, s.unexpected("a comma or the end of the array")
		}
	}
}

func (s *scanner) object(dst []byte) ([]byte, *Error) {
	if err := s.enter(); err != nil {
		return dst, err
	}
	start, base := len(dst), len(s.members)
	dst = append(dst, '{')
	if s.next() == '}' {
		return s.leave(dst), nil
	}
	ordered := true
	for {
		var err *Error
		if dst, err = s.member(dst); err != nil {
			return dst, err
		}
		if n := len(s.members); ordered && n-base > 1 {
			ordered = s.before(&s.members[n-2], &s.members[n-1])
		}
		switch s.next() {
		case '}':
			if !ordered {
				if err = s.order(dst, start+1, s.members[base:]); err != nil {
					return dst, err
				}
			}
			clear(s.members[base:])
			s.members = s.members[:base]
			return s.leave(dst), nil
		case ',':
			s.pos++
			dst = append(dst, ',')
			s.next()
		default:
			return dst, s.unexpected("a comma or the end of the object")
		}
	}
}

// member reads one name and its value and notes where their canonical form stands.
func (s *scanner) member(dst []byte) ([]byte, *Error) {
	if s.pos >= len(s.data) || s.data[s.pos] != '"' {
		return dst, s.unexpected("a member name in quotation marks")
	}
	m := member{at: s.pos, start: len(dst)}
	dst, err := s.str(dst)
	if err != nil {
		return dst, err
	}
	m.name, m.prefix = s.name, s.prefix(s.name)
	if s.next() != ':' {
		return dst, s.unexpected("a colon").under(string(m.name))
	}
	s.pos++
	dst = append(dst, ':')
	c := s.next()
	from := s.pos
	if dst, err = s.value(dst, c); err != nil {
		return dst, err.under(string(m.name))
	}
	if s.collect && s.depth == 1 {
		s.names = append(s.names, m.name...)
		s.top = append(s.top, span{nameEnd: len(s.names), start: from, end: s.pos})
	}
	m.end = len(dst)
	s.members = append(s.members, m)
	return dst, nil
}
