package config_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sayso/internal/config"
)

// file writes a settings file.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sayso.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// quiet keeps the tester's own configuration folder out of the test.
func quiet(t *testing.T) { t.Setenv("XDG_CONFIG_HOME", t.TempDir()) }

func TestPrecedence(t *testing.T) { // flags > environment > file > default
	quiet(t)
	path := file(t, "listen = \"127.0.0.1:1\"\nadmin = \"127.0.0.1:2\"\nrate_limit = 7\ntrusted_proxy = [\"10.0.0.0/8\"]\nexperimental_multi_party = true\n")
	c, err := config.Load(config.Inputs{File: path, Environ: []string{"SAYSO_LISTEN=127.0.0.1:3", "SAYSO_ADMIN=127.0.0.1:4", "HOME=/nowhere"}, Flags: map[string]string{"listen": "127.0.0.1:5", "json": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:5" || c.Admin != "127.0.0.1:4" || c.RateLimit != 7 || c.Color != "auto" || !c.MultiParty {
		t.Errorf("listen %s admin %s rate %d color %s", c.Listen, c.Admin, c.RateLimit, c.Color)
	}
	for key, want := range map[string]config.Source{
		"listen": {Kind: "flag", Name: "--listen"}, "admin": {Kind: "environment", Name: "SAYSO_ADMIN"},
		"rate_limit": {Kind: "file", Name: path}, "trusted_proxy": {Kind: "file", Name: path}, "color": {Kind: "default"},
	} {
		if got := c.Sources[key]; got != want {
			t.Errorf("%s comes from %+v, want %+v", key, got, want)
		}
	}
	if !c.Set("rate_limit") || c.Set("color") {
		t.Error("Set tells a given value from a default")
	}
}

func TestRefusals(t *testing.T) {
	quiet(t)
	for name, c := range map[string]struct {
		file  string
		env   []string
		flags map[string]string
		want  []string // parts of the message
	}{
		"unknown key":              {file: "data = \"x\"\nlisten_on = \"127.0.0.1:1\"\n", want: []string{":2: listen_on: unknown key"}},
		"provider with a path":     {flags: map[string]string{"provider": "https://provider.example/gidp"}, want: []string{"--provider: provider", "write https://provider.example"}},
		"hook that is no path":     {env: []string{"SAYSO_INBOX_HOOK=notify --all"}, want: []string{"SAYSO_INBOX_HOOK: inbox_hook", "is not an absolute path"}},
		"misspelt key":             {file: "\nrate_limits = 3\n", want: []string{":2: rate_limits", `did you mean "rate_limit"?`}},
		"unknown table":            {file: "[server]\nlisten = \"x\"\n", want: []string{"server", "unknown key"}},
		"unknown publisher key":    {file: "[[publisher]]\norigin = \"https://a.example\"\npins = \"x\"\n", want: []string{":3: publisher.pins", `did you mean "publisher.pin"?`}},
		"duplicate key":            {file: "data = \"x\"\ndata = \"y\"\n", want: []string{":2"}},
		"broken file":              {file: "data = \n", want: []string{":1"}},
		"wrong type":               {file: "\n\nrate_limit = \"many\"\n", want: []string{":3", "rate_limit"}},
		"negative limit":           {file: "rate_limit = -1\n", want: []string{"rate_limit: must be 0 or more"}},
		"wrong word in file":       {file: "color = \"red\"\n", want: []string{`color: "red" is not one of auto, always, never`}},
		"unknown variable":         {env: []string{"SAYSO_LISTN=x"}, want: []string{"SAYSO_LISTN: unknown variable", `did you mean "SAYSO_LISTEN"?`}},
		"far-off variable":         {env: []string{"SAYSO_QQQQQQQQQQ=x"}, want: []string{"SAYSO_QQQQQQQQQQ", "known are", "SAYSO_ADMIN"}},
		"variable of a wrong type": {env: []string{"SAYSO_RATE_LIMIT=lots"}, want: []string{"SAYSO_RATE_LIMIT: rate_limit", "not a whole number"}},
		"neither true nor false":   {env: []string{"SAYSO_EXPERIMENTAL_MULTI_PARTY=1"}, want: []string{"experimental_multi_party", `"1" is neither true nor false`}},
		"wrong word":               {flags: map[string]string{"color": "red"}, want: []string{"--color: color:"}},
		"address":                  {flags: map[string]string{"listen": "8470"}, want: []string{"--listen: listen:", "HOST:PORT"}},
		"origin with a path":       {flags: map[string]string{"origin": "https://figures.example/x"}, want: []string{"--origin", "write https://figures.example"}},
		"origin without scheme":    {flags: map[string]string{"origin": "figures.example"}, want: []string{"--origin", "not an origin", "did you mean https://figures.example?"}},
		"loopback without scheme":  {flags: map[string]string{"origin": "127.0.0.1:8470"}, want: []string{"did you mean http://127.0.0.1:8470?"}},
		"malformed pin":            {file: "[[publisher]]\norigin=\"https://a.example\"\n[[publisher]]\norigin=\"https://b.example\"\npin=\"sha256:12\"\n", want: []string{"sayso.toml: publisher: number 2:", `pin "sha256:12" is neither`}},
		"pin cut short":            {file: "[[publisher]]\norigin=\"https://a.example\"\npin=\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4\"\n", want: []string{"publisher: number 1:", "43 characters"}},
		"origin with user":         {flags: map[string]string{"origin": "https://u@figures.example"}, want: []string{"--origin"}},
		"network":                  {env: []string{"SAYSO_TRUSTED_PROXY=10.0.0.0/8,nonsense"}, want: []string{"SAYSO_TRUSTED_PROXY", `"nonsense" is not a network`}},
		"publisher twice":          {file: "[[publisher]]\norigin=\"https://a.example\"\n[[publisher]]\norigin=\"https://a.example\"\n", want: []string{"publisher: https://a.example stands there twice"}},
		"publisher origin":         {file: "[[publisher]]\norigin=\"a.example\"\n", want: []string{"publisher: number 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := config.Inputs{Environ: c.env, Flags: c.flags}
			if c.file != "" {
				in.File = file(t, c.file)
			}
			_, err := config.Load(in)
			var refused *config.Error
			if !errors.As(err, &refused) {
				t.Fatalf("error %v, want *config.Error", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

func TestFileMustExistWhenNamed(t *testing.T) {
	quiet(t)
	missing := filepath.Join(t.TempDir(), "none.toml")
	for _, in := range []config.Inputs{{File: missing}, {Environ: []string{"SAYSO_CONFIG=" + missing}}} {
		if _, err := config.Load(in); err == nil {
			t.Errorf("%+v: no error", in)
		}
	}
	if _, err := config.Load(config.Inputs{}); err != nil {
		t.Errorf("without a file: %v", err)
	}
}

func TestDefaultFileIsRead(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", folder)
	if err := os.MkdirAll(filepath.Join(folder, "sayso"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "sayso", "config.toml"), []byte("rate_limit = 9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(config.Inputs{}); err != nil || c.RateLimit != 9 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestTestVariablesAreKnown(t *testing.T) {
	quiet(t)
	if _, err := config.Load(config.Inputs{Environ: []string{"SAYSO_TEST_ANYTHING=1", "SAYSO_FAIL=x", "SAYSO_GIDP_SCENARIOS=y", "SAYSOX=z"}}); err != nil {
		t.Error(err)
	}
}

func TestPublishersKeepFileOrder(t *testing.T) {
	quiet(t)
	c, err := config.Load(config.Inputs{File: file(t, "[[publisher]]\norigin=\"https://b.example\"\npin=\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\"\n[[publisher]]\norigin=\"http://127.0.0.1:8470\"\n")})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Publishers) != 2 || c.Publishers[0] != (config.Publisher{Origin: "https://b.example", Pin: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}) || c.Publishers[1].Origin != "http://127.0.0.1:8470" {
		t.Errorf("%+v", c.Publishers)
	}
}

func TestAdminHosts(t *testing.T) {
	for admin, want := range map[string][]string{
		"admin.internal:8471": {"admin.internal"}, "localhost:8471": {"localhost"}, "127.0.0.1:8471": nil, "[::1]:8471": nil, "0.0.0.0:8471": nil, ":8471": nil,
	} {
		if got := (&config.Config{Admin: admin}).AdminHosts(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", admin, got, want)
		}
	}
}

func TestPublicOrigin(t *testing.T) {
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 8470} }
	for _, c := range []struct {
		listen, origin string
		bound          net.Addr
		want           string
	}{
		{"127.0.0.1:0", "", tcp("127.0.0.1"), "http://127.0.0.1:8470"},
		{"[::1]:0", "", tcp("::1"), "http://[::1]:8470"},
		{"localhost:8470", "", tcp("127.0.0.1"), "http://localhost:8470"},
		{"0.0.0.0:8470", "https://figures.example", tcp("0.0.0.0"), "https://figures.example"},
		{"0.0.0.0:8470", "", tcp("0.0.0.0"), ""},
		{":8470", "", tcp("::"), ""},
	} {
		got, err := (&config.Config{Listen: c.listen, Origin: c.origin}).PublicOrigin(c.bound)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s: %q, %v", c.listen, got, err)
		}
	}
}

// Every setting has a sentence, and every value is shown with its origin.
func TestManual(t *testing.T) {
	quiet(t)
	c, err := config.Load(config.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	reference := config.Reference()
	for _, v := range c.Values() {
		if !strings.HasSuffix(v.Help, ".") || v.Source.Kind != "default" {
			t.Errorf("%s: help %q, source %+v", v.Key, v.Help, v.Source)
		}
		if !strings.Contains(reference, "\n    "+v.Help+"\n") || v.Env != "" && !strings.Contains(reference, v.Env) {
			t.Errorf("%s is missing in the reference", v.Key)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("listen = \"127.0.0.1:1\"\n[[publisher]]\norigin = \"https://a.example\"\n")
	f.Add("rate_limit = 1e400\n")
	f.Add("[publisher]\norigin = 3\n")
	path := filepath.Join(f.TempDir(), "sayso.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(config.Inputs{File: path})
		var refused *config.Error
		if err != nil && !errors.As(err, &refused) {
			t.Errorf("%T %v", err, err)
		}
	})
}
