package agent

import (
	"context"
	"fmt"
	"maps"
	"math"

	"sayso/gidp"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/vault"
)

// BudgetView is what may still be told of an audited attribute, in bits, by all counterparties together.
type BudgetView struct {
	Interest string  `json:"interest"`
	Key      string  `json:"key"`
	Quantity string  `json:"quantity"` // attributes of one quantity share the budget, over all versions
	Values   int     `json:"values"`   // of the domain
	Limit    float64 `json:"limit"`
	Spent    float64 `json:"spent"`
	Left     float64 `json:"left"`
	Frozen   bool    `json:"frozen,omitzero"` // after a restore: everything is declined until it is approved
	Added    float64 `json:"added,omitzero"`  // by this act: bits that can be told beyond what could be told before
	Note     string  `json:"note"`
}

// maxBits is the most that a limit may leave to be told: the bits of the largest domain.
const maxBits = 12

const budgetNote = "A question is answered when no answer to it could tell more than is left; the rest is declined. At 2 bits the first asker is served 46 to 100 % of questions, the second to " +
	"tenth 56 to 68 % when questions do not depend on the value and 19 to 29 % when they are near it. From refusals one counterparty learns what another asked."

func budgetView(h *vault.Holding, led gidp.Ledger, key string) BudgetView {
	at, _, _ := h.Row(key)
	row := led[at]
	v := BudgetView{Interest: h.ID(), Key: key, Quantity: at.Quantity, Limit: row.Limit, Spent: row.Spent(), Frozen: row.Frozen, Note: budgetNote}
	if row.Domain.Check() == nil {
		v.Values = row.Domain.Size()
	}
	v.Left = max(v.Limit-v.Spent, 0)
	return v
}

// budgetAudit is what the trail holds of a change of a budget (L-10).
type budgetAudit struct {
	Interest string  `json:"interest"`
	Key      string  `json:"key"`
	Was      float64 `json:"was"`
	Limit    float64 `json:"limit"`
	Spent    float64 `json:"spent"`
	Approved bool    `json:"approved,omitzero"`
}

// Budget shows the budget of an attribute and, as a Principal's act, changes it. bits below 0 leaves the limit. approve ends the freeze that a restore left: all that
// could be told before counts as told, and the limit grows by the budget of the interest unless bits says what it is. Every change is in the trail (L-7, L-10).
func (a *Agent) Budget(ctx context.Context, id, key string, bits float64, approve bool) (BudgetView, error) {
	var v BudgetView
	tooMany := refuse(app.KindInvalid, "bits", fmt.Sprintf("a limit is a number of bits, at most %d more than is spent", maxBits), "that many bits tell every value of the largest domain")
	if math.IsNaN(bits) || math.IsInf(bits, 0) {
		return v, tooMany
	}
	act := func(w durable.Reader) (gidp.LedgerKey, gidp.Ledger, *vault.Holding, error) {
		h, _, err := a.holding(ctx, w, id)
		if err != nil {
			return gidp.LedgerKey{}, nil, nil, err
		}
		at, _, ok := h.Row(key)
		if !ok {
			return at, nil, nil, refuse(app.KindNotFound, "no_budget", "the interest has no budget for this key", "budgets stand in the interest file under budgets; supersede the interest to add one")
		}
		led, err := a.ledger(ctx, w, h)
		return at, led, h, err
	}
	if bits < 0 && !approve {
		err := a.Store.View(ctx, func(r durable.Reader) error {
			_, led, h, err := act(r)
			if err == nil {
				v = budgetView(h, led, key)
			}
			return err
		})
		return v, outward(err)
	}
	err := a.Store.Update(ctx, func(w durable.Writer) error {
		at, led, h, err := act(w)
		if err != nil {
			return err
		}
		before := led[at]
		if before.Domain.Check() != nil {
			return refuse(app.KindRefused, "no_row", "nothing is kept about this budget", "supersede the interest, which opens it anew")
		}
		if before.Frozen && !approve {
			return refuse(app.KindRefused, "frozen", "the budget is frozen since a restore: how much was told after the backup is not known", "approve it: --approve, with --bits to say the new limit")
		}
		limit := bits
		if limit < 0 {
			_, own, _ := h.Row(key)
			limit = before.Limit
			if before.Frozen {
				limit = before.Spent() + min(own.Bits, maxBits)
			}
		}
		if limit > before.Spent()+maxBits {
			return tooMany
		}
		row := before.Approved(limit)
		after := maps.Clone(led)
		after[at] = row
		if err := a.saveLedger(ctx, w, led, after); err != nil {
			return err
		}
		v = budgetView(h, after, key)
		if had := leftOf(before); v.Left > had {
			v.Added = v.Left - had
		}
		return a.audit(ctx, w, h.Lineage(), "budget_change", budgetAudit{Interest: id, Key: key, Was: before.Limit, Limit: row.Limit, Spent: row.Spent(), Approved: approve})
	})
	return v, outward(err)
}

func leftOf(r gidp.Row) float64 {
	if r.Frozen {
		return 0
	}
	return max(r.Limit-r.Spent(), 0)
}

// openRows opens the ledger rows of an interest, or carries them over from the version before (L-1, L-6): a value that stayed under a budget keeps its row, another value or
// domain begins anew with what is left. A limit follows the new version down; up goes only Budget, as an act of its own.
func (a *Agent) openRows(ctx context.Context, w durable.Writer, h, old *vault.Holding) error {
	led, err := a.ledger(ctx, w, h)
	if err != nil {
		return err
	}
	after := maps.Clone(led)
	if after == nil {
		after = gidp.Ledger{}
	}
	opened := map[gidp.LedgerKey]bool{}
	for _, key := range h.Budgeted() {
		at, budget, _ := h.Row(key)
		row, had := after[at]
		if opened[at] { // a second attribute of one quantity shares the row of the first; the check wants one domain of both
			continue
		}
		opened[at] = true
		switch {
		case !had:
			if row, err = gidp.NewRow(budget.Domain, budget.Bits); err != nil {
				return refuse(app.KindInvalid, "budget", "the domain or the bits of a budget are not usable", "give min, max, a step, and bits")
			}
		default:
			if row.Domain != budget.Domain || old == nil || !charged(old, key) || !h.Same(old, key) {
				row = row.Changed()
				row, err = moved(row, budget.Domain)
				if err != nil {
					return refuse(app.KindInvalid, "budget", "the domain of a budget is not usable", "give min, max and a step")
				}
			}
			row.Limit = min(row.Limit, max(budget.Bits, 0))
		}
		after[at] = row
	}
	return a.saveLedger(ctx, w, led, after)
}

// charged reports whether a version had a budget for a key: the row of another one may be about an earlier value.
func charged(h *vault.Holding, key string) bool {
	_, _, had := h.Row(key)
	return had
}

// moved gives a changed row another domain; what was told stays told.
func moved(row gidp.Row, d gidp.Domain) (gidp.Row, error) {
	if row.Domain == d {
		return row, nil
	}
	fresh, err := gidp.NewRow(d, row.Limit)
	if err != nil {
		return row, err
	}
	fresh.Burned, fresh.Frozen, fresh.Epoch = row.Burned, row.Frozen, row.Epoch
	return fresh, nil
}
