package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/business/bundle"
	"sayso/internal/app"
)

func init() { register("business", newBusinessImport) }

func newBusinessImport(e *env) *cobra.Command {
	var who acting
	var in app.ImportInput
	c := &cobra.Command{
		Use:   "import SLUG FOLDER|FILE",
		Short: "Take what a business states about itself",
		Long: "Import reads a bundle and makes it the content of a business: one new generation, or none when a line is wrong. A bundle is a folder with publisher.json, schema.json, " +
			"calendar.json and one of records.jsonl, records.csv and records.jsonld; what is absent stays as it is. A single file is read by its extension: .jsonl, .csv, or " +
			".jsonld and .json for schema.org, which may describe the business too. go doc sayso/business/bundle is the manual of these files.\n\n" +
			"With --mode replace, the default, records that the bundle does not hold are removed; with merge they stay. --dry-run reads, checks and compares, and commits nothing. " +
			"--skip-invalid commits the rows without errors, and the business is then published with incomplete evidence until the next complete replace.\n\n" +
			"Each problem has its file, row, field, rule and what to do. Exit 1 when there is an error and nothing was committed, 4 when the business has not delegated this.",
		Example: "  sayso business import brightwater-opticians brightwater --dry-run\n  sayso business import brightwater-opticians brightwater\n" +
			"  sayso business import hammer-and-nail stock.csv --mode merge",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if in.Mode != app.ModeReplace && in.Mode != app.ModeMerge {
				return usageError("--mode %q is neither %s nor %s", in.Mode, app.ModeReplace, app.ModeMerge)
			}
			var err error
			if in.Bundle, err = e.openBundle(args[1]); err != nil {
				return err
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error { return e.importBusiness(r, as, args[0], in) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&in.Mode, "mode", app.ModeReplace, "replace: records that the bundle does not hold are removed; merge: they stay")
	flags.BoolVar(&in.DryRun, "dry-run", false, "commit nothing")
	flags.BoolVar(&in.SkipInvalid, "skip-invalid", false, "leave rows with errors out and commit the others")
	who.add(flags)
	return c
}

// bundleFiles are the names that a folder is read under.
var bundleFiles = []string{"publisher.json", "schema.json", "calendar.json", "records.jsonl", "records.csv", "records.jsonld"}

// openBundle finds the files of a bundle. A data file of the folder under another name is left out, which is said: nobody means it.
func (e *env) openBundle(path string) (*app.Bundle, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	var b *app.Bundle
	if info.IsDir() {
		others, _ := os.ReadDir(path) // what cannot be listed is told by the reading
		for _, f := range others {
			if data := []string{".csv", ".json", ".jsonl", ".jsonld"}; slices.Contains(data, filepath.Ext(f.Name())) && !slices.Contains(bundleFiles, f.Name()) {
				e.note("note: %s is not read: a bundle consists of %s", filepath.Join(path, f.Name()), strings.Join(bundleFiles, ", "))
			}
		}
		b, err = app.OpenBundle(os.DirFS(path))
	} else {
		b, err = app.OpenRecords(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	}
	return b, registryFailure(err)
}

// watched shows how far the records of a bundle are read, and then that they are being committed.
type watched struct {
	io.ReadCloser
	e    *env
	bar  *progress // while the file is read
	rest func()    // ends what is shown after that
}

// watch shows the progress of an import of a bundle until stop is called.
func (e *env) watch(b *app.Bundle) (stop func()) {
	w := &watched{e: e}
	if open := b.Records; open != nil {
		b.Records = func() (io.ReadCloser, error) {
			f, err := open()
			if err != nil {
				return nil, err
			}
			return w.begin(f, b.Name), nil
		}
	}
	return w.stop
}

// begin watches one reading; a file is read twice when it states the business, too. Without a size there is nothing to show.
func (w *watched) begin(f io.ReadCloser, name string) io.ReadCloser {
	w.stop()
	file, ok := f.(fs.File)
	if !ok {
		return f
	}
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return f
	}
	w.ReadCloser, w.bar = f, w.e.progress("bytes of "+name, info.Size())
	return w
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.bar.add(int64(n))
	return n, err
}

func (w *watched) Close() error {
	w.stop()
	w.rest = w.e.patience("comparing and committing")
	return w.ReadCloser.Close()
}

func (w *watched) stop() {
	if w.bar != nil {
		w.bar.end()
		w.bar = nil
	}
	if w.rest != nil {
		w.rest()
		w.rest = nil
	}
}

// imported is the answer of business import.
type imported struct {
	Publisher    string           `json:"publisher"`
	Committed    bool             `json:"committed"`
	DryRun       bool             `json:"dry_run,omitzero"`
	Unchanged    bool             `json:"unchanged,omitzero"` // the content is what it was: no new generation
	Revision     uint64           `json:"revision,omitzero"`
	Generation   uint64           `json:"generation,omitzero"`
	At           time.Time        `json:"at,omitzero"`
	Read         int              `json:"read"`    // records without errors
	Written      int              `json:"written"` // of them new or changed
	Removed      int              `json:"removed"`
	Skipped      int              `json:"skipped"` // rows with errors
	Problems     []bundle.Problem `json:"problems"`
	MoreProblems int              `json:"more_problems,omitzero"`
	Refused      string           `json:"refused,omitempty"` // why nothing was committed
}

func (e *env) importBusiness(r *app.Registry, as app.Actor, slug string, in app.ImportInput) error {
	stop := e.watch(in.Bundle)
	result, err := r.Import(e.ctx, as, slug, in)
	stop()
	var refused *app.Error
	if err != nil && (result == nil || !errors.As(err, &refused) || refused.Code != "invalid_bundle") {
		return err
	}
	out := imported{
		Publisher: slug, Committed: err == nil && !in.DryRun, DryRun: in.DryRun, Unchanged: result.Unchanged, Revision: result.Revision, Generation: result.Generation,
		At: result.At, Read: result.Read, Written: result.Written, Removed: result.Removed, Skipped: result.Skipped,
		Problems: noNull(result.Problems), MoreProblems: result.MoreProblems,
	}
	if refused != nil {
		out.Refused = refused.Message
	}
	if err := e.answer(&out, out.write); err != nil {
		return err
	}
	switch {
	case refused != nil:
		e.note("next: %s", strings.ReplaceAll(refused.Next, "skip_invalid", "--skip-invalid")) // the parameter is a flag here
		return answered(exitFailed)
	case out.Committed && !out.Unchanged:
		e.note("next: %s (what will be answered badly)\nnext: %s (what is missing before it can be published)", e.command("business lint %s", slug), e.command("business show %s", slug))
	}
	return nil
}

func (out *imported) write(w io.Writer) error {
	p := &printer{w: w, err: writeProblems(w, out.Problems, out.MoreProblems)}
	counts := plural(out.Read, "record") + " read"
	switch {
	case out.Refused != "":
		p.line("%s: %s (%s without errors)", out.Publisher, out.Refused, plural(out.Read, "record"))
		return p.err
	case out.DryRun:
		p.line("%s: %s, %d would be written and %d removed; nothing was changed", out.Publisher, counts, out.Written, out.Removed)
		return p.err
	case out.Unchanged:
		p.line("%s: %s, the content is what it was, generation %d", out.Publisher, counts, out.Generation)
		return p.err
	}
	skipped := ""
	if out.Skipped > 0 {
		skipped = ", " + plural(out.Skipped, "row") + " left out: the evidence counts as incomplete"
	}
	p.line("%s: %s, %d written, %d removed%s, generation %d", out.Publisher, counts, out.Written, out.Removed, skipped, out.Generation)
	return p.err
}
