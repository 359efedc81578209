package answer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bundle"
	"sayso/business/coverage"
	"sayso/jcs"
)

// samples are the publishers that the labelled questions ask, by their short names.
var samples = map[string]string{
	"optician": "brightwater-opticians", "dentist": "marina-dental", "hotel": "hotel-alpenblick", "hardware": "hammer-and-nail", "garage": "kessler-garage",
}

// now is a Monday morning.
var now = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// sample reads one bundle of examples/business.
func sample(t testing.TB, slug string) answer.Snapshot {
	t.Helper()
	dir := filepath.Join("..", "..", "examples", "business", slug)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	profile, problems := bundle.Profile(read("publisher.json"), "publisher.json")
	if profile == nil {
		t.Fatal(problems)
	}
	raw := read("schema.json")
	schema, problems := bundle.Schema(raw, "schema.json")
	if schema == nil {
		t.Fatal(problems)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "records.*"))
	s := answer.Snapshot{Publication: &business.Publication{
		Slug: slug, Profile: *profile, Schema: raw,
		Standing: business.Standing{Lifecycle: business.Published, Verification: &business.OperatorVerification{Decision: "d", ConfirmedAt: now}},
	}}
	for _, f := range files {
		format, _ := bundle.FormatOf(f)
		for r, p := range bundle.Records(bytes.NewReader(read(filepath.Base(f))), filepath.Base(f), format, bundle.Options{Publisher: slug, Schema: schema}) {
			if p != nil && !p.Warning {
				t.Fatal(p)
			}
			if r != nil {
				s.Records = append(s.Records, *r)
			}
		}
	}
	return s
}

// compiled is a sample made ready for questions.
func compiled(t testing.TB, slug string) *answer.Compiled {
	t.Helper()
	c, err := answer.Compile(sample(t, slug))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// search asks one question.
func search(t testing.TB, c *answer.Compiled, arguments any) *coverage.Outcome {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Answer(coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: jcs.Raw(raw), Now: now}, nil)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return out
}

type labelled struct {
	ID, Pub, Lang, Q, Status, Polarity string
	Unresolved, Missing                []string
}

// TestLabelledQuestions is the gate: status, missing dimension and polarity of every row, and each word that must be named.
func TestLabelledQuestions(t *testing.T) {
	data, err := os.ReadFile("testdata/questions.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []labelled
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 90 {
		t.Fatalf("%d rows, want 90", len(rows))
	}
	publishers := map[string]*answer.Compiled{}
	for short, slug := range samples {
		publishers[short] = compiled(t, slug)
	}
	right := 0
	for _, row := range rows {
		out := search(t, publishers[row.Pub], map[string]any{"query": row.Q, "language": row.Lang})
		if faults := judge(row, out); len(faults) > 0 {
			t.Errorf("%s %q: %s\n%s", row.ID, row.Q, strings.Join(faults, "; "), pretty(out))
		} else {
			right++
		}
	}
	t.Logf("%d of %d", right, len(rows))
}

func judge(row labelled, out *coverage.Outcome) (faults []string) {
	c := out.Coverage
	if string(c.Status) != row.Status {
		faults = append(faults, "status "+string(c.Status)+", want "+row.Status)
	}
	missing := []string{}
	if out.Clarification != nil {
		for _, m := range out.Clarification.Missing {
			missing = append(missing, m.Name)
		}
	}
	if !slices.Equal(missing, row.Missing) {
		faults = append(faults, "missing "+strings.Join(missing, " ")+", want "+strings.Join(row.Missing, " "))
	}
	if c.Status == coverage.Resolved && row.Polarity != "" && (c.Answer == nil || c.Answer.Polarity != row.Polarity) {
		faults = append(faults, "polarity differs")
	}
	for _, word := range row.Unresolved {
		if !slices.ContainsFunc(c.Unresolved, func(g coverage.Gap) bool {
			return strings.ToLower(g.Text) == word || word == "field:"+g.Field || slices.Contains(strings.Fields(strings.ToLower(g.Text)), word)
		}) {
			faults = append(faults, "unresolved does not name "+word)
		}
	}
	return faults
}

func pretty(out *coverage.Outcome) string {
	data, err := jcs.Encode(out.Coverage)
	if err != nil {
		return err.Error()
	}
	return string(data) + "\n" + string(out.Result)
}
