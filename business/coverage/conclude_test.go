package coverage_test

import (
	"fmt"
	"slices"
	"testing"

	"sayso/business"
	"sayso/business/coverage"
)

// usable is the verdict of a reader with a pinned root.
var usable = business.Verdict{
	Kind: business.KindEnvelope, Signature: business.Finding{Value: "valid"}, Identity: business.Finding{Value: "confirmed"}, Authority: business.Finding{Value: "current"},
	Revocation: business.Finding{Value: "clean"}, Call: business.Finding{Value: "match"}, Mirror: business.Finding{Value: "ok"}, Usable: business.Finding{Value: "yes"},
}

// partial is an envelope of the publisher shop whose question is answered in part.
func partial(propositions, unresolved, result string) []byte {
	return fmt.Appendf(nil, `{"registry":"x-protocol/v1","publisher":{"tenant":"shop","display_name":"Shop"},"tool":"ask","arguments":{},"result":%s,
		"coverage":{"status":"partial","covered":true,"answers_request":false,"evidence_complete":true,"propositions":%s,"unresolved":%s,"clauses":[{"index":0,"text":"Is the drill in stock"}]},
		"freshness":{"any_stale":true,"sla_seconds":60}}`, result, propositions, unresolved)
}

// XP-FRESHNESS-006: what a stale reading decided is told as what was so, whoever the publisher is and whatever the verdict says; a fresh one beside it is not.
func TestXP_FRESHNESS_006_StaleVerdicts(t *testing.T) {
	const subject = `"subject":{"publisher":"shop","type":"tool","id":"drill","location":"north"}`
	const beside = `"subject":{"publisher":"shop","type":"tool","id":"saw","location":"north"}`
	reading := func(id, location string, stale bool) string {
		return fmt.Sprintf(`{"stream":"shelf","subject":{"type":"tool","id":%q},"location":%q,"value":1,"observed_at":"2026-03-02T08:00:00Z","stale":%t}`, id, location, stale)
	}
	const read = `["tool/drill"] at ["north"], "shelf": 1, observed at 2026-03-02T08:00:00Z (stale: not what is so now)`
	const gap = `[{"field":"stock","clause":0,"reason":"stale"}]`
	for _, tt := range []struct {
		name, propositions, unresolved, result string
		want                                   []string
	}{
		{"yes", `[{"clause":0,"shape":"S8",` + subject + `,"field":"stock","publisher_value":1,"verdict":"asserted_true"}]`, gap, `{"records":[],"readings":[` + reading("drill", "north", true) + `]}`,
			[]string{`yes (stale: not what is so now); ["tool/drill"] at ["north"], stock: 1`, read}},
		{"no", `[{"clause":0,"shape":"S8",` + subject + `,"field":"stock","publisher_value":0,"verdict":"asserted_false"}]`, gap, `{"records":[],"readings":[` + reading("drill", "north", true) + `]}`,
			[]string{`no, as published (stale: not what is so now); ["tool/drill"] at ["north"], stock: 0`, read}},
		{"a value", `[{"clause":0,"shape":"S4",` + subject + `,"field":"stock","publisher_value":1,"verdict":"published"}]`, gap, `{"records":[],"readings":[` + reading("drill", "north", true) + `]}`,
			[]string{`["tool/drill"] at ["north"], stock: 1 (stale: not what is so now)`, read}},
		{"no reading shown", `[{"clause":0,"shape":"S8",` + subject + `,"field":"stock","verdict":"asserted_true"}]`, gap, `{"records":[]}`,
			[]string{`yes (stale: not what is so now); ["tool/drill"] at ["north"], stock`}},
		{"a stream about no record", `[{"clause":0,"shape":"S8",` + subject + `,"field":"stock","verdict":"asserted_true"}]`, gap,
			`{"records":[],"readings":[{"stream":"shelf","value":1,"observed_at":"2026-03-02T08:00:00Z","stale":true}]}`,
			[]string{`yes (stale: not what is so now); ["tool/drill"] at ["north"], stock`, `"shelf": 1, observed at 2026-03-02T08:00:00Z (stale: not what is so now)`}},
		{"a fresh one beside it", `[{"clause":0,"shape":"S8",` + beside + `,"field":"stock","verdict":"asserted_true"}]`, gap,
			`{"records":[],"readings":[` + reading("drill", "north", true) + `,` + reading("saw", "north", false) + `]}`,
			[]string{`yes; ["tool/saw"] at ["north"], stock`, read, `["tool/saw"] at ["north"], "shelf": 1, observed at 2026-03-02T08:00:00Z`}},
		{"another field", `[{"clause":0,"shape":"S6",` + subject + `,"field":"cordless","verdict":"asserted_true"}]`, gap, `{"records":[]}`, []string{`yes; ["tool/drill"] at ["north"], "cordless"`}},
		{"another clause", `[{"clause":1,"shape":"S8",` + subject + `,"field":"stock","verdict":"asserted_true"}]`, gap, `{"records":[]}`, []string{`yes; ["tool/drill"] at ["north"], stock`}},
		{"another place", `[{"clause":0,"shape":"S8",` + subject + `,"field":"stock","verdict":"asserted_true"}]`, `[{"field":"stock","clause":0,"location":"south","reason":"stale"}]`, `{"records":[]}`,
			[]string{`yes; ["tool/drill"] at ["north"], stock`}},
		{"another reason", `[{"clause":0,"shape":"S8",` + subject + `,"field":"stock","verdict":"asserted_true"}]`, `[{"field":"stock","clause":0,"reason":"unknown_value"}]`, `{"records":[]}`,
			[]string{`yes; ["tool/drill"] at ["north"], stock`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, c, err := coverage.Conclude(partial(tt.propositions, tt.unresolved, tt.result), &usable)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(c.Statements, tt.want) {
				t.Errorf("said\n%q\nwant\n%q", c.Statements, tt.want)
			}
		})
	}
}

// A branch without a reading waits for no value of the caller's; a dimension does.
func TestConcludeMissingValue(t *testing.T) {
	for _, tt := range []struct{ name, unresolved, want string }{
		{"a branch without a reading", `[{"text":"tool/drill","field":"shelf","clause":0,"location":"west","reason":"missing_value"}]`, `"tool/drill", "shelf", at ["west"]: no reading is published for it`},
		{"a value of the caller's", `[{"field":"location","clause":0,"reason":"missing_value"}]`, `asked "Is the drill in stock": depends on a value that was not given`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, c, err := coverage.Conclude(partial(`[]`, tt.unresolved, `{"records":[]}`), &usable)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(c.NotAnswered, []string{tt.want}) {
				t.Errorf("said %q, want %q", c.NotAnswered, tt.want)
			}
		})
	}
}
