package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// Phase is the phase of a session, shared by both directions (§17.2).
type Phase string

// The phases. The zero value is a session that does not exist yet.
const (
	None      Phase = ""
	Requested Phase = "REQUESTED"
	Probing   Phase = "PROBING"
	Qualified Phase = "QUALIFIED"
	Consented Phase = "CONSENTED"
	HandedOff Phase = "HANDED_OFF"
	Closed    Phase = "CLOSED"
)

// active reports whether questions are asked and answered in the phase.
func (p Phase) active() bool { return p == Probing || p == Qualified || p == Consented }

// qualified reports whether an Opportunity stands.
func (p Phase) qualified() bool { return p == Qualified || p == Consented || p == HandedOff }

// Role is the side of a session.
type Role string

// The initiator opens, and emits the Opportunity.
const (
	Initiator Role = "initiator"
	Responder Role = "responder"
)

// Side tells the two senders apart: identifiers are unique for each.
type Side string

// The sides as one view sees them.
const (
	Ours   Side = "ours"
	Theirs Side = "theirs"
)

// SlotKind says what a slot holds.
type SlotKind string

// A slot is empty or holds one of two kinds of request.
const (
	SlotEmpty      SlotKind = ""
	SlotDisclosure SlotKind = "disclosure"
	SlotConsent    SlotKind = "consent"
)

// Slot is the one outstanding disclosure or consent of a direction (C-08).
type Slot struct {
	Kind        SlotKind    `json:"kind,omitempty"`
	ID          string      `json:"id,omitempty"`
	Attribute   string      `json:"attribute,omitempty"`
	Surface     string      `json:"surface,omitempty"`
	Action      wire.Action `json:"action,omitempty"`
	Scope       []string    `json:"scope,omitempty"`
	Provisional wire.Grant  `json:"provisional,omitempty"` // the provisional response that was sent or received
	Deadline    int64       `json:"deadline,omitzero"`
	Life        int64       `json:"life,omitzero"`   // seconds from its receipt to its deadline
	Phase       Phase       `json:"phase,omitempty"` // when it was opened
}

// Ask is an outstanding CompatibilityRequest.
type Ask struct {
	ID       string   `json:"id"`
	Claims   []string `json:"claims"`
	Deadline int64    `json:"deadline"`
	Held     bool     `json:"held,omitzero"` // received, and the Principal has to decide whether it is answered
}

// Proposition is one claim of the session (§14.2).
type Proposition struct {
	Side       Side        `json:"side"` // who asked
	ID         string      `json:"id"`
	Key        string      `json:"key"`
	Digest     string      `json:"digest"`             // of operator and value
	Result     wire.Result `json:"result,omitempty"`   // "": unanswered
	Expired    bool        `json:"expired,omitzero"`   // unanswered for good
	Withdrawn  bool        `json:"withdrawn,omitzero"` // superseded
	Evaluated  bool        `json:"evaluated,omitzero"` // the result is an evaluation, not a refusal, and is repeated to an identical claim
	Supersedes []string    `json:"supersedes,omitempty"`
}

// Grant is a consent that was granted.
type Grant struct {
	By        Side        `json:"by"`
	Action    wire.Action `json:"action"`
	Scope     []string    `json:"scope"`
	Phase     Phase       `json:"phase"`
	Principal bool        `json:"principal,omitzero"` // decided by the Principal, not by the agent alone
}

// State is one side's view of a session. Instants are seconds since 1970. The zero State is a session that does not exist.
type State struct {
	ID         string         `json:"id"`
	Role       Role           `json:"role"`
	Phase      Phase          `json:"phase"`
	Self       string         `json:"self"`
	Peer       string         `json:"peer"`
	OpenID     string         `json:"open_id"`
	Profile    string         `json:"profile"`
	Depth      wire.Depth     `json:"depth"`
	Features   []wire.Feature `json:"features"`
	EndsAt     int64          `json:"ends_at"`
	Issued     int            `json:"issued"`   // own requests so far
	PeerIDs    []string       `json:"peer_ids"` // request ids of the peer
	Sent       Slot           `json:"sent"`     // our outstanding request
	Recv       Slot           `json:"recv"`     // the peer's
	AsksOut    []Ask          `json:"asks_out"` // ours
	AsksIn     []Ask          `json:"asks_in"`  // the peer's that are held
	Props      []Proposition  `json:"props"`    // in the order in which they were asked
	Grants     []Grant        `json:"grants"`
	Vote       wire.Status    `json:"vote"`            // initiator: the responder's last report; responder: its own
	Requires   []string       `json:"requires"`        // next.requires of the peer's last response
	Stated     []string       `json:"stated"`          // contingencies ever stated by the peer; responder: its own latest list
	Contingent []string       `json:"contingent"`      // contingent_on of the Opportunity
	Disclosed  []string       `json:"disclosed"`       // attributes that the peer has disclosed
	Shown      []string       `json:"shown"`           // credentials that the peer has shown
	Vetoed     bool           `json:"vetoed"`          // an own evaluation was incompatible and could not be said
	Renews     bool           `json:"renews,omitzero"` // own questions are those of an earlier version, and this side does not qualify before it has asked again
	Refreshes  int            `json:"refreshes"`
	Refreshed  int64          `json:"refreshed"`
	Emitted    bool           `json:"emitted"` // the Opportunity was sent or accepted
	Reason     wire.Reason    `json:"reason"`  // why it is closed
}

// spareProps is room for what a step asks, so that the list is not copied twice.
const spareProps = 8

// clone copies what Step may change in place.
func (s State) clone() State {
	s.PeerIDs = slices.Clone(s.PeerIDs)
	s.AsksOut = slices.Clone(s.AsksOut)
	s.AsksIn = slices.Clone(s.AsksIn)
	s.Props = append(make([]Proposition, 0, len(s.Props)+spareProps), s.Props...)
	s.Grants = slices.Clone(s.Grants)
	s.Stated = slices.Clone(s.Stated)
	s.Disclosed = slices.Clone(s.Disclosed)
	s.Shown = slices.Clone(s.Shown)
	return s
}

// WireState is the state of §17.2 as this side sees it: a pending request hides the phase, our own first.
func (s *State) WireState() string {
	if !s.Phase.active() {
		return string(s.Phase)
	}
	for _, slot := range []Slot{s.Sent, s.Recv} {
		switch slot.Kind {
		case SlotDisclosure:
			return "DISCLOSURE_PENDING"
		case SlotConsent:
			return "CONSENT_PENDING"
		}
	}
	return string(s.Phase)
}

// Revealed lists the identity keys that a reveal_identity grant of ours names. The owner of the values may open these for one evaluation.
func (s *State) Revealed() []string {
	var out []string
	for _, g := range s.Grants {
		if g.By == Ours && g.Action == wire.ActIdentity {
			out = append(out, g.Scope...)
		}
	}
	return out
}

// granted returns the grant of an action by a side that names an entry.
func (s *State) granted(by Side, action wire.Action, entry string) (Grant, bool) {
	for _, g := range s.Grants {
		if g.By == by && g.Action == action && slices.Contains(g.Scope, entry) {
			return g, true
		}
	}
	return Grant{}, false
}

// proposition finds a claim of a side; nil when there is none.
func (s *State) proposition(side Side, id string) *Proposition {
	for i := range s.Props {
		if p := &s.Props[i]; p.ID == id && p.Side == side {
			return p
		}
	}
	return nil
}

// Remember returns what an identical standing or earlier proposition of the peer was answered, if it was evaluated.
func (s *State) Remember(c wire.Claim) (wire.Result, bool) {
	d := digest(c)
	for i := len(s.Props) - 1; i >= 0; i-- {
		if p := &s.Props[i]; p.Key == c.Key && p.Evaluated && p.Side == Theirs && p.Digest == d {
			return p.Result, true
		}
	}
	return "", false
}

// digest identifies what a claim asks, its key aside.
func digest(c wire.Claim) string {
	value, err := jcs.Canonical(c.Value)
	if err != nil {
		value = c.Value
	}
	sum := sha256.Sum256(append([]byte(string(c.Operator)+"\x00"), value...))
	return hex.EncodeToString(sum[:])
}

func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
