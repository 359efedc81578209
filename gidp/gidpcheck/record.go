package gidpcheck

import (
	"fmt"
	"strings"

	"sayso/report"
)

// Protocol names what a report is about.
const Protocol = "gidp/0.1"

// NotLookedAt is the message of a rule that did not come up; the finding's reason says why.
const NotLookedAt = "not looked at"

const (
	maxMessage = 600 // bytes of a text in a finding
	listed     = 8   // findings of one rule
)

// recorder holds what came of the rules.
type recorder struct {
	held   map[string]int    // how often a rule held
	why    map[string]string // why a rule could not be looked at
	broken []report.Finding
}

// expect passes or fails a rule and returns ok. seen tells what is there in its place.
func (c *recorder) expect(ok bool, id, place, seen string, args ...any) bool {
	if ok {
		c.held[id]++
	} else {
		c.add(id, report.Fail, place, fmt.Sprintf(seen, args...))
	}
	return ok
}

// warn tells what deserves a look and breaks no rule.
func (c *recorder) warn(id, place, seen string, args ...any) {
	c.add(id, report.Warning, place, fmt.Sprintf(seen, args...))
}

func (c *recorder) add(id string, outcome report.Outcome, place, seen string) {
	n := 0
	for _, f := range c.broken {
		n += count(f.Rule == id)
	}
	if n < listed { // one cause may show in every answer
		c.broken = append(c.broken, report.Finding{Rule: id, Outcome: outcome, Place: report.Clean(place), Message: report.Clean(clip(seen, maxMessage)), Next: ruleOf(id).next})
	}
}

// skip keeps why a rule could not be looked at; the first reason stays.
func (c *recorder) skip(why string, ids ...string) {
	for _, id := range ids {
		if c.why[id] == "" {
			c.why[id] = report.Clean(clip(why, maxMessage))
		}
	}
}

func ruleOf(id string) rule {
	for _, r := range rules {
		if r.id == id {
			return r
		}
	}
	return rule{id: id}
}

// report puts the findings together: each rule of a kind comes up. else is why nothing could be looked at that has no other reason.
func (c *recorder) report(kind, subject, otherwise string, sent int) *report.Report {
	r := &report.Report{Subject: report.Clean(clip(subject, maxMessage)), Protocol: Protocol, Findings: c.broken}
	counts := map[report.Outcome]int{}
	for _, one := range rules {
		if !strings.HasPrefix(one.id, kind) {
			continue
		}
		r.Rules = append(r.Rules, report.Rule{ID: one.id, Title: one.title, Section: one.section})
		state := report.NotTested
		for _, f := range c.broken {
			if f.Rule == one.id && state != report.Fail {
				state = f.Outcome
			}
		}
		switch {
		case state != report.NotTested:
		case c.held[one.id] > 0:
			state = report.Pass
			r.Add(report.Finding{Rule: one.id, Outcome: report.Pass, Place: r.Subject, Message: one.title})
		default:
			reason := c.why[one.id]
			if reason == "" {
				reason = otherwise
			}
			r.Add(report.Finding{Rule: one.id, Outcome: report.NotTested, Place: r.Subject, Message: NotLookedAt, Reason: reason})
		}
		counts[state]++
	}
	if !Reached(r) {
		r.Verdict = "Nothing could be checked: nothing of the protocol was answered."
	} else {
		r.Verdict = fmt.Sprintf("%d rules hold, %d are broken, %d deserve a warning, %d were not tested, after %d requests.", counts[report.Pass], counts[report.Fail], counts[report.Warning],
			counts[report.NotTested], sent)
	}
	r.Sort()
	return r
}

// Reached reports whether anything could be looked at.
func Reached(r *report.Report) bool {
	for _, f := range r.Findings {
		if f.Outcome != report.NotTested {
			return true
		}
	}
	return false
}

// clip shortens a text at a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
