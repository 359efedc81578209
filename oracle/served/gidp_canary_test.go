package served

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The private values of both sides, each a text or a number that occurs nowhere else. told is what a Principal approves below.
const (
	told       = "Canary Seller 8f21 GmbH"
	sellerForm = `principal_ref: canary-principal-5a10
profile: sayso/corporate-transaction/1
interest: {action: strategic_transaction, object: canary-object-77d1}
attributes:
  sector: crm_software
  geography: munich
  enterprise_value_eur: {min: 23456781}
  arr_eur: 3333337
  plants: 7310041
  organisation_name: Canary Seller 8f21 GmbH
  registration_id: canary-register-0c44
  principal_identity: canary-person-93be
  secret: canary-secret-e1f7
policy:
  sector: discovery
  geography: discovery
  enterprise_value_eur: evaluation_only
  arr_eur: evaluation_only
  plants: evaluation_only
  organisation_name: session/principal_approval
  registration_id: session/principal_approval
  principal_identity: session/principal_approval
  secret: never
budgets: {plants: {bits: 2, domain: {min: 7310000, max: 7310063, step: 1}}}
authority: {OBSERVE: true, SEARCH: true, PUBLISH_PROJECTION: true, PROBE: true, DISCLOSE: true, INTRODUCE: approval_required, NEGOTIATE_NONBINDING: false, COMMIT: false}
validity: {expires_at: 2099-12-31T00:00:00Z}
origin: stated
`
	buyerForm = `principal_ref: canary-principal-b6d3
profile: sayso/corporate-transaction/1
interest: {action: strategic_transaction, object: company}
attributes:
  sector: crm_software
  geography: munich
  enterprise_value_eur: {max: 41234563}
  organisation_name: canary-buyer-4e90
policy:
  sector: discovery
  geography: discovery
  enterprise_value_eur: evaluation_only
  organisation_name: session/principal_approval
  principal_identity: session/principal_approval
authority: {OBSERVE: true, SEARCH: true, PUBLISH_PROJECTION: true, PROBE: true, DISCLOSE: true, INTRODUCE: approval_required, NEGOTIATE_NONBINDING: false, COMMIT: false}
validity: {expires_at: 2099-12-31T00:00:00Z}
origin: stated
`
)

var (
	canaryTexts   = []string{told, "canary-principal-5a10", "canary-object-77d1", "canary-register-0c44", "canary-person-93be", "canary-secret-e1f7", "canary-principal-b6d3", "canary-buyer-4e90"}
	canaryNumbers = []int64{23456781, 3333337, 7310041, 41234563}
)

// textForms are the ways in which a text may lie somewhere: as it is, in hex, and in base64 at each of the three places that it can have in what is encoded.
func textForms(s string) [][]byte {
	out := [][]byte{[]byte(s), []byte(hex.EncodeToString([]byte(s))), []byte(url.QueryEscape(s))}
	for shift := range 3 {
		padded := append(make([]byte, shift), s...)
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString(padded)
			from := (shift*8 + 5) / 6
			out = append(out, []byte(text[from:len(text)-2])) // the edges depend on what stands beside it
		}
	}
	return out
}

// numberForms are a number as JSON, in scientific and grouped notation, and as the words of a machine.
func numberForms(n int64) [][]byte {
	digits := strconv.FormatInt(n, 10)
	out := [][]byte{[]byte(digits)}
	for _, form := range []string{"%e", "%E", "%g", "%x"} {
		if form == "%x" {
			out = append(out, fmt.Appendf(nil, form, n))
			continue
		}
		text := fmt.Sprintf(form, float64(n))
		mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
		power, _ := strconv.Atoi(exponent)
		out = append(out, []byte(text), fmt.Appendf(nil, "%se%d", mantissa, power), fmt.Appendf(nil, "%se%d", strings.TrimRight(mantissa, "0"), power))
	}
	for _, mark := range []string{",", ".", " ", "_", "'", "\u00a0", "\u202f"} {
		grouped := digits
		for i := len(grouped) - 3; i > 0; i -= 3 {
			grouped = grouped[:i] + mark + grouped[i:]
		}
		out = append(out, []byte(grouped))
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		out = append(out, order.AppendUint64(nil, uint64(n)), order.AppendUint64(nil, math.Float64bits(float64(n))))
	}
	return out
}

// capture is everything that one place has shown, by its name.
type capture struct {
	mu   sync.Mutex
	data map[string]*bytes.Buffer // guarded by mu
}

func (c *capture) add(place string, parts ...[]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data[place] == nil {
		c.data[place] = &bytes.Buffer{}
	}
	for _, part := range parts {
		c.data[place].Write(part)
		c.data[place].WriteByte('\n')
	}
}

// writer is a stream into one place.
type writer struct {
	to    *capture
	place string
}

func (w writer) Write(p []byte) (int, error) { w.to.add(w.place, p); return len(p), nil }

var encoded = regexp.MustCompile(`[A-Za-z0-9_-]{16,}`)

// opened is a text with whatever in it is base64url decoded: what a mandate discloses travels so.
func opened(data []byte) []byte {
	out := bytes.Clone(data)
	for _, token := range encoded.FindAll(data, -1) {
		if plain, err := base64.RawURLEncoding.DecodeString(string(token)); err == nil {
			out = append(append(out, '\n'), plain...)
		}
	}
	return out
}

// leaks lists the values that are to be found in a place.
func (c *capture) leaks(place string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.data[place]
	if b == nil || b.Len() == 0 {
		return []string{"nothing was captured"}
	}
	data := opened(b.Bytes())
	find := func(name string, forms [][]byte) {
		for _, form := range forms {
			if bytes.Contains(data, form) {
				out = append(out, fmt.Sprintf("%s as %q", name, form))
				return
			}
		}
	}
	for _, text := range canaryTexts {
		find(text, textForms(text))
	}
	for _, n := range canaryNumbers {
		find(strconv.FormatInt(n, 10), numberForms(n))
	}
	return out
}

// program is the built program in a folder of its own.
type program struct {
	t    *testing.T
	bin  string
	home string
	env  []string
	seen *capture
}

func buildProgram(t *testing.T) *program {
	t.Helper()
	home := t.TempDir()
	p := &program{t: t, bin: filepath.Join(home, "sayso"), home: home, seen: &capture{data: map[string]*bytes.Buffer{}}}
	build := exec.Command("go", "build", "-o", p.bin, "./cmd/sayso")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	scratch := filepath.Join(home, "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + scratch, "SAYSO_LOG_LEVEL=debug", "SAYSO_LOG_FORMAT=json"}
	return p
}

// run is one command with JSON out.
func (p *program) run(args ...string) (map[string]any, error) {
	p.t.Helper()
	c := exec.Command(p.bin, append(args, "--json")...)
	c.Dir, c.Env = p.home, p.env
	c.Stderr = writer{p.seen, "log of commands"}
	text, err := c.Output()
	var out map[string]any
	if json.Unmarshal(text, &out) != nil {
		p.t.Fatalf("%v: %v %s", args, err, text)
	}
	return out, err
}

func (p *program) must(args ...string) map[string]any {
	p.t.Helper()
	out, err := p.run(args...)
	if err != nil {
		p.t.Fatalf("%v: %v %v", args, err, out)
	}
	return out
}

// server runs a command that serves behind a proxy that records what crosses. private is its private listener.
func (p *program) server(name string, args ...string) (origin, private string, process *os.Process) {
	p.t.Helper()
	var target *url.URL
	var mu sync.Mutex // guards target
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		to := target
		mu.Unlock()
		if to == nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		asked, _ := httputil.DumpRequest(r, true)
		p.seen.add("wire", asked)
		(&httputil.ReverseProxy{
			Rewrite: func(out *httputil.ProxyRequest) { out.SetURL(to); out.Out.Header.Del("Accept-Encoding") },
			ModifyResponse: func(resp *http.Response) error {
				answered, err := httputil.DumpResponse(resp, true)
				p.seen.add("wire", answered)
				return err
			},
		}).ServeHTTP(w, r)
	}))
	p.t.Cleanup(proxy.Close)
	c := exec.Command(p.bin, append(args, "--data", name, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--origin", proxy.URL)...)
	c.Dir, c.Env = p.home, p.env
	c.Stdout, c.Stderr = writer{p.seen, "log of " + name}, writer{p.seen, "log of " + name}
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); c.Wait() }()
	p.t.Cleanup(func() { c.Process.Kill(); <-ended })
	var found struct{ Listen, Admin string }
	p.until(name+" serves", func() bool {
		text, err := os.ReadFile(filepath.Join(p.home, name, "server.json"))
		if err != nil || json.Unmarshal(text, &found) != nil {
			return false
		}
		resp, err := http.Get("http://" + found.Admin + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	mu.Lock()
	target = &url.URL{Scheme: "http", Host: found.Listen}
	mu.Unlock()
	return proxy.URL, "http://" + found.Admin, c.Process
}

func (p *program) until(what string, holds func() bool) {
	p.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	p.t.Fatalf("never: %s", what)
}

// fetch records what an address answers.
func (p *program) fetch(place, method, address, body string) {
	p.t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	p.seen.add(place, fmt.Appendf(nil, "%v %v", resp.Status, resp.Header), text)
}

// files records every file below a folder.
func (p *program) files(place, folder string) {
	p.t.Helper()
	err := filepath.WalkDir(filepath.Join(p.home, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		p.seen.add(place, []byte(d.Name()), text)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// waits is the only entry that waits in an inbox.
func (p *program) waits(data string) (id string) {
	p.t.Helper()
	p.until("a decision waits at "+data, func() bool {
		list, _ := p.must("interest", "inbox", "--data", data)["entries"].([]any)
		if len(list) == 0 {
			return false
		}
		id, _ = list[0].(map[string]any)["id"].(string)
		return true
	})
	return id
}

// The whole life of a session over the built program, from the form to the disclosure that a person approved: no private value is to be found in what crossed, in logs
// at debug, in metrics and error bodies, in the trail, in the files of the data folders while they are written to and after a kill, in the scratch folder or in a
// dump of all goroutines. What was approved is on the wire and in the answer to whom it was told, and in no other place.
func TestGIDPCanaries(t *testing.T) {
	p := buildProgram(t)
	for name, form := range map[string]string{"seller.yaml": sellerForm, "buyer.yaml": buyerForm} {
		if err := os.WriteFile(filepath.Join(p.home, name), []byte(form), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	provider, providerDoor, _ := p.server("provider", "provider", "serve")
	seller, _ := p.must("interest", "add", "seller.yaml", "--data", "s")["id"].(string)
	buyer, _ := p.must("interest", "add", "buyer.yaml", "--data", "b")["id"].(string)
	sellerOrigin, sellerDoor, sellerProcess := p.server("s", "interest", "serve", "--provider", provider)
	_, buyerDoor, buyerProcess := p.server("b", "interest", "serve", "--provider", provider)
	p.must("interest", "activate", seller, "--data", "s", "--provider", provider)
	p.must("interest", "activate", buyer, "--data", "b", "--provider", provider)
	p.until("the exploration is done", func() bool {
		out, _ := p.run("interest", "explore", buyer, "--data", "b", "--provider", provider)
		return out["state"] == "done"
	})
	var lead string
	p.until("a lead", func() bool {
		list, _ := p.must("interest", "opportunities", "--data", "b")["opportunities"].([]any)
		if len(list) > 0 {
			lead, _ = list[0].(map[string]any)["id"].(string)
		}
		return len(list) > 0
	})
	p.must("interest", "request", lead, "reveal_identity", "--key", "organisation_name", "--data", "b")
	p.must("interest", "approve", p.waits("s"), "--data", "s")
	p.must("interest", "approve", p.waits("s"), "--data", "s") // the value has its own gate
	p.until("the name is told", func() bool {
		text, _ := json.Marshal(p.must("interest", "sessions", "--data", "b"))
		return bytes.Contains(text, []byte(told))
	})
	p.until("the session takes a request", func() bool {
		_, err := p.run("interest", "request", lead, "disclose", "--key", "enterprise_value_eur", "--data", "b")
		return err == nil
	})

	for _, door := range []string{sellerDoor, buyerDoor, providerDoor} {
		for _, path := range []string{"/metrics", "/readyz", "/livez", "/inbox/none", "/inbox/assets/none", "/none"} {
			p.fetch("private listener", http.MethodGet, door+path, "")
		}
	}
	for _, body := range []string{"", "{", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m"}}}`, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`} {
		for _, path := range []string{"/a2a/" + strings.Repeat("0", 32) + "/rpc", "/a2a/x", "/gidp/v1/candidates", "/gidp/v1/projections", "/schema/gidp/none.json"} {
			p.fetch("error bodies", http.MethodPost, sellerOrigin+path, body)
			p.fetch("error bodies", http.MethodPost, provider+path, body)
		}
	}
	for _, data := range []string{"s", "b"} {
		trail, err := exec.Command(p.bin, "interest", "audit", "--json", "--data", filepath.Join(p.home, data)).Output()
		if err != nil {
			t.Fatal(err)
		}
		p.seen.add("trail", trail)
	}
	for _, data := range []string{"s", "b", "provider"} {
		p.files("files while they serve", data)
	}
	sellerProcess.Signal(syscall.SIGQUIT) // the runtime ends it with a dump of all goroutines
	buyerProcess.Kill()
	p.until("the dump", func() bool {
		p.seen.mu.Lock()
		defer p.seen.mu.Unlock()
		return bytes.Contains(p.seen.data["log of s"].Bytes(), []byte("SIGQUIT"))
	})
	for _, data := range []string{"s", "b"} {
		p.files("files after a kill", data)
	}
	p.seen.add("scratch", []byte("scratch"))
	p.files("scratch", "scratch")

	for _, place := range []string{"wire", "log of commands", "log of s", "log of b", "log of provider", "private listener", "error bodies", "trail", "files while they serve", "files after a kill", "scratch"} {
		found := p.seen.leaks(place)
		if place == "log of commands" && len(found) == 1 && found[0] == "nothing was captured" {
			continue
		}
		var rest []string
		approved := false
		for _, leak := range found {
			if place == "wire" && strings.HasPrefix(leak, told) {
				approved = true
				continue
			}
			if place == "trail" && strings.HasPrefix(leak, "canary-principal-") {
				continue // the Principal's own view says whose it is
			}
			rest = append(rest, leak)
		}
		if len(rest) > 0 {
			t.Errorf("%s: %s", place, strings.Join(rest, ", "))
		}
		if place == "wire" && !approved {
			t.Error("what was approved is not on the wire: the search is blind")
		}
	}
	p.seen.add("control", []byte(sellerForm), []byte(buyerForm))
	if found := p.seen.leaks("control"); len(found) != len(canaryTexts)+len(canaryNumbers) {
		t.Errorf("the search finds %v in the forms", found)
	}
}
