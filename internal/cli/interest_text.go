package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sayso/gidp/providerhttp"
	"sayso/internal/agent"
	"sayso/jcs"
)

func versionWord(n int) string { return fmt.Sprintf("version %d", n) }

// wantsText is what an interest is about, in the principal's own words.
func wantsText(v *agent.InterestView) string {
	return strings.TrimSpace(v.Action + " " + v.Object)
}

// validText says until when an interest is valid, or from when.
func validText(v *agent.InterestView, now time.Time) string {
	if v.NotBefore.After(now) {
		return "from " + stamp(v.NotBefore)
	}
	return "until " + stamp(v.Expires)
}

// classText writes the class of an attribute towards everybody, or towards each kind of counterparty.
func classText(class map[string]string) string {
	var words []string
	for _, property := range slices.Sorted(maps.Keys(class)) {
		if property == "" {
			words = append(words, class[property])
			continue
		}
		words = append(words, property+" "+class[property])
	}
	return strings.Join(words, ", ")
}

// indented begins the lines of a text after the first one with an indent of their own.
func indented(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by+"  ")
}

func (e *env) writeInterest(w io.Writer, d *agent.InterestDetail, now time.Time) error {
	p := &printer{w: w}
	var t table
	t.add("id", d.ID)
	t.add("principal", d.Principal)
	t.add("state", stateWord(d.State)+" since "+stamp(d.Changed))
	t.add("version", fmt.Sprintf("%d of %s", d.Version, d.Lineage))
	t.add("profile", d.Profile)
	t.add("wants", wantsText(&d.InterestView))
	t.add("valid", validText(&d.InterestView, now))
	origin := d.Origin
	if d.Origin != "stated" {
		origin += map[bool]string{true: ", confirmed", false: ", to be confirmed"}[d.Confirmed]
	}
	t.add("origin", origin)
	for _, v := range d.Projections {
		t.add("projection", v.Endpoint+" "+projectionText(&v))
	}
	for _, b := range d.Budgets {
		t.add("budget", budgetText(&b))
	}
	p.table(&t, "")
	p.line("")
	p.line("held")
	held, err := heldValues(d.Document)
	if err != nil {
		return err
	}
	p.table(held, "  ")
	if p.err != nil {
		return p.err
	}
	return e.writeExposure(w, &d.Outlook)
}

// heldValues are the attributes and lists of a document with their values.
func heldValues(document jcs.Raw) (*table, error) {
	members, err := jcs.Members(document)
	if err != nil {
		return nil, err
	}
	t := &table{}
	for _, m := range members {
		switch m.Name {
		case "attributes":
			attributes, err := jcs.Members(m.Value)
			if err != nil {
				return nil, err
			}
			for _, a := range attributes {
				t.add(a.Name, string(a.Value))
			}
		case "provides", "requires", "conditional_on", "excludes":
			if string(m.Value) != "[]" && string(m.Value) != "null" {
				t.add(m.Name, string(m.Value))
			}
		}
	}
	return t, nil
}

// spaced is a code as words.
func spaced(code string) string { return strings.ReplaceAll(code, "_", " ") }

// providerProblem is why a provider did not do what it was asked, in words.
func providerProblem(code string) string {
	if code == string(providerhttp.CodeMembers) {
		return "it serves members alone, and was shown no membership that it believes"
	}
	return spaced(code)
}

// nextAt says what can be done about a problem with a provider, where that is known.
func (e *env) nextAt(provider, code string) {
	if code == string(providerhttp.CodeMembers) {
		e.note("next: %s, and attestations for the interest: sayso interest credentials --help", e.command("interest trust add member:DOMAIN --provider %s", shellWord(provider)))
	}
}
