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
	entries := make([]facts.IndexEntry, 0, maxIndexRows)
	truncated := false
	for e := range s.Index(namespace, today) {
		if len(entries) == maxIndexRows {
			truncated = true
			break
		}
		entries = append(entries, e)
	}
	p := indexPage{
		site:      newSite(s, "Official figures by "+info.Publisher.Name),
		Namespace: namespace,
		Count:     namespaceCount(info, namespace),
		Newest:    info.Newest.String(),
		Groups:    indexGroups(info, namespace, entries),
		Shown:     len(entries),
		Truncated: truncated,
		DataURL:   dataURL(info, namespace),
	}
	if namespace != "" {
		p.Title = namespace + ": figures by " + info.Publisher.Name
	}
	p.Description = fmt.Sprintf("%d official figures, each dated, sourced and hashed.", p.Count)
	for _, key := range info.Examples {
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

// indexGroups keeps every declared namespace in view, with rows as far as they go.
func indexGroups(info *facts.Info, namespace string, entries []facts.IndexEntry) []indexGroup {
	var groups []indexGroup
	at := make(map[string]int)
	for _, ns := range info.Namespaces {
		if !within(ns.Name, namespace) {
			continue
		}
		at[ns.Name] = len(groups)
		groups = append(groups, indexGroup{
			Namespace: ns.Name, Description: ns.Description, Cadence: cadence(info, ns.Name), Authorities: ns.Authorities,
			Count: info.NamespaceCounts[ns.Name], URL: namespaceURL(info, ns.Name),
		})
	}
	for _, e := range entries {
		i, ok := at[facts.KeyNamespace(e.Key)]
		if !ok {
			continue
		}
		row := indexRow{Key: e.Key, URL: path(info, e.Key), Label: e.Label, Value: e.Value.Text(), Unit: e.Unit,
			Period: e.Period, Verified: e.Verified.String(), NotInForce: !e.InForce}
		if !e.Withdrawn.IsZero() {
			row.Withdrawn, row.Value = true, "withdrawn "+e.Withdrawn.String()
		}
		groups[i].Rows = append(groups[i].Rows, row)
	}
	return groups
}

// cadence joins what the areas of a namespace promise.
func cadence(info *facts.Info, namespace string) string {
	var parts []string
	for _, a := range info.Areas {
		if a.Namespace == namespace && a.Cadence != "" {
			parts = append(parts, a.Name+": "+a.Cadence)
		}
	}
	return strings.Join(parts, " · ")
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
		p.Best = &bestFigure{r.Best.Key, path(info, r.Best.Key), f.Label, v.Value.Text(), v.Unit, v.Period, v.Verified.String(), host(v.Source)}
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
	Reason     string
	Hint       string
	Candidates []candidateRow
	Held       []dated
}

func renderMiss(w io.Writer, s *facts.Snapshot, a *facts.Answer, _ facts.Date) error {
	info := s.Info()
	p := missPage{Requested: a.RequestedKey, Key: a.Key, Reason: a.Reason, Hint: a.Hint, Candidates: candidateRows(info, a.Candidates)}
	title := "No figure under this key"
	if a.Key != "" {
		title = "Not held for this period"
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
			row = batchRow{a.Key, path(info, a.Key), f.Label, v.Value.Text(), v.Unit, v.Period, v.Verified.String(), a.Status, a.Notice}
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
