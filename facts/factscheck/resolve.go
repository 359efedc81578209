package factscheck

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jcs"
)

type candidate struct {
	Key   string  `json:"key"`
	Score float64 `json:"score"`
}

// resolution is an answer to a question as far as the rules need it.
type resolution struct {
	Candidates []candidate `json:"candidates"`
	Best       *struct {
		Key string `json:"key"`
	} `json:"best"`
	body []byte
}

// resolve asks a question; what goes wrong is recorded under rule.
func (c *checker) resolve(rule, q string) (*resolution, string, bool) {
	at := factshttp.Expand(c.discovery.Facts.Resolve, "q", q)
	resp, err := c.get(at, "")
	if err != nil {
		c.unanswered(rule, at, "the question could not be asked", err)
		return nil, at, false
	}
	r := &resolution{body: resp.Body}
	if resp.Status != http.StatusOK {
		return nil, at, c.expect(false, rule, at, "the answer is "+status(resp), "answer 200 with candidates")
	}
	if err := jcs.Decode(resp.Body, r); err != nil {
		return nil, at, c.expect(false, rule, at, "the answer cannot be read: "+err.Error(), "answer with a resolution document")
	}
	c.checkOrder(r, at)
	return r, at, true
}

// checkOrder is 009b, looked at in every resolution.
func (c *checker) checkOrder(r *resolution, at string) {
	sorted := slices.IsSortedFunc(r.Candidates, func(a, b candidate) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
	c.expect(sorted, "VF-L2-009b", at, "candidates are not sorted by score and key", "sort by score descending, equal scores by key bytes")
}

// checkResolve is item 9.
func (c *checker) checkResolve() {
	if c.discovery.Facts.Resolve == "" {
		return
	}
	first := c.records[0].record
	if r, at, ok := c.resolve("VF-L2-009a", first.Label); ok {
		problem := c.schemas.check(schemaResolution, r.body)
		c.expect(problem == "", "VF-L2-009a", at, problem, "compare with /schema/"+schemaResolution)
	}
	some := c.spread(dayKeys)
	c.each(len(some), "exact keys", func(i int) { c.checkExact(some[i].entry) })
	c.checkAmbiguous()
	audit := evenly(c.records, auditKeys)
	c.each(len(audit), "self-resolution audit", func(i int) { c.audit(audit[i].entry) })
}

// checkExact is 009c.
func (c *checker) checkExact(e indexEntry) {
	want := func(q string, score float64, next string) {
		r, at, ok := c.resolve("VF-L2-009c", q)
		if !ok {
			return
		}
		good := len(r.Candidates) > 0 && r.Candidates[0].Key == e.Key && math.Abs(r.Candidates[0].Score-score) < 0.0005
		seen := "there are no candidates"
		if len(r.Candidates) > 0 {
			seen = fmt.Sprintf("the first candidate is %.200s with score %v", r.Candidates[0].Key, r.Candidates[0].Score)
		}
		c.expect(good, "VF-L2-009c", at, seen, next)
	}
	want(e.Key, 1, "a key scores 1")
	if len(e.Aliases) > 0 {
		want(e.Aliases[0], 0.95, "an alias scores 0.95")
	}
}

// checkAmbiguous is 009d: two facts with one label in one namespace cannot be told apart by it.
func (c *checker) checkAmbiguous() {
	owners := map[string]int{}
	for _, e := range c.index {
		owners[strings.ToLower(e.Label)]++
	}
	var labels []string
	for _, e := range c.index {
		if owners[strings.ToLower(e.Label)] > 1 && !slices.Contains(labels, e.Label) {
			labels = append(labels, e.Label)
		}
	}
	if labels = evenly(labels, dayKeys); len(labels) == 0 {
		c.untested("VF-L2-009d", c.discovery.Facts.Index, "no two facts have the same label", "there is no ambiguous label to try")
		return
	}
	c.each(len(labels), "ambiguous labels", func(i int) {
		if r, at, ok := c.resolve("VF-L2-009d", labels[i]); ok {
			c.expect(r.Best == nil, "VF-L2-009d", at, "several facts have this label, yet it resolves to one", "list the candidates and let the reader choose")
		}
	})
}

// audit is 009e for one key: its own words must not lead elsewhere (F§6.11).
func (c *checker) audit(e indexEntry) {
	for _, f := range facts.AuditForms(e.Key, e.Label, e.Aliases) {
		r, at, ok := c.resolve("VF-L2-009e", f.Query)
		if !ok {
			continue
		}
		switch {
		case r.Best != nil && r.Best.Key != e.Key:
			c.fail("VF-L2-009e", at, fmt.Sprintf("%.200q (%s) resolves to %.200s, not to %s", f.Query, f.Form, r.Best.Key, e.Key), "add the words that tell the two apart to label or key, or an alias")
		case r.Best == nil && f.Form == facts.FormLabel:
			c.warn("VF-L2-009e", at, "the label of "+e.Key+" does not resolve", "make the label unmistakable, or add a synonym")
		default:
			c.pass("VF-L2-009e")
		}
	}
}
