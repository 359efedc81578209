package answer_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/jwk"
)

// canary stands in every value that the quay states, and in no name by which a question or an option refers to one.
const canary = "zanzibar77"

// quay is a published business with two branches, priced records and live readings.
func quay() answer.Snapshot {
	return answer.Snapshot{
		Publication: &business.Publication{
			Slug: "quay",
			Profile: business.Profile{
				DisplayName: "Quay Tools", LegalName: "Quay Tools Ltd", ContentLanguages: []string{"en"}, Website: "https://quay.example/", BusinessCategory: "hire",
				ProfileAttributes: jcs.Raw(`{"note":"` + canary + `","parking":true}`),
				Locations: []business.Location{
					{ID: "north", Primary: true, Name: "Northgate", Phone: canary + "-1", Email: canary + "@quay.example", OpeningHours: "Mo-Fr 09:00-17:00", Latitude: jcs.Raw("0"), Longitude: jcs.Raw("1.50")},
					{ID: "south", Name: "Southgate", Phone: canary + "-2", Address: canary, OpeningHours: "Mo-Fr 10:00-18:00", Latitude: jcs.Raw("0"), Longitude: jcs.Raw("2")},
					{ID: "west", Name: "Westgate", Phone: canary + "-3", Latitude: jcs.Raw("0"), Longitude: jcs.Raw("9")},
				},
				Freshness: &business.FreshnessContract{SLASeconds: 86400, Policy: "daily"},
			},
			Schema: jcs.Raw(`{"attributes":{"price":{"field":"price","kind":"money","currency":"EUR"},"note":{"kind":"text"}},
				"profile":{"parking":{"kind":"bool","words":{"en":["parking"]}}},
				"streams":[{"key":"free","subject":"tool","scoped_by":"location","kind":"text","sla_seconds":60,"max_age_seconds":600}]}`),
			Standing: business.Standing{Region: "eu", Lifecycle: business.Published, Proof: &business.DomainProof{
				Host: "quay.example", Method: business.MethodDNS, VerifiedAt: now.AddDate(0, 0, -3), ValidUntil: now.AddDate(0, 0, 60),
			}},
			State: business.State{Generation: 7, ContentHash: "sha256:" + strings.Repeat("0", 64), ChangedAt: now.Add(-time.Hour - time.Nanosecond)},
		},
		Records: []business.Record{
			{ID: "drill", Type: "tool", Title: "Drill", Publisher: "quay", Summary: canary, Attributes: jcs.Raw(`{"note":"` + canary + `","price":50.0}`), Content: canary},
			{ID: "small", Type: "tool", Title: "Small ladder", Publisher: "quay", Summary: canary, Attributes: jcs.Raw(`{"note":"` + canary + `","price":7.50}`)},
			{ID: "large", Type: "tool", Title: "Large ladder", Publisher: "quay", Summary: canary, Attributes: jcs.Raw(`{"note":"` + canary + `","price":9}`)},
		},
		Site: business.Site{Origin: "https://registry.example", ToolsServed: true},
	}
}

// freeDrills are readings that differ by branch, one of them stale after a minute.
type freeDrills struct{ age time.Duration }

func (f freeDrills) Latest(string, *coverage.Key, string) (out []answer.Reading, err error) {
	for i, place := range []string{"north", "south"} {
		out = append(out, answer.Reading{
			Stream: "free", Subject: &coverage.Key{Type: "tool", ID: "drill"}, Location: place, Value: jcs.Raw(fmt.Sprintf(`"%s %d"`, canary, i)),
			ObservedAt: now.Add(-f.age), ReceivedAt: now.Add(-f.age),
		})
	}
	return out, nil
}

// The keys of the chain: everybody knows them, nobody may ever trust them.
var (
	rootKey     = envelopeKey("test-root", 1)
	registryKey = envelopeKey("test-registry", 2)
	quayKey     = envelopeKey(business.PublisherKid("quay", envelopeKey("any", 3).Public().Public), 3)
	otherKey    = envelopeKey(business.PublisherKid("other", envelopeKey("any", 4).Public().Public), 4)
)

func envelopeKey(kid string, b byte) *jwk.PrivateKey {
	key, err := jwk.Generate(kid, bytes.NewReader(bytes.Repeat([]byte{b}, 32)))
	if err != nil {
		panic(err)
	}
	return key
}

// chain is everything that a reader with a pinned root fetches to judge an answer of the quay.
func chain(t testing.TB) business.Evidence {
	t.Helper()
	const registryURL = "https://registry.example/.well-known/x-protocol/registry-keys.json"
	registry, made := business.KeySigner(registryKey), now.AddDate(0, -1, 0)
	have := func(v any, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := v.([]byte); ok {
			return text
		}
		text, err := jcs.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	fetched := func(v any, err error) *business.Fetched { return &business.Fetched{Body: have(v, err), At: now} }
	root, err := business.NewRegistryKey("test-root", business.RoleRoot, rootKey.Public().Public, made, made.AddDate(1, 0, 0))
	have(root, err)
	signing, err := business.NewRegistryKey("test-registry", business.RoleSigning, registryKey.Public().Public, made, made.AddDate(1, 0, 0))
	have(signing, err)
	signing, err = business.SignEntry(signing, business.Family, business.KeySigner(rootKey), made)
	have(signing, err)
	attested, err := business.Attest(quayKey.Public().Public, quayKey.Kid(), "quay", made.Format(time.RFC3339), registry, registryURL, made)
	have(attested, err)
	return business.Evidence{
		Root:          &business.Root{Kid: "test-root", Public: rootKey.Public().Public},
		RegistryKeys:  fetched(business.RegistryKeys{Registry: business.Family, IssuedAt: now, MaxAgeSeconds: 900, Keys: []business.RegistryKey{root, signing}}, nil),
		PublisherKeys: fetched(business.PublisherKeys{Keys: []business.PublisherKey{attested}}, nil),
		Revocations:   fetched(business.RevocationList("", nil, registry, registryURL, now)),
		PublisherList: fetched(business.RevocationList("quay", nil, registry, registryURL, now)),
		Publisher:     "quay", At: now.Add(time.Second), FutureSkew: business.ReaderSkew,
	}
}

func frameOf(s answer.Snapshot) coverage.Frame {
	return coverage.Frame{Site: s.Site, Publication: s.Publication, Signer: business.KeySigner(quayKey), Latency: 2900 * time.Microsecond}
}

// envelopeCalls reach every status, by static and live handlers; the literals of their arguments are odd on purpose.
var envelopeCalls = []struct {
	name, handler, arguments string
	age                      time.Duration
	status                   coverage.Status
}{
	{"record", "knowledge.get", `{ "records":[{"type":"tool","\u0069d":"drill"}],` + "\n" + `"include":["content"]}`, 0, coverage.Resolved},
	{"question", "knowledge.search", `{"query":"Do you have a drill?","limit":5.0}`, 0, coverage.Resolved},
	{"profile", "knowledge.search", `{"query":"Do you have parking?"}`, 0, coverage.Resolved},
	{"criterion", "knowledge.search", `{"criteria":[{"type":"tool","id":"drill","field":"price","op":"le","value":5.00e1,"unit":"EUR"}],"limit":1e1}`, 0, coverage.Resolved},
	{"nearest", "branches.nearest", `{"caller_location":{"latitude":-0,"longitude":0.15e1},"limit":1.0}`, 0, coverage.Resolved},
	{"live", "live.query", `{"stream":"free","subject":{"type":"tool","id":"drill"},"location":"south"}`, 30 * time.Second, coverage.Resolved},
	{"live stale", "live.query", `{"stream":"free","subject":{"type":"tool","id":"drill"},"location":"south"}`, 2 * time.Minute, coverage.Partial},
	{"missing record", "knowledge.get", `{"records":[{"type":"tool","id":"drill"},{"type":"tool","id":"saw"}]}`, 0, coverage.Partial},
	{"unknown word", "knowledge.search", `{"query":"Do you have a diamond drill in purple?"}`, 0, coverage.Partial},
	{"hours", "knowledge.search", `{"query":"What are your opening hours?"}`, 0, coverage.NeedsContext},
	{"price", "knowledge.search", `{"query":"How much is a ladder?","limit":1e1}`, 0, coverage.NeedsContext},
	{"no position", "branches.nearest", ``, 0, coverage.NeedsContext},
	{"null", "branches.nearest", `null`, 0, coverage.NeedsContext},
	{"live branches", "live.query", `{"stream":"free","subject":{"type":"tool","id":"drill"}}`, time.Second, coverage.NeedsContext},
	{"nothing", "knowledge.search", `{"query":"Do you sell yachts?"}`, 0, coverage.NotCovered},
	{"no record", "knowledge.get", `{"records":[{"type":"tool","id":"saw"}]}`, 0, coverage.NotCovered},
	{"live too old", "live.query", `{"stream":"free","subject":{"type":"tool","id":"drill"},"location":"north"}`, time.Hour, coverage.NotCovered},
}

// sealed asks the quay and seals what it answers.
func sealed(t testing.TB, s answer.Snapshot, handler, arguments string, age time.Duration) (coverage.Call, *coverage.Outcome, []byte) {
	t.Helper()
	c, err := answer.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	call := coverage.Call{Tool: "quay_" + handler, Handler: handler, Arguments: jcs.Raw(arguments), Now: now}
	out, err := c.Answer(call, freeDrills{age})
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	text, err := frameOf(s).Seal(call, out)
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	return call, out, text
}

// opened reads an envelope back.
func opened(t testing.TB, text []byte) (e coverage.Envelope) {
	t.Helper()
	if err := business.Decode(text, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func judged(t testing.TB, text []byte, e business.Evidence) *business.Verdict {
	t.Helper()
	v, err := business.Verify(text, e)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
