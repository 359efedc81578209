package factshttp_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"sayso/facts/factshttp"
)

// Whatever the key, expansion gives one URL with the same host, no query of its own, and a path that decodes to the key (S13).
func FuzzExpand(f *testing.F) {
	for _, key := range []string{"uk/bank-rate", "uk-rates:bank-rate", "a b/ä?x=1#y", "50%", "{key}", "../..", "a,b&c", "\x00\n"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if !utf8.ValidString(key) {
			return
		}
		for _, template := range []string{"https://o.example/f/{key}", "https://o.example/f/{+key}"} {
			at := factshttp.Expand(template, "key", key)
			u, err := url.Parse(at)
			if err != nil || u.Host != "o.example" || u.RawQuery != "" || u.Fragment != "" || u.Path != "/f/"+key {
				t.Fatalf("%q gives %q: %v", key, at, err)
			}
			if strings.Count(at, "/") != 4+strings.Count(key, "/") {
				t.Fatalf("%q gives %q: slashes are kept", key, at)
			}
		}
		at := factshttp.Expand("https://o.example/r?q={q}", "q", key)
		u, err := url.Parse(at)
		if err != nil || u.Query().Get("q") != key || len(u.Query()) != 1 {
			t.Fatalf("%q gives %q: %v", key, at, err)
		}
	})
}
