package agent

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"time"

	"sayso/internal/agent/durable"
	"sayso/internal/vault"
	"sayso/jcs"
)

// The audit trail (§25.3; sec. 15): one chain for each lineage of interests, written in the transaction of what it tells. An entry is sealed at the place
// audit/LINEAGE/SEQUENCE. Its hash is a MAC under a key of the vault over the hash before it, the lineage, the sequence, the second, the kind and the sealed
// body, so that nobody without the data folder can test a guess of what an entry says, nor write one. The head is kept beside the trail: a missing end shows.
// Somebody who can write the database and sets trail and head back to an earlier pair of both is found by a copy of the head alone.

const trailPage = 500

func auditPlace(lineage string, sequence int64) string {
	return "audit/" + lineage + "/" + strconv.FormatInt(sequence, 10)
}

// audit appends one entry to the trail of a lineage. A body holds no value.
func (a *Agent) audit(ctx context.Context, w durable.Writer, lineage, kind string, body any) error {
	sequence, head, err := w.TrailHead(ctx, lineage)
	if err != nil {
		return err
	}
	row := durable.AuditRow{Lineage: lineage, Sequence: sequence + 1, At: a.Now().UTC().Truncate(time.Second), Kind: kind}
	if row.Body, err = a.seal(auditPlace(lineage, row.Sequence), body); err != nil {
		return err
	}
	row.Hash = chain(a.Vault, head, row)
	return w.AddAudit(ctx, row)
}

// chain is the hash of an entry behind the hash before it.
func chain(v *vault.Vault, before [32]byte, row durable.AuditRow) [32]byte {
	return v.MAC("audit", string(before[:]), row.Lineage, strconv.FormatInt(row.Sequence, 10), strconv.FormatInt(row.At.Unix(), 10), row.Kind, string(row.Body))
}

// salted is the keyed hash under which the trail names what a peer asked: it tells two questions apart, and nobody without the vault can test a guess.
func (a *Agent) salted(parts ...string) string {
	sum := a.Vault.MAC("asked", parts...)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Audit returns the trail of an interest's lineage in order, or of every lineage when interest is "". Emissions are derived again from what was recorded of
// their inputs (K3). A lineage is its principal's, with all of its versions.
func (a *Agent) Audit(ctx context.Context, interest string, principals ...string) ([]AuditView, error) {
	out := []AuditView{}
	err := a.Store.View(ctx, func(r durable.Reader) error {
		out = out[:0]
		lineages, err := lineagesOf(ctx, r, interest)
		if err != nil {
			return err
		}
		chosen, err := a.interestsOf(ctx, r, principals)
		if err != nil {
			return err
		}
		latest, err := latestOf(ctx, r)
		if err != nil {
			return err
		}
		for _, lineage := range lineages {
			if !chosen.has(latest[lineage].ID) {
				continue
			}
			principal := ""
			if h, err := a.open(latest[lineage]); err == nil { // a trail is there to be read when an interest is not
				principal = h.Principal()
			}
			err := eachAudit(ctx, r, lineage, func(row durable.AuditRow) error {
				view := AuditView{Principal: principal, Lineage: row.Lineage, Sequence: row.Sequence, At: row.At, Kind: row.Kind}
				if err := a.unseal(auditPlace(row.Lineage, row.Sequence), row.Body, &view.Body); err != nil {
					view.Body = nil // the verification says which entry cannot be read
				} else {
					view.Derived = derived(row.Kind, view.Body)
				}
				out = append(out, view)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, outward(err)
	}
	return out, nil
}

// lineagesOf lists the lineages of all interests, or that of one.
func lineagesOf(ctx context.Context, r durable.Reader, interest string) ([]string, error) {
	if interest != "" {
		row, err := r.Interest(ctx, interest)
		if err != nil {
			return nil, absent(err, unknownInterest())
		}
		return []string{row.Lineage}, nil
	}
	rows, err := r.Interests(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, row := range rows {
		out = append(out, row.Lineage)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// latestOf is the newest version of each lineage: a lineage whose first version named no principal is that of the one who was named later.
func latestOf(ctx context.Context, r durable.Reader) (map[string]durable.InterestRow, error) {
	rows, err := r.Interests(ctx) // by version
	out := map[string]durable.InterestRow{}
	for _, row := range rows {
		out[row.Lineage] = row
	}
	return out, err
}

// eachAudit visits the trail of a lineage in order, a page at a time.
func eachAudit(ctx context.Context, r durable.Reader, lineage string, visit func(durable.AuditRow) error) error {
	after := int64(0)
	for {
		rows, err := r.Trail(ctx, lineage, after, trailPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := visit(row); err != nil {
				return err
			}
			after = max(after, row.Sequence)
		}
		if len(rows) < trailPage {
			return nil
		}
	}
}

// VerifyAudit checks the chain of every lineage: each entry follows the one before it, opens at its place, and the head is the last one.
func (a *Agent) VerifyAudit(ctx context.Context) (AuditCheck, error) {
	var check AuditCheck
	err := a.Store.View(ctx, func(r durable.Reader) error {
		check = AuditCheck{OK: true, Problems: []AuditProblem{}}
		lineages, err := lineagesOf(ctx, r, "")
		if err != nil {
			return err
		}
		for _, lineage := range lineages {
			if err := a.verifyTrail(ctx, r, lineage, &check); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return AuditCheck{}, outward(err)
	}
	check.OK = len(check.Problems) == 0
	return check, nil
}

func (a *Agent) verifyTrail(ctx context.Context, r durable.Reader, lineage string, check *AuditCheck) error {
	check.Lineages++
	fault := func(sequence int64, problem string) {
		check.Problems = append(check.Problems, AuditProblem{Lineage: lineage, Sequence: sequence, Problem: problem})
	}
	headAt, headHash, err := r.TrailHead(ctx, lineage)
	if err != nil {
		return err
	}
	var last int64
	var before [32]byte
	broken := false // the entry before was not what the chain expects, so its own link says nothing about this one
	err = eachAudit(ctx, r, lineage, func(row durable.AuditRow) error {
		check.Entries++
		var body jcs.Raw
		opens := a.unseal(auditPlace(lineage, row.Sequence), row.Body, &body) == nil
		switch {
		case row.Sequence != last+1:
			fault(last+1, "entries are missing before number "+strconv.FormatInt(row.Sequence, 10))
		case !opens:
			fault(row.Sequence, "the entry does not open at its place: it was changed or moved")
		case !broken && chain(a.Vault, before, row) != row.Hash:
			fault(row.Sequence, "the entry does not follow the one before it: it was changed or replaced")
		}
		broken = row.Sequence != last+1 || !opens
		last, before = row.Sequence, row.Hash
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case headAt > last:
		fault(last+1, "the trail ends before the entry that its head names, number "+strconv.FormatInt(headAt, 10))
	case headAt < last || headHash != before:
		fault(cmp.Or(last, 1), "the head does not name the last entry")
	}
	return nil
}
