package bizcheck

import (
	"strings"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// object is a JSON object by member. A nil object has no member, so that a look into what is not there finds nothing.
type object map[string]jcs.Raw

// objectOf reads a text strictly; an error is a *jcs.Error.
func objectOf(data []byte) (object, error) {
	list, err := business.Members(data)
	if err != nil {
		return nil, err
	}
	o := make(object, len(list))
	for _, m := range list {
		o[m.Name] = m.Value
	}
	return o, nil
}

func (o object) has(name string) bool { return o[name] != nil }

// text is a string member, "" for anything else.
func (o object) text(name string) string {
	s, _ := textOf(o[name])
	return s
}

// textOf is the content of a JSON string.
func textOf(raw jcs.Raw) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return jcs.Text(raw)
}

func (o object) object(name string) object {
	if len(o[name]) == 0 || o[name][0] != '{' {
		return nil
	}
	out, err := objectOf(o[name])
	if err != nil {
		return nil
	}
	return out
}

// list is an array member; ok tells an empty one from none.
func (o object) list(name string) (list []jcs.Raw, ok bool) { return listOf(o[name]) }

func listOf(raw jcs.Raw) ([]jcs.Raw, bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	var list []jcs.Raw
	return list, business.Decode(raw, &list) == nil
}

// objects are the elements of an array member that are objects.
func (o object) objects(name string) []object {
	list, _ := o.list(name)
	out := make([]object, 0, len(list))
	for _, raw := range list {
		if one, err := objectOf(raw); err == nil {
			out = append(out, one)
		}
	}
	return out
}

// texts are the elements of an array member that are strings.
func (o object) texts(name string) []string {
	list, _ := o.list(name)
	out := make([]string, 0, len(list))
	for _, raw := range list {
		if s, ok := textOf(raw); ok {
			out = append(out, s)
		}
	}
	return out
}

func (o object) is(name, literal string) bool { return string(o[name]) == literal }

func (o object) isBool(name string) bool { return o.is(name, "true") || o.is(name, "false") }

// time is a member in RFC 3339.
func (o object) time(name string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, o.text(name))
	return t, err == nil
}

// isZeroTime reports whether a text is a time that stands for "none" in some language.
func isZeroTime(s string) bool {
	t, err := time.Parse(time.RFC3339Nano, s)
	return err == nil && (t.Year() <= 1 || t.Unix() == 0)
}

// scalars calls f for every string, number, true, false and null in a text that the strict reader has accepted, with its JSON pointer, in which "-" stands for
// every element of an array. Branches for which skip is true are left out. It is one pass, whatever the nesting.
func scalars(text []byte, skip func(pointer string) bool, f func(pointer string, raw jcs.Raw)) {
	w := walker{text: text, skip: skip, f: f}
	w.value("", true)
}

// walker is at text[at]. The text is known to be well-formed and its nesting bounded.
type walker struct {
	text []byte
	at   int
	skip func(string) bool
	f    func(string, jcs.Raw)
}

// next passes white space and separators and returns the byte that follows.
func (w *walker) next() byte {
	for strings.IndexByte(" \t\r\n,:", w.text[w.at]) >= 0 {
		w.at++
	}
	return w.text[w.at]
}

func (w *walker) value(pointer string, shown bool) {
	shown = shown && !w.skip(pointer)
	switch w.next() {
	case '{':
		for w.at++; w.next() != '}'; {
			name, _ := jcs.Text(w.scalar())
			w.value(below(pointer, name), shown)
		}
		w.at++
	case '[':
		element := below(pointer, "-")
		for w.at++; w.next() != ']'; {
			w.value(element, shown)
		}
		w.at++
	default:
		if raw := w.scalar(); shown {
			w.f(pointer, raw)
		}
	}
}

// below extends a pointer by a name. One that is long already stays as it is, so that no document makes it costly; nothing that is skipped has a long pointer.
func below(pointer, name string) string {
	if len(pointer) > 200 {
		return pointer
	}
	return pointer + "/" + pointerEscape.Replace(clip(name, 100))
}

// scalar takes a string or a literal.
func (w *walker) scalar() jcs.Raw {
	w.next()
	from := w.at
	if w.text[w.at] == '"' {
		for w.at++; w.text[w.at] != '"'; w.at++ {
			if w.text[w.at] == '\\' {
				w.at++
			}
		}
		w.at++
		return jcs.Raw(w.text[from:w.at])
	}
	for w.at < len(w.text) && strings.IndexByte(" \t\r\n,:]}", w.text[w.at]) < 0 {
		w.at++
	}
	return jcs.Raw(w.text[from:w.at])
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
