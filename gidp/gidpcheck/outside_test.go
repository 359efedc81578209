package gidpcheck

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/jws"
	"sayso/report"
)

const liveRef = "0123456789abcdef0123456789abcdef"

// hand is a clock that its holder moves.
type hand struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) Wait(ctx context.Context, until time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if until.After(h.now) {
		h.now = until
	}
	return ctx.Err()
}

func (h *hand) Pause(ctx context.Context, d time.Duration) error {
	err := h.Wait(ctx, h.Now().Add(d))
	time.Sleep(30 * time.Millisecond) // background work of a service goes by the clock of the machine
	return err
}

// responder is a Host that runs the production session for one interest at one reference.
type responder struct {
	clock *hand
	make  func() *interest.Interest

	mu    sync.Mutex // guards what follows
	tasks map[string]*running
	keys  map[string]ed25519.PublicKey
}

type running struct {
	gidpa2a.Task
	w      *World
	caller string
	seen   map[string][32]byte
}

func (h *responder) Key(_ context.Context, thumbprint string) (ed25519.PublicKey, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pub, ok := h.keys[thumbprint]
	return pub, ok, nil
}

func (h *responder) Wait(ctx context.Context, _ string, _ uint64) error { return ctx.Err() }

func (h *responder) Task(_ context.Context, _, id, caller string) (gidpa2a.Task, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.tasks[id]
	if r == nil || r.caller != caller {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.NotFound}
	}
	return r.copy(), nil
}

func (r *running) copy() gidpa2a.Task {
	t := r.Task
	t.Artifacts = slices.Clone(t.Artifacts)
	return t
}

func (h *responder) Receive(_ context.Context, m gidpa2a.Message) (gidpa2a.Task, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o, err := wire.Decode(m.Object)
	if err != nil {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Invalid}
	}
	id, unroutable := m.Task, false
	if open, ok := o.(*wire.SessionOpen); ok {
		id, unroutable = fmt.Sprintf("%x", sha256.Sum256([]byte(m.Ref+open.SessionID)))[:32], m.Ref != liveRef
		if h.tasks[id] == nil {
			if h.keys[m.Caller], err = jwk.ParsePublic(m.Key); err != nil {
				return gidpa2a.Task{}, err
			}
			w := NewWorld(Core(), holder("x"), h.make())
			h.tasks[id] = &running{Task: gidpa2a.Task{ID: id, Session: open.SessionID}, w: w, caller: m.Caller, seen: map[string][32]byte{}}
		}
	}
	r := h.tasks[id]
	if r == nil || r.caller != m.Caller {
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.NotFound}
	}
	var name struct {
		Type    string `json:"type"`
		Request string `json:"request_id"`
	}
	if err := jcs.Decode(m.Object, &name); err != nil {
		return gidpa2a.Task{}, err
	}
	key, sum := name.Type+name.Request, sha256.Sum256(m.Object)
	if before, ok := r.seen[key]; ok {
		if before != sum {
			return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Invalid}
		}
		return r.copy(), nil
	}
	r.w.Now = h.clock.Now()
	before := len(r.w.B.Sent)
	err = r.w.deliver(r.w.B, session.Delivery{Data: m.Object, Self: "responder-1", Unroutable: unroutable})
	var refused *session.Refusal
	switch {
	case errors.As(err, &refused) && refused.Code == session.CodeClosed:
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Closed}
	case err != nil:
		return gidpa2a.Task{}, &gidpa2a.Refusal{Code: gidpa2a.Invalid, Cause: err}
	}
	r.seen[key] = sum
	for _, data := range r.w.B.Sent[before:] {
		a := gidpa2a.Artifact{Number: len(r.Artifacts) + 1, Object: data, Release: gidpa2a.Release(m.ReceivedAt, h.clock.Now(), 250*time.Millisecond)}
		if a.Number == 1 && r.w.B.State.Phase != session.Closed {
			a.Hint = jcs.Raw(`{"poll_after_s":1}`)
		}
		r.Artifacts = append(r.Artifacts, a)
	}
	r.Closed = r.w.B.State.Phase == session.Closed
	r.Version++
	return r.copy(), nil
}

// lie changes what a server is asked or answers. It breaks one rule.
type lie struct {
	rule   string
	before func(r *http.Request, body []byte) []byte // the body in the place of the one that was sent; nil: unchanged
	after  func(x *exchanged)                        // changes the answer
	resign bool                                      // the card is signed after the change
}

// exchanged is one request and its answer, and how many requests with the same text there were.
type exchanged struct {
	*http.Request
	body string
	w    *written
	n    map[string]int // for a lie to count in
}

func (x *exchanged) has(words ...string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(x.body, word) })
}

func (x *exchanged) nth(name string) int { x.n[name]++; return x.n[name] }

func (x *exchanged) text() string { return x.w.String() }

func (x *exchanged) put(status int, text string) {
	x.w.status = status
	x.w.Reset()
	x.w.WriteString(text)
}

func (x *exchanged) swap(old, new string) { x.put(x.w.status, strings.ReplaceAll(x.text(), old, new)) }

func (x *exchanged) match(pattern, new string) {
	x.put(x.w.status, regexp.MustCompile(pattern).ReplaceAllString(x.text(), new))
}

func (x *exchanged) failed() bool { return x.w.status >= 400 || strings.Contains(x.text(), `"error":`) }

// done answers as if it were done.
func (x *exchanged) done() { x.put(http.StatusOK, `{"jsonrpc":"2.0","id":"1","result":{}}`) }

func (l lie) wrap(next http.Handler) http.Handler {
	var mu sync.Mutex // guards n
	n := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		sent := data
		if l.before != nil {
			sent = l.before(r, data)
		}
		r.Body = io.NopCloser(strings.NewReader(string(sent)))
		out := &written{header: http.Header{}}
		x := &exchanged{Request: r, body: string(data), w: out, n: n}
		next.ServeHTTP(out, r)
		if out.status == 0 {
			out.status = http.StatusOK
		}
		if l.after != nil {
			l.after(x)
		}
		for name, lines := range out.header {
			w.Header()[name] = lines
		}
		w.WriteHeader(out.status)
		w.Write(out.Bytes())
	})
}

// serve starts a server at an origin that is known before its handler is made.
func serve(t *testing.T, l lie, make func(origin string) http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	origin := "http://" + s.Listener.Addr().String()
	s.Config.Handler = l.wrap(make(origin))
	s.Start()
	t.Cleanup(s.Close)
	return origin
}

func checkAgent(t *testing.T, l lie) *report.Report {
	t.Helper()
	return checkAgentOf(t, l, func() *interest.Interest { return holder("b") })
}

func checkAgentOf(t *testing.T, l lie, make func() *interest.Interest) *report.Report {
	t.Helper()
	clock := &hand{now: Epoch}
	h := &responder{clock: clock, make: make, tasks: map[string]*running{}, keys: map[string]ed25519.PublicKey{}}
	signer, err := jwk.Generate("card-1", &fixed{})
	if err != nil {
		t.Fatal(err)
	}
	if change := l.after; l.resign {
		l.after = func(x *exchanged) {
			if change(x); x.Method == http.MethodGet && x.w.status == http.StatusOK {
				x.put(http.StatusOK, signCard(t, x.text(), signer))
			}
		}
	}
	origin := serve(t, l, func(origin string) http.Handler {
		handler, err := gidpa2a.NewHandler(gidpa2a.Options{Host: h, Origin: origin, Profiles: []string{"core"}, Signer: signer, Now: clock.Now, Wait: clock.Wait})
		if err != nil {
			t.Fatal(err)
		}
		return handler
	})
	sent := 0
	r, err := Check(t.Context(), origin+"/a2a/"+liveRef, Options{Now: clock.Now, Pause: clock.Pause, CardKey: signer.Public().Public, CardKeyID: "card-1", Progress: func(done, _ int, _ string) { sent = done }})
	if err != nil {
		t.Fatal(err)
	}
	if sent > MaxRequests {
		t.Errorf("%d requests", sent)
	}
	return r
}

// signCard signs a card anew.
func signCard(t *testing.T, card string, signer *jwk.PrivateKey) string {
	members, err := jcs.Members([]byte(card))
	if err != nil {
		t.Error(err)
		return card
	}
	unsigned, err := jcs.Canonical(without(members, "signatures"))
	if err != nil {
		t.Error(err)
		return card
	}
	protected, signature, _ := strings.Cut(jws.SignDetached(signer, unsigned), "..")
	return strings.TrimSuffix(string(unsigned), "}") + `,"signatures":[{"protected":"` + protected + `","signature":"` + signature + `"}]}`
}

// outcomes are the rules with an outcome.
func outcomes(r *report.Report, o report.Outcome) (ids []string) {
	for _, f := range r.Findings {
		if f.Outcome == o && !slices.Contains(ids, f.Rule) {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}

func TestAgentThatConforms(t *testing.T) {
	r := checkAgent(t, lie{})
	if r.Failed() || len(outcomes(r, report.NotTested)) > 0 || len(outcomes(r, report.Warning)) > 0 || !Reached(r) {
		t.Errorf("%s\n%+v", r.Verdict, r.Findings)
	}
	t.Log(r.Verdict)
}

var agentLies = []lie{
	{rule: "GA-CARD-001", resign: true, after: func(x *exchanged) {
		if x.Method == http.MethodGet {
			x.swap(uri+`"`, `urn:other"`)
		}
	}},
	{rule: "GA-CARD-002", after: func(x *exchanged) { x.match(`"signature":"..`, `"signature":"AA`) }},
	{rule: "GA-CARD-003", after: func(x *exchanged) {
		if x.Method == http.MethodGet && !strings.Contains(x.URL.Path, liveRef) {
			x.swap("GIDP agent", "GIDP ghost")
		}
	}},
	{rule: "GA-CARD-004", after: func(x *exchanged) { x.w.header.Del("Etag") }},
	{rule: "GA-CARD-005", resign: true, after: func(x *exchanged) {
		if x.Method == http.MethodGet {
			x.swap(`"name":"GIDP agent"`, `"name":"GIDP ägent"`)
		}
	}},
	{rule: "GA-VERSION-001", before: func(r *http.Request, body []byte) []byte { r.Header.Set("A2A-Version", "1.0"); return body }},
	{rule: "GA-EXTENSION-001", after: func(x *exchanged) {
		if x.w.header.Get(extensions) != "" {
			x.w.header[extensions] = x.Header[extensions]
		}
	}},
	{rule: "GA-HELLO-001", after: func(x *exchanged) {
		if !x.has("/object") {
			x.swap(`"message":{`, `"task":{`)
		}
	}},
	{rule: "GA-INACTIVE-001", after: func(x *exchanged) {
		if x.w.header.Get(extensions) == "" && x.has("/object") {
			x.w.header.Set(extensions, uri)
		}
	}},
	{rule: "GA-SIGNATURE-001", after: func(x *exchanged) {
		if x.w.status == http.StatusUnauthorized && x.Header.Get("Signature") == "" {
			x.done()
		}
	}},
	{rule: "GA-SIGNATURE-002", after: func(x *exchanged) {
		if s := x.Header.Get("Signature"); s != "" && x.nth(s) > 1 {
			x.done()
		}
	}},
	{rule: "GA-JSON-001", before: func(_ *http.Request, body []byte) []byte { return []byte(strings.TrimSuffix(string(body), " {}")) }},
	{rule: "GA-BODY-001", after: func(x *exchanged) {
		if len(x.body) > 256<<10 {
			x.done()
		}
	}},
	{rule: "GA-REFUSED-001", after: func(x *exchanged) {
		if x.has(profileNo) {
			x.swap("TASK_STATE_COMPLETED", "TASK_STATE_WORKING")
		}
	}},
	{rule: "GA-REFUSED-002", after: func(x *exchanged) {
		if !strings.Contains(x.URL.Path, liveRef) {
			x.swap(`"unsupported"`, `"unspecified"`)
		}
	}},
	{rule: "GA-METHOD-001", after: func(x *exchanged) {
		if x.has("ListTasks") {
			x.done()
		}
	}},
	{rule: "GA-ACCEPT-001", after: func(x *exchanged) { x.swap(`"features":[]`, `"features":["multi_party"]`) }},
	{rule: "GA-STATE-001", after: func(x *exchanged) { x.swap(`"status":{"state"`, `"status":{"message":{},"state"`) }},
	{rule: "GA-TASK-001", after: func(x *exchanged) { x.swap("-32001", "-32603") }},
	{rule: "GA-DUPLICATE-001", after: func(x *exchanged) {
		if x.has("SessionOpen", `"core"`, `"check"`) && x.nth(regexp.MustCompile(`"session_id":"[^"]*"`).FindString(x.body)) == 2 {
			x.done()
		}
	}},
	{rule: "GA-DUPLICATE-002", after: func(x *exchanged) {
		if x.has(`"purpose":"other"`) {
			x.done()
		}
	}},
	{rule: "GA-OBJECT-001", after: func(x *exchanged) {
		if x.has(`"extra":1`) {
			x.done()
		}
	}},
	{rule: "GA-EXPIRY-001", after: func(x *exchanged) {
		if x.has(`"r-2"`, Epoch.Add(-time.Hour).Format("2006-01-02T15:0")) {
			x.done()
		}
	}},
	{rule: "GA-CLAIM-001", after: func(x *exchanged) {
		if x.has(`"r-9"`) {
			x.done()
		}
	}},
	{rule: "GA-ANSWER-001", after: func(x *exchanged) { x.swap(`"session_status":"open"`, `"session_status":"closed"`) }},
	{rule: "GA-ALLOWED-001", after: func(x *exchanged) { x.match(`("claim_id":"r-4.0","key":"[^"]*","result":")declined`, `${1}unknown`) }},
	{rule: "GA-IDENTITY-001", after: func(x *exchanged) {
		x.match(`("claim_id":"r-3.0","key":"[^"]*","result":")declined`, `${1}incompatible`)
	}},
	{rule: "GA-DISCLOSE-001", after: func(x *exchanged) {
		x.match(`("request_ref":"r-5"[^{}]*"status":")declined`, `${1}pending_principal_approval`)
	}},
	{rule: "GA-CONSENT-001", after: func(x *exchanged) {
		x.match(`("request_ref":"r-8"[^{}]*"status":")declined`, `${1}pending_principal_approval`)
	}},
	{rule: "GA-HANDOFF-001", after: func(x *exchanged) {
		if strings.Contains(x.text(), "000002") {
			x.swap(`"reason":"unsupported"`, `"reason":"completed"`)
		}
	}},
	{rule: "GA-CLOSED-001", after: func(x *exchanged) {
		if x.has("SendMessage") {
			x.swap("-32004", "-32602")
		}
	}},
	{rule: "GA-LEAK-001", after: func(x *exchanged) {
		if x.has(`"r-9"`) {
			x.swap(`"message":"`, `"message":"`+regexp.MustCompile(`check_[0-9a-f]+`).FindString(x.body))
		}
	}},
}

// Each lie is told from the truth by the rule that it breaks and by no other.
func TestAgentsThatBreakOneRule(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range agentLies {
		seen[l.rule] = true
		t.Run(l.rule, func(t *testing.T) {
			t.Parallel()
			if r := checkAgent(t, l); !slices.Equal(outcomes(r, report.Fail), []string{l.rule}) {
				t.Errorf("%v are broken, want %s: %+v", outcomes(r, report.Fail), l.rule, r.Findings)
			}
		})
	}
	for _, r := range rules {
		if strings.HasPrefix(r.id, "GA") && !seen[r.id] {
			t.Errorf("no agent breaks %s", r.id)
		}
	}
}

// What an agent may do with strangers is no failure of it.
func TestAgentsThatKeepToThemselves(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*interest.Interest)
		lie  lie
		want []string // not tested
		fail []string
	}{
		"a Principal decides each question": {set: func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.Approval }, want: []string{"GA-ALLOWED-001", "GA-IDENTITY-001"}},
		"nobody may ask":                    {set: func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.No }, want: []string{"GA-ACCEPT-001", "GA-ANSWER-001", "GA-CLOSED-001"}},
		"a value waits for a person":        {set: func(i *interest.Interest) { i.Authority[gidp.Disclose] = gidp.Approval }},
		"the extension is not in force": {lie: lie{after: func(x *exchanged) { x.w.header.Del(extensions) }}, want: []string{"GA-SIGNATURE-001", "GA-REFUSED-001", "GA-ACCEPT-001"},
			fail: []string{"GA-EXTENSION-001"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := checkAgentOf(t, c.lie, func() *interest.Interest {
				i := holder("b")
				if c.set != nil {
					c.set(i)
				}
				return i
			})
			if got := outcomes(r, report.Fail); !slices.Equal(got, c.fail) {
				t.Errorf("%v are broken: %+v", got, r.Findings)
			}
			for _, id := range c.want {
				if !slices.Contains(outcomes(r, report.NotTested), id) {
					t.Errorf("%s is tested: %+v", id, r.Findings)
				}
			}
		})
	}
}

func TestTargets(t *testing.T) {
	for _, target := range []string{"", "agent", "ftp://agents.example/a2a/x", "https://u@agents.example/a2a/x", "https://agents.example/a2a/x?y", "https://agents.example/b/name", "https:///a2a/x"} {
		if _, err := Check(t.Context(), target, Options{}); !errors.Is(err, ErrTarget) {
			t.Errorf("%q: %v", target, err)
		}
	}
	for _, target := range []string{"http://127.0.0.1:1/a2a/" + liveRef, "http://127.0.0.1:1/a2a/" + liveRef + cardPath, "http://127.0.0.1:1", "http://127.0.0.1:1/gidp/v1/"} {
		sent := 0
		r, err := Check(t.Context(), target, Options{Progress: func(int, int, string) { sent++ }})
		if err != nil || Reached(r) || r.Failed() || sent != 1 {
			t.Errorf("%s: %d requests, %v, %+v", target, sent, err, r)
		}
	}
	if _, err := Check(t.Context(), "http://127.0.0.1:1", Options{Random: strings.NewReader("short")}); err == nil {
		t.Error("a check without randomness")
	}
}

// Whatever an agent answers, it is read without harm and compared with what it is.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{`{"result":{"task":{"id":"t","contextId":"s","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"000001","metadata":{"` + uri + `/object":{"type":"SessionClose"}}}]}}}`,
		`{"result":{"message":{}}}`, `{"error":{"code":-32602}}`, `{"result":null}`, `{"result":{"task":{"id":"t","status":{"state":"x"},"artifacts":[{}]}}}`, `[]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := saidOf(&reply{status: 200, body: data})
		if task := readTask(s); task != nil && len(task.objects) != len(task.Artifacts) {
			t.Fatal("an artifact was passed over")
		}
		if a, b := skeleton(s, "s"), skeleton(s, "s"); a != b {
			t.Fatal("an answer differs from itself")
		}
		_ = s.kind()
	})
}
