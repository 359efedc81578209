package postgres_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// proxy stands between a store and its server. It passes on everything, but can drop the answer to a commit together with the connection.
type proxy struct {
	address       string
	cutNextCommit atomic.Bool
}

const socket = ".s.PGSQL.5432"

func newProxy(t *testing.T, address string) *proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	server := filepath.Join(query.Get("host"), socket)
	folder := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(folder, socket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	query.Set("host", folder)
	u.RawQuery = query.Encode()
	p := &proxy{address: u.String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("unix", server)
			if err != nil {
				client.Close()
				continue
			}
			go p.serve(client, upstream)
		}
	}()
	return p
}

func (p *proxy) serve(client, server net.Conn) {
	var cut atomic.Bool
	go func() {
		defer client.Close()
		defer server.Close()
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil || cut.Load() {
				return // what the server says to the commit is never passed on
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	p.forward(client, server, &cut)
}

// forward passes on what the client says, message by message. The first message has no type.
func (p *proxy) forward(client, server net.Conn, cut *atomic.Bool) {
	defer server.Close()
	for first := true; ; first = false {
		head := make([]byte, 5)
		if first {
			head = head[:4]
		}
		if _, err := io.ReadFull(client, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		if !first && head[0] == 'Q' && strings.HasPrefix(strings.ToLower(string(body)), "commit") && p.cutNextCommit.CompareAndSwap(true, false) {
			cut.Store(true)
		}
		if _, err := server.Write(append(head, body...)); err != nil {
			return
		}
	}
}
