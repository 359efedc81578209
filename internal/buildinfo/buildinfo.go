// Package buildinfo says which program this is: version, commit, Go version and the protocols it speaks.
//
// A release sets the version with -ldflags "-X sayso/internal/buildinfo.version=1.2.3". Without it the version is that of the module when the program was
// installed as one, else "dev"; the commit is what the Go tool recorded, with "+dirty" behind it when the tree had changes.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"sync"
)

var version string

// Info is what `sayso version` prints.
type Info struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit"` // "unknown" when the program was built outside a checkout
	Go        string   `json:"go"`
	Platform  string   `json:"platform"` // GOOS/GOARCH
	Protocols []string `json:"protocols"`
}

// protocols are the identifiers this program answers with; a test holds them to the constants of package facts.
var protocols = []string{"verified-facts/0.2", "verified-changes/0.1"}

// Get returns the facts about the running program.
var Get = sync.OnceValue(func() Info {
	info := Info{Version: version, Commit: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Protocols: protocols}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	if info.Version == "" {
		info.Version = build.Main.Version
	}
	if info.Version == "" || info.Version == "(devel)" {
		info.Version = "dev"
	}
	dirty := false
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && info.Commit != "unknown" {
		info.Commit += "+dirty"
	}
	return info
})

// UserAgent names the program to servers it fetches from.
func UserAgent() string { return "sayso/" + Get().Version }
