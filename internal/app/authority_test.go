package app_test

import (
	"slices"
	"strings"
	"testing"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
)

// calls does every operation once for a publisher, with input that gets past the checks of form. An operation without a row here fails the matrix test.
func calls(w *apptest.World, slug string) map[app.Operation]func(*testing.T, app.Actor) error {
	r := w.Registry
	in := app.ActInput{Reason: "why"}
	revoke := app.RevokeInput{Code: "error"}
	digest := strings.Repeat("A", 43)
	second := func(_ any, err error) error { return err }
	return map[app.Operation]func(*testing.T, app.Actor) error{
		app.OpCreatePublisher: func(t *testing.T, a app.Actor) error {
			return second(r.CreatePublisher(t.Context(), a, app.CreateInput{Slug: slug, Name: "x"}))
		},
		app.OpImport: func(t *testing.T, a app.Actor) error {
			return second(r.Import(t.Context(), a, slug, app.ImportInput{Bundle: records(line("a", "A"))}))
		},
		app.OpSetProfile: func(t *testing.T, a app.Actor) error {
			_, _, err := r.SetProfile(t.Context(), a, slug, []byte(`{"display_name":"x"}`), "")
			return err
		},
		app.OpSetSchema: func(t *testing.T, a app.Actor) error {
			return second(r.SetSchema(t.Context(), a, slug, []byte(`{}`), ""))
		},
		app.OpSetLocations: func(t *testing.T, a app.Actor) error {
			_, _, err := r.SetLocations(t.Context(), a, slug, []byte(`[]`), "")
			return err
		},
		app.OpSetCalendar: func(t *testing.T, a app.Actor) error {
			return second(r.SetCalendar(t.Context(), a, slug, nil, ""))
		},
		app.OpPushReadings: func(t *testing.T, a app.Actor) error {
			return second(r.PushReading(t.Context(), a, slug, app.ReadingInput{Stream: "none"}, ""))
		},
		app.OpReadReadings: func(t *testing.T, a app.Actor) error {
			_, _, err := r.Readings(t.Context(), a, slug, "")
			return err
		},
		app.OpStartProof: func(t *testing.T, a app.Actor) error {
			return second(r.StartProof(t.Context(), a, slug, "shop.example.com", "dns_txt", ""))
		},
		app.OpCheckProof: func(t *testing.T, a app.Actor) error {
			return second(r.CheckProof(t.Context(), a, slug, "shop.example.com", "dns_txt", ""))
		},
		app.OpRecordVerification: func(t *testing.T, a app.Actor) error {
			return second(r.RecordVerification(t.Context(), a, slug, "d", in))
		},
		app.OpConfirmVerification: func(t *testing.T, a app.Actor) error {
			return second(r.ConfirmVerification(t.Context(), a, slug, "d", in))
		},
		app.OpRejectVerification: func(t *testing.T, a app.Actor) error {
			return second(r.WithdrawVerification(t.Context(), a, slug, "d", in))
		},
		app.OpPublish:           func(t *testing.T, a app.Actor) error { return second(r.Publish(t.Context(), a, slug, in)) },
		app.OpPause:             func(t *testing.T, a app.Actor) error { return second(r.Pause(t.Context(), a, slug, in)) },
		app.OpResume:            func(t *testing.T, a app.Actor) error { return second(r.Resume(t.Context(), a, slug, in)) },
		app.OpSuspend:           func(t *testing.T, a app.Actor) error { return second(r.Suspend(t.Context(), a, slug, in)) },
		app.OpUnsuspend:         func(t *testing.T, a app.Actor) error { return second(r.Unsuspend(t.Context(), a, slug, in)) },
		app.OpRequestWithdrawal: func(t *testing.T, a app.Actor) error { return second(r.Withdraw(t.Context(), a, slug, "", in)) },
		app.OpWithdraw:          func(t *testing.T, a app.Actor) error { return second(r.Withdraw(t.Context(), a, slug, "", in)) },
		app.OpRotateKey:         func(t *testing.T, a app.Actor) error { return second(r.RotateKey(t.Context(), a, slug, in)) },
		app.OpRevokeKey:         func(t *testing.T, a app.Actor) error { return second(r.RevokeKey(t.Context(), a, slug, "", revoke)) },
		app.OpRevokeEntity: func(t *testing.T, a app.Actor) error {
			return second(r.RevokeEntity(t.Context(), a, slug, "service", "a", revoke))
		},
		app.OpRevokeDigest: func(t *testing.T, a app.Actor) error {
			return second(r.RevokeDigest(t.Context(), a, slug, digest, revoke))
		},
		app.OpCreateToken: func(t *testing.T, a app.Actor) error {
			return second(r.CreateToken(t.Context(), a, slug, "x", []string{app.ScopeLive}, ""))
		},
		app.OpRevokeToken: func(t *testing.T, a app.Actor) error {
			return second(r.RevokeToken(t.Context(), a, slug, "t-none", ""))
		},
		app.OpCreateOperatorToken: func(t *testing.T, a app.Actor) error {
			return second(r.CreateOperatorToken(t.Context(), a, "x", ""))
		},
		app.OpRevokeOperatorToken: func(t *testing.T, a app.Actor) error {
			return second(r.RevokeOperatorToken(t.Context(), a, "t-none", ""))
		},
		app.OpDelegate: func(t *testing.T, a app.Actor) error { return second(r.Delegate(t.Context(), a, slug, true, "")) },
		app.OpSetQuota: func(t *testing.T, a app.Actor) error {
			return second(r.SetQuota(t.Context(), a, slug, app.Quota{}, ""))
		},
		app.OpSetHost: func(t *testing.T, a app.Actor) error {
			return second(r.SetHost(t.Context(), a, slug, "a.localhost", ""))
		},
		app.OpRemoveHost: func(t *testing.T, a app.Actor) error {
			return second(r.RemoveHost(t.Context(), a, slug, "b.localhost", ""))
		},
		app.OpPrepareRegistryKey: func(t *testing.T, a app.Actor) error {
			return second(r.PrepareRegistryKey(t.Context(), a, ""))
		},
		app.OpInstallRegistryKey: func(t *testing.T, a app.Actor) error {
			return second(r.InstallRegistryKey(t.Context(), a, business.RegistryKey{}, ""))
		},
		app.OpRevokeRegistryKey: func(t *testing.T, a app.Actor) error {
			return second(r.RevokeRegistryKey(t.Context(), a, business.RevocationEntry{}, ""))
		},
		app.OpListPublishers: func(t *testing.T, a app.Actor) error { return second(r.ListPublishers(t.Context(), a, "", 1)) },
		app.OpReadPublisher:  func(t *testing.T, a app.Actor) error { return second(r.Publisher(t.Context(), a, slug)) },
		app.OpLint:           func(t *testing.T, a app.Actor) error { return second(r.Lint(t.Context(), a, slug)) },
		app.OpCoverage: func(t *testing.T, a app.Actor) error {
			return second(r.Coverage(t.Context(), a, slug, []app.CoverageQuestion{{Query: "x"}}))
		},
		app.OpReadAudit:          func(t *testing.T, a app.Actor) error { return second(r.Audit(t.Context(), a, slug, 0, 1)) },
		app.OpReadRegistryAudit:  func(t *testing.T, a app.Actor) error { return second(r.RegistryAudit(t.Context(), a, 0, 1)) },
		app.OpReadTokens:         func(t *testing.T, a app.Actor) error { return second(r.Tokens(t.Context(), a, slug)) },
		app.OpReadOperatorTokens: func(t *testing.T, a app.Actor) error { return second(r.OperatorTokens(t.Context(), a)) },
		app.OpReadProofs:         func(t *testing.T, a app.Actor) error { return second(r.Proofs(t.Context(), a, slug)) },
		app.OpReadKeys:           func(t *testing.T, a app.Actor) error { return second(r.Keys(t.Context(), a, slug)) },
		app.OpReadRegistryKeys:   func(t *testing.T, a app.Actor) error { return second(r.RegistryKeyList(t.Context(), a)) },
	}
}

// denials are the codes that mean: you may not.
var denials = []string{"unauthorized", "owner_only", "operator_only", "scope_missing", "not_delegated"}

// TestAuthorisationMatrix does every operation as every kind of actor and compares who was let in with app.Rules.
func TestAuthorisationMatrix(t *testing.T) {
	w := apptest.NewWorld(t)
	ops := apptest.Operator(t, "ops")
	w.Publisher(t, "a")
	w.Publisher(t, "b")
	_, err := w.Registry.CreatePublisher(t.Context(), ops, app.CreateInput{Slug: "closed", Name: "x"}) // nothing delegated
	must(t, err)
	byToken, err := w.Registry.Authenticate(t.Context(), w.Init.OperatorToken)
	must(t, err)
	type who struct {
		name  string
		actor app.Actor
		slug  string
		may   func(app.Rule) bool
	}
	everybody := []who{
		{"nobody", app.Actor{}, "a", func(app.Rule) bool { return false }},
		{"operator on the machine", ops, "a", func(r app.Rule) bool { return r.Operator != app.Never }},
		{"operator by token", byToken, "a", func(r app.Rule) bool { return r.Operator != app.Never && r.Operator != app.Local }},
		{"operator on the machine, nothing delegated", ops, "closed", func(r app.Rule) bool {
			return r.Operator != app.Never && (r.Registry || r.Operator != app.Local && r.Operator != app.Delegated)
		}},
	}
	for _, scope := range app.Scopes {
		a, _ := w.Owner(t, "a", scope)
		b, _ := w.Owner(t, "b", scope)
		everybody = append(everybody,
			who{"owner " + scope, a, "a", func(r app.Rule) bool { return !r.Registry && (r.Owner == scope || r.Owner == app.ScopeAny) }},
			who{"owner of another publisher " + scope, b, "a", func(app.Rule) bool { return false }},
			who{"owner, unknown publisher " + scope, a, "nobody-here", func(app.Rule) bool { return false }})
	}
	seen := map[app.Operation]bool{}
	for _, rule := range app.Rules {
		if seen[rule.Operation] {
			t.Errorf("%s stands twice", rule.Operation)
		}
		seen[rule.Operation] = true
	}
	for _, x := range everybody {
		table := calls(w, x.slug)
		for op := range table {
			if !seen[op] {
				t.Errorf("%s has no rule", op)
			}
		}
		for _, rule := range app.Rules {
			// One method is two operations: an owner asks, an operator completes. TestWithdraw has the second.
			if (rule.Operation == app.OpWithdraw || rule.Operation == app.OpRequestWithdrawal) && x.actor.Operator() ||
				rule.Operation == app.OpWithdraw && x.actor.Publisher() != "" {
				continue
			}
			call := table[rule.Operation]
			if call == nil {
				t.Fatalf("%s has no call in this test", rule.Operation)
			}
			t.Run(x.name+"/"+string(rule.Operation), func(t *testing.T) {
				got := code(t, call(t, x.actor))
				if denied := slices.Contains(denials, got); denied == x.may(rule) && !(rule.Operation == app.OpCreateToken && got == "scope_missing") {
					t.Errorf("answer %q, rule %+v", got, rule)
				}
				if x.actor.Publisher() != "" && x.actor.Publisher() != x.slug && got != "unauthorized" {
					t.Errorf("another tenant learns %q", got)
				}
			})
		}
	}
}

func TestOwnersCannotTellWhetherAnotherPublisherExists(t *testing.T) {
	w := apptest.NewWorld(t)
	w.Publisher(t, "a")
	w.Publisher(t, "b")
	a, _ := w.Owner(t, "a", app.Scopes...)
	_, exists := w.Registry.Publisher(t.Context(), a, "b")
	_, missing := w.Registry.Publisher(t.Context(), a, "c")
	if exists == nil || missing == nil || exists.Error() != missing.Error() || code(t, exists) != code(t, missing) {
		t.Errorf("%v, %v", exists, missing)
	}
}

func TestTokens(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	owner, bearer := w.Owner(t, "shop", app.ScopeImport, app.ScopeLive)
	_, err := r.CreateToken(ctx, owner, "shop", "x", []string{app.ScopeKeys}, "")
	wantCode(t, "more scopes than its own", err, "scope_missing")
	for _, scopes := range [][]string{nil, {"root"}, {app.ScopeAny}, {""}} {
		_, err = r.CreateToken(ctx, ops, "shop", "x", scopes, "")
		wantCode(t, strings.Join(scopes, ","), err, "invalid_scope")
	}
	sub, err := r.CreateToken(ctx, owner, "shop", "sub", []string{app.ScopeLive, app.ScopeLive}, "")
	must(t, err)
	child, err := r.Authenticate(ctx, sub.Token)
	must(t, err)
	subsub, err := r.CreateToken(ctx, child, "shop", "subsub", []string{app.ScopeLive}, "")
	must(t, err)
	stranger, _ := w.Owner(t, "shop", app.ScopeLive)

	if list, err := r.Tokens(ctx, child, "shop"); err != nil || len(list) != 2 {
		t.Errorf("a token sees %+v, %v", list, err)
	}
	_, err = r.RevokeToken(ctx, stranger, "shop", sub.ID, "")
	wantCode(t, "a token of somebody else", err, "unknown_token")
	_, err = r.RevokeToken(ctx, child, "shop", owner.String()[len("owner "):], "")
	wantCode(t, "the parent", err, "unknown_token")
	if err := r.Owner(ctx, bearer, "shop"); err != nil {
		t.Errorf("own credential: %v", err)
	}
	_, err = r.RevokeToken(ctx, ops, "shop", owner.String()[len("owner "):], "")
	must(t, err)
	for _, dead := range []string{bearer, sub.Token, subsub.Token, "", "x", bearer + "x", bearer[:20]} {
		_, err := r.Authenticate(ctx, dead)
		wantCode(t, "dead token", err, "unauthorized")
		if r.Owner(ctx, dead, "shop") == nil {
			t.Error("a dead token is an owner's")
		}
	}
	// An actor that was authenticated before the revocation does not outlive it.
	_, err = r.Import(ctx, owner, "shop", app.ImportInput{Bundle: records(line("a", "A"))})
	wantCode(t, "act after revocation", err, "unauthorized")
	_, err = r.Tokens(ctx, owner, "shop")
	wantCode(t, "read after revocation", err, "unauthorized")
	if r.Owner(ctx, w.Init.OperatorToken, "shop") == nil {
		t.Error("an operator's token is no credential of a publisher")
	}

	must(t, func() error { _, err := r.SetQuota(ctx, ops, "shop", app.Quota{Tokens: 2}, ""); return err }())
	_, err = r.CreateToken(ctx, ops, "shop", "x", []string{app.ScopeLive}, "")
	must(t, err)
	_, err = r.CreateToken(ctx, ops, "shop", "x", []string{app.ScopeLive}, "")
	wantCode(t, "quota", err, "token_quota")
}

func TestOperatorTokens(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	first, err := r.Authenticate(ctx, w.Init.OperatorToken)
	must(t, err)
	made, err := r.CreateOperatorToken(ctx, first, "second", "")
	must(t, err)
	_, err = r.RevokeOperatorToken(ctx, apptest.Operator(t, "ops"), w.Init.TokenID, "")
	must(t, err)
	for _, token := range []string{made.Token, w.Init.OperatorToken} {
		_, err = r.Authenticate(ctx, token)
		wantCode(t, "revoked with what it made", err, "unauthorized")
	}
	_, err = app.Machine("t-0123456789abcdef")
	wantCode(t, "a label that looks like a token", err, "invalid_operator")
}

func TestDelegation(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, ops, r := t.Context(), apptest.Operator(t, "ops"), w.Registry
	w.Publisher(t, "shop")
	owner, _ := w.Owner(t, "shop", app.ScopeImport)
	put := func() error {
		_, err := r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line("a", "A"))})
		return err
	}
	wantCode(t, "delegated", put(), "")
	_, err := r.Delegate(ctx, owner, "shop", false, "")
	must(t, err)
	wantCode(t, "taken back", put(), "not_delegated")
	_, err = r.Pause(ctx, ops, "shop", app.ActInput{})
	wantCode(t, "pause", err, "not_delegated")
	_, err = r.Delegate(ctx, owner, "shop", true, "")
	must(t, err)
	wantCode(t, "again", put(), "")
}
