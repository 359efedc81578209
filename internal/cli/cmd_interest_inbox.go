package cli

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/agent"
	"sayso/internal/web"
)

func init() {
	register("interest", newInterestInbox)
	register("interest", newInterestApprove)
	register("interest", newInterestDecline)
}

func newInterestInbox(e *env) *cobra.Command {
	var all bool
	var refs *[]string
	c := &cobra.Command{
		Use:   "inbox [ENTRY] [--all] [--principal REF]",
		Short: "Show the decisions that wait for you",
		Long: "Inbox lists the decisions that your policy and your authority leave to you, the oldest first: what is asked, about which keys, and until when. Without a decision the answer is no when its time is over. " +
			"With ENTRY it shows one of them whole: who asks and on what evidence, what for, what exactly would leave, private values included, and what stays secret either way.\n\n" +
			"approve and decline decide. The same pages are at /inbox on the private listener of sayso interest serve. --all lists the decided ones, too. Exit 3 when there is no such entry." + principalHelp,
		Example: "  sayso interest inbox\n  sayso interest inbox 9f2c41d07be86a35\n  sayso interest inbox --principal board\n  sayso interest inbox --all --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.withInterests(func(i *interests) error {
				if len(args) == 1 {
					v, err := i.Entry(e.ctx, args[0])
					if err != nil {
						return err
					}
					return e.answer(v, func(w io.Writer) error { return e.writeEntry(w, &v, time.Now()) })
				}
				list, err := i.Inbox(e.ctx, all, *refs...)
				if err != nil {
					return err
				}
				several, err := e.several(i, *refs)
				if err != nil {
					return err
				}
				return e.answer(struct {
					Entries []agent.EntryView `json:"entries"`
				}{noNull(list)}, func(w io.Writer) error { return writeEntries(w, list, several, time.Now()) })
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "decided entries, too")
	refs = principalFlag(c)
	return c
}

func writeEntries(w io.Writer, list []agent.EntryView, several bool, now time.Time) error {
	p := &printer{w: w}
	if len(list) == 0 {
		p.line("nothing waits for you")
	}
	var t table
	for _, v := range list {
		t.add(v.ID, entryState(&v, now), web.Question(&v), strings.Join(v.Keys, " "), whose(several, v.Principal))
	}
	p.table(&t, "")
	return p.err
}

// entryState says how long an entry waits, or what became of it.
func entryState(v *agent.EntryView, now time.Time) string {
	if v.State == "waiting" {
		return timeLeft(v.Deadline, now)
	}
	return v.State
}

// writeEntry prints everything that a decision needs.
func (e *env) writeEntry(w io.Writer, v *agent.EntryView, now time.Time) error {
	p := &printer{w: w}
	p.line("%s", web.Question(v))
	var t table
	t.add("entry", v.ID+", "+entryState(v, now))
	t.add("interest", v.Interest)
	t.add("principal", v.Principal)
	if v.State == "waiting" {
		t.add("deadline", stamp(v.Deadline)+", then the answer is no")
	} else {
		t.add("decided", stamp(v.DecidedAt))
	}
	t.add("about", strings.Join(v.Keys, " "))
	for _, line := range peerText(&v.Peer) {
		t.add("asked by", line)
	}
	for _, row := range [][2]string{{"purpose", v.Purpose}, {"use", v.IntendedUse}, {"keeps it", v.Retention}} {
		if v.Kind == "disclosure" {
			t.add(row[0], stated(row[1])+map[bool]string{true: ", in its own word"}[row[1] != "" && row[0] == "keeps it"])
		}
	}
	if v.Reciprocal {
		t.add("in return", "it offers the same, which binds nobody")
	}
	p.table(&t, "")
	p.line("")
	p.line("%s", e.prose("a yes: "+v.Effect, 0))
	var values table
	for _, r := range v.Reveals {
		values.add(r.Key, web.Shown(r.Value))
	}
	for _, q := range v.Questions {
		values.add(q.Key, q.Operator, web.Shown(q.Value))
	}
	p.table(&values, "  ")
	p.line("%s", e.prose(v.Notice, 0))
	p.line("%s", e.prose("either way: "+v.Stays, 0))
	if v.Note != "" {
		p.line("%s", e.prose(v.Note, 0))
	}
	if v.State == "waiting" && p.err == nil {
		p.line("")
		p.line("to decide: %s", e.command("interest approve %s", v.ID))
		p.line("       or: %s", e.command("interest decline %s", v.ID))
	}
	return p.err
}

func stated(text string) string {
	if text == "" {
		return "not stated"
	}
	return text
}

// peerText is what is known of the other side, and on what evidence.
func peerText(p *agent.PeerView) []string {
	var attested []string
	for _, one := range p.Properties {
		attested = append(attested, web.Attested(one)+", says the issuer "+one.Issuer+" until "+one.Expires.Format(time.DateOnly)+", and no more")
	}
	if len(p.Uncounted) > 0 {
		attested = append(attested, "it has shown more, which counts for nothing: "+spaced(strings.Join(p.Uncounted, ", ")))
	}
	switch {
	case p.Mandate == "" && len(p.Properties) == 0:
		return append([]string{"a key of this session, and nothing more: its authority is unevidenced"}, attested...)
	case p.Mandate == "":
		return append(attested, "its authority is unevidenced")
	}
	var levels []string
	for _, l := range p.Levels {
		if l.Evidenced {
			levels = append(levels, l.Level)
		}
	}
	out := append(attested, "somebody with a mandate for "+strings.Join(levels, " ")+"; one key gave it, whose it is it does not show")
	for _, n := range p.Names {
		out = append(out, n.Key+" as the mandate states it: "+web.Shown(n.Value))
	}
	return append(out, "mandate "+shortHash(p.Mandate)+", key "+shortHash(p.Issuer))
}

func newInterestApprove(e *env) *cobra.Command {
	var only []string
	c := &cobra.Command{
		Use:   "approve ENTRY [--only KEY]",
		Short: "Agree to what an entry of the inbox asks",
		Long: "Approve lets your agent answer yes to one entry of the inbox; look at it with sayso interest inbox ENTRY first. What it tells the other side cannot be taken back. The checks of your policy and authority run " +
			"once more before anything leaves, so that what you have withdrawn meanwhile is declined.\n\n" +
			"--only narrows a consent to some of the keys; the others are declined. Exit 3 when there is no such entry, 4 when it was decided before or its time is over.",
		Example: "  sayso interest approve 9f2c41d07be86a35\n  sayso interest approve 9f2c41d07be86a35 --only organisation_name",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := agent.Decision{Grant: true}
			if cmd.Flags().Changed("only") {
				if d.Scope = only; len(only) == 0 {
					return usageError("--only names no key")
				}
			}
			return e.decide(args[0], d)
		},
	}
	c.Flags().StringSliceVar(&only, "only", nil, "key that is granted; may be repeated")
	return c
}

func newInterestDecline(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "decline ENTRY",
		Short:   "Decline what an entry of the inbox asks",
		Long:    "Decline answers no to one entry of the inbox. The other side learns that, and never why. It may ask again. Exit 3 when there is no such entry, 4 when it was decided before or its time is over.",
		Example: "  sayso interest decline 9f2c41d07be86a35",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return e.decide(args[0], agent.Decision{}) },
	}
}

func (e *env) decide(id string, d agent.Decision) error {
	return e.working(func(i *interests) error {
		v, err := i.Decide(e.ctx, id, d)
		if err != nil {
			return err
		}
		reached, err := e.settle(i, "telling the other side", e.told(v.Session))
		if err != nil {
			return err
		}
		if err := e.answer(v, func(w io.Writer) error {
			p := &printer{w: w}
			p.line("%s %s: %s %s", map[bool]string{true: "granted", false: "declined"}[d.Grant], v.ID, web.Question(&v), strings.Join(scopeOf(&v, d), " "))
			return p.err
		}); err != nil {
			return err
		}
		if !reached {
			e.leftOver()
		}
		return nil
	})
}

// scopeOf is what a decision is about.
func scopeOf(v *agent.EntryView, d agent.Decision) []string {
	if d.Scope != nil {
		return d.Scope
	}
	return v.Keys
}
