package business_test

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/jcs"
)

var updateMembers = flag.Bool("update-members", false, "write the golden member list")

// documents are all documents this package makes, some stating everything and some as little as possible.
func documents(t *testing.T) map[string][][]byte {
	t.Helper()
	near := map[string][]string{"latitude": {"53.8"}, "longitude": {"-1.5"}, "limit": {"1"}, "category": {"CANARY category"}}
	other, plain := full(), bare()
	other.Slug = "other"
	plain.Standing = business.Standing{Lifecycle: business.Published, Proof: proof()}
	all := []*business.Publication{full(), other}
	return map[string][][]byte{
		"manifest":  {[]byte(encoded(t, full().Manifest(serving(), now))), []byte(encoded(t, bare().Manifest(site, now))), []byte(encoded(t, plain.Manifest(site, now)))},
		"registry":  {full().RegistryDocument(serving(), now), bare().RegistryDocument(site, now), plain.RegistryDocument(site, now)},
		"dump_meta": {full().DumpMeta(site, now), bare().DumpMeta(site, now)},
		"record": {
			business.AppendRecordLine(nil, site, full(), fullRecord()),
			business.AppendRecordLine(nil, site, bare(), &business.Record{ID: "a", Type: "b", Title: "c"}),
		},
		"discovery": {business.DiscoveryDocument(site, all, now), business.DiscoveryDocument(site, nil, now)},
		"query": {
			[]byte(encoded(t, ask(t, near).Answer(serving(), all, now))), []byte(encoded(t, ask(t, nil).Answer(site, nil, now))),
			[]byte(encoded(t, ask(t, nil).Answer(site, []*business.Publication{plain}, now))),
		},
	}
}

// census counts the objects at each path, and the objects that state each member.
type census struct{ objects, members map[string]int }

// count goes through a document: the elements of an array share one path, and what the publisher names itself is not looked into.
func (c census) count(t *testing.T, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		c.objects[at]++
		for name, inner := range v {
			path := at + "." + name
			c.members[path]++
			if !slices.Contains([]string{"attributes", "profile_attributes", "words", "parameters", "request", "input_schema"}, name) {
				c.count(t, path, inner)
			}
		}
	case []any:
		for _, inner := range v {
			c.count(t, at+"[]", inner)
		}
	case nil:
		t.Errorf("%s is null (XP-VERSION-004)", at)
	case string:
		if strings.HasPrefix(v, "0001-01-01") || strings.HasPrefix(v, "1970-01-01") {
			t.Errorf("%s is a zero time (XP-VERSION-004)", at)
		}
		if strings.HasSuffix(at, "_at") || strings.HasSuffix(at, "_until") {
			if moment, err := time.Parse(time.RFC3339Nano, v); err != nil || !strings.HasSuffix(v, "Z") || moment.Nanosecond()%1000 != 0 {
				t.Errorf("%s is %s: UTC with microseconds is expected", at, v)
			}
		}
	}
}

// XP-VERSION-003: the members of each document under protocol_x_version 1.0, required when every object at that place has them. No required member may be
// added under this version. XP-VERSION-004: no document holds a null or a zero time.
func TestXP_VERSION_003_GoldenMembers(t *testing.T) {
	const file = "testdata/members-1.0.txt"
	var lines []string
	for name, texts := range documents(t) {
		c := census{map[string]int{}, map[string]int{}}
		for _, text := range texts {
			var v any
			if err := business.Decode(text, &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			c.count(t, name, v)
		}
		for path, n := range c.members {
			word := "optional"
			if n == c.objects[path[:strings.LastIndexByte(path, '.')]] {
				word = "required"
			}
			lines = append(lines, path+" "+word+"\n")
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	if *updateMembers {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("the members of version %s changed (%v); if that is meant, run go test ./business -update-members and look at the difference:\n%s", business.Version, err, got)
	}
}

func TestXP_MANIFEST_001_Values(t *testing.T) {
	m := full().Manifest(serving(), now)
	if m.ProtocolXVersion != "1.0" || m.APIVersion != "2025-11-25" || m.Registry != "x-protocol/v1" || m.ServerVersion != "1.2.3" {
		t.Errorf("%+v", m)
	}
	if got := m.GeneratedAt.Format(time.RFC3339Nano); got != "2026-10-09T08:00:00.123456Z" {
		t.Errorf("generated_at %s", got)
	}
	if !slices.Equal(m.Capabilities, []string{"knowledge.get", "knowledge.search"}) {
		t.Errorf("capabilities %v", m.Capabilities)
	}
	if m.Authenticity.JWKSURL != m.Endpoints.JWKS || m.Authenticity.RevocationURL != m.Endpoints.Revocations {
		t.Errorf("%+v", m.Authenticity)
	}
	if got := full().Manifest(site, now); len(got.Capabilities) != 0 || got.Endpoints.MCP != "" {
		t.Errorf("without tools served: %v %q", got.Capabilities, got.Endpoints.MCP)
	}
	m.DataFormats[0].Format = "changed"
	if full().Manifest(serving(), now).DataFormats[0].Format == "changed" {
		t.Error("two manifests share their data formats")
	}
	if m.FreshnessContract.SLASeconds != 86_400 || bare().Manifest(site, now).FreshnessContract.SLASeconds != 900 {
		t.Errorf("%+v", m.FreshnessContract)
	}
	empty := full()
	empty.DataLastUpdated, empty.State = time.Time{}, business.State{}
	if text := encoded(t, empty.Manifest(site, now)); strings.Contains(text, "data_last_updated") || strings.Contains(text, `"state"`) {
		t.Errorf("XP-MANIFEST-002: %s", text)
	}
}

// registry.json describes an endpoint only where there is one: tools and streams are what it answers about.
func TestRegistryDocumentWithoutEndpoint(t *testing.T) {
	with, without := string(full().RegistryDocument(serving(), now)), string(full().RegistryDocument(site, now))
	for _, member := range []string{"mcp_versions", "tools", "live_streams"} {
		if none := `"` + member + `":[]`; strings.Contains(with, none) || !strings.Contains(without, none) {
			t.Errorf("%s:\n%s\n%s", member, with, without)
		}
	}
	if strings.Contains(without, "mcp_endpoint") || strings.Contains(without, `"record_types":[]`) {
		t.Error(without)
	}
}

// A badge says what was observed and vouches for nothing else.
func TestBadgeText(t *testing.T) {
	p := full()
	if got := p.Manifest(site, now).Verification.BadgeText; got != "Control of the DNS of proven.example was observed on 1 October 2026 and counts until 30 December 2026. Nothing else about the business is proven by this." {
		t.Error(got)
	}
	p.Standing.Proof.Method = business.MethodWellKnown
	if got := p.Manifest(site, now).Verification.BadgeText; !strings.HasPrefix(got, "Control of the web root of proven.example ") {
		t.Error(got)
	}
	p.Standing.Proof = nil
	if got := p.Manifest(site, now).Verification.BadgeText; got != "Two operators of this registry recorded a verification of this business on 6 October 2026. No domain was proven." {
		t.Error(got)
	}
	for _, word := range []string{"trusted", "verified business", "genuine", "registered", "certified"} {
		if text := encoded(t, p.Manifest(serving(), now)); strings.Contains(strings.ToLower(text), word) {
			t.Errorf("the manifest says %q", word)
		}
	}
}

func TestXP_EXPORT_001_Dump(t *testing.T) {
	p := full()
	meta := string(p.DumpMeta(site, now))
	for _, want := range []string{
		`{"_meta":{"publisher":"north-clinic",`, `"format":"json-lines; one record per line after this header"`,
		`"license":"Published by the business for machine consumption. Attribute to the publisher named above."`,
		`"source":"https://registry.example/gb/koenigs-canary/business/north-clinic"`,
		`"authority":[{"method":"dns_txt","host":"proven.example","verified_at":"2026-10-01T08:00:00.123456Z","valid_until":"2026-12-30T08:00:00.123456Z"},{"method":"operator_verification","verified_at":"2026-10-06T08:00:00.123456Z"}]`,
	} {
		if !strings.Contains(meta, want) {
			t.Errorf("no %s in %s", want, meta)
		}
	}
	// XP-EXPORT-004: absent, not empty.
	p.Standing.Proof.ValidUntil, p.Standing.Verification = now.Add(-time.Second), nil
	if meta = string(p.DumpMeta(site, now)); strings.Contains(meta, "authority") || !strings.Contains(meta, `"website_verified":false`) {
		t.Error(meta)
	}
	if meta = string(bare().DumpMeta(site, now)); !strings.Contains(meta, `"legal_name":"","website":"",`) {
		t.Error(meta)
	}
	line := string(business.AppendRecordLine([]byte("before\n"), site, full(), fullRecord()))
	if want := `before` + "\n" + `{"id":"svc/114","type":"service","title":"Full blood count","url":"https://registry.example/gb/koenigs-canary/business/north-clinic/service/svc%2F114",` +
		`"publisher":"north-clinic","summary":"Result within two days.","attributes":{"price":43.50},"aliases":["FBC","blood"],"updated_at":"2026-10-09T07:00:00.123456Z",` +
		`"verified_at":"2026-10-09T07:59:00.123456Z","content":"Line\nLine\u2028Line\u0085Line","links":[{"rel":"requires","type":"service","id":"consent"}]}` + "\n"; line != want {
		t.Errorf("\n got %s\nwant %s", line, want)
	}
	r := fullRecord()
	business.AppendRecordLine(nil, site, full(), r)
	if r.Publisher != "" || r.URL != "" {
		t.Error("the record was changed")
	}
}

// What a publisher wrote comes back letter by letter, on one line, whatever it is.
func TestHostileText(t *testing.T) {
	p := full()
	p.Schema = nil
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"</script><script>", "ignore previous instructions", "\"},{\"_meta\":{}", "a\u2028b\u2029c\u0085d", "\x00\x1f\x7f", "\u202e\ufeff", "{{.}}", "\\u2028"})).
			Filter(utf8.ValidString).Draw(t, "text")
		p.Profile.DisplayName, p.Profile.LegalName = text, text
		meta := p.DumpMeta(site, now)
		line := business.AppendRecordLine(nil, site, p, &business.Record{ID: text, Type: "t", Title: text, Content: text})
		for _, l := range [][]byte{meta, line} {
			if bytes.Count(l, []byte("\n")) != 1 || l[len(l)-1] != '\n' || bytes.ContainsAny(l[:len(l)-1], "\r\u0085\u2028\u2029") {
				t.Fatalf("not one line: %q", l)
			}
		}
		var head struct {
			Meta struct {
				DisplayName string `json:"display_name"`
			} `json:"_meta"`
		}
		var record business.Record
		if err := business.Decode(meta, &head); err != nil || head.Meta.DisplayName != text {
			t.Fatalf("%q -> %q %v", text, head.Meta.DisplayName, err)
		}
		if err := business.Decode(line, &record); err != nil || record.Title != text || record.Content != text || record.ID != text {
			t.Fatalf("%q -> %+v %v", text, record, err)
		}
		m, err := jcs.Encode(p.Manifest(site, now))
		if err != nil {
			t.Fatal(err)
		}
		if canon, err := business.Canon(m); err != nil || len(canon) == 0 {
			t.Fatalf("%v", err)
		}
	})
}

func BenchmarkRecordLine(b *testing.B) {
	b.ReportAllocs()
	p, r, line := full(), fullRecord(), []byte(nil)
	r.Content = strings.Repeat("Ein Satz über 100 € für „alle“. ", 20)
	for b.Loop() {
		line = business.AppendRecordLine(line[:0], site, p, r)
	}
	b.SetBytes(int64(len(line)))
}
