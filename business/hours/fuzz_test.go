package hours_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sayso/business/hours"
)

// FuzzParse: nothing panics; a refusal names a place inside the value; what is accepted prints as text that is read back equal without a repair, and
// spelling it with more spaces and in lower case changes nothing.
func FuzzParse(f *testing.F) {
	for _, s := range append(lines(f, "de_hours.txt"), lines(f, "bestbuy_hours.txt")[0], `2026 Nov 29-Jan 06 Mo-Fr,Sa[1,-1],PH 09:00-12:00,22:00-02:00 open "x" || "y"; SH off`, "24/7", `"`, "Mo \xff") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, _, err := hours.Parse(s)
		if err != nil {
			var refused *hours.Error
			if !errors.As(err, &refused) || refused.Offset < 0 || refused.Offset > len(s) || len(refused.Message) > 600 || h != nil {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		text := h.String()
		again, warnings, err := hours.Parse(text)
		if err != nil || again.String() != text {
			t.Fatalf("%q prints as %q, which is read as %v, %v", s, text, again, err)
		}
		for _, w := range warnings {
			if strings.HasPrefix(w.Code, "repair_") {
				t.Fatalf("%q prints as %q, which needs %v", s, text, w)
			}
		}
		if rebuilt, _, err := hours.New(h.Rules()); err != nil || rebuilt.String() != text {
			t.Fatalf("%q: %v from its own rules, %v", text, rebuilt, err)
		}
		if !strings.Contains(text, `"`) && 2*len(text) < hours.MaxLength {
			loose := strings.NewReplacer(",", " , ", "-", " - ", ";", " ; ").Replace(text)
			if other, _, err := hours.Parse(loose); err != nil || other.String() != text {
				t.Fatalf("%q spelled %q is read as %v, %v", text, loose, other, err)
			}
		}
		h.At(time.Unix(1_774_746_000, 0), time.UTC, nil)
	})
}
