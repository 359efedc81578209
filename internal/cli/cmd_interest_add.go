package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/internal/agent"
	"sayso/internal/agent/durable"
)

func init() {
	register("interest", newInterestAdd)
	register("interest", newInterestSupersede)
}

func newInterestAdd(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "add FILE",
		Short: "Take an interest in, as a draft",
		Long: "Add reads an interest file, checks it and keeps it sealed in the data folder as a draft under an id of its own. Nobody learns of it before activate.\n\n" +
			"The first interest makes the data folder. It is sealed with the passphrase in the file that SAYSO_PASSPHRASE_FILE names, or one typed here. Without either it is sealed with a secret that " +
			"lies beside it, which keeps it from being copied by accident and from nothing else; a registry in the same folder shares its seal. Once added, the file is no longer needed: " +
			"keep it where nobody else can read it, or delete it.\n\n" +
			"Exit 1 when the interest cannot be used as it is; sayso interest check says why.",
		Example: "  sayso interest add interest.yaml\n  SAYSO_PASSPHRASE_FILE=/run/secrets/sayso sayso interest add interest.yaml --data /var/lib/sayso",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := e.readInterest(args[0])
			if err != nil {
				return err
			}
			if err := e.usableInterest(doc, args[0]); err != nil {
				return err
			}
			i, err := e.openInterests(interestOptions{create: true})
			if err != nil {
				return err
			}
			defer i.close()
			made, err := i.Add(e.ctx, doc)
			if err != nil {
				return interestFailure(err)
			}
			return e.answerInterest(made, e.nextFor(&made), "added %s, a draft of %s", made.ID, made.Profile)
		},
	}
}

// usableInterest refuses a file before a data folder is made for it.
func (e *env) usableInterest(doc *interest.Interest, name string) error {
	outlook, err := agent.Check(profile.Shipped(), doc)
	if err != nil {
		return interestFailure(err)
	}
	for _, f := range outlook.Report.Findings {
		if f.Outcome == "fail" {
			failure := failedError("%s: %s: %s", inputName(name), f.Place, f.Message).withHint("%s", f.Next).withRun(e.command("interest check %s", shellWord(name)))
			failure.reason = f.Rule
			return failure
		}
	}
	return nil
}

func newInterestSupersede(e *env) *cobra.Command {
	var goOn bool
	c := &cobra.Command{
		Use:   "supersede ID FILE [--continue]",
		Short: "Replace an interest by a new version",
		Long: "Supersede puts a new version in the place of an interest: the same lineage, another id. Projections of the old version are withdrawn and its sessions are closed. When the old version was " +
			"active the new one is, with new projections at the same providers; else it is a draft. What was told of a value stays told: a budget is never refunded by a new version.\n\n" +
			"--continue lets open sessions of an active interest go on under the new version, for the same profile, action and object. What was asked keeps its answers; from now on the new policy, authority and values " +
			"decide, what waits in the inbox included. Your agent asks anew about what has changed, and a consent to a value that has changed is taken back. Whoever asks a second time in a session that goes on can see that a value " +
			"has passed the edge of a class, and that it is yours both times. Where that matters leave --continue out: the new endpoints cannot be linked to the old ones.\n\n" +
			"Exit 1 when the new version cannot be used as it is, 4 when the old one has ended, belongs to another principal, or cannot be continued by this one.",
		Example: "  sayso interest supersede i-6d0f8a1c33b94e20a7f1 interest.yaml\n  sayso interest supersede i-6d0f8a1c33b94e20a7f1 interest.yaml --continue",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := e.readInterest(args[1])
			if err != nil {
				return err
			}
			if err := e.usableInterest(doc, args[1]); err != nil {
				return err
			}
			return e.working(func(i *interests) error {
				made, told, err := e.supersede(i, args[0], doc, goOn)
				if err != nil {
					return err
				}
				reached, err := e.settle(i, "telling providers and counterparties", func(r durable.Reader) (bool, error) {
					if over, err := e.withdrawn(args[0])(r); err != nil || !over {
						return false, err
					}
					return e.withdrawn(made.ID)(r) // what sessions that go on ask anew
				})
				if err != nil {
					return err
				}
				if err := e.answerInterest(made, e.nextFor(&made), "%s takes the place of %s: version %d, %s", made.ID, args[0], made.Version, stateWord(made.State)); err != nil {
					return err
				}
				for _, line := range told {
					e.note("%s", line)
				}
				if !reached {
					e.leftOver()
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&goOn, "continue", false, "let open sessions go on under the new version")
	return c
}

// supersede returns the new version, and what is to be said of sessions that go on.
func (e *env) supersede(i *interests, id string, doc *interest.Interest, goOn bool) (agent.InterestView, []string, error) {
	if !goOn {
		made, err := i.Supersede(e.ctx, id, doc)
		return made, nil, err
	}
	c, err := i.Continue(e.ctx, id, doc)
	if err != nil {
		return agent.InterestView{}, nil, err
	}
	told := []string{plural(c.Sessions, "session") + " of before under it from now on"}
	if c.Sessions > 0 && len(c.Changed) > 0 {
		told = append(told, "other values than before: "+strings.Join(c.Changed, ", ")+"; whoever asks again can see on which side of a class's edge they lie now")
	}
	return c.Interest, told, nil
}

// answerInterest answers an act on an interest with what it is now; next is the command to go on with, "" for none.
func (e *env) answerInterest(v agent.InterestView, next, format string, args ...any) error {
	if err := e.answer(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, printable(fmt.Sprintf(format, args...)))
		return err
	}); err != nil {
		return err
	}
	if next != "" {
		e.note("next: %s", next)
	}
	return nil
}

// nextFor is what an interest waits for.
func (e *env) nextFor(v *agent.InterestView) string {
	switch {
	case v.State != string(interest.Draft):
		return ""
	case v.Origin != string(interest.Stated) && !v.Confirmed:
		return e.command("interest confirm %s", v.ID)
	}
	return e.command("interest activate %s", v.ID)
}
