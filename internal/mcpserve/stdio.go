package mcpserve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine bounds a line of input; a longer one is refused and skipped.
	maxLine = 16 << 20
	// drainTimeout is how long answers may take after the end of input.
	drainTimeout = 30 * time.Second
)

// ServeStdio serves tools to one client over a pair of streams, one message a line, until in ends, ctx is done or out
// fails. Requests read before the end of input are answered before it returns nil. When ctx ends first, its error is
// returned and a read of in that is still blocked is left to the caller to close.
func ServeStdio(ctx context.Context, in io.Reader, out io.Writer, t Tools, id Identity) error {
	err := newServer(id, t, callTimeout).Run(ctx, &lineTransport{in: in, out: out})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lineTransport is the SDK's view of the two streams. The SDK's own stdio transport ends at the first malformed line
// and leaves requests unanswered at the end of input; this one does neither.
type lineTransport struct {
	in  io.Reader
	out io.Writer
}

// Connect starts reading.
func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{out: t.out, lines: make(chan line), closed: make(chan struct{}), idle: make(chan struct{}, 1)}
	go c.readLines(bufio.NewReaderSize(t.in, 64<<10))
	return c, nil
}

// line is one line of input, or the reason why it cannot be used.
type line struct {
	data    []byte
	tooLong bool
}

type lineConn struct {
	lines  chan line // closed at the end of input
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex // guards what follows
	out     io.Writer
	pending int           // calls handed to the SDK and not answered
	idle    chan struct{} // gets a token when pending falls to zero
}

// readLines feeds lines until the end of input or Close. A last line without its line end counts.
func (c *lineConn) readLines(r *bufio.Reader) {
	defer close(c.lines)
	for {
		next, err := readLine(r)
		if len(bytes.TrimSpace(next.data)) > 0 || next.tooLong {
			select {
			case c.lines <- next:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads up to the next line end and keeps at most maxLine bytes.
func readLine(r *bufio.Reader) (line, error) {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if len(l.data)+len(part) > maxLine {
			l.data, l.tooLong = nil, true
		}
		if !l.tooLong {
			l.data = append(l.data, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}

// Read returns the next acceptable message. What is not acceptable is answered here.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case l, ok := <-c.lines:
			if !ok {
				return nil, c.drain(ctx)
			}
			m, refused := c.decode(l)
			if refused == nil {
				return m, nil
			}
			if err := c.writeLine(refused.JSON()); err != nil {
				return nil, err
			}
		}
	}
}

// decode checks a line and counts it when it is a call.
func (c *lineConn) decode(l line) (jsonrpc.Message, *rpcError) {
	if l.tooLong {
		return nil, &rpcError{Code: codeParse, Message: "the line is longer than 16 MiB"}
	}
	m, refused := parseMessage(l.data)
	if refused != nil {
		return nil, refused
	}
	if m.unknown() {
		return nil, m.notFound()
	}
	decoded, err := jsonrpc.DecodeMessage(l.data)
	if err != nil {
		return nil, &rpcError{ID: m.id, Code: codeInvalidRequest, Message: "the message cannot be read"}
	}
	if request, ok := decoded.(*jsonrpc.Request); ok && request.IsCall() && request.Method != methodListen {
		c.mu.Lock()
		c.pending++
		c.mu.Unlock()
	}
	return decoded, nil
}

// drain waits at the end of input until every call has its answer.
func (c *lineConn) drain(ctx context.Context) error {
	deadline := time.NewTimer(drainTimeout)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		pending := c.pending
		c.mu.Unlock()
		if pending == 0 {
			return io.EOF
		}
		select {
		case <-c.idle:
		case <-c.closed:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return io.EOF
		}
	}
}

// Write writes one message as a line.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = c.writeLine(data)
	if response, ok := m.(*jsonrpc.Response); ok && response.ID.IsValid() {
		c.answered()
	}
	return err
}

func (c *lineConn) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending--; c.pending == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

func (c *lineConn) writeLine(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	return err
}

// Close ends the connection; it may be called more than once.
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID is empty: a pair of streams is its own session.
func (c *lineConn) SessionID() string { return "" }
