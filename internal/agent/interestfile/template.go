package interestfile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sayso/facts/dataset/yamlx"
	"sayso/gidp"
	"sayso/gidp/profile"
	"sayso/gidp/wire"
)

// Fill marks the lines of a template that have to be filled in.
const Fill = "# FILL IN"

// Template writes an interest file to fill in: every key of a profile with what it means, the policy spelled out key by key as the profile suggests it, the table of authority of a
// delegation (conservative, moderate or advanced; §16.4) with every level, and nothing made up. [Parse] accepts it as it is; what is still missing is for a check to say.
func Template(set *profile.Set, profileID, delegation string) ([]byte, error) {
	p, ok := set.Profile(profileID)
	if !ok {
		return nil, fmt.Errorf("no profile has the id %.60q: write one of %s", profileID, strings.Join(set.IDs(), ", "))
	}
	authority, ok := gidp.Delegation(delegation)
	if !ok {
		return nil, fmt.Errorf("no delegation is called %.40q: write conservative, moderate or advanced", delegation)
	}
	w := &writer{p: p, set: set}
	w.head()
	w.attributes()
	w.dependencies()
	w.policy()
	w.authority(authority, delegation)
	w.tail()
	return []byte(w.String()), nil
}

type writer struct {
	strings.Builder
	p   *profile.Profile
	set *profile.Set
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, format+"\n", args...)
}

// text is a value as YAML; null has to be filled in.
func text(s string) string {
	if s == "" {
		return "null"
	}
	return yamlx.Quote(s)
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func (w *writer) head() {
	w.line("# A private interest. This file stays with you: what may leave, to whom and when is written under policy and authority.")
	w.line("# null means not stated. Lines marked %s are needed; the others may be removed.", strings.TrimPrefix(Fill, "# "))
	w.line("")
	w.line("principal_ref: null # a name of your own for the person or company this is for; never leaves, and tells principals of one agent apart")
	w.line("profile: %s", w.p.ID)
	w.line("# What a lead under this profile means: %s", w.p.LeadStatement)
	w.line("")
	w.line("interest:")
	w.choice("action", w.p.Purposes)
	w.line("  object: null # what it is about, in a word")
	if len(w.p.Structures) > 0 {
		w.line("  structures: [] # of %s", strings.Join(w.p.Structures, ", "))
	}
	w.line("")
}

func (w *writer) choice(name string, codes []string) {
	if len(codes) == 0 {
		w.line("  %s: null %s: what is intended, in a word", name, Fill)
		return
	}
	w.line("  %s: %s # one of %s", name, text(first(codes)), strings.Join(codes, ", "))
}

// keys are those of the profile, those that have to be asked first.
func (w *writer) keys() []string {
	var out []string
	for _, key := range w.p.Minimum {
		if _, ok := w.p.Keys[key]; ok {
			out = append(out, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.p.Keys)) {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

func (w *writer) attributes() {
	w.line("attributes:")
	for _, key := range w.keys() {
		for _, line := range w.describe(key) {
			w.line("  # %s", line)
		}
		mark := ""
		if slices.Contains(w.p.Minimum, key) {
			mark = " " + Fill
		}
		w.line("  %s: null%s", key, mark)
	}
	w.line("  # Who you are. Told under your own grant alone, and never before a session is qualified.")
	w.line("  %s: null", gidp.PrincipalIdentity)
	w.line("")
}

var meanings = map[gidp.Meaning]string{
	gidp.FactHeld:    "what you have or are",
	gidp.SetAccepted: "what you accept: a wide value takes everything in it",
	gidp.Requirement: "what you require of the other side",
}

// describe says what a key holds, in a few lines.
func (w *writer) describe(key string) []string {
	k := w.p.Keys[key]
	form := ""
	switch k.Type {
	case profile.Integer:
		form = "a whole number in " + k.Unit + ", or a bound {min: N} or {max: N}, or a range {min: N, max: N}"
	case profile.Label:
		form = "a label, or a list of labels"
	case profile.Labels:
		form = "a list of labels"
	case profile.Bool:
		form = "true or false"
	}
	if tree, ok := w.set.Hierarchy(k.Hierarchy); ok && k.Hierarchy != "" {
		form += " of the hierarchy " + tree.ID
	}
	out := []string{fmt.Sprintf("%s: %s.", sentence(meanings[k.Meaning]), form)}
	if slices.Contains(w.p.Minimum, key) {
		out[0] += " Has to be asked before a session qualifies."
	}
	if k.Identifying {
		out = append(out, "It identifies you: told under a grant of yours to reveal it, and never in a projection.")
	}
	if part := w.p.Partitions[k.Partition]; part != nil {
		out = append(out, fmt.Sprintf("Others learn at most which of %d cells it lies in (%s bits): %s.", part.Cells(), number(part.Bits()), cells(part)))
	} else if k.Hierarchy != "" && len(k.Cut) > 0 && !k.Default.Disclosable() {
		out = append(out, fmt.Sprintf("Others learn at most which of %d labels it lies in: %s.", len(k.Cut), strings.Join(k.Cut, ", ")))
	} else if k.Type == profile.Integer {
		out = append(out, "It has no cells: while its class keeps it back, questions are declined unless you give it a budget below.")
	}
	return out
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// cells writes a partition for people.
func cells(p *profile.Partition) string {
	var out []string
	for cell := range p.Cells() {
		lo, hi := p.Bounds(cell)
		switch cell {
		case 0:
			out = append(out, "up to "+grouped(hi))
		case p.Cells() - 1:
			out = append(out, "from "+grouped(lo))
		default:
			out = append(out, grouped(lo)+" to "+grouped(hi))
		}
	}
	return strings.Join(out, " | ")
}

// grouped writes an integer with its thousands apart.
func grouped(v int64) string {
	s := strconv.FormatInt(v, 10)
	sign := ""
	if v < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return sign + s
}

func (w *writer) dependencies() {
	w.line("# What depends on what (§19): names that only the two sides of a session compare.")
	for _, name := range []string{gidp.Provides, gidp.Requires, gidp.ConditionalOn, gidp.Excludes} {
		mark := ""
		if slices.Contains(w.p.Minimum, name) {
			mark = " " + Fill
		}
		w.line("%s: []%s", name, mark)
	}
	w.line("")
	w.line("# Own labels and what contains them: hierarchies: {KEY: {LABEL: CONTAINER}}")
	w.line("hierarchies: {}")
	w.line("# For a number without cells: budgets: {KEY: {bits: 2, domain: {min: 0, max: 31, step: 1}}}. All counterparties together share the bits.")
	w.line("budgets: {}")
	w.line("")
}

// surfaces and gates say in words what a class lets happen.
var surfaces = map[gidp.Surface]string{
	gidp.Local:     "never told; questions are answered from its cell or label",
	gidp.InSession: "told to the other side of a session that asks",
	gidp.Network:   "told inside your trust domain",
	gidp.Discovery: "shown in projections, to every provider and whoever asks it",
	gidp.Public:    "told to everybody",
}

var gates = map[gidp.Gate]string{
	gidp.Ungated:          "",
	gidp.NeedsConsent:     ", once a consent covers it",
	gidp.NeedsPrincipalOK: ", each time after you decide",
}

// explain says a class in words.
func explain(c gidp.Class) string {
	if c.Never {
		return "never told, and every question is declined"
	}
	return surfaces[c.Surface] + gates[c.Gate]
}

// explainFor says a class for a key: what is kept back and has no coarse form cannot answer questions.
func explainFor(c gidp.Class, coarse bool) string {
	if c == gidp.EvaluationOnly && !coarse {
		return "never told, and questions are declined: it has no coarse form to answer from"
	}
	return explain(c)
}

func (w *writer) policy() {
	w.line("# Who may have what. A class is SURFACE or SURFACE/GATE. A key without a line is evaluation_only.")
	w.line("# One class for everybody, or one for each kind of counterparty: KEY: {member:DOMAIN: session}. Whom no entry fits gets evaluation_only;")
	w.line("# who shows a membership alone is an unknown_agent too, and the most cautious entry that fits counts.")
	for _, c := range []string{"public", "discovery", "network", "session", "session/consent", "session/principal_approval", "evaluation_only", "never"} {
		class, err := gidp.ParseClass(c)
		if err == nil {
			w.line("#   %-27s %s", c, explain(class))
		}
	}
	w.line("policy:")
	w.line("  %s: session/principal_approval # %s", gidp.PrincipalIdentity, explain(gidp.Class{Surface: gidp.InSession, Gate: gidp.NeedsPrincipalOK}))
	for _, key := range w.keys() {
		k := w.p.Keys[key]
		w.line("  %s: %s # %s", key, k.Default, explainFor(k.Default, w.p.Partitions[k.Partition] != nil || len(k.Cut) > 0))
	}
	for _, name := range []string{gidp.Provides, gidp.Requires, gidp.ConditionalOn, gidp.Excludes} {
		class := gidp.EvaluationOnly
		if slices.Contains(w.p.Minimum, name) {
			class = gidp.Class{Surface: gidp.InSession} // both sides have to name them for a session to qualify
		}
		w.line("  %s: %s # %s", name, class, explainFor(class, false))
	}
	w.line("  # Keys you do not hold that are answered as if you classed them never, so that a declined question says nothing about what there is.")
	w.line("  never_decoys: []")
	w.line("  networks: [] # trust domains that the surface network means")
	w.derivatives()
	w.line("  # What a peer has to do before a value is released: conditions: {KEY: {reciprocal: true, verify: [CREDENTIAL]}}")
	w.line("  conditions: {}")
	w.line("")
}

// derivatives suggests one where a key that has to be asked uses the hierarchy of a member of projections under another name: otherwise nothing of it would be found.
func (w *writer) derivatives() {
	w.line("  # Coarser forms of attributes for projections: MEMBER: {from: KEY, generalise_to: [LABEL], class: discovery}")
	var lines []string
	for _, m := range []struct{ member, key string }{{"domains", "domain"}, {"geographies", "geography"}} {
		own := w.p.Keys[m.key].Hierarchy
		for _, key := range w.p.Minimum {
			k := w.p.Keys[key]
			if key == m.key || own == "" || k.Hierarchy != own || len(k.Cut) == 0 || k.Identifying {
				continue
			}
			lines = append(lines, fmt.Sprintf("    %s: {from: %s, generalise_to: [%s], class: discovery}", m.member, key, strings.Join(k.Cut[:min(len(k.Cut), wire.MaxList)], ", ")))
			break
		}
	}
	if len(lines) == 0 {
		w.line("  derivatives: {}")
		return
	}
	w.line("  derivatives:")
	for _, line := range lines {
		w.line("%s", line)
	}
}

var levelMeanings = map[gidp.Level]string{
	gidp.Observe:             "read what others publish",
	gidp.Search:              "ask providers for candidates",
	gidp.PublishProjection:   "publish projections",
	gidp.Probe:               "ask and answer whether interests fit",
	gidp.Disclose:            "tell a value that the policy lets be told",
	gidp.Introduce:           "reveal who you are, hand a session over",
	gidp.NegotiateNonbinding: "discuss terms that bind nobody",
	gidp.Commit:              "bind you: not possible in this version",
}

func (w *writer) authority(a gidp.Authority, delegation string) {
	w.line("# What your agent may do: true (alone), approval_required (you decide each time) or false. No level follows from another. This is the %s table.", delegation)
	w.line("authority:")
	for level := gidp.Observe; level <= gidp.Commit; level++ {
		value := "false"
		switch a.At(level) {
		case gidp.Yes:
			value = "true"
		case gidp.Approval:
			value = approval
		}
		w.line("  %s: %s # %s", level, value, levelMeanings[level])
	}
	w.line("")
}

func (w *writer) tail() {
	w.line("validity:")
	w.line("  not_before: null # like 2031-01-01T00:00:00Z; null: at once")
	w.line("  expires_at: null %s: after this instant nothing is answered", Fill)
	w.line("origin: stated # stated by you, or inferred by a program: then you have to confirm it before it is used")
}
