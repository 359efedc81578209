package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"sayso/examples"
	"sayso/internal/agent/interestfile"
	"sayso/internal/config"
	"sayso/internal/demo"
	"sayso/jcs"
)

// gidpTold are the steps of the walk in order, with texts that their answers have to show.
var gidpTold = []struct {
	title string
	shown []string
}{
	{"What a seller would never say aloud", []string{`published: {"categories":["strategic_transaction"],"domains":["enterprise_software"],"geographies":["europe"],"relation":["complementary_counterparty"]}`,
		`{"key":"enterprise_value_eur","kind":"cells","cells":8,"bits":3}`}},
	{"Its agent publishes that", []string{`"state":"published"`, "-> provider: POST /projections"}},
	{"A buyer does the same", []string{`"state":"published"`, "-> provider: POST /projections"}},
	{"The projections meet, and the agents talk", []string{"-> provider: POST /candidates", "-> seller: SessionOpen", "<- seller: SessionAccept", `enterprise_value_eur overlaps {"max":29999999}`,
		"<- seller: CompatibilityResponse potentially_compatible", `"open_conditions":["enterprise_value_eur"]`}},
	{"What stayed at home", []string{"seller: its bound, 23400000: crossed 0 times", "buyer: its bound, 27600000: crossed 0 times", "Fictional Seller GmbH: crossed 0 times"}},
	{"It is a lead", []string{`"evaluated_dimensions":6,"compatible_dimensions":5`, "neither a price nor a structure has been agreed"}},
	{"Each asks who the other is", []string{"seller decides at http://127.0.0.1:", "buyer decides at http://127.0.0.1:", "pending_principal_approval"}},
	{"Both principals say yes, twice", []string{`"status":"granted","value":"Fictional Seller GmbH"`, `"status":"granted","value":"Fictional Buyer SAS"`}},
	{"They are handed over to people", []string{`-> seller: Handoff {"target":{"kind":"human"}`, `<- seller: SessionClose {"reason":"completed"}`}},
	{"And it can be shown afterwards", []string{"inbox decision 3", `"ok":true`}},
	{"The buyer has what it wanted", []string{"-> provider: DELETE /projections/"}},
	{"What plain answers would tell", []string{`"what":"plain: bits","value":5`}},
	{"The seller's least price, answered from its cell", []string{"4 keys, 128 questions: compatible 68 · incompatible 40 · conditionally_compatible 1 · unknown 19", "what remains: 20000000 to 29999999",
		"learnt: 2.92 bits", `asks afterwards, {"max":29999999}: conditionally_compatible`}},
	{"The same price without cells, declined", []string{"4 keys, 32 questions: declined 32", "learnt: 0 bits"}},
	{"And with a budget of 2 bits for everybody", []string{"what remains: 12800000 to 25599999, 64 of 256 values; learnt: 2.00 bits", `asks afterwards, {"max":24999999}, which would be enough: declined`}},
	{"The seller ends it", []string{"candidates: 0", `<- seller: SessionClose {"reason":"unsupported"}`, "23400000 was in them 0 times"}},
}

// The walk of two agents: every step is as told, what it prints crossed, and what is private did not. Settings that name other places have no part in it, and nothing is left running.
func TestDemoGIDP(t *testing.T) {
	quietEnvironment(t)
	elsewhere := []string{"SAYSO_DATABASE=postgres://nobody@192.0.2.1/none", "SAYSO_PROVIDER=https://provider.invalid"}
	settings, err := config.Load(config.Inputs{Environ: append(elsewhere, "SAYSO_LOG_LEVEL=warn")})
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	log := &lockedLog{}
	e := &env{ctx: ctx, config: settings, out: log, err: log, environ: elsewhere}
	p, err := e.startGIDP(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var steps []demo.Step
	between := 0
	if err := e.walkGIDP(ctx, p, func(s demo.Step) { steps = append(steps, s) }, func(string) { between = len(steps) }); err != nil {
		t.Fatal(err)
	}
	if page := get(t, p.Seller.Inbox+"?all=1"); !strings.Contains(page, "All decisions") {
		t.Error("the inbox of the seller is not served after the walk")
	}
	if text := get(t, p.Provider+"/gidp/v1/"); !strings.Contains(text, "withdraw_latency_s") {
		t.Error("the provider is not served after the walk")
	}
	p.close()
	const own = 2 // of this test's client
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before+own && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before+own {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
	if between != 11 || len(steps) != len(gidpTold) {
		t.Fatalf("%d steps, %d before the probing", len(steps), between)
	}
	for i := range steps {
		gidpStep(t, i, &steps[i])
	}
	gidpCrossed(t, p.wire, steps)
	for _, private := range []string{"23400000", "27600000", "Fictional"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("%s was logged", private)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
}

// lockedLog is what several servers write to at once.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func gidpStep(t *testing.T, i int, s *demo.Step) {
	t.Helper()
	want := gidpTold[i]
	answer := strings.Join(s.Answer, "\n")
	if s.Title != want.title || s.Problem != "" || s.Request == "" || s.Why == "" {
		t.Errorf("%d is %q, want %q; problem %q\n%s", i, s.Title, want.title, s.Problem, answer)
	}
	for _, text := range want.shown {
		if !strings.Contains(answer, text) {
			t.Errorf("%s lacks %s:\n%s", s.Title, text, answer)
		}
	}
	for _, line := range append([]string{s.Request, s.Why, s.Title}, s.Answer...) {
		if utf8.RuneCountInString(line) > 195 || strings.ContainsAny(line, "\x1b\n") {
			t.Errorf("%s: line %.80q…", s.Title, line)
		}
	}
}

var typeOf = regexp.MustCompile(`^(->|<-) (seller|buyer): ([A-Z][A-Za-z]+)`)

// gidpCrossed compares what was printed with what the listeners captured, and looks for what is private in it.
func gidpCrossed(t *testing.T, w *demo.Wire, steps []demo.Step) {
	t.Helper()
	all, raw := w.Exchanges(), string(w.Bytes())
	captured := map[string]int{} // by direction and type, each object as often as it was sent for the first time
	for _, x := range all {
		for direction, text := range map[string][]byte{"->": x.Body, "<-": x.Answer} {
			for _, found := range regexp.MustCompile(`"type":"([A-Z][A-Za-z]+)"`).FindAllSubmatch(text, -1) {
				captured[direction+" "+string(found[1])]++
			}
		}
	}
	told := map[string]int{}
	for _, s := range steps {
		for _, line := range s.Answer {
			if found := typeOf.FindStringSubmatch(line); found != nil {
				told[found[1]+" "+found[3]]++
			}
		}
	}
	for what, n := range told {
		if captured[what] < n {
			t.Errorf("%q was told %d times and crossed %d times", what, n, captured[what])
		}
	}
	for _, one := range []string{"-> Opportunity", "-> Handoff"} {
		if told[one] != 1 || captured[one] != 1 {
			t.Errorf("%q was told %d times and crossed %d times", one, told[one], captured[one])
		}
	}
	for _, name := range []string{"seller", "buyer"} {
		text, err := fs.ReadFile(examples.Interests, "interests/corporate-transaction-"+name+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		doc, err := interestfile.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		var bound map[string]jcs.Raw
		if err := jcs.Decode(doc.Attributes["enterprise_value_eur"], &bound); err != nil {
			t.Fatal(err)
		}
		private := []string{doc.PrincipalRef}
		for _, value := range bound {
			n := string(value) // 23400000, 23,400,000, 2.34e7
			private = append(private, n, n[:2]+","+n[2:5]+","+n[5:], n[:2]+"."+n[2:5], n[:1]+"."+n[1:3]+"e", n[:1]+"."+n[1:3]+"E")
		}
		for _, key := range []string{"sector", "geography"} {
			value, _ := jcs.Text(doc.Attributes[key])
			private = append(private, `"`+value+`"`)
		}
		for _, value := range slices.Clone(private) {
			private = append(private, base64.RawURLEncoding.EncodeToString([]byte(value)))
		}
		for _, value := range private {
			if strings.Contains(raw, value) {
				t.Errorf("%q of the %s crossed", value, name)
			}
			for _, x := range all {
				if strings.Contains(string(x.Body)+string(x.Answer), value) {
					t.Errorf("%q of the %s crossed in %s %s", value, name, x.Method, x.Path)
				}
			}
		}
		// What was granted did cross: the search above is not blind.
		company, _ := jcs.Text(doc.Attributes["organisation_name"])
		if !strings.Contains(raw, company) {
			t.Errorf("the name of the %s did not cross, though its principal said yes", name)
		}
	}
}
