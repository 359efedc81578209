package attestation_test

import (
	"crypto/rand"
	"fmt"
	"time"

	"sayso/gidp/attestation"
	"sayso/jwk"
)

// A guild attests a membership to a key of a member, and the member shows it in one session.
func Example() {
	now := time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC)
	var keys []*jwk.PrivateKey
	for _, name := range []string{"guild", "holder", "session"} {
		key, err := jwk.Generate(name, rand.Reader)
		if err != nil {
			fmt.Println(err)
			return
		}
		keys = append(keys, key)
	}
	guild, holder, session := keys[0], keys[1], jwk.Thumbprint(keys[2].Public().Public)
	credential, err := attestation.Issue(attestation.Claims{Property: "member:guild.example", Confirm: holder.Public().Public, Expires: attestation.Expiry(now, 4)}, guild, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	here := attestation.Binding{Session: "s-1", Key: session}
	shown, err := attestation.Present(credential, holder, here, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := attestation.Verify(shown, guild.Public().Public, here, now)
	fmt.Println(got.Property, got.Expires.Format(time.DateOnly), err)
	_, err = attestation.Verify(shown, guild.Public().Public, attestation.Binding{Session: "s-2", Key: session}, now)
	fmt.Println(err)
	// Output:
	// member:guild.example 2031-01-27 <nil>
	// binding: it was shown for another session or provider
}
