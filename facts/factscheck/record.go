package factscheck

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jcs"
	"sayso/safefetch"
)

// fetched is one record as it came.
type fetched struct {
	entry  indexEntry
	at     string
	header http.Header
	record *facts.Record // nil when the answer is not one
	body   []byte
	day    facts.Date // on which it was asked for
}

// checkRecords is item 3.
func (c *checker) checkRecords() {
	chosen := c.sample()
	all := make([]*fetched, len(chosen))
	if !c.discovery.Static() {
		c.untested("VF-L1-003f", c.factsURL, "the publisher serves dated records", "the rule is for static files (filtering client)")
	}
	c.each(len(chosen), "records", func(i int) { all[i] = c.fetchRecord(chosen[i]) })
	for _, f := range all {
		if f != nil && f.record != nil {
			c.records = append(c.records, f)
		}
	}
}

func (c *checker) fetchRecord(e indexEntry) *fetched {
	f := &fetched{entry: e, at: factshttp.Expand(c.discovery.Facts.Get, "key", e.Key), day: c.today()}
	resp, err := c.get(f.at, "")
	if err != nil {
		c.unanswered("VF-L1-003a", f.at, "the record could not be fetched", err)
		return nil
	}
	f.header, f.body = resp.Header, resp.Body
	members, err := jcs.Members(resp.Body)
	switch t := mediaType(resp.Header); {
	case resp.Status != http.StatusOK:
		c.fail("VF-L1-003a", f.at, "the answer is "+status(resp), "every key of the index must answer")
		return nil
	case t != "application/json":
		c.fail("VF-L1-003a", f.at, fmt.Sprintf("the content type is %q", t), "serve records as application/json")
		return nil
	case err != nil:
		c.fail("VF-L1-003a", f.at, "not strict JSON: "+err.Error(), "serve one JSON object")
		return nil
	}
	c.pass("VF-L1-003a")
	if slices.ContainsFunc(members, func(m jcs.Member) bool { return m.Name == "covered" }) {
		c.checkNotHeld(f)
	} else {
		c.checkMembers(f, members)
	}
	return f
}

// checkNotHeld looks at the answer for a key of the index that has no value today: a server says so with the periods it holds (F§5.1, F§5.3). A file always
// holds a record.
func (c *checker) checkNotHeld(f *fetched) {
	var a answer
	if err := jcs.Decode(f.body, &a); err != nil {
		c.fail("VF-L1-003e", f.at, err.Error(), "")
		return
	}
	c.expect(a.Key == f.entry.Key, "VF-L1-003b", f.at, fmt.Sprintf("key is %.200q", a.Key), "answer for the key "+f.entry.Key)
	if c.discovery.Static() {
		c.fail("VF-L1-003e", f.at, "a static file holds a miss", "write the record that the index lists; it says itself when it ended or begins")
		return
	}
	problem := c.schemas.check(schemaNotHeld, f.body)
	c.expect(problem == "", "VF-L1-003e", f.at, problem, "answer with a record, or with covered false and the periods held; compare with /schema/"+schemaFact)
}

// claimMembers are the members of the claim (F§7.1).
var claimMembers = []string{"key", "value", "unit", "period", "effectiveFrom", "source"}

// checkMembers is 003 b to f and 004a for one record.
func (c *checker) checkMembers(f *fetched, members []jcs.Member) {
	has := make(map[string]jcs.Raw, len(members))
	for _, m := range members {
		has[m.Name] = m.Value
	}
	key, hash := plainString(has["key"]), plainString(has["hash"])
	c.expect(key == f.entry.Key, "VF-L1-003b", f.at, fmt.Sprintf("key is %.200q", key), "answer with the record of the key "+f.entry.Key)
	problem := c.schemas.check(schemaFact, f.body)
	c.expect(problem == "", "VF-L1-003e", f.at, problem, "write every required member, null where there is no value; compare with /schema/"+schemaFact)
	if computed, ok := claimHash(has); ok {
		c.expect(computed == hash, "VF-L1-003c", f.at, fmt.Sprintf("hash is %.80q, the claim gives %s", hash, computed), "hash the RFC 8785 form of the six claim members as served")
		c.expect(f.entry.Hash == hash, "VF-L1-003d", f.at, "the index lists "+f.entry.Hash+", the record says "+hash, "build index and records from the same facts")
	}
	source := plainString(has["source"])
	c.expect(strings.HasPrefix(source, "https://"), "VF-L1-004a", f.at, fmt.Sprintf("source is %.200q", source), "quote an https URL")
	_, status := has["status"]
	_, age := has["ageDays"]
	if c.discovery.Static() {
		c.pass("VF-L1-003f")
	} else if _, bar := has["maxAgeDays"]; c.claims("L2") || c.claims("L3") {
		c.expect(status && age && bar, "VF-L2-008b", f.at, "status, ageDays or maxAgeDays is missing", "a served record says how old it is on the day of the answer")
	}
	if r, err := facts.ParseRecord(f.body); err == nil {
		f.record = r
	} else if problem == "" {
		c.fail("VF-L1-003e", f.at, err.Error(), "")
	}
}

// claimHash recomputes the hash from the members as served; ok is false when one of the six is missing.
func claimHash(has map[string]jcs.Raw) (hash string, ok bool) {
	claim := []byte{'{'}
	for i, name := range claimMembers {
		value, found := has[name]
		if !found {
			return "", false
		}
		if i > 0 {
			claim = append(claim, ',')
		}
		claim = append(jcs.AppendString(claim, name), ':')
		claim = append(claim, value...)
	}
	canonical, err := jcs.Canonical(append(claim, '}'))
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), true
}

// plainString reads a JSON string, "" for anything else.
func plainString(raw jcs.Raw) string {
	var s string
	if raw == nil || jcs.Decode(raw, &s) != nil {
		return ""
	}
	return s
}

// checkSources is 004 b and c. A source is looked at once, whoever quotes it.
func (c *checker) checkSources() {
	authorities := map[string][]string{}
	for _, n := range c.discovery.Namespaces {
		authorities[n.Name] = n.Authorities
	}
	var distinct []string
	for _, f := range c.records {
		r := f.record
		if r.SourceType == "" || r.SourceType == "authority" {
			host := facts.SourceHost(r.Source)
			c.expect(slices.Contains(authorities[facts.KeyNamespace(r.Key)], host), "VF-L1-004b", f.at, fmt.Sprintf("the source host %q is not among the authorities of the namespace", host),
				"list the host in namespaces[].authorities, or quote the authority itself")
		}
		page, _, _ := strings.Cut(r.Source, "#")
		if !slices.Contains(distinct, page) {
			distinct = append(distinct, page)
		}
	}
	if c.NoSources {
		c.untested("VF-L1-004c", c.Origin, "source pages were not fetched", "asked to leave them alone")
		return
	}
	c.each(len(distinct), "sources", func(i int) { c.checkSource(distinct[i]) })
}

// checkSource is 004c for one page. Only an answer that speaks about the page is a failure.
func (c *checker) checkSource(at string) {
	resp, err := c.do(c.sources, safefetch.Request{URL: at})
	var fetch *safefetch.FetchError
	switch {
	case errors.As(err, &fetch) && fetch.Kind == safefetch.KindTooLarge:
		c.untested("VF-L1-004c", at, "the page is too large to read", safefetch.Reason(err))
	case err != nil:
		c.untested("VF-L1-004c", at, "the page could not be fetched", safefetch.Reason(err))
	case resp.Status == http.StatusUnauthorized, resp.Status == http.StatusForbidden, resp.Status == http.StatusTooManyRequests, resp.Status >= 500:
		c.untested("VF-L1-004c", at, "the answer is "+status(resp), "the site refuses programs or is out of order, which says nothing about the page")
	case resp.Status >= 300 && resp.Status < 400:
		c.warn("VF-L1-004c", at, "the page redirects ("+status(resp)+")", "quote the page it leads to, after reading it")
	case resp.Status != http.StatusOK:
		c.fail("VF-L1-004c", at, "the answer is "+status(resp), "find the page that states the figure now, read it, and confirm or withdraw the fact")
	case resp.FinalURL != "" && hostOf(resp.FinalURL) != hostOf(at):
		c.warn("VF-L1-004c", at, "the page redirects to another host: "+hostOf(resp.FinalURL), "check that this host is the authority, and quote the page there")
	default:
		c.pass("VF-L1-004c")
	}
}

func hostOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
