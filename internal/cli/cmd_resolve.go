package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/jcs"
	"sayso/report"
)

func init() { register("", newResolve) }

func newResolve(e *env) *cobra.Command {
	var r reading
	var namespace string
	var limit int
	c := &cobra.Command{
		Use:   "resolve QUESTION",
		Short: "Find the key for a question",
		Long: "Resolve lists the keys that fit a question, best first, with a score from 0 to 1. When one fits clearly, its verified figure is printed too; when several " +
			"do, none is chosen. Without --from every publisher of the settings file is asked.\n\n" +
			"Exit 0 keys were found, 3 nothing fits, 5 a publisher is out of reach and nobody else knows a key.",
		Example: "  sayso resolve \"what is the personal allowance\" --from https://figures.example\n  sayso resolve minimum wage --namespace uk --limit 3 --json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if limit < 1 || limit > facts.MaxCandidates {
				return usageError("--limit %d is not between 1 and %d", limit, facts.MaxCandidates)
			}
			ps, err := e.publishers(&r)
			if err != nil {
				return err
			}
			return e.resolve(ps, strings.Join(args, " "), namespace, limit)
		},
	}
	r.addFlags(c.Flags())
	c.Flags().StringVar(&namespace, "namespace", "", "look only below this namespace, for example uk")
	c.Flags().IntVar(&limit, "limit", facts.DefaultCandidates, "most keys to list, 1 to "+strconv.Itoa(facts.MaxCandidates))
	return c
}

// candidate is one ranked key as JSON.
type candidate struct {
	Key      string     `json:"key"`
	Label    string     `json:"label"`
	Unit     string     `json:"unit,omitempty"`
	Period   string     `json:"period,omitempty"`
	Verified facts.Date `json:"verifiedDate"`
	Score    jcs.Raw    `json:"score"`
	Matched  []string   `json:"matched"`
	Origin   string     `json:"origin,omitempty"`

	thousandths int
}

func candidates(list []facts.Candidate) []candidate {
	out := make([]candidate, len(list))
	for i, c := range list {
		out[i] = candidate{c.Key, c.Label, c.Unit, c.Period, c.Verified, jcs.Raw(score(c.Score)), c.Matched, "", c.Score}
	}
	return out
}

// resolution is what all publishers together say about a question.
type resolution struct {
	Query      string        `json:"query"`
	Candidates []candidate   `json:"candidates"`
	Best       *figureAnswer `json:"best,omitempty"`
	Hint       string        `json:"hint,omitempty"`

	best    *found
	unasked []error
}

// resolve asks everybody and ranks the candidates together. The best of one publisher stands when no other key of any publisher comes within the distance
// that F§6.7 asks for; the same key at two publishers is no rival, and the first publisher in order gives the figure.
func (ps publishers) resolve(ctx context.Context, question, namespace string, limit int) (*resolution, error) {
	out := &resolution{Query: question, Candidates: []candidate{}}
	answers := 0
	for _, p := range ps {
		r, err := p.Resolve(ctx, question, namespace, limit)
		if err != nil {
			if ctx.Err() != nil || !outOfReach(err) {
				return nil, readFailure(p.Origin(), err)
			}
			out.unasked = append(out.unasked, readFailure(p.Origin(), err))
			continue
		}
		answers++
		for _, c := range candidates(r.Candidates) {
			c.Origin = p.Origin()
			out.Candidates = append(out.Candidates, c)
		}
		if r.Hint != "" {
			out.Hint = report.Clean(r.Hint)
		}
		if r.Best != nil && out.best == nil {
			if err := p.addPin(ctx, r.Best); err != nil {
				return nil, readFailure(p.Origin(), err)
			}
			out.best = &found{Result: r.Best, publisher: p}
		}
	}
	if answers == 0 || len(out.Candidates) == 0 && len(out.unasked) > 0 {
		return nil, out.unasked[0]
	}
	slices.SortStableFunc(out.Candidates, func(a, b candidate) int { return b.thousandths - a.thousandths })
	if out.best != nil && !out.clear(out.best.Key) {
		out.best = nil
	}
	out.Candidates = out.Candidates[:min(limit, len(out.Candidates))]
	return out, nil
}

// clear applies the distance of F§6.7 over the candidates of all publishers; an exact key or alias (950 and more) needs none.
func (r *resolution) clear(key string) bool {
	top := 0
	for _, c := range r.Candidates {
		if c.Key == key {
			top = max(top, c.thousandths)
		}
	}
	return !slices.ContainsFunc(r.Candidates, func(c candidate) bool {
		return c.Key != key && (c.thousandths > top || top < 950 && (c.thousandths >= 800 || top-c.thousandths < 200))
	})
}

func (e *env) resolve(ps publishers, question, namespace string, limit int) error {
	r, err := ps.resolve(e.ctx, question, namespace, limit)
	if err != nil {
		return err
	}
	e.noteUnasked(r.unasked)
	code := exitOK
	var o outcome
	if r.best != nil {
		o = judge(&r.best.Verification, r.best.Findings)
		r.Best = r.best.figure(o)
		if o.refusal != "" {
			code = exitFailed
		}
	}
	if len(r.Candidates) == 0 {
		code = exitNotFound
	}
	if err := e.answer(r, func(w io.Writer) error { return writeResolution(w, r, len(ps) > 1, o) }); err != nil {
		return err
	}
	if code != exitOK {
		return answered(code)
	}
	return nil
}

func writeResolution(w io.Writer, r *resolution, several bool, o outcome) error {
	var b strings.Builder
	for _, c := range r.Candidates {
		fmt.Fprintf(&b, "%-5s %s  %s", c.Score, report.Clean(c.Key), report.Clean(c.Label))
		if several {
			b.WriteString("  " + c.Origin)
		}
		b.WriteString("\n")
	}
	if len(r.Candidates) == 0 {
		b.WriteString("no key fits\n")
	}
	if r.Hint != "" {
		b.WriteString("hint: " + r.Hint + "\n")
	}
	if r.best == nil {
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return writeFigure(w, r.best, o)
}
