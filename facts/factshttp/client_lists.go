package factshttp

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sayso/facts"
	"sayso/jcs"
)

// IndexResult is a publisher's index (F§5.1). Values are not part of it.
type IndexResult struct {
	URL       string
	Generated facts.Date
	Entries   []facts.IndexEntry // in the order served
	JSON      []byte             // as received
}

type wireIndex struct {
	Protocol  string           `json:"protocol"`
	Count     int              `json:"count"`
	Generated facts.Date       `json:"generated"`
	Facts     []wireIndexEntry `json:"facts"`
}

type wireIndexEntry struct {
	Key          string     `json:"key"`
	Label        string     `json:"label"`
	Unit         *string    `json:"unit"`
	Period       *string    `json:"period"`
	VerifiedDate facts.Date `json:"verifiedDate"`
	Hash         string     `json:"hash"`
	Aliases      []string   `json:"aliases"`
	Withdrawn    string     `json:"withdrawn"`
	InForce      *bool      `json:"inForce"`
}

// Index reads the index, of one namespace and its subdivisions or of everything (""). A static publisher's index is filtered here.
func (c *Client) Index(ctx context.Context, namespace string) (*IndexResult, error) {
	d, err := c.Discovery(ctx)
	if err != nil {
		return nil, err
	}
	at := d.Facts.Index
	if !d.Static() {
		at = withQuery(at, "namespace", namespace)
	}
	data, err := c.get(ctx, at)
	if err != nil {
		return nil, err
	}
	var doc wireIndex
	if err := decodeAnswer(at, data, &doc); err != nil {
		return nil, err
	}
	if !supported(doc.Protocol) {
		return nil, answerError(at, "protocol %.40q cannot be read", doc.Protocol)
	}
	if doc.Count != len(doc.Facts) {
		return nil, answerError(at, "count is %d for %d entries", doc.Count, len(doc.Facts))
	}
	out := &IndexResult{URL: at, Generated: doc.Generated, JSON: data}
	for _, e := range doc.Facts {
		if n := facts.KeyNamespace(e.Key); namespace != "" && n != namespace && !strings.HasPrefix(n, namespace+"-") {
			continue
		}
		withdrawn, _ := facts.ParseDate(e.Withdrawn) // readers accept any text; only a day is of use here
		out.Entries = append(out.Entries, facts.IndexEntry{Key: e.Key, Label: e.Label, Unit: text(e.Unit), Period: text(e.Period), Hash: e.Hash,
			Verified: e.VerifiedDate, Aliases: e.Aliases, Withdrawn: withdrawn, InForce: e.InForce == nil || *e.InForce})
	}
	return out, nil
}

// BatchResult is the answer to several keys, in the order asked.
type BatchResult struct {
	Results []*Result
	Status  string // fresh | stale, recomputed: stale as soon as one record is
	JSON    []byte // as received; nil of a static publisher
}

// Batch asks for at most facts.MaxBatch keys under one selection. A static publisher is asked key by key, four at a time.
func (c *Client) Batch(ctx context.Context, keys []string, sel facts.Selection) (*BatchResult, error) {
	if len(keys) == 0 || len(keys) > facts.MaxBatch {
		return nil, &facts.ParameterError{Parameter: "keys", Message: "keys takes 1 to " + strconv.Itoa(facts.MaxBatch) + " keys"}
	}
	d, err := c.Discovery(ctx)
	if err != nil {
		return nil, err
	}
	out := &BatchResult{Results: make([]*Result, len(keys)), Status: facts.StatusFresh}
	if d.Static() || d.Facts.Batch == "" {
		err = c.batchOneByOne(ctx, out, keys, sel)
	} else {
		err = c.batch(ctx, d, out, keys, sel)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range out.Results {
		if r.Outcome == facts.OutcomeRecord && r.Status == facts.StatusStale {
			out.Status = facts.StatusStale
		}
	}
	return out, nil
}

func (c *Client) batch(ctx context.Context, d *Discovery, out *BatchResult, keys []string, sel facts.Selection) error {
	for _, k := range keys {
		if strings.Contains(k, ",") || strings.TrimSpace(k) == "" {
			return &facts.ParameterError{Parameter: "keys", Message: "a key is empty or holds a comma"}
		}
	}
	at := selectionQuery(Expand(d.Facts.Batch, "keys", strings.Join(keys, ",")), sel)
	resp, err := c.ask(ctx, at)
	switch {
	case err != nil:
		return err
	case resp.Status == http.StatusBadRequest:
		return parameterError(at, resp)
	case resp.Status != http.StatusOK:
		return statusError(at, resp)
	}
	var doc struct {
		Count   int       `json:"count"`
		Results []jcs.Raw `json:"results"`
	}
	if err := decodeAnswer(at, resp.Body, &doc); err != nil {
		return err
	}
	if len(doc.Results) != len(keys) || doc.Count != len(keys) {
		return answerError(at, "%d results for %d keys", len(doc.Results), len(keys))
	}
	out.JSON = resp.Body
	for i, raw := range doc.Results {
		if out.Results[i], err = c.answer(ctx, at, raw, keys[i], sel); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) batchOneByOne(ctx context.Context, out *BatchResult, keys []string, sel facts.Selection) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(4, len(keys)) {
		wg.Go(func() {
			for i := range next {
				r, err := c.Get(ctx, keys[i], sel)
				if err != nil {
					cancel(err)
				}
				out.Results[i] = r
			}
		})
	}
	for i := range keys {
		next <- i
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// ResolveResult is the answer to a question.
type ResolveResult struct {
	Query      string
	Candidates []facts.Candidate
	Best       *Result // only when one key fits clearly (F§6.7); verified
	Hint       string
	JSON       []byte // as received; nil of a static publisher
}

type wireCandidate struct {
	Key          string     `json:"key"`
	Label        string     `json:"label"`
	Unit         *string    `json:"unit"`
	Period       *string    `json:"period"`
	VerifiedDate facts.Date `json:"verifiedDate"`
	Score        float64    `json:"score"`
	Matched      []string   `json:"matched"`
}

func candidates(list []wireCandidate) []facts.Candidate {
	var out []facts.Candidate
	for _, w := range list {
		out = append(out, facts.Candidate{Key: w.Key, Label: w.Label, Unit: text(w.Unit), Period: text(w.Period), Verified: w.VerifiedDate,
			Score: thousandths(w.Score), Matched: w.Matched})
	}
	return out
}

func thousandths(score float64) int { return int(math.Round(score * 1000)) }

// Resolve ranks keys for a question, on the server or here when the publisher has no resolve. limit is 1 to 20.
func (c *Client) Resolve(ctx context.Context, q, namespace string, limit int) (*ResolveResult, error) {
	d, err := c.Discovery(ctx)
	if err != nil {
		return nil, err
	}
	sel := facts.Selection{MaxAge: facts.NoMaxAge}
	if d.Facts.Resolve == "" {
		return c.resolveHere(ctx, d, q, namespace, limit, sel)
	}
	at := withQuery(Expand(d.Facts.Resolve, "q", q), "namespace", namespace, "limit", strconv.Itoa(limit))
	resp, err := c.ask(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case resp.Status == http.StatusBadRequest:
		return nil, parameterError(at, resp)
	case resp.Status != http.StatusOK:
		return nil, statusError(at, resp)
	}
	var doc struct {
		Query      string          `json:"query"`
		Candidates []wireCandidate `json:"candidates"`
		Best       jcs.Raw         `json:"best"`
		Hint       string          `json:"hint"`
	}
	if err := decodeAnswer(at, resp.Body, &doc); err != nil {
		return nil, err
	}
	out := &ResolveResult{Query: q, Candidates: candidates(doc.Candidates), Hint: doc.Hint, JSON: resp.Body}
	if doc.Best != nil && len(out.Candidates) > 0 {
		if out.Best, err = c.answer(ctx, at, doc.Best, out.Candidates[0].Key, sel); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Client) resolveHere(ctx context.Context, d *Discovery, q, namespace string, limit int, sel facts.Selection) (*ResolveResult, error) {
	if strings.TrimSpace(q) == "" {
		return nil, &facts.ParameterError{Parameter: "q", Message: "q is empty; ask for words or a loose key"}
	}
	if limit < 1 || limit > facts.MaxCandidates {
		return nil, &facts.ParameterError{Parameter: "limit", Message: "limit is 1 to " + strconv.Itoa(facts.MaxCandidates)}
	}
	ranker, err := c.staticRanker(ctx, d)
	if err != nil {
		return nil, err
	}
	ranking := ranker.Rank(q, namespace, limit)
	out := &ResolveResult{Query: q, Candidates: ranker.candidates(ranking), Hint: ranking.Hint}
	if ranking.Best {
		best, err := c.getFile(ctx, d, out.Candidates[0].Key, sel)
		if err != nil {
			return nil, err
		}
		if best.Outcome == facts.OutcomeRecord {
			out.Best = best
		}
	}
	return out, nil
}
