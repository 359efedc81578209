package buildinfo_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/internal/buildinfo"
)

func TestInfoNamesProgramAndProtocols(t *testing.T) {
	info := buildinfo.Get()
	if info.Version == "" || info.Commit == "" || info.Go != runtime.Version() || !strings.Contains(info.Platform, "/") {
		t.Errorf("incomplete: %+v", info)
	}
	if want := []string{facts.Protocol, facts.ChangesProtocol}; !slices.Equal(info.Protocols, want) {
		t.Errorf("protocols = %q, the packages answer with %q", info.Protocols, want)
	}
}
