package answer

import (
	"cmp"
	"maps"
	"slices"

	"sayso/business"
	"sayso/jcs"
)

// shownLocation is a location in a result: what names it and the fields a proposition used.
type shownLocation struct {
	ID           string `json:"id"`
	Name         string `json:"name,omitempty"`
	OpeningHours string `json:"opening_hours,omitempty"`
	TimeZone     string `json:"time_zone,omitempty"`
	Phone        string `json:"phone,omitempty"`
	Email        string `json:"email,omitempty"`
	Address      string `json:"address,omitempty"`
	DistanceM    *int64 `json:"distance_m,omitempty"`
	Method       string `json:"method,omitempty"`
}

// shownList is a list in a result: the terms a proposition used.
type shownList struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Closed bool     `json:"closed"`
}

// shownResult is the result of a search: only what a proposition used, and no related records.
type shownResult struct {
	Records   []business.Record `json:"records"`
	Locations []shownLocation   `json:"locations,omitempty"`
	Lists     []shownList       `json:"lists,omitempty"`
	Profile   jcs.Raw           `json:"profile,omitempty"`
	Readings  []shownReading    `json:"readings,omitempty"`
}

func (a *asking) result(u *usage) (jcs.Raw, error) {
	out := shownResult{Records: []business.Record{}}
	for _, i := range sortedKeys(u.records) {
		out.Records = append(out.Records, a.shownRecord(i, u))
	}
	for _, p := range sortedKeys(u.places) {
		out.Locations = append(out.Locations, a.shownLocation(p, u))
	}
	for _, key := range sortedKeys(u.lists) {
		out.Lists = append(out.Lists, shownList{Key: key, Values: append([]string{}, u.lists[key]...), Closed: a.schema.Lists[key].Closed})
	}
	var members []jcs.Member
	slices.Sort(u.profile)
	for _, key := range u.profile {
		members = append(members, jcs.Member{Name: key, Value: a.profile[key]})
	}
	if members != nil {
		out.Profile = joinMembers(members)
	}
	if a.live != nil {
		for i := range a.live.used {
			out.Readings = append(out.Readings, a.live.used[i].shown())
		}
	}
	return jcs.Encode(out)
}

// shownRecord is a record with the attributes that were used, a scoped one only at the locations used. Long text is shown on request.
func (a *asking) shownRecord(i int, u *usage) business.Record {
	r := a.records[i]
	shown := business.Record{ID: r.ID, Type: r.Type, Title: r.Title, URL: r.URL, Publisher: cmp.Or(r.Publisher, a.publication.Slug), UpdatedAt: r.UpdatedAt, VerifiedAt: r.VerifiedAt}
	if a.request.content {
		shown.Summary, shown.Content = r.Summary, r.Content
	}
	var members []jcs.Member
	keys := slices.Sorted(slices.Values(u.records[i]))
	priced := false
	for _, key := range keys {
		kind := a.schema.Attributes[key].Kind
		priced = priced || kind == "money" || kind == "money_from" || kind == "money_to"
		if a.schema.Attributes[key].ScopedBy == "" {
			members = append(members, jcs.Member{Name: key, Value: a.values[i].of(key)})
			continue
		}
		var places []jcs.Member
		for _, p := range sortedKeys(a.values[i].scoped[key]) {
			if u.scoped[i][p] {
				places = append(places, jcs.Member{Name: p, Value: a.values[i].scoped[key][p]})
			}
		}
		members = append(members, jcs.Member{Name: key, Value: joinMembers(places)})
	}
	if own := a.values[i].of("currency"); priced && own != nil && !slices.Contains(keys, "currency") {
		members = append(members, jcs.Member{Name: "currency", Value: own})
	}
	if members != nil {
		shown.Attributes = joinMembers(members)
	}
	return shown
}

func (a *asking) shownLocation(i int, u *usage) shownLocation {
	p := &a.places[i]
	out := shownLocation{ID: p.ID, Name: p.Name}
	for _, f := range u.places[i] {
		switch f {
		case "hours":
			out.OpeningHours, out.TimeZone = p.OpeningHours, p.TimeZone
		case "phone":
			out.Phone = p.Phone
		case "email":
			out.Email = p.Email
		case "address":
			out.Address = cmp.Or(p.Address, p.StreetAddress)
		}
	}
	if d, ok := u.distance[i]; ok {
		out.DistanceM, out.Method = &d, method
	}
	return out
}

// sortedKeys are the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
