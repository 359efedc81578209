package cli

import (
	"io"

	"github.com/spf13/cobra"

	"sayso/internal/app"
)

func init() { register("business", newBusinessAudit) }

func newBusinessAudit(e *env) *cobra.Command {
	var who acting
	var after int64
	var limit int
	c := &cobra.Command{
		Use:   "audit [SLUG]",
		Short: "Show who did what and when",
		Long: "Audit prints the acts on one business, or without SLUG those on the registry and on every business: number, time, who, what, on what, and the reason that was given. --json has the content " +
			"hashes before and after too. The trail is only ever added to. With a token of a business, which operator acted and why is left out.",
		Example: "  sayso business audit brightwater-opticians\n  sayso business audit --after 1200 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if limit < 1 {
				return usageError("--limit %d is not at least 1", limit)
			}
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				entries, err := e.auditEntries(r, as, args, after, limit)
				if err != nil {
					return err
				}
				return e.answerAudit(entries, len(args) == 0, limit)
			})
		},
	}
	c.Flags().Int64Var(&after, "after", 0, "only acts with a higher number")
	c.Flags().IntVar(&limit, "limit", 500, "at most so many")
	who.add(c.Flags())
	return c
}

func (e *env) auditEntries(r *app.Registry, as app.Actor, slug []string, after int64, limit int) ([]app.AuditEntry, error) {
	if len(slug) == 0 {
		return r.RegistryAudit(e.ctx, as, after, limit)
	}
	return r.Audit(e.ctx, as, slug[0], after, limit)
}

// answerAudit prints acts, each with its publisher when they are of several.
func (e *env) answerAudit(entries []app.AuditEntry, several bool, limit int) error {
	if err := e.answer(struct {
		Entries []app.AuditEntry `json:"entries"`
	}{noNull(entries)}, func(w io.Writer) error {
		var t table
		for _, a := range entries {
			target := []string{a.Target, a.Reason}
			if several {
				target = append([]string{a.Publisher}, target...)
			}
			t.add(append([]string{stamp(a.At), a.Actor, a.Action}, target...)...)
		}
		return t.write(w, "")
	}); err != nil {
		return err
	}
	if len(entries) == limit {
		e.note("there may be more: --after %d", entries[len(entries)-1].Sequence)
	}
	return nil
}
