package main

import (
	"io"
	"strings"
	"testing"
)

const config = `{"config":{"go_version":"go1.26.8"}}`

func finding(module, function string) string {
	return `{"finding":{"osv":"GO-1","fixed_version":"v1.2.3","trace":[{"module":"` + module + `","package":"p","function":"` + function + `"}]}}`
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, stream   string
		ours, standard int
		fails          bool
	}{
		{"nothing called", config + finding("example.org/m", ""), 0, 0, false},
		{"standard library", config + finding("stdlib", "F") + finding("stdlib", "F"), 0, 1, false},
		{"a dependency", config + finding("example.org/m", "F"), 1, 0, false},
		{"no run at all", "", 0, 0, true},
		{"cut off", config + `{"finding":`, 0, 0, true},
	} {
		ours, standard, err := read(strings.NewReader(c.stream), io.Discard)
		if len(ours) != c.ours || len(standard) != c.standard || (err != nil) != c.fails {
			t.Errorf("%s: got %d, %d, %v", c.name, len(ours), len(standard), err)
		}
	}
}
