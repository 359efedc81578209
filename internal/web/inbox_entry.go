package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sayso/internal/agent"
	"sayso/jcs"
)

// inboxEntry is one decision as the pages show it.
type inboxEntry struct {
	inboxFrame
	ID, URL, Interest string
	Principal, Note   string
	Several           bool // principals share the folder
	Question          string
	Yes               string // the button
	Effect            string
	Keys              []string
	Outcome           outcome
	Own               bool // an act of this side's agent, not a request of the peer
	Waiting           bool
	Deadline          moment
	DecidedAt         moment
	Left              string // "3 days left"
	Values            []disclosed
	ValuesAre         string // heading of Values
	Asked             []asked
	Peer              []stated
	Facts             []stated
	Stays, Notice     string
	Choices           []string // entries of the scope of which some may be granted; empty when it is all or nothing
	Token, Problem    string
}

// outcome is what became of an entry.
type outcome struct{ Class, Words, Meaning string }

type disclosed struct{ Key, Text string }

type asked struct{ Key, Text string }

// stated is one line about the other side or its request. Open marks what has no evidence, Code what no line can hold.
type stated struct {
	Name, Text, Note string
	Open, Code       bool
}

var outcomes = map[string]outcome{
	"waiting":  {"stale", "waiting", ""},
	"granted":  {"fresh", "granted", "You agreed."},
	"declined": {"declined", "declined", "You declined. The other side learnt that, and not why."},
	"settled":  {"declined", "no longer asked", "It ended without you: its time was over, the other side withdrew it, or the session ended."},
}

// questions are what entries ask of their Principal, by the action of a consent or by their kind, and what the button of a yes says.
var questions = map[string]struct{ asks, yes string }{
	"question":                 {"May these questions be answered?", "Let them be answered"},
	"disclosure":               {"May this value be told?", "Tell it"},
	"disclose_attributes":      {"May these values be told when they are asked for?", "Agree"},
	"reveal_identity":          {"May the other side learn who you are?", "Agree to reveal it"},
	"establish_direct_contact": {"May the other side contact you directly?", "Agree to contact"},
	"handoff":                  {"May this be handed over?", "Agree to the handover"},
	"open":                     {"May your agent open a session?", "Open it"},
	"own_question":             {"May your agent ask these questions?", "Ask them"},
}

// Question is what an entry of the inbox asks of its Principal, in one sentence.
func Question(v *agent.EntryView) string {
	return cmp.Or(questions[cmp.Or(v.Action, v.Kind)].asks, "May your agent go on?")
}

func (s *inbox) entryOf(v *agent.EntryView) inboxEntry {
	e := inboxEntry{
		ID: v.ID, URL: inboxBase + "/" + v.ID, Interest: v.Interest, Principal: cmp.Or(v.Principal, nobodyNamed), Note: v.Note, Question: Question(v), Yes: cmp.Or(questions[cmp.Or(v.Action, v.Kind)].yes, "Agree"),
		Effect: v.Effect, Keys: slices.Compact(slices.Sorted(slices.Values(v.Keys))), Outcome: outcomes[v.State], Waiting: v.State == "waiting",
		Deadline: minuteOf(v.Deadline), DecidedAt: minuteOf(v.DecidedAt), Left: timeTo(v.Deadline.Sub(s.Now())), Stays: v.Stays, Notice: v.Notice,
	}
	e.NoIndex = true
	e.ValuesAre = "Exactly this would leave"
	if v.Kind == "consent" {
		e.ValuesAre = "Exactly this may leave from then on"
		if len(v.Keys) > 1 {
			e.Choices = v.Keys
		}
	}
	for _, r := range v.Reveals {
		e.Values = append(e.Values, disclosed{r.Key, Shown(r.Value)})
	}
	for _, q := range v.Questions {
		e.Asked = append(e.Asked, asked{q.Key, strings.TrimSpace(strings.ReplaceAll(q.Operator, "_", " ") + " " + Shown(q.Value))})
	}
	e.Peer = peerLines(&v.Peer)
	if e.Own = v.Kind == "open" || v.Kind == "own_question"; !e.Own {
		e.Facts = requestLines(v)
	}
	return e
}

// peerLines are what is known of the other side. A level counts with evidence alone.
func peerLines(p *agent.PeerView) []stated {
	var attested []stated
	for _, one := range p.Properties {
		attested = append(attested, stated{Name: "The other side is", Text: Attested(one), Note: "An issuer that you believe about this says so, until " + one.Expires.Format("2 January 2006") + ". It says nothing else."},
			stated{Name: "That issuer's key", Text: one.Issuer, Code: true})
	}
	if len(p.Uncounted) > 0 {
		attested = append(attested, stated{Name: "It has shown more", Open: true, Note: "That counts for nothing: " + strings.ReplaceAll(strings.Join(p.Uncounted, ", "), "_", " ") + "."})
	}
	if p.Finding == "unevidenced" || p.Mandate == "" {
		who := "a key of this session, and nothing more"
		if len(p.Properties) > 0 {
			who = "a key of this session"
		}
		return slices.Concat([]stated{{Name: "The other side", Text: who}}, attested, []stated{{Name: "Its authority", Open: true, Note: "Nothing shows for whom it acts, or that it may."}})
	}
	out := append([]stated{{Name: "The other side", Text: "acts under a mandate", Note: "One party that holds a key has given it to this session. Who that is, the mandate does not show."}}, attested...)
	var levels []string
	for _, l := range p.Levels {
		if l.Evidenced {
			levels = append(levels, strings.ToLower(strings.ReplaceAll(l.Level, "_", " ")))
		}
	}
	out = append(out, stated{Name: "It may", Text: strings.Join(levels, ", "), Note: "Every other level is unevidenced."})
	for _, n := range p.Names {
		out = append(out, stated{Name: strings.ReplaceAll(n.Key, "_", " "), Text: Shown(n.Value), Note: "As the mandate states it."})
	}
	return append(out, stated{Name: "Mandate", Text: p.Mandate, Code: true}, stated{Name: "Its key", Text: p.Issuer, Code: true})
}

// Attested is a property of the other side in words.
func Attested(p agent.PropertyView) string {
	switch kind, name, _ := strings.Cut(p.Property, ":"); kind {
	case "member":
		return "a member of " + name
	case "attested":
		return "attested as " + name
	}
	return "a verified agent"
}

// requestLines are what the other side says of its request.
func requestLines(v *agent.EntryView) []stated {
	if v.Kind == "question" {
		return nil
	}
	var out []stated
	if v.Kind == "disclosure" {
		keeps := stated{Name: "Will keep it", Text: strings.ReplaceAll(v.Retention, "_", " ")}
		if keeps.Text != "" {
			keeps.Note = "Its own word: nobody can see whether it keeps to it."
		}
		out = []stated{{Name: "Purpose", Text: v.Purpose}, {Name: "Intended use", Text: strings.ReplaceAll(v.IntendedUse, "_", " ")}, keeps}
	}
	if v.Reciprocal {
		out = append(out, stated{Name: "In return", Text: "it offers the same", Note: "The offer binds nobody."})
	}
	return out
}

// Shown is a value of a message for people: JSON, a text without its quotes.
func Shown(value jcs.Raw) string {
	if text, ok := jcs.Text(value); ok {
		return text
	}
	return string(value)
}

// timeTo says how long is left, in the largest unit that fits twice.
func timeTo(left time.Duration) string {
	unit := func(n int, name string) string {
		if n != 1 {
			name += "s"
		}
		return count(n) + " " + name + " left"
	}
	switch {
	case left <= 0:
		return "its time is over"
	case left < 2*time.Hour:
		return unit(int(left.Minutes()), "minute")
	case left < 48*time.Hour:
		return unit(int(left.Hours()), "hour")
	}
	return unit(int(left.Hours()/24), "day")
}
