package factscheck

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sayso/facts"
	"sayso/safefetch"
)

// errBusy says that a publisher asked for more patience than the checker has.
var errBusy = errors.New("the publisher limits the rate; the time for waiting is used up")

// do sends one request in its turn and waits where the publisher asks for it.
func (c *checker) do(via fetcher, r safefetch.Request) (*safefetch.Response, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
	for {
		resp, err := via.Do(c.ctx, r)
		if err != nil {
			return nil, err
		}
		pause, asked := patience(resp, c.Clock())
		if !asked {
			return resp, nil
		}
		c.mu.Lock()
		enough := c.waited+pause > waitLimit
		if !enough {
			c.waited += pause
		}
		c.mu.Unlock()
		if enough {
			return nil, errBusy
		}
		if err := c.Sleep(c.ctx, pause); err != nil {
			return nil, err
		}
	}
}

// patience reads Retry-After of a 429 or 503, as seconds or as an HTTP date. A 429 without a usable one asks for patience all the same.
func patience(resp *safefetch.Response, now time.Time) (time.Duration, bool) {
	if resp.Status != http.StatusTooManyRequests && resp.Status != http.StatusServiceUnavailable {
		return 0, false
	}
	after := resp.Header.Get("Retry-After")
	pause := time.Duration(0)
	if n, err := strconv.ParseUint(after, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		pause = time.Duration(min(n, tooLong)) * time.Second
	} else if t, err := http.ParseTime(after); err == nil {
		pause = t.Sub(now)
	} else if resp.Status == http.StatusTooManyRequests {
		pause = unnamedPause
	} else {
		return 0, false
	}
	// Both bounds matter: a foreign number may not overflow what has been waited, and a pause of nothing would spin.
	return min(max(pause, time.Second), tooLong*time.Second), true
}

// unnamedPause is what a rate limit that names no time is given: it says nothing about what is served.
const unnamedPause = 5 * time.Second

// tooLong in seconds is a pause that nobody waits for.
const tooLong = 24 * 60 * 60

// get fetches a URL of the checked origin. accept is an Accept header, JSON when empty.
func (c *checker) get(at, accept string) (*safefetch.Response, error) {
	if accept == "" {
		accept = "application/json"
	}
	return c.do(c.fetch, safefetch.Request{URL: at, Header: http.Header{"Accept": {accept}}})
}

// document fetches a JSON document and fails rule when it is not there; what could not be fetched is not tested.
func (c *checker) document(rule, at string) ([]byte, bool) {
	resp, err := c.get(at, "")
	if err != nil {
		c.unanswered(rule, at, "the document could not be fetched", err)
		return nil, false
	}
	if resp.Status != http.StatusOK {
		c.fail(rule, at, "the answer is "+status(resp), "serve the document at this URL")
		return nil, false
	}
	return resp.Body, true
}

func status(resp *safefetch.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", resp.Status, http.StatusText(resp.Status)))
}

// mediaType is the bare type of an answer, lower case.
func mediaType(h http.Header) string {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

// query appends one parameter to a URL.
func query(at, name, value string) string {
	sep := "?"
	if strings.Contains(at, "?") {
		sep = "&"
	}
	return at + sep + name + "=" + strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// date reads a date that may be absent; ok is false for text that is no calendar day.
func date(s *string) (d facts.Date, ok bool) {
	if s == nil {
		return 0, true
	}
	d, err := facts.ParseDate(*s)
	return d, err == nil
}
