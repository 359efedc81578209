package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sayso/business/bundle"
	"sayso/internal/app"
	"sayso/report"
)

// stamp is an instant for people, to the second.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// timeLeft says how long something lasts from now on.
func timeLeft(until, now time.Time) string {
	left := until.Sub(now)
	switch {
	case left <= 0:
		return "ended " + until.Format(time.DateOnly)
	case left < 48*time.Hour:
		return plural(int(left.Hours()), "hour") + " left"
	}
	return plural(int(left.Hours()/24), "day") + " left"
}

// shortHash shows enough of a hash to compare by eye.
func shortHash(text string) string { return shorten(text, 24) }

// receiptText is what an act committed, behind the sentence that says which act it was.
func receiptText(r *app.Receipt) string {
	text := fmt.Sprintf("revision %d", r.Revision)
	if r.Generation > 0 {
		text += fmt.Sprintf(", generation %d", r.Generation)
	}
	if r.Unchanged {
		text += ", the content is what it was"
	}
	return text
}

// done answers an act with its receipt.
func (e *env) done(r *app.Receipt, format string, args ...any) error {
	return e.answer(r, func(w io.Writer) error { return writeDone(w, r, format, args...) })
}

func writeDone(w io.Writer, r *app.Receipt, format string, args ...any) error {
	_, err := fmt.Fprintf(w, "%s (%s)\n", printable(fmt.Sprintf(format, args...)), receiptText(r))
	return err
}

// shownProblems is how many problems are printed for people; --json has them all.
const shownProblems = 50

// writeProblems prints what is wrong, or noteworthy, in the files of a business. more is how many the registry did not list.
func writeProblems(w io.Writer, list []bundle.Problem, more int) error {
	p := &printer{w: w}
	for i, problem := range list {
		if i == shownProblems {
			more += len(list) - i
			break
		}
		p.line("%s", problemText(&problem))
		if problem.Next != "" {
			p.line("         %s", report.Clean(problem.Next))
		}
	}
	if more > 0 {
		p.line("and %s more; --json lists up to 1000", plural(more, "problem"))
	}
	return p.err
}

func problemText(b *bundle.Problem) string {
	word := "error    "
	if b.Warning {
		word = "warning  "
	}
	place := []string{b.File}
	if b.Row > 0 {
		place = append(place, fmt.Sprintf("row %d", b.Row))
	}
	if b.Field != "" {
		place = append(place, b.Field)
	}
	return word + report.Clean(strings.Join(place, ", ")+": "+b.Message) + " [" + b.Rule + "]"
}

// noNull keeps a list without elements a list in JSON.
func noNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// instantFlag reads an optional instant, RFC 3339.
func instantFlag(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usageError("--%s %q is no instant such as 2026-10-02T12:00:00Z", name, text)
	}
	return t.UTC(), nil
}
