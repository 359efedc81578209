package wire

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sayso/jcs"
)

var update = flag.Bool("update", false, "write the published schemas anew")

// samples is one full text of each type, and of each shape that a rule tells apart.
var samples = map[string]string{
	"projection":   `{"type":"DiscoveryProjection","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","projection_id":"p-1","endpoint":"https://one.example/a2a/r","interest_ref":null,"domains":["biotechnology"],"relation":["complementary_counterparty"]}`,
	"open":         `{"type":"SessionOpen","version":"gidp/0.1","expires_at":"2031-01-02T01:00:00.25+01:00","session_id":"s","request_id":"r-1","initiator":"i","purpose":"sale","max_depth":"session","profile":"core","features":["dependency_primitives","multi_party"],"trust_context":{"any":[null,{"x":1}]},"projection_ref":"ref"}`,
	"open nulls":   `{"type":"SessionOpen","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_id":"r-1","initiator":"i","purpose":"","max_depth":"network","profile":"core","features":[],"trust_context":null,"projection_ref":null}`,
	"accept":       `{"type":"SessionAccept","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_ref":"r-1","responder":"j","max_depth":"session","profile":"core","features":[]}`,
	"close":        `{"type":"SessionClose","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","reason":"unspecified","request_ref":"r-1"}`,
	"ask":          `{"type":"CompatibilityRequest","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_id":"r-2","claims":[{"claim_id":"r-2.0","key":"region","operator":"intersects","value":["north"]},{"claim_id":"r-2.1","key":"size","operator":"overlaps","value":{"min":1,"max":2.5},"supersedes":["r-1.0"]}],"allowed_results":["declined","unknown"]}`,
	"answer":       `{"type":"CompatibilityResponse","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_ref":"r-2","results":[{"claim_id":"r-2.0","key":"region","result":"requires_disclosure"}],"session_status":"open","next":{"permitted":["close"],"requires":["size"]},"contingent_on":["undisclosed"]}`,
	"answer short": `{"type":"CompatibilityResponse","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_ref":"r-2","results":[{"claim_id":"r-2.0","key":"region","result":"declined"}],"session_status":"open","next":{}}`,
	"disclose":     `{"type":"DisclosureRequest","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_id":"r-3","attribute":"region","purpose":"check","requested_surface":"local","intended_use":"handoff_preparation","retention":"session_only","reciprocal":true}`,
	"disclosed":    `{"type":"DisclosureResponse","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_ref":"r-3","attribute":"region","status":"granted","value":{"b":1,"a":[null]},"verification_required":null}`,
	"verified":     `{"type":"DisclosureResponse","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_ref":"r-3","attribute":"region","status":"granted_if_verified","verification_required":["urn:x"]}`,
	"withheld":     `{"type":"DisclosureResponse","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_ref":"r-3","attribute":"region","status":"declined","value":null}`,
	"consent":      `{"type":"ConsentRequest","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_id":"r-4","action":"reveal_identity","scope":["principal_identity"],"reciprocal":false,"binding_commitment":false}`,
	"consented":    `{"type":"ConsentResponse","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","request_ref":"r-4","status":"granted","granted_scope":["principal_identity"]}`,
	"lead":         `{"type":"Opportunity","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","structure":"unspecified","evaluated_dimensions":3,"compatible_dimensions":2,"open_conditions":["size"],"contingent_on":[],"identity_status":{"initiator":"not_requested","responder":"granted"}}`,
	"handoff":      `{"type":"Handoff","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","target":{"kind":"protocol","protocol_ref":"urn:p"},"authorized_scope":["NEGOTIATE_NONBINDING"],"requires_principal_presence":false,"contingent_on":["undisclosed"]}`,
	"handoff desk": `{"type":"Handoff","version":"gidp/0.1","expires_at":"2031-01-02T00:00:00Z","session_id":"s","target":{"kind":"human","protocol_ref":null},"authorized_scope":[],"requires_principal_presence":true,"contingent_on":[]}`,
}

// broken are edits that each break one rule: old text, new text.
var broken = map[string][][2]string{
	"projection": {{`"domains":["biotechnology"],"relation":["complementary_counterparty"]`, `"domains":[]`}, {`"endpoint":"https://one.example/a2a/r"`, `"endpoint":{"agent_ref":"r"}`},
		{`"domains":["biotechnology"]`, `"domains":null`}, {`"projection_id":"p-1",`, `"projection_id":"p-1","session_id":"s",`}, {`"projection_id":"p-1",`, `"projection_id":"p-1","attributes":{},`}},
	"open": {{`"max_depth":"session"`, `"max_depth":"public"`}, {`"max_depth":"session"`, `"max_depth":"local"`}, {`["dependency_primitives","multi_party"]`, `["multi_party","multi_party"]`},
		{`["dependency_primitives","multi_party"]`, `["other"]`}, {`{"any":[null,{"x":1}]}`, `[]`}, {`2031-01-02T01:00:00.25+01:00`, `2031-01-02T01:00:00`}, {`2031-01-02T01:00:00.25+01:00`, `2031-01-02T01:00:00,25+01:00`},
		{`"session_id":"s"`, `"session_id":""`}, {`"session_id":"s"`, `"session_id":"a b"`}, {`"session_id":"s"`, `"session_id":"ü"`}, {`"session_id":"s"`, `"session_id":null`}, {`"session_id":"s",`, ``},
		{`"session_id":"s"`, `"session_id":"s","session_id":"s"`}, {`"type":"SessionOpen"`, `"type":"Standing"`}, {`"type":"SessionOpen",`, ``}, {`"version":"gidp/0.1",`, ``}, {`"request_id":"r-1"`, `"request_id":7`}},
	"accept": {{`"max_depth":"session"`, `"max_depth":"deep"`}, {`"features":[]`, `"features":null`}, {`gidp/0.1`, `gidp/0.2`}},
	"close":  {{`unspecified`, `bored`}},
	"ask": {{`[{"claim_id":"r-2.0","key":"region","operator":"intersects","value":["north"]},{"claim_id":"r-2.1","key":"size","operator":"overlaps","value":{"min":1,"max":2.5},"supersedes":["r-1.0"]}]`, `[]`},
		{`"value":["north"]`, `"value":null`}, {`,"value":["north"]`, ``}, {`["declined","unknown"]`, `["unknown"]`}, {`["declined","unknown"]`, `["declined","perhaps"]`}, {`"claim_id":"r-2.1"`, `"claim_id":"r-2.0"`}, {`"supersedes":["r-1.0"]`, `"supersedes":null`}, {`"operator":"overlaps"`, `"operator":"near"`}, {`"max":2.5`, `"max":9007199254740993`}, {`"max":2.5`, `"max":1e400`}, {`"key":"size"`, `"key":"size","sign":1`}, {`"key":"size"`, `"key":""`}},
	"answer":       {{`"contingent_on":["undisclosed"]`, `"contingent_on":null`}, {`"permitted":["close"]`, `"permitted":["wait"]`}, {`"requires":["size"]`, `"requires":["size"],"also":[]`}, {`"session_status":"open"`, `"session_status":"maybe"`}, {`"result":"requires_disclosure"`, `"result":"yes"`}},
	"disclose":     {{`"local"`, `"anywhere"`}, {`handoff_preparation`, `curiosity`}, {`"reciprocal":true`, `"reciprocal":null`}, {`"reciprocal":true`, `"reciprocal":"true"`}, {`session_only`, `for_ever`}},
	"disclosed":    {{`"value":{"b":1,"a":[null]},`, ``}, {`"value":{"b":1,"a":[null]}`, `"value":null`}, {`"status":"granted"`, `"status":"declined"`}, {`"verification_required":null`, `"verification_required":["x"]`}},
	"verified":     {{`["urn:x"]`, `[]`}, {`,"verification_required":["urn:x"]`, ``}, {`granted_if_verified`, `pending_principal_approval`}},
	"consent":      {{`"binding_commitment":false`, `"binding_commitment":true`}, {`,"binding_commitment":false`, ``}, {`"scope":["principal_identity"]`, `"scope":[]`}, {`reveal_identity`, `commit`}},
	"consented":    {{`"status":"granted"`, `"status":"declined"`}, {`"status":"granted"`, `"status":"granted_if_verified"`}},
	"lead":         {{`"evaluated_dimensions":3`, `"evaluated_dimensions":-1`}, {`"evaluated_dimensions":3`, `"evaluated_dimensions":2.5`}, {`"open_conditions":["size"]`, `"open_conditions":["size","size"]`}, {`"responder":"granted"`, `"responder":"known"`}},
	"handoff":      {{`NEGOTIATE_NONBINDING`, `COMMIT`}, {`,"protocol_ref":"urn:p"`, ``}, {`"kind":"protocol"`, `"kind":"human"`}, {`"protocol_ref":"urn:p"`, `"protocol_ref":"urn:p","to":"x"`}},
	"answer short": {{`"next":{}`, `"next":null`}, {`,"next":{}`, ``}, {`[{"claim_id":"r-2.0","key":"region","result":"declined"}]`, `[]`}},
}

func TestEveryTypeIsReadAndWrittenAlike(t *testing.T) {
	seen := map[Type]bool{}
	for name, text := range samples {
		o, err := Decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		seen[o.Type()] = true
		first, err := Encode(o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if canonical, err := jcs.Canonical(first); err != nil || !bytes.Equal(canonical, first) {
			t.Errorf("%s: what is written is not canonical: %s", name, first)
		}
		if bytes.Contains(first, []byte(":null")) && !bytes.Contains(first, []byte(`"any":[null`)) {
			t.Errorf("%s: null is written: %s", name, first)
		}
		again, err := Decode(first)
		if err != nil {
			t.Errorf("%s: does not read what it wrote: %v", name, err)
			continue
		}
		if second, _ := Encode(again); !bytes.Equal(first, second) {
			t.Errorf("%s: %s became %s", name, first, second)
		}
	}
	if len(seen) != len(Types()) {
		t.Errorf("samples of %d types, want %d", len(seen), len(Types()))
	}
}

func TestWhatBreaksARuleIsRefusedWhole(t *testing.T) {
	for name, edits := range broken {
		for _, e := range edits {
			text := strings.Replace(samples[name], e[0], e[1], 1)
			if text == samples[name] {
				t.Fatalf("%s: %q does not occur", name, e[0])
			}
			_, err := Decode([]byte(text))
			var refusal *Error
			if !errors.As(err, &refusal) || refusal.Code != CodeMalformed {
				t.Errorf("%s with %s: %v, want a malformed object", name, e[1], err)
			}
		}
	}
	for _, text := range []string{``, `null`, `[]`, `{}`, samples["close"] + ` {}`, "\ufeff" + samples["close"], strings.Repeat(" ", MaxBytes) + samples["close"]} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
}

// Every member of every object: an unknown one beside it and its absence.
func TestNoUnknownAndNoMissingMember(t *testing.T) {
	for name, text := range samples {
		members, err := jcs.Members([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode([]byte(strings.TrimSuffix(text, "}") + `,"x_extra":1}`)); err == nil {
			t.Errorf("%s: an unknown member was read", name)
		}
		schema := compiled(t, Schema(Type(mustText(t, members[0].Value))))
		for i := range members {
			rest := slices.Concat(members[:i], members[i+1:])
			var b bytes.Buffer
			for j, m := range rest {
				b.WriteString(map[bool]string{true: "{", false: ","}[j == 0])
				b.Write(jcs.AppendString(nil, m.Name))
				b.WriteString(":")
				b.Write(m.Value)
			}
			b.WriteString("}")
			_, err := Decode(b.Bytes())
			if agrees := schema.Validate(value(t, b.Bytes())) == nil; agrees != (err == nil) && !strings.Contains(name, "disclos") && !strings.Contains(name, "verified") && name != "projection" {
				t.Errorf("%s without %s: codec %v, schema accepts: %v", name, members[i].Name, err, agrees)
			}
		}
	}
}

func TestAnotherVersionIsAnswerableInAnOpenOnly(t *testing.T) {
	o, err := Decode([]byte(strings.Replace(samples["open"], "gidp/0.1", "gidp/9", 1)))
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != CodeVersion {
		t.Fatalf("%v, want a version that is not ours", err)
	}
	if open, ok := o.(*SessionOpen); !ok || open.RequestID != "r-1" || open.SessionID != "s" {
		t.Errorf("%v: an open of another version has to be answerable", o)
	}
	if o, err := Decode([]byte(strings.Replace(samples["accept"], "gidp/0.1", "gidp/9", 1))); o != nil || err == nil {
		t.Errorf("%v, %v: only an open is answered", o, err)
	}
}

func TestWritingHoldsTheRulesOfReading(t *testing.T) {
	o, err := Decode([]byte(samples["disclosed"]))
	if err != nil {
		t.Fatal(err)
	}
	granted := *o.(*DisclosureResponse)
	granted.Value = nil
	if _, err := Encode(&granted); err == nil {
		t.Error("a grant without a value was written")
	}
	o, err = Decode([]byte(samples["accept"]))
	if err != nil {
		t.Fatal(err)
	}
	deep := *o.(*SessionAccept)
	deep.MaxDepth = "local"
	if _, err := Encode(&deep); err == nil {
		t.Error("a depth that is none was written")
	}
	if o, err := Decode([]byte(strings.Replace(samples["accept"], `"session"`, `"local"`, 1))); err != nil || o.(*SessionAccept).MaxDepth != "local" {
		t.Errorf("an accept at local depth has to be readable, so that it can be answered: %v", err)
	}
	if _, err := Encode(&SessionClose{Head: Head{SessionID: "s"}, Reason: ReasonExpired}); err == nil {
		t.Error("an object without expires_at was written")
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2031-01-02T03:04:05Z": "2031-01-02T03:04:05Z", "2031-01-02T03:04:05.999+01:30": "2031-01-02T01:34:05Z", "2031-01-02T3:04:05Z": "", "2031-01-02 03:04:05Z": "",
		"2031-02-30T03:04:05Z": "", "2031-01-02T03:04:05,5Z": "", "2031-01-02T03:04:05": "", "2031-01-02": "", "9999-12-31T23:59:59-01:00": "", "2031-01-02T24:00:00Z": "",
	} {
		got, err := ParseTime(text)
		if (err == nil) != (want != "") || err == nil && FormatTime(got) != want {
			t.Errorf("%s: %v, %v, want %q", text, got, err, want)
		}
	}
}

// The committed schemas are what the server publishes under /schema/gidp/.
func TestPublishedSchemas(t *testing.T) {
	for _, kind := range Types() {
		file := filepath.Join("testdata", "schema", string(kind)+".schema.json")
		want := append(Schema(kind), '\n')
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v: run go test ./gidp/wire -run PublishedSchemas -update", file, err)
		}
	}
	if Schema("Standing") != nil {
		t.Error("a schema of a type that does not exist")
	}
}

// knownStricter are the edits that the reference's schemas accept and ours refuse, each by a reading of ours.
var knownStricter = map[string]bool{
	``: true, `COMMIT`: true, `["multi_party","multi_party"]`: true, `["unknown"]`: true, `[]`: true, `"claim_id":"r-2.0"`: true, `"domains":[]`: true,
	`"evaluated_dimensions":-1`: true, `"key":""`: true, `"kind":"human"`: true, `"max_depth":"local"`: true, `"max_depth":"public"`: true,
	`"open_conditions":["size","size"]`: true, `"scope":[]`: true, `"session_id":""`: true, `"session_id":"a b"`: true, `"session_id":"ü"`: true,
	`"status":"declined"`: true, `"value":null`: true, `"verification_required":["x"]`: true, `pending_principal_approval`: true,
}

// The verdict of the reference's schemas, where they are at hand.
func TestReferenceSchemasAgree(t *testing.T) {
	dir := os.Getenv("SAYSO_GIDP_SCHEMA")
	if dir == "" {
		t.Skip("SAYSO_GIDP_SCHEMA does not name the folder of the reference's schemas")
	}
	reference := map[Type]*jsonschema.Schema{}
	for _, kind := range Types() {
		data, err := os.ReadFile(filepath.Join(dir, string(kind)+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		reference[kind] = compiled(t, data)
	}
	for name, text := range samples {
		o, err := Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		written, err := Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{[]byte(text), written} {
			if err := reference[o.Type()].Validate(value(t, data)); err != nil {
				t.Errorf("%s: the reference refuses what we accept and send: %v", name, err)
			}
			if err := compiled(t, Schema(o.Type())).Validate(value(t, data)); err != nil {
				t.Errorf("%s: our schema refuses what our codec accepts: %v", name, err)
			}
		}
		for _, e := range broken[name] {
			data := []byte(strings.Replace(text, e[0], e[1], 1))
			if jcs.Check(data) != nil {
				continue
			}
			if reference[o.Type()].Validate(value(t, data)) == nil && !knownStricter[e[1]] {
				t.Errorf("%s with %s: the reference accepts it, we refuse it, and no reading says so", name, e[1])
			}
		}
	}
}

func compiled(t testing.TB, schema []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:schema", value(t, schema)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:schema")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(t testing.TB, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustText(t *testing.T, raw jcs.Raw) string {
	t.Helper()
	s, ok := jcs.Text(raw)
	if !ok {
		t.Fatalf("%s is not a string", raw)
	}
	return s
}

// Whatever is read can be written, is canonical, reads back as itself, and our own schema accepts it.
func FuzzDecode(f *testing.F) {
	for _, text := range samples {
		f.Add([]byte(text))
	}
	for name, edits := range broken {
		for _, e := range edits {
			f.Add([]byte(strings.Replace(samples[name], e[0], e[1], 1)))
		}
	}
	schemas := map[Type]*jsonschema.Schema{}
	for _, kind := range Types() {
		schemas[kind] = compiled(f, Schema(kind))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Decode(data)
		if err != nil {
			var refusal *Error
			if !errors.As(err, &refusal) || refusal.Detail == "" {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		first, err := Encode(o)
		if err != nil {
			if accept, ok := o.(*SessionAccept); ok && accept.MaxDepth != DepthNetwork && accept.MaxDepth != DepthSession {
				return // read so that it can be answered, never written
			}
			if len(data) > MaxBytes/2 {
				return // canonical escapes may be longer than what was received
			}
			t.Fatalf("%q was read and cannot be written: %v", data, err)
		}
		again, err := Decode(first)
		if err != nil {
			t.Fatalf("%s does not read back: %v", first, err)
		}
		if second, _ := Encode(again); !bytes.Equal(first, second) {
			t.Fatalf("%s became %s", first, second)
		}
		if err := schemas[o.Type()].Validate(value(t, first)); err != nil {
			t.Fatalf("our schema refuses %s: %v", first, err)
		}
	})
}
