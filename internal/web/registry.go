package web

import (
	"bytes"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
)

// Bounds of the registry's pages: what is cut off is counted on the page and leads to the document that has all.
const (
	maxListed     = 500       // businesses of the directory
	maxPlaces     = 100       // locations of a profile
	maxOpenPlaces = 6         // locations shown open; more are folded
	maxJSONLD     = 128 << 10 // bytes of a JSON-LD block; a longer one is left out
)

// BusinessPages returns the renderers and assets of the registry's pages. What they show comes from a Publication, which holds
// no account, and is cut to what its manifest may state.
func BusinessPages() *bizhttp.Pages {
	registryPages()
	return &bizhttp.Pages{
		Profile:   renderProfile,
		Record:    renderRecord,
		Verify:    renderVerify,
		Directory: renderDirectory,
		Problem:   renderRegistryProblem,
		Assets:    assets(),
		CSP:       CSP,
	}
}

func renderRegistry(w io.Writer, page string, data any) error {
	return execute(w, registryPages()[page], data)
}

// frame is what the frame of the registry's pages needs. Profile and VerifyPath are "" outside a publisher's pages, AskPath also where nobody answers.
type frame struct {
	head
	Profile    string
	AskPath    string
	VerifyPath string
}

// publisherFrame is the frame of a page about one publisher.
type publisherFrame struct {
	frame
	Name    string
	Lang    string // language the business writes in, "" when it states none
	Preview bool
	At      locators
}

// locators are paths on this origin: every host of the registry serves them, and a browser asks no other.
type locators struct {
	Manifest, Keys, Revocations, RegistryKeys, RegistryRevocations string
	Export, LLMs, Sitemap                                          string
}

func newFrame(p *bizhttp.Page, title string) publisherFrame {
	e := p.Site.Locators(p.Publication)
	f := publisherFrame{
		Name: p.Info.DisplayName, Lang: language(&p.Info), Preview: p.Preview,
		At: locators{
			Manifest: pathOf(e.Manifest), Keys: pathOf(e.JWKS), Revocations: pathOf(e.Revocations),
			RegistryKeys: pathOf(p.Site.RegistryKeysURL()), RegistryRevocations: pathOf(p.Site.RegistryRevocationsURL()),
			Export: pathOf(e.BulkExport), LLMs: pathOf(e.LLMsTxt), Sitemap: pathOf(e.Sitemap),
		},
	}
	f.Title, f.NoIndex = title, p.Preview
	f.Profile = p.Publication.Base()
	if e.MCP != "" && p.Publication.Standing.IsPublished(p.Now) {
		f.AskPath = f.Profile + "#ask"
	}
	f.VerifyPath = f.Profile + "/verify"
	f.JSONLD = dataBlock(p.JSONLD)
	return f
}

// language is the primary language of the business when it can stand in a lang attribute.
func language(info *business.Info) string {
	if business.ValidLanguage(info.ContentLanguage) {
		return info.ContentLanguage
	}
	return ""
}

// pathOf is the path of a URL the site built, "" for anything else.
func pathOf(absolute string) string {
	u, err := url.Parse(absolute)
	if err != nil || !strings.HasPrefix(u.EscapedPath(), "/") || strings.HasPrefix(u.EscapedPath(), "//") {
		return ""
	}
	return u.EscapedPath()
}

// dataBlock is a JSON-LD text that may stand in a script element. In JSON "<" occurs in strings only, where its escape is the
// same text; without it nothing can end the element or open a comment.
func dataBlock(text []byte) template.JS {
	if len(text) > maxJSONLD {
		return ""
	}
	return template.JS(bytes.ReplaceAll(text, []byte("<"), []byte(`\u003c`)))
}

// moment is an instant for people and for programs.
type moment struct{ Words, ISO string }

func dayOf(t time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	return moment{t.UTC().Format("2 January 2006"), t.UTC().Format(time.DateOnly)}
}

func minuteOf(t time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	t = t.UTC().Truncate(time.Minute)
	return moment{t.Format("2 January 2006, 15:04 UTC"), t.Format(time.RFC3339)}
}

// evidence is what the registry found about the authority of a business. It never says that a business is verified: a domain
// proof is control over a host, an operator verification is a recorded decision (X§7.2, X§7.4).
type evidence struct {
	Host, Method string // of a current domain proof
	Operators    bool   // a recorded verification without a domain
	Since, Until moment
	Badge        string
}

func (e evidence) Proven() bool { return e.Host != "" || e.Operators }

// Short is the evidence in one line.
func (e evidence) Short() string {
	switch {
	case e.Host != "":
		return "control of " + e.Host
	case e.Operators:
		return "recorded by two operators of the registry"
	}
	return "authority not proven"
}

func evidenceOf(p *business.Publication, info *business.Info, site business.Site, now time.Time) evidence {
	v := p.Manifest(site, now).Verification
	e := evidence{Host: info.ProvenDomain, Since: dayOf(info.AuthorityVerifiedAt), Until: dayOf(v.ValidUntil), Badge: v.BadgeText}
	switch info.VerificationMethod {
	case business.MethodDNS:
		e.Method = "a record in its DNS"
	case business.MethodWellKnown:
		e.Method = "a file on its web server"
	}
	e.Operators = e.Host == "" && !info.AuthorityVerifiedAt.IsZero()
	return e
}

type directoryPage struct {
	frame
	Count   int
	Entries []directoryEntry
	More    int // how many are not shown
	Query   string
}

type directoryEntry struct {
	Name, URL, Lang, Category, Place string
	MorePlaces                       int // besides the primary one
	Evidence                         evidence
}

func renderDirectory(w io.Writer, s business.Site, list []*business.Publication, now time.Time) error {
	d := directoryPage{Count: len(list), Query: pathOf(s.QueryURL())}
	d.Title = "Businesses of this registry"
	d.Description = "Businesses that publish statements here, with what the registry found about their authority."
	d.More = max(0, len(list)-maxListed)
	for _, p := range list[:len(list)-d.More] {
		info := p.Info(now)
		e := directoryEntry{
			Name: info.DisplayName, URL: p.Base(), Lang: language(&info), Category: categoryOf(p, &info),
			MorePlaces: max(0, len(info.Locations)-1), Evidence: evidenceOf(p, &info, s, now),
		}
		for i := range info.Locations {
			if l := &info.Locations[i]; l.Primary {
				e.Place = shortPlace(l)
			}
		}
		d.Entries = append(d.Entries, e)
	}
	return renderRegistry(w, "directory", &d)
}

type verifyPage struct {
	publisherFrame
	Slug        string
	ManifestURL string // absolute: what a program is given
}

func renderVerify(w io.Writer, p bizhttp.Page) error {
	v := verifyPage{publisherFrame: newFrame(&p, "Verify "+p.Info.DisplayName), Slug: p.Publication.Slug, ManifestURL: p.Site.Locators(p.Publication).Manifest}
	v.Description = "Check who signed the manifest of " + p.Info.DisplayName + ", in your own browser or with a program."
	v.Modules = []string{"/assets/xppage.js"}
	return renderRegistry(w, "verify", &v)
}

type registryProblem struct {
	frame
	Status                           int
	Reason, Code, Message, RequestID string
}

func renderRegistryProblem(w io.Writer, status int, code, message, requestID string) error {
	p := registryProblem{Status: status, Reason: http.StatusText(status), Code: code, Message: message, RequestID: requestID}
	p.Title, p.NoIndex = p.Reason, true
	if p.Title == "" {
		p.Title = "Refused"
	}
	return renderRegistry(w, "problem", &p)
}

// joined joins what is not empty.
func joined(separator string, parts ...string) string {
	var stated []string
	for _, part := range parts {
		if part != "" {
			stated = append(stated, part)
		}
	}
	return strings.Join(stated, separator)
}
