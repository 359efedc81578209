package coverage

import (
	"time"

	"sayso/jcs"
)

// Key names a record within its publisher.
type Key struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// String is type/id, as options and unresolved entries name a record.
func (k Key) String() string { return k.Type + "/" + k.ID }

// Call is one tool call as it was received.
type Call struct {
	Tool      string  // the publisher's own name
	Handler   string  // one of business.Handlers
	Arguments jcs.Raw // the object as received, nil for absent or null
	Now       time.Time
}

// CallError is a fault of the caller: JSON-RPC -32602. No coverage object exists for it.
type CallError struct {
	Code    string // invalid_arguments, query_too_complex, …
	Path    string // JSON pointer into the arguments, "" for the whole
	Message string
}

// InvalidArguments is the code of every violation of a handler's input schema.
const InvalidArguments = "invalid_arguments"

func (e *CallError) Error() string { return e.Message }

// Status is coverage.status.
type Status string

// The four statuses (X§5.1).
const (
	Resolved     Status = "resolved"
	Partial      Status = "partial"
	NeedsContext Status = "needs_context"
	NotCovered   Status = "not_covered"
)

// Span is a piece of the query as received: half-open code-point offsets; slicing gives back Text.
type Span struct {
	Text  string `json:"text"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// Subject is what a proposition is about.
type Subject struct {
	Publisher string `json:"publisher"`
	Type      string `json:"type,omitempty"`
	ID        string `json:"id,omitempty"`
	Location  string `json:"location,omitempty"`
}

// Proposition is one thing asked, the publisher's datum and the verdict.
type Proposition struct {
	Clause         int      `json:"clause"`
	Shape          string   `json:"shape"` // S1 … S11, or the handler for the others
	Asked          *Span    `json:"asked,omitempty"`
	Subject        Subject  `json:"subject"`
	Field          string   `json:"field,omitempty"`
	Op             string   `json:"op,omitempty"`
	RequestValue   string   `json:"request_value,omitempty"`   // the caller's text
	PublisherValue jcs.Raw  `json:"publisher_value,omitempty"` // the publisher's literal
	Unit           string   `json:"unit,omitempty"`            // of publisher_value: an ISO 4217 currency or a unit that the publisher states
	Verdict        string   `json:"verdict"`
	Match          string   `json:"match,omitempty"`
	Assumes        []string `json:"assumes,omitempty"`
	Date           string   `json:"date,omitempty"` // the day an hours question was evaluated for
}

// Constraint is the four-valued form of a proposition with an op (XP-COVERAGE-007).
type Constraint struct {
	Proposition int    `json:"proposition"`
	Verdict     string `json:"verdict"`
}

// Clause is one coordinated clause.
type Clause struct {
	Index      int    `json:"index"`
	Text       string `json:"text"`
	Start      int    `json:"start"`
	End        int    `json:"end"`
	Shape      string `json:"shape,omitempty"`
	Answered   bool   `json:"answered"`
	Scope      string `json:"scope"` // publisher | record | mixed
	Missing    []int  `json:"missing"`
	Unresolved []int  `json:"unresolved"`
}

// RequestedField is one asked field of one subject: published, stated_in_text, deferred or not_published.
type RequestedField struct {
	Clause  int     `json:"clause"`
	Field   string  `json:"field"`
	Subject Subject `json:"subject"`
	Status  string  `json:"status"`
}

// Reference is something the caller referred to that the call did not pin down.
type Reference struct {
	Span
	Clause int    `json:"clause"`
	Kind   string `json:"kind"` // anaphor | location_word | record_word
}

// Gap is one entry of unresolved: why something asked is not established.
type Gap struct {
	Text      string   `json:"text,omitempty"`
	Start     *int     `json:"start,omitempty"`
	End       *int     `json:"end,omitempty"`
	Field     string   `json:"field,omitempty"`
	Clause    int      `json:"clause"`
	Reason    string   `json:"reason"`
	Asked     string   `json:"asked,omitempty"`     // reason language: the language asked in
	Published []string `json:"published,omitempty"` // reason language
	Location  string   `json:"location,omitempty"`  // the location whose value is not known
}

// Fact is one raw publisher value that a proposition used.
type Fact struct {
	Subject Subject `json:"subject"`
	Field   string  `json:"field"`
	Value   jcs.Raw `json:"value"`
	Unit    string  `json:"unit,omitempty"` // of value: an ISO 4217 currency or a unit that the publisher states
	Source  string  `json:"source"`         // record | profile | list | location | stream
}

// Criterion is one structured criterion that was evaluated, with the caller's values.
type Criterion struct {
	Type  string  `json:"type,omitempty"`
	ID    string  `json:"id,omitempty"`
	Field string  `json:"field,omitempty"`
	Op    string  `json:"op"`
	Value jcs.Raw `json:"value,omitempty"`
	Unit  string  `json:"unit,omitempty"`
	Span  *Span   `json:"span,omitempty"`
}

// Polarity of a yes/no answer: positive, negative or mixed.
type Polarity struct {
	Polarity string `json:"polarity,omitempty"`
}

// Coverage is the block of X§5. Only the constructors of this package make one, so that resolved cannot stand beside a gap (XP-COVERAGE-001).
type Coverage struct {
	Status               Status           `json:"status"`
	Covered              bool             `json:"covered"`
	AnswersRequest       bool             `json:"answers_request"`
	EvidenceComplete     bool             `json:"evidence_complete"`
	Answer               *Polarity        `json:"answer,omitempty"`
	Propositions         []Proposition    `json:"propositions"`
	Constraints          []Constraint     `json:"constraints"`
	Clauses              []Clause         `json:"clauses"`
	RequestedFields      []RequestedField `json:"requested_fields"`
	UnresolvedReferences []Reference      `json:"unresolved_references"`
	Unresolved           []Gap            `json:"unresolved"`
	PublisherReference   []Span           `json:"publisher_reference"`
	RequestedScope       string           `json:"requested_scope,omitempty"`
	Request              []Criterion      `json:"request"`
	PublisherFacts       []Fact           `json:"publisher_facts"`
	AgentInstruction     string           `json:"agent_instruction"`
}

// Option is one value that binds a missing dimension.
type Option struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Missing is one dimension without a value.
type Missing struct {
	Name       string   `json:"name"` // record, variant, location, date, caller_location, or record.N, variant.N
	Clause     int      `json:"clause"`
	Type       string   `json:"type"` // enum | date | geo
	Options    []Option `json:"options,omitempty"`
	Truncated  bool     `json:"truncated"`
	DidYouMean []string `json:"did_you_mean,omitempty"`
}

// Clarification says what is missing and how to ask again (XP-COVERAGE-003).
type Clarification struct {
	Missing          []Missing `json:"missing"`
	RemainingUnbound int       `json:"remaining_unbound"`
	Bound            jcs.Raw   `json:"bound"`
	Resume           Resume    `json:"resume"`
}

// Resume is the next call: copy Arguments, set [AddTo][name] = value, call Tool.
type Resume struct {
	Tool      string  `json:"tool"`
	Arguments jcs.Raw `json:"arguments"`
	AddTo     string  `json:"add_to"`
}

// Outcome is what a handler answers: the parts of the envelope that the engine owns.
type Outcome struct {
	Result        jcs.Raw // the object result; withheld: {"records":[]}
	Coverage      Coverage
	Clarification *Clarification
	// Locations are the ids of the locations that propositions used; the publisher block of the envelope shows the primary one and these.
	Locations []string
	// Freshness of the live readings in Result; zero without any.
	MaxAge   time.Duration
	SLA      time.Duration
	AnyStale bool
	// Expires is the longest life of an answer with these readings; zero means the standard life.
	Expires time.Duration
}
