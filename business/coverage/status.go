package coverage

import (
	"slices"

	"sayso/business"
	"sayso/jcs"
)

// The reasons of a Gap (closed list).
const (
	ReasonUnknownWord             = "unknown_word"
	ReasonRelationNotPublished    = "relation_not_published"
	ReasonNotPublished            = "not_published"
	ReasonUnknownValue            = "unknown_value"
	ReasonOutOfDomain             = "out_of_domain"
	ReasonNarrowerOnly            = "narrower_only"
	ReasonUnitMismatch            = "unit_mismatch"
	ReasonUnitMissing             = "unit_missing"
	ReasonSubjective              = "subjective"
	ReasonQuantifier              = "quantifier"
	ReasonUnsupportedForm         = "unsupported_question_form"
	ReasonHolidayRuleNotPublished = "holiday_rule_not_published"
	ReasonZoneNotPublished        = "zone_not_published"
	ReasonStale                   = "stale"
	ReasonNoCoordinates           = "no_coordinates"
	ReasonMissingValue            = "missing_value"
	ReasonLanguage                = "language"
)

// The verdicts of a Proposition: four for yes and no (XP-COVERAGE-007), four for a field.
const (
	VerdictTrue         = "asserted_true"
	VerdictFalse        = "asserted_false"
	VerdictExcluded     = "excluded_by_closed_list"
	VerdictUnknown      = "unknown"
	VerdictPublished    = "published"
	VerdictStatedInText = "stated_in_text"
	VerdictDeferred     = "deferred"
	VerdictNotPublished = "not_published"
)

// The polarities of an answer.
const (
	Positive = "positive"
	Negative = "negative"
	Mixed    = "mixed"
)

// instructions is the one sentence of each status. It holds no text of a publisher or a caller, and nothing relies on it (XP-COVERAGE-011).
var instructions = map[Status]string{
	Resolved:     "The returned data answers the whole request: quote it and attribute it to the publisher.",
	Partial:      "Quote what is returned and say plainly which parts of the request are not answered; unresolved names them.",
	NeedsContext: "Ask the user for the value that clarification.missing names, then call again as clarification.resume says; the options are not an answer.",
	NotCovered:   "Say that this publisher's published data does not answer the request; do not infer that the business does not offer it, and do not fill in from elsewhere.",
}

// Instruction is the one sentence of a status: its agent_instruction.
func (s Status) Instruction() string { return instructions[s] }

// Evidence is what a call found out, apart from what it did not. It holds no gap, so that a status made of it alone is one without gaps (XP-COVERAGE-001).
type Evidence struct {
	Complete           bool // all matching records and readings were seen
	Polarity           string
	Propositions       []Proposition
	Clauses            []Clause
	RequestedFields    []RequestedField
	References         []Reference
	PublisherReference []Span
	Scope              string
	Request            []Criterion
	Facts              []Fact
}

// base fills the members every status has.
func (e Evidence) base(s Status) Coverage {
	c := Coverage{
		Status: s, EvidenceComplete: e.Complete, Propositions: e.Propositions, Constraints: []Constraint{}, Clauses: e.Clauses,
		RequestedFields: e.RequestedFields, UnresolvedReferences: e.References, Unresolved: []Gap{}, PublisherReference: e.PublisherReference,
		RequestedScope: e.Scope, Request: e.Request, PublisherFacts: e.Facts, AgentInstruction: s.Instruction(),
	}
	if e.Polarity != "" {
		c.Answer = &Polarity{Polarity: e.Polarity}
	}
	for i, p := range c.Propositions {
		if p.Op != "" {
			c.Constraints = append(c.Constraints, Constraint{Proposition: i, Verdict: p.Verdict})
		}
	}
	return c
}

// Resolved is the status of a request that is answered whole. There is no way to give it a gap.
func (e Evidence) Resolved() Coverage {
	c := e.base(Resolved)
	c.Covered, c.AnswersRequest = true, true
	return c
}

// Partial is the status of a request of which something is answered and something is not: at least one gap.
func (e Evidence) Partial(gap Gap, more ...Gap) Coverage {
	c := e.base(Partial)
	c.Covered = true
	c.Unresolved = append([]Gap{gap}, more...)
	return c
}

// NeedsContext is the status of a request that waits for a value of the caller's. What was found is withheld (XP-COVERAGE-002).
func (e Evidence) NeedsContext(gap Gap, more ...Gap) Coverage {
	c := e.withheld().base(NeedsContext)
	c.Unresolved = append([]Gap{gap}, more...)
	return c
}

// NotCovered is the status of a request about which this publisher publishes nothing (XP-COVERAGE-004).
func (e Evidence) NotCovered(gap Gap, more ...Gap) Coverage {
	c := e.withheld().base(NotCovered)
	c.Unresolved = append([]Gap{gap}, more...)
	return c
}

// withheld is the evidence without anything a publisher stated, verdicts that repeat it included.
func (e Evidence) withheld() Evidence {
	e.Facts, e.Polarity = nil, ""
	e.Propositions = slices.Clone(e.Propositions)
	for i := range e.Propositions {
		p := &e.Propositions[i]
		p.PublisherValue, p.Unit = nil, ""
		if p.Verdict != VerdictNotPublished {
			p.Verdict = VerdictUnknown
		}
	}
	e.RequestedFields = slices.DeleteFunc(slices.Clone(e.RequestedFields), func(f RequestedField) bool { return f.Status != VerdictNotPublished })
	return e
}

const withheldText = `{"records":[]}`

// WithheldResult is the result beside a status that withholds.
func WithheldResult() jcs.Raw { return jcs.Raw(withheldText) }

// PolarityOf is the polarity of several yes/no verdicts, "" when none was decided.
func PolarityOf(verdicts ...string) string {
	polarity := ""
	for _, v := range verdicts {
		p := ""
		switch v {
		case VerdictTrue:
			p = Positive
		case VerdictFalse, VerdictExcluded:
			p = Negative
		default:
			continue
		}
		if polarity != "" && polarity != p {
			return Mixed
		}
		polarity = p
	}
	return polarity
}

// Clarify says which value is missing and how to ask again (XP-COVERAGE-003): one dimension at a time, unbound counts all that are open.
func Clarify(call Call, missing Missing, unbound int) *Clarification {
	arguments := call.Arguments
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = jcs.Raw("{}")
	}
	bound := jcs.Raw("{}")
	if members, err := business.Members(arguments); err == nil {
		for _, m := range members {
			if m.Name == "bound" {
				bound = m.Value
			}
		}
	}
	return &Clarification{Missing: []Missing{missing}, RemainingUnbound: unbound, Bound: bound, Resume: Resume{Tool: call.Tool, Arguments: arguments, AddTo: "bound"}}
}

// ClauseOf is the one clause of a call that has no text.
func ClauseOf(handler, scope string, gaps, missing int) []Clause {
	c := Clause{Shape: handler, Answered: gaps == 0 && missing == 0, Scope: scope, Missing: []int{}, Unresolved: []int{}}
	for i := range gaps {
		c.Unresolved = append(c.Unresolved, i)
	}
	for i := range missing {
		c.Missing = append(c.Missing, i)
	}
	return []Clause{c}
}

// Finish gives a call without text and without a missing dimension its status: established says whether anything is.
func (e Evidence) Finish(handler string, established bool, gaps []Gap) Coverage {
	e.Clauses = ClauseOf(handler, e.Scope, len(gaps), 0)
	switch {
	case len(gaps) == 0:
		return e.Resolved()
	case established:
		return e.Partial(gaps[0], gaps[1:]...)
	default:
		return e.NotCovered(gaps[0], gaps[1:]...)
	}
}
