package interest

import (
	"maps"
	"slices"

	"sayso/gidp"
	"sayso/gidp/wire"
)

// What an interest excludes tests nothing by itself (§19.1). An initiator asks before it qualifies, by classes of the profile: a label that is excluded, or the own
// placement of one, stands for the labels of the public cut that hold it, and the claim names every other label of the cut. Such a claim is compatible with whoever lies
// outside of the excluded classes, and the contradiction of somebody inside ends the session as it should. To ask for the class itself would do the opposite. The claim
// tells the excluded class by what it leaves out, and never the label.

// gap says why an exclusion is not asked about.
type gap uint8

const (
	asked     gap = iota
	silent        // its class is never, so nothing follows from it
	unplaced      // no hierarchy of the profile, nor an own placement, has the label
	ownClass      // the interest itself looks there, or nothing but excluded classes is left
	gapsTotal     // for the check, which has a sentence for each
)

// excluded returns the classes that are ruled out, by the key that is asked about, and what becomes of each label of the list.
func (i *Interest) excluded(p *gidp.Profile, to Towards) (classes map[string][]string, gaps []gap) {
	gaps = make([]gap, len(i.Excludes))
	classes = map[string][]string{}
	never := func(key string) bool { return i.Policy.Entries[key].For(to.Peer).Never }
	for n, label := range i.Excludes {
		if gaps[n] = silent; never(gidp.Excludes) {
			continue
		}
		gaps[n] = unplaced
		for _, key := range i.placing(p) {
			if never(key) || slices.Contains(i.Policy.Decoys, key) {
				continue
			}
			found := i.classesOf(p.Keys[key], key, label)
			if len(found) == 0 {
				continue
			}
			all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(classes[key], found))))
			if gaps[n] = ownClass; i.looksIn(p.Keys[key], key, found) || len(all) == len(p.Keys[key].Cut) {
				break
			}
			gaps[n], classes[key] = asked, all
			break
		}
	}
	return classes, gaps
}

// placing lists the keys of labels on a public cut: minimum claims first, then what is held. The first one that has a label is asked about.
func (i *Interest) placing(p *gidp.Profile) []string {
	rank := func(key string) int {
		_, held := i.held(key)
		switch {
		case slices.Contains(p.Minimum, key):
			return 0
		case held:
			return 1
		}
		return 2
	}
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(p.Keys)), func(key string) bool {
		k := p.Keys[key]
		return k.Tree == nil || k.Partition != nil || len(k.Cut) == 0 || len(k.Cut) > wire.MaxList || p.Identifying(key)
	})
	slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
	return keys
}

// classesOf are the labels of a cut that hold a label, or that it holds.
func (i *Interest) classesOf(k gidp.Key, key, label string) []string {
	tree, err := k.Tree.With(i.Placements[key])
	if err != nil || !tree.Has(label) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(k.Cut), func(class string) bool { return !tree.Within(label, class) && !tree.Within(class, label) })
}

// looksIn reports whether the own value of a key lies in one of these classes, or holds one.
func (i *Interest) looksIn(k gidp.Key, key string, classes []string) bool {
	raw, held := i.held(key)
	if !held {
		return false
	}
	value, err := gidp.ParseValue(raw)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(value.Labels(), func(label string) bool {
		return slices.ContainsFunc(i.classesOf(k, key, label), func(class string) bool { return slices.Contains(classes, class) })
	})
}

// admits reports whether a claim of this side would be compatible with somebody of an excluded class.
func (i *Interest) admits(p *gidp.Profile, to Towards, c wire.Claim) bool {
	if len(i.Excludes) == 0 {
		return false
	}
	excluded, _ := i.excluded(p, to)
	value, err := gidp.ParseValue(c.Value)
	if err != nil || len(excluded[c.Key]) == 0 {
		return false
	}
	return slices.ContainsFunc(value.Labels(), func(label string) bool {
		return slices.ContainsFunc(i.classesOf(p.Keys[c.Key], c.Key, label), func(class string) bool { return slices.Contains(excluded[c.Key], class) })
	})
}

// rest asks for everything on a cut but the excluded classes.
func rest(key string, k gidp.Key, excluded []string) wire.Claim {
	labels := slices.DeleteFunc(slices.Clone(k.Cut), func(class string) bool { return slices.Contains(excluded, class) })
	slices.Sort(labels)
	return wire.Claim{Key: key, Operator: wire.OpIntersects, Value: labelsJSON(labels)}
}

func (c *checker) excludes() {
	if len(c.i.Excludes) == 0 {
		return
	}
	_, gaps := c.i.excluded(c.p, Towards{})
	for g, f := range [gapsTotal][2]string{
		silent:   {"What you exclude is classed never, so no question tests it.", "Class excludes evaluation_only: then your agent asks by classes, and never by name."},
		unplaced: {"Something that you exclude lies in no hierarchy of the profile, so no question tests it.", "Place it under hierarchies in a class that the profile knows, or look at each lead yourself."},
		ownClass: {"Something that you exclude lies in a class in which you look yourself, or that leaves none, so no question by classes tests it.", "Look at each lead yourself."},
	} {
		if slices.Contains(gaps, gap(g)) && gap(g) != asked {
			c.warn("GI-EXCLUDES", "excludes", f[0], f[1])
		}
	}
}
