package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/jcs"
	"sayso/report"
)

func init() { register("", newChanges) }

func newChanges(e *env) *cobra.Command {
	var r reading
	var since, area string
	c := &cobra.Command{
		Use:   "changes --since DAY",
		Short: "List what changed since a day",
		Long: "Changes lists the figures that were verified as new, changed or withdrawn strictly after a day, newest first: to include a day, name the one before. A figure " +
			"that was checked again and found the same is no change. Without --from every publisher of the settings file is asked.\n\n" +
			"Exit 0 also when nothing changed, 1 when a pinned history no longer fits, 5 out of reach.",
		Example: "  sayso changes --since 2026-10-01 --from https://figures.example\n  sayso changes --since 2026-10-01 --area uk-rates --json",
		RunE: func(*cobra.Command, []string) error {
			day, err := facts.ParseDate(since)
			switch {
			case since == "":
				return usageError("changes needs --since DAY").withRun("sayso changes --help")
			case err != nil:
				return usageError("--since: %v", err)
			case day > today():
				return usageError("--since %s is after today", day)
			}
			ps, err := e.publishers(&r)
			if err != nil {
				return err
			}
			return e.changes(ps, day, area)
		},
	}
	r.addFlags(c.Flags())
	c.Flags().StringVar(&since, "since", "", "day after which a change counts, YYYY-MM-DD")
	c.Flags().StringVar(&area, "area", "", "only this area, as the publisher names it")
	return c
}

// changed is what publishers say about a span of days.
type changed struct {
	Since      facts.Date     `json:"since"`
	Area       string         `json:"area,omitempty"`
	Publishers []changedThere `json:"publishers"`
}

type changedThere struct {
	Origin   string           `json:"origin"`
	Head     string           `json:"chainHead,omitempty"` // of the whole changelog, to be pinned
	Note     string           `json:"note,omitempty"`      // the question reaches back before the coverage
	Count    int              `json:"count"`
	Entries  []jcs.Raw        `json:"entries"` // as received, newest first
	Findings []report.Finding `json:"findings,omitempty"`

	rows table
}

// changePages bounds how often one publisher is asked for a further page.
const changePages = 500

// changes reads every page of one publisher.
func (p *publisher) changes(ctx context.Context, since facts.Date, area string) (*changedThere, error) {
	out := &changedThere{Origin: p.Origin(), Entries: []jcs.Raw{}}
	pins, err := p.pinFindings(ctx)
	if err != nil {
		return nil, err
	}
	q := facts.ChangesQuery{Since: since, Area: area, Limit: facts.MaxChanges, Given: true}
	for page := 0; ; page++ {
		doc, err := p.Changes(ctx, q)
		if err != nil {
			return nil, err
		}
		out.Head, out.Note = doc.ChainHead, report.Clean(doc.Note)
		out.Findings = append(out.Findings, doc.Findings...)
		for _, c := range doc.Entries {
			out.Entries = append(out.Entries, c.JSON)
			out.rows.add(changeCells(&c.Entry)...)
		}
		if doc.Next == "" {
			break
		}
		if doc.Next == q.Cursor || page == changePages {
			out.Note = fmt.Sprintf("there is more: the list was cut after %s", plural(page+1, "page"))
			break
		}
		q.Cursor = doc.Next
	}
	out.Count = len(out.Entries)
	if len(pins) > 0 {
		out.Findings = pins
	}
	return out, nil
}

// changeWidth bounds the values of one entry; the whole ones are in the JSON.
const changeWidth = 40

// changeCells is one entry for people: day, key, what happened, period.
func changeCells(c *facts.Entry) []string {
	const half = (changeWidth - len(" -> ")) / 2
	what := shorten(c.From.Text(), half) + " -> " + shorten(c.To.Text(), half)
	switch {
	case c.To == facts.Null:
		what = shorten(c.From.Text(), changeWidth) + " withdrawn"
	case c.From == facts.Null:
		what = shorten(c.To.Text(), changeWidth)
	}
	if c.Unit != "" {
		what += " " + c.Unit
	}
	if c.Correction {
		what += ", correction"
	}
	return []string{c.VerifiedDate.String(), c.FactKey, what, c.Period}
}

func (e *env) changes(ps publishers, since facts.Date, area string) error {
	out := changed{Since: since, Area: area, Publishers: []changedThere{}}
	var failures []error
	for _, p := range ps {
		there, err := p.changes(e.ctx, since, area)
		switch {
		case err == nil:
			out.Publishers = append(out.Publishers, *there)
		case e.ctx.Err() != nil:
			return err
		default:
			failures = append(failures, readFailure(p.Origin(), err)) // another publisher may know the area
		}
	}
	if len(out.Publishers) == 0 {
		return failures[0]
	}
	e.noteUnasked(failures)
	if err := e.answer(out, func(w io.Writer) error { return writeChanges(w, &out) }); err != nil {
		return err
	}
	for _, there := range out.Publishers {
		if slices.ContainsFunc(there.Findings, func(f report.Finding) bool { return f.Outcome == report.Fail }) {
			return answered(exitFailed)
		}
	}
	if len(failures) > 0 {
		return answered(exitUnavailable)
	}
	return nil
}

func writeChanges(w io.Writer, c *changed) error {
	for i := range c.Publishers {
		there, p := &c.Publishers[i], &printer{w: w}
		if len(c.Publishers) > 1 {
			p.line("%s", there.Origin)
		}
		if there.Count == 0 {
			p.line("nothing changed since %s", c.Since)
		}
		p.table(&there.rows, "")
		if there.Note != "" {
			p.line("note: %s", there.Note)
		}
		if p.err != nil {
			return p.err
		}
		if err := writeFindings(w, there.Findings); err != nil {
			return err
		}
	}
	return nil
}
