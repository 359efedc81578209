package xpreader

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"sayso/oracle/tools"
	"sayso/vectors"
)

// read runs reader.mjs over vectors and what they name, and returns its findings.
func read(t *testing.T, all []vectors.Tamper, evidence map[string]vectors.TamperEvidence) []vectors.TamperWant {
	t.Helper()
	script, err := filepath.Abs("reader.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var in, stderr bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, e := range evidence {
		if err := encoder.Encode(map[string]any{"evidence": e}); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range all {
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	cmd := tools.Command(t, tools.Node(t), script)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	var found []vectors.TamperWant
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		var w vectors.TamperWant
		if err := json.Unmarshal(s.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		found = append(found, w)
	}
	if len(found) != len(all) {
		t.Fatalf("%d vectors in, %d findings out", len(all), len(found))
	}
	return found
}

func text(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// XP-INTEGRITY-012 and what it rests on: the independent reader finds in every vector what ours is expected to find.
func TestNodeFindsTheSame(t *testing.T) {
	all := vectors.TampersXP()
	if len(all) < 55 {
		t.Fatalf("only %d vectors", len(all))
	}
	for i, got := range read(t, all, vectors.TamperEvidenceXP()) {
		if a, b := text(t, got), text(t, all[i].Want); a != b {
			t.Errorf("%s: %s\nnode %s\nwant %s", all[i].Name, all[i].Note, a, b)
		}
	}
}
