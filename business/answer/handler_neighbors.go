package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"sayso/business"
	"sayso/business/coverage"
	"sayso/jcs"
)

// neighborsCall is the arguments of knowledge.neighbors.
type neighborsCall struct {
	key       coverage.Key
	rel       []string // none: every relation
	direction string
	limit     int
}

func readNeighbors(call coverage.Call) (neighborsCall, error) {
	a := readArguments(call, "type", "id", "rel", "direction", "limit")
	n := neighborsCall{
		key: coverage.Key{Type: a.text("/type", a.need("type"), maxName), ID: a.text("/id", a.need("id"), maxID)}, rel: a.texts("rel", 16, maxName),
		direction: a.oneOf("direction", "both", "out", "in", "both"), limit: a.whole("limit", 20, 1, 50),
	}
	for i, rel := range n.rel {
		if !business.ValidRel(rel) {
			a.failAt(pointer("/rel", strconv.Itoa(i)), quoted(rel)+" is no relation; use one of part_of, has_part, variant_of, requires, accessory_for, alternative_to, same_as, or x- and an own name")
		}
	}
	if n.limit < len(n.rel) {
		a.fail("limit", fmt.Sprintf("at least %d is required for as many relations", len(n.rel)))
	}
	return n, a.err()
}

// neighbour is one entry of the result.
type neighbour struct {
	Rel       string          `json:"rel"`
	Direction string          `json:"direction"` // out: the subject links to the record; in: the record links to the subject
	Record    neighbourRecord `json:"record"`
}

type neighbourRecord struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// neighbors is the handler knowledge.neighbors: the records that the publisher itself links with one. Nothing is derived, and a link to a record that is not
// published is left out without a word.
func (c *Compiled) neighbors(call coverage.Call) (*coverage.Outcome, error) {
	n, err := readNeighbors(call)
	if err != nil {
		return nil, err
	}
	x := c.index
	e := coverage.Evidence{Complete: !x.publication.Incomplete, Scope: "record"}
	i, ok := x.record[n.key]
	if !ok {
		e.Propositions = []coverage.Proposition{{Shape: call.Handler, Subject: x.subject(&n.key), RequestValue: n.key.String(), Verdict: coverage.VerdictNotPublished}}
		gap := coverage.Gap{Text: n.key.String(), Reason: coverage.ReasonNotPublished}
		return &coverage.Outcome{Coverage: e.Finish(call.Handler, false, []coverage.Gap{gap}), Result: coverage.WithheldResult()}, nil
	}
	all, hidden := x.linked(&x.records[i], n)
	shown := spread(all, n.limit)
	e.Complete = e.Complete && len(shown) == len(all)
	gaps := x.judgeRelations(&e, call.Handler, n, all, hidden)
	result, err := jcs.Encode(struct {
		Subject    coverage.Key `json:"subject"`
		Neighbours []neighbour  `json:"neighbours"`
	}{n.key, shown})
	return &coverage.Outcome{Coverage: e.Finish(call.Handler, true, gaps), Result: result}, err
}

// linked lists the neighbours by relation, direction and key, and the relations that have a link which is not shown.
func (x *index) linked(r *business.Record, n neighborsCall) (all []neighbour, hidden map[string]bool) {
	hidden = map[string]bool{}
	add := func(rel, direction string, k coverage.Key) {
		if n.rel != nil && !slices.Contains(n.rel, rel) || n.direction != "both" && n.direction != direction {
			return
		}
		i, ok := x.record[k]
		if !ok {
			hidden[rel] = true
			return
		}
		other := &x.records[i]
		all = append(all, neighbour{rel, direction, neighbourRecord{other.Type, other.ID, other.Title, other.URL}})
	}
	for _, l := range r.Links {
		add(l.Rel, "out", coverage.Key{Type: l.Type, ID: l.ID})
	}
	for _, e := range x.incoming[coverage.Key{Type: r.Type, ID: r.ID}] {
		add(e.rel, "in", e.from)
	}
	slices.SortFunc(all, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.Rel, b.Rel), -cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Record.Type, b.Record.Type), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	return slices.Compact(all), hidden
}

// spread keeps limit neighbours: the first of every relation before the second of any, so that no relation that was answered is missing from the result.
func spread(all []neighbour, limit int) []neighbour {
	kept := make([]bool, len(all))
	count := 0
	for _, first := range []bool{true, false} {
		for i := range all {
			begins := i == 0 || all[i].Rel != all[i-1].Rel
			if count < limit && begins == first {
				kept[i] = true
				count++
			}
		}
	}
	out := make([]neighbour, 0, count)
	for i := range all {
		if kept[i] {
			out = append(out, all[i])
		}
	}
	return out
}

// judgeRelations states one proposition for each relation asked for, or one for all when none was named. That a relation has no link is a no only where the
// schema says that all its links are stated and nothing was left out; otherwise it is not known.
func (x *index) judgeRelations(e *coverage.Evidence, handler string, n neighborsCall, all []neighbour, hidden map[string]bool) (gaps []coverage.Gap) {
	asked := n.rel
	if asked == nil {
		asked = []string{""}
	}
	var verdicts []string
	for _, rel := range asked {
		verdict := coverage.VerdictUnknown
		switch {
		case slices.ContainsFunc(all, func(o neighbour) bool { return rel == "" || o.Rel == rel }):
			verdict = coverage.VerdictTrue
		case slices.Contains(x.schema.LinksClosed, rel) && !hidden[rel] && e.Complete:
			verdict = coverage.VerdictExcluded
		case rel == "":
			gaps = append(gaps, coverage.Gap{Field: "links", Reason: coverage.ReasonNotPublished})
		default:
			gaps = append(gaps, coverage.Gap{Text: rel, Field: "links", Reason: coverage.ReasonNotPublished})
		}
		verdicts = append(verdicts, verdict)
		e.Propositions = append(e.Propositions, coverage.Proposition{Shape: handler, Subject: x.subject(&n.key), Field: "links", RequestValue: rel, Verdict: verdict})
	}
	e.Polarity = coverage.PolarityOf(verdicts...)
	return gaps
}
