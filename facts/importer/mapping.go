package importer

import (
	"slices"
	"strings"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/report"
)

// MappingFormat identifies the mapping file.
const MappingFormat = "sayso-mapping/1"

// Kind is the shape of an upstream source.
type Kind string

// The kinds of F§11.
const (
	OpenFisca    Kind = "openfisca"
	SmartAnswers Kind = "smart-answers"
	EndOfLife    Kind = "endoflife"
	CSV          Kind = "csv"
)

// Kinds lists the kinds in the order of the manual.
func Kinds() []Kind { return []Kind{OpenFisca, SmartAnswers, EndOfLife, CSV} }

// Mapping is a mapping file as read by ParseMapping.
type Mapping struct {
	Kind Kind

	file     string
	refuse   []refusedFolder
	floors   []string
	topics   []topic
	defaults entry // CSV: what applies to every row
	entries  []entry
}

// NewMapping is a mapping that names nothing: what a first Suggest starts from.
func NewMapping(kind Kind) *Mapping { return &Mapping{Kind: kind, defaults: entry{decimals: -1}} }

// refusedFolder is an upstream folder that holds no law in force (VF-I-13).
type refusedFolder struct{ path, reason string }

// topic is where keys of a prefix go.
type topic struct{ prefix, title, area string }

// entry is what the mapping says about one upstream parameter.
type entry struct {
	path string
	line int

	key, label, scope    string
	aliases              []string
	synonyms             []dataset.Synonym
	unit                 string
	hasUnit              bool
	upstreamUnit         string
	sourceType, method   string
	source               string
	checked              bool   // an upstream check date is required
	history              bool   // every value, not only the one in force and the one before
	standing             bool   // no period label
	yearStarts           string // MM-DD
	format               string
	decimals             int // -1: by the unit
	split                *entry
	collidesWith, marker string // set by the taker; the release of a pattern
}

// derived reports whether the mapping answers for a source that is no authority (VF-I-04).
func (e *entry) derived() bool {
	return e.method != "" && (e.sourceType == dataset.SourceDerived || e.sourceType == dataset.SourceMethodology)
}

// pattern splits a path of the form product/*/field.
func (e *entry) pattern() (product, field string, ok bool) {
	product, field, ok = strings.Cut(e.path, "/*/")
	return product, field, ok
}

// release fills a pattern's entry for one release.
func (e *entry) release(path, name string) entry {
	out := *e
	out.path, out.marker = path, name
	out.key = strings.ReplaceAll(e.key, releaseMark, name)
	out.label = strings.ReplaceAll(e.label, releaseMark, name)
	if e.split != nil {
		s := e.split.release(path, name)
		out.split = &s
	}
	return out
}

const releaseMark = "{release}"

// MappingError is the refusal of a mapping file: every place at once.
type MappingError struct{ Findings []report.Finding }

func (e *MappingError) Error() string {
	f := e.Findings[0]
	return f.Place + ": " + f.Message
}

// Options are what an import needs to know of the folder and the day.
type Options struct {
	Today  facts.Date
	Folder *dataset.Folder // its namespaces and authorities, and the values it holds already
}

// namespace is the declared namespace of a key, nil when the folder declares none.
func (o *Options) namespace(key string) *facts.Namespace {
	name := facts.KeyNamespace(key)
	i := slices.IndexFunc(o.Folder.Publisher.Namespaces, func(n dataset.Namespace) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Folder.Publisher.Namespaces[i].Namespace
}

// topicOf is the topic with the longest prefix that covers a key, nil when none does.
func (m *Mapping) topicOf(key string) *topic {
	var best *topic
	for i := range m.topics {
		t := &m.topics[i]
		if (key == t.prefix || strings.HasPrefix(key, t.prefix+"/")) && (best == nil || len(t.prefix) > len(best.prefix)) {
			best = t
		}
	}
	return best
}

// refused is the folder of the mapping in which an upstream path lies, nil when it lies in none.
func (m *Mapping) refused(path string) *refusedFolder {
	for i := range m.refuse {
		if below(path, m.refuse[i].path) {
			return &m.refuse[i]
		}
	}
	return nil
}

// isFloor reports the first days that mean "held since" in a model and not "in force since" (VF-I-07).
func (m *Mapping) isFloor(day string) bool {
	return day == "0000-01-01" || day == "0001-01-01" || day == "2015-04-01" || slices.Contains(m.floors, day)
}
