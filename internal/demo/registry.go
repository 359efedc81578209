package demo

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/proof"
	"sayso/internal/proof/loopdns"
	"sayso/safefetch"
)

// Businesses are the sample publishers, in the order in which they are shown.
var Businesses = []string{"brightwater-opticians", "marina-dental", "hotel-alpenblick", "hammer-and-nail", "kessler-garage", "open-stores", "weekly-markets"}

const (
	// maker is the name of the first operator of a registry that a demonstration made, by which a later one knows it.
	maker = "demo"
	// decision is the id of the operator verification that stands behind every sample.
	decision = "demo"
	// guest begins the slugs of the publishers that the walk makes and withdraws.
	guest = "demo-shop"
)

// proven are the hosts that samples prove in the demonstration's own DNS.
var proven = map[string]string{"brightwater-opticians": "brightwater.example"}

// RegistryOptions say where the registry of the demonstration is kept and served. Data, Store and Site are required.
type RegistryOptions struct {
	Data  string
	Store app.Store
	Site  business.Site
	Log   *slog.Logger     // nil drops every line
	Now   func() time.Time // nil = time.Now
	// NewPassphrase seals the keys of a registry that is made now; empty leaves the sealing identity in the open.
	NewPassphrase []byte
	// Passphrase opens the keys of one that is there; nil means that there is none.
	Passphrase func() ([]byte, error)
}

// Registry is the registry of the demonstration with the DNS in which it looks for proofs. Close ends the latter.
type Registry struct {
	*app.Registry
	Root business.Root
	Pin  string // file with the root's public half

	dns           *loopdns.Server
	first, second app.Actor
}

// OpenRegistry opens the registry of a data folder, or makes it. One with publishers that no demonstration made is refused: its businesses are real.
func OpenRegistry(ctx context.Context, o RegistryOptions) (_ *Registry, err error) {
	r := &Registry{Pin: filepath.Join(o.Data, app.PinFile)}
	if err := setAside(o.Data, o.Passphrase); err != nil {
		return nil, err
	}
	if !exists(r.Pin) {
		in := app.InitInput{Data: o.Data, Passphrase: o.NewPassphrase, RootPassphrase: o.NewPassphrase, Operator: maker, Now: time.Now()}
		if _, err := app.Init(ctx, o.Store, in); err != nil {
			return nil, err
		}
	}
	keys, err := app.OpenKeys(o.Data, o.Passphrase)
	if err != nil {
		return nil, err
	}
	if r.first, err = app.Machine(maker); err != nil {
		return nil, err
	}
	if r.second, err = app.Machine(maker + "-second"); err != nil {
		return nil, err
	}
	if r.dns, err = loopdns.Start(); err != nil {
		return nil, err
	}
	// The names of the samples end in .example, which stands in no public DNS and may therefore be proven here.
	refused := slices.DeleteFunc(proof.SpecialTLDs(), func(tld string) bool { return tld == "example" })
	r.Root = keys.Root()
	r.Registry = app.New(app.Options{
		Store: o.Store, Keys: keys, Site: o.Site, Log: o.Log, Now: o.Now, Data: o.Data, RefusedTLDs: refused,
		Prover: &proof.Checker{
			Resolvers: []proof.Resolver{{Address: r.dns.Addr()}}, RefusedTLDs: refused, Loopback: &proof.Loopback{OneResolver: true},
		},
	})
	if err := r.ours(ctx, o.Data); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the DNS of the demonstration. The store is the caller's.
func (r *Registry) Close() error { return r.dns.Close() }

// ours refuses a registry that holds publishers and whose first operator is not a demonstration.
func (r *Registry) ours(ctx context.Context, data string) error {
	tokens, err := r.OperatorTokens(ctx, r.first)
	if err != nil || slices.ContainsFunc(tokens, func(t app.TokenView) bool { return t.Name == maker }) {
		return err
	}
	publishers, err := r.ListPublishers(ctx, r.first, "", 1)
	if err != nil || len(publishers) == 0 {
		return err
	}
	return &app.Error{
		Kind: app.KindRefused, Code: "not_a_demonstration", Message: data + " holds a registry with publishers that no demonstration made",
		Next: "name another folder with --data",
	}
}

// Fill makes the sample publishers that are missing, each from the folder of its name below samples, and finishes those that an interrupted demonstration
// left in state draft. What else became of a publisher in a kept folder stays. step is called after each; made counts those that were worked on. Afterwards all
// of it can be read.
func (r *Registry) Fill(ctx context.Context, samples fs.FS, slugs []string, step func()) (made int, err error) {
	for _, slug := range slugs {
		files, err := fs.Sub(samples, slug)
		if err != nil {
			return made, err
		}
		was, err := r.sample(ctx, files, slug)
		if err != nil {
			return made, fmt.Errorf("sample %s: %w", slug, err)
		}
		if was {
			made++
		}
		step()
	}
	return made, r.Refresh(ctx)
}

func (r *Registry) sample(ctx context.Context, files fs.FS, slug string) (made bool, err error) {
	d, err := r.Publisher(ctx, r.first, slug)
	if err != nil && app.AsError(err).Kind == app.KindNotFound {
		// The import brings the name.
		if _, err = r.CreatePublisher(ctx, r.first, app.CreateInput{Slug: slug, Name: slug, Delegated: true}); err == nil {
			d, err = r.Publisher(ctx, r.first, slug)
		}
	}
	if err != nil {
		return false, err
	}
	if d.Lifecycle == business.Draft {
		if err := r.introduce(ctx, files, d); err != nil {
			return false, err
		}
		made = true
	}
	if host := proven[slug]; host != "" && d.Lifecycle != business.Withdrawn {
		if err := r.prove(ctx, slug, host); err != nil {
			return made, err
		}
	}
	return made, r.route(ctx, d)
}

// introduce imports a draft, has two operators verify it and publishes it.
func (r *Registry) introduce(ctx context.Context, files fs.FS, d *app.PublisherDetails) error {
	bundle, err := app.OpenBundle(files)
	if err != nil {
		return err
	}
	if result, err := r.Import(ctx, r.first, d.Slug, app.ImportInput{Bundle: bundle}); err != nil {
		if result != nil && len(result.Problems) > 0 {
			return fmt.Errorf("%w: %v", err, result.Problems[0])
		}
		return err
	}
	known := slices.IndexFunc(d.Decisions, func(v app.DecisionView) bool { return v.Decision == decision })
	if known < 0 {
		if _, err := r.RecordVerification(ctx, r.first, d.Slug, decision, app.ActInput{}); err != nil {
			return err
		}
	}
	if known < 0 || d.Decisions[known].ConfirmedAt.IsZero() {
		if _, err := r.ConfirmVerification(ctx, r.second, d.Slug, decision, app.ActInput{}); err != nil {
			return err
		}
	}
	_, err = r.Publish(ctx, r.first, d.Slug, app.ActInput{})
	return err
}

// prove proves a host in the demonstration's DNS, unless the proof of an earlier run stands and need not be looked at again: that DNS ended with it.
func (r *Registry) prove(ctx context.Context, slug, host string) error {
	views, err := r.Proofs(ctx, r.first, slug)
	if err != nil || slices.ContainsFunc(views, func(p app.ProofView) bool {
		return p.Host == host && p.State == proof.Proven && p.NextCheck.After(r.Now().Add(24*time.Hour))
	}) {
		return err
	}
	start, err := r.StartProof(ctx, r.first, slug, host, proof.DNSTXT, "")
	if err != nil {
		return err
	}
	if err := r.PutTXT(start.Place, start.Value); err != nil {
		return err
	}
	result, err := r.CheckProof(ctx, r.first, slug, host, proof.DNSTXT, "")
	if err == nil && !result.Proven {
		err = fmt.Errorf("%s is not proven: %s", host, result.Message)
	}
	return err
}

// route lets SLUG.localhost reach a publisher, where the registry itself is reached on this machine alone.
func (r *Registry) route(ctx context.Context, d *app.PublisherDetails) error {
	host := d.Slug + ".localhost"
	if safefetch.LoopbackOf(r.Site().Origin) == "" || d.Lifecycle == business.Withdrawn || slices.Contains(d.Hosts, host) {
		return nil
	}
	_, err := r.SetHost(ctx, r.first, d.Slug, host, "")
	return err
}

// PutTXT puts a TXT record into the demonstration's DNS, as the owner of a domain would.
func (r *Registry) PutTXT(name, value string) error {
	return r.dns.Put(fmt.Sprintf("%s. 60 IN TXT %q", name, value))
}

// Guest is the slug of the publisher that a walk makes. Slugs are never used again and a walk withdraws its publisher at the end, so each walk over a kept
// folder needs the next one.
func (r *Registry) Guest(ctx context.Context) (string, error) {
	for n, slug := 2, guest; ; n, slug = n+1, fmt.Sprintf("%s-%d", guest, n) {
		_, err := r.Publisher(ctx, r.first, slug)
		if err != nil && app.AsError(err).Kind == app.KindNotFound {
			return slug, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// LendToken makes an operator's token for a walk; the function takes it back.
func (r *Registry) LendToken(ctx context.Context) (token string, back func() error, err error) {
	made, err := r.CreateOperatorToken(ctx, r.first, "walk", "")
	if err != nil {
		return "", nil, err
	}
	return made.Token, func() error {
		_, err := r.RevokeOperatorToken(context.WithoutCancel(ctx), r.first, made.ID, "")
		return err
	}, nil
}

// Locators are the addresses of a publisher. They are read anew: before a server runs nobody polls the heads, and making the figures may have taken longer
// than a registry takes what it has read for good.
func (r *Registry) Locators(ctx context.Context, slug string) (business.Endpoints, error) {
	if err := r.Refresh(ctx); err != nil {
		return business.Endpoints{}, err
	}
	p, err := r.Publication(ctx, slug)
	if err != nil {
		return business.Endpoints{}, err
	}
	return r.Site().Locators(p), nil
}
