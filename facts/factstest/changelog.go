package factstest

import (
	"cmp"
	"slices"
	"strings"

	"sayso/facts"
)

// Changelog makes the chain that confirming every value of a dataset on its verifiedDate would have written: one entry per value, from the one confirmed
// before it. Facts without a topic have no area and no entries.
func Changelog(ds *facts.Dataset) []facts.Entry {
	var batch []facts.Entry
	for i := range ds.Facts {
		if ds.Facts[i].Topic >= 0 {
			batch = append(batch, entries(&ds.Facts[i], ds.Topics[ds.Facts[i].Topic].Area)...)
		}
	}
	chain, err := facts.AppendEntries(nil, batch)
	if err != nil {
		panic("factstest: " + err.Error())
	}
	return chain
}

func entries(f *facts.Fact, area string) []facts.Entry {
	values := slices.Clone(f.Values)
	slices.Reverse(values)
	slices.SortStableFunc(values, func(a, b facts.DatedValue) int { return cmp.Compare(a.Verified, b.Verified) })
	_, key, _ := strings.Cut(f.Key, "/")
	list := make([]facts.Entry, len(values))
	before := facts.Null
	for i := range values {
		v := &values[i]
		e := facts.Entry{
			Area: area, Key: key, FactKey: f.Key, Label: f.Label, From: before, To: v.Value, Unit: v.Unit, Period: v.Period, EffectiveFrom: v.From,
			Source: v.Source, VerifiedDate: v.Verified, SourceType: v.SourceType, Method: v.Method, SourceFile: v.SourceFile, Quote: v.Quote,
			Withdrawn: v.Withdrawn, SupersededBy: v.SupersededBy,
		}
		if i > 0 && v.Verified == list[i-1].VerifiedDate {
			e.Seq = list[i-1].Seq + 1
		}
		list[i], before = e, v.Value
	}
	return list
}
