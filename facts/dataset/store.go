package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// store is where an act writes. Each call is atomic: the file is old or new, never half.
type store interface {
	write(name string, data []byte) error
	remove(name string) error
}

// work is a locked folder with its content, ready for one act.
type work struct {
	store
	fsys   fs.FS
	folder *Folder
}

const (
	lockPatience = 10 * time.Second
	lockInterval = 20 * time.Millisecond
	tempPrefix   = ".sayso-tmp-"
)

// begin locks and loads a folder for an act. close unlocks it.
func begin(dir string) (w *work, close func(), err error) {
	if _, err := os.Stat(filepath.Join(dir, publisherFile)); err != nil {
		return nil, nil, &Error{Kind: NotFound, Message: "the folder holds no publisher.yaml", Next: "run facts init, or name the right folder"}
	}
	close, err = lock(dir)
	if err != nil {
		return nil, nil, err
	}
	disk := diskStore{dir}
	if err := disk.sweep(); err != nil {
		close()
		return nil, nil, err
	}
	fsys := os.DirFS(dir)
	folder, r := Load(fsys)
	if r.Failed() {
		close()
		return nil, nil, &FolderError{r}
	}
	return &work{disk, fsys, folder}, close, nil
}

// lock waits a little for another command on the same folder.
func lock(dir string) (unlock func(), err error) {
	deadline := time.NewTimer(lockPatience)
	defer deadline.Stop()
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		unlock, err := tryLock(dir)
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return nil, &Error{Kind: Unavailable, Message: "another command is working on the folder", Next: "wait for it to end and try again"}
		}
	}
}

var errLocked = errors.New("locked")

// diskStore writes below a folder of the file system.
type diskStore struct{ dir string }

// write replaces a file: a temporary file beside it is written and synced, then renamed over it, then the folder is synced.
func (d diskStore) write(name string, data []byte) (err error) {
	target := filepath.Join(d.dir, filepath.FromSlash(name))
	parent := filepath.Dir(target)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(parent, tempPrefix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	if _, err = temp.Write(data); err != nil {
		return err
	}
	if err = temp.Chmod(mode); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), target); err != nil {
		return err
	}
	return syncDir(parent)
}

func (d diskStore) remove(name string) error {
	target := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.Remove(target); err != nil {
		return err
	}
	return syncDir(filepath.Dir(target))
}

// sweep removes what an interrupted write left in the folder.
func (d diskStore) sweep() error {
	return filepath.WalkDir(d.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && strings.HasPrefix(e.Name(), tempPrefix) {
			return os.Remove(name)
		}
		return nil
	})
}

// read returns a file of the folder, nil when there is none.
func (w *work) read(name string) ([]byte, error) {
	data, err := fs.ReadFile(w.fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// appendLines appends whole lines to a line file.
func (w *work) appendLines(name string, lines [][]byte) error {
	if len(lines) == 0 {
		return nil
	}
	data, err := w.read(name)
	if err != nil {
		return err
	}
	for _, line := range lines {
		data = append(append(data, line...), '\n')
	}
	return w.write(name, data)
}
