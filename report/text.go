package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextOptions choose how WriteText prints.
type TextOptions struct {
	Color   bool // ANSI colours
	Verbose bool // each finding by itself; otherwise passes are counted by rule, and what was not tested for one reason is listed below it
	Width   int  // wrap at this many columns, 0 = no wrapping
}

var headings = map[Outcome]string{Fail: "FAILED", Warning: "WARNINGS", NotTested: "NOT TESTED", Pass: "PASSED"}

var colours = map[Outcome]string{Fail: "\x1b[1;31m", Warning: "\x1b[33m", NotTested: "\x1b[36m", Pass: "\x1b[32m"}

// WriteText prints for people: failures first, then warnings, not tested, passes.
func (r *Report) WriteText(w io.Writer, o TextOptions) error {
	t := &textWriter{o: o}
	t.line("", r.Subject+"  ("+r.Protocol+")")
	t.line("", r.Verdict)
	n := r.Counts()
	t.line("", fmt.Sprintf("failed %d, warnings %d, not tested %d, passed %d", n[Fail], n[Warning], n[NotTested], n[Pass]))
	for _, g := range r.groups() {
		t.b.WriteString("\n" + t.colour(g.Outcome, fmt.Sprintf("%s (%d)", headings[g.Outcome], len(g.Findings))) + "\n")
		if g.Outcome == Pass && !o.Verbose {
			t.countByRule(r, g.Findings)
			continue
		}
		rest := g.Findings
		if g.Outcome == NotTested && !o.Verbose {
			rest = t.byReason(r, g.Findings)
		}
		last := ""
		for _, f := range rest {
			title := r.title(f.Rule)
			if f.Rule != last {
				t.line("  ", strings.TrimSpace(f.Rule+"  "+title))
				last = f.Rule
			}
			t.finding(f, title)
		}
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

type textWriter struct {
	b strings.Builder
	o TextOptions
}

// finding prints what stands below the title of its rule; a message that says the same is left out.
func (t *textWriter) finding(f Finding, title string) {
	if f.Place != "" {
		t.line("    ", f.Place)
	}
	if f.Message != title {
		t.line("    ", f.Message)
	}
	if f.Reason != "" {
		t.line("      ", "why:  "+f.Reason)
	}
	if f.Next != "" {
		t.line("      ", "next: "+f.Next)
	}
}

// countByRule prints one line per rule that passed, however many places it was looked at.
func (t *textWriter) countByRule(r *Report, fs []Finding) {
	var order []string
	count := map[string]int{}
	for _, f := range fs {
		if count[f.Rule]++; count[f.Rule] == 1 {
			order = append(order, f.Rule)
		}
	}
	slices.Sort(order)
	for _, id := range order {
		times := ""
		if count[id] > 1 {
			times = fmt.Sprintf(" (%d places)", count[id])
		}
		t.line("  ", strings.TrimSpace(id+"  "+r.title(id))+times)
	}
}

// byReason prints the rules that were not looked at for one and the same reason below that reason, a line each, and returns the findings that share theirs with
// no other rule.
func (t *textWriter) byReason(r *Report, fs []Finding) (rest []Finding) {
	type cause struct{ place, message, reason, next string }
	rules := map[cause][]string{}
	var order []cause
	for _, f := range fs {
		c := cause{f.Place, f.Message, f.Reason, f.Next}
		if rules[c] == nil {
			order = append(order, c)
		}
		rules[c] = append(rules[c], f.Rule)
	}
	for _, c := range order {
		if len(rules[c]) == 1 {
			continue
		}
		if c.place != r.Subject {
			t.line("  ", c.place)
		}
		t.line("  ", strings.Join(slices.DeleteFunc([]string{c.message, c.reason}, func(s string) bool { return s == "" }), ": "))
		if c.next != "" {
			t.line("    ", "next: "+c.next)
		}
		for _, id := range rules[c] {
			t.line("    ", strings.TrimSpace(id+"  "+r.title(id)))
		}
	}
	return slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool { return len(rules[cause{f.Place, f.Message, f.Reason, f.Next}]) > 1 })
}

// line writes one paragraph, wrapped between words with a hanging indent; a word longer than the line, such as a URL, stays whole.
func (t *textWriter) line(indent, s string) {
	s = Clean(s)
	col := len(indent)
	t.b.WriteString(indent)
	for i, word := range strings.Split(s, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case t.o.Width > 0 && col+1+n > t.o.Width:
			t.b.WriteString("\n" + indent + "  ")
			col = len(indent) + 2
		default:
			t.b.WriteByte(' ')
			col++
		}
		t.b.WriteString(word)
		col += n
	}
	t.b.WriteByte('\n')
}

func (t *textWriter) colour(o Outcome, s string) string {
	if !t.o.Color {
		return s
	}
	return colours[o] + s + "\x1b[0m"
}

// Clean replaces control and invisible formatting characters, line ends and directional overrides included, so that foreign text stays on its line and shows
// what it holds. Bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			return ' '
		case c == '\u200c' || c == '\u200d': // joiners, part of the spelling in several scripts
			return c
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c), c == '\u2028', c == '\u2029':
			return '\uFFFD'
		}
		return c
	}, s)
}
