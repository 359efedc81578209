package app_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sayso/business/coverage"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/jcs"
)

func questions(texts ...string) []app.CoverageQuestion {
	out := make([]app.CoverageQuestion, len(texts))
	for i, text := range texts {
		out[i].Query = text
	}
	return out
}

// The report says what the answers say, in every state of the publisher, and ranks what is missing by how many questions ask it.
func TestCoverageReport(t *testing.T) {
	w, _ := shopWorld(t)
	ctx, r, ops := t.Context(), w.Registry, apptest.Operator(t, "ops")
	list := questions("Do you offer eye exams?", "Do you sell hearing aids?", "Do you repair Hearing aids?", "How much is an eye exam?", "", strings.Repeat("x", 600), "\xff")
	check := func(state string) {
		t.Helper()
		report, err := r.Coverage(ctx, ops, "shop", list)
		must(t, err)
		if want := (app.CoverageTotals{Questions: 7, Resolved: 1, Partial: report.Totals.Partial, NotCovered: report.Totals.NotCovered, Refused: 3}); report.Totals != want ||
			report.Totals.Partial+report.Totals.NotCovered != 3 {
			t.Errorf("%s: %+v", state, report.Totals)
		}
		if a := report.Answers[0]; a.Status != coverage.Resolved || a.Polarity != "positive" || len(a.Unresolved) != 0 || a.Query != list[0].Query {
			t.Errorf("%s: %+v", state, a)
		}
		if report.Handler != "hybrid.resolve" || report.Generation != 2 {
			t.Errorf("%s: %s, generation %d", state, report.Handler, report.Generation)
		}
		if len(report.Publish) == 0 || report.Publish[0] != (app.CoverageUnstated{Text: "aids", Reason: "unknown_word", Questions: 2}) {
			t.Fatalf("%s: publish %+v", state, report.Publish)
		}
		if !slices.Contains(report.Publish, app.CoverageUnstated{Text: "hearing", Reason: "unknown_word", Questions: 2}) ||
			!slices.ContainsFunc(report.Publish, func(u app.CoverageUnstated) bool { return u.Field == "price" && u.Questions == 1 }) {
			t.Errorf("%s: publish %+v", state, report.Publish)
		}
		text, err := json.Marshal(report)
		must(t, err)
		if strings.Contains(string(text), "attestation") || strings.Contains(string(text), apptest.Origin) {
			t.Errorf("%s: the report looks like an answer: %s", state, text)
		}
	}
	check("published")
	for name, do := range map[string]func() error{
		"paused":    func() error { _, err := r.Pause(ctx, ops, "shop", app.ActInput{}); return err },
		"suspended": func() error { _, err := r.Suspend(ctx, ops, "shop", app.ActInput{Reason: "x"}); return err },
		"withdrawn": func() error { _, err := r.Withdraw(ctx, ops, "shop", "", app.ActInput{Reason: "x"}); return err },
	} {
		if err := do(); err != nil && code(t, err) != "not_published" && code(t, err) != "withdrawn" {
			t.Fatal(err)
		}
		check(name)
	}
}

// A report says of each question what the tool says of it.
func TestCoverageIsWhatIsAnswered(t *testing.T) {
	w, _ := shopWorld(t)
	observe(t, w, app.ReadingRow{Stream: "waiting", Type: "service", ID: "a", Value: jcs.Raw("37")})
	list := []app.CoverageQuestion{
		{Query: "What is the waiting time for eye exams?"}, {Query: "Is North open on Sunday?"}, {Query: "Haben Sie Eye exam?", Language: "de"}, {Query: "How much is it?"},
	}
	report, err := w.Registry.Coverage(t.Context(), apptest.Operator(t, "ops"), "shop", list)
	must(t, err)
	for i, q := range list {
		arguments, err := jcs.Encode(q)
		must(t, err)
		e := ask(t, w.Registry, "both", string(arguments))
		if a := report.Answers[i]; a.Status != e.Coverage.Status || len(a.Unresolved) != len(e.Coverage.Unresolved) || (len(a.Missing) > 0) != (e.Clarification != nil) {
			t.Errorf("%s: %+v, and the answer is %+v", q.Query, a, e.Coverage)
		}
	}
}

func TestCoverageRefuses(t *testing.T) {
	w, h := shopWorld(t)
	w.Publisher(t, "other")
	ctx, ops := t.Context(), apptest.Operator(t, "ops")
	r := h.over(t, w, nil)
	refused := func(what string, actor app.Actor, slug string, list []app.CoverageQuestion, want string) {
		t.Helper()
		_, err := r.Coverage(ctx, actor, slug, list)
		wantCode(t, what, err, want)
	}
	owner, _ := w.Owner(t, "shop", app.ScopeLive)
	refused("none", ops, "shop", nil, "no_questions")
	refused("too many", ops, "shop", questions(make([]string, app.MaxCoverage+1)...), "too_many_questions")
	refused("the most", ops, "shop", questions(make([]string, app.MaxCoverage)...), "")
	refused("nobody", ops, "nobody", questions("x"), "unknown_publisher")
	refused("its owner", owner, "shop", questions("x"), "")
	refused("another's owner", owner, "other", questions("x"), "unauthorized")
	for _, read := range []string{"View", "Publisher", "Records", "Generation", "Readings"} {
		h.on(fails(read))
		if report, err := r.Coverage(ctx, ops, "shop", questions(asked[6].arguments, "What is the waiting time for eye exams?")); report != nil || app.AsError(err).Kind != app.KindUnavailable || errors.Is(err, app.ErrNotFound) {
			t.Errorf("%s: %+v, %v", read, report, err)
		}
		h.on(nil)
	}
}
