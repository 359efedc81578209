package bizcheck

import "sayso/report"

// rule is one entry of the table. why is the reason for which this checker never looks at the rule, "" for a rule it looks at. answer says that the rule shows
// in what tools answer, and in nothing else.
type rule struct {
	id, title, section string
	why                string
	answer             bool
}

// The reasons for which a rule is never looked at.
const (
	readers  = "binds readers; a registry cannot show whether they keep it"
	operated = "needs a run in which the state of a publisher is changed; this check changes nothing at a foreign registry"
	fetching = "binds whoever fetches; this checker fetches under its own bounds, which its tests hold"
	own      = "binds checkers; this one is held to it by its tests"
)

// rules is the closed list of the protocol's 92 rules. Each title says what holds when the rule passes.
var rules = []rule{
	{id: "XP-VERSION-001", title: "documents state a known protocol_x_version", section: "X§1"},
	{id: "XP-VERSION-002", title: "readers ignore members they do not know", section: "X§1", why: readers},
	{id: "XP-VERSION-003", title: "no member was added to those of version 1.0", section: "X§1"},
	{id: "XP-VERSION-004", title: "what is not stated is left out, not null and not a zero time", section: "X§1"},
	{id: "XP-DISCOVERY-001", title: "the profile has its canonical address, and the short form leads there", section: "X§2.2"},
	{id: "XP-DISCOVERY-002", title: "readers take the base from the manifest", section: "X§2.2", why: readers},
	{id: "XP-DISCOVERY-003", title: "no URL follows the Host of a request", section: "X§2.3"},
	{id: "XP-DISCOVERY-004", title: "locators are absolute, and refusals have their code", section: "X§2.3"},
	{id: "XP-DISCOVERY-005", title: "both routings give the same document", section: "X§2.3"},
	{id: "XP-DISCOVERY-006", title: "readers bound redirects and notice another origin", section: "X§2.3", why: readers},
	{id: "XP-DISCOVERY-007", title: "no path is called registered, reserved or standardised", section: "X§2.4"},
	{id: "XP-MANIFEST-001", title: "the manifest has every required member", section: "X§3.1"},
	{id: "XP-MANIFEST-002", title: "data_last_updated is a real time or absent", section: "X§3.1"},
	{id: "XP-MANIFEST-003", title: "readers take tool names from tools/list", section: "X§3.3", why: readers},
	{id: "XP-MANIFEST-004", title: "capabilities and registry.json name the tools that are served", section: "X§3.3"},
	{id: "XP-MANIFEST-005", title: "a gated capability is refused to who does not hold it", section: "X§3.3", why: operated},
	{id: "XP-MANIFEST-006", title: "readers take locators from endpoints", section: "X§3.4", why: readers},
	{id: "XP-MANIFEST-007", title: "the manifest is signed or says why not, never both", section: "X§3.7"},
	{id: "XP-MANIFEST-008", title: "an unsigned manifest states its reason and no member of a signed one", section: "X§3.7"},
	{id: "XP-MANIFEST-009", title: "a publisher that is not published is not described as served", section: "X§3.8"},
	{id: "XP-IDENTITY-001", title: "publisher, type and id name one record", section: "X§4.1"},
	{id: "XP-IDENTITY-002", title: "the url of a record gives that record and no other", section: "X§4.1"},
	{id: "XP-IDENTITY-003", title: "updated_at and verified_at are stated apart", section: "X§4.1"},
	{id: "XP-IDENTITY-004", title: "readers take attribute names as the publisher's own", section: "X§4.1", why: readers},
	{id: "XP-IDENTITY-005", title: "readers ask in a language the publisher publishes in", section: "X§4.1", why: readers},
	{id: "XP-IDENTITY-006", title: "contacts are the public ones of the primary location", section: "X§6.3"},
	{id: "XP-IDENTITY-007", title: "each location states its own phone, email and hours", section: "X§6.5"},
	{id: "XP-IDENTITY-008", title: "no location names a service", section: "X§6.5"},
	{id: "XP-EXPORT-001", title: "the export is one _meta line and then one record per line", section: "X§4.2"},
	{id: "XP-EXPORT-002", title: "the first line tells what, who and where", section: "X§4.2"},
	{id: "XP-EXPORT-003", title: "readers do not call the export verified", section: "X§4.2", why: readers},
	{id: "XP-EXPORT-004", title: "authority in the export is evidence or absent", section: "X§4.2"},
	{id: "XP-COVERAGE-001", title: "resolved means covered, answered and nothing unresolved", section: "X§5.1", answer: true},
	{id: "XP-COVERAGE-002", title: "needs_context withholds the candidates, and not_covered shows nothing", section: "X§5.1", answer: true},
	{id: "XP-COVERAGE-003", title: "needs_context says what is missing and how to resume, and comes to an end", section: "X§5.1", answer: true},
	{id: "XP-COVERAGE-004", title: "not_covered says neither yes nor no", section: "X§5.1", answer: true},
	{id: "XP-COVERAGE-005", title: "evidence_complete is stated both ways, and true where everything was seen", section: "X§5.1", answer: true},
	{id: "XP-COVERAGE-006", title: "a published no is an answer, not not_covered", section: "X§5.2", answer: true},
	{id: "XP-COVERAGE-007", title: "verdicts have one of four values, and what nobody published is unknown", section: "X§5.2", answer: true},
	{id: "XP-COVERAGE-008", title: "the caller's words are not given as the publisher's", section: "X§5.3", answer: true},
	{id: "XP-COVERAGE-009", title: "what went wrong is an error and never a status", section: "X§5.4", answer: true},
	{id: "XP-COVERAGE-010", title: "coverage.status is one of the four", section: "X§5.4", answer: true},
	{id: "XP-COVERAGE-011", title: "readers do not rely on agent_instruction", section: "X§5.5", why: readers},
	{id: "XP-COVERAGE-012", title: "readers treat publisher text as data", section: "X§5.5", why: readers},
	{id: "XP-COVERAGE-013", title: "readers do not attribute other sources to the publisher", section: "X§5.5", why: readers},
	{id: "XP-AUTHORITY-001", title: "domain_verified rests on a host and a method", section: "X§3.6"},
	{id: "XP-AUTHORITY-002", title: "readers compare website with proven_domain", section: "X§6.3", why: readers},
	{id: "XP-AUTHORITY-003", title: "readers report four findings apart", section: "X§7.1", why: readers},
	{id: "XP-AUTHORITY-004", title: "readers keep the age of a proof apart from the age of data", section: "X§7.3", why: readers},
	{id: "XP-AUTHORITY-005", title: "trust_tier is not contracted", section: "X§7.4"},
	{id: "XP-INTEGRITY-001", title: "signatures hold over the digest", section: "X§8.1"},
	{id: "XP-INTEGRITY-002", title: "digest and signature are base64url without padding", section: "X§8.1"},
	{id: "XP-INTEGRITY-003", title: "what nobody signs is not called signed or verified", section: "X§8.2"},
	{id: "XP-INTEGRITY-004", title: "the manifest is signed by a registry key", section: "X§8.2"},
	{id: "XP-INTEGRITY-005", title: "the signed form leaves <, > and & alone", section: "X§8.3"},
	{id: "XP-INTEGRITY-006", title: "the keys lead to the pinned root", section: "X§8.4"},
	{id: "XP-INTEGRITY-007", title: "the signed copies agree with the attestation", section: "X§8.5"},
	{id: "XP-INTEGRITY-008", title: "a signer's own time is not proven", section: "X§8.5", why: "states a limit of the protocol; there is nothing to look at"},
	{id: "XP-INTEGRITY-009", title: "no list withdraws the manifest that is served", section: "X§8.7"},
	{id: "XP-INTEGRITY-010", title: "both revocation lists can be used as evidence", section: "X§8.7"},
	{id: "XP-INTEGRITY-011", title: "no revocation list is served unsigned", section: "X§8.8"},
	{id: "XP-INTEGRITY-012", title: "readers report four values", section: "X§8.9", why: readers},
	{id: "XP-INTEGRITY-013", title: "an answer echoes tool and arguments, every literal of them", section: "X§8.10", answer: true},
	{id: "XP-INTEGRITY-014", title: "keys and documents speak for the publisher they were asked for", section: "X§8.4"},
	{id: "XP-INTEGRITY-015", title: "an entry called root is the pinned root", section: "X§8.4"},
	{id: "XP-INTEGRITY-016", title: "revocation entries can be matched", section: "X§8.7"},
	{id: "XP-FRESHNESS-001", title: "changed_at is a time before the document's", section: "X§6.4"},
	{id: "XP-FRESHNESS-002", title: "generations are positive or absent, and both are stated", section: "X§6.4"},
	{id: "XP-FRESHNESS-003", title: "expires_at is inside the signature, 15 minutes ahead at most", section: "X§8.6"},
	{id: "XP-FRESHNESS-004", title: "no expired attestation is served", section: "X§8.6"},
	{id: "XP-FRESHNESS-005", title: "readers keep four ages apart", section: "X§9", why: readers},
	{id: "XP-FRESHNESS-006", title: "an answer says whether anything is stale", section: "X§9", answer: true},
	{id: "XP-FRESHNESS-007", title: "what is not published is served nowhere", section: "X§9"},
	{id: "XP-TRANSPORT-001", title: "readers perform the handshake", section: "X§10.1", why: readers},
	{id: "XP-TRANSPORT-002", title: "initialize names the revision that is spoken", section: "X§10.1"},
	{id: "XP-TRANSPORT-003", title: "readers do not follow redirects of a POST", section: "X§10.1", why: readers},
	{id: "XP-TRANSPORT-004", title: "a rate limit says when to come back", section: "X§10.1"},
	{id: "XP-NET-001", title: "scheme, port and address are checked before connecting", section: "X§10.2", why: fetching},
	{id: "XP-NET-002", title: "internal addresses are refused", section: "X§10.2", why: fetching},
	{id: "XP-NET-003", title: "every hop and every named URL is checked", section: "X§10.2", why: fetching},
	{id: "XP-NET-004", title: "time, size and number of requests are bounded", section: "X§10.2", why: fetching},
	{id: "XP-NET-005", title: "an offline input needs no fetch", section: "X§10.2", why: fetching},
	{id: "XP-NET-006", title: "an allowance for the own machine is explicit", section: "X§10.2", why: fetching},
	{id: "XP-NET-007", title: "reports hold no query string", section: "X§10.2", why: fetching},
	{id: "XP-RIGHTS-001", title: "the export carries the exact licence sentence", section: "X§11"},
	{id: "XP-RIGHTS-002", title: "readers take absent rights as not stated", section: "X§11", why: readers},
	{id: "XP-RIGHTS-003", title: "the licence of the specification is another question", section: "X§11", why: "is about the specification's own text and code, which no registry serves"},
	{id: "XP-SCHEMA-001", title: "JSON-LD says the same as the publisher block", section: "X§12"},
	{id: "XP-SCOPE-001", title: "the report says what was looked at and what was not", section: "X§13", why: own},
	{id: "XP-SCOPE-002", title: "every check has one of four outcomes", section: "X§13", why: own},
	{id: "XP-SCOPE-003", title: "the report has no score and no audit of texts for search engines", section: "X§13", why: own},
	{id: "XP-SCOPE-004", title: "the report vouches for no business", section: "X§13", why: own},
}

// Rules is the rule table in the order of the protocol's index. The slice is the caller's.
func Rules() []report.Rule {
	out := make([]report.Rule, len(rules))
	for i, r := range rules {
		out[i] = report.Rule{ID: r.id, Title: r.title, Section: r.section}
	}
	return out
}

var ruleOf = func() map[string]rule {
	m := make(map[string]rule, len(rules))
	for _, r := range rules {
		m[r.id] = r
	}
	return m
}()
