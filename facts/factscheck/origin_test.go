package factscheck_test

import (
	"testing"

	"sayso/facts/factscheck"
	"sayso/report"
)

// Run never fails: what is no origin gets the whole report, with nothing in it that was looked at.
func TestWhatIsNoOriginIsNotTested_F12(t *testing.T) {
	for _, origin := range []string{"", "figures", "::", "https://", "https://exa mple", "https://[::1", "https://%zz.example", "http://x\x00", "https://127.0.0.1?q=1", "https://127.0.0.1#f"} {
		r := factscheck.Run(t.Context(), factscheck.Options{Origin: origin, NoSources: true})
		if r.Failed() || factscheck.Reached(r) || len(of(r, report.NotTested)) != len(factscheck.Rules()) {
			t.Errorf("%q: %s\n%s", origin, r.Verdict, dump(r))
		}
	}
}
