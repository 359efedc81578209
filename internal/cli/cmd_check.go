package cli

import (
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sayso/facts/factscheck"
	"sayso/internal/buildinfo"
	"sayso/report"
	"sayso/safefetch"
)

func init() { register("", newCheck) }

func newCheck(e *env) *cobra.Command {
	var o factscheck.Options
	var protocol, html string
	var verbose, allowLoopback bool
	c := &cobra.Command{
		Use:   "check ORIGIN",
		Short: "Check from outside whether a publisher keeps the protocol",
		Long: "Check reads what everybody can read at an origin and reports, rule by rule, what holds, what fails, what deserves a warning and what could not be tested, each " +
			"with its place, the reason and what to do. It names the highest level, L1 to L3, that holds. Each source page is fetched once; --no-sources leaves them alone. A request " +
			"without an answer takes no level away: the verdict counts it and says that the level holds as far as the origin answered.\n\n" +
			"Exit 0 when no rule failed, 1 when one did, 5 when the origin does not answer. A publisher runs it on a schedule with --json as its own self-check.",
		Example: "  sayso check https://figures.example\n  sayso check http://127.0.0.1:8470 --no-sources --json\n  sayso check https://figures.example --html report.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if protocol != "facts" {
				return usageError("--protocol %q is not facts", protocol)
			}
			var err error
			if o.Origin, err = typedOrigin(args[0]); err != nil {
				return err
			}
			return e.check(o, html, verbose)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&o.NoSources, "no-sources", false, "do not fetch the source pages")
	flags.StringVar(&protocol, "protocol", "facts", "what to check: facts")
	flags.StringVar(&html, "html", "", "also write the report as one HTML page to this file")
	flags.BoolVar(&verbose, "verbose", false, "list what passed too")
	flags.Uint64Var(&o.Seed, "seed", 1, "draws the sample of a large index")
	flags.BoolVar(&allowLoopback, "allow-loopback", false, "an origin on this machine may be checked; implied by typing one")
	return c
}

func (e *env) check(o factscheck.Options, html string, verbose bool) error {
	policy := safefetch.Policy{UserAgent: buildinfo.UserAgent(), MaxBytes: 16 << 20, Timeout: 30 * time.Second}
	if at := safefetch.LoopbackOf(o.Origin); at != "" {
		policy.Loopback = []string{at}
	}
	o.Fetch = safefetch.New(policy)
	stages := &stages{e: e}
	o.Progress = stages.show
	r := factscheck.Run(e.ctx, o)
	stages.end()
	if err := e.ctx.Err(); err != nil {
		return err
	}
	reached := factscheck.Reached(r)
	if !reached { // the rules that were not come to say nothing beside the one that tells why
		r.Findings = slices.DeleteFunc(r.Findings, func(f report.Finding) bool { return f.Rule != "VF-L1-001a" })
	}
	if html != "" {
		if err := writeHTML(html, r); err != nil {
			return err
		}
	}
	if err := e.answer(r, func(w io.Writer) error {
		width := e.textWidth()
		if width == 0 {
			width = maxTextWidth
		}
		return r.WriteText(w, report.TextOptions{Color: e.wantsColor(w), Verbose: verbose, Width: width})
	}); err != nil {
		return err
	}
	switch {
	case !reached:
		return answered(exitUnavailable)
	case r.Failed():
		return answered(exitFailed)
	}
	return nil
}

func writeHTML(path string, r *report.Report) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = r.WriteHTML(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
