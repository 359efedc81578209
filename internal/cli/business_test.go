package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sayso/business/bizhttp"
	"sayso/internal/config"
	"sayso/jcs"
)

// serveRegistry answers from the registry of a data folder as serve does, while the commands of a test change it. What belongs to a publisher of figures is
// passed on to the origin figures, when there is one.
func serveRegistry(data, figures string) (origin string, closing func(), err error) {
	settings, err := config.Load(config.Inputs{Flags: map[string]string{"data": data}})
	if err != nil {
		return "", nil, err
	}
	listening := httptest.NewUnstartedServer(nil)
	origin = "http://" + listening.Listener.Addr().String()
	e := &env{ctx: context.Background(), err: io.Discard, config: settings}
	registry, closeStore, err := e.openRegistry(e.ctx, origin, nil)
	if err != nil {
		return "", nil, err
	}
	surface := bizhttp.Handler(bizhttp.HandlerOptions{Source: registry, Call: e.registryTools(&serving{registry: registry}).ServeCall})
	listening.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := registry.Refresh(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		if figures != "" && !bizhttp.Belongs(r.URL.EscapedPath(), false) {
			u, _ := url.Parse(figures)
			httputil.NewSingleHostReverseProxy(u).ServeHTTP(w, r)
			return
		}
		surface.ServeHTTP(w, r)
	})
	listening.Start()
	return origin, func() { listening.Close(); closeStore() }, nil
}

// registryCommand sets REGISTRY to a server over the registry of a data folder; with -figures it serves the sample figures, too.
func registryCommand(ts *testscript.TestScript, _ bool, args []string) {
	figures := ""
	if args[0] == "-figures" {
		args = args[1:]
		var err error
		figures, err = samplePublisher()
		ts.Check(err)
	}
	origin, closing, err := serveRegistry(ts.MkAbs(args[0]), figures)
	ts.Check(err)
	ts.Defer(closing)
	ts.Setenv("REGISTRY", origin)
	ts.Setenv("ORIGIN", origin) // for save
}

// tokenOf writes the member token of an answer into a file as safe as a token needs.
func tokenOf(ts *testscript.TestScript, _ bool, args []string) {
	var answer struct {
		Token string `json:"token"`
	}
	ts.Check(jcs.Decode([]byte(strings.TrimSpace(ts.ReadFile(args[0]))), &answer))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(answer.Token+"\n"), 0o600))
}

// TestBusinessAnswers is the life of a business, each answer compared with its schema.
func TestBusinessAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.CopyFS("bundle", os.DirFS(filepath.Join(testdata, "business"))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "bad.jsonl", `{"id":"x","type":"service"}`+"\n")
	writeFile(t, "questions.txt", "Do you offer eye tests?\nDo you sell hearing aids?\nHow much is it?\n"+strings.Repeat("x", 600)+"\n")
	writeFile(t, "streams.json", `{"streams":[{"key":"open","kind":"bool","sla_seconds":60,"max_age_seconds":600}]}`)
	writeFile(t, "readings.ndjson", `{"stream":"open","value":true,"observed_at":"2026-01-02T15:04:05Z"}`+"\n"+`{"stream":"none","value":1,"observed_at":"2026-01-02T15:04:05Z"}`+"\n")
	writeFile(t, "locations.json", `[{"id":"a","name":"A","locality":"Exampleton"}]`)
	const slug = "corner-optician"
	seen := map[string]bool{}
	step := func(schema, args string, code exitCode) string {
		t.Helper()
		got, out, errs := invoke(t, nil, append(strings.Fields(args), "--json", "--data", "d")...)
		if got != int(code) {
			t.Fatalf("%s: exit %d, want %d\n%s%s", args, got, code, out, errs)
		}
		conforms(t, schema, out)
		seen[schema+".json"] = true
		return out
	}
	member := func(answer, name string) string {
		t.Helper()
		members, err := jcs.Members([]byte(strings.TrimSpace(answer)))
		for _, m := range members {
			if m.Name == name {
				return strings.Trim(string(m.Value), `"`)
			}
		}
		t.Fatalf("no %s in %s: %v", name, answer, err)
		return ""
	}
	step("failure", "business list", exitNotFound)
	step("doctor", "doctor", exitOK)
	step("init", "init --yes", exitOK)
	step("business-list", "business list", exitOK)
	step("business-receipt", "business create "+slug+" --name Optician --region GB", exitOK)
	step("business-import", "business import "+slug+" bad.jsonl", exitFailed)
	step("business-import", "business import "+slug+" bundle --dry-run", exitOK)
	step("business-import", "business import "+slug+" bundle", exitOK)
	step("business-import", "business import "+slug+" bad.jsonl --mode merge --skip-invalid", exitOK)
	step("business-set", "business schema set "+slug+" bundle/schema.json", exitOK)
	step("business-set", "business profile set "+slug+" bundle/schema.json", exitFailed)
	step("business-set", "business profile set "+slug+" bundle/publisher.json", exitOK)
	step("business-set", "business locations set "+slug+" locations.json", exitOK)
	step("business-set", "business calendar set "+slug+" bundle/calendar.json", exitOK)
	step("business-set", "business calendar remove "+slug, exitOK)
	step("business-set", "business schema set "+slug+" streams.json", exitOK)
	step("business-live", "business live "+slug+" readings.ndjson", exitFailed)
	step("business-set", "business schema remove "+slug, exitOK)
	step("business-lint", "business lint "+slug, exitOK)
	step("business-coverage", "business coverage "+slug+" --questions questions.txt", exitOK)
	step("failure", "business publish "+slug, exitRefused)
	step("business-prove", "business prove "+slug+" --host opticians.example.com --method well_known", exitOK)
	step("business-prove", "business prove "+slug+" --host opticians.example.com --method dns_txt", exitOK)
	step("business-prove-check", "business prove "+slug+" --host opticians.example.com --method dns_txt --check", exitFailed) // there is no resolver to ask
	step("business-receipt", "business verify "+slug+" --decision d1 --operator first", exitOK)
	step("business-receipt", "business verify "+slug+" --decision d1 --operator second --confirm", exitOK)
	step("business-receipt", "business verify "+slug+" --decision d2 --operator first", exitOK)
	step("business-receipt", "business verify "+slug+" --decision d2 --operator first --withdraw", exitOK)
	for _, verb := range []string{"publish", "pause", "resume", "suspend --reason x", "unsuspend"} {
		v, flags, _ := strings.Cut(verb, " ")
		step("business-receipt", "business "+v+" "+slug+" "+flags, exitOK)
	}
	id := member(step("token", "business token "+slug+" --scope import,publish --name till", exitOK), "id")
	step("tokens", "business tokens "+slug, exitOK)
	step("business-receipt", "business token revoke "+slug+" "+id, exitOK)
	id = member(step("token", "operator token second", exitOK), "id")
	step("tokens", "operator list", exitOK)
	step("business-receipt", "operator revoke "+id, exitOK)
	step("business-receipt", "business host add "+slug+" opticians.localhost", exitOK)
	step("business-show", "business show "+slug, exitOK)
	step("business-receipt", "business host remove "+slug+" opticians.localhost", exitOK)
	step("business-receipt", "business quota "+slug+" --records 10", exitOK)
	step("keys-business", "keys rotate "+slug, exitOK)
	step("keys-business", "keys revoke "+slug+" --reason key_compromise --from 2026-01-01T00:00:00Z --yes", exitOK)
	step("business-receipt", "business revoke "+slug+" --entity service/eye-test --reason error", exitOK)
	step("business-hours", "business hours 24/7 --zone Europe/London", exitOK)
	step("business-list", "business list", exitOK)
	checkRegistryKeyAnswers(t, step, member)
	checkVerifyAnswers(t, step, slug)
	step("business-receipt", "business withdraw "+slug+" --reason closed --yes", exitOK)
	step("business-show", "business show "+slug, exitOK)
	step("business-audit", "business audit", exitOK)
	step("business-audit", "business audit "+slug, exitOK)
	step("doctor", "doctor --integrity", exitOK)

	entries, err := fs.Glob(schemas, "schema/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		if name = filepath.Base(name); !seen[name] && ofRegistry(name) {
			t.Errorf("no command answers by %s", name)
		}
	}
}

// ofRegistry reports the schemas of answers that TestBusinessAnswers holds.
func ofRegistry(name string) bool {
	switch name {
	case "init.json", "doctor.json", "token.json", "tokens.json", "verify-business.json", "check-several.json", "keys-business.json", "ask.json":
		return true
	}
	return strings.HasPrefix(name, "business-") || strings.HasPrefix(name, "keys-registry-")
}

type answerStep = func(schema, args string, code exitCode) string

func checkRegistryKeyAnswers(t *testing.T, step answerStep, member func(answer, name string) string) {
	t.Helper()
	old := member(step("keys-registry-list", "keys registry list", exitOK), "keys")
	entry := step("keys-registry-entry", "keys registry prepare", exitOK)
	writeFile(t, "entry.json", entry)
	writeFile(t, "signed.json", step("keys-registry-entry", "keys registry sign entry.json", exitOK))
	step("business-receipt", "keys registry install signed.json", exitOK)
	_, kid, _ := strings.Cut(old, `"registry-`)
	kid, _, _ = strings.Cut(kid, `"`)
	writeFile(t, "withdrawal.json", step("keys-registry-withdrawal", "keys registry sign --revoke registry-"+kid+" --reason superseded --until 2026-01-01T00:00:00Z", exitOK))
	step("business-receipt", "keys registry install withdrawal.json", exitOK)
	step("business-receipt", "keys registry revoke registry-"+kid+" --reason superseded --until 2026-01-01T00:00:00Z --yes", exitOK)
}

func checkVerifyAnswers(t *testing.T, step answerStep, slug string) {
	t.Helper()
	figures, err := samplePublisher()
	if err != nil {
		t.Fatal(err)
	}
	origin, closing, err := serveRegistry("d", figures)
	if err != nil {
		t.Fatal(err)
	}
	defer closing()
	step("verify-business", "verify "+origin+"/b/"+slug, exitFailed)
	step("verify-business", "verify "+origin+"/b/"+slug+" --root d/root.pub.json", exitOK)
	step("failure", "ask "+origin+"/b/nobody hours", exitNotFound)
	step("ask", "ask "+origin+"/b/"+slug+" hours", exitFailed)
	step("ask", "ask "+origin+"/b/"+slug+" hours --root d/root.pub.json", exitOK)
	step("ask", "ask "+origin+"/b/"+slug+" boats --accept-unconfirmed", exitOK)
	step("check-several", "check "+origin+" --no-sources", exitOK)
	step("check", "check "+origin+" --protocol x --root d/root.pub.json", exitOK)
}

// An interrupt ends an act on the registry as it ends every other command.
func TestInterruptedAct(t *testing.T) {
	data := t.TempDir()
	if code, _, errs := invoke(t, nil, "init", "--yes", "--data", data); code != 0 {
		t.Fatal(errs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	quietEnvironment(t)
	if code := run(ctx, []string{"business", "list", "--data", data}, strings.NewReader(""), io.Discard, io.Discard, nil); code != int(exitInterrupted) {
		t.Errorf("exit %d", code)
	}
}

// A refusal of the registry keeps its code and its exit code, and an interrupt is one whatever it ended.
func TestRegistryFailure(t *testing.T) {
	interrupted := &failure{}
	if err := registryFailure(errors.Join(errors.New("commit"), context.Canceled)); errors.As(err, &interrupted) || !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt became %v", err)
	}
	if _, err := operator("t-0123456789abcdef"); err == nil {
		t.Error("a label that looks like a token is taken")
	}
	if actor, err := operator(""); err != nil || !actor.Operator() {
		t.Errorf("nobody acts: %v", err)
	}
}
