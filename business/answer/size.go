package answer

import "sayso/business"

// What the parts of a compiled snapshot take beside their text, in bytes on a 64-bit machine; TestSizeIsWhatIsHeld measures them.
const (
	sizeBase   = 4 << 10 // of a publisher
	sizeSchema = 16      // of a byte of the schema's text
	sizeRecord = 640     // of a record, its keys and its values
	sizeMember = 96      // of an attribute, a link or an alias
	sizeScope  = 160     // of an attribute that holds per location, beside its values
	sizeEntry  = 224     // of a published text: entry, and where it is found
	sizeWord   = 160     // of a word: its forms in one language
	sizeEdge   = 48      // of a step in the trie
	sizePlace  = 1 << 10 // of a location with its hours
)

// Size estimates the bytes that a snapshot holds in memory, its records and their text included: for a bound on many of them.
func (c *Compiled) Size() int64 {
	p := &c.publication.Profile
	size := int64(sizeBase + sizeSchema*len(c.publication.Schema) + 2*(len(c.publication.Calendar)+len(p.ProfileAttributes)) + sizePlace*len(c.places))
	x := c.lexicon
	size += int64(sizeEntry*len(x.entries) + sizeEdge*len(x.trie) + sizeMember*(len(c.terms)+len(c.profile)))
	for _, e := range x.entries {
		size += int64(4 * (2*len(e.words) + 2*len(e.set)))
	}
	for _, w := range x.vocab {
		size += int64(len(w)*2 + sizeWord*len(c.languages))
	}
	for i := range c.records {
		size += recordSize(&c.records[i]) + c.values[i].size()
	}
	return size
}

func recordSize(r *business.Record) int64 {
	n := sizeRecord + len(r.ID)*2 + len(r.Type) + len(r.Title) + len(r.URL) + len(r.Summary) + len(r.Attributes) + len(r.Content) + sizeMember*(len(r.Links)+len(r.Aliases))
	for _, a := range r.Aliases {
		n += len(a)
	}
	for _, l := range r.Links {
		n += len(l.Rel) + len(l.Type) + len(l.ID)
	}
	return int64(n)
}

// size counts the maps: the literals themselves are the text of the attributes.
func (v *values) size() int64 {
	n := sizeMember * (len(v.plain) + len(v.scoped))
	for _, places := range v.scoped {
		n += sizeScope + sizeMember*len(places)
	}
	return int64(n)
}
