package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sayso/internal/buildinfo"
	"sayso/internal/config"
)

func init() { register("", newMan) }

func newMan(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Long:    "Man prints the manual page of all commands, their exit codes and settings in roff, for packagers.",
		Example: "  sayso man > sayso.1",
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			page := manual(cmd.Root())
			return e.answer(map[string]string{"page": page}, func(w io.Writer) error {
				_, err := io.WriteString(w, page)
				return err
			})
		},
	}
}

// manual is sayso(1) from the command tree, the exit codes and the settings. It holds no date, so that the same program writes the same page.
func manual(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH SAYSO 1 \"\" \"sayso %s\" \"User Commands\"\n", buildinfo.Get().Version)
	fmt.Fprintf(&b, ".SH NAME\nsayso \\- %s\n.SH SYNOPSIS\n.B sayso\nCOMMAND [FLAGS] [ARGUMENTS]\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n", roff(root.Short), roff(root.Long))
	writeManualCommands(&b, root)
	b.WriteString(".SH COMMON FLAGS\n")
	writeManualFlags(&b, root.PersistentFlags())
	b.WriteString(".SH EXIT STATUS\n")
	for _, row := range exitKinds {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", row.code, roff(row.meaning))
	}
	b.WriteString(".SH SETTINGS\nFlags win over variables, variables over the settings file.\n")
	for _, v := range (&config.Config{}).Values() {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s", roff(v.Key), roff(v.Help))
		if v.Env != "" {
			fmt.Fprintf(&b, " Variable %s.", v.Env)
		}
		if v.Default != "" {
			fmt.Fprintf(&b, " Default %s.", roff(v.Default))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func writeManualCommands(b *strings.Builder, c *cobra.Command) {
	for _, child := range c.Commands() {
		if !child.IsAvailableCommand() || child.Name() == "help" {
			continue
		}
		if isGroup(child) {
			writeManualCommands(b, child)
			continue
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(child.UseLine()), roff(child.Long))
		writeManualFlags(b, child.LocalNonPersistentFlags())
		fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", roff(child.Example))
		writeManualCommands(b, child) // a command that does something may hold others: facts keys
	}
}

func writeManualFlags(b *strings.Builder, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			fmt.Fprintf(b, ".TP\n.B \\-\\-%s\n%s\n", roff(f.Name), roff(f.Usage))
		}
	})
}

// roff escapes a text: backslashes, hyphens that are typed, and lines that would begin a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
