package importer

import (
	"slices"

	"sayso/report"
)

// The rules of an import. VF-I-01 to VF-I-19 are the refusals of F§11.3; the others name what stops a value before any of them can be asked.
const (
	ruleURL        = "VF-I-01"
	ruleChecked    = "VF-I-02"
	ruleHTTPS      = "VF-I-03"
	ruleAuthority  = "VF-I-04"
	ruleForecast   = "VF-I-05"
	ruleUprated    = "VF-I-06"
	ruleFloor      = "VF-I-07"
	ruleGap        = "VF-I-08"
	ruleBracket    = "VF-I-09"
	ruleSentinel   = "VF-I-10"
	ruleRelative   = "VF-I-11"
	ruleFranc      = "VF-I-12"
	ruleFolder     = "VF-I-13"
	ruleCode       = "VF-I-14"
	ruleOverlap    = "VF-I-15"
	ruleGrouped    = "VF-I-16"
	ruleOpenEnd    = "VF-I-17"
	ruleKey        = "VF-I-18"
	ruleType       = "VF-I-19"
	ruleMapping    = "VF-I-20"
	ruleUnreadable = "VF-I-21"
	ruleAbsent     = "VF-I-22"
	ruleShape      = "VF-I-23"
	ruleNotInForce = "VF-I-24"
	ruleHeld       = "VF-I-25"
)

var rules = []report.Rule{
	{ID: ruleURL, Title: "the value has a URL of its own", Section: "F§11.3"},
	{ID: ruleChecked, Title: "the upstream check date is there where asked for, and plausible", Section: "F§11.3"},
	{ID: ruleHTTPS, Title: "the source is https", Section: "F§11.3"},
	{ID: ruleAuthority, Title: "the source is an authority of the namespace, or the value is mapped as derived with its method", Section: "F§11.3"},
	{ID: ruleForecast, Title: "no forecast is taken for a value, and no future value without a source that announces it", Section: "F§11.3"},
	{ID: ruleUprated, Title: "the value was published, not computed by uprating", Section: "F§11.3"},
	{ID: ruleFloor, Title: "the first value is not dated at the floor of a model", Section: "F§11.3"},
	{ID: ruleGap, Title: "missing periods are reported and never bridged", Section: "F§11.3"},
	{ID: ruleBracket, Title: "a scale is taken whole", Section: "F§11.3"},
	{ID: ruleSentinel, Title: "the number is a figure, not a stand-in for infinity", Section: "F§11.3"},
	{ID: ruleRelative, Title: "the unit is absolute", Section: "F§11.3"},
	{ID: ruleFranc, Title: "no value of the franc era under a unit without currency", Section: "F§11.3"},
	{ID: ruleFolder, Title: "the folder holds law in force, not reforms or model inputs", Section: "F§11.3"},
	{ID: ruleCode, Title: "the value is a figure, not the name of a variable", Section: "F§11.3"},
	{ID: ruleOverlap, Title: "the ranges of a value do not overlap", Section: "F§11.3"},
	{ID: ruleGrouped, Title: "a number written as text is read by the format the mapping names", Section: "F§11.3"},
	{ID: ruleOpenEnd, Title: "an end far in the future is an open end", Section: "F§11.3"},
	{ID: ruleKey, Title: "the key is within the grammar, in a declared namespace, and nobody else's", Section: "F§11.3"},
	{ID: ruleType, Title: "one key has one type", Section: "F§11.3"},
	{ID: ruleMapping, Title: "the mapping file is well formed", Section: "F§11"},
	{ID: ruleUnreadable, Title: "the upstream file can be read", Section: "F§11.1"},
	{ID: ruleAbsent, Title: "the mapped path exists upstream", Section: "F§11"},
	{ID: ruleShape, Title: "the value has a form and a unit that can be published", Section: "F§11.1, F§3.2"},
	{ID: ruleNotInForce, Title: "a value is in force", Section: "F§11.3"},
	{ID: ruleHeld, Title: "the value is not held already", Section: "F§10.4"},
}

// Rules lists every rule of an import in order: the refusals of F§11.3 and, behind them, what else keeps a mapped value out.
func Rules() []report.Rule { return slices.Clone(rules) }
