package session

import (
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// Config is what does not change from event to event.
type Config struct {
	Profiles    []string // implemented
	Features    []wire.Feature
	MaxDepth    wire.Depth
	SessionLife time.Duration // proposed length of a session
	AskLife     time.Duration // own CompatibilityRequests
	Skew        time.Duration // allowance for expires_at on receipt
	Reserve     time.Duration // own disclosure and consent requests end this long before the session
	Refreshes   int           // how often an answered claim may be repeated
	RefreshWait time.Duration
	// KeepExpired lets an expired claim block for ever, as 0.1 has it. By default its sender may supersede it (C-03).
	KeepExpired bool

	literal mutant // for the search that shows what a reading is for
}

// mutant switches off a reading. It is set by tests of this package alone.
type mutant uint8

const (
	ignoreUnanswered mutant = 1 << iota // C-01
	literalPending                      // C-05
)

// Bounds of one session.
const (
	MaxLife   = 30 * 24 * time.Hour
	MaxAsks   = 16       // outstanding requests of one side
	MaxClaims = 128      // claims of one side
	MaxPeer   = 256      // requests of the peer
	maxStated = 16 << 10 // bytes of the contingencies of the peer: an Opportunity carries them all
	maxEchoed = 48 << 10 // bytes of the keys and ids that a response to one request repeats
)

// Defaults is the configuration of a node that implements some profiles.
func Defaults(profiles ...string) Config {
	return Config{Profiles: profiles, Features: []wire.Feature{wire.FeatureDependencies}, MaxDepth: wire.DepthSession, SessionLife: 7 * 24 * time.Hour,
		AskLife: 15 * time.Minute, Skew: time.Minute, Reserve: time.Minute, Refreshes: 3, RefreshWait: 30 * time.Second}
}

// Env is the moment of one step.
type Env struct {
	Now    time.Time
	Config Config
	View   gidp.View
}

// Event is what happens to a session.
type Event interface{ event() }

// Open opens a session (S-01). The identifiers are fresh and random; the Principal's approval is needed where PROBE says so.
type Open struct {
	SessionID, Self string
	Purpose         string
	ProjectionRef   string
	TrustContext    jcs.Raw
	MaxDepth        wire.Depth // "": as configured
	Approved        bool
}

// AskClaims asks (S-10). The values have been vetted by their owner. A claim without an ID gets one. Renews says that a question of an earlier version still stands that
// these do not replace ([CarryOn]).
type AskClaims struct {
	Claims   []wire.Claim
	Approved bool
	Renews   bool
}

// Refresh repeats an own answered claim, so that the responder reports anew (C-06).
type Refresh struct {
	Claim    wire.Claim
	Approved bool
}

// AskDisclosure asks for a value (S-20).
type AskDisclosure struct {
	Attribute  string
	Purpose    string
	Use        wire.Use       // "": compatibility_evaluation
	Retention  wire.Retention // only one that can be kept
	Reciprocal bool
}

// AskConsent asks for consent (S-30 to S-32).
type AskConsent struct {
	Action     wire.Action
	Scope      []string
	Reciprocal bool
}

// HandOff hands over (S-50). TargetRef names a target that is no protocol, as the consent named it.
type HandOff struct {
	Target    wire.Target
	TargetRef string
	Levels    []gidp.Level
	Absent    bool // the Principal need not be present
	Approved  bool
}

// Hang closes (S-60). RequestRef is set when the close stands in place of a response.
type Hang struct {
	Reason     wire.Reason
	RequestRef string
}

// Decide is the Principal's decision on a request of the peer: a held ask, or the request in the slot. Scope narrows a consent. Answers are the evaluation of
// a held ask, made now.
type Decide struct {
	Ref     string
	Granted bool
	Scope   []string // nil: all
	Answers []gidp.Answer
}

// Show notes credentials that the peer has shown, by the references of verification_required.
type Show struct{ References []string }

// Leave tells that the interest is no longer ACTIVE and the session does not go on (S-63).
type Leave struct{}

// CarryOn tells that another version of the interest has taken its place and the session goes on under it (sec. 11). What was asked keeps its answer, and every later row is
// decided by the version in force. Changed lists the keys of the peer's questions and of own consents that another value stands behind now. An initiator that probes does not
// qualify from then on before it has asked again, or says by Done that there is nothing to ask.
type CarryOn struct {
	Changed []string
	Done    bool
}

// Tick lets time pass.
type Tick struct{}

// Receive is an object of the peer that the codec has accepted.
type Receive struct {
	Object     wire.Object
	Answers    []gidp.Answer // of a CompatibilityRequest that is answered now
	Self       string        // our opaque id, for an open
	Unroutable bool          // the reference is not live, or projection_ref is not ours
	Unwelcome  bool          // the policy refuses the peer
	Version    bool          // an open of another protocol version
	TargetRef  string        // beside a Handoff: the target that is no protocol
}

func (Open) event()          {}
func (AskClaims) event()     {}
func (Refresh) event()       {}
func (AskDisclosure) event() {}
func (AskConsent) event()    {}
func (HandOff) event()       {}
func (Hang) event()          {}
func (Decide) event()        {}
func (Show) event()          {}
func (Leave) event()         {}
func (CarryOn) event()       {}
func (Tick) event()          {}
func (Receive) event()       {}

// Message is an object to send.
type Message struct {
	Object  wire.Object
	Release string // attribute whose value its owner adds to a granted DisclosureResponse
	Row     string // the row of the decision order, or the transition, that justifies it
}

// EffectKind says what the owner of a session has to do.
type EffectKind string

// The effects.
const (
	EffectHold      EffectKind = "hold"      // a held ask waits for the Principal
	EffectApprove   EffectKind = "approve"   // a disclosure or consent waits for the Principal
	EffectWatch     EffectKind = "watch"     // a provisional answer waits for the peer
	EffectSettled   EffectKind = "settled"   // the entry is done with
	EffectValue     EffectKind = "value"     // the peer disclosed a value
	EffectViolation EffectKind = "violation" // the peer asked what it must not
	EffectQualified EffectKind = "qualified"
	EffectHandoff   EffectKind = "handoff" // a Handoff of the peer is to be acted on
	EffectClosed    EffectKind = "closed"
)

// Effect is one thing to do or to note.
type Effect struct {
	Kind     EffectKind
	Ref      string
	Key      string
	Action   wire.Action
	Scope    []string
	Value    jcs.Raw
	Deadline int64
	Row      string
}

// Code classifies a refusal.
type Code string

// The refusals.
const (
	CodeLocal     Code = "not_allowed" // a local event that is not allowed now
	CodeMalformed Code = "malformed"
	CodeExpired   Code = "expired"
	CodeClosed    Code = "closed"
	CodeNoMatch   Code = "no_match" // not expected: no outstanding request, occupied slot, wrong phase
)

// Refusal says why nothing happened.
type Refusal struct {
	Code   Code
	Row    string // transition, reading or row
	Detail string // one sentence fragment about the event, nothing about the interest
}

// Error reads "not_allowed (S-20): …".
func (r *Refusal) Error() string { return string(r.Code) + " (" + r.Row + "): " + r.Detail }
