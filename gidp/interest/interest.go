package interest

import (
	"time"

	"sayso/gidp"
	"sayso/jcs"
)

// Origin says where an interest comes from (§9.4).
type Origin string

// An inferred interest is confirmed by its Principal before it is used.
const (
	Stated   Origin = "stated"
	Inferred Origin = "inferred"
)

// Interest is one version of a Standing Interest. It is never transmitted.
type Interest struct {
	ID           string
	Version      int
	Lineage      string // stable over versions
	PrincipalRef string
	Profile      string
	Wants        Wants
	Attributes   map[string]jcs.Raw // values as gidp.ParseValue reads them
	Provides     []string
	Requires     []string
	ConditionalOn,
	Excludes []string
	Placements map[string]map[string]string // key, label, its container (§14.2)
	Budgets    map[string]Budget
	Policy     Policy
	Authority  map[gidp.Level]gidp.Permission // every level is written, there is no default
	NotBefore  time.Time
	ExpiresAt  time.Time
	Origin     Origin
	Confirmed  bool
}

// Wants is the interest itself.
type Wants struct {
	Action, Object string
	Structures     []string
}

// Budget lets an attribute without a partition be answered, at a price in bits for everybody together (sec. 7.6).
type Budget struct {
	Bits   float64
	Domain gidp.Domain
}

// Policy is the Disclosure Policy (§10). An attribute without an entry is evaluation_only; no setting changes that.
type Policy struct {
	Entries     map[string]gidp.Entry // the dependency lists under their reserved keys
	Networks    []string              // the trust domains that the surface network means
	Decoys      []string              // keys that are not held and are answered as never
	Derivatives map[string]Derivative // by projection member, categories, domains or geographies, or by a key that stands beside it under its own name
	Conditions  map[string]Condition
}

// Derivative lets a generalised form of an attribute into a projection (§10.4).
type Derivative struct {
	From  string
	Cut   []string // labels it is generalised to
	Class gidp.Class
}

// Condition is what a peer has to do before a value is released (§14.4).
type Condition struct {
	Reciprocal bool
	Verify     []string
}

// authority is the permissions as the session reads them.
func (i *Interest) authority() gidp.Authority {
	var a gidp.Authority
	for level, permission := range i.Authority {
		if level < gidp.Commit {
			a[level] = permission
		}
	}
	return a
}

// lists are the dependency lists by their reserved keys (§19.1).
func (i *Interest) lists() map[string][]string {
	return map[string][]string{gidp.Provides: i.Provides, gidp.Requires: i.Requires, gidp.ConditionalOn: i.ConditionalOn, gidp.Excludes: i.Excludes}
}

// held returns the value of a key as JSON: an attribute, or a dependency list that is not empty.
func (i *Interest) held(key string) (jcs.Raw, bool) {
	if list := i.lists()[key]; len(list) > 0 {
		raw, err := jcs.Encode(list)
		return raw, err == nil
	}
	raw, ok := i.Attributes[key]
	return raw, ok
}

// keys are all keys that are held.
func (i *Interest) keys() []string {
	var out []string
	for key := range i.Attributes {
		out = append(out, key)
	}
	for key, list := range i.lists() {
		if len(list) > 0 {
			out = append(out, key)
		}
	}
	return out
}

// Value is the value of a key for a disclosure that the session has granted, canonically. It is called for the attribute that a message names to be released,
// and for nothing else.
func (i *Interest) Value(key string) (jcs.Raw, bool) {
	raw, ok := i.held(key)
	if !ok {
		return nil, false
	}
	text, err := jcs.Canonical(raw)
	return text, err == nil
}
