//go:build !race

package sayso_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated part of docs/cli.md")

const (
	referenceBegin = "<!-- reference: begin (go test -run TestCLIReference -update .) -->\n"
	referenceEnd   = "<!-- reference: end -->\n"
)

// The reference of docs/cli.md is what the program says about itself.
func TestCLIReference(t *testing.T) {
	const page = "docs/cli.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begun := strings.Cut(string(text), referenceBegin)
	_, tail, ended := strings.Cut(rest, referenceEnd)
	if !begun || !ended {
		t.Fatalf("%s lacks the marks around its reference", page)
	}
	want := head + referenceBegin + reference(t) + referenceEnd + tail
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what the program says: run go test -run TestCLIReference -update .", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// say runs the program without any setting of its surroundings.
func say(t *testing.T, args ...string) string {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "sayso"), args...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sayso %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func reference(t *testing.T) string {
	var b strings.Builder
	_, common, _ := cutHelp(say(t, "--help"), "Flags:")
	fmt.Fprintf(&b, "\n### Flags of every command\n\n```text\n%s```\n", strings.Replace(common, "help for sayso", "help for a command", 1))
	writeCommands(t, &b)
	b.WriteString("\n### Settings\n\n| setting | variable | flag | default | |\n|---|---|---|---|---|\n")
	var answer struct {
		Settings []struct{ Key, Env, Flag, Default, Help string }
	}
	if err := json.Unmarshal([]byte(say(t, "config", "show", "--json")), &answer); err != nil {
		t.Fatal(err)
	}
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	for _, s := range answer.Settings {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(s.Key), code(s.Env), code(s.Flag), code(s.Default), strings.ReplaceAll(s.Help, "|", `\|`))
	}
	return b.String() + "\n"
}

// writeCommands writes the commands below path in the order of the help text, groups before what they hold.
func writeCommands(t *testing.T, b *strings.Builder, path ...string) {
	_, list, isGroup := cutHelp(say(t, append(path, "--help")...), "Available Commands:")
	if !isGroup {
		return
	}
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "help" || name == "" {
			continue
		}
		child := append(slices.Clone(path), name)
		long, _, _ := strings.Cut(say(t, append(child, "--help")...), "\n\nUsage:\n")
		fmt.Fprintf(b, "\n### sayso %s\n\n%s\n", strings.Join(child, " "), strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`).Replace(long))
		if group := writeUsage(t, b, child); group {
			writeCommands(t, b, child...)
		}
	}
}

// writeUsage writes usage, flags and examples of a command that does something; a group that takes no argument does nothing itself.
func writeUsage(t *testing.T, b *strings.Builder, path []string) (group bool) {
	help := say(t, append(path, "--help")...)
	_, _, group = cutHelp(help, "Available Commands:")
	if group && strings.Contains(help, "\nUsage:\n  sayso "+strings.Join(path, " ")+" [flags]\n") {
		return true
	}
	var sections []string
	for _, title := range []string{"Usage:", "Flags:", "Examples:"} {
		if _, body, ok := cutHelp(help, title); ok {
			sections = append(sections, title+"\n"+body)
		}
	}
	fmt.Fprintf(b, "\n```text\n%s```\n", strings.Join(sections, "\n"))
	return group
}

// cutHelp finds a section of a help text: its title and the lines up to the next blank one.
func cutHelp(help, title string) (before, body string, ok bool) {
	before, rest, ok := strings.Cut(help, "\n"+title+"\n")
	body, _, _ = strings.Cut(rest, "\n\n")
	return before, strings.TrimRight(body, "\n") + "\n", ok
}

// markdown lists every Markdown file of the tree that is ours.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	return treeFiles(t, func(name string) bool { return path.Ext(name) == ".md" })
}

func treeFiles(t *testing.T, wanted func(name string) bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "bin"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || !wanted(name):
			return nil
		}
		data, err := os.ReadFile(name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	linkTarget   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	inlineCode   = regexp.MustCompile("(?s)```.*?\n```|`[^`\n]*`")
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	machinePath  = regexp.MustCompile("(?m)(?:^|[\\s\"'(`=])/(root|work|tmp|home|Users|private/var)/")
)

func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		out[strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return out
}

func TestDocsLinks(t *testing.T) {
	files := markdown(t)
	for name, text := range files {
		if m := machinePath.FindString(text); m != "" {
			t.Errorf("%s names a path of one machine: %q", name, m)
		}
		for _, m := range linkTarget.FindAllStringSubmatch(inlineCode.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], ":") {
				continue // another site
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if anchor != "" && !anchors(files[target])[anchor] {
				t.Errorf("%s links to %s: no heading of that name", name, m[1])
			}
		}
	}
}

// Comments cite sections as F§n, some with a rule: each must be on the page, or nobody can look it up.
func TestDocsSections(t *testing.T) {
	page, err := os.ReadFile("docs/facts.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	parts := regexp.MustCompile(`(?m)^#{2,3} (\d+(?:\.\d+)?)\.? `).FindAllSubmatchIndex(page, -1)
	for i, p := range parts {
		end := len(page)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		sections[string(page[p[2]:p[3]])] = string(page[p[1]:end])
	}
	cited := regexp.MustCompile(`F§(\d+(?:\.\d+)?)(?: (?:rules?|items?|steps?) (\d+))?`)
	files := treeFiles(t, func(name string) bool {
		return slices.Contains([]string{".go", ".md", ".js", ".mjs", ".css", ".html", ".sh", ".yaml", ".json"}, path.Ext(name))
	})
	seen := 0
	for name, text := range files {
		for _, m := range cited.FindAllStringSubmatch(text, -1) {
			seen++
			section, ok := sections[m[1]]
			switch {
			case !ok:
				t.Errorf("%s cites F§%s, which docs/facts.md does not have", name, m[1])
			case m[2] != "" && !regexp.MustCompile(`(?m)(^|; |\| )`+m[2]+`(\.| \|)`).MatchString(section) && m[1] != "12":
				t.Errorf("%s cites F§%s rule %s, which docs/facts.md does not have", name, m[1], m[2])
			}
		}
		for _, m := range regexp.MustCompile(`\((S\d{1,2})[,;)]`).FindAllStringSubmatch(text, -1) {
			if strings.HasSuffix(name, ".go") && !bytes.Contains(page, []byte("\n| "+m[1]+" |")) {
				t.Errorf("%s cites %s, which F§1 of docs/facts.md does not have", name, m[1])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d citations were found: the search is wrong", seen)
	}
}
