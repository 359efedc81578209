package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/store/pgtest"
	"sayso/internal/store/postgres"
)

// clients publish at the same time, each for a publisher of its own.
const clients = 4

// measureReplica holds the time from the call that publishes to the first moment at which another replica over the same PostgreSQL serves it.
func measureReplica(r *report, p *plan) error {
	server, err := pgtest.Start()
	if err != nil {
		r.note("xp-replica is not measured: %v", err)
		return nil
	}
	defer server.Stop()
	ctx := context.Background()
	database, err := server.Database(ctx)
	if err != nil {
		return err
	}
	var took []time.Duration
	err = withRegistry(ctx, database, func(one *registryOf) error {
		took, err = one.spread(ctx, database, p.publishes)
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(took)
	p50, p99 := quantile(took, 50), quantile(took, 99)
	r.title("From the call that publishes to another replica that serves it, over PostgreSQL, %d clients, %d publishes; baseline: one second", clients, len(took))
	r.table("p50 ms|p99 ms|most ms", fmt.Sprintf("%s|%s|%s", ms(p50), ms(p99), ms(took[len(took)-1])))
	r.bound(line{name: "xp-replica-p50", ratio: p50.Seconds(), bound: 1})
	r.bound(line{name: "xp-replica-p99", ratio: p99.Seconds(), bound: 1})
	return nil
}

// spread publishes on this replica and watches another one, which has its own connections and polls as a server does.
func (one *registryOf) spread(ctx context.Context, database string, n int) ([]time.Duration, error) {
	store, err := postgres.Open(ctx, database)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	keys, err := app.OpenKeys(one.data, nil)
	if err != nil {
		return nil, err
	}
	other := app.New(app.Options{Store: store, Keys: keys, Site: one.Site(), Data: one.data})
	for i := range clients {
		if err := one.establish(ctx, fmt.Sprintf("client-%d", i)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(one.Refresh(ctx), other.Refresh(ctx)); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	var polling sync.WaitGroup
	defer polling.Wait()
	defer stop()
	polling.Go(func() { one.Run(ctx) })
	polling.Go(func() { other.Run(ctx) })
	var took [clients][]time.Duration
	var failures [clients]error
	var acting sync.WaitGroup
	for i := range clients {
		acting.Go(func() {
			for range max(1, n/clients) {
				d, err := one.seenBy(ctx, other, fmt.Sprintf("client-%d", i))
				if err != nil {
					failures[i] = err
					return
				}
				took[i] = append(took[i], d)
			}
		})
	}
	acting.Wait()
	return slices.Concat(took[:]...), errors.Join(failures[:]...)
}

// seenBy pauses a publisher, publishes it at a random moment and waits until the other replica serves it.
func (one *registryOf) seenBy(ctx context.Context, other *app.Registry, slug string) (time.Duration, error) {
	served := func(lifecycle business.Lifecycle) error {
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			p, err := other.Publication(ctx, slug)
			if err != nil {
				return err
			}
			if p.Standing.Lifecycle == lifecycle {
				return nil
			}
		}
		return fmt.Errorf("the other replica did not learn in 10 s that %s is %s", slug, lifecycle)
	}
	if _, err := one.Pause(ctx, one.actor, slug, app.ActInput{}); err != nil {
		return 0, err
	}
	if err := served(business.Paused); err != nil {
		return 0, err
	}
	// What was just seen tells when the replica polled: without a pause every publish would wait for the whole of the next interval.
	time.Sleep(rand.N(250 * time.Millisecond))
	begin := time.Now()
	if _, err := one.Publish(ctx, one.actor, slug, app.ActInput{}); err != nil {
		return 0, err
	}
	err := served(business.Published)
	return time.Since(begin), err
}
