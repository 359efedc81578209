package bundle_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"sayso/business/bundle"
)

// catalogue makes a file of n records of about 300 bytes as it is read.
func catalogue(n int) io.Reader {
	i := 0
	return &generator{line: func() string {
		if i++; i > n {
			return ""
		}
		return fmt.Sprintf(`{"id":"sku-%06d","type":"product","title":"Cordless drill %d V","summary":"A drill with two batteries and a case, number %d of the catalogue.","aliases":["drill %d","driver %d"],"attributes":{"price":%d.50,"stock":{"northgate":%d,"harbour":0},"balcony":false,"note":"in a case"},"updated_at":"2026-01-02T03:04:05Z"}`+"\n", i, i, i, i, i, i%500, i%40)
	}}
}

func BenchmarkRecords(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			file, err := io.ReadAll(catalogue(n))
			if err != nil {
				b.Fatal(err)
			}
			o := options(b)
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				count := 0
				for rec, p := range bundle.Records(bytes.NewReader(file), "r.jsonl", bundle.JSONL, o) {
					if p != nil || rec == nil {
						b.Fatal(p)
					}
					count++
				}
				if count != n {
					b.Fatal(count)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
		})
	}
}

// Reading a large file holds one record and a hash for each: memory does not grow with the bytes of the file.
func TestMemoryIsBounded(t *testing.T) {
	o := options(t)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	count, most := 0, uint64(0)
	for _, p := range bundle.Records(catalogue(60_000), "r.jsonl", bundle.JSONL, o) {
		if p != nil {
			t.Fatal(p)
		}
		if count++; count%20_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&during)
			most = max(most, during.HeapAlloc)
		}
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 10<<20 {
		t.Errorf("reading %d records of 18 MB holds %d bytes", count, grown)
	}
}
