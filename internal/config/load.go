package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sayso/facts"
)

// Inputs are the places settings come from.
type Inputs struct {
	// File is the TOML file named by the user; it must exist. Empty: SAYSO_CONFIG, then config.toml in the user's configuration folder, if there is one.
	File string
	// Environ is os.Environ.
	Environ []string
	// Flags holds the flags that were given, by name without dashes. Lists are joined by commas.
	Flags map[string]string
}

// envPrefix begins every variable this program reads. A variable with the prefix that it does not know is an error: a misspelt setting must not be ignored.
const envPrefix = "SAYSO_"

// otherVariables are read elsewhere: the file's name by Load itself, the rest by tests.
var otherVariables = []string{"SAYSO_CONFIG", "SAYSO_FAIL", "SAYSO_GIDP_SCENARIOS"}

// testPrefix is free for tests.
const testPrefix = "SAYSO_TEST_"

// Load computes the effective settings: flags over environment over file over defaults. Every error is an *Error that names the key and the place.
func Load(in Inputs) (*Config, error) {
	c := &Config{Sources: map[string]Source{}}
	for _, f := range fields {
		c.Sources[f.key] = Source{Kind: "default"}
		if f.fallback != "" {
			f.set(c, f.fallback)
		}
	}
	environment := map[string]string{}
	for _, entry := range in.Environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, envPrefix) {
			environment[name] = value
		}
	}
	c.Data = defaultData(in.Environ)
	if err := c.loadFile(in.File, environment["SAYSO_CONFIG"]); err != nil {
		return nil, err
	}
	if err := c.loadEnvironment(environment); err != nil {
		return nil, err
	}
	for _, f := range fields {
		if value, given := in.Flags[f.flag]; given && f.flag != "" {
			c.Sources[f.key] = Source{Kind: "flag", Name: "--" + f.flag}
			if reason := f.set(c, value); reason != "" {
				return nil, c.refuse(f.key, reason)
			}
		}
	}
	return c, c.check()
}

// loadFile reads the TOML file strictly.
func (c *Config) loadFile(flag, variable string) error {
	path, source := flag, Source{Kind: "flag", Name: "--config"}
	if path == "" {
		path, source = variable, Source{Kind: "environment", Name: "SAYSO_CONFIG"}
	}
	optional := path == ""
	if optional {
		folder, err := os.UserConfigDir()
		if err != nil {
			return nil
		}
		path = filepath.Join(folder, "sayso", "config.toml")
	}
	c.File = path
	text, err := os.ReadFile(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{Key: "config", Source: source, Reason: "cannot read the file: " + err.Error()}
	}
	return c.decode(path, text)
}

func (c *Config) decode(path string, text []byte) error {
	file := Source{Kind: "file", Name: path}
	decoder := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return tomlError(file, err)
	}
	var present map[string]any
	if err := toml.Unmarshal(text, &present); err != nil {
		return tomlError(file, err)
	}
	for _, f := range fields {
		if _, given := present[f.key]; !given {
			continue
		}
		c.Sources[f.key] = file
		if reason := f.allowed(c); reason != "" {
			return c.refuse(f.key, reason)
		}
	}
	if _, given := present["publisher"]; given {
		c.Sources["publisher"] = file
	}
	return nil
}

// tomlError turns the decoder's errors into ours: key, line, and for an unknown key the nearest known one.
func tomlError(file Source, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := unknown.Errors[0]
		line, _ := first.Position()
		key := strings.Join(first.Key(), ".")
		return &Error{Key: key, Source: file, Line: line, Reason: "unknown key" + suggest(key, knownKeys())}
	}
	var broken *toml.DecodeError
	if errors.As(err, &broken) {
		line, _ := broken.Position()
		key := strings.Join(broken.Key(), ".")
		if key == "" {
			key = "toml"
		}
		return &Error{Key: key, Source: file, Line: line, Reason: strings.TrimPrefix(broken.Error(), "toml: ")}
	}
	return &Error{Key: "toml", Source: file, Reason: err.Error()}
}

func (c *Config) loadEnvironment(environment map[string]string) error {
	names := make([]string, 0, len(environment))
	for name := range environment {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Contains(otherVariables, name) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.env() == name })
		source := Source{Kind: "environment", Name: name}
		if i < 0 {
			return &Error{Key: name, Source: Source{Kind: "environment"}, Reason: "unknown variable" + suggest(name, knownVariables())}
		}
		c.Sources[fields[i].key] = source
		if reason := fields[i].set(c, environment[name]); reason != "" {
			return c.refuse(fields[i].key, reason)
		}
	}
	return nil
}

// field is one scalar or list setting, read off the tags of Config.
type field struct {
	index                     int
	key, flag, fallback, help string
	oneOf                     []string
}

var fields = func() []field {
	var list []field
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		if key := tag.Get("toml"); key != "-" && key != "publisher" {
			list = append(list, field{index: i, key: key, flag: tag.Get("flag"), fallback: tag.Get("default"), help: tag.Get("help"), oneOf: strings.Fields(tag.Get("oneof"))})
		}
	}
	return list
}()

func (f field) env() string { return envPrefix + strings.ToUpper(f.key) }

func (f field) value(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().Field(f.index) }

// set stores a text; reason says why it cannot.
func (f field) set(c *Config, text string) (reason string) {
	switch v := f.value(c); v.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Sprintf("%q is not a whole number", text)
		}
		v.SetInt(int64(n))
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Sprintf("%q is neither true nor false", text)
		}
		v.SetBool(text == "true")
	case reflect.Slice:
		list := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		v.Set(reflect.ValueOf(list))
	default:
		v.SetString(text)
	}
	return f.allowed(c)
}

// allowed checks a value against the oneof tag.
func (f field) allowed(c *Config) (reason string) {
	if len(f.oneOf) == 0 {
		return ""
	}
	if value := f.value(c).String(); !slices.Contains(f.oneOf, value) {
		return fmt.Sprintf("%q is not one of %s", value, strings.Join(f.oneOf, ", "))
	}
	return ""
}

// defaultData is the user's state folder.
func defaultData(environ []string) string {
	for _, entry := range environ {
		if folder, ok := strings.CutPrefix(entry, "XDG_STATE_HOME="); ok && filepath.IsAbs(folder) {
			return filepath.Join(folder, "sayso")
		}
	}
	if home, err := os.UserHomeDir(); err == nil && runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		return filepath.Join(home, ".local", "state", "sayso")
	}
	if folder, err := os.UserConfigDir(); err == nil {
		return filepath.Join(folder, "sayso")
	}
	return "sayso-data"
}

func knownKeys() []string {
	keys := []string{"publisher", "publisher.origin", "publisher.pin"}
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	return keys
}

func knownVariables() []string {
	names := slices.Clone(otherVariables)
	for _, f := range fields {
		names = append(names, f.env())
	}
	return names
}

// suggest names the nearest known name, or all of them.
func suggest(name string, known []string) string {
	if nearest := facts.NearestName(name, known); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	slices.Sort(known)
	return "; known are " + strings.Join(known, ", ")
}
