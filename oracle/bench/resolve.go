package main

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	_ "modernc.org/sqlite"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/facts/resolvetest"
)

// topK is how many candidates a question asks for.
const topK = 20

// measureResolve compares Resolve with a BM25 query for the words of the same questions over the same labels and keys.
func measureResolve(r *report, p *plan) error {
	r.title("Resolve, top %d of labels and keys, %d questions; baseline: SQLite FTS5 in memory, any of the words, by BM25, row ids alone", topK, p.questions)
	var rows []string
	var lines []line
	var p50, p99 []time.Duration
	for _, n := range p.resolve {
		t, err := resolveAt(n, p)
		if err != nil {
			return err
		}
		p50, p99 = append(p50, median(t.p50.ours)), append(p99, median(t.p99.ours))
		rows = append(rows, fmt.Sprintf("%d|%.1f|%.1f|%s|%s|%.3f|%s|%s|%.3f", n, t.perOurs, t.perTheirs,
			ms(median(t.p50.ours)), ms(median(t.p50.theirs)), t.p50.ratio(), ms(median(t.p99.ours)), ms(median(t.p99.theirs)), t.p99.ratio()))
		lines = append(lines, line{name: fmt.Sprintf("resolve-p50/%d", n), ratio: t.p50.ratio(), bound: 0.5},
			line{name: fmt.Sprintf("resolve-p99/%d", n), ratio: t.p99.ratio(), bound: 0.5})
	}
	r.table("facts|candidates|rows|p50 ms|FTS5 p50 ms|ratio|p99 ms|FTS5 p99 ms|ratio", rows...)
	r.growth("p50", p.resolve, p50)
	r.growth("p99", p.resolve, p99)
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

type resolveTimes struct {
	p50, p99           pair
	perOurs, perTheirs float64 // answers of a question on average
}

// resolveAt measures one size.
func resolveAt(n int, p *plan) (t resolveTimes, err error) {
	ds := labelled(n)
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: factstest.Origin, Conformance: "L2"})
	if err != nil {
		return t, err
	}
	index, err := newFullText(ds)
	if err != nil {
		return t, err
	}
	defer index.close()
	labels := make([]string, len(ds.Facts))
	for i := range ds.Facts {
		labels[i] = ds.Facts[i].Label
	}
	questions := resolvetest.Queries(2, labels, p.questions)
	matches := make([]string, len(questions))
	for i, q := range questions {
		matches[i] = anyWord(q)
	}
	var found [2]int
	sides := [2]func(i int) (int, error){
		func(i int) (int, error) { return resolveOnce(s, questions[i]) },
		func(i int) (int, error) { return index.top(matches[i]) },
	}
	// A round asks every question once; its p99 needs the time of each. The first one warms both sides up.
	for round := -1; round < p.rounds; round++ {
		for k := range 2 {
			side := (round + k) & 1
			took := make([]time.Duration, len(questions))
			found[side] = 0
			for i := range questions {
				begin := time.Now()
				count, err := sides[side](i)
				took[i] = time.Since(begin)
				if err != nil {
					return t, err
				}
				found[side] += count
			}
			if round < 0 {
				continue
			}
			slices.Sort(took)
			if k == 1 && (10*found[0] < 9*found[1] || 10*found[1] < 9*found[0]) {
				return t, fmt.Errorf("one side does less: %d candidates, %d rows", found[0], found[1])
			}
			a, b := &t.p50.ours, &t.p99.ours
			if side == 1 {
				a, b = &t.p50.theirs, &t.p99.theirs
			}
			*a, *b = append(*a, quantile(took, 50)), append(*b, quantile(took, 99))
		}
	}
	t.perOurs, t.perTheirs = float64(found[0])/float64(len(questions)), float64(found[1])/float64(len(questions))
	return t, nil
}

func resolveOnce(s *facts.Snapshot, question string) (int, error) {
	found, err := s.Resolve(question, "", topK, factstest.Today)
	return len(found.Candidates), err
}

// anyWord is an FTS5 expression that matches any word of a question. Words that say nothing are left out, as resolve leaves them out.
func anyWord(question string) string {
	stop := facts.DefaultStopWords()
	words := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(stop, w) })
	slices.Sort(words)
	return `"` + strings.Join(slices.Compact(words), `" OR "`) + `"`
}

// fullText is the baseline: labels and keys in one FTS5 table without content, on one connection, asked by one prepared statement.
type fullText struct {
	db    *sql.DB
	query *sql.Stmt
}

func newFullText(ds *facts.Dataset) (*fullText, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	t := &fullText{db: db}
	if err := t.fill(ds); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return t, nil
}

func (t *fullText) fill(ds *facts.Dataset) error {
	if _, err := t.db.Exec(`CREATE VIRTUAL TABLE labels USING fts5(label, key, content='')`); err != nil {
		return err
	}
	tx, err := t.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.Prepare(`INSERT INTO labels(rowid, label, key) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	for i := range ds.Facts {
		if _, err := insert.Exec(i, ds.Facts[i].Label, ds.Facts[i].Key); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if _, err := t.db.Exec(`INSERT INTO labels(labels) VALUES ('optimize')`); err != nil {
		return err
	}
	t.query, err = t.db.Prepare(fmt.Sprintf(`SELECT rowid FROM labels WHERE labels MATCH ? ORDER BY rank LIMIT %d`, topK))
	return err
}

// top runs the query and reads every row of it.
func (t *fullText) top(match string) (count int, err error) {
	rows, err := t.query.Query(match)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return count, err
		}
		count++
	}
	return count, rows.Err()
}

func (t *fullText) close() {
	t.query.Close()
	t.db.Close()
}
