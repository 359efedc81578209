package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factstest"
	"sayso/internal/server"
	"sayso/internal/web"
)

// measureBuild compares the way from loaded values to signed records in memory with hashing and signing as many bytes, and times the commands with their
// files beside it.
func measureBuild(r *report, p *plan) error {
	r.title("Values to signed records in memory, over all cores; baseline: SHA-256 and Ed25519 signing of as many records of as many bytes over all cores")
	var rows []string
	var lines []line
	var times []time.Duration
	for _, n := range p.build {
		both, bytes, err := buildAt(n, p)
		if err != nil {
			return err
		}
		ours := median(both.ours)
		times = append(times, ours)
		rows = append(rows, fmt.Sprintf("%d|%d|%s|%s|%.3f", n, bytes, ms(ours), ms(median(both.theirs)), both.ratio()))
		lines = append(lines, line{name: fmt.Sprintf("facts-build/%d", n), ratio: both.ratio(), bound: 3})
	}
	r.table("facts|bytes|ours ms|baseline ms|ratio", rows...)
	r.growth("the time", p.build, times)
	for _, l := range lines {
		r.bound(l)
	}
	return measureCommands(r, p)
}

// buildAt measures one size and returns how many bytes both sides sign.
func buildAt(n int, p *plan) (both pair, bytes int, err error) {
	ds := generated(n)
	records, err := signedRecords(ds)
	if err != nil {
		return both, 0, err
	}
	if len(records) != n {
		return both, 0, fmt.Errorf("%d records of %d facts", len(records), n)
	}
	for _, record := range records {
		bytes += len(record)
	}
	if err := signedBy(records[n/2], facts.KeysOf(ds.Keys)); err != nil {
		return both, 0, err
	}
	both, err = alternate(p.rounds, func() (time.Duration, error) {
		begin := time.Now()
		_, err := signedRecords(ds)
		return time.Since(begin), err
	}, func() (time.Duration, error) {
		begin := time.Now()
		hashAndSign(records)
		return time.Since(begin), nil
	})
	return both, bytes, err
}

// signedRecords signs every value of a dataset and returns the record of every fact in bytes of its own.
func signedRecords(ds *facts.Dataset) ([][]byte, error) {
	dataset.SignDataset(ds, factstest.Key(), keyFrom)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Static: true, Conformance: "L3", SignaturesVerified: true})
	if err != nil {
		return nil, err
	}
	records := make([][]byte, 0, s.Len())
	for i := range ds.Facts {
		f := &ds.Facts[i]
		a, err := s.Get(f.Key, facts.Selection{MaxAge: facts.NoMaxAge, AsOf: f.Values[0].From}, factstest.Today)
		if err != nil {
			return nil, err
		}
		if a.Outcome != facts.OutcomeRecord {
			return nil, fmt.Errorf("%s has no record on the first day of its value", f.Key)
		}
		records = append(records, a.AppendJSON(nil))
	}
	return records, nil
}

// signedBy reports whether hash and signature of a record hold.
func signedBy(record []byte, keys facts.KeySource) error {
	parsed, err := facts.ParseRecord(record)
	if err != nil {
		return err
	}
	if v := facts.Verify(parsed, facts.VerifyOptions{Keys: keys}); v.Hash.Value != facts.PartValid || v.Signature.Value != facts.PartValid {
		return fmt.Errorf("a record that was built does not verify: %+v", v)
	}
	return nil
}

func hashAndSign(records [][]byte) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	cores := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for c := range cores {
		group.Go(func() {
			for i := c; i < len(records); i += cores {
				sha256.Sum256(records[i])
				ed25519.Sign(private, records[i])
			}
		})
	}
	group.Wait()
}

// measureCommands times what the commands do on a folder of generated figures: confirm as converted, sign, build the site, and the start of a server.
func measureCommands(r *report, p *plan) error {
	r.title("The commands with their files, each once: facts confirm --converted --all, sign, build (JSON and HTML), and the start of a server from the folder")
	var rows []string
	for _, n := range p.command {
		row, err := commandsAt(n)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	r.table("facts|confirm ms|sign ms|build ms|files|MB|start ms", rows...)
	return nil
}

func commandsAt(n int) (row string, err error) {
	temp, err := os.MkdirTemp("", "sayso-bench-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "folder")
	if err := writeFolder(dir, generated(n)); err != nil {
		return "", err
	}
	today := factstest.Today
	begin := time.Now()
	lap := func() string { took := time.Since(begin); begin = time.Now(); return ms(took) }
	if _, err := dataset.ConfirmConverted(dir, dataset.ConvertOptions{All: true, Date: today, Today: today}); err != nil {
		return "", err
	}
	confirm := lap()
	if _, err := dataset.Sign(dir, dataset.SignOptions{Key: factstest.Key(), Today: today}); err != nil {
		return "", err
	}
	sign := lap()
	folder, _ := dataset.Load(os.DirFS(dir))
	built, err := dataset.Build(context.Background(), folder, dataset.BuildOptions{Origin: factstest.Origin, Out: filepath.Join(temp, "site"), Today: today, Pages: web.Pages()})
	if err != nil {
		return "", err
	}
	build := lap()
	folder = nil
	runtime.GC()
	begin = time.Now()
	catalogue, err := server.OpenCatalogue(dir, factstest.Origin, func() time.Time { return today.Time() })
	if err != nil {
		return "", err
	}
	start := lap()
	if built.Keys != n || catalogue.Snapshot().Len() != n {
		return "", fmt.Errorf("of %d facts, %d were built and %d are served", n, built.Keys, catalogue.Snapshot().Len())
	}
	return fmt.Sprintf("%d|%s|%s|%s|%d|%d|%s", n, confirm, sign, build, built.Files, built.Bytes>>20, start), nil
}

// writeFolder writes a dataset as a publisher's folder whose figures nobody has confirmed yet.
func writeFolder(dir string, ds *facts.Dataset) error {
	topics := make([]dataset.Topic, len(ds.Topics))
	for i, t := range ds.Topics {
		topics[i] = dataset.Topic{Prefix: t.Prefix, Title: t.Title, Area: t.Area}
	}
	for i := range ds.Facts {
		f := &ds.Facts[i]
		fact := dataset.Fact{Key: f.Key, Label: f.Label, Unit: f.Values[0].Unit, Aliases: f.Aliases}
		for _, v := range f.Values {
			v.Verified, v.SourceType, v.Method = 0, dataset.SourceDerived, "Generated for measuring"
			fact.Values = append(fact.Values, dataset.Value{DatedValue: v})
		}
		t := &topics[f.Topic]
		t.Facts = append(t.Facts, fact)
	}
	if err := os.MkdirAll(filepath.Join(dir, "candidates"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "publisher.yaml"), publisherFile(ds), 0o644); err != nil {
		return err
	}
	for i := range topics {
		if len(topics[i].Facts) == 0 {
			continue
		}
		name := filepath.Join(dir, "candidates", fmt.Sprintf("%d.yaml", i))
		if err := os.WriteFile(name, dataset.AppendTopic(nil, &topics[i]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// publisherFile declares what a generated dataset declares; its texts need no quotes in YAML.
func publisherFile(ds *facts.Dataset) []byte {
	out := fmt.Appendf(nil, "format: sayso-dataset/1\npublisher: {name: %s, url: %q}\nkidPrefix: %s\nlicence: %s\nnamespaces:\n",
		ds.Publisher.Name, ds.Publisher.URL, ds.KidPrefix, ds.Licence)
	for _, n := range ds.Namespaces {
		out = fmt.Appendf(out, "  - {name: %s, description: %s, periods: %s, authorities: %s}\n", n.Name, n.Description, n.Calendar, n.Authorities)
	}
	out = append(out, "areas:\n"...)
	for _, a := range ds.Areas {
		out = fmt.Appendf(out, "  - {name: %s, namespace: %s, description: %s, cadence: %s, cadenceType: %s, everyDays: %d, graceDays: %d}\n",
			a.Name, a.Namespace, a.Description, a.Cadence, a.CadenceType, a.EveryDays, a.GraceDays)
	}
	return out
}
