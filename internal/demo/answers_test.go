package demo_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/examples"
	"sayso/internal/demo"
	"sayso/safefetch"
)

// asked are the steps of the walk in order, with the status and a text that their answers have to show.
var asked = []struct{ title, status, shown string }{
	{"Readings from the shelves", "", `"accepted":4`},
	{"A yes", "resolved", ": yes"},
	{"A published no", "resolved", "no, as published"},
	{"Not in a closed list", "resolved", "not in the list that the business declares complete"},
	{"A price on request", "resolved", "on request"},
	{"Two prices", "needs_context", "product/monthly"},
	{"And the one that is meant", "resolved", "price: 25"},
	{"What nobody published", "not_covered", `"laser"`},
	{"Half of a question", "partial", `"gym"`},
	{"What stands on the shelf now", "resolved", `"shelf_count": 3`},
	{"A reading that is too old", "partial", "stale: not what is so now"},
	{"The nearest of 1,565", "resolved", "385 m"},
	{"In German", "resolved", "price: 120"},
	{"In Spanish", "resolved", "price: 70"},
	{"Without a client of ours", "", `"price":30`},
	{"The same answer, changed on the way", "", "signature invalid"},
	{"At the registry's front door", "", `"price":180`},
}

const goodFindings = "signature valid · identity confirmed · authority current · revocation clean"

// client makes a client that reaches an origin on this machine.
func client(origin string) func() *safefetch.Client {
	return func() *safefetch.Client {
		policy := bizhttp.AskBounds()
		policy.Loopback = []string{safefetch.LoopbackOf(origin)}
		return safefetch.New(policy)
	}
}

// ask takes the steps of the answers against a root.
func (s *setting) ask(t *testing.T, root business.Root) (steps []demo.Step) {
	t.Helper()
	token, back, err := s.LendToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = demo.WalkAnswers(t.Context(), demo.AnswerWalk{
		Reader: demo.Options{Origin: s.origin, Fetch: client(s.origin)(), Run: s.verify(t)},
		Admin:  s.admin, Token: token, Root: root, Pin: s.Pin, Client: client(s.origin), Now: s.Now,
	}, func(step demo.Step) { steps = append(steps, step) })
	if err = errors.Join(err, back()); err != nil {
		t.Fatal(err)
	}
	if len(steps) != len(asked) {
		t.Fatalf("%d steps, want %d", len(steps), len(asked))
	}
	return steps
}

// One question of each kind has the answer of its kind, with good findings, and again in a kept folder whose readings are there already.
func TestAnswers(t *testing.T) {
	data := t.TempDir()
	for range 2 {
		s, end := open(t, data)
		steps := s.ask(t, s.Root)
		wellTold(t, steps)
		for i, want := range asked {
			step := steps[i]
			answer := strings.Join(step.Answer, "\n")
			if step.Title != want.title || want.status != "" && !slices.Contains(step.Answer, "status "+want.status) || !strings.Contains(answer, want.shown) {
				t.Errorf("%d is %q, want %q with status %q and %q:\n%s", i, step.Title, want.title, want.status, want.shown, answer)
			}
			signed := i > 0 && want.shown != "signature invalid"
			if signed != slices.Contains(step.Answer, goodFindings) {
				t.Errorf("%s: findings of\n%s", step.Title, answer)
			}
			if want.status == "needs_context" && (strings.Contains(answer, "25") || strings.Contains(answer, "18")) {
				t.Errorf("%s shows a price that is withheld:\n%s", step.Title, answer)
			}
		}
		end()
	}
}

// altered are the samples with other content: each change makes another answer of one step at least.
func altered(t *testing.T) fs.FS {
	t.Helper()
	changes := map[string][]string{ // file -> old, new, old, new, …
		"kessler-garage/publisher.json":        {`"courtesy_car":true`, `"courtesy_car":false`},
		"brightwater-opticians/publisher.json": {`"parking":false`, `"parking":true`},
		"brightwater-opticians/records.csv": {
			"frame repair,,,on_request,", "frame repair,12,,,", "Daily contact lenses,,,25,", "Daily contact lenses,,,18,",
			"eye test|sight test,30,", "eye test|sight test,31,", "product,daily", "service,laser,Laser eye surgery,,,900,,,,,,\nproduct,daily",
		},
		"marina-dental/schema.json":      {`"closed":true,`, ""},
		"marina-dental/records.jsonl":    {`"price":70`, `"price":71`, `"price":180`, `"price":181`},
		"hotel-alpenblick/schema.json":   {`"wi fi"`, `"gym"`},
		"hotel-alpenblick/records.jsonl": {`"price":120`, `"price":121`},
		"hammer-and-nail/schema.json":    {`"key":"shelf_count"`, `"key":"shelf_stock"`},
		"open-stores/publisher.json":     {`"8918"`, `"89180"`},
	}
	samples, err := fs.Sub(examples.Business, "business")
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	err = fs.WalkDir(samples, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(samples, name)
		for old := range slices.Chunk(changes[name], 2) {
			if !bytes.Contains(text, []byte(old[0])) {
				t.Errorf("%s does not have %s", name, old[0])
			}
			text = bytes.ReplaceAll(text, []byte(old[0]), []byte(old[1]))
		}
		delete(changes, name)
		out[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil || len(changes) > 0 {
		t.Fatalf("%v; not there: %v", err, changes)
	}
	return out
}

// Whatever differs is said: where the samples answer otherwise, no step passes.
func TestAnswersThatDifferAreTold(t *testing.T) {
	s, end := openWith(t, t.TempDir(), altered(t))
	defer end()
	for _, step := range s.ask(t, s.Root) {
		if step.Problem == "" {
			t.Errorf("%s: no problem\n%s", step.Title, strings.Join(step.Answer, "\n"))
		}
		short(t, &step)
	}
}

// Under another pinned root nothing of the answers is shown, and each step says that it is not as told.
func TestAnswersUnderAnotherRoot(t *testing.T) {
	s, end := open(t, t.TempDir())
	defer end()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range s.ask(t, business.Root{Kid: s.Root.Kid, Public: public}) {
		answer := strings.Join(step.Answer, "\n")
		if strings.Contains(answer, "status ") || strings.Contains(answer, goodFindings) {
			t.Errorf("%s shows\n%s", step.Title, answer)
		}
		// What is pushed needs no root, and what is verified by the command has the true one.
		if untouched := i == 0 || asked[i].shown == "signature invalid"; untouched != (step.Problem == "") {
			t.Errorf("%s: problem %q\n%s", step.Title, step.Problem, answer)
		}
	}
}

// A walk against a server that answers wrongly has a problem in every step, and lines that stay short and plain.
func TestAnswerWalkTellsWhatIsNotAsTold(t *testing.T) {
	for name, body := range map[string]string{
		"no JSON": "\x1b[31mhello", "empty object": "{}", "endless line": strings.Repeat("é", 5000),
		"no envelope": `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"coverage\":{\"status\":\"resolved\"},\"result\":{\"records\":[7]}}"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			answering := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }))
			defer answering.Close()
			steps := 0
			err := demo.WalkAnswers(t.Context(), demo.AnswerWalk{
				Reader: demo.Options{Origin: answering.URL, Fetch: client(answering.URL)(), Run: func([]string, []byte) (string, int) { return "nothing\n", 0 }},
				Admin:  answering.URL, Token: "sayso-operator-0", Client: client(answering.URL), Now: time.Now,
			}, func(step demo.Step) {
				steps++
				if step.Problem == "" {
					t.Errorf("%s: no problem", step.Title)
				}
				short(t, &step)
			})
			if err != nil || steps != len(asked) {
				t.Errorf("%d steps, %v", steps, err)
			}
		})
	}
}
