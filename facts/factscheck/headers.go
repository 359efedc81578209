package factscheck

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sayso/facts/factshttp"
	"sayso/report"
	"sayso/safefetch"
)

// checkMisses is item 11 without the MCP form.
func (c *checker) checkMisses() {
	at := factshttp.Expand(c.discovery.Facts.Get, "key", noKey)
	a, ok := c.ask("VF-L2-011a", at)
	if !ok {
		return
	}
	problem := ""
	if a.status != http.StatusNotFound {
		problem = fmt.Sprintf("the answer is %d", a.status)
	} else {
		problem = c.schemas.check(schemaUnknownKey, a.body)
	}
	c.expect(problem == "", "VF-L2-011a", at, problem, "answer 404 with covered false and candidates")
	cache := a.header.Get("Cache-Control")
	c.expect(strings.Contains(strings.ToLower(cache), "no-store"), "VF-L2-011b", at, fmt.Sprintf("Cache-Control is %q", cache), "send no-store: the key may exist tomorrow")
	c.checkCORS(at, a.header)
}

// checkHeaders is item 12.
func (c *checker) checkHeaders() {
	some := c.spread(dayKeys)
	c.each(len(some), "headers", func(i int) {
		f := some[i]
		c.checkTag(f)
		c.checkModified(f)
		c.checkCache(f)
		c.checkCORS(f.at, f.header)
		if i < 5 {
			c.checkForm(f, "text/plain")
			c.checkForm(f, "text/html")
			c.checkConditional(f)
		}
	})
	at := query(some[0].at, "as_of", "2026-02-30")
	if resp, err := c.get(at, ""); err == nil {
		c.checkCORS(at, resp.Header)
	}
}

// checkTag is 012a.
func (c *checker) checkTag(f *fetched) {
	tag, hash := f.header.Get("ETag"), f.record.Hash
	switch {
	case tag == `"`+hash+`"`:
		c.pass("VF-L2-012a")
	case strings.HasPrefix(strings.TrimPrefix(tag, "W/"), `"`+hash):
		c.warn("VF-L2-012a", f.at, "ETag is "+tag+", which only begins with the hash", "send the hash in quotes and nothing else")
	default:
		c.fail("VF-L2-012a", f.at, fmt.Sprintf("ETag is %.200q", tag), `send "`+hash+`"`)
	}
}

// checkModified is 012b.
func (c *checker) checkModified(f *fetched) {
	want := f.record.VerifiedDate.Time().Format(http.TimeFormat)
	got := f.header.Get("Last-Modified")
	c.expect(got == want, "VF-L2-012b", f.at, fmt.Sprintf("Last-Modified is %.100q, verifiedDate is %v", got, f.record.VerifiedDate), "send "+want)
}

// checkForm is 012c: the same digits in another form.
func (c *checker) checkForm(f *fetched, want string) {
	resp, err := c.get(f.at, want)
	if err != nil {
		c.unanswered("VF-L2-012c", f.at, "the form "+want+" could not be fetched", err)
		return
	}
	got := mediaType(resp.Header)
	if !c.expect(resp.Status == http.StatusOK && got == want, "VF-L2-012c", f.at, fmt.Sprintf("asked for %s, the answer is %s of type %q", want, status(resp), got), "serve "+want+" to whoever asks for it") {
		return
	}
	if k := f.record.Value.Kind(); want == "text/plain" && (k == "number" || k == "boolean") {
		first, _, _ := strings.Cut(string(resp.Body), " ")
		c.expect(first == f.record.Value.Text(), "VF-L2-012c", f.at, "the text form does not begin with the value "+f.record.Value.Text(), "print the same digits in every form")
	}
}

// checkConditional is 012d. A 304 shows the reader yesterday's age under an equal tag.
func (c *checker) checkConditional(f *fetched) {
	resp, err := c.do(c.fetch, safefetch.Request{URL: f.at, Header: http.Header{"Accept": {"application/json"}, "If-None-Match": {`"` + f.record.Hash + `"`}}})
	switch {
	case err != nil:
		c.unanswered("VF-L2-012d", f.at, "the conditional request could not be sent", err)
	case resp.Status == http.StatusNotModified:
		c.add(notModified(f.at))
	default:
		c.expect(resp.Status == http.StatusOK, "VF-L2-012d", f.at, "the answer is "+status(resp), "answer 200 with today's record")
	}
}

// checkCache is 012e: how long a cache may show the record, stale-while-revalidate included, against the end of the day in UTC.
func (c *checker) checkCache(f *fetched) {
	age := map[string]int{}
	for part := range strings.SplitSeq(strings.ToLower(f.header.Get("Cache-Control")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if n, err := strconv.Atoi(value); err == nil {
			age[name] = n
		}
	}
	now := c.Clock().UTC()
	left := 24*time.Hour - now.Sub(now.Truncate(24*time.Hour))
	kept := time.Duration(max(age["max-age"], age["s-maxage"])+age["stale-while-revalidate"]) * time.Second
	// Records were fetched a while before now, when more of the day was left.
	if kept > left+15*time.Minute {
		c.warn("VF-L2-012e", f.at, fmt.Sprintf("caches may keep the record for %v, the day ends in %v", kept, left.Round(time.Second)), "bound the cache lifetime by the next 00:00 UTC: status and ageDays change there")
		return
	}
	c.pass("VF-L2-012e")
}

// checkCORS is 012f.
func (c *checker) checkCORS(at string, h http.Header) {
	got := h.Get("Access-Control-Allow-Origin")
	c.expect(got == "*", "VF-L2-012f", at, fmt.Sprintf("Access-Control-Allow-Origin is %.100q", got), "send * on every answer, errors included")
}

func notModified(at string) report.Finding {
	return report.Finding{Rule: "VF-L2-012d", Outcome: report.Warning, Place: at, Message: "a conditional request is answered 304",
		Reason: "the tag names the claim, which is the same on every day, so the reader keeps the status and age of an earlier day",
		Next:   "answer 200 on records, and drop If-None-Match at the edge"}
}
