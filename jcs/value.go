package jcs

import (
	"encoding"
	"errors"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode checks data and decodes it into the value v points to (json struct tags, exact names); unknown members are
// ignored. Errors are *Error: those of [Check], and [KindType] when a value does not fit its target.
func Decode(data []byte, v any) error { return Form{}.Decode(data, v) }

// DecodeKnown is [Decode] that refuses members v does not declare ([KindUnknown], with the name in Detail and Pointer).
func DecodeKnown(data []byte, v any) error { return Form{}.DecodeKnown(data, v) }

// Encode writes v compactly, members in declared order (map keys sorted), nothing escaped that JSON does not require.
// Nil slices and maps are written [] and {}. Errors are *Error with [KindType]: a Go string that is not UTF-8, a
// malformed [Raw], a number that is not finite, a channel or function.
func Encode(v any) ([]byte, error) {
	out, err := json.Marshal(v, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, translate(err)
	}
	return out, nil
}

// translate puts an error of the decoder or encoder into this package's words. The pointer is exact; offsets are not
// passed on, because the decoder's only say where it stood when it noticed.
func translate(err error) error {
	if err == nil {
		return nil
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return &Error{Kind: KindType, Offset: -1, Pointer: string(syntactic.JSONPointer), Detail: "the value is not JSON text in UTF-8"}
	}
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return &Error{Kind: KindType, Offset: -1, Detail: "the value does not fit its target"}
	}
	e := &Error{Kind: KindType, Offset: -1, Pointer: string(semantic.JSONPointer), Detail: misfit(semantic)}
	if errors.Is(semantic.Err, json.ErrUnknownName) {
		e.Kind = KindUnknown
		e.Detail = "the member " + quoted(semantic.JSONPointer.LastToken()) + " is not known here; remove it or check its spelling"
	}
	return e
}

// misfit says what was expected and what stands there. A type that reads itself gives its own reason.
func misfit(e *json.SemanticError) string {
	if inner := (*Error)(nil); errors.As(e.Err, &inner) {
		return inner.Detail
	}
	if e.Err != nil && readsItself(e.GoType) {
		return e.Err.Error()
	}
	found := "the value"
	if e.JSONKind != 0 {
		found = valueWord(byte(e.JSONKind))
	}
	if want := typeWord(e.GoType); want != "" {
		if want == found {
			return found + " out of the range allowed here"
		}
		return want + " is expected, " + found + " stands here"
	}
	return found + " does not fit here"
}

// readsItself reports whether t has its own text or JSON methods.
func readsItself(t reflect.Type) bool {
	if t == nil {
		return false
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[json.Marshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// typeWord names the JSON value a Go type takes, "" when several would do.
func typeWord(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeWord(t.Elem())
	}
	return ""
}
