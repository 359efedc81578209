package dataset

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sayso/facts"
)

//go:embed all:template
var template embed.FS

// Init fills an empty or absent folder with a commented example that lints clean: one namespace, one area and one topic with one figure, which says
// that it was converted and not re-read. A folder in which Init has been run is left as it is; any other content is refused. The example's
// confirmation is dated with the day on which its value begins, or today when that is earlier: the changelog never goes back, and what is imported next
// may be a snapshot of an earlier day than today.
func Init(dir string, today facts.Date) (files []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == ".git" || strings.HasPrefix(e.Name(), tempPrefix) })
	want, err := templateFiles()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(want))
	for i := range want {
		names[i] = want[i].name
	}
	if len(entries) > 0 {
		if initialised(dir, names) {
			return names, nil
		}
		return nil, &Error{Kind: Refused, Message: "the folder is not empty", Next: "name a new folder"}
	}
	disk := diskStore{dir}
	for _, f := range want {
		if err := disk.write(f.name, f.data); err != nil {
			return nil, err
		}
	}
	folder, r := Load(os.DirFS(dir))
	if r.Failed() {
		return nil, &FolderError{r}
	}
	begins := folder.Topics[0].Facts[0].Values[0].From
	w := &work{disk, os.DirFS(dir), folder}
	_, err = w.convert(ConvertOptions{All: true, Date: min(begins, today), Today: today})
	return names, err
}

// templateFiles is the example; publisher.yaml stands last, because without it no command takes the folder for a dataset.
func templateFiles() ([]fileEdit, error) {
	root, err := fs.Sub(template, "template")
	if err != nil {
		return nil, err
	}
	var files []fileEdit
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		files = append(files, fileEdit{name, data})
		return err
	})
	slices.SortStableFunc(files, func(a, b fileEdit) int {
		switch {
		case a.name == publisherFile:
			return 1
		case b.name == publisherFile:
			return -1
		}
		return strings.Compare(a.name, b.name)
	})
	return files, err
}

// initialised reports whether a folder is an example that Init made, changed or not: all its files are there and it loads.
func initialised(dir string, names []string) bool {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return false
		}
	}
	_, err := os.Stat(filepath.Join(dir, confirmationsFile))
	return err == nil
}
