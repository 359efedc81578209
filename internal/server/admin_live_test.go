package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/server"
)

// One reading is answered with its refusal, several with what became of each line.
func TestAdminLive(t *testing.T) {
	r := newRegistry(t)
	r.Publisher(t, "shop")
	token := r.owner("shop", "import", "live")
	r.must(request{method: "PUT", path: "/publishers/shop/schema", token: token, kind: "application/json",
		body: `{"streams":[{"key":"open","kind":"bool","sla_seconds":60,"max_age_seconds":600}]}`})
	const path = "/publishers/shop/live"
	reading := func(value string, ago time.Duration) string {
		return fmt.Sprintf(`{"stream":"open","value":%s,"observed_at":%q}`, value, r.Clock.Now().Add(-ago).Format(time.RFC3339Nano))
	}
	push := func(kind, body string) reply {
		return r.admin(request{method: "POST", path: path, token: token, kind: kind, body: body})
	}
	const one, lines = "application/json", "application/x-ndjson"
	description := r.description()
	var post server.AdminRoute
	for _, route := range server.AdminRoutes() {
		if route.Method == "POST" && strings.HasSuffix(route.Pattern, "/live") {
			post = route
		}
	}
	for _, c := range []struct {
		name, kind, body string
		status           int
		want             string // error, or what stands in the answer
	}{
		{"one", one, reading("true", time.Minute), 200, `"accepted":1,"refused":[]`},
		{"one that is not newer", one, reading("false", time.Minute), 409, "not_newer"},
		{"one of another kind", one, reading("1", 0), 400, "invalid_value"},
		{"one, as two", one, reading("true", 0) + reading("true", 0), 400, "invalid_body"},
		{"one, spread over lines", one, strings.ReplaceAll(reading("false", 30*time.Second), ",", ",\n"), 200, `"accepted":1`},
		{"lines", lines, reading("1", 0) + "\n\n" + reading("true", 20*time.Second) + "\n" + reading("true", 25*time.Second), 200,
			`"accepted":1,"refused":[{"line":1,"code":"invalid_value",`},
		{"lines of which none is kept", lines, reading("1", 0), 200, `"accepted":0,"refused":[{"line":1,`},
		{"no lines", lines, "\n", 400, "invalid_body"},
		{"a line that is none", lines, reading("false", 0) + "\n[1]", 400, "invalid_body"},
		{"another type", "text/csv", reading("false", 0), 415, "unsupported_media_type"},
		{"no type", "text/plain", "", 415, "unsupported_media_type"},
		{"too many", lines, strings.Repeat(reading("true", 0)+"\n", app.MaxReadings+1), 429, "too_many_readings"},
		{"too large", lines, strings.Repeat(" ", app.MaxLive+1), 413, "too_large"},
	} {
		a := push(c.kind, c.body)
		description.check(t, post, a)
		if a.status != c.status || a.status == http.StatusOK && !strings.Contains(a.text, c.want) || a.status != http.StatusOK && a.code() != c.want {
			t.Errorf("%s: %d %.300s, want %d %s", c.name, a.status, a.text, c.status, c.want)
		}
	}
	for query, want := range map[string]string{"": `"value":true`, "?stream=open": `"stream":"open"`, "?stream=none": `{"readings":[]}`} {
		if a := r.admin(request{method: "GET", path: path + query, token: token}); a.status != 200 || !strings.Contains(a.text, want) {
			t.Errorf("%s: %d %s", query, a.status, a.text)
		}
	}
	if a := r.admin(request{method: "GET", path: path + "?streams=open", token: token}); a.code() != "unknown_parameter" {
		t.Errorf("%d %s", a.status, a.text)
	}
}
