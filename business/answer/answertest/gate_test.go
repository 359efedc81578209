package answertest_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sayso/business/answer/answertest"
)

// The fresh seed is fresh only with -count=1: go test repeats the result of an unchanged program otherwise.
//
// SAYSO_GATE=full asks every pair of service and store and ten times as many drawn questions; SAYSO_GATE_SEED repeats the fresh seed of a run;
// SAYSO_GATE_REPORT names a file for the kinds of everything that is not right.
const (
	fullVariable   = "SAYSO_GATE"
	seedVariable   = "SAYSO_GATE_SEED"
	reportVariable = "SAYSO_GATE_REPORT"
)

// The release gate: no false resolved and nothing withheld that leaks, over questions whose answers are known by construction, with fixed seeds and a fresh
// one. The rate of under-claims has no bar and is always printed.
func TestGate(t *testing.T) {
	all := worlds(t)
	fixed := all.Fixed()
	draw := answertest.Draw{Pairs: 4500, Stores: 3000, Markets: 1200, Conjunctions: 2400, Bases: 600, Disguised: 3000}
	seeds := []uint64{1, 2, fresh(t)}
	switch {
	case os.Getenv(fullVariable) == "full":
		draw = answertest.Draw{Pairs: 60_000, Stores: 20_000, Markets: 8000, Conjunctions: 40_000, Bases: 10_000, Disguised: 40_000}
	case testing.Short() || raceEnabled:
		draw = answertest.Draw{Pairs: 400, Stores: 200, Markets: 60, Conjunctions: 200, Bases: 60, Disguised: 300}
		fixed, seeds = sample(fixed, 7), seeds[:1]
	}
	questions := slices.Clone(fixed)
	for _, seed := range seeds {
		questions = append(questions, all.Drawn(fixed, seed, draw)...)
	}
	if os.Getenv(fullVariable) == "full" {
		questions = append(questions, answertest.EveryStore(all["stores"])...)
	}
	results := answertest.Run(questions)
	var table strings.Builder
	answertest.Table(&table, results)
	t.Logf("%d questions, fresh seed %d\n%s", len(questions), seeds[len(seeds)-1], table.String())
	report(t, results, table.String())
	failures := map[answertest.Class]int{}
	for _, r := range results {
		if r.Verdict.Class.Fails() {
			failures[r.Verdict.Class]++
		}
	}
	for class, n := range failures {
		var kinds strings.Builder
		answertest.Kinds(&kinds, results, class)
		t.Errorf("%d × %s\n%s", n, class, firstLines(kinds.String(), 60))
	}
	if !testing.Short() && !raceEnabled && len(questions) < 20_000 {
		t.Errorf("%d questions: the gate asks at least 20,000", len(questions))
	}
}

// worlds reads the samples once.
func worlds(tb testing.TB) answertest.Worlds {
	tb.Helper()
	all, err := answertest.LoadAll()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func fresh(t *testing.T) uint64 {
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		return seed
	}
	return uint64(time.Now().UnixNano())
}

// sample takes every n-th question.
func sample(list []*answertest.Question, n int) []*answertest.Question {
	var out []*answertest.Question
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}

func report(t *testing.T, results []answertest.Result, table string) {
	name := os.Getenv(reportVariable)
	if name == "" {
		return
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%d processors\n%s\n", runtime.GOMAXPROCS(0), table)
	for _, class := range []answertest.Class{answertest.Failed, answertest.Broken, answertest.Leak, answertest.FalseResolved, answertest.WrongLabel, answertest.UnderClaim} {
		answertest.Kinds(io.Writer(f), results, class)
	}
}

func firstLines(text string, n int) string {
	lines := strings.SplitAfterN(text, "\n", n+1)
	if len(lines) > n {
		return strings.Join(lines[:n], "") + "…\n"
	}
	return text
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }
