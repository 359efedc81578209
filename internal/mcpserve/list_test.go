package mcpserve_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/internal/mcpserve"
)

// maxToolsList is the budget of F§15 for the minified result.
const maxToolsList = 2662

// hostileDataset fills every text the definitions are made from to its limits.
func hostileDataset(text string) *facts.Dataset {
	ds := factstest.Generate(factstest.Options{Facts: 40, Seed: 3, Unsigned: true})
	long := strings.Repeat(text, 40)
	ds.Publisher.Name = long
	for i := range ds.Namespaces {
		ds.Namespaces[i].Description = long
	}
	for i := range 300 {
		name := "zz" + string(rune('a'+i%26)) + strings.Repeat("y", 20+i%30) + string(rune('a'+i/26))
		ds.Namespaces = append(ds.Namespaces, facts.Namespace{Name: name, Description: long, Calendar: facts.CalendarNone})
		ds.Areas = append(ds.Areas, facts.Area{Name: name, Namespace: name})
	}
	for i := range ds.Facts {
		if strings.Contains(text, "\x00") {
			break // a label with a control character is refused before it comes here
		}
		ds.Facts[i].Label = string([]rune(strings.Repeat(text, 120))[:120])
	}
	ds.Examples = nil
	return ds
}

func TestToolsListBytes_F15(t *testing.T) {
	datasets := map[string]*facts.Dataset{
		"sample":      factstest.Sample(),
		"generated":   factstest.Generate(factstest.Options{Facts: 2000, Seed: 1, Unsigned: true}),
		"empty":       factstest.Generate(factstest.Options{Unsigned: true}),
		"long text":   hostileDataset("Figures of all kinds "),
		"quotes":      hostileDataset(`"\`),
		"markup":      hostileDataset("<&>"),
		"four bytes":  hostileDataset("\U0001F600"),
		"hidden text": hostileDataset("a\u202e\u0000\u200b"),
	}
	for name, ds := range datasets {
		t.Run(name, func(t *testing.T) {
			h := mcpserve.NewFacts(options(factstest.Snapshot(ds)))
			for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
				body, edit := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, revisionHeader(revision)
				if revision == "2026-07-28" {
					body, edit = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+statelessMeta+`}}`, stateless("tools/list", "")
				}
				a := send(t, h, body, edit)
				list := compact(t, a.rpc(t).Result)
				var parsed struct {
					Tools []struct {
						Name, Title, Description string
						InputSchema              map[string]any
						Annotations              map[string]bool
					}
				}
				if err := json.Unmarshal([]byte(list), &parsed); err != nil || len(parsed.Tools) != 3 {
					t.Fatalf("%v: %s", err, list)
				}
				t.Logf("%s: %d bytes", revision, len(list))
				if len(list) > maxToolsList {
					t.Errorf("%s: tools/list is %d bytes, at most %d: %s", revision, len(list), maxToolsList, list)
				}
				for _, tool := range parsed.Tools {
					if tool.Title == "" || tool.Description == "" {
						t.Errorf("%s has no title or description", tool.Name)
					}
					if strings.ContainsAny(tool.Description, "\u202e\x00\u200b") {
						t.Errorf("%s: hidden characters in %q", tool.Name, tool.Description)
					}
					if tool.InputSchema["additionalProperties"] != false || tool.InputSchema["type"] != "object" {
						t.Errorf("%s: input schema %v", tool.Name, tool.InputSchema)
					}
					a := tool.Annotations
					if !a["readOnlyHint"] || !a["idempotentHint"] || a["destructiveHint"] || a["openWorldHint"] || len(a) != 4 {
						t.Errorf("%s: annotations %v", tool.Name, a)
					}
				}
			}
		})
	}
}
