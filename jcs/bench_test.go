package jcs_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sayso/jcs"
)

// record has the members, the order and the size of a served fact record with its signature.
const record = `{"protocol":"verified-facts/0.2","key":"uk/income-tax/personal-allowance","aliases":["uk/personal-allowance"],` +
	`"label":"Personal Allowance","value":12570,"unit":"GBP/year","period":"2026-27","effectiveFrom":"2026-04-06",` +
	`"effectiveTo":"2027-04-05","source":"https://www.gov.uk/income-tax-rates","quote":"The standard Personal Allowance is £12,570",` +
	`"verifiedDate":"2026-10-04","nextScheduledRefresh":"2026-11-18","status":"fresh","ageDays":12,"maxAgeDays":null,` +
	`"previous":{"value":12570,"period":"2025-26","effectiveFrom":"2025-04-06","source":"https://www.gov.uk/income-tax-rates"},` +
	`"scope":"People with income up to the taper threshold",` +
	`"hash":"sha256:cab2eae595ba1c5f8059d6002585514a4b6b612cac8809f83457b722320a2576",` +
	`"signature":{"alg":"EdDSA","kid":"ex-2026-10","jws":"eyJhbGciOiJFZERTQSIsImtpZCI6ImRiLTIwMjYtMTAifQ..` +
	`UfxJq9hqctjp-wwtOvFr5_GkIl3ApHIVF2EbVEcJNuCt9xAtWz7zH-GGnTfUBTOKtIVTi0ys5ZzP8DsByusvDg",` +
	`"keys":"https://figures.example/.well-known/jwks.json"},"publisher":{"name":"Example Figures","url":"https://figures.example/"}}`

func BenchmarkCanonicalRecord(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		text, dst := []byte(record), []byte(nil)
		for b.Loop() {
			dst, _ = jcs.AppendCanonical(dst[:0], text)
		}
	})
	b.Run("jsontext", func(b *testing.B) {
		b.ReportAllocs()
		var v jsontext.Value
		for b.Loop() {
			v = append(v[:0], record...)
			if err := v.Canonicalize(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCheckRecord(b *testing.B) {
	b.ReportAllocs()
	text := []byte(record)
	for b.Loop() {
		if err := jcs.Check(text); err != nil {
			b.Fatal(err)
		}
	}
}
