package web_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"sayso/internal/agent"
	"sayso/internal/app"
	"sayso/internal/web"
	"sayso/jcs"
)

// principal is an agent that remembers what was decided.
type principal struct {
	entries  []agent.EntryView
	err      error
	decided  []agent.Decision
	decideOf []string
}

func (p *principal) Inbox(_ context.Context, all bool, principals ...string) ([]agent.EntryView, error) {
	known, err := p.Principals(context.Background())
	for _, ref := range principals {
		if !slices.Contains(known, ref) {
			return nil, &app.Error{Kind: app.KindNotFound, Code: "unknown_principal", Message: "no interest here has this principal_ref", Next: "list the interests"}
		}
	}
	var list []agent.EntryView
	for _, e := range p.entries {
		if (all || e.State == "waiting") && (len(principals) == 0 || slices.Contains(principals, e.Principal)) {
			list = append(list, e)
		}
	}
	return list, err
}

func (p *principal) Principals(context.Context) ([]string, error) {
	var list []string
	for _, e := range p.entries {
		list = append(list, e.Principal)
	}
	slices.Sort(list)
	return slices.Compact(list), p.err
}

func (p *principal) Entry(_ context.Context, id string) (agent.EntryView, error) {
	for _, e := range p.entries {
		if e.ID == id {
			return e, p.err
		}
	}
	return agent.EntryView{}, &app.Error{Kind: app.KindNotFound, Code: "not_found", Message: "nothing is kept under this id", Next: "list the entries"}
}

func (p *principal) Decide(_ context.Context, id string, d agent.Decision) (agent.EntryView, error) {
	if len(p.decided) > 0 {
		return agent.EntryView{}, &app.Error{Kind: app.KindConflict, Code: "decided_already", Message: "this entry was decided before"}
	}
	p.decided, p.decideOf = append(p.decided, d), append(p.decideOf, id)
	return p.Entry(context.Background(), id)
}

// reader is a browser at the inbox, whose clock is its own.
type reader struct {
	t   *testing.T
	h   http.Handler
	now time.Time
	p   *principal
}

func newReader(t *testing.T, entries ...agent.EntryView) *reader {
	r := &reader{t: t, now: noon, p: &principal{entries: entries}}
	r.restart("one secret of thirty-two bytes...")
	return r
}

func (r *reader) restart(secret string) {
	r.h = web.InboxHandler(web.InboxOptions{Agent: r.p, Secret: []byte(secret), Now: func() time.Time { return r.now }})
}

func (r *reader) do(method, path, body string, header map[string]string) *httptest.ResponseRecorder {
	r.t.Helper()
	q := httptest.NewRequest(method, "http://127.0.0.1:8471"+path, strings.NewReader(body))
	if method == http.MethodPost {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Origin", "http://127.0.0.1:8471")
		q.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range header {
		q.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	r.h.ServeHTTP(w, q)
	return w
}

// page reads a page and holds it to the rules of all pages.
func (r *reader) page(path string) *html.Node {
	r.t.Helper()
	w := r.do(http.MethodGet, path, "", nil)
	if w.Code != http.StatusOK {
		r.t.Fatalf("%s: %d\n%s", path, w.Code, w.Body)
	}
	return page(r.t, func(out io.Writer) error {
		_, err := io.Copy(out, w.Body)
		return err
	})
}

// token takes the token out of the page of an entry.
func (r *reader) token(id string) string {
	r.t.Helper()
	for _, n := range all(r.page("/inbox/"+id), "input") {
		if attr(n, "name") == "token" {
			return attr(n, "value")
		}
	}
	r.t.Fatal("the page has no token")
	return ""
}

// decide sends a form.
func (r *reader) decide(id string, form url.Values, header map[string]string) *httptest.ResponseRecorder {
	r.t.Helper()
	return r.do(http.MethodPost, "/inbox/"+id, form.Encode(), header)
}

func grant(token string, keys ...string) url.Values {
	return url.Values{"token": {token}, "decision": {"grant"}, "sure": {"yes"}, "key": keys}
}

const (
	stays  = "Everything else stays here."
	notice = "What is sent cannot be recalled."
)

func samples() []agent.EntryView {
	unknown := agent.PeerView{ID: "p", Finding: "unevidenced", Levels: []agent.LevelView{{Level: "PROBE"}}}
	return []agent.EntryView{
		{ID: "e-1", Interest: "i-77aa", State: "waiting", Kind: "consent", Action: "reveal_identity", Keys: []string{"organisation_name", "registration_id"}, Deadline: noon.Add(5*24*time.Hour + time.Minute),
			Effect: "These parts of your identity may be disclosed.", Reveals: []agent.Reveal{{Key: "organisation_name", Value: jcs.Raw(`"Example Holding GmbH"`)}, {Key: "registration_id", Value: jcs.Raw(`"HRB 123456"`)}},
			Peer: unknown, Stays: stays, Notice: notice},
		{ID: "e-2", Interest: "i-77aa", State: "waiting", Kind: "disclosure", Keys: []string{"management_continuity"}, Deadline: noon.Add(89*time.Minute + time.Second), Purpose: "acquisition", Retention: "until_handoff",
			IntendedUse: "compatibility_evaluation", Effect: "The value below is sent.", Reveals: []agent.Reveal{{Key: "management_continuity", Value: jcs.Raw(`true`)}}, Stays: stays, Notice: notice,
			Peer: agent.PeerView{ID: "p", Finding: "evidenced by pairwise key", Mandate: "0a1b", Issuer: "kPrK", Levels: []agent.LevelView{{Level: "PROBE", Evidenced: true}, {Level: "NEGOTIATE_NONBINDING"}},
				Names: []agent.Reveal{{Key: "principal_name", Value: jcs.Raw(`"Somebody"`)}}}},
		{ID: "e-3", Interest: "i-88", State: "declined", Kind: "question", Keys: []string{"geography", "sector"}, DecidedAt: noon, Peer: unknown},
		{ID: "e-4", Interest: "i-88", State: "waiting", Kind: "own_question", Keys: []string{"arr_eur"}, Deadline: noon.Add(3 * time.Hour), Effect: "These questions are sent.", Peer: unknown, Stays: stays, Notice: notice,
			Questions: []agent.QuestionView{{From: "ours", Key: "arr_eur", Operator: "overlaps", Value: jcs.Raw(`{"min":4000000}`)}}},
	}
}

func TestInboxPagesSayWhatLeaves(t *testing.T) {
	r := newReader(t, samples()...)
	list := squeeze(r.page("/inbox"))
	for _, want := range []string{"3 decisions wait for you", "May the other side learn who you are?", "organisation_name, registration_id", "5 days left", "89 minutes left"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q:\n%s", want, list)
		}
	}
	if strings.Contains(list, "Example Holding") || strings.Contains(list, "declined") {
		t.Errorf("the list shows a value, or what is decided:\n%s", list)
	}
	if got := squeeze(r.page("/inbox?all=1")); !strings.Contains(got, "declined") {
		t.Error("a decided entry is not listed with the others")
	}
	entry := squeeze(r.page("/inbox/e-1"))
	for _, want := range []string{"Example Holding GmbH", "HRB 123456", notice, "unevidenced", "Nothing shows for whom it acts", stays, "Exactly this may leave from then on", "Without a decision the answer is no"} {
		if !strings.Contains(entry, want) {
			t.Errorf("the page lacks %q:\n%s", want, entry)
		}
	}
	entry = squeeze(r.page("/inbox/e-2"))
	for _, want := range []string{"May this value be told?", "Exactly this would leave", "until handoff", "acquisition", "Its own word", "acts under a mandate", "It mayprobeEvery other level is unevidenced.", "principal nameSomebodyAs the mandate states it."} {
		if !strings.Contains(entry, want) {
			t.Errorf("the page lacks %q:\n%s", want, entry)
		}
	}
	if entry = squeeze(r.page("/inbox/e-4")); !strings.Contains(entry, `overlaps {"min":4000000}`) || strings.Contains(entry, "what for") {
		t.Errorf("an own question is shown as %s", entry)
	}
	if got := r.page("/inbox/e-3"); len(all(got, "form")) != 0 {
		t.Error("a decided entry can be decided again")
	}
	if got := squeeze(newReader(t).page("/inbox")); !strings.Contains(got, "Nothing waits for you.") {
		t.Errorf("an empty inbox says %s", got)
	}
}

func TestInboxDecisions(t *testing.T) {
	for _, c := range []struct {
		name, id string
		form     url.Values // token is added
		status   int
		want     *agent.Decision
		says     string
	}{
		{"all of it", "e-1", grant("", "organisation_name", "registration_id"), http.StatusSeeOther, &agent.Decision{Grant: true, Scope: []string{"organisation_name", "registration_id"}}, ""},
		{"narrowed", "e-1", grant("", "registration_id"), http.StatusSeeOther, &agent.Decision{Grant: true, Scope: []string{"registration_id"}}, ""},
		{"one value", "e-2", grant(""), http.StatusSeeOther, &agent.Decision{Grant: true}, ""},
		{"declined", "e-1", url.Values{"decision": {"decline"}}, http.StatusSeeOther, &agent.Decision{}, ""},
		{"nothing ticked", "e-1", grant(""), http.StatusBadRequest, nil, "tick what may leave"},
		{"not asked for", "e-1", grant("", "registration_id", "arr_eur"), http.StatusBadRequest, nil, "was not asked for"},
		{"not sure", "e-2", url.Values{"decision": {"grant"}}, http.StatusBadRequest, nil, "Nothing was decided: tick that you know"},
		{"no decision", "e-2", url.Values{"sure": {"yes"}}, http.StatusBadRequest, nil, "names no decision"},
		{"unknown entry", "e-9", grant(""), http.StatusNotFound, nil, "Nothing is kept under this id. List the entries."},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, samples()...)
			id := c.id
			if id == "e-9" {
				id = "e-1"
			}
			c.form.Set("token", r.token(id))
			w := r.decide(c.id, c.form, nil)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Fatalf("%d\n%s", w.Code, w.Body)
			}
			if c.want == nil {
				if len(r.p.decided) > 0 {
					t.Errorf("decided %+v", r.p.decided)
				}
				return
			}
			if len(r.p.decided) != 1 || r.p.decided[0].Grant != c.want.Grant || !slices.Equal(r.p.decided[0].Scope, c.want.Scope) || r.p.decideOf[0] != c.id {
				t.Errorf("decided %+v of %v, want %+v", r.p.decided, r.p.decideOf, c.want)
			}
			if at := w.Header().Get("Location"); at != "/inbox/"+c.id {
				t.Errorf("leads to %q", at)
			}
			if again := r.decide(c.id, c.form, nil); again.Code != http.StatusConflict || !strings.Contains(again.Body.String(), "This entry was decided before.") {
				t.Errorf("a second decision: %d\n%s", again.Code, again.Body)
			}
		})
	}
}

// Every way in which another site, or an old page, could decide.
func TestInboxRefusesForeignForms(t *testing.T) {
	for _, c := range []struct {
		name   string
		header map[string]string
		spoil  func(r *reader, form url.Values)
		status int
	}{
		{"another site", map[string]string{"Sec-Fetch-Site": "cross-site"}, nil, http.StatusForbidden},
		{"another port", map[string]string{"Sec-Fetch-Site": "same-site"}, nil, http.StatusForbidden},
		{"typed address", map[string]string{"Sec-Fetch-Site": "none"}, nil, http.StatusForbidden},
		{"foreign origin", map[string]string{"Origin": "https://elsewhere.example", "Sec-Fetch-Site": ""}, nil, http.StatusForbidden},
		{"opaque origin", map[string]string{"Origin": "null"}, nil, http.StatusForbidden},
		{"origin of another port", map[string]string{"Origin": "http://127.0.0.1:8470"}, nil, http.StatusForbidden},
		{"origin with a path", map[string]string{"Origin": "http://127.0.0.1:8471/x"}, nil, http.StatusForbidden},
		{"plain text", map[string]string{"Content-Type": "text/plain"}, nil, http.StatusUnsupportedMediaType},
		{"no type", map[string]string{"Content-Type": ""}, nil, http.StatusUnsupportedMediaType},
		{"no token", nil, func(_ *reader, f url.Values) { f.Del("token") }, http.StatusForbidden},
		{"token of another entry", nil, func(r *reader, f url.Values) { f.Set("token", r.token("e-2")) }, http.StatusForbidden},
		{"token with another time", nil, func(_ *reader, f url.Values) { f.Set("token", "9"+f.Get("token")) }, http.StatusForbidden},
		{"token cut", nil, func(_ *reader, f url.Values) { f.Set("token", f.Get("token")[:20]) }, http.StatusForbidden},
		{"old page", nil, func(r *reader, _ url.Values) { r.now = r.now.Add(13 * time.Hour) }, http.StatusForbidden},
		{"page of the future", nil, func(r *reader, _ url.Values) { r.now = r.now.Add(-time.Hour) }, http.StatusForbidden},
		{"server started again", nil, func(r *reader, _ url.Values) { r.restart("another secret of thirty-two bytes") }, http.StatusForbidden},
		{"too long", nil, func(_ *reader, f url.Values) { f.Set("x", strings.Repeat("x", 20<<10)) }, http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReader(t, samples()...)
			form := grant(r.token("e-1"), "registration_id")
			if c.spoil != nil {
				c.spoil(r, form)
			}
			if w := r.decide("e-1", form, c.header); w.Code != c.status || len(r.p.decided) > 0 {
				t.Errorf("%d, decided %+v\n%s", w.Code, r.p.decided, w.Body)
			}
		})
	}
	// The form in the address is no form.
	r := newReader(t, samples()...)
	if w := r.do(http.MethodPost, "/inbox/e-1?"+grant(r.token("e-1"), "registration_id").Encode(), "", nil); w.Code != http.StatusForbidden || len(r.p.decided) > 0 {
		t.Errorf("a decision in the address: %d", w.Code)
	}
	// What is no browser sends neither header.
	if w := r.decide("e-1", grant(r.token("e-1"), "registration_id"), map[string]string{"Origin": "", "Sec-Fetch-Site": ""}); w.Code != http.StatusSeeOther {
		t.Errorf("%d\n%s", w.Code, w.Body)
	}
}

func TestInboxRoutes(t *testing.T) {
	r := newReader(t, samples()...)
	for _, c := range []struct {
		method, path string
		status       int
		kind         string
	}{
		{"GET", "/inbox", 200, "text/html; charset=utf-8"},
		{"HEAD", "/inbox", 200, "text/html; charset=utf-8"},
		{"GET", "/inbox/assets/sayso.css", 200, "text/css; charset=utf-8"},
		{"GET", "/inbox/assets/icon.svg", 200, "image/svg+xml"},
		{"GET", "/inbox/assets/verify.js", 404, ""},
		{"GET", "/inbox/e-1/x", 404, ""},
		{"GET", "/inbox/e-9", 404, ""},
		{"POST", "/inbox", 405, ""},
		{"DELETE", "/inbox/e-1", 405, ""},
	} {
		w := r.do(c.method, c.path, "", nil)
		if w.Code != c.status || c.kind != "" && w.Header().Get("Content-Type") != c.kind {
			t.Errorf("%s %s: %d, %s", c.method, c.path, w.Code, w.Header().Get("Content-Type"))
		}
		for name, want := range map[string]string{"Content-Security-Policy": web.CSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q", c.method, c.path, name, got)
			}
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Code != 200 && w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s may be read elsewhere, or kept", c.method, c.path)
		}
	}
	// The style is where the pages look for it.
	for _, n := range all(r.page("/inbox"), "link") {
		if w := r.do("GET", attr(n, "href"), "", nil); w.Code != 200 {
			t.Errorf("%s: %d", attr(n, "href"), w.Code)
		}
	}
}

func TestInboxFaults(t *testing.T) {
	var told []error
	p := &principal{err: errors.New("disk of /var/secret is gone")}
	h := web.InboxHandler(web.InboxOptions{Agent: p, Secret: make([]byte, 32), Now: time.Now, Report: func(err error) { told = append(told, err) }})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/inbox", nil))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "secret") || len(told) != 1 {
		t.Errorf("%d, %v\n%s", w.Code, told, w.Body)
	}
}

// Text of the other side is text, and stays where it stands.
func TestInboxHostileText(t *testing.T) {
	evil := `"><script>alert(1)</script><b onclick=x>` + "\u202e"
	e := samples()[0]
	e.Keys, e.Reveals = []string{evil, "b"}, []agent.Reveal{{Key: evil, Value: jcs.AppendString(nil, evil)}}
	f := samples()[1]
	f.Purpose, f.IntendedUse, f.Retention, f.Peer.Mandate, f.Peer.Issuer, f.Peer.Names = evil, evil, evil, evil, evil, e.Reveals
	g := samples()[3]
	g.Questions[0].Key, g.Questions[0].Value = evil, jcs.AppendString(nil, evil)
	r := newReader(t, e, f, g)
	for _, path := range []string{"/inbox", "/inbox/e-1", "/inbox/e-2", "/inbox/e-4"} {
		doc := r.page(path)
		if len(all(doc, "script"))+len(all(doc, "b")) > 0 {
			t.Errorf("%s: text became an element", path)
		}
		for n := range doc.Descendants() {
			if n.Type == html.TextNode && strings.Contains(n.Data, "\u202e") && !isolated(n) {
				t.Errorf("%s: %q can turn the text around it", path, n.Data)
			}
		}
	}
}

// Without a script: labels on every box, a button in every form, nothing ticked beforehand.
func TestInboxForms(t *testing.T) {
	doc := newReader(t, samples()...).page("/inbox/e-1")
	boxes := 0
	for _, n := range all(doc, "input") {
		if attr(n, "type") != "checkbox" {
			continue
		}
		boxes++
		if n.Parent.Data != "label" || attr(n, "checked") != "" || slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "checked" }) {
			t.Errorf("the box %s has no label, or is ticked", attr(n, "name"))
		}
	}
	if boxes != 3 || len(all(doc, "form")) != 2 || len(all(doc, "button")) != 2 || len(all(doc, "script")) != 0 {
		t.Errorf("%d boxes, %d forms, %d buttons", boxes, len(all(doc, "form")), len(all(doc, "button")))
	}
}

// The inbox of a folder that several principals share says whose each decision is, and shows one principal its own alone.
func TestInboxOfSeveralPrincipals(t *testing.T) {
	const odd = "M\u00fcller & <b>Co</b>?"
	entry := func(id, of, state string) agent.EntryView {
		return agent.EntryView{ID: id, Principal: of, Interest: "i-" + id, Kind: "disclosure", State: state, Deadline: noon.Add(time.Hour), Keys: []string{"key-of-" + id}, Peer: agent.PeerView{Finding: "unevidenced"}}
	}
	r := newReader(t, entry("one", "board", "waiting"), entry("two", odd, "waiting"), entry("three", "board", "granted"))
	get := func(path string) string {
		t.Helper()
		r.page(path) // the rules of all pages
		return r.do(http.MethodGet, path, "", nil).Body.String()
	}
	both := get("/inbox")
	for _, want := range []string{"of <bdi>board</bdi>", "of <bdi>M\u00fcller &amp; &lt;b&gt;Co&lt;/b&gt;?</bdi>", `href="/inbox?principal=board"`, "key-of-one", "key-of-two", "2 decisions wait"} {
		if !strings.Contains(both, want) {
			t.Errorf("the list has no %s\n%s", want, both)
		}
	}
	for ref, own := range map[string]string{"board": "one", odd: "two"} {
		text := get("/inbox?all=1&" + url.Values{"principal": {ref}}.Encode())
		if !strings.Contains(text, "key-of-"+own) || strings.Contains(text, "key-of-two") != (own == "two") || strings.Contains(text, "key-of-three") != (own == "one") || !strings.Contains(text, `aria-current="page"`) ||
			!strings.Contains(text, `href="/inbox?all=1">all of them`) {
			t.Errorf("%s: %s", ref, text)
		}
	}
	if w := r.do(http.MethodGet, "/inbox?principal=nobody", "", nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "No interest here has this principal_ref.") || strings.Contains(w.Body.String(), "key-of") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if text := get("/inbox/two"); !strings.Contains(text, "<dt>Principal</dt><dd><bdi>M\u00fcller &amp;") {
		t.Errorf("the page of an entry does not say whose it is\n%s", text)
	}
	alone := newReader(t, entry("one", "board", "waiting"))
	if text := alone.do(http.MethodGet, "/inbox", "", nil).Body.String(); strings.Contains(text, "principal=") || strings.Contains(text, "of <bdi>board") {
		t.Errorf("one principal alone is told apart\n%s", text)
	}
}
