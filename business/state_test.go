package business_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/jcs"
)

func profileLeaves(t *testing.T, slug, region string, p *business.Profile) []business.Leaf {
	t.Helper()
	leaves, err := business.ProfileLeaves(slug, region, p)
	if err != nil {
		t.Fatal(err)
	}
	return leaves
}

func recordLeaf(t *testing.T, slug string, r *business.Record) business.Leaf {
	t.Helper()
	leaf, err := business.RecordLeaf(slug, r)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

// The definition once more, by hand.
func TestLeavesByDefinition(t *testing.T) {
	hash := func(tag, canonical string) business.Leaf { return sha256.Sum256([]byte(tag + "\x00" + canonical)) }
	p := business.Profile{DisplayName: "A", ContentLanguages: []string{"de", "en"}, ProfileAttributes: jcs.Raw(`{"b":50.0,"a":-0}`), Locations: []business.Location{
		{ID: "main", Primary: true, Email: "a@example"}, {ID: "two"},
	}}
	want := []business.Leaf{
		hash("publisher", `{"contacts":[{"audience":"public_business","channel":"email","source":"location:main","value":"a@example"}],"content_language":"de",`+
			`"content_languages":["de","en"],"display_name":"A","profile_attributes":{"a":-0,"b":50.0},"region":"eu","support_email":"a@example","tenant":"a"}`),
		hash("location", `{"email":"a@example","id":"main","primary":true}`),
		hash("location", `{"id":"two","primary":false}`),
	}
	if got := profileLeaves(t, "a", "eu", &p); !slices.Equal(got, want) {
		t.Errorf("got %x\nwant %x", got, want)
	}
	r := business.Record{ID: "1", Type: "t", Title: "T", URL: "https://elsewhere.example/", Publisher: "other", Attributes: jcs.Raw(`{"p": 1.50}`), UpdatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)}
	if got := recordLeaf(t, "a", &r); got != hash("record", `{"attributes":{"p":1.50},"id":"1","publisher":"a","title":"T","type":"t","updated_at":"2026-01-02T03:04:05.000006Z"}`) {
		t.Errorf("record leaf %x", got)
	}
	schema, err := business.DocumentLeaf("schema", jcs.Raw(` {"b":1,"a":2} `))
	if err != nil || schema != hash("schema", `{"a":2,"b":1}`) {
		t.Errorf("schema leaf %x %v", schema, err)
	}
	leaves := append(slices.Clone(want), schema)
	sorted := slices.SortedFunc(slices.Values(leaves), func(a, b business.Leaf) int { return strings.Compare(string(a[:]), string(b[:])) })
	text := binary.BigEndian.AppendUint64([]byte("xp-state-v1\x00"), 4)
	for _, l := range sorted {
		text = append(text, l[:]...)
	}
	sum := sha256.Sum256(text)
	if got := business.ContentHash(leaves); got != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("content hash %s", got)
	}
	// A fixed value, so that another build, another machine and another day are held to this one.
	if got := business.ContentHash(nil); got != "sha256:ce7777c6d33f127833b8df08f48637bcaaa8b3d857bcfb0453f5ce3cfc5cc300" {
		t.Errorf("hash of nothing %s", got)
	}
}

func TestDocumentLeafRefuses(t *testing.T) {
	for tag, doc := range map[string]string{"record": `{}`, "": `{}`, "schema": `{"a":1,"a":2}`, "calendar": `not json`} {
		if leaf, err := business.DocumentLeaf(tag, jcs.Raw(doc)); err == nil || leaf != (business.Leaf{}) {
			t.Errorf("%s %s is accepted", tag, doc)
		}
	}
	for _, attributes := range []string{`{"a":1,"a":2}`, `{"a":"\ud800"}`, `{`} {
		if _, err := business.RecordLeaf("a", &business.Record{ID: "1", Type: "t", Title: "T", Attributes: jcs.Raw(attributes)}); err == nil {
			t.Errorf("attributes %s have a leaf", attributes)
		}
	}
	if _, err := business.RecordLeaf("a", &business.Record{ID: "1", Type: "t", Title: "\xff"}); err == nil {
		t.Error("a title that is not UTF-8 has a leaf")
	}
}

func TestContentHashIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaves := rapid.SliceOf(rapid.Custom(func(t *rapid.T) business.Leaf {
			return sha256.Sum256([]byte{rapid.Byte().Draw(t, "seed")})
		})).Draw(t, "leaves")
		shuffled := rapid.Permutation(leaves).Draw(t, "shuffled")
		want := business.ContentHash(slices.Clone(leaves))
		if got := business.ContentHash(shuffled); got != want {
			t.Fatalf("%s, in another order %s", want, got)
		}
		// Number and multiplicity count: two equal records are not none.
		if len(leaves) > 0 {
			if got := business.ContentHash(append(slices.Clone(leaves), leaves[0])); got == want {
				t.Fatal("a second equal leaf changes nothing")
			}
		}
	})
}

// Each published member changes the hash; the address does not, and neither does the zone or the size of a clock's tick.
func TestEveryMemberOfARecordCounts(t *testing.T) {
	base := recordLeaf(t, "a", fullRecord())
	seen := map[business.Leaf]string{base: "the record"}
	record := reflect.TypeFor[business.Record]()
	for i := range record.NumField() {
		name := record.Field(i).Name
		r := fullRecord()
		alter(reflect.ValueOf(r).Elem().Field(i))
		leaf := recordLeaf(t, "a", r)
		if name == "URL" || name == "Publisher" {
			if leaf != base {
				t.Errorf("%s counts", name)
			}
			continue
		}
		if before, ok := seen[leaf]; ok {
			t.Errorf("%s changed and %s have one leaf", name, before)
		}
		seen[leaf] = name
	}
	if recordLeaf(t, "b", fullRecord()) == base {
		t.Error("the publisher does not count")
	}
	r := fullRecord()
	r.UpdatedAt = r.UpdatedAt.UTC().Truncate(time.Microsecond)
	if recordLeaf(t, "a", r) != base {
		t.Error("the zone of a time counts")
	}
	body := encoded(t, fullRecord())
	var back business.Record
	if err := business.Decode([]byte(body), &back); err != nil || recordLeaf(t, "a", &back) != base {
		t.Errorf("a stored record has another leaf (%v)", err)
	}
}

func TestEveryMemberOfAProfileCounts(t *testing.T) {
	hash := func(slug, region string, p *business.Profile) string {
		return business.ContentHash(profileLeaves(t, slug, region, p))
	}
	base := hash("a", "eu", &full().Profile)
	if hash("b", "eu", &full().Profile) == base || hash("a", "us", &full().Profile) == base {
		t.Error("tenant or region does not count")
	}
	for i := range reflect.TypeFor[business.Profile]().NumField() {
		name := reflect.TypeFor[business.Profile]().Field(i).Name
		p := full().Profile
		alter(reflect.ValueOf(&p).Elem().Field(i))
		// Tools and the freshness contract are no part of the publisher block.
		if counts := hash("a", "eu", &p) != base; counts != (name != "Tools" && name != "Freshness") {
			t.Errorf("%s counts: %v", name, counts)
		}
	}
	for i := range reflect.TypeFor[business.Location]().NumField() {
		p := full().Profile
		p.Locations = slices.Clone(p.Locations)
		alter(reflect.ValueOf(&p.Locations[1]).Elem().Field(i))
		if hash("a", "eu", &p) == base {
			t.Errorf("location %s does not count", reflect.TypeFor[business.Location]().Field(i).Name)
		}
	}
}

// The publisher leaf has exactly the members of the block that the business states.
func TestPublisherLeafHasTheMembersOfTheBlock(t *testing.T) {
	p := full()
	members := innerMembers(t, encoded(t, p.Manifest(site, now)), "publisher")
	kept := slices.DeleteFunc(members, func(m jcs.Member) bool {
		return slices.Contains([]string{"locations", "website_verified", "proven_domain", "verification_method", "authority_verified_at", "trust_tier"}, m.Name)
	})
	canon, err := business.AppendCanon([]byte("publisher\x00"), jcs.AppendMembers(nil, kept))
	if err != nil {
		t.Fatal(err)
	}
	if got := profileLeaves(t, p.Slug, p.Standing.Region, &p.Profile)[0]; got != sha256.Sum256(canon) {
		t.Errorf("another leaf than the block served: %s", canon)
	}
}

// alter gives a field another value.
func alter(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *jcs.Raw:
		*x = jcs.Raw(`{"changed":1}`)
	case *time.Time:
		*x = x.Add(time.Hour)
	case *string:
		*x += "z"
	case *bool:
		*x = !*x
	case **business.FreshnessContract:
		*x = nil
	default:
		v.Set(v.Slice(0, v.Len()-1))
	}
}

func BenchmarkRecordLeaf(b *testing.B) {
	b.ReportAllocs()
	r := fullRecord()
	for b.Loop() {
		if _, err := business.RecordLeaf("north-clinic", r); err != nil {
			b.Fatal(err)
		}
	}
}
