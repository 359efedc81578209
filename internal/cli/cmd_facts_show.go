package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
)

func init() { register("facts", newFactsShow) }

func newFactsShow(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "show [DIR] [KEY]",
		Short: "Show what a folder holds",
		Long: "Show prints everything the folder holds about a figure: its values with their state, confirmations and signatures, and its entries in the changelog. " +
			"Without KEY it lists the figures with their value of today, drafts and candidates included.",
		Example: "  sayso facts show figures\n  sayso facts show figures uk/income-tax/personal-allowance --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			dir, key, err := folderAndKey(args, true)
			if err != nil {
				return err
			}
			folder, err := loadFolder(dir)
			if err != nil {
				return err
			}
			if key == "" {
				return e.listFacts(dir, folder)
			}
			return e.showFact(dir, folder, key)
		},
	}
}

// listedFact is one line of the list: the value of today, and one line for each value that waits to be confirmed.
type listedFact struct {
	Key       string      `json:"key"`
	Label     string      `json:"label"`
	State     string      `json:"state"` // in force | not in force | draft | candidate
	Value     facts.Value `json:"value"`
	Unit      string      `json:"unit,omitempty"`
	Period    string      `json:"period,omitempty"`
	From      facts.Date  `json:"effectiveFrom"`
	To        facts.Date  `json:"effectiveTo"`
	Verified  facts.Date  `json:"verifiedDate"`
	Converted bool        `json:"converted,omitzero"` // confirmed as converted, not re-read
}

func (e *env) listFacts(dir string, folder *dataset.Folder) error {
	ds, err := folder.Dataset(dataset.DatasetOptions{Level: "L1"})
	if err != nil {
		return actFailure(dir, err)
	}
	result := struct {
		Folder    string          `json:"folder"`
		Publisher facts.Publisher `json:"publisher"`
		Day       facts.Date      `json:"day"`
		Facts     []listedFact    `json:"facts"`
	}{Folder: dir, Publisher: folder.Publisher.Publisher, Day: today()}
	for i := range ds.Facts {
		f := &ds.Facts[i]
		v, state := valueOn(f.Values, result.Day)
		result.Facts = append(result.Facts, listed(f.Key, f.Label, state, v))
	}
	for state, topics := range map[string][]dataset.Topic{"draft": folder.Topics, "candidate": folder.Candidates} {
		for i := range topics {
			for j := range topics[i].Facts {
				f := &topics[i].Facts[j]
				for k := range f.Values {
					if v := &f.Values[k]; v.Draft() {
						result.Facts = append(result.Facts, listed(f.Key, f.Label, state, &v.DatedValue))
					}
				}
			}
		}
	}
	slices.SortStableFunc(result.Facts, func(a, b listedFact) int { return strings.Compare(a.Key, b.Key) })
	return e.answer(&result, func(w io.Writer) error {
		p := &printer{w: w}
		list := table{right: map[int]bool{0: true}}
		for _, f := range result.Facts {
			list.add(listedFigure(f.Value, f.Unit), span(f.Period, f.From, f.To), f.note(), f.Key)
		}
		p.table(&list, "")
		return p.err
	})
}

// valueOn is the value in force on a day, else the newest one.
func valueOn(values []facts.DatedValue, day facts.Date) (v *facts.DatedValue, state string) {
	for i := range values {
		if v := &values[i]; v.From <= day && (v.To.IsZero() || v.To >= day) {
			return v, "in force"
		}
	}
	return &values[0], "not in force"
}

func listed(key, label, state string, v *facts.DatedValue) listedFact {
	return listedFact{key, label, state, v.Value, v.Unit, v.Period, v.From, v.To, v.Verified, v.Converted}
}

// note says how sure the line is.
func (f *listedFact) note() string {
	switch {
	case f.State != "in force":
		return f.State
	case f.Converted:
		return "converted " + f.Verified.String()
	}
	return "read " + f.Verified.String()
}

// shownValue is dataset.ShownValue in the names of the record.
type shownValue struct {
	State         string                 `json:"state"`
	Value         facts.Value            `json:"value"`
	Unit          string                 `json:"unit,omitempty"`
	Period        string                 `json:"period,omitempty"`
	From          facts.Date             `json:"effectiveFrom"`
	To            facts.Date             `json:"effectiveTo"`
	Source        string                 `json:"source"`
	SourceType    string                 `json:"sourceType,omitempty"`
	Method        string                 `json:"method,omitempty"`
	Quote         string                 `json:"quote,omitempty"`
	Verified      facts.Date             `json:"verifiedDate"`
	Withdrawn     facts.Date             `json:"withdrawn"`
	Reason        string                 `json:"withdrawnReason,omitempty"`
	SupersededBy  string                 `json:"supersededBy,omitempty"`
	Hash          string                 `json:"hash"`
	Signed        bool                   `json:"signed"`
	Confirmations []dataset.Confirmation `json:"confirmations"`
}

type shownFact struct {
	Key     string        `json:"key"`
	Label   string        `json:"label"`
	Unit    string        `json:"unit,omitempty"`
	Scope   string        `json:"scope,omitempty"`
	Area    string        `json:"area,omitempty"`
	Place   string        `json:"place"`
	Aliases []string      `json:"aliases"`
	Values  []shownValue  `json:"values"`
	Changes []changeEntry `json:"changes"`
}

// changeEntry writes a changelog entry as it stands in the changes document.
type changeEntry struct{ *facts.Entry }

func (c changeEntry) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

func (e *env) showFact(dir string, folder *dataset.Folder, key string) error {
	s, err := dataset.Show(folder, key)
	if err != nil {
		return actFailure(dir, err)
	}
	out := shownFact{Key: s.Key, Label: s.Label, Unit: s.Unit, Scope: s.Scope, Area: s.Topic.Area, Place: s.Place, Aliases: s.Aliases}
	for i := range s.Values {
		v := &s.Values[i]
		out.Values = append(out.Values, shownValue{v.State, v.Value, v.Unit, v.Period, v.From, v.To, v.Source, v.SourceType, v.Method, v.Quote, v.Verified,
			v.Withdrawn, v.WithdrawnReason, v.SupersededBy, v.Hash, v.Signed, v.Confirmations})
	}
	for i := range s.Changes {
		out.Changes = append(out.Changes, changeEntry{&s.Changes[i]})
	}
	return e.answer(&out, out.write)
}

func (f *shownFact) write(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s\n%s", f.Key, f.Label)
	var head table
	for _, row := range [][2]string{{"unit", f.Unit}, {"scope", f.Scope}, {"area", f.Area}, {"aliases", strings.Join(f.Aliases, " ")}, {"in", f.Place}} {
		if row[1] != "" {
			head.add(row[0], row[1])
		}
	}
	p.table(&head, "  ")
	for i := range f.Values {
		f.Values[i].write(p)
	}
	if len(f.Changes) > 0 {
		p.line("\nchanges")
		list := table{right: map[int]bool{1: true, 3: true}}
		for _, c := range f.Changes {
			list.add(c.VerifiedDate.String(), listedFigure(c.From, ""), "to", listedFigure(c.To, ""), c.Period)
		}
		p.table(&list, "  ")
	}
	return p.err
}

func (v *shownValue) write(p *printer) {
	state := v.State
	if !v.Verified.IsZero() {
		state += " " + v.Verified.String()
	}
	if v.Signed {
		state += ", signed"
	}
	p.line("\n%s  %s  %s", figure(v.Value, v.Unit), span(v.Period, v.From, v.To), state)
	var list table
	days := ""
	if v.Period != "" {
		days = strings.TrimPrefix(span("", v.From, v.To), "standing")
	}
	for _, row := range [][2]string{{"in force", days}, {"source", v.Source}, {"method", v.Method}, {"quote", v.Quote}, {"withdrawn", v.Reason}, {"now", v.SupersededBy}, {"hash", v.Hash}} {
		if row[1] != "" {
			list.add(row[0], row[1])
		}
	}
	for _, c := range v.Confirmations {
		if c.By == dataset.ByConversion {
			list.add("converted", c.VerifiedDate.String()+", nobody re-read the source")
			continue
		}
		list.add("read", c.VerifiedDate.String()+" by "+c.By)
	}
	p.table(&list, "  ")
}
