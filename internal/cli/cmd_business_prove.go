package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/app"
	"sayso/internal/proof"
)

func init() { register("business", newBusinessProve) }

func newBusinessProve(e *env) *cobra.Command {
	var who acting
	var host, method string
	var check bool
	c := &cobra.Command{
		Use:   "prove SLUG --host HOST --method dns_txt|well_known",
		Short: "Prove that a business controls a host",
		Long: "Prove has two halves. Without --check it prints what the business has to publish: with dns_txt a TXT record, with well_known a file on the host's own web server. The value " +
			"is shown this once and lasts seven days. With --check it looks for it. A proof says who controls that one host, neither its subdomains nor who the business is; it lasts " +
			"90 days and is looked at again while a server runs.\n\n" +
			"dns_txt asks the resolvers of the setting resolvers. Exit 1 when the value was not found, with the reason; 4 when the business has not delegated this, or when five checks " +
			"of the host failed within an hour.",
		Example: "  sayso business prove brightwater-opticians --host opticians.example --method dns_txt\n" +
			"  sayso business prove brightwater-opticians --host opticians.example --method dns_txt --check",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case host == "":
				return usageError("--host is missing: the host to prove").withRun(cmd.CommandPath() + " --help")
			case method != proof.DNSTXT && method != proof.WellKnown:
				return usageError("--method %q is neither %s nor %s", method, proof.DNSTXT, proof.WellKnown)
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				if check {
					return e.checkProof(r, as, args[0], host, method)
				}
				return e.startProof(r, as, args[0], host, method)
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&host, "host", "", "host to prove, without scheme and path")
	flags.StringVar(&method, "method", proof.DNSTXT, "dns_txt or well_known")
	flags.BoolVar(&check, "check", false, "look for what was published")
	who.add(flags)
	return c
}

func (e *env) startProof(r *app.Registry, as app.Actor, slug, host, method string) error {
	start, err := r.StartProof(e.ctx, as, slug, host, method, "")
	if err != nil {
		return err
	}
	if err := e.answer(start, func(w io.Writer) error {
		return e.writeChallenge(w, start)
	}); err != nil {
		return err
	}
	e.note("next: %s", e.command("business prove %s --host %s --method %s --check", slug, start.Host, method))
	return nil
}

// writeChallenge says what to publish. Lines of prose are set to the terminal; the ones to be copied stand indented and whole.
func (e *env) writeChallenge(w io.Writer, start *app.ProofStart) error {
	p := &printer{w: w}
	for line := range strings.SplitSeq(start.Text, "\n") {
		if !strings.HasPrefix(line, " ") {
			line = e.prose(line, 0)
		}
		p.line("%s", printable(line))
	}
	p.line("It counts for this business and this host, until %s.", stamp(start.ExpiresAt))
	return p.err
}

func (e *env) checkProof(r *app.Registry, as app.Actor, slug, host, method string) error {
	result, err := r.CheckProof(e.ctx, as, slug, host, method, "")
	if err != nil {
		return err
	}
	if err := e.answer(result, func(w io.Writer) error {
		if result.Proven {
			return writeDone(w, &result.Receipt, "%s proves %s until %s", slug, result.Host, stamp(result.ValidUntil))
		}
		_, err := fmt.Fprintf(w, "not proven: %s [%s]\n", printable(result.Message), result.Reason)
		return err
	}); err != nil {
		return err
	}
	if result.Proven {
		e.note("next: %s", e.command("business publish %s", slug))
		return nil
	}
	if result.Next != "" {
		e.note("next: %s", result.Next)
	}
	return answered(exitFailed)
}
