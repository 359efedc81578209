package gidp

import (
	"slices"
)

// View is all that a session knows of an interest: towards one counterparty, at one moment. It is derived anew for each event, so that a withdrawn permission
// is withdrawn at the next emission (§16.3).
type View struct {
	Active      bool // the interest is ACTIVE, and the session's reference is live
	Authority   Authority
	Profile     *Profile
	Attributes  map[string]Attribute // held keys and decoys; dependency lists under their reserved keys
	Required    []string             // minimum claims of the interest beside those of the profile
	Excluding   []string             // keys on which a claim of this side rules out what the interest excludes; an initiator does not qualify before one stands on each (§19.1)
	Contingency Contingency
}

// Attribute is one key of a View.
type Attribute struct {
	Holding    Holding  // nil: the attribute is held, and nothing of it is evaluated
	Class      Class    // towards this counterparty
	Held       bool     // false for a decoy, which has a class and no value
	Member     bool     // the peer belongs to the trust domain of a Network attribute
	Reciprocal bool     // released only once the peer has disclosed the same attribute
	Verify     []string // credentials, by opaque references, that the peer has to show before the release
}

// Contingency is what a session may say of the interest's conditional_on (§14.6). Names are empty unless the class lets them be transmitted at all.
type Contingency struct {
	Class  Class
	Exists bool
	Member bool
	Names  []string
}

// Minimum returns the keys that must stand before this side qualifies, the profile's first.
func (v *View) Minimum() []string {
	if v.Profile == nil {
		return v.Required
	}
	return slices.Concat(v.Profile.Minimum, v.Required)
}

// Identifying reports whether a key identifies the Principal.
func (v *View) Identifying(key string) bool {
	return key == PrincipalIdentity || v.Profile != nil && v.Profile.Identifying(key)
}

// Holding is what stands for the value of an attribute in a View.
type Holding interface{ holding() }

// Open is a value that the policy lets this peer have on request.
type Open struct {
	Value   Value
	Tree    *Tree
	Meaning Meaning
}

// Shape says what a partitioned attribute holds.
type Shape uint8

// The shapes.
const (
	Point   Shape = iota // one value
	Floor                // {min: v}
	Ceiling              // {max: v}
	Range                // {min: a, max: b}
)

// Cells is a partitioned value: the cell of a point or of a bound, two cells of a range.
type Cells struct {
	Partition *Partition
	Shape     Shape
	Low, High int  // Low of a point and a floor, High of a ceiling, both of a range
	Definite  bool // an answer at the asked edge is not softened
}

// Labels is a set of labels, each generalised to a label on a public cut or above it.
type Labels struct {
	Tree  *Tree
	Nodes []string
}

// Audited is a value that only its owner can compare. Answers are charged to a row of the ledger. Truth applies a test to the value: to the point, or to the
// bound. It is called at most once for a claim, and only when whatever it returns has been admitted.
type Audited struct {
	Row   LedgerKey
	Shape Shape // Point, Floor or Ceiling
	Truth func(test func(v int64) bool) bool
}

// Closed is a protected value that has neither cells nor a budget: every claim on it is declined.
type Closed struct{}

// Barred is an attribute of the class never, or a decoy: every claim on it is declined.
type Barred struct{}

// Identity is an identifying value. The owner replaces it by Open for the one evaluation that a grant covers.
type Identity struct{}

func (Open) holding()     {}
func (Cells) holding()    {}
func (Labels) holding()   {}
func (Audited) holding()  {}
func (Closed) holding()   {}
func (Barred) holding()   {}
func (Identity) holding() {}
