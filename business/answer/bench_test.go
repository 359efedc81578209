package answer_test

import (
	"fmt"
	"testing"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// shelf is a publisher with n records of three words each; the last word has many owners.
func shelf(n int) answer.Snapshot {
	nouns := []string{"drill", "hammer", "screw", "paint", "saw", "ladder", "brush", "glove", "lamp", "cable"}
	s := answer.Snapshot{Publication: &business.Publication{
		Slug:    "shelf",
		Profile: business.Profile{DisplayName: "Shelf of Everything", ContentLanguages: []string{"en"}},
		Schema:  jcs.Raw(`{"types":{"product":{"words":{"en":["product"]}}},"attributes":{"price":{"field":"price","kind":"money","currency":"EUR"}}}`),
	}}
	for i := range n {
		s.Records = append(s.Records, business.Record{
			Type: "product", ID: fmt.Sprintf("p%05d", i), Title: fmt.Sprintf("Model%d series%d %s", i, i%97, nouns[i%len(nouns)]),
			Attributes: jcs.Raw(fmt.Sprintf(`{"price":%d.50}`, i%400)),
		})
	}
	return s
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		s := shelf(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := answer.Compile(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	questions := []string{
		"How much is the model7 series7 lamp?", "Do you sell ladders?", "Is a model3 series3 paint under 50 EUR and do you have a trampoline?", "How much is a hammer?",
	}
	for _, n := range []int{10, 1000, 10000} {
		c, err := answer.Compile(shelf(n))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				arguments := jcs.Raw(fmt.Sprintf(`{"query":%q}`, questions[i%len(questions)]))
				if _, err := c.Answer(coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: arguments, Now: now}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
