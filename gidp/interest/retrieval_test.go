package interest_test

import (
	"reflect"
	"testing"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/jcs"
	"sayso/report"
)

// A retrieval attribute stands beside a projection where the policy lists it under its own name, with the labels it lists, and under a class that lets it (P-14).
func TestRetrieval(t *testing.T) {
	p, ok := profile.Shipped().Profile("sayso/co-investment/1")
	if !ok {
		t.Fatal("no profile")
	}
	rules := p.Rules()
	class := func(text string) gidp.Class {
		c, err := gidp.ParseClass(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, c := range map[string]struct {
		as, from, class, entry string
		cut                    []string
		domain                 string
		want                   map[string][]string
		bad                    bool // the check refuses it
	}{
		"listed":                        {as: "stage", class: "discovery", cut: []string{"seed", "growth"}, want: map[string][]string{"stage": {"growth", "seed"}}},
		"partly listed":                 {as: "stage", class: "discovery", cut: []string{"seed"}},
		"in a tree, generalised":        {as: "sector", class: "public", cut: []string{"software"}, want: map[string][]string{"sector": {"software"}}},
		"for a network, outside":        {as: "stage", class: "network", cut: []string{"seed", "growth"}},
		"for a network, inside":         {as: "stage", class: "network", cut: []string{"seed", "growth"}, domain: "guild.example", want: map[string][]string{"stage": {"growth", "seed"}}},
		"for a network, in another":     {as: "stage", class: "network", cut: []string{"seed", "growth"}, domain: "other.example"},
		"never told":                    {as: "stage", class: "discovery", entry: "never", cut: []string{"seed", "growth"}},
		"of a session":                  {as: "stage", class: "session", cut: []string{"seed", "growth"}, bad: true},
		"gated":                         {as: "stage", class: "discovery/consent", cut: []string{"seed", "growth"}, bad: true},
		"under another name":            {as: "stage", from: "sector", class: "discovery", cut: []string{"software"}, bad: true},
		"a number":                      {as: "ticket_eur", class: "discovery", cut: []string{"seed"}, bad: true},
		"a name":                        {as: gidp.PrincipalIdentity, class: "discovery", cut: []string{"seed"}, bad: true},
		"of no profile":                 {as: "hobby", class: "discovery", cut: []string{"seed"}, bad: true},
		"a member under its other word": {as: "geography", class: "discovery", cut: []string{"europe"}, bad: true},
	} {
		i := &interest.Interest{Profile: p.ID, Attributes: map[string]jcs.Raw{"stage": jcs.Raw(`["growth","seed"]`), "sector": jcs.Raw(`"crm_software"`), "ticket_eur": jcs.Raw(`{"min":100000}`),
			gidp.PrincipalIdentity: jcs.Raw(`"seed"`), "hobby": jcs.Raw(`"seed"`), "geography": jcs.Raw(`"munich"`)}}
		i.Policy.Networks = []string{"guild.example"}
		i.Policy.Entries = map[string]gidp.Entry{}
		if c.entry != "" {
			i.Policy.Entries[c.as] = gidp.Entry{"": class(c.entry)}
		}
		from := c.from
		if from == "" {
			from = c.as
		}
		i.Policy.Derivatives = map[string]interest.Derivative{c.as: {From: from, Cut: c.cut, Class: class(c.class)}}
		if got := i.Retrieval(rules, c.domain); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		refused := false
		for _, f := range i.Check(rules).Findings {
			refused = refused || f.Rule == "GI-PROJECTION" && f.Outcome == report.Fail
		}
		if refused != c.bad {
			t.Errorf("%s: refused %v, want %v", name, refused, c.bad)
		}
	}
}
