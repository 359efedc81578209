package answer

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sayso/business"
)

// heldBytes is what the heap holds after everything that is not reachable is gone.
func heldBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestSizeIsWhatIsHeld compares the estimate with the heap, for records that are nothing but a title, that state much, that hold long text, and that hold
// values for each location. A bound made of the estimate is then a bound on memory.
func TestSizeIsWhatIsHeld(t *testing.T) {
	var scoped, declared []string
	for k := range 20 {
		scoped = append(scoped, fmt.Sprintf(`"s%d":{"a":1,"b":2,"c":3}`, k))
		declared = append(declared, fmt.Sprintf(`"s%d":{"kind":"count","scoped_by":"location"}`, k))
	}
	schema := []byte(`{"attributes":{` + strings.Join(declared, ",") + `}}`)
	for name, members := range map[string]string{
		"title":    "",
		"rich":     `,"summary":"One of the things that are sold here, and it is a good one","aliases":["steel %d","oak table %d"],"attributes":{"price":30.50,"currency":"GBP","colour":"red"}`,
		"text":     `,"content":"` + strings.Repeat("some long text here. ", 100) + `"`,
		"location": `,"attributes":{` + strings.Join(scoped, ",") + `}`,
		"links":    `,"links":[{"rel":"requires","type":"product","id":"r0"},{"rel":"part_of","type":"product","id":"r%d"}]`,
	} {
		for _, languages := range [][]string{{"en"}, {"en", "de", "es", "fr"}} {
			for _, n := range []int{10, 1000} {
				var kept []*Compiled
				var size int64
				before := heldBytes()
				for range max(1, 500/n) {
					records := make([]business.Record, n)
					for i := range records {
						text := fmt.Sprintf(`{"id":"r%d","type":"product","title":"Cordless drill %d %x"`, i, i, i*7919) + strings.ReplaceAll(members, "%d", fmt.Sprint(i)) + "}"
						if err := business.Decode([]byte(text), &records[i]); err != nil {
							t.Fatal(err)
						}
					}
					p := &business.Publication{Slug: "shop", Schema: schema, Profile: business.Profile{DisplayName: "Shop", ContentLanguages: languages}}
					c, err := Compile(Snapshot{Publication: p, Records: records, Site: business.Site{Origin: "https://registry.example"}})
					if err != nil {
						t.Fatal(err)
					}
					kept, size = append(kept, c), size+c.Size()
				}
				held := heldBytes() - before
				if ratio := float64(size) / float64(held); ratio < 0.75 || ratio > 2 {
					t.Errorf("%s, %d languages, %d records: the estimate is %.2f of %d bytes", name, len(languages), n, ratio, held)
				}
				runtime.KeepAlive(kept)
			}
		}
	}
}

func TestGrammarIsNotVocabulary(t *testing.T) {
	c, err := Compile(Snapshot{Publication: &business.Publication{Slug: "shop", Profile: business.Profile{DisplayName: "Shop", ContentLanguages: []string{"en", "de"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"sell": true, "offer": true, "which": true, "branch": true, "Filiale": true, "hearing": false, "aids": false, "hearing aids": false, "": false} {
		if c.Grammar(word) != want {
			t.Errorf("Grammar(%q) is %t", word, !want)
		}
	}
}
