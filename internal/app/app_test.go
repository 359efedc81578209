package app_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
)

// code is the code of a refusal, "" for success.
func code(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *app.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *app.Error", err)
	}
	if e.Message == "" || e.Kind.Status() == 0 || e.Kind.ExitCode() == 0 {
		t.Errorf("%s: kind %q without message, status or exit code", e.Code, e.Kind)
	}
	return e.Code
}

func wantCode(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := code(t, err); got != want {
		t.Errorf("%s: %q (%v), want %q", what, got, err, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// records is a bundle of one JSONL file.
func records(lines ...string) *app.Bundle {
	b, err := app.OpenRecords(fstest.MapFS{"records.jsonl": {Data: []byte(strings.Join(lines, "\n"))}}, "records.jsonl")
	if err != nil {
		panic(err)
	}
	return b
}

func line(id, title string) string {
	return `{"id":"` + id + `","type":"service","title":"` + title + `","updated_at":"2026-01-02T03:04:05Z"}`
}

func publication(t *testing.T, r *app.Registry, slug string) *business.Publication {
	t.Helper()
	p, err := r.Publication(t.Context(), slug)
	must(t, err)
	return p
}

// verify checks a served manifest with everything else that is served, as a reader does who pinned the root.
func verify(t *testing.T, w *apptest.World, r *app.Registry, slug string) *business.Verdict {
	t.Helper()
	ctx, now := t.Context(), w.Clock.Now()
	fetch := func(body []byte, err error) *business.Fetched {
		return &business.Fetched{Body: body, At: now, Err: err}
	}
	manifest, err := r.Manifest(ctx, slug)
	must(t, err)
	keys, err := r.RegistryKeys(ctx)
	must(t, err)
	e := business.Evidence{Root: &w.Root, RegistryKeys: fetch(keys.Body, nil), Publisher: slug, At: now}
	if list, err := r.RegistryRevocations(ctx); err == nil {
		e.Revocations = fetch(list.Body, nil)
	}
	if list, err := r.PublisherRevocations(ctx, slug); err == nil {
		e.PublisherList = fetch(list.Body, nil)
	}
	v, err := business.Verify(manifest.Body, e)
	must(t, err)
	return v
}

func wantVerdict(t *testing.T, v *business.Verdict, signature, identity, authority, revocation string) {
	t.Helper()
	got := [4]string{v.Signature.Value, v.Identity.Value, v.Authority.Value, v.Revocation.Value}
	if want := [4]string{signature, identity, authority, revocation}; got != want {
		t.Errorf("verdict %v, want %v (%+v)", got, want, v)
	}
}

func manifestText(t *testing.T, r *app.Registry, slug string) string {
	t.Helper()
	m, err := r.Manifest(t.Context(), slug)
	must(t, err)
	return string(m.Body)
}

func TestFromNothingToAVerifiedManifest(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Store.Twice.Store(true)
	w.Publisher(t, "shop")
	ops := apptest.Operator(t, "ops")
	result, err := w.Registry.Import(t.Context(), ops, "shop", app.ImportInput{Bundle: records(line("a", "A"), line("b", "B"))})
	must(t, err)
	if result.Written != 2 || result.Generation != 2 || result.Unchanged {
		t.Errorf("import: %+v", result)
	}
	v := verify(t, w, w.Registry, "shop")
	wantVerdict(t, v, "valid", "confirmed", "current", "clean")
	if v.Usable.Value != "yes" {
		t.Errorf("usable: %+v", v.Usable)
	}
	p := publication(t, w.Registry, "shop")
	if len(p.Types) != 1 || p.Types[0] != (business.TypeCount{Type: "service", Count: 2}) || p.DataLastUpdated.IsZero() || p.Incomplete {
		t.Errorf("publication %+v", p)
	}
	jwks, err := w.Registry.PublisherKeys(t.Context(), "shop")
	must(t, err)
	if n := strings.Count(string(jwks.Body), `"x_protocol_attestation"`); n != 1 || !strings.Contains(string(jwks.Body), apptest.Origin) {
		t.Errorf("jwks: %s", jwks.Body)
	}
}

func TestCreatePublisherRefuses(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops := t.Context(), apptest.Operator(t, "ops")
	create := func(in app.CreateInput) error {
		_, err := w.Registry.CreatePublisher(ctx, ops, in)
		return err
	}
	must(t, create(app.CreateInput{Slug: "shop", Name: "Shop", Operation: "1"}))
	wantCode(t, "slug used", create(app.CreateInput{Slug: "shop", Name: "Shop"}), "publisher_exists")
	wantCode(t, "repeated", create(app.CreateInput{Slug: "shop", Name: "Shop", Operation: "1"}), "")
	for want, in := range map[string]app.CreateInput{
		"invalid_slug":    {Slug: "Shop", Name: "x"},
		"invalid_name":    {Slug: "a", Name: " "},
		"invalid_region":  {Slug: "a", Name: "x", Region: "a\nb"},
		"invalid_account": {Slug: "a", Name: "x", Account: []byte(`"text"`)},
	} {
		wantCode(t, want, create(in), want)
	}
	_, err := w.Registry.Withdraw(ctx, ops, "shop", "", app.ActInput{Reason: "closed"})
	must(t, err)
	wantCode(t, "slug of a withdrawn publisher", create(app.CreateInput{Slug: "shop", Name: "Shop"}), "publisher_exists")
}

func TestLifecycle(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops := t.Context(), apptest.Operator(t, "ops")
	r := w.Registry
	_, err := r.CreatePublisher(ctx, ops, app.CreateInput{Slug: "shop", Name: "Shop", Delegated: true})
	must(t, err)
	before := publication(t, r, "shop").Revision
	_, err = r.Publish(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "publish without authority", err, "authority_missing")
	if app.AsError(err).Kind.ExitCode() != 4 {
		t.Error("authority_missing does not exit with 4")
	}
	if now := publication(t, r, "shop").Revision; now != before {
		t.Errorf("a refused publish moved the revision from %d to %d", before, now)
	}
	_, err = r.Pause(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "pause a draft", err, "not_published")
	_, err = r.Resume(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "resume a draft", err, "not_paused")

	w.Publisher(t, "open")
	published := func(want bool) {
		t.Helper()
		if got := publication(t, r, "open").Standing.IsPublished(w.Clock.Now()); got != want {
			t.Errorf("published %v, want %v", got, want)
		}
		if got := strings.Contains(manifestText(t, r, "open"), `"published":true`); got != want {
			t.Errorf("manifest says published %v, want %v", got, want)
		}
	}
	published(true)
	_, err = r.Publish(ctx, ops, "open", app.ActInput{})
	wantCode(t, "publish twice", err, "already_published")
	for _, step := range []struct {
		name string
		do   func(context.Context, app.Actor, string, app.ActInput) (*app.Receipt, error)
		want bool
	}{{"pause", r.Pause, false}, {"resume", r.Resume, true}, {"suspend", r.Suspend, false}, {"unsuspend", r.Unsuspend, true}} {
		_, err = step.do(ctx, ops, "open", app.ActInput{Reason: "why"})
		wantCode(t, step.name, err, "")
		published(step.want)
		_, err = step.do(ctx, ops, "open", app.ActInput{Reason: "why"})
		if code(t, err) == "" {
			t.Errorf("%s twice", step.name)
		}
	}
	_, err = r.Suspend(ctx, ops, "open", app.ActInput{})
	wantCode(t, "suspend without reason", err, "invalid_reason")
	for _, slug := range []string{"nobody", "a\x00b", "\xff", "../x", "A"} {
		_, err = r.Pause(ctx, ops, slug, app.ActInput{})
		wantCode(t, slug, err, "unknown_publisher")
		_, err = r.Publisher(ctx, ops, slug)
		wantCode(t, slug, err, "unknown_publisher")
	}
	_, err = r.Pause(ctx, ops, "", app.ActInput{})
	wantCode(t, "no publisher", err, "unauthorized")
}

func TestWithdraw(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	owner, _ := w.Owner(t, "shop", app.ScopePublish)
	_, err := r.Withdraw(ctx, ops, "shop", "", app.ActInput{})
	wantCode(t, "operator without reason", err, "reason_missing")
	receipt, err := r.Withdraw(ctx, owner, "shop", "", app.ActInput{})
	must(t, err)
	if receipt.Withdrawal != "requested" || publication(t, r, "shop").Standing.Lifecycle != business.Paused {
		t.Errorf("the owner's request: %+v", receipt)
	}
	_, err = r.Resume(ctx, owner, "shop", app.ActInput{})
	must(t, err)
	_, err = r.Withdraw(ctx, ops, "shop", "", app.ActInput{})
	wantCode(t, "publishing again takes the request back", err, "reason_missing")
	_, err = r.Withdraw(ctx, owner, "shop", "", app.ActInput{})
	must(t, err)
	_, err = r.Withdraw(ctx, ops, "shop", "nonsense", app.ActInput{})
	wantCode(t, "reason on the list", err, "invalid_reason")
	_, err = r.Withdraw(ctx, ops, "shop", "", app.ActInput{})
	must(t, err)

	wantVerdict(t, verify(t, w, r, "shop"), "valid", "confirmed", "current", "revoked")
	keys, err := r.PublisherKeys(ctx, "shop")
	if err != nil || !strings.Contains(string(keys.Body), `"kid":"shop-`) {
		t.Errorf("keys of a withdrawn publisher: %v", err)
	}
	_, err = r.Publish(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "publish after withdrawal", err, "withdrawn")
	_, err = r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line("a", "A"))})
	wantCode(t, "import after withdrawal", err, "withdrawn")
	_, err = r.RevokeEntity(ctx, owner, "shop", "service", "a", app.RevokeInput{Code: "error"})
	wantCode(t, "owner without scope keys", err, "scope_missing")
	_, err = r.RevokeEntity(ctx, ops, "shop", "service", "a", app.RevokeInput{Code: "error"})
	wantCode(t, "revocations stay possible", err, "")
}

func TestVerificationNeedsTwoOperators(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	_, err := r.CreatePublisher(ctx, ops, app.CreateInput{Slug: "shop", Name: "Shop", Delegated: true})
	must(t, err)
	operator := func(by app.Actor, name string) app.Actor {
		t.Helper()
		token, err := r.CreateOperatorToken(ctx, by, name, "")
		must(t, err)
		actor, err := r.Authenticate(ctx, token.Token)
		must(t, err)
		return actor
	}
	first, second := operator(ops, "first"), operator(ops, "second")
	puppet := operator(first, "second")
	confirm := func(a app.Actor, decision string) error {
		_, err := r.ConfirmVerification(ctx, a, "shop", decision, app.ActInput{})
		return err
	}
	wantCode(t, "not recorded", confirm(second, "d1"), "unknown_decision")
	_, err = r.RecordVerification(ctx, first, "shop", "d1", app.ActInput{})
	must(t, err)
	_, err = r.RecordVerification(ctx, second, "shop", "d1", app.ActInput{})
	wantCode(t, "recorded twice", err, "decision_exists")
	wantCode(t, "same operator", confirm(first, "d1"), "second_operator")
	wantCode(t, "a token made by the same operator", confirm(puppet, "d1"), "second_operator")
	_, err = r.Publish(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "half a verification", err, "authority_missing")
	w.Move(t, time.Hour)
	wantCode(t, "second operator", confirm(second, "d1"), "")
	wantCode(t, "confirmed twice", confirm(second, "d1"), "decision_confirmed")
	v := publication(t, r, "shop").Standing.Verification
	if v == nil || !v.ConfirmedAt.Equal(r.Now()) {
		t.Errorf("the time of the confirmation is the authority's: %+v", v)
	}
	_, err = r.Publish(ctx, ops, "shop", app.ActInput{})
	must(t, err)
	_, err = r.WithdrawVerification(ctx, first, "shop", "d1", app.ActInput{Reason: "error"})
	must(t, err)
	if publication(t, r, "shop").Standing.IsPublished(w.Clock.Now()) {
		t.Error("still published without authority")
	}
	wantCode(t, "withdrawn", confirm(second, "d1"), "decision_withdrawn")
	for _, decision := range []string{"", "a\x00", strings.Repeat("ä", 150)} {
		_, err = r.RecordVerification(ctx, first, "shop", decision, app.ActInput{})
		wantCode(t, decision, err, "invalid_decision")
	}
	// The child cannot record what its maker confirms either.
	_, err = r.RecordVerification(ctx, puppet, "shop", "d2", app.ActInput{})
	must(t, err)
	wantCode(t, "the maker of the token", confirm(first, "d2"), "second_operator")
}

func TestOperationsAreIdempotent(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	w.Publisher(t, "other")
	first, err := r.RotateKey(ctx, ops, "shop", app.ActInput{Operation: "op-1"})
	must(t, err)
	again, err := r.RotateKey(ctx, ops, "shop", app.ActInput{Operation: "op-1"})
	must(t, err)
	if !again.Repeated || again.Revision != first.Revision {
		t.Errorf("%+v, then %+v", first, again)
	}
	// The identity of one act is not that of another act, publisher or actor.
	for name, f := range map[string]func() (*app.Receipt, error){
		"publisher": func() (*app.Receipt, error) { return r.RotateKey(ctx, ops, "other", app.ActInput{Operation: "op-1"}) },
		"act":       func() (*app.Receipt, error) { return r.Pause(ctx, ops, "shop", app.ActInput{Operation: "op-1"}) },
		"actor": func() (*app.Receipt, error) {
			return r.RotateKey(ctx, apptest.Operator(t, "second"), "shop", app.ActInput{Operation: "op-1"})
		},
	} {
		if receipt, err := f(); err != nil || receipt.Repeated {
			t.Errorf("%s: %+v, %v", name, receipt, err)
		}
	}
	_, err = r.CreateToken(ctx, ops, "shop", "x", []string{"import"}, "t-1")
	must(t, err)
	_, err = r.CreateToken(ctx, ops, "shop", "x", []string{"import"}, "t-1")
	wantCode(t, "a token is shown once", err, "operation_done")
}

// Two calls of one operation at the same time: the one whose run was undone shows no secret, because the store holds none of it.
func TestAnUndoneRunShowsNoSecret(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	for name, do := range map[string]func() error{
		"token": func() error { _, err := r.CreateToken(ctx, ops, "shop", "x", []string{"import"}, "one"); return err },
		"proof": func() error { _, err := r.StartProof(ctx, ops, "shop", "shop.example", "dns_txt", "one"); return err },
	} {
		first := func() {
			w.Store.Twice.Store(false)
			wantCode(t, name+" committed first", do(), "")
		}
		w.Store.Twice.Store(true)
		w.Store.Between.Store(&first)
		wantCode(t, name+" undone", do(), "operation_done")
	}
}

func TestAuditRowsOfEveryAct(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Store.Twice.Store(true)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	_, err := r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line("a", "A"))})
	must(t, err)
	rows, err := r.Audit(ctx, ops, "shop", 0, 0)
	must(t, err)
	var got []string
	for _, row := range rows {
		got = append(got, row.Actor+": "+row.Action)
	}
	want := []string{"operator ops: create_publisher", "operator ops: record_verification", "operator second: confirm_verification", "operator ops: publish", "operator ops: import"}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("trail %v", got)
	}
	last := rows[len(rows)-1]
	if last.OldHash == "" || last.NewHash == "" || last.OldHash == last.NewHash || last.NewHash != publication(t, r, "shop").State.ContentHash {
		t.Errorf("hashes: %+v", last)
	}
	owner, _ := w.Owner(t, "shop", app.ScopeImport)
	seen, err := r.Audit(ctx, owner, "shop", 0, 0)
	must(t, err)
	for _, row := range seen {
		if strings.Contains(row.Actor, "ops") || strings.Contains(row.Target, "decision") {
			t.Errorf("an owner sees %+v", row)
		}
	}
	all, err := r.RegistryAudit(ctx, ops, 0, 2)
	if err != nil || len(all) != 2 || all[0].Action != "init" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestStoreFaultIsUnavailable(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "shop")
	broken := func() error { return io.ErrUnexpectedEOF }
	w.Store.Fail.Store(&broken)
	_, err := w.Registry.Pause(t.Context(), apptest.Operator(t, "ops"), "shop", app.ActInput{})
	wantCode(t, "store", err, "store_unavailable")
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "EOF") {
		t.Errorf("the cause is for the log: %v", err)
	}
	_, err = w.Registry.Authenticate(t.Context(), "sayso-owner-x")
	wantCode(t, "authenticate", err, "store_unavailable")
	w.Store.Fail.Store(nil)
	_, err = w.Registry.Authenticate(t.Context(), "sayso-owner-x")
	wantCode(t, "unknown token", err, "unauthorized")
}
