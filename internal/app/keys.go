package app

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"sayso/business"
	"sayso/jcs"
	"sayso/jwk"
)

// noAnchorKeysURL stands in attestations made while no public origin is configured. The member is outside the signature, and what is served names the
// origin of the day, so the text matters to nobody.
const noAnchorKeysURL = "/.well-known/x-protocol/registry-keys.json"

func (r *Registry) registryKeysURL() string {
	if r.site.Origin == "" {
		return noAnchorKeysURL
	}
	return r.site.RegistryKeysURL()
}

// signsAt reports whether a registry key may sign at now: not revoked, and inside its life.
func (k *RegistryKeyRow) signsAt(now time.Time) bool {
	created, err := time.Parse(time.RFC3339, k.Entry.CreatedAt)
	return k.Entry.Role == business.RoleSigning && k.RevokedAt.IsZero() && err == nil && !now.Before(created) && now.Before(k.notAfter())
}

// notAfter is the end of the key's life, the zero time when the entry does not say it.
func (k *RegistryKeyRow) notAfter() time.Time {
	t, err := time.Parse(time.RFC3339, k.Entry.NotAfter)
	if err != nil {
		return time.Time{}
	}
	return t
}

// registrySigner opens the newest registry key that may sign at now and whose private half is held here. nil means that there is none.
func (r *Registry) registrySigner(rows []RegistryKeyRow, now time.Time) business.Signer {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b RegistryKeyRow) int { return b.InstalledAt.Compare(a.InstalledAt) })
	for i := range rows {
		if !rows[i].signsAt(now) {
			continue
		}
		signer, err := r.keys.RegistrySigner(rows[i].Entry.Kid)
		if err == nil && jwk.EncodeBase64URL(signer.Public()) == rows[i].Entry.X {
			return signer
		}
		if !errors.Is(err, fs.ErrNotExist) {
			r.log.Error("registry key not usable", "kid", rows[i].Entry.Kid, "cause", errText(err))
		}
	}
	return nil
}

func errText(err error) string {
	if err == nil {
		return "the private half belongs to another key"
	}
	return err.Error()
}

func registryKeyUnavailable() *Error {
	return refusal(KindUnavailable, "registry_key_unavailable", "no registry key can sign now: it is missing, revoked or past not_after").
		next("install a new registry key that the root has signed")
}

// attest makes the row of a publisher key, attested by the registry key of now.
func (r *Registry) attest(ctx context.Context, rd Reader, slug string, key business.Signer, created, now time.Time) (*KeyRow, error) {
	rows, err := rd.RegistryKeys(ctx)
	if err != nil {
		return nil, err
	}
	registry := r.registrySigner(rows, now)
	if registry == nil {
		return nil, registryKeyUnavailable()
	}
	entry, err := business.Attest(key.Public(), key.Kid(), slug, bound(created), registry, r.registryKeysURL(), now)
	if err != nil {
		return nil, err
	}
	return &KeyRow{Publisher: slug, Entry: entry, CreatedAt: created}, nil
}

// keyMaker makes at most one key, however often the act that needs it runs. The file comes before the row: a key that no row names is harmless, a row
// without a key would be a publisher that cannot sign.
func (r *Registry) keyMaker(slug string) func() (business.Signer, error) {
	return sync.OnceValues(func() (business.Signer, error) {
		signer, err := r.keys.NewPublisherKey(slug)
		if err != nil {
			return nil, &Error{Kind: KindUnavailable, Code: "key_not_stored", Message: "a new key could not be stored; nothing was changed", cause: err}
		}
		return signer, nil
	})
}

// ensureKey gives a publisher that has no signing key one.
func (r *Registry) ensureKey(ctx context.Context, c *change, make func() (business.Signer, error)) error {
	keys, err := c.Keys(ctx, c.row.Slug)
	if err != nil || slices.ContainsFunc(keys, KeyRow.signs) {
		return err
	}
	return r.addKey(ctx, c, keys, make)
}

// Key sets and lists keep what they ever held, and readers take at most business.MaxDocument of either. What a leaked token of an owner adds is bounded, so
// that it cannot make them unreadable for good; operators are not.
const (
	maxKeysADay = 10
	maxOwnList  = business.MaxDocument / 2 // bytes of the entries of a list
)

// keysLeft refuses an owner another key after maxKeysADay within a day.
func (c *change) keysLeft(keys []KeyRow) error {
	recent := 0
	for _, k := range keys {
		if c.at.Sub(k.CreatedAt) < 24*time.Hour {
			recent++
		}
	}
	if c.actor.role == roleOwner && recent >= maxKeysADay {
		e := refusal(KindLimit, "key_limit", "%s got %s within a day, and a key set keeps every key", c.row.Slug, counted(recent, "key")).next("wait a day, or have an operator do it")
		e.RetryAfter = time.Hour
		return e
	}
	return nil
}

// entriesLeft refuses an owner another entry on a list that is half as long as readers take.
func (c *change) entriesLeft(ctx context.Context, slug string) error {
	if c.actor.role != roleOwner {
		return nil
	}
	entries, err := c.Revocations(ctx, slug)
	if err != nil {
		return err
	}
	text, err := jcs.Encode(entries)
	if err == nil && len(text) > maxOwnList {
		err = refusal(KindLimit, "list_limit", "the revocation list of %s has %d entries and is near the size that readers take", slug, len(entries)).
			next("have an operator do it, or withdraw the publisher")
	}
	return err
}

func (r *Registry) addKey(ctx context.Context, c *change, keys []KeyRow, make func() (business.Signer, error)) error {
	if err := c.keysLeft(keys); err != nil {
		return err
	}
	signer, err := make()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(keys, func(k KeyRow) bool { return k.Entry.Kid == signer.Kid() }) {
		return refusal(KindUnavailable, "kid_taken", "the new key got an id that was used already; nothing was changed").next("try again")
	}
	row, err := r.attest(ctx, c, c.row.Slug, signer, c.at, c.at)
	if err != nil {
		return err
	}
	c.audit.Target = signer.Kid()
	return c.PutKey(ctx, row)
}

func (k KeyRow) signs() bool { return k.RetiredAt.IsZero() && k.RevokedAt.IsZero() }

// RotateKey gives a publisher a new signing key; the old one is retired and stays listed, so that what it signed still verifies. The audit row names the new key.
func (r *Registry) RotateKey(ctx context.Context, actor Actor, slug string, in ActInput) (*Receipt, error) {
	make := r.keyMaker(slug)
	return r.state(ctx, actor, OpRotateKey, slug, in, func(c *change) error {
		keys, err := c.Keys(ctx, slug)
		if err != nil {
			return err
		}
		for i := range keys {
			if keys[i].signs() {
				keys[i].RetiredAt = c.at
				if err := c.PutKey(ctx, &keys[i]); err != nil {
					return err
				}
			}
		}
		return r.addKey(ctx, c, keys, make)
	})
}

// RevokeInput says why and for which time something is revoked.
type RevokeInput struct {
	Code      string    // one of business.Reasons, published on the list
	From      time.Time // of signed_at; zero = unbounded
	Until     time.Time // inclusive; zero = unbounded
	Note      string    // for the audit trail, never published
	Operation string
}

func (in RevokeInput) entry() business.RevocationEntry {
	return business.RevocationEntry{Reason: in.Code, RevokedFrom: bound(in.From), RevokedUntil: bound(in.Until)}
}

// RevokeKey puts a key of the publisher on its list; kid "" is the key in use. Revoking that one makes and attests its successor in the same commit.
func (r *Registry) RevokeKey(ctx context.Context, actor Actor, slug, kid string, in RevokeInput) (*Receipt, error) {
	make := r.keyMaker(slug)
	return r.revoke(ctx, actor, OpRevokeKey, slug, in, func(c *change, entry *business.RevocationEntry) error {
		keys, err := c.Keys(ctx, slug)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(keys, func(k KeyRow) bool { return k.Entry.Kid == kid || kid == "" && k.signs() })
		if i < 0 {
			return refusal(KindNotFound, "unknown_key", "%s has no such key", slug).next("list the keys of the publisher")
		}
		inUse := keys[i].signs()
		if inUse && c.row.Lifecycle != business.Withdrawn {
			if err := r.addKey(ctx, c, keys, make); err != nil {
				return err
			}
		}
		if keys[i].RevokedAt.IsZero() {
			keys[i].RevokedAt = c.at
		}
		if inUse {
			keys[i].RetiredAt = c.at
		}
		entry.Scope, entry.Kid = business.ScopeKey, keys[i].Entry.Kid
		c.audit.Target = entry.Kid
		return c.PutKey(ctx, &keys[i])
	})
}

// RevokeEntity withdraws what one record ever said.
func (r *Registry) RevokeEntity(ctx context.Context, actor Actor, slug, typ, id string, in RevokeInput) (*Receipt, error) {
	if !business.ValidType(typ) || !business.ValidID(id) {
		return nil, invalid("invalid_entity", "a record is named by its type and id")
	}
	return r.revoke(ctx, actor, OpRevokeEntity, slug, in, func(c *change, entry *business.RevocationEntry) error {
		entry.Scope, entry.EntityKey = business.ScopeEntity, business.EntityKey(typ, id)
		c.audit.Target = entry.EntityKey
		return nil
	})
}

// RevokeDigest withdraws one signed document by its attestation's digest.
func (r *Registry) RevokeDigest(ctx context.Context, actor Actor, slug, digest string, in RevokeInput) (*Receipt, error) {
	return r.revoke(ctx, actor, OpRevokeDigest, slug, in, func(c *change, entry *business.RevocationEntry) error {
		entry.Scope, entry.Digest = business.ScopeDigest, digest
		c.audit.Target = digest
		return nil
	})
}

func (r *Registry) revoke(ctx context.Context, actor Actor, op Operation, slug string, in RevokeInput, f func(*change, *business.RevocationEntry) error) (*Receipt, error) {
	if err := plainText("reason", in.Note, false); err != nil {
		return nil, err
	}
	a := act{op: op, slug: slug, operation: in.Operation, reason: in.Note, final: true}
	return r.commit(ctx, actor, a, func(c *change) error {
		entry := in.entry()
		entry.CreatedAt = bound(c.at)
		if err := f(c, &entry); err != nil {
			return err
		}
		if err := checkEntry(&entry, slug); err != nil {
			return err
		}
		if err := c.entriesLeft(ctx, slug); err != nil {
			return err
		}
		return c.AppendRevocation(ctx, slug, &entry)
	})
}

// checkEntry refuses what would make a list unsignable for ever: a list keeps every entry it ever had. list is a slug, or "" for the registry's.
func checkEntry(e *business.RevocationEntry, list string) error {
	if !slices.Contains(business.Reasons, e.Reason) {
		return invalid("invalid_reason", "the reason on a revocation list is one of error, key_compromise, other, superseded, withdrawn")
	}
	if e.Scope == business.ScopeDigest {
		if raw, err := jwk.DecodeBase64URL(e.Digest); err != nil || len(raw) != 32 {
			return invalid("invalid_digest", "a digest is 32 bytes in base64url without padding, as attestation.digest has it")
		}
	}
	if e.RevokedFrom != "" && e.RevokedUntil != "" {
		from, err := time.Parse(time.RFC3339, e.RevokedFrom)
		until, err2 := time.Parse(time.RFC3339, e.RevokedUntil)
		if err != nil || err2 != nil || until.Before(from) {
			return invalid("invalid_window", "the revoked time ends before it begins")
		}
	}
	if registryScope := e.Scope == business.ScopeRegistryKey || e.Scope == business.ScopePublisher; registryScope != (list == "") {
		return invalid("invalid_scope", "an entry of scope %s does not belong on this list", e.Scope)
	}
	return nil
}
