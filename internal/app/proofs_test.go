package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/proof"
)

// prove starts a proof, lets the prover find it and checks it.
func prove(t *testing.T, w *apptest.World, slug, host string) *app.ProofResult {
	t.Helper()
	ops := apptest.Operator(t, "ops")
	start, err := w.Registry.StartProof(t.Context(), ops, slug, host, proof.DNSTXT, "")
	must(t, err)
	w.Prover.Publish(strings.TrimPrefix(start.Value, "token="))
	result, err := w.Registry.CheckProof(t.Context(), ops, slug, host, proof.DNSTXT, "")
	must(t, err)
	return result
}

func newPublisher(t *testing.T, w *apptest.World, slug string) {
	t.Helper()
	_, err := w.Registry.CreatePublisher(t.Context(), apptest.Operator(t, "ops"), app.CreateInput{Slug: slug, Name: slug, Delegated: true})
	must(t, err)
}

func TestProveAndPublish(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Store.Twice.Store(true)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	start, err := r.StartProof(ctx, ops, "shop", "WWW.Shop.Example.", proof.DNSTXT, "")
	must(t, err)
	if start.Host != "www.shop.example" || start.Place != "_sayso-challenge.www.shop.example" || !strings.HasPrefix(start.Value, "token=") ||
		!start.ExpiresAt.Equal(r.Now().Add(7*24*time.Hour)) {
		t.Errorf("instructions: %+v", start)
	}
	result, err := r.CheckProof(ctx, ops, "shop", "www.shop.example", proof.DNSTXT, "")
	must(t, err)
	if result.Proven || result.Reason != proof.CodeNXDomain || result.Next == "" {
		t.Errorf("before the record: %+v", result)
	}
	_, err = r.Publish(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "publish", err, "authority_missing")
	w.Prover.Publish(strings.TrimPrefix(start.Value, "token="))
	result, err = r.CheckProof(ctx, ops, "shop", "www.shop.example", proof.DNSTXT, "")
	must(t, err)
	if !result.Proven || !result.ValidUntil.Equal(r.Now().Add(proof.Validity)) {
		t.Errorf("%+v", result)
	}
	_, err = r.Publish(ctx, ops, "shop", app.ActInput{})
	must(t, err)
	v := verify(t, w, r, "shop")
	wantVerdict(t, v, "valid", "confirmed", "current", "clean")
	text := manifestText(t, r, "shop")
	for _, want := range []string{`"verified_host":"www.shop.example"`, `"method":"dns_txt"`, `"domain_verified":true`} {
		if !strings.Contains(text, want) {
			t.Errorf("manifest lacks %s", want)
		}
	}
	if p, err := r.ByHost(ctx, "www.shop.example"); err != nil || p.Slug != "shop" {
		t.Errorf("a proven host routes: %v", err)
	}
	views, err := r.Proofs(ctx, ops, "shop")
	if err != nil || len(views) != 1 || views[0].State != "proven" || !strings.Contains(string(views[0].Observed), "vantage_points") {
		t.Errorf("%+v, %v", views, err)
	}
}

func TestProofRefusals(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	_, err := r.StartProof(ctx, ops, "shop", "shop.example", "email", "")
	wantCode(t, "method", err, proof.CodeUnknownMethod)
	for _, host := range []string{"com", "github.io", "10.0.0.1", "shop.localhost", "single", ""} {
		_, err := r.StartProof(ctx, ops, "shop", host, proof.DNSTXT, "")
		wantCode(t, host, err, proof.CodeHostNotAllowed)
	}
	_, err = r.CheckProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, "")
	wantCode(t, "not started", err, "unknown_proof")
	o := w.Options()
	o.Prover = nil
	_, err = app.New(o).StartProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, "")
	wantCode(t, "no prover", err, "proof_unavailable")
}

func TestFiveFailedChecksAnHour(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	newPublisher(t, w, "other")
	check := func(slug, host, method string) string {
		t.Helper()
		_, err := r.CheckProof(ctx, ops, slug, host, method, "")
		return code(t, err)
	}
	start := func(slug, host, method string) {
		t.Helper()
		_, err := r.StartProof(ctx, ops, slug, host, method, "")
		must(t, err)
	}
	start("shop", "shop.example", proof.DNSTXT)
	start("shop", "shop.example", proof.WellKnown)
	start("shop", "b.example", proof.DNSTXT)
	start("other", "shop.example", proof.DNSTXT)
	for i := range 5 {
		method := []string{proof.DNSTXT, proof.WellKnown}[i%2]
		if got := check("shop", "shop.example", method); got != "" {
			t.Fatalf("check %d: %s", i+1, got)
		}
		if i == 2 {
			start("shop", "shop.example", proof.DNSTXT) // a new nonce gives no new tries
		}
	}
	asked := w.Prover.Asked()
	if got := check("shop", "shop.example", proof.DNSTXT); got != "proof_limit" || w.Prover.Asked() != asked {
		t.Errorf("sixth check: %q", got)
	}
	if check("shop", "b.example", proof.DNSTXT) != "" || check("other", "shop.example", proof.DNSTXT) != "" {
		t.Error("the limit is for one publisher and host")
	}
	w.Move(t, time.Hour)
	if got := check("shop", "shop.example", proof.DNSTXT); got != "" {
		t.Errorf("an hour later: %q", got)
	}
}

func TestTwoPublishersProveOneHost(t *testing.T) {
	w := apptest.NewWorld(t)
	newPublisher(t, w, "a")
	newPublisher(t, w, "b")
	if !prove(t, w, "a", "shop.example").Proven || !prove(t, w, "b", "shop.example").Proven {
		t.Fatal("not proven")
	}
	rows, err := w.Registry.RegistryAudit(t.Context(), apptest.Operator(t, "ops"), 0, 0)
	must(t, err)
	last := rows[len(rows)-1]
	found := false
	for _, row := range rows {
		found = found || row.Action == "host_conflict" && row.Target == "shop.example" && strings.Contains(row.Reason, "b and by a")
	}
	if !found {
		t.Errorf("the conflict is not in the trail: %+v", last)
	}
	owner, _ := w.Owner(t, "b", app.ScopePublish)
	seen, err := w.Registry.Audit(t.Context(), owner, "b", 0, 0)
	must(t, err)
	for _, row := range seen {
		if row.Action == "host_conflict" {
			t.Error("an owner learns who else proved the host")
		}
	}
	if p, err := w.Registry.ByHost(t.Context(), "shop.example"); err != nil || p.Slug != "a" {
		t.Errorf("the host goes on routing to the first: %v", err)
	}
}

// A proof is looked at again at half of its life; after three days of counted failures it lapses and the publisher is not served any more.
func TestRecheckAndLapse(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	prove(t, w, "shop", "shop.example")
	_, err := r.Publish(ctx, ops, "shop", app.ActInput{})
	must(t, err)
	state := func() app.ProofView {
		t.Helper()
		views, err := r.Proofs(ctx, ops, "shop")
		must(t, err)
		return views[0]
	}
	first := state()
	w.Move(t, proof.Validity/2)
	must(t, app.Recheck(r, ctx))
	if s := state(); !s.ValidUntil.After(first.ValidUntil) || s.FailedDays != 0 {
		t.Errorf("found again: %+v", s)
	}
	asked := w.Prover.Asked()
	must(t, app.Recheck(r, ctx))
	if w.Prover.Asked() != asked {
		t.Error("a proof that is not due was looked at")
	}
	w.Prover.Fault(&proof.Failure{Code: proof.CodeServFail, Message: "no usable answer"})
	w.Move(t, proof.Validity/2)
	for range 5 {
		must(t, app.Recheck(r, ctx))
		w.Move(t, 24*time.Hour)
	}
	if s := state(); s.State != "proven" || s.FailedDays != 0 {
		t.Errorf("servfail never counts: %+v", s)
	}
	w.Prover.Fault(nil)
	w.Prover.Withdraw()
	for day := 1; day <= 3; day++ {
		if !publication(t, r, "shop").Standing.IsPublished(w.Clock.Now()) {
			t.Fatalf("lapsed before day %d", day)
		}
		must(t, app.Recheck(r, ctx))
		if s := state(); s.FailedDays != day {
			t.Errorf("day %d: %+v", day, s)
		}
		if g := r.Gauges(); day < 3 && g.ProofsExpiring != 1 {
			t.Errorf("day %d: nobody is warned: %+v", day, g)
		}
		w.Move(t, 24*time.Hour)
	}
	if s := state(); s.State != "lapsed" || publication(t, r, "shop").Standing.IsPublished(w.Clock.Now()) {
		t.Errorf("after three days: %+v", s)
	}
	if text := manifestText(t, r, "shop"); !strings.Contains(text, `"published":false`) || strings.Contains(text, "badge_text") {
		t.Errorf("XP-MANIFEST-009: %s", text)
	}
	// The old token published again proves nothing.
	_, err = r.CheckProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, "")
	wantCode(t, "a lapsed proof", err, "unknown_proof")
	if !prove(t, w, "shop", "shop.example").Proven || !publication(t, r, "shop").Standing.IsPublished(w.Clock.Now()) {
		t.Error("a new proof brings the publisher back")
	}
}

// valid_until ends what is served at that instant, also in a manifest that was signed just before.
func TestValidUntilEndsAManifest(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	newPublisher(t, w, "shop")
	until := prove(t, w, "shop", "shop.example").ValidUntil
	_, err := r.Publish(ctx, apptest.Operator(t, "ops"), "shop", app.ActInput{})
	must(t, err)
	w.Move(t, until.Sub(w.Clock.Now())-time.Microsecond)
	if text := manifestText(t, r, "shop"); !strings.Contains(text, `"published":true`) {
		t.Errorf("just before it: %s", text)
	}
	if g := r.Gauges(); g.Publishers != 1 || g.Published != 1 || g.ProofsExpiring != 1 || g.ProofsLapsed != 0 {
		t.Errorf("gauges %+v", g)
	}
	w.Move(t, time.Microsecond)
	if text := manifestText(t, r, "shop"); !strings.Contains(text, `"published":false`) {
		t.Errorf("at valid_until: %s", text)
	}
	if g := r.Gauges(); g.Published != 0 || g.ProofsLapsed != 1 {
		t.Errorf("gauges %+v", g)
	}
}

// One check of a host at a time: else as many could be asked for at once as there are callers, whatever the limit says.
func TestChecksOfOneHostAreOneAfterTheOther(t *testing.T) {
	w := apptest.NewWorld(t)
	slow := &slowProver{began: make(chan struct{}), end: make(chan struct{})}
	o := w.Options()
	o.Prover = slow
	r := app.New(o)
	ops := apptest.Operator(t, "ops")
	newPublisher(t, w, "shop")
	_, err := r.StartProof(t.Context(), ops, "shop", "shop.example", proof.DNSTXT, "")
	must(t, err)
	done := make(chan error)
	go func() {
		_, err := r.CheckProof(t.Context(), ops, "shop", "shop.example", proof.DNSTXT, "")
		done <- err
	}()
	<-slow.began
	_, err = r.CheckProof(t.Context(), ops, "shop", "shop.example", proof.DNSTXT, "")
	wantCode(t, "at the same time", err, "proof_running")
	close(slow.end)
	must(t, <-done)
}

type slowProver struct{ began, end chan struct{} }

func (p *slowProver) Check(context.Context, proof.Challenge) (proof.Evidence, *proof.Failure) {
	close(p.began)
	<-p.end
	return proof.Evidence{Points: []proof.Point{}}, &proof.Failure{Code: proof.CodeTimeout}
}

// What was found is committed only when the attempt is still the one that was looked at.
func TestACheckOfAReplacedAttemptIsNotCommitted(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	start, err := r.StartProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, "")
	must(t, err)
	w.Prover.Publish(strings.TrimPrefix(start.Value, "token="))
	again := func() {
		w.Store.Twice.Store(false)
		_, err := r.StartProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, "")
		must(t, err)
	}
	w.Store.Twice.Store(true)
	w.Store.Between.Store(&again)
	_, err = r.CheckProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, "")
	wantCode(t, "replaced meanwhile", err, "proof_changed")
	views, err := r.Proofs(ctx, ops, "shop")
	must(t, err)
	if len(views) != 2 || views[0].State == "proven" || views[1].State == "proven" {
		t.Errorf("%+v", views)
	}
}
