package bundle_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
)

// What Lint keeps does not grow with what records hold: long titles are kept as hashes, and aliases up to a number.
func TestLintKeepsABoundedAmount(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	kept := func(records, aliases, title int) uint64 {
		before, during := heap(), uint64(0)
		bundle.Lint(&business.Profile{ContentLanguages: []string{"en"}}, nil, func(yield func(*business.Record) bool) {
			for i := range records {
				r := &business.Record{Type: "item", ID: fmt.Sprint(i), Title: fmt.Sprint(i, strings.Repeat("t", title))}
				for n := range aliases {
					r.Aliases = append(r.Aliases, fmt.Sprintf("another name %d of %d", n, i))
				}
				if !yield(r) {
					return
				}
			}
			during = heap()
		})
		return during - min(before, during)
	}
	if few, many := kept(200, 3000, 1), kept(400, 3000, 1); many > few+few/2 {
		t.Errorf("600,000 aliases keep %d bytes, 1,200,000 keep %d", few, many)
	}
	if short, long := kept(2000, 0, 1), kept(2000, 0, 20_000); long > 4*short+1<<20 {
		t.Errorf("short titles keep %d bytes, long ones %d", short, long)
	}
}

// The hashes name the same pairs as the texts did.
func TestLintFindsAnAliasBeforeAndAfterItsTitle(t *testing.T) {
	long := strings.Repeat("ü", 500)
	found := bundle.Lint(&business.Profile{ContentLanguages: []string{"en"}}, nil, func(yield func(*business.Record) bool) {
		for _, r := range []*business.Record{
			{Type: "item", ID: "1", Title: "One", Aliases: []string{"  TWO ", "One"}},
			{Type: "item", ID: "2", Title: "Two", Aliases: []string{"one", long}},
			{Type: "item", ID: "3", Title: strings.ToUpper(long)},
		} {
			if !yield(r) {
				return
			}
		}
	})
	var fields []string
	for _, p := range found {
		if p.Rule == "XB-45" {
			fields = append(fields, p.Field)
		}
	}
	if got := strings.Join(fields, " "); got != "item/1 item/2 item/2" {
		t.Errorf("%s", got)
	}
}
