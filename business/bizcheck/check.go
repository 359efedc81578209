package bizcheck

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/report"
	"sayso/safefetch"
)

// The bounds of one check.
const (
	MaxTime     = 5 * time.Minute
	MaxRequests = 600      // redirects counted
	MaxBytes    = 16 << 20 // of one answer; a longer export is asked for its first part

	defaultPublishers = 3
	maxPublishers     = business.MaxResults
	maxLines          = 5000 // lines of an export that are read
	maxRecords        = 5    // records of an export whose url is asked
	maxSamples        = 200  // records of an export that are kept to make questions of
	maxCalls          = 40   // of the tools of one publisher
	maxCallsAll       = 160  // of all tools in one run
	maxSteps          = 5    // in which a clarification ends
	listed            = 20   // findings of one rule and outcome that a report lists
)

// Bounds is the policy of the client that Check makes when it is given none. A caller that checks a server on its own machine adds Loopback.
func Bounds() safefetch.Policy {
	return safefetch.Policy{MaxBytes: MaxBytes, MaxRedirects: bizhttp.MaxHops, Timeout: bizhttp.MaxTime, MaxRequests: MaxRequests}
}

// Options are what a check knows beforehand.
type Options struct {
	// Fetch sends every request; nil is a new client of Bounds.
	Fetch *safefetch.Client
	// Clock is the instant documents are judged at; nil is time.Now.
	Clock func() time.Time
	// Root is the pinned root, nil when none is pinned: that the keys lead to a root is then not tested.
	Root *business.Root
	// MaxPublishers is how many publishers of a registry are looked at, 1 to 50; 0 is 3.
	MaxPublishers int
	// Progress is told what is looked at; total counts the publishers that are known of so far. Nil: nobody is.
	Progress func(done, total int, what string)

	// What a manifest, list or answer given to CheckDocument is judged by. Check takes what the registry serves instead.
	RegistryKeys, PublisherKeys, Revocations, PublisherList []byte
}

// checker is one run. It works on one thing at a time, so that a foreign server is never asked two things at once.
type checker struct {
	Options
	recorder
	ctx context.Context

	answers    map[string]*answer // documents of this run by URL
	registries map[string]bool    // origins whose registry documents were looked at
	looked     []string           // what was read, for the scope
	left       []string           // what was not, and why
	mcp        bool               // a manifest named an mcp endpoint
	calls      int                // of tools, in this run
	unasked    string             // why questions were not asked, "" when they were
	file       bool               // one document is looked at, and no server
}

func newChecker(ctx context.Context, o Options) *checker {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	if o.MaxPublishers <= 0 {
		o.MaxPublishers = defaultPublishers
	}
	o.MaxPublishers = min(o.MaxPublishers, maxPublishers)
	return &checker{Options: o, recorder: newRecorder(), ctx: ctx, answers: map[string]*answer{}, registries: map[string]bool{}}
}

// Check looks at a registry or at one publisher. target is the origin or host of a registry (its documents, its discovery, and up to MaxPublishers of its
// publishers), or the host, profile, manifest, record or MCP address of a publisher. It never fails: what could not be done is in the report as not tested.
// Cancelling ctx ends it early in the same way.
func Check(ctx context.Context, target string, o Options) *report.Report {
	if o.Fetch == nil {
		o.Fetch = safefetch.New(Bounds().WithLoopback(addressOf(target)))
		defer o.Fetch.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	c := newChecker(ctx, o)
	subject := safefetch.WithoutQuery(addressOf(target))
	if u, err := url.Parse(addressOf(target)); err != nil || u.Host == "" || u.User != nil {
		c.left = append(c.left, "everything: "+bizhttp.ErrAddress.Error())
		return c.report(subject)
	}
	if origin := originOf(subject); strings.TrimSuffix(subject, "/") == origin {
		c.checkOrigin(origin)
	} else {
		c.checkAddress(addressOf(target))
	}
	return c.report(subject)
}

// addressOf completes a host that was typed without a scheme.
func addressOf(target string) string {
	target = strings.TrimSpace(target)
	if strings.Contains(target, "://") {
		return target
	}
	host, _, _ := strings.Cut(target, "/")
	if safefetch.LoopbackOf("http://"+host) != "" {
		return "http://" + target
	}
	return "https://" + target
}

// checkOrigin looks at a host: the registry behind it, and either the publisher that the host belongs to or those that discovery finds.
func (c *checker) checkOrigin(origin string) {
	c.Progress(0, 1, "registry documents of "+origin)
	c.checkRegistry(origin)
	if a := c.document(origin + wellKnown + "manifest.json"); a.ok() {
		c.checkPublishers([]string{a.at})
		return
	}
	manifests, more := c.discover(origin)
	c.checkPublishers(manifests)
	if more {
		c.left = append(c.left, fmt.Sprintf("publishers beyond the first %d of /discovery/query", len(manifests)))
	}
	if len(manifests) == 0 {
		c.left = append(c.left, "publishers: discovery named none")
	}
}

// checkAddress looks at the publisher that an address belongs to, and at its registry.
func (c *checker) checkAddress(target string) {
	c.Progress(0, 1, "manifest of "+safefetch.WithoutQuery(target))
	found, err := bizhttp.Discover(c.ctx, target, bizhttp.Options{Fetch: c.Fetch, Clock: c.Clock})
	if err != nil {
		c.left = append(c.left, "everything: "+err.Error())
		c.untested("XP-MANIFEST-001", safefetch.WithoutQuery(target), "no manifest could be read from this address", err.Error())
		return
	}
	c.checkPublishers([]string{found.URL})
}

func (c *checker) checkPublishers(manifests []string) {
	for i, at := range manifests {
		c.Progress(i, len(manifests), "publisher at "+safefetch.WithoutQuery(at))
		c.checkPublisher(at)
	}
	c.Progress(len(manifests), len(manifests), "publishers")
}
