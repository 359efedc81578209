package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sayso/gidp/httpsig"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/internal/store/sqlite"
	"sayso/jwk"
)

// providerOrigin is http on the own machine, so that endpoints need no DNS. Nothing listens there: the handlers are called.
const providerOrigin = "http://127.0.0.1:1"

// measureWithdraw holds the time from a withdrawal at one replica to the first moment at which no replica returns the projection.
func measureWithdraw(r *report, p *plan) error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "gidp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var replicas [2]*providerhttp.Service
	const much = 1 << 30
	for i := range replicas {
		db, err := sqlite.Open(ctx, filepath.Join(dir, "sayso.db"))
		if err != nil {
			return err
		}
		defer db.Close()
		replicas[i], err = providerhttp.New(ctx, providerhttp.Options{Rows: db.Provider(), Origin: providerOrigin, Now: time.Now, Random: rand.Reader,
			Tiers: map[string]provider.Limits{"": {much, much, much, much}}})
		if err != nil {
			return err
		}
	}
	running, stop := context.WithCancel(ctx)
	var polling sync.WaitGroup
	for _, s := range replicas {
		polling.Go(func() { s.Run(running) })
	}
	defer polling.Wait()
	defer stop()
	took := make([]time.Duration, p.withdrawals)
	var failures [clients]error
	var acting sync.WaitGroup
	for client := range clients {
		acting.Go(func() {
			for i := client; i < len(took) && failures[client] == nil; i += clients {
				took[i], failures[client] = withdrawal(replicas[i%2], replicas[(i+1)%2], fmt.Sprint("place-", letters(i)))
			}
		})
	}
	acting.Wait()
	if err := errors.Join(failures[:]...); err != nil {
		return err
	}
	slices.Sort(took)
	p99 := quantile(took, 99)
	r.title("From a withdrawal at one replica of a provider until neither returns the projection, over one SQLite file, %d withdrawals; baseline: one second", len(took))
	r.table("p50 ms|p99 ms|most ms", fmt.Sprintf("%s|%s|%s", ms(quantile(took, 50)), ms(p99), ms(took[len(took)-1])))
	r.bound(line{name: "gidp-withdraw", ratio: p99.Seconds(), bound: 1})
	return nil
}

// withdrawal publishes a projection at one replica, waits until the other returns it, and withdraws it at a moment that the feed of the other does not know.
func withdrawal(here, there *providerhttp.Service, place string) (time.Duration, error) {
	owner, err := jwk.Generate("owner", rand.Reader)
	if err != nil {
		return 0, err
	}
	asker, err := jwk.Generate("asker", rand.Reader)
	if err != nil {
		return 0, err
	}
	shown, err := projectionAt(place)
	if err != nil {
		return 0, err
	}
	var published struct {
		Ref string `json:"projection_ref"`
	}
	if err := called(here, http.MethodPost, "projections", owner, shown, &published); err != nil {
		return 0, err
	}
	returned := func(s *providerhttp.Service) (bool, error) {
		query, err := projectionAt(place)
		if err != nil {
			return false, err
		}
		var page providerhttp.Page
		err = called(s, http.MethodPost, "candidates", asker, query, &page)
		return slices.ContainsFunc(page.Candidates, func(c providerhttp.Candidate) bool { return c.ProjectionRef == published.Ref }), err
	}
	until := func(s *providerhttp.Service, want bool) error {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if is, err := returned(s); err != nil || is == want {
				return err
			}
		}
		return fmt.Errorf("a replica did not learn in a minute that a projection is returned: %v", want)
	}
	if err := errors.Join(until(here, true), until(there, true)); err != nil {
		return 0, err
	}
	var moment [1]byte
	rand.Read(moment[:])
	time.Sleep(time.Duration(moment[0]) * time.Millisecond)
	begin := time.Now()
	if err := called(here, http.MethodDelete, "projections/"+published.Ref, owner, nil, &struct{}{}); err != nil {
		return 0, err
	}
	err = errors.Join(until(here, false), until(there, false))
	return time.Since(begin), err
}

func projectionAt(place string) ([]byte, error) {
	token := func() string {
		var b [16]byte
		rand.Read(b[:])
		return hex.EncodeToString(b[:])
	}
	return wire.Encode(&wire.DiscoveryProjection{ExpiresAt: time.Now().UTC().Truncate(24 * time.Hour).Add(30 * 24 * time.Hour), ProjectionID: token(), Endpoint: "http://127.0.0.1:1/a2a/" + token(),
		Geographies: []string{place}, Relation: []string{wire.Complementary}})
}

// called calls the handler of a replica with a signed request and reads its answer.
func called(s *providerhttp.Service, method, path string, key *jwk.PrivateKey, projection []byte, out any) error {
	body, err := json.Marshal(struct {
		Key        json.RawMessage `json:"key"`
		Projection json.RawMessage `json:"projection,omitempty"`
	}{json.RawMessage(jwk.EncodePublic(key.Public().Public)), projection})
	if err != nil {
		return err
	}
	request := httptest.NewRequest(method, providerOrigin+"/gidp/v1/"+path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.RemoteAddr = "127.0.0.1:2"
	fields, err := httpsig.Sign(httpsig.Provider, httpsig.Message{Method: method, Authority: httpsig.Authority("http", request.URL.Host), Path: request.URL.EscapedPath(), Body: body}, key,
		httpsig.Params{Created: time.Now(), Nonce: rand.Text()})
	if err != nil {
		return err
	}
	for name, value := range fields {
		request.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, request)
	if w.Code/100 != 2 {
		return fmt.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return json.Unmarshal(w.Body.Bytes(), out)
}
