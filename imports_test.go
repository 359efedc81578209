// Package sayso_test holds what is true of the module as a whole: who may import whom.
package sayso_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "sayso"

// pkg is what one package may import besides the standard library. The table may name packages that are still to come.
type pkg struct {
	imports []string // packages of this module; a trailing /... covers everything below
	third   []string // third-party modules or packages
	pure    bool     // values in, values out: no clock, network, disk, log, database
}

// The layers, from the bottom. A name stands for every package in it.
var (
	foundations = []string{"jcs", "jwk", "jws", "safefetch", "translog", "report", "vectors"}
	// values are the foundations that a core may use: safefetch and translog would bring the network and a clock with them.
	values      = []string{"jcs", "jwk", "jws", "report"}
	factsAll    = []string{"facts", "facts/describe", "facts/dataset", "facts/importer", "facts/factshttp", "facts/factscheck"}
	businessAll = []string{"business", "business/answer", "business/answer/language", "business/coverage", "business/hours", "business/bundle", "business/bizhttp", "business/bizcheck"}
	gidpCore    = []string{"gidp", "gidp/wire", "gidp/interest", "gidp/session"}
	gidpAll     = []string{"gidp", "gidp/wire", "gidp/interest", "gidp/session", "gidp/profile", "gidp/provider", "gidp/httpsig", "gidp/mandate", "gidp/attestation", "gidp/gidpa2a", "gidp/providerhttp", "gidp/gidpcheck", "gidp/lab"}
	inner       = []string{"internal/app", "internal/agent", "internal/agent/...", "internal/vault", "internal/labout", "internal/proof", "internal/proof/...", "internal/buildinfo", "internal/keyfile", "internal/config"}
	adapters    = []string{"internal/store/...", "internal/mcpserve", "internal/web"}
)

func join(lists ...[]string) []string { return slices.Concat(lists...) }

var table = map[string]pkg{
	"jcs":       {third: []string{"github.com/go-json-experiment/json"}, pure: true},
	"jwk":       {imports: []string{"jcs"}, third: []string{"filippo.io/edwards25519", "filippo.io/age"}, pure: true},
	"jws":       {imports: []string{"jcs", "jwk"}, pure: true},
	"safefetch": {third: []string{"code.dny.dev/ssrf"}},
	"translog":  {third: []string{"golang.org/x/mod"}},
	"report":    {pure: true},
	// vectors reads its own embedded lines as strictly as everybody else's.
	"vectors": {imports: []string{"jcs"}},

	"facts":          {imports: values, third: []string{"golang.org/x/text"}, pure: true},
	"facts/describe": {imports: join(values, []string{"facts"}), pure: true},
	// factstest and resolvetest make catalogues for the tests and benchmarks of other packages.
	"facts/factstest":   {imports: join(values, []string{"facts"})},
	"facts/resolvetest": {imports: join(values, []string{"facts"})},

	// yamlx reads and edits YAML keeping the author's bytes; it knows no facts.
	"facts/dataset/yamlx": {imports: []string{"jcs"}, third: []string{"go.yaml.in/yaml/v3"}, pure: true},
	// dataset swaps folders in one system call and compares spellings in NFC.
	"facts/dataset":    {imports: join(foundations, []string{"facts", "facts/describe", "facts/dataset/yamlx"}), third: []string{"go.yaml.in/yaml/v3", "golang.org/x/sys", "golang.org/x/text"}},
	"facts/importer":   {imports: join(foundations, []string{"facts", "facts/describe", "facts/dataset", "facts/dataset/yamlx"}), third: []string{"go.yaml.in/yaml/v3"}},
	"facts/factshttp":  {imports: join(foundations, []string{"facts", "facts/describe"})},
	"facts/factscheck": {imports: join(foundations, []string{"facts", "facts/describe", "facts/factshttp"}), third: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},

	"business":        {imports: values, third: []string{"golang.org/x/text"}, pure: true},
	"business/answer": {imports: join(values, []string{"business", "business/answer/language", "business/coverage", "business/hours"}), pure: true},
	// language reads words, phrases and values; it knows no publisher.
	"business/answer/language": {imports: join(values, []string{"business", "business/coverage", "business/hours"}), third: []string{"golang.org/x/text"}, pure: true},
	// coverage is the form of an answer: its readers need nothing that finds one.
	"business/coverage": {imports: join(values, []string{"business"}), pure: true},
	// answertest makes questions with known answers over the samples, and judges what the engine says.
	"business/answer/answertest": {imports: join(values, []string{"business", "business/answer", "business/bundle", "business/coverage", "examples"})},
	"business/hours":             {imports: values, pure: true},
	// bundle reads and writes the forms a business imports and exports; it knows no clock and no disk.
	"business/bundle":   {imports: join(values, []string{"business", "business/hours"}), third: []string{"golang.org/x/text"}, pure: true},
	"business/bizhttp":  {imports: join(foundations, []string{"business", "business/answer", "business/coverage", "business/hours", "business/bundle"})},
	"business/bizcheck": {imports: join(foundations, []string{"business", "business/answer", "business/coverage", "business/hours", "business/bizhttp"})},

	"gidp/wire": {imports: values, pure: true},
	"gidp":      {imports: join(values, []string{"gidp/wire"}), pure: true},
	// interest holds the private values. session does not import it: what talks to a peer cannot hold them.
	"gidp/interest": {imports: join(values, []string{"gidp", "gidp/wire"}), pure: true},
	"gidp/session":  {imports: join(values, []string{"gidp", "gidp/wire"}), pure: true},
	"gidp/profile":  {imports: join(values, []string{"gidp", "gidp/wire"}), pure: true},
	// provider is an index in memory; what serves and keeps it brings clock, network and disk.
	"gidp/provider": {imports: join(values, []string{"gidp", "gidp/wire"}), pure: true},
	// httpsig and mandate are what a peer signs: requests, and the authority behind them.
	"gidp/httpsig":      {imports: values, pure: true},
	"gidp/attestation":  {imports: join(values, []string{"gidp"}), pure: true},
	"gidp/mandate":      {imports: join(values, []string{"gidp"}), pure: true},
	"gidp/gidpa2a":      {imports: join(foundations, gidpCore, []string{"gidp/profile", "gidp/httpsig", "gidp/mandate"}), third: []string{"github.com/a2aproject/a2a-go"}},
	"gidp/providerhttp": {imports: join(foundations, []string{"gidp", "gidp/wire", "gidp/profile", "gidp/provider", "gidp/httpsig", "gidp/attestation"})},
	"gidp/gidpcheck":    {imports: join(foundations, gidpCore, []string{"gidp/profile", "gidp/provider", "gidp/providerhttp", "gidp/httpsig", "gidp/mandate", "gidp/gidpa2a"})},
	// lab measures; what writes files and pictures stands above it.
	"gidp/lab": {imports: join(values, gidpCore, []string{"gidp/profile", "gidp/provider"}), pure: true},

	// buildinfo says which version runs and which protocol versions it speaks.
	"internal/buildinfo": {imports: []string{"facts", "business", "gidp"}},
	"internal/keyfile":   {imports: []string{"jcs", "jwk"}},
	"internal/config":    {imports: join(foundations, []string{"facts"}), third: []string{"github.com/pelletier/go-toml/v2"}},
	// proof asks the DNS and a web server whether somebody controls a host.
	"internal/proof": {imports: foundations, third: []string{"github.com/miekg/dns", "golang.org/x/net"}},
	"internal/app":   {imports: join(foundations, factsAll, businessAll, gidpAll, []string{"internal/keyfile", "internal/proof"})},
	// vault holds the private values of principals and the keys they are sealed with.
	"internal/vault": {imports: join(foundations, gidpCore, []string{"gidp/profile", "gidp/mandate", "gidp/attestation", "internal/keyfile"})},
	"internal/agent": {imports: join(foundations, gidpAll, []string{"internal/app", "internal/vault", "internal/keyfile", "internal/agent/durable"})},
	// durable is what an agent keeps, apart from it so that a store knows nothing of what is done with it.
	"internal/agent/durable": {imports: []string{"gidp"}},
	// interestfile reads the YAML that a principal writes.
	"internal/agent/interestfile": {imports: join(foundations, gidpCore, []string{"gidp/profile", "facts/dataset/yamlx"})},
	// labout writes what the lab measured: tables and pictures.
	"internal/labout": {imports: []string{"jcs", "gidp/lab"}, third: []string{"gonum.org/v1/plot"}},
	// apptest holds a store in memory and a registry over it, for the tests of other packages.
	"internal/app/apptest": {imports: join(foundations, businessAll, []string{"internal/app", "internal/keyfile", "internal/proof", "internal/store/storetest"})},
	"internal/store":       {imports: join(foundations, factsAll, businessAll, gidpAll, []string{"internal/app", "internal/agent/durable", "internal/store/..."}), third: []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5"}},
	"internal/mcpserve":    {imports: join(foundations, factsAll, businessAll, gidpAll, []string{"internal/app"}), third: []string{"github.com/modelcontextprotocol/go-sdk"}},
	"internal/web":         {imports: join(foundations, factsAll, businessAll, gidpAll, []string{"internal/app", "internal/agent"})},
	"internal/server":      {imports: join(foundations, factsAll, businessAll, gidpAll, inner, adapters), third: []string{"github.com/prometheus/client_golang"}},
	// examples holds embedded sample content and no code; demo joins it and walks through a running server.
	"examples":      {},
	"internal/demo": {imports: join(foundations, factsAll, businessAll, gidpAll, []string{"internal/agent", "internal/agent/...", "internal/keyfile", "internal/app", "internal/proof", "internal/proof/loopdns"})},
	"internal/cli":  {imports: join(foundations, factsAll, businessAll, gidpAll, inner, adapters, []string{"internal/server", "internal/demo", "examples"}), third: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/vbauerster/mpb/v8", "golang.org/x/term"}},
	"cmd/sayso":     {imports: []string{"internal/cli"}},
	// tools are programs of the build, not of the product: standard library only.
	"tools/...": {},
	// proof/loopdns is a scripted DNS server on loopback, for tests and for the demo.
	"internal/proof/...": {third: []string{"github.com/miekg/dns"}},
	// storetest is the contract of a store; the random part of it draws with rapid.
	"internal/store/storetest": {imports: join(foundations, businessAll, gidpAll, []string{"internal/app", "internal/agent/durable"}), third: []string{"pgregory.net/rapid"}},
	"internal/store/...":       {imports: join(foundations, factsAll, businessAll, gidpAll, []string{"internal/app", "internal/agent/durable", "internal/store", "internal/store/..."}), third: []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5"}},
}

// banned holds for pure packages, with the reason a reviewer would give.
var banned = map[string]string{
	"net/http":     "a core that speaks HTTP cannot run offline; transport belongs to the *http packages",
	"net":          "a core opens no connection; fetching belongs to safefetch",
	"os":           "a core reads no disk and no environment; values come in as parameters",
	"os/exec":      "a core starts no program",
	"log":          "a core returns what it found; the caller decides what is logged",
	"log/slog":     "a core returns what it found; the caller decides what is logged",
	"database/sql": "a core knows no store; the interfaces live in internal/app",
	"math/rand":    "randomness is a parameter, so that every result can be repeated",
	"math/rand/v2": "randomness is a parameter, so that every result can be repeated",
	"crypto/rand":  "randomness is a parameter, so that every result can be repeated",
}

// looseJSON are packages whose third-party SDK hands out encoding/json types, and tools that read what Go's own tools print; everybody else reads strictly.
var looseJSON = []string{"internal/mcpserve", "gidp/gidpa2a", "tools/..."}

// testOnly are the modules that tests may use beside those of their package.
var testOnly = []string{"pgregory.net/rapid", "github.com/rogpeppe/go-internal", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/net/html"}

// source is one parsed file.
type source struct {
	name, dir string
	test      bool
	file      *ast.File
}

func sources(t *testing.T) (*token.FileSet, []source) {
	t.Helper()
	fset := token.NewFileSet()
	var out []source
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules" || nested(root, name)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		out = append(out, source{name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), file: f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fset, out
}

// nested reports a folder that is a module of its own, such as test-only oracles.
func nested(root fs.FS, dir string) bool {
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil && dir != "."
}

func imports(s source) []string {
	var out []string
	for _, i := range s.file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		out = append(out, p)
	}
	return out
}

func entry(dir string) (pkg, bool) {
	if p, ok := table[dir]; ok {
		return p, true
	}
	for _, tree := range []string{"internal/store", "internal/proof", "tools"} {
		if strings.HasPrefix(dir, tree+"/") {
			return table[tree+"/..."], true
		}
	}
	return pkg{}, false
}

func covered(list []string, name string) bool {
	return slices.ContainsFunc(list, func(allowed string) bool {
		if below, ok := strings.CutSuffix(allowed, "/..."); ok {
			return name == below || strings.HasPrefix(name, below+"/")
		}
		return name == allowed
	})
}

// under reports whether an import path is a module or package of the list or lies below one.
func under(list []string, name string) bool {
	return slices.ContainsFunc(list, func(m string) bool { return name == m || strings.HasPrefix(name, m+"/") })
}

func thirdParty(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".")
}

func TestImportsPointDown(t *testing.T) {
	_, all := sources(t)
	for _, s := range all {
		if s.dir == "." {
			continue
		}
		p, ok := entry(s.dir)
		if !ok {
			t.Errorf("%s: package %s is not in the table of this test: add it with what it may import", s.name, s.dir)
			continue
		}
		for _, name := range imports(s) {
			for _, problem := range judge(s, p, name) {
				t.Errorf("%s imports %s: %s", s.name, name, problem)
			}
		}
	}
}

// judge says what is wrong with one import of one file.
func judge(s source, p pkg, name string) []string {
	var out []string
	local, isLocal := strings.CutPrefix(name, module+"/")
	switch {
	case isLocal && !s.test && !covered(p.imports, local):
		out = append(out, "imports point down only, protocols never import each other, foundations only jws -> jwk -> jcs")
	case thirdParty(name) && !under(p.third, name) && !(s.test && under(testOnly, name)):
		out = append(out, "this package may not use that module: each dependency has one home, so that it can be replaced there")
	case name == "encoding/json" && !s.test && !covered(looseJSON, s.dir):
		out = append(out, "encoding/json takes duplicate names, rounds numbers and replaces bad UTF-8 silently: use package jcs")
	}
	if why := banned[name]; why != "" && p.pure && !s.test {
		out = append(out, why)
	}
	return out
}

// A core takes the day as a parameter: time.Now and its kin would make the same input give two outputs.
func TestCoresHaveNoClock(t *testing.T) {
	fset, all := sources(t)
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	for _, s := range all {
		if p, ok := entry(s.dir); !ok || !p.pure || s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, sel.Sel.Name) {
				t.Errorf("%s: time.%s in a pure package: the clock is a parameter", fset.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

// Promoting a dependency into an exported signature binds every user of the library to it.
func TestPublicPackagesExposeNoThirdPartyType(t *testing.T) {
	fset, all := sources(t)
	for _, s := range all {
		if s.test || strings.HasPrefix(s.dir, "internal/") || strings.HasPrefix(s.dir, "cmd/") {
			continue
		}
		foreign := map[string]bool{}
		for _, i := range s.file.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			if thirdParty(name) {
				local := path.Base(name)
				if i.Name != nil {
					local = i.Name.Name
				}
				foreign[local] = true
			}
		}
		for _, d := range s.file.Decls {
			for _, n := range exported(d) {
				ast.Inspect(n, func(n ast.Node) bool {
					if sel, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := sel.X.(*ast.Ident); ok && foreign[x.Name] {
							t.Errorf("%s: %s.%s in an exported signature", fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
						}
					}
					return true
				})
			}
		}
	}
}

// exported returns the parts of a declaration that users of the package see.
func exported(d ast.Decl) []ast.Node {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && reachable(d.Recv) {
			return []ast.Node{d.Type}
		}
	case *ast.GenDecl:
		var out []ast.Node
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					out = append(out, visible(spec.Type))
				}
			case *ast.ValueSpec:
				if spec.Type != nil && slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) {
					out = append(out, spec.Type)
				}
			}
		}
		return out
	}
	return nil
}

// reachable reports whether users of the package can name the type of a receiver; a function has none.
func reachable(receiver *ast.FieldList) bool {
	if receiver == nil {
		return true
	}
	e := receiver.List[0].Type
	for {
		switch at := e.(type) {
		case *ast.StarExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.Ident:
			return at.IsExported()
		default:
			return true
		}
	}
}

// visible drops the unexported fields of a struct.
func visible(e ast.Expr) ast.Node {
	st, ok := e.(*ast.StructType)
	if !ok {
		return e
	}
	kept := &ast.FieldList{}
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			kept.List = append(kept.List, f)
		}
	}
	return &ast.StructType{Fields: kept}
}

func TestEveryPackageHasExactlyOneDoc(t *testing.T) {
	_, all := sources(t)
	docs := map[string][]string{}
	for _, s := range all {
		if s.test && s.dir != "." {
			if s.file.Doc != nil && strings.HasPrefix(s.file.Doc.Text(), "Package ") {
				docs[s.dir] = append(docs[s.dir], s.name)
			}
			continue
		}
		if docs[s.dir] == nil {
			docs[s.dir] = []string{}
		}
		if s.file.Doc != nil {
			docs[s.dir] = append(docs[s.dir], s.name)
			if text := s.file.Doc.Text(); s.file.Name.Name != "main" && !strings.HasPrefix(text, "Package "+s.file.Name.Name+" ") {
				t.Errorf("%s: a package comment starts with %q", s.name, "Package "+s.file.Name.Name)
			}
		}
	}
	for dir, names := range docs {
		if len(names) != 1 {
			t.Errorf("%s: %d package comments %v, want exactly one (in doc.go)", dir, len(names), names)
		}
	}
}

// The rules are only worth something when they catch what they are for.
func TestRulesCatchPlantedViolations(t *testing.T) {
	for _, c := range []struct {
		dir, imports string
		test, caught bool
	}{
		{"facts", "net/http", false, true}, {"facts", "os", false, true}, {"facts", "sayso/business", false, true}, {"facts", "sayso/facts/describe", false, true},
		{"facts", "sayso/jcs", false, false}, {"jcs", "sayso/jwk", false, true}, {"jwk", "sayso/jws", false, true}, {"jws", "sayso/jwk", false, false},
		{"report", "sayso/jcs", false, true}, {"gidp", "sayso/business", false, true}, {"gidp/session", "sayso/gidp/interest", false, true}, {"gidp/provider", "database/sql", false, true}, {"internal/store", "database/sql", false, false},
		{"facts/factshttp", "encoding/json", false, true}, {"facts/factshttp", "encoding/json", true, false}, {"facts/factshttp", "net/http", false, false},
		{"facts/factshttp", "github.com/spf13/cobra", false, true}, {"facts/factscheck", "github.com/santhosh-tekuri/jsonschema/v6", false, false},
		{"internal/cli", "sayso/cmd/sayso", false, true}, {"internal/app", "sayso/internal/store", false, true}, {"internal/server", "sayso/internal/store/sqlite", false, false},
		{"facts", "pgregory.net/rapid", true, false}, {"facts", "pgregory.net/rapid", false, true}, {"safefetch", "code.dny.dev/ssrf", false, false},
	} {
		p, ok := entry(c.dir)
		if !ok {
			t.Fatalf("%s is not in the table", c.dir)
		}
		if got := judge(source{dir: c.dir, test: c.test}, p, c.imports); (len(got) > 0) != c.caught {
			t.Errorf("%s imports %s: %v, want caught %v", c.dir, c.imports, got, c.caught)
		}
	}
	if _, ok := entry("facts/util"); ok {
		t.Error("an unknown package must not be in the table")
	}
}
