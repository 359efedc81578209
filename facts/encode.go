package facts

import (
	"slices"

	"sayso/jcs"
)

// recordMembers encodes records in the member order of F§3.1. The inserts of a get (requestedKey and resolved behind the key; status, ageDays and maxAgeDays
// before previous; notice before the hash) are left out; their places go into the row.
type recordMembers struct {
	publisher []byte // `,"publisher":{…}`
	keysURL   string
	host      string // of the origin, for cite
	snapshot  *Snapshot
}

func newRecordMembers(p Publisher, origin, host string, s *Snapshot) recordMembers {
	publisher := append([]byte(nil), `,"publisher":{"name":`...)
	publisher = jcs.AppendString(publisher, p.Name)
	publisher = append(publisher, `,"url":`...)
	publisher = append(jcs.AppendString(publisher, p.URL), '}')
	return recordMembers{publisher: publisher, keysURL: origin + "/.well-known/jwks.json", host: host, snapshot: s}
}

// append encodes the j-th value of f, given as v with its end derived, and notes offsets, refresh date and flags in row.
func (m *recordMembers) append(dst []byte, row *valueRow, f *Fact, j int, v *DatedValue, hash string, cadence Area) []byte {
	at := func() uint16 { return uint16(len(dst)) } // a record that outgrows 16 bits is refused by its length
	dst = append(dst, recordHead...)
	dst = jcs.AppendString(dst, f.Key)
	row.keyEnd = at()
	dst = appendAliases(dst, f.Aliases)
	dst = append(dst, `,"label":`...)
	row.label = at()
	dst = jcs.AppendString(dst, f.Label)
	dst = append(dst, valueMember...)
	row.value = at()
	dst = append(dst, v.Value...)
	dst = append(dst, unitMember...)
	row.unit = at()
	dst = appendNullable(dst, v.Unit)
	dst = append(dst, periodMember...)
	row.period = at()
	dst = appendNullable(dst, v.Period)
	row.dates = at()
	dst = v.From.appendJSON(append(dst, `,"effectiveFrom":`...))
	dst = v.To.appendJSON(append(dst, `,"effectiveTo":`...))
	dst = append(dst, `,"source":`...)
	row.source = at()
	dst = jcs.AppendString(dst, v.Source)
	row.sourceEnd = at()
	dst = appendOptional(dst, `,"sourceFile":`, v.SourceFile)
	dst = appendOptional(dst, `,"sourceType":`, v.SourceType)
	dst = appendOptional(dst, `,"method":`, v.Method)
	dst = appendOptional(dst, `,"quote":`, v.Quote)
	dst = v.Verified.appendJSON(append(dst, `,"verifiedDate":`...))
	row.refresh = NextRefresh(v, cadence)
	dst = row.refresh.appendJSON(append(dst, `,"nextScheduledRefresh":`...))
	row.day = at()
	dst = appendPrevious(dst, f, j, v)
	dst = appendOptional(dst, `,"scope":`, f.Scope)
	if !v.Withdrawn.IsZero() {
		dst = v.Withdrawn.appendJSON(append(dst, `,"withdrawn":`...))
		dst = appendOptional(dst, `,"withdrawnReason":`, v.WithdrawnReason)
		dst = appendOptional(dst, `,"supersededBy":`, v.SupersededBy)
	}
	row.notice = at()
	dst = append(dst, hashMember...)
	dst = jcs.AppendString(dst, hash)
	if v.Signature != nil {
		dst = append(dst, `,"signature":{"alg":"EdDSA","kid":`...)
		dst = jcs.AppendString(dst, v.Signature.Kid)
		dst = append(dst, `,"jws":`...)
		dst = jcs.AppendString(dst, v.Signature.JWS)
		dst = append(dst, `,"keys":`...)
		dst = append(jcs.AppendString(dst, m.keysURL), '}')
	}
	dst = append(dst, m.publisher...)
	dst = append(dst, `,"cite":{"url":`...)
	dst = jcs.AppendString(dst, m.snapshot.URL(f.Key))
	dst = append(dst, `,"text":`...)
	dst = jcs.AppendString(dst, m.host+", verified "+v.Verified.String()+" against "+v.Source)
	row.flags = flagsOf(v)
	return append(dst, '}', '}')
}

// The members between two offsets of a row.
const (
	aliasesPrefix = `,"aliases":`
	valueMember   = `,"value":`
	unitMember    = `,"unit":`
	periodMember  = `,"period":`
)

func flagsOf(v *DatedValue) (flags uint8) {
	if v.ToExplicit {
		flags |= flagToExplicit
	}
	if !v.NextCheck.IsZero() {
		flags |= flagNextCheck
	}
	if v.Converted {
		flags |= flagConverted
	}
	return flags
}

// appendPrevious writes the comparable value before the j-th (F§3.4): the next older one held, else the authored block, which speaks of the time before the
// oldest held value. A value of another unit or JSON type is not comparable; a withdrawal has nothing to compare.
func appendPrevious(dst []byte, f *Fact, j int, v *DatedValue) []byte {
	var p Previous
	switch {
	case j+1 < len(f.Values):
		older := &f.Values[j+1]
		if older.Unit != v.Unit {
			return dst
		}
		p = Previous{Value: older.Value, Period: older.Period, From: older.From, Source: older.Source}
	case f.Previous != nil:
		p = *f.Previous
	default:
		return dst
	}
	if p.Value.Kind() != v.Value.Kind() {
		return dst
	}
	dst = append(dst, `,"previous":{"value":`...)
	dst = append(dst, p.Value...)
	dst = append(dst, periodMember...)
	dst = appendNullable(dst, p.Period)
	if !p.From.IsZero() {
		dst = p.From.appendJSON(append(dst, `,"effectiveFrom":`...))
	}
	dst = append(dst, `,"source":`...)
	return append(jcs.AppendString(dst, p.Source), '}')
}

func appendAliases(dst []byte, aliases []string) []byte {
	if len(aliases) == 0 {
		return dst
	}
	if !slices.IsSorted(aliases) {
		aliases = slices.Sorted(slices.Values(aliases))
	}
	return appendStrings(append(dst, aliasesPrefix...), aliases)
}

// appendOptional writes a member whose value is a string, nothing for "".
func appendOptional(dst []byte, member, value string) []byte {
	if value == "" {
		return dst
	}
	return jcs.AppendString(append(dst, member...), value)
}
