package answertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sayso/business"
	"sayso/business/coverage"
)

// clocks are the times that Places asks at, in minutes.
var clocks = []int{-1, 6*60 + 30, 8 * 60, 10 * 60, 12*60 + 59, 13 * 60, 17*60 + 30, 19*60 + 15}

// Places makes G7: weekdays and times at each place and without a place, the other fields of a place, and stock.
func Places(w *World) []*Question {
	lang0 := w.Snapshot.Publication.Profile.ContentLanguages
	locations := w.Snapshot.Publication.Profile.Locations
	var out []*Question
	for _, lang := range lang0 {
		for day := range 7 {
			for _, minute := range clocks {
				for _, frame := range timeFrames(languages[lang], minute) {
					if !strings.Contains(frame, "PLACE") {
						out = append(out, opening(w, lang, frame, "", locations, day, minute))
						continue
					}
					for i := range locations {
						if !ownName(w, locations[i].Name) {
							out = append(out, opening(w, lang, frame, locations[i].Name, locations[i:i+1], day, minute))
						}
					}
				}
			}
		}
		for i := range locations {
			out = append(out, placeFields(w, lang, &locations[i])...)
		}
	}
	return append(out, stocks(w)...)
}

func timeFrames(l *phrases, minute int) []string {
	if minute < 0 {
		return l.openOn
	}
	return l.openAt
}

// ownName reports that a place is called what the publisher is called: whether its name is the place or the publisher is not for the oracle to say.
func ownName(w *World, place string) bool {
	own := wordsOf(w.Snapshot.Publication.Profile.DisplayName)
	return !slices.ContainsFunc(wordsOf(place), func(word string) bool { return !slices.Contains(own, word) })
}

// defaultLimit is how many candidates are looked at without a limit: of more, it is not known that all agree.
const defaultLimit = 10

// opening asks whether places are open. All of them have to agree.
func opening(w *World, lang, frame, place string, at []business.Location, day, minute int) *Question {
	l := languages[lang]
	text := strings.Replace(frame, "DAY", l.days[day], 1)
	if minute >= 0 {
		text = strings.Replace(text, "TIME", fmt.Sprintf(l.clock, fmt.Sprintf("%02d:%02d", minute/60, minute%60)), 1)
	}
	before, after, named := strings.Cut(text, "PLACE")
	if !named {
		before, after = strings.TrimSuffix(text, "?"), "?"
	}
	q := &Question{World: w, Gen: "G7", Kind: "place x day", Shape: "S5", Lang: lang, Before: before, Entity: place, After: after}
	if minute >= 0 {
		q.Kind = "place x day x time"
	}
	verdicts := map[Truth]bool{}
	for i := range at {
		verdicts[openAt(&at[i], day, minute)] = true
	}
	silent := slices.ContainsFunc(at, func(l business.Location) bool { return l.OpeningHours == "" })
	switch {
	case verdicts[Yes] && verdicts[No]:
		q.Want = Want{Rule: Never, Status: coverage.NeedsContext, Missing: "location"}
	case silent || len(at) > defaultLimit:
		q.Want = Want{Rule: Never}
	case verdicts[Unknown]:
		q.Want = Want{Rule: Open}
	default:
		q.truth = truth(verdicts[Yes])
		q.Want = Want{Rule: Resolve, Polarity: q.truth.polarity()}
	}
	return q
}

func openAt(l *business.Location, day, minute int) Truth {
	week, ok := plainWeek(l.OpeningHours)
	if !ok {
		return Unknown
	}
	return truth(week.open(day, minute))
}

func placeFields(w *World, lang string, at *business.Location) []*Question {
	if ownName(w, at.Name) {
		return nil
	}
	var out []*Question
	l := languages[lang]
	for _, f := range []struct {
		field, value string
		frames       []string
	}{{"hours", at.OpeningHours, l.hours}, {"phone", at.Phone, l.phone}, {"address", at.Address, l.address}} {
		for _, frame := range f.frames {
			before, after, _ := strings.Cut(frame, "PLACE")
			q := &Question{World: w, Gen: "G7", Kind: "place x " + f.field, Shape: "S5", Lang: lang, Before: before, Entity: at.Name, After: after, Want: Want{Rule: Resolve, Text: f.value}}
			if f.value == "" {
				q.Want = Want{Rule: Never}
			}
			out = append(out, q)
		}
	}
	return out
}

// stocks asks for each record at each place.
func stocks(w *World) []*Question {
	if _, ok := w.Schema.Attributes["stock"]; !ok {
		return nil
	}
	var out []*Question
	for _, it := range items(w) {
		for _, at := range w.Snapshot.Publication.Profile.Locations {
			for _, frame := range languages[it.lang].stock {
				before, after := split(strings.Replace(frame, "PLACE", at.Name, 1))
				q := &Question{World: w, Gen: "G7", Kind: "record x stock x place", Shape: "S8", Lang: it.lang, Before: before, Entity: it.name, After: after, record: it.record}
				if v := scoped(it.record, "stock", at.ID); v == "" {
					q.Want = Want{Rule: Never}
				} else {
					n, err := strconv.Atoi(v)
					if err != nil {
						panic("answertest: stock that is no count: " + v)
					}
					q.truth = truth(n > 0)
					q.Want = Want{Rule: Resolve, Polarity: q.truth.polarity()}
				}
				out = append(out, q)
			}
		}
	}
	return out
}

// owners finds the places that a text may name.
type owners struct {
	exact  map[string][]int // by lower-case words, in order
	folded map[string][]int // by folded words, in any order
	joined map[string][]int // by all words in one, as a hyphen may join them
}

func ownersOf(w *World) *owners {
	o := &owners{map[string][]int{}, map[string][]int{}, map[string][]int{}}
	for i, l := range w.Snapshot.Publication.Profile.Locations {
		for _, text := range []string{l.Name, l.Locality, l.PostalCode} {
			if text == "" {
				continue
			}
			for _, m := range []struct {
				of  map[string][]int
				key string
			}{{o.exact, strings.Join(wordsOf(text), " ")}, {o.folded, phraseKey(text)}, {o.joined, strings.Join(wordsOf(text), "")}} {
				if !slices.Contains(m.of[m.key], i) {
					m.of[m.key] = append(m.of[m.key], i)
				}
			}
		}
	}
	return o
}

// of returns the places that a text names; sure is false when an inflection or another spelling of the text names others.
func (o *owners) of(text string) (places []int, sure bool) {
	places = o.exact[strings.Join(wordsOf(text), " ")]
	return places, len(o.folded[phraseKey(text)]) == len(places) && len(o.joined[strings.Join(wordsOf(text), "")]) == len(places)
}

// storeFrames ask for a service at a place.
var storeFrames = []string{"Do you have {} at PLACE?", "Do you offer {} in PLACE?", "Is there {} at PLACE?"}

// Stores makes n questions of G9 about services at stores.
func Stores(w *World, rng *rand.Rand, n int) []*Question {
	o := ownersOf(w)
	list := items(w)
	var out []*Question
	for range n {
		it := list[rng.IntN(len(list))]
		l := &w.Snapshot.Publication.Profile.Locations[rng.IntN(len(w.Snapshot.Publication.Profile.Locations))]
		place := l.Name
		switch rng.IntN(6) {
		case 0:
			place = l.Locality
		case 1:
			place = l.PostalCode
		}
		out = append(out, available(w, o, it, place, storeFrames[rng.IntN(len(storeFrames))]))
	}
	return out
}

// EveryStore makes all pairs of a service and a store, by the store's name.
func EveryStore(w *World) []*Question {
	o := ownersOf(w)
	var out []*Question
	for _, it := range items(w) {
		for i, l := range w.Snapshot.Publication.Profile.Locations {
			out = append(out, available(w, o, it, l.Name, storeFrames[i%len(storeFrames)]))
		}
	}
	return out
}

func available(w *World, o *owners, it item, place, frame string) *Question {
	before, after := split(strings.Replace(frame, "PLACE", place, 1))
	q := &Question{World: w, Gen: "G9", Kind: "service x store", Shape: "S8", Lang: "en", Before: before, Entity: it.name, After: after, record: it.record}
	at, sure := o.of(place)
	listed := 0
	for _, i := range at {
		if scoped(it.record, "available", w.Snapshot.Publication.Profile.Locations[i].ID) == "true" {
			listed++
		}
	}
	switch {
	case listed == 0 && sure:
		q.Want = Want{Rule: Never}
	case len(at) > 1 && (listed < len(at) || len(at) > defaultLimit):
		q.Kind, q.Want = "service x place of several stores", Want{Rule: Never}
	case len(at) > 1 || !sure:
		q.Kind, q.Want = "service x place of several stores that agree", Want{Rule: Open}
	default:
		q.truth, q.Want = Yes, Want{Rule: Resolve, Polarity: "positive"}
	}
	return q
}

// Markets makes the part of G9 about markets: each title on each weekday, and n of them at a time of day.
func Markets(w *World, rng *rand.Rand, n int) []*Question {
	locations := w.Snapshot.Publication.Profile.Locations
	o := ownersOf(w)
	ask := func(i, day, minute int) *Question {
		at, sure := o.of(locations[i].Name)
		var named []business.Location
		for _, k := range at {
			named = append(named, locations[k])
		}
		frames := timeFrames(german, minute)
		q := opening(w, "de", frames[len(frames)-1], locations[i].Name, named, day, minute)
		q.Gen, q.Kind = "G9", strings.Replace(q.Kind, "place", "market", 1)
		if len(at) > 1 || !sure {
			q.Kind += ", several of the name"
			if q.Want.Status = ""; q.Want.Rule == Resolve {
				q.Want.Rule = Open
			}
		}
		return q
	}
	var out []*Question
	for i := range locations {
		for day := range 7 {
			out = append(out, ask(i, day, -1))
		}
	}
	for range n {
		out = append(out, ask(rng.IntN(len(locations)), rng.IntN(7), clocks[1+rng.IntN(len(clocks)-1)]))
	}
	return out
}
