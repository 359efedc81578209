package describe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/describe"
	"sayso/facts/factstest"
	"sayso/jwk"
)

func TestFactsJSON_F8_1(t *testing.T) {
	table := []string{"protocol", "publisher", "conformance", "updated", "facts", "namespaces", "hash", "signature", "keys", "changes", "openapi", "mcp",
		"schema", "specification", "licence", "contact", "keyPolicy", "history", "selfCheck"}
	for _, v := range variants() {
		doc := describe.FactsJSON(v.snapshot)
		if !inOrder(names(t, doc), table) {
			t.Errorf("%s: members %v", v.name, names(t, doc))
		}
		m := object(t, doc)
		info := v.snapshot.Info()
		section := m["facts"].(map[string]any)
		sum := 0.0
		for _, n := range m["namespaces"].([]any) {
			sum += n.(map[string]any)["count"].(float64)
		}
		if section["count"] != float64(v.snapshot.Len()) || section["count"] != sum {
			t.Errorf("%s: count %v, sum of namespaces %v", v.name, section["count"], sum)
		}
		_, openapi := m["openapi"]
		_, mcp := m["mcp"]
		_, resolve := section["resolve"]
		if openapi == info.Static || mcp == info.Static || resolve == info.Static {
			t.Errorf("%s: openapi %v, mcp %v, resolve %v", v.name, openapi, mcp, resolve)
		}
		if want := map[bool]string{false: "/f/{key}", true: "/f/{key}.json"}[info.Static]; section["get"] != factstest.Origin+want {
			t.Errorf("%s: get %v", v.name, section["get"])
		}
		if _, signed := m["signature"]; signed != info.Signed {
			t.Errorf("%s: signature %v", v.name, signed)
		}
	}
}

func TestFactsJSONCadence_F8_1(t *testing.T) {
	want := map[string]string{
		"uk":     "policy-rates: After each decision uk-fees: When a fee changes uk-rates: Every 6 April",
		"eu":     "policy-rates: After each decision",
		"uk-sct": "uk-rates: Every 6 April",
		"zz-smp": "samples: Yearly",
	}
	for _, n := range object(t, describe.FactsJSON(variants()[0].snapshot))["namespaces"].([]any) {
		if n := n.(map[string]any); n["cadence"] != want[n["name"].(string)] {
			t.Errorf("%s: cadence %q", n["name"], n["cadence"])
		}
	}
}

func TestFactsJSONTellsReadersOfALargeIndex_F15(t *testing.T) {
	s := factstest.Snapshot(factstest.Generate(factstest.Options{Facts: 5001, Seed: 1, Unsigned: true}))
	section := object(t, describe.FactsJSON(s))["facts"].(map[string]any)
	if note, _ := section["note"].(string); !strings.Contains(note, "?namespace=") {
		t.Errorf("note %q", note)
	}
}

func TestChangesDiscovery_F8_2(t *testing.T) {
	table := []string{"protocol", "publisher", "updated", "coverageStart", "sinceHint", "filtering", "status", "areas", "endpoints", "facts", "mcp", "schema",
		"specification", "licence", "contact", "history"}
	for _, v := range variants() {
		doc := describe.ChangesDiscovery(v.snapshot, factstest.Today)
		if !inOrder(names(t, doc), table) {
			t.Errorf("%s: members %v", v.name, names(t, doc))
		}
		m := object(t, doc)
		static := v.snapshot.Info().Static
		for _, a := range m["areas"].([]any) {
			if _, ok := a.(map[string]any)["staleness"]; ok == static {
				t.Errorf("%s: staleness %v", v.name, ok)
			}
		}
		if static && !bytes.Equal(doc, describe.ChangesDiscovery(v.snapshot, factstest.Today+500)) {
			t.Errorf("%s depends on the day", v.name)
		}
		if len(v.snapshot.Entries()) == 0 {
			if m["status"] != "no changes recorded yet" || m["coverageStart"] != nil {
				t.Errorf("%s: %v %v", v.name, m["status"], m["coverageStart"])
			}
			continue
		}
		if m["updated"] != "2026-10-04" || m["coverageStart"] != "2025-03-02" || m["sinceHint"] != "2025-03-01" {
			t.Errorf("%s: %v %v %v", v.name, m["updated"], m["coverageStart"], m["sinceHint"])
		}
	}
}

// TestAreaStaleness_F4_4 walks the days around the promised one.
func TestAreaStaleness_F4_4(t *testing.T) {
	s := variants()[0].snapshot
	stat := s.Info().AreaStats["uk-rates"]
	if stat.EarliestScheduled.IsZero() {
		t.Fatal("the area has no promised day")
	}
	for offset, want := range map[facts.Date]string{-1: "current", 0: "due", 7: "due", 8: "overdue"} {
		for _, a := range object(t, describe.ChangesDiscovery(s, stat.EarliestScheduled+offset))["areas"].([]any) {
			if a := a.(map[string]any); a["name"] == "uk-rates" && a["staleness"] != want {
				t.Errorf("day %+d: %v, want %s", offset, a["staleness"], want)
			}
		}
	}
}

func TestJWKS_F7_4(t *testing.T) {
	set, err := jwk.ParseSet(describe.JWKS(variants()[0].snapshot))
	if err != nil || len(set.Keys) != 1 || set.Keys[0].Kid != factstest.Kid || set.Keys[0].ValidFrom == "" {
		t.Errorf("%v %+v", err, set)
	}
	if got := string(describe.JWKS(variants()[2].snapshot)); got != `{"keys":[]}` {
		t.Errorf("without keys: %s", got)
	}
}

func TestServerCardAndCatalog_F9_3(t *testing.T) {
	pattern := regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	for _, origin := range []string{factstest.Origin, "http://127.0.0.1:8470", "http://[::1]:8470"} {
		s, err := facts.NewSnapshot(factstest.Generate(factstest.Options{Facts: 2, Unsigned: true}), facts.Options{Origin: origin, Conformance: "L2"})
		if err != nil {
			t.Fatal(err)
		}
		card := object(t, describe.ServerCard(s, "1.2.3"))
		if !pattern.MatchString(card["name"].(string)) || card["version"] != "1.2.3" || card["description"] == "" ||
			card["$schema"] != "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" {
			t.Errorf("card %v", card)
		}
		if _, ok := card["tools"]; ok {
			t.Error("the card lists tools")
		}
		remote := card["remotes"].([]any)[0].(map[string]any)
		if remote["type"] != "streamable-http" || remote["url"] != origin+"/api/mcp/facts" {
			t.Errorf("remote %v", remote)
		}
		u, _ := url.Parse(origin)
		want := fmt.Sprintf(`{"specVersion":"1.0","entries":[{"identifier":"urn:air:%s:mcp:facts","type":"application/mcp-server-card+json","url":"%s/api/mcp/facts/server-card"}]}`, u.Hostname(), origin)
		if got := string(describe.AICatalog(s)); got != want {
			t.Errorf("catalog %s\nwant %s", got, want)
		}
	}
	static := variants()[1].snapshot
	if describe.ServerCard(static, "1") != nil || describe.AICatalog(static) != nil || describe.OpenAPI(static) != nil {
		t.Error("a static site has no server to describe")
	}
}

// TestOpenAPI_F9_2 follows every reference and compares the operations with the tools.
func TestOpenAPI_F9_2(t *testing.T) {
	s := variants()[0].snapshot
	var doc struct {
		OpenAPI string
		Info    struct{ Title, Description, Version string }
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				Name, In, Description, Example string
				Required                       bool
				Schema                         map[string]any
			}
			RequestBody map[string]any
			Responses   map[string]struct{ Description string }
		}
		Version string `json:"x-verified-facts"`
	}
	text := describe.OpenAPI(s)
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Version != "0.2" || len(doc.Servers) != 1 || doc.Servers[0].URL != factstest.Origin || doc.Info.Title == "" {
		t.Errorf("%.300s", text)
	}
	ids := map[string]string{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			if op.OperationID != "" {
				ids[op.OperationID] = method + " " + path
			}
			if op.Responses["200"].Description == "" || op.Responses["400"].Description == "" {
				t.Errorf("%s %s: responses %v", method, path, op.Responses)
			}
			for _, p := range op.Parameters {
				if p.Required && p.Example == "" {
					t.Errorf("%s %s: nothing to try for %s", method, path, p.Name)
				}
				if p.In == "path" && (!p.Required || !strings.Contains(path, "{"+p.Name+"}")) {
					t.Errorf("%s: path parameter %s", path, p.Name)
				}
			}
		}
	}
	want := map[string]string{"getFact": "get /f/{key}", "getFacts": "get /f", "resolveFact": "get /f/resolve", "whatChangedSince": "get /changes.json"}
	if fmt.Sprint(ids) != fmt.Sprint(want) {
		t.Errorf("operations %v", ids)
	}
	if doc.Paths["/f/{key}"]["get"].Responses["404"].Description == "" || doc.Paths["/f"]["post"].RequestBody == nil {
		t.Error("404 or the body of POST is not described")
	}
	for _, ref := range regexp.MustCompile(`"\$ref":"([^"]+)"`).FindAllSubmatch(text, -1) {
		rest, ok := strings.CutPrefix(string(ref[1]), factstest.Origin+"/schema/")
		if !ok || schemas()[rest] == nil {
			t.Errorf("reference %s leads to no published schema", ref[1])
		}
	}
	for _, op := range describe.Operations(s) {
		path := strings.TrimPrefix(want[op.OperationID], "get ")
		var got []string
		for _, p := range doc.Paths[path]["get"].Parameters {
			if p.Name != "format" {
				got = append(got, p.Name)
			}
		}
		var names []string
		for _, p := range op.Params {
			names = append(names, p.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s takes %v over HTTP and %v as %s", op.OperationID, got, names, op.Tool)
		}
	}
}

// TestDocumentsAreReproducible: equal snapshots give equal bytes.
func TestDocumentsAreReproducible(t *testing.T) {
	other := snapshot(withChanges(factstest.Sample()), "L3", false)
	one, two := documents(variants()[0].snapshot), documents(other)
	for name := range one {
		if !bytes.Equal(one[name], two[name]) {
			t.Errorf("%s differs:\n%s\n%s", name, one[name], two[name])
		}
	}
}

func documents(s *facts.Snapshot) map[string][]byte {
	return map[string][]byte{
		"facts": describe.FactsJSON(s), "changes": describe.ChangesDiscovery(s, factstest.Today), "jwks": describe.JWKS(s),
		"openapi": describe.OpenAPI(s), "card": describe.ServerCard(s, "1"), "catalog": describe.AICatalog(s),
		"llms": describe.LLMs(s), "atom": describe.Atom(s), "instructions": []byte(describe.Instructions(s)),
	}
}

// TestNoForeignURL: every absolute URL of ours starts with the configured origin.
func TestAbsoluteURLsComeFromTheOrigin(t *testing.T) {
	ds := withChanges(factstest.Sample())
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: "http://127.0.0.1:8470", Conformance: "L3"})
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range documents(s) {
		for _, path := range []string{"/f/", "/f?", "/.well-known/", "/schema/", "/changes", "/api/mcp", "/openapi.json"} {
			if bytes.Contains(doc, []byte(factstest.Origin+path)) {
				t.Errorf("%s names %s under the publisher's address instead of the origin", name, path)
			}
		}
	}
}
