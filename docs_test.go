//go:build !race

// The program that the pages run is built as users build it, so that the race detector would see nothing of it.

package sayso_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The documentation is run. Each ```sh and ```console block of the pages below is executed in order, one shell and one fresh folder for each page, with the
// program built from this tree first in PATH and a HOME of its own.
//
//	$ command            runs, joined with the following lines while it ends in "\" or they begin with "> "
//	other lines          what it prints, standard error included; "..." stands for anything within a line, and alone for any lines
//
// A command without lines behind it may print anything. An sh block without "$ " is a script: every line is a command. Each must end with exit 0. A comment
// in the line before a block says otherwise:
//
//	<!-- docs-test: exit 3 -->               the last command of the block ends with this code
//	<!-- docs-test: background -->           the one command goes on running until the end of the page; the block shows what it prints when it is ready
//	<!-- docs-test: skip make test -->       not run, because it would run this test; such a block holds make alone
//	<!-- docs-test: skip needs-network -->   not run, because tests stay on this machine
//
// Nothing else is skipped. The rewrites are these: pages show commands to be copied, and a test has neither a checkout as its folder nor fixed ports.
var rewrites = []struct{ from, to string }{
	{`\bgo run \./cmd/sayso\b`, "sayso"},
	{`^sayso demo$`, "sayso demo --once"}, // in the foreground, where it would keep serving
}

var publicPort, privatePort = "8470", "8471" // what pages say; a test listens on free ports, and sees the ones of the page in what is printed

// pages are the documents for people who run commands.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("docs/*.md")
	if err != nil || len(list) == 0 {
		t.Fatal("no pages", err)
	}
	for _, name := range []string{"CONTRIBUTING.md", "README.md"} {
		if _, err := os.Stat(name); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// programDir holds the program once a test has needed it.
var programDir string

var program = sync.OnceValues(func() (dir string, err error) {
	if programDir, err = os.MkdirTemp("", "sayso-docs-"); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(programDir, "sayso"), "./cmd/sayso").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, out)
	}
	return programDir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if programDir != "" {
		os.RemoveAll(programDir)
	}
	os.Exit(code)
}

func TestDocsCommands(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(page, func(t *testing.T) {
			t.Parallel() // a page waits for its servers most of the time, and shares nothing with another
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks, problems := parsePage(string(text))
			for _, p := range problems {
				t.Errorf("%s:%s", page, p)
			}
			if len(blocks) == 0 {
				return
			}
			s := newShell(t, strings.Contains(string(text), "examples/"))
			for _, b := range blocks {
				if err := s.run(b); err != nil {
					t.Fatalf("%s:%d: %v", page, b.line, err) // what follows builds on it
				}
			}
		})
	}
}

// block is one fenced block that runs.
type block struct {
	line       int
	background bool
	exit       int // of the last command
	commands   []command
}

type command struct {
	text  string
	shown []string // nil: anything
}

var (
	fence    = regexp.MustCompile("^```([a-z]*)\\s*$")
	docsMark = regexp.MustCompile(`^<!-- docs-test: (.*) -->$`)
)

// parsePage finds the blocks of a page. Commands in a block that would not run are a problem: nobody would notice when they break.
func parsePage(text string) (blocks []block, problems []string) {
	lines := strings.Split(text, "\n")
	mark := ""
	for i := 0; i < len(lines); i++ {
		if m := docsMark.FindStringSubmatch(lines[i]); m != nil {
			mark = m[1]
			continue
		}
		f := fence.FindStringSubmatch(lines[i])
		if f == nil {
			if mark != "" {
				problems = append(problems, fmt.Sprintf("%d: the mark %q does not stand before a block", i, mark))
			}
			mark = ""
			continue
		}
		start := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		body := lines[start:min(i, len(lines))]
		switch b, problem := parseBlock(f[1], mark, body); {
		case problem != "":
			problems = append(problems, fmt.Sprintf("%d: %s", start, problem))
		case b != nil:
			b.line = start
			blocks = append(blocks, *b)
		}
		mark = ""
	}
	return blocks, problems
}

// parseBlock reads one block; nil means that there is nothing to run.
func parseBlock(language, mark string, lines []string) (b *block, problem string) {
	prompted := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "$ ") })
	if language != "sh" && language != "console" {
		if prompted || mark != "" {
			return nil, "a block with commands or a mark has the language sh or console"
		}
		return nil, ""
	}
	b = &block{commands: parseCommands(lines, prompted || language == "console")}
	if len(b.commands) == 0 {
		return nil, "no command in the block"
	}
	switch word, rest, _ := strings.Cut(mark, " "); {
	case mark == "":
	case mark == "background" && len(b.commands) == 1:
		b.background = true
	case mark == "skip needs-network":
		return nil, ""
	case mark == "skip make test":
		for _, c := range b.commands {
			if !strings.HasPrefix(c.text, "make ") {
				return nil, fmt.Sprintf("a block that is skipped because of make test holds %q", c.text)
			}
		}
		return nil, ""
	case word == "exit":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 || n > 255 {
			return nil, fmt.Sprintf("the mark %q has no exit code", mark)
		}
		b.exit = n
	default:
		return nil, fmt.Sprintf("the mark %q is none of exit N, background (one command), skip make test, skip needs-network", mark)
	}
	return b, ""
}

func parseCommands(lines []string, prompted bool) (list []command) {
	for i := 0; i < len(lines); i++ {
		text := lines[i]
		if prompted {
			rest, ok := strings.CutPrefix(text, "$ ")
			if !ok {
				if len(list) > 0 {
					last := &list[len(list)-1]
					last.shown = append(last.shown, text)
				}
				continue
			}
			text = rest
		} else if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
			continue
		}
		for i+1 < len(lines) {
			more, continued := strings.CutPrefix(lines[i+1], "> ")
			if !strings.HasSuffix(text, `\`) && !(prompted && continued) {
				break
			}
			text += "\n" + more
			i++
		}
		list = append(list, command{text: text})
	}
	return list
}

// shell runs the commands of one page, so that cd and variables carry on.
type shell struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    *os.File
	dir   string
	n     int
	ports *strings.Replacer // from those of the page to free ones
	back  *strings.Replacer
}

func newShell(t *testing.T, examples bool) *shell {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	if examples {
		if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("examples")); err != nil {
			t.Fatal(err)
		}
	}
	public, private := freePort(t), freePort(t)
	s := &shell{t: t, dir: t.TempDir()}
	var to, back []string
	for _, host := range []string{"127.0.0.1:", "localhost:"} {
		to = append(to, host+publicPort, host+public, host+privatePort, host+private)
		back = append(back, host+public, host+publicPort, host+private, host+privatePort)
	}
	s.ports, s.back = strings.NewReplacer(to...), strings.NewReplacer(back...)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command("sh")
	s.cmd.Dir, s.cmd.Stdin, s.in = dir, in, out
	s.cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + s.dir, "LANG=C.UTF-8", "TERM=dumb",
		"SAYSO_LISTEN=127.0.0.1:" + public, "SAYSO_ADMIN=127.0.0.1:" + private}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // background commands end with the shell's group
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	t.Cleanup(s.end)
	return s
}

// end stops what still runs: first as an operator would, then by force.
func (s *shell) end() {
	group := -s.cmd.Process.Pid
	syscall.Kill(group, syscall.SIGTERM)
	s.in.Close()
	s.cmd.Wait()
	for range 100 {
		if syscall.Kill(group, 0) != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	syscall.Kill(group, syscall.SIGKILL)
	s.t.Error("a background command did not end within five seconds of SIGTERM")
}

// ports are what freePort looks at next: each is given out once, and none is one that the system picks for a connection between here and its use.
var ports struct {
	mu   sync.Mutex
	next int // guarded by mu
}

func freePort(t *testing.T) string {
	t.Helper()
	const first, last, most = 20000, 31000, 32000
	ports.mu.Lock()
	defer ports.mu.Unlock()
	if ports.next == 0 {
		ports.next = first + os.Getpid()*64%(last-first)
	}
	for ; ports.next < most; ports.next++ {
		port := strconv.Itoa(ports.next)
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err == nil {
			l.Close()
			ports.next++
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

func (s *shell) run(b block) error {
	for i, c := range b.commands {
		if b.background {
			return s.start(c)
		}
		want := 0
		if i == len(b.commands)-1 {
			want = b.exit
		}
		got, output, err := s.do(s.rewrite(c.text, true))
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", c.text, err)
		case got != want:
			return fmt.Errorf("%s: exit %d, want %d\n%s", c.text, got, want, output)
		case c.shown != nil && !matchLines(c.shown, splitOutput(output)):
			return fmt.Errorf("%s: printed\n%s\nthe page shows\n%s", c.text, output, strings.Join(c.shown, "\n"))
		}
	}
	return nil
}

func (s *shell) rewrite(text string, foreground bool) string {
	for _, r := range rewrites {
		if foreground || !strings.Contains(r.to, "--once") {
			text = regexp.MustCompile(r.from).ReplaceAllString(text, r.to)
		}
	}
	return s.ports.Replace(text)
}

// commandTime bounds one command. No page waits that long; it keeps a command that reads or serves from hanging the test.
const commandTime = 2 * time.Minute

// do runs a command in the shell and waits for the file with its exit code.
func (s *shell) do(text string) (code int, output string, err error) {
	s.n++
	out, done := filepath.Join(s.dir, fmt.Sprintf("out%d", s.n)), filepath.Join(s.dir, fmt.Sprintf("rc%d", s.n))
	fmt.Fprintf(s.in, "{\n%s\n} </dev/null >%q 2>&1\necho $? >%q.new; mv %q.new %q\n", text, out, done, done, done)
	for deadline := time.Now().Add(commandTime); ; time.Sleep(5 * time.Millisecond) {
		rc, err := os.ReadFile(done)
		if err == nil {
			printed, err := os.ReadFile(out)
			if err != nil {
				return 0, "", err
			}
			code, err = strconv.Atoi(strings.TrimSpace(string(rc)))
			return code, s.back.Replace(string(printed)), err
		}
		if !errors.Is(err, fs.ErrNotExist) || time.Now().After(deadline) {
			printed, _ := os.ReadFile(out)
			return 0, "", fmt.Errorf("still running after %v\n%s", commandTime, printed)
		}
	}
}

// start runs a command in the background until it has printed what the page shows, or a URL where the page shows nothing.
func (s *shell) start(c command) error {
	s.n++
	out := filepath.Join(s.dir, fmt.Sprintf("out%d", s.n))
	fmt.Fprintf(s.in, "{\n%s\n} </dev/null >%q 2>&1 &\n", s.rewrite(c.text, false), out)
	shown := slices.Concat([]string{"..."}, c.shown, []string{"..."}) // notes may stand around it
	if c.shown == nil {
		shown = []string{"...", "...http://...", "..."}
	}
	for deadline := time.Now().Add(commandTime); ; time.Sleep(10 * time.Millisecond) {
		printed, err := os.ReadFile(out)
		text := s.back.Replace(string(printed))
		if err == nil && matchLines(shown, splitOutput(text)) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not ready after %v, printed\n%s\nthe page shows\n%s", c.text, commandTime, text, strings.Join(c.shown, "\n"))
		}
	}
}

func splitOutput(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// matchLines compares what a page shows with what was printed.
func matchLines(shown, printed []string) bool {
	for len(shown) > 0 && strings.TrimSpace(shown[len(shown)-1]) == "" {
		shown = shown[:len(shown)-1] // the blank line before the next command
	}
	if len(shown) == 0 {
		return len(printed) == 0
	}
	if strings.TrimSpace(shown[0]) == "..." {
		for skip := range len(printed) + 1 {
			if matchLines(shown[1:], printed[skip:]) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && matchLine(shown[0], printed[0]) && matchLines(shown[1:], printed[1:])
}

func matchLine(shown, printed string) bool {
	parts := strings.Split(strings.TrimRight(shown, " "), "...")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	// Blanks before an ellipsis belong to it: tables are as wide as their widest cell.
	pattern := strings.NewReplacer(` .* `, `\s.*`).Replace(strings.Join(parts, ".*"))
	return regexp.MustCompile("^" + pattern + `\s*$`).MatchString(printed)
}

// The harness is only worth something when it fails where it should.
func TestDocsHarness(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a", "", false}, {"a", "a\nb", false}, {"a\n...", "a", true}, {"a\n...\nd", "a\nb\nc\nd", true}, {"...\nd", "d", true},
		{"...", "", true}, {"a ... c", "a b c", true}, {"a ... c", "a c", true}, {"a ... c", "a b", false}, {"a...", "abc", true}, {"(a)", "a", false}, {"a\n", "a", true},
	} {
		if got := matchLines(strings.Split(c.shown, "\n"), splitOutput(c.printed)); got != c.want {
			t.Errorf("%q shown, %q printed: %v", c.shown, c.printed, got)
		}
	}
	for _, c := range []struct{ page, problem string }{
		{"```sh\nmake test\n```", ""},
		{"```\n$ sayso\n```", "language"},
		{"<!-- docs-test: skip too slow -->\n```sh\nx\n```", "none of"},
		{"<!-- docs-test: skip make test -->\n```sh\nmake test\nrm x\n```", "rm x"},
		{"<!-- docs-test: background -->\n```console\n$ a\n$ b\n```", "none of"},
		{"<!-- docs-test: background -->\n\n```console\n$ a\n```", "does not stand"},
		{"<!-- docs-test: exit 0 -->\n```console\n$ a\n```", "no exit code"},
		{"```console\na\n```", "no command"},
	} {
		_, problems := parsePage(c.page)
		if got := strings.Join(problems, ";"); (got == "") != (c.problem == "") || !strings.Contains(got, c.problem) {
			t.Errorf("%q: %q, want %q", c.page, got, c.problem)
		}
	}
	s := newShell(t, false)
	for _, c := range []struct{ page, problem string }{
		{"```console\n$ mkdir a && cd a\n$ pwd\n.../a\n$ X=1\n$ echo \\\n  $X\n1\n```", ""},
		{"```console\n$ cat <<'E'\n> one\n> E\none\n```", ""},
		{"```sh\n# a comment\nfalse\n```", "exit 1, want 0"},
		{"<!-- docs-test: exit 3 -->\n```console\n$ (exit 3)\n```", ""},
		{"```console\n$ echo b >&2\na\n```", "the page shows"},
		{"```console\n$ echo $SAYSO_LISTEN http://localhost:8471\n127.0.0.1:8470 http://localhost:8471\n```", ""},
		{"<!-- docs-test: background -->\n```console\n$ sh -c 'echo at http://127.0.0.1:8470; sleep 600'\nat http://127.0.0.1:8470\n```", ""},
	} {
		blocks, _ := parsePage(c.page)
		err := s.run(blocks[0])
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %v, want %q", c.page, err, c.problem)
		}
	}
	if got := s.rewrite("go run ./cmd/sayso demo", true) + "|" + s.rewrite("sayso demo", false); got != "sayso demo --once|sayso demo" {
		t.Error(got)
	}
}
