// Package interestfile reads and writes the YAML file in which a Principal states an interest (§9).
//
// # The file
//
//	principal_ref: board-2                    # yours; tells principals of one agent apart, never leaves
//	profile: sayso/corporate-transaction/1
//	interest: {action: strategic_transaction, object: company, structures: [acquisition]}
//	attributes:
//	  sector: crm_software                    # a label, a list of labels, a number, a range, a boolean
//	  enterprise_value_eur: {min: 20000000}
//	  arr_eur: null                           # null is "not stated": the same as leaving the line out
//	provides: [...]                           # dependency lists (§19.1), with requires, conditional_on, excludes
//	hierarchies: {sector: {quiet_label: crm_software}}
//	budgets: {depth: {bits: 2, domain: {min: 0, max: 31, step: 1}}}
//	policy:                                   # a class for each key, dependency lists under their names
//	  principal_identity: session/principal_approval
//	  sector: discovery
//	  enterprise_value_eur: {verified_agent: session/consent, unknown_agent: evaluation_only}
//	  never_decoys: [...]
//	  networks: [...]
//	  derivatives: {domains: {from: sector, generalise_to: [software], class: discovery}}
//	  conditions: {organisation_name: {reciprocal: true, verify: [...]}}
//	authority: {OBSERVE: true, SEARCH: true, PUBLISH_PROJECTION: approval_required, ...}   # all eight levels
//	validity: {not_before: 2031-01-01T00:00:00Z, expires_at: 2031-07-01T00:00:00Z}
//	origin: stated                            # or inferred, which its Principal has to confirm
//
// It is read under the strict profile of package yamlx: a member that is not listed here, a member that stands twice, and a value of another type are refused with
// the line. id, version and lineage are given when the interest is added and do not stand in the file. Whether the parts fit together and the values fit the
// profile is for interest.Check; Parse reads the form.
package interestfile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sayso/facts/dataset/yamlx"
	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/jcs"
)

// Bounds of a file.
const (
	MaxSize = 256 << 10
	maxList = 64  // entries of a list
	maxKeys = 256 // members of a mapping
	maxText = 4 << 10
	maxName = 128
)

// Error is a refusal with its place.
type Error struct {
	Name      string // of the file, as the caller names it
	Line, Col int    // from 1
	Message   string
	Next      string // what to write instead
}

// Error reads "interest.yaml:12:3: no such member: …: write …".
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Col, e.Message)
	if e.Next != "" {
		text += ": " + e.Next
	}
	return text
}

// Parse reads one file. name is what errors call it. Every error is an *[Error]; the first fault in reading order is the answer.
func Parse(name string, text []byte) (*interest.Interest, error) {
	p := &parser{name: name}
	if len(text) > MaxSize {
		return nil, &Error{Name: name, Line: 1, Col: 1, Message: fmt.Sprintf("the file is larger than %d KiB", MaxSize>>10), Next: "one file states one interest"}
	}
	root, err := yamlx.Parse(text)
	if err != nil {
		out := &Error{Name: name, Line: 1, Col: 1, Message: "the file cannot be read"}
		if at := (*yamlx.Error)(nil); errors.As(err, &at) {
			out.Line, out.Col, out.Message, out.Next = max(at.Line, 1), max(at.Col, 1), at.Message, at.Next
		}
		return nil, out
	}
	i := &interest.Interest{Attributes: map[string]jcs.Raw{}, Policy: interest.Policy{Entries: map[string]gidp.Entry{}}, Authority: map[gidp.Level]gidp.Permission{}, Origin: interest.Stated}
	p.interest(i, root)
	if p.err != nil {
		return nil, p.err
	}
	return i, nil
}

// parser keeps the first error; after it nothing is read.
type parser struct {
	name string
	err  *Error
}

func (p *parser) refuse(line, col int, message, next string) {
	if p.err == nil {
		p.err = &Error{Name: p.name, Line: line, Col: col, Message: message, Next: next}
	}
}

func (p *parser) at(n *yamlx.Node, message, next string) { p.refuse(n.Line, n.Col, message, next) }

// reader reads the value of one member.
type reader map[string]func(*yamlx.Node)

// members reads a mapping whose members are known. null is an empty one.
func (p *parser) members(n *yamlx.Node, of string, read reader) {
	for m := range p.each(n, of) {
		f, ok := read[m.Name]
		if !ok {
			p.refuse(m.Line, m.Col, fmt.Sprintf("%s has no member %.60q", of, m.Name), "its members are "+strings.Join(names(read), ", "))
			return
		}
		f(m.Value)
	}
}

func names(read reader) []string {
	out := make([]string, 0, len(read))
	for name := range read {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// each yields the members of a mapping whose names are keys of the interest, until the first error.
func (p *parser) each(n *yamlx.Node, of string) func(yield func(yamlx.Member) bool) {
	return func(yield func(yamlx.Member) bool) {
		switch {
		case p.err != nil || n.Kind == yamlx.Null:
			return
		case n.Kind != yamlx.Map:
			p.at(n, fmt.Sprintf("%s is a mapping, not %s", of, n.Kind), "write its members indented, one on each line, as NAME: VALUE")
			return
		case len(n.Members) > maxKeys:
			p.at(n, fmt.Sprintf("%s has more than %d members", of, maxKeys), "leave out what is not needed")
			return
		}
		for _, m := range n.Members {
			if !validName(m.Name) {
				p.refuse(m.Line, m.Col, "a name is 1 to 128 visible ASCII characters", "write it in lower-case letters, digits and _")
			}
			if p.err != nil || !yield(m) {
				return
			}
		}
	}
}

// validName is the rule of the wire for keys (W-10).
func validName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (p *parser) interest(i *interest.Interest, root *yamlx.Node) {
	if root.Kind != yamlx.Map {
		p.at(root, "an interest file is a mapping", "begin with profile: and interest: (sayso interest new writes a file to fill in)")
		return
	}
	given := func(n *yamlx.Node) {
		p.at(n, "an interest file does not say its id, version or lineage", "remove the line: they are given when the interest is added or supersedes another")
	}
	p.members(root, "an interest file", reader{
		"id": given, "version": given, "lineage": given,
		"principal_ref": p.text(&i.PrincipalRef), "profile": p.text(&i.Profile),
		"interest": func(n *yamlx.Node) {
			p.members(n, "interest", reader{"action": p.text(&i.Wants.Action), "object": p.text(&i.Wants.Object), "structures": p.list(&i.Wants.Structures)})
		},
		"attributes": func(n *yamlx.Node) { p.attributes(i, n) },
		"provides":   p.list(&i.Provides), "requires": p.list(&i.Requires), "conditional_on": p.list(&i.ConditionalOn), "excludes": p.list(&i.Excludes),
		"hierarchies": func(n *yamlx.Node) { p.placements(i, n) },
		"budgets":     func(n *yamlx.Node) { p.budgets(i, n) },
		"policy":      func(n *yamlx.Node) { p.policy(&i.Policy, n) },
		"authority":   func(n *yamlx.Node) { p.authority(i, n) },
		"validity": func(n *yamlx.Node) {
			p.members(n, "validity", reader{"not_before": p.instant(&i.NotBefore), "expires_at": p.instant(&i.ExpiresAt)})
		},
		"origin": func(n *yamlx.Node) {
			switch {
			case n.Kind == yamlx.String && (n.Text == string(interest.Stated) || n.Text == string(interest.Inferred)):
				i.Origin = interest.Origin(n.Text)
			default:
				p.at(n, "the origin is stated or inferred", "write origin: stated for what its Principal said itself")
			}
		},
	})
	if p.err == nil && i.Profile == "" {
		p.at(root, "the file names no profile", "write profile: core, or another that sayso interest new knows")
	}
}

// text reads a string; null is an empty one.
func (p *parser) text(into *string) func(*yamlx.Node) {
	return func(n *yamlx.Node) {
		switch {
		case n.Kind == yamlx.Null:
		case n.Kind != yamlx.String:
			p.at(n, fmt.Sprintf("this is a string, not %s", n.Kind), "put it in quotes")
		case len(n.Text) > maxText:
			p.at(n, "the text is longer than 4096 bytes", "shorten it")
		default:
			*into = n.Text
		}
	}
}

// list reads a list of strings without repetition; null is an empty one.
func (p *parser) list(into *[]string) func(*yamlx.Node) {
	return func(n *yamlx.Node) {
		switch {
		case n.Kind == yamlx.Null:
			return
		case n.Kind != yamlx.Seq:
			p.at(n, fmt.Sprintf("this is a list, not %s", n.Kind), "write [first, second]")
			return
		case len(n.Items) > maxList:
			p.at(n, fmt.Sprintf("the list has more than %d entries", maxList), "leave out what is not needed")
			return
		}
		for _, item := range n.Items {
			var s string
			p.text(&s)(item)
			switch {
			case p.err != nil:
				return
			case s == "":
				p.at(item, "an entry of the list is empty", "write it, or remove it")
			case slices.Contains(*into, s):
				p.at(item, "an entry stands twice in the list", "remove one")
			}
			*into = append(*into, s)
		}
	}
}

func (p *parser) instant(into *time.Time) func(*yamlx.Node) {
	return func(n *yamlx.Node) {
		if n.Kind == yamlx.Null {
			return
		}
		t, err := time.Parse(time.RFC3339, n.Text)
		if n.Kind != yamlx.String || err != nil {
			p.at(n, "an instant has a date, a time and an offset", "write it like 2031-07-01T00:00:00Z")
			return
		}
		*into = t.UTC()
	}
}

func (p *parser) attributes(i *interest.Interest, n *yamlx.Node) {
	for m := range p.each(n, "attributes") {
		if reserved, _ := gidp.Reserved(m.Name); reserved {
			p.refuse(m.Line, m.Col, fmt.Sprintf("%s is a list of the interest, not an attribute", m.Name), "write "+m.Name+": [...] beside attributes")
			return
		}
		if m.Value.Kind == yamlx.Null {
			continue
		}
		text, err := jcs.Canonical(m.Value.AppendJSON(nil))
		if err == nil {
			_, err = gidp.ParseValue(text)
		}
		if err != nil {
			p.at(m.Value, "this is no value that a question can be compared with",
				"write a string, a number, true or false, a list of at most 64 of these, or {min: 1, max: 2} with one or both; quote what is no number")
			return
		}
		i.Attributes[m.Name] = text
	}
}

func (p *parser) placements(i *interest.Interest, n *yamlx.Node) {
	for key := range p.each(n, "hierarchies") {
		for label := range p.each(key.Value, "hierarchies."+key.Name) {
			var in string
			p.text(&in)(label.Value)
			if p.err == nil && in == "" {
				p.at(label.Value, "a placement names what contains the label", "write LABEL: CONTAINER")
			}
			if i.Placements == nil {
				i.Placements = map[string]map[string]string{}
			}
			if i.Placements[key.Name] == nil {
				i.Placements[key.Name] = map[string]string{}
			}
			i.Placements[key.Name][label.Name] = in
		}
	}
}

func (p *parser) budgets(i *interest.Interest, n *yamlx.Node) {
	for m := range p.each(n, "budgets") {
		var b interest.Budget
		given := map[string]bool{}
		mark := func(name string, f func(*yamlx.Node)) func(*yamlx.Node) {
			return func(n *yamlx.Node) { given[name] = true; f(n) }
		}
		p.members(m.Value, "budgets."+m.Name, reader{
			"bits": mark("bits", p.bits(&b.Bits)),
			"domain": func(n *yamlx.Node) {
				p.members(n, "budgets."+m.Name+".domain", reader{"min": mark("min", p.integer(&b.Domain.Min)), "max": mark("max", p.integer(&b.Domain.Max)),
					"step": mark("step", p.integer(&b.Domain.Step))})
			}})
		for _, name := range []string{"bits", "min", "max", "step"} {
			if !given[name] {
				p.refuse(m.Line, m.Col, "the budget does not say its "+name, "write {bits: 2, domain: {min: 0, max: 31, step: 1}}")
			}
		}
		if i.Budgets == nil {
			i.Budgets = map[string]interest.Budget{}
		}
		i.Budgets[m.Name] = b
	}
}

func (p *parser) bits(into *float64) func(*yamlx.Node) {
	return func(n *yamlx.Node) {
		f, err := strconv.ParseFloat(n.Text, 64)
		if n.Kind != yamlx.Number || err != nil || math.IsInf(f, 0) {
			p.at(n, "bits is a number", "write for example 2, or 1.5")
			return
		}
		*into = f
	}
}

func (p *parser) integer(into *int64) func(*yamlx.Node) {
	return func(n *yamlx.Node) {
		v, err := strconv.ParseInt(n.Text, 10, 64)
		if n.Kind != yamlx.Number || err != nil || v > 1<<53-1 || v < -(1<<53-1) {
			p.at(n, "this is a whole number", "write digits alone, without a point or an exponent")
			return
		}
		*into = v
	}
}

// The members of policy that are no keys.
const (
	decoysName      = "never_decoys"
	networksName    = "networks"
	derivativesName = "derivatives"
	conditionsName  = "conditions"
)

func (p *parser) policy(into *interest.Policy, n *yamlx.Node) {
	for m := range p.each(n, "policy") {
		switch m.Name {
		case decoysName:
			p.list(&into.Decoys)(m.Value)
		case networksName:
			p.list(&into.Networks)(m.Value)
		case derivativesName:
			p.derivatives(into, m.Value)
		case conditionsName:
			p.conditions(into, m.Value)
		default:
			into.Entries[m.Name] = p.entry(m)
		}
	}
}

func (p *parser) class(n *yamlx.Node) gidp.Class {
	if n.Kind != yamlx.String {
		p.at(n, "a class is a word, not "+n.Kind.String(), classHelp)
		return gidp.Class{}
	}
	c, err := gidp.ParseClass(n.Text)
	if err != nil {
		p.at(n, err.Error(), classHelp)
	}
	return c
}

const classHelp = "write SURFACE or SURFACE/GATE, such as discovery, session or session/principal_approval, or evaluation_only, or never"

// entry is one class, or one for each property of a counterparty.
func (p *parser) entry(m yamlx.Member) gidp.Entry {
	out := gidp.Entry{}
	if m.Value.Kind != yamlx.Map {
		out[""] = p.class(m.Value)
		return out
	}
	if len(m.Value.Members) == 0 {
		p.at(m.Value, "the entry has no class", classHelp)
	}
	for property := range p.each(m.Value, "policy."+m.Name) {
		if err := gidp.CheckProperty(property.Name); err != nil {
			p.refuse(property.Line, property.Col, err.Error(), "write for example verified_agent: session")
			return out
		}
		out[property.Name] = p.class(property.Value)
	}
	return out
}

func (p *parser) derivatives(into *interest.Policy, n *yamlx.Node) {
	for m := range p.each(n, "policy.derivatives") {
		var d interest.Derivative
		classed := false
		p.members(m.Value, "policy.derivatives."+m.Name, reader{"from": p.text(&d.From), "generalise_to": p.list(&d.Cut),
			"class": func(n *yamlx.Node) { d.Class, classed = p.class(n), true }})
		if d.From == "" || len(d.Cut) == 0 || !classed {
			p.refuse(m.Line, m.Col, "a derivative says from what, to which labels, and under which class", "write {from: KEY, generalise_to: [LABEL], class: discovery}")
		}
		if into.Derivatives == nil {
			into.Derivatives = map[string]interest.Derivative{}
		}
		into.Derivatives[m.Name] = d
	}
}

func (p *parser) conditions(into *interest.Policy, n *yamlx.Node) {
	for m := range p.each(n, "policy.conditions") {
		var c interest.Condition
		p.members(m.Value, "policy.conditions."+m.Name, reader{"verify": p.list(&c.Verify), "reciprocal": func(n *yamlx.Node) {
			if n.Kind != yamlx.Bool {
				p.at(n, "reciprocal is true or false", "write reciprocal: true")
				return
			}
			c.Reciprocal = n.Text == "true"
		}})
		if into.Conditions == nil {
			into.Conditions = map[string]interest.Condition{}
		}
		into.Conditions[m.Name] = c
	}
}

func (p *parser) authority(i *interest.Interest, n *yamlx.Node) {
	for m := range p.each(n, "authority") {
		level, ok := gidp.ParseLevel(m.Name)
		if !ok {
			p.refuse(m.Line, m.Col, fmt.Sprintf("there is no level %.40q", m.Name), "the levels are "+strings.Join(levels(), ", "))
			return
		}
		switch {
		case m.Value.Kind == yamlx.Bool && m.Value.Text == "true":
			i.Authority[level] = gidp.Yes
		case m.Value.Kind == yamlx.Bool:
			i.Authority[level] = gidp.No
		case m.Value.Kind == yamlx.String && m.Value.Text == approval:
			i.Authority[level] = gidp.Approval
		default:
			p.at(m.Value, "a level is true, false or approval_required", "write for example "+m.Name+": approval_required")
		}
	}
	if p.err != nil {
		return
	}
	for level := gidp.Observe; level <= gidp.Commit; level++ {
		if _, written := i.Authority[level]; !written {
			p.at(n, "the level "+level.String()+" is not written, and no level follows from another", "write "+level.String()+": false, true or approval_required")
		}
	}
}

const approval = "approval_required"

func levels() []string {
	var out []string
	for level := gidp.Observe; level <= gidp.Commit; level++ {
		out = append(out, level.String())
	}
	return out
}
