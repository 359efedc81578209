package gidpa2a

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/gidp/httpsig"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/safefetch"
)

// MaxAnswer bounds what a [Client] reads of one answer, in bytes. A safefetch.Policy for it allows as much.
const MaxAnswer = 4 << 20

const (
	helloLife   = 24 * time.Hour
	maxKnown    = 1024 // peers and sessions that are remembered
	maxEndpoint = 2048 // bytes
	requestName = "1"  // JSON-RPC id: each request has a connection exchange of its own
)

// Peer is the other side of one session of an initiator.
type Peer struct {
	Endpoint string          // of its projection
	Task     string          // "" before it took the open
	Session  string          // session_id
	Key      *jwk.PrivateKey // of this session, from [NewKey]
}

// Outgoing is one message of an initiator.
type Outgoing struct {
	Object    []byte  // canonical; nil when there is only evidence
	Evidence  jcs.Raw // nil for none
	Signature string  // from [SignObject]; "" for none
	Open      bool    // the object is a SessionOpen: the public key travels with it
}

// Received is a task as its peer shows it.
type Received struct {
	Task      string
	State     TaskState
	Artifacts []Artifact // all that are shown, numbered from 1; Release is zero
}

// NotActive says that a peer does not have the extension in force. Nothing of GIDP may be sent to it.
type NotActive struct{}

func (*NotActive) Error() string {
	return "gidpa2a: the peer does not have the GIDP extension in force"
}

// BadAnswer says that what a peer answered is not what the binding allows. Sending again does not help.
type BadAnswer struct{ Detail string }

// Error reads "gidpa2a: the peer's answer: artifacts are missing or out of order".
func (e *BadAnswer) Error() string { return "gidpa2a: the peer's answer: " + e.Detail }

// ClientOptions are what the initiator's side is made of.
type ClientOptions struct {
	// Do sends one request, follows no redirect and returns every status as an answer. Required, but for [NewSafeClient], which brings its own.
	Do     func(*http.Request) (*http.Response, error)
	Now    func() time.Time                                       // nil: time.Now
	Pause  func(ctx context.Context, lasting time.Duration) error // waits, or returns the error of ctx; nil: by timers
	Random io.Reader                                              // nil: crypto/rand
	// SilentPeers takes peers that do not name the extension in their answers, as servers on stock SDKs do (sec. 3).
	SilentPeers  bool
	ExtensionURI string // "": ExtensionURI
}

// Client sends to peers over JSON-RPC. It is safe for concurrent use; one session sends one message at a time (sec. 5).
type Client struct {
	do     func(*http.Request) (*http.Response, error)
	now    func() time.Time
	pause  func(ctx context.Context, lasting time.Duration) error
	random io.Reader
	silent bool
	names  names

	mu    sync.Mutex                     // guards what follows
	hello map[string]time.Time           // by endpoint: until when the extension is known to be in force
	seen  map[string][][sha256.Size]byte // by endpoint and task: digests of the artifacts that were shown
}

// NewClient returns a client that sends by o.Do.
func NewClient(o ClientOptions) *Client {
	c := &Client{
		do: o.Do, now: o.Now, pause: o.Pause, random: o.Random, silent: o.SilentPeers, names: namesOf(o.ExtensionURI),
		hello: map[string]time.Time{}, seen: map[string][][sha256.Size]byte{},
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.pause == nil {
		c.pause = safefetch.Pause
	}
	if c.random == nil {
		c.random = rand.Reader
	}
	return c
}

// NewSafeClient returns a client that sends by f alone, so that an endpoint, which somebody else chose, leads nowhere that f forbids. f reads whole answers; a task is
// therefore watched by asking again, not by a stream.
func NewSafeClient(f *safefetch.Client, o ClientOptions) *Client {
	o.Do = func(r *http.Request) (*http.Response, error) {
		got, err := f.Do(r.Context(), safefetch.Request{Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: r.Body})
		if err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: got.Status, Header: got.Header, Body: io.NopCloser(bytes.NewReader(got.Body))}, nil
	}
	return NewClient(o)
}

// Hello asks a peer whether the extension is in force, without sending anything of GIDP (sec. 3). A yes holds for a day. It is *[NotActive] when it is not, a
// *[Refusal], a *[BadAnswer], or the error of the transport.
func (c *Client) Hello(ctx context.Context, endpoint string) error {
	c.mu.Lock()
	until := c.hello[endpoint]
	c.mu.Unlock()
	if c.now().Before(until) {
		return nil
	}
	id := make([]byte, 16)
	if _, err := io.ReadFull(c.random, id); err != nil {
		return err
	}
	result, err := c.post(ctx, endpoint, nil, methodSend, c.sending(outMessage{ID: hex.EncodeToString(id)}))
	if err != nil {
		return err
	}
	if _, err := member(result, "message"); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	forget(c.hello)
	c.hello[endpoint] = c.now().Add(helloLife)
	return nil
}

// forget makes room in a map that only saves work.
func forget[V any](m map[string]V) {
	for k := range m {
		if len(m) < maxKnown {
			return
		}
		delete(m, k)
	}
}

// Send sends one message and returns the task as it stands then; before an open it asks [Client.Hello]. The answer of the peer to the object comes later, with
// [Client.Get] or [Client.Watch]. Sending the same object again has no other effect than to show the task. Errors are those of Hello.
func (c *Client) Send(ctx context.Context, to Peer, out Outgoing) (Received, error) {
	m := outMessage{Context: to.Session, Task: to.Task, Metadata: map[string]jcs.Raw{}}
	var err error
	if m.ID, err = messageID(to.Session, out); err != nil {
		return Received{}, err
	}
	if out.Object != nil {
		m.Metadata[c.names.object] = out.Object
	}
	if out.Evidence != nil {
		m.Metadata[c.names.evidence] = out.Evidence
	}
	if out.Signature != "" {
		m.Metadata[c.names.signature] = jcs.AppendString(nil, out.Signature)
	}
	if out.Open {
		if err := c.Hello(ctx, to.Endpoint); err != nil {
			return Received{}, err
		}
		m.Metadata[c.names.key] = jwk.EncodePublic(to.Key.Public().Public)
	}
	result, err := c.post(ctx, to.Endpoint, to.Key, methodSend, c.sending(m))
	if err != nil {
		return Received{}, err
	}
	task, err := member(result, "task")
	if err != nil {
		return Received{}, &NotActive{} // a plain message: the peer has read nothing of what was sent
	}
	return c.received(to, task)
}

// Get returns the task of a session. Errors are those of [Client.Send].
func (c *Client) Get(ctx context.Context, to Peer) (Received, error) {
	params := struct {
		ID      string `json:"id"`
		History int    `json:"historyLength"`
	}{ID: to.Task}
	result, err := c.post(ctx, to.Endpoint, to.Key, methodGet, params)
	if err != nil {
		return Received{}, err
	}
	return c.received(to, result)
}

// outMessage is an A2A Message as it is sent.
type outMessage struct {
	ID         string             `json:"messageId"`
	Context    string             `json:"contextId,omitempty"`
	Task       string             `json:"taskId,omitempty"`
	Role       string             `json:"role"`
	Parts      []outPart          `json:"parts"`
	Extensions []string           `json:"extensions"`
	Metadata   map[string]jcs.Raw `json:"metadata,omitempty"`
}

type outPart struct {
	Text string `json:"text"`
}

type outParams struct {
	Message       outMessage `json:"message"`
	Configuration struct {
		Immediately bool `json:"returnImmediately"`
		History     int  `json:"historyLength"`
	} `json:"configuration"`
}

func (c *Client) sending(m outMessage) outParams {
	m.Role, m.Parts, m.Extensions = "ROLE_USER", []outPart{{partText}}, []string{c.names.uri}
	p := outParams{Message: m}
	p.Configuration.Immediately = true
	return p
}

// messageID names a message by what it is, so that one object always has the same (sec. 4).
func messageID(session string, out Outgoing) (string, error) {
	if out.Object == nil {
		sum := sha256.Sum256(out.Evidence)
		return session + ":evidence:" + hex.EncodeToString(sum[:8]), nil
	}
	var head struct {
		Type    string `json:"type"`
		Request string `json:"request_id"`
		Ref     string `json:"request_ref"`
	}
	if err := jcs.Decode(out.Object, &head); err != nil {
		return "", err
	}
	return session + ":" + head.Type + ":" + head.Request + head.Ref, nil
}

var errEndpoint = errors.New("gidpa2a: the endpoint is not an https URL of an agent")

// post sends one JSON-RPC request, signed when there is a key, and returns its result.
func (c *Client) post(ctx context.Context, endpoint string, key *jwk.PrivateKey, method string, params any) (jcs.Raw, error) {
	at, err := url.Parse(endpoint)
	if err != nil || len(endpoint) > maxEndpoint || at.String() != endpoint || at.Host == "" || at.User != nil || at.RawQuery != "" || at.ForceQuery || at.Fragment != "" ||
		len(at.Path) < 2 || strings.HasSuffix(at.Path, "/") || at.JoinPath().String() != endpoint ||
		at.Scheme != "https" && safefetch.LoopbackOf(at.Scheme+"://"+at.Host) == "" {
		return nil, errEndpoint
	}
	body, err := jcs.Encode(struct {
		Version string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", requestName, method, params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+"/rpc", bytes.NewReader(body))
	if err != nil {
		return nil, errEndpoint
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set(versionHeader, a2aVersion)
	r.Header.Set(extensionsHeader, c.names.uri)
	if key != nil {
		if err := c.sign(r, body, key); err != nil {
			return nil, err
		}
	}
	resp, err := c.do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxAnswer {
		return nil, &BadAnswer{"it is longer than any task"}
	}
	result, err := readResult(resp.StatusCode, resp.Header, data, c.now())
	if err != nil {
		return nil, err
	}
	if uris, ok := extensions(resp.Header.Values(extensionsHeader)); !c.silent && (!ok || !slices.Contains(uris, c.names.uri)) {
		return nil, &NotActive{}
	}
	return result, nil
}

// sign adds the signature of sec. 6.1. Each time of sending has a nonce of its own, also of the same object.
func (c *Client) sign(r *http.Request, body []byte, key *jwk.PrivateKey) error {
	nonce := make([]byte, 16)
	if _, err := io.ReadFull(c.random, nonce); err != nil {
		return err
	}
	m := httpsig.Message{Method: r.Method, Authority: httpsig.Authority(r.URL.Scheme, r.URL.Host), Path: r.URL.EscapedPath(), Header: r.Header, Body: body}
	fields, err := httpsig.Sign(httpsig.Session, m, key, httpsig.Params{Created: c.now(), Nonce: hex.EncodeToString(nonce)})
	if err != nil {
		return err
	}
	for name, value := range fields {
		r.Header.Set(name, value)
	}
	return nil
}

// The pace of asking again (sec. 5): quickly for a minute after something happened, then slowly.
const (
	quickPace = time.Second
	slowPace  = 30 * time.Second
	quickTime = time.Minute
	maxPace   = 5 * time.Minute
	maxRetry  = time.Minute
)

// Watch asks for the task again and again and calls f with it whenever it shows more than seen artifacts or another state. It ends with nil when the task is
// completed, with the error of f or of ctx, and with an error of [Client.Get] that asking again does not mend.
func (c *Client) Watch(ctx context.Context, to Peer, seen int, f func(Received) error) error {
	var state TaskState
	active, failures := c.now(), 0
	for {
		r, err := c.Get(ctx, to)
		var wait time.Duration
		switch {
		case err == nil:
			failures = 0
			if len(r.Artifacts) > seen || state != "" && r.State != state || r.State == Completed {
				if err := f(r); err != nil {
					return err
				}
				seen, active = max(seen, len(r.Artifacts)), c.now()
			}
			if state = r.State; state == Completed {
				return nil
			}
			wait = pace(r, c.now().Sub(active))
		case ctx.Err() != nil:
			return ctx.Err()
		case Final(err):
			return err
		default:
			var refusal *Refusal
			wait = min(quickPace<<min(failures, 6), maxRetry)
			if errors.As(err, &refusal) {
				wait = max(wait, refusal.RetryAfter)
			}
			failures++
		}
		spread, err := rand.Int(c.random, big.NewInt(int64(wait)*2/5+1)) // ±20 %
		if err != nil {
			return err
		}
		if err := c.pause(ctx, wait*4/5+time.Duration(spread.Int64())); err != nil {
			return err
		}
	}
}

// pace is how long to wait after an answer, idle after something happened.
func pace(r Received, idle time.Duration) time.Duration {
	quick := quickPace
	if len(r.Artifacts) > 0 && r.Artifacts[0].Hint != nil {
		var hint struct {
			After int64 `json:"poll_after_s"`
		}
		if jcs.Decode(r.Artifacts[0].Hint, &hint) == nil && hint.After > 0 {
			quick = min(time.Duration(min(hint.After, 3600))*time.Second, maxPace)
		}
	}
	if idle < quickTime {
		return quick
	}
	return max(quick, slowPace)
}

// Final reports whether an error of a [Client] stays when the same is sent again.
func Final(err error) bool {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Code != Limited && refusal.Code != Unavailable
	}
	var inactive *NotActive
	var bad *BadAnswer
	return errors.As(err, &inactive) || errors.As(err, &bad) || errors.Is(err, errEndpoint) || errors.Is(err, safefetch.ErrRefused)
}
