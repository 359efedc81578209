package wire

import (
	"cmp"
	"slices"
	"strconv"

	"sayso/jcs"
)

// Code classifies why an object was refused.
type Code string

// The refusals. Each of them means: no effect at all, but for CodeVersion on a SessionOpen, which is answered by SessionClose(unsupported).
const (
	CodeMalformed Code = "malformed" // not one object of the protocol
	CodeVersion   Code = "version"   // a readable object of another protocol version
)

// Error says which rule an object broke and where.
type Error struct {
	Code   Code
	Type   Type   // as far as it was read
	Place  string // member, as claims/0/value; "" for the whole
	Detail string // one sentence fragment, without anything of the object's content
	cause  error
}

// Error reads "malformed CompatibilityRequest at claims/0/value: a required member is missing".
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Type != "" {
		text += " " + string(e.Type)
	}
	if e.Place != "" {
		text += " at " + e.Place
	}
	return text + ": " + e.Detail
}

// Unwrap returns the error of the JSON reader, if that is what refused the object.
func (e *Error) Unwrap() error { return e.cause }

// presence says what the absence of a member means.
type presence uint8

const (
	required presence = iota
	nullable          // may be absent; null is read as absent (W-5); left out when empty
	optional          // may be absent, not null; left out when empty
	lenient           // may be absent on input, which reads as empty; always written
)

type mode uint8

const (
	reading mode = iota
	writing
	describing
)

// codec walks the members of one object in one of three modes. It keeps the first error.
type codec struct {
	mode  mode
	place string
	err   *Error
	in    map[string]jcs.Raw // reading: what is not taken yet
	out   []field            // writing: values as JSON; describing: schemas
	needs []string           // describing: required members
}

// field is one written member.
type field struct {
	name string
	text []byte
}

// Decode reads one object. Errors are *Error. A SessionOpen of another version that is otherwise readable comes back beside an error with [CodeVersion].
func Decode(data []byte) (Object, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Code: CodeMalformed, Detail: "it is longer than " + strconv.Itoa(MaxBytes) + " bytes"}
	}
	members, err := jcs.Members(data)
	if err != nil {
		return nil, &Error{Code: CodeMalformed, Detail: "it is not one JSON object under the strict profile", cause: err}
	}
	c := &codec{mode: reading, in: make(map[string]jcs.Raw, len(members))}
	for _, m := range members {
		c.in[m.Name] = m.Value
	}
	var kind, version string
	c.text("type", &kind, required)
	c.text("version", &version, required)
	o := blank(Type(kind))
	if c.err == nil && o == nil {
		c.fail("type", "no such type of object")
	}
	if c.err != nil {
		return nil, c.err
	}
	o.members(c)
	c.done()
	if c.err != nil {
		c.err.Type = o.Type()
		return nil, c.err
	}
	if version != Version {
		wrong := &Error{Code: CodeVersion, Type: o.Type(), Place: "version", Detail: "this is " + Version}
		if _, ok := o.(*SessionOpen); ok {
			return o, wrong
		}
		wrong.Code = CodeMalformed
		return nil, wrong
	}
	return o, nil
}

// Encode writes an object canonically. It refuses what [Decode] would refuse; errors are *Error.
func Encode(o Object) ([]byte, error) {
	c := &codec{mode: writing}
	c.out = append(make([]field, 0, 16), field{"type", stringText(string(o.Type()))}, field{"version", stringText(Version)})
	o.members(c)
	if c.err == nil {
		if data := c.join(); len(data) <= MaxBytes {
			return data, nil
		}
		c.fail("", "it is longer than "+strconv.Itoa(MaxBytes)+" bytes")
	}
	c.err.Type = o.Type()
	return nil, c.err
}

// join writes what was collected as one object. Member names are ASCII, so that bytes order them as UTF-16 would.
func (c *codec) join() []byte {
	slices.SortFunc(c.out, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	size := 2
	for _, f := range c.out {
		size += len(f.name) + len(f.text) + len(`"":,`)
	}
	dst := append(make([]byte, 0, size), '{')
	for i, f := range c.out {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(jcs.AppendString(dst, f.name), ':'), f.text...)
	}
	return append(dst, '}')
}

// stringText is a string as it is written, in memory of its size where nothing is escaped.
func stringText(s string) []byte {
	return jcs.AppendString(make([]byte, 0, len(s)+len(`""`)), s)
}

func (c *codec) fail(name, detail string) {
	if c.err != nil {
		return
	}
	place := c.place
	switch {
	case place == "":
		place = name
	case name != "":
		place += "/" + name
	}
	c.err = &Error{Code: CodeMalformed, Place: place, Detail: detail}
}

// rule is a condition between members. It is checked once the members are there.
func (c *codec) rule(holds bool, name, detail string) {
	if c.mode != describing && !holds {
		c.fail(name, detail)
	}
}

// legal is what a member may be: wide when read, narrow when written.
func (c *codec) legal(narrow, wide []Depth) []Depth {
	if c.mode == writing {
		return narrow
	}
	return wide
}

// done refuses what no member took.
func (c *codec) done() {
	if c.err != nil || len(c.in) == 0 {
		return
	}
	c.fail("", "a member that the protocol does not know")
}

// take returns the text of a member that is there.
func (c *codec) take(name string, p presence) (jcs.Raw, bool) {
	raw, ok := c.in[name]
	delete(c.in, name)
	switch {
	case c.err != nil:
		return nil, false
	case !ok:
		if p == required {
			c.fail(name, "a required member is missing")
		}
		return nil, false
	case string(raw) == "null":
		if p != nullable {
			c.fail(name, "null stands for nothing here")
		}
		return nil, false
	}
	return raw, true
}

// put writes a member unless it is empty and may be left out.
func (c *codec) put(name string, text []byte, empty bool, p presence) {
	if empty && (p == nullable || p == optional) {
		return
	}
	c.out = append(c.out, field{name, text})
}

// describe notes the schema of a member. Schemas are built of literals and of vocabularies, so their text needs no further check.
func (c *codec) describe(name, schema string, p presence) {
	if p == nullable {
		schema = `{"anyOf":[` + schema + `,{"type":"null"}]}`
	}
	if p == required {
		c.needs = append(c.needs, name)
	}
	c.out = append(c.out, field{name, []byte(schema)})
}

func distinct[T comparable](list []T) bool {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return false
		}
	}
	return true
}

func holds[T comparable](list []T, v T) bool { return slices.Contains(list, v) }
