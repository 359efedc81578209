package cli

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/internal/config"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/report"
	"sayso/safefetch"
)

func init() { register("", newVerify) }

// maxRecordFile bounds what verify reads from a file; a record has at most 8 KiB.
const maxRecordFile = 1 << 20

// verifying holds the flags of verify.
type verifying struct {
	reading
	selecting
	jwks             string
	requireSignature bool
	live             bool
	also             []string
}

func newVerify(e *env) *cobra.Command {
	var v verifying
	c := &cobra.Command{
		Use:   "verify FILE|URL|-",
		Short: "Verify one record in four parts",
		Long: "Verify reads a record from a file, a URL or standard input and prints four lines that are never folded into one: whether the hash fits the claim, whether the " +
			"signature fits, whether the key may be used, whether the claim is current. The keys come from the set that facts.json at the publisher's own origin names, " +
			"or from --jwks. A valid signature means that this publisher said so; it does not mean that the figure is true.\n\n" +
			"A record in a file names its publisher itself, so an origin on this machine is asked only with --allow-loopback; a URL that you type allows its own host.\n\n" +
			"Exit 0 when nothing fails and the claim is current, 1 when a part fails, 3 no such file or page, 5 when something could not be fetched.",
		Example: "  sayso verify https://figures.example/f/uk/income-tax/personal-allowance\n" +
			"  sayso verify record.json --jwks jwks.json --require-signature --max-age 30d\n" +
			"  curl -s https://figures.example/f/uk/bank-rate | sayso verify - --live --also https://other.example",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return e.verify(args[0], &v) },
	}
	flags := c.Flags()
	flags.StringVar(&v.jwks, "jwks", "", "file with the publisher's key set, instead of fetching it")
	flags.StringVar(&v.maxAge, "max-age", "", "oldest check that will do: 30d, 12w, 6m, 1y or P30D")
	flags.StringVar(&v.asOf, "as-of", "", "day on which the claim must hold, YYYY-MM-DD (default today)")
	flags.BoolVar(&v.requireSignature, "require-signature", false, "an unsigned record fails")
	flags.BoolVar(&v.live, "live", false, "also ask the publisher what it serves for the key now")
	flags.StringArrayVar(&v.also, "also", nil, "another publisher to ask for the same key; may be repeated")
	v.addLoopback(flags)
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

func (e *env) verify(name string, v *verifying) error {
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
	result, err := e.verifyFrom(name, v, o)
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

// verifyFrom reads the record from where it is and verifies it.
func (e *env) verifyFrom(name string, v *verifying, o factshttp.VerifyOptions) (*factshttp.VerifyResult, error) {
	if strings.Contains(name, "://") {
		u, err := url.Parse(name)
		if err != nil || u.Host == "" || u.User != nil {
			return nil, usageError("%q is not a URL", name)
		}
		if err := checkTyped(u); err != nil {
			return nil, err
		}
		origin := factshttp.OriginOf(name)
		o.Fetch = newFetch(append([]string{origin}, o.Also...)...)
		result, err := factshttp.VerifyURL(e.ctx, name, o)
		var status *factshttp.StatusError
		if errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone) {
			return nil, notFoundError("%v", status)
		}
		return result, notRecord(name, origin, err)
	}
	data, err := e.readRecord(name)
	if err != nil {
		return nil, err
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
	data, err := io.ReadAll(io.LimitReader(in, maxRecordFile+1))
	switch {
	case err != nil:
		return nil, failedError("%s cannot be read: %v", name, err)
	case len(data) > maxRecordFile:
		return nil, failedError("%s is larger than a record can be", name)
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
