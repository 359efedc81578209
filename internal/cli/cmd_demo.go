package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sayso/business/bizhttp"
	"sayso/examples"
	"sayso/facts/dataset"
	"sayso/internal/app"
	"sayso/internal/demo"
	"sayso/internal/server"
	"sayso/internal/store/sqlite"
	"sayso/safefetch"
)

func init() { register("", newDemo) }

func newDemo(e *env) *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work: sample figures, businesses and private interests, with a guided walk",
		Long: "Demo makes a publisher of sample figures and a registry with sample businesses in a temporary folder, signs and serves both, and walks through what readers, businesses and " +
			"operators can do, showing each request and the telling part of its answer. Beside them stand a discovery provider and two agents with private interests, each with a folder and addresses of its own: " +
			"the walk shows what crosses between them, and what an adversary can find out. Then it keeps serving until it is interrupted. Nothing leaves this machine: domains are proven in a DNS of " +
			"the demo's own.\n\n" +
			"A folder named with --data is kept, with its keys, its registry and its signatures; the next demo uses it again, and sayso serve --data DIR serves it. The registry lies in a file of " +
			"that folder, whatever the setting database says. A folder with a registry of your own is refused.\n\n" +
			"The figures were converted from public tables and nobody has re-read their sources; five of the businesses and all interests are made up. They are samples, not an authority.\n\n" +
			"With --json the answer is one value after the walk, with every step and the URLs.\n\n" +
			"Exit 0, 1 when a step did not behave as told, 4 when the folder is not a demo's or others may read its keys, 5 when a chosen address cannot be had.",
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
	Keys   int         `json:"keys"` // figures
	Root   string      `json:"root"` // file with the public half of the registry's root, which readers pin
	Kid    string      `json:"root_kid"`
	OK     bool        `json:"ok"`
	Steps  []demo.Step `json:"steps"`
	URLs   demoURLs    `json:"urls"`
}

// demoURLs are where to look while the demo serves.
type demoURLs struct {
	Record     string         `json:"record"` // a page for browsers
	Index      string         `json:"index"`
	Discovery  string         `json:"discovery"`
	MCP        string         `json:"mcp"`        // of the figures
	Directory  string         `json:"directory"`  // of the businesses
	FrontDoor  string         `json:"front_door"` // the MCP endpoint of the registry, for figures and businesses
	Businesses []demoBusiness `json:"businesses"`
	AdminAPI   string         `json:"admin_api"`
	Ready      string         `json:"ready"`
	Metrics    string         `json:"metrics"`
	GIDP       demoGIDP       `json:"gidp"`
}

// demoBusiness is where one business stands.
type demoBusiness struct {
	Publisher string `json:"publisher"`
	Page      string `json:"page"`
	Verify    string `json:"verify"` // a page that verifies the manifest in the browser
	Manifest  string `json:"manifest"`
	MCP       string `json:"mcp"`
	Host      string `json:"host,omitempty"` // the same business under a host name of its own, on this machine alone
}

// demoSetting is everything a demonstration serves.
type demoSetting struct {
	serving
	samples    *demo.Registry // serving.registry, with what the demonstration does to it
	gidp       *gidpParts
	data       string
	passphrase func() ([]byte, error) // of a kept folder that was sealed with one; asked for once
}

func (s *demoSetting) answer(ctx context.Context) (*demonstration, error) {
	private := "http://" + s.private.Addr().String()
	d := &demonstration{
		Origin: s.origin, Listen: s.public.Addr().String(), Admin: s.private.Addr().String(), Data: s.data, Keys: s.catalogue.Snapshot().Len(), Root: s.samples.Pin, Kid: s.samples.Root.Kid, OK: true,
		URLs: demoURLs{
			Record: s.origin + "/f/uk/income-tax/personal-allowance", Index: s.origin + "/f", Discovery: s.origin + "/.well-known/facts.json", MCP: s.origin + "/api/mcp/facts",
			Directory: s.origin + "/b", FrontDoor: s.origin + "/mcp", AdminAPI: private + "/api/v1/openapi.json", Ready: private + "/readyz", Metrics: private + "/metrics",
			GIDP: s.gidp.demoGIDP,
		},
	}
	for _, slug := range demo.Businesses {
		at, err := s.samples.Locators(ctx, slug)
		if err != nil {
			return nil, err
		}
		d.URLs.Businesses = append(d.URLs.Businesses, demoBusiness{slug, at.PublicProfile, at.PublicProfile + "/verify", at.Manifest, at.MCP, localHost(s.origin, slug)})
	}
	return d, nil
}

// localHost is the origin under which SLUG.localhost reaches a business, "" when the registry is reached from elsewhere.
func localHost(origin, slug string) string {
	_, port, err := net.SplitHostPort(safefetch.LoopbackOf(origin))
	if err != nil {
		return ""
	}
	return "http://" + net.JoinHostPort(slug+".localhost", port)
}

func (e *env) demo(once bool) error {
	ctx := e.ctx
	data, remove, err := e.demoFolder()
	if err != nil {
		return err
	}
	defer remove()
	s := demoSetting{data: data, passphrase: sync.OnceValues(func() ([]byte, error) { return e.passphrase(false) })}
	if s.public, s.private, err = e.demoListeners(); err != nil {
		return err
	}
	e.noteMoved("listen", e.config.Listen, s.public)
	e.noteMoved("admin", e.config.Admin, s.private)
	defer s.close()
	if s.origin, err = e.config.PublicOrigin(s.public.Addr()); err != nil {
		return usageError("%v", err)
	}
	inner := e.quieter()
	closing, err := inner.prepareDemo(ctx, &s)
	switch {
	case err != nil && ctx.Err() != nil:
		return &failure{code: exitInterrupted, message: "interrupted"}
	case err != nil:
		return err
	}
	defer closing()
	withdraw, err := s.announce(data, instance{})
	if err != nil {
		return err
	}
	defer withdraw()
	var end context.CancelFunc
	inner.ctx, end = context.WithCancel(ctx)
	defer end()
	served := make(chan error, 1)
	go func() { served <- inner.runServer(inner.newServer(&s.serving)) }()
	ok, err := e.demoWalk(ctx, &s)
	if once || err != nil {
		end()
	} else if ctx.Err() == nil {
		e.note("serving until Ctrl-C ends it")
	}
	ended := <-served
	switch {
	case once && ctx.Err() != nil:
		return &failure{code: exitInterrupted, message: "interrupted"}
	case err != nil && ctx.Err() == nil:
		return err
	case ended != nil:
		return ended
	case !ok:
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

// prepareDemo makes or reuses registry and figures below the data folder, registry first: its making is the making of the keys folder.
func (e *env) prepareDemo(ctx context.Context, s *demoSetting) (closing func(), err error) {
	begin := time.Now()
	steps := e.progress("preparing", int64(len(demo.Businesses))+4)
	defer steps.end()
	store, err := openDemoStore(ctx, s.data)
	if err != nil {
		return nil, err
	}
	if s.samples, err = e.demoRegistry(ctx, s, store); err != nil {
		return nil, errors.Join(registryFailure(err), store.Close())
	}
	s.registry = s.samples.Registry
	closing = func() {
		s.samples.Close()
		store.Close()
	}
	steps.add(1)
	samples, err := fs.Sub(examples.Business, "business")
	if err != nil {
		closing()
		return nil, err
	}
	made, err := s.samples.Fill(ctx, samples, demo.Businesses, func() { steps.add(1) })
	if err != nil {
		closing()
		return nil, registryFailure(err)
	}
	signed, err := e.demoCatalogue(s, steps)
	if err != nil {
		closing()
		return nil, err
	}
	if s.gidp, err = e.startGIDP(ctx, s.data); err != nil {
		closing()
		return nil, err
	}
	steps.add(1)
	registry := closing
	closing = func() {
		s.gidp.close()
		registry()
	}
	e.note("%s with %s: %d new, %d kept; %d businesses: %d new, %d kept; ready in %s", plural(s.catalogue.Snapshot().Len(), "figure"), plural(len(signed.New)+signed.Kept, "signature"),
		len(signed.New), signed.Kept, len(demo.Businesses), made, len(demo.Businesses)-made, time.Since(begin).Round(time.Millisecond))
	return closing, nil
}

// openDemoStore opens the database file of a data folder. A registry that keeps its rows elsewhere gets no second database.
func openDemoStore(ctx context.Context, data string) (app.Store, error) {
	file := filepath.Join(data, databaseFile)
	_, pinned := os.Stat(filepath.Join(data, app.PinFile))
	if _, err := os.Stat(file); pinned == nil && errors.Is(err, fs.ErrNotExist) {
		return nil, refusedError("%s holds a registry whose database is not in it", data).withHint("name another folder with --data")
	}
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return nil, registryFailure(err)
	}
	return store, nil
}

func (e *env) demoRegistry(ctx context.Context, s *demoSetting, store app.Store) (*demo.Registry, error) {
	o := demo.RegistryOptions{
		Data: s.data, Store: store, Log: e.logger(), Passphrase: s.passphrase,
		Site: registrySite(s.origin),
	}
	if e.config.PassphraseFile != "" {
		var err error
		if o.NewPassphrase, err = s.passphrase(); err != nil {
			return nil, err
		}
	}
	return demo.OpenRegistry(ctx, o)
}

// demoCatalogue makes or reuses the sample publisher below the data folder and loads it as serve does.
func (e *env) demoCatalogue(s *demoSetting, steps *progress) (*dataset.SignResult, error) {
	day := today()
	key, err := demo.SigningKey(filepath.Join(s.data, app.KeysFolder), demo.Prefix, s.passphrase, day)
	if err != nil {
		return nil, err
	}
	if key.SealedBy != "" && e.config.Set("data") {
		e.note("warning: the keys are sealed with %s beside them: whoever can read the folder can sign; name a passphrase in SAYSO_PASSPHRASE_FILE for keys that matter", key.SealedBy)
	}
	folder := filepath.Join(s.data, figuresFolder)
	signed, err := demo.Prepare(examples.Facts, []string{"facts/uk", "facts/fr", "facts/eol"}, folder, s.origin, key, day)
	if err != nil {
		return nil, folderFailure(folder, err)
	}
	steps.add(1)
	if s.catalogue, err = server.OpenCatalogue(folder, s.origin, time.Now); err != nil {
		return nil, folderFailure(folder, err)
	}
	steps.add(1)
	return signed, nil
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

// demoWalk runs the parts of the walk and prints them, step by step. ok says that every step was as told.
func (e *env) demoWalk(ctx context.Context, s *demoSetting) (ok bool, err error) {
	d, err := s.answer(ctx)
	if err != nil {
		return false, registryFailure(err)
	}
	heading := func(text string) {
		if !e.json {
			e.hasAnswered = true
			fmt.Fprintf(e.out, "%s\n", e.paint(e.out, "1", text))
		}
	}
	show := func(step demo.Step) {
		d.Steps = append(d.Steps, step)
		d.OK = d.OK && step.Problem == ""
		if !e.json {
			e.writeStep(len(d.Steps), &step)
		}
	}
	reader := demo.Options{Origin: d.Origin, Fetch: newFetch(d.Origin), Run: e.inProcess(ctx)}
	heading("sayso: say only what you can stand behind")
	heading(fmt.Sprintf("\nFIGURES: %s by a sample publisher, signed and served at %s", plural(d.Keys, "figure"), d.Origin))
	if err := demo.Walk(ctx, reader, show); err != nil {
		return false, err
	}
	heading(fmt.Sprintf("\nBUSINESSES: a registry of %d sample businesses at the same origin, and one more that comes and goes", len(d.URLs.Businesses)))
	asking := func() {
		heading("\nANSWERS: each is verified against the pinned root before it is shown. To type the commands: ROOT=" + shellWord(d.Root))
	}
	if err := e.walkRegistry(ctx, s, reader, show, asking); err != nil {
		return false, err
	}
	heading("\nPRIVATE INTERESTS: a provider and two agents on addresses of their own. Lines with -> and <- are what crossed, as captured on their listeners")
	if err := e.walkGIDP(ctx, s.gidp, show, heading); err != nil {
		return false, err
	}
	if e.json {
		return d.OK, e.answer(d, nil)
	}
	return d.OK, e.writeURLs(d)
}

// walkRegistry takes a business of its own through the registry, and then, after asking, asks the samples. The operator's token for it lives as long as the walk.
func (e *env) walkRegistry(ctx context.Context, s *demoSetting, reader demo.Options, show func(demo.Step), asking func()) error {
	guest, err := s.samples.Guest(ctx)
	if err != nil {
		return registryFailure(err)
	}
	token, back, err := s.samples.LendToken(ctx)
	if err != nil {
		return registryFailure(err)
	}
	admin := "http://" + s.private.Addr().String()
	err = demo.WalkRegistry(ctx, demo.RegistryWalk{Reader: reader, Admin: admin, Token: token, Guest: guest, Pin: s.samples.Pin, PutTXT: s.samples.PutTXT}, show)
	if err == nil {
		asking()
		err = demo.WalkAnswers(ctx, demo.AnswerWalk{
			Reader: reader, Admin: admin, Token: token, Root: s.samples.Root, Pin: s.samples.Pin, Now: s.samples.Now,
			Client: func() *safefetch.Client { return businessFetch(bizhttp.AskBounds(), s.origin) },
		}, show)
	}
	return errors.Join(err, back())
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
	for line := range strings.SplitSeq(e.prose(s.Why, 3), "\n") {
		fmt.Fprintf(&b, "   %s\n", e.paint(e.out, "2", line))
	}
	if s.Problem != "" {
		fmt.Fprintf(&b, "   %s %s\n", e.paint(e.out, "31", "not as told:"), s.Problem)
	}
	fmt.Fprint(e.out, b.String())
}

// writeURLs ends the walk with what to try next.
func (e *env) writeURLs(d *demonstration) error {
	kept := "temporary, removed when the demo ends"
	if e.config.Set("data") {
		kept = "kept; with it as --data, sayso serve serves it and sayso demo uses it again"
	}
	first := d.URLs.Businesses[0]
	rows := [][2]string{
		{"page", d.URLs.Record + " (in a browser)"},
		{"index", d.URLs.Index},
		{"json", "curl " + d.URLs.Record},
		{"command", "sayso get uk/income-tax/personal-allowance --from " + d.Origin},
		{"check", "sayso check " + d.Origin + " --no-sources"},
		{"mcp", d.URLs.MCP + " (HTTP), or sayso mcp --from " + d.Origin + " (stdio)"},
		{"", ""},
		{"registry", d.URLs.Directory + " (in a browser)"},
	}
	for _, b := range d.URLs.Businesses {
		rows = append(rows, [2]string{"business", b.Page})
	}
	if first.Host != "" {
		rows = append(rows, [2]string{"own host", first.Host + "/ (the first of them under a name of its own)"})
	}
	rows = append(rows, [][2]string{
		{"manifest", first.Manifest},
		{"verify", first.Verify + " (in a browser)"},
		{"command", "sayso verify " + first.Page + " --root " + shellWord(d.Root)},
		{"ask", "sayso ask " + first.Page + ` "Do you have parking?" --root ` + shellWord(d.Root)},
		{"mcp", d.URLs.FrontDoor + " (HTTP, the front door: ask_business, find_publishers and the figures)"},
		{"mcp", first.MCP + " (HTTP, of the first business alone)"},
		{"root", d.Root + " (" + d.Kid + "; what readers pin)"},
		{"", ""},
	}...)
	rows = append(append(rows, d.URLs.GIDP.rows()...), [][2]string{
		{"", ""},
		{"admin", d.URLs.AdminAPI + ", " + d.URLs.Ready + " and /metrics (private)"},
		{"data", d.Data + " (" + kept + ")"},
	}...)
	var b strings.Builder
	b.WriteString("\n")
	for _, row := range rows {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-8s %s", row[0], row[1]), " ") + "\n")
	}
	_, err := fmt.Fprint(e.out, b.String())
	return err
}
