package factscheck

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jcs"
)

// indexEntry is one line of the index. Dates are text: what is no day is a finding, not a reason to stop.
type indexEntry struct {
	Key          string   `json:"key"`
	Label        string   `json:"label"`
	Period       *string  `json:"period"`
	VerifiedDate *string  `json:"verifiedDate"`
	Hash         string   `json:"hash"`
	Aliases      []string `json:"aliases"`
}

var hashForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// checkIndex is items 2 and 6 a and b, and 7 a. It reports whether there are entries to go on with.
func (c *checker) checkIndex() bool {
	at := c.discovery.Facts.Index
	data, ok := c.document("VF-L1-002a", at)
	if !ok {
		return false
	}
	problem := c.schemas.check(schemaIndex, data)
	c.expect(problem == "", "VF-L1-002a", at, problem, "compare with /schema/"+schemaIndex)
	var doc struct {
		Count     int          `json:"count"`
		Generated *string      `json:"generated"`
		Facts     []indexEntry `json:"facts"`
	}
	if err := jcs.Decode(data, &doc); err != nil {
		if problem == "" {
			c.fail("VF-L1-002a", at, err.Error(), "write whole numbers in plain digits")
		}
		return false
	}
	c.index = doc.Facts
	c.expect(doc.Count == len(doc.Facts), "VF-L1-002b", at, fmt.Sprintf("count is %d for %d entries", doc.Count, len(doc.Facts)), "count the entries of the document")
	c.expect(c.discovery.Facts.Count == len(doc.Facts), "VF-L1-002d", at,
		fmt.Sprintf("facts.json counts %d keys, the index lists %d", c.discovery.Facts.Count, len(doc.Facts)), "build both documents from the same facts")
	newest := facts.Date(0)
	names := map[string]string{} // key or alias -> key it belongs to
	for _, e := range doc.Facts {
		c.checkEntry(at, e, names)
		if d, ok := date(e.VerifiedDate); ok {
			newest = max(newest, d)
		}
	}
	for _, e := range doc.Facts {
		for _, a := range e.Aliases {
			owner, taken := names[a]
			c.expect(!taken, "VF-L1-006b", at, "the alias "+a+" of "+e.Key+" already belongs to "+owner, "give each alias to one key")
			names[a] = e.Key
		}
	}
	generated, ok := date(doc.Generated)
	c.expect(ok && generated == newest, "VF-L1-007a", at, "generated is "+generated.String()+", the newest verifiedDate is "+newest.String(),
		"set generated to the newest verifiedDate of the document")
	return len(doc.Facts) > 0
}

func (c *checker) checkEntry(at string, e indexEntry, names map[string]string) {
	_, again := names[e.Key]
	c.expect(!again, "VF-L1-002b", at, e.Key+" is listed twice", "list each key once")
	c.expect(!again, "VF-L1-006b", at, e.Key+" is listed twice", "list each key once")
	names[e.Key], c.known[e.Key] = e.Key, true
	c.expect(hashForm.MatchString(e.Hash), "VF-L1-002c", at, fmt.Sprintf("the hash of %s is %.80q", e.Key, e.Hash), `write "sha256:" and 64 lower-case hex digits`)
	err := facts.CheckKeyGrammar(e.Key)
	c.expect(err == nil, "VF-L1-006a", at, fmt.Sprint(err), "keys have two to six lower-case segments")
}

// sample chooses the entries to fetch: all of a small index, else a seeded draw and the examples.
func (c *checker) sample() []indexEntry {
	if len(c.index) <= allKeys {
		return c.index
	}
	draw := rand.New(rand.NewPCG(c.Seed, 0)).Perm(len(c.index))[:sampleKeys]
	slices.Sort(draw)
	var out []indexEntry
	for i, e := range c.index {
		if _, drawn := slices.BinarySearch(draw, i); drawn || slices.Contains(c.discovery.Facts.Examples, e.Key) {
			out = append(out, e)
		}
	}
	return out
}

// spread takes at most n of the records, evenly.
func (c *checker) spread(n int) []*fetched { return evenly(c.records, n) }

func evenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// checkAliases is 006c.
func (c *checker) checkAliases() {
	type alias struct{ name, key string }
	var all []alias
	for _, e := range c.index {
		for _, a := range e.Aliases {
			all = append(all, alias{a, e.Key})
		}
	}
	all = evenly(all, auditKeys)
	c.each(len(all), "aliases", func(i int) {
		at := factshttp.Expand(c.discovery.Facts.Get, "key", all[i].name)
		data, ok := c.document("VF-L1-006c", at)
		if !ok {
			return
		}
		var r struct {
			Key          string `json:"key"`
			RequestedKey string `json:"requestedKey"`
		}
		err := jcs.Decode(data, &r)
		c.expect(err == nil && r.Key == all[i].key && r.RequestedKey == all[i].name, "VF-L1-006c", at,
			fmt.Sprintf("key is %.200q, requestedKey is %.200q", r.Key, r.RequestedKey), "answer with the key "+all[i].key+" and repeat the alias as requestedKey")
	})
}

// checkStability is 007b: documents without a day in them do not change between two fetches. A rebuild itself can only be tried at home.
func (c *checker) checkStability() {
	for _, at := range []string{c.factsURL, c.discovery.Facts.Index} {
		var bodies [2][]byte
		for i := range bodies {
			resp, err := c.get(at, "")
			if err != nil || resp.Status != http.StatusOK {
				c.untested("VF-L1-007b", at, "the document could not be fetched twice", "it was fetched once before")
				return
			}
			bodies[i] = resp.Body
		}
		c.expect(bytes.Equal(bodies[0], bodies[1]), "VF-L1-007b", at, "two fetches gave different bytes",
			"build documents from the facts alone, sorted, without a clock (sayso facts build --verify tries it)")
	}
}
