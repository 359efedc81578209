package proof_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/internal/proof"
)

func TestCase17HostsThatCannotBeProven(t *testing.T) {
	d := newDNS(t)
	c := newChecker(d)
	c.RefusedTLDs = nil
	for _, name := range []string{
		"com", "co.uk", "github.io", "foo.ck", "shop.kawasaki.jp", "localhost", "intranet", "",
		"127.0.0.1", "93.184.216.34", "::1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "shop.0x7f", "1.2.3.4.", "fe80::1%eth0",
		"printer.local", "db.internal", "abc.onion", "shop.test", "shop.example", "shop.invalid", "app.localhost", "SHOP.TEST.", "shop.cromulent", "xn--zz.xn--zz",
		"shop.com/t/p", "https://shop.com", "shop.com:443", "user@shop.com", "shop.com?x", "sh op.com", "r3---sn.shop.com", "-shop.com", "shop-.com", "shop..com", ".shop.com", "shop.com..", "_x.shop.com", "*.shop.com",
		"shop.com\x00", "sh\xffop.com", "xn--a.com", "xn--.com", "sho\u200dp.com", "\u0301shop.com", "שa.com",
	} {
		if got, f := proof.NormalizeHost(name, proof.SpecialTLDs()); codeOf(f) != proof.CodeHostNotAllowed || got != "" {
			t.Errorf("%q: %q %s", name, got, codeOf(f))
		}
		for _, method := range []string{proof.DNSTXT, proof.WellKnown} {
			want(t, c, proof.Challenge{Host: name, Method: method, Token: "x", Until: start.AddDate(1, 0, 0)}, proof.CodeHostNotAllowed)
		}
	}
	if q := d.Questions(); len(q) != 0 {
		t.Errorf("asked %v", q)
	}
	for _, name := range []string{"mike.github.io", "www.ck", "shop.co.uk", "example.com", "1.shop.com", "shop.xn--p1ai"} {
		if got, f := proof.NormalizeHost(name, proof.SpecialTLDs()); f != nil || got != name {
			t.Errorf("%q: %q %+v", name, got, f)
		}
	}
	if !strings.Contains(proof.SuffixListVersion(), "public_suffix_list.dat") {
		t.Errorf("version %q", proof.SuffixListVersion())
	}
}

func TestCase18InternationalNames(t *testing.T) {
	for name, want := range map[string]string{
		"bücher.example": "xn--bcher-kva.example", "BÜCHER.example": "xn--bcher-kva.example", "bu\u0308cher.example": "xn--bcher-kva.example", "xn--bcher-kva.example": "xn--bcher-kva.example",
		"XN--BCHER-KVA.example": "xn--bcher-kva.example", "bücher。example": "xn--bcher-kva.example",
		"straße.example": "xn--strae-oqa.example", "strasse.example": "strasse.example", "ﬁsch.example": "fisch.example",
		"рaypal.example": "xn--aypal-uye.example", "例え.example": "xn--r8jz45g.example",
	} {
		if got, f := proof.NormalizeHost(name, refused); f != nil || got != want {
			t.Errorf("%q: %q %+v, want %q", name, got, f, want)
		}
	}
	for host, want := range map[string]string{
		"xn--bcher-kva.example": "bücher.example", "xn--strae-oqa.example": "straße.example", "shop.example": "shop.example", "xn--r8jz45g.example": "例え.example",
		"xn--aypal-uye.example": "xn--aypal-uye.example", // Cyrillic р before Latin letters
		"xn--a.example":         "xn--a.example",         // not a valid label
	} {
		if got := proof.Display(host); got != want {
			t.Errorf("%q is shown as %q, want %q", host, got, want)
		}
	}
	// One host, one token, however it is written.
	ch := challengeOf(proof.DNSTXT)
	ch.Host, _ = proof.NormalizeHost("BÜCHER.example.", refused)
	ch.Token = proof.Token(secret, publisher, ch.Host, ch.Method, nonce)
	d := newDNS(t, txt("_sayso-challenge.xn--bcher-kva.example.", "token="+ch.Token))
	want(t, newChecker(d), ch, proof.Proven)
	ch.Host = "bücher.example"
	want(t, newChecker(d), ch, proof.CodeHostNotAllowed)
}

func TestCase19FormAndLimits(t *testing.T) {
	label := strings.Repeat("a", 63)
	longest := strings.Join([]string{label, label, label, strings.Repeat("b", 53), "example"}, ".") // 253
	for name, want := range map[string]string{
		"Shop.Example.": "shop.example", "SHOP.EXAMPLE": "shop.example", label + ".example": label + ".example", longest: longest, longest + ".": longest,
		"a" + label + ".example": "", "b" + longest: "", strings.Repeat("a.", 126) + "example": "", strings.Repeat("ü", 60) + ".example": "",
		"shop.example..": "",
	} {
		if got, f := proof.NormalizeHost(name, refused); got != want || (f == nil) != (want != "") {
			t.Errorf("%.80q: %q %+v, want %q", name, got, f, want)
		}
	}
	// The name of the record is longer than the host.
	ch := challengeOf(proof.DNSTXT)
	ch.Host = longest
	want(t, newChecker(newDNS(t)), ch, proof.CodeHostNotAllowed)
}

func TestNormalFormIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(`([a-zA-Z0-9üßéα日-]{1,12}\.){1,4}(example|com|co\.uk|github\.io)\.?`).Draw(t, "host")
		checkNormal(t, raw)
	})
}

func checkNormal(t interface{ Fatalf(string, ...any) }, raw string) {
	host, f := proof.NormalizeHost(raw, refused)
	if f != nil {
		if f.Code != proof.CodeHostNotAllowed || host != "" {
			t.Fatalf("%q: %q %+v", raw, host, f)
		}
		return
	}
	again, f := proof.NormalizeHost(host, refused)
	if f != nil || again != host {
		t.Fatalf("%q -> %q -> %q %+v", raw, host, again, f)
	}
	if _, err := netip.ParseAddr(host); err == nil || len(host) > 253 || strings.ToLower(host) != host || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
		t.Fatalf("%q -> %q is no host name", raw, host)
	}
	shown := proof.Display(host)
	if back, f := proof.NormalizeHost(shown, refused); f != nil || back != host {
		t.Fatalf("%q is shown as %q, which is %q %+v", host, shown, back, f)
	}
	if slices.Contains(refused, host[strings.LastIndexByte(host, '.')+1:]) || !strings.Contains(host, ".") {
		t.Fatalf("%q is allowed", host)
	}
}

func FuzzNormalizeHost(f *testing.F) {
	for _, seed := range []string{"Shop.example.", "bücher.example", "xn--bcher-kva.example", "straße.example", "0x7f.1", "[::1]", "a..b", "рaypal.example", "mike.github.io", "xn--a.com"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkNormal(t, raw) })
}
