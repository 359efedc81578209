package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Value is one effective setting for display.
type Value struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`
	Default string `json:"default"`
	Env     string `json:"env,omitempty"`
	Flag    string `json:"flag,omitempty"`
	Source  Source `json:"source"`
	Help    string `json:"help"`
}

// Values lists every setting in the order of Config, publishers last.
func (c *Config) Values() []Value {
	list := make([]Value, 0, len(fields)+1)
	for _, f := range fields {
		v := Value{Key: f.key, Value: f.value(c).Interface(), Default: f.fallback, Env: f.env(), Source: c.Sources[f.key], Help: f.help}
		if names, ok := v.Value.([]string); ok && names == nil {
			v.Value = []string{}
		}
		if f.flag != "" {
			v.Flag = "--" + f.flag
		}
		list = append(list, v)
	}
	publishers, _ := reflect.TypeFor[Config]().FieldByName("Publishers")
	source := c.Sources["publisher"]
	if source.Kind == "" {
		source.Kind = "default"
	}
	return append(list, Value{Key: "publisher", Value: append([]Publisher{}, c.Publishers...), Source: source, Help: publishers.Tag.Get("help")})
}

// Reference is the manual of the file, the variables and the flags as plain text, one paragraph for each setting.
func Reference() string {
	var b strings.Builder
	defaults := &Config{}
	for _, v := range defaults.Values() {
		fmt.Fprintf(&b, "%s\n", v.Key)
		if v.Env != "" {
			fmt.Fprintf(&b, "    variable %s", v.Env)
			if v.Flag != "" {
				fmt.Fprintf(&b, ", flag %s", v.Flag)
			}
			if v.Default != "" {
				fmt.Fprintf(&b, ", default %s", v.Default)
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "    %s\n\n", v.Help)
	}
	return b.String()
}
