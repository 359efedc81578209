package bizhttp_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"sayso/business/bizhttp"
	"sayso/safefetch"
)

// A reader that pinned the registry's root verifies what a publisher's page leads to.
func ExampleVerifyURL() {
	source := newRegistry(new(testing.B)) // a registry in memory, with a publisher called "published"
	server := httptest.NewServer(bizhttp.Handler(bizhttp.HandlerOptions{Source: source}))
	defer server.Close()
	source.site.Origin = server.URL

	policy := bizhttp.Bounds()
	policy.Loopback = []string{safefetch.LoopbackOf(server.URL)}
	result, err := bizhttp.VerifyURL(context.Background(), server.URL+"/b/published", bizhttp.Options{
		Fetch: safefetch.New(policy), Clock: source.Now, Root: source.pin(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := result.Verdict
	fmt.Println(v.Kind, "of", v.Publisher)
	fmt.Println("signature", v.Signature.Value)
	fmt.Println("identity", v.Identity.Value)
	fmt.Println("authority", v.Authority.Value)
	fmt.Println("revocation", v.Revocation.Value, "as of", v.Revocation.AsOf.Format("15:04"))
	fmt.Println("usable", v.Usable.Value)
	// Output:
	// manifest of published
	// signature valid
	// identity confirmed
	// authority current
	// revocation clean as of 12:00
	// usable yes
}
