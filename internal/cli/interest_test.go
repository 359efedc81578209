package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
	"sayso/internal/server"
	"sayso/internal/vault"
	"sayso/safefetch"
)

// listening is a server on this machine that counts who comes.
func listening(t *testing.T, answer http.HandlerFunc) (origin string, calls *int) {
	t.Helper()
	calls = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, calls
}

// Agents on this machine are called only by somebody whose own agent, or whose provider, is on it.
func TestReachOfPeers(t *testing.T) {
	origin, calls := listening(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	endpoint := origin + "/a2a/" + strings.Repeat("0", 32)
	for _, c := range []struct {
		name, own, provider string
		local               bool
	}{
		{"public agent", "https://agents.example", "", false},
		{"public agent, public provider", "https://agents.example", "https://provider.example", false},
		{"no origin", "", "", false},
		{"agent on this machine", "http://127.0.0.1:8470", "", true},
		{"provider on this machine", "https://agents.example", "http://localhost:8480", true},
	} {
		*calls = 0
		peers, _ := newReach(c.own, c.provider)
		err := peers.Hello(t.Context(), endpoint)
		if err == nil || (*calls > 0) != c.local || errors.Is(err, safefetch.ErrRefused) == c.local {
			t.Errorf("%s: %d calls, %v", c.name, *calls, err)
		}
		key, err := vault.NewKey(fixedBytes(7))
		if err != nil {
			t.Fatal(err)
		}
		*calls = 0
		if _, err := peers.Get(t.Context(), gidpa2a.Peer{Endpoint: endpoint, Task: "t", Session: "s", Key: key}); err == nil || (*calls > 0) != c.local {
			t.Errorf("%s: %d calls, %v", c.name, *calls, err)
		}
	}
}

type fixedBytes byte

func (f fixedBytes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

// A provider is reached where the user typed it, this machine included; what it names on this machine is not reached unless it is on it itself.
func TestReachOfProviders(t *testing.T) {
	found := "http://127.0.0.1:22/a2a/" + strings.Repeat("0", 32)
	origin, calls := listening(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"endpoint":"`+found+`","projection_ref":"p"}`)
	})
	key, err := vault.NewKey(fixedBytes(7))
	if err != nil {
		t.Fatal(err)
	}
	_, providers := newReach("https://agents.example", "")
	if endpoint, ref, err := providers.Resolve(t.Context(), origin, key, "c"); err != nil || endpoint != found || ref != "p" || *calls != 1 {
		t.Errorf("%q, %q, %v, %d calls", endpoint, ref, err, *calls)
	}
	if _, err := providers.Info(t.Context(), "http://provider.example"); !errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("a provider without TLS: %v", err)
	}
	if got := localAddress("https://127.0.0.1:22/x"); got != "" {
		t.Errorf("%q", got)
	}
}

// Clients for this machine are bounded, whatever addresses come.
func TestReachIsBounded(t *testing.T) {
	made := 0
	c := clients[int]{make: func(*safefetch.Client) int { made++; return made }}
	for i := range 3 * maxLocal {
		c.at("127.0.0.1:" + string(rune('a'+i%26)) + strings.Repeat("x", i/26))
	}
	public := c.at("")
	if again := c.at(""); len(c.local) > maxLocal || again != public {
		t.Errorf("%d clients, %d and %d for public addresses", len(c.local), public, again)
	}
}

// A database that is not read any more makes the server unready, and the last numbers stay.
func TestInterestWatch(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := &interestWatch{now: func() time.Time { return now }, last: agent.Gauges{Interests: 3, Active: 2, WaitingDecisions: 1}, at: now}
	if got := w.check(t.Context()); got.Level != server.LevelOK || got.Message != "3 interests, 2 active, 1 decision waits" {
		t.Errorf("%+v", got)
	}
	now = now.Add(11 * time.Second)
	if got := w.check(t.Context()); got.Level != server.LevelFailed || !strings.Contains(got.Message, "11s ago") || w.gauges().Active != 2 {
		t.Errorf("%+v", got)
	}
}

// An interrupt ends waiting for others.
func TestSettleEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := &env{ctx: ctx, err: io.Discard, quiet: true}
	if _, err := e.settle(&interests{store: interruptedStore{}}, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if ok, err := e.settle(&interests{beside: &instance{}}, "x", nil); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// interruptedStore says what a database says whose caller has gone.
type interruptedStore struct{ durable.Store }

func (interruptedStore) View(ctx context.Context, _ func(durable.Reader) error) error {
	return ctx.Err()
}
