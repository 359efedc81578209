package cli

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/gidp/interest"
	"sayso/internal/agent"
)

func init() {
	register("interest", newInterestList)
	register("interest", newInterestShow)
}

func newInterestList(e *env) *cobra.Command {
	var refs *[]string
	c := &cobra.Command{
		Use:   "list [--principal REF]",
		Short: "List your interests",
		Long: "List prints every version of every interest of the data folder, the versions of one behind each other: id, state, version, what is wanted, profile and until when it is valid, and for whom where several " +
			"principals share the folder. It shows no private value.\n\n" + strings.TrimSpace(principalHelp),
		Example: "  sayso interest list\n  sayso interest list --principal board --json",
		RunE: func(*cobra.Command, []string) error {
			return e.withInterests(func(i *interests) error {
				list, err := i.Interests(e.ctx, *refs...)
				if err != nil {
					return err
				}
				several, err := e.several(i, *refs)
				if err != nil {
					return err
				}
				return e.answer(struct {
					Interests []agent.InterestView `json:"interests"`
				}{noNull(list)}, func(w io.Writer) error { return writeInterests(w, list, several, time.Now()) })
			})
		},
	}
	refs = principalFlag(c)
	return c
}

func writeInterests(w io.Writer, list []agent.InterestView, several bool, now time.Time) error {
	p := &printer{w: w}
	if len(list) == 0 {
		p.line("no interest; sayso interest new --profile PROFILE writes a form for one")
	}
	var t table
	for _, v := range list {
		state := stateWord(v.State)
		if v.Origin != string(interest.Stated) && !v.Confirmed {
			state += ", to be confirmed"
		}
		t.add(v.ID, state, versionWord(v.Version), wantsText(&v), v.Profile, validText(&v, now), whose(several, v.Principal))
	}
	p.table(&t, "")
	return p.err
}

func newInterestShow(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID|ENTRY",
		Short: "Show one interest, or one entry of the inbox, with its private values",
		Long: "Show prints one version of an interest as you stated it, private values included, its projections, its budgets, and what questions could tell of each attribute. " +
			"It is for your own eyes: the values stand in your terminal afterwards. With the id of an entry of the inbox it prints that, as sayso interest inbox ENTRY does. " +
			"Exit 3 when there is neither.",
		Example: "  sayso interest show i-6d0f8a1c33b94e20a7f1\n  sayso interest show 9f2c41d07be86a35 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInterests(func(i *interests) error {
				if entry, err := i.Entry(e.ctx, args[0]); err == nil {
					return e.answer(entry, func(w io.Writer) error { return e.writeEntry(w, &entry, time.Now()) })
				}
				d, err := i.Interest(e.ctx, args[0])
				if err != nil {
					return err
				}
				return e.answer(d, func(w io.Writer) error { return e.writeInterest(w, &d, time.Now()) })
			})
		},
	}
}
