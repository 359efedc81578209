package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sayso/business"
	"sayso/jwk"
)

// PrepareRegistryKey makes a registry key and returns its entry for the root to sign. Nothing is signed with the key before the signed entry is installed.
func (r *Registry) PrepareRegistryKey(ctx context.Context, actor Actor, operation string) (*business.RegistryKey, error) {
	if err := actor.may(OpPrepareRegistryKey, ""); err != nil {
		return nil, err
	}
	var entry business.RegistryKey
	newKey := sync.OnceValues(r.keys.NewRegistryKey) // at most one, however often the act runs
	receipt, err := r.commit(ctx, actor, act{op: OpPrepareRegistryKey, operation: operation}, func(c *change) error {
		signer, err := newKey()
		if err != nil {
			return &Error{Kind: KindUnavailable, Code: "key_not_stored", Message: "a new key could not be stored; nothing was changed", cause: err}
		}
		entry, err = NewRegistryEntry(signer, c.at)
		c.audit.Target = entry.Kid
		return err
	})
	if err != nil {
		return nil, err
	}
	if receipt.Repeated {
		return nil, refusal(KindConflict, "operation_done", "this operation made a key before; its entry is shown once").next("prepare another key under a new operation")
	}
	return &entry, nil
}

// InstallRegistryKey takes an entry that the pinned root has signed and whose private half is held here. From now on it signs; the keys of all publishers
// are attested anew with it. The older keys keep their not_after.
func (r *Registry) InstallRegistryKey(ctx context.Context, actor Actor, entry business.RegistryKey, operation string) (*Receipt, error) {
	if err := actor.may(OpInstallRegistryKey, ""); err != nil {
		return nil, err
	}
	if err := rootSigned(entry.RootSignature, business.VerifyEntry(entry, business.Family, r.keys.Root().Public)); err != nil {
		return nil, err
	}
	signer, err := r.keys.RegistrySigner(entry.Kid)
	if err != nil || jwk.EncodeBase64URL(signer.Public()) != entry.X {
		return nil, refusal(KindRefused, "key_not_held", "the private half of %s is not held by this registry", entry.Kid).next("install the entry of a key that was prepared here")
	}
	receipt, err := r.commit(ctx, actor, act{op: OpInstallRegistryKey, operation: operation, target: entry.Kid}, func(c *change) error {
		rows, err := c.RegistryKeys(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(rows, func(k RegistryKeyRow) bool { return k.Entry.Kid == entry.Kid }) {
			return refusal(KindConflict, "key_installed", "the registry key %s was installed before", entry.Kid)
		}
		row := &RegistryKeyRow{Entry: entry, InstalledAt: c.at}
		for _, k := range rows { // the newest signs, also when the clock went back
			if !row.InstalledAt.After(k.InstalledAt) {
				row.InstalledAt = k.InstalledAt.Add(time.Microsecond)
			}
		}
		if !row.signsAt(c.at) {
			return refusal(KindRefused, "key_not_current", "the registry key %s cannot sign now: look at its created_at and not_after", entry.Kid)
		}
		return c.PutRegistryKey(ctx, row)
	})
	if err != nil {
		return nil, err
	}
	return receipt, r.reattest(ctx)
}

// RevokeRegistryKey puts an entry that the root has signed on the registry's list. Another registry key has to be there to sign that list.
func (r *Registry) RevokeRegistryKey(ctx context.Context, actor Actor, entry business.RevocationEntry, operation string) (*Receipt, error) {
	if err := actor.may(OpRevokeRegistryKey, ""); err != nil {
		return nil, err
	}
	if err := r.checkRootRevocation(entry); err != nil {
		return nil, err
	}
	receipt, err := r.commit(ctx, actor, act{op: OpRevokeRegistryKey, operation: operation, target: entry.Subject, reason: entry.Reason}, func(c *change) error {
		rows, err := c.RegistryKeys(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(k RegistryKeyRow) bool {
			return k.Entry.Kid == entry.Subject && k.Entry.Role == business.RoleSigning
		})
		if i < 0 {
			return refusal(KindNotFound, "unknown_key", "the registry has no such key")
		}
		if rows[i].RevokedAt.IsZero() {
			rows[i].RevokedAt = c.at
		}
		if r.registrySigner(rows, c.at) == nil {
			return refusal(KindRefused, "last_registry_key", "no other registry key could sign the list that withdraws this one").next("install a new registry key first")
		}
		if err := c.PutRegistryKey(ctx, &rows[i]); err != nil {
			return err
		}
		return c.AppendRevocation(ctx, "", &entry)
	})
	if err != nil {
		return nil, err
	}
	return receipt, r.reattest(ctx)
}

// checkRootRevocation refuses an entry that is no withdrawal of a registry key under the root's signature.
func (r *Registry) checkRootRevocation(e business.RevocationEntry) error {
	if e.Scope != business.ScopeRegistryKey {
		return invalid("invalid_entry", "the entry does not withdraw a registry key").next("make it with the root")
	}
	return rootSigned(e.RootSignature, business.VerifyRevocationEntry(e, r.keys.Root().Public))
}

// rootSigned tells an entry that the root has to sign first, or that nobody could read, from one that another key signed or somebody changed.
func rootSigned(signature *business.RootSignature, err error) error {
	switch {
	case err == nil:
		return nil
	case signature == nil:
		return invalid("invalid_entry", "the entry does not carry the root's signature").next("sign it with the root first")
	case errors.Is(err, business.ErrNotRootSigned):
		return refusal(KindRefused, "root_signature_invalid", "the pinned root has not signed this entry").next("sign exactly this entry with the root that %s names", PinFile)
	}
	return invalid("invalid_entry", "%s", err)
}

// reattest attests the keys of every publisher with the registry key of now, one commit for each publisher. What a crash leaves undone is done by the next
// call, which Run makes when it starts. A publisher whose keys are attested by that key already costs one read.
func (r *Registry) reattest(ctx context.Context) error {
	var signer business.Signer
	var slugs []string
	err := r.store.View(ctx, func(rd Reader) error {
		rows, err := rd.RegistryKeys(ctx)
		if err != nil {
			return err
		}
		if signer, slugs = r.registrySigner(rows, r.Now()), nil; signer == nil {
			return registryKeyUnavailable()
		}
		if signer.Kid() != newest(rows, r.Now()) {
			return nil // the process that holds the newest key does it; with an older one the two would undo each other's work
		}
		return eachPublisher(ctx, rd, func(row *PublisherRow) error {
			keys, err := rd.Keys(ctx, row.Slug)
			if slices.ContainsFunc(keys, func(k KeyRow) bool { return staleAttestation(k, signer) }) {
				slugs = append(slugs, row.Slug)
			}
			return err
		})
	})
	if err != nil {
		return r.fault(act{op: "reattest"}, err)
	}
	for _, slug := range slugs {
		if err := r.reattestOne(ctx, slug, signer); err != nil {
			return err
		}
	}
	return nil
}

// newest is the kid of the registry key that was installed last of those that may sign at now, wherever its private half is held.
func newest(rows []RegistryKeyRow, now time.Time) string {
	kid, installed := "", time.Time{}
	for i := range rows {
		if k := &rows[i]; k.signsAt(now) && k.InstalledAt.After(installed) {
			kid, installed = k.Entry.Kid, k.InstalledAt
		}
	}
	return kid
}

func staleAttestation(k KeyRow, signer business.Signer) bool {
	return k.Entry.Attestation == nil || k.Entry.Attestation.RegistryKid != signer.Kid()
}

func (r *Registry) reattestOne(ctx context.Context, slug string, signer business.Signer) error {
	_, err := r.commit(ctx, theRegistry, act{op: OpRotateKey, slug: slug, target: "attestations by " + signer.Kid(), final: true}, func(c *change) error {
		c.audit.Action = "reattest"
		keys, err := c.Keys(ctx, slug)
		if err != nil {
			return err
		}
		for i := range keys {
			if !staleAttestation(keys[i], signer) {
				continue
			}
			if err := attestAgain(&keys[i], signer, r.registryKeysURL(), c.at); err != nil {
				return err
			}
			if err := c.PutKey(ctx, &keys[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func attestAgain(k *KeyRow, signer business.Signer, keysURL string, now time.Time) error {
	public, err := jwk.DecodeBase64URL(k.Entry.X)
	if err != nil {
		return err
	}
	created := bound(k.CreatedAt)
	if k.Entry.Attestation != nil {
		created = k.Entry.Attestation.KeyCreatedAt
	}
	k.Entry, err = business.Attest(public, k.Entry.Kid, k.Publisher, created, signer, keysURL, now)
	return err
}

// eachPublisher calls f for every publisher in the order of slugs.
func eachPublisher(ctx context.Context, rd Reader, f func(*PublisherRow) error) error {
	const page = 500
	for after := ""; ; {
		rows, err := rd.Publishers(ctx, after, page)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := f(&rows[i]); err != nil {
				return err
			}
			after = rows[i].Slug
		}
		if len(rows) < page {
			return nil
		}
	}
}
