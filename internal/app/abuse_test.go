package app_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/business"
	"sayso/business/bizhttp"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/proof"
	"sayso/jwk"
)

// One operator who holds several tokens is one operator: whether one token made the other, both come from a third, or both were made under one name.
func TestTwoTokensAreNotTwoOperators(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	operator := func(by app.Actor, name string) app.Actor {
		t.Helper()
		token, err := r.CreateOperatorToken(ctx, by, name, "")
		must(t, err)
		actor, err := r.Authenticate(ctx, token.Token)
		must(t, err)
		return actor
	}
	first := operator(ops, "first")
	left, right := operator(first, "left"), operator(first, "right")
	far := operator(operator(left, "x"), "y")
	for i, pair := range []struct {
		name             string
		records, confirm app.Actor
		want             string
	}{
		{"two tokens that a third one made", left, right, "second_operator"},
		{"over several steps", far, right, "second_operator"},
		{"two tokens of one name", first, operator(ops, "first"), "second_operator"},
		{"one name, spelt otherwise", first, operator(ops, "First"), "second_operator"},
		{"the machine under the name of the token", apptest.Operator(t, "first"), first, "second_operator"},
		{"two operators", left, operator(ops, "second"), ""},
		{"the machine and another operator", ops, first, ""},
	} {
		decision := fmt.Sprintf("d%d", i)
		_, err := r.RecordVerification(ctx, pair.records, "shop", decision, app.ActInput{})
		must(t, err)
		_, err = r.ConfirmVerification(ctx, pair.confirm, "shop", decision, app.ActInput{})
		wantCode(t, pair.name, err, pair.want)
	}
}

// A revoked token counts like any other: making it disappear does not make a second operator.
func TestARevokedTokenStillNamesItsOperator(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	old, err := r.CreateOperatorToken(ctx, ops, "first", "")
	must(t, err)
	actor, err := r.Authenticate(ctx, old.Token)
	must(t, err)
	_, err = r.RecordVerification(ctx, actor, "shop", "d", app.ActInput{})
	must(t, err)
	_, err = r.RevokeOperatorToken(ctx, ops, old.ID, "")
	must(t, err)
	renewed, err := r.CreateOperatorToken(ctx, ops, "first", "")
	must(t, err)
	actor, err = r.Authenticate(ctx, renewed.Token)
	must(t, err)
	_, err = r.ConfirmVerification(ctx, actor, "shop", "d", app.ActInput{})
	wantCode(t, "the same operator's next token", err, "second_operator")
}

// hooked calls a function in the middle of every look.
type hooked struct {
	looks int
	in    func()
}

func (p *hooked) Check(context.Context, proof.Challenge) (proof.Evidence, *proof.Failure) {
	p.looks++
	p.in()
	return proof.Evidence{Points: []proof.Point{}}, &proof.Failure{Code: proof.CodeNXDomain, Message: "no such name", Counts: true}
}

// Five failed looks an hour are five, however a look ends: a caller who hangs up, or who replaces the attempt meanwhile, gets no more of them.
func TestALookThatIsNotCommittedCounts(t *testing.T) {
	for name, disturb := range map[string]func(*testing.T, *app.Registry, context.CancelFunc){
		"hangs up": func(_ *testing.T, _ *app.Registry, cancel context.CancelFunc) { cancel() },
		"starts again": func(t *testing.T, r *app.Registry, _ context.CancelFunc) {
			_, err := r.StartProof(context.Background(), apptest.Operator(t, "ops"), "shop", "shop.example", proof.DNSTXT, "")
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := apptest.NewWorld(t)
			prover := &hooked{}
			o := w.Options()
			o.Prover = prover
			r, ops := app.New(o), apptest.Operator(t, "ops")
			newPublisher(t, w, "shop")
			_, err := r.StartProof(t.Context(), ops, "shop", "shop.example", proof.DNSTXT, "")
			must(t, err)
			for range 12 {
				ctx, cancel := context.WithCancel(t.Context())
				prover.in = func() { disturb(t, r, cancel) }
				_, err := r.CheckProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, "")
				if err == nil {
					t.Fatal("a disturbed check was committed")
				}
				cancel()
			}
			if prover.looks != 5 {
				t.Errorf("%d looks within an hour, want 5", prover.looks)
			}
			_, err = r.CheckProof(t.Context(), ops, "shop", "shop.example", proof.DNSTXT, "")
			wantCode(t, "afterwards", err, "proof_limit")
		})
	}
}

// Attempts stay as history and are read with every commit, so one publisher cannot make them without bound.
func TestAttemptsADay(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	newPublisher(t, w, "shop")
	newPublisher(t, w, "other")
	start := func(slug string, i int) error {
		_, err := r.StartProof(ctx, ops, slug, fmt.Sprintf("h%d.shop.example", i), proof.DNSTXT, "")
		return err
	}
	n := 0
	for ; n < 1000 && start("shop", n) == nil; n++ {
	}
	if n != 100 {
		t.Fatalf("%d attempts within a day, want 100", n)
	}
	wantCode(t, "one more", start("shop", n), "proof_limit")
	wantCode(t, "another publisher", start("other", 0), "")
	w.Move(t, 24*time.Hour)
	wantCode(t, "a day later", start("shop", n), "")
}

// After a commit that cannot be read back, what was served before is not served any more: it may be what the commit closed.
func TestACommitThatCannotBeReadBackIsWithheld(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	w.Publisher(t, "other")
	afterTheFirstCall := func() {
		calls := 0
		fail := func() error {
			if calls++; calls > 1 {
				return errors.New("no database")
			}
			return nil
		}
		w.Store.Fail.Store(&fail)
	}
	afterTheFirstCall()
	_, err := r.Suspend(ctx, ops, "shop", app.ActInput{Reason: "complaint"})
	must(t, err)
	for name, f := range map[string]func() error{
		"publication":  func() error { _, err := r.Publication(ctx, "shop"); return err },
		"manifest":     func() error { _, err := r.Manifest(ctx, "shop"); return err },
		"publications": func() error { _, err := r.Publications(ctx); return err },
	} {
		if err := f(); !errors.Is(err, bizhttp.ErrUnavailable) {
			t.Errorf("%s after a suspension: %v, want unavailable", name, err)
		}
	}
	if _, err := r.Publication(ctx, "other"); err != nil {
		t.Errorf("another publisher: %v", err)
	}
	w.Store.Fail.Store(nil)
	must(t, r.Refresh(ctx))
	if !publication(t, r, "shop").Standing.Suspended {
		t.Error("the next reading does not bring it back")
	}

	afterTheFirstCall()
	_, err = r.CreateOperatorToken(ctx, ops, "third", "")
	must(t, err)
	if _, err := r.RegistryRevocations(ctx); !errors.Is(err, bizhttp.ErrUnavailable) {
		t.Errorf("the registry's list after an act on the registry: %v, want unavailable", err)
	}
	w.Store.Fail.Store(nil)
	must(t, r.Refresh(ctx))
	_, err = r.RegistryRevocations(ctx)
	must(t, err)
}

// Texts of the trail are shown in terminals and pages: nothing in them moves the cursor, breaks the line or turns the direction.
func TestTextsOfTheTrailAreOneLine(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	for _, bad := range []string{"a\nb", "a\x1b[2Jb", "a\u009b2Jb", "a\u0085b", "a\u2028b", "a\u2029b", "a\u202eb", "a\u2066b", "a\x7f", "a\xff"} {
		_, err := r.Suspend(ctx, ops, "shop", app.ActInput{Reason: bad})
		wantCode(t, fmt.Sprintf("reason %q", bad), err, "invalid_reason")
		_, err = r.RecordVerification(ctx, ops, "shop", bad, app.ActInput{})
		wantCode(t, fmt.Sprintf("decision %q", bad), err, "invalid_decision")
		_, err = r.CreateToken(ctx, ops, "shop", bad, []string{"import"}, "")
		wantCode(t, fmt.Sprintf("name %q", bad), err, "invalid_name")
	}
	_, err := r.Suspend(ctx, ops, "shop", app.ActInput{Reason: "Beschwerde über Öffnungszeiten, 苦情"})
	wantCode(t, "other languages", err, "")
}

// Keys and revocations stay for ever, and readers take a key set or a list of at most 4 MiB. A token of the owner that leaked cannot fill them up.
func TestAnOwnerCannotFillKeySetAndList(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	owner, _ := w.Owner(t, "shop", app.ScopeKeys)
	n := 0
	for ; n < 1000; n++ {
		if _, err := r.RotateKey(ctx, owner, "shop", app.ActInput{}); err != nil {
			wantCode(t, "rotation", err, "key_limit")
			break
		}
	}
	if n == 0 || n > 20 {
		t.Errorf("%d rotations within a day", n)
	}
	_, err := r.RotateKey(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "an operator", err, "")
	w.Move(t, 24*time.Hour)
	_, err = r.RotateKey(ctx, owner, "shop", app.ActInput{})
	wantCode(t, "a day later", err, "")

	id := strings.Repeat("\U0001F600", 250) // 3,000 bytes in an entity key
	for n = 0; n < 3000; n++ {
		if _, err := r.RevokeEntity(ctx, owner, "shop", "service", fmt.Sprintf("%s%d", id, n), app.RevokeInput{Code: "error"}); err != nil {
			wantCode(t, "revocation", err, "list_limit")
			break
		}
	}
	list, err := r.PublisherRevocations(ctx, "shop")
	must(t, err)
	if len(list.Body) > business.MaxDocument || n < 300 {
		t.Errorf("the list has %d bytes after %d entries", len(list.Body), n)
	}
	_, err = r.RevokeEntity(ctx, ops, "shop", "service", "a", app.RevokeInput{Code: "error"})
	wantCode(t, "an operator revokes all the same", err, "")
}

// What is revoked with an operator's token, and what is not: the tokens of businesses that it made are theirs.
func TestRevokingAnOperatorLeavesTheOwnersTokens(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	first, err := r.CreateOperatorToken(ctx, ops, "first", "")
	must(t, err)
	operator, err := r.Authenticate(ctx, first.Token)
	must(t, err)
	made, err := r.CreateToken(ctx, operator, "shop", "shop", []string{app.ScopeImport}, "")
	must(t, err)
	child, err := r.CreateOperatorToken(ctx, operator, "child", "")
	must(t, err)
	_, err = r.RevokeOperatorToken(ctx, ops, first.ID, "")
	must(t, err)
	_, err = r.Authenticate(ctx, child.Token)
	wantCode(t, "an operator's token made with it", err, "unauthorized")
	_, err = r.Authenticate(ctx, made.Token)
	wantCode(t, "an owner's token made with it", err, "")
	views, err := r.Tokens(ctx, ops, "shop")
	must(t, err)
	if !slices.ContainsFunc(views, func(v app.TokenView) bool { return v.ID == made.ID && v.Parent == first.ID }) {
		t.Error("the list does not say which token made it")
	}
}

// A chain of tokens costs its length, not its square, for each token that is looked at.
func TestManyTokens(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	w.Publisher(t, "shop")
	owner, _ := w.Owner(t, "shop", app.ScopeImport)
	views, err := r.Tokens(ctx, owner, "shop")
	must(t, err)
	if len(views) != 1 {
		t.Fatalf("an owner sees %d tokens", len(views))
	}
	child, err := r.CreateToken(ctx, owner, "shop", "child", []string{app.ScopeImport}, "")
	must(t, err)
	actor, err := r.Authenticate(ctx, child.Token)
	must(t, err)
	_, err = r.RevokeToken(ctx, actor, "shop", views[0].ID, "")
	wantCode(t, "a child ends its maker", err, "unknown_token")
	_, err = r.RevokeToken(ctx, owner, "shop", views[0].ID, "")
	must(t, err)
	_, err = r.Authenticate(ctx, child.Token)
	wantCode(t, "the child of a revoked token", err, "unauthorized")
}

// The shape of what is refused as a path: no kid of a document or a store reaches the file system.
func TestKidsAreNoPaths(t *testing.T) {
	w := apptest.NewWorld(t)
	for _, kid := range []string{"", ".", "..", "../seal", "a/b", `a\b`, "a\x00", "A", "registry-1/../../seal", "a.key", strings.Repeat("a", 5000)} {
		if _, err := w.Keys.RegistrySigner(kid); err == nil {
			t.Errorf("kid %q opened a file", kid)
		}
		if _, err := w.Keys.PublisherSigner("shop", kid); err == nil {
			t.Errorf("kid %q opened a file", kid)
		}
	}
	for _, slug := range []string{"", "..", "../registry", "a/b", "A"} {
		if _, err := w.Keys.PublisherSigner(slug, jwk.EncodeBase64URL([]byte("x"))); err == nil {
			t.Errorf("slug %q opened a file", slug)
		}
		if _, err := w.Keys.NewPublisherKey(slug); err == nil {
			t.Errorf("slug %q made a folder", slug)
		}
	}
}
