package interest

import (
	"fmt"
	"maps"
	"slices"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// Vet refuses claims that would tell the peer an own private value (§14.3, C-44). What the policy lets this peer have on request may be told. An attribute with
// a partition is asked about by its cell boundaries; any other by values that are not the own one, nor an element of it, nor a range collapsed on it. Nor does a claim
// name a class that is excluded: its answer would count for somebody who is ruled out. The error names the claim by its place and never says why in terms of the value.
func (i *Interest) Vet(p *gidp.Profile, to Towards, claims []wire.Claim) error {
	v := i.View(p, to)
	for n, c := range claims {
		switch {
		case i.tells(p, &v, to, c):
			return fmt.Errorf("claim %d on %.60q would tell a value of your own: ask by a class that contains it", n+1, c.Key)
		case i.admits(p, to, c):
			return fmt.Errorf("claim %d on %.60q would be compatible with what you exclude: ask for other classes", n+1, c.Key)
		}
	}
	return nil
}

func (i *Interest) tells(p *gidp.Profile, v *gidp.View, to Towards, c wire.Claim) bool {
	if reserved, _ := gidp.Reserved(c.Key); reserved {
		for key := range i.lists() {
			if i.names(v, to, key, c) {
				return true
			}
		}
		return false
	}
	raw, held := i.held(c.Key)
	if !held || !p.Identifying(c.Key) && i.open(v.Attributes[c.Key], to.Depth) {
		return false
	}
	if partition := p.Keys[c.Key].Partition; partition != nil && c.Operator != wire.OpCompatibleWith {
		return c.Operator != wire.OpOverlaps || !partition.Aligned(c.Value)
	}
	value, err := gidp.ParseValue(raw)
	return err != nil || value.Names(c.Value)
}

// names reports whether a claim names an entry of a list that is not open to the peer.
func (i *Interest) names(v *gidp.View, to Towards, key string, c wire.Claim) bool {
	raw, held := i.held(key)
	if !held || i.open(v.Attributes[key], to.Depth) {
		return false
	}
	value, err := gidp.ParseValue(raw)
	return err != nil || value.Names(c.Value)
}

// Asks proposes one claim for each key that the profile and the interest share and that may be asked, minimum claims first (sec. 12). A partitioned key is
// asked by its cells, an open one by its value, a label by its node on the cut. A claim on a dependency list is resolved against the peer's list of that name (sec. 14), so
// the peer is asked whether it provides each thing that this side requires, and whether it requires any that this side provides. What is excluded is asked about as
// the classes that are not (§19.1), where no other claim on the key says so: such a key is one of gidp.View.Excluding.
func (i *Interest) Asks(p *gidp.Profile, to Towards) []wire.Claim {
	v := i.View(p, to)
	excluded, _ := i.excluded(p, to)
	first := func(key string) bool { return slices.Contains(p.Minimum, key) || len(excluded[key]) > 0 }
	keys := slices.Clone(p.Minimum)
	for _, most := range []bool{true, false} {
		for _, key := range slices.Sorted(maps.Keys(p.Keys)) {
			if first(key) == most && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	var out []wire.Claim
	for _, key := range keys {
		claims := i.vetted(p, to, i.asks(&v, key))
		if classes := excluded[key]; len(claims) == 0 && len(classes) > 0 {
			claims = i.vetted(p, to, []wire.Claim{rest(key, p.Keys[key], classes)})
		}
		out = append(out, claims...)
	}
	return out[:min(len(out), wire.MaxClaims)]
}

// vetted are the claims that may be asked.
func (i *Interest) vetted(p *gidp.Profile, to Towards, claims []wire.Claim) []wire.Claim {
	return slices.DeleteFunc(claims, func(c wire.Claim) bool { return i.Vet(p, to, []wire.Claim{c}) != nil })
}

// asks are the claims on one key.
func (i *Interest) asks(v *gidp.View, key string) []wire.Claim {
	switch key {
	case gidp.Provides:
		var out []wire.Claim
		for _, name := range i.Requires {
			out = append(out, wire.Claim{Key: key, Operator: wire.OpIntersects, Value: labelsJSON([]string{name})})
		}
		return out
	case gidp.Requires:
		if len(i.Provides) == 0 {
			return nil
		}
		return []wire.Claim{{Key: key, Operator: wire.OpIntersects, Value: labelsJSON(i.Provides)}}
	}
	if c, ok := i.ask(v, key); ok {
		return []wire.Claim{c}
	}
	return nil
}

func (i *Interest) ask(v *gidp.View, key string) (wire.Claim, bool) {
	a, ok := v.Attributes[key]
	if !ok || v.Identifying(key) {
		return wire.Claim{}, false
	}
	switch h := a.Holding.(type) {
	case gidp.Cells:
		return wire.Claim{Key: key, Operator: wire.OpOverlaps, Value: h.Asks()}, true
	case gidp.Labels:
		return wire.Claim{Key: key, Operator: wire.OpIntersects, Value: labelsJSON(h.Nodes)}, true
	case gidp.Open:
		raw, _ := i.Value(key)
		if _, _, _, number := h.Value.Integers(); number {
			if k := v.Profile.Keys[key]; k.Partition != nil {
				if cells, ok := cellsOf(k, h.Value); ok {
					return wire.Claim{Key: key, Operator: wire.OpOverlaps, Value: cells.Asks()}, true
				}
			}
			return wire.Claim{}, false
		}
		return wire.Claim{Key: key, Operator: wire.OpIntersects, Value: raw}, true
	}
	return wire.Claim{}, false
}
