package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/agent"
)

func init() {
	register("interest", newInterestExpand)
	register("interest", newInterestExpansions)
}

// multiPartyFlag switches the experiment on for one command.
func multiPartyFlag(c *cobra.Command) {
	c.Flags().Bool("experimental-multi-party", false, "experimental: let named dependencies be searched for")
}

const experimentLong = "This is an experiment and off by default: --experimental-multi-party, or experimental_multi_party in the settings, switches it on. Both this command and the server of the data folder need it."

func newInterestExpand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "expand OPPORTUNITY [DEPENDENCY] --provider URL",
		Short: "Experimental: look for somebody who provides what a lead depends on",
		Long: "Expand is your approval of one step: a lead depends on something that has a name, or you require something that it does not provide, and your agent looks for a third interest that provides it.\n\n" + experimentLong + "\n\n" +
			"The provider is asked what explore asks. Each candidate gets a session of its own and is first asked whether it provides DEPENDENCY; who does not say so is asked nothing else, and the session ends. The name is all that is " +
			"carried over, and only where your policy lets the other side of a session have the names of that list: conditional_on for what a lead depends on, requires for your own. What is undisclosed stays so, and is not " +
			"searched for. Nobody learns of the others: what they come to is a list that you alone see, sayso interest expansions.\n\n" +
			"At most three steps from the lead, eight members and 32 sessions. A dependency that comes back to one before it, or to what you provide yourself, is a circle: it is recorded, and people have to resolve it. No dependency " +
			"is ever satisfied by a session, and nobody has agreed to anything.\n\n" +
			"It returns when each candidate has answered or waits for a person, at the latest after 15 seconds. Exit 3 when there is no such lead, 4 when it is switched off, the lead names nothing, your policy keeps the name, or a " +
			"bound is reached, 5 when the provider could not be asked.",
		Example: "  sayso interest expand 7d0c5be1f6a24b83a9e0d4c1b2f3a657 --provider https://provider.example --experimental-multi-party\n" +
			"  sayso interest expand 7d0c5be1f6a24b83a9e0d4c1b2f3a657 institutional_lead --provider https://provider.example --experimental-multi-party",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.working(func(i *interests) error {
				provider, err := e.searchedAt(i, "expand")
				if err != nil {
					return err
				}
				v, search, err := i.Expand(e.ctx, args[0], agent.ExpandRequest{Dependency: strings.Join(args[1:], ""), Provider: provider})
				if err != nil {
					return err
				}
				if search, err = e.follow(i, search); err != nil {
					return err
				}
				if v, err = i.Expansion(e.ctx, v.ID); err != nil {
					return err
				}
				return e.answerExpansion(i, &v, &search)
			})
		},
	}
	c.Flags().String("provider", "", "provider of discovery to ask: its origin")
	multiPartyFlag(c)
	return c
}

func (e *env) answerExpansion(i *interests, v *agent.ExpansionView, search *agent.ExplorationView) error {
	if err := e.answer(v, func(w io.Writer) error { return e.writeExpansion(w, v, false) }); err != nil {
		return err
	}
	over := search.State == "done" || search.State == "failed"
	if search.Problem != "" {
		e.note("the search at %s went no further: %s", search.Provider, providerProblem(search.Problem))
	}
	switch {
	case over:
	case i.beside == nil:
		e.leftOver()
	default:
		e.note("the server goes on; ask again with %s", e.command("interest expansions"))
	}
	if search.State == "failed" || search.State == "searching" && search.Problem != "" {
		return answered(exitUnavailable)
	}
	return nil
}

// writeExpansion is the record of one expansion: what hangs on what, and each session.
func (e *env) writeExpansion(w io.Writer, v *agent.ExpansionView, several bool) error {
	p := &printer{w: w}
	p.line("%s", strings.TrimSpace(fmt.Sprintf("%s  experimental  %s  of %s  since %s  %s", v.ID, spaced(v.State), v.Interest, stamp(v.Started), whose(several, v.Principal))))
	p.line("  %d of 8 members, %d of 32 sessions, %d of 3 steps", v.Members, v.Sessions, v.Depth)
	var dependencies, edges table
	for _, d := range v.Dependencies {
		dependencies.add(d.Name, spaced(d.State), map[string]string{"requires": "required by you", "conditional_on": "a condition"}[d.List], "of "+d.Lead)
	}
	p.table(&dependencies, "  ")
	for _, s := range v.Edges {
		about, answer := "the lead", ""
		if s.Dependency != "" {
			about, answer = "asked for "+s.Dependency, "no answer"
		}
		if s.Answer != "" {
			answer = spaced(s.Answer)
		}
		edges.add(s.Session, spaced(strings.ToLower(s.State)), about, answer)
	}
	p.table(&edges, "  ")
	p.line("%s", indented(e.prose(v.Statement, 4), "  "))
	return p.err
}

func newInterestExpansions(e *env) *cobra.Command {
	var refs *[]string
	c := &cobra.Command{
		Use:   "expansions [--principal REF]",
		Short: "Experimental: list what leads depend on and who was asked for it",
		Long: "Expansions lists what has grown out of leads by sayso interest expand, the oldest first: each dependency with its state, and each session with its answer. It is a list that you alone see. " + experimentLong + "\n\n" +
			"A dependency is open when nobody is asked, searching, answered compatible, too deep, or a circle that is unresolved and that people have to look at. Exit 4 when it is switched off." + principalHelp,
		Example: "  sayso interest expansions --experimental-multi-party",
		RunE: func(*cobra.Command, []string) error {
			return e.withInterests(func(i *interests) error {
				list, err := i.Expansions(e.ctx, *refs...)
				if err != nil {
					return err
				}
				several, err := e.several(i, *refs)
				if err != nil {
					return err
				}
				return e.answer(struct {
					Expansions []agent.ExpansionView `json:"expansions"`
				}{noNull(list)}, func(w io.Writer) error {
					if len(list) == 0 {
						_, err := io.WriteString(w, "nothing was expanded so far\n")
						return err
					}
					for n := range list {
						if n > 0 {
							if _, err := io.WriteString(w, "\n"); err != nil {
								return err
							}
						}
						if err := e.writeExpansion(w, &list[n], several); err != nil {
							return err
						}
					}
					return nil
				})
			})
		},
	}
	multiPartyFlag(c)
	refs = principalFlag(c)
	return c
}
