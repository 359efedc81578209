package app_test

import (
	"bytes"
	"iter"
	"strings"
	"testing"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/app/apptest"
	"sayso/internal/proof"
)

const canary = "CANARY"

// TestXPIDENTITY006CanaryNeverReachesAPublicByte puts the canary into everything that is the registry's own business and looks for it in everything that is
// served, in every state of a publisher.
func TestXPIDENTITY006CanaryNeverReachesAPublicByte(t *testing.T) {
	w := apptest.NewWorld(t)
	ctx, r := t.Context(), w.Registry
	ops, second := apptest.Operator(t, canary+"-ops"), apptest.Operator(t, canary+"-second")
	in := app.ActInput{Reason: canary + " reason"}
	_, err := r.CreatePublisher(ctx, ops, app.CreateInput{
		Slug: "shop", Name: "Shop", Region: "GB", Delegated: true, Account: []byte(`{"email":"CANARY@shop.example","phone":"CANARY"}`), Operation: canary,
	})
	must(t, err)
	_, err = r.Import(ctx, ops, "shop", app.ImportInput{Bundle: records(line("a", "A")), Operation: canary + "2"})
	must(t, err)
	_, err = r.RecordVerification(ctx, ops, "shop", canary+" decision", in)
	must(t, err)
	_, err = r.ConfirmVerification(ctx, second, "shop", canary+" decision", in)
	must(t, err)
	start, err := r.StartProof(ctx, ops, "shop", "shop.example", proof.DNSTXT, canary)
	must(t, err)
	token, err := r.CreateToken(ctx, ops, "shop", canary+" token", []string{app.ScopeImport}, canary)
	must(t, err)
	_, err = r.RevokeEntity(ctx, ops, "shop", "service", "gone", app.RevokeInput{Code: "error", Note: canary + " note"})
	must(t, err)
	secrets := []string{canary, token.Token, token.ID, start.Value, start.ID, w.Init.OperatorToken, w.Init.TokenID}

	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"draft", func() error { return nil }},
		{"published", func() error { _, err := r.Publish(ctx, ops, "shop", in); return err }},
		{"paused", func() error { _, err := r.Pause(ctx, ops, "shop", in); return err }},
		{"suspended", func() error { _, err := r.Suspend(ctx, ops, "shop", in); return err }},
		{"withdrawn", func() error { _, err := r.Withdraw(ctx, ops, "shop", "", in); return err }},
	} {
		must(t, step.do())
		for name, text := range public(t, r, "shop") {
			for _, secret := range secrets {
				if bytes.Contains(text, []byte(secret)) {
					t.Errorf("%s: %s holds %s: %s", step.name, name, secret, text)
				}
			}
		}
	}
	// The trail does hold them, so the test looks for something that is there.
	rows, err := r.Audit(ctx, ops, "shop", 0, 0)
	must(t, err)
	if len(rows) == 0 || !strings.Contains(rows[0].Actor, canary) {
		t.Error("the canary was not planted")
	}
}

// public is every byte that is served about a publisher.
func public(t *testing.T, r *app.Registry, slug string) map[string][]byte {
	t.Helper()
	ctx, now := t.Context(), r.Now()
	p := publication(t, r, slug)
	out := map[string][]byte{"registry.json": p.RegistryDocument(r.Site(), now)}
	manifest, err := r.Manifest(ctx, slug)
	must(t, err)
	jwks, err := r.PublisherKeys(ctx, slug)
	must(t, err)
	list, err := r.PublisherRevocations(ctx, slug)
	must(t, err)
	registryList, err := r.RegistryRevocations(ctx)
	must(t, err)
	keys, err := r.RegistryKeys(ctx)
	must(t, err)
	out["manifest"], out["jwks"], out["list"], out["registry list"], out["registry keys"] = manifest.Body, jwks.Body, list.Body, registryList.Body, keys.Body
	must(t, r.Dump(ctx, slug, func(p *business.Publication, seq iter.Seq2[*business.Record, error]) error {
		text := p.DumpMeta(r.Site(), now)
		for rec, err := range seq {
			if err != nil {
				return err
			}
			text = business.AppendRecordLine(text, r.Site(), p, rec)
		}
		out["dump"] = text
		return nil
	}))
	all, err := r.Publications(ctx)
	must(t, err)
	out["discovery"] = business.DiscoveryDocument(r.Site(), all, now)
	return out
}
