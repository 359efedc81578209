package cli

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"
)

func init() { register("", newCompletion) }

func newCompletion(e *env) *cobra.Command {
	writers := map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
	}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print the completion script of a shell",
		Long:      "Completion prints a script that teaches a shell to complete sayso commands and flags.",
		Example:   "  sayso completion bash > /etc/bash_completion.d/sayso\n  sayso completion zsh > \"${fpath[1]}/_sayso\"",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			var script bytes.Buffer
			if err := writers[args[0]](cmd.Root(), &script); err != nil {
				return err
			}
			return e.answer(map[string]string{"shell": args[0], "script": script.String()}, func(w io.Writer) error {
				_, err := script.WriteTo(w)
				return err
			})
		},
	}
}
