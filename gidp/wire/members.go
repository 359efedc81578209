package wire

// The members of each object: one description for reading, writing and the published schema.

var (
	depths = []Depth{DepthNetwork, DepthSession}
	// anyDepth is read in a SessionAccept: a depth that is none ends the session with an answer, not as a malformed object (S-06).
	anyDepth  = []Depth{DepthNetwork, DepthSession, "public", "discovery", "local"}
	features  = []Feature{FeatureDependencies, FeatureMultiParty}
	reasons   = []Reason{ReasonDeclined, ReasonIncompatible, ReasonUnsupported, ReasonExpired, ReasonCompleted, ReasonUnspecified}
	operators = []Operator{OpEquals, OpIntersects, OpOverlaps, OpCompatibleWith}
	statuses  = []Status{StatusOpen, StatusPotential, StatusIncompatible, StatusClosed}
	nexts     = []NextAction{NextCompatibility, NextDisclosure, NextConsent, NextHandoff, NextClose}
	surfaces  = []string{"public", "discovery", "network", "session", "local"}
	uses      = []Use{UseEvaluation, UseIdentity, UsePreparation}
	retains   = []Retention{RetainSession, RetainUntilHandoff, RetainUnrestricted}
	grants    = []Grant{Granted, Refused, GrantedIfReciprocal, GrantedIfVerified, Pending}
	consents  = []Grant{Granted, Refused, Pending}
	actions   = []Action{ActDisclose, ActIdentity, ActContact, ActHandoff}
	idents    = []IdentityStatus{IdentityNotRequested, IdentityPending, IdentityGranted, IdentityDeclined}
	kinds     = []TargetKind{TargetHuman, TargetWorkflow, TargetProtocol}
	scopes    = []Scope{ScopeObserve, ScopeSearch, ScopePublish, ScopeProbe, ScopeDisclose, ScopeIntroduce, ScopeNegotiate}
)

func (h *Head) members(c *codec) {
	c.time("expires_at", &h.ExpiresAt)
	c.id("session_id", &h.SessionID, required)
}

func (o *DiscoveryProjection) members(c *codec) {
	c.time("expires_at", &o.ExpiresAt)
	c.id("projection_id", &o.ProjectionID, required)
	c.text("endpoint", &o.Endpoint, required)
	c.id("interest_ref", &o.InterestRef, nullable)
	c.texts("categories", &o.Categories, optional)
	c.texts("domains", &o.Domains, optional)
	c.texts("geographies", &o.Geographies, optional)
	c.texts("relation", &o.Relation, optional)
	c.rule(len(o.Categories)+len(o.Domains)+len(o.Geographies)+len(o.Relation) > 0, "", "a projection carries at least one retrieval attribute")
	c.rule(o.Endpoint != "", "endpoint", "an endpoint is a URL")
}

func (o *SessionOpen) members(c *codec) {
	o.Head.members(c)
	c.id("request_id", &o.RequestID, required)
	c.id("initiator", &o.Initiator, required)
	c.text("purpose", &o.Purpose, required)
	enum(c, "max_depth", &o.MaxDepth, depths, required)
	c.text("profile", &o.Profile, required)
	enums(c, "features", &o.Features, features, required)
	c.object("trust_context", &o.TrustContext)
	c.id("projection_ref", &o.ProjectionRef, nullable)
	c.rule(distinct(o.Features), "features", "a feature stands once")
}

func (o *SessionAccept) members(c *codec) {
	o.Head.members(c)
	c.id("request_ref", &o.RequestRef, required)
	c.id("responder", &o.Responder, required)
	enum(c, "max_depth", &o.MaxDepth, c.legal(depths, anyDepth), required)
	c.text("profile", &o.Profile, required)
	enums(c, "features", &o.Features, features, required)
	c.rule(distinct(o.Features), "features", "a feature stands once")
}

func (o *SessionClose) members(c *codec) {
	o.Head.members(c)
	enum(c, "reason", &o.Reason, reasons, required)
	c.id("request_ref", &o.RequestRef, nullable)
}

func (o *Claim) members(c *codec) {
	c.id("claim_id", &o.ID, required)
	c.text("key", &o.Key, required)
	enum(c, "operator", &o.Operator, operators, required)
	c.value("value", &o.Value, required)
	c.ids("supersedes", &o.Supersedes, optional)
	c.rule(o.Key != "", "key", "a claim names a key")
	c.rule(distinct(o.Supersedes), "supersedes", "a claim is superseded once")
}

func (o *CompatibilityRequest) members(c *codec) {
	o.Head.members(c)
	c.id("request_id", &o.RequestID, required)
	list(c, "claims", &o.Claims, 1, MaxClaims)
	enums(c, "allowed_results", &o.AllowedResults, AllResults(), required)
	c.rule(holds(o.AllowedResults, Declined), "allowed_results", "declined is always allowed")
	c.rule(distinct(o.AllowedResults), "allowed_results", "a result stands once")
	ids := make([]string, 0, len(o.Claims))
	for _, claim := range o.Claims {
		ids = append(ids, claim.ID)
	}
	c.rule(distinct(ids), "claims", "a claim_id stands once")
}

func (o *Outcome) members(c *codec) {
	c.id("claim_id", &o.ClaimID, required)
	c.text("key", &o.Key, required)
	enum(c, "result", &o.Result, AllResults(), required)
}

// next is the nested object of a CompatibilityResponse.
type next struct{ o *CompatibilityResponse }

func (n next) members(c *codec) {
	enums(c, "permitted", &n.o.Permitted, nexts, lenient)
	c.texts("requires", &n.o.Requires, lenient)
}

func (o *CompatibilityResponse) members(c *codec) {
	o.Head.members(c)
	c.id("request_ref", &o.RequestRef, required)
	list(c, "results", &o.Results, 1, MaxClaims)
	enum(c, "session_status", &o.SessionStatus, statuses, required)
	c.nested("next", next{o})
	c.texts("contingent_on", &o.ContingentOn, lenient)
}

func (o *DisclosureRequest) members(c *codec) {
	o.Head.members(c)
	c.id("request_id", &o.RequestID, required)
	c.text("attribute", &o.Attribute, required)
	c.text("purpose", &o.Purpose, required)
	enum(c, "requested_surface", &o.RequestedSurface, surfaces, required)
	enum(c, "intended_use", &o.IntendedUse, uses, required)
	enum(c, "retention", &o.Retention, retains, nullable)
	c.boolean("reciprocal", &o.Reciprocal, optional)
	c.rule(o.Attribute != "", "attribute", "a request names an attribute")
}

func (o *DisclosureResponse) members(c *codec) {
	o.Head.members(c)
	c.id("request_ref", &o.RequestRef, required)
	c.text("attribute", &o.Attribute, required)
	enum(c, "status", &o.Status, grants, required)
	c.value("value", &o.Value, nullable)
	c.texts("verification_required", &o.VerificationRequired, nullable)
	c.rule((o.Value != nil) == (o.Status == Granted), "value", "a value is carried by granted, and by nothing else")
	c.rule((len(o.VerificationRequired) > 0) == (o.Status == GrantedIfVerified), "verification_required",
		"what has to be shown is named by granted_if_verified, and by nothing else")
}

func (o *ConsentRequest) members(c *codec) {
	o.Head.members(c)
	c.id("request_id", &o.RequestID, required)
	enum(c, "action", &o.Action, actions, required)
	c.texts("scope", &o.Scope, required)
	c.boolean("reciprocal", &o.Reciprocal, required)
	c.never("binding_commitment")
	c.rule(len(o.Scope) > 0 || o.Action == ActContact, "scope", "this action needs a scope")
	c.rule(distinct(o.Scope), "scope", "an entry stands once")
}

func (o *ConsentResponse) members(c *codec) {
	o.Head.members(c)
	c.id("request_ref", &o.RequestRef, required)
	enum(c, "status", &o.Status, consents, required)
	c.texts("granted_scope", &o.GrantedScope, required)
	c.rule(len(o.GrantedScope) == 0 || o.Status == Granted, "granted_scope", "only granted grants a scope")
}

func (o *Opportunity) members(c *codec) {
	o.Head.members(c)
	c.text("structure", &o.Structure, required)
	c.count("evaluated_dimensions", &o.EvaluatedDimensions)
	c.count("compatible_dimensions", &o.CompatibleDimensions)
	c.texts("open_conditions", &o.OpenConditions, required)
	c.texts("contingent_on", &o.ContingentOn, required)
	c.statuses("identity_status", &o.IdentityStatus)
	c.rule(distinct(o.OpenConditions), "open_conditions", "a key stands once")
}

func (o *Target) members(c *codec) {
	enum(c, "kind", &o.Kind, kinds, required)
	c.text("protocol_ref", &o.ProtocolRef, nullable)
	c.rule((o.ProtocolRef != "") == (o.Kind == TargetProtocol), "protocol_ref", "a protocol is named by its reference, and nothing else has one")
}

func (o *Handoff) members(c *codec) {
	o.Head.members(c)
	c.nested("target", &o.Target)
	enums(c, "authorized_scope", &o.AuthorizedScope, scopes, required)
	c.boolean("requires_principal_presence", &o.RequiresPresence, required)
	c.texts("contingent_on", &o.ContingentOn, required)
	c.rule(distinct(o.AuthorizedScope), "authorized_scope", "a level stands once")
}
