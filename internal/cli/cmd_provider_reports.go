package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/jwk"
)

func init() { register("provider", newProviderReports) }

// abuseReport is one report as the operator sees it. Keys are thumbprints; nobody's name stands behind them.
type abuseReport struct {
	At       string `json:"at"`
	Ref      string `json:"projection_ref"`
	Owner    string `json:"owner"`
	Reporter string `json:"reporter"`
	Reason   string `json:"reason"`
}

func newProviderReports(e *env) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:   "reports",
		Short: "List what was reported as abuse",
		Long: "Reports prints which projections of this provider were reported, newest first: when, which, for what reason, and by which key. One key counts once for each projection. Anybody can report anything: " +
			"look at several keys that say the same before you ban.",
		Example: "  sayso provider reports\n  sayso provider reports --limit 20 --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if limit < 1 {
				return usageError("--limit %d is not at least 1", limit)
			}
			return e.onProvider(func(rows providerhttp.Rows) error {
				list, err := rows.Reports(e.ctx, limit)
				if err != nil {
					return err
				}
				out := []abuseReport{}
				for _, r := range list {
					out = append(out, abuseReport{stamp(r.At), r.Ref.String(), thumbText(r.Owner), thumbText(r.Reporter), r.Reason})
				}
				return e.answer(struct {
					Reports []abuseReport `json:"reports"`
				}{out}, func(w io.Writer) error { return writeReports(w, out) })
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 200, "at most so many")
	return c
}

func thumbText(t provider.Thumbprint) string { return jwk.EncodeBase64URL(t[:]) }

func writeReports(w io.Writer, list []abuseReport) error {
	p := &printer{w: w}
	if len(list) == 0 {
		p.line("nothing was reported")
	}
	var t table
	for _, r := range list {
		t.add(r.At, r.Ref, r.Reason, "by "+r.Reporter)
	}
	p.table(&t, "")
	return p.err
}
