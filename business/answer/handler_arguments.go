package answer

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// The longest texts that are read.
const (
	maxID   = 256 // code points of a record id or location id
	maxName = 128 // of a type, relation, stream, attribute or unit
)

// object reads the members of one JSON object strictly: unknown members are refused by name, null is no value, numbers stay literals. The first fault is
// kept for all objects of a call; what is read after it is zero.
type object struct {
	members []jcs.Member
	at      string // JSON pointer of the object
	fault   **coverage.CallError
}

// readArguments opens the arguments of a call; absent and null are {}.
func readArguments(call coverage.Call, known ...string) object {
	o := object{fault: new(*coverage.CallError)}
	raw := call.Arguments
	if len(raw) == 0 || string(raw) == "null" {
		return o
	}
	return o.open("", raw, known...)
}

// open reads an object that stands below o.
func (o object) open(at string, raw jcs.Raw, known ...string) object {
	members, err := business.Members(raw)
	if err != nil {
		o.failAt(at, "an object is expected")
		return object{at: at, fault: o.fault}
	}
	for _, m := range members {
		if !slices.Contains(known, m.Name) {
			o.failAt(pointer(at, m.Name), fmt.Sprintf("the member %s is not known; use %s", quoted(m.Name), strings.Join(known, ", ")))
		} else if string(m.Value) == "null" {
			o.failAt(pointer(at, m.Name), "null is no value; leave the member out")
		}
	}
	return object{members: members, at: at, fault: o.fault}
}

// err is the first fault of the call.
func (o object) err() error {
	if *o.fault == nil {
		return nil
	}
	return *o.fault
}

func (o object) failAt(at, message string) {
	if *o.fault == nil {
		where := "arguments"
		if at != "" {
			where = at
		}
		*o.fault = &coverage.CallError{Code: coverage.InvalidArguments, Path: at, Message: where + ": " + message}
	}
}

// fail refuses a member of this object.
func (o object) fail(name, message string) { o.failAt(pointer(o.at, name), message) }

// get returns the text of a member, nil when it is absent.
func (o object) get(name string) jcs.Raw {
	for _, m := range o.members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// need is get for a member that must be there.
func (o object) need(name string) jcs.Raw {
	raw := o.get(name)
	if raw == nil {
		o.fail(name, "the member is required")
	}
	return raw
}

// text reads a string of 1 to limit code points without control characters.
func (o object) text(at string, raw jcs.Raw, limit int) string {
	if raw == nil {
		return ""
	}
	s, ok := jcs.Text(raw)
	if !ok || s == "" || utf8.RuneCountInString(s) > limit || strings.ContainsFunc(s, unicode.IsControl) {
		o.failAt(at, fmt.Sprintf("a string of 1 to %d code points without control characters is expected", limit))
		return ""
	}
	return s
}

// texts reads a list of 1 to most different strings; nil when the member is absent.
func (o object) texts(name string, most, limit int) []string {
	var out []string
	for i, raw := range o.list(name, o.get(name), most) {
		at := pointer(o.at, name, strconv.Itoa(i))
		s := o.text(at, raw, limit)
		if slices.Contains(out, s) {
			o.failAt(at, quoted(s)+" stands twice")
		}
		out = append(out, s)
	}
	return out
}

// list splits an array of 1 to most values.
func (o object) list(name string, raw jcs.Raw, most int) []jcs.Raw {
	if raw == nil {
		return nil
	}
	var out []jcs.Raw
	if raw[0] != '[' || business.Decode(raw, &out) != nil || len(out) < 1 || len(out) > most {
		o.fail(name, fmt.Sprintf("a list of 1 to %d values is expected", most))
		return nil
	}
	return out
}

// oneOf reads one of the values allowed; otherwise is the value of an absent member.
func (o object) oneOf(name, otherwise string, allowed ...string) string {
	raw := o.get(name)
	if raw == nil {
		return otherwise
	}
	s, ok := jcs.Text(raw)
	if !ok || !slices.Contains(allowed, s) {
		o.fail(name, "one of "+strings.Join(allowed, ", ")+" is expected")
	}
	return s
}

// whole reads an integer within bounds; otherwise is the value of an absent member.
func (o object) whole(name string, otherwise, least, most int) int {
	raw := o.get(name)
	if raw == nil {
		return otherwise
	}
	n, ok := decimal(raw)
	if !ok || !n.IsInt() || n.Cmp(big.NewRat(int64(least), 1)) < 0 || n.Cmp(big.NewRat(int64(most), 1)) > 0 {
		o.fail(name, fmt.Sprintf("an integer from %d to %d is expected", least, most))
		return otherwise
	}
	return int(n.Num().Int64())
}

// key reads {type, id}. Neither has to exist: what is not published is no fault of the caller's.
func (o object) key(at string, raw jcs.Raw) coverage.Key {
	k := o.open(at, raw, "type", "id")
	return coverage.Key{Type: k.text(pointer(at, "type"), k.need("type"), maxName), ID: k.text(pointer(at, "id"), k.need("id"), maxID)}
}

// position reads {latitude, longitude} in degrees.
func (o object) position(at string, raw jcs.Raw) *business.Position {
	p := o.open(at, raw, "latitude", "longitude")
	latitude, ok1 := degrees(p.need("latitude"), 90)
	longitude, ok2 := degrees(p.need("longitude"), 180)
	if !ok1 {
		p.fail("latitude", "a number from -90 to 90 is expected")
	}
	if !ok2 {
		p.fail("longitude", "a number from -180 to 180 is expected")
	}
	return &business.Position{Latitude: latitude, Longitude: longitude}
}

// either returns the value of a dimension that stands as an argument or in bound, and its pointer; stating it twice is refused.
func (o object) either(argument string, bound object, name string) (jcs.Raw, string) {
	direct, filled := o.get(argument), bound.get(name)
	switch {
	case direct != nil && filled != nil:
		bound.fail(name, argument+" is stated already; state it once")
	case filled != nil:
		return filled, pointer(bound.at, name)
	}
	return direct, pointer(o.at, argument)
}

// bound opens the member that a resumed call fills.
func (o object) bound(known ...string) object {
	raw := o.get("bound")
	if raw == nil {
		return object{at: "/bound", fault: o.fault}
	}
	return o.open("/bound", raw, known...)
}

// decimal reads a JSON number exactly; false for another value and for a number with more than 64 characters before the exponent or three digits in it,
// whose exact value could take any amount of memory.
func decimal(raw jcs.Raw) (*big.Rat, bool) {
	s := string(raw)
	var checked jcs.Raw
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') || business.Decode(raw, &checked) != nil {
		return nil, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if len(mantissa) > 64 || len(strings.TrimLeft(exponent, "+-0")) > 2 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is at with more tokens below it (RFC 6901).
func pointer(at string, tokens ...string) string {
	for _, t := range tokens {
		at += "/" + pointerEscaper.Replace(t)
	}
	return at
}

// quoted makes text from outside fit for a message: one line of ASCII, at most 60 bytes of it.
func quoted(s string) string {
	const limit = 60
	if len(s) > limit {
		return strconv.QuoteToASCII(strings.ToValidUTF8(s[:limit], "")) + "…"
	}
	return strconv.QuoteToASCII(s)
}
