package vault

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// ErrProfile says that an interest names a profile that is not loaded.
var ErrProfile = errors.New("the interest is written for a profile that this program does not have: give it the profile's file")

// Holding is one version of an interest with its profile. It is not changed once it is made, is safe for concurrent use, and prints as "[interest ID]".
type Holding struct {
	vault   *Vault
	doc     *interest.Interest
	profile *profile.Profile
}

// Hold seals a document at the place of its id.
func (v *Vault) Hold(doc *interest.Interest) ([]byte, error) {
	text, err := encodeDocument(doc)
	if err != nil {
		return nil, err
	}
	return v.Seal(documentPlace(doc.ID), text)
}

// Held opens what [Vault.Hold] sealed for an id. Errors match [ErrSeal] or [ErrProfile].
func (v *Vault) Held(id string, sealed []byte, p *profile.Set) (*Holding, error) {
	text, err := v.Unseal(documentPlace(id), sealed)
	if err != nil {
		return nil, err
	}
	doc, err := decodeDocument(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSeal, err)
	}
	if doc.ID != id {
		return nil, ErrSeal
	}
	with, ok := p.Profile(doc.Profile)
	if !ok {
		return nil, ErrProfile
	}
	return &Holding{vault: v, doc: doc, profile: with}, nil
}

func documentPlace(id string) string { return "interest/" + id }

// ID names this version of the interest.
func (h *Holding) ID() string { return h.doc.ID }

// Lineage is the same for all versions of the interest.
func (h *Holding) Lineage() string { return h.doc.Lineage }

// Version counts from 1 within the lineage.
func (h *Holding) Version() int { return h.doc.Version }

// Principal is the principal_ref, which never leaves: it tells the principals of one folder apart for whoever may read it.
func (h *Holding) Principal() string { return h.doc.PrincipalRef }

// Continues refuses a version under which sessions of an earlier one cannot go on.
func (h *Holding) Continues(old *Holding) error { return h.doc.Continues(old.doc) }

// Changed lists the keys behind which an earlier version has another value.
func (h *Holding) Changed(old *Holding) []string { return h.doc.Changed(old.doc) }

// ProfileID names the profile.
func (h *Holding) ProfileID() string { return h.doc.Profile }

// Profile is the profile that the interest is written for.
func (h *Holding) Profile() *profile.Profile { return h.profile }

// NotBefore and Expires bound the validity of the interest (§9).
func (h *Holding) NotBefore() time.Time { return h.doc.NotBefore }

// Expires is the end of the validity.
func (h *Holding) Expires() time.Time { return h.doc.ExpiresAt }

// View is what a session may know (sec. 4).
func (h *Holding) View(to interest.Towards) gidp.View { return h.doc.View(h.profile.Rules(), to) }

// Asks proposes claims for a session (sec. 12).
func (h *Holding) Asks(to interest.Towards) []wire.Claim { return h.doc.Asks(h.profile.Rules(), to) }

// Vet refuses claims that would tell an own private value (C-44).
func (h *Holding) Vet(to interest.Towards, claims []wire.Claim) error {
	return h.doc.Vet(h.profile.Rules(), to, claims)
}

// Value is the canonical value of an attribute that a session has decided to release, and of no other.
func (h *Holding) Value(key string) (jcs.Raw, bool) { return h.doc.Value(key) }

// Project derives a projection (§11.2). approved is the Principal's approval, where the authority asks for one.
func (h *Holding) Project(to interest.Projection, approved bool) (*wire.DiscoveryProjection, error) {
	return h.doc.Project(h.profile.Rules(), to, approved)
}

// Query is what a query to a provider shows of the interest: what a projection would, without an endpoint of its own. SEARCH permits it, PUBLISH_PROJECTION says nothing
// about it: no level follows from another (§16.2).
func (h *Holding) Query(expires time.Time) (*wire.DiscoveryProjection, error) {
	return h.QueryIn("", expires)
}

// QueryIn is [Holding.Query] to a provider inside a trust domain, "" for any other.
func (h *Holding) QueryIn(domain string, expires time.Time) (*wire.DiscoveryProjection, error) {
	doc := *h.doc
	doc.Authority = maps.Clone(doc.Authority)
	doc.Authority[gidp.PublishProjection] = gidp.Yes
	return doc.Project(h.profile.Rules(), interest.Projection{ProjectionID: "query", Endpoint: "https://querent.invalid/", ExpiresAt: expires, Domain: domain}, true)
}

// Retrieval derives what goes beside a projection or a query to a provider, inside a trust domain or with "" outside of any (sec. 12). A query shows what a projection would.
func (h *Holding) Retrieval(domain string) map[string][]string {
	return h.doc.Retrieval(h.profile.Rules(), domain)
}

// Row names the ledger row of a budgeted key and returns its budget; false when the key has none.
func (h *Holding) Row(key string) (gidp.LedgerKey, interest.Budget, bool) {
	budget, ok := h.doc.Budgets[key]
	if !ok {
		return gidp.LedgerKey{}, interest.Budget{}, false
	}
	return h.doc.Row(key, h.profile.Rules().Keys[key]), budget, true
}

// Budgeted lists the keys that have a budget, in order.
func (h *Holding) Budgeted() []string { return slices.Sorted(maps.Keys(h.doc.Budgets)) }

// Same reports whether another version holds the same value under a key, so that what was told of the one is told of the other (L-6).
func (h *Holding) Same(other *Holding, key string) bool {
	a, held := h.doc.Value(key)
	b, also := other.doc.Value(key)
	return held && also && string(a) == string(b)
}

// Authority is what the agent may do at each level (§16).
func (h *Holding) Authority() gidp.Authority {
	return h.doc.View(h.profile.Rules(), interest.Towards{}).Authority
}

// Purpose is the code of the interest's category for a SessionOpen: its action when the profile lists it, else the profile's first code.
func (h *Holding) Purpose() string {
	codes := h.profile.Purposes
	if slices.Contains(codes, h.doc.Wants.Action) || len(codes) == 0 {
		return h.doc.Wants.Action
	}
	return codes[0]
}

// Next is the transition of the interest with its duties in order (§17.1).
func (h *Holding) Next(from interest.State, c interest.Change, now time.Time) (interest.State, []interest.Duty, error) {
	return h.doc.Next(from, c, now)
}

// Document is a copy of the interest with its values, for the Principal's own eyes.
func (h *Holding) Document() *interest.Interest {
	text, err := encodeDocument(h.doc)
	if err != nil {
		return nil
	}
	doc, err := decodeDocument(text)
	if err != nil {
		return nil
	}
	return doc
}

// Stated is what the interest is about, where it comes from, and whether an inferred one has been confirmed.
func (h *Holding) Stated() (wants interest.Wants, origin interest.Origin, confirmed bool) {
	return h.doc.Wants, h.doc.Origin, h.doc.Confirmed
}

// Text is the document as JSON, with its values, for the Principal's own eyes.
func (h *Holding) Text() jcs.Raw {
	text, err := encodeDocument(h.doc)
	if err != nil {
		return nil
	}
	return text
}

// String returns "[interest ID]".
func (h Holding) String() string {
	if h.doc == nil {
		return "[interest]"
	}
	return "[interest " + h.doc.ID + "]"
}

// GoString is [Holding.String].
func (h Holding) GoString() string { return h.String() }

// Format prints [Holding.String] whatever the verb is.
func (h Holding) Format(f fmt.State, _ rune) { io.WriteString(f, h.String()) }

// MarshalText returns [Holding.String], for logs and JSON.
func (h Holding) MarshalText() ([]byte, error) { return []byte(h.String()), nil }
