package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Config holds every setting. The help tags are the manual: the reference page and `sayso config show` are made from them.
type Config struct {
	Data           string   `toml:"data" flag:"data" help:"Folder for keys and databases. The default is the user's state folder. A command that only reads a facts folder needs none and makes none."`
	Listen         string   `toml:"listen" flag:"listen" default:"127.0.0.1:8470" help:"Address of the public listener, HOST:PORT. Port 0 takes a free one."`
	Admin          string   `toml:"admin" flag:"admin" default:"127.0.0.1:8471" help:"Address of the private listener with /livez, /readyz and /metrics. Keep it on loopback or behind a firewall."`
	Origin         string   `toml:"origin" flag:"origin" help:"What every absolute URL begins with: scheme, host and port. The default is http:// and the public address, for loopback addresses only; elsewhere it must be given, because the Host header is never believed."`
	Facts          string   `toml:"facts" flag:"facts" help:"Folder of figures to serve."`
	TrustedProxy   []string `toml:"trusted_proxy" flag:"trusted-proxy" help:"Networks (CIDR) whose X-Forwarded-For header names the client address. Without one the header is ignored."`
	RateLimit      int      `toml:"rate_limit" default:"600" help:"Requests a minute and client address on the routes that are computed; 0 is off. While it is not set, loopback clients are not limited."`
	Database       string   `toml:"database" help:"PostgreSQL database of the registry, as postgres://USER@HOST/NAME, for several servers over one registry. The default is one SQLite file in the data folder. A password does not belong here: put it into the file that PGPASSFILE names."`
	Resolvers      []string `toml:"resolvers" help:"DNS resolvers that domain proofs ask: ADDRESS, ADDRESS:PORT, or tls://NAME@ADDRESS for DNS over TLS. Three of them, or a validating one on loopback or over TLS; without any, dns_txt proofs are refused."`
	PassphraseFile string   `toml:"passphrase_file" help:"File (mode 0600) with the passphrase that seals private keys."`
	Provider       string   `toml:"provider" flag:"provider" help:"Provider of discovery that interests are published at and searched at when a command names none: its origin."`
	InboxHook      string   `toml:"inbox_hook" help:"Program that interest serve runs when a decision begins to wait for you: an absolute path. It gets the id of the entry as its one argument and ten seconds; no shell reads it."`
	MultiParty     bool     `toml:"experimental_multi_party" flag:"experimental-multi-party" default:"false" help:"Experimental: whether agents offer and accept the feature multi_party, and sayso interest expand searches for what a lead depends on. true or false."`
	LogFormat      string   `toml:"log_format" default:"auto" oneof:"auto json text" help:"Form of the log on standard error: json, text, or auto, which is text on a terminal."`
	LogLevel       string   `toml:"log_level" default:"info" oneof:"debug info warn error" help:"Least level that is logged. Single requests are logged at debug."`
	Color          string   `toml:"color" flag:"color" default:"auto" oneof:"auto always never" help:"Colours in the output: auto means on a terminal that wants them (NO_COLOR, CLICOLOR, TERM)."`

	Publishers []Publisher `toml:"publisher" help:"Publishers that get and mcp ask, in this order: [[publisher]] tables with origin and, to hold it to what was seen before, pin. They stand in the file only."`

	// File is the settings file: the one that was read, or where one is looked for; "" when the user has no configuration folder.
	File string `toml:"-"`

	// Sources says for each key of the file where its effective value comes from.
	Sources map[string]Source `toml:"-"`
}

// Publisher is one facts origin the reader trusts to be asked.
type Publisher struct {
	Origin string `toml:"origin" json:"origin"`
	// Pin is what must still fit: JWK thumbprints, a chain head, or both, separated by commas or spaces; empty pins nothing.
	Pin string `toml:"pin" json:"pin,omitempty"`
}

// Source is where a value comes from.
type Source struct {
	Kind string `json:"kind"`           // default | file | environment | flag
	Name string `json:"name,omitempty"` // file path, variable or flag
}

// Set reports whether the user gave the value of a key.
func (c *Config) Set(key string) bool { return c.Sources[key].Kind != "default" }

// PublicOrigin is the origin to serve under, given the address that was really bound. It fails when the address is not loopback and no origin is set.
func (c *Config) PublicOrigin(bound net.Addr) (string, error) {
	if c.Origin != "" {
		return c.Origin, nil
	}
	address, err := netip.ParseAddrPort(bound.String())
	if err != nil || !address.Addr().IsLoopback() {
		return "", fmt.Errorf("the public address %s is not loopback, so the origin must be set: give --origin https://HOST", bound)
	}
	host, _, _ := net.SplitHostPort(c.Listen)
	if host == "localhost" {
		return fmt.Sprintf("http://localhost:%d", address.Port()), nil
	}
	return "http://" + address.String(), nil
}

// AdminHosts is the host name of the private address, for requests that come under it; none when the address has no name.
func (c *Config) AdminHosts() []string {
	host, _, err := net.SplitHostPort(c.Admin)
	if err != nil || host == "" {
		return nil
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	return []string{host}
}

// TrustedProxies parses the trusted networks. Load has checked them.
func (c *Config) TrustedProxies() []netip.Prefix {
	prefixes := make([]netip.Prefix, len(c.TrustedProxy))
	for i, text := range c.TrustedProxy {
		prefixes[i], _ = parsePrefix(text)
	}
	return prefixes
}

func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}

// check refuses values that could not work, naming the key and where it was set.
func (c *Config) check() error {
	for key, address := range map[string]string{"listen": c.Listen, "admin": c.Admin} {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return c.refuse(key, fmt.Sprintf("%q is not HOST:PORT", address))
		}
	}
	for _, text := range c.TrustedProxy {
		if _, err := parsePrefix(text); err != nil {
			return c.refuse("trusted_proxy", fmt.Sprintf("%q is not a network such as 10.0.0.0/8", text))
		}
	}
	if c.RateLimit < 0 {
		return c.refuse("rate_limit", "must be 0 or more")
	}
	if c.Origin != "" {
		if err := checkOrigin(c.Origin); err != nil {
			return c.refuse("origin", err.Error())
		}
	}
	if err := checkDatabase(c.Database); err != nil {
		return c.refuse("database", err.Error())
	}
	if c.Provider != "" {
		if err := checkOrigin(c.Provider); err != nil {
			return c.refuse("provider", err.Error())
		}
	}
	if c.InboxHook != "" && !filepath.IsAbs(c.InboxHook) {
		return c.refuse("inbox_hook", fmt.Sprintf("%q is not an absolute path", c.InboxHook))
	}
	for i, p := range c.Publishers {
		if err := checkOrigin(p.Origin); err != nil {
			return c.refuse("publisher", fmt.Sprintf("number %d: %v", i+1, err))
		}
		if err := checkPin(p.Pin); err != nil {
			return c.refuse("publisher", fmt.Sprintf("number %d: %v", i+1, err))
		}
		if slices.ContainsFunc(c.Publishers[:i], func(q Publisher) bool { return q.Origin == p.Origin }) {
			return c.refuse("publisher", fmt.Sprintf("%s stands there twice", p.Origin))
		}
	}
	return nil
}

// checkDatabase refuses what is no URL of PostgreSQL, and a password in it: settings are shown and logged. The text itself is never repeated.
func checkDatabase(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return errors.New("this is no URL such as postgres://registry@db.example/registry")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return errors.New("it holds a password: take it out and put it into the file that PGPASSFILE names")
	}
	return nil
}

func (c *Config) refuse(key, reason string) error {
	return &Error{Key: key, Source: c.Sources[key], Reason: reason}
}

// checkOrigin accepts scheme://host[:port] alone, because paths and URLs are made by appending to it.
func checkOrigin(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		if meant := WithScheme(text); meant != "" {
			return fmt.Errorf("%q is not an origin: it has no scheme; did you mean %s?", text, meant)
		}
		return fmt.Errorf("%q is not an origin such as https://figures.example", text)
	}
	if u.Scheme+"://"+u.Host != text {
		return fmt.Errorf("%q has more than scheme, host and port; write %s://%s", text, strings.ToLower(u.Scheme), u.Host)
	}
	return nil
}

var bareHost = regexp.MustCompile(`^(?i:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$`)

// WithScheme is the origin that a host typed without a scheme means, http on this machine and https elsewhere; "" for anything but HOST or HOST:PORT.
func WithScheme(text string) string {
	if !bareHost.MatchString(text) {
		return ""
	}
	u, err := url.Parse("https://" + text)
	if err != nil {
		return ""
	}
	if address, err := netip.ParseAddr(u.Hostname()); strings.EqualFold(u.Hostname(), "localhost") || err == nil && address.IsLoopback() {
		return "http://" + text
	}
	return "https://" + text
}

var pinPart = regexp.MustCompile(`^(?:[A-Za-z0-9_-]{43}|sha256:[0-9a-f]{64})$`)

// PinParts are the parts of a pin.
func PinParts(pin string) []string {
	return strings.FieldsFunc(pin, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkPin refuses what nothing could ever fit.
func checkPin(pin string) error {
	for _, part := range PinParts(pin) {
		if !pinPart.MatchString(part) {
			return fmt.Errorf("pin %q is neither the thumbprint of a key (43 characters of base64url) nor a chain head (sha256: and 64 hex digits)", part)
		}
	}
	return nil
}

// Error is a refused setting.
type Error struct {
	Key    string // the key of the file, or the name as given when it is unknown
	Source Source
	Line   int // of the file, 0 when unknown
	Reason string
}

func (e *Error) Error() string {
	place := e.Source.Name
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, e.Line)
	}
	if place == "" {
		return e.Key + ": " + e.Reason
	}
	return place + ": " + e.Key + ": " + e.Reason
}
