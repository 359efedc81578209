package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/facts"
)

// The findings of a re-check (F§10.5).
const (
	CheckDue          = "due"
	CheckOverdue      = "overdue"
	CheckSourceGone   = "source gone"
	CheckSourceError  = "source error"
	CheckMoved        = "moved"
	CheckQuoteMissing = "quote missing"
	CheckValueMissing = "value missing"
	CheckPageChanged  = "page changed"
	CheckValueEnded   = "value ended"
	CheckValueBegins  = "value begins"
	CheckPeriodPassed = "period passed"
	CheckDraft        = "draft" // a value without verifiedDate, to be confirmed
)

// Clock paces requests; tests give their own.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error earlier.
	Sleep(ctx context.Context, d time.Duration) error
}

const (
	hostInterval  = 500 * time.Millisecond // two requests per host and second
	hostsAtOnce   = 4
	boundaryAhead = 30 // days before a boundary is announced
)

// RecheckOptions choose what Recheck looks at.
type RecheckOptions struct {
	Key     string // "" is every key
	Due     bool   // only values that are due or overdue
	Today   facts.Date
	Fetcher Fetcher // sends a User-Agent that names the publisher
	Clock   Clock
	// Progress is called with the sources done and their number, from one goroutine at a time.
	Progress func(done, total int)
}

// RecheckItem is one value with what was found; Findings is empty when all is well.
type RecheckItem struct {
	Key      string           `json:"key"`
	Period   string           `json:"period,omitempty"`
	From     facts.Date       `json:"effectiveFrom"`
	Value    facts.Value      `json:"value"`
	Source   string           `json:"source"`
	Findings []RecheckFinding `json:"findings"`
}

// RecheckFinding is one finding of F§10.5.
type RecheckFinding struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
}

// Rechecked is the report of Recheck.
type Rechecked struct {
	Items   []RecheckItem `json:"items"`
	Sources int           `json:"sources"` // distinct pages fetched
}

// Failed reports whether anything is overdue, a source is gone or a quote is missing.
func (r *Rechecked) Failed() bool {
	return slices.ContainsFunc(r.Items, func(i RecheckItem) bool {
		return slices.ContainsFunc(i.Findings, func(f RecheckFinding) bool {
			return f.Kind == CheckOverdue || f.Kind == CheckSourceGone || f.Kind == CheckQuoteMissing
		})
	})
}

// Recheck fetches every distinct source of the values in force once, at most two requests per host and second and conditional where the last confirmation
// stored a validator, and compares the pages with the folder. It writes nothing and never moves a verifiedDate: the findings are work for a person.
func Recheck(ctx context.Context, folder *Folder, o RecheckOptions) (*Rechecked, error) {
	c := &recheck{folder: folder, options: o, stored: folder.lastFetches(), pages: map[string]fetchedPage{}}
	if o.Key != "" {
		if _, fact := folder.Find(o.Key); fact == nil {
			_, err := (&work{folder: folder}).choose(o.Key, "")
			return nil, err
		}
	}
	values := c.values()
	var sources []string
	for i := range values {
		sources = append(sources, values[i].value.Source)
	}
	slices.Sort(sources)
	sources = slices.Compact(sources)
	c.fetchAll(ctx, sources)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &Rechecked{Sources: len(sources)}
	for i := range values {
		v := &values[i]
		item := RecheckItem{Key: v.fact.Key, Period: v.value.Period, From: v.value.From, Value: v.value.Value, Source: v.value.Source}
		item.Findings = append(c.dates(v), c.page(v)...)
		out.Items = append(out.Items, item)
	}
	return out, nil
}

type recheck struct {
	folder  *Folder
	options RecheckOptions
	stored  map[string]*Fetched // by claim hash
	mu      sync.Mutex
	pages   map[string]fetchedPage
}

type fetchedPage struct {
	page Page
	text string
	err  error
}

// checkedValue is a value to look at: the one in force, else the newest held one, and drafts.
type checkedValue struct {
	fact  *Fact
	value facts.DatedValue
	area  facts.Area
	hash  string
}

func (c *recheck) values() []checkedValue {
	var out []checkedValue
	for i := range c.folder.Topics {
		t := &c.folder.Topics[i]
		area := c.folder.area(t.Area)
		for j := range t.Facts {
			f := &t.Facts[j]
			if c.options.Key != "" && f.Key != c.options.Key {
				continue
			}
			var list []facts.DatedValue
			if v := inForce(f, c.options.Today); v != nil {
				list = append(list, *v)
			} else if h := held(f); len(h) > 0 {
				list = append(list, h[0])
			}
			for k := range f.Values {
				if f.Values[k].Draft() && !c.options.Due {
					list = append(list, f.Values[k].DatedValue)
				}
			}
			for _, v := range list {
				if _, state := staleness(&v, area, c.options.Today); c.options.Due && state == facts.StalenessCurrent {
					continue
				}
				claim := facts.ClaimOf(f.Key, &v)
				out = append(out, checkedValue{f, v, area, claim.Hash()})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b checkedValue) int { return strings.Compare(a.fact.Key, b.fact.Key) })
	return out
}

// lastFetches is what the newest confirmation of each claim saw.
func (f *Folder) lastFetches() map[string]*Fetched {
	out := map[string]*Fetched{}
	for i := range f.Confirmations {
		if c := &f.Confirmations[i]; c.Fetched != nil {
			out[c.Hash] = c.Fetched
		}
	}
	return out
}

// validators are those of the last confirmation of any value with this source.
func (c *recheck) validators(source string) Validators {
	for i := len(c.folder.Confirmations) - 1; i >= 0; i-- {
		if f := c.folder.Confirmations[i].Fetched; f != nil && f.FinalURL == source {
			return Validators{f.ETag, f.LastModified}
		}
	}
	return Validators{}
}

// fetchAll fetches each source once: hosts beside each other, the pages of one host at its pace.
func (c *recheck) fetchAll(ctx context.Context, sources []string) {
	byHost := map[string][]string{}
	var hosts []string
	for _, s := range sources {
		h := facts.SourceHost(s)
		if byHost[h] == nil {
			hosts = append(hosts, h)
		}
		byHost[h] = append(byHost[h], s)
	}
	slots := make(chan struct{}, hostsAtOnce)
	var group sync.WaitGroup
	done := 0
	for _, h := range hosts {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var last time.Time
			for _, source := range byHost[h] {
				if !last.IsZero() {
					if err := c.options.Clock.Sleep(ctx, hostInterval-c.options.Clock.Now().Sub(last)); err != nil {
						return
					}
				}
				last = c.options.Clock.Now()
				page, err := c.options.Fetcher.Fetch(ctx, source, c.validators(source))
				p := fetchedPage{page: page, err: err}
				if err == nil && page.Status == 200 {
					p.text = pageText(page.Body)
				}
				c.mu.Lock()
				c.pages[source] = p
				if done++; c.options.Progress != nil {
					c.options.Progress(done, len(sources))
				}
				c.mu.Unlock()
			}
		})
	}
	group.Wait()
}

// dates are the findings that need no page.
func (c *recheck) dates(v *checkedValue) []RecheckFinding {
	var out []RecheckFinding
	add := func(kind, detail string) { out = append(out, RecheckFinding{kind, detail}) }
	today := c.options.Today
	if v.value.Verified.IsZero() {
		add(CheckDraft, "confirm it with facts confirm")
		return out
	}
	switch next, state := staleness(&v.value, v.area, today); state {
	case facts.StalenessDue:
		add(CheckDue, "since "+next.String())
	case facts.StalenessOverdue:
		add(CheckOverdue, fmt.Sprintf("due on %s, %d days of grace", next, v.area.GraceDays))
	}
	all := held(v.fact)
	newest := all[0].From == v.value.From && all[0].Withdrawn == v.value.Withdrawn
	if newest && !v.value.To.IsZero() && v.value.To < today {
		add(CheckValueEnded, "on "+v.value.To.String()+", and no later value is held")
	}
	for _, h := range all {
		if start := cmp.Or(h.From, h.Withdrawn); start > today && start <= today+boundaryAhead {
			add(CheckValueBegins, "the next value on "+start.String())
		}
	}
	if end := v.value.To; newest && !end.IsZero() && end >= today && end < today+boundaryAhead {
		add(CheckValueBegins, "the value ends on "+end.String()+", and no later one is held")
	}
	for _, n := range c.folder.Publisher.Namespaces {
		if n.Name != facts.KeyNamespace(v.fact.Key) || !newest || v.value.Period == "" {
			continue
		}
		if year, ok := periodYear(n.Calendar, v.value.Period); ok && periodStart(n.Calendar, year+1) <= today {
			add(CheckPeriodPassed, v.value.Period+" ended on "+(periodStart(n.Calendar, year+1)-1).String())
		}
	}
	return out
}

// page are the findings of the value's source.
func (c *recheck) page(v *checkedValue) []RecheckFinding {
	p, ok := c.pages[v.value.Source]
	stored := c.stored[v.hash]
	one := func(kind, detail string) []RecheckFinding { return []RecheckFinding{{kind, detail}} }
	switch {
	case !ok:
		return nil
	case p.err != nil:
		return one(CheckSourceError, p.err.Error())
	case p.page.Status == 404 || p.page.Status == 410:
		return one(CheckSourceGone, fmt.Sprintf("status %d", p.page.Status))
	case p.page.Status == 304 && stored != nil && stored.QuoteFound || p.page.Status == 304 && v.value.Quote == "":
		return nil
	case p.page.Status == 304:
		return one(CheckQuoteMissing, "the page has not changed since the last confirmation, when it lacked the quote")
	case p.page.Status != 200:
		return one(CheckSourceError, fmt.Sprintf("status %d", p.page.Status))
	}
	var out []RecheckFinding
	if moved(v.value.Source, p.page.FinalURL) {
		out = append(out, RecheckFinding{CheckMoved, "answered from " + p.page.FinalURL})
	}
	if q := v.value.Quote; q != "" && !strings.Contains(p.text, normalText(q)) {
		out = append(out, RecheckFinding{CheckQuoteMissing, "the page lacks the quote"})
	}
	if k := v.value.Value.Kind(); (k == "number" || k == "string") && !containsValue(p.text, v.value.Value) {
		out = append(out, RecheckFinding{CheckValueMissing, "the page lacks every usual spelling of " + clip(v.value.Value.Text())})
	}
	if stored != nil && stored.SHA256 != bodyHash(p.page.Body) {
		out = append(out, RecheckFinding{CheckPageChanged, "the page differs from the one that was confirmed"})
	}
	return out
}

// moved reports whether a page was answered from another host or path.
func moved(source, final string) bool {
	a, errA := url.Parse(source)
	b, errB := url.Parse(final)
	return errors.Join(errA, errB) != nil || final != "" && (a.Host != b.Host || a.Path != b.Path)
}
