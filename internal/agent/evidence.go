package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/attestation"
	"sayso/gidp/gidpa2a"
	"sayso/gidp/mandate"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/jws"
)

// Evidence of authority and signatures (gidp-a2a.md sec. 6). A mandate under a pairwise key shows that one party that holds the key delegated these levels to this
// session, and no more: it makes a peer neither verified nor a member of anything. It is shown to the Principal; what the policy sees is in evidence_property.go.

// peerForm is what a peer has evidenced.
type peerForm struct {
	Levels  []string          `json:"levels,omitempty"`
	Mandate string            `json:"mandate,omitzero"` // SHA-256 of the text without disclosures, hex
	Issuer  string            `json:"issuer,omitzero"`  // thumbprint
	Names   map[string]string `json:"names,omitempty"`

	Properties []propertyForm `json:"properties,omitempty"` // that were established, also those that count no more
	Uncounted  []string       `json:"uncounted,omitempty"`  // why other credentials count for nothing
}

func (p *peerForm) finding() string {
	if p.Mandate == "" {
		return string(mandate.Unevidenced)
	}
	return string(mandate.Evidenced)
}

func (p *peerForm) view(id string) PeerView {
	v := PeerView{ID: id, Levels: p.levels(allLevels()), Mandate: p.Mandate, Issuer: p.Issuer, Finding: p.finding()}
	for _, name := range slices.Sorted(maps.Keys(p.Names)) {
		v.Names = append(v.Names, Reveal{Key: name, Value: jcs.AppendString(nil, p.Names[name])})
	}
	return v
}

// levels marks each of a list of levels.
func (p *peerForm) levels(names []string) []LevelView {
	out := []LevelView{}
	for _, name := range names {
		out = append(out, LevelView{Level: name, Evidenced: slices.Contains(p.Levels, name)})
	}
	return out
}

func allLevels() []string {
	var out []string
	for l := gidp.Observe; l < gidp.Commit; l++ {
		out = append(out, l.String())
	}
	return out
}

// peerCredentials reads the credentials in the trust context of an open.
func (t *turn) peerCredentials(open *wire.SessionOpen) {
	var trust struct {
		Credentials []jcs.Raw `json:"credentials"`
	}
	if len(open.TrustContext) == 0 || jcs.Decode(open.TrustContext, &trust) != nil || len(trust.Credentials) > wire.MaxList {
		return
	}
	var list []string
	for _, raw := range trust.Credentials {
		if text, ok := jcs.Text(raw); ok { // other evidence is opaque to this version
			list = append(list, text)
		}
	}
	t.presentFor(open.SessionID, open.ExpiresAt, list)
}

// present takes credentials of the peer. What does not verify proves nothing and changes nothing.
func (t *turn) present(credentials []string) {
	t.presentFor(t.body.State.ID, time.Unix(t.body.State.EndsAt, 0), credentials)
}

func (t *turn) presentFor(sessionID string, ends time.Time, credentials []string) {
	if len(credentials) == 0 {
		return
	}
	pub, err := jwk.ParsePublic(t.body.PeerKey)
	if err != nil {
		return
	}
	for _, text := range credentials[:min(len(credentials), maxPresented)] {
		if attestation.Is(text) {
			t.attested(sessionID, jwk.Thumbprint(pub), text)
			continue
		}
		v, err := mandate.Verify(text, mandate.Expect{Audience: mandate.Audience(sessionID), SessionKey: jwk.Thumbprint(pub), Now: t.now, MaxExpires: ends})
		if err != nil {
			continue
		}
		digest := hex.EncodeToString(v.Mandate[:])
		if t.body.Peer.Mandate != "" && t.body.Peer.Mandate != digest {
			continue // the first one counts: a second delegation within a session would be another party
		}
		p := t.body.Peer
		p.Levels, p.Mandate, p.Issuer = nil, digest, v.KeyThumbprint
		for _, l := range v.Levels {
			p.Levels = append(p.Levels, l.String())
		}
		for name, value := range v.Names {
			if p.Names == nil {
				p.Names = map[string]string{}
			}
			p.Names[name] = value
		}
		t.body.Peer, t.dirty = p, true
	}
}

// shownReferences are the references of verification_required that the peer's mandate satisfies: "mandate", and "mandate:NAME" for a name it discloses.
func (p *peerForm) shownReferences() []string {
	if p.Mandate == "" {
		return nil
	}
	out := []string{"mandate"}
	for _, name := range slices.Sorted(maps.Keys(p.Names)) {
		out = append(out, "mandate:"+name)
	}
	return out
}

// receiveEvidence takes a message that is evidence alone: credentials for a condition, or a request for evidence (§16.2).
func (t *turn) receiveEvidence(ctx context.Context, raw jcs.Raw) error {
	if len(raw) == 0 || len(raw) > maxEvidence || jcs.Check(raw) != nil {
		return refusal(gidpa2a.Invalid, nil)
	}
	sum := sha256.Sum256(raw)
	seen, err := t.seen(ctx, "evidence:"+hex.EncodeToString(sum[:]), raw)
	if err != nil || seen {
		return err
	}
	if t.body.State.Phase == session.Closed {
		return refusal(gidpa2a.Closed, nil)
	}
	if over, err := t.overLimit(ctx, len(raw)); over || err != nil {
		return err
	}
	return t.takeEvidence(ctx, evidence(raw))
}

func (t *turn) takeEvidence(ctx context.Context, f besideForm) error {
	if t.body.Evidence == evidenceAsked && f.Levels != nil {
		t.body.Evidence, t.dirty = evidenceAnswered, true
	}
	if len(f.Request) > 0 {
		answer := t.levels(f.Request)
		if t.body.Repeated { // it would be stored and sent once more with each request
			answer.Credentials = nil
		}
		t.body.Repeated = true
		text, err := jcs.Encode(answer)
		if err != nil {
			return err
		}
		return t.append(ctx, sentBody{Evidence: text, Expires: t.body.State.EndsAt})
	}
	return t.credited(ctx, f.Credentials)
}

// credited takes credentials of the peer, and goes on with a request that waits for them (C-15).
func (t *turn) credited(ctx context.Context, credentials []string) error {
	t.present(credentials)
	if err := t.recordProofs(ctx); err != nil {
		return err
	}
	references := slices.DeleteFunc(t.shownReferences(), func(r string) bool { return slices.Contains(t.body.State.Shown, r) })
	if len(references) == 0 {
		return nil
	}
	return t.lenient(t.step(ctx, session.Show{References: references}))
}

// levels answers a request for evidence: which levels the mandate of this side evidences, the mandate with no more names than were disclosed, and what else was shown.
func (t *turn) levels(asked []string) besideForm {
	f := besideForm{Levels: map[string]string{}, Credentials: append(t.mandate(), t.shownTexts()...)}
	shown := t.mandateLevels()
	for _, name := range asked {
		l, ok := gidp.ParseLevel(name)
		if !ok {
			continue
		}
		f.Levels[name] = "unevidenced"
		if slices.Contains(shown, l) {
			f.Levels[name] = "evidenced"
		}
	}
	return f
}

// mandateLevels are the levels that the mandate of this side states, which may be that of an earlier version of the interest, as a reader of it finds them.
func (t *turn) mandateLevels() []gidp.Level {
	key, err := t.ownKey()
	if err != nil {
		return nil
	}
	v, err := mandate.Verify(t.body.Mandate, mandate.Expect{Audience: mandate.Audience(t.body.State.ID), SessionKey: key.Kid(), Now: t.now, MaxExpires: time.Unix(t.body.State.EndsAt, 0)})
	if err != nil {
		return nil
	}
	return v.Levels
}

// mandate is the mandate of this side with the names that were disclosed, as a list; nil when there is none.
func (t *turn) mandate() []string {
	m, err := mandate.Parse(t.body.Mandate)
	if err != nil {
		return nil
	}
	var names []string
	if t.holding.Authority().At(gidp.Introduce) != gidp.No && t.body.Began == "" { // it holds the names of the version that it was made for
		names = t.holding.MandateNames(t.body.Shown)
	}
	return []string{m.Present(names...)}
}

// credentials is the mandate, and the attestations that are shown, as evidence beside an object; nil when there is none.
func (t *turn) credentials() jcs.Raw {
	list := append(t.mandate(), t.shownTexts()...)
	if list == nil {
		return nil
	}
	text, err := jcs.Encode(besideForm{Credentials: list})
	if err != nil {
		return nil
	}
	return text
}

func publicJWK(key *jwk.PrivateKey) jcs.Raw { return jwk.EncodePublic(key.Public().Public) }

// The findings about a signature. They are apart from what the object says: a wrong signature changes no result.
const (
	signatureVerified     = "verified"
	signatureAbsent       = "absent"
	signatureWrong        = "wrong"
	signatureUnverifiable = "unverifiable" // the peer's key is not known
)

// verify looks at the signature of an object that outlives its session.
func (t *turn) verify(o wire.Object, data []byte, signature string) {
	t.finding = ""
	switch o := o.(type) {
	case *wire.Opportunity, *wire.Handoff:
	case *wire.ConsentResponse:
		if !o.Status.Terminal() {
			return
		}
	default:
		return
	}
	t.finding = findingOf(t.body.PeerKey, data, signature)
}

func findingOf(key jcs.Raw, data []byte, signature string) string {
	if signature == "" {
		return signatureAbsent
	}
	pub, err := jwk.ParsePublic(key)
	if err != nil {
		return signatureUnverifiable
	}
	canonical, err := jcs.Canonical(data)
	if err != nil || jws.VerifyDetached(signature, canonical, jwk.Thumbprint(pub), pub) != nil {
		return signatureWrong
	}
	return signatureVerified
}

// receipt notes in the trail what the peer asked for or said, where no emission of this side tells it.
func (t *turn) receipt(ctx context.Context, o wire.Object) error {
	r := sessionRecord{Session: t.row.ID, Type: o.Type(), Finding: t.finding}
	switch o := o.(type) {
	case *wire.DisclosureRequest:
		r.Ref, r.Key, r.Purpose, r.Keep = o.RequestID, o.Attribute, o.Purpose, string(o.Retention)
	case *wire.ConsentRequest:
		r.Ref, r.Action, r.Scope = o.RequestID, o.Action, o.Scope
	case *wire.DisclosureResponse:
		r.Ref, r.Key, r.Status = o.RequestRef, o.Attribute, string(o.Status)
	case *wire.ConsentResponse:
		r.Ref, r.Scope, r.Status = o.RequestRef, o.GrantedScope, string(o.Status)
	case *wire.SessionClose:
		r.Ref, r.Status = o.RequestRef, string(o.Reason)
	case *wire.Opportunity, *wire.Handoff:
	default:
		return nil
	}
	if t.finding != "" {
		t.body.Signed = append(t.body.Signed, SignatureView{Object: string(o.Type()), Finding: t.finding})
	}
	return t.a.audit(ctx, t.w, t.holding.Lineage(), auditReceived, r)
}
