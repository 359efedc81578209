package vault

import (
	"errors"
	"fmt"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/jcs"
)

// document is the sealed form of an interest.
type document struct {
	ID            string                       `json:"id"`
	Version       int                          `json:"version"`
	Lineage       string                       `json:"lineage"`
	PrincipalRef  string                       `json:"principal_ref"`
	Profile       string                       `json:"profile"`
	Interest      wants                        `json:"interest"`
	Attributes    map[string]jcs.Raw           `json:"attributes"`
	Provides      []string                     `json:"provides,omitempty"`
	Requires      []string                     `json:"requires,omitempty"`
	ConditionalOn []string                     `json:"conditional_on,omitempty"`
	Excludes      []string                     `json:"excludes,omitempty"`
	Placements    map[string]map[string]string `json:"hierarchies,omitempty"`
	Budgets       map[string]budget            `json:"budgets,omitempty"`
	Policy        policy                       `json:"policy"`
	Authority     map[string]string            `json:"authority"`
	NotBefore     *time.Time                   `json:"not_before"`
	ExpiresAt     *time.Time                   `json:"expires_at"`
	Origin        interest.Origin              `json:"origin"`
	Confirmed     bool                         `json:"confirmed,omitzero"`
}

type wants struct {
	Action     string   `json:"action"`
	Object     string   `json:"object"`
	Structures []string `json:"structures,omitempty"`
}

type budget struct {
	Bits   float64 `json:"bits"`
	Domain domain  `json:"domain"`
}

type domain struct {
	Min  int64 `json:"min"`
	Max  int64 `json:"max"`
	Step int64 `json:"step"`
}

type policy struct {
	Entries     map[string]map[string]string `json:"entries"` // key, property of a counterparty ("": everybody), class
	Networks    []string                     `json:"networks,omitempty"`
	Decoys      []string                     `json:"never_decoys,omitempty"`
	Derivatives map[string]derivative        `json:"derivatives,omitempty"`
	Conditions  map[string]condition         `json:"conditions,omitempty"`
}

type derivative struct {
	From  string   `json:"from"`
	Cut   []string `json:"generalise_to"`
	Class string   `json:"class"`
}

type condition struct {
	Reciprocal bool     `json:"reciprocal,omitzero"`
	Verify     []string `json:"verify,omitempty"`
}

var permissions = map[gidp.Permission]string{gidp.No: "false", gidp.Yes: "true", gidp.Approval: "approval_required"}

// An instant that is not set has no member: the zero time is no instant that RFC 3339 should carry.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func encodeDocument(i *interest.Interest) ([]byte, error) {
	d := document{ID: i.ID, Version: i.Version, Lineage: i.Lineage, PrincipalRef: i.PrincipalRef, Profile: i.Profile,
		Interest: wants(i.Wants), Attributes: i.Attributes, Provides: i.Provides, Requires: i.Requires,
		ConditionalOn: i.ConditionalOn, Excludes: i.Excludes, Placements: i.Placements, Budgets: map[string]budget{}, Authority: map[string]string{},
		NotBefore: instant(i.NotBefore), ExpiresAt: instant(i.ExpiresAt), Origin: i.Origin, Confirmed: i.Confirmed,
		Policy: policy{Entries: map[string]map[string]string{}, Networks: i.Policy.Networks, Decoys: i.Policy.Decoys, Derivatives: map[string]derivative{}, Conditions: map[string]condition{}}}
	for key, b := range i.Budgets {
		d.Budgets[key] = budget{Bits: b.Bits, Domain: domain(b.Domain)}
	}
	for level, permission := range i.Authority {
		d.Authority[level.String()] = permissions[permission]
	}
	for key, entry := range i.Policy.Entries {
		classes := map[string]string{}
		for property, class := range entry {
			classes[property] = class.String()
		}
		d.Policy.Entries[key] = classes
	}
	for member, from := range i.Policy.Derivatives {
		d.Policy.Derivatives[member] = derivative{From: from.From, Cut: from.Cut, Class: from.Class.String()}
	}
	for key, c := range i.Policy.Conditions {
		d.Policy.Conditions[key] = condition(c)
	}
	text, err := jcs.Encode(d)
	if err != nil {
		return nil, fmt.Errorf("write the interest: %w", errDocument)
	}
	return text, nil
}

// errDocument stands for every fault of a document: what it holds is never part of an error.
var errDocument = errors.New("a member of the document cannot be read by this version")

func decodeDocument(text []byte) (*interest.Interest, error) {
	var d document
	if jcs.DecodeKnown(text, &d) != nil {
		return nil, errDocument
	}
	i := &interest.Interest{ID: d.ID, Version: d.Version, Lineage: d.Lineage, PrincipalRef: d.PrincipalRef, Profile: d.Profile,
		Wants: interest.Wants(d.Interest), Attributes: d.Attributes, Provides: d.Provides, Requires: d.Requires,
		ConditionalOn: d.ConditionalOn, Excludes: d.Excludes, Placements: d.Placements, Authority: map[gidp.Level]gidp.Permission{}, Origin: d.Origin, Confirmed: d.Confirmed,
		Policy: interest.Policy{Entries: map[string]gidp.Entry{}, Networks: d.Policy.Networks, Decoys: d.Policy.Decoys}}
	if d.NotBefore != nil {
		i.NotBefore = *d.NotBefore
	}
	if d.ExpiresAt != nil {
		i.ExpiresAt = *d.ExpiresAt
	}
	for key, b := range d.Budgets {
		put(&i.Budgets, key, interest.Budget{Bits: b.Bits, Domain: gidp.Domain(b.Domain)})
	}
	for name, text := range d.Authority {
		level, ok := gidp.ParseLevel(name)
		permission, known := permissionOf(text)
		if !ok || !known {
			return nil, errDocument
		}
		i.Authority[level] = permission
	}
	for key, classes := range d.Policy.Entries {
		entry := gidp.Entry{}
		for property, text := range classes {
			class, err := gidp.ParseClass(text)
			if err != nil {
				return nil, errDocument
			}
			entry[property] = class
		}
		i.Policy.Entries[key] = entry
	}
	for member, from := range d.Policy.Derivatives {
		class, err := gidp.ParseClass(from.Class)
		if err != nil {
			return nil, errDocument
		}
		put(&i.Policy.Derivatives, member, interest.Derivative{From: from.From, Cut: from.Cut, Class: class})
	}
	for key, c := range d.Policy.Conditions {
		put(&i.Policy.Conditions, key, interest.Condition(c))
	}
	return i, nil
}

func permissionOf(text string) (gidp.Permission, bool) {
	for permission, name := range permissions {
		if name == text {
			return permission, true
		}
	}
	return gidp.No, false
}

// put adds to a map that is made when it is first needed.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}
