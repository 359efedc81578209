package providerhttp

import (
	"context"
	"errors"
	"iter"
	"time"

	"sayso/gidp/provider"
)

// ErrStale says that a row was not kept because another one came first: the caller judges the request anew.
var ErrStale = errors.New("another change of this projection came first")

// Rows keeps what a provider must not forget. An error that is none of this package means that the database could not be used.
type Rows interface {
	// All yields every projection that is not withdrawn, and returns the position of the feed from which on changes may be missing in it.
	All(ctx context.Context) (rows iter.Seq2[provider.Row, error], position int64, err error)
	// Commit keeps a row durably when its revision follows the one that is kept, and one of a new reference when its revision is the first; ErrStale else, and
	// when its owner or endpoint belongs to another projection that is not withdrawn. A withdrawn row keeps reference, owner and revision.
	Commit(ctx context.Context, row provider.Row) error
	// Projection returns the row of a reference.
	Projection(ctx context.Context, ref provider.Ref) (row provider.Row, ok bool, err error)
	// OfKey returns the row of a key, so that a publication that was answered once is answered again.
	OfKey(ctx context.Context, key provider.Thumbprint) (row provider.Row, ok bool, err error)
	// Changes returns rows that were committed after a position, in an order that misses none, and the position after them.
	Changes(ctx context.Context, position int64, limit int) (rows []provider.Row, next int64, err error)
	// Expire deletes rows whose expiry lies before an instant, at most limit. A withdrawn row goes by its expiry too: the feed keeps it for as long as an index
	// could return it. Reports of what is not there any more go as well.
	Expire(ctx context.Context, before time.Time, limit int) error

	// AddReport keeps a report of abuse; one of the same reporter about the same projection replaces the earlier one.
	AddReport(ctx context.Context, r Report) error
	// Reports lists what was reported, newest first, at most limit.
	Reports(ctx context.Context, limit int) ([]Report, error)
	// PutBan keeps a ban; an Until that is not after now ends it.
	PutBan(ctx context.Context, b Ban) error
	Bans(ctx context.Context) ([]Ban, error)
	// Secret returns a secret of 32 bytes that all replicas share; it is made with the given one when there is none yet.
	Secret(ctx context.Context, fresh [32]byte) ([32]byte, error)
}

// Report is what somebody says of a projection. It holds no text of its own: a reason is one of a closed list.
type Report struct {
	Ref      provider.Ref
	Owner    provider.Thumbprint // of the projection
	Reporter provider.Thumbprint
	Reason   string
	At       time.Time
}

// Ban shuts out the key of a projection, or a network.
type Ban struct {
	Key     provider.Thumbprint // zero: a network
	Network string              // CIDR; "" for a key
	Until   time.Time
	Reason  string // the operator's; never published
	At      time.Time
}
