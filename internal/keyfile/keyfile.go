package keyfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sayso/jwk"
)

const maxSize = 64 << 10

// ErrRefused is the root of every refusal of a file or folder that is not safe to use.
var ErrRefused = errors.New("key file refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Read returns the content of a key file after all checks. A missing file matches fs.ErrNotExist, an unsafe one ErrRefused.
func Read(path string) ([]byte, error) {
	// The link check comes first for its message; openNoFollow closes the gap between check and use.
	if info, err := os.Lstat(path); err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	} else if info.Mode()&fs.ModeSymlink != 0 {
		return nil, refuse("%s is a symbolic link: name the file itself", path)
	} else if !info.Mode().IsRegular() {
		return nil, refuse("%s is not a regular file", path)
	}
	f, err := openNoFollow(path)
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, err
	}
	if err := checkFolders(path); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if len(data) > maxSize {
		return nil, refuse("%s is larger than %d bytes, so it is no key file", path, maxSize)
	}
	return data, nil
}

// Load reads a key file and returns its key. passphrase is called only for a sealed file; nil means that there is none.
func Load(path string, passphrase func() ([]byte, error)) (*jwk.PrivateKey, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	if jwk.Sealed(data) {
		if passphrase == nil {
			return nil, fmt.Errorf("key file %s is sealed: a passphrase is needed", path)
		}
		secret, err := passphrase()
		if err != nil {
			return nil, err
		}
		if data, err = jwk.Open(data, secret); err != nil {
			return nil, fmt.Errorf("key file %s cannot be opened: wrong passphrase or damaged file", path)
		}
	}
	key, err := jwk.ParsePrivate(data)
	if err != nil {
		return nil, fmt.Errorf("key file %s holds no usable private key: %w", path, err)
	}
	return key, nil
}

// Write puts data into a new file of mode 0600. An existing file is never touched (fs.ErrExist), an unsafe folder matches ErrRefused.
func Write(path string, data []byte) (err error) {
	if err := checkFolders(path); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".key-*") // os.CreateTemp makes mode 0600
	if err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Link(tmp.Name(), path) // unlike a rename, a link does not replace
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	return nil
}

// Store writes a key into a new file, sealed when there is a passphrase.
func Store(path string, key *jwk.PrivateKey, passphrase []byte) error {
	data := key.Export()
	if len(passphrase) > 0 {
		sealed, err := jwk.Seal(data, passphrase)
		if err != nil {
			return fmt.Errorf("seal key file %s: %w", path, err)
		}
		data = sealed
	}
	return Write(path, data)
}

func checkFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return refuse("%s is not a regular file", path)
	}
	if !ownedByUs(info) {
		return refuse("%s belongs to another user: run chown \"$(id -un)\" %s", path, shellQuote(path))
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return refuse("%s may be used by others (mode %04o): run chmod 600 %s", path, perm, shellQuote(path))
	}
	return nil
}

// checkFolders refuses a folder in which anybody can replace the file, or a folder above in which anybody can replace that one.
func checkFolders(path string) error {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return fmt.Errorf("look at the folder of %s: %w", path, err)
	}
	for first := true; ; first = false {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("look at the folder of %s: %w", path, err)
		}
		if info.Mode().Perm()&0o002 != 0 && (first || info.Mode()&fs.ModeSticky == 0) {
			return refuse("the folder %s is writable by everybody: run chmod o-w %s", dir, shellQuote(dir))
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// shellQuote makes the printed command safe to paste.
func shellQuote(path string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("/._-+,@", c)
	}
	if strings.IndexFunc(path, func(c rune) bool { return !plain(c) }) < 0 && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
