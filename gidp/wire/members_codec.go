package wire

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"sayso/jcs"
)

// The kinds of members: each reads, writes and describes itself.

// str reads or writes one string under a check.
func (c *codec) str(name string, v *string, p presence, schema string, check func(string) string) {
	switch c.mode {
	case describing:
		c.describe(name, schema, p)
	case reading:
		raw, ok := c.take(name, p)
		if !ok {
			return
		}
		s, ok := jcs.Text(raw)
		if !ok {
			c.fail(name, "not a string")
			return
		}
		if problem := check(s); problem != "" {
			c.fail(name, problem)
		}
		*v = s
	case writing:
		if *v == "" && p != required {
			c.put(name, []byte(`""`), true, p)
			return
		}
		if problem := check(*v); problem != "" {
			c.fail(name, problem)
			return
		}
		c.put(name, stringText(*v), false, p)
	}
}

const (
	idSchema   = `{"type":"string","minLength":1,"maxLength":128,"pattern":"^[!-~]+$"}`
	textSchema = `{"type":"string","maxLength":4096}`
)

func (c *codec) id(name string, v *string, p presence)   { c.str(name, v, p, idSchema, checkID) }
func (c *codec) text(name string, v *string, p presence) { c.str(name, v, p, textSchema, checkText) }

// checkID says what is wrong with an identifier.
func checkID(s string) string {
	if s == "" || len(s) > MaxID {
		return "an identifier has 1 to " + strconv.Itoa(MaxID) + " bytes"
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return "an identifier is printable ASCII without space"
		}
	}
	return ""
}

func checkText(s string) string {
	switch {
	case len(s) > MaxText:
		return "a string has at most " + strconv.Itoa(MaxText) + " bytes"
	case !utf8.ValidString(s):
		return "a string is UTF-8"
	}
	return ""
}

// enum reads or writes one word of a closed vocabulary.
func enum[T ~string](c *codec, name string, v *T, words []T, p presence) {
	s := string(*v)
	c.str(name, &s, p, wordsSchema(c, words), wordCheck(words))
	*v = T(s)
}

func wordCheck[T ~string](words []T) func(string) string {
	return func(s string) string {
		if !slices.Contains(words, T(s)) {
			return "not in the closed vocabulary"
		}
		return ""
	}
}

// wordsSchema is the schema of one word, where one is described.
func wordsSchema[T ~string](c *codec, words []T) string {
	if c.mode != describing {
		return ""
	}
	dst := []byte(`{"enum":[`)
	for i, w := range words {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jcs.AppendString(dst, string(w))
	}
	return string(append(dst, "]}"...))
}

func (c *codec) ids(name string, v *[]string, p presence) {
	strs(c, name, v, p, idSchema, checkID)
}

func (c *codec) texts(name string, v *[]string, p presence) {
	strs(c, name, v, p, textSchema, checkText)
}

func enums[T ~string](c *codec, name string, v *[]T, words []T, p presence) {
	strs(c, name, v, p, wordsSchema(c, words), wordCheck(words))
}

// strs reads or writes a list of strings. A list that was read is not nil, so that absence stays visible.
func strs[T ~string](c *codec, name string, v *[]T, p presence, schema string, check func(string) string) {
	switch c.mode {
	case describing:
		c.describe(name, `{"type":"array","maxItems":`+strconv.Itoa(MaxList)+`,"items":`+schema+`}`, p)
	case reading:
		raw, ok := c.take(name, p)
		if !ok {
			return
		}
		items, ok := c.items(name, raw, 0, MaxList)
		if !ok {
			return
		}
		*v = make([]T, 0, len(items))
		for i, item := range items {
			s, ok := jcs.Text(item)
			if !ok {
				c.fail(name+"/"+strconv.Itoa(i), "not a string")
				return
			}
			if problem := check(s); problem != "" {
				c.fail(name+"/"+strconv.Itoa(i), problem)
				return
			}
			*v = append(*v, T(s))
		}
	case writing:
		if len(*v) > MaxList {
			c.fail(name, "a list has at most "+strconv.Itoa(MaxList)+" entries")
			return
		}
		dst := []byte{'['}
		for i, s := range *v {
			if problem := check(string(s)); problem != "" {
				c.fail(name+"/"+strconv.Itoa(i), problem)
				return
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jcs.AppendString(dst, string(s))
		}
		c.put(name, append(dst, ']'), len(*v) == 0, p)
	}
}

// items splits a JSON array.
func (c *codec) items(name string, raw jcs.Raw, least, most int) ([]jcs.Raw, bool) {
	items, err := jcs.Elements(raw)
	if err != nil {
		c.fail(name, "not a list")
		return nil, false
	}
	if len(items) < least || len(items) > most {
		c.fail(name, fmt.Sprintf("a list has %d to %d entries here", least, most))
		return nil, false
	}
	return items, true
}

// member is a nested object.
type member interface{ members(*codec) }

// nested reads or writes a required nested object.
func (c *codec) nested(name string, v member) {
	switch c.mode {
	case describing:
		c.describe(name, describeObject(v), required)
	case reading:
		if raw, ok := c.take(name, required); ok {
			c.inner(name, raw, v)
		}
	case writing:
		c.put(name, c.innerText(name, v), false, required)
	}
}

// inner reads one nested object.
func (c *codec) inner(name string, raw jcs.Raw, v member) {
	members, err := jcs.Members(raw)
	if err != nil {
		c.fail(name, "not an object")
		return
	}
	in := &codec{mode: reading, place: name, in: make(map[string]jcs.Raw, len(members))}
	if c.place != "" {
		in.place = c.place + "/" + name
	}
	for _, m := range members {
		in.in[m.Name] = m.Value
	}
	v.members(in)
	in.done()
	if c.err == nil {
		c.err = in.err
	}
}

func (c *codec) innerText(name string, v member) []byte {
	in := &codec{mode: writing, place: name, out: make([]field, 0, 8)}
	v.members(in)
	if c.err == nil {
		c.err = in.err
	}
	return in.join()
}

// list reads or writes a required list of nested objects.
func list[T any, P interface {
	*T
	member
}](c *codec, name string, v *[]T, least, most int) {
	switch c.mode {
	case describing:
		c.describe(name, fmt.Sprintf(`{"type":"array","minItems":%d,"maxItems":%d,"items":%s}`, least, most, describeObject(P(new(T)))), required)
	case reading:
		raw, ok := c.take(name, required)
		if !ok {
			return
		}
		items, ok := c.items(name, raw, least, most)
		if !ok {
			return
		}
		*v = make([]T, len(items))
		for i, item := range items {
			c.inner(name+"/"+strconv.Itoa(i), item, P(&(*v)[i]))
		}
	case writing:
		if len(*v) < least || len(*v) > most {
			c.fail(name, fmt.Sprintf("a list has %d to %d entries here", least, most))
			return
		}
		dst := []byte{'['}
		for i := range *v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, c.innerText(name+"/"+strconv.Itoa(i), P(&(*v)[i]))...)
		}
		c.put(name, append(dst, ']'), false, required)
	}
}

func (c *codec) boolean(name string, v *bool, p presence) {
	switch c.mode {
	case describing:
		c.describe(name, `{"type":"boolean"}`, p)
	case reading:
		raw, ok := c.take(name, p)
		if !ok {
			return
		}
		if *v = string(raw) == "true"; !*v && string(raw) != "false" {
			c.fail(name, "neither true nor false")
		}
	case writing:
		c.put(name, strconv.AppendBool(nil, *v), !*v, p)
	}
}

// never is a member whose only value is false.
func (c *codec) never(name string) {
	switch c.mode {
	case describing:
		c.describe(name, `{"const":false}`, required)
	case reading:
		if raw, ok := c.take(name, required); ok && string(raw) != "false" {
			c.fail(name, "always false in this version")
		}
	case writing:
		c.put(name, []byte("false"), false, required)
	}
}

// count reads or writes an integer of 0 or more.
func (c *codec) count(name string, v *int) {
	switch c.mode {
	case describing:
		c.describe(name, `{"type":"integer","minimum":0}`, required)
	case reading:
		raw, ok := c.take(name, required)
		if !ok {
			return
		}
		text, err := jcs.Number(string(raw))
		n, bad := strconv.ParseInt(text, 10, 64)
		if err != nil || bad != nil || n < 0 || int64(int(n)) != n {
			c.fail(name, "not an integer of 0 or more")
			return
		}
		*v = int(n)
	case writing:
		if *v < 0 {
			c.fail(name, "not an integer of 0 or more")
			return
		}
		c.put(name, strconv.AppendInt(nil, int64(*v), 10), false, required)
	}
}

// time reads an instant with its offset, and writes it in UTC and whole seconds: coarse on purpose.
func (c *codec) time(name string, v *time.Time) {
	switch c.mode {
	case describing:
		c.describe(name, `{"type":"string","format":"date-time","maxLength":64}`, required)
	case reading:
		raw, ok := c.take(name, required)
		if !ok {
			return
		}
		s, ok := jcs.Text(raw)
		t, err := ParseTime(s)
		if !ok || err != nil {
			c.fail(name, "not an instant with an offset")
			return
		}
		*v = t
	case writing:
		if t := v.UTC(); v.IsZero() || t.Year() < 0 || t.Year() > 9999 {
			c.fail(name, "an instant of the years 0 to 9999")
			return
		}
		c.put(name, jcs.AppendString(nil, FormatTime(*v)), false, required)
	}
}

var errTime = errors.New("not an instant of RFC 3339 with an offset")

// ParseTime reads an instant of RFC 3339 with an offset, as the fifth part of §5.6 of that document writes it. It is stricter than [time.Parse], which takes
// an hour of one digit and a comma before the fraction.
func ParseTime(s string) (time.Time, error) {
	const seconds = "2006-01-02T15:04:05"
	if len(s) < len(seconds)+1 || len(s) > 64 || s[len(seconds)] == ',' {
		return time.Time{}, errTime
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Format(seconds) != s[:len(seconds)] || t.UTC().Year() < 0 || t.UTC().Year() > 9999 {
		return time.Time{}, errTime
	}
	return t.UTC(), nil
}

// FormatTime writes an instant as objects carry it: UTC, whole seconds, Z.
func FormatTime(t time.Time) string {
	return t.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05Z")
}

// value reads or writes any JSON value but null, in canonical form.
func (c *codec) value(name string, v *jcs.Raw, p presence) {
	switch c.mode {
	case describing:
		if p == nullable { // {} holds for null already
			c.out = append(c.out, field{name, []byte(`{}`)})
			return
		}
		c.describe(name, `{"not":{"type":"null"}}`, p)
	case reading:
		if raw, ok := c.take(name, p); ok {
			text, err := jcs.Canonical(raw)
			if err != nil {
				c.fail(name, "not a value under the strict profile")
			}
			*v = text
		}
	case writing:
		if len(*v) == 0 && p != required {
			return
		}
		text, err := jcs.Canonical(*v)
		if err != nil || string(text) == "null" {
			c.fail(name, "a value is any JSON value but null")
			return
		}
		c.put(name, text, false, p)
	}
}

// object reads or writes an optional JSON object that is free in its form.
func (c *codec) object(name string, v *jcs.Raw) {
	switch c.mode {
	case describing:
		c.describe(name, `{"type":"object"}`, nullable)
	case reading:
		if c.value(name, v, nullable); len(*v) > 0 && (*v)[0] != '{' {
			c.fail(name, "not an object")
		}
	case writing:
		if c.value(name, v, nullable); len(*v) > 0 && c.err == nil && c.out[len(c.out)-1].text[0] != '{' {
			c.fail(name, "not an object")
		}
	}
}

// statuses reads or writes the identity status of each side. Any names are read.
func (c *codec) statuses(name string, v *map[string]IdentityStatus) {
	switch c.mode {
	case describing:
		c.describe(name, `{"type":"object","maxProperties":`+strconv.Itoa(MaxList)+`,"additionalProperties":`+wordsSchema(c, idents)+`}`, required)
	case reading:
		raw, ok := c.take(name, required)
		if !ok {
			return
		}
		members, err := jcs.Members(raw)
		if err != nil || len(members) > MaxList {
			c.fail(name, "not an object of at most "+strconv.Itoa(MaxList)+" members")
			return
		}
		*v = make(map[string]IdentityStatus, len(members))
		for _, m := range members {
			word, ok := jcs.Text(m.Value)
			if !ok || checkText(m.Name) != "" || wordCheck(idents)(word) != "" {
				c.fail(name, "not in the closed vocabulary")
				return
			}
			(*v)[m.Name] = IdentityStatus(word)
		}
	case writing:
		if len(*v) > MaxList {
			c.fail(name, "not an object of at most "+strconv.Itoa(MaxList)+" members")
			return
		}
		text, err := jcs.Encode(*v)
		if err == nil {
			text, err = jcs.Canonical(text)
		}
		if err != nil {
			c.fail(name, "a string is UTF-8")
			return
		}
		for side, word := range *v {
			if checkText(side) != "" || wordCheck(idents)(string(word)) != "" {
				c.fail(name, "not in the closed vocabulary")
				return
			}
		}
		c.put(name, text, false, required)
	}
}
