package factshttp_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/report"
	"sayso/safefetch"
)

// F§12, F5: whatever a publisher writes into Retry-After, the pause is named and bounded.
func TestClientRetryAfter(t *testing.T) {
	p := newPublisher(t, false)
	for after, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0": 0, "-5": 0, "": 0, "soon": 0, "9223372036": 24 * time.Hour, "99999999999999999999": 0,
		"Mon, 15 Jun 2026 12:01:30 GMT": 90 * time.Second, "Mon, 15 Jun 2026 11:00:00 GMT": 0, "Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour,
	} {
		p.override["/f/uk/bank-rate"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Mon, 15 Jun 2026 12:00:00 GMT")
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		var status *factshttp.StatusError
		if _, err := p.client(factshttp.Pin{}).Get(t.Context(), "uk/bank-rate", plain); !errors.As(err, &status) || status.RetryAfter != want {
			t.Errorf("%s: %v, want %v", after, err, want)
		}
	}
}

// A chain of claim hashes is a warning, a chain that does not fit a failure, whether or not a head is pinned; a filtered document shows its own links only.
func TestClientChain_F8_5(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(doc object)
		outcome report.Outcome // "" for none
	}{
		{"as it should be", func(object) {}, ""},
		{"linked by claim hash", func(doc object) {
			e := doc["entries"].([]any)
			for i := range e {
				e[i].(object)["prevHash"] = nil
				if i+1 < len(e) {
					e[i].(object)["prevHash"] = e[i+1].(object)["hash"]
				}
			}
			doc["chainHead"] = e[0].(object)["hash"]
		}, report.Warning},
		{"an old label was edited", func(doc object) { doc["entries"].([]any)[2].(object)["label"] = "new" }, report.Fail},
		{"another head", func(doc object) { doc["chainHead"] = doc["entries"].([]any)[1].(object)["prevHash"] }, report.Fail},
		{"no chain is kept", func(doc object) {
			doc["chainHead"] = nil
			for _, e := range doc["entries"].([]any) {
				delete(e.(object), "prevHash")
			}
		}, ""},
	} {
		p := newPublisher(t, true)
		for _, d := range []string{"2026-01-01", "2026-02-01", "2026-03-01"} {
			p.log = append(p.log, entry("uk/bank-rate", nil, d, d))
		}
		doc, _ := p.answer(httptest.NewRequest("GET", "/changes.json", nil))
		c.change(doc.(object))
		p.replace("/changes.json", 200, string(encode(doc)))
		for _, q := range []facts.ChangesQuery{{}, {Given: true, Limit: 1}} {
			got, err := p.client(factshttp.Pin{}).Changes(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if c.outcome == "" && len(got.Findings) == 0 {
				continue
			}
			if len(got.Findings) != 1 || got.Findings[0].Rule != factshttp.RuleChain || got.Findings[0].Outcome != c.outcome {
				t.Errorf("%s: %+v", c.name, got.Findings)
			}
		}
	}
}

// Whoever answers for another origin does not say which keys are the publisher's.
func TestClientKeySetStaysAtItsOrigin_F13(t *testing.T) {
	p, other := newPublisher(t, false), newPublisher(t, false)
	p.override["/.well-known/jwks.json"] = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.origin+r.URL.Path, http.StatusFound)
	}
	p.override["/moved.json"] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys.json", http.StatusFound) }
	p.replace("/keys.json", 200, string(encode(object{"keys": p.set})))
	fetch := safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(p.origin), safefetch.LoopbackOf(other.origin)}, MaxRedirects: 3})
	get := func() facts.Verification {
		t.Helper()
		r, err := factshttp.NewClient(p.origin, factshttp.ClientOptions{Fetch: fetch, Clock: func() time.Time { return noon }}).Get(t.Context(), "uk/bank-rate", plain)
		if err != nil {
			t.Fatal(err)
		}
		return r.Verification
	}
	if v := get(); v.KeyAcceptable.Value != "no" || !strings.Contains(v.KeyAcceptable.Reason, "redirects to "+other.origin) || v.Signature.Value == "valid" {
		t.Errorf("to another origin: %+v", v)
	}
	d, r := p.discovery(), p.record(p.facts[0])
	d["keys"] = p.origin + "/moved.json"
	r["signature"].(object)["keys"] = d["keys"]
	p.replace("/.well-known/facts.json", 200, string(encode(d)))
	p.replace("/f/uk/bank-rate", 200, string(encode(r)))
	if v := get(); !v.OK(true) {
		t.Errorf("within the origin: %+v", v)
	}
}

// A loose answer is another figure: it does not make the one in hand superseded (F§13).
func TestClientLiveIsTheSameKey_F13(t *testing.T) {
	p := newPublisher(t, false)
	data := encode(p.record(p.facts[0]))
	loose := p.record(p.facts[1])
	loose["requestedKey"], loose["resolved"] = "uk/bank-rate", object{"score": 0.9, "matched": []any{"label:rate"}}
	p.replace("/f/uk/bank-rate", 200, string(encode(loose)))
	got, err := factshttp.Verify(t.Context(), data, factshttp.VerifyOptions{Fetch: p.fetcher(), Clock: func() time.Time { return noon }, MaxAge: facts.NoMaxAge, Live: true})
	if err != nil || got.Verification.ClaimCurrent.Value != "current" || len(got.Findings) != 1 || got.Findings[0].Outcome != report.Warning {
		t.Errorf("%v %+v", err, got)
	}
}
