package factstest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/facts"
	"sayso/facts/factstest"
)

// TestGenerateIsDeterministic: the seed decides everything.
func TestGenerateIsDeterministic(t *testing.T) {
	o := factstest.Options{Facts: 200, Seed: 7, Values: 4}
	if !reflect.DeepEqual(factstest.Generate(o), factstest.Generate(o)) {
		t.Error("two datasets of one seed differ")
	}
	other := o
	other.Seed++
	if reflect.DeepEqual(factstest.Generate(o).Facts, factstest.Generate(other).Facts) {
		t.Error("two seeds give one dataset")
	}
}

// TestGeneratedDatasetsAreAccepted, whatever their size and history.
func TestGeneratedDatasetsAreAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := factstest.Generate(factstest.Options{
			Facts: rapid.IntRange(0, 200).Draw(t, "facts"), Seed: rapid.Uint64().Draw(t, "seed"), Values: rapid.IntRange(0, 8).Draw(t, "values"),
			Unsigned: true, Changes: true,
		})
		for i := range ds.Facts {
			for _, v := range ds.Facts[i].Values {
				if v.Verified > factstest.Today {
					t.Fatalf("%s is verified on %s, after Today", ds.Facts[i].Key, v.Verified)
				}
			}
		}
		if s := factstest.Snapshot(ds); s.Len() != len(ds.Facts) {
			t.Fatalf("%d of %d facts", s.Len(), len(ds.Facts))
		}
	})
}

// TestGenerateCoversTheCases: histories, gaps, withdrawals with and without a first day, aliases, values of several types.
func TestGenerateCoversTheCases(t *testing.T) {
	ds := factstest.Generate(factstest.Options{Facts: 3000, Seed: 1, Values: 5, Unsigned: true})
	var histories, explicit, dated, undated, aliases int
	kinds := map[string]int{}
	for _, f := range ds.Facts {
		if len(f.Values) > 1 {
			histories++
		}
		aliases += len(f.Aliases)
		for _, v := range f.Values {
			kinds[v.Value.Kind()]++
			switch {
			case v.ToExplicit:
				explicit++
			case v.Value == facts.Null && v.From.IsZero():
				undated++
			case v.Value == facts.Null:
				dated++
			}
		}
	}
	if histories == 0 || explicit == 0 || dated == 0 || undated == 0 || aliases == 0 || kinds["number"] == 0 || kinds["string"] == 0 || kinds["boolean"] == 0 {
		t.Errorf("histories %d, explicit ends %d, withdrawals %d and %d, aliases %d, kinds %v", histories, explicit, dated, undated, aliases, kinds)
	}
}

// TestLabelsFollowZipf: a few words stand in very many labels, most words in very few.
func TestLabelsFollowZipf(t *testing.T) {
	ds := factstest.Generate(factstest.Options{Facts: 5000, Seed: 1, Unsigned: true})
	counts := map[string]int{}
	for _, f := range ds.Facts {
		for word := range strings.FieldsSeq(strings.ToLower(f.Label)) {
			counts[word]++
		}
	}
	var list []int
	for _, n := range counts {
		list = append(list, n)
	}
	slices.Sort(list)
	most, median := list[len(list)-1], list[len(list)/2]
	if most < len(ds.Facts)/20 || median > 10 {
		t.Errorf("the commonest word stands in %d of %d labels, the median word in %d", most, len(ds.Facts), median)
	}
}

// TestSampleIsFresh: every call gives a dataset of its own, so that a test may damage it.
func TestSampleIsFresh(t *testing.T) {
	ds := factstest.Sample()
	ds.Facts[0].Values[0].Value = "0"
	ds.Keys.Keys[0].Kid = "x"
	if again := factstest.Sample(); again.Facts[0].Values[0].Value == "0" || again.Keys.Keys[0].Kid == "x" {
		t.Error("two samples share memory")
	}
}
