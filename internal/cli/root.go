package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sayso/facts"
	"sayso/internal/buildinfo"
	"sayso/internal/config"
)

// Main runs the command line of the process and returns its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal must end the process even when a command does not listen.
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
}

// run executes one command line.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer, environ []string) (code int) {
	defer func() {
		// The runtime would end a panic with 2, which means a wrong command line.
		if fault := recover(); fault != nil {
			fmt.Fprintf(errs, "sayso: internal fault, please report it: %v\n%s", fault, debug.Stack())
			code = int(exitFailed)
		}
	}()
	e := &env{ctx: ctx, in: in, out: out, err: errs, environ: environ}
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	// The flag decides the form of errors, those of parsing included.
	e.json = slices.Contains(beforeTerminator(args), "--json")
	err := root.ExecuteContext(ctx)
	if err == nil {
		return int(exitOK)
	}
	f := asFailure(ctx, err)
	e.render(f)
	return int(f.code)
}

func beforeTerminator(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}

// registration is a command waiting for its noun.
type registration struct {
	noun string
	make func(*env) *cobra.Command
}

var registered []registration

// register adds a command under a noun, "" for the top level. It is called from the init function of the command's file.
func register(noun string, make func(*env) *cobra.Command) {
	registered = append(registered, registration{noun, make})
}

// nouns are the groups of verbs. One without a registered verb does not appear.
var nouns = []cobra.Command{
	{Use: "facts", Short: "Keep, sign and build a folder of figures", Long: "Commands for the publisher of figures. Each works on a folder with a publisher.yaml: the first argument, else the current folder.", Example: "  sayso facts lint figures"},
	{Use: "business", Short: "Keep businesses in the registry of the data folder", Long: "Commands for the operator of a registry and for a business that keeps its own. They work on the registry of the data folder, beside a running server or without one; a server takes a change over within a second. " +
		"sayso init makes a registry.\n\nWho acts is the owner of this machine, an operator under the name that --operator gives, or with --token-file the holder of a token.", Example: "  sayso business create brightwater-opticians --name \"Brightwater Opticians\"\n  sayso business list"},
	{Use: "interest", Short: "Look for a counterparty without telling what you want", Long: "Commands for a principal: somebody who wants to find another without telling everybody what for. An interest and its private values stay sealed in the data folder; " +
		"your agent answers questions about them by coarse classes, and what goes beyond that waits for your decision. They work beside a running server or without one.\n\n" +
		"new writes a form, check says what it would tell whom, add keeps it, activate lets it be found, explore looks for others, inbox has what waits for you.", Example: "  sayso interest new --profile corporate-transaction --out interest.yaml\n  sayso interest list"},
	{Use: "provider", Short: "Run a discovery provider, where interests are found", Long: "Commands for the operator of a discovery provider: a place where agents publish coarse projections of what their principals want, and where others look for them. " +
		"reports and bans work on the data folder of the provider, beside a running server or without one.", Example: "  sayso provider serve --data provider\n  sayso provider info http://127.0.0.1:8470"},
	{Use: "keys", Short: "Make, rotate and revoke keys", Long: "Commands for signing keys. A private key stays in its own file, which nobody else may read. new makes one for a publisher of figures; the others act on the keys of a registry and its businesses.", Example: "  sayso keys new --kid ex-2026-10 --out ex-2026-10.jwk\n  sayso keys rotate brightwater-opticians"},
	{Use: "operator", Short: "Give operators tokens for the admin API", Long: "Commands for the tokens of the registry's operators. Each operator has one of its own: acts are recorded under it, and an operator verification needs two.", Example: "  sayso operator token second"},
	{Use: "lab", Short: "Measure what GIDP's answers tell", Long: "Commands that measure leakage and usefulness of GIDP's answers on the code that gives them, and hold every figure that the documentation quotes to it. Nothing is read from the data folder.", Example: "  sayso lab list\n  sayso lab check"},
	{Use: "config", Short: "Show the settings", Long: "Commands that show what the program is set to and where each setting comes from.", Example: "  sayso config show"},
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "sayso",
		Short: "Publish, read and check figures and businesses that say who says so",
		Long: "Sayso publishes official figures with their source, the day they were last checked and a signature, and keeps a registry in which businesses state what they " +
			"offer under a key of their own. It answers for both over HTTP and over MCP, and reads, asks and checks what others publish.\n\n" +
			"Answers go to standard output, everything else to standard error. Settings come from flags, SAYSO_ variables and a TOML file, in this order.",
		Example: "  sayso demo\n  sayso get uk/income-tax/personal-allowance --from https://figures.example\n" +
			"  sayso ask https://registry.example/b/brightwater-opticians \"Do you have parking?\" --root root.pub.json\n" +
			"  sayso verify https://registry.example/b/brightwater-opticians --root root.pub.json",
		Version:           buildinfo.Get().Version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if e.schema {
				return nil // the settings have no part in it
			}
			return e.loadConfig(cmd.Flags())
		},
	}
	root.SetVersionTemplate(versionText(buildinfo.Get()))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		f := usageError("%s: %v", cmd.CommandPath(), err).withRun(cmd.CommandPath() + " --help")
		if near := nearestFlag(cmd, err); near != "" {
			f.withHint("did you mean --%s?", near)
		}
		return f
	})
	root.SetHelpFunc(writeHelp)
	flags := root.PersistentFlags()
	flags.String("data", "", "folder for keys and databases (default: the user's state folder)")
	flags.String("config", "", "settings file (TOML)")
	flags.BoolVar(&e.json, "json", false, "answer with one JSON value, also on failure")
	flags.BoolVar(&e.schema, "json-schema", false, "print the JSON Schema of the command's --json answers and do nothing else")
	flags.BoolVarP(&e.quiet, "quiet", "q", false, "print answers and errors only")
	flags.String("color", "auto", "colours: auto, always or never")
	flags.SortFlags = false
	addCommands(root, e)
	group(root)
	offerSchemas(root, e)
	return root
}

// helpWidth is how wide the paragraphs of a help text are set; lines of examples and flags stand as they are written.
const helpWidth = 80

// writeHelp prints what a command does and how it is called.
func writeHelp(cmd *cobra.Command, _ []string) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", wrap(about, helpWidth), cmd.UsageString())
}

// nearestFlag is the flag that an unknown one most likely means, "" when none is near or the error is another.
func nearestFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return facts.NearestName(unknown.GetSpecifiedName(), names)
}

// addCommands hangs the registered commands under their nouns.
func addCommands(root *cobra.Command, e *env) {
	parents := map[string]*cobra.Command{"": root}
	for i := range nouns {
		noun := nouns[i] // a copy: a command belongs to one tree
		parents[noun.Use] = &noun
		group(&noun)
	}
	for _, r := range registered {
		addChildren(parents[r.noun], r.make(e))
	}
	for i := range nouns {
		if noun := parents[nouns[i].Use]; noun.HasSubCommands() {
			root.AddCommand(noun)
		}
	}
}

// subgroup hangs commands under a word of a noun, which does nothing itself.
func subgroup(word *cobra.Command, children ...*cobra.Command) *cobra.Command {
	group(word)
	addChildren(word, children...)
	return word
}

func addChildren(parent *cobra.Command, children ...*cobra.Command) {
	for _, child := range children {
		if child.Args == nil {
			child.Args = cobra.NoArgs
		}
		child.Args = usageArgs(child.Args)
		parent.AddCommand(child)
	}
}

const groupMark = "group"

// isGroup reports a command that does nothing itself.
func isGroup(c *cobra.Command) bool {
	_, ok := c.Annotations[groupMark]
	return ok
}

// group makes a command that only holds others: alone it prints its help, and a word it does not know is a usage error with the nearest verbs.
func group(c *cobra.Command) {
	c.Annotations = map[string]string{groupMark: ""}
	c.Args = cobra.ArbitraryArgs
	c.SuggestionsMinimumDistance = 2
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		f := usageError("unknown command %q for %s", args[0], cmd.CommandPath()).withRun(cmd.CommandPath() + " --help")
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			f.withHint("did you mean %s?", strings.Join(near, " or "))
		}
		return f
	}
}

// usageArgs turns a refused argument list into a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var f *failure
		if err == nil || errors.As(err, &f) {
			return err
		}
		return usageError("%s: %v", cmd.CommandPath(), err).withHint("usage: %s", cmd.UseLine()).withRun(cmd.CommandPath() + " --help")
	}
}

// loadConfig computes the settings from the flags that were given.
func (e *env) loadConfig(flags *pflag.FlagSet) error {
	in := config.Inputs{Environ: e.environ, Flags: map[string]string{}}
	flags.Visit(func(f *pflag.Flag) {
		switch list, ok := f.Value.(pflag.SliceValue); {
		case f.Name == "config":
			in.File = f.Value.String()
		case ok:
			in.Flags[f.Name] = strings.Join(list.GetSlice(), ",")
		default:
			in.Flags[f.Name] = f.Value.String()
		}
	})
	var err error
	e.config, err = config.Load(in)
	return err
}
