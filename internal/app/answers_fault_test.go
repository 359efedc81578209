package app_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/business/coverage"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/jcs"
)

// observe stores a reading as a push does.
func observe(t testing.TB, w *apptest.World, row app.ReadingRow) {
	t.Helper()
	row.ObservedAt, row.ReceivedAt = w.Clock.Now(), w.Clock.Now()
	if err := w.Store.Update(t.Context(), "", func(wr app.Writer) error { _, err := wr.PutReading(t.Context(), "shop", &row); return err }); err != nil {
		t.Fatal(err)
	}
}

// A reading counts at the next question, in every process.
func TestReadingsAreReadAtTheCall(t *testing.T) {
	w, h := shopWorld(t)
	r := h.over(t, w, nil)
	if e := ask(t, r, "stock", `{"stream":"queue"}`); e.Coverage.Status != coverage.NotCovered {
		t.Errorf("without a reading: %s", e.Coverage.Status)
	}
	for _, value := range []string{"3", "7"} {
		observe(t, w, app.ReadingRow{Stream: "queue", Value: jcs.Raw(value)})
		if e := ask(t, r, "stock", `{"stream":"queue"}`); e.Coverage.Status != coverage.Resolved || !bytes.Contains(e.Result, []byte(`"value":`+value)) {
			t.Errorf("%s: %s", e.Coverage.Status, e.Result)
		}
		w.Clock.Move(time.Second)
	}
	observe(t, w, app.ReadingRow{Stream: "waiting", Type: "service", ID: "a", Value: jcs.Raw("37")})
	if e := ask(t, r, "both", asked[6].arguments); e.Coverage.Status != coverage.Resolved || !bytes.Contains(e.Result, []byte("37")) {
		t.Errorf("hybrid: %s %s", e.Coverage.Status, e.Result)
	}
	if e := ask(t, r, "ask", asked[6].arguments); bytes.Contains(e.Result, []byte("37")) {
		t.Errorf("knowledge.search shows a reading: %s", e.Result)
	}
}

// ofReadings are the reads of a compiled snapshot's live handlers.
func ofReadings(name string) bool {
	return name == "Generation" || name == "Readings" || name == "ReadingsFrom"
}

// I16: whichever read fails, and whenever, there is no answer and no coverage, and what cannot be read is never unknown.
func TestI16FaultsAreNoStatus(t *testing.T) {
	reads := []string{"View", "Heads", "Publisher", "Records", "RecordCounts", "Keys", "RegistryKeys", "Revocations", "Proofs", "Verifications", "Hosts", "Generation", "Readings", "ReadingsFrom"}
	w, h := shopWorld(t)
	for _, c := range asked {
		for _, name := range reads {
			t.Run(c.tool+" "+name, func(t *testing.T) {
				r := h.over(t, w, nil)
				// New content that this process has not seen: a question has to read the most.
				before := publication(t, w.Registry, "shop").State.Generation
				stock(t, w.Registry, "shop", line("a", "Eye exam"), line("b", fmt.Sprint("Hearing test ", before)))
				var failed atomic.Bool
				h.on(func(read string) error {
					if read != name {
						return nil
					}
					failed.Store(true)
					return errors.New("the database is gone")
				})
				text, err := r.Ask(t.Context(), "shop", c.tool, jcs.Raw(c.arguments))
				h.on(nil)
				var fault *coverage.CallError
				switch {
				case !failed.Load() && err == nil:
					return // this call does not need that read
				case err == nil || text != nil || errors.Is(err, bizhttp.ErrUnknown) || errors.Is(err, app.ErrNoTool) || errors.As(err, &fault):
					t.Fatalf("%s, %v", text, err)
				case !ofReadings(name) && !errors.Is(err, bizhttp.ErrUnavailable):
					t.Errorf("content that cannot be read: %v", err)
				case ofReadings(name) && errors.Is(err, bizhttp.ErrUnavailable):
					t.Errorf("readings that cannot be read are a fault of this side: %v", err)
				}
				if e := ask(t, r, c.tool, c.arguments); e.State.Generation != before+1 {
					t.Errorf("afterwards: generation %d", e.State.Generation)
				}
			})
		}
	}
}

// A publisher whose rows are damaged is unavailable, whatever is asked of it, and the others are answered for.
func TestDamagedContentIsUnavailable(t *testing.T) {
	w, h := shopWorld(t)
	w.Publisher(t, "other")
	stock(t, w.Registry, "other", line("a", "Eye exam"))
	r := h.over(t, w, nil)
	damage := func(body string) {
		must(t, w.Store.Update(t.Context(), "", func(wr app.Writer) error {
			rows := func(yield func(app.RecordRow, error) bool) {
				yield(app.RecordRow{RecordKey: app.RecordKey{Type: "service", ID: "a"}, Body: []byte(body)}, nil)
			}
			_, err := wr.PutRecords(t.Context(), "shop", rows)
			return err
		}))
	}
	var reads atomic.Int64
	h.on(counts("Records", &reads))
	for _, body := range []string{`{"id":"a","type":"service","title":"x","attributes":[]}`, `{"id":1}`} {
		damage(body)
		w.Move(t, 6*time.Second)
		must(t, r.Refresh(t.Context()))
		reads.Store(0)
		for range 3 {
			if _, err := r.Ask(t.Context(), "shop", "ask", jcs.Raw(asked[0].arguments)); !errors.Is(err, bizhttp.ErrUnavailable) {
				t.Errorf("%s: %v", body, err)
			}
		}
		if reads.Load() != 1 {
			t.Errorf("%s was read %d times within a moment", body, reads.Load())
		}
	}
	if _, err := r.Ask(t.Context(), "other", "ask", jcs.Raw(asked[0].arguments)); err != nil {
		t.Error(err)
	}
	damage(`{"id":"a","type":"service","title":"Eye exam","updated_at":"2026-01-02T03:04:05Z"}`)
	w.Clock.Move(6 * time.Second)
	must(t, r.Refresh(t.Context()))
	if e := ask(t, r, "ask", asked[0].arguments); e.Coverage.Status != coverage.Resolved {
		t.Errorf("after it was mended: %s", e.Coverage.Status)
	}
}

// A commit is served also when its content cannot be compiled at once: a pause must not wait for it.
func TestWhatCannotBeCompiledIsStillServed(t *testing.T) {
	w, h := shopWorld(t)
	r := h.over(t, w, nil)
	ask(t, r, "ask", asked[0].arguments)
	h.on(fails("Records"))
	stock(t, r, "shop", line("a", "Hearing test"))
	if p := publication(t, r, "shop"); p.State.Generation != 3 {
		t.Errorf("generation %d is served", p.State.Generation)
	}
	if _, err := r.Ask(t.Context(), "shop", "ask", jcs.Raw(asked[0].arguments)); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("old content answers, or none does: %v", err)
	}
	h.on(nil)
	if e := ask(t, r, "ask", asked[0].arguments); e.State.Generation != 3 || e.Coverage.Status != coverage.NotCovered {
		t.Errorf("generation %d, %s", e.State.Generation, e.Coverage.Status)
	}
}

// ring is a key ring whose publisher keys fail on demand.
type ring struct {
	app.Keyring
	fault atomic.Pointer[func(business.Signer) (business.Signer, error)]
	asked atomic.Int64
}

func (k *ring) PublisherSigner(slug, kid string) (business.Signer, error) {
	k.asked.Add(1)
	signer, err := k.Keyring.PublisherSigner(slug, kid)
	if f := k.fault.Load(); f != nil && err == nil {
		return (*f)(signer)
	}
	return signer, err
}

type badSigner struct {
	business.Signer
	kid       string
	public    ed25519.PublicKey
	signature []byte
	err       error
}

func (s badSigner) Kid() string {
	if s.kid != "" {
		return s.kid
	}
	return s.Signer.Kid()
}

func (s badSigner) Public() ed25519.PublicKey {
	if s.public != nil {
		return s.public
	}
	return s.Signer.Public()
}

func (s badSigner) Sign([32]byte) ([]byte, error) { return s.signature, s.err }

// No key, no answer: nothing leaves unsigned, or signed by another key than the key set names.
func TestAskNeverAnswersUnsigned(t *testing.T) {
	for name, fault := range map[string]func(business.Signer) (business.Signer, error){
		"cannot be opened": func(business.Signer) (business.Signer, error) { return nil, errors.New("sealed") },
		"cannot sign": func(s business.Signer) (business.Signer, error) {
			return badSigner{Signer: s, err: errors.New("away")}, nil
		},
		"signs something else": func(s business.Signer) (business.Signer, error) {
			return badSigner{Signer: s, signature: make([]byte, 64)}, nil
		},
		"signs nothing":          func(s business.Signer) (business.Signer, error) { return badSigner{Signer: s}, nil },
		"belongs to another kid": func(s business.Signer) (business.Signer, error) { return badSigner{Signer: s, kid: "other"}, nil },
		"is another key": func(s business.Signer) (business.Signer, error) {
			return badSigner{Signer: s, public: make(ed25519.PublicKey, 32)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, h := shopWorld(t)
			keys := &ring{Keyring: w.Keys}
			r := h.over(t, w, func(o *app.Options) { o.Keys = keys })
			keys.fault.Store(&fault)
			for range 3 {
				if text, err := r.Ask(t.Context(), "shop", "ask", jcs.Raw(asked[0].arguments)); !errors.Is(err, bizhttp.ErrKeysUnavailable) || text != nil {
					t.Errorf("%s, %v", text, err)
				}
			}
			keys.fault.Store(nil)
			must(t, r.Refresh(t.Context()))
			_, err := w.Registry.RotateKey(t.Context(), apptest.Operator(t, "ops"), "shop", app.ActInput{})
			must(t, err)
			must(t, r.Refresh(t.Context()))
			if _, err := r.Ask(t.Context(), "shop", "ask", jcs.Raw(asked[0].arguments)); err != nil {
				t.Errorf("with a new key: %v", err)
			}
		})
	}
}

// A key that could not be opened is tried again, and one that was opened is not looked for at every question.
func TestAKeyIsOpenedOnce(t *testing.T) {
	w, h := shopWorld(t)
	keys := &ring{Keyring: w.Keys}
	r := h.over(t, w, func(o *app.Options) { o.Keys = keys })
	sealed := func(business.Signer) (business.Signer, error) { return nil, errors.New("sealed") }
	keys.fault.Store(&sealed)
	for range 3 {
		if _, err := r.Ask(t.Context(), "shop", "ask", nil); err == nil {
			t.Fatal("answered")
		}
		_, err := r.Ask(t.Context(), "shop", "ask", jcs.Raw(asked[0].arguments))
		if !errors.Is(err, bizhttp.ErrKeysUnavailable) {
			t.Fatal(err)
		}
	}
	if n := keys.asked.Load(); n != 1 {
		t.Errorf("%d attempts within a moment", n)
	}
	keys.fault.Store(nil)
	w.Clock.Move(6 * time.Second)
	for range 3 {
		ask(t, r, "ask", asked[0].arguments)
	}
	if n := keys.asked.Load(); n != 2 {
		t.Errorf("%d looks at the key ring, want 2", n)
	}
}

// The key that signs is the one in use, in every step of its life, and a reader finds it confirmed.
func TestTheKeyInUseSigns(t *testing.T) {
	w, _ := shopWorld(t)
	ctx, r, ops := t.Context(), w.Registry, apptest.Operator(t, "ops")
	var kids []string
	for _, step := range []func() error{
		func() error { return nil },
		func() error { _, err := r.RotateKey(ctx, ops, "shop", app.ActInput{}); return err },
		func() error {
			_, err := r.RevokeKey(ctx, ops, "shop", "", app.RevokeInput{Code: "key_compromise"})
			return err
		},
		func() error {
			_, err := r.RevokeKey(ctx, ops, "shop", kids[0], app.RevokeInput{Code: "superseded"})
			return err
		},
	} {
		must(t, step())
		text, err := r.Ask(ctx, "shop", "ask", jcs.Raw(asked[0].arguments))
		must(t, err)
		var e struct {
			Kid string `json:"signing_kid"`
		}
		must(t, business.Decode(text, &e))
		keys, err := r.Keys(ctx, ops, "shop")
		must(t, err)
		i := slices.IndexFunc(keys, func(k app.KeyView) bool { return k.Kid == e.Kid })
		if i < 0 || keys[i].State != "signing" {
			t.Errorf("signed by %s of %+v", e.Kid, keys)
		}
		if v := judged(t, w, r, text); v.Usable.Value != "yes" {
			t.Errorf("%+v", v)
		}
		kids = append(kids, e.Kid)
	}
	if kids[0] == kids[1] || kids[1] == kids[2] || kids[2] != kids[3] {
		t.Errorf("kids %v", kids)
	}
}

// Eight ask while content changes under them, here and in another process: every answer is of one generation, title and state.
func TestAnswersAreOfOneGeneration(t *testing.T) {
	w, h := shopWorld(t)
	title := func(generation int) string { return fmt.Sprintf("Generation %d", generation) }
	stock(t, w.Registry, "shop", line("a", title(3)))
	other := h.over(t, w, func(o *app.Options) { o.Poll = time.Millisecond })
	stop := run(t, other)
	defer stop()
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var answers atomic.Int64
	for i := range 8 {
		r := []*app.Registry{w.Registry, other}[i%2]
		all.Go(func() {
			newest := uint64(0)
			for ctx.Err() == nil {
				text, err := r.Ask(context.Background(), "shop", "get", jcs.Raw(asked[1].arguments))
				if err != nil {
					t.Error(err)
					return
				}
				e := envelope(t, text, nil)
				if !bytes.Contains(e.Result, []byte(fmt.Sprintf("%q", title(int(e.State.Generation))))) || e.State.Generation < newest || e.State.RecordsGeneration != e.State.Generation {
					t.Errorf("generation %d says %s behind %d", e.State.Generation, e.Result, newest)
					return
				}
				newest = e.State.Generation
				answers.Add(1)
			}
		})
	}
	for generation := 4; generation < 40; generation++ {
		_, err := w.Registry.Import(t.Context(), apptest.Operator(t, "ops"), "shop", app.ImportInput{Bundle: records(line("a", title(generation)))})
		must(t, err)
		seen := answers.Load()
		eventually(t, "answers", func() bool { return answers.Load() > seen || t.Failed() })
	}
	end()
	all.Wait()
}

// Whatever the acts accept can be compiled: no commit makes a publisher unanswerable (answers §2.1).
func TestWhatActsAcceptCompiles(t *testing.T) {
	w := apptest.NewWorld(t)
	ops := apptest.Operator(t, "ops")
	schemas := []string{
		shopSchema, `{}`, `{"attributes":{"stock":{"field":"stock","kind":"count","scoped_by":"location"}}}`, `{"attributes":{"stock":{"field":"stock","kind":"count"}}}`,
		`{"attributes":{"stock":{"kind":"text","scoped_by":"location"},"available":{"field":"available","kind":"bool","scoped_by":"location"}}}`,
	}
	values := []string{`4`, `{"north":4}`, `{"north":true,"south":false}`, `"x"`, `{}`, `[]`, `true`, `null`, `{"nowhere":1}`, `1e400`, `{"north":{"a":1}}`}
	places := []string{
		`[]`, `[{"id":"north","name":"North"},{"id":"south","name":"South"}]`, `[{"id":"north","latitude":91,"longitude":0}]`, `[{"id":"north","latitude":1e-99,"longitude":-0}]`,
		`[{"id":"north","time_zone":"Local"}]`, `[{"id":"north","time_zone":"Etc/GMT+12","opening_hours":"24/7"}]`, `[{"id":"north","opening_hours":"Mo-Fr 9-5"}]`,
		`[{"id":"north","opening_hours":"Mo[1] 09:00-26:00; PH off; week 1-53/2 10:00+"}]`, `[{"id":"north"},{"id":"north"}]`, `[{"name":"x"},{"name":"x"}]`,
		`[{"id":"north","latitude":1,"longitude":1,"latitude":2}]`,
	}
	calendars := []string{`{"public_holidays":["2026-12-25"]}`, `{"public_holidays":["2026-02-30"]}`, `{}`, `{"school_holidays":[{"from":"2026-02-01","to":"2026-01-01"}]}`}
	made := 0
	rapid.Check(t, func(rt *rapid.T) {
		made++
		slug := fmt.Sprint("shop-", made)
		_, err := w.Registry.CreatePublisher(t.Context(), ops, app.CreateInput{Slug: slug, Name: "Shop", Delegated: true})
		must(t, err)
		pick := func(name string, of []string) []byte { return []byte(rapid.SampledFrom(of).Draw(rt, name)) }
		ctx := t.Context()
		for range rapid.IntRange(2, 8).Draw(rt, "acts") {
			switch rapid.IntRange(0, 5).Draw(rt, "act") {
			case 0:
				_, err = w.Registry.SetSchema(ctx, ops, slug, pick("schema", schemas), "")
			case 1:
				_, _, err = w.Registry.SetLocations(ctx, ops, slug, pick("places", places), "")
			case 2:
				_, err = w.Registry.SetCalendar(ctx, ops, slug, pick("calendar", calendars), "")
			default:
				in := app.ImportInput{Bundle: &app.Bundle{}, Mode: rapid.SampledFrom([]string{app.ModeReplace, app.ModeMerge}).Draw(rt, "mode")}
				text := fmt.Sprintf(`{"id":%q,"type":"service","title":"Eye exam","attributes":{"stock":%s,"available":%s}}`, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "id"),
					pick("stock", values), pick("available", values))
				in.Bundle = records(text)
				if rapid.Bool().Draw(rt, "with a schema") {
					in.Bundle.Schema = pick("schema", schemas)
				}
				in.SkipInvalid = rapid.Bool().Draw(rt, "skip invalid")
				_, err = w.Registry.Import(ctx, ops, slug, in)
			}
			if err != nil && app.AsError(err).Kind == app.KindUnavailable {
				rt.Fatalf("refused by a fault: %v, %v", err, errors.Unwrap(err))
			}
			if _, err = w.Registry.Coverage(ctx, ops, slug, []app.CoverageQuestion{{Query: "Is an eye exam in stock?"}}); err != nil {
				rt.Fatalf("what was accepted is not answered for: %v, %v", err, errors.Unwrap(app.AsError(err)))
			}
		}
	})
}

// A schema that scopes what the stored records state once is refused in the commit, and so is an import that keeps such records.
func TestASchemaMayNotScopeWhatIsStatedOnce(t *testing.T) {
	w, _ := shopWorld(t)
	ctx, r, ops := t.Context(), w.Registry, apptest.Operator(t, "ops")
	once := `{"id":"a","type":"service","title":"Eye exam","attributes":{"stock":4}}`
	scoped := []byte(`{"attributes":{"stock":{"field":"stock","kind":"count","scoped_by":"location"}}}`)
	_, err := r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(once)})
	must(t, err)
	before := publication(t, r, "shop").Revision
	_, err = r.SetSchema(ctx, ops, "shop", scoped, "")
	wantCode(t, "the schema alone", err, "attribute_not_scoped")
	if text := fmt.Sprint(err); !strings.Contains(text, "service/a") || !strings.Contains(text, "stock") {
		t.Errorf("which one is not said: %v", err)
	}
	b := records(`{"id":"b","type":"service","title":"Other","attributes":{"stock":{"north":1}}}`)
	b.Schema = scoped
	_, err = r.Import(ctx, ops, "shop", app.ImportInput{Bundle: b, Mode: app.ModeMerge})
	wantCode(t, "a merge that keeps it", err, "attribute_not_scoped")
	if now := publication(t, r, "shop").Revision; now != before {
		t.Error("a refused act left a trace")
	}
	_, err = r.Import(ctx, ops, "shop", app.ImportInput{Bundle: b})
	must(t, err)
	ask(t, r, "get", `{"records":[{"type":"service","id":"b"}]}`)
}
