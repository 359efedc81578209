package bundle

import (
	"io"
	"iter"
	"strings"

	"sayso/business"
)

// Format is the form of a file of records.
type Format string

// The three forms.
const (
	JSONL  Format = "jsonl"
	CSV    Format = "csv"
	JSONLD Format = "jsonld"
)

// FormatOf is the form of a file by its extension: .jsonl, .csv, .jsonld and .json (JSON-LD).
func FormatOf(name string) (Format, bool) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", false
	}
	switch ext := strings.ToLower(name[dot+1:]); ext {
	case "jsonl", "csv", "jsonld":
		return Format(ext), true
	case "json":
		return JSONLD, true
	}
	return "", false
}

// Options bind a reader of records to what is known about the publisher.
type Options struct {
	Publisher string           // slug that publisher and url members must match
	BaseURL   string           // canonical absolute base of record urls, "" when unknown
	Schema    *business.Schema // nil: attributes are not checked against kinds
	Locations []string         // ids that location objects may name, nil when unknown
}

// Limits of an import.
const (
	MaxLine      = 1 << 20              // bytes of a line of JSONL, of a row of CSV
	MaxRecords   = 200_000              // records of a file
	MaxContent   = 256 << 10            // bytes of content
	MaxProfile   = business.MaxDocument // bytes of publisher.json
	MaxLocations = 20_000               // locations of a profile
	MaxJSONLD    = 64 << 20             // bytes of a JSON-LD file, which is held in memory
	MaxValues    = 5_000_000            // values of a JSON-LD file
)

// Records reads a file of records one by one: a record, a problem, or both (a warning). A row with an error yields no record; a row with several
// problems yields them one after the other and the record with the last. Memory does not grow with the file, JSON-LD and a hash of 16 bytes for
// each record aside, which are bounded. name is the file's name for places. The sequence can be run once.
func Records(r io.Reader, name string, f Format, o Options) iter.Seq2[*business.Record, *Problem] {
	return func(yield func(*business.Record, *Problem) bool) {
		s := newSource(name, o, yield)
		switch f {
		case JSONL:
			s.jsonl(r)
		case CSV:
			s.csv(r)
		case JSONLD:
			s.jsonld(r)
		default:
			s.refuse(0, ruleFile, "use one of the extensions .jsonl, .csv and .jsonld", "%q is no form of a file of records", clip(string(f)))
		}
	}
}
