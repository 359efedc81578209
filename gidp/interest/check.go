package interest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/report"
)

// The rules of [Interest.Check].
var rules = []report.Rule{
	{ID: "GI-VALUE", Title: "a value can be compared, and lies in the domain of its partition", Section: "sec. 7.3"},
	{ID: "GI-CLASS", Title: "the policy says who may have what", Section: "§10"},
	{ID: "GI-IDENTITY", Title: "identity has its own entry and is at most session", Section: "§10.6"},
	{ID: "GI-AUTHORITY", Title: "every level of authority is written, commit is not given", Section: "§16"},
	{ID: "GI-VALIDITY", Title: "an interest ends", Section: "§9"},
	{ID: "GI-BUDGET", Title: "a budget is for an attribute that has no partition", Section: "sec. 7.6"},
	{ID: "GI-DECOY", Title: "declined does not tell which keys exist", Section: "sec. 7.7"},
	{ID: "GI-EXCLUDES", Title: "what is excluded is asked about before a lead", Section: "§19.1"},
	{ID: "GI-PROJECTION", Title: "a derivative is listed, generalised and not an identity", Section: "§10.4"},
}

// Check looks an interest over before it is used. A failure keeps it from being activated; a warning is for its Principal to decide.
func (i *Interest) Check(p *gidp.Profile) *report.Report {
	c := &checker{i: i, p: p, r: &report.Report{Subject: i.ID, Protocol: wire.Version, Rules: rules}}
	c.values()
	c.policy()
	c.authority()
	c.validity()
	c.decoys()
	c.excludes()
	c.derivatives()
	switch {
	case c.r.Failed():
		c.r.Verdict = "This interest cannot be used as it is."
	default:
		c.r.Verdict = "This interest can be used."
	}
	return c.r
}

type checker struct {
	i *Interest
	p *gidp.Profile
	r *report.Report
}

func (c *checker) fail(rule, place, message, next string) {
	c.r.Add(report.Finding{Rule: rule, Outcome: report.Fail, Place: place, Message: message, Next: next})
}

func (c *checker) warn(rule, place, message, next string) {
	c.r.Add(report.Finding{Rule: rule, Outcome: report.Warning, Place: place, Message: message, Next: next})
}

func (c *checker) sortedKeys() []string {
	keys := c.i.keys()
	slices.Sort(keys)
	return keys
}

func (c *checker) values() {
	for _, key := range c.sortedKeys() {
		place := "attributes." + key
		raw, _ := c.i.held(key)
		value, err := gidp.ParseValue(raw)
		if err != nil {
			c.fail("GI-VALUE", place, "The value has a form that no claim can be compared with.", "Write a string, a number, a boolean, a list of these, or {min, max}.")
			continue
		}
		k := c.p.Keys[key]
		if k.Partition != nil {
			if _, ok := cellsOf(k, value); !ok {
				c.fail("GI-VALUE", place, fmt.Sprintf("The value is not a whole number, bound or range inside %d to %d.", k.Partition.Min, k.Partition.Max),
					"Use the unit of the profile and a value of its domain.")
			}
		}
		if _, err := k.Tree.With(c.i.Placements[key]); err != nil {
			c.fail("GI-VALUE", "hierarchies."+key, "An own placement contradicts the hierarchy, or a label lies in itself.", "Place only labels that the profile does not place.")
		} else if labels, _ := k.Tree.With(c.i.Placements[key]); k.Tree != nil && k.Partition == nil && value.OnlyLabels() {
			if _, ok := labelsOf(k, labels, value); !ok {
				c.warn("GI-VALUE", place, "A label has no place in the hierarchy, so questions on this key are declined while it is protected.", "Place the label under hierarchies."+key+".")
			}
		}
		budget, budgeted := c.i.Budgets[key]
		switch {
		case !budgeted:
		case k.Partition != nil:
			c.fail("GI-BUDGET", "budgets."+key, "The attribute has a partition, which bounds what is told without a budget.", "Remove the budget.")
		case budget.Domain.Check() != nil || budget.Bits < 0 || math.IsNaN(budget.Bits) || math.IsInf(budget.Bits, 0):
			c.fail("GI-BUDGET", "budgets."+key, "The domain or the number of bits is not usable.", "Give min, max and a step with at most 4096 values, and 0 bits or more.")
		default:
			if _, ok := c.i.audited(key, k, budget, value); !ok {
				c.fail("GI-BUDGET", "budgets."+key, "The value is not one number or one bound of the domain.", "Choose a domain that holds the value, the same for every value.")
			}
		}
	}
	domains := map[gidp.LedgerKey]gidp.Domain{}
	for _, key := range slices.Sorted(maps.Keys(c.i.Budgets)) {
		if _, ok := c.i.held(key); !ok {
			c.fail("GI-BUDGET", "budgets."+key, "No such attribute is held.", "Remove the budget.")
			continue
		}
		row, domain := c.i.Row(key, c.p.Keys[key]), c.i.Budgets[key].Domain
		if other, ok := domains[row]; ok && other != domain {
			c.fail("GI-BUDGET", "budgets."+key, "Another attribute of the same quantity has a budget over another domain, and both share one budget.", "Give both the same min, max and step.")
		}
		domains[row] = domain
	}
}

func (c *checker) policy() {
	for _, key := range slices.Sorted(maps.Keys(c.i.Policy.Entries)) {
		entry := c.i.Policy.Entries[key]
		place := "policy." + key
		if len(entry) == 0 {
			c.fail("GI-CLASS", place, "The entry has no class.", "Write a class, or remove the entry: the attribute is evaluation_only then.")
		}
		for _, property := range slices.Sorted(maps.Keys(entry)) {
			class := entry[property]
			if err := gidp.CheckProperty(property); err != nil {
				c.fail("GI-CLASS", place, "A property of a counterparty is not known.", "Use unknown_agent, verified_agent, member:DOMAIN or attested:CLASS.")
			}
			if stranger, ok := entry["unknown_agent"]; ok && (strings.HasPrefix(property, "member:") || strings.HasPrefix(property, "attested:")) && stranger.MoreProtective(class) {
				c.warn("GI-CLASS", place, "The entry for "+property+" does not fit a peer that shows this alone: it is an unknown_agent too, and the more protective class wins.",
					"Leave unknown_agent out, since whom no entry fits gets evaluation_only, or believe somebody about verified_agent as well.")
			}
			if c.p.Identifying(key) && class.Surface > gidp.InSession {
				c.fail("GI-IDENTITY", place, "An identity is more exposed than session.", "Use session, with a gate if you like, evaluation_only or never.")
			}
		}
	}
	if _, ok := c.i.Policy.Entries[gidp.PrincipalIdentity]; !ok {
		c.fail("GI-IDENTITY", "policy."+gidp.PrincipalIdentity, "Identity has no entry of its own.", "Write one, for example session/principal_approval.")
	}
}

func (c *checker) authority() {
	for level := gidp.Observe; level <= gidp.Commit; level++ {
		permission, written := c.i.Authority[level]
		switch {
		case !written:
			c.fail("GI-AUTHORITY", "authority."+level.String(), "The level is not written.", "Write true, false or approval_required.")
		case level == gidp.Commit && permission != gidp.No:
			c.fail("GI-AUTHORITY", "authority."+level.String(), "No binding authority is given in this version.", "Write false.")
		}
	}
}

func (c *checker) validity() {
	switch {
	case c.i.Profile != c.p.ID:
		c.fail("GI-VALIDITY", "profile", "The interest is written for another profile.", "Check it against the profile that it names.")
	case c.i.ExpiresAt.IsZero() || !c.i.ExpiresAt.After(c.i.NotBefore):
		c.fail("GI-VALIDITY", "validity.expires_at", "The interest has no end after its beginning.", "Write an instant after not_before.")
	case c.i.Origin != Stated && c.i.Origin != Inferred:
		c.fail("GI-VALIDITY", "origin", "The origin is neither stated nor inferred.", "Write where the interest comes from.")
	case c.i.Lineage == "":
		c.fail("GI-VALIDITY", "lineage", "The interest has no lineage, so what was told of it cannot be counted over versions.", "Give all versions of one interest the same lineage.")
	}
}

// decoys: a key that is never shows itself by declined, unless the sensitive keys of the profile all do.
func (c *checker) decoys() {
	never := func(key string) bool {
		if slices.Contains(c.i.Policy.Decoys, key) {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(c.i.Policy.Entries[key])), func(class gidp.Class) bool { return class.Never })
	}
	some := slices.ContainsFunc(c.i.keys(), never)
	for _, key := range c.i.Policy.Decoys {
		if _, ok := c.i.held(key); ok {
			c.fail("GI-DECOY", "policy.never_decoys", "A decoy is held.", "List keys that you do not hold; class a held one never.")
		}
	}
	if !some {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(c.p.Keys)) {
		if c.p.Keys[key].Sensitive && !never(key) {
			c.warn("GI-DECOY", "policy.never_decoys", "A sensitive key of the profile is answered unlike the one you class never.", "Class "+key+" never, or list it as a decoy.")
		}
	}
}

func (c *checker) derivatives() {
	for _, member := range slices.Sorted(maps.Keys(c.i.Policy.Derivatives)) {
		d := c.i.Policy.Derivatives[member]
		place := "policy.derivatives." + member
		_, known := members[member]
		_, held := c.i.held(d.From)
		switch {
		case !known && !retrievable(c.p, member, d):
			c.fail("GI-PROJECTION", place, "A projection has no such member, and the profile no attribute of labels that could stand beside it.",
				"Use categories, domains or geographies, or a key of the profile that is derived from itself.")
		case !held:
			c.fail("GI-PROJECTION", place, "The attribute it is derived from is not held.", "Name a held attribute.")
		case c.p.Identifying(d.From):
			c.fail("GI-PROJECTION", place, "An identity never appears in a projection.", "Derive from another attribute.")
		case d.Class.Surface < gidp.Network || d.Class.Gate != gidp.Ungated:
			c.fail("GI-PROJECTION", place, "The class keeps it out of every projection.", "Use discovery, public, or network.")
		case len(d.Cut) == 0:
			c.fail("GI-PROJECTION", place, "It is generalised to nothing.", "Name the labels that it is generalised to.")
		}
	}
}
