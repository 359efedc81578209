package wire

// Version is the protocol version of every object.
const Version = "gidp/0.1"

// Bounds of what is read and written.
const (
	MaxBytes  = 64 << 10 // one object
	MaxID     = 128      // bytes of an identifier or reference
	MaxText   = 4 << 10  // bytes of any other string
	MaxList   = 64       // entries of a list
	MaxClaims = 32       // claims of one request, and results of one response
)

// Type names an object.
type Type string

// The twelve transmitted types.
const (
	TypeDiscoveryProjection   Type = "DiscoveryProjection"
	TypeSessionOpen           Type = "SessionOpen"
	TypeSessionAccept         Type = "SessionAccept"
	TypeSessionClose          Type = "SessionClose"
	TypeCompatibilityRequest  Type = "CompatibilityRequest"
	TypeCompatibilityResponse Type = "CompatibilityResponse"
	TypeDisclosureRequest     Type = "DisclosureRequest"
	TypeDisclosureResponse    Type = "DisclosureResponse"
	TypeConsentRequest        Type = "ConsentRequest"
	TypeConsentResponse       Type = "ConsentResponse"
	TypeOpportunity           Type = "Opportunity"
	TypeHandoff               Type = "Handoff"
)

// Depth is how deep a session may go, and the surface a disclosure is asked for. Policies know more surfaces; a session has these two (§14.1).
type Depth string

// A session at network depth carries less than one at session depth.
const (
	DepthNetwork Depth = "network"
	DepthSession Depth = "session"
)

// Feature is an optional feature of a session (§14.1).
type Feature string

// The features of 0.1.
const (
	FeatureDependencies Feature = "dependency_primitives"
	FeatureMultiParty   Feature = "multi_party"
)

// Reason says why a session closed (§14.8).
type Reason string

// The close reasons. Nobody is required to say more than unspecified.
const (
	ReasonDeclined     Reason = "declined"
	ReasonIncompatible Reason = "incompatible"
	ReasonUnsupported  Reason = "unsupported"
	ReasonExpired      Reason = "expired"
	ReasonCompleted    Reason = "completed"
	ReasonUnspecified  Reason = "unspecified"
)

// Operator says what a claim tests (§14.2).
type Operator string

// The operators. Shipped profiles add none.
const (
	OpEquals         Operator = "equals"
	OpIntersects     Operator = "intersects"
	OpOverlaps       Operator = "overlaps"
	OpCompatibleWith Operator = "compatible_with"
)

// Result is the answer to one claim (§15.1).
type Result string

// The six results.
const (
	Compatible    Result = "compatible"
	Incompatible  Result = "incompatible"
	Conditionally Result = "conditionally_compatible"
	Unknown       Result = "unknown"
	NeedsMore     Result = "requires_disclosure"
	Declined      Result = "declined"
)

// Status is the state of an evaluation as one side reports it (§15.2).
type Status string

// The four statuses.
const (
	StatusOpen         Status = "open"
	StatusPotential    Status = "potentially_compatible"
	StatusIncompatible Status = "incompatible"
	StatusClosed       Status = "closed"
)

// NextAction is what a responder says it would still take (§14.3).
type NextAction string

// The actions of next.permitted.
const (
	NextCompatibility NextAction = "compatibility_request"
	NextDisclosure    NextAction = "disclosure_request"
	NextConsent       NextAction = "consent_request"
	NextHandoff       NextAction = "handoff"
	NextClose         NextAction = "close"
)

// Use says what a disclosed value is wanted for (§14.4).
type Use string

// The intended uses. Shipped profiles add none.
const (
	UseEvaluation  Use = "compatibility_evaluation"
	UseIdentity    Use = "identity_verification"
	UsePreparation Use = "handoff_preparation"
)

// Retention says how long a requester would keep a value (§10.7, §14.4).
type Retention string

// The retentions.
const (
	RetainSession      Retention = "session_only"
	RetainUntilHandoff Retention = "until_handoff"
	RetainUnrestricted Retention = "unrestricted"
)

// Grant is the status of an answer to a DisclosureRequest or a ConsentRequest (§14.4, §14.5). The two conditional ones belong to disclosures.
type Grant string

// Granted and declined are terminal, the others are provisional.
const (
	Granted             Grant = "granted"
	Refused             Grant = "declined"
	GrantedIfReciprocal Grant = "granted_if_reciprocal"
	GrantedIfVerified   Grant = "granted_if_verified"
	Pending             Grant = "pending_principal_approval"
)

// Terminal reports whether the status discharges its request.
func (g Grant) Terminal() bool { return g == Granted || g == Refused }

// Action is what a consent is asked for (§14.5).
type Action string

// The actions.
const (
	ActDisclose Action = "disclose_attributes"
	ActIdentity Action = "reveal_identity"
	ActContact  Action = "establish_direct_contact"
	ActHandoff  Action = "handoff"
)

// IdentityStatus says how far one side's identity is known (§14.6).
type IdentityStatus string

// The identity statuses.
const (
	IdentityNotRequested IdentityStatus = "not_requested"
	IdentityPending      IdentityStatus = "pending_principal_approval"
	IdentityGranted      IdentityStatus = "granted"
	IdentityDeclined     IdentityStatus = "declined"
)

// TargetKind says what a Handoff hands over to (§14.7).
type TargetKind string

// The kinds of targets.
const (
	TargetHuman    TargetKind = "human"
	TargetWorkflow TargetKind = "workflow"
	TargetProtocol TargetKind = "protocol"
)

// Scope is an authority level as a Handoff carries it. COMMIT is none of them: 0.1 hands over no binding authority (§14.7, §16.1).
type Scope string

// The levels a Handoff may carry.
const (
	ScopeObserve   Scope = "OBSERVE"
	ScopeSearch    Scope = "SEARCH"
	ScopePublish   Scope = "PUBLISH_PROJECTION"
	ScopeProbe     Scope = "PROBE"
	ScopeDisclose  Scope = "DISCLOSE"
	ScopeIntroduce Scope = "INTRODUCE"
	ScopeNegotiate Scope = "NEGOTIATE_NONBINDING"
)

// Undisclosed stands in contingent_on for a dependency whose name is withheld (§14.6).
const Undisclosed = "undisclosed"

// Complementary is the one relation of the core profile; it says nothing about direction (§11.1).
const Complementary = "complementary_counterparty"

// AllResults is what our own requests take.
func AllResults() []Result {
	return []Result{Compatible, Incompatible, Conditionally, Unknown, NeedsMore, Declined}
}
