package store

import (
	"time"

	"sayso/gidp"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
)

// Bounds of rows of GIDP, in bytes. A sealed body holds one object of the protocol with what stands beside it, or the state of one session.
const (
	maxQuantity = 1024
	maxEndpoint = 2048
	maxBody     = 4 << 20
)

// short is a text that may be empty, of a column that may be indexed.
func (e *encoder) short(what, s string) string {
	if len(s) > maxName {
		e.refuse("%s has %d bytes, it may have %d", what, len(s), maxName)
	}
	return e.text(what, s)
}

// body is a sealed body; every row has one.
func (e *encoder) body(what string, b []byte) []byte {
	if len(b) == 0 || len(b) > maxBody {
		e.refuse("the body of %s has %d bytes, it needs 1 to %d", what, len(b), maxBody)
	}
	return b
}

// instant is a time that must be there.
func (e *encoder) instant(what string, t time.Time) int64 {
	if t.IsZero() {
		e.refuse("%s is missing", what)
	}
	return t.UnixMicro()
}

const interestColumns = "id, lineage, version, principal, profile, state, changed_at, body"

func interestValues(row *durable.InterestRow) ([]any, error) {
	var e encoder
	if row.Version < 1 {
		e.refuse("the version of an interest is %d, it counts from 1", row.Version)
	}
	out := []any{e.key("the interest", row.ID, maxName), e.key("the lineage", row.Lineage, maxName), int64(row.Version), e.short("the principal", row.Principal),
		e.short("the profile", row.Profile), e.short("the state", row.State), Micros(row.ChangedAt), e.body("an interest", row.Body)}
	return out, e.err
}

func scanInterest(scan scanner) (row durable.InterestRow, err error) {
	var changed moment
	err = scan(&row.ID, &row.Lineage, &row.Version, &row.Principal, &row.Profile, &row.State, &changed.n, &row.Body)
	row.ChangedAt = changed.time()
	return row, err
}

const projectionColumns = "ref, interest, state, expires_at, forget_at, body"

func projectionValues(row *durable.ProjectionRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the projection", row.Ref, maxName), e.key("the interest", row.Interest, maxName), e.short("the state", string(row.State)),
		Micros(row.ExpiresAt), Micros(row.ForgetAt), e.body("a projection", row.Body)}
	return out, e.err
}

func scanProjection(scan scanner) (row durable.ProjectionRow, err error) {
	var expires, forget moment
	err = scan(&row.Ref, &row.Interest, &row.State, &expires.n, &forget.n, &row.Body)
	row.ExpiresAt, row.ForgetAt = expires.time(), forget.time()
	return row, err
}

// sessionColumns begins with what a step of an open session leaves as it is.
const sessionColumns = "id, initiator, interest, ref, peer, closed, peer_key, phase, opened_at, ends_at, forget_at, body"

func sessionValues(row *durable.SessionRow) ([]any, error) {
	var e encoder
	if len(row.PeerKey) > maxID {
		e.refuse("the key of the peer has %d bytes, it may have %d", len(row.PeerKey), maxID)
	}
	out := []any{e.key("the session", row.ID, maxName), row.Initiator, e.key("the interest", row.Interest, maxName), e.short("the reference", row.Ref),
		e.short("the peer", row.Peer), row.Closed, raw(row.PeerKey), e.short("the phase", row.Phase), Micros(row.OpenedAt), Micros(row.EndsAt), Micros(row.ForgetAt),
		e.body("a session", row.Body)}
	return out, e.err
}

// scanSession reads sessionColumns and the version behind them.
func scanSession(scan scanner) (row durable.SessionRow, err error) {
	var opened, ends, forget moment
	err = scan(&row.ID, &row.Initiator, &row.Interest, &row.Ref, &row.Peer, &row.Closed, &row.PeerKey, &row.Phase, &opened.n, &ends.n, &forget.n, &row.Body, &row.Version)
	row.OpenedAt, row.EndsAt, row.ForgetAt = opened.time(), ends.time(), forget.time()
	return row, err
}

const partColumns = "session, part, body"

func partValues(row *durable.PartRow) ([]any, error) {
	var e encoder
	if row.Part < 0 {
		e.refuse("the number of a part is %d, it counts from 0", row.Part)
	}
	out := []any{e.key("the session", row.Session, maxName), int64(row.Part), e.body("a part of a session", row.Body)}
	return out, e.err
}

func scanPart(scan scanner) (row durable.PartRow, err error) {
	err = scan(&row.Session, &row.Part, &row.Body)
	return row, err
}

const sentColumns = "session, number, at, acknowledged, body"

func sentValues(row *durable.SentRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the session", row.Session, maxName), int64(row.Number), Micros(row.At), row.Acknowledged, e.body("what was sent", row.Body)}
	return out, e.err
}

func scanSent(scan scanner) (row durable.SentRow, err error) {
	var at moment
	err = scan(&row.Session, &row.Number, &at.n, &row.Acknowledged, &row.Body)
	row.At = at.time()
	return row, err
}

const explorationColumns = "id, interest, state, at, forget_at, body"

func explorationValues(row *durable.ExplorationRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the exploration", row.ID, maxName), e.key("the interest", row.Interest, maxName), e.short("the state", row.State), Micros(row.At),
		Micros(row.ForgetAt), e.body("an exploration", row.Body)}
	return out, e.err
}

func scanExploration(scan scanner) (row durable.ExplorationRow, err error) {
	var at, forget moment
	err = scan(&row.ID, &row.Interest, &row.State, &at.n, &forget.n, &row.Body)
	row.At, row.ForgetAt = at.time(), forget.time()
	return row, err
}

const coalitionColumns = "id, interest, at, forget_at, body"

func coalitionValues(row *durable.CoalitionRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the coalition", row.ID, maxName), e.key("the interest", row.Interest, maxName), Micros(row.At), Micros(row.ForgetAt), e.body("a coalition", row.Body)}
	return out, e.err
}

func scanCoalition(scan scanner) (row durable.CoalitionRow, err error) {
	var at, forget moment
	err = scan(&row.ID, &row.Interest, &at.n, &forget.n, &row.Body)
	row.At, row.ForgetAt = at.time(), forget.time()
	return row, err
}

func ledgerValues(row *durable.LedgerRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the lineage", row.Key.Lineage, maxName), e.key("the quantity", row.Key.Quantity, maxQuantity), e.body("a row of the ledger", row.Body)}
	return out, e.err
}

func scanLedger(scan scanner) (durable.LedgerRow, error) {
	var key gidp.LedgerKey
	var body []byte
	err := scan(&key.Lineage, &key.Quantity, &body)
	return durable.LedgerRow{Key: key, Body: body}, err
}

const entryColumns = "id, interest, session, state, at, deadline, decided_at, body"

func entryValues(row *durable.EntryRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the entry", row.ID, maxName), e.key("the interest", row.Interest, maxName), e.short("the session", row.Session),
		e.key("the state", string(row.State), maxName), Micros(row.At), Micros(row.Deadline), Micros(row.DecidedAt), e.body("an entry", row.Body)}
	return out, e.err
}

func scanEntry(scan scanner) (row durable.EntryRow, err error) {
	var at, deadline, decided moment
	err = scan(&row.ID, &row.Interest, &row.Session, &row.State, &at.n, &deadline.n, &decided.n, &row.Body)
	row.At, row.Deadline, row.DecidedAt = at.time(), deadline.time(), decided.time()
	return row, err
}

const trailColumns = "lineage, sequence, at, kind, body, hash"

func trailValues(row *durable.AuditRow) ([]any, error) {
	var e encoder
	out := []any{e.key("the lineage", row.Lineage, maxName), row.Sequence, Micros(row.At), e.key("the kind", row.Kind, maxName), e.body("an audit entry", row.Body), row.Hash[:]}
	return out, e.err
}

func scanTrail(scan scanner) (row durable.AuditRow, err error) {
	var at moment
	var hash []byte
	err = scan(&row.Lineage, &row.Sequence, &at.n, &row.Kind, &row.Body, &hash)
	if err == nil {
		err = fixed(row.Hash[:], "the hash of an audit entry", hash)
	}
	row.At = at.time()
	return row, err
}

const publishedColumns = "ref, owner, revision, withdrawn, expires_at, endpoint, labels"

// publishedValues leaves out what a withdrawn row does not keep.
func publishedValues(row *provider.Row) ([]any, error) {
	var e encoder
	var endpoint *string
	var labels []byte
	if !row.Withdrawn {
		e.key("the endpoint", row.Endpoint, maxEndpoint)
		endpoint = &row.Endpoint
		for dim, list := range row.Labels {
			e.text("a dimension", dim)
			for _, label := range list {
				e.text("a label", label)
			}
		}
		if row.Labels != nil {
			labels = e.document("the labels", row.Labels)
		}
	}
	if row.Revision == 0 || row.Revision == 1 && row.Withdrawn {
		e.refuse("revisions of a projection count from 1, and the first publishes")
	}
	out := []any{row.Ref[:], row.Owner[:], int64(row.Revision), row.Withdrawn, e.instant("the expiry of a projection", row.Expires), endpoint, labels}
	return out, e.err
}

// scanPublished reads publishedColumns and the position behind them.
func scanPublished(scan scanner) (row placed, err error) {
	var ref, owner, labels []byte
	var expires int64
	var endpoint *string
	if err = scan(&ref, &owner, &row.Revision, &row.Withdrawn, &expires, &endpoint, &labels, &row.position); err != nil {
		return row, err
	}
	if err = fixed(row.Ref[:], "the reference of a projection", ref); err == nil {
		err = fixed(row.Owner[:], "the owner of a projection", owner)
	}
	if endpoint != nil {
		row.Endpoint = *endpoint
	}
	if err == nil && labels != nil {
		err = decode("the labels of a projection", labels, &row.Labels)
	}
	row.Expires = moment{&expires}.time()
	return row, err
}

const reportColumns = "ref, reporter, owner, reason, at"

func reportValues(row *providerhttp.Report) ([]any, error) {
	var e encoder
	out := []any{row.Ref[:], row.Reporter[:], row.Owner[:], e.key("the reason", row.Reason, maxName), Micros(row.At)}
	return out, e.err
}

func scanReport(scan scanner) (row providerhttp.Report, err error) {
	var ref, reporter, owner []byte
	var at moment
	if err = scan(&ref, &reporter, &owner, &row.Reason, &at.n); err != nil {
		return row, err
	}
	for _, c := range []struct{ dst, src []byte }{{row.Ref[:], ref}, {row.Reporter[:], reporter}, {row.Owner[:], owner}} {
		if err == nil {
			err = fixed(c.dst, "an identifier of a report", c.src)
		}
	}
	row.At = at.time()
	return row, err
}

const banColumns = "key, network, until, reason, at"

func banValues(row *providerhttp.Ban) ([]any, error) {
	var e encoder
	if (row.Key == provider.Thumbprint{}) == (row.Network == "") {
		e.refuse("a ban is of a key or of a network")
	}
	out := []any{row.Key[:], e.short("the network", row.Network), Micros(row.Until), e.short("the reason", row.Reason), e.instant("the time of a ban", row.At)}
	return out, e.err
}

func scanBan(scan scanner) (row providerhttp.Ban, err error) {
	var key []byte
	var until, at moment
	err = scan(&key, &row.Network, &until.n, &row.Reason, &at.n)
	if err == nil {
		err = fixed(row.Key[:], "the key of a ban", key)
	}
	row.Until, row.At = until.time(), at.time()
	return row, err
}
