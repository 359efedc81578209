package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sayso/business"
	"sayso/internal/keyfile"
)

// Level says how much a check found.
type Level string

// The levels. Unknown means that the check could not be made here.
const (
	LevelOK      Level = "ok"
	LevelWarning Level = "warning"
	LevelFailed  Level = "failed"
	LevelUnknown Level = "unknown"
)

// Check is what one check of [Registry.Doctor] found.
type Check struct {
	ID      string `json:"id"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

func ok(id, format string, args ...any) Check {
	return Check{ID: id, Level: LevelOK, Message: fmt.Sprintf(format, args...)}
}

func warning(id, fix, format string, args ...any) Check {
	return Check{ID: id, Level: LevelWarning, Message: fmt.Sprintf(format, args...), Fix: fix}
}

func failed(id, fix, format string, args ...any) Check {
	return Check{ID: id, Level: LevelFailed, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// counted counts things: "1 row", "2 rows".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// minDisk is the free space below which a warning is given.
const minDisk = 1 << 30

// Doctor examines the registry. integrity reads the whole database, which takes time. Nothing is changed, and nothing secret is in the answer.
func (r *Registry) Doctor(ctx context.Context, integrity bool) []Check {
	checks := r.folderChecks()
	engine, schema, err := r.store.Describe(ctx)
	if err != nil {
		return append(checks, failed("store", "see that the database is there and this user may use it", "the database cannot be used: %v", err))
	}
	checks = append(checks, ok("store", "%s, schema %d", engine, schema))
	if integrity {
		if err := r.store.Check(ctx); err != nil {
			checks = append(checks, failed("integrity", "restore the last backup beside it and compare", "the database is damaged: %v", err))
		} else {
			checks = append(checks, ok("integrity", "the whole database was read; it is whole"))
		}
	}
	var found []Check
	err = r.store.View(ctx, func(rd Reader) (err error) {
		found, err = r.rowChecks(ctx, rd, integrity)
		return err
	})
	if err != nil {
		return append(checks, failed("rows", "run doctor --integrity", "the registry cannot be read: %v", err))
	}
	return append(append(checks, found...), r.headCheck(ctx))
}

// folderChecks looks at the data folder: key files, the seal, the root, the disk.
func (r *Registry) folderChecks() []Check {
	if r.data == "" {
		return []Check{{ID: "keys", Level: LevelUnknown, Message: "the keys are not in a folder of this machine"}}
	}
	checks := []Check{KeysCheck(r.data)}
	if _, err := os.Lstat(filepath.Join(r.data, KeysFolder, keyfile.PlainIdentity)); err == nil {
		checks = append(checks, warning("seal", "a registry that counts is made with SAYSO_PASSPHRASE_FILE set: sayso init in a new folder", "the keys are sealed without a passphrase: whoever reads the folder can sign"))
	} else {
		checks = append(checks, ok("seal", "the keys are sealed with a passphrase"))
	}
	if _, err := os.Lstat(filepath.Join(r.data, RootKeyFile)); err == nil {
		checks = append(checks, warning("root", "move "+RootKeyFile+" to a medium that is not connected, and keep a copy", "the root's private key lies on this machine"))
	} else {
		checks = append(checks, ok("root", "the root's private key is not in the data folder"))
	}
	switch free, err := freeSpace(r.data); {
	case err != nil:
		checks = append(checks, Check{ID: "disk", Level: LevelUnknown, Message: "the free space cannot be read"})
	case free < minDisk:
		checks = append(checks, warning("disk", "make room", "%d MiB are free in the data folder", free>>20))
	default:
		checks = append(checks, ok("disk", "%d MiB are free in the data folder", free>>20))
	}
	return checks
}

// KeysCheck looks at the key files of a data folder, and who can read them.
func KeysCheck(data string) Check {
	files, err := walkKeys(filepath.Join(data, KeysFolder))
	if err != nil {
		return failed("keys", "do what the message says, then replace any key that others may have read", "%v", err)
	}
	return ok("keys", "%s, readable by this user alone", counted(files, "key file"))
}

// walkKeys checks every folder and file below the keys folder as reading them does.
func walkKeys(dir string) (files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return keyfile.CheckFolder(path)
		}
		files++
		_, err = keyfile.Read(path)
		return err
	})
	return files, err
}

// rowChecks looks at what the database says.
func (r *Registry) rowChecks(ctx context.Context, rd Reader, integrity bool) ([]Check, error) {
	now := r.Now()
	registry, err := rd.RegistryKeys(ctx)
	if err != nil {
		return nil, err
	}
	checks := []Check{r.pinCheck(registry), r.registryKeyCheck(registry, now)}
	var proofs, keys, hashes []Check
	publishers := 0
	err = eachPublisher(ctx, rd, func(row *PublisherRow) error {
		publishers++
		found, err := proofChecks(ctx, rd, row, now)
		if err != nil {
			return err
		}
		proofs = append(proofs, found...)
		if found, err = r.keyChecks(ctx, rd, row); err != nil {
			return err
		}
		keys = append(keys, found...)
		if !integrity {
			return nil
		}
		found, err = hashCheck(ctx, rd, row)
		hashes = append(hashes, found...)
		return err
	})
	if err != nil {
		return nil, err
	}
	checks = append(checks, orOK(proofs, ok("proofs", "no proof ends within 14 days (%s)", counted(publishers, "publisher")))...)
	checks = append(checks, orOK(keys, ok("publisher_keys", "the key of every publisher that signs is here"))...)
	if integrity {
		checks = append(checks, orOK(hashes, ok("content", "every content hash follows from what is stored"))...)
	}
	return checks, nil
}

func orOK(found []Check, good Check) []Check {
	if len(found) == 0 {
		return []Check{good}
	}
	return found
}

func (r *Registry) pinCheck(rows []RegistryKeyRow) Check {
	root := r.keys.Root()
	for _, row := range rows {
		if row.Entry.Role == business.RoleRoot && row.Entry.Kid == root.Kid {
			return ok("pin", "the pinned root is %s", root.Kid)
		}
	}
	return failed("pin", "restore "+PinFile+" and the database from one backup", "the pinned root is not the root of this database")
}

func (r *Registry) registryKeyCheck(rows []RegistryKeyRow, now time.Time) Check {
	const fix = "prepare a registry key, have the root sign its entry where it is, and install it: sayso keys registry --help"
	signer := r.registrySigner(rows, now)
	if signer == nil {
		return failed("registry_key", fix, "no registry key can sign: manifests are unsigned and lists are withheld")
	}
	end := lifeOf(rows, signer.Kid())
	if left := end.Sub(now); left < keyWarning {
		return warning("registry_key", fix, "the registry key %s ends in %s", signer.Kid(), counted(int(left.Hours()/24), "day"))
	}
	return ok("registry_key", "%s signs until %s", signer.Kid(), end.Format(time.DateOnly))
}

func proofChecks(ctx context.Context, rd Reader, row *PublisherRow, now time.Time) ([]Check, error) {
	standing, err := standingOf(ctx, rd, row)
	if err != nil || row.Lifecycle == business.Withdrawn {
		return nil, err
	}
	switch {
	case row.Lifecycle == business.Published && !standing.Authorised(now):
		return []Check{failed("proofs", "the business proves a host again: sayso business prove "+row.Slug, "%s is not served: its proof has lapsed", row.Slug)}, nil
	case standing.expiring(now):
		return []Check{warning("proofs", "the business keeps the record or file in place, or proves again: sayso business prove "+row.Slug,
			"the proof of %s by %s ends on %s; on %d of 3 days it was not found", standing.Proof.Host, row.Slug, standing.Proof.ValidUntil.Format(time.DateOnly), standing.failedDays)}, nil
	}
	return nil, nil
}

// keyChecks opens the private half of the key that signs.
func (r *Registry) keyChecks(ctx context.Context, rd Reader, row *PublisherRow) ([]Check, error) {
	keys, err := rd.Keys(ctx, row.Slug)
	if err != nil {
		return nil, err
	}
	var out []Check
	for _, k := range keys {
		if !k.signs() {
			continue
		}
		_, err := r.keys.PublisherSigner(row.Slug, k.Entry.Kid)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, failed("publisher_keys", "restore the key, or run sayso keys rotate "+row.Slug, "the private key %s is missing", k.Entry.Kid))
		case err != nil:
			out = append(out, failed("publisher_keys", "restore the key from a copy", "the private key %s cannot be used: %v", k.Entry.Kid, err))
		}
	}
	return out, nil
}

// hashCheck computes the content hash of one publisher anew.
func hashCheck(ctx context.Context, rd Reader, row *PublisherRow) ([]Check, error) {
	hash, _, err := contentHash(ctx, rd, row)
	if err != nil {
		return nil, err
	}
	if hash != row.ContentHash {
		return []Check{failed("content", "restore the last backup and compare", "the content hash of %s, generation %d, does not follow from what is stored", row.Slug, row.Generation)}, nil
	}
	return nil, nil
}

// headCheck compares the heads with the rows and, where this process serves, with what is served.
func (r *Registry) headCheck(ctx context.Context) Check {
	heads, err := r.store.Heads(ctx)
	if err != nil {
		return failed("heads", "see the check of the store", "the heads cannot be read")
	}
	behind := ""
	err = r.store.View(ctx, func(rd Reader) error {
		return eachPublisher(ctx, rd, func(row *PublisherRow) error {
			if row.Revision < heads[row.Slug] || row.Generation > row.Revision {
				behind = row.Slug
			}
			return nil
		})
	})
	switch {
	case err != nil:
		return failed("heads", "run doctor --integrity", "the registry cannot be read")
	case behind != "":
		return failed("heads", "restore the last backup and compare", "the head of %s does not fit its generation", behind)
	case r.served.state.Load() != nil && r.Behind() > maxBehind:
		return failed("heads", "see why the database does not answer", "what is served is %d s old, so nothing is served", int(r.Behind().Seconds()))
	}
	return ok("heads", "what servers watch fits what is stored (%s)", counted(len(heads), "head"))
}
