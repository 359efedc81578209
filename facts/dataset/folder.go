package dataset

import (
	"slices"

	"sayso/facts"
	"sayso/jwk"
	"sayso/report"
)

// Names of the files and folders at the root.
const (
	publisherFile     = "publisher.yaml"
	topicsDir         = "topics"
	candidatesDir     = "candidates"
	confirmationsFile = "confirmations.jsonl"
	changelogFile     = "changelog.jsonl"
	signaturesFile    = "signatures.json"
	keysFile          = "jwks.json"
)

// Format identifiers.
const (
	Format           = "sayso-dataset/1"
	SignaturesFormat = "sayso-signatures/1"
)

// Source types (F§3.1). An absent sourceType is an authority.
const (
	SourceAuthority   = "authority"
	SourceMethodology = "methodology"
	SourceDerived     = "derived"
)

// ByConversion is the "by" of a confirmation that says: converted, not re-read.
const ByConversion = "conversion"

// Position is a line and a column, counted from 1; columns count code points. The zero Position means the file as a whole.
type Position struct{ Line, Col int32 }

// Folder is a publisher's folder as read. What could not be read is missing from it and named in the report of Load.
type Folder struct {
	Publisher     Publisher
	Topics        []Topic // by file name
	Candidates    []Topic // by file name
	Confirmations []Confirmation
	Changes       []facts.Entry // line n of changelog.jsonl is Changes[n-1] when the load report has no finding
	Signatures    []StoredSignature
	HasSignatures bool     // signatures.json exists
	Keys          *jwk.Set // nil without jwks.json

	loaded []report.Finding
}

// Publisher is publisher.yaml.
type Publisher struct {
	facts.Publisher
	KidPrefix, Licence          string
	Contact, KeyPolicy, History string
	SelfCheck                   *facts.SelfCheck
	Examples                    []string
	Namespaces                  []Namespace
	Areas                       []Area
	StopWords                   []string
	JurisdictionWords           map[string]string
	examplesAt                  Position
}

// Namespace is a declared namespace and where it stands.
type Namespace struct {
	facts.Namespace
	At Position
}

// Area is a declared area and where it stands.
type Area struct {
	facts.Area
	At Position
}

// Synonym is one synonym of a topic.
type Synonym struct {
	Phrase, Segment string
	At              Position
}

// Topic is one topic file or candidate file.
type Topic struct {
	File                string
	Prefix, Title, Area string // all empty in a candidate file without topic
	At                  Position
	Synonyms            []Synonym
	Facts               []Fact
	broken              bool // something of the file could not be read: more may be missing than was named
}

// Fact is one fact as written.
type Fact struct {
	Key                string // full key
	Label, Unit, Scope string
	Aliases            []string
	Previous           *facts.Previous
	Values             []Value
	At, PreviousAt     Position // of the key; of the previous block
	index              int      // item number in the file
}

// Value is one dated value as written: To is zero unless the author wrote it.
type Value struct {
	facts.DatedValue
	Checked  facts.Date // the upstream's own check date of an imported value
	Upstream string
	Literal  string // source text of a number
	At       Places
	index    int
	broken   bool // a member could not be read: what follows from the others is not told
}

// Places says where the members of a value stand; the zero Position for an absent one.
type Places struct {
	Item, Value, Unit, Period, From, To, Source, Quote, Verified, Withdrawn Position
}

// Draft reports whether the value is unconfirmed and therefore in no build.
func (v *Value) Draft() bool { return v.Verified.IsZero() }

// broken reports a fact with a value that could not be read whole.
func (f *Fact) broken() bool {
	return slices.ContainsFunc(f.Values, func(v Value) bool { return v.broken })
}

// start is the day from which the value is in force: a withdrawal without effectiveFrom begins on its own day.
func (v *Value) start() facts.Date {
	if v.From.IsZero() {
		return v.Withdrawn
	}
	return v.From
}

// Confirmation is one line of confirmations.jsonl.
type Confirmation struct {
	Key           string      `json:"key"`
	Period        *string     `json:"period"`
	EffectiveFrom facts.Date  `json:"effectiveFrom"`
	Hash          string      `json:"hash"`
	VerifiedDate  facts.Date  `json:"verifiedDate"`
	By            string      `json:"by"`
	Value         facts.Value `json:"value"`
	Fetched       *Fetched    `json:"fetched"`
}

// Fetched is what the source answered when a value was confirmed.
type Fetched struct {
	Status       int    `json:"status"`
	FinalURL     string `json:"finalUrl"`
	SHA256       string `json:"sha256"` // lower-case hex of the body
	QuoteFound   bool   `json:"quoteFound"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

// StoredSignature is one entry of signatures.json.
type StoredSignature struct {
	Key           string     `json:"key"`
	Period        *string    `json:"period"`
	EffectiveFrom facts.Date `json:"effectiveFrom"`
	VerifiedDate  facts.Date `json:"verifiedDate"`
	Attestation   string     `json:"attestation"` // "sha256:" and hex over the canonical attestation
	Kid           string     `json:"kid"`
	JWS           string     `json:"jws"`
}

// Level is the level the folder itself asks for: L3 with a signatures.json, L1 without (a server raises that to L2).
func (f *Folder) Level() string {
	if f.HasSignatures {
		return "L3"
	}
	return "L1"
}

// Find returns the fact with a key, nil when no topic file holds it.
func (f *Folder) Find(key string) (*Topic, *Fact) { return find(f.Topics, key) }

// FindCandidate returns the candidate with a key, nil when no candidate file holds it.
func (f *Folder) FindCandidate(key string) (*Topic, *Fact) { return find(f.Candidates, key) }

func find(topics []Topic, key string) (*Topic, *Fact) {
	for i := range topics {
		for j := range topics[i].Facts {
			if topics[i].Facts[j].Key == key {
				return &topics[i], &topics[i].Facts[j]
			}
		}
	}
	return nil, nil
}

// optional is the JSON form of a text that may be null.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
