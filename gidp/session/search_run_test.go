package session

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// full asks for the models that need minutes: SAYSO_SEARCH=full go test -run TestInterleavingsToTheEnd -v -timeout 60m ./gidp/session
func full() bool { return os.Getenv("SAYSO_SEARCH") == "full" }

// What the readings C-01, C-05 and C-06 are for: without each of them two production sessions fail in one way, with all of them in none.
func TestEveryInterleaving(t *testing.T) {
	value := budget{Asks: 1, Disclosures: 1}
	for _, c := range []struct {
		model      *model
		seen, none []string
	}{
		{searched("unanswered claims ignored", budget{Asks: 2}, vague, without(ignoreUnanswered)), []string{"mismatch"}, nil},
		{searched("unanswered claims block", budget{Asks: 2}, vague), nil, []string{"mismatch", "split", "stuck"}},
		{searched("expired claims block", budget{Asks: 1}, vague, timed(asksLapse)), nil, []string{"mismatch", "split", "stuck"}},
		{searched("literal rows under a pending slot", value, yes, without(literalPending), refreshing(false)), []string{"split", "stuck"}, []string{"mismatch"}},
		{searched("phase under a pending slot", value, yes, refreshing(false)), []string{"stuck"}, []string{"mismatch", "split"}},
		{searched("as built", value, vague), nil, []string{"mismatch", "split", "stuck"}},
	} {
		f := c.model.run(t, 1)
		t.Log(c.model.name+":", f)
		for id, n := range f.broken {
			if c.model.cfg.literal == 0 && id != "I16" {
				t.Errorf("%s: %d steps or nodes break %s, the first: %s", c.model.name, n, id, f.trails[id])
			}
		}
		for _, kind := range c.none {
			if f.counts[kind] > 0 {
				t.Errorf("%s: %s: %s", c.model.name, kind, f.trails[kind])
			}
		}
		for _, kind := range c.seen {
			if f.counts[kind] == 0 {
				t.Errorf("%s: no %s is found, so the search sees nothing", c.model.name, kind)
			}
		}
	}
}

// No rule breaks in any model, and the models take every row of the transition table.
func TestInterleavingsToTheEnd(t *testing.T) {
	models := quick()
	walkers := 1
	switch {
	case full():
		models = append(models, thorough()...)
		walkers = runtime.GOMAXPROCS(0)
	case raceEnabled:
		models, walkers = models[:4], 2
	}
	taken := map[string]bool{}
	for _, m := range models {
		start := time.Now()
		f := m.run(t, walkers)
		for row := range f.rows {
			taken[row] = true
		}
		if full() {
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			t.Logf("%s: %s, %s, %d MiB", m.name, f, time.Since(start).Round(time.Second/10), mem.Sys>>20)
		} else {
			t.Logf("%s: %s", m.name, f)
		}
		for id, n := range f.broken {
			t.Errorf("%s: %d steps or nodes break %s, the first: %s", m.name, n, id, f.trails[id])
		}
		for _, kind := range []string{"mismatch", "split", "stuck"} {
			if f.counts[kind] > 0 {
				t.Errorf("%s: %s: %s", m.name, kind, f.trails[kind])
			}
		}
	}
	if raceEnabled && !full() {
		return
	}
	rows := 0
	for row, e := range table {
		switch {
		case e.by == nobody && taken[row]:
			t.Errorf("%s: %s is taken, and cannot be", e.id, row)
		case e.by != nobody && !taken[row]:
			t.Errorf("%s: %s is taken by no path", e.id, row)
		case e.by != nobody:
			rows++
		}
	}
	for _, row := range refusals {
		if !taken[row] {
			t.Errorf("nothing is refused by %s", row)
		}
	}
	t.Logf("%d of %d rows of the table are taken, %d are in no one's reach", rows, len(table), len(table)-rows)
}

// The search in one order of independent steps sees what the search in all orders sees, and the search by names that mean nothing sees the same without names.
func TestReductionLosesNothing(t *testing.T) {
	models := []func() *model{
		func() *model { return searched("two questions each", budget{Asks: 2}, vague) },
		func() *model { return searched("a question and a value", budget{Asks: 1, Disclosures: 1}, yes, agreed) },
		func() *model { return searched("a deadline", budget{Asks: 1}, vague, timed(asksLapse)) },
		func() *model {
			return searched("consent", budget{Consents: 1, Handoffs: 1, Leaves: 1}, yes, from(Qualified))
		},
		func() *model { return searched("other versions", budget{Asks: 1, Versions: 1}, yesNo) },
		func() *model { return searched("copies", budget{Asks: 1, Copies: 1}, yesNo) },
	}
	if raceEnabled {
		models = models[2:3]
	}
	for _, model := range models {
		var runs [3]*findings
		for i := range runs {
			m := model()
			m.whole, m.exact, m.keep = i == 0, i < 2, true
			runs[i] = m.run(t, 1)
			t.Log(m.name+":", runs[i])
		}
		for k := range runs[0].seen {
			if !runs[1].seen[k] {
				t.Errorf("%s: the search in one order does not see %d of %d steps and nodes at rest", model().name, len(runs[0].seen)-len(runs[1].seen), len(runs[0].seen))
				break
			}
		}
		for k := range runs[1].shapes {
			if !runs[2].shapes[k] {
				t.Errorf("%s: the search without names does not see %s", model().name, k)
				break
			}
		}
	}
}
