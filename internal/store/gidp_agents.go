package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sayso/internal/agent/durable"
)

// Engine runs transactions of an engine for the stores of GIDP.
type Engine interface {
	// Read runs f over one committed state.
	Read(ctx context.Context, f func(*Reader) error) error
	// Write runs f in a serialisable transaction, as often as it takes, and commits when it returns nil.
	Write(ctx context.Context, f func(*Writer) error) error
}

// NewAgents returns what the agents of an engine keep.
func NewAgents(e Engine) durable.Store { return agents{e} }

type agents struct{ engine Engine }

func (a agents) View(ctx context.Context, f func(durable.Reader) error) error {
	return a.engine.Read(ctx, func(r *Reader) error { return f(&agentReader{r: r}) })
}

func (a agents) Update(ctx context.Context, f func(durable.Writer) error) error {
	return a.engine.Write(ctx, func(w *Writer) error {
		aw := &agentWriter{agentReader: agentReader{r: &w.Reader, writes: true}, w: w}
		if err := f(aw); err != nil {
			return err
		}
		return aw.finish(ctx)
	})
}

// agentReader is durable.Reader over a reader of the store.
type agentReader struct {
	r      *Reader
	writes bool // whoever reads may write what it read, so the engine is told before
}

// sole reads the only row of a query.
func sole[T any](ctx context.Context, r *Reader, what string, scan func(scanner) (T, error), sql string, args ...any) (row T, err error) {
	rows, err := list(ctx, r, what, scan, sql, args...)
	if err == nil && len(rows) == 0 {
		err = durable.ErrNotFound
	}
	if err == nil {
		row = rows[0]
	}
	return row, err
}

// Sessions and lineages are what writers of one process take one after the other, so that they do not repeat each other's work.
func (a *agentReader) claim(ctx context.Context, of, id string) error {
	if !a.writes {
		return nil
	}
	if err := a.r.s.Claim("gidp:" + of + ":" + id); err != nil {
		return a.r.fail(ctx, "take a session", err)
	}
	return nil
}

func (a *agentReader) Interest(ctx context.Context, id string) (durable.InterestRow, error) {
	if !storable(id) {
		return durable.InterestRow{}, durable.ErrNotFound
	}
	return sole(ctx, a.r, "read an interest", scanInterest, "SELECT "+interestColumns+" FROM gidp_interests WHERE id = $1", id)
}

func (a *agentReader) Interests(ctx context.Context) ([]durable.InterestRow, error) {
	return list(ctx, a.r, "list interests", scanInterest, "SELECT "+interestColumns+" FROM gidp_interests ORDER BY lineage, version, id")
}

func (a *agentReader) Projection(ctx context.Context, ref string) (durable.ProjectionRow, error) {
	if !storable(ref) {
		return durable.ProjectionRow{}, durable.ErrNotFound
	}
	return sole(ctx, a.r, "read a projection", scanProjection, "SELECT "+projectionColumns+" FROM gidp_projections WHERE ref = $1", ref)
}

func (a *agentReader) Projections(ctx context.Context, interest string) ([]durable.ProjectionRow, error) {
	const what, columns = "list projections", "SELECT " + projectionColumns + " FROM gidp_projections "
	switch {
	case !storable(interest):
		return nil, nil
	case interest == "":
		return list(ctx, a.r, what, scanProjection, columns+"ORDER BY ref")
	}
	return list(ctx, a.r, what, scanProjection, columns+"WHERE interest = $1 ORDER BY ref", interest)
}

const selectSession = "SELECT " + sessionColumns + ", version FROM gidp_sessions "

func (a *agentReader) Session(ctx context.Context, id string) (durable.SessionRow, error) {
	if !storable(id) {
		return durable.SessionRow{}, durable.ErrNotFound
	}
	if err := a.claim(ctx, "session", id); err != nil {
		return durable.SessionRow{}, err
	}
	return sole(ctx, a.r, "read a session", scanSession, selectSession+"WHERE id = $1", id)
}

// stepColumns are those of a session and of the interest that it is of. A name that both have is the session's.
var stepColumns = qualified("s", sessionColumns+", version") + ", " + qualified("i", interestColumns)

// qualified puts a table before each of some columns.
func qualified(table, columns string) string {
	return table + "." + strings.ReplaceAll(columns, ", ", ", "+table+".")
}

// step is what a step of a session begins with.
type step struct {
	session  durable.SessionRow
	interest durable.InterestRow
	head     head
}

// step reads a session, the interest that it is of and the head of the trail of that.
func (a *agentReader) step(ctx context.Context, id string) (step, error) {
	if !storable(id) {
		return step{}, durable.ErrNotFound
	}
	if err := a.claim(ctx, "session", id); err != nil {
		return step{}, err
	}
	return sole(ctx, a.r, "read a session", scanStep, "SELECT "+stepColumns+", t.sequence, t.hash FROM gidp_sessions s JOIN gidp_interests i ON i.id = s.interest "+
		"LEFT JOIN gidp_trails t ON t.lineage = i.lineage WHERE s.id = $1", id)
}

func scanStep(scan scanner) (out step, err error) {
	out.session, err = scanSession(func(session ...any) (err error) {
		out.interest, err = scanInterest(func(interest ...any) error {
			var sequence *int64
			var hash []byte
			err := scan(slices.Concat(session, interest, []any{&sequence, &hash})...)
			if err != nil || sequence == nil {
				return err
			}
			out.head.sequence = *sequence
			return fixed(out.head.hash[:], "a hash", hash)
		})
		return err
	})
	return out, err
}

// SessionAndInterest implements durable.Reader.
func (a *agentReader) SessionAndInterest(ctx context.Context, id string) (durable.SessionRow, durable.InterestRow, error) {
	out, err := a.step(ctx, id)
	return out.session, out.interest, err
}

func (a *agentReader) Parts(ctx context.Context, session string) ([]durable.PartRow, error) {
	if !storable(session) {
		return nil, nil
	}
	return list(ctx, a.r, "list the parts of a session", scanPart, "SELECT "+partColumns+" FROM gidp_parts WHERE session = $1 ORDER BY part", session)
}

func (a *agentReader) Sessions(ctx context.Context, interest string, open bool, after string, limit int) ([]durable.SessionRow, error) {
	if !storable(interest, after) || limit <= 0 {
		return nil, nil
	}
	condition, args := "WHERE id > $1 ", []any{after, int64(limit)}
	if interest != "" {
		condition, args = condition+"AND interest = $3 ", append(args, interest)
	}
	if open {
		condition += "AND NOT closed "
	}
	return list(ctx, a.r, "list sessions", scanSession, selectSession+condition+"ORDER BY id LIMIT $2", args...)
}

func (a *agentReader) CountOpen(ctx context.Context, ref, peer string) (n int, err error) {
	if !storable(ref, peer) {
		return 0, nil
	}
	if err := a.claim(ctx, "open", ""); err != nil { // whoever counts is about to open one more
		return 0, err
	}
	condition, args := where("ref", ref, "peer", peer)
	if condition != "" {
		condition = " AND " + condition
	}
	return n, a.r.one(ctx, "count open sessions", "SELECT count(*) FROM gidp_sessions WHERE NOT closed AND NOT initiator"+condition, args,
		func(scan scanner) error { return scan(&n) })
}

func scanBytes(scan scanner) (b []byte, err error) {
	err = scan(&b)
	return b, err
}

func (a *agentReader) PeerKey(ctx context.Context, thumbprint string) ([]byte, error) {
	if thumbprint == "" || !storable(thumbprint) {
		return nil, durable.ErrNotFound
	}
	return sole(ctx, a.r, "read the key of a peer", scanBytes, "SELECT peer_key FROM gidp_sessions WHERE peer = $1 AND peer <> '' AND peer_key IS NOT NULL LIMIT 1", thumbprint)
}

func (a *agentReader) Received(ctx context.Context, session, key string) (sum [32]byte, err error) {
	if !storable(session, key) {
		return sum, durable.ErrNotFound
	}
	return sole(ctx, a.r, "look for a message", scanHash, "SELECT sum FROM gidp_received WHERE session = $1 AND key = $2", session, key)
}

func scanHash(scan scanner) (hash [32]byte, err error) {
	b, err := scanBytes(scan)
	if err == nil {
		err = fixed(hash[:], "a hash", b)
	}
	return hash, err
}

func (a *agentReader) Sent(ctx context.Context, session string, after int) ([]durable.SentRow, error) {
	if !storable(session) {
		return nil, nil
	}
	return list(ctx, a.r, "list what was sent", scanSent, "SELECT "+sentColumns+" FROM gidp_sent WHERE session = $1 AND number > $2 ORDER BY number", session, int64(after))
}

func (a *agentReader) Exploration(ctx context.Context, id string) (durable.ExplorationRow, error) {
	if !storable(id) {
		return durable.ExplorationRow{}, durable.ErrNotFound
	}
	return sole(ctx, a.r, "read an exploration", scanExploration, "SELECT "+explorationColumns+" FROM gidp_explorations WHERE id = $1", id)
}

// Explorations implements durable.Reader, in the order of their times; an interest of "" is all.
func (a *agentReader) Explorations(ctx context.Context, interest string) ([]durable.ExplorationRow, error) {
	const what, columns, order = "list explorations", "SELECT " + explorationColumns + " FROM gidp_explorations ", "ORDER BY at NULLS FIRST, id"
	switch {
	case !storable(interest):
		return nil, nil
	case interest == "":
		return list(ctx, a.r, what, scanExploration, columns+order)
	}
	return list(ctx, a.r, what, scanExploration, columns+"WHERE interest = $1 "+order, interest)
}

func (a *agentReader) Coalition(ctx context.Context, id string) (durable.CoalitionRow, error) {
	if !storable(id) {
		return durable.CoalitionRow{}, durable.ErrNotFound
	}
	return sole(ctx, a.r, "read a coalition", scanCoalition, "SELECT "+coalitionColumns+" FROM gidp_coalitions WHERE id = $1", id)
}

// Coalitions implements durable.Reader, in the order of their times; an interest of "" is all.
func (a *agentReader) Coalitions(ctx context.Context, interest string) ([]durable.CoalitionRow, error) {
	const what, columns, order = "list coalitions", "SELECT " + coalitionColumns + " FROM gidp_coalitions ", "ORDER BY at NULLS FIRST, id"
	switch {
	case !storable(interest):
		return nil, nil
	case interest == "":
		return list(ctx, a.r, what, scanCoalition, columns+order)
	}
	return list(ctx, a.r, what, scanCoalition, columns+"WHERE interest = $1 "+order, interest)
}

func (a *agentReader) Ledger(ctx context.Context, lineage string) ([]durable.LedgerRow, error) {
	if !storable(lineage) {
		return nil, nil
	}
	if err := a.claim(ctx, "lineage", lineage); err != nil {
		return nil, err
	}
	return list(ctx, a.r, "read the ledger", scanLedger, "SELECT lineage, quantity, body FROM gidp_ledger WHERE lineage = $1 ORDER BY quantity", lineage)
}

func (a *agentReader) Entry(ctx context.Context, id string) (durable.EntryRow, error) {
	if !storable(id) {
		return durable.EntryRow{}, durable.ErrNotFound
	}
	return sole(ctx, a.r, "read an entry of the inbox", scanEntry, "SELECT "+entryColumns+" FROM gidp_entries WHERE id = $1", id)
}

func (a *agentReader) Entries(ctx context.Context, session string, waiting bool) ([]durable.EntryRow, error) {
	if !storable(session) {
		return nil, nil
	}
	condition, args := where("session", session)
	if waiting && condition != "" {
		condition += " AND "
	}
	if waiting {
		condition += "state = 'waiting'"
	}
	if condition != "" {
		condition = "WHERE " + condition
	}
	return list(ctx, a.r, "list the inbox", scanEntry, "SELECT "+entryColumns+" FROM gidp_entries "+condition+" ORDER BY id", args...)
}

func (a *agentReader) Trail(ctx context.Context, lineage string, after int64, limit int) ([]durable.AuditRow, error) {
	if !storable(lineage) || limit <= 0 {
		return nil, nil
	}
	return list(ctx, a.r, "read the audit trail", scanTrail,
		"SELECT "+trailColumns+" FROM gidp_audit WHERE lineage = $1 AND sequence > $2 ORDER BY sequence LIMIT $3", lineage, after, int64(limit))
}

func (a *agentReader) TrailHead(ctx context.Context, lineage string) (sequence int64, hash [32]byte, err error) {
	if !storable(lineage) {
		return 0, hash, nil
	}
	if err := a.claim(ctx, "lineage", lineage); err != nil {
		return 0, hash, err
	}
	hash, err = sole(ctx, a.r, "read the head of the audit trail", func(scan scanner) (hash [32]byte, err error) {
		return scanHash(func(dst ...any) error { return scan(&sequence, dst[0]) })
	}, "SELECT sequence, hash FROM gidp_trails WHERE lineage = $1", lineage)
	if errors.Is(err, durable.ErrNotFound) {
		err = nil
	}
	return sequence, hash, err
}

func (a *agentReader) NextDue(ctx context.Context) (time.Time, error) {
	var next moment
	err := a.r.one(ctx, "look for work", "SELECT MIN(free_at) FROM gidp_work", nil, func(scan scanner) error { return scan(&next.n) })
	return next.time(), err
}

func scanNumber(scan scanner) (n int64, err error) {
	err = scan(&n)
	return n, err
}

func (a *agentReader) Mark(ctx context.Context) (int64, error) {
	n, err := sole(ctx, a.r, "read the mark", scanNumber, "SELECT mark FROM gidp_mark WHERE id = 1")
	if errors.Is(err, durable.ErrNotFound) {
		err = nil
	}
	return n, err
}

var _ durable.Reader = (*agentReader)(nil)
