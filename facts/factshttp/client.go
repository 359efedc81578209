package factshttp

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"sayso/facts"
	"sayso/jcs"
	"sayso/safefetch"
)

const (
	discoveryLife = time.Hour
	keysLife      = 24 * time.Hour
)

// ClientOptions are what a client needs besides the origin.
type ClientOptions struct {
	// Fetch sends every request. Nil is a client of the default policy with 16 MiB, 30 s and 3 redirects; it cannot reach the own machine.
	Fetch *safefetch.Client
	// Clock is the instant that decides "today" (UTC) and how old a cached document is. Nil is time.Now.
	Clock func() time.Time
	// Pin is what the reader remembers of the publisher; the zero Pin checks nothing.
	Pin Pin
}

// Client reads one publisher. It is safe for concurrent use.
type Client struct {
	origin string
	fetch  *safefetch.Client
	clock  func() time.Time
	pin    Pin

	mu         sync.Mutex // guards the caches, never held while fetching
	discovered map[string]dated[*Discovery]
	keySets    map[string]dated[*keySet]
	ranking    dated[*staticRanker]
}

// dated is a cached value with the instant it was read.
type dated[T any] struct {
	value T
	at    time.Time
}

// NewClient returns a client for a publisher's origin (scheme://host[:port], a trailing slash is ignored). It fetches nothing yet.
func NewClient(origin string, o ClientOptions) *Client {
	if o.Fetch == nil {
		o.Fetch = safefetch.New(safefetch.Policy{MaxBytes: 16 << 20, Timeout: 30 * time.Second, MaxRedirects: 3})
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Client{
		origin: strings.TrimRight(origin, "/"), fetch: o.Fetch, clock: o.Clock, pin: o.Pin,
		discovered: map[string]dated[*Discovery]{}, keySets: map[string]dated[*keySet]{},
	}
}

// Origin is the origin the client was made for, without a trailing slash.
func (c *Client) Origin() string { return c.origin }

func (c *Client) today() facts.Date { return facts.DateOf(c.clock()) }

// StatusError is an HTTP answer that is no answer of the protocol: the publisher is unavailable, limits the rate, or does not serve the document.
type StatusError struct {
	URL        string // without the query
	Status     int
	RetryAfter time.Duration // 0 when the publisher named none
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answered %d %s", e.URL, e.Status, http.StatusText(e.Status))
}

// AnswerError is a document that breaks the protocol: it cannot be read, or it answers something that was not asked.
type AnswerError struct {
	URL     string // without the query
	Problem string // one clause
}

func (e *AnswerError) Error() string { return e.URL + ": " + e.Problem }

var acceptJSON = http.Header{"Accept": {"application/json"}}

// ask fetches whatever a URL answers. What is not declared to be JSON is never parsed: of a good answer that is an error, of any other only the status
// counts.
func (c *Client) ask(ctx context.Context, at string) (*safefetch.Response, error) {
	resp, err := c.fetch.Do(ctx, safefetch.Request{URL: at, Header: acceptJSON})
	if err != nil {
		return nil, err
	}
	t, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch isJSON := t == "application/json" || strings.HasSuffix(t, "+json"); {
	case isJSON:
		return resp, nil
	case resp.Status == http.StatusOK:
		return nil, answerError(at, "the content type is %.100q, not JSON", t)
	}
	return nil, statusError(at, resp)
}

// get fetches a JSON document; only 200 is an answer here.
func (c *Client) get(ctx context.Context, at string) ([]byte, error) {
	resp, err := c.ask(ctx, at)
	if err != nil {
		return nil, err
	}
	if resp.Status != http.StatusOK {
		return nil, statusError(at, resp)
	}
	return resp.Body, nil
}

func statusError(at string, resp *safefetch.Response) error {
	return &StatusError{URL: safefetch.WithoutQuery(at), Status: resp.Status, RetryAfter: resp.RetryAfter()}
}

func answerError(at, format string, args ...any) error {
	return &AnswerError{URL: safefetch.WithoutQuery(at), Problem: fmt.Sprintf(format, args...)}
}

// decodeAnswer reads a document strictly; unknown members are ignored (F§3.1).
func decodeAnswer(at string, data []byte, v any) error {
	if err := jcs.Decode(data, v); err != nil {
		return answerError(at, "unusable document: %v", err)
	}
	return nil
}

// OriginOf is scheme://host[:port] of an absolute URL in lower case, "" when it has none.
func OriginOf(at string) string {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme == "" {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// Expand fills {name} and {+name} of a URL template. Slashes and the colon of changelog aliases stay in a key, the comma stays between keys (S13).
func Expand(template, name, value string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	switch name {
	case "key":
		escaped = strings.NewReplacer("%2F", "/", "%3A", ":").Replace(escaped)
	case "keys":
		escaped = strings.NewReplacer("%2F", "/", "%3A", ":", "%2C", ",").Replace(escaped)
	}
	return strings.NewReplacer("{"+name+"}", escaped, "{+"+name+"}", escaped).Replace(template)
}

// withQuery appends parameters that have a value to a URL that may have a query already.
func withQuery(at string, pairs ...string) string {
	sep := "?"
	if strings.Contains(at, "?") {
		sep = "&"
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			at += sep + pairs[i] + "=" + strings.ReplaceAll(url.QueryEscape(pairs[i+1]), "+", "%20")
			sep = "&"
		}
	}
	return at
}

// selectionQuery writes a selection as parameters.
func selectionQuery(at string, sel facts.Selection) string {
	maxAge := ""
	if sel.MaxAge >= 0 {
		maxAge = strconv.Itoa(sel.MaxAge) + "d"
	}
	return withQuery(at, "max_age", maxAge, "as_of", sel.AsOf.String(), "period", sel.Period)
}
