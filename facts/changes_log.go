package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sayso/jcs"
)

// changelog is the checked chain of a snapshot with its encoded entries.
type changelog struct {
	entries []Entry // oldest first
	head    string
	text    []byte // the JSON of all entries, oldest first
	ends    []int  // where the JSON of each entry ends in text
	links   []string
	areas   []Area
}

// newChangelog checks the chain of a dataset and encodes it. That the fact keys are those of the dataset is checked with the aliases they make.
func newChangelog(ds *Dataset) (*changelog, error) {
	head, err := CheckChain(ds.Changes)
	if err != nil {
		return nil, err
	}
	l := &changelog{entries: slices.Clone(ds.Changes), head: head, areas: slices.Clone(ds.Areas)}
	for i := range l.entries {
		e := &l.entries[i]
		if l.area(e.Area) == nil {
			return nil, &ChainError{i, ChainMapping, fmt.Sprintf("area %s is not declared", quote(e.Area))}
		}
		l.text = e.AppendJSON(l.text)
		l.ends = append(l.ends, len(l.text))
		if i > 0 {
			l.links = append(l.links, e.PrevHash)
		}
	}
	if head != "" {
		l.links = append(l.links, head)
	}
	return l, nil
}

// area is a declared area, nil when there is none of that name.
func (l *changelog) area(name string) *Area {
	i := slices.IndexFunc(l.areas, func(a Area) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &l.areas[i]
}

// json is the JSON of entry i.
func (l *changelog) json(i int) []byte {
	start := 0
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]]
}

// start is the earliest verifiedDate, zero without entries: the dates of a chain do not decrease.
func (l *changelog) start() Date {
	if len(l.entries) == 0 {
		return 0
	}
	return l.entries[0].VerifiedDate
}

// Entries returns the chain, oldest first. The slice must not be changed.
func (s *Snapshot) Entries() []Entry { return s.chg.entries }

// ChainHead is the link of the newest entry, "" without entries.
func (s *Snapshot) ChainHead() string { return s.chg.head }

// The limits of a changes query (F§8.4).
const (
	DefaultChanges = 50
	MaxChanges     = 200
)

// ChangesQuery selects entries (F§8.4). Given reports whether any parameter was given: without one the whole document is served.
type ChangesQuery struct {
	Since  Date // only entries verified after this day
	Area   string
	Limit  int
	Cursor string
	Given  bool
	Cited  bool // the MCP form, which carries cite and attribution
}

// ParseChangesQuery reads since, area, limit and cursor; sinceRequired is the MCP form.
func ParseChangesQuery(p Params, sinceRequired bool) (ChangesQuery, error) {
	q := ChangesQuery{Area: p["area"], Cursor: p["cursor"], Given: sinceRequired || len(p) > 0, Cited: sinceRequired}
	for _, name := range RouteChanges.Parameters() {
		if value, ok := p[name]; ok && strings.TrimSpace(value) == "" {
			return q, emptyParameter(name)
		}
	}
	var err error
	if since, ok := p["since"]; ok {
		if q.Since, err = ParseDate(since); err != nil {
			return q, refuse("since", "since: %v", err)
		}
	} else if sinceRequired {
		return q, refuse("since", "since is missing; pass the day after which changes are asked for, such as 2026-01-31")
	}
	q.Limit, err = p.Limit(DefaultChanges, MaxChanges)
	return q, err
}

// AppendChanges appends the changes document for the query, newest entry first; *ParameterError for a since after today, an unknown area or a foreign cursor.
func (s *Snapshot) AppendChanges(dst []byte, q ChangesQuery, today Date) ([]byte, error) {
	l := s.chg
	if !q.Given {
		dst = s.appendChangesHead(dst, len(l.entries))
		dst = append(dst, `,"entries":[`...)
		for i := len(l.entries) - 1; i >= 0; i-- {
			dst = appendElement(dst, l.json(i))
		}
		return append(dst, "]}"...), nil
	}
	before, err := l.checkQuery(q, today)
	if err != nil {
		return dst, err
	}
	served, more := l.page(q, before)
	dst = s.appendChangesHead(dst, len(served))
	if !q.Since.IsZero() {
		dst = q.Since.appendJSON(append(dst, `,"since":`...))
	}
	if q.Area != "" {
		dst = jcs.AppendString(append(dst, `,"area":`...), q.Area)
	}
	dst = s.appendFreshness(append(dst, `,"freshness":`...), q.Area, today)
	dst = l.appendCoverage(append(dst, `,"coverage":`...), q)
	if more {
		dst = jcs.AppendString(append(dst, `,"next":`...), l.cursor(served[len(served)-1]))
	}
	if q.Cited {
		dst = s.appendCite(dst)
	}
	dst = append(dst, `,"entries":[`...)
	for _, i := range served {
		dst = appendElement(dst, l.json(i))
	}
	return append(dst, "]}"...), nil
}

// appendElement appends an array element behind what stands in dst.
func appendElement(dst, element []byte) []byte {
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return append(dst, element...)
}

// checkQuery refuses what cannot be answered and returns the position before which the page begins.
func (l *changelog) checkQuery(q ChangesQuery, today Date) (before int, err error) {
	if q.Since > today {
		return 0, refuse("since", "since %s is after today, %s (UTC); changes of the future are not known", q.Since, today)
	}
	if q.Area != "" && l.area(q.Area) == nil {
		names := make([]string, len(l.areas))
		for i := range l.areas {
			names[i] = l.areas[i].Name
		}
		return 0, refuse("area", "unknown area %s; areas: %s", quote(q.Area), strings.Join(names, ", "))
	}
	if q.Limit < 0 || q.Limit > MaxChanges {
		return 0, refuse("limit", "limit is a whole number from 1 to %d, not %d", MaxChanges, q.Limit)
	}
	if q.Cursor == "" {
		return len(l.entries), nil
	}
	return l.position(q.Cursor)
}

// page is the positions of the entries to serve, newest first, and whether older ones remain.
func (l *changelog) page(q ChangesQuery, before int) (served []int, more bool) {
	limit := cmp.Or(q.Limit, DefaultChanges)
	for i := before - 1; i >= 0 && l.entries[i].VerifiedDate > q.Since; i-- {
		if q.Area != "" && l.entries[i].Area != q.Area {
			continue
		}
		if len(served) == limit {
			return served, true
		}
		served = append(served, i)
	}
	return served, false
}

// cursorDigits is how much of an entry's link a cursor repeats.
const cursorDigits = 16

// cursor names the last entry served by its chain position, which never changes, and by its link, so that a cursor of another chain is noticed.
func (l *changelog) cursor(position int) string {
	return strconv.Itoa(position) + "-" + strings.TrimPrefix(l.links[position], "sha256:")[:cursorDigits]
}

// position is the position a cursor names.
func (l *changelog) position(cursor string) (int, error) {
	number, _, _ := strings.Cut(cursor, "-")
	if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(l.entries) && l.cursor(n) == cursor {
		return n, nil
	}
	return 0, refuse("cursor", "cursor %s is not one that this changelog gave; repeat the query without it", quote(cursor))
}

// noChanges is the status of a changelog that has never had an entry.
const noChanges = "no changes recorded yet"

// appendChangesHead opens the document with the members before the entries that every form has.
func (s *Snapshot) appendChangesHead(dst []byte, count int) []byte {
	l, info := s.chg, &s.info
	generated := info.Newest
	if n := len(l.entries); n > 0 {
		generated = l.entries[n-1].VerifiedDate
	}
	dst = append(dst, `{"protocol":"`+ChangesProtocol+`","publisher":{"name":`...)
	dst = jcs.AppendString(dst, info.Publisher.Name)
	dst = jcs.AppendString(append(dst, `,"url":`...), info.Publisher.URL)
	dst = generated.appendJSON(append(dst, `},"generated":`...))
	if len(l.entries) == 0 {
		dst = append(dst, `,"status":"`+noChanges+`","note":"the figures stand in the index; entries are written from the first change on"`...)
	} else {
		dst = l.start().appendJSON(append(dst, `,"coverageStart":`...))
		if count == 0 {
			dst = append(dst, `,"note":"no entry matches; the figures may have been confirmed since without a change"`...)
		}
	}
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(count), 10)
	return appendNullable(append(dst, `,"chainHead":`...), l.head)
}

// appendCoverage says from which day on and for which areas the answer speaks.
func (l *changelog) appendCoverage(dst []byte, q ChangesQuery) []byte {
	dst = l.start().appendJSON(append(dst, `{"start":`...))
	dst = append(dst, `,"areas":[`...)
	for i := range l.areas {
		if name := l.areas[i].Name; q.Area == "" || name == q.Area {
			dst = appendElement(dst, jcs.AppendString(nil, name))
		}
	}
	dst = append(dst, ']')
	switch {
	case len(l.entries) == 0:
		dst = append(dst, `,"note":"`+noChanges+`"`...)
	case !q.Since.IsZero() && q.Since < l.start():
		note := "entries begin on " + l.start().String() + "; changes before that day were not recorded"
		dst = jcs.AppendString(append(dst, `,"note":`...), note)
	}
	return append(dst, '}')
}

// appendFreshness sums up the areas asked for: the worst staleness and the earliest next date.
func (s *Snapshot) appendFreshness(dst []byte, area string, today Date) []byte {
	worst, next := StalenessCurrent, Date(0)
	var cadence []string
	for i := range s.chg.areas {
		a := &s.chg.areas[i]
		if area != "" && a.Name != area {
			continue
		}
		scheduled := s.info.AreaStats[a.Name].EarliestScheduled
		state := Staleness(scheduled, a.GraceDays, today)
		if state == StalenessOverdue || worst == StalenessCurrent {
			worst = state
		}
		if next.IsZero() || !scheduled.IsZero() && scheduled < next {
			next = scheduled
		}
		switch {
		case a.Cadence != "" && area != "":
			cadence = append(cadence, a.Cadence)
		case a.Cadence != "":
			cadence = append(cadence, a.Name+": "+a.Cadence)
		}
	}
	dst = today.appendJSON(append(dst, `{"asOf":`...))
	dst = append(append(append(dst, `,"staleness":"`...), worst...), '"')
	dst = next.appendJSON(append(dst, `,"nextScheduledRefresh":`...))
	text := strings.Join(cadence, " ")
	return append(appendNullable(append(dst, `,"cadence":`...), text), '}')
}

// appendCite appends what an assistant shows beside the list.
func (s *Snapshot) appendCite(dst []byte) []byte {
	info := &s.info
	dst = jcs.AppendString(append(dst, `,"cite":{"url":`...), info.Origin+"/changes.json")
	text := info.Publisher.Name + ", changelog of verified facts, newest verification " + info.Newest.String()
	dst = jcs.AppendString(append(dst, `,"text":`...), text)
	return jcs.AppendString(append(dst, `},"attribution":`...), info.Publisher.Name+", "+info.Publisher.URL)
}
