package bundle

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones are the same on every machine

	"sayso/business"
	"sayso/business/hours"
	"sayso/jcs"
)

// locations reads the places of a business.
func (r *row) locations(raw jcs.Raw) (out []business.Location) {
	objects := r.objects("locations", raw)
	if len(objects) > MaxLocations {
		r.fail(ruleLimit, "locations", "split the business into several publishers", "there are more than %d locations", MaxLocations)
		return nil
	}
	for i, object := range objects {
		field := "locations." + strconv.Itoa(i)
		var l business.Location
		stated := false
		for _, m := range object {
			switch {
			case isNull(m.Value):
				r.fail(ruleForm, field+"."+m.Name, "leave the member out: that says not stated", "%s of a location is null", clip(m.Name))
			case m.Name == "primary":
				stated = true
				if !isBool(m.Value) {
					r.fail(ruleBool, field+".primary", "write true or false", "primary is %s where a boolean is expected", kindOf(m.Value))
				}
				l.Primary = string(m.Value) == "true"
			case m.Name == "latitude":
				l.Latitude = bytes.Clone(m.Value)
			case m.Name == "longitude":
				l.Longitude = bytes.Clone(m.Value)
			case m.Name == "opening_hours":
				l.OpeningHours = r.openingHours(field+".opening_hours", r.word(field+".opening_hours", m.Value))
			default:
				r.locationText(field, &l, m)
			}
		}
		if !stated && len(objects) == 1 {
			l.Primary = true
		}
		if l.ID == "" {
			l.ID = business.City(l.Name)
		}
		r.checkLocation(field, &l)
		out = append(out, l)
	}
	return out
}

func (r *row) locationText(field string, l *business.Location, m jcs.Member) {
	targets := map[string]*string{
		"id": &l.ID, "name": &l.Name, "address": &l.Address, "street_address": &l.StreetAddress, "locality": &l.Locality, "postal_code": &l.PostalCode,
		"country_code": &l.CountryCode, "country": &l.Country, "phone": &l.Phone, "email": &l.Email, "time_zone": &l.TimeZone,
	}
	if target, ok := targets[m.Name]; ok {
		*target = r.name(field+"."+m.Name, m.Value)
		return
	}
	r.warn(ruleUnknown, field, "a location has no members of its own kind; what it offers is a record scoped by location", "the member %q of a location is not known and was dropped", clip(m.Name))
}

// openingHours is the canonical text of a value; a value that is not understood is refused, never guessed.
func (r *row) openingHours(field, value string) string {
	if value == "" {
		return ""
	}
	h, warnings, err := hours.Parse(value)
	if err != nil {
		token := ""
		if e, ok := err.(*hours.Error); ok && e.Token != "" {
			token = " at " + strconv.Quote(clip(e.Token))
		}
		r.fail(ruleHours, field, "write it in the opening_hours syntax, such as Mo-Fr 09:00-17:00; Sa 09:00-13:00, or leave the member out", "the value %q is not understood%s: %v", clip(value), token, err)
		return ""
	}
	for _, w := range warnings {
		if strings.HasPrefix(w.Code, "repair") {
			r.warn(ruleRepair, field, "write "+h.String(), "%s: %s", w.Code, w.Message)
		}
	}
	return h.String()
}

// checkLocation checks one place by itself.
func (r *row) checkLocation(field string, l *business.Location) {
	if l.ID == "" {
		r.fail(ruleRequired, field+".id", "state an id, or a name to make it from", "the location has neither an id nor a name that gives one")
	} else if !business.ValidID(l.ID) {
		r.fail(ruleName, field+".id", "use 1 to 256 characters without control characters", "id %q is no id", clip(l.ID))
	}
	switch {
	case (l.Latitude == nil) != (l.Longitude == nil):
		r.fail(rulePosition, field, "state both, or neither", "the location has only one of latitude and longitude")
	case l.Latitude != nil && (!within(l.Latitude, 90) || !within(l.Longitude, 180)):
		r.fail(rulePosition, field, "write numbers of degrees without quotes, latitude within 90 and longitude within 180", "latitude %s and longitude %s are no position", clip(string(l.Latitude)), clip(string(l.Longitude)))
	}
	if l.TimeZone != "" && !knownZone(l.TimeZone) {
		r.fail(ruleZone, field+".time_zone", "use a name of the IANA database, such as Europe/Berlin", "%q is no time zone", clip(l.TimeZone))
	}
	if c := l.CountryCode; c != "" && (len(c) != 2 || c[0] < 'A' || c[0] > 'Z' || c[1] < 'A' || c[1] > 'Z') {
		r.fail(ruleCountry, field+".country_code", "use the ISO 3166-1 code in upper case, such as DE", "%q is no country code", clip(c))
	}
}

func within(literal jcs.Raw, bound float64) bool {
	if !isNumber(literal) || !tame(string(literal)) {
		return false
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	return err == nil && -bound <= f && f <= bound
}

// knownZone reports whether a name is in the IANA database. "Local" and "" are names of Go alone.
func knownZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "Local"
}

// finishLocations checks what the places have in common.
func finishLocations(r *row, list []business.Location) {
	ids := map[string]bool{}
	primary := 0
	for i, l := range list {
		if l.ID != "" && ids[l.ID] {
			r.fail(rulePrimary, "locations."+strconv.Itoa(i)+".id", "state an id for each of them", "two locations have the id %q", clip(l.ID))
		}
		ids[l.ID] = true
		if l.Primary {
			primary++
		}
	}
	if len(list) > 0 && primary != 1 {
		r.fail(rulePrimary, "locations", "write primary: true at exactly one of them", "%d of %d locations are primary", primary, len(list))
	}
}
