package vault

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"sayso/gidp"
	"sayso/gidp/mandate"
	"sayso/jcs"
	"sayso/jwk"
)

// names are the identifying keys that a name of a mandate is taken from: the first one that is held as one string.
var names = map[string][]string{
	mandate.PrincipalName:  {gidp.PrincipalIdentity, "person_name"},
	mandate.OrganisationID: {"registration_id", "organisation_name"},
}

// Mandate is the evidence of authority for one session (§16.2): the levels that are true, bound to the key of the session until an instant. It is signed by a key that
// this folder derives for the interest, the session and the key of the session, and that nothing else is signed with, so that two sessions cannot be linked by it. A peer
// chooses the id of a session, and may choose the same one at two references; the key of the session is this side's own and fresh. The names it could disclose
// stay digests; [Holding.MandateNames] says which of them a grant covers. An agent with no level of its own has none: the zero Mandate, which presents "".
func (h *Holding) Mandate(session string, sessionKey ed25519.PublicKey, until, now time.Time, random io.Reader) (mandate.Mandate, error) {
	var levels []gidp.Level
	authority := h.Authority()
	for l := gidp.Observe; l < gidp.Commit; l++ {
		if authority.At(l) == gidp.Yes {
			levels = append(levels, l)
		}
	}
	if len(levels) == 0 {
		return mandate.Mandate{}, nil
	}
	key, err := h.vault.derivedKey("mandate key", h.doc.ID, session, string(sessionKey))
	if err != nil {
		return mandate.Mandate{}, err
	}
	id := func(purpose string) string {
		sum := h.vault.MAC(purpose, h.doc.ID, session, string(sessionKey))
		return hex.EncodeToString(sum[:16])
	}
	var hidden []mandate.Disclosure
	for _, name := range []string{mandate.PrincipalName, mandate.OrganisationID} {
		var salt [16]byte
		if _, err := io.ReadFull(random, salt[:]); err != nil {
			return mandate.Mandate{}, fmt.Errorf("draw a salt: %w", err)
		}
		d := mandate.Disclosure{Salt: jwk.EncodeBase64URL(salt[:])}
		if _, value, ok := h.name(name); ok {
			d.Name, d.Value = name, value
		}
		hidden = append(hidden, d)
	}
	return mandate.Issue(mandate.Claims{Issuer: id("mandate iss"), Audience: mandate.Audience(session), Confirm: sessionKey, Authority: levels,
		IssuedAt: now.Truncate(time.Second), Expires: until.Truncate(time.Second), ID: id("mandate jti")}, hidden, key)
}

// MandateNames lists the names of a mandate that are values of these keys, for [mandate.Mandate.Present] under a grant that covers them.
func (h *Holding) MandateNames(granted []string) []string {
	var out []string
	for _, name := range []string{mandate.PrincipalName, mandate.OrganisationID} {
		if key, _, ok := h.name(name); ok && slices.Contains(granted, key) {
			out = append(out, name)
		}
	}
	return out
}

// maxName is the longest name that a mandate can hold.
const maxName = 256

// name returns the key that a name is taken from, and its value. A key that the policy never gives away is not taken.
func (h *Holding) name(name string) (key, value string, ok bool) {
	for _, key := range names[name] {
		raw, held := h.doc.Attributes[key]
		if !held || !h.profile.Rules().Identifying(key) || h.barred(key) {
			continue
		}
		text, ok := jcs.Text(raw)
		if ok && text != "" && len(text) <= maxName && !strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) }) {
			return key, text, true
		}
	}
	return "", "", false
}

// barred reports whether some counterparty gets nothing of a key whatever it does.
func (h *Holding) barred(key string) bool {
	for _, class := range h.doc.Policy.Entries[key] {
		if class.Never {
			return true
		}
	}
	return false
}
