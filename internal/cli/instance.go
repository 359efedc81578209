package cli

import (
	"os"
	"path/filepath"

	"sayso/jcs"
)

// instance is what a running server leaves in its data folder so that other commands find it. A facts server without a data folder leaves nothing: it is then
// looked for at the configured private address.
type instance struct {
	Listen string `json:"listen"` // HOST:PORT of the public listener
	Admin  string `json:"admin"`  // HOST:PORT of the private listener
	Origin string `json:"origin"`
	PID    int    `json:"pid"`
	// Interests says that the server does the work of the interests in the folder; Provider is the one it was started with.
	Interests bool   `json:"interests,omitzero"`
	Provider  string `json:"provider,omitempty"`
}

const instanceFile = "server.json"

// announce writes the instance file when the folder exists, and returns the function that removes it.
func announce(folder string, i instance) (withdraw func(), err error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return func() {}, nil
	}
	body, err := jcs.Encode(i)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, instanceFile)
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, append(body, '\n'), 0o600); err != nil {
		return nil, err
	}
	if err := os.Rename(temporary, path); err != nil {
		return nil, err
	}
	return func() { os.Remove(path) }, nil
}

// findInstance returns the private address of the running server, or the configured one.
func (e *env) findInstance() string {
	text, err := os.ReadFile(filepath.Join(e.config.Data, instanceFile))
	if err != nil {
		return e.config.Admin
	}
	var found instance
	if jcs.Decode(text, &found) != nil || found.Admin == "" {
		return e.config.Admin
	}
	return found.Admin
}
