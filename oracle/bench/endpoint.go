package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/mcpserve"
	"sayso/internal/server"
	"sayso/jcs"
)

// serve runs a whole server over the registry while f does its work: both listeners, limits, metrics, the MCP endpoints and the background work.
func (r *registryOf) serve(ctx context.Context, f func(public, private string) error) error {
	if err := r.Refresh(ctx); err != nil {
		return err
	}
	public, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer public.Close()
	private, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer private.Close()
	s := server.New(server.Options{PublicListener: public, PrivateListener: private, Registry: r.Registry,
		Call: mcpserve.NewRegistry(mcpserve.RegistryOptions{Registry: r.Registry, Version: "0.0.0"}).ServeCall})
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	err = f(public.Addr().String(), private.Addr().String())
	stop()
	return errors.Join(err, <-ended)
}

// callOf is a tools/call as it stands on a connection.
func callOf(path, tool, arguments string) []byte {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: registry.example\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2025-11-25\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// exchange sends one request on a connection and returns the body of its answer, which must be a success.
func exchange(c net.Conn, r *bufio.Reader, request []byte) ([]byte, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	length, err := skipHeader(r)
	if err != nil {
		return nil, err
	}
	body, err := r.Peek(length)
	if err != nil {
		return nil, err
	}
	_, err = r.Discard(length)
	return body, err
}

// answerTo is one answer on a connection of its own.
func answerTo(address string, request []byte) (http.Header, []byte, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	if _, err := c.Write(request); err != nil {
		return nil, nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("a call is answered %s: %.200s", answer.Status, body)
	}
	return answer.Header, body, err
}

// volley sends requests over n connections until the stretch is over, on each the next one when the answer is there and at least pace after the one before.
// It returns what each took, sorted, and how long it was all together.
func volley(address string, requests [][]byte, n int, stretch, pace time.Duration) ([]time.Duration, time.Duration, error) {
	took := make([][]time.Duration, n)
	failures := make([]error, n)
	var group sync.WaitGroup
	begin := time.Now()
	for i := range n {
		group.Go(func() {
			took[i], failures[i] = shots(address, requests, i*len(requests)/n, begin.Add(stretch), begin.Add(pace*time.Duration(i)/time.Duration(n)), pace)
		})
	}
	group.Wait()
	all := time.Since(begin)
	return slices.Sorted(slices.Values(slices.Concat(took...))), all, errors.Join(failures...)
}

// shots is one connection of a volley. Its first request is sent at start, and each time is counted from the moment at which its request was due.
func shots(address string, requests [][]byte, first int, end, start time.Time, pace time.Duration) (took []time.Duration, err error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r := bufio.NewReaderSize(c, 64<<10)
	for i, due := first, start; ; i++ {
		time.Sleep(time.Until(due))
		begin := time.Now()
		if pace > 0 {
			begin = due
		}
		if begin.After(end) {
			return took, nil
		}
		if _, err := exchange(c, r, requests[i%len(requests)]); err != nil {
			return took, err
		}
		took = append(took, time.Since(begin))
		due = due.Add(pace)
	}
}

// newEcho is the baseline of calls: the official SDK without sessions and with one JSON body for each answer, and a tool that says back what it was asked.
func newEcho() *httptest.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "0.0.0"}, nil)
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: jcs.Raw(`{"type":"object"}`)}, func(_ context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(call.Params.Arguments)}}}, nil
	})
	return httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true}))
}

// newBare is the baseline of the slowest calls: a handler that reads a request, looks it up and sends the headers and bytes with which it was answered before.
func newBare(address string, requests [][]byte) (*httptest.Server, error) {
	type answered struct {
		header http.Header
		body   []byte
	}
	answers := make(map[string]answered, len(requests))
	for _, request := range requests {
		header, body, err := answerTo(address, request)
		if err != nil {
			return nil, err
		}
		header.Del("Date")
		_, asked, _ := strings.Cut(string(request), "\r\n\r\n")
		answers[asked] = answered{header, body}
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, asked); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		a := answers[string(asked)]
		maps.Copy(w.Header(), a.header)
		w.Write(a.body)
	})), nil
}
