package cli

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/term"

	"sayso/internal/keyfile"
)

// passphrase returns the passphrase for private keys: from the file that the setting names, else typed on the terminal, twice when it is a new one.
func (e *env) passphrase(isNew bool) ([]byte, error) {
	return e.passphraseFrom(e.config.PassphraseFile, "passphrase: ", isNew)
}

// rootPassphrase is that of the registry's root key: from the file that is named, else as every other one.
func (e *env) rootPassphrase(path string, isNew bool) ([]byte, error) {
	if path == "" {
		path = e.config.PassphraseFile
	}
	return e.passphraseFrom(path, "passphrase of the root key: ", isNew)
}

func (e *env) passphraseFrom(path, prompt string, isNew bool) ([]byte, error) {
	if path != "" {
		text, err := keyfile.Read(path)
		if err != nil {
			return nil, err
		}
		if text = bytes.TrimRight(text, "\r\n"); len(text) == 0 {
			return nil, refusedError("the passphrase file %s is empty", path)
		}
		return text, nil
	}
	f, ok := e.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, usageError("a passphrase is needed and there is no terminal to type it on").withHint("put it into a file of mode 0600 and name that file in SAYSO_PASSPHRASE_FILE")
	}
	first, err := e.readHidden(f, prompt)
	if err != nil || !isNew {
		return first, err
	}
	second, err := e.readHidden(f, "the same again: ")
	if err != nil {
		return nil, err
	}
	if len(first) == 0 || !bytes.Equal(first, second) {
		return nil, failedError("the two passphrases differ or are empty; nothing was written")
	}
	return first, nil
}

func (e *env) readHidden(terminal *os.File, prompt string) ([]byte, error) {
	fmt.Fprint(e.err, prompt)
	defer fmt.Fprintln(e.err)
	return term.ReadPassword(int(terminal.Fd()))
}
