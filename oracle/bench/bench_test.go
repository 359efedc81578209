package main

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/facts/resolvetest"
)

// TestMain lets the test program be the server that it measures.
func TestMain(m *testing.M) {
	if size := os.Getenv(childVariable); size != "" {
		exit(serveChild(size, os.Stdout))
	}
	if settings := os.Getenv(grownVariable); settings != "" {
		exit(grow(settings))
	}
	if size := os.Getenv(residentVariable); size != "" {
		exit(residentChild(size, os.Stdout))
	}
	os.Exit(m.Run())
}

var tiny = plan{rounds: 1, short: 1, stretch: time.Millisecond, questions: 20,
	get: []int{100, 200}, resolve: []int{100, 200}, build: []int{100, 200}, command: []int{60}, served: []int{2_000},
	publishers: []int{3, 6}, records: []int{50, 100}, publishes: 4, asked: []int{20, 40}, called: 40, resident: 3, pushes: 4, projections: []int{200, 400},
	sessions: []int{3, 6}, together: 4, arrivals: 30, withdrawals: 3}

var lineForm = regexp.MustCompile(`^bench: [a-z0-9-]+(/[0-9]+(KB)?)? ratio=[0-9]+(\.[0-9]{3})? bound=[0-9.]+ (ok|short)$`)

// TestEveryMeasurement runs everything at sizes that take seconds: each measurement checks that both sides do the same work, and every number has its line.
func TestEveryMeasurement(t *testing.T) {
	var out bytes.Buffer
	if err := run(&report{w: &out}, &tiny, ""); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Logf("\n%s", &out)
	var names []string
	for text := range strings.Lines(out.String()) {
		if text = strings.TrimSuffix(text, "\n"); strings.Contains(text, "bench:") {
			if !lineForm.MatchString(text) {
				t.Errorf("malformed line %q", text)
			}
			names = append(names, strings.Fields(text)[1])
		}
	}
	want := []string{"facts-get/100", "facts-get/200", "facts-verify", "jcs/1KB", "jcs/10KB", "jcs/100KB", "resolve-p50/100", "resolve-p99/100", "resolve-p50/200",
		"resolve-p99/200", "facts-build/100", "facts-build/200", "record-bytes", "tools-list-bytes", "rss-per-fact/2000",
		"xp-manifest/3", "xp-manifest/6", "xp-import/50", "xp-import-rss/50", "xp-import/100", "xp-import-rss/100", "xp-dump-rss/50", "xp-dump-rss/100", "xp-verify",
		"xp-replica-p50", "xp-replica-p99",
		"answer-question/20", "answer-question/40", "answer-question-growth", "answer-compile/40", "answer-call/16", "answer-call-p99/64", "answer-resident/3",
		"answer-live", "gidp-candidates-p99/200", "gidp-candidates-p99/400", "gidp-projection-bytes/400",
		"gidp-step/3", "gidp-step/6", "gidp-step-charged/6", "gidp-step-together/4", "gidp-open-loop/6", "gidp-withdraw"}
	if !slices.Equal(names, want) {
		t.Errorf("lines for %q, want %q", names, want)
	}
	if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
		t.Error("a number is none")
	}
}

func TestUnknownSubject(t *testing.T) {
	if err := run(&report{w: new(bytes.Buffer)}, &tiny, "no such"); err == nil {
		t.Error("nothing was measured and nothing was said")
	}
}

func TestLine(t *testing.T) {
	for _, row := range []struct {
		line line
		want string
	}{
		{line{name: "facts-get/1000", ratio: 0.7996, bound: 0.8, atLeast: true}, "bench: facts-get/1000 ratio=0.800 bound=0.8 ok"},
		{line{name: "facts-get/1000", ratio: 0.7994, bound: 0.8, atLeast: true}, "bench: facts-get/1000 ratio=0.799 bound=0.8 short"},
		{line{name: "facts-verify", ratio: 1.5004, bound: 1.5}, "bench: facts-verify ratio=1.500 bound=1.5 ok"},
		{line{name: "facts-verify", ratio: 1.5006, bound: 1.5}, "bench: facts-verify ratio=1.501 bound=1.5 short"},
		{line{name: "record-bytes", ratio: 1126, bound: 1126, bytes: true}, "bench: record-bytes ratio=1126 bound=1126 ok"},
		{line{name: "rss-per-fact/10000", ratio: 2560.2, bound: 2560, bytes: true}, "bench: rss-per-fact/10000 ratio=2561 bound=2560 short"},
	} {
		if got := row.line.String(); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}

func TestAlternateTakesTheMedianOfTheRounds(t *testing.T) {
	var order strings.Builder
	side := func(name string, times ...time.Duration) func() (time.Duration, error) {
		i := -1
		return func() (time.Duration, error) {
			order.WriteString(name)
			i++
			return times[i], nil
		}
	}
	// The first pair is for warmth; one busy round must not show.
	p, err := alternate(3, side("o", 99, 2, 60, 4), side("t", 1, 4, 8, 8))
	if err != nil {
		t.Fatal(err)
	}
	if p.ratio() != 0.5 || median(p.ours) != 4 || median(p.theirs) != 8 {
		t.Errorf("ratio %v of %v", p.ratio(), p)
	}
	if got := order.String(); got != "toottoot" {
		t.Errorf("the sides ran in the order %s", got)
	}
}

func TestExponent(t *testing.T) {
	sizes := []int{1_000, 10_000, 100_000}
	for want, costs := range map[float64][]time.Duration{0: {7, 7, 7}, 1: {5, 50, 500}, 2: {1, 100, 10_000}} {
		if got := exponent(sizes, costs); math.Abs(got-want) > 1e-9 {
			t.Errorf("exponent %v of %v", got, costs)
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0.00", 545: "0.000545", 23_400: "0.0234", 1_234_567: "1.23", 27 * time.Second: "27000"} {
		if got := ms(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

// TestGetRefusesAnotherAnswer: the comparison must notice a baseline that sends less.
func TestGetRefusesAnotherAnswer(t *testing.T) {
	answer := func(header, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Etag", header)
			w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	if err := sameAnswer(answer("a", "body"), answer("a", "body")); err != nil {
		t.Error(err)
	}
	for _, other := range []string{answer("b", "body"), answer("a", "bod")} {
		if sameAnswer(answer("a", "body"), other) == nil {
			t.Error("two different answers pass for the same")
		}
	}
}

// TestLoadRefusesFailures: an answer that is not a record must not count as one.
func TestLoadRefusesFailures(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := load(s.Listener.Addr().String(), []string{"/f/zz/none"}, time.Millisecond); err == nil {
		t.Error("404 answers were counted")
	}
}

// TestResolveSidesFindTheSame: for labels asked word by word, both sides find the label, and they list about as many rows on average.
func TestResolveSidesFindTheSame(t *testing.T) {
	ds := labelled(500)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: "L2"})
	if err != nil {
		t.Fatal(err)
	}
	index, err := newFullText(ds)
	if err != nil {
		t.Fatal(err)
	}
	defer index.close()
	var labels []string
	for i := range ds.Facts {
		labels = append(labels, ds.Facts[i].Label)
	}
	ours, theirs := 0, 0
	for _, q := range resolvetest.Queries(3, labels, 200) {
		a, err := resolveOnce(s, q)
		if err != nil {
			t.Fatal(err)
		}
		b, err := index.top(anyWord(q))
		if err != nil {
			t.Fatalf("%q: %v", anyWord(q), err)
		}
		if a > topK || b > topK {
			t.Errorf("%q: %d and %d rows, over %d", q, a, b, topK)
		}
		ours, theirs = ours+a, theirs+b
	}
	if ours*10 < theirs*9 || theirs*10 < ours*9 {
		t.Errorf("one side does less: %d candidates, %d rows", ours, theirs)
	}
	for i := 0; i < len(labels); i += 50 {
		count, err := index.top(anyWord(labels[i]))
		if err != nil || count == 0 {
			t.Errorf("FTS5 finds nothing for the label %q: %v", labels[i], err)
		}
	}
}

func TestAnyWord(t *testing.T) {
	for question, want := range map[string]string{
		"What is the Income-Tax rate?":   `"income" OR "rate" OR "tax"`,
		`rate " OR label:x`:              `"label" OR "rate" OR "x"`,
		"rate rate":                      `"rate"`,
		fmt.Sprintf("%d allowance", 100): `"100" OR "allowance"`,
	} {
		if got := anyWord(question); got != want {
			t.Errorf("%q becomes %s, want %s", question, got, want)
		}
	}
}
