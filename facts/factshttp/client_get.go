package factshttp

import (
	"context"
	"net/http"
	"strings"

	"sayso/facts"
	"sayso/jcs"
	"sayso/report"
	"sayso/safefetch"
)

// Result is the answer to one key. Which members are set depends on Outcome.
type Result struct {
	Outcome facts.Outcome
	URL     string // where the answer came from
	JSON    []byte // the record or miss as received; for a miss of a static publisher nil

	// OutcomeRecord, withdrawn records included. The record may be a figure of another key when Resolved is set.
	Record       *facts.Record
	Verification facts.Verification
	Resolved     *facts.Match
	// Status, AgeDays and MaxAgeDays are computed today under the selection, whatever the record says of itself.
	Status     string // fresh | stale
	AgeDays    int
	MaxAgeDays int // NoMaxAge when not asked

	// OutcomeNotHeld.
	Key, Label, Reason string
	Held               []HeldPeriod // newest first; of a static publisher the one span it offers

	// OutcomeUnknown.
	Candidates []facts.Candidate

	RequestedKey string // set when it is not simply the key
	Hint         string
	Findings     []report.Finding // pins that do not fit, and a record of another publisher
}

// HeldPeriod is one span for which a publisher holds a value. Zero dates and an empty period mean null.
type HeldPeriod struct {
	Period   string
	From, To facts.Date
}

// OK reports a record that holds in every part (F§13).
func (r *Result) OK() bool { return r.Outcome == facts.OutcomeRecord && r.Verification.OK(false) }

// Get asks for one key, exact or loose, under a selection (MaxAge is NoMaxAge when not asked). Misses are results, not errors. Errors are
// *facts.ParameterError (the publisher refused a parameter), *StatusError, *AnswerError, and those of safefetch.
func (c *Client) Get(ctx context.Context, key string, sel facts.Selection) (*Result, error) {
	switch form := facts.RequestedForm(key); {
	case strings.Contains(key, ",") || form == "":
		return nil, &facts.ParameterError{Parameter: "key", Message: "key must name one key; use a batch for several"}
	case sameKey(form, "resolve") || sameKey(form, "index"):
		return nil, &facts.ParameterError{Parameter: "key", Message: "resolve and index are other routes, not keys"}
	}
	d, err := c.Discovery(ctx)
	if err != nil {
		return nil, err
	}
	if d.Static() {
		return c.getStatic(ctx, d, key, sel)
	}
	at := selectionQuery(Expand(d.Facts.Get, "key", key), sel)
	resp, err := c.ask(ctx, at)
	if err != nil {
		return nil, err
	}
	switch resp.Status {
	case http.StatusOK, http.StatusNotFound:
		r, err := c.answer(ctx, at, resp.Body, key, sel)
		if err != nil && resp.Status == http.StatusNotFound {
			return nil, statusError(at, resp) // a 404 that is no miss document
		}
		return r, err
	case http.StatusBadRequest:
		return nil, parameterError(at, resp)
	}
	return nil, statusError(at, resp)
}

func parameterError(at string, resp *safefetch.Response) error {
	var body struct {
		Parameter string `json:"parameter"`
		Message   string `json:"message"`
	}
	if jcs.Decode(resp.Body, &body) != nil || body.Message == "" {
		return statusError(at, resp)
	}
	return &facts.ParameterError{Parameter: report.Clean(body.Parameter), Message: report.Clean(body.Message)}
}

// wireMiss is a miss of either kind (F§5.3), and the two members that set records apart from it.
type wireMiss struct {
	Covered      *bool           `json:"covered"`
	Key          string          `json:"key"`
	RequestedKey string          `json:"requestedKey"`
	Label        string          `json:"label"`
	Error        string          `json:"error"`
	Reason       string          `json:"reason"`
	Hint         string          `json:"hint"`
	PeriodsHeld  []wireHeld      `json:"periodsHeld"`
	Candidates   []wireCandidate `json:"candidates"`
	Resolved     *wireMatch      `json:"resolved"`
}

type wireHeld struct {
	Period        *string    `json:"period"`
	EffectiveFrom facts.Date `json:"effectiveFrom"`
	EffectiveTo   facts.Date `json:"effectiveTo"`
}

type wireMatch struct {
	Score   float64  `json:"score"`
	Matched []string `json:"matched"`
}

// answer reads one record or miss and verifies a record.
func (c *Client) answer(ctx context.Context, at string, data []byte, asked string, sel facts.Selection) (*Result, error) {
	var m wireMiss
	if err := decodeAnswer(at, data, &m); err != nil {
		return nil, err
	}
	out := &Result{URL: at, JSON: data, RequestedKey: m.RequestedKey, Hint: m.Hint, Key: m.Key}
	if m.Covered != nil && !*m.Covered {
		if !sameKey(asked, m.Key) && !sameKey(asked, m.RequestedKey) {
			return nil, answerError(at, "the miss is for another key than the one asked for")
		}
		if m.Error != "" {
			out.Outcome, out.Candidates = facts.OutcomeUnknown, candidates(m.Candidates)
			return out, nil
		}
		out.Outcome, out.Label, out.Reason = facts.OutcomeNotHeld, m.Label, m.Reason
		for _, h := range m.PeriodsHeld {
			out.Held = append(out.Held, HeldPeriod{Period: text(h.Period), From: h.EffectiveFrom, To: h.EffectiveTo})
		}
		return out, nil
	}
	r, err := facts.ParseRecord(data)
	if err != nil {
		return nil, answerError(at, "unusable record: %v", err)
	}
	if !sameKey(asked, r.Key) && !sameKey(asked, r.RequestedKey) {
		return nil, answerError(at, "the record is for %s, which was not asked for", r.Key)
	}
	if sel.Period != "" && !facts.SamePeriod(sel.Period, r.Period) {
		return nil, answerError(at, "the record is for the period %q, which was not asked for", report.Clean(r.Period))
	}
	if m.Resolved != nil {
		out.Resolved = &facts.Match{Score: thousandths(m.Resolved.Score), Matched: m.Resolved.Matched}
	}
	c.fill(ctx, out, r, sel)
	return out, nil
}

// fill verifies a record and completes the result.
func (c *Client) fill(ctx context.Context, out *Result, r *facts.Record, sel facts.Selection) {
	out.Outcome, out.Record, out.Key = facts.OutcomeRecord, r, r.Key
	today := c.today()
	o := facts.VerifyOptions{Today: today, MaxAge: sel.MaxAge, AsOf: sel.AsOf}
	if sel.Period != "" {
		// Whoever asks for a period asks whether the figure held in it, not whether it holds today.
		if o.AsOf = r.EffectiveFrom; o.AsOf.IsZero() {
			o.AsOf = r.EffectiveTo
		}
	}
	keys, note, set := c.keySource(ctx, r)
	o.Keys, o.KeysNote = keys, note
	if d, err := c.Discovery(ctx); err == nil {
		if d.Publisher.URL != r.Publisher.URL {
			out.Findings = append(out.Findings, report.Finding{Rule: RulePublisher, Outcome: report.Warning, Place: out.URL,
				Message: "the record is by " + r.Publisher.URL + ", the origin belongs to " + d.Publisher.URL})
		} else {
			o.Authorities = d.authorities(r.Key)
			out.Findings = append(out.Findings, c.pin.pinnedKeys(d.Keys, set)...)
		}
	}
	out.Verification = facts.Verify(r, o)
	out.MaxAgeDays = max(sel.MaxAge, facts.NoMaxAge)
	out.AgeDays = int(today - r.VerifiedDate)
	out.Status = statusOn(r, sel.MaxAge, today)
}

// RulePublisher is the rule of a record that an origin serves for somebody else.
const RulePublisher = "VF-READ-001"

// statusOn recomputes status (F§4.4, F§4.6 item 7).
func statusOn(r *facts.Record, maxAge int, today facts.Date) string {
	stale := facts.Staleness(r.NextScheduledRefresh, facts.DefaultGraceDays, today) == facts.StalenessOverdue
	if maxAge >= 0 {
		stale = int(today-r.VerifiedDate) > maxAge
	}
	if stale {
		return facts.StatusStale
	}
	return facts.StatusFresh
}

// sameKey compares two spellings of a key.
func sameKey(a, b string) bool {
	if b == "" {
		return false
	}
	never := func(string) bool { return false }
	ka, _ := facts.NormalizeKey(a, never)
	kb, _ := facts.NormalizeKey(b, never)
	return ka == kb
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
