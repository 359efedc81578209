package answertest

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bundle"
	"sayso/business/coverage"
	"sayso/examples"
	"sayso/jcs"
)

// Samples are the bundles by the short names that the labelled questions use for them.
var Samples = map[string]string{
	"optician": "brightwater-opticians", "dentist": "marina-dental", "hotel": "hotel-alpenblick", "hardware": "hammer-and-nail", "garage": "kessler-garage",
	"stores": "open-stores", "markets": "weekly-markets",
}

// Small are the five made-up businesses, in a fixed order.
var Small = []string{"optician", "dentist", "hotel", "hardware", "garage"}

// Now is the time of every question: a Tuesday, 10:30 UTC.
var Now = time.Date(2026, time.March, 3, 10, 30, 0, 0, time.UTC)

// World is one publisher that can be asked. It is immutable once it was asked; Change gives a changed copy.
type World struct {
	Name     string // short name
	Snapshot answer.Snapshot
	Schema   *business.Schema

	names map[string]string // language of an alias that is not in the primary one

	once     sync.Once
	compiled *answer.Compiled
	err      error

	words      sync.Once
	vocabulary map[string]bool
}

// Load reads a sample bundle by its short name.
func Load(name string) (*World, error) {
	slug, ok := Samples[name]
	if !ok {
		return nil, fmt.Errorf("answertest: no sample %q", name)
	}
	dir := "business/" + slug
	text, err := fs.ReadFile(examples.Business, dir+"/publisher.json")
	if err != nil {
		return nil, err
	}
	profile, problems := bundle.Profile(text, "publisher.json")
	if profile == nil {
		return nil, fmt.Errorf("answertest: %s: %+v", slug, problems)
	}
	schemaText, err := fs.ReadFile(examples.Business, dir+"/schema.json")
	if err != nil {
		return nil, err
	}
	schema, problems := bundle.Schema(schemaText, "schema.json")
	if schema == nil {
		return nil, fmt.Errorf("answertest: %s: %+v", slug, problems)
	}
	records, err := readRecords(dir, slug, profile, schema)
	if err != nil {
		return nil, err
	}
	p := &business.Publication{
		Slug: slug, Revision: 1, Profile: *profile,
		Standing: business.Standing{Lifecycle: business.Published, Verification: &business.OperatorVerification{Decision: "sample", ConfirmedAt: Now}},
		State:    business.State{Generation: 1, ChangedAt: Now},
	}
	w := &World{Name: name, Schema: schema, names: nameLanguages, Snapshot: answer.Snapshot{Publication: p, Records: records}}
	w.seal()
	return w, nil
}

func readRecords(dir, slug string, p *business.Profile, s *business.Schema) ([]business.Record, error) {
	names, err := fs.Glob(examples.Business, dir+"/records.*")
	if err != nil || len(names) == 0 {
		return nil, err
	}
	o := bundle.Options{Publisher: slug, Schema: s, Locations: []string{}}
	for _, l := range p.Locations {
		o.Locations = append(o.Locations, l.ID)
	}
	text, err := fs.ReadFile(examples.Business, names[0])
	if err != nil {
		return nil, err
	}
	form, _ := bundle.FormatOf(names[0])
	var records []business.Record
	for r, problem := range bundle.Records(bytes.NewReader(text), path.Base(names[0]), form, o) {
		if problem != nil {
			return nil, fmt.Errorf("answertest: %s: %+v", slug, *problem)
		}
		records = append(records, *r)
	}
	return records, nil
}

// seal brings records into their order and writes the schema as the publication holds it.
func (w *World) seal() {
	slices.SortStableFunc(w.Snapshot.Records, func(a, b business.Record) int {
		return strings.Compare(a.Type+"\x00"+a.ID, b.Type+"\x00"+b.ID)
	})
	text, err := jcs.Encode(w.Schema)
	if err == nil {
		text, err = business.Canon(text)
	}
	if err != nil {
		panic("answertest: " + err.Error())
	}
	w.Snapshot.Publication.Schema = text
}

// Change returns a copy on which edit has worked; w stays as it is.
func (w *World) Change(edit func(*World)) *World {
	p := *w.Snapshot.Publication
	p.Profile.Locations = slices.Clone(p.Profile.Locations)
	p.Profile.ProfileAttributes = slices.Clone(p.Profile.ProfileAttributes)
	schema, err := business.ParseSchema(p.Schema)
	if err != nil {
		panic("answertest: " + err.Error())
	}
	records := slices.Clone(w.Snapshot.Records)
	for i := range records {
		records[i].Aliases = slices.Clone(records[i].Aliases)
		records[i].Links = slices.Clone(records[i].Links)
		records[i].Attributes = slices.Clone(records[i].Attributes)
	}
	c := &World{Name: w.Name, Schema: schema, names: w.names, Snapshot: answer.Snapshot{Publication: &p, Records: records}}
	edit(c)
	c.seal()
	return c
}

// Compiled compiles the snapshot on the first call.
func (w *World) Compiled() (*answer.Compiled, error) {
	w.once.Do(func() { w.compiled, w.err = answer.Compile(w.Snapshot) })
	return w.compiled, w.err
}

// Ask sends a query to knowledge.search; language "" leaves the argument out.
func (w *World) Ask(query, language string) (*coverage.Outcome, error) {
	args := struct {
		Query    string `json:"query"`
		Language string `json:"language,omitempty"`
	}{query, language}
	text, err := jcs.Encode(args)
	if err != nil {
		return nil, err
	}
	return w.Call("knowledge.search", text, nil)
}

// Call sends one call to a handler.
func (w *World) Call(handler string, arguments jcs.Raw, readings answer.Readings) (*coverage.Outcome, error) {
	c, err := w.Compiled()
	if err != nil {
		return nil, err
	}
	return c.Answer(coverage.Call{Tool: "tool", Handler: handler, Arguments: arguments, Now: Now}, readings)
}

// Marker stands in every planted text.
const Marker = "cnry"

// Planted returns a copy whose published values can be told from every text a caller may send: numbers of records keep their value and get a tail of zeros
// that no other number has, and summary, content, phone, email and address carry Marker.
func (w *World) Planted() *World {
	return w.Change(func(c *World) {
		tail := 9
		for i := range c.Snapshot.Records {
			r := &c.Snapshot.Records[i]
			r.Summary, r.Content = fmt.Sprintf("summary %s-s%d", Marker, i), fmt.Sprintf("content %s-c%d", Marker, i)
			var object []byte
			for _, m := range members(r.Attributes) {
				if k := c.Schema.Attributes[m.Name].Kind; k == "money" || k == "money_from" || k == "money_to" || k == "quantity" {
					tail++
					m.Value = jcs.Raw(withTail(string(m.Value), tail))
				}
				object = appendMember(object, m)
			}
			if object != nil {
				r.Attributes = append(object, '}')
			}
		}
		for i := range c.Snapshot.Publication.Profile.Locations {
			l := &c.Snapshot.Publication.Profile.Locations[i]
			for _, text := range []*string{&l.Phone, &l.Address, &l.StreetAddress} {
				if *text != "" {
					*text += fmt.Sprintf(" %s%d", Marker, i)
				}
			}
			if l.Email != "" {
				l.Email = Marker + l.Email
			}
		}
	})
}

// withTail writes zeros behind the decimals of a plain literal.
func withTail(literal string, zeros int) string {
	if !strings.Contains(literal, ".") {
		literal += "."
	}
	return literal + strings.Repeat("0", zeros)
}

// members reads an object that is known to be one.
func members(object jcs.Raw) []jcs.Member {
	if len(object) == 0 {
		return nil
	}
	list, err := business.Members(object)
	if err != nil {
		panic("answertest: " + err.Error())
	}
	return list
}

func appendMember(object []byte, m jcs.Member) []byte {
	if object == nil {
		object = []byte{'{'}
	} else {
		object = append(object, ',')
	}
	object = append(jcs.AppendString(object, m.Name), ':')
	return append(object, m.Value...)
}

// Without returns an object without one member; nil when nothing is left.
func Without(object jcs.Raw, name string) jcs.Raw {
	var out []byte
	for _, m := range members(object) {
		if m.Name != name {
			out = appendMember(out, m)
		}
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}

// value is one member of an object; nil when there is none.
func value(object jcs.Raw, name string) jcs.Raw {
	for _, m := range members(object) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}
