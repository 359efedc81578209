package facts

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"sayso/jcs"
)

// Outcome says what an Answer is.
type Outcome uint8

// The outcomes of get.
const (
	OutcomeRecord  Outcome = iota // a record, withdrawn ones included
	OutcomeNotHeld                // key known, no value for the selection (200, covered false)
	OutcomeUnknown                // unknown key (404, candidates)
)

// The words of an answer.
const (
	StatusFresh = "fresh"
	StatusStale = "stale"

	ReasonNotHeld       = "period not held"
	ReasonSeveralValues = "several values in this period"

	// NoticeFuture says that an open-ended value was asked about a day that has not come (S16).
	NoticeFuture = "as_of is after today; no later value is known"

	// ErrorUnknownKey is the error member of a miss.
	ErrorUnknownKey = "unknown key"
)

// maxCandidates is how many candidates a miss offers (F§5.3).
const maxCandidates = 5

// Answer is the result of one get. It refers to its snapshot and is cheap.
type Answer struct {
	Outcome      Outcome
	Key          string // canonical, "" when unknown
	RequestedKey string // set when the request differs from Key by more than URL spelling; always set when unknown
	Resolved     *Match // set after auto-resolution
	Status       string // fresh | stale (records of a served snapshot)
	AgeDays      int
	MaxAgeDays   int // NoMaxAge when null
	Verified     Date
	Hash         string
	Reason       string      // not held: "period not held" | "several values in this period"
	Candidates   []Candidate // unknown
	Hint         string
	Selection    Selection
	Notice       string

	snapshot *Snapshot
	fact     int32
	value    int32 // index of the chosen value
	today    Date  // the day the selection without as_of and period speaks of
}

// Get answers one key (F§4): normalise, look up, resolve, choose the value, compute freshness. requested is percent-decoded. A key that is empty or over
// MaxQuery characters is a *ParameterError naming key; so is, naming period, a selection with both as_of and period.
func (s *Snapshot) Get(requested string, sel Selection, today Date) (Answer, error) {
	if sel.Period != "" {
		if err := checkPeriod(sel); err != nil {
			return Answer{}, err
		}
	}
	if fact, ok := s.byKey[requested]; ok { // what is usually asked; a key is its own normal form
		return s.answer(fact, sel, today), nil
	}
	if err := checkRequested(requested, "key"); err != nil {
		return Answer{}, err
	}
	key, changed := NormalizeKey(requested, s.has)
	if fact, alias, ok := s.find(key); ok {
		a := s.answer(fact, sel, today)
		if alias || changed {
			a.RequestedKey = RequestedForm(requested)
		}
		return a, nil
	}
	return s.resolveKey(RequestedForm(requested), sel, today), nil
}

// checkPeriod applies the bounds of a period label, which a miss repeats.
func checkPeriod(sel Selection) error {
	switch {
	case !sel.AsOf.IsZero():
		return refuse("period", "period and as_of exclude each other; pass one of them")
	case !utf8.ValidString(sel.Period):
		return refuse("period", "period is not valid UTF-8")
	case utf8.RuneCountInString(sel.Period) > maxLine:
		return refuse("period", "period has more than %d characters", maxLine)
	}
	return nil
}

// checkRequested applies the bounds of a requested key, which a miss repeats.
func checkRequested(requested, parameter string) error {
	switch {
	case strings.TrimSpace(requested) == "":
		return refuse(parameter, "%s is missing or empty; name a key, such as one from the index", parameter)
	case len(requested) > MaxQuery && utf8.RuneCountInString(requested) > MaxQuery:
		return refuse(parameter, "%s has more than %d characters; a key has at most %d bytes", parameter, MaxQuery, MaxKeyBytes)
	case !utf8.ValidString(requested):
		return refuse(parameter, "%s is not valid UTF-8", parameter)
	}
	return nil
}

// resolveKey answers what is neither a key nor an alias: by the one unambiguous candidate, or with the candidates (F§6.7).
func (s *Snapshot) resolveKey(requested string, sel Selection, today Date) Answer {
	ranking := s.res.rank(requested, "", maxCandidates, s.find)
	if ranking.Best {
		hit := ranking.Hits[0]
		a := s.answer(hit.Entry, sel, today)
		a.RequestedKey = requested
		a.Resolved = &Match{Score: hit.Score, Matched: hit.Matched}
		return a
	}
	a := Answer{Outcome: OutcomeUnknown, RequestedKey: requested, MaxAgeDays: sel.MaxAge, Selection: sel, Hint: ranking.Hint, snapshot: s, today: today}
	for _, hit := range ranking.Hits {
		c := s.candidate(hit.Entry, today)
		c.Score, c.Matched = hit.Score, hit.Matched
		a.Candidates = append(a.Candidates, c)
	}
	return a
}

// answer is the answer of a known fact under a selection.
func (s *Snapshot) answer(fact int32, sel Selection, today Date) Answer {
	a := Answer{Key: s.key(fact), MaxAgeDays: sel.MaxAge, Selection: sel, snapshot: s, fact: fact, today: today}
	if a.value, a.Reason = s.choose(fact, sel, today); a.Reason != "" {
		a.Outcome = OutcomeNotHeld
		return a
	}
	v := &s.values[a.value]
	a.Verified, a.Hash = v.verified, v.hash()
	if s.info.Static {
		return a
	}
	a.AgeDays = int(today - v.verified)
	stale := a.AgeDays > sel.MaxAge
	if sel.MaxAge == NoMaxAge {
		stale = Staleness(v.refresh, s.grace(fact), today) == StalenessOverdue
	}
	a.Status = StatusFresh
	if stale {
		a.Status = StatusStale
	}
	if sel.AsOf > today && v.to.IsZero() {
		a.Notice = NoticeFuture
	}
	return a
}

// choose finds the value a selection asks for, or says why there is none (F§4.3). It never bridges a gap. A file cannot say what is held on the day it is
// read: of a key without a value in force it holds the record that the index lists with inForce false, whose dates say when it ended or begins (F§5.1).
func (s *Snapshot) choose(fact int32, sel Selection, today Date) (value int32, reason string) {
	if sel.Period != "" {
		return s.choosePeriod(fact, sel.Period)
	}
	day := sel.AsOf
	if day.IsZero() {
		day = today
	}
	if value, ok := s.inForce(fact, day); ok {
		return value, ""
	}
	if s.info.Static && sel.AsOf.IsZero() {
		value, _ = s.shown(fact, today)
		return value, ""
	}
	return 0, ReasonNotHeld
}

// inForce applies rule S1. Values stand newest first and do not overlap, so the first that has begun is the only one that can be in force.
func (s *Snapshot) inForce(fact int32, day Date) (value int32, ok bool) {
	lo, hi := s.valueRange(fact)
	for i := lo; i < hi; i++ {
		if v := &s.values[i]; v.start <= day {
			return i, v.to.IsZero() || day <= v.to
		}
	}
	return 0, false
}

// choosePeriod compares period labels.
func (s *Snapshot) choosePeriod(fact int32, period string) (value int32, reason string) {
	period = foldPeriod(period)
	reason = ReasonNotHeld
	lo, hi := s.valueRange(fact)
	for i := lo; i < hi; i++ {
		label := s.values[i].periodText()
		switch {
		case label == "" || foldPeriod(label) != period:
		case reason == "":
			return 0, ReasonSeveralValues
		default:
			value, reason = i, ""
		}
	}
	return value, reason
}

// SamePeriod compares two period labels after F§4.3.
func SamePeriod(a, b string) bool {
	return foldPeriod(strings.TrimSpace(a)) == foldPeriod(strings.TrimSpace(b))
}

// foldPeriod writes / and the hyphen look-alikes as a hyphen, so that 2026/27 finds 2026-27.
func foldPeriod(label string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || isHyphen(r) {
			return '-'
		}
		return r
	}, strings.TrimSpace(label))
}

// shown is the value that stands for a fact in lists: the one in force, else the last that was, else the first that will be.
func (s *Snapshot) shown(fact int32, day Date) (value int32, inForce bool) {
	lo, hi := s.valueRange(fact)
	for i := lo; i < hi; i++ {
		if v := &s.values[i]; v.start <= day {
			return i, v.to.IsZero() || day <= v.to
		}
	}
	return hi - 1, false
}

// candidate describes a fact in a list of candidates; score and matches are the ranker's.
func (s *Snapshot) candidate(fact int32, today Date) Candidate {
	i, _ := s.shown(fact, today)
	v := &s.values[i]
	return Candidate{Key: s.key(fact), Label: v.labelText(), Unit: v.unitText(), Period: v.periodText(), Verified: v.verified}
}

// Staleness of the chosen value on a day: current | due | overdue; "" when the answer is not a record.
func (a *Answer) Staleness(today Date) string {
	if a.Outcome != OutcomeRecord {
		return ""
	}
	return Staleness(a.snapshot.values[a.value].refresh, a.snapshot.grace(a.fact), today)
}

// NextRefresh is the record's nextScheduledRefresh, zero when it is null or the answer is not a record.
func (a *Answer) NextRefresh() Date {
	if a.Outcome != OutcomeRecord {
		return 0
	}
	return a.snapshot.values[a.value].refresh
}

// Value returns the chosen dated value with its fact, decoded for pages: Fact.Values is nil, Fact.Previous is the record's previous member. Both are zero
// when the outcome is not a record.
func (a *Answer) Value() (Fact, DatedValue) {
	if a.Outcome != OutcomeRecord {
		return Fact{}, DatedValue{}
	}
	return a.snapshot.decode(a.fact, a.value)
}

// heldSpan is an element of periodsHeld: a span that a publisher holds a value for. A withdrawal begins on its day of withdrawal when it states no other.
type heldSpan struct {
	Period   string // "" = null
	From, To Date
}

// periodsHeld yields what is held for a known key, newest first.
func (a *Answer) periodsHeld() iter.Seq2[int, heldSpan] {
	lo, hi := a.snapshot.valueRange(a.fact)
	return func(yield func(int, heldSpan) bool) {
		for i := lo; i < hi; i++ {
			v := &a.snapshot.values[i]
			if !yield(int(i-lo), heldSpan{v.periodText(), v.start, v.to}) {
				return
			}
		}
	}
}

// AppendJSON appends the record or miss as compact JSON without a final line end. A record costs no allocation when dst has room.
func (a *Answer) AppendJSON(dst []byte) []byte {
	switch a.Outcome {
	case OutcomeNotHeld:
		return a.appendNotHeld(dst)
	case OutcomeUnknown:
		return a.appendUnknown(dst)
	}
	v := &a.snapshot.values[a.value]
	dst = append(dst, v.text[:v.keyEnd]...)
	dst = appendOptional(dst, requestedMember, a.RequestedKey)
	if a.Resolved != nil {
		dst = append(dst, `,"resolved":{"score":`...)
		dst = appendScore(dst, a.Resolved.Score)
		dst = append(dst, `,"matched":`...)
		dst = append(appendStrings(dst, a.Resolved.Matched), '}')
	}
	dst = append(dst, v.text[v.keyEnd:v.day]...)
	if a.Status != "" {
		dst = append(dst, `,"status":"`...)
		dst = append(dst, a.Status...)
		dst = append(dst, `","ageDays":`...)
		dst = strconv.AppendInt(dst, int64(a.AgeDays), 10)
		dst = append(dst, `,"maxAgeDays":`...)
		if a.MaxAgeDays == NoMaxAge {
			dst = append(dst, "null"...)
		} else {
			dst = strconv.AppendInt(dst, int64(a.MaxAgeDays), 10)
		}
	}
	dst = append(dst, v.text[v.day:v.notice]...)
	dst = appendOptional(dst, `,"notice":`, a.Notice)
	return append(dst, v.text[v.notice:]...)
}

const requestedMember = `,"requestedKey":`

// appendNotHeld appends the second row of F§5.3.
func (a *Answer) appendNotHeld(dst []byte) []byte {
	s := a.snapshot
	newest := &s.values[s.facts[a.fact].first]
	dst = append(dst, newest.text[:newest.keyEnd]...)
	dst = appendOptional(dst, requestedMember, a.RequestedKey)
	dst = append(dst, `,"label":`...)
	dst = append(dst, newest.labelJSON()...)
	dst = append(dst, `,"covered":false,"reason":"`...)
	dst = append(dst, a.Reason...)
	dst = append(dst, `","requested":{`...)
	if a.Selection.Period != "" {
		dst = jcs.AppendString(append(dst, `"period":`...), a.Selection.Period)
	} else {
		day := a.Selection.AsOf
		if day.IsZero() {
			day = a.today
		}
		dst = day.appendJSON(append(dst, `"as_of":`...))
	}
	dst = append(dst, `},"periodsHeld":[`...)
	for i, h := range a.periodsHeld() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"period":`...)
		dst = appendNullable(dst, h.Period)
		dst = h.From.appendJSON(append(dst, `,"effectiveFrom":`...))
		dst = h.To.appendJSON(append(dst, `,"effectiveTo":`...))
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	return append(append(dst, s.publisher...), '}')
}

// appendUnknown appends the first row of F§5.3.
func (a *Answer) appendUnknown(dst []byte) []byte {
	dst = append(dst, `{"protocol":"`+Protocol+`","covered":false,"error":"`+ErrorUnknownKey+`"`...)
	dst = jcs.AppendString(append(dst, requestedMember...), a.RequestedKey)
	dst = append(dst, `,"candidates":[`...)
	for i := range a.Candidates {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.Candidates[i].appendJSON(dst)
	}
	dst = append(dst, `],"index":`...)
	dst = jcs.AppendString(dst, a.snapshot.indexURL)
	dst = appendOptional(dst, `,"hint":`, a.Hint)
	return append(dst, '}')
}
