package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/internal/app"
	"sayso/jcs"
)

func init() { register("business", newBusinessLive) }

func newBusinessLive(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:   "live SLUG FILE|-",
		Short: "Push live readings of a business",
		Long: "Live keeps the latest reading of each stream that the schema of a business declares, of each record and location. A file holds one JSON object, or one on each line: " +
			"stream, value and observed_at, the source's own time with its offset; subject with type and id where the stream is about a record, and location where it is stated by location. " +
			"The value is true or false, a number or a text, as the stream's kind says; its unit is declared.\n\n" +
			"Each line is judged alone: the good ones are kept, and those that are refused are named with their line and why. Refused is what the schema, the records or the locations do not " +
			"know, what is not newer than the reading that stands, and what was observed more than a minute from now. A file that is not made of JSON objects is refused whole.\n\n" +
			"A reading is durable when live returns, and nothing is published anew. Exit 1 when a line was refused, 4 when the business has not delegated this.",
		Example: "  sayso business live hammer-and-nail readings.ndjson\n" +
			`  echo '{"stream":"in-stock","subject":{"type":"product","id":"drill"},"location":"leeds","value":4,"observed_at":"2026-01-02T15:04:05Z"}' | sayso business live hammer-and-nail -`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := e.readInput(args[1], app.MaxLive)
			if err != nil {
				return err
			}
			in, err := readReadings(data)
			if err != nil {
				return registryFailure(err)
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, err := r.PushReadings(e.ctx, as, args[0], in, "")
				if err != nil {
					return err
				}
				return e.answerLive(receipt)
			})
		},
	}
	who.add(c.Flags())
	return c
}

// readReadings takes one object, which may be spread over lines, or one on each line.
func readReadings(data []byte) ([]app.ReadingInput, error) {
	if jcs.Check(data) == nil {
		in, err := app.ReadReading(data)
		return []app.ReadingInput{in}, err
	}
	return app.ReadReadings(data)
}

func (e *env) answerLive(receipt *app.LiveReceipt) error {
	if err := e.answer(receipt, func(w io.Writer) error {
		p := &printer{w: w}
		for _, r := range receipt.Refused {
			p.line("line %d: %s [%s]", r.Line, r.Message, r.Code)
		}
		p.line("%s: %s kept, %d refused", receipt.Publisher, plural(receipt.Accepted, "reading"), len(receipt.Refused))
		return p.err
	}); err != nil {
		return err
	}
	if len(receipt.Refused) > 0 {
		return answered(exitFailed)
	}
	return nil
}
