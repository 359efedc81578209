package vault

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func isMark(t *testing.T, v *Vault, want int64) {
	t.Helper()
	if got, err := v.Mark(); err != nil || got != want {
		t.Errorf("mark %d %v, want %d", got, err, want)
	}
}

// onlyGrows raises a mark up and down.
func onlyGrows(t *testing.T, v *Vault) {
	t.Helper()
	isMark(t, v, 0)
	for _, c := range []struct{ raise, want int64 }{{0, 0}, {-4, 0}, {3, 3}, {3, 3}, {1, 3}, {20, 20}, {7, 20}, {math.MaxInt64, math.MaxInt64}} {
		if err := v.RaiseMark(c.raise); err != nil {
			t.Fatal(err)
		}
		isMark(t, v, c.want)
	}
}

func TestTheMarkOnlyGrows(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	v, err := Create(data, nil, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	onlyGrows(t, v)
	again, err := Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	isMark(t, again, math.MaxInt64)
	names, err := filepath.Glob(filepath.Join(data, "keys", "gidp", "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("%v %v", names, err)
	}
	if info, err := os.Stat(again.markPath(math.MaxInt64)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// A folder that was listed is listed again once it has changed, and always while its last change is younger than the clock of its file system may be coarse.
func TestAListingEndsWithTheNextChange(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	v, err := Create(data, nil, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i, age := range []time.Duration{time.Hour, 0, time.Minute, settled / 2} {
		n := int64(i + 1)
		if err := other.RaiseMark(n); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(v.dir, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		isMark(t, v, n)
		if kept := v.seen.Load() != nil && v.seen.Load().highest == n; kept != (age > settled) {
			t.Errorf("a change %v ago: the listing was kept: %v", age, kept)
		}
		isMark(t, v, n)
	}
	if err := os.RemoveAll(v.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Mark(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is gone: %v", err)
	}
}

// A vault of no folder does all that one with a folder does, and leaves nothing behind.
func TestEphemeral(t *testing.T) {
	t.Chdir(t.TempDir())
	v, err := Ephemeral(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	onlyGrows(t, v)
	other, err := Ephemeral(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	isMark(t, other, 0)
	sealed, err := v.Seal("interest/a", []byte("quiet"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := v.Unseal("interest/a", sealed); err != nil || string(plain) != "quiet" {
		t.Errorf("%q %v", plain, err)
	}
	if _, err := other.Unseal("interest/a", sealed); !errors.Is(err, ErrSeal) {
		t.Errorf("another vault opened it: %v", err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
	if _, err := Ephemeral(strings.NewReader("short")); err == nil {
		t.Error("made a key of five bytes")
	}
}

// Whatever else lies in the folder, a half-made file of a process that ended too, is no mark.
func TestOtherNamesAreNoMarks(t *testing.T) {
	v := create(t)
	if err := v.RaiseMark(5); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mark-", "mark-x", "mark-09", "mark-+9", "mark--9", "mark-9223372036854775808", "mark-9 ", "mark9", ".key-77", "mark-0x9"} {
		if err := os.WriteFile(filepath.Join(v.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	isMark(t, v, 5)
	// A process that ended between the two steps leaves both.
	if err := os.WriteFile(v.markPath(4), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	isMark(t, v, 5)
	if err := v.RaiseMark(6); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(v.markPath(4)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what lies under the mark stays: %v", err)
	}
}

func TestManyRaiseOneMark(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if _, err := Create(data, nil, rand.Reader); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			v, err := Open(data, nil)
			if err != nil {
				t.Error(err)
				return
			}
			for n := range int64(20) {
				if err := v.RaiseMark(n*4 + int64(i)); err != nil {
					t.Error(err)
				}
				if got, err := v.Mark(); err != nil || got < n*4+int64(i) {
					t.Errorf("mark %d %v after %d", got, err, n*4+int64(i))
				}
			}
		})
	}
	wait.Wait()
	v, err := Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	isMark(t, v, 79)
}

func TestAMarkThatIsNotKeptIsAnError(t *testing.T) {
	v := create(t)
	if err := os.RemoveAll(v.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Mark(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := v.RaiseMark(1); err == nil {
		t.Error("kept a mark nowhere")
	}
}
