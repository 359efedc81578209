package browser

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/bundle"
	"sayso/internal/web"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/oracle/tools"
)

// signer is a key made of a name, so that every run signs alike.
type signer struct {
	kid string
	key ed25519.PrivateKey
}

func signerOf(kid string) signer {
	seed := sha256.Sum256([]byte("browser " + kid))
	return signer{kid, ed25519.NewKeyFromSeed(seed[:])}
}

func (s signer) Kid() string                          { return s.kid }
func (s signer) Public() ed25519.PublicKey            { return s.key.Public().(ed25519.PublicKey) }
func (s signer) Sign(digest [32]byte) ([]byte, error) { return ed25519.Sign(s.key, digest[:]), nil }

func documentOf(b []byte, e error) (*bizhttp.Document, error) {
	sum := sha256.Sum256(b)
	return &bizhttp.Document{Body: b, ETag: `"` + hex.EncodeToString(sum[:8]) + `"`}, e
}

// registry is a Source over the sample businesses. Its clock is the computer's, because the browser's is.
type registry struct {
	origin        string
	pubs          []*business.Publication
	records       map[string][]business.Record
	root, signing signer
	withdrawn     []business.RevocationEntry // of every publisher's own list
}

// sample reads one bundle of the examples.
func (r *registry) sample(t testing.TB, slug string) *business.Publication {
	t.Helper()
	dir := filepath.Join(tools.Root(), "examples", "business", slug)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	profile, problems := bundle.Profile(read("publisher.json"), "publisher.json")
	if profile == nil {
		t.Fatal(problems)
	}
	schemaText := read("schema.json")
	schema, err := business.ParseSchema(schemaText)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	p := &business.Publication{
		Slug: slug, Revision: 1, Profile: *profile, Schema: schemaText,
		Standing: business.Standing{Region: "eu", Lifecycle: business.Published,
			Proof: &business.DomainProof{Host: slug + ".example", Method: business.MethodDNS, VerifiedAt: now.Add(-18 * 24 * time.Hour), ValidUntil: now.Add(72 * 24 * time.Hour)}},
		State: business.State{Generation: 4, ContentHash: "sha256:" + strings.Repeat("3f9c", 16), ChangedAt: now.Add(-50 * time.Hour)},
	}
	if site, ok := strings.CutPrefix(profile.Website, "https://"); ok {
		p.Standing.Proof.Host = strings.TrimSuffix(site, "/")
	}
	files, err := filepath.Glob(filepath.Join(dir, "records.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		format, _ := bundle.FormatOf(file)
		for rec, problem := range bundle.Records(bytes.NewReader(read(filepath.Base(file))), filepath.Base(file), format, bundle.Options{Publisher: slug, Schema: schema}) {
			if rec == nil {
				t.Fatal(problem)
			}
			r.records[slug] = append(r.records[slug], *rec)
		}
	}
	for i := range r.records[slug] {
		if rec := &r.records[slug][i]; i%2 == 0 {
			rec.UpdatedAt = now.Add(-time.Duration(3+i) * 24 * time.Hour)
		}
	}
	r.setRecords(p, r.records[slug])
	r.pubs = append(r.pubs, p)
	return p
}

func (r *registry) setRecords(p *business.Publication, records []business.Record) {
	slices.SortFunc(records, func(a, b business.Record) int {
		return strings.Compare(a.Type+"\x00"+a.ID, b.Type+"\x00"+b.ID)
	})
	r.records[p.Slug], p.Types = records, nil
	for _, rec := range records {
		if n := len(p.Types); n == 0 || p.Types[n-1].Type != rec.Type {
			p.Types = append(p.Types, business.TypeCount{Type: rec.Type})
		}
		p.Types[len(p.Types)-1].Count++
		if rec.UpdatedAt.After(p.DataLastUpdated) {
			p.DataLastUpdated = rec.UpdatedAt
		}
	}
}

func (r *registry) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
func (r *registry) Site() business.Site {
	return business.Site{Origin: r.origin, ServerVersion: "test"}
}

func (r *registry) Publication(_ context.Context, slug string) (*business.Publication, error) {
	for _, p := range r.pubs {
		if p.Slug == slug {
			return p, nil
		}
	}
	return nil, bizhttp.ErrUnknown
}

func (r *registry) ByHost(context.Context, string) (*business.Publication, error) {
	return nil, bizhttp.ErrUnknown
}
func (r *registry) Publications(context.Context) ([]*business.Publication, error) { return r.pubs, nil }

func (r *registry) Manifest(ctx context.Context, slug string) (*bizhttp.Document, error) {
	p, err := r.Publication(ctx, slug)
	if err != nil {
		return nil, err
	}
	now := r.Now()
	text, err := jcs.Encode(p.Manifest(r.Site(), now))
	if err != nil {
		return nil, err
	}
	return documentOf(business.SignDocument(text, business.Signing{Signer: r.signing, SignedAt: now, ExpiresAt: now.Add(business.ManifestLife),
		KeysURL: r.Site().RegistryKeysURL(), KeysName: "registry_keys_url"}))
}

func (r *registry) PublisherKeys(_ context.Context, slug string) (*bizhttp.Document, error) {
	s := signerOf(slug)
	now := r.Now()
	entry, err := business.Attest(s.Public(), business.PublisherKid(slug, s.Public()), slug, now.Format(time.RFC3339), r.signing, r.Site().RegistryKeysURL(), now)
	if err != nil {
		return nil, err
	}
	return documentOf(jcs.Encode(business.PublisherKeys{Keys: []business.PublisherKey{entry}}))
}

func (r *registry) PublisherRevocations(_ context.Context, slug string) (*bizhttp.Document, error) {
	return documentOf(business.RevocationList(slug, r.withdrawn, r.signing, r.Site().RegistryKeysURL(), r.Now()))
}

func (r *registry) RegistryRevocations(context.Context) (*bizhttp.Document, error) {
	return documentOf(business.RevocationList("", nil, r.signing, r.Site().RegistryKeysURL(), r.Now()))
}

func (r *registry) RegistryKeys(context.Context) (*bizhttp.Document, error) {
	now := r.Now()
	from, until := now.Add(-24*time.Hour), now.Add(365*24*time.Hour)
	root, err := business.NewRegistryKey(r.root.kid, business.RoleRoot, r.root.Public(), from, until)
	if err != nil {
		return nil, err
	}
	entry, err := business.NewRegistryKey(r.signing.kid, business.RoleSigning, r.signing.Public(), from, until)
	if err != nil {
		return nil, err
	}
	if entry, err = business.SignEntry(entry, business.Family, r.root, now); err != nil {
		return nil, err
	}
	return documentOf(jcs.Encode(business.RegistryKeys{Registry: business.Family, IssuedAt: now, MaxAgeSeconds: 900, Keys: []business.RegistryKey{root, entry}}))
}

func (r *registry) Record(_ context.Context, slug, typ, id string) (*business.Record, error) {
	for i := range r.records[slug] {
		if rec := &r.records[slug][i]; rec.Type == typ && rec.ID == id {
			return rec, nil
		}
	}
	return nil, bizhttp.ErrNoRecord
}

func (r *registry) RecordPage(_ context.Context, slug, typ, afterType, afterID string, limit int) ([]business.Record, error) {
	var out []business.Record
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
		for i := range r.records[slug] {
			if !yield(&r.records[slug][i], nil) {
				return
			}
		}
	})
}

func (r *registry) Owner(context.Context, string, string) error { return bizhttp.ErrCredential }

// rootJWK is what a reader pins.
func (r *registry) rootJWK() string {
	text, err := json.Marshal(map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": r.root.kid, "x": jwk.EncodeBase64URL(r.root.Public())})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// serveRegistry serves the samples; tamper may change a body on its way out.
func serveRegistry(t testing.TB, tamper func(path, body string) string) *registry {
	t.Helper()
	r := &registry{records: map[string][]business.Record{}, root: signerOf("root-1"), signing: signerOf("registry-1")}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if tamper == nil {
			handler.ServeHTTP(w, req)
			return
		}
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		for name, values := range rec.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(rec.Code)
		w.Write([]byte(tamper(req.URL.Path, rec.Body.String())))
	}))
	t.Cleanup(server.Close)
	r.origin = server.URL
	for _, slug := range []string{"brightwater-opticians", "hammer-and-nail", "hotel-alpenblick", "kessler-garage", "marina-dental", "open-stores", "weekly-markets"} {
		r.sample(t, slug)
	}
	handler = bizhttp.Handler(bizhttp.HandlerOptions{Source: r, Pages: web.BusinessPages(), Report: func(_ *http.Request, cause error) { t.Error(cause) }})
	return r
}
