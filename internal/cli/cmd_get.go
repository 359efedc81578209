package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jcs"
	"sayso/report"
)

func init() { register("", newGet) }

// selecting holds the flags that choose a value and a freshness bar.
type selecting struct{ maxAge, asOf, period string }

func newGet(e *env) *cobra.Command {
	var r reading
	var s selecting
	var value bool
	c := &cobra.Command{
		Use:   "get KEY",
		Short: "Read one figure and verify it before it is printed",
		Long: "Get asks a publisher for one figure and verifies the answer in four parts before anything is printed: the hash over what is claimed, the publisher's " +
			"signature, whether the key may be used, and whether the claim is current. A figure whose hash, signature or key fails is not printed. One that is older " +
			"than --max-age, has ended or was withdrawn is printed with that word, and the exit code is 1.\n\n" +
			"KEY is one argument: words take quotes, and are answered when one figure fits clearly.\n\n" +
			"Without --from the publishers of the settings file are asked in their order, those that declare the namespace of the key. A signature says that this " +
			"publisher said so; it does not say that the figure is true.\n\n" +
			"Exit 0 verified, 1 a part failed, 2 usage or nobody to ask, 3 unknown key or period not held (with what is there instead), 5 out of reach.",
		Example: "  sayso get uk/income-tax/personal-allowance --from https://figures.example\n" +
			"  sayso get uk/income-tax/personal-allowance --max-age 30d --value\n" +
			"  sayso get uk/minimum-wage/apprentice --as-of 2025-06-01 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("get takes one key, and %d words were given", len(args)).
					withHint("put the words into quotes, or let the key be found").withRun("sayso resolve " + shellWord(strings.Join(args, " ")))
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			sel, err := s.selection()
			if err != nil {
				return err
			}
			if value && e.json {
				return usageError("--value prints the figure alone and --json one JSON value: choose one")
			}
			return e.get(args[0], sel, &r, value)
		},
	}
	r.addFlags(c.Flags())
	c.Flags().StringVar(&s.maxAge, "max-age", "", "oldest check that will do: 30d, 12w, 6m, 1y or P30D")
	c.Flags().StringVar(&s.asOf, "as-of", "", "day whose value is wanted, YYYY-MM-DD")
	c.Flags().StringVar(&s.period, "period", "", "period whose value is wanted, as the publisher labels it")
	c.Flags().BoolVar(&value, "value", false, "print the figure alone, and nothing when a part failed")
	return c
}

func (s *selecting) selection() (facts.Selection, error) {
	sel := facts.Selection{MaxAge: facts.NoMaxAge, Period: s.period}
	if s.asOf != "" && s.period != "" {
		return sel, usageError("--as-of and --period exclude each other: a day has one value, a label may have another")
	}
	var err error
	if s.maxAge != "" {
		if sel.MaxAge, err = facts.ParseDuration(s.maxAge); err != nil {
			return sel, usageError("--max-age: %v", err)
		}
	}
	if s.asOf != "" {
		if sel.AsOf, err = facts.ParseDate(s.asOf); err != nil {
			return sel, usageError("--as-of: %v", err)
		}
	}
	return sel, nil
}

// figureAnswer is the answer of get as JSON. Record is there only when it may be passed on.
type figureAnswer struct {
	Outcome      string              `json:"outcome"` // record | not held | unknown key | refused
	Origin       string              `json:"origin"`
	URL          string              `json:"url,omitempty"`
	Key          string              `json:"key,omitempty"`
	Figure       string              `json:"figure,omitempty"` // as --value prints it
	Status       string              `json:"status,omitempty"`
	AgeDays      *int                `json:"ageDays,omitempty"`
	Verification *facts.Verification `json:"verification,omitempty"`
	Refusal      string              `json:"refusal,omitempty"`
	Reason       string              `json:"reason,omitempty"`
	PeriodsHeld  []held              `json:"periodsHeld,omitempty"`
	Candidates   []candidate         `json:"candidates,omitempty"`
	Hint         string              `json:"hint,omitempty"`
	Findings     []report.Finding    `json:"findings,omitempty"`
	Record       jcs.Raw             `json:"record,omitempty"`
}

type held struct {
	Period *string    `json:"period"`
	From   facts.Date `json:"effectiveFrom"`
	To     facts.Date `json:"effectiveTo"`
}

func (e *env) get(key string, sel facts.Selection, r *reading, valueOnly bool) error {
	ps, err := e.publishers(r)
	if err != nil {
		return err
	}
	f, err := ps.get(e.ctx, key, sel)
	if errors.Is(err, errNobody) {
		return usageError("no publisher of the settings declares the namespace of %q", key).withHint("name one with --from ORIGIN")
	}
	if err != nil {
		return readFailure(ps[0].Origin(), err)
	}
	e.noteUnasked(f.unasked)
	if f.Outcome != facts.OutcomeRecord {
		return e.miss(f, valueOnly)
	}
	o := judge(&f.Verification, f.Findings)
	code := exitOK
	switch {
	case o.untested:
		code = exitUnavailable
	case o.refusal != "" || f.Verification.ClaimCurrent.Value != facts.PartCurrent:
		code = exitFailed
	}
	if valueOnly {
		return e.valueOnly(f, o, code)
	}
	if err := e.answer(f.figure(o), func(w io.Writer) error { return writeFigure(w, f, o) }); err != nil {
		return err
	}
	if code != exitOK {
		return answered(code)
	}
	return nil
}

// valueOnly prints the figure for a script, or nothing on standard output.
func (e *env) valueOnly(f *found, o outcome, code exitCode) error {
	if code == exitOK {
		e.hasAnswered = true
		_, err := fmt.Fprintln(e.out, report.Clean(f.Record.Value.Text()))
		return err
	}
	why := o.refusal
	if why == "" {
		current := f.Verification.ClaimCurrent
		why = strings.TrimSuffix("claim "+current.Value+": "+report.Clean(current.Reason), ": ")
	}
	return &failure{code: code, message: fmt.Sprintf("%s is not printed: %s", f.Record.Key, why)}
}

func (f *found) figure(o outcome) *figureAnswer {
	out := &figureAnswer{Outcome: "record", Origin: f.publisher.Origin(), URL: f.URL, Key: f.Key, Hint: report.Clean(f.Hint), Findings: f.Findings}
	switch {
	case f.Outcome == facts.OutcomeUnknown:
		out.Outcome, out.Candidates = facts.ErrorUnknownKey, candidates(f.Candidates)
		return out
	case f.Outcome == facts.OutcomeNotHeld:
		out.Outcome, out.Reason = "not held", report.Clean(f.Reason)
		for _, h := range f.Held {
			period := &h.Period
			if h.Period == "" {
				period = nil
			}
			out.PeriodsHeld = append(out.PeriodsHeld, held{period, h.From, h.To})
		}
		return out
	}
	out.Verification, out.Status, out.AgeDays = &f.Verification, f.Status, &f.AgeDays
	if out.Refusal = o.refusal; o.refusal != "" {
		out.Outcome = "refused"
		return out
	}
	out.Figure, out.Record = f.Record.Value.Text(), f.JSON
	return out
}

// miss prints what is there instead of the figure.
func (e *env) miss(f *found, valueOnly bool) error {
	lines := []string{fmt.Sprintf("unknown key %s at %s", report.Clean(f.RequestedKey), f.publisher.Origin())}
	if f.Outcome == facts.OutcomeNotHeld {
		lines[0] = fmt.Sprintf("%s: %s at %s", report.Clean(f.Key), report.Clean(f.Reason), f.publisher.Origin())
		for _, h := range f.Held {
			lines = append(lines, "held: "+periodLine(h.Period, h.From, h.To))
		}
	}
	for _, c := range f.Candidates {
		lines = append(lines, fmt.Sprintf("try: %s  %s", report.Clean(c.Key), report.Clean(c.Label)))
	}
	if f.Hint != "" {
		lines = append(lines, "hint: "+report.Clean(f.Hint))
	}
	if valueOnly { // a script reads standard output: the miss is not a figure
		return &failure{code: exitNotFound, message: strings.Join(lines, "\n")}
	}
	if err := e.answer(f.figure(outcome{}), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
		return err
	}); err != nil {
		return err
	}
	return answered(exitNotFound)
}

// writeFigure prints a record for people. A figure that may not be passed on is left out, and the line says why.
func writeFigure(w io.Writer, f *found, o outcome) error {
	r := f.Record
	var b strings.Builder
	switch {
	case o.refusal != "":
		fmt.Fprintf(&b, "not printed: %s\n", o.refusal)
	case r.Withdrawn != "":
		fmt.Fprintf(&b, "withdrawn %s %s\n", report.Clean(r.Withdrawn), report.Clean(r.WithdrawnReason))
	default:
		fmt.Fprintln(&b, strings.TrimSpace(report.Clean(r.Value.Text()+" "+r.Unit)))
	}
	row := func(name, text string) {
		if text = report.Clean(text); text != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, text)
		}
	}
	row("key", r.Key)
	if f.Resolved != nil {
		row("asked for", fmt.Sprintf("%s, which fits this key alone (score %s)", f.RequestedKey, score(f.Resolved.Score)))
	}
	row("label", r.Label)
	if o.refusal == "" {
		row("in force", periodLine(r.Period, r.EffectiveFrom, r.EffectiveTo))
		row("verified", verifiedLine(f.Result))
		row("source", r.Source)
		row("quote", r.Quote)
		row("method", r.Method)
		row("notice", r.Notice)
		row("superseded by", r.SupersededBy)
	}
	row("publisher", r.Publisher.Name+", "+r.Publisher.URL)
	row("from", f.URL)
	b.WriteString("\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := writeParts(w, &f.Verification); err != nil {
		return err
	}
	return writeFindings(w, f.Findings)
}

func verifiedLine(r *factshttp.Result) string {
	text := fmt.Sprintf("%s, %s ago, %s", r.Record.VerifiedDate, plural(r.AgeDays, "day"), r.Status)
	if r.MaxAgeDays >= 0 {
		text += fmt.Sprintf(" (asked for: at most %s)", plural(r.MaxAgeDays, "day"))
	}
	if !r.Record.NextScheduledRefresh.IsZero() {
		text += ", next check " + r.Record.NextScheduledRefresh.String()
	}
	return text
}

// periodLine writes a period with its days, whatever of them is known.
func periodLine(period string, from, to facts.Date) string {
	var words []string
	if period != "" {
		words = append(words, report.Clean(period)+",")
	}
	if !from.IsZero() {
		words = append(words, "from", from.String())
	}
	if !to.IsZero() {
		words = append(words, "to", to.String())
	}
	return strings.TrimSuffix(strings.Join(words, " "), ",")
}

// score writes thousandths as F§6.8 does.
func score(thousandths int) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000), "0"), ".")
}
