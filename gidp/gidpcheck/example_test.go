package gidpcheck_test

import (
	"fmt"

	"sayso/gidp"
	"sayso/gidp/gidpcheck"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// Two sides whose prices are never told find out that they may talk.
func Example() {
	profile := &gidp.Profile{ID: "core", Keys: map[string]gidp.Key{
		"price": {Partition: &gidp.Partition{ID: "price/1", Min: 0, Max: 999, Edges: []int64{100, 300, 600}}},
	}}
	side := func(price string) *interest.Interest {
		return &interest.Interest{
			Attributes: map[string]jcs.Raw{"price": jcs.Raw(price), "trade": jcs.Raw(`"violins"`)},
			Policy:     interest.Policy{Entries: map[string]gidp.Entry{"trade": {"": {Surface: gidp.Discovery}}}},
			Authority:  map[gidp.Level]gidp.Permission{gidp.Probe: gidp.Yes},
		}
	}
	w := gidpcheck.NewWorld(profile, side(`{"max":450}`), side(`{"min":120}`))
	if err := w.Open("workshop", wire.DepthSession); err != nil {
		fmt.Println(err)
	}
	claims := append(w.A.Interest.Asks(profile, w.A.Towards()), wire.Claim{Key: "trade", Operator: wire.OpEquals, Value: jcs.Raw(`"violins"`)})
	for _, c := range claims {
		fmt.Printf("asks %s %s %s\n", c.Key, c.Operator, c.Value)
	}
	if err := w.Do(w.A, session.AskClaims{Claims: claims}); err != nil {
		fmt.Println(err)
	}
	if err := w.Drain(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(w.A.State.Phase, w.B.State.Phase)
	// Output:
	// asks price overlaps {"max":599}
	// asks trade equals "violins"
	// QUALIFIED QUALIFIED
}
