package bizhttp_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/jcs"
)

// exporter is a registry whose exports come from a function.
type exporter struct {
	*registry
	dump func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error
}

func (e *exporter) Dump(ctx context.Context, slug string, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
	p, err := e.Publication(ctx, slug)
	if err != nil {
		return err
	}
	return e.dump(p, f)
}

// generated yields n records of about 600 bytes that exist one at a time.
func generated(n int, fail error) iter.Seq2[*business.Record, error] {
	return func(yield func(*business.Record, error) bool) {
		for i := range n {
			r := &business.Record{
				ID: fmt.Sprintf("item-%06d", i), Type: "product", Title: "Generated " + strconv.Itoa(i), Summary: strings.Repeat("as the business states it ", 12),
				Attributes: jcs.Raw(`{"price":50.0,"currency":"EUR","stock":{"main":3}}`), UpdatedAt: noon,
			}
			if !yield(r, nil) {
				return
			}
		}
		if fail != nil {
			yield(nil, fail)
		}
	}
}

// exportServer serves an exporter over a real connection.
func exportServer(t testing.TB, dump func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error) (at string, faults *atomic.Int64) {
	faults = new(atomic.Int64)
	h := bizhttp.Handler(bizhttp.HandlerOptions{Source: &exporter{newRegistry(t), dump}, Report: func(*http.Request, error) { faults.Add(1) }})
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.WriteTimeout = time.Second // far less than a slow reader needs for a whole export
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + berlin + "published/dump.jsonl", faults
}

func whole(n int) func(*business.Publication, func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
	return func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
		return f(p, generated(n, nil))
	}
}

// An export of 100,000 records takes less than 50 MB of resident memory.
func TestDumpMemory(t *testing.T) {
	const records, bound = 100_000, 50 << 20
	at, _ := exportServer(t, whole(records))
	before := resident(t)
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines, size, peak := 0, int64(0), before
	buffer := make([]byte, 64<<10)
	for {
		n, err := resp.Body.Read(buffer)
		lines += bytes.Count(buffer[:n], []byte("\n"))
		if before := size >> 20; (size+int64(n))>>20 > before {
			peak = max(peak, resident(t))
		}
		size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lines, %d MB, resident memory grew by %d KB", lines, size>>20, (peak-before)>>10)
	if lines != records+1 || size < records*400 || peak-before > bound {
		t.Errorf("%d lines of %d bytes, resident memory grew by %d bytes", lines, size, peak-before)
	}
}

// resident is the resident memory of this process in bytes.
func resident(t testing.TB) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("this system does not tell the resident memory")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// The write deadline of the server covers one chunk, not the export: a reader that is slow but reads gets all of it.
func TestDumpOutlivesTheWriteTimeout(t *testing.T) {
	at, _ := exportServer(t, func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
		return f(p, func(yield func(*business.Record, error) bool) {
			for r := range generated(1000, nil) {
				if r.ID == "item-000500" {
					time.Sleep(1200 * time.Millisecond)
				}
				if !yield(r, nil) {
					return
				}
			}
		})
	})
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || bytes.Count(body, []byte("\n")) != 1001 {
		t.Errorf("%d lines, %v", bytes.Count(body, []byte("\n")), err)
	}
}

// Half an export is never taken for a whole one.
func TestBrokenDump(t *testing.T) {
	at, faults := exportServer(t, func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
		return f(p, generated(1000, errors.New("the disk is gone")))
	})
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the broken export ended like a whole one")
	}
	waitFor(t, func() bool { return faults.Load() == 1 })

	early, faults := exportServer(t, func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
		return f(p, generated(0, errors.New("the disk is gone")))
	})
	clean, err := http.Get(early)
	if err != nil {
		t.Fatal(err)
	}
	defer clean.Body.Close()
	if clean.StatusCode != 503 || clean.Header.Get("Retry-After") == "" || clean.Header.Get("Etag") != "" || faults.Load() != 1 {
		t.Errorf("before the first byte: %d %v", clean.StatusCode, clean.Header)
	}
}

// A reader that goes away ends the export, and that is nobody's fault.
func TestDumpReaderGoesAway(t *testing.T) {
	ended := make(chan struct{})
	at, faults := exportServer(t, func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
		defer close(ended)
		return f(p, generated(10_000_000, nil))
	})
	host := strings.TrimPrefix(at[:strings.Index(at, berlin)], "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", at[strings.Index(at, berlin):])
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the export goes on without a reader")
	}
	if faults.Load() != 0 {
		t.Error("it was reported as a fault")
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

// XP-FRESHNESS-007: a pause that commits between admission and snapshot counts.
func TestDumpJudgesItsSnapshot(t *testing.T) {
	e := &exporter{registry: newRegistry(t)}
	e.dump = func(p *business.Publication, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
		later := *p
		later.Standing.Lifecycle = business.Paused
		return f(&later, generated(3, nil))
	}
	s := &surface{registry: e.registry, handler: bizhttp.Handler(bizhttp.HandlerOptions{Source: e})}
	for _, tail := range []string{"/dump.jsonl", "/sitemap.xml"} {
		if w := s.get(berlin + "published" + tail); w.Code != 404 || codeOf(w) != "unknown_publisher" || strings.Contains(w.Body.String(), "item") {
			t.Errorf("%s: %d %s", tail, w.Code, w.Body)
		}
	}
}

// The tag covers content, authority and addresses, and not the time of the export.
func TestDumpTag(t *testing.T) {
	s := newSurface(t)
	at := berlin + "published/dump.jsonl"
	first := s.get(at).Header().Get("Etag")
	s.now = s.now.Add(time.Minute)
	if again := s.get(at).Header().Get("Etag"); again != first || !strings.HasPrefix(first, `W/"`) {
		t.Errorf("a minute later: %s, before %s", again, first)
	}
	seen := map[string]bool{first: true}
	p := s.pubs["published"]
	for name, change := range map[string]func(){
		"content":      func() { p.State.ContentHash = "sha256:" + strings.Repeat("cd", 32) },
		"proof":        func() { p.Standing.Proof.ValidUntil = noon.Add(48 * time.Hour) },
		"verification": func() { p.Standing.Verification = &business.OperatorVerification{Decision: "d", ConfirmedAt: noon} },
		"origin":       func() { s.site.Origin = "https://other.example" },
		"version":      func() { s.site.ServerVersion = "next" }, // another program may write the same content in other bytes
	} {
		change()
		tag := s.get(at).Header().Get("Etag")
		if seen[tag] {
			t.Errorf("%s does not change the tag", name)
		}
		seen[tag] = true
	}
}

// BenchmarkDump exports 10,000 records over a connection, beside a handler that copies the same bytes to its socket in the same chunks.
func BenchmarkDump(b *testing.B) {
	at, _ := exportServer(b, whole(10_000))
	var body []byte
	read := func(at string) time.Duration {
		begin := time.Now()
		resp, err := http.Get(at)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if body == nil {
			body, err = io.ReadAll(resp.Body)
		} else {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	read(at)
	copied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		for rest := body; len(rest) > 0; rest = rest[min(len(rest), 32<<10):] {
			w.Write(rest[:min(len(rest), 32<<10)])
			control.Flush()
		}
	}))
	defer copied.Close()
	var ours, bare []time.Duration
	for b.Loop() {
		ours = append(ours, read(at))
		bare = append(bare, read(copied.URL))
	}
	b.ReportMetric(float64(median(bare))/float64(median(ours)), "ratio")
}
