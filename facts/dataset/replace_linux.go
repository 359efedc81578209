package dataset

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// replaceDir puts the folder fresh in the place of old in one step where the file system can exchange two names, and removes old.
func replaceDir(fresh, old string) error {
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, old, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return os.RemoveAll(fresh) // now the old folder
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(fresh, old)
	}
	return replaceInTwoSteps(fresh, old)
}
