package factshttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
)

// BenchmarkHandler is the handler alone, without a connection.
func BenchmarkHandler(b *testing.B) {
	s := servedSnapshot(b, scaleCatalogue(b, 10_000))
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	h := factshttp.Handler(factshttp.HandlerOptions{Snapshot: func() *facts.Snapshot { return s }, Clock: func() time.Time { return at }})
	r := httptest.NewRequest(http.MethodGet, "/f/"+scaleKey(4711), nil)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

func scaleKey(i int) string { return fmt.Sprintf("zz-a/figure-%d/value", i) }

// scaleCatalogue has records of about the size of the seed's example: quote, period and source.
func scaleCatalogue(t testing.TB, size int) *facts.Dataset {
	ds := &facts.Dataset{
		Publisher:  facts.Publisher{Name: "Example Figures", URL: testOrigin + "/"},
		Namespaces: []facts.Namespace{{Name: "zz-a", Description: "Generated", Calendar: facts.CalendarNone, Authorities: []string{"figures.example"}}},
	}
	from, to, verified := servedDay(t, "2026-04-06"), servedDay(t, "2027-04-05"), servedDay(t, "2026-10-04")
	for i := range size {
		ds.Facts = append(ds.Facts, facts.Fact{Key: scaleKey(i), Label: fmt.Sprintf("Generated figure %d", i), Topic: -1, Values: []facts.DatedValue{{
			Value: facts.Value(strconv.Itoa(i)), Unit: "GBP/year", Period: "2026-27", From: from, To: to, ToExplicit: true,
			Source: "https://figures.example/page/" + strconv.Itoa(i), Quote: strings.Repeat("the figure as the page states it ", 6), Verified: verified,
		}}})
	}
	slices.SortFunc(ds.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	return ds
}
