package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset"
)

// Prefix begins the key ids of the sample publisher.
const Prefix = "sample"

// Name is the name of the sample publisher: nobody may take it for an authority.
const Name = "Sample figures (not an authority)"

// Prepare makes the folder of the sample publisher from sample folders, or brings the one that is there up to date, and signs what is not signed for this
// origin. Names are the folders of samples to join, in order.
func Prepare(samples fs.FS, names []string, folder, origin string, key *Key, today facts.Date) (*dataset.SignResult, error) {
	_, err := os.Stat(filepath.Join(folder, "publisher.yaml"))
	switch {
	case err == nil:
		err = move(folder, origin)
	case errors.Is(err, fs.ErrNotExist):
		err = create(samples, names, folder, origin, today)
	}
	if err != nil {
		return nil, err
	}
	return dataset.Sign(folder, dataset.SignOptions{Key: key.PrivateKey, Today: today})
}

// create writes the joined folder beside its place and renames it, so that it is there whole or not at all.
func create(samples fs.FS, names []string, folder, origin string, today facts.Date) error {
	parts := make([]*facts.Dataset, len(names))
	var licences []string
	for i, name := range names {
		sub, err := fs.Sub(samples, name)
		if err != nil {
			return err
		}
		if parts[i], _, err = dataset.Open(sub, today, dataset.DatasetOptions{Level: "L1"}); err != nil {
			return fmt.Errorf("sample %s: %w", name, err)
		}
		if licence := parts[i].Licence; licence != "" {
			licences = append(licences, path.Base(name)+": "+licence)
		}
	}
	joined, err := dataset.Join(facts.Publisher{Name: Name, URL: origin}, parts...)
	if err != nil {
		return fmt.Errorf("the samples do not fit together: %w", err)
	}
	joined.Licence = strings.Join(licences, " ")
	temporary, err := os.MkdirTemp(filepath.Dir(folder), ".facts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if err := write(temporary, samples, names, joined); err != nil {
		return err
	}
	return os.Rename(temporary, folder)
}

// write fills a folder with the joined dataset. The topic files are the samples' own.
func write(dir string, samples fs.FS, names []string, joined *facts.Dataset) error {
	files := map[string][]byte{"publisher.yaml": appendPublisher(nil, joined)}
	var changes, confirmations []byte
	for i := range joined.Changes {
		changes = append(joined.Changes[i].AppendCanonical(changes), '\n')
	}
	for _, name := range names {
		text, err := fs.ReadFile(samples, path.Join(name, "confirmations.jsonl"))
		if err != nil {
			return err
		}
		confirmations = append(confirmations, text...)
		if err := takeFiles(files, samples, name); err != nil {
			return err
		}
	}
	files["confirmations.jsonl"], files["changelog.jsonl"] = confirmations, changes
	for name, text := range files {
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o755)
}

// takeFiles adds a sample's topic files and licence texts as they are.
func takeFiles(files map[string][]byte, samples fs.FS, name string) error {
	return fs.WalkDir(samples, name, func(file string, d fs.DirEntry, err error) error {
		target := strings.TrimPrefix(file, name+"/")
		if err != nil || d.IsDir() || !strings.HasPrefix(target, "topics/") && !strings.HasPrefix(target, "LICENCE") {
			return err
		}
		if files[target] != nil {
			return fmt.Errorf("two samples have a file %s", target)
		}
		files[target], err = fs.ReadFile(samples, file)
		return err
	})
}

// appendPublisher writes publisher.yaml. A JSON string is a YAML string, so every text is quoted as one.
func appendPublisher(dst []byte, ds *facts.Dataset) []byte {
	line := func(format string, args ...any) { dst = append(fmt.Appendf(dst, format, args...), '\n') }
	line("# Made from the sample folders that come with the program. The figures were converted from public tables and not re-read at their sources.")
	line("format: %s", dataset.Format)
	line("publisher: {name: %s, url: %s}", quote(ds.Publisher.Name), quote(ds.Publisher.URL))
	line("kidPrefix: %s", Prefix)
	line("licence: %s", quote(ds.Licence))
	line("examples: %s", list(ds.Examples))
	line("namespaces:")
	for _, n := range ds.Namespaces {
		line("  - name: %s", n.Name)
		line("    description: %s", quote(n.Description))
		line("    periods: %s", n.Calendar)
		line("    authorities: %s", list(n.Authorities))
	}
	line("areas:")
	for _, a := range ds.Areas {
		line("  - name: %s", a.Name)
		line("    namespace: %s", a.Namespace)
		line("    description: %s", quote(a.Description))
		line("    cadence: %s", quote(a.Cadence))
		line("    cadenceType: %s", a.CadenceType)
		if a.EveryDays > 0 {
			line("    everyDays: %d", a.EveryDays)
			line("    graceDays: %d", a.GraceDays)
		}
	}
	if len(ds.StopWords)+len(ds.JurisdictionWords) == 0 {
		return dst
	}
	line("resolve:")
	line("  stopWords: %s", list(ds.StopWords))
	if len(ds.JurisdictionWords) > 0 {
		line("  jurisdictionWords:")
	}
	for _, phrase := range slices.Sorted(maps.Keys(ds.JurisdictionWords)) {
		line("    %s: %s", quote(phrase), quote(ds.JurisdictionWords[phrase]))
	}
	return dst
}

func quote(text string) string { return string(facts.StringValue(text)) }

func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// move gives the publisher of an existing folder the origin it is served at now. What else stands in the folder is the user's.
func move(folder, origin string) error {
	loaded, _ := dataset.Load(os.DirFS(folder))
	old := loaded.Publisher.URL
	if old == origin {
		return nil
	}
	name := filepath.Join(folder, "publisher.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	place := []byte("url: " + quote(old) + "}")
	if old == "" || bytes.Count(text, place) != 1 {
		return fmt.Errorf("%s no longer names its publisher as the demonstration wrote it: set publisher.url to %s by hand, or choose another folder with --data", name, origin)
	}
	temporary := filepath.Join(folder, ".publisher.yaml")
	if err := os.WriteFile(temporary, bytes.Replace(text, place, []byte("url: "+quote(origin)+"}"), 1), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}
