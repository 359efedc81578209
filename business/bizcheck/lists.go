package bizcheck

import (
	"fmt"

	"sayso/business"
)

// checkListAt fetches a revocation list and looks at it. slug is "" for the registry's own. It returns the list as evidence.
func (c *checker) checkListAt(at, slug string, registry *answer) *answer {
	if a := c.answers[at]; a != nil {
		return a
	}
	a := c.document(at)
	switch {
	case a.ok():
		c.checkWire("XP-MANIFEST-001", a, typeJSON)
		c.checkList(a.at, a.body, slug, business.Evidence{
			Root: c.Root, RegistryKeys: registry.fetched(), Revocations: c.registryList(registry).fetched(), At: c.Clock(), FutureSkew: business.ReaderSkew,
		})
	case a.unread():
		c.untested("XP-INTEGRITY-010", a.at, "the revocation list could not be read", a.problem())
	default:
		c.fail("XP-INTEGRITY-010", a.at, "the revocation list is not there: "+a.problem(), "serve it signed, or answer 503; every reader has to report: not checked")
	}
	return a
}

// registryList is the registry's own list, which stands beside its keys (X§2.1).
func (c *checker) registryList(registry *answer) *answer {
	if registry == nil {
		return nil
	}
	return c.answers[originOf(registry.at)+wellKnown+"revocations.json"]
}

// checkList looks at one list as a document. e holds what it may be judged by; the list itself is its own evidence of what the registry withdraws.
func (c *recorder) checkList(place string, body []byte, slug string, e business.Evidence) {
	l, err := objectOf(body)
	if err != nil {
		c.fail("XP-INTEGRITY-010", place, "not strict JSON: "+err.Error(), "repair the list; a reader can use it in neither direction")
		return
	}
	c.checkAbsence(place, body)
	if !c.expect(l.has("attestation"), "XP-INTEGRITY-011", place, "the list is served without a signature", "answer 503 while it cannot be signed: unsigned it reads as if nothing had ever been withdrawn") {
		return
	}
	if slug == "" {
		e.Revocations = nil
	}
	if v, err := business.Verify(body, e); err == nil {
		c.checkVerdict(place, body, v, "XP-INTEGRITY-010")
	}
	c.checkEntries(place, l, slug)
	_, f := business.VerifyList(body, slug, e)
	switch {
	case f.Value == "verified":
		c.pass("XP-INTEGRITY-010", place)
	case f.Value == "stale", f.Reason == "list_of_other", f.Reason == "list_signer_revoked", f.Reason == "list_in_future":
		c.fail("XP-INTEGRITY-010", place, f.Message, "serve a list of this publisher that is signed anew within max_age_seconds")
	case f.Reason == "list_malformed", f.Reason == "list_entry_forged":
		c.fail("XP-INTEGRITY-016", place, f.Message, "write issued_at, max_age_seconds and entries, and no root_signature that is not the root's")
	default:
		c.untested("XP-INTEGRITY-010", place, "whether the list can be used was not settled", f.Message)
	}
}

// targets of revocation entries by scope: the member that names what is withdrawn, and whether the scope belongs on the registry's list.
var targets = map[string]struct {
	member   string
	registry bool
}{
	business.ScopeRegistryKey: {"subject", true}, business.ScopePublisher: {"subject", true},
	business.ScopeKey: {"kid", false}, business.ScopeEntity: {"entity_key", false}, business.ScopeDigest: {"digest", false}, business.ScopeTenant: {"", false},
}

// checkEntries is XP-INTEGRITY-016: every entry names its target and readable bounds.
func (c *recorder) checkEntries(place string, l object, slug string) {
	for i, e := range l.objects("entries") {
		at := fmt.Sprintf("%s entry %d", place, i+1)
		t, known := targets[e.text("scope")]
		problem := ""
		switch {
		case !known:
			c.warn("XP-INTEGRITY-016", at, fmt.Sprintf("the scope %.50q is not known", e.text("scope")), "readers report the check as incomplete while the entry stands")
			continue
		case t.registry != (slug == ""):
			problem = "the scope " + e.text("scope") + " belongs on the other list"
		case t.member != "" && e.text(t.member) == "":
			problem = "it names no " + t.member
		case e.text("reason") == "":
			problem = "it states no reason"
		}
		from, okFrom := e.time("revoked_from")
		until, okUntil := e.time("revoked_until")
		if e.has("revoked_from") && !okFrom || e.has("revoked_until") && !okUntil || okFrom && okUntil && until.Before(from) {
			problem = "its bounds cannot be read, or end before they begin"
		}
		c.expect(problem == "", "XP-INTEGRITY-016", at, problem, "name scope, target, reason and bounds as the protocol writes them")
	}
}
