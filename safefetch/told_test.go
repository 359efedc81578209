package safefetch_test

import (
	"net/http"
	"testing"
	"time"

	"sayso/safefetch"
)

func TestRetryAfter(t *testing.T) {
	const date = "Mon, 30 Nov 2026 10:00:00 GMT"
	for text, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-5": 0, "99999999": 24 * time.Hour, "soon": 0,
		"Mon, 30 Nov 2026 10:00:07 GMT": 7 * time.Second, "Mon, 30 Nov 2026 09:00:00 GMT": 0, "Wed, 30 Dec 2026 10:00:00 GMT": 24 * time.Hour,
	} {
		r := safefetch.Response{Header: http.Header{"Retry-After": {text}, "Date": {date}}}
		if got := r.RetryAfter(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		delete(r.Header, "Date")
		if got := r.RetryAfter(); len(text) > 10 && got != 0 {
			t.Errorf("%q without the server's clock: %v", text, got)
		}
	}
}

// XP-NET-007
func TestWithoutQuery(t *testing.T) {
	for at, want := range map[string]string{
		"https://a.example/x?token=1#f":   "https://a.example/x",
		"https://user:pw@a.example/x@y":   "https://a.example/x@y",
		"https://a.example#secret":        "https://a.example",
		"user@host":                       "user@host",
		"a/b?c":                           "a/b",
		"https://p@q@a.example":           "https://a.example",
		"https://a.example/?u=https://b/": "https://a.example/",
	} {
		if got := safefetch.WithoutQuery(at); got != want {
			t.Errorf("%q: %q, want %q", at, got, want)
		}
	}
}
