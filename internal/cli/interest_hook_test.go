package cli

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script writes a program that the hook can run.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// The program gets the id as one argument, whatever is in it, and no setting of the server.
func TestHookGetsTheEntryAlone(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	h := newHook(script(t, `printf '%s|%s|%s|%s' "$#" "$1" "$SAYSO_PASSPHRASE_FILE" "$WHERE" > `+out+`.tmp; mv `+out+`.tmp `+out), []string{"PATH=/usr/bin:/bin", "WHERE=here", "SAYSO_PASSPHRASE_FILE=/secret", "PGPASSFILE=/other"}, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.run(ctx) }()
	h.tell("i-1; rm -rf $HOME")
	var got []byte
	for end := time.Now().Add(20 * time.Second); got == nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		got, _ = os.ReadFile(out)
	}
	stop()
	if err := <-ended; err != nil || string(got) != "1|i-1; rm -rf $HOME||here" {
		t.Errorf("%q, %v", got, err)
	}
}

// A program that fails, or is none, is a line of the log and nothing else.
func TestHookThatFails(t *testing.T) {
	for _, c := range []struct{ program, want string }{
		{script(t, "exit 3"), "exit=3"},
		{filepath.Join(t.TempDir(), "none"), "could not be started"},
	} {
		var log bytes.Buffer
		newHook(c.program, nil, slog.New(slog.NewTextHandler(&log, nil))).start(t.Context(), "e")
		if !strings.Contains(log.String(), c.want) {
			t.Errorf("%q lacks %q", log.String(), c.want)
		}
	}
	var log bytes.Buffer
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	newHook(script(t, "exec sleep 60"), []string{"PATH=/usr/bin:/bin"}, slog.New(slog.NewTextHandler(&log, nil))).start(ctx, "e")
	if !strings.Contains(log.String(), "stopped") {
		t.Errorf("%q", log.String())
	}
	if newHook("", nil, nil) != nil {
		t.Error("a hook without a program")
	}
}

// Nobody waits for the program: what does not fit into the queue is a line of the log.
func TestHookNeverHolds(t *testing.T) {
	var log bytes.Buffer
	h := newHook("/bin/true", nil, slog.New(slog.NewTextHandler(&log, nil)))
	for range hookQueue + 2 {
		h.tell("e")
	}
	if strings.Count(log.String(), "not told") != 2 {
		t.Errorf("%q", log.String())
	}
}
