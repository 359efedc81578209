package language

// Kind says what a piece of a question is.
type Kind uint8

// The kinds: first those of the publisher's lexicon, then those of a language.
const (
	KindSelf Kind = iota
	KindRecord
	KindTerm     // term of a list
	KindProfile  // yes/no attribute of the business
	KindBool     // yes/no attribute of records
	KindPlace    // location
	KindField    // canonical field, or an attribute of records with words of its own
	KindType     // record type
	KindListNoun // noun of a list
	KindVerb     // existence verb, verb of a list, verb of a field: see role
	KindCategory // what the business is: never evidence
	KindComparison
	KindLiteral
	KindWeekday
	KindDate
	KindTime
	KindRelative
	KindHoliday
	KindState
	KindNearest
	KindFree
	KindNegation
	KindConjunction
	KindAnaphor
	KindSelector
	KindPlaceNoun
	KindCourtesy
	KindContent  // a word that is always an obligation; value is its reason
	KindQuestion // a question word that no field phrase took
	// The kinds below only take part in literals.
	KindComparator
	KindMonth
	KindUnit
	KindCurrency
	KindMorning
	KindAfternoon
	KindHour
)

// Role is what a verb can be; one word may be several.
type Role uint8

const (
	RoleExist Role = 1 << iota // exists, has: used and never evidence
	RoleList                   // a list verb of the pack: beside a noun of the list
	RoleOwn                    // a verb of a list of the publisher's
	RoleField                  // names a field beside its phrase or a comparison
)
