package profile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sayso/gidp"
)

func TestShippedProfiles(t *testing.T) {
	want := map[string][]string{ // minimum claims
		Core:                            nil,
		"sayso/corporate-transaction/1": {"sector", "geography", "enterprise_value_eur"},
		"sayso/executive-succession/1":  {"role", "geography"},
		"sayso/partnership/1":           {gidp.Provides, gidp.Requires},
		"sayso/co-investment/1":         {"sector", "ticket_eur"},
	}
	if got := Shipped().IDs(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Fatalf("shipped: %q", got)
	}
	for id, minimum := range want {
		p, _ := Shipped().Profile(id)
		r := p.Rules()
		if r.ID != id || !slices.Equal(r.Minimum, minimum) {
			t.Errorf("%s: minimum claims %q, want %q", id, r.Minimum, minimum)
		}
		for _, key := range []string{"domain", "geography", "transaction_value"} {
			if _, ok := r.Keys[key]; !ok {
				t.Errorf("%s has no %s", id, key)
			}
		}
		if r.Keys["transaction_value"].Partition != nil {
			t.Errorf("%s: transaction_value has cells, so it would not answer as core does", id)
		}
		for name, k := range p.Keys {
			if k.Identifying && k.Default.Surface > gidp.InSession || k.Type == Integer && name != "transaction_value" && (r.Keys[name].Partition == nil || k.Default != gidp.EvaluationOnly) {
				t.Errorf("%s: %s is proposed as %s, or has no cells", id, name, k.Default)
			}
		}
	}
	identities := map[string]string{"organisation_name": "sayso/corporate-transaction/1", "registration_id": "sayso/corporate-transaction/1", "person_name": "sayso/executive-succession/1"}
	for key, id := range identities {
		if p, _ := Shipped().Profile(id); !p.Rules().Identifying(key) {
			t.Errorf("%s does not identify under %s", key, id)
		}
	}
	corporate, _ := Shipped().Profile("sayso/corporate-transaction/1")
	executive, _ := Shipped().Profile("sayso/executive-succession/1")
	if a, b := corporate.Rules().Keys["arr_eur"], executive.Rules().Keys["company_arr_eur"]; a.Quantity != b.Quantity || !slices.Equal(a.Partition.Edges, b.Partition.Edges) {
		t.Error("one quantity has two partitions (Q-5)")
	}
}

func TestShippedHierarchies(t *testing.T) {
	s := Shipped()
	if got := s.Hierarchies(); !slices.Equal(got, []string{"domain/1", "geography/1"}) {
		t.Fatalf("shipped: %q", got)
	}
	places, _ := s.Hierarchy("geography/1")
	for _, chain := range [][]string{{"europe", "germany", "munich"}, {"europe", "germany", "berlin"}, {"europe", "france", "paris"}, {"europe", "spain", "madrid"}, {"europe", "united_kingdom", "london"}, {"south_america", "brazil", "sao_paulo"}} {
		for i := 1; i < len(chain); i++ {
			if got := places.Container(chain[i]); got != chain[i-1] {
				t.Errorf("%s lies in %q, want %q", chain[i], got, chain[i-1])
			}
		}
	}
	// ISO 3166-1 assigns 249 codes. Every country has one, and nothing else: continents contain countries, countries contain cities.
	codes := map[string]bool{}
	for _, label := range places.Labels() {
		code, container := places.Code(label), places.Container(label)
		country := container != "" && places.Container(container) == ""
		if country != (code != "") || code != "" && (len(code) != 2 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
			t.Errorf("%s in %q has the code %q", label, container, code)
		}
		if code != "" {
			codes[code] = true
		}
	}
	if len(codes) != 249 || len(places.Roots()) != 7 || places.Code("germany") != "DE" {
		t.Errorf("%d codes, %d continents", len(codes), len(places.Roots()))
	}
	domains, _ := s.Hierarchy("domain/1")
	branches := map[string]bool{}
	for _, label := range []string{"enterprise_software", "biotechnology", "coal_mining"} {
		root := label
		for domains.Container(root) != "" {
			root = domains.Container(root)
		}
		branches[root] = true
		if !domains.Tree.Has(label) {
			t.Errorf("no %s", label)
		}
	}
	if len(branches) != 3 {
		t.Errorf("they stand on %d branches: %v", len(branches), branches)
	}
	for _, id := range s.Hierarchies() {
		if h, _ := s.Hierarchy(id); h.Origin == "" || h.Licence == "" {
			t.Errorf("%s does not say where it comes from", id)
		}
	}
}

// Horizontality: the core, the interests and the sessions name no domain. What a profile calls its keys, codes, partitions and labels stands in no string of
// their code.
func TestHorizontality(t *testing.T) {
	names := map[string]string{}
	core, _ := Shipped().Profile(Core)
	for _, id := range Shipped().IDs() {
		p, _ := Shipped().Profile(id)
		if id != Core {
			names[id] = "a profile"
		}
		for key := range p.Keys {
			names[key] = "a key of " + id
		}
		for key := range p.Partitions {
			names[key] = "a partition of " + id
		}
		for _, code := range slices.Concat(p.Purposes, p.Structures) {
			names[code] = "a code of " + id
		}
	}
	for _, id := range Shipped().Hierarchies() {
		names[id] = "a hierarchy"
		h, _ := Shipped().Hierarchy(id)
		for _, label := range h.Roots() {
			names[label] = "a label of " + id
		}
	}
	if core == nil || len(names) < 60 {
		t.Fatalf("only %d names: the search would find nothing", len(names))
	}
	// The members domains and geographies of a projection are filled from these two keys of core.
	own := []string{"geography", "domain"}
	files, strs := 0, 0
	for _, dir := range []string{"..", "../wire", "../interest", "../session"} {
		found, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
			if err != nil {
				t.Fatal(err)
			}
			files++
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				strs++
				text, _ := strconv.Unquote(lit.Value)
				if what := names[text]; what != "" && !slices.Contains(own, text) {
					t.Errorf("%s says %q, which is %s", name, text, what)
				}
				if strings.Contains(text, "sayso/") && !strings.HasPrefix(text, "sayso/gidp") && text != "sayso/jcs" && text != "sayso/report" {
					t.Errorf("%s says %q", name, text)
				}
				return true
			})
		}
	}
	if files < 20 || strs < 200 {
		t.Fatalf("%d files and %d strings were looked at", files, strs)
	}
}
