package providerhttp_test

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/safefetch"
)

// scripted is a provider that answers what a test tells it to, and a client for it.
type scripted struct {
	origin string
	client *providerhttp.Client
	status int
	header map[string]string
	body   string
	asked  string // method and path of the last request
	sent   string // its body
}

func script(t testing.TB) *scripted {
	t.Helper()
	s := &scripted{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.asked, s.sent = r.Method+" "+r.URL.EscapedPath(), string(body)
		w.Header().Set("Content-Type", "application/json")
		for name, value := range s.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(s.status)
		io.WriteString(w, s.body)
	}))
	t.Cleanup(server.Close)
	fetch := safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(server.URL)}})
	t.Cleanup(fetch.Close)
	s.origin, s.client = server.URL, providerhttp.NewClient(providerhttp.ClientOptions{Fetch: fetch, Now: time.Now, Random: rand.Reader})
	return s
}

// calls are the operations of a client by name.
func (s *scripted) calls(t testing.TB) map[string]func() error {
	key, p := newKey(t), projection(t, time.Now(), "munich")
	ctx := t.Context()
	return map[string]func() error{
		"publish": func() error {
			_, _, err := s.client.Publish(ctx, s.origin, key, providerhttp.Publication{Projection: p})
			return err
		},
		"update": func() error {
			_, _, err := s.client.Update(ctx, s.origin, key, "a/b", providerhttp.Publication{Projection: p})
			return err
		},
		"withdraw": func() error { _, err := s.client.Withdraw(ctx, s.origin, key, "x"); return err },
		"query": func() error {
			_, err := s.client.Candidates(ctx, s.origin, key, providerhttp.Query{Projection: p, Limit: 2})
			return err
		},
		"resolve": func() error { _, _, err := s.client.Resolve(ctx, s.origin, key, "x"); return err },
		"report":  func() error { return s.client.Report(ctx, s.origin, key, "x", providerhttp.ReasonProbing) },
		"info":    func() error { _, err := s.client.Info(ctx, s.origin); return err },
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	s := script(t)
	calls := s.calls(t)
	for _, c := range []struct{ call, body, kind string }{
		{"publish", `{"projection_ref":"","withdraw_latency_s":60}`, ""},
		{"publish", `{"projection_ref":"a b","withdraw_latency_s":60}`, ""},
		{"publish", `{"projection_ref":"` + strings.Repeat("x", 129) + `","withdraw_latency_s":60}`, ""},
		{"publish", `{"projection_ref":"x","withdraw_latency_s":-1}`, ""},
		{"publish", `{"projection_ref":"x","withdraw_latency_s":1e15}`, ""},
		{"publish", `{"projection_ref":"x","projection_ref":"y","withdraw_latency_s":60}`, ""},
		{"publish", `{"projection_ref":"x","withdraw_latency_s":60}`, "text/html"},
		{"withdraw", `{"acknowledged":true,"effective_by":"tomorrow"}`, ""},
		{"withdraw", `{}`, ""},
		{"query", `{"candidates":[{"candidate_ref":"1","projection_ref":"1"},{"candidate_ref":"2","projection_ref":"2"},{"candidate_ref":"3","projection_ref":"3"}]}`, ""},
		{"query", `{"candidates":[{"candidate_ref":"","projection_ref":"1"}]}`, ""},
		{"query", `{"candidates":[{"candidate_ref":"1"}]}`, ""},
		{"query", `{"candidates":[],"cursor":"` + strings.Repeat("x", 129) + `"}`, ""},
		{"resolve", `{"endpoint":"https://user@agents.example/","projection_ref":"1"}`, ""},
		{"resolve", `{"endpoint":"https://agents.example/?q","projection_ref":"1"}`, ""},
		{"resolve", `{"endpoint":"/a2a/1","projection_ref":"1"}`, ""},
		{"resolve", `{"endpoint":"https://agents.example/` + strings.Repeat("x", 512) + `","projection_ref":"1"}`, ""},
		{"resolve", `{"endpoint":"https://agents.example/","projection_ref":""}`, ""},
		{"info", `{"protocol":` + strings.Repeat(" ", 70<<10) + `"gidp/0.1"}`, ""},
		{"info", `[]`, ""},
		{"info", `{}`, ""},
		{"info", `{"protocol":"gidp/0.1","withdraw_latency_s":-1}`, ""},
	} {
		s.status, s.body, s.header = 200, c.body, nil
		if c.kind != "" {
			s.header = map[string]string{"Content-Type": c.kind}
		}
		if err := calls[c.call](); !errors.Is(err, providerhttp.ErrAnswer) {
			t.Errorf("%s took %.80s: %v", c.call, c.body, err)
		}
	}
}

func TestRefusalsOfOthers(t *testing.T) {
	s := script(t)
	for name, do := range s.calls(t) {
		for _, c := range []struct {
			status int
			body   string
			want   provider.Code
		}{
			{422, `{"error":"refused","message":"secret"}`, provider.CodeRefused},
			{429, `{"error":"slow down","message":"secret"}`, provider.CodeQuota},
			{502, `secret`, provider.CodeInternal},
			{302, `{"error":"refused"}`, provider.CodeRefused},
		} {
			s.status, s.body, s.header = c.status, c.body, map[string]string{"Retry-After": "7", "Location": "https://elsewhere.example/"}
			err := do()
			var r *providerhttp.Refusal
			if !errors.As(err, &r) || r.Code != c.want || r.Status != c.status || r.RetryAfter != 7*time.Second || strings.Contains(err.Error(), "secret") || r.Temporary() != (c.status == 429 || c.status == 502) {
				t.Errorf("%s: %d %s gives %v", name, c.status, c.body, err)
			}
		}
	}
}

// What a query tells of its interest are the four lists and nothing that stands in a projection of it.
func TestQueryIsBlank(t *testing.T) {
	s := script(t)
	s.status, s.body = 200, `{"candidates":[]}`
	p := projection(t, time.Now(), "munich")
	p.InterestRef = "interest-77"
	var sent []string
	for range 2 {
		if _, err := s.client.Candidates(t.Context(), s.origin, newKey(t), providerhttp.Query{Projection: p, Attributes: map[string][]string{"stage": {"seed"}}}); err != nil {
			t.Fatal(err)
		}
		for _, private := range []string{p.ProjectionID, p.Endpoint, p.InterestRef, wire.FormatTime(p.ExpiresAt)} {
			if strings.Contains(s.sent, private) {
				t.Errorf("the query holds %q", private)
			}
		}
		sent = append(sent, s.sent)
	}
	if sent[0] == sent[1] || !strings.Contains(sent[0], `"limit":50`) || !strings.Contains(sent[0], "company_sale") {
		t.Error(sent)
	}
}

func TestAddresses(t *testing.T) {
	s := script(t)
	s.status, s.body = 201, `{"projection_ref":"x","withdraw_latency_s":60}`
	key := newKey(t)
	for _, at := range []string{s.origin, s.origin + "/", s.origin + "/gidp/v1", s.origin + "/gidp/v1/"} {
		if _, _, err := s.client.Update(t.Context(), at, key, "a/b?c", providerhttp.Publication{Projection: projection(t, time.Now(), "munich")}); err != nil || s.asked != "PUT /gidp/v1/projections/a%2Fb%3Fc" {
			t.Errorf("%s: %q %v", at, s.asked, err)
		}
	}
	s.asked = ""
	for _, at := range []string{"", "provider.example", "https://", "https://user@provider.example", "https://provider.example/x", "ftp://provider.example", "https://provider.example?x", "https://provider.example#x"} {
		if _, err := s.client.Info(t.Context(), at); err == nil || s.asked != "" {
			t.Errorf("%q was asked: %v", at, err)
		}
	}
	if _, err := s.client.Info(t.Context(), "http://127.0.0.1:1"); !errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("a loopback that nobody allowed: %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, body := range []string{`{"projection_ref":"x","withdraw_latency_s":60}`, `{"acknowledged":true,"effective_by":"2026-05-04T10:21:00Z"}`, `{"candidates":[{"candidate_ref":"a","projection_ref":"b"}],"cursor":"c"}`,
		`{"endpoint":"https://agents.example/a2a/1","projection_ref":"b"}`, `{"error":"quota","message":""}`, `{"protocol":"gidp/0.1","quotas":{"per_key":{"":{"query":1}}}}`, `null`, `[]`, ``} {
		f.Add(body, 200)
		f.Add(body, 429)
	}
	s := script(f)
	calls := s.calls(f)
	f.Fuzz(func(t *testing.T, body string, status int) {
		s.body, s.status = body, 200+(status%400+400)%400
		if s.status == 204 || s.status == 304 {
			s.body = ""
		}
		key := newKey(t)
		page, err := s.client.Candidates(t.Context(), s.origin, key, providerhttp.Query{Projection: &wire.DiscoveryProjection{Geographies: []string{"munich"}}})
		if err == nil && len(page.Candidates) > provider.MaxLimit {
			t.Fatal("a page larger than any")
		}
		endpoint, ref, err := s.client.Resolve(t.Context(), s.origin, key, "x")
		if err == nil && (len(endpoint) > 512 || ref == "" || !strings.Contains(endpoint, "://")) {
			t.Fatalf("%q %q", endpoint, ref)
		}
		for _, name := range []string{"publish", "withdraw", "info"} {
			calls[name]()
		}
	})
}
