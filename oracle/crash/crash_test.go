package crash

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sayso/internal/app"
	"sayso/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	if settings := os.Getenv(childVariable); settings != "" {
		fmt.Println("failed:", child(settings))
		os.Exit(1)
	}
	if settings := os.Getenv(gidpVariable); settings != "" {
		fmt.Println("failed:", gidpChild(settings))
		os.Exit(1)
	}
	pgtest.Main(m)
}

const (
	life   = 20                    // rounds that one data folder lives through
	window = 60 * time.Millisecond // from the first act to the last moment of a kill
	early  = 8                     // every early-th child is killed while it opens the registry
)

// rounds is how many children are killed.
func rounds(t *testing.T, usual int) int {
	if text := os.Getenv("SAYSO_CRASH_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		must(t, err)
		return n
	}
	return usual
}

func TestKilledOverSQLite(t *testing.T) {
	kill(t, "SQLite", rounds(t, 200), func() string { return "" })
}

func TestKilledOverPostgreSQL(t *testing.T) {
	kill(t, "PostgreSQL", rounds(t, 40), func() string { return pgtest.Database(t) })
}

// tally counts what the children died of.
type tally struct {
	acknowledged   int
	idle, starting int // killed between two acts, and before the first
	undone, kept   map[kind]int
}

// kill is the test: a folder, a child that acts on it, a signal, the judgement.
func kill(t *testing.T, engine string, rounds int, database func() string) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	count := tally{undone: map[kind]int{}, kept: map[kind]int{}}
	var w *world
	for round := range rounds {
		if round%life == 0 {
			count.add(w)
			w = begin(t, database())
		}
		w.round(t, random, &count, round%early == early-1)
	}
	count.add(w)
	inside := 0
	var each []string
	all := maps.Clone(count.undone)
	maps.Copy(all, count.kept)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		inside += count.undone[k] + count.kept[k]
		each = append(each, fmt.Sprintf("%s %d+%d", k, count.undone[k], count.kept[k]))
	}
	fmt.Printf("note: %s: %d of %d children died inside an act, %d between two, %d before the first; %d acts acknowledged, none lost; undone+kept: %s\n",
		engine, inside, rounds, count.idle, count.starting, count.acknowledged, strings.Join(each, ", "))
	if rounds >= 40 && inside < rounds/4 {
		t.Errorf("only %d of %d children died inside an act: the test has lost its point", inside, rounds)
	}
}

func (c *tally) add(w *world) {
	if w != nil {
		c.acknowledged += w.acknowledged
	}
}

// world is a data folder with its journal.
type world struct {
	data, database string
	acknowledged   int
}

// begin makes a registry with publishers that have authority, keys and records.
func begin(t *testing.T, database string) *world {
	t.Helper()
	w := &world{data: filepath.Join(t.TempDir(), "data"), database: database}
	ctx := t.Context()
	must(t, os.Mkdir(w.data, 0o700))
	must(t, initialise(ctx, w.data, database))
	r, _, store, err := open(ctx, w.data, database)
	must(t, err)
	defer store.Close()
	j, err := openJournal(w.data)
	must(t, err)
	defer j.file.Close()
	number := 0
	for _, slug := range shops {
		for _, k := range []kind{app.OpCreatePublisher, app.OpRecordVerification, app.OpConfirmVerification, app.OpPublish} {
			number++
			must(t, j.run(ctx, r, act{number: number, kind: k, slug: slug}))
		}
	}
	return w
}

// round starts a child, kills it, and judges what is left. early kills it at any moment from its start, else while it acts.
func (w *world) round(t *testing.T, random *rand.Rand, count *tally, early bool) {
	t.Helper()
	before, err := read(w.data)
	must(t, err)
	w.run(t, len(before)+1, random, early)
	w.settle(t)
	history, err := read(w.data)
	must(t, err)
	var pending *act
	if last := history[len(history)-1]; last.outcome == begun {
		pending = &last.act
	}
	r, keys, store, err := open(t.Context(), w.data, w.database)
	must(t, err)
	defer store.Close()
	committed := judge(t, r, keys, store, history, pending)
	switch {
	case pending == nil && len(history) == len(before):
		count.starting++
	case pending == nil:
		count.idle++
	case committed:
		count.kept[pending.kind]++
	default:
		count.undone[pending.kind]++
	}
	if pending != nil {
		j, err := openJournal(w.data)
		must(t, err)
		defer j.file.Close()
		again(t, r, j, *pending, committed)
	}
	w.acknowledged = 0
	for _, e := range history {
		if e.outcome == acknowledged {
			w.acknowledged++
		}
	}
}

// run is the life of one child.
func (w *world) run(t *testing.T, number int, random *rand.Rand, early bool) {
	t.Helper()
	c, lines := start(t, fmt.Sprintf("%s\n%s\n%d\n%d", w.data, w.database, number, random.Uint64()))
	if !early {
		if line, err := lines.ReadString('\n'); line != "ready\n" {
			c.Process.Kill()
			t.Fatalf("the child says %q, %v", line, err)
		}
	}
	time.Sleep(time.Duration(random.Int64N(int64(window))))
	must(t, c.Process.Kill())
	for {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "failed:") {
			t.Errorf("the child gave up: %s", line)
		}
		if err != nil {
			break
		}
	}
	if err := c.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
}

// start runs this test program as a child.
func start(t *testing.T, settings string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+settings)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	return c, bufio.NewReader(out)
}

// settle waits until PostgreSQL has noticed the death of its client: what it had received of a commit it still does.
func (w *world) settle(t *testing.T) {
	t.Helper()
	if w.database == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, w.database)
	must(t, err)
	defer conn.Close(ctx)
	for others := 1; others > 0; {
		must(t, conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&others))
		time.Sleep(time.Millisecond)
	}
}
