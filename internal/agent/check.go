package agent

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sayso/gidp"
	"sayso/gidp/attestation"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/report"
)

// Outlook says before anything happens what will leave an interest and how much others can learn. It holds classes and numbers, no private value; Public is what a
// provider and everybody who asks it will see.
type Outlook struct {
	Report     *report.Report `json:"report"`
	Public     *Public        `json:"public,omitempty"` // nil: nothing may appear
	Attributes []Exposure     `json:"attributes"`
	Bits       float64        `json:"bits"` // sum over the attributes that have a bound; open ones are beyond it
	Questions  []string       `json:"questions"`
}

// Public are the members of a projection as they would be published (§11).
type Public struct {
	Categories  []string `json:"categories,omitempty"`
	Domains     []string `json:"domains,omitempty"`
	Geographies []string `json:"geographies,omitempty"`
	Relation    []string `json:"relation,omitempty"`
	// Beside are the retrieval attributes by key, where a provider has them.
	Beside map[string][]string `json:"beside,omitempty"`
}

// Exposure is the most that counterparties together can learn of one attribute by questions (sec. 7.3), whatever they ask and however often. What a Principal approves,
// a disclosed value, timing and correlated attributes are not part of it.
type Exposure struct {
	Key   string            `json:"key"`
	Class map[string]string `json:"class"` // by property of a counterparty; "" is everybody
	// Kind is open (the value itself, on request), cells, labels, audited, closed (nothing), barred (nothing, never) or identity (nothing before a grant).
	Kind      string   `json:"kind"`
	Cells     int      `json:"cells,omitempty"`      // of the partition, or labels of the cut
	Bits      *float64 `json:"bits"`                 // nil: no bound, the value is told
	WorstBits *float64 `json:"worst_bits,omitempty"` // for the least likely cell under the declared prior, of a point or a bound
	Note      string   `json:"note,omitempty"`
}

// The four kinds of markets that the protocol does not suit (§5), as questions to a Principal.
var unsuitable = []string{
	"Is there a duty to publish what you offer or look for? Then a private interest is not the form for it.",
	"Is it about one quantity alone, such as a price, or about something that spoils quickly? Then an open order or an auction tells less and works faster.",
	"Will one side run many sessions and the other few? Then the many learn from the few: the bound holds for each value, not for the balance between the sides.",
	"Does the other side have to be known before the substance can be discussed? Then identity comes first, and this protocol leaves it to the end.",
}

// outlookRules are the rules of an outlook beside those of package interest.
var outlookRules = []report.Rule{
	{ID: "GI-PUBLIC", Title: "something coarse may appear in a projection", Section: "§11.1"},
	{ID: "GI-MINIMUM", Title: "what the profile asks for can be answered", Section: "§21"},
	{ID: "GI-ORIGIN", Title: "the origin serves several principals", Section: "§12.4"},
	{ID: "GI-EXPOSURE", Title: "what questions can tell is bounded", Section: "§24.3"},
	{ID: "GI-EVIDENCE", Title: "what the policy tells counterparties apart by can be shown", Section: "§9.1"},
}

// Check looks an interest over with no store and no keys: findings, what would be published, and what questions could tell. Nobody is believed about a counterparty then. Errors are
// *app.Error.
func Check(profiles *profile.Set, doc *interest.Interest) (Outlook, error) {
	return check(profiles, doc, nil)
}

func check(profiles *profile.Set, doc *interest.Interest, believed []TrustView) (Outlook, error) {
	p, ok := profiles.Profile(doc.Profile)
	if !ok {
		return Outlook{}, refuse(app.KindInvalid, "unknown_profile", "the interest names a profile that this program does not have", "sayso interest new --help lists the profiles")
	}
	own := *doc
	if own.Lineage == "" { // it gets one when it is added
		own.Lineage = "new"
	}
	o := Outlook{Report: own.Check(p.Rules()), Attributes: []Exposure{}, Questions: slices.Clone(unsuitable)}
	o.Report.Rules = slices.Concat(o.Report.Rules, outlookRules)
	add := func(f report.Finding) { o.Report.Add(f) }
	shown, err := own.Project(p.Rules(), interest.Projection{ProjectionID: "p", Endpoint: "https://example.invalid/", ExpiresAt: own.ExpiresAt}, true)
	if err != nil {
		add(report.Finding{Rule: "GI-PUBLIC", Outcome: report.Warning, Place: "policy", Message: "No projection can be made, so no provider can return the interest.",
			Reason: sentence(err.Error()), Next: "Class a coarse attribute discovery, or list a derivative; or look for others yourself."})
	} else {
		o.Public = &Public{shown.Categories, shown.Domains, shown.Geographies, shown.Relation, own.Retrieval(p.Rules(), "")}
		add(report.Finding{Rule: "GI-PUBLIC", Outcome: report.Pass, Place: "policy", Message: "A projection can be made of it."})
	}
	for _, key := range p.Minimum {
		if _, joint := p.Predicates[key]; !joint && !states(&own, key) {
			add(report.Finding{Rule: "GI-MINIMUM", Outcome: report.Warning, Place: "attributes." + key,
				Message: "The profile wants this answered before a session qualifies, and it is not stated, so no session will.", Next: "State it. It can stay evaluation_only."})
		}
	}
	for _, key := range checkedKeys(&own) {
		e := exposure(p, &own, key)
		o.Attributes = append(o.Attributes, e)
		if e.Bits != nil {
			o.Bits += *e.Bits
		}
		if e.Kind == "open" && p.Keys[key].Sensitive && slices.ContainsFunc(slices.Collect(maps.Values(own.Policy.Entries[key])), p.Keys[key].Default.MoreProtective) {
			add(report.Finding{Rule: "GI-EXPOSURE", Outcome: report.Warning, Place: "policy." + key,
				Message: "The profile calls this attribute sensitive, and your policy gives it away more freely than the profile suggests.", Next: "Add a gate, for example session/principal_approval, or leave it evaluation_only."})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own.Policy.Entries)) {
		for _, property := range unbelieved(&own, key, believed) {
			f := report.Finding{Rule: "GI-EVIDENCE", Outcome: report.Warning, Place: "policy." + key, Message: "No issuer is believed about " + property + ", so this fits no session, and the cautious class applies.",
				Next: "Say whom you believe: sayso interest trust add " + property + " FILE. Or class it for everybody."}
			if property == "" {
				f.Message, f.Next = "The class is for a network, and the policy names none, so it fits nobody.", "Name the trust domain under policy.networks."
			}
			add(f)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own.Policy.Conditions)) {
		if slices.ContainsFunc(own.Policy.Conditions[key].Verify, func(reference string) bool { return reference == "mandate" || strings.HasPrefix(reference, "mandate:") }) {
			add(report.Finding{Rule: "GI-EVIDENCE", Outcome: report.Warning, Place: "policy.conditions." + key,
				Message: "A mandate shows that somebody who holds a key delegated this, and anybody can make one.", Next: "Ask for an attestation, verified_agent, member:DOMAIN or attested:CLASS, or decide each time: session/principal_approval."})
		}
		for _, reference := range own.Policy.Conditions[key].Verify {
			if attestation.CheckProperty(reference) == nil && !believes(believed, reference) {
				add(report.Finding{Rule: "GI-EVIDENCE", Outcome: report.Warning, Place: "policy.conditions." + key, Message: "No issuer is believed about " + reference + ", so nobody can meet the condition.",
					Next: "Say whom you believe: sayso interest trust add " + reference + " FILE."})
			}
		}
	}
	o.Report.Sort()
	return o, nil
}

// unbelieved lists the properties that the policy of an attribute tells counterparties apart by and that nobody is believed about, "" where it is for a network without a name.
func unbelieved(i *interest.Interest, key string, believed []TrustView) []string {
	named := map[string]bool{}
	for property, class := range i.Policy.Entries[key] {
		domain := strings.HasPrefix(property, "member:")
		if property != "" && property != "unknown_agent" {
			named[property] = true
		}
		if class.Surface != gidp.Network || domain {
			continue
		}
		for _, network := range i.Policy.Networks {
			named["member:"+network] = true
		}
		if len(i.Policy.Networks) == 0 {
			named[""] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(named)), func(property string) bool { return believes(believed, property) })
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// Check is the function [Check] with what this agent knows beside the document.
func (a *Agent) Check(ctx context.Context, doc *interest.Interest) (Outlook, error) {
	var o Outlook
	err := a.Store.View(ctx, func(r durable.Reader) (err error) {
		o, err = a.outlook(ctx, r, doc)
		return err
	})
	return o, outward(err)
}

func (a *Agent) outlook(ctx context.Context, r durable.Reader, doc *interest.Interest) (Outlook, error) {
	believed, err := a.Trusted()
	if err != nil {
		return Outlook{}, err
	}
	o, err := check(a.Profiles, doc, believed)
	if err != nil || a.Origin == "" {
		return o, err
	}
	rows, err := r.Interests(ctx)
	if err != nil {
		return o, inside("read interests", err)
	}
	own := a.principal(doc.PrincipalRef)
	f := report.Finding{Rule: "GI-ORIGIN", Outcome: report.Warning, Place: "origin", Message: aloneWarning, Next: "Serve several principals at one origin, or accept it."}
	if slices.ContainsFunc(rows, func(row durable.InterestRow) bool {
		return row.State == string(interest.Active) && row.Principal != own
	}) {
		f = report.Finding{Rule: "GI-ORIGIN", Outcome: report.Pass, Place: "origin", Message: "The origin serves several principals."}
	}
	o.Report.Add(f)
	o.Report.Sort()
	return o, nil
}

// lists are the dependency lists by their reserved keys (§19.1).
func lists(i *interest.Interest) map[string][]string {
	return map[string][]string{gidp.Provides: i.Provides, gidp.Requires: i.Requires, gidp.ConditionalOn: i.ConditionalOn, gidp.Excludes: i.Excludes}
}

func states(i *interest.Interest, key string) bool {
	_, ok := i.Attributes[key]
	return ok || len(lists(i)[key]) > 0
}

// checkedKeys are the keys that a counterparty could ask about: held ones, classed ones and decoys.
func checkedKeys(i *interest.Interest) []string {
	keys := map[string]bool{}
	for key := range i.Attributes {
		keys[key] = true
	}
	for key := range i.Policy.Entries {
		keys[key] = true
	}
	for _, key := range i.Policy.Decoys {
		keys[key] = true
	}
	for key, list := range lists(i) {
		if len(list) > 0 {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// exposures orders the kinds of holdings by what they tell.
var exposures = []string{"absent", "identity", "barred", "closed", "labels", "cells", "audited", "open"}

// exposure is the most exposed form of an attribute towards any counterparty whose properties the policy names.
func exposure(p *profile.Profile, i *interest.Interest, key string) Exposure {
	out := Exposure{Key: key, Class: map[string]string{}, Kind: "absent"}
	entry := i.Policy.Entries[key]
	for property, class := range entry {
		out.Class[property] = class.String()
	}
	if len(entry) == 0 {
		out.Class[""] = gidp.EvaluationOnly.String()
	}
	if slices.Contains(i.Policy.Decoys, key) {
		out.Class = map[string]string{"": gidp.Never.String()}
	}
	for _, peer := range counterparties(i, entry) {
		v := i.View(p.Rules(), interest.Towards{Active: true, Peer: peer, Depth: wire.DepthSession})
		a, ok := v.Attributes[key]
		if !ok {
			continue
		}
		one := Exposure{Kind: "closed", Bits: number(0)}
		switch h := a.Holding.(type) {
		case gidp.Open:
			one = Exposure{Kind: "open", Note: "told on request"}
		case gidp.Cells:
			one = cells(p, key, h)
		case gidp.Labels:
			one = labels(p, key, h)
		case gidp.Audited:
			one = Exposure{Kind: "audited", Bits: number(i.Budgets[key].Bits), Note: "all counterparties share the budget, and one learns from its refusals what another has asked"}
		case gidp.Barred:
			one.Kind = "barred"
		case gidp.Identity:
			one.Kind, one.Note = "identity", "told under a grant of yours to reveal it, and not before"
		case gidp.Closed:
			one.Note = "neither cells nor a budget: every question is declined"
		}
		if slices.Index(exposures, one.Kind) > slices.Index(exposures, out.Kind) {
			one.Key, one.Class = out.Key, out.Class
			out = one
		}
	}
	if out.Kind == "absent" {
		out.Bits, out.Note = number(0), "not held: questions are answered unknown"
	}
	return out
}

// counterparties are the peers that a policy entry tells apart: a stranger, a verified agent, and one with each named property.
func counterparties(i *interest.Interest, entry gidp.Entry) []gidp.Counterparty {
	out := []gidp.Counterparty{{}, {Verified: true}}
	member := slices.Clone(i.Policy.Networks)
	for property := range entry {
		switch kind, name, _ := strings.Cut(property, ":"); kind {
		case "member":
			member = append(member, name)
		case "attested":
			out = append(out, gidp.Counterparty{Verified: true, Attested: []string{name}})
		}
	}
	for _, domain := range member {
		out = append(out, gidp.Counterparty{Member: []string{domain}}, gidp.Counterparty{Verified: true, Member: []string{domain}})
	}
	return out
}

func number(f float64) *float64 { return &f }

// cells of a point or a bound are K, of a range the pairs of them.
func cells(p *profile.Profile, key string, h gidp.Cells) Exposure {
	k := h.Partition.Cells()
	e := Exposure{Kind: "cells", Cells: k}
	if h.Shape == gidp.Range {
		e.Bits = number(math.Log2(float64(k * (k + 1) / 2)))
		return e
	}
	e.Bits = number(h.Partition.Bits())
	if declared, ok := p.Partitions[p.Keys[key].Partition]; ok {
		e.WorstBits = number(declared.WorstBits)
	}
	return e
}

// labels on a cut of k nodes, n of them held: at most C(k+n-1, n) answers differ.
func labels(p *profile.Profile, key string, h gidp.Labels) Exposure {
	k, n := len(p.Rules().Keys[key].Cut), len(h.Nodes)
	sum := 0.0
	for i := 1; i <= n; i++ {
		sum += math.Log2(float64(k+i-1)) - math.Log2(float64(i))
	}
	return Exposure{Kind: "labels", Cells: k, Bits: number(max(sum, 0)), Note: fmt.Sprintf("told as %s of the %d places of the cut", countOf(n), k)}
}

func countOf(n int) string {
	if n == 1 {
		return "one"
	}
	return fmt.Sprint(n)
}
