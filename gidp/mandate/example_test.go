package mandate_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/mandate"
	"sayso/jwk"
)

// A mandate says under which levels an agent acts in one session. Its names stay digests until they are shown.
func Example() {
	now := time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC)
	console, err := jwk.Generate("console", rand.Reader)
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := jwk.Generate("session", rand.Reader)
	if err != nil {
		fmt.Println(err)
		return
	}
	salt := func() string {
		random := make([]byte, 16)
		rand.Read(random)
		return base64.RawURLEncoding.EncodeToString(random)
	}
	made, err := mandate.Issue(mandate.Claims{Issuer: "pairwise-1", Audience: mandate.Audience("s-1"), Confirm: session.Public().Public,
		Authority: []gidp.Level{gidp.Probe, gidp.Introduce}, IssuedAt: now, Expires: now.Add(time.Hour), ID: "m-1"},
		[]mandate.Disclosure{{Salt: salt(), Name: mandate.PrincipalName, Value: "Hillside Software"}, {Salt: salt()}}, console)
	if err != nil {
		fmt.Println(err)
		return
	}
	before := made.Present()
	got, err := mandate.Verify(before, mandate.Expect{Audience: mandate.Audience("s-1"), SessionKey: jwk.Thumbprint(session.Public().Public), Now: now, MaxExpires: now.Add(time.Hour)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(got.Finding(gidp.Introduce), "/", got.Finding(gidp.Disclose), "/", len(got.Names), strings.Contains(before, "Hillside"))
	// Output: evidenced by pairwise key / unevidenced / 0 false
}
