package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sayso/business"
)

const (
	proofWarning   = 14 * 24 * time.Hour // before a proof lapses
	keyWarning     = 30 * 24 * time.Hour // before a registry key's not_after
	recheckEvery   = time.Minute
	warnEvery      = time.Minute
	reattestEvery  = time.Hour
	warningRepeats = 24 * time.Hour // the same warning is logged once in this time
)

// Run does what a serving process has to do besides answering: it polls the heads, looks again at proofs that are due, attests what a crash left and warns
// in time. It returns nil when ctx ends, after all its goroutines have.
func (r *Registry) Run(ctx context.Context) error {
	w := newWarner(r.log)
	var running sync.WaitGroup
	for _, job := range []struct {
		every time.Duration
		run   func(context.Context) error
		name  string
	}{
		{r.poll, r.Refresh, "poll"},
		{recheckEvery, r.recheck, "recheck"},
		{reattestEvery, r.reattest, "reattest"},
		{warnEvery, func(context.Context) error { r.warn(w); return nil }, "warn"},
	} {
		running.Go(func() { r.repeat(ctx, job.every, job.name, job.run) })
	}
	running.Wait()
	return nil
}

// repeat runs a job at once and then at every interval. The same failure is logged once until it changes or ends.
func (r *Registry) repeat(ctx context.Context, every time.Duration, name string, job func(context.Context) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := ""
	for {
		err := job(ctx)
		switch text := errorText(err); {
		case ctx.Err() != nil:
			return
		case text != "" && text != last:
			r.log.Error("background work failed", "job", name, "cause", text)
			last = text
		case text == "" && last != "":
			r.log.Info("background work goes on", "job", name)
			last = ""
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return err.Error()
}

// Gauges are numbers for metrics; none carries a publisher's name.
type Gauges struct {
	Publishers     int
	Published      int
	ProofsExpiring int           // publishers whose authority is a proof alone that lapses within 14 days or was not found again
	ProofsLapsed   int           // publishers in state published without current authority
	RegistryKey    time.Duration // until the newest usable registry key's not_after; 0 = no key can sign
	Behind         time.Duration // age of the heads
}

// Gauges reads the numbers from what is served.
func (r *Registry) Gauges() Gauges {
	g := Gauges{Behind: r.Behind()}
	s := r.served.state.Load()
	if s == nil {
		return g
	}
	now := r.Now()
	for _, e := range s.order {
		g.Publishers++
		if e.publication == nil {
			continue
		}
		switch {
		case e.standing.IsPublished(now):
			g.Published++
		case e.standing.Lifecycle == business.Published && !e.standing.Authorised(now):
			g.ProofsLapsed++
		}
		if e.standing.expiring(now) {
			g.ProofsExpiring++
		}
	}
	g.RegistryKey = max(0, newestLife(s.registry.keys, now).Sub(now))
	return g
}

// newestLife is the not_after of the key that signs longest; now when none signs.
func newestLife(keys []RegistryKeyRow, now time.Time) time.Time {
	end := now
	for i := range keys {
		if keys[i].signsAt(now) && keys[i].notAfter().After(end) {
			end = keys[i].notAfter()
		}
	}
	return end
}

// warner says each warning once a day.
type warner struct {
	log  *slog.Logger
	said map[string]time.Time
}

func newWarner(log *slog.Logger) *warner { return &warner{log: log, said: map[string]time.Time{}} }

func (w *warner) say(now time.Time, message, subject string, args ...any) {
	key := message + "\x00" + subject
	if last, ok := w.said[key]; ok && now.Sub(last) < warningRepeats {
		return
	}
	w.said[key] = now
	w.log.Warn(message, args...)
}

// warn looks at what is served and says what will stop working soon.
func (r *Registry) warn(w *warner) {
	s := r.served.state.Load()
	if s == nil {
		return
	}
	now := r.Now()
	for _, e := range s.order {
		if e.publication == nil {
			continue
		}
		switch standing := e.standing; {
		case standing.expiring(now):
			w.say(now, "domain proof lapses soon", e.slug, "publisher", e.slug, "host", standing.Proof.Host, "valid_until", standing.Proof.ValidUntil, "failed_days", standing.failedDays)
		case standing.Lifecycle == business.Published && !standing.Authorised(now):
			w.say(now, "domain proof has lapsed; the publisher is not served", e.slug, "publisher", e.slug)
		}
	}
	switch end := newestLife(s.registry.keys, now); {
	case !end.After(now):
		w.say(now, "no registry key can sign; install a new one", "", "effect", "manifests are unsigned and lists are withheld")
	case end.Sub(now) < keyWarning:
		w.say(now, "registry key ends soon; have the root sign a new one", "", "not_after", end)
	}
	for key, at := range w.said {
		if now.Sub(at) >= warningRepeats {
			delete(w.said, key)
		}
	}
}
