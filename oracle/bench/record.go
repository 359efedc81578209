package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	gowebpki "github.com/gowebpki/jcs"

	"sayso/facts"
	"sayso/facts/factstest"
	"sayso/jcs"
)

// measureVerify compares a whole verification with the one Ed25519 check in it.
func measureVerify(r *report, p *plan) error {
	s, record, err := example()
	if err != nil {
		return err
	}
	raw, err := rawVerify(s, record)
	if err != nil {
		return err
	}
	keys := facts.KeysOf(factstest.KeySet())
	both, err := alternate(p.short, perOperation(p.stretch, func() error { return verifyRecord(record, keys) }), perOperation(p.stretch, raw))
	if err != nil {
		return err
	}
	r.title("One record of %d bytes verified: parse, hash, signature, key, day; baseline: ed25519.Verify of the same signature", len(record))
	r.table("ours ms|baseline ms|ratio", fmt.Sprintf("%s|%s|%.3f", ms(median(both.ours)), ms(median(both.theirs)), both.ratio()))
	r.bound(line{name: "facts-verify", ratio: both.ratio(), bound: 1.5})
	return nil
}

// verifyRecord reads a record and verifies all of it.
func verifyRecord(record []byte, keys facts.KeySource) error {
	parsed, err := facts.ParseRecord(record)
	if err != nil {
		return err
	}
	v := facts.Verify(parsed, facts.VerifyOptions{Today: factstest.Today, MaxAge: 365, Keys: keys})
	if !v.OK(true) {
		return fmt.Errorf("the record does not verify: %+v", v)
	}
	return nil
}

// rawVerify is the Ed25519 check of the record's signature over its signing input (RFC 7515 section 5.1), both taken apart beforehand.
func rawVerify(s *facts.Snapshot, record []byte) (func() error, error) {
	parsed, err := facts.ParseRecord(record)
	if err != nil {
		return nil, err
	}
	fact, _, ok := s.History(parsed.Key)
	if !ok {
		return nil, errors.New("the snapshot does not hold the record")
	}
	attestation := facts.Attest(s.Info().Publisher, fact.Key, &fact.Values[0])
	header, tail, _ := strings.Cut(parsed.Signature.JWS, "..")
	input := []byte(header + "." + base64.RawURLEncoding.EncodeToString(attestation.AppendCanonical(nil)))
	signature, err := base64.RawURLEncoding.DecodeString(tail)
	if err != nil {
		return nil, err
	}
	public := factstest.Key().Public().Public
	return func() error {
		if !ed25519.Verify(public, input, signature) {
			return errors.New("the baseline does not verify the signature")
		}
		return nil
	}, nil
}

// measureJCS compares RFC 8785 writers on a record and on arrays of records.
func measureJCS(r *report, p *plan) error {
	_, record, err := example()
	if err != nil {
		return err
	}
	r.title("RFC 8785 form of a record and of arrays of 10 and 100; baseline: github.com/gowebpki/jcs")
	var rows []string
	var lines []line
	for _, d := range []struct {
		name  string
		count int
	}{{"1KB", 1}, {"10KB", 10}, {"100KB", 100}} {
		text := record
		if d.count > 1 {
			text = append(append([]byte{'['}, bytes.Join(slices.Repeat([][]byte{record}, d.count), []byte{','})...), ']')
		}
		if err := sameCanonical(text); err != nil {
			return err
		}
		both, err := alternate(p.short,
			perOperation(p.stretch, func() error { _, err := jcs.Canonical(text); return err }),
			perOperation(p.stretch, func() error { _, err := gowebpki.Transform(text); return err }))
		if err != nil {
			return err
		}
		faster := 1 / both.ratio()
		rows = append(rows, fmt.Sprintf("%d|%s|%s|%.3f", len(text), ms(median(both.ours)), ms(median(both.theirs)), faster))
		lines = append(lines, line{name: "jcs/" + d.name, ratio: faster, bound: 2, atLeast: true})
	}
	r.table("bytes|ours ms|baseline ms|times faster", rows...)
	for _, l := range lines {
		r.bound(l)
	}
	return nil
}

// sameCanonical reports whether both writers give the same bytes.
func sameCanonical(text []byte) error {
	ours, err := jcs.Canonical(text)
	if err != nil {
		return err
	}
	theirs, err := gowebpki.Transform(text)
	if err != nil {
		return err
	}
	if !bytes.Equal(ours, theirs) {
		return errors.New("the two canonical forms differ")
	}
	return nil
}
