package mutants

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// mutant is a mistake: what stands in a file of the product, what is put in its place, and the test that must fail then.
type mutant struct {
	name     string
	file     string // of the product's module
	old, new string // old stands in the file exactly once
	pkg, run string // the test
}

var planted = []mutant{
	{"an expired claim is ignored (C-03)", "gidp/session/step.go",
		`			good = false
		default:`, `		default:`,
		"./gidp/session", "TestEveryInterleaving$"},
	{"unanswered claims are ignored (C-01)", "gidp/session/step.go",
		`			if r.env.Config.literal&ignoreUnanswered != 0 {
				return
			}
			good = false`, `			return`,
		"./gidp/session", "TestEveryInterleaving$"},
	{"the phase of a wait comes back with its answer (C-05)", "gidp/session/receive.go",
		`if r.env.Config.literal&literalPending != 0 && r.st.Phase.active() {`, `if r.st.Phase.active() {`,
		"./gidp/session", "TestEveryInterleaving$"},
	{"no refresh (C-06)", "gidp/session/step.go",
		`return r.refreshable() == nil`, `return r.refreshable() == nil && env.Now.IsZero()`,
		"./gidp/gidpcheck", "TestRefreshEndsAHang$"},
	{"a claim_id may be used again (X-01)", "gidp/session/receive.go",
		`if problem := r.legal(Theirs, o.Claims); problem != "" {`, `if problem := r.legal(Theirs, o.Claims); problem == "none" {`,
		"./gidp/gidpcheck", "TestX01"},
	{"a late approval is not judged again (X-02)", "gidp/session/decide.go",
		`		v = r.judge(s, decided, narrow)
	}
	if !v.status.Terminal() {`, `		v = verdict{status: wire.Granted, row: "D6", scope: s.Scope}
	}
	if !v.status.Terminal() {`,
		"./gidp/gidpcheck", "TestX02"},
	{"a Handoff needs no consent of its recipient (X-04)", "gidp/session/receive.go",
		`covered = covered && name != ""`, `covered = name != ""`,
		"./gidp/gidpcheck", "TestX04"},
	{"a Handoff after a contradiction (X-05)", "gidp/session/receive.go",
		`	if r.st.contradicted() {
		r.settleReports()
		r.closeWith(wire.ReasonIncompatible, "", "S-17")
	}`, ``,
		"./gidp/gidpcheck", "TestX05|TestOwnScenarios"},
	{"a consent grants deeper than the session (X-06)", "gidp/session/decide.go",
		`		case !r.withinDepth(a.Class):
			row = "D4"
`, ``,
		"./gidp/gidpcheck", "TestX06"},
	{"a network attribute goes to any peer (X-07)", "gidp/session/decide.go",
		`	case a.Class.Surface == gidp.Network && !a.Member:
		return refuse("D3")
`, ``,
		"./gidp/gidpcheck", "TestX07|TestDecisionOrder"},
	{"an approval is asked for before the depth is looked at", "gidp/session/decide.go",
		`	case a.Class.Surface == gidp.Network && !a.Member:
		return refuse("D3")
	case !r.withinDepth(a.Class):`, `	case !decided && a.Class.Gate == gidp.NeedsPrincipalOK:
		return verdict{status: wire.Pending, row: "D5"}
	case a.Class.Surface == gidp.Network && !a.Member:
		return refuse("D3")
	case !r.withinDepth(a.Class):`,
		"./gidp/gidpcheck", "TestDecisionOrder"},
	{"authority withdrawn still pends", "gidp/session/decide.go",
		`	case permission == gidp.No:
		out := refuse("D2")`, `	case permission == gidp.No && decided:
		out := refuse("D2")`,
		"./gidp/gidpcheck", "TestDecisionOrder|TestConsentOrder|TestOwnScenarios"},
	{"allowed_results is ignored (X-08)", "gidp/evaluate.go",
		`if !slices.Contains(q.Allowed, a.Result) {`, `if q.Allowed == nil {`,
		"./gidp/gidpcheck", "TestX08"},
	{"expiry is not enforced (X-09)", "gidp/session/receive.go",
		`	case r.now > e.Object.Expires().Unix()+seconds(r.env.Config.Skew):
		return &Refusal{CodeExpired, "D1", "the object has expired"}
`, ``,
		"./gidp/gidpcheck", "TestX09"},
	{"an Opportunity is not checked (X-10)", "gidp/session/receive.go",
		`case r.st.Vote != wire.StatusPotential || !r.matches(o):`, `case r.st.Vote != wire.StatusPotential:`,
		"./gidp/gidpcheck", "TestX10"},
	{"a refusal that comes late leaves the slot occupied (X-03)", "gidp/session/decide.go",
		`		r.st.Recv = Slot{}
		return`, `		if s.Provisional == "" {
			r.st.Recv = Slot{}
		}
		return`,
		"./gidp/gidpcheck", "TestX03"},
	{"an accept may add features and go deeper (X-11)", "gidp/session/receive.go",
		`if o.Profile != r.st.Profile || extra ||`, `if o.Profile != r.st.Profile || extra && o.MaxDepth == "" ||`,
		"./gidp/gidpcheck", "TestX11"},
	{"a request without claims is read (X-12)", "gidp/wire/members.go",
		`list(c, "claims", &o.Claims, 1, MaxClaims)`, `list(c, "claims", &o.Claims, 0, MaxClaims)`,
		"./gidp/wire", "TestWhatBreaksARuleIsRefusedWhole"},
	{"an empty grant consents (X-14)", "gidp/session/receive.go",
		`if o.Status == wire.Granted && (len(o.GrantedScope) > 0 || len(s.Scope) == 0) {`, `if o.Status == wire.Granted {`,
		"./gidp/gidpcheck", "TestX14"},
	{"a consent that comes too early is not told from others (X-15)", "gidp/session/decide.go",
		`	case s.Action != wire.ActDisclose && !s.Phase.qualified():
		return`, `	case s.Action != wire.ActDisclose && s.Phase == None:
		return`,
		"./gidp/gidpcheck", "TestX15"},
	{"the requested surface is not read (X-16)", "gidp/session/decide.go",
		`|| requested > a.Class.Surface:`, `:`,
		"./gidp/gidpcheck", "TestX16"},
	{"the routing of an open is not looked at (X-17)", "gidp/session/receive.go",
		`case e.Version || e.Unroutable ||`, `case e.Version ||`,
		"./gidp/gidpcheck", "TestX17"},
	{"a shape that does not fit contradicts (X-19)", "gidp/evaluate.go",
		`			r := wire.Unknown
			if a.kind() == held.kind() {`, `			r := wire.Incompatible
			if a.kind() == held.kind() {`,
		"./gidp/gidpcheck", "TestX19"},
	{"a contingency that was stated once is never withdrawn (X-20)", "gidp/session/step.go",
		`r.st.Stated = r.report.ContingentOn`, `r.st.Stated = set(slices.Concat(r.st.Stated, r.report.ContingentOn))`,
		"./gidp/gidpcheck", "TestX20"},
	{"a value outside of the domain counts to its last cell (X-22)", "gidp/profile.go",
		`	if v < p.Min || v > p.Max {
		return 0, false
	}
	i, exact`, `	i, exact`,
		"./gidp/gidpcheck", "TestX22"},
	{"a second provisional answer counts (X-13)", "gidp/session/receive.go",
		`case !status.Terminal() && r.st.Sent.Provisional != "":`, `case false:`,
		"./gidp/gidpcheck", "TestX13"},
	{"one more condition qualifies: a borderline answer alone", "gidp/session/step.go",
		`		case wire.Conditionally:
		case "":`, `		case wire.Conditionally:
			definite = true
		case "":`,
		"./gidp/gidpcheck", "TestBorderlineAloneDoesNotQualify"},
	{"qualification is remembered from mid-wait (06)", "gidp/session/step.go",
		`len(r.st.Requires) > 0 || r.st.Sent.Kind != SlotEmpty || r.st.Recv.Kind != SlotEmpty {`, `len(r.st.Requires) > 0 {`,
		"./gidp/session", "TestEveryInterleaving$"},
	{"the exact value answers one operator", "gidp/interest/view.go",
		`			return cells
`, `			_ = cells
			return gidp.Open{Value: value, Tree: tree, Meaning: gidp.FactHeld}
`,
		"./gidp/gidpcheck", "TestWhatMustNotShowDoesNotShow"},
	{"equals in the own cell is compatible", "gidp/evaluate.go",
		`		case lo == hi:
			return wire.Compatible
		}`, `		}
		return wire.Compatible`,
		"./gidp", "TestRepliesFactorThroughCells"},
	{"adjacent cells share an end", "gidp/evaluate.go",
		`always = always && asked.upTo(rat(hi))`, `always = always && asked.upTo(rat(hi-1))`,
		"./gidp", "TestRepliesFactorThroughCells|TestAlignedClaims"},
	{"never answers unknown", "gidp/evaluate.go",
		`return Answer{Result: wire.Declined, Row: "V2"}`, `return Answer{Result: wire.Unknown, Row: "V2"}`,
		"./gidp", "TestEvaluationOrder"},
	{"an identity is compared without a grant (03)", "gidp/evaluate.go",
		`case e.view.Identifying(c.Key) && (!slices.Contains(e.query.Revealed, c.Key) || e.view.Authority.At(Introduce) == No):`, `case e.view.Identifying(c.Key) && e.view.Authority.At(Introduce) == No:`,
		"./gidp", "TestEvaluationOrder"},
	{"the name of a dependency that is evaluation_only (04)", "gidp/session/step.go",
		`if !named || len(c.Names) == 0 {`, `if len(c.Names) == 0 {`,
		"./gidp/gidpcheck", "TestOwnScenarios|TestWhatMustNotShowDoesNotShow"},
	{"the ledger admits what one of its answers may not tell", "gidp/ledger.go",
		`for _, n := range counts {`, `for _, n := range counts[:1] {`,
		"./gidp", "TestBudget|TestLedgerProperties"},
	{"a changed value refunds what was told (L-6)", "gidp/ledger.go",
		`r.Burned, r.Remaining, r.Epoch = r.told(), full(r.Domain.Size()), r.Epoch+1`, `r.Remaining, r.Epoch = full(r.Domain.Size()), r.Epoch+1`,
		"./gidp", "TestLedgerProperties"},
	{"equal-width cells under a skewed prior", "gidp/profile/partition.go",
		`e != Snap(q) && !(math.Abs(float64(e)-q) <= 1) {`, `q < 0 {`,
		"./gidp/profile", "TestEqualWidthIsForUniformPriorsOnly"},
	{"a partition drawn anew by its next version", "gidp/profile/partition.go",
		`return !slices.ContainsFunc(coarse, func(e int64) bool { return !slices.Contains(fine, e) })`, `return len(coarse) <= len(fine)`,
		"./gidp/profile", "TestVersionsOfAPartitionAreNested|TestNested"},
	{"a projection with what is for sessions only (K4)", "gidp/interest/project.go",
		`!i.fits(d.Class, d.From, domain) || `, ``,
		"./gidp/interest", "TestProject"},
	{"the ledger is written after the answer (I13)", "internal/agent/commit.go",
		`		if err := t.a.saveLedger(ctx, t.w, ledger, out.Ledger); err != nil {
			return err
		}`, `		go t.a.Store.Update(context.WithoutCancel(ctx), func(w durable.Writer) error {
			return t.a.saveLedger(context.WithoutCancel(ctx), w, ledger, out.Ledger)
		})`,
		"./internal/agent", "TestOneBudgetForAll|TestDeliveryIsOnce"},
	{"each session has a ledger of its own (I13)", "internal/agent/commit.go",
		`	out, err := session.Deliver(env, ledger, before, d)`, `	for key, row := range ledger {
		if len(before.Props) == 0 {
			ledger[key], _ = gidp.NewRow(row.Domain, row.Limit)
		}
	}
	out, err := session.Deliver(env, ledger, before, d)`,
		"./internal/agent", "TestOneBudgetForAll"},
	{"an object that comes again is applied again (B-02)", "internal/agent/host.go",
		`		return true, nil
	case err == nil:
		return false, refusal(gidpa2a.Invalid, errOtherObject)`, `		return false, nil
	case err == nil:
		return false, refusal(gidpa2a.Invalid, errOtherObject)`,
		"./internal/agent", "TestDeliveryIsOnce"},
	{"the agent shows an answer at once (B-10)", "internal/agent/commit_emit.go",
		`if !t.row.Initiator && !t.received.IsZero() {`, `if t.row.Initiator && !t.received.IsZero() {`,
		"./internal/agent", "TestAnswersWaitForTheTick"},
	{"an answer is shown before the tick (B-10)", "gidp/gidpa2a/host.go",
		`n := max(1, (now.Sub(received)+tick-1)/tick)`, `n := (now.Sub(received) + tick - 1) / tick`,
		"./gidp/gidpa2a", "TestB10"},
	{"what is held back shows in the state (B-10)", "gidp/gidpa2a/host.go",
		`	case t.Closed && held < 0:`, `	case t.Closed:`,
		"./gidp/gidpa2a", "TestAt"},
	{"a held question awaits input (B-10)", "internal/agent/host.go",
		`	for _, own := range body.Own {
		if outstanding`, `	if len(body.Held) > 0 {
		task.Awaiting = 1
	}
	for _, own := range body.Own {
		if outstanding`,
		"./internal/agent", "TestHeldQuestions"},
	{"the endpoints of an interest share a part (P-3)", "internal/agent/projections.go",
		`	ref, err := a.draw(16)`, `	ref, err := a.draw(8)
	ref = truncated(a.Vault.MAC("endpoint", h.ID()))[:16] + ref`,
		"./internal/agent", "TestProjectionsCannotBeLinked"},
	{"a message is acknowledged before its commit (B-06)", "internal/agent/host.go",
		`	if err != nil {
		return gidpa2a.Task{}, operational(err)
	}
	if t != nil {`, `	if err != nil && task.ID == "" {
		return gidpa2a.Task{}, operational(err)
	}
	if t != nil {`,
		"./internal/agent", "TestCrashes"},
	{"a message counts as sent before it is (B-06)", "internal/agent/drive.go",
		`	default:
		got, err = a.Peers.Send(ctx, to, out.Outgoing)
	}`, `	default:
		if _, err = a.driven(ctx, id, func(t *turn) error { return t.acknowledge(ctx, out.number) }); err == nil {
			got, err = a.Peers.Send(ctx, to, out.Outgoing)
		}
	}`,
		"./internal/agent", "TestTheSameBytesAreSentAgain|TestALostAnswer|TestCrashes"},
	{"a withdrawal is answered before its commit (P-5)", "gidp/providerhttp/change.go",
		`		if err != nil {
			return provider.Row{}, err
		}
		if err := s.index.Apply(row); err != nil && !row.Withdrawn {`, `		if err != nil && !row.Withdrawn {
			return provider.Row{}, err
		}
		if err := s.index.Apply(row); err != nil && !row.Withdrawn {`,
		"./gidp/providerhttp", "TestReplicaBehindItsFeed"},
}

// A mistake has the number of its place in planted, or behind these of its place in criteria.
func numberOf(i int, criterion bool) int {
	if criterion {
		i += len(planted)
	}
	return i + 1
}

// TestEveryPlantedMistakeIsSeen runs each named test over the product with one mistake in it. A mistake that does not compile is no mistake, and a name that
// runs no test sees none.
func TestEveryPlantedMistakeIsSeen(t *testing.T) {
	p := everything(t)
	for i, m := range planted {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			out, failed := p.try(t, &m, numberOf(i, false))
			switch {
			case !failed:
				t.Fatalf("%s does not see it:\n%s", m.run, out)
			case !strings.Contains(out, "--- FAIL: Test"):
				t.Fatalf("it failed otherwise:\n%s", out)
			}
		})
	}
}

// Without a mistake every named test passes: what fails above fails of the mistake, and not of how it is planted.
func TestNothingFailsWithoutAMistake(t *testing.T) {
	p := everything(t)
	tests := map[string][]string{"./gidp/gidpcheck": {"^TestCriteria$"}}
	for _, m := range planted {
		tests[m.pkg] = append(tests[m.pkg], m.run)
	}
	for pkg, run := range tests {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			m := mutant{pkg: pkg, run: strings.Join(run, "|")}
			if out, failed := p.try(t, &m, 0); failed || !strings.Contains(out, "--- PASS: Test") {
				t.Errorf("it fails:\n%s", out)
			}
		})
	}
}

// everything is the product with all mistakes in it.
func everything(t *testing.T) *planting {
	t.Helper()
	p, err := plantAll()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var plantAll = sync.OnceValues(func() (*planting, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	if folder, err = os.MkdirTemp("", "sayso-mistakes-"); err != nil {
		return nil, err
	}
	p := newPlanting(root, folder)
	for i := range planted {
		p.add(numberOf(i, false), &planted[i])
	}
	for i, c := range criteria {
		p.add(numberOf(i, true), &mutant{file: c.file, old: c.old, new: c.new})
	}
	return p, p.write()
})

// folder is what plantAll writes to.
var folder string

func TestMain(m *testing.M) {
	code := m.Run()
	if folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// try runs the test of a mutant and reports whether it failed.
func (p *planting) try(t *testing.T, m *mutant, number int) (out string, failed bool) {
	t.Helper()
	binary, err := p.build(m.pkg)
	if err = errors.Join(p.unplaced[number], err); err != nil {
		t.Fatal(err)
	}
	var flags []string
	if drawsAtRandom(t, filepath.Join(p.root, m.pkg)) {
		flags = append(flags, "-rapid.nofailfile") // what a planted mistake finds is no case to keep
	}
	return p.run(binary, m.pkg, m.run, number, flags...)
}

// drawsAtRandom reports whether a test of a package uses rapid, which then has its flags.
func drawsAtRandom(t *testing.T, dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"pgregory.net/rapid"`) {
			return true
		}
	}
	return false
}
