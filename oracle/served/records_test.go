package served

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/oracle/tools"
)

var today = factstest.Day("2026-11-30")

// node runs records.mjs over lines and returns its lines.
func node(t *testing.T, lines []string, args ...string) []string {
	t.Helper()
	tools.Package(t, "jose")
	tools.Package(t, "canonicalize")
	script, err := filepath.Abs("records.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := tools.Command(t, tools.Node(t), append([]string{script}, args...)...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	var answers []string
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		answers = append(answers, s.Text())
	}
	if len(answers) != len(lines) {
		t.Fatalf("%d lines in, %d out", len(lines), len(answers))
	}
	return answers
}

// records are the JSON records of every key of a dataset.
func records(t *testing.T, ds *facts.Dataset) (out []string) {
	t.Helper()
	s := factstest.Snapshot(ds)
	for key := range s.Keys() {
		a, err := s.Get(key, facts.Selection{MaxAge: facts.NoMaxAge}, today)
		if err != nil {
			t.Fatal(err)
		}
		if a.Outcome == facts.OutcomeRecord {
			out = append(out, string(a.AppendJSON(nil)))
		}
	}
	return out
}

func TestNodeVerifiesOurRecords(t *testing.T) {
	keys, err := json.Marshal(factstest.KeySet())
	if err != nil {
		t.Fatal(err)
	}
	served := append(records(t, factstest.Sample()), records(t, factstest.Generate(factstest.Options{Facts: 200, Seed: 7}))...)
	lines := make([]string, len(served))
	for i, r := range served {
		lines[i] = `{"record":` + r + `,"keys":` + string(keys) + `}`
	}
	for i, got := range node(t, lines) {
		if got != `{"hash":true,"signature":true}` {
			t.Errorf("Node says %s of %s", got, served[i])
		}
	}
	// The oracle can say no.
	tampered := strings.Replace(lines[0], `"verifiedDate":"2`, `"verifiedDate":"1`, 1)
	if got := node(t, []string{tampered})[0]; got != `{"hash":true,"signature":false}` {
		t.Errorf("Node says %s of a tampered record", got)
	}
}

func TestWeVerifyWhatNodeSigns(t *testing.T) {
	jwk := strings.TrimSpace(string(factstest.Key().Export()))
	served := records(t, factstest.Sample())
	lines := make([]string, len(served))
	for i, r := range served {
		lines[i] = `{"record":` + r + `,"jwk":` + jwk + `}`
	}
	for _, signed := range node(t, lines, "--sign") {
		r, err := facts.ParseRecord([]byte(signed))
		if err != nil {
			t.Errorf("%v: %s", err, signed)
			continue
		}
		v := facts.Verify(r, facts.VerifyOptions{Today: today, MaxAge: facts.NoMaxAge, Keys: facts.KeysOf(factstest.KeySet())})
		if v.Hash.Value != facts.PartValid || v.Signature.Value != facts.PartValid {
			t.Errorf("%s: hash %+v, signature %+v", r.Key, v.Hash, v.Signature)
		}
	}
}
