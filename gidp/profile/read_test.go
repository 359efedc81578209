package profile

import (
	"slices"
	"strings"
	"testing"

	"sayso/gidp"
	"sayso/gidp/wire"
	"sayso/jcs"
)

// small is a profile over the shipped core that uses every member.
const small = `{
  "id": "test/swap/1", "version": 1, "extends": "core",
  "keys": {
    "price": {"type": "integer", "unit": "eur", "meaning": "fact_held", "quantity": "price", "partition": "price/1", "default_class": "evaluation_only", "borderline": false},
    "fee": {"type": "integer", "unit": "eur", "meaning": "requirement", "quantity": "price", "partition": "price/1"},
    "region": {"type": "label", "meaning": "set_accepted", "hierarchy": "place", "default_class": "discovery"},
    "site": {"type": "set", "meaning": "fact_held", "hierarchy": "place", "cut": ["land"], "sensitive": true, "absent_means": "declined"},
    "owner": {"type": "label", "meaning": "fact_held", "identifying": true, "default_class": "session/principal_approval"}
  },
  "partitions": {"price/1": {"unit": "eur", "min": 0, "max": 399, "edges": [100, 200, 300], "prior": {"kind": "uniform", "statement": "every price alike"}, "masses": [0.25, 0.25, 0.25, 0.25], "worst_bits": 2, "outputs": {"point": 4, "range": 10}}},
  "hierarchies": {"place": {"tree": "place/1", "cut": ["north", "south"]}},
  "predicates": {"margin": {"weights": {"price": 1, "fee": -1}, "holds": "at_least", "needs": ["region"], "tests": "The price exceeds the fee by the asked amount."}},
  "minimum_claims": ["price", "margin"], "structures": ["swap"], "purposes": ["exchange"], "channels": ["post"],
  "relation": ["complementary_counterparty"], "lead_statement": "The prices do not exclude each other."
}`

const place = `{"id": "place/1", "origin": "made for a test", "licence": "CC0-1.0", "contains": {"land": ["north", "south"], "north": ["harbour"], "south": ["vale"]}, "codes": {"harbour": "HB"}}`

func with(hierarchy, profile string) (*Set, error) {
	return Shipped().With([][]byte{[]byte(hierarchy)}, [][]byte{[]byte(profile)})
}

func TestEveryMemberReachesTheCore(t *testing.T) {
	s, err := with(place, small)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := s.Profile("test/swap/1")
	if !ok {
		t.Fatal("it is not there")
	}
	r := p.Rules()
	price, region, site := r.Keys["price"], r.Keys["region"], r.Keys["site"]
	switch {
	case price.Partition == nil || price.Partition.Cells() != 4 || !price.Definite || price.Quantity != "price" || r.Keys["fee"].Partition.ID != "price/1" || r.Keys["fee"].Definite:
		t.Errorf("price: %+v", price)
	case region.Meaning != gidp.SetAccepted || !slices.Equal(region.Cut, []string{"north", "south"}) || !region.Tree.Within("harbour", "land"):
		t.Errorf("region: %+v", region)
	case !slices.Equal(site.Cut, []string{"land"}) || !site.Sensitive || !site.AbsentDeclined || region.AbsentDeclined:
		t.Errorf("site: %+v", site)
	case !r.Identifying("owner") || r.Identifying("price"):
		t.Error("owner identifies, price does not")
	case r.Keys["geography"].Tree == nil || p.Keys["transaction_value"].Type != Integer:
		t.Error("the keys of core are inherited")
	case !slices.Equal(r.Minimum, []string{"price", "margin"}) || r.Structure != "swap" || !slices.Contains(r.Channels, "post") || !slices.Contains(r.Channels, "email"):
		t.Errorf("codes: %+v", r)
	}
	f := r.Predicates["margin"]
	if !slices.Equal(f.Args, []string{"fee", "price"}) || !slices.Equal(f.Needs, []string{"region"}) {
		t.Fatalf("%+v", f)
	}
	for asked, want := range map[string][2]bool{`30`: {true, true}, `31`: {false, true}, `-5`: {true, true}, `30.5`: {false, false}, `"30"`: {false, false}, `{"min":30}`: {false, false}, `[1,2]`: {false, false}} {
		if holds, fits := f.Test([]int64{70, 100}, jcs.Raw(asked)); [2]bool{holds, fits} != want {
			t.Errorf("100-70 >= %s: %v %v", asked, holds, fits)
		}
	}
	if _, ok := Shipped().Profile("test/swap/1"); ok {
		t.Error("the shipped set was changed")
	}
	h, _ := s.Hierarchy("place/1")
	if h.Code("harbour") != "HB" || h.Container("harbour") != "north" || !slices.Equal(h.Roots(), []string{"land"}) {
		t.Errorf("%+v", h)
	}
}

// A predicate of a file is decided on cells: where it holds, or fails, at all their corners.
func TestPredicateOverCells(t *testing.T) {
	s, err := with(place, small)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := s.Profile("test/swap/1")
	cells := func(cell int) gidp.Attribute {
		return gidp.Attribute{Held: true, Holding: gidp.Cells{Partition: p.Rules().Keys["price"].Partition, Low: cell}}
	}
	v := gidp.View{Profile: p.Rules(), Attributes: map[string]gidp.Attribute{"price": cells(2), "fee": cells(0)}} // 200 to 299, and 0 to 99
	for asked, want := range map[string]wire.Result{`101`: wire.Compatible, `102`: wire.Unknown, `299`: wire.Unknown, `300`: wire.Incompatible, `"101"`: wire.Unknown} {
		q := gidp.Query{Claims: []wire.Claim{{Key: "margin", Operator: wire.OpCompatibleWith, Value: jcs.Raw(asked)}}, Allowed: wire.AllResults()}
		if got, _ := gidp.Evaluate(v, nil, q); got[0].Result != wire.NeedsMore || !slices.Equal(got[0].Needs, []string{"region"}) {
			t.Errorf("before the asker has disclosed its region: %+v", got[0])
		}
		q.Disclosed = []string{"region"}
		if got, _ := gidp.Evaluate(v, nil, q); got[0].Result != want {
			t.Errorf("price - fee >= %s: %s, want %s", asked, got[0].Result, want)
		}
	}
}

// The predicate stays exact at the ends of what it may be given.
func TestPredicateDoesNotOverflow(t *testing.T) {
	const most = 1<<53 - 1
	f := Predicate{Weights: map[string]int64{"a": 100, "b": 100, "c": 100, "d": 100, "e": 100, "f": 100}, Holds: atMost}.core()
	at := []int64{most, most, most, most, most, most}
	if holds, fits := f.Test(at, jcs.Raw(`9007199254740991`)); holds || !fits {
		t.Error("the sum of the greatest numbers is at most one of them")
	}
	for i := range at {
		at[i] = -most
	}
	if holds, fits := f.Test(at, jcs.Raw(`-9007199254740991`)); !holds || !fits {
		t.Error("the sum of the least numbers is more than one of them")
	}
}

// Each case changes one thing in a profile that loads. The error says which rule.
func TestRefusedProfiles(t *testing.T) {
	for name, c := range map[string]struct{ old, new, says string }{
		"an unknown member":                 {`"relation":`, `"operators": ["near"], "relation":`, "unknown"},
		"an unknown member of a key":        {`"borderline": false`, `"weight": 3`, "unknown"},
		"an added result":                   {`"relation":`, `"results": ["maybe"], "relation":`, "unknown"},
		"an added intended use":             {`"relation":`, `"intended_use": ["resale"], "relation":`, "unknown"},
		"a member twice":                    {`"version": 1,`, `"version": 1, "version": 1,`, "duplicate"},
		"a relation with direction":         {`["complementary_counterparty"]`, `["buyer_of"]`, "relation"},
		"two relations":                     {`["complementary_counterparty"]`, `["complementary_counterparty", "seller"]`, "relation"},
		"no relation":                       {`["complementary_counterparty"]`, `[]`, "relation"},
		"an id without version":             {`"test/swap/1"`, `"test"`, "NAME/VERSION"},
		"an id of another version":          {`"test/swap/1"`, `"test/swap/2"`, "NAME/VERSION"},
		"an id that is taken":               {`"test/swap/1"`, `"sayso/partnership/1"`, "taken"},
		"core a second time":                {`"test/swap/1", "version": 1, "extends": "core"`, `"core", "version": 1`, "taken"},
		"no extension of core":              {`"extends": "core"`, `"extends": "sayso/partnership/1"`, "extends core"},
		"no lead statement":                 {`"lead_statement": "The prices do not exclude each other."`, `"lead_statement": ""`, "lead_statement"},
		"a key of core":                     {`"owner":`, `"geography":`, "belongs to core"},
		"a reserved key":                    {`"owner":`, `"excludes":`, "meaning of the protocol"},
		"principal_identity":                {`"owner":`, `"principal_identity":`, "meaning of the protocol"},
		"a key that is no label":            {`"owner":`, `"Owner":`, "no label"},
		"an unknown type":                   {`"type": "label", "meaning": "fact_held", "id`, `"type": "date", "meaning": "fact_held", "id`, "type"},
		"an unknown meaning":                {`"set_accepted"`, `"wish"`, "meaning"},
		"no meaning":                        {`"meaning": "set_accepted", `, ``, "meaning"},
		"an unknown absent_means":           {`"absent_means": "declined"`, `"absent_means": "incompatible"`, "absent_means"},
		"an unknown class":                  {`"default_class": "discovery"`, `"default_class": "secret"`, "surface"},
		"an identity in discovery":          {`"session/principal_approval"`, `"discovery"`, "identifying"},
		"an identity without approval":      {`"session/principal_approval"`, `"session/consent"`, "identifying"},
		"an identity in cells":              {`"owner": {"type": "label"`, `"owner": {"hierarchy": "place", "type": "label"`, "neither partition nor hierarchy"},
		"an integer without unit":           {`"unit": "eur", "meaning": "requirement"`, `"meaning": "requirement"`, "unit"},
		"a partition of another unit":       {`"unit": "eur", "meaning": "requirement"`, `"unit": "usd", "meaning": "requirement"`, "Q-5"},
		"a partition of another quantity":   {`"requirement", "quantity": "price"`, `"requirement", "quantity": "fee"`, "Q-5"},
		"a quantity once without partition": {`"requirement", "quantity": "price", "partition": "price/1"`, `"requirement", "quantity": "price"`, "Q-5"},
		"a partition that is not there":     {`"requirement", "quantity": "price", "partition": "price/1"`, `"requirement", "quantity": "price", "partition": "price/2"`, "Q-5"},
		"a partition nobody uses":           {`"partitions": {`, `"partitions": {"idle/1": {"unit": "eur", "min": 0, "max": 9, "edges": [5], "prior": {"kind": "uniform", "statement": "s"}, "masses": [0.5, 0.5], "worst_bits": 1, "outputs": {"point": 2, "range": 3}}, `, "no key uses"},
		"cells of unequal mass":             {`[100, 200, 300]`, `[100, 200, 380]`, "Q-1"},
		"edges that descend":                {`[100, 200, 300]`, `[100, 300, 200]`, "ascend"},
		"edges out of the domain":           {`"max": 399`, `"max": 250`, "ascend"},
		"a single cell":                     {`[100, 200, 300]`, `[]`, "cells"},
		"no statement of the prior":         {`"statement": "every price alike"`, `"statement": ""`, "statement"},
		"an unknown prior":                  {`"kind": "uniform"`, `"kind": "pareto"`, "log_normal"},
		"a prior without spread":            {`"kind": "uniform"`, `"kind": "log_normal", "median": 100, "sigma": 0`, "sigma"},
		"masses that are not its own":       {`[0.25, 0.25, 0.25, 0.25]`, `[0.2, 0.3, 0.25, 0.25]`, "Q-2"},
		"a mass too few":                    {`[0.25, 0.25, 0.25, 0.25]`, `[0.25, 0.25, 0.25]`, "Q-2"},
		"a worst case that is not its own":  {`"worst_bits": 2`, `"worst_bits": 1.9`, "Q-2"},
		"outputs that are not its own":      {`"range": 10`, `"range": 9`, "Q-2"},
		"a random offset":                   {`"unit": "eur", "min": 0`, `"unit": "eur", "offset": 7, "min": 0`, "unknown"},
		"a tree that has not been read":     {`"place/1"`, `"place/2"`, "has not been read"},
		"a hierarchy that is not listed":    {`"fact_held", "hierarchy": "place", "cut"`, `"fact_held", "hierarchy": "map", "cut"`, "not listed"},
		"a hierarchy of a number":           {`"type": "integer", "unit": "eur", "meaning": "requirement"`, `"hierarchy": "place", "type": "integer", "unit": "eur", "meaning": "requirement"`, "labels"},
		"a cut that misses a branch":        {`"cut": ["north", "south"]`, `"cut": ["north"]`, "neither under nor above"},
		"a cut with a container":            {`"cut": ["north", "south"]`, `"cut": ["land", "south"]`, "its container"},
		"a cut with a strange label":        {`"cut": ["north", "south"]`, `"cut": ["north", "south", "moon"]`, "not in the tree"},
		"a predicate on a label":            {`"fee": -1`, `"region": -1`, "no number"},
		"a predicate on nothing":            {`{"price": 1, "fee": -1}`, `{}`, "weights"},
		"a weight of 0":                     {`"fee": -1`, `"fee": 0`, "weight"},
		"a weight beyond its bound":         {`"fee": -1`, `"fee": -9223372036854775808`, "number"},
		"a predicate with a key's name":     {`"margin": {`, `"price": {`, "no key has"},
		"a predicate that needs nothing":    {`"needs": ["region"]`, `"needs": ["moon"]`, "no key of the profile"},
		"a predicate that tests nothing":    {`"tests": "The price exceeds the fee by the asked amount."`, `"tests": ""`, "what it tests"},
		"a predicate with another relation": {`"at_least"`, `"about"`, "at_most or at_least"},
		"a minimum nobody can ask":          {`["price", "margin"]`, `["price", "moon"]`, "minimum_claims"},
		"a minimum that identifies":         {`["price", "margin"]`, `["owner"]`, "minimum_claims"},
		"a minimum twice":                   {`["price", "margin"]`, `["price", "price"]`, "minimum_claims"},
		"a code twice":                      {`"structures": ["swap"]`, `"structures": ["swap", "swap"]`, "structures"},
		"a code that is a sentence":         {`"structures": ["swap"]`, `"structures": ["Swap it!"]`, "structures"},
	} {
		changed := strings.Replace(small, c.old, c.new, 1)
		if changed == small {
			t.Errorf("%s: the profile has no %s", name, c.old)
			continue
		}
		if _, err := with(place, changed); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error about %q", name, err, c.says)
		}
	}
}

func TestRefusedHierarchies(t *testing.T) {
	for name, c := range map[string]struct{ old, new, says string }{
		"no licence":               {`"CC0-1.0"`, `""`, "licence"},
		"no origin":                {`"made for a test"`, `""`, "origin"},
		"an id without version":    {`"place/1"`, `"place"`, "NAME/VERSION"},
		"an id that is taken":      {`"place/1"`, `"domain/1"`, "taken"},
		"two containers":           {`"south": ["vale"]`, `"south": ["harbour"]`, "lies in"},
		"a label in itself":        {`"south": ["vale"]`, `"south": ["land"]`, "itself"},
		"a label with a capital":   {`"vale"`, `"Vale"`, "not a label"},
		"an unknown member":        {`"origin"`, `"weights": {}, "origin"`, "unknown"},
		"a code of nothing":        {`{"harbour": "HB"}`, `{"moon": "MO"}`, "code"},
		"one code for two":         {`{"harbour": "HB"}`, `{"harbour": "HB", "vale": "HB"}`, "code"},
		"no labels":                {`{"land": ["north", "south"], "north": ["harbour"], "south": ["vale"]}`, `{}`, "no label"},
		"a label twice in one row": {`["vale"]`, `["vale", "vale"]`, "lies in"},
	} {
		changed := strings.Replace(place, c.old, c.new, 1)
		if changed == place {
			t.Errorf("%s: the hierarchy has no %s", name, c.old)
			continue
		}
		if _, err := new(Set).With([][]byte{[]byte(changed)}, nil); name != "an id that is taken" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want an error about %q", name, err, c.says)
		}
		if _, err := Shipped().With([][]byte{[]byte(changed)}, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s over the shipped ones: %v, want an error about %q", name, err, c.says)
		}
	}
}

// A quantity keeps its cells over versions and profiles: the same under one id, nested under two.
func TestVersionsOfAPartitionAreNested(t *testing.T) {
	base, err := with(place, small)
	if err != nil {
		t.Fatal(err)
	}
	next := func(edits ...string) error {
		doc := strings.NewReplacer(append([]string{`"test/swap/1", "version": 1`, `"test/swap/2", "version": 2`}, edits...)...).Replace(small)
		_, err := base.With(nil, [][]byte{[]byte(doc)})
		return err
	}
	halves := []string{`[100, 200, 300]`, `[200]`, `[0.25, 0.25, 0.25, 0.25]`, `[0.5, 0.5]`, `"worst_bits": 2`, `"worst_bits": 1`, `{"point": 4, "range": 10}`, `{"point": 2, "range": 3}`}
	thirds := []string{`[100, 200, 300]`, `[133, 267]`, `[0.25, 0.25, 0.25, 0.25]`, `[0.3325, 0.335, 0.3325]`, `"worst_bits": 2`, `"worst_bits": 1.59`, `{"point": 4, "range": 10}`, `{"point": 3, "range": 6}`}
	renamed := []string{`"price/1"`, `"price/2"`}
	if err := next(); err != nil {
		t.Errorf("the same partition: %v", err)
	}
	if err := next(append(renamed, halves...)...); err != nil {
		t.Errorf("a coarsening as version 2: %v", err)
	}
	if err := next(halves...); err == nil || !strings.Contains(err.Error(), "another one") {
		t.Errorf("a coarsening under the old id: %v", err)
	}
	if err := next(append(renamed, thirds...)...); err == nil || !strings.Contains(err.Error(), "neither refines nor coarsens") {
		t.Errorf("crossed cells as version 2: %v", err)
	}
}

func TestSetIsBounded(t *testing.T) {
	if _, err := Shipped().With(make([][]byte, maxFiles), nil); err == nil {
		t.Error("too many files")
	}
	long := strings.Replace(place, "made for a test", strings.Repeat("a", maxHierarchy), 1)
	if _, err := with(long, small); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("a long hierarchy: %v", err)
	}
	long = strings.Replace(small, "do not exclude", strings.Repeat("a", maxProfile), 1)
	if _, err := with(place, long); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("a long profile: %v", err)
	}
	if _, err := new(Set).With([][]byte{[]byte(place)}, [][]byte{[]byte(small)}); err == nil || !strings.Contains(err.Error(), "core has not been read") {
		t.Errorf("without core: %v", err)
	}
}
