package bizcheck

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sayso/business"
	"sayso/report"
)

// envelopeMembers are those of version 1.0 (X§6.1).
var envelopeMembers = []string{
	"protocol_x_version", "registry", "publisher", "tool", "arguments", "result", "coverage", "clarification", "freshness", "state", "served_at", "latency_ms",
	"expires_at", "revocation_url", "signed_at", "signing_kid", "jwks_url", "attestation",
}

// CheckEnvelope looks at one answer as a document: what its members must keep whatever was asked. No key is at hand, so of the signature only the form and the
// digest are judged, and times are compared with each other and not with a clock. Rules that hold are among the findings; a rule without a finding had nothing
// to look at.
func CheckEnvelope(document []byte) []report.Finding {
	c := newRecorder()
	c.checkEnvelope("answer", document, business.Evidence{})
	return c.findings()
}

// checkEnvelope looks at one answer. e holds what its signature may be judged by; a zero e.At leaves expiry alone.
func (c *recorder) checkEnvelope(place string, document []byte, e business.Evidence) {
	o, err := objectOf(document)
	if err != nil {
		c.fail("XP-COVERAGE-010", place, "not strict JSON: "+err.Error(), "send an answer that every reader understands in one way")
		return
	}
	if o.has("protocol_x_version") && !c.checkVersion(place, o) {
		return
	}
	c.checkMembers(place, o, envelopeMembers)
	c.checkAbsence(place, document)
	c.checkEcho(place, o)
	if c.checkStatus(place, o.object("coverage")) {
		c.checkCoverage(place, o)
	}
	now := e.At
	if now.IsZero() {
		now, _ = o.time("signed_at")
	}
	c.checkState(place, o, now)
	c.checkLife(place, o, now)
	f := o.object("freshness")
	stale := slices.ContainsFunc(o.object("result").objects("readings"), func(r object) bool { return r.is("stale", "true") })
	c.expect(f.isBool("any_stale") && (f.is("any_stale", "true") || !stale), "XP-FRESHNESS-006", place, fmt.Sprintf("freshness.any_stale is %.20q, and a reading of the answer is stale: %t", f["any_stale"], stale),
		"state it on every answer, also when nothing is stale, and true when a reading is")
	if s := o.object("state"); s != nil {
		c.prefer(s.has("generation") == s.has("records_generation"), "XP-FRESHNESS-002", place, "state holds one of generation and records_generation",
			"state both: profile and records may follow from different commits")
	}
	c.checkAnswerSignature(place, document, o, e)
}

// checkAnswerSignature lets the verifier judge the signature. An answer that the verifier does not accept as one was failed already.
func (c *recorder) checkAnswerSignature(place string, document []byte, o object, e business.Evidence) {
	if !o.has("attestation") {
		c.fail("XP-INTEGRITY-001", place, "the answer is not signed", "sign every answer")
		return
	}
	if e.At.IsZero() {
		e.At, _ = o.time("signed_at")
	}
	v, err := business.Verify(document, e)
	var format *business.FormatError
	if err != nil {
		if !errors.As(err, &format) || ruleOf[format.Rule].id == "" {
			c.fail("XP-COVERAGE-010", place, err.Error(), "send an answer in the form of this protocol")
		}
		return
	}
	c.checkVerdict(place, document, v, "XP-INTEGRITY-006")
	if v.Call.Value != "not_applicable" {
		c.expect(v.Call.Value == "match", "XP-INTEGRITY-013", place, v.Call.Message, "echo tool and arguments as received, every number as it was written; put a normalised reading into result or coverage")
	}
	if e.PublisherList != nil {
		c.checkRevoked(place, v)
	}
}

var statuses = []string{"resolved", "partial", "needs_context", "not_covered"}

// checkStatus is XP-COVERAGE-010.
func (c *recorder) checkStatus(place string, coverage object) bool {
	return c.expect(slices.Contains(statuses, coverage.text("status")), "XP-COVERAGE-010", place, fmt.Sprintf("coverage.status is %.50q", coverage.text("status")), "use one of "+strings.Join(statuses, ", "))
}

// checkEcho is XP-INTEGRITY-013, as far as it shows without the call: the echo is there.
func (c *recorder) checkEcho(place string, o object) {
	c.expect(o.text("tool") != "" && o.object("arguments") != nil, "XP-INTEGRITY-013", place, "tool or arguments are not echoed", "echo the call as received, absent arguments as {}")
}

// checkCoverage are the rules about what an answer may conclude.
func (c *recorder) checkCoverage(place string, o object) {
	cov := o.object("coverage")
	status := cov.text("status")
	open, isList := cov.list("unresolved")
	isList = isList || !cov.has("unresolved")
	full := cov.is("covered", "true") && cov.is("answers_request", "true") && isList && len(open) == 0
	content := status == "resolved" || status == "partial"
	c.expect((status == "resolved") == full && isList && cov.is("covered", "true") == content, "XP-COVERAGE-001", place,
		fmt.Sprintf("status is %s with covered %.10s, answers_request %.10s and %d unresolved", status, cov["covered"], cov["answers_request"], len(open)),
		"say resolved exactly when the request is covered and answered and nothing is unresolved; covered goes with resolved and partial")
	c.expect(cov.isBool("evidence_complete"), "XP-COVERAGE-005", place, "evidence_complete is not stated", "state it both ways on every answer")
	if status == "needs_context" {
		c.checkWithheld(place, o)
		c.checkClarification(place, o.object("clarification"))
	}
	if status == "not_covered" {
		c.expect(!cov.object("answer").has("polarity"), "XP-COVERAGE-004", place, "not_covered comes with a polarity", "leave it out: a publisher that said nothing did not say no")
	}
	c.checkConstraints(place, cov)
	c.checkNegatives(place, cov, status)
	c.checkCaller(place, o, cov)
}

// withheld are the members of the publisher block that would give away a candidate (ours).
var withheld = []string{"locations", "profile_attributes", "contacts", "support_email", "support_phone"}

// checkWithheld is XP-COVERAGE-002.
func (c *recorder) checkWithheld(place string, o object) {
	var shown []string
	for name, raw := range o.object("result") {
		list, isList := listOf(raw)
		if isList && len(list) > 0 || raw[0] == '{' && len(o.object("result").object(name)) > 0 {
			shown = append(shown, name)
		}
	}
	cov := o.object("coverage")
	if len(cov.objects("publisher_facts")) > 0 || slices.ContainsFunc(cov.objects("propositions"), func(p object) bool { return p.has("publisher_value") }) {
		shown = append(shown, "values in coverage")
	}
	slices.Sort(shown)
	c.expect(len(shown) == 0, "XP-COVERAGE-002", place, fmt.Sprintf("needs_context shows %.200q", shown), "withhold every candidate: a reader under pressure picks one")
	for _, name := range withheld {
		if o.object("publisher").has(name) {
			c.warn("XP-COVERAGE-002", place, "needs_context shows publisher."+name+", which may hold the candidates", "leave it out of this answer; the manifest has it")
			return
		}
	}
}

// checkClarification is XP-COVERAGE-003.
func (c *recorder) checkClarification(place string, cl object) {
	var lacks []string
	if missing, _ := cl.list("missing"); len(missing) == 0 {
		lacks = append(lacks, "missing")
	}
	for _, name := range []string{"remaining_unbound", "bound"} {
		if !cl.has(name) {
			lacks = append(lacks, name)
		}
	}
	resume := cl.object("resume")
	if resume.text("tool") == "" || resume.object("arguments") == nil || !resume.has("add_to") {
		lacks = append(lacks, "resume")
	}
	c.expect(len(lacks) == 0, "XP-COVERAGE-003", place, "clarification lacks "+strings.Join(lacks, ", "), "name what is missing and the exact call to send again")
}

var verdicts = []string{"asserted_true", "asserted_false", "excluded_by_closed_list", "unknown"}

// checkConstraints is XP-COVERAGE-007.
func (c *recorder) checkConstraints(place string, cov object) {
	for _, one := range cov.objects("constraints") {
		verdict := one.text("verdict")
		c.expect(slices.Contains(verdicts, verdict), "XP-COVERAGE-007", place, fmt.Sprintf("a constraint has the verdict %.60q", verdict), "use one of "+strings.Join(verdicts, ", "))
		if verdict == "excluded_by_closed_list" {
			c.expect(!cov.is("evidence_complete", "false"), "XP-COVERAGE-005", place, "a term is excluded by a list, and the evidence is not complete", "say unknown while anything of the list may be missing")
		}
	}
}

// checkNegatives is XP-COVERAGE-006: what the publisher denies is answered.
func (c *recorder) checkNegatives(place string, cov object, status string) {
	for _, list := range []string{"propositions", "constraints"} {
		for _, one := range cov.objects(list) {
			if v := one.text("verdict"); v == "asserted_false" || v == "excluded_by_closed_list" {
				c.expect(status != "not_covered", "XP-COVERAGE-006", place, "a published no is reported as not_covered", "answer resolved or partial with negative polarity")
			}
		}
	}
}

// shortWords is the length from which a text of a caller is not a publisher's value by chance.
const shortWords = 12

// checkCaller is XP-COVERAGE-008: a whole question of the caller does not come back as a value of the publisher.
func (c *recorder) checkCaller(place string, o, cov object) {
	question := o.object("arguments").text("query")
	if len(question) < shortWords {
		return
	}
	var values []string
	for _, one := range cov.objects("publisher_facts") {
		values = append(values, one.text("value"))
	}
	for _, one := range cov.objects("propositions") {
		values = append(values, one.text("publisher_value"))
	}
	if len(values) > 0 {
		c.expect(!slices.Contains(values, question), "XP-COVERAGE-008", place, "the caller's question is given as a value that the publisher stated", "keep the caller's words in request and unresolved_references")
	}
}

// evidence of a document that a person gave.
func (c *checker) evidence() business.Evidence {
	given := func(body []byte) *business.Fetched {
		if body == nil {
			return nil
		}
		return &business.Fetched{Body: body, At: c.Clock()}
	}
	return business.Evidence{
		Root: c.Root, RegistryKeys: given(c.RegistryKeys), PublisherKeys: given(c.PublisherKeys), Revocations: given(c.Revocations), PublisherList: given(c.PublisherList),
		At: c.Clock(), FutureSkew: business.ReaderSkew,
	}
}
