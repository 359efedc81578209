package httpsig_test

import (
	"crypto/rand"
	"fmt"
	"time"

	"sayso/gidp/httpsig"
	"sayso/jwk"
)

// A request to a provider is signed by a key of its own, which travels beside it. A verifier derives what has to be covered from the request itself.
func Example() {
	now := time.Now()
	key, err := jwk.Generate("session", rand.Reader)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := httpsig.Message{Method: "POST", Authority: httpsig.Authority("https", "Provider.example:443"), Path: "/gidp/v1/candidates", Header: map[string][]string{}, Body: []byte(`{}`)}
	fields, err := httpsig.Sign(httpsig.Provider, m, key, httpsig.Params{Created: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, value := range fields {
		m.Header[name] = []string{value}
	}
	signature, err := httpsig.Read(httpsig.Provider, m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Authority, signature.Verify(m, key.Public().Public, now, 5*time.Minute))
	m.Body = []byte(`{"limit":50}`)
	fmt.Println(signature.Verify(m, key.Public().Public, now, 5*time.Minute))
	// Output:
	// provider.example <nil>
	// digest: the body is not the one that Content-Digest names
}
