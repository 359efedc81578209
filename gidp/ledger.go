package gidp

import (
	"errors"
	"maps"
	"math"
	"math/big"
	"math/bits"

	"sayso/gidp/wire"
)

// LedgerKey names a row: all versions of one interest share it, and so do attributes of one quantity. No counterparty and no session appears in it (sec. 8).
type LedgerKey struct{ Lineage, Quantity string }

// Ledger holds the rows of audited attributes. It is a value: charging returns another one. A row that is missing declines every claim, so that a replica
// without its store tells nothing.
type Ledger map[LedgerKey]Row

// MaxDomain is the most values a domain may have.
const MaxDomain = 4096

// Domain is a finite set of integers: Min, Min+Step, … up to Max.
type Domain struct{ Min, Max, Step int64 }

var errDomain = errors.New("a domain has a step of 1 or more, min at most max, and 1 to 4096 values")

// Check refuses a domain that is none.
func (d Domain) Check() error {
	if d.Step < 1 || d.Min > d.Max || d.Min < -maxInt || d.Max > maxInt || (d.Max-d.Min)/d.Step >= MaxDomain {
		return errDomain
	}
	return nil
}

// Size is the number of values.
func (d Domain) Size() int { return int((d.Max-d.Min)/d.Step) + 1 }

// Has reports whether a value belongs to the domain.
func (d Domain) Has(v int64) bool { return v >= d.Min && v <= d.Max && (v-d.Min)%d.Step == 0 }

// Row is what has been told about one audited value. The zero Row declines everything.
type Row struct {
	Domain    Domain
	Limit     float64  // bits
	Burned    float64  // bits spent on earlier values
	Frozen    bool     // restored from a backup: declines everything until the Principal approves
	Remaining []uint64 // bit i: the domain's value i is still possible
	Epoch     int      // how often the value changed
}

// NewRow opens a row. A limit below 0 counts as 0.
func NewRow(d Domain, limit float64) (Row, error) {
	if err := d.Check(); err != nil {
		return Row{}, err
	}
	if math.IsNaN(limit) || math.IsInf(limit, 0) {
		return Row{}, errors.New("a limit is a number of bits")
	}
	return Row{Domain: d, Limit: max(limit, 0), Remaining: full(d.Size())}, nil
}

func full(n int) []uint64 {
	out := make([]uint64, (n+63)/64)
	for i := range n {
		out[i/64] |= 1 << (i % 64)
	}
	return out
}

// count is the number of values still possible.
func (r Row) count() int {
	n := 0
	for _, w := range r.Remaining {
		n += bits.OnesCount64(w)
	}
	return n
}

// Spent is what has been told so far, in bits. It never falls.
func (r Row) Spent() float64 {
	if r.Frozen {
		return max(r.Limit, r.told())
	}
	return r.told()
}

func (r Row) told() float64 {
	n := r.count()
	if n == 0 {
		return r.Limit
	}
	return r.Burned + math.Log2(float64(r.Domain.Size())/float64(n))
}

// Changed opens the row for a changed value: everything is possible again, and what was spent stays spent.
func (r Row) Changed() Row {
	r.Burned, r.Remaining, r.Epoch = r.told(), full(r.Domain.Size()), r.Epoch+1
	return r
}

// Restored is the row after a restore from a backup: what was told since the backup is not known, so nothing more is told.
func (r Row) Restored() Row {
	r.Frozen = true
	return r
}

// Approved is the row after the Principal set its limit: it ends the freeze of a restore, and what was possible before the backup is spent.
func (r Row) Approved(limit float64) Row {
	if r.Frozen {
		r = r.Changed()
		r.Burned = max(r.Burned, r.Limit)
	}
	r.Frozen, r.Limit = false, max(limit, 0)
	return r
}

// Reserve admits a question and returns the row without the values that the answer rules out. A question is admitted when for each of its answers that some
// remaining value could give, the bits told would not exceed the limit: the asker can compute this itself, so a refusal tells nothing. A question with one
// possible answer is free. truth is called once, after admission.
func (r Row) Reserve(test func(v int64) bool, truth func(test func(v int64) bool) bool) (after Row, answer, admitted bool) {
	if r.Frozen || r.Burned >= r.Limit || len(r.Remaining) == 0 {
		return r, false, false
	}
	yes := make([]uint64, len(r.Remaining))
	no := make([]uint64, len(r.Remaining))
	var counts [2]int
	for i := range r.Domain.Size() {
		if r.Remaining[i/64]>>(i%64)&1 == 0 {
			continue
		}
		if test(r.Domain.Min + int64(i)*r.Domain.Step) {
			yes[i/64] |= 1 << (i % 64)
			counts[1]++
		} else {
			no[i/64] |= 1 << (i % 64)
			counts[0]++
		}
	}
	if counts[0] > 0 && counts[1] > 0 {
		for _, n := range counts {
			if r.Burned+math.Log2(float64(r.Domain.Size())/float64(n)) > r.Limit {
				return r, false, false
			}
		}
	}
	answer = truth(test)
	if answer {
		r.Remaining = yes
	} else {
		r.Remaining = no
	}
	return r, answer, true
}

// audited answers from the ledger. A question that does not fit the shape is unknown by the attribute's type, and free.
func (e *evaluation) audited(h Audited, c wire.Claim) wire.Result {
	test, fits := h.test(c)
	if !fits {
		return wire.Unknown
	}
	row, holds, admitted := e.ledger[h.Row].Reserve(test, h.Truth)
	if !admitted {
		return wire.Declined
	}
	charged := maps.Clone(e.ledger)
	charged[h.Row] = row
	e.ledger = charged
	if holds {
		return wire.Compatible
	}
	return wire.Incompatible
}

// test is a claim as a question about one integer.
func (h Audited) test(c wire.Claim) (func(v int64) bool, bool) {
	if c.Operator == wire.OpEquals && h.Shape == Point {
		asked, ok := parseScalar(c.Value)
		if !ok || asked.num == nil {
			return nil, false
		}
		return func(v int64) bool { return asked.num.Cmp(rat(v)) == 0 }, true
	}
	span, ok := parseInterval(c.Value)
	if c.Operator != wire.OpOverlaps || !ok {
		return nil, false
	}
	low, high := integers(span)
	return func(v int64) bool {
		return (h.Shape == Ceiling || v <= high) && (h.Shape == Floor || v >= low)
	}, true
}

// integers is the part of an interval that integers can lie in.
func integers(span Interval) (low, high int64) {
	low, high = math.MinInt64, math.MaxInt64
	if span.Min != nil {
		low = clamp(ceil(span.Min))
	}
	if span.Max != nil {
		high = clamp(floor(span.Max))
	}
	return low, high
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) } // Euclidean: the denominator is positive
func ceil(r *big.Rat) *big.Int {
	up := new(big.Int).Sub(r.Denom(), big.NewInt(1))
	return up.Div(up.Add(up, r.Num()), r.Denom())
}

// clamp brings an integer into the range of values, one beyond either end.
func clamp(i *big.Int) int64 {
	switch {
	case i.IsInt64():
		return i.Int64()
	case i.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
