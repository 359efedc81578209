package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Reloader is state that is read anew while the server runs.
type Reloader interface {
	// Fingerprint changes when there is something new to load. It is called every two seconds and must be cheap: names, sizes and times, no contents.
	Fingerprint() (string, error)
	// Loaded is a fingerprint taken before the state that the server started with was read: what changed while it was read is loaded again.
	Loaded() string
	// Reload loads everything or nothing. An error names the place, and what was served before is still served. The summary is one line for the log.
	Reload(ctx context.Context) (summary string, err error)
}

// watcher polls a Reloader.
type watcher struct {
	reloader Reloader
	log      *slog.Logger
	metrics  *metrics
	interval time.Duration
	now      chan struct{} // capacity 1: a request to reload at once

	mu      sync.Mutex // guards what /readyz shows
	refused string
}

func (w *watcher) kick() {
	select {
	case w.now <- struct{}{}:
	default:
	}
}

// run loads a change once its fingerprint has been the same at two looks in a row, so that a half-copied folder is not read; the second look comes soon
// after the first. A refused folder is not tried again before it changes.
func (w *watcher) run(ctx context.Context) {
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	loaded := w.reloader.Loaded()
	last := loaded
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.now:
			if print, err := w.reloader.Fingerprint(); err == nil {
				loaded, last = print, print
			}
			w.reload(ctx)
		case <-tick.C:
			print, err := w.reloader.Fingerprint()
			if err != nil {
				w.refuse(err)
				loaded, last = "", "" // nobody knows what changed meanwhile: load again once it can be looked at
				continue
			}
			wait := w.interval
			switch {
			case print != last:
				wait = w.interval / 8
			case print != loaded:
				loaded = print
				w.reload(ctx)
			}
			last = print
			tick.Reset(wait)
		}
	}
}

func (w *watcher) reload(ctx context.Context) {
	summary, err := w.load(ctx)
	if err != nil {
		w.refuse(err)
		return
	}
	w.metrics.reloads.WithLabelValues("loaded").Inc()
	w.log.Info("reloaded", "summary", summary)
	w.mu.Lock()
	w.refused = ""
	w.mu.Unlock()
}

// load turns a panic into a refusal: what was served before is served on, whatever a folder holds.
func (w *watcher) load(ctx context.Context) (summary string, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			w.metrics.panics.Inc()
			w.log.Error("a reload failed", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
			err = errors.New("the reload failed by a fault of the program; the log has the place")
		}
	}()
	return w.reloader.Reload(ctx)
}

// refuse remembers why; the same reason is logged once.
func (w *watcher) refuse(err error) {
	w.mu.Lock()
	seen := w.refused == err.Error()
	w.refused = err.Error()
	w.mu.Unlock()
	if !seen {
		w.metrics.reloads.WithLabelValues("refused").Inc()
		w.log.Error("reload refused; the old state keeps serving", "reason", err.Error())
	}
}

func (w *watcher) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused == "" {
		return Status{ID: "reload", Level: LevelOK, Message: "the newest state is served"}
	}
	return Status{ID: "reload", Level: LevelWarning, Message: "the last change was refused and the state before it is served: " + w.refused}
}
