package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
	"sayso/jwk"
)

// gidpVariable makes this test program an agent of GIDP: its settings.
const gidpVariable = "SAYSO_CRASH_GIDP_CHILD"

type gidpSettings struct {
	folder
	Interest  string   // of an initiator; "" is a responder
	Endpoints []string // that the provider of an initiator finds
	Point     point    // where the process ends itself; "" nowhere
	Pass      int64    // how often it passes there, the end included
}

// point is a place in the life of one message.
type point string

const (
	beforeReserve point = "before reserve"
	afterReserve  point = "after reserve"
	beforeCommit  point = "before commit"
	afterCommit   point = "after commit"
	beforeSend    point = "before send"
	afterSend     point = "after send"
)

var points = []point{beforeReserve, afterReserve, beforeCommit, afterCommit, beforeSend, afterSend}

// doom kills the process at a point. Nothing runs after it, no deferred call and no buffer.
type doom struct {
	at   point
	left atomic.Int64
}

func (d *doom) pass(p point) {
	if p == d.at && d.left.Add(-1) == 0 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// watched marks the transactions that carry a message, so that the points are those of messages and not of an idle loop.
type watched struct{}

func watching(ctx context.Context) context.Context { return context.WithValue(ctx, watched{}, true) }

// doomed is a store with points in it.
type doomed struct {
	durable.Store
	*doom
	all bool // every transaction is watched
}

func (s doomed) Update(ctx context.Context, f func(durable.Writer) error) error {
	if !s.all && ctx.Value(watched{}) == nil {
		return s.Store.Update(ctx, f)
	}
	err := s.Store.Update(ctx, func(w durable.Writer) error {
		err := f(doomedWriter{w, s.doom})
		if err == nil {
			s.pass(beforeCommit)
		}
		return err
	})
	if err == nil {
		s.pass(afterCommit)
	}
	return err
}

type doomedWriter struct {
	durable.Writer
	*doom
}

func (w doomedWriter) PutLedger(ctx context.Context, row durable.LedgerRow) error {
	w.pass(beforeReserve)
	err := w.Writer.PutLedger(ctx, row)
	w.pass(afterReserve)
	return err
}

// doomedHost marks what it receives.
type doomedHost struct{ gidpa2a.Host }

func (h doomedHost) Receive(ctx context.Context, m gidpa2a.Message) (gidpa2a.Task, error) {
	return h.Host.Receive(watching(ctx), m)
}

// doomedAnswer dies before or behind the first bytes of an answer to a signed message.
type doomedAnswer struct {
	http.ResponseWriter
	*doom
}

func (a doomedAnswer) Write(b []byte) (int, error) {
	a.pass(beforeSend)
	n, err := a.ResponseWriter.Write(b)
	if f, ok := a.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
	a.pass(afterSend)
	return n, err
}

// gidpChild is the life of a child. It ends by itself only when something fails.
func gidpChild(text string) error {
	var s gidpSettings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	d := &doom{at: s.Point}
	d.left.Store(s.Pass)
	if s.Interest == "" {
		return respond(s, d)
	}
	return initiate(s, d)
}

// respond serves the agents of a folder and decides half of what waits, as a Principal at an inbox would.
func respond(s gidpSettings, d *doom) error {
	ctx := context.Background()
	n, err := s.node(ctx, func(o *agent.Options) { o.Store = doomed{Store: o.Store, doom: d} })
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	origin := "http://" + l.Addr().String()
	h, err := gidpa2a.NewHandler(gidpa2a.Options{Host: doomedHost{n.Agent}, Origin: origin})
	if err != nil {
		return err
	}
	go n.Run(ctx)
	failed := make(chan error, 2)
	go func() { failed <- decideHalf(ctx, n.Agent) }()
	go func() {
		failed <- http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Signature") != "" {
				w = doomedAnswer{w, d}
			}
			h.ServeHTTP(w, r)
		}))
	}()
	fmt.Println("ready", origin)
	return <-failed
}

// decideHalf grants every second entry that it sees, and says so once that is durable.
func decideHalf(ctx context.Context, a *agent.Agent) error {
	left := map[string]bool{}
	for {
		list, err := a.Inbox(ctx, false)
		if err != nil {
			return err
		}
		for _, e := range list {
			if _, seen := left[e.ID]; seen {
				continue
			}
			if left[e.ID] = len(left)%2 == 0; left[e.ID] {
				continue
			}
			if _, err := a.Decide(watching(ctx), e.ID, agent.Decision{Grant: true}); err != nil {
				return err
			}
			fmt.Println("decided", e.ID)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// doomedPeers dies around a message to a peer.
type doomedPeers struct {
	agent.Peers
	*doom
}

func (p doomedPeers) Send(ctx context.Context, to gidpa2a.Peer, out gidpa2a.Outgoing) (gidpa2a.Received, error) {
	p.pass(beforeSend)
	got, err := p.Peers.Send(ctx, to, out)
	p.pass(afterSend)
	return got, err
}

// directory is a provider that finds everything for everybody.
type directory struct {
	mu        sync.Mutex
	endpoints []string // guarded by mu; projection p-1 leads to the first
}

var errNoProvider = errors.New("this provider only publishes and finds")

func (d *directory) Publish(_ context.Context, _ string, _ *jwk.PrivateKey, p providerhttp.Publication) (string, time.Duration, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.endpoints, p.Projection.Endpoint) {
		d.endpoints = append(d.endpoints, p.Projection.Endpoint)
	}
	return fmt.Sprint("p-", slices.Index(d.endpoints, p.Projection.Endpoint)+1), time.Second, nil
}

func (*directory) Update(context.Context, string, *jwk.PrivateKey, string, providerhttp.Publication) (string, time.Duration, error) {
	return "", 0, errNoProvider
}

func (*directory) Withdraw(context.Context, string, *jwk.PrivateKey, string) (time.Time, error) {
	return time.Time{}, errNoProvider
}

func (*directory) Info(context.Context, string) (providerhttp.Info, error) {
	return providerhttp.Info{}, errNoProvider
}

func (d *directory) Candidates(context.Context, string, *jwk.PrivateKey, providerhttp.Query) (page providerhttp.Page, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.endpoints {
		page.Candidates = append(page.Candidates, providerhttp.Candidate{Ref: fmt.Sprint("c-", i+1), ProjectionRef: fmt.Sprint("p-", i+1)})
	}
	return page, nil
}

func (d *directory) Resolve(_ context.Context, _ string, _ *jwk.PrivateKey, ref string) (endpoint, projection string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.endpoints {
		if ref == fmt.Sprint("c-", i+1) {
			return d.endpoints[i], fmt.Sprint("p-", i+1), nil
		}
	}
	return "", "", errNoProvider
}

// initiate drives what is scheduled in a folder, and requests what a Principal would: the identity of each counterparty, then the hand-over.
func initiate(s gidpSettings, d *doom) error {
	ctx := context.Background()
	client, _ := initiator()
	n, err := s.node(ctx, func(o *agent.Options) {
		o.Store = doomed{Store: o.Store, doom: d, all: true}
		o.Peers, o.Providers = doomedPeers{client, d}, &directory{endpoints: s.Endpoints}
	})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	go n.Run(ctx)
	for {
		list, err := n.Sessions(ctx, s.Interest)
		if err != nil {
			return err
		}
		over := 0
		for _, v := range list {
			r := agent.LeadRequest{Action: agent.RequestIdentity}
			if len(v.Values) > 0 {
				r = agent.LeadRequest{Action: agent.RequestHandoff, Target: "human:desk"}
			}
			switch {
			case v.State == "CLOSED":
				over++
			case v.Lead != nil && v.Order == "":
				n.Request(ctx, v.ID, r) // refused while something is under way
			}
		}
		if len(list) == len(s.Endpoints) && over == len(list) {
			fmt.Println("done")
			select {}
		}
		time.Sleep(3 * time.Millisecond)
	}
}
