package interest

import (
	"maps"
	"slices"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// Towards is whom a View is for, and how far the session has come.
type Towards struct {
	Active   bool
	Peer     gidp.Counterparty
	Depth    wire.Depth // "": not agreed yet, which opens nothing of session depth
	Revealed []string   // identity keys that a reveal_identity grant of ours names
}

// View derives what a session may know (sec. 4). It depends on the values only through what it shows of them.
func (i *Interest) View(p *gidp.Profile, to Towards) gidp.View {
	v := gidp.View{Active: to.Active, Authority: i.authority(), Profile: p, Attributes: map[string]gidp.Attribute{}}
	for _, key := range i.Policy.Decoys {
		v.Attributes[key] = gidp.Attribute{Holding: gidp.Barred{}, Class: gidp.Never}
	}
	for key, entry := range i.Policy.Entries { // a key that is classed never is answered alike, held or not
		if entry.For(to.Peer).Never {
			v.Attributes[key] = gidp.Attribute{Holding: gidp.Barred{}, Class: gidp.Never}
		}
	}
	for _, key := range i.keys() {
		class := i.Policy.Entries[key].For(to.Peer)
		condition := i.Policy.Conditions[key]
		a := gidp.Attribute{Class: class, Held: true, Member: i.member(key, to.Peer), Reciprocal: condition.Reciprocal, Verify: condition.Verify}
		a.Holding = i.holding(p, key, a, to)
		v.Attributes[key] = a
	}
	if len(i.Excludes) > 0 {
		classes, _ := i.excluded(p, to)
		v.Excluding = slices.Sorted(maps.Keys(classes))
	}
	if len(i.ConditionalOn) > 0 {
		a := v.Attributes[gidp.ConditionalOn]
		v.Contingency = gidp.Contingency{Class: a.Class, Exists: true, Member: a.Member}
		if a.Class.Disclosable() {
			v.Contingency.Names = slices.Clone(i.ConditionalOn)
		}
	}
	return v
}

// member reports whether the peer belongs to the trust domain of an attribute.
func (i *Interest) member(key string, peer gidp.Counterparty) bool {
	if slices.ContainsFunc(i.Policy.Networks, func(domain string) bool { return slices.Contains(peer.Member, domain) }) {
		return true
	}
	for property, class := range i.Policy.Entries[key] {
		if class.Surface == gidp.Network && len(property) > len("member:") && property[:len("member:")] == "member:" && peer.Matches(property) {
			return true
		}
	}
	return false
}

// open reports whether the policy lets this peer have a value on request, without anybody's decision.
func (i *Interest) open(a gidp.Attribute, depth wire.Depth) bool {
	if a.Class.Never || a.Class.Gate != gidp.Ungated {
		return false
	}
	switch a.Class.Surface {
	case gidp.Public, gidp.Discovery:
		return true
	case gidp.Network:
		return a.Member && i.authority().At(gidp.Disclose) == gidp.Yes && depth != ""
	case gidp.InSession:
		return i.authority().At(gidp.Disclose) == gidp.Yes && depth == wire.DepthSession
	}
	return false
}

// holding is what stands for a value: the value itself where it is open, else a cell, a label of the cut, a row of the ledger, or nothing.
func (i *Interest) holding(p *gidp.Profile, key string, a gidp.Attribute, to Towards) gidp.Holding {
	raw, _ := i.held(key)
	value, err := gidp.ParseValue(raw)
	k := p.Keys[key]
	tree, bad := k.Tree.With(i.Placements[key])
	switch {
	case a.Class.Never || slices.Contains(i.Policy.Decoys, key):
		return gidp.Barred{}
	case p.Identifying(key) && !slices.Contains(to.Revealed, key):
		return gidp.Identity{}
	case err != nil || bad != nil:
		return gidp.Closed{}
	case p.Identifying(key), i.open(a, to.Depth):
		return gidp.Open{Value: value, Tree: tree, Meaning: k.Meaning}
	}
	if k.Partition != nil {
		if cells, ok := cellsOf(k, value); ok {
			return cells
		}
		return gidp.Closed{}
	}
	if k.Tree != nil && value.OnlyLabels() {
		if labels, ok := labelsOf(k, tree, value); ok {
			return labels
		}
		return gidp.Closed{}
	}
	if budget, ok := i.Budgets[key]; ok {
		if audited, ok := i.audited(key, k, budget, value); ok {
			return audited
		}
	}
	return gidp.Closed{}
}

// cellsOf replaces a value by its cells. A value outside of the domain has none; the check of an interest refuses it.
func cellsOf(k gidp.Key, value gidp.Value) (gidp.Cells, bool) {
	shape, low, high, ok := value.Integers()
	c := gidp.Cells{Partition: k.Partition, Shape: shape, Definite: k.Definite}
	if ok && shape != gidp.Ceiling {
		c.Low, ok = k.Partition.Cell(low)
	}
	if ok && shape != gidp.Floor {
		c.High, ok = k.Partition.Cell(high)
	}
	return c, ok
}

// labelsOf generalises each label to the public cut.
func labelsOf(k gidp.Key, tree *gidp.Tree, value gidp.Value) (gidp.Labels, bool) {
	out := gidp.Labels{Tree: k.Tree}
	for _, label := range value.Labels() {
		node, ok := tree.Generalise(label, k.Cut)
		if !ok || !k.Tree.Has(node) {
			return gidp.Labels{}, false
		}
		out.Nodes = append(out.Nodes, node)
	}
	slices.Sort(out.Nodes)
	out.Nodes = slices.Compact(out.Nodes)
	return out, len(out.Nodes) > 0
}

// audited closes over the value: the session can test it, charged, and cannot read it.
func (i *Interest) audited(key string, k gidp.Key, b Budget, value gidp.Value) (gidp.Audited, bool) {
	shape, low, high, ok := value.Integers()
	at := low
	if shape == gidp.Ceiling {
		at = high
	}
	if !ok || shape == gidp.Range || !b.Domain.Has(at) {
		return gidp.Audited{}, false
	}
	return gidp.Audited{Row: i.Row(key, k), Shape: shape, Truth: func(test func(int64) bool) bool { return test(at) }}, true
}

// Row names the ledger row of a key.
func (i *Interest) Row(key string, k gidp.Key) gidp.LedgerKey {
	quantity := k.Quantity
	if quantity == "" {
		quantity = key
	}
	return gidp.LedgerKey{Lineage: i.Lineage, Quantity: quantity}
}
