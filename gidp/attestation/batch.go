package attestation

import (
	"crypto/ed25519"
	"time"

	"sayso/jcs"
	"sayso/jwk"
)

// Two files go between a holder and an issuer, each one JSON object. How the issuer knows who brings a request is between the two.
//
//	{"format":"gidp-attestation-request/1","keys":[{"id":"…","jwk":{…}}]}
//	{"format":"gidp-attestation-batch/1","issuer":{…},"attestations":[{"id":"…","attestation":"…~"}]}
//
// id is the holder's own mark for a key, 1 to 64 visible ASCII characters. It comes back with the attestation and stands in no attestation.

// Bounds of the two files.
const (
	MaxBatch = 256
	MaxFile  = 512 << 10 // bytes

	requestFormat = "gidp-attestation-request/1"
	batchFormat   = "gidp-attestation-batch/1"
	maxMark       = 64
)

// Slot is one key that an attestation is asked for.
type Slot struct {
	ID  string
	Key ed25519.PublicKey
}

// Issued is one attestation of a batch.
type Issued struct {
	ID          string
	Attestation string // <jwt>~
	Confirm     ed25519.PublicKey
}

// Batch is what an issuer gives to a holder: attestations of one property that end together.
type Batch struct {
	Issuer       ed25519.PublicKey
	Property     string
	Expires      time.Time
	Attestations []Issued
}

type slotForm struct {
	ID  string  `json:"id"`
	Key jcs.Raw `json:"jwk"`
}

type requestForm struct {
	Format string     `json:"format"`
	Keys   []slotForm `json:"keys"`
}

type issuedForm struct {
	ID          string `json:"id"`
	Attestation string `json:"attestation"`
}

type batchForm struct {
	Format       string       `json:"format"`
	Issuer       jcs.Raw      `json:"issuer"`
	Attestations []issuedForm `json:"attestations"`
}

// EncodeRequest writes a request for 1 to [MaxBatch] attestations.
func EncodeRequest(slots []Slot) ([]byte, error) {
	f := requestForm{Format: requestFormat}
	for _, s := range slots {
		f.Keys = append(f.Keys, slotForm{s.ID, jwk.EncodePublic(s.Key)})
	}
	out, err := jcs.Encode(f)
	if err != nil {
		return nil, &Error{Code: CodeMalformed, Detail: "the request cannot be written", cause: err}
	}
	if _, err := ReadRequest(out); err != nil {
		return nil, err
	}
	return out, nil
}

// ReadRequest reads what [EncodeRequest] wrote. Marks and keys stand once. Errors are *Error with [CodeMalformed] or [CodeKey].
func ReadRequest(data []byte) ([]Slot, error) {
	var f requestForm
	if len(data) > MaxFile || jcs.DecodeKnown(data, &f) != nil || f.Format != requestFormat {
		return nil, refuse(CodeMalformed, "not a request for attestations of this version")
	}
	if len(f.Keys) == 0 || len(f.Keys) > MaxBatch {
		return nil, refuse(CodeMalformed, "a request is for 1 to 256 attestations")
	}
	var out []Slot
	marks, keys := map[string]bool{}, map[string]bool{}
	for _, s := range f.Keys {
		pub, err := jwk.ParsePublic(s.Key)
		if err != nil {
			return nil, &Error{Code: CodeKey, Detail: "a key is not an acceptable Ed25519 public key as a JWK", cause: err}
		}
		if !validMark(s.ID) || marks[s.ID] || keys[string(pub)] {
			return nil, refuse(CodeMalformed, "a mark or a key of the request stands twice, or a mark is not 1 to 64 visible ASCII characters")
		}
		marks[s.ID], keys[string(pub)] = true, true
		out = append(out, Slot{s.ID, pub})
	}
	return out, nil
}

func validMark(s string) bool { return s != "" && len(s) <= maxMark && visible(s) }

// IssueBatch attests one property to every key of a request. Errors are those of [Issue].
func IssueBatch(slots []Slot, property string, expires time.Time, issuer *jwk.PrivateKey, now time.Time) ([]byte, error) {
	f := batchForm{Format: batchFormat, Issuer: jwk.EncodePublic(issuer.Public().Public)}
	for _, s := range slots {
		text, err := Issue(Claims{Property: property, Confirm: s.Key, Expires: expires}, issuer, now)
		if err != nil {
			return nil, err
		}
		f.Attestations = append(f.Attestations, issuedForm{s.ID, text})
	}
	out, err := jcs.Encode(f)
	if err != nil {
		return nil, &Error{Code: CodeMalformed, Detail: "the batch cannot be written", cause: err}
	}
	return out, nil
}

// ReadBatch reads and verifies what [IssueBatch] wrote: every attestation is signed by the issuer that the file names, in time, for the same property and the
// same week, and for a key of its own. Whether the keys are the reader's is the reader's to check. Errors are *Error.
func ReadBatch(data []byte, now time.Time) (*Batch, error) {
	var f batchForm
	if len(data) > MaxFile || jcs.DecodeKnown(data, &f) != nil || f.Format != batchFormat {
		return nil, refuse(CodeMalformed, "not a batch of attestations of this version")
	}
	if len(f.Attestations) == 0 || len(f.Attestations) > MaxBatch {
		return nil, refuse(CodeMalformed, "a batch has 1 to 256 attestations")
	}
	issuer, err := jwk.ParsePublic(f.Issuer)
	if err != nil {
		return nil, &Error{Code: CodeKey, Detail: "the issuer's key is not acceptable", cause: err}
	}
	b := &Batch{Issuer: issuer}
	marks, keys := map[string]bool{}, map[string]bool{}
	for n, one := range f.Attestations {
		c, err := CheckIssued(one.Attestation, issuer, now)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			b.Property, b.Expires = c.Property, c.Expires
		}
		if !validMark(one.ID) || marks[one.ID] || keys[string(c.Confirm)] || c.Property != b.Property || !c.Expires.Equal(b.Expires) {
			return nil, refuse(CodeMalformed, "a batch attests one property until one day, each attestation to a key of its own")
		}
		marks[one.ID], keys[string(c.Confirm)] = true, true
		b.Attestations = append(b.Attestations, Issued{one.ID, one.Attestation, c.Confirm})
	}
	return b, nil
}
