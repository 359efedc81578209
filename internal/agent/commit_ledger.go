package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sayso/gidp"
	"sayso/internal/agent/durable"
	"sayso/internal/vault"
)

// ledgerRow is a row as it is sealed. The bits of the values that are still possible are hexadecimal words, since a JSON number does not hold 64 of them.
type ledgerRow struct {
	Quantity  string   `json:"quantity,omitzero"` // of a row that lies under a digest
	Min       int64    `json:"min"`
	Max       int64    `json:"max"`
	Step      int64    `json:"step"`
	Limit     float64  `json:"limit"`
	Burned    float64  `json:"burned"`
	Frozen    bool     `json:"frozen"`
	Epoch     int      `json:"epoch"`
	Remaining []string `json:"remaining"`
}

func ledgerPlace(k gidp.LedgerKey) string { return "ledger/" + k.Lineage + "/" + k.Quantity }

// under is where the row of a quantity lies: a digest under a key of the vault stands for its name, which tells what a Principal has a number of.
//
// Rows that were written before that lie under the name itself. They count until they are written under the digest, in the transaction that takes them away.
func (a *Agent) under(k gidp.LedgerKey) gidp.LedgerKey {
	return gidp.LedgerKey{Lineage: k.Lineage, Quantity: "q-" + truncated(a.Vault.MAC("quantity", k.Lineage, k.Quantity))}
}

var errLedgerRow = errors.New("a row of the ledger is not one: restore it from a backup")

// ledger reads the rows of the lineage of an interest. What has no row is declined (L-8); a row that does not open is an error, never a fresh one.
func (a *Agent) ledger(ctx context.Context, r durable.Reader, h *vault.Holding) (gidp.Ledger, error) {
	rows, err := r.Ledger(ctx, h.Lineage())
	if err != nil {
		return nil, err
	}
	out := make(gidp.Ledger, len(rows))
	for _, row := range rows {
		opened, known := a.opened.row(row.Key, row.Body)
		if !known {
			if opened, err = a.openRow(row); err != nil {
				return nil, err
			}
			a.opened.keepRow(row.Key, opened)
		}
		if other, twice := out[opened.key]; twice && other.Spent() >= opened.row.Spent() {
			continue // of two, which a copied row could make, the one that told more counts
		}
		out[opened.key] = opened.row
	}
	return out, nil
}

// openRow opens a row, which lies under a digest or under the name of its quantity.
func (a *Agent) openRow(row durable.LedgerRow) (openRow, error) {
	var f ledgerRow
	if err := a.unseal(ledgerPlace(row.Key), row.Body, &f); err != nil {
		return openRow{}, fmt.Errorf("a row of the ledger: %w", err)
	}
	out := openRow{sealed: row.Body, key: row.Key}
	if f.Quantity != "" {
		out.key.Quantity = f.Quantity
		if a.under(out.key) != row.Key {
			return openRow{}, errLedgerRow
		}
	}
	d := gidp.Domain{Min: f.Min, Max: f.Max, Step: f.Step}
	if err := d.Check(); err != nil || len(f.Remaining) != (d.Size()+63)/64 {
		return openRow{}, errLedgerRow
	}
	out.row = gidp.Row{Domain: d, Limit: f.Limit, Burned: f.Burned, Frozen: f.Frozen, Epoch: f.Epoch}
	for _, word := range f.Remaining {
		bits, err := strconv.ParseUint(word, 16, 64)
		if err != nil {
			return openRow{}, errLedgerRow
		}
		out.row.Remaining = append(out.row.Remaining, bits)
	}
	return out, nil
}

// saveLedger writes the rows that changed. It belongs into the transaction that read them (L-3).
func (a *Agent) saveLedger(ctx context.Context, w durable.Writer, before, after gidp.Ledger) error {
	for _, key := range slices.SortedFunc(maps.Keys(after), compareKeys) {
		row := after[key]
		if old, ok := before[key]; ok {
			if sameRow(old, row) {
				continue
			}
			if err := w.DeleteLedger(ctx, key); err != nil { // it may lie under its name
				return err
			}
		}
		f := ledgerRow{Quantity: key.Quantity, Min: row.Domain.Min, Max: row.Domain.Max, Step: row.Domain.Step, Limit: row.Limit, Burned: row.Burned, Frozen: row.Frozen, Epoch: row.Epoch}
		for _, bits := range row.Remaining {
			f.Remaining = append(f.Remaining, strconv.FormatUint(bits, 16))
		}
		at := a.under(key)
		body, err := a.seal(ledgerPlace(at), f)
		if err != nil {
			return err
		}
		if err := w.PutLedger(ctx, durable.LedgerRow{Key: at, Body: body}); err != nil {
			return err
		}
		a.opened.keepRow(at, openRow{sealed: body, key: key, row: row})
	}
	return nil
}

func compareKeys(a, b gidp.LedgerKey) int {
	return slices.Compare([]string{a.Lineage, a.Quantity}, []string{b.Lineage, b.Quantity})
}

func sameRow(a, b gidp.Row) bool {
	return a.Domain == b.Domain && a.Limit == b.Limit && a.Burned == b.Burned && a.Frozen == b.Frozen && a.Epoch == b.Epoch && slices.Equal(a.Remaining, b.Remaining)
}

// spent is how many bits each row has told, by quantity, for the audit trail.
func spent(before, after gidp.Ledger) map[string]float64 {
	var out map[string]float64
	for key, row := range after {
		if delta := row.Spent() - before[key].Spent(); delta > 0 {
			if out == nil {
				out = map[string]float64{}
			}
			out[key.Quantity] = delta
		}
	}
	return out
}
