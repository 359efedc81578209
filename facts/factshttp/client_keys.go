package factshttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"sayso/facts"
	"sayso/jwk"
	"sayso/report"
)

// Pin is what a reader remembers of a publisher.
type Pin struct {
	Keys      []string // RFC 7638 thumbprints of the whole key set; empty = not pinned
	ChainHead string   // a link of the publisher's changelog; "" = not pinned
}

// The rules of pin findings.
const (
	RulePinnedKeys  = "VF-PIN-001"
	RulePinnedChain = "VF-PIN-002"
)

// keySet is a publisher's key set in the cache.
type keySet struct {
	set *jwk.Set
	// again is set once an unknown kid made the client look a second time, so that records with invented kids cannot make it fetch on and on.
	again bool
}

// refetchAfter is how old a key set must be to be fetched again for a further unknown kid.
const refetchAfter = 5 * time.Minute

// keys returns the key set at a URL, fetched again when it does not list kid (F§7.4).
func (c *Client) keys(ctx context.Context, at, kid string) (*jwk.Set, error) {
	now := c.clock()
	c.mu.Lock()
	cached, ok := c.keySets[at]
	c.mu.Unlock()
	fresh := ok && now.Sub(cached.at) < keysLife
	if fresh {
		_, listed := cached.value.set.Find(kid)
		if listed || kid == "" || (cached.value.again && now.Sub(cached.at) < refetchAfter) {
			return cached.value.set, nil
		}
	}
	resp, err := c.ask(ctx, at)
	switch {
	case err != nil:
		return nil, err
	case resp.Status != http.StatusOK:
		return nil, statusError(at, resp)
	case OriginOf(resp.FinalURL) != OriginOf(at):
		return nil, answerError(at, "the key set redirects to %s; facts.json must name the place itself", OriginOf(resp.FinalURL))
	}
	set, err := jwk.ParseSet(resp.Body)
	if err != nil {
		return nil, answerError(at, "unusable key set: %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keySets) >= maxOrigins {
		clear(c.keySets)
	}
	c.keySets[at] = dated[*keySet]{&keySet{set: set, again: fresh}, now}
	return set, nil
}

// noKeys is a key source that knows why no key may be used.
type noKeys string

func (n noKeys) FindKey(string) (facts.PublicKey, error) {
	return facts.PublicKey{}, errors.New(string(n))
}

// keySource finds the keys for a record (F§13 part 3): the set that facts.json at the origin of publisher.url names. A nil source comes with the reason why
// nothing could be fetched.
func (c *Client) keySource(ctx context.Context, r *facts.Record) (source facts.KeySource, note string, set *jwk.Set) {
	if r.Signature == nil {
		return nil, "", nil
	}
	origin := OriginOf(r.Publisher.URL)
	if origin == "" {
		return noKeys("publisher.url is no absolute URL, so it leads to no key set"), "", nil
	}
	d, err := c.discovery(ctx, origin)
	if err != nil {
		return nil, fmt.Sprintf("the publisher's facts.json could not be used: %v", err), nil
	}
	switch {
	case d.Publisher.URL != r.Publisher.URL:
		return noKeys("facts.json at the origin of publisher.url names another publisher"), "", nil
	case d.Keys == "":
		return noKeys("the publisher's facts.json names no key set"), "", nil
	case d.Keys != r.Signature.Keys:
		return noKeys("signature.keys is not the key set that the publisher's facts.json names"), "", nil
	}
	set, err = c.keys(ctx, d.Keys, r.Signature.Kid)
	var refused *AnswerError
	switch {
	case errors.As(err, &refused): // it was fetched, and no key of it may be used
		return noKeys("the key set is refused: " + err.Error()), "", nil
	case err != nil:
		return nil, fmt.Sprintf("the key set could not be used: %v", err), nil
	}
	return facts.KeysOf(set), "", set
}

// pinnedKeys compares a key set with the pin.
func (p Pin) pinnedKeys(place string, set *jwk.Set) []report.Finding {
	if len(p.Keys) == 0 || set == nil {
		return nil
	}
	var out []report.Finding
	served := map[string]bool{}
	for _, k := range set.Keys {
		print := jwk.Thumbprint(k.Public)
		served[print] = true
		if !slices.Contains(p.Keys, print) {
			out = append(out, report.Finding{Rule: RulePinnedKeys, Outcome: report.Fail, Place: place,
				Message: fmt.Sprintf("the key %s (%s) is not pinned", k.Kid, print),
				Next:    "ask the publisher on another way whether this key is theirs, then pin it"})
		}
	}
	for _, print := range p.Keys {
		if !served[print] {
			out = append(out, report.Finding{Rule: RulePinnedKeys, Outcome: report.Fail, Place: place,
				Message: "the pinned key " + print + " is no longer listed",
				Next:    "retired keys stay listed for two years: ask the publisher why it is gone"})
		}
	}
	return out
}

// CheckPin compares the publisher's key set and changelog with the pin given to NewClient: one pass finding for each part that fits, fail findings for what
// does not, nothing for what is not pinned. The error is of the fetches.
func (c *Client) CheckPin(ctx context.Context) ([]report.Finding, error) {
	var out []report.Finding
	d, err := c.Discovery(ctx)
	if err != nil {
		return nil, err
	}
	if len(c.pin.Keys) > 0 {
		set := &jwk.Set{}
		if d.Keys != "" {
			if set, err = c.keys(ctx, d.Keys, ""); err != nil {
				return nil, err
			}
		}
		found := c.pin.pinnedKeys(d.Keys, set)
		if found == nil {
			found = []report.Finding{{Rule: RulePinnedKeys, Outcome: report.Pass, Place: d.Keys, Message: "the key set is the pinned one"}}
		}
		out = append(out, found...)
	}
	if c.pin.ChainHead != "" {
		doc, err := c.changesDocument(ctx, facts.ChangesQuery{})
		if err != nil {
			return nil, err
		}
		out = append(out, c.chainPin(doc))
	}
	return out, nil
}

// chainPin looks for the pinned head among the links of the whole changelog.
func (c *Client) chainPin(doc *ChangesResult) report.Finding {
	f := report.Finding{Rule: RulePinnedChain, Outcome: report.Pass, Place: doc.URL, Message: "the pinned chain head is part of the changelog"}
	if problem := doc.chainProblem(); problem != "" {
		f.Outcome, f.Message = report.Fail, problem
	} else if !slices.ContainsFunc(doc.Entries, func(e Change) bool { return e.Link == c.pin.ChainHead }) {
		f.Outcome, f.Message = report.Fail, "the pinned chain head "+c.pin.ChainHead+" is not the link of any entry: the history was changed"
	}
	if f.Outcome == report.Fail {
		f.Next = "compare with a copy of the changelog that you kept, and ask the publisher"
	}
	return f
}
