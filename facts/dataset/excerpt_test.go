package dataset_test

import (
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/dataset"
)

func TestExcerpt(t *testing.T) {
	page := []byte("<html><script>12570</script><p>" + strings.Repeat("lead ", 50) + "<p>The standard <b>Personal&nbsp;Allowance</b> is £12,570, not 112,570.</p>" + strings.Repeat("tail ", 50))
	for _, c := range []struct{ name, quote, value, want string }{
		{"quote", "The standard Personal Allowance is £12,570", "12570", "…lead The standard Personal Allowance is £12,570, not…"},
		{"value in another spelling", "gone", "12570", "… is £12,570, not…"},
		{"whole numbers only", "", "2570", ""},
		{"neither", "gone", "999", ""},
	} {
		if got := dataset.Excerpt(page, c.quote, facts.Value(c.value), 10); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := dataset.Excerpt([]byte("x £12,570"), "", "12570", 400); got != "x £12,570" {
		t.Errorf("a short page is not cut: %q", got)
	}
}
