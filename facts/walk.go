package facts

import (
	"bytes"
	"iter"

	"sayso/jcs"
)

const jsonSpace = " \t\r\n"

// checkedMembers yields the members of an object whose text package jcs has checked, so that reading a record costs one check and no tree. Name and value
// share the memory of the text; a name written with escapes is decoded.
func checkedMembers(object jcs.Raw) iter.Seq2[[]byte, jcs.Raw] {
	return func(yield func([]byte, jcs.Raw) bool) {
		i := skipSpace(object, 1)
		for object[i] != '}' {
			end := skipString(object, i)
			name := object[i+1 : end-1]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = []byte(checkedText(object[i:end]))
			}
			i = skipSpace(object, skipSpace(object, end)+1) // the colon
			end = skipChecked(object, i)
			if !yield(name, object[i:end]) {
				return
			}
			if i = skipSpace(object, end); object[i] == ',' {
				i = skipSpace(object, i+1)
			}
		}
	}
}

// checkedText is the text of a string that package jcs has checked; most have no escape and are taken as they stand.
func checkedText(v jcs.Raw) string {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	text, _ := jcs.Text(v)
	return text
}

func skipSpace(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r' {
		i++
	}
	return i
}

// skipString is the index behind the string that begins at i.
func skipString(text []byte, i int) int {
	for i++; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// skipChecked is the index behind the value that begins at i.
func skipChecked(text []byte, i int) int {
	level := 0
	for {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '{', '[':
			level++
			i++
		case '}', ']':
			if level == 0 {
				return i // the end of what holds a bare literal
			}
			level--
			i++
		case ',', ' ', '\t', '\r', '\n':
			if level == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if level == 0 {
			return i
		}
	}
}
