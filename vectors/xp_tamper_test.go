package vectors_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/vectors"
)

// Every row of the list of tampered documents has a vector, every vector is whole and names evidence that is there, and no evidence is left over.
func TestTampersXP(t *testing.T) {
	evidence := vectors.TamperEvidenceXP()
	used, rows := map[string]bool{}, map[string]bool{}
	for _, v := range vectors.TampersXP() {
		row, _, _ := strings.Cut(v.Name, "-")
		rows[row] = true
		for _, name := range []string{v.RegistryKeys, v.PublisherKeys, v.Revocations, v.PublisherList} {
			if _, ok := evidence[name]; name != "" && !ok {
				t.Errorf("%s: no evidence %s", v.Name, name)
			}
			used[name] = true
		}
		if _, err := time.Parse(time.RFC3339, v.At); err != nil || v.Note == "" {
			t.Errorf("%s: at %q, note %q", v.Name, v.At, v.Note)
		}
		w := v.Want
		findings := []*vectors.TamperFinding{w.Signature, w.Identity, w.Authority, w.Revocation, w.Call, w.Mirror, w.Usable}
		for _, f := range findings {
			if (f == nil) != (w.Error != nil) || f != nil && f.Value == "" {
				t.Errorf("%s: finding %+v beside error %+v", v.Name, f, w.Error)
			}
		}
		if v.Class == vectors.Valid && (w.Error != nil || w.Usable.Value != "yes") {
			t.Errorf("%s is valid, and not usable: %+v", v.Name, w.Usable)
		}
	}
	for i := 1; i <= 55; i++ {
		if row := fmt.Sprintf("T%02d", i); !rows[row] {
			t.Errorf("no vector for %s", row)
		}
	}
	for name := range evidence {
		if !used[name] {
			t.Errorf("evidence %s is named by no vector", name)
		}
	}
}
