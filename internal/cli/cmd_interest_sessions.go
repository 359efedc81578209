package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/gidp/session"
	"sayso/internal/agent"
	"sayso/internal/web"
)

func init() {
	register("interest", newInterestSessions)
	register("interest", newInterestClose)
}

func newInterestSessions(e *env) *cobra.Command {
	var refs *[]string
	c := &cobra.Command{
		Use:   "sessions [ID] [--principal REF]",
		Short: "List the sessions of your interests",
		Long: "Sessions lists the sessions of one interest, or of all, the newest first: which side this is, how far it came, the answers, what waits for whom, and what the other side has disclosed. A session that is over is " +
			"listed while it is kept. Exit 3 when there is no such interest." + principalHelp,
		Example: "  sayso interest sessions\n  sayso interest sessions i-6d0f8a1c33b94e20a7f1 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInterests(func(i *interests) error {
				list, err := i.Sessions(e.ctx, strings.Join(args, ""), *refs...)
				if err != nil {
					return err
				}
				several, err := e.several(i, *refs)
				if err != nil {
					return err
				}
				return e.answer(struct {
					Sessions []agent.SessionView `json:"sessions"`
				}{noNull(list)}, func(w io.Writer) error {
					p := &printer{w: w}
					if len(list) == 0 {
						p.line("no session so far")
					}
					p.table(sessionTable(list, several, time.Now()), "")
					return p.err
				})
			})
		},
	}
	refs = principalFlag(c)
	return c
}

// sessionTable is a line for each session, and below it what is to be known of it.
func sessionTable(list []agent.SessionView, several bool, now time.Time) *table {
	t := &table{}
	for i := range list {
		v := &list[i]
		t.add(v.ID, v.Role, sessionState(v), answersText(v.Questions), sessionTime(v, now), whose(several, v.Principal))
		for _, line := range sessionLines(v) {
			t.add("  " + line)
		}
	}
	return t
}

// sessionState is how far a session came.
func sessionState(v *agent.SessionView) string {
	text := strings.ToLower(spaced(v.State))
	if v.State == string(session.Closed) && v.Reason != "" {
		text += ", " + v.Reason
	}
	return text
}

func sessionTime(v *agent.SessionView, now time.Time) string {
	if v.State == string(session.Closed) {
		return "opened " + stamp(v.OpenedAt)
	}
	return timeLeft(v.EndsAt, now)
}

// answersText counts the answers that stand, of both sides.
func answersText(list []agent.QuestionView) string {
	count := map[string]int{}
	for _, q := range list {
		if !q.Superseded {
			count[q.Result]++
		}
	}
	var words []string
	for _, result := range []string{"compatible", "conditionally_compatible", "incompatible", "unknown", "requires_disclosure", "declined"} {
		if n := count[result]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, spaced(result)))
		}
	}
	if n := count[""]; n > 0 {
		words = append(words, fmt.Sprintf("%d open", n))
	}
	if len(words) == 0 {
		return "nothing asked"
	}
	return strings.Join(words, ", ")
}

// sessionLines are what stands below a session in a list.
func sessionLines(v *agent.SessionView) []string {
	var out []string
	if v.BeganUnder != "" {
		out = append(out, "opened under "+v.BeganUnder+", goes on under "+v.Interest)
	}
	if v.Lead != nil {
		text := "a lead: " + leadText(v.Lead)
		if v.Lead.Note != "" {
			text += ", " + v.Lead.Note
		}
		out = append(out, text)
	}
	for _, id := range v.Entries {
		out = append(out, "waits for you: sayso interest inbox "+id)
	}
	if v.Order != "" {
		out = append(out, "waits for the other side: "+spaced(v.Order))
	}
	for _, g := range v.Grants {
		who := map[string]string{"ours": "you agreed to", "theirs": "the other side agreed to"}[g.By]
		out = append(out, fmt.Sprintf("%s %s: %s", who, spaced(g.Action), strings.Join(g.Scope, " ")))
	}
	for _, value := range v.Values {
		text := web.Shown(value.Value)
		if value.Forgotten {
			text = "forgotten, as you said you would"
		}
		out = append(out, fmt.Sprintf("disclosed to you: %s %s", value.Key, text))
	}
	if h := v.Handoff; h != nil {
		who := map[string]string{"ours": "you handed over", "theirs": "the other side handed over"}[h.By]
		out = append(out, fmt.Sprintf("%s to %s", who, h.Target))
	}
	for _, s := range v.Signatures {
		if s.Finding != "verified" {
			out = append(out, fmt.Sprintf("the signature of the %s is %s", s.Object, s.Finding))
		}
	}
	if v.Delivery != "" {
		out = append(out, "not delivered: "+v.Delivery)
	}
	return out
}

func newInterestClose(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "close SESSION",
		Short:   "End a session without a reason",
		Long:    "Close ends a session. The other side learns that it is over and no reason, and nobody is ever required to go on. What has been told stays told. A session that is closed stays as it is. Exit 3 when there is no such session.",
		Example: "  sayso interest close 7d0c5be1f6a24b83a9e0d4c1b2f3a657",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.working(func(i *interests) error {
				v, err := i.CloseSession(e.ctx, args[0])
				if err != nil {
					return err
				}
				return e.answerSession(i, v, "closed %s", v.ID)
			})
		},
	}
}
