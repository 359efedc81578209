package safefetch_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
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

func TestPause(t *testing.T) {
	begin := time.Now()
	if err := safefetch.Pause(t.Context(), 20*time.Millisecond); err != nil || time.Since(begin) < 20*time.Millisecond {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	if err := safefetch.Pause(t.Context(), -1); err != nil {
		t.Errorf("a time that is over: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := safefetch.Pause(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended: %v", err)
	}
}

func TestReason(t *testing.T) {
	_, err := safefetch.New(safefetch.Policy{}).Get(t.Context(), "http://a.example/")
	if got := safefetch.Reason(err); !errors.Is(err, safefetch.ErrRefused) || got != "refused: the scheme is not https" {
		t.Errorf("%q, %v", got, err)
	}
}

// Nothing but http on the own machine is added, and a policy that others hold is not changed.
func TestWithLoopback(t *testing.T) {
	shared := make([]string, 1, 8)
	shared[0] = "127.0.0.1:1"
	p := safefetch.Policy{Loopback: shared, MaxRedirects: 2}
	one := p.WithLoopback("http://localhost:8470", "https://127.0.0.1:3", "http://a.example", "", "http://user@localhost:4", "http://[::1]/x")
	other := p.WithLoopback("http://127.0.0.9:9")
	if want := []string{"127.0.0.1:1", "localhost:8470", "[::1]:80"}; !slices.Equal(one.Loopback, want) || one.MaxRedirects != 2 {
		t.Errorf("%+v, want %q", one, want)
	}
	if !slices.Equal(other.Loopback, []string{"127.0.0.1:1", "127.0.0.9:9"}) || len(p.Loopback) != 1 {
		t.Errorf("%q, %q", other.Loopback, p.Loopback)
	}
}
