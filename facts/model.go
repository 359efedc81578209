package facts

import "sayso/jwk"

// Protocol identifiers.
const (
	Protocol        = "verified-facts/0.2"
	ChangesProtocol = "verified-changes/0.1"
)

// Publisher names who says so. URL is part of every attestation.
type Publisher struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Calendar is the period calendar of a namespace.
type Calendar string

// The calendars a namespace may declare (F§10.1).
const (
	CalendarUKTaxYear Calendar = "uk-tax-year"
	CalendarYear      Calendar = "calendar-year"
	CalendarNone      Calendar = "none"
)

// Namespace is a declared first key segment.
type Namespace struct {
	Name, Description string
	Calendar          Calendar
	Authorities       []string // hosts
}

// Area is a changelog area with its cadence.
type Area struct {
	Name, Namespace, Description string
	Cadence, CadenceType         string
	EveryDays, GraceDays         int // 0 = no cadence; GraceDays defaults to 7
}

// Topic is a key prefix with a title and synonyms (phrase -> key segment words).
type Topic struct {
	Prefix, Title, Area string
	Synonyms            map[string]string
}

// Signature is a stored detached JWS for one dated value.
type Signature struct {
	Kid, JWS string
}

// DatedValue is the figure for one span of days. Zero dates and empty strings mean null or absent.
type DatedValue struct {
	Value      Value // Null only when Withdrawn is set
	Unit       string
	Period     string
	From, To   Date // To: the last day, inclusive; derived from the successor when the author wrote none
	ToExplicit bool
	Source     string
	SourceFile string
	SourceType string // "" = authority
	Method     string
	Quote      string
	Verified   Date
	NextCheck  Date // the author's nextCheck; zero: Verified + area.EveryDays
	Converted  bool // confirmed as converted, not re-read
	// Withdrawal: the newest value of a withdrawn fact has Value Null and these set.
	Withdrawn       Date
	WithdrawnReason string
	SupersededBy    string
	Signature       *Signature
	Place           string // file:line:column of the value in its folder, "" when generated
}

// Previous is an authored previous block (F§3.4).
type Previous struct {
	Value  Value
	Period string
	From   Date
	Source string
}

// Fact is one key with its history, newest value first.
type Fact struct {
	Key, Label, Scope string
	Aliases           []string // explicit ones, sorted
	Topic             int      // index into Dataset.Topics, -1 when none
	Previous          *Previous
	Values            []DatedValue
}

// Dataset is everything one publisher states: the input of NewSnapshot. It is plain data; dataset.Load fills it from a folder.
type Dataset struct {
	Publisher  Publisher
	KidPrefix  string
	Licence    string
	Contact    string
	KeyPolicy  string // URL
	History    string // URL where the changelog's history is auditable
	SelfCheck  *SelfCheck
	Examples   []string
	Namespaces []Namespace
	Areas      []Area
	Topics     []Topic
	Facts      []Fact // sorted by key bytes
	// StopWords and JurisdictionWords are the publisher's additions to the default lists.
	StopWords         []string
	JurisdictionWords map[string]string // phrase -> namespace
	Changes           []Entry           // chain order, oldest first, hash and prevHash set
	Keys              *jwk.Set          // nil when the publisher does not sign
	Signed            bool              // a signature set is part of the dataset: every served value must have one
}

// SelfCheck is the publisher's declaration of F§12 item 18.
type SelfCheck struct {
	Schedule string `json:"schedule"`
	Last     string `json:"last,omitempty"`
	Report   string `json:"report,omitempty"`
}

// Entry is one changelog entry. Members follow F§8.3; Null values are written as null.
type Entry struct {
	Area, Key, FactKey, Label string
	From, To                  Value
	Unit, Period              string
	EffectiveFrom             Date
	Source                    string
	VerifiedDate              Date
	SourceType, Method        string
	SourceFile                string
	Seq                       int
	DateBasis                 string
	Snapshot                  Date // the release or download day of the dataset it was read from
	Bundle                    bool // a first coverage taken over as a whole
	HeldCount, SourceCount    int  // how many figures of the source are held, how many it has; 0 = not said
	Quote                     string
	Withdrawn                 Date
	SupersededBy              string
	Correction                bool
	Hash, PrevHash            string
}
