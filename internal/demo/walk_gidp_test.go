package demo

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"sayso/examples"
	"sayso/gidp/gidpa2a"
	"sayso/safefetch"
)

// opened serves a handler on a tapped listener until the test ends.
func opened(t *testing.T, w *Wire, name string, handler http.HandlerFunc) (origin string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: w.Listen(name, l), Config: &http.Server{Handler: handler}}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// What a Wire tells is what lay on it: every request with its answer, in order, over several connections and however it was cut into pieces.
func TestWireIsWhatCrossed(t *testing.T) {
	w := &Wire{}
	origin := opened(t, w, "peer", func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rw.WriteHeader(http.StatusAccepted)
		for part := range strings.SplitSeq(string(body), " ") { // chunked, in pieces
			fmt.Fprint(rw, part, "|")
			http.NewResponseController(rw).Flush()
		}
	})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	post := func(n int) {
		response, err := client.Post(fmt.Sprintf("%s/n/%d", origin, n), "text/plain", strings.NewReader(fmt.Sprintf("canary %d", n)))
		if err != nil {
			t.Error(err)
			return
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	for n := range 3 {
		post(n)
	}
	var group sync.WaitGroup
	for n := 3; n < 9; n++ {
		group.Go(func() { post(n) })
	}
	group.Wait()
	all := w.Exchanges()
	if len(all) != 9 {
		t.Fatalf("%d of 9 exchanges", len(all))
	}
	seen := map[string]bool{}
	for i, x := range all {
		n := strings.TrimPrefix(x.Path, "/n/")
		seen[n] = true
		if x.To != "peer" || x.Method != http.MethodPost || string(x.Body) != "canary "+n || x.Status != http.StatusAccepted || string(x.Answer) != "canary|"+n+"|" || i < 3 && n != fmt.Sprint(i) {
			t.Errorf("%d: %+v %s %s", i, x, x.Body, x.Answer)
		}
	}
	if len(seen) != 9 || strings.Count(string(w.Bytes()), "canary") != 18 || count(w.Bytes(), all, "canary|8|") != 1 {
		t.Errorf("%d exchanges", len(seen))
	}
	w.Stop()
	post(9)
	if after := w.Exchanges(); len(after) != 9 {
		t.Errorf("%d exchanges after the end of the recording", len(after))
	}
}

// The lines of a transcript are the objects that crossed, each artifact once, and nothing for a look that brought nothing.
func TestTranscript(t *testing.T) {
	const head = `"version":"gidp/0.1","session_id":"s","expires_at":"2031-01-01T00:00:00Z"`
	const accept = `{"type":"SessionAccept",` + head + `,"request_ref":"r-1","responder":"x","max_depth":"session","profile":"core","features":[]}`
	const answer = `{"type":"CompatibilityResponse",` + head + `,"request_ref":"r-2","results":[{"key":"price","claim_id":"c","result":"unknown"}],"session_status":"open","next":{"permitted":[],"requires":[]}}`
	task := func(objects ...string) string {
		var list []string
		for i, o := range objects {
			list = append(list, fmt.Sprintf(`{"artifactId":"%06d","metadata":{"%s/object":%s}}`, i+1, gidpa2a.ExtensionURI, o))
		}
		return `{"id":"t","artifacts":[` + strings.Join(list, ",") + `]}`
	}
	replies := []string{`{"result":{"task":` + task(accept) + `}}`, `{"result":` + task(accept) + `}`, `{"result":` + task(accept, answer, `{"type":"Strange"}`) + `}`, `{"result":7}`, `no JSON`}
	w := &Wire{}
	next := 0
	agent := opened(t, w, "seller", func(rw http.ResponseWriter, _ *http.Request) {
		io.WriteString(rw, replies[next])
		next++
	})
	provider := opened(t, w, "provider", func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, `{"candidates":[{},{}]}`) })
	post := func(url, body string) {
		response, err := http.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	told := transcript{wire: w, told: map[string]bool{}}
	post(provider+"/gidp/v1/candidates", `{"key":{},"projection":{"projection_id":"p","endpoint":"https://x.invalid/","domains":["software"]},"limit":10}`)
	post(agent+"/a2a/x/rpc", fmt.Sprintf(`{"params":{"message":{"metadata":{"%s/object":{"type":"SessionOpen",%s,"request_id":"r-1","initiator":"i","purpose":"x","max_depth":"session","profile":"core","features":[]}}}}}`,
		gidpa2a.ExtensionURI, head))
	post(agent+"/a2a/x/rpc", `{"params":{"id":"t"}}`)
	first := told.next()
	post(agent+"/a2a/x/rpc", fmt.Sprintf(`{"params":{"message":{"metadata":{"%s/object":{"type":"CompatibilityRequest",%s,"request_id":"r-2","claims":[{"claim_id":"c","key":"price","operator":"overlaps","value":{"max":9}}],"allowed_results":["declined"]}}}}}`,
		gidpa2a.ExtensionURI, head))
	post(agent+"/a2a/x/rpc", `{"params":{"id":"t"}}`)
	post(agent+"/a2a/x/rpc", `[]`)
	post(provider+"/gidp/v1/projections/0123456789abcdef", `{}`)
	for what, c := range map[string]struct{ got, want []string }{
		"first": {first, []string{`-> provider: POST /candidates {"domains":["software"]}: 200 candidates: 2`,
			`-> seller: SessionOpen {"purpose":"x","profile":"core","max_depth":"session"}`, `<- seller: SessionAccept {"profile":"core","max_depth":"session"}`}},
		"second": {told.next(), []string{`-> seller: CompatibilityRequest price overlaps {"max":9}`, `<- seller: CompatibilityResponse open: price unknown`,
			`<- seller: an object that cannot be read`, `-> provider: POST /projections/012345…: 200`}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(c.got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A walk in which nothing answers as it should has a problem in every step, ends soon, and keeps its lines short and plain.
func TestGIDPWalkTellsWhatIsNotAsTold(t *testing.T) {
	samples, err := fs.Sub(examples.Interests, "interests")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		out  string
		code int
	}{
		"nothing": {"nothing\n", 0}, "empty object": {"{}", 0}, "failure": {`{"message":"\u001b[31m` + strings.Repeat("é", 500) + `"}`, 4},
		"other states": {`{"id":"i","state":"DRAFT","public":{},"attributes":[],"projections":[{"state":"withdrawn"}],"sessions":[],"entries":[],"opportunities":[],"experiments":[]}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Wire{}
			origin := opened(t, w, "provider", func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, c.out) })
			steps, between := 0, -1
			party := func(name string) Party {
				return Party{Name: name, Data: t.TempDir(), Origin: origin, Inbox: origin + "/inbox"}
			}
			err := WalkGIDP(t.Context(), GIDPWalk{
				Run: func([]string, []byte) (string, int) { return c.out, c.code }, Fetch: safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(origin)}}),
				Provider: origin, Seller: party("seller"), Buyer: party("buyer"), Interests: samples, Wire: w, Now: time.Now, patience: 50 * time.Millisecond,
			}, func(s Step) {
				steps++
				if s.Problem == "" || s.Request == "" {
					t.Errorf("%s: problem %q, request %q", s.Title, s.Problem, s.Request)
				}
				for _, line := range append(s.Answer, s.Problem, s.Request) {
					if utf8.RuneCountInString(line) > 200 || strings.ContainsAny(line, "\x1b\n") {
						t.Errorf("%s: line %.60q…", s.Title, line)
					}
				}
			}, func() { between = steps })
			if err != nil || steps != 16 || between != 11 {
				t.Errorf("%d steps, %d before the probing: %v", steps, between, err)
			}
		})
	}
}
