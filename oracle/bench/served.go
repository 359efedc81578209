package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/examples"
	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factshttp"
	"sayso/facts/factstest"
	"sayso/facts/resolvetest"
	"sayso/internal/mcpserve"
	"sayso/internal/web"
)

// measureRecordBytes holds the size of the protocol's own example.
func measureRecordBytes(r *report, _ *plan) error {
	_, record, err := example()
	if err != nil {
		return err
	}
	r.title("Size of the signed record of the protocol's example, in bytes")
	r.bound(line{name: "record-bytes", ratio: float64(len(record)), bound: 1126, bytes: true})
	return nil
}

// measureToolsList holds the size of what an assistant reads before it can ask: the tools of the joined sample publishers.
func measureToolsList(r *report, _ *plan) error {
	s, err := samples()
	if err != nil {
		return err
	}
	list, err := toolsList(s)
	if err != nil {
		return err
	}
	r.title("Size of the minified tools/list result over the joined sample publishers, in bytes")
	r.bound(line{name: "tools-list-bytes", ratio: float64(len(list)), bound: 2662, bytes: true})
	return nil
}

// samples joins the sample publishers as one.
func samples() (*facts.Snapshot, error) {
	var parts []*facts.Dataset
	for _, name := range []string{"uk", "fr", "eol"} {
		root, err := fs.Sub(examples.Facts, "facts/"+name)
		if err != nil {
			return nil, err
		}
		folder, _ := dataset.Load(root)
		part, err := folder.Dataset(dataset.DatasetOptions{Level: "L2"})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		parts = append(parts, part)
	}
	joined, err := dataset.Join(facts.Publisher{Name: "Example Figures", URL: factstest.Origin + "/"}, parts...)
	if err != nil {
		return nil, err
	}
	return facts.NewSnapshot(joined, facts.Options{Origin: factstest.Origin, Conformance: "L2"})
}

// toolsList asks the MCP endpoint and returns the result without white space.
func toolsList(s *facts.Snapshot) ([]byte, error) {
	request := httptest.NewRequest(http.MethodPost, factstest.Origin+"/api/mcp/facts", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	w := httptest.NewRecorder()
	tools(s).ServeHTTP(w, request)
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		return nil, err
	}
	if n := bytes.Count(answer.Result, []byte(`"inputSchema"`)); n != 3 {
		return nil, fmt.Errorf("tools/list shows %d tools, not 3: %s", n, w.Body)
	}
	var list bytes.Buffer
	err := json.Compact(&list, answer.Result)
	return list.Bytes(), err
}

func tools(s *facts.Snapshot) http.Handler {
	return mcpserve.NewFacts(mcpserve.FactsOptions{Snapshot: func() *facts.Snapshot { return s }, Today: func() facts.Date { return factstest.Today },
		Version: "0.0.0", PublicOrigin: factstest.Origin})
}

// childVariable makes this program a server of as many generated facts as it says, which measures itself.
const childVariable = "SAYSO_BENCH_SERVE"

// served is what a child says about itself. Times are in nanoseconds.
type served struct {
	Facts         int
	Resident      int // bytes, after everything below was asked for and garbage was given back
	Start         time.Duration
	Get, Answer   time.Duration // of a record in memory, and of the handler without a connection
	P50, P99      time.Duration // of resolve
	Listed        int           // entries of one namespace's index
	First, Second time.Duration // answers of that index
}

// measureServed starts a server for every size, and one without facts, each in a process of its own.
func measureServed(r *report, p *plan) error {
	empty, err := child(0)
	if err != nil {
		return err
	}
	r.title("A server of signed facts in a process of its own; memory: what it holds beyond a server without facts (%d MB), after a forced collection", empty.Resident>>20)
	var rows []string
	var lines []line
	costs := map[string][]time.Duration{}
	names := []string{"the start", "a get in memory", "a get of the handler", "resolve p50", "resolve p99"}
	for _, n := range p.served {
		c, err := child(n)
		if err != nil {
			return err
		}
		if c.Facts != n {
			return fmt.Errorf("%d facts are served, not %d", c.Facts, n)
		}
		each := line{name: fmt.Sprintf("rss-per-fact/%d", n), ratio: float64(c.Resident-empty.Resident) / float64(n), bound: 2560, bytes: true}
		for i, cost := range []time.Duration{c.Start, c.Get, c.Answer, c.P50, c.P99} {
			costs[names[i]] = append(costs[names[i]], cost)
		}
		rows = append(rows, fmt.Sprintf("%d|%s|%d|%s|%s|%s|%s|%s|%d|%s|%s", n, each.text(), c.Resident>>20, ms(c.Start), ms(c.Get), ms(c.Answer), ms(c.P50), ms(c.P99),
			c.Listed, ms(c.First), ms(c.Second)))
		lines = append(lines, each)
	}
	r.table("facts|bytes/fact|MB|start ms|get ms|handler ms|resolve p50|p99|in namespace|index first ms|again ms", rows...)
	for _, name := range names {
		r.growth(name, p.served, costs[name])
	}
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

// child runs this program as a server of n facts.
func child(n int) (*served, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), childVariable+"="+strconv.Itoa(n))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("the server of %d facts: %w", n, err)
	}
	result := new(served)
	return result, json.Unmarshal(out, result)
}

// serveChild is the child: it loads, answers over a loopback connection, measures and writes one JSON object.
func serveChild(size string, out io.Writer) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	ds := signed(n)
	runtime.GC()
	begin := time.Now()
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: "L3"})
	if err != nil {
		return err
	}
	result := served{Facts: s.Len(), Start: time.Since(begin)}
	var questions []string
	if n > 0 {
		labels := make([]string, n)
		for i := range ds.Facts {
			labels[i] = strings.Clone(ds.Facts[i].Label)
		}
		questions = resolvetest.Queries(2, labels, 1_000)
	}
	ds = nil
	noon := factstest.Today.Time().Add(12 * time.Hour)
	handler := factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s }, Clock: func() time.Time { return noon },
		Pages: web.Pages(), MCP: tools(s)})
	listener := httptest.NewServer(handler)
	defer listener.Close()
	if n > 0 {
		if err := result.askMemory(s, handler, questions); err != nil {
			return err
		}
	}
	questions = nil
	if err := result.askServer(s, listener); err != nil {
		return err
	}
	runtime.GC()
	debug.FreeOSMemory()
	if result.Resident, err = resident(); err != nil {
		return err
	}
	runtime.KeepAlive(s)
	return json.NewEncoder(out).Encode(&result)
}

// askMemory times what needs no connection: random keys and the usual mix of questions.
func (c *served) askMemory(s *facts.Snapshot, h http.Handler, questions []string) error {
	keys, err := inForce(s)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	const stretch, rounds = 50 * time.Millisecond, 7
	i := 0
	next := func() string { i++; return keys[i%len(keys)] }
	buf := make([]byte, 0, 16<<10)
	get := perOperation(stretch, func() error {
		a, err := s.Get(next(), newest, factstest.Today)
		buf = a.AppendJSON(buf[:0])
		return err
	})
	w, request := &discard{header: http.Header{}}, httptest.NewRequest(http.MethodGet, "/f/", nil)
	answer := perOperation(stretch, func() error {
		clear(w.header)
		request.URL.Path = "/f/" + next()
		h.ServeHTTP(w, request)
		return nil
	})
	both, err := alternate(rounds, get, answer)
	if err != nil {
		return err
	}
	c.Get, c.Answer = median(both.ours), median(both.theirs)
	took := make([]time.Duration, len(questions))
	for i, q := range questions {
		for round := range 3 {
			begin := time.Now()
			if _, err := resolveOnce(s, q); err != nil {
				return err
			}
			if d := time.Since(begin); round == 0 || d < took[i] {
				took[i] = d
			}
		}
	}
	slices.Sort(took)
	c.P50, c.P99 = quantile(took, 50), quantile(took, 99)
	return nil
}

// askServer reads the index of one namespace twice and a thousand records, pages among them, so that what a server keeps for answering is in its memory.
func (c *served) askServer(s *facts.Snapshot, listener *httptest.Server) error {
	ask := func(path string) (time.Duration, error) {
		begin := time.Now()
		answer, err := listener.Client().Get(listener.URL + path)
		if err != nil {
			return 0, err
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return 0, err
		}
		if answer.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("%s answers %s", path, answer.Status)
		}
		return time.Since(begin), nil
	}
	namespace := s.Info().Namespaces[0].Name
	c.Listed = s.Info().NamespaceCounts[namespace]
	var err error
	for _, took := range []*time.Duration{&c.First, &c.Second} {
		if *took, err = ask("/f?namespace=" + namespace); err != nil {
			return err
		}
	}
	asked := 0
	for key := range s.Keys() {
		for _, form := range []string{"", "?format=html"} {
			if _, err := ask("/f/" + key + form); err != nil {
				return err
			}
		}
		if asked++; asked == 500 {
			break
		}
	}
	return nil
}

// resident is the resident memory of this process in bytes.
func resident() (int, error) { return memory("VmRSS") }

// memory reads one size of this process in bytes, as Linux counts it.
func memory(name string) (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("memory is read from Linux's /proc: %w", err)
	}
	_, rest, _ := bytes.Cut(status, []byte("\n"+name+":"))
	fields := strings.Fields(string(rest))
	if len(fields) < 2 || fields[1] != "kB" {
		return 0, fmt.Errorf("/proc/self/status does not say %s in kB", name)
	}
	kb, err := strconv.Atoi(fields[0])
	return kb << 10, err
}

// discard is a response that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}
