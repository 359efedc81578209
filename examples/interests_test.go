package examples_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"sayso/examples"
	"sayso/gidp/profile"
	"sayso/internal/agent"
	"sayso/internal/agent/interestfile"
	"sayso/report"
)

// Every sample is read, can be used as it is without a warning, would be found, and says that it is made up; each profile that is shipped has one.
func TestInterests(t *testing.T) {
	names, err := fs.Glob(examples.Interests, "interests/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		text, err := fs.ReadFile(examples.Interests, name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# Made up.") {
			t.Errorf("%s does not say that it is made up", name)
		}
		doc, err := interestfile.Parse(path.Base(name), text)
		if err != nil {
			t.Error(err)
			continue
		}
		seen[doc.Profile] = true
		outlook, err := agent.Check(profile.Shipped(), doc)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range outlook.Report.Findings {
			if f.Outcome == report.Fail || f.Outcome == report.Warning && f.Rule != "GI-ORIGIN" { // who else is served is not the file's to say
				t.Errorf("%s: %s %s: %s", name, f.Rule, f.Place, f.Message)
			}
		}
		if outlook.Public == nil {
			t.Errorf("%s: nobody would find it", name)
		}
	}
	for _, id := range profile.Shipped().IDs() {
		if !seen[id] {
			t.Errorf("no sample of profile %s", id)
		}
	}
}
