package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
)

// childOf is the variable that makes a test binary a writer: where its store is.
const childOf = "SAYSO_STORETEST_CHILD"

// Child turns a test binary that Kill started into a writer that never ends by itself; in any other it does nothing. TestMain calls it first.
func Child(open func(ctx context.Context, where string) (app.Store, error)) {
	where := os.Getenv(childOf)
	if where == "" {
		return
	}
	ctx := context.Background()
	s, err := open(ctx, where)
	for err == nil {
		var revision uint64
		err = s.Update(ctx, "", func(w app.Writer) (err error) { revision, err = killAct(ctx, w); return err })
		if err == nil {
			_, err = fmt.Println(revision) // the acknowledgement
		}
	}
	fmt.Println("failed:", err)
	os.Exit(1)
}

// killAct changes rows of several kinds; all carry the revision, so that half an act shows.
func killAct(ctx context.Context, w app.Writer) (uint64, error) {
	revision, err := w.Advance(ctx, "shop")
	if err != nil {
		return 0, err
	}
	row := publisher("shop")
	row.Generation = revision
	if err := w.UpdatePublisher(ctx, row); err != nil {
		return 0, err
	}
	var rows []app.RecordRow
	for i := range 3 {
		rows = append(rows, record("service", fmt.Sprintf("%08d.%d", revision, i), `{"pad":"`+strings.Repeat("x", 500)+`"}`))
	}
	if _, err := w.PutRecords(ctx, "shop", each(rows...)); err != nil {
		return 0, err
	}
	if _, err := w.PutReading(ctx, "shop", reading("stock", "", "", fmt.Sprint(revision), time.Duration(revision)*time.Second)); err != nil {
		return 0, err
	}
	return revision, w.AppendAudit(ctx, &app.AuditRow{Publisher: "shop", Target: fmt.Sprint(revision)})
}

// Kill starts a writer, kills it at a random moment, and opens the store again, many times: whatever was acknowledged is there, nothing is there by half,
// and the store goes on from there.
func Kill(t *testing.T, where string, rounds int, open func(testing.TB) app.Store) {
	s := open(t)
	With(t, s, "shop")
	ok(t, s.Close())
	acknowledged := uint64(0)
	for round := range rounds {
		child, lines := start(t, childOf, where)
		first := acknowledgement(t, lines)
		time.AfterFunc(rand.N(40*time.Millisecond), func() { child.Process.Kill() })
		acknowledged = max(acknowledged, first, rest(t, lines))
		child.Wait()
		s := open(t)
		if kept := whole(t, s); kept < acknowledged {
			t.Fatalf("round %d: revision %d was acknowledged, %d is there", round, acknowledged, kept)
		}
		ok(t, s.Close())
	}
	if acknowledged < uint64(rounds) {
		t.Errorf("only %d acts were acknowledged in %d rounds", acknowledged, rounds)
	}
}

// Beside writes while another process writes to the same store without a pause.
func Beside(t *testing.T, where string, s app.Store) {
	With(t, s, "shop")
	ctx := context.Background()
	child, lines := start(t, childOf, where)
	acknowledged := acknowledgement(t, lines)
	for range 20 {
		ok(t, s.Update(ctx, "", func(w app.Writer) error { _, err := killAct(ctx, w); return err }))
	}
	child.Process.Kill()
	acknowledged = max(acknowledged, rest(t, lines))
	child.Wait()
	if kept := whole(t, s); kept < acknowledged || kept < 21 {
		t.Errorf("revision %d is there, the other process had %d acknowledged", kept, acknowledged)
	}
}

// whole checks that every act is there whole and returns how many there are.
func whole(t *testing.T, s app.Store) (kept uint64) {
	t.Helper()
	ok(t, s.Check(context.Background()))
	view(t, s, func(ctx context.Context, r app.Reader) {
		p := must(r.Publisher(ctx, "shop"))(t)
		kept = p.Revision
		same(t, p.Generation, kept)
		if trail := must(r.Audit(ctx, "shop", 0, 1<<30))(t); uint64(len(trail)) != kept {
			t.Fatalf("%d audit rows at revision %d", len(trail), kept)
		}
		n := uint64(0)
		for row, err := range r.Leaves(ctx, "shop") {
			ok(t, err)
			if want := fmt.Sprintf("%08d.%d", n/3+1, n%3); row.ID != want {
				t.Fatalf("record %s where %s is expected", row.ID, want)
			}
			n++
		}
		same(t, n, 3*kept)
		if kept > 0 {
			same(t, show(must(r.Readings(ctx, "shop", "", "", "", ""))(t)), fmt.Sprintf("stock:/@=%d", kept))
		}
	})
	return kept
}

// start runs this test binary as a writer of the kind that a variable makes.
func start(t *testing.T, variable, where string) (*exec.Cmd, *bufio.Reader) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), variable+"="+where)
	out, err := child.StdoutPipe()
	ok(t, err)
	ok(t, child.Start())
	t.Cleanup(func() { child.Process.Kill() })
	return child, bufio.NewReader(out)
}

// rest is the last acknowledgement of a writer that is being killed.
func rest(t *testing.T, lines *bufio.Reader) (last uint64) {
	for {
		n := acknowledgement(t, lines)
		if n == 0 {
			return last
		}
		last = n
	}
}

// acknowledgement reads one line, 0 at the end. A line that was cut off was not written by a whole Println, so it counts as none.
func acknowledgement(t *testing.T, lines *bufio.Reader) uint64 {
	line, err := lines.ReadString('\n')
	if err != nil {
		if err != io.EOF {
			t.Fatal(err)
		}
		return 0
	}
	var n uint64
	if _, err := fmt.Sscan(line, &n); err != nil {
		t.Fatalf("the writer says: %s", line)
	}
	return n
}
