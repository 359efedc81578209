package answer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	_ "time/tzdata" // zones are the same on every machine

	"sayso/business"
	"sayso/business/coverage"
	"sayso/business/hours"
	"sayso/jcs"
)

// index is what the handlers without a question look up in a snapshot. It is immutable.
type index struct {
	publication *business.Publication
	schema      *business.Schema // never nil
	records     []business.Record
	record      map[coverage.Key]int // position in records
	incoming    map[coverage.Key][]edge
	places      []place // in the order of their ids
	place       map[string]int
	streams     map[string]*business.SchemaStream
	calendar    *hours.Calendar
	ownCurrency bool // records state the currency of their prices in a member that the schema leaves to them
}

// edge is a link seen from its end.
type edge struct {
	rel  string
	from coverage.Key
}

// place is a location with what its text means.
type place struct {
	*business.Location
	position *business.Position // nil without coordinates
	zone     *time.Location     // nil without a zone
	hours    *hours.Hours       // nil without opening hours
}

// newIndex reads a snapshot. An error names what cannot be read.
func newIndex(s Snapshot) (*index, error) {
	p := s.Publication
	if p == nil {
		return nil, errors.New("the snapshot has no publication")
	}
	x := &index{
		publication: p, schema: &business.Schema{}, records: slices.Clone(s.Records), record: make(map[coverage.Key]int, len(s.Records)),
		incoming: map[coverage.Key][]edge{}, place: make(map[string]int, len(p.Profile.Locations)), streams: map[string]*business.SchemaStream{},
	}
	if p.Schema != nil {
		schema, err := business.ParseSchema(p.Schema)
		if err != nil {
			return nil, err
		}
		x.schema = schema
	}
	_, declared := x.schema.Attributes["currency"]
	x.ownCurrency = !declared
	if p.Calendar != nil {
		calendar, err := hours.ParseCalendar(p.Calendar)
		if err != nil {
			return nil, fmt.Errorf("calendar: %w", err)
		}
		x.calendar = calendar
	}
	for i := range x.schema.Streams {
		x.streams[x.schema.Streams[i].Key] = &x.schema.Streams[i]
	}
	if err := x.addRecords(s.Site); err != nil {
		return nil, err
	}
	return x, x.addPlaces()
}

// addRecords orders the records by key and turns their links around.
func (x *index) addRecords(site business.Site) error {
	slices.SortFunc(x.records, func(a, b business.Record) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
	for i := range x.records {
		r := &x.records[i]
		key := coverage.Key{Type: r.Type, ID: r.ID}
		if _, twice := x.record[key]; twice {
			return fmt.Errorf("the record %q stands twice in the snapshot", key.String())
		}
		r.URL = site.RecordURL(x.publication, r.Type, r.ID)
		x.record[key] = i
		for _, l := range r.Links {
			target := coverage.Key{Type: l.Type, ID: l.ID}
			if e := (edge{l.Rel, key}); !slices.Contains(x.incoming[target], e) {
				x.incoming[target] = append(x.incoming[target], e)
			}
		}
	}
	return nil
}

func (x *index) addPlaces() error {
	for i := range x.publication.Profile.Locations {
		l := &x.publication.Profile.Locations[i]
		p := place{Location: l}
		var err error
		if p.position, err = position(l.Latitude, l.Longitude); err != nil {
			return fmt.Errorf("location %q: %w", l.ID, err)
		}
		if p.zone, err = zone(l.TimeZone); err != nil {
			return fmt.Errorf("location %q: %w", l.ID, err)
		}
		if l.OpeningHours != "" {
			if p.hours, _, err = hours.Parse(l.OpeningHours); err != nil {
				return fmt.Errorf("location %q: opening_hours: %w", l.ID, err)
			}
		}
		x.places = append(x.places, p)
	}
	slices.SortFunc(x.places, func(a, b place) int { return cmp.Compare(a.ID, b.ID) })
	for i, p := range x.places {
		if _, twice := x.place[p.ID]; twice {
			return fmt.Errorf("the location %q stands twice in the snapshot", p.ID)
		}
		x.place[p.ID] = i
	}
	return nil
}

// subject names a record of this publisher, or the publisher itself.
func (x *index) subject(k *coverage.Key) coverage.Subject {
	s := coverage.Subject{Publisher: x.publication.Slug}
	if k != nil {
		s.Type, s.ID = k.Type, k.ID
	}
	return s
}

// at names a location of this publisher.
func (x *index) at(location string) coverage.Subject {
	return coverage.Subject{Publisher: x.publication.Slug, Location: location}
}

// label is what a person calls a location.
func (p *place) label() string { return cmp.Or(p.Name, p.ID) }

// position reads stated coordinates; nil when none are.
func position(latitude, longitude jcs.Raw) (*business.Position, error) {
	if latitude == nil && longitude == nil {
		return nil, nil
	}
	lat, ok1 := degrees(latitude, 90)
	lon, ok2 := degrees(longitude, 180)
	if !ok1 || !ok2 {
		return nil, errors.New("latitude and longitude are no position")
	}
	return &business.Position{Latitude: lat, Longitude: lon}, nil
}

// degrees reads a number literal within ±bound.
func degrees(literal jcs.Raw, bound float64) (float64, bool) {
	if _, ok := decimal(literal); !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	return f, err == nil && math.Abs(f) <= bound
}

// zone finds a zone by its IANA name. "Local" is none: it would be the zone of the machine.
func zone(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("time_zone %q is no name of the IANA database", name)
	}
	return z, nil
}
