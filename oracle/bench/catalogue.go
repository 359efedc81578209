package main

import (
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factstest"
	"sayso/facts/resolvetest"
)

var newest = facts.Selection{MaxAge: facts.NoMaxAge}

// keyFrom is the day from which the test key signs.
var keyFrom = factstest.Day("2026-01-01")

// generated makes a dataset of n facts with one value each, unsigned.
func generated(n int) *facts.Dataset {
	return factstest.Generate(factstest.Options{Facts: n, Seed: 1, Unsigned: true})
}

// signed makes a dataset of n facts and signs it over all cores.
func signed(n int) *facts.Dataset {
	ds := generated(n)
	dataset.SignDataset(ds, factstest.Key(), keyFrom)
	return ds
}

// inForce lists the keys of the facts that have a value today; the others are answered with what is held.
func inForce(s *facts.Snapshot) ([]string, error) {
	var keys []string
	for key := range s.Keys() {
		a, err := s.Get(key, newest, factstest.Today)
		if err != nil {
			return nil, err
		}
		if a.Outcome == facts.OutcomeRecord {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// example is the record at the head of the protocol, signed with a kid of ten characters.
func example() (*facts.Snapshot, []byte, error) {
	ds := &facts.Dataset{
		Publisher:  facts.Publisher{Name: "Data Butler", URL: "https://databutler.dev/"},
		Namespaces: []facts.Namespace{{Name: "uk", Description: "United Kingdom"}},
		Areas:      []facts.Area{{Name: "uk-rates", Namespace: "uk", EveryDays: 45, GraceDays: 7}},
		Topics:     []facts.Topic{{Prefix: "uk/income-tax", Title: "Income Tax", Area: "uk-rates"}},
		Facts: []facts.Fact{{Key: "uk/income-tax/personal-allowance", Label: "Personal Allowance", Values: []facts.DatedValue{
			{Value: "12570", Unit: "GBP/year", Period: "2026-27", From: factstest.Day("2026-04-06"), Source: "https://www.gov.uk/income-tax-rates",
				Quote:    "The standard Personal Allowance is £12,570, which is the amount of income you do not have to pay tax on.",
				Verified: factstest.Day("2026-10-04")},
		}}},
	}
	factstest.Sign(ds)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: "https://databutler.dev", Conformance: "L3"})
	if err != nil {
		return nil, nil, err
	}
	a, err := s.Get(ds.Facts[0].Key, facts.Selection{MaxAge: 30}, factstest.Day("2026-10-12"))
	if err != nil {
		return nil, nil, err
	}
	return s, a.AppendJSON(nil), nil
}

// labelled makes the catalogue of n labels that resolve is measured on.
func labelled(n int) *facts.Dataset {
	in := resolvetest.Catalogue(1, n)
	// A snapshot takes no namespace that is neither a country's nor zz.
	declared := func(name string) string {
		if rest, ok := strings.CutPrefix(name, "zy"); ok {
			return "zz-cc" + rest
		}
		return name
	}
	ds := &facts.Dataset{Publisher: facts.Publisher{Name: "Example Figures", URL: factstest.Origin + "/"}}
	for _, name := range in.Namespaces {
		ds.Namespaces = append(ds.Namespaces, facts.Namespace{Name: declared(name), Calendar: facts.CalendarNone, Authorities: []string{"figures.example"}})
	}
	topicOf := map[string]int{}
	for i, t := range in.Topics {
		topicOf[declared(t.Prefix)] = i
		ds.Topics = append(ds.Topics, facts.Topic{Prefix: declared(t.Prefix), Title: t.Title, Synonyms: t.Synonyms})
	}
	for _, e := range in.Entries {
		key := declared(e.Key)
		prefix := key[:strings.LastIndexByte(key, '/')]
		ds.Facts = append(ds.Facts, facts.Fact{Key: key, Label: e.Label, Topic: topicOf[prefix], Values: []facts.DatedValue{
			{Value: "1", From: factstest.Day("2026-04-06"), Source: "https://figures.example/page", Verified: factstest.Day("2026-10-04")},
		}})
	}
	slices.SortFunc(ds.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	return ds
}
