package profile_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sayso/gidp"
	"sayso/gidp/gidpcheck"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/gidp/session"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// side is one Standing Interest written by the classes that its profile proposes.
type side struct {
	hold                              map[string]string
	provides, requires, conditionalOn []string
}

// situation is a session under a profile: what both sides hold, and what must not be read on the wire.
type situation struct {
	profile    string
	a, b       side
	secrets    []string
	contingent []string
}

var situations = map[string]situation{
	"a seller that may sell, a buyer that tells nobody": {
		profile: "sayso/corporate-transaction/1",
		a: side{hold: map[string]string{"sector": `"enterprise_software"`, "geography": `"germany"`, "enterprise_value_eur": `{"max":41000007}`, "arr_eur": `{"min":2100003,"max":9000009}`,
			"structure_class": `["acquisition","joint_venture"]`, "organisation_name": `"Buyer One"`}},
		b: side{hold: map[string]string{"sector": `"enterprise_software"`, "geography": `"munich"`, "enterprise_value_eur": `{"min":12000011}`, "arr_eur": `4300013`,
			"structure_class": `["acquisition"]`, "organisation_name": `"Seller One"`, "registration_id": `"HRB 1"`}},
		secrets: []string{"41000007", "2100003", "9000009", "12000011", "4300013", "Buyer One", "Seller One", "HRB 1"},
	},
	"a person and an organisation": {
		profile: "sayso/executive-succession/1",
		a: side{hold: map[string]string{"role": `["ceo"]`, "sector": `"b2b_software"`, "geography": `["france","united_kingdom"]`, "company_arr_eur": `{"min":5000021}`, "cash_compensation_eur_year": `{"min":160007}`,
			"equity": `true`, "person_name": `"Person One"`}},
		b: side{hold: map[string]string{"role": `["ceo"]`, "sector": `"b2b_software"`, "geography": `"paris"`, "company_arr_eur": `21000019`, "cash_compensation_eur_year": `{"max":280011}`,
			"equity": `true`, "organisation_name": `"Company One"`}},
		secrets: []string{"5000021", "160007", "21000019", "280011", "Person One", "Company One"},
	},
	"two partners that need each other": {
		profile: "sayso/partnership/1",
		a:       side{hold: map[string]string{"capability": `["machine_vision"]`, "contract_value_eur_year": `{"min":90017}`, "exclusivity": `false`}, provides: []string{"licence_to_use"}, requires: []string{"market_access_france"}},
		b:       side{hold: map[string]string{"capability": `["machine_vision"]`, "contract_value_eur_year": `{"max":330023}`, "exclusivity": `false`}, provides: []string{"market_access_france"}, requires: []string{"licence_to_use"}},
		secrets: []string{"90017", "330023"},
	},
	"an investor that waits for a lead": {
		profile: "sayso/co-investment/1",
		a:       side{hold: map[string]string{"sector": `"ai_infrastructure"`, "geography": `"france"`, "ticket_eur": `{"max":100019}`, "stage": `["seed"]`}, conditionalOn: []string{"institutional_lead"}},
		b:       side{hold: map[string]string{"sector": `"ai_infrastructure"`, "geography": `"paris"`, "ticket_eur": `{"min":25013}`, "stage": `["seed"]`}},
		secrets: []string{"100019", "25013"}, contingent: []string{"institutional_lead"},
	},
	"a profile that is written in this test and nowhere else": {
		profile: "test/instrument/1",
		a:       side{hold: map[string]string{"instrument": `"viola"`, "age_years": `{"max":181}`}},
		b:       side{hold: map[string]string{"instrument": `"viola"`, "age_years": `143`}},
		secrets: []string{"181", "143"},
	},
}

const instruments = `{"id": "test/instrument/1", "version": 1, "extends": "core",
  "keys": {
    "instrument": {"type": "label", "meaning": "fact_held", "hierarchy": "family"},
    "age_years": {"type": "integer", "unit": "year", "meaning": "fact_held", "partition": "age_years/1"}
  },
  "partitions": {"age_years/1": {"unit": "year", "min": 0, "max": 399, "edges": [100, 200, 300], "prior": {"kind": "uniform", "statement": "every age alike"},
    "masses": [0.25, 0.25, 0.25, 0.25], "worst_bits": 2, "outputs": {"point": 4, "range": 10}}},
  "hierarchies": {"family": {"tree": "instrument/1", "cut": ["strings", "winds"]}},
  "minimum_claims": ["instrument", "age_years"], "relation": ["complementary_counterparty"],
  "lead_statement": "Family and age do not exclude a conversation."}`

const families = `{"id": "instrument/1", "origin": "made for this test", "licence": "CC0-1.0", "contains": {"strings": ["viola", "violin"], "winds": ["oboe"]}}`

func set(t *testing.T) *profile.Set {
	t.Helper()
	s, err := profile.Shipped().With([][]byte{[]byte(families)}, [][]byte{[]byte(instruments)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holder writes an interest under a profile. The classes are the proposed ones.
func holder(t *testing.T, p *profile.Profile, name string, s side) *interest.Interest {
	t.Helper()
	i := &interest.Interest{ID: name, Version: 1, Lineage: name, Profile: p.ID, Origin: interest.Stated, ExpiresAt: gidpcheck.Epoch.AddDate(0, 6, 0),
		Attributes: map[string]jcs.Raw{}, Provides: s.provides, Requires: s.requires, ConditionalOn: s.conditionalOn, Authority: map[gidp.Level]gidp.Permission{gidp.Commit: gidp.No}}
	told := gidp.Entry{"": {Surface: gidp.InSession}}
	i.Policy.Entries = map[string]gidp.Entry{gidp.PrincipalIdentity: {"": {Surface: gidp.InSession, Gate: gidp.NeedsPrincipalOK}},
		gidp.Provides: told, gidp.Requires: told, gidp.ConditionalOn: told}
	for key, value := range s.hold {
		i.Attributes[key] = jcs.Raw(value)
		i.Policy.Entries[key] = gidp.Entry{"": p.Keys[key].Default}
	}
	authority, _ := gidp.Delegation("moderate")
	for level := gidp.Observe; level < gidp.Commit; level++ {
		i.Authority[level] = authority[level]
	}
	if r := i.Check(p.Rules()); r.Failed() {
		t.Fatalf("%s: %+v", name, r.Findings)
	}
	return i
}

// claims are those that the profile lets the interest ask, and its dependencies: what it requires is asked as provides, and the other way round.
func claims(w *gidpcheck.World, s side) []wire.Claim {
	out := w.A.Interest.Asks(w.A.Profile, w.A.Towards())
	out = slices.DeleteFunc(out, func(c wire.Claim) bool { reserved, _ := gidp.Reserved(c.Key); return reserved })
	for _, asked := range []struct {
		key  string
		list []string
	}{{gidp.Provides, s.requires}, {gidp.Requires, s.provides}} {
		if len(asked.list) > 0 {
			value, _ := jcs.Encode(asked.list)
			out = append(out, wire.Claim{Key: asked.key, Operator: wire.OpIntersects, Value: value})
		}
	}
	return out
}

func open(t *testing.T, c situation) *gidpcheck.World {
	t.Helper()
	p, ok := set(t).Profile(c.profile)
	if !ok {
		t.Fatal("no such profile")
	}
	w := gidpcheck.NewWorld(p.Rules(), holder(t, p, "a", c.a), holder(t, p, "b", c.b))
	w.Watch = func(_ *gidpcheck.Side, data []byte) error {
		for _, secret := range c.secrets {
			if bytes.Contains(data, []byte(secret)) {
				return fmt.Errorf("%s left in %s", secret, data)
			}
		}
		return nil
	}
	if err := w.Open("exchange", wire.DepthSession); err != nil {
		t.Fatal(err)
	}
	return w
}

func ask(t *testing.T, w *gidpcheck.World, claims []wire.Claim) {
	t.Helper()
	if err := w.Do(w.A, session.AskClaims{Claims: claims}); err != nil {
		t.Fatal(err)
	}
	if err := w.Drain(); err != nil {
		t.Fatal(err)
	}
}

// Every profile, the one of the test included, comes to an Opportunity by the same code, and no value that its classes protect is on the wire.
func TestEveryProfileServesASession(t *testing.T) {
	for name, c := range situations {
		t.Run(name, func(t *testing.T) {
			w := open(t, c)
			asked := claims(w, c.a)
			ask(t, w, asked)
			for _, s := range []*gidpcheck.Side{w.A, w.B} {
				if s.State.Phase != session.Qualified {
					t.Fatalf("side %s is %s: %s", s.Name, s.State.Phase, s.Sent)
				}
			}
			sent := w.A.Objects(wire.TypeOpportunity)
			if len(sent) != 1 || len(w.B.Objects(wire.TypeOpportunity)) != 0 {
				t.Fatalf("%d opportunities", len(sent))
			}
			o, err := wire.Decode(sent[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := o.(*wire.Opportunity); got.EvaluatedDimensions != len(asked) || !slices.Equal(got.ContingentOn, append([]string{}, c.contingent...)) {
				t.Errorf("%+v after %d questions", got, len(asked))
			}
		})
	}
}

// Whichever minimum claim is left out, the session stays open.
func TestMinimumClaimsAreNeeded(t *testing.T) {
	for name, c := range situations {
		p, _ := set(t).Profile(c.profile)
		for _, key := range p.Minimum {
			w := open(t, c)
			ask(t, w, slices.DeleteFunc(claims(w, c.a), func(c wire.Claim) bool { return c.Key == key }))
			if w.A.State.Phase != session.Probing || w.B.State.Phase != session.Probing {
				t.Errorf("%s without %s: %s and %s", name, key, w.A.State.Phase, w.B.State.Phase)
			}
		}
	}
}

// Two values of one cell are one to a counterparty: the transcripts are the same bytes.
func TestValuesOfOneCellAreAlike(t *testing.T) {
	c := situations["a seller that may sell, a buyer that tells nobody"]
	transcript := func(value string) []byte {
		other := c
		other.b.hold = map[string]string{}
		for key, v := range c.b.hold {
			other.b.hold[key] = v
		}
		other.b.hold["enterprise_value_eur"] = value
		w := open(t, other)
		ask(t, w, claims(w, other.a))
		return bytes.Join(w.B.Sent, []byte("\n"))
	}
	one := transcript(`{"min":12000011}`)
	if !bytes.Equal(one, transcript(`{"min":8000000}`)) || !bytes.Equal(one, transcript(`{"min":14999999}`)) {
		t.Error("a counterparty tells values of the cell from 8 to 15 million apart")
	}
	if bytes.Equal(one, transcript(`{"min":95000000}`)) {
		t.Error("the answers do not depend on the cell either: the test shows nothing")
	}
}

// The shipped core is what other implementations call core: the scenarios play on it as on a profile that names no key. Those of the reference are played
// too where SAYSO_GIDP_SCENARIOS names their folder.
func TestScenariosPlayOnTheShippedCore(t *testing.T) {
	core, _ := profile.Shipped().Profile(profile.Core)
	files, err := filepath.Glob(filepath.Join("..", "gidpcheck", "testdata", "scenarios", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario: %v", err)
	}
	if dir := os.Getenv("SAYSO_GIDP_SCENARIOS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(more) == 0 {
			t.Fatalf("no scenario of the reference: %v", err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := gidpcheck.Load(data)
		if err != nil {
			t.Fatal(err)
		}
		w := s.Build()
		w.A.Profile, w.B.Profile = core.Rules(), core.Rules()
		if err := s.Run(w); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}
