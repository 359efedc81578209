package bizcheck

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sayso/business"
	"sayso/safefetch"
)

// checkPages looks at the public pages of a publisher that is published, or does not say.
func (c *checker) checkPages(p *publisher) {
	if p.profile == "" || originOf(p.profile) == "" {
		c.untested("XP-DISCOVERY-001", p.at, "no page was looked at", "the manifest names no public_profile")
		return
	}
	c.checkProfile(p)
	c.checkShortForm(p)
	c.checkJSONLD(p)
	c.checkDump(p)
}

// checkProfile is the canonical address of XP-DISCOVERY-001, and the two forms of the profile.
func (c *checker) checkProfile(p *publisher) {
	form, placed := "/b/"+p.slug, false
	for _, l := range p.manifest.object("publisher").objects("locations") {
		if l.is("primary", "true") && l.text("country_code") != "" && business.City(l.text("locality")) != "" {
			form, placed = "/{country}/{city}/business/"+p.slug, true
		}
	}
	path := strings.TrimPrefix(p.profile, originOf(p.profile))
	ok := path == form
	if placed {
		s := strings.Split(path, "/")
		ok = len(s) == 5 && s[3] == "business" && s[4] == p.slug
	}
	c.expect(ok, "XP-DISCOVERY-001", p.at, fmt.Sprintf("public_profile has the path %.200q", path), "with a published country and city the base is "+form)
	a := c.get(http.MethodGet, p.profile, accepting(typeJSON))
	if a.unread() {
		c.untested("XP-DISCOVERY-001", p.profile, "the profile could not be read", a.problem())
		return
	}
	c.looked = append(c.looked, a.at)
	if !c.expect(a.status == http.StatusOK, "XP-DISCOVERY-001", a.at, fmt.Sprintf("the profile answers %d", a.status), "serve the page that the manifest names") {
		return
	}
	c.checkWire("XP-DISCOVERY-001", a, typeJSON)
	if _, err := objectOf(a.body); err == nil {
		c.checkAbsence(a.at, a.body)
	}
	if head := c.get(http.MethodHead, p.profile, accepting(typeJSON)); head.err == nil && head.status != http.StatusOK {
		c.warn("XP-DISCOVERY-001", a.at, fmt.Sprintf("HEAD answers %d", head.status), "answer HEAD like GET, without a body")
	}
}

// checkShortForm is the other half of XP-DISCOVERY-001: /b/{publisher} leads to the canonical form.
func (c *checker) checkShortForm(p *publisher) {
	short := originOf(p.profile) + "/b/" + p.slug
	a := c.get(http.MethodGet, short, accepting(typeJSON))
	if a.unread() {
		c.untested("XP-DISCOVERY-001", short, "the short form could not be read", a.problem())
		return
	}
	led := a.final
	if to := a.header.Get("Location"); a.status >= 300 && a.status < 400 && to != "" { // a client that follows no redirects
		if base, err := url.Parse(short); err == nil {
			if ref, err := base.Parse(to); err == nil {
				led = safefetch.WithoutQuery(ref.String())
			}
		}
	}
	c.expect(led == safefetch.WithoutQuery(p.profile), "XP-DISCOVERY-001", short, fmt.Sprintf("the short form leads to %.200q (%d), the manifest names %.200q", led, a.status, safefetch.WithoutQuery(p.profile)), "redirect it to the canonical form")
}

var (
	scriptElement = regexp.MustCompile(`(?is)<script\b([^>]*)>(.*?)</script`)
	typeLD        = regexp.MustCompile(`(?i)(?:^|\s)type\s*=\s*["']?application/ld\+json\b`)
)

// linkedData are the JSON-LD objects in a page. Only a script element whose text is strict JSON counts; nothing of the rest of the page is interpreted.
func linkedData(page []byte) []object {
	var out []object
	for _, m := range scriptElement.FindAllSubmatch(page, 16) {
		if !typeLD.Match(m[1]) {
			continue
		}
		text := bytes.TrimSpace(m[2])
		list, ok := listOf(text)
		if !ok {
			list = append(list, text)
		}
		for _, raw := range list {
			o, err := objectOf(raw)
			if err != nil {
				continue
			}
			out = append(append(out, o), o.objects("@graph")...)
		}
	}
	return out
}

// mapping of the publisher block to schema.org (X§12), as far as one text is compared with another.
var mapping = []struct{ ours, theirs string }{{"display_name", "name"}, {"legal_name", "legalName"}, {"website", "url"}}

// checkJSONLD is XP-SCHEMA-001: what the page says in schema.org's words is what the publisher block says.
func (c *checker) checkJSONLD(p *publisher) {
	a := c.get(http.MethodGet, p.profile, accepting("text/html"))
	if a.err != nil || a.status != http.StatusOK || mediaType(a.header) != "text/html" {
		c.untested("XP-SCHEMA-001", p.profile, "the profile was not read as a page", "no HTML was served")
		return
	}
	block := p.manifest.object("publisher")
	for _, o := range linkedData(a.body) {
		if !o.has("name") || !o.has("@type") {
			continue
		}
		var differ []string
		for _, m := range mapping {
			if o.has(m.theirs) && o.text(m.theirs) != block.text(m.ours) {
				differ = append(differ, m.theirs+" is not "+m.ours)
			}
		}
		c.expect(len(differ) == 0, "XP-SCHEMA-001", p.profile, "in the JSON-LD of the page "+strings.Join(differ, ", "), "render both from one value")
		return
	}
	c.untested("XP-SCHEMA-001", p.profile, "no JSON-LD with a name was found in the page", "its script element may be missing, or hold no strict JSON")
}

// checkNotServed is XP-FRESHNESS-007: the pages and the tools of a publisher that is not published are closed, at the addresses that anybody can guess.
func (c *checker) checkNotServed(p *publisher) {
	base := p.origin + "/b/" + p.slug
	for _, tail := range []string{"", "/dump.jsonl", "/sitemap.xml"} {
		a := c.get(http.MethodGet, base+tail, accepting("*/*"))
		if a.unread() {
			c.untested("XP-FRESHNESS-007", a.at, "whether the page is closed was not seen", a.problem())
			continue
		}
		c.checkClosed(a, http.StatusNotFound, http.StatusGone)
	}
	_, a := c.initialize(p.origin+"/t/"+p.slug+"/mcp", business.APIVersion)
	if a.unread() {
		c.untested("XP-FRESHNESS-007", a.at, "whether the tools are closed was not seen", a.problem())
		return
	}
	c.checkClosed(a, http.StatusNotFound, http.StatusGone, http.StatusMethodNotAllowed) // a server without tools may know no POST
}

func (c *recorder) checkClosed(a *answer, closed ...int) {
	c.expect(slices.Contains(closed, a.status), "XP-FRESHNESS-007", a.at, fmt.Sprintf("the publisher is not published and the answer is %d", a.status), "close every channel in the same commit")
}
