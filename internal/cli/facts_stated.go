package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sayso/facts"
	"sayso/facts/dataset"
	"sayso/facts/factshttp"
	"sayso/jcs"
	"sayso/safefetch"
)

// statements is one side of a comparison: what a folder, a static site or an origin states today. An index gives hashes alone; claims are fetched for the
// keys that need them.
type statements struct {
	kind   string // folder | site | origin
	list   []dataset.Stated
	claims func(ctx context.Context, keys []string, done func()) (map[string]facts.Claim, error) // nil when list holds the claims
}

// readStatements opens one side: an http or https URL is an origin, a folder with a publisher.yaml is read as such, one with f/index.json is a site.
func (e *env) readStatements(where string) (*statements, error) {
	if strings.HasPrefix(where, "https://") || strings.HasPrefix(where, "http://") {
		return e.originStatements(where)
	}
	if holdsFigures(where) {
		folder, err := loadFolder(where)
		if err != nil {
			return nil, err
		}
		return &statements{kind: "folder", list: slices.Collect(dataset.StatedBy(folder, today()))}, nil
	}
	index, err := os.ReadFile(filepath.Join(where, "f", "index.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFoundError("%s holds neither a publisher.yaml nor a built site, and is no https origin", where)
	}
	if err != nil {
		return nil, err
	}
	return siteStatements(where, index)
}

// siteStatements reads the index of a site on disk. Records lie beside it, so every claim is at hand when it is needed.
func siteStatements(dir string, index []byte) (*statements, error) {
	var doc struct {
		Facts []struct {
			Key     string `json:"key"`
			Hash    string `json:"hash"`
			InForce *bool  `json:"inForce"`
		} `json:"facts"`
	}
	if err := jcs.Decode(index, &doc); err != nil {
		return nil, failedError("%s: %v", filepath.Join(dir, "f", "index.json"), err)
	}
	s := &statements{kind: "site"}
	for _, f := range doc.Facts {
		if err := facts.CheckKeyGrammar(f.Key); err != nil {
			return nil, failedError("%s: %v", filepath.Join(dir, "f", "index.json"), err)
		}
		if f.InForce == nil || *f.InForce {
			s.add(f.Key, f.Hash)
		}
	}
	s.claims = func(_ context.Context, keys []string, done func()) (map[string]facts.Claim, error) {
		out := map[string]facts.Claim{}
		for _, key := range keys {
			name := filepath.Join(dir, "f", filepath.FromSlash(key)+".json")
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			r, err := facts.ParseRecord(data)
			if err != nil {
				return nil, failedError("%s: %v", name, err)
			}
			out[key] = r.Claim()
			done()
		}
		return out, nil
	}
	return s, nil
}

// add enters a key of an index, whose claim is not known yet.
func (s *statements) add(key, hash string) {
	s.list = append(s.list, dataset.Stated{Claim: facts.Claim{Key: key}, Hash: hash})
}

// originStatements reads the index of a publisher. An origin on the own machine was typed by the user and may be asked over http.
func (e *env) originStatements(origin string) (*statements, error) {
	policy := safefetch.Policy{MaxBytes: 64 << 20, Timeout: 60 * time.Second, MaxRedirects: 3}
	client := factshttp.NewClient(origin, factshttp.ClientOptions{Fetch: safefetch.New(policy.WithLoopback(origin))})
	index, err := client.Index(e.ctx, "")
	if err != nil {
		return nil, originFailure(origin, err)
	}
	s := &statements{kind: "origin"}
	for _, f := range index.Entries {
		if f.InForce {
			s.add(f.Key, f.Hash)
		}
	}
	s.claims = func(ctx context.Context, keys []string, done func()) (map[string]facts.Claim, error) {
		out := map[string]facts.Claim{}
		for batch := range slices.Chunk(keys, facts.MaxBatch) {
			answer, err := client.Batch(ctx, batch, facts.Selection{MaxAge: facts.NoMaxAge})
			if err != nil {
				return nil, originFailure(origin, err)
			}
			for i, r := range answer.Results {
				if r.Record != nil && i < len(batch) {
					out[batch[i]] = r.Record.Claim()
				}
				done()
			}
		}
		return out, nil
	}
	return s, nil
}

// originFailure tells an origin that cannot be asked now from one that answers something else than the protocol.
func originFailure(origin string, err error) error {
	var fetch *safefetch.FetchError
	var status *factshttp.StatusError
	var address *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, safefetch.ErrRefused) && !errors.As(err, &fetch), errors.As(err, &address):
		return refusedError("%s: %v", origin, err)
	case errors.As(err, &fetch), errors.As(err, &status):
		return unavailableError("%s: %v", origin, err)
	}
	return failedError("%s: %v", origin, err)
}

// complete fetches the claims of the given keys.
func (s *statements) complete(ctx context.Context, keys map[string]bool, done func()) error {
	if s.claims == nil {
		return nil
	}
	var wanted []string
	for i := range s.list {
		if keys[s.list[i].Key] {
			wanted = append(wanted, s.list[i].Key)
		}
	}
	claims, err := s.claims(ctx, wanted, done)
	if err != nil {
		return err
	}
	for i := range s.list {
		if c, ok := claims[s.list[i].Key]; ok {
			s.list[i].Claim = c
		}
	}
	return nil
}
