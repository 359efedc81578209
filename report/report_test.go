package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sayso/report"
)

func sample() *report.Report {
	return &report.Report{
		Subject: "https://facts.example", Protocol: "verified-facts/0.2", Verdict: "L1 does not hold: one check failed.",
		Rules: []report.Rule{{ID: "VF-L1-001a", Title: "facts.json is served", Section: "F§12"}, {ID: "VF-L1-003c", Title: "hash recomputed", Section: "F§12"}, {ID: "VF-L9", Title: "unused"}},
		Findings: []report.Finding{
			{Rule: "VF-L1-003c", Outcome: report.Pass, Place: "https://facts.example/f/b", Message: "fits"},
			{Rule: "VF-L1-004c", Outcome: report.NotTested, Message: "sources were not fetched", Reason: "--no-sources"},
			{Rule: "VF-L1-003c", Outcome: report.Fail, Place: "https://facts.example/f/a-rather-long-key-that-does-not-fit/on-one-line-of-eighty-columns.json",
				Message: "the hash in the record is not the hash of the claim that the record states, so one of the two was changed", Next: "sign and build again"},
			{Rule: "VF-L1-003c", Outcome: report.Pass, Place: "https://facts.example/f/a", Message: "fits"},
			{Rule: "VF-L1-001a", Outcome: report.Pass, Message: "served"},
			{Rule: "VF-L1-001f", Outcome: report.Warning, Message: "a URL is on another host"},
		},
	}
}

func text(t *testing.T, r *report.Report, o report.TextOptions) string {
	var b strings.Builder
	if err := r.WriteText(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextForStrangers(t *testing.T) {
	r := sample()
	r.Sort()
	got := text(t, r, report.TextOptions{Width: 80})
	want := `https://facts.example  (verified-facts/0.2)
L1 does not hold: one check failed.
failed 1, warnings 1, not tested 1, passed 3

FAILED (1)
  VF-L1-003c  hash recomputed
    https://facts.example/f/a-rather-long-key-that-does-not-fit/on-one-line-of-eighty-columns.json
    the hash in the record is not the hash of the claim that the record states,
      so one of the two was changed
      next: sign and build again

WARNINGS (1)
  VF-L1-001f
    a URL is on another host

NOT TESTED (1)
  VF-L1-004c
    sources were not fetched
      why:  --no-sources

PASSED (3)
  VF-L1-001a  facts.json is served
  VF-L1-003c  hash recomputed (2 places)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.Add(report.Finding{Rule: "VF-L1-001a", Outcome: report.Pass, Message: "facts.json is served"})
	r.Sort()
	verbose := text(t, r, report.TextOptions{Verbose: true})
	if !strings.Contains(verbose, "/f/b\n    fits") || strings.Count(verbose, "facts.json is served") != 1 {
		t.Errorf("verbose:\n%s", verbose)
	}
	if strings.Contains(got, "\x1b") || !strings.Contains(text(t, r, report.TextOptions{Color: true}), "\x1b[1;31mFAILED (1)\x1b[0m") {
		t.Error("colour only when asked")
	}
}

func TestLinesFitUnlessOneWordDoesNot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(20, 100).Draw(rt, "width")
		r := sample()
		r.Findings[2].Message = rapid.String().Draw(rt, "message")
		for line := range strings.Lines(text(t, r, report.TextOptions{Width: width, Verbose: true})) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
				rt.Fatalf("%d columns: %q", width, line)
			}
		}
	})
}

func TestHostileTextStaysText(t *testing.T) {
	r := sample()
	evil := "\x1b]0;owned\x07<script>alert(1)</script>\r\n\u202egnp\u0085\u2028\xff\"'&"
	r.Subject, r.Verdict = evil, evil
	r.Findings[0] = report.Finding{Rule: "<b>", Outcome: report.Fail, Place: "javascript:" + evil, Message: evil, Reason: evil, Next: evil}
	for _, out := range []string{text(t, r, report.TextOptions{Verbose: true}), html(t, r)} {
		for _, bad := range []string{"\x1b", "\x07", "\u202e", "\u0085", "\u2028", "\r"} {
			if strings.Contains(out, bad) {
				t.Errorf("%q reached the output", bad)
			}
		}
	}
	if page := html(t, r); strings.Contains(page, "<script") || strings.Contains(page, "<b>") {
		t.Error("markup reached the page")
	}
}

func html(t *testing.T, r *report.Report) string {
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTMLIsSelfContained(t *testing.T) {
	page := html(t, sample())
	for _, bad := range []string{"<script", "src=", "href=", "url(", "@import", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %s", bad)
		}
	}
	for _, need := range []string{`<html lang="en">`, "<title>", "<main>", "<h1>", "prefers-color-scheme: dark", "hash recomputed", "sign and build again"} {
		if !strings.Contains(page, need) {
			t.Errorf("the page lacks %s", need)
		}
	}
	if strings.Index(page, "Failed (1)") > strings.Index(page, "Passed (3)") {
		t.Error("failures must come first")
	}
}

func TestJSON(t *testing.T) {
	r := sample()
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		report.Report
		Counts map[string]int `json:"counts"`
	}
	dec := json.NewDecoder(strings.NewReader(b.String()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Counts["fail"] != 1 || got.Counts["pass"] != 3 || len(got.Counts) != 4 || len(got.Rules) != 2 || len(got.Findings) != 6 || got.Findings[2] != r.Findings[2] {
		t.Errorf("%+v", got)
	}
	empty := (&report.Report{}).AppendJSON(nil)
	if !strings.HasSuffix(string(empty), `"findings":[]}`) {
		t.Errorf("without findings: %s", empty)
	}
}

func TestJSONStringsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		r := &report.Report{Verdict: s, Findings: []report.Finding{{Message: s, Next: s}}}
		var got report.Report
		if err := json.Unmarshal(r.AppendJSON(nil), &got); err != nil {
			t.Fatal(err)
		}
		if got.Verdict != strings.ToValidUTF8(s, "\uFFFD") || got.Findings[0].Next != got.Verdict {
			t.Fatalf("%q became %q", s, got.Verdict)
		}
	})
}

// No control character of foreign text leaves in JSON either, also not the eight-bit ones.
func TestJSONHasNoControls(t *testing.T) {
	all := ""
	for c := rune(0); c < 0x100; c++ {
		all += string(c)
	}
	out := string((&report.Report{Verdict: all, Findings: []report.Finding{{Rule: all, Place: all, Message: all}}}).AppendJSON(nil))
	if i := strings.IndexFunc(out, unicode.IsControl); i >= 0 {
		t.Errorf("%q", out[i:i+2])
	}
	var got report.Report
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Verdict != all {
		t.Errorf("%v: %q", err, got.Verdict)
	}
}

func TestCountsAndFailed(t *testing.T) {
	r := &report.Report{}
	if r.Failed() || len(r.Counts()) != 4 {
		t.Error("an empty report has four counts and no failure")
	}
	r.Add(report.Finding{Outcome: report.Warning})
	r.Add(report.Finding{Outcome: report.NotTested})
	if r.Failed() {
		t.Error("a warning is no failure, and neither is what was not tested")
	}
	r.Add(report.Finding{Outcome: report.Fail})
	if !r.Failed() || r.Counts()[report.Fail] != 1 {
		t.Error("a failure is one")
	}
}

// A reason that keeps several rules from being looked at is told once.
func TestTextGroupsNotTested(t *testing.T) {
	r := &report.Report{Subject: "http://a", Rules: []report.Rule{{ID: "R-1", Title: "one"}, {ID: "R-2", Title: "two"}, {ID: "R-3", Title: "three"}, {ID: "R-4", Title: "four"}}}
	for _, f := range []report.Finding{
		{Rule: "R-1", Place: "http://a", Message: "not looked at", Reason: "binds readers"},
		{Rule: "R-2", Place: "http://a/b", Message: "not looked at", Reason: "binds readers"},
		{Rule: "R-3", Place: "http://a", Message: "not looked at", Reason: "binds readers"},
		{Rule: "R-4", Place: "http://a", Message: "no answer", Next: "try again"},
	} {
		f.Outcome = report.NotTested
		r.Add(f)
	}
	_, got, _ := strings.Cut(text(t, r, report.TextOptions{}), "NOT TESTED (4)\n")
	want := `  not looked at: binds readers
    R-1  one
    R-3  three
  R-2  two
    http://a/b
    not looked at
      why:  binds readers
  R-4  four
    http://a
    no answer
      next: try again
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if verbose := text(t, r, report.TextOptions{Verbose: true}); strings.Count(verbose, "why:  binds readers") != 3 {
		t.Errorf("verbose:\n%s", verbose)
	}
}
