package gidpa2a_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/wire"
	"sayso/safefetch"
)

// A server needs a Host, which keeps the sessions, and the origin under which it is reached.
func ExampleNewHandler() {
	agent := newMemory(newClock()) // a Host of the tests
	handler, err := gidpa2a.NewHandler(gidpa2a.Options{Host: agent, Origin: "https://agents.example", Profiles: []string{"core"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/a2a/", handler)

	card := httptest.NewRecorder()
	mux.ServeHTTP(card, httptest.NewRequest(http.MethodGet, "https://agents.example/a2a/0123456789abcdef0123456789abcdef/.well-known/agent-card.json", nil))
	fmt.Println(card.Code, card.Header().Get("Cache-Control"))
	// Output: 200 max-age=3600
}

// A client opens a session at the endpoint of a projection that a provider resolved.
func ExampleClient() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	origin := "http://" + listener.Addr().String()
	handler, _ := gidpa2a.NewHandler(gidpa2a.Options{Host: newMemory(&clock{now: time.Now()}), Origin: origin})
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	defer server.Close()

	fetch := safefetch.New(safefetch.Policy{MaxBytes: gidpa2a.MaxAnswer, Loopback: []string{safefetch.LoopbackOf(origin)}})
	defer fetch.Close()
	client := gidpa2a.NewSafeClient(fetch, gidpa2a.ClientOptions{})
	key, _ := gidpa2a.NewKey(rand.Reader)
	open, _ := wire.Encode(&wire.SessionOpen{
		Head: wire.Head{SessionID: "s-5f0c", ExpiresAt: time.Now().Add(time.Hour)}, RequestID: "r-1", Initiator: "i-91d2", Purpose: "partnership",
		MaxDepth: wire.DepthSession, Profile: "core", Features: []wire.Feature{},
	})
	peer := gidpa2a.Peer{Endpoint: origin + "/a2a/0123456789abcdef0123456789abcdef", Session: "s-5f0c", Key: key}
	got, err := client.Send(context.Background(), peer, gidpa2a.Outgoing{Object: open, Open: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, _ := wire.Decode(got.Artifacts[0].Object)
	fmt.Println(got.State, answer.Type())
	// Output: TASK_STATE_WORKING SessionAccept
}
