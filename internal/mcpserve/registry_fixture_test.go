package mcpserve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/business"
	engine "sayso/business/answer"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/internal/app"
	"sayso/internal/mcpserve"
	"sayso/jcs"
)

const registryOrigin = "https://registry.example"

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// fakeRegistry has the publishers north and south, which are published, and shut, which is not. Its answers name what was asked, so that an answer that reached
// the wrong caller shows. The methods of bizhttp.Source that no MCP request may need are nil.
type fakeRegistry struct {
	bizhttp.Source
	site business.Site
	pubs map[string]*business.Publication

	mu     sync.Mutex
	ask    func(ctx context.Context, slug, tool string, arguments jcs.Raw) ([]byte, error) // nil = answer
	unread error                                                                           // what every read returns
	asked  []string                                                                        // "slug tool arguments"
	causes []error                                                                         // what was reported
}

func newFakeRegistry() *fakeRegistry {
	f := &fakeRegistry{pubs: map[string]*business.Publication{}}
	f.site = business.Site{Origin: registryOrigin, ServerVersion: "1.2.3", ToolsServed: true, InputSchema: engine.InputSchema}
	f.add("north", "knowledge.search", "knowledge.get", "live.query")
	f.add("south", "hybrid.resolve", "branches.nearest", "knowledge.neighbors", "live.nearest")
	f.add("shut", "knowledge.search").Standing.Lifecycle = business.Paused
	return f
}

// add publishes a publisher whose tools are named after it and their handlers.
func (f *fakeRegistry) add(slug string, handlers ...string) *business.Publication {
	p := &business.Publication{
		Slug: slug, Hosts: []string{slug + ".example"},
		Profile: business.Profile{DisplayName: "The " + slug + " shop", ContentLanguages: []string{"en"}, BusinessCategory: "optician"},
		Schema:  jcs.Raw(`{"streams":[{"key":"` + slug + `-stock","kind":"count","max_age_seconds":600,"scoped_by":"location","sla_seconds":60,"subject":"product"}]}`),
		Standing: business.Standing{Lifecycle: business.Published,
			Proof: &business.DomainProof{Host: slug + ".example", Method: business.MethodDNS, VerifiedAt: noon.Add(-time.Hour), ValidUntil: noon.Add(time.Hour)}},
	}
	for _, h := range handlers {
		p.Profile.Tools = append(p.Profile.Tools, business.Tool{Name: slug + "." + h[strings.Index(h, ".")+1:], Handler: h, Description: "Of " + slug + "."})
	}
	p.Prepare()
	f.pubs[slug] = p
	return p
}

func (f *fakeRegistry) Now() time.Time      { return noon }
func (f *fakeRegistry) Site() business.Site { return f.site }

func (f *fakeRegistry) Publication(_ context.Context, slug string) (*business.Publication, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unread != nil {
		return nil, f.unread
	}
	if p := f.pubs[slug]; p != nil {
		return p, nil
	}
	return nil, bizhttp.ErrUnknown
}

func (f *fakeRegistry) ByHost(ctx context.Context, host string) (*business.Publication, error) {
	return f.Publication(ctx, strings.TrimSuffix(host, ".example"))
}

func (f *fakeRegistry) Publications(context.Context) ([]*business.Publication, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unread != nil {
		return nil, f.unread
	}
	var all []*business.Publication
	for _, p := range f.pubs {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *business.Publication) int { return strings.Compare(a.Slug, b.Slug) })
	return all, nil
}

func (f *fakeRegistry) Owner(_ context.Context, bearer, slug string) error {
	if slug == "" || bearer != "owner-"+slug {
		return bizhttp.ErrCredential
	}
	return nil
}

func (f *fakeRegistry) Ask(ctx context.Context, slug, tool string, arguments jcs.Raw) ([]byte, error) {
	f.mu.Lock()
	ask := f.ask
	f.asked = append(f.asked, slug+" "+tool+" "+string(arguments))
	f.mu.Unlock()
	if ask != nil {
		return ask(ctx, slug, tool, arguments)
	}
	return f.answer(slug, tool, arguments)
}

// answer is an envelope in all but the signature: what the endpoint must carry unharmed.
func (f *fakeRegistry) answer(slug, tool string, arguments jcs.Raw) ([]byte, error) {
	if !slices.ContainsFunc(f.pubs[slug].Profile.Tools, func(t business.Tool) bool { return t.Name == tool }) {
		return nil, app.ErrNoTool
	}
	if strings.Contains(string(arguments), "asOf") {
		return nil, &coverage.CallError{Code: "invalid_arguments", Path: "/asOf", Message: "/asOf: the member \"asOf\" is not known; use query, limit"}
	}
	if arguments == nil {
		arguments = jcs.Raw("{}")
	}
	return jcs.Encode(struct {
		Publisher string  `json:"publisher"`
		Tool      string  `json:"tool"`
		Arguments jcs.Raw `json:"arguments"`
		Text      string  `json:"text"`
		Coverage  jcs.Raw `json:"coverage"`
	}{slug, tool, arguments, "<b> & \u2028 \U0001F600 \\ \"", jcs.Raw(`{"status":"not_covered","n":50.0}`)})
}

func (f *fakeRegistry) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// tools are the endpoints over a registry, with the sample facts.
func (f *fakeRegistry) tools() *mcpserve.RegistryTools {
	return mcpserve.NewRegistry(mcpserve.RegistryOptions{
		Registry: f, Version: "1.2.3", Facts: sample, Today: func() facts.Date { return factstest.Today },
		Report: func(_ *http.Request, cause error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.causes = append(f.causes, cause)
		},
	})
}

// surface is the business surface around them: what judges publisher, Host and credential.
func (f *fakeRegistry) surface() http.Handler {
	return bizhttp.Handler(bizhttp.HandlerOptions{Source: f, Call: f.tools().ServeCall})
}

// to aims a request at a path, of the registry's own host.
func to(path string, edits ...func(*http.Request)) func(*http.Request) {
	return func(r *http.Request) {
		r.URL.Path, r.Host = path, "registry.example"
		for _, edit := range edits {
			if edit != nil {
				edit(r)
			}
		}
	}
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// statelessCall is a tools/call of revision 2026-07-28.
func statelessCall(id, tool, args string) (body string, edit func(*http.Request)) {
	return strings.Replace(call(id, tool, args), `"params":{`, `"params":{`+statelessMeta+`,`, 1), stateless("tools/call", tool)
}

// at is a call at a revision.
func at(revision, id, tool, args string) (string, func(*http.Request)) {
	if revision == "2026-07-28" {
		return statelessCall(id, tool, args)
	}
	return call(id, tool, args), revisionHeader(revision)
}

var revisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

var errBoom = errors.New("boom: secret-dsn")

// direct serves one endpoint without the surface around it; an error is written as its text with status 599.
func direct(serve func(http.ResponseWriter, *http.Request, *business.Publication) error, p *business.Publication) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serve(w, r, p); err != nil {
			http.Error(w, fmt.Sprint(err), 599)
		}
	})
}
