package answertest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sayso/business/answer/answertest"
	"sayso/business/coverage"
)

// label is one labelled question: testdata/questions.json and own_questions.json. unresolved are words that have to be named, field:x a requested field that
// is not published; other entries may stand beside them.
type label struct {
	ID, Pub, Lang, Q    string
	Status              coverage.Status
	Also                []coverage.Status // blind_questions.json: where the specification leaves room
	Unresolved, Missing []string
	Polarity, Note      string
}

func labels(tb testing.TB, name string) []label {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var list []label
	if err := json.Unmarshal(text, &list); err != nil {
		tb.Fatal(err)
	}
	return list
}

// differs says how an outcome differs from its label.
func (l *label) differs(out *coverage.Outcome) []string {
	var found []string
	if out.Coverage.Status != l.Status {
		found = append(found, "status "+string(out.Coverage.Status)+", want "+string(l.Status))
	}
	if l.Polarity != "" && answertest.Polarity(out) != l.Polarity {
		found = append(found, "polarity "+answertest.Polarity(out)+", want "+l.Polarity)
	}
	var missing []string
	if out.Clarification != nil {
		for _, m := range out.Clarification.Missing {
			missing = append(missing, m.Name)
		}
	}
	if !slices.Equal(missing, l.Missing) && !(len(missing) == 0 && len(l.Missing) == 0) {
		found = append(found, "another missing")
	}
	for _, word := range l.Unresolved {
		if !answertest.Named(out, word) {
			found = append(found, "does not name "+word)
		}
	}
	return found
}

// ask asks a labelled question of a planted sample and holds the outcome to what is true of every one.
func ask(t *testing.T, all answertest.Worlds, l *label) *coverage.Outcome {
	t.Helper()
	w := all[l.Pub]
	if w == nil {
		t.Fatalf("%s: no sample %q", l.ID, l.Pub)
	}
	out, err := w.Ask(l.Q, l.Lang)
	if err != nil {
		t.Fatalf("%s %q: %v", l.ID, l.Q, err)
	}
	for _, flaw := range append(answertest.Leaks(w, out), answertest.Flaws(l.Q, out)...) {
		t.Errorf("%s %q: %s", l.ID, l.Q, flaw)
	}
	return out
}

func TestLabelledQuestions(t *testing.T) {
	all := worlds(t)
	for _, file := range []struct {
		name string
		size int
	}{{"questions.json", 90}, {"own_questions.json", 100}} {
		list := labels(t, file.name)
		if len(list) != file.size {
			t.Errorf("%s: %d questions, want %d", file.name, len(list), file.size)
		}
		right := 0
		for i := range list {
			out := ask(t, all, &list[i])
			if found := list[i].differs(out); len(found) > 0 {
				t.Errorf("%s %q: %v; unresolved %+v", list[i].ID, list[i].Q, found, out.Coverage.Unresolved)
				continue
			}
			right++
		}
		t.Logf("%s: %d of %d", file.name, right, len(list))
	}
}

// The blind questions were written and labelled from the specification and the samples, before any of them was asked. What is resolved has to be so labelled,
// with the polarity of its label; the questions answered as labelled must not become fewer. They are asked with their language and without it.
func TestBlindQuestions(t *testing.T) {
	const size, least = 293, 290
	all := worlds(t)
	list := labels(t, "blind_questions.json")
	if len(list) != size {
		t.Errorf("%d questions, want %d", len(list), size)
	}
	right := 0
	for i := range list {
		l := &list[i]
		out := ask(t, all, l)
		if found := l.strays(out); len(found) > 0 {
			t.Logf("%s %q: %v; unresolved %+v", l.ID, l.Q, found, out.Coverage.Unresolved)
		} else {
			right++
		}
		silent := *l
		silent.Lang = ""
		for _, o := range []*coverage.Outcome{out, ask(t, all, &silent)} {
			if o.Coverage.Status == coverage.Resolved && len(l.strays(o)) > 0 {
				t.Errorf("%s %q: falsely resolved, %v", l.ID, l.Q, l.strays(o))
			}
		}
	}
	if t.Logf("%d of %d", right, len(list)); right < least {
		t.Errorf("%d questions as labelled, want at least %d", right, least)
	}
}

// strays says how an outcome differs from a label that allows more than one status: polarity is judged of a resolved answer, missing of needs_context, and
// words are named by every answer but a resolved one.
func (l *label) strays(out *coverage.Outcome) []string {
	own := *l
	if slices.Contains(l.Also, out.Coverage.Status) {
		own.Status = out.Coverage.Status
	}
	if out.Coverage.Status != coverage.Resolved {
		own.Polarity = ""
	} else {
		own.Unresolved = nil
	}
	return slices.DeleteFunc(own.differs(out), func(f string) bool {
		return f == "another missing" && (len(l.Missing) == 0 || out.Coverage.Status != coverage.NeedsContext)
	})
}

// What the parts of a question say of one another decides, not only that each of them is known. Most of these were resolved once.
func TestReadings(t *testing.T) {
	all := worlds(t)
	for kind, cases := range readings {
		for _, c := range cases {
			l := label{ID: kind, Pub: c.pub, Lang: c.lang, Q: c.q, Status: c.status, Polarity: c.polarity}
			out := ask(t, all, &l)
			if out.Coverage.Status != c.status || c.polarity != "" && answertest.Polarity(out) != c.polarity {
				t.Errorf("%s: %q: %s %s, want %s %s", kind, c.q, out.Coverage.Status, answertest.Polarity(out), c.status, c.polarity)
			}
		}
	}
}
