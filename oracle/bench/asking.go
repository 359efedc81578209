package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// asked is one shop on both sides: compiled, and in the index of the baseline, once in each of its engines.
type asked struct {
	compiled  *answer.Compiled
	indexes   []bleve.Index
	questions []question
	calls     []coverage.Call // the same questions, as a tool gets them
}

func newAsked(n, questions int) (*asked, error) {
	s, err := shelf(n)
	if err != nil {
		return nil, err
	}
	a := &asked{questions: questionsOf(n, questions)}
	if a.compiled, err = answer.Compile(s); err != nil {
		return nil, err
	}
	for _, q := range a.questions {
		arguments, err := jcs.Encode(map[string]string{"query": q.text})
		if err != nil {
			return nil, err
		}
		a.calls = append(a.calls, coverage.Call{Tool: "ask", Handler: "knowledge.search", Arguments: arguments, Now: noon})
	}
	for _, e := range []engine{inMemory, scorched} {
		index, err := newIndex(e, s.Records)
		if err != nil {
			return nil, errors.Join(err, a.close())
		}
		a.indexes = append(a.indexes, index)
	}
	return a, nil
}

func (a *asked) close() (err error) {
	for _, index := range a.indexes {
		err = errors.Join(err, index.Close())
	}
	return err
}

// noon of a Monday is the moment of every call.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// answers asks every question and returns what one took.
func (a *asked) answers() (time.Duration, error) {
	begin := time.Now()
	for _, call := range a.calls {
		if _, err := a.compiled.Answer(call, nil); err != nil {
			return 0, err
		}
	}
	return time.Since(begin) / time.Duration(len(a.calls)), nil
}

// searches is the same of the baseline.
func (a *asked) searches(index bleve.Index) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		begin := time.Now()
		for i := range a.questions {
			if _, err := hits(index, a.questions[i].text); err != nil {
				return 0, err
			}
		}
		return time.Since(begin) / time.Duration(len(a.questions)), nil
	}
}

// agree holds that both sides know what the questions are about: each product that is named is stated by ours and among the hits of the baseline. It returns how
// many questions got each status.
func (a *asked) agree() (map[coverage.Status]int, error) {
	count := map[coverage.Status]int{}
	for i, q := range a.questions {
		out, err := a.compiled.Answer(a.calls[i], nil)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", q.text, err)
		}
		count[out.Coverage.Status]++
		if q.about == "" {
			continue
		}
		named := func(p coverage.Proposition) bool { return p.Subject.ID == q.about }
		if out.Coverage.Status != coverage.Resolved || !slices.ContainsFunc(out.Coverage.Propositions, named) {
			return nil, fmt.Errorf("%q is answered %s and does not state %s", q.text, out.Coverage.Status, q.about)
		}
		for _, index := range a.indexes {
			found, err := hits(index, q.text)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(found, q.about) {
				return nil, fmt.Errorf("the baseline does not find %s for %q", q.about, q.text)
			}
		}
	}
	return count, nil
}

// measureQuestion compares one question in words with a query of the same words. How the cost grows is a ratio of its own, between the two largest sizes in
// alternating rounds.
func measureQuestion(r *report, p *plan) (err error) {
	r.title("One question in words of a publisher with N products, compiled; baseline: bleve's match query of the same words over titles and aliases, English, NewMemOnly, 10 hits; beside it the same over scorch")
	shops := make([]*asked, len(p.asked))
	defer func() {
		for _, a := range shops {
			if a != nil {
				err = errors.Join(err, a.close())
			}
		}
	}()
	var rows []string
	var lines []line
	var times []time.Duration
	for i, n := range p.asked {
		if shops[i], err = newAsked(n, p.questions); err != nil {
			return err
		}
		statuses, err := shops[i].agree()
		if err != nil {
			return err
		}
		both, err := alternate(p.short, shops[i].answers, shops[i].searches(shops[i].indexes[0]))
		if err != nil {
			return err
		}
		other, err := alternate(p.rounds, shops[i].answers, shops[i].searches(shops[i].indexes[1]))
		if err != nil {
			return err
		}
		ours := median(both.ours)
		times = append(times, ours)
		rows = append(rows, fmt.Sprintf("%d|%s|%s|%.3f|%s|%.3f|%d|%d|%d|%d", n, ms(ours), ms(median(both.theirs)), both.ratio(), ms(median(other.theirs)), other.ratio(),
			statuses[coverage.Resolved], statuses[coverage.Partial], statuses[coverage.NeedsContext], statuses[coverage.NotCovered]))
		lines = append(lines, line{name: fmt.Sprintf("answer-question/%d", n), ratio: both.ratio(), bound: 1})
	}
	largest, before := shops[len(shops)-1], shops[len(shops)-2]
	growth, err := alternate(p.short, largest.answers, before.answers)
	if err != nil {
		return err
	}
	r.table("products|ours ms|bleve ms|ratio|scorch ms|ratio|resolved|partial|needs context|not covered", rows...)
	r.growth("one question", p.asked, times)
	r.note("a question of %d products takes %.3f times as long as one of %d", p.asked[len(p.asked)-1], growth.ratio(), p.asked[len(p.asked)-2])
	for _, l := range lines {
		r.bound(l)
	}
	r.bound(line{name: "answer-question-growth", ratio: growth.ratio(), bound: 3})
	return nil
}

// measureCompile compares compiling with building the index of the baseline, both from the records in memory.
func measureCompile(r *report, p *plan) error {
	r.title("Compiling a publisher of N products for answering; baseline: bleve's index of their titles and aliases, NewMemOnly, one batch; beside it the same over scorch")
	var rows []string
	var lines []line
	var times []time.Duration
	for _, n := range p.asked {
		s, err := shelf(n)
		if err != nil {
			return err
		}
		rounds := p.rounds
		if n < 10_000 {
			rounds = p.short
		}
		compiling := func() (time.Duration, error) {
			begin := time.Now()
			_, err := answer.Compile(s)
			return time.Since(begin), err
		}
		both, err := alternate(rounds, compiling, indexing(inMemory, s.Records))
		if err != nil {
			return err
		}
		other, err := alternate(p.rounds, compiling, indexing(scorched, s.Records))
		if err != nil {
			return err
		}
		times = append(times, median(both.ours))
		rows = append(rows, fmt.Sprintf("%d|%s|%s|%.3f|%s|%.3f", n, ms(median(both.ours)), ms(median(both.theirs)), both.ratio(), ms(median(other.theirs)), other.ratio()))
		lines = append(lines, line{name: fmt.Sprintf("answer-compile/%d", n), ratio: both.ratio(), bound: 1})
	}
	r.table("products|ours ms|bleve ms|ratio|scorch ms|ratio", rows...)
	r.growth("compiling", p.asked, times)
	r.bound(lines[len(lines)-1])
	return nil
}

// indexing builds the index of the baseline and looks whether every record is in it.
func indexing(e engine, records []business.Record) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		begin := time.Now()
		index, err := newIndex(e, records)
		took := time.Since(begin)
		if err != nil {
			return 0, err
		}
		count, err := index.DocCount()
		if err == nil && count != uint64(len(records)) {
			err = fmt.Errorf("the baseline holds %d records of %d", count, len(records))
		}
		return took, errors.Join(err, index.Close())
	}
}
