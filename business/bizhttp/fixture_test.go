package bizhttp_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/jcs"
)

const testOrigin = "https://registry.example"

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

type object = map[string]any

// signer is a key made of a name, so that every run signs the same bytes.
type signer struct {
	kid string
	key ed25519.PrivateKey
}

func signerOf(kid string) signer {
	seed := sha256.Sum256([]byte(kid))
	return signer{kid, ed25519.NewKeyFromSeed(seed[:])}
}

func (s signer) Kid() string               { return s.kid }
func (s signer) Public() ed25519.PublicKey { return s.key.Public().(ed25519.PublicKey) }
func (s signer) Sign(digest [32]byte) ([]byte, error) {
	return ed25519.Sign(s.key, digest[:]), nil
}

// registry is a Source in memory that signs for real.
type registry struct {
	t testing.TB

	mu      sync.Mutex
	site    business.Site
	now     time.Time
	pubs    map[string]*business.Publication
	records map[string][]business.Record
	fault   error            // what every read of a publisher returns
	broken  map[string]error // what reading one kind of document returns: "manifest", "keys", "lists"

	root, signing signer
	revoked       map[string][]business.RevocationEntry
}

var states = []string{"draft", "published", "paused", "suspended", "withdrawn", "lapsed"}

// newRegistry has one publisher for each state, named after it; its owner's token is "owner-" and its name, its host its name and ".example".
func newRegistry(t testing.TB) *registry {
	r := &registry{
		t: t, now: noon, site: business.Site{Origin: testOrigin, ServerVersion: "1.2.3"},
		pubs: map[string]*business.Publication{}, records: map[string][]business.Record{}, broken: map[string]error{},
		root: signerOf("root-1"), signing: signerOf("registry-1"), revoked: map[string][]business.RevocationEntry{},
	}
	for _, state := range states {
		r.add(state)
		s := &r.pubs[state].Standing
		switch state {
		case "suspended":
			s.Suspended = true
		case "lapsed":
			s.Proof.ValidUntil = noon.Add(-time.Second)
		default:
			s.Lifecycle = business.Lifecycle(state)
		}
	}
	return r
}

// add makes a published publisher in Berlin with three records.
func (r *registry) add(slug string) *business.Publication {
	p := &business.Publication{
		Slug: slug, Revision: 1,
		Profile: business.Profile{
			DisplayName: "The " + slug + " shop", LegalName: "Shop GmbH", ContentLanguages: []string{"de-DE", "en"}, Website: "https://" + slug + ".example/", BusinessCategory: "optician",
			Locations: []business.Location{{ID: "main", Primary: true, Name: "Main", StreetAddress: "Weg 1", Locality: "Berlin", CountryCode: "DE", Phone: "+49 30 555",
				OpeningHours: "Mo-Fr 09:00-17:00", Latitude: jcs.Raw("52.50"), Longitude: jcs.Raw("13.40"), TimeZone: "Europe/Berlin"}},
			Tools: []business.Tool{{Name: "search", Handler: "knowledge.search"}},
		},
		Standing: business.Standing{Region: "eu", Lifecycle: business.Published,
			Proof: &business.DomainProof{Host: slug + ".example", Method: "dns_txt", VerifiedAt: noon.Add(-time.Hour), ValidUntil: noon.Add(24 * time.Hour)}},
		State:           business.State{Generation: 3, ContentHash: "sha256:" + strings.Repeat("ab", 32), ChangedAt: noon.Add(-time.Hour)},
		DataLastUpdated: noon.Add(-2 * time.Hour),
		Hosts:           []string{slug + ".example"},
	}
	r.pubs[slug] = p
	r.setRecords(slug, []business.Record{
		{ID: "frame", Type: "product", Title: "Frame", Attributes: jcs.Raw(`{"price":50.0,"currency":"EUR"}`), UpdatedAt: noon.Add(-2 * time.Hour)},
		{ID: "a/b c", Type: "service", Title: "Slash", Summary: "an id with a slash"},
		{ID: "exam", Type: "service", Title: "Eye exam", Summary: "takes half an hour"},
	})
	return p
}

func (r *registry) setRecords(slug string, records []business.Record) {
	r.records[slug] = records
	types := []business.TypeCount{}
	for _, rec := range records {
		if n := len(types); n > 0 && types[n-1].Type == rec.Type {
			types[n-1].Count++
		} else {
			types = append(types, business.TypeCount{Type: rec.Type, Count: 1})
		}
	}
	r.pubs[slug].Types = types
}

func (r *registry) Now() time.Time      { r.mu.Lock(); defer r.mu.Unlock(); return r.now }
func (r *registry) Site() business.Site { r.mu.Lock(); defer r.mu.Unlock(); return r.site }

func (r *registry) Publication(_ context.Context, slug string) (*business.Publication, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil {
		return nil, r.fault
	}
	if slug != "" && !business.ValidSlug(slug) { // "" is that of a host nobody has
		return nil, errors.New("the surface asked for what is no slug")
	}
	if p := r.pubs[slug]; p != nil {
		return p, nil
	}
	return nil, bizhttp.ErrUnknown
}

func (r *registry) ByHost(ctx context.Context, host string) (*business.Publication, error) {
	slug, ok := strings.CutSuffix(host, ".example")
	if !ok || !business.ValidSlug(slug) { // a table of hosts has no row for it
		slug = ""
	}
	return r.Publication(ctx, slug)
}

func (r *registry) Publications(context.Context) ([]*business.Publication, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault != nil {
		return nil, r.fault
	}
	out := []*business.Publication{}
	for _, p := range r.pubs {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *business.Publication) int { return strings.Compare(a.Slug, b.Slug) })
	return out, nil
}

func (r *registry) keysURL() string { return r.Site().RegistryKeysURL() }

func documentOf(body []byte, err error) (*bizhttp.Document, error) {
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &bizhttp.Document{Body: body, ETag: `"` + hex.EncodeToString(sum[:8]) + `"`}, nil
}

func (r *registry) Manifest(ctx context.Context, slug string) (*bizhttp.Document, error) {
	p, err := r.Publication(ctx, slug)
	if err != nil {
		return nil, err
	}
	if err := r.broken["manifest"]; err != nil {
		return nil, err
	}
	text, err := jcs.Encode(p.Manifest(r.Site(), r.Now()))
	if err != nil {
		return nil, err
	}
	return documentOf(business.SignDocument(text, business.Signing{Signer: r.signing, SignedAt: r.Now(), ExpiresAt: r.Now().Add(business.ManifestLife), KeysURL: r.keysURL(), KeysName: "registry_keys_url"}))
}

// key is the publisher's own signing key.
func (r *registry) key(slug string) signer {
	s := signerOf(slug)
	s.kid = business.PublisherKid(slug, s.Public())
	return s
}

func (r *registry) PublisherKeys(ctx context.Context, slug string) (*bizhttp.Document, error) {
	if _, err := r.Publication(ctx, slug); err != nil {
		return nil, err
	}
	if err := r.broken["keys"]; err != nil {
		return nil, err
	}
	s := r.key(slug)
	entry, err := business.Attest(s.Public(), s.kid, slug, noon.Add(-time.Hour).Format(time.RFC3339), r.signing, r.keysURL(), noon)
	if err != nil {
		return nil, err
	}
	return documentOf(jcs.Encode(business.PublisherKeys{Keys: []business.PublisherKey{entry}}))
}

func (r *registry) PublisherRevocations(ctx context.Context, slug string) (*bizhttp.Document, error) {
	if _, err := r.Publication(ctx, slug); err != nil {
		return nil, err
	}
	return r.list(slug)
}

func (r *registry) RegistryRevocations(context.Context) (*bizhttp.Document, error) { return r.list("") }

func (r *registry) list(slug string) (*bizhttp.Document, error) {
	if err := r.broken["lists"]; err != nil {
		return nil, err
	}
	return documentOf(business.RevocationList(slug, r.revoked[slug], r.signing, r.keysURL(), r.Now()))
}

func (r *registry) RegistryKeys(context.Context) (*bizhttp.Document, error) {
	entry, err := business.NewRegistryKey(r.signing.kid, "signing", r.signing.Public(), noon.Add(-time.Hour), noon.Add(365*24*time.Hour))
	if err != nil {
		return nil, err
	}
	if entry, err = business.SignEntry(entry, business.Family, r.root, noon); err != nil {
		return nil, err
	}
	return documentOf(jcs.Encode(business.RegistryKeys{Registry: business.Family, IssuedAt: noon, MaxAgeSeconds: 900, Keys: []business.RegistryKey{entry}}))
}

func (r *registry) pin() *business.Root {
	return &business.Root{Kid: r.root.kid, Public: r.root.Public()}
}

func (r *registry) Record(_ context.Context, slug, typ, id string) (*business.Record, error) {
	if !business.ValidType(typ) || !business.ValidID(id) {
		return nil, errors.New("the surface asked for what names no record")
	}
	for _, rec := range r.records[slug] {
		if rec.Type == typ && rec.ID == id {
			return &rec, nil
		}
	}
	return nil, bizhttp.ErrNoRecord
}

func (r *registry) RecordPage(_ context.Context, slug, typ, afterType, afterID string, limit int) ([]business.Record, error) {
	out := []business.Record{}
	for _, rec := range r.records[slug] {
		after := rec.Type > afterType || rec.Type == afterType && rec.ID > afterID
		if len(out) < limit && after && (typ == "" || typ == rec.Type) {
			out = append(out, rec)
		}
	}
	return out, nil
}

func (r *registry) Dump(ctx context.Context, slug string, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
	p, err := r.Publication(ctx, slug)
	if err != nil {
		return err
	}
	return f(p, func(yield func(*business.Record, error) bool) {
		for _, rec := range r.records[slug] {
			if !yield(&rec, nil) {
				return
			}
		}
	})
}

func (r *registry) Owner(_ context.Context, bearer, slug string) error {
	if slug != "" && bearer == "owner-"+slug {
		return nil
	}
	return bizhttp.ErrCredential
}

// testPages writes recognisable HTML for every page.
func testPages() *bizhttp.Pages {
	say := func(w io.Writer, format string, args ...any) error {
		_, err := fmt.Fprintf(w, format, args...)
		return err
	}
	return &bizhttp.Pages{
		Profile: func(w io.Writer, p bizhttp.Page, records []business.Record, more bool) error {
			return say(w, "<h1>profile %s preview=%t more=%t</h1><script type=\"application/ld+json\">%s</script>%s", p.Publication.Slug, p.Preview, more, p.JSONLD, records[0].URL)
		},
		Record: func(w io.Writer, p bizhttp.Page, r *business.Record) error {
			return say(w, "<h1>record %s</h1><script type=\"application/ld+json\">%s</script>", r.URL, p.JSONLD)
		},
		Verify: func(w io.Writer, p bizhttp.Page) error { return say(w, "<h1>verify %s</h1>", p.Info.Tenant) },
		Directory: func(w io.Writer, _ business.Site, list []*business.Publication, _ time.Time) error {
			return say(w, "<h1>directory %d</h1>", len(list))
		},
		Problem: func(w io.Writer, status int, code, _, requestID string) error {
			return say(w, "<h1>problem %d %s %s</h1>", status, code, requestID)
		},
		Assets: map[string][]byte{"style.css": []byte("body{}"), "js/verify.js": []byte("1")},
		CSP:    "default-src 'self'",
	}
}

// surface is the handler with its source.
type surface struct {
	*registry
	handler http.Handler
	faults  []error
}

func newSurface(t testing.TB) *surface {
	s := &surface{registry: newRegistry(t)}
	s.handler = bizhttp.Handler(bizhttp.HandlerOptions{Source: s.registry, Pages: testPages(), Report: func(_ *http.Request, cause error) { s.faults = append(s.faults, cause) }})
	return s
}

// ask sends one request; headers alternate name and value, with Host among them.
func (s *surface) ask(method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "registry.example"
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *surface) get(target string, headers ...string) *httptest.ResponseRecorder {
	return s.ask(http.MethodGet, target, headers...)
}

func decoded(t *testing.T, body []byte) object {
	t.Helper()
	var m object
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("no JSON object: %v\n%s", err, body)
	}
	return m
}

func codeOf(w *httptest.ResponseRecorder) string {
	var m struct{ Error string }
	json.Unmarshal(w.Body.Bytes(), &m)
	return m.Error
}
