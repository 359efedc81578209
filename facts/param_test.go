package facts_test

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"sayso/facts"
)

// refusal asserts a *ParameterError and returns it.
func refusal(t *testing.T, err error) *facts.ParameterError {
	t.Helper()
	var refused *facts.ParameterError
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no *ParameterError", err)
	}
	if refused.Error() != refused.Message || len(refused.Message) > 300 {
		t.Errorf("message %q", refused.Message)
	}
	return refused
}

// F§4.1, S11, S20 and T1 of F§14.
func TestCheckQueryRefuses(t *testing.T) {
	for _, c := range []struct {
		route              facts.Route
		query              string
		parameter, message string
	}{
		{facts.RouteGet, "asOf=2026-01-01", "asOf", `unknown parameter "asOf"; did you mean "as_of"?`},
		{facts.RouteGet, "MAXAGE=30d", "MAXAGE", `unknown parameter "MAXAGE"; did you mean "max_age"?`},
		{facts.RouteGet, "max-age=30d", "max-age", `unknown parameter "max-age"; did you mean "max_age"?`},
		{facts.RouteGet, "perod=2026", "perod", `unknown parameter "perod"; did you mean "period"?`},
		{facts.RouteGet, "date=2026-01-01", "date", `unknown parameter "date"; allowed: max_age, as_of, period, format`},
		{facts.RouteGet, "vintage=2026", "vintage", `unknown parameter "vintage"; allowed: max_age, as_of, period, format`},
		{facts.RouteGet, "keys=uk/x", "keys", `unknown parameter "keys"; allowed: max_age, as_of, period, format`},
		{facts.RouteResolve, "query=x", "query", `unknown parameter "query"; allowed: q, namespace, limit`},
		{facts.RouteChanges, "from=x", "from", `unknown parameter "from"; allowed: since, area, limit, cursor`},
		{"document", "x=y", "x", `unknown parameter "x"; none are taken here`},
		{facts.RouteGet, "as_of=2026-01-01&as_of=2026-01-01", "as_of", `parameter "as_of" is given 2 times; give it once`},
		{facts.RouteGet, "as_of=", "as_of", `parameter "as_of" is empty; give a value or leave it out`},
		{facts.RouteGet, "period=+", "period", `parameter "period" is empty; give a value or leave it out`},
		{facts.RouteGet, "utm=x", "utm", `unknown parameter "utm"; allowed: max_age, as_of, period, format`},
		{facts.RouteGet, "", "", ""},
		{facts.RouteGet, "=x", "", `unknown parameter ""; allowed: max_age, as_of, period, format`},
		{facts.RouteFacts, "keys=uk/x&namespace=uk", "namespace", `parameter "namespace" selects from the index and cannot stand beside "keys"; leave one out`},
		{facts.RouteFacts, "period=2026", "period", `parameter "period" needs "keys"; the index shows the values in force today`},
		{facts.RouteFacts, "namespace=uk&max_age=1d", "max_age", `parameter "max_age" needs "keys"; the index shows the values in force today`},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = facts.CheckQuery(c.route, q)
		if c.query == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if refused := refusal(t, err); refused.Parameter != c.parameter || refused.Message != c.message {
			t.Errorf("%s?%s: %s: %s, want %s: %s", c.route, c.query, refused.Parameter, refused.Message, c.parameter, c.message)
		}
	}
	for _, name := range []string{strings.Repeat("x", 1<<16), "\xff\x00", "a\r\nb"} {
		_, err := facts.CheckQuery(facts.RouteGet, url.Values{name: {"1"}})
		if refused := refusal(t, err); len(refused.Parameter) > 100 || strings.ContainsAny(refused.Message, "\r\n\x00") || strings.Contains(refused.Message, "\xff") {
			t.Errorf("%.20q is repeated as %q in %q", name, refused.Parameter, refused.Message)
		}
	}
}

func TestCheckQueryTakes(t *testing.T) {
	q, _ := url.ParseQuery("keys=uk/a,uk/b&max_age=30d&utm_source=chat&utm_&gclid=1&gclid=2&fbclid&msclkid=")
	got, err := facts.CheckQuery(facts.RouteFacts, q)
	if want := (facts.Params{"keys": "uk/a,uk/b", "max_age": "30d"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	got, err = facts.CheckQuery(facts.RouteFacts, url.Values{"namespace": {"uk"}, "format": {"html"}})
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCheckNames(t *testing.T) {
	allowed := facts.RouteBatch.Parameters()
	if err := facts.CheckNames(allowed, []string{"as_of", "keys"}); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"asOf": `unknown parameter "asOf"; did you mean "as_of"?`,
		"key":  `unknown parameter "key"; did you mean "keys"?`,
		"date": `unknown parameter "date"; allowed: keys, max_age, as_of, period`,
		// Link decoration belongs to URLs, not to JSON.
		"utm_source": `unknown parameter "utm_source"; allowed: keys, max_age, as_of, period`,
	} {
		if got := refusal(t, facts.CheckNames(allowed, []string{"keys", name})); got.Message != want || got.Parameter != name {
			t.Errorf("%s: %s", name, got.Message)
		}
	}
	if got := refusal(t, facts.CheckNames(allowed, []string{"keys", "keys"})); got.Message != `parameter "keys" is given twice; give it once` {
		t.Error(got.Message)
	}
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		params facts.Params
		want   facts.Selection
	}{
		{nil, facts.Selection{MaxAge: facts.NoMaxAge}},
		{facts.Params{"max_age": "0d"}, facts.Selection{MaxAge: 0}},
		{facts.Params{"max_age": "P1Y6M", "period": "2025-26"}, facts.Selection{MaxAge: 545, Period: "2025-26"}},
		{facts.Params{"as_of": "2026-04-05", "q": "x"}, facts.Selection{MaxAge: facts.NoMaxAge, AsOf: date(t, "2026-04-05")}},
	} {
		if got, err := c.params.Selection(); err != nil || got != c.want {
			t.Errorf("%v gives %+v, %v", c.params, got, err)
		}
	}
	for _, c := range []struct {
		params             facts.Params
		parameter, message string
	}{
		{facts.Params{"as_of": "2026-01-01", "period": "2026"}, "as_of", `parameters "as_of" and "period" exclude each other; give one of them`},
		{facts.Params{"as_of": "2026-02-30"}, "as_of", `as_of: "2026-02-30" is not a calendar day`},
		{facts.Params{"as_of": "today"}, "as_of", `as_of: "today" is not a date: write YYYY-MM-DD`},
		{facts.Params{"as_of": ""}, "as_of", `parameter "as_of" is empty; give a value or leave it out`},
		{facts.Params{"period": " "}, "period", `parameter "period" is empty; give a value or leave it out`},
		{facts.Params{"max_age": "30"}, "max_age", `max_age: "30" is not a duration: write whole days, weeks, months or years such as 30d, 12w, 6m, 1y, or P30D`},
		{facts.Params{"max_age": "101y"}, "max_age", `max_age: "101y" is longer than 36500 days`},
	} {
		_, err := c.params.Selection()
		if refused := refusal(t, err); refused.Parameter != c.parameter || refused.Message != c.message {
			t.Errorf("%v: %s: %s", c.params, refused.Parameter, refused.Message)
		}
	}
}

// T17 of F§14: limit outside 1..20 is refused, never clamped.
func TestLimit(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "20": 20, "007": 7} {
		if got, err := (facts.Params{"limit": text}).Limit(5, 20); err != nil || got != want {
			t.Errorf("limit %s is %d, %v", text, got, err)
		}
	}
	if got, err := (facts.Params{}).Limit(5, 20); err != nil || got != 5 {
		t.Errorf("no limit is %d, %v", got, err)
	}
	for _, text := range []string{"0", "21", "-1", "+1", "1.0", "1e1", "", " 5", "five", "99999999999999999999"} {
		_, err := facts.Params{"limit": text}.Limit(5, 20)
		if refused := refusal(t, err); refused.Parameter != "limit" || !strings.HasPrefix(refused.Message, "limit is a whole number from 1 to 20, not ") {
			t.Errorf("limit %q: %s", text, refused.Message)
		}
	}
}
