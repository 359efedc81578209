package server

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/internal/app"
)

const (
	maxImport  = 256 << 20
	maxImports = 4 // at the same time, one for a publisher
	importTime = 30 * time.Minute
)

// The content types of an import.
const (
	typeLines  = "application/x-ndjson"
	typeCSV    = "text/csv"
	typeJSONLD = "application/ld+json"
	typeBundle = "application/x-tar"
)

var importTypes = []string{typeLines, typeCSV, typeJSONLD, typeBundle}

// bundleFiles are the files that a bundle may hold.
var bundleFiles = []string{"publisher.json", "schema.json", "calendar.json", "records.jsonl", "records.csv", "records.jsonld"}

// imports bounds what imports hold at the same time.
type imports struct {
	mu      sync.Mutex // guards running
	running map[string]bool
}

// begin takes a place; the function gives it back.
func (i *imports) begin(slug string) (func(), error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running[slug] || len(i.running) >= maxImports {
		p := refused(http.StatusTooManyRequests, "import_running", "another import is running").hint("try again when it has ended")
		p.retryAfter = 5 * time.Second
		return nil, p
	}
	if i.running == nil {
		i.running = map[string]bool{}
	}
	i.running[slug] = true
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.running, slug)
	}, nil
}

// importRecords takes one file of records, or a bundle. Lines and rows are read as they arrive; what has to be read twice is kept in a temporary file.
func importRecords(c *call) (*app.ImportResult, error) {
	in := app.ImportInput{Mode: c.query.Get("mode"), Operation: c.operation}
	var err error
	if in.DryRun, err = c.flag("dry_run"); err != nil {
		return nil, err
	}
	if in.SkipInvalid, err = c.flag("skip_invalid"); err != nil {
		return nil, err
	}
	kind, err := c.contentType(importTypes...)
	if err != nil {
		return nil, err
	}
	end, err := c.imports.begin(c.slug())
	if err != nil {
		return nil, err
	}
	defer end()
	// The time for an answer begins when there is one.
	http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(importTime))
	b := c.body(maxImport)
	var kept spool
	defer kept.close()
	if in.Bundle, err = openImport(b, &kept, kind); err != nil {
		return nil, b.cause(err)
	}
	result, err := c.registry.Import(c.ctx, c.actor, c.slug(), in)
	if err == nil {
		return result, nil
	}
	if result != nil {
		err = withProblems(err, result.Problems, result.MoreProblems)
	}
	return nil, b.cause(err)
}

// openImport presents a body as the bundle that it is.
func openImport(b *body, kept *spool, kind string) (*app.Bundle, error) {
	switch kind {
	case typeBundle:
		if err := kept.unpack(b); err != nil {
			return nil, err
		}
		return app.OpenBundle(kept)
	case typeJSONLD:
		const name = "records.jsonld"
		if err := kept.add(name, b); err != nil {
			return nil, err
		}
		return app.OpenRecords(kept, name)
	case typeCSV:
		return app.OpenRecords(&arriving{body: b}, "records.csv")
	}
	return app.OpenRecords(&arriving{body: b}, "records.jsonl")
}

// arriving is a folder of one file that can be opened once: a second reader would find the end and take it for a file without records.
type arriving struct {
	body   *body
	opened bool
}

// Open implements fs.FS.
func (a *arriving) Open(name string) (fs.File, error) {
	if a.opened {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrClosed}
	}
	a.opened = true
	return arrivingFile{a.body}, nil
}

type arrivingFile struct{ *body }

func (f arrivingFile) Close() error               { return nil }
func (f arrivingFile) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

// spool is a folder of files that lie one behind the other in one temporary file, which has no name any more: a crash leaves nothing. The zero value is empty.
type spool struct {
	file  *os.File
	size  int64
	files map[string]span
}

type span struct{ from, size int64 }

func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}

func (s *spool) add(name string, from io.Reader) (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "sayso-import-*"); err != nil {
			return err
		}
		s.files = map[string]span{}
		if err := os.Remove(s.file.Name()); err != nil {
			return err
		}
	}
	n, err := io.Copy(s.file, io.LimitReader(from, maxImport-s.size+1))
	if err != nil {
		return err
	}
	if s.files[name] = (span{s.size, n}); s.size+n > maxImport {
		return refused(http.StatusRequestEntityTooLarge, "too_large", "the bundle is larger than %d bytes", maxImport)
	}
	s.size += n
	return nil
}

// unpack takes a tar of regular files with the names of a bundle, each once, and nothing else: no folder below, link, path or hole. An archive that ends without
// its two empty blocks was cut.
func (s *spool) unpack(from io.Reader) error {
	source := &zeroTail{r: from}
	archive := tar.NewReader(source)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return invalidTar("it cannot be read")
		}
		// tar -C FOLDER . names the folder itself and writes ./ before every file.
		name := strings.TrimPrefix(h.Name, "./")
		switch sparse := h.PAXRecords["GNU.sparse.major"] + h.PAXRecords["GNU.sparse.map"]; {
		case h.Typeflag == tar.TypeDir && name == "":
			continue
		case h.Typeflag != tar.TypeReg || sparse != "" || !slices.Contains(bundleFiles, name):
			return invalidTar("it holds something else than the files " + strings.Join(bundleFiles, ", "))
		case s.holds(name):
			return invalidTar("it holds " + name + " twice")
		}
		if err := s.add(name, archive); err != nil {
			if own := (*fs.PathError)(nil); errors.As(err, &own) || errors.As(err, new(*problem)) {
				return err // the disk's fault, or a refusal already
			}
			return invalidTar(name + " cannot be read to its end")
		}
	}
	rest, err := io.Copy(io.Discard, source)
	switch {
	case err != nil:
		return invalidTar("it cannot be read")
	case source.zeros < rest:
		return invalidTar("something stands behind its end")
	case source.zeros < 1024:
		return invalidTar("its end is missing")
	}
	return nil
}

func invalidTar(why string) error {
	return refused(http.StatusBadRequest, "invalid_bundle", "the archive is no bundle: %s", why)
}

func (s *spool) holds(name string) bool {
	_, ok := s.files[name]
	return ok
}

// Open implements fs.FS.
func (s *spool) Open(name string) (fs.File, error) {
	at, ok := s.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return spooled{io.NewSectionReader(s.file, at.from, at.size), name}, nil
}

// spooled is a file of a spool.
type spooled struct {
	*io.SectionReader
	name string
}

func (f spooled) Close() error               { return nil }
func (f spooled) Stat() (fs.FileInfo, error) { return spooledInfo(f), nil }

type spooledInfo spooled

func (i spooledInfo) Name() string       { return i.name }
func (i spooledInfo) Size() int64        { return i.SectionReader.Size() }
func (i spooledInfo) Mode() fs.FileMode  { return 0o400 }
func (i spooledInfo) ModTime() time.Time { return time.Time{} }
func (i spooledInfo) IsDir() bool        { return false }
func (i spooledInfo) Sys() any           { return nil }

// zeroTail counts the zero bytes at the end of what was read.
type zeroTail struct {
	r     io.Reader
	zeros int64
}

func (z *zeroTail) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	tail := int64(0)
	for i := n - 1; i >= 0 && p[i] == 0; i-- {
		tail++
	}
	if tail == int64(n) {
		tail += z.zeros
	}
	z.zeros = tail
	return n, err
}
