package factscheck_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sayso/facts/factscheck"
	"sayso/report"
)

// F§12: a pause is waited for, at most 60 s in all. Numbers and dates without bounds may neither overflow the sum nor be slept for.
func TestPatienceIsBounded_F12(t *testing.T) {
	for _, after := range []string{"9223372036", "9223372036854775807", "99999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "3600", "", "soon", "-1"} {
		s := newSite(t, "L1", true)
		var asked atomic.Int64
		s.spoil = func(r *http.Request, a *reply) {
			if strings.HasPrefix(r.URL.Path, "/f/uk/") {
				a.status, a.body = 429, object{}
				a.header.Set("Retry-After", after)
				if asked.Add(1) == 1 {
					a.header.Set("Retry-After", "1") // something has been waited when the long pause is asked for
				}
			}
		}
		r := check(t, s, factscheck.Options{Sleep: func(_ context.Context, d time.Duration) error {
			if d > time.Minute || d <= 0 {
				t.Errorf("Retry-After %s: slept %v", after, d)
			}
			return nil
		}})
		if r.Failed() || !slices.Contains(of(r, report.NotTested), "VF-L1-003a") {
			t.Errorf("Retry-After %s: %s", after, dump(r))
		}
	}
}

// A level does not hold because nothing of it could be looked at, and silence is never taken for an answer.
func TestVerdictCountsSilence_F12(t *testing.T) {
	busy := func(prefix string) func(*http.Request, *reply) {
		return func(r *http.Request, a *reply) {
			if strings.HasPrefix(r.URL.Path, prefix) {
				a.status, a.body = 503, object{}
				a.header.Set("Retry-After", "3600")
			}
		}
	}
	for _, c := range []struct {
		level  string
		static bool
		silent string
		want   string
	}{
		{"L3", false, bank, "The origin claims L3, and L3 holds as far as it answered (failures: 0, requests without an answer: "},
		{"L1", true, "/f/", "The origin claims L1, but no level holds (failures: 0, requests without an answer: 1)."},
		{"L3", true, "/f/uk", "The origin claims L3, and L3 holds as far as it answered (failures: 0, requests without an answer: 6)."},
		{"L3", true, "/changes.json", "The origin claims L3, and L3 holds as far as it answered (failures: 0, requests without an answer: 1)."},
		{"L3", true, "/.well-known/changes.json", "The origin claims L3, but no level holds (failures: 0, requests without an answer: 1)."},
		{"L3", true, "/.well-known/jwks.json", "The origin claims L3; the highest level that holds is L1 (failures: 0, requests without an answer: 1)."},
	} {
		s := newSite(t, c.level, c.static)
		s.spoil = busy(c.silent)
		if r := check(t, s, factscheck.Options{}); r.Failed() || !strings.HasPrefix(r.Verdict, c.want) {
			t.Errorf("%s static %v without %s: %s\n%s", c.level, c.static, c.silent, r.Verdict, dump(r))
		}
	}
}

// A number that the schema takes and the reader does not is a failure, never a silent end of the check.
func TestNumbersInAnotherSpelling_F12(t *testing.T) {
	for path, c := range map[string]struct{ from, to, rule string }{
		"/f":            {`"count":6`, `"count":6.0`, "VF-L1-002a"},
		"/changes.json": {`"count":3`, `"count":3.0`, "VF-L1-005c"},
	} {
		s := newSite(t, "L2", false)
		s.spoil = func(r *http.Request, a *reply) {
			if r.URL.Path == path && len(r.URL.Query()) == 0 {
				a.body = strings.Replace(string(encode(a.body)), c.from, c.to, 1)
			}
		}
		if r := check(t, s, factscheck.Options{}); !slices.Contains(of(r, report.Fail), c.rule) {
			t.Errorf("%s: %s", path, dump(r))
		}
	}
}

// Item 7 speaks of every static document, the changelog too.
func TestGeneratedOfTheChangelog_F12(t *testing.T) {
	for _, static := range []bool{false, true} {
		s := newSite(t, "L1", static)
		if !static {
			s.level = "L2"
		}
		s.spoil = set("/changes.json", "generated", "2026-06-01")
		r := check(t, s, factscheck.Options{})
		outcome := report.Warning
		if static {
			outcome = report.Fail
		}
		if !slices.Contains(of(r, outcome), "VF-L1-007a") || r.Failed() != static {
			t.Errorf("static %v: %s", static, dump(r))
		}
	}
}

// The origin is typed by people: another spelling of it is the same origin.
func TestOriginInCapitals_F12(t *testing.T) {
	s := newSite(t, "L3", true)
	s.typed = strings.ToUpper(s.origin) + "/"
	if r := check(t, s, factscheck.Options{}); r.Failed() || r.Subject != s.origin {
		t.Errorf("%s", dump(r))
	}
}
