package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sayso/internal/config"
	"sayso/internal/keyfile"
	"sayso/report"
)

// exitCode is what the process returns. The numbers are a promise to scripts.
type exitCode int

const (
	exitOK          exitCode = 0
	exitFailed      exitCode = 1
	exitUsage       exitCode = 2
	exitNotFound    exitCode = 3
	exitRefused     exitCode = 4
	exitUnavailable exitCode = 5
	exitInterrupted exitCode = 130
)

// exitKinds holds the machine word and the meaning of each code, for JSON and the manual page.
var exitKinds = []struct {
	code          exitCode
	kind, meaning string
}{
	{exitOK, "ok", "done"},
	{exitFailed, "failed", "a verification or check failed, or the command could not do what it was asked"},
	{exitUsage, "usage", "the command line or the configuration is wrong, or input was needed and there is no terminal"},
	{exitNotFound, "not found", "the thing asked for does not exist"},
	{exitRefused, "refused", "not permitted"},
	{exitUnavailable, "unavailable", "something could not be reached; trying again may help"},
	{exitInterrupted, "interrupted", "stopped by an interrupt"},
}

func (c exitCode) kind() string {
	for _, row := range exitKinds {
		if row.code == c {
			return row.kind
		}
	}
	return "failed"
}

// failure is an error with its exit code and what to do next.
type failure struct {
	code    exitCode
	message string
	reason  string // machine code of the refusal, optional
	hint    string // one sentence, optional
	run     string // a command line, optional
	silent  bool   // the answer already says what failed
}

func (f *failure) Error() string { return f.message }

func usageError(format string, args ...any) *failure {
	return &failure{code: exitUsage, message: fmt.Sprintf(format, args...)}
}

func failedError(format string, args ...any) *failure {
	return &failure{code: exitFailed, message: fmt.Sprintf(format, args...)}
}

func notFoundError(format string, args ...any) *failure {
	return &failure{code: exitNotFound, message: fmt.Sprintf(format, args...)}
}

func refusedError(format string, args ...any) *failure {
	return &failure{code: exitRefused, message: fmt.Sprintf(format, args...)}
}

func unavailableError(format string, args ...any) *failure {
	return &failure{code: exitUnavailable, message: fmt.Sprintf(format, args...)}
}

// withHint adds the line that says how to go on.
func (f *failure) withHint(format string, args ...any) *failure {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

// withRun adds the command to run.
func (f *failure) withRun(command string) *failure {
	f.run = command
	return f
}

// answered ends a command whose answer on standard output already says that something is wrong.
func answered(code exitCode) error { return &failure{code: code, silent: true} }

// asFailure maps the errors of other packages to exit codes.
func asFailure(ctx context.Context, err error) *failure {
	var f *failure
	var setting *config.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &setting):
		return usageError("%v", setting).withRun("sayso config show")
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return &failure{code: exitInterrupted, message: "interrupted"}
	case errors.Is(err, keyfile.ErrRefused), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrExist):
		return refusedError("%v", err)
	case errors.As(err, &path) && errors.Is(err, fs.ErrNotExist):
		return notFoundError("%s does not exist", path.Path)
	case errors.Is(err, fs.ErrNotExist):
		return notFoundError("%v", err)
	}
	return failedError("%v", err)
}

// render prints a failure: one JSON value on standard output when that was asked for and nothing has been answered yet, else lines on standard error.
func (e *env) render(f *failure) {
	if f.silent {
		return
	}
	if e.json && !e.hasAnswered {
		err := e.writeJSON(struct {
			Error   string `json:"error"`
			Message string `json:"message"`
			Code    string `json:"code,omitempty"`
			Hint    string `json:"hint,omitempty"`
			Run     string `json:"run,omitempty"`
		}{f.code.kind(), f.message, f.reason, f.hint, f.run})
		if err == nil {
			return
		}
	}
	message := printable(f.message)
	if f.reason != "" {
		message += " [" + f.reason + "]"
	}
	fmt.Fprintf(e.err, "%s %s\n", e.paint(e.err, "31", "sayso:"), message)
	if f.hint != "" {
		fmt.Fprintln(e.err, "hint:", printable(f.hint))
	}
	if f.run != "" {
		fmt.Fprintln(e.err, "run: ", f.run)
	}
}

// printable keeps foreign text in a message from drawing on the terminal; its lines stay.
func printable(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = report.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
