package safefetch

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter reads Retry-After as seconds or as an HTTP date, which is compared with the server's own clock; at most a day, 0 without one.
func (r *Response) RetryAfter() time.Duration {
	const day = 24 * time.Hour
	text := r.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), int(day/time.Second))) * time.Second
	}
	then, err := http.ParseTime(text)
	now, err2 := http.ParseTime(r.Header.Get("Date"))
	if err != nil || err2 != nil {
		return 0
	}
	return min(max(then.Sub(now), 0), day)
}

// Pause waits before something is asked again: for d, or until ctx ends, whose error it then returns.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reason is the text of an error of [Client.Do] for somebody who does not know this package.
func Reason(err error) string { return strings.TrimPrefix(err.Error(), "safefetch: ") }

// WithoutQuery cuts from an address what must not stand in a report: query, fragment and user information may be secrets.
func WithoutQuery(at string) string {
	if i := strings.IndexAny(at, "?#"); i >= 0 {
		at = at[:i]
	}
	scheme, rest, ok := strings.Cut(at, "://")
	if !ok {
		return at
	}
	authority, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + rest[strings.LastIndexByte(authority, '@')+1:]
}
