package business

import (
	"errors"
	"strconv"
	"time"
)

// listState is one revocation list as evidence. A list that is not verified speaks in neither direction (X§8.7).
type listState struct {
	fault    string // why it cannot vouch that nothing else is withdrawn, "" when it can
	verified bool   // its entries count, even if the list is stale
	issuedAt time.Time
	maxAge   time.Duration
	kid      string
	entries  []listed
}

// listed is one entry, read for matching.
type listed struct {
	scope, target string
	matchable     bool // the scope is known on this list and its target can be read
	window        interval
	text          text
}

// list reads and verifies a list. publisher is "" for the registry's own; over is the registry's list, which may withdraw the signer of a publisher's.
func (v *verifier) list(f *Fetched, publisher string, over *listState) listState {
	switch {
	case f == nil:
		return listState{fault: "list_missing"}
	case errors.Is(f.Err, ErrNetRefused):
		return listState{fault: "net_refused"}
	case f.Err != nil:
		return listState{fault: "list_unavailable"}
	}
	d, err := read(f.Body)
	if err != nil || d.kind != KindRevocations {
		return listState{fault: "list_malformed"}
	}
	l := listState{kid: d.block.str("kid")}
	if !l.read(d, over != nil) {
		return listState{fault: "list_malformed"}
	}
	if l.fault = v.listFault(d, &l, publisher, over); l.fault != "" {
		return l
	}
	l.verified = true
	switch age := v.e.At.Sub(l.issuedAt); {
	case age > l.maxAge:
		l.fault = "list_stale"
	case age < -v.e.FutureSkew:
		l.fault = "list_in_future"
	}
	return l
}

// read takes the members and the entries; false when one that is needed is missing or is something else.
func (l *listState) read(d *document, publisherList bool) bool {
	var ok bool
	if l.issuedAt, ok = parseTime(d.top.str("issued_at")); !ok {
		return false
	}
	seconds, err := strconv.ParseUint(string(d.top.get("max_age_seconds")), 10, 31)
	if err != nil {
		return false
	}
	l.maxAge = time.Duration(seconds) * time.Second
	entries, ok := d.top.get("entries").array()
	if !ok {
		return false
	}
	l.entries = make([]listed, len(entries))
	for i, t := range entries {
		members, isObject := t.object()
		scope, isString := members.get("scope").str()
		if !isObject || !isString {
			return false
		}
		e := listed{scope: scope, text: t, window: window(members.str("revoked_from"), members.str("revoked_until"))}
		member, known := targetOf(scope, publisherList)
		if known && member != "" {
			e.target, known = members.get(member).str()
		}
		e.matchable = known
		l.entries[i] = e
	}
	return true
}

// listFault verifies a list: the publisher it names, its mirrored members, a registry key's signature (never a publisher key's), the chain to the pinned root,
// the root's signatures on entries, and that its signer is not withdrawn.
func (v *verifier) listFault(d *document, l *listState, publisher string, over *listState) string {
	wrong := d.top.get("publisher") != nil
	if over != nil {
		wrong = publisher == "" || d.publisher != publisher
	}
	switch {
	case wrong:
		return "list_of_other"
	case !d.signed:
		return "list_unsigned"
	case d.mirror().Value != "ok":
		return "list_mirror_mismatch"
	}
	key, fault := v.registry.key(l.kid)
	if fault != "" || !sealOf(d.block).holds(d.digest, key) {
		return "list_signature_wrong"
	}
	if v.registryChain(l.kid, d) != "" {
		return "list_chain_broken"
	}
	if !v.entriesHold(l) {
		return "list_entry_forged"
	}
	self := listState{verified: true, entries: l.entries}
	if self.withdrawsKey(l.kid, d.signedAt, d.signedOK) || over != nil && over.withdrawsKey(l.kid, d.signedAt, d.signedOK) {
		return "list_signer_revoked"
	}
	return ""
}

// entriesHold verifies the root signatures of entries that carry one, each over the entry without it. Without a pinned root there is nothing to verify with.
func (v *verifier) entriesHold(l *listState) bool {
	if v.e.Root == nil {
		return true
	}
	for i := range l.entries {
		members, _ := l.entries[i].text.object()
		block := members.get("root_signature")
		if block == nil {
			continue
		}
		signature, _ := block.object()
		if !sealOf(signature).holds(hashWithout(l.entries[i].text, members, "root_signature"), v.e.Root.Public) {
			return false
		}
	}
	return true
}

// List is a revocation list whose signature and chain hold. Without a pinned root the chain ends at the registry key.
type List struct {
	Publisher string // "" for the registry's own
	IssuedAt  time.Time
	MaxAge    time.Duration
	Kid       string // the registry key that signed it
	Entries   []RevocationEntry
}

// VerifyList verifies a revocation list on its own. publisher is the slug it must name, "" for the registry's own list. Of the evidence it uses Root,
// RegistryKeys, At, FutureSkew, and Revocations for a publisher's list, because the registry's list may withdraw its signer. The finding is verified, stale
// (the list still withdraws what it names and vouches for nothing else) or unverifiable, with the list nil.
func VerifyList(document []byte, publisher string, e Evidence) (*List, Finding) {
	v := newVerifier(&e)
	var over *listState
	if publisher != "" {
		registry := v.list(e.Revocations, "", nil)
		over = &registry
	}
	l := v.list(&Fetched{Body: document}, publisher, over)
	if !l.verified {
		return nil, found("unverifiable", l.fault)
	}
	finding := found("verified", "")
	if l.fault != "" {
		finding = found("stale", l.fault)
	}
	finding.AsOf = l.issuedAt
	list := &List{Publisher: publisher, IssuedAt: l.issuedAt, MaxAge: l.maxAge, Kid: l.kid, Entries: make([]RevocationEntry, len(l.entries))}
	for i := range l.entries {
		list.Entries[i] = l.entries[i].entry()
	}
	return list, finding
}

// entry is the entry as a value. A member of another type than this protocol gives it reads as not stated, as in an entry of a scope that is not known.
func (e *listed) entry() RevocationEntry {
	m, _ := e.text.object()
	out := RevocationEntry{
		Scope: e.scope, Subject: m.str("subject"), Kid: m.str("kid"), EntityKey: m.str("entity_key"), Digest: m.str("digest"), Reason: m.str("reason"),
		RevokedFrom: m.str("revoked_from"), RevokedUntil: m.str("revoked_until"), CreatedAt: m.str("created_at"),
	}
	var signature RootSignature
	if block := m.get("root_signature"); block != nil && Decode(block, &signature) == nil {
		out.RootSignature = &signature
	}
	return out
}
