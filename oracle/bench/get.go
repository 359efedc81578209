package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/facts/factstest"
)

const (
	connections = 4
	paths       = 1_000 // distinct keys asked for
)

// measureGet compares throughput over loopback with a handler that sends the same status, headers and body.
func measureGet(r *report, p *plan) error {
	r.title("GET /f/{key}, signed records, %d keep-alive connections, client in the same process; baseline: a handler that replays status, headers and body", connections)
	var rows []string
	var lines []line
	var times []time.Duration
	for _, n := range p.get {
		s, err := facts.NewSnapshot(signed(n), facts.Options{Origin: factstest.Origin, Conformance: "L3"})
		if err != nil {
			return err
		}
		keys, err := inForce(s)
		if err != nil {
			return err
		}
		both, err := compareHandlers(surface(s), pathsOf(keys), p, func(context.Context) {})
		if err != nil {
			return err
		}
		ours, bare := median(both.ours), median(both.theirs)
		ratio := 1 / both.ratio()
		times = append(times, ours)
		rows = append(rows, fmt.Sprintf("%d|%.0f|%.0f|%s|%s|%.3f", n, 1e9/float64(ours), 1e9/float64(bare), ms(ours), ms(bare), ratio))
		lines = append(lines, line{name: fmt.Sprintf("facts-get/%d", n), ratio: ratio, bound: 0.80, atLeast: true})
	}
	r.table("facts|ours/s|bare/s|ours ms|bare ms|throughput ratio", rows...)
	r.growth("the time of a get", p.get, times)
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

// surface is the public handler over a snapshot, on a fixed day.
func surface(s *facts.Snapshot) http.Handler {
	noon := factstest.Today.Time().Add(12 * time.Hour)
	return factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s }, Clock: func() time.Time { return noon }})
}

// pathsOf spreads the requests over the catalogue.
func pathsOf(keys []string) []string {
	list := make([]string, min(paths, len(keys)))
	for i := range list {
		list[i] = "/f/" + keys[i*len(keys)/len(list)]
	}
	return list
}

// compareHandlers times one answer of each handler, the load spread over the connections. beside is what our process has to do besides answering, until its
// context ends; the baseline's rounds run without it.
func compareHandlers(ours http.Handler, paths []string, p *plan, beside func(context.Context)) (pair, error) {
	bare := replay(ours, paths)
	one, two := httptest.NewServer(ours), httptest.NewServer(bare)
	defer one.Close()
	defer two.Close()
	for _, path := range paths[:min(len(paths), 20)] {
		if err := sameAnswer(one.URL+path, two.URL+path); err != nil {
			return pair{}, err
		}
	}
	return alternate(max(9, p.rounds), func() (time.Duration, error) {
		ctx, stop := context.WithCancel(context.Background())
		var working sync.WaitGroup
		defer working.Wait()
		defer stop()
		working.Go(func() { beside(ctx) })
		return load(one.Listener.Addr().String(), paths, 10*p.stretch)
	}, func() (time.Duration, error) { return load(two.Listener.Addr().String(), paths, 10*p.stretch) })
}

// replay is the baseline: one map look-up, the headers assigned as they are, one write.
func replay(h http.Handler, paths []string) http.Handler {
	type field struct {
		name   string
		values []string
	}
	type answer struct {
		status int
		header []field
		body   []byte
	}
	answers := make(map[string]answer, len(paths))
	for _, path := range paths {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		a := answer{status: w.Code, body: w.Body.Bytes()}
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
		if a.status != http.StatusOK {
			w.WriteHeader(a.status)
		}
		w.Write(a.body)
	})
}

// sameAnswer compares two answers in everything but the Date header.
func sameAnswer(one, two string) error {
	var headers [2]http.Header
	var bodies [2][]byte
	for i, url := range []string{one, two} {
		answer, err := http.Get(url)
		if err != nil {
			return err
		}
		bodies[i], err = io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, answer.Status)
		}
		headers[i] = answer.Header
		headers[i].Del("Date")
	}
	if !maps.EqualFunc(headers[0], headers[1], slices.Equal) || !bytes.Equal(bodies[0], bodies[1]) {
		return fmt.Errorf("the baseline answers %s in another way", two)
	}
	return nil
}

// load asks for the paths over all connections until the stretch is over, and returns the time through the number of answers.
func load(address string, paths []string, stretch time.Duration) (time.Duration, error) {
	var answers [connections]int
	var failures [connections]error
	var group sync.WaitGroup
	begin := time.Now()
	for i := range connections {
		group.Go(func() { answers[i], failures[i] = fetch(address, paths, i*len(paths)/connections, stretch) })
	}
	group.Wait()
	took, total := time.Since(begin), 0
	for _, n := range answers {
		total += n
	}
	return took / time.Duration(max(1, total)), errors.Join(failures[:]...)
}

// fetch is a client that does as little as it can: fixed request bytes, the header skipped, the body counted.
func fetch(address string, paths []string, first int, stretch time.Duration) (n int, err error) {
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
	for end := time.Now().Add(stretch); time.Now().Before(end); n++ {
		if _, err := c.Write(requests[(first+n)%len(requests)]); err != nil {
			return n, err
		}
		length, err := skipHeader(r)
		if err != nil {
			return n, err
		}
		if _, err := r.Discard(length); err != nil {
			return n, err
		}
	}
	return n, nil
}

// skipHeader reads up to the body and returns its length.
func skipHeader(r *bufio.Reader) (length int, err error) {
	length = -1
	status, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200 ")) {
		return 0, fmt.Errorf("a request was answered with %q", bytes.TrimSpace(status))
	}
	for {
		field, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(field) <= 2 {
			break
		}
		if value, ok := bytes.CutPrefix(field, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, errors.New("an answer has no Content-Length")
	}
	return length, nil
}
