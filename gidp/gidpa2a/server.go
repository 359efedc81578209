package gidpa2a

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"sayso/gidp/httpsig"
	"sayso/jwk"
)

// Options are what the server's side is made of. Host and Origin are required.
type Options struct {
	Host     Host
	Origin   string   // scheme and host, without a path: cards and the authority of signatures come from it, never from a request
	Profiles []string // that every agent of this server has
	Signer   *jwk.PrivateKey
	Now      func() time.Time                                 // nil: time.Now
	Wait     func(ctx context.Context, until time.Time) error // returns at an instant of Now, or with the error of ctx; nil: by timers
	// Report gets what went wrong on the own side, for a log: a category of a closed list (card, encoding, host, panic) and a cause that may not be sent.
	Report func(category string, cause error)
	// Client is the address a request came from; nil: that of the connection.
	Client func(*http.Request) netip.Addr
	// RateLimit is how many sessions a network may open in a minute: a /24, or a /48 of IPv6. 0 counts nothing; the loopback is never counted.
	RateLimit int
	// Tick is what the reply to a message waits for: it is written at the first multiple of Tick after receipt at which the Host was done, and shows the task as it could
	// be seen at receipt. So its time tells nothing of what the Host looked up, a refusal's neither. 0 writes at once.
	Tick           time.Duration
	StreamsPerTask int    // 0: 4
	ExtensionURI   string // "": ExtensionURI
	// Until ends streams and replies that are held, so that a server can stop; nil: they end with their request.
	Until context.Context
}

const (
	defaultStreams = 4
	keepAlive      = 15 * time.Second
	writeTimeout   = 30 * time.Second // for one write of a stream
)

type handler struct {
	host      Host
	origin    string
	authority string
	profiles  []string
	signer    *jwk.PrivateKey
	names     names
	now       func() time.Time
	wait      func(ctx context.Context, until time.Time) error
	report    func(category string, cause error)
	client    func(*http.Request) netip.Addr
	until     context.Context
	tick      time.Duration

	opens   rate
	nonces  nonces
	streams streams

	rpc, rest http.Handler // write answers, and read nothing that a peer sent
}

// NewHandler returns what serves /a2a/ (package comment). It fails when Host is missing or Origin is not an origin.
func NewHandler(o Options) (http.Handler, error) {
	origin, err := url.Parse(o.Origin)
	if err != nil || o.Host == nil || origin.Host == "" || o.Origin != origin.Scheme+"://"+origin.Host || (origin.Scheme != "https" && origin.Scheme != "http") {
		return nil, errors.New("gidpa2a: a handler needs a Host, and an Origin of scheme and host such as https://agents.example")
	}
	h := &handler{
		host: o.Host, origin: o.Origin, authority: httpsig.Authority(origin.Scheme, origin.Host), profiles: o.Profiles, signer: o.Signer, names: namesOf(o.ExtensionURI),
		now: o.Now, wait: o.Wait, report: o.Report, client: o.Client, until: o.Until, tick: o.Tick,
		opens: rate{allowance: o.RateLimit}, streams: streams{each: o.StreamsPerTask},
		rpc:  a2asrv.NewJSONRPCHandler(desk{}, a2asrv.WithTransportKeepAlive(keepAlive)),
		rest: a2asrv.NewRESTHandler(desk{}, a2asrv.WithTransportKeepAlive(keepAlive)),
	}
	if h.now == nil {
		h.now = time.Now
	}
	if h.wait == nil {
		h.wait = h.sleep
	}
	if h.report == nil {
		h.report = func(string, error) {}
	}
	if h.client == nil {
		h.client = peer
	}
	if h.until == nil {
		h.until = context.Background()
	}
	if h.streams.each <= 0 {
		h.streams.each = defaultStreams
	}
	return h, nil
}

// sleep waits by the clock of the machine.
func (h *handler) sleep(ctx context.Context, until time.Time) error {
	t := time.NewTimer(until.Sub(h.now()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func peer(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr)
	return at.Addr()
}

// ServeHTTP finds the reference and the binding. A path that is neither, or a reference of another form, is nothing here.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	below, ok := strings.CutPrefix(r.URL.EscapedPath(), "/a2a/")
	ref, rest, _ := strings.Cut(below, "/")
	if !ok || !ValidRef(ref) {
		plain(w, http.StatusNotFound, "not_found", textNoAgent)
		return
	}
	if rest == strings.TrimPrefix(a2asrv.WellKnownAgentCardPath, "/") {
		h.serveCard(w, r, ref)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	var a answer
	switch method, task, found := restMethod(r.Method, rest); {
	case rest == "rpc" && r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		plain(w, http.StatusMethodNotAllowed, "method_not_allowed", "JSON-RPC is sent with POST")
		return
	case rest == "rpc":
		a = h.answer(r, &call{ref: ref, rpc: true})
	case found:
		a = h.answer(r, &call{ref: ref, method: method, task: task})
	default:
		plain(w, http.StatusNotFound, "not_found", textNoAgent)
		return
	}
	h.write(w, r, a)
}

// answer does the whole work of a request before anything is written, so that an error never stands in a stream that began well (G11).
func (h *handler) answer(r *http.Request, c *call) (a answer) {
	defer func() {
		if cause := recover(); cause != nil {
			h.report("panic", panicked())
			a = c.refuse(&Refusal{Code: Unavailable})
		}
	}()
	c.received, c.request = h.now(), r
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	switch {
	case err != nil:
		return c.fail(failInvalidRequest)
	case len(body) > maxRequest:
		return c.fail(failTooLarge)
	}
	c.body = body
	if f := c.read(); f != nil {
		return c.fail(f)
	}
	if version := r.Header.Values(versionHeader); len(version) != 1 || version[0] != a2aVersion {
		return c.fail(failVersion)
	}
	uris, ok := extensions(r.Header.Values(extensionsHeader))
	if !ok {
		return c.fail(failInvalidRequest)
	}
	c.active = slices.Contains(uris, h.names.uri)
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(h.until, cancel)
	c.done = func() { stop(); cancel() }
	defer func() {
		if a.done == nil { // nothing goes on after this
			c.done()
		}
	}()
	switch c.method {
	case methodSend, methodStream:
		return h.send(ctx, c)
	case methodGet, methodSubscribe, methodCancel:
		return h.look(ctx, c)
	}
	return c.fail(failOf(c.method))
}

// authenticate returns the thumbprint of the key that signed. pub is the key that the request brings, nil when the sessions know it.
func (h *handler) authenticate(ctx context.Context, c *call, pub []byte) (caller string, err error) {
	profile := httpsig.Session
	profile.Nonce = pub != nil
	m := httpsig.Message{Method: c.request.Method, Authority: h.authority, Path: c.request.URL.EscapedPath(), Header: c.request.Header, Body: c.body}
	signature, err := httpsig.Read(profile, m)
	if err != nil {
		return "", &Refusal{Code: Denied, Cause: err}
	}
	if pub == nil {
		known, ok, err := h.host.Key(ctx, signature.Params.KeyID)
		if err != nil {
			return "", err
		}
		if !ok {
			return "", &Refusal{Code: Denied}
		}
		pub = known
	}
	if err := signature.Verify(m, pub, c.received, window); err != nil {
		return "", &Refusal{Code: Denied, Cause: err}
	}
	if profile.Nonce {
		switch fresh, room := h.nonces.use(signature.Params.KeyID, signature.Params.Nonce, c.received); {
		case !fresh:
			return "", &Refusal{Code: Denied}
		case !room:
			return "", &Refusal{Code: Limited, RetryAfter: period}
		}
	}
	return signature.Params.KeyID, nil
}

// send takes one message (sec. 4). Streaming is the same and then listening.
func (h *handler) send(ctx context.Context, c *call) answer {
	m, ok := readMessage(c.params, h.names, c.active)
	if !ok {
		return c.refuse(&Refusal{Code: Invalid})
	}
	switch {
	case !c.active && m.task != "":
		return c.refuse(&Refusal{Code: NotFound}) // tasks are of the extension
	case !c.active, m.hello():
		return c.hello(h.names.uri)
	case !m.fits():
		return c.refuse(&Refusal{Code: Invalid})
	}
	in := Message{
		Ref: c.ref, Key: m.key, Task: m.task, Context: m.context, Object: m.object, Signature: m.signature, Evidence: m.evidence,
		ReceivedAt: c.received, Remote: network(h.client(c.request)),
	}
	var pub []byte
	if m.open {
		if wait, ok := h.opens.take(in.Remote, c.received); !ok {
			return c.refuse(&Refusal{Code: Limited, RetryAfter: wait})
		}
		key, err := jwk.ParsePublic(m.key)
		if err != nil {
			return c.refuse(&Refusal{Code: Denied, Cause: err})
		}
		pub = key
	}
	var err error
	if in.Caller, err = h.authenticate(ctx, c, pub); err != nil {
		return h.refused(c, err)
	}
	if c.method == methodStream && !m.open { // an open has no task yet that could be listened to
		if err := h.enter(c, m.task); err != nil {
			return h.refused(c, err)
		}
	}
	task, err := h.host.Receive(ctx, in)
	reply, at := h.now(), c.received // an answer is never in the acknowledgement of what it answers
	if h.tick > 0 {
		reply = Release(c.received, reply, h.tick)
	}
	if err == nil && m.open && len(task.Artifacts) > 0 {
		if shown := task.Artifacts[0].Release; shown.After(reply) {
			reply = shown
		}
		at = reply // an open is answered by its first artifact
	}
	if reply.After(h.now()) {
		err = cmp.Or(h.wait(ctx, reply), err)
	}
	switch {
	case err != nil:
		return h.refused(c, err)
	case c.method == methodSend:
		return h.snapshot(c, task, at)
	case m.open:
		if err := h.enter(c, task.ID); err != nil {
			return h.refused(c, err)
		}
	}
	return h.stream(ctx, c, in.Caller, task, at)
}

// enter counts a stream of a task until the call is done.
func (h *handler) enter(c *call, task string) error {
	leave := h.streams.enter(task)
	if leave == nil {
		return &Refusal{Code: Limited, RetryAfter: time.Second}
	}
	done := c.done
	c.done = func() { leave(); done() }
	return nil
}

// look serves the methods that name a task. Without the extension nothing of GIDP is served, so there is no task then.
func (h *handler) look(ctx context.Context, c *call) answer {
	if !c.active || !identifier(c.task) {
		return c.refuse(&Refusal{Code: NotFound})
	}
	caller, err := h.authenticate(ctx, c, nil)
	if err != nil {
		return h.refused(c, err)
	}
	task, err := h.host.Task(ctx, c.ref, c.task, caller)
	if err != nil {
		return h.refused(c, err)
	}
	now := h.now()
	_, state, _ := task.At(now)
	switch {
	case c.method == methodGet:
		return h.snapshot(c, task, now)
	case c.method == methodCancel:
		return c.fail(failCancel)
	case state == Completed:
		return c.refuse(&Refusal{Code: Closed})
	}
	if err := h.enter(c, task.ID); err != nil {
		return h.refused(c, err)
	}
	return h.stream(ctx, c, caller, task, now)
}

// refused is the answer to what a Host or a guard said no to.
func (h *handler) refused(c *call, err error) answer {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Code: Unavailable, Cause: err}
	}
	if r.Code == Unavailable && r.Cause != nil && c.request.Context().Err() == nil && h.until.Err() == nil {
		h.report("host", r.Cause)
	}
	return c.refuse(r)
}
