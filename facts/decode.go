package facts

import (
	"strings"

	"sayso/jcs"
)

// The accessors below cut a member out of the record text. The text was written by this package, so offsets delimit whole JSON values.

func (v *valueRow) labelJSON() string  { return v.text[v.label : int(v.value)-len(valueMember)] }
func (v *valueRow) valueJSON() Value   { return Value(v.text[v.value : int(v.unit)-len(unitMember)]) }
func (v *valueRow) unitJSON() string   { return v.text[v.unit : int(v.period)-len(periodMember)] }
func (v *valueRow) periodJSON() string { return v.text[v.period:v.dates] }

func (v *valueRow) labelText() string  { return jsonText(v.labelJSON()) }
func (v *valueRow) unitText() string   { return jsonText(v.unitJSON()) }
func (v *valueRow) periodText() string { return jsonText(v.periodJSON()) }
func (v *valueRow) sourceURL() string  { return jsonText(v.text[v.source:v.sourceEnd]) }

func (v *valueRow) hash() string {
	start := int(v.notice) + len(hashMember) + 1
	return v.text[start : start+hashLen]
}

// aliasesMember is `,"aliases":[…]`, "" without aliases.
func (v *valueRow) aliasesMember() string { return v.text[v.keyEnd : int(v.label)-len(`,"label":`)] }

// from is effectiveFrom: start, unless that is only the day of withdrawal.
func (v *valueRow) from() Date {
	const null = `,"effectiveFrom":null`
	if v.text[v.dates:int(v.dates)+len(null)] == null {
		return 0
	}
	return v.start
}

// jsonText is the text of a JSON string, "" for null. It allocates only when there is an escape.
func jsonText(json string) string {
	switch {
	case json == "null":
		return ""
	case strings.IndexByte(json, '\\') < 0:
		return json[1 : len(json)-1]
	}
	var text string
	mustDecode(json, &text)
	return text
}

// mustDecode reads back what this package wrote.
func mustDecode(json string, v any) {
	if err := jcs.Decode([]byte(json), v); err != nil {
		panic("facts: own record does not parse: " + err.Error())
	}
}

// storedRecord are the members of a record that the row does not hold.
type storedRecord struct {
	Aliases         []string         `json:"aliases"`
	SourceFile      string           `json:"sourceFile"`
	SourceType      string           `json:"sourceType"`
	Method          string           `json:"method"`
	Quote           string           `json:"quote"`
	Previous        *storedPrevious  `json:"previous"`
	Scope           string           `json:"scope"`
	WithdrawnReason string           `json:"withdrawnReason"`
	SupersededBy    string           `json:"supersededBy"`
	Signature       *storedSignature `json:"signature"`
}

type storedPrevious struct {
	Value         jcs.Raw `json:"value"`
	Period        *string `json:"period"`
	EffectiveFrom Date    `json:"effectiveFrom"`
	Source        string  `json:"source"`
}

type storedSignature struct {
	Kid string `json:"kid"`
	JWS string `json:"jws"`
}

// decode rebuilds a dated value and its fact (without values) from the record text. Fact.Previous is the previous member of this value.
func (s *Snapshot) decode(fact, value int32) (Fact, DatedValue) {
	row := &s.values[value]
	var r storedRecord
	mustDecode(row.text, &r)
	f := Fact{Key: s.key(fact), Label: row.labelText(), Scope: r.Scope, Aliases: r.Aliases, Topic: int(s.facts[fact].topic)}
	if p := r.Previous; p != nil {
		f.Previous = &Previous{Value: Value(p.Value), From: p.EffectiveFrom, Source: p.Source}
		if p.Period != nil {
			f.Previous.Period = *p.Period
		}
	}
	v := DatedValue{
		Value: row.valueJSON(), Unit: row.unitText(), Period: row.periodText(),
		From: row.from(), To: row.to, ToExplicit: row.flags&flagToExplicit != 0,
		Source: row.sourceURL(), SourceFile: r.SourceFile, SourceType: r.SourceType, Method: r.Method, Quote: r.Quote,
		Verified: row.verified, Converted: row.flags&flagConverted != 0,
		Withdrawn: row.withdrawn, WithdrawnReason: r.WithdrawnReason, SupersededBy: r.SupersededBy,
	}
	if row.flags&flagNextCheck != 0 {
		v.NextCheck = row.refresh
	}
	if r.Signature != nil {
		v.Signature = &Signature{Kid: r.Signature.Kid, JWS: r.Signature.JWS}
	}
	return f, v
}
