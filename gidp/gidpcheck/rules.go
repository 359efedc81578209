package gidpcheck

import "sayso/report"

// rule is one thing that is looked at from outside.
type rule struct {
	id      string
	title   string // what holds when it passes
	section string
	next    string // what to do when it does not
}

const (
	binding = "A2A binding " // gidp-a2a
	core    = "GIDP "        // gidp
)

// rules are those of agents, GA, and of providers, GP. Their ids are for ever.
var rules = []rule{
	{"GA-CARD-001", "the card is one of A2A 1.0 and names the extension and this address", binding + "2",
		"serve the card at the address with the extension in capabilities.extensions, and the interfaces below that address"},
	{"GA-CARD-002", "the signature of the card is well formed, and holds where its key is known", binding + "2", "sign the canonical card without its signatures with Ed25519"},
	{"GA-CARD-003", "the card of an invented reference differs in address and signature alone", binding + "2", "serve one constant card for every well-formed reference, live or not"},
	{"GA-CARD-004", "the card may be kept for an hour and compared by its ETag", binding + "2", "send Cache-Control: max-age=3600 and an ETag, and answer If-None-Match with 304"},
	{"GA-CARD-005", "the card is ASCII without empty or default members", binding + "2",
		"leave out empty strings, empty objects, null and false, and write ASCII: verifiers disagree on the rest"},
	{"GA-VERSION-001", "another A2A-Version than 1.0, and none, is refused", binding + "1", "answer -32009; a request without A2A-Version is one of 0.3"},
	{"GA-EXTENSION-001", "the extension is echoed, alone, in a list and over several lines, and no other is", binding + "3",
		"read every line and comma list of A2A-Extensions and echo the URI of GIDP alone"},
	{"GA-HELLO-001", "a hello is answered by a plain message", binding + "3", "answer a message without an object by a Message without an object"},
	{"GA-INACTIVE-001", "without activation nothing of GIDP is answered", binding + "3", "look at no metadata unless A2A-Extensions names the URI"},
	{"GA-SIGNATURE-001", "a request that is unsigned, altered or signed long ago is refused", binding + "6.1",
		"verify the signature over method, authority, path, digest, extensions and version, and its time"},
	{"GA-SIGNATURE-002", "a nonce opens once", binding + "6.1", "remember the nonces of opens for twice the window"},
	{"GA-JSON-001", "bodies are read as strict I-JSON", binding + "1", "refuse duplicate names, trailing bytes, depth beyond 64 and numbers that lose precision"},
	{"GA-BODY-001", "a body of more than 256 KiB is refused", binding + "1", "bound the body before it is read"},
	{"GA-REFUSED-001", "a refused open is a completed task with one SessionClose", binding + "4", "answer an open that is not accepted by artifact 000001 in a COMPLETED task"},
	{"GA-REFUSED-002", "an unknown reference and a refused open are answered alike", binding + "2",
		"make both answers by the same path, with the same members and sizes, at the same tick"},
	{"GA-METHOD-001", "methods that are not offered say so", binding + "4", "answer ListTasks, the extended card and push configuration as unsupported, and other names with -32601"},
	{"GA-ACCEPT-001", "an accept repeats the profile, goes no deeper and adds no feature", core + "14.1",
		"answer with the same profile, the shallower depth and a subset of the offered features"},
	{"GA-STATE-001", "a task has one of three states, gapless artifacts, and neither status message nor history", binding + "4",
		"use WORKING, INPUT_REQUIRED and COMPLETED, number artifacts from 000001, and send no status message"},
	{"GA-TASK-001", "a task is shown to its own key alone, and is not cancelled", binding + "4", "answer -32001 to any other key, and -32002 to CancelTask"},
	{"GA-DUPLICATE-001", "the same object again has no effect and shows the same task", binding + "5", "keep the digest of each object under its id and answer with the task as it is"},
	{"GA-DUPLICATE-002", "another object under the same id is refused", binding + "5", "answer -32602 and change nothing"},
	{"GA-OBJECT-001", "a malformed object has no effect", core + "3.1", "refuse the whole object with -32602"},
	{"GA-EXPIRY-001", "an expired object has no effect", core + "5.5", "compare expires_at with the clock before anything else"},
	{"GA-CLAIM-001", "a claim_id is used once", core + "14.2", "refuse a request that names a claim_id again"},
	{"GA-ANSWER-001", "an answer has one outcome for each claim in their order, and closed vocabularies", core + "14.3",
		"send exactly the members of the protocol, one result for each claim"},
	{"GA-ALLOWED-001", "no result is outside of allowed_results", core + "14.3", "answer declined where the result is not allowed"},
	{"GA-IDENTITY-001", "claims on an identity are declined without a grant", core + "10.6", "decline before the value is looked at"},
	{"GA-DISCLOSE-001", "an identity, and a surface beyond the session, is not disclosed", core + "10.6, 14.4", "answer declined"},
	{"GA-CONSENT-001", "a consent that comes too early is declined", core + "14.5", "answer declined before qualification to every action but disclose_attributes"},
	{"GA-HANDOFF-001", "a Handoff that nobody consented to closes as unsupported", core + "14.7", "answer SessionClose(unsupported) and act on nothing"},
	{"GA-CLOSED-001", "a closed session takes nothing and shows nothing new", core + "17.2", "answer -32004 after the close"},
	{"GA-LEAK-001", "no refusal repeats anything of the request", core + "15.3; " + binding + "7", "send constant texts"},

	{"GP-INFO-001", "the information document states latency, hierarchies, quotas and page size, and no count", core + "12.2",
		"publish what the provider promises, and nothing of what it holds"},
	{"GP-PUBLISH-001", "a projection is published under an unguessable reference", core + "11.6, 12.2", "answer 201 with a reference of 128 random bits and the published latency"},
	{"GP-SIGN-001", "an unsigned, altered or old request is refused", core + "12.2", "verify method, authority, path and digest by the key in the body, and the time"},
	{"GP-SIGN-002", "a publication that was sent before is refused when it comes again", core + "12.2", "remember signatures for twice the window"},
	{"GP-FOREIGN-001", "another key neither changes nor withdraws a projection", core + "12.2", "compare the key of the request with the one that published"},
	{"GP-QUERY-001", "a query finds what was published", core + "12.2", "match the labels of a query with those of a projection"},
	{"GP-QUERY-002", "candidates carry references alone: no score, no total, no endpoint", core + "12.4", "send candidate_ref, projection_ref and a cursor"},
	{"GP-QUERY-003", "no page is larger than its limit and than the provider's", core + "12.2", "cut or refuse a larger limit"},
	{"GP-QUERY-004", "a query that names nothing below a root is refused", core + "12.2", "refuse a relation alone, wildcards and empty labels"},
	{"GP-RESOLVE-001", "a candidate resolves to its endpoint, for its querent alone", core + "12.2", "bind candidate references to the key of the query"},
	{"GP-UPDATE-001", "an update keeps the reference and is what is found", core + "12.2", "replace the labels under the same reference"},
	{"GP-REFUSE-001", "a projection with unknown members, an identity or no retrieval attribute is refused", core + "11.1, 11.3", "read projections strictly"},
	{"GP-REFUSE-002", "a projection that has expired, lives longer than 90 days, or names no https endpoint is refused", core + "12.2",
		"judge expires_at and endpoint when it is published"},
	{"GP-BODY-001", "bodies are one strict JSON object of bounded size", core + "12.2", "refuse duplicate names, trailing bytes, other media types and large bodies"},
	{"GP-ERROR-001", "a refusal has a code and repeats nothing of the request", core + "12.2", "answer {error, message} with constant texts"},
	{"GP-WITHDRAW-001", "a withdrawal is acknowledged with an instant within the published latency, as often as it comes", core + "12.2",
		"answer 202 with effective_by, also the second time"},
	{"GP-WITHDRAW-002", "after that instant the projection is neither found nor resolved", core + "12.2", "bring withdrawals to every replica within the latency"},
	{"GP-EXPIRY-001", "nothing is found after it has expired", core + "12.2", "compare expires_at when a projection is returned"},
	{"GP-QUOTA-001", "a refusal by quota says when to come back", core + "12.2", "send Retry-After with 429 and 503"},
}

// Rules is the table of what is looked at from outside. The slice is the caller's.
func Rules() []report.Rule {
	out := make([]report.Rule, len(rules))
	for i, r := range rules {
		out[i] = report.Rule{ID: r.id, Title: r.title, Section: r.section}
	}
	return out
}
