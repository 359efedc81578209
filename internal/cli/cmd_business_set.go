package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/business/bundle"
	"sayso/internal/app"
)

func init() {
	for _, d := range settable {
		register("business", func(e *env) *cobra.Command { return newBusinessDocument(e, d) })
	}
}

// maxDocumentFile bounds what a document of a business may have.
const maxDocumentFile = 4 << 20

// document is a part of a business's content that is set as one file.
type document struct {
	word, file string
	what       string // "the profile: …"
	clears     bool   // it can be taken away
	set        func(e *env, r *app.Registry, as app.Actor, slug string, data []byte) (*app.Receipt, []bundle.Problem, error)
}

var settable = []document{
	{"profile", "publisher.json", "everything that publisher.json states: names, languages, category, attributes, locations and tools", false,
		func(e *env, r *app.Registry, as app.Actor, slug string, data []byte) (*app.Receipt, []bundle.Problem, error) {
			return r.SetProfile(e.ctx, as, slug, data, "")
		}},
	{"schema", "schema.json", "the vocabulary: which types and attributes there are, what kind each has and by which words it is asked for", true,
		func(e *env, r *app.Registry, as app.Actor, slug string, data []byte) (*app.Receipt, []bundle.Problem, error) {
			receipt, err := r.SetSchema(e.ctx, as, slug, data, "")
			return receipt, nil, err
		}},
	{"locations", "locations.json", "the locations alone, an array of them as publisher.json holds it", false,
		func(e *env, r *app.Registry, as app.Actor, slug string, data []byte) (*app.Receipt, []bundle.Problem, error) {
			return r.SetLocations(e.ctx, as, slug, data, "")
		}},
	{"calendar", "calendar.json", "the public and school holidays that its opening hours refer to", true,
		func(e *env, r *app.Registry, as app.Actor, slug string, data []byte) (*app.Receipt, []bundle.Problem, error) {
			receipt, err := r.SetCalendar(e.ctx, as, slug, data, "")
			return receipt, nil, err
		}},
}

// documentSet is the answer of an act on a document: what was committed, absent when it was refused, and what was found.
type documentSet struct {
	Publisher string           `json:"publisher"`
	Committed bool             `json:"committed"`
	Receipt   *app.Receipt     `json:"receipt,omitempty"`
	Problems  []bundle.Problem `json:"problems"`
}

func newBusinessDocument(e *env, d document) *cobra.Command {
	word := &cobra.Command{
		Use: d.word, Short: "Replace the " + d.word + " of a business",
		Long:    "Commands for " + d.what + ".",
		Example: "  sayso business " + d.word + " set brightwater-opticians " + d.file,
	}
	var who acting
	set := &cobra.Command{
		Use:   "set SLUG FILE|-",
		Short: "Replace the " + d.word + " of a business",
		Long: "Set replaces " + d.what + ". It is one new generation, or none: with an error nothing is changed, and each problem names the place, the rule and what to do. " +
			"Exit 1 when the file has an error, 4 when the business has not delegated this.",
		Example: "  sayso business " + d.word + " set brightwater-opticians " + d.file,
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := e.readInput(args[1], maxDocumentFile)
			if err != nil {
				return err
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, problems, err := d.set(e, r, as, args[0], data)
				return e.answerChange(args[0], d.word, receipt, problems, err)
			})
		},
	}
	who.add(set.Flags())
	children := []*cobra.Command{set}
	if d.clears {
		children = append(children, newBusinessClear(e, d))
	}
	return subgroup(word, children...)
}

func newBusinessClear(e *env, d document) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:     "remove SLUG",
		Short:   "Take the " + d.word + " of a business away",
		Long:    "Remove takes away " + d.what + ". It is one new generation. Exit 4 when the business has not delegated this.",
		Example: "  sayso business " + d.word + " remove brightwater-opticians",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				receipt, problems, err := d.set(e, r, as, args[0], nil)
				return e.answerChange(args[0], d.word, receipt, problems, err)
			})
		},
	}
	who.add(c.Flags())
	return c
}

// answerChange prints what was committed. A refusal with problems is answered by them, another one is an error.
func (e *env) answerChange(slug, word string, receipt *app.Receipt, problems []bundle.Problem, err error) error {
	if err != nil && len(problems) == 0 {
		return err
	}
	out := documentSet{Publisher: slug, Committed: err == nil, Receipt: receipt, Problems: noNull(problems)}
	if err := e.answer(&out, func(w io.Writer) error {
		if err := writeProblems(w, out.Problems, 0); err != nil || receipt == nil {
			return err
		}
		return writeDone(w, receipt, "changed the %s of %s", word, slug)
	}); err != nil {
		return err
	}
	if err != nil {
		e.note("nothing was changed: %v", err)
		return answered(exitFailed)
	}
	return nil
}
