package agent

import (
	"context"
	"strings"
	"testing"

	"sayso/internal/agent/durable"
	"sayso/jcs"
)

// altered shows a trail as somebody with the database could have changed it.
type altered struct {
	durable.Store
	rows func([]durable.AuditRow) []durable.AuditRow
	head func(int64, [32]byte) (int64, [32]byte)
}

func (s altered) View(ctx context.Context, f func(durable.Reader) error) error {
	return s.Store.View(ctx, func(r durable.Reader) error { return f(alteredReader{r, s}) })
}

type alteredReader struct {
	durable.Reader
	s altered
}

func (r alteredReader) Trail(ctx context.Context, lineage string, after int64, limit int) ([]durable.AuditRow, error) {
	if after > 0 {
		return nil, nil
	}
	rows, err := r.Reader.Trail(ctx, lineage, 0, limit)
	if r.s.rows != nil {
		rows = r.s.rows(rows)
	}
	return rows, err
}

func (r alteredReader) TrailHead(ctx context.Context, lineage string) (int64, [32]byte, error) {
	n, hash, err := r.Reader.TrailHead(ctx, lineage)
	if r.s.head != nil {
		n, hash = r.s.head(n, hash)
	}
	return n, hash, err
}

// A changed, removed, reordered, replaced or cut trail shows, and which entry it is.
func TestATrailThatWasChangedShows(t *testing.T) {
	w, _ := qualified(t)
	w.checkTrail()
	intact := w.seller.options.Store
	drop := func(n int) func([]durable.AuditRow) []durable.AuditRow {
		return func(rows []durable.AuditRow) []durable.AuditRow { return append(rows[:n:n], rows[n+1:]...) }
	}
	for name, c := range map[string]struct {
		at int64
		s  altered
	}{
		"kind":    {3, altered{rows: func(r []durable.AuditRow) []durable.AuditRow { r[2].Kind = "other"; return r }}},
		"time":    {3, altered{rows: func(r []durable.AuditRow) []durable.AuditRow { r[2].At = r[2].At.AddDate(0, 0, 1); return r }}},
		"hash":    {3, altered{rows: func(r []durable.AuditRow) []durable.AuditRow { r[2].Hash[0] ^= 1; return r }}},
		"body":    {3, altered{rows: func(r []durable.AuditRow) []durable.AuditRow { r[2].Body = append([]byte{}, r[1].Body...); return r }}},
		"removed": {3, altered{rows: drop(2)}},
		"first":   {1, altered{rows: drop(0)}},
		"reordered": {2, altered{rows: func(r []durable.AuditRow) []durable.AuditRow {
			r[1], r[2] = r[2], r[1]
			r[1].Sequence, r[2].Sequence = 2, 3
			return r
		}}},
		"cut":       {-1, altered{rows: func(r []durable.AuditRow) []durable.AuditRow { return r[:len(r)-1] }}},
		"emptied":   {1, altered{rows: func([]durable.AuditRow) []durable.AuditRow { return nil }}},
		"head":      {-1, altered{head: func(n int64, h [32]byte) (int64, [32]byte) { h[0] ^= 1; return n, h }}},
		"head back": {-1, altered{head: func(n int64, h [32]byte) (int64, [32]byte) { return n - 1, h }}},
	} {
		c.s.Store = intact
		w.seller.options.Store = c.s
		w.seller.restart()
		check, err := w.seller.agent.VerifyAudit(t.Context())
		if err != nil || check.OK || len(check.Problems) == 0 {
			t.Errorf("%s: %+v %v", name, check, err)
			continue
		}
		if p := check.Problems[0]; c.at > 0 && p.Sequence != c.at || p.Problem == "" {
			t.Errorf("%s: %+v", name, p)
		}
		if _, err := w.seller.agent.Audit(t.Context(), w.seller.interest); err != nil {
			t.Errorf("%s: a trail that cannot be trusted cannot be looked at: %v", name, err)
		}
	}
}

// The derivation is not blind: another status, row or input than the rows of sec. 6 give is seen.
func TestADerivationThatDoesNotHoldShows(t *testing.T) {
	base := `{"session":"s","number":2,"type":"DisclosureResponse","object":"","row":"D6","status":"granted","key":"k","version":1,"authority":"yyyyyann","state":"",` +
		`"inputs":{"qualified":true,"depth":"session","surface":"session","facts":[{"class":"session/consent","held":true,"consented":true}]}}`
	if got := derived(auditEmission, jcs.Raw(base)); got != "holds" {
		t.Fatal(got)
	}
	for from, to := range map[string]string{
		`"status":"granted"`: `"status":"declined"`, `"row":"D6"`: `"row":"D4"`, `"consented":true`: `"consented":false`, `"depth":"session"`: `"depth":"network"`, `"held":true`: `"held":false`,
		`"held":true,`: `"held":true,"identity":true,`, `session/consent`: `session/principal_approval`, `"consented":true}`: `"consented":true,"waits_for_peer":true}`, `"surface":"session"`: `"surface":"public"`,
		`yyyyyann`: `yyyynann`, `"class":"session/consent"`: `"class":"never"`, `}]}`: `}],"of":[1]}`, `}]`: `}],"of":[0,0]`,
	} {
		changed := strings.Replace(base, from, to, 1)
		if changed == base || derived(auditEmission, jcs.Raw(changed)) != "differs" {
			t.Errorf("%s to %s: %s", from, to, derived(auditEmission, jcs.Raw(changed)))
		}
	}
	for row, result := range map[string]string{"V1": "compatible", "V2": "unknown", "V4": "incompatible", "S-13": "compatible", "X": "declined"} {
		e := `{"session":"s","number":2,"type":"CompatibilityResponse","object":"","row":"S-11","version":1,"authority":"","state":"","claims":[{"key":"k","result":"` + result + `","row":"` + row + `"}]}`
		if derived(auditEmission, jcs.Raw(e)) != "differs" {
			t.Errorf("%s answers %s", row, result)
		}
	}
	if derived("other", jcs.Raw(base)) != "" {
		t.Error("no emission")
	}
}
