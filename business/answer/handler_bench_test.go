package answer_test

import (
	"testing"

	"sayso/business/answer/answertest"
	"sayso/business/coverage"
	"sayso/jcs"
)

// BenchmarkHandlers calls the static handlers of a publisher with 1,565 places and 21 records.
func BenchmarkHandlers(b *testing.B) {
	w, err := answertest.Load("stores")
	if err != nil {
		b.Fatal(err)
	}
	c, err := w.Compiled()
	if err != nil {
		b.Fatal(err)
	}
	first := w.Snapshot.Records[0]
	key := `{"type":"` + first.Type + `","id":"` + first.ID + `"}`
	for handler, arguments := range map[string]string{
		"knowledge.get":       `{"records":[` + key + `],"fields":["price"]}`,
		"knowledge.neighbors": key,
		"branches.nearest":    `{"caller_location":{"latitude":44.9,"longitude":-93.2},"max_distance_km":100}`,
	} {
		b.Run(handler, func(b *testing.B) {
			call := coverage.Call{Tool: "tool", Handler: handler, Arguments: jcs.Raw(arguments), Now: answertest.Now}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Answer(call, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
