package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sayso/internal/agent"
	"sayso/internal/app"
)

// inboxPages are served on the private listener, where nothing lies outside of /inbox: their style is fetched from there.
var inboxPages = sync.OnceValue(func() pageSet { return parsePages("/inbox/assets/", "frame_inbox", "inbox", "inbox_entry", "problem") })

// Decisions is what the inbox asks of an agent.
type Decisions interface {
	Inbox(ctx context.Context, all bool, principals ...string) ([]agent.EntryView, error)
	Principals(ctx context.Context) ([]string, error)
	Entry(ctx context.Context, id string) (agent.EntryView, error)
	Decide(ctx context.Context, id string, d agent.Decision) (agent.EntryView, error)
}

// InboxOptions configure the inbox. All but Report are required.
type InboxOptions struct {
	Agent Decisions
	// Secret makes the tokens of the forms: 32 random bytes of this process, so that a form outlives no restart.
	Secret []byte
	Now    func() time.Time
	// Report gets the cause of an answer that could not be made; nil drops it. The pages never show it.
	Report func(cause error)
}

const (
	inboxBase     = "/inbox"
	maxForm       = 16 << 10
	formLife      = 12 * time.Hour // a form that lay open for longer has to be looked at again
	inboxProblems = "the inbox could not be read; nothing was changed"
)

// InboxHandler serves the decisions that wait for a Principal, below /inbox of the private listener (sec. 9.4): a list, and one page for each entry with
// what is asked, by whom, what exactly would leave, until when, and what stays secret either way. The pages need no script. The list of a folder that several principals
// share says whose each decision is, and ?principal=REF narrows it to one.
//
// A decision is a POST of the form on the page of its entry. It is refused, and nothing is decided, unless it comes from a page of this listener: browsers say
// so in Sec-Fetch-Site and Origin, and the form carries a token of this process and of the entry, which no other site can read. Whether the Host is one of this
// listener is the server's to check.
func InboxHandler(o InboxOptions) http.Handler {
	inboxPages()
	s := &inbox{o, assets()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /inbox", s.list)
	mux.HandleFunc("GET /inbox/{id}", s.entry)
	mux.HandleFunc("POST /inbox/{id}", s.decide)
	mux.HandleFunc("GET /inbox/assets/{name}", s.asset)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			s.problem(w, http.StatusMethodNotAllowed, "method_not_allowed", "This method is not offered here.")
			return
		}
		s.problem(w, http.StatusNotFound, "not_found", "There is no such page.")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", CSP)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Without a referrer a browser would send no Origin with the forms either.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		mux.ServeHTTP(w, r)
	})
}

type inbox struct {
	InboxOptions
	files map[string][]byte
}

type inboxFrame struct{ head }

type inboxList struct {
	inboxFrame
	All     bool
	Waiting string // "2 decisions wait"
	Entries []inboxEntry
	// Of a folder that several principals share.
	Principals []inboxPrincipal
	Whole      string // URL of the list for all of them, when it is narrowed
}

// inboxPrincipal leads to the list of one principal.
type inboxPrincipal struct {
	Name, URL string
	Here      bool
}

// nobodyNamed stands for a principal whose interests name none.
const nobodyNamed = "nobody named"

// narrowed is the address of a list.
func narrowed(all bool, principals ...string) string {
	q := url.Values{}
	if all {
		q.Set("all", "1")
	}
	for _, ref := range principals {
		q.Add("principal", ref)
	}
	if len(q) == 0 {
		return inboxBase
	}
	return inboxBase + "?" + q.Encode()
}

func (s *inbox) list(w http.ResponseWriter, r *http.Request) {
	all, only := r.URL.Query().Get("all") == "1", r.URL.Query()["principal"]
	principals, err := s.Agent.Principals(r.Context())
	if err != nil {
		s.failed(w, err)
		return
	}
	views, err := s.Agent.Inbox(r.Context(), all, only...)
	if err != nil {
		s.failed(w, err)
		return
	}
	page := inboxList{All: all}
	page.Title = "Decisions that wait for you"
	if all {
		page.Title = "All decisions"
	}
	if len(principals) > 1 {
		if len(only) > 0 {
			page.Whole = narrowed(all)
		}
		for _, ref := range principals {
			page.Principals = append(page.Principals, inboxPrincipal{cmp.Or(ref, nobodyNamed), narrowed(all, ref), slices.Contains(only, ref)})
		}
	}
	for i := range views {
		e := s.entryOf(&views[i])
		e.Several = len(principals) > 1
		page.Entries = append(page.Entries, e)
	}
	page.Waiting = "1 decision waits"
	if n := len(views); n != 1 {
		page.Waiting = count(n) + " decisions wait"
	}
	s.write(w, http.StatusOK, "inbox", &page)
}

func (s *inbox) entry(w http.ResponseWriter, r *http.Request) {
	v, err := s.Agent.Entry(r.Context(), r.PathValue("id"))
	if err != nil {
		s.failed(w, err)
		return
	}
	s.show(w, http.StatusOK, &v, "")
}

// show writes the page of an entry; problem says why a decision on it was not taken.
func (s *inbox) show(w http.ResponseWriter, status int, v *agent.EntryView, problem string) {
	page := s.entryOf(v)
	page.Title, page.Problem = page.Question, problem
	page.Token = s.token(page.ID, s.Now())
	s.write(w, status, "inbox_entry", &page)
}

func (s *inbox) decide(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !sameOrigin(r) {
		s.problem(w, http.StatusForbidden, "cross_site", "A page of another site asked for this decision. Nothing was decided.")
		return
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded") {
		s.problem(w, http.StatusUnsupportedMediaType, "media_type", "A decision is the form of its page. Nothing was decided.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		s.problem(w, http.StatusBadRequest, "form", "The form could not be read. Nothing was decided.")
		return
	}
	v, err := s.Agent.Entry(r.Context(), id)
	if err != nil {
		s.failed(w, err)
		return
	}
	if !s.current(id, r.PostForm.Get("token")) {
		s.show(w, http.StatusForbidden, &v, "This page was open for too long, or the server was started again since. Nothing was decided: look at it once more and decide then.")
		return
	}
	page := s.entryOf(&v)
	d, problem := page.decision(r.PostForm)
	if problem != "" {
		s.show(w, http.StatusBadRequest, &v, problem)
		return
	}
	if _, err := s.Agent.Decide(r.Context(), id, d); err != nil {
		s.failed(w, err)
		return
	}
	http.Redirect(w, r, page.URL, http.StatusSeeOther)
}

// decision reads the form of an entry; problem is why it decides nothing.
func (p *inboxEntry) decision(form url.Values) (d agent.Decision, problem string) {
	switch form.Get("decision") {
	case "decline":
		return agent.Decision{}, ""
	case "grant":
	default:
		return d, "The form names no decision. Nothing was decided."
	}
	if form.Get("sure") != "yes" {
		return d, "Nothing was decided: tick that you know that it cannot be taken back."
	}
	d.Grant = true
	if len(p.Choices) == 0 {
		return d, ""
	}
	for _, key := range form["key"] {
		if !slices.Contains(p.Choices, key) {
			return agent.Decision{}, "The form names something that was not asked for. Nothing was decided."
		}
		d.Scope = append(d.Scope, key)
	}
	if len(d.Scope) == 0 {
		return agent.Decision{}, "Nothing was decided: tick what may leave, or decline."
	}
	return d, ""
}

// sameOrigin reports whether a browser sent a request for a page of this listener. What no browser sent has neither header, and needs the token all the same.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host) && u.Scheme+"://"+u.Host == origin
}

// token is bound to an entry and to the time at which its page was made.
func (s *inbox) token(id string, at time.Time) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, s.Secret)
	io.WriteString(mac, stamp+" "+id)
	return stamp + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *inbox) current(id, token string) bool {
	stamp, _, _ := strings.Cut(token, ".")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return false
	}
	at := time.Unix(seconds, 0)
	age := s.Now().Sub(at)
	return age > -time.Minute && age <= formLife && hmac.Equal([]byte(s.token(id, at)), []byte(token))
}

func (s *inbox) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	kind := map[string]string{"sayso.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}[name]
	body, ok := s.files[name]
	if !ok || kind == "" {
		s.problem(w, http.StatusNotFound, "not_found", "There is no such page.")
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "max-age=300")
	w.Write(body)
}

type inboxProblem struct {
	inboxFrame
	Status        int
	Reason        string
	Code, Message string
}

func (s *inbox) problem(w http.ResponseWriter, status int, code, message string) {
	p := inboxProblem{Status: status, Reason: http.StatusText(status), Code: code, Message: message}
	p.Title = map[int]string{http.StatusNotFound: "Not found", http.StatusForbidden: "Refused", http.StatusServiceUnavailable: "Not available now"}[status]
	p.Title = cmp.Or(p.Title, "This was not done")
	s.write(w, status, "problem", &p)
}

// failed answers what an agent refused, in its own words, which hold nothing private.
func (s *inbox) failed(w http.ResponseWriter, err error) {
	var refused *app.Error
	if !errors.As(err, &refused) {
		if s.Report != nil {
			s.Report(err)
		}
		s.problem(w, http.StatusServiceUnavailable, "unavailable", asSentence(inboxProblems))
		return
	}
	message := asSentence(refused.Message)
	if refused.Next != "" {
		message += " " + asSentence(refused.Next)
	}
	s.problem(w, refused.Kind.Status(), refused.Code, message)
}

// asSentence begins a text with a capital and ends it with a full stop.
func asSentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimRight(text[1:], ".") + "."
}

func (s *inbox) write(w http.ResponseWriter, status int, page string, data any) {
	var b strings.Builder
	if err := execute(&b, inboxPages()[page], data); err != nil {
		if s.Report != nil {
			s.Report(err)
		}
		http.Error(w, inboxProblems, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, b.String())
}
