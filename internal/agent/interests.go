package agent

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
)

const (
	defaultPatience = 10 * time.Second // that Activate waits for a provider
	acknowledgePoll = 50 * time.Millisecond
)

// interestAudit is what the trail holds of an interest. Digest is of the sealed bytes, which say nothing and tell one version of a document from another.
type interestAudit struct {
	Interest string `json:"interest"`
	Version  int    `json:"version"`
	State    string `json:"state"`
	Was      string `json:"was,omitempty"`
}

// Add takes an interest in as a DRAFT of version 1, under an id and a lineage of its own. One that [Check] fails is refused with the first failure.
func (a *Agent) Add(ctx context.Context, doc *interest.Interest) (InterestView, error) {
	id, err := a.newID("i-")
	if err != nil {
		return InterestView{}, outward(err)
	}
	lineage, err := a.newID("l-")
	if err != nil {
		return InterestView{}, outward(err)
	}
	own := *doc
	own.ID, own.Lineage, own.Version, own.Confirmed = id, lineage, 1, false
	if err := a.usable(&own); err != nil {
		return InterestView{}, err
	}
	var v InterestView
	err = a.Store.Update(ctx, func(w durable.Writer) error {
		h, row, err := a.insert(ctx, w, &own, interest.Draft)
		if err != nil {
			return err
		}
		v = interestView(row, h)
		return a.openRows(ctx, w, h, nil)
	})
	a.kick()
	return v, outward(err)
}

// usable refuses a document with a failure.
func (a *Agent) usable(doc *interest.Interest) error {
	p, ok := a.Profiles.Profile(doc.Profile)
	if !ok {
		return refuse(app.KindInvalid, "unknown_profile", "the interest names a profile that this program does not have", "sayso interest new --help lists the profiles")
	}
	r := doc.Check(p.Rules())
	for _, f := range r.Findings {
		if f.Outcome == "fail" {
			return refuse(app.KindInvalid, "interest_invalid", fmt.Sprintf("%s: %s", f.Place, f.Message), f.Next)
		}
	}
	return nil
}

// insert seals a document and keeps it in a state; its validity ends by itself.
func (a *Agent) insert(ctx context.Context, w durable.Writer, doc *interest.Interest, state interest.State) (*vault.Holding, durable.InterestRow, error) {
	sealed, err := a.Vault.Hold(doc)
	if err != nil {
		return nil, durable.InterestRow{}, inside("seal interest", err)
	}
	row := durable.InterestRow{ID: doc.ID, Lineage: doc.Lineage, Version: doc.Version, Principal: a.principal(doc.PrincipalRef), Profile: doc.Profile, State: string(state),
		ChangedAt: a.Now().UTC(), Body: sealed}
	h, err := a.open(row)
	if err != nil {
		return nil, row, err
	}
	if err := w.PutInterest(ctx, row); err != nil {
		return nil, row, inside("keep interest", err)
	}
	if err := w.Schedule(ctx, durable.WorkInterest, row.ID, h.Expires()); err != nil {
		return nil, row, inside("schedule", err)
	}
	return h, row, a.audit(ctx, w, row.Lineage, "interest_version", interestAudit{Interest: row.ID, Version: row.Version, State: row.State})
}

// principal is the keyed digest by which principals are told apart in the clear.
func (a *Agent) principal(ref string) string {
	sum := a.Vault.MAC("principal", ref)
	return hex.EncodeToString(sum[:16])
}

// Confirm is the Principal's confirmation of an inferred interest (§9.4). It changes nothing else; a stated one needs none.
func (a *Agent) Confirm(ctx context.Context, id string) (InterestView, error) {
	var v InterestView
	err := a.Store.Update(ctx, func(w durable.Writer) error {
		h, row, err := a.holding(ctx, w, id)
		if err != nil {
			return err
		}
		v = interestView(row, h)
		_, origin, confirmed := h.Stated()
		switch {
		case origin != interest.Inferred || confirmed:
			return nil
		case row.State != string(interest.Draft):
			return interest.ErrNoTransition
		}
		doc := h.Document()
		doc.Confirmed = true
		if row.Body, err = a.Vault.Hold(doc); err != nil {
			return inside("seal interest", err)
		}
		row.ChangedAt = a.Now().UTC()
		if h, err = a.open(row); err != nil {
			return err
		}
		v = interestView(row, h)
		if err := w.PutInterest(ctx, row); err != nil {
			return err
		}
		return a.audit(ctx, w, row.Lineage, "confirmation", interestAudit{Interest: id, Version: row.Version, State: row.State})
	})
	return v, outward(err)
}

// Activate makes an interest ACTIVE, and gives it a projection: at a provider, or one to be given out by hand when provider is "". An interest that is ACTIVE already gets
// a further projection; one at the same place is not made twice. The Principal who activates approves the projection. With a provider it waits up to 10 s for the
// acknowledgement; a projection that is "publishing" after that is still being published.
func (a *Agent) Activate(ctx context.Context, id, provider string) (Activation, error) {
	out := Activation{Projections: []ProjectionView{}, Warnings: []string{}}
	if provider != "" {
		var err error
		if provider, err = originOf(provider); err != nil {
			return Activation{}, err
		}
	}
	ref := ""
	err := a.Store.Update(ctx, func(w durable.Writer) error {
		out.Warnings, ref = out.Warnings[:0], ""
		h, row, err := a.holding(ctx, w, id)
		if err != nil {
			return err
		}
		now := a.Now()
		if row.State != string(interest.Active) {
			if row.State == string(interest.Suspended) {
				return refuse(app.KindRefused, "suspended", "the interest is suspended", "resume it: sayso interest resume "+id)
			}
			if err := a.usable(h.Document()); err != nil {
				return err
			}
			if row, err = a.move(ctx, w, h, row, interest.Activate, now); err != nil {
				return err
			}
		}
		out.Interest = interestView(row, h)
		at, err := a.placed(ctx, w, h, provider, now)
		if err != nil {
			return err
		}
		switch {
		case at != "":
			ref = at
		case a.Origin == "" && provider == "":
			out.Warnings = append(out.Warnings, "No origin is set, so there is no endpoint that anybody could reach. The interest can look for others, and cannot be found.")
		default:
			made, err := a.prepare(ctx, w, h, provider, true, now)
			if err != nil {
				return err
			}
			ref = made.Ref
		}
		more, err := a.warnings(ctx, w, h, provider)
		out.Warnings = append(out.Warnings, more...)
		return err
	})
	if err != nil {
		return Activation{}, outward(err)
	}
	a.kick()
	if provider != "" {
		if err := a.acknowledged(ctx, ref); err != nil {
			return Activation{}, outward(err)
		}
	}
	err = a.Store.View(ctx, func(r durable.Reader) (err error) {
		out.Projections, err = a.projectionsOf(ctx, r, id)
		return err
	})
	out.Projections = slices.DeleteFunc(out.Projections, func(p ProjectionView) bool { return p.State == string(durable.Withdrawn) && p.Ref != ref })
	return out, outward(err)
}

// placed finds a live projection of an interest at a provider.
func (a *Agent) placed(ctx context.Context, r durable.Reader, h *vault.Holding, provider string, now time.Time) (string, error) {
	rows, err := r.Projections(ctx, h.ID())
	if err != nil {
		return "", inside("read projections", err)
	}
	for _, row := range rows {
		if !live(row, now) {
			continue
		}
		b, err := a.projectionBody(row)
		if err != nil {
			return "", err
		}
		if b.Provider == provider {
			return row.Ref, nil
		}
	}
	return "", nil
}

// warnings are what a Principal should know before others find the interest.
func (a *Agent) warnings(ctx context.Context, r durable.Reader, h *vault.Holding, provider string) ([]string, error) {
	var out []string
	if a.Origin != "" {
		alone, err := a.alone(ctx, r)
		if err != nil {
			return nil, err
		}
		if alone {
			out = append(out, aloneWarning)
		}
	}
	_, err := h.Project(interest.Projection{ProjectionID: "p", Endpoint: "https://example.invalid/", ExpiresAt: h.Expires()}, true)
	switch {
	case err == nil && provider == "" && a.Origin != "":
		out = append(out, "No provider knows the projection. Give its endpoint to somebody, or publish it: --provider URL.")
	case errors.Is(err, interest.ErrNothing), errors.Is(err, interest.ErrNotAllowed):
		out = append(out, "The interest has no projection, so no provider can return it: "+err.Error()+".")
	}
	return out, nil
}

// aloneWarning stands for section 7 of the threat model.
const aloneWarning = "This origin serves one principal only: its host name identifies the principal and links all of its projections. Share an origin with others to be one of several."

// alone reports whether all interests that count belong to one principal.
func (a *Agent) alone(ctx context.Context, r durable.Reader) (bool, error) {
	rows, err := r.Interests(ctx)
	if err != nil {
		return false, inside("read interests", err)
	}
	principals := map[string]bool{}
	for _, row := range rows {
		if row.State == string(interest.Active) {
			principals[row.Principal] = true
		}
	}
	return len(principals) < 2, nil
}

// acknowledged waits until a projection is no longer being published, or the time for that is over.
func (a *Agent) acknowledged(ctx context.Context, ref string) error {
	end := time.NewTimer(a.patience)
	defer end.Stop()
	poll := time.NewTicker(acknowledgePoll)
	defer poll.Stop()
	for {
		var row durable.ProjectionRow
		err := a.Store.View(ctx, func(r durable.Reader) (err error) {
			row, err = r.Projection(ctx, ref)
			return err
		})
		if err != nil || row.State != durable.Publishing {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return nil
		case <-poll.C:
		}
	}
}

// Suspend withdraws the projections of an interest and closes its sessions; Resume makes new ones.
func (a *Agent) Suspend(ctx context.Context, id string) (InterestView, error) {
	return a.change(ctx, id, interest.Suspend)
}

// Resume makes a suspended interest ACTIVE again, with new projections where it had some.
func (a *Agent) Resume(ctx context.Context, id string) (InterestView, error) {
	return a.change(ctx, id, interest.Resume)
}

// Revoke ends an interest for good.
func (a *Agent) Revoke(ctx context.Context, id string) (InterestView, error) {
	return a.change(ctx, id, interest.Revoke)
}

func (a *Agent) change(ctx context.Context, id string, c interest.Change) (InterestView, error) {
	var v InterestView
	err := a.Store.Update(ctx, func(w durable.Writer) error {
		h, row, err := a.holding(ctx, w, id)
		if err != nil {
			return err
		}
		row, err = a.move(ctx, w, h, row, c, a.Now())
		v = interestView(row, h)
		return err
	})
	a.kick()
	return v, outward(err)
}

// move makes a transition with its duties in their order (§17.1): projections first, then sessions, which settles the inbox.
func (a *Agent) move(ctx context.Context, w durable.Writer, h *vault.Holding, row durable.InterestRow, c interest.Change, now time.Time) (durable.InterestRow, error) {
	state, duties, err := h.Next(interest.State(row.State), c, now)
	if err != nil {
		return row, err
	}
	was := row.State
	row.State, row.ChangedAt = string(state), now.UTC()
	if err := w.PutInterest(ctx, row); err != nil {
		return row, inside("keep interest", err)
	}
	kind := "interest_state"
	if state == interest.Revoked {
		kind = "revocation"
	}
	if err := a.audit(ctx, w, row.Lineage, kind, interestAudit{Interest: row.ID, Version: row.Version, State: row.State, Was: was}); err != nil {
		return row, err
	}
	for _, duty := range duties {
		switch duty {
		case interest.WithdrawProjections:
			err = a.retire(ctx, w, h, c == interest.Suspend || c == interest.Supersede || c == interest.Continue, now)
		case interest.CloseSessions:
			err = a.leaveSessions(ctx, w, row.ID) // with the terminal answers and the inbox: DiscardInbox
		case interest.PublishAnew:
			err = a.renew(ctx, w, row.ID, h, now)
		}
		if err != nil {
			return row, err
		}
	}
	if state == interest.Expired || state == interest.Revoked || state == interest.Superseded {
		if was == string(interest.Suspended) { // nothing is resumed any more
			if err := a.retire(ctx, w, h, false, now); err != nil {
				return row, err
			}
		}
		return row, inside("schedule", w.Schedule(ctx, durable.WorkInterest, row.ID, time.Time{}))
	}
	return row, nil
}

// tendInterest ends an interest whose validity is over (§17.1).
func (a *Agent) tendInterest(ctx context.Context, id string) error {
	return a.Store.Update(ctx, func(w durable.Writer) error {
		h, row, err := a.holding(ctx, w, id)
		var e *app.Error
		if errors.As(err, &e) && e.Kind == app.KindNotFound {
			return w.Schedule(ctx, durable.WorkInterest, id, time.Time{})
		}
		if err != nil {
			return err
		}
		now := a.Now()
		if now.Before(h.Expires()) {
			return w.Schedule(ctx, durable.WorkInterest, id, h.Expires())
		}
		_, err = a.move(ctx, w, h, row, interest.Expire, now)
		if errors.Is(err, interest.ErrNoTransition) {
			return w.Schedule(ctx, durable.WorkInterest, id, time.Time{})
		}
		return err
	})
}

// permitted reports whether a level lets a Principal's own act go on: what is asked of the Principal is answered by the act.
func permitted(h *vault.Holding, level gidp.Level) bool { return h.Authority().At(level) != gidp.No }
