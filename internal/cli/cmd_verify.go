package cli

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sayso/business/bizhttp"
	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/internal/config"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/report"
	"sayso/safefetch"
)

func init() { register("", newVerify) }

// maxRecordFile bounds what verify reads of a fact record, which has at most 8 KiB.
const maxRecordFile = 1 << 20

// verifying holds the flags of verify.
type verifying struct {
	reading
	selecting
	jwks             string
	requireSignature bool
	live             bool
	offline          bool
	also             []string
	x                verifyingBusiness
	changed          func(flag string) bool
}

// Flags that mean something for one of the two only.
var (
	factFlags     = []string{"max-age", "as-of", "require-signature", "live", "also"}
	businessFlags = []string{"root", "registry-keys", "revocations", "publisher-revocations", "publisher", "call", "at", "accept-unconfirmed", "accept-unlisted"}
)

// given is the first of some flags that stands on the command line, "" when none does.
func (v *verifying) given(flags []string) string {
	if i := slices.IndexFunc(flags, v.changed); i >= 0 {
		return flags[i]
	}
	return ""
}

func newVerify(e *env) *cobra.Command {
	var v verifying
	c := &cobra.Command{
		Use:   "verify FILE|URL|-",
		Short: "Verify a fact record, or a signed document of a business",
		Long: "Verify reads a document from a file, a URL or standard input and tells what it is by its members.\n\n" +
			"A fact record gets four lines that are never folded into one: whether the hash fits the claim, whether the " +
			"signature fits, whether the key may be used, whether the claim is current. The keys come from the set that facts.json at the publisher's own origin names, " +
			"or from --jwks. A valid signature means that this publisher said so; it does not mean that the figure is true.\n\n" +
			"A manifest, an answer or a revocation list of a business registry gets a line for each of signature, identity, authority, revocation, call and mirror, and one that says whether a careful reader " +
			"may rely on it and what speaks against it. A URL may be the host, profile or record of a business: its manifest is verified. Identity is confirmed only against a root that you pinned: " +
			"give the registry's root.pub.json with --root, and get it over another way than from the registry. Keys and lists come from where the document says, or from the files given.\n\n" +
			"A document in a file names its publisher itself, so an origin on this machine is asked only with --allow-loopback; a URL that you type allows its own host.\n\n" +
			"Exit 0 when nothing fails and the claim is current, or the document is usable; 1 when a part fails, 3 no such file or page, 5 when something could not be fetched.",
		Example: "  sayso verify https://figures.example/f/uk/income-tax/personal-allowance\n" +
			"  sayso verify record.json --jwks jwks.json --require-signature --max-age 30d\n" +
			"  curl -s https://figures.example/f/uk/bank-rate | sayso verify - --live --also https://other.example\n" +
			"  sayso verify https://registry.example/b/brightwater-opticians --root root.pub.json\n" +
			"  sayso verify answer.json --root root.pub.json --call call.json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.changed = cmd.Flags().Changed
			return e.verify(args[0], &v)
		},
	}
	flags := c.Flags()
	flags.StringVar(&v.jwks, "jwks", "", "file with the publisher's key set, instead of fetching it")
	flags.BoolVar(&v.offline, "offline", false, "fetch nothing: what is not given is not looked for")
	v.addLoopback(flags)
	flags.StringVar(&v.maxAge, "max-age", "", "figures: oldest check that will do: 30d, 12w, 6m, 1y or P30D")
	flags.StringVar(&v.asOf, "as-of", "", "figures: day on which the claim must hold, YYYY-MM-DD (default today)")
	flags.BoolVar(&v.requireSignature, "require-signature", false, "figures: an unsigned record fails")
	flags.BoolVar(&v.live, "live", false, "figures: also ask the publisher what it serves for the key now")
	flags.StringArrayVar(&v.also, "also", nil, "figures: another publisher to ask for the same key; may be repeated")
	v.x.add(flags)
	return c
}

// verified is the answer of verify as JSON: the four parts and what stands beside them.
type verified struct {
	facts.Verification
	Key      string           `json:"key"`
	Status   string           `json:"status"` // fresh | stale, computed today
	AgeDays  int              `json:"ageDays"`
	Findings []report.Finding `json:"findings"`
}

// verify finds out what kind of document it is about. A URL below /f/ is a figure; one that is not says what it is when it is read.
func (e *env) verify(name string, v *verifying) error {
	if strings.Contains(name, "://") {
		return e.verifyAddress(name, v)
	}
	data, err := e.readRecord(name)
	if err != nil {
		return err
	}
	if isBusinessDocument(data) || v.given(businessFlags) != "" {
		return e.verifyBusiness(name, data, v)
	}
	if len(data) > maxRecordFile {
		return failedError("%s is larger than a record can be", name)
	}
	return e.verifyFact(name, data, v)
}

func (e *env) verifyAddress(name string, v *verifying) error {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" || u.User != nil {
		return usageError("%q is not a URL", name)
	}
	if err := checkTyped(u); err != nil {
		return err
	}
	if v.offline {
		return usageError("--offline and a URL exclude each other").withHint("save the document into a file first")
	}
	_, known := bizhttp.Match(u.EscapedPath())
	switch figure := strings.HasPrefix(u.Path, "/f/") || strings.HasPrefix(u.Path, "/facts/"); {
	case v.given(businessFlags) != "", !figure && v.given(factFlags) == "" && (known || u.Path == ""):
		return e.verifyBusinessURL(name, v)
	case !figure && v.given(factFlags) == "":
		if err := e.verifyBusinessURL(name, v); err == nil || e.hasAnswered {
			return err
		}
	}
	return e.verifyFact(name, nil, v)
}

// verifyFact verifies a record of Verified Facts: data, or what stands at a URL.
func (e *env) verifyFact(name string, data []byte, v *verifying) error {
	if v.offline && (v.jwks == "" || v.live || len(v.also) > 0) {
		return usageError("a fact record is verified --offline with --jwks and without --live and --also")
	}
	sel, err := v.selection()
	if err != nil {
		return err
	}
	o := factshttp.VerifyOptions{MaxAge: sel.MaxAge, AsOf: sel.AsOf, Live: v.live}
	if o.Keys, err = readKeySet(v.jwks); err != nil {
		return err
	}
	for _, text := range v.also {
		origin, err := typedOrigin(text)
		if err != nil {
			return err
		}
		o.Also = append(o.Also, origin)
	}
	result, err := e.verifyFrom(name, data, v, o)
	if err != nil {
		return err
	}
	out := verified{result.Verification, result.Record.Key, result.Status, result.AgeDays, result.Findings}
	if err := e.answer(out, func(w io.Writer) error {
		if err := writeParts(w, &result.Verification); err != nil {
			return err
		}
		return writeFindings(w, result.Findings)
	}); err != nil {
		return err
	}
	if code := verifyCode(result, v.requireSignature); code != exitOK {
		return answered(code)
	}
	return nil
}

// verifyFrom verifies a record; without data it is the one at the URL.
func (e *env) verifyFrom(name string, data []byte, v *verifying, o factshttp.VerifyOptions) (*factshttp.VerifyResult, error) {
	if data == nil {
		origin := factshttp.OriginOf(name)
		o.Fetch = newFetch(append([]string{origin}, o.Also...)...)
		result, err := factshttp.VerifyURL(e.ctx, name, o)
		var status *factshttp.StatusError
		if errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone) {
			return nil, notFoundError("%v", status)
		}
		return result, notRecord(name, origin, err)
	}
	allowed := o.Also
	switch origin := publisherOrigin(data); {
	case v.allowLoopback:
		allowed = append(allowed, origin)
	case o.Keys == nil && safefetch.LoopbackOf(origin) != "":
		e.note("the record names a publisher on this machine, %s: it is asked only with --allow-loopback", origin)
	}
	o.Fetch = newFetch(allowed...)
	result, err := factshttp.Verify(e.ctx, data, o)
	if what := otherDocument(data); err != nil && what != "" {
		return nil, failedError("%s is %s, not a fact record", inputName(name), what).withHint("verify takes one record, as a GET of its key answers")
	}
	return result, notRecord(name, "", err)
}

// notRecord tells what was found instead of a record.
func notRecord(name, origin string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, factshttp.ErrNotRecord):
		return failedError("%s: %s", inputName(name), report.Clean(err.Error()))
	}
	return readFailure(origin, err)
}

func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// otherDocument names the answers of a publisher that are easily taken for a record, "" for anything else.
func otherDocument(data []byte) string {
	var doc struct {
		Error   string    `json:"error"`
		Results []jcs.Raw `json:"results"`
	}
	switch err := jcs.Decode(data, &doc); {
	case err != nil:
		return ""
	case doc.Results != nil:
		return "a batch of " + plural(len(doc.Results), "answer")
	case doc.Error != "":
		return "a miss (" + report.Clean(shorten(doc.Error, 40)) + ")"
	}
	return ""
}

// addressWithoutScheme is the URL that a path such as figures.example/f/a/b means when there is no such file.
func addressWithoutScheme(name string) string {
	host, path, ok := strings.Cut(name, "/")
	if origin := config.WithScheme(host); ok && origin != "" {
		return origin + "/" + path
	}
	return ""
}

func (e *env) readRecord(name string) ([]byte, error) {
	in, err := e.openInput(name)
	if url := addressWithoutScheme(name); errors.Is(err, fs.ErrNotExist) && url != "" {
		return nil, notFoundError("%s does not exist", name).withHint("a URL has a scheme; did you mean %s?", url)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, bizhttp.MaxBytes+1))
	switch {
	case err != nil:
		return nil, failedError("%s cannot be read: %v", name, err)
	case len(data) > bizhttp.MaxBytes:
		return nil, failedError("%s is larger than a document that is signed can be", name)
	case len(data) == 0 && name == "-":
		return nil, usageError("standard input is empty: there is no record to verify")
	}
	return data, nil
}

// publisherOrigin is the origin that a record names as its publisher's, "" when it names none.
func publisherOrigin(data []byte) string {
	record, err := facts.ParseRecord(data)
	if err != nil {
		return ""
	}
	return factshttp.OriginOf(record.Publisher.URL)
}

func readKeySet(path string) (*jwk.Set, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set, err := jwk.ParseSet(data)
	if err != nil {
		return nil, failedError("%s is no key set: %v", path, err)
	}
	return set, nil
}

// verifyCode is the exit code of F§13. A part that failed outweighs one that could not be looked at.
func verifyCode(r *factshttp.VerifyResult, requireSignature bool) exitCode {
	v := r.Verification
	o := judge(&v, nil)
	current := v.ClaimCurrent.Value
	switch {
	case o.refusal != "" && !o.untested, requireSignature && v.Signature.Value == facts.PartAbsent, current != facts.PartCurrent && current != facts.PartNotTested:
		return exitFailed
	case o.untested, r.Unavailable, current == facts.PartNotTested:
		return exitUnavailable
	}
	return exitOK
}
