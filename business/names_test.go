package business_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sayso/business"
)

func TestNames(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		what     string
		valid    func(string) bool
		yes, not []string
	}{
		{"slug", business.ValidSlug, []string{"a", "0", "a-b", "a--b", "brightwater-opticians", long(63)},
			[]string{"", "-", "-a", "a-", "A", "a_b", "a.b", "a b", "ä", "a/b", "a\x00", long(64)}},
		{"type", business.ValidType, []string{"a", "service", "a-_0", long(64)}, []string{"", "0a", "_a", "-a", "Service", "a b", "ä", "a/b", long(65)}},
		{"id", business.ValidID, []string{"a", "svc/114", "...", " ", "日本", "a\u2028b", strings.Repeat("\U0001F600", 256)},
			[]string{"", ".", "..", "a\nb", "\x00", "\x7f", "\u0085", "a\xff", "\xed\xa0\x80", long(257), strings.Repeat("\U0001F600", 257)}},
		{"relation", business.ValidRel, []string{"part_of", "same_as", "x-pairs_with"}, []string{"", "x-", "PART_OF", "contains", "x-A", "x-" + long(63)}},
		{"language", business.ValidLanguage, []string{"en", "de-AT", "zh-Hant-TW", "gsw", "sl-rozaj-biske-1994"},
			[]string{"", "e", "e1", "en-", "-en", "en--gb", "en_GB", "languages-en", "en-abcdefghi", "ä", long(9), strings.Repeat("en-", 12) + "en"}},
	} {
		for _, s := range c.yes {
			if !c.valid(s) {
				t.Errorf("%s %q is refused", c.what, s)
			}
		}
		for _, s := range c.not {
			if c.valid(s) {
				t.Errorf("%s %q is accepted", c.what, s)
			}
		}
	}
}

func TestXP_DISCOVERY_001_City(t *testing.T) {
	for locality, want := range map[string]string{
		"Leeds": "leeds", "MÜNCHEN": "muenchen", "Mu\u0308nchen": "muenchen", "Görlitz": "goerlitz", "Gießen": "giessen", "GIEẞEN": "giessen", "Älmhult": "aelmhult",
		"São Paulo": "sao-paulo", "Kraków": "krakow", "Łódź": "lodz", "København": "kobenhavn", "İzmir": "izmir", "Diyarbakır": "diyarbakir", "Þórshöfn": "thorshoefn",
		"St. John's": "st-john-s", "  Bad--Homburg (v. d. H.) ": "bad-homburg-v-d-h", "Newcastle/Tyne": "newcastle-tyne", "Orléans & Tours": "orleans-tours",
		"../../etc": "etc", "<script>": "script", "京都": "", "-": "", "": "", "Köln 50667": "koeln-50667", "Citroën": "citroen", "a\xffb": "a-b", "Ⅳ": "",
	} {
		if got := business.City(locality); got != want {
			t.Errorf("City(%q) = %q, want %q", locality, got, want)
		}
	}
}

func TestCityProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "locality")
		city := business.City(s)
		if strings.Trim(city, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(city, "-") || strings.HasSuffix(city, "-") || strings.Contains(city, "--") {
			t.Fatalf("City(%q) = %q", s, city)
		}
		if business.City(city) != city {
			t.Fatalf("City(%q) is no fixed point: %q", city, business.City(city))
		}
	})
}

func TestSegment(t *testing.T) {
	for id, want := range map[string]string{"svc-114": "svc-114", "a/b": "a%2Fb", "A_b.c~": "A_b.c~", "a b+c": "a%20b%2Bc", "é": "%C3%A9", "%2F": "%252F", "?#&=": "%3F%23%26%3D"} {
		if got := business.Segment(id); got != want {
			t.Errorf("Segment(%q) = %q, want %q", id, got, want)
		}
	}
	if got := business.EntityKey("service", "a/b"); got != "service/a%2Fb" {
		t.Error(got)
	}
}

// A segment names one id, and an id that is accepted survives every client (XP-IDENTITY-002).
func TestSegmentProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringN(1, 256, -1).Filter(utf8.ValidString).Draw(t, "id")
		segment := business.Segment(id)
		if back, err := url.PathUnescape(segment); err != nil || back != id {
			t.Fatalf("%q -> %q -> %q %v", id, segment, back, err)
		}
		if !business.ValidID(id) {
			return
		}
		u, err := url.Parse("https://registry.example/b/p/service/" + segment)
		if err != nil || u.EscapedPath() != "/b/p/service/"+segment || u.JoinPath().EscapedPath() != u.EscapedPath() {
			t.Fatalf("%q: %v %v", id, u, err)
		}
	})
}
