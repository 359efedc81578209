package profile

import (
	"fmt"
	"maps"
	"slices"

	"sayso/gidp"
	"sayso/jcs"
)

// Hierarchy is a public tree of labels with where it comes from. It is not changed once it has been read.
type Hierarchy struct {
	ID      string // NAME/VERSION
	Origin  string
	Licence string
	Tree    *gidp.Tree
	parent  map[string]string
	codes   map[string]string
}

// maxHierarchy bounds the file of a hierarchy, in bytes, and maxLabels what it places.
const (
	maxHierarchy = 1 << 20
	maxLabels    = 50_000
)

// Labels returns every label in order.
func (h *Hierarchy) Labels() []string { return slices.Sorted(maps.Keys(h.parent)) }

// Container returns the label that contains a label: "" of a root and of a label that the tree does not hold.
func (h *Hierarchy) Container(label string) string { return h.parent[label] }

// Code returns what another register calls a label: for a country, its two letters of ISO 3166-1. "" is none.
func (h *Hierarchy) Code(label string) string { return h.codes[label] }

// Roots returns the labels that nothing contains, in order.
func (h *Hierarchy) Roots() []string {
	return slices.DeleteFunc(h.Labels(), func(label string) bool { return h.parent[label] != "" })
}

func readHierarchy(data []byte) (*Hierarchy, error) {
	if len(data) > maxHierarchy {
		return nil, fmt.Errorf("hierarchy: the file is longer than %d bytes", maxHierarchy)
	}
	var doc struct {
		ID       string              `json:"id"`
		Origin   string              `json:"origin"`
		Licence  string              `json:"licence"`
		Contains map[string][]string `json:"contains"`
		Codes    map[string]string   `json:"codes"`
	}
	if err := jcs.DecodeKnown(data, &doc); err != nil {
		return nil, fmt.Errorf("hierarchy: %w", err)
	}
	switch {
	case !versioned(doc.ID):
		return nil, fmt.Errorf("hierarchy: the id %.60q is not NAME/VERSION", doc.ID)
	case doc.Origin == "" || doc.Licence == "":
		return nil, fmt.Errorf("hierarchy %q: origin and licence are stated", doc.ID)
	case len(doc.Contains) == 0:
		return nil, fmt.Errorf("hierarchy %q: it places no label", doc.ID)
	}
	h := &Hierarchy{ID: doc.ID, Origin: doc.Origin, Licence: doc.Licence, parent: map[string]string{}, codes: doc.Codes}
	for _, container := range slices.Sorted(maps.Keys(doc.Contains)) {
		for _, label := range slices.Concat([]string{container}, doc.Contains[container]) {
			if !isLabel(label) {
				return nil, fmt.Errorf("hierarchy %q: %.60q is not a label: lower-case letters, digits and _", doc.ID, label)
			}
		}
		for _, label := range doc.Contains[container] {
			if in := h.parent[label]; in != "" {
				return nil, fmt.Errorf("hierarchy %q: %q lies in %q and in %q", doc.ID, label, in, container)
			}
			h.parent[label] = container
		}
		if _, placed := h.parent[container]; !placed {
			h.parent[container] = ""
		}
	}
	if len(h.parent) > maxLabels {
		return nil, fmt.Errorf("hierarchy %q: it places more than %d labels", doc.ID, maxLabels)
	}
	used := map[string]bool{}
	for label, code := range h.codes {
		if _, ok := h.parent[label]; !ok || code == "" || used[code] {
			return nil, fmt.Errorf("hierarchy %q: the code of %.60q is empty, another label's, or of no label", doc.ID, label)
		}
		used[code] = true
	}
	tree, err := gidp.NewTree(h.parent)
	if err != nil {
		return nil, fmt.Errorf("hierarchy %q: %w", doc.ID, err)
	}
	h.Tree = tree
	return h, nil
}

// checkCut refuses a cut that leaves a label neither under nor above it, and one of whose labels contains another.
func (h *Hierarchy) checkCut(cut []string) error {
	in := map[string]bool{}
	for _, node := range cut {
		if _, ok := h.parent[node]; !ok || in[node] {
			return fmt.Errorf("the cut names %.60q twice, or a label that is not in the tree", node)
		}
		in[node] = true
	}
	above := map[string]bool{} // every container of a node
	for node := range in {
		for at := h.parent[node]; at != ""; at = h.parent[at] {
			if in[at] {
				return fmt.Errorf("the cut names %.60q and its container %.60q", node, at)
			}
			above[at] = true
		}
	}
	for _, label := range h.Labels() {
		covered := above[label]
		for at := label; at != "" && !covered; at = h.parent[at] {
			covered = in[at]
		}
		if !covered {
			return fmt.Errorf("the label %q is neither under nor above the cut", label)
		}
	}
	return nil
}
