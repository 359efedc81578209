package interest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/report"
)

// excluding is an interest that rules out what lies in Norway under the name of somebody, and holds no place itself.
func excluding(t testing.TB, edit ...func(*Interest)) *Interest {
	t.Helper()
	i := sample(t)
	delete(i.Attributes, "geography")
	i.Excludes, i.Placements = []string{"rival"}, map[string]map[string]string{"geography": {"rival": "oslo"}}
	for _, e := range edit {
		e(i)
	}
	return i
}

func TestExclusionsAreAskedAsTheOtherClasses(t *testing.T) {
	p := profile(t)
	for name, c := range map[string]struct {
		edit func(*Interest)
		want string // the claim on geography; "": none
		ends bool   // it is required
	}{
		"an own placement":        {nil, `["peru"]`, true},
		"a label of the tree":     {func(i *Interest) { i.Excludes = []string{"bergen"} }, `["peru"]`, true},
		"the class itself":        {func(i *Interest) { i.Excludes = []string{"norway", "oslo"} }, `["peru"]`, true},
		"above the cut":           {func(i *Interest) { i.Excludes = []string{"europe"} }, `["peru"]`, true},
		"by policy, silently":     {func(i *Interest) { i.Policy.Entries[gidp.Excludes] = gidp.Entry{"": gidp.Never} }, "", false},
		"in no hierarchy":         {func(i *Interest) { i.Placements = nil }, "", false},
		"a moved label":           {func(i *Interest) { i.Placements["geography"]["oslo"] = "peru" }, "", false},
		"nothing else is left":    {func(i *Interest) { i.Excludes = []string{"rival", "lima"} }, `["peru"]`, true},
		"a key that is never":     {func(i *Interest) { i.Policy.Entries["geography"] = gidp.Entry{"": gidp.Never} }, "", false},
		"a decoy":                 {func(i *Interest) { i.Policy.Decoys = []string{"geography"} }, "", false},
		"looked for there":        {func(i *Interest) { i.Attributes["geography"] = jcs.Raw(`"bergen"`) }, `["norway"]`, false},
		"looked for all around":   {func(i *Interest) { i.Attributes["geography"] = jcs.Raw(`"europe"`) }, "", false}, // the own value itself is not said
		"looked for elsewhere":    {func(i *Interest) { i.Attributes["geography"] = jcs.Raw(`"lima"`) }, `["peru"]`, true},
		"a place without a place": {func(i *Interest) { i.Attributes["geography"] = jcs.Raw(`"atlantis"`) }, `["peru"]`, true},
	} {
		i := excluding(t)
		if c.edit != nil {
			c.edit(i)
		}
		got := ""
		for _, claim := range i.Asks(p, inSession) {
			if claim.Key == "geography" {
				got += string(claim.Value)
			}
			if claim.Key == gidp.Excludes {
				t.Errorf("%s: the peer is asked what it excludes", name)
			}
		}
		if v := i.View(p, inSession); got != c.want || slices.Contains(v.Excluding, "geography") != c.ends {
			t.Errorf("%s: asks %s, requires %v", name, got, v.Excluding)
		}
	}
}

// A claim that somebody of an excluded class would satisfy does not leave, however it came about.
func TestVetKeepsExcludedClassesOut(t *testing.T) {
	i, p := excluding(t), profile(t)
	for value, refused := range map[string]bool{`["peru"]`: false, `"lima"`: false, `["peru","norway"]`: true, `"bergen"`: true, `["europe"]`: true, `["america"]`: false, `7`: false} {
		if err := i.Vet(p, inSession, []wire.Claim{{Key: "geography", Operator: wire.OpIntersects, Value: jcs.Raw(value)}}); (err != nil) != refused {
			t.Errorf("%s: %v", value, err)
		} else if err != nil && strings.Contains(err.Error(), "norway") {
			t.Errorf("the error says %v", err)
		}
	}
}

// Which of the key's labels is excluded shows by its class alone, and a holder's answer to the claim separates the class exactly.
func TestExclusionsTellTheClassAlone(t *testing.T) {
	p := profile(t)
	labels := map[string][]string{"norway": {"oslo", "bergen", "norway"}, "peru": {"lima", "peru"}}
	rapid.Check(t, func(rt *rapid.T) {
		class := rapid.SampledFrom([]string{"norway", "peru"}).Draw(rt, "class")
		ask := func(label string) string {
			i := excluding(t)
			i.Excludes = []string{label}
			var out []string
			for _, c := range i.Asks(p, inSession) {
				out = append(out, c.Key+string(c.Operator)+string(c.Value))
			}
			return strings.Join(out, "\n")
		}
		a, b := rapid.SampledFrom(labels[class]).Draw(rt, "a"), rapid.SampledFrom(labels[class]).Draw(rt, "b")
		if x, y := ask(a), ask(b); x != y || strings.Contains(x, class) {
			rt.Fatalf("%s: %s\n%s: %s", a, x, b, y)
		}
		other := sample(t)
		held := rapid.SampledFrom(slices.Concat(labels["norway"], labels["peru"])).Draw(rt, "held")
		other.Attributes["geography"] = jcs.Raw(`"` + held + `"`)
		i := excluding(t)
		i.Excludes = []string{a}
		claim := rest("geography", p.Keys["geography"], []string{class})
		answers, _ := gidp.Evaluate(other.View(p, inSession), nil, gidp.Query{Claims: []wire.Claim{claim}, Allowed: wire.AllResults()})
		want := wire.Compatible
		if slices.Contains(labels[class], held) {
			want = wire.Incompatible
		}
		if answers[0].Result != want {
			rt.Fatalf("who holds %s, asked %s: %s", held, claim.Value, answers[0].Result)
		}
	})
}

func TestCheckSaysWhatNoQuestionTests(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*Interest)
		word string // of the finding; "": none
	}{
		"asked":         {func(*Interest) {}, ""},
		"never":         {func(i *Interest) { i.Policy.Entries[gidp.Excludes] = gidp.Entry{"": gidp.Never} }, "classed never"},
		"unplaced":      {func(i *Interest) { i.Placements = nil }, "no hierarchy"},
		"its own class": {func(i *Interest) { i.Attributes["geography"] = jcs.Raw(`"bergen"`) }, "look yourself"},
	} {
		i := excluding(t, c.edit)
		said := ""
		for _, f := range i.Check(profile(t)).Findings {
			if f.Rule == "GI-EXCLUDES" {
				said += f.Message
				if f.Outcome != report.Warning || strings.Contains(f.Message, "rival") {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		if (said == "") != (c.word == "") || !strings.Contains(said, c.word) {
			t.Errorf("%s: %q", name, said)
		}
	}
}
