package vault

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"sayso/gidp/attestation"
	"sayso/jcs"
	"sayso/jwk"
)

// Attestations of an interest lie one in a file, named LINEAGE-PROPERTY-END-MARK: keyed hashes, and the day on which it ends. Whoever shows one first puts a
// file used-END-MARK in place, so that of several processes one shows it, and no file of its batch brings it back. Both are dropped once the day is over.

const (
	maxCredentials = 4096 // in one data folder, used ones included
	usedPrefix     = "used"
	dayForm        = "20060102"
)

// CredentialGroup are the unused attestations of an interest for one property that end together.
type CredentialGroup struct {
	Property string
	Issuer   string // thumbprint
	Expires  time.Time
	Left     int
}

// Credential is one attestation for its only use, with the key of its holder.
type Credential struct {
	Property    string
	Attestation string
	Key         *jwk.PrivateKey
}

// credentialFile is a name taken apart.
type credentialFile struct{ name, lineage, property, day, mark string }

func parseCredential(name string) (f credentialFile, expires time.Time, ok bool) {
	part := strings.Split(name, "-")
	switch {
	case len(part) == 4:
		f = credentialFile{name, part[0], part[1], part[2], part[3]}
	case len(part) == 3 && part[0] == usedPrefix:
		f = credentialFile{name: name, lineage: usedPrefix, day: part[1], mark: part[2]}
	default:
		return f, expires, false
	}
	expires, err := time.Parse(dayForm, f.day)
	return f, expires, err == nil
}

func (f credentialFile) used() string { return strings.Join([]string{usedPrefix, f.day, f.mark}, "-") }

func (v *Vault) short(purpose string, parts ...string) string {
	sum := v.MAC(purpose, parts...)
	return hex.EncodeToString(sum[:8])
}

// credentials lists what is there and not over, and drops the rest. used holds the marks of what was shown.
func (v *Vault) credentials(now time.Time) (files []credentialFile, used map[string]bool, err error) {
	names, err := v.creds.names()
	if err != nil {
		return nil, nil, err
	}
	used = map[string]bool{}
	for _, name := range names {
		f, expires, ok := parseCredential(name)
		switch {
		case !ok:
		case !now.Before(expires):
			if err := v.creds.drop(name); err != nil {
				return nil, nil, err
			}
		case f.lineage == usedPrefix:
			used[f.mark] = true
		default:
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b credentialFile) int {
		return cmp.Or(strings.Compare(a.day, b.day), strings.Compare(a.mark, b.mark))
	})
	return slices.DeleteFunc(files, func(f credentialFile) bool { return used[f.mark] }), used, nil
}

type credentialForm struct {
	ID          string `json:"id"`
	Attestation string `json:"attestation"`
}

func credentialPlace(name string) string { return "credential/" + name }

func (v *Vault) credentialKey(lineage, id string) (*jwk.PrivateKey, error) {
	return v.derivedKey("credential key", lineage, id)
}

// CredentialSlots makes n keys for attestations of an interest: marks that are random, and keys that follow from them and the folder's secret, so that nothing
// is kept until the batch comes.
func (v *Vault) CredentialSlots(lineage string, n int, random io.Reader) ([]attestation.Slot, error) {
	var out []attestation.Slot
	for range n {
		var mark [16]byte
		if _, err := io.ReadFull(random, mark[:]); err != nil {
			return nil, fmt.Errorf("draw a mark: %w", err)
		}
		id := hex.EncodeToString(mark[:])
		key, err := v.credentialKey(lineage, id)
		if err != nil {
			return nil, err
		}
		out = append(out, attestation.Slot{ID: id, Key: key.Public().Public})
	}
	return out, nil
}

// AddCredentials keeps the attestations of a batch for an interest, each until its one use. It returns how many are new. Errors match [ErrForeign] when the
// keys are not those of [Vault.CredentialSlots] for the lineage, [ErrSpent] when none is new, [ErrFull].
func (v *Vault) AddCredentials(lineage string, b *attestation.Batch, now time.Time) (int, error) {
	for _, one := range b.Attestations {
		key, err := v.credentialKey(lineage, one.ID)
		if err != nil {
			return 0, err
		}
		if !key.Public().Public.Equal(one.Confirm) {
			return 0, ErrForeign
		}
	}
	files, used, err := v.credentials(now)
	if err != nil {
		return 0, err
	}
	if len(files)+len(used)+len(b.Attestations) > maxCredentials {
		return 0, ErrFull
	}
	added := 0
	for _, one := range b.Attestations {
		f := credentialFile{lineage: v.short("credential lineage", lineage), property: v.short("credential property", b.Property), day: b.Expires.Format(dayForm),
			mark: v.short("credential", one.Attestation)}
		if used[f.mark] {
			continue
		}
		name := strings.Join([]string{f.lineage, f.property, f.day, f.mark}, "-")
		text, err := jcs.Encode(credentialForm{one.ID, one.Attestation})
		if err != nil {
			return added, fmt.Errorf("keep an attestation: %w", err)
		}
		sealed, err := v.Seal(credentialPlace(name), text)
		if err != nil {
			return added, err
		}
		switch err := v.creds.put(name, sealed); {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return added, fmt.Errorf("keep an attestation: %w", err)
		default:
			added++
		}
	}
	if added == 0 {
		return 0, ErrSpent
	}
	return added, nil
}

// credential opens one file.
func (v *Vault) credential(lineage string, f credentialFile) (Credential, attestation.Unverified, error) {
	var none attestation.Unverified
	sealed, err := v.creds.get(f.name)
	if err != nil {
		return Credential{}, none, err
	}
	text, err := v.Unseal(credentialPlace(f.name), sealed)
	if err != nil {
		return Credential{}, none, err
	}
	var form credentialForm
	if jcs.DecodeKnown(text, &form) != nil {
		return Credential{}, none, ErrSeal
	}
	key, err := v.credentialKey(lineage, form.ID)
	if err != nil {
		return Credential{}, none, err
	}
	read, err := attestation.Read(form.Attestation)
	if err != nil || !read.Confirm.Equal(key.Public().Public) {
		return Credential{}, none, ErrSeal
	}
	return Credential{read.Property, form.Attestation, key}, read, nil
}

// of lists the unused files of a lineage, and of one property unless it is "".
func (v *Vault) of(lineage, property string, now time.Time) ([]credentialFile, error) {
	files, _, err := v.credentials(now)
	if err != nil {
		return nil, err
	}
	tag, about := v.short("credential lineage", lineage), v.short("credential property", property)
	return slices.DeleteFunc(files, func(f credentialFile) bool { return f.lineage != tag || property != "" && f.property != about }), nil
}

// Credentials lists the unused attestations of an interest, by property and then by end.
func (v *Vault) Credentials(lineage string, now time.Time) ([]CredentialGroup, error) {
	files, err := v.of(lineage, "", now)
	if err != nil {
		return nil, err
	}
	var out []CredentialGroup
	at := map[string]int{} // by property and day
	for _, f := range files {
		key := f.property + f.day
		if n, ok := at[key]; ok {
			out[n].Left++
			continue
		}
		_, read, err := v.credential(lineage, f)
		if errors.Is(err, fs.ErrNotExist) {
			continue // shown meanwhile
		}
		if err != nil {
			return nil, err
		}
		at[key] = len(out)
		out = append(out, CredentialGroup{read.Property, read.Issuer, read.Expires, 1})
	}
	slices.SortFunc(out, func(a, b CredentialGroup) int {
		return cmp.Or(strings.Compare(a.Property, b.Property), a.Expires.Compare(b.Expires))
	})
	return out, nil
}

// TakeCredential takes one attestation of an interest for one property, the first to end, for good: whatever becomes of the session, it is not given out again.
// False when there is none.
func (v *Vault) TakeCredential(lineage, property string, now time.Time) (Credential, bool, error) {
	files, err := v.of(lineage, property, now)
	if err != nil {
		return Credential{}, false, err
	}
	for _, f := range files {
		c, _, err := v.credential(lineage, f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Credential{}, false, err
		}
		switch err := v.creds.put(f.used(), []byte(usedText)); {
		case errors.Is(err, fs.ErrExist):
			continue // another process was faster
		case err != nil:
			return Credential{}, false, fmt.Errorf("mark an attestation as used: %w", err)
		}
		return c, true, v.creds.drop(f.name)
	}
	return Credential{}, false, nil
}

// usedText is what a file of a used attestation says to whoever opens it.
const usedText = "An attestation has been shown in a session. Do not remove this file before the day in its name: without it the attestation could be shown again, and the two sessions be linked.\n"

// RemoveCredentials drops the unused attestations of an interest for a property, and returns how many there were. They can be added again.
func (v *Vault) RemoveCredentials(lineage, property string, now time.Time) (int, error) {
	files, err := v.of(lineage, property, now)
	if err != nil {
		return 0, err
	}
	for n, f := range files {
		if err := v.creds.drop(f.name); err != nil {
			return n, err
		}
	}
	return len(files), nil
}
