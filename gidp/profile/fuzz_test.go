package profile

import (
	"math"
	"slices"
	"testing"

	"sayso/gidp"
)

// Whatever bytes a profile file has: it is refused, or what reaches the core keeps the rules.
func FuzzProfile(f *testing.F) {
	f.Add([]byte(small))
	for _, dir := range []string{"core", "profiles"} {
		for _, content := range embedded(dir) {
			f.Add(content)
		}
	}
	base, err := new(Set).With(append(embedded("hierarchies"), []byte(place)), embedded("core"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := base.With(nil, [][]byte{content})
		if err != nil {
			if s != nil {
				t.Fatal("refused, and yet a set")
			}
			return
		}
		if len(s.IDs()) != 2 {
			t.Fatalf("%q", s.IDs())
		}
		for _, id := range s.IDs() {
			p, _ := s.Profile(id)
			r := p.Rules()
			for name, k := range r.Keys {
				if reserved, _ := gidp.Reserved(name); reserved || name == gidp.PrincipalIdentity {
					t.Fatalf("%q has a meaning of the protocol", name)
				}
				if k.Partition != nil && (k.Partition.Check() != nil || k.Partition.Cells() < 2) {
					t.Fatalf("%q: %+v", name, k.Partition)
				}
				if k.Tree != nil {
					for _, label := range []string{"vale", "munich", "coal_mining"} {
						if _, ok := k.Tree.Generalise(label, k.Cut); k.Tree.Has(label) && !ok {
							t.Fatalf("%q: %q has no place on the cut %q", name, label, k.Cut)
						}
					}
				}
				if d := p.Keys[name].Default; k.Identifying && (d.Surface > gidp.InSession || d.Surface == gidp.InSession && d.Gate != gidp.NeedsPrincipalOK) {
					t.Fatalf("%q identifies and is proposed as %s", name, d)
				}
			}
			for _, part := range p.Partitions {
				if slices.Min(part.Masses) <= 0 || math.IsNaN(part.WorstBits) || part.WorstBits < part.Bits()-1e-9 {
					t.Fatalf("%+v", part)
				}
			}
			for _, key := range r.Minimum {
				if r.Identifying(key) {
					t.Fatalf("the minimum asks for %q", key)
				}
			}
		}
	})
}

// A hierarchy that is read is a forest: every label comes to a root.
func FuzzHierarchy(f *testing.F) {
	f.Add([]byte(place))
	for _, content := range embedded("hierarchies") {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		h, err := readHierarchy(content)
		if err != nil {
			return
		}
		for _, label := range h.Labels() {
			steps := 0
			for at := label; at != ""; at = h.Container(at) {
				if steps++; steps > 40 || !h.Tree.Has(at) || !h.Tree.Within(label, at) {
					t.Fatalf("%q never comes to a root, or the tree lacks it", label)
				}
			}
		}
		if err := h.checkCut(h.Roots()); err != nil {
			t.Fatalf("the roots are no cut: %v", err)
		}
	})
}
