package wire

import (
	"time"

	"sayso/jcs"
)

// Object is one of the twelve transmitted objects. Two objects are the same when their [Encode] is.
type Object interface {
	// Type names the object.
	Type() Type
	// Expires is the instant after which the object has no effect.
	Expires() time.Time
	members(*codec)
}

// Head is what every object of a session carries.
type Head struct {
	SessionID string
	ExpiresAt time.Time
}

// Expires is the instant after which the object has no effect.
func (h Head) Expires() time.Time { return h.ExpiresAt }

// Session returns the session an object belongs to; ok is false for a DiscoveryProjection, which belongs to none.
func Session(o Object) (id string, ok bool) {
	s, ok := o.(interface{ session() string })
	if !ok {
		return "", false
	}
	return s.session(), true
}

func (h Head) session() string { return h.SessionID }

// DiscoveryProjection is what a provider holds of a Standing Interest (§11). At least one of the four lists is not empty.
type DiscoveryProjection struct {
	ExpiresAt                                  time.Time
	ProjectionID                               string
	Endpoint                                   string // absolute URL, fresh for each projection
	InterestRef                                string // optional
	Categories, Domains, Geographies, Relation []string
}

// SessionOpen asks for a session (§14.1).
type SessionOpen struct {
	Head
	RequestID     string
	Initiator     string // opaque, fresh for each session
	Purpose       string
	MaxDepth      Depth
	Profile       string
	Features      []Feature
	TrustContext  jcs.Raw // optional JSON object, free in its form
	ProjectionRef string  // optional
}

// SessionAccept answers a SessionOpen (§14.1).
type SessionAccept struct {
	Head
	RequestRef string
	Responder  string
	MaxDepth   Depth
	Profile    string
	Features   []Feature
}

// SessionClose ends a session (§14.8). RequestRef is set when it stands in place of a response.
type SessionClose struct {
	Head
	Reason     Reason
	RequestRef string // optional
}

// Claim is a question about one dimension (§14.2). Value is any JSON value but null.
type Claim struct {
	ID         string
	Key        string
	Operator   Operator
	Value      jcs.Raw
	Supersedes []string // optional
}

// CompatibilityRequest asks 1 to 32 claims (§14.3). AllowedResults holds Declined.
type CompatibilityRequest struct {
	Head
	RequestID      string
	Claims         []Claim
	AllowedResults []Result
}

// Outcome is the answer to one claim.
type Outcome struct {
	ClaimID string
	Key     string
	Result  Result
}

// CompatibilityResponse answers a CompatibilityRequest, one outcome for each claim in the order of the claims (§14.3).
type CompatibilityResponse struct {
	Head
	RequestRef    string
	Results       []Outcome
	SessionStatus Status
	Permitted     []NextAction // next.permitted
	Requires      []string     // next.requires
	ContingentOn  []string     // absent on input: none
}

// DisclosureRequest asks for the value of one attribute (§14.4).
type DisclosureRequest struct {
	Head
	RequestID        string
	Attribute        string
	Purpose          string
	RequestedSurface string // one of the five surfaces; only network and session can be granted
	IntendedUse      Use
	Retention        Retention // optional
	Reciprocal       bool
}

// DisclosureResponse answers a DisclosureRequest, at most once provisionally and once terminally (§14.4).
type DisclosureResponse struct {
	Head
	RequestRef           string
	Attribute            string
	Status               Grant
	Value                jcs.Raw  // iff Status is granted
	VerificationRequired []string // iff Status is granted_if_verified
}

// ConsentRequest asks for consent to one action (§14.5). Its binding_commitment is always false.
type ConsentRequest struct {
	Head
	RequestID  string
	Action     Action
	Scope      []string
	Reciprocal bool
}

// ConsentResponse answers a ConsentRequest (§14.5). GrantedScope is empty unless Status is granted.
type ConsentResponse struct {
	Head
	RequestRef   string
	Status       Grant
	GrantedScope []string
}

// Opportunity is a lead: every asked question got a qualifying answer, and nothing more (§14.6).
type Opportunity struct {
	Head
	Structure            string
	EvaluatedDimensions  int
	CompatibleDimensions int
	OpenConditions       []string
	ContingentOn         []string
	IdentityStatus       map[string]IdentityStatus
}

// Target says whom or what a Handoff hands over to. ProtocolRef is set iff Kind is protocol.
type Target struct {
	Kind        TargetKind
	ProtocolRef string
}

// Handoff ends what GIDP is responsible for (§14.7).
type Handoff struct {
	Head
	Target           Target
	AuthorizedScope  []Scope
	RequiresPresence bool
	ContingentOn     []string
}

// Expires is the instant after which the projection must not be returned.
func (o *DiscoveryProjection) Expires() time.Time { return o.ExpiresAt }

// The types of the objects.
func (*DiscoveryProjection) Type() Type   { return TypeDiscoveryProjection }
func (*SessionOpen) Type() Type           { return TypeSessionOpen }
func (*SessionAccept) Type() Type         { return TypeSessionAccept }
func (*SessionClose) Type() Type          { return TypeSessionClose }
func (*CompatibilityRequest) Type() Type  { return TypeCompatibilityRequest }
func (*CompatibilityResponse) Type() Type { return TypeCompatibilityResponse }
func (*DisclosureRequest) Type() Type     { return TypeDisclosureRequest }
func (*DisclosureResponse) Type() Type    { return TypeDisclosureResponse }
func (*ConsentRequest) Type() Type        { return TypeConsentRequest }
func (*ConsentResponse) Type() Type       { return TypeConsentResponse }
func (*Opportunity) Type() Type           { return TypeOpportunity }
func (*Handoff) Type() Type               { return TypeHandoff }

// blank returns an empty object of a type, nil when there is no such type.
func blank(t Type) Object {
	switch t {
	case TypeDiscoveryProjection:
		return &DiscoveryProjection{}
	case TypeSessionOpen:
		return &SessionOpen{}
	case TypeSessionAccept:
		return &SessionAccept{}
	case TypeSessionClose:
		return &SessionClose{}
	case TypeCompatibilityRequest:
		return &CompatibilityRequest{}
	case TypeCompatibilityResponse:
		return &CompatibilityResponse{}
	case TypeDisclosureRequest:
		return &DisclosureRequest{}
	case TypeDisclosureResponse:
		return &DisclosureResponse{}
	case TypeConsentRequest:
		return &ConsentRequest{}
	case TypeConsentResponse:
		return &ConsentResponse{}
	case TypeOpportunity:
		return &Opportunity{}
	case TypeHandoff:
		return &Handoff{}
	}
	return nil
}

// Types lists the twelve types in the order of the protocol's sections.
func Types() []Type {
	return []Type{TypeDiscoveryProjection, TypeSessionOpen, TypeSessionAccept, TypeSessionClose, TypeCompatibilityRequest, TypeCompatibilityResponse,
		TypeDisclosureRequest, TypeDisclosureResponse, TypeConsentRequest, TypeConsentResponse, TypeOpportunity, TypeHandoff}
}
