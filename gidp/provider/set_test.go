package provider

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var day0 = time.Unix(1<<31, 0)

func members(s *set, high uint16) []uint32 {
	var b block
	s.or(high, &b)
	var out []uint32
	b.each(func(low uint16) { out = append(out, uint32(high)<<chunkBits|uint32(low)) })
	return out
}

// A set is what a map of its members is, through both forms of a chunk and the change between them.
func TestSetAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s set
		model := map[uint32]bool{}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			from := rapid.Uint32Range(0, 3<<chunkBits).Draw(t, "from")
			step := rapid.Uint32Range(1, 40).Draw(t, "step")
			count := rapid.IntRange(1, 6000).Draw(t, "count")
			in := rapid.Bool().Draw(t, "in")
			for i := range uint32(count) {
				v := from + i*step
				if in {
					s.add(v)
					model[v] = true
				} else {
					s.remove(v)
					delete(model, v)
				}
			}
		}
		var got []uint32
		for high := range uint16(16) {
			got = append(got, members(&s, high)...)
		}
		if want := slices.Sorted(maps.Keys(model)); !slices.Equal(got, want) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
		for _, c := range s.chunks {
			if c.bits != nil && (c.list != nil || int(c.count) != c.bits.size() || c.count < sparse) || c.bits == nil && (len(c.list) == 0 || len(c.list) >= dense) {
				t.Fatalf("chunk %d in the wrong form: list %d, count %d", c.high, len(c.list), c.count)
			}
		}
	})
}

func TestOrderIsABijection(t *testing.T) {
	for width := uint8(1); width <= 12; width++ {
		o := newOrder([]byte("secret"), [8]byte{width}, width)
		seen := make([]bool, 1<<width)
		for v := range uint32(1 << width) {
			at := o.place(v)
			if at > o.mask || seen[at] || o.slot(at) != v {
				t.Fatalf("width %d: %d -> %d -> %d, seen %v", width, v, at, o.slot(at), at <= o.mask && seen[at])
			}
			seen[at] = true
		}
	}
	for _, width := range []uint8{20, 21, 30} {
		o := newOrder([]byte("secret"), [8]byte{}, width)
		for range 10_000 {
			if v := rand.Uint32() & o.mask; o.slot(o.place(v)) != v {
				t.Fatalf("width %d: %d does not come back", width, v)
			}
		}
	}
}

// The first page must favour neither old nor new projections (P-8): over many queries every tenth of the slots fills about a tenth of the first places.
func TestOrderHidesAge(t *testing.T) {
	const width, used, queries, page = 14, 10_000, 800, 50
	var tenths [10]int
	for q := range queries {
		o := newOrder([]byte("secret"), [8]byte{byte(q), byte(q >> 8)}, width)
		for place, n := uint32(0), 0; n < page; place++ {
			if s := o.slot(place); s < used {
				tenths[s*10/used]++
				n++
			}
		}
	}
	for i, n := range tenths {
		if mean := queries * page / 10; n < mean*9/10 || n > mean*11/10 {
			t.Errorf("tenth %d of the slots came first %d times, want about %d: %v", i, n, mean, tenths)
		}
	}
}

func TestLabelsThatNoTreePlacesGoWithTheirProjections(t *testing.T) {
	x := newIndex([]Dimension{{Name: "stage"}}, 10)
	row := Row{Ref: Ref{1}, Expires: day0, Endpoint: "e", Revision: 1}
	for i := range uint32(1000) {
		row.Revision, row.Labels = i+1, map[string][]string{"stage": {"a" + string(rune('a'+i%26)) + string(rune('a'+i/26%26))}}
		if err := x.apply(row); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.terms) != 1 || len(x.dims[0].terms) != 1 {
		t.Errorf("%d terms in memory, %d by name, want the one in use", len(x.terms), len(x.dims[0].terms))
	}
}
