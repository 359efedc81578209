package factshttp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sayso/facts"
	"sayso/jwk"
	"sayso/report"
	"sayso/safefetch"
)

// The rules of what Verify may look at beside the four parts.
const (
	RuleLive = "VF-READ-002" // what the publisher serves now for the key
	RuleAlso = "VF-READ-003" // the same key at another publisher
)

// VerifyOptions are the inputs of Verify.
type VerifyOptions struct {
	Fetch  *safefetch.Client // as in ClientOptions
	Clock  func() time.Time  // as in ClientOptions
	Keys   *jwk.Set          // replaces the fetch of the publisher's keys
	MaxAge int               // days, facts.NoMaxAge when not asked
	AsOf   facts.Date        // the day the claim must hold on; zero = today
	Live   bool              // ask the publisher what it serves now for the key
	Also   []string          // origins to ask for the same key
}

// VerifyResult is the outcome of F§13: four parts and what stands beside them, never one boolean.
type VerifyResult struct {
	Record       *facts.Record
	Verification facts.Verification
	Status       string // recomputed today
	AgeDays      int
	Findings     []report.Finding // RuleLive, RuleAlso
	// Unavailable is set when something that was asked for could not be fetched; the parts that needed it are not_tested.
	Unavailable bool
}

// ErrNotRecord says that what was given or fetched is no record of a fact; the error behind it says why.
var ErrNotRecord = errors.New("not a fact record")

// Verify verifies one record, wherever it came from (F§13). Keys are looked for in facts.json at the origin of publisher.url. The error is
// ErrNotRecord; everything else is in the result.
func Verify(ctx context.Context, data []byte, o VerifyOptions) (*VerifyResult, error) {
	r, err := facts.ParseRecord(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRecord, err)
	}
	c := NewClient(OriginOf(r.Publisher.URL), ClientOptions{Fetch: o.Fetch, Clock: o.Clock})
	today := c.today()
	in := facts.VerifyOptions{Today: today, MaxAge: o.MaxAge, AsOf: o.AsOf}
	out := &VerifyResult{Record: r, Status: statusOn(r, o.MaxAge, today), AgeDays: int(today - r.VerifiedDate)}
	if o.Keys != nil {
		in.Keys = facts.KeysOf(o.Keys)
	} else if r.Signature != nil {
		in.Keys, in.KeysNote, _ = c.keySource(ctx, r)
		out.Unavailable = in.Keys == nil
		if d, err := c.Discovery(ctx); err == nil {
			in.Authorities = d.authorities(r.Key)
		}
	}
	if o.Live {
		in.LiveHash = c.live(ctx, out)
	}
	out.Verification = facts.Verify(r, in)
	for _, origin := range o.Also {
		out.also(ctx, NewClient(origin, ClientOptions{Fetch: o.Fetch, Clock: o.Clock}))
	}
	return out, nil
}

// live asks the publisher for the key and returns the hash it serves, "" when it could not be learned.
func (c *Client) live(ctx context.Context, out *VerifyResult) string {
	f := report.Finding{Rule: RuleLive, Outcome: report.Pass, Place: c.origin}
	got, err := c.Get(ctx, out.Record.Key, facts.Selection{MaxAge: facts.NoMaxAge})
	hash := ""
	switch {
	case err != nil:
		out.Unavailable = true
		f.Outcome, f.Message, f.Reason = report.NotTested, "the publisher could not be asked", err.Error()
	case got.Outcome != facts.OutcomeRecord || got.Resolved != nil: // what a loose key leads to is another figure
		f.Outcome, f.Place, f.Message = report.Warning, got.URL, "the publisher serves no value for the key today"
	case got.Record.Hash == out.Record.Hash:
		hash = got.Record.Hash
		f.Place, f.Message = got.URL, "the publisher serves the same claim"
	default:
		hash = got.Record.Hash
		f.Outcome, f.Place, f.Message = report.Warning, got.URL, "the publisher serves another claim now: "+got.Record.Value.Text()+", verified "+got.Record.VerifiedDate.String()
	}
	out.Findings = append(out.Findings, f)
	return hash
}

// also looks for the same claim at another publisher.
func (v *VerifyResult) also(ctx context.Context, c *Client) {
	f := report.Finding{Rule: RuleAlso, Outcome: report.Pass, Place: c.origin}
	got, err := c.Get(ctx, v.Record.Key, facts.Selection{MaxAge: facts.NoMaxAge})
	switch {
	case err != nil:
		v.Unavailable = true
		f.Outcome, f.Message, f.Reason = report.NotTested, "this publisher could not be asked", err.Error()
	case got.Outcome != facts.OutcomeRecord || got.Record.Key != v.Record.Key:
		f.Outcome, f.Message = report.NotTested, "this publisher does not hold the key"
	case got.Record.Hash == v.Record.Hash:
		f.Place, f.Message = got.URL, "this publisher states the same claim, verified "+got.Record.VerifiedDate.String()
	default:
		f.Outcome, f.Place, f.Message = report.Warning, got.URL, "this publisher states another claim under the key: "+got.Record.Value.Text()
	}
	v.Findings = append(v.Findings, f)
}

// VerifyURL fetches a record and verifies it. The error is ErrNotRecord, *StatusError, *AnswerError, or one of safefetch.
func VerifyURL(ctx context.Context, at string, o VerifyOptions) (*VerifyResult, error) {
	c := NewClient(OriginOf(at), ClientOptions{Fetch: o.Fetch, Clock: o.Clock})
	data, err := c.get(ctx, at)
	if err != nil {
		return nil, err
	}
	o.Fetch = c.fetch
	return Verify(ctx, data, o)
}
