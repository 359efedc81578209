package provider

import "time"

// Life is the span of one publication.
type Life struct{ Published, Expires time.Time }

const day = 24 * time.Hour

// days is the span in whole days, as an observer would count it.
func (l Life) days() int64 { return int64(l.Expires.Sub(l.Published) / day) }

// NewLife chooses, on the publisher's side, when a projection published now expires: midnight UTC of a random day in the second half of longest, which is at most 90 days. The day
// and the span differ from those of the other projections of the interest, so that neither links them (P-3). draw is a random number; false when every day
// is taken.
func NewLife(now time.Time, longest time.Duration, draw uint64, others []Life) (Life, bool) {
	end := int64(min(longest, maxLife) / day)
	begin := max(end/2, 1)
	if end < begin {
		return Life{}, false
	}
	midnight := now.UTC().Truncate(day)
	count := uint64(end - begin + 1)
	for i := range count {
		life := Life{Published: now, Expires: midnight.Add(time.Duration(begin+int64((draw%count+i)%count)) * day)}
		if !now.Before(life.Expires) {
			continue
		}
		taken := false
		for _, o := range others {
			taken = taken || o.Expires.Equal(life.Expires) || o.days() == life.days()
		}
		if !taken {
			return life, true
		}
	}
	return Life{}, false
}
