// Package durable is what an agent of GIDP keeps, and what it asks of the database that keeps it. Package agent is its one user; internal/store implements it.
package durable

import (
	"context"
	"errors"
	"time"

	"sayso/gidp"
)

// What a store says. Everything else it returns means that the database could not be used.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
)

// Store keeps interests, projections, sessions, the ledger, the inbox and the audit trail. Bodies are sealed before they come here, so that a database or a copy of
// one shows identifiers, classes, states and times, and nothing that a Principal said.
type Store interface {
	// View runs f over one committed state.
	View(ctx context.Context, f func(Reader) error) error
	// Update runs f in a serialisable transaction and commits when f returns nil; nil means durable. f may run more than once, and what it wrote counts only once.
	Update(ctx context.Context, f func(Writer) error) error
}

// Reader reads one committed state. Rows that are not there are ErrNotFound. It serves one goroutine.
type Reader interface {
	Interest(ctx context.Context, id string) (InterestRow, error)
	Interests(ctx context.Context) ([]InterestRow, error) // by lineage and version

	Projection(ctx context.Context, ref string) (ProjectionRow, error)
	Projections(ctx context.Context, interest string) ([]ProjectionRow, error) // by ref; "" is all

	Session(ctx context.Context, id string) (SessionRow, error)
	// SessionAndInterest reads a session and the interest that it is of in one look. Both are there or ErrNotFound.
	SessionAndInterest(ctx context.Context, id string) (SessionRow, InterestRow, error)
	// Parts lists what of a session is not in its row, by number.
	Parts(ctx context.Context, session string) ([]PartRow, error)
	// Sessions lists sessions by id, after one, at most limit. An interest of "" is all; open leaves the closed ones out.
	Sessions(ctx context.Context, interest string, open bool, after string, limit int) ([]SessionRow, error)
	// CountOpen counts the open sessions of this side as responder: at one agent_ref, of one key of a peer, or of all when both are "".
	CountOpen(ctx context.Context, ref, peer string) (int, error)
	// PeerKey is the JWK of a peer that has opened a session, by its thumbprint.
	PeerKey(ctx context.Context, thumbprint string) ([]byte, error)

	// Received is the SHA-256 of the object that came under a key of deduplication.
	Received(ctx context.Context, session, key string) ([32]byte, error)
	// Sent lists what a session sent beyond a number, in order.
	Sent(ctx context.Context, session string, after int) ([]SentRow, error)

	Exploration(ctx context.Context, id string) (ExplorationRow, error)
	Explorations(ctx context.Context, interest string) ([]ExplorationRow, error)

	Coalition(ctx context.Context, id string) (CoalitionRow, error)
	Coalitions(ctx context.Context, interest string) ([]CoalitionRow, error) // by time and id; "" is all

	// Ledger lists the rows of a lineage by quantity.
	Ledger(ctx context.Context, lineage string) ([]LedgerRow, error)

	Entry(ctx context.Context, id string) (EntryRow, error)
	// Entries lists the inbox by id. A session of "" is all; waiting leaves the decided ones out.
	Entries(ctx context.Context, session string, waiting bool) ([]EntryRow, error)

	// Trail lists the audit trail of a lineage beyond a sequence number, at most limit.
	Trail(ctx context.Context, lineage string, after int64, limit int) ([]AuditRow, error)
	// TrailHead is the last entry's number and hash as they are kept beside the trail; zero when there is none.
	TrailHead(ctx context.Context, lineage string) (sequence int64, hash [32]byte, err error)

	// NextDue is when the next work is due, the zero time when there is none.
	NextDue(ctx context.Context) (time.Time, error)

	// Mark is a number that only grows while a database is one and the same; 0 when it never moved. One that fell shows that an older copy was put in its place.
	Mark(ctx context.Context) (int64, error)
}

// Writer writes in one transaction and reads what it wrote.
type Writer interface {
	Reader

	// PutInterest inserts an interest, or replaces state, change and body of the one with its id.
	PutInterest(ctx context.Context, row InterestRow) error
	PutProjection(ctx context.Context, row ProjectionRow) error
	// AddSession inserts a session; ErrExists when there is one of that id.
	AddSession(ctx context.Context, row SessionRow) error
	// PutSession replaces a session and adds one to its version.
	PutSession(ctx context.Context, row SessionRow) error
	// PutPart inserts a part of a session, or replaces the one of its number.
	PutPart(ctx context.Context, row PartRow) error
	// AddReceived records a key of deduplication of a session, which is forgotten with it. ErrExists, and nothing changes, when it is there.
	AddReceived(ctx context.Context, session, key string, sum [32]byte) error
	// AddSent appends to what a session sent. Numbers are gapless from 1: ErrExists when the number is taken.
	AddSent(ctx context.Context, row SentRow) error
	// Acknowledge marks what was sent up to a number as received by the peer.
	Acknowledge(ctx context.Context, session string, number int) error
	PutExploration(ctx context.Context, row ExplorationRow) error
	PutCoalition(ctx context.Context, row CoalitionRow) error
	PutLedger(ctx context.Context, row LedgerRow) error
	// DeleteLedger takes a row of the ledger away, if it is there.
	DeleteLedger(ctx context.Context, key gidp.LedgerKey) error
	// AddEntry inserts into the inbox; ErrExists when there is one of that id.
	AddEntry(ctx context.Context, row EntryRow) error
	// Decide moves an entry on from waiting; ErrNotFound when there is none of that id, ErrExists when it was decided before.
	Decide(ctx context.Context, id string, state EntryState, at time.Time) error
	// AddAudit appends to the trail of a lineage and moves its head. ErrExists when the sequence number does not follow the head.
	AddAudit(ctx context.Context, row AuditRow) error

	// Schedule sets when one piece of work is due, and makes it free to be claimed; the zero time takes it away.
	Schedule(ctx context.Context, kind WorkKind, id string, due time.Time) error
	// Claim takes up to limit pieces of work that are due and not claimed, and keeps them from others until an instant.
	Claim(ctx context.Context, now, until time.Time, limit int) ([]Work, error)

	// RaiseMark moves the mark up to n. A lower n changes nothing.
	RaiseMark(ctx context.Context, n int64) error

	// Forget deletes decided entries, closed sessions with their parts and what they received and sent, projections, explorations and coalitions, that may be forgotten by an instant; at most
	// limit of each. The trail stays.
	Forget(ctx context.Context, before time.Time, limit int) error
}

// InterestRow is one version of an interest.
type InterestRow struct {
	ID, Lineage string
	Version     int
	Principal   string // keyed digest of the principal_ref, to tell principals apart
	Profile     string
	State       string // a state of gidp/interest
	ChangedAt   time.Time
	Body        []byte // sealed
}

// ProjectionState says how far a projection is published.
type ProjectionState string

// A prepared projection belongs to no provider; its reference is live. A withdrawn one, or one that is being withdrawn, answers like an unknown reference.
const (
	Prepared    ProjectionState = "prepared"
	Publishing  ProjectionState = "publishing"
	Published   ProjectionState = "published"
	Withdrawing ProjectionState = "withdrawing"
	Withdrawn   ProjectionState = "withdrawn"
)

// ProjectionRow is one projection of an interest.
type ProjectionRow struct {
	Ref       string // agent_ref: 32 hex digits, 128 random bits
	Interest  string
	State     ProjectionState
	ExpiresAt time.Time
	ForgetAt  time.Time // zero while it is not over
	Body      []byte    // sealed: the object, the provider, its reference and the key of this projection
}

// SessionRow is one side of one session.
type SessionRow struct {
	ID        string // responder: the id of the A2A task; initiator: its own
	Initiator bool
	Interest  string
	Ref       string // responder: agent_ref; initiator: ""
	Peer      string // responder: thumbprint of the initiator's key; initiator: ""
	PeerKey   []byte // responder: JWK of the initiator's key; initiator: nil
	Phase     string
	Closed    bool
	Version   uint64 // of the row; grows with each commit
	OpenedAt  time.Time
	EndsAt    time.Time
	ForgetAt  time.Time // zero while open
	Body      []byte    // sealed: state of gidp/session and what stands beside it
}

// PartRow is a part of a session that its row does not hold, so that a step does not write what it leaves as it is.
type PartRow struct {
	Session string
	Part    int    // from 0
	Body    []byte // sealed
}

// SentRow is one object that was sent: an artifact of the responder, or a message of the initiator.
type SentRow struct {
	Session      string
	Number       int
	At           time.Time // when it may be seen
	Acknowledged bool      // by the peer; of the initiator's
	Body         []byte    // sealed: the object and what travels beside it
}

// ExplorationRow is one search for counterparties.
type ExplorationRow struct {
	ID       string
	Interest string
	State    string
	At       time.Time
	ForgetAt time.Time // zero while it is not over
	Body     []byte    // sealed
}

// CoalitionRow is what has grown out of one lead with a named dependency (experimental).
type CoalitionRow struct {
	ID       string
	Interest string
	At       time.Time
	ForgetAt time.Time // zero while a session of it is open
	Body     []byte    // sealed: edges and dependencies
}

// LedgerRow is what has been told about one audited value of a lineage.
type LedgerRow struct {
	Key  gidp.LedgerKey
	Body []byte // sealed gidp.Row
}

// EntryState says what became of an entry of the inbox.
type EntryState string

// An entry waits until it is decided or is no longer needed.
const (
	Waiting  EntryState = "waiting"
	Granted  EntryState = "granted"
	Declined EntryState = "declined"
	Settled  EntryState = "settled" // by the peer, the clock or the end of the session
)

// EntryRow is one decision that a Principal is asked for.
type EntryRow struct {
	ID        string
	Interest  string
	Session   string
	State     EntryState
	At        time.Time
	Deadline  time.Time
	DecidedAt time.Time
	Body      []byte // sealed
}

// AuditRow is one entry of the trail of a lineage.
type AuditRow struct {
	Lineage  string
	Sequence int64 // from 1, gapless
	At       time.Time
	Kind     string
	Body     []byte // sealed
	Hash     [32]byte
}

// WorkKind names what is to be done.
type WorkKind string

// The kinds of work.
const (
	WorkInterest    WorkKind = "interest"    // validity
	WorkProjection  WorkKind = "projection"  // publish or withdraw
	WorkSession     WorkKind = "session"     // deadlines of both sides; the initiator's also sends and fetches
	WorkExploration WorkKind = "exploration" // query a provider
)

// Work is one piece of work that was claimed.
type Work struct {
	Kind WorkKind
	ID   string
	Due  time.Time
}
