package factscheck

import (
	"fmt"
	"slices"
	"strconv"

	"sayso/facts"
	"sayso/jcs"
)

// changelog is the changes document as it came, newest first.
type changelog struct {
	at      string
	head    *string
	hasHead bool
	entries []change
}

// change is one entry with what the rules need of it.
type change struct {
	Area          string  `json:"area"`
	Key           string  `json:"key"`
	FactKey       string  `json:"factKey"`
	To            jcs.Raw `json:"to"`
	Unit          jcs.Raw `json:"unit"`
	Period        jcs.Raw `json:"period"`
	EffectiveFrom *string `json:"effectiveFrom"`
	Source        jcs.Raw `json:"source"`
	VerifiedDate  *string `json:"verifiedDate"`
	Seq           int     `json:"seq"`
	Hash          *string `json:"hash"`
	PrevHash      *string `json:"prevHash"`
	link          string
	place         string
}

// checkChanges is item 5.
func (c *checker) checkChanges() {
	at := c.discovery.Changes
	data, ok := c.document("VF-L1-005a", at)
	if !ok {
		return
	}
	problem := c.schemas.check(schemaWellKnown, data)
	c.expect(problem == "", "VF-L1-005a", at, problem, "compare with /schema/"+schemaWellKnown)
	var about struct {
		Facts string `json:"facts"`
		Areas []struct {
			Name string `json:"name"`
		} `json:"areas"`
		Endpoints struct {
			JSON string `json:"json"`
		} `json:"endpoints"`
	}
	if err := jcs.Decode(data, &about); err != nil {
		if problem == "" {
			c.fail("VF-L1-005a", at, err.Error(), "")
		}
		return
	}
	c.expect(about.Facts == c.factsURL, "VF-L1-005b", at, fmt.Sprintf("facts is %.200q", about.Facts), "name "+c.factsURL)
	var areas []string
	for _, a := range about.Areas {
		areas = append(areas, a.Name)
	}
	if about.Endpoints.JSON != "" {
		c.checkChangesDocument(about.Endpoints.JSON, areas)
	}
}

// checkChangesDocument is 005 c and d, and keeps the document for item 17.
func (c *checker) checkChangesDocument(at string, areas []string) {
	data, ok := c.document("VF-L1-005c", at)
	if !ok {
		return
	}
	problem := c.schemas.check(schemaChanges, data)
	c.expect(problem == "", "VF-L1-005c", at, problem, "compare with /schema/"+schemaChanges)
	var doc struct {
		Generated *string   `json:"generated"`
		Count     int       `json:"count"`
		ChainHead jcs.Raw   `json:"chainHead"`
		Entries   []jcs.Raw `json:"entries"`
	}
	if err := jcs.Decode(data, &doc); err != nil {
		if problem == "" {
			c.fail("VF-L1-005c", at, err.Error(), "write whole numbers in plain digits")
		}
		return
	}
	log := &changelog{at: at, hasHead: doc.ChainHead != nil}
	if s := plainString(doc.ChainHead); s != "" {
		log.head = &s
	}
	c.expect(doc.Count == len(doc.Entries), "VF-L1-005c", at, fmt.Sprintf("count is %d for %d entries", doc.Count, len(doc.Entries)), "count the entries of the document")
	for i, raw := range doc.Entries {
		e := change{place: at + "#/entries/" + strconv.Itoa(i)}
		link, err := facts.EntryLink(raw)
		if err == nil {
			err = jcs.Decode(raw, &e)
		}
		if err != nil {
			if problem == "" {
				c.fail("VF-L1-005c", e.place, err.Error(), "write whole numbers in plain digits")
			}
			return // else the schema finding says what is wrong
		}
		e.link = link
		log.entries = append(log.entries, e)
	}
	c.changes = log
	c.checkEntries(log, areas)
	c.checkGenerated(log, doc.Generated)
}

// checkGenerated is 007a for the changelog. The seed defines generated for static documents; of a server another day is worth a warning.
func (c *checker) checkGenerated(log *changelog, generated *string) {
	newest := facts.Date(0)
	for _, e := range log.entries {
		if d, ok := date(e.VerifiedDate); ok {
			newest = max(newest, d)
		}
	}
	got, ok := date(generated)
	seen, next := "generated is "+got.String()+", the newest verifiedDate is "+newest.String(), "set generated to the newest verifiedDate among the entries"
	switch {
	case len(log.entries) == 0:
	case ok && got == newest:
		c.pass("VF-L1-007a")
	case c.discovery.Static():
		c.fail("VF-L1-007a", log.at, seen, next)
	default:
		c.warn("VF-L1-007a", log.at, seen, next)
	}
}

func (c *checker) checkEntries(log *changelog, areas []string) {
	if len(log.entries) == 0 {
		c.untested("VF-L1-005d", log.at, "there are no entries", "the changelog is empty")
	}
	seen := map[string]bool{}
	newer := facts.MaxDate
	for _, e := range log.entries {
		verified, ok := date(e.VerifiedDate)
		_, from := date(e.EffectiveFrom)
		if !ok || !from {
			c.fail("VF-L1-005c", e.place, "a date is no calendar day", "write real days as YYYY-MM-DD")
			continue
		}
		c.expect(verified <= newer, "VF-L1-005c", e.place, "the entry of "+verified.String()+" stands after one of "+newer.String(), "serve entries newest first")
		newer = verified
		c.expect(slices.Contains(areas, e.Area), "VF-L1-005c", e.place, fmt.Sprintf("the area %.100q is not declared", e.Area), "list the area in the discovery document")
		id := fmt.Sprintf("%s\x00%s\x00%v\x00%d", e.Area, e.Key, verified, e.Seq)
		c.expect(!seen[id], "VF-L1-005c", e.place, "area, key, verifiedDate and seq are those of another entry", "set seq when a figure changes twice on one day")
		seen[id] = true
		if len(c.known) > 0 {
			c.expect(c.known[e.FactKey], "VF-L1-005d", e.place, fmt.Sprintf("factKey %.200q is not in the index", e.FactKey), "name the canonical key; withdrawn keys stay in the index")
		}
	}
}

// checkChain is item 17.
func (c *checker) checkChain() {
	if c.discovery.History == "" {
		c.untested("VF-L3-017c", c.factsURL, "facts.json has no history member", "where the history can be audited may be stated elsewhere")
	} else {
		c.pass("VF-L3-017c")
	}
	log := c.changes
	if log == nil {
		return
	}
	if !log.hasHead {
		c.fail("VF-L3-017b", log.at, "chainHead is missing", "serve the link of the newest entry, null without entries")
	}
	for i, e := range log.entries {
		c.checkEntryHash(e)
		c.checkLink(log, i)
	}
	if len(log.entries) == 0 {
		c.expect(log.head == nil, "VF-L3-017b", log.at, "chainHead is set although there is no entry", "write null")
		c.untested("VF-L3-017a", log.at, "there are no entries", "the changelog is empty")
	} else if log.hasHead && text(log.head) != log.entries[0].link {
		if log.entries[0].Hash != nil && text(log.head) == *log.entries[0].Hash {
			c.warn("VF-L3-017b", log.at, "chainHead is a claim hash", "link whole entries: a claim hash does not protect history")
		} else {
			c.fail("VF-L3-017b", log.at, "chainHead is not the link of the newest entry", "hash the RFC 8785 form of the newest entry as served")
		}
	}
}

func (c *checker) checkEntryHash(e change) {
	if e.Hash == nil {
		c.fail("VF-L3-017a", e.place, "the entry has no hash", "write the claim hash of the state after the change")
		return
	}
	key, from := jcs.AppendString(nil, e.FactKey), jcs.Raw("null")
	if e.EffectiveFrom != nil {
		from = jcs.AppendString(nil, *e.EffectiveFrom)
	}
	computed, ok := claimHash(map[string]jcs.Raw{"key": key, "value": e.To, "unit": e.Unit, "period": e.Period, "effectiveFrom": from, "source": e.Source})
	c.expect(ok && computed == *e.Hash, "VF-L3-017a", e.place, "hash is "+*e.Hash+", the state gives "+computed, "hash the claim of the to state; an old entry is never edited")
}

// checkLink is 017b for one entry: prevHash is the link of the entry before.
func (c *checker) checkLink(log *changelog, i int) {
	e := log.entries[i]
	if i+1 == len(log.entries) {
		c.expect(e.PrevHash == nil, "VF-L3-017b", e.place, "the oldest entry has a prevHash: an older entry is missing", "keep every entry for ever")
		return
	}
	before := log.entries[i+1]
	switch {
	case text(e.PrevHash) == before.link:
		c.pass("VF-L3-017b")
	case before.Hash != nil && text(e.PrevHash) == *before.Hash:
		c.warn("VF-L3-017b", e.place, "linked by claim hash", "link whole entries: a claim hash does not protect history")
	default:
		c.fail("VF-L3-017b", e.place, "prevHash is not the link of the entry before", "restore the entry that was changed, removed or moved; corrections are new entries")
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
