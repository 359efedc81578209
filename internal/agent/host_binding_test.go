package agent

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/profile"
	"sayso/internal/vault"
)

// The same walk over HTTP: the binding on both sides, real time, and both agents with their own loop.
func TestOverTheBinding(t *testing.T) {
	w := newWorld(t)
	signer, err := vault.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { handler.ServeHTTP(rw, r) }))
	defer server.Close()
	offset := time.Until(w.clock.read())
	now := func() time.Time { return time.Now().Add(offset) }
	w.seller.options.Now, w.buyer.options.Now = now, now
	w.buyer.options.Peers = gidpa2a.NewClient(gidpa2a.ClientOptions{Do: server.Client().Do, Now: now})
	w.seller.options.Peers = nil
	w.seller.restart()
	w.buyer.restart()
	handler, err = gidpa2a.NewHandler(gidpa2a.Options{Host: w.seller.agent, Origin: server.URL, Profiles: profile.Shipped().IDs(), Signer: signer, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	w.endpoint = server.URL + "/a2a/" + w.ref

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for _, p := range []*party{w.buyer, w.seller} {
		go func() { ended <- p.agent.Run(ctx) }()
	}
	defer func() {
		stop()
		<-ended
		<-ended
	}()
	id := w.open()
	w.buyer.agent.kick()
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %+v\n%+v\n%s", what, w.buyer.sessions(), w.seller.sessions(), w.buyer.logged)
			}
		}
	}
	until("qualified", func() bool {
		s := w.seller.sessions()
		return w.buyer.one().State == "QUALIFIED" && len(s) == 1 && s[0].State == "QUALIFIED"
	})
	if _, err := w.buyer.agent.Request(ctx, id, LeadRequest{Action: RequestHandoff, Target: "human:desk"}); err != nil {
		t.Fatal(err)
	}
	until("an entry", func() bool { return len(w.seller.inbox()) == 1 })
	w.seller.decide(Decision{Grant: true})
	until("the end", func() bool { return w.seller.one().Reason == "completed" && w.buyer.one().Reason == "completed" })
	if v := w.seller.one(); v.Handoff == nil || v.Handoff.Target != "human:desk" || len(v.Signatures) != 2 || v.Signatures[0].Finding != signatureVerified {
		t.Errorf("%+v", v)
	}
	w.checkTrail()
}
