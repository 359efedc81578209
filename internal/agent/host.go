package agent

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"sayso/gidp/gidpa2a"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/jcs"
	"sayso/jwk"
)

// The responder, as package gidpa2a sees it.
var _ gidpa2a.Host = (*Agent)(nil)

// Limits of one server (gidp-a2a.md, Limits). A limit is looked at before the interest is.
const (
	maxOpenAtRef  = 64
	maxOpenOfPeer = 8
	maxOpen       = 1000 // of which one network holds a quarter, as of those at one reference
	maxObjects    = 256
	maxBytes      = 1 << 20
	limitRetry    = 30 * time.Second
)

func refusal(code gidpa2a.RefusalCode, cause error) error {
	return &gidpa2a.Refusal{Code: code, Cause: cause}
}

func limited() error {
	return &gidpa2a.Refusal{Code: gidpa2a.Limited, RetryAfter: limitRetry}
}

// operational turns an error into what a peer's transport is told. It carries nothing of the session or the interest.
func operational(err error) error {
	var done *gidpa2a.Refusal
	var malformed *wire.Error
	var refused *session.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done):
		return err
	case errors.As(err, &malformed):
		return refusal(gidpa2a.Invalid, err)
	case errors.As(err, &refused) && refused.Code == session.CodeClosed:
		return refusal(gidpa2a.Closed, err)
	case errors.As(err, &refused):
		return refusal(gidpa2a.Invalid, err)
	}
	return &gidpa2a.Refusal{Code: gidpa2a.Unavailable, RetryAfter: time.Second, Cause: err}
}

// Receive implements [gidpa2a.Host]. The key of deduplication, the ledger, the state, what is sent and the trail are one transaction, and nil means durable.
func (a *Agent) Receive(ctx context.Context, m gidpa2a.Message) (gidpa2a.Task, error) {
	if m.ReceivedAt.IsZero() {
		m.ReceivedAt = a.Now()
	}
	if m.Task == "" {
		if err := a.countNetworks(ctx, a.origin(m)); err != nil {
			return gidpa2a.Task{}, operational(err)
		}
	}
	var task gidpa2a.Task
	var t *turn
	var entered string
	err := a.Store.Update(ctx, func(w durable.Writer) (err error) {
		t, task = nil, gidpa2a.Task{}
		if m.Task == "" {
			t, task, err = a.receiveOpen(ctx, w, m, &entered)
		} else {
			t, err = a.receive(ctx, w, m)
		}
		if err != nil || t == nil {
			return err
		}
		if err := t.save(ctx); err != nil {
			return err
		}
		task, err = t.task(ctx)
		return err
	})
	a.networks.began(entered, err == nil && t != nil)
	if err != nil {
		return gidpa2a.Task{}, operational(err)
	}
	if t != nil {
		a.announce(t)
		a.opened.keep(t, task)
	}
	return capped(task), nil
}

// receive takes a message of an open session. A turn that is not dirty changes nothing.
func (a *Agent) receive(ctx context.Context, w durable.Writer, m gidpa2a.Message) (*turn, error) {
	row, interest, err := w.SessionAndInterest(ctx, m.Task)
	if err != nil {
		return nil, absent(err, refusal(gidpa2a.NotFound, nil))
	}
	if row.Initiator || row.Ref != m.Ref || row.Peer != m.Caller {
		return nil, refusal(gidpa2a.NotFound, nil)
	}
	t, err := a.resume(ctx, w, row, interest)
	if err != nil {
		return nil, err
	}
	t.received = m.ReceivedAt
	if m.Context != "" && m.Context != t.body.State.ID {
		return nil, refusal(gidpa2a.NotFound, nil)
	}
	if m.Object == nil {
		return t, t.receiveEvidence(ctx, m.Evidence)
	}
	return t, t.receiveObject(ctx, m)
}

// receiveObject applies one object, once.
func (t *turn) receiveObject(ctx context.Context, m gidpa2a.Message) error {
	o, err := wire.Decode(m.Object)
	if err != nil {
		return err
	}
	seen, err := t.seen(ctx, dedupeKey(o), m.Object)
	if err != nil || seen {
		return err
	}
	if over, err := t.overLimit(ctx, len(m.Object)); over || err != nil {
		return err
	}
	t.verify(o, m.Object, m.Signature)
	if misdirected(o) {
		return t.misdirect(ctx, o)
	}
	if err := t.deliver(ctx, session.Delivery{Data: m.Object, Object: o, TargetRef: targetRef(o, m.Evidence)}); err != nil {
		return err
	}
	if err := t.credited(ctx, evidence(m.Evidence).Credentials); err != nil {
		return err
	}
	if err := t.satisfy(ctx, o); err != nil {
		return err
	}
	return t.follow(ctx)
}

// seen records a key of deduplication, and reports whether the same object came before. Another object under the key is refused, and nothing is learned from it.
func (t *turn) seen(ctx context.Context, key string, object []byte) (bool, error) {
	name, sum := t.mark(key, object)
	err := t.w.AddReceived(ctx, t.row.ID, name, sum)
	if !errors.Is(err, durable.ErrExists) {
		return false, err
	}
	switch before, err := t.w.Received(ctx, t.row.ID, name); {
	case err == nil && before == sum:
		return true, nil
	case err == nil:
		return false, refusal(gidpa2a.Invalid, errOtherObject)
	default:
		return false, err
	}
}

// mark is a key of deduplication and its object as they lie in the store: under the key of the folder, so that whoever has the store alone reads no answer off the
// key and cannot try values until one has the digest of what was told.
func (t *turn) mark(key string, object []byte) (name string, sum [32]byte) {
	return truncated(t.a.Vault.MAC("received key", t.row.ID, key)), t.a.Vault.MAC("received object", t.row.ID, string(object))
}

var errOtherObject = errors.New("another object under the key of an earlier one")

// overLimit closes a session whose peer sends without end.
func (t *turn) overLimit(ctx context.Context, size int) (bool, error) {
	t.dirty = true
	t.body.Objects++
	t.body.Bytes += size
	if t.body.Objects <= maxObjects && t.body.Bytes <= maxBytes || t.body.State.Phase == session.Closed {
		return false, nil
	}
	return true, t.step(ctx, session.Hang{Reason: wire.ReasonUnspecified})
}

// dedupeKey tells objects of one direction apart (gidp-a2a.md sec. 5).
func dedupeKey(o wire.Object) string {
	request := func(id string) string { return string(o.Type()) + ":" + id }
	response := func(ref, status string) string { return string(o.Type()) + ":ref:" + ref + ":" + status }
	switch o := o.(type) {
	case *wire.SessionOpen:
		return request(o.RequestID)
	case *wire.SessionAccept:
		return response(o.RequestRef, "")
	case *wire.SessionClose:
		return request(o.RequestRef)
	case *wire.CompatibilityRequest:
		return request(o.RequestID)
	case *wire.CompatibilityResponse:
		return response(o.RequestRef, "")
	case *wire.DisclosureRequest:
		return request(o.RequestID)
	case *wire.DisclosureResponse:
		return response(o.RequestRef, string(o.Status))
	case *wire.ConsentRequest:
		return request(o.RequestID)
	case *wire.ConsentResponse:
		return response(o.RequestRef, string(o.Status))
	}
	return string(o.Type()) // an Opportunity and a Handoff happen once
}

// Task implements [gidpa2a.Host].
func (a *Agent) Task(ctx context.Context, ref, id, caller string) (gidpa2a.Task, error) {
	var task gidpa2a.Task
	err := a.Store.View(ctx, func(r durable.Reader) error {
		row, err := r.Session(ctx, id)
		if err != nil {
			return absent(err, refusal(gidpa2a.NotFound, nil))
		}
		if row.Initiator || row.Ref != ref || row.Peer != caller {
			return refusal(gidpa2a.NotFound, nil)
		}
		var known bool
		if task, known = a.opened.task(row); known {
			return nil
		}
		body, err := a.sessionBody(ctx, r, row)
		if err != nil {
			return err
		}
		artifacts, err := a.artifacts(ctx, r, id)
		task = taskOf(row, &body, artifacts)
		return err
	})
	return task, operational(err)
}

// task is the session as the initiator's transport sees it, what was just written included.
func (t *turn) task(ctx context.Context) (gidpa2a.Task, error) {
	if !t.resumed { // what was sent is not at hand
		artifacts, err := t.a.artifacts(ctx, t.w, t.row.ID)
		return taskOf(t.row, &t.body, artifacts), err
	}
	return taskOf(t.row, &t.body, t.artifacts), nil
}

// artifacts are all that a session has sent.
func (a *Agent) artifacts(ctx context.Context, r durable.Reader, id string) ([]gidpa2a.Artifact, error) {
	rows, err := r.Sent(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	var out []gidpa2a.Artifact
	for _, sent := range rows {
		var s sentBody
		if err := a.unseal(sentPlace(id, sent.Number), sent.Body, &s); err != nil {
			return nil, err
		}
		out = append(out, artifactOf(sent.Number, sent.At, s))
	}
	return out, nil
}

func artifactOf(number int, release time.Time, s sentBody) gidpa2a.Artifact {
	return gidpa2a.Artifact{Number: number, Release: release, Object: s.Object, Signature: s.Signature, Evidence: s.Evidence, Hint: s.Hint, Key: s.Key}
}

func taskOf(row durable.SessionRow, body *sessionBody, artifacts []gidpa2a.Artifact) gidpa2a.Task {
	task := gidpa2a.Task{ID: row.ID, Session: body.State.ID, Version: row.Version, Closed: row.Closed, Artifacts: artifacts}
	for _, own := range body.Own {
		if outstanding(&body.State, own.ID) && (task.Awaiting == 0 || own.Number < task.Awaiting) {
			task.Awaiting = own.Number
		}
	}
	return task
}

// Key implements [gidpa2a.Host].
func (a *Agent) Key(ctx context.Context, thumbprint string) (ed25519.PublicKey, bool, error) {
	var text []byte
	err := a.Store.View(ctx, func(r durable.Reader) (err error) {
		text, err = r.PeerKey(ctx, thumbprint)
		return err
	})
	switch {
	case errors.Is(err, durable.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	pub, err := jwk.ParsePublic(text)
	return pub, err == nil, err
}

// besideForm is evidence that travels beside an object, or alone (gidp-a2a.md sec. 6.2, 4).
type besideForm struct {
	Credentials []string          `json:"credentials,omitempty"`
	RequestRef  string            `json:"request_ref,omitzero"`
	TargetRef   string            `json:"target_ref,omitzero"`
	Request     []string          `json:"request,omitempty"`
	Levels      map[string]string `json:"levels,omitempty"`
}

// maxEvidence bounds what is read beside an object.
const maxEvidence = 64 << 10

// evidence reads what travels beside an object. What cannot be read is nothing: it proves nothing.
func evidence(raw jcs.Raw) besideForm {
	var f besideForm
	if len(raw) == 0 || len(raw) > maxEvidence || jcs.Decode(raw, &f) != nil || len(f.Credentials) > wire.MaxList || len(f.Request) > wire.MaxList {
		return besideForm{}
	}
	return f
}

// targetKind is the kind of target that an entry in the scope of a handoff consent covers. human:REF and workflow:REF name theirs; a reference of any other form is that
// of a protocol, which the protocol leaves free (§14.7). So a consent to a person covers no machine.
func targetKind(entry string) wire.TargetKind {
	kind, _, named := strings.Cut(entry, ":")
	if k := wire.TargetKind(kind); named && (k == wire.TargetHuman || k == wire.TargetWorkflow) {
		return k
	}
	return wire.TargetProtocol
}

// targetRef is the target beside a Handoff that is no protocol; "", which no consent covers, when it is of another kind than the Handoff says.
func targetRef(o wire.Object, raw jcs.Raw) string {
	h, is := o.(*wire.Handoff)
	ref := evidence(raw).TargetRef
	if !is || len(ref) > wire.MaxText || targetKind(ref) != h.Target.Kind {
		return ""
	}
	return ref
}

// misdirected reports a Handoff to a protocol under the name of a person or a workflow.
func misdirected(o wire.Object) bool {
	h, is := o.(*wire.Handoff)
	return is && h.Target.Kind == wire.TargetProtocol && targetKind(h.Target.ProtocolRef) != wire.TargetProtocol
}

// misdirect refuses it like one that no consent covers (S-52).
func (t *turn) misdirect(ctx context.Context, o wire.Object) error {
	if t.body.State.Phase == session.Closed {
		return refusal(gidpa2a.Closed, nil)
	}
	if err := t.receipt(ctx, o); err != nil {
		return err
	}
	return t.step(ctx, session.Hang{Reason: wire.ReasonUnsupported})
}

func truncated(sum [32]byte) string { return hex.EncodeToString(sum[:16]) }
