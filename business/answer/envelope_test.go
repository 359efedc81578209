package answer_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
)

// Every status verifies to the pinned root with every finding, as the answer to the call that was sent; the text is compact and the same each time.
func TestXP_INTEGRITY_013_Envelope(t *testing.T) {
	e, seen := chain(t), map[coverage.Status]bool{}
	for _, tt := range envelopeCalls {
		t.Run(tt.name, func(t *testing.T) {
			call, out, text := sealed(t, quay(), tt.handler, tt.arguments, tt.age)
			if seen[out.Coverage.Status] = true; out.Coverage.Status != tt.status {
				t.Fatalf("status %s, want %s:\n%s", out.Coverage.Status, tt.status, text)
			}
			e.Call = &business.Call{Tool: call.Tool, Arguments: call.Arguments}
			v := judged(t, text, e)
			got := []string{v.Kind, v.Publisher, v.Signature.Value, v.Identity.Value, v.Authority.Value, v.Revocation.Value, v.Call.Value, v.Mirror.Value, v.Usable.Value}
			if want := []string{"envelope", "quay", "valid", "confirmed", "current", "clean", "match", "ok", "yes"}; !slices.Equal(got, want) {
				t.Errorf("findings %v, want %v", got, want)
			}
			want := strings.NewReplacer("{ ", "{", "\n", "").Replace(tt.arguments)
			if want == "" || want == "null" {
				want = "{}"
			}
			if !bytes.Contains(text, []byte(`"tool":"`+call.Tool+`","arguments":`+want+`,"result":`)) {
				t.Errorf("the call is not echoed token by token:\n%s", text)
			}
			var compact bytes.Buffer
			if err := json.Compact(&compact, text); err != nil || !bytes.Equal(compact.Bytes(), text) {
				t.Errorf("the text changes when it is compacted (%v)", err)
			}
			if _, _, again := sealed(t, quay(), tt.handler, tt.arguments, tt.age); !bytes.Equal(again, text) {
				t.Error("I3: the same call gave another text")
			}
		})
	}
	if len(seen) != 4 {
		t.Errorf("statuses seen: %v", seen)
	}
}

// The answer to one literal is none to another, and neither is that of another tool or publisher.
func TestXP_INTEGRITY_013_OtherCall(t *testing.T) {
	const arguments = `{"caller_location":{"latitude":-0,"longitude":0.15e1},"limit":1.0}`
	_, _, text := sealed(t, quay(), "branches.nearest", arguments, 0)
	const tool = "quay_branches.nearest"
	for _, tt := range []struct{ tool, arguments, reason string }{
		{tool, strings.Replace(arguments, "1.0", "1", 1), "other_arguments"},
		{tool, strings.Replace(arguments, "-0", "0", 1), "other_arguments"},
		{tool, strings.Replace(arguments, "0.15e1", "1.5", 1), "other_arguments"},
		{tool, strings.Replace(arguments, "0.15e1", "0.15E1", 1), "other_arguments"},
		{tool, `{}`, "other_arguments"},
		{"other", arguments, "other_tool"},
	} {
		e := chain(t)
		e.Call = &business.Call{Tool: tt.tool, Arguments: []byte(tt.arguments)}
		if v := judged(t, text, e); v.Call.Reason != tt.reason || v.Usable.Value != "no" || v.Signature.Value != "valid" {
			t.Errorf("%s %s: call %+v, usable %+v", tt.tool, tt.arguments, v.Call, v.Usable)
		}
	}
	e := chain(t)
	e.Publisher = "other"
	if v := judged(t, text, e); v.Identity.Value != "mismatch" {
		t.Errorf("identity %+v", v.Identity)
	}
}

// I2: an envelope that withholds holds no value of the publisher's, whatever was asked; what is not withheld shows that the search finds them.
func TestXP_COVERAGE_002_EnvelopeWithholds(t *testing.T) {
	shown := 0
	for _, tt := range envelopeCalls {
		_, _, text := sealed(t, quay(), tt.handler, tt.arguments, tt.age)
		if tt.status == coverage.Resolved || tt.status == coverage.Partial {
			shown += bytes.Count(text, []byte(canary))
			continue
		}
		for _, value := range []string{canary, "50.0", "7.50", "Mo-Fr", `"parking"`} {
			if bytes.Contains(text, []byte(value)) && !strings.Contains(tt.arguments, value) {
				t.Errorf("%s (%s) tells %s:\n%s", tt.name, tt.status, value, text)
			}
		}
		b := opened(t, text).Publisher
		if b.Locations != nil || b.ProfileAttributes != nil || b.Contacts != nil || b.SupportEmail != "" || b.SupportPhone != "" {
			t.Errorf("%s: publisher block %+v", tt.name, b)
		}
		if b.Tenant != "quay" || b.LegalName == "" || b.ProvenDomain != "quay.example" || !b.WebsiteVerified || b.Website == "" || b.AuthorityVerifiedAt.IsZero() {
			t.Errorf("%s: the block does not identify the business: %+v", tt.name, b)
		}
	}
	if shown == 0 {
		t.Error("the canaries are nowhere, so that nothing was tested")
	}
}

// I2 over any words: questions put together from the words the quay knows and some it does not.
func TestXP_COVERAGE_002_EnvelopeWithholdsAnyQuestion(t *testing.T) {
	s := quay()
	c, err := answer.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"how", "much", "is", "a", "drill", "ladder", "small", "opening", "hours", "phone", "Northgate", "branch", "parking", "Monday", "under", "50.0 EUR", "and", "yacht", "do", "you", "have", "without", "it", "?"}
	rapid.Check(t, func(t *rapid.T) {
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 9).Draw(t, "query"), " ")
		arguments, _ := json.Marshal(map[string]string{"query": query})
		call := coverage.Call{Tool: "ask", Handler: "knowledge.search", Arguments: arguments, Now: now}
		out, err := c.Answer(call, nil)
		var fault *coverage.CallError
		if errors.As(err, &fault) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := frameOf(s).Seal(call, out)
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		if st := out.Coverage.Status; (st == coverage.NeedsContext || st == coverage.NotCovered) && bytes.Contains(text, []byte(canary)) {
			t.Fatalf("%q is %s and tells:\n%s", query, st, text)
		}
	})
}

// Whatever the engine answers to the labelled questions is consistent enough to be signed, and a reader takes it.
func TestEnvelopeLabelledQuestions(t *testing.T) {
	data, err := os.ReadFile("testdata/questions.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []labelled
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	snapshots, publishers := map[string]answer.Snapshot{}, map[string]*answer.Compiled{}
	for short, slug := range samples {
		s := sample(t, slug)
		s.Site.Origin = "https://registry.example"
		snapshots[short], publishers[short] = s, compiled(t, slug)
	}
	for _, row := range rows {
		arguments, _ := json.Marshal(map[string]string{"query": row.Q, "language": row.Lang})
		call := coverage.Call{Tool: "search", Handler: "knowledge.search", Arguments: arguments, Now: now}
		out, err := publishers[row.Pub].Answer(call, nil)
		if err != nil {
			t.Fatalf("%s: %v", row.ID, err)
		}
		text, err := frameOf(snapshots[row.Pub]).Seal(call, out)
		if err != nil {
			t.Errorf("%s %q: %v", row.ID, row.Q, err)
			continue
		}
		v := judged(t, text, business.Evidence{Call: &business.Call{Tool: "search", Arguments: arguments}, At: now})
		if v.Publisher != samples[row.Pub] || v.Call.Value != "match" || v.Mirror.Value != "ok" || v.Authority.Value != "current" {
			t.Errorf("%s: %+v", row.ID, v)
		}
	}
}

// The block of an answer has the primary location and those the answer used. The publication, which all calls share, stays as it was.
func TestEnvelopeLocations(t *testing.T) {
	s := quay()
	for _, tt := range []struct {
		used []string
		want string
	}{
		{nil, "north"}, {[]string{"north"}, "north"}, {[]string{"west"}, "north west"}, {[]string{"west", "south", "west"}, "north south west"}, {[]string{"nowhere"}, "north"},
	} {
		call, out := resolvedCall()
		out.Locations = tt.used
		text, err := frameOf(s).Seal(call, out)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range opened(t, text).Publisher.Locations {
			got = append(got, l.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("used %v: locations %v, want %s", tt.used, got, tt.want)
		}
	}
	want, _ := json.Marshal(quay().Publication)
	if got, _ := json.Marshal(s.Publication); !bytes.Equal(got, want) {
		t.Errorf("the publication was changed to\n%s", got)
	}
}

// resolvedCall is a call with an outcome that is in order and says next to nothing.
func resolvedCall() (coverage.Call, *coverage.Outcome) {
	return coverage.Call{Tool: "ask", Handler: "knowledge.get", Arguments: jcs.Raw(`{"a":1}`), Now: now},
		&coverage.Outcome{Result: jcs.Raw(`{"records":[]}`), Coverage: coverage.Coverage{Status: coverage.Resolved, Covered: true, AnswersRequest: true}}
}

// X§9: how long an answer may be relied on, and how old what it says is.
func TestXP_FRESHNESS_003_EnvelopeLife(t *testing.T) {
	for _, tt := range []struct{ expires, want time.Duration }{
		{0, coverage.StandardLife}, {time.Hour, coverage.StandardLife}, {coverage.StandardLife, coverage.StandardLife}, {59 * time.Second, 59 * time.Second},
		{10 * time.Second, 10 * time.Second}, {10*time.Second - 1, 10 * time.Second}, {1, 10 * time.Second}, {-time.Hour, 10 * time.Second},
	} {
		call, out := resolvedCall()
		out.Expires = tt.expires
		call.Now = now.Add(1999 * time.Nanosecond).In(time.FixedZone("", 3600))
		text, err := frameOf(quay()).Seal(call, out)
		if err != nil {
			t.Fatal(err)
		}
		served := now.Add(time.Microsecond)
		for _, want := range []string{`"served_at":"` + served.Format(time.RFC3339Nano) + `"`, `"signed_at":"` + served.Format(time.RFC3339Nano) + `"`, `"expires_at":"` + served.Add(tt.want).Format(time.RFC3339Nano) + `"`} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("expires %s: no %s in %s", tt.expires, want, text)
			}
		}
		e := chain(t)
		for at, authority := range map[time.Duration]string{tt.want - 1: "current", tt.want: "expired"} {
			if e.At = served.Add(at); judged(t, text, e).Authority.Value != authority {
				t.Errorf("expires %s: after %s authority is not %s", tt.expires, at, authority)
			}
		}
	}
}

// An answer outlives neither its life nor the domain proof that it states; an operator verification has no end.
func TestEnvelopeEndsWithItsAuthority(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name        string
		left, reads time.Duration // until the proof lapses; what readings leave
		verified    bool
		want        time.Duration // 0: nothing is signed
	}{
		{"far", 60 * day, 0, false, coverage.StandardLife},
		{"at the standard life", coverage.StandardLife, 0, false, coverage.StandardLife},
		{"before the standard life", 5 * time.Minute, 0, false, 5 * time.Minute},
		{"after the readings", 5 * time.Minute, time.Minute, false, time.Minute},
		{"before the shortest life", 3 * time.Second, time.Second, false, 3 * time.Second},
		{"stated beside a verification", 3 * time.Second, 0, true, 3 * time.Second},
		{"less than a document says", time.Nanosecond, 0, false, 0},
		{"lapsed", 0, 0, false, 0},
		{"lapsed beside a verification", 0, 0, true, coverage.StandardLife},
	} {
		s := quay()
		publication := *s.Publication
		proof := *publication.Standing.Proof
		proof.ValidUntil = now.Add(tt.left)
		if publication.Standing.Proof = &proof; tt.verified {
			publication.Standing.Verification = &business.OperatorVerification{Decision: "d-1", ConfirmedAt: now.Add(-day)}
		}
		s.Publication = &publication
		call, out := resolvedCall()
		out.Expires = tt.reads
		text, err := frameOf(s).Seal(call, out)
		if tt.want == 0 {
			if !errors.Is(err, coverage.ErrNotPublished) {
				t.Errorf("%s: %v, %s", tt.name, err, text)
			}
			continue
		}
		if want := `"expires_at":"` + now.Add(tt.want).Format(time.RFC3339Nano) + `"`; err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: no %s in %s (%v)", tt.name, want, text, err)
		}
	}
}

func TestXP_FRESHNESS_006_Envelope(t *testing.T) {
	asOf := `"static_source_as_of":"` + now.Add(-time.Hour-time.Microsecond).Format(time.RFC3339Nano) + `"`
	for _, tt := range []struct {
		name string
		edit func(s *answer.Snapshot, out *coverage.Outcome)
		want string
	}{
		{"static", func(*answer.Snapshot, *coverage.Outcome) {}, `{"sla_seconds":86400,"any_stale":false,` + asOf + `}`},
		{"live", func(_ *answer.Snapshot, o *coverage.Outcome) { o.MaxAge, o.SLA = 1500*time.Millisecond, time.Minute }, `{"max_age_ms":1500,"sla_seconds":60,"any_stale":false,` + asOf + `}`},
		{"observed this moment", func(_ *answer.Snapshot, o *coverage.Outcome) { o.SLA = time.Minute }, `{"max_age_ms":0,"sla_seconds":60,"any_stale":false,` + asOf + `}`},
		{"stale", func(_ *answer.Snapshot, o *coverage.Outcome) {
			o.MaxAge, o.SLA, o.AnyStale = time.Hour, time.Minute, true
		}, `{"max_age_ms":3600000,"sla_seconds":60,"any_stale":true,` + asOf + `}`},
		{"no budget", func(s *answer.Snapshot, _ *coverage.Outcome) { s.Publication.Profile.Freshness = nil }, `{"any_stale":false,` + asOf + `}`},
		{"no state", func(s *answer.Snapshot, _ *coverage.Outcome) { s.Publication.State = business.State{} }, `{"sla_seconds":86400,"any_stale":false}`},
	} {
		s := quay()
		call, out := resolvedCall()
		tt.edit(&s, out)
		text, err := frameOf(s).Seal(call, out)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(`"freshness":`+tt.want+`,`)) {
			t.Errorf("%s: no %s in\n%s", tt.name, tt.want, text)
		}
		e := opened(t, text)
		if s.Publication.State == (business.State{}) {
			if e.State != nil {
				t.Errorf("%s: state %+v", tt.name, e.State)
			}
		} else if e.State.Generation != 7 || e.State.RecordsGeneration != 7 {
			t.Errorf("XP-FRESHNESS-002: %s: state %+v", tt.name, e.State)
		}
	}
}

func TestEnvelopeLatency(t *testing.T) {
	for latency, want := range map[time.Duration]int64{-time.Second: 0, 0: 0, 999 * time.Microsecond: 0, 2900 * time.Microsecond: 2, time.Minute: 60000} {
		call, out := resolvedCall()
		f := frameOf(quay())
		f.Latency = latency
		text, err := f.Seal(call, out)
		if err != nil {
			t.Fatal(err)
		}
		if e := opened(t, text); e.LatencyMS != want || e.RevocationURL != "https://registry.example/t/quay/.well-known/x-protocol/revocations.json" || e.Registry != "x-protocol/v1" {
			t.Errorf("latency %s: %d, %s, %s", latency, e.LatencyMS, e.RevocationURL, e.Registry)
		}
	}
}

// lyingSigner signs with another key than the one it names.
type lyingSigner struct{ business.Signer }

func (lyingSigner) Sign(digest [32]byte) ([]byte, error) {
	return business.KeySigner(otherKey).Sign(digest)
}

// deadSigner cannot sign.
type deadSigner struct{}

func (deadSigner) Kid() string                   { return "dead" }
func (deadSigner) Public() ed25519.PublicKey     { return quayKey.Public().Public }
func (deadSigner) Sign([32]byte) ([]byte, error) { return nil, errors.New("the token was pulled out") }

// Nothing comes back unsigned, and nothing is signed that contradicts its status.
func TestEnvelopeRefusals(t *testing.T) {
	type parts struct {
		frame *coverage.Frame
		call  *coverage.Call
		out   *coverage.Outcome
	}
	withheld := func(p parts, s coverage.Status) *coverage.Coverage {
		p.out.Coverage = coverage.Coverage{Status: s, Unresolved: []coverage.Gap{{Reason: "missing_value"}}}
		if s == coverage.NeedsContext {
			p.out.Clarification = &coverage.Clarification{Bound: jcs.Raw("{}"), Resume: coverage.Resume{Arguments: jcs.Raw("{}")}}
		}
		return &p.out.Coverage
	}
	for _, tt := range []struct {
		name string
		edit func(p parts)
		word string // "" when the envelope is made
	}{
		{"in order", func(parts) {}, ""},
		{"needs_context in order", func(p parts) { withheld(p, coverage.NeedsContext) }, ""},
		{"not_covered in order", func(p parts) { withheld(p, coverage.NotCovered) }, ""},

		{"no signer", func(p parts) { p.frame.Signer = nil }, "signer"},
		{"dead signer", func(p parts) { p.frame.Signer = deadSigner{} }, "pulled out"},
		{"lying signer", func(p parts) { p.frame.Signer = lyingSigner{p.frame.Signer} }, "does not verify"},
		{"no origin", func(p parts) { p.frame.Site.Origin = "" }, "origin"},
		{"no publication", func(p parts) { p.frame.Publication = nil }, "no publication"},
		{"no tool", func(p parts) { p.call.Tool = "" }, "tool"},
		{"tool that is no text", func(p parts) { p.call.Tool = "\xff" }, "UTF-8"},
		{"no moment", func(p parts) { p.call.Now = time.Time{} }, "signed_at"},
		{"result that is no object", func(p parts) { p.out.Result = jcs.Raw(`[]`) }, "object"},
		{"no result", func(p parts) { p.out.Result = nil }, "object"},

		{"XP-COVERAGE-010", func(p parts) { p.out.Coverage.Status = "maybe" }, "four statuses"},
		{"XP-COVERAGE-001 gap", func(p parts) { p.out.Coverage.Unresolved = []coverage.Gap{{Reason: "stale"}} }, "resolved"},
		{"XP-COVERAGE-001 not covered", func(p parts) { p.out.Coverage.Covered = false }, "resolved"},
		{"XP-COVERAGE-001 partial of all", func(p parts) { p.out.Coverage.Status = coverage.Partial }, "partial"},
		{"covered and withheld", func(p parts) { withheld(p, coverage.NotCovered).Covered = true }, "not_covered"},
		{"XP-COVERAGE-003", func(p parts) { withheld(p, coverage.NeedsContext); p.out.Clarification = nil }, "which"},
		{"not_covered asks", func(p parts) { withheld(p, coverage.NotCovered); p.out.Clarification = &coverage.Clarification{} }, "asks"},
		{"I2 result", func(p parts) {
			withheld(p, coverage.NeedsContext)
			p.out.Result = jcs.Raw(`{"records":[{}]}`)
		}, "withholds"},
		{"I2 fact", func(p parts) {
			withheld(p, coverage.NotCovered).PublisherFacts = []coverage.Fact{{Subject: coverage.Subject{Publisher: "quay"}, Value: jcs.Raw("1")}}
		}, "withholds"},
		{"I2 value", func(p parts) {
			withheld(p, coverage.NotCovered).Propositions = []coverage.Proposition{{Verdict: "unknown", PublisherValue: jcs.Raw("1")}}
		}, "withholds"},
		{"I2 verdict", func(p parts) {
			withheld(p, coverage.NeedsContext).Propositions = []coverage.Proposition{{Verdict: "asserted_false"}}
		}, "withholds"},
		{"I2 constraint", func(p parts) {
			withheld(p, coverage.NeedsContext).Constraints = []coverage.Constraint{{Verdict: "asserted_true"}}
		}, "withholds"},
		{"I2 field", func(p parts) {
			withheld(p, coverage.NeedsContext).RequestedFields = []coverage.RequestedField{{Status: "published"}}
		}, "withholds"},
		{"I2 polarity", func(p parts) { withheld(p, coverage.NotCovered).Answer = &coverage.Polarity{Polarity: "negative"} }, "withholds"},
		{"I2 age", func(p parts) { withheld(p, coverage.NotCovered); p.out.MaxAge = 1 }, "withholds"},
		{"another publisher", func(p parts) {
			p.out.Coverage.Propositions = []coverage.Proposition{{Subject: coverage.Subject{Publisher: "other"}}}
		}, "another publisher"},
		{"a fact of another publisher", func(p parts) {
			p.out.Coverage.PublisherFacts = []coverage.Fact{{Subject: coverage.Subject{Publisher: "other"}, Value: jcs.Raw("1")}}
		}, "another publisher"},
	} {
		f := frameOf(quay())
		call, out := resolvedCall()
		tt.edit(parts{&f, &call, out})
		text, err := f.Seal(call, out)
		if tt.word == "" && err != nil || tt.word != "" && (err == nil || text != nil || !strings.Contains(err.Error(), tt.word)) {
			t.Errorf("%s: error %v, want one about %q; text %s", tt.name, err, tt.word, text)
		}
	}
}

// A publisher that strangers are not served speaks no more, from the moment its proof lapses.
func TestEnvelopeNotPublished(t *testing.T) {
	for name, edit := range map[string]func(s *business.Standing){
		"paused":       func(s *business.Standing) { s.Lifecycle = business.Paused },
		"suspended":    func(s *business.Standing) { s.Suspended = true },
		"proof lapsed": func(s *business.Standing) { s.Proof.ValidUntil = now.Add(-1) },
	} {
		s := quay()
		edit(&s.Publication.Standing)
		call, out := resolvedCall()
		if text, err := frameOf(s).Seal(call, out); !errors.Is(err, coverage.ErrNotPublished) || text != nil {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
}

// Arguments that two readers could understand differently, or that no reader could take back, are the caller's fault and are not echoed.
func TestEnvelopeHostileArguments(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for arguments, fine := range map[string]bool{
		"": true, "null": true, " null\n": true, "{}": true, ` { "b" : 50.0 , "a" : [ 1e3 , -0 ] } `: true, `{"a":"\u0041\/\ud83d\ude00\u2028<&>"}`: true, `{"a":1e999999}`: true,
		nested(61): true, nested(62): false, nested(65): false,
		`{"a":1,"a":2}`: false, `{"a":1,"\u0061":1}`: false, `{"a":{"b":1,"b":1}}`: false, `{"a":"\ud800"}`: false, "{\"a\":\"\xff\"}": false,
		`{"a":01}`: false, `{"a":NaN}`: false, `{"a":1}{}`: false, `{"a":1},"tool":"other"`: false, `[]`: false, `"{}"`: false, `true`: false, `nul`: false, `{`: false,
		"\ufeff{}": false,
	} {
		call, out := resolvedCall()
		call.Arguments = jcs.Raw(arguments)
		text, err := frameOf(quay()).Seal(call, out)
		var fault *coverage.CallError
		if !fine {
			if !errors.As(err, &fault) || fault.Code != "invalid_arguments" || text != nil {
				t.Errorf("%.80q: %v, %s", arguments, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%.80q: %v", arguments, err)
			continue
		}
		e := chain(t)
		e.Call = &business.Call{Tool: "ask", Arguments: call.Arguments}
		if v := judged(t, text, e); v.Call.Value != "match" || v.Usable.Value != "yes" {
			t.Errorf("%.80q: call %+v, usable %+v", arguments, v.Call, v.Usable)
		}
	}
}

// Whatever arrives as arguments is refused or comes back as the call that was sent, in one signed text.
func FuzzEnvelopeArguments(f *testing.F) {
	for _, seed := range []string{"", "null", `{"a":50.0,"b":-0}`, `{"a":1,"\u0061":1}`, `{"a":"\u2028"}`, "{\"a\" :\t[1e3]}", `{"a":1},"tool":"b"`} {
		f.Add([]byte(seed))
	}
	e, frame := chain(f), frameOf(quay())
	f.Fuzz(func(t *testing.T, arguments []byte) {
		call, out := resolvedCall()
		call.Arguments = arguments
		text, err := frame.Seal(call, out)
		if err != nil {
			var fault *coverage.CallError
			if !errors.As(err, &fault) {
				t.Fatalf("%q: %v", arguments, err)
			}
			return
		}
		e.Call = &business.Call{Tool: "ask", Arguments: bytes.TrimSpace(arguments)}
		if v := judged(t, text, e); v.Usable.Value != "yes" {
			t.Fatalf("%q: %+v", arguments, v)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	call, out, text := sealed(b, quay(), "knowledge.search", `{"query":"Do you have a drill?"}`, 0)
	frame := frameOf(quay())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := frame.Seal(call, out); err != nil {
			b.Fatal(err)
		}
	}
}
