package gidpa2a

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/log"
)

// Every text that a peer may read. None depends on an interest, a session or a request (sec. 7).
const (
	textNoAgent     = "nothing is here; an agent is addressed as its projection says"
	textUnavailable = "this agent cannot answer now; send the same again later"
	textLimited     = "too much was asked; send the same again after Retry-After"
)

// panicked says where a request was stopped. What the panic said stays out, because it may repeat what no log may hold.
func panicked() error { return fmt.Errorf("a request was stopped by a panic\n%s", debug.Stack()) }

// failure is an error of A2A with its text, and the HTTP status that JSON-RPC has beside it; 0 is 200.
type failure struct {
	code   error // of the SDK: it decides the number in each binding
	text   string
	status int
}

var (
	failParse          = &failure{a2a.ErrParseError, "the request is not one JSON value under the strict profile (I-JSON)", 0}
	failInvalidRequest = &failure{a2a.ErrInvalidRequest, "the request is not one of A2A 1.0", 0}
	failTooLarge       = &failure{a2a.ErrInvalidRequest, "the request is longer than 256 KiB", http.StatusRequestEntityTooLarge}
	failVersion        = &failure{a2a.ErrVersionNotSupported, "this agent speaks A2A 1.0; send A2A-Version: 1.0", 0}
	failMethod         = &failure{a2a.ErrMethodNotFound, "A2A 1.0 has no such method", 0}
	failInvalidParams  = &failure{a2a.ErrInvalidParams, "the message is not what this task can take now; check object, session and task", 0}
	failTask           = &failure{a2a.ErrTaskNotFound, "there is no such task of this key", 0}
	failCancel         = &failure{a2a.ErrTaskNotCancelable, "a session is ended with SessionClose", 0}
	failPush           = &failure{a2a.ErrPushNotificationNotSupported, "this agent sends nothing by itself; poll or subscribe", 0}
	failUnsupported    = &failure{a2a.ErrUnsupportedOperation, "this agent does not offer this operation", 0}
	failClosed         = &failure{a2a.ErrUnsupportedOperation, "the task is completed", 0}
	failDenied         = &failure{a2a.ErrUnauthenticated, "the request is not signed as this agent asks for, by the key of the session (RFC 9421)", http.StatusUnauthorized}
	failLimited        = &failure{a2a.ErrServerError, textLimited, http.StatusTooManyRequests}
	failUnavailable    = &failure{a2a.ErrServerError, textUnavailable, http.StatusServiceUnavailable}
)

// failOf is the answer to a method that no agent of GIDP offers.
func failOf(method string) *failure {
	switch method {
	case methodList, methodExtended:
		return failUnsupported
	case methodPushGet, methodPushList, methodPushSet, methodPushDrop:
		return failPush
	}
	return failMethod
}

// answer is what is to be written.
type answer struct {
	call   *call
	task   *a2a.Task
	hello  *a2a.Message
	events iter.Seq2[a2a.Event, error]
	fail   *failure
	retry  time.Duration
	done   func() // after the last byte
}

func (c *call) fail(f *failure) answer { return answer{call: c, fail: f} }

// refuse is the one table from outcomes to errors (sec. 4, last rows).
func (c *call) refuse(r *Refusal) answer {
	a := answer{call: c, retry: r.RetryAfter}
	switch r.Code {
	case Invalid:
		a.fail = failInvalidParams
	case NotFound:
		a.fail = failTask
	case Closed:
		a.fail = failClosed
	case Denied:
		a.fail = failDenied
	case Limited:
		a.fail, a.retry = failLimited, max(a.retry, time.Second)
	default:
		a.fail, a.retry = failUnavailable, max(a.retry, time.Second)
	}
	return a
}

// hello is the answer to a message that brings nothing, or comes without the extension.
func (c *call) hello(uri string) answer {
	m := &a2a.Message{ID: a2a.NewMessageID(), Role: a2a.MessageRoleAgent, Parts: a2a.ContentParts{a2a.NewTextPart(partText)}}
	if c.active {
		m.Extensions = []string{uri}
	}
	if c.method == methodStream {
		return answer{call: c, events: func(yield func(a2a.Event, error) bool) { yield(m, nil) }}
	}
	return answer{call: c, hello: m}
}

// snapshot is the task as it may be seen at an instant.
func (h *handler) snapshot(c *call, t Task, at time.Time) answer {
	shown, state, _ := t.At(at)
	task, err := h.task(shown, state)
	if err != nil {
		h.report("encoding", err)
		return c.refuse(&Refusal{Code: Unavailable})
	}
	return answer{call: c, task: task}
}

func (h *handler) task(shown Task, state TaskState) (*a2a.Task, error) {
	out := &a2a.Task{ID: a2a.TaskID(shown.ID), ContextID: shown.Session, Status: a2a.TaskStatus{State: a2a.TaskState(state)}}
	for _, a := range shown.Artifacts {
		made, err := h.artifact(a)
		if err != nil {
			return nil, err
		}
		out.Artifacts = append(out.Artifacts, made)
	}
	return out, nil
}

// artifact is one object as it travels, brought to a multiple of a kibibyte so that its size tells little (sec. 5).
func (h *handler) artifact(a Artifact) (*a2a.Artifact, error) {
	meta := map[string]any{}
	for name, raw := range map[string][]byte{h.names.object: a.Object, h.names.evidence: a.Evidence, h.names.hint: a.Hint, h.names.key: a.Key} {
		if raw != nil {
			meta[name] = json.RawMessage(raw)
		}
	}
	if a.Signature != "" {
		meta[h.names.signature] = a.Signature
	}
	meta[h.names.pad] = ""
	out := &a2a.Artifact{
		ID: a2a.ArtifactID(artifactID(a.Number)), Extensions: []string{h.names.uri}, Metadata: meta, Parts: a2a.ContentParts{a2a.NewTextPart(partText)},
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("artifact %d: %w", a.Number, err)
	}
	meta[h.names.pad] = strings.Repeat("0", (padTo-len(data)%padTo)%padTo)
	return out, nil
}

// artifactID is the number of an artifact in six digits.
func artifactID(n int) string { return fmt.Sprintf("%06d", n) }

// stream is a snapshot of an instant and then whatever is appended to the task. It pulls: there is no buffer that could overflow, and a listener that is slow is shown later.
func (h *handler) stream(ctx context.Context, c *call, caller string, t Task, at time.Time) answer {
	shown, state, next := t.At(at)
	first, err := h.task(shown, state)
	if err != nil {
		h.report("encoding", err)
		return c.refuse(&Refusal{Code: Unavailable})
	}
	seen := len(shown.Artifacts)
	events := func(yield func(a2a.Event, error) bool) {
		defer func() {
			if recover() != nil {
				h.report("panic", panicked())
			}
		}()
		for goOn := yield(first, nil); goOn && state != Completed; {
			var err error
			if next.IsZero() {
				err = h.host.Wait(ctx, t.ID, t.Version)
			} else {
				err = h.wait(ctx, next) // nothing is shown before
			}
			if err == nil {
				t, err = h.host.Task(ctx, c.ref, t.ID, caller)
			}
			if err != nil {
				if ctx.Err() == nil {
					yield(nil, h.refused(c, err).err(h.now()))
				}
				return
			}
			before := state
			shown, state, next = t.At(h.now())
			for ; goOn && seen < len(shown.Artifacts); seen++ {
				made, err := h.artifact(shown.Artifacts[seen])
				if err != nil {
					h.report("encoding", err)
					yield(nil, c.fail(failUnavailable).err(h.now()))
					return
				}
				goOn = yield(&a2a.TaskArtifactUpdateEvent{TaskID: first.ID, ContextID: first.ContextID, Artifact: made, LastChunk: true}, nil)
			}
			if goOn && state != before {
				goOn = yield(&a2a.TaskStatusUpdateEvent{TaskID: first.ID, ContextID: first.ContextID, Status: a2a.TaskStatus{State: a2a.TaskState(state)}}, nil)
			}
		}
	}
	return answer{call: c, events: events, done: c.done}
}

// err is a failure as the SDK writes it. The time in it is that of the injected clock.
func (a answer) err(now time.Time) error {
	if a.fail == nil {
		return nil
	}
	return a2a.NewError(a.fail.code, a.fail.text).WithErrorInfoMeta(map[string]string{"timestamp": now.UTC().Format(time.RFC3339)})
}

// outcome is what the SDK's handlers are given to write.
type outcome struct {
	answer
	err error
}

type outcomeKey struct{}

// write lets the SDK write an answer in the form of its binding. The SDK gets a request made here, because its readers take what a strict reader refuses.
func (h *handler) write(w http.ResponseWriter, r *http.Request, a answer) {
	if a.done != nil {
		defer a.done()
	}
	header := w.Header()
	if a.call.active {
		header.Set(extensionsHeader, h.names.uri) // before a stream begins (G1)
	}
	if a.retry > 0 {
		header.Set("Retry-After", strconv.FormatInt(int64((a.retry+time.Second-1)/time.Second), 10))
	}
	if a.fail != nil && a.fail.status >= http.StatusRequestEntityTooLarge && !a.call.rpc {
		writeStatus(w, a.fail)
		return
	}
	out := &shaped{ResponseWriter: w, stream: a.events != nil}
	if a.fail != nil {
		out.status = a.fail.status
	}
	ctx := context.WithValue(r.Context(), outcomeKey{}, outcome{a, a.err(h.now())})
	ctx = log.AttachLogger(ctx, slog.New(slog.DiscardHandler)) // it would log addresses of peers
	method, rest := methodSend, "POST /message:send"
	switch {
	case a.events != nil:
		method, rest = methodStream, "POST /message:stream"
	case a.task != nil && a.call.method == methodGet:
		method, rest = methodGet, "GET /tasks/task"
	}
	verb, path, _ := strings.Cut(rest, " ")
	to, body := h.rest, "{}"
	if a.call.rpc {
		to, verb, path = h.rpc, http.MethodPost, "/"
		id := a.call.id
		if id == "" {
			id = "null"
		}
		body = `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{}}`
	}
	made, err := http.NewRequestWithContext(ctx, verb, path, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		h.report("encoding", err)
		plain(w, http.StatusServiceUnavailable, "unavailable", textUnavailable)
		return
	}
	to.ServeHTTP(out, made)
}

// writeStatus writes the outcomes that the SDK's REST binding has no status for, in the form of its others.
func writeStatus(w http.ResponseWriter, f *failure) {
	status := map[int]string{http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusServiceUnavailable: "UNAVAILABLE"}[f.status]
	if status == "" {
		status = "INVALID_ARGUMENT"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"status":%q,"message":%q}}`+"\n", f.status, status, f.text)
}

// shaped gives an answer the HTTP status it should have, and a stream a bound for each of its writes.
type shaped struct {
	http.ResponseWriter
	status int // 0: as the SDK says
	begun  bool
	stream bool
}

func (s *shaped) WriteHeader(status int) {
	if s.begun {
		return
	}
	s.begun = true
	if s.status != 0 {
		status = s.status
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *shaped) Write(data []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	if s.stream {
		// A connection that cannot have one is bounded by its server.
		_ = http.NewResponseController(s.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	return s.ResponseWriter.Write(data)
}

// Flush is what the SDK's streams ask for.
func (s *shaped) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (s *shaped) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// desk hands the SDK the outcome of a call. The call was done before; every method gives the one thing that was made for it.
type desk struct{}

var _ a2asrv.RequestHandler = desk{}

func made(ctx context.Context) outcome {
	o, _ := ctx.Value(outcomeKey{}).(outcome)
	if o.err == nil && o.task == nil && o.hello == nil && o.events == nil {
		o.err = a2a.ErrUnsupportedOperation
	}
	return o
}

func (desk) SendMessage(ctx context.Context, _ *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	o := made(ctx)
	switch {
	case o.err != nil:
		return nil, o.err
	case o.hello != nil:
		return o.hello, nil
	}
	return o.task, nil
}

func (desk) GetTask(ctx context.Context, _ *a2a.GetTaskRequest) (*a2a.Task, error) {
	o := made(ctx)
	return o.task, o.err
}

func (desk) SendStreamingMessage(ctx context.Context, _ *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return made(ctx).events
}

func (d desk) SubscribeToTask(ctx context.Context, _ *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return made(ctx).events
}

func (desk) CancelTask(context.Context, *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return nil, a2a.ErrTaskNotCancelable
}

func (desk) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, a2a.ErrUnsupportedOperation
}

func (desk) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

func (desk) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

func (desk) CreateTaskPushConfig(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

func (desk) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return a2a.ErrPushNotificationNotSupported
}

func (desk) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return nil, a2a.ErrUnsupportedOperation
}
