package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sayso/jcs"
)

// quietEnvironment hides the settings, and the data folder with its figures and its running server, of whoever runs the tests.
func quietEnvironment(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
}

// invoke runs one command line in this process.
func invoke(t *testing.T, environ []string, args ...string) (code int, out, errs string) {
	t.Helper()
	quietEnvironment(t)
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, environ)
	return code, stdout.String(), stderr.String()
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, child := range c.Commands() {
		if child.Name() != "help" {
			walk(child, visit)
		}
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	e := &env{ctx: t.Context()}
	walk(newRoot(e), func(c *cobra.Command) {
		if c.Short == "" || c.Long == "" || c.Example == "" {
			t.Errorf("%s: Short, Long and Example are all needed", c.CommandPath())
		}
		if strings.HasSuffix(c.Short, ".") || !strings.HasSuffix(c.Long, ".") {
			t.Errorf("%s: Short is a phrase, Long whole sentences", c.CommandPath())
		}
		if c.Args == nil {
			t.Errorf("%s does not say which arguments it takes", c.CommandPath())
		}
		for line := range strings.SplitSeq(c.Example, "\n") {
			checkExample(t, c, strings.TrimSpace(line))
		}
	})
}

// checkExample finds the command of an example line and parses its flags.
func checkExample(t *testing.T, c *cobra.Command, line string) {
	t.Helper()
	words := strings.Fields(line)
	start := slices.Index(words, "sayso")
	if start < 0 {
		t.Errorf("%s: the example %q does not run sayso", c.CommandPath(), line)
		return
	}
	words = words[start+1:]
	if end := slices.IndexFunc(words, func(w string) bool { return w == ">" || w == "|" || w == "&" }); end >= 0 {
		words = words[:end]
	}
	found, rest, err := newRoot(&env{ctx: t.Context()}).Find(words)
	if err != nil || isGroup(found) {
		t.Errorf("%s: the example %q names no command: %v", c.CommandPath(), line, err)
		return
	}
	if err := found.ParseFlags(rest); err != nil {
		t.Errorf("%s: the example %q does not parse: %v", c.CommandPath(), line, err)
	}
}

func TestCommonFlags(t *testing.T) {
	root := newRoot(&env{ctx: t.Context()})
	for _, name := range []string{"data", "config", "json", "quiet", "color"} {
		if root.PersistentFlags().Lookup(name) == nil {
			t.Errorf("--%s is missing", name)
		}
	}
}

// Help is text for people, whatever form the answers have (docs/cli.md).
func TestHelpIsText(t *testing.T) {
	for _, args := range []string{"help --json", "--help --json", "help facts keys --json", "facts --json", "--json"} {
		code, out, errs := invoke(t, nil, strings.Fields(args)...)
		if code != 0 || errs != "" || !strings.Contains(out, "Usage:\n") {
			t.Errorf("%s: exit %d\n%s%s", args, code, out, errs)
		}
	}
}

func TestExitCodes(t *testing.T) {
	missing := t.TempDir() + "/none"
	for _, c := range []struct {
		name string
		args []string
		env  []string
		code exitCode
		want string
	}{
		{"ok", []string{"version"}, nil, exitOK, ""},
		{"no command prints help", nil, nil, exitOK, ""},
		{"unknown command", []string{"srve"}, nil, exitUsage, `unknown command "srve"`},
		{"unknown verb", []string{"keys", "nwe"}, nil, exitUsage, "did you mean new?"},
		{"unknown flag", []string{"version", "--verbos"}, nil, exitUsage, "unknown flag"},
		{"surplus argument", []string{"version", "x"}, nil, exitUsage, "sayso version --help"},
		{"unknown variable", []string{"version"}, []string{"SAYSO_LISTN=x"}, exitUsage, "SAYSO_LISTN"},
		{"missing settings file", []string{"version", "--config", missing}, nil, exitUsage, "--config"},
		{"bad key id", []string{"keys", "new", "--kid", "Nonsense"}, nil, exitUsage, "ex-2026-10"},
		{"no folder", []string{"serve"}, nil, exitUsage, "serve --facts DIR"},
		{"not loopback without origin", []string{"serve", "--facts", ".", "--listen", "0.0.0.0:0", "--admin", "127.0.0.1:0"}, nil, exitUsage, "--origin"},
		{"folder that is none", []string{"serve", "--facts", missing, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, nil, exitNotFound, missing},
		{"no server", []string{"health", "--data", missing}, []string{"SAYSO_ADMIN=127.0.0.1:1"}, exitUnavailable, "no server answers"},
		{"taken address", []string{"serve", "--facts", ".", "--listen", "256.0.0.1:1"}, nil, exitUnavailable, "--listen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, errs := invoke(t, c.env, c.args...)
			if code != int(c.code) || !strings.Contains(errs, c.want) {
				t.Errorf("exit %d, want %d\n%s", code, c.code, errs)
			}
			if code != 0 && !strings.HasPrefix(errs, "sayso: ") {
				t.Errorf("the error does not come first: %q", errs)
			}
		})
	}
}

func TestInterruptedIs130(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := asFailure(ctx, context.Canceled); f.code != exitInterrupted {
		t.Errorf("exit %d", f.code)
	}
	if f := asFailure(t.Context(), context.Canceled); f.code != exitFailed {
		t.Errorf("a cancelled step of a command that goes on: exit %d", f.code)
	}
}

func TestForeignTextCannotDraw(t *testing.T) {
	var errs bytes.Buffer
	e := &env{ctx: t.Context(), err: &errs}
	e.render(failedError("label \x1b[2J\u009b1m\r\u202e of a publisher"))
	if text := errs.String(); strings.ContainsAny(text, "\x1b\r\u009b\u202e") {
		t.Errorf("%q", text)
	}
}

func TestColourNeedsAskingWithoutTerminal(t *testing.T) {
	_, _, errs := invoke(t, nil, "nonsense")
	if strings.Contains(errs, "\x1b") {
		t.Errorf("escape sequences into a file: %q", errs)
	}
	quietEnvironment(t)
	var out, coloured bytes.Buffer
	run(t.Context(), []string{"serve", "--color", "always"}, strings.NewReader(""), &out, &coloured, nil)
	if !strings.HasPrefix(coloured.String(), "\x1b[31msayso:\x1b[0m ") {
		t.Errorf("--color always: %q", coloured.String())
	}
}

func TestProgressWithoutTerminalIsLines(t *testing.T) {
	var errs bytes.Buffer
	e := &env{ctx: t.Context(), err: &errs}
	p := e.progress("signing", 3)
	p.last = p.last.Add(-progressInterval)
	p.add(1)
	p.add(1)
	p.end()
	if errs.String() != "signing: 1 of 3\n" {
		t.Errorf("%q", errs.String())
	}
	errs.Reset()
	e.quiet = true
	p = e.progress("signing", 3)
	p.last = p.last.Add(-progressInterval)
	p.add(3)
	p.end()
	if errs.Len() > 0 {
		t.Errorf("--quiet: %q", errs.String())
	}
}

func TestManualNamesEverything(t *testing.T) {
	code, page, _ := invoke(t, nil, "man")
	if code != 0 || !strings.HasPrefix(page, ".TH SAYSO 1") {
		t.Fatalf("exit %d\n%.200s", code, page)
	}
	plain := strings.ReplaceAll(page, `\-`, "-")
	for _, want := range []string{"sayso serve", "sayso keys new", ".SS sayso facts keys [DIR]", ".SS sayso facts keys add", ".SS sayso facts keys revoke", "--json-schema", "--trusted-proxy", "SAYSO_RATE_LIMIT", ".B 130", "EXIT STATUS", "passphrase_file"} {
		if !strings.Contains(plain, want) {
			t.Errorf("the manual page lacks %q", want)
		}
	}
}

// What is escaped for a terminal is the same JSON value, and nothing on it moves or reorders.
func TestEscapedIsTheSameValue(t *testing.T) {
	for text, want := range map[string]string{
		"plain, \u00e9, \u4e2d, \U0001f600, \u200d":       "plain, \u00e9, \u4e2d, \U0001f600, \u200d",
		"a\u202eb\u2066c\u200f":                           `a\u202eb\u2066c\u200f`,
		"\u007f\u0085\u009b31m":                           `\u007f\u0085\u009b31m`,
		"\u2028\u2029\ufeff\u00ad\U000e0041":              `\u2028\u2029\ufeff\u00ad\udb40\udc41`,
		"\x1b[2J":                                         `\u001b[2J`,
		`a quote ", a backslash \` + "\u202e" + ` and \u`: `a quote \", a backslash \\\u202e and \\u`,
	} {
		body, err := jcs.Encode(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		shown := escaped(body)
		if string(shown) != `{"`+want+`":"`+want+`"}` {
			t.Errorf("%q is shown as %s", text, shown)
		}
		var back map[string]string
		if err := jcs.Decode(shown, &back); err != nil || back[text] != text {
			t.Errorf("%s is read as %q, %v", shown, back, err)
		}
	}
}
