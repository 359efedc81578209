package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
)

// keyStates are the states of a publisher's keys in the order of creation.
func keyStates(t *testing.T, r *app.Registry, slug string) (kids []string, states string) {
	t.Helper()
	list, err := r.Keys(t.Context(), apptest.Operator(t, "ops"), slug)
	must(t, err)
	for _, k := range list {
		kids = append(kids, k.Kid)
		states += k.State + " "
	}
	return kids, strings.TrimSpace(states)
}

func list(t *testing.T, r *app.Registry, slug string) string {
	t.Helper()
	doc, err := r.PublisherRevocations(t.Context(), slug)
	must(t, err)
	return string(doc.Body)
}

func TestRotateAndRevokeKeys(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Store.Twice.Store(true)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	w.Move(t, time.Second)
	_, err := r.RotateKey(ctx, ops, "shop", app.ActInput{})
	must(t, err)
	kids, states := keyStates(t, r, "shop")
	if states != "retired signing" {
		t.Fatalf("after rotation: %s", states)
	}
	// A retired key is revoked without a successor; the key in use with one, in one commit.
	_, err = r.RevokeKey(ctx, ops, "shop", kids[0], app.RevokeInput{Code: "superseded"})
	must(t, err)
	w.Move(t, time.Second)
	before := publication(t, r, "shop").Revision
	_, err = r.RevokeKey(ctx, ops, "shop", "", app.RevokeInput{Code: "key_compromise", From: w.Clock.Now().Add(-time.Hour)})
	must(t, err)
	kids, states = keyStates(t, r, "shop")
	if states != "revoked revoked signing" || publication(t, r, "shop").Revision != before+1 {
		t.Errorf("after revocations: %s", states)
	}
	text := list(t, r, "shop")
	for _, want := range []string{kids[0], kids[1], `"reason":"key_compromise"`, `"revoked_from"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the list lacks %s: %s", want, text)
		}
	}
	if strings.Contains(text, kids[2]) {
		t.Error("the successor stands on the list")
	}
	jwks, err := r.PublisherKeys(ctx, "shop")
	must(t, err)
	if strings.Count(string(jwks.Body), `"registry_kid"`) != 3 {
		t.Errorf("keys that ever signed stay listed: %s", jwks.Body)
	}
	for want, in := range map[string]app.RevokeInput{
		"invalid_reason": {Code: "because"},
		"invalid_window": {Code: "error", From: w.Clock.Now(), Until: w.Clock.Now().Add(-time.Second)},
	} {
		_, err = r.RevokeKey(ctx, ops, "shop", "", in)
		wantCode(t, want, err, want)
	}
	_, err = r.RevokeKey(ctx, ops, "shop", "shop-00000000", app.RevokeInput{Code: "error"})
	wantCode(t, "unknown key", err, "unknown_key")
	_, err = r.RevokeDigest(ctx, ops, "shop", "AAAA", app.RevokeInput{Code: "error"})
	wantCode(t, "digest", err, "invalid_digest")
	_, err = r.RevokeEntity(ctx, ops, "shop", "Service", "", app.RevokeInput{Code: "error"})
	wantCode(t, "entity", err, "invalid_entity")
	if _, again := keyStates(t, r, "shop"); again != states {
		t.Errorf("refused revocations changed the keys: %s", again)
	}
	wantVerdict(t, verify(t, w, r, "shop"), "valid", "confirmed", "current", "clean")
}

// A crash, or a store that fails, between the key file and the commit leaves a file without a row, which is harmless, and never a row without a file.
func TestKeyFileComesBeforeItsRow(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	crash := func() error { return errors.New("power lost") }
	w.Store.BeforeCommit.Store(&crash)
	_, err := r.RotateKey(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "crash", err, "store_unavailable")
	w.Store.BeforeCommit.Store(nil)
	files, err := filepath.Glob(filepath.Join(w.Data, "keys", "publishers", "shop", "*.key"))
	must(t, err)
	_, states := keyStates(t, r, "shop")
	if len(files) != 2 || states != "signing" {
		t.Fatalf("%d files, keys %s", len(files), states)
	}
	for _, check := range r.Doctor(ctx, true) {
		if check.Level == app.LevelFailed {
			t.Errorf("doctor: %+v", check)
		}
	}
	_, err = r.RotateKey(ctx, ops, "shop", app.ActInput{})
	must(t, err)
	kids, _ := keyStates(t, r, "shop")
	for _, kid := range kids {
		if _, err := w.Keys.PublisherSigner("shop", kid); err != nil {
			t.Errorf("a row without a file: %v", err)
		}
	}
	// A key that cannot be stored is no key: nothing is committed.
	must(t, os.Chmod(filepath.Join(w.Data, "keys", "publishers", "shop"), 0o750))
	_, err = r.RotateKey(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "unsafe folder", err, "key_not_stored")
	if again, _ := keyStates(t, r, "shop"); len(again) != len(kids) {
		t.Error("a key was committed that was not stored")
	}
}

func rootSigner(t *testing.T, w *apptest.World) business.Signer {
	t.Helper()
	root, err := app.LoadRoot(filepath.Join(w.Data, app.RootKeyFile), nil)
	must(t, err)
	return root
}

func newRegistryKey(t *testing.T, w *apptest.World) business.RegistryKey {
	t.Helper()
	entry, err := w.Registry.PrepareRegistryKey(t.Context(), apptest.Operator(t, "ops"), "")
	must(t, err)
	signed, err := app.SignRegistryKey(rootSigner(t, w), *entry, w.Clock.Now())
	must(t, err)
	return signed
}

func TestRegistryKeyRotationAndRevocation(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Store.Twice.Store(true)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	w.Publisher(t, "other")
	old := w.Init.RegistryKid
	revocation, err := app.SignRegistryRevocation(rootSigner(t, w), old, "key_compromise", time.Time{}, time.Time{}, w.Clock.Now())
	must(t, err)
	_, err = r.RevokeRegistryKey(ctx, ops, revocation, "")
	wantCode(t, "the only registry key", err, "last_registry_key")

	entry := newRegistryKey(t, w)
	for name, change := range map[string]func(*business.RegistryKey){
		"not_after": func(e *business.RegistryKey) { e.NotAfter = "2999-01-01T00:00:00Z" },
		"kid":       func(e *business.RegistryKey) { e.Kid = "registry-00000000" },
		"signature": func(e *business.RegistryKey) {
			s := *e.RootSignature
			s.Signature = strings.Repeat("A", 86)
			e.RootSignature = &s
		},
	} {
		bad := entry
		change(&bad)
		_, err := r.InstallRegistryKey(ctx, ops, bad, "")
		wantCode(t, name, err, "root_signature_invalid")
	}
	unread := entry
	unread.Kty = "EC" // the root's signature does not cover it, and no reader would take the key
	_, err = r.InstallRegistryKey(ctx, ops, unread, "")
	wantCode(t, "no key of this protocol", err, "invalid_entry")
	unsigned := entry
	unsigned.RootSignature = nil
	_, err = r.InstallRegistryKey(ctx, ops, unsigned, "")
	wantCode(t, "unsigned", err, "invalid_entry")
	other := apptest.NewWorld(t)
	foreign := newRegistryKey(t, other)
	_, err = r.InstallRegistryKey(ctx, ops, foreign, "")
	wantCode(t, "another root", err, "root_signature_invalid")

	_, err = r.InstallRegistryKey(ctx, ops, entry, "")
	must(t, err)
	_, err = r.InstallRegistryKey(ctx, ops, entry, "")
	wantCode(t, "twice", err, "key_installed")
	for _, slug := range []string{"shop", "other"} {
		jwks, err := r.PublisherKeys(ctx, slug)
		must(t, err)
		if !strings.Contains(string(jwks.Body), `"registry_kid":"`+entry.Kid+`"`) || strings.Contains(string(jwks.Body), `"registry_kid":"`+old+`"`) {
			t.Errorf("%s is not attested anew: %s", slug, jwks.Body)
		}
		if !strings.Contains(manifestText(t, r, slug), entry.Kid) {
			t.Errorf("the manifest of %s is signed by the old key", slug)
		}
	}
	for name, change := range map[string]func(*business.RevocationEntry){
		"unsigned":      func(e *business.RevocationEntry) { e.RootSignature = nil },
		"another scope": func(e *business.RevocationEntry) { e.Scope, e.Subject = business.ScopePublisher, "shop" },
		"no reason":     func(e *business.RevocationEntry) { e.Reason = "because" },
	} {
		bad := revocation
		change(&bad)
		_, err = r.RevokeRegistryKey(ctx, ops, bad, "")
		wantCode(t, name, err, "invalid_entry")
	}
	tampered := revocation
	tampered.Subject = entry.Kid
	_, err = r.RevokeRegistryKey(ctx, ops, tampered, "")
	wantCode(t, "another subject", err, "root_signature_invalid")
	_, err = r.RevokeRegistryKey(ctx, ops, revocation, "")
	must(t, err)
	doc, err := r.RegistryRevocations(ctx)
	must(t, err)
	if !strings.Contains(string(doc.Body), `"subject":"`+old+`"`) || !strings.Contains(string(doc.Body), `"signing_kid":"`+entry.Kid+`"`) {
		t.Errorf("registry list: %s", doc.Body)
	}
	wantVerdict(t, verify(t, w, r, "shop"), "valid", "confirmed", "current", "clean")
}

// What a crash after the installation leaves is done by the next start.
func TestReattestationGoesOn(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "a")
	w.Publisher(t, "b")
	entry := newRegistryKey(t, w)
	commits := 0
	crash := func() error {
		if commits++; commits > 2 { // the installation and the first publisher
			return errors.New("power lost")
		}
		return nil
	}
	w.Store.BeforeCommit.Store(&crash)
	_, err := w.Registry.InstallRegistryKey(t.Context(), apptest.Operator(t, "ops"), entry, "")
	wantCode(t, "crash", err, "store_unavailable")
	w.Store.BeforeCommit.Store(nil)
	stop := run(t, w.Registry)
	defer stop()
	eventually(t, "both publishers are attested anew", func() bool {
		for _, slug := range []string{"a", "b"} {
			doc, err := w.Registry.PublisherKeys(t.Context(), slug)
			if err != nil || !strings.Contains(string(doc.Body), entry.Kid) {
				return false
			}
		}
		return true
	})
}

func TestRegistryKeyPastItsLife(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	w.Publisher(t, "shop")
	w.Move(t, app.RegistryKeyLife-time.Minute)
	if text := manifestText(t, r, "shop"); !strings.Contains(text, `"attestation"`) {
		t.Errorf("a minute before not_after: %s", text)
	}
	w.Move(t, time.Minute)
	text := manifestText(t, r, "shop")
	if strings.Contains(text, `"attestation"`) || !strings.Contains(text, `"unsigned_reason":"registry_key_unavailable"`) {
		t.Errorf("XP-MANIFEST-007 at not_after: %s", text)
	}
	if _, err := r.RegistryRevocations(ctx); !errors.Is(err, bizhttp.ErrListUnavailable) {
		t.Errorf("XP-INTEGRITY-011: registry list: %v", err)
	}
	if _, err := r.PublisherRevocations(ctx, "shop"); !errors.Is(err, bizhttp.ErrListUnavailable) {
		t.Errorf("XP-INTEGRITY-011: publisher list: %v", err)
	}
	if _, err := r.RegistryKeys(ctx); err != nil {
		t.Errorf("registry keys stay: %v", err)
	}
	ops := apptest.Operator(t, "ops")
	_, err := r.RotateKey(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "rotate", err, "registry_key_unavailable")
	_, err = r.RevokeEntity(ctx, ops, "shop", "service", "a", app.RevokeInput{Code: "error"})
	wantCode(t, "a revocation is recorded all the same", err, "")
	_, err = r.InstallRegistryKey(ctx, ops, newRegistryKey(t, w), "")
	must(t, err)
	if text := manifestText(t, r, "shop"); !strings.Contains(text, `"attestation"`) {
		t.Errorf("after the new key: %s", text)
	}
	if !strings.Contains(list(t, r, "shop"), "service/a") {
		t.Error("the revocation is lost")
	}
}

// A replica without the newest registry key goes on signing with the one it holds, and leaves the attestations by the newest alone.
func TestReplicaWithoutTheNewestRegistryKey(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx := t.Context()
	w.Publisher(t, "shop")
	away := t.TempDir()
	must(t, os.CopyFS(away, os.DirFS(w.Data)))
	must(t, filepath.WalkDir(away, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == away {
			return err
		}
		return os.Chmod(path, map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()])
	}))
	entry := newRegistryKey(t, w)
	_, err := w.Registry.InstallRegistryKey(ctx, apptest.Operator(t, "ops"), entry, "")
	must(t, err)
	o := w.Options()
	if o.Keys, err = app.OpenKeys(away, nil); err != nil {
		t.Fatal(err)
	}
	replica := app.New(o)
	must(t, replica.Refresh(ctx))
	if text := manifestText(t, replica, "shop"); !strings.Contains(text, `"signing_kid":"`+w.Init.RegistryKid+`"`) {
		t.Errorf("manifest of the replica: %s", text)
	}
	wantVerdict(t, verify(t, w, replica, "shop"), "valid", "confirmed", "current", "clean")
	before := publication(t, replica, "shop").Revision
	must(t, app.Reattest(replica, ctx))
	if now := publication(t, replica, "shop").Revision; now != before {
		t.Error("the replica attested with an older key")
	}
}
