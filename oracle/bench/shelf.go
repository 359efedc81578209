package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing/fstest"

	"sayso/business"
	"sayso/business/answer"
	"sayso/internal/app"
	"sayso/jcs"
)

// What the shop of the answers states beside its products.
const (
	shelfProfile = `{"display_name":"Harbour Hardware","content_languages":["en"],"profile_attributes":{"parking":true},
		"locations":[{"id":"quay","name":"Quay","primary":true,"opening_hours":"Mo-Fr 09:00-17:00","latitude":51.5,"longitude":-0.1,"time_zone":"Europe/London"}],
		"tools":[{"name":"ask","handler":"knowledge.search"},{"name":"queue","handler":"live.query"}]}`
	shelfSchema = `{"types":{"product":{"words":{"en":["product"]}}},
		"attributes":{"price":{"field":"price","kind":"money","currency":"EUR"},"rechargeable":{"kind":"bool","words":{"en":["rechargeable"]}}},
		"profile":{"parking":{"kind":"bool","words":{"en":["parking"]}}},
		"streams":[{"key":"queue","kind":"count","sla_seconds":60,"max_age_seconds":600}]}`
)

var (
	goods = strings.Fields("drill hammer saw ladder brush glove lamp cable socket hinge bracket plane chisel file vice clamp anvil trowel rake spade hose nozzle valve pump filter " +
		"heater kettle fan shelf cabinet drawer handle lock latch bolt rivet washer gasket pulley winch rope chain hook magnet level ruler compass mask helmet apron boot " +
		"torch battery charger switch fuse plug bulb cord wrench")
	finishes  = strings.Fields("compact heavy slim folding padded coated brushed polished hardened insulated sealed curved angled narrow wide tall short double triple single")
	syllables = strings.Fields("ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu")
)

// product is the i-th of a shop: eight share a make, and a noun comes back every sixty.
type product struct{ brand, finish, noun string }

func productOf(i int) product {
	brand := i / 8
	name := syllables[brand%20] + syllables[brand/20%20] + syllables[brand/400%20] + "x"
	return product{brand: strings.ToUpper(name[:1]) + name[1:], finish: finishes[i/len(goods)%len(finishes)], noun: goods[i%len(goods)]}
}

func (p product) title() string { return p.brand + " " + p.finish + " " + p.noun }
func (p product) alias() string { return p.brand + " " + p.noun }

func productID(i int) string { return fmt.Sprintf("p%06d", i) }

// shelf is a publisher of n products, each with a title, an alias and two values, as the engine gets it.
func shelf(n int) (answer.Snapshot, error) {
	s := answer.Snapshot{Publication: &business.Publication{Slug: shop, Schema: jcs.Raw(shelfSchema)}, Site: business.Site{Origin: origin}}
	for i := range n {
		p := productOf(i)
		s.Records = append(s.Records, business.Record{
			Type: "product", ID: productID(i), Title: p.title(), Aliases: []string{p.alias()},
			Attributes: jcs.Raw(fmt.Sprintf(`{"price":%d.50,"rechargeable":%t}`, i%90+5, i%3 == 0)),
		})
	}
	return s, business.DecodeKnown([]byte(shelfProfile), &s.Publication.Profile)
}

// bundleOf is the same as a business hands it over.
func bundleOf(n int) (*app.Bundle, error) {
	s, err := shelf(n)
	if err != nil {
		return nil, err
	}
	var lines []byte
	for i := range s.Records {
		r := &s.Records[i]
		lines = fmt.Appendf(lines, `{"id":%q,"type":%q,"title":%q,"aliases":[%q],"attributes":%s,"updated_at":"2026-01-02T03:04:05Z"}`+"\n", r.ID, r.Type, r.Title, r.Aliases[0], r.Attributes)
	}
	return app.OpenBundle(fstest.MapFS{"publisher.json": {Data: []byte(shelfProfile)}, "schema.json": {Data: []byte(shelfSchema)}, "records.jsonl": {Data: lines}})
}

// question is one that customers ask, and the product it names, "" for none.
type question struct{ text, about string }

// kinds of questions: a product by title and by alias, a kind of thing that many products are, comparisons, statements about the business, and things that nobody sells.
var kinds = []func(product) (text string, named bool){
	func(p product) (string, bool) { return "How much is the " + p.title() + "?", true },
	func(p product) (string, bool) { return "Do you sell the " + p.alias() + "?", true },
	func(p product) (string, bool) { return "Do you sell a " + p.noun + "?", false },
	func(p product) (string, bool) { return "Is the " + p.title() + " under 50 EUR?", true },
	func(p product) (string, bool) { return "Is the " + p.alias() + " rechargeable?", true },
	func(p product) (string, bool) { return "How much is a " + p.noun + "?", false },
	func(p product) (string, bool) {
		return "Do you have parking and how much is the " + p.title() + "?", true
	},
	func(p product) (string, bool) { return "Do you have a " + p.finish + " trampoline?", false },
	func(product) (string, bool) { return "Are you open on Monday at 10:00?", false },
}

// questionsOf asks count questions of a shop of n products, all kinds equally often.
func questionsOf(n, count int) []question {
	rnd := rand.New(rand.NewPCG(11, uint64(n)))
	list := make([]question, count)
	for i := range list {
		at := rnd.IntN(n)
		text, named := kinds[i%len(kinds)](productOf(at))
		list[i].text = text
		if named {
			list[i].about = productID(at)
		}
	}
	return list
}
