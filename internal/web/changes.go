package web

import (
	"io"
	"slices"

	"sayso/facts"
)

// maxChangeRows bounds the changes page; older entries are in the document it links.
const maxChangeRows = 200

type changeRow struct {
	Key, URL, Label, From, To, Unit, Period, EffectiveFrom, Source, SourceHost string
	First, Withdrawn, Correction                                               bool
}

type changeDay struct {
	Date string
	Rows []changeRow
}

type changesPage struct {
	site
	Days      []changeDay
	Count     int
	Truncated bool
	ChainHead string
	DataURL   string
	FeedURL   string
}

func renderChanges(w io.Writer, s *facts.Snapshot, _ facts.Date) error {
	info := s.Info()
	entries := s.Entries()
	p := changesPage{
		site: newSite(s, "Changes by "+info.Publisher.Name), Count: len(entries), Truncated: len(entries) > maxChangeRows,
		ChainHead: s.ChainHead(), DataURL: "/changes.json", FeedURL: "/changes.atom",
	}
	shown := 0
	for _, e := range slices.Backward(entries) {
		if shown == maxChangeRows {
			break
		}
		shown++
		day := e.VerifiedDate.String()
		if n := len(p.Days); n == 0 || p.Days[n-1].Date != day {
			p.Days = append(p.Days, changeDay{Date: day})
		}
		d := &p.Days[len(p.Days)-1]
		d.Rows = append(d.Rows, changeRow{
			Key: e.FactKey, URL: path(info, e.FactKey), Label: e.Label, From: valueText(e.From), To: valueText(e.To),
			Unit: e.Unit, Period: e.Period, EffectiveFrom: e.EffectiveFrom.String(), Source: e.Source, SourceHost: host(e.Source),
			First: isNull(e.From), Withdrawn: isNull(e.To), Correction: e.Correction,
		})
	}
	p.Description = "What changed, when it was read, and where."
	p.Canonical = info.Origin + "/changes"
	if info.Static {
		p.Canonical = info.Origin + "/changes.html"
	}
	p.Alternates = []alternate{{"application/json", "JSON", p.DataURL}, {"application/atom+xml", "Atom feed", p.FeedURL}}
	return render(w, "changes", p)
}

func isNull(v facts.Value) bool { return v == "" || v == facts.Null }

func valueText(v facts.Value) string {
	if isNull(v) {
		return ""
	}
	return brief(v)
}

type protocolPage struct {
	site
	Conformance string
	Origin      string
	Example     crumb
	Count       int
	Signed      bool
	KeyPolicy   string
	History     string
	Licence     string
	Contact     string
	Namespaces  []facts.Namespace
}

func renderProtocol(w io.Writer, s *facts.Snapshot, _ facts.Date) error {
	info := s.Info()
	p := protocolPage{
		site: newSite(s, "How to read this publisher"), Conformance: info.Conformance, Origin: info.Origin, Count: info.Count,
		Signed: info.Signed, KeyPolicy: info.KeyPolicy, History: info.History, Licence: info.Licence, Contact: info.Contact,
		Namespaces: info.Namespaces,
	}
	for key := range s.Keys() {
		p.Example = crumb{key, path(info, key)}
		break
	}
	if len(info.Examples) > 0 {
		p.Example = crumb{info.Examples[0], path(info, info.Examples[0])}
	}
	p.Canonical = info.Origin + "/protocol/facts"
	p.Description = "Verified Facts 0.2: one key, one official figure, dated, sourced, hashed and signed."
	return render(w, "protocol", p)
}
