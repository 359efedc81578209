package safefetch_test

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"sayso/safefetch"
)

const inNamespace = "SAFEFETCH_TEST_IN_NAMESPACE"

// TestNamespace runs every literal through a client with its real sockets, in a network namespace without routes: a wrong permit cannot leave the machine,
// and whatever is let through to the machine itself is counted by a service on all its addresses.
func TestNamespace(t *testing.T) {
	if os.Getenv(inNamespace) != "" {
		inside(t)
		return
	}
	args := []string{"--net", os.Args[0], "-test.run=^TestNamespace$", "-test.v"}
	if os.Getuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	if err := exec.Command("unshare", append(args[:len(args)-3:len(args)-3], "true")...).Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("unshare --net is needed in CI")
		}
		t.Skip("no network namespaces here")
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestNamespace") {
		t.Errorf("%v\n%s", err, out)
	}
}

func inside(t *testing.T) {
	if err := loopbackUp(); err != nil {
		t.Fatal(err)
	}
	hits := new(atomic.Int64)
	for _, port := range []string{"443", "80"} {
		count(t, hits, port)
		before := hits.Load()
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err != nil {
			t.Fatalf("the counting service does not answer: %v", err)
		}
		conn.Close()
		for hits.Load() == before {
			time.Sleep(time.Millisecond)
		}
	}
	base := hits.Load()
	// A name that answers with the own machine goes through the real sockets too.
	lookup := newDNS(t, map[string][][]netip.Addr{"rebind.test.": {{netip.MustParseAddr("93.184.216.34")}, {netip.MustParseAddr("127.0.0.1")}}})
	for _, l := range append(literals, literals[0]) {
		for _, scheme := range []string{"https://", "http://"} {
			_, err := safefetch.NewScripted(safefetch.Policy{Timeout: 5 * time.Second}, safefetch.Script{}).Get(t.Context(), scheme+l.host+"/")
			refused := errors.Is(err, safefetch.ErrRefused)
			if err == nil || (l.permit && scheme == "https://" && refused) || (!l.permit && l.addr != "" && !refused) {
				t.Errorf("%s%s: %v", scheme, l.host, err)
			}
		}
	}
	for range 3 {
		safefetch.NewScripted(safefetch.Policy{}, safefetch.Script{Lookup: lookup}).Get(t.Context(), "https://rebind.test/")
	}
	if n := hits.Load() - base; n != 0 {
		t.Errorf("the machine's own service was reached %d times", n)
	}
}

func count(t *testing.T, hits *atomic.Int64, port string) {
	l, err := net.Listen("tcp", "[::]:"+port)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.NotFoundHandler(), ConnState: func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			hits.Add(1)
		}
	}}
	t.Cleanup(func() { s.Close() })
	go s.Serve(l)
}

// loopbackUp is "ip link set lo up" without the tool.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var req struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	copy(req.name[:], "lo")
	req.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req))); e != 0 {
		return e
	}
	return nil
}
