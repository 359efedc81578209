package business

import (
	"fmt"
	"strconv"
	"strings"

	"sayso/jcs"
)

// Schema is the publisher's own vocabulary, schema.json: what its record types, attributes and lists mean, and in which words it speaks of them. No word of
// it has a meaning for another publisher (XP-IDENTITY-004).
type Schema struct {
	Types       map[string]SchemaType      `json:"types,omitempty"`        // by record type key
	Attributes  map[string]SchemaAttribute `json:"attributes,omitempty"`   // by member of a record's attributes
	Profile     map[string]SchemaAttribute `json:"profile,omitempty"`      // by member of profile_attributes
	Lists       map[string]SchemaList      `json:"lists,omitempty"`        // by key
	Streams     []SchemaStream             `json:"streams,omitempty"`      // live readings
	Category    *SchemaType                `json:"category,omitempty"`     // words for what the business is
	LinksClosed []string                   `json:"links_closed,omitempty"` // relations of which every link is stated
}

// SchemaType is a record type with the publisher's words for it, by language.
type SchemaType struct {
	Words map[string][]string `json:"words,omitempty"`
}

// SchemaAttribute says what an attribute means. Kind is money, money_from, money_to, mode, quantity, count, bool, text or list; Field one of price,
// duration, stock, available (of a record), hours, phone, email, address (of a location), or absent.
type SchemaAttribute struct {
	Field    string              `json:"field,omitempty"`
	Kind     string              `json:"kind"`
	Currency string              `json:"currency,omitempty"`  // ISO 4217; money kinds only
	Unit     string              `json:"unit,omitempty"`      // quantity and count only
	Deferred []string            `json:"deferred,omitempty"`  // values of a mode that put the answer off, such as on_request
	ScopedBy string              `json:"scoped_by,omitempty"` // "location": the value is an object of values by location id
	Source   string              `json:"source,omitempty"`    // "stream:<key>" of a declared stream
	Words    map[string][]string `json:"words,omitempty"`
}

// SchemaList is a list of values with the words that name it; Closed needs a Domain.
type SchemaList struct {
	Nouns  map[string][]string `json:"nouns,omitempty"`
	Verbs  map[string][]string `json:"verbs,omitempty"`
	Values []SchemaTerm        `json:"values"`
	Closed bool                `json:"closed,omitempty"` // a term of the domain that is no value is a published no
	Domain *SchemaDomain       `json:"domain,omitempty"`
}

// SchemaTerm is a term of a list: a string, which is its id and its only word, or an object {id, words}.
type SchemaTerm struct {
	ID    string              `json:"id"`
	Words map[string][]string `json:"words,omitempty"`
}

// UnmarshalJSON reads either form of a term.
func (t *SchemaTerm) UnmarshalJSON(data []byte) error {
	if id, ok := jcs.Text(data); ok {
		*t = SchemaTerm{ID: id}
		return nil
	}
	type object SchemaTerm // without this method
	var o object
	if err := DecodeKnown(data, &o); err != nil {
		return err
	}
	*t = SchemaTerm(o)
	return nil
}

// MarshalJSON writes a term without words as a string.
func (t SchemaTerm) MarshalJSON() ([]byte, error) {
	if t.Words == nil {
		return jcs.Encode(t.ID)
	}
	type object SchemaTerm
	return jcs.Encode(object(t))
}

// SchemaDomain is what a closed list is complete over: either terms, or a shipped taxonomy.
type SchemaDomain struct {
	Terms    []SchemaTerm `json:"terms,omitempty"`
	Taxonomy string       `json:"taxonomy,omitempty"` // one of Taxonomies
}

// Taxonomies are the domains that come with the program.
var Taxonomies = []string{"languages", "payment_methods"}

// SchemaStream declares a stream of live readings. A reading older than SLASeconds is stale; one older than MaxAgeSeconds is not shown.
type SchemaStream struct {
	Key           string `json:"key"`
	Subject       string `json:"subject,omitempty"`   // record type; "" (absent or null) for none
	ScopedBy      string `json:"scoped_by,omitempty"` // "location"
	Kind          string `json:"kind"`                // bool | count | quantity | money | text
	Unit          string `json:"unit,omitempty"`
	SLASeconds    int64  `json:"sla_seconds"`
	MaxAgeSeconds int64  `json:"max_age_seconds"`
}

// SchemaError says what is wrong with a schema, and where.
type SchemaError struct {
	Pointer string // RFC 6901, "" for the document
	Detail  string
}

// Error reads "schema.json at /lists/payment: …". Text from outside is quoted and shortened in Detail; the pointer is too.
func (e *SchemaError) Error() string {
	if e.Pointer == "" {
		return "schema.json: " + e.Detail
	}
	return "schema.json at " + shown(e.Pointer) + ": " + e.Detail
}

// ParseSchema reads schema.json. It is strict: unknown members are refused by name, null stands only for a stream without subject, and what could be read in
// two ways is refused. Errors are *SchemaError.
func ParseSchema(data []byte) (*Schema, error) {
	var s Schema
	if err := DecodeKnown(data, &s); err != nil {
		return nil, schemaError(err)
	}
	var tree any
	if err := Decode(data, &tree); err != nil {
		return nil, schemaError(err)
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, &SchemaError{Detail: "an object is expected"}
	}
	c := schemaCheck{schema: &s}
	c.nulls(nil, tree)
	c.all()
	if c.err != nil {
		return nil, c.err
	}
	return &s, nil
}

// schemaError keeps the place and the sentence of a reader's error.
func schemaError(err error) error {
	e, ok := err.(*jcs.Error)
	if !ok {
		return &SchemaError{Detail: "the text could not be read"}
	}
	detail := e.Detail
	if e.Offset >= 0 {
		detail = fmt.Sprintf("%s: %s (byte %d)", e.Kind, detail, e.Offset)
	}
	return &SchemaError{Pointer: e.Pointer, Detail: detail}
}

// shown makes text from outside fit for a message: one line, escapes visible, at most 60 bytes of it.
func shown(s string) string {
	const limit = 60
	if len(s) > limit {
		return strconv.QuoteToASCII(strings.ToValidUTF8(s[:limit], "")) + "…"
	}
	if q := strconv.QuoteToASCII(s); s == "" || q != `"`+s+`"` {
		return q
	}
	return s
}
