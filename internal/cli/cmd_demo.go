package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sayso/examples"
	"sayso/internal/demo"
	"sayso/internal/server"
)

func init() { register("", newDemo) }

func newDemo(e *env) *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work: sample figures, signed and served, with a guided walk",
		Long: "Demo makes a publisher of sample figures in a temporary folder, signs every figure, serves them, and walks through what a reader can do, showing each request and " +
			"the telling part of its answer. Then it keeps serving until it is interrupted. Nothing leaves this machine.\n\n" +
			"A folder named with --data is kept, with its key and its signatures; the next demo uses it again, and sayso serve --data DIR serves it. The figures " +
			"were converted from public tables and nobody has re-read their sources: they are samples, not an authority.\n\n" +
			"With --json the answer is one value after the walk, with every step and the URLs.\n\n" +
			"Exit 0, or 1 when a step did not behave as told.",
		Example: "  sayso demo\n  sayso demo --once\n  sayso demo --data demo-data --listen 127.0.0.1:9000 --admin 127.0.0.1:9001",
		RunE:    func(*cobra.Command, []string) error { return e.demo(once) },
	}
	flags := c.Flags()
	flags.BoolVar(&once, "once", false, "end after the walk")
	flags.String("listen", "", "public address, HOST:PORT (default 127.0.0.1:8470, or a free port when that is taken)")
	flags.String("admin", "", "private address, HOST:PORT (default 127.0.0.1:8471, or a free port when that is taken)")
	flags.String("origin", "", "what absolute URLs begin with; needed when the public address is not loopback")
	return c
}

// demonstration is the answer of demo as JSON.
type demonstration struct {
	Origin string      `json:"origin"`
	Listen string      `json:"listen"`
	Admin  string      `json:"admin"`
	Data   string      `json:"data"`
	Keys   int         `json:"keys"`
	OK     bool        `json:"ok"`
	Steps  []demo.Step `json:"steps"`
	URLs   demoURLs    `json:"urls"`
}

// demoURLs are where to look while the demo serves.
type demoURLs struct {
	Record    string `json:"record"` // a page for browsers
	Index     string `json:"index"`
	Discovery string `json:"discovery"`
	MCP       string `json:"mcp"`
	Ready     string `json:"ready"`
	Metrics   string `json:"metrics"`
}

func newDemonstration(origin, public, private, data string, keys int) *demonstration {
	return &demonstration{
		Origin: origin, Listen: public, Admin: private, Data: data, Keys: keys, OK: true,
		URLs: demoURLs{origin + "/f/uk/income-tax/personal-allowance", origin + "/f", origin + "/.well-known/facts.json", origin + "/api/mcp/facts",
			"http://" + private + "/readyz", "http://" + private + "/metrics"},
	}
}

func (e *env) demo(once bool) error {
	ctx, stop := signal.NotifyContext(e.ctx, syscall.SIGTERM)
	defer stop()
	data, remove, err := e.demoFolder()
	if err != nil {
		return err
	}
	defer remove()
	public, private, err := e.demoListeners()
	if err != nil {
		return err
	}
	e.noteMoved("listen", e.config.Listen, public)
	e.noteMoved("admin", e.config.Admin, private)
	defer public.Close()
	defer private.Close()
	origin, err := e.config.PublicOrigin(public.Addr())
	if err != nil {
		return usageError("%v", err)
	}
	catalogue, err := e.demoCatalogue(data, origin)
	if err != nil {
		return err
	}
	withdraw, err := announce(data, instance{Listen: public.Addr().String(), Admin: private.Addr().String(), Origin: origin, PID: os.Getpid()})
	if err != nil {
		return err
	}
	defer withdraw()
	inner := e.quieter()
	var end context.CancelFunc
	inner.ctx, end = context.WithCancel(ctx)
	defer end()
	served := make(chan error, 1)
	go func() {
		served <- inner.runServer(inner.newServer(catalogue, origin, public, private))
	}()
	d := newDemonstration(origin, public.Addr().String(), private.Addr().String(), data, catalogue.Snapshot().Len())
	err = e.demoWalk(ctx, d)
	switch {
	case once && ctx.Err() != nil:
		return &failure{code: exitInterrupted, message: "interrupted"}
	case err != nil && ctx.Err() == nil:
		return err
	}
	switch {
	case once:
		end()
	case ctx.Err() == nil:
		e.note("serving until Ctrl-C ends it")
	}
	if err := <-served; err != nil {
		return err
	}
	if !d.OK {
		return answered(exitFailed)
	}
	return nil
}

// demoFolder is the data folder the user named, which is kept, or a temporary one, which is not.
func (e *env) demoFolder() (folder string, remove func(), err error) {
	if !e.config.Set("data") {
		folder, err = os.MkdirTemp("", "sayso-demo-")
		return folder, func() { os.RemoveAll(folder) }, err
	}
	if folder, err = filepath.Abs(e.config.Data); err != nil {
		return "", nil, err
	}
	return folder, func() {}, os.MkdirAll(folder, 0o700)
}

// figuresFolder is where the demo keeps the sample publisher below a data folder.
const figuresFolder = "facts"

// keptFigures is the publisher's folder that a demo kept below the data folder, "" when there is none.
func (e *env) keptFigures() string {
	if folder := filepath.Join(e.config.Data, figuresFolder); holdsFigures(folder) {
		return folder
	}
	return ""
}

// demoListeners binds the addresses; one that the user did not choose and that is taken is replaced by a free port.
func (e *env) demoListeners() (public, private net.Listener, err error) {
	if public, err = e.demoListener("listen", e.config.Listen); err != nil {
		return nil, nil, err
	}
	if private, err = e.demoListener("admin", e.config.Admin); err != nil {
		public.Close()
		return nil, nil, err
	}
	return public, private, nil
}

func (e *env) demoListener(key, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil && !e.config.Set(key) {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, unavailableError("cannot listen on %s: %v", address, bindCause(err)).withHint("choose another address with --%s", key)
	}
	return listener, nil
}

// noteMoved says when an address that was not chosen was taken, and which one is used instead.
func (e *env) noteMoved(key, wanted string, got net.Listener) {
	if !e.config.Set(key) && got.Addr().String() != wanted {
		e.note("%s is taken: %s is used instead; choose one with --%s", wanted, got.Addr(), key)
	}
}

// demoCatalogue makes or reuses the sample publisher below the data folder and loads it as serve does.
func (e *env) demoCatalogue(data, origin string) (*server.Catalogue, error) {
	var passphrase []byte
	if e.config.PassphraseFile != "" {
		var err error
		if passphrase, err = e.passphrase(false); err != nil {
			return nil, err
		}
	}
	steps := e.progress("preparing", 3)
	defer steps.end()
	day := today()
	key, err := demo.SigningKey(filepath.Join(data, "keys"), demo.Prefix, passphrase, day)
	if err != nil {
		return nil, err
	}
	if key.SealedBy != "" && e.config.Set("data") {
		e.note("warning: the signing key is sealed with %s beside it: whoever can read the folder can sign; name a passphrase in SAYSO_PASSPHRASE_FILE for a key that matters", key.SealedBy)
	}
	steps.add(1)
	folder := filepath.Join(data, figuresFolder)
	begin := time.Now()
	signed, err := demo.Prepare(examples.Facts, []string{"facts/uk", "facts/fr", "facts/eol"}, folder, origin, key, day)
	if err != nil {
		return nil, folderFailure(folder, err)
	}
	steps.add(1)
	catalogue, err := server.OpenCatalogue(folder, origin, time.Now)
	if err != nil {
		return nil, folderFailure(folder, err)
	}
	steps.add(1)
	e.note("%s with %s: %d new, %d kept; ready in %s", plural(catalogue.Snapshot().Len(), "figure"), plural(len(signed.New)+signed.Kept, "signature"),
		len(signed.New), signed.Kept, time.Since(begin).Round(time.Millisecond))
	return catalogue, nil
}

// quieter is the environment of the server behind the walk: its log would stand between the steps, so it keeps to warnings unless the user chose a level.
func (e *env) quieter() *env {
	inner, settings := *e, *e.config
	if !e.config.Set("log_level") {
		settings.LogLevel = "warn"
	}
	inner.config = &settings
	return &inner
}

// demoWalk runs the walk and prints it, step by step.
func (e *env) demoWalk(ctx context.Context, d *demonstration) error {
	if !e.json {
		e.hasAnswered = true
		fmt.Fprintf(e.out, "%s\n%s by a sample publisher, signed and served at %s\n", e.paint(e.out, "1", "sayso: say only what you can stand behind"), plural(d.Keys, "figure"), d.Origin)
	}
	err := demo.Walk(ctx, demo.Options{Origin: d.Origin, Fetch: newFetch(d.Origin), Run: e.inProcess(ctx)}, func(s demo.Step) {
		d.Steps = append(d.Steps, s)
		d.OK = d.OK && s.Problem == ""
		if !e.json {
			e.writeStep(len(d.Steps), &s)
		}
	})
	if err != nil {
		return err
	}
	if e.json {
		return e.answer(d, nil)
	}
	return e.writeURLs(d)
}

// inProcess runs commands as the shell would, with the same environment.
func (e *env) inProcess(ctx context.Context) demo.Command {
	return func(args []string, in []byte) (string, int) {
		var out bytes.Buffer
		code := run(ctx, append([]string{"--color", "never"}, args...), bytes.NewReader(in), &out, &out, e.environ)
		return out.String(), code
	}
}

func (e *env) writeStep(number int, s *demo.Step) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", e.paint(e.out, "1", fmt.Sprintf("%d. %s", number, s.Title)))
	fmt.Fprintf(&b, "   %s\n", e.paint(e.out, "36", s.Request))
	if s.Body != "" {
		fmt.Fprintf(&b, "   < %s\n", s.Body)
	}
	for _, line := range s.Answer {
		fmt.Fprintf(&b, "   %s\n", line)
	}
	fmt.Fprintf(&b, "   %s\n", e.paint(e.out, "2", s.Why))
	if s.Problem != "" {
		fmt.Fprintf(&b, "   %s %s\n", e.paint(e.out, "31", "not as told:"), s.Problem)
	}
	fmt.Fprint(e.out, b.String())
}

// writeURLs ends the walk with what to try next.
func (e *env) writeURLs(d *demonstration) error {
	kept := "temporary, removed when the demo ends"
	if e.config.Set("data") {
		kept = "kept; sayso serve --data " + d.Data + " serves it"
	}
	rows := [][2]string{
		{"page", d.URLs.Record + " (in a browser)"},
		{"index", d.URLs.Index},
		{"json", "curl " + d.URLs.Record},
		{"command", "sayso get uk/income-tax/personal-allowance --from " + d.Origin},
		{"check", "sayso check " + d.Origin + " --no-sources"},
		{"mcp", d.URLs.MCP + " (HTTP), or sayso mcp --from " + d.Origin + " (stdio)"},
		{"admin", d.URLs.Ready + " and /metrics (private)"},
		{"data", d.Data + " (" + kept + ")"},
	}
	var b strings.Builder
	b.WriteString("\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "%-8s %s\n", row[0], row[1])
	}
	_, err := fmt.Fprint(e.out, b.String())
	return err
}
