package server_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/server"
	"sayso/internal/store/pgtest"
	"sayso/internal/store/postgres"
	"sayso/internal/store/sqlite"
)

// deployment is a registry over a real database, served by any number of replicas.
type deployment struct {
	t      *testing.T
	init   *app.InitResult
	keys   *app.KeyFiles
	prover *apptest.Prover
}

func newDeployment(t *testing.T, store app.Store) *deployment {
	t.Helper()
	data := t.TempDir()
	d := &deployment{t: t, prover: &apptest.Prover{}}
	var err error
	if d.init, err = app.Init(t.Context(), store, app.InitInput{Data: data, Operator: "first", Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if d.keys, err = app.OpenKeys(data, nil); err != nil {
		t.Fatal(err)
	}
	return d
}

// replica serves the registry from a store of its own.
func (d *deployment) replica(store app.Store) *running {
	d.t.Helper()
	return start(d.t, server.Options{Registry: app.New(app.Options{
		Store: store, Keys: d.keys, Prover: d.prover, Site: business.Site{Origin: apptest.Origin, ServerVersion: "test"},
	})})
}

func must(t *testing.T, s *running, q request) reply {
	t.Helper()
	q.path = "/api/v1" + q.path
	a := send(t, s.private, q)
	if a.status >= 300 {
		t.Fatalf("%s %s: %d %s", q.method, q.path, a.status, a.text)
	}
	return a
}

func text(t *testing.T, a reply, name string) string {
	t.Helper()
	value, _ := a.value[name].(string)
	if value == "" {
		t.Fatalf("no %s in %s", name, a.text)
	}
	return value
}

// verdict reads a publisher's documents over HTTP and verifies its manifest against the pin.
func (d *deployment) verdict(s *running, slug string) *business.Verdict {
	d.t.Helper()
	read := func(path string) *business.Fetched {
		a := get(d.t, s.public, path, "registry.example")
		if a.status != http.StatusOK {
			d.t.Fatalf("%s: %d %s", path, a.status, a.text)
		}
		return &business.Fetched{Body: []byte(a.text), At: time.Now()}
	}
	own, root := "/t/"+slug+"/.well-known/x-protocol/", d.keys.Root()
	v, err := business.Verify(read(own+"manifest.json").Body, business.Evidence{
		Root: &root, RegistryKeys: read("/.well-known/x-protocol/registry-keys.json"), PublisherKeys: read(own + "jwks.json"),
		Revocations: read("/.well-known/x-protocol/revocations.json"), PublisherList: read(own + "revocations.json"), Publisher: slug, At: time.Now(),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

func (d *deployment) wantVerdict(s *running, slug string, signature, identity, authority, revocation, usable string) {
	d.t.Helper()
	v := d.verdict(s, slug)
	got := []string{v.Signature.Value, v.Identity.Value, v.Authority.Value, v.Revocation.Value, v.Usable.Value}
	if want := []string{signature, identity, authority, revocation, usable}; !slices.Equal(got, want) {
		d.t.Errorf("verdict %v, want %v: %+v", got, want, v)
	}
}

// From nothing to a withdrawn publisher, all over the admin API, on a database in a file.
func TestRegistryEndToEnd(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "sayso.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	d := newDeployment(t, store)
	s := d.replica(store)
	first := d.init.OperatorToken
	shop := "/publishers/shop"
	eventually(t, "the registry is read", func() bool { return get(t, s.public, "/b", "registry.example").status == 200 })

	v := must(t, s, request{method: "GET", path: "/registry", token: first})
	if root, _ := v.value["root"].(map[string]any); root["kid"] != d.init.RootKid || text(t, v, "origin") != apptest.Origin || !strings.Contains(text(t, v, "engine"), "SQLite") {
		t.Errorf("registry: %s", v.text)
	}
	must(t, s, request{method: "POST", path: "/publishers", token: first, body: `{"slug":"shop","display_name":"Shop","region":"GB"}`})
	owner := text(t, must(t, s, request{method: "POST", path: shop + "/tokens", token: first, body: `{"scopes":["import","publish","keys"],"name":"owner"}`}), "token")
	profile := `{"display_name":"Corner Shop","business_category":"optician","locations":[{"id":"main","primary":true,"locality":"Leeds","country_code":"GB"}]}`
	must(t, s, request{method: "POST", path: shop + "/import", token: owner, kind: "application/x-tar", body: archive(t,
		file{name: "publisher.json", text: profile}, file{name: "records.jsonl", text: oneRecord})})
	if a := must(t, s, request{method: "GET", path: shop + "/profile", token: owner}); a.value["display_name"] != "Corner Shop" {
		t.Errorf("profile: %s", a.text)
	}
	if a := send(t, s.private, request{method: "POST", path: "/api/v1" + shop + "/publish", token: owner}); a.status != 409 || a.code() != "authority_missing" {
		t.Errorf("without authority: %d %s", a.status, a.text)
	}

	// One host by proof, and two operators' decision beside it.
	proof := request{method: "POST", path: shop + "/proofs/check", token: owner, body: `{"host":"shop.example.com","method":"dns_txt"}`}
	challenge := must(t, s, request{method: "POST", path: shop + "/proofs", token: owner, body: proof.body})
	if a := must(t, s, proof); a.value["proven"] != false || a.value["reason"] != "nxdomain" {
		t.Errorf("nothing was published: %s", a.text)
	}
	value := text(t, challenge, "value")
	d.prover.Publish(value[strings.LastIndexByte(value, '=')+1:])
	if a := must(t, s, proof); a.value["proven"] != true {
		t.Errorf("proof: %s", a.text)
	}
	must(t, s, request{method: "POST", path: shop + "/verification", token: first, body: `{"decision":"file-1"}`})
	if a := send(t, s.private, request{method: "POST", path: "/api/v1" + shop + "/verification/file-1/confirm", token: first}); a.status != 409 || a.code() != "second_operator" {
		t.Errorf("the same operator: %d %s", a.status, a.text)
	}
	ops, _ := app.Machine("machine")
	other, err := app.New(app.Options{Store: store, Keys: d.keys}).CreateOperatorToken(t.Context(), ops, "second", "")
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, request{method: "POST", path: shop + "/verification/file-1/confirm", token: other.Token})

	must(t, s, request{method: "POST", path: shop + "/publish", token: owner})
	d.wantVerdict(s, "shop", "valid", "confirmed", "current", "clean", "yes")
	if a := get(t, s.public, "/gb/leeds/business/shop/service/a", "registry.example", "Accept", "application/json"); a.status != 200 || a.value["title"] != "A" {
		t.Errorf("record: %d %s", a.status, a.text)
	}
	must(t, s, request{method: "POST", path: shop + "/keys/rotate", token: owner})
	d.wantVerdict(s, "shop", "valid", "confirmed", "current", "clean", "yes")

	must(t, s, request{method: "POST", path: shop + "/suspend", token: first, body: `{"reason":"a complaint"}`})
	if a := get(t, s.public, "/b/shop", "registry.example"); a.status != 404 {
		t.Errorf("suspended: %d", a.status)
	}
	if a := get(t, s.public, "/t/shop/.well-known/x-protocol/manifest.json", "registry.example"); a.status != 200 || !strings.Contains(a.text, `"published":false`) || strings.Contains(a.text, "complaint") {
		t.Errorf("suspended: %d %s", a.status, a.text)
	}
	must(t, s, request{method: "POST", path: shop + "/unsuspend", token: first})
	if a := must(t, s, request{method: "POST", path: shop + "/withdraw", token: owner}); a.value["withdrawal"] != "requested" {
		t.Errorf("withdrawal: %s", a.text)
	}
	must(t, s, request{method: "POST", path: shop + "/withdraw", token: first})
	if v := d.verdict(s, "shop"); v.Signature.Value != "valid" || v.Revocation.Value != "revoked" || v.Usable.Value != "no" {
		t.Errorf("withdrawn: %+v", v)
	}
	trail := must(t, s, request{method: "GET", path: shop + "/audit", token: owner})
	if n := len(trail.value["entries"].([]any)); n < 12 || strings.Contains(trail.text, "complaint") {
		t.Errorf("audit: %d acts, %s", n, trail.text)
	}
}

// idle measures for how long the machine did not run this process or the database: a read of the heads and a short sleep, over and over, that take longer
// than they should.
type idle struct{ total atomic.Int64 }

func (i *idle) watch(ctx context.Context, store app.Store) {
	const usual = 50 * time.Millisecond
	for ctx.Err() == nil {
		begin := time.Now()
		store.Heads(ctx)
		time.Sleep(10 * time.Millisecond)
		if took := time.Since(begin); took > usual {
			i.total.Add(int64(took - usual))
		}
	}
}

func (i *idle) sum() time.Duration { return time.Duration(i.total.Load()) }

// What one replica has committed is served by another one within a second in which the machine runs. Each commit is followed from the answer of the act to
// the first answer of the other replica that shows it.
func TestReplicasSeeACommitWithinASecond(t *testing.T) {
	const (
		shops    = 4
		rounds   = 30 // acts on each
		deadline = time.Second
	)
	url := pgtest.Database(t)
	open := func() app.Store {
		store, err := postgres.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	one := open()
	d := newDeployment(t, one)
	a, b := d.replica(one), d.replica(open())
	eventually(t, "both are read", func() bool {
		return get(t, a.public, "/b", "registry.example").status == 200 && get(t, b.public, "/b", "registry.example").status == 200
	})
	ops, _ := app.Machine("machine")
	other, err := app.New(app.Options{Store: one, Keys: d.keys}).CreateOperatorToken(t.Context(), ops, "second", "")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // guards took
	var took []time.Duration
	var running sync.WaitGroup
	var machine idle
	watching, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() { machine.watch(watching, one) })
	defer func() { stop(); watch.Wait() }()
	for i := range shops {
		slug := "shop-" + string(rune('a'+i))
		shop := "/publishers/" + slug
		must(t, a, request{method: "POST", path: "/publishers", token: d.init.OperatorToken, body: `{"slug":"` + slug + `","display_name":"Shop"}`})
		owner := text(t, must(t, a, request{method: "POST", path: shop + "/tokens", token: d.init.OperatorToken, body: `{"scopes":["publish"]}`}), "token")
		must(t, a, request{method: "POST", path: shop + "/verification", token: d.init.OperatorToken, body: `{"decision":"d"}`})
		must(t, a, request{method: "POST", path: shop + "/verification/d/confirm", token: other.Token})
		running.Go(func() {
			for n := range rounds {
				act, want := "publish", `"published":true`
				if n%2 == 1 {
					act, want = "pause", `"published":false`
				}
				answer := send(t, a.private, request{method: "POST", path: "/api/v1" + shop + "/" + act, token: owner})
				begin, idle := time.Now(), machine.sum()
				if answer.status != 200 {
					t.Errorf("%s: %d %s", act, answer.status, answer.text)
					return
				}
				for !strings.Contains(get(t, b.public, "/t/"+slug+"/.well-known/x-protocol/manifest.json", "registry.example").text, want) {
					if waited := time.Since(begin); waited-(machine.sum()-idle) > deadline {
						t.Errorf("%s %d of %s is not served by the other replica after %s", act, n, slug, waited)
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
				mu.Lock()
				took = append(took, time.Since(begin))
				mu.Unlock()
			}
		})
	}
	running.Wait()
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	t.Logf("%d commits: p50 %s, p99 %s, longest %s; the machine stood still for %s", len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1], machine.sum())
}
