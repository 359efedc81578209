//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// tryLock makes a lock file. After a crash it must be removed by hand: the message of the waiting command says that another one is at work.
func tryLock(dir string) (unlock func(), err error) {
	name := filepath.Join(dir, ".sayso-lock")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	f.Close()
	return func() { os.Remove(name) }, nil
}

// syncDir does nothing: these systems cannot sync a folder.
func syncDir(string) error { return nil }
