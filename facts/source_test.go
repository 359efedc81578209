package facts_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/facts"
)

// The source row of F§7.2.
func TestNormalizeSource(t *testing.T) {
	for source, want := range map[string]string{
		"https://www.gov.uk/income-tax-rates":               "https://www.gov.uk/income-tax-rates",
		"https://www.gov.uk/income-tax-rates/":              "https://www.gov.uk/income-tax-rates",
		"HTTPS://WWW.gov.UK/Income":                         "https://www.gov.uk/Income",
		"https://www.gov.uk":                                "https://www.gov.uk/",
		"https://www.gov.uk/":                               "https://www.gov.uk/",
		"https://www.gov.uk?a=1":                            "https://www.gov.uk/?a=1",
		"https://www.gov.uk:443/x":                          "https://www.gov.uk/x",
		"https://www.gov.uk:/x":                             "https://www.gov.uk/x",
		"https://www.gov.uk:8443/x":                         "https://www.gov.uk:8443/x",
		"https://[2001:DB8::1]:443/x":                       "https://[2001:db8::1]/x",
		"https://a.example/x/./y/../z":                      "https://a.example/x/z",
		"https://a.example/../../x":                         "https://a.example/x",
		"https://a.example/x/..":                            "https://a.example/",
		"https://a.example/%2e%2E/x":                        "https://a.example/x",
		"https://a.example/.well-known/facts.json":          "https://a.example/.well-known/facts.json",
		"https://a.example/%7euser/%c3%a9%2f":               "https://a.example/~user/%C3%A9%2F",
		"https://a.example/x#part":                          "https://a.example/x",
		"https://a.example/x?utm_source=a&b=%3d&gclid=1&c":  "https://a.example/x?b=%3D&c",
		"https://a.example/x?fbclid=1":                      "https://a.example/x",
		"https://a.example/x?q=/a/":                         "https://a.example/x?q=/a/",
		"http://a.example/x":                                "",
		"https://":                                          "",
		"https:///x":                                        "",
		"https://user@a.example/":                           "",
		"https://user:pass@a.example/":                      "",
		"https://a.example/\u00e9":                          "",
		"https://a.example/a b":                             "",
		"https://a.example/%zz":                             "",
		"https://a.example/%2":                              "",
		"https://a.example:80x/":                            "",
		"https://a.example/\n":                              "",
		"ftp://a.example/":                                  "",
		"a.example/x":                                       "",
		"https://a.example/" + strings.Repeat("x", 2048):    "",
		"https://a.example/" + strings.Repeat("x", 2048-18): "https://a.example/" + strings.Repeat("x", 2048-18),
		"https://a.example/x//y//":                          "https://a.example/x//y",
		"https://xn--bcher-kva.example/":                    "https://xn--bcher-kva.example/",
	} {
		got, ok := facts.NormalizeSource(source)
		if got != want || ok != (source == want) {
			t.Errorf("NormalizeSource(%.60q) = %.60q, %v; want %.60q", source, got, ok, want)
		}
	}
}

func TestNormalizeSourceSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := "https://" + rapid.StringOfN(rapid.RuneFrom([]rune("aA.:/%2eE?#&=u_m@[]-")), 0, 30, -1).Draw(t, "rest")
		normal, _ := facts.NormalizeSource(source)
		if normal == "" {
			return
		}
		if again, ok := facts.NormalizeSource(normal); again != normal || !ok {
			t.Fatalf("%q becomes %q and then %q", source, normal, again)
		}
	})
}

func TestSourceHost(t *testing.T) {
	for source, want := range map[string]string{
		"https://www.GOV.uk:443/x": "www.gov.uk", "https://a.example:8443?x": "a.example", "https://[::1]:8443/": "[::1]", "http://a.example": "a.example",
		"https://user@a.example/": "", "a.example": "", "": "", "https://": "",
	} {
		if got := facts.SourceHost(source); got != want {
			t.Errorf("SourceHost(%q) = %q, want %q", source, got, want)
		}
	}
}
