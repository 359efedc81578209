package jcs

import "github.com/go-json-experiment/json"

// Form is a canonical form of JSON. The zero Form is RFC 8785, which the functions of this package write; a protocol
// that signs another form states in what it departs from it. Every Form has the same gates for syntax, UTF-8, member
// names and depth.
//
// Canonical text of a Form is a fixed point of that Form, and of no other: a protocol declares its Form once and keeps
// to it.
type Form struct {
	LiteralNumbers   bool // numbers keep the literal they were received with and need not survive binary64; -0 stays -0
	CodePointOrder   bool // members stand in the order of the code points of their names, which is that of their UTF-8 bytes
	EscapeSeparators bool // U+2028 and U+2029 are written \u2028 and \u2029
	MaxBytes         int  // longest text that is read; 0 leaves the bound to the caller
}

// Check is the function [Check] for this form.
func (f Form) Check(data []byte) error {
	s := newScanner(data, f)
	defer s.release()
	out, err := s.document(s.spare[:0])
	s.spare = out
	if err != nil {
		return err
	}
	return nil
}

// Append is the function [AppendCanonical] for this form.
func (f Form) Append(dst, data []byte) ([]byte, error) {
	s := newScanner(data, f)
	defer s.release()
	out := dst
	if out == nil {
		out = make([]byte, 0, len(data))
	}
	out, err := s.document(out)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Members is the function [Members] for this form.
func (f Form) Members(data []byte) ([]Member, error) {
	s := newScanner(data, f)
	defer s.release()
	if err := s.parts('{', "an object"); err != nil {
		return nil, err
	}
	members := make([]Member, len(s.top))
	names, from := string(s.names), 0
	for i, m := range s.top {
		members[i] = Member{Name: names[from:m.nameEnd], Value: data[m.start:m.end:m.end]}
		from = m.nameEnd
	}
	return members, nil
}

// parts checks a text whose root begins with a byte and leaves the root's members or elements in top.
func (s *scanner) parts(first byte, wanted string) error {
	s.collect = true
	out, err := s.document(s.spare[:0])
	s.spare = out
	if err != nil {
		return err
	}
	if s.first != first {
		return &Error{Kind: KindType, Offset: 0, Detail: wanted + " is expected, " + valueWord(s.first) + " stands here"}
	}
	return nil
}

// Elements is the function [Elements] for this form.
func (f Form) Elements(data []byte) ([]Raw, error) {
	s := newScanner(data, f)
	defer s.release()
	if err := s.parts('[', "an array"); err != nil {
		return nil, err
	}
	elements := make([]Raw, len(s.top))
	for i, e := range s.top {
		elements[i] = data[e.start:e.end:e.end]
	}
	return elements, nil
}

// Decode is the function [Decode] for this form. A number that no Go number holds is refused by its target
// ([KindType]); [Raw] takes every literal as it stands.
func (f Form) Decode(data []byte, v any) error {
	if err := f.Check(data); err != nil {
		return err
	}
	return translate(json.Unmarshal(data, v))
}

// DecodeKnown is the function [DecodeKnown] for this form.
func (f Form) DecodeKnown(data []byte, v any) error {
	if err := f.Check(data); err != nil {
		return err
	}
	return translate(json.Unmarshal(data, v, json.RejectUnknownMembers(true)))
}
