package examples_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/business/hours"
	"sayso/examples"
	"sayso/jcs"
)

var update = flag.Bool("update", false, "write the bundles of examples/business anew from their source")

// The bundles are what the conversion makes of the source, byte for byte.
func TestBusinessBundlesAreTheConvertedSource(t *testing.T) {
	want := map[string][]byte{}
	for slug, b := range convert(t) {
		for name, text := range b {
			want[slug+"/"+name] = text
		}
	}
	if *update {
		for name, text := range want {
			target := filepath.Join("business", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(target, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	err := fs.WalkDir(examples.Business, "business", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) == ".md" || strings.HasPrefix(d.Name(), "LICENCE") {
			return err
		}
		key := strings.TrimPrefix(name, "business/")
		got, err := fs.ReadFile(examples.Business, name)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want[key]) {
			t.Errorf("%s is not what the source gives: run go test ./examples -update, and look at the difference", name)
		}
		delete(want, key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

// Every sample is read without a problem, and lint says of it what is known.
func TestBusinessBundlesImportClean(t *testing.T) {
	handlers := map[string]bool{}
	forms := map[bundle.Format]bool{}
	for slug, want := range map[string]struct {
		records, locations int
		lint               string
	}{
		"brightwater-opticians": {6, 1, "XB-43 XB-44"},
		"marina-dental":         {6, 1, "XB-43 XB-44"},
		"hotel-alpenblick":      {4, 1, "XB-43 XB-44"},
		"hammer-and-nail":       {5, 3, ""},
		"kessler-garage":        {5, 1, "XB-43 XB-44"},
		"open-stores":           {21, 1565, "XB-42*101 XB-43"},
		"weekly-markets":        {0, 761, "XB-42*77 XB-47*2"},
	} {
		p, s, records := load(t, slug, forms)
		if len(records) != want.records || len(p.Locations) != want.locations || !p.Locations[0].Primary {
			t.Errorf("%s: %d records at %d locations", slug, len(records), len(p.Locations))
		}
		if got := summary(bundle.Lint(p, s, slices.Values(records))); got != want.lint {
			t.Errorf("%s: lint says %q, want %q", slug, got, want.lint)
		}
		for _, tool := range p.Tools {
			handlers[tool.Handler] = true
		}
		if !slices.ContainsFunc(p.Tools, func(t business.Tool) bool { return t.Handler == "knowledge.search" }) {
			t.Errorf("%s does not enable knowledge.search", slug)
		}
	}
	for _, h := range business.Handlers {
		if !handlers[h] {
			t.Errorf("no sample enables %s", h)
		}
	}
	if len(forms) != 3 {
		t.Errorf("forms %v, want all three", forms)
	}
}

// load reads a sample as an import does.
func load(t *testing.T, slug string, forms map[bundle.Format]bool) (*business.Profile, *business.Schema, []*business.Record) {
	t.Helper()
	clean := func(problems []bundle.Problem) {
		if len(problems) > 0 {
			t.Fatalf("%s: %+v", slug, problems)
		}
	}
	file := func(name string) []byte {
		data, err := fs.ReadFile(examples.Business, "business/"+slug+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	p, problems := bundle.Profile(file("publisher.json"), "publisher.json")
	clean(problems)
	s, problems := bundle.Schema(file("schema.json"), "schema.json")
	clean(problems)
	clean(bundle.CheckProfile(p, s, "publisher.json"))
	o := bundle.Options{Publisher: slug, Schema: s, Locations: []string{}}
	for _, l := range p.Locations {
		o.Locations = append(o.Locations, l.ID)
	}
	names, err := fs.Glob(examples.Business, "business/"+slug+"/records.*")
	if err != nil || len(names) > 1 {
		t.Fatal(names, err)
	}
	var records []*business.Record
	for _, name := range names {
		form, _ := bundle.FormatOf(name)
		forms[form] = true
		for rec, problem := range bundle.Records(bytes.NewReader(file(path.Base(name))), path.Base(name), form, o) {
			if problem != nil {
				clean([]bundle.Problem{*problem})
			}
			records = append(records, rec)
		}
	}
	return p, s, records
}

// summary counts problems by rule.
func summary(problems []bundle.Problem) string {
	count := map[string]int{}
	var order []string
	for _, p := range problems {
		if count[p.Rule]++; count[p.Rule] == 1 {
			order = append(order, p.Rule)
		}
	}
	slices.Sort(order)
	for i, rule := range order {
		if n := count[rule]; rule == "XB-42" || rule == "XB-47" {
			order[i] = fmt.Sprintf("%s*%d", rule, n)
		}
	}
	return strings.Join(order, " ")
}

// What the conversion left out is what the READMEs say.
func TestReadmesCountWhatWasRefused(t *testing.T) {
	_, storeHours := stores(t)
	if len(storeHours) != 65 {
		t.Errorf("%d distinct strings of hours, want 65", len(storeHours))
	}
	for _, value := range storeHours {
		if _, _, err := hours.Parse(value); err == nil {
			t.Errorf("%q is understood: it must be taken over", value)
		}
	}
	_, m := markets(t)
	if len(m.refused) != 1 || m.unclassified != 2 {
		t.Errorf("%+v", m)
	}
	for slug, list := range map[string][]string{
		"open-stores":    {"all 65", "1,565", fmt.Sprintf("%d stores", zoned(t, "open-stores"))},
		"weekly-markets": {"`" + strings.Join(m.refused, "`, `") + "`", fmt.Sprintf("%d values", m.repaired), fmt.Sprintf("%d coordinates", m.texts), "761"},
	} {
		text, err := os.ReadFile("business/" + slug + "/README.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if !strings.Contains(string(text), s) {
				t.Errorf("the README of %s does not say %q", slug, s)
			}
		}
	}
}

func zoned(t *testing.T, slug string) (n int) {
	p, _, _ := load(t, slug, map[bundle.Format]bool{})
	for _, l := range p.Locations {
		if l.TimeZone != "" {
			n++
		}
	}
	return n
}

// convert makes every bundle: slug -> file -> text.
func convert(t *testing.T) map[string]map[string][]byte {
	out := notation(t)
	out["open-stores"], _ = stores(t)
	out["weekly-markets"], _ = markets(t)
	return out
}

func source(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("business", "source", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// lines decodes a file of JSON lines, numbers as they are written.
func lines[T any](t *testing.T, name string) (out []T) {
	t.Helper()
	for line := range bytes.Lines(source(t, name)) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// layout writes an object with a line for each member, and for each element of an array of objects.
func layout(t *testing.T, v any) []byte {
	t.Helper()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	list, err := business.Members(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i, m := range list {
		out.WriteString([]string{"{\n ", ",\n "}[min(i, 1)])
		out.Write(append(jcs.AppendString(nil, m.Name), ": "...))
		var elements []json.RawMessage
		if json.Unmarshal(m.Value, &elements) != nil || len(elements) == 0 || elements[0][0] != '{' {
			out.Write(m.Value)
			continue
		}
		for j, e := range elements {
			out.WriteString([]string{"[\n  ", ",\n  "}[min(j, 1)])
			out.Write(e)
		}
		out.WriteString("\n ]")
	}
	out.WriteString("\n}\n")
	return out.Bytes()
}

// tools enables handlers under names of their own.
func tools(handlers ...string) (out []business.Tool) {
	names := map[string]string{
		"knowledge.search": "search", "knowledge.get": "get", "knowledge.neighbors": "related", "branches.nearest": "nearest_branch",
		"live.query": "live", "live.nearest": "nearest_with", "hybrid.resolve": "resolve",
	}
	for _, h := range handlers {
		out = append(out, business.Tool{Name: names[h], Handler: h})
	}
	return out
}
