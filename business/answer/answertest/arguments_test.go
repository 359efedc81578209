package answertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sayso/business/coverage"
	"sayso/jcs"
)

// small are the questions of the five small samples about their own statements.
func small(t *testing.T) (Worlds, []*Question) {
	t.Helper()
	all, err := LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []*Question
	for _, name := range Small {
		out = append(out, slices.Concat(Names(all[name]), Fields(all[name]), Bounds(all[name]), Booleans(all[name]), Places(all[name]), Parts(all[name]))...)
	}
	return all, out
}

// What is true of an answer stays true with a limit of one, with long text asked for, and in a language that is not published.
func TestArgumentsMakeNothingFalse(t *testing.T) {
	_, questions := small(t)
	step := 3
	if testing.Short() {
		step = 20
	}
	for _, extra := range []string{`"limit":1`, `"limit":2`, `"include":["content"]`, `"language":"fr"`, `"language":"xx"`} {
		wrong := 0
		for i := 0; i < len(questions); i += step {
			q := questions[i]
			text, err := jcs.Encode(q.Text())
			if err != nil {
				t.Fatal(err)
			}
			out, err := q.World.Call("knowledge.search", jcs.Raw(fmt.Sprintf(`{"query":%s,%s}`, text, extra)), nil)
			if err != nil {
				t.Fatalf("%s %s: %v", extra, q.Text(), err)
			}
			class, reason := judge(q, out)
			if strings.Contains(extra, "language") && out.Coverage.Status == coverage.Resolved {
				class, reason = FalseResolved, "resolved in a language that is not published"
			}
			if class.Fails() {
				if wrong++; wrong <= 5 {
					t.Errorf("%s %s %q: %s, %s", extra, q.World.Name, q.Text(), class, reason)
				}
			}
		}
		if wrong > 5 {
			t.Errorf("%s: %d more", extra, wrong-5)
		}
	}
}

// Structured criteria have the verdicts of the same comparisons in words.
func TestCriteriaAgreeWithTheOracle(t *testing.T) {
	all, err := LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Small {
		for _, q := range Bounds(all[name]) {
			if q.cmp == nil || q.cmp.B != nil || q.Gen != "G4" {
				continue
			}
			number := q.cmp.A.FloatString(3)
			args := fmt.Sprintf(`{"criteria":[{"type":%q,"id":%q,"field":%q,"op":%q,"value":%s,"unit":%q}]}`, q.record.Type, q.record.ID, q.field, q.cmp.Op, number, q.cmp.Unit)
			out, err := q.World.Call("knowledge.search", jcs.Raw(args), nil)
			if err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			want := ""
			if q.Want.Rule == Resolve {
				want = q.Want.Polarity
			}
			got := ""
			if out.Coverage.Status == coverage.Resolved {
				got = Polarity(out)
			}
			if got != want {
				t.Errorf("%s %s: %s %q, want %q", name, args, out.Coverage.Status, got, want)
			}
		}
	}
}

// A bound value fills what a question leaves open and overrides nothing that it says.
func TestBoundOverridesNothing(t *testing.T) {
	all, err := LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	w := all["hardware"]
	for _, q := range Places(w) {
		if q.Entity == "" || q.Want.Rule != Resolve {
			continue
		}
		for _, at := range w.Snapshot.Publication.Profile.Locations {
			text, err := jcs.Encode(q.Text())
			if err != nil {
				t.Fatal(err)
			}
			out, err := w.Call("knowledge.search", jcs.Raw(fmt.Sprintf(`{"query":%s,"bound":{"location":%q}}`, text, at.ID)), nil)
			if fault := (*coverage.CallError)(nil); errors.As(err, &fault) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if class, reason := judge(q, out); class.Fails() {
				t.Errorf("%q bound to %s: %s, %s", q.Text(), at.ID, class, reason)
			}
		}
	}
}
