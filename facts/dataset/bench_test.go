package dataset_test

import (
	"fmt"
	"strings"
	"testing"

	"sayso/facts/dataset"
)

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
