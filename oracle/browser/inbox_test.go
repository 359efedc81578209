package browser

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"sayso/internal/agent"
	"sayso/internal/web"
	"sayso/jcs"
	"sayso/oracle/tools"
)

// principal holds one consent that waits, and what was decided.
type principal struct {
	mu      sync.Mutex
	entry   agent.EntryView // guarded by mu
	decided []agent.Decision
}

func newPrincipal() *principal {
	return &principal{entry: agent.EntryView{
		ID: "e-1", Interest: "i-1", Session: "s-1", Kind: "consent", Action: "reveal_identity", State: "waiting", At: today, Deadline: today.Add(72 * time.Hour), Keys: []string{"organisation_name", "registration_id"},
		Reveals: []agent.Reveal{{Key: "organisation_name", Value: jcs.Raw(`"Example Holding"`)}, {Key: "registration_id", Value: jcs.Raw(`"HRB 1"`)}},
		Peer:    agent.PeerView{Finding: "evidenced by pairwise key", Mandate: strings.Repeat("0a", 32), Issuer: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", Levels: []agent.LevelView{{Level: "PROBE", Evidenced: true}}},
		Effect:  "These parts of your identity may be disclosed.", Stays: "Everything else stays here.", Notice: "What is sent cannot be recalled.",
	}}
}

func (p *principal) Principals(context.Context) ([]string, error) { return []string{"board"}, nil }

func (p *principal) Inbox(context.Context, bool, ...string) ([]agent.EntryView, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return []agent.EntryView{p.entry}, nil
}

func (p *principal) Entry(context.Context, string) (agent.EntryView, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entry, nil
}

func (p *principal) Decide(_ context.Context, _ string, d agent.Decision) (agent.EntryView, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decided, p.entry.State, p.entry.DecidedAt = append(p.decided, d), "granted", today
	return p.entry, nil
}

func serveInbox(t *testing.T) (string, *principal) {
	t.Helper()
	p := newPrincipal()
	server := httptest.NewServer(web.InboxHandler(web.InboxOptions{Agent: p, Secret: make([]byte, 32), Now: func() time.Time { return today }}))
	t.Cleanup(server.Close)
	return server.URL, p
}

func TestInboxIsAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(tools.Package(t, "axe-core"), "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	origin, _ := serveInbox(t)
	ctx, asked := tab(t)
	for _, scheme := range []string{"light", "dark"} {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/inbox", "/inbox?all=1", "/inbox/e-1", "/inbox/none/none"} {
			do(t, ctx, chromedp.EmulateViewport(320, 800), chromedp.Navigate(origin+path))
			evaluate[bool](t, ctx, string(axe)+";true")
			for _, v := range evaluate[[]violation](t, ctx, `axe.run(document, {runOnly: ['wcag2a','wcag2aa','wcag21aa', 'best-practice']}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html}))})))`) {
				t.Errorf("%s in %s: %s (%s) %s %v", path, scheme, v.ID, v.Impact, v.Help, v.Nodes)
			}
			if wide := evaluate[int](t, ctx, `document.documentElement.scrollWidth`); wide > 320 {
				t.Errorf("%s is %d px wide", path, wide)
			}
		}
	}
	for _, url := range asked() {
		if !strings.HasPrefix(url, origin) {
			t.Errorf("a page asks %s", url)
		}
	}
}

// A person decides with the keyboard: nothing is sent before the box is ticked, and what was not ticked is not granted.
func TestInboxDecidesInABrowser(t *testing.T) {
	origin, p := serveInbox(t)
	ctx, _ := tab(t)
	do(t, ctx, chromedp.Navigate(origin+"/inbox/e-1"), chromedp.Click(`button[value=grant]`))
	if len(p.decided) > 0 {
		t.Fatal("decided without the box")
	}
	do(t, ctx, chromedp.Click(`input[value=registration_id]`), chromedp.Click(`input[name=sure]`), chromedp.Click(`button[value=grant]`), chromedp.WaitVisible(`.status.fresh`))
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.decided) != 1 || !p.decided[0].Grant || !slices.Equal(p.decided[0].Scope, []string{"registration_id"}) {
		t.Errorf("decided %s", fmt.Sprintf("%+v", p.decided))
	}
}
