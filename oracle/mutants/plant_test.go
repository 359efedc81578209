package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// chosen is the variable of the environment that chooses the mistake of a process. No value is the product as it is.
const chosen = "SAYSO_PLANTED_MISTAKE"

// planting is the product with all mistakes in it at once, each asleep: a function that has mistakes stands there once as it is and once more for each of
// them, and under its name is one that looks which to call. So a test is built once for all mistakes that it has to see, where a build for each of them
// would compile everything that imports the changed package again.
type planting struct {
	root     string
	dir      string            // of what is written
	replace  map[string]string // the overlay: a file of the product and what stands in its place
	files    map[string]*changed
	unplaced map[int]error
	mu       sync.Mutex        // one build at a time
	built    map[string]string // by package, the program of its tests; guarded by mu
}

// changed is a file of the product and the mistakes that go into it.
type changed struct {
	text  string
	set   *token.FileSet
	tree  *ast.File
	holds map[*ast.FuncDecl][]mistake
}

// mistake is one changed function.
type mistake struct {
	number int
	text   string // of the whole declaration, under the name that it has in the product
}

func newPlanting(root, dir string) *planting {
	return &planting{root: root, dir: dir, replace: map[string]string{}, files: map[string]*changed{}, unplaced: map[int]error{}, built: map[string]string{}}
}

// add puts a mistake into the planting, or keeps why it cannot be.
func (p *planting) add(number int, m *mutant) {
	if err := p.place(number, m); err != nil {
		p.unplaced[number] = err
	}
}

// place fails where what is replaced does not stand in the file exactly once, or not within one function.
func (p *planting) place(number int, m *mutant) error {
	f, err := p.file(m.file)
	if err != nil {
		return err
	}
	if n := strings.Count(f.text, m.old); n != 1 {
		return fmt.Errorf("what it replaces stands in %s %d times", m.file, n)
	}
	at := strings.Index(f.text, m.old)
	for _, d := range f.tree.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		start, end := f.offset(function.Pos()), f.offset(function.End())
		if at >= f.offset(function.Body.Lbrace) && at+len(m.old) <= end {
			f.holds[function] = append(f.holds[function], mistake{number, f.text[start:at] + m.new + f.text[at+len(m.old):end]})
			return nil
		}
	}
	return fmt.Errorf("what it replaces in %s is not within one function", m.file)
}

func (p *planting) file(name string) (*changed, error) {
	if f := p.files[name]; f != nil {
		return f, nil
	}
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	f := &changed{text: string(text), set: token.NewFileSet(), holds: map[*ast.FuncDecl][]mistake{}}
	f.tree, err = parser.ParseFile(f.set, name, text, parser.SkipObjectResolution)
	p.files[name] = f
	return f, err
}

func (f *changed) offset(at token.Pos) int { return f.set.Position(at).Offset }

func (f *changed) source(n ast.Node) string { return f.text[f.offset(n.Pos()):f.offset(n.End())] }

func (p *planting) overlay() string { return filepath.Join(p.dir, "overlay.json") }

// write writes the changed files and the overlay for go build that puts them into the product.
func (p *planting) write() error {
	chooser := map[string]string{} // by folder, the name of its package
	for i, name := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[name]
		text, err := f.planted()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := p.put(name, fmt.Sprintf("%d.go", i), text); err != nil {
			return err
		}
		chooser[filepath.ToSlash(filepath.Dir(name))] = f.tree.Name.Name
	}
	for folder, name := range chooser {
		text := fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar plantedMistake = os.Getenv(%q)\n", name, chosen)
		if err := p.put(folder+"/planted_mistake.go", strings.ReplaceAll(folder, "/", "-")+".go", []byte(text)); err != nil {
			return err
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": p.replace})
	if err != nil {
		return err
	}
	return os.WriteFile(p.overlay(), list, 0o600)
}

func (p *planting) put(name, as string, text []byte) error {
	p.replace[filepath.Join(p.root, filepath.FromSlash(name))] = filepath.Join(p.dir, as)
	return os.WriteFile(filepath.Join(p.dir, as), text, 0o600)
}

// planted is the file with the mistakes asleep in it.
func (f *changed) planted() ([]byte, error) {
	var out bytes.Buffer
	rest := 0
	for _, d := range f.tree.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok || len(f.holds[function]) == 0 {
			continue
		}
		name, end := f.offset(function.Name.Pos()), f.offset(function.End())
		start := f.offset(function.Pos())
		out.WriteString(f.text[rest:name] + function.Name.Name + "AsItIs" + f.text[f.offset(function.Name.End()):end] + "\n")
		rest = end
		out.WriteString(f.chooser(function))
		for _, m := range f.holds[function] {
			out.WriteString("\n" + m.text[:name-start] + m.name(function) + m.text[f.offset(function.Name.End())-start:] + "\n")
		}
	}
	out.WriteString(f.text[rest:])
	return format.Source(out.Bytes())
}

func (m *mistake) name(function *ast.FuncDecl) string {
	return fmt.Sprintf("%sMistake%d", function.Name.Name, m.number)
}

// chooser is the declaration that stands under the name of a function: it calls the function as it is, or with the mistake that is chosen.
func (f *changed) chooser(function *ast.FuncDecl) string {
	typed, types := "", "" // its type parameters, declared and passed on
	if list := function.Type.TypeParams; list != nil {
		var names []string
		for _, field := range list.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
		typed, types = f.source(list), "["+strings.Join(names, ", ")+"]"
	}
	var parameters, arguments []string
	for _, field := range function.Type.Params.List {
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("planted%d", len(parameters))
			parameters = append(parameters, name+" "+f.source(field.Type))
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			arguments = append(arguments, name)
		}
	}
	receiver, on, results, give := "", "", "", ""
	if function.Recv != nil {
		receiver, on = "(planted "+f.source(function.Recv.List[0].Type)+") ", "planted."
	}
	if function.Type.Results != nil {
		results, give = f.source(function.Type.Results), "return "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nfunc %s%s%s(%s) %s {\n\tswitch plantedMistake {\n", receiver, function.Name.Name, typed, strings.Join(parameters, ", "), results)
	call := func(name string) {
		fmt.Fprintf(&b, "\t\t%s%s%s%s(%s)\n", give, on, name, types, strings.Join(arguments, ", "))
	}
	for _, m := range f.holds[function] {
		fmt.Fprintf(&b, "\tcase \"%d\":\n", m.number)
		call(m.name(function))
	}
	b.WriteString("\tdefault:\n")
	call(function.Name.Name + "AsItIs")
	b.WriteString("\t}\n}\n")
	return b.String()
}

// build compiles the tests of a package with the mistakes in them, once.
func (p *planting) build(pkg string) (binary string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if binary = p.built[pkg]; binary != "" {
		return binary, nil
	}
	binary = filepath.Join(p.dir, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "-")+".test")
	c := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", p.overlay(), "-o", binary, pkg)
	c.Dir = p.root
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s with all mistakes does not compile; a function that the compiler names ends in the number of its mistake: %w\n%s", pkg, err, text)
	}
	p.built[pkg] = binary
	return binary, nil
}

// run runs a test of a package with a mistake, 0 for none, and reports whether it failed.
func (p *planting) run(binary, pkg, test string, number int, flags ...string) (out string, failed bool) {
	c := exec.Command(binary, append([]string{"-test.run=" + test, "-test.v", "-test.timeout=10m"}, flags...)...)
	c.Dir = filepath.Join(p.root, filepath.FromSlash(pkg))
	c.Env = append(os.Environ(), "PWD="+c.Dir)
	if number > 0 {
		c.Env = append(c.Env, fmt.Sprintf("%s=%d", chosen, number))
	}
	text, err := c.CombinedOutput()
	return string(text), err != nil
}
