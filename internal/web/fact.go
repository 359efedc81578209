package web

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"sayso/facts"
)

type crumb struct{ Name, URL string }

// dated is one row of a history.
type dated struct {
	Value, Unit, Period, From, To, Verified, Source, SourceHost string
	Shown                                                       bool // the value this page is about
	Withdrawn                                                   bool
}

type factPage struct {
	site
	Key          string
	Crumbs       []crumb
	RequestedKey string
	Resolved     *facts.Match
	Score        string

	Label, Value, Unit, Period string
	Grid                       *grid  // an array of like objects
	Structured                 string // indented JSON of any other object or array, "" otherwise
	Scope                      string
	From, To                   string
	InForce                    string
	Status, StatusWords        string
	Notice                     string

	Withdrawn, WithdrawnReason string
	SupersededBy               crumb

	Source, SourceHost, SourceFile, Quote string
	Method                                string
	Converted                             bool
	Verified, NextCheck                   string

	Previous *dated
	History  []dated
	Chart    *chart
	Aliases  []string

	Hash, Kid, JWS string
	VerifyURL      string
}

func renderFact(w io.Writer, s *facts.Snapshot, a *facts.Answer, today facts.Date) error {
	info := s.Info()
	fact, v := a.Value()
	history, _, ok := s.History(a.Key)
	if !ok {
		return fmt.Errorf("web: no history for %q", a.Key)
	}
	p := factPage{
		site:         newSite(s, fact.Label),
		Key:          a.Key,
		Crumbs:       crumbs(info, a.Key),
		RequestedKey: a.RequestedKey,
		Resolved:     a.Resolved,
		Label:        fact.Label,
		Value:        v.Value.Text(),
		Unit:         v.Unit,
		Period:       v.Period,
		Grid:         newGrid(v.Value),
		Structured:   structured(v.Value),
		Scope:        fact.Scope,
		From:         v.From.String(),
		To:           v.To.String(),
		InForce:      span(v.From, v.To),
		Notice:       a.Notice,
		Source:       v.Source,
		SourceHost:   host(v.Source),
		SourceFile:   v.SourceFile,
		Quote:        v.Quote,
		Method:       v.Method,
		Converted:    v.Converted,
		Verified:     v.Verified.String(),
		NextCheck:    a.NextRefresh().String(),
		Aliases:      fact.Aliases,
		Hash:         a.Hash,
		VerifyURL:    info.Origin + recordPath(info, a.Key),
	}
	if a.Resolved != nil {
		p.Score = thousandths(a.Resolved.Score)
	}
	if !v.Withdrawn.IsZero() {
		p.Withdrawn, p.WithdrawnReason = v.Withdrawn.String(), v.WithdrawnReason
		if v.SupersededBy != "" {
			p.SupersededBy = crumb{v.SupersededBy, path(info, v.SupersededBy)}
		}
	}
	if info.Static {
		p.Chart = newChart(history, 0) // the bytes of a file depend on no day between two boundaries (F§10.8)
		p.Notice = notInForce(v, today)
	} else {
		p.Chart = newChart(history, today)
		p.Status = a.Status
		p.StatusWords = statusWords(a, v, today)
	}
	if v.Signature != nil {
		p.Kid, p.JWS = v.Signature.Kid, v.Signature.JWS
	}
	if prev := fact.Previous; prev != nil {
		p.Previous = &dated{Value: brief(prev.Value), Unit: v.Unit, Period: prev.Period, From: prev.From.String(),
			Source: prev.Source, SourceHost: host(prev.Source)}
	}
	p.History = historyRows(history, &v)
	p.Canonical = info.Origin + path(info, a.Key)
	p.Description = sentence(fact.Label, v)
	p.JSONLD = claimLD(info, fact.Label, v)
	p.Alternates = []alternate{{"application/json", "JSON", jsonPath(info, a.Key)}}
	if !info.Static {
		p.Alternates = append(p.Alternates, alternate{"text/plain", "one line of text", "/f/" + a.Key + "?format=txt"})
	}
	p.Scripts = []string{"/assets/verify.js"}
	return render(w, "fact", p)
}

// crumbs link the namespace; deeper prefixes have no page of their own.
func crumbs(info *facts.Info, key string) []crumb {
	segments := strings.Split(key, "/")
	out := make([]crumb, len(segments))
	for i, seg := range segments {
		out[i].Name = seg
	}
	out[0].URL = namespaceURL(info, segments[0])
	return out
}

func namespaceURL(info *facts.Info, namespace string) string {
	if info.Static {
		return "/f/index.html#" + namespace
	}
	return "/f?namespace=" + url.QueryEscape(namespace)
}

func historyRows(f *facts.Fact, shown *facts.DatedValue) []dated {
	rows := make([]dated, 0, len(f.Values))
	for i := range f.Values {
		v := &f.Values[i]
		rows = append(rows, dated{
			Value: brief(v.Value), Unit: v.Unit, Period: v.Period,
			From: v.From.String(), To: v.To.String(), Verified: v.Verified.String(), Source: v.Source,
			Shown:     v.From == shown.From && v.Period == shown.Period && v.Value == shown.Value,
			Withdrawn: !v.Withdrawn.IsZero(),
		})
	}
	return rows
}

// span says in words from when until when a value applies.
func span(from, to facts.Date) string {
	switch {
	case from.IsZero() && to.IsZero():
		return ""
	case to.IsZero():
		return "from " + from.String()
	case from.IsZero():
		return "until " + to.String()
	}
	return "from " + from.String() + " to " + to.String()
}

// notInForce says of a file's value that it is not the value of the day; a server does not answer with such a value.
func notInForce(v facts.DatedValue, today facts.Date) string {
	switch {
	case !v.To.IsZero() && v.To < today:
		return "Not in force: this value ended on " + v.To.String() + " and no later one is held."
	case v.From > today:
		return "Not in force yet: this value begins on " + v.From.String() + "."
	}
	return ""
}

// statusWords gives the reason behind fresh or stale.
func statusWords(a *facts.Answer, v facts.DatedValue, today facts.Date) string {
	age := plural(a.AgeDays, "day") + " ago"
	if a.AgeDays == 0 {
		age = "today"
	}
	checked := "checked " + age
	if v.Converted {
		checked = "taken over from its upstream " + age
	}
	switch {
	case a.MaxAgeDays != facts.NoMaxAge && a.Status == "fresh":
		return checked + ", within the " + plural(a.MaxAgeDays, "day") + " you asked for"
	case a.MaxAgeDays != facts.NoMaxAge:
		return checked + ", older than the " + plural(a.MaxAgeDays, "day") + " you asked for"
	case a.Status == "stale":
		return checked + "; the publisher's own next check was due on " + a.NextRefresh().String()
	case a.Staleness(today) == "due":
		return checked + "; the next check has been due since " + a.NextRefresh().String()
	case !a.NextRefresh().IsZero():
		return checked + "; next check by " + a.NextRefresh().String()
	}
	return checked
}

func plural(n int, noun string) string {
	if n == 1 || n == -1 {
		return strconv.Itoa(n) + " " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func thousandths(n int) string { return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) }

func host(source string) string {
	u, err := url.Parse(source)
	if err != nil {
		return source
	}
	return u.Host
}

// structured indents an object or array so that people can read it; scalars give "".
func structured(v facts.Value) string {
	if k := v.Kind(); k != "object" && k != "array" {
		return ""
	}
	var b bytes.Buffer
	indent(&b, string(v))
	return b.String()
}

// indent lays out canonical JSON, two spaces a level.
func indent(b *bytes.Buffer, text string) {
	depth, inString := 0, false
	line := func() {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("  ", depth))
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if inString {
			b.WriteByte(c)
			if c == '\\' {
				i++
				b.WriteByte(text[i])
			} else if c == '"' {
				inString = false
			}
			continue
		}
		switch c {
		case '"':
			inString = true
			b.WriteByte(c)
		case '{', '[':
			b.WriteByte(c)
			if next := text[i+1]; next == '}' || next == ']' {
				i++
				b.WriteByte(next)
				break
			}
			depth++
			line()
		case '}', ']':
			depth--
			line()
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			line()
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
}

// sentence is a figure in words: label, value, unit and period.
func sentence(label string, v facts.DatedValue) string {
	var b strings.Builder
	b.WriteString(label)
	b.WriteString(": ")
	if !v.Withdrawn.IsZero() {
		b.WriteString("withdrawn " + v.Withdrawn.String())
		return b.String()
	}
	b.WriteString(v.Value.Text())
	if v.Unit != "" {
		b.WriteString(" " + v.Unit)
	}
	if v.Period != "" {
		b.WriteString(" (" + v.Period + ")")
	}
	if v.Converted {
		b.WriteString(", converted, not re-read")
	}
	return b.String()
}
