package cli

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
)

// printedSchema compiles what --json-schema prints for a command.
func printedSchema(t *testing.T, command string) *jsonschema.Schema {
	t.Helper()
	// Neither missing arguments nor wrong settings are in its way.
	code, out, errs := invoke(t, []string{"SAYSO_LISTN=x"}, append(strings.Fields(command), "--json-schema")...)
	if code != 0 || errs != "" {
		t.Fatalf("%s --json-schema: exit %d\n%s", command, code, errs)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("printed.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("printed.json")
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return s
}

func TestEveryCommandHasASchema(t *testing.T) {
	files := map[string]bool{failureSchema: false}
	walk(newRoot(&env{ctx: t.Context()}), func(c *cobra.Command) {
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		switch {
		case isGroup(c), path == "mcp":
			if answersOf(c) != nil {
				t.Errorf("%s has no answer and a schema", c.CommandPath())
			}
			code, out, errs := invoke(t, nil, append(strings.Fields(path), "--json-schema")...)
			if code != int(exitUsage) || out != "" || !strings.Contains(errs, "has no --json answer") {
				t.Errorf("%s --json-schema: exit %d\n%s%s", c.CommandPath(), code, out, errs)
			}
		case answersOf(c) == nil:
			t.Errorf("%s has no schema", c.CommandPath())
		default:
			s := printedSchema(t, path)
			if s.Validate(map[string]any{"error": "usage", "message": "m"}) != nil || s.Validate("text") == nil {
				t.Errorf("%s: the schema is not that of its answers and failures", c.CommandPath())
			}
		}
		for _, name := range answersOf(c) {
			files[name] = true
		}
	})
	entries, err := fs.Glob(schemas, "schema/*.json")
	if err != nil || len(entries) != len(files) {
		t.Errorf("%d files, %d are an answer's: %v", len(entries), len(files), err)
	}
	for path := range answerSchemas {
		if c, rest, err := newRoot(&env{ctx: t.Context()}).Find(strings.Fields(path)); err != nil || len(rest) > 0 || c.CommandPath() != "sayso "+path {
			t.Errorf("a schema is named for %s, which is no command", path)
		}
	}
}

// TestAnswers compares an answer of every command that is neither of a folder, of a registry, of an interest nor of a provider with its schema; TestFactsAnswers,
// TestBusinessAnswers, TestInterestAnswers and TestProviderAnswers have the others.
func TestAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	origin, err := samplePublisher()
	if err != nil {
		t.Fatal(err)
	}
	const allowance = "/f/uk/income-tax/personal-allowance"
	writeFile(t, "sayso.toml", "[[publisher]]\norigin = \"https://a.example\"\npin = \"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\"\n")
	seen := map[string]bool{}
	check := func(command, schema, answer string) {
		t.Helper()
		conforms(t, schema, answer)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
		if err != nil {
			t.Fatal(err)
		}
		if err := printedSchema(t, command).Validate(doc); err != nil {
			t.Errorf("%s --json-schema: %v", command, err)
		}
		seen[schema+".json"] = true
	}
	for _, c := range []struct {
		command, args string
		code          exitCode
	}{
		{"get", "uk/income-tax/personal-allowance --from " + origin, exitOK},
		{"get", "uk/income-tax/personal-allowance --max-age 0d --from " + origin, exitFailed},
		{"get", "uk/minimum-wage/apprentice --period 1999-00 --from " + origin, exitNotFound},
		{"get", "uk/minimum-wage/aprentice --from " + origin, exitNotFound},
		{"get", "uk/income-tax/personal-allowance --from http://127.0.0.1:1", exitUnavailable},
		{"resolve", "child benefit for the eldest child --from " + origin, exitOK},
		{"resolve", "minimum wage --limit 3 --from " + origin, exitOK},
		{"resolve", "xyzzy --from " + origin, exitNotFound},
		{"changes", "--since 2020-01-01 --area uk-work --from " + origin, exitOK},
		{"verify", origin + allowance + " --live --also " + origin, exitOK},
		{"verify", origin + allowance + " --max-age 0d", exitFailed},
		{"check", origin + " --no-sources", exitOK},
		{"config show", "--config sayso.toml", exitOK},
		{"version", "", exitOK},
		{"keys new", "--kid ex-2026-10", exitOK},
		{"man", "", exitOK},
		{"completion", "fish", exitOK},
		{"demo", "--once --listen 127.0.0.1:0 --admin 127.0.0.1:0", exitOK},
	} {
		code, out, errs := invoke(t, nil, append(strings.Fields(c.command+" "+c.args), "--json")...)
		if code != int(c.code) {
			t.Fatalf("%s %s: exit %d, want %d\n%s%s", c.command, c.args, code, c.code, out, errs)
		}
		schema := strings.ReplaceAll(c.command, " ", "-")
		if c.code == exitUnavailable {
			schema = failureSchema
		}
		check(c.command, schema, out)
	}
	started, ready := serveForAnswers(t)
	check("serve", "serve", started)
	check("health", "health", ready)

	entries, err := fs.Glob(schemas, "schema/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		if name = filepath.Base(name); !seen[name] && !strings.HasPrefix(name, "facts-") && !strings.HasPrefix(name, "interest") && !strings.HasPrefix(name, "lab-") && !strings.HasPrefix(name, "provider-") && !ofRegistry(name) {
			t.Errorf("no command answers by %s", name)
		}
	}
}

// serveForAnswers serves the folder of testdata for as long as health needs to ask, and returns both answers.
func serveForAnswers(t *testing.T) (started, ready string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	data := t.TempDir()
	var out bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "--json", "--facts", filepath.Join(testdata, "figures"), "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"},
			http.NoBody, &out, io.Discard, nil)
	}()
	for end := time.Now().Add(time.Minute); ready == "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(data, instanceFile)); err != nil {
			continue
		}
		if code, answer, _ := invoke(t, nil, "health", "--data", data, "--json"); code == 0 {
			ready = answer
		}
	}
	stop()
	if code := <-ended; code != 0 || ready == "" || slices.Contains(out.Bytes()[:max(out.Len()-1, 0)], '\n') {
		t.Fatalf("exit %d, ready %q, answer %q", code, ready, out.String())
	}
	return out.String(), ready
}
