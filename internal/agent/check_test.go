package agent

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/profile"
	"sayso/gidp/wire"
	"sayso/jcs"
	"sayso/report"
)

func exposureOf(o Outlook, key string) Exposure {
	i := slices.IndexFunc(o.Attributes, func(e Exposure) bool { return e.Key == key })
	if i < 0 {
		return Exposure{}
	}
	return o.Attributes[i]
}

func found(o Outlook, rule string, outcome report.Outcome) bool {
	return slices.ContainsFunc(o.Report.Findings, func(f report.Finding) bool { return f.Rule == rule && f.Outcome == outcome })
}

func TestOutlook(t *testing.T) {
	doc := officeInterest()
	doc.Policy.Entries["arr_eur"] = gidp.Entry{"unknown_agent": gidp.EvaluationOnly, "attested:broker": gidp.Class{Surface: gidp.InSession}}
	doc.Policy.Decoys = []string{"transaction_value"}
	o, err := Check(profile.Shipped(), doc)
	if err != nil || o.Report.Failed() {
		t.Fatalf("%+v %v", o.Report.Findings, err)
	}
	for key, want := range map[string]struct {
		kind  string
		cells int
		bits  float64
	}{
		"sector": {"open", 0, -1}, "geography": {"open", 0, -1}, "enterprise_value_eur": {"cells", 8, 3}, "arr_eur": {"open", 0, -1}, "market_access": {"labels", 7, math.Log2(7)},
		"management_continuity": {"open", 0, -1}, "depth": {"audited", 0, 2}, "hint": {"closed", 0, 0}, "scar": {"barred", 0, 0}, "transaction_value": {"barred", 0, 0},
		gidp.PrincipalIdentity: {"identity", 0, 0}, "organisation_name": {"identity", 0, 0},
	} {
		got := exposureOf(o, key)
		bits := -1.0
		if got.Bits != nil {
			bits = *got.Bits
		}
		if got.Kind != want.kind || got.Cells != want.cells || math.Abs(bits-want.bits) > 1e-9 {
			t.Errorf("%s: %s, %d cells, %v bits; want %+v", key, got.Kind, got.Cells, bits, want)
		}
	}
	if got := exposureOf(o, "enterprise_value_eur"); got.WorstBits == nil || *got.WorstBits < 3.3 || *got.WorstBits > 3.5 || got.Class[""] != "evaluation_only" {
		t.Errorf("%+v", got)
	}
	if math.Abs(o.Bits-(3+math.Log2(7)+2)) > 1e-9 || len(o.Questions) != 4 {
		t.Errorf("%v bits in all", o.Bits)
	}
	if !reflect.DeepEqual(o.Public, &Public{Domains: []string{"software"}, Geographies: []string{"germany"}, Relation: []string{wire.Complementary}}) {
		t.Errorf("%+v", o.Public)
	}
	text, err := jcs.Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	noSecrets(t, string(text))
}

func TestOutlookOfARange(t *testing.T) {
	o, err := Check(profile.Shipped(), officeInterest())
	if err != nil {
		t.Fatal(err)
	}
	if got := exposureOf(o, "arr_eur"); got.Kind != "cells" || math.Abs(*got.Bits-math.Log2(36)) > 1e-9 || got.WorstBits != nil {
		t.Errorf("%+v", got)
	}
}

// The exposure of an attribute is at least what a session with any counterparty is given of it.
func TestExposureCoversEveryCounterparty(t *testing.T) {
	doc := officeInterest()
	doc.Policy.Networks = []string{"guild"}
	doc.Policy.Entries["sector"] = gidp.Entry{"member:guild": gidp.Class{Surface: gidp.Network}, "verified_agent": gidp.EvaluationOnly}
	doc.Policy.Entries["hint"] = gidp.Entry{"attested:broker": gidp.Class{Surface: gidp.InSession}, "unknown_agent": gidp.Never}
	p, _ := profile.Shipped().Profile(doc.Profile)
	o, err := Check(profile.Shipped(), doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, verified := range []bool{false, true} {
		for _, member := range [][]string{nil, {"guild"}} {
			for _, attested := range [][]string{nil, {"broker"}} {
				v := doc.View(p.Rules(), interest.Towards{Active: true, Depth: wire.DepthSession, Peer: gidp.Counterparty{Verified: verified, Member: member, Attested: attested}})
				for key, a := range v.Attributes {
					if _, open := a.Holding.(gidp.Open); open && exposureOf(o, key).Kind != "open" {
						t.Errorf("%s is open to verified=%v %v %v, and shown as %s", key, verified, member, attested, exposureOf(o, key).Kind)
					}
				}
			}
		}
	}
}

func TestOutlookFindings(t *testing.T) {
	for name, c := range map[string]struct {
		rule    string
		outcome report.Outcome
		edit    func(*interest.Interest)
	}{
		"nothing public":    {"GI-PUBLIC", report.Warning, func(i *interest.Interest) { i.Policy.Derivatives = nil; delete(i.Policy.Entries, "geography") }},
		"minimum not held":  {"GI-MINIMUM", report.Warning, func(i *interest.Interest) { delete(i.Attributes, "enterprise_value_eur") }},
		"freely given":      {"GI-EXPOSURE", report.Warning, func(i *interest.Interest) { i.Policy.Entries["enterprise_value_eur"] = officeClass(gidp.InSession, 0) }},
		"decoys":            {"GI-DECOY", report.Warning, func(*interest.Interest) {}},
		"no end":            {"GI-VALIDITY", report.Fail, func(i *interest.Interest) { i.ExpiresAt = time.Time{} }},
		"identity in a pot": {"GI-IDENTITY", report.Fail, func(i *interest.Interest) { i.Policy.Entries["organisation_name"] = officeClass(gidp.Discovery, 0) }},
	} {
		doc := officeInterest()
		c.edit(doc)
		o, err := Check(profile.Shipped(), doc)
		if err != nil || !found(o, c.rule, c.outcome) {
			t.Errorf("%s: %+v %v", name, o.Report, err)
		}
		text, err := jcs.Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		noSecrets(t, string(text))
	}
	doc := officeInterest()
	doc.Profile = "none"
	_, err := Check(profile.Shipped(), doc)
	wantKind(t, err, "invalid", "unknown_profile")
}

// What never fits in a running agent is said before somebody relies on it.
func TestOutlookOfWhatIsNotEvidenced(t *testing.T) {
	for name, edit := range map[string]func(*interest.Interest){
		"an attested counterparty": func(d *interest.Interest) {
			d.Policy.Entries["arr_eur"] = gidp.Entry{"": gidp.EvaluationOnly, "attested:broker": gidp.Class{Surface: gidp.InSession}}
		},
		"a trust domain": func(d *interest.Interest) {
			d.Policy.Entries["arr_eur"] = gidp.Entry{"": gidp.Class{Surface: gidp.Network}}
		},
		"any mandate": func(d *interest.Interest) {
			d.Policy.Conditions = map[string]interest.Condition{"enterprise_value_eur": {Verify: []string{"mandate:principal_name"}}}
		},
	} {
		plain, edited := officeInterest(), officeInterest()
		edit(edited)
		before, err := Check(profile.Shipped(), plain)
		if err != nil || found(before, "GI-EVIDENCE", report.Warning) {
			t.Fatalf("without: %+v %v", before.Report.Findings, err)
		}
		after, err := Check(profile.Shipped(), edited)
		if err != nil || !found(after, "GI-EVIDENCE", report.Warning) {
			t.Errorf("%s: %+v %v", name, after.Report.Findings, err)
		}
	}
}

func TestOutlookKnowsTheOrigin(t *testing.T) {
	ctx := context.Background()
	o := newOffice(t)
	doc := officeInterest()
	if got, err := o.Check(ctx, doc); err != nil || !found(got, "GI-ORIGIN", report.Warning) {
		t.Errorf("alone: %v", err)
	}
	o.active("")
	if got, err := o.Check(ctx, doc); err != nil || !found(got, "GI-ORIGIN", report.Warning) {
		t.Errorf("the same principal twice: %v", err)
	}
	other := officeInterest()
	other.PrincipalRef = "another"
	if got, err := o.Check(ctx, other); err != nil || !found(got, "GI-ORIGIN", report.Pass) {
		t.Errorf("two principals: %v", err)
	}
}
