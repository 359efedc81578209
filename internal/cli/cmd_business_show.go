package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/business"
	"sayso/internal/app"
)

func init() { register("business", newBusinessShow) }

func newBusinessShow(e *env) *cobra.Command {
	var who acting
	c := &cobra.Command{
		Use:   "show SLUG",
		Short: "Show one business as its operator sees it",
		Long: "Show prints the state of a business and whether its content is served, on what its authority rests and for how long, generation and hash of its content, its " +
			"records, hosts, keys and revocations, and how many tokens are live. Exit 3 when there is no such business.",
		Example: "  sayso business show brightwater-opticians\n  sayso business show brightwater-opticians --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.onRegistry(who, func(r *app.Registry, as app.Actor) error {
				shown, err := e.shownBusiness(r, as, args[0])
				if err != nil {
					return err
				}
				return e.answer(shown, func(w io.Writer) error { return shown.write(w, r.Now()) })
			})
		},
	}
	who.add(c.Flags())
	return c
}

// shownBusiness is the answer of business show.
type shownBusiness struct {
	app.PublisherDetails
	Proofs []app.ProofView `json:"proofs"` // every attempt, in the order of their beginning
	Keys   []app.KeyView   `json:"keys"`
	Tokens int             `json:"tokens"` // live ones
}

func (e *env) shownBusiness(r *app.Registry, as app.Actor, slug string) (*shownBusiness, error) {
	details, err := r.Publisher(e.ctx, as, slug)
	if err != nil {
		return nil, err
	}
	s := &shownBusiness{PublisherDetails: *details}
	if s.Proofs, err = r.Proofs(e.ctx, as, slug); err != nil {
		return nil, err
	}
	if s.Keys, err = r.Keys(e.ctx, as, slug); err != nil {
		return nil, err
	}
	s.Revocations, s.Proofs, s.Keys = noNull(s.Revocations), noNull(s.Proofs), noNull(s.Keys)
	tokens, err := r.Tokens(e.ctx, as, slug)
	for _, t := range tokens {
		if t.RevokedAt.IsZero() {
			s.Tokens++
		}
	}
	return s, err
}

func (s *shownBusiness) write(w io.Writer, now time.Time) error {
	p := &printer{w: w}
	p.line("%s", s.DisplayName)
	var t table
	t.add("name", s.Slug)
	t.add("state", s.stateText())
	for _, line := range s.authority(now) {
		t.add("authority", line)
	}
	t.add("content", fmt.Sprintf("generation %d, %s, since %s", s.Generation, shortHash(s.ContentHash), stamp(s.ChangedAt)))
	t.add("records", recordText(s.Records, s.Incomplete))
	t.add("hosts", cmp.Or(strings.Join(s.Hosts, " "), "none"))
	for _, k := range s.Keys {
		t.add("key", k.Kid+", "+businessKeyState(k))
	}
	t.add("tokens", fmt.Sprintf("%d live, at most %d", s.Tokens, s.Quota.Tokens))
	t.add("quota", plural(s.Quota.Records, "record"))
	t.add("editing", map[bool]string{true: "delegated to operators", false: "its owner's alone"}[s.Delegated])
	for _, v := range s.Revocations {
		t.add("revoked", revokedText(&v))
	}
	p.table(&t, "")
	return p.err
}

func (s *shownBusiness) stateText() string {
	text := string(s.Lifecycle)
	if s.Suspended {
		text += ", suspended: " + s.Reason
	}
	switch {
	case s.Published:
		return text + ", served"
	case s.Lifecycle == business.Published && !s.Suspended:
		return text + ", not served: nobody's authority over it is current"
	}
	return text + ", not served"
}

// authority says on what the business's right to speak rests.
func (s *shownBusiness) authority(now time.Time) []string {
	var lines []string
	for _, d := range s.Decisions {
		switch {
		case !d.WithdrawnAt.IsZero():
			lines = append(lines, "decision "+d.Decision+" withdrawn "+stamp(d.WithdrawnAt))
		case d.ConfirmedAt.IsZero():
			lines = append(lines, "decision "+d.Decision+" by "+d.RecordedBy+", waits for a second operator")
		default:
			lines = append(lines, "decision "+d.Decision+" by "+d.RecordedBy+", confirmed "+stamp(d.ConfirmedAt)+" by "+d.ConfirmedBy)
		}
	}
	for _, v := range s.Proofs {
		switch v.State {
		case "proven":
			lines = append(lines, v.Host+" by "+v.Method+", "+timeLeft(v.ValidUntil, now))
		case "pending":
			lines = append(lines, v.Host+" by "+v.Method+", not proven yet; its value has "+timeLeft(v.ExpiresAt, now))
		case "lapsed":
			lines = append(lines, v.Host+" by "+v.Method+", lapsed")
		}
	}
	if len(lines) == 0 {
		return []string{"none: prove a host, or have two operators verify it"}
	}
	return lines
}

func recordText(counts []app.RecordCount, incomplete bool) string {
	var words []string
	for _, c := range counts {
		words = append(words, fmt.Sprintf("%d %s", c.Count, c.Type))
	}
	text := cmp.Or(strings.Join(words, ", "), "none")
	if incomplete {
		text += "; the last import left rows out, which is published"
	}
	return text
}

func businessKeyState(k app.KeyView) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + stamp(k.RevokedAt)
	case !k.RetiredAt.IsZero():
		return "retired " + stamp(k.RetiredAt)
	}
	return "signs since " + stamp(k.CreatedAt)
}

func revokedText(v *business.RevocationEntry) string {
	target := cmp.Or(v.Kid, v.EntityKey, v.Digest, v.Subject, "everything it ever signed")
	text := target + ", " + v.Reason
	if v.RevokedFrom != "" {
		text += ", from " + v.RevokedFrom
	}
	if v.RevokedUntil != "" {
		text += ", until " + v.RevokedUntil
	}
	return text
}
