package app

import (
	"context"
	"errors"
	"iter"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// What a store says. Everything else it returns means that the database could not be used.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	// ErrNewerSchema means that the database was written by a newer program; nothing was touched.
	ErrNewerSchema = errors.New("the database was written by a newer version of this program")
)

// Store keeps the registry durably. SQLite and PostgreSQL implement it; internal/store/storetest is the contract both pass.
type Store interface {
	// View runs f over one consistent snapshot.
	View(ctx context.Context, f func(Reader) error) error
	// Update runs f in one serialisable transaction and commits when f returns nil: all of it or nothing, durable when Update returns. f may run
	// more than once (serialisation failures, a lost connection), so it changes nothing outside the transaction that a second run would double.
	// operation identifies the act: when it was committed already, f is not run again and Update returns nil. "" gives it an identity of its own.
	Update(ctx context.Context, operation string, f func(Writer) error) error
	// Heads returns the revision of every publisher; the registry's own stands under "". Replicas poll it.
	Heads(ctx context.Context) (map[string]uint64, error)
	// Check reads the whole database for damage, as `sayso doctor --integrity` does.
	Check(ctx context.Context) error
	// Describe names engine and version for people, such as "SQLite 3.54.1" or "PostgreSQL 15.18", and the schema's number.
	Describe(ctx context.Context) (engine string, schema int, err error)
	Close() error
}

// Reader reads inside one transaction. Missing rows are ErrNotFound; lists are empty instead. Times are UTC with microseconds.
type Reader interface {
	Publisher(ctx context.Context, slug string) (*PublisherRow, error)
	// Generation is that of a publisher's content: it says whether content that was read in an earlier transaction is still what is stored.
	Generation(ctx context.Context, slug string) (uint64, error)
	// Publishers lists at most limit rows behind slug after, in the order of slugs (bytes).
	Publishers(ctx context.Context, after string, limit int) ([]PublisherRow, error)
	Record(ctx context.Context, slug, typ, id string) (*RecordRow, error)
	// Records streams rows behind (afterType, afterID) in the order of (type, id) as bytes; typ "" takes every type. Body is read.
	Records(ctx context.Context, slug, typ, afterType, afterID string) iter.Seq2[RecordRow, error]
	// Leaves streams the same rows, all types, without Body.
	Leaves(ctx context.Context, slug string) iter.Seq2[RecordRow, error]
	RecordCounts(ctx context.Context, slug string) ([]business.TypeCount, error)

	Keys(ctx context.Context, slug string) ([]KeyRow, error) // in the order of creation
	RegistryKeys(ctx context.Context) ([]RegistryKeyRow, error)
	Revocations(ctx context.Context, slug string) ([]business.RevocationEntry, error) // slug "" = the registry's list; in the order of commits
	Proofs(ctx context.Context, slug string) ([]ProofRow, error)                      // in the order of creation
	// ProofsByHost lists the live proofs of one host over all publishers: pending and proven ones, in the order of creation.
	ProofsByHost(ctx context.Context, host string) ([]ProofRow, error)
	// ProofsDue lists proofs whose next check lies at or before now.
	ProofsDue(ctx context.Context, now time.Time, limit int) ([]ProofRow, error)
	Verifications(ctx context.Context, slug string) ([]VerificationRow, error)
	Hosts(ctx context.Context) (map[string]string, error) // host -> slug
	Token(ctx context.Context, hash [32]byte) (*TokenRow, error)
	Tokens(ctx context.Context, slug string) ([]TokenRow, error) // slug "" = operators' tokens
	// Audit lists at most limit rows behind sequence number after; slug "" lists all. Numbers rise in the order of commits within a publisher; over all
	// publishers they may have gaps, and of two acts that overlap the lower number may become visible later.
	Audit(ctx context.Context, slug string, after int64, limit int) ([]AuditRow, error)
	// Readings lists live readings in the order of (stream, type, id, location) as bytes. stream "" takes every stream, typ "" every subject and none, and
	// location "" every location and none; id belongs to typ.
	Readings(ctx context.Context, slug, stream, typ, id, location string) ([]ReadingRow, error)
	// ReadingsFrom lists at most limit readings of one stream from the subject (typ, id) on, in the same order.
	ReadingsFrom(ctx context.Context, slug, stream, typ, id string, limit int) ([]ReadingRow, error)
	CountReadings(ctx context.Context, slug string) (int, error)
}

// Writer changes the registry inside one transaction. A row of a publisher that does not exist is ErrNotFound, and nothing of the transaction is committed
// after it or after any other failure, even where f swallows the error; ErrExists, and ErrNotFound for the row itself, leave the transaction usable.
type Writer interface {
	Reader
	// Advance takes the head of a publisher ("" = the registry) for this transaction, adds one and returns it: the gapless, commit-ordered revision.
	// Every act begins with it, so that two acts on one publisher are one after the other. The publisher may be inserted later in the same transaction; a
	// head without a publisher in the end makes Update fail with ErrNotFound.
	Advance(ctx context.Context, slug string) (uint64, error)
	// Hold takes the head of a publisher as Advance does and returns the revision as it stands: for acts that change nothing that documents are made of, so
	// that they are in the order of commits with the others and nobody reloads. A publisher that does not exist is ErrNotFound.
	Hold(ctx context.Context, slug string) (uint64, error)
	InsertPublisher(ctx context.Context, row *PublisherRow) error // ErrExists when the slug was ever used
	UpdatePublisher(ctx context.Context, row *PublisherRow) error
	// PutRecords inserts or replaces rows and returns how many were written.
	PutRecords(ctx context.Context, slug string, rows iter.Seq2[RecordRow, error]) (int, error)
	// DeleteRecords deletes what is there; a key that is not there is no error.
	DeleteRecords(ctx context.Context, slug string, keys iter.Seq[RecordKey]) error
	PutKey(ctx context.Context, row *KeyRow) error // inserts, or replaces the row of (publisher, kid)
	PutRegistryKey(ctx context.Context, row *RegistryKeyRow) error
	AppendRevocation(ctx context.Context, slug string, entry *business.RevocationEntry) error
	PutProof(ctx context.Context, row *ProofRow) error               // inserts, or replaces by ID
	PutVerification(ctx context.Context, row *VerificationRow) error // inserts, or replaces by (publisher, decision)
	PutHost(ctx context.Context, host, slug string) error            // ErrExists when another publisher has it
	DeleteHost(ctx context.Context, host string) error
	PutToken(ctx context.Context, row *TokenRow) error // inserts, or replaces by hash
	AppendAudit(ctx context.Context, row *AuditRow) error
	// PutReading inserts a reading or replaces an older one of the same (stream, type, id, location). It is false, and nothing changes, where one stands that
	// was observed at the same microsecond or later.
	PutReading(ctx context.Context, slug string, row *ReadingRow) (bool, error)
	// DeleteReadings deletes the readings of a stream at a location; "" takes every one, with a location or without.
	DeleteReadings(ctx context.Context, slug, stream, location string) error
	// PruneReadings deletes the readings about records that are not there.
	PruneReadings(ctx context.Context, slug string) error
}

// PublisherRow is a publisher as it is stored. Documents are canonical JSON (package jcs where no literal matters, else as stated).
type PublisherRow struct {
	Slug        string
	Revision    uint64 // the head; set by the store on reading
	CreatedAt   time.Time
	Region      string
	Lifecycle   business.Lifecycle
	Suspended   bool
	Reason      string  // of suspension or withdrawal; internal only
	Profile     jcs.Raw // business.Profile
	Schema      jcs.Raw // nil when none
	Calendar    jcs.Raw // nil when none
	Account     jcs.Raw // contact of the account holder; no renderer reads it
	Delegated   bool    // the owner lets operators edit
	Incomplete  bool
	Quota       Quota
	Generation  uint64
	ContentHash string
	ChangedAt   time.Time
	DataUpdated time.Time // newest updated_at of its records, zero without
}

// Quota bounds what one publisher may hold; 0 stands for the default.
type Quota struct {
	Records int `json:"records,omitzero"`
	Tokens  int `json:"tokens,omitzero"`
}

// RecordKey names a record within its publisher.
type RecordKey struct{ Type, ID string }

// RecordRow is a record as it is stored: Body is the JSON text of the record without url and publisher.
type RecordRow struct {
	RecordKey
	Leaf      business.Leaf
	UpdatedAt time.Time
	Body      []byte
}

// ReadingRow is the latest live reading of one stream, subject and location. What it means is in the stream's declaration in the publisher's schema.
type ReadingRow struct {
	Stream     string
	Type, ID   string    // of the record it is about, "" where the stream has no subject
	Location   string    // "" where the stream is not scoped by location
	Value      jcs.Raw   // JSON as it was received: numbers are literals
	ObservedAt time.Time // by the source
	ReceivedAt time.Time // by the registry
}

// KeyRow is a publisher key. The private half lies in the key folder or in an external signer, never here.
type KeyRow struct {
	Publisher string
	Entry     business.PublisherKey
	CreatedAt time.Time
	RetiredAt time.Time // zero while it signs
	RevokedAt time.Time
}

// RegistryKeyRow is a registry key entry as the root signed it.
type RegistryKeyRow struct {
	Entry       business.RegistryKey
	InstalledAt time.Time
	RevokedAt   time.Time
}

// ProofRow is one attempt to prove a host and what became of it.
type ProofRow struct {
	ID          string
	Publisher   string
	Host        string
	Method      string
	Nonce       []byte // 16 bytes
	CreatedAt   time.Time
	ExpiresAt   time.Time // of the token
	State       string    // pending | proven | lapsed | replaced
	VerifiedAt  time.Time
	ValidUntil  time.Time
	NextCheck   time.Time // zero: none
	FailedDays  int       // consecutive days with a counted failure
	LastFailure time.Time
	Evidence    jcs.Raw // what was observed, resolvers, answer hash, suffix list version
}

// VerificationRow is an operator verification: one operator records it, a second one confirms.
type VerificationRow struct {
	Publisher   string
	Decision    string
	RecordedBy  string
	RecordedAt  time.Time
	ConfirmedBy string
	ConfirmedAt time.Time
	WithdrawnAt time.Time
}

// TokenRow is a bearer token; only its SHA-256 is kept.
type TokenRow struct {
	Hash      [32]byte
	ID        string // shown in lists and in the audit trail
	Publisher string // "" = an operator's
	Name      string
	Scopes    []string
	Parent    string // ID of the token that made it
	CreatedAt time.Time
	RevokedAt time.Time
}

// AuditRow is one act.
type AuditRow struct {
	Sequence  int64 // set by the store
	At        time.Time
	Actor     string // "operator NAME", "owner TOKEN-ID", "registry"
	Action    string
	Publisher string // "" = the registry
	Target    string
	OldHash   string
	NewHash   string
	Reason    string
}
