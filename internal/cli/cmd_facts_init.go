package cli

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"sayso/facts/dataset"
)

func init() { register("facts", newFactsInit) }

func newFactsInit(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "init DIR",
		Short: "Make a folder of figures",
		Long: "Init fills a new or empty folder with a small example that passes lint: who publishes, one topic, one figure. Everything in it is text that you edit " +
			"and keep in version control. A folder that init has made is left as it is; any other content is refused.",
		Example: "  sayso facts init figures\n  sayso facts init figures --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := filepath.Clean(args[0])
			files, err := dataset.Init(dir, today())
			if err != nil {
				return actFailure(dir, err)
			}
			result := struct {
				Folder string   `json:"folder"`
				Files  []string `json:"files"`
			}{dir, files}
			if err := e.answer(result, func(w io.Writer) error {
				p := &printer{w: w}
				for _, name := range files {
					p.line("%s", filepath.Join(dir, filepath.FromSlash(name)))
				}
				return p.err
			}); err != nil {
				return err
			}
			e.note("next: write your name and URL into %s, then run sayso facts lint %s", filepath.Join(dir, "publisher.yaml"), shellWord(dir))
			return nil
		},
	}
}
