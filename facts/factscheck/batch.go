package factscheck

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jcs"
)

// noKey is a key that nobody holds; its namespace is reserved for private use in ISO 3166.
const noKey = "zz/no-such-key/at-all"

// checkBatch is item 10. Short keys keep the URL short; of a small catalogue the keys are repeated.
func (c *checker) checkBatch() {
	if c.discovery.Facts.Batch == "" {
		return
	}
	var keys []string
	for _, f := range c.records {
		keys = append(keys, f.entry.Key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	many := make([]string, facts.MaxBatch)
	for i := range many {
		many[i] = keys[i%len(keys)]
	}
	if results, at, ok := c.batch("VF-L2-010a", many); ok {
		c.expect(len(results) == len(many), "VF-L2-010a", at, fmt.Sprintf("%d results for %d keys", len(results), len(many)), "answer every key, repeated ones too")
	}
	c.checkTooMany(append(many, keys[0]))
	c.checkMissInside(keys)
	reversed := slices.Clone(keys[:min(len(keys), 10)])
	slices.Reverse(reversed)
	if results, at, ok := c.batch("VF-L2-010d", reversed); ok {
		var got []string
		for _, r := range results {
			got = append(got, r.Key)
		}
		c.expect(slices.Equal(got, reversed), "VF-L2-010d", at, "the results are in another order: "+strings.Join(got, ", "), "answer in the order of the request")
	}
}

// batch asks for keys and checks the status of the answer (010e).
func (c *checker) batch(rule string, keys []string) ([]answer, string, bool) {
	at := query(factshttp.Expand(c.discovery.Facts.Batch, "keys", strings.Join(keys, ",")), "max_age", "30d")
	data, ok := c.document(rule, at)
	if !ok {
		return nil, at, false
	}
	if problem := c.schemas.check(schemaBatch, data); problem != "" {
		return nil, at, c.expect(false, rule, at, problem, "compare with /schema/"+schemaBatch)
	}
	var doc struct {
		Count   int      `json:"count"`
		Status  string   `json:"status"`
		Results []answer `json:"results"`
	}
	if err := jcs.Decode(data, &doc); err != nil {
		return nil, at, c.expect(false, rule, at, err.Error(), "")
	}
	want := "fresh"
	for _, r := range doc.Results {
		if r.Status == "stale" {
			want = "stale"
		}
	}
	c.expect(doc.Status == want && doc.Count == len(doc.Results), "VF-L2-010e", at, fmt.Sprintf("status is %q, count is %d for %d results", doc.Status, doc.Count, len(doc.Results)),
		"the status of these records is "+want)
	return doc.Results, at, true
}

// checkTooMany is 010b.
func (c *checker) checkTooMany(keys []string) {
	at := factshttp.Expand(c.discovery.Facts.Batch, "keys", strings.Join(keys, ","))
	resp, err := c.get(at, "")
	if err != nil {
		c.unanswered("VF-L2-010b", at, "the answer could not be fetched", err)
		return
	}
	c.expect(resp.Status == http.StatusBadRequest, "VF-L2-010b", at, "51 keys are answered "+status(resp), "answer 400 naming keys; never a part of the list")
}

// checkMissInside is 010c.
func (c *checker) checkMissInside(keys []string) {
	asked := []string{keys[0], noKey, keys[len(keys)-1]}
	results, at, ok := c.batch("VF-L2-010c", asked)
	if !ok {
		return
	}
	good := len(results) == 3 && !results[0].miss() && results[1].miss() && !results[2].miss()
	c.expect(good, "VF-L2-010c", at, "the second of three results is not the miss", "put the miss where the key stands in the request")
}
