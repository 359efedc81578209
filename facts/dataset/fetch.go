package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Validators are what a source gave for conditional requests, from the last confirmation.
type Validators struct{ ETag, LastModified string }

// Page is what a source answered.
type Page struct {
	Status             int
	FinalURL           string // after redirects
	Body               []byte // empty with 304
	ETag, LastModified string
}

// Fetcher fetches a source: bounded, over https, refusing private addresses; package safefetch is the production one. A non-zero Validators makes the
// request conditional. Errors are failures to get an answer; any status is an answer.
type Fetcher interface {
	Fetch(ctx context.Context, url string, v Validators) (Page, error)
}

func bodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
