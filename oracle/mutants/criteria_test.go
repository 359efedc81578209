package mutants

import (
	"slices"
	"strings"
	"testing"

	"sayso/gidp/gidpcheck"
)

// against is a mistake, as mutant has it, and the tests of criteria that fail with it, CRITERION/TEST each.
type against struct {
	name, file, old, new string
	fails                []string
}

var criteria = []against{
	{"a dependency that is not named leaves no mark", "gidp/session/step.go", `return []string{wire.Undisclosed}`, `return []string{}`, []string{"K1/four-situations"}},
	{"a dependency that may be told is not named", "gidp/session/step.go", `return set(c.Names[:min(len(c.Names), wire.MaxList)])`, `return []string{wire.Undisclosed}`, []string{"K13a/10-named-dependency"}},
	{"a network attribute goes to any peer", "gidp/session/decide.go", `	case a.Class.Surface == gidp.Network && !a.Member:
		return refuse("D3")
`, ``, []string{"K2/nothing-local-leaves", "K3a/decision-order", "K3b/09-network-audience"}},
	{"what is closed answers unknown", "gidp/evaluate.go", `return Answer{Result: wire.Declined, Row: "V5"}`, `return Answer{Result: wire.Unknown, Row: "V5"}`, []string{"K2/15-protected-without-cells"}},
	{"never answers unknown", "gidp/evaluate.go", `return Answer{Result: wire.Declined, Row: "V2"}`, `return Answer{Result: wire.Unknown, Row: "V2"}`, []string{"K2a/never-leaves-no-trace"}},
	{"a refusal without its row", "gidp/session/decide.go", `return refuse("D5a")`, `return refuse("")`, []string{"K3/every-object-has-its-row"}},
	{"a late approval is not judged again", "gidp/session/decide.go", `		v = r.judge(s, decided, narrow)
	}
	if !v.status.Terminal() {`, `		v = verdict{status: wire.Granted, row: "D6", scope: s.Scope}
	}
	if !v.status.Terminal() {`, []string{"K3a/06-late-approval-after-withdrawal"}},
	{"the least protective entry wins", "gidp/policy.go", `class.MoreProtective(found)`, `found.MoreProtective(class)`, []string{"K3b/classes"}},
	{"a projection with what is for sessions only", "gidp/interest/project.go", `!i.fits(d.Class, d.From, domain) || `, ``, []string{"K4/projection"}},
	{"a withdrawal takes twice the published latency", "gidp/provider/provider.go", `ack.EffectiveBy = now.Add(p.cfg.Latency)`, `ack.EffectiveBy = now.Add(2 * p.cfg.Latency)`, []string{"K5/provider-life"}},
	{"what has expired is found", "gidp/provider/search.go", `return !s.withdrawn && s.live(now) && !barred(s.owner)`, `return !s.withdrawn && !barred(s.owner)`, []string{"K5a/provider-reference-and-expiry"}},
	{"members that nobody knows are read over", "gidp/wire/codec.go", `	c.fail("", "a member that the protocol does not know")
`, ``, []string{"K6/twelve-objects"}},
	{"a covered hand-over is not accepted", "gidp/session/receive.go", `case act && covered && r.st.Sent.Kind == SlotEmpty`, `case act && !covered && r.st.Sent.Kind == SlotEmpty`, []string{"K6/11-handoff-to-the-end"}},
	{"a second provisional answer counts", "gidp/session/receive.go", `case !status.Terminal() && r.st.Sent.Provisional != "":`, `case false:`, []string{"K6a/one-terminal-answer"}},
	{"a decision is not carried out", "gidp/session/decide.go", `	r.settle(e.Granted, true, e.Scope)
`, ``, []string{"K6a/05-late-approval"}},
	{"an accept under another profile is taken", "gidp/session/receive.go", `if o.Profile != r.st.Profile || extra ||`, `if extra ||`, []string{"K6b/negotiation"}},
	{"a consent grants deeper than the session", "gidp/session/decide.go", `		case !r.withinDepth(a.Class):
			row = "D4"
`, ``, []string{"K6b/08-consent-at-network-depth"}},
	{"a claim_id may be used again", "gidp/session/local.go", `if r.st.proposition(side, c.ID) != nil || `, `if `, []string{"K6c/operators"}},
	{"values of different kinds are compared", "gidp/evaluate.go", `if a.kind() == held.kind() {`, `if a.kind() == a.kind() {`, []string{"K6c/14-shapes"}},
	{"a borderline answer qualifies", "gidp/session/step.go", `		case wire.Conditionally:
		case "":`, `		case wire.Conditionally:
			definite = true
		case "":`, []string{"K6d/qualification"}},
	{"the minimum is not looked at", "gidp/session/step.go", `range r.env.View.Minimum() {`, `range []string(nil) {`, []string{"K6d/16-minimum-on-both-sides"}},
	{"qualification is remembered from mid-wait", "gidp/session/step.go", `len(r.st.Requires) > 0 || r.st.Sent.Kind != SlotEmpty || r.st.Recv.Kind != SlotEmpty {`, `len(r.st.Requires) > 0 {`, []string{"K6e/computed-anew"}},
	{"an Opportunity is not checked", "gidp/session/receive.go", `case r.st.Vote != wire.StatusPotential || !r.matches(o):`, `case r.st.Vote != wire.StatusPotential:`, []string{"K6f/opportunity"}},
	{"authority withdrawn still pends", "gidp/session/decide.go", `	case permission == gidp.No:
		out := refuse("D2")`, `	case permission == gidp.No && decided:
		out := refuse("D2")`, []string{"K6g/operational-outcomes"}},
	{"equals in the own cell is compatible", "gidp/evaluate.go", `		case lo == hi:
			return wire.Compatible
		}`, `		}
		return wire.Compatible`, []string{"K7/no-false-answer"}},
	{"allowed_results is ignored", "gidp/evaluate.go", `if !slices.Contains(q.Allowed, a.Result) {`, `if q.Allowed == nil {`, []string{"K8/declined-and-unspecified"}},
	{"a consent gate is open", "gidp/session/decide.go", `case a.Class.Gate == gidp.NeedsConsent && !r.consented(s.Attribute, identity):`, `case a.Class.Gate == gidp.NeedsConsent && decided && !r.consented(s.Attribute, identity):`, []string{"K9/gates"}},
	{"a consent grants what is not held", "gidp/session/decide.go", `		case !a.Held || !a.Class.Disclosable():
			row = "D4a"
`, ``, []string{"K9/07-partial-consent"}},
	{"an identity is disclosed without a grant", "gidp/session/decide.go", `	case identity && !revealed:
		return refuse("D2a")
`, `	case identity && !revealed && decided:
`, []string{"K9a/identity-three-routes"}},
	{"a retention that nobody stated", "gidp/session/local.go", `Retention: e.Retention,`, `Retention: wire.RetainUnrestricted,`, []string{"K9b/retention"}},
	{"commit is given", "gidp/policy.go", `if l >= Commit {`, `if l > Commit {`, []string{"K10/levels"}},
	{"a consent may bind", "gidp/wire/members_codec.go", `ok && string(raw) != "false"`, `ok && len(raw) == 0`, []string{"K10a/no-commitment"}},
	{"sessions are closed before projections are withdrawn", "gidp/interest/lifecycle.go", `[]Duty{WithdrawProjections, CloseSessions, DiscardInbox}`, `[]Duty{CloseSessions, WithdrawProjections, DiscardInbox}`, []string{"K11/leaving-active"}},
	{"an inferred interest is used", "gidp/interest/lifecycle.go", `case i.Origin != Stated && !i.Confirmed:`, `case i.Origin == "" && !i.Confirmed:`, []string{"K11a/inferred-is-confirmed"}},
	{"a Handoff needs no consent of its recipient", "gidp/session/receive.go", `covered = covered && name != ""`, `covered = name != ""`, []string{"K12/handoff"}},
	{"a Handoff needs no consent to its target", "gidp/session/local.go", `case name == "" || !covered:`, `case name == "" || covered && name == "":`, []string{"K12/19-handoffs-without-cover"}},
	{"a Handoff outlives the authority for it", "gidp/session/receive.go", `r.st.Sent.Kind == SlotEmpty && r.env.View.Authority.At(gidp.Introduce) != gidp.No && !r.st.contradicted():`, `r.st.Sent.Kind == SlotEmpty && !r.st.contradicted():`,
		[]string{"K12/12-handoff-authority-withdrawn"}},
	{"a word is added to a vocabulary", "gidp/wire/members_codec.go", `return "not in the closed vocabulary"`, `return ""`, []string{"K13/closed-vocabularies"}},
	{"dependencies are evaluated without the feature", "gidp/evaluate.go", `case reserved && feature && !slices.Contains(e.query.Features, wire.FeatureDependencies):`, `case reserved && feature && e.query == nil:`, []string{"K13a/dependencies"}},
	{"a card that tells references apart", "gidp/gidpa2a/card.go", `Name: cardName, Description: cardDescription, Version`, `Name: cardName + base[len(base)-2:], Description: cardDescription, Version`, []string{"K13b/carrier"}},
	{"the ledger admits what one of its answers may not tell", "gidp/ledger.go", `for _, n := range counts {`, `for _, n := range counts[:1] {`, []string{"K14/budget"}},
	{"an empty statement on custody", "gidp/gidpcheck/try_data.go", `(topic != "custody" || size > 0)`, `size >= 0`, []string{"K15/threat-model-form"}},
}

// TestEveryCriterionCanFail plants a mistake against each test of each criterion.
func TestEveryCriterionCanFail(t *testing.T) {
	p := everything(t)
	var covered []string
	for i, c := range criteria {
		covered = append(covered, c.fails...)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, failed := p.try(t, &mutant{pkg: "./gidp/gidpcheck", run: "^TestCriteria$"}, numberOf(i, true))
			if !failed {
				t.Fatalf("nothing fails:\n%s", out)
			}
			for _, name := range c.fails {
				if !strings.Contains(out, "--- FAIL: TestCriteria/"+name+" ") {
					t.Errorf("%s does not see it:\n%s", name, out)
				}
			}
		})
	}
	for _, c := range gidpcheck.Criteria() {
		for _, test := range c.Tests {
			if name := c.ID + "/" + test.Name; !slices.Contains(covered, name) {
				t.Errorf("no mistake is planted against %s", name)
			}
		}
	}
}
