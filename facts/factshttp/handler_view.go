package factshttp

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sayso/facts"
)

// view holds what is derived from one snapshot: link texts, date headers, documents. It lives as long as the snapshot is served.
type view struct {
	snapshot *facts.Snapshot
	origin   string
	modified dateHeaders
	fixed    sync.Map              // documentKey -> *lazyDocument, independent of the day
	daily    atomic.Pointer[daily] // those of one day
}

// daily holds the documents of one day; another day replaces it.
type daily struct {
	day       facts.Date
	documents sync.Map // documentKey -> *lazyDocument
}

func newView(s *facts.Snapshot) *view {
	info := s.Info()
	return &view{snapshot: s, origin: info.Origin, modified: newDateHeaders(info.Oldest, info.Newest)}
}

// describedBy is the Link value that names a schema.
func (v *view) describedBy(schema string) string {
	return "<" + v.origin + "/schema/" + schema + `>; rel="describedby"`
}

// canonical is the Link value that names the one address of a document.
func (v *view) canonical(path string) string {
	return "<" + v.origin + path + `>; rel="canonical"`
}

// dateHeaders caches Last-Modified values by day: a catalogue has few distinct verification days, and a day formatted once is never formatted again.
type dateHeaders struct {
	first  facts.Date
	values []atomic.Pointer[[]string]
}

// maxDateHeaders bounds the cache at about twenty years of days; dates outside it are formatted for each answer.
const maxDateHeaders = 8192

func newDateHeaders(oldest, newest facts.Date) dateHeaders {
	if oldest.IsZero() || newest < oldest {
		return dateHeaders{}
	}
	first := max(oldest, newest-maxDateHeaders+1)
	return dateHeaders{first: first, values: make([]atomic.Pointer[[]string], newest-first+1)}
}

// header returns the Last-Modified header of a civil day, 00:00:00 GMT.
func (d *dateHeaders) header(day facts.Date) []string {
	i := int(day - d.first)
	if i < 0 || i >= len(d.values) {
		return []string{day.Time().Format(http.TimeFormat)}
	}
	if cached := d.values[i].Load(); cached != nil {
		return *cached
	}
	value := []string{day.Time().Format(http.TimeFormat)}
	d.values[i].Store(&value)
	return value
}

// moment is what depends on the instant of an answer. One value serves all requests of a second.
type moment struct {
	tick  int64
	today facts.Date
	cache []string // Cache-Control of answers that are right until midnight
}

// now reads the clock. The tick tells a full second from the time after it, because the seconds to midnight are rounded down.
func (h *handler) now() *moment {
	t := h.Clock()
	tick := 2 * t.Unix()
	if t.Nanosecond() > 0 {
		tick++
	}
	if m := h.second.Load(); m != nil && m.tick == tick {
		return m
	}
	m := &moment{tick: tick, today: facts.DateOf(t), cache: []string{cacheControl(t)}}
	h.second.Store(m)
	return m
}

// cacheControl is F§4.6 rule 4: an hour in shared caches, then revalidation in the background, both ended by the next UTC midnight, because yesterday's status
// must not be shown today.
func cacheControl(t time.Time) string {
	t = t.UTC()
	midnight := time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, time.UTC)
	left := int(midnight.Sub(t) / time.Second)
	shared := min(3600, left)
	value := "public, max-age=0, s-maxage=" + strconv.Itoa(shared)
	if stale := min(86400, left-shared); stale > 0 {
		value += ", stale-while-revalidate=" + strconv.Itoa(stale)
	}
	return value
}
