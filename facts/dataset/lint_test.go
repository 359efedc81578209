package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sayso/facts/dataset"
	"sayso/report"
)

// confirmFirst are the cases whose rule looks at confirmed values only.
var confirmFirst = []string{"VF-D-008/good", "VF-D-014/good", "VF-D-014/bad", "VF-D-016/good", "VF-D-016/bad", "VF-D-017/good", "VF-D-017/bad"}

// caseDir lays a case of testdata/lint over the base folder.
func caseDir(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range []string{"base", name} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata/lint", from))); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Contains(confirmFirst, name) {
		confirmAll(t, dir)
	}
	return dir
}

// confirmAll confirms every draft as read today.
func confirmAll(t *testing.T, dir string) {
	t.Helper()
	folder, r := dataset.Load(os.DirFS(dir))
	if r.Failed() {
		t.Fatal(list(r, report.Fail))
	}
	for _, topic := range folder.Topics {
		for _, f := range topic.Facts {
			for _, v := range f.Values {
				o := dataset.ConfirmOptions{Key: f.Key, Period: v.Period, Value: v.Value.Text(), By: "test", Today: day(t, today), Offline: true}
				if _, err := dataset.Confirm(context.Background(), dir, o); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestLintRulesOnFolders(t *testing.T) {
	cases, err := filepath.Glob("testdata/lint/VF-D-*")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, c := range cases {
		rule := filepath.Base(c)
		t.Run(rule, func(t *testing.T) {
			for _, f := range lintDir(t, caseDir(t, rule+"/good")).Findings {
				if f.Rule == rule && (f.Outcome == report.Fail || f.Outcome == report.Warning) && !strings.HasSuffix(f.Message, "is a draft") {
					t.Errorf("the good folder breaks the rule: %+v", f)
				}
			}
			bad := lintDir(t, caseDir(t, rule+"/bad"))
			var got []report.Finding
			for _, f := range bad.Findings {
				if f.Rule == rule && f.Outcome != report.Pass && !strings.HasSuffix(f.Message, "is a draft") {
					got = append(got, f)
				}
				if f.Outcome == report.Fail && (f.Reason == "" || f.Next == "") {
					t.Errorf("a finding does not say why and what next: %+v", f)
				}
			}
			want := strings.Split(strings.TrimSpace(read(t, c, "want")), "\n")
			for _, line := range want {
				parts := strings.SplitN(line, " ", 3)
				if !slices.ContainsFunc(got, func(f report.Finding) bool {
					return string(f.Outcome) == parts[0] && f.Place == parts[1] && strings.Contains(f.Message, parts[2])
				}) {
					t.Errorf("missing: %s", line)
				}
			}
			if len(got) != len(want) || t.Failed() {
				t.Errorf("got %d findings, want %d:\n%s", len(got), len(want), list(bad, report.Fail, report.Warning))
			}
		})
	}
}

// sampleCopy is a copy of the sample folder that may be changed.
func sampleCopy(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/sample")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSampleLintsClean(t *testing.T) {
	wantClean(t, lintDir(t, "testdata/sample"))
}

// Every change to a line file or a signed member of the sample is an error of the rule that guards it.
func TestLintGuardsTheLineFiles(t *testing.T) {
	lines := func(s string) []string { return strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n") }
	tests := []struct {
		name, file, rule string
		change           func(string) string
	}{
		{"oldest entry dropped", "changelog.jsonl", "VF-D-011", func(s string) string { return strings.Join(lines(s)[1:], "") }},
		{"newest entry dropped", "changelog.jsonl", "VF-D-011", func(s string) string { l := lines(s); return strings.Join(l[:len(l)-1], "") }},
		{"entries swapped", "changelog.jsonl", "VF-D-011", func(s string) string { l := lines(s); l[0], l[1] = l[1], l[0]; return strings.Join(l, "") }},
		{"old label edited", "changelog.jsonl", "VF-D-011", func(s string) string { return strings.Replace(s, "Personal Allowance", "Allowance", 1) }},
		{"not canonical", "changelog.jsonl", "VF-D-011", func(s string) string { return strings.Replace(s, `"area":`, `"area": `, 1) }},
		{"cut off", "changelog.jsonl", "VF-D-011", func(s string) string { return s[:len(s)-1] }},
		{"unknown member", "changelog.jsonl", "VF-D-011", func(s string) string { return strings.Replace(s, `{"area"`, `{"aaa":1,"area"`, 1) }},
		{"emptied", "changelog.jsonl", "VF-D-011", func(string) string { return "" }},
		{"confirmation dropped", "confirmations.jsonl", "VF-D-008", func(s string) string { return strings.Join(lines(s)[1:], "") }},
		{"a reading made a conversion", "confirmations.jsonl", "VF-D-008", func(s string) string { return strings.Replace(s, "sample reader", "conversion", 1) }},
		{"confirmation of the future", "confirmations.jsonl", "VF-D-008", func(s string) string {
			return s + strings.Replace(lines(s)[0], "2026-03-02", "2027-03-02", 1) + "\n"
		}},
		{"confirmation line broken", "confirmations.jsonl", "VF-D-001", func(s string) string { return strings.Replace(s, `"by"`, `"By"`, 1) }},
		{"label edited (not signed)", "topics/zz/income-tax.yaml", "", func(s string) string {
			return strings.Replace(s, "label: Personal Allowance", "label: Personal tax allowance", 1)
		}},
		{"value edited", "topics/zz/income-tax.yaml", "VF-D-008", func(s string) string { return strings.Replace(s, "value: 12570", "value: 12571", 1) }},
		{"end edited", "topics/zz/income-tax.yaml", "VF-D-012", func(s string) string {
			return strings.Replace(s, "effectiveTo: 2027-04-05", "effectiveTo: 2027-04-04", 1)
		}},
		{"key deleted", "topics/zz/bank-rate.yaml", "VF-D-011", func(s string) string { return strings.Replace(s, "key: .", "key: x", 1) }},
		{"publisher edited", "publisher.yaml", "VF-D-012", func(s string) string { return strings.Replace(s, "figures.example/\"", "figures.example\"", 1) }},
		{"signature removed", "signatures.json", "VF-D-012", func(s string) string {
			l := lines(s)
			return strings.Join(append(l[:1:1], l[2:]...), "")
		}},
		{"signature wrong", "signatures.json", "VF-D-012", func(s string) string {
			return regexp.MustCompile(`\.\.[A-Za-z0-9_-]{4}`).ReplaceAllString(s, "..AAAA")
		}},
		{"no signature at all", "signatures.json", "VF-D-012", func(string) string { return `{"format":"sayso-signatures/1","signatures":[]}` }},
		{"other format", "signatures.json", "VF-D-012", func(s string) string { return strings.Replace(s, "signatures/1", "signatures/2", 1) }},
		{"key not listed", "jwks.json", "VF-D-012", func(s string) string { return strings.Replace(s, "ex-2026-10", "ex-2026-11", 1) }},
		{"key revoked before", "jwks.json", "VF-D-012", func(s string) string {
			return strings.Replace(s, `"retired":null`, `"retired":null,"revoked":"2026-10-04"`, 1)
		}},
		{"key set broken", "jwks.json", "VF-D-012", func(s string) string { return strings.Replace(s, `"OKP"`, `"EC"`, 1) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := sampleCopy(t)
			before := read(t, dir, tt.file)
			after := tt.change(before)
			if before == after {
				t.Fatal("the change changes nothing")
			}
			write(t, dir, map[string]string{tt.file: after})
			r := lintDir(t, dir)
			if tt.rule == "" {
				wantClean(t, r)
				return
			}
			if !strings.Contains(list(r, report.Fail), tt.rule+" fail") {
				t.Errorf("%s did not fail:\n%s", tt.rule, list(r, report.Fail, report.Warning))
			}
			if _, _, err := dataset.Open(os.DirFS(dir), day(t, today), dataset.DatasetOptions{}); err == nil {
				t.Error("Open accepts the folder")
			}
		})
	}
}

// Each rule is exercised by a folder or by a change of the sample, and none that is not listed is reported.
func TestRulesAreExhaustive(t *testing.T) {
	tested := map[string]bool{"VF-D-011": true, "VF-D-012": true} // TestLintGuardsTheLineFiles
	cases, _ := filepath.Glob("testdata/lint/VF-D-*")
	for _, c := range cases {
		tested[filepath.Base(c)] = true
	}
	rules := dataset.Rules()
	if len(rules) != 17 {
		t.Errorf("%d rules, want 17", len(rules))
	}
	for i, r := range rules {
		if want := "VF-D-0" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10)); r.ID != want || r.Title == "" {
			t.Errorf("rule %d is %+v, want %s", i, r, want)
		}
		if !tested[r.ID] {
			t.Errorf("%s has no test folder", r.ID)
		}
	}
	sources, _ := filepath.Glob("*.go")
	used := map[string]bool{}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") || name == "rules.go" {
			continue
		}
		for _, m := range regexp.MustCompile(`\brule[A-Z][A-Za-z]+`).FindAllString(read(t, ".", name), -1) {
			used[m] = true
		}
	}
	if len(used) < len(rules) {
		t.Errorf("only %d of %d rules are used: %v", len(used), len(rules), used)
	}
}

// A folder without the shape of one is refused with the place (F§10.1, T14).
func TestLoadRefusesShapes(t *testing.T) {
	base := map[string]string{"publisher.yaml": read(t, "testdata/lint/base", "publisher.yaml"), "topics/zz/tax.yaml": read(t, "testdata/lint/VF-D-001/good", "topics/zz/tax.yaml")}
	replace := func(old, new string) map[string]string {
		if !strings.Contains(base["topics/zz/tax.yaml"], old) {
			t.Fatalf("%q is not in the good file", old)
		}
		return map[string]string{"topics/zz/tax.yaml": strings.Replace(base["topics/zz/tax.yaml"], old, new, 1)}
	}
	tests := []struct {
		name    string
		overlay map[string]string
		want    string
	}{
		{"NaN", replace("12570", ".nan"), "VF-D-001 fail topics/zz/tax.yaml:7:16: \".nan\""},
		{"Infinity", replace("12570", "-.inf"), "VF-D-001 fail topics/zz/tax.yaml:7:16: \"-.inf\""},
		{"underscore", replace("12570", "12_570"), "VF-D-001 fail topics/zz/tax.yaml:7:16: \"12_570\""},
		{"hex", replace("12570", "0x311A"), "VF-D-001 fail topics/zz/tax.yaml:7:16: \"0x311A\""},
		{"octal", replace("12570", "030432"), "VF-D-001 fail topics/zz/tax.yaml:7:16: \"030432\""},
		{"1e400", replace("12570", "1e400"), "VF-D-004 fail topics/zz/tax.yaml:7:16: the number 1e400"},
		{"2^53+1", replace("12570", "9007199254740993"), "VF-D-004 fail topics/zz/tax.yaml:7:16: the number 9007199254740993"},
		{"inside an array", replace("12570", "[1, {a: 1e400}]"), "VF-D-004 fail topics/zz/tax.yaml:7:24: the number 1e400"},
		{"deep value", replace("12570", "[[[[[1]]]]]"), "VF-D-001 fail topics/zz/tax.yaml:7:16: value: "},
		{"null without withdrawal", replace("12570", "null"), "VF-D-001 fail topics/zz/tax.yaml:7:16: value is null"},
		{"numeric period", replace(`"2026-27"`, "2026"), "VF-D-001 fail topics/zz/tax.yaml:8:17: period is a number"},
		{"timestamp", replace("2026-04-06", "2026-04-06T00:00:00Z"), "VF-D-001 fail topics/zz/tax.yaml:9:24: effectiveFrom"},
		{"control character", replace("Tax allowance", `"Tax\u0007allowance"`), "VF-D-001 fail topics/zz/tax.yaml:4:12: label holds the control character U+0007"},
		{"direction override", replace("Tax allowance", `"Tax\u202eallowance"`), "U+202E"},
		{"no publisher", map[string]string{"publisher.yaml": ""}, "VF-D-001 fail publisher.yaml:1:1: the file is empty"},
		{"other format", map[string]string{"publisher.yaml": strings.Replace(base["publisher.yaml"], "dataset/1", "dataset/9", 1)}, "VF-D-001 fail publisher.yaml:1:9"},
		{"yml", map[string]string{"topics/zz/more.yml": "x"}, "VF-D-001 fail topics/zz/more.yml: the file ends in .yml"},
		{"candidate with verifiedDate", map[string]string{"candidates/a.yaml": base["topics/zz/tax.yaml"] + "        verifiedDate: 2026-11-20\n"}, "VF-D-001 fail candidates/a.yaml:13:23: a candidate carries a verifiedDate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, m := range []map[string]string{base, tt.overlay} {
				for k, v := range m {
					files[k] = v
				}
			}
			folder, r := dataset.Load(memory(files))
			if got := list(r, report.Fail); !strings.Contains(got, tt.want) {
				t.Errorf("got\n%s\nwant %s", got, tt.want)
			}
			if _, err := folder.Dataset(dataset.DatasetOptions{}); err == nil {
				t.Error("the folder gives a dataset")
			}
		})
	}
}

func TestLoadRefusesSymbolicLinks(t *testing.T) {
	dir := sampleCopy(t)
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(outside), map[string]string{"secret": "outside"})
	if err := os.Symlink(outside, filepath.Join(dir, "topics", "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := list(lintDir(t, dir), report.Fail); !strings.Contains(got, "topics/link.yaml: a symbolic link") {
		t.Errorf("got %s", got)
	}
}

// Private keys are found in any file and spelling, and public ones are left alone (VF-D-013).
func TestPrivateKeysAreFound(t *testing.T) {
	const d = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
	for text, secret := range map[string]bool{
		`{"kty":"OKP","d":"` + d + `"}`:                 true,
		"{\n  \"d\" :\n    \"" + d + "\"\n}":            true,
		"kty: OKP\nd: " + d + "\n":                      true,
		"'d': '" + d + "'":                              true,
		"d: " + d:                                       true,
		"-----BEGIN PRIVATE KEY-----\n":                 true,
		"text\n  -----BEGIN ENCRYPTED PRIVATE KEY-----": true,
		"AGE-SECRET-KEY-1QQQ":                           true,
		"age-encryption.org/v1\n-> scrypt x 18\n":       true,
		`{"kty":"OKP","x":"` + d + `"}`:                 false,
		`{"id":"` + d + `"}`:                            false,
		"PRIVATE KEY is what this note is about":        false,
		"d: short":                                      false,
		":":                                             false,
		"d:":                                            false,
	} {
		files := map[string]string{"publisher.yaml": read(t, "testdata/lint/base", "publisher.yaml"), "deep/er/notes.md": text}
		_, r := dataset.Load(memory(files))
		if got := strings.Contains(list(r, report.Fail), "VF-D-013 fail deep/er/notes.md"); got != secret {
			t.Errorf("%q: found %v, want %v", text, got, secret)
		}
	}
}

// A broken chain is told with its line, and no act appends to it.
func TestBrokenChainIsRefusedByItsLine(t *testing.T) {
	dir := sampleCopy(t)
	lines := strings.SplitAfter(read(t, dir, "changelog.jsonl"), "\n")
	write(t, dir, map[string]string{"changelog.jsonl": strings.Join(slices.Delete(lines, 1, 2), ""), "candidates/levies.yaml": candidateFile})
	if !slices.ContainsFunc(lintDir(t, dir).Findings, func(f report.Finding) bool { return f.Rule == "VF-D-011" && f.Place == "changelog.jsonl:2:1" }) {
		t.Error("no finding at the line behind the one that is missing")
	}
	_, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{Key: "zz/levies/sugar-levy", Today: day(t, today)})
	wantKind(t, err, dataset.Refused, "the changelog is not whole")
}

// The missing signature and the changelog follow a figure that was changed by hand: the refusal names the figure's own error.
func TestTheCauseIsNotTheSignature(t *testing.T) {
	const file = "topics/zz/income-tax.yaml"
	dir := sampleCopy(t)
	write(t, dir, map[string]string{file: strings.Replace(read(t, dir, file), "value: 12570", "value: 12999", 1)})
	_, _, err := dataset.Open(os.DirFS(dir), day(t, today), dataset.DatasetOptions{})
	var refused *dataset.FolderError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want a *FolderError", err)
	}
	if f := refused.Cause(); f.Rule != "VF-D-008" || !strings.HasPrefix(f.Place, file+":18:") || !strings.HasPrefix(err.Error(), f.Place) {
		t.Errorf("%+v: %v", f, err)
	}
}

// A figure that cannot be read is one finding at its place: what would follow from its absence is not told.
func TestLintNamesTheCauseAlone(t *testing.T) {
	const file = "topics/zz/income-tax.yaml"
	original := read(t, "testdata/sample", file)
	for name, c := range map[string]struct{ old, new, want string }{
		"grouping":   {"value: 12570", "value: 12_570", "VF-D-001 " + file + ":13:16"},
		"sentinel":   {"value: 12570", "value: 9e99", "VF-D-004 " + file + ":13:16"},
		"precision":  {"value: 12570", "value: 9007199254740993", "VF-D-004 " + file + ":13:16"},
		"day":        {"effectiveFrom: 2026-04-06", "effectiveFrom: 2026-02-30", "VF-D-001 " + file + ":14:24"},
		"anchor":     {"topic: {", "topic: &a {", "VF-D-001 " + file + ":1:8"},
		"no mapping": {original, "- a\n", "VF-D-001 " + file + ":1:1"},
	} {
		dir := sampleCopy(t)
		write(t, dir, map[string]string{file: strings.Replace(original, c.old, c.new, 1)})
		var got []string
		for _, f := range lintDir(t, dir).Findings {
			if f.Outcome == report.Fail {
				got = append(got, f.Rule+" "+f.Place)
			}
		}
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
