package gidp_test

import (
	"fmt"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// A floor of 120 is held. What is answered follows from its cell, 100 to 299, and so does what the agent asks itself.
func ExampleEvaluate() {
	prices := &gidp.Partition{ID: "price/1", Min: 0, Max: 999, Edges: []int64{100, 300, 600}}
	cell, _ := prices.Cell(120)
	held := gidp.Cells{Partition: prices, Shape: gidp.Floor, Low: cell}
	view := gidp.View{Active: true, Attributes: map[string]gidp.Attribute{"price": {Holding: held, Held: true}}}

	ask := func(value string) wire.Claim {
		return wire.Claim{ID: value, Key: "price", Operator: wire.OpOverlaps, Value: jcs.Raw(value)}
	}
	claims := []wire.Claim{ask(`{"max":599}`), ask(`{"max":299}`), ask(`{"max":130}`), ask(`{"max":99}`)}
	answers, _ := gidp.Evaluate(view, nil, gidp.Query{Claims: claims, Allowed: wire.AllResults()})
	for i, a := range answers {
		fmt.Printf("%s %s\n", claims[i].Value, a.Result)
	}
	fmt.Printf("asks %s, tells at most %.0f bits\n", held.Asks(), prices.Bits())
	// Output:
	// {"max":599} compatible
	// {"max":299} conditionally_compatible
	// {"max":130} unknown
	// {"max":99} incompatible
	// asks {"min":100}, tells at most 2 bits
}

// A class says how exposed an attribute may become, and what has to happen before. What is not listed is evaluation_only.
func ExampleEntry_For() {
	session, _ := gidp.ParseClass("session/consent")
	entry := gidp.Entry{"verified_agent": session}
	fmt.Println(entry.For(gidp.Counterparty{Verified: true}), entry.For(gidp.Counterparty{}))
	// Output: session/consent evaluation_only
}
