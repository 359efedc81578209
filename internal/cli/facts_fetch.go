package cli

import (
	"context"
	"net/http"
	"time"

	"sayso/facts/dataset"
	"sayso/internal/buildinfo"
	"sayso/safefetch"
)

// sourceFetcher fetches the pages that figures cite. They are foreign URLs: https, public addresses, bounded; a page is one GET that says who asks.
type sourceFetcher struct{ client *safefetch.Client }

func newSourceFetcher(publisherURL string) sourceFetcher {
	return sourceFetcher{safefetch.New(safefetch.Policy{
		UserAgent:    buildinfo.UserAgent() + " (+" + publisherURL + ")",
		MaxBytes:     8 << 20,
		MaxRedirects: 5,
		Timeout:      30 * time.Second,
		PerHost:      1,
	})}
}

func (f sourceFetcher) Fetch(ctx context.Context, url string, v dataset.Validators) (dataset.Page, error) {
	header := http.Header{"Accept": {"text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.5"}}
	if v.ETag != "" {
		header.Set("If-None-Match", v.ETag)
	}
	if v.LastModified != "" {
		header.Set("If-Modified-Since", v.LastModified)
	}
	r, err := f.client.Do(ctx, safefetch.Request{URL: url, Header: header})
	if err != nil {
		return dataset.Page{}, err
	}
	return dataset.Page{Status: r.Status, FinalURL: r.FinalURL, Body: r.Body, ETag: r.Header.Get("ETag"), LastModified: r.Header.Get("Last-Modified")}, nil
}

// wallClock paces the requests of a re-check.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	return safefetch.Pause(ctx, d)
}
