package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"sayso/business/bizhttp"
)

// measureDump holds the memory of an export, and compares its speed with copying the same bytes to a socket.
func measureDump(r *report, p *plan) error {
	ctx := context.Background()
	temp, err := os.MkdirTemp("", "sayso-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r.title("GET dump.jsonl over loopback from SQLite; baseline: the same bytes, in memory, written to a socket")
	var rows []string
	var lines []line
	var times []time.Duration
	for _, n := range p.records {
		file, err := recordFile(temp, n)
		if err != nil {
			return err
		}
		both, size, err := dumpAt(ctx, file, n, p)
		if err != nil {
			return err
		}
		grown, err := grownBy("dump", file, n)
		if err != nil {
			return err
		}
		ours := median(both.ours)
		times = append(times, ours)
		rows = append(rows, fmt.Sprintf("%d|%d|%s|%s|%.0f|%.0f|%.3f|%.1f", n, size, ms(ours), ms(median(both.theirs)), float64(n)/ours.Seconds(), float64(size)/1e6/ours.Seconds(),
			1/both.ratio(), float64(grown)/(1<<20)))
		lines = append(lines, line{name: fmt.Sprintf("xp-dump-rss/%d", n), ratio: float64(grown), bound: 50 << 20, bytes: true})
	}
	r.table("records|bytes|ours ms|copy ms|records/s|MB/s|speed ratio|memory grows by MB", rows...)
	r.growth("the time of an export", p.records, times)
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

// withDump serves a registry of n records and runs f with the address of its export.
func withDump(ctx context.Context, file string, n int, f func(url string) error) error {
	return withRegistry(ctx, "", func(r *registryOf) error {
		if err := r.establish(ctx, shop); err != nil {
			return err
		}
		if err := r.load(ctx, file, n); err != nil {
			return err
		}
		ctx, stop := context.WithCancel(ctx)
		if err := r.Refresh(ctx); err != nil {
			stop()
			return err
		}
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		running.Go(func() { r.Run(ctx) })
		server := httptest.NewServer(bizhttp.Handler(bizhttp.HandlerOptions{Source: r}))
		defer server.Close()
		return f(server.URL + "/b/" + shop + "/dump.jsonl")
	})
}

func dumpAt(ctx context.Context, file string, n int, p *plan) (both pair, size int, err error) {
	err = withDump(ctx, file, n, func(url string) error {
		text, err := bodyOf(url)
		if err != nil {
			return err
		}
		size = len(text)
		copying, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer copying.Close()
		go func() {
			for {
				c, err := copying.Accept()
				if err != nil {
					return
				}
				c.Write(text)
				c.Close()
			}
		}()
		both, err = alternate(p.rounds, func() (time.Duration, error) { return timedDump(url, n) }, func() (time.Duration, error) {
			begin := time.Now()
			c, err := net.Dial("tcp", copying.Addr().String())
			if err != nil {
				return 0, err
			}
			defer c.Close()
			read, err := io.Copy(io.Discard, c)
			if err == nil && read != int64(size) {
				err = fmt.Errorf("%d bytes of %d were copied", read, size)
			}
			return time.Since(begin), err
		})
		return err
	})
	return both, size, err
}

func bodyOf(url string) ([]byte, error) {
	a, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, a.Status)
	}
	return io.ReadAll(a.Body)
}

// timedDump reads an export as it comes and counts its lines.
func timedDump(url string, n int) (time.Duration, error) {
	begin := time.Now()
	a, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	lines, r := 0, bufio.NewReaderSize(a.Body, 64<<10)
	for {
		_, err := r.ReadSlice('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		lines++
	}
	if lines != n+1 {
		return 0, errors.New("the export is not whole")
	}
	return time.Since(begin), nil
}
