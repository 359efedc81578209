package cli

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"strings"
	"time"
)

const (
	hookTime  = 10 * time.Second
	hookQueue = 64
)

// hook runs a program of the user for every decision that begins to wait. The program gets the id of the entry and nothing else: what is asked, and by whom,
// stays on the inbox page. Programs run one after the other; when they are slower than decisions come, some are not told of.
type hook struct {
	program string // absolute path
	environ []string
	log     *slog.Logger
	waiting chan string
}

// newHook returns nil when no program is set. Settings of this server are taken out of what the program sees of the environment.
func newHook(program string, environ []string, log *slog.Logger) *hook {
	if program == "" {
		return nil
	}
	h := &hook{program: program, environ: []string{}, log: log, waiting: make(chan string, hookQueue)}
	for _, entry := range environ {
		if !strings.HasPrefix(entry, "SAYSO_") && !strings.HasPrefix(entry, "PG") {
			h.environ = append(h.environ, entry)
		}
	}
	return h
}

// tell queues an entry and never waits.
func (h *hook) tell(entry string) {
	select {
	case h.waiting <- entry:
	default:
		h.log.Warn("the inbox hook is slower than decisions come; it was not told of one", "entry", entry)
	}
}

// run starts the program for each queued entry until ctx ends.
func (h *hook) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry := <-h.waiting:
			h.start(ctx, entry)
		}
	}
}

func (h *hook) start(ctx context.Context, entry string) {
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	c := exec.CommandContext(ctx, h.program, entry)
	c.Env, c.WaitDelay = h.environ, time.Second
	var ended *exec.ExitError
	switch err := c.Run(); {
	case err == nil:
	case ctx.Err() != nil:
		h.log.Warn("the inbox hook was stopped", "entry", entry, "after", hookTime.String())
	case errors.As(err, &ended):
		h.log.Warn("the inbox hook failed", "entry", entry, "exit", ended.ExitCode())
	default:
		h.log.Warn("the inbox hook could not be started", "program", h.program)
	}
}
