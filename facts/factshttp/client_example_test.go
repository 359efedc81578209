package factshttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/safefetch"
)

// A static publisher needs two files to be readable.
func ExampleClient_Get() {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.HandleFunc("/.well-known/facts.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"protocol": "verified-facts/0.2", "publisher": {"name": "Example", "url": "https://example.org"}, "conformance": "L1", "updated": "2026-06-10",
			"facts": {"count": 1, "get": "%[1]s/f/{key}.json", "index": "%[1]s/f/index.json", "filtering": "client"}, "namespaces": [], "hash": "sha256/jcs", "changes": "%[1]s/.well-known/changes.json"}`, server.URL)
	})
	mux.HandleFunc("/f/uk/bank-rate.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"protocol": "verified-facts/0.2", "key": "uk/bank-rate", "label": "Bank Rate", "value": 4.25, "unit": "%", "period": null, "effectiveFrom": null,
			"effectiveTo": null, "source": "https://www.bankofengland.co.uk", "verifiedDate": "2026-06-10", "nextScheduledRefresh": null,
			"hash": "sha256:5d06091b71b519d0cb8b68ba72dbeee10e685f75f24231992666ac5f2a1bcc40", "publisher": {"name": "Example", "url": "https://example.org"}}`)
	})

	client := factshttp.NewClient(server.URL, factshttp.ClientOptions{
		Fetch: safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(server.URL)}}),
		Clock: func() time.Time { return time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC) },
	})
	answer, err := client.Get(context.Background(), "uk/bank-rate", facts.Selection{MaxAge: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Record.Value.Text(), answer.Record.Unit, answer.Status, answer.AgeDays, "days old")
	fmt.Println("hash", answer.Verification.Hash.Value)
	fmt.Println("signature", answer.Verification.Signature.Value)
	fmt.Println("claim", answer.Verification.ClaimCurrent.Value)
	// Output:
	// 4.25 % fresh 5 days old
	// hash valid
	// signature absent
	// claim current
}
