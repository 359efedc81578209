package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sayso/facts/dataset"
	"sayso/safefetch"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rfc8037Key is the private key of RFC 8037 appendix A.1: everybody knows it, so it signs nothing but tests.
const rfc8037Key = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"ex-2026-10","use":"sig","alg":"EdDSA","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}`

// secondKey is RFC 8032 section 7.1 test 2.
const secondKey = `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw","kid":"ex-2027-04"}]}`

const ratesCSV = `key,label,value,unit,period,effectiveFrom,effectiveTo,source,quote
uk/state-pension/weekly,State Pension a week,184.90,GBP/week,2026-27,2026-04-06,2027-04-05,https://www.gov.uk/state-pension,
uk/state-pension/hearsay,State Pension by hearsay,184.90,GBP/week,2026-27,2026-04-06,2027-04-05,https://hearsay.example/pension,
`

const release = `---
title: Python
releases:
  - releaseCycle: "3.14"
    releaseDate: 2025-10-07
    eol: 2030-10-31
    link: https://www.python.org/downloads/release/python-3140/
---
`

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var (
	sizes = regexp.MustCompile(`"(files|bytes)":\d+`)
	links = regexp.MustCompile(`"prevHash":"sha256:[0-9a-f]{64}"`)
	words = regexp.MustCompile(`"(verdict|message|reason|next|mapping)":"(?:[^"\\]|\\.)*"`)
)

// stable replaces what is no promise: the day and the hashes of entries that hold it, the size of pages, and sentences for people.
func stable(text string) string {
	text = strings.ReplaceAll(text, today().String(), "TODAY")
	text = strings.ReplaceAll(text, today().AddDays(7).String(), "TODAY+7")
	text = links.ReplaceAllString(text, `"prevHash":"…"`)
	text = words.ReplaceAllString(text, `"$1":"…"`)
	return sizes.ReplaceAllString(text, `"$1":0`)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(testdata, "facts", name+".json")
	if *update {
		writeFile(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s: %v\ngot  %swant %s", name, err, got, want)
	}
}

func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(filepath.Dir(testdata), "schema", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// conforms checks an answer against its schema, and that the schema names every member of it.
func conforms(t *testing.T, name, answer string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, answer)
	}
	s := schemaOf(t, name)
	if err := s.Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, answer)
	}
	undeclared(t, name, s, doc)
}

func undeclared(t *testing.T, at string, s *jsonschema.Schema, doc any) {
	t.Helper()
	if s.Ref != nil {
		undeclared(t, at, s.Ref, doc)
		return
	}
	for _, alternative := range s.AnyOf {
		if alternative.Validate(doc) == nil {
			undeclared(t, at, alternative, doc)
			return
		}
	}
	switch v := doc.(type) {
	case map[string]any:
		for member, x := range v {
			if s.Properties[member] == nil && len(s.Properties) > 0 {
				t.Errorf("%s.%s is not in the schema", at, member)
			} else if s.Properties[member] != nil {
				undeclared(t, at+"."+member, s.Properties[member], x)
			}
		}
	case []any:
		if s.Items2020 != nil {
			for _, x := range v {
				undeclared(t, at+"[]", s.Items2020, x)
			}
		}
	}
}

// TestFactsAnswers is the life of one folder, each answer compared with its golden file and its schema.
func TestFactsAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "ex.jwk", rfc8037Key)
	writeFile(t, "next.json", secondKey)
	writeFile(t, "rates.csv", ratesCSV)
	writeFile(t, "map.yaml", "format: sayso-mapping/1\nkind: csv\n")
	writeFile(t, "products/python.md", release)
	const key, source = "uk/income-tax/personal-allowance", "https://www.gov.uk/income-tax-rates"
	seen := map[string]bool{}
	for _, step := range []struct {
		schema, args string
		code         exitCode
	}{
		{"failure", "facts lint figures", exitNotFound},
		{"facts-init", "facts init figures", exitOK},
		{"facts-lint", "facts lint figures", exitOK},
		{"facts-audit", "facts audit figures", exitOK},
		{"facts-set", "facts set figures " + key + " --period 2027-28 --value 12600 --from 2027-04-06 --to 2028-04-05 --source " + source, exitOK},
		{"facts-show-list", "facts show figures", exitOK},
		{"facts-confirm", "facts confirm figures " + key + " --value 12600 --by Reader --offline", exitOK},
		{"facts-sign", "facts sign figures --key ex.jwk", exitOK},
		{"facts-build", "facts build figures --out site --origin https://figures.example", exitOK},
		{"facts-build-verify", "facts build figures --out site --origin https://figures.example --verify", exitOK},
		{"facts-compare", "facts compare figures site", exitOK},
		{"facts-keys-change", "facts keys add figures --key next.json", exitOK},
		{"facts-keys", "facts keys figures", exitOK},
		{"facts-due", "facts due figures", exitOK},
		{"facts-withdraw", "facts withdraw figures " + key + " --from 2028-04-06 --source " + source + " --reason abolished --offline", exitOK},
		{"facts-show", "facts show figures " + key, exitOK},
		{"facts-import", "facts import figures csv --map map.yaml rates.csv", exitFailed},
		{"facts-import-suggest", "facts import figures endoflife --suggest --namespace eol products", exitOK},
	} {
		code, out, errs := invoke(t, nil, append(strings.Fields(step.args), "--json")...)
		if code != int(step.code) {
			t.Fatalf("%s: exit %d, want %d\n%s%s", step.args, code, step.code, out, errs)
		}
		conforms(t, step.schema, out)
		golden(t, step.schema, stable(out))
		seen[step.schema+".json"] = true
	}
	seen["facts-recheck.json"] = true // TestRecheckAnswers
	entries, err := fs.Glob(os.DirFS(filepath.Join(filepath.Dir(testdata), "schema")), "facts-*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		if !seen[name] {
			t.Errorf("no command answers by %s", name)
		}
	}
}

// whenFirst calls once, with the first that is written.
type whenFirst struct {
	bytes.Buffer
	call func()
}

func (w *whenFirst) Write(b []byte) (int, error) {
	if w.Len() == 0 {
		w.call()
	}
	return w.Buffer.Write(b)
}

// The signer sees the statements before a signature stands in the folder.
func TestSignTellsBeforeItWrites(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "ex.jwk", rfc8037Key)
	if code, _, errs := invoke(t, nil, "facts", "init", "figures"); code != 0 {
		t.Fatal(errs)
	}
	out := &whenFirst{call: func() {
		for _, name := range []string{"signatures.json", "jwks.json"} {
			if _, err := os.Stat(filepath.Join("figures", name)); err == nil {
				t.Errorf("%s was there before the signer was told", name)
			}
		}
	}}
	var errs bytes.Buffer
	code := run(t.Context(), []string{"facts", "sign", "figures", "--key", "ex.jwk"}, strings.NewReader(""), out, &errs, nil)
	told, done, ok := strings.Cut(out.String(), "\n1 new signature, 0 kept, 0 dropped\n")
	if code != 0 || !ok || !strings.Contains(told, "12570 GBP/year") || !strings.Contains(done, "sayso facts lint figures") {
		t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
	}
}

// pages answers for sources without a network.
type pages map[string]dataset.Page

func (p pages) Fetch(_ context.Context, url string, _ dataset.Validators) (dataset.Page, error) {
	page, ok := p[url]
	if !ok {
		return page, errors.New("the host cannot be reached")
	}
	page.FinalURL = url
	return page, nil
}

func TestRecheckAnswers(t *testing.T) {
	quietEnvironment(t)
	t.Chdir(t.TempDir())
	if code, _, errs := invoke(t, nil, "facts", "init", "figures"); code != 0 {
		t.Fatal(errs)
	}
	folder, err := loadFolder("figures")
	if err != nil {
		t.Fatal(err)
	}
	const source = "https://www.gov.uk/income-tax-rates"
	for _, c := range []struct {
		name  string
		pages pages
		code  exitCode
		want  string
	}{
		{"as it was", pages{source: {Status: 200, Body: []byte("<p>Personal Allowance: £12,570")}}, exitOK, "1 as they were"},
		{"another figure", pages{source: {Status: 200, Body: []byte("<p>Personal Allowance: £13,000")}}, exitOK, "value missing"},
		{"gone", pages{source: {Status: 404}}, exitFailed, "source gone"},
		{"no network", pages{}, exitUnavailable, "source error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := dataset.RecheckOptions{Today: today(), Fetcher: c.pages, Clock: wallClock{}}
			var text, json, notes bytes.Buffer
			e := &env{ctx: t.Context(), out: &text, err: &notes}
			err := e.recheck("figures", folder, o)
			if code := codeOf(t, err); code != c.code || !strings.Contains(text.String(), c.want) {
				t.Errorf("exit %d, want %d\n%s", code, c.code, text.String())
			}
			e = &env{ctx: t.Context(), out: &json, err: &notes, json: true}
			if code := codeOf(t, e.recheck("figures", folder, o)); code != c.code {
				t.Errorf("--json: exit %d, want %d", code, c.code)
			}
			conforms(t, "facts-recheck", json.String())
		})
	}
}

func codeOf(t *testing.T, err error) exitCode {
	t.Helper()
	if err == nil {
		return exitOK
	}
	return asFailure(t.Context(), err).code
}

// The real fetcher says who asks, follows redirects within its bounds and passes validators on.
func TestSourceFetcher(t *testing.T) {
	var agent, etag string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, etag = r.UserAgent(), r.Header.Get("If-None-Match")
		switch {
		case r.URL.Path == "/old":
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		case etag == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("ETag", `"1"`)
			w.Write([]byte("12570"))
		}
	}))
	defer server.Close()
	f := sourceFetcher{safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(server.URL)}, UserAgent: "sayso/test (+https://figures.example/)", MaxRedirects: 5})}
	page, err := f.Fetch(t.Context(), server.URL+"/old", dataset.Validators{})
	if err != nil || page.Status != 200 || page.FinalURL != server.URL+"/new" || string(page.Body) != "12570" || page.ETag != `"1"` {
		t.Fatalf("%+v, %v", page, err)
	}
	if !strings.Contains(agent, "https://figures.example/") {
		t.Errorf("User-Agent %q does not name the publisher", agent)
	}
	if page, err = f.Fetch(t.Context(), server.URL+"/new", dataset.Validators{ETag: page.ETag}); err != nil || page.Status != 304 || len(page.Body) != 0 {
		t.Errorf("conditional: %+v, %v", page, err)
	}
	if _, err := newSourceFetcher("https://figures.example/").Fetch(t.Context(), server.URL+"/new", dataset.Validators{}); !errors.Is(err, safefetch.ErrRefused) {
		t.Errorf("a source on the own machine: %v", err)
	}
}

func TestWallClockStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (wallClock{}).Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// An origin is compared like a folder: claims are fetched where hashes differ, and nowhere else.
func TestCompareOrigin(t *testing.T) {
	t.Chdir(t.TempDir())
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, args := range []string{"facts init figures", "facts build figures --out site --origin " + server.URL} {
		if code, _, errs := invoke(t, nil, strings.Fields(args)...); code != 0 {
			t.Fatal(args, errs)
		}
	}
	records := 0
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/f/uk/") {
			records++
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		http.ServeFile(w, r, filepath.Join("site", filepath.FromSlash(r.URL.Path)))
	})
	code, out, errs := invoke(t, nil, "facts", "compare", "figures", server.URL, "--json")
	if code != 0 || !strings.Contains(out, `"sameHash":1`) || records != 0 {
		t.Errorf("exit %d, %d records fetched\n%s%s", code, records, out, errs)
	}
	topic := filepath.Join("figures", "topics", "uk", "income-tax.yaml")
	text, err := os.ReadFile(topic)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, topic, strings.ReplaceAll(string(text), "value: 12570", "value: 12571"))
	code, out, errs = invoke(t, nil, "facts", "compare", "figures", server.URL, "--json")
	if code != 1 || !strings.Contains(out, `"relation":"different value","first":{"value":12571`) || records != 1 {
		t.Errorf("exit %d, %d records fetched\n%s%s", code, records, out, errs)
	}
	conforms(t, "facts-compare", out)
	server.Close()
	if code, _, _ = invoke(t, nil, "facts", "compare", "figures", server.URL); code != 5 {
		t.Errorf("a publisher that does not answer: exit %d", code)
	}
}

func TestTableAligns(t *testing.T) {
	list := table{right: map[int]bool{0: true}}
	list.add("12570 GBP", "2026-27", "uk/a")
	list.add("5 %", "2026", "uk/\x1b[31mb")
	var b bytes.Buffer
	if err := list.write(&b, "  "); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if lines[0] != "  12570 GBP  2026-27  uk/a" || !strings.HasPrefix(lines[1], "        5 %  2026     uk/") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("%q", b.String())
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"figures/uk": "figures/uk", "my figures": "'my figures'", "it's": `'it'\''s'`, "": "''", "$(x)": "'$(x)'"} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
