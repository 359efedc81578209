package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sayso/facts"
)

// DueItem is one value whose next check has come.
type DueItem struct {
	Key       string     `json:"key"`
	Label     string     `json:"label"`
	Period    string     `json:"period,omitempty"`
	From      facts.Date `json:"effectiveFrom"`
	Area      string     `json:"area"`
	Source    string     `json:"source"`
	Verified  facts.Date `json:"verifiedDate"`
	Scheduled facts.Date `json:"nextScheduledRefresh"`
	Staleness string     `json:"staleness"` // due | overdue
}

// Due lists the values in force that F§4.4 calls due or overdue on a day, the longest overdue first. Nothing is fetched.
func Due(folder *Folder, today facts.Date) []DueItem {
	var out []DueItem
	for i := range folder.Topics {
		t := &folder.Topics[i]
		area := folder.area(t.Area)
		for j := range t.Facts {
			f := &t.Facts[j]
			v := inForce(f, today)
			if v == nil || !v.Withdrawn.IsZero() {
				continue
			}
			next, staleness := staleness(v, area, today)
			if staleness != facts.StalenessCurrent {
				out = append(out, DueItem{f.Key, f.Label, v.Period, v.From, t.Area, v.Source, v.Verified, next, staleness})
			}
		}
	}
	slices.SortFunc(out, func(a, b DueItem) int {
		return cmp.Or(cmp.Compare(a.Scheduled, b.Scheduled), strings.Compare(a.Key, b.Key))
	})
	return out
}

func (f *Folder) area(name string) facts.Area {
	for i := range f.Publisher.Areas {
		if f.Publisher.Areas[i].Name == name {
			return f.Publisher.Areas[i].Area
		}
	}
	return facts.Area{GraceDays: facts.DefaultGraceDays} // F§4.4
}

// inForce is the held value in force on a day (S1), nil when there is none.
func inForce(f *Fact, day facts.Date) *facts.DatedValue {
	for _, v := range held(f) {
		start := v.From
		if start.IsZero() {
			start = v.Withdrawn
		}
		if start <= day {
			if v.To.IsZero() || v.To >= day {
				return &v
			}
			return nil
		}
	}
	return nil
}

// staleness is the next check of a value and current, due or overdue (F§4.4).
func staleness(v *facts.DatedValue, area facts.Area, today facts.Date) (next facts.Date, state string) {
	next = facts.NextRefresh(v, area)
	return next, facts.Staleness(next, area.GraceDays, today)
}

// Shown is everything the folder holds about a key.
type Shown struct {
	Key, Label, Unit, Scope string
	File, Place             string
	Topic                   facts.Topic
	Aliases                 []string
	Candidate               bool // the fact stands in a candidate file
	Values                  []ShownValue
	Changes                 []facts.Entry
}

// ShownValue is one dated value with its state and confirmations.
type ShownValue struct {
	facts.DatedValue
	State         string // confirmed | converted | draft | candidate
	Hash          string
	Confirmations []Confirmation
	Signed        bool // a signature for exactly this statement is stored
}

// Show returns what the folder holds about a key, its candidates included: the confirmed values with their derived ends, then drafts and candidates.
func Show(folder *Folder, key string) (*Shown, error) {
	topic, fact := folder.Find(key)
	source, candidate := folder.FindCandidate(key)
	if fact == nil && candidate == nil {
		_, err := (&work{folder: folder}).choose(key, "")
		return nil, err
	}
	out := &Shown{}
	if fact != nil {
		out.describe(topic, fact)
		conversions, stored := folder.conversions(), folder.signaturesByAttestation()
		for _, v := range held(fact) {
			claim, a := facts.ClaimOf(key, &v), facts.Attest(folder.Publisher.Publisher, key, &v)
			s := ShownValue{DatedValue: v, State: "confirmed", Hash: claim.Hash(), Signed: stored[attestationDigest(&a)] != nil}
			if conversions[confirmed{s.Hash, v.Verified}] {
				s.State = "converted"
			}
			for i := range folder.Confirmations {
				if c := &folder.Confirmations[i]; c.Hash == s.Hash {
					s.Confirmations = append(s.Confirmations, *c)
				}
			}
			out.Values = append(out.Values, s)
		}
		out.unconfirmed(fact, "draft")
	}
	if candidate != nil {
		if fact == nil {
			out.describe(source, candidate)
			out.Candidate = true
		}
		out.unconfirmed(candidate, "candidate")
	}
	for _, e := range folder.Changes {
		if e.FactKey == key {
			out.Changes = append(out.Changes, e)
		}
	}
	return out, nil
}

func (s *Shown) describe(t *Topic, f *Fact) {
	s.Key, s.Label, s.Unit, s.Scope, s.Aliases = f.Key, f.Label, f.Unit, f.Scope, f.Aliases
	s.File, s.Place, s.Topic = t.File, place(t.File, f.At), t.convert()
}

func (s *Shown) unconfirmed(f *Fact, state string) {
	for i := range f.Values {
		if v := &f.Values[i]; v.Draft() {
			claim := facts.ClaimOf(f.Key, &v.DatedValue)
			s.Values = append(s.Values, ShownValue{DatedValue: v.DatedValue, State: state, Hash: claim.Hash()})
		}
	}
}

// Audit runs the self-resolution audit of F§6.11 over a folder, all keys when keys is nil, until yield returns false.
func Audit(folder *Folder, keys []string, today facts.Date, yield func(facts.AuditRow) bool) error {
	ds, err := folder.Dataset(DatasetOptions{Level: "L1"})
	if err != nil {
		return err
	}
	snapshot, err := facts.NewSnapshot(ds, facts.Options{Origin: "https://audit.invalid", Static: true, Conformance: "L1"})
	if err != nil {
		return err
	}
	for _, key := range keys {
		if canonical, alias := snapshot.Lookup(key); canonical == "" || alias {
			return &Error{Kind: NotFound, Message: fmt.Sprintf("no published fact %s", clip(key)), Next: "facts show lists the keys"}
		}
	}
	snapshot.Audit(keys, today, yield)
	return nil
}
