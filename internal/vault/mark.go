package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sayso/internal/keyfile"
)

const markPrefix = "mark-"

// markText is what a file of a mark says to whoever opens it.
const markText = "A database of this data folder has had the mark in the name of this file. A lower one is an older copy. Do not remove this file.\n"

// Mark is the highest mark of a database that this folder has seen, 0 when it has seen none.
func (v *Vault) Mark() (int64, error) {
	if v.mark != nil {
		return v.mark.Load(), nil
	}
	info, err := os.Stat(v.dir)
	if err != nil {
		return 0, fmt.Errorf("read the mark: %w", err)
	}
	last := v.seen.Load()
	if last != nil && last.changed.Equal(info.ModTime()) {
		return last.highest, nil
	}
	highest, _, err := v.marks()
	if err == nil && time.Since(info.ModTime()) > settled { // else it may have changed since within one tick of its file system
		v.seen.Store(&listing{info.ModTime(), highest})
	}
	return highest, err
}

// listing is what the folder held when it had last changed. A change since shows in its time.
type listing struct {
	changed time.Time
	highest int64
}

// settled is how old the last change of a folder is when another one is sure to have another time.
const settled = 2 * time.Second

// marks lists the marks in the folder. A name that is not written as [Vault.RaiseMark] writes it is none.
func (v *Vault) marks() (highest int64, all []int64, err error) {
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return 0, nil, fmt.Errorf("read the mark: %w", err)
	}
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), markPrefix)
		n, err := strconv.ParseInt(digits, 10, 64)
		if !ok || err != nil || n <= 0 || strconv.FormatInt(n, 10) != digits {
			continue
		}
		highest, all = max(highest, n), append(all, n)
	}
	return highest, all, nil
}

// RaiseMark keeps a mark that a database has, synced when it returns nil. One that is not higher than [Vault.Mark] changes nothing. Processes on one folder need no lock.
func (v *Vault) RaiseMark(n int64) error {
	if v.mark != nil {
		for have := v.mark.Load(); n > have && !v.mark.CompareAndSwap(have, n); have = v.mark.Load() {
		}
		return nil
	}
	highest, all, err := v.marks()
	if err != nil || n <= 0 || n < highest {
		return err
	}
	err = keyfile.Write(v.markPath(n), []byte(markText))
	if errors.Is(err, fs.ErrExist) { // another process has made it, and may not have synced it
		err = v.sync()
	}
	if err != nil {
		return fmt.Errorf("keep the mark: %w", err)
	}
	for _, other := range all {
		if other < n {
			os.Remove(v.markPath(other)) // one that stays says nothing that n does not
		}
	}
	return nil
}

func (v *Vault) sync() error {
	dir, err := os.Open(v.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (v *Vault) markPath(n int64) string {
	return filepath.Join(v.dir, markPrefix+strconv.FormatInt(n, 10))
}
