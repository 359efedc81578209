package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"time"

	"sayso/gidp/attestation"
	"sayso/gidp/interest"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// CredentialView are the attestations of an interest for one property that have not been shown, and end together.
type CredentialView struct {
	Property string    `json:"property"`
	Issuer   string    `json:"issuer"` // thumbprint
	Expires  time.Time `json:"expires"`
	Left     int       `json:"left"` // each is for one session
}

// CredentialRequest is what an issuer is given: [attestation.EncodeRequest].
type CredentialRequest struct {
	Interest string  `json:"interest"`
	Keys     int     `json:"keys"`
	Request  jcs.Raw `json:"request"`
}

// TrustView says that an issuer is believed about a property, or that a provider is inside the trust domain of one.
type TrustView struct {
	Property string    `json:"property"`
	Issuer   string    `json:"issuer,omitzero"`   // thumbprint
	Provider string    `json:"provider,omitzero"` // origin
	Added    time.Time `json:"added,omitzero"`    // of one that is believed
}

// credentialAudit is what the trail holds of attestations and of trust.
type credentialAudit struct {
	Interest string    `json:"interest,omitzero"`
	Property string    `json:"property"`
	Issuer   string    `json:"issuer,omitzero"`
	Provider string    `json:"provider,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
	Count    int       `json:"count,omitzero"`
}

// RequestCredentials makes a request for n attestations, 1 to [attestation.MaxBatch], for the sessions of an interest. The issuer that gets it learns that
// somebody it knows wants them, and nothing of the interest.
func (a *Agent) RequestCredentials(ctx context.Context, id string, n int) (CredentialRequest, error) {
	if n < 1 || n > attestation.MaxBatch {
		return CredentialRequest{}, refuse(app.KindInvalid, "bad_count", "a request is for 1 to 256 attestations", "")
	}
	lineage, err := a.lineageOf(ctx, id)
	if err != nil {
		return CredentialRequest{}, err
	}
	slots, err := a.Vault.CredentialSlots(lineage, n, a.Random)
	if err != nil {
		return CredentialRequest{}, outward(inside("make keys", err))
	}
	text, err := attestation.EncodeRequest(slots)
	if err != nil {
		return CredentialRequest{}, outward(inside("write a request", err))
	}
	return CredentialRequest{id, n, text}, nil
}

func (a *Agent) lineageOf(ctx context.Context, id string) (lineage string, err error) {
	err = a.Store.View(ctx, func(r durable.Reader) error {
		h, _, err := a.holding(ctx, r, id)
		if err == nil {
			lineage = h.Lineage()
		}
		return err
	})
	return lineage, outward(err)
}

// AddCredentials keeps the attestations of a batch ([attestation.IssueBatch]) for the sessions of an interest, all its versions. From then on its agent shows
// one in each session that it opens, so that whoever it turns to learns the property. Refused are batches for keys that the interest did not ask for, expired
// ones, and those that were added before.
func (a *Agent) AddCredentials(ctx context.Context, id string, batch []byte) (CredentialView, error) {
	lineage, err := a.lineageOf(ctx, id)
	if err != nil {
		return CredentialView{}, err
	}
	b, err := attestation.ReadBatch(batch, a.Now())
	if err != nil {
		return CredentialView{}, because(refuse(app.KindInvalid, "bad_batch", "this is no batch of attestations that can be used: "+err.Error(), "ask the issuer for another one"), err)
	}
	added, err := a.Vault.AddCredentials(lineage, b, a.Now())
	switch {
	case errors.Is(err, vault.ErrForeign):
		return CredentialView{}, because(refuse(app.KindRefused, "other_keys", vault.ErrForeign.Error(), "add it to the interest whose request it answers, in the data folder that made the request"), err)
	case errors.Is(err, vault.ErrSpent):
		return CredentialView{}, because(refuse(app.KindConflict, "added_before", vault.ErrSpent.Error(), "make a new request: sayso interest credentials request ID"), err)
	case errors.Is(err, vault.ErrFull):
		return CredentialView{}, because(refuse(app.KindRefused, "too_many", vault.ErrFull.Error(), "remove some first: sayso interest credentials remove ID PROPERTY"), err)
	case err != nil:
		return CredentialView{}, outward(inside("keep attestations", err))
	}
	v := CredentialView{b.Property, jwk.Thumbprint(b.Issuer), b.Expires, added}
	return v, a.noteCredential(ctx, lineage, "credentials_added", credentialAudit{Interest: id, Property: v.Property, Issuer: v.Issuer, Expires: v.Expires, Count: added})
}

func (a *Agent) noteCredential(ctx context.Context, lineage, kind string, record credentialAudit) error {
	return outward(a.Store.Update(ctx, func(w durable.Writer) error { return a.audit(ctx, w, lineage, kind, record) }))
}

// Credentials lists what an interest has to show.
func (a *Agent) Credentials(ctx context.Context, id string) ([]CredentialView, error) {
	lineage, err := a.lineageOf(ctx, id)
	if err != nil {
		return nil, err
	}
	groups, err := a.Vault.Credentials(lineage, a.Now())
	if err != nil {
		return nil, outward(inside("read attestations", err))
	}
	out := []CredentialView{}
	for _, g := range groups {
		out = append(out, CredentialView(g))
	}
	return out, nil
}

// RemoveCredentials drops what an interest has to show of a property, and returns how many that were. What was shown stays shown.
func (a *Agent) RemoveCredentials(ctx context.Context, id, property string) (int, error) {
	lineage, err := a.lineageOf(ctx, id)
	if err != nil {
		return 0, err
	}
	if err := attestation.CheckProperty(property); err != nil {
		return 0, badProperty(err)
	}
	n, err := a.Vault.RemoveCredentials(lineage, property, a.Now())
	if err != nil {
		return 0, outward(inside("remove attestations", err))
	}
	if n == 0 {
		return 0, refuse(app.KindNotFound, "no_credentials", "the interest has no attestation for this property", "list them: sayso interest credentials list ID")
	}
	return n, a.noteCredential(ctx, lineage, "credentials_removed", credentialAudit{Interest: id, Property: property, Count: n})
}

func badProperty(cause error) error {
	return because(refuse(app.KindInvalid, "bad_property", "this is no property that can be attested", "verified_agent, member:DOMAIN or attested:CLASS"), cause)
}

// Trust believes an issuer about a property, for every interest of the data folder. A policy entry for that property then fits the peers that show its attestation.
func (a *Agent) Trust(ctx context.Context, property string, issuer ed25519.PublicKey) (TrustView, error) {
	if err := attestation.CheckProperty(property); err != nil {
		return TrustView{}, badProperty(err)
	}
	if _, err := jwk.Accept(issuer); err != nil {
		return TrustView{}, because(refuse(app.KindInvalid, "bad_key", "this is no acceptable Ed25519 public key", "ask the issuer for its public key as a JWK"), err)
	}
	if v, ok, err := a.believes(property, jwk.Thumbprint(issuer)); ok || err != nil {
		return v, err
	}
	now := a.Now()
	switch err := a.Vault.Trust(property, issuer, now); {
	case errors.Is(err, vault.ErrFull):
		return TrustView{}, because(refuse(app.KindRefused, "too_many", vault.ErrFull.Error(), "remove one first: sayso interest trust remove PROPERTY ISSUER"), err)
	case err != nil:
		return TrustView{}, outward(inside("keep an issuer", err))
	}
	v := TrustView{Property: property, Issuer: jwk.Thumbprint(issuer), Added: now.UTC().Truncate(time.Second)}
	return v, a.noteTrust(ctx, "trusted", v)
}

// believes finds what is believed already: to say it again changes nothing, and the trail has it.
func (a *Agent) believes(property, name string) (TrustView, bool, error) {
	list, err := a.Trusted()
	i := slices.IndexFunc(list, func(v TrustView) bool { return v.Property == property && v.Issuer+v.Provider == name })
	if i < 0 {
		return TrustView{}, false, err
	}
	return list[i], true, nil
}

// TrustProvider takes a provider to be inside the trust domain of a property member:DOMAIN: what a policy keeps for that network appears in projections and
// queries there (P-14), and a membership is shown to it where the interest has one (P-2). It is the Principal's to know: what a provider says of itself counts
// for nothing.
func (a *Agent) TrustProvider(ctx context.Context, property, provider string) (TrustView, error) {
	if kind, _, _ := strings.Cut(property, ":"); kind != "member" || attestation.CheckProperty(property) != nil {
		return TrustView{}, refuse(app.KindInvalid, "bad_domain", "a provider is inside the domain of a membership, and of nothing else", "write member:DOMAIN")
	}
	at, err := originOf(provider)
	if err != nil {
		return TrustView{}, err
	}
	if v, ok, err := a.believes(property, at); ok || err != nil {
		return v, err
	}
	now := a.Now()
	switch err := a.Vault.TrustProvider(property, at, now); {
	case errors.Is(err, vault.ErrPlaced):
		return TrustView{}, because(refuse(app.KindConflict, "placed", vault.ErrPlaced.Error(), "remove that first: sayso interest trust remove PROPERTY URL"), err)
	case errors.Is(err, vault.ErrFull):
		return TrustView{}, because(refuse(app.KindRefused, "too_many", vault.ErrFull.Error(), "remove one first: sayso interest trust remove PROPERTY ISSUER"), err)
	case err != nil:
		return TrustView{}, outward(inside("keep a provider", err))
	}
	v := TrustView{Property: property, Provider: at, Added: now.UTC().Truncate(time.Second)}
	return v, a.noteTrust(ctx, "trusted", v)
}

// membership is what is shown to a provider inside a trust domain, under the key of one projection or one search; "" where there is nothing to show.
func (a *Agent) membership(h *vault.Holding, at string, key *jwk.PrivateKey) string {
	domain, ok := a.Vault.ProviderDomain(at)
	if !ok {
		return ""
	}
	c, ok, err := a.Vault.TakeCredential(h.Lineage(), "member:"+domain, a.Now())
	text := ""
	if err == nil && ok {
		text, err = attestation.Present(c.Attestation, c.Key, attestation.Binding{Provider: at, Key: jwk.Thumbprint(key.Public().Public)}, a.Now())
	}
	if err != nil {
		a.Log.Warn("gidp: a provider is asked without a membership", "cause", err)
	}
	return text
}

// Distrust ends the belief in an issuer, named by its thumbprint, about a property, or takes a provider, named by its origin, out of its domain. What sessions
// have established by an issuer counts no more, from the next step on; what is published stays until it is withdrawn.
func (a *Agent) Distrust(ctx context.Context, property, issuer string) (TrustView, error) {
	there, err := a.Vault.Distrust(property, issuer)
	switch {
	case err != nil:
		return TrustView{}, outward(inside("remove an issuer", err))
	case !there:
		return TrustView{}, refuse(app.KindNotFound, "not_trusted", "nobody of this name is believed about this property", "list who is: sayso interest trust list")
	}
	v := TrustView{Property: property, Issuer: issuer}
	if strings.Contains(issuer, "://") {
		v.Issuer, v.Provider = "", issuer
	}
	return v, a.noteTrust(ctx, "distrusted", v)
}

// noteTrust writes into the trail of every interest that is not over: a decision about any of them may rest on it.
func (a *Agent) noteTrust(ctx context.Context, kind string, v TrustView) error {
	return outward(a.Store.Update(ctx, func(w durable.Writer) error {
		rows, err := w.Interests(ctx)
		if err != nil {
			return inside("read interests", err)
		}
		var noted []string
		for _, row := range rows {
			over := row.State == string(interest.Expired) || row.State == string(interest.Revoked) || row.State == string(interest.Superseded)
			if over || slices.Contains(noted, row.Lineage) {
				continue
			}
			noted = append(noted, row.Lineage)
			if err := a.audit(ctx, w, row.Lineage, kind, credentialAudit{Property: v.Property, Issuer: v.Issuer, Provider: v.Provider}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Trusted lists who is believed about what.
func (a *Agent) Trusted() ([]TrustView, error) {
	list, err := a.Vault.TrustedIssuers()
	if err != nil {
		return nil, outward(inside("read issuers", err))
	}
	out := []TrustView{}
	for _, t := range list {
		v := TrustView{Property: t.Property, Provider: t.Provider, Added: t.Added}
		if t.Issuer != nil {
			v.Issuer = jwk.Thumbprint(t.Issuer)
		}
		out = append(out, v)
	}
	return out, nil
}

// believes reports whether some issuer is believed about a property.
func believes(list []TrustView, property string) bool {
	return slices.ContainsFunc(list, func(v TrustView) bool { return v.Property == property && v.Issuer != "" })
}
