package dataset

import (
	"fmt"
	"regexp"
	"slices"

	"sayso/facts"
	"sayso/jwk"
)

// minListedDays is how long a key is listed before it signs (F§7.4), so that caches of the key set have expired.
const minListedDays = 7

var kidPattern = regexp.MustCompile(`^[A-Za-z0-9._:#/-]{1,128}$`)

// checkKid refuses a key id that readers could not read (S4).
func checkKid(kid string) error {
	if !kidPattern.MatchString(kid) {
		return fmt.Errorf("key id %q is not 1 to 128 characters of A-Z a-z 0-9 . _ : # / -", clip(kid))
	}
	return nil
}

// AddKey lists a public key in jwks.json. A zero validFrom means today for the first key and seven days from today for a later one; an earlier day is
// refused, since readers may still hold the old set. Adding the same key again changes nothing.
func AddKey(dir string, key jwk.Key, validFrom, today facts.Date) (jwk.Key, error) {
	w, done, err := begin(dir)
	if err != nil {
		return jwk.Key{}, err
	}
	defer done()
	set := w.keySet()
	if listed, ok := set.Find(key.Kid); ok {
		if listed.Public.Equal(key.Public) {
			return listed, nil
		}
		return jwk.Key{}, &Error{Kind: Refused, Message: fmt.Sprintf("another key is listed as %s", key.Kid), Next: "give the new key another name"}
	}
	if err := checkKid(key.Kid); err != nil {
		return jwk.Key{}, &Error{Kind: Refused, Message: err.Error(), Next: "make a key with another name"}
	}
	earliest := today
	if len(set.Keys) > 0 {
		earliest += minListedDays
	}
	switch {
	case validFrom.IsZero():
		validFrom = earliest
	case validFrom < earliest:
		return jwk.Key{}, &Error{Kind: Refused, Message: fmt.Sprintf("key %s would sign from %s on, less than %d days after it is listed", key.Kid, validFrom, minListedDays),
			Next: fmt.Sprintf("let it begin on %s or later", earliest)}
	}
	key.Use, key.Alg, key.ValidFrom, key.Retired, key.Revoked = "sig", "EdDSA", validFrom.String(), "", ""
	set.Keys = append(set.Keys, key)
	return key, w.writeKeys(set)
}

// RetireKey marks a key as retired: it stays listed and its signatures hold, but it signs no more. The last key in force is not retired while values are
// signed.
func RetireKey(dir, kid string, on, today facts.Date) (jwk.Key, error) {
	return changeKey(dir, kid, func(set *jwk.Set, k *jwk.Key) error {
		switch {
		case k.Retired != "":
			return nil
		case on.IsZero():
			on = today
		case on > today:
			return &Error{Kind: Refused, Message: fmt.Sprintf("%s lies after today", on), Next: "retire the key on the day"}
		}
		if !slices.ContainsFunc(set.Keys, func(o jwk.Key) bool { return o.Kid != kid && o.Retired == "" && o.Revoked == "" }) {
			return &Error{Kind: Refused, Message: fmt.Sprintf("%s is the only key in force", kid), Next: "list its successor first with facts keys add"}
		}
		k.Retired = on.String()
		return nil
	})
}

// RevokeKey marks a key as revoked: readers refuse its signatures over values that were verified after that day. Values verified later must be signed
// again with another key. A revocation is never moved to a later day.
func RevokeKey(dir, kid string, on, today facts.Date) (jwk.Key, error) {
	return changeKey(dir, kid, func(_ *jwk.Set, k *jwk.Key) error {
		if on.IsZero() {
			on = today
		}
		if before, err := facts.ParseDate(k.Revoked); on > today || err == nil && on > before {
			return &Error{Kind: Refused, Message: fmt.Sprintf("key %s cannot be revoked from %s on: that is later than today or than its revocation", kid, on),
				Next: "name the day from which it can no longer be trusted"}
		}
		k.Revoked = on.String()
		return nil
	})
}

// SigningFrom is the first day, today or later, on which a key of the set may sign; ok is false when none ever will.
func SigningFrom(set *jwk.Set, today facts.Date) (day facts.Date, ok bool) {
	for _, k := range set.Keys {
		if k.Retired != "" || k.Revoked != "" {
			continue
		}
		from, err := facts.ParseDate(k.ValidFrom)
		if err != nil {
			continue // the set does not lint
		}
		if from = max(from, today); !ok || from < day {
			day, ok = from, true
		}
	}
	return day, ok
}

func changeKey(dir, kid string, change func(*jwk.Set, *jwk.Key) error) (jwk.Key, error) {
	w, done, err := begin(dir)
	if err != nil {
		return jwk.Key{}, err
	}
	defer done()
	set := w.keySet()
	i := slices.IndexFunc(set.Keys, func(k jwk.Key) bool { return k.Kid == kid })
	if i < 0 {
		return jwk.Key{}, &Error{Kind: NotFound, Message: fmt.Sprintf("no key %s is listed in jwks.json", kid), Next: "facts keys lists them"}
	}
	before := set.Keys[i]
	if err := change(set, &set.Keys[i]); err != nil || set.Keys[i].Retired == before.Retired && set.Keys[i].Revoked == before.Revoked {
		return set.Keys[i], err
	}
	return set.Keys[i], w.writeKeys(set)
}

func (w *work) keySet() *jwk.Set {
	if w.folder.Keys == nil {
		return &jwk.Set{}
	}
	return &jwk.Set{Keys: slices.Clone(w.folder.Keys.Keys)}
}
