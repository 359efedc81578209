package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/describe"
	"sayso/facts/factshttp"
	"sayso/facts/factstest"
	"sayso/internal/config"
	"sayso/report"
)

// serveDataset serves a dataset as its own publisher would, signed for where it is served.
func serveDataset(t *testing.T, ds *facts.Dataset) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	t.Cleanup(server.Close)
	origin := "http://" + server.Listener.Addr().String()
	ds.Publisher.URL = origin
	dataset.SignDataset(ds, factstest.Key(), factstest.Today)
	snapshot, err := facts.NewSnapshot(ds, facts.Options{Origin: origin, Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return snapshot }})
	server.Start()
	return origin
}

func sample() *facts.Dataset {
	ds := factstest.Sample()
	ds.Changes = factstest.Changelog(ds)
	return ds
}

func invented() *facts.Dataset {
	return factstest.Generate(factstest.Options{Facts: 60, Seed: 3, Changes: true})
}

// declared makes publishers as the settings name them.
func declared(origins ...string) publishers {
	var ps publishers
	for _, origin := range origins {
		ps = append(ps, &publisher{Client: factshttp.NewClient(origin, factshttp.ClientOptions{Fetch: newFetch(origin)}), declared: true})
	}
	return ps
}

// call runs a tool and returns its document, or the text of its error.
func call(t *testing.T, tools *readerTools, name string, args any) (doc map[string]any, failure string) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	result, ok := tools.Call(t.Context(), name, text)
	switch {
	case !ok:
		t.Fatalf("no tool %s", name)
	case result.IsError:
		return nil, result.Text
	}
	if err := json.Unmarshal(result.JSON, &doc); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, result.JSON)
	}
	return doc, ""
}

func TestToolsOverSeveralPublishers(t *testing.T) {
	first, second := serveDataset(t, sample()), serveDataset(t, invented())
	ps := declared(first, second, "http://127.0.0.1:1")
	var unreached []error
	tools := newReaderTools(t.Context(), ps, func(err error) { unreached = append(unreached, err) })
	if len(unreached) != 1 || !strings.Contains(tools.Instructions(), "figures") || len(tools.Definitions()) != 3 {
		t.Errorf("unreached %v, instructions %q", unreached, tools.Instructions())
	}
	known := slices.Collect(func(yield func(string) bool) {
		for _, f := range invented().Facts {
			if !yield(f.Key) {
				return
			}
		}
	})

	doc, failure := call(t, tools, describe.ToolGet, map[string]string{"key": known[0]})
	verification, _ := doc["verification"].(map[string]any)
	if failure != "" || doc["key"] != known[0] || verification["origin"] != second {
		t.Errorf("a key of the second publisher: %q, %v", failure, doc)
	}
	if doc, failure = call(t, tools, describe.ToolGet, map[string]string{"key": "uk/bank-rate," + known[0] + ",qq-a/b"}); failure != "" || doc["count"] != 3.0 {
		t.Errorf("batch: %q, %v", failure, doc)
	}
	// Somebody who may hold the key could not be asked: that is no miss.
	if _, failure = call(t, tools, describe.ToolGet, map[string]string{"key": "qq-a/b"}); !strings.Contains(failure, "cannot be reached") {
		t.Errorf("a key that only the silent publisher may hold: %q", failure)
	}
	reachable := &readerTools{publishers: ps[:2], catalogue: tools.catalogue}
	if _, failure = call(t, reachable, describe.ToolGet, map[string]string{"key": "qq-a/b"}); !strings.Contains(failure, "no publisher here declares") {
		t.Errorf("a namespace nobody declares: %q", failure)
	}
	if doc, failure = call(t, tools, describe.ToolChanges, map[string]any{"since": "1990-01-01", "limit": 200}); failure != "" || !strings.Contains(doc["note"].(string), "127.0.0.1:1") {
		t.Errorf("the silent publisher is not named: %q, %v", failure, doc["note"])
	}
}

// Pages of several publishers go on where they ended: no entry is lost or told twice.
func TestToolsPageChangesOfSeveralPublishers(t *testing.T) {
	a, b := sample(), invented()
	want := len(a.Changes) + len(b.Changes)
	tools := newReaderTools(t.Context(), declared(serveDataset(t, a), serveDataset(t, b)), func(err error) { t.Error(err) })
	seen := map[string]bool{}
	cursors := []string{""}
	for len(cursors) > 0 {
		args := map[string]any{"since": "1900-01-01", "limit": 7}
		if cursors[0] != "" {
			args["cursor"] = cursors[0]
		}
		cursors = cursors[1:]
		doc, failure := call(t, tools, describe.ToolChanges, args)
		if failure != "" {
			t.Fatal(failure)
		}
		for _, one := range doc["publishers"].([]any) {
			page := one.(map[string]any)
			for _, e := range page["entries"].([]any) {
				entry := e.(map[string]any)
				id := page["origin"].(string) + entry["hash"].(string) + entry["verifiedDate"].(string) + entry["key"].(string)
				if seen[id] {
					t.Errorf("%v stands on two pages", entry)
				}
				seen[id] = true
			}
			if next, ok := page["next"].(string); ok {
				cursors = append(cursors, next)
			}
		}
	}
	if len(seen) != want {
		t.Errorf("%d entries on all pages, there are %d", len(seen), want)
	}
	for _, cursor := range []string{"9:1", "x", "0:1", "1:nonsense"} {
		if _, failure := call(t, tools, describe.ToolChanges, map[string]any{"since": "1900-01-01", "cursor": cursor}); !strings.Contains(failure, "cursor") {
			t.Errorf("cursor %q: %q", cursor, failure)
		}
	}
}

// The same key at two publishers is corroboration, not a rival.
func TestResolveOverSeveralPublishers(t *testing.T) {
	ps := declared(serveDataset(t, sample()), serveDataset(t, sample()))
	r, err := ps.resolve(t.Context(), "bank rate uk", "", 5)
	if err != nil || r.best == nil || r.best.publisher != ps[0] || len(r.Candidates) < 2 || r.Candidates[0].Key != r.Candidates[1].Key {
		t.Fatalf("%v, %+v", err, r)
	}
	for name, c := range map[string]struct {
		candidates []candidate
		want       bool
	}{
		"alone":                    {[]candidate{{Key: "a/b", thousandths: 900}}, true},
		"the same key twice":       {[]candidate{{Key: "a/b", thousandths: 900}, {Key: "a/b", thousandths: 900}}, true},
		"a rival at 800":           {[]candidate{{Key: "a/b", thousandths: 1000 - 60}, {Key: "c/d", thousandths: 800}}, false},
		"a rival 199 below":        {[]candidate{{Key: "a/b", thousandths: 900}, {Key: "c/d", thousandths: 701}}, false},
		"a rival 200 below":        {[]candidate{{Key: "a/b", thousandths: 900}, {Key: "c/d", thousandths: 700}}, true},
		"an alias beside a rival":  {[]candidate{{Key: "a/b", thousandths: 950}, {Key: "c/d", thousandths: 900}}, true},
		"an exact key elsewhere":   {[]candidate{{Key: "c/d", thousandths: 1000}, {Key: "a/b", thousandths: 950}}, false},
		"a better rival elsewhere": {[]candidate{{Key: "c/d", thousandths: 900}, {Key: "a/b", thousandths: 810}}, false},
	} {
		if got := (&resolution{Candidates: c.candidates}).clear("a/b"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A static publisher serves no misses: the reader writes them (F§5.3), and verifies an unsigned record by its hash.
func TestToolsOverAStaticPublisher(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	t.Cleanup(server.Close)
	folder, _ := dataset.Load(os.DirFS("testdata/figures"))
	if _, err := dataset.Build(t.Context(), folder, dataset.BuildOptions{Origin: server.URL, Out: out, Level: "L1", Today: today()}); err != nil {
		t.Fatal(err)
	}
	tools := newReaderTools(t.Context(), declared(server.URL), func(err error) { t.Error(err) })
	doc, failure := call(t, tools, describe.ToolGet, map[string]string{"key": "uk/income-tax/personal-allowance"})
	if failure != "" || doc["value"] != 12570.0 {
		t.Errorf("%q, %v", failure, doc)
	}
	if doc, failure = call(t, tools, describe.ToolGet, map[string]string{"key": "uk/income-tax/personal-allowence"}); failure != "" || doc["error"] != facts.ErrorUnknownKey || doc["covered"] != false {
		t.Errorf("unknown key: %q, %v", failure, doc)
	}
	if doc, failure = call(t, tools, describe.ToolGet, map[string]string{"key": "uk/income-tax/personal-allowance", "period": "1999-00"}); failure != "" || doc["covered"] != false || doc["reason"] != facts.ReasonNotHeld {
		t.Errorf("period not held: %q, %v", failure, doc)
	}
	if doc, failure = call(t, tools, describe.ToolChanges, map[string]string{"since": "2026-03-02"}); failure != "" || doc["count"] != 1.0 {
		t.Errorf("changes: %q, %v", failure, doc)
	}
}

// Parts 1 to 3 and pins decide whether a record is passed on; part 4 does not (F§13).
func TestJudge(t *testing.T) {
	part := func(value string) facts.Part { return facts.Part{Value: value, Reason: "because\x1b"} }
	good := facts.Verification{Hash: part("valid"), Signature: part("valid"), KeyAcceptable: part("yes"), ClaimCurrent: part("current")}
	with := func(change func(*facts.Verification)) facts.Verification { v := good; change(&v); return v }
	for name, c := range map[string]struct {
		v        facts.Verification
		findings []report.Finding
		refused  bool
		untested bool
	}{
		"all hold":          {v: good},
		"stale":             {v: with(func(v *facts.Verification) { v.ClaimCurrent = part("stale") })},
		"unsigned":          {v: with(func(v *facts.Verification) { v.Signature, v.KeyAcceptable = part("absent"), part("not_tested") })},
		"hash":              {v: with(func(v *facts.Verification) { v.Hash = part("invalid") }), refused: true},
		"signature":         {v: with(func(v *facts.Verification) { v.Signature = part("invalid") }), refused: true},
		"key":               {v: with(func(v *facts.Verification) { v.KeyAcceptable = part("no") }), refused: true},
		"unknown key":       {v: with(func(v *facts.Verification) { v.Signature, v.KeyAcceptable = part("not_tested"), part("no") }), refused: true},
		"keys out of reach": {v: with(func(v *facts.Verification) { v.Signature, v.KeyAcceptable = part("not_tested"), part("not_tested") }), refused: true, untested: true},
		"hash and no keys": {v: with(func(v *facts.Verification) {
			v.Hash, v.Signature, v.KeyAcceptable = part("invalid"), part("not_tested"), part("not_tested")
		}), refused: true},
		"a pin that fails":     {v: good, findings: []report.Finding{{Outcome: report.Fail, Message: "not pinned"}}, refused: true},
		"a warning beside it":  {v: good, findings: []report.Finding{{Outcome: report.Warning, Message: "another publisher"}}},
		"unsigned, pin passes": {v: with(func(v *facts.Verification) { v.Signature, v.KeyAcceptable = part("absent"), part("not_tested") }), findings: []report.Finding{{Outcome: report.Pass}}},
	} {
		o := judge(&c.v, c.findings)
		if (o.refusal != "") != c.refused || o.untested != c.untested || strings.ContainsRune(o.refusal, '\x1b') {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// What may be typed: https, and http on this machine alone.
func TestTypedOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://figures.example": "https://figures.example", "https://Figures.Example/": "https://figures.example", "http://127.0.0.1:8470": "http://127.0.0.1:8470",
		"http://localhost:1": "http://localhost:1", "http://[::1]:8470/": "http://[::1]:8470",
		"http://figures.example": "", "http://127.0.0.1.example": "", "http://10.0.0.1": "", "http://2130706433": "", "figures.example": "", "127.0.0.1:8470": "",
		"https://u@figures.example": "", "https://figures.example/f": "", "https://figures.example?x": "", "https://figures.example#x": "", "file:///etc/passwd": "", "": "", "ftp://127.0.0.1": "",
	} {
		got, err := typedOrigin(text)
		var f *failure
		if got != want || (err == nil) != (want != "") || err != nil && (!errors.As(err, &f) || f.code != exitUsage) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestPins(t *testing.T) {
	pin := pinOf(config.Publisher{Pin: "abc, def sha256:00"})
	if !slices.Equal(pin.Keys, []string{"abc", "def"}) || pin.ChainHead != "sha256:00" {
		t.Errorf("%+v", pin)
	}
	if pin = pinOf(config.Publisher{}); pin.Keys != nil || pin.ChainHead != "" {
		t.Errorf("no pin: %+v", pin)
	}
}

func TestWithMember(t *testing.T) {
	got, err := withMember([]byte("{\"a\":1} \n"), "b", 2)
	if err != nil || string(got) != `{"a":1,"b":2}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{"", "[]", "{}", "1", "{"} {
		if got, err := withMember([]byte(bad), "b", 2); err == nil {
			t.Errorf("%q gave %s", bad, got)
		}
	}
}

// A publisher that does not end its answer does not hold the reader: the context does.
func TestCallEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	tools := &readerTools{publishers: declared(server.URL)}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan describe.Result, 1)
	go func() {
		r, _ := tools.Call(ctx, describe.ToolGet, []byte(`{"key":"uk/a/b"}`))
		done <- r
	}()
	select {
	case r := <-done:
		if !r.IsError {
			t.Errorf("an answer from nobody: %s", r.JSON)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the call did not end")
	}
}
