package facts

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"sayso/jcs"
	"sayso/jwk"
)

// Record is one fact record as received, strictly parsed; unknown members are kept.
type Record struct {
	raw                  []byte
	unitNull, periodNull bool

	// Typed copies of what readers use most. Nullable strings are "" for null; see Member for the difference.
	Protocol                               string
	Key, RequestedKey, Label, Unit, Period string
	Value                                  Value
	EffectiveFrom, EffectiveTo             Date
	Source, SourceFile, SourceType         string
	Method, Quote                          string
	VerifiedDate, NextScheduledRefresh     Date
	Status                                 string
	AgeDays                                int // 0 when absent; it was true on the day of the answer
	MaxAgeDays                             int // NoMaxAge for null and when absent
	Withdrawn, WithdrawnReason             string
	SupersededBy, Scope, Notice            string
	Hash                                   string
	Signature                              *RecordSignature
	Publisher                              Publisher
	Aliases                                []string
}

// RecordSignature is the signature member of a record.
type RecordSignature struct {
	Alg, Kid, JWS, Keys string
}

// ParseRecord reads a record: strict JSON, the required members of F§3.1 present, types and forms right, value null iff withdrawn, any minor version of
// major 0. The day-dependent members status, ageDays and maxAgeDays may be absent (L1). Limits on lengths are the publisher's and are not applied here.
// Errors name the member; text that is not strict JSON gives a *jcs.Error.
func ParseRecord(data []byte) (*Record, error) {
	if err := jcs.Check(data); err != nil {
		return nil, err
	}
	r := &Record{raw: bytes.Clone(data), MaxAgeDays: NoMaxAge}
	text := bytes.TrimLeft(r.raw, jsonSpace)
	if text[0] != '{' {
		return nil, wrongType("a record, an object,", text)
	}
	required := 0
	for name, value := range checkedMembers(text) {
		known, ok := recordReaders[string(name)]
		if !ok {
			continue
		}
		if err := known.read(r, value); err != nil {
			return nil, fmt.Errorf("member %q: %w", name, err)
		}
		if known.required {
			required++
		}
	}
	if required < len(requiredMembers) {
		return nil, r.missingMember()
	}
	switch {
	case r.Value == Null && r.Withdrawn == "":
		return nil, errors.New(`member "value": null is only for a withdrawn fact, and "withdrawn" is absent`)
	case r.Value != Null && r.Withdrawn != "":
		return nil, errors.New(`member "value": a withdrawn fact has the value null`)
	}
	return r, nil
}

// requiredMembers are required at every level, in the order of F§3.1.
var requiredMembers = []string{"protocol", "key", "label", "value", "unit", "period", "effectiveFrom", "effectiveTo", "source", "verifiedDate",
	"nextScheduledRefresh", "hash", "publisher"}

func (r *Record) missingMember() error {
	for _, name := range requiredMembers {
		if _, ok := r.Member(name); !ok {
			return fmt.Errorf("member %q is missing; a nullable member is present as null", name)
		}
	}
	return nil
}

// memberReader reads one known member into its place.
type memberReader struct {
	required bool
	read     func(r *Record, v jcs.Raw) error
}

// recordReaders are the members of F§3.1.
var recordReaders = map[string]memberReader{
	"protocol":             {true, func(r *Record, v jcs.Raw) error { return readChecked(&r.Protocol, v, checkProtocol) }},
	"key":                  {true, func(r *Record, v jcs.Raw) error { return readChecked(&r.Key, v, CheckKeyGrammar) }},
	"requestedKey":         {false, func(r *Record, v jcs.Raw) error { return readString(&r.RequestedKey, v) }},
	"resolved":             {false, readObject},
	"aliases":              {false, readAliases},
	"label":                {true, func(r *Record, v jcs.Raw) error { return readChecked(&r.Label, v, checkNotEmpty) }},
	"value":                {true, readValue},
	"unit":                 {true, func(r *Record, v jcs.Raw) error { return readNullable(&r.Unit, &r.unitNull, v) }},
	"period":               {true, func(r *Record, v jcs.Raw) error { return readNullable(&r.Period, &r.periodNull, v) }},
	"effectiveFrom":        {true, func(r *Record, v jcs.Raw) error { return readNullableDate(&r.EffectiveFrom, v) }},
	"effectiveTo":          {true, func(r *Record, v jcs.Raw) error { return readNullableDate(&r.EffectiveTo, v) }},
	"source":               {true, func(r *Record, v jcs.Raw) error { return readChecked(&r.Source, v, checkHTTPS) }},
	"sourceFile":           {false, func(r *Record, v jcs.Raw) error { return readString(&r.SourceFile, v) }},
	"sourceType":           {false, func(r *Record, v jcs.Raw) error { return readChecked(&r.SourceType, v, checkSourceType) }},
	"method":               {false, func(r *Record, v jcs.Raw) error { return readString(&r.Method, v) }},
	"quote":                {false, func(r *Record, v jcs.Raw) error { return readString(&r.Quote, v) }},
	"verifiedDate":         {true, func(r *Record, v jcs.Raw) error { return readDate(&r.VerifiedDate, v) }},
	"nextScheduledRefresh": {true, func(r *Record, v jcs.Raw) error { return readNullableDate(&r.NextScheduledRefresh, v) }},
	"status":               {false, func(r *Record, v jcs.Raw) error { return readChecked(&r.Status, v, checkStatus) }},
	"ageDays":              {false, func(r *Record, v jcs.Raw) error { return readInteger(&r.AgeDays, v) }},
	"maxAgeDays":           {false, readMaxAge},
	"previous":             {false, readObject},
	"scope":                {false, func(r *Record, v jcs.Raw) error { return readString(&r.Scope, v) }},
	"withdrawn":            {false, func(r *Record, v jcs.Raw) error { return readChecked(&r.Withdrawn, v, checkNotEmpty) }},
	"withdrawnReason":      {false, func(r *Record, v jcs.Raw) error { return readString(&r.WithdrawnReason, v) }},
	"supersededBy":         {false, func(r *Record, v jcs.Raw) error { return readChecked(&r.SupersededBy, v, CheckKeyGrammar) }},
	"notice":               {false, func(r *Record, v jcs.Raw) error { return readString(&r.Notice, v) }},
	"hash":                 {true, func(r *Record, v jcs.Raw) error { return readChecked(&r.Hash, v, checkHash) }},
	"signature":            {false, readSignature},
	"publisher":            {true, readPublisher},
	"cite":                 {false, readObject},
	"freshness":            {false, readObject},
	"attribution":          {false, func(_ *Record, v jcs.Raw) error { return readString(new(string), v) }},
}

// JSON is the record as received.
func (r *Record) JSON() []byte { return r.raw }

// Member is the text of one member as received; ok is false when the record has none of that name.
func (r *Record) Member(name string) (value jcs.Raw, ok bool) {
	for n, v := range checkedMembers(bytes.TrimLeft(r.raw, jsonSpace)) {
		if string(n) == name {
			return v, true
		}
	}
	return nil, false
}

// Claim is the claim the record states. A unit or period received as "" is null in it: ComputeHash keeps the difference.
func (r *Record) Claim() Claim {
	return Claim{Key: r.Key, Value: r.Value, Unit: r.Unit, Period: r.Period, EffectiveFrom: r.EffectiveFrom, Source: r.Source}
}

// ComputeHash recomputes the claim hash from the members as received.
func (r *Record) ComputeHash() string {
	var buf [1024]byte
	claim := r.Claim()
	return hashText(claim.append(buf[:0], r.unitNull, r.periodNull))
}

// appendAttestation appends the signed payload rebuilt from the members as received; publisher "" is the reading of S4, publisher.url.
func (r *Record) appendAttestation(dst []byte, publisher Value) []byte {
	a := Attestation{Publisher: r.Publisher.URL, Claim: r.Claim(), Hash: r.Hash, EffectiveTo: r.EffectiveTo, VerifiedDate: r.VerifiedDate}
	return a.append(dst, attested{protocol: r.Protocol, publisher: publisher, unitNull: r.unitNull, periodNull: r.periodNull})
}

func wrongType(want string, v jcs.Raw) error {
	return fmt.Errorf("%s where %s is expected", Value(v).Kind(), want)
}

func isNull(v jcs.Raw) bool { return v[0] == 'n' }

func readString(dst *string, v jcs.Raw) error {
	if v[0] != '"' {
		return wrongType("a string", v)
	}
	*dst = checkedText(v)
	return nil
}

func readChecked(dst *string, v jcs.Raw, check func(string) error) error {
	if err := readString(dst, v); err != nil {
		return err
	}
	return check(*dst)
}

func readNullable(dst *string, null *bool, v jcs.Raw) error {
	if isNull(v) {
		*null = true
		return nil
	}
	if v[0] != '"' {
		return wrongType("a string or null", v)
	}
	return readString(dst, v)
}

func readDate(dst *Date, v jcs.Raw) error {
	if len(v) == len(`"2006-01-02"`) && v[0] == '"' {
		if d, _ := scanDate(string(v[1 : len(v)-1])); d != 0 {
			*dst = d
			return nil
		}
	}
	var text string
	if err := readString(&text, v); err != nil {
		return err
	}
	d, err := ParseDate(text) // a date written with escapes, or the error
	*dst = d
	return err
}

func readNullableDate(dst *Date, v jcs.Raw) error {
	if isNull(v) {
		return nil
	}
	if v[0] != '"' {
		return wrongType("a date or null", v)
	}
	return readDate(dst, v)
}

func readValue(r *Record, v jcs.Raw) error {
	canonical, err := jcs.Canonical(v)
	r.Value = Value(canonical)
	return err
}

func readInteger(dst *int, v jcs.Raw) error {
	if Value(v).Kind() != "number" {
		return wrongType("a whole number", v)
	}
	var n int64
	if err := jcs.Decode(v, &n); err != nil || int64(int32(n)) != n {
		return fmt.Errorf("%s is not a whole number of days", quote(string(v)))
	}
	*dst = int(n)
	return nil
}

func readMaxAge(r *Record, v jcs.Raw) error {
	if isNull(v) {
		return nil
	}
	if err := readInteger(&r.MaxAgeDays, v); err != nil {
		return err
	}
	if r.MaxAgeDays < 0 {
		return fmt.Errorf("%d is negative", r.MaxAgeDays)
	}
	return nil
}

func readObject(_ *Record, v jcs.Raw) error {
	if v[0] != '{' {
		return wrongType("an object", v)
	}
	return nil
}

func readAliases(r *Record, v jcs.Raw) error {
	if v[0] != '[' {
		return wrongType("an array of strings", v)
	}
	if err := jcs.Decode(v, &r.Aliases); err != nil {
		return errors.New("an array of strings is expected")
	}
	return nil
}

func readPublisher(r *Record, v jcs.Raw) error {
	return stringMembers(v, stringMember{"name", &r.Publisher.Name}, stringMember{"url", &r.Publisher.URL})
}

func readSignature(r *Record, v jcs.Raw) error {
	s := new(RecordSignature)
	r.Signature = s
	err := stringMembers(v, stringMember{"alg", &s.Alg}, stringMember{"kid", &s.Kid}, stringMember{"jws", &s.JWS}, stringMember{"keys", &s.Keys})
	if err == nil && !jwk.ValidKid(s.Kid) {
		err = fmt.Errorf("kid %s is not 1 to 128 characters of A-Z a-z 0-9 . _ : # / -", quote(s.Kid))
	}
	return err
}

type stringMember struct {
	name string
	dst  *string
}

// stringMembers reads string members of an object; every wanted one must be there and say something.
func stringMembers(v jcs.Raw, wanted ...stringMember) error {
	if v[0] != '{' {
		return wrongType("an object", v)
	}
	for name, value := range checkedMembers(v) {
		for _, w := range wanted {
			if string(name) != w.name {
				continue
			}
			if err := readString(w.dst, value); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if *w.dst == "" {
				return fmt.Errorf("%s is empty", w.name)
			}
		}
	}
	for _, w := range wanted {
		if *w.dst == "" {
			return fmt.Errorf("%s is missing", w.name)
		}
	}
	return nil
}

func checkProtocol(s string) error {
	minor, ok := strings.CutPrefix(s, "verified-facts/0.")
	if ok && minor != "" && len(minor) <= 5 && strings.Trim(minor, "0123456789") == "" {
		return nil
	}
	return fmt.Errorf("%s is not read here; every verified-facts/0.x is", quote(s))
}

func checkNotEmpty(s string) error {
	if s == "" {
		return errors.New("the text is empty")
	}
	return nil
}

func checkHTTPS(s string) error {
	if rest, ok := strings.CutPrefix(s, "https://"); !ok || rest == "" {
		return fmt.Errorf("%s is not an https URL", quote(s))
	}
	return nil
}

func checkSourceType(s string) error {
	switch s {
	case "authority", "methodology", "derived":
		return nil
	}
	return fmt.Errorf("%s is none of authority, methodology, derived", quote(s))
}

func checkStatus(s string) error {
	if s != StatusFresh && s != StatusStale {
		return fmt.Errorf("%s is neither fresh nor stale", quote(s))
	}
	return nil
}

func checkHash(s string) error {
	hex, ok := strings.CutPrefix(s, "sha256:")
	if !ok || len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		return fmt.Errorf("%s is not sha256: and 64 lower-case hexadecimal digits", quote(s))
	}
	return nil
}
