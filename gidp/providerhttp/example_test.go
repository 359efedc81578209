package providerhttp_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/jwk"
	"sayso/safefetch"
)

// A publisher makes a key for each projection and keeps it with the reference: it is what withdraws. A querent makes one for each exploration.
func Example() {
	var service *providerhttp.Service
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { service.Handler().ServeHTTP(w, r) }))
	defer server.Close()
	ctx := context.Background()
	service, err := providerhttp.New(ctx, providerhttp.Options{Rows: newRows(), Origin: server.URL, Now: time.Now, Random: rand.Reader})
	if err != nil {
		log.Fatal(err)
	}
	fetch := safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(server.URL)}})
	client := providerhttp.NewClient(providerhttp.ClientOptions{Fetch: fetch, Now: time.Now, Random: rand.Reader})

	key, err := jwk.Generate("projection", rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	ref, latency, err := client.Publish(ctx, server.URL, key, providerhttp.Publication{Projection: &wire.DiscoveryProjection{
		ExpiresAt: time.Now().Truncate(24 * time.Hour).Add(45 * 24 * time.Hour), ProjectionID: "d2c1f0a9e8b7", Endpoint: "http://127.0.0.1:8470/a2a/0f1e2d3c4b5a69788796a5b4c3d2e1f0",
		Categories: []string{"company_sale"}, Geographies: []string{"munich"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	querent, err := jwk.Generate("exploration", rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	page, err := client.Candidates(ctx, server.URL, querent, providerhttp.Query{Projection: &wire.DiscoveryProjection{Geographies: []string{"germany"}}})
	if err != nil {
		log.Fatal(err)
	}
	endpoint, _, err := client.Resolve(ctx, server.URL, querent, page.Candidates[0].Ref)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Candidates), endpoint)
	if _, err := client.Withdraw(ctx, server.URL, key, ref); err != nil {
		log.Fatal(err)
	}
	fmt.Println("withdrawn everywhere within", latency)
	// Output:
	// 1 http://127.0.0.1:8470/a2a/0f1e2d3c4b5a69788796a5b4c3d2e1f0
	// withdrawn everywhere within 1m0s
}
