package agent

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/gidp/wire"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

// Providers reaches discovery providers (§12). *providerhttp.Client is one. A provider is named by its origin.
type Providers interface {
	// Publish publishes under a key of its own; again under the same key answers again. latency is how long a withdrawal takes.
	Publish(ctx context.Context, at string, key *jwk.PrivateKey, p providerhttp.Publication) (projectionRef string, latency time.Duration, err error)
	// Update replaces what was published under the key.
	Update(ctx context.Context, at string, key *jwk.PrivateKey, projectionRef string, p providerhttp.Publication) (ref string, latency time.Duration, err error)
	// Withdraw returns from when on the projection is returned no more. It is idempotent.
	Withdraw(ctx context.Context, at string, key *jwk.PrivateKey, projectionRef string) (effectiveBy time.Time, err error)
	Candidates(ctx context.Context, at string, key *jwk.PrivateKey, q providerhttp.Query) (providerhttp.Page, error)
	Resolve(ctx context.Context, at string, key *jwk.PrivateKey, candidateRef string) (endpoint, projectionRef string, err error)
	Info(ctx context.Context, at string) (providerhttp.Info, error)
}

// originOf is the name of a provider: its origin, whatever else of its address was given.
func originOf(at string) (string, error) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return "", refuse(app.KindInvalid, "provider", "a provider is named by its origin", "write it like https://provider.example")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// ProjectionView is one projection as its Principal sees it.
type ProjectionView struct {
	Ref         string     `json:"ref"`
	Endpoint    string     `json:"endpoint"`
	Provider    string     `json:"provider,omitempty"` // "": given out by hand
	State       string     `json:"state"`              // prepared, publishing, published, withdrawing, withdrawn
	Expires     time.Time  `json:"expires"`
	EffectiveBy *time.Time `json:"effective_by,omitempty"` // from when on the provider returns it no more
	Problem     string     `json:"problem,omitempty"`      // why the provider does not take it, as a code; or why it is tried again
}

// projectionBody is the sealed part of a projection.
type projectionBody struct {
	Provider    string    `json:"provider,omitempty"`
	Endpoint    string    `json:"endpoint"`
	Object      jcs.Raw   `json:"object,omitempty"` // nil: nothing of the interest may appear, the reference is given out by hand
	Key         jcs.Raw   `json:"key,omitempty"`    // private JWK, fresh for this projection
	ProviderRef string    `json:"provider_ref,omitempty"`
	Published   time.Time `json:"published"` // for provider.NewLife: when it was made
	Attempted   bool      `json:"attempted,omitzero"`
	Again       bool      `json:"again,omitzero"` // a resumed interest publishes it anew
	EffectiveBy time.Time `json:"effective_by,omitzero"`
	Attempts    int       `json:"attempts,omitzero"`
	Problem     string    `json:"problem,omitempty"`
	Membership  string    `json:"membership,omitzero"` // shown to a provider inside a trust domain
	// Beside are the retrieval attributes, those included that the provider does not have.
	Beside map[string][]string `json:"beside,omitempty"`
}

func projectionPlace(ref string) string { return "projection/" + ref }

func (a *Agent) projectionBody(row durable.ProjectionRow) (b projectionBody, err error) {
	err = a.unseal(projectionPlace(row.Ref), row.Body, &b)
	return b, err
}

// putProjection keeps a projection. A withdrawn one is forgotten some time after its life would have ended, until when no other of the lineage takes that life ([Agent.newLife]);
// one whose place is kept for a resumption is not.
func (a *Agent) putProjection(ctx context.Context, w durable.Writer, row durable.ProjectionRow, b projectionBody) (err error) {
	switch over := row.State == durable.Withdrawn && !b.Again; {
	case !over:
		row.ForgetAt = time.Time{}
	case row.ForgetAt.IsZero():
		row.ForgetAt = later(row.ExpiresAt, a.Now().UTC()).Add(keepEnded)
	}
	if row.Body, err = a.seal(projectionPlace(row.Ref), b); err != nil {
		return err
	}
	return inside("keep projection", w.PutProjection(ctx, row))
}

func (a *Agent) projectionView(row durable.ProjectionRow) (ProjectionView, error) {
	b, err := a.projectionBody(row)
	v := ProjectionView{Ref: row.Ref, Endpoint: b.Endpoint, Provider: b.Provider, State: string(row.State), Expires: row.ExpiresAt, Problem: b.Problem}
	if !b.EffectiveBy.IsZero() {
		v.EffectiveBy = &b.EffectiveBy
	}
	return v, err
}

// live reports whether a reference is answered: sessions may be opened at it.
func live(row durable.ProjectionRow, now time.Time) bool {
	return (row.State == durable.Prepared || row.State == durable.Publishing || row.State == durable.Published) && now.Before(row.ExpiresAt)
}

// longestLife is that of a projection; the provider refuses more.
const longestLife = 90 * 24 * time.Hour

// prepare makes a projection of an interest: a reference, an endpoint, an identifier, a key and a life that no other projection has (P-3). At a provider something of the
// interest has to appear; without one the reference may stand alone.
func (a *Agent) prepare(ctx context.Context, w durable.Writer, h *vault.Holding, at string, approved bool, now time.Time) (durable.ProjectionRow, error) {
	if a.Origin == "" {
		return durable.ProjectionRow{}, refuse(app.KindRefused, "no_origin", "without an origin nobody could reach the endpoint of a projection", "say where the agent is served: --origin URL")
	}
	life, err := a.newLife(ctx, w, h, now)
	if err != nil {
		return durable.ProjectionRow{}, err
	}
	ref, err := a.draw(16)
	if err != nil {
		return durable.ProjectionRow{}, err
	}
	name, err := a.draw(16)
	if err != nil {
		return durable.ProjectionRow{}, err
	}
	b := projectionBody{Provider: at, Endpoint: a.Origin + "/a2a/" + ref, Published: now}
	domain, _ := a.Vault.ProviderDomain(at)
	object, err := h.Project(interest.Projection{ProjectionID: name, Endpoint: b.Endpoint, ExpiresAt: life.Expires, Domain: domain}, approved)
	switch {
	case err == nil:
		if b.Object, err = wire.Encode(object); err != nil {
			return durable.ProjectionRow{}, inside("write projection", err)
		}
	case at != "":
		return durable.ProjectionRow{}, err
	}
	row := durable.ProjectionRow{Ref: ref, Interest: h.ID(), State: durable.Prepared, ExpiresAt: life.Expires}
	due := life.Expires
	if at != "" {
		key, err := vault.NewKey(a.Random)
		if err != nil {
			return durable.ProjectionRow{}, inside("draw key", err)
		}
		b.Key, row.State, due = key.Export(), durable.Publishing, now
		b.Membership, b.Beside = a.membership(h, at, key), h.Retrieval(domain)
	}
	if err := a.putProjection(ctx, w, row, b); err != nil {
		return durable.ProjectionRow{}, err
	}
	if err := w.Schedule(ctx, durable.WorkProjection, ref, due); err != nil {
		return durable.ProjectionRow{}, inside("schedule", err)
	}
	return row, a.audit(ctx, w, h.Lineage(), "projection_prepared", projectionAudit{Interest: h.ID(), Ref: ref, Provider: at, Expires: life.Expires})
}

// projectionAudit is what the trail holds of a projection.
type projectionAudit struct {
	Interest    string    `json:"interest"`
	Ref         string    `json:"ref"`
	Provider    string    `json:"provider,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	EffectiveBy time.Time `json:"effective_by,omitzero"`
	Problem     string    `json:"problem,omitempty"`
}

// newLife chooses when a projection ends: unlike every other of the lineage where that is possible, and unlike those that still live in any case.
func (a *Agent) newLife(ctx context.Context, r durable.Reader, h *vault.Holding, now time.Time) (provider.Life, error) {
	rows, err := r.Projections(ctx, "")
	if err != nil {
		return provider.Life{}, inside("read projections", err)
	}
	versions, err := r.Interests(ctx)
	if err != nil {
		return provider.Life{}, inside("read interests", err)
	}
	lineage := map[string]bool{}
	for _, v := range versions {
		lineage[v.ID] = v.Lineage == h.Lineage()
	}
	var all, alive []provider.Life
	for _, row := range rows {
		if !lineage[row.Interest] {
			continue
		}
		b, err := a.projectionBody(row)
		if err != nil {
			return provider.Life{}, err
		}
		one := provider.Life{Published: b.Published, Expires: row.ExpiresAt}
		all = append(all, one)
		if live(row, now) {
			alive = append(alive, one)
		}
	}
	var raw [8]byte
	if _, err := io.ReadFull(a.Random, raw[:]); err != nil {
		return provider.Life{}, inside("draw", err)
	}
	longest := max(min(h.Expires().Sub(now), longestLife), 24*time.Hour)
	for _, others := range [][]provider.Life{all, alive} {
		if life, ok := provider.NewLife(now, longest, binary.BigEndian.Uint64(raw[:]), others); ok {
			return life, nil
		}
	}
	return provider.Life{}, refuse(app.KindRefused, "linked_life", "every day on which another projection could end would link it to one that is published",
		"supersede the interest by a version that is valid for longer, or withdraw a projection first")
}

// retire begins the withdrawal of every projection of an interest (§9.2). From this commit on their references answer like unknown ones. again keeps the places for a
// resumption.
func (a *Agent) retire(ctx context.Context, w durable.Writer, h *vault.Holding, again bool, now time.Time) error {
	rows, err := w.Projections(ctx, h.ID())
	if err != nil {
		return inside("read projections", err)
	}
	for _, row := range rows {
		b, err := a.projectionBody(row)
		if err != nil {
			return err
		}
		was := b.Again
		b.Again = again && (live(row, now) || b.Again)
		if !live(row, now) && was == b.Again {
			continue
		}
		if err := a.retireOne(ctx, w, h, row, b, now); err != nil {
			return err
		}
	}
	return nil
}

// retireOne begins the withdrawal of one projection. One that no provider was ever told of is withdrawn by that alone.
func (a *Agent) retireOne(ctx context.Context, w durable.Writer, h *vault.Holding, row durable.ProjectionRow, b projectionBody, now time.Time) error {
	due := time.Time{}
	switch row.State {
	case durable.Withdrawn, durable.Withdrawing:
		return a.putProjection(ctx, w, row, b)
	case durable.Publishing, durable.Published:
		if row.State == durable.Published || b.Attempted {
			row.State, due, b.Attempts, b.Problem = durable.Withdrawing, now, 0, ""
			break
		}
		fallthrough
	default:
		row.State = durable.Withdrawn
	}
	if err := a.putProjection(ctx, w, row, b); err != nil {
		return err
	}
	if err := w.Schedule(ctx, durable.WorkProjection, row.Ref, due); err != nil {
		return inside("schedule", err)
	}
	return a.audit(ctx, w, h.Lineage(), "projection_withdrawn", projectionAudit{Interest: h.ID(), Ref: row.Ref, Provider: b.Provider})
}

// renew makes a projection for each that stood when the interest was suspended, or that the version before had.
func (a *Agent) renew(ctx context.Context, w durable.Writer, from string, h *vault.Holding, now time.Time) error {
	rows, err := w.Projections(ctx, from)
	if err != nil {
		return inside("read projections", err)
	}
	for _, row := range rows {
		b, err := a.projectionBody(row)
		if err != nil {
			return err
		}
		if !b.Again {
			continue
		}
		b.Again = false
		if err := a.putProjection(ctx, w, row, b); err != nil {
			return err
		}
		if _, err := a.prepare(ctx, w, h, b.Provider, true, now); err != nil && !a.unpublishable(err) {
			return err
		}
	}
	return nil
}

// unpublishable reports that an interest, as it is, has no projection. That keeps nobody from resuming it.
func (a *Agent) unpublishable(err error) bool {
	var e *app.Error
	return errors.Is(err, interest.ErrNothing) || errors.Is(err, interest.ErrNotAllowed) || errors.As(err, &e)
}

// tendProjection publishes, withdraws, or ends a projection.
func (a *Agent) tendProjection(ctx context.Context, ref string) error {
	var row durable.ProjectionRow
	var b projectionBody
	err := a.Store.Update(ctx, func(w durable.Writer) (err error) {
		now := a.Now()
		row, err = w.Projection(ctx, ref)
		if errors.Is(err, durable.ErrNotFound) {
			return w.Schedule(ctx, durable.WorkProjection, ref, time.Time{})
		}
		if err != nil {
			return err
		}
		if b, err = a.projectionBody(row); err != nil {
			return err
		}
		switch {
		case row.State == durable.Withdrawn:
			return w.Schedule(ctx, durable.WorkProjection, ref, time.Time{})
		case !now.Before(row.ExpiresAt):
			return a.endProjection(ctx, w, &row, b, now)
		case row.State == durable.Prepared, row.State == durable.Published:
			return w.Schedule(ctx, durable.WorkProjection, ref, row.ExpiresAt)
		case a.Providers == nil:
			return w.Schedule(ctx, durable.WorkProjection, ref, now.Add(maxBackoff)) // another process has the network
		case row.State == durable.Publishing && !b.Attempted:
			// From here on the provider may have it, whatever becomes of the answer.
			b.Attempted = true
			return a.putProjection(ctx, w, row, b)
		}
		return nil
	})
	if err != nil || a.Providers == nil || row.State != durable.Publishing && row.State != durable.Withdrawing {
		return err
	}
	key, err := jwk.ParsePrivate(b.Key)
	if err != nil {
		return inside("read key", err)
	}
	ctx = providerhttp.WithMembership(ctx, b.Membership)
	if row.State == durable.Publishing {
		return a.publish(ctx, row, b, key)
	}
	return a.withdraw(ctx, row, b, key)
}

// endProjection is the end of a projection's own life. An interest that goes on gets another one in its place where that needs nobody's approval.
func (a *Agent) endProjection(ctx context.Context, w durable.Writer, row *durable.ProjectionRow, b projectionBody, now time.Time) error {
	h, of, err := a.holding(ctx, w, row.Interest)
	if err != nil {
		return err
	}
	stood := row.State != durable.Withdrawing
	row.State = durable.Withdrawn
	if err := a.putProjection(ctx, w, *row, b); err != nil {
		return err
	}
	if err := w.Schedule(ctx, durable.WorkProjection, row.Ref, time.Time{}); err != nil {
		return err
	}
	if err := a.audit(ctx, w, h.Lineage(), "projection_expired", projectionAudit{Interest: h.ID(), Ref: row.Ref, Provider: b.Provider}); err != nil {
		return err
	}
	if !stood || of.State != string(interest.Active) || !now.Before(h.Expires()) || h.Authority().At(gidp.PublishProjection) != gidp.Yes {
		return nil
	}
	if _, err := a.prepare(ctx, w, h, b.Provider, false, now); err != nil && !a.unpublishable(err) {
		return err
	}
	return nil
}

func publication(b projectionBody) (providerhttp.Publication, error) {
	o, err := wire.Decode(b.Object)
	if err != nil {
		return providerhttp.Publication{}, inside("read projection", err)
	}
	p, ok := o.(*wire.DiscoveryProjection)
	if !ok {
		return providerhttp.Publication{}, errors.New("read projection: another object")
	}
	return providerhttp.Publication{Projection: p}, nil
}

// publication is what is published, with the retrieval attributes that the provider has; it is asked which those are.
func (a *Agent) publication(ctx context.Context, b projectionBody) (providerhttp.Publication, error) {
	pub, err := publication(b)
	if err == nil {
		pub.Attributes, err = a.beside(ctx, b.Provider, b.Beside)
	}
	return pub, err
}

// beside leaves out the attributes that a provider does not find by: it would refuse the whole.
func (a *Agent) beside(ctx context.Context, at string, attributes map[string][]string) (map[string][]string, error) {
	if len(attributes) == 0 {
		return nil, nil
	}
	info, err := a.Providers.Info(ctx, at)
	if err != nil {
		return nil, err
	}
	var out map[string][]string
	for name, labels := range attributes {
		if slices.Contains(info.Dimensions, name) {
			if out == nil {
				out = map[string][]string{}
			}
			out[name] = labels
		}
	}
	return out, nil
}

func (a *Agent) publish(ctx context.Context, row durable.ProjectionRow, b projectionBody, key *jwk.PrivateKey) error {
	pub, err := a.publication(ctx, b)
	var given string
	if err == nil {
		given, _, err = a.Providers.Publish(ctx, b.Provider, key, pub)
	}
	return a.afterCall(ctx, row.Ref, err, func(w durable.Writer, h *vault.Holding, row durable.ProjectionRow, b projectionBody) error {
		b.ProviderRef, b.Attempts, b.Problem = given, 0, ""
		due := row.ExpiresAt
		if row.State == durable.Withdrawing { // meanwhile it had to go
			due = a.Now()
		} else {
			row.State = durable.Published
		}
		if err := a.putProjection(ctx, w, row, b); err != nil {
			return err
		}
		if err := w.Schedule(ctx, durable.WorkProjection, row.Ref, due); err != nil {
			return err
		}
		return a.audit(ctx, w, h.Lineage(), "projection_published", projectionAudit{Interest: h.ID(), Ref: row.Ref, Provider: b.Provider})
	})
}

func (a *Agent) withdraw(ctx context.Context, row durable.ProjectionRow, b projectionBody, key *jwk.PrivateKey) error {
	given := b.ProviderRef
	var by time.Time
	var err error
	if given == "" { // the answer to its publication was lost: it is asked for again, under the same key
		var pub providerhttp.Publication
		if pub, err = a.publication(ctx, b); err == nil {
			given, _, err = a.Providers.Publish(ctx, b.Provider, key, pub)
		}
		if permanent(err) && !forMembers(err) { // never taken, or gone
			given, err = "", nil
		}
	}
	if err == nil && given != "" {
		by, err = a.Providers.Withdraw(ctx, b.Provider, key, given)
		var r *providerhttp.Refusal
		if errors.As(err, &r) && r.Code == provider.CodeUnknown {
			err = nil // nothing is there any more
		}
	}
	return a.afterCall(ctx, row.Ref, err, func(w durable.Writer, h *vault.Holding, row durable.ProjectionRow, b projectionBody) error {
		row.State, b.ProviderRef, b.EffectiveBy, b.Attempts, b.Problem = durable.Withdrawn, given, by, 0, ""
		if err := a.putProjection(ctx, w, row, b); err != nil {
			return err
		}
		if err := w.Schedule(ctx, durable.WorkProjection, row.Ref, time.Time{}); err != nil {
			return err
		}
		return a.audit(ctx, w, h.Lineage(), "withdrawal_acknowledged", projectionAudit{Interest: h.ID(), Ref: row.Ref, Provider: b.Provider, EffectiveBy: by})
	})
}

// afterCall commits what came of a call to a provider: done on success, another try later, or the end of a publication that the provider does not take.
func (a *Agent) afterCall(ctx context.Context, ref string, failed error, done func(durable.Writer, *vault.Holding, durable.ProjectionRow, projectionBody) error) error {
	if failed != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return a.Store.Update(ctx, func(w durable.Writer) error {
		row, err := w.Projection(ctx, ref)
		if err != nil {
			return err
		}
		b, err := a.projectionBody(row)
		if err != nil {
			return err
		}
		h, _, err := a.holding(ctx, w, row.Interest)
		if err != nil {
			return err
		}
		if row.State == durable.Withdrawn {
			return w.Schedule(ctx, durable.WorkProjection, ref, time.Time{})
		}
		if failed == nil {
			return done(w, h, row, b)
		}
		b.Attempts++
		b.Problem = problem(failed)
		due := a.Now().Add(retryAfter(failed, b.Attempts))
		if row.State == durable.Publishing && permanent(failed) {
			row.State, due = durable.Withdrawn, time.Time{}
			if err := a.audit(ctx, w, h.Lineage(), "publication_refused", projectionAudit{Interest: h.ID(), Ref: ref, Provider: b.Provider, Problem: b.Problem}); err != nil {
				return err
			}
		}
		if err := a.putProjection(ctx, w, row, b); err != nil {
			return err
		}
		return w.Schedule(ctx, durable.WorkProjection, ref, due)
	})
}

// permanent reports that the same request cannot succeed later.
func permanent(err error) bool {
	var r *providerhttp.Refusal
	return errors.As(err, &r) && !r.Temporary()
}

// forMembers reports that a provider knows the caller for no member: that says nothing of what it took when the membership held.
func forMembers(err error) bool {
	var r *providerhttp.Refusal
	return errors.As(err, &r) && r.Code == providerhttp.CodeMembers
}

// problem is a code of a closed list: nothing that a provider wrote is repeated.
func problem(err error) string {
	var r *providerhttp.Refusal
	switch {
	case errors.As(err, &r):
		return string(r.Code)
	case errors.Is(err, providerhttp.ErrAnswer):
		return "no_provider_there"
	}
	return "not_reachable"
}

// retryAfter is when a call is tried again: as the provider says, or after a pause that grows.
func retryAfter(err error, attempts int) time.Duration {
	wait := backoff(attempts)
	var r *providerhttp.Refusal
	if errors.As(err, &r) && r.RetryAfter > wait {
		wait = min(r.RetryAfter, time.Hour)
	}
	return wait
}
