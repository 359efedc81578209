package answertest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
)

// Coordinated makes the rest of G10: one predicate of two subjects, "A and B under 40 EUR". It holds of both or it is mixed; a reading in which the first is
// only said to exist answers another question.
func Coordinated(w *World, rng *rand.Rand, n int) []*Question {
	var out []*Question
	for _, a := range items(w) {
		for _, b := range items(w) {
			if a.record == b.record || a.lang != b.lang || overlapping(a.name, b.name) {
				continue
			}
			out = append(out, coordinatedValues(w, a, b)...)
			if a.lang == "en" {
				out = append(out, coordinatedVerdicts(w, a, b)...)
			}
		}
	}
	out = append(out, coordinatedPlaces(w)...)
	out = append(out, coordinatedTerms(w)...)
	rng.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out[:min(n, len(out))]
}

// trailing is both for a predicate that stands behind a mere existence of two: it may be meant of the second alone. What is so in one reading only is not
// resolved; nil when neither reading tells the polarity.
func trailing(w *World, kind, frame, a, b string, x, y Truth) *Question {
	q := both(w, kind+" behind", "en", frame, a, b, x, y)
	switch {
	case x == Yes:
		return q
	case x == No && y == Yes:
		q.Want = Want{Rule: Open, Polarity: "mixed"}
		return q
	case x == No:
		return nil
	}
	return q
}

// both makes a question of two subjects; {} and BESIDE are their places. The verdict is that of each, or mixed.
func both(w *World, kind, lang, frame, a, b string, x, y Truth) *Question {
	before, after := split(strings.Replace(frame, "BESIDE", b, 1))
	q := &Question{World: w, Gen: "G10", Kind: "two subjects, " + kind, Lang: lang, Before: before, Entity: a, After: after, Want: Want{Rule: Never}}
	switch {
	case x == Unknown || y == Unknown:
	case x == y:
		q.Want = Want{Rule: Resolve, Polarity: x.polarity()}
	default:
		q.Want = Want{Rule: Resolve, Polarity: "mixed"}
	}
	return q
}

func coordinatedValues(w *World, a, b item) []*Question {
	var out []*Question
	frames := map[string][2][]string{
		"en": {{"How much are {} and BESIDE?", "What do {} and BESIDE cost?", "What is the price of {} and BESIDE?"}, {"How long do {} and BESIDE take?"}},
		"de": {{"Was kosten {} und BESIDE?"}, {"Wie lange dauern {} und BESIDE?"}}, "es": {{"¿Cuánto cuestan {} y BESIDE?"}, {"¿Cuánto duran {} y BESIDE?"}},
	}[a.lang]
	_, price1, deferred1 := priceOf(w, a.record)
	_, price2, deferred2 := priceOf(w, b.record)
	_, length1 := durationOf(a.record)
	_, length2 := durationOf(b.record)
	for i, f := range []struct {
		kind   string
		known  bool
		values []string
	}{
		{"price", (price1 != nil || deferred1) && (price2 != nil || deferred2), slices.Concat(price1, price2)}, {"duration", length1 != nil && length2 != nil, slices.Concat(length1, length2)},
	} {
		for _, frame := range frames[i] {
			q := both(w, f.kind, a.lang, frame, a.name, b.name, truth(f.known), truth(f.known))
			if q.Want = (Want{Rule: Resolve, Values: f.values}); !f.known {
				q.Want = Want{Rule: Never}
			}
			q.tell = true
			out = append(out, q)
		}
	}
	return out
}

func coordinatedVerdicts(w *World, a, b item) []*Question {
	var out []*Question
	set1, values1, _ := priceOf(w, a.record)
	set2, values2, _ := priceOf(w, b.record)
	if set1 != nil || set2 != nil {
		for _, bound := range []int64{10, 50, 100, 1000} {
			under := func(s *span) Truth { return s.Compare("lt", big.NewRat(bound, 1), nil) }
			for _, frame := range []string{"Are {} and BESIDE under %d %s?", "Is {} and BESIDE under %d %s?"} {
				q := both(w, "comparison", "en", fmt.Sprintf(frame, bound, w.Schema.Attributes["price"].Currency), a.name, b.name, under(set1), under(set2))
				if q.Want.Rule == Resolve {
					q.Want.Values = slices.Concat(values1, values2)
				}
				out = append(out, q)
			}
			frame := fmt.Sprintf("Do you have {} and BESIDE under %d %s?", bound, w.Schema.Attributes["price"].Currency)
			if q := trailing(w, "comparison", frame, a.name, b.name, under(set1), under(set2)); q != nil {
				if q.Want.Rule == Resolve {
					q.Want.Rule = Open
				}
				out = append(out, q)
			}
		}
	}
	for _, word := range recordWords(w) {
		if word.lang == "en" {
			if q := trailing(w, "attribute", "Do you have {} and BESIDE with "+word.name+"?", a.name, b.name, boolOf(a.record, word.key), boolOf(b.record, word.key)); q != nil {
				out = append(out, q)
			}
			out = append(out, both(w, "attribute", "en", "Do {} and BESIDE have "+word.name+"?", a.name, b.name, boolOf(a.record, word.key), boolOf(b.record, word.key)))
		}
	}
	if _, ok := w.Schema.Attributes["stock"]; ok {
		for _, at := range w.Snapshot.Publication.Profile.Locations {
			in := func(it item) Truth {
				if v := scoped(it.record, "stock", at.ID); v != "" {
					return truth(v != "0")
				}
				return Unknown
			}
			out = append(out, both(w, "stock", "en", "Are {} and BESIDE in stock at "+at.Name+"?", a.name, b.name, in(a), in(b)))
			if q := trailing(w, "stock", "Do you have {} and BESIDE in stock at "+at.Name+"?", a.name, b.name, in(a), in(b)); q != nil {
				out = append(out, q)
			}
		}
	}
	return out
}

func coordinatedPlaces(w *World) []*Question {
	var out []*Question
	locations := w.Snapshot.Publication.Profile.Locations
	for i := range locations {
		for k := range locations {
			if i == k {
				continue
			}
			for day, name := range english.days {
				for _, minute := range clocks {
					frame := "Are {} and BESIDE open on " + name
					if minute >= 0 {
						frame += fmt.Sprintf(" at %02d:%02d", minute/60, minute%60)
					}
					out = append(out, both(w, "places", "en", frame+"?", locations[i].Name, locations[k].Name, openAt(&locations[i], day, minute), openAt(&locations[k], day, minute)))
				}
			}
		}
	}
	return out
}

func coordinatedTerms(w *World) []*Question {
	var out []*Question
	for _, list := range sorted(w.Schema.Lists) {
		for _, frame := range termFrames(w, list, "en") {
			frame = strings.Replace(frame, "{}", "{} and BESIDE", 1)
			for _, a := range listTerms(w) {
				for _, b := range listTerms(w) {
					if a.list != list || b.list != list || a.id == b.id {
						continue
					}
					in := func(t term) Truth {
						if t.in || w.Schema.Lists[list].Closed {
							return truth(t.in)
						}
						return Unknown
					}
					out = append(out, both(w, "terms", "en", frame, a.name, b.name, in(a), in(b)))
				}
			}
		}
	}
	return out
}

// CoordinatedStores asks n times for two services at one store by its name, where the name is that of one store.
func CoordinatedStores(w *World, rng *rand.Rand, n int) []*Question {
	o, list := ownersOf(w), items(w)
	locations := w.Snapshot.Publication.Profile.Locations
	var out []*Question
	for range n {
		a, b, l := list[rng.IntN(len(list))], list[rng.IntN(len(list))], &locations[rng.IntN(len(locations))]
		if at, sure := o.of(l.Name); a.record == b.record || len(at) != 1 || !sure {
			continue
		}
		in := func(it item) Truth {
			if scoped(it.record, "available", l.ID) == "true" {
				return Yes
			}
			return Unknown
		}
		frame := strings.Replace(strings.Replace(storeFrames[rng.IntN(len(storeFrames))], "{}", "{} and BESIDE", 1), "PLACE", l.Name, 1)
		out = append(out, both(w, "services at a store", "en", frame, a.name, b.name, in(a), in(b)))
	}
	return out
}
