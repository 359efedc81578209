package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sayso/gidp"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jwk"
)

// receiveOpen takes the first message of a session. An open that is not accepted leaves nothing behind: its task is made from its bytes alone, the same for an
// unknown, a withdrawn and an expired reference. entered gets the id of a session that counts for its network from here on.
func (a *Agent) receiveOpen(ctx context.Context, w durable.Writer, m gidpa2a.Message, entered *string) (*turn, gidpa2a.Task, error) {
	var none gidpa2a.Task
	o, err := wire.Decode(m.Object)
	open, is := o.(*wire.SessionOpen)
	var refused *wire.Error
	otherVersion := errors.As(err, &refused) && refused.Code == wire.CodeVersion
	switch {
	case err != nil && !otherVersion:
		return nil, none, err
	case !is, m.Context != "" && m.Context != open.SessionID:
		return nil, none, refusal(gidpa2a.Invalid, nil)
	}
	id := a.taskID(m.Ref, m.Caller, open.SessionID)
	switch t, err := a.turn(ctx, w, id); {
	case err == nil:
		if seen, err := t.seen(ctx, dedupeKey(open), m.Object); err != nil || !seen {
			return nil, none, cmp.Or(err, refusal(gidpa2a.Invalid, errOtherObject))
		}
		return t, none, nil
	case !errors.Is(err, durable.ErrNotFound):
		return nil, none, err
	}
	now := a.Now()
	if now.After(open.ExpiresAt.Add(a.Session.Skew)) {
		return nil, none, refusal(gidpa2a.Invalid, nil)
	}
	pub, err := jwk.ParsePublic(m.Key)
	if err != nil || jwk.Thumbprint(pub) != m.Caller {
		return nil, none, refusal(gidpa2a.Denied, err)
	}
	if err := a.admit(ctx, w, m); err != nil {
		return nil, none, err
	}
	if err := a.admitNetwork(id, m); err != nil {
		return nil, none, err
	}
	*entered = id
	refuse := func(reason wire.Reason) (*turn, gidpa2a.Task, error) {
		task, err := a.refusedOpen(m, id, open, reason)
		return nil, task, err
	}
	projection, live, err := a.liveProjection(ctx, w, m.Ref, now)
	if err != nil {
		return nil, none, err
	}
	if !live || otherVersion {
		return refuse(wire.ReasonUnsupported)
	}
	t := &turn{a: a, w: w, fresh: true, now: now, received: m.ReceivedAt,
		row: durable.SessionRow{ID: id, Interest: projection.Interest, Ref: m.Ref, Peer: m.Caller, PeerKey: jwk.EncodePublic(pub), OpenedAt: now.UTC()}}
	if t.holding, t.interest, err = a.holding(ctx, w, projection.Interest); err != nil {
		return nil, none, err
	}
	if !t.active() {
		return refuse(wire.ReasonUnsupported)
	}
	t.body.PeerKey, t.body.Network = jwk.EncodePublic(pub), a.networkDigest(m.Remote)
	self, err := a.draw(16)
	if err != nil {
		return nil, none, err
	}
	unroutable := false
	if open.ProjectionRef != "" {
		own, err := a.projectionBody(projection)
		if err != nil {
			return nil, none, err
		}
		unroutable = open.ProjectionRef != own.ProviderRef
	}
	if err := t.newKey(open.SessionID, earlier(open.ExpiresAt, now.Add(session.MaxLife))); err != nil {
		return nil, none, err
	}
	t.peerCredentials(open)
	env := t.env()
	out, err := session.Deliver(env, gidp.Ledger{}, session.State{}, session.Delivery{Data: m.Object, Self: self, Unroutable: unroutable})
	if err != nil {
		return nil, none, err
	}
	if out.State.Phase == session.Closed {
		return refuse(out.State.Reason)
	}
	t.row.EndsAt = time.Unix(out.State.EndsAt, 0).UTC()
	// the session itself is written first: what hangs on it refers to it
	t.body.State = out.State
	t.body.Objects, t.body.Bytes = 1, len(m.Object)
	if err := t.save(ctx); err != nil {
		return nil, none, err
	}
	if _, err := t.seen(ctx, dedupeKey(open), m.Object); err != nil {
		return nil, none, err
	}
	record := sessionRecord{Session: id, Role: string(session.Responder), Profile: open.Profile, Finding: t.body.Peer.finding()}
	if err := a.audit(ctx, w, t.holding.Lineage(), auditOpened, record); err != nil {
		return nil, none, err
	}
	if err := t.absorb(ctx, env, session.State{}, out, nil, nil); err != nil {
		return nil, none, err
	}
	return t, none, t.credited(ctx, nil)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// taskID names the task of a session of one key at one reference. Whether it is kept does not show in it, and nobody else can compute it.
func (a *Agent) taskID(ref, caller, sessionID string) string {
	return truncated(a.Vault.MAC("task", ref, caller, sessionID))
}

// admit refuses by numbers alone, before the interest is looked at.
func (a *Agent) admit(ctx context.Context, r durable.Reader, m gidpa2a.Message) error {
	for _, limit := range []struct {
		ref, peer string
		most      int
	}{{"", m.Caller, maxOpenOfPeer}, {m.Ref, "", maxOpenAtRef}, {"", "", maxOpen}} {
		n, err := r.CountOpen(ctx, limit.ref, limit.peer)
		if err != nil {
			return err
		}
		if n >= limit.most {
			return limited()
		}
	}
	return nil
}

// liveProjection finds a projection whose reference takes sessions, of an interest that is in force.
func (a *Agent) liveProjection(ctx context.Context, r durable.Reader, ref string, now time.Time) (durable.ProjectionRow, bool, error) {
	row, err := r.Projection(ctx, ref)
	if errors.Is(err, durable.ErrNotFound) {
		return row, false, nil
	}
	return row, err == nil && live(row, now), err
}

// refusedOpen is the task of an open that is not accepted. The same bytes give the same bytes.
func (a *Agent) refusedOpen(m gidpa2a.Message, id string, open *wire.SessionOpen, reason wire.Reason) (gidpa2a.Task, error) {
	data, err := wire.Encode(&wire.SessionClose{Head: wire.Head{SessionID: open.SessionID, ExpiresAt: open.ExpiresAt.UTC().Truncate(time.Second)}, Reason: reason,
		RequestRef: open.RequestID})
	if err != nil {
		return gidpa2a.Task{}, err
	}
	return gidpa2a.Task{ID: id, Session: open.SessionID, Version: 1, Closed: true, Artifacts: []gidpa2a.Artifact{
		{Number: 1, Release: gidpa2a.Release(m.ReceivedAt, a.Now(), a.tick()), Object: data}}}, nil
}
