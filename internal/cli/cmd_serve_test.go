package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/store/pgtest"
	"sayso/jcs"
)

// Several servers serve one registry: one database, and in a data folder of each the same pin and keys. Neither is in the other's way.
func TestServersShareADatabase(t *testing.T) {
	cluster, err := pgtest.Start()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	url, err := cluster.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{"SAYSO_DATABASE=" + url}
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	sayso := func(args ...string) {
		t.Helper()
		if code, out, errs := invoke(t, environ, args...); code != 0 {
			t.Fatalf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
	sayso("init", "--yes", "--data", one)
	pin, err := os.ReadFile(filepath.Join(one, app.PinFile))
	if err != nil {
		t.Fatal(err)
	}
	copyKeys(t, filepath.Join(one, app.KeysFolder), filepath.Join(two, app.KeysFolder))
	writeFile(t, filepath.Join(two, app.PinFile), string(pin))

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 2)
	for _, data := range []string{one, two} {
		go func() {
			ended <- run(ctx, []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, http.NoBody, io.Discard, io.Discard, environ)
		}()
	}
	for _, data := range []string{one, two} {
		awaitManifest(t, data, "shop", http.StatusNotFound, "unknown_publisher")
	}
	sayso("business", "create", "shop", "--name", "The Shop", "--data", one)
	for _, data := range []string{one, two} {
		awaitManifest(t, data, "shop", http.StatusOK, `"tenant":"shop"`)
	}
	stop()
	for range 2 {
		if code := <-ended; code != 0 {
			t.Errorf("exit %d", code)
		}
	}
	for _, data := range []string{one, two} {
		if _, err := os.Stat(filepath.Join(data, databaseFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s has a database of its own: %v", data, err)
		}
	}
}

// copyKeys copies a folder of keys, private as it is.
func copyKeys(t *testing.T, from, to string) {
	t.Helper()
	err := os.CopyFS(to, os.DirFS(from))
	if err == nil {
		err = filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
			mode := os.FileMode(0o600)
			if d.IsDir() {
				mode = 0o700
			}
			return errors.Join(err, os.Chmod(path, mode))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// awaitManifest waits until the server with a data folder answers for a publisher as it should.
func awaitManifest(t *testing.T, data, slug string, status int, part string) {
	t.Helper()
	last := "no server"
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var found instance
		text, err := os.ReadFile(filepath.Join(data, instanceFile))
		if err != nil || jcs.Decode(text, &found) != nil {
			continue
		}
		answer, err := http.Get(found.Origin + "/t/" + slug + "/.well-known/x-protocol/manifest.json")
		if err != nil {
			last = err.Error()
			continue
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if last = string(body); err == nil && answer.StatusCode == status && strings.Contains(last, part) {
			return
		}
	}
	t.Fatalf("%s never answered %d with %s; the last answer was %s", data, status, part, last)
}
