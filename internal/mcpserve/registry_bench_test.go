package mcpserve_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sayso/business"
	"sayso/jcs"
)

// BenchmarkRegistryCall frames an envelope of 3 kB here and through the SDK, at both kinds of revision. Making the envelope is not part of it.
func BenchmarkRegistryCall(b *testing.B) {
	f := newFakeRegistry()
	envelope, err := jcs.Encode(map[string]string{"registry": "x-protocol/v1", "text": strings.Repeat(`a "quoted" word, `, 160)})
	if err != nil {
		b.Fatal(err)
	}
	f.ask = func(context.Context, string, string, jcs.Raw) ([]byte, error) { return envelope, nil }
	tools, p := f.tools(), f.pubs["north"]
	for _, way := range []struct {
		name  string
		serve func(http.ResponseWriter, *http.Request, *business.Publication) error
	}{{"here", tools.ServeCall}, {"sdk", tools.ServeSDK}} {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			b.Run(way.name+"/"+revision, func(b *testing.B) {
				b.ReportAllocs()
				body, edit := at(revision, "1", "north.search", `{"query":"Do you sell contact lenses?","limit":5}`)
				for b.Loop() {
					r := httptest.NewRequest(http.MethodPost, registryOrigin+"/t/north/mcp", strings.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					edit(r)
					w := httptest.NewRecorder()
					if err := way.serve(w, r, p); err != nil || w.Code != http.StatusOK {
						b.Fatalf("%v: %d %s", err, w.Code, w.Body)
					}
					f.asked = f.asked[:0]
				}
			})
		}
	}
}
