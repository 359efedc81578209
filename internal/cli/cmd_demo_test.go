//go:build !race

package cli

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// The walk ends within ten seconds of a built binary, whether or not the usual ports are taken (experience 10). The race detector takes its own time.
func TestDemoIsQuickAndTakesFreePorts(t *testing.T) {
	if taken, err := net.Listen("tcp", "127.0.0.1:8470"); err == nil {
		defer taken.Close()
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	begin := time.Now()
	code, out, errs := invoke(t, nil, "demo", "--once")
	if code != 0 || !strings.Contains(out, "12. An assistant asks") || strings.Contains(out, "http://127.0.0.1:8470") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("the temporary folder is still there: %v, %v", left, err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the walk took %v", took)
	}
}
