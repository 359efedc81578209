package cli

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"sayso/gidp/lab"
)

// TestLabAnswers compares an answer of every command of the lab with its schema.
func TestLabAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args, schema string
		code         exitCode
	}{
		{"list", "lab-list", exitOK},
		{"explain curves", "lab-explain", exitOK},
		{"explain A2b", "lab-explain", exitOK},
		{"explain A9", failureSchema, exitNotFound},
		{"partitions", "lab-partitions", exitOK},
		{"partitions sayso/co-investment/1", "lab-partitions", exitOK},
		{"partitions nobody/1", failureSchema, exitNotFound},
		{"run drift A6a", "lab-run", exitOK},
		{"run redrawn --quick --out made/here", "lab-run", exitOK},
		{"run nothing", failureSchema, exitNotFound},
		{"check surplus", failureSchema, exitUsage},
	} {
		code, out, errs := invoke(t, nil, append(strings.Fields("lab "+c.args), "--json")...)
		if code != int(c.code) {
			t.Errorf("lab %s: exit %d, want %d\n%s%s", c.args, code, c.code, out, errs)
			continue
		}
		conforms(t, c.schema, out)
	}
}

// What is out of tolerance fails the command and is listed, alone.
func TestLabVerdicts(t *testing.T) {
	var b strings.Builder
	bad := lab.Acceptance{Claim: "A1a", What: "bits", Value: 4, Want: 5, Within: .001, Class: lab.Exact}
	good := lab.Acceptance{Claim: "A1a", What: "claims", Value: 5, Want: 5, Within: .001, Class: lab.Exact, OK: true}
	answer := labResult{Experiments: []labExperiment{{ID: "policies", Table: tableOther, Rows: []lab.Acceptance{good, bad}}}}
	if err := answer.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"OFF  policies  the table is not the committed one", "OFF  A1a       bits", "quoted 5 ±0.001", "1 experiment, 2 quoted figures, 1 out of tolerance, 1 changed table"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "claims") {
		t.Errorf("what is as quoted is listed:\n%s", b.String())
	}
}

// An interrupt ends the measuring after the experiments that run, and every goroutine with it.
func TestMeasureStops(t *testing.T) {
	options := lab.Options{Quick: true, Seeds: func(a, b uint64) lab.Random { return rand.New(rand.NewPCG(a, b)) }}
	var chosen []lab.Experiment
	for range 40 {
		chosen = append(chosen, lab.Find("sybil")...)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := 0
	if _, err := measure(ctx, chosen, options, func() {
		if ended++; ended == 3 {
			stop()
		}
	}); !errors.Is(err, context.Canceled) || ended < 3 || ended == len(chosen) {
		t.Errorf("%d of %d, %v", ended, len(chosen), err)
	}
	results, err := measure(t.Context(), chosen, options, func() { ended++ })
	if err != nil || len(results) != len(chosen) || results[39].ID != "sybil" {
		t.Errorf("%d results, %v", len(results), err)
	}
	if results, err := measure(t.Context(), nil, options, func() {}); err != nil || len(results) != 0 {
		t.Errorf("nothing was asked: %v, %v", results, err)
	}
}
