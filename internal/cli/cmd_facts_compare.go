package cli

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/dataset"
)

func init() { register("facts", newFactsCompare) }

func newFactsCompare(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "compare A B",
		Short: "Compare what two publishers state",
		Long: "Compare takes two folders of figures, built sites or origins and pairs their figures of today by key. The same hash means the same figure, time, unit and " +
			"source. A hash that differs over one value names the members in which the two tell it differently. Signatures are not looked at.\n\n" +
			"Exit 1 when a key has different values; figures that only one side holds are no disagreement.",
		Example: "  sayso facts compare figures site\n  sayso facts compare figures https://figures.example --json",
		Args:    cobra.ExactArgs(2),
		RunE:    func(_ *cobra.Command, args []string) error { return e.compare(args[0], args[1]) },
	}
}

type comparedSide struct {
	Value  facts.Value `json:"value"`
	Unit   string      `json:"unit,omitempty"`
	Period string      `json:"period,omitempty"`
	From   facts.Date  `json:"effectiveFrom"`
	Source string      `json:"source"`
}

type comparedKey struct {
	Key      string           `json:"key"`
	Relation dataset.Relation `json:"relation"`
	Members  []string         `json:"members,omitempty"`
	First    *comparedSide    `json:"first,omitempty"`
	Second   *comparedSide    `json:"second,omitempty"`
}

type compareResult struct {
	First  string        `json:"first"`
	Second string        `json:"second"`
	Counts relationCount `json:"counts"`
	Keys   []comparedKey `json:"keys"` // every key but those of the same hash
}

type relationCount struct {
	SameHash       int `json:"sameHash"`
	DifferentHash  int `json:"sameValueDifferentHash"`
	DifferentValue int `json:"differentValue"`
	OnlyFirst      int `json:"onlyFirst"`
	OnlySecond     int `json:"onlySecond"`
}

func (e *env) compare(first, second string) error {
	a, err := e.readStatements(first)
	if err != nil {
		return err
	}
	b, err := e.readStatements(second)
	if err != nil {
		return err
	}
	if err := e.completeBoth(a, b); err != nil {
		return err
	}
	result := compareResult{First: first, Second: second}
	for c := range dataset.Compare(slices.Values(a.list), slices.Values(b.list)) {
		result.add(c)
	}
	if err := e.answer(&result, result.write); err != nil {
		return err
	}
	if result.Counts.DifferentValue > 0 {
		return answered(exitFailed)
	}
	return nil
}

// completeBoth fetches the claims behind the hashes that differ, and no others.
func (e *env) completeBoth(a, b *statements) error {
	byKey := func(x, y dataset.Stated) int { return strings.Compare(x.Key, y.Key) }
	slices.SortStableFunc(a.list, byKey)
	slices.SortStableFunc(b.list, byKey)
	hashes := make(map[string]string, len(a.list))
	for i := range a.list {
		hashes[a.list[i].Key] = a.list[i].Hash
	}
	differ := map[string]bool{}
	for i := range b.list {
		if hash, ok := hashes[b.list[i].Key]; ok && hash != b.list[i].Hash {
			differ[b.list[i].Key] = true
		}
	}
	bar := e.progress("comparing", int64(2*len(differ)))
	defer bar.end()
	done := func() { bar.add(1) }
	if err := a.complete(e.ctx, differ, done); err != nil {
		return err
	}
	return b.complete(e.ctx, differ, done)
}

func (r *compareResult) add(c dataset.Compared) {
	switch c.Relation {
	case dataset.SameHash:
		r.Counts.SameHash++
		return
	case dataset.DifferentHash:
		r.Counts.DifferentHash++
	case dataset.DifferentValue:
		r.Counts.DifferentValue++
	case dataset.OnlyFirst:
		r.Counts.OnlyFirst++
	case dataset.OnlySecond:
		r.Counts.OnlySecond++
	}
	r.Keys = append(r.Keys, comparedKey{c.Key, c.Relation, c.Members, sideOf(c.First), sideOf(c.Second)})
}

// sideOf is nil where nothing is stated, and where the claim was not needed.
func sideOf(s *dataset.Stated) *comparedSide {
	if s == nil || s.Value == "" {
		return nil
	}
	return &comparedSide{s.Value, s.Unit, s.Period, s.EffectiveFrom, s.Source}
}

func (r *compareResult) write(w io.Writer) error {
	p := &printer{w: w}
	p.line("A  %s\nB  %s\n", r.First, r.Second)
	counts := table{right: map[int]bool{0: true}}
	for _, row := range []struct {
		n    int
		what dataset.Relation
	}{{r.Counts.SameHash, dataset.SameHash}, {r.Counts.DifferentHash, dataset.DifferentHash}, {r.Counts.DifferentValue, dataset.DifferentValue},
		{r.Counts.OnlyFirst, "only in A"}, {r.Counts.OnlySecond, "only in B"}} {
		counts.add(strconv.Itoa(row.n), string(row.what))
	}
	p.table(&counts, "")
	for _, relation := range []dataset.Relation{dataset.DifferentValue, dataset.DifferentHash, dataset.OnlyFirst, dataset.OnlySecond} {
		r.writeKeys(p, relation)
	}
	return p.err
}

func (r *compareResult) writeKeys(p *printer, relation dataset.Relation) {
	list := table{right: map[int]bool{2: true}}
	for _, k := range r.Keys {
		switch {
		case k.Relation != relation:
		case k.First == nil || k.Second == nil:
			list.add(k.Key)
		case relation == dataset.DifferentValue:
			list.add(k.Key, "A", listedFigure(k.First.Value, k.First.Unit), span(k.First.Period, k.First.From, 0), k.First.Source)
			list.add("", "B", listedFigure(k.Second.Value, k.Second.Unit), span(k.Second.Period, k.Second.From, 0), k.Second.Source)
		default:
			list.add(k.Key, "differs in", strings.Join(k.Members, ", "))
		}
	}
	if len(list.rows) > 0 {
		p.line("\n%s", strings.NewReplacer("the first", "A", "the second", "B").Replace(string(relation)))
		p.table(&list, "  ")
	}
}
