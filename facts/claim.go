package facts

import (
	"crypto/sha256"
	"encoding/hex"

	"sayso/jcs"
)

// Claim is the publisher-independent statement of F§7.1.
type Claim struct {
	Key           string
	Value         Value
	Unit, Period  string // "" = null
	EffectiveFrom Date
	Source        string
}

// AppendCanonical appends the RFC 8785 bytes of the claim.
func (c *Claim) AppendCanonical(dst []byte) []byte {
	return c.append(dst, c.Unit == "", c.Period == "")
}

// append writes the members in RFC 8785 order. A received record may hold "" where the type can only say null, so nulls are told apart by the caller.
func (c *Claim) append(dst []byte, unitNull, periodNull bool) []byte {
	dst = append(dst, `{"effectiveFrom":`...)
	dst = c.EffectiveFrom.appendJSON(dst)
	dst = append(dst, `,"key":`...)
	dst = jcs.AppendString(dst, c.Key)
	dst = append(dst, `,"period":`...)
	dst = appendUnless(dst, periodNull, c.Period)
	dst = append(dst, `,"source":`...)
	dst = jcs.AppendString(dst, c.Source)
	dst = append(dst, `,"unit":`...)
	dst = appendUnless(dst, unitNull, c.Unit)
	dst = append(dst, `,"value":`...)
	dst = appendValue(dst, c.Value)
	return append(dst, '}')
}

// Hash is "sha256:" and the lower-case hex of SHA-256 over the canonical claim.
func (c *Claim) Hash() string {
	var buf [1024]byte
	return hashText(c.AppendCanonical(buf[:0]))
}

// hashText is the text form of every digest of the protocol.
func hashText(data []byte) string {
	const prefix = "sha256:"
	sum := sha256.Sum256(data)
	var text [len(prefix) + 2*sha256.Size]byte
	copy(text[:], prefix)
	hex.Encode(text[len(prefix):], sum[:])
	return string(text[:])
}

// Attestation is what a signature covers (F§7.3).
type Attestation struct {
	Publisher    string // publisher.url
	Claim        Claim
	Hash         string
	EffectiveTo  Date
	VerifiedDate Date
}

// AppendCanonical appends the RFC 8785 bytes of the attestation: the JWS payload.
func (a *Attestation) AppendCanonical(dst []byte) []byte {
	return a.append(dst, attested{protocol: Protocol, unitNull: a.Claim.Unit == "", periodNull: a.Claim.Period == ""})
}

// attested is what a received record may say that an Attestation cannot hold.
type attested struct {
	protocol             string
	publisher            Value // the publisher member; "" is the string Attestation.Publisher
	unitNull, periodNull bool
}

// append writes the members in RFC 8785 order.
func (a *Attestation) append(dst []byte, as attested) []byte {
	dst = append(dst, `{"effectiveFrom":`...)
	dst = a.Claim.EffectiveFrom.appendJSON(dst)
	dst = append(dst, `,"effectiveTo":`...)
	dst = a.EffectiveTo.appendJSON(dst)
	dst = append(dst, `,"hash":`...)
	dst = jcs.AppendString(dst, a.Hash)
	dst = append(dst, `,"key":`...)
	dst = jcs.AppendString(dst, a.Claim.Key)
	dst = append(dst, `,"period":`...)
	dst = appendUnless(dst, as.periodNull, a.Claim.Period)
	dst = append(dst, `,"protocol":`...)
	dst = jcs.AppendString(dst, as.protocol)
	dst = append(dst, `,"publisher":`...)
	if as.publisher != "" {
		dst = append(dst, as.publisher...)
	} else {
		dst = jcs.AppendString(dst, a.Publisher)
	}
	dst = append(dst, `,"source":`...)
	dst = jcs.AppendString(dst, a.Claim.Source)
	dst = append(dst, `,"unit":`...)
	dst = appendUnless(dst, as.unitNull, a.Claim.Unit)
	dst = append(dst, `,"value":`...)
	dst = appendValue(dst, a.Claim.Value)
	dst = append(dst, `,"verifiedDate":`...)
	dst = a.VerifiedDate.appendJSON(dst)
	return append(dst, '}')
}

// appendNullable writes a string, null for "".
func appendNullable(dst []byte, s string) []byte { return appendUnless(dst, s == "", s) }

// appendUnless writes a string, or null when that is said.
func appendUnless(dst []byte, null bool, s string) []byte {
	if null {
		return append(dst, "null"...)
	}
	return jcs.AppendString(dst, s)
}

func appendValue(dst []byte, v Value) []byte {
	if v == "" {
		v = Null
	}
	return append(dst, v...)
}

// ClaimOf is the claim of one dated value.
func ClaimOf(key string, v *DatedValue) Claim {
	return Claim{Key: key, Value: v.Value, Unit: v.Unit, Period: v.Period, EffectiveFrom: v.From, Source: v.Source}
}

// Attest is the attestation of one dated value of a fact by a publisher.
func Attest(p Publisher, key string, v *DatedValue) Attestation {
	claim := ClaimOf(key, v)
	return Attestation{Publisher: p.URL, Claim: claim, Hash: claim.Hash(), EffectiveTo: v.To, VerifiedDate: v.Verified}
}
