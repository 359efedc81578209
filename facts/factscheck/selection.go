package factscheck

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"sayso/facts"
	"sayso/jcs"
)

// checkServed is 008 a and the documents part of b.
func (c *checker) checkServed() {
	d := c.discovery
	c.expect(d.Facts.Filtering == "server", "VF-L2-008a", c.factsURL, fmt.Sprintf("filtering is %q", d.Facts.Filtering), "say server, or claim L1")
	for member, at := range map[string]string{"facts.batch": d.Facts.Batch, "facts.resolve": d.Facts.Resolve, "openapi": d.OpenAPI} {
		c.expect(at != "", "VF-L2-008b", c.factsURL, member+" is missing", "a served publisher names it")
	}
}

// answer is a record or a miss as far as the selection rules need it.
type answer struct {
	Covered       *bool       `json:"covered"`
	Key           string      `json:"key"`
	RequestedKey  string      `json:"requestedKey"`
	Hash          string      `json:"hash"`
	Status        string      `json:"status"`
	AgeDays       *int        `json:"ageDays"`
	MaxAgeDays    *int        `json:"maxAgeDays"`
	EffectiveFrom *string     `json:"effectiveFrom"`
	EffectiveTo   *string     `json:"effectiveTo"`
	VerifiedDate  *string     `json:"verifiedDate"`
	PeriodsHeld   []jcs.Raw   `json:"periodsHeld"`
	Candidates    []candidate `json:"candidates"`

	status int
	body   []byte
	header http.Header
}

func (a *answer) miss() bool { return a.Covered != nil && !*a.Covered }

// ask fetches a record answer. What cannot be fetched or read is recorded under rule.
func (c *checker) ask(rule, at string) (*answer, bool) {
	resp, err := c.get(at, "")
	if err != nil {
		c.unanswered(rule, at, "the answer could not be fetched", err)
		return nil, false
	}
	a := &answer{status: resp.Status, body: resp.Body, header: resp.Header}
	if err := jcs.Decode(resp.Body, a); err != nil {
		c.fail(rule, at, "the answer ("+status(resp)+") cannot be read: "+err.Error(), "answer with a record or a miss")
		return nil, false
	}
	return a, true
}

// checkSelections is 008 c to f.
func (c *checker) checkSelections() {
	some := c.spread(dayKeys)
	c.each(len(some), "days and periods", func(i int) {
		f := some[i]
		c.checkMaxAge(f)
		if f.record.Withdrawn == "" {
			c.checkDays(f)
		}
		c.checkPeriod(f)
	})
	c.checkRefusals(some[0])
}

// checkMaxAge is 008c: the status is what the dates imply. The day may change between question and answer, so both are admitted.
func (c *checker) checkMaxAge(f *fetched) {
	for _, days := range []int{0, 36500} {
		before := c.today()
		at := query(f.at, "max_age", strconv.Itoa(days)+"d")
		a, ok := c.ask("VF-L2-008c", at)
		if !ok {
			continue
		}
		ok = false
		for _, today := range []facts.Date{before, c.today()} {
			age, want := int(today-f.record.VerifiedDate), "fresh"
			if age > days {
				want = "stale"
			}
			ok = ok || a.Status == want && a.AgeDays != nil && *a.AgeDays == age && a.MaxAgeDays != nil && *a.MaxAgeDays == days
		}
		c.expect(ok, "VF-L2-008c", at, fmt.Sprintf("verified on %v: status %q, ageDays %s, maxAgeDays %s", f.record.VerifiedDate, a.Status, number(a.AgeDays), number(a.MaxAgeDays)),
			"compute status and age for every answer, in UTC, and do not cache them")
	}
}

func number(n *int) string {
	if n == nil {
		return "absent"
	}
	return strconv.Itoa(*n)
}

// checkDays is 008d: as_of on the first day and the day before, on the last day and the day after.
func (c *checker) checkDays(f *fetched) {
	from, to := f.record.EffectiveFrom, f.record.EffectiveTo
	if !from.IsZero() {
		c.checkDay(f, from, true)
		if from > 1 {
			c.checkDay(f, from-1, false)
		}
	}
	if !to.IsZero() {
		c.checkDay(f, to, true)
		if to < facts.MaxDate {
			c.checkDay(f, to+1, false)
		}
	}
}

func (c *checker) checkDay(f *fetched, on facts.Date, same bool) {
	at := query(f.at, "as_of", on.String())
	a, ok := c.ask("VF-L2-008d", at)
	if !ok {
		return
	}
	if same {
		c.expect(!a.miss() && a.Hash == f.record.Hash, "VF-L2-008d", at, "the value that is in force on this day is not the answer",
			"effectiveFrom is the first day and effectiveTo the last day, inclusive")
		return
	}
	if a.miss() {
		c.expect(a.status == http.StatusOK, "VF-L2-008d", at, fmt.Sprintf("a period not held is answered %d", a.status), "answer 200 with covered false")
		return
	}
	from, ok1 := date(a.EffectiveFrom)
	to, ok2 := date(a.EffectiveTo)
	c.expect(ok1 && ok2 && a.Hash != f.record.Hash && from <= on && (to.IsZero() || to >= on), "VF-L2-008d", at,
		fmt.Sprintf("the answer is in force from %v to %v", from, to), "choose the value in force on the day; never bridge a gap")
}

// noPeriod is a label that nobody holds.
const noPeriod = "0001-02"

// checkPeriod is 008e.
func (c *checker) checkPeriod(f *fetched) {
	at := query(f.at, "period", noPeriod)
	a, ok := c.ask("VF-L2-008e", at)
	if !ok {
		return
	}
	problem := ""
	switch {
	case a.status != http.StatusOK:
		problem = fmt.Sprintf("the answer is %d", a.status)
	case !a.miss():
		problem = "a value is given for a period that is not held"
	case len(a.PeriodsHeld) == 0:
		problem = "periodsHeld is empty"
	default:
		problem = c.schemas.check(schemaNotHeld, a.body)
	}
	c.expect(problem == "", "VF-L2-008e", at, problem, "answer 200 with covered false and the periods that are held")
}

// refusals are parameters that may not be answered with a value (F§4.1).
var refusals = []string{"asOf=2026-01-01", "as_of=2026-01-01&period=2026", "as_of=2026-02-30", "max_age=PT24H"}

// checkRefusals is 008f. The seed is silent on it, so another server's leniency is a warning.
func (c *checker) checkRefusals(f *fetched) {
	for _, q := range refusals {
		at := f.at + "?" + q
		if strings.Contains(f.at, "?") {
			at = f.at + "&" + q
		}
		resp, err := c.get(at, "")
		switch {
		case err != nil:
			c.unanswered("VF-L2-008f", at, "the answer could not be fetched", err)
		case resp.Status == http.StatusBadRequest:
			c.pass("VF-L2-008f")
		default:
			c.warn("VF-L2-008f", at, "the answer is "+status(resp), "answer 400 and name the parameter: a reader takes the current value for what was asked")
		}
	}
}
