package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/buildinfo"
	"sayso/internal/mcpserve"
)

func init() { register("", newMCP) }

func newMCP(e *env) *cobra.Command {
	var r reading
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Offer verified figures to an assistant over standard input and output",
		Long: "Mcp is a Model Context Protocol server on standard input and output, one message a line, with the tools get_fact, resolve_fact and what_changed_since over the " +
			"publishers of the settings file, or those of --from. Every record is verified before it is passed on, and carries the four parts in a member verification; one " +
			"whose hash, signature or key fails is not passed on, and the result says which part failed. Notes go to standard error.\n\n" +
			"It ends with exit 0 when its input ends, after the answers that are due.",
		Example: "  sayso mcp --from https://figures.example\n  sayso mcp --from http://127.0.0.1:8470 --from https://figures.example",
		RunE:    func(*cobra.Command, []string) error { return e.serveMCP(&r) },
	}
	r.addFlags(c.Flags())
	return c
}

func (e *env) serveMCP(r *reading) error {
	ps, err := e.publishers(r)
	if err != nil {
		return err
	}
	tools := newReaderTools(e.ctx, ps, func(err error) { e.note("not reached yet: %v", err) })
	e.hasAnswered = true // standard output belongs to the messages from here on
	id := mcpserve.Identity{Name: "sayso/facts", Title: "Verified figures", Version: buildinfo.Get().Version}
	return mcpserve.ServeStdio(e.ctx, e.in, e.out, tools, id)
}
