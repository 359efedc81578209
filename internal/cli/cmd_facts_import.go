package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/importer"
	"sayso/report"
)

func init() { register("facts", newFactsImport) }

// importRequest is what the command line asks of an import.
type importRequest struct {
	dir, source string
	kind        importer.Kind
	mapping     string
	suggest     bool
	namespace   string
	dryRun      bool
}

func newFactsImport(e *env) *cobra.Command {
	var r importRequest
	c := &cobra.Command{
		Use:   "import [DIR] KIND --map FILE SRC",
		Short: "Turn upstream data into candidates",
		Long: "Import reads upstream figures by a mapping file and writes them below candidates/, where nothing is published until it is confirmed. KIND is openfisca, " +
			"smart-answers, endoflife or csv; SRC is the folder of the tree, or the CSV file. Nothing is guessed: what breaks a rule is refused with its rule id VF-I-01 to " +
			"VF-I-19, its place and the reason. Exit 1 when a parameter that the mapping names was refused as a whole; the others are written all the same.\n\n" +
			"With --suggest nothing is imported: a mapping for the parameters that FILE does not name is printed for review. With --dry-run nothing is written. " +
			"Mapping files are described by go doc sayso/facts/importer, and examples lie in examples/facts/mappings.",
		Example: "  sayso facts import figures csv --map map.yaml rates.csv\n" +
			"  sayso facts import figures openfisca --map map.yaml openfisca-france/openfisca_france/parameters --dry-run\n" +
			"  sayso facts import figures endoflife --suggest endoflife.date/products > map.yaml",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, rest, err := takeFolder(args)
			if err != nil {
				return err
			}
			if len(rest) != 2 {
				return usageError("import takes a KIND and a source").withHint("KIND is one of %s", kindList()).withRun(cmd.CommandPath() + " --help")
			}
			r.dir, r.kind, r.source = dir, importer.Kind(rest[0]), rest[1]
			switch {
			case !slices.Contains(importer.Kinds(), r.kind):
				return usageError("%q is no kind of source", rest[0]).withHint("KIND is one of %s", kindList())
			case r.mapping == "" && !r.suggest:
				return usageError("--map is missing: the mapping file says which figure an upstream parameter is").
					withHint("let a mapping be proposed with --suggest").withRun("sayso facts import " + shellWord(dir) + " " + rest[0] + " --suggest " + shellWord(r.source))
			case r.mapping == "-" && r.source == "-":
				return usageError("only one of mapping and source can come from standard input")
			case r.suggest && r.kind == importer.CSV:
				return usageError("a CSV file names its own keys: there is no mapping to suggest")
			}
			return e.runImport(r)
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.mapping, "map", "", "mapping file; - for standard input")
	flags.BoolVar(&r.suggest, "suggest", false, "print a mapping for review instead of importing")
	flags.StringVar(&r.namespace, "namespace", "", "with --suggest: what the proposed keys begin with (default: the folder's only namespace)")
	flags.BoolVar(&r.dryRun, "dry-run", false, "report what would be imported and write nothing")
	return c
}

func kindList() string {
	var names []string
	for _, k := range importer.Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func (e *env) runImport(r importRequest) error {
	folder, err := loadFolder(r.dir)
	if err != nil {
		return err
	}
	m, err := e.readMapping(r)
	if err != nil {
		return err
	}
	o := importer.Options{Today: today(), Folder: folder}
	if r.suggest {
		return e.suggestMapping(r, m, o)
	}
	result, err := e.importFrom(r, m, o)
	if err != nil {
		return err
	}
	if !r.dryRun {
		if err := importer.Write(r.dir, result.Files); err != nil {
			return err
		}
	}
	answer := newImportResult(r, result)
	if err := e.answer(&answer, func(w io.Writer) error { return answer.write(w, e, result.Report.Report(r.source)) }); err != nil {
		return err
	}
	if !r.dryRun && answer.Values > 0 {
		e.note("next: sayso facts confirm %s KEY --value V after reading the source, or --all --converted --date D for figures that say so", shellWord(r.dir))
	}
	if answer.Mapped > answer.Taken+answer.Held {
		return answered(exitFailed)
	}
	return nil
}

// readMapping reads the mapping file; a suggestion without one begins with an empty mapping.
func (e *env) readMapping(r importRequest) (*importer.Mapping, error) {
	if r.mapping == "" {
		return importer.NewMapping(r.kind), nil
	}
	data, err := e.readInput(r.mapping, 16<<20)
	if errors.Is(err, fs.ErrNotExist) {
		f := notFoundError("there is no mapping file %s", r.mapping)
		if r.kind == importer.CSV {
			return nil, f.withHint("a mapping of a table of your own is a short file; examples/facts/mappings/csv.yaml is one")
		}
		return nil, f.withHint("name another with --map, or let one be proposed").
			withRun("sayso facts import " + shellWord(r.dir) + " " + string(r.kind) + " --suggest " + shellWord(r.source))
	}
	if err != nil {
		return nil, err
	}
	m, err := importer.ParseMapping(r.mapping, data)
	if err != nil {
		return nil, usageError("the mapping: %v", err)
	}
	if m.Kind != r.kind {
		return nil, usageError("%s is a mapping of kind %s, not %s", r.mapping, m.Kind, r.kind)
	}
	return m, nil
}

// readInput reads a file, or standard input for "-", up to a bound.
func (e *env) readInput(path string, limit int64) ([]byte, error) {
	in, err := e.openInput(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = failedError("%s is larger than %s", path, byteText(limit))
	}
	return data, err
}

func (e *env) importFrom(r importRequest, m *importer.Mapping, o importer.Options) (*importer.Result, error) {
	if r.kind == importer.CSV {
		in, err := e.openInput(r.source)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		defer e.patience("reading")()
		result, err := importer.ImportCSV(in, r.source, m, o)
		if err != nil {
			return nil, failedError("%v", err) // it names the file itself
		}
		return result, nil
	}
	tree, end, err := e.openTree(r.source)
	if err != nil {
		return nil, err
	}
	defer end()
	result, err := importer.Import(tree, m, o)
	if err != nil {
		return nil, failedError("%s: %v", r.source, err)
	}
	return result, nil
}

// openTree opens an upstream tree and shows how many of its files have been read. end ends the report.
func (e *env) openTree(dir string) (tree fs.FS, end func(), err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, usageError("%s is no folder; this kind is read from the folder of its tree", dir)
	}
	base := os.DirFS(dir)
	var files int64
	if err := fs.WalkDir(base, ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files++
		}
		return err
	}); err != nil {
		return nil, nil, err
	}
	bar := e.progress("reading", files)
	return &countedFS{FS: base, bar: bar}, bar.end, nil
}

// countedFS counts each file that is opened once.
type countedFS struct {
	fs.FS
	mu   sync.Mutex
	bar  *progress
	seen map[string]bool
}

func (c *countedFS) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		c.mu.Lock()
		if !c.seen[name] {
			if c.seen == nil {
				c.seen = map[string]bool{}
			}
			c.seen[name] = true
			c.bar.add(1)
		}
		c.mu.Unlock()
	}
	return f, nil
}

// importFinding is importer.Finding in the names of the answer.
type importFinding struct {
	Rule    string     `json:"rule"`
	Path    string     `json:"path,omitempty"`
	Key     string     `json:"key,omitempty"`
	From    facts.Date `json:"effectiveFrom"`
	File    string     `json:"file,omitempty"`
	Line    int        `json:"line,omitzero"`
	Message string     `json:"message"`
	Next    string     `json:"next,omitempty"`
}

type importResult struct {
	Folder   string          `json:"folder"`
	Kind     string          `json:"kind"`
	Source   string          `json:"source"`
	DryRun   bool            `json:"dryRun"`
	Verdict  string          `json:"verdict"`
	Mapped   int             `json:"mapped"`
	Taken    int             `json:"taken"`
	Held     int             `json:"held"`
	Values   int             `json:"values"`
	Unmapped int             `json:"unmapped"`
	Excluded int             `json:"excluded"`
	Files    []string        `json:"files"`
	Refused  []importFinding `json:"refused"`
	Notes    []importFinding `json:"notes"`
}

func newImportResult(r importRequest, result *importer.Result) importResult {
	p := result.Report
	out := importResult{Folder: r.dir, Kind: string(r.kind), Source: r.source, DryRun: r.dryRun, Verdict: p.Verdict(), Mapped: p.Mapped, Taken: p.Taken, Held: p.Held,
		Values: p.Values, Unmapped: p.Unmapped, Excluded: p.Excluded}
	for _, f := range result.Files {
		out.Files = append(out.Files, f.Path)
	}
	for _, f := range p.Refused {
		out.Refused = append(out.Refused, importFinding(f))
	}
	for _, f := range p.Notes {
		out.Notes = append(out.Notes, importFinding(f))
	}
	return out
}

func (r *importResult) write(w io.Writer, e *env, findings *report.Report) error {
	findings.Findings = slices.DeleteFunc(findings.Findings, func(f report.Finding) bool { return f.Outcome == report.Pass })
	if err := findings.WriteText(w, report.TextOptions{Color: e.wantsColor(w), Width: e.textWidth()}); err != nil {
		return err
	}
	p := &printer{w: w}
	verb := "wrote "
	if r.DryRun {
		verb = "would write "
	}
	for _, name := range r.Files {
		p.line("%s%s", verb, filepath.Join(r.Folder, filepath.FromSlash(name)))
	}
	return p.err
}

type suggestResult struct {
	Kind       string               `json:"kind"`
	Source     string               `json:"source"`
	Mapping    string               `json:"mapping"` // the text of a mapping file, for review
	Proposed   int                  `json:"proposed"`
	Shortened  int                  `json:"shortened"`
	Collisions []suggestedCollision `json:"collisions"`
}

type suggestedCollision struct {
	Key   string   `json:"key"`
	Paths []string `json:"paths"`
}

func (e *env) suggestMapping(r importRequest, m *importer.Mapping, o importer.Options) error {
	namespace, err := suggestedNamespace(r.namespace, o.Folder)
	if err != nil {
		return err
	}
	tree, end, err := e.openTree(r.source)
	if err != nil {
		return err
	}
	s, err := importer.Suggest(tree, m, namespace, o)
	end()
	if err != nil {
		return failedError("%s: %v", r.source, err)
	}
	result := suggestResult{Kind: string(r.kind), Source: r.source, Mapping: string(s.Data), Proposed: s.Proposed, Shortened: s.Shortened}
	for _, c := range s.Collisions {
		result.Collisions = append(result.Collisions, suggestedCollision(c))
	}
	if err := e.answer(&result, func(w io.Writer) error {
		_, err := w.Write(s.Data)
		return err
	}); err != nil {
		return err
	}
	e.note("%s proposed, %s not proposed because several paths would share it; review every key, label and unit before you import",
		plural(s.Proposed, "key"), plural(len(s.Collisions), "key"))
	return nil
}

// suggestedNamespace is what keys of a suggestion begin with.
func suggestedNamespace(given string, folder *dataset.Folder) (string, error) {
	if given != "" {
		if err := facts.CheckNamespace(given); err != nil {
			return "", usageError("--namespace: %v", err)
		}
		return given, nil
	}
	var names []string
	for _, n := range folder.Publisher.Namespaces {
		names = append(names, n.Name)
	}
	if len(names) != 1 {
		return "", usageError("--namespace is missing: the folder declares %s", plural(len(names), "namespace")).withHint("one of %s", strings.Join(names, ", "))
	}
	return names[0], nil
}
