package crash

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"sayso/internal/app"
)

// outcome is what the journal says about an act.
type outcome string

const (
	begun        outcome = "begin"   // and nothing else: the act was under way
	acknowledged outcome = "done"    // with the revision
	declined     outcome = "refused" // by the life cycle
)

// What a receipt says about the content.
const (
	changed = "changed"
	same    = "same"
	unknown = "unknown" // the act was asked for again
)

// entry is an act with its outcome.
type entry struct {
	act
	outcome  outcome
	revision uint64
	content  string
}

// journal is written by the child and read by the parent. It lies beside the data folder.
type journal struct{ file *os.File }

func journalPath(data string) string { return filepath.Join(filepath.Dir(data), "journal") }

func openJournal(data string) (journal, error) {
	f, err := os.OpenFile(journalPath(data), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return journal{f}, err
}

func (j journal) begin(a act) error {
	_, err := fmt.Fprintln(j.file, begun, a.number, a.kind, a.slug, a.seed)
	return err
}

// end is durable when it returns.
func (j journal) end(a act, receipt *app.Receipt) error {
	if receipt == nil {
		fmt.Fprintln(j.file, declined, a.number)
		return j.file.Sync()
	}
	content := changed
	switch {
	case receipt.Repeated:
		content = unknown
	case receipt.Unchanged:
		content = same
	}
	fmt.Fprintln(j.file, acknowledged, a.number, receipt.Revision, content)
	return j.file.Sync()
}

// run performs one act with its lines.
func (j journal) run(ctx context.Context, r *app.Registry, a act) error {
	if err := j.begin(a); err != nil {
		return err
	}
	receipt, err := a.perform(ctx, r)
	if err != nil && !refused(err) {
		return fmt.Errorf("act %d, %s of %s: %w", a.number, a.kind, a.slug, errors.Join(err, errors.Unwrap(err)))
	}
	return j.end(a, receipt)
}

// read is the whole journal. A last line without its end was not written.
func read(data string) ([]entry, error) {
	text, err := os.ReadFile(journalPath(data))
	if err != nil {
		return nil, err
	}
	var out []entry
	lines := bufio.NewScanner(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]))
	for lines.Scan() {
		var word outcome
		var e entry
		if _, err := fmt.Sscan(lines.Text(), &word, &e.number); err != nil {
			return nil, fmt.Errorf("journal line %q: %w", lines.Text(), err)
		}
		if word == begun {
			e.outcome = begun
			if _, err := fmt.Sscan(lines.Text(), &word, &e.number, &e.kind, &e.slug, &e.seed); err != nil || e.number != len(out)+1 {
				return nil, fmt.Errorf("journal line %q does not follow %d acts: %v", lines.Text(), len(out), err)
			}
			out = append(out, e)
			continue
		}
		if e.number != len(out) {
			return nil, fmt.Errorf("journal line %q does not end act %d", lines.Text(), len(out))
		}
		last := &out[len(out)-1]
		if last.outcome = word; word == acknowledged {
			if _, err := fmt.Sscan(lines.Text(), &word, &e.number, &last.revision, &last.content); err != nil {
				return nil, fmt.Errorf("journal line %q: %w", lines.Text(), err)
			}
		}
	}
	return out, lines.Err()
}

// childVariable makes this test program a child: data folder, database, number of the next act (0: make the registry),
// seed.
const childVariable = "SAYSO_CRASH_CHILD"

// child acts until it is killed. It says on its output when it begins, and why it ended should it end by itself.
func child(settings string) error {
	part := strings.Split(settings, "\n")
	if len(part) != 4 {
		return errors.New("a child needs four settings")
	}
	var number int
	var seed uint64
	if _, err := fmt.Sscan(part[2]+" "+part[3], &number, &seed); err != nil {
		return err
	}
	ctx := context.Background()
	if number == 0 {
		return initialise(ctx, part[0], part[1])
	}
	r, _, _, err := open(ctx, part[0], part[1])
	if err != nil {
		return err
	}
	// It serves while it acts, as the program does.
	if err := r.Refresh(ctx); err != nil {
		return err
	}
	j, err := openJournal(part[0])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	random := rand.New(rand.NewPCG(seed, 0))
	for ; ; number++ {
		if err := j.run(ctx, r, draw(random, number)); err != nil {
			return err
		}
	}
}
