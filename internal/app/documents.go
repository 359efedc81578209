package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/jcs"
)

// Ages of documents. A manifest lives 15 minutes and a list is relied on for as long; neither is handed out older than maxAge, so that 600 s are left for a
// cache of 300 s and for use. From renewAge on one caller makes the next one while the others still get this one.
const (
	renewAge = 240 * time.Second
	maxAge   = 300 * time.Second
	retryAge = 5 * time.Second // of what could not be made or signed
)

// document is one served document with what is needed to make it anew. While it is fresh, getting it is one atomic load.
type document struct {
	mu   sync.Mutex // held by the one who makes it
	made atomic.Pointer[made]
}

// made is one version of a document, or why there is none. It is immutable.
type made struct {
	document    *bizhttp.Document
	err         error
	registry    *registryState // what it was signed with; another one makes it stale
	at          time.Time
	renew, ends time.Time
}

// usable reports whether a version may still be handed out, fresh whether nobody needs to make another one.
func (m *made) usable(now time.Time, registry *registryState) bool {
	return m != nil && m.registry == registry && !now.Before(m.at) && now.Before(m.ends)
}

func (m *made) fresh(now time.Time, registry *registryState) bool {
	return m.usable(now, registry) && now.Before(m.renew)
}

func (d *document) get(now time.Time, registry *registryState, build func() *made) (*bizhttp.Document, error) {
	m := d.made.Load()
	if m.fresh(now, registry) {
		return m.document, m.err
	}
	if !d.mu.TryLock() {
		if m.usable(now, registry) {
			return m.document, m.err
		}
		d.mu.Lock()
	}
	defer d.mu.Unlock()
	if m = d.made.Load(); !m.fresh(now, registry) {
		m = build()
		m.registry, m.at = registry, now
		d.made.Store(m)
	}
	return m.document, m.err
}

func serve(body []byte, now time.Time) *made {
	sum := sha256.Sum256(body)
	return &made{document: &bizhttp.Document{Body: body, ETag: `"` + hex.EncodeToString(sum[:16]) + `"`}, renew: now.Add(renewAge), ends: now.Add(maxAge)}
}

func refused(err error, now time.Time) *made {
	return &made{err: err, renew: now.Add(retryAge), ends: now.Add(retryAge)}
}

// until ends a version at an instant at which what it says stops being true.
func (m *made) until(t time.Time) *made {
	if t.Before(m.renew) {
		m.renew = t
	}
	if t.Before(m.ends) {
		m.ends = t
	}
	return m
}

// Manifest returns the manifest of a publisher, signed not more than 300 s ago, or with its unsigned_reason.
func (r *Registry) Manifest(_ context.Context, slug string) (*bizhttp.Document, error) {
	s, e, err := r.anchored(slug)
	if err != nil {
		return nil, err
	}
	now := r.Now()
	return e.manifest.get(now, s.registry, func() *made { return r.makeManifest(e, s.registry, now) })
}

// anchored is entry for documents that hold absolute URLs. The HTTP surface answers no_anchor before it asks.
func (r *Registry) anchored(slug string) (*state, *entry, error) {
	if r.site.Origin == "" {
		return nil, nil, bizhttp.ErrUnavailable
	}
	return r.entry(slug)
}

func (r *Registry) makeManifest(e *entry, registry *registryState, now time.Time) *made {
	manifest := e.publication.Manifest(r.site, now)
	m := r.signedManifest(e.slug, manifest, registry, now)
	if m == nil {
		manifest.UnsignedReason = business.UnsignedKeyUnavailable
		body, err := jcs.Encode(manifest)
		if err != nil {
			return r.broken("manifest", e.slug, err, now)
		}
		m = serve(body, now).until(now.Add(retryAge))
	}
	if proof := e.publication.Standing.Proof; proof != nil && now.Before(proof.ValidUntil) {
		m.until(proof.ValidUntil)
	}
	return m
}

// signedManifest is nil when no registry key can sign.
func (r *Registry) signedManifest(slug string, manifest *business.Manifest, registry *registryState, now time.Time) *made {
	signer := r.registrySigner(registry.keys, now)
	if signer == nil {
		return nil
	}
	body, err := jcs.Encode(manifest)
	if err == nil {
		body, err = business.SignDocument(body, business.Signing{
			Signer: signer, SignedAt: now, ExpiresAt: now.Add(business.ManifestLife), KeysURL: r.site.RegistryKeysURL(), KeysName: "registry_keys_url",
		})
	}
	if err != nil {
		r.log.Error("manifest not signed", "publisher", slug, "cause", err.Error())
		return nil
	}
	return serve(body, now).until(lifeOf(registry.keys, signer.Kid()))
}

func lifeOf(keys []RegistryKeyRow, kid string) time.Time {
	i := slices.IndexFunc(keys, func(k RegistryKeyRow) bool { return k.Entry.Kid == kid })
	return keys[i].notAfter()
}

func (r *Registry) broken(what, slug string, cause error, now time.Time) *made {
	r.log.Error("document not made", "document", what, "publisher", slug, "cause", cause.Error())
	return refused(bizhttp.ErrUnavailable, now)
}

// PublisherKeys returns jwks.json: every key the publisher ever had, each attested by a registry key that is listed, or ErrKeysUnavailable.
func (r *Registry) PublisherKeys(_ context.Context, slug string) (*bizhttp.Document, error) {
	s, e, err := r.anchored(slug)
	if err != nil {
		return nil, err
	}
	return r.keySet(s, e, r.Now())
}

func (r *Registry) keySet(s *state, e *entry, now time.Time) (*bizhttp.Document, error) {
	return e.jwks.get(now, s.registry, func() *made {
		set := business.PublisherKeys{Keys: make([]business.PublisherKey, 0, len(e.keys))}
		for _, k := range e.keys {
			a := k.Entry.Attestation
			if a == nil || !slices.ContainsFunc(s.registry.keys, func(row RegistryKeyRow) bool { return row.Entry.Kid == a.RegistryKid }) {
				r.log.Error("key set not whole", "publisher", e.slug, "kid", k.Entry.Kid)
				return refused(bizhttp.ErrKeysUnavailable, now)
			}
			attestation := *a
			attestation.RegistryKeysURL = r.site.RegistryKeysURL() // outside of the signature; the origin may be another one than at the time
			k.Entry.Attestation = &attestation
			set.Keys = append(set.Keys, k.Entry)
		}
		body, err := jcs.Encode(set)
		if err != nil {
			return refused(bizhttp.ErrKeysUnavailable, now)
		}
		return serve(body, now)
	})
}

// PublisherRevocations returns the publisher's signed list, issued not more than 300 s ago, or ErrListUnavailable.
func (r *Registry) PublisherRevocations(_ context.Context, slug string) (*bizhttp.Document, error) {
	s, e, err := r.anchored(slug)
	if err != nil {
		return nil, err
	}
	now := r.Now()
	return e.list.get(now, s.registry, func() *made { return r.makeList(slug, e.revocations, s.registry, now) })
}

// RegistryRevocations returns the registry's own signed list under the same conditions.
func (r *Registry) RegistryRevocations(context.Context) (*bizhttp.Document, error) {
	s, err := r.anchoredRegistry()
	if err != nil {
		return nil, err
	}
	now := r.Now()
	return s.registry.list.get(now, s.registry, func() *made { return r.makeList("", s.registry.revocations, s.registry, now) })
}

func (r *Registry) anchoredRegistry() (*state, error) {
	if r.site.Origin == "" {
		return nil, bizhttp.ErrUnavailable
	}
	return r.current()
}

// makeList signs a list or makes none: unsigned it would read as if nothing had ever been revoked (XP-INTEGRITY-011).
func (r *Registry) makeList(slug string, entries []business.RevocationEntry, registry *registryState, now time.Time) *made {
	signer := r.registrySigner(registry.keys, now)
	if signer == nil {
		return refused(bizhttp.ErrListUnavailable, now)
	}
	body, err := business.RevocationList(slug, entries, signer, r.site.RegistryKeysURL(), now)
	if err != nil {
		r.log.Error("revocation list not signed", "publisher", slug, "cause", err.Error())
		return refused(bizhttp.ErrListUnavailable, now)
	}
	return serve(body, now).until(lifeOf(registry.keys, signer.Kid()))
}

// RegistryKeys returns registry-keys.json: the root and every registry key there ever was.
func (r *Registry) RegistryKeys(context.Context) (*bizhttp.Document, error) {
	s, err := r.anchoredRegistry()
	if err != nil {
		return nil, err
	}
	now := r.Now()
	return s.registry.keysDocument.get(now, s.registry, func() *made {
		doc := business.RegistryKeys{Registry: business.Family, IssuedAt: now, MaxAgeSeconds: business.MaxRevocationAge, Keys: []business.RegistryKey{}}
		for _, k := range s.registry.keys {
			doc.Keys = append(doc.Keys, k.Entry)
		}
		body, err := jcs.Encode(doc)
		if err != nil {
			return r.broken("registry keys", "", err, now)
		}
		return serve(body, now)
	})
}
