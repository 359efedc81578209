package vault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"sayso/internal/keyfile"
)

// drawer keeps small sealed files under names that say nothing. Processes on one folder need no lock: of those that put the same name, one does, and the others
// get fs.ErrExist.
type drawer interface {
	names() ([]string, error)
	get(name string) ([]byte, error) // fs.ErrNotExist
	put(name string, data []byte) error
	drop(name string) error // nothing when it is not there
}

// folder is a drawer on disk. It is made with the first file.
type folder string

func (f folder) names() ([]string, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, err
}

func (f folder) get(name string) ([]byte, error) { return keyfile.Read(filepath.Join(string(f), name)) }

func (f folder) put(name string, data []byte) error {
	if err := keyfile.Folder(string(f)); err != nil {
		return err
	}
	return keyfile.Write(filepath.Join(string(f), name), data)
}

func (f folder) drop(name string) error {
	if err := os.Remove(filepath.Join(string(f), name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// memory is the drawer of an ephemeral vault.
type memory struct {
	mu   sync.Mutex
	kept map[string][]byte // guarded by mu
}

func (m *memory) names() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for name := range m.kept {
		out = append(out, name)
	}
	slices.Sort(out)
	return out, nil
}

func (m *memory) get(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.kept[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(data), nil
}

func (m *memory) put(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.kept[name]; ok {
		return fs.ErrExist
	}
	if m.kept == nil {
		m.kept = map[string][]byte{}
	}
	m.kept[name] = slices.Clone(data)
	return nil
}

func (m *memory) drop(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, name)
	return nil
}
