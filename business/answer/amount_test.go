package answer

import (
	"testing"

	"sayso/jcs"
)

// FuzzAmount: an amount is read where decimal reads a number, and compares as that number does.
func FuzzAmount(f *testing.F) {
	for _, s := range []string{"0", "-0", "7", "-7.50", "0.999999999", "999999999", "1000000000", "2147483648.5", "1e3", "1E-3", "01", "1.", ".5", "-", "1.2.3", "true", `"1"`, "4.7e99"} {
		f.Add(s, "7.5")
	}
	f.Fuzz(func(t *testing.T, s, other string) {
		want, ok := decimal(jcs.Raw(s))
		got, read := readAmount(jcs.Raw(s))
		if ok != read {
			t.Fatalf("%q: read %t, want %t", s, read, ok)
		}
		against, is := decimal(jcs.Raw(other))
		if !ok || !is {
			return
		}
		b, _ := readAmount(jcs.Raw(other))
		if got.cmp(b) != want.Cmp(against) || b.cmp(got) != against.Cmp(want) || got.rat().Cmp(want) != 0 {
			t.Fatalf("%s against %s: %d, want %d", s, other, got.cmp(b), want.Cmp(against))
		}
	})
}
