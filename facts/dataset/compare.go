package dataset

import (
	"iter"
	"slices"
	"strings"

	"sayso/facts"
)

// Relation says how two publishers' statements about one key compare (F§7.2).
type Relation string

// The relations of a comparison.
const (
	SameHash       Relation = "same hash"                  // corroborated
	DifferentHash  Relation = "same value, different hash" // one figure, told in two ways
	DifferentValue Relation = "different value"
	OnlyFirst      Relation = "only in the first"
	OnlySecond     Relation = "only in the second"
)

// Stated is one statement to compare: the claim of the value in force.
type Stated struct {
	facts.Claim
	Hash string
}

// Compared is one key of a comparison.
type Compared struct {
	Key           string   `json:"key"`
	Relation      Relation `json:"relation"`
	Members       []string `json:"members,omitempty"` // DifferentHash: the claim members that differ
	First, Second *Stated  `json:"-"`
}

// Compare pairs the statements of two origins, each sorted by key bytes as indexes are, in one pass and in constant memory. A key that stands twice or out
// of order in a stream is compared where it stands.
func Compare(first, second iter.Seq[Stated]) iter.Seq[Compared] {
	return func(yield func(Compared) bool) {
		nextA, stopA := iter.Pull(first)
		defer stopA()
		nextB, stopB := iter.Pull(second)
		defer stopB()
		a, okA := nextA()
		b, okB := nextB()
		for okA || okB {
			order := 0
			switch {
			case !okB:
				order = -1
			case !okA:
				order = 1
			default:
				order = strings.Compare(a.Key, b.Key)
			}
			x, y := a, b
			var c Compared
			switch {
			case order < 0:
				c = Compared{Key: x.Key, Relation: OnlyFirst, First: &x}
			case order > 0:
				c = Compared{Key: y.Key, Relation: OnlySecond, Second: &y}
			default:
				c = pair(&x, &y)
			}
			if !yield(c) {
				return
			}
			if order <= 0 {
				a, okA = nextA()
			}
			if order >= 0 {
				b, okB = nextB()
			}
		}
	}
}

func pair(a, b *Stated) Compared {
	c := Compared{Key: a.Key, First: a, Second: b, Relation: SameHash}
	switch {
	case a.Hash == b.Hash:
		return c
	case a.Value != b.Value:
		c.Relation = DifferentValue
		return c
	}
	c.Relation = DifferentHash
	for _, m := range []struct {
		name string
		same bool
	}{{"unit", a.Unit == b.Unit}, {"period", a.Period == b.Period}, {"effectiveFrom", a.EffectiveFrom == b.EffectiveFrom}, {"source", a.Source == b.Source}} {
		if !m.same {
			c.Members = append(c.Members, m.name)
		}
	}
	return c
}

// StatedBy yields what a folder states on a day, sorted by key.
func StatedBy(folder *Folder, day facts.Date) iter.Seq[Stated] {
	return func(yield func(Stated) bool) {
		keys := map[string]*Fact{}
		var order []string
		for i := range folder.Topics {
			for j := range folder.Topics[i].Facts {
				f := &folder.Topics[i].Facts[j]
				keys[f.Key] = f
				order = append(order, f.Key)
			}
		}
		slices.Sort(order)
		for _, key := range slices.Compact(order) {
			v := inForce(keys[key], day)
			if v == nil {
				continue
			}
			claim := facts.ClaimOf(key, v)
			if !yield(Stated{claim, claim.Hash()}) {
				return
			}
		}
	}
}
