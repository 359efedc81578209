package interestfile

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/jcs"
	"sayso/report"
)

const full = `principal_ref: board-2
profile: sayso/corporate-transaction/1
interest: {action: strategic_transaction, object: company, structures: [acquisition]}
attributes:
  sector: crm_software
  enterprise_value_eur: {min: 20000000}
  arr_eur: null
  management_continuity: true
  structure_class: [share_deal, asset_deal]
  depth: 7
  registration_id: "0012"
provides: [capital]
requires: [licence]
conditional_on: [other_deal]
excludes: [weapons]
hierarchies: {sector: {quiet_software: crm_software}}
budgets: {depth: {bits: 1.5, domain: {min: 0, max: 31, step: 1}}}
policy:
  principal_identity: session/principal_approval
  sector: discovery
  enterprise_value_eur: {verified_agent: session/consent, unknown_agent: evaluation_only}
  never_decoys: [arr_eur]
  networks: [guild]
  derivatives: {domains: {from: sector, generalise_to: [software], class: discovery}}
  conditions: {registration_id: {reciprocal: true, verify: [register]}}
authority: {OBSERVE: true, SEARCH: true, PUBLISH_PROJECTION: approval_required, PROBE: true, DISCLOSE: true, INTRODUCE: approval_required, NEGOTIATE_NONBINDING: false, COMMIT: false}
validity: {not_before: 2031-01-01T00:00:00Z, expires_at: 2031-07-01T02:00:00+02:00}
origin: inferred
`

func TestParseReadsEveryMember(t *testing.T) {
	got, err := Parse("interest.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := &interest.Interest{PrincipalRef: "board-2", Profile: "sayso/corporate-transaction/1",
		Wants: interest.Wants{Action: "strategic_transaction", Object: "company", Structures: []string{"acquisition"}},
		Attributes: map[string]jcs.Raw{"sector": jcs.Raw(`"crm_software"`), "enterprise_value_eur": jcs.Raw(`{"min":20000000}`), "management_continuity": jcs.Raw(`true`),
			"structure_class": jcs.Raw(`["share_deal","asset_deal"]`), "depth": jcs.Raw(`7`), "registration_id": jcs.Raw(`"0012"`)},
		Provides: []string{"capital"}, Requires: []string{"licence"}, ConditionalOn: []string{"other_deal"}, Excludes: []string{"weapons"},
		Placements: map[string]map[string]string{"sector": {"quiet_software": "crm_software"}},
		Budgets:    map[string]interest.Budget{"depth": {Bits: 1.5, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}},
		Policy: interest.Policy{
			Entries: map[string]gidp.Entry{gidp.PrincipalIdentity: {"": gidp.Class{Surface: gidp.InSession, Gate: gidp.NeedsPrincipalOK}}, "sector": {"": gidp.Class{Surface: gidp.Discovery}},
				"enterprise_value_eur": {"verified_agent": gidp.Class{Surface: gidp.InSession, Gate: gidp.NeedsConsent}, "unknown_agent": gidp.EvaluationOnly}},
			Networks: []string{"guild"}, Decoys: []string{"arr_eur"},
			Derivatives: map[string]interest.Derivative{"domains": {From: "sector", Cut: []string{"software"}, Class: gidp.Class{Surface: gidp.Discovery}}},
			Conditions:  map[string]interest.Condition{"registration_id": {Reciprocal: true, Verify: []string{"register"}}}},
		Authority: map[gidp.Level]gidp.Permission{gidp.Observe: gidp.Yes, gidp.Search: gidp.Yes, gidp.PublishProjection: gidp.Approval, gidp.Probe: gidp.Yes, gidp.Disclose: gidp.Yes,
			gidp.Introduce: gidp.Approval, gidp.NegotiateNonbinding: gidp.No, gidp.Commit: gidp.No},
		NotBefore: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), ExpiresAt: time.Date(2031, 7, 1, 0, 0, 0, 0, time.UTC), Origin: interest.Inferred}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	replace := func(old, by string) string {
		if !strings.Contains(full, old) {
			t.Fatalf("the sample has no %q", old)
		}
		return strings.Replace(full, old, by, 1)
	}
	for name, c := range map[string]struct {
		text string
		line int
		says string // part of the message
		next string // part of what to do
	}{
		"unknown member":        {replace("principal_ref: board-2", "principle_ref: board-2"), 1, `no member "principle_ref"`, "principal_ref"},
		"unknown inside":        {replace("object: company", "objekt: company"), 3, `no member "objekt"`, "object"},
		"member twice":          {replace("origin: inferred", "origin: stated\norigin: inferred"), 29, "", ""},
		"id":                    {replace("principal_ref: board-2", "id: i-1"), 1, "does not say its id", "remove"},
		"no profile":            {replace("profile: sayso/corporate-transaction/1\n", ""), 1, "names no profile", "profile: core"},
		"profile is a number":   {replace("profile: sayso/corporate-transaction/1", "profile: 1"), 2, "a string, not a number", "quotes"},
		"interest is text":      {replace("interest: {action: strategic_transaction, object: company, structures: [acquisition]}", "interest: buy"), 3, "a mapping, not text", "indented"},
		"no value":              {replace("sector: crm_software", "sector: {about: 1}"), 5, "no value", "{min: 1, max: 2}"},
		"empty list of values":  {replace("structure_class: [share_deal, asset_deal]", "structure_class: []"), 9, "no value", "list"},
		"upside down":           {replace("{min: 20000000}", "{min: 2, max: 1}"), 6, "no value", "{min: 1, max: 2}"},
		"too large":             {replace("{min: 20000000}", "{min: 9007199254740993}"), 6, "no value", ""},
		"reserved attribute":    {replace("  sector: crm_software", "  provides: [capital]"), 5, "not an attribute", "beside attributes"},
		"name with a space":     {replace("  sector: crm_software", "  \"the sector\": crm_software"), 5, "visible ASCII", "_"},
		"list is text":          {replace("provides: [capital]", "provides: capital"), 12, "a list, not text", "[first, second]"},
		"entry is a number":     {replace("provides: [capital]", "provides: [1]"), 12, "a string, not a number", "quotes"},
		"entry is empty":        {replace("provides: [capital]", `provides: [""]`), 12, "is empty", ""},
		"entry twice":           {replace("provides: [capital]", "provides: [capital, capital]"), 12, "stands twice", "remove"},
		"placement of nothing":  {replace("{quiet_software: crm_software}", "{quiet_software: null}"), 16, "what contains", "CONTAINER"},
		"budget without bits":   {replace("bits: 1.5, ", ""), 17, "its bits", "bits: 2"},
		"budget without a step": {replace(", step: 1", ""), 17, "its step", "step: 1"},
		"bits are text":         {replace("bits: 1.5", "bits: many"), 17, "bits is a number", ""},
		"fraction in a domain":  {replace("max: 31", "max: 3.5"), 17, "whole number", ""},
		"unknown class":         {replace("sector: discovery", "sector: secret"), 20, "surface is one of", "discovery"},
		"gate on local":         {replace("sector: discovery", "sector: local/consent"), 20, "no gate", ""},
		"class is a number":     {replace("sector: discovery", "sector: 1"), 20, "a word", "SURFACE"},
		"unknown counterparty":  {replace("verified_agent:", "friend:"), 21, "counterparty property", "verified_agent"},
		"member of nothing":     {replace("verified_agent:", `"member:":`), 21, "counterparty property", ""},
		"entry without a class": {replace("sector: discovery", "sector: {}"), 20, "no class", ""},
		"derivative of nothing": {replace("from: sector, ", ""), 24, "from what", "from: KEY"},
		"derivative unclassed":  {replace(", class: discovery", ""), 24, "which class", ""},
		"reciprocal is text":    {replace("reciprocal: true", "reciprocal: maybe"), 25, "true or false", ""},
		"unknown level":         {replace("COMMIT: false", "RULE: false"), 26, `no level "RULE"`, "COMMIT"},
		"level is missing":      {replace(", COMMIT: false", ""), 26, "COMMIT is not written", "COMMIT: false"},
		"level is a word":       {replace("PROBE: true", "PROBE: maybe"), 26, "approval_required", "PROBE"},
		"date without a time":   {replace("2031-01-01T00:00:00Z", "2031-01-01"), 27, "date, a time and an offset", "2031-07-01T00:00:00Z"},
		"naive time":            {replace("2031-01-01T00:00:00Z", "2031-01-01T00:00:00"), 27, "offset", ""},
		"origin":                {replace("origin: inferred", "origin: guessed"), 28, "stated or inferred", "stated"},
		"a list":                {"- a\n", 1, "mapping", "sayso interest new"},
		"no YAML":               {"a: [\n", 1, "", ""},
		"anchor":                {replace("principal_ref: board-2", "principal_ref: &x board-2"), 1, "", ""},
		"large":                 {strings.Repeat("# ", MaxSize), 1, "larger than", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("my.yaml", []byte(c.text))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			if e.Line != c.line && c.line > 0 && name != "no YAML" || e.Col < 1 || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Next, c.next) {
				t.Errorf("line %d, col %d: %s", e.Line, e.Col, e)
			}
			if !strings.HasPrefix(e.Error(), fmt.Sprintf("my.yaml:%d:", e.Line)) {
				t.Error(e)
			}
		})
	}
}

func TestParseBounds(t *testing.T) {
	var many, long strings.Builder
	for i := range maxKeys + 1 {
		fmt.Fprintf(&many, "  k%d: 1\n", i)
	}
	for i := range maxList + 1 {
		fmt.Fprintf(&long, "x%d, ", i)
	}
	for name, text := range map[string]string{
		"keys":  "profile: core\nattributes:\n" + many.String(),
		"list":  "profile: core\nprovides: [" + long.String() + "]\n",
		"value": "profile: core\nattributes: {a: [" + long.String() + "]}\n",
		"text":  "profile: " + strings.Repeat("x", maxText+1) + "\n",
		"name":  "profile: core\nattributes: {" + strings.Repeat("x", maxName+1) + ": 1}\n",
	} {
		if _, err := Parse("f", []byte(text)); err == nil {
			t.Errorf("%s beyond its bound was read", name)
		}
	}
}

// fill answers the marked lines of a template as a Principal would.
func fill(t *testing.T, p *profile.Profile, template string) string {
	t.Helper()
	var out []string
	for line := range strings.Lines(template) {
		at := strings.Index(line, Fill)
		if at < 0 || strings.HasPrefix(line, "#") {
			out = append(out, line)
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		value := map[string]string{"expires_at": "2031-07-01T00:00:00Z", "action": "exchange", "provides": "[warehouse]", "requires": "[fleet]", "geography": "munich", "sector": "crm_software", "role": "chief_executive"}[name]
		if value == "" {
			switch p.Keys[name].Type {
			case profile.Integer:
				value = "{min: 200000}"
			case profile.Bool:
				value = "true"
			default:
				value = "something"
			}
		}
		out = append(out, line[:strings.Index(line, name)]+name+": "+value+"\n")
	}
	return strings.Join(out, "")
}

func TestTemplates(t *testing.T) {
	set := profile.Shipped()
	for _, id := range set.IDs() {
		for _, delegation := range []string{"conservative", "moderate", "advanced"} {
			t.Run(id+" "+delegation, func(t *testing.T) {
				text, err := Template(set, id, delegation)
				if err != nil {
					t.Fatal(err)
				}
				p, _ := set.Profile(id)
				blank, err := Parse("new.yaml", text)
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				blank.Lineage = "l"
				if len(blank.Attributes) != 0 || !blank.ExpiresAt.IsZero() {
					t.Error("something is made up")
				}
				if r := blank.Check(p.Rules()); !r.Failed() {
					t.Error("nothing is missing in a blank file")
				}
				want, _ := gidp.Delegation(delegation)
				for level := gidp.Observe; level <= gidp.Commit; level++ {
					if got, written := blank.Authority[level]; !written || got != want.At(level) {
						t.Errorf("%s is %v", level, got)
					}
				}
				for key, k := range p.Keys {
					if entry := blank.Policy.Entries[key]; len(entry) != 1 || entry[""] != k.Default {
						t.Errorf("policy.%s is %v, the profile suggests %s", key, entry, k.Default)
					}
					if !strings.Contains(string(text), "\n  "+key+": null") {
						t.Errorf("no line for %s", key)
					}
				}
				filled, err := Parse("new.yaml", []byte(fill(t, p, string(text))))
				if err != nil {
					t.Fatal(err)
				}
				filled.Lineage = "l"
				if r := filled.Check(p.Rules()); r.Failed() || r.Counts()[report.Warning] > 0 {
					t.Errorf("%+v", r.Findings)
				}
				v := filled.View(p.Rules(), interest.Towards{Active: true, Depth: "session"})
				for _, key := range p.Minimum {
					if _, held := v.Attributes[key]; !held {
						t.Errorf("the filled file does not hold %s", key)
					}
				}
				for n, line := range slices.Collect(strings.Lines(string(text))) {
					if strings.ContainsAny(line, "\t") || strings.HasSuffix(strings.TrimSuffix(line, "\n"), " ") {
						t.Errorf("line %d: %q", n+1, line)
					}
				}
			})
		}
	}
}

func TestTemplateSaysTheCells(t *testing.T) {
	text, err := Template(profile.Shipped(), "sayso/corporate-transaction/1", "moderate")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"which of 8 cells it lies in (3 bits): up to 4 999 999 | 5 000 000 to 7 999 999 |", "| from 80 000 000.", "derivatives:\n    domains: {from: sector, generalise_to: [",
		"organisation_name: session/principal_approval # told to the other side of a session that asks, each time after you decide"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

func TestTemplateRefuses(t *testing.T) {
	if _, err := Template(profile.Shipped(), "no/such/profile", "moderate"); err == nil || !strings.Contains(err.Error(), "sayso/co-investment/1") {
		t.Error(err)
	}
	if _, err := Template(profile.Shipped(), "core", "total"); err == nil || !strings.Contains(err.Error(), "conservative") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("profile: core\nattributes: {a: [1, \"x\", true]}\nauthority: {PROBE: true}\n"))
	f.Add([]byte("policy: {a: {\"member:x\": network/consent}}\n"))
	for _, id := range profile.Shipped().IDs() {
		text, err := Template(profile.Shipped(), id, "moderate")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		i, err := Parse("f", text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 || e.Message == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if i.Profile == "" || i.ID != "" || i.Confirmed {
			t.Fatalf("%+v", i)
		}
		for key, raw := range i.Attributes {
			if _, err := gidp.ParseValue(raw); err != nil || !validName(key) {
				t.Fatalf("%q: %s %v", key, raw, err)
			}
		}
		for key, entry := range i.Policy.Entries {
			if len(entry) == 0 {
				t.Fatalf("policy.%s has no class", key)
			}
		}
		p, ok := profile.Shipped().Profile(i.Profile)
		if !ok {
			return
		}
		i.Check(p.Rules())
		_ = slices.Sorted(maps.Keys(i.View(p.Rules(), interest.Towards{Active: true}).Attributes))
	})
}
