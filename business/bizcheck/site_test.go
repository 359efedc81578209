package bizcheck_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bizcheck"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/jcs"
	"sayso/report"
	"sayso/safefetch"
)

// origin and shopHost are names of the certificate that httptest serves with.
const (
	origin   = "https://registry.example.com"
	shopHost = "shop.example.com"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

type object = map[string]any

type signer struct {
	kid string
	key ed25519.PrivateKey
}

// signerOf makes a key of a name, so that every run signs the same bytes.
func signerOf(kid string) signer {
	seed := sha256.Sum256([]byte(kid))
	return signer{kid, ed25519.NewKeyFromSeed(seed[:])}
}

func (s signer) Kid() string                          { return s.kid }
func (s signer) Public() ed25519.PublicKey            { return s.key.Public().(ed25519.PublicKey) }
func (s signer) Sign(digest [32]byte) ([]byte, error) { return ed25519.Sign(s.key, digest[:]), nil }

// reply is an answer before it is sent, for a test to spoil.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// site is a registry in memory that signs for real, behind the real surface.
type site struct {
	pubs    map[string]*business.Publication
	records map[string][]business.Record
	origin  string
	root    signer // signs registry keys; what readers pin is root-1
	signing signer // of manifests
	lists   signer // of revocation lists
	now     time.Time
	listed  time.Time // when lists are issued
	life    time.Duration
	revoked map[string][]business.RevocationEntry

	keys     func(d object)              // registry-keys.json, as served
	jwks     func(d object)              // jwks.json, as served
	draft    func(m object)              // a manifest before it is signed
	manifest func(m object)              // the same as served
	list     func(slug string, l object) // a list before it is signed
	spoil    func(r *http.Request, a *reply)

	hear     func(call coverage.Call) jcs.Raw           // the arguments that are answered
	envelope func(call coverage.Call, o object)         // an envelope before it is signed
	result   func(method string, params, result object) // the result of a JSON-RPC request, as served
	ageOf    time.Duration                              // of live readings
	compiled map[string]*answer.Compiled                // by slug, of the first call

	handler http.Handler
	seen    []string // method and path of every request
}

func newSite() *site {
	s := &site{
		pubs: map[string]*business.Publication{}, records: map[string][]business.Record{}, root: signerOf("root-1"), signing: signerOf("registry-1"), lists: signerOf("registry-1"),
		origin: origin, now: noon, listed: noon, revoked: map[string][]business.RevocationEntry{}, life: business.ManifestLife,
		compiled: map[string]*answer.Compiled{},
	}
	s.add("shop", business.Published)
	s.add("shut", business.Paused)
	s.handler = bizhttp.Handler(bizhttp.HandlerOptions{Source: s, Call: s.call, Pages: &bizhttp.Pages{
		Profile: func(w io.Writer, p bizhttp.Page, _ []business.Record, _ bool) error {
			_, err := fmt.Fprintf(w, "<html><h1>%s</h1><script>1</script><script type=\"application/ld+json\">%s</script>", p.Publication.Slug, p.JSONLD)
			return err
		},
	}})
	return s
}

func (s *site) add(slug string, state business.Lifecycle) {
	s.pubs[slug] = &business.Publication{
		Slug: slug, Revision: 1,
		Profile: business.Profile{
			DisplayName: "Bosch & <Söhne> " + slug, LegalName: "Shop GmbH", ContentLanguages: []string{"de"}, Website: "https://www.example.com/", BusinessCategory: "optician",
			ProfileAttributes: jcs.Raw(`{"note":"Bitte klingeln","parking":true,"pool":false}`),
			Locations: []business.Location{
				{ID: "main", Primary: true, Name: "Main", StreetAddress: "Weg 1", Locality: "Köln", CountryCode: "DE", Phone: "+49 221 1", OpeningHours: "Mo-Fr 09:00-17:00",
					Latitude: jcs.Raw("50.9375"), Longitude: jcs.Raw("6.96030")},
				{ID: "east", Name: "East", Locality: "Bonn", CountryCode: "DE", Phone: "+49 228 2", OpeningHours: "Mo-Fr 10:00-18:00", Latitude: jcs.Raw("50.73"), Longitude: jcs.Raw("7.10")},
			},
			Tools: tools(),
		},
		Standing: business.Standing{Region: "eu", Lifecycle: state,
			Proof: &business.DomainProof{Host: slug + ".example.com", Method: business.MethodDNS, VerifiedAt: noon.Add(-time.Hour), ValidUntil: noon.Add(24 * time.Hour)}},
		State:           business.State{Generation: 3, ContentHash: "sha256:" + strings.Repeat("ab", 32), ChangedAt: noon.Add(-time.Hour)},
		DataLastUpdated: noon.Add(-2 * time.Hour), Hosts: []string{slug + ".example.com"},
		Schema: jcs.Raw(shopSchema), Types: []business.TypeCount{{Type: "product", Count: 1}, {Type: "service", Count: 2}},
	}
	s.records[slug] = []business.Record{
		{ID: "frame", Type: "product", Title: "Frame", Summary: "Titan, sechs Gramm", Attributes: jcs.Raw(`{"colour":"tiefschwarz, matt","price":120.50}`), UpdatedAt: noon.Add(-2 * time.Hour), VerifiedAt: noon.Add(-time.Hour)},
		{ID: "a/b c", Type: "service", Title: "Slash", UpdatedAt: noon.Add(-2 * time.Hour), VerifiedAt: noon.Add(-time.Hour)},
		{ID: "exam", Type: "service", Title: "Eye exam", UpdatedAt: noon.Add(-2 * time.Hour), VerifiedAt: noon.Add(-2 * time.Hour)},
	}
}

func (s *site) Now() time.Time { return s.now }
func (s *site) Site() business.Site {
	return business.Site{Origin: s.origin, ServerVersion: "1.2.3", ToolsServed: true}
}

func (s *site) Publication(_ context.Context, slug string) (*business.Publication, error) {
	if p := s.pubs[slug]; p != nil {
		return p, nil
	}
	return nil, bizhttp.ErrUnknown
}

func (s *site) ByHost(ctx context.Context, host string) (*business.Publication, error) {
	return s.Publication(ctx, strings.TrimSuffix(host, ".example.com"))
}

func (s *site) Publications(context.Context) (out []*business.Publication, _ error) {
	for _, slug := range slices.Sorted(maps.Keys(s.pubs)) {
		out = append(out, s.pubs[slug])
	}
	return out, nil
}

func served(body []byte, err error) (*bizhttp.Document, error) {
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &bizhttp.Document{Body: body, ETag: `"` + hex.EncodeToString(sum[:8]) + `"`}, nil
}

// edited passes a JSON text through f.
func edited(body []byte, f func(object)) []byte {
	if f == nil {
		return body
	}
	var m object
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		panic(err)
	}
	f(m)
	out, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return out
}

func (s *site) keysURL() string { return s.Site().RegistryKeysURL() }

func (s *site) signed(slug string, by signer) ([]byte, error) {
	text, err := jcs.Encode(s.pubs[slug].Manifest(s.Site(), s.now))
	if err != nil {
		return nil, err
	}
	return business.SignDocument(edited(text, s.draft), business.Signing{Signer: by, SignedAt: s.now, ExpiresAt: s.now.Add(s.life), KeysURL: s.keysURL(), KeysName: "registry_keys_url"})
}

func (s *site) Manifest(_ context.Context, slug string) (*bizhttp.Document, error) {
	if s.pubs[slug] == nil {
		return nil, bizhttp.ErrUnknown
	}
	body, err := s.signed(slug, s.signing)
	if err != nil {
		return nil, err
	}
	return served(edited(body, s.manifest), nil)
}

func publisherKey(slug string) signer {
	k := signerOf(slug)
	k.kid = business.PublisherKid(slug, k.Public())
	return k
}

func (s *site) PublisherKeys(_ context.Context, slug string) (*bizhttp.Document, error) {
	if s.pubs[slug] == nil {
		return nil, bizhttp.ErrUnknown
	}
	k := publisherKey(slug)
	entry, err := business.Attest(k.Public(), k.kid, slug, noon.Add(-time.Hour).Format(time.RFC3339), s.lists, s.keysURL(), noon.Add(-time.Minute))
	if err != nil {
		return nil, err
	}
	body, err := jcs.Encode(business.PublisherKeys{Keys: []business.PublisherKey{entry}})
	return served(edited(body, s.jwks), err)
}

func (s *site) PublisherRevocations(_ context.Context, slug string) (*bizhttp.Document, error) {
	if s.list == nil {
		return served(business.RevocationList(slug, s.revoked[slug], s.lists, s.keysURL(), s.listed))
	}
	l := object{"registry": business.Family, "issued_at": s.listed, "max_age_seconds": 900, "entries": []any{}}
	if slug != "" {
		l["publisher"] = slug
	}
	s.list(slug, l)
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return served(business.SignDocument(text, business.Signing{Signer: s.lists, SignedAt: s.listed, KeysURL: s.keysURL(), KeysName: "registry_keys_url"}))
}

func (s *site) RegistryRevocations(ctx context.Context) (*bizhttp.Document, error) {
	return s.PublisherRevocations(ctx, "")
}

func (s *site) RegistryKeys(context.Context) (*bizhttp.Document, error) {
	entry, err := business.NewRegistryKey(s.lists.kid, business.RoleSigning, s.lists.Public(), noon.Add(-time.Hour), noon.Add(365*24*time.Hour))
	if err != nil {
		return nil, err
	}
	if entry, err = business.SignEntry(entry, business.Family, s.root, noon.Add(-time.Hour)); err != nil {
		return nil, err
	}
	body, err := jcs.Encode(business.RegistryKeys{Registry: business.Family, IssuedAt: noon, MaxAgeSeconds: 900, Keys: []business.RegistryKey{entry}})
	return served(edited(body, s.keys), err)
}

func (s *site) Record(_ context.Context, slug, typ, id string) (*business.Record, error) {
	for _, r := range s.records[slug] {
		if r.Type == typ && r.ID == id {
			return &r, nil
		}
	}
	return nil, bizhttp.ErrNoRecord
}

func (s *site) RecordPage(_ context.Context, slug, typ, afterType, afterID string, limit int) (out []business.Record, _ error) {
	for _, r := range s.records[slug] {
		if len(out) < limit && (r.Type > afterType || r.Type == afterType && r.ID > afterID) && (typ == "" || typ == r.Type) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (s *site) Dump(_ context.Context, slug string, f func(*business.Publication, iter.Seq2[*business.Record, error]) error) error {
	return f(s.pubs[slug], func(yield func(*business.Record, error) bool) {
		for _, r := range s.records[slug] {
			if !yield(&r, nil) {
				return
			}
		}
	})
}

func (s *site) Owner(context.Context, string, string) error { return bizhttp.ErrCredential }

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.seen = append(s.seen, r.Method+" "+r.URL.Path)
	rec := httptest.NewRecorder()
	s.handler.ServeHTTP(rec, r)
	a := &reply{rec.Code, rec.Header(), rec.Body.Bytes()}
	if s.spoil != nil {
		s.spoil(r, a)
	}
	a.header.Del("Content-Length")
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		w.Write(a.body)
	}
}

var public = netip.MustParseAddr("93.184.216.34")

type policy = safefetch.Policy

func (s *site) client(t *testing.T) *safefetch.Client {
	return s.clientOf(t, func(p policy) policy { return p })
}

// clientOf plays the public internet: every name of example.com is this site.
func (s *site) clientOf(t *testing.T, change func(policy) policy) *safefetch.Client {
	t.Helper()
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	policy := change(bizcheck.Bounds())
	policy.Roots = x509.NewCertPool()
	policy.Roots.AddCert(server.Certificate())
	policy.Lookup = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{public}, nil }
	policy.StandIns = map[netip.AddrPort]netip.AddrPort{netip.AddrPortFrom(public, 443): netip.MustParseAddrPort(server.Listener.Addr().String())}
	c := safefetch.New(policy)
	t.Cleanup(c.Close)
	return c
}

func (s *site) options(t *testing.T) bizcheck.Options {
	pinned := signerOf("root-1")
	return bizcheck.Options{Fetch: s.client(t), Clock: func() time.Time { return noon.Add(time.Minute) }, Root: &business.Root{Kid: pinned.kid, Public: pinned.Public()}}
}

func (s *site) check(t *testing.T, target string) *report.Report {
	t.Helper()
	return bizcheck.Check(t.Context(), target, s.options(t))
}

// broken are the rules that a report fails or warns of.
func broken(findings []report.Finding) []string {
	var out []string
	for _, f := range findings {
		if f.Outcome == report.Fail || f.Outcome == report.Warning {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func passed(findings []report.Finding) []string {
	var out []string
	for _, f := range findings {
		if f.Outcome == report.Pass {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// show lists what is broken.
func show(r *report.Report) string {
	short := *r
	short.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f report.Finding) bool { return f.Outcome == report.NotTested || f.Outcome == report.Pass })
	var b strings.Builder
	short.WriteText(&b, report.TextOptions{})
	return b.String()
}
