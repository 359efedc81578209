package proof_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"sayso/internal/proof"
)

// wire makes a TXT record from the bytes of its strings, as a server would send it.
func wire(parts [][]byte) []byte {
	var data []byte
	for _, p := range parts {
		data = append(append(data, byte(len(p))), p...)
	}
	message := []byte{0, 1, 0x81, 0x80, 0, 0, 0, 1, 0, 0, 0, 0, 1, 'a', 0, 0, 16, 0, 1, 0, 0, 0, 60, byte(len(data) >> 8), byte(len(data))}
	return append(message, data...)
}

// Every byte of a record reaches the comparison and the hash as it was sent, whatever the library makes of it in between.
func TestValuesAreTheBytesOfTheRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 255), 1, 6).Draw(t, "strings")
		want := string(slices.Concat(parts...))
		var m dns.Msg
		if err := m.Unpack(wire(parts)); err != nil {
			t.Fatal(err)
		}
		got := proof.Texts(m.Answer)
		if len(got) != 1 || got[0] != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestHashOfAnAnswer(t *testing.T) {
	sum := sha256.Sum256([]byte("\x00\x00\x00\x01a\x00\x00\x00\x02bc"))
	want := "sha256:" + hex.EncodeToString(sum[:])
	for _, values := range [][]string{{"a", "bc"}, {"bc", "a"}} {
		if got := proof.HashTexts(values); got != want {
			t.Errorf("%q: %s, want %s", values, got, want)
		}
	}
	if proof.HashTexts([]string{"ab", "c"}) == want {
		t.Error("the border between two values does not matter")
	}
}

// FuzzValue: only the exact forms hold the token.
func FuzzValue(f *testing.F) {
	token := challengeOf(proof.DNSTXT).Token
	for _, seed := range []string{"token=" + token, "token=" + token + " expiry=2031-06-01T00:00:00Z", "token=" + token + " expiry=2030-01-01T00:00:00Z", token, `"token=` + token + `"`, "v=spf1 -all", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		failure := proof.Judge([]string{"v=other", value}, token, start)
		rest, ok := strings.CutPrefix(value, "token="+token)
		switch {
		case failure == nil && !(ok && (rest == "" || strings.HasPrefix(rest, " expiry="))):
			t.Fatalf("%q holds the token", value)
		case failure != nil && (ok && rest == "" || !failure.Counts || failure.Code != proof.CodeWrongValue && failure.Code != proof.CodeTokenExpired):
			t.Fatalf("%q: %+v", value, failure)
		}
	})
}

func FuzzParseResolver(f *testing.F) {
	for _, seed := range []string{"9.9.9.9", "[2620:fe::fe]:53", "tls://dns.example@9.9.9.9:853", "tls://@", "::ffff:1.2.3.4", "fe80::1%eth0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := proof.ParseResolver(text)
		if err != nil {
			return
		}
		if again, err := proof.ParseResolver(r.String()); err != nil || again != r {
			t.Fatalf("%q is written as %q, which reads as %v %v", text, r, again, err)
		}
	})
}
