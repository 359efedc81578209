package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sayso/internal/app"
)

// TestKilledWhileMade kills the process that makes a registry. What is left is a whole registry, or nothing of one in the database: then the files that the
// next call names are moved away, and it makes one.
func TestKilledWhileMade(t *testing.T) {
	whole, part, nothing := 0, 0, 0
	for range rounds(t, 40) {
		data := t.TempDir()
		c, lines := start(t, data+"\n\n0\n0")
		time.Sleep(rand.N(60 * time.Millisecond))
		c.Process.Kill()
		for line := ""; line != "failed: <nil>\n"; {
			var err error
			if line, err = lines.ReadString('\n'); err != nil {
				break
			}
		}
		c.Wait()
		ctx := t.Context()
		store, err := openStore(ctx, data, "")
		must(t, err)
		var rows []app.RegistryKeyRow
		must(t, store.View(ctx, func(rd app.Reader) (err error) { rows, err = rd.RegistryKeys(ctx); return err }))
		must(t, store.Close())
		var e *app.Error
		err = initialise(ctx, data, "")
		switch {
		case len(rows) > 0:
			whole++
			if !errors.As(err, &e) || e.Code != "registry_exists" {
				t.Fatalf("a registry that is there was made again: %v", err)
			}
		case err == nil:
			nothing++
		default:
			part++
			if !errors.As(err, &e) || e.Code != "registry_exists" || e.Next == "" {
				t.Fatalf("what is left of a registry is not named: %v", err)
			}
			for _, name := range []string{app.PinFile, app.RootKeyFile, app.KeysFolder} {
				must(t, os.RemoveAll(filepath.Join(data, name)))
			}
			must(t, initialise(ctx, data, ""))
		}
		examine(t, data)
	}
	fmt.Printf("note: of the processes that make a registry %d were killed when it was whole, %d in between, %d before anything was there\n", whole, part, nothing)
}

// examine wants a registry that opens and of which doctor finds nothing wrong.
func examine(t *testing.T, data string) {
	t.Helper()
	r, keys, store, err := open(t.Context(), data, "")
	must(t, err)
	defer store.Close()
	if _, err := keys.ProofSecret(); err != nil {
		t.Fatal(err)
	}
	for _, check := range r.Doctor(t.Context(), true) {
		if check.Level == app.LevelFailed {
			t.Fatalf("doctor: %s: %s", check.ID, check.Message)
		}
	}
}
