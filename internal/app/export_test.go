package app

import "context"

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
