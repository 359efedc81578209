package report

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"clean":   Clean,
	"heading": func(o Outcome) string { return words[o] },
}).Parse(page))

var words = map[Outcome]string{Fail: "Failed", Warning: "Warnings", NotTested: "Not tested", Pass: "Passed"}

type htmlPage struct {
	*Report
	Groups []htmlGroup
}

type htmlGroup struct {
	Outcome Outcome
	Rows    []htmlRow
}

type htmlRow struct {
	Finding
	Title string
}

// WriteHTML prints a self-contained page without script.
func (r *Report) WriteHTML(w io.Writer) error {
	p := htmlPage{Report: r}
	for _, g := range r.groups() {
		rows := make([]htmlRow, len(g.Findings))
		for i, f := range g.Findings {
			rows[i] = htmlRow{f, r.title(f.Rule)}
		}
		p.Groups = append(p.Groups, htmlGroup{g.Outcome, rows})
	}
	return pageTemplate.Execute(w, p)
}
