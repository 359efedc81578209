package cli

import (
	"bytes"
	"net"
	"net/netip"
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

const (
	instanceFile  = "server.json"    // of what serves the folder's figures, registry or provider, or else its interests
	interestsFile = "interests.json" // of the server that does the work of the interests
)

// announce writes the instance file when the folder exists, and returns the function that removes it. A server of interests has a file of its own, because others
// may serve the same folder beside it, and leaves theirs alone.
func announce(folder string, i instance) (withdraw func(), err error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return func() {}, nil
	}
	body, err := jcs.Encode(i)
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	files := []string{instanceFile}
	if other, there := readInstance(folder, instanceFile); i.Interests && there && !other.Interests {
		files = nil
	}
	if i.Interests {
		files = append(files, interestsFile)
	}
	for _, name := range files {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path+".tmp", body, 0o600); err != nil {
			return nil, err
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			return nil, err
		}
	}
	return func() {
		for _, name := range files {
			path := filepath.Join(folder, name)
			if text, err := os.ReadFile(path); err == nil && bytes.Equal(text, body) { // another server may have taken its place
				os.Remove(path)
			}
		}
	}, nil
}

// readInstance reads one of the instance files; ok is false when there is none that names a server.
func readInstance(folder, name string) (found instance, ok bool) {
	text, err := os.ReadFile(filepath.Join(folder, name))
	return found, err == nil && jcs.Decode(text, &found) == nil && found.Admin != ""
}

// findInstance returns the private address of the running server, or the configured one.
func (e *env) findInstance() string {
	for _, name := range []string{instanceFile, interestsFile} {
		if found, ok := readInstance(e.config.Data, name); ok {
			return found.Admin
		}
	}
	return e.config.Admin
}

// servedOrigin is where something is served, as far as a command can know: the setting, the server that left the named file in the data folder, or the loopback
// address that one would listen on; "" when none of these says it.
func (e *env) servedOrigin(name string) string {
	if e.config.Origin != "" {
		return e.config.Origin
	}
	if found, ok := readInstance(e.config.Data, name); ok && found.Origin != "" {
		return found.Origin
	}
	host, port, err := net.SplitHostPort(e.config.Listen)
	if err != nil {
		return ""
	}
	if address, err := netip.ParseAddr(host); host == "localhost" || err == nil && address.IsLoopback() {
		return "http://" + net.JoinHostPort(host, port)
	}
	return ""
}
