package dataset_test

import (
	"testing"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/jwk"
)

// Which day the next signature can be made on (F§7.4).
func TestSigningFrom(t *testing.T) {
	day := func(s string) facts.Date {
		d, err := facts.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	now := jwk.Key{Kid: "now", ValidFrom: "2026-10-01"}
	next := jwk.Key{Kid: "next", ValidFrom: "2026-12-07"}
	later := jwk.Key{Kid: "later", ValidFrom: "2027-04-01"}
	retired, revoked := now, next
	retired.Retired, revoked.Revoked = "2026-11-30", "2026-11-30"
	for name, c := range map[string]struct {
		keys []jwk.Key
		want string // "" when nothing can sign
	}{
		"in force":             {[]jwk.Key{later, now}, "2026-11-30"},
		"successor waits":      {[]jwk.Key{retired, later, next}, "2026-12-07"},
		"revoked successor":    {[]jwk.Key{retired, revoked, later}, "2027-04-01"},
		"nothing left":         {[]jwk.Key{retired, revoked}, ""},
		"no key":               {nil, ""},
		"a day that is no day": {[]jwk.Key{{Kid: "x", ValidFrom: "soon"}}, ""},
	} {
		got, ok := dataset.SigningFrom(&jwk.Set{Keys: c.keys}, day("2026-11-30"))
		if ok != (c.want != "") || ok && got != day(c.want) {
			t.Errorf("%s: %v, %v, want %q", name, got, ok, c.want)
		}
	}
}
