package dataset_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factstest"
)

// benchSizes are the sizes of the scale benchmarks; SAYSO_BENCH_LARGE=1 adds the largest.
func benchSizes() []int {
	sizes := []int{100, 10_000}
	if os.Getenv("SAYSO_BENCH_LARGE") != "" {
		sizes = append(sizes, 100_000)
	}
	return sizes
}

// BenchmarkBuildSign goes from loaded values to signed record bytes in memory. Its baseline hashes and signs as many bytes on as many cores (F§15); both
// run alternating and the medians are compared.
func BenchmarkBuildSign(b *testing.B) {
	for _, n := range benchSizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ds := factstest.Generate(factstest.Options{Facts: n, Seed: 1, Unsigned: true})
			var ours, raw []time.Duration
			for range 5 {
				start := time.Now()
				records := signedRecords(b, ds)
				ours = append(ours, time.Since(start))
				start = time.Now()
				hashAndSign(records)
				raw = append(raw, time.Since(start))
			}
			slices.Sort(ours)
			slices.Sort(raw)
			ratio, word := float64(ours[2])/float64(raw[2]), "ok"
			if ratio > 3 {
				word = "short"
			}
			fmt.Printf("bench: facts-build/%d ratio=%.2f bound=3.00 %s\n", n, ratio, word)
			b.ReportMetric(float64(ours[2].Milliseconds()), "ms/build")
			for b.Loop() {
				signedRecords(b, ds)
			}
		})
	}
}

// signedRecords returns the signed record of every value, each in its own bytes.
func signedRecords(b *testing.B, ds *facts.Dataset) [][]byte {
	dataset.SignDataset(ds, factstest.Key(), factstest.Today-100)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Static: true, Conformance: "L3", SignaturesVerified: true})
	if err != nil {
		b.Fatal(err)
	}
	records := make([][]byte, 0, s.Len())
	for k := range s.Keys() {
		a, err := s.Get(k, facts.Selection{MaxAge: facts.NoMaxAge}, factstest.Today)
		if err != nil {
			b.Fatal(err)
		}
		records = append(records, a.AppendJSON(nil))
	}
	return records
}

func hashAndSign(records [][]byte) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	var group sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
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

// BenchmarkLoad reads a folder of one topic file per hundred facts.
func BenchmarkLoad(b *testing.B) {
	files := map[string]string{"publisher.yaml": read(b, "testdata/lint/base", "publisher.yaml")}
	for t := range 100 {
		var text strings.Builder
		fmt.Fprintf(&text, "topic: {prefix: zz/t%d, title: Topic, area: zz-rates}\nfacts:\n", t)
		for f := range 100 {
			fmt.Fprintf(&text, "  - key: figure-%d\n    label: Figure %d\n    unit: GBP/year\n    values:\n      - period: \"2026-27\"\n        value: %d\n        effectiveFrom: 2026-04-06\n"+
				"        effectiveTo: 2027-04-05\n        source: https://tax.example/rates\n        quote: It is %d.\n", f, f, f, f)
		}
		files[fmt.Sprintf("topics/t%d.yaml", t)] = text.String()
	}
	fsys := memory(files)
	for b.Loop() {
		if folder, r := dataset.Load(fsys); r.Failed() || len(folder.Topics) != 100 {
			b.Fatal(list(r, "fail"))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/10, "ms/1000facts")
}
