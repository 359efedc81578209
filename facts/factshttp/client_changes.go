package factshttp

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"sayso/facts"
	"sayso/jcs"
	"sayso/report"
	"sayso/safefetch"
)

// Change is one changelog entry with the link that the entry after it must carry (F§8.5).
type Change struct {
	facts.Entry
	Link string
	JSON []byte // as received
}

// ChangesResult is a changes document, whole or filtered (F§8.3, F§8.4).
type ChangesResult struct {
	URL           string
	Generated     facts.Date
	CoverageStart facts.Date // zero without entries
	ChainHead     string     // of the whole document, "" when the publisher keeps no chain
	Note          string     // says that the question reaches back before the coverage
	Entries       []Change   // newest first
	Next          string     // cursor of the next page, "" at the end
	Findings      []report.Finding
	JSON          []byte // as received; nil when the entries were filtered here

	whole bool // every entry the publisher has
}

type wireChanges struct {
	Protocol      string     `json:"protocol"`
	Generated     facts.Date `json:"generated"`
	CoverageStart facts.Date `json:"coverageStart"`
	ChainHead     *string    `json:"chainHead"`
	Count         int        `json:"count"`
	Entries       []jcs.Raw  `json:"entries"`
	Coverage      struct {
		Note string `json:"note"`
	} `json:"coverage"`
	Next string `json:"next"`
}

type wireChange struct {
	Area          string     `json:"area"`
	Key           string     `json:"key"`
	FactKey       string     `json:"factKey"`
	Label         string     `json:"label"`
	From          jcs.Raw    `json:"from"`
	To            jcs.Raw    `json:"to"`
	Unit          *string    `json:"unit"`
	Period        *string    `json:"period"`
	EffectiveFrom facts.Date `json:"effectiveFrom"`
	Source        string     `json:"source"`
	VerifiedDate  facts.Date `json:"verifiedDate"`
	SourceType    string     `json:"sourceType"`
	Method        string     `json:"method"`
	SourceFile    string     `json:"sourceFile"`
	Seq           int        `json:"seq"`
	DateBasis     string     `json:"dateBasis"`
	Quote         string     `json:"quote"`
	Withdrawn     string     `json:"withdrawn"`
	SupersededBy  string     `json:"supersededBy"`
	Correction    bool       `json:"correction"`
	Hash          string     `json:"hash"`
	PrevHash      *string    `json:"prevHash"`
}

// Changes reads what changed, newest first. A query with nothing given is the whole document. A pinned chain head is looked for when the whole document is at
// hand. Paging of a publisher that filters at the client is done here, with the same meaning: q.Since is strictly after, 50 entries a page.
func (c *Client) Changes(ctx context.Context, q facts.ChangesQuery) (*ChangesResult, error) {
	doc, err := c.changesDocument(ctx, q)
	if err != nil {
		return nil, err
	}
	if doc.whole && c.pin.ChainHead != "" {
		if f := c.chainPin(doc); f.Outcome != report.Pass {
			doc.Findings = append(doc.Findings, f)
		}
	} else if f, found := doc.chainFinding(); found {
		doc.Findings = append(doc.Findings, f)
	}
	if q.Given && doc.whole {
		return filterChanges(doc, q)
	}
	return doc, nil
}

// changesDocument fetches the document for a query; whole is set when the publisher leaves the filtering to readers.
func (c *Client) changesDocument(ctx context.Context, q facts.ChangesQuery) (*ChangesResult, error) {
	d, err := c.Discovery(ctx)
	if err != nil {
		return nil, err
	}
	data, err := c.get(ctx, d.Changes)
	if err != nil {
		return nil, err
	}
	var about struct {
		Filtering string `json:"filtering"`
		Endpoints struct {
			JSON string `json:"json"`
		} `json:"endpoints"`
	}
	if err := decodeAnswer(d.Changes, data, &about); err != nil {
		return nil, err
	}
	if about.Endpoints.JSON == "" {
		return nil, answerError(d.Changes, "endpoints.json is missing")
	}
	at := about.Endpoints.JSON
	filtered := q.Given && about.Filtering != "client"
	if filtered {
		limit := ""
		if q.Limit > 0 {
			limit = strconv.Itoa(q.Limit)
		}
		at = withQuery(at, "since", q.Since.String(), "area", q.Area, "limit", limit, "cursor", q.Cursor)
	}
	resp, err := c.ask(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case resp.Status == http.StatusBadRequest && filtered:
		return nil, parameterError(at, resp)
	case resp.Status != http.StatusOK:
		return nil, statusError(at, resp)
	}
	doc, err := parseChanges(at, resp.Body)
	if err != nil {
		return nil, err
	}
	doc.whole = !filtered
	return doc, nil
}

func parseChanges(at string, data []byte) (*ChangesResult, error) {
	var w wireChanges
	if err := decodeAnswer(at, data, &w); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(w.Protocol, "verified-changes/0.") {
		return nil, answerError(at, "protocol %.40q cannot be read, this client reads verified-changes/0.x", w.Protocol)
	}
	if w.Count != len(w.Entries) {
		return nil, answerError(at, "count is %d for %d entries", w.Count, len(w.Entries))
	}
	out := &ChangesResult{URL: at, Generated: w.Generated, CoverageStart: w.CoverageStart, ChainHead: text(w.ChainHead), Note: w.Coverage.Note, Next: w.Next, JSON: data}
	for i, raw := range w.Entries {
		e, err := parseChange(raw)
		if err != nil {
			return nil, answerError(at, "entry %d: %v", i, err)
		}
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}

// parseChange reads one entry of any publisher; unknown members are ignored but count in the link.
func parseChange(raw []byte) (Change, error) {
	var w wireChange
	if err := jcs.Decode(raw, &w); err != nil {
		return Change{}, err
	}
	from, err := facts.ParseValue(w.From)
	if err != nil {
		return Change{}, err
	}
	to, err := facts.ParseValue(w.To)
	if err != nil {
		return Change{}, err
	}
	link, err := facts.EntryLink(raw)
	if err != nil {
		return Change{}, err
	}
	withdrawn, _ := facts.ParseDate(w.Withdrawn)
	return Change{
		Entry: facts.Entry{
			Area: w.Area, Key: w.Key, FactKey: w.FactKey, Label: w.Label, From: from, To: to, Unit: text(w.Unit), Period: text(w.Period),
			EffectiveFrom: w.EffectiveFrom, Source: w.Source, VerifiedDate: w.VerifiedDate, SourceType: w.SourceType, Method: w.Method, SourceFile: w.SourceFile,
			Seq: w.Seq, DateBasis: w.DateBasis, Quote: w.Quote, Withdrawn: withdrawn, SupersededBy: w.SupersededBy, Correction: w.Correction,
			Hash: w.Hash, PrevHash: text(w.PrevHash),
		},
		Link: link,
		JSON: raw,
	}, nil
}

// RuleChain is the rule of a changelog whose entries are not linked as F§8.5 asks.
const RuleChain = "VF-READ-004"

// chainFinding reports links that do not protect the history, and in a whole document links that do not fit.
func (d *ChangesResult) chainFinding() (f report.Finding, found bool) {
	f = report.Finding{Rule: RuleChain, Place: safefetch.WithoutQuery(d.URL)}
	if d.claimLinked() {
		f.Outcome, f.Message = report.Warning, "linked by claim hash: does not protect history"
		f.Next = "keep a copy of the changelog: an old entry can be edited without a trace"
		return f, true
	}
	if !d.whole || d.ChainHead == "" {
		return f, false
	}
	f.Outcome, f.Message = report.Fail, d.chainProblem()
	f.Next = "compare with a copy of the changelog that you kept, and ask the publisher"
	return f, f.Message != ""
}

// claimLinked reports a chain that names claim hashes instead of links. Only neighbours can do that, so it holds for a filtered document too.
func (d *ChangesResult) claimLinked() bool {
	for i, e := range d.Entries {
		if i == 0 && d.whole && d.ChainHead != "" && d.ChainHead == e.Hash {
			return true
		}
		if i+1 < len(d.Entries) && e.PrevHash != "" && e.PrevHash == d.Entries[i+1].Hash {
			return true
		}
	}
	return false
}

// chainProblem checks the links of a whole document and says what does not fit, "" when all do.
func (d *ChangesResult) chainProblem() string {
	if len(d.Entries) == 0 {
		if d.ChainHead != "" {
			return "chainHead is set although there is no entry"
		}
		return ""
	}
	if d.ChainHead != d.Entries[0].Link {
		return "chainHead is not the link of the newest entry"
	}
	for i, e := range d.Entries {
		want := ""
		if i+1 < len(d.Entries) {
			want = d.Entries[i+1].Link
		}
		if e.PrevHash != want {
			return "the entry of " + e.VerifiedDate.String() + " for " + report.Clean(e.FactKey) + " is not linked to the one before it"
		}
	}
	return ""
}

// filterChanges does for a reader what a server would do with since, area, limit and cursor. The cursor is the position of the last entry served, counted
// from the oldest, so that entries appended meanwhile neither repeat nor drop others.
func filterChanges(doc *ChangesResult, q facts.ChangesQuery) (*ChangesResult, error) {
	before := len(doc.Entries)
	if q.Cursor != "" {
		n, err := strconv.Atoi(q.Cursor)
		if err != nil || n < 0 || n > len(doc.Entries) {
			return nil, &facts.ParameterError{Parameter: "cursor", Message: "cursor is not one that this publisher's changelog gave"}
		}
		before = n
	}
	limit := q.Limit
	if limit <= 0 {
		limit = facts.DefaultChanges
	}
	out := *doc
	out.Entries, out.Next, out.JSON, out.whole = nil, "", nil, false
	last := 0
	for i, e := range doc.Entries {
		position := len(doc.Entries) - 1 - i
		if position >= before || (q.Area != "" && e.Area != q.Area) || (!q.Since.IsZero() && e.VerifiedDate <= q.Since) {
			continue
		}
		if len(out.Entries) == limit {
			out.Next = strconv.Itoa(last)
			break
		}
		out.Entries = append(out.Entries, e)
		last = position
	}
	if !q.Since.IsZero() && !doc.CoverageStart.IsZero() && q.Since < doc.CoverageStart.AddDays(-1) {
		out.Note = "the changelog begins on " + doc.CoverageStart.String() + "; it does not tell what changed before"
	}
	return &out, nil
}
