// Command vulnreport reads the JSON stream of govulncheck and decides: a called finding fails, except one in the standard
// library, which only a newer Go can fix and which is therefore printed.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

type message struct {
	Config *struct {
		GoVersion string `json:"go_version"`
	} `json:"config"`
	Finding *struct {
		OSV          string `json:"osv"`
		FixedVersion string `json:"fixed_version"`
		Trace        []struct {
			Module   string `json:"module"`
			Package  string `json:"package"`
			Function string `json:"function"`
		} `json:"trace"`
	} `json:"finding"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: vulnreport FILE")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	ours, standard, err := read(f, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, line := range standard {
		fmt.Println("note: standard library, needs a newer Go:", line)
	}
	for _, line := range ours {
		fmt.Println("called:", line)
	}
	if len(ours) > 0 {
		os.Exit(1)
	}
}

// read splits the called findings into those we can fix and those of the standard library, one line each, sorted.
func read(r io.Reader, out io.Writer) (ours, standard []string, err error) {
	seen := make(map[string]bool)
	configured := false
	for d := json.NewDecoder(r); ; {
		var m message
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("govulncheck output: %w", err)
		}
		if m.Config != nil {
			configured = true
			fmt.Fprintf(out, "note: checked for %s\n", m.Config.GoVersion)
		}
		if m.Finding == nil || len(m.Finding.Trace) == 0 || m.Finding.Trace[0].Function == "" {
			continue // imported or required only
		}
		at := m.Finding.Trace[0]
		line := fmt.Sprintf("%s in %s, fixed in %s", m.Finding.OSV, at.Package, m.Finding.FixedVersion)
		if seen[line] {
			continue
		}
		seen[line] = true
		if at.Module == "stdlib" && strings.HasPrefix(m.Finding.FixedVersion, "v") {
			standard = append(standard, line)
		} else {
			ours = append(ours, line)
		}
	}
	if !configured {
		return nil, nil, errors.New("govulncheck output: no configuration message, so nothing was checked")
	}
	slices.Sort(ours)
	slices.Sort(standard)
	return ours, standard, nil
}
