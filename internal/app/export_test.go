package app

import (
	"context"

	"sayso/business/answer"
)

// Recheck runs one round of the background work on proofs.
func Recheck(r *Registry, ctx context.Context) error { return r.recheck(ctx) }

// Warner logs warnings as Run does.
func Warner(r *Registry) func() {
	w := newWarner(r.log)
	return func() { r.warn(w) }
}

// Reattest runs one round of the background work on attestations.
func Reattest(r *Registry, ctx context.Context) error { return r.reattest(ctx) }

// PinText writes what ParsePin reads.
var PinText = pinText

// StoredReadings are those of one call.
func StoredReadings(ctx context.Context, store Store, slug string, generation uint64) answer.Readings {
	return &storedReadings{ctx: ctx, store: store, slug: slug, generation: generation}
}

// FirstAhead is how many rows the first page of a stream has.
const FirstAhead = firstAhead

// SnapshotSize is what the compiled snapshot of a publisher counts for.
func SnapshotSize(r *Registry, ctx context.Context, slug string) int64 {
	_, e, err := r.entry(slug)
	if err != nil {
		return 0
	}
	compiled, err := r.compile(ctx, e)
	if err != nil {
		return 0
	}
	return compiled.Size()
}

// ResidentSnapshots is how many are resident.
func ResidentSnapshots(r *Registry) int {
	r.resident.mu.Lock()
	defer r.resident.mu.Unlock()
	return len(r.resident.sizes)
}
