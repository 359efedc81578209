//go:build !race

package cli

import (
	"bytes"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"sayso/internal/config"
)

// The walk ends within 25 seconds, most of which are the agents' own pace. The race detector takes its own time.
func TestDemoIsQuick(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	begin := time.Now()
	code, out, errs := invoke(t, nil, "demo", "--once", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if code != 0 || !strings.Contains(out, "12. An assistant asks") || !strings.Contains(out, "31. An operator ends it for good") || !strings.Contains(out, "48. At the registry's front door") ||
		!strings.Contains(out, "59. The buyer has what it wanted") || !strings.Contains(out, "64. The seller ends it") || strings.Contains(out, "not as told") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("the temporary folder is still there: %v, %v", left, err)
	}
	if took := time.Since(begin); took > 25*time.Second {
		t.Errorf("the walk took %v", took)
	}
}

// An address that nobody chose and that is taken is replaced by a free one; one that was chosen is not.
func TestDemoTakesFreePorts(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	for _, flags := range []map[string]string{nil, {"listen": address}} {
		settings, err := config.Load(config.Inputs{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		e := &env{config: settings, err: &errs}
		listener, err := e.demoListener("listen", address)
		if flags != nil {
			if codeOf(t, err) != exitUnavailable {
				t.Errorf("an address that was chosen: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if listener.Addr().String() == address {
			t.Errorf("two listeners at %s", address)
		}
		e.noteMoved("listen", address, listener)
		if want := address + " is taken: " + listener.Addr().String() + " is used instead"; !strings.Contains(errs.String(), want) {
			t.Errorf("%q lacks %q", errs.String(), want)
		}
		listener.Close()
	}
}
