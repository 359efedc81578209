package cli

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/internal/buildinfo"
	"sayso/jcs"
	"sayso/report"
	"sayso/safefetch"
)

// verifyingBusiness holds the flags of verify that concern documents of a business registry.
type verifyingBusiness struct {
	root, registryKeys, revocations, publisherRevocations string
	publisher, call, at                                   string
	acceptUnconfirmed, acceptUnlisted                     bool
}

func (v *verifyingBusiness) add(flags *pflag.FlagSet) {
	flags.StringVar(&v.root, "root", "", "businesses: the pinned root, a public JWK; without it identity stays unconfirmed")
	flags.StringVar(&v.publisher, "publisher", "", "businesses: the name that the document must speak for (default: that in the URL)")
	flags.StringVar(&v.call, "call", "", "businesses: file with the call that the document must answer, {\"tool\", \"arguments\"}")
	flags.StringVar(&v.at, "at", "", "businesses: judge at this instant, RFC 3339 (default now)")
	flags.StringVar(&v.registryKeys, "registry-keys", "", "businesses: file with registry-keys.json, instead of fetching it")
	flags.StringVar(&v.revocations, "revocations", "", "businesses: file with the registry's revocation list")
	flags.StringVar(&v.publisherRevocations, "publisher-revocations", "", "businesses: file with the publisher's revocation list")
	flags.BoolVar(&v.acceptUnconfirmed, "accept-unconfirmed", false, "businesses: usable although no root is pinned")
	flags.BoolVar(&v.acceptUnlisted, "accept-unlisted", false, "businesses: usable although no list could be checked")
}

// isBusinessDocument recognises a document of X-Protocols by its members: those that state the version, everything with an attestation, lists, and the export.
func isBusinessDocument(data []byte) bool {
	members, err := business.Members(data)
	if err != nil {
		first, _, _ := bytes.Cut(data, []byte("\n"))
		members, err = business.Members(first)
		return err == nil && len(members) > 0 && members[0].Name == "_meta"
	}
	has := func(name string) bool {
		return slices.ContainsFunc(members, func(m jcs.Member) bool { return m.Name == name })
	}
	return has("protocol_x_version") || has("attestation") || has("coverage") || has("_meta") || has("entries") && has("issued_at")
}

// verdict is the answer of verify about a document of a business.
type verdict struct {
	business.Verdict
	Source string `json:"source"` // file name or URL that was read
}

// options reads the files that the flags name.
func (v *verifying) options() (o bizhttp.Options, err error) {
	if flag := v.given(factFlags); flag != "" {
		return o, usageError("--%s is for figures, and this is a document of a business", flag)
	}
	o = bizhttp.Options{Offline: v.offline, Publisher: v.x.publisher, AcceptUnknown: v.x.acceptUnconfirmed, AcceptUnlisted: v.x.acceptUnlisted}
	if o.Root, err = readRoot(v.x.root); err != nil {
		return o, err
	}
	for path, into := range map[string]*[]byte{
		v.x.registryKeys: &o.RegistryKeys, v.jwks: &o.PublisherKeys, v.x.revocations: &o.Revocations, v.x.publisherRevocations: &o.PublisherList,
	} {
		if path == "" {
			continue
		}
		if *into, err = os.ReadFile(path); err != nil {
			return o, err
		}
	}
	if o.Call, err = readCall(v.x.call); err != nil {
		return o, err
	}
	at, err := instantFlag("at", v.x.at)
	if !at.IsZero() {
		o.Clock = func() time.Time { return at }
	}
	return o, err
}

// readRoot reads a pinned root, "" for none.
func readRoot(path string) (*business.Root, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	root, err := app.ParsePin(data)
	if err != nil {
		return nil, failedError("%s %v", path, err).withHint("a pin is the root.pub.json that the registry's operator gives to readers")
	}
	return &root, nil
}

// readCall reads a tool call, alone or as the request that carried it; the literals of its arguments stay as they were sent.
func readCall(path string) (*business.Call, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	type call struct {
		Tool      string  `json:"tool"`
		Name      string  `json:"name"`
		Arguments jcs.Raw `json:"arguments"`
	}
	var doc struct {
		call
		Params call `json:"params"`
	}
	if err := business.Decode(data, &doc); err != nil {
		return nil, failedError("%s is no call: %v", path, err)
	}
	sent := doc.call
	if doc.Params.Name != "" {
		sent = doc.Params
	}
	tool := cmp.Or(sent.Tool, sent.Name)
	if tool == "" {
		return nil, failedError("%s is no call: it names no tool", path).withHint(`a call is {"tool": NAME, "arguments": {…}}`)
	}
	return &business.Call{Tool: tool, Arguments: sent.Arguments}, nil
}

// businessFetch is the client of one verification or check; what the user typed or allowed may be on this machine.
func businessFetch(policy safefetch.Policy, typed ...string) *safefetch.Client {
	policy.UserAgent = buildinfo.UserAgent()
	for _, address := range typed {
		policy.Loopback = append(policy.Loopback, loopbackNames(address)...)
	}
	return safefetch.New(policy)
}

// loopbackNames are the names of this machine under the port of a typed loopback address: a server may call itself by another one than was typed.
func loopbackNames(address string) []string {
	_, port, err := net.SplitHostPort(safefetch.LoopbackOf(address))
	if err != nil {
		return nil
	}
	return []string{"127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port}
}

func (e *env) verifyBusinessURL(at string, v *verifying) error {
	o, err := v.options()
	if err != nil {
		return err
	}
	o.Fetch = businessFetch(bizhttp.Bounds(), at)
	result, err := bizhttp.VerifyURL(e.ctx, at, o)
	if err != nil {
		return businessFailure(at, err)
	}
	return e.answerVerdict(result.Source.URL, result, v)
}

func (e *env) verifyBusiness(name string, data []byte, v *verifying) error {
	o, err := v.options()
	if err != nil {
		return err
	}
	named := slices.DeleteFunc(locatorsOf(data), func(at string) bool { return safefetch.LoopbackOf(at) == "" })
	if v.allowLoopback {
		o.Fetch = businessFetch(bizhttp.Bounds(), named...)
	} else {
		o.Fetch = businessFetch(bizhttp.Bounds())
		if len(named) > 0 && !v.offline {
			e.note("the document names a registry on this machine: it is asked only with --allow-loopback")
		}
	}
	result, err := bizhttp.VerifyDocument(e.ctx, data, o)
	if err != nil {
		return businessFailure(inputName(name), err)
	}
	return e.answerVerdict(name, result, v)
}

// locatorsOf are the addresses in a document that its evidence would be fetched from.
func locatorsOf(data []byte) []string {
	var doc struct {
		RegistryKeys string `json:"registry_keys_url"`
		Keys         string `json:"jwks_url"`
		Revocations  string `json:"revocation_url"`
		Endpoints    struct {
			Revocations string `json:"revocations"`
		} `json:"endpoints"`
	}
	if business.Decode(data, &doc) != nil {
		return nil
	}
	return []string{doc.RegistryKeys, doc.Keys, doc.Revocations, doc.Endpoints.Revocations}
}

func (e *env) answerVerdict(source string, r *bizhttp.Result, v *verifying) error {
	out := verdict{*r.Verdict, source}
	if err := e.answer(&out, out.write); err != nil {
		return err
	}
	if v.x.root == "" && out.Identity.Reason == "no_pinned_root" {
		e.note("note: pin the root of the registry with --root root.pub.json, and get that file over another way than from the registry")
	}
	if code := verdictCode(r.Verdict); code != exitOK {
		return answered(code)
	}
	return nil
}

// write prints one line for each finding: its value, and why where it is not the good one.
func (v *verdict) write(w io.Writer) error {
	p := &printer{w: w}
	of := ""
	if v.Publisher != "" {
		of = " of " + report.Clean(v.Publisher)
	}
	p.line("document %s%s", v.Kind, of)
	for _, f := range []struct {
		name string
		business.Finding
	}{{"signature", v.Signature}, {"identity", v.Identity}, {"authority", v.Authority}, {"revocation", v.Revocation}, {"call", v.Call}, {"mirror", v.Mirror}, {"usable", v.Usable}} {
		line := f.name + " " + f.Value
		if !f.AsOf.IsZero() {
			line += " as of " + stamp(f.AsOf)
		}
		if f.Reason != "" {
			line += ": " + f.Message
		}
		p.line("%s", line)
	}
	return p.err
}

// verdictCode is 5 when all that speaks against a document is that something could not be fetched.
func verdictCode(v *business.Verdict) exitCode {
	if v.Usable.Value == "yes" {
		return exitOK
	}
	untested := map[string]bool{
		"signature_" + v.Signature.Value:   v.Signature.Reason == "key_unavailable",
		"identity_" + v.Identity.Value:     v.Identity.Reason == "keys_unavailable",
		"revocation_" + v.Revocation.Value: v.Revocation.Reason == "list_unavailable",
	}
	for _, reason := range strings.Split(v.Usable.Reason, ",") {
		if !untested[reason] {
			return exitFailed
		}
	}
	return exitUnavailable
}

// businessFailure says why there is nothing to judge. What goes wrong on the way is never a statement about the business.
func businessFailure(name string, err error) error {
	var format *business.FormatError
	var way *bizhttp.TransportError
	switch {
	case errors.As(err, &format):
		f := failedError("%s: %s", name, report.Clean(format.Message))
		f.reason = cmp.Or(format.Rule, format.Code)
		return f
	case errors.As(err, &way) && (way.Status == http.StatusNotFound || way.Status == http.StatusGone):
		return notFoundError("%s", report.Clean(way.Error())).withHint("a registry lists its businesses at /b; one that is not published is not found either")
	case errors.As(err, &way):
		f := unavailableError("%s", report.Clean(way.Error()))
		if way.RetryAfter > 0 {
			f.withHint("it asks to be tried again in %v", way.RetryAfter)
		}
		return f
	case errors.Is(err, bizhttp.ErrAddress):
		return usageError("%v", err)
	}
	return err
}
