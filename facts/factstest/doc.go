// Package factstest makes datasets for tests and benchmarks of the facts packages. Nothing in it is a statement about the world.
//
// [Sample] is a small hand-made dataset with one fact for every case the protocol distinguishes. [Generate] makes a dataset of any size from a seed: the same
// options give the same dataset, byte for byte. Both are signed with [Key], whose private half is public by construction.
package factstest

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"sync/atomic"

	"sayso/facts"
	"sayso/jwk"
	"sayso/jws"
)

// Kid names the test key.
const Kid = "zz-2026-01"

// Origin is the origin the publisher of both datasets states.
const Origin = "https://figures.example"

// Today is the day the datasets are written for: no value is verified after it.
var Today = Day("2026-11-29")

// Day parses a date and panics when it is none.
func Day(s string) facts.Date {
	d, err := facts.ParseDate(s)
	if err != nil {
		panic("factstest: " + err.Error())
	}
	return d
}

// Key returns the test key: derived from its kid, so that signatures never change.
var Key = sync.OnceValue(func() *jwk.PrivateKey {
	key, err := jwk.Generate(Kid, &stream{})
	if err != nil {
		panic("factstest: " + err.Error())
	}
	return key
})

// stream is a deterministic source of key material.
type stream struct{ block [sha256.Size]byte }

func (s *stream) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		s.block = sha256.Sum256(append([]byte(Kid), s.block[:]...))
		n += copy(p[n:], s.block[:])
	}
	return len(p), nil
}

// KeySet is the key set that lists the test key.
func KeySet() *jwk.Set {
	k := Key().Public()
	k.ValidFrom = "2026-01-01"
	return &jwk.Set{Keys: []jwk.Key{k}}
}

// Sign derives the open ends of older values, then signs every value with the test key and marks the dataset as signed.
func Sign(ds *facts.Dataset) {
	const block = 64
	ds.Keys, ds.Signed = KeySet(), true
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			var payload []byte
			for {
				lo := int(next.Add(block)) - block
				if lo >= len(ds.Facts) {
					return
				}
				for i := lo; i < min(lo+block, len(ds.Facts)); i++ {
					payload = signFact(ds.Publisher, &ds.Facts[i], payload)
				}
			}
		})
	}
	group.Wait()
}

func signFact(p facts.Publisher, f *facts.Fact, payload []byte) []byte {
	for i := range f.Values {
		v := &f.Values[i]
		if i > 0 && v.To.IsZero() {
			newer := &f.Values[i-1]
			v.To = max(newer.From, 1) - 1
			if newer.From.IsZero() {
				v.To = newer.Withdrawn - 1
			}
		}
		a := facts.Attest(p, f.Key, v)
		payload = a.AppendCanonical(payload[:0])
		v.Signature = &facts.Signature{Kid: Kid, JWS: jws.SignDetached(Key(), payload)}
	}
	return payload
}

// Snapshot compiles a dataset for [Origin], served at the level its signatures allow, and panics when it is refused.
func Snapshot(ds *facts.Dataset) *facts.Snapshot {
	level := "L2"
	if ds.Signed {
		level = "L3"
	}
	s, err := facts.NewSnapshot(ds, facts.Options{Origin: Origin, Conformance: level})
	if err != nil {
		panic("factstest: " + err.Error())
	}
	return s
}
