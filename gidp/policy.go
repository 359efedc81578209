package gidp

import (
	"fmt"
	"slices"
	"strings"
)

// Surface is the most exposed place where an attribute may appear (§10.1). A greater surface is more exposed; the zero value is the most protected.
type Surface uint8

// The five surfaces.
const (
	Local     Surface = iota // nowhere
	InSession                // to the peer of a session
	Network                  // inside a trust domain
	Discovery                // in a projection, to any provider
	Public                   // without authentication
)

var surfaceNames = [...]string{"local", "session", "network", "discovery", "public"}

// String is the protocol's name.
func (s Surface) String() string { return surfaceNames[s] }

// ParseSurface reads one of the five names.
func ParseSurface(s string) (Surface, bool) {
	i := slices.Index(surfaceNames[:], s)
	return Surface(max(i, 0)), i >= 0
}

// Gate is a condition that has to hold before an attribute is disclosed (§10.2).
type Gate uint8

// The three gates.
const (
	Ungated          Gate = iota
	NeedsConsent          // our consent has been granted in this session
	NeedsPrincipalOK      // the Principal decides each time
)

var gateNames = [...]string{"none", "consent", "principal_approval"}

// String is the protocol's name.
func (g Gate) String() string { return gateNames[g] }

// Class is a disclosure class (§10.3). The zero value is evaluation_only, which is what an attribute without an entry has.
type Class struct {
	Surface Surface
	Gate    Gate
	Never   bool // no result may be produced from it; Surface is Local
}

// The two local classes.
var (
	EvaluationOnly = Class{}
	Never          = Class{Never: true}
)

// ParseClass reads surface[/gate], evaluation_only or never. local is evaluation_only. A gate at a surface that needs none, public and local, is refused.
func ParseClass(s string) (Class, error) {
	switch s {
	case "evaluation_only":
		return EvaluationOnly, nil
	case "never":
		return Never, nil
	}
	name, gate, gated := strings.Cut(s, "/")
	surface, ok := ParseSurface(name)
	if !ok {
		return Class{}, fmt.Errorf("disclosure class %.40q: the surface is one of public, discovery, network, session, local", s)
	}
	c := Class{Surface: surface}
	if gated {
		i := slices.Index(gateNames[:], gate)
		switch {
		case i < 0:
			return Class{}, fmt.Errorf("disclosure class %.40q: the gate is one of none, consent, principal_approval", s)
		case i > 0 && (surface == Local || surface == Public):
			return Class{}, fmt.Errorf("disclosure class %.40q: %s has no gate", s, surface)
		}
		c.Gate = Gate(i)
	}
	return c, nil
}

// String writes a class as [ParseClass] reads it.
func (c Class) String() string {
	switch {
	case c.Never:
		return "never"
	case c.Surface == Local:
		return "evaluation_only"
	case c.Gate == Ungated:
		return c.Surface.String()
	}
	return c.Surface.String() + "/" + c.Gate.String()
}

// MoreProtective reports whether c gives away less than d: by its surface first, then by its gate.
func (c Class) MoreProtective(d Class) bool {
	switch {
	case c.Never != d.Never:
		return c.Never
	case c.Surface != d.Surface:
		return c.Surface < d.Surface
	}
	return c.Gate > d.Gate
}

// Disclosable reports whether any disclosure under the class is possible at all.
func (c Class) Disclosable() bool { return !c.Never && c.Surface != Local }

// Counterparty is what is known of a peer, each part by evidence (§20).
type Counterparty struct {
	Verified bool     // its agent is identified beyond the key of the session
	Member   []string // trust domains
	Attested []string // classes of attestations
}

// Matches reports whether the peer has a property: unknown_agent, verified_agent, member:DOMAIN, attested:CLASS, or "", which everybody has. Membership and
// attestation need a name.
func (p Counterparty) Matches(property string) bool {
	kind, name, named := strings.Cut(property, ":")
	switch {
	case property == "":
		return true
	case property == "unknown_agent":
		return !p.Verified
	case property == "verified_agent":
		return p.Verified
	case kind == "member" && named:
		return slices.Contains(p.Member, name)
	case kind == "attested" && named:
		return slices.Contains(p.Attested, name)
	}
	return false
}

// CheckProperty refuses what [Counterparty.Matches] could never match.
func CheckProperty(property string) error {
	kind, name, _ := strings.Cut(property, ":")
	if property == "" || property == "unknown_agent" || property == "verified_agent" || (kind == "member" || kind == "attested") && name != "" {
		return nil
	}
	return fmt.Errorf("counterparty property %.60q: it is unknown_agent, verified_agent, member:DOMAIN or attested:CLASS", property)
}

// Entry is the policy of one attribute: one class for everybody (the property ""), or a class for each property of a counterparty.
type Entry map[string]Class

// For returns the class towards a peer: the most protective that matches, evaluation_only when none does (§9.1).
func (e Entry) For(peer Counterparty) Class {
	var found Class
	matched := false
	for property, class := range e {
		if peer.Matches(property) && (!matched || class.MoreProtective(found)) {
			found, matched = class, true
		}
	}
	return found
}

// Level is a level of authority (§16.1), from the least to the most consequential.
type Level uint8

// The eight levels. Commit is never given.
const (
	Observe Level = iota
	Search
	PublishProjection
	Probe
	Disclose
	Introduce
	NegotiateNonbinding
	Commit
	levels
)

var levelNames = [levels]string{"OBSERVE", "SEARCH", "PUBLISH_PROJECTION", "PROBE", "DISCLOSE", "INTRODUCE", "NEGOTIATE_NONBINDING", "COMMIT"}

// String is the protocol's name.
func (l Level) String() string { return levelNames[l] }

// ParseLevel reads one of the eight names.
func ParseLevel(s string) (Level, bool) {
	i := slices.Index(levelNames[:], s)
	return Level(max(i, 0)), i >= 0
}

// Permission is what a level is set to. The zero value forbids.
type Permission uint8

// The three permissions.
const (
	No       Permission = iota
	Yes                 // the agent acts alone
	Approval            // the Principal decides each time
)

// Authority is the permission at each level. A level never follows from another (§16.2).
type Authority [levels]Permission

// At returns the permission at a level; commit is never permitted.
func (a Authority) At(l Level) Permission {
	if l >= Commit {
		return No
	}
	return a[l]
}

// Delegation is a preset of authority (§16.4): conservative, moderate or advanced.
func Delegation(preset string) (Authority, bool) {
	a := Authority{Observe: Yes, Search: Yes, PublishProjection: Yes, Probe: Yes, Disclose: Yes, Introduce: Approval}
	switch preset {
	case "moderate":
	case "conservative":
		a[PublishProjection], a[Disclose] = Approval, Approval
	case "advanced":
		a[NegotiateNonbinding] = Yes
	default:
		return Authority{}, false
	}
	return a, true
}
