package gidpcheck

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Every criterion has something that is executed, and it holds here. Package oracle/mutants holds that each of them can fail.
func TestCriteria(t *testing.T) {
	id := regexp.MustCompile(`^K([1-9]|1[0-5])[a-z]?$`)
	rules := map[string]bool{}
	for _, r := range Rules() {
		rules[r.ID] = true
	}
	seen := map[string]bool{}
	for _, c := range Criteria() {
		if !id.MatchString(c.ID) || seen[c.ID] || c.Title == "" || c.Section == "" || len(c.Tests) == 0 {
			t.Errorf("%+v", c)
		}
		seen[c.ID] = true
		t.Run(c.ID, func(t *testing.T) {
			for _, o := range c.Tests {
				t.Run(o.Name, func(t *testing.T) {
					if err := o.Run(); err != nil {
						t.Error(err)
					}
				})
			}
		})
		for _, rule := range c.Outside {
			if !rules[rule] {
				t.Errorf("%s: %s is no rule", c.ID, rule)
			}
		}
	}
	for _, want := range []string{"K1", "K2", "K2a", "K3", "K3a", "K3b", "K4", "K5", "K5a", "K6", "K6a", "K6b", "K6c", "K6d", "K6e", "K6f", "K6g", "K7", "K8", "K9", "K9a", "K9b", "K10", "K10a",
		"K11", "K11a", "K12", "K13", "K13a", "K13b", "K14", "K15"} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

// K15: the threat model of this program has its topics and says who holds the values.
func TestThreatModel(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "gidp-threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := ThreatModel(data); err != nil {
		t.Error(err)
	}
	if r := Self(t.Context(), "self", data); r.Failed() || len(r.Findings) != len(criteria) {
		t.Errorf("%s: %+v", r.Verdict, r.Findings)
	}
	if r := Self(t.Context(), "self", []byte("# nothing")); !r.Failed() {
		t.Error("an empty threat model passes")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range Self(ctx, "self", nil).Findings {
		if f.Outcome != "not_tested" {
			t.Errorf("%+v after the end", f)
		}
	}
}
