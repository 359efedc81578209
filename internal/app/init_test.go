package app_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/keyfile"
	"sayso/jwk"
)

func TestInitMakesEverythingOnce(t *testing.T) {
	w := apptest.NewWorld(t)
	for name, mode := range map[string]fs.FileMode{
		"root.key": 0o600, "root.pub.json": 0o644, "keys": 0o700, "keys/registry": 0o700, "keys/proof.key": 0o600, "keys/seal.key": 0o600,
		"keys/registry/" + w.Init.RegistryKid + ".key": 0o600,
	} {
		info, err := os.Stat(filepath.Join(w.Data, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(w.Data, "keys", "registry", w.Init.RegistryKid+".key"))
	if err != nil || !jwk.Sealed(raw) {
		t.Errorf("the registry key is not sealed: %v", err)
	}
	_, err = app.Init(t.Context(), w.Store, app.InitInput{Data: w.Data, Operator: "x", Now: w.Clock.Now()})
	wantCode(t, "over a folder", err, "registry_exists")
	_, err = app.Init(t.Context(), w.Store, app.InitInput{Data: t.TempDir(), Operator: "x", Now: w.Clock.Now()})
	wantCode(t, "over a database", err, "registry_exists")
	_, err = app.Init(t.Context(), &apptest.Store{}, app.InitInput{Data: t.TempDir(), Operator: "a b", Now: w.Clock.Now()})
	wantCode(t, "operator", err, "invalid_operator")
	if _, err := w.Keys.RegistrySigner(w.Init.RegistryKid); err != nil {
		t.Errorf("the refused call took the keys away: %v", err)
	}
	actor, err := w.Registry.Authenticate(t.Context(), w.Init.OperatorToken)
	if err != nil || !actor.Operator() {
		t.Errorf("first token: %v", err)
	}
}

// Two calls at the same time make one registry, and the one that loses takes nothing away.
func TestInitTwiceAtTheSameTime(t *testing.T) {
	data, store := t.TempDir(), &apptest.Store{}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = app.Init(t.Context(), store, app.InitInput{Data: data, Operator: "x", Now: time.Now()})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		}
	}
	keys, err := app.OpenKeys(data, nil)
	if won != 1 || err != nil {
		t.Fatalf("%d made a registry: %v, %v", won, errs, err)
	}
	if _, err := keys.ProofSecret(); err != nil {
		t.Error(err)
	}
}

func TestInitThatFailsLeavesNothing(t *testing.T) {
	data, store := t.TempDir(), &apptest.Store{}
	broken := func() error { return errors.New("disk full") }
	store.BeforeCommit.Store(&broken)
	_, err := app.Init(t.Context(), store, app.InitInput{Data: data, Operator: "x", Now: time.Now()})
	wantCode(t, "no commit", err, "store_unavailable")
	left, err := os.ReadDir(data)
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	store.BeforeCommit.Store(nil)
	if _, err := app.Init(t.Context(), store, app.InitInput{Data: data, Operator: "x", Now: time.Now()}); err != nil {
		t.Errorf("a second try: %v", err)
	}
}

func TestSealedKeysNeedThePassphrase(t *testing.T) {
	data, store := t.TempDir(), &apptest.Store{}
	made, err := app.Init(t.Context(), store, app.InitInput{Data: data, Operator: "x", Now: time.Now(), Passphrase: []byte("horse"), RootPassphrase: []byte("battery")})
	must(t, err)
	secret := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	for _, pass := range []func() ([]byte, error){nil, secret("battery")} {
		if _, err := app.OpenKeys(data, pass); err == nil {
			t.Error("opened without the passphrase")
		}
	}
	keys, err := app.OpenKeys(data, secret("horse"))
	must(t, err)
	if _, err := keys.RegistrySigner(made.RegistryKid); err != nil {
		t.Error(err)
	}
	if _, err := app.LoadRoot(made.RootFile, secret("horse")); err == nil {
		t.Error("the root opens with the passphrase of the server")
	}
	root, err := app.LoadRoot(made.RootFile, secret("battery"))
	if err != nil || root.Kid() != made.RootKid || !root.Public().Equal(keys.Root().Public) {
		t.Errorf("%v", err)
	}
}

func TestF7KeyFiles(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	kids, _ := keyStates(t, w.Registry, "shop")
	path := filepath.Join(w.Data, "keys", "publishers", "shop", kids[0]+".key")
	fresh := func() *app.KeyFiles {
		t.Helper()
		keys, err := app.OpenKeys(w.Data, nil)
		must(t, err)
		return keys
	}
	must(t, os.Chmod(path, 0o640))
	if _, err := fresh().PublisherSigner("shop", kids[0]); !errors.Is(err, keyfile.ErrRefused) {
		t.Errorf("mode: %v", err)
	}
	must(t, os.Chmod(path, 0o600))
	for _, kid := range []string{"", "../../registry/" + w.Init.RegistryKid, "shop/x", "SHOP", "shop-00000000"} {
		if _, err := fresh().PublisherSigner("shop", kid); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("kid %q: %v", kid, err)
		}
	}
	for _, slug := range []string{"", "..", "a/b"} {
		if _, err := fresh().PublisherSigner(slug, kids[0]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("slug %q: %v", slug, err)
		}
		if _, err := fresh().NewPublisherKey(slug); err == nil {
			t.Errorf("slug %q: a key was made", slug)
		}
	}
	// The key of another publisher under this one's name is not taken.
	w.Publisher(t, "other")
	others, _ := keyStates(t, w.Registry, "other")
	data, err := os.ReadFile(filepath.Join(w.Data, "keys", "publishers", "other", others[0]+".key"))
	must(t, err)
	must(t, os.WriteFile(path, data, 0o600))
	if _, err := fresh().PublisherSigner("shop", kids[0]); err == nil {
		t.Error("the key of another publisher was opened")
	}
	must(t, os.Chmod(filepath.Join(w.Data, "keys"), 0o755))
	if _, err := app.OpenKeys(w.Data, nil); !errors.Is(err, keyfile.ErrRefused) {
		t.Errorf("folder: %v", err)
	}
}

func TestF7Pin(t *testing.T) {
	good := `{"kty":"OKP","crv":"Ed25519","kid":"root-1","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"good": {good, true}, "empty": {"", false}, "two": {good + "," + good, false}, "closed": {good + `]} `, false}, "more": {good + `],"x":[1`, false},
		"private":     {strings.Replace(good, `"kid"`, `"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","kid"`, 1), false},
		"small order": {strings.Replace(good, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 1), false},
	} {
		path := filepath.Join(t.TempDir(), "root.pub.json")
		must(t, os.WriteFile(path, []byte(c.text), 0o644))
		if _, err := app.ReadPin(path); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParsePin(f *testing.F) {
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","kid":"root-1","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`))
	f.Add([]byte(`{"kty":"OKP"}],"more":[{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := app.ParsePin(data)
		if err != nil {
			return
		}
		again, err := app.ParsePin(app.PinText(root))
		if err != nil || again.Kid != root.Kid || !again.Public.Equal(root.Public) {
			t.Errorf("%+v is written so that it reads as %+v, %v", root, again, err)
		}
	})
}

func levels(checks []app.Check) map[string]app.Level {
	worst := map[string]app.Level{}
	for _, c := range checks {
		if old, ok := worst[c.ID]; !ok || old == app.LevelOK {
			worst[c.ID] = c.Level
		}
	}
	return worst
}

func TestDoctor(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "proven")
	prove(t, w, "proven", "shop.example")
	_, err := r.Publish(ctx, ops, "proven", app.ActInput{})
	must(t, err)
	w.Publisher(t, "shop")
	_, err = r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line("a", "A"))})
	must(t, err)
	want := func(name string, expect map[string]app.Level) {
		t.Helper()
		checks := r.Doctor(ctx, true)
		got := levels(checks)
		for id, level := range expect {
			if got[id] != level {
				t.Errorf("%s: %s is %q, want %q in %+v", name, id, got[id], level, checks)
			}
		}
		for _, c := range checks {
			if c.Message == "" || (c.Level == app.LevelWarning || c.Level == app.LevelFailed) && c.Fix == "" {
				t.Errorf("%s: %+v says not what to do", name, c)
			}
		}
	}
	want("fresh", map[string]app.Level{
		"keys": app.LevelOK, "seal": app.LevelWarning, "root": app.LevelWarning, "store": app.LevelOK, "integrity": app.LevelOK, "pin": app.LevelOK,
		"registry_key": app.LevelOK, "proofs": app.LevelOK, "publisher_keys": app.LevelOK, "content": app.LevelOK, "heads": app.LevelOK,
	})
	must(t, os.Remove(filepath.Join(w.Data, "root.key")))
	must(t, os.Chmod(filepath.Join(w.Data, "keys", "proof.key"), 0o644))
	w.Move(t, 80*24*time.Hour)
	want("a root that is away, a file that others read, a proof that ends", map[string]app.Level{
		"root": app.LevelOK, "keys": app.LevelFailed, "proofs": app.LevelWarning,
	})
	w.Move(t, 260*24*time.Hour)
	want("lapsed, and a registry key that ends", map[string]app.Level{"proofs": app.LevelFailed, "registry_key": app.LevelWarning})
	w.Move(t, 30*24*time.Hour)
	want("no registry key", map[string]app.Level{"registry_key": app.LevelFailed})

	must(t, os.RemoveAll(filepath.Join(w.Data, "keys", "publishers", "shop")))
	must(t, w.Store.Update(ctx, "", func(tx app.Writer) error {
		row, err := tx.Publisher(ctx, "shop")
		if err != nil {
			return err
		}
		row.ContentHash = "sha256:" + strings.Repeat("0", 64)
		return tx.UpdatePublisher(ctx, row)
	}))
	keys, err := app.OpenKeys(w.Data, nil)
	must(t, err)
	o := w.Options()
	o.Keys = keys
	r = app.New(o)
	want("a missing key and a wrong hash", map[string]app.Level{"publisher_keys": app.LevelFailed, "content": app.LevelFailed})
	broken := func() error { return errors.New("no database") }
	w.Store.Fail.Store(&broken)
	want("no store", map[string]app.Level{"store": app.LevelFailed})
}

func TestWarnings(t *testing.T) {
	w := apptest.NewWorld(t)
	newPublisher(t, w, "shop")
	prove(t, w, "shop", "shop.example")
	_, err := w.Registry.Publish(t.Context(), apptest.Operator(t, "ops"), "shop", app.ActInput{})
	must(t, err)
	var log bytes.Buffer
	o := w.Options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	r := app.New(o)
	warn := app.Warner(r)
	lines := func(move time.Duration) string {
		t.Helper()
		w.Clock.Move(move)
		must(t, r.Refresh(t.Context()))
		log.Reset()
		warn()
		return log.String()
	}
	if text := lines(0); text != "" {
		t.Errorf("nothing to warn of: %s", text)
	}
	if text := lines(80 * 24 * time.Hour); !strings.Contains(text, "lapses soon") || !strings.Contains(text, "publisher=shop") {
		t.Errorf("before the lapse: %s", text)
	}
	if text := lines(time.Hour); text != "" {
		t.Errorf("the same warning within a day: %s", text)
	}
	if text := lines(24 * time.Hour); strings.Count(text, "\n") != 1 {
		t.Errorf("a day later: %s", text)
	}
	if text := lines(10 * 24 * time.Hour); !strings.Contains(text, "has lapsed") {
		t.Errorf("after the lapse: %s", text)
	}
	if text := lines(250 * 24 * time.Hour); !strings.Contains(text, "registry key ends soon") {
		t.Errorf("registry key: %s", text)
	}
	if text := lines(30 * 24 * time.Hour); !strings.Contains(text, "no registry key can sign") {
		t.Errorf("registry key: %s", text)
	}
}
