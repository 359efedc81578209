package gidpcheck

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"sayso/report"
)

// Criterion is one obligation of sec. 2: K1 to K15 and the finer ones that they rest on, K2a and so on.
type Criterion struct {
	ID      string
	Title   string   // what holds
	Section string   // of the protocol
	Tests   []Test   // all of them hold in an implementation that conforms
	Outside []string // rules of [Rules] by which a foreign implementation shows whether it keeps it; none where nothing of it can be seen
}

// Test is one thing that is executed. Run plays it against the code of this program, without clock, network or disk, and says what is not as it should be.
type Test struct {
	Name string
	Run  func() error
}

// Criteria lists the obligations in their order. The slices are the caller's.
func Criteria() []Criterion {
	out := slices.Clone(criteria)
	for i := range out {
		out[i].Tests, out[i].Outside = slices.Clone(out[i].Tests), slices.Clone(out[i].Outside)
	}
	return out
}

func run(name string, f func() error) Test { return Test{name, f} }

var criteria = []Criterion{
	{"K1", "the four situations run on the same objects and rules", "§8, §19, §23.2",
		[]Test{run("four-situations", fourSituations)}, nil},
	{"K2", "no interest, no policy and no local attribute leaves", "§9.1, §10",
		[]Test{run("nothing-local-leaves", nothingLocalLeaves), scenario("15-protected-without-cells")}, []string{"GA-IDENTITY-001"}},
	{"K2a", "what is never told leaves no trace", "§10.3, §14.6",
		[]Test{run("never-leaves-no-trace", neverLeavesNoTrace)}, nil},
	{"K3", "what leaves follows from interest, policy, authority, state, request and ledger alone", "§6.10, §16.3",
		[]Test{run("every-object-has-its-row", everyObjectHasItsRow)}, nil},
	{"K3a", "the checks have one order, and run again when an answer leaves late", "§16.3",
		[]Test{run("decision-order", decisionOrder), scenario("06-late-approval-after-withdrawal")}, nil},
	{"K3b", "five surfaces, three gates, eight classes; what is not listed is evaluation_only; a class may depend on the counterparty", "§9.1, §10.1-10.5",
		[]Test{run("classes", classes), scenario("09-network-audience")}, nil},
	{"K4", "a projection shows what its policy lists and identifies nobody", "§10.4, §11.1-11.3",
		[]Test{run("projection", projection)}, []string{"GP-REFUSE-001", "GP-REFUSE-002"}},
	{"K5", "a provider publishes, updates, withdraws and retrieves, and keeps its withdrawal latency", "§11.6, §12.2, §12.4",
		[]Test{run("provider-life", providerLife)}, []string{"GP-INFO-001", "GP-PUBLISH-001", "GP-QUERY-001", "GP-UPDATE-001", "GP-WITHDRAW-002"}},
	{"K5a", "a projection is withdrawn by its reference, and gone when it has expired", "§12.2",
		[]Test{run("provider-reference-and-expiry", providerReferenceAndExpiry)}, []string{"GP-WITHDRAW-001", "GP-EXPIRY-001"}},
	{"K6", "the twelve objects, the results, and exactly the machine of §17.2", "§14, §15, §17.2",
		[]Test{run("twelve-objects", twelveObjects), scenario("11-handoff-to-the-end")}, []string{"GA-OBJECT-001", "GA-ANSWER-001"}},
	{"K6a", "required members, deadlines, one terminal answer to each request and at most one before it", "§14, §16.3",
		[]Test{run("one-terminal-answer", oneTerminalAnswer), scenario("05-late-approval")}, []string{"GA-EXPIRY-001", "GA-DUPLICATE-001"}},
	{"K6b", "depth, profile and features are negotiated and kept", "§14.1, §21",
		[]Test{run("negotiation", negotiation), scenario("08-consent-at-network-depth")}, []string{"GA-ACCEPT-001", "GA-REFUSED-001"}},
	{"K6c", "operators, unknown where the shape does not fit, and the limits of supersedes", "§14.2",
		[]Test{run("operators", operators), scenario("14-shapes")}, []string{"GA-CLAIM-001"}},
	{"K6d", "qualification is the conjunction of both views, and what has no answer blocks it", "§15.1, §15.2",
		[]Test{run("qualification", qualification), scenario("16-minimum-on-both-sides")}, nil},
	{"K6e", "qualification is computed anew, happens once, and a closed session stays closed", "§17.2",
		[]Test{run("computed-anew", computedAnew)}, []string{"GA-CLOSED-001"}},
	{"K6f", "an Opportunity comes from the initiator, once, and is checked", "§14.6",
		[]Test{run("opportunity", opportunity)}, nil},
	{"K6g", "an operational outcome carries no result, and what authority refuses is declined", "§15.3, §18",
		[]Test{run("operational-outcomes", operationalOutcomes)}, []string{"GA-LEAK-001"}},
	{"K7", "no answer is false", "§15.5",
		[]Test{run("no-false-answer", noFalseAnswer)}, nil},
	{"K8", "any claim may be declined and any session closed without a reason", "§14.8",
		[]Test{run("declined-and-unspecified", declinedAndUnspecified)}, []string{"GA-ALLOWED-001"}},
	{"K9", "a gate is satisfied before a value leaves", "§10.2, §14.4, §14.5",
		[]Test{run("gates", gates), scenario("07-partial-consent")}, []string{"GA-DISCLOSE-001"}},
	{"K9a", "an identity leaves by reveal_identity alone, whichever way it is asked for", "§10.6",
		[]Test{run("identity-three-routes", identityThreeRoutes)}, []string{"GA-IDENTITY-001", "GA-CONSENT-001"}},
	{"K9b", "a retention is stated only where it is kept", "§10.7",
		[]Test{run("retention", retention)}, nil},
	{"K10", "eight levels, none follows from another, COMMIT is never given", "§16",
		[]Test{run("levels", levels)}, nil},
	{"K10a", "no offer and no commitment inside a session", "§14.3, §14.5, §16.1",
		[]Test{run("no-commitment", noCommitment)}, []string{"GA-OBJECT-001"}},
	{"K11", "leaving ACTIVE withdraws projections and closes sessions", "§9.2, §17.1",
		[]Test{run("leaving-active", leavingActive)}, nil},
	{"K11a", "an inferred interest is confirmed before it is used", "§9.4",
		[]Test{run("inferred-is-confirmed", inferredIsConfirmed)}, nil},
	{"K12", "a Handoff needs its own consent and ends the session", "§14.7",
		[]Test{run("handoff", handoff), scenario("12-handoff-authority-withdrawn"), scenario("19-handoffs-without-cover")}, []string{"GA-HANDOFF-001"}},
	{"K13", "the vocabularies are closed", "§26",
		[]Test{run("closed-vocabularies", closedVocabularies)}, []string{"GA-OBJECT-001", "GA-ANSWER-001"}},
	{"K13a", "excludes is always evaluated; provides, requires and conditional_on where the feature is in force", "§19.1",
		[]Test{run("dependencies", dependencies), scenario("10-named-dependency")}, nil},
	{"K13b", "the carrier shows nothing of an interest, and activation negotiates no feature", "§22",
		[]Test{run("carrier", carrier)}, []string{"GA-CARD-003", "GA-INACTIVE-001", "GA-ACCEPT-001"}},
	{"K14", "a budget belongs to the interest and is never restored by a session", "§24.3",
		[]Test{run("budget", budget)}, nil},
	{"K15", "a threat model is published and says who holds the values", "§23.2, §24.12",
		[]Test{run("threat-model-form", threatModelForm)}, nil},
}

//go:embed testdata/scenarios/*.json
var shippedScenarios embed.FS

// scenario is the test that plays a shipped scenario.
func scenario(name string) Test {
	return Test{name, func() error {
		data, err := shippedScenarios.ReadFile("testdata/scenarios/" + name + ".json")
		if err != nil {
			return err
		}
		s, err := Load(data)
		if err != nil {
			return err
		}
		return s.Run(s.Build())
	}}
}

// Self plays every test of every criterion and reports each criterion. threatModel is the published document of K15 (Markdown); nil leaves that criterion
// untested. Cancelling ctx leaves what was not come to untested.
func Self(ctx context.Context, subject string, threatModel []byte) *report.Report {
	r := &report.Report{Subject: subject, Protocol: Protocol}
	failed, untested := 0, 0
	for _, c := range criteria {
		r.Rules = append(r.Rules, report.Rule{ID: c.ID, Title: c.Title, Section: c.Section})
		f := report.Finding{Rule: c.ID, Outcome: report.Pass, Message: "holds: " + names(c.Tests)}
		switch broken := brokenOf(ctx, c.Tests); {
		case ctx.Err() != nil:
			f.Outcome, f.Message, f.Reason = report.NotTested, NotLookedAt, "the check was ended before this was come to"
		case len(broken) > 0:
			f.Outcome, f.Message, f.Next = report.Fail, strings.Join(broken, "; "), "this program breaks the protocol here; do not use it"
		case c.ID == "K15" && threatModel == nil:
			f.Outcome, f.Message, f.Reason = report.NotTested, NotLookedAt, "this is an obligation of a deployment; no document was given"
		case c.ID == "K15":
			if err := ThreatModel(threatModel); err != nil {
				f.Outcome, f.Message, f.Next = report.Fail, err.Error(), "complete the document (sec. 16)"
			}
		}
		failed += count(f.Outcome == report.Fail)
		untested += count(f.Outcome == report.NotTested)
		r.Add(f)
	}
	r.Verdict = fmt.Sprintf("%d of %d criteria hold in this program", len(criteria)-failed-untested, len(criteria))
	if untested > 0 {
		r.Verdict += fmt.Sprintf("; %d not tested", untested)
	}
	r.Verdict += "."
	return r
}

// brokenOf returns what is wrong, one entry for each test that fails.
func brokenOf(ctx context.Context, tests []Test) (broken []string) {
	for _, t := range tests {
		if ctx.Err() != nil {
			return broken
		}
		if err := t.Run(); err != nil {
			broken = append(broken, t.Name+": "+report.Clean(clip(err.Error(), maxMessage)))
		}
	}
	return broken
}

func names(tests []Test) string {
	var out []string
	for _, t := range tests {
		out = append(out, t.Name)
	}
	return strings.Join(out, ", ")
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
