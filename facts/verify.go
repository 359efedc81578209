package facts

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"sayso/jwk"
	"sayso/jws"
)

// Values of the four parts of a Verification (F§13).
const (
	PartValid      = "valid"      // hash, signature
	PartInvalid    = "invalid"    // hash, signature
	PartAbsent     = "absent"     // signature
	PartYes        = "yes"        // key acceptable
	PartNo         = "no"         // key acceptable
	PartNotTested  = "not_tested" // signature, key acceptable, claim current
	PartCurrent    = "current"    // claim current, as all that follow
	PartStale      = "stale"
	PartNotYet     = "not yet in force"
	PartEnded      = "ended"
	PartWithdrawn  = "withdrawn"
	PartSuperseded = "superseded"
	PartFuture     = "dated in the future"
)

// KeySource resolves a kid; the caller has fetched and checked where the set came from.
type KeySource interface {
	// FindKey returns the key or a reason why there is none.
	FindKey(kid string) (PublicKey, error)
}

// PublicKey is an accepted key with its dates.
type PublicKey struct {
	Kid                         string
	Key                         ed25519.PublicKey
	ValidFrom, Retired, Revoked Date
}

// Part is one of the four outcomes of F§13 (value) with an optional reason or note.
type Part struct {
	Value  string `json:"value"`
	Reason string `json:"reason,omitempty"`
}

// Verification is the four-part result of F§13.
type Verification struct {
	Hash          Part     `json:"hash"`          // valid | invalid
	Signature     Part     `json:"signature"`     // valid | invalid | absent | not_tested
	KeyAcceptable Part     `json:"keyAcceptable"` // yes | no | not_tested
	ClaimCurrent  Part     `json:"claimCurrent"`  // current | stale | not yet in force | ended | withdrawn | superseded | dated in the future | not_tested
	Warnings      []string `json:"warnings,omitempty"`
}

// VerifyOptions are the inputs of Verify.
type VerifyOptions struct {
	Today    Date // zero: part 4 is not_tested
	MaxAge   int  // days, NoMaxAge when not asked
	AsOf     Date // the day the claim must be in force on; zero = Today
	Keys     KeySource
	KeysNote string // why Keys is nil; signature and key are then not_tested
	// Authorities of the record's namespace as the publisher declares them; nil = unknown.
	Authorities []string
	// LiveHash is the hash the publisher serves now for the key, "" when not asked.
	LiveHash string
}

// KeysOf is the KeySource of a JWK Set.
func KeysOf(set *jwk.Set) KeySource { return setKeys{set} }

type setKeys struct{ set *jwk.Set }

func (s setKeys) FindKey(kid string) (PublicKey, error) {
	key, ok := s.set.Find(kid)
	if !ok {
		return PublicKey{}, fmt.Errorf("unknown key %s: the publisher's key set does not list it", quote(kid))
	}
	found := PublicKey{Kid: key.Kid, Key: key.Public}
	dates := []struct {
		name, text string
		date       *Date
	}{{"validFrom", key.ValidFrom, &found.ValidFrom}, {"retired", key.Retired, &found.Retired}, {"revoked", key.Revoked, &found.Revoked}}
	for _, d := range dates {
		if d.text == "" {
			continue
		}
		date, err := ParseDate(d.text)
		if err != nil {
			return PublicKey{}, fmt.Errorf("key %s: %s: %w", quote(kid), d.name, err)
		}
		*d.date = date
	}
	return found, nil
}

// Verify computes the four parts. It never fetches and never collapses the parts into one. A valid signature says that the publisher said so, not that the
// figure is true.
func Verify(r *Record, o VerifyOptions) Verification {
	v := Verification{Hash: Part{Value: PartValid}}
	if computed := r.ComputeHash(); computed != r.Hash {
		v.Hash = Part{PartInvalid, "the six claim members give " + computed + ", the record says " + r.Hash}
	}
	v.verifySignature(r, &o)
	v.ClaimCurrent = r.current(&o)
	v.warn(r, &o)
	return v
}

// OK reports whether parts 1 to 3 hold (an absent signature counts unless requireSignature) and part 4 is current.
func (v *Verification) OK(requireSignature bool) bool {
	signed := v.Signature.Value == PartValid && v.KeyAcceptable.Value == PartYes
	unsigned := v.Signature.Value == PartAbsent && !requireSignature
	return v.Hash.Value == PartValid && (signed || unsigned) && v.ClaimCurrent.Value == PartCurrent
}

// verifySignature fills parts 2 and 3. A signature is tested with every key that is found, so that "revoked" and "wrong" stay apart.
func (v *Verification) verifySignature(r *Record, o *VerifyOptions) {
	s := r.Signature
	if s == nil {
		v.Signature = Part{Value: PartAbsent}
		v.KeyAcceptable = Part{PartNotTested, "the record has no signature"}
		return
	}
	if o.Keys == nil {
		v.Signature, v.KeyAcceptable = Part{PartNotTested, o.KeysNote}, Part{PartNotTested, o.KeysNote}
		return
	}
	key, err := o.Keys.FindKey(s.Kid)
	if err != nil {
		v.KeyAcceptable = Part{PartNo, err.Error()}
		v.Signature = Part{PartNotTested, "no key to test it with"}
		return
	}
	v.KeyAcceptable = v.acceptKey(r, key)
	if s.Alg != "EdDSA" {
		v.Signature = Part{PartInvalid, "alg is " + quote(s.Alg) + ", only EdDSA is accepted"}
		return
	}
	var buf [1024]byte
	err = jws.VerifyDetached(s.JWS, r.appendAttestation(buf[:0], ""), s.Kid, key.Key)
	if err == nil {
		v.Signature = Part{PartValid, "this publisher said so"}
		return
	}
	v.Signature = Part{PartInvalid, err.Error()}
	var refused *jws.Error
	if !errors.As(err, &refused) {
		return
	}
	v.Signature.Reason = string(refused.Reason) + ": " + refused.Detail
	switch refused.Reason {
	case jws.BadKey:
		v.KeyAcceptable = Part{PartNo, refused.Detail}
		v.Signature = Part{PartNotTested, "no acceptable key to test it with"}
	case jws.Wrong:
		if member := r.otherPublisher(key); member != "" {
			v.Warnings = append(v.Warnings, "signature fits another reading of publisher: it was made over "+member+" instead of publisher.url")
		}
	}
}

// acceptKey is part 3 for a key that was found (S5): only a revocation before verifiedDate makes it unacceptable.
func (v *Verification) acceptKey(r *Record, key PublicKey) Part {
	switch {
	case key.Kid != r.Signature.Kid:
		return Part{PartNo, "the key found has another kid"}
	case !key.Revoked.IsZero() && r.VerifiedDate > key.Revoked:
		return Part{PartNo, fmt.Sprintf("revoked on %v, before verifiedDate %v", key.Revoked, r.VerifiedDate)}
	case !key.Revoked.IsZero():
		v.Warnings = append(v.Warnings, fmt.Sprintf("the key was revoked on %v, not before verifiedDate %v: whoever holds it can back-date", key.Revoked, r.VerifiedDate))
		return Part{PartYes, "revoked on " + key.Revoked.String()}
	case !key.Retired.IsZero():
		return Part{PartYes, "retired on " + key.Retired.String()}
	}
	return Part{Value: PartYes}
}

// otherPublisher names the reading of attestation.publisher (S4) that a refused signature fits, "" for none.
func (r *Record) otherPublisher(key PublicKey) string {
	name := StringValue(r.Publisher.Name)
	object := Value(`{"name":` + string(name) + `,"url":` + string(StringValue(r.Publisher.URL)) + `}`)
	for _, reading := range []struct {
		member    string
		publisher Value
	}{{"publisher.name", name}, {"the publisher object", object}} {
		payload := r.appendAttestation(nil, reading.publisher)
		if jws.VerifyDetached(r.Signature.JWS, payload, r.Signature.Kid, key.Key) == nil {
			return reading.member
		}
	}
	return ""
}

// current is part 4. What ends a claim for good comes before what a day decides, and staleness last.
func (r *Record) current(o *VerifyOptions) Part {
	day := o.AsOf
	if day.IsZero() {
		day = o.Today
	}
	switch {
	case o.Today.IsZero():
		return Part{PartNotTested, "no day was given to test it on"}
	case r.VerifiedDate > o.Today:
		return Part{PartFuture, fmt.Sprintf("verifiedDate %v is after today, %v", r.VerifiedDate, o.Today)}
	case r.Withdrawn != "":
		reason := "withdrawn " + oneLine(clip(r.Withdrawn))
		if r.SupersededBy != "" {
			reason += "; superseded by " + r.SupersededBy
		}
		return Part{PartWithdrawn, reason}
	case o.LiveHash != "" && o.LiveHash != r.Hash:
		return Part{PartSuperseded, "the publisher now serves " + quote(o.LiveHash)}
	case r.EffectiveFrom > day:
		return Part{PartNotYet, fmt.Sprintf("effectiveFrom %v is after %v", r.EffectiveFrom, day)}
	case !r.EffectiveTo.IsZero() && r.EffectiveTo < day:
		return Part{PartEnded, fmt.Sprintf("effectiveTo %v is before %v", r.EffectiveTo, day)}
	}
	return r.fresh(o.Today, o.MaxAge)
}

// fresh tells current from stale (F§4.4).
func (r *Record) fresh(today Date, maxAge int) Part {
	age := int(today - r.VerifiedDate)
	switch {
	case maxAge >= 0 && age > maxAge:
		return Part{PartStale, "verified " + strconv.Itoa(age) + " days ago, more than the " + strconv.Itoa(maxAge) + " asked for"}
	case maxAge >= 0:
		return Part{Value: PartCurrent}
	}
	promise := "the check promised for " + r.NextScheduledRefresh.String() + " is "
	switch state := Staleness(r.NextScheduledRefresh, DefaultGraceDays, today); state {
	case StalenessCurrent:
		return Part{Value: PartCurrent}
	case StalenessDue:
		return Part{PartCurrent, promise + state}
	default:
		return Part{PartStale, promise + state}
	}
}

// warn adds what does not decide a part.
func (v *Verification) warn(r *Record, o *VerifyOptions) {
	if host := SourceHost(r.Source); o.Authorities != nil && (r.SourceType == "" || r.SourceType == "authority") && !slices.Contains(o.Authorities, host) {
		v.Warnings = append(v.Warnings, "source host "+quote(host)+" is not on the publisher's authorities for this namespace")
	}
	if o.Today.IsZero() {
		return
	}
	if r.VerifiedDate > o.Today {
		v.Warnings = append(v.Warnings, fmt.Sprintf("verifiedDate %v is after today, %v (UTC)", r.VerifiedDate, o.Today))
		return
	}
	now := StatusFresh
	if r.fresh(o.Today, r.MaxAgeDays).Value == PartStale {
		now = StatusStale
	}
	if r.Status != "" && r.Status != now {
		v.Warnings = append(v.Warnings, "the record says status "+r.Status+", recomputed for "+o.Today.String()+" it is "+now)
	}
}
