package cli

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/internal/buildinfo"
	"sayso/internal/config"
	"sayso/report"
	"sayso/safefetch"
)

// reading holds the flags of the commands that ask publishers.
type reading struct {
	from          []string
	allowLoopback bool
}

func (r *reading) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&r.from, "from", nil, "origin to ask, https://HOST; may be repeated (default: the publishers of the settings file)")
	r.addLoopback(flags)
}

func (r *reading) addLoopback(flags *pflag.FlagSet) {
	flags.BoolVar(&r.allowLoopback, "allow-loopback", false, "also ask origins on this machine that were not typed, over http")
}

// publisher is one origin to ask.
type publisher struct {
	*factshttp.Client
	declared bool // named by the settings, so that it is asked for its own namespaces only
	pinned   bool

	mu       sync.Mutex // guards what follows
	checked  time.Time  // when the pin was looked at
	findings []report.Finding
}

// publishers are asked in order.
type publishers []*publisher

// publishers are whom to ask: the typed origins, else those of the settings.
func (e *env) publishers(r *reading) (publishers, error) {
	var out publishers
	for _, text := range r.from {
		origin, err := typedOrigin(text)
		if err != nil {
			return nil, err
		}
		known := config.Publisher{Origin: origin}
		if i := slices.IndexFunc(e.config.Publishers, func(p config.Publisher) bool { return p.Origin == origin }); i >= 0 {
			known = e.config.Publishers[i] // a pin holds however the publisher is named
		}
		out = append(out, newPublisher(known, origin))
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, known := range e.config.Publishers {
		allowed := ""
		if r.allowLoopback {
			allowed = known.Origin
		}
		p := newPublisher(known, allowed)
		p.declared = true
		out = append(out, p)
	}
	if len(out) == 0 {
		where := "the settings file"
		if e.config.File != "" {
			where += " " + e.config.File
		}
		return nil, usageError("there is no publisher to ask").withHint("name one with --from ORIGIN, or list them as [[publisher]] tables with an origin in %s", where)
	}
	return out, nil
}

func newPublisher(known config.Publisher, allowed string) *publisher {
	pin := pinOf(known)
	return &publisher{
		Client: factshttp.NewClient(known.Origin, factshttp.ClientOptions{Fetch: newFetch(allowed), Pin: pin}),
		pinned: len(pin.Keys) > 0 || pin.ChainHead != "",
	}
}

// newFetch returns a client that may also reach origins on this machine: those that the user typed or allowed. A document of another publisher gains nothing
// from it, because every publisher has a client of its own.
func newFetch(typed ...string) *safefetch.Client {
	policy := safefetch.Policy{UserAgent: buildinfo.UserAgent(), MaxBytes: 16 << 20, Timeout: 30 * time.Second, MaxRedirects: 3}
	return safefetch.New(policy.WithLoopback(typed...))
}

// typedOrigin reads an origin from the command line: https://HOST[:PORT], or http on this machine.
func typedOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		f := usageError("%q is not an origin", text).withHint("an origin is https://HOST, without a path")
		if meant := config.WithScheme(text); meant != "" {
			f.withHint("it has no scheme; did you mean %s?", meant)
		}
		return "", f
	}
	if err := checkTyped(u); err != nil {
		return "", err
	}
	return factshttp.OriginOf(text), nil
}

func checkTyped(u *url.URL) error {
	if u.Scheme == "https" || safefetch.LoopbackOf(u.String()) != "" {
		return nil
	}
	return usageError("%s://%s may not be asked: only https is, and http on this machine", u.Scheme, u.Host)
}

// pinOf reads the pin of a publisher: thumbprints of keys, a chain head, or both, separated by commas or spaces.
func pinOf(p config.Publisher) factshttp.Pin {
	var pin factshttp.Pin
	for _, part := range config.PinParts(p.Pin) {
		if strings.HasPrefix(part, "sha256:") {
			pin.ChainHead = part
		} else {
			pin.Keys = append(pin.Keys, part)
		}
	}
	return pin
}

// pinLife is how long a pin that was looked at is not looked at again; a chain head costs the whole changelog.
const pinLife = time.Hour

// pinFindings are what no longer fits the pin.
func (p *publisher) pinFindings(ctx context.Context) ([]report.Finding, error) {
	if !p.pinned {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.checked) < pinLife {
		return p.findings, nil
	}
	all, err := p.CheckPin(ctx)
	if err != nil {
		return nil, err
	}
	p.checked = time.Now()
	p.findings = slices.DeleteFunc(all, func(f report.Finding) bool { return f.Outcome != report.Fail })
	return p.findings, nil
}

// found is what the publishers said about one key.
type found struct {
	*factshttp.Result
	publisher *publisher
	unasked   []error // of publishers that could not be asked
}

// errNobody says that no publisher declares the namespace of a key.
var errNobody = errors.New("no publisher declares the namespace")

// get asks for one key, in order, until one publisher holds a value. A record that does not verify ends the search too: going on would hide it. Without a
// record the first miss is the answer, unless somebody could not be asked: what is unknown is not shown as "not held".
func (ps publishers) get(ctx context.Context, key string, sel facts.Selection) (*found, error) {
	var miss *found
	var unasked []error
	for _, p := range ps {
		asked, err := p.asksFor(ctx, key)
		if err == nil && !asked {
			continue
		}
		var result *factshttp.Result
		if err == nil {
			result, err = p.Get(ctx, key, sel)
		}
		if err == nil {
			err = p.addPin(ctx, result)
		}
		switch {
		case err != nil && (ctx.Err() != nil || !outOfReach(err)):
			return nil, err
		case err != nil:
			unasked = append(unasked, readFailure(p.Origin(), err))
		case result.Outcome == facts.OutcomeRecord:
			return &found{result, p, unasked}, nil
		case miss == nil || miss.Outcome == facts.OutcomeUnknown && result.Outcome == facts.OutcomeNotHeld:
			miss = &found{Result: result, publisher: p}
		}
	}
	switch {
	case len(unasked) > 0:
		return nil, unasked[0]
	case miss == nil:
		return nil, errNobody
	}
	return miss, nil
}

// asksFor reports whether a publisher is to be asked for a key. A text without a namespace is for everybody.
func (p *publisher) asksFor(ctx context.Context, key string) (bool, error) {
	normal, _ := facts.NormalizeKey(key, func(string) bool { return false })
	namespace, _, hasNamespace := strings.Cut(normal, "/")
	if !p.declared || !hasNamespace || strings.Contains(namespace, ":") {
		return true, nil
	}
	d, err := p.Discovery(ctx)
	if err != nil {
		return false, err
	}
	if namespace == "gb" || strings.HasPrefix(namespace, "gb-") { // the alias class of F§2.2
		normal = "uk" + strings.TrimPrefix(normal, "gb")
	}
	return d.Declares(normal), nil
}

// addPin replaces what the result says about pins by a look at the whole pin.
func (p *publisher) addPin(ctx context.Context, r *factshttp.Result) error {
	pins, err := p.pinFindings(ctx)
	if err != nil {
		return err
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f report.Finding) bool {
		return f.Rule == factshttp.RulePinnedKeys || f.Rule == factshttp.RulePinnedChain
	})
	r.Findings = append(r.Findings, pins...)
	return nil
}

// outOfReach reports an error after which another publisher may be asked: this one gave no answer.
func outOfReach(err error) bool {
	var status *factshttp.StatusError
	var fetch *safefetch.FetchError
	return errors.As(err, &status) || errors.As(err, &fetch) || errors.Is(err, safefetch.ErrRefused)
}

// readFailure gives the error of a fetch its exit code: a refused parameter is usage, a document that breaks the protocol is a failed check, anything else
// is a publisher out of reach.
func readFailure(origin string, err error) error {
	var parameter *facts.ParameterError
	var answer *factshttp.AnswerError
	var status *factshttp.StatusError
	var fetch *safefetch.FetchError
	switch {
	case errors.As(err, &parameter):
		return usageError("%s", report.Clean(parameter.Message))
	case errors.As(err, &answer):
		return failedError("%s", report.Clean(answer.Error())).withHint("what answers there does not keep the protocol; sayso check says more")
	case errors.As(err, &status) && status.RetryAfter > 0:
		return unavailableError("%v", status).withHint("it asks to be tried again in %v", status.RetryAfter)
	case errors.As(err, &status):
		return unavailableError("%v", status)
	case errors.As(err, &fetch), errors.Is(err, context.DeadlineExceeded):
		return unavailableError("%s cannot be reached: %v", origin, err)
	case errors.Is(err, safefetch.ErrRefused) && safefetch.LoopbackOf(origin) != "":
		return unavailableError("%s is on this machine and was not typed", origin).withHint("allow it with --allow-loopback")
	case errors.Is(err, safefetch.ErrRefused):
		return unavailableError("%s was not asked: %v", origin, err)
	}
	return err
}

// noteUnasked tells the person who could not be asked.
func (e *env) noteUnasked(errs []error) {
	for _, err := range errs {
		e.note("not asked: %v", err)
	}
}
