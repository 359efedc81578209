package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/gidp"
	"sayso/gidp/interest"
	"sayso/gidp/provider"
	"sayso/gidp/providerhttp"
	"sayso/internal/agent/durable"
	"sayso/internal/app"
	"sayso/internal/store/storetest"
	"sayso/internal/vault"
	"sayso/jcs"
	"sayso/jwk"
)

var officeNoon = time.Date(2031, 1, 2, 12, 0, 0, 0, time.UTC)

// The private values of the sample, as an observer would search for them.
var officeSecrets = []string{"canary-person-88c2", "canary-company-11fe", "23456789", "canary-hint"}

// officeClock is a clock that tests move.
type officeClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *officeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *officeClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// office is one data folder with a store, a provider and what it logs; agents come and go.
type office struct {
	t        testing.TB
	clock    *officeClock
	store    durable.Store
	vault    *vault.Vault
	provider *fakeProvider
	log      bytes.Buffer
	*Agent
}

func newOffice(t testing.TB) *office {
	t.Helper()
	v, err := vault.Ephemeral(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newOfficeOf(t, v)
}

// newOfficeOf is an empty store beside a vault.
func newOfficeOf(t testing.TB, v *vault.Vault) *office {
	t.Helper()
	o := &office{t: t, clock: &officeClock{at: officeNoon}, store: storetest.NewAgents(), vault: v, provider: &fakeProvider{kept: map[string]*fakeProjection{}}}
	o.restart(nil)
	return o
}

// restart puts another agent onto what is kept.
func (o *office) restart(edit func(*Options)) {
	o.t.Helper()
	options := Options{Store: o.store, Vault: o.vault, Origin: "https://agents.example/", Providers: o.provider, Now: o.clock.now, Random: rand.Reader,
		Log: slog.New(slog.NewJSONHandler(&o.log, nil))}
	if edit != nil {
		edit(&options)
	}
	a, err := New(options)
	if err != nil {
		o.t.Fatal(err)
	}
	a.patience = 20 * time.Millisecond
	o.Agent = a
}

// work does what is due of these kinds, as Run would, and returns the first failure.
func (o *office) work(kinds ...durable.WorkKind) (failed error) {
	o.t.Helper()
	ctx := context.Background()
	for range 50 {
		var claimed []durable.Work
		err := o.store.Update(ctx, func(w durable.Writer) (err error) {
			claimed, err = w.Claim(ctx, o.clock.now(), o.clock.now().Add(lease), 100)
			return err
		})
		if err != nil {
			o.t.Fatal(err)
		}
		busy := false
		for _, w := range claimed {
			if slices.Contains(kinds, w.Kind) {
				busy = true
				if err := o.Agent.work(ctx, w); err != nil && failed == nil {
					failed = err
				}
			}
		}
		if !busy {
			return failed
		}
	}
	o.t.Fatal("work never ends")
	return nil
}

func (o *office) add(doc *interest.Interest) string {
	o.t.Helper()
	v, err := o.Add(context.Background(), doc)
	if err != nil {
		o.t.Fatal(err)
	}
	return v.ID
}

// active is a fresh active interest.
func (o *office) active(at string) string {
	o.t.Helper()
	id := o.add(officeInterest())
	if _, err := o.Activate(context.Background(), id, at); err != nil {
		o.t.Fatal(err)
	}
	return id
}

func (o *office) detail(id string) InterestDetail {
	o.t.Helper()
	d, err := o.Interest(context.Background(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	return d
}

func (o *office) projections(id string) []durable.ProjectionRow {
	o.t.Helper()
	var rows []durable.ProjectionRow
	err := o.store.View(context.Background(), func(r durable.Reader) (err error) {
		rows, err = r.Projections(context.Background(), id)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return rows
}

// trail lists the kinds of entries of the trail of an interest.
func (o *office) trail(id string) []string {
	o.t.Helper()
	ctx := context.Background()
	var out []string
	err := o.store.View(ctx, func(r durable.Reader) error {
		row, err := r.Interest(ctx, id)
		if err != nil {
			return err
		}
		rows, err := r.Trail(ctx, row.Lineage, 0, 1000)
		for _, row := range rows {
			out = append(out, row.Kind)
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return out
}

// clearText is everything that lies in the store, as whoever copies it sees it, and what was logged.
func (o *office) clearText() string {
	o.t.Helper()
	ctx := context.Background()
	var b strings.Builder
	err := o.store.View(ctx, func(r durable.Reader) error {
		interests, err := r.Interests(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s", fmt.Sprint(interests))
		for _, row := range interests {
			b.Write(row.Body)
			trail, err := r.Trail(ctx, row.Lineage, 0, 1000)
			if err != nil {
				return err
			}
			for _, entry := range trail {
				b.Write(entry.Body)
			}
			ledger, err := r.Ledger(ctx, row.Lineage)
			if err != nil {
				return err
			}
			for _, l := range ledger {
				b.Write(l.Body)
			}
			found, err := r.Explorations(ctx, row.ID)
			if err != nil {
				return err
			}
			for _, x := range found {
				b.Write(x.Body)
			}
		}
		projections, err := r.Projections(ctx, "")
		for _, p := range projections {
			b.Write(p.Body)
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return b.String() + o.log.String()
}

func officeClass(surface gidp.Surface, gate gidp.Gate) gidp.Entry {
	return gidp.Entry{"": gidp.Class{Surface: surface, Gate: gate}}
}

// officeInterest is a sound interest with every kind of attribute.
func officeInterest() *interest.Interest {
	authority, _ := gidp.Delegation("moderate")
	levels := map[gidp.Level]gidp.Permission{}
	for l := gidp.Observe; l <= gidp.Commit; l++ {
		levels[l] = authority.At(l)
	}
	return &interest.Interest{PrincipalRef: "board", Profile: "sayso/corporate-transaction/1", Wants: interest.Wants{Action: "strategic_transaction", Object: "company"},
		Attributes: map[string]jcs.Raw{"sector": jcs.Raw(`"crm_software"`), "geography": jcs.Raw(`"germany"`), "enterprise_value_eur": jcs.Raw(`{"min":23456789}`),
			"arr_eur": jcs.Raw(`{"min":3000000,"max":5000000}`), "market_access": jcs.Raw(`["germany","france"]`), "management_continuity": jcs.Raw(`true`), "depth": jcs.Raw(`9`),
			"hint": jcs.Raw(`"canary-hint"`), "scar": jcs.Raw(`"canary-hint"`), gidp.PrincipalIdentity: jcs.Raw(`"canary-person-88c2"`), "organisation_name": jcs.Raw(`"canary-company-11fe"`)},
		Budgets: map[string]interest.Budget{"depth": {Bits: 2, Domain: gidp.Domain{Min: 0, Max: 31, Step: 1}}},
		Policy: interest.Policy{Entries: map[string]gidp.Entry{gidp.PrincipalIdentity: officeClass(gidp.InSession, gidp.NeedsPrincipalOK), "sector": officeClass(gidp.Discovery, 0),
			"geography": officeClass(gidp.Discovery, 0), "management_continuity": officeClass(gidp.InSession, 0), "organisation_name": officeClass(gidp.InSession, gidp.NeedsPrincipalOK),
			"scar": {"": gidp.Never}}, Derivatives: map[string]interest.Derivative{"domains": {From: "sector", Cut: []string{"software"}, Class: gidp.Class{Surface: gidp.Discovery}}}},
		Authority: levels, ExpiresAt: officeNoon.AddDate(0, 6, 0), Origin: interest.Stated}
}

// fakeProvider keeps projections by the key they were published under. fail is what the next calls return; lost says that they took effect nevertheless.
type fakeProvider struct {
	mu         sync.Mutex
	kept       map[string]*fakeProjection // guarded by mu; by thumbprint
	order      []string                   // guarded by mu; thumbprints as they were published
	fail       []error                    // guarded by mu
	lost       bool                       // guarded by mu
	calls      []string                   // guarded by mu
	candidates []providerhttp.Candidate   // guarded by mu; of every query, in pages of pageSize
	pageSize   int
	endpoints  map[string]string // guarded by mu; by candidate ref
	queries    []providerhttp.Query
}

type fakeProjection struct {
	ref, at   string
	pub       providerhttp.Publication
	withdrawn bool
}

// call notes a call and returns the failure that is next.
func (f *fakeProvider) call(name string) (failed error, effect bool) {
	f.calls = append(f.calls, name)
	if len(f.fail) == 0 {
		return nil, true
	}
	failed, f.fail = f.fail[0], f.fail[1:]
	return failed, failed == nil || f.lost
}

func (f *fakeProvider) Publish(_ context.Context, at string, key *jwk.PrivateKey, p providerhttp.Publication) (string, time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	failed, effect := f.call("publish")
	if !effect {
		return "", 0, failed
	}
	thumb := jwk.Thumbprint(key.Public().Public)
	if f.kept[thumb] == nil {
		f.kept[thumb] = &fakeProjection{ref: fmt.Sprintf("pref-%d", len(f.kept)+1), at: at}
		f.order = append(f.order, thumb)
	}
	f.kept[thumb].pub = p
	return f.kept[thumb].ref, time.Minute, failed
}

func (f *fakeProvider) Update(ctx context.Context, at string, key *jwk.PrivateKey, _ string, p providerhttp.Publication) (string, time.Duration, error) {
	return f.Publish(ctx, at, key, p)
}

func (f *fakeProvider) Withdraw(_ context.Context, _ string, key *jwk.PrivateKey, ref string) (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	failed, effect := f.call("withdraw")
	kept := f.kept[jwk.Thumbprint(key.Public().Public)]
	switch {
	case !effect:
		return time.Time{}, failed
	case kept == nil || kept.ref != ref:
		return time.Time{}, &providerhttp.Refusal{Status: 404, Code: provider.CodeUnknown}
	}
	kept.withdrawn = true
	return officeNoon.Add(time.Hour), failed
}

func (f *fakeProvider) Candidates(_ context.Context, _ string, _ *jwk.PrivateKey, q providerhttp.Query) (providerhttp.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, q)
	if failed, effect := f.call("candidates"); !effect {
		return providerhttp.Page{}, failed
	}
	from := 0
	if q.Cursor != "" {
		fmt.Sscan(q.Cursor, &from)
	}
	size := len(f.candidates)
	if f.pageSize > 0 {
		size = f.pageSize
	}
	to := min(from+size, len(f.candidates))
	page := providerhttp.Page{Candidates: f.candidates[from:to]}
	if to < len(f.candidates) {
		page.Cursor = fmt.Sprint(to)
	}
	return page, nil
}

func (f *fakeProvider) Resolve(_ context.Context, _ string, _ *jwk.PrivateKey, ref string) (string, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if failed, effect := f.call("resolve " + ref); !effect {
		return "", "", failed
	}
	endpoint, ok := f.endpoints[ref]
	if !ok {
		return "", "", &providerhttp.Refusal{Status: 404, Code: provider.CodeStale}
	}
	return endpoint, strings.Replace(ref, "cand", "pref", 1), nil
}

func (f *fakeProvider) Info(context.Context, string) (providerhttp.Info, error) {
	return providerhttp.Info{}, nil
}

// standing are the projections that are not withdrawn, in order of publication.
func (f *fakeProvider) standing() []*fakeProjection {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*fakeProjection
	for _, thumb := range f.order {
		if !f.kept[thumb].withdrawn {
			out = append(out, f.kept[thumb])
		}
	}
	return out
}

func (f *fakeProvider) failing(lost bool, errs ...error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.lost = errs, lost
}

func (f *fakeProvider) made() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// offer makes n candidates that resolve.
func (f *fakeProvider) offer(n int) {
	f.endpoints = map[string]string{}
	for i := range n {
		ref := fmt.Sprintf("cand-%d", 100+i)
		f.candidates = append(f.candidates, providerhttp.Candidate{Ref: ref, ProjectionRef: fmt.Sprintf("pref-%d", 100+i)})
		f.endpoints[ref] = fmt.Sprintf("https://peer.example/a2a/%032d", i)
	}
}

var (
	errDown    = errors.New("connection refused by 192.0.2.7 for canary-hint")
	errRefused = &providerhttp.Refusal{Status: 422, Code: provider.CodeRefused}
	errBusy    = &providerhttp.Refusal{Status: 429, Code: provider.CodeQuota, RetryAfter: 7 * time.Minute}
)

func wantKind(t testing.TB, err error, kind app.Kind, code string) {
	t.Helper()
	e := app.AsError(err)
	if err == nil || e.Kind != kind || e.Code != code {
		t.Errorf("%v: kind %v, code %v; want %s %s", err, kindOf(e), codeOf(e), kind, code)
	}
	if err != nil {
		noSecrets(t, err.Error()+fmt.Sprintf("%+v", e))
	}
}

func kindOf(e *app.Error) app.Kind {
	if e == nil {
		return ""
	}
	return e.Kind
}

func codeOf(e *app.Error) string {
	if e == nil {
		return ""
	}
	return e.Code
}

func noSecrets(t testing.TB, text string) {
	t.Helper()
	for _, secret := range officeSecrets {
		if strings.Contains(text, secret) {
			t.Errorf("%q is to be seen", secret)
		}
	}
}

func tally(rows []durable.ProjectionRow) map[durable.ProjectionState]int {
	out := map[durable.ProjectionState]int{}
	for _, row := range rows {
		out[row.State]++
	}
	return out
}

func sameStates(rows []durable.ProjectionRow, want map[durable.ProjectionState]int) bool {
	return maps.Equal(tally(rows), want)
}

func (o *office) holdingOf(id string) (h *vault.Holding, row durable.InterestRow) {
	o.t.Helper()
	ctx := context.Background()
	err := o.store.View(ctx, func(r durable.Reader) (err error) {
		h, row, err = o.holding(ctx, r, id)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return h, row
}

// openOne opens a session of an interest to nobody in particular.
func (o *office) openOne(id string) (session string) {
	o.t.Helper()
	ctx := context.Background()
	h, _ := o.holdingOf(id)
	err := o.store.Update(ctx, func(w durable.Writer) (err error) {
		session, err = o.openSession(ctx, w, h, "https://peer.example/a2a/00000000000000000000000000000000", "")
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return session
}

func (o *office) session(id string) (row durable.SessionRow) {
	o.t.Helper()
	ctx := context.Background()
	err := o.store.View(ctx, func(r durable.Reader) (err error) {
		row, err = r.Session(ctx, id)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return row
}
