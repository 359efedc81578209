package agent

import (
	"time"

	"sayso/jcs"
)

// EntryView is one decision of the inbox as its Principal sees it (sec. 9.4): what is asked, by whom as far as it is known, what would leave, and what stays.
type EntryView struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal_ref"`
	Interest  string    `json:"interest"` // the version in force
	Session   string    `json:"session"`
	Kind      string    `json:"kind"`  // question, disclosure, consent: of the peer; open, own_question: of this side's agent
	State     string    `json:"state"` // waiting, granted, declined, settled
	At        time.Time `json:"at"`
	Deadline  time.Time `json:"deadline"`
	// DecidedAt is when the entry stopped waiting; the zero time while it waits.
	DecidedAt   time.Time      `json:"decided_at,omitzero"`
	Action      string         `json:"action,omitzero"` // of a consent
	Keys        []string       `json:"keys"`            // attributes, scope entries, or what questions are about
	Questions   []QuestionView `json:"questions,omitempty"`
	Purpose     string         `json:"purpose,omitzero"`
	IntendedUse string         `json:"intended_use,omitzero"`
	Retention   string         `json:"retention,omitzero"` // as the peer states it; "" when it states none
	Reciprocal  bool           `json:"reciprocal,omitzero"`
	Peer        PeerView       `json:"peer"`
	Reveals     []Reveal       `json:"reveals,omitempty"` // what leaves when it is granted, exactly
	Effect      string         `json:"effect"`            // what a grant does, one sentence
	Stays       string         `json:"stays"`             // what stays secret either way, one sentence
	Notice      string         `json:"notice"`            // that it cannot be taken back (§10.8)
	Note        string         `json:"note,omitzero"`     // that another version is in force than when the session began
}

// Reveal is one value that a grant sends. It is for the Principal's own eyes.
type Reveal struct {
	Key   string  `json:"key"`
	Value jcs.Raw `json:"value"`
}

// PeerView is what is known of the other side of a session. A level without evidence is shown as such and counts for nothing.
type PeerView struct {
	ID      string      `json:"id,omitzero"` // opaque, of this session alone
	Levels  []LevelView `json:"levels"`
	Mandate string      `json:"mandate,omitzero"` // SHA-256 of the compact form, hex
	Issuer  string      `json:"issuer,omitzero"`  // thumbprint of the key that signed the mandate: one party that holds it, and no more
	Names   []Reveal    `json:"names,omitempty"`  // what the mandate discloses
	Finding string      `json:"finding"`          // evidenced by pairwise key, or unevidenced
	// Properties count towards the policy now. Uncounted says why other credentials of the peer do not: not_readable, issuer_not_believed, expired, not_of_this_session,
	// not_verified.
	Properties []PropertyView `json:"properties,omitempty"`
	Uncounted  []string       `json:"uncounted,omitempty"`
	Evidence   string         `json:"evidence,omitzero"` // of an own request for it: asked, answered
}

// LevelView is one level of authority and whether a mandate evidences it.
type LevelView struct {
	Level     string `json:"level"`
	Evidenced bool   `json:"evidenced"`
}

// QuestionView is one claim of a session (§14.2).
type QuestionView struct {
	From       string  `json:"from"` // this side: ours; the peer: theirs
	Key        string  `json:"key"`
	Operator   string  `json:"operator,omitzero"`
	Value      jcs.Raw `json:"value,omitzero"`  // as it was asked, where it is still kept
	Result     string  `json:"result,omitzero"` // "": not answered
	Expired    bool    `json:"expired,omitzero"`
	Superseded bool    `json:"superseded,omitzero"`
}

// ValueView is a value that the peer has disclosed.
type ValueView struct {
	Key       string    `json:"key"`
	Value     jcs.Raw   `json:"value,omitzero"` // absent once it is forgotten
	At        time.Time `json:"at"`
	Retention string    `json:"retention,omitzero"` // as this side stated it
	Forgotten bool      `json:"forgotten,omitzero"`
}

// GrantView is one consent of a session (§14.5).
type GrantView struct {
	By     string   `json:"by"` // ours, theirs
	Action string   `json:"action"`
	Scope  []string `json:"scope"`
}

// SignatureView says what the signature beside an object showed, apart from what the object says.
type SignatureView struct {
	Object  string `json:"object"`  // its type
	Finding string `json:"finding"` // verified, absent, wrong, unverifiable
}

// HandoffView is a hand-over that was sent or accepted (§14.7).
type HandoffView struct {
	By           string      `json:"by"` // ours, theirs
	Kind         string      `json:"kind"`
	Target       string      `json:"target"`
	Levels       []LevelView `json:"levels"`
	Presence     bool        `json:"requires_principal_presence"`
	ContingentOn []string    `json:"contingent_on"`
	At           time.Time   `json:"at"`
}

// stateUnreadable is the state of a session whose row does not open.
const stateUnreadable = "UNREADABLE"

// SessionView is one side of one session.
type SessionView struct {
	ID         string          `json:"id"`
	Principal  string          `json:"principal_ref"`
	Interest   string          `json:"interest"`             // the version that it goes on under
	BeganUnder string          `json:"began_under,omitzero"` // the version that it was opened under, when it is an earlier one
	Role       string          `json:"role"`                 // initiator, responder
	State      string          `json:"state"`                // §17.2; WAITING before an open that needs approval, UNREADABLE where the row is damaged
	Status     string          `json:"status"`               // §15.2, as this side sees it
	Profile    string          `json:"profile"`
	Depth      string          `json:"depth,omitzero"`
	OpenedAt   time.Time       `json:"opened_at"`
	EndsAt     time.Time       `json:"ends_at"`
	Reason     string          `json:"reason,omitzero"` // why it is closed
	Peer       PeerView        `json:"peer"`
	Entries    []string        `json:"entries"` // of the inbox that wait
	Questions  []QuestionView  `json:"questions"`
	Grants     []GrantView     `json:"grants"`
	Values     []ValueView     `json:"values"`
	Lead       *Lead           `json:"lead,omitempty"`
	Handoff    *HandoffView    `json:"handoff,omitempty"`
	Order      string          `json:"order,omitzero"` // what the Principal has requested and is not done
	Signatures []SignatureView `json:"signatures"`
	Delivery   string          `json:"delivery,omitzero"` // why the last attempt to reach the peer had no effect; a constant
}

// Lead is an Opportunity as it is presented (sec. 10.3): every question that was asked got a qualifying answer, and nothing more is known.
type Lead struct {
	ID                   string    `json:"id"` // the session
	Principal            string    `json:"principal_ref"`
	Interest             string    `json:"interest"`
	Profile              string    `json:"profile"`
	State                string    `json:"state"`
	At                   time.Time `json:"at"`
	Structure            string    `json:"structure"`
	EvaluatedDimensions  int       `json:"evaluated_dimensions"`
	CompatibleDimensions int       `json:"compatible_dimensions"`
	OpenConditions       []string  `json:"open_conditions"`
	ContingentOn         []string  `json:"contingent_on"`
	Statement            string    `json:"statement"`     // what a lead under the profile means
	Note                 string    `json:"note,omitzero"` // "contingent, incomplete"
}

// Gauges are numbers for monitoring; they name nobody and no value.
type Gauges struct {
	Interests        int `json:"interests"`
	Active           int `json:"active"`
	OpenSessions     int `json:"open_sessions"`
	WaitingDecisions int `json:"waiting_decisions"`
}

// AuditView is one entry of the audit trail.
type AuditView struct {
	Principal string    `json:"principal_ref"`
	Lineage   string    `json:"lineage"`
	Sequence  int64     `json:"sequence"`
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"`
	Body      jcs.Raw   `json:"body"` // without any value
	// Derived says of an emission whether its recorded inputs give the recorded row and status again: "holds" or "differs", "older" of one that an earlier program wrote in another form; "" of what is no emission.
	Derived string `json:"derived,omitzero"`
}

// AuditCheck is what came of verifying the audit trail.
type AuditCheck struct {
	Lineages int            `json:"lineages"`
	Entries  int            `json:"entries"`
	OK       bool           `json:"ok"`
	Problems []AuditProblem `json:"problems"`
}

// AuditProblem is one fault of a trail.
type AuditProblem struct {
	Lineage  string `json:"lineage"`
	Sequence int64  `json:"sequence"`
	Problem  string `json:"problem"`
}
