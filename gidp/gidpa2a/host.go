package gidpa2a

import (
	"context"
	"crypto/ed25519"
	"slices"
	"time"

	"sayso/jcs"
)

// Host keeps the sessions of the agents that a server answers for. Its errors are *Refusal; any other error is answered as unavailable. It is safe for concurrent use.
type Host interface {
	// Receive commits what a message brings and returns the task afterwards. A message that was received before changes nothing and returns the task as it is
	// now. An open that is not accepted, for whatever reason that a peer must not learn, is a task with one SessionClose that is not kept.
	Receive(ctx context.Context, m Message) (Task, error)
	// Task returns a task to the key that opened it, and NotFound to any other.
	Task(ctx context.Context, ref, id, caller string) (Task, error)
	// Wait returns when the version of a task may be another one than seen, or ctx ends.
	Wait(ctx context.Context, id string, seen uint64) error
	// Key returns the public key that has opened a session, by its thumbprint.
	Key(ctx context.Context, thumbprint string) (ed25519.PublicKey, bool, error)
}

// Message is one message of an initiator. Its signature has been verified, its object is one JSON object in canonical form and nothing more is known of it.
type Message struct {
	Ref        string  // agent_ref of the URL
	Caller     string  // RFC 7638 thumbprint of the key that signed
	Key        jcs.Raw // public JWK of that key; of a SessionOpen only
	Task       string  // taskId; "" opens a session
	Context    string  // session_id: of the object; without one the contextId, "" when it was left out
	Object     []byte  // nil when there is only evidence
	Signature  string  // detached JWS over the object; "" for none
	Evidence   jcs.Raw // nil for none
	ReceivedAt time.Time
	Remote     string // network prefix of the sender, for limits; "" on loopback
}

// Task is one session as its responder keeps it.
type Task struct {
	ID        string
	Session   string // session_id
	Version   uint64
	Artifacts []Artifact // numbered from 1 without a gap
	Closed    bool
	Awaiting  int // number of the first artifact that is a request of the responder and has no answer yet; 0 for none
}

// Artifact is one object of the responder.
type Artifact struct {
	Number    int
	Release   time.Time // not to be shown before
	Object    []byte    // canonical
	Signature string    // detached JWS over the object; "" for none
	Evidence  jcs.Raw   // nil for none
	Hint      jcs.Raw   // beside a SessionAccept; nil for none
	Key       jcs.Raw   // of the responder, beside a SessionAccept on plain loopback; nil for none
}

// TaskState is the state of a task as A2A names it.
type TaskState string

// The states that a task of GIDP can have (sec. 4).
const (
	Working       TaskState = "TASK_STATE_WORKING"
	InputRequired TaskState = "TASK_STATE_INPUT_REQUIRED"
	Completed     TaskState = "TASK_STATE_COMPLETED"
)

// At returns what may be shown of a task at an instant, and when more of it may be; the zero time when nothing is held back.
func (t Task) At(now time.Time) (shown Task, state TaskState, next time.Time) {
	shown = t
	held := slices.IndexFunc(t.Artifacts, func(a Artifact) bool { return a.Release.After(now) })
	if held >= 0 {
		next = t.Artifacts[held].Release
		shown.Artifacts = t.Artifacts[:held:held]
	}
	switch {
	case t.Closed && held < 0:
		return shown, Completed, next
	case t.Awaiting > 0 && t.Awaiting <= len(shown.Artifacts):
		return shown, InputRequired, next
	}
	return shown, Working, next
}

// Release is when an artifact that is made now may be shown: the first multiple of the tick after the receipt of what it answers, and one tick at the least
// (sec. 5). So the instant tells nothing of what was looked up to make it.
func Release(received, now time.Time, tick time.Duration) time.Time {
	if tick <= 0 {
		return now
	}
	n := max(1, (now.Sub(received)+tick-1)/tick)
	return received.Add(n * tick)
}

// RefusalCode is an operational outcome (§15.3). None of them carries a result of the protocol.
type RefusalCode string

// The outcomes.
const (
	Invalid     RefusalCode = "invalid"     // malformed, or not expected now: -32602
	NotFound    RefusalCode = "not_found"   // no such task for this key: TaskNotFound
	Closed      RefusalCode = "closed"      // the task is completed: -32004
	Denied      RefusalCode = "denied"      // no valid signature: 401
	Limited     RefusalCode = "limited"     // 429
	Unavailable RefusalCode = "unavailable" // 503
)

// Refusal is why a message had no effect. Its text is a constant of the binding.
type Refusal struct {
	Code       RefusalCode
	RetryAfter time.Duration // of Limited and Unavailable
	Cause      error         // for the log of the own side; never sent
}

func (r *Refusal) Error() string { return "gidpa2a: " + string(r.Code) }

// Unwrap returns what the refusal followed from.
func (r *Refusal) Unwrap() error { return r.Cause }
