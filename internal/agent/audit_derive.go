package agent

import (
	"slices"

	"sayso/gidp"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// What is recorded of an emission, and how it is derived again. The derivation is written from the table of sec. 6 and not from the session, so that a fault of
// either shows as a difference.
//
// A peer decides how often something is recorded, so a record is small: what it asks for and gets answered at once is one entry, no fact stands in it twice, and a
// trail grows by at most four bytes for each byte of an object that comes.

// The kinds of entries that this half of the package writes.
const (
	auditEmission  = "emission"
	auditOpened    = "session_opened"
	auditClosed    = "session_closed"
	auditReceived  = "received"
	auditDecided   = "inbox_decision"
	auditViolation = "violation"
	auditRequest   = "principal_request"
)

// emission is one object that this side sent.
type emission struct {
	Session   string             `json:"session"`
	Number    int                `json:"number"` // among what this side sent in the session
	Type      wire.Type          `json:"type"`
	Object    string             `json:"object"` // keyed hash of its bytes
	Row       string             `json:"row"`    // of the decision order, or the transition
	Ref       string             `json:"request,omitzero"`
	Status    string             `json:"status,omitzero"`
	Key       string             `json:"key,omitzero"`
	Scope     []string           `json:"scope,omitempty"`
	Version   int                `json:"version"`            // of the interest, and so of its policy
	Authority string             `json:"authority,omitzero"` // a letter for each level, from OBSERVE on: y, n, or a for approval_required; of what it decided
	State     string             `json:"state"`              // before the step: 16 bytes of the SHA-256 of the canonical state
	Claims    []auditClaim       `json:"claims,omitempty"`
	Spent     map[string]float64 `json:"bits,omitempty"` // charged to the ledger, by quantity
	Inputs    *decision          `json:"inputs,omitempty"`
	// Of an answer in the step that received the request: why it was asked for, how long the value would be kept, and whether it must not have been asked (C-19).
	Purpose   string         `json:"purpose,omitzero"`
	Keep      wire.Retention `json:"retention,omitzero"`
	Violation bool           `json:"violation,omitzero"`
}

// auditClaim is one claim that was answered or asked. What was asked is a keyed hash.
type auditClaim struct {
	Key      string        `json:"key"`
	Operator wire.Operator `json:"operator,omitzero"`
	Asked    string        `json:"asked,omitzero"`
	Result   wire.Result   `json:"result,omitzero"`
	Row      string        `json:"row,omitzero"`
}

// decision is what the decision order looked at for one disclosure or consent (sec. 6).
type decision struct {
	Action    wire.Action `json:"action,omitzero"`  // "": a disclosure
	Decided   bool        `json:"decided,omitzero"` // by the Principal, or the condition was met
	Narrow    []string    `json:"narrow,omitempty"`
	Qualified bool        `json:"qualified,omitzero"` // when the request came
	Depth     wire.Depth  `json:"depth"`
	Surface   string      `json:"surface,omitzero"`
	Keys      []string    `json:"keys,omitempty"` // of a consent, as it was asked for
	// Facts are what was found about the keys, each finding once. Which one is that of a key says Of, which is left out when there is one finding.
	Facts []keyFacts `json:"facts,omitempty"`
	Of    []int      `json:"of,omitempty"`
}

// keyFacts is what was looked at of one attribute, or of several of which the same is true.
type keyFacts struct {
	Class     string `json:"class"`
	Held      bool   `json:"held,omitzero"`
	Member    bool   `json:"member,omitzero"`
	Identity  bool   `json:"identity,omitzero"`
	Revealed  bool   `json:"revealed,omitzero"`           // a reveal_identity grant names it
	ByPerson  bool   `json:"revealed_by_person,omitzero"` // and the Principal decided it
	Consented bool   `json:"consented,omitzero"`          // a disclose_attributes grant names it
	Channel   bool   `json:"channel,omitzero"`            // a channel of the profile
	Waits     bool   `json:"waits_for_peer,omitzero"`     // reciprocity or a credential is still missing
}

// decisionEntry is one attribute of a decision.
type decisionEntry struct {
	Key string
	keyFacts
}

// entries puts the keys of a decision together with what was found about them. ok is false when the record is none.
func (d *decision) entries(attribute string) (out []decisionEntry, ok bool) {
	keys, of := d.Keys, d.Of
	if d.Action == "" {
		keys = []string{attribute}
	}
	if len(of) == 0 {
		of = make([]int, len(keys))
	}
	if len(of) != len(keys) {
		return nil, false
	}
	for i, key := range keys {
		if of[i] < 0 || of[i] >= len(d.Facts) {
			return nil, false
		}
		out = append(out, decisionEntry{key, d.Facts[of[i]]})
	}
	return out, true
}

// The letters of an authority in the trail.
const (
	letterYes      = 'y'
	letterNo       = 'n'
	letterApproval = 'a'
)

func snapshot(a gidp.Authority) string {
	out := make([]byte, len(a))
	for level := range a {
		switch a.At(gidp.Level(level)) {
		case gidp.Yes:
			out[level] = letterYes
		case gidp.Approval:
			out[level] = letterApproval
		default:
			out[level] = letterNo
		}
	}
	return string(out)
}

// inputs gathers what the decision on a request of the peer rests on.
func inputs(v *gidp.View, st *session.State, req *peerRequest, decided bool, narrow []string) *decision {
	d := &decision{Action: req.Action, Decided: decided, Narrow: narrow, Qualified: req.Qualified, Depth: st.Depth, Surface: req.Surface}
	grant := func(action wire.Action, key string) (found, person bool) {
		for _, g := range st.Grants {
			if g.By == session.Ours && g.Action == action && slices.Contains(g.Scope, key) {
				return true, g.Principal
			}
		}
		return false, false
	}
	for _, key := range req.keys() {
		at := v.Attributes[key]
		f := keyFacts{Class: at.Class.String(), Held: at.Held, Member: at.Member, Identity: v.Identifying(key)}
		f.Revealed, f.ByPerson = grant(wire.ActIdentity, key)
		f.Consented, _ = grant(wire.ActDisclose, key)
		f.Channel = v.Profile != nil && slices.Contains(v.Profile.Channels, key)
		f.Waits = at.Reciprocal && !slices.Contains(st.Disclosed, key) && !goesFirst(st, key) ||
			slices.ContainsFunc(at.Verify, func(reference string) bool { return !slices.Contains(st.Shown, reference) })
		finding := slices.Index(d.Facts, f)
		if finding < 0 {
			finding, d.Facts = len(d.Facts), append(d.Facts, f)
		}
		d.Of = append(d.Of, finding)
	}
	d.Keys = req.Scope
	if len(d.Facts) == 1 {
		d.Of = nil
	}
	return d
}

// goesFirst reports whether both sides wait for each other's value and this one is the initiator (C-14).
func goesFirst(st *session.State, key string) bool {
	return st.Role == session.Initiator && st.Sent.Kind == session.SlotDisclosure && st.Sent.Attribute == key && st.Sent.Provisional == wire.GrantedIfReciprocal
}

// derived says whether an emission follows again from its recorded inputs.
func derived(kind string, body jcs.Raw) string {
	var e emission
	if kind != auditEmission {
		return ""
	}
	if jcs.DecodeKnown(body, &e) != nil {
		return "older"
	}
	holds := true
	switch e.Type {
	case wire.TypeCompatibilityResponse:
		holds = !slices.ContainsFunc(e.Claims, func(c auditClaim) bool { return !rowAllows(c.Row, c.Result) })
	case wire.TypeDisclosureResponse, wire.TypeConsentResponse:
		holds = e.derive()
	case wire.TypeHandoff:
		holds = e.level(gidp.Introduce) != letterNo
	case wire.TypeSessionOpen, wire.TypeCompatibilityRequest:
		holds = e.level(gidp.Probe) != letterNo
	default:
		return ""
	}
	if holds {
		return "holds"
	}
	return "differs"
}

func (e *emission) level(l gidp.Level) byte {
	if int(l) >= len(e.Authority) {
		return letterNo
	}
	return e.Authority[l]
}

// rowAllows is what each row of the evaluation may answer (sec. 7.1).
func rowAllows(row string, r wire.Result) bool {
	switch row {
	case "V1", "V2", "V5", "V8", "S-13":
		return r == wire.Declined
	case "V3", "V4": // declined when the asker does not take unknown, or the profile says so
		return r == wire.Unknown || r == wire.Declined
	}
	return row == "V6" || row == "V7"
}

// withoutInputs reports the rows that refuse without a look at policy: the clock, the end of the interest, the Principal, two conditions at once.
func withoutInputs(row string) bool {
	switch row {
	case "S-26", "S-63", "C-42", "C-17", "C-16":
		return true
	}
	return false
}

// derive runs the rows of sec. 6 over the recorded inputs.
func (e *emission) derive() bool {
	declined := e.Status == string(wire.Refused)
	if withoutInputs(e.Row) {
		return declined
	}
	if e.Inputs == nil {
		return false
	}
	row, status := e.disclosure()
	if e.Type == wire.TypeConsentResponse {
		row, status = e.consent()
	}
	if row != e.Row {
		return false
	}
	if e.Inputs.Decided && !wire.Grant(status).Terminal() { // a second provisional answer does not exist
		return declined
	}
	return e.Status == status || e.Row == "D5b" && (e.Status == string(wire.GrantedIfReciprocal) || e.Status == string(wire.GrantedIfVerified))
}

func (e *emission) disclosure() (row, status string) {
	d := e.Inputs
	keys, ok := d.entries(e.Key)
	if !ok || len(keys) != 1 {
		return "", ""
	}
	k := keys[0]
	class, err := gidp.ParseClass(k.Class)
	surface, known := gidp.ParseSurface(d.Surface)
	disclose, introduce := e.level(gidp.Disclose), e.level(gidp.Introduce)
	ask := disclose == letterApproval || class.Gate == gidp.NeedsPrincipalOK || k.Identity && introduce == letterApproval && !k.ByPerson
	consented := k.Consented
	if k.Identity {
		consented = k.Revealed
	}
	no := string(wire.Refused)
	switch {
	case err != nil:
		return "", ""
	case disclose == letterNo || k.Identity && introduce == letterNo:
		return "D2", no
	case k.Identity && !k.Revealed:
		return "D2a", no
	case class.Surface == gidp.Network && !k.Member:
		return "D3", no
	case class.Surface == gidp.InSession && d.Depth != wire.DepthSession:
		return "D4", no
	case !k.Held || class.Never || class.Surface == gidp.Local:
		return "D4a", no
	case !known || surface != gidp.Network && surface != gidp.InSession || surface > class.Surface:
		return "D4b", no
	case ask && !d.Decided:
		return "D5", string(wire.Pending)
	case class.Gate == gidp.NeedsConsent && !consented:
		return "D5a", no
	case k.Waits:
		return "D5b", string(wire.GrantedIfReciprocal)
	}
	return "D6", string(wire.Granted)
}

func (e *emission) consent() (row, status string) {
	d := e.Inputs
	keys, ok := d.entries("")
	if !ok {
		return "", ""
	}
	level := e.level(gidp.Introduce)
	if d.Action == wire.ActDisclose {
		level = e.level(gidp.Disclose)
	}
	no := string(wire.Refused)
	identity := func(k decisionEntry) bool { return k.Identity }
	switch {
	case level == letterNo:
		return "D2", no
	case d.Action != wire.ActDisclose && !d.Qualified, d.Action != wire.ActIdentity && slices.ContainsFunc(keys, identity):
		return "D2a", no
	case d.Action == wire.ActHandoff && len(keys) != 1:
		return "sec. 9.2", no
	}
	var scope []string
	person, emptied := level == letterApproval, "sec. 9.2"
	for _, k := range keys {
		class, err := gidp.ParseClass(k.Class)
		switch {
		case err != nil:
			return "", ""
		case d.Action == wire.ActHandoff, d.Action == wire.ActContact && k.Channel:
			scope = append(scope, k.Key)
		case d.Action == wire.ActContact, d.Action == wire.ActIdentity && !k.Identity:
		case class.Surface == gidp.Network && !k.Member:
			emptied = "D3"
		case class.Surface == gidp.InSession && d.Depth != wire.DepthSession:
			emptied = "D4"
		case !k.Held || class.Never || class.Surface == gidp.Local:
			emptied = "D4a"
		default:
			scope, person = append(scope, k.Key), person || class.Gate == gidp.NeedsPrincipalOK
		}
	}
	if len(scope) == 0 && (d.Action != wire.ActContact || len(keys) > 0) {
		return emptied, no
	}
	if person && !d.Decided {
		return "D5", string(wire.Pending)
	}
	if d.Narrow != nil {
		scope = slices.DeleteFunc(scope, func(key string) bool { return !slices.Contains(d.Narrow, key) })
		if len(scope) == 0 {
			return "C-17", no
		}
	}
	if !slices.Equal(scope, e.Scope) {
		return "", ""
	}
	return "D6", string(wire.Granted)
}
