package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sayso/internal/config"
)

func init() { register("config", newConfigShow) }

func newConfigShow(e *env) *cobra.Command {
	var manual bool
	c := &cobra.Command{
		Use:   "show",
		Short: "Print every effective setting and where it comes from",
		Long: "Show prints each setting with its effective value and its origin: default, the settings file, a SAYSO_ variable or a flag. " +
			"With --help-text it prints the manual of the settings instead.",
		Example: "  sayso config show\n  SAYSO_RATE_LIMIT=60 sayso config show --json",
		RunE: func(*cobra.Command, []string) error {
			values := e.config.Values()
			return e.answer(map[string][]config.Value{"settings": values}, func(w io.Writer) error {
				if manual {
					_, err := io.WriteString(w, config.Reference())
					return err
				}
				return writeSettings(w, values)
			})
		},
	}
	c.Flags().BoolVar(&manual, "help-text", false, "print what each setting means")
	return c
}

func writeSettings(w io.Writer, values []config.Value) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range values {
		source := v.Source.Kind
		if v.Source.Name != "" {
			source += " " + v.Source.Name
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Key, settingText(v.Value), source)
	}
	return table.Flush()
}

func settingText(value any) string {
	switch v := value.(type) {
	case []string:
		value = strings.Join(v, ", ")
	case []config.Publisher:
		var list []string
		for _, p := range v {
			list = append(list, strings.TrimSpace(p.Origin+" "+p.Pin))
		}
		value = strings.Join(list, ", ")
	}
	if value == "" {
		return "-"
	}
	return fmt.Sprint(value)
}
