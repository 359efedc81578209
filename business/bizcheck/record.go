package bizcheck

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sayso/report"
	"sayso/safefetch"
)

// recorder holds what came of the rules. Text from outside is cleaned and shortened here, so that no finding can carry controls or a query string, and only
// the first findings of a rule and outcome are kept, so that a document cannot make the report grow.
type recorder struct {
	found []report.Finding
	count map[group]int
	held  map[string]*passes
	once  map[string]bool // what is not listed again while answers of one publisher are looked at; nil elsewhere
}

type group struct {
	rule    string
	outcome report.Outcome
}

// passes are the places where a rule held.
type passes struct {
	first string
	count int
}

func newRecorder() recorder {
	return recorder{count: map[group]int{}, held: map[string]*passes{}}
}

const maxMessage = 600

func (c *recorder) add(f report.Finding) {
	g := group{f.Rule, f.Outcome}
	if key := f.Rule + string(f.Outcome) + f.Message + f.Reason; c.once[key] {
		return // one cause, such as a key that is not attested, shows in every answer
	} else if c.once != nil {
		c.once[key] = true
	}
	if c.count[g] >= listed {
		c.count[g]++
		return
	}
	f.Place = safefetch.WithoutQuery(f.Place)
	for _, s := range []*string{&f.Place, &f.Message, &f.Reason, &f.Next} {
		*s = clip(report.Clean(clip(*s, maxMessage)), maxMessage)
	}
	if !slices.Contains(c.found, f) {
		c.found = append(c.found, f)
		c.count[g]++
	}
}

func (c *recorder) pass(rule, place string) {
	if c.held[rule] == nil {
		c.held[rule] = &passes{first: clip(report.Clean(safefetch.WithoutQuery(place)), maxMessage)}
	}
	c.held[rule].count++
}

// note is a pass with something to tell.
func (c *recorder) note(rule, place, seen string) {
	c.add(report.Finding{Rule: rule, Outcome: report.Pass, Place: place, Message: seen})
}

func (c *recorder) fail(rule, place, seen, next string) {
	c.add(report.Finding{Rule: rule, Outcome: report.Fail, Place: place, Message: seen, Next: next})
}

func (c *recorder) warn(rule, place, seen, next string) {
	c.add(report.Finding{Rule: rule, Outcome: report.Warning, Place: place, Message: seen, Next: next})
}

func (c *recorder) untested(rule, place, what, reason string) {
	c.add(report.Finding{Rule: rule, Outcome: report.NotTested, Place: place, Message: what, Reason: reason})
}

// expect passes or fails a rule.
func (c *recorder) expect(ok bool, rule, place, seen, next string) bool {
	if ok {
		c.pass(rule, place)
	} else {
		c.fail(rule, place, seen, next)
	}
	return ok
}

// prefer passes a rule or warns.
func (c *recorder) prefer(ok bool, rule, place, seen, next string) {
	if ok {
		c.pass(rule, place)
	} else {
		c.warn(rule, place, seen, next)
	}
}

// findings are the recorded findings, a count where not all are kept, and one pass for each rule that held at every place.
func (c *recorder) findings() []report.Finding {
	out := slices.Clone(c.found)
	broken := map[string]bool{}
	for _, f := range c.found {
		broken[f.Rule] = broken[f.Rule] || f.Outcome == report.Fail || f.Outcome == report.Warning
	}
	for _, r := range rules {
		for _, o := range []report.Outcome{report.Fail, report.Warning, report.NotTested, report.Pass} {
			if n := c.count[group{r.id, o}]; n > listed {
				out = append(out, report.Finding{Rule: r.id, Outcome: o, Message: fmt.Sprintf("this came up at %d places; the first %d are listed", n, listed),
					Reason: "the others are of the same kind", Next: "mend the cause that the listed places share"})
			}
		}
		held := c.held[r.id]
		if held == nil || broken[r.id] {
			continue
		}
		message := r.title
		if held.count > 1 {
			message = fmt.Sprintf("%s (%d looked at)", r.title, held.count)
		}
		out = append(out, report.Finding{Rule: r.id, Outcome: report.Pass, Place: held.first, Message: message})
	}
	return out
}

// clip shortens a text at a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// originOf is scheme://host[:port] in lower case, "" for what is no absolute URL.
func originOf(at string) string {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}
