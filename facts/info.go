package facts

import "sayso/jwk"

// Info describes the publisher and the catalogue.
type Info struct {
	Options
	Publisher                            Publisher
	Licence, Contact, KeyPolicy, History string
	SelfCheck                            *SelfCheck
	Examples                             []string // all in the index
	Namespaces                           []Namespace
	NamespaceCounts                      map[string]int // by declared namespace
	Areas                                []Area
	AreaStats                            map[string]AreaStat // by declared area
	Topics                               []Topic
	StopWords                            []string          // full list, defaults included
	JurisdictionWords                    map[string]string // full map
	Count                                int               // canonical keys, withdrawn included
	Newest                               Date              // newest verifiedDate
	Oldest                               Date
	Signed                               bool
	Keys                                 *jwk.Set // nil when the publisher does not sign
	Sources                              []string // distinct, sorted
}

// AreaStat summarises one area on the build.
type AreaStat struct {
	Count             int
	LastVerified      Date
	EarliestScheduled Date
}
