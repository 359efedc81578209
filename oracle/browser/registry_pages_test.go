package browser

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sayso/business"
	"sayso/jwk"
	"sayso/oracle/tools"
)

const opticianVerify = "/gb/leeds/business/brightwater-opticians/verify"

var registryPaths = []string{
	"/b", "/gb/leeds/business/brightwater-opticians", "/es/malaga/business/marina-dental", "/b/hammer-and-nail", "/b/kessler-garage",
	"/us/bloomington/business/open-stores", "/de/bad-homburg/business/weekly-markets", "/es/malaga/business/marina-dental/service/wh-chair",
	"/b/hammer-and-nail/product/drill", "/us/bloomington/business/open-stores/service/apple-shop", opticianVerify, "/b/nobody", "/b/hammer-and-nail/product/nothing",
}

// odd makes the text of a business as unpleasant to lay out as it can be: long words, right-to-left, markup.
func odd(p *business.Publication) {
	long := strings.Repeat("Donaudampfschifffahrt", 12)
	p.Profile.DisplayName = "<b>\u05d0\u05d1\u05d2 " + long
	p.Profile.LegalName = "\u202e" + long
	p.Profile.Website = "https://" + strings.ToLower(strings.Repeat("long-", 10)) + ".example/" + long
	for i := range p.Profile.Locations {
		l := &p.Profile.Locations[i]
		l.Name, l.Address, l.Email, l.OpeningHours = long, long, long+"@example", "whenever-"+long
	}
}

func TestRegistryPagesAreAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(tools.Package(t, "axe-core"), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	r := serveRegistry(t, nil)
	odd(r.pubs[3]) // kessler-garage
	r.records["kessler-garage"][0].Title = strings.Repeat("W\u05d0", 120)
	ctx, asked := tab(t)
	for _, scheme := range []string{"light", "dark"} {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{320, 1000} {
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			for _, path := range registryPaths {
				do(t, ctx, chromedp.Navigate(r.origin+path))
				if path == opticianVerify {
					verifyIn(t, ctx, "") // the findings are judged as well
				}
				if overflow := evaluate[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); overflow > 0 {
					t.Errorf("%s at %d px is %d px too wide", path, width, overflow)
				}
				evaluate[bool](t, ctx, string(axe)+"; true")
				found := evaluate[[]violation](t, ctx, `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice']}).then(r => r.violations)`)
				for _, v := range found {
					t.Errorf("%s (%s, %d px): %s, %s: %s: %s", path, scheme, width, v.ID, v.Impact, v.Help, v.Nodes[0].HTML)
				}
			}
		}
	}
	for _, url := range asked() {
		if !strings.HasPrefix(url, r.origin+"/") {
			t.Errorf("a page asked for %s", url)
		}
	}
}

// verifyIn presses the button of an open verify page with a root pasted, and waits for the end.
func verifyIn(t *testing.T, ctx context.Context, root string) {
	t.Helper()
	do(t, ctx, chromedp.WaitVisible("form.verify button"))
	evaluate[string](t, ctx, `document.querySelector("#root").value = `+strconv.Quote(root))
	do(t, ctx, chromedp.Click("form.verify button"))
	evaluate[bool](t, ctx, `new Promise(done => { const b = document.querySelector("form.verify button"); (function look() { b.disabled ? setTimeout(look, 20) : done(true) })() })`)
}

// shown is what the findings say, in order: signature, identity, authority, revocation, mirror; or the notice instead.
func shown(t *testing.T, ctx context.Context) (values []string, notice string) {
	t.Helper()
	if !evaluate[bool](t, ctx, `document.querySelector(".notice").hidden`) {
		return nil, evaluate[string](t, ctx, `document.querySelector(".notice").textContent`)
	}
	if evaluate[bool](t, ctx, `document.querySelector(".findings").hidden`) {
		t.Fatal("neither findings nor a notice")
	}
	return evaluate[[]string](t, ctx, `[...document.querySelectorAll(".findings .value")].map(e => e.textContent)`), ""
}

func TestRegistryVerifyInTheBrowser(t *testing.T) {
	r := serveRegistry(t, nil)
	ctx, asked := tab(t)
	for _, c := range []struct {
		name, root, identity string
	}{
		{"JWK", r.rootJWK(), "confirmed"},
		{"x", jwk.EncodeBase64URL(r.root.Public()), "confirmed"},
		{"thumbprint", jwk.Thumbprint(r.root.Public()), "confirmed"},
		{"nothing pinned", "", "unconfirmed"},
		{"another root", jwk.EncodeBase64URL(signerOf("somebody").Public()), "broken chain"},
	} {
		do(t, ctx, chromedp.Navigate(r.origin+opticianVerify))
		verifyIn(t, ctx, c.root)
		values, notice := shown(t, ctx)
		want := []string{"valid", c.identity, "current", "clean", "ok"}
		if c.identity == "broken chain" {
			want[3] = "not checked" // the lists do not lead to that root either
		}
		if !slices.Equal(values, want) || notice != "" {
			t.Errorf("%s: %q, %q, want %q", c.name, values, notice, want)
		}
		if ticks := evaluate[int](t, ctx, `document.body.textContent.split("✓").length - 1`); ticks > 0 {
			t.Errorf("%s: %d ticks", c.name, ticks)
		}
	}
	// The fragment carries a root to the page and is sent nowhere; the keyboard alone runs the check.
	root := jwk.EncodeBase64URL(r.root.Public())
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(r.origin+opticianVerify+"#root="+root), chromedp.WaitVisible("form.verify button"),
		chromedp.Focus("#root"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".findings"))
	if values, _ := shown(t, ctx); values[1] != "confirmed" {
		t.Errorf("with the root in the fragment: %q", values)
	}
	if focus := evaluate[string](t, ctx, `document.activeElement.id`); focus != "findings" {
		t.Errorf("the focus is on %q", focus)
	}
	for _, url := range asked() {
		if url != "about:blank" && !strings.HasPrefix(url, r.origin+"/") {
			t.Errorf("a page asked for %s", url)
		}
		if path, _, _ := strings.Cut(url, "#"); strings.Contains(path, root) {
			t.Errorf("the root was sent: %s", url)
		}
	}
}

func TestRegistryVerifyInTheBrowserRefuses(t *testing.T) {
	swap := func(document, from, to string) func(string, string) string {
		return func(path, body string) string {
			if strings.HasSuffix(path, document) {
				return strings.Replace(body, from, to, 1)
			}
			return body
		}
	}
	const manifest, keys, list = "/brightwater-opticians/.well-known/x-protocol/manifest.json", "/registry-keys.json", "/brightwater-opticians/.well-known/x-protocol/revocations.json"
	for _, c := range []struct {
		name   string
		tamper func(string, string) string
		want   []string
		notice string
	}{
		{"a statement", swap(manifest, "Brightwater Opticians Ltd", "Brightwater Opticians Inc"), []string{"invalid", "confirmed", "current", "clean", "ok"}, ""},
		{"a mirrored member", swap(manifest, `"signing_kid":"registry-1"`, `"signing_kid":"registry-2"`), []string{"invalid", "confirmed", "current", "clean", "mismatch"}, ""},
		{"the root's signature", swap(keys, `"root_signature":`, `"root_sig":`), []string{"valid", "broken chain", "current", "not checked", "ok"}, ""},
		{"an entry deleted from the list", swap(list, `"entries":[]`, `"entries":[{"scope":"tenant","reason":"other","created_at":"2026-01-01T00:00:00Z"}]`), []string{"valid", "confirmed", "current", "not checked", "ok"}, ""},
		{"no manifest", swap(manifest, `"endpoints"`, `"endpoint"`), nil, "another document"},
		{"another version", swap(manifest, `"protocol_x_version":"1.0"`, `"protocol_x_version":"2.0"`), nil, "a version of the protocol"},
		{"a duplicate member", swap(manifest, `"registry":`, `"registry":"x","registry":`), nil, "no JSON document"},
		{"bytes that are no text", swap(manifest, "Opticians", "Opticians\xff"), nil, "no JSON document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := serveRegistry(t, c.tamper)
			ctx, _ := tab(t)
			do(t, ctx, chromedp.Navigate(r.origin+opticianVerify))
			verifyIn(t, ctx, r.rootJWK())
			values, notice := shown(t, ctx)
			if !slices.Equal(values, c.want) || c.notice == "" && notice != "" || !strings.Contains(notice, c.notice) {
				t.Errorf("%q, %q, want %q, %q", values, notice, c.want, c.notice)
			}
		})
	}
	t.Run("withdrawn", func(t *testing.T) {
		r := serveRegistry(t, nil)
		r.withdrawn = []business.RevocationEntry{{Scope: business.ScopeTenant, Reason: "withdrawn", CreatedAt: r.Now().Format(time.RFC3339)}}
		ctx, _ := tab(t)
		do(t, ctx, chromedp.Navigate(r.origin+opticianVerify))
		verifyIn(t, ctx, r.rootJWK())
		if values, _ := shown(t, ctx); !slices.Equal(values, []string{"valid", "confirmed", "current", "revoked", "ok"}) {
			t.Errorf("%q", values)
		}
	})
	t.Run("a browser without Ed25519", func(t *testing.T) {
		r := serveRegistry(t, nil)
		ctx, _ := tab(t)
		if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException("no", "NotSupportedError"))`}); err != nil {
			t.Fatal(err)
		}
		do(t, ctx, chromedp.Navigate(r.origin+opticianVerify))
		verifyIn(t, ctx, r.rootJWK())
		if values, notice := shown(t, ctx); values != nil || !strings.Contains(notice, "no Ed25519") {
			t.Errorf("%q, %q", values, notice)
		}
	})
	t.Run("a private key pasted", func(t *testing.T) {
		r := serveRegistry(t, nil)
		ctx, _ := tab(t)
		do(t, ctx, chromedp.Navigate(r.origin+opticianVerify))
		verifyIn(t, ctx, strings.Replace(r.rootJWK(), `"kty"`, `"d":"AAAA","kty"`, 1))
		if values, notice := shown(t, ctx); values != nil || !strings.Contains(notice, "private key") {
			t.Errorf("%q, %q", values, notice)
		}
	})
}

func TestRegistryPagesWithoutScripts(t *testing.T) {
	r := serveRegistry(t, nil)
	ctx, _ := tab(t)
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(r.origin+"/b"), chromedp.Click(`a[href$="/business/brightwater-opticians"]`), chromedp.WaitVisible(".found"),
		chromedp.Click(`.records a[href$="/service/repair"]`), chromedp.WaitVisible(".amount"))
	if text, err := chromedp.Run(ctx, chromedp.Text(".amount")); err != nil || !strings.Contains(text, "on request") {
		t.Errorf("the record says %q (%v)", text, err)
	}
	do(t, ctx, chromedp.Navigate(r.origin+opticianVerify), chromedp.WaitVisible("#program"))
	if evaluate[bool](t, ctx, `document.querySelector("form.verify").checkVisibility() || document.querySelector(".findings").checkVisibility()`) {
		t.Error("a form that does nothing without scripts is shown")
	}
	text, err := chromedp.Run(ctx, chromedp.Text("main"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "sayso verify "+r.origin+"/t/brightwater-opticians/.well-known/x-protocol/manifest.json --root root.pub.json") {
		t.Error("without scripts the page does not say how to verify")
	}
}
