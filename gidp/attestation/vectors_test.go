package attestation

import (
	"errors"
	"testing"
	"time"

	"sayso/jwk"
	"sayso/vectors"
)

// Every vector gets its class, and a valid one comes out the same when it is made again.
func TestVectors(t *testing.T) {
	list := vectors.GIDPAttestations()
	valid := 0
	for _, v := range list {
		issuer, err := jwk.ParsePublic(v.Issuer)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, v.At)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Verify(v.Attestation, issuer, Binding{Session: v.Session, Provider: v.Provider, Key: v.Key, Peer: v.Peer}, at)
		var e *Error
		switch {
		case v.Class == vectors.Valid:
			valid++
			if err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
		case !errors.As(err, &e) || string(e.Code) != v.Class:
			t.Errorf("%s: %v, want %s", v.Name, err, v.Class)
		}
	}
	if len(list) < 35 || valid != 3 {
		t.Errorf("%d vectors, %d valid", len(list), valid)
	}
}
