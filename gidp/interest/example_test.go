package interest_test

import (
	"fmt"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// A projection shows what the policy lists, and no more. The agent asks by cells: neither says what is held.
func ExampleInterest_Project() {
	profile := &gidp.Profile{ID: "core", Keys: map[string]gidp.Key{
		"price": {Partition: &gidp.Partition{ID: "price/1", Min: 0, Max: 999, Edges: []int64{100, 300, 600}}},
	}}
	own := &interest.Interest{
		Attributes: map[string]jcs.Raw{"price": jcs.Raw(`{"max":450}`), "geography": jcs.Raw(`"munich"`)},
		Policy:     interest.Policy{Entries: map[string]gidp.Entry{"geography": {"": {Surface: gidp.Discovery}}}},
		Authority:  map[gidp.Level]gidp.Permission{gidp.PublishProjection: gidp.Yes, gidp.Probe: gidp.Yes},
	}
	shown, err := own.Project(profile, interest.Projection{ProjectionID: "p-1", Endpoint: "https://agents.example/a2a/r-1", ExpiresAt: time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)}, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := wire.Encode(shown)
	fmt.Printf("%s\n", text)
	for _, c := range own.Asks(profile, interest.Towards{Active: true, Depth: wire.DepthSession}) {
		fmt.Printf("%s %s %s\n", c.Key, c.Operator, c.Value)
	}
	// Output:
	// {"endpoint":"https://agents.example/a2a/r-1","expires_at":"2031-01-02T00:00:00Z","geographies":["munich"],"projection_id":"p-1","relation":["complementary_counterparty"],"type":"DiscoveryProjection","version":"gidp/0.1"}
	// price overlaps {"max":599}
}
