package demo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"sayso/business"
	"sayso/business/answer"
	"sayso/business/bizhttp"
	"sayso/examples"
	"sayso/internal/app"
	"sayso/internal/demo"
	"sayso/internal/keyfile"
	"sayso/internal/mcpserve"
	"sayso/internal/server"
	"sayso/internal/store/sqlite"
	"sayso/jwk"
	"sayso/safefetch"
)

// setting is a registry of the demonstration below a data folder, served.
type setting struct {
	*demo.Registry
	origin, admin string
	made          int
}

func openStore(t *testing.T, data string) app.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(data, "sayso.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// open serves the registry of a data folder with the samples; end stops everything.
func open(t *testing.T, data string) (s *setting, end func()) {
	t.Helper()
	samples, err := fs.Sub(examples.Business, "business")
	if err != nil {
		t.Fatal(err)
	}
	return openWith(t, data, samples)
}

func openWith(t *testing.T, data string, samples fs.FS) (s *setting, end func()) {
	t.Helper()
	public, private := listen(t), listen(t)
	s = &setting{origin: "http://" + public.Addr().String(), admin: "http://" + private.Addr().String()}
	store := openStore(t, data)
	var err error
	site := business.Site{Origin: s.origin, ServerVersion: "test", ToolsServed: true, InputSchema: answer.InputSchema}
	if s.Registry, err = demo.OpenRegistry(t.Context(), demo.RegistryOptions{Data: data, Store: store, Site: site}); err != nil {
		t.Fatal(err)
	}
	if s.made, err = s.Fill(t.Context(), samples, demo.Businesses, func() {}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- server.New(server.Options{
			PublicListener: public, PrivateListener: private, Registry: s.Registry.Registry,
			Call: mcpserve.NewRegistry(mcpserve.RegistryOptions{Registry: s.Registry.Registry, Version: "test"}).ServeCall,
		}).Run(ctx)
	}()
	return s, func() {
		stop()
		if err := errors.Join(<-ended, s.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// walk takes the registry's steps and returns them.
func (s *setting) walk(t *testing.T) (guest string, steps []demo.Step) {
	t.Helper()
	guest, err := s.Guest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, back, err := s.LendToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = demo.WalkRegistry(t.Context(), demo.RegistryWalk{
		Reader: demo.Options{Origin: s.origin, Fetch: safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(s.origin)}}), Run: s.verify(t)},
		Admin:  s.admin, Token: token, Guest: guest, Pin: s.Pin, PutTXT: s.PutTXT,
	}, func(step demo.Step) { steps = append(steps, step) })
	if err = errors.Join(err, back()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), token); err == nil {
		t.Error("the token of the walk still opens something")
	}
	return guest, steps
}

// verify does what the command verify does with the documents of a business.
func (s *setting) verify(t *testing.T) demo.Command {
	return func(args []string, document []byte) (string, int) {
		root, err := app.ReadPin(s.Pin)
		if err != nil || args[0] != "verify" {
			t.Fatalf("%v: %v", args, err)
		}
		policy := bizhttp.Bounds()
		policy.Loopback = []string{safefetch.LoopbackOf(s.origin)}
		o := bizhttp.Options{Fetch: safefetch.New(policy), Root: &root}
		var result *bizhttp.Result
		if args[1] == "-" {
			result, err = bizhttp.VerifyDocument(t.Context(), document, o)
		} else {
			result, err = bizhttp.VerifyURL(t.Context(), args[1], o)
		}
		if err != nil {
			return err.Error(), 1
		}
		v := result.Verdict
		out := fmt.Sprintf("signature %s\nidentity %s\nauthority %s\nrevocation %s\nusable %s\n", v.Signature.Value, v.Identity.Value, v.Authority.Value, v.Revocation.Value, v.Usable.Value)
		return out, map[bool]int{false: 1}[v.Usable.Value == "yes"]
	}
}

var wholeToken = regexp.MustCompile(`sayso-o[a-z]+-[A-Za-z0-9_-]{12}`)

func wellTold(t *testing.T, steps []demo.Step) {
	t.Helper()
	for _, step := range steps {
		if step.Problem != "" {
			t.Errorf("%s: %s\n%s\n%s", step.Title, step.Problem, step.Request, strings.Join(step.Answer, "\n"))
		}
		short(t, &step)
		for _, line := range append(step.Answer, step.Request, step.Body) {
			if wholeToken.MatchString(line) {
				t.Errorf("%s shows a token: %s", step.Title, line)
			}
		}
	}
}

func short(t *testing.T, step *demo.Step) {
	t.Helper()
	for _, line := range append(step.Answer, step.Problem, step.Request, step.Body, step.Why) {
		if utf8.RuneCountInString(line) > 197 || strings.ContainsAny(line, "\x1b\n") {
			t.Errorf("%s: line %.220q", step.Title, line)
		}
	}
}

// A kept folder serves three demonstrations, each at another origin: the registry is made once, the samples stay, and every walk has a publisher of its own.
func TestRegistryIsKept(t *testing.T) {
	data := t.TempDir()
	var root business.Root
	for run, want := range []string{"demo-shop", "demo-shop-2", "demo-shop-3"} {
		s, end := open(t, data)
		guest, steps := s.walk(t)
		wellTold(t, steps)
		if guest != want || len(steps) != 19 {
			t.Errorf("run %d: guest %s, %d steps", run, guest, len(steps))
		}
		if run == 0 {
			root = s.Root
		}
		if made := map[bool]int{true: len(demo.Businesses)}[run == 0]; s.made != made || !s.Root.Public.Equal(root.Public) {
			t.Errorf("run %d: %d samples made, root %s", run, s.made, s.Root.Kid)
		}
		s.complete(t)
		end()
	}
}

// complete checks that the seven samples are served with what stands behind them, and nothing else.
func (s *setting) complete(t *testing.T) {
	t.Helper()
	list, err := s.Publications(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var public []string
	for _, p := range list {
		if p.Standing.IsPublished(s.Now()) {
			public = append(public, p.Slug)
		}
	}
	want := slices.Sorted(slices.Values(demo.Businesses))
	if !slices.Equal(public, want) {
		t.Errorf("published are %v", public)
	}
	for _, slug := range demo.Businesses {
		p, err := s.Publication(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		if v := p.Standing.Verification; v == nil || v.Decision != "demo" {
			t.Errorf("%s: verification %+v", slug, v)
		}
		if proof := p.Standing.Proof; (proof != nil) != (slug == "brightwater-opticians") || proof != nil && proof.Host != "brightwater.example" {
			t.Errorf("%s: proof %+v", slug, proof)
		}
		if byHost, err := s.ByHost(t.Context(), slug+".localhost"); err != nil || byHost.Slug != slug {
			t.Errorf("%s.localhost: %v", slug, err)
		}
		at, err := s.Locators(t.Context(), slug)
		if err != nil || !strings.HasPrefix(at.PublicProfile, s.origin+"/") {
			t.Errorf("%s: %q, %v", slug, at.PublicProfile, err)
		}
		if answer, err := http.Get(at.PublicProfile); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %v", at.PublicProfile, answer, err)
		} else {
			answer.Body.Close()
		}
	}
}

// The figures may take longer than a registry takes what it has read for good, while nobody polls its heads yet.
func TestAddressesAreReadAnew(t *testing.T) {
	data, late := t.TempDir(), atomic.Bool{}
	r, err := demo.OpenRegistry(t.Context(), demo.RegistryOptions{
		Data: data, Store: openStore(t, data), Site: business.Site{Origin: "http://127.0.0.1:1"},
		Now: func() time.Time {
			if late.Load() {
				return time.Now().Add(time.Minute)
			}
			return time.Now()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	slug := demo.Businesses[0]
	samples, err := fs.Sub(examples.Business, "business")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fill(t.Context(), samples, []string{slug}, func() {}); err != nil {
		t.Fatal(err)
	}
	late.Store(true)
	if _, err := r.Publication(t.Context(), slug); err == nil {
		t.Error("what was read a minute ago is served")
	}
	if at, err := r.Locators(t.Context(), slug); err != nil || at.PublicProfile == "" {
		t.Errorf("%+v, %v", at, err)
	}
}

// What an operator did to a sample stays, and a sample that an interrupted demonstration left as a draft is finished.
func TestFillKeepsAndFinishes(t *testing.T) {
	data := t.TempDir()
	s, end := open(t, data)
	ops, err := app.Machine("ops")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pause(t.Context(), ops, "marina-dental", app.ActInput{}); err != nil {
		t.Fatal(err)
	}
	end()
	s, end = open(t, data)
	defer end()
	if d, err := s.Publisher(t.Context(), ops, "marina-dental"); err != nil || d.Lifecycle != business.Paused || s.made != 0 {
		t.Errorf("%+v, %v; %d made", d, err, s.made)
	}

	half := t.TempDir()
	r, err := demo.OpenRegistry(t.Context(), demo.RegistryOptions{Data: half, Store: openStore(t, half), Site: business.Site{Origin: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.CreatePublisher(t.Context(), ops, app.CreateInput{Slug: "kessler-garage", Name: "kessler-garage", Delegated: true}); err == nil {
		_, err = r.RecordVerification(t.Context(), ops, "kessler-garage", "demo", app.ActInput{})
	}
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	finished, halfEnd := open(t, half)
	if finished.made != len(demo.Businesses) {
		t.Errorf("%d made", finished.made)
	}
	finished.complete(t)
	halfEnd()
}

// The samples never get into a registry with businesses of its own.
func TestRegistryOfOthersIsRefused(t *testing.T) {
	data := t.TempDir()
	store := openStore(t, data)
	if _, err := app.Init(t.Context(), store, app.InitInput{Data: data, Operator: "first", Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	o := demo.RegistryOptions{Data: data, Store: store, Site: business.Site{Origin: "http://127.0.0.1:1"}}
	r, err := demo.OpenRegistry(t.Context(), o)
	if err != nil {
		t.Fatalf("an empty registry: %v", err)
	}
	ops, err := app.Machine("ops")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.CreatePublisher(t.Context(), ops, app.CreateInput{Slug: "real", Name: "Real"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	var refused *app.Error
	if _, err := demo.OpenRegistry(t.Context(), o); !errors.As(err, &refused) || refused.Kind != app.KindRefused || !strings.Contains(refused.Next, "--data") {
		t.Errorf("error %v", err)
	}
}

// The folder of a demonstration from before there were registries still opens, with its key.
func TestEarlierFolderIsTakenOver(t *testing.T) {
	for name, pass := range map[string]func() ([]byte, error){"sealed with a secret beside it": nil, "sealed with a passphrase": passphrase("correct horse")} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			keys := filepath.Join(data, app.KeysFolder)
			secret := []byte("correct horse")
			if err := keyfile.Folder(keys); err != nil {
				t.Fatal(err)
			}
			old, err := jwk.Generate("sample-2026-10", zeros{})
			if err == nil && pass == nil {
				err = keyfile.Write(filepath.Join(keys, "seal.key"), secret)
			}
			if err = errors.Join(err, keyfile.Store(filepath.Join(keys, "facts.age"), old, secret)); err != nil {
				t.Fatal(err)
			}
			o := demo.RegistryOptions{Data: data, Store: openStore(t, data), Site: business.Site{Origin: "http://127.0.0.1:1"}, Passphrase: pass}
			if pass != nil {
				o.NewPassphrase = secret
				wrong := o
				wrong.Passphrase = passphrase("wrong")
				if _, err := demo.OpenRegistry(t.Context(), wrong); err == nil {
					t.Error("a wrong passphrase made a registry")
				}
				if _, err := os.Stat(filepath.Join(keys, "facts.age")); err != nil {
					t.Errorf("the key was moved all the same: %v", err)
				}
			}
			for range map[bool]int{true: 2, false: 1}[pass == nil] { // a passphrase takes its time
				r, err := demo.OpenRegistry(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				key, err := demo.SigningKey(keys, demo.Prefix, pass, today())
				if err != nil || key.New || !key.Public().Public.Equal(old.Public().Public) || key.Kid() != old.Kid() {
					t.Errorf("key %+v, %v", key, err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			left, err := filepath.Glob(filepath.Join(data, "keys-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// A walk against a server that answers wrongly has a problem in every step.
func TestRegistryWalkTellsWhatIsNotAsTold(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"nothing there": http.NotFound,
		"no JSON":       func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("\x1b[31mhello")) },
		"empty object":  func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) },
		"endless line":  func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(strings.Repeat("é", 5000))) },
		"all is well": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"publisher":"demo-shop","proven":true}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			answering := httptest.NewServer(handler)
			defer answering.Close()
			s := &setting{origin: answering.URL}
			steps, problems := 0, 0
			err := demo.WalkRegistry(t.Context(), demo.RegistryWalk{
				Reader: demo.Options{Origin: s.origin, Fetch: safefetch.New(safefetch.Policy{Loopback: []string{safefetch.LoopbackOf(s.origin)}}), Run: func([]string, []byte) (string, int) { return "nothing\n", 0 }},
				Admin:  s.origin, Token: "sayso-operator-0", Guest: "demo-shop", PutTXT: func(string, string) error { return nil },
			}, func(step demo.Step) {
				steps++
				if step.Problem != "" {
					problems++
				}
				short(t, &step)
			})
			// Where acts seem to be answered they cannot be told from true ones; what is read shows it.
			if want := map[bool]int{true: 15, false: 19}[name == "all is well"]; err != nil || steps != 19 || problems < want {
				t.Errorf("%d steps, %d problems, %v", steps, problems, err)
			}
		})
	}
}
