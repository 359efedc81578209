package agent

import (
	"context"
	"strings"
	"time"

	"sayso/gidp/interest"
	"sayso/internal/agent/durable"
	"sayso/internal/vault"
	"sayso/jcs"
)

// InterestView is one version of an interest in a list.
type InterestView struct {
	ID        string    `json:"id"`
	Principal string    `json:"principal_ref"` // as the document names it
	Lineage   string    `json:"lineage"`
	Version   int       `json:"version"`
	Profile   string    `json:"profile"`
	State     string    `json:"state"` // DRAFT, ACTIVE, SUSPENDED, EXPIRED, REVOKED, SUPERSEDED
	Action    string    `json:"action"`
	Object    string    `json:"object,omitempty"`
	Origin    string    `json:"origin"`             // stated or inferred
	Confirmed bool      `json:"confirmed,omitzero"` // of an inferred one
	NotBefore time.Time `json:"not_before,omitzero"`
	Expires   time.Time `json:"expires"`
	Changed   time.Time `json:"changed"`
}

// InterestDetail is everything about one version, for its Principal alone: Document holds its private values.
type InterestDetail struct {
	InterestView
	Outlook     Outlook          `json:"outlook"`
	Projections []ProjectionView `json:"projections"`
	Budgets     []BudgetView     `json:"budgets"`
	Document    jcs.Raw          `json:"document"`
}

// Activation is what an activation did, with the projections that are not withdrawn. State is "publishing" when no provider has acknowledged it yet, and "withdrawn" with a
// problem when this one was refused.
type Activation struct {
	Interest    InterestView     `json:"interest"`
	Projections []ProjectionView `json:"projections"`
	Warnings    []string         `json:"warnings"`
}

func interestView(row durable.InterestRow, h *vault.Holding) InterestView {
	wants, origin, confirmed := h.Stated()
	v := InterestView{ID: row.ID, Principal: h.Principal(), Lineage: row.Lineage, Version: row.Version, Profile: row.Profile, State: row.State, Action: wants.Action, Object: wants.Object,
		Origin: string(origin), NotBefore: h.NotBefore(), Expires: h.Expires(), Changed: row.ChangedAt}
	if origin == interest.Inferred {
		v.Confirmed = confirmed
	}
	return v
}

// Interests lists all versions of all interests, by lineage and version. With principals, here and in the other lists, only theirs are listed; one that has no interest is refused
// with KindNotFound.
func (a *Agent) Interests(ctx context.Context, principals ...string) ([]InterestView, error) {
	out := []InterestView{}
	err := a.Store.View(ctx, func(r durable.Reader) error {
		rows, err := r.Interests(ctx)
		if err != nil {
			return err
		}
		out = out[:0]
		chosen, err := a.interestsOf(ctx, r, principals)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !chosen.has(row.ID) {
				continue
			}
			h, err := a.open(row)
			if err != nil {
				return err
			}
			out = append(out, interestView(row, h))
		}
		return nil
	})
	return out, outward(err)
}

// Interest is one version with its document, for its Principal.
func (a *Agent) Interest(ctx context.Context, id string) (InterestDetail, error) {
	var out InterestDetail
	err := a.Store.View(ctx, func(r durable.Reader) error {
		h, row, err := a.holding(ctx, r, id)
		if err != nil {
			return err
		}
		out = InterestDetail{InterestView: interestView(row, h), Document: h.Text(), Projections: []ProjectionView{}, Budgets: []BudgetView{}}
		if out.Projections, err = a.projectionsOf(ctx, r, id); err != nil {
			return err
		}
		if out.Outlook, err = a.outlook(ctx, r, h.Document()); err != nil {
			return err
		}
		led, err := a.ledger(ctx, r, h)
		if err != nil {
			return err
		}
		for _, key := range h.Budgeted() {
			out.Budgets = append(out.Budgets, budgetView(h, led, key))
		}
		return nil
	})
	return out, outward(err)
}

func (a *Agent) projectionsOf(ctx context.Context, r durable.Reader, id string) ([]ProjectionView, error) {
	rows, err := r.Projections(ctx, id)
	if err != nil {
		return nil, err
	}
	out := []ProjectionView{}
	for _, row := range rows {
		v, err := a.projectionView(row)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Elsewhere counts by interest the projections that are live at another origin than this agent's: they were made before it was known, or while it was another one, and
// nobody who follows them comes here.
func (a *Agent) Elsewhere(ctx context.Context) (map[string]int, error) {
	var out map[string]int
	err := a.Store.View(ctx, func(r durable.Reader) error {
		out = map[string]int{}
		rows, err := r.Projections(ctx, "")
		if err != nil {
			return err
		}
		for _, row := range rows {
			if !live(row, a.Now()) {
				continue
			}
			b, err := a.projectionBody(row)
			if err != nil {
				return err
			}
			if !strings.HasPrefix(b.Endpoint, a.Origin+"/") {
				out[row.Interest]++
			}
		}
		return nil
	})
	return out, outward(err)
}
