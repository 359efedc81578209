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
	e.sdk = newSDKHandler(func(r *http.Request) *mcp.Server { return r.Context().Value(serverKey{}).(*mcp.Server) })
	return e
}

// newSDKHandler is the SDK's transport: without sessions, one JSON body for each answer.
func newSDKHandler(server func(*http.Request) *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Stateless:                    true,
		JSONResponse:                 true,
		MaxRequestBodyBytes:          maxBody,
		DisableLocalhostProtection:   true, // the Host list decides; the SDK's rule refuses a proxy on the same machine
		PropagateRequestCancellation: true,
	})
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

// endpointHandler is the strict HTTP reader in front of the SDK.
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
	m, body, refused := accept(w, r)
	switch {
	case refused == nil:
		ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), serverKey{}, server), streamTimeout)
		defer cancel()
		forward(e.sdk, w, r.Clone(ctx), m, body)
	case refused.rpc != nil:
		refuseRPC(w, refused.status, refused.rpc)
	default:
		refuse(w, refused.status, refused.code, refused.sentence)
	}
}

// forward lets the SDK answer an accepted message, its bytes unchanged. The request is the caller's own copy.
func forward(sdk http.Handler, w http.ResponseWriter, r *http.Request, m message, body []byte) {
	// The SDK wants both types named even where one is enough, and refuses the header of a resumed stream.
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Del("Last-Event-ID")
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer := &jsonErrors{ResponseWriter: w, id: m.id}
	sdk.ServeHTTP(answer, r)
	answer.finish()
}

// refusal is why a message is not accepted: a JSON-RPC error, or a status before there is a message to answer to.
type refusal struct {
	status         int
	code, sentence string
	rpc            *rpcError
}

// accept checks headers and body.
func accept(w http.ResponseWriter, r *http.Request) (m message, body []byte, refused *refusal) {
	if media := r.Header["Content-Type"]; len(media) != 1 || media[0] != "application/json" { // the usual spelling needs no parsing
		if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
			return m, nil, &refusal{status: http.StatusUnsupportedMediaType, code: "unsupported media type", sentence: "the body must be application/json"}
		}
	}
	if !acceptsJSON(r.Header["Accept"]) {
		return m, nil, &refusal{status: http.StatusNotAcceptable, code: "not acceptable", sentence: "answers are application/json; add it to Accept"}
	}
	body, err := readBody(w, r)
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			sentence := "a message may have at most " + strconv.Itoa(maxBody) + " bytes"
			return m, nil, &refusal{status: http.StatusRequestEntityTooLarge, code: "body too large", sentence: sentence}
		}
		return m, nil, &refusal{status: http.StatusBadRequest, code: "invalid body", sentence: "the body could not be read to its end"}
	}
	m, rpc := parseMessage(body)
	if rpc == nil {
		rpc = checkRevision(r.Header.Get("Mcp-Protocol-Version"), m)
	}
	switch {
	case rpc != nil:
		return m, nil, &refusal{status: http.StatusBadRequest, rpc: rpc}
	case m.unknown() && r.Header.Get("Mcp-Protocol-Version") < firstStateless:
		return m, nil, &refusal{status: http.StatusOK, rpc: m.notFound()}
	}
	return m, body, nil
}

// readBody takes the length a client states for the size of its buffer, up to a bound: memory follows what has arrived.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	const trusted = 64 << 10
	body := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), trusted)+bytes.MinRead))
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	return body.Bytes(), err
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

// jsonErrors turns the plain-text refusals of the SDK into JSON-RPC errors; everything else passes, and none of it may be stored: the SDK would allow that,
// but an answer may hold the caller's position.
type jsonErrors struct {
	http.ResponseWriter
	id     jcs.Raw
	begun  bool
	status int // set while a plain-text refusal is held back
	text   []byte
}

// maxRefusal is how much of the SDK's sentence is passed on.
const maxRefusal = 200

func (j *jsonErrors) WriteHeader(status int) {
	j.begun = true
	j.Header()["Cache-Control"] = noStore
	if status >= 400 && strings.HasPrefix(j.Header().Get("Content-Type"), "text/plain") {
		j.status = status
		return
	}
	j.ResponseWriter.WriteHeader(status)
}

func (j *jsonErrors) Write(p []byte) (int, error) {
	if !j.begun {
		j.WriteHeader(http.StatusOK)
	}
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
