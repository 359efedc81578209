package agent

import (
	"slices"
	"strings"
	"testing"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

const excludedName = "canary_rival_5b1e"

// excludingBuyer looks anywhere in Germany, under a profile without minimum claims, and rules somebody out whom it has placed among miners.
func excludingBuyer(i *interest.Interest) {
	i.Profile, i.Attributes = "core", map[string]jcs.Raw{"geography": jcs.Raw(`"germany"`), gidp.PrincipalIdentity: i.Attributes[gidp.PrincipalIdentity]}
	i.Excludes, i.Placements = []string{excludedName}, map[string]map[string]string{"domain": {excludedName: "coal_mining"}}
}

// An initiator that excludes asks before it qualifies, by the classes that are left (§19.1; sec. 14).
func TestAnExcludingInitiatorAsksFirst(t *testing.T) {
	for name, c := range map[string]struct {
		domain, class string // of the other side; "" holds none
		buyer         func(*interest.Interest)
		state         session.Phase
	}{
		"outside":                   {`"enterprise_software"`, "evaluation_only", nil, session.Qualified},
		"outside, open":             {`"enterprise_software"`, "discovery", nil, session.Qualified},
		"inside":                    {`"coal_mining"`, "evaluation_only", nil, session.Closed},
		"inside, another of it":     {`"gold_mining"`, "discovery", nil, session.Closed},
		"the class itself":          {`"mining"`, "session", nil, session.Closed},
		"not held":                  {"", "", nil, session.Probing},
		"declined":                  {`"enterprise_software"`, "never", nil, session.Probing},
		"without an exclusion":      {`"coal_mining"`, "evaluation_only", func(i *interest.Interest) { i.Excludes = nil }, session.Qualified},
		"an exclusion kept silent":  {`"coal_mining"`, "evaluation_only", func(i *interest.Interest) { i.Policy.Entries[gidp.Excludes] = worldClass(t, "never") }, session.Qualified},
		"approved by its principal": {`"coal_mining"`, "evaluation_only", func(i *interest.Interest) { i.Authority[gidp.Probe] = gidp.Approval }, session.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, buyerSeller{buyer: func(i *interest.Interest) {
				excludingBuyer(i)
				if c.buyer != nil {
					c.buyer(i)
				}
			}, seller: func(i *interest.Interest) {
				i.Profile = "core"
				delete(i.Attributes, "sector")
				if c.domain != "" {
					i.Attributes["domain"], i.Policy.Entries["domain"] = jcs.Raw(c.domain), worldClass(t, c.class)
				}
			}})
			w.open()
			w.pump(6)
			for len(w.buyer.inbox()) > 0 {
				w.buyer.decide(Decision{Grant: true})
				w.pump(6)
			}
			for _, p := range []*party{w.buyer, w.seller} {
				if v := p.one(); v.State != string(c.state) || c.state == session.Closed && v.Reason != string(wire.ReasonIncompatible) || (v.Lead != nil) != (c.state == session.Qualified) {
					t.Errorf("%s: %s %s", p.options.Origin, v.State, v.Reason)
				}
			}
			if leaked := w.leaked(append(slices.Clone(sellerPrivate), excludedName, `"excludes"`)...); len(leaked) > 0 {
				t.Errorf("%q crossed", leaked)
			}
			for _, line := range w.wires.log {
				if strings.Contains(string(line), `"domain"`) && strings.Contains(string(line), `"mining"`) {
					t.Errorf("the class is named: %s", line)
				}
			}
			w.checkTrail()
		})
	}
}

// What an exclusion is called shows in nothing that leaves: the questions of two excluding interests are the same bytes while they rule out one class.
func TestExcludedNamesShowInNoQuestion(t *testing.T) {
	questions := func(label, in string) string {
		w := newWorld(t, buyerSeller{buyer: func(i *interest.Interest) {
			excludingBuyer(i)
			i.Excludes, i.Placements = []string{label}, map[string]map[string]string{"domain": {label: in}}
		}, seller: func(i *interest.Interest) { i.Profile = "core" }})
		w.open()
		w.pump(6)
		var out []string
		for _, line := range w.wires.log {
			if ask, ok := decoded(line).(*wire.CompatibilityRequest); ok {
				for _, c := range ask.Claims {
					out = append(out, c.ID+c.Key+string(c.Operator)+string(c.Value))
				}
			}
		}
		if len(out) == 0 {
			t.Fatal("nothing was asked")
		}
		return strings.Join(out, "\n")
	}
	a := questions(excludedName, "coal_mining")
	if b := questions("another", "gold_mining"); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if c := questions("another", "hotels"); a == c {
		t.Error("the questions do not depend on what is excluded")
	}
}
