package vault

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp/attestation"
	"sayso/jwk"
)

const guild = "member:guild.example"

// issued is a batch of n attestations for a lineage, as it comes back from an issuer.
func issued(t testing.TB, v *Vault, lineage, property string, n int) *attestation.Batch {
	t.Helper()
	issuer, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	slots, err := v.CredentialSlots(lineage, n, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	data, err := attestation.IssueBatch(slots, property, attestation.Expiry(noon, 2), issuer, noon)
	if err != nil {
		t.Fatal(err)
	}
	b, err := attestation.ReadBatch(data, noon)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func both(t *testing.T, f func(t *testing.T, v *Vault)) {
	t.Run("on disk", func(t *testing.T) { f(t, create(t)) })
	t.Run("in memory", func(t *testing.T) {
		v, err := Ephemeral(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		f(t, v)
	})
}

func left(t testing.TB, v *Vault, lineage string, now time.Time) int {
	t.Helper()
	groups, err := v.Credentials(lineage, now)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range groups {
		n += g.Left
	}
	return n
}

// Each attestation is given out once, whatever is added again, and to its own interest alone.
func TestAnAttestationIsTakenOnce(t *testing.T) {
	both(t, func(t *testing.T, v *Vault) {
		b := issued(t, v, "l-1", guild, 3)
		if n, err := v.AddCredentials("l-1", b, noon); n != 3 || err != nil {
			t.Fatalf("%d %v", n, err)
		}
		if _, err := v.AddCredentials("l-2", b, noon); !errors.Is(err, ErrForeign) {
			t.Errorf("another interest: %v", err)
		}
		if _, err := v.AddCredentials("l-1", b, noon); !errors.Is(err, ErrSpent) {
			t.Errorf("again: %v", err)
		}
		seen := map[string]bool{}
		for range 3 {
			c, ok, err := v.TakeCredential("l-1", guild, noon)
			if err != nil || !ok || seen[c.Attestation] || c.Property != guild {
				t.Fatalf("%v %v %v", c.Property, ok, err)
			}
			seen[c.Attestation] = true
			if _, err := attestation.Present(c.Attestation, c.Key, attestation.Binding{Session: "s", Key: "k"}, noon); err != nil {
				t.Error(err)
			}
			if _, err := v.AddCredentials("l-1", b, noon); !errors.Is(err, ErrSpent) {
				t.Errorf("a used one comes back: %v", err)
			}
		}
		for _, of := range [][2]string{{"l-1", guild}, {"l-1", "verified_agent"}, {"l-2", guild}} {
			if _, ok, err := v.TakeCredential(of[0], of[1], noon); ok || err != nil {
				t.Errorf("%v: %v %v", of, ok, err)
			}
		}
		if n := left(t, v, "l-1", noon); n != 0 {
			t.Errorf("%d left", n)
		}
		// Marks go with the day, and not before.
		if names, _ := v.creds.names(); len(names) != 3 {
			t.Errorf("%v", names)
		}
		left(t, v, "l-1", b.Expires)
		if names, _ := v.creds.names(); len(names) != 0 {
			t.Errorf("%v", names)
		}
	})
}

func TestManyTakersGetOneEach(t *testing.T) {
	both(t, func(t *testing.T, v *Vault) {
		if _, err := v.AddCredentials("l", issued(t, v, "l", guild, 8), noon); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var group sync.WaitGroup
		seen := map[string]int{}
		for range 16 {
			group.Go(func() {
				c, ok, err := v.TakeCredential("l", guild, noon)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if ok {
					seen[c.Attestation]++
				}
			})
		}
		group.Wait()
		if len(seen) != 8 {
			t.Errorf("%d of 8", len(seen))
		}
		for _, n := range seen {
			if n != 1 {
				t.Error("one was given out twice")
			}
		}
	})
}

func TestCredentialsOfAnInterest(t *testing.T) {
	both(t, func(t *testing.T, v *Vault) {
		for _, property := range []string{guild, "verified_agent"} {
			if _, err := v.AddCredentials("l", issued(t, v, "l", property, 2), noon); err != nil {
				t.Fatal(err)
			}
		}
		groups, err := v.Credentials("l", noon)
		if err != nil || len(groups) != 2 || groups[0].Property != guild || groups[0].Left != 2 || groups[1].Property != "verified_agent" || !groups[0].Expires.Equal(attestation.Expiry(noon, 2)) {
			t.Fatalf("%+v %v", groups, err)
		}
		if n := left(t, v, "other", noon); n != 0 {
			t.Errorf("%d of another interest", n)
		}
		if n, err := v.RemoveCredentials("l", guild, noon); n != 2 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		if n := left(t, v, "l", noon); n != 2 {
			t.Errorf("%d left", n)
		}
		if n := left(t, v, "l", attestation.Expiry(noon, 2)); n != 0 {
			t.Errorf("%d on the day after", n)
		}
	})
}

// What lies in the folder says neither whose it is, nor of what, nor who is believed.
func TestNamesAndBytesAreSealed(t *testing.T) {
	v := create(t)
	b := issued(t, v, "lineage-1", guild, 2)
	if _, err := v.AddCredentials("lineage-1", b, noon); err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.TakeCredential("lineage-1", guild, noon); err != nil {
		t.Fatal(err)
	}
	if err := v.Trust(guild, b.Issuer, noon); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, dir := range []string{credsDir, trustDir} {
		entries, err := os.ReadDir(filepath.Join(v.dir, dir))
		if err != nil || len(entries) == 0 {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(v.dir, dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			info, err := e.Info()
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
			}
			all.WriteString(e.Name() + string(data))
		}
	}
	for _, secret := range []string{"guild", "lineage", "gidp_property", jwk.Thumbprint(b.Issuer), b.Attestations[0].Attestation[:60]} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("%q can be read", secret)
		}
	}
}

func TestAForeignFileIsRefused(t *testing.T) {
	v := create(t)
	if _, err := v.AddCredentials("l", issued(t, v, "l", guild, 2), noon); err != nil {
		t.Fatal(err)
	}
	names, err := v.creds.names()
	if err != nil {
		t.Fatal(err)
	}
	// One file in the place of another does not open.
	dir := filepath.Join(v.dir, credsDir)
	if err := os.Rename(filepath.Join(dir, names[1]), filepath.Join(dir, names[0])); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := v.TakeCredential("l", guild, noon); ok || !errors.Is(err, ErrSeal) {
		t.Errorf("%v %v", ok, err)
	}
}

func TestTrust(t *testing.T) {
	both(t, func(t *testing.T, v *Vault) {
		one, two := issued(t, v, "l", guild, 1).Issuer, issued(t, v, "l", guild, 1).Issuer
		for range 2 {
			if err := v.Trust(guild, one, noon); err != nil {
				t.Fatal(err)
			}
		}
		if err := v.Trust("verified_agent", two, noon); err != nil {
			t.Fatal(err)
		}
		if err := v.Trust("unknown_agent", two, noon); err == nil {
			t.Error("an issuer is believed about strangers")
		}
		list, err := v.TrustedIssuers()
		if err != nil || len(list) != 2 || list[0].Property != guild || !list[0].Issuer.Equal(one) || !list[0].Added.Equal(noon.UTC()) {
			t.Fatalf("%+v %v", list, err)
		}
		if got, ok := v.TrustedKey(guild, jwk.Thumbprint(one)); !ok || !got.Equal(one) {
			t.Error("believed and not found")
		}
		for _, c := range [][2]string{{guild, jwk.Thumbprint(two)}, {"verified_agent", jwk.Thumbprint(one)}, {"member:guild", jwk.Thumbprint(one)}, {"", ""}} {
			if _, ok := v.TrustedKey(c[0], c[1]); ok {
				t.Errorf("%v is believed", c)
			}
		}
		if there, err := v.Distrust(guild, jwk.Thumbprint(one)); !there || err != nil {
			t.Errorf("%v %v", there, err)
		}
		if there, err := v.Distrust(guild, jwk.Thumbprint(one)); there || err != nil {
			t.Errorf("again: %v %v", there, err)
		}
		if _, ok := v.TrustedKey(guild, jwk.Thumbprint(one)); ok {
			t.Error("still believed")
		}
	})
}
