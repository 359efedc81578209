package business

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"sayso/jcs"
	"sayso/jwk"
)

// MaxRevocationAge is max_age_seconds of both lists.
const MaxRevocationAge = 900

// The scopes of revocation entries. The first two stand on the registry's list, the others on a publisher's.
const (
	ScopeRegistryKey = "registry_key" // subject: a registry kid
	ScopePublisher   = "publisher"    // subject: a slug
	ScopeKey         = "key"          // kid: a publisher kid
	ScopeTenant      = "tenant"       // no target: everything of the publisher
	ScopeEntity      = "entity"       // entity_key: see EntityKey
	ScopeDigest      = "digest"       // digest: one signed document
)

// Reasons are the values of reason in a revocation entry.
var Reasons = []string{"error", "key_compromise", "other", "superseded", "withdrawn"}

// RevocationEntry is one entry of either list. Target members: Subject on the registry list; Kid, EntityKey or Digest on a publisher's.
type RevocationEntry struct {
	Scope         string         `json:"scope"` // registry_key | publisher | key | tenant | entity | digest
	Subject       string         `json:"subject,omitempty"`
	Kid           string         `json:"kid,omitempty"`
	EntityKey     string         `json:"entity_key,omitempty"`
	Digest        string         `json:"digest,omitempty"`
	Reason        string         `json:"reason"`
	RevokedFrom   string         `json:"revoked_from,omitempty"`
	RevokedUntil  string         `json:"revoked_until,omitempty"`
	CreatedAt     string         `json:"created_at"`
	RootSignature *RootSignature `json:"root_signature,omitempty"`
}

// targetOf names the member that holds the target of a scope, "" for tenant. ok is false for a scope that does not belong on that kind of list.
func targetOf(scope string, publisherList bool) (member string, ok bool) {
	switch scope {
	case ScopeRegistryKey, ScopePublisher:
		return "subject", !publisherList
	case ScopeKey:
		return "kid", publisherList
	case ScopeTenant:
		return "", publisherList
	case ScopeEntity:
		return "entity_key", publisherList
	case ScopeDigest:
		return "digest", publisherList
	}
	return "", false
}

// check refuses an entry that a reader could not match, or could read in two ways.
func (e *RevocationEntry) check(publisherList bool) error {
	member, ok := targetOf(e.Scope, publisherList)
	if !ok {
		return fmt.Errorf("revocation entry: scope %s does not belong on this list", shown(e.Scope))
	}
	for _, target := range []struct{ name, value string }{{"subject", e.Subject}, {"kid", e.Kid}, {"entity_key", e.EntityKey}, {"digest", e.Digest}} {
		if (target.value != "") != (target.name == member) {
			return fmt.Errorf("revocation entry: scope %s has exactly the target its scope names; look at %s", e.Scope, target.name)
		}
	}
	if e.Scope == ScopeDigest {
		if raw, err := jwk.DecodeBase64URL(e.Digest); err != nil || len(raw) != 32 {
			return errors.New("revocation entry: digest is the attestation's digest, 32 bytes in base64url without padding")
		}
	}
	if !slices.Contains(Reasons, e.Reason) {
		return fmt.Errorf("revocation entry: reason %s is none of error, key_compromise, other, superseded, withdrawn", shown(e.Reason))
	}
	from, okFrom := parseTime(e.RevokedFrom)
	until, okUntil := parseTime(e.RevokedUntil)
	_, okCreated := parseTime(e.CreatedAt)
	if !okCreated || e.RevokedFrom != "" && !okFrom || e.RevokedUntil != "" && !okUntil {
		return errors.New("revocation entry: created_at, revoked_from and revoked_until are RFC 3339 times")
	}
	if okFrom && okUntil && until.Before(from) {
		return errors.New("revocation entry: revoked_until lies before revoked_from, so the entry withdraws nothing")
	}
	return nil
}

// onPublisherList reports on which list the scope of an entry belongs.
func (e *RevocationEntry) onPublisherList() bool {
	return e.Scope != ScopeRegistryKey && e.Scope != ScopePublisher
}

// SignRevocation signs a revocation entry with the root, over its canonical form without root_signature.
func SignRevocation(entry RevocationEntry, root Signer, at time.Time) (RevocationEntry, error) {
	digest, covers, err := entry.unsigned()
	if err != nil {
		return RevocationEntry{}, err
	}
	if entry.RootSignature, err = rootSign(digest, root, at, covers); err != nil {
		return RevocationEntry{}, fmt.Errorf("revocation entry: %w", err)
	}
	return entry, nil
}

// VerifyRevocationEntry verifies that an entry is one that can stand on a list, and that the root signed it, as [Verify] does.
func VerifyRevocationEntry(entry RevocationEntry, root ed25519.PublicKey) error {
	digest, _, err := entry.unsigned()
	if err != nil {
		return err
	}
	if !entry.RootSignature.holds(digest, root) {
		return fmt.Errorf("revocation entry: %w", ErrNotRootSigned)
	}
	return nil
}

// unsigned is what the root signs of an entry that can stand on a list: the digest of the entry without root_signature, and the names of its members.
func (e RevocationEntry) unsigned() (digest [32]byte, covers []string, err error) {
	if err := e.check(e.onPublisherList()); err != nil {
		return digest, nil, err
	}
	e.RootSignature = nil
	text, err := jcs.Encode(e)
	if err != nil {
		return digest, nil, fmt.Errorf("revocation entry: %w", err)
	}
	members, err := Members(text)
	if err != nil {
		return digest, nil, fmt.Errorf("revocation entry: %w", err)
	}
	for _, m := range members {
		covers = append(covers, m.Name)
	}
	digest, err = Digest(text)
	return digest, covers, err
}

// RevocationList builds and signs a list. publisher is "" for the registry's own. It refuses what would make the list unverifiable: an entry of the other
// list, a registry_key entry that the root did not sign, and a signer that the list itself withdraws.
func RevocationList(publisher string, entries []RevocationEntry, registry Signer, registryKeysURL string, at time.Time) ([]byte, error) {
	if publisher != "" && !ValidSlug(publisher) {
		return nil, errors.New("revocation list: the publisher is not a slug")
	}
	if registry == nil {
		return nil, errors.New("revocation list: there is no signer, and an unsigned list is not served")
	}
	for i := range entries {
		e := &entries[i]
		if err := e.check(publisher != ""); err != nil {
			return nil, fmt.Errorf("revocation list, entry %d: %w", i+1, err)
		}
		if e.Scope != ScopeRegistryKey {
			continue
		}
		if e.RootSignature == nil {
			return nil, fmt.Errorf("revocation list, entry %d: the root signs the withdrawal of a registry key; sign it first", i+1)
		}
		if e.Subject == registry.Kid() && e.covers(at) {
			return nil, fmt.Errorf("revocation list, entry %d: it withdraws the key that would sign the list; sign with another registry key", i+1)
		}
	}
	list := struct {
		Registry      string            `json:"registry"`
		Publisher     string            `json:"publisher,omitempty"`
		IssuedAt      time.Time         `json:"issued_at"`
		MaxAgeSeconds int               `json:"max_age_seconds"`
		Entries       []RevocationEntry `json:"entries"`
	}{Family, publisher, at.UTC().Truncate(time.Microsecond), MaxRevocationAge, entries}
	text, err := jcs.Encode(list)
	if err != nil {
		return nil, fmt.Errorf("revocation list: %w", err)
	}
	return SignDocument(text, Signing{Signer: registry, SignedAt: at, KeysURL: registryKeysURL, KeysName: registryKeysName})
}

// covers reports whether t lies between the bounds of an entry that was checked: both inclusive, absent is unbounded (XP-INTEGRITY-016).
func (e *RevocationEntry) covers(t time.Time) bool {
	return window(e.RevokedFrom, e.RevokedUntil).covers(t)
}

// interval is a span of time with inclusive bounds; a zero bound is open.
type interval struct{ from, until time.Time }

// window reads the bounds of an entry. A bound that is no time is open: the entry then withdraws more, never less.
func window(from, until string) (w interval) {
	if t, ok := parseTime(from); ok {
		w.from = t
	}
	if t, ok := parseTime(until); ok {
		w.until = t
	}
	return w
}

func (w interval) covers(t time.Time) bool {
	return (w.from.IsZero() || !t.Before(w.from)) && (w.until.IsZero() || !t.After(w.until))
}
