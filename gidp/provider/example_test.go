package provider_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"time"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/gidp/wire"
)

// A projection for Germany is found from Munich, because the provider resolves the hierarchy. The row is kept first; then the index takes it.
func Example() {
	now := time.Now()
	places, _ := gidp.NewTree(map[string]string{"germany": "europe", "munich": "germany"})
	p, err := provider.New(provider.Config{
		Dimensions: []provider.Dimension{{Name: provider.Geography, Tree: places, Hierarchy: "places/1"}},
		Secret:     sha256.Sum256([]byte("32 random bytes, in earnest")), Random: rand.Reader,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	projection := func(id, place string) *wire.DiscoveryProjection {
		return &wire.DiscoveryProjection{ExpiresAt: now.Add(30 * 24 * time.Hour), ProjectionID: id, Endpoint: "https://agents.example/a2a/" + id,
			Geographies: []string{place}}
	}
	caller := func(key string) provider.Caller { // a key whose signature was verified
		return provider.Caller{Key: sha256.Sum256([]byte(key)), Addr: netip.MustParseAddr("192.0.2.1")}
	}
	row, err := p.Publish(now, caller("publisher"), &provider.Publication{Projection: projection("p-1", "germany")})
	if err == nil {
		err = p.Apply(row)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := p.Candidates(now, caller("querent"), &provider.Query{Projection: projection("q-1", "munich"), Limit: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := p.Resolve(now, caller("querent"), page.Candidates[0].CandidateRef)
	fmt.Println(len(page.Candidates), found.URL, err)
	// Output: 1 https://agents.example/a2a/p-1 <nil>
}
