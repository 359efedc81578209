package agent

import (
	"context"
	"errors"
	"io"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jcs"
	"sayso/jwk"
)

// Peers reaches responders. *gidpa2a.Client is one.
type Peers interface {
	// Hello asks whether the extension is in force at an endpoint.
	Hello(ctx context.Context, endpoint string) error
	// Send sends one message and returns the task as it stands then.
	Send(ctx context.Context, to gidpa2a.Peer, out gidpa2a.Outgoing) (gidpa2a.Received, error)
	// Get returns the task of a session.
	Get(ctx context.Context, to gidpa2a.Peer) (gidpa2a.Received, error)
}

// delivery is how far this side has reached its peer.
type delivery struct {
	Attempts int    `json:"attempts,omitzero"` // that failed, in a row
	Next     int64  `json:"next,omitzero"`     // milliseconds since 1970, not before
	Failure  string `json:"failure,omitzero"`
}

// The pace of an initiator (gidp-a2a.md sec. 5).
const (
	driveRounds = 32 // of one piece of work; what is left over comes next
	pollFast    = time.Second
	pollSlow    = 30 * time.Second
	fastFor     = time.Minute
	afterTick   = 100 * time.Millisecond
	longestWait = time.Hour // that a peer may ask for
	longestHint = 300       // seconds
)

// What a view says about delivery. The peer's own words are not repeated.
const (
	failureReach   = "the peer could not be reached; the same bytes are sent again"
	failureBusy    = "the peer asks to wait; the same bytes are sent again"
	failureActive  = "the peer does not speak this protocol"
	failureGone    = "the peer no longer knows the session"
	failureRefused = "the peer refused what was sent"
	failureAnswer  = "the peer cannot be spoken to at its endpoint, or its answers break the binding"
)

// driveSession does what is due in a session: deadlines of both sides; of the initiator also sending, fetching, and the plan of an exploration.
func (a *Agent) driveSession(ctx context.Context, id string) error {
	t, err := a.read(ctx, id)
	if errors.Is(err, durable.ErrNotFound) {
		return a.Store.Update(ctx, func(w durable.Writer) error { return w.Schedule(ctx, durable.WorkSession, id, time.Time{}) })
	}
	if err == nil && t.elapsed() {
		t, err = a.driven(ctx, id, func(t *turn) error { return t.elapse(ctx) })
	}
	if err != nil {
		return err
	}
	if t.row.Initiator && a.Peers != nil {
		for range driveRounds {
			more, err := a.driveOnce(ctx, id)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return a.Store.Update(ctx, func(w durable.Writer) error { // read anew: what another process has decided meanwhile comes first
		t, err := a.turn(ctx, w, id)
		if err != nil {
			return absent(err, nil)
		}
		due, err := t.due()
		if err != nil {
			return err
		}
		return w.Schedule(ctx, durable.WorkSession, id, due)
	})
}

// driven is [Agent.inSession] for the work that is under way: its end schedules what comes next, and until then its claim keeps others away.
func (a *Agent) driven(ctx context.Context, id string, f func(*turn) error) (*turn, error) {
	return a.inSession(ctx, id, func(t *turn) error {
		t.driven = true
		return f(t)
	})
}

// read opens a session as it is committed.
func (a *Agent) read(ctx context.Context, id string) (*turn, error) {
	var t *turn
	err := a.Store.View(ctx, func(r durable.Reader) error {
		row, err := r.Session(ctx, id)
		if err != nil {
			return err
		}
		t, err = a.look(ctx, r, row)
		return err
	})
	return t, err
}

// elapsed reports whether time alone changes a session now, so that an idle one costs no transaction.
func (t *turn) elapsed() bool {
	st := &t.body.State
	if st.Phase == session.None {
		return !t.now.Before(t.row.EndsAt) || !t.body.Told
	}
	due := deadline(st)
	return !due.IsZero() && !due.After(t.now) || t.wantsRefresh()
}

// elapse lets time pass: deadlines, an approval that nobody gave, a refresh.
func (t *turn) elapse(ctx context.Context) error {
	st := &t.body.State
	switch {
	case st.Phase == session.Closed:
		return nil
	case st.Phase == session.None:
		if t.now.Before(t.row.EndsAt) {
			t.body.Told, t.dirty = true, true
			t.entries = append(t.entries, t.a.entryID(t.row.ID, entryOpen, ""))
			return nil
		}
		return t.abandon(ctx, wire.ReasonExpired)
	}
	if due := deadline(st); !due.After(t.now) {
		if err := t.step(ctx, session.Tick{}); err != nil {
			return err
		}
	}
	return t.refresh(ctx)
}

// abandon closes on this side alone: there is nobody to tell, or nobody that listens.
func (t *turn) abandon(ctx context.Context, reason wire.Reason) error {
	if err := t.acknowledge(ctx, t.body.Sent); err != nil || t.body.State.Phase == session.Closed {
		return err
	}
	t.dirty = true
	t.body.State.Phase, t.body.State.Reason = session.Closed, reason
	t.body.State.Sent, t.body.State.Recv, t.body.State.AsksOut, t.body.State.AsksIn = session.Slot{}, session.Slot{}, nil, nil
	return t.closed(ctx, string(reason))
}

// driveOnce sends one message or fetches once. It reports whether there may be more to do at once.
func (a *Agent) driveOnce(ctx context.Context, id string) (more bool, err error) {
	var t *turn
	var out *outgoing
	err = a.Store.View(ctx, func(r durable.Reader) error {
		row, err := r.Session(ctx, id)
		if err != nil {
			return err
		}
		if t, err = a.look(ctx, r, row); err != nil {
			return err
		}
		out, err = t.outgoing(ctx, r)
		return err
	})
	if err != nil || out == nil {
		return false, err
	}
	if out.lapsed {
		_, err = a.driven(ctx, id, func(t *turn) error { return t.acknowledge(ctx, out.number) })
		return true, err
	}
	key, err := t.ownKey()
	if err != nil {
		return false, err
	}
	to := gidpa2a.Peer{Endpoint: t.body.Endpoint, Task: t.body.Task, Session: t.body.State.ID, Key: key}
	var got gidpa2a.Received
	switch {
	case out.number == 0:
		got, err = a.Peers.Get(ctx, to)
	case out.Open:
		if err = a.Peers.Hello(ctx, to.Endpoint); err == nil {
			got, err = a.Peers.Send(ctx, to, out.Outgoing)
		}
	default:
		got, err = a.Peers.Send(ctx, to, out.Outgoing)
	}
	if ctx.Err() != nil {
		return false, ctx.Err() // the same bytes go out again
	}
	if err != nil {
		return a.undelivered(ctx, id, out, err)
	}
	return a.arrived(ctx, id, out.number, got)
}

// outgoing is the next thing to do with a peer: to send what it has not acknowledged, or with number 0 to look at the task.
type outgoing struct {
	gidpa2a.Outgoing
	number int
	lapsed bool // it has no effect any more, and is left unsaid
}

// outgoing finds it; nil when there is nothing to do now.
func (t *turn) outgoing(ctx context.Context, r durable.Reader) (*outgoing, error) {
	if t.body.State.Phase == session.None || t.now.UnixMilli() < t.body.Delivery.Next {
		return nil, nil
	}
	rows, err := r.Sent(ctx, t.row.ID, t.body.Acked)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if t.row.Closed || t.body.Task == "" {
			return nil, nil
		}
		return &outgoing{}, nil
	}
	var body sentBody
	if err := t.a.unseal(sentPlace(t.row.ID, rows[0].Number), rows[0].Body, &body); err != nil {
		return nil, err
	}
	return &outgoing{Outgoing: gidpa2a.Outgoing{Object: body.Object, Evidence: body.Evidence, Signature: body.Signature, Open: body.Open}, number: rows[0].Number,
		lapsed: t.now.Unix() > body.Expires || t.body.Task == "" && !body.Open}, nil
}

func (t *turn) acknowledge(ctx context.Context, number int) error {
	if number <= t.body.Acked {
		return nil
	}
	t.dirty = true
	t.body.Acked = number
	return t.w.Acknowledge(ctx, t.row.ID, number)
}

// arrived takes what the peer showed after a message or a look, one artifact in one transaction.
func (a *Agent) arrived(ctx context.Context, id string, number int, got gidpa2a.Received) (more bool, err error) {
	t, err := a.read(ctx, id)
	if err == nil && number == 0 && t.body.Delivery == (delivery{}) && len(got.Artifacts) <= t.body.Seen && (got.State != gidpa2a.Completed || t.row.Closed) {
		return t.body.Acked < t.body.Sent, nil // nothing is new
	}
	t, err = a.driven(ctx, id, func(t *turn) error {
		if t.body.Delivery != (delivery{}) {
			t.body.Delivery, t.dirty = delivery{}, true
		}
		if t.body.Task == "" && number > 0 {
			t.body.Task, t.dirty = got.Task, true
		}
		if number == 0 {
			return nil
		}
		return t.acknowledge(ctx, number)
	})
	if err != nil {
		return false, err
	}
	for _, artifact := range got.Artifacts {
		if artifact.Number <= t.body.Seen {
			continue
		}
		if t, err = a.driven(ctx, id, func(t *turn) error { return t.artifact(ctx, artifact) }); err != nil {
			return false, err
		}
	}
	if got.State == gidpa2a.Completed && t.body.State.Phase != session.Closed && t.body.Seen >= len(got.Artifacts) { // completed without a word
		if t, err = a.driven(ctx, id, func(t *turn) error { return t.abandon(ctx, wire.ReasonUnspecified) }); err != nil {
			return false, err
		}
	}
	return t.body.Acked < t.body.Sent, nil
}

// artifact applies one artifact of the responder, once: its number is kept in the same transaction. One that is not in order is left for the next look.
func (t *turn) artifact(ctx context.Context, a gidpa2a.Artifact) error {
	if a.Number != t.body.Seen+1 {
		return nil
	}
	t.body.Seen, t.dirty = a.Number, true
	if over, err := t.overLimit(ctx, len(a.Object)+len(a.Evidence)); over || err != nil || t.body.State.Phase == session.Closed {
		return err
	}
	if a.Object == nil {
		return t.takeEvidence(ctx, evidence(a.Evidence))
	}
	o, err := wire.Decode(a.Object)
	if err != nil {
		return t.strange(ctx, "", "D1")
	}
	name, sum := t.mark(dedupeKey(o), a.Object)
	switch before, err := t.w.Received(ctx, t.row.ID, name); {
	case err == nil && before == sum:
		return nil // said twice
	case err == nil:
		return t.strange(ctx, o.Type(), "sec. 5")
	case !errors.Is(err, durable.ErrNotFound):
		return err
	}
	_, accept := o.(*wire.SessionAccept)
	if accept && t.body.State.Phase == session.Requested {
		if pub, err := jwk.ParsePublic(a.Key); err == nil {
			t.body.PeerKey = jwk.EncodePublic(pub)
		}
		t.hinted(a.Hint)
	}
	t.verify(o, a.Object, a.Signature)
	if misdirected(o) {
		return t.misdirect(ctx, o)
	}
	err = t.deliver(ctx, session.Delivery{Data: a.Object, TargetRef: targetRef(o, a.Evidence)})
	var refused *session.Refusal
	if errors.As(err, &refused) {
		return t.strange(ctx, o.Type(), refused.Row)
	}
	if err != nil {
		return err
	}
	if err := t.w.AddReceived(ctx, t.row.ID, name, sum); err != nil {
		return err
	}
	if err := t.credited(ctx, evidence(a.Evidence).Credentials); err != nil {
		return err
	}
	if err := t.satisfy(ctx, o); err != nil {
		return err
	}
	if err := t.follow(ctx); err != nil {
		return err
	}
	return t.proceed(ctx)
}

// maxStrange is how many violations of a peer have an entry of their own in one session; the others are counted in the entry that closes it.
const maxStrange = 8

// strange notes what the peer sent against the rules. It has no other effect.
func (t *turn) strange(ctx context.Context, of wire.Type, row string) error {
	if t.body.Strange, t.dirty = t.body.Strange+1, true; t.body.Strange > maxStrange {
		return nil
	}
	return t.a.audit(ctx, t.w, t.holding.Lineage(), auditViolation, sessionRecord{Session: t.row.ID, Type: of, Row: row})
}

// undelivered decides what a failure means: to send the same bytes again, to leave a response unsaid, or that the session is over.
func (a *Agent) undelivered(ctx context.Context, id string, out *outgoing, cause error) (more bool, err error) {
	var refused *gidpa2a.Refusal
	var inactive *gidpa2a.NotActive
	errors.As(cause, &refused)
	code := gidpa2a.RefusalCode("")
	if refused != nil {
		code = refused.Code
	}
	t, err := a.driven(ctx, id, func(t *turn) error {
		t.dirty = true
		switch {
		case errors.As(cause, &inactive):
			t.body.Delivery = delivery{Failure: failureActive}
			return t.abandon(ctx, wire.ReasonUnsupported)
		case refused == nil && gidpa2a.Final(cause):
			t.body.Delivery = delivery{Failure: failureAnswer}
			if t.body.Task == "" || t.body.State.Phase == session.Closed {
				return t.abandon(ctx, wire.ReasonUnspecified)
			}
			if err := t.acknowledge(ctx, t.body.Sent); err != nil {
				return err
			}
			return t.step(ctx, session.Hang{Reason: wire.ReasonUnspecified}) // it is told once, if it still listens
		case code == gidpa2a.NotFound:
			t.body.Delivery = delivery{Failure: failureGone}
			return t.abandon(ctx, wire.ReasonUnspecified)
		case code == gidpa2a.Closed && out.number > 0: // the reason stands among its artifacts
			t.body.Delivery = delivery{}
			return t.acknowledge(ctx, t.body.Sent)
		case code == gidpa2a.Invalid && out.number > 0:
			t.body.Delivery = delivery{Failure: failureRefused}
			if err := t.acknowledge(ctx, out.number); err != nil {
				return err
			}
			return t.unwanted(ctx, out)
		}
		return t.retry(refused)
	})
	if err != nil {
		return false, err
	}
	a.Log.Debug("gidp: a message did not reach its peer", "attempts", t.body.Delivery.Attempts)
	return t.body.Delivery.Next == 0 && (!t.row.Closed || t.body.Acked < t.body.Sent), nil
}

// retry waits before the same bytes go out again: 1 s to a minute, doubled each time, spread by a fifth, and as long as the peer asks.
func (t *turn) retry(refused *gidpa2a.Refusal) error {
	d := &t.body.Delivery
	d.Attempts++
	wait := backoff(d.Attempts)
	d.Failure = failureReach
	if refused != nil {
		d.Failure = failureBusy
		wait = max(wait, min(refused.RetryAfter, longestWait))
	}
	wait, err := t.a.spread(wait)
	if err != nil {
		return err
	}
	d.Next = t.now.Add(wait).UnixMilli()
	return nil
}

// spread draws a wait within a fifth around one.
func (a *Agent) spread(wait time.Duration) (time.Duration, error) {
	var b [1]byte
	if _, err := io.ReadFull(a.Random, b[:]); err != nil {
		return 0, inside("draw", err)
	}
	return wait*4/5 + wait*2/5*time.Duration(b[0])/255, nil
}

// unwanted ends a session whose peer refuses a request as malformed: it speaks another protocol, and nothing would ever answer the request. A response that came
// too late is left unsaid.
func (t *turn) unwanted(ctx context.Context, out *outgoing) error {
	o, err := wire.Decode(out.Object)
	if err != nil {
		return nil
	}
	switch o.(type) {
	case *wire.CompatibilityResponse, *wire.DisclosureResponse, *wire.ConsentResponse, *wire.SessionClose:
		return nil
	}
	if out.Open {
		return t.abandon(ctx, wire.ReasonUnsupported)
	}
	if t.body.State.Phase == session.Closed {
		return nil
	}
	return t.step(ctx, session.Hang{Reason: wire.ReasonUnspecified})
}

// due is when a session is looked at again: at its deadline; of the initiator also to send, or to look at its peer. The zero time is never.
func (t *turn) due() (time.Time, error) {
	due := deadline(&t.body.State)
	switch {
	case !t.row.Initiator:
		return due, nil
	case t.body.State.Phase == session.None && !t.body.Told:
		return t.now, nil
	case t.body.State.Phase == session.None:
		return t.row.EndsAt, nil
	}
	at := later(t.now, time.UnixMilli(t.body.Delivery.Next))
	unsent := t.body.Acked < t.body.Sent
	if !unsent || t.a.Peers == nil {
		if !unsent && t.row.Closed {
			return time.Time{}, nil
		}
		wait, err := t.a.spread(t.pace())
		if err != nil {
			return time.Time{}, err
		}
		at = later(t.now.Add(wait), at)
	}
	if !due.IsZero() && due.Before(at) {
		return due, nil
	}
	return at, nil
}

// pace is how long the initiator waits before it looks at its peer again: until what it sent is answered on the tick, then by the peer's hint, later seldom.
func (t *turn) pace() time.Duration {
	hint := time.Duration(t.body.Hint) * time.Second
	switch age := t.now.Sub(time.UnixMilli(t.body.Active)); {
	case age < t.a.tick()+afterTick:
		return t.a.tick() + afterTick - age
	case age < fastFor:
		return max(pollFast, hint)
	}
	return max(pollSlow, hint)
}

// hinted keeps how often a responder wants to be asked, within reason.
func (t *turn) hinted(raw jcs.Raw) {
	var hint struct {
		After int `json:"poll_after_s"`
	}
	if len(raw) > 0 && jcs.Decode(raw, &hint) == nil {
		t.body.Hint = min(max(hint.After, 0), longestHint)
	}
}

// keepValue keeps a value that the peer has disclosed, with what this side said about keeping it.
func (t *turn) keepValue(e session.Effect) {
	v := ValueView{Key: e.Key, Value: jcs.Raw(e.Value), At: t.now.UTC().Truncate(time.Second)}
	for _, s := range t.body.Stated {
		if s.ID == e.Ref {
			v.Retention = string(s.Retention)
		}
	}
	t.body.Values = append(t.body.Values, v)
}
