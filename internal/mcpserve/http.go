package mcpserve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/jcs"
)

// maxBody is the largest request body in bytes.
const maxBody = 1 << 20

// streamTimeout ends a stream a client holds open; a call has ended by then (callTimeout).
const streamTimeout = callTimeout + 5*time.Second

// FactsOptions configures [NewFacts].
type FactsOptions struct {
	// Snapshot returns the one to answer from, nil while none is loaded.
	Snapshot func() *facts.Snapshot
	// Today is the current day in UTC.
	Today func() facts.Date
	// Version of the running program.
	Version string
	// PublicOrigin is scheme://host[:port]; its host is what the Host header must name.
	PublicOrigin string
}

// NewFacts serves the three facts tools over Streamable HTTP at whatever path it is mounted.
func NewFacts(o FactsOptions) http.Handler {
	source := &factsSource{options: o}
	return newEndpoint(o.PublicOrigin, source.server)
}

// newEndpoint puts the strict reader in front of whatever server is current, nil while there is none.
func newEndpoint(origin string, server func() *mcp.Server) http.Handler {
	e := &endpointHandler{hosts: allowedHosts(origin), server: server}
	e.sdk = mcp.NewStreamableHTTPHandler(
		func(r *http.Request) *mcp.Server { return r.Context().Value(serverKey{}).(*mcp.Server) },
		&mcp.StreamableHTTPOptions{
			Stateless:                    true,
			JSONResponse:                 true,
			MaxRequestBodyBytes:          maxBody,
			DisableLocalhostProtection:   true, // the Host list decides; the SDK's rule refuses a proxy on the same machine
			PropagateRequestCancellation: true,
		})
	return e
}

// factsSource keeps the SDK server of the current snapshot: its tool list names what the snapshot holds.
type factsSource struct {
	options FactsOptions
	current atomic.Pointer[builtServer]
}

type builtServer struct {
	snapshot *facts.Snapshot
	server   *mcp.Server
}

// server returns the server of the current snapshot, nil while there is none. Two requests that meet a new snapshot
// may both build; either result is right.
func (f *factsSource) server() *mcp.Server {
	snapshot := f.options.Snapshot()
	if snapshot == nil {
		return nil
	}
	if built := f.current.Load(); built != nil && built.snapshot == snapshot {
		return built.server
	}
	id := Identity{Name: describe.ServerName(snapshot), Title: describe.ServerTitle(snapshot), Version: f.options.Version}
	built := &builtServer{snapshot, newServer(id, &snapshotTools{snapshot, f.options.Today}, callTimeout)}
	f.current.Store(built)
	return built.server
}

type serverKey struct{}

// endpointHandler is the strict HTTP reader in front of the SDK. Whatever answers tools/call without the SDK would
// stand behind the same checks, between accept and sdk.
type endpointHandler struct {
	hosts  []string
	server func() *mcp.Server
	sdk    http.Handler
}

func (e *endpointHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, ETag")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	if !slices.Contains(e.hosts, hostName(r.Host)) {
		refuse(w, http.StatusForbidden, "host not allowed",
			"this server answers for the host of its origin alone; let the proxy keep the Host header, or set --origin to the name that clients use")
		return
	}
	if r.Method == http.MethodOptions {
		preflight(w)
		return
	}
	if r.Method != http.MethodPost {
		header.Set("Allow", "POST, OPTIONS")
		refuse(w, http.StatusMethodNotAllowed, "method not allowed", "send MCP messages with POST")
		return
	}
	server := e.server()
	if server == nil {
		header.Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, "unavailable", "no dataset is loaded yet; try again in a few seconds")
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), serverKey{}, server), streamTimeout)
	defer cancel()
	r = r.Clone(ctx)
	m, body, ok := e.accept(w, r)
	if !ok {
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer := &jsonErrors{ResponseWriter: w, id: m.id}
	e.sdk.ServeHTTP(answer, r)
	answer.finish()
}

// accept checks headers and body. It has answered when ok is false.
func (e *endpointHandler) accept(w http.ResponseWriter, r *http.Request) (m message, body []byte, ok bool) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "unsupported media type", "the body must be application/json")
		return m, nil, false
	}
	if !acceptsJSON(r.Header.Values("Accept")) {
		refuse(w, http.StatusNotAcceptable, "not acceptable", "answers are application/json; add it to Accept")
		return m, nil, false
	}
	// The SDK wants both types named even where one is enough, and refuses the header of a resumed stream.
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Del("Last-Event-ID")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			refuse(w, http.StatusRequestEntityTooLarge, "body too large", "a message may have at most "+strconv.Itoa(maxBody)+" bytes")
		} else {
			refuse(w, http.StatusBadRequest, "invalid body", "the body could not be read to its end")
		}
		return m, nil, false
	}
	m, refused := parseMessage(body)
	if refused == nil {
		refused = checkRevision(r.Header.Get("Mcp-Protocol-Version"), m)
	}
	switch {
	case refused != nil:
		refuseRPC(w, http.StatusBadRequest, refused)
	case m.unknown() && r.Header.Get("Mcp-Protocol-Version") < firstStateless:
		refuseRPC(w, http.StatusOK, m.notFound())
	default:
		return m, body, true
	}
	return m, nil, false
}

// firstStateless is the first revision without a handshake. Revisions compare as text.
const firstStateless = "2026-07-28"

// checkRevision refuses a revision header that names none of ours. Without the header the revision is not known yet.
func checkRevision(version string, m message) *rpcError {
	if version == "" || slices.Contains(describe.ProtocolVersions, version) {
		return nil
	}
	type versions struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}
	return &rpcError{
		ID: m.id, Code: codeUnsupportedVersion, Message: "protocol revision " + shorten(version) + " is not spoken here",
		Data: versions{describe.ProtocolVersions, strings.ToValidUTF8(version, "\uFFFD")},
	}
}

// acceptsJSON is lenient where clients are careless: no Accept, or JSON alone, is enough.
func acceptsJSON(values []string) bool {
	for _, value := range values {
		for _, item := range strings.Split(value, ",") {
			media, params, err := mime.ParseMediaType(strings.TrimSpace(item))
			if err != nil {
				continue
			}
			q, err := strconv.ParseFloat(params["q"], 64)
			refused := err == nil && q == 0
			if !refused && (media == "application/json" || media == "application/*" || media == "*/*") {
				return true
			}
		}
	}
	return len(values) == 0
}

// allowedHosts is the Host list: the origin's host and, on a loopback origin, every loopback spelling.
func allowedHosts(origin string) []string {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return nil
	}
	host := strings.ToLower(u.Hostname())
	if isLoopback(host) {
		return []string{host, "localhost", "127.0.0.1", "::1"}
	}
	return []string{host}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hostName is a Host header without port and brackets, lower-case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

func preflight(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	header.Set("Access-Control-Allow-Headers", "Content-Type, Accept, Authorization, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID")
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// refuse answers before there is a JSON-RPC message to answer to.
func refuse(w http.ResponseWriter, status int, code, sentence string) {
	body := jcs.AppendString([]byte(`{"error":`), code)
	body = jcs.AppendString(append(body, `,"message":`...), sentence)
	writeJSON(w, status, append(body, '}'))
}

func refuseRPC(w http.ResponseWriter, status int, e *rpcError) { writeJSON(w, status, e.JSON()) }

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

// jsonErrors turns the plain-text refusals of the SDK into JSON-RPC errors; everything else passes.
type jsonErrors struct {
	http.ResponseWriter
	id     jcs.Raw
	status int // set while a plain-text refusal is held back
	text   []byte
}

// maxRefusal is how much of the SDK's sentence is passed on.
const maxRefusal = 200

func (j *jsonErrors) WriteHeader(status int) {
	if status >= 400 && strings.HasPrefix(j.Header().Get("Content-Type"), "text/plain") {
		j.status = status
		return
	}
	j.ResponseWriter.WriteHeader(status)
}

func (j *jsonErrors) Write(p []byte) (int, error) {
	if j.status == 0 {
		return j.ResponseWriter.Write(p)
	}
	j.text = append(j.text, p[:min(len(p), maxRefusal-len(j.text))]...)
	return len(p), nil
}

// Flush lets a streamed answer through.
func (j *jsonErrors) Flush() {
	if j.status == 0 {
		_ = http.NewResponseController(j.ResponseWriter).Flush()
	}
}

// Unwrap gives http.ResponseController the connection.
func (j *jsonErrors) Unwrap() http.ResponseWriter { return j.ResponseWriter }

// finish writes the refusal that was held back.
func (j *jsonErrors) finish() {
	if j.status == 0 {
		return
	}
	code := codeInvalidRequest
	if j.status >= 500 {
		code = codeInternal
	}
	j.Header().Del("Content-Length")
	refuseRPC(j.ResponseWriter, j.status, &rpcError{ID: j.id, Code: code, Message: string(bytes.TrimSpace(j.text))})
}
