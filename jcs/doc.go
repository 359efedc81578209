// Package jcs reads JSON strictly and writes the JSON Canonicalization Scheme of RFC 8785.
//
// It is the only reader of JSON that comes from outside. A text that two parsers could understand differently is
// refused, never repaired, so that what was hashed or signed is what every reader sees.
//
// # What is read
//
// One JSON value (RFC 8259) in UTF-8, with white space around it, under these gates:
//
//   - no byte order mark, nothing after the value ([KindSyntax], [KindTrailing]);
//   - member names of one object are unique after unescaping: "role" and "\u0072ole" are the same name ([KindDuplicate]);
//   - all bytes are valid UTF-8: no overlong form, no encoded surrogate, no lone \ud800 escape ([KindUTF8]);
//     noncharacters such as U+FFFF are accepted, a NUL is accepted when escaped;
//   - arrays and objects nest at most [MaxDepth] deep; a scalar has depth 0, [] has depth 1 ([KindDepth]);
//   - a number survives binary64: the decimal the literal denotes equals the decimal of the shortest text that reads
//     back as the same binary64 value. So 1.0, 4.50 and 2e-3 are read; 9007199254740993, 333333333.33333329, 5e-400
//     and 1e400 are not ([KindNumber]);
//   - a number whose canonical text is an integer lies within ±(2^53-1). 1e21 is read, because its canonical text is
//     1e+21; 1e20 is not, because its canonical text is 100000000000000000000, which no reader of this profile accepts
//     back ([KindNumber]);
//   - -0 is read and written as 0.
//
// The size of the text is the caller's to bound before the call, unless its [Form] sets a bound ([KindSize]). Time is O(n log n) and memory O(n) in its bytes.
//
// # What is written
//
// [Canonical] writes no white space. Members are sorted by the UTF-16 code units of their names, so U+1F600 (which
// starts with the unit D83D) stands before U+FB33. Strings escape only the quotation mark, the reverse solidus and the
// control characters below U+0020: \b \t \n \f \r where such a form exists, otherwise \u00xx in lower-case hex. Nothing
// is Unicode-normalised. Numbers have the text of ECMAScript's Number::toString: the shortest digits that read back,
// plain for 1e-6 <= |x| < 1e21, otherwise with an exponent that carries its sign (1e+21, 1e-7).
//
// Canonical text is a fixed point: it is accepted and canonicalises to itself.
//
// # Other forms
//
// A [Form] is a canonical form that departs from RFC 8785 in stated points: numbers kept as received, members by code
// point, the separators U+2028 and U+2029 escaped. It is read and written by the same scanner under the same gates;
// only the gate for numbers falls away where literals are kept. The two forms of a text usually differ, so a digest
// names its form by the protocol it belongs to.
//
// # Go values
//
// [Decode] and [DecodeKnown] check a text first and then fill a Go value by its json struct tags, names compared
// exactly. A null fills a Go string with "" silently: declare a pointer or [Raw] where absence, null and "" differ.
// [Encode] is for documents that are served rather than hashed. In tags use omitzero to leave out a zero number or
// false; omitempty leaves out only what would be written as null, "", {} or [].
//
// # Why an own scanner
//
// Go values go through github.com/go-json-experiment/json. Checking and canonicalising do not: its tokeniser keeps the
// state of a stream and a set of names for each object, and the gates for numbers and depth would have to look at every
// token again. One pass that validates and writes at once takes less than half the time of its Canonicalize, which has
// neither gate, and checking has to be cheap beside one signature verification. The fuzz target FuzzCanonical holds the
// scanner to that tokeniser: it accepts nothing the tokeniser refuses, refuses beyond it only for depth and numbers,
// and writes the same bytes.
package jcs
