package coverage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"sayso/business"
	"sayso/jcs"
)

// Envelope is the signed answer (X§6.1) before its signature. business.SignDocument adds signed_at, expires_at, signing_kid, jwks_url and attestation, signed
// by a key of the publisher's. Absent members are not stated.
//
// The text is compact: no white space stands between its tokens, so that a writer that compacts JSON, or frames it by lines, leaves it as it is, and the two
// places of an answer, the text and the structured content, hold the same bytes. Every token of arguments is the one received: 50.0, 1e3, -0 and "\u0041"
// stay. Members stand in the order of the type.
//
//	publisher        the block of the manifest, reduced:
//	                   resolved, partial           locations are the primary one and those the answer used; the manifest has all
//	                   needs_context, not_covered  without locations, profile_attributes, contacts, support_email, support_phone: they would repeat a value
//	                                               that the answer withholds (XP-COVERAGE-002); what identifies the business stays
//	clarification    with needs_context always, with partial when only values of the caller's are missing, else never
//	served_at        the moment the answer speaks for; equal to signed_at
//	latency_ms       whole milliseconds, 0 below one
//	expires_at       served_at + 15 minutes, or less when live readings say so, but for them never less than 10 seconds; and never after the valid_until of
//	                 the domain proof that the block states, however near that is: no answer outlives the authority it rests on
//	revocation_url   the publisher's own list
type Envelope struct {
	Registry      string         `json:"registry"`
	Publisher     business.Info  `json:"publisher"`
	Tool          string         `json:"tool"`      // the call, as received (XP-INTEGRITY-013)
	Arguments     jcs.Raw        `json:"arguments"` // absent and null arguments are {}
	Result        jcs.Raw        `json:"result"`
	Coverage      *Coverage      `json:"coverage"`
	Clarification *Clarification `json:"clarification,omitempty"`
	Freshness     Freshness      `json:"freshness"`
	State         *State         `json:"state,omitempty"`
	ServedAt      time.Time      `json:"served_at"`
	LatencyMS     int64          `json:"latency_ms"`
	RevocationURL string         `json:"revocation_url"`
}

// StandardLife is how long an answer without live readings may be relied on.
const StandardLife = 15 * time.Minute

// MinLife is the shortest life that live readings leave an answer. Authority that ends before ends it all the same.
const MinLife = 10 * time.Second

// Freshness says how old the data of an answer are (X§9).
type Freshness struct {
	MaxAgeMS         *int64    `json:"max_age_ms,omitempty"`         // age of the oldest live reading in result, absent without any
	SLASeconds       int64     `json:"sla_seconds,omitzero"`         // the smallest budget of the streams used, else the one the publisher declared
	AnyStale         bool      `json:"any_stale"`                    // always stated (XP-FRESHNESS-006)
	StaticSourceAsOf time.Time `json:"static_source_as_of,omitzero"` // state.changed_at
}

// State is business.State with the generation the engine answered from (X§6.4). An answer follows from one snapshot, so the two generations are equal.
type State struct {
	business.State
	RecordsGeneration uint64 `json:"records_generation,omitzero"`
}

// ErrNotPublished says that the publisher is not published at the moment of the call. Nothing it says is signed; the surface answers as if it were not there.
var ErrNotPublished = errors.New("the publisher is not published: no answer of it is signed")

// Frame is what an envelope says besides the call and its outcome.
type Frame struct {
	Site        business.Site         // makes the locators; it must have an origin
	Publication *business.Publication // what the outcome was computed from; it is not changed
	Signer      business.Signer       // a key in the publisher's jwks.json
	Latency     time.Duration         // how long the call took; below zero counts as zero
}

// Seal makes the signed envelope of an outcome at call.Now, the moment the outcome was computed for. The publication must have been read before that moment.
//
// Nothing is returned unsigned, and nothing is signed that contradicts its own status: what was signed cannot be called back. Errors are *CallError when the
// arguments are no object that can be echoed, ErrNotPublished, and for every other error the surface has no answer (503): it is no status
// (XP-COVERAGE-009).
func (f Frame) Seal(call Call, out *Outcome) ([]byte, error) {
	p := f.Publication
	switch {
	case p == nil || out == nil:
		return nil, errors.New("envelope: there is no publication or no outcome")
	case call.Tool == "":
		return nil, errors.New("envelope: the call names no tool")
	case !p.Standing.IsPublished(call.Now):
		return nil, ErrNotPublished
	}
	arguments, err := echo(call.Arguments)
	if err != nil {
		return nil, err
	}
	locators := f.Site.Locators(p)
	if locators.JWKS == "" {
		return nil, errors.New("envelope: no public origin is configured, so no reader could find the key; configure one (XP-DISCOVERY-004)")
	}
	if err := out.consistent(p.Slug); err != nil {
		return nil, fmt.Errorf("envelope: the outcome %w; nothing was signed", err)
	}
	served := instant(call.Now)
	expires := served.Add(out.life())
	if ends := p.Standing.AuthorityEnds(call.Now); !ends.IsZero() && ends.Before(expires) {
		if expires = instant(ends); !expires.After(served) {
			return nil, ErrNotPublished // less than a document can say is left of its authority
		}
	}
	text, err := jcs.Encode(Envelope{
		Registry: business.Family, Publisher: publisherBlock(p, call.Now, out), Tool: call.Tool, Arguments: arguments,
		Result: out.Result, Coverage: &out.Coverage, Clarification: out.Clarification, Freshness: freshnessOf(p, out), State: stateOf(p),
		ServedAt: served, LatencyMS: max(0, f.Latency).Milliseconds(), RevocationURL: locators.Revocations,
	})
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	return business.SignDocument(text, business.Signing{
		Signer: f.Signer, SignedAt: served, ExpiresAt: expires, KeysURL: locators.JWKS, KeysName: "jwks_url",
	})
}

// echo returns the arguments as the envelope repeats them (XP-INTEGRITY-013). A text that two readers could understand differently is refused, and so is
// one that nests too deep to stand in clarification.resume, three levels down.
func echo(arguments jcs.Raw) (jcs.Raw, error) {
	arguments = bytes.Trim(arguments, " \t\r\n")
	if len(arguments) == 0 || string(arguments) == "null" {
		return jcs.Raw("{}"), nil
	}
	if _, err := business.Members(arguments); err != nil {
		return nil, &CallError{Code: InvalidArguments, Message: "arguments: " + err.Error()}
	}
	if _, err := business.Canon(slices.Concat([]byte("[[["), arguments, []byte("]]]"))); err != nil {
		return nil, &CallError{Code: InvalidArguments, Message: fmt.Sprintf("arguments: they nest deeper than %d levels or are too long to be echoed", jcs.MaxDepth-3)}
	}
	return arguments, nil
}

// withholds reports whether a status shows nothing that the publisher stated.
func (s Status) withholds() bool { return s == NeedsContext || s == NotCovered }

// consistent reports how an outcome contradicts its status (XP-COVERAGE-001, 002), or that it speaks of another publisher.
func (out *Outcome) consistent(slug string) error {
	c := &out.Coverage
	full := c.Covered && c.AnswersRequest && len(c.Unresolved) == 0
	switch {
	case !slices.Contains([]Status{Resolved, Partial, NeedsContext, NotCovered}, c.Status):
		return errors.New("has none of the four statuses")
	case full != (c.Status == Resolved) || c.Covered == c.Status.withholds():
		return fmt.Errorf("is %s beside members that say otherwise", c.Status)
	case c.Status == NeedsContext && out.Clarification == nil:
		return errors.New("needs context and does not say which")
	case out.Clarification != nil && (c.Status == Resolved || c.Status == NotCovered):
		return fmt.Errorf("is %s and asks for something", c.Status)
	case c.Status.withholds() && out.tells():
		return fmt.Errorf("is %s and shows what it withholds", c.Status)
	}
	if _, err := business.Members(out.Result); err != nil {
		return errors.New("has a result that is no object")
	}
	foreign := func(s Subject) bool { return s.Publisher != slug }
	if slices.ContainsFunc(c.Propositions, func(p Proposition) bool { return foreign(p.Subject) }) ||
		slices.ContainsFunc(c.PublisherFacts, func(f Fact) bool { return foreign(f.Subject) }) ||
		slices.ContainsFunc(c.RequestedFields, func(f RequestedField) bool { return foreign(f.Subject) }) {
		return errors.New("speaks of another publisher")
	}
	return nil
}

// tells reports whether an outcome shows a value of the publisher's, or a verdict or an age from which one follows.
func (out *Outcome) tells() bool {
	c := &out.Coverage
	return string(out.Result) != withheldText || len(c.PublisherFacts) > 0 || c.Answer != nil || out.MaxAge != 0 || out.SLA != 0 ||
		slices.ContainsFunc(c.Propositions, func(p Proposition) bool {
			return p.PublisherValue != nil || p.Unit != "" || p.Verdict != VerdictUnknown && p.Verdict != VerdictNotPublished
		}) ||
		slices.ContainsFunc(c.Constraints, func(c Constraint) bool { return c.Verdict != VerdictUnknown && c.Verdict != VerdictNotPublished }) ||
		slices.ContainsFunc(c.RequestedFields, func(f RequestedField) bool { return f.Status != VerdictNotPublished })
}

// publisherBlock is the block of the manifest without what the answer withholds, or without the places it does not speak of.
func publisherBlock(p *business.Publication, now time.Time, out *Outcome) business.Info {
	info := p.Info(now)
	if out.Coverage.Status.withholds() {
		info.Locations, info.ProfileAttributes, info.Contacts, info.SupportEmail, info.SupportPhone = nil, nil, nil, "", ""
		return info
	}
	used := make(map[string]bool, len(out.Locations))
	for _, id := range out.Locations {
		used[id] = true
	}
	var shown []business.Location // the publication's own slice is shared by every call
	for _, l := range info.Locations {
		if l.Primary || used[l.ID] {
			shown = append(shown, l)
		}
	}
	info.Locations = shown
	return info
}

// freshnessOf keeps a budget apart from its absence: a publisher that declared none states none. A reading always has a budget, so that one of age 0 is
// told from no reading.
func freshnessOf(p *business.Publication, out *Outcome) Freshness {
	f := Freshness{AnyStale: out.AnyStale, StaticSourceAsOf: instant(p.State.ChangedAt)}
	switch {
	case out.SLA > 0:
		age := out.MaxAge.Milliseconds()
		f.MaxAgeMS, f.SLASeconds = &age, int64(out.SLA/time.Second)
	case p.Profile.Freshness != nil:
		f.SLASeconds = p.Profile.Freshness.SLASeconds
	}
	return f
}

func stateOf(p *business.Publication) *State {
	if p.State == (business.State{}) {
		return nil
	}
	s := &State{State: p.State, RecordsGeneration: p.State.Generation}
	s.ChangedAt = instant(s.ChangedAt)
	return s
}

// life is how long an answer may be relied on: the standard, shortened by the readings it rests on, and long enough to be read at all.
func (out *Outcome) life() time.Duration {
	if out.Expires == 0 {
		return StandardLife
	}
	return max(MinLife, min(StandardLife, out.Expires))
}

// instant is a time as documents carry it: UTC, microseconds. The zero time stays zero.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
