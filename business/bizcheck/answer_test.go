package bizcheck_test

import (
	"slices"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizcheck"
	"sayso/jwk"
	"sayso/vectors"
)

// answered is the envelope of vector T01, edited and signed again.
func answered(t *testing.T, edit func(o object)) []byte {
	t.Helper()
	for _, v := range vectors.TampersXP() {
		if v.Name != "T01" {
			continue
		}
		text := edited([]byte(v.Document), func(o object) {
			unsign(o)
			delete(o, "jwks_url")
			edit(o)
		})
		out, err := business.SignDocument(text, business.Signing{Signer: publisherKey("shop"), SignedAt: noon, ExpiresAt: noon.Add(10 * time.Minute), KeysURL: origin + "/jwks.json", KeysName: "jwks_url"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatal("vector T01 is gone")
	return nil
}

// asks makes an answer that needs context, in order.
func asks(o object) {
	o["coverage"] = object{"status": "needs_context", "covered": false, "answers_request": false, "evidence_complete": true, "unresolved": []any{object{}}}
	o["result"] = object{"records": []any{}}
	o["clarification"] = object{"missing": []any{object{"name": "location"}}, "remaining_unbound": 0, "bound": object{},
		"resume": object{"tool": "search", "arguments": object{}, "add_to": "bound"}}
}

func denied(status string, covered bool) func(o object) {
	return func(o object) {
		o["coverage"] = object{"status": status, "covered": covered, "answers_request": covered, "evidence_complete": true, "unresolved": []any{},
			"propositions": []any{object{"verdict": "asserted_false"}}}
	}
}

type spoiltAnswer struct {
	rule, note string
	edit       func(o object)
}

var brokenAnswers = []spoiltAnswer{
	{"XP-COVERAGE-001", "unresolved", func(o object) { in(o, "coverage")["unresolved"] = []any{object{"text": "laser"}} }},
	{"XP-COVERAGE-001", "covered without content", func(o object) { asks(o); in(o, "coverage")["covered"] = true }},
	{"XP-COVERAGE-002", "candidates", func(o object) { asks(o); in(o, "result")["records"] = []any{object{"id": "a"}} }},
	{"XP-COVERAGE-002", "candidates in the publisher block", func(o object) { asks(o); in(o, "publisher")["support_phone"] = "+49" }},
	{"XP-COVERAGE-003", "no clarification", func(o object) { asks(o); delete(o, "clarification") }},
	{"XP-COVERAGE-003", "nothing missing", func(o object) { asks(o); in(o, "clarification")["missing"] = []any{} }},
	{"XP-COVERAGE-002", "candidates in the propositions", func(o object) {
		asks(o)
		in(o, "coverage")["propositions"] = []any{object{"verdict": "published", "publisher_value": 50}}
	}},
	{"XP-COVERAGE-004", "a no is made up", func(o object) {
		denied("not_covered", false)(o)
		in(o, "coverage")["propositions"] = []any{}
		in(o, "coverage")["answer"] = object{"polarity": "negative"}
	}},
	{"XP-COVERAGE-005", "excluded on part of the evidence", func(o object) {
		in(o, "coverage")["evidence_complete"], in(o, "coverage")["constraints"] = false, []any{object{"verdict": "excluded_by_closed_list"}}
	}},
	{"XP-COVERAGE-005", "not stated", func(o object) { delete(in(o, "coverage"), "evidence_complete") }},
	{"XP-COVERAGE-006", "a no is lost", denied("not_covered", false)},
	{"XP-COVERAGE-007", "a fifth value", func(o object) { in(o, "coverage")["constraints"] = []any{object{"verdict": "probably"}} }},
	{"XP-COVERAGE-008", "parroting", func(o object) { in(o, "coverage")["publisher_facts"] = []any{object{"value": "laser surgery"}} }},
	{"XP-COVERAGE-010", "a fifth status", func(o object) { in(o, "coverage")["status"] = "maybe" }},
	{"XP-INTEGRITY-013", "no echo", func(o object) { delete(o, "arguments") }},
	{"XP-FRESHNESS-006", "not stated", func(o object) { delete(in(o, "freshness"), "any_stale") }},
	{"XP-FRESHNESS-006", "a stale reading", func(o object) { in(o, "result")["readings"] = []any{object{"stale": true}} }},
	{"XP-FRESHNESS-002", "one generation", func(o object) { o["state"] = object{"records_generation": 7} }},
	{"XP-FRESHNESS-001", "facts of tomorrow", func(o object) { o["state"] = object{"changed_at": noon.Add(time.Hour)} }},
	{"XP-FRESHNESS-002", "a negative generation", func(o object) { o["state"] = object{"records_generation": -1} }},
}

func TestBrokenAnswers(t *testing.T) {
	for _, c := range brokenAnswers {
		if got := broken(bizcheck.CheckEnvelope(answered(t, c.edit))); !slices.Equal(got, []string{c.rule}) {
			t.Errorf("%s %s: broken %v", c.rule, c.note, got)
		}
	}
	for note, edit := range map[string]func(o object){"as it is": func(object) {}, "needs context": asks, "a published no": denied("resolved", true)} {
		if got := broken(bizcheck.CheckEnvelope(answered(t, edit))); len(got) > 0 {
			t.Errorf("%s: broken %v", note, got)
		}
	}
	for _, text := range []string{"", "[]", "null", `{"tool":1}`, `{"a":1,"a":2}`, `{"protocol_x_version":"2.0"}`} {
		if got := broken(bizcheck.CheckEnvelope([]byte(text))); len(got) == 0 {
			t.Errorf("%q breaks nothing", text)
		}
	}
}

// wanted are the rules that the findings of a vector break.
func wanted(w vectors.TamperWant) []string {
	var out []string
	add := func(when bool, rule string) {
		if when {
			out = append(out, rule)
		}
	}
	invalid := w.Signature.Value == "invalid" && w.Signature.Reason != "unknown_key"
	add(invalid && w.Signature.Reason == "bad_encoding", "XP-INTEGRITY-002")
	add(invalid && w.Signature.Reason != "bad_encoding" || w.Signature.Value == "absent", "XP-INTEGRITY-001")
	unread := w.Identity.Reason == "keys_unavailable" || w.Identity.Reason == "net_refused"
	add(w.Signature.Value != "absent" && w.Identity.Value == "broken_chain" && !unread, "XP-INTEGRITY-006")
	add(w.Signature.Value != "absent" && w.Identity.Value == "mismatch", "XP-INTEGRITY-014")
	add(w.Mirror.Value == "mismatch", "XP-INTEGRITY-007")
	add(w.Signature.Value != "absent" && (w.Revocation.Value == "revoked" || w.Revocation.Value == "incomplete"), "XP-INTEGRITY-009")
	slices.Sort(out)
	return out
}

// What the tampered answers must show, the check of a document shows under its rules.
func TestTamperVectors(t *testing.T) {
	evidence := vectors.TamperEvidenceXP()
	given := func(name string) []byte {
		if e := evidence[name]; name != "" && e.Error == "" {
			return []byte(e.Document)
		}
		return nil
	}
	judged := []string{"XP-INTEGRITY-001", "XP-INTEGRITY-002", "XP-INTEGRITY-005", "XP-INTEGRITY-006", "XP-INTEGRITY-007", "XP-INTEGRITY-009", "XP-INTEGRITY-014"}
	count := 0
	for _, v := range vectors.TampersXP() {
		withheld := evidence[v.RegistryKeys].Error != "" || evidence[v.PublisherKeys].Error != "" || evidence[v.Revocations].Error != "" || evidence[v.PublisherList].Error != ""
		if v.Want.Kind != business.KindEnvelope || withheld || v.Publisher != "" {
			continue // the check of a document takes what it is given, and is asked for nobody
		}
		count++
		at, err := time.Parse(time.RFC3339, v.At)
		if err != nil {
			t.Fatal(err)
		}
		o := bizcheck.Options{Clock: func() time.Time { return at }, RegistryKeys: given(v.RegistryKeys), PublisherKeys: given(v.PublisherKeys), Revocations: given(v.Revocations), PublisherList: given(v.PublisherList)}
		if v.Root != nil {
			raw, err := jwk.DecodeBase64URL(*v.Root)
			if err != nil {
				t.Fatal(err)
			}
			o.Root = &business.Root{Kid: "root", Public: raw}
		}
		r := bizcheck.CheckDocument("answer.json", []byte(v.Document), o)
		got := slices.DeleteFunc(broken(r.Findings), func(rule string) bool { return !slices.Contains(judged, rule) })
		want := wanted(v.Want)
		if o.PublisherList == nil {
			want = slices.DeleteFunc(want, func(rule string) bool { return rule == "XP-INTEGRITY-009" })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s (%s): broken %v, want %v", v.Name, v.Note, got, want)
		}
		expired := slices.Contains(broken(r.Findings), "XP-FRESHNESS-004")
		if v.Want.Authority.Reason == "document_expired" != expired {
			t.Errorf("%s: expired %t", v.Name, expired)
		}
	}
	if count < 30 {
		t.Errorf("only %d vectors were looked at", count)
	}
}

// A rule of an answer is never passed by an answer that has nothing of the kind.
func TestAnswerPassesOnlyWhatItShows(t *testing.T) {
	got := passed(bizcheck.CheckEnvelope(answered(t, func(object) {})))
	for _, rule := range []string{"XP-COVERAGE-002", "XP-COVERAGE-003", "XP-COVERAGE-006", "XP-COVERAGE-007", "XP-COVERAGE-008", "XP-FRESHNESS-002", "XP-INTEGRITY-001", "XP-INTEGRITY-006"} {
		if slices.Contains(got, rule) {
			t.Errorf("%s passed", rule)
		}
	}
	if !slices.Contains(got, "XP-COVERAGE-001") || !slices.Contains(got, "XP-INTEGRITY-007") {
		t.Errorf("passed %v", got)
	}
}
