package hours

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"sayso/business/hours"
	"sayso/oracle/tools"
)

// change is a state from an instant on.
type change struct {
	at    time.Time
	state hours.State
}

// answer is what npm opening_hours makes of a value.
type answer struct {
	refusal string
	changes []change
}

// oracle asks for the states of the values in a zone from one instant to another.
func oracle(t *testing.T, values []string, zone string, from, to time.Time) []answer {
	t.Helper()
	tools.Package(t, "opening_hours")
	script, err := filepath.Abs("states.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var in, stderr bytes.Buffer
	for _, v := range values {
		line, err := json.Marshal(map[string]any{"value": v, "from": from.UnixMilli(), "to": to.UnixMilli()})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := tools.Command(t, tools.Node(t), script)
	cmd.Env = append(cmd.Env, "TZ="+zone)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	var answers []answer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var doc struct {
			Error   string   `json:"error"`
			Changes [][2]any `json:"changes"`
		}
		if err := json.Unmarshal(lines.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		a := answer{refusal: doc.Error}
		for _, c := range doc.Changes {
			a.changes = append(a.changes, change{time.UnixMilli(int64(c[0].(float64))), hours.State(c[1].(string))})
		}
		answers = append(answers, a)
	}
	if len(answers) != len(values) {
		t.Fatalf("%d values in, %d answers out", len(values), len(answers))
	}
	return answers
}

// window is a stretch of time in a zone with the holidays the oracle knows there.
type window struct {
	zone     string
	location *time.Location
	from, to time.Time
	calendar *hours.Calendar
	days     map[hours.Holiday]map[string]bool
}

func newWindow(t *testing.T, zone string, firstYear, lastYear int) *window {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	w := &window{zone: zone, location: location, days: map[hours.Holiday]map[string]bool{}}
	w.from, w.to = time.Date(firstYear, 1, 1, 0, 0, 0, 0, location), time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, location)
	// Holidays before and after it say that those years are known too.
	known := oracle(t, []string{"PH", "SH"}, zone, w.from.AddDate(0, 0, -40), w.to.AddDate(0, 0, 5))
	lists := map[hours.Holiday][]string{}
	for i, kind := range []hours.Holiday{hours.PublicHoliday, hours.SchoolHoliday} {
		w.days[kind] = map[string]bool{}
		for k, c := range known[i].changes {
			end := w.to.AddDate(0, 0, 5)
			if k+1 < len(known[i].changes) {
				end = known[i].changes[k+1].at
			}
			for day := c.at.In(location); c.state == hours.Open && day.Before(end); day = day.AddDate(0, 0, 1) {
				w.days[kind][day.Format(time.DateOnly)] = true
			}
		}
		lists[kind] = slices.Sorted(maps.Keys(w.days[kind]))
	}
	text, err := json.Marshal(map[string]any{"public_holidays": lists[hours.PublicHoliday], "school_holidays": lists[hours.SchoolHoliday]})
	if err != nil {
		t.Fatal(err)
	}
	if w.calendar, err = hours.ParseCalendar(text); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *window) holiday(kind hours.Holiday, day time.Time) bool {
	return w.days[kind][day.Format(time.DateOnly)]
}

// points are the instants at which one of both can change, in order: all minutes that stand in the rules on each day, and the oracle's changes.
func (w *window) points(h *hours.Hours, theirs []change) []time.Time {
	minutes := []int{0}
	for _, r := range h.Rules() {
		for _, s := range r.Spans {
			minutes = append(minutes, s.Start, s.Until()%1440)
		}
	}
	var out []time.Time
	for day := w.from; day.Before(w.to); day = day.AddDate(0, 0, 1) {
		for _, m := range minutes {
			out = append(out, time.Date(day.Year(), day.Month(), day.Day(), m/60, m%60, 0, 0, w.location))
		}
	}
	for _, c := range theirs {
		out = append(out, c.at)
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// noComma is a value that the oracle does not read: it lets no comma follow 24/7.
const noComma = "24/7 before a comma is refused"

// compare counts, for each reading, the values it makes a difference to. Under none of them the model agrees with the package at every point, and under
// all of them with the oracle; so nothing is left that they do not explain.
func (w *window) compare(t *testing.T, values []string) (differing map[string]int, compared int) {
	t.Helper()
	differing = map[string]int{}
	for i, theirs := range oracle(t, values, w.zone, w.from, w.to) {
		if theirs.refusal != "" && strings.Contains(values[i], "24/7, ") {
			differing[noComma]++
			continue
		}
		if theirs.refusal != "" {
			t.Errorf("%s: only we read it: %s", values[i], theirs.refusal)
			continue
		}
		h, _, err := hours.Parse(values[i])
		if err != nil {
			t.Fatal(err)
		}
		m := &model{rules: h.Rules(), holiday: w.holiday}
		seen := map[string]bool{}
		at := -1
		for _, p := range w.points(h, theirs.changes) {
			for at+1 < len(theirs.changes) && !theirs.changes[at+1].at.After(p) {
				at++
			}
			compared++
			ours, local := h.At(p, w.location, w.calendar), p.In(w.location)
			wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
			if plain := m.state(wall, 0); plain != ours.State {
				t.Fatalf("%s at %s: %+v, the model says %s", h, local, ours, plain)
			}
			there := theirs.changes[at].state
			if all := m.state(wall, allReadings); all != there {
				t.Errorf("%s at %s: %+v, there %s, and with all its readings %s", h, local, ours, there, all)
				break
			}
			if ours.State != there {
				seen[m.explain(wall, there)] = true
			}
		}
		for reason := range seen {
			differing[reason]++
		}
	}
	return differing, compared
}

func expect(t *testing.T, got, want map[string]int) {
	t.Helper()
	if !maps.Equal(got, want) {
		for _, reason := range slices.Sorted(maps.Keys(got)) {
			t.Logf("%q: %d,", reason, got[reason])
		}
		t.Errorf("values that differ by reading: %v, want %v", got, want)
	}
}

// TestRealValues compares what people wrote, in the zone where they wrote it, through both changes of the clocks.
func TestRealValues(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(tools.Root(), "business", "hours", "testdata", "de_hours.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var values, dated []string
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		h, _, err := hours.Parse(line)
		switch {
		case err != nil:
		case strings.HasPrefix(line, "2017") || strings.HasPrefix(line, "2018"):
			dated = append(dated, h.String())
		default:
			values = append(values, h.String())
		}
	}
	got, compared := newWindow(t, "Europe/Berlin", 2026, 2026).compare(t, values)
	expect(t, got, map[string]int{})
	more, again := newWindow(t, "Europe/Berlin", 2017, 2018).compare(t, dated)
	expect(t, more, map[string]int{})
	t.Logf("%d values at %d instants", len(values)+len(dated), compared+again)
}

// TestGeneratedValues compares values made from the grammar. The seed is fixed, so that the counts are.
func TestGeneratedValues(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(11, 2026))}
	var values []string
	for len(values) < 1000 {
		if h, _, err := hours.New(g.rules()); err == nil { // what a comma would join is not written
			values = append(values, h.String())
		}
	}
	got, compared := newWindow(t, "UTC", 2026, 2026).compare(t, values)
	expect(t, got, map[string]int{
		noComma:                        23,
		"a comma continues a fallback": 28,
		"a comma continues a fallback + a fallback spills as a rule": 2,
		"a fallback spills as a rule":                                32,
		"closed is no match":                                         57,
		"closed is no match + a comma continues a fallback":          6,
		"no days, no replacement":                                    21,
		"off keeps the day":                                          62,
		"off keeps the day + a fallback spills as a rule":            1,
		"off keeps the day + closed is no match":                     2,
		"off keeps the day + no days, no replacement":                1,
		"off keeps the day + spill of a replaced day":                1,
		"spill of a replaced day":                                    34,
		"spill of a replaced day + a comma continues a fallback":     1,
		"spill of a replaced day + a fallback spills as a rule":      2,
	})
	t.Logf("%d values at %d instants", len(values), compared)
}

// generator draws rules.
type generator struct{ *rand.Rand }

func (g generator) rules() []hours.Rule {
	rules := make([]hours.Rule, 1+g.IntN(4))
	for i := range rules {
		rules[i] = g.rule()
		rules[i].Sep = hours.Replace
		if i > 0 {
			rules[i].Sep = []hours.Separator{hours.Replace, hours.Replace, hours.Add, hours.Add, hours.Fallback}[g.IntN(5)]
		}
	}
	return rules
}

func (g generator) rule() (r hours.Rule) {
	if g.IntN(30) == 0 {
		return hours.Rule{Always: true}
	}
	day, year := []int{0, 1, 28}[g.IntN(3)], 0
	if day > 0 && g.IntN(3) == 0 {
		year = 2026
	}
	for range []int{0, 0, 0, 1, 1, 2}[g.IntN(6)] {
		r.Dates = append(r.Dates, g.dates(day, year))
	}
	for range []int{0, 1, 1, 2}[g.IntN(4)] {
		r.Days = append(r.Days, g.days())
	}
	for range []int{0, 1, 1, 1, 2}[g.IntN(5)] {
		start := 30 * g.IntN(48)
		r.Spans = append(r.Spans, hours.Span{Start: start, End: (start + 30*(1+g.IntN(47))) % 1440})
	}
	r.Modifier = []hours.Modifier{"", "", "", "", hours.ModOpen, hours.ModOff, hours.ModClosed, hours.ModUnknown}[g.IntN(8)]
	if g.IntN(6) == 0 {
		r.Comment = "by phone"
	}
	if len(r.Spans) == 0 && r.Modifier == "" && (r.Comment == "" || len(r.Dates) > 0 && len(r.Days) == 0) {
		r.Modifier = hours.ModOff
	}
	return r
}

// dates draws a range of months, or of days when day is not 0. All dates of a rule are of one kind: the oracle reads no other lists.
func (g generator) dates(day, year int) (r hours.DateRange) {
	r.From = hours.Date{Year: year, Month: time.Month(1 + g.IntN(12)), Day: day}
	if g.IntN(3) > 0 {
		r.To = hours.Date{Year: year, Month: (r.From.Month+time.Month(g.IntN(3)))%12 + 1, Day: day}
		if year != 0 && r.To.Month < r.From.Month {
			r.To.Year++
		}
	}
	return r
}

func (g generator) days() hours.DayRange {
	from := time.Weekday(g.IntN(7))
	switch g.IntN(8) {
	case 0:
		return hours.DayRange{Holiday: []hours.Holiday{hours.PublicHoliday, hours.SchoolHoliday}[g.IntN(2)]}
	case 1:
		return hours.DayRange{From: from, To: from, Nth: []int{[]int{1, 2, 3, 4, 5, -1, -2}[g.IntN(7)]}}
	case 2, 3, 4:
		return hours.DayRange{From: from, To: from}
	}
	return hours.DayRange{From: from, To: (from + time.Weekday(1+g.IntN(6))) % 7}
}
