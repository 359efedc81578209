package interest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/report"
)

var noon = time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC)

func class(t testing.TB, s string) gidp.Entry {
	t.Helper()
	c, err := gidp.ParseClass(s)
	if err != nil {
		t.Fatal(err)
	}
	return gidp.Entry{"": c}
}

func profile(t testing.TB) *gidp.Profile {
	t.Helper()
	tree, err := gidp.NewTree(map[string]string{"oslo": "norway", "bergen": "norway", "norway": "europe", "lima": "peru", "peru": "america"})
	if err != nil {
		t.Fatal(err)
	}
	return &gidp.Profile{ID: "core", Minimum: []string{"price"}, Keys: map[string]gidp.Key{
		"price":     {Partition: &gidp.Partition{ID: "p", Min: 0, Max: 999, Edges: []int64{100, 300, 600}}, Quantity: "eur"},
		"geography": {Tree: tree, Cut: []string{"norway", "peru"}}, "name": {Identifying: true}, "scar": {Sensitive: true}, "domain": {}, "dive": {Quantity: "depth"},
	}}
}

func sample(t testing.TB) *Interest {
	t.Helper()
	all := map[gidp.Level]gidp.Permission{}
	for level := gidp.Observe; level < gidp.Commit; level++ {
		all[level] = gidp.Yes
	}
	all[gidp.Commit] = gidp.No
	return &Interest{ID: "i", Version: 1, Lineage: "l", Profile: "core", Authority: all, Origin: Stated, NotBefore: noon, ExpiresAt: noon.AddDate(0, 1, 0),
		Attributes: map[string]jcs.Raw{"price": jcs.Raw(`{"max":250}`), "geography": jcs.Raw(`"oslo"`), "name": jcs.Raw(`"A Person"`), "domain": jcs.Raw(`["optics"]`), "depth": jcs.Raw(`7`), "note": jcs.Raw(`"quiet"`),
			gidp.PrincipalIdentity: jcs.Raw(`"p"`)},
		Budgets: map[string]Budget{"depth": {Bits: 2, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}},
		Policy:  Policy{Entries: map[string]gidp.Entry{"domain": class(t, "discovery"), gidp.PrincipalIdentity: class(t, "session"), "name": class(t, "session/principal_approval")}},
	}
}

var inSession = Towards{Active: true, Depth: wire.DepthSession}

func TestSampleIsSound(t *testing.T) {
	if r := sample(t).Check(profile(t)); r.Failed() || r.Counts()[report.Warning] > 0 {
		t.Errorf("%+v", r.Findings)
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		rule    string
		outcome report.Outcome
		edit    func(*Interest)
	}{
		"form of a value":          {"GI-VALUE", report.Fail, func(i *Interest) { i.Attributes["note"] = jcs.Raw(`{"a":1}`) }},
		"no value":                 {"GI-VALUE", report.Fail, func(i *Interest) { i.Attributes["note"] = jcs.Raw(`[]`) }},
		"outside of the domain":    {"GI-VALUE", report.Fail, func(i *Interest) { i.Attributes["price"] = jcs.Raw(`1000`) }},
		"not whole":                {"GI-VALUE", report.Fail, func(i *Interest) { i.Attributes["price"] = jcs.Raw(`10.5`) }},
		"label for a number":       {"GI-VALUE", report.Fail, func(i *Interest) { i.Attributes["price"] = jcs.Raw(`"dear"`) }},
		"moved label":              {"GI-VALUE", report.Fail, func(i *Interest) { i.Placements = map[string]map[string]string{"geography": {"oslo": "peru"}} }},
		"label without a place":    {"GI-VALUE", report.Warning, func(i *Interest) { i.Attributes["geography"] = jcs.Raw(`"atlantis"`) }},
		"budget beside cells":      {"GI-BUDGET", report.Fail, func(i *Interest) { i.Budgets["price"] = Budget{2, gidp.Domain{Min: 0, Max: 9, Step: 1}} }},
		"budget without value":     {"GI-BUDGET", report.Fail, func(i *Interest) { i.Budgets["height"] = Budget{2, gidp.Domain{Min: 0, Max: 9, Step: 1}} }},
		"budget of another domain": {"GI-BUDGET", report.Fail, func(i *Interest) { i.Budgets["depth"] = Budget{2, gidp.Domain{Min: 0, Max: 5, Step: 1}} }},
		"two domains of one row": {"GI-BUDGET", report.Fail, func(i *Interest) {
			i.Attributes["dive"] = jcs.Raw(`3`)
			i.Budgets["dive"] = Budget{2, gidp.Domain{Min: 0, Max: 63, Step: 1}}
		}},
		"budget without end": {"GI-BUDGET", report.Fail, func(i *Interest) { i.Budgets["depth"] = Budget{-1, gidp.Domain{Min: 0, Max: 31, Step: 1}} }},
		"too large a domain": {"GI-BUDGET", report.Fail, func(i *Interest) { i.Budgets["depth"] = Budget{1, gidp.Domain{Min: 0, Max: 1 << 40, Step: 1}} }},
		"empty entry":        {"GI-CLASS", report.Fail, func(i *Interest) { i.Policy.Entries["note"] = gidp.Entry{} }},
		"unknown property":   {"GI-CLASS", report.Fail, func(i *Interest) { i.Policy.Entries["note"] = gidp.Entry{"friend": gidp.Never} }},
		"member who is unknown too": {"GI-CLASS", report.Warning, func(i *Interest) {
			i.Policy.Entries["note"] = gidp.Entry{"member:x": {Surface: gidp.InSession}, "unknown_agent": gidp.Never}
		}},
		"no identity entry":          {"GI-IDENTITY", report.Fail, func(i *Interest) { delete(i.Policy.Entries, gidp.PrincipalIdentity) }},
		"exposed identity":           {"GI-IDENTITY", report.Fail, func(i *Interest) { i.Policy.Entries[gidp.PrincipalIdentity] = gidp.Entry{"": {Surface: gidp.Network}} }},
		"exposed identifying key":    {"GI-IDENTITY", report.Fail, func(i *Interest) { i.Policy.Entries["name"] = gidp.Entry{"": {Surface: gidp.Discovery}} }},
		"level not written":          {"GI-AUTHORITY", report.Fail, func(i *Interest) { delete(i.Authority, gidp.Probe) }},
		"commit":                     {"GI-AUTHORITY", report.Fail, func(i *Interest) { i.Authority[gidp.Commit] = gidp.Approval }},
		"no end":                     {"GI-VALIDITY", report.Fail, func(i *Interest) { i.ExpiresAt = time.Time{} }},
		"no origin":                  {"GI-VALIDITY", report.Fail, func(i *Interest) { i.Origin = "" }},
		"another profile":            {"GI-VALIDITY", report.Fail, func(i *Interest) { i.Profile = "other" }},
		"no lineage":                 {"GI-VALIDITY", report.Fail, func(i *Interest) { i.Lineage = "" }},
		"held decoy":                 {"GI-DECOY", report.Fail, func(i *Interest) { i.Policy.Decoys = []string{"note"} }},
		"never without decoys":       {"GI-DECOY", report.Warning, func(i *Interest) { i.Policy.Entries["note"] = gidp.Entry{"": gidp.Never} }},
		"derivative of nothing":      {"GI-PROJECTION", report.Fail, func(i *Interest) { derive(i, "geographies", "absent", gidp.Discovery, "norway") }},
		"derivative of identity":     {"GI-PROJECTION", report.Fail, func(i *Interest) { derive(i, "geographies", "name", gidp.Discovery, "norway") }},
		"derivative of no member":    {"GI-PROJECTION", report.Fail, func(i *Interest) { derive(i, "prices", "geography", gidp.Discovery, "norway") }},
		"derivative of local class":  {"GI-PROJECTION", report.Fail, func(i *Interest) { derive(i, "geographies", "geography", gidp.InSession, "norway") }},
		"derivative without a level": {"GI-PROJECTION", report.Fail, func(i *Interest) { derive(i, "geographies", "geography", gidp.Discovery) }},
	} {
		i := sample(t)
		c.edit(i)
		r := i.Check(profile(t))
		if !slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == c.rule && f.Outcome == c.outcome && f.Next != "" }) {
			t.Errorf("%s: %+v, want %s %s", name, r.Findings, c.rule, c.outcome)
		}
		if r.Failed() != (c.outcome == report.Fail) {
			t.Errorf("%s: failed %v", name, r.Failed())
		}
		if again := i.Check(profile(t)); !bytes.Equal(r.AppendJSON(nil), again.AppendJSON(nil)) {
			t.Errorf("%s: two checks differ", name)
		}
	}
}

func derive(i *Interest, member, from string, surface gidp.Surface, cut ...string) {
	i.Policy.Derivatives = map[string]Derivative{member: {From: from, Cut: cut, Class: gidp.Class{Surface: surface}}}
}

// What stands for a value in a view, by class, depth and authority.
func TestHoldings(t *testing.T) {
	for _, c := range []struct {
		key, class, want string
		to               Towards
		edit             func(*Interest)
	}{
		{"price", "evaluation_only", "Cells", inSession, nil}, {"price", "session/consent", "Cells", inSession, nil}, {"price", "session", "Open", inSession, nil},
		{"price", "session", "Cells", Towards{Depth: wire.DepthNetwork}, nil}, {"price", "session", "Cells", Towards{}, nil}, {"price", "never", "Barred", inSession, nil},
		{"price", "session", "Cells", inSession, func(i *Interest) { i.Authority[gidp.Disclose] = gidp.Approval }},
		{"price", "discovery", "Open", Towards{}, func(i *Interest) { i.Authority[gidp.Disclose] = gidp.No }}, {"price", "discovery/consent", "Cells", inSession, nil},
		{"price", "network", "Cells", inSession, nil}, {"price", "network", "Open", Towards{Depth: wire.DepthNetwork, Peer: gidp.Counterparty{Member: []string{"guild"}}}, func(i *Interest) { i.Policy.Networks = []string{"guild"} }},
		{"price", "evaluation_only", "Closed", inSession, func(i *Interest) { i.Attributes["price"] = jcs.Raw(`5000`) }},
		{"geography", "evaluation_only", "Labels", inSession, nil}, {"geography", "session", "Open", inSession, nil},
		{"geography", "evaluation_only", "Closed", inSession, func(i *Interest) { i.Attributes["geography"] = jcs.Raw(`["oslo","atlantis"]`) }},
		{"geography", "evaluation_only", "Labels", inSession, func(i *Interest) {
			i.Attributes["geography"], i.Placements = jcs.Raw(`"grünerløkka"`), map[string]map[string]string{"geography": {"grünerløkka": "oslo"}}
		}},
		{"depth", "evaluation_only", "Audited", inSession, nil}, {"depth", "evaluation_only", "Closed", inSession, func(i *Interest) { i.Budgets = nil }},
		{"depth", "evaluation_only", "Closed", inSession, func(i *Interest) { i.Attributes["depth"] = jcs.Raw(`{"min":1,"max":2}`) }},
		{"note", "evaluation_only", "Closed", inSession, nil}, {"note", "session", "Open", inSession, nil}, {"note", "session/principal_approval", "Closed", inSession, nil},
		{"name", "session", "Identity", inSession, nil}, {"name", "session", "Open", Towards{Depth: wire.DepthSession, Revealed: []string{"name"}}, nil}, {"name", "never", "Barred", Towards{Revealed: []string{"name"}}, nil},
		{gidp.PrincipalIdentity, "session", "Identity", inSession, nil},
	} {
		i := sample(t)
		i.Policy.Entries[c.key] = class(t, c.class)
		if c.edit != nil {
			c.edit(i)
		}
		got := fmt.Sprintf("%T", i.View(profile(t), c.to).Attributes[c.key].Holding)
		if got != "gidp."+c.want {
			t.Errorf("%s as %s %+v: %s, want %s", c.key, c.class, c.to, got, c.want)
		}
	}
}

// A view of protected values tells their cells and nothing else: two interests in the same cells have the same view.
func TestViewHoldsNoProtectedValue(t *testing.T) {
	one, two := sample(t), sample(t)
	two.Attributes["price"], two.Attributes["geography"], two.Attributes["name"], two.Attributes["note"] = jcs.Raw(`{"max":101}`), jcs.Raw(`"bergen"`), jcs.Raw(`"B Person"`), jcs.Raw(`"loud"`)
	for _, i := range []*Interest{one, two} { // a closure prints as its address
		delete(i.Attributes, "depth")
		i.Budgets = nil
		i.ConditionalOn = []string{"anchor-" + string(i.Attributes["note"])}
	}
	p := profile(t)
	for key, a := range one.View(p, inSession).Attributes {
		b := two.View(p, inSession).Attributes[key]
		if key != "domain" && fmt.Sprintf("%+v", a.Holding) != fmt.Sprintf("%+v", b.Holding) {
			t.Errorf("%s: %+v and %+v", key, a.Holding, b.Holding)
		}
	}
	if c := one.View(p, inSession).Contingency; !c.Exists || len(c.Names) > 0 {
		t.Errorf("%+v: a dependency that is only evaluated has no name in a view", c)
	}
}

func TestVet(t *testing.T) {
	claim := func(key string, op wire.Operator, value string) wire.Claim {
		return wire.Claim{ID: "c", Key: key, Operator: op, Value: jcs.Raw(value)}
	}
	i := sample(t)
	i.ConditionalOn, i.Provides = []string{"anchor"}, []string{"press"}
	i.Policy.Entries[gidp.Provides] = class(t, "discovery")
	i.Attributes["band"] = jcs.Raw(`{"min":40,"max":90}`)
	i.Attributes["several"] = jcs.Raw(`["red","blue"]`)
	for _, c := range []struct {
		claim wire.Claim
		tells bool
	}{
		{claim("price", wire.OpOverlaps, `{"max":299}`), false}, {claim("price", wire.OpOverlaps, `{"min":100,"max":599}`), false}, {claim("price", wire.OpOverlaps, `{"max":250}`), true},
		{claim("price", wire.OpOverlaps, `{"min":101}`), true}, {claim("price", wire.OpEquals, `250`), true}, {claim("price", wire.OpEquals, `7`), true}, {claim("price", wire.OpIntersects, `[1]`), true},
		{claim("note", wire.OpEquals, `"quiet"`), true}, {claim("note", wire.OpEquals, `"loud"`), false}, {claim("note", wire.OpIntersects, `["loud","quiet"]`), true}, {claim("note", wire.OpCompatibleWith, `{"a":["quiet"]}`), true},
		{claim("depth", wire.OpOverlaps, `{"min":7,"max":7}`), true}, {claim("depth", wire.OpOverlaps, `{"min":6,"max":8}`), false}, {claim("depth", wire.OpEquals, `7.0`), true}, {claim("depth", wire.OpIntersects, `[7]`), true},
		{claim("band", wire.OpOverlaps, `{"min":40,"max":90}`), true}, {claim("band", wire.OpOverlaps, `{"min":90,"max":90}`), true}, {claim("band", wire.OpOverlaps, `{"min":30,"max":95}`), false},
		{claim("several", wire.OpIntersects, `"red"`), true}, {claim("several", wire.OpIntersects, `["green"]`), false},
		{claim("domain", wire.OpIntersects, `["optics"]`), false}, {claim("absent", wire.OpEquals, `"any"`), false},
		{claim("name", wire.OpEquals, `"A Person"`), true}, {claim("name", wire.OpEquals, `"B Person"`), false},
		{claim(gidp.ConditionalOn, wire.OpIntersects, `["anchor"]`), true}, {claim(gidp.Requires, wire.OpIntersects, `["anchor","x"]`), true}, {claim(gidp.Requires, wire.OpIntersects, `["press"]`), false},
	} {
		err := i.Vet(profile(t), inSession, []wire.Claim{c.claim})
		if (err != nil) != c.tells {
			t.Errorf("%s %s %s: %v, want refused %v", c.claim.Key, c.claim.Operator, c.claim.Value, err, c.tells)
		}
	}
	i.Policy.Entries["name"] = class(t, "session") // an identity is never told by a claim, whatever its class
	if i.Vet(profile(t), Towards{Depth: wire.DepthSession, Revealed: []string{"name"}}, []wire.Claim{claim("name", wire.OpEquals, `"A Person"`)}) == nil {
		t.Error("a claim told an identity")
	}
}

// What the explorer asks by itself depends on cells, and passes its own vetting.
func TestAsks(t *testing.T) {
	one, two := sample(t), sample(t)
	two.Attributes["price"], two.Attributes["geography"] = jcs.Raw(`{"max":150}`), jcs.Raw(`"bergen"`)
	p := profile(t)
	a, b := one.Asks(p, inSession), two.Asks(p, inSession)
	if fmt.Sprintf("%s", a) != fmt.Sprintf("%s", b) || len(a) != 3 || a[0].Key != "price" || string(a[0].Value) != `{"max":299}` {
		t.Errorf("%s and %s", a, b)
	}
	if err := one.Vet(p, inSession, a); err != nil {
		t.Error(err)
	}
}

// What one side requires the other has to provide: the lists are asked crosswise (sec. 14).
func TestAsksForDependencies(t *testing.T) {
	i := sample(t)
	i.Requires, i.Provides = []string{"kiln", "press"}, []string{"clay"}
	p := profile(t)
	p.Minimum = []string{gidp.Provides, gidp.Requires}
	for _, key := range p.Minimum {
		i.Policy.Entries[key] = class(t, "session")
	}
	var got []string
	for _, c := range i.Asks(p, inSession)[:3] {
		got = append(got, c.Key+" "+string(c.Value))
	}
	if want := []string{`provides ["kiln"]`, `provides ["press"]`, `requires ["clay"]`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	i.Policy.Entries[gidp.Requires] = class(t, "session/consent")
	if c := i.Asks(p, inSession)[0]; c.Key != gidp.Requires {
		t.Errorf("a requirement behind a consent is asked for: %s %s", c.Key, c.Value)
	}
}

func TestProject(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*Interest)
		in   string
		want string
		err  error
	}{
		"a discovery attribute":     {want: `[optics] []`},
		"a derivative":              {edit: func(i *Interest) { derive(i, "geographies", "geography", gidp.Discovery, "norway") }, want: `[optics] [norway]`},
		"no derivative":             {edit: func(i *Interest) { i.Policy.Entries["geography"] = class(t, "session") }, want: `[optics] []`},
		"a cut that does not cover": {edit: func(i *Interest) { derive(i, "geographies", "geography", gidp.Discovery, "peru") }, want: `[optics] []`},
		"a derivative for members":  {edit: func(i *Interest) { derive(i, "geographies", "geography", gidp.Network, "europe") }, want: `[optics] []`},
		"a derivative inside": {edit: func(i *Interest) {
			derive(i, "geographies", "geography", gidp.Network, "europe")
			i.Policy.Networks = []string{"guild"}
		}, in: "guild", want: `[optics] [europe]`},
		"a derivative of never": {edit: func(i *Interest) {
			derive(i, "geographies", "geography", gidp.Discovery, "norway")
			i.Policy.Entries["geography"] = class(t, "never")
		}, want: `[optics] []`},
		"a derivative of identity":      {edit: func(i *Interest) { derive(i, "geographies", "name", gidp.Discovery, "norway") }, want: `[optics] []`},
		"a gated attribute":             {edit: func(i *Interest) { i.Policy.Entries["domain"] = class(t, "discovery/consent") }, err: ErrNothing},
		"nothing":                       {edit: func(i *Interest) { delete(i.Policy.Entries, "domain") }, err: ErrNothing},
		"no authority":                  {edit: func(i *Interest) { i.Authority[gidp.PublishProjection] = gidp.No }, err: ErrNotAllowed},
		"an approval that is not given": {edit: func(i *Interest) { i.Authority[gidp.PublishProjection] = gidp.Approval }, err: ErrNotAllowed},
	} {
		i := sample(t)
		if c.edit != nil {
			c.edit(i)
		}
		o, err := i.Project(profile(t), Projection{ProjectionID: "p", Endpoint: "https://one.example/a2a/x", ExpiresAt: noon, Domain: c.in}, false)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
			continue
		}
		if err != nil {
			continue
		}
		if got := fmt.Sprint(o.Domains, o.Geographies); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		data, err := wire.Encode(o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, secret := range []string{"oslo", "Person", "quiet", "250"} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s: %q is in the projection", name, secret)
			}
		}
	}
	i := sample(t)
	i.Authority[gidp.PublishProjection] = gidp.Approval
	if _, err := i.Project(profile(t), Projection{ProjectionID: "p", Endpoint: "https://one.example/a2a/x", ExpiresAt: noon}, true); err != nil {
		t.Error(err)
	}
}

func TestLifecycle(t *testing.T) {
	leave := []Duty{WithdrawProjections, CloseSessions, DiscardInbox}
	i := sample(t)
	after := i.ExpiresAt
	for _, c := range []struct {
		from   State
		change Change
		at     time.Time
		to     State
		duties []Duty
		err    error
	}{
		{Draft, Activate, noon, Active, nil, nil}, {Draft, Activate, noon.Add(-time.Second), Draft, nil, ErrNotValid}, {Draft, Activate, after, Draft, nil, ErrNotValid},
		{Active, Suspend, noon, Suspended, leave, nil}, {Suspended, Resume, noon, Active, []Duty{PublishAnew}, nil}, {Suspended, Resume, after, Suspended, nil, ErrNotValid},
		{Active, Expire, after, Expired, leave, nil}, {Active, Expire, noon, Active, nil, ErrNoTransition}, {Suspended, Expire, after, Expired, nil, nil},
		{Active, Revoke, noon, Revoked, leave, nil}, {Active, Supersede, noon, Superseded, leave, nil}, {Suspended, Revoke, noon, Revoked, nil, nil},
		{Active, Activate, noon, Active, nil, ErrNoTransition}, {Draft, Suspend, noon, Draft, nil, ErrNoTransition}, {Draft, Resume, noon, Draft, nil, ErrNoTransition},
	} {
		to, duties, err := i.Next(c.from, c.change, c.at)
		if to != c.to || !slices.Equal(duties, c.duties) || !errors.Is(err, c.err) {
			t.Errorf("%s %s: %s %v %v, want %s %v %v", c.from, c.change, to, duties, err, c.to, c.duties, c.err)
		}
	}
	for _, ended := range []State{Expired, Revoked, Superseded} {
		for _, c := range []Change{Activate, Suspend, Resume, Expire, Revoke, Supersede} {
			if to, _, err := i.Next(ended, c, noon); to != ended || err == nil {
				t.Errorf("%s %s: %s, %v", ended, c, to, err)
			}
		}
	}
	i.Origin = Inferred
	if _, _, err := i.Next(Draft, Activate, noon); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("%v: an inferred interest is confirmed first", err)
	}
	i.Confirmed = true
	if to, _, err := i.Next(Draft, Activate, noon); to != Active || err != nil {
		t.Errorf("%s, %v", to, err)
	}
}
