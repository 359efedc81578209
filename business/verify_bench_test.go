package business_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"testing"
	"time"

	"sayso/business"
)

// rawVerifications are how many signatures one verification of an envelope checks: the root over two registry keys (one attests, one signs the lists), the
// attestation, the envelope and two lists.
const rawVerifications = 6

// BenchmarkVerifyEnvelope verifies an envelope with its whole chain and both lists, in turns with the bare signature checks it contains. The metric x-raw is the ratio of
// both in this run; 2 is the bound.
func BenchmarkVerifyEnvelope(b *testing.B) { benchmarkVerify(b, goodEvidence(), rawVerifications) }

// BenchmarkVerifyEnvelopeOneKey is the usual case: one registry key attests and signs the lists, so the root's signature is checked once.
func BenchmarkVerifyEnvelopeOneKey(b *testing.B) {
	e := goodEvidence()
	e.Revocations, e.PublisherList = fetched(signedList("", registry1, issuedAt)), fetched(signedList(slugA, registry1, issuedAt))
	benchmarkVerify(b, e, rawVerifications-1)
}

func benchmarkVerify(b *testing.B, e business.Evidence, signatures int) {
	document := []byte(goodEnvelope)
	digest := sha256.Sum256(document)
	signature := keyA.Sign(digest[:])
	key := publicOf(keyA)
	e.Call = &business.Call{Tool: "search", Arguments: []byte(`{"radius_km":50.0,"query":"laser surgery"}`)}
	var raw, whole time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for range signatures {
			if !ed25519.Verify(key, digest[:], signature) {
				b.Fatal("the raw signature is wrong")
			}
		}
		middle := time.Now()
		v, err := business.Verify(document, e)
		if err != nil || v.Usable.Value != "yes" {
			b.Fatal(v, err)
		}
		raw, whole = raw+middle.Sub(start), whole+time.Since(middle)
	}
	b.ReportMetric(float64(whole)/float64(raw), "x-raw")
	b.ReportMetric(float64(whole.Nanoseconds())/float64(b.N), "ns/verify")
}
