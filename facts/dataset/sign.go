package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/jws"
)

// SignOptions are the inputs of Sign.
type SignOptions struct {
	Key   *jwk.PrivateKey
	Today facts.Date
	All   bool // sign every value again with Key, also those that another key has signed
	// Before is shown what the signer is about to stand behind, when there is anything, before any file is written; its error ends the act with nothing written.
	Before func([]Signed) error
	// Progress is called with the facts done and their number, from one goroutine at a time.
	Progress func(done, total int)
}

// Signed is one new signature: what the signer stands behind.
type Signed struct {
	Key          string      `json:"key"`
	Label        string      `json:"label"`
	Value        facts.Value `json:"value"`
	Unit         string      `json:"unit,omitempty"`
	Period       string      `json:"period,omitempty"`
	From         facts.Date  `json:"effectiveFrom"`
	To           facts.Date  `json:"effectiveTo"`
	Source       string      `json:"source"`
	VerifiedDate facts.Date  `json:"verifiedDate"`
	Converted    bool        `json:"converted,omitzero"` // converted, not re-read
	Withdrawn    facts.Date  `json:"withdrawn"`
}

// SignResult says what Sign did.
type SignResult struct {
	Kid      string   `json:"kid"`
	New      []Signed `json:"new"`
	Kept     int      `json:"kept"`
	Dropped  int      `json:"dropped"`           // signatures of statements that are no longer made
	EnterKey bool     `json:"enterKey,omitzero"` // the key was entered into jwks.json
}

// Sign signs every value that can be served and is not yet signed for exactly what it says, drops the signatures of statements that are no longer made,
// and writes signatures.json (F§10.7). The result depends on the folder and the key alone. It refuses a folder with lint errors other than missing
// signatures, and a key that is not listed, retired, revoked, or valid only after today; into an absent or empty jwks.json it enters the key itself.
func Sign(dir string, o SignOptions) (*SignResult, error) {
	w, done, err := begin(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return w.sign(o)
}

func (w *work) sign(o SignOptions) (*SignResult, error) {
	if err := w.fitToSign(o.Today); err != nil {
		return nil, err
	}
	keys, enter, err := w.signingKeys(o.Key, o.Today)
	if err != nil {
		return nil, err
	}
	ds, err := w.folder.Dataset(DatasetOptions{Level: "L1"})
	if err != nil {
		return nil, err
	}
	listed, added, kept := signatures(ds, w.folder.Signatures, keys, o)
	result := &SignResult{Kid: o.Key.Kid(), New: added, Kept: kept, Dropped: dropped(w.folder.Signatures, listed), EnterKey: enter}
	if o.Before != nil && len(added) > 0 {
		if err := o.Before(added); err != nil {
			return nil, err
		}
	}
	if enter {
		if err := w.writeKeys(keys); err != nil {
			return nil, err
		}
	}
	return result, w.writeSignatures(listed)
}

// fitToSign refuses a folder in which something else than a signature is wrong: a signer signs what lint accepts.
func (w *work) fitToSign(today facts.Date) error {
	if r := lint(w.folder, today, "L1"); r.Failed() {
		return &FolderError{r}
	}
	return nil
}

// signingKeys returns the key set with the signing key in it, or says why the key may not sign.
func (w *work) signingKeys(key *jwk.PrivateKey, today facts.Date) (set *jwk.Set, enter bool, err error) {
	public := key.Public()
	if err := checkKid(public.Kid); err != nil {
		return nil, false, &Error{Kind: Refused, Message: err.Error(), Next: "make a key with sayso keys new --kid NAME-YYYY-MM"}
	}
	set = w.folder.Keys
	if set == nil || len(set.Keys) == 0 {
		public.ValidFrom = today.String()
		return &jwk.Set{Keys: []jwk.Key{public}}, true, nil
	}
	listed, ok := set.Find(public.Kid)
	refuse := func(format string, args ...any) (*jwk.Set, bool, error) {
		return nil, false, &Error{Kind: Refused, Message: fmt.Sprintf("key %s %s", public.Kid, fmt.Sprintf(format, args...)),
			Next: "sign with a listed key that is in force, or list a new one with facts keys add"}
	}
	from, _ := facts.ParseDate(listed.ValidFrom)
	switch {
	case !ok:
		return refuse("is not listed in jwks.json")
	case !listed.Public.Equal(public.Public):
		return refuse("is another key than the one listed under this name in jwks.json")
	case listed.Revoked != "":
		return refuse("was revoked on %s", listed.Revoked)
	case listed.Retired != "":
		return refuse("was retired on %s", listed.Retired)
	case from > today:
		return refuse("is valid from %s only", listed.ValidFrom)
	}
	return set, false, nil
}

// signatures keeps the stored signatures that hold and makes the missing ones, in the order of the file.
func signatures(ds *facts.Dataset, stored []StoredSignature, keys *jwk.Set, o SignOptions) (list []StoredSignature, added []Signed, kept int) {
	type row struct {
		signature StoredSignature
		signed    *Signed
	}
	old := make(map[string]*StoredSignature, len(stored))
	for i := range stored {
		old[stored[i].Attestation] = &stored[i]
	}
	perFact := make([][]row, len(ds.Facts))
	counted := &steps{show: o.Progress, total: len(ds.Facts)}
	parallel(len(ds.Facts), func(i int) {
		defer counted.add()
		f := &ds.Facts[i]
		for j := len(f.Values) - 1; j >= 0; j-- {
			v := &f.Values[j]
			a := facts.Attest(ds.Publisher, f.Key, v)
			payload := a.AppendCanonical(nil)
			digest := attestationDigest(&a)
			if s := old[digest]; s != nil && !o.All && holds(s, payload, v.Verified, keys) {
				perFact[i] = append(perFact[i], row{signature: *s})
				continue
			}
			perFact[i] = append(perFact[i], row{
				StoredSignature{f.Key, optional(v.Period), v.From, v.Verified, digest, o.Key.Kid(), jws.SignDetached(o.Key, payload)},
				&Signed{f.Key, f.Label, v.Value, v.Unit, v.Period, v.From, v.To, v.Source, v.Verified, v.Converted, v.Withdrawn},
			})
		}
	})
	for _, rows := range perFact {
		for _, r := range rows {
			if list = append(list, r.signature); r.signed != nil && !sameSignature(old[r.signature.Attestation], &r.signature) {
				added = append(added, *r.signed)
			} else {
				kept++
			}
		}
	}
	slices.SortStableFunc(list, func(a, b StoredSignature) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.EffectiveFrom, b.EffectiveFrom))
	})
	return list, added, kept
}

// dropped counts the stored signatures whose statement is no longer made.
func dropped(stored, listed []StoredSignature) int {
	made := make(map[string]bool, len(listed))
	for i := range listed {
		made[listed[i].Attestation] = true
	}
	n := 0
	for i := range stored {
		if !made[stored[i].Attestation] {
			n++
		}
	}
	return n
}

func sameSignature(a, b *StoredSignature) bool {
	return a != nil && a.Kid == b.Kid && a.JWS == b.JWS
}

// holds reports whether a stored signature would still be accepted by a reader.
func holds(s *StoredSignature, payload []byte, verified facts.Date, keys *jwk.Set) bool {
	key, ok := keys.Find(s.Kid)
	if !ok {
		return false
	}
	if revoked, err := facts.ParseDate(key.Revoked); err == nil && verified > revoked {
		return false
	}
	return jws.VerifyDetached(s.JWS, payload, s.Kid, key.Public) == nil
}

// writeSignatures writes signatures.json, one signature a line so that a diff shows which statements are new.
func (w *work) writeSignatures(list []StoredSignature) error {
	out := []byte(`{"format":"` + SignaturesFormat + `","signatures":[`)
	for i := range list {
		line, err := jcs.Encode(&list[i])
		if err != nil {
			return err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, '\n'), line...)
	}
	return w.write(signaturesFile, append(out, "\n]}\n"...))
}

// writeKeys writes jwks.json, one key a line.
func (w *work) writeKeys(set *jwk.Set) error {
	out := []byte(`{"keys":[`)
	for i := range set.Keys {
		one := jwk.Set{Keys: set.Keys[i : i+1]}
		doc, err := one.MarshalJSON()
		if err != nil {
			return err
		}
		members, err := jcs.Members(doc)
		if err != nil {
			return err
		}
		if i > 0 {
			out = append(out, ',')
		}
		key := members[0].Value
		out = append(append(out, '\n'), key[1:len(key)-1]...)
	}
	return w.write(keysFile, append(out, "\n]}\n"...))
}
