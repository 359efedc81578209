package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing/fstest"
	"time"

	"sayso/business"
	"sayso/internal/app"
	"sayso/internal/store/postgres"
	"sayso/internal/store/sqlite"
)

// kind names an act as the audit trail does.
type kind = app.Operation

// chosen are the acts of a child, an act as often as it shall be met.
var chosen = []kind{
	app.OpImport, app.OpImport, app.OpImport, app.OpImport, app.OpPublish, app.OpPause, app.OpRotateKey, app.OpRotateKey,
	app.OpRevokeKey, app.OpRevokeKey, app.OpRevokeEntity, app.OpCreatePublisher,
}

// act is one line of the journal: everything that decides what the act does.
type act struct {
	number int // in the history of a data folder, from 1
	kind   kind
	slug   string
	seed   int // of what an import holds
}

// operation is the identity under which an act can be asked for again.
func (a act) operation() string { return fmt.Sprintf("act-%d", a.number) }

// shops are the publishers that every history begins with.
var shops = []string{"anchor", "beacon", "cove"}

// draw chooses the next act.
func draw(random *rand.Rand, number int) act {
	a := act{number: number, kind: chosen[random.IntN(len(chosen))], slug: shops[random.IntN(len(shops))], seed: random.IntN(12)}
	if a.kind == app.OpCreatePublisher {
		a.slug = fmt.Sprintf("new-%d", number)
	}
	return a
}

// merges reports whether an import keeps what it does not hold.
func (a act) merges() bool { return a.seed%3 == 0 }

// records are those of an import: id and title. Imports overlap, and an import whose seed was the last one changes nothing.
func (a act) records() map[string]string {
	out := map[string]string{}
	for i := range 4 + 7*a.seed {
		out[fmt.Sprintf("item-%03d", i+a.seed)] = fmt.Sprintf("Item %d of import %d", i, a.seed)
	}
	return out
}

// name is the display name that an import states.
func (a act) name() string { return fmt.Sprintf("%s of import %d", a.slug, a.seed) }

func (a act) bundle() (*app.Bundle, error) {
	var lines bytes.Buffer
	for id, title := range a.records() {
		fmt.Fprintf(&lines, `{"id":%q,"type":"product","title":%q,"content":%q}`+"\n", id, title, strings.Repeat(title+". ", 20))
	}
	return app.OpenBundle(fstest.MapFS{
		"publisher.json": {Data: fmt.Appendf(nil, `{"display_name":%q}`, a.name())},
		"records.jsonl":  {Data: lines.Bytes()},
	})
}

// perform runs an act on a registry.
func (a act) perform(ctx context.Context, r *app.Registry) (*app.Receipt, error) {
	first, err := app.Machine("first")
	if err != nil {
		return nil, err
	}
	second, err := app.Machine("second")
	if err != nil {
		return nil, err
	}
	in, revoke := app.ActInput{Operation: a.operation()}, app.RevokeInput{Code: "superseded", Operation: a.operation()}
	switch a.kind {
	case app.OpCreatePublisher:
		return r.CreatePublisher(ctx, first, app.CreateInput{Slug: a.slug, Name: a.slug, Delegated: true, Operation: a.operation()})
	case app.OpRecordVerification:
		return r.RecordVerification(ctx, first, a.slug, "decision", in)
	case app.OpConfirmVerification:
		return r.ConfirmVerification(ctx, second, a.slug, "decision", in)
	case app.OpImport:
		return a.load(ctx, r, first)
	case app.OpPublish:
		return r.Publish(ctx, first, a.slug, in)
	case app.OpPause:
		return r.Pause(ctx, first, a.slug, in)
	case app.OpRotateKey:
		return r.RotateKey(ctx, first, a.slug, in)
	case app.OpRevokeKey:
		return r.RevokeKey(ctx, first, a.slug, "", revoke)
	case app.OpRevokeEntity:
		return r.RevokeEntity(ctx, first, a.slug, "product", fmt.Sprint(a.seed), revoke)
	}
	return nil, fmt.Errorf("no act is called %s", a.kind)
}

func (a act) load(ctx context.Context, r *app.Registry, actor app.Actor) (*app.Receipt, error) {
	bundle, err := a.bundle()
	if err != nil {
		return nil, err
	}
	mode := app.ModeReplace
	if a.merges() {
		mode = app.ModeMerge
	}
	result, err := r.Import(ctx, actor, a.slug, app.ImportInput{Bundle: bundle, Mode: mode, Operation: a.operation()})
	if err != nil {
		return nil, err
	}
	return &result.Receipt, nil
}

// refused reports what the life cycle may say to an act that was drawn blindly.
func refused(err error) bool {
	var e *app.Error
	return errors.As(err, &e) && (e.Code == "already_published" || e.Code == "not_published")
}

// site is where the documents say that they are.
var site = business.Site{Origin: "https://registry.example", ServerVersion: "crash"}

// open opens the registry as the program does. database "" is the file of the data folder.
func open(ctx context.Context, data, database string) (*app.Registry, *app.KeyFiles, app.Store, error) {
	keys, err := app.OpenKeys(data, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	store, err := openStore(ctx, data, database)
	if err != nil {
		return nil, nil, nil, err
	}
	return app.New(app.Options{Store: store, Keys: keys, Site: site, Data: data, Poll: time.Hour}), keys, store, nil
}

func openStore(ctx context.Context, data, database string) (app.Store, error) {
	if database != "" {
		return postgres.Open(ctx, database)
	}
	return sqlite.Open(ctx, filepath.Join(data, "sayso.db"))
}

// initialise makes the registry.
func initialise(ctx context.Context, data, database string) error {
	store, err := openStore(ctx, data, database)
	if err != nil {
		return err
	}
	_, err = app.Init(ctx, store, app.InitInput{Data: data, Operator: "first", Now: time.Now()})
	return errors.Join(err, store.Close())
}
