package web

import (
	"fmt"
	"io"
	"strings"

	"sayso/facts"
)

// maxIndexRows bounds the table of the index page; the page says when it was reached.
const maxIndexRows = 500

type indexRow struct {
	Key, URL, Label, Value, Unit, Period, Verified string
	Withdrawn, NotInForce                          bool
}

type indexGroup struct {
	Namespace, Description string
	Cadence                string
	Authorities            []string
	Count                  int
	URL                    string
	Rows                   []indexRow
}

type indexPage struct {
	site
	Namespace string
	Count     int
	Newest    string
	Groups    []indexGroup
	Shown     int
	Truncated bool
	Examples  []crumb
	DataURL   string
}

func renderIndex(w io.Writer, s *facts.Snapshot, namespace string, today facts.Date) error {
	info := s.Info()
	groups, entries := indexGroups(s, namespace, today)
	p := indexPage{
		site:      newSite(s, "Official figures by "+info.Publisher.Name),
		Namespace: namespace,
		Count:     namespaceCount(info, namespace),
		Groups:    groups,
		Shown:     len(entries),
		DataURL:   dataURL(info, namespace),
	}
	p.Truncated = p.Shown < p.Count
	for _, e := range entries {
		p.Newest = max(p.Newest, e.Verified.String())
	}
	if namespace != "" {
		p.Title = namespace + ": figures by " + info.Publisher.Name
	}
	p.Description = fmt.Sprintf("%d official figures, each dated, sourced and hashed.", p.Count)
	for _, key := range info.Examples {
		if !within(facts.KeyNamespace(key), namespace) {
			continue
		}
		p.Examples = append(p.Examples, crumb{key, path(info, key)})
	}
	p.Canonical = info.Origin + pageURL(info, namespace)
	p.JSONLD = datasetLD(info, p.Description, p.Canonical, info.Origin+p.DataURL, entries)
	p.Alternates = []alternate{{"application/json", "JSON", p.DataURL}}
	p.Scripts = []string{"/assets/search.js"}
	return render(w, "index", p)
}

// pageURL is the index page on this site.
func pageURL(info *facts.Info, namespace string) string {
	switch {
	case info.Static:
		return "/f/index.html"
	case namespace != "":
		return namespaceURL(info, namespace)
	}
	return "/f"
}

func dataURL(info *facts.Info, namespace string) string {
	switch {
	case info.Static:
		return "/f/index.json"
	case namespace != "":
		return namespaceURL(info, namespace) + "&format=json"
	}
	return "/f?format=json"
}

// namespaceCount counts a namespace with its subdivisions, everything for "".
func namespaceCount(info *facts.Info, namespace string) int {
	if namespace == "" {
		return info.Count
	}
	n := 0
	for name, count := range info.NamespaceCounts {
		if within(name, namespace) {
			n += count
		}
	}
	return n
}

// within reports whether a namespace is another or one of its subdivisions.
func within(name, namespace string) bool {
	return namespace == "" || name == namespace || strings.HasPrefix(name, namespace+"-")
}

// indexGroups has a group for every declared namespace in view, in the publisher's order. All get an equal share of the rows, and what a small one leaves
// goes to those after it.
func indexGroups(s *facts.Snapshot, namespace string, today facts.Date) (groups []indexGroup, entries []facts.IndexEntry) {
	info := s.Info()
	for _, ns := range info.Namespaces {
		if within(ns.Name, namespace) {
			groups = append(groups, indexGroup{
				Namespace: ns.Name, Description: ns.Description, Cadence: cadence(info, ns.Name), Authorities: ns.Authorities,
				Count: info.NamespaceCounts[ns.Name], URL: namespaceURL(info, ns.Name),
			})
		}
	}
	for i := range groups {
		share := (maxIndexRows - len(entries)) / (len(groups) - i)
		for e := range s.Index(groups[i].Namespace, today) {
			if facts.KeyNamespace(e.Key) != groups[i].Namespace {
				continue // of a subdivision, which is a group of its own
			}
			if len(groups[i].Rows) == share {
				break
			}
			entries = append(entries, e)
			groups[i].Rows = append(groups[i].Rows, newIndexRow(info, e))
		}
	}
	return groups, entries
}

func newIndexRow(info *facts.Info, e facts.IndexEntry) indexRow {
	row := indexRow{Key: e.Key, URL: path(info, e.Key), Label: e.Label, Value: brief(e.Value), Unit: e.Unit,
		Period: e.Period, Verified: e.Verified.String(), NotInForce: !e.InForce}
	if !e.Withdrawn.IsZero() {
		row.Withdrawn, row.Value = true, "withdrawn "+e.Withdrawn.String()
	}
	return row
}

// cadence says what the areas of a namespace promise; areas with the same promise share it.
func cadence(info *facts.Info, namespace string) string {
	var promises []string
	areas := make(map[string][]string)
	for _, a := range info.Areas {
		if a.Namespace != namespace || a.Cadence == "" {
			continue
		}
		if areas[a.Cadence] == nil {
			promises = append(promises, a.Cadence)
		}
		areas[a.Cadence] = append(areas[a.Cadence], a.Name)
	}
	if len(promises) == 1 {
		return promises[0]
	}
	for i, p := range promises {
		promises[i] = strings.Join(areas[p], ", ") + ": " + p
	}
	return strings.Join(promises, " · ")
}

type candidateRow struct {
	Key, URL, Label, Unit, Period, Verified, Score string
	Matched                                        []string
}

func candidateRows(info *facts.Info, list []facts.Candidate) []candidateRow {
	rows := make([]candidateRow, len(list))
	for i, c := range list {
		rows[i] = candidateRow{c.Key, path(info, c.Key), c.Label, c.Unit, c.Period, c.Verified.String(), thousandths(c.Score), c.Matched}
	}
	return rows
}

type bestFigure struct {
	Key, URL, Label, Value, Unit, Period, Verified, SourceHost string
}

type resolvePage struct {
	site
	Query      string
	Candidates []candidateRow
	Best       *bestFigure
	Hint       string
}

func renderResolve(w io.Writer, s *facts.Snapshot, r *facts.Resolution, _ facts.Date) error {
	info := s.Info()
	p := resolvePage{site: newSite(s, "Search: "+r.Query), Query: r.Query, Candidates: candidateRows(info, r.Candidates), Hint: r.Hint}
	if r.Best != nil && r.Best.Outcome == facts.OutcomeRecord {
		f, v := r.Best.Value()
		p.Best = &bestFigure{r.Best.Key, path(info, r.Best.Key), f.Label, brief(v.Value), v.Unit, v.Period, v.Verified.String(), host(v.Source)}
	}
	p.NoIndex = true
	p.Scripts = []string{"/assets/search.js"}
	return render(w, "resolve", p)
}

type missPage struct {
	site
	Requested  string
	Key        string
	KeyURL     string
	Label      string
	Asked      string // the day or period asked for, "" for today
	Several    bool
	Hint       string
	Candidates []candidateRow
	Held       []dated
}

func renderMiss(w io.Writer, s *facts.Snapshot, a *facts.Answer, _ facts.Date) error {
	info := s.Info()
	p := missPage{Requested: a.RequestedKey, Key: a.Key, Several: a.Reason == facts.ReasonSeveralValues, Hint: a.Hint, Candidates: candidateRows(info, a.Candidates)}
	title := "No figure under this key"
	if a.Key != "" {
		title = "Not held"
		switch {
		case a.Selection.Period != "":
			p.Asked = "period " + a.Selection.Period
		case !a.Selection.AsOf.IsZero():
			p.Asked = a.Selection.AsOf.String()
		}
		if f, _, ok := s.History(a.Key); ok {
			p.Label = f.Label
			p.Held = historyRows(f, &facts.DatedValue{})
		}
		p.KeyURL = path(info, a.Key)
	}
	p.site = newSite(s, title)
	p.NoIndex = true
	p.Scripts = []string{"/assets/search.js"}
	return render(w, "miss", p)
}

type batchRow struct {
	Key, URL, Label, Value, Unit, Period, Verified, Status, Note string
}

type batchPage struct {
	site
	Rows   []batchRow
	Status string
	Misses int
}

func renderBatch(w io.Writer, s *facts.Snapshot, b *facts.Batch, _ facts.Date) error {
	info := s.Info()
	p := batchPage{site: newSite(s, plural(len(b.Answers), "figure")), Status: b.Status, Misses: b.Misses}
	for i := range b.Answers {
		a := &b.Answers[i]
		row := batchRow{Key: a.Key}
		switch a.Outcome {
		case facts.OutcomeRecord:
			f, v := a.Value()
			row = batchRow{a.Key, path(info, a.Key), f.Label, brief(v.Value), v.Unit, v.Period, v.Verified.String(), a.Status, a.Notice}
			if !v.Withdrawn.IsZero() {
				row.Value = "withdrawn " + v.Withdrawn.String()
			}
		case facts.OutcomeNotHeld:
			row.URL, row.Note = path(info, a.Key), a.Reason
		default:
			row.Key, row.Note = a.RequestedKey, "unknown key"
		}
		p.Rows = append(p.Rows, row)
	}
	p.NoIndex = true
	return render(w, "batch", p)
}
