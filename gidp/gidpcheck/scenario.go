package gidpcheck

import (
	"fmt"
	"slices"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// Scenario is one document.
type Scenario struct {
	Name  string
	Notes string
	Spec  []string
	Setup map[string]Setup // "A" and "B"
	Steps []Action
}

// Setup is one side.
type Setup struct {
	Conditions  map[string]jcs.Raw
	Policy      map[string]gidp.Class
	Authority   map[gidp.Level]gidp.Permission
	Conditional []string
	Required    []string
}

// Action is one step: what is done, its arguments, and what is expected.
type Action struct {
	Name   string
	Args   map[string]jcs.Raw
	Expect map[string]jcs.Raw
}

// grammar names the arguments and the expectations of each action.
var grammar = map[string]struct{ args, expect []string }{
	"open":               {args: []string{"purpose", "max_depth"}},
	"ask":                {args: []string{"from", "claims", "hold"}, expect: []string{"expect_results", "expect_status", "forbid_substrings", "expect_error"}},
	"expire_ask":         {},
	"request_disclosure": {args: []string{"from", "attribute", "purpose", "hold", "undelivered"}, expect: []string{"expect_disclosure", "forbid_substrings", "expect_error"}},
	"release_disclosure": {expect: []string{"expect_disclosure", "forbid_substrings"}},
	"request_consent":    {args: []string{"from", "action", "scope"}, expect: []string{"expect_consent", "expect_error"}},
	"principal_answers":  {args: []string{"role", "granted"}, expect: []string{"expect_consent", "expect_disclosure"}},
	"set_authority":      {args: []string{"role", "level", "value"}},
	"qualify":            {args: []string{"role", "expect"}},
	"opportunities":      {args: []string{"role", "expect"}},
	"state":              {args: []string{"role", "expect"}},
	"status":             {args: []string{"role", "expect"}},
	"opportunity":        {args: []string{"role"}, expect: []string{"expect_contingent_on", "forbid_substrings"}},
	"handoff":            {args: []string{"from", "target"}, expect: []string{"expect_error", "expect_recipient_error"}},
}

const comment = "_comment"

// Load reads a scenario strictly.
func Load(data []byte) (*Scenario, error) {
	top, err := object(data, "scenario", "notes", "spec", "setup", "steps")
	if err != nil {
		return nil, err
	}
	s := &Scenario{Setup: map[string]Setup{}}
	var steps []jcs.Raw
	for name, into := range map[string]any{"scenario": &s.Name, "notes": &s.Notes, "spec": &s.Spec, "steps": &steps} {
		if raw, ok := top[name]; ok {
			if err := jcs.Decode(raw, into); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	sides, err := object(top["setup"], "A", "B")
	if err != nil {
		return nil, fmt.Errorf("setup: %w", err)
	}
	for _, side := range []string{"A", "B"} {
		if s.Setup[side], err = loadSetup(sides[side]); err != nil {
			return nil, fmt.Errorf("setup %s: %w", side, err)
		}
	}
	for i, raw := range steps {
		a, err := loadAction(raw)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		s.Steps = append(s.Steps, a)
	}
	return s, nil
}

// object reads the members of an object; the names that are not known are an error, but for comments.
func object(data []byte, known ...string) (map[string]jcs.Raw, error) {
	members, err := jcs.Members(data)
	if err != nil {
		return nil, err
	}
	out := map[string]jcs.Raw{}
	for _, m := range members {
		switch {
		case m.Name == comment:
		case len(known) > 0 && !slices.Contains(known, m.Name):
			return nil, fmt.Errorf("%.40q is not known here", m.Name)
		default:
			out[m.Name] = m.Value
		}
	}
	return out, nil
}

func loadSetup(data []byte) (Setup, error) {
	out := Setup{Policy: map[string]gidp.Class{}, Authority: map[gidp.Level]gidp.Permission{}}
	top, err := object(data, "conditions", "policy", "authority", "conditional_on", "conditional_on_policy", "required_dimensions")
	if err != nil {
		return out, err
	}
	if out.Conditions, err = optional(top["conditions"]); err != nil {
		return out, err
	}
	policy, err := optional(top["policy"])
	if err != nil {
		return out, err
	}
	if raw, ok := top["conditional_on_policy"]; ok {
		policy[gidp.ConditionalOn] = raw
	}
	for key, raw := range policy {
		text, _ := jcs.Text(raw)
		if out.Policy[key], err = gidp.ParseClass(text); err != nil {
			return out, err
		}
	}
	authority, err := optional(top["authority"])
	if err != nil {
		return out, err
	}
	for name, raw := range authority {
		level, ok := gidp.ParseLevel(name)
		permission, fits := parsePermission(raw)
		if !ok || !fits {
			return out, fmt.Errorf("authority %.40q", name)
		}
		out.Authority[level] = permission
	}
	for name, into := range map[string]*[]string{"conditional_on": &out.Conditional, "required_dimensions": &out.Required} {
		if raw, ok := top[name]; ok {
			if err := jcs.Decode(raw, into); err != nil {
				return out, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return out, nil
}

func optional(data []byte) (map[string]jcs.Raw, error) {
	if len(data) == 0 {
		return map[string]jcs.Raw{}, nil
	}
	return object(data)
}

func parsePermission(raw jcs.Raw) (gidp.Permission, bool) {
	switch string(raw) {
	case "true":
		return gidp.Yes, true
	case "false":
		return gidp.No, true
	case `"approval_required"`:
		return gidp.Approval, true
	}
	return gidp.No, false
}

func loadAction(data []byte) (Action, error) {
	outer, err := object(data)
	if err != nil {
		return Action{}, err
	}
	a := Action{Args: map[string]jcs.Raw{}, Expect: map[string]jcs.Raw{}}
	for name := range outer {
		if _, ok := grammar[name]; ok {
			if a.Name != "" {
				return a, fmt.Errorf("both %s and %s", a.Name, name)
			}
			a.Name = name
		}
	}
	rule, ok := grammar[a.Name]
	if !ok {
		return a, fmt.Errorf("no action that is known")
	}
	inner, err := object(outer[a.Name], append(slices.Concat(rule.args, rule.expect), comment)...)
	if err != nil {
		return a, fmt.Errorf("%s: %w", a.Name, err)
	}
	delete(outer, a.Name)
	for name, raw := range inner {
		if slices.Contains(rule.args, name) {
			a.Args[name] = raw
		} else {
			a.Expect[name] = raw
		}
	}
	for name, raw := range outer {
		if !slices.Contains(rule.expect, name) {
			return a, fmt.Errorf("%s: %.40q is not known beside it", a.Name, name)
		}
		if _, twice := a.Expect[name]; twice {
			return a, fmt.Errorf("%s: %s stands twice", a.Name, name)
		}
		a.Expect[name] = raw
	}
	return a, nil
}

// text, truth and texts read an argument or an expectation.
func text(raw jcs.Raw) string { s, _ := jcs.Text(raw); return s }

func truth(raw jcs.Raw) bool { return string(raw) == "true" }

func texts(raw jcs.Raw) []string {
	if s, ok := jcs.Text(raw); ok {
		return []string{s}
	}
	var out []string
	if len(raw) == 0 || jcs.Decode(raw, &out) != nil {
		return nil
	}
	return out
}

// claims reads the claims of a scenario, whose ids are written out.
func claims(raw jcs.Raw) ([]wire.Claim, error) {
	var list []struct {
		ID         string   `json:"claim_id"`
		Key        string   `json:"key"`
		Operator   string   `json:"operator"`
		Value      jcs.Raw  `json:"value"`
		Supersedes []string `json:"supersedes"`
	}
	if err := jcs.DecodeKnown(raw, &list); err != nil {
		return nil, err
	}
	var out []wire.Claim
	for _, c := range list {
		out = append(out, wire.Claim{ID: c.ID, Key: c.Key, Operator: wire.Operator(c.Operator), Value: c.Value, Supersedes: c.Supersedes})
	}
	return out, nil
}
