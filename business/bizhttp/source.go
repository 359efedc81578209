package bizhttp

import (
	"context"
	"errors"
	"iter"
	"time"

	"sayso/business"
)

// What a Source says when there is no answer. Everything else it returns is an internal fault.
var (
	ErrUnknown         = errors.New("unknown publisher")           // never existed: 404 unknown_publisher
	ErrUnavailable     = errors.New("publisher unavailable")       // could not be read: 503 publisher_unavailable, never 404
	ErrKeysUnavailable = errors.New("key set unavailable")         // 503 key_set_unavailable
	ErrListUnavailable = errors.New("revocation list unavailable") // 503 revocation_list_unavailable
	ErrNoRecord        = errors.New("no such record")              // 404 not_found
	ErrCredential      = errors.New("credential is not good here") // 401 unauthorized; the reason is never said
)

// Document is a served document as bytes, with its strong entity tag in quotation marks. Holders share it.
type Document struct {
	Body []byte
	ETag string
}

// Source is what the HTTP surface serves. Every answer is of one committed state: old or new, never half. All methods may be called at the same time.
type Source interface {
	// Now is the clock of every answer.
	Now() time.Time
	// Site says which origins the deployment answers for.
	Site() business.Site
	// Publication returns what is served about a publisher, whatever its lifecycle.
	Publication(ctx context.Context, slug string) (*business.Publication, error)
	// ByHost finds the publisher that a host (lower case, without port) was recorded for.
	ByHost(ctx context.Context, host string) (*business.Publication, error)
	// Publications lists every publisher in the order of slugs, published or not.
	Publications(ctx context.Context) ([]*business.Publication, error)

	// Manifest returns the manifest with at least 600 s of its life left, or with its unsigned_reason.
	Manifest(ctx context.Context, slug string) (*Document, error)
	// PublisherKeys returns jwks.json, whole or not at all.
	PublisherKeys(ctx context.Context, slug string) (*Document, error)
	// PublisherRevocations and RegistryRevocations return a signed list, fresh enough for a 300 s cache, or ErrListUnavailable.
	PublisherRevocations(ctx context.Context, slug string) (*Document, error)
	RegistryRevocations(ctx context.Context) (*Document, error)
	RegistryKeys(ctx context.Context) (*Document, error)

	// Record returns one record as it is stored: without url and publisher.
	Record(ctx context.Context, slug, typ, id string) (*business.Record, error)
	// RecordPage returns at most limit records of a type ("" = all) behind (afterType, afterID), in the order of (type, id).
	RecordPage(ctx context.Context, slug, typ string, afterType, afterID string, limit int) ([]business.Record, error)
	// Dump calls f with a publication and all its records in the order of (type, id), both of one snapshot. Memory stays bounded. An error of f ends the
	// export and is returned so that errors.Is and errors.As see it.
	Dump(ctx context.Context, slug string, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error

	// Owner checks a bearer credential that came with a request about a publisher: nil when it is that publisher's own, else ErrCredential. slug "" stands for
	// what speaks of the registry as a whole, where no publisher's credential is good.
	Owner(ctx context.Context, bearer, slug string) error
}
