package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/dataset"
)

// stepClock moves only when somebody sleeps.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return ctx.Err()
}

// countingPages notes when each source is asked.
type countingPages struct {
	pages
	clock *stepClock
	mu    sync.Mutex
	asked map[string][]time.Time
}

func (c *countingPages) Fetch(ctx context.Context, url string, v dataset.Validators) (dataset.Page, error) {
	c.mu.Lock()
	c.asked[url] = append(c.asked[url], c.clock.Now())
	c.mu.Unlock()
	return c.pages.Fetch(ctx, url, v)
}

func recheckAll(t *testing.T, dir string, p pages, change func(*dataset.RecheckOptions)) (*dataset.Rechecked, *countingPages) {
	t.Helper()
	clock := &stepClock{now: time.Unix(0, 0)}
	c := &countingPages{pages: p, clock: clock, asked: map[string][]time.Time{}}
	o := dataset.RecheckOptions{Today: day(t, today), Fetcher: c, Clock: clock}
	if change != nil {
		change(&o)
	}
	r, err := dataset.Recheck(context.Background(), load(t, dir), o)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

func found(r *dataset.Rechecked) []string {
	var out []string
	for _, i := range r.Items {
		for _, f := range i.Findings {
			out = append(out, i.Key+": "+f.Kind)
		}
	}
	return out
}

func TestRecheck(t *testing.T) {
	dir := sampleCopy(t)
	setBank(t, dir)
	if _, err := dataset.Confirm(context.Background(), dir, bankRead(t)); err != nil {
		t.Fatal(err)
	}
	p := pages{
		"https://bank.example/rate-new": {ETag: `"1"`}, // not modified
		"https://tax.example/rates":     {Body: []byte("The allowance is &pound;12,570 a year. The basic rate is 20%. 1,047.50")},
		"https://tax.example/passport":  {Status: 410},
		"https://tax.example/vat":       {Body: []byte("Register above £91,000."), FinalURL: "https://tax.example/vat/registration"},
		"https://tax.example/deadlines": {Status: 503},
	}
	before := contents(t, dir)
	r, c := recheckAll(t, dir, p, nil)
	want := []string{
		"zz/income-tax/basic-rate: overdue", "zz/income-tax/personal-allowance: overdue",
		"zz/other/filing-deadline: source error",
		"zz/other/passport-fee: overdue", "zz/other/passport-fee: source gone",
		"zz/other/receipts-on-paper: source error",
		"zz/other/vat-notch: moved",
		"zz/other/vat-threshold: moved", "zz/other/vat-threshold: quote missing", "zz/other/vat-threshold: value missing",
	}
	if got := found(r); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !r.Failed() || r.Sources != 6 {
		t.Errorf("failed %v, %d sources", r.Failed(), r.Sources)
	}
	var times []time.Time
	for source, at := range c.asked {
		if len(at) != 1 {
			t.Errorf("%s is fetched %d times", source, len(at))
		}
		if strings.Contains(source, "tax.example") {
			times = append(times, at...)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for i := 1; i < len(times); i++ {
		if times[i].Sub(times[i-1]) < 500*time.Millisecond {
			t.Errorf("two requests to one host within %v", times[i].Sub(times[i-1]))
		}
	}
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("recheck wrote something")
	}
}

// What the calendar alone says (F§10.5).
func TestRecheckDates(t *testing.T) {
	for on, want := range map[string]string{
		"2026-12-01": "",
		"2027-03-20": "zz/income-tax/basic-rate: value begins",
		"2027-04-06": "zz/income-tax/basic-rate: value ended|zz/income-tax/basic-rate: period passed",
	} {
		r, _ := recheckAll(t, "testdata/sample", pages{"https://tax.example/rates": {Body: []byte("The basic rate is 20%.")}}, func(o *dataset.RecheckOptions) {
			o.Key, o.Today = "zz/income-tax/basic-rate", day(t, on)
		})
		got := strings.Join(slices.DeleteFunc(found(r), func(s string) bool { return strings.HasSuffix(s, "due") }), "|")
		if got != want {
			t.Errorf("on %s: got %q, want %q", on, got, want)
		}
	}
}

func TestRecheckFindsChangedPage(t *testing.T) {
	dir := sampleCopy(t)
	setBank(t, dir)
	if _, err := dataset.Confirm(context.Background(), dir, bankRead(t)); err != nil {
		t.Fatal(err)
	}
	only := func(o *dataset.RecheckOptions) { o.Key = "zz/bank-rate" }
	r, _ := recheckAll(t, dir, pages{"https://bank.example/rate-new": {Body: []byte("News! The rate is 3.50% now: a cut.")}}, only)
	if got := found(r); !slices.Equal(got, []string{"zz/bank-rate: page changed"}) || r.Failed() {
		t.Errorf("got %q", got)
	}
}

func TestRecheckStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	clock := &stepClock{}
	_, err := dataset.Recheck(ctx, load(t, "testdata/sample"), dataset.RecheckOptions{Today: day(t, today), Fetcher: pages{}, Clock: clock})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_, err = dataset.Recheck(context.Background(), load(t, "testdata/sample"), dataset.RecheckOptions{Key: "zz/x/y", Clock: clock})
	wantKind(t, err, dataset.NotFound, "no fact")
}

// Every usual spelling of a figure is found on a page, and no longer number that contains its digits (T16, T19).
func TestValueSpellings(t *testing.T) {
	tests := []struct {
		value facts.Value
		page  string
		want  bool
	}{
		{"12570", "£12,570", true}, {"12570", "£12 570", true}, {"12570", "12.570 EUR", true}, {"12570", "<td>12570.</td>", true}, {"12570", "12\u202f570", true},
		{"12570", "12,570.00", true}, {"12570", "112,570", false}, {"12570", "12,570,000", false}, {"12570", "12,570.5", false}, {"12570", "125700", false},
		{"5.25", "5.25%", true}, {"5.25", "5,25 %", true}, {"5.25", "15.25", false}, {"94.5", "£94.50", true}, {"94.5", "94.55", false}, {"1234567.5", "1,234,567.50", true},
		{`"a rule"`, "<p>a\n<i>rule</i></p>", true}, {"7", "<script>7</script> eight", false}, {"7", "<!-- 7 --> eight", false},
	}
	dir := sampleCopy(t)
	for i, tt := range tests {
		t.Run(fmt.Sprint(tt.value, " in ", tt.page), func(t *testing.T) {
			label := fmt.Sprintf("zz/spelling/s%d", i)
			write(t, dir, map[string]string{"topics/zz/spelling.yaml": fmt.Sprintf("topic: {prefix: zz/spelling, title: Spelling, area: zz-rates}\nfacts:\n  - key: s%d\n    label: Spelling\n    values:\n"+
				"      - value: %s\n        effectiveFrom: 2026-01-01\n        source: https://tax.example/s\n", i, tt.value)})
			c, err := dataset.Recheck(context.Background(), load(t, dir), dataset.RecheckOptions{Key: label, Today: day(t, today), Clock: &stepClock{},
				Fetcher: pages{"https://tax.example/s": {Body: []byte(tt.page)}}})
			if err != nil {
				t.Fatal(err)
			}
			if missing := slices.Contains(found(c), label+": value missing"); missing == tt.want {
				t.Errorf("missing: %v, want found %v", missing, tt.want)
			}
		})
	}
}
