package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"sayso/facts"
	"sayso/facts/dataset"
)

// Catalogue is a facts folder as it is served: one immutable snapshot that a reload replaces whole. It implements Reloader.
type Catalogue struct {
	folder string
	origin string
	clock  func() time.Time
	loaded string // fingerprint before the first load

	current atomic.Pointer[facts.Snapshot]
}

// OpenCatalogue reads, checks and compiles the folder. A folder with one wrong figure is refused (*dataset.FolderError names file and line), as is one with
// private key material in it. clock is time.Now in production.
func OpenCatalogue(folder, origin string, clock func() time.Time) (*Catalogue, error) {
	c := &Catalogue{folder: folder, origin: origin, clock: clock}
	c.loaded, _ = c.Fingerprint() // a folder that cannot be walked is refused by load, with the reason
	s, err := c.load()
	if err != nil {
		return nil, err
	}
	c.current.Store(s)
	return c, nil
}

func (c *Catalogue) load() (*facts.Snapshot, error) {
	ds, _, err := dataset.Open(os.DirFS(c.folder), facts.DateOf(c.clock()), dataset.DatasetOptions{})
	if err != nil {
		return nil, err
	}
	level := "L2"
	if ds.Signed {
		level = "L3"
	}
	return facts.NewSnapshot(ds, facts.Options{Origin: c.origin, Conformance: level, SignaturesVerified: true}) // Open has verified them
}

// Loaded implements Reloader.
func (c *Catalogue) Loaded() string { return c.loaded }

// Snapshot returns what is served now.
func (c *Catalogue) Snapshot() *facts.Snapshot { return c.current.Load() }

// Fingerprint covers name, size and time of every file of the folder, hidden ones aside.
func (c *Catalogue) Fingerprint() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(os.DirFS(c.folder), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Reload replaces the snapshot, or leaves it and says why.
func (c *Catalogue) Reload(context.Context) (summary string, err error) {
	next, err := c.load()
	if err != nil {
		return "", err
	}
	before := c.current.Swap(next)
	return differences(before, next, facts.DateOf(c.clock())), nil
}

// Check says for /readyz what is served.
func (c *Catalogue) Check(context.Context) Status {
	info := c.Snapshot().Info()
	return Status{ID: "facts", Level: LevelOK, Message: fmt.Sprintf("%s at %s: keys %d, the newest verified on %s", info.Publisher.URL, info.Conformance, info.Count, info.Newest)}
}

// differences counts the keys that came, went and changed their claim, and names the first few. Both catalogues are walked in key order, side by side.
func differences(before, after *facts.Snapshot, today facts.Date) string {
	next, stop := iter.Pull(before.Index("", today))
	defer stop()
	old, left := next()
	var added, changed, removed int
	var names []string
	for e := range after.Index("", today) {
		for ; left && old.Key < e.Key; old, left = next() {
			removed++
		}
		switch {
		case !left || old.Key != e.Key:
			added++
		case old.Hash != e.Hash:
			changed++
			old, left = next()
		default:
			old, left = next()
			continue
		}
		if len(names) < 5 {
			names = append(names, e.Key)
		}
	}
	for ; left; _, left = next() {
		removed++
	}
	text := fmt.Sprintf("keys %d: %d added, %d changed, %d removed", after.Len(), added, changed, removed)
	if len(names) > 0 {
		text += "; among them " + strings.Join(names, ", ")
	}
	return text
}
