package factscheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/report"
	"sayso/safefetch"
)

const (
	allKeys     = 2000 // up to so many keys are all fetched
	sampleKeys  = 500  // of more, so many
	dayKeys     = 50   // keys on which days, periods and headers are tried
	auditKeys   = 200
	atOnce      = 4
	waitLimit   = time.Minute
	listed      = 20   // findings of one outcome that a rule lists
	toolsBudget = 2662 // 2.6 KB (F§15)
)

// Options are the inputs of Run.
type Options struct {
	Origin string            // scheme://host[:port]
	Fetch  *safefetch.Client // sends every request; nil: the default policy with 16 MiB and 30 s, without the own machine
	Clock  func() time.Time  // the day that ages are computed for; nil: time.Now
	// NoSources leaves the source pages alone.
	NoSources bool
	// Seed draws the sample of a large index; the same seed draws the same keys.
	Seed uint64
	// Progress is told how far a stage is. Nil: nobody is.
	Progress func(done, total int, what string)
	// Sleep waits for a publisher that asks for patience. Nil: real time.
	Sleep func(ctx context.Context, d time.Duration) error
}

// fetcher is what the checker needs of a safefetch client.
type fetcher interface {
	Do(ctx context.Context, r safefetch.Request) (*safefetch.Response, error)
}

// checker is one run. The items that its methods name are those of the table in F§12, a letter is a rule of that item.
type checker struct {
	Options
	ctx     context.Context
	fetch   fetcher
	sources fetcher
	schemas schemas

	slots  chan struct{} // requests under way
	mu     sync.Mutex    // guards what follows
	found  []report.Finding
	held   map[string]int // passes by rule
	silent int            // requests to the publisher that got no usable answer
	waited time.Duration

	discovery *factshttp.Discovery
	factsURL  string
	index     []indexEntry
	known     map[string]bool // keys of the index
	records   []*fetched      // of the sample, with those that could be read
	changes   *changelog
	keys      *keySet
	mcp       *mcpClient
}

// Run checks an origin. It never fails: what it could not do is in the report as not tested. Cancelling ctx ends it early in the same way.
func Run(ctx context.Context, o Options) *report.Report { return run(ctx, o, nil) }

// run is Run with another way to the source pages, for tests that must not leave the machine.
func run(ctx context.Context, o Options, sources fetcher) *report.Report {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = safefetch.Pause
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	if o.Fetch == nil {
		o.Fetch = safefetch.New(safefetch.Policy{MaxBytes: 16 << 20, Timeout: 30 * time.Second, MaxRedirects: 3})
		defer o.Fetch.Close()
	}
	o.Origin = strings.TrimRight(o.Origin, "/")
	if plain := factshttp.OriginOf(o.Origin); strings.EqualFold(plain, o.Origin) {
		o.Origin = plain // documents spell it in lower case, and are compared with it
	}
	c := &checker{Options: o, ctx: ctx, fetch: o.Fetch, sources: sources, schemas: compiledSchemas(), slots: make(chan struct{}, atOnce), held: map[string]int{}, known: map[string]bool{}}
	if c.sources == nil {
		c.sources = o.Fetch
	}
	c.factsURL = o.Origin + "/.well-known/facts.json"
	if c.checkDiscovery() {
		c.checkL1()
		if c.claims("L2") || c.claims("L3") && !c.discovery.Static() {
			c.checkL2()
		}
		if c.claims("L3") {
			c.checkL3()
		}
	}
	return c.report()
}

func (c *checker) claims(level string) bool { return c.discovery.Conformance == level }

func (c *checker) checkL1() {
	if c.checkIndex() {
		c.checkRecords()
		c.checkSources()
		c.checkAliases()
		c.checkStability()
	}
	c.checkChanges()
}

func (c *checker) checkL2() {
	c.checkServed()
	if c.discovery.Static() {
		return // files cannot answer what the other rules ask
	}
	if len(c.records) > 0 {
		c.checkSelections()
		c.checkResolve()
		c.checkBatch()
		c.checkHeaders()
		c.checkOpenAPI()
	}
	c.checkMCP()
	c.checkMisses()
}

func (c *checker) checkL3() {
	c.checkKeySet()
	c.checkSignatures()
	c.checkChain()
	c.checkPointers()
}

func (c *checker) today() facts.Date { return facts.DateOf(c.Clock()) }

// The ways to record what came of a rule. They may be called from several goroutines.

func (c *checker) add(f report.Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, f)
}

func (c *checker) pass(rule string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[rule]++
}

func (c *checker) fail(rule, place, seen, next string) {
	c.add(report.Finding{Rule: rule, Outcome: report.Fail, Place: place, Message: seen, Next: next})
}

func (c *checker) warn(rule, place, seen, next string) {
	c.add(report.Finding{Rule: rule, Outcome: report.Warning, Place: place, Message: seen, Next: next})
}

// unanswered records what could not be looked at because a request failed: the level then holds only as far as the origin answered.
func (c *checker) unanswered(rule, place, what string, err error) {
	c.mu.Lock()
	c.silent++
	c.mu.Unlock()
	c.untested(rule, place, what, safefetch.Reason(err))
}

func (c *checker) untested(rule, place, what, reason string) {
	c.add(report.Finding{Rule: rule, Outcome: report.NotTested, Place: place, Message: what, Reason: reason})
}

// expect passes or fails a rule.
func (c *checker) expect(ok bool, rule, place, seen, next string) bool {
	if ok {
		c.pass(rule)
	} else {
		c.fail(rule, place, seen, next)
	}
	return ok
}

// each runs f for 0..n-1, at most four at a time, and reports the progress of the stage.
func (c *checker) each(n int, what string, f func(i int)) {
	next := make(chan int)
	var done int
	var wg sync.WaitGroup
	for range min(atOnce, n) {
		wg.Go(func() {
			for i := range next {
				f(i)
				c.mu.Lock()
				done++
				c.Progress(done, n, what)
				c.mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// report puts the findings together: one pass per rule that held everywhere, failures in order and bounded, and a reason for every rule that did not come up.
func (c *checker) report() *report.Report {
	r := &report.Report{Subject: c.Origin, Protocol: facts.Protocol, Rules: Rules(), Findings: c.found}
	slices.SortStableFunc(r.Findings, func(a, b report.Finding) int {
		return strings.Compare(a.Rule+"\x00"+a.Place+"\x00"+a.Message, b.Rule+"\x00"+b.Place+"\x00"+b.Message)
	})
	r.Findings = slices.Compact(r.Findings) // several rules may look at one place
	r.Verdict = c.verdict(r)
	r.Findings = bounded(r.Findings)
	seen := map[string]bool{}
	for _, f := range r.Findings {
		seen[f.Rule] = true
	}
	for _, rule := range rules {
		n := c.held[rule.ID]
		switch {
		case seen[rule.ID]:
		case n == 1:
			r.Add(report.Finding{Rule: rule.ID, Outcome: report.Pass, Place: c.Origin, Message: rule.Title})
		case n > 1:
			r.Add(report.Finding{Rule: rule.ID, Outcome: report.Pass, Place: c.Origin, Message: fmt.Sprintf("%s (%d looked at)", rule.Title, n)})
		default:
			r.Add(report.Finding{Rule: rule.ID, Outcome: report.NotTested, Place: c.Origin, Message: "there was nothing to look at", Reason: c.whyNothing(rule.ID)})
		}
	}
	r.Sort()
	return r
}

// whyNothing is the reason of a rule that did not come up.
func (c *checker) whyNothing(rule string) string {
	switch d := c.discovery; {
	case c.ctx.Err() != nil:
		return "the check was interrupted"
	case d == nil:
		return "facts.json could not be used"
	case levelOf(rule) == "L2" && d.Static():
		return "the publisher serves static files (filtering client)"
	case levelOf(rule) != "L1" && levelOf(rule) > d.Conformance:
		return "the origin claims " + d.Conformance + " only"
	}
	return "an earlier failure stands in the way, or this origin has nothing of the kind"
}

// bounded keeps the first findings of each rule and outcome and counts the rest in one more.
func bounded(all []report.Finding) []report.Finding {
	type group struct {
		rule    string
		outcome report.Outcome
	}
	count := map[group]int{}
	var out []report.Finding
	for _, f := range all {
		g := group{f.Rule, f.Outcome}
		if count[g]++; count[g] <= listed {
			out = append(out, f)
		}
	}
	for g, n := range count {
		if n > listed {
			out = append(out, report.Finding{Rule: g.rule, Outcome: g.outcome, Message: fmt.Sprintf("this came up at %d places; the first %d follow", n, listed)})
		}
	}
	return out
}

// verdict names the highest level that holds, over the unbounded findings.
func (c *checker) verdict(r *report.Report) string {
	if c.discovery == nil {
		if Reached(r) {
			return "No level holds: facts.json cannot be used."
		}
		return "Nothing could be checked: the origin did not answer."
	}
	failed := map[string]int{}
	for _, f := range r.Findings {
		if f.Outcome == report.Fail {
			failed[levelOf(f.Rule)]++
		}
	}
	claim, holds := c.discovery.Conformance, "none"
	base := failed["L1"] == 0 && c.looked("VF-L1-003b", len(c.index)) && c.looked("VF-L1-005a", 1)
	if base {
		holds = "L1"
	}
	if !c.discovery.Static() && claim != "L1" {
		if base = base && failed["L2"] == 0 && c.looked("VF-L2-011a", 1); base {
			holds = "L2"
		}
	}
	if claim == "L3" && base && failed["L3"] == 0 && c.looked("VF-L3-015b", len(c.records)) && c.looked("VF-L3-016a", 1) {
		holds = "L3"
	}
	n := failed["L1"] + failed["L2"] + failed["L3"]
	count := fmt.Sprintf("failures: %d", n)
	if c.silent > 0 {
		count += fmt.Sprintf(", requests without an answer: %d", c.silent)
	}
	switch {
	case holds == claim && n == 0 && c.silent == 0:
		return "The origin claims " + claim + ", and " + claim + " holds."
	case holds == claim && n == 0:
		return "The origin claims " + claim + ", and " + claim + " holds as far as it answered (" + count + ")."
	case holds == "none":
		return fmt.Sprintf("The origin claims %s, but no level holds (%s).", report.Clean(claim), count)
	}
	return fmt.Sprintf("The origin claims %s; the highest level that holds is %s (%s).", report.Clean(claim), holds, count)
}

// looked reports whether a rule that a level rests on was looked at. A publisher without anything to look at is excused once its index has been read.
func (c *checker) looked(rule string, places int) bool {
	return c.held[rule] > 0 || places == 0 && c.held["VF-L1-002a"] > 0
}

// Reached reports whether the checked origin answered at all. When it did not, nothing failed: there was nothing to check.
func Reached(r *report.Report) bool {
	return !slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == "VF-L1-001a" && f.Outcome == report.NotTested })
}
