package cli

import (
	"github.com/spf13/cobra"

	"sayso/business/bizhttp"
	"sayso/internal/buildinfo"
	"sayso/internal/mcpserve"
)

func init() { register("", newMCP) }

// assisting holds the flags of mcp.
type assisting struct {
	reading
	root              string
	acceptUnconfirmed bool
}

func newMCP(e *env) *cobra.Command {
	var k assisting
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Offer verified figures and the answers of businesses to an assistant over standard input and output",
		Long: "Mcp is a Model Context Protocol server on standard input and output, one message a line.\n\n" +
			"The tools get_fact, resolve_fact and what_changed_since answer over the publishers of the settings file, or those of --from; without any, they are not offered. Every record is verified " +
			"before it is passed on, and carries the four parts in a member verification; one whose hash, signature or key fails is not passed on, and the result says which part failed.\n\n" +
			"The tool ask_business asks any business that is named by its host or address, verifies the answer, and gives first what may be said. An answer that is not usable is an error " +
			"with its findings and without content. Pin the registry's root with --root: without it no answer is usable, unless --accept-unconfirmed says otherwise. A business on this machine is " +
			"asked only with --allow-loopback, or when its origin stands in --from.\n\n" +
			"Notes go to standard error. It ends with exit 0 when its input ends, after the answers that are due.",
		Example: "  sayso mcp --from https://figures.example\n  sayso mcp --from http://127.0.0.1:8470 --from https://figures.example\n  sayso mcp --root root.pub.json",
		RunE:    func(*cobra.Command, []string) error { return e.serveMCP(&k) },
	}
	k.addFlags(c.Flags())
	c.Flags().StringVar(&k.root, "root", "", "businesses: the pinned root, a public JWK; without it identity stays unconfirmed")
	c.Flags().BoolVar(&k.acceptUnconfirmed, "accept-unconfirmed", false, "businesses: usable although no root is pinned")
	return c
}

func (e *env) serveMCP(k *assisting) error {
	root, err := readRoot(k.root)
	if err != nil {
		return err
	}
	tools := &assistantTools{asker: &businessAsker{
		options: bizhttp.Options{Root: root, AcceptUnknown: k.acceptUnconfirmed}, allowLoopback: k.allowLoopback, typed: k.from,
	}}
	id := mcpserve.Identity{Name: "sayso/business", Title: "Businesses", Version: buildinfo.Get().Version}
	if len(k.from) > 0 || len(e.config.Publishers) > 0 {
		ps, err := e.publishers(&k.reading)
		if err != nil {
			return err
		}
		tools.figures = newReaderTools(e.ctx, ps, func(err error) { e.note("not reached yet: %v", err) })
		id.Name, id.Title = "sayso/facts", "Verified figures and businesses"
	}
	e.hasAnswered = true // standard output belongs to the messages from here on
	return mcpserve.ServeStdio(e.ctx, e.in, e.out, tools, id)
}
