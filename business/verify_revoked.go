package business

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// revocation judges whether something withdraws the document (XP-INTEGRITY-016). The order is revoked, not checked, incomplete, clean: what a verified list
// withdraws is withdrawn, however old the list is, and only two fresh lists without a riddle make a document clean.
func (v *verifier) revocation(d *document, lists []listState) Finding {
	if d.kind == KindUnknown {
		return found("not_checked", "unsigned_kind")
	}
	var out Finding
	unmatched, fault := 0, ""
	for i := range lists {
		l := &lists[i]
		if l.fault != "" && fault == "" {
			fault = l.fault
		}
		if !l.verified {
			continue
		}
		if out.AsOf.IsZero() || l.issuedAt.Before(out.AsOf) {
			out.AsOf = l.issuedAt
		}
		code, n := l.match(d)
		if code != "" && out.Value == "" {
			out.Value, out.Reason = "revoked", code
		}
		unmatched += n
	}
	switch {
	case out.Value != "":
	case fault != "":
		out.Value, out.Reason = "not_checked", fault
	case unmatched > 0:
		out.Value, out.Reason, out.Count = "incomplete", "unmatched_entries", unmatched
	default:
		out.Value = "clean"
	}
	out.Message = sentence(out.Value, out.Reason)
	return out
}

// match returns the code of the first entry that withdraws the document, and how many entries cover its time but cannot be matched.
func (l *listState) match(d *document) (code string, unmatched int) {
	var named *entities
	for i := range l.entries {
		e := &l.entries[i]
		if d.signedOK && !e.window.covers(d.signedAt) {
			continue
		}
		if !e.matchable {
			unmatched++
			continue
		}
		withdrawn, known := false, true
		if e.scope == ScopeEntity {
			if named == nil {
				named = entitiesOf(d)
			}
			withdrawn, known = named.match(e.target)
		} else {
			withdrawn = e.names(d)
		}
		switch {
		case withdrawn && code == "":
			code = e.scope + "_revoked"
		case !known:
			unmatched++
		}
	}
	return code, unmatched
}

// names reports whether an entry of any scope but entity names the document. A kid or digest counts where it stands in the payload or was computed, and also
// where the attestation claims it: neither place can be edited to slip past an entry.
func (e *listed) names(d *document) bool {
	switch e.scope {
	case ScopePublisher:
		return d.publisher != "" && e.target == d.publisher
	case ScopeTenant:
		return true // the list was verified to be this publisher's
	case ScopeRegistryKey, ScopeKey:
		return e.target == d.block.str("kid") || e.target == d.top.str("signing_kid")
	case ScopeDigest:
		return e.target == d.digestText() || e.target == d.block.str("digest")
	}
	return false
}

// entities are the records an envelope carries.
type entities struct {
	keys     map[string]bool // type/id, the id as it is
	complete bool            // every part of the result that can carry a record was understood
}

// resultMembers are the members of result that this reader knows, with where the records in their elements stand.
var resultMembers = map[string]string{
	"records": "", "subject": "", "neighbours": "record", "readings": "subject", // records, or what names one
	"locations": none, "lists": none, "profile": none, "branches": none,
}

const none = "-"

// entitiesOf reads the records of a document. One without result, a manifest, carries none and is complete.
func entitiesOf(d *document) *entities {
	found := &entities{keys: map[string]bool{}, complete: true}
	result := d.top.get("result")
	if result == nil || result.is("null") {
		return found
	}
	members, ok := result.object()
	found.complete = ok
	for _, m := range members {
		inner, known := resultMembers[m.name]
		switch {
		case !known:
			found.complete = false
		case inner == none:
		case m.name == "subject":
			found.add(m.value, false)
		default:
			found.addAll(m.value, inner)
		}
	}
	return found
}

// addAll takes the records of an array: its elements, or a member of each. Only a reading may be about no record.
func (n *entities) addAll(list text, inner string) {
	elements, ok := list.array()
	if !ok {
		n.complete = false
	}
	for _, element := range elements {
		if inner == "" {
			n.add(element, false)
			continue
		}
		members, _ := element.object()
		n.add(members.get(inner), inner == "subject")
	}
}

func (n *entities) add(record text, optional bool) {
	if record == nil && optional {
		return
	}
	members, _ := record.object()
	typ, ok := members.get("type").str()
	id, okID := members.get("id").str()
	if !ok || !okID {
		n.complete = false
		return
	}
	n.keys[typ+"/"+id] = true
}

// match compares the decoded key, so that two spellings of one percent-encoded id are one record. known is false when nothing can be concluded.
func (n *entities) match(key string) (withdrawn, known bool) {
	typ, id, ok := strings.Cut(key, "/")
	plain, err := url.PathUnescape(id)
	if !ok || err != nil || !utf8.ValidString(plain) {
		return false, len(n.keys) == 0 && n.complete
	}
	if n.keys[typ+"/"+plain] {
		return true, true
	}
	return false, n.complete
}
