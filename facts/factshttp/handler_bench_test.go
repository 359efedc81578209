package factshttp_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
)

// BenchmarkFactsGet compares GET of a record with a bare handler that sends the same status, headers and bytes, both over loopback, in alternating rounds
// (F§15). The ratio is throughput; the bound is 0.80, the aim 0.95.
func BenchmarkFactsGet(b *testing.B) {
	for _, size := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			s := servedSnapshot(b, scaleCatalogue(b, size))
			at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
			ours := factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s }, Clock: func() time.Time { return at }})
			var paths []string
			for i := range 64 {
				paths = append(paths, "/f/"+scaleKey(i*(size/64)))
			}
			ratio, perGet := compareThroughput(b, ours, bareHandler(ours, paths), paths)
			word := "ok"
			if ratio < 0.80 {
				word = "short"
			}
			fmt.Printf("bench: facts-get/%d ratio=%.2f bound=0.80 %s\n", size, ratio, word)
			b.ReportMetric(ratio, "x-bare")
			b.ReportMetric(float64(perGet.Nanoseconds()), "ns/get")
			b.ReportMetric(0, "ns/op") // the rounds have a length of their own
		})
	}
}

// BenchmarkHandler is the handler alone, without a connection.
func BenchmarkHandler(b *testing.B) {
	s := servedSnapshot(b, scaleCatalogue(b, 10_000))
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	h := factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s }, Clock: func() time.Time { return at }})
	r := httptest.NewRequest(http.MethodGet, "/f/"+scaleKey(4711), nil)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

func scaleKey(i int) string { return fmt.Sprintf("zz-a/figure-%d/value", i) }

// scaleCatalogue has records of about the size of the seed's example: quote, period and source.
func scaleCatalogue(t testing.TB, size int) *facts.Dataset {
	ds := &facts.Dataset{
		Publisher:  facts.Publisher{Name: "Example Figures", URL: testOrigin + "/"},
		Namespaces: []facts.Namespace{{Name: "zz-a", Description: "Generated", Calendar: facts.CalendarNone, Authorities: []string{"figures.example"}}},
	}
	from, to, verified := servedDay(t, "2026-04-06"), servedDay(t, "2027-04-05"), servedDay(t, "2026-10-04")
	for i := range size {
		ds.Facts = append(ds.Facts, facts.Fact{Key: scaleKey(i), Label: fmt.Sprintf("Generated figure %d", i), Topic: -1, Values: []facts.DatedValue{{
			Value: facts.Value(strconv.Itoa(i)), Unit: "GBP/year", Period: "2026-27", From: from, To: to, ToExplicit: true,
			Source: "https://figures.example/page/" + strconv.Itoa(i), Quote: strings.Repeat("the figure as the page states it ", 6), Verified: verified,
		}}})
	}
	slices.SortFunc(ds.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	return ds
}

// bareHandler replays what the handler answers to each path: a map lookup, the headers assigned as they are, one write.
func bareHandler(h http.Handler, paths []string) http.Handler {
	type field struct {
		name   string
		values []string
	}
	type recorded struct {
		header []field
		body   []byte
	}
	answers := map[string]recorded{}
	for _, path := range paths {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		a := recorded{body: w.Body.Bytes()}
		for name, values := range w.Header() {
			a.header = append(a.header, field{name, values})
		}
		answers[path] = a
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answers[r.URL.Path]
		header := w.Header()
		for _, f := range a.header {
			header[f.name] = f.values
		}
		w.Write(a.body)
	})
}

// compareThroughput runs both handlers in turn and returns the median ratio of their throughput and the median time of one of our answers.
func compareThroughput(b *testing.B, ours, bare http.Handler, paths []string) (ratio float64, perGet time.Duration) {
	one, two := httptest.NewServer(ours), httptest.NewServer(bare)
	defer one.Close()
	defer two.Close()
	const rounds, warm, length = 9, 100 * time.Millisecond, 400 * time.Millisecond
	throughput(b, one, paths, warm)
	throughput(b, two, paths, warm)
	var ratios, times []float64
	for i := range rounds {
		var a, c float64
		if i%2 == 0 {
			a, c = throughput(b, one, paths, length), throughput(b, two, paths, length)
		} else {
			c, a = throughput(b, two, paths, length), throughput(b, one, paths, length)
		}
		ratios, times = append(ratios, a/c), append(times, 1e9/a)
	}
	slices.Sort(ratios)
	slices.Sort(times)
	return ratios[rounds/2], time.Duration(times[rounds/2])
}

// throughput is answers per second over four connections. The client does as little as it can: fixed request bytes, the header skipped, the length read.
func throughput(b *testing.B, server *httptest.Server, paths []string, length time.Duration) float64 {
	address := server.Listener.Addr().String()
	var total int
	var mu sync.Mutex
	var group sync.WaitGroup
	begin := time.Now()
	for range 4 {
		group.Go(func() {
			n, err := fetchFor(address, paths, length)
			mu.Lock()
			defer mu.Unlock()
			if total += n; err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
	return float64(total) / time.Since(begin).Seconds()
}

func fetchFor(address string, paths []string, length time.Duration) (n int, err error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	requests := make([][]byte, len(paths))
	for i, path := range paths {
		requests[i] = []byte("GET " + path + " HTTP/1.1\r\nHost: figures.example\r\n\r\n")
	}
	r := bufio.NewReaderSize(c, 16<<10)
	for end := time.Now().Add(length); time.Now().Before(end); n++ {
		if _, err := c.Write(requests[n%len(requests)]); err != nil {
			return n, err
		}
		body := -1
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return n, err
			}
			if len(line) <= 2 {
				break
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				body, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			}
		}
		if _, err := io.CopyN(io.Discard, r, int64(body)); err != nil {
			return n, err
		}
	}
	return n, nil
}
