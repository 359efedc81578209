package gidpa2a_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/httpsig"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
)

const (
	origin  = "http://127.0.0.1:8470"
	live    = "0123456789abcdef0123456789abcdef"
	other   = "fedcba9876543210fedcba9876543210"
	unknown = "00000000000000000000000000000000"
	tick    = 250 * time.Millisecond
	uri     = gidpa2a.ExtensionURI
)

// clock stands still unless somebody waits by it: a wait takes it to the instant that was waited for.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) Wait(ctx context.Context, until time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.Before(until) {
		c.now = until
	}
	return ctx.Err()
}

func (c *clock) Pause(ctx context.Context, d time.Duration) error { return c.Wait(ctx, c.Now().Add(d)) }

// store is what the hosts of a test share, like replicas share a database.
type store struct {
	mu      sync.Mutex // guards what follows
	tasks   map[string]*kept
	keys    map[string]ed25519.PublicKey
	changed chan struct{}
	effects int
}

type kept struct {
	gidpa2a.Task
	ref, caller string
	seen        map[string][32]byte
}

// memory is a responder that accepts every open at a live reference and answers asks after a tick, unless hold keeps it from answering.
type memory struct {
	*store
	clock *clock
	live  map[string]bool
	hold  bool
	work  time.Duration                                    // how long the evaluation of an ask takes
	lost  error                                            // returned after a commit, like a reply that is lost
	fail  func() error                                     // asked before anything else; nil: nothing fails
	saw   func(gidpa2a.Message)                            // nil: nobody looks
	reply func(ask *wire.CompatibilityRequest) wire.Result // nil: compatible
}

func newMemory(c *clock) *memory {
	return &memory{store: &store{tasks: map[string]*kept{}, keys: map[string]ed25519.PublicKey{}, changed: make(chan struct{})}, clock: c, live: map[string]bool{live: true, other: true}}
}

func (m *memory) Receive(_ context.Context, in gidpa2a.Message) (gidpa2a.Task, error) {
	if m.fail != nil {
		if err := m.fail(); err != nil {
			return gidpa2a.Task{}, err
		}
	}
	if m.saw != nil {
		m.saw(in)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var object wire.Object
	if in.Object != nil {
		var err error
		if object, err = wire.Decode(in.Object); err != nil {
			return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Invalid, Cause: err}
		}
	}
	id := in.Task
	if open, ok := object.(*wire.SessionOpen); ok {
		sum := sha256.Sum256([]byte(in.Ref + open.SessionID))
		id = hex.EncodeToString(sum[:16])
		if !m.live[in.Ref] {
			return gidpa2a.Task{ID: id, Session: open.SessionID, Closed: true, Artifacts: []gidpa2a.Artifact{m.made(1, in, &wire.SessionClose{
				Head: open.Head, Reason: wire.ReasonUnsupported, RequestRef: open.RequestID,
			})}}, nil
		}
		if m.tasks[id] == nil {
			pub, err := jwk.ParsePublic(in.Key)
			if err != nil {
				return gidpa2a.Task{}, err
			}
			m.keys[in.Caller] = pub
			m.tasks[id] = &kept{Task: gidpa2a.Task{ID: id, Session: open.SessionID}, ref: in.Ref, caller: in.Caller, seen: map[string][32]byte{}}
		}
	}
	k := m.tasks[id]
	if k == nil || k.ref != in.Ref || k.caller != in.Caller || in.Context != "" && in.Context != k.Session {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.NotFound}
	}
	name, sum := dedupe(object, in), sha256.Sum256(append(bytes.Clone(in.Object), in.Evidence...))
	if before, ok := k.seen[name]; ok {
		if before != sum {
			return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Invalid}
		}
		return k.copy(), nil
	}
	if k.Closed {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Closed}
	}
	k.seen[name] = sum
	m.effects++
	m.apply(k, in, object)
	m.commit(k)
	if m.lost != nil {
		return gidpa2a.Task{}, m.lost
	}
	return k.copy(), nil
}

func (m *memory) apply(k *kept, in gidpa2a.Message, object wire.Object) {
	head := wire.Head{SessionID: k.Session, ExpiresAt: m.clock.Now().Add(time.Hour)}
	switch o := object.(type) {
	case *wire.SessionOpen:
		a := m.made(1, in, &wire.SessionAccept{Head: head, RequestRef: o.RequestID, Responder: "responder-1", MaxDepth: o.MaxDepth, Profile: o.Profile, Features: []wire.Feature{}})
		a.Hint = jcs.Raw(`{"poll_after_s":1}`)
		k.Artifacts = append(k.Artifacts, a)
	case *wire.CompatibilityRequest:
		if m.hold {
			return
		}
		m.clock.Pause(context.Background(), m.work)
		result := wire.Compatible
		if m.reply != nil {
			result = m.reply(o)
		}
		k.Artifacts = append(k.Artifacts, m.made(len(k.Artifacts)+1, in, &wire.CompatibilityResponse{
			Head: head, RequestRef: o.RequestID, Results: []wire.Outcome{{ClaimID: o.Claims[0].ID, Key: o.Claims[0].Key, Result: result}},
			SessionStatus: wire.StatusOpen, Permitted: []wire.NextAction{wire.NextClose}, Requires: []string{}, ContingentOn: []string{},
		}))
	case *wire.CompatibilityResponse, *wire.DisclosureResponse, *wire.ConsentResponse:
		k.Awaiting = 0
	case *wire.SessionClose:
		k.Closed = true
	}
}

// made is an artifact that is released as the session's configuration says.
func (m *memory) made(number int, in gidpa2a.Message, o wire.Object) gidpa2a.Artifact {
	data, err := wire.Encode(o)
	if err != nil {
		panic(err)
	}
	return gidpa2a.Artifact{Number: number, Release: gidpa2a.Release(in.ReceivedAt, m.clock.Now(), tick), Object: data}
}

// add appends what a session decided by itself.
func (m *memory) add(id string, awaiting bool, o wire.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.tasks[id]
	k.Artifacts = append(k.Artifacts, m.made(len(k.Artifacts)+1, gidpa2a.Message{ReceivedAt: m.clock.Now()}, o))
	if awaiting {
		k.Awaiting = len(k.Artifacts)
	}
	m.commit(k)
}

func (m *memory) commit(k *kept) {
	k.Version++
	close(m.changed)
	m.changed = make(chan struct{})
}

func (k *kept) copy() gidpa2a.Task {
	t := k.Task
	t.Artifacts = append([]gidpa2a.Artifact(nil), k.Artifacts...)
	return t
}

func dedupe(o wire.Object, in gidpa2a.Message) string {
	if o == nil {
		sum := sha256.Sum256(in.Evidence)
		return "evidence " + hex.EncodeToString(sum[:])
	}
	var head struct {
		Request string `json:"request_id"`
		Ref     string `json:"request_ref"`
		Status  string `json:"status"`
	}
	_ = jcs.Decode(in.Object, &head)
	return string(o.Type()) + " " + cmp.Or(head.Request, "ref:"+head.Ref+":"+head.Status)
}

func (m *memory) Task(_ context.Context, ref, id, caller string) (gidpa2a.Task, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.tasks[id]
	if k == nil || k.ref != ref || k.caller != caller {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.NotFound}
	}
	return k.copy(), nil
}

func (m *memory) Wait(ctx context.Context, id string, seen uint64) error {
	for {
		m.mu.Lock()
		changed := m.changed
		k := m.tasks[id]
		other := k == nil || k.Version != seen
		m.mu.Unlock()
		if other {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *memory) Key(_ context.Context, thumbprint string) (ed25519.PublicKey, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pub, ok := m.keys[thumbprint]
	return pub, ok, nil
}

// world is one server and what its tests speak to it with.
type world struct {
	t       testing.TB
	clock   *clock
	host    *memory
	handler http.Handler
	random  io.Reader
}

func newWorld(t testing.TB, change ...func(*gidpa2a.Options)) *world {
	c := newClock()
	w := &world{t: t, clock: c, host: newMemory(c), random: rand.NewChaCha8([32]byte{1})}
	o := gidpa2a.Options{Host: w.host, Origin: origin, Profiles: []string{"core"}, Now: c.Now, Wait: c.Wait, Report: func(category string, cause error) {
		if !errors.Is(cause, errStore) {
			t.Errorf("reported: %s: %v", category, cause)
		}
	}}
	for _, f := range change {
		f(&o)
	}
	var err error
	if w.handler, err = gidpa2a.NewHandler(o); err != nil {
		t.Fatal(err)
	}
	return w
}

var errStore = errors.New("the database is away")

func (w *world) key() *jwk.PrivateKey {
	key, err := gidpa2a.NewKey(w.random)
	if err != nil {
		w.t.Fatal(err)
	}
	return key
}

// direct lets a client send to a handler in the same process.
func direct(h http.Handler) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.RemoteAddr = "127.0.0.1:40000"
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Result(), nil
	}
}

func (w *world) client(change ...func(*gidpa2a.ClientOptions)) *gidpa2a.Client {
	o := gidpa2a.ClientOptions{Do: direct(w.handler), Now: w.clock.Now, Pause: w.clock.Pause, Random: w.random}
	for _, f := range change {
		f(&o)
	}
	return gidpa2a.NewClient(o)
}

func encode(t testing.TB, o wire.Object) []byte {
	t.Helper()
	data, err := wire.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (w *world) head(session string) wire.Head {
	return wire.Head{SessionID: session, ExpiresAt: time.Date(2026, 8, 27, 10, 0, 0, 0, time.UTC)}
}

func (w *world) opening(session string) []byte {
	return encode(w.t, &wire.SessionOpen{
		Head: w.head(session), RequestID: "r-1", Initiator: "initiator-1", Purpose: "partnership", MaxDepth: wire.DepthSession, Profile: "core", Features: []wire.Feature{},
	})
}

func (w *world) ask(session, id string) []byte {
	return encode(w.t, &wire.CompatibilityRequest{
		Head: w.head(session), RequestID: id, AllowedResults: wire.AllResults(),
		Claims: []wire.Claim{{ID: id + ".1", Key: "domain", Operator: wire.OpIntersects, Value: jcs.Raw(`"enterprise_software"`)}},
	})
}

// sent is one request to be made in one of the two bindings.
type sent struct {
	ref, method string
	task        string // of GetTask and its kin
	message     map[string]any
	key         *jwk.PrivateKey // nil: not signed
	nonce       string          // "": a fresh one
	header      http.Header     // in place of the usual one; nil values take a header away
	tamper      func(*http.Request, []byte) []byte
}

// reply is what came back, the same for both bindings.
type reply struct {
	status  int
	header  http.Header
	result  string // canonical Task or Message; "" for an error
	kind    string // task, message or error
	verdict string // "ok" or the reason of an error
	text    string
	raw     string
}

var bindings = []string{"JSONRPC", "REST"}

func metadata(object []byte, extra map[string]any) map[string]any {
	meta := map[string]any{uri + "/object": jcs.Raw(object)}
	maps.Copy(meta, extra)
	return meta
}

func (w *world) message(session, task string, object []byte, extra map[string]any) map[string]any {
	m := map[string]any{"messageId": "m-1", "role": "ROLE_USER", "parts": []any{map[string]any{"text": "gidp"}}, "extensions": []string{uri}, "contextId": session, "metadata": metadata(object, extra)}
	if task != "" {
		m["taskId"] = task
	}
	return m
}

// request builds an HTTP request of a binding.
func (w *world) request(binding string, s sent) *http.Request {
	w.t.Helper()
	params := map[string]any{}
	if s.message != nil {
		params["message"] = s.message
		params["configuration"] = map[string]any{"returnImmediately": false, "historyLength": 10}
	}
	verb, path, body := http.MethodPost, "/a2a/"+s.ref+"/rpc", []byte(nil)
	if binding == "JSONRPC" {
		if s.task != "" {
			params["id"] = s.task
		}
		body = mustEncode(w.t, map[string]any{"jsonrpc": "2.0", "id": 7, "method": s.method, "params": params})
	} else {
		path = "/a2a/" + s.ref + "/v1/" + map[string]string{
			"SendMessage": "message:send", "SendStreamingMessage": "message:stream", "GetTask": "tasks/" + s.task, "CancelTask": "tasks/" + s.task + ":cancel",
			"SubscribeToTask": "tasks/" + s.task + ":subscribe", "ListTasks": "tasks", "GetExtendedAgentCard": "extendedAgentCard",
			"CreateTaskPushNotificationConfig": "tasks/" + s.task + "/pushNotificationConfigs",
		}[s.method]
		switch s.method {
		case "GetTask", "ListTasks", "GetExtendedAgentCard":
			verb = http.MethodGet
		case "SendMessage", "SendStreamingMessage":
			body = mustEncode(w.t, params)
		}
	}
	r := httptest.NewRequest(verb, origin+path, bytes.NewReader(body))
	r.RemoteAddr = "127.0.0.1:40000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("A2A-Extensions", uri)
	for name, values := range s.header {
		r.Header.Del(name)
		for _, v := range values {
			r.Header.Add(name, v)
		}
	}
	if s.key != nil {
		nonce := s.nonce
		if nonce == "" {
			var b [8]byte
			_, _ = io.ReadFull(w.random, b[:])
			nonce = hex.EncodeToString(b[:])
		}
		fields, err := httpsig.Sign(httpsig.Session, httpsig.Message{Method: verb, Authority: "127.0.0.1:8470", Path: path, Header: r.Header, Body: body}, s.key,
			httpsig.Params{Created: w.clock.Now(), Nonce: nonce})
		if err != nil {
			w.t.Fatal(err)
		}
		for name, v := range fields {
			r.Header.Set(name, v)
		}
	}
	if s.tamper != nil {
		body = s.tamper(r, body)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

func mustEncode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := jcs.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (w *world) do(binding string, s sent) reply {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, w.request(binding, s))
	return w.read(binding, rec.Code, rec.Header(), rec.Body.Bytes(), s.method)
}

// read brings an answer of either binding into one form.
func (w *world) read(binding string, status int, header http.Header, body []byte, method string) reply {
	w.t.Helper()
	out := reply{status: status, header: header, raw: string(body)}
	var in struct {
		Result  jcs.Raw `json:"result"`
		Task    jcs.Raw `json:"task"`
		Message jcs.Raw `json:"message"`
		ID      jcs.Raw `json:"id"`
		Error   *struct {
			Message string `json:"message"`
			Status  string `json:"status"`
			Code    int    `json:"code"`
			Data    []struct {
				Reason string `json:"reason"`
			} `json:"data"`
			Details []struct {
				Reason string `json:"reason"`
			} `json:"details"`
		} `json:"error"`
	}
	if err := jcs.Decode(body, &in); err != nil {
		w.t.Fatalf("%s %s: %d %q: %v", binding, method, status, body, err)
	}
	if in.Error != nil {
		out.kind, out.text = "error", in.Error.Message
		for _, d := range append(in.Error.Data, in.Error.Details...) {
			out.verdict = d.Reason
		}
		if status == 429 || status == 503 || status == 413 {
			out.verdict = fmt.Sprint(status)
		}
		return out
	}
	result := in.Result
	switch {
	case binding == "REST":
		result = body
	}
	out.verdict = "ok"
	if method != "GetTask" {
		var one struct {
			Task    jcs.Raw `json:"task"`
			Message jcs.Raw `json:"message"`
		}
		if err := jcs.Decode(result, &one); err != nil {
			w.t.Fatal(err)
		}
		out.kind = "task"
		if result = one.Task; result == nil {
			result, out.kind = one.Message, "message"
		}
	} else {
		out.kind = "task"
	}
	data, err := jcs.Canonical(result)
	if err != nil {
		w.t.Fatalf("%q: %v", body, err)
	}
	out.result = string(data)
	return out
}

// open opens a session and returns its task.
func (w *world) open(binding, ref, session string, key *jwk.PrivateKey) string {
	w.t.Helper()
	r := w.do(binding, w.opens(ref, session, key))
	if r.kind != "task" {
		w.t.Fatalf("open: %+v", r)
	}
	return taskOf(w.t, r).ID
}

func (w *world) opens(ref, session string, key *jwk.PrivateKey) sent {
	return sent{ref: ref, method: "SendMessage", key: key, message: w.message(session, "", w.opening(session), map[string]any{uri + "/key": jcs.Raw(jwk.EncodePublic(key.Public().Public))})}
}

// view is what the tests read of a task.
type view struct {
	ID      string `json:"id"`
	Context string `json:"contextId"`
	Status  struct {
		State   string  `json:"state"`
		Message jcs.Raw `json:"message"`
	} `json:"status"`
	History   []jcs.Raw `json:"history"`
	Artifacts []struct {
		ID         string             `json:"artifactId"`
		Extensions []string           `json:"extensions"`
		Parts      []map[string]any   `json:"parts"`
		Metadata   map[string]jcs.Raw `json:"metadata"`
	} `json:"artifacts"`
}

func taskOf(t testing.TB, r reply) view {
	t.Helper()
	var v view
	if r.kind != "task" {
		t.Fatalf("no task: %+v", r)
	}
	if err := jcs.Decode([]byte(r.result), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// kinds names the objects in the artifacts of a task.
func kinds(v view) string {
	var out []string
	for _, a := range v.Artifacts {
		var head struct {
			Type string `json:"type"`
		}
		_ = jcs.Decode(a.Metadata[uri+"/object"], &head)
		out = append(out, a.ID+" "+head.Type)
	}
	return strings.Join(out, ", ")
}

func both(t *testing.T, f func(t *testing.T, binding string)) {
	for _, b := range bindings {
		t.Run(b, func(t *testing.T) { t.Parallel(); f(t, b) })
	}
}
