package factshttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"sayso/facts"
)

// staticHint says why a static publisher cannot answer for another day or period.
const staticHint = "this publisher serves static files and offers the value in force only"

// scoreAlias is the score of an alias in thousandths; a key scores more, resolved words less (F§6.5).
const scoreAlias = 950

// getStatic does for an L1 publisher what a server would do: look up, else rank over the index, choose the value.
func (c *Client) getStatic(ctx context.Context, d *Discovery, asked string, sel facts.Selection) (*Result, error) {
	key, _ := facts.NormalizeKey(asked, func(string) bool { return false })
	if facts.CheckKeyGrammar(key) == nil {
		r, err := c.getFile(ctx, d, key, sel)
		var status *StatusError
		if err == nil || !errors.As(err, &status) || status.Status != http.StatusNotFound {
			return r, err
		}
	}
	ranker, err := c.staticRanker(ctx, d)
	if err != nil {
		return nil, err
	}
	ranking := ranker.Rank(asked, "", facts.DefaultCandidates)
	// A single segment is never a key and is not resolved, only a key or an alias by class (F§2.1).
	resolves := ranking.Best && (strings.Contains(key, "/") || ranking.Hits[0].Score >= scoreAlias)
	if !resolves {
		return &Result{Outcome: facts.OutcomeUnknown, URL: d.Facts.Index, RequestedKey: facts.RequestedForm(asked), Hint: ranking.Hint, Candidates: ranker.candidates(ranking)}, nil
	}
	best := ranking.Hits[0]
	r, err := c.getFile(ctx, d, ranker.entries[best.Entry].Key, sel)
	if err != nil {
		return nil, err
	}
	r.RequestedKey = facts.RequestedForm(asked)
	if best.Score < scoreAlias { // a key and an alias are found, not resolved (F§6.7)
		r.Resolved = &facts.Match{Score: best.Score, Matched: best.Matched}
	}
	return r, nil
}

// getFile reads one record file and applies the selection to the only value it holds.
func (c *Client) getFile(ctx context.Context, d *Discovery, key string, sel facts.Selection) (*Result, error) {
	at := Expand(d.Facts.Get, "key", key)
	data, err := c.get(ctx, at)
	if err != nil {
		return nil, err
	}
	r, err := facts.ParseRecord(data)
	if err != nil {
		return nil, answerError(at, "unusable record: %v", err)
	}
	if !sameKey(key, r.Key) && !sameKey(key, r.RequestedKey) {
		return nil, answerError(at, "the record is for %s, which was not asked for", r.Key)
	}
	out := &Result{URL: at, JSON: data, RequestedKey: r.RequestedKey}
	if !holds(r, sel, c.today()) {
		out.JSON = nil // the file holds the record that was not asked for
		out.Outcome, out.Key, out.Label, out.Reason, out.Hint = facts.OutcomeNotHeld, r.Key, r.Label, facts.ReasonNotHeld, staticHint
		out.Held = []HeldPeriod{{Period: r.Period, From: r.EffectiveFrom, To: r.EffectiveTo}}
		return out, nil
	}
	c.fill(ctx, out, r, sel)
	return out, nil
}

// holds reports whether the one value of a file answers a selection. effectiveTo ends with the day before any later value, so the span of the file tells.
func holds(r *facts.Record, sel facts.Selection, today facts.Date) bool {
	if sel.Period != "" {
		return r.Period != "" && facts.SamePeriod(sel.Period, r.Period)
	}
	day := sel.AsOf
	if day.IsZero() {
		day = today
	}
	if withdrawn, err := facts.ParseDate(r.Withdrawn); err == nil && day < withdrawn {
		return false
	}
	return r.EffectiveFrom <= day && (r.EffectiveTo.IsZero() || day <= r.EffectiveTo)
}

// staticRanker ranks keys over a published index.
type staticRanker struct {
	*facts.Ranker
	entries []facts.IndexEntry // sorted by key, as the ranker numbers them
}

// staticRanker builds the ranker from the index and the published word lists (F§6.10), once per discovery life.
func (c *Client) staticRanker(ctx context.Context, d *Discovery) (*staticRanker, error) {
	now := c.clock()
	c.mu.Lock()
	cached := c.ranking
	c.mu.Unlock()
	if cached.value != nil && now.Sub(cached.at) < discoveryLife {
		return cached.value, nil
	}
	index, err := c.Index(ctx, "")
	if err != nil {
		return nil, err
	}
	entries := slices.Clone(index.Entries)
	slices.SortFunc(entries, func(a, b facts.IndexEntry) int { return strings.Compare(a.Key, b.Key) })
	in := facts.RankerInput{StopWords: d.Facts.StopWords, JurisdictionWords: d.Facts.JurisdictionWords}
	if in.StopWords == nil {
		in.StopWords = facts.DefaultStopWords()
	}
	if in.JurisdictionWords == nil {
		in.JurisdictionWords = facts.DefaultJurisdictionWords()
	}
	for _, e := range entries {
		in.Entries = append(in.Entries, facts.RankerEntry{Key: e.Key, Label: e.Label, Aliases: e.Aliases})
	}
	for _, n := range d.Namespaces {
		in.Namespaces = append(in.Namespaces, n.Name)
	}
	for _, t := range d.Facts.Topics {
		in.Topics = append(in.Topics, facts.RankerTopic{Prefix: t.Prefix, Title: t.Title, Area: t.Area, Synonyms: t.Synonyms})
	}
	for _, a := range d.Facts.AliasClasses {
		if !slices.Contains(in.AliasClasses, a.Name) {
			in.AliasClasses = append(in.AliasClasses, a.Name)
		}
	}
	r, err := facts.NewRanker(in)
	if err != nil {
		return nil, answerError(d.Facts.Index, "unusable index: %v", err)
	}
	built := &staticRanker{Ranker: r, entries: entries}
	c.mu.Lock()
	c.ranking = dated[*staticRanker]{built, now}
	c.mu.Unlock()
	return built, nil
}

func (s *staticRanker) candidates(ranking facts.Ranking) []facts.Candidate {
	var out []facts.Candidate
	for _, h := range ranking.Hits {
		e := s.entries[h.Entry]
		out = append(out, facts.Candidate{Key: e.Key, Label: e.Label, Unit: e.Unit, Period: e.Period, Verified: e.Verified, Score: h.Score, Matched: h.Matched})
	}
	return out
}
