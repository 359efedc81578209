package web

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sayso/facts"
)

// CSP is the Content-Security-Policy of every page.
const CSP = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// The pages of the surfaces, which share layout, parts and style and have a masthead and a colophon each. They are compiled when a surface is first asked for, not at the
// start of each command.
var (
	pages = sync.OnceValue(func() pageSet {
		return parsePages("/assets/", "frame_facts", "fact", "batch", "index", "changes", "resolve", "miss", "problem", "protocol")
	})
	registryPages = sync.OnceValue(func() pageSet {
		return parsePages("/assets/", "frame_registry", "directory", "profile", "record", "verify", "problem")
	})
)

// pageSet are the compiled pages of one surface by name.
type pageSet map[string]*template.Template

// parsePages compiles each page with the shared layout in a frame; style and icon are fetched below assets. A broken template is a programming error and stops the
// process. What hands out a surface calls it first, so that rendering cannot fail later for that reason.
func parsePages(assets, frame string, names ...string) pageSet {
	shared := template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"safeLink":  safeLink,
		"count":     count,
		"asset":     func(name string) string { return assets + name },
		"searchFor": func(static bool, query string) searchBox { return searchBox{static, query} },
	}).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", "templates/"+frame+".html"))
	set := make(pageSet, len(names))
	for _, name := range names {
		set[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return set
}

// searchBox is the search form: what it asks, and whether the site has a server to answer.
type searchBox struct {
	Static bool
	Query  string
}

// count is a number of things with its thousands set off. Figures of a publisher never pass through it.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// safeLink admits what a publisher's text may turn into a link: an absolute https URL.
func safeLink(url string) bool { return strings.HasPrefix(url, "https://") }

// Pages returns the renderers and assets of this package.
func Pages() *facts.Pages {
	pages()
	return &facts.Pages{
		Fact:     renderFact,
		Batch:    renderBatch,
		Index:    renderIndex,
		Changes:  renderChanges,
		Resolve:  renderResolve,
		Miss:     renderMiss,
		Problem:  renderProblem,
		Protocol: renderProtocol,
		Assets:   assets(),
		CSP:      CSP,
	}
}

func assets() map[string][]byte {
	files := make(map[string][]byte)
	sub, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	err = fs.WalkDir(sub, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(sub, path)
		return err
	})
	if err != nil {
		panic(err)
	}
	return files
}

// head is what the layout needs on every page.
type head struct {
	Title       string
	Description string
	Canonical   string // absolute URL, "" when the page has none
	NoIndex     bool
	Wide        bool // the page has two columns where there is room
	JSONLD      template.JS
	Alternates  []alternate
	Scripts     []string
	Modules     []string // scripts that import others
}

// site is what the frame of the facts pages needs besides.
type site struct {
	head
	Publisher facts.Publisher
	Static    bool
}

// alternate is another form of the same answer.
type alternate struct{ Type, Name, URL string }

func newSite(s *facts.Snapshot, title string) site {
	info := s.Info()
	return site{head: head{Title: title}, Publisher: info.Publisher, Static: info.Static}
}

// render renders a page of the facts.
func render(w io.Writer, page string, data any) error { return execute(w, pages()[page], data) }

// execute renders into a buffer first: a reader sees a whole page or none.
func execute(w io.Writer, page *template.Template, data any) error {
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// path is the link to a key's page on this site.
func path(info *facts.Info, key string) string {
	if info.Static {
		return "/f/" + key + ".html"
	}
	return "/f/" + key
}

// recordPath is what a program asks for a key's record.
func recordPath(info *facts.Info, key string) string {
	if info.Static {
		return jsonPath(info, key)
	}
	return path(info, key)
}

// jsonPath is the link to a key's record on this site.
func jsonPath(info *facts.Info, key string) string {
	if info.Static {
		return "/f/" + key + ".json"
	}
	return "/f/" + key + "?format=json"
}

type problemPage struct {
	site
	Status  int
	Reason  string
	Message string
}

func renderProblem(w io.Writer, s *facts.Snapshot, status int, title, message string) error {
	p := problemPage{Status: status, Reason: http.StatusText(status), Message: message}
	if s != nil {
		p.site = newSite(s, title)
	} else {
		p.site = site{head: head{Title: title}, Publisher: facts.Publisher{Name: "sayso", URL: ""}}
	}
	p.NoIndex = true
	return render(w, "problem", p)
}
