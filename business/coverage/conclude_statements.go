package coverage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// readableResult are the members of a result that a reader tells. Members it does not know are left out (XP-VERSION-002).
type readableResult struct {
	Records []struct {
		Type       string    `json:"type"`
		ID         string    `json:"id"`
		Title      string    `json:"title"`
		Summary    string    `json:"summary"`
		Content    string    `json:"content"`
		Attributes jcs.Raw   `json:"attributes"`
		UpdatedAt  time.Time `json:"updated_at"`
		VerifiedAt time.Time `json:"verified_at"`
	} `json:"records"`
	Locations []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		DistanceM *int64 `json:"distance_m"`
	} `json:"locations"`
	Branches []struct {
		Location  string           `json:"location"`
		DistanceM int64            `json:"distance_m"`
		Open      jcs.Raw          `json:"open"`
		Reading   *readableReading `json:"reading"`
	} `json:"branches"`
	Readings   []readableReading `json:"readings"`
	Subject    *Key              `json:"subject"`
	Neighbours []struct {
		Rel       string `json:"rel"`
		Direction string `json:"direction"`
		Record    struct {
			Type  string `json:"type"`
			ID    string `json:"id"`
			Title string `json:"title"`
		} `json:"record"`
	} `json:"neighbours"`
}

type readableReading struct {
	Stream     string    `json:"stream"`
	Subject    *Key      `json:"subject"`
	Location   string    `json:"location"`
	Value      jcs.Raw   `json:"value"`
	Unit       string    `json:"unit"`
	ObservedAt time.Time `json:"observed_at"`
	Stale      bool      `json:"stale"`
}

func readResult(raw jcs.Raw) (*readableResult, error) {
	r := new(readableResult)
	return r, business.Decode(raw, r)
}

// statements are the decided propositions, then the facts and the parts of the result that no proposition told.
func (x *concluding) statements() []string {
	var out []string
	told := map[string]bool{} // subject and field
	key := func(s Subject, field string) string {
		return strings.Join([]string{s.Type, s.ID, s.Location, field}, "\x00")
	}
	streams := map[string]bool{}
	for _, r := range x.result.Readings {
		streams[key(subjectOf(r.Subject, r.Location), r.Stream)] = true
	}
	for _, p := range x.Coverage.Propositions {
		if streams[key(p.Subject, p.Field)] && p.Op == "" {
			continue // told with its reading, which has the unit and the time
		}
		if line := x.proposition(&p); line != "" {
			told[key(p.Subject, p.Field)] = true
			out = append(out, line)
		}
	}
	for _, f := range x.Coverage.PublisherFacts {
		if !told[key(f.Subject, f.Field)] && !streams[key(f.Subject, f.Field)] {
			told[key(f.Subject, f.Field)] = true
			out = append(out, x.fieldOf(f.Subject, f.Field)+": "+x.value(f.Subject, f.Field, f.Value, f.Unit))
		}
	}
	out = append(out, x.resultLines()...)
	if a := x.Coverage.Answer; len(out) == 0 && a != nil {
		out = append(out, map[string]string{Positive: "yes", Negative: "no"}[a.Polarity])
	}
	return capped(slices.DeleteFunc(out, func(line string) bool { return line == "" }))
}

// proposition is what one decided proposition says, "" for one that is not decided: that stands among what is not answered.
func (x *concluding) proposition(p *Proposition) string {
	detail := x.fieldOf(p.Subject, p.Field)
	if p.PublisherValue != nil {
		detail += ": " + x.value(p.Subject, p.Field, p.PublisherValue, p.Unit)
	}
	if p.Date != "" {
		detail += ", on " + cited(p.Date)
	}
	switch p.Verdict {
	case VerdictPublished:
		if p.PublisherValue == nil && p.Shape != "knowledge.get" {
			return "" // told with the result, such as a distance
		}
		return detail + x.then(p)
	case VerdictStatedInText:
		return detail + " (in the business's own words; nothing was compared with them)"
	case VerdictDeferred:
		return detail + " (on request)"
	case VerdictTrue:
		return x.asked(p) + "yes" + x.then(p) + "; " + x.narrower(p) + detail
	case VerdictFalse:
		return x.asked(p) + "no, as published" + x.then(p) + "; " + detail
	case VerdictExcluded:
		return x.asked(p) + "no, it is not in the list that the business declares complete; " + detail
	}
	return ""
}

// staleNote goes with everything that follows from a reading past its budget (XP-FRESHNESS-006).
const staleNote = " (stale: not what is so now)"

// then marks a proposition that was decided by a stale reading. The envelope names no stream beside a proposition: what is about the same record and place is
// taken for its reading.
func (x *concluding) then(p *Proposition) string {
	if !slices.ContainsFunc(x.Coverage.Unresolved, func(g Gap) bool {
		return g.Reason == ReasonStale && g.Clause == p.Clause && (g.Field == "" || g.Field == p.Field) && (g.Location == "" || g.Location == p.Subject.Location)
	}) {
		return ""
	}
	known := false
	for _, r := range x.result.Readings {
		about := (r.Subject == nil || r.Subject.Type == p.Subject.Type && r.Subject.ID == p.Subject.ID) && (r.Location == "" || r.Location == p.Subject.Location)
		if about && r.Stale {
			return staleNote
		}
		known = known || about
	}
	if known {
		return ""
	}
	return staleNote
}

// asked introduces the caller's words as such (XP-COVERAGE-008).
func (x *concluding) asked(p *Proposition) string {
	switch {
	case p.RequestValue != "":
		return "asked " + cited(p.RequestValue) + ": "
	case p.Asked != nil:
		return "asked " + cited(p.Asked.Text) + ": "
	}
	return ""
}

func (x *concluding) narrower(p *Proposition) string {
	if p.Match == "narrower" {
		return "something narrower, "
	}
	return ""
}

// found names what an answer shows when nothing was decided about it.
func (x *concluding) found() []string {
	var out []string
	for _, r := range x.result.Records {
		out = append(out, "it publishes "+x.name(Subject{Type: r.Type, ID: r.ID}))
	}
	if out == nil {
		return []string{"nothing in so many words; what was found stands in the answer"}
	}
	return capped(out)
}

// resultLines are texts, places, links and readings of the result.
func (x *concluding) resultLines() []string {
	var out []string
	for _, r := range x.result.Records {
		subject := Subject{Type: r.Type, ID: r.ID}
		for _, text := range []string{r.Summary, r.Content} {
			if text != "" {
				out = append(out, x.name(subject)+" in the business's own words: "+cited(text))
			}
		}
		if line := aged(r.UpdatedAt, r.VerifiedAt); line != "" {
			out = append(out, x.name(subject)+": "+line)
		}
	}
	for _, l := range x.result.Locations {
		if l.DistanceM != nil {
			out = append(out, x.placeName(l.ID)+": "+metres(*l.DistanceM))
		}
	}
	for _, b := range x.result.Branches {
		line := x.placeName(b.Location) + ": " + metres(b.DistanceM)
		if b.Open != nil {
			line += ", open at the time asked: " + map[string]string{"true": "yes", "false": "no"}[string(b.Open)]
			if string(b.Open) != "true" && string(b.Open) != "false" {
				line += "not known"
			}
		}
		if b.Reading != nil {
			line += "; " + x.reading(b.Reading)
		}
		out = append(out, line)
	}
	for i := range x.result.Readings {
		out = append(out, x.reading(&x.result.Readings[i]))
	}
	for _, n := range x.result.Neighbours {
		other, own := cited(n.Record.Title)+" ["+cited(n.Record.Type+"/"+n.Record.ID)+"]", "it"
		if x.result.Subject != nil {
			own = x.name(subjectOf(x.result.Subject, ""))
		}
		if n.Direction == "in" {
			own, other = other, own
		}
		out = append(out, own+" "+cited(n.Rel)+" "+other)
	}
	return out
}

// aged keeps when a text was changed apart from when somebody confirmed it (XP-IDENTITY-003); what is not stated is not mentioned.
func aged(updated, verified time.Time) string {
	var parts []string
	if !updated.IsZero() {
		parts = append(parts, "text last changed at "+instantText(updated))
	}
	if !verified.IsZero() {
		parts = append(parts, "confirmed to be still true at "+instantText(verified))
	}
	return strings.Join(parts, ", ")
}

func metres(n int64) string { return fmt.Sprintf("%d m away in a straight line", n) }

func (x *concluding) reading(r *readableReading) string {
	line := x.fieldOf(subjectOf(r.Subject, r.Location), r.Stream) + ": " + valueText(r.Value)
	if r.Unit != "" {
		line += " " + cited(r.Unit)
	}
	line += ", observed at " + instantText(r.ObservedAt)
	if r.Stale {
		line += staleNote
	}
	return line
}

func subjectOf(k *Key, location string) Subject {
	s := Subject{Location: location}
	if k != nil {
		s.Type, s.ID = k.Type, k.ID
	}
	return s
}

// fieldOf names a subject and a field of it.
func (x *concluding) fieldOf(s Subject, field string) string {
	out := x.name(s)
	if field != "" {
		if out != "" {
			out += ", "
		}
		out += fieldName(field)
	}
	return out
}

// name is the title of a record, with its key, or the name of a place; "" for the publisher itself, whom the sentence names.
func (x *concluding) name(s Subject) string {
	var parts []string
	if s.ID != "" {
		title := ""
		for _, r := range x.result.Records {
			if r.Type == s.Type && r.ID == s.ID {
				title = cited(r.Title) + " "
			}
		}
		parts = append(parts, title+"["+cited(s.Type+"/"+s.ID)+"]")
	}
	if s.Location != "" {
		parts = append(parts, "at "+x.placeName(s.Location))
	}
	return strings.Join(parts, " ")
}

func (x *concluding) placeName(id string) string {
	for _, l := range x.result.Locations {
		if l.ID == id && l.Name != "" {
			return cited(l.Name) + " [" + cited(id) + "]"
		}
	}
	for _, l := range x.Publisher.Locations {
		if l.ID == id && l.Name != "" {
			return cited(l.Name) + " [" + cited(id) + "]"
		}
	}
	return "[" + cited(id) + "]"
}

// canonicalFields have one meaning for every publisher; any other name is the publisher's own word (XP-IDENTITY-004).
var canonicalFields = []string{"price", "duration", "stock", "available", "hours", "phone", "email", "address", "distance", "links", "record", "variant", "location", "date", "caller_location"}

func fieldName(field string) string {
	if slices.Contains(canonicalFields, field) {
		return strings.ReplaceAll(field, "_", " ")
	}
	return cited(field)
}

// value is a publisher's literal with the unit that is stated beside it. A price without one has the currency that its record states, and says so when it states
// none: none is ever assumed.
func (x *concluding) value(s Subject, field string, v jcs.Raw, unit string) string {
	text := valueText(v)
	if unit != "" {
		return text + " " + cited(unit)
	}
	if field != "price" || len(v) == 0 || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return text
	}
	for _, r := range x.result.Records {
		if r.Type != s.Type || r.ID != s.ID {
			continue
		}
		members, _ := business.Members(r.Attributes)
		for _, m := range members {
			if currency, ok := jcs.Text(m.Value); ok && m.Name == "currency" {
				return text + " " + cited(currency)
			}
		}
	}
	return text + " (the answer states no currency)"
}

// valueText is a JSON value for people: digits as published, texts as data.
func valueText(v jcs.Raw) string {
	if text, ok := jcs.Text(v); ok {
		return cited(text)
	}
	switch string(v) {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	var list []jcs.Raw
	if business.Decode(v, &list) == nil && list != nil {
		items := make([]string, 0, min(len(list), maxLines)+1)
		for _, item := range list {
			if len(items) == maxLines {
				items = append(items, "…")
				break
			}
			if text, ok := jcs.Text(item); ok {
				items = append(items, cited(text))
			} else {
				items = append(items, literalText(item))
			}
		}
		return strings.Join(items, ", ")
	}
	return literalText(v)
}

// literalText is a number as published, and any other value as its quoted text.
func literalText(v jcs.Raw) string {
	if len(v) > 0 && len(v) <= maxCited && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') {
		return string(v)
	}
	return cited(string(v))
}
