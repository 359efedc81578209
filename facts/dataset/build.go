package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sayso/facts"
	"sayso/facts/describe"
)

// BuildOptions are the inputs of Build.
type BuildOptions struct {
	Origin string     // scheme://host[:port]: https, or http on loopback
	Out    string     // the folder to make or replace
	Level  string     // L1 or L3; "" is the folder's own
	AsOf   facts.Date // the day whose values are shown; zero is Today
	Today  facts.Date // the real day: a verifiedDate after it is refused
	Pages  *facts.Pages
	// Progress is called now and then, from one goroutine at a time, with the keys done and their number.
	Progress func(done, total int)
}

// BuildResult says what was built.
type BuildResult struct {
	Level string     `json:"level"`
	Keys  int        `json:"keys"`
	Files int        `json:"files"`
	Bytes int64      `json:"bytes"`
	Until facts.Date `json:"until"` // the last day on which the build shows the values in force; zero when no change is known
}

// Build lints the folder and writes the static site of F§10.8: discovery documents, changes, index, one file a key and form, alias copies, schemas,
// llms.txt, sitemap, feed, and _headers for hosts that read one. The bytes depend on folder, origin, level and as-of alone. Everything is written to a
// new folder beside Out, which then takes its place; a failed or cancelled build leaves Out as it was.
func Build(ctx context.Context, folder *Folder, o BuildOptions) (*BuildResult, error) {
	s, err := newSite(folder, o)
	if err != nil {
		return nil, err
	}
	if err := checkOut(o.Out); err != nil {
		return nil, err
	}
	parent := filepath.Dir(filepath.Clean(o.Out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(parent, tempPrefix)
	if err != nil {
		return nil, err
	}
	temp = filepath.Clean(temp) // in the current folder it is "./NAME", and the paths made below it are "NAME/…"
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return nil, err
	}
	if err := s.writeAll(ctx, func(name string, data []byte) error { return writeSiteFile(temp, name, data) }); err != nil {
		return nil, err
	}
	return s.result(), replaceDir(temp, o.Out)
}

// Verify builds the site again in memory and compares it with Out byte by byte. It returns the files that differ, are missing or do not belong there.
func Verify(ctx context.Context, folder *Folder, o BuildOptions) (differing []string, err error) {
	s, err := newSite(folder, o)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	built := map[string]bool{}
	err = s.writeAll(ctx, func(name string, data []byte) error {
		found, err := os.ReadFile(filepath.Join(o.Out, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		built[name] = true
		if err != nil || !bytes.Equal(found, data) {
			differing = append(differing, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(os.DirFS(o.Out), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !built[name] {
			differing = append(differing, name)
		}
		return err
	})
	slices.Sort(differing)
	return differing, err
}

// site is one build.
type site struct {
	snapshot *facts.Snapshot
	options  BuildOptions
	level    string
	files    atomic.Int64
	bytes    atomic.Int64
}

func newSite(folder *Folder, o BuildOptions) (*site, error) {
	if err := checkOrigin(o.Origin); err != nil {
		return nil, err
	}
	level, err := folder.level(o.Level)
	if err != nil {
		return nil, err
	}
	if level == "L2" {
		return nil, &Error{Kind: Usage, Message: "a static site is L1 or L3; L2 answers questions and needs the server", Next: "build with --level L1, or run sayso serve"}
	}
	if o.AsOf.IsZero() {
		o.AsOf = o.Today
	}
	if r := lint(folder, o.Today, level); r.Failed() {
		return nil, &FolderError{r}
	}
	ds, err := folder.Dataset(DatasetOptions{Level: level})
	if err != nil {
		return nil, err
	}
	snapshot, err := facts.NewSnapshot(ds, facts.Options{Origin: o.Origin, Static: true, Conformance: level, SignaturesVerified: true}) // by lint, above
	if err != nil {
		return nil, err
	}
	return &site{snapshot: snapshot, options: o, level: level}, nil
}

// checkOrigin accepts an absolute https origin, and http on loopback alone.
func checkOrigin(origin string) error {
	refuse := func(why string) error {
		return &Error{Kind: Usage, Message: fmt.Sprintf("origin %q %s", origin, why), Next: "write https://HOST, without a path or a trailing slash"}
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host {
		return refuse("is not scheme://host[:port]")
	}
	switch host := u.Hostname(); {
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return refuse("is neither https nor http")
	case host != "localhost" && !net.ParseIP(host).IsLoopback():
		return refuse("is http on a host that is not loopback")
	}
	return nil
}

// checkOut refuses to replace a folder that no build made.
func checkOut(out string) error {
	if out == "" {
		return &Error{Kind: Usage, Message: "no output folder is named", Next: "name it with --out"}
	}
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return &Error{Kind: Refused, Message: "the output folder cannot be read: " + cause(err), Next: "name another one"}
	}
	_, marked := os.Stat(filepath.Join(out, ".well-known", "facts.json"))
	_, folder := os.Stat(filepath.Join(out, publisherFile))
	if marked != nil || folder == nil {
		return &Error{Kind: Refused, Message: "the output folder exists and does not hold an earlier build", Next: "name a new folder, or remove this one"}
	}
	return nil
}

func (s *site) result() *BuildResult {
	r := &BuildResult{Level: s.level, Keys: s.snapshot.Len(), Files: int(s.files.Load()), Bytes: s.bytes.Load()}
	if next := s.snapshot.NextBoundary(s.options.AsOf); !next.IsZero() {
		r.Until = next - 1
	}
	return r
}

// sink takes one finished file; it is called from several goroutines.
type sink func(name string, data []byte) error

func (s *site) counted(put sink) sink {
	return func(name string, data []byte) error {
		s.files.Add(1)
		s.bytes.Add(int64(len(data)))
		return put(name, data)
	}
}

func (s *site) writeAll(ctx context.Context, put sink) error {
	put = s.counted(put)
	for name, write := range s.documents() {
		var b bytes.Buffer
		if err := errors.Join(ctx.Err(), write(&b)); err != nil {
			return err
		}
		if err := put(name, b.Bytes()); err != nil {
			return err
		}
	}
	return s.writeKeys(ctx, put)
}

// documents yields every file that is not a key's.
func (s *site) documents() iter.Seq2[string, func(io.Writer) error] {
	snap, day, pages := s.snapshot, s.options.AsOf, s.options.Pages
	fixed := func(data []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(data); return err }
	}
	return func(yield func(string, func(io.Writer) error) bool) {
		more := true
		put := func(name string, write func(io.Writer) error) { more = more && yield(name, write) }
		put(".well-known/facts.json", fixed(describe.FactsJSON(snap)))
		put(".well-known/changes.json", fixed(describe.ChangesDiscovery(snap, day)))
		if snap.Info().Signed {
			put(".well-known/jwks.json", fixed(describe.JWKS(snap)))
		}
		put("changes.json", func(w io.Writer) error {
			doc, err := snap.AppendChanges(nil, facts.ChangesQuery{}, day)
			if err == nil {
				_, err = w.Write(doc)
			}
			return err
		})
		put("changes.atom", fixed(describe.Atom(snap)))
		put("f/index.json", func(w io.Writer) error { return snap.WriteIndex(w, "", day) })
		for _, name := range describe.SchemaNames() {
			doc, _ := describe.Schema(name, s.options.Origin)
			put("schema/"+name, fixed(doc))
		}
		put("llms.txt", fixed(describe.LLMs(snap)))
		describe.Sitemaps(snap, func(name string, write func(io.Writer) error) bool {
			put(name, write)
			return more
		})
		put("_headers", fixed(headersFile(pages)))
		if pages == nil {
			return
		}
		if pages.Index != nil {
			index := func(w io.Writer) error { return pages.Index(w, snap, "", day) }
			put("f/index.html", index)
			put("index.html", index) // what people see at the origin
		}
		if pages.Changes != nil {
			put("changes.html", func(w io.Writer) error { return pages.Changes(w, snap, day) })
		}
		for _, name := range slices.Sorted(mapKeys(pages.Assets)) {
			put("assets/"+name, fixed(pages.Assets[name]))
		}
	}
}

func mapKeys(m map[string][]byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// headersFile is the _headers file that several static hosts read. The rules do not overlap in a header: such hosts join equal names with a comma.
func headersFile(pages *facts.Pages) []byte {
	var b strings.Builder
	b.WriteString("/*\n  Access-Control-Allow-Origin: *\n  Access-Control-Expose-Headers: ETag, Last-Modified, Link\n  X-Content-Type-Options: nosniff\n")
	if pages != nil && pages.CSP != "" {
		b.WriteString("  Content-Security-Policy: " + strings.NewReplacer("\r", " ", "\n", " ").Replace(pages.CSP) + "\n")
	}
	rule := func(path, contentType, cache string) {
		b.WriteString(path + "\n")
		if contentType != "" {
			b.WriteString("  Content-Type: " + contentType + "\n")
		}
		b.WriteString("  Cache-Control: " + cache + "\n")
	}
	const json = "application/json; charset=utf-8"
	rule("/f/*", "", "public, max-age=0, must-revalidate")
	rule("/changes.json", json, "public, max-age=0, must-revalidate")
	rule("/changes.atom", "application/atom+xml; charset=utf-8", "public, max-age=0, must-revalidate")
	rule("/.well-known/facts.json", json, "public, max-age=3600")
	rule("/.well-known/changes.json", json, "public, max-age=3600")
	rule("/.well-known/jwks.json", json, "public, max-age=86400")
	rule("/schema/*", json, "public, max-age=3600")
	rule("/llms.txt", "text/plain; charset=utf-8", "public, max-age=3600")
	return []byte(b.String())
}

// writeKeys writes the files of every key and alias over all cores.
func (s *site) writeKeys(ctx context.Context, put sink) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keys := make(chan string, 4*runtime.GOMAXPROCS(0))
	total := s.snapshot.Len()
	var group sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for key := range keys {
				if err := s.writeKey(key, put); err != nil {
					cancel(err)
					continue
				}
				if mu.Lock(); s.options.Progress != nil {
					if done++; done%256 == 0 || done == total {
						s.options.Progress(done, total)
					}
				}
				mu.Unlock()
			}
		})
	}
feed:
	for key := range s.snapshot.Keys() {
		select {
		case keys <- key:
		case <-ctx.Done():
			break feed
		}
	}
	close(keys)
	group.Wait()
	return context.Cause(ctx)
}

// writeKey writes one key with its alias copies, which carry requestedKey.
func (s *site) writeKey(key string, put sink) error {
	day, pages := s.options.AsOf, s.options.Pages
	fact, _, _ := s.snapshot.History(key)
	for _, name := range append([]string{key}, fact.Aliases...) {
		if other := s.inTheWay(name); other != "" {
			return &Error{Kind: Refused, Message: fmt.Sprintf("the file of %s and the folder of %s would have one name", other, name),
				Next: "no segment of a key on a static site ends in .json or .html: rename one of them, or run sayso serve"}
		}
		a, err := s.snapshot.Get(name, facts.Selection{MaxAge: facts.NoMaxAge}, day)
		if err != nil {
			return err
		}
		if err := put("f/"+name+".json", append(a.AppendJSON(nil), '\n')); err != nil {
			return err
		}
		if pages == nil || pages.Fact == nil {
			continue
		}
		var b bytes.Buffer
		if err := pages.Fact(&b, s.snapshot, &a, day); err != nil {
			return fmt.Errorf("page of %s: %w", name, err)
		}
		if err := put("f/"+name+".html", b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// inTheWay is the key or alias whose file would stand where a folder of name has to be, "" when there is none.
func (s *site) inTheWay(name string) string {
	for i, c := range name {
		if c != '/' {
			continue
		}
		for _, ext := range []string{".json", ".html"} {
			other, ok := strings.CutSuffix(name[:i], ext)
			if !ok {
				continue
			}
			if canonical, _ := s.snapshot.Lookup(other); canonical != "" {
				return other
			}
		}
	}
	return ""
}

// writeSiteFile writes one file with a fixed mode, whatever the process's mask is.
func writeSiteFile(root, name string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("file name %q leads outside the output folder", name)
	}
	target := filepath.Join(root, filepath.FromSlash(name))
	err := os.WriteFile(target, data, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeSiteDirs(root, filepath.Dir(target)); err != nil {
			return err
		}
		err = os.WriteFile(target, data, 0o644)
	}
	return errors.Join(err, os.Chmod(target, 0o644))
}

func makeSiteDirs(root, dir string) error {
	if dir == root {
		return nil
	}
	if err := makeSiteDirs(root, filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(dir, 0o755)
}
