package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sayso/business"
	"sayso/business/answer"
	"sayso/internal/app"
	"sayso/internal/store/postgres"
	"sayso/internal/store/sqlite"
)

// shop is the publisher whose records are measured, at the registry of this origin.
const (
	shop   = "harbour-optics"
	origin = "https://registry.example"
)

// registryOf is a registry in a data folder of its own, over SQLite or, with the address of a database, over PostgreSQL.
type registryOf struct {
	*app.Registry
	data  string
	store app.Store
	actor app.Actor
}

func openRegistry(ctx context.Context, data, database string) (*registryOf, error) {
	var store app.Store
	var err error
	if database != "" {
		store, err = postgres.Open(ctx, database)
	} else {
		store, err = sqlite.Open(ctx, filepath.Join(data, "sayso.db"))
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(data, app.PinFile)); err != nil {
		if _, err := app.Init(ctx, store, app.InitInput{Data: data, Operator: "bench", Now: time.Now()}); err != nil {
			return nil, err
		}
	}
	keys, err := app.OpenKeys(data, nil)
	if err != nil {
		return nil, err
	}
	actor, err := app.Machine("bench")
	if err != nil {
		return nil, err
	}
	site := business.Site{Origin: origin, ServerVersion: "0.0.0", ToolsServed: true, InputSchema: answer.InputSchema}
	return &registryOf{Registry: app.New(app.Options{Store: store, Keys: keys, Site: site, Data: data}), data: data, store: store, actor: actor}, nil
}

// withRegistry runs f over a new registry and takes it away again.
func withRegistry(ctx context.Context, database string, f func(*registryOf) error) error {
	data, err := os.MkdirTemp("", "sayso-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	r, err := openRegistry(ctx, data, database)
	if err != nil {
		return err
	}
	defer r.store.Close()
	return f(r)
}

// establish makes a published publisher under the authority of two operators.
func (r *registryOf) establish(ctx context.Context, slug string) error {
	second, err := app.Machine("second")
	if err != nil {
		return err
	}
	if _, err := r.CreatePublisher(ctx, r.actor, app.CreateInput{Slug: slug, Name: "Harbour Optics", Region: "GB", Delegated: true}); err != nil {
		return err
	}
	if _, err := r.RecordVerification(ctx, r.actor, slug, "decision-1", app.ActInput{}); err != nil {
		return err
	}
	if _, err := r.ConfirmVerification(ctx, second, slug, "decision-1", app.ActInput{}); err != nil {
		return err
	}
	_, err = r.Publish(ctx, r.actor, slug, app.ActInput{})
	return err
}

// load imports a file of records in one generation.
func (r *registryOf) load(ctx context.Context, file string, records int) error {
	bundle, err := app.OpenRecords(os.DirFS(filepath.Dir(file)), filepath.Base(file))
	if err != nil {
		return err
	}
	return r.take(ctx, shop, bundle, records)
}

// take imports a bundle in one generation.
func (r *registryOf) take(ctx context.Context, slug string, bundle *app.Bundle, records int) error {
	result, err := r.Import(ctx, r.actor, slug, app.ImportInput{Bundle: bundle})
	if err == nil && (result.Written != records || result.Unchanged) {
		err = fmt.Errorf("%d records of %d were imported", result.Written, records)
	}
	return err
}

// recordFile writes n records of a business, about 850 bytes each, as records.jsonl.
func recordFile(dir string, n int) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("records-%d.jsonl", n))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	rnd := rand.New(rand.NewPCG(7, uint64(n)))
	for i := range n {
		kind := [...]string{"product", "service", "article"}[i%3]
		fmt.Fprintf(w, `{"id":"%s-%06d","type":%q,"title":"%s %d for “daily” use","summary":"What %s costs, how long it takes and whom it suits.","attributes":{"price":%d.%02d,"currency":"GBP","duration":"PT%dM"},`+
			`"aliases":["%s %d","no. %d"],"updated_at":"2026-%02d-%02dT08:30:00Z","content":%q}`+"\n",
			kind, i, kind, words(rnd, 3), i, words(rnd, 2), rnd.IntN(900), rnd.IntN(100), 5+rnd.IntN(90), words(rnd, 2), i, i, 1+rnd.IntN(9), 1+rnd.IntN(28), words(rnd, 65))
	}
	return path, w.Flush()
}

var vocabulary = strings.Fields("glass lens frame light weight clear thin bright hard soft near far reading driving sun coated tinted slim wide narrow left right pair single fitting test visit order repair")

func words(rnd *rand.Rand, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = vocabulary[rnd.IntN(len(vocabulary))]
	}
	return strings.Join(list, " ")
}

// storedRows are the records of the shop as the store keeps them.
func (r *registryOf) storedRows(ctx context.Context) (rows []app.RecordRow, err error) {
	err = r.store.View(ctx, func(rd app.Reader) error {
		rows = rows[:0]
		for row, err := range rd.Records(ctx, shop, "", "", "") {
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}
