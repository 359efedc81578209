package main

import (
	"context"
	"fmt"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/jcs"
)

// measureManifest compares throughput over loopback with a handler that sends the same status, headers and body. In our rounds the registry polls its database
// as well.
func measureManifest(r *report, p *plan) error {
	r.title("GET manifest.json, signed already, %d keep-alive connections, client in the same process; baseline: a handler that replays status, headers and body", connections)
	var rows []string
	var lines []line
	var times []time.Duration
	for _, n := range p.publishers {
		both, poll, err := manifestsAt(n, p)
		if err != nil {
			return err
		}
		ours, bare, ratio := median(both.ours), median(both.theirs), 1/both.ratio()
		times = append(times, ours)
		rows = append(rows, fmt.Sprintf("%d|%.0f|%.0f|%s|%s|%s|%.3f", n, 1e9/float64(ours), 1e9/float64(bare), ms(ours), ms(bare), ms(poll), ratio))
		lines = append(lines, line{name: fmt.Sprintf("xp-manifest/%d", n), ratio: ratio, bound: 0.80, atLeast: true})
	}
	r.table("publishers|ours/s|bare/s|ours ms|bare ms|poll ms|throughput ratio", rows...)
	r.growth("the time of a manifest", p.publishers, times)
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

func manifestsAt(n int, p *plan) (both pair, poll time.Duration, err error) {
	ctx := context.Background()
	err = withRegistry(ctx, "", func(r *registryOf) error {
		slugs, err := r.populate(ctx, n)
		if err != nil {
			return err
		}
		if err := r.Refresh(ctx); err != nil {
			return err
		}
		var polls []time.Duration
		for range 9 {
			begin := time.Now()
			if err := r.Refresh(ctx); err != nil {
				return err
			}
			polls = append(polls, time.Since(begin))
		}
		poll = median(polls)
		var list []string
		for i := range min(paths, n) {
			list = append(list, "/t/"+slugs[i*n/min(paths, n)]+"/.well-known/x-protocol/manifest.json")
		}
		both, err = compareHandlers(bizhttp.Handler(bizhttp.HandlerOptions{Source: r}), list, p, r.poll)
		return err
	})
	return both, poll, err
}

// poll reads the heads as often as a server does. A failure shows in the answers.
func (r *registryOf) poll(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for r.Refresh(ctx) == nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// populate writes n published publishers, as the acts would leave them but without their keys, and some hundred in one transaction.
func (r *registryOf) populate(ctx context.Context, n int) (slugs []string, err error) {
	now := r.Now()
	for i := range n {
		slugs = append(slugs, fmt.Sprintf("business-%05d", i))
	}
	for from := 0; from < n; from += 500 {
		err := r.store.Update(ctx, "", func(w app.Writer) error {
			for _, slug := range slugs[from:min(n, from+500)] {
				if err := insert(ctx, w, slug, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return slugs, nil
}

func insert(ctx context.Context, w app.Writer, slug string, now time.Time) error {
	profile := business.Profile{
		DisplayName: "Business " + slug, Website: "https://" + slug + ".example", ContentLanguages: []string{"en"},
		Locations: []business.Location{{ID: "main", Primary: true, Name: "Main shop", StreetAddress: "1 Quay Street", Locality: "Harbour", CountryCode: "GB", OpeningHours: "Mo-Fr 09:00-17:00"}},
	}
	text, err := jcs.Encode(profile)
	if err != nil {
		return err
	}
	leaves, err := business.ProfileLeaves(slug, "GB", &profile)
	if err != nil {
		return err
	}
	if _, err := w.Advance(ctx, slug); err != nil {
		return err
	}
	row := &app.PublisherRow{
		Slug: slug, CreatedAt: now, Region: "GB", Lifecycle: business.Published, Profile: text, Delegated: true, Generation: 1,
		ContentHash: business.ContentHash(leaves), ChangedAt: now,
	}
	if err := w.InsertPublisher(ctx, row); err != nil {
		return err
	}
	return w.PutVerification(ctx, &app.VerificationRow{Publisher: slug, Decision: "decision-1", RecordedBy: "operator a", RecordedAt: now, ConfirmedBy: "operator b", ConfirmedAt: now})
}
