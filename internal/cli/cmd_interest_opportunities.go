package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/gidp/session"
	"sayso/internal/agent"
)

func init() {
	register("interest", newInterestOpportunities)
	register("interest", newInterestRequest)
}

func newInterestOpportunities(e *env) *cobra.Command {
	var refs *[]string
	c := &cobra.Command{
		Use:   "opportunities [--principal REF]",
		Short: "List the leads that sessions have come to",
		Long: "Opportunities lists leads, the newest first: sessions in which every question that was asked got a qualifying answer. Nothing is known about what was not asked, and nothing has been agreed to. A lead that depends " +
			"on others is marked contingent, incomplete.\n\n" +
			"request goes on from a lead: it asks the other side to reveal who it is, for a value, for direct contact or for a handover." + principalHelp,
		Example: "  sayso interest opportunities\n  sayso interest opportunities --json",
		RunE: func(*cobra.Command, []string) error {
			return e.withInterests(func(i *interests) error {
				list, err := i.Leads(e.ctx, *refs...)
				if err != nil {
					return err
				}
				several, err := e.several(i, *refs)
				if err != nil {
					return err
				}
				return e.answer(struct {
					Opportunities []agent.Lead `json:"opportunities"`
				}{noNull(list)}, func(w io.Writer) error { return e.writeLeads(w, list, several) })
			})
		},
	}
	refs = principalFlag(c)
	return c
}

func (e *env) writeLeads(w io.Writer, list []agent.Lead, several bool) error {
	p := &printer{w: w}
	if len(list) == 0 {
		p.line("no lead so far")
	}
	for n, l := range list {
		if n > 0 {
			p.line("")
		}
		p.line("%s", strings.TrimSpace(fmt.Sprintf("%s  %s  of %s  since %s  %s", l.ID, spaced(strings.ToLower(l.State)), l.Interest, stamp(l.At), whose(several, l.Principal))))
		if l.Note != "" {
			p.line("  %s: depends on %s", l.Note, strings.Join(l.ContingentOn, ", "))
		}
		p.line("  %s", leadText(&l))
		p.line("%s", indented(e.prose(l.Statement, 4), "  "))
	}
	return p.err
}

// leadText counts what was asked, as far as it went.
func leadText(l *agent.Lead) string {
	text := fmt.Sprintf("%s asked about, %d compatible", plural(l.EvaluatedDimensions, "key"), l.CompatibleDimensions)
	if len(l.OpenConditions) > 0 {
		text += ", under conditions: " + strings.Join(l.OpenConditions, ", ")
	}
	return text
}

// leadRequests are what can be requested from a lead, as the command line names it.
var leadRequests = []string{agent.RequestIdentity, agent.RequestDisclosure, agent.RequestContact, agent.RequestHandoff, agent.RequestEvidence}

func newInterestRequest(e *env) *cobra.Command {
	var r agent.LeadRequest
	c := &cobra.Command{
		Use:   "request OPPORTUNITY reveal_identity|disclose|contact|handoff|evidence [--key KEY] [--target TARGET]",
		Short: "Ask the other side of a lead for more",
		Long: "Request asks the other side of a lead for one thing, on your order. Its agent or its principal answers, which may take days; one request is under way at a time, evidence beside it.\n\n" +
			"reveal_identity asks who it is: --key names an identifying key of the profile, by default the principal's identity. disclose asks for the value of one attribute, --key. contact asks whether people may talk " +
			"directly: --target names a channel of the profile, by default any. handoff asks whether the session may be handed over to --target, human:REF, workflow:REF or protocol:REF, and hands it over when the answer is " +
			"yes: the session ends there, and it binds nobody. evidence asks the other agent for the mandate behind each level of authority that it has not shown, so that you can look before you act; what it says without a " +
			"mandate counts for nothing.\n\n" +
			"A request tells the other side what you ask for and nothing of yours. What it answers is shown by sayso interest sessions. Exit 3 when there is no such lead, 4 when the session is over or an earlier request waits.",
		Example: "  sayso interest request 7d0c5be1f6a24b83a9e0d4c1b2f3a657 reveal_identity\n  sayso interest request 7d0c5be1f6a24b83a9e0d4c1b2f3a657 disclose --key market_access\n" +
			"  sayso interest request 7d0c5be1f6a24b83a9e0d4c1b2f3a657 evidence\n  sayso interest request 7d0c5be1f6a24b83a9e0d4c1b2f3a657 handoff --target human:case-17",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if r.Action = args[1]; !slices.Contains(leadRequests, r.Action) {
				return usageError("%q is nothing that can be requested", r.Action).withHint("%s", strings.Join(leadRequests, ", "))
			}
			return e.working(func(i *interests) error {
				v, err := i.Request(e.ctx, args[0], r)
				if err != nil {
					return err
				}
				return e.answerSession(i, v, "asked the other side of %s: %s", v.ID, requestText(&r))
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Key, "key", "", "attribute")
	flags.StringVar(&r.Target, "target", "", "of a handoff: human:REF, workflow:REF or protocol:REF; of contact: a channel")
	flags.StringVar(&r.Retention, "retention", "", "how long you will keep what is disclosed, which is then kept to: session_only, until_handoff or unrestricted")
	return c
}

func requestText(r *agent.LeadRequest) string {
	return strings.TrimSpace(strings.Join([]string{spaced(r.Action), r.Key, r.Target}, " "))
}

// answerSession answers an act on a session with what it is now; without a server beside, what the act has for the other side is brought to it first.
func (e *env) answerSession(i *interests, v agent.SessionView, format string, args ...any) error {
	reached, err := e.settle(i, "telling the other side", e.told(v.ID))
	if err != nil {
		return err
	}
	if err := e.answer(v, func(w io.Writer) error {
		p := &printer{w: w}
		p.line(format, args...)
		p.table(sessionTable([]agent.SessionView{v}, false, time.Now()), "  ")
		return p.err
	}); err != nil {
		return err
	}
	switch {
	case !reached:
		e.leftOver()
	case i.beside == nil && v.State != string(session.Closed):
		e.note("the answer is fetched while a server runs: %s", e.command("interest serve"))
	}
	return nil
}
