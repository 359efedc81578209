package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sayso/business"
	"sayso/internal/keyfile"
	"sayso/jwk"
)

// Lives of keys.
const (
	RegistryKeyLife = 365 * 24 * time.Hour
	rootKeyLife     = 10 * 365 * 24 * time.Hour
)

// InitInput says how a registry begins.
type InitInput struct {
	Data           string // folder, which must exist
	Passphrase     []byte // seals the sealing identity; empty leaves it plain
	RootPassphrase []byte // seals the root's private half; empty leaves it plain
	Operator       string // name of the first operator's token
	Now            time.Time
}

// InitResult is what there is afterwards. OperatorToken is shown once.
type InitResult struct {
	RootKid       string    `json:"root_kid"`
	RootFile      string    `json:"root_file"`
	PinFile       string    `json:"pin_file"`
	RegistryKid   string    `json:"registry_kid"`
	NotAfter      time.Time `json:"not_after"`
	OperatorToken string    `json:"operator_token"`
	TokenID       string    `json:"token_id"`
}

// Init makes the root key, the registry key signed by it, the pin, the secret of proof tokens, the sealing identity and the first operator's token. It
// refuses to run over anything of an existing registry. Files come first, the commit last; what a failure leaves behind is taken away again, and what a
// crash leaves behind is named by the next call.
func Init(ctx context.Context, store Store, in InitInput) (_ *InitResult, err error) {
	if !label.MatchString(in.Operator) {
		return nil, invalid("invalid_operator", "an operator's name has 1 to 64 characters of A-Z a-z 0-9 . _ @ - and begins with a letter or digit")
	}
	if err := nothingThere(ctx, store, in.Data); err != nil {
		return nil, err
	}
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.RemoveAll(path)
			}
		}
	}()
	file := func(name string) string { return filepath.Join(in.Data, name) }
	// Making the folder decides between two calls at the same time: the one that does not make it touches nothing.
	if err := os.Mkdir(file(KeysFolder), 0o700); err != nil {
		return nil, fmt.Errorf("make key folder: %w", err)
	}
	made = append(made, file(KeysFolder))
	root, err := newKey(func(x string) string { return keyID("root", x) })
	if err != nil {
		return nil, err
	}
	keys, err := fillFolder(file(KeysFolder), business.Root{Kid: root.Kid(), Public: root.Public().Public}, in.Passphrase)
	if err != nil {
		return nil, err
	}
	registry, err := keys.NewRegistryKey()
	if err != nil {
		return nil, err
	}
	if err := keyfile.Store(file(RootKeyFile), root, in.RootPassphrase); err != nil {
		return nil, err
	}
	made = append(made, file(RootKeyFile))
	if err := writePin(file(PinFile), keys.root); err != nil {
		return nil, err
	}
	made = append(made, file(PinFile))
	now := in.Now.UTC().Truncate(time.Microsecond)
	rootEntry, err := business.NewRegistryKey(root.Kid(), business.RoleRoot, root.Public().Public, now, now.Add(rootKeyLife))
	if err != nil {
		return nil, err
	}
	entry, err := NewRegistryEntry(registry, now)
	if err != nil {
		return nil, err
	}
	if entry, err = SignRegistryKey(business.KeySigner(root), entry, now); err != nil {
		return nil, err
	}
	secret, token := newToken(operatorPrefix, now, in.Operator)
	if err := begin(ctx, store, now, []business.RegistryKey{rootEntry, entry}, token); err != nil {
		return nil, err
	}
	return &InitResult{
		RootKid: root.Kid(), RootFile: file(RootKeyFile), PinFile: file(PinFile),
		RegistryKid: entry.Kid, NotAfter: now.Add(RegistryKeyLife), OperatorToken: secret, TokenID: token.ID,
	}, nil
}

// nothingThere refuses a data folder or a store that holds anything of a registry.
func nothingThere(ctx context.Context, store Store, data string) error {
	for _, name := range []string{PinFile, RootKeyFile, KeysFolder} {
		if _, err := os.Lstat(filepath.Join(data, name)); !errors.Is(err, fs.ErrNotExist) {
			return refusal(KindConflict, "registry_exists", "%s exists already in the data folder", name).
				next("use the registry that is there; after an interrupted init, move %s, %s and %s away first", PinFile, RootKeyFile, KeysFolder)
		}
	}
	return storeError(store.View(ctx, noRegistry(ctx)))
}

func noRegistry(ctx context.Context) func(Reader) error {
	return func(rd Reader) error {
		rows, err := rd.RegistryKeys(ctx)
		if err == nil && len(rows) > 0 {
			err = refusal(KindConflict, "registry_exists", "the database holds a registry already").next("restore its keys, or name another database")
		}
		return err
	}
}

// fillFolder puts the sealing identity and the proof secret into a new folder.
func fillFolder(dir string, root business.Root, passphrase []byte) (*KeyFiles, error) {
	identity, err := keyfile.NewIdentity(dir, passphrase)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, secretSize)
	rand.Read(secret) // never fails
	return newKeyFiles(dir, root, identity), keyfile.StoreSealed(filepath.Join(dir, proofFile), secret, identity)
}

// writePin writes the public root, readable by everybody and never over another one.
func writePin(path string, root business.Root) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write the pinned root: %w", err)
	}
	_, err = f.Write(pinText(root))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the pinned root: %w", err)
	}
	return nil
}

// begin commits the first rows of the registry.
func begin(ctx context.Context, store Store, now time.Time, entries []business.RegistryKey, token *TokenRow) error {
	return storeError(store.Update(ctx, "", func(w Writer) error {
		if _, err := w.Advance(ctx, ""); err != nil {
			return err
		}
		if err := noRegistry(ctx)(w); err != nil {
			return err
		}
		for _, entry := range entries {
			if err := w.PutRegistryKey(ctx, &RegistryKeyRow{Entry: entry, InstalledAt: now}); err != nil {
				return err
			}
		}
		if err := w.PutToken(ctx, token); err != nil {
			return err
		}
		return w.AppendAudit(ctx, &AuditRow{At: now, Actor: theRegistry.String(), Action: "init", Target: entries[len(entries)-1].Kid, Reason: "first operator " + token.ID})
	}))
}

// NewRegistryEntry is the entry of a registry key before the root signed it: it may be taken to where the root is kept.
func NewRegistryEntry(registry business.Signer, now time.Time) (business.RegistryKey, error) {
	return business.NewRegistryKey(registry.Kid(), business.RoleSigning, registry.Public(), now, now.Add(RegistryKeyLife))
}

// SignRegistryKey signs the entry of a registry key with the root. It needs neither store nor server and runs where the root is kept.
func SignRegistryKey(root business.Signer, entry business.RegistryKey, now time.Time) (business.RegistryKey, error) {
	return business.SignEntry(entry, business.Family, root, now)
}

// SignRegistryRevocation makes and signs the entry that withdraws a registry key. from and until may be zero: no bound. It runs where the root is kept.
func SignRegistryRevocation(root business.Signer, kid, reason string, from, until, now time.Time) (business.RevocationEntry, error) {
	if !jwk.ValidKid(kid) {
		return business.RevocationEntry{}, invalid("invalid_kid", "the kid is not a key id")
	}
	return business.SignRevocation(business.RevocationEntry{
		Scope: business.ScopeRegistryKey, Subject: kid, Reason: reason, RevokedFrom: bound(from), RevokedUntil: bound(until), CreatedAt: bound(now),
	}, root, now)
}

// bound writes an optional instant.
func bound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
