package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// The form of a profile's file (sec. 13). Members that are not listed are refused at every level.
type document struct {
	ID            string                  `json:"id"`
	Version       int                     `json:"version"`
	Extends       string                  `json:"extends"`
	Keys          map[string]keyDoc       `json:"keys"`
	Partitions    map[string]partitionDoc `json:"partitions"`
	Hierarchies   map[string]cutDoc       `json:"hierarchies"`
	Predicates    map[string]Predicate    `json:"predicates"`
	Minimum       []string                `json:"minimum_claims"`
	Structures    []string                `json:"structures"`
	Purposes      []string                `json:"purposes"`
	Channels      []string                `json:"channels"`
	Relation      []string                `json:"relation"`
	LeadStatement string                  `json:"lead_statement"`
}

type keyDoc struct {
	Type        Type     `json:"type"`
	Unit        string   `json:"unit"`
	Meaning     string   `json:"meaning"`
	Quantity    string   `json:"quantity"`
	Partition   string   `json:"partition"`
	Hierarchy   string   `json:"hierarchy"` // a name of hierarchies
	Cut         []string `json:"cut"`       // in place of the cut of the hierarchy
	Identifying bool     `json:"identifying"`
	Sensitive   bool     `json:"sensitive"`
	Absent      string   `json:"absent_means"`
	Default     string   `json:"default_class"`
	Borderline  *bool    `json:"borderline"`
}

type partitionDoc struct {
	Unit      string    `json:"unit"`
	Min       int64     `json:"min"`
	Max       int64     `json:"max"`
	Edges     []int64   `json:"edges"`
	Prior     Prior     `json:"prior"`
	Masses    []float64 `json:"masses"`
	WorstBits float64   `json:"worst_bits"`
	Outputs   Outputs   `json:"outputs"`
}

type cutDoc struct {
	Tree string   `json:"tree"`
	Cut  []string `json:"cut"`
}

const (
	maxProfile = 256 << 10 // bytes
	maxEntries = 256       // of one member of a profile
)

// meanings are what a general label stands for (§14.2).
var meanings = map[string]gidp.Meaning{"fact_held": gidp.FactHeld, "set_accepted": gidp.SetAccepted, "requirement": gidp.Requirement}

// identityDefault is the class that an editor proposes for an identifying key. A profile may propose a more protective one.
var identityDefault = gidp.Class{Surface: gidp.InSession, Gate: gidp.NeedsPrincipalOK}

// read reads one profile over the hierarchies and the core of the set.
func (s *Set) read(content []byte) (*Profile, error) {
	if len(content) > maxProfile {
		return nil, fmt.Errorf("profile: the file is longer than %d bytes", maxProfile)
	}
	var doc document
	if err := jcs.DecodeKnown(content, &doc); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	r := reader{set: s, doc: &doc, p: &Profile{ID: doc.ID, Version: doc.Version, Keys: map[string]Key{}, Partitions: map[string]*Partition{}, Predicates: doc.Predicates, LeadStatement: doc.LeadStatement}}
	for _, step := range []func() error{r.head, r.partitions, r.keys, r.predicates, r.codes, r.minimum} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("profile %.128q: %w", doc.ID, err)
		}
	}
	return r.p, nil
}

type reader struct {
	set *Set
	doc *document
	p   *Profile
}

// head begins the rules: empty, or with what core has.
func (r *reader) head() error {
	p, doc := r.p, r.doc
	p.rules = &gidp.Profile{ID: doc.ID, Keys: map[string]gidp.Key{}, Predicates: map[string]gidp.Predicate{}}
	switch {
	case doc.LeadStatement == "" || len(doc.LeadStatement) > wire.MaxText:
		return errors.New("lead_statement says what an Opportunity under it means")
	case doc.Version < 1:
		return errors.New("version is a whole number from 1")
	case len(doc.Keys) > maxEntries || len(doc.Partitions) > maxEntries || len(doc.Predicates) > maxEntries || len(doc.Hierarchies) > maxEntries:
		return fmt.Errorf("it has more than %d keys, partitions, predicates or hierarchies", maxEntries)
	case doc.ID == Core:
		if doc.Extends != "" {
			return errors.New("core extends nothing")
		}
		return nil
	case !versioned(doc.ID) || !strings.HasSuffix(doc.ID, "/"+strconv.Itoa(doc.Version)):
		return errors.New("the id is NAME/VERSION or AUTHORITY/NAME/VERSION, with the version that it states")
	case doc.Extends != Core:
		return errors.New("it extends core")
	}
	core, ok := r.set.profiles[Core]
	if !ok {
		return errors.New("core has not been read")
	}
	for key, k := range core.Keys {
		k.core = true
		p.Keys[key] = k
		p.rules.Keys[key] = core.rules.Keys[key]
	}
	maps.Copy(p.Partitions, core.Partitions)
	p.Purposes, p.Channels, p.Structures = slices.Clone(core.Purposes), slices.Clone(core.Channels), slices.Clone(core.Structures)
	return nil
}

func (r *reader) partitions() error {
	for _, id := range slices.Sorted(maps.Keys(r.doc.Partitions)) {
		d := r.doc.Partitions[id]
		if !versioned(id) || d.Unit == "" {
			return fmt.Errorf("partition %.60q: the id is QUANTITY/VERSION and the unit is stated", id)
		}
		t := &Partition{Partition: gidp.Partition{ID: id, Min: d.Min, Max: d.Max, Edges: d.Edges}, Unit: d.Unit, Prior: d.Prior}
		if err := t.check(); err != nil {
			return err
		}
		if err := t.measure(d.Masses, d.WorstBits, d.Outputs); err != nil {
			return err
		}
		r.p.Partitions[id] = t
	}
	return nil
}

func (r *reader) keys() error {
	quantities := map[string]Key{}
	for _, name := range slices.Sorted(maps.Keys(r.doc.Keys)) {
		if had, ok := r.p.Keys[name]; !isLabel(name) || isReserved(name) || ok && had.core {
			return fmt.Errorf("key %.60q: it is no label, has a meaning of the protocol, or belongs to core", name)
		}
		k, rule, err := r.key(name, r.doc.Keys[name])
		if err != nil {
			return fmt.Errorf("key %q: %w", name, err)
		}
		r.p.Keys[name], r.p.rules.Keys[name] = k, rule
	}
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.p.Keys)) {
		k := r.p.Keys[name]
		if other, ok := quantities[k.Quantity]; ok && (other.Partition != k.Partition || other.Unit != k.Unit) {
			return fmt.Errorf("key %q: keys of the quantity %q have one partition and one unit (Q-5)", name, k.Quantity)
		}
		quantities[k.Quantity], used[k.Partition] = k, true
	}
	for id := range r.doc.Partitions {
		if !used[id] {
			return fmt.Errorf("partition %q: no key uses it", id)
		}
	}
	return nil
}

func (r *reader) key(name string, d keyDoc) (Key, gidp.Key, error) {
	meaning, known := meanings[d.Meaning]
	k := Key{Type: d.Type, Unit: d.Unit, Meaning: meaning, Quantity: d.Quantity, Partition: d.Partition, Identifying: d.Identifying, Sensitive: d.Sensitive}
	if k.Quantity == "" {
		k.Quantity = name
	}
	rule := gidp.Key{Meaning: meaning, Quantity: k.Quantity, Identifying: d.Identifying, Sensitive: d.Sensitive, AbsentDeclined: d.Absent == "declined", Definite: d.Borderline != nil && !*d.Borderline}
	class := "evaluation_only"
	if d.Default != "" {
		class = d.Default
	}
	var err error
	k.Default, err = gidp.ParseClass(class)
	switch labels := d.Type == Label || d.Type == Labels; {
	case err != nil:
		return k, rule, err
	case d.Type != Integer && d.Type != Bool && !labels:
		return k, rule, errors.New("the type is integer, label, set or bool")
	case !known:
		return k, rule, errors.New("the meaning is fact_held, set_accepted or requirement")
	case (d.Type == Integer) != (d.Unit != ""):
		return k, rule, errors.New("an integer, and nothing else, has a unit")
	case d.Absent != "" && d.Absent != "unknown" && d.Absent != "declined":
		return k, rule, errors.New("absent_means is unknown or declined (sec. 13)")
	case d.Identifying && k.Default != identityDefault && !k.Default.MoreProtective(identityDefault):
		return k, rule, fmt.Errorf("an identifying key is at most %s by default (§10.6)", identityDefault)
	case d.Identifying && (d.Partition != "" || d.Hierarchy != ""):
		return k, rule, errors.New("an identifying key has neither partition nor hierarchy: nothing of it is evaluated")
	case d.Hierarchy != "" && !labels, d.Hierarchy == "" && len(d.Cut) > 0:
		return k, rule, errors.New("labels, and nothing else, have a hierarchy, and a cut belongs to one")
	}
	if d.Partition != "" {
		t, ok := r.p.Partitions[d.Partition]
		if !ok || d.Type != Integer || t.Unit != d.Unit || quantityOf(t.ID) != k.Quantity {
			return k, rule, fmt.Errorf("the partition %.60q is of another quantity or unit, or the profile has none of that id (Q-5)", d.Partition)
		}
		rule.Partition = &t.Partition
	}
	if d.Hierarchy != "" {
		cut, ok := r.doc.Hierarchies[d.Hierarchy]
		h := r.set.hierarchies[cut.Tree]
		if !ok || h == nil {
			return k, rule, fmt.Errorf("the hierarchy %.60q is not listed, or its tree %.60q has not been read", d.Hierarchy, cut.Tree)
		}
		if len(d.Cut) > 0 {
			cut.Cut = d.Cut
		}
		if err := h.checkCut(cut.Cut); err != nil {
			return k, rule, err
		}
		k.Hierarchy, k.Cut = h.ID, cut.Cut
		rule.Tree, rule.Cut = h.Tree, cut.Cut
	}
	return k, rule, nil
}

func (r *reader) predicates() error {
	for _, name := range slices.Sorted(maps.Keys(r.doc.Predicates)) {
		f := r.doc.Predicates[name]
		if err := r.p.checkPredicate(name, f); err != nil {
			return err
		}
		r.p.rules.Predicates[name] = f.core()
	}
	return nil
}

// codes reads the lists of codes. The relations are the protocol's one, which has no direction (§11.1).
func (r *reader) codes() error {
	p := r.p
	for _, list := range []struct {
		member string
		codes  []string
		to     *[]string
	}{{"structures", r.doc.Structures, &p.Structures}, {"purposes", r.doc.Purposes, &p.Purposes}, {"channels", r.doc.Channels, &p.Channels}} {
		for _, code := range list.codes {
			if !isLabel(code) || slices.Contains(*list.to, code) || len(*list.to) >= maxEntries {
				return fmt.Errorf("%s: %.60q is no label or stands there twice", list.member, code)
			}
			*list.to = append(*list.to, code)
		}
	}
	if !slices.Equal(r.doc.Relation, []string{wire.Complementary}) {
		return fmt.Errorf("relation is [%q]: any other would be new to the protocol or name a direction", wire.Complementary)
	}
	p.Relations = r.doc.Relation
	p.rules.Channels = p.Channels
	if len(p.Structures) == 1 { // of several, none is chosen for the Principal
		p.rules.Structure = p.Structures[0]
	}
	return nil
}

func (r *reader) minimum() error {
	for _, key := range r.doc.Minimum {
		k, isKey := r.p.Keys[key]
		_, isPredicate := r.p.Predicates[key]
		reserved, _ := gidp.Reserved(key)
		if !isKey && !isPredicate && !reserved || k.Identifying || slices.Contains(r.p.Minimum, key) {
			return fmt.Errorf("minimum_claims: %.60q cannot be asked, identifies, or stands there twice", key)
		}
		r.p.Minimum = append(r.p.Minimum, key)
	}
	r.p.rules.Minimum = r.p.Minimum
	return nil
}
