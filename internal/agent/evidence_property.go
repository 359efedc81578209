package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/gidp"
	"sayso/gidp/attestation"
	"sayso/gidp/wire"
	"sayso/internal/app"
	"sayso/jcs"
	"sayso/jwk"
)

// What an issuer attests about an agent: verified_agent, member:DOMAIN, attested:CLASS (package attestation). What the peer shows counts when this folder
// believes its issuer about that property, for as long as it does and the attestation holds. What this side shows is used up by it.
//
// Reading of "who shows what when" (gidp-a2a.md sec. 6.2 says it of mandates): the initiator shows what was added for the interest with its open, because
// somebody has to begin. The responder shows a property to those who have shown the same one, so that a stranger that opens sessions neither learns a
// membership nor uses the attestations up. Either side shows a property that the other names in verification_required for a value that it was ordered to ask
// for (C-15).

const (
	maxPresented  = 8 // credentials that are looked at in one message
	maxProperties = 8 // of one peer in one session
	maxOwnShown   = maxPresented - 1
)

// propertyForm is a property of the peer that was established in a session.
type propertyForm struct {
	Property string `json:"property"`
	Issuer   string `json:"issuer"`
	Expires  int64  `json:"expires"`
	Holder   string `json:"holder,omitzero"` // thumbprint of the key that was attested, which is used for nothing else
}

// shownForm is an attestation that this side has shown in a session.
type shownForm struct {
	Property string `json:"property"`
	Text     string `json:"text"`
}

// Why a credential of the peer counts for nothing. The text of the peer is not repeated.
const (
	uncountedForm    = "not_readable"
	uncountedIssuer  = "issuer_not_believed"
	uncountedTime    = "expired"
	uncountedBinding = "not_of_this_session"
	uncountedOther   = "not_verified"
)

func uncounted(err error) string {
	var e *attestation.Error
	if !errors.As(err, &e) {
		return uncountedOther
	}
	switch e.Code {
	case attestation.CodeTime:
		return uncountedTime
	case attestation.CodeBinding:
		return uncountedBinding
	case attestation.CodeMalformed, attestation.CodeProperty:
		return uncountedForm
	}
	return uncountedOther
}

// attested looks at one attestation of the peer. What it does not establish is noted and changes nothing.
func (t *turn) attested(sessionID, peerKey, text string) {
	why := t.establish(sessionID, peerKey, text)
	if why != "" && !slices.Contains(t.body.Peer.Uncounted, why) {
		t.body.Peer.Uncounted, t.dirty = append(slices.Clone(t.body.Peer.Uncounted), why), true
	}
}

func (t *turn) establish(sessionID, peerKey, text string) (why string) {
	read, err := attestation.Read(text)
	if err != nil {
		return uncounted(err)
	}
	issuer, ok := t.a.Vault.TrustedKey(read.Property, read.Issuer)
	if !ok {
		return uncountedIssuer
	}
	to := attestation.Binding{Session: sessionID, Key: peerKey}
	if t.row.Initiator { // the peer's objects are not signed: what it shows has to name the key of this side
		own, err := t.ownKey()
		if err != nil {
			return uncountedOther
		}
		to.Peer = own.Kid()
	}
	c, err := attestation.Verify(text, issuer, to, t.now)
	if err != nil {
		return uncounted(err)
	}
	list := slices.DeleteFunc(slices.Clone(t.body.Peer.Properties), func(p propertyForm) bool { return p.Property == c.Property && !t.inForce(p) })
	if len(list) >= maxProperties || slices.ContainsFunc(list, func(p propertyForm) bool { return p.Property == c.Property }) {
		return ""
	}
	p := propertyForm{c.Property, read.Issuer, c.Expires.Unix(), jwk.Thumbprint(c.Confirm)}
	t.body.Peer.Properties, t.dirty = append(list, p), true
	t.proved = append(t.proved, p)
	return ""
}

// inForce reports whether a property still counts: the attestation has not ended, and its issuer is believed. The folder is asked once in a step.
func (t *turn) inForce(p propertyForm) bool {
	if t.now.Unix() >= p.Expires {
		return false
	}
	of := [2]string{p.Property, p.Issuer}
	believed, known := t.believed[of]
	if !known {
		_, believed = t.a.Vault.TrustedKey(p.Property, p.Issuer)
		if t.believed == nil {
			t.believed = map[[2]string]bool{}
		}
		t.believed[of] = believed
	}
	return believed
}

// established are the properties of the peer that count now.
func (t *turn) established() []propertyForm {
	var out []propertyForm
	for _, p := range t.body.Peer.Properties {
		if t.inForce(p) {
			out = append(out, p)
		}
	}
	return out
}

// counterparty is what the policy may know of the peer.
func (t *turn) counterparty() gidp.Counterparty {
	var c gidp.Counterparty
	for _, p := range t.established() {
		switch kind, name, _ := strings.Cut(p.Property, ":"); kind {
		case "verified_agent":
			c.Verified = true
		case "member":
			c.Member = append(c.Member, name)
		case "attested":
			c.Attested = append(c.Attested, name)
		}
	}
	return c
}

// lapse takes back what a condition of the policy holds for shown, when it counts no more.
func (t *turn) lapse() {
	gone := func(reference string) bool {
		at := slices.IndexFunc(t.body.Peer.Properties, func(p propertyForm) bool { return p.Property == reference })
		return at >= 0 && !t.inForce(t.body.Peer.Properties[at])
	}
	if !slices.ContainsFunc(t.body.State.Shown, gone) {
		return
	}
	t.body.State.Shown = slices.DeleteFunc(slices.Clone(t.body.State.Shown), gone)
	t.digest, t.dirty = "", true
}

// proof is what the trail holds of a property that was established.
type proof struct {
	Session  string    `json:"session"`
	Property string    `json:"property"`
	Issuer   string    `json:"issuer"`
	Expires  time.Time `json:"expires"`
}

const auditProperty = "peer_property"

// recordProofs writes what was established in this transaction into the trail.
func (t *turn) recordProofs(ctx context.Context) error {
	for _, p := range t.proved {
		if err := t.a.audit(ctx, t.w, t.holding.Lineage(), auditProperty, proof{t.row.ID, p.Property, p.Issuer, time.Unix(p.Expires, 0).UTC()}); err != nil {
			return err
		}
	}
	t.proved = nil
	return nil
}

// show takes an attestation of this side for a property, binds it to the session and keeps it among what was shown. False when there is none, or one was shown
// already. A session goes on without what cannot be had.
func (t *turn) show(property string) bool {
	if len(t.body.Attested) >= maxOwnShown || slices.ContainsFunc(t.body.Attested, func(s shownForm) bool { return s.Property == property }) {
		return false
	}
	text, err := t.presented(property)
	if err != nil {
		t.a.Log.Warn("gidp: a session goes without an attestation", "cause", err)
	}
	if err != nil || text == "" {
		return false
	}
	t.body.Attested, t.dirty = append(slices.Clone(t.body.Attested), shownForm{property, text}), true
	return true
}

func (t *turn) presented(property string) (string, error) {
	key, err := t.ownKey()
	if err != nil {
		return "", err
	}
	to := attestation.Binding{Session: t.body.State.ID, Key: key.Kid()}
	if t.row.Initiator {
		to.Session = t.row.ID // the state does not know it before the open
	} else {
		pub, err := jwk.ParsePublic(t.body.PeerKey)
		if err != nil {
			return "", err
		}
		to.Peer = jwk.Thumbprint(pub)
	}
	c, ok, err := t.a.Vault.TakeCredential(t.holding.Lineage(), property, t.now)
	if err != nil || !ok {
		return "", err
	}
	return attestation.Present(c.Attestation, c.Key, to, t.now)
}

// showAll shows one attestation for each property that the interest has any for.
func (t *turn) showAll() {
	groups, err := t.a.Vault.Credentials(t.holding.Lineage(), t.now)
	if err != nil {
		t.a.Log.Warn("gidp: a session goes without attestations", "cause", err)
	}
	for _, g := range groups {
		t.show(g.Property)
	}
}

// showBack shows what the peer has shown. An attestation that was shown in an earlier session too gets nothing: its holder could take one of this side's with each.
func (t *turn) showBack() {
	for _, p := range t.established() {
		if t.a.returned.first(p.Holder, t.row.ID) {
			t.show(p.Property)
		}
	}
}

// returned remembers to which session something was shown in return for an attestation of a peer. The zero value is ready. It begins anew with each process, and
// where it is full.
type returned struct {
	mu   sync.Mutex
	list map[string]string // guarded by mu; session by the thumbprint of the attested key
}

const maxReturned = 4096

// first reports whether an attestation was shown in no other session.
func (r *returned) first(holder, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.list[holder]; ok {
		return before == id
	}
	if r.list == nil || len(r.list) >= maxReturned {
		r.list = map[string]string{}
	}
	r.list[holder] = id
	return true
}

// shownTexts are the attestations that were shown, as they were.
func (t *turn) shownTexts() []string {
	var out []string
	for _, s := range t.body.Attested {
		out = append(out, s.Text)
	}
	return out
}

// satisfy shows what the peer wants to see before it discloses a value that this side asked for (C-15).
func (t *turn) satisfy(ctx context.Context, o wire.Object) error {
	response, ok := o.(*wire.DisclosureResponse)
	if !ok || response.Status != wire.GrantedIfVerified || t.body.State.Sent.ID != response.RequestRef || t.body.State.Sent.Provisional != wire.GrantedIfVerified {
		return nil
	}
	before := len(t.body.Attested)
	for _, reference := range response.VerificationRequired {
		if attestation.CheckProperty(reference) == nil {
			t.show(reference)
		}
	}
	if len(t.body.Attested) == before {
		return nil
	}
	text, err := jcs.Encode(besideForm{RequestRef: response.RequestRef, Credentials: t.shownTexts()[before:]})
	if err != nil {
		return err
	}
	return t.append(ctx, sentBody{Evidence: text, Expires: t.body.State.EndsAt})
}

// RequestEvidence asks the agent of the other side which levels it has, and for the mandate that shows them. Reading (gidp-a2a.md sec. 6.2): it is the
// Principal's order and not a step before a hand-over, because the answer is for a person to look at, repeats what was shown already where nothing was lost,
// and would tell the other side that an act is near.
const RequestEvidence = "evidence"

// The states of an own request for evidence.
const (
	evidenceAsked    = "asked"
	evidenceAnswered = "answered"
)

// askEvidence asks for the levels that no mandate has shown.
func (t *turn) askEvidence(ctx context.Context) error {
	if t.body.Evidence != "" {
		return refuse(app.KindConflict, "evidence_asked", "the other side was asked for evidence before", "look at what it has shown: sayso interest sessions")
	}
	missing := slices.DeleteFunc(allLevels(), func(level string) bool { return slices.Contains(t.body.Peer.Levels, level) })
	if len(missing) == 0 {
		return refuse(app.KindConflict, "evidence_shown", "the mandate of the other side shows every level already", "")
	}
	if err := t.a.audit(ctx, t.w, t.holding.Lineage(), auditRequest, sessionRecord{Session: t.row.ID, Kind: RequestEvidence, Scope: missing}); err != nil {
		return err
	}
	text, err := jcs.Encode(besideForm{Request: missing})
	if err != nil {
		return err
	}
	t.body.Evidence = evidenceAsked
	return t.append(ctx, sentBody{Evidence: text, Expires: t.body.State.EndsAt})
}

// PropertyView is a property of the peer that an issuer attests, whom the Principal believes about it, and nothing more.
type PropertyView struct {
	Property string    `json:"property"`
	Issuer   string    `json:"issuer"` // thumbprint
	Expires  time.Time `json:"expires"`
}

// peerView is what is known of the other side now.
func (t *turn) peerView() PeerView {
	v := t.body.Peer.view(t.body.State.Peer)
	v.Uncounted, v.Evidence = slices.Clone(t.body.Peer.Uncounted), t.body.Evidence
	for _, p := range t.body.Peer.Properties {
		why := uncountedIssuer
		if t.now.Unix() >= p.Expires {
			why = uncountedTime
		}
		switch {
		case t.inForce(p):
			v.Properties = append(v.Properties, PropertyView{p.Property, p.Issuer, time.Unix(p.Expires, 0).UTC()})
		case !slices.Contains(v.Uncounted, why):
			v.Uncounted = append(v.Uncounted, why)
		}
	}
	return v
}

// shownReferences are the references of verification_required that count as shown: of the mandate, and the properties that are established.
func (t *turn) shownReferences() []string {
	out := t.body.Peer.shownReferences()
	for _, p := range t.established() {
		out = append(out, p.Property)
	}
	return out
}
