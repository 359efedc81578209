package cli

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sayso/jcs"
)

// memberOf finds the first member of a name anywhere in a JSON text, "" when there is none.
func memberOf(text []byte, name string) string {
	if members, err := jcs.Members(text); err == nil {
		for _, m := range members {
			if m.Name == name {
				if s, ok := jcs.Text(m.Value); ok {
					return s
				}
				return string(m.Value)
			}
		}
		for _, m := range members {
			if found := memberOf(m.Value, name); found != "" {
				return found
			}
		}
		return ""
	}
	var elements []jcs.Raw
	if jcs.Decode(text, &elements) == nil {
		for _, element := range elements {
			if found := memberOf(element, name); found != "" {
				return found
			}
		}
	}
	return ""
}

// pickCommand sets a variable to the first member of a name in an answer.
func pickCommand(ts *testscript.TestScript, _ bool, args []string) {
	found := memberOf([]byte(strings.TrimSpace(ts.ReadFile(args[0]))), args[1])
	if found == "" {
		ts.Fatalf("%s has no member %s", args[0], args[1])
	}
	ts.Setenv(args[2], found)
}

// filled is a form of interest new with values put in.
func filled(t *testing.T, name string, values map[string]string) {
	t.Helper()
	_, out, errs := invoke(t, nil, "interest", "new", "--profile", "corporate-transaction")
	if errs != "" {
		t.Fatal(errs)
	}
	values["principal_ref"], values["object"], values["expires_at"] = name, "company", time.Now().Add(60*24*time.Hour).UTC().Format(time.RFC3339)
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if value, ok := values[key]; ok && strings.Contains(line, ": null") {
			lines[i] = line[:strings.Index(line, ":")] + ": " + value
		}
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// dependent lets an interest depend on a name that the other side of a session may have.
func dependent(t *testing.T, name, on string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, strings.NewReplacer("conditional_on: []", "conditional_on: ["+on+"]", "conditional_on: evaluation_only", "conditional_on: session").Replace(string(text)))
}

// background serves a data folder in this process until the test ends, and returns its answer and what it announced.
func background(t *testing.T, data string, args ...string) (answer string, found instance) {
	t.Helper()
	quietEnvironment(t)
	ctx, stop := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append(args, "--json", "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"), http.NoBody, &out, &errs, nil)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("%v: exit %d\n%s", args, code, errs.String())
		}
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(data, instanceFile))
		if err != nil || jcs.Decode(text, &found) != nil {
			continue
		}
		if _, err := fetchReadiness(t.Context(), found.Admin); err == nil {
			return out.String(), found
		}
	}
	t.Fatalf("%v does not serve\n%s", args, errs.String())
	return "", found
}

// TestInterestAnswers is the life of two interests, from the form to the handover, each answer compared with its schema: the seller beside a server, the buyer without one.
func TestInterestAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("shared", 0o700); err != nil {
		t.Fatal(err)
	}
	filled(t, "seller", map[string]string{"sector": "crm_software", "geography": "munich", "enterprise_value_eur": "24000000", "organisation_name": "Example Seller", "registration_id": "HRB 1"})
	filled(t, "buyer", map[string]string{"sector": "crm_software", "geography": "munich", "enterprise_value_eur": "{min: 20000000}"})
	dependent(t, "buyer", "bank_loan")
	seen := map[string]bool{}
	step := func(schema, args string, code exitCode) []byte {
		t.Helper()
		got, out, errs := invoke(t, nil, append(strings.Fields(args), "--json")...)
		if got != int(code) {
			t.Fatalf("%s: exit %d, want %d\n%s%s", args, got, code, out, errs)
		}
		conforms(t, schema, out)
		seen[schema+".json"] = true
		return []byte(strings.TrimSpace(out))
	}
	step("interest-new", "interest new --profile corporate-transaction --delegation advanced", exitOK)
	step("interest-new", "interest new --profile partnership --out form.yaml", exitOK)
	step("interest-check", "interest check form.yaml", exitFailed)
	step("interest-check", "interest check seller", exitOK)
	step("failure", "interest add form.yaml --data shared/none", exitFailed)
	if _, err := os.Stat("shared/none"); err == nil {
		t.Error("a form that cannot be used has made a data folder")
	}
	_, at := background(t, "provider", "provider", "serve")
	sellers := memberOf(step("interest", "interest add seller --data s", exitOK), "id")
	served, door := background(t, "s", "interest", "serve", "--provider", at.Origin)
	conforms(t, "interest-serve", served)
	seen["interest-serve.json"] = true
	if out := step("interest-activate", "interest activate "+sellers+" --data s", exitOK); !strings.Contains(string(out), `"state":"published"`) {
		t.Fatalf("beside a server with a provider: %s", out)
	}
	buyers := memberOf(step("interest", "interest add buyer --data b", exitOK), "id")
	step("failure", "interest explore "+buyers+" --data b --provider "+at.Origin, exitRefused)
	step("interest-activate", "interest activate "+buyers+" --data b", exitOK)
	step("failure", "interest explore "+buyers+" --data b", exitUsage)
	step("interest-explore", "interest explore "+buyers+" --data b --provider http://"+door.Listen, exitUnavailable)
	if out := step("interest-explore", "interest explore "+buyers+" --data b --provider "+at.Origin, exitOK); memberOf(out, "state") != "done" || !strings.Contains(string(out), `"QUALIFIED"`) {
		t.Fatalf("the search came to %s", out)
	}
	lead := memberOf(step("interest-opportunities", "interest opportunities --data b", exitOK), "id")
	step("failure", "interest expand "+lead+" --data b --provider "+at.Origin, exitRefused)
	step("failure", "interest expansions --data b", exitRefused)
	step("failure", "interest expand "+lead+" --data b --experimental-multi-party", exitUsage)
	step("failure", "interest expand "+lead+" other --data b --experimental-multi-party --provider "+at.Origin, exitFailed)
	if out := step("interest-expand", "interest expand "+lead+" bank_loan --data b --experimental-multi-party --provider "+at.Origin, exitOK); memberOf(out, "state") != "open" || memberOf(out, "sessions") != "1" {
		t.Errorf("nobody else is there: %s", out)
	}
	if out := step("interest-expansions", "interest expansions --data b --experimental-multi-party", exitOK); !strings.Contains(string(out), `"name":"bank_loan"`) {
		t.Errorf("the record is %s", out)
	}
	if _, out, errs := invoke(t, nil, "interest", "expansions", "--data", "b", "--experimental-multi-party"); errs != "" || !strings.Contains(out, "experimental  open  of ") || !strings.Contains(out, "bank_loan  open  a condition") {
		t.Errorf("%s%s", out, errs)
	}
	step("interest-session", "interest request "+lead+" reveal_identity --key organisation_name --data b", exitOK)
	step("failure", "interest request "+lead+" contact --data b", exitRefused)
	step("interest-session", "interest request "+lead+" evidence --data b", exitOK)
	step("failure", "interest request "+lead+" evidence --data b", exitRefused)
	entry := waitingEntry(t, "s")
	step("interest-inbox", "interest inbox --data s", exitOK)
	step("interest-entry", "interest inbox "+entry+" --data s", exitOK)
	step("interest-entry", "interest show "+entry+" --data s", exitOK)
	if page := get(t, "http://"+door.Admin+"/inbox/"+entry); !strings.Contains(page, "Example Seller") || strings.Contains(page, "24000000") {
		t.Errorf("the page of the entry shows %s", page)
	}
	if answer := get(t, "http://"+door.Listen+"/inbox"); strings.Contains(answer, "<h1") {
		t.Error("the inbox is on the public listener")
	}
	step("failure", "interest approve "+entry+" --only registration_id --data s", exitFailed)
	step("interest-entry", "interest approve "+entry+" --only organisation_name --data s", exitOK)
	step("failure", "interest approve "+entry+" --data s", exitRefused)
	step("failure", "interest decline none --data s", exitNotFound)
	step("interest-inbox", "interest inbox --all --data s", exitOK)
	_, _ = background(t, "b", "interest", "serve", "--provider", at.Origin)
	step("interest-entry", "interest approve "+waitingEntry(t, "s")+" --data s", exitOK) // the value itself has its own gate
	until(t, func() bool {
		out := step("interest-sessions", "interest sessions "+buyers+" --data b", exitOK)
		return strings.Contains(string(out), "Example Seller")
	})
	before := sellers // the session goes on under a new version, which answers the rest
	sellers = memberOf(step("interest", "interest supersede "+before+" seller --continue --data s", exitOK), "id")
	if out := step("interest-sessions", "interest sessions "+sellers+" --data s", exitOK); memberOf(out, "began_under") != before || memberOf(out, "state") == "CLOSED" {
		t.Errorf("after %s the sessions are %s", before, out)
	}
	step("interest-session", "interest request "+lead+" handoff --target human:case-17 --data b", exitOK)
	step("interest-entry", "interest decline "+waitingEntry(t, "s")+" --data s", exitOK)
	until(t, func() bool { // the first answer has to arrive before it can be asked again
		code, _, _ := invoke(t, nil, "interest", "request", lead, "handoff", "--target", "human:case-18", "--data", "b")
		return code == 0
	})
	step("interest-entry", "interest approve "+waitingEntry(t, "s")+" --data s", exitOK)
	until(t, func() bool {
		out := step("interest-sessions", "interest sessions --data b", exitOK)
		return memberOf(out, "target") == "human:case-18"
	})
	step("interest-session", "interest close "+lead+" --data b", exitOK)
	step("interest-list", "interest list --data s", exitOK)
	step("interest-show", "interest show "+sellers+" --data s", exitOK)
	step("interest", "interest suspend "+sellers+" --data s", exitOK)
	step("interest", "interest resume "+sellers+" --data s", exitOK)
	step("interest", "interest confirm "+sellers+" --data s", exitOK)
	filled(t, "budgeted", map[string]string{"sector": "crm_software", "geography": "munich", "enterprise_value_eur": "24000000", "transaction_value": "12"})
	text, err := os.ReadFile("budgeted")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "budgeted.yaml", strings.NewReplacer("principal_ref: budgeted", "principal_ref: seller", "budgets: {}", "budgets: {transaction_value: {bits: 2, domain: {min: 0, max: 31, step: 1}}}").Replace(string(text)))
	second := memberOf(step("interest", "interest supersede "+sellers+" budgeted.yaml --data s", exitOK), "id")
	step("interest-budget", "interest budget "+second+" transaction_value --data s", exitOK)
	step("interest-budget", "interest budget "+second+" transaction_value --bits 3 --data s", exitOK)
	step("failure", "interest budget "+second+" sector --data s", exitNotFound)
	step("failure", "interest budget "+second+" transaction_value --bits -1 --data s", exitUsage)
	step("interest-show", "interest show "+second+" --data s", exitOK)
	step("failure", "interest budget "+second+" --restored --data s", exitUsage)
	step("interest-frozen", "interest budget --restored --data s", exitOK)
	if out := step("interest-budget", "interest budget "+second+" transaction_value --data s", exitOK); memberOf(out, "frozen") != "true" {
		t.Errorf("after a restore: %s", out)
	}
	step("interest-budget", "interest budget "+second+" transaction_value --approve --data s", exitOK)
	credentials(t, step, second)
	step("interest-audit", "interest audit "+second+" --data s", exitOK)
	if out := step("interest-audit-verify", "interest audit verify --data s", exitOK); memberOf(out, "ok") != "true" {
		t.Errorf("%s", out)
	}
	step("interest", "interest revoke "+second+" --data s", exitOK)
	if answer := get(t, "http://"+door.Admin+"/metrics"); !strings.Contains(answer, "sayso_gidp_interests 3") && !strings.Contains(answer, "sayso_gidp_interests 2") {
		t.Errorf("/metrics has no count of interests")
	}

	entries, err := fs.Glob(schemas, "schema/interest*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range entries {
		if name = filepath.Base(name); !seen[name] {
			t.Errorf("no command answers by %s", name)
		}
	}
}

// credentials takes attestations of a guild through the commands, and believes the guild.
func credentials(t *testing.T, step func(schema, args string, code exitCode) []byte, id string) {
	t.Helper()
	if code, out, errs := invoke(t, nil, "keys", "new", "--kid", "guild-2026-10", "--out", "guild.jwk"); code != 0 {
		t.Fatal(out, errs)
	} else {
		writeFile(t, "guild.pub.json", out)
	}
	writeFile(t, "request.json", string(step("interest-credentials-request", "interest credentials request "+id+" --count 2 --data s", exitOK)))
	writeFile(t, "batch.json", string(step("interest-credentials-batch", "interest credentials issue request.json --key guild.jwk --property member:guild.example", exitOK)))
	added := step("interest-credentials", "interest credentials add "+id+" batch.json --data s", exitOK)
	step("failure", "interest credentials add "+id+" batch.json --data s", exitRefused)
	if out := step("interest-credentials-list", "interest credentials list "+id+" --data s", exitOK); memberOf(out, "left") != "2" {
		t.Errorf("%s", out)
	}
	if trusted := step("interest-trust", "interest trust add member:guild.example guild.pub.json --data s", exitOK); memberOf(trusted, "issuer") != memberOf(added, "issuer") {
		t.Errorf("%s and %s name two issuers", trusted, added)
	}
	step("interest-trust", "interest trust add member:guild.example --provider https://provider.example --data s", exitOK)
	step("interest-trust-list", "interest trust list --data s", exitOK)
	step("interest-trust", "interest trust remove member:guild.example "+memberOf(added, "issuer")+" --data s", exitOK)
	step("failure", "interest trust remove member:guild.example "+memberOf(added, "issuer")+" --data s", exitNotFound)
	step("interest-credentials-removed", "interest credentials remove "+id+" member:guild.example --data s", exitOK)
}

// waitingEntry waits for a decision to wait.
func waitingEntry(t *testing.T, data string) (id string) {
	t.Helper()
	until(t, func() bool {
		_, out, _ := invoke(t, nil, "interest", "inbox", "--data", data, "--json")
		id = memberOf([]byte(strings.TrimSpace(out)), "id")
		return id != ""
	})
	return id
}

func until(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal("it never happened")
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
