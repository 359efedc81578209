package answertest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sayso/business/answer"
	"sayso/business/answer/answertest"
	"sayso/business/coverage"
	"sayso/jcs"
)

// I10: "without" is the opposite of "with", and unknown stays unknown.
func TestI10WithoutIsTheOpposite(t *testing.T) {
	all := worlds(t)
	flip := map[string]string{"positive": "negative", "negative": "positive", "": ""}
	for _, r := range all["hotel"].Snapshot.Records {
		for _, word := range []string{"balcony", "breakfast"} {
			with := outcome(t, all["hotel"], "Do you have "+r.Title+" with "+word+"?", "en")
			without := outcome(t, all["hotel"], "Do you have "+r.Title+" without "+word+"?", "en")
			if answertest.Polarity(without) != flip[answertest.Polarity(with)] && with.Coverage.Status == coverage.Resolved || with.Coverage.Status != without.Coverage.Status {
				t.Errorf("%s, %s: with is %s %q, without is %s %q", r.Title, word, with.Coverage.Status, answertest.Polarity(with), without.Coverage.Status, answertest.Polarity(without))
			}
		}
	}
}

// ambiguous are questions that miss one value.
func ambiguous(t *testing.T, all answertest.Worlds) []*label {
	var out []*label
	for _, file := range []string{"questions.json", "own_questions.json"} {
		list := labels(t, file)
		for i := range list {
			if list[i].Status == coverage.NeedsContext && !slices.Contains(list[i].Missing, "caller_location") {
				out = append(out, &list[i])
			}
		}
	}
	for _, q := range append(answertest.Places(all["hardware"]), answertest.Stores(all["stores"], seeded(3), 300)...) {
		if o, err := q.World.Ask(q.Text(), q.Lang); err == nil && o.Coverage.Status == coverage.NeedsContext {
			out = append(out, &label{ID: q.Kind, Pub: q.World.Name, Lang: q.Lang, Q: q.Text(), Status: coverage.NeedsContext})
		}
	}
	return out
}

// I11: each option of what is missing leads to an answer without that gap, some option leads to content, and five steps are enough.
func TestI11ResumeEnds(t *testing.T) {
	all := worlds(t)
	for _, l := range ambiguous(t, all) {
		w := all[l.Pub]
		out := outcome(t, w, l.Q, l.Lang)
		if out.Clarification == nil || len(out.Clarification.Missing) != 1 {
			t.Errorf("%s %q: %s without one missing value", l.ID, l.Q, out.Coverage.Status)
			continue
		}
		content := false
		for _, option := range out.Clarification.Missing[0].Options {
			if walk(t, w, l.Q, out.Clarification, option.Value, 5) {
				content = true
			}
		}
		if len(out.Clarification.Missing[0].Options) > 0 && !content {
			t.Errorf("%s %q: no option leads to content", l.ID, l.Q)
		}
	}
}

// walk binds one option and goes on with the first option of whatever is missing then; it reports whether it came to content.
func walk(t *testing.T, w *answertest.World, query string, c *coverage.Clarification, option string, steps int) bool {
	t.Helper()
	if steps == 0 {
		t.Errorf("%q: more than five steps", query)
		return false
	}
	name := c.Missing[0].Name
	out, err := w.Call("knowledge.search", bind(t, c, option), nil)
	if err != nil {
		t.Errorf("%q with %s=%s: %v", query, name, option, err)
		return false
	}
	for _, flaw := range append(answertest.Leaks(w, out), answertest.Flaws(query, out)...) {
		t.Errorf("%q with %s=%s: %s", query, name, option, flaw)
	}
	if out.Clarification == nil {
		return out.Coverage.Status == coverage.Resolved || out.Coverage.Status == coverage.Partial
	}
	next := out.Clarification
	if next.RemainingUnbound >= c.RemainingUnbound || len(next.Missing) == 0 || next.Missing[0].Name == name {
		t.Errorf("%q with %s=%s: %d open after %d, missing %+v", query, name, option, next.RemainingUnbound, c.RemainingUnbound, next.Missing)
		return false
	}
	return len(next.Missing[0].Options) > 0 && walk(t, w, query, next, next.Missing[0].Options[0].Value, steps-1)
}

// bind does what a consumer does: it copies the arguments and sets one value.
func bind(t *testing.T, c *coverage.Clarification, option string) jcs.Raw {
	t.Helper()
	var args map[string]any
	if err := jcs.Decode(c.Resume.Arguments, &args); err != nil {
		t.Fatal(err)
	}
	bound, _ := args[c.Resume.AddTo].(map[string]any)
	if bound == nil {
		bound = map[string]any{}
	}
	bound[c.Missing[0].Name] = option
	args[c.Resume.AddTo] = bound
	text, err := jcs.Encode(args)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An option that was not offered is the caller's fault.
func TestUnknownOptionIsRefused(t *testing.T) {
	all := worlds(t)
	out := outcome(t, all["hardware"], "What is the phone number?", "en")
	if out.Clarification == nil {
		t.Fatalf("%s without clarification", out.Coverage.Status)
	}
	_, err := all["hardware"].Call("knowledge.search", bind(t, out.Clarification, "atlantis"), nil)
	if fault := (*coverage.CallError)(nil); !errors.As(err, &fault) {
		t.Errorf("an unknown option gives %v", err)
	}
}

// I13: the factor between two units on both sides keeps the verdict; another currency makes it unknown.
func TestI13UnitsScale(t *testing.T) {
	all := worlds(t)
	for _, name := range answertest.Small {
		for _, r := range all[name].Snapshot.Records {
			for _, hours := range []string{"0.5", "0.75", "1", "1.5"} {
				minutes := map[string]int{"0.5": 30, "0.75": 45, "1": 60, "1.5": 90}[hours]
				a := outcome(t, all[name], fmt.Sprintf("Is %s at least %d minutes?", r.Title, minutes), "en")
				b := outcome(t, all[name], fmt.Sprintf("Is %s at least %s hours?", r.Title, hours), "en")
				if a.Coverage.Status != b.Coverage.Status || answertest.Polarity(a) != answertest.Polarity(b) {
					t.Errorf("%s: %d minutes is %s %q, %s hours is %s %q", r.Title, minutes, a.Coverage.Status, answertest.Polarity(a), hours, b.Coverage.Status, answertest.Polarity(b))
				}
			}
			if out := outcome(t, all[name], "Is "+r.Title+" under 1000000 USD?", "en"); out.Coverage.Status == coverage.Resolved {
				t.Errorf("%s is compared with another currency", r.Title)
			}
		}
	}
}

// I15: a limit below the number of matches leaves the evidence incomplete, and nothing is denied.
func TestI15LimitDeniesNothing(t *testing.T) {
	all := worlds(t)
	for pub, queries := range map[string][]string{
		"optician": {"Do you sell contact lenses?", "How much are contact lenses?"}, "hotel": {"Is there a room under 70 EUR?", "Which rooms are under 130 EUR?"},
		"dentist": {"Do you offer whitening?"},
	} {
		for _, q := range queries {
			out, err := all[pub].Call("knowledge.search", jcs.Raw(`{"query":"`+q+`","limit":1}`), nil)
			if err != nil {
				t.Fatalf("%q: %v", q, err)
			}
			if out.Coverage.EvidenceComplete || answertest.Polarity(out) == "negative" {
				t.Errorf("%q with limit 1: evidence_complete %v, polarity %q", q, out.Coverage.EvidenceComplete, answertest.Polarity(out))
			}
		}
	}
}

var errStore = errors.New("the store of readings cannot be read")

// broken are readings that cannot be read.
type broken struct{}

func (broken) Latest(string, *coverage.Key, string) ([]answer.Reading, error) { return nil, errStore }

// I16: a reading that cannot be read is a fault, never a status.
func TestI16FaultIsNoStatus(t *testing.T) {
	all := worlds(t)
	bound := all["hardware"].Change(func(c *answertest.World) {
		a := c.Schema.Attributes["stock"]
		a.Source = "stream:shelf_count"
		c.Schema.Attributes["stock"] = a
	})
	for _, c := range []struct {
		w                  *answertest.World
		handler, arguments string
	}{
		{all["hardware"], "live.query", `{"stream":"shelf_count","subject":{"type":"product","id":"drill"},"location":"northgate"}`},
		{all["hardware"], "live.nearest", `{"stream":"shelf_count","subject":{"type":"product","id":"drill"},"caller_location":{"latitude":52.5,"longitude":13.4}}`},
		{bound, "hybrid.resolve", `{"query":"Is the cordless drill in stock at Northgate?","live":true}`},
	} {
		out, err := c.w.Call(c.handler, jcs.Raw(c.arguments), broken{})
		fault := (*coverage.CallError)(nil)
		if out != nil || err == nil || errors.As(err, &fault) {
			t.Errorf("%s: outcome %v, error %v", c.handler, out != nil, err)
		}
	}
}

// A whole call on any text: no panic, a fault of the caller or an outcome that holds.
func FuzzAsk(f *testing.F) {
	all := worlds(f)
	for _, file := range []string{"questions.json", "own_questions.json"} {
		for _, l := range labels(f, file)[:12] {
			f.Add(l.Q, l.Lang, uint8(0))
		}
	}
	f.Add("¿"+strings.Repeat("und ", 63)+"?", "", uint8(1))
	f.Add("under under 5 5 EUR EUR between and and", "en", uint8(2))
	f.Add("ＨＯＷ ﬁlling №５ ½ ١٢ Ⅻ İ ß e\u0301", "es", uint8(1))
	f.Fuzz(func(t *testing.T, query, language string, which uint8) {
		if !utf8.ValidString(query) || !utf8.ValidString(language) {
			return // no JSON text holds it
		}
		w := all[answertest.Small[int(which)%len(answertest.Small)]]
		out, err := w.Ask(query, language)
		if fault := (*coverage.CallError)(nil); err != nil {
			if !errors.As(err, &fault) {
				t.Fatalf("%q: %v", query, err)
			}
			return
		}
		for _, flaw := range append(answertest.Leaks(w, out), answertest.Flaws(query, out)...) {
			t.Errorf("%q: %s", query, flaw)
		}
	})
}
