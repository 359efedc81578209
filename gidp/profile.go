package gidp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sayso/jcs"
)

// PrincipalIdentity is the key that always identifies (§10.6).
const PrincipalIdentity = "principal_identity"

// The reserved claim keys (§19.1). A claim on one of them is resolved against the list of that name.
const (
	Provides      = "provides"
	Requires      = "requires"
	ConditionalOn = "conditional_on"
	Excludes      = "excludes"
)

// Reserved reports whether a key names a dependency list; feature tells that it needs dependency_primitives.
func Reserved(key string) (reserved, feature bool) {
	switch key {
	case Provides, Requires, ConditionalOn:
		return true, true
	case Excludes:
		return true, false
	}
	return false, false
}

// Profile is what the core needs of a domain profile (§21). The data and their loader live elsewhere; to the core a profile is a value.
type Profile struct {
	ID         string
	Keys       map[string]Key
	Minimum    []string // keys that must stand before a session qualifies
	Channels   []string // classes of channels that establish_direct_contact may name
	Structure  string   // code for Opportunity.structure; "" is unspecified
	Predicates map[string]Predicate
}

// Identifying reports whether a key identifies a Principal under this profile.
func (p *Profile) Identifying(key string) bool {
	return key == PrincipalIdentity || p.Keys[key].Identifying
}

// Meaning tells what a general value stands for (§14.2).
type Meaning uint8

// The meanings. The core cannot tell them apart, so the zero value is the cautious one.
const (
	FactHeld    Meaning = iota // germany: somewhere in Germany
	SetAccepted                // germany: any place in Germany will do
	Requirement                // asked of the counterparty; read as a fact
)

// Key is one attribute of a profile.
type Key struct {
	Meaning        Meaning
	Quantity       string     // attributes of one quantity share a partition and a ledger row; "" is the key itself
	Partition      *Partition // of an integer attribute
	Tree           *Tree      // of a label attribute
	Cut            []string   // labels of Tree that protected values are generalised to
	Identifying    bool
	Sensitive      bool // recommended for the decoys of an interest
	AbsentDeclined bool // absent_means: declined
	Definite       bool // borderline: false; an answer at the asked edge is not softened
}

// Predicate is what compatible_with tests on a key that the profile names. Test must be monotone in each argument: then it holds on a product of cells
// exactly when it holds at the corners.
type Predicate struct {
	Args  []string // own attributes, numbers; at most maxArgs
	Needs []string // attributes that the asker must have disclosed
	Test  func(args []int64, asked jcs.Raw) (holds, fits bool)
}

const maxArgs = 6

// Partition divides the integers from Min to Max into cells (§24.3; sec. 7.4). It is public, fixed under its id, and independent of any value.
type Partition struct {
	ID       string
	Min, Max int64   // nominal domain, both included
	Edges    []int64 // first value of each cell but the first, ascending
}

// maxInt is the greatest integer of a JSON number.
const maxInt = 1<<53 - 1

// Check refuses a partition whose cells are not a partition.
func (p *Partition) Check() error {
	if p.Min > p.Max || p.Min < -maxInt || p.Max > maxInt {
		return fmt.Errorf("partition %q: the domain is empty or beyond the integers of JSON", p.ID)
	}
	last := p.Min
	for _, e := range p.Edges {
		if e <= last || e > p.Max {
			return fmt.Errorf("partition %q: the edges ascend inside the domain", p.ID)
		}
		last = e
	}
	return nil
}

// Cells is the number of cells.
func (p *Partition) Cells() int { return len(p.Edges) + 1 }

// Cell returns the index of the cell a value lies in; false when it lies outside the domain.
func (p *Partition) Cell(v int64) (int, bool) {
	if v < p.Min || v > p.Max {
		return 0, false
	}
	i, exact := slices.BinarySearch(p.Edges, v)
	if exact {
		i++
	}
	return i, true
}

// Bounds returns the first and the last value of a cell.
func (p *Partition) Bounds(cell int) (lo, hi int64) {
	lo, hi = p.Min, p.Max
	if cell > 0 {
		lo = p.Edges[cell-1]
	}
	if cell < len(p.Edges) {
		hi = p.Edges[cell] - 1
	}
	return lo, hi
}

// Bits is the most that answers tell about a point or a bound (a range tells at most log2 K(K+1)/2).
func (p *Partition) Bits() float64 { return math.Log2(float64(p.Cells())) }

// Tree is a hierarchy of labels: each label has at most one container.
type Tree struct{ parent map[string]string }

// maxTreeDepth bounds the work of one comparison.
const maxTreeDepth = 32

// NewTree builds a tree from the container of each label; a root has none. It refuses cycles and depths beyond 32.
func NewTree(container map[string]string) (*Tree, error) {
	t := &Tree{parent: make(map[string]string, len(container))}
	for label, in := range container {
		t.parent[label] = in
		if _, ok := container[in]; !ok && in != "" {
			t.parent[in] = ""
		}
	}
	for label := range t.parent {
		if t.depth(label) > maxTreeDepth {
			return nil, fmt.Errorf("hierarchy: %.60q lies in itself or deeper than %d", label, maxTreeDepth)
		}
	}
	return t, nil
}

func (t *Tree) depth(label string) int {
	n := 0
	for ; label != "" && n <= maxTreeDepth; n++ {
		label = t.parent[label]
	}
	return n
}

var errPlaced = errors.New("hierarchy: an own placement moves a label that the profile has placed")

// With returns the tree with own labels placed in it (§14.2). A label that the tree has placed stays where it is.
func (t *Tree) With(own map[string]string) (*Tree, error) {
	if len(own) == 0 && t != nil {
		return t, nil
	}
	all := map[string]string{}
	if t != nil {
		for label, in := range t.parent {
			all[label] = in
		}
	}
	for label, in := range own {
		if had, ok := all[label]; ok && had != "" && had != in {
			return nil, errPlaced
		}
		all[label] = in
	}
	return NewTree(all)
}

// Has reports whether the tree places a label.
func (t *Tree) Has(label string) bool {
	if t == nil {
		return false
	}
	_, ok := t.parent[label]
	return ok
}

// Container returns what contains a label; "" for a root, and for a label that the tree does not place.
func (t *Tree) Container(label string) string {
	if t == nil {
		return ""
	}
	return t.parent[label]
}

// Within reports whether a label is the container or lies below it.
func (t *Tree) Within(label, container string) bool {
	if label == container {
		return true
	}
	if t == nil || container == "" {
		return false
	}
	for in := t.parent[label]; in != ""; in = t.parent[in] {
		if in == container {
			return true
		}
	}
	return false
}

// Generalise returns the label of the cut that contains a label. A label above the cut stands for itself: it is coarser. It reports false for a label
// outside of the tree, and for one that is neither under nor above the cut.
func (t *Tree) Generalise(label string, cut []string) (string, bool) {
	if !t.Has(label) {
		return "", false
	}
	for at := label; at != ""; at = t.parent[at] {
		if slices.Contains(cut, at) {
			return at, true
		}
	}
	above := slices.ContainsFunc(cut, func(node string) bool { return t.Within(node, label) })
	return label, above
}
