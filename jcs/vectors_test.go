package jcs_test

import (
	"math"
	"strconv"
	"testing"

	"sayso/jcs"
	"sayso/vectors"
)

func TestNumberVectors(t *testing.T) {
	for _, v := range vectors.Numbers() {
		bits, err := strconv.ParseUint(v.Bits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		f := math.Float64frombits(bits)
		if v.Class != vectors.Valid {
			if !math.IsNaN(f) && !math.IsInf(f, 0) {
				t.Errorf("%s: %v is finite", v.Name, f)
			}
			continue
		}
		if got := string(jcs.AppendNumber(nil, f)); got != *v.Text {
			t.Errorf("%s: %s, want %s", v.Name, got, *v.Text)
		}
	}
}

func TestClaimVectors(t *testing.T) {
	for _, v := range vectors.Claims() {
		got, err := jcs.Canonical([]byte(v.Claim))
		if v.Class != vectors.Valid {
			if string(kindOf(t, err)) != v.Class {
				t.Errorf("%s: %s %v, want %s", v.Name, got, err, v.Class)
			}
			continue
		}
		if err != nil || string(got) != v.Canonical {
			t.Errorf("%s:\n got %s %v\nwant %s", v.Name, got, err, v.Canonical)
		}
	}
	for _, v := range vectors.Attestations() {
		got, err := jcs.Canonical(v.Attestation)
		if err != nil || string(got) != v.Canonical {
			t.Errorf("%s:\n got %s %v\nwant %s", v.Name, got, err, v.Canonical)
		}
	}
}
