package dataset

import (
	"errors"
	"io/fs"
	"os"
)

// replaceInTwoSteps moves old aside, fresh in, and removes old; when the second step fails, old is put back.
func replaceInTwoSteps(fresh, old string) error {
	aside := fresh + ".old"
	if err := os.Rename(old, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, old); err != nil {
		return errors.Join(err, os.Rename(aside, old))
	}
	return os.RemoveAll(aside)
}
