package answer

import (
	"time"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// Snapshot is one publisher at one generation: what an answer follows from.
type Snapshot struct {
	Publication *business.Publication
	Records     []business.Record // in the order of (type, id), without url
	Site        business.Site     // where records are reached: makes their url; without an origin they have none
}

// Reading is the latest live reading of one stream, subject and location.
type Reading struct {
	Stream     string
	Subject    *coverage.Key // nil when the stream has none
	Location   string        // "" when the stream is not scoped
	Value      jcs.Raw
	ObservedAt time.Time
	ReceivedAt time.Time
}

// Readings finds live readings; live handlers get one, static ones nil. An error is a fault (-32603), never a status.
type Readings interface {
	// Latest returns the readings of a stream; subject nil and location "" take all.
	Latest(stream string, subject *coverage.Key, location string) ([]Reading, error)
}
