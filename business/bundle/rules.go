package bundle

import (
	"cmp"
	"fmt"
	"slices"

	"sayso/report"
)

// The rules of an import and of its lint.
const (
	ruleFile      = "XB-01"
	ruleLimit     = "XB-02"
	ruleHeader    = "XB-03"
	ruleUnknown   = "XB-04"
	ruleRequired  = "XB-05"
	ruleForm      = "XB-06"
	ruleName      = "XB-07"
	ruleUnique    = "XB-08"
	rulePublisher = "XB-09"
	ruleURL       = "XB-10"
	ruleInstant   = "XB-11"
	ruleNumber    = "XB-12"
	ruleBool      = "XB-13"
	ruleKind      = "XB-14"
	ruleScope     = "XB-15"
	ruleCurrency  = "XB-16"
	ruleLink      = "XB-17"
	ruleHours     = "XB-18"
	ruleRepair    = "XB-19"
	rulePrimary   = "XB-20"
	rulePosition  = "XB-21"
	ruleZone      = "XB-22"
	ruleCountry   = "XB-23"
	ruleTool      = "XB-24"
	ruleFreshness = "XB-25"
	ruleLanguage  = "XB-26"
	ruleWebsite   = "XB-27"
	ruleContext   = "XB-28"
	ruleNode      = "XB-29"
	ruleUnmapped  = "XB-30"

	lintPhone    = "XB-41"
	lintAddress  = "XB-42"
	lintZone     = "XB-43"
	lintPosition = "XB-44"
	lintAlias    = "XB-45"
	lintPrice    = "XB-46"
	lintHours    = "XB-47"
	lintLanguage = "XB-48"
	lintDeclared = "XB-49"
)

const (
	sectionImport = "bundle: import"
	sectionLint   = "bundle: lint"
)

var rules = []report.Rule{
	{ID: ruleFile, Title: "the file is readable, in UTF-8 and well formed", Section: sectionImport},
	{ID: ruleLimit, Title: "files, lines, records and contents are within the limits", Section: sectionImport},
	{ID: ruleHeader, Title: "the header names known columns, each once, and none that says the same as another", Section: sectionImport},
	{ID: ruleUnknown, Title: "no member is dropped because it is not known", Section: sectionImport},
	{ID: ruleRequired, Title: "required members are stated", Section: sectionImport},
	{ID: ruleForm, Title: "a member has the JSON type it must have, and is left out rather than null", Section: sectionImport},
	{ID: ruleName, Title: "ids, types, titles and other names are within their grammar, without control characters and direction overrides", Section: sectionImport},
	{ID: ruleUnique, Title: "type and id stand once in a file", Section: sectionImport},
	{ID: rulePublisher, Title: "the file is this publisher's", Section: sectionImport},
	{ID: ruleURL, Title: "a stated url is the record's own", Section: sectionImport},
	{ID: ruleInstant, Title: "an instant is RFC 3339 with an offset", Section: sectionImport},
	{ID: ruleNumber, Title: "a number is a JSON literal with a decimal point", Section: sectionImport},
	{ID: ruleBool, Title: "a boolean is true or false", Section: sectionImport},
	{ID: ruleKind, Title: "an attribute has the kind that the schema declares", Section: sectionImport},
	{ID: ruleScope, Title: "a value per location is an object whose keys are location ids", Section: sectionImport},
	{ID: ruleCurrency, Title: "a record's currency is the one the schema declares", Section: sectionImport},
	{ID: ruleLink, Title: "a link has a known relation and names a record", Section: sectionImport},
	{ID: ruleHours, Title: "opening hours are understood completely", Section: sectionImport},
	{ID: ruleRepair, Title: "opening hours are spelt canonically", Section: sectionImport},
	{ID: rulePrimary, Title: "location ids are unique, and exactly one location is primary", Section: sectionImport},
	{ID: rulePosition, Title: "latitude and longitude stand together and are on the globe", Section: sectionImport},
	{ID: ruleZone, Title: "a time zone is an IANA name", Section: sectionImport},
	{ID: ruleCountry, Title: "a country code is two upper-case letters", Section: sectionImport},
	{ID: ruleTool, Title: "a tool has a name of its own and a known handler", Section: sectionImport},
	{ID: ruleFreshness, Title: "a freshness contract has a positive sla_seconds and a policy", Section: sectionImport},
	{ID: ruleLanguage, Title: "a language is a BCP 47 tag", Section: sectionImport},
	{ID: ruleWebsite, Title: "a website is an absolute http or https URL", Section: sectionImport},
	{ID: ruleContext, Title: "JSON-LD has the schema.org context, which is never fetched", Section: sectionImport},
	{ID: ruleNode, Title: "a JSON-LD node has the type, the place and the id that the mapping needs", Section: sectionImport},
	{ID: ruleUnmapped, Title: "nothing in a JSON-LD node is without a mapping", Section: sectionImport},
	{ID: lintPhone, Title: "branches do not all state one phone", Section: sectionLint},
	{ID: lintAddress, Title: "no two locations have one address", Section: sectionLint},
	{ID: lintZone, Title: "every location states its time zone", Section: sectionLint},
	{ID: lintPosition, Title: "every location states its coordinates", Section: sectionLint},
	{ID: lintAlias, Title: "no alias is another record's title", Section: sectionLint},
	{ID: lintPrice, Title: "no title contains a price", Section: sectionLint},
	{ID: lintHours, Title: "opening hours say what they seem to say", Section: sectionLint},
	{ID: lintLanguage, Title: "languages are declared", Section: sectionLint},
	{ID: lintDeclared, Title: "the schema declares what records state", Section: sectionLint},
}

// Rules lists every rule of an import and of [Lint] in order.
func Rules() []report.Rule { return slices.Clone(rules) }

// Problem is what is wrong, or noteworthy, at one place of an import.
type Problem struct {
	File    string `json:"file"`
	Row     int    `json:"row,omitzero"` // line of JSONL, row of CSV with the header as 1, index of a JSON-LD node from 1
	Field   string `json:"field,omitempty"`
	Rule    string `json:"rule"`    // XB-… of this package, see Rules
	Message string `json:"message"` // one sentence
	Next    string `json:"next"`    // what to do
	Warning bool   `json:"warning,omitzero"`
}

// What one row, and one whole document, can say: beyond it a wrong one still counts as wrong.
const (
	maxProblems     = 50
	maxDocumentSays = 10_000
)

// row collects what is found at one place of a file.
type row struct {
	file     string
	n        int
	most     int // maxProblems when 0
	problems []Problem
	failed   bool
}

func (r *row) fail(rule, field, next, format string, args ...any) {
	r.failed = true
	r.add(Problem{Rule: rule, Field: field, Next: next, Message: fmt.Sprintf(format, args...)})
}

func (r *row) warn(rule, field, next, format string, args ...any) {
	r.add(Problem{Rule: rule, Field: field, Next: next, Message: fmt.Sprintf(format, args...), Warning: true})
}

func (r *row) add(p Problem) {
	if len(r.problems) < cmp.Or(r.most, maxProblems) {
		p.File, p.Row, p.Field = r.file, r.n, clip(p.Field)
		r.problems = append(r.problems, p)
	}
}

// clip shortens foreign text for a message.
func clip(s string) string {
	if len(s) <= 60 {
		return s
	}
	for i := range s {
		if i > 60 {
			return s[:i] + "…"
		}
	}
	return s
}
