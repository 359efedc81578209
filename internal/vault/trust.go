package vault

import (
	"cmp"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"sayso/gidp/attestation"
	"sayso/jcs"
	"sayso/jwk"
)

// maxTrust bounds the issuers that are believed, each property counted.
const maxTrust = 256

// Errors of what is kept here beside interests.
var (
	ErrFull    = errors.New("the data folder holds as many of these as it may")
	ErrForeign = errors.New("an attestation of the batch is for a key that this interest has not asked for")
	ErrSpent   = errors.New("the batch was added before, and all of it is in use or used")
)

// Trusted says that what an issuer attests of one property is believed, or that a provider lies inside the trust domain of one.
type Trusted struct {
	Property string
	Issuer   ed25519.PublicKey // nil for a provider
	Provider string            // origin; "" for an issuer
	Added    time.Time
}

// Name is the thumbprint of the issuer, or the origin of the provider.
func (t Trusted) Name() string {
	if t.Provider != "" {
		return t.Provider
	}
	return jwk.Thumbprint(t.Issuer)
}

type trustForm struct {
	Property string  `json:"property"`
	Issuer   jcs.Raw `json:"issuer,omitzero"`
	Provider string  `json:"provider,omitzero"`
	Added    int64   `json:"added"`
}

func trustPlace(name string) string { return "trust/" + name }

// trustName is where the belief in one issuer about one property lies. Nobody without the folder's key can tell which it is, or look for one.
func (v *Vault) trustName(property, issuer string) string {
	sum := v.MAC("trust", property, issuer)
	return hex.EncodeToString(sum[:16])
}

// Trust believes an issuer about one property, from now on. One that is believed already stays. Errors match [ErrFull], or are those of [attestation.CheckProperty].
func (v *Vault) Trust(property string, issuer ed25519.PublicKey, now time.Time) error {
	return v.believe(v.trustName(property, jwk.Thumbprint(issuer)), trustForm{Property: property, Issuer: jwk.EncodePublic(issuer), Added: now.Unix()})
}

// ErrPlaced says that a provider is taken to be in another trust domain.
var ErrPlaced = errors.New("the provider is inside another trust domain already")

// providerName is where the trust domain of a provider lies: there is one.
func (v *Vault) providerName(origin string) string { return v.trustName("", origin) }

// TrustProvider takes a provider, named by its origin, to be inside the trust domain of a property member:DOMAIN, so that what the policy keeps for that
// network may be published there. Errors match [ErrPlaced] or [ErrFull].
func (v *Vault) TrustProvider(property, origin string, now time.Time) error {
	if domain, ok := v.ProviderDomain(origin); ok && memberPrefix+domain != property {
		return ErrPlaced
	}
	return v.believe(v.providerName(origin), trustForm{Property: property, Provider: origin, Added: now.Unix()})
}

const memberPrefix = "member:"

// ProviderDomain is the trust domain that a provider is inside of; false when it is inside none, or what is kept cannot be read.
func (v *Vault) ProviderDomain(origin string) (string, bool) {
	t, err := v.trusted(v.providerName(origin))
	if err != nil || t.Provider != origin || origin == "" {
		return "", false
	}
	return strings.CutPrefix(t.Property, memberPrefix)
}

func (v *Vault) believe(name string, f trustForm) error {
	if err := attestation.CheckProperty(f.Property); err != nil {
		return err
	}
	names, err := v.trust.names()
	if err != nil {
		return err
	}
	if slices.Contains(names, name) {
		return nil
	}
	if len(names) >= maxTrust {
		return ErrFull
	}
	text, err := jcs.Encode(f)
	if err != nil {
		return fmt.Errorf("keep an issuer: %w", err)
	}
	sealed, err := v.Seal(trustPlace(name), text)
	if err != nil {
		return err
	}
	if err := v.trust.put(name, sealed); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("keep an issuer: %w", err)
	}
	return nil
}

// Distrust ends the belief in an issuer, named by its thumbprint, about one property, or takes a provider out of its trust domain. What sessions have
// established by an issuer counts no more. False when there is no such entry.
func (v *Vault) Distrust(property, name string) (bool, error) {
	if domain, ok := v.ProviderDomain(name); ok && memberPrefix+domain == property {
		return true, v.trust.drop(v.providerName(name))
	}
	name = v.trustName(property, name)
	names, err := v.trust.names()
	if err != nil || !slices.Contains(names, name) {
		return false, err
	}
	return true, v.trust.drop(name)
}

// TrustedKey returns the key of an issuer that is believed about a property; false when it is not, or what is kept cannot be read.
func (v *Vault) TrustedKey(property, issuer string) (ed25519.PublicKey, bool) {
	t, err := v.trusted(v.trustName(property, issuer))
	if err != nil || t.Property != property || t.Provider != "" || jwk.Thumbprint(t.Issuer) != issuer {
		return nil, false
	}
	return t.Issuer, true
}

func (v *Vault) trusted(name string) (Trusted, error) {
	sealed, err := v.trust.get(name)
	if err != nil {
		return Trusted{}, err
	}
	text, err := v.Unseal(trustPlace(name), sealed)
	if err != nil {
		return Trusted{}, err
	}
	var f trustForm
	if jcs.DecodeKnown(text, &f) != nil {
		return Trusted{}, ErrSeal
	}
	t := Trusted{Property: f.Property, Provider: f.Provider, Added: time.Unix(f.Added, 0).UTC()}
	if t.Provider != "" {
		return t, nil
	}
	if t.Issuer, err = jwk.ParsePublic(f.Issuer); err != nil {
		return Trusted{}, ErrSeal
	}
	return t, nil
}

// TrustedIssuers lists who is believed about what, by property and then by issuer.
func (v *Vault) TrustedIssuers() ([]Trusted, error) {
	names, err := v.trust.names()
	if err != nil {
		return nil, err
	}
	var out []Trusted
	for _, name := range names {
		if raw, err := hex.DecodeString(name); err != nil || len(raw) != 16 {
			continue // not ours, or not whole yet
		}
		t, err := v.trusted(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Trusted) int {
		return cmp.Or(strings.Compare(a.Property, b.Property), strings.Compare(a.Name(), b.Name()))
	})
	return out, nil
}
