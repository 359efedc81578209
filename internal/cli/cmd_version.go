package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/buildinfo"
)

func init() { register("", newVersion) }

func newVersion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit, Go version and protocols",
		Long:    "Version prints which program this is and which protocols it speaks. A program built from a checkout names the commit; \"+dirty\" means that the checkout had changes.",
		Example: "  sayso version\n  sayso version --json",
		RunE: func(*cobra.Command, []string) error {
			info := buildinfo.Get()
			return e.answer(info, func(w io.Writer) error {
				_, err := io.WriteString(w, versionText(info))
				return err
			})
		},
	}
}

func versionText(info buildinfo.Info) string {
	return fmt.Sprintf("sayso %s\ncommit %s\n%s %s\n%s\n", info.Version, info.Commit, info.Go, info.Platform, strings.Join(info.Protocols, " "))
}
