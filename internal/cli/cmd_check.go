package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/business/bizcheck"
	"sayso/facts/factscheck"
	"sayso/facts/factshttp"
	"sayso/gidp/gidpcheck"
	"sayso/gidp/providerhttp"
	"sayso/internal/buildinfo"
	"sayso/report"
	"sayso/safefetch"
)

func init() { register("", newCheck) }

// The protocols that can be checked, by the words of --protocol.
const (
	protocolFacts = "facts"
	protocolX     = "x"
	protocolGIDP  = "gidp"
)

// selfTarget is the target that is this program.
const selfTarget = "self"

// checking holds the flags of check.
type checking struct {
	reading
	facts    factscheck.Options
	x        bizcheck.Options
	gidp     gidpcheck.Options
	protocol string
	root     string
	html     string
	verbose  bool
}

func newCheck(e *env) *cobra.Command {
	var k checking
	c := &cobra.Command{
		Use:   "check ORIGIN|ADDRESS|self",
		Short: "Check from outside whether a publisher, registry, agent or provider keeps its protocol",
		Long: "Check reads what everybody can read at an origin and reports, rule by rule, what holds, what fails, what deserves a warning and what could not be tested, each " +
			"with its place, the reason and what to do. Without --protocol it checks what the origin serves: figures when it has /.well-known/facts.json, businesses when it has " +
			"/.well-known/x-protocol/discovery.json.\n\n" +
			"Of a publisher of figures it names the highest level, L1 to L3, that holds. Each source page is fetched once; --no-sources leaves them alone. A request " +
			"without an answer takes no level away: the verdict counts it and says that the level holds as far as the origin answered.\n\n" +
			"Of a registry it looks at its own documents and at --publishers of its businesses; ADDRESS may be the profile, manifest or host of one. That the keys lead to the registry's root is tested against " +
			"--root. The tools of a business are asked at most 40 questions, made of its own documents and a word that nobody published; one answer is altered in many ways, each of which the verification must " +
			"notice. Only tools that read are called.\n\n" +
			"With --protocol gidp it looks at an agent (ADDRESS is its card, or …/a2a/REF) or at a discovery provider (its origin, or …/gidp/v1/). It sends at most 60 requests with keys and values that belong to " +
			"nobody. At an agent it opens two sessions of ten minutes; nothing is learned of an interest. At a provider it publishes a projection of a word that nobody else has, looks for it and withdraws it; " +
			"its endpoint leads nowhere, which a provider may refuse, so name an own one with --endpoint. \"sayso check self --protocol gidp\" plays the obligations of the protocol, K1 to K15, inside this program.\n\n" +
			"With --json the answer is one report, or {\"reports\": […]} when the origin serves both. Exit 0 when no rule failed, 1 when one did, 5 when the origin does not answer. A publisher runs it on a " +
			"schedule with --json as its own self-check.",
		Example: "  sayso check https://figures.example\n  sayso check http://127.0.0.1:8470 --no-sources --json\n  sayso check https://figures.example --html report.html\n" +
			"  sayso check https://registry.example --protocol x --root root.pub.json\n  sayso check https://provider.example --protocol gidp\n  sayso check self --protocol gidp",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return e.check(args[0], &k) },
	}
	flags := c.Flags()
	flags.StringVar(&k.protocol, "protocol", "", "what to check: facts, x for businesses, or gidp (default: what the origin serves of the first two)")
	flags.StringVar(&k.html, "html", "", "also write the report as one HTML page to this file")
	flags.BoolVar(&k.verbose, "verbose", false, "list what passed too")
	flags.BoolVar(&k.facts.NoSources, "no-sources", false, "figures: do not fetch the source pages")
	flags.Uint64Var(&k.facts.Seed, "seed", 1, "figures: draws the sample of a large index")
	flags.StringVar(&k.root, "root", "", "businesses: the pinned root, a public JWK")
	flags.IntVar(&k.x.MaxPublishers, "publishers", 3, "businesses: how many of a registry are looked at, at most 50")
	flags.StringVar(&k.gidp.Endpoint, "endpoint", "", "gidp: the URL that the projection names which is published at a provider (default: one that leads nowhere)")
	flags.BoolVar(&k.allowLoopback, "allow-loopback", false, "an origin on this machine may be checked; implied by typing one")
	return c
}

func (e *env) check(target string, k *checking) error {
	reports, reached, err := e.reports(target, k)
	if err != nil {
		return err
	}
	if k.html != "" {
		if err := writeHTML(k.html, reports[0]); err != nil {
			return err
		}
	}
	if err := e.answerReports(reports, k.verbose); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(reports, (*report.Report).Failed) && reached:
		return answered(exitFailed)
	case !reached:
		return answered(exitUnavailable)
	}
	return nil
}

// reports checks one protocol after the other. reached is false when nothing at all answered.
func (e *env) reports(target string, k *checking) (all []*report.Report, reached bool, err error) {
	protocols, err := e.protocolsOf(target, k)
	if err != nil {
		return nil, false, err
	}
	if len(protocols) > 1 && k.html != "" {
		return nil, false, usageError("%s serves figures and businesses, and an HTML page holds one report", target).withHint("name one with --protocol facts or --protocol x")
	}
	for _, protocol := range protocols {
		var r *report.Report
		var answers bool
		switch protocol {
		case protocolFacts:
			r, answers, err = e.checkFacts(target, k)
		case protocolGIDP:
			r, answers, err = e.checkGIDP(target, k)
		default:
			r, answers, err = e.checkBusinesses(target, k)
		}
		if err == nil {
			err = e.ctx.Err()
		}
		if err != nil {
			return nil, false, err
		}
		all, reached = append(all, r), reached || answers
	}
	return all, reached, nil
}

// protocolsOf is what --protocol names, else what the origin serves. An address below an origin belongs to a business; an origin that answers nothing is
// checked for figures, whose report says so; with a pinned root it is to be a registry.
func (e *env) protocolsOf(target string, k *checking) ([]string, error) {
	switch k.protocol {
	case protocolFacts, protocolX, protocolGIDP:
		return []string{k.protocol}, nil
	case "":
	default:
		return nil, usageError("--protocol %q is none of %s, %s, for businesses, and %s", k.protocol, protocolFacts, protocolX, protocolGIDP)
	}
	if u, err := url.Parse(target); err == nil && u.Host != "" && strings.Trim(u.Path, "/") != "" {
		if strings.HasPrefix(u.Path, "/a2a/") || strings.HasPrefix(u.Path+"/", providerhttp.Base) {
			return []string{protocolGIDP}, checkTyped(u)
		}
		return []string{protocolX}, checkTyped(u)
	}
	origin, err := typedOrigin(target)
	if err != nil {
		return nil, err
	}
	fetch := newFetch(origin)
	var found []string
	if e.serves(fetch, origin+"/.well-known/facts.json") {
		found = append(found, protocolFacts)
	}
	if k.root != "" || e.serves(fetch, origin+"/.well-known/x-protocol/discovery.json") {
		found = append(found, protocolX)
	}
	if found == nil {
		found = []string{protocolFacts}
	}
	return found, nil
}

func (e *env) serves(fetch *safefetch.Client, at string) bool {
	ctx, cancel := context.WithTimeout(e.ctx, 10*time.Second)
	defer cancel()
	answer, err := fetch.Do(ctx, safefetch.Request{URL: at})
	return err == nil && answer.Status == http.StatusOK
}

func (e *env) checkFacts(target string, k *checking) (*report.Report, bool, error) {
	o := k.facts
	var err error
	if o.Origin, err = typedOrigin(target); err != nil {
		return nil, false, err
	}
	policy := safefetch.Policy{UserAgent: buildinfo.UserAgent(), MaxBytes: 16 << 20, Timeout: 30 * time.Second}
	o.Fetch = safefetch.New(policy.WithLoopback(o.Origin))
	stages := &stages{e: e}
	o.Progress = stages.show
	r := factscheck.Run(e.ctx, o)
	stages.end()
	reached := factscheck.Reached(r)
	if !reached { // the rules that were not come to say nothing beside the one that tells why
		r.Findings = slices.DeleteFunc(r.Findings, func(f report.Finding) bool { return f.Rule != "VF-L1-001a" })
	}
	return r, reached, nil
}

func (e *env) checkBusinesses(target string, k *checking) (*report.Report, bool, error) {
	if strings.Contains(target, "://") {
		u, err := url.Parse(target)
		if err != nil || u.Host == "" || u.User != nil {
			return nil, false, usageError("%q is not a URL", target)
		}
		if err := checkTyped(u); err != nil {
			return nil, false, err
		}
	}
	o := k.x
	var err error
	if o.Root, err = readRoot(k.root); err != nil {
		return nil, false, err
	}
	if o.MaxPublishers < 1 || o.MaxPublishers > 50 {
		return nil, false, usageError("--publishers %d is not 1 to 50", o.MaxPublishers)
	}
	o.Fetch = businessFetch(bizcheck.Bounds(), target, factshttp.OriginOf(target))
	stages := &stages{e: e}
	o.Progress = stages.show
	r := bizcheck.Check(e.ctx, target, o)
	stages.end()
	reached := bizcheck.Reached(r)
	if !reached { // the rules that were not come to say nothing beside those that tell why
		r.Findings = slices.DeleteFunc(r.Findings, func(f report.Finding) bool { return f.Message == bizcheck.NotLookedAt })
	}
	return r, reached, nil
}

// checkGIDP looks at an agent or a provider, or plays the obligations of the protocol inside this program. A refused request is an answer too.
func (e *env) checkGIDP(target string, k *checking) (*report.Report, bool, error) {
	if target == selfTarget {
		r := gidpcheck.Self(e.ctx, selfTarget, nil)
		return r, true, nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return nil, false, usageError("%q is neither an agent nor a provider", target).withHint("%s", gidpcheck.ErrTarget.Error())
	}
	if err := checkTyped(u); err != nil {
		return nil, false, err
	}
	o := k.gidp
	o.Fetch = businessFetch(gidpcheck.Bounds(), target, factshttp.OriginOf(target))
	stages := &stages{e: e}
	o.Progress = stages.show
	r, err := gidpcheck.Check(e.ctx, target, o)
	stages.end()
	switch {
	case errors.Is(err, gidpcheck.ErrTarget):
		return nil, false, usageError("%q is neither an agent nor a provider", target).withHint("%s", err.Error())
	case err != nil:
		return nil, false, err
	}
	return r, gidpcheck.Reached(r), nil
}

// answerReports prints one report as it is, several as {"reports": […]}.
func (e *env) answerReports(reports []*report.Report, verbose bool) error {
	var answer any = reports[0]
	if len(reports) > 1 {
		answer = struct {
			Reports []*report.Report `json:"reports"`
		}{reports}
	}
	return e.answer(answer, func(w io.Writer) error {
		width := e.textWidth()
		if width == 0 {
			width = maxTextWidth
		}
		for i, r := range reports {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return err
				}
			}
			if err := r.WriteText(w, report.TextOptions{Color: e.wantsColor(w), Verbose: verbose, Width: width}); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeHTML(path string, r *report.Report) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = r.WriteHTML(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
